//! `llmResponse`: one answer of the model.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::entries::{BlocksInTime, TextsInTime};
use super::loader::{Loader, child, merged};
use super::normalise_entries::{self, ASSISTANT, THINK};
use super::pieces::filled;
use super::{normalise, normalise_call};
use crate::model::{
    Response, ResponseElement, ResponseError, ServingCount, StopReason, StopReasons, ToolUse,
};
use crate::script::events::ANSWER_KEYS;
use cuecard_source::Span;
use cuecard_source::checked;
use cuecard_source::decode::by_hand;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::{Object, Reader, first_character, found};
use cuecard_source::value::{Json, cut};

checked!(ResponseError);

/// What may be an element of a response.
pub(super) const ELEMENTS: [&str; 3] = ["think", "assistant", "error"];

/// An element of a response, for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(
    dead_code,
    reason = "it is for the schema: each key is read by itself, in written order"
)]
pub(super) struct ElementForm {
    /// What the model thinks.
    #[schemars(with = "Option<TextsInTime>")]
    think: (),
    /// What the model says.
    #[schemars(with = "Option<BlocksInTime>")]
    assistant: (),
    /// How the request fails.
    error: Option<ResponseError>,
    /// A call that more of the answer follows.
    agent_tool_use: Option<ToolUse>,
    /// For extensions.
    #[serde(rename = "_meta")]
    meta: Option<Json>,
    /// Tokens, instead of a count.
    usage: Option<Json>,
    /// Why the model stopped.
    stop_reason: Option<Json>,
    /// The text with which the model refuses.
    refusal: Option<Json>,
}

/// A response while its elements are read.
pub(super) struct Draft {
    /// What it is as a whole.
    pub response: Response,
    pub meta: Json,
    /// Its parts in written order.
    pub parts: Vec<Part>,
    /// Calls that follow it, though they are written inside.
    pub calls: Vec<Part>,
}

/// A part of a response.
pub(super) struct Part {
    /// The part in canonical form: an object with its key.
    pub node: Node,
    pub pointer: String,
    pub span: Span,
    pub kind: PartKind,
}

/// What a part of a response is.
pub(super) enum PartKind {
    Element(ResponseElement),
    /// A call and its `_meta`.
    Call(Box<ToolUse>, Json),
    /// It is about the whole.
    Whole,
}

impl Draft {
    pub(super) fn new(meta: Json) -> Self {
        Self {
            response: Response::default(),
            meta,
            parts: Vec::new(),
            calls: Vec::new(),
        }
    }
}

impl Part {
    pub(super) fn is_error(&self) -> bool {
        matches!(self.kind, PartKind::Element(ResponseElement::Error(_)))
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(self.kind, PartKind::Call(..))
    }
}

/// Reads the body of `llmResponse`, and the keys beside it that belong to it.
pub(super) fn response(
    loader: &mut Loader<'_>,
    body: &Node,
    pointer: &str,
    item: Object<'_>,
    meta: Json,
) -> Draft {
    let mut draft = Draft::new(meta);
    settings(loader, &mut draft, item);
    match &body.kind {
        NodeKind::Array(items) => {
            for (item, pointer) in loader.items(items, pointer) {
                element(loader, &mut draft, item, &pointer, true);
            }
        }
        NodeKind::Object(members) if members.is_empty() => {}
        NodeKind::Object(_) => {
            loader.legacy(
                codes::TIMELINE_FORM,
                first_character(loader.source(), body.span),
                pointer,
                "expected a list of elements, found a mapping",
                "write a list: `- think: …`, `- assistant: …`",
            );
            element(loader, &mut draft, body, pointer, false);
        }
        NodeKind::Null => {}
        _ => {
            let wanted = "a list of `think`, `assistant`, `agentToolUse` and `error`";
            loader
                .reader
                .wrong_type(body, pointer, "`llmResponse`", wanted);
        }
    }
    let is_element = |part: &Part| matches!(part.kind, PartKind::Element(_));
    let end = draft.parts.iter().rposition(is_element);
    for part in draft.parts.split_off(end.map_or(0, |end| end + 1)) {
        if part.is_call() {
            let message = "a call at the end of a response stands after it";
            let key_span = part
                .node
                .members()
                .first()
                .map_or(part.span, |it| it.key_span);
            moved(loader, key_span, &part.pointer, message);
            draft.calls.push(part);
        } else {
            draft.parts.push(part);
        }
    }
    draft.calls.sort_by_key(|call| call.span.start);
    draft
}

/// What an answer is as a whole.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Settings {
    /// Tokens, instead of a count, in the words of any dialect.
    #[serde(deserialize_with = "usage")]
    #[schemars(with = "BTreeMap<String, Json>")]
    usage: Json,
    /// Why the model stopped: a word of any dialect, or one for each of `anthropic`, `openai`, `gemini`.
    #[schemars(with = "Json", extend("type" = ["string", "object"]))]
    stop_reason: StopReasons,
    /// The text with which the model refuses.
    #[serde(deserialize_with = "filled")]
    refusal: Option<String>,
}

/// Reads them beside an event or in an element.
fn settings(loader: &mut Loader<'_>, draft: &mut Draft, object: Object<'_>) {
    let mut own = object.node.clone();
    if let NodeKind::Object(members) = &mut own.kind {
        members.retain(|member| ANSWER_KEYS.contains(&member.key.as_str()));
    }
    let own: Option<Settings> = loader.decode(&own, object.pointer, "`llmResponse`");
    let Some(own) = own else { return };
    let response = &mut draft.response;
    response.usage = merged(std::mem::take(&mut response.usage), own.usage);
    response.stop_reason = own.stop_reason.or(response.stop_reason);
    response.refusal = own.refusal.or(response.refusal.take());
}

/// Counts, each absent unless it is given.
macro_rules! counts {
    ($name:ident { $($count:ident)+ } $({ $($details:ident)+ })?) => {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        #[allow(dead_code, non_snake_case, reason = "it is a form to check by; the words are the dialects'")]
        struct $name {
            $($count: Option<u64>,)+
            $($($details: Option<Details>,)+)?
        }
    };
}

counts! { Usage {
    input_tokens inputTokens prompt_tokens promptTokens promptTokenCount
    output_tokens outputTokens completion_tokens completionTokens candidatesTokenCount
    thoughtsTokenCount thoughtTokens
    cache_read_input_tokens cacheReadInputTokens cache_creation_input_tokens cacheCreationInputTokens
    cachedContentTokenCount cachedReadTokens cachedWriteTokens
    total_tokens totalTokens totalTokenCount
} {
    input_tokens_details prompt_tokens_details output_tokens_details completion_tokens_details
} }

counts! { Details { cached_tokens cache_write_tokens reasoning_tokens } }

fn usage<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
    by_hand(deserializer, Some(Json::Null), |reader, node, pointer| {
        reader.decode::<Usage>(node, pointer, "`usage`")?;
        Some(node.to_value())
    })
}

impl<'de> Deserialize<'de> for StopReasons {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "$Kind", rename_all = "lowercase")]
        enum Form {
            String(StopReason),
            Object(#[serde(with = "StopReasons")] StopReasons),
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::String(reason) => Self::all(reason),
            Form::Object(reasons) => reasons,
        })
    }
}

impl<'de> Deserialize<'de> for StopReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(
            deserializer,
            Some(Self::EndTurn),
            |reader, node, pointer| {
                let text = reader.text_of(node, pointer, "`stopReason`")?;
                let known = Self::from_word(text);
                if known.is_none() {
                    let message = format!("`{}` is not a known stop reason", cut(text, 40));
                    let near = did_you_mean(text, Self::all_words());
                    let code = codes::TIMELINE_ACP_STOP_REASON;
                    let found = reader.error_at(code, node.span, pointer, message);
                    found.label = near.map(|word| format!("did you mean `{word}`?"));
                    found.help = Some(
                    "use a stop reason of one of the APIs: `end_turn`, `max_tokens`, `refusal`, `stop_sequence`, \
                     `length`, `content_filter`, `SAFETY`, …"
                        .to_owned(),
                );
                }
                known
            },
        )
    }
}

/// One element: a mapping with one key. A mapping of several counts as several, in written order.
fn element(
    loader: &mut Loader<'_>,
    draft: &mut Draft,
    node: &Node,
    pointer: &str,
    is_listed: bool,
) {
    if !loader.is_mapping(node, pointer, "an element of `llmResponse`") {
        return;
    }
    let known = |member: &Member| {
        ELEMENTS.contains(&member.key.as_str())
            || [
                "tool",
                "agentToolUse",
                "_meta",
                "meta",
                "usage",
                "stopReason",
                "refusal",
            ]
            .contains(&member.key.as_str())
    };
    let n_elements = node
        .members()
        .iter()
        .filter(|member| ELEMENTS.contains(&member.key.as_str()))
        .count();
    if is_listed && n_elements > 1 {
        loader.legacy(
            codes::TIMELINE_FORM,
            first_character(loader.source(), node.span),
            pointer,
            "an element has several parts: they are played in file order",
            "write one element for each",
        );
    }
    if node.members().is_empty() {
        loader.invalid(node.span, pointer, "an element of `llmResponse` is empty");
    }
    for member in node.members() {
        match known(member) {
            true => part(loader, draft, member, pointer, node),
            false => unknown(loader, member, &child(pointer, &member.key)),
        }
    }
    let object = Object { node, pointer };
    settings(loader, draft, object);
    let renamed = loader.renamed(node, pointer, super::events::META);
    let meta = loader.meta(Object {
        node: &renamed,
        pointer,
    });
    draft.meta = merged(std::mem::take(&mut draft.meta), meta);
}

/// A part of an element at `pointer`.
fn part(loader: &mut Loader<'_>, draft: &mut Draft, member: &Member, pointer: &str, whole: &Node) {
    let value = &member.value;
    let at = child(pointer, &member.key);
    let what = format!("`{}`", member.key);
    let shape = match member.key.as_str() {
        "think" => Some(&THINK),
        "assistant" => Some(&ASSISTANT),
        "error" => None,
        key @ ("tool" | "agentToolUse") => {
            let is_inline = key == "tool";
            let node = match is_inline {
                true => {
                    let message = "`tool` is not allowed inside a response";
                    moved(loader, member.key_span, &at, message);
                    normalise_call::inline(loader, value, &at)
                }
                false => normalise_call::written(loader, value, &at, &[]),
            };
            let Some(node) = node else { return };
            let Some((tool, meta)) = loader.call(&node, &at, &what) else {
                return;
            };
            let call = Part {
                node: normalise::object("agentToolUse", member.key_span, node),
                pointer: at,
                span: whole.span,
                kind: PartKind::Call(Box::new(tool), meta),
            };
            return match is_inline {
                true => draft.calls.push(call),
                false => draft.parts.push(call),
            };
        }
        _ => {
            return draft.parts.push(Part {
                node: normalise::object(&member.key, member.key_span, value.clone()),
                pointer: at,
                span: value.span,
                kind: PartKind::Whole,
            });
        }
    };
    let mut value = value.clone();
    if let Some(shape) = shape {
        normalise_entries::entries(loader, &mut value, &at, shape);
    }
    let span = value.span;
    let node = normalise::object(&member.key, member.key_span, value);
    let element: Option<ResponseElement> = loader.decode(&node, pointer, "an element");
    if let Some(element) = element {
        if let ResponseElement::Assistant(entries) = &element {
            loader.note_media(entries.iter().map(|entry| &entry.value));
        }
        draft.parts.push(Part {
            node,
            pointer: at,
            span,
            kind: PartKind::Element(element),
        });
    }
}

/// A call that follows the response, though it is written inside.
fn moved(loader: &mut Loader<'_>, span: Span, at: &str, message: &str) {
    let modern = "write `- agentToolUse: …` as an event after the response";
    loader.legacy(codes::TIMELINE_INLINE_TOOL, span, at, message, modern);
}

fn unknown(loader: &mut Loader<'_>, member: &Member, at: &str) {
    let key = member.key.as_str();
    let names = [
        "think",
        "assistant",
        "agentToolUse",
        "error",
        "_meta",
        "usage",
        "stopReason",
        "refusal",
    ];
    let label = did_you_mean(key, names);
    let message = format!("unknown part `{}` in `llmResponse`", cut(key, 40));
    let diagnostic = loader.error(codes::TIMELINE_SHAPE, member.key_span, at, message);
    diagnostic.label = label.map(|name| format!("did you mean `{name}`?"));
    diagnostic.help = Some(
        match crate::model::vocabulary::AbstractTool::meant_by(key) {
            Some(tool) => format!("write `- {}: …` as an event after the response", tool.name),
            None => "its parts are `think`, `assistant`, `agentToolUse` and `error`".to_owned(),
        },
    );
}

impl ResponseError {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        self.span = object.node.span;
        if reader.get(object, "message").is_none() {
            let message = self.error_type.clone();
            self.message = message.unwrap_or_else(|| "the timeline scripted an error".to_owned());
        }
    }
}

/// Reads the status of an error.
pub(crate) fn status_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    by_hand(deserializer, Some(400), |reader, node, pointer| {
        let status = node
            .as_u64()
            .and_then(|status| u16::try_from(status).ok())
            .filter(|status| (400..=599).contains(status));
        if status.is_none() {
            let message = format!(
                "`statusCode` of an error must be between 400 and 599, not {}",
                found(node)
            );
            reader.error_at(codes::TIMELINE_ERROR_STATUS, node.span, pointer, message);
        }
        status
    })
}

impl<'de> Deserialize<'de> for ServingCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(deserializer, Some(Self::Always), |reader, node, pointer| {
            if node.as_str() == Some("always") {
                return Some(Self::Always);
            }
            let times = node.as_u64().and_then(|times| u32::try_from(times).ok());
            let times = times.filter(|&times| times > 0);
            if times.is_none() {
                let message = format!(
                    "`repeat` of an error must be a positive integer or `always`, not {}",
                    found(node)
                );
                reader.error_at(codes::TIMELINE_ERROR_STATUS, node.span, pointer, message);
            }
            times.map(Self::Times)
        })
    }
}

impl JsonSchema for ServingCount {
    fn schema_name() -> Cow<'static, str> {
        "repeat".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "integer", "minimum": 1}, {"const": "always"}]})
    }
}

/// A top-level `think`, `assistant` or `error`: a response of its own, but for an answer right behind its thinking.
pub(super) fn top_level(loader: &mut Loader<'_>, item: Object<'_>, meta: Json) -> Draft {
    let (node, pointer) = (item.node, item.pointer);
    let is_element = |member: &&Member| ELEMENTS.contains(&member.key.as_str());
    let keys: Vec<&Member> = node.members().iter().filter(is_element).collect();
    let mut draft = Draft::new(meta);
    settings(loader, &mut draft, item);
    if let Some(first) = keys.first() {
        loader.legacy(
            codes::TIMELINE_LEGACY_EVENT,
            first.key_span,
            &child(pointer, &first.key),
            format!("`{}` is only allowed inside a response", first.key),
            format!("write `- llmResponse: [{}: …]`", first.key),
        );
    }
    for member in &keys {
        part(loader, &mut draft, member, pointer, node);
    }
    draft
}
