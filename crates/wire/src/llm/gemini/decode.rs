//! Answers of generateContent, read.

use cuecard_source::value::Json;

use super::super::decode::{
    Building, Decoded, EventDecoder, PartKind, error, items_of, number_of, says_something, text_of,
};
use super::super::errors::ApiError;

/// What is known of an answer, and what is only about it.
const ANSWER: &[&str] = &[
    "candidates",
    "createTime",
    "error",
    "modelVersion",
    "promptFeedback",
    "responseId",
    "usageMetadata",
];
const CANDIDATE: &[&str] = &["content", "finishReason", "index"];
const CONTENT: &[&str] = &["parts", "role"];
const PART: &[&str] = &[
    "functionCall",
    "inlineData",
    "text",
    "thought",
    "thoughtSignature",
];
const CALL: &[&str] = &["args", "id", "name"];
const USAGE: &[&str] = &[
    "promptTokenCount",
    "candidatesTokenCount",
    "totalTokenCount",
    "cachedContentTokenCount",
    "thoughtsTokenCount",
];

/// Reads a whole body.
pub(in super::super) fn read_body(json: &Json, at_ms: u64) -> Result<Decoded, String> {
    if !json["candidates"].is_array() && !json["promptFeedback"].is_object() {
        return Err("the answer has no candidate".to_owned());
    }
    let mut answer = Building::default();
    let mut events = GeminiEvents {
        keeps_parts_apart: true,
        ..GeminiEvents::default()
    };
    events.event(&mut answer, json, at_ms);
    answer.decoded.is_complete = true;
    events.end(&mut answer);
    Ok(answer.finish())
}

/// Reads the chunks of a stream.
#[derive(Debug, Default)]
pub(in super::super) struct GeminiEvents {
    /// Whether each part of a text is one of its own, and not more of the part before.
    keeps_parts_apart: bool,
    n_parts: u64,
    /// Whether the last part was a thought; none if it was no text.
    was_thought: Option<bool>,
    is_finished: bool,
    /// Whether a candidate has a content, and whether one has parts in it.
    has_content: bool,
    has_parts: bool,
}

impl EventDecoder for GeminiEvents {
    fn event(&mut self, answer: &mut Building, data: &Json, at_ms: u64) {
        if let Some(failure) = data.get("error").filter(|error| !error.is_null()) {
            let status = u16::try_from(number_of(failure, "code")).unwrap_or(500);
            let status = if (400..=599).contains(&status) {
                status
            } else {
                500
            };
            let found = error(status, failure).unwrap_or_else(|| ApiError::new(status, ""));
            answer.decoded.failure = Some((found, at_ms));
            answer.decoded.is_complete = true;
            return;
        }
        answer.decoded.id = data["responseId"].as_str().map(str::to_owned);
        answer.leave_out_others(data, ANSWER);
        self.usage(answer, data);
        let feedback = &data["promptFeedback"];
        match feedback["blockReason"].as_str() {
            Some(word) if items_of(data, "candidates").is_empty() => {
                answer.leave_out_others(feedback, &["blockReason"]);
                answer.block_reason(word);
                self.is_finished = true;
            }
            _ if says_something(feedback) => answer.leave_out("promptFeedback"),
            _ => {}
        }
        for candidate in items_of(data, "candidates") {
            if number_of(candidate, "index") > 0 {
                answer.leave_out("candidates[1]");
                continue;
            }
            answer.leave_out_others(candidate, CANDIDATE);
            answer.leave_out_others(&candidate["content"], CONTENT);
            let parts = items_of(&candidate["content"], "parts");
            self.has_content |= candidate["content"].is_object();
            self.has_parts |= !parts.is_empty();
            for part in parts {
                self.part(answer, part, at_ms);
            }
            let reason = candidate["finishReason"].as_str();
            self.is_finished |= reason.is_some();
            // That of answers with calls, too: it says nothing more.
            let reason = reason.filter(|reason| *reason != "STOP");
            answer.stop_word("finishReason", reason, |reason| Some(reason.gemini()));
        }
    }

    fn end(&mut self, answer: &mut Building) {
        if answer.decoded.is_complete && answer.decoded.failure.is_none() && !self.is_finished {
            answer.change("it has no `finishReason`");
        }
        if self.is_finished && !self.has_parts {
            answer.no_content();
            if self.has_content {
                answer.change("a `content` without parts is none");
            }
        }
    }

    fn may_end(&self) -> bool {
        self.is_finished
    }
}

impl GeminiEvents {
    fn part(&mut self, answer: &mut Building, part: &Json, at_ms: u64) {
        answer.leave_out_others(part, PART);
        let call = &part["functionCall"];
        if call.is_object() {
            answer.leave_out_others(call, CALL);
            let key = self.next_part(None);
            let (id, name) = (text_of(call, "id"), text_of(call, "name"));
            answer.call(key, id, name, false, at_ms);
            let input = match &call["args"] {
                Json::Null => "{}".to_owned(),
                args => args.to_string(),
            };
            answer.call_whole(key, input, at_ms);
        }
        let inline = &part["inlineData"];
        let (mime_type, data) = (text_of(inline, "mimeType"), text_of(inline, "data"));
        if mime_type.starts_with("image/") {
            let key = self.next_part(None);
            answer.image(key, mime_type, data, at_ms);
        } else if !inline.is_null() {
            answer.leave_out("inlineData");
        }
        let text = text_of(part, "text");
        if text.is_empty() {
            return;
        }
        let is_thought = part["thought"] == true;
        let goes_on = !self.keeps_parts_apart && self.was_thought == Some(is_thought);
        let key = match goes_on {
            true => (self.n_parts, 0),
            false => self.next_part(Some(is_thought)),
        };
        match is_thought {
            true => answer.say(key, PartKind::Thinking, text, at_ms),
            false => answer.say(key, PartKind::Text, text, at_ms),
        }
    }

    fn next_part(&mut self, was_thought: Option<bool>) -> (u64, u64) {
        self.n_parts += 1;
        self.was_thought = was_thought;
        (self.n_parts, 0)
    }

    fn usage(&self, answer: &mut Building, data: &Json) {
        let mut usage = data["usageMetadata"].clone();
        // Nothing is left out here, say when all of an answer was thought.
        if let Some(counts) = usage.as_object_mut().filter(|counts| !counts.is_empty()) {
            counts
                .entry("candidatesTokenCount")
                .or_insert_with(|| 0.into());
        }
        answer.add_usage(Some(&usage), USAGE);
    }
}
