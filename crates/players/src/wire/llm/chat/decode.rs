//! Answers of Chat Completions, read. Servers that show what the model thinks do so in members of their own.

use cuecard_core::value::Json;

use super::super::decode::{
    Building, DecodeError, Decoded, EventDecoder, error, items_of, merge, number_of, text_of,
};
use super::super::errors::ApiError;
use super::super::stop::StopReason;

/// Where servers put what the model thinks.
const THINKING: &[&str] = &["reasoning_content", "reasoning"];
/// The parts of the one message: its thinking and its text; calls come after them.
const THINKING_PART: u64 = 0;
const TEXT_PART: u64 = 1;
const CALLS: u64 = 2;

/// Reads a whole body.
pub(in super::super) fn read_body(json: &Json, at_ms: u64) -> Result<Decoded, DecodeError> {
    let choices = items_of(json, "choices");
    let Some(choice) = choices
        .first()
        .filter(|choice| choice["message"].is_object())
    else {
        return Err(DecodeError::new("the answer has no message"));
    };
    let mut answer = Building::default();
    answer.id = json["id"].as_str().map(str::to_owned);
    answer.is_complete = true;
    merge(&mut answer.usage, json.get("usage"));
    add_choice(&mut answer, choice, &choice["message"], at_ms);
    if choices.len() > 1 {
        answer.leave_out("another choice");
    }
    Ok(answer.finish())
}

/// What a choice says: all of it, or what a chunk adds.
fn add_choice(answer: &mut Building, choice: &Json, said: &Json, at_ms: u64) {
    for name in THINKING {
        let thought = text_of(said, name);
        if !thought.is_empty() {
            answer.thinking((THINKING_PART, 0), thought, at_ms);
            break;
        }
    }
    answer.text((TEXT_PART, 0), text_of(said, "content"), at_ms);
    let refusal = text_of(said, "refusal");
    if !refusal.is_empty() {
        answer.text((TEXT_PART, 0), refusal, at_ms);
        answer.stop = Some(StopReason::Refusal);
    }
    for (position, call) in items_of(said, "tool_calls").iter().enumerate() {
        let index = call["index"].as_u64().unwrap_or(position as u64);
        let key = (CALLS, index);
        let custom = call.get("custom").filter(|custom| custom.is_object());
        let called = custom.unwrap_or(&call["function"]);
        let input = match custom {
            Some(custom) => text_of(custom, "input"),
            None => text_of(called, "arguments"),
        };
        let (id, name) = (text_of(call, "id"), text_of(called, "name"));
        answer.call(key, id, name, custom.is_some(), at_ms);
        if !input.is_empty() {
            answer.call_input(key, input, at_ms);
        }
    }
    for name in ["function_call", "audio"] {
        if said.get(name).is_some_and(|json| !json.is_null()) {
            answer.leave_out(name);
        }
    }
    if let Some(reason) = choice["finish_reason"].as_str() {
        // A refusal is told by what is said, and ends like any other answer.
        answer.stop = answer.stop.or(StopReason::from_word(reason));
    }
}

/// Reads the chunks of a stream.
#[derive(Debug, Default)]
pub(in super::super) struct ChatEvents {
    is_finished: bool,
}

impl EventDecoder for ChatEvents {
    fn event(&mut self, answer: &mut Building, data: &Json, at_ms: u64) {
        if let Some(failure) = data.get("error").filter(|error| !error.is_null()) {
            let found = error(status_of(failure), failure)
                .unwrap_or_else(|| ApiError::new(500, "the stream ended in an error"));
            answer.failure = Some((found, at_ms));
            answer.is_complete = true;
            return;
        }
        if answer.id.is_none() {
            answer.id = data["id"].as_str().map(str::to_owned);
        }
        merge(&mut answer.usage, data.get("usage"));
        for choice in items_of(data, "choices") {
            if number_of(choice, "index") > 0 {
                answer.leave_out("another choice");
                continue;
            }
            add_choice(answer, choice, &choice["delta"], at_ms);
            self.is_finished |= choice["finish_reason"].is_string();
        }
    }

    // Not every server sends the mark at the end.
    fn may_end(&self) -> bool {
        self.is_finished
    }
}

/// The status that an error would have had before the stream began.
fn status_of(error: &Json) -> u16 {
    let code = &error["code"];
    let number = code.as_u64().and_then(|code| u16::try_from(code).ok());
    if let Some(status) = number.filter(|status| (400..=599).contains(status)) {
        return status;
    }
    let words = [text_of(error, "type"), code.as_str().unwrap_or_default()];
    let is = |word: &str| words.contains(&word);
    if is("rate_limit_exceeded") || is("requests") || is("tokens") || is("insufficient_quota") {
        429
    } else if is("invalid_api_key") {
        401
    } else if is("invalid_request_error") || is("invalid_prompt") {
        400
    } else {
        500
    }
}
