//! Answers of Messages: blocks of thinking, text and calls.

use cuecard_source::value::Json;
use serde_json::json;

use super::super::answer::{Answer, Element, joined};
use super::super::events::{EventWriter, Events, Streaming, timed};
use super::super::ids;
use super::super::stop::StopReason;

/// What a stream says while there is nothing to say.
pub const PING: &[u8] = b"event: ping\ndata: {\"type\": \"ping\"}\n\n";

/// The length of an id after its prefix.
const ID_LENGTH: usize = 24;

/// The answer as one JSON body.
pub(in super::super) fn body(answer: &Answer<'_>) -> Json {
    let shown = answer.said();
    let shown = shown.filter(|it| answer.shows_thinking || !matches!(it, Element::Thinking(_)));
    let content = shown.map(|element| block(element, true)).collect();
    message(answer, content, Some(answer.stop_reason()))
}

/// The answer as a stream of named events.
pub(in super::super) fn stream(answer: &Answer<'_>, streaming: Streaming) -> Events {
    let mut writer = EventWriter::new(streaming);
    let mut start = message(answer, Vec::new(), None);
    // Nothing has been said yet.
    start["usage"]["output_tokens"] = 0.into();
    send(
        &mut writer,
        &json!({"type": "message_start", "message": start}),
    );
    let mut index = 0;
    for element in answer.elements {
        match element {
            Element::Thinking(pieces) if !answer.shows_thinking => writer.pass(pieces),
            element => index += usize::from(stream_block(&mut writer, index, element)),
        }
    }
    if let Some(failure) = answer.failure {
        writer.wait_until(failure.at_ms);
        writer.json(Some("error"), &failure.error.anthropic());
        return writer.finish();
    }
    let delta = end(Some(answer.stop_reason()));
    let usage = usage(answer);
    send(
        &mut writer,
        &json!({"type": "message_delta", "delta": delta, "usage": usage}),
    );
    send(&mut writer, &json!({"type": "message_stop"}));
    writer.finish()
}

fn send(writer: &mut EventWriter, event: &Json) {
    writer.json(event["type"].as_str(), event);
}

/// Streams a block, which begins with its first delta. Whether there was something in it.
fn stream_block(writer: &mut EventWriter, index: usize, element: &Element) -> bool {
    let arguments = match element {
        Element::Call(call) => call.arguments_text(),
        _ => String::new(),
    };
    let (spread, kind, key) = match element {
        Element::Call(call) => {
            writer.begin_call();
            let spread = writer.spread([(&*arguments, call.at_ms)]);
            (spread, "input_json_delta", "partial_json")
        }
        Element::Thinking(pieces) => (writer.spread(timed(pieces)), "thinking_delta", "thinking"),
        Element::Text(pieces) | Element::Refusal(pieces) => {
            (writer.spread(timed(pieces)), "text_delta", "text")
        }
    };
    let is_shown = !spread.deltas.is_empty();
    if is_shown {
        writer.wait_until(spread.begins_at);
        let begun = block(element, false);
        let start = json!({"type": "content_block_start", "index": index, "content_block": begun});
        send(writer, &start);
        let delta =
            |delta: Json| json!({"type": "content_block_delta", "index": index, "delta": delta});
        for part in &spread.deltas {
            writer.wait_until(part.at_ms);
            send(writer, &delta(json!({"type": kind, key: part.text})));
        }
        if let Element::Thinking(pieces) = element {
            let signature = ids::signature(&joined(pieces));
            send(
                writer,
                &delta(json!({"type": "signature_delta", "signature": signature})),
            );
        }
        send(
            writer,
            &json!({"type": "content_block_stop", "index": index}),
        );
    }
    writer.wait_until(spread.ends_at);
    is_shown
}

/// The id of the message that is made from this seed.
fn id(answer: &Answer<'_>) -> String {
    match answer.id {
        Some(id) => id.to_owned(),
        None => answer.seed.id("msg_", 0, ID_LENGTH),
    }
}

fn message(answer: &Answer<'_>, content: Vec<Json>, stop: Option<StopReason>) -> Json {
    let mut message = json!({
        "id": id(answer), "type": "message", "role": "assistant", "model": answer.model, "content": content,
    });
    if let (Json::Object(message), Json::Object(end)) = (&mut message, end(stop)) {
        message.extend(end);
    }
    message["usage"] = usage(answer);
    message
}

/// Why a message stopped, with what is said about a refusal beside that.
fn end(stop: Option<StopReason>) -> Json {
    let mut end = json!({"stop_reason": stop.map(StopReason::anthropic), "stop_sequence": null});
    if stop == Some(StopReason::Refusal) {
        end["stop_details"] = json!({"type": "refusal", "category": null, "explanation": null});
    }
    end
}

fn usage(answer: &Answer<'_>) -> Json {
    let usage = &answer.usage;
    json!({
        "input_tokens": usage.uncached(),
        "cache_creation_input_tokens": usage.cache_written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    })
}

/// A block as a whole, or as a stream begins it.
fn block(element: &Element, is_whole: bool) -> Json {
    let text = |pieces| match is_whole {
        true => joined(pieces),
        false => String::new(),
    };
    match element {
        Element::Thinking(pieces) => {
            let text = text(pieces);
            let signature = match is_whole {
                true => ids::signature(&text),
                false => String::new(),
            };
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Element::Text(pieces) | Element::Refusal(pieces) => {
            json!({"type": "text", "text": text(pieces)})
        }
        Element::Call(call) => {
            let input = match is_whole {
                true => call.arguments(),
                false => json!({}),
            };
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
        }
    }
}
