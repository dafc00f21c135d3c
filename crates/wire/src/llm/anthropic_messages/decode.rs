//! Answers of Messages, read.

use cuecard_source::value::Json;

use super::super::decode::{
    Building, Decoded, EventDecoder, PartKind, error, items_of, number_of, text_of,
};
use super::super::errors::{ANTHROPIC_TYPES, ApiError, status_of};
use super::super::stop::StopReason;

/// What is known of a message, and what is only about it.
const MESSAGE: &[&str] = &[
    "content",
    "id",
    "model",
    "role",
    "stop_details",
    "stop_reason",
    "type",
    "usage",
];
const USAGE: &[&str] = &[
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
];

/// Reads a whole body.
pub(in super::super) fn read_body(json: &Json, at_ms: u64) -> Result<Decoded, String> {
    if text_of(json, "type") != "message" || !json["content"].is_array() {
        return Err("the answer is no message".to_owned());
    }
    let mut answer = Building::default();
    answer.decoded.id = json["id"].as_str().map(str::to_owned);
    answer.decoded.is_complete = true;
    answer.leave_out_others(json, MESSAGE);
    stop(&mut answer, json);
    if !json["stop_reason"].is_string() {
        answer.change("it has no `stop_reason`");
    }
    answer.add_usage(json.get("usage"), USAGE);
    for (index, block) in items_of(json, "content").iter().enumerate() {
        begin(&mut answer, index as u64, block, at_ms);
        if answer.has_call((index as u64, 0)) {
            answer.call_done((index as u64, 0), at_ms);
        }
    }
    Ok(answer.finish())
}

/// Why a message stopped: what the whole says, or the end of a stream.
fn stop(answer: &mut Building, said: &Json) {
    let reason = said["stop_reason"].as_str();
    answer.stop_word("stop_reason", reason, |reason| Some(reason.anthropic()));
    // A player has these for a refusal, and says there that it is one.
    match (answer.decoded.stop, said["stop_details"].is_object()) {
        (Some(StopReason::Refusal), true) => {
            answer.leave_out_others(&said["stop_details"], &["type"]);
        }
        (Some(StopReason::Refusal), false) => answer.change("its refusal has no `stop_details`"),
        (_, true) => answer.leave_out("stop_details"),
        (_, false) => {}
    }
}

/// A block, which in a stream is empty at first.
fn begin(answer: &mut Building, index: u64, block: &Json, at_ms: u64) {
    let key = (index, 0);
    match text_of(block, "type") {
        "text" => {
            answer.leave_out_others(block, &["type", "text"]);
            answer.begin(key, PartKind::Text);
            answer.say(key, PartKind::Text, text_of(block, "text"), at_ms);
        }
        "thinking" => {
            answer.leave_out_others(block, &["type", "thinking", "signature"]);
            answer.begin(key, PartKind::Thinking);
            answer.say(key, PartKind::Thinking, text_of(block, "thinking"), at_ms);
        }
        "tool_use" => {
            answer.leave_out_others(block, &["type", "id", "name", "input"]);
            let (id, name) = (text_of(block, "id"), text_of(block, "name"));
            answer.call(key, id, name, false, at_ms);
            if let Some(input) = block["input"].as_object()
                && !input.is_empty()
            {
                answer.call_whole(key, block["input"].to_string(), at_ms);
            }
        }
        other => answer.leave_out(other),
    }
}

/// Reads the events of a stream.
#[derive(Debug)]
pub(in super::super) struct MessagesEvents;

impl EventDecoder for MessagesEvents {
    fn event(&mut self, answer: &mut Building, data: &Json, at_ms: u64) {
        let index = number_of(data, "index");
        let key = (index, 0);
        match text_of(data, "type") {
            "message_start" => {
                let message = &data["message"];
                answer.decoded.id = message["id"].as_str().map(str::to_owned);
                answer.leave_out_others(message, MESSAGE);
                answer.add_usage(message.get("usage"), USAGE);
            }
            "content_block_start" => begin(answer, index, &data["content_block"], at_ms),
            "content_block_delta" => {
                let delta = &data["delta"];
                match text_of(delta, "type") {
                    "text_delta" => answer.say(key, PartKind::Text, text_of(delta, "text"), at_ms),
                    "thinking_delta" => {
                        answer.say(key, PartKind::Thinking, text_of(delta, "thinking"), at_ms);
                    }
                    "input_json_delta" if answer.has(key) => {
                        answer.call_input(key, text_of(delta, "partial_json"), at_ms);
                    }
                    // Of a block that is left out, or what the next one with this thinking is signed with.
                    "input_json_delta" | "signature_delta" => {}
                    "citations_delta" => answer.leave_out("citations"),
                    other => answer.leave_out(other),
                }
            }
            "content_block_stop" if answer.has_call(key) => answer.call_done(key, at_ms),
            "message_delta" => {
                answer.leave_out_others(&data["delta"], MESSAGE);
                stop(answer, &data["delta"]);
                answer.leave_out_others(data, &["type", "delta", "usage"]);
                answer.add_usage(data.get("usage"), USAGE);
            }
            "message_stop" => answer.decoded.is_complete = true,
            "error" => {
                // The status that it would have had before the stream began.
                let status = status_of(ANTHROPIC_TYPES, text_of(&data["error"], "type"));
                let found = error(status, &data["error"]);
                let found = found.unwrap_or_else(|| ApiError::new(500, ""));
                answer.decoded.failure = Some((found, at_ms));
                answer.decoded.is_complete = true;
            }
            _ => {}
        }
    }
}
