//! A recorded conversation as the text of a timeline.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, json};

use super::super::request::{Endpoint, MediaKind, RequestedBlock, RequestedResult};
use super::calls::{element, event};
use super::conversation::{Attempt, Call, Conversation, Said, Turn};
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

    let mut root = Map::new();
    root.insert("name".to_owned(), conversation.name.as_str().into());
    if !conversation.condition.is_empty() {
        let condition = Json::Object(conversation.condition.clone());
        root.insert("match".to_owned(), condition);
    }
    let server = server(conversation, redactor);
    if !server.is_empty() {
        root.insert("server".to_owned(), Json::Object(server));
    }
    root.insert("timeline".to_owned(), Json::Array(events));
    let mut root = Json::Object(root);
    redactor.json(&mut root);
    format!("{HEADER}{}", yaml::write(&root))
}

fn server(conversation: &Conversation, redactor: &Redactor) -> Map<String, Json> {
    let mut server = Map::new();
    let is_of = |endpoints: &[Endpoint]| {
        !conversation.endpoints.is_empty()
            && conversation
                .endpoints
                .iter()
                .all(|endpoint| endpoints.contains(endpoint))
    };
    if is_of(&[Endpoint::Messages]) {
        server.insert("llmApiStyle".to_owned(), "anthropic".into());
    } else if is_of(&[Endpoint::Chat, Endpoint::Responses]) {
        server.insert("llmApiStyle".to_owned(), "openai".into());
    } else if is_of(&[Endpoint::Gemini]) {
        server.insert("llmApiStyle".to_owned(), "gemini".into());
    }
    if conversation.always_thinks {
        server.insert("thinking".to_owned(), "always".into());
    }
    if conversation.sends_reasoning {
        server.insert("reasoningContent".to_owned(), true.into());
    }
    if !conversation.models.is_empty() {
        server.insert("models".to_owned(), json!(conversation.models));
    }
    let side_calls: Vec<Json> = conversation
        .side_calls
        .iter()
        .map(|call| {
            let mut side = Map::new();
            side.insert("match".to_owned(), call.pattern.as_str().into());
            if !call.model.is_empty() {
                side.insert("model".to_owned(), call.model.as_str().into());
            }
            side.insert("reply".to_owned(), redactor.text(&call.reply).into());
            Json::Object(side)
        })
        .collect();
    if !side_calls.is_empty() {
        server.insert("sideCalls".to_owned(), Json::Array(side_calls));
    }
    server
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
        let said = turn.said.join("\n");
        let said = longest_open_part(self.redactor, &said);
        let has_text = !said.trim().is_empty();
        if has_text || (turn.said.is_empty() && !turn.blocks.is_empty()) {
            // The user speaks when the model has ended.
            let at_ms = self.cursor_ms - self.base_ms;
            self.push(match &turn.blocks[..] {
                [] => json!({"userInputs": [[at_ms, said]]}),
                blocks => {
                    let text = has_text.then(|| json!({"type": "text", "text": said}));
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
        let mut response = Map::new();
        response.insert("llmResponse".to_owned(), Json::Array(elements));
        let refusals = turn.attempts.iter();
        if let Some(refusal) = refusals
            .filter_map(|attempt| attempt.refusal.as_ref())
            .next_back()
        {
            response.insert("refusal".to_owned(), refusal.as_str().into());
        }
        if turn
            .usage
            .as_object()
            .is_some_and(|usage| !usage.is_empty())
        {
            response.insert("usage".to_owned(), turn.usage.clone());
        }
        if let Some(reason) = &turn.stop_reason {
            response.insert("stopReason".to_owned(), reason.as_str().into());
        }
        self.push(Json::Object(response));
        let behind = turn.attempts.iter();
        let behind = behind.flat_map(|attempt| &attempt.parts[n_inside(attempt)..]);
        let call_idxs: Vec<usize> = behind
            .filter_map(|part| match part {
                Said::Call(call_idx) => Some(*call_idx),
                Said::Spoken(_) | Said::Image(..) => None,
            })
            .collect();
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
    fn element(&mut self, part: &Said, origin_ms: u64, is_last_turn: bool) -> Json {
        match part {
            Said::Spoken(spoken) => {
                let entries: Vec<Json> = spoken
                    .entries
                    .iter()
                    .map(|entry| json!([self.delay_until(origin_ms + entry.at_ms), &*entry.text]))
                    .collect();
                let key = if spoken.is_thinking {
                    "think"
                } else {
                    "assistant"
                };
                json!({ key: entries })
            }
            Said::Image(image, at_ms) => {
                let delay_ms = self.delay_until(origin_ms + at_ms);
                let block =
                    json!({"type": "image", "mimeType": image.mime_type, "data": image.data});
                json!({"assistant": [[delay_ms, block]]})
            }
            Said::Call(call_idx) => {
                let call = &self.conversation.calls[*call_idx];
                let mut beside = self.beside(call, is_last_turn);
                let delay_ms = self.delay_until(origin_ms + call.at_ms);
                if delay_ms > 0 {
                    beside.push(("delayMs", delay_ms.into()));
                }
                element(&call.written, beside)
            }
        }
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
    let is_call = |part: &Said| matches!(part, Said::Call(_));
    let last = attempt.parts.iter().rposition(|part| !is_call(part));
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
    let mut error = Map::new();
    error.insert("statusCode".to_owned(), failed.status.into());
    if let Some(kind) = failed
        .error_type
        .as_deref()
        .filter(|kind| !kind.trim().is_empty())
    {
        error.insert("errorType".to_owned(), kind.into());
    }
    let message = cut(&failed.message, MAX_RESULT);
    error.insert("message".to_owned(), message.into_owned().into());
    if !failed.details.is_null() {
        error.insert("details".to_owned(), failed.details.clone());
    }
    if let Some(seconds) = failed.retry_after_seconds {
        error.insert("retryAfterSeconds".to_owned(), seconds.into());
    }
    if !failed.headers.is_empty() {
        let headers: Map<String, Json> = failed
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().into()))
            .collect();
        error.insert("headers".to_owned(), Json::Object(headers));
    }
    if failed.is_in_stream {
        error.insert("inStream".to_owned(), true.into());
    }
    Json::Object(error)
}
