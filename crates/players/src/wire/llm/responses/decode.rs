//! Answers of Responses, read.

use cuecard_core::value::Json;

use super::super::decode::{
    Building, DecodeError, Decoded, EventDecoder, error, items_of, merge, number_of, text_of,
};
use super::super::errors::ApiError;
use super::super::stop::StopReason;

/// Reads a whole body.
pub(in super::super) fn read_body(json: &Json, at_ms: u64) -> Result<Decoded, DecodeError> {
    if text_of(json, "object") != "response" || !json["output"].is_array() {
        return Err(DecodeError::new("the answer is no response"));
    }
    let mut answer = Building::default();
    for (index, item) in items_of(json, "output").iter().enumerate() {
        whole(&mut answer, index as u64, item, at_ms);
    }
    end(&mut answer, json, at_ms);
    Ok(answer.finish())
}

/// What the object says beside its items.
fn end(answer: &mut Building, response: &Json, at_ms: u64) {
    answer.id = response["id"].as_str().map(str::to_owned);
    answer.is_complete = true;
    merge(&mut answer.usage, response.get("usage"));
    let reason = response["incomplete_details"]["reason"].as_str();
    answer.stop = reason.and_then(StopReason::from_word).or(answer.stop);
    if text_of(response, "status") == "failed" && answer.failure.is_none() {
        answer.failure = Some((failure(&response["error"]), at_ms));
    }
}

fn failure(found: &Json) -> ApiError {
    let code = text_of(found, "code");
    let status = match code {
        "rate_limit_exceeded" | "insufficient_quota" => 429,
        "invalid_prompt" | "context_length_exceeded" => 400,
        _ => 500,
    };
    let mut found = error(status, found)
        .unwrap_or_else(|| ApiError::new(status, "the stream ended in an error"));
    // An error of the stream has its word in `code`; its type is only that it is one.
    found.error_type = (!code.is_empty()).then(|| code.to_owned());
    found.code = None;
    found
}

/// An item that is there as a whole. What of it has come in deltas stays as it came.
fn whole(answer: &mut Building, index: u64, item: &Json, at_ms: u64) {
    match text_of(item, "type") {
        "message" => {
            for (part, content) in items_of(item, "content").iter().enumerate() {
                let key = (index, part as u64);
                if answer.has(key) {
                    continue;
                }
                match text_of(content, "type") {
                    "output_text" => answer.text(key, text_of(content, "text"), at_ms),
                    "refusal" => {
                        answer.text(key, text_of(content, "refusal"), at_ms);
                        answer.stop = Some(StopReason::Refusal);
                    }
                    other => answer.leave_out(other),
                }
            }
        }
        "reasoning" => {
            for (part, summary) in items_of(item, "summary").iter().enumerate() {
                let key = (index, part as u64);
                if !answer.has(key) {
                    answer.thinking(key, text_of(summary, "text"), at_ms);
                }
            }
        }
        "function_call" => {
            begin(answer, index, item, at_ms);
            let arguments = text_of(item, "arguments").to_owned();
            answer.call_whole((index, 0), arguments, at_ms);
        }
        "custom_tool_call" => {
            begin(answer, index, item, at_ms);
            answer.call_whole((index, 0), text_of(item, "input").to_owned(), at_ms);
        }
        other => answer.leave_out(other),
    }
}

/// What is known of an item at its beginning.
fn begin(answer: &mut Building, index: u64, item: &Json, at_ms: u64) {
    let kind = text_of(item, "type");
    if matches!(kind, "function_call" | "custom_tool_call") {
        let (id, name) = (text_of(item, "call_id"), text_of(item, "name"));
        let takes_text = kind == "custom_tool_call";
        answer.call((index, 0), id, name, takes_text, at_ms);
        let namespace = text_of(item, "namespace");
        if !namespace.is_empty() {
            answer.call_namespace((index, 0), namespace, at_ms);
        }
    }
}

/// Reads the events of a stream.
#[derive(Debug)]
pub(in super::super) struct ResponsesEvents;

impl EventDecoder for ResponsesEvents {
    fn event(&mut self, answer: &mut Building, data: &Json, at_ms: u64) {
        let index = number_of(data, "output_index");
        let delta = text_of(data, "delta");
        match text_of(data, "type") {
            "response.output_item.added" => begin(answer, index, &data["item"], at_ms),
            "response.output_text.delta" => {
                answer.text((index, number_of(data, "content_index")), delta, at_ms);
            }
            "response.refusal.delta" => {
                answer.text((index, number_of(data, "content_index")), delta, at_ms);
                answer.stop = Some(StopReason::Refusal);
            }
            "response.reasoning_summary_text.delta" => {
                answer.thinking((index, number_of(data, "summary_index")), delta, at_ms);
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                answer.call_input((index, 0), delta, at_ms);
            }
            "response.output_item.done" => whole(answer, index, &data["item"], at_ms),
            "response.created" => answer.id = data["response"]["id"].as_str().map(str::to_owned),
            "response.completed" | "response.incomplete" | "response.failed" => {
                end(answer, &data["response"], at_ms);
            }
            // The answer itself says it again.
            "error" => {
                let found = match data.get("error").filter(|error| error.is_object()) {
                    Some(error) => failure(error),
                    None => failure(data),
                };
                answer.failure = Some((found, at_ms));
            }
            _ => {}
        }
    }
}
