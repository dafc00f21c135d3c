//! What holds for every import, whatever the file is.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::json;

use super::{atif, claude_code, codex, otlp, transcript};
use crate::import::TranscriptFormat;
use crate::import::testing::source;
use crate::{EventData, Trace};
use cuecard_source::diagnostic::any_error;
use cuecard_source::value::{Json, push_pointer};

fn samples() -> [(TranscriptFormat, String); 4] {
    [
        (
            TranscriptFormat::ClaudeCode,
            claude_code::tests::SESSION.to_owned(),
        ),
        (TranscriptFormat::Codex, codex::tests::SESSION.to_owned()),
        (
            TranscriptFormat::Atif,
            format!("{:#}", atif::tests::trajectory()),
        ),
        (TranscriptFormat::Otlp, otlp::tests::requests()),
    ]
}

/// Reads a text and checks what holds for every trace.
fn check(format: TranscriptFormat, text: &str) {
    let imported = transcript(&source(text), format);
    assert_eq!(imported.trace.is_none(), any_error(&imported.diagnostics));
    let Some(trace) = imported.trace else {
        return;
    };
    assert_eq!(
        transcript(&source(text), format).trace.as_ref(),
        Some(&trace)
    );
    let (mut lines, mut document) = (Vec::new(), Vec::new());
    trace.write_lines(&mut lines).expect("memory");
    trace.write_document(&mut document).expect("memory");
    assert_eq!(Trace::read(lines.as_slice()).expect("readable"), trace);
    assert_eq!(Trace::read(document.as_slice()).expect("readable"), trace);
    let ids: HashSet<_> = trace.events.iter().map(|event| &event.event_id).collect();
    assert_eq!(ids.len(), trace.events.len());
    for event in &trace.events {
        if let EventData::ToolResult(_) = event.data {
            let parent = event.parent_event_id.as_ref().expect("a call");
            assert!(ids.contains(parent));
        }
    }
}

/// JSON pointers of all values below `json`.
fn pointers(json: &Json, at: &str) -> Vec<String> {
    let below: Vec<(String, &Json)> = match json {
        Json::Array(items) => (0..).map(|idx: usize| idx.to_string()).zip(items).collect(),
        Json::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        _ => Vec::new(),
    };
    let mut found = vec![at.to_owned()];
    for (token, value) in below {
        let mut pointer = at.to_owned();
        push_pointer(&mut pointer, &token);
        found.extend(pointers(value, &pointer));
    }
    found
}

#[test]
fn json_in_a_text_that_is_too_deep_stays_a_text() {
    let call = json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}});
    let depth = |levels: usize| {
        let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let result = json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": text}]}});
        let lines = format!("{call}\n{result}\n");
        check(TranscriptFormat::ClaudeCode, &lines);
        let imported = transcript(&source(&lines), TranscriptFormat::ClaudeCode);
        match &imported.trace.expect("a trace").events[1].data {
            EventData::ToolResult(result) => result.result.is_array(),
            other => panic!("{other:?}"),
        }
    };
    assert!(depth(100));
    assert!(!depth(101));
    assert!(!depth(127));
}

#[test]
fn a_broken_line_shows_nothing_of_what_was_said() {
    for (format, text) in samples() {
        let broken = format!("{text}\n{{\"secret\": [\"Tängo7𝒳漢\", !");
        let imported = transcript(&source(&broken), format);
        let place = imported.diagnostics[0].place.as_ref().expect("a place");
        let signs = place.source.text();
        assert!(!signs.contains(char::is_alphanumeric), "{signs}");
        let lengths = [signs.len(), signs.chars().count()];
        assert_eq!(lengths, [broken.len(), broken.chars().count()]);
    }
}

#[test]
fn half_a_surrogate_pair_is_replaced_with_a_warning() {
    let text = claude_code::tests::SESSION.replace("Let me look.", "Let me look \\ud83d.");
    let imported = transcript(&source(&text), TranscriptFormat::ClaudeCode);
    let trace = imported.trace.expect("a trace");
    let events = format!("{:?}", trace.events);
    assert!(events.contains("Let me look \u{fffd}."), "{events}");
    let codes: Vec<&str> = imported
        .diagnostics
        .iter()
        .map(|found| found.code.name())
        .collect();
    assert!(codes.contains(&"C-JSON-04"), "{codes:?}");
}

proptest! {
    #[test]
    fn damaged_transcripts_are_read_or_refused(which in 0_usize..4, from: prop::sample::Index, length in 0_usize..40, with in "[\\[\\]{}\":,a0\n]{0,6}") {
        let (format, text) = &samples()[which];
        let (start, _) = *from.get(&text.char_indices().collect::<Vec<_>>());
        let rest: String = text[start..].chars().skip(length).collect();
        check(*format, &format!("{}{with}{rest}", &text[..start]));
        check(*format, &text[..start]);
    }

    #[test]
    fn other_values_are_read_or_refused(which in 0_usize..4, line: prop::sample::Index, place: prop::sample::Index, with in 0_usize..6) {
        let (format, text) = &samples()[which];
        let with = &[json!(null), json!([]), json!({}), json!(7), json!("u1"), json!([{"type": "text"}])][with];
        let mut documents: Vec<Json> = match format {
            TranscriptFormat::Atif => vec![atif::tests::trajectory()],
            TranscriptFormat::Otlp => serde_json::Deserializer::from_str(text).into_iter().map(|json| json.expect("JSON")).collect(),
            _ => text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
        };
        let at = line.index(documents.len());
        let pointers = pointers(&documents[at], "");
        *documents[at].pointer_mut(place.get(pointers.as_slice()).as_str()).expect("its own pointer") = with.clone();
        let lines: Vec<String> = documents.iter().map(Json::to_string).collect();
        check(*format, &lines.join("\n"));
    }
}

#[test]
fn a_large_integer_is_the_text_of_its_digits() {
    let (format, session) = samples()[0].clone();
    let text = session.replace(
        r#"{"command":"wc -l a.txt"}"#,
        r#"{"id":18446744073709551617}"#,
    );
    let imported = transcript(&source(&text), format);
    let trace = imported.trace.expect("a trace");
    let mut calls = trace.events.iter().filter_map(|event| match &event.data {
        EventData::ToolCall(call) => Some(call),
        _ => None,
    });
    assert!(calls.any(|call| *call.args == json!({ "id": "18446744073709551617" })));
}
