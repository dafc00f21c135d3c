use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::Finding;
use crate::assertions::citations::NoFabricatedSourceOrCitation;
use crate::assertions::graceful::GracefulFailureOutput;
use crate::assertions::grounded::ClaimsSupportedByFixtures;
use crate::assertions::memory::{
    MemoryRecallSameGroup, MemoryUpdateOnCorrection, NoCrossGroupMemoryUse,
};
use crate::model::AssertionCheck;
use crate::trials::{Trial, texts, tools};

/// Every family that reads text, on the same text as output and as result.
fn judge_all(output: &str, result: &str) -> Vec<Finding> {
    let trial = Trial::new(output)
        .result("t", json!({ "text": result }))
        .event(
            "error",
            json!({ "scope": "tool", "error_type": "e", "message": "m", "retryable": false }),
        )
        .event(
            "memory_write",
            json!({ "source": "s", "path": result, "group_id": "group-a", "content": result }),
        );
    let view = trial.view();
    let texts = texts(&[result]);
    let checks: [AssertionCheck; 6] = [
        ClaimsSupportedByFixtures {
            allowed_sources: tools(&["t"]),
            ..ClaimsSupportedByFixtures::default()
        }
        .into(),
        NoFabricatedSourceOrCitation::default().into(),
        MemoryRecallSameGroup {
            group_id: None,
            expected_memory_fact: result.into(),
            output_patterns: Vec::new().into(),
            require_event: false,
            case_sensitive: false,
        }
        .into(),
        MemoryUpdateOnCorrection {
            group_id: None,
            corrected_fact: result.into(),
            stale_fact: Some("the old fact".into()),
        }
        .into(),
        NoCrossGroupMemoryUse {
            forbidden_group_ids: texts.clone(),
            canaries: texts.clone(),
            ..NoCrossGroupMemoryUse::default()
        }
        .into(),
        GracefulFailureOutput {
            allowed_failure_phrases: Vec::new().into(),
            must_not_claim_success: true,
            forbidden_success_phrases: texts,
        }
        .into(),
    ];
    checks.iter().map(|check| check.judge(&view)).collect()
}

/// Text of what the readers look for.
fn tricky() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        ".{0,6}",
        "[0-9.,' \u{a0}-]{1,9}",
        prop::sample::select(vec![
            " ",
            "\n",
            "\n\n",
            "- ",
            "1. ",
            "\"",
            "“",
            "”",
            "[1]",
            "[",
            "](",
            "(",
            ")",
            "https://a.b/c",
            "www.",
            "10.1000/",
            "$",
            "€5",
            "%",
            " million ",
            "12:30",
            "2026-02-24",
            "24 Feb ",
            "May 5",
            "İ",
            "ß",
            "ﬁ",
            "中文",
            "もの",
            "ไทย",
            "Reuters ",
            "according to ",
            "says ",
            "not ",
            "n't",
            "groups/",
            "../",
            "```",
            "|",
            "---",
            "et al.",
            "'s",
            "e\u{301}",
            "🎉",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_text_is_judged_and_always_alike(output in tricky(), result in tricky()) {
        prop_assert_eq!(judge_all(&output, &result), judge_all(&output, &result));
    }

    #[test]
    fn blanking_keeps_every_place(text in tricky()) {
        let folded = fold(&text);
        let found: Vec<_> = urls(&folded).into_iter().map(|(range, _)| range).collect();
        let blanked = blank(&folded, found.iter().cloned());
        prop_assert_eq!(blanked.len(), folded.len());
        for range in found {
            prop_assert!(blanked[range].chars().all(|character| character == ' '));
        }
    }
}

#[test]
fn hostile_outputs_are_judged_in_time() {
    const SIZE: usize = 8_000;
    for piece in [
        "1",
        "1,",
        "1.",
        "1 000 ",
        "\"",
        "\"a b c\" ",
        "[",
        "[1]",
        "(",
        "https://a.b/",
        "A",
        "Aa Bb ",
        "a. ",
        "- a\n",
        "12:",
        "not ",
        "|",
        "according to ",
        "1. \n",
        "…",
        "groups/",
        "中",
    ] {
        let text = piece.repeat(SIZE / piece.len());
        // The clock isn't asked: what isn't linear takes minutes here, and is seen.
        assert_eq!(judge_all(&text, "x").len(), 6, "{piece}");
    }
}

#[test]
fn languages_are_told_apart() {
    for (text, name) in [
        ("This is the answer to the question.", "English"),
        ("Das ist die Antwort auf die Frage.", "German"),
        ("Ceci est la réponse et elle est dans le livre.", "French"),
        (
            "El perro y los gatos están en la casa con su dueño.",
            "Spanish",
        ),
        ("Это ответ на вопрос.", "Russian"),
        ("これは答えです。", "Japanese"),
        ("这是答案。", "Chinese"),
        ("대답입니다.", "Korean"),
    ] {
        let found = detect(text).map(|(language, _)| language);
        assert_eq!(found, language_called(name), "{text}");
    }
    assert_eq!(detect("42"), None);
}

#[test]
fn addresses_are_compared_without_what_does_not_matter() {
    for (one, other, same) in [
        (
            "https://Example.com/A/",
            "http://www.example.com/A#top",
            true,
        ),
        ("https://example.com:443", "https://example.com/", true),
        ("https://example.com/a", "https://example.com/A", false),
        (
            "https://example.com/a?x=1",
            "https://example.com/a?x=2",
            false,
        ),
    ] {
        assert_eq!(normal_url(one) == normal_url(other), same, "{one} {other}");
    }
    let text = "See [a](https://a.org/x_(y)), <https://b.org>, (https://c.org/d). And https://e.org/f, too";
    let found: Vec<_> = urls(text).into_iter().map(|(_, url)| url).collect();
    assert_eq!(
        found,
        [
            "https://a.org/x_(y)",
            "https://b.org",
            "https://c.org/d",
            "https://e.org/f"
        ]
    );
}
