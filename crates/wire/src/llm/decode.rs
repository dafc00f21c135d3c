//! What a provider answered, as the model's answer again: the other direction of the writers of bodies and streams.
//!
//! A stream is read as its bytes come, so that each part of the answer knows when it was there.

use std::fmt;
use std::sync::Arc;

use cuecard_source::json::{has_inexact_number, has_lone_surrogate, read_value};
use cuecard_source::value::{Json, cut};
use cuecard_timeline::script::Endpoint;
use cuecard_timeline::script::answer::AnswerImage;

use serde::de::IgnoredAny;

use super::answer::{Call, CallInput, Element, Piece};
use super::errors::ApiError;
use super::events::Framing;
use super::stop::StopReason;
use super::usage::Usage;
use super::{anthropic_messages, gemini, openai_chat, openai_responses};
use crate::sse::SseReader;

/// A longer answer is not read, in bytes.
pub const MAX_ANSWER: usize = 32 << 20;
/// How much of what can't be read is shown, in characters.
const SHOWN: usize = 120;

/// An answer of a provider.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decoded {
    /// Its id.
    pub id: Option<String>,
    /// What it says, in order, with the times at which its parts came.
    pub elements: Vec<Element>,
    /// Why it stopped.
    pub stop: Option<StopReason>,
    /// What it cost, if it says so.
    pub usage: Option<Usage>,
    /// An error that ended it, and when.
    pub failure: Option<(ApiError, u64)>,
    /// Whether its end has come.
    pub is_complete: bool,
    /// What it says beside text, thinking and calls, by the types and names that it has there.
    pub left_out: Vec<String>,
    /// What was read as something else than it is, in words.
    pub changed: Vec<String>,
    /// Whether half of a surrogate pair in it became U+FFFD.
    pub has_lone_surrogate: bool,
}

impl Decoded {
    /// Why it stopped, if that does not follow from what it says.
    pub fn stop_beside_elements(&self) -> Option<StopReason> {
        let has_calls = self.elements.iter().any(|it| it.call().is_some());
        let derived = match has_calls {
            true => StopReason::ToolUse,
            false => StopReason::EndTurn,
        };
        self.stop.filter(|stop| *stop != derived)
    }
}

/// Reads the body of an answer that is no stream and no error, all of which was there at `at_ms`.
///
/// # Errors
/// It isn't what this API answers.
pub fn read_body(endpoint: Endpoint, body: &[u8], at_ms: u64) -> Result<Decoded, String> {
    let json = read_value(body).map_err(|error| {
        let shown = String::from_utf8_lossy(body);
        let shown = cut(&shown, SHOWN).into_owned();
        format!("the answer is not JSON ({error}): {shown:?}")
    })?;
    let mut decoded = match endpoint {
        Endpoint::Messages => anthropic_messages::read_body(&json, at_ms),
        Endpoint::Chat => openai_chat::read_body(&json, at_ms),
        Endpoint::Responses => openai_responses::read_body(&json, at_ms),
        Endpoint::Gemini => gemini::read_body(&json, at_ms),
    }?;
    if std::str::from_utf8(body).is_ok_and(has_inexact_number) {
        note(&mut decoded.changed, INEXACT_NUMBERS);
    }
    decoded.has_lone_surrogate = has_lone_surrogate(body);
    Ok(decoded)
}

const INEXACT_NUMBERS: &str = "an integer over 64 bits is played as the text of its digits, and another number that 64 bits can't hold as the nearest one";

/// Reads the body of an error with this status. `None` if it isn't one of the API's own, but of what stands before it.
pub fn read_error(status: u16, body: &[u8]) -> Option<ApiError> {
    let json = read_value(body).ok()?;
    self::error(status, own_error(&json)?)
}

/// The error in a body. In the middle of a list, as Gemini streams them, it is the only item.
pub fn own_error(body: &Json) -> Option<&Json> {
    let body = match body.as_array() {
        Some(items) => items.first()?,
        None => body,
    };
    body.get("error")
}

/// The error of an API that `error` describes.
pub(super) fn error(status: u16, error: &Json) -> Option<ApiError> {
    if let Json::String(message) = error {
        return Some(ApiError::new(status, message.as_str()));
    }
    let members = error.as_object()?;
    let text = |name: &str| members.get(name).and_then(Json::as_str);
    let mut found = ApiError::new(status, text("message").unwrap_or_default());
    found.error_type = text("type").or_else(|| text("status")).map(str::to_owned);
    found.param = text("param").map(str::to_owned);
    found.code = text("code").map(str::to_owned);
    found.details = error.get("details").cloned().unwrap_or(Json::Null);
    Some(found)
}

/// Reads the events of a dialect.
pub(super) trait EventDecoder: fmt::Debug + Send {
    /// Reads the next event, which is JSON.
    fn event(&mut self, answer: &mut Building, data: &Json, at_ms: u64);

    /// Notes what the stream has not said, at its end.
    fn end(&mut self, _answer: &mut Building) {}

    /// Whether a stream that ends here has said all that matters.
    fn may_end(&self) -> bool {
        false
    }
}

/// Reads a stream: of server-sent events, or Gemini's list of chunks.
#[derive(Debug)]
pub struct StreamDecoder {
    reader: SseReader,
    events: Box<dyn EventDecoder>,
    answer: Building,
    n_bytes: usize,
    n_events: usize,
    /// What has come of a list and is not read yet.
    list: Option<Vec<u8>>,
    error: Option<String>,
}

impl StreamDecoder {
    /// A reader of an API's streams in this framing.
    pub fn new(endpoint: Endpoint, framing: Framing) -> Self {
        let is_list = endpoint == Endpoint::Gemini && framing == Framing::JsonArray;
        let events: Box<dyn EventDecoder> = match endpoint {
            Endpoint::Messages => Box::new(anthropic_messages::MessagesEvents),
            Endpoint::Chat => Box::new(openai_chat::ChatEvents::default()),
            Endpoint::Responses => Box::new(openai_responses::ResponsesEvents),
            Endpoint::Gemini => Box::new(gemini::GeminiEvents::default()),
        };
        Self {
            reader: SseReader::new(MAX_ANSWER),
            events,
            answer: Building::default(),
            n_bytes: 0,
            n_events: 0,
            list: is_list.then(Default::default),
            error: None,
        }
    }

    /// Reads on; these bytes came at `at_ms`, counted from the request. What can't be read is told at the end.
    pub fn read(&mut self, bytes: &[u8], at_ms: u64) {
        if self.error.is_some() || self.is_complete() {
            return;
        }
        self.n_bytes = self.n_bytes.saturating_add(bytes.len());
        if self.n_bytes > MAX_ANSWER {
            self.error = Some(format!("the answer is longer than {MAX_ANSWER} bytes"));
            return;
        }
        if let Some(list) = &mut self.list {
            list.extend_from_slice(bytes);
            if bytes.iter().any(|byte| b"}]".contains(byte)) {
                self.read_list(at_ms);
            }
            return;
        }
        let Self {
            reader,
            events,
            answer,
            n_events,
            error,
            ..
        } = self;
        let read = reader.read(bytes, |event| {
            *n_events += 1;
            if answer.decoded.is_complete || error.is_some() {
                return;
            }
            if event.data.trim() == "[DONE]" {
                answer.decoded.is_complete = true;
                return;
            }
            match read_value(&event.data) {
                Ok(data) if data.is_object() => {
                    if has_inexact_number(&event.data) {
                        answer.change(INEXACT_NUMBERS);
                    }
                    answer.decoded.has_lone_surrogate |= has_lone_surrogate(event.data.as_bytes());
                    events.event(answer, &data, at_ms);
                }
                Ok(_) | Err(_) => {
                    let shown = cut(&event.data, SHOWN).into_owned();
                    *error = Some(format!(
                        "event {n_events} is not an object of JSON: {shown:?}"
                    ));
                }
            }
        });
        if let Err(too_long) = read {
            self.error.get_or_insert(too_long.to_string());
        }
    }

    /// Reads the items of the list that are whole.
    fn read_list(&mut self, at_ms: u64) {
        let Some(list) = &mut self.list else { return };
        while !self.answer.decoded.is_complete {
            let is_between = |byte: &u8| byte.is_ascii_whitespace() || b"[,".contains(byte);
            let start = list.iter().position(|byte| !is_between(byte));
            list.drain(..start.unwrap_or(list.len()));
            let mut items = serde_json::Deserializer::from_slice(list).into_iter::<IgnoredAny>();
            match items.next() {
                Some(Ok(_)) if list.starts_with(b"{") => {
                    let n_read = items.byte_offset();
                    self.n_events += 1;
                    let item: Vec<u8> = list.drain(..n_read).collect();
                    if std::str::from_utf8(&item).is_ok_and(has_inexact_number) {
                        self.answer.change(INEXACT_NUMBERS);
                    }
                    self.answer.decoded.has_lone_surrogate |= has_lone_surrogate(&item);
                    let item = read_value(&item).unwrap_or_default();
                    self.events.event(&mut self.answer, &item, at_ms);
                }
                _ => {
                    self.answer.decoded.is_complete = self.n_events > 0 && list.starts_with(b"]");
                    return;
                }
            }
        }
    }

    /// Whether the end of the answer has come.
    pub fn is_complete(&self) -> bool {
        self.answer.decoded.is_complete
    }

    /// The answer, as far as it came. One that says when it ends is only complete if it did.
    ///
    /// # Errors
    /// What of it can't be read.
    pub fn finish(mut self) -> Result<Decoded, String> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if let Some(rest) = self.list.filter(|list| !list.is_empty())
            && !self.answer.decoded.is_complete
        {
            let shown = String::from_utf8_lossy(&rest);
            let shown = cut(&shown, SHOWN);
            return Err(format!("the answer is no list of chunks at {shown:?}"));
        }
        self.events.end(&mut self.answer);
        self.answer.decoded.is_complete |=
            self.events.may_end() || self.answer.decoded.failure.is_some();
        Ok(self.answer.finish())
    }
}

/// An answer while it is read.
#[derive(Debug, Default)]
pub(super) struct Building {
    parts: Vec<Part>,
    /// `usage`, in the words of the dialect.
    pub(super) usage: Json,
    /// What is known of it beside these.
    pub(super) decoded: Decoded,
}

/// Where a part stands: its number in the answer, and its number inside of that.
pub(super) type PartKey = (u64, u64);

#[derive(Debug)]
struct Part {
    key: PartKey,
    kind: PartKind,
    /// Of thinking, text and a refusal.
    pieces: Vec<Piece>,
    /// Of a call.
    call: CallPart,
}

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKind {
    Thinking,
    Text,
    Refusal,
    Call,
}

#[derive(Debug, Default)]
struct CallPart {
    id: String,
    name: String,
    namespace: Option<String>,
    input: String,
    takes_text: bool,
    at_ms: u64,
    is_whole: bool,
}

impl Building {
    /// A part begins, of which nothing may follow.
    pub(super) fn begin(&mut self, key: PartKey, kind: PartKind) {
        self.part(key, kind);
    }

    /// More of what a part says.
    pub(super) fn say(&mut self, key: PartKey, kind: PartKind, delta: &str, at_ms: u64) {
        if !delta.is_empty() {
            self.part(key, kind).pieces.push(Piece {
                text: delta.into(),
                at_ms,
                image: None,
            });
        }
    }

    /// An image, as a text that holds it.
    pub(super) fn image(&mut self, key: PartKey, mime_type: &str, data: &str, at_ms: u64) {
        self.part(key, PartKind::Text).pieces.push(Piece {
            text: format!("[image: {mime_type}]").into(),
            at_ms,
            image: Some(Arc::new(AnswerImage {
                mime_type: mime_type.to_owned(),
                data: data.to_owned(),
            })),
        });
    }

    fn part(&mut self, key: PartKey, kind: PartKind) -> &mut Part {
        let known = self
            .parts
            .iter()
            .position(|part| part.key == key && part.kind == kind);
        let at = known.unwrap_or_else(|| {
            self.parts.push(Part {
                key,
                kind,
                pieces: Vec::new(),
                call: CallPart::default(),
            });
            self.parts.len() - 1
        });
        &mut self.parts[at]
    }

    /// Whether the part has said anything.
    pub(super) fn has(&self, key: PartKey) -> bool {
        self.parts.iter().any(|part| part.key == key)
    }

    /// Whether the part is a call.
    pub(super) fn has_call(&self, key: PartKey) -> bool {
        self.parts
            .iter()
            .any(|part| part.key == key && part.kind == PartKind::Call)
    }

    /// A call, of which more may be known later: empty texts say nothing.
    pub(super) fn call(
        &mut self,
        key: PartKey,
        id: &str,
        name: &str,
        takes_text: bool,
        at_ms: u64,
    ) {
        let call = self.call_at(key, at_ms);
        if !id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if !name.is_empty() {
            name.clone_into(&mut call.name);
        }
        call.takes_text |= takes_text;
    }

    /// The group of the tool that is called.
    pub(super) fn call_namespace(&mut self, key: PartKey, namespace: &str, at_ms: u64) {
        self.call_at(key, at_ms).namespace = Some(namespace.to_owned());
    }

    /// The key of the call that a delta with this index, id and name is about. Some servers number each of their calls 0:
    /// one that begins with an id of its own is another call.
    pub(super) fn call_key(&self, index: u64, id: &str, name: &str) -> PartKey {
        let is_of_index = |part: &&Part| part.kind == PartKind::Call && part.key.0 == index;
        let last = self.parts.iter().rfind(is_of_index);
        let Some(last) = last else {
            return (index, 0);
        };
        let begins = !name.is_empty() && !id.is_empty();
        match begins && !last.call.id.is_empty() && last.call.id != id {
            true => (index, last.key.1 + 1),
            false => last.key,
        }
    }

    /// More of the arguments of a call: a text, or from some servers an object, which is all of them.
    pub(super) fn call_arguments(&mut self, key: PartKey, arguments: &Json, at_ms: u64) {
        match arguments {
            Json::Null => {}
            Json::String(text) => self.call_input(key, text, at_ms),
            other => {
                self.change("its `arguments` are JSON, and are played as a text");
                self.call_whole(key, other.to_string(), at_ms);
            }
        }
    }

    /// More of the input of a call.
    pub(super) fn call_input(&mut self, key: PartKey, delta: &str, at_ms: u64) {
        let call = self.call_at(key, at_ms);
        call.input.push_str(delta);
    }

    /// The whole input of a call.
    pub(super) fn call_whole(&mut self, key: PartKey, input: String, at_ms: u64) {
        let call = self.call_at(key, at_ms);
        call.input = input;
        call.is_whole = true;
    }

    /// The input of a call is complete; one that is nothing is an empty object.
    pub(super) fn call_done(&mut self, key: PartKey, at_ms: u64) {
        let call = self.call_at(key, at_ms);
        call.is_whole = true;
        if call.input.is_empty() && !call.takes_text {
            "{}".clone_into(&mut call.input);
        }
    }

    fn call_at(&mut self, key: PartKey, at_ms: u64) -> &mut CallPart {
        let call = &mut self.part(key, PartKind::Call).call;
        call.at_ms = call.at_ms.max(at_ms);
        call
    }

    /// A part that is none of these, by its type or its name.
    pub(super) fn leave_out(&mut self, name: &str) {
        note(&mut self.decoded.left_out, name);
    }

    /// Leaves out what `json` says in other members than those that are `known`.
    pub(super) fn leave_out_others(&mut self, json: &Json, known: &[&str]) {
        for (name, member) in json.as_object().into_iter().flatten() {
            if !known.contains(&name.as_str()) && says_something(member) {
                self.leave_out(name);
            }
        }
    }

    /// Something that is read as something else, in words.
    pub(super) fn change(&mut self, what: &str) {
        note(&mut self.decoded.changed, what);
    }

    /// Why it stopped, in the member `name`. `own` gives the dialect's words.
    pub(super) fn stop_word<'w>(
        &mut self,
        name: &str,
        word: Option<&str>,
        own: impl Fn(StopReason) -> Option<&'w str>,
    ) {
        let Some(word) = word else { return };
        let reason = StopReason::from_word(word);
        let stop = &mut self.decoded.stop;
        *stop = reason.or(*stop);
        // Words of other dialects are understood, and said in this one's.
        if reason.and_then(own) != Some(word) {
            let word = cut(word, SHOWN);
            self.change(&format!("unknown `{name}` `{word}`"));
        }
    }

    /// The answer, which says nothing, has no content.
    pub(super) fn no_content(&mut self) {
        let stop = self.decoded.stop.unwrap_or(StopReason::EndTurn);
        self.decoded.stop = Some(stop.without_content());
    }

    /// Why Gemini let no answer be made.
    pub(super) fn block_reason(&mut self, word: &str) {
        let reason = StopReason::from_block_reason(word);
        self.decoded.stop = Some(reason.unwrap_or(StopReason::PromptOther));
        if reason.is_none() {
            let word = cut(word, SHOWN);
            self.change(&format!("unknown `blockReason` `{word}`"));
        }
    }

    /// More of its usage, of which the members in `words` are known: names, or two with a point between.
    pub(super) fn add_usage(&mut self, more: Option<&Json>, words: &[&str]) {
        merge(&mut self.usage, more);
        for (name, member) in more.and_then(Json::as_object).into_iter().flatten() {
            let is_known = |word: &&str| words.contains(word);
            let inner = member.as_object().into_iter().flatten();
            let inner = inner.map(|(inner, value)| (format!("{name}.{inner}"), value));
            let all = match member.is_object() {
                true => inner.collect(),
                false => vec![(name.clone(), member)],
            };
            for (path, value) in all {
                // How it was made says nothing of what it cost.
                let is_told = path != "service_tier" && says_something(value);
                if !is_known(&path.as_str()) && is_told {
                    self.leave_out(&format!("{}.{path}", self.usage_name()));
                }
            }
        }
    }

    fn usage_name(&self) -> &'static str {
        match self.usage["candidatesTokenCount"].is_null() {
            true => "usage",
            false => "usageMetadata",
        }
    }

    pub(super) fn finish(mut self) -> Decoded {
        let is_complete = self.decoded.is_complete;
        let mut elements = Vec::new();
        let mut empty = Vec::new();
        let mut parts = std::mem::take(&mut self.parts);
        // Where the parts are members of one message, they come in any order.
        parts.sort_by_key(|part| part.key);
        for part in parts {
            match part.kind {
                PartKind::Thinking | PartKind::Text | PartKind::Refusal
                    if part.pieces.is_empty() =>
                {
                    empty.push(part.kind);
                }
                PartKind::Thinking => elements.push(Element::Thinking(part.pieces)),
                PartKind::Text => elements.push(Element::Text(part.pieces)),
                PartKind::Refusal => elements.push(Element::Refusal(part.pieces)),
                // Of an answer that was cut off, a part of a call is no call.
                PartKind::Call if is_complete || part.call.is_whole => {
                    let input = part.call.input.as_bytes();
                    self.decoded.has_lone_surrogate |= has_lone_surrogate(input);
                    elements.push(Element::Call(part.call.done()));
                }
                PartKind::Call => {
                    let name = cut(&part.call.name, SHOWN).into_owned();
                    self.change(&format!("an incomplete call of `{name}` is skipped"));
                }
            }
        }
        // An answer that says nothing at all is one too.
        for kind in empty {
            match kind {
                PartKind::Thinking => self.change("its `thinking` without a text is left out"),
                _ if elements.is_empty() => {}
                _ => self.change("its `text` without a character is left out"),
            }
        }
        let usage = self
            .usage
            .as_object()
            .is_some_and(|usage| !usage.is_empty())
            .then(|| Usage::of(&self.usage, 0, &[]));
        let counts = |names: [&str; 3]| names.iter().any(|name| self.usage[*name].is_u64());
        let is_counted = counts(["input_tokens", "prompt_tokens", "promptTokenCount"])
            && counts(["output_tokens", "completion_tokens", "candidatesTokenCount"]);
        if usage.is_some() && !is_counted {
            let name = self.usage_name();
            self.change(&format!("its `{name}` does not count all tokens"));
        }
        for name in ["total_tokens", "totalTokenCount"] {
            let total = self.usage[name].as_u64();
            if total.is_some_and(|total| usage.is_some_and(|usage| usage.total() != total)) {
                self.leave_out(&format!("{}.{name}", self.usage_name()));
            }
        }
        Decoded {
            elements,
            usage,
            ..self.decoded
        }
    }
}

/// More is not noted.
const MAX_NOTES: usize = 50;

fn note(notes: &mut Vec<String>, text: &str) {
    let text = cut(text, SHOWN);
    if notes.len() < MAX_NOTES && !notes.iter().any(|known| *known == text) {
        notes.push(text.into_owned());
    }
}

/// Whether it is more than null, nothing, zero or no.
pub(super) fn says_something(json: &Json) -> bool {
    match json {
        Json::Null | Json::Bool(false) => false,
        Json::Bool(true) => true,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(members) => members.values().any(says_something),
    }
}

impl CallPart {
    fn done(self) -> Call {
        let input = match self.takes_text {
            true => CallInput::Text(self.input),
            false => arguments(self.input),
        };
        Call {
            id: self.id,
            name: self.name,
            namespace: self.namespace,
            input,
            at_ms: self.at_ms,
        }
    }
}

/// The arguments that a text holds: an object, or the text itself if it is none, or has numbers that no object can hold.
fn arguments(text: String) -> CallInput {
    match read_value(&text) {
        Ok(json) if json.is_object() && !has_inexact_number(&text) => {
            CallInput::Arguments(Arc::new(json))
        }
        _ => CallInput::Raw(text),
    }
}

/// A member that is a text.
pub(super) fn text_of<'j>(json: &'j Json, name: &str) -> &'j str {
    json.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// The items of a member that is a list.
pub(super) fn items_of<'j>(json: &'j Json, name: &str) -> &'j [Json] {
    json.get(name)
        .and_then(Json::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A member that is a number.
pub(super) fn number_of(json: &Json, name: &str) -> u64 {
    json.get(name).and_then(Json::as_u64).unwrap_or_default()
}

/// Takes over the members of `more`; null says nothing.
fn merge(usage: &mut Json, more: Option<&Json>) {
    let Some(Json::Object(more)) = more else {
        return;
    };
    if !usage.is_object() {
        *usage = Json::Object(Default::default());
    }
    if let Json::Object(usage) = usage {
        let said = more.iter().filter(|(_, value)| !value.is_null());
        usage.extend(said.map(|(name, value)| (name.clone(), value.clone())));
    }
}
