//! Answers of Messages, read.

use cuecard_core::value::Json;

use super::super::decode::{
    Building, DecodeError, Decoded, EventDecoder, error, items_of, merge, number_of, text_of,
};
use super::super::errors::ApiError;
use super::super::stop::StopReason;

/// The types of blocks that say nothing for others to see.
const SILENT: &[&str] = &["redacted_thinking"];

/// Reads a whole body.
pub(in super::super) fn read_body(json: &Json, at_ms: u64) -> Result<Decoded, DecodeError> {
    if text_of(json, "type") != "message" || !json["content"].is_array() {
        return Err(DecodeError::new("the answer is no message"));
    }
    let mut answer = Building::default();
    answer.id = json["id"].as_str().map(str::to_owned);
    answer.stop = json["stop_reason"].as_str().and_then(StopReason::from_word);
    answer.is_complete = true;
    merge(&mut answer.usage, json.get("usage"));
    for (index, block) in items_of(json, "content").iter().enumerate() {
        begin(&mut answer, index as u64, block, at_ms);
    }
    Ok(answer.finish())
}

/// A block, which in a stream is empty at first.
fn begin(answer: &mut Building, index: u64, block: &Json, at_ms: u64) {
    let key = (index, 0);
    match text_of(block, "type") {
        "text" => answer.text(key, text_of(block, "text"), at_ms),
        "thinking" => answer.thinking(key, text_of(block, "thinking"), at_ms),
        "tool_use" => {
            let (id, name) = (text_of(block, "id"), text_of(block, "name"));
            answer.call(key, id, name, false, at_ms);
            if let Some(input) = block["input"].as_object()
                && !input.is_empty()
            {
                answer.call_whole(key, block["input"].to_string(), at_ms);
            }
        }
        silent if SILENT.contains(&silent) => {}
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
                answer.id = message["id"].as_str().map(str::to_owned);
                merge(&mut answer.usage, message.get("usage"));
            }
            "content_block_start" => begin(answer, index, &data["content_block"], at_ms),
            "content_block_delta" => {
                let delta = &data["delta"];
                match text_of(delta, "type") {
                    "text_delta" => answer.text(key, text_of(delta, "text"), at_ms),
                    "thinking_delta" => answer.thinking(key, text_of(delta, "thinking"), at_ms),
                    "input_json_delta" if answer.has(key) => {
                        answer.call_input(key, text_of(delta, "partial_json"), at_ms);
                    }
                    _ => {}
                }
            }
            "content_block_stop" if answer.has_call(key) => answer.call_done(key, at_ms),
            "message_delta" => {
                let reason = data["delta"]["stop_reason"].as_str();
                answer.stop = reason.and_then(StopReason::from_word).or(answer.stop);
                merge(&mut answer.usage, data.get("usage"));
            }
            "message_stop" => answer.is_complete = true,
            "error" => {
                let found = error(status_of(&data["error"]), &data["error"])
                    .unwrap_or_else(|| ApiError::new(500, "the stream ended in an error"));
                answer.failure = Some((found, at_ms));
                answer.is_complete = true;
            }
            _ => {}
        }
    }
}

/// The status that an error would have had before the stream began.
fn status_of(error: &Json) -> u16 {
    match text_of(error, "type") {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "conflict_error" => 409,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    }
}
