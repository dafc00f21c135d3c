//! The JSON Schema of replay bundles, made from the structs that read them, for editors.

use serde_json::json;

use super::format::{Bundle, VERSION};
use crate::import::CAPABILITIES;
use cuecard_source::decode::schema_document;
use cuecard_source::decode::schema_of;
use cuecard_source::value::Json;

/// The schema (JSON Schema 2020-12) of a replay bundle of version 0.1.
pub fn schema() -> Json {
    let mut root = schema_of::<Bundle>();
    for (name, _) in CAPABILITIES {
        root["properties"]["capabilities"]["properties"][*name] =
            json!({"type": ["boolean", "null"]});
    }
    root["allOf"] = json!([success()]);
    let scenario = &mut root["$defs"]["scenario"];
    scenario["if"] =
        json!({"properties": {"trigger": {"const": "scheduler"}}, "required": ["trigger"]});
    scenario["then"] = json!({
        "properties": {"scheduler_context": {"type": "object"}},
        "required": ["scheduler_context"],
    });
    schema_document(
        "replay-bundle",
        VERSION,
        "Replay bundle",
        "A run of NanoClaw as JSON, written by hand or captured (version 0.1).",
        root,
    )
}

/// A run that succeeded has an output: its own, which then has a content, or that of a step.
fn success() -> Json {
    let of_step = json!({"properties": {"type": {"const": "final_output"}}, "required": ["type"]});
    let own = json!({"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"]});
    json!({
        "if": {"properties": {"status": {"const": "success"}}, "required": ["status"]},
        "then": {"anyOf": [
            {"properties": {"final_output": own}, "required": ["final_output"]},
            {"properties": {"final_output": {"type": "null"}, "script": {"contains": of_step}}},
        ]},
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::replay_bundle;
    use cuecard_source::SourceFile;

    /// A bundle with a step of each type, and every key they can have.
    fn full() -> Json {
        let common = json!({
            "ts": "2026-02-24T17:00:00Z", "group_id": "g", "session_id": "s", "task_id": "t", "agent_id": "a",
            "parent_event_id": "p",
        });
        let mut script = json!([
            {"type": "message_received", "role": "user", "content": "c"},
            {"type": "tool_call", "tool": "t", "call_id": "c", "args": {}, "native_tool": "n", "attempt": 1},
            {"type": "tool_result", "tool": "t", "call_id": "c", "success": true, "result": 1, "text": "x",
             "fixture_id": "f", "duration_ms": 1.5},
            {"type": "memory_read", "source": "s", "path": "p", "content": "c"},
            {"type": "memory_write", "source": "s", "path": "p", "content": "c", "change_summary": "s"},
            {"type": "error", "scope": "tool", "tool": "t", "call_id": "c", "error_type": "timeout", "message": "m",
             "retryable": true},
            {"type": "final_output", "role": "assistant", "content": "c", "format_hint": "h"},
        ]);
        for (at, step) in script
            .as_array_mut()
            .expect("a list")
            .iter_mut()
            .enumerate()
        {
            step["event_id"] = format!("id-{at}").into();
            for (key, value) in common.as_object().expect("an object") {
                step[key] = value.clone();
            }
        }
        json!({
            "schema_version": "0.1", "adapter": "nanoclaw-replay",
            "scenario": {"group_id": "g", "session_id": "s", "task_id": "t", "trigger": "scheduler",
                "scheduler_context": {"task_id": "t", "task_name": "n", "scheduled_for": "x", "timezone": "UTC"}},
            "capabilities": {"supports_replay": true},
            "input_messages": [{"role": "user", "content": "c", "ts": "2026-02-24T17:00:00Z"}],
            "script": script,
            "final_output": {"role": "assistant", "content": "c", "format_hint": "h"},
            "status": "success",
            "metrics": {"timing_ms_total": 1, "tool_call_count": 1, "retry_count": 0, "token_usage": 5},
            "artifacts": {},
        })
    }

    /// Pointers to every key of the bundle that a table has.
    fn pointers(bundle: &Json) -> Vec<String> {
        let names = |prefix: &str, object: &Json| -> Vec<String> {
            let object = object.as_object().expect("an object");
            object.keys().map(|key| format!("{prefix}/{key}")).collect()
        };
        let mut found = names("", bundle);
        for part in [
            "/scenario",
            "/scenario/scheduler_context",
            "/final_output",
            "/metrics",
            "/input_messages/0",
        ] {
            found.extend(names(part, bundle.pointer(part).expect(part)));
        }
        for at in 0..super::super::step::TYPES.len() {
            found.extend(names(&format!("/script/{at}"), &bundle["script"][at]));
        }
        found
    }

    fn set(bundle: &Json, pointer: &str, value: Option<Json>) -> Json {
        let mut bundle = bundle.clone();
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        let Some(Json::Object(members)) = bundle.pointer_mut(parent) else {
            panic!("no object at {parent}");
        };
        match value {
            Some(value) => members.insert(key.to_owned(), value),
            None => members.shift_remove(key),
        };
        bundle
    }

    /// Whether the reader takes it, references between its parts aside: a schema can't see those.
    fn is_readable(bundle: &Json) -> bool {
        let fixture = crate::import::Fixture {
            id: "f".to_owned(),
            tool: "t".to_owned(),
            result: None,
            error: None,
            span: cuecard_source::Span::new(0, 0),
        };
        let source = SourceFile::new("replay.json", bundle.to_string());
        replay_bundle(&source, &[fixture]).trace.is_some()
    }

    #[test]
    fn the_bundle_of_this_test_has_every_key() {
        let (bundle, schema) = (full(), schema());
        let keys = |object: &Json| -> Vec<String> {
            let object = object.as_object().expect("an object");
            let mut keys: Vec<String> = object.keys().cloned().collect();
            keys.sort();
            keys
        };
        let of = |definition: &str| keys(&schema["$defs"][definition]["properties"]);
        assert_eq!(keys(&bundle), keys(&schema["properties"]));
        assert_eq!(keys(&bundle["scenario"]), of("scenario"));
        assert_eq!(keys(&bundle["metrics"]), of("metrics"));
        let steps = schema["$defs"]["step"]["allOf"].as_array().expect("a list");
        for (at, of_type) in steps.iter().enumerate() {
            let step = &bundle["script"][at];
            assert_eq!(step["type"], of_type["if"]["properties"]["type"]["const"]);
            assert_eq!(keys(step), keys(&of_type["then"]["properties"]));
        }
    }

    #[test]
    fn schema_and_reader_agree_on_keys_that_are_missing_null_or_of_a_wrong_type() {
        let validator = jsonschema::validator_for(&schema()).expect("a valid schema");
        let bundle = full();
        assert!(validator.is_valid(&bundle) && is_readable(&bundle));
        // Without it, the result of that call has no call any more.
        let refers = ["/script/1/type", "/script/1/call_id", "/script/1/tool"];
        let mut refused = 0;
        for pointer in pointers(&bundle) {
            for value in [None, Some(Json::Null), Some(json!([[]]))] {
                let shown = format!("{pointer} as {value:?}");
                let other = set(&bundle, &pointer, value);
                let (fits, is_read) = (validator.is_valid(&other), is_readable(&other));
                if refers.contains(&pointer.as_str()) {
                    assert!(!is_read, "{shown}");
                } else {
                    assert_eq!(fits, is_read, "{shown}");
                }
                refused += usize::from(!fits);
            }
        }
        assert!(refused > 50, "{refused} changes are refused");
    }
}
