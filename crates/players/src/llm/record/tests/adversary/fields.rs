//! The fields of each API's answers. That one is here says nothing of what becomes of it.

use cuecard_core::script::timeline::Endpoint;
use serde_json::{Value, json};

/// A change of an answer.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// Whether there is such a thing in streams only, or in whole answers only.
    pub(super) streams: Option<bool>,
    pub(super) change: fn(&mut Value),
    /// An error that comes before the answer, with its status.
    pub(super) error: Option<fn(Endpoint) -> (u16, Value)>,
}

fn field(name: &'static str, change: fn(&mut Value)) -> Field {
    Field {
        name,
        streams: None,
        change,
        error: None,
    }
}

fn error(name: &'static str, error: fn(Endpoint) -> (u16, Value)) -> Field {
    Field {
        error: Some(error),
        ..field(name, |_| {})
    }
}

/// An answer that says this.
pub(super) fn plain(endpoint: Endpoint, text: &str) -> Value {
    match endpoint {
        Endpoint::Chat => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1", "system_fingerprint": "fp",
            "choices": [{
                "index": 0, "finish_reason": "stop", "logprobs": null,
                "message": {"role": "assistant", "content": text, "refusal": null, "annotations": []},
            }],
            "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17},
        }),
        Endpoint::Messages => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1",
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": 12, "output_tokens": 5},
        }),
        _ => json!({
            "id": "resp_1", "object": "response", "created_at": 1, "model": "m-1", "status": "completed",
            "error": null, "incomplete_details": null,
            "output": [{
                "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}],
            }],
            "usage": {"input_tokens": 12, "output_tokens": 5, "total_tokens": 17},
        }),
    }
}

/// The fields of an API's answers.
pub(super) fn of(endpoint: Endpoint) -> Vec<Field> {
    let mut fields = match endpoint {
        Endpoint::Chat => chat(),
        Endpoint::Messages => messages(),
        _ => responses(),
    };
    fields.extend([
        error("error: busy", |endpoint| {
            (
                429,
                an_error(endpoint, "rate_limit_error", "slow down", Value::Null),
            )
        }),
        error("error: a type of its own", |endpoint| {
            (
                500,
                an_error(endpoint, "odd_error", "it is odd", Value::Null),
            )
        }),
        error("error: a code and a parameter", |endpoint| {
            let code = json!("context_length_exceeded");
            let mut body = an_error(endpoint, "invalid_request_error", "too long", code);
            body["error"]["param"] = json!("messages");
            (400, body)
        }),
        error("error: more of it", |endpoint| {
            let mut body = an_error(endpoint, "server_error", "down", Value::Null);
            body["error"]["innererror"] = json!({"code": "x"});
            (503, body)
        }),
    ]);
    fields
}

fn an_error(endpoint: Endpoint, kind: &str, message: &str, code: Value) -> Value {
    match endpoint {
        Endpoint::Messages => json!({"type": "error", "error": {"type": kind, "message": message}}),
        _ => json!({"error": {"message": message, "type": kind, "param": null, "code": code}}),
    }
}

fn push(list: &mut Value, item: Value) {
    match list {
        Value::Array(items) => items.push(item),
        other => *other = json!([item]),
    }
}

fn insert(list: &mut Value, item: Value) {
    list.as_array_mut().expect("a list").insert(0, item);
}

fn choice(body: &mut Value) -> &mut Value {
    &mut body["choices"][0]
}

fn message(body: &mut Value) -> &mut Value {
    &mut body["choices"][0]["message"]
}

fn chat_call(body: &mut Value, arguments: &str) {
    let n_calls = message(body)["tool_calls"].as_array().map_or(0, Vec::len);
    let id = format!("call_{n_calls}");
    let call = json!({"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}});
    push(&mut message(body)["tool_calls"], call);
    choice(body)["finish_reason"] = json!("tool_calls");
}

fn chat() -> Vec<Field> {
    let mut fields = vec![
        field("call", |body| chat_call(body, "{\"city\": \"Paris\"}")),
        field("call without arguments", |body| chat_call(body, "")),
        field("custom call", |body| {
            let call = json!({"id": "call_b", "type": "custom", "custom": {"name": "patch", "input": "*** x"}});
            push(&mut message(body)["tool_calls"], call);
            choice(body)["finish_reason"] = json!("tool_calls");
        }),
        field("broken arguments", |body| {
            chat_call(body, "{\"city\": \"Pa");
            choice(body)["finish_reason"] = json!("length");
        }),
        field("more in a call", |body| {
            chat_call(body, "{}");
            let calls = message(body)["tool_calls"].as_array_mut().expect("calls");
            calls.last_mut().expect("a call")["extra_content"] = json!({"thought": "x"});
        }),
        field("no content", |body| message(body)["content"] = Value::Null),
        field("white space", |body| {
            message(body)["content"] = json!("\n\n");
        }),
        field("content in parts", |body| {
            message(body)["content"] =
                json!([{"type": "text", "text": "In parts."}, {"type": "image_url"}]);
        }),
        field("refusal", |body| {
            message(body)["refusal"] = json!("I can't do that.");
        }),
        field("reasoning_content", |body| {
            message(body)["reasoning_content"] = json!("Hm, well.");
        }),
        field("reasoning", |body| {
            message(body)["reasoning"] = json!("Or so.");
        }),
        field("reasoning_details", |body| {
            message(body)["reasoning_details"] = json!([{"text": "x"}]);
        }),
        field("annotations", |body| {
            message(body)["annotations"] =
                json!([{"type": "url_citation", "url_citation": {"url": "u"}}]);
        }),
        field("audio", |body| {
            message(body)["audio"] = json!({"data": "AAAA"});
        }),
        field("logprobs", |body| {
            choice(body)["logprobs"] = json!({"content": [{"token": "a", "logprob": -1.5}]});
        }),
        field("length", |body| {
            choice(body)["finish_reason"] = json!("length");
        }),
        field("content_filter", |body| {
            choice(body)["finish_reason"] = json!("content_filter");
        }),
        field("tool_calls without one", |body| {
            choice(body)["finish_reason"] = json!("tool_calls");
        }),
        field("reason of another API", |body| {
            choice(body)["finish_reason"] = json!("max_tokens");
        }),
        field("another reason", |body| {
            choice(body)["finish_reason"] = json!("eos");
        }),
        field("native reason", |body| {
            choice(body)["native_finish_reason"] = json!("STOP");
        }),
        field("top-level citations", |body| {
            body["citations"] = json!(["https://a.example"]);
        }),
        field("usage: none", |body| body["usage"] = Value::Null),
        field("usage: cached", |body| {
            body["usage"]["prompt_tokens_details"]["cached_tokens"] = json!(4);
        }),
        field("usage: audio", |body| {
            body["usage"]["prompt_tokens_details"]["audio_tokens"] = json!(3);
        }),
        field("usage: reasoning", |body| {
            body["usage"]["completion_tokens_details"]["reasoning_tokens"] = json!(2);
        }),
        field("usage: cost", |body| body["usage"]["cost"] = json!(0.25)),
        field("usage: total", |body| {
            body["usage"]["total_tokens"] = json!(99);
        }),
        field("another choice", |body| {
            let other = json!({"index": 1, "finish_reason": "stop", "message": {"role": "assistant", "content": "Or this."}});
            push(&mut body["choices"], other);
        }),
    ];
    fields.push(Field {
        streams: Some(false),
        ..field("no reason", |body| {
            choice(body)["finish_reason"] = Value::Null;
        })
    });
    fields
}

fn block(body: &mut Value, block: Value) {
    push(&mut body["content"], block);
}

fn tool_use(body: &mut Value, input: Value) {
    let id = format!("toolu_{}", body["content"].as_array().map_or(0, Vec::len));
    let call = json!({"type": "tool_use", "id": id, "name": "get_weather", "input": input});
    block(body, call);
    body["stop_reason"] = json!("tool_use");
}

fn messages() -> Vec<Field> {
    let mut fields = vec![
        field("call", |body| tool_use(body, json!({"city": "Paris"}))),
        field("call without arguments", |body| tool_use(body, json!({}))),
        field("caller", |body| {
            tool_use(body, json!({"city": "Rome"}));
            let blocks = body["content"].as_array_mut().expect("content");
            blocks.last_mut().expect("a call")["caller"] = json!({"type": "direct"});
        }),
        field("thinking", |body| {
            insert(
                &mut body["content"],
                json!({"type": "thinking", "thinking": "Hm, well.", "signature": "c2ln"}),
            );
        }),
        field("thinking without text", |body| {
            insert(
                &mut body["content"],
                json!({"type": "thinking", "thinking": "", "signature": "c2ln"}),
            );
        }),
        field("redacted_thinking", |body| {
            insert(
                &mut body["content"],
                json!({"type": "redacted_thinking", "data": "AAAA"}),
            );
        }),
        field("two texts", |body| {
            block(body, json!({"type": "text", "text": "And there."}));
        }),
        field("white space", |body| {
            insert(
                &mut body["content"],
                json!({"type": "text", "text": "\n\n"}),
            );
        }),
        field("citations", |body| {
            let citation = json!({"type": "char_location", "cited_text": "x"});
            block(
                body,
                json!({"type": "text", "text": "As it says.", "citations": [citation]}),
            );
        }),
        field("server_tool_use", |body| {
            insert(
                &mut body["content"],
                json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}),
            );
        }),
        field("web_search_tool_result", |body| {
            insert(
                &mut body["content"],
                json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "url": "u"}]}),
            );
        }),
        field("max_tokens", |body| {
            body["stop_reason"] = json!("max_tokens");
        }),
        field("stop_sequence", |body| {
            body["stop_reason"] = json!("stop_sequence");
            body["stop_sequence"] = json!("###");
        }),
        field("pause_turn", |body| {
            body["stop_reason"] = json!("pause_turn");
        }),
        field("context window", |body| {
            body["stop_reason"] = json!("model_context_window_exceeded");
        }),
        field("refusal", |body| {
            body["stop_reason"] = json!("refusal");
            body["stop_details"] =
                json!({"type": "refusal", "category": null, "explanation": null});
        }),
        field("refusal with details", |body| {
            body["stop_reason"] = json!("refusal");
            body["stop_details"] =
                json!({"type": "refusal", "category": "cyber", "explanation": "no"});
        }),
        field("reason of another API", |body| {
            body["stop_reason"] = json!("length");
        }),
        field("another reason", |body| {
            body["stop_reason"] = json!("compaction");
        }),
        field("container", |body| {
            body["container"] = json!({"expires_at": "2026"});
        }),
        field("context_management", |body| {
            body["context_management"] = json!({"applied_edits": [{"type": "clear"}]});
        }),
        field("usage: cached", |body| {
            body["usage"]["cache_read_input_tokens"] = json!(7);
        }),
        field("usage: written", |body| {
            body["usage"]["cache_creation_input_tokens"] = json!(9);
            body["usage"]["cache_creation"] =
                json!({"ephemeral_5m_input_tokens": 9, "ephemeral_1h_input_tokens": 0});
        }),
        field("usage: tier", |body| {
            body["usage"]["tier"] = json!("standard");
        }),
        field("usage: server tools", |body| {
            body["usage"]["server_tool_use"] = json!({"web_search_requests": 1});
        }),
    ];
    fields.push(Field {
        streams: Some(true),
        ..field("broken input", |body| {
            tool_use(body, json!("{\"city\": \"Pa"));
            body["stop_reason"] = json!("max_tokens");
        })
    });
    fields
}

fn item(body: &mut Value, item: Value) {
    push(&mut body["output"], item);
}

fn part(body: &mut Value) -> &mut Value {
    let items = body["output"].as_array_mut().expect("output");
    let message = items
        .iter_mut()
        .find(|item| item["type"] == "message")
        .expect("a message");
    &mut message["content"]
}

fn reasoning(body: &mut Value, summary: Value, content: Value) {
    insert(
        &mut body["output"],
        json!({"type": "reasoning", "id": "rs_1", "summary": summary, "content": content, "encrypted_content": "AAAA"}),
    );
}

fn function_call(body: &mut Value, arguments: &str) {
    let id = format!("call_{}", body["output"].as_array().map_or(0, Vec::len));
    let call = json!({
        "type": "function_call", "id": "fc_1", "call_id": id, "name": "get_weather", "status": "completed",
        "arguments": arguments,
    });
    item(body, call);
}

fn incomplete(body: &mut Value, reason: Value) {
    body["status"] = json!("incomplete");
    body["incomplete_details"] = json!({ "reason": reason });
}

fn responses() -> Vec<Field> {
    vec![
        field("call", |body| function_call(body, "{\"city\": \"Paris\"}")),
        field("call without arguments", |body| function_call(body, "")),
        field("custom call", |body| {
            item(
                body,
                json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_b", "name": "patch", "input": "*** x"}),
            );
        }),
        field("broken arguments", |body| {
            function_call(body, "{\"city\": \"Pa");
            incomplete(body, json!("max_output_tokens"));
        }),
        field("reasoning", |body| {
            reasoning(
                body,
                json!([{"type": "summary_text", "text": "Hm, well."}]),
                Value::Null,
            );
        }),
        field("reasoning in parts", |body| {
            let parts = json!([{"type": "summary_text", "text": "One thing."}, {"type": "summary_text", "text": "Another."}]);
            reasoning(body, parts, Value::Null);
        }),
        field("reasoning without summary", |body| {
            reasoning(body, json!([]), Value::Null);
        }),
        field("reasoning as text", |body| {
            let said = json!([{"type": "reasoning_text", "text": "All of it."}]);
            reasoning(
                body,
                json!([{"type": "summary_text", "text": "Short."}]),
                said,
            );
        }),
        field("another message", |body| {
            item(
                body,
                json!({"type": "message", "id": "msg_2", "role": "assistant", "content": [{"type": "output_text", "text": "And there."}]}),
            );
        }),
        field("message in parts", |body| {
            push(
                part(body),
                json!({"type": "output_text", "text": "In parts."}),
            );
        }),
        field("refusal", |body| {
            *part(body) = json!([{"type": "refusal", "refusal": "I can't do that."}]);
        }),
        field("annotations", |body| {
            part(body)[0]["annotations"] = json!([{"type": "url_citation", "url": "u"}]);
        }),
        field("logprobs", |body| {
            part(body)[0]["logprobs"] = json!([{"token": "a", "logprob": -1.5}]);
        }),
        field("phase", |body| {
            let items = body["output"].as_array_mut().expect("output");
            let message = items.iter_mut().find(|item| item["type"] == "message");
            message.expect("a message")["phase"] = json!("commentary");
        }),
        field("web_search_call", |body| {
            insert(
                &mut body["output"],
                json!({"type": "web_search_call", "id": "ws_1", "action": {"type": "search", "query": "q"}}),
            );
        }),
        field("mcp_call", |body| {
            item(
                body,
                json!({"type": "mcp_call", "id": "mcp_1", "name": "f", "arguments": "{}", "output": "x"}),
            );
        }),
        field("max_output_tokens", |body| {
            incomplete(body, json!("max_output_tokens"));
        }),
        field("content_filter", |body| {
            incomplete(body, json!("content_filter"));
        }),
        field("another reason", |body| incomplete(body, json!("bored"))),
        field("reason of another API", |body| {
            incomplete(body, json!("max_tokens"));
        }),
        field("no reason", |body| incomplete(body, Value::Null)),
        field("usage: none", |body| body["usage"] = Value::Null),
        field("usage: cached", |body| {
            body["usage"]["input_tokens_details"] = json!({"cached_tokens": 4});
        }),
        field("usage: reasoning", |body| {
            body["usage"]["output_tokens_details"] = json!({"reasoning_tokens": 2});
        }),
        field("usage: cost", |body| body["usage"]["cost"] = json!(0.25)),
    ]
}
