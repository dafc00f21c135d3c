//! What holds for every text.

use proptest::prelude::*;

use super::{codes, meaning, reading, reading_with};

const TEXT: &str = include_str!("whole.yaml");

/// Parts of timelines, to be put together at random.
const ITEMS: &[&str] = &[
    "log: a",
    "think:\n    - [1, a]",
    "assistant:\n    - relativeTime: 3\n      text: b",
    "llmResponse:\n    think: [[1, a]]\n    assistant: x",
    "type: agentEdits\n  path: a\n  linesAdded: 1",
    "run_cmd: {command: ls, status: completed}",
    "userInputs: hello",
    "assertGit:\n    headMessageContains: x",
    "sessionStart",
    "complete: {}",
    "agentActions:\n    - Bash: {command: a}\n    - status: running",
    "advanceMs: 5",
    "merge: false",
    "llmResponse:\n    - assistant: [[1, a]]\n    - agentToolUse:\n        toolName: Bash\n        args: {command: ls}\n    - think: [[2, b]]",
    "llmResponse: [{tool: [[5, Bash], {command: ls}, {result: a}, {status: completed}]}]",
    "agentActions: [{complete: false}, {log: x}]",
];

fn timeline() -> impl Strategy<Value = String> {
    let items = proptest::collection::vec(proptest::sample::select(ITEMS), 1..8);
    items.prop_map(|items| {
        let mut text = "name: x\ntimeline:\n".to_owned();
        let mut has_start = false;
        for item in items {
            if item == "sessionStart" && std::mem::replace(&mut has_start, true) {
                continue;
            }
            text.push_str(&format!("- {item}\n"));
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// However a text is damaged, reading it is no panic.
    #[test]
    fn reading_never_panics(at in 0..TEXT.len(), len in 0..40_usize, put in "[-{}\\[\\]:,#&*|>'\" \n\ta-z0-9]{0,6}") {
        let mut bytes = TEXT.as_bytes().to_vec();
        let end = (at + len).min(bytes.len());
        bytes.splice(at..end, put.bytes());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let read = reading(&text);
        if let Some(converted) = &read.converted {
            let _ = reading(converted.text());
        }
    }

    /// A converted file means the same, and is converted already.
    #[test]
    fn the_canonical_form_is_a_fixed_point(text in timeline()) {
        let read = reading(&text);
        let before = read.timeline.as_ref().map(meaning);
        prop_assert!(before.is_some(), "{text}");
        if let Some(converted) = read.converted {
            let again = reading(converted.text());
            prop_assert_eq!(codes(&again), Vec::<&str>::new(), "{}", converted.text());
            prop_assert_eq!(again.timeline.as_ref().map(meaning), before, "{}", converted.text());
            prop_assert!(again.converted.is_none());
        }
    }

    /// What rules give is what would stand there without them: later rules win, key by key.
    #[test]
    fn rules_merge_in_order(values in proptest::collection::vec((0..4_usize, 0..3_i64, any::<bool>()), 1..6)) {
        let mut text = "name: x\ntimeline: []\nserver:\n  seed:\n    base: 0\n    rules:\n".to_owned();
        let mut expected = serde_json::Map::new();
        expected.insert("base".into(), 0.into());
        for (key, value, applies) in &values {
            let when = if *applies { "$yes" } else { "$no" };
            text.push_str(&format!("      - {{when: '{when}', config: {{k{key}: {value}}}}}\n"));
            if *applies {
                expected.insert(format!("k{key}"), (*value).into());
            }
        }
        text.push_str("      - {default: true, config: {none: 1}}\n");
        if values.iter().all(|(.., applies)| !applies) {
            expected.insert("none".into(), 1.into());
        }
        let read = reading_with(&text, &["yes"]);
        let timeline = read.timeline.expect(&text);
        prop_assert_eq!(timeline.server.seed, serde_json::Value::Object(expected));
    }
}
