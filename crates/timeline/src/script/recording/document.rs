//! A recorded conversation as the text of a timeline.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, json};

use super::super::request::{Endpoint, MediaKind, RequestedBlock, RequestedResult};
use super::calls::{element, event};
use super::conversation::{Attempt, AttemptPart, Call, Conversation, Turn};
use super::volatile::Volatile;
use crate::model::ResponseError;
use cuecard_source::value::{Json, REDACTED, Redactor, cut, percent_encoded};
use cuecard_source::yaml;

/// What stands above a recorded scenario.
const HEADER: &str = "# Recorded by `cuecard record llm`.\n";
/// Of a longer result only the beginning is compared, in bytes.
const MAX_RESULT: usize = 16 * 1024;
/// How much of it, in characters.
const RESULT_START: usize = 2_000;
/// Calls that come within this time are made at once, in milliseconds.
const AT_ONCE_MS: u64 = 100;

/// The text of the scenario with these of its turns, without secrets. What was said before the recording stands above the
/// first.
pub(super) fn text(
    conversation: &Conversation,
    turns: Range<usize>,
    redactor: &Redactor,
) -> String {
    let n_turns = conversation.turns.len();
    let is_begin = turns.start == 0;
    let history = conversation.history.iter().filter(|_| is_begin);
    let mut events = Events {
        conversation,
        redactor,
        events: Vec::new(),
        base_ms: 0,
        cursor_ms: 0,
    };
    for turn in history {
        events.turn(turn, false);
    }
    if is_begin && !conversation.history.is_empty() {
        events.push(json!({"sessionStart": true}));
    }
    for idx in turns {
        events.turn(&conversation.turns[idx], idx + 1 == n_turns);
    }
    let events = events.events;

    let condition = &conversation.condition;
    let mut root = without_nulls(json!({
        "name": conversation.name,
        "match": (!condition.is_empty()).then_some(condition),
        "server": server(conversation, redactor),
        "timeline": events,
    }));
    redactor.json(&mut root);
    format!("{HEADER}{}", yaml::write(&root))
}

/// An object without its members that are null.
fn without_nulls(mut object: Json) -> Json {
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
    object
}

/// The settings of the server; null if there are none.
fn server(conversation: &Conversation, redactor: &Redactor) -> Json {
    let is_of = |endpoints: &[Endpoint]| {
        let own = &conversation.endpoints;
        !own.is_empty() && own.iter().all(|endpoint| endpoints.contains(endpoint))
    };
    let styles: [(&[Endpoint], &str); 3] = [
        (&[Endpoint::Messages], "anthropic"),
        (&[Endpoint::Chat, Endpoint::Responses], "openai"),
        (&[Endpoint::Gemini], "gemini"),
    ];
    let style = styles.into_iter().find(|(endpoints, _)| is_of(endpoints));
    let side_calls = conversation.side_calls.iter().map(|call| {
        without_nulls(json!({
            "match": call.pattern,
            "model": (!call.model.is_empty()).then_some(&call.model),
            "reply": redactor.text(&call.reply),
        }))
    });
    let side_calls: Vec<Json> = side_calls.collect();
    let models = &conversation.models;
    let server = without_nulls(json!({
        "llmApiStyle": style.map(|(_, style)| style),
        "thinking": conversation.always_thinks.then_some("always"),
        "reasoningContent": conversation.sends_reasoning.then_some(true),
        "models": (!models.is_empty()).then_some(models),
        "sideCalls": (!side_calls.is_empty()).then_some(side_calls),
    }));
    match server == json!({}) {
        true => Json::Null,
        false => server,
    }
}

/// Writes events, and keeps the clock of their schedule.
struct Events<'a> {
    conversation: &'a Conversation,
    redactor: &'a Redactor,
    events: Vec<Json>,
    base_ms: u64,
    cursor_ms: u64,
}

impl Events<'_> {
    fn push(&mut self, event: Json) {
        self.events.push(event);
    }

    fn turn(&mut self, turn: &Turn, is_last: bool) {
        let asked = longest_open_part(self.redactor, &turn.said.join("\n"));
        let has_text = !asked.trim().is_empty();
        if has_text || (turn.said.is_empty() && !turn.blocks.is_empty()) {
            // The user speaks when the model has ended.
            let at_ms = self.cursor_ms - self.base_ms;
            self.push(match &turn.blocks[..] {
                [] => json!({"userInputs": [[at_ms, asked]]}),
                blocks => {
                    let text = has_text.then(|| json!({"type": "text", "text": asked}));
                    let input: Vec<Json> =
                        text.into_iter().chain(blocks.iter().map(block)).collect();
                    json!({"userInputs": [{"relativeTime": at_ms, "input": input}]})
                }
            });
        }
        let origin_ms = self.cursor_ms;
        let mut elements = Vec::new();
        for attempt in &turn.attempts {
            let n_inside = n_inside(attempt);
            for part in &attempt.parts[..n_inside] {
                elements.push(self.element(part, origin_ms, is_last));
            }
            if let Some(failed) = &attempt.error {
                elements.push(json!({"error": error(failed)}));
            }
        }
        let mut refusals = turn.attempts.iter();
        let refusal = refusals.rfind(|attempt| attempt.refusal.is_some());
        let usage = turn.usage.as_object().filter(|usage| !usage.is_empty());
        self.push(without_nulls(json!({
            "llmResponse": elements,
            "refusal": refusal.map(|attempt| &attempt.refusal),
            "usage": usage,
            "stopReason": turn.stop_reason,
        })));
        let behind = turn.attempts.iter();
        let behind = behind.flat_map(|attempt| &attempt.parts[n_inside(attempt)..]);
        let call_idxs: Vec<usize> = behind.filter_map(AttemptPart::call).copied().collect();
        for (idx, &call_idx) in call_idxs.iter().enumerate() {
            let call = &self.conversation.calls[call_idx];
            let is_last_call = idx + 1 == call_idxs.len();
            self.wait_for_call(origin_ms + call.at_ms, idx == 0 || is_last_call);
            self.call(call, is_last);
        }
        if turn.is_abandoned {
            self.push(json!({"userCancelSession": true}));
        }
    }

    /// A part of an answer as an element of its response.
    fn element(&mut self, part: &AttemptPart, origin_ms: u64, is_last_turn: bool) -> Json {
        let (key, pieces) = match part {
            AttemptPart::Thinking(pieces) => ("think", pieces),
            AttemptPart::Text(pieces) | AttemptPart::Refusal(pieces) => ("assistant", pieces),
            AttemptPart::Call(call_idx) => {
                let call = &self.conversation.calls[*call_idx];
                let mut beside = self.beside(call, is_last_turn);
                let delay_ms = self.delay_until(origin_ms + call.at_ms);
                if delay_ms > 0 {
                    beside.push(("delayMs", delay_ms.into()));
                }
                return element(&call.written, beside);
            }
        };
        let entries = pieces.iter().map(|piece| {
            let delay_ms = self.delay_until(origin_ms + piece.at_ms);
            match &piece.image {
                None => json!([delay_ms, &*piece.text]),
                Some(image) => {
                    let block =
                        json!({"type": "image", "mimeType": image.mime_type, "data": image.data});
                    json!([delay_ms, block])
                }
            }
        });
        json!({ key: entries.collect::<Vec<_>>() })
    }

    /// How long after the cursor a point is, which becomes the cursor.
    fn delay_until(&mut self, point_ms: u64) -> u64 {
        let delay_ms = point_ms.saturating_sub(self.cursor_ms);
        self.cursor_ms += delay_ms;
        delay_ms
    }

    /// Moves the clock to a call, which has no delay of its own.
    fn wait_for_call(&mut self, point_ms: u64, is_exact: bool) {
        let gap_ms = point_ms.saturating_sub(self.cursor_ms);
        if gap_ms == 0 || (!is_exact && gap_ms < AT_ONCE_MS) {
            return;
        }
        let delta_ms = point_ms - self.base_ms;
        self.push(json!({ "baseTimeDelta": delta_ms }));
        self.base_ms = point_ms;
        self.cursor_ms = point_ms;
    }

    fn call(&mut self, call: &Call, is_last_turn: bool) {
        let beside = self.beside(call, is_last_turn);
        self.push(event(&call.written, beside));
    }

    /// What the event of a call has beside its arguments.
    fn beside(&self, call: &Call, is_last_turn: bool) -> Vec<(&'static str, Json)> {
        let mut beside = Vec::new();
        if call.has_own_id {
            beside.push(("toolCallId", Json::from(call.id.as_str())));
        }
        match &call.result {
            Some(arrived) => {
                if let Some(result) = result(self.redactor, &self.conversation.volatile, arrived) {
                    beside.push(("result", result));
                }
                if arrived.is_error {
                    beside.push(("status", "error".into()));
                }
            }
            // The conversation has gone on without it.
            None if !is_last_turn => beside.push(("status", "pending".into())),
            None => {}
        }
        beside
    }
}

/// How many parts of an answer stand inside of its response: all but the calls at its end, which follow it.
fn n_inside(attempt: &Attempt) -> usize {
    let mut parts = attempt.parts.iter();
    let last = parts.rposition(|part| part.call().is_none());
    last.map_or(0, |idx| idx + 1)
}

/// Whether a block of a prompt has a form in timelines.
pub(super) fn can_hold(block: &RequestedBlock) -> bool {
    let is_typed =
        matches!(block.kind, MediaKind::Image | MediaKind::Audio) && !block.mime_type.is_empty();
    let is_held = is_typed || block.kind == MediaKind::File || block.data.contains("://");
    is_held && !block.data.is_empty()
}

/// A block of a prompt.
fn block(block: &RequestedBlock) -> Json {
    let (data, mime_type) = (block.data.as_str(), block.mime_type.as_str());
    let title = Some(block.title.as_str()).filter(|title| !title.trim().is_empty());
    let uri = title.map(|title| {
        let name = percent_encoded(title.as_bytes()).replace('/', "%2F");
        format!("file:///{name}")
    });
    let media = |kind: &str| {
        let mut media = json!({"type": kind, "mimeType": mime_type, "data": data});
        if let Some(uri) = &uri {
            media["uri"] = uri.as_str().into();
        }
        media
    };
    match block.kind {
        _ if data.contains("://") => {
            let last = data.rsplit('/').find(|part| !part.is_empty());
            let name = title.or(last).unwrap_or("file");
            json!({"type": "resource_link", "uri": data, "name": name})
        }
        MediaKind::Image => media("image"),
        MediaKind::Audio => media("audio"),
        MediaKind::File | MediaKind::Other => {
            let mime_type = if mime_type.is_empty() {
                "application/octet-stream"
            } else {
                mime_type
            };
            // A document of Anthropic's may be a text.
            let key = match STANDARD.decode(data) {
                Ok(_) => "blob",
                Err(_) => "text",
            };
            json!({"type": "resource", "resource": {
                "uri": uri.as_deref().unwrap_or("file:///attachment"), "mimeType": mime_type, key: data,
            }})
        }
    }
}

/// A result as it is compared; none if nothing of it may be written.
fn result(redactor: &Redactor, volatile: &Volatile, arrived: &RequestedResult) -> Option<Json> {
    let text = arrived.text.as_str();
    let is_part = redactor.finds(text) || text.len() > MAX_RESULT || !arrived.blocks.is_empty();
    let part = match is_part {
        true => cut_to_lines(&longest_open_part(redactor, text)),
        false => text.to_owned(),
    };
    if is_part && part.trim().is_empty() {
        return None;
    }
    Some(match (volatile.pattern(part.trim_end()), is_part) {
        (Some(pattern), true) => json!({ "regex": pattern }),
        (Some(pattern), false) => json!({ "regex": format!(r"^{pattern}\s*$") }),
        (None, true) => json!({ "contains": part }),
        (None, false) => part.into(),
    })
}

/// The beginning of a long text, to the end of a line if there is one.
fn cut_to_lines(text: &str) -> String {
    let start: String = text.chars().take(RESULT_START).collect();
    match start.rsplit_once('\n') {
        Some((lines, _)) if start.len() < text.len() && !lines.trim().is_empty() => {
            lines.to_owned()
        }
        _ => start,
    }
}

/// A text, or the longest part of it between secrets: what is still contained in it when it comes again.
pub(super) fn longest_open_part(redactor: &Redactor, text: &str) -> String {
    if !redactor.finds(text) {
        return text.to_owned();
    }
    let redacted = redactor.text(text);
    let parts = redacted.split(REDACTED);
    let longest = parts.max_by_key(|part| part.trim().len());
    longest.unwrap_or_default().trim().to_owned()
}

fn error(failed: &ResponseError) -> Json {
    let kind = failed.error_type.as_deref();
    let headers = failed.headers.iter();
    let headers: Map<String, Json> = headers
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    without_nulls(json!({
        "statusCode": failed.status,
        "errorType": kind.filter(|kind| !kind.trim().is_empty()),
        "message": cut(&failed.message, MAX_RESULT),
        "details": failed.details,
        "retryAfterSeconds": failed.retry_after_seconds,
        "headers": (!headers.is_empty()).then_some(headers),
        "inStream": failed.is_in_stream.then_some(true),
    }))
}
