//! Answers of Responses, read.

use cuecard_source::value::Json;

use super::super::decode::{
    Building, Decoded, EventDecoder, PartKind, error, items_of, number_of, text_of,
};
use super::super::errors::{ApiError, RESPONSES_CODES, status_of};

const USAGE: &[&str] = &[
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "input_tokens_details.cached_tokens",
    "input_tokens_details.cache_write_tokens",
    "output_tokens_details.reasoning_tokens",
];
/// What is known of an item, and what is only about it.
const MESSAGE: &[&str] = &["content", "id", "role", "status", "type"];
const REASONING: &[&str] = &[
    "content",
    "encrypted_content",
    "id",
    "status",
    "summary",
    "type",
];
const CALL: &[&str] = &[
    "arguments",
    "call_id",
    "id",
    "input",
    "name",
    "namespace",
    "status",
    "type",
];

/// Reads a whole body.
pub(in super::super) fn read_body(json: &Json, at_ms: u64) -> Result<Decoded, String> {
    if text_of(json, "object") != "response" || !json["output"].is_array() {
        return Err("the answer is no response".to_owned());
    }
    let status = text_of(json, "status");
    if matches!(status, "queued" | "in_progress" | "cancelled") {
        return Err(format!("the answer is not made: it is `{status}`"));
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
    answer.decoded.id = response["id"].as_str().map(str::to_owned);
    answer.decoded.is_complete = true;
    answer.add_usage(response.get("usage"), USAGE);
    let reason = response["incomplete_details"]["reason"].as_str();
    answer.stop_word(
        "incomplete_details",
        reason,
        cuecard_timeline::model::StopReason::responses,
    );
    if text_of(response, "status") == "incomplete" && answer.decoded.stop.is_none() {
        answer.change("its `status` is `incomplete`, for no known reason (`incomplete_details`)");
    }
    if text_of(response, "status") == "failed" && answer.decoded.failure.is_none() {
        answer.decoded.failure = Some((failure(answer, &response["error"]), at_ms));
    }
}

/// The error of an answer that failed. A player says a code and a message in each.
fn failure(answer: &mut Building, found: &Json) -> ApiError {
    for (name, other) in [("code", "one"), ("message", "an empty one")] {
        if !found[name].is_string() {
            answer.change(&format!(
                "the error has no `{name}`: it is replayed with {other}"
            ));
        }
    }
    let code = text_of(found, "code");
    let status = status_of(RESPONSES_CODES, code);
    let mut found = error(status, found).unwrap_or_else(|| ApiError::new(status, ""));
    // An error of the stream has its word in `code`; its type is only that it is one.
    found.error_type = (!code.is_empty()).then(|| code.to_owned());
    found.code = None;
    found
}

/// An item that is there as a whole. What of it has come in deltas stays as it came.
fn whole(answer: &mut Building, index: u64, item: &Json, at_ms: u64) {
    match text_of(item, "type") {
        "message" => {
            answer.leave_out_others(item, MESSAGE);
            let parts = items_of(item, "content");
            if parts.len() > 1 {
                answer.change("the parts of its `message` are messages of their own");
            }
            for (part, content) in parts.iter().enumerate() {
                let key = (index, part as u64);
                let is_new = !answer.has(key);
                match text_of(content, "type") {
                    "output_text" => {
                        answer.leave_out_others(content, &["type", "text"]);
                        if is_new {
                            answer.begin(key, PartKind::Text);
                            answer.say(key, PartKind::Text, text_of(content, "text"), at_ms);
                        }
                    }
                    "refusal" => {
                        answer.leave_out_others(content, &["type", "refusal"]);
                        if is_new {
                            answer.say(key, PartKind::Refusal, text_of(content, "refusal"), at_ms);
                        }
                    }
                    other => answer.leave_out(other),
                }
            }
        }
        "reasoning" => {
            answer.leave_out_others(item, REASONING);
            let parts = items_of(item, "summary");
            match parts.len() {
                0 => answer.change("`reasoning` without a summary is left out"),
                1 => {}
                _ => answer.change("the parts of its `reasoning` are items of their own"),
            }
            for part in items_of(item, "content") {
                answer.leave_out(text_of(part, "type"));
            }
            for (part, summary) in parts.iter().enumerate() {
                let key = (index, part as u64);
                if !answer.has(key) {
                    answer.begin(key, PartKind::Thinking);
                    answer.say(key, PartKind::Thinking, text_of(summary, "text"), at_ms);
                }
            }
        }
        "function_call" => {
            begin(answer, index, item, at_ms);
            match &item["arguments"] {
                Json::Object(_) => answer.call_arguments((index, 0), &item["arguments"], at_ms),
                _ => {
                    let arguments = text_of(item, "arguments").to_owned();
                    answer.call_whole((index, 0), arguments, at_ms);
                }
            }
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
        answer.leave_out_others(item, CALL);
        if text_of(item, "status") == "incomplete" {
            answer.change("the `status` of a call is `incomplete`");
        }
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
                answer.say(
                    (index, number_of(data, "content_index")),
                    PartKind::Text,
                    delta,
                    at_ms,
                );
            }
            "response.refusal.delta" => {
                let key = (index, number_of(data, "content_index"));
                answer.say(key, PartKind::Refusal, delta, at_ms);
            }
            "response.reasoning_summary_text.delta" => {
                answer.say(
                    (index, number_of(data, "summary_index")),
                    PartKind::Thinking,
                    delta,
                    at_ms,
                );
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta"
                if answer.has_call((index, 0)) =>
            {
                answer.call_input((index, 0), delta, at_ms);
            }
            "response.output_item.done" => whole(answer, index, &data["item"], at_ms),
            "response.created" => {
                answer.decoded.id = data["response"]["id"].as_str().map(str::to_owned);
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                end(answer, &data["response"], at_ms);
            }
            // The answer itself says it again.
            "error" => {
                let found = match data.get("error").filter(|error| error.is_object()) {
                    Some(error) => failure(answer, error),
                    None => failure(answer, data),
                };
                answer.decoded.failure = Some((found, at_ms));
            }
            _ => {}
        }
    }
}
