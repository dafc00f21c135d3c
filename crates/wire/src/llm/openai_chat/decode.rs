//! Answers of Chat Completions, read. Servers that show what the model thinks do so in members of their own.

use cuecard_source::value::Json;

use super::super::decode::{
    Building, Decoded, EventDecoder, PartKind, error, items_of, number_of, text_of,
};
use super::super::errors::ApiError;

/// What is known of an answer, beside what is about it: ids, times, and how it was made.
const ANSWER: &[&str] = &[
    "choices",
    "created",
    "error",
    "id",
    "model",
    "object",
    "obfuscation",
    "service_tier",
    "system_fingerprint",
    "usage",
];
const CHOICE: &[&str] = &["delta", "finish_reason", "index", "message"];
const MESSAGE: &[&str] = &[
    "content",
    "reasoning",
    "reasoning_content",
    "refusal",
    "role",
    "tool_calls",
];
const CALL: &[&str] = &["custom", "function", "id", "index", "type"];
const USAGE: &[&str] = &[
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "prompt_tokens_details.cached_tokens",
    "completion_tokens_details.reasoning_tokens",
];
/// The parts of the one message: its thinking, its text, and what it refuses with; calls come after them.
const THINKING_PART: u64 = 0;
const TEXT_PART: u64 = 1;
const REFUSAL_PART: u64 = 2;
const CALLS: u64 = 3;

/// Reads a whole body.
pub(in super::super) fn read_body(json: &Json, at_ms: u64) -> Result<Decoded, String> {
    let choices = items_of(json, "choices");
    let Some(choice) = choices
        .first()
        .filter(|choice| choice["message"].is_object())
    else {
        return Err("the answer has no message".to_owned());
    };
    let mut answer = Building::default();
    answer.decoded.id = json["id"].as_str().map(str::to_owned);
    answer.decoded.is_complete = true;
    answer.leave_out_others(json, ANSWER);
    answer.add_usage(json.get("usage"), USAGE);
    add_choice(&mut answer, choice, &choice["message"], at_ms);
    if !choice["finish_reason"].is_string() {
        answer.change("it has no `finish_reason`");
    }
    if choices.len() > 1 {
        answer.leave_out("choices[1]");
    }
    Ok(answer.finish())
}

/// What a choice says: all of it, or what a chunk adds.
fn add_choice(answer: &mut Building, choice: &Json, said: &Json, at_ms: u64) {
    answer.leave_out_others(choice, CHOICE);
    answer.leave_out_others(said, MESSAGE);
    // Servers that show what the model thinks have one member for it, the other, or both.
    let thought = match (
        text_of(said, "reasoning_content"),
        text_of(said, "reasoning"),
    ) {
        (thought, "") => thought,
        ("", thought) => {
            answer.change("its `reasoning` is played as `reasoning_content`");
            thought
        }
        (thought, _) => {
            answer.leave_out("reasoning");
            thought
        }
    };
    answer.say((THINKING_PART, 0), PartKind::Thinking, thought, at_ms);
    answer.say(
        (TEXT_PART, 0),
        PartKind::Text,
        text_of(said, "content"),
        at_ms,
    );
    for part in items_of(said, "content") {
        answer.change("its `content` is a list of parts");
        match text_of(part, "type") {
            "text" => answer.say((TEXT_PART, 0), PartKind::Text, text_of(part, "text"), at_ms),
            other => answer.leave_out(other),
        }
    }
    answer.say(
        (REFUSAL_PART, 0),
        PartKind::Refusal,
        text_of(said, "refusal"),
        at_ms,
    );
    for (position, call) in items_of(said, "tool_calls").iter().enumerate() {
        answer.leave_out_others(call, CALL);
        let index = call["index"].as_u64().unwrap_or(position as u64);
        let custom = call.get("custom").filter(|custom| custom.is_object());
        let called = custom.unwrap_or(&call["function"]);
        let (id, name) = (text_of(call, "id"), text_of(called, "name"));
        let key = answer.call_key(CALLS + index, id, name);
        answer.call(key, id, name, custom.is_some(), at_ms);
        match custom {
            Some(custom) => answer.call_input(key, text_of(custom, "input"), at_ms),
            None => answer.call_arguments(key, &called["arguments"], at_ms),
        }
    }
    let reason = choice["finish_reason"].as_str();
    answer.stop_word("finish_reason", reason, |reason| Some(reason.chat()));
}

/// Reads the chunks of a stream.
#[derive(Debug, Default)]
pub(in super::super) struct ChatEvents {
    is_finished: bool,
}

impl EventDecoder for ChatEvents {
    fn event(&mut self, answer: &mut Building, data: &Json, at_ms: u64) {
        if let Some(failure) = data.get("error").filter(|error| !error.is_null()) {
            let found =
                error(status_of(failure), failure).unwrap_or_else(|| ApiError::new(500, ""));
            answer.decoded.failure = Some((found, at_ms));
            answer.decoded.is_complete = true;
            return;
        }
        if answer.decoded.id.is_none() {
            answer.decoded.id = data["id"].as_str().map(str::to_owned);
        }
        answer.leave_out_others(data, ANSWER);
        answer.add_usage(data.get("usage"), USAGE);
        for choice in items_of(data, "choices") {
            if number_of(choice, "index") > 0 {
                answer.leave_out("choices[1]");
                continue;
            }
            add_choice(answer, choice, &choice["delta"], at_ms);
            self.is_finished |= choice["finish_reason"].is_string();
        }
    }

    fn end(&mut self, answer: &mut Building) {
        if answer.decoded.is_complete && answer.decoded.failure.is_none() && !self.is_finished {
            answer.change("it has no `finish_reason`");
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
