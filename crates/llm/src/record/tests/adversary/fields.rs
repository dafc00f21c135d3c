//! The fields of each API's answers. That one is here says nothing of what becomes of it.

use cuecard_timeline::script::Endpoint;
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
        Endpoint::Gemini => json!({
            "candidates": [{
                "content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP", "index": 0,
            }],
            "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 5, "totalTokenCount": 17},
            "modelVersion": "m-1", "responseId": "r-1",
        }),
        Endpoint::Responses => json!({
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
        Endpoint::Responses => responses(),
        Endpoint::Gemini => gemini(),
    };
    fields.extend([
        error("error: busy", |endpoint| {
            an_error(endpoint, 429, "rate_limit_error", "slow down")
        }),
        error("error: a type of its own", |endpoint| {
            an_error(endpoint, 500, "odd_error", "it is odd")
        }),
        error("error: a code and a parameter", |endpoint| {
            let (status, mut body) = an_error(endpoint, 400, "invalid_request_error", "too long");
            if endpoint != Endpoint::Gemini {
                body["error"]["code"] = json!("context_length_exceeded");
            }
            body["error"]["param"] = json!("messages");
            (status, body)
        }),
        error("error: more of it", |endpoint| {
            let (status, mut body) = an_error(endpoint, 503, "server_error", "down");
            body["error"]["innererror"] = json!({"code": "x"});
            (status, body)
        }),
    ]);
    fields
}

fn an_error(endpoint: Endpoint, status: u16, kind: &str, message: &str) -> (u16, Value) {
    let body = match endpoint {
        Endpoint::Messages => json!({"type": "error", "error": {"type": kind, "message": message}}),
        Endpoint::Gemini => {
            let kind = match kind {
                "rate_limit_error" => "RESOURCE_EXHAUSTED",
                "invalid_request_error" => "INVALID_ARGUMENT",
                "server_error" => "UNAVAILABLE",
                other => other,
            };
            let details =
                json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "9s"}]);
            json!({"error": {"code": status, "message": message, "status": kind, "details": details}})
        }
        Endpoint::Chat | Endpoint::Responses => {
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
        }
    };
    (status, body)
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
        field("refusal without content", |body| {
            message(body)["content"] = Value::Null;
            message(body)["refusal"] = json!("I can't do that.");
        }),
        field("call of an unknown tool", |body| {
            let call = json!({"id": "call_u", "type": "function", "function": {"name": "rm", "arguments": "{\"a\": 1}"}});
            push(&mut message(body)["tool_calls"], call);
        }),
        field("arguments in a list", |body| chat_call(body, "[1]")),
        field("function_call", |body| {
            message(body)["function_call"] = json!({"name": "get_weather", "arguments": "{}"});
        }),
        field("function_call as a reason", |body| {
            choice(body)["finish_reason"] = json!("function_call");
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
        field("usage: prediction", |body| {
            body["usage"]["completion_tokens_details"]["accepted_prediction_tokens"] = json!(1);
        }),
        field("content_filter_results", |body| {
            choice(body)["content_filter_results"] =
                json!({"hate": {"filtered": false, "severity": "safe"}});
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
        field("text behind a call", |body| {
            tool_use(body, json!({"city": "Paris"}));
            block(body, json!({"type": "text", "text": "It may rain."}));
            tool_use(body, json!({"city": "Rome"}));
            tool_use(body, json!({"city": "Oslo"}));
            block(body, json!({"type": "text", "text": "And snow."}));
        }),
        field("thinking behind a call", |body| {
            tool_use(body, json!({"city": "Paris"}));
            let thought = json!({"type": "thinking", "thinking": "So.", "signature": "c2ln"});
            block(body, thought);
        }),
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
        field("web_fetch_tool_result", |body| {
            insert(
                &mut body["content"],
                json!({"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_2", "content": {"type": "web_fetch_result", "url": "u"}}),
            );
        }),
        field("code_execution_tool_result", |body| {
            insert(
                &mut body["content"],
                json!({"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_3", "content": {"stdout": "1"}}),
            );
        }),
        field("mcp_tool_use", |body| {
            insert(
                &mut body["content"],
                json!({"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "f", "server_name": "s", "input": {}}),
            );
        }),
        field("mcp_tool_result", |body| {
            insert(
                &mut body["content"],
                json!({"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": [{"type": "text", "text": "x"}]}),
            );
        }),
        field("container_upload", |body| {
            insert(
                &mut body["content"],
                json!({"type": "container_upload", "file_id": "f"}),
            );
        }),
        field("compaction", |body| {
            insert(
                &mut body["content"],
                json!({"type": "compaction", "content": "So far."}),
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
        field("usage: service_tier", |body| {
            body["usage"]["service_tier"] = json!("standard");
        }),
        field("usage: lifetimes of the cache", |body| {
            body["usage"]["cache_creation"] = json!({"ephemeral_5m_input_tokens": 3});
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
        field("message behind a call", |body| {
            function_call(body, "{\"city\": \"Paris\"}");
            let content =
                json!([{"type": "output_text", "text": "It may rain.", "annotations": []}]);
            item(
                body,
                json!({"type": "message", "id": "msg_2", "role": "assistant", "status": "completed", "content": content}),
            );
        }),
        field("large integer in a call", |body| {
            function_call(body, "{\"city\": 123456789012345678901234567890}");
        }),
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
        field("mcp_approval_request", |body| {
            item(
                body,
                json!({"type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}", "server_label": "s"}),
            );
        }),
        field("image_generation_call", |body| {
            item(
                body,
                json!({"type": "image_generation_call", "id": "ig_1", "result": "AAAA"}),
            );
        }),
        field("code_interpreter_call", |body| {
            item(
                body,
                json!({"type": "code_interpreter_call", "id": "ci_1", "code": "1", "container_id": "c"}),
            );
        }),
        field("compaction", |body| {
            item(
                body,
                json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "AAAA"}),
            );
        }),
        field("call of a group", |body| {
            function_call(body, "{\"city\": \"Paris\"}");
            let items = body["output"].as_array_mut().expect("output");
            items.last_mut().expect("a call")["namespace"] = json!("weather");
        }),
        field("call of an unknown tool", |body| {
            let call = json!({
                "type": "function_call", "id": "fc_u", "call_id": "call_u", "name": "rm", "status": "completed",
                "arguments": "{\"a\": 1}",
            });
            item(body, call);
        }),
        field("refusal beside text", |body| {
            push(
                part(body),
                json!({"type": "refusal", "refusal": "No more."}),
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

fn candidate(body: &mut Value) -> &mut Value {
    &mut body["candidates"][0]
}

/// The parts of the content, unless it has none.
fn gemini_parts(body: &mut Value) -> Option<&mut Vec<Value>> {
    let parts = candidate(body).pointer_mut("/content/parts")?;
    parts.as_array_mut()
}

fn gemini_part(body: &mut Value, part: Value) {
    if let Some(parts) = gemini_parts(body) {
        parts.push(part);
    }
}

fn thought(body: &mut Value, text: &str) {
    if let Some(parts) = gemini_parts(body) {
        parts.insert(0, json!({"text": text, "thought": true}));
    }
}

fn gemini() -> Vec<Field> {
    vec![
        field("call", |body| {
            gemini_part(
                body,
                json!({"functionCall": {"name": "get_weather", "args": {"city": "Paris"}}}),
            );
        }),
        field("call with an id", |body| {
            let call = json!({"id": "f1", "name": "get_weather", "args": {"city": "Rome"}});
            gemini_part(
                body,
                json!({"functionCall": call, "thoughtSignature": "AAAA"}),
            );
        }),
        field("call without arguments", |body| {
            gemini_part(body, json!({"functionCall": {"name": "get_weather"}}));
        }),
        field("call of an unknown tool", |body| {
            gemini_part(
                body,
                json!({"functionCall": {"name": "rm", "args": {"a": 1}}}),
            );
        }),
        field("more in a call", |body| {
            let call =
                json!({"name": "get_weather", "args": {"city": "Bern"}, "willContinue": true});
            gemini_part(body, json!({"functionCall": call}));
        }),
        field("thought", |body| thought(body, "Hm, well.")),
        field("text behind a thought", |body| {
            thought(body, "Or so.");
            gemini_part(body, json!({"text": "And then."}));
        }),
        field("signature of its own", |body| {
            gemini_part(body, json!({"text": "", "thoughtSignature": "AAAA"}));
        }),
        field("two texts", |body| {
            gemini_part(body, json!({"text": "And there."}));
        }),
        field("white space", |body| {
            candidate(body)["content"]["parts"] = json!([{"text": "\n\n"}]);
        }),
        field("no content", |body| {
            candidate(body)["content"] = Value::Null;
        }),
        field("inlineData", |body| {
            gemini_part(
                body,
                json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
            );
        }),
        field("text behind a call", |body| {
            let call = json!({"id": "call_g", "name": "get_weather", "args": {"city": "Paris"}});
            gemini_part(body, json!({"functionCall": call}));
            gemini_part(body, json!({"text": "It may rain."}));
        }),
        field("an image", |body| {
            gemini_part(
                body,
                json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}),
            );
            gemini_part(body, json!({"text": "A tree."}));
        }),
        field("executableCode", |body| {
            gemini_part(
                body,
                json!({"executableCode": {"language": "PYTHON", "code": "1"}}),
            );
        }),
        field("codeExecutionResult", |body| {
            gemini_part(
                body,
                json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}),
            );
        }),
        field("MAX_TOKENS", |body| {
            candidate(body)["finishReason"] = json!("MAX_TOKENS");
        }),
        field("SAFETY", |body| {
            candidate(body)["finishReason"] = json!("SAFETY");
        }),
        field("RECITATION", |body| {
            candidate(body)["finishReason"] = json!("RECITATION");
        }),
        field("MALFORMED_FUNCTION_CALL", |body| {
            candidate(body)["finishReason"] = json!("MALFORMED_FUNCTION_CALL");
            candidate(body)["finishMessage"] = json!("no such call");
        }),
        field("OTHER", |body| {
            candidate(body)["finishReason"] = json!("OTHER");
        }),
        field("another reason", |body| {
            candidate(body)["finishReason"] = json!("TOO_MANY_TOOL_CALLS");
        }),
        field("reason of another API", |body| {
            candidate(body)["finishReason"] = json!("length");
        }),
        field("safetyRatings", |body| {
            candidate(body)["safetyRatings"] = json!([{"category": "HARM", "probability": "LOW"}]);
        }),
        field("citationMetadata", |body| {
            candidate(body)["citationMetadata"] = json!({"citationSources": [{"uri": "u"}]});
        }),
        field("groundingMetadata", |body| {
            candidate(body)["groundingMetadata"] = json!({"webSearchQueries": ["q"]});
        }),
        field("logprobs", |body| {
            candidate(body)["avgLogprobs"] = json!(-0.5);
            candidate(body)["logprobsResult"] = json!({"chosenCandidates": [{"token": "a"}]});
        }),
        field("promptFeedback", |body| {
            body["promptFeedback"] =
                json!({"safetyRatings": [{"category": "HARM", "probability": "LOW"}]});
        }),
        field("blocked prompt", |body| {
            body["candidates"] = Value::Null;
            body["promptFeedback"] = json!({"blockReason": "SAFETY"});
        }),
        field("blocked prompt, for a term", |body| {
            body["candidates"] = Value::Null;
            body["promptFeedback"] = json!({"blockReason": "BLOCKLIST"});
        }),
        field("blocked prompt, for a new reason", |body| {
            body["candidates"] = Value::Null;
            body["promptFeedback"] = json!({"blockReason": "MODEL_ARMOR"});
        }),
        field("usage: none", |body| body["usageMetadata"] = Value::Null),
        field("usage: cached", |body| {
            body["usageMetadata"]["cachedContentTokenCount"] = json!(4);
        }),
        field("usage: thoughts", |body| {
            body["usageMetadata"]["thoughtsTokenCount"] = json!(3);
            body["usageMetadata"]["totalTokenCount"] = json!(20);
        }),
        field("usage: details", |body| {
            body["usageMetadata"]["promptTokensDetails"] =
                json!([{"modality": "TEXT", "tokenCount": 12}]);
        }),
        field("usage: tools", |body| {
            body["usageMetadata"]["toolUsePromptTokenCount"] = json!(7);
            body["usageMetadata"]["totalTokenCount"] = json!(24);
        }),
        field("another candidate", |body| {
            let other = json!({"index": 1, "content": {"parts": [{"text": "Or this."}]}, "finishReason": "STOP"});
            if let Some(candidates) = body["candidates"].as_array_mut() {
                candidates.push(other);
            }
        }),
    ]
}
