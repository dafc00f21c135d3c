//! Requests of Messages that force one call.

use cuecard_source::value::Json;
use serde_json::json;

use super::super::ask::{ModelRequest, Rejected};

/// The body of a request.
pub(in super::super) fn request_body(asked: &ModelRequest<'_>) -> Json {
    let mut messages = vec![json!({"role": "user", "content": texts(asked.blocks)})];
    for rejected in asked.rejected {
        add(rejected, &mut messages);
    }
    let function = &asked.function;
    let mut choice = json!({"type": "tool", "name": function.name});
    if asked.accepted.one_call {
        choice["disable_parallel_tool_use"] = json!(true);
    }
    let mut body = json!({
        "model": asked.model,
        "max_tokens": asked.max_tokens,
        "system": asked.system,
        "messages": messages,
        "tools": [{
            "name": function.name,
            "description": function.description,
            "input_schema": function.schema,
        }],
        "tool_choice": choice,
    });
    if asked.accepted.temperature {
        body["temperature"] = json!(0);
    }
    body
}

fn texts(blocks: &[&str]) -> Vec<Json> {
    blocks
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| json!({"type": "text", "text": text}))
        .collect()
}

/// A reply, and what was wrong with it: as the result of each call, or as the next message.
fn add(rejected: &Rejected<'_>, messages: &mut Vec<Json>) {
    let calls = rejected.calls.iter().map(|call| {
        // The API takes objects only.
        let input = match call.arguments {
            object @ Json::Object(_) => object.clone(),
            other => json!({ "input": other }),
        };
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
    });
    let mut content = texts(&[rejected.text]);
    content.extend(calls);
    if !content.is_empty() {
        messages.push(json!({"role": "assistant", "content": content}));
    }
    let results = rejected.calls.iter().map(|call| {
        json!({
            "type": "tool_result",
            "tool_use_id": call.id,
            "is_error": true,
            "content": rejected.correction,
        })
    });
    let mut answer: Vec<Json> = results.collect();
    if answer.is_empty() {
        answer = texts(&[rejected.correction]);
    }
    messages.push(json!({"role": "user", "content": answer}));
}
