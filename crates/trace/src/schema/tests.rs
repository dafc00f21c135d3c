use proptest::prelude::*;
use serde_json::json;

use super::schema;
use crate::file::tests::{data, end, header};
use crate::{Event, EventData, Trace};
use cuecard_source::value::Json;

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&schema()).expect("a valid schema")
}

/// An event of each type with every key it can have.
fn full_events() -> Vec<Json> {
    let step_end = json!({
        "step": 1, "id": "s", "tool": "t", "description": "d", "status": "tolerated", "duration_ms": 1.5,
        "attempts": [{"attempt": 1, "started_ms": 0.5, "duration_ms": 1.0, "error": "e"}],
        "error": {"code": "C", "error_type": "timeout", "message": "m", "notes": ["n"], "help": "h"},
        "skipped_by": "c", "group": "g", "healed": "h", "outputs": {"a": 1}, "restored": "done",
        "element": 0, "elements": 1,
    });
    let call =
        json!({"tool": "t", "call_id": "c", "args": {"a": 1}, "native_tool": "n", "attempt": 1});
    let result = json!({
        "tool": "t", "call_id": "c", "success": true, "result": [1], "text": "x", "structured": {}, "fixture_id": "f", "duration_ms": 1.5,
    });
    let answered =
        json!({"server": "s", "method": "m", "result": {}, "answer": "/a", "error": "e"});
    let error = json!({
        "scope": "tool", "tool": "t", "call_id": "c", "error_type": "timeout", "message": "m", "retryable": true,
    });
    let exchange = json!({
        "dialect": "d", "path": "/", "status": 200, "lane": "main", "turn": 1, "request": {}, "response": {},
    });
    let edit = json!({
        "path": "p", "lines_added": 1, "lines_removed": 0, "hash_before": "a", "hash_after": "b",
    });
    let read = json!({"source": "s", "path": "p", "group_id": "g", "content": "c"});
    let write =
        json!({"source": "s", "path": "p", "group_id": "g", "content": "c", "change_summary": "s"});
    let step_start =
        json!({"step": 1, "id": "s", "tool": "t", "description": "d", "element": 0, "elements": 1});
    [
        ("message_received", json!({"role": "user", "content": "c"})),
        ("final_output", json!({"role": "assistant", "content": "c", "format_hint": "h"})),
        ("tool_call", call),
        ("tool_result", result),
        ("request_received", json!({"server": "s", "method": "m", "params": {}})),
        ("request_answered", answered),
        ("request_sent", json!({"server": "s", "method": "m", "params": {}, "call_id": "c"})),
        ("response_received", json!({"server": "s", "method": "m", "text": "t", "error": "e", "call_id": "c"})),
        ("memory_read", read),
        ("memory_write", write),
        ("error", error),
        ("message", json!({"role": "assistant", "content": "c"})),
        ("thought", json!({"text": "t"})),
        ("plan", json!({"entries": []})),
        ("http_exchange", exchange),
        ("file_edit", edit),
        ("terminal", json!({"command": "c", "text": "t", "exit_code": -1})),
        ("screenshot", json!({"label": "l", "files": ["f"]})),
        ("permission", json!({"options": [], "outcome": {}})),
        ("log", json!({"level": "info", "message": "m", "stream": "s"})),
        ("assertion", json!({"id": "i", "type": "t", "status": "pass", "observed": 1, "evidence": "e"})),
        ("step_started", step_start.clone()),
        ("step_finished", step_end.clone()),
        ("element_started", step_start),
        ("element_finished", step_end),
    ]
    .into_iter()
    .zip(1..)
    .map(|((kind, data), seq)| {
        json!({
            "event_id": format!("e{seq}"), "seq": seq, "ts": "2026-01-01T00:00:00Z", "type": kind, "actor": "agent",
            "group_id": "g", "session_id": "s", "task_id": "t", "agent_id": "a", "parent_event_id": "p", "data": data,
        })
    })
    .collect()
}

/// A trace with everything that can be in one.
fn full_document() -> Json {
    json!({
        "schema_version": "0.1", "trace_id": "t", "test_case_id": "c", "test_run_id": "r",
        "adapter": {"name": "n", "version": "v"}, "capabilities": {}, "scenario": {}, "input_messages": [{}],
        "events": full_events(),
        "final_output": {"role": "assistant", "content": "c"}, "status": "success",
        "metrics": {"timing_ms_total": 1.5, "tool_call_count": 1, "retry_count": 0, "token_usage": 7},
        "artifacts": {"trace": "file"},
    })
}

/// Every way to the objects in a value, as pointers to their keys.
fn keys(value: &Json, pointer: &str, found: &mut Vec<String>) {
    match value {
        Json::Object(members) => {
            for (key, member) in members {
                let below = format!("{pointer}/{key}");
                found.push(below.clone());
                keys(member, &below, found);
            }
        }
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                keys(item, &format!("{pointer}/{at}"), found);
            }
        }
        _ => {}
    }
}

/// The same value with this place taken out, or set to `instead`.
fn changed(value: &Json, pointer: &str, instead: Option<Json>) -> Json {
    let mut value = value.clone();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let Some(Json::Object(members)) = value.pointer_mut(parent) else {
        panic!("no object at {parent}");
    };
    match instead {
        Some(instead) => members.insert(key.to_owned(), instead),
        None => members.shift_remove(key),
    };
    value
}

fn is_readable(document: &Json) -> bool {
    Trace::read(document.to_string().as_bytes()).is_ok()
}

#[test]
fn the_examples_of_this_test_have_every_type_and_every_key() {
    let events = full_events();
    let types: Vec<&str> = events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect();
    assert_eq!(types, EventData::TYPES);
    for event in &events {
        let read: Event = serde_json::from_value(event.clone()).expect("an event");
        let written = serde_json::to_value(&read).expect("JSON");
        let names = |event: &Json| -> Vec<String> {
            let data = event["data"].as_object().expect("an object");
            data.keys().cloned().collect()
        };
        assert_eq!(names(event), names(&written), "{}", event["type"]);
        let schema = schema();
        let rules = schema["$defs"]["Event"]["allOf"]
            .as_array()
            .expect("a list");
        let rule = rules
            .iter()
            .find(|rule| rule["if"]["properties"]["type"]["const"] == event["type"]);
        let reference = rule.expect("a rule")["then"]["properties"]["data"]["$ref"]
            .as_str()
            .expect("a reference");
        let known =
            schema.pointer(&reference[1..]).expect("a definition")["properties"].as_object();
        let mut known: Vec<String> = known.expect("properties").keys().cloned().collect();
        let mut given = names(event);
        known.sort();
        given.sort();
        assert_eq!(given, known, "{}", event["type"]);
    }
}

#[test]
fn schema_and_reader_agree_on_what_may_be_missing() {
    let validator = validator();
    let document = full_document();
    assert!(validator.is_valid(&document) && is_readable(&document));
    let mut pointers = Vec::new();
    keys(&document, "", &mut pointers);
    let mut refused = 0;
    for pointer in &pointers {
        let without = changed(&document, pointer, None);
        // A document without its version is taken for an event.
        let fits = validator.is_valid(&without);
        assert_eq!(fits, is_readable(&without), "{pointer}");
        refused += usize::from(!fits);
    }
    assert!(refused > 50, "{refused} keys are required");
}

#[test]
fn the_schema_refuses_values_of_the_wrong_type_as_the_reader_does() {
    let validator = validator();
    let document = full_document();
    for (pointer, wrong) in [
        ("/schema_version", json!("9")),
        ("/trace_id", json!(7)),
        ("/events", json!({})),
        ("/status", json!("splendid")),
        ("/metrics/retry_count", json!(-1)),
        ("/events/0/seq", json!("1")),
        ("/events/0/ts", json!(1)),
        ("/events/0/data", json!("text")),
        ("/events/2/data/tool", json!(null)),
        ("/events/2/data/attempt", json!("first")),
        ("/events/3/data/success", json!("yes")),
        ("/events/22/data/status", json!("odd")),
        ("/events/22/data/attempts", json!([{}])),
    ] {
        let other = changed(&document, pointer, Some(wrong));
        assert!(!is_readable(&other), "{pointer}");
        assert!(!validator.is_valid(&other), "{pointer}");
    }
}

proptest! {
    #[test]
    fn whatever_is_written_fits_in_both_forms(all in prop::collection::vec(data(), 0..6), ended: bool) {
        let validator = validator();
        let events = all
            .into_iter()
            .zip(1..)
            .map(|(data, seq)| Event::live(seq, jiff::Timestamp::UNIX_EPOCH, data))
            .collect();
        let trace = Trace { header: header(), events, end: ended.then(end) };
        let (mut lines, mut document) = (Vec::new(), Vec::new());
        trace.write_lines(&mut lines).expect("memory");
        trace.write_document(&mut document).expect("memory");
        let lines = String::from_utf8(lines).expect("text");
        for line in lines.lines() {
            let line: Json = serde_json::from_str(line).expect("JSON");
            prop_assert!(validator.is_valid(&line), "{line:#}");
        }
        let document: Json = serde_json::from_slice(&document).expect("JSON");
        prop_assert!(validator.is_valid(&document), "{document:#}");
    }
}
