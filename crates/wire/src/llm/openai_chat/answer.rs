//! Answers of Chat Completions. Thinking is sent in `reasoning_content`, or not at all; its time counts in any case.

use cuecard_source::value::Json;
use serde_json::json;

use super::super::answer::{Answer, Call, CallInput, Element, joined};
use super::super::events::{EventWriter, Events, Streaming, timed};

/// The length of an id after its prefix.
const ID_LENGTH: usize = 29;

/// The answer as one JSON body.
pub(in super::super) fn body(answer: &Answer<'_>) -> Json {
    let calls: Vec<Json> = answer.calls().map(call).collect();
    let text = |is_it: fn(&Element) -> bool| -> String {
        let elements = answer.elements.iter().filter(|element| is_it(element));
        elements.map(Element::text).collect()
    };
    let refusal = answer.refusal().map(joined);
    let is_text = (calls.is_empty() && refusal.is_none()) || answer.has_text();
    let content = is_text.then(|| text(|element| matches!(element, Element::Text(_))));
    let mut message = json!({"role": "assistant", "content": content});
    if answer.reasoning_content && answer.has_thinking() {
        let thinking = text(|element| matches!(element, Element::Thinking(_)));
        message["reasoning_content"] = thinking.into();
    }
    message["refusal"] = refusal.into();
    message["annotations"] = json!([]);
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({
        "id": id(answer),
        "object": "chat.completion",
        "created": answer.created_at,
        "model": answer.model,
        "choices": [{
            "index": 0, "message": message, "logprobs": null, "finish_reason": answer.stop_reason().chat(),
        }],
        "usage": usage(answer),
    })
}

/// The answer as a stream of chunks.
pub(in super::super) fn stream(answer: &Answer<'_>, streaming: Streaming) -> Events {
    let id = id(answer);
    let mut writer = EventWriter::new(streaming);
    let chunk = |choices: Json, usage: Json| {
        let mut chunk = json!({
            "id": id, "object": "chat.completion.chunk", "created": answer.created_at, "model": answer.model,
            "choices": choices,
        });
        // With the usage asked for, the chunks before it say that there is none yet.
        if answer.streams_usage {
            chunk["usage"] = usage;
        }
        chunk
    };
    let choice = |delta: Json, reason: Option<&str>| {
        let choice =
            json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}]);
        chunk(choice, Json::Null)
    };
    let says_nothing = answer.calls().next().is_none() && answer.refusal().is_none();
    let content = (answer.has_text() || says_nothing).then_some("");
    let first = json!({"role": "assistant", "content": content, "refusal": null});
    writer.json(None, &choice(first, None));
    let mut index = 0;
    for element in answer.elements {
        let (pieces, key) = match element {
            Element::Thinking(pieces) if !answer.reasoning_content => {
                writer.pass(pieces);
                continue;
            }
            Element::Thinking(pieces) => (pieces, "reasoning_content"),
            Element::Text(pieces) => (pieces, "content"),
            Element::Refusal(pieces) => (pieces, "refusal"),
            Element::Call(call) => {
                let input = call.input_text();
                let spread = writer.spread([(&*input, call.at_ms)]);
                let (kind, key) = kind(call);
                writer.begin_call();
                writer.wait_until(spread.begins_at);
                let begun = json!({
                    "index": index, "id": call.id, "type": kind, kind: {"name": call.name, key: ""},
                });
                writer.json(None, &choice(json!({"tool_calls": [begun]}), None));
                for part in &spread.deltas {
                    writer.wait_until(part.at_ms);
                    let piece = json!({"index": index, kind: {key: part.text}});
                    writer.json(None, &choice(json!({"tool_calls": [piece]}), None));
                }
                index += 1;
                continue;
            }
        };
        let spread = writer.spread(timed(pieces));
        for part in &spread.deltas {
            writer.wait_until(part.at_ms);
            writer.json(None, &choice(json!({key: part.text}), None));
        }
        writer.wait_until(spread.ends_at);
    }
    if let Some(failure) = answer.failure {
        writer.wait_until(failure.at_ms);
        writer.json(None, &failure.error.open_ai());
        return writer.finish();
    }
    writer.json(None, &choice(json!({}), Some(answer.stop_reason().chat())));
    if answer.streams_usage {
        writer.json(None, &chunk(json!([]), usage(answer)));
    }
    writer.word("[DONE]");
    writer.finish()
}

fn id(answer: &Answer<'_>) -> String {
    match answer.id {
        Some(id) => id.to_owned(),
        None => answer.seed.id("chatcmpl-", 0, ID_LENGTH),
    }
}

fn call(call: &Call) -> Json {
    let (kind, key) = kind(call);
    json!({"id": call.id, "type": kind, kind: {"name": call.name, key: call.input_text()}})
}

/// The type of a call, which is the name of its member too, and the key of its input there.
fn kind(call: &Call) -> (&'static str, &'static str) {
    match call.input {
        CallInput::Arguments(_) | CallInput::Raw(_) => ("function", "arguments"),
        CallInput::Text(_) => ("custom", "input"),
    }
}

fn usage(answer: &Answer<'_>) -> Json {
    let usage = &answer.usage;
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning, "audio_tokens": 0, "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}
