//! The JSON Schema of test cases, made from the tables of keys and assertions, for editors.

use serde_json::json;

use super::fields;
use super::params::{Kind, kinds};
use cuecard_source::value::Json;
use cuecard_source::value::fields::{object, schema_document};

/// The schema (JSON Schema 2020-12) of a test case of version 0.1.
pub fn schema() -> Json {
    let names: Vec<&str> = kinds().map(|kind| kind.name).collect();
    let mut assertion = object(fields::ASSERTION);
    assertion["properties"]["type"]["enum"] = json!(names);
    assertion["allOf"] = kinds().map(params).collect();
    let mut context = object(fields::CONTEXT);
    let mut scheduler = object(fields::SCHEDULER);
    scheduler["type"] = json!(["object", "null"]);
    scheduler["description"] = context["properties"]["scheduler_context"]["description"].take();
    context["properties"]["scheduler_context"] = scheduler;
    let mut root = object(fields::ROOT);
    root["$defs"] = json!({
        "adapter_input": object(fields::INPUT),
        "scenario": context,
        "message": object(fields::MESSAGE),
        "tools": object(fields::TOOLS),
        "fixture": object(fields::FIXTURE),
        "policy": object(fields::POLICY),
        "expected": object(fields::EXPECTED),
        "reporting": object(fields::REPORTING),
        "assertion": assertion,
        "selector": closed(object(fields::SELECTOR)),
        "args_match": closed(object(fields::ARGS_MATCH)),
        "call": closed(object(fields::CALL)),
    });
    schema_document(
        "test-case",
        "0.1",
        "Test case",
        "Where the trace of an agent's run comes from, and what must hold of it (version 0.1).",
        root,
    )
}

/// What the parameters are if the assertion is of this type.
fn params(kind: &Kind) -> Json {
    let mut params = object(kind.params);
    // Where no parameters are known, they are the player's.
    if !kind.params.is_empty() {
        params = closed(params);
    }
    params["description"] = kind.meaning.into();
    let needs_params = kind.params.iter().any(|field| field.required);
    if !needs_params {
        params["type"] = json!(["object", "null"]);
    }
    let mut then = json!({"properties": {"params": params}});
    if needs_params {
        then["required"] = json!(["params"]);
    }
    json!({
        "if": {"properties": {"type": {"const": kind.name}}, "required": ["type"]},
        "then": then,
    })
}

/// An object without other keys than its own and notes.
fn closed(mut object: Json) -> Json {
    object["additionalProperties"] = false.into();
    object["patternProperties"] = json!({"^(x-|_|\\$)": true});
    object
}
