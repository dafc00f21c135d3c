//! Requests of Chat Completions that force one call.

use cuecard_source::value::Json;
use serde_json::json;

use super::super::ask::{ModelRequest, Rejected};

/// The body of a request.
pub(in super::super) fn request_body(asked: &ModelRequest<'_>) -> Json {
    let blocks: Vec<Json> = asked
        .blocks
        .iter()
        .map(|text| json!({"type": "text", "text": text}))
        .collect();
    let mut messages = vec![
        json!({"role": "system", "content": asked.system}),
        json!({"role": "user", "content": blocks}),
    ];
    for rejected in asked.rejected {
        add(rejected, &mut messages);
    }
    let function = &asked.function;
    let mut body = json!({
        "model": asked.model,
        "messages": messages,
        "tools": [{"type": "function", "function": {
            "name": function.name,
            "description": function.description,
            "parameters": function.schema,
        }}],
        "tool_choice": {"type": "function", "function": {"name": function.name}},
    });
    let accepted = asked.accepted;
    let limit = match accepted.max_tokens {
        true => "max_tokens",
        false => "max_completion_tokens",
    };
    body[limit] = json!(asked.max_tokens);
    if accepted.one_call {
        body["parallel_tool_calls"] = json!(false);
    }
    if accepted.temperature {
        body["temperature"] = json!(0);
    }
    body
}

/// A reply, and what was wrong with it: as the result of each call, or as the next message.
fn add(rejected: &Rejected<'_>, messages: &mut Vec<Json>) {
    let calls: Vec<Json> = rejected
        .calls
        .iter()
        .map(|call| {
            let arguments = match call.arguments {
                Json::String(text) => text.clone(),
                json => json.to_string(),
            };
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
        })
        .collect();
    let content = match rejected.text {
        "" => Json::Null,
        text => json!(text),
    };
    match calls.is_empty() {
        true if content.is_null() => {}
        true => messages.push(json!({"role": "assistant", "content": content})),
        false => {
            messages.push(json!({"role": "assistant", "content": content, "tool_calls": calls}));
        }
    }
    for call in &rejected.calls {
        messages
            .push(json!({"role": "tool", "tool_call_id": call.id, "content": rejected.correction}));
    }
    if calls.is_empty() {
        messages.push(json!({"role": "user", "content": rejected.correction}));
    }
}
