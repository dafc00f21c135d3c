//! `llmResponse`: one answer of the model.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::content::block;
use super::entries::{ASSISTANT, THINK, entries, texts};
use super::events::Flat;
use super::loader::{Loader, child, merged};
use super::model_fields;
use super::{convert, tool};
use crate::model::{
    Response, ResponseElement, ResponseError, ServingCount, StopReason, StopReasons, ToolUse,
};
use cuecard_source::Span;
use cuecard_source::checked;
use cuecard_source::decode::by_hand;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::{Object, Reader, first_character, found};
use cuecard_source::value::fields::Field;
use cuecard_source::value::{Json, cut};

checked!(ResponseError);

/// What may be an element of a response.
pub(super) const ELEMENTS: &[&str] = &["think", "assistant", "error"];

/// A response while its elements are read.
pub(super) struct Draft {
    pub response: Response,
    pub meta: Json,
    /// The calls that stand inside of it and are followed by more of the answer, each with what follows it.
    pub inner: Vec<(Call, Continuation)>,
    /// Calls that stand inside of it and end it: they follow it.
    pub calls: Vec<Call>,
    /// Calls that have no more of the answer behind them so far.
    open: Vec<(Call, Span)>,
}

/// What of an answer stands behind a call in it, up to the next one.
pub(super) struct Continuation {
    pub elements: Vec<ResponseElement>,
    pub pointer: String,
    pub span: Span,
}

/// A call inside of a response.
pub(super) struct Call {
    pub tool: ToolUse,
    pub meta: Json,
    pub pointer: String,
    pub span: Span,
    /// Its text, if it can stand as it is behind the response.
    pub kept: Option<Span>,
    /// The call in canonical form, if it can't.
    pub written: Option<Json>,
}

impl Draft {
    pub(super) fn new(meta: Json) -> Self {
        Self {
            response: Response {
                elements: Vec::new(),
                usage: Json::Null,
                stop_reason: StopReasons::default(),
                refusal: None,
                continues: false,
            },
            meta,
            inner: Vec::new(),
            calls: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Adds an element, which `member` at `at` is. Behind calls it begins what follows them.
    fn push(&mut self, element: ResponseElement, member: &Member, at: &str) {
        for (call, _) in std::mem::take(&mut self.open) {
            let continuation = Continuation {
                elements: Vec::new(),
                pointer: at.to_owned(),
                span: member.value.span,
            };
            self.inner.push((call, continuation));
        }
        match self.inner.last_mut() {
            Some((_, continuation)) => continuation.elements.push(element),
            None => self.response.elements.push(element),
        }
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
            convert::list_of_members(loader, body);
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
    for (call, key_span) in std::mem::take(&mut draft.open) {
        let message = "a call at the end of a response stands after it";
        moved(loader, key_span, &call.pointer, message);
        draft.calls.push(call);
    }
    draft.calls.sort_by_key(|call| call.span.start);
    draft
}

/// `usage` and `stopReason` of the answer.
fn settings(loader: &mut Loader<'_>, draft: &mut Draft, object: Object<'_>) {
    let usage = usage(loader, object);
    draft.response.usage = merged(std::mem::take(&mut draft.response.usage), usage);
    draft.response.stop_reason = stop_reasons(loader, object).or(draft.response.stop_reason);
    if let Some(refusal) = loader.filled(object, "refusal") {
        draft.response.refusal = Some(refusal);
    }
}

/// `usage`, in the words of any dialect.
fn usage(loader: &mut Loader<'_>, object: Object<'_>) -> Json {
    let Some(node) = loader.reader.get(object, "usage") else {
        return Json::Null;
    };
    let at = object.child_pointer("usage");
    let known = model_fields::USAGE;
    let Some(node) = loader.mapping(node, &at, "`usage`", known, &[]) else {
        return Json::Null;
    };
    counts(loader, &node, &at, known);
    node.to_value()
}

/// Each of the `known` members is a count, or has counts in it.
fn counts(loader: &mut Loader<'_>, node: &Node, at: &str, known: &'static [Field]) {
    let is_known = |member: &&Member| known.iter().any(|field| field.name == member.key);
    for member in node.members().iter().filter(is_known) {
        let (at, what) = (child(at, &member.key), format!("`{}`", member.key));
        if member.key.ends_with("_details") {
            let details = model_fields::USAGE_DETAILS;
            if let Some(inner) = loader.mapping(&member.value, &at, &what, details, &[]) {
                counts(loader, &inner, &at, details);
            }
        } else if member.value.as_u64().is_none() {
            loader
                .reader
                .wrong_type(&member.value, &at, &what, "a number of tokens");
        }
    }
}

/// `stopReason`: a word of any dialect, or one for each.
fn stop_reasons(loader: &mut Loader<'_>, object: Object<'_>) -> StopReasons {
    let Some(node) = loader.reader.get(object, "stopReason") else {
        return StopReasons::default();
    };
    let at = object.child_pointer("stopReason");
    if node.as_object().is_none() {
        let reason = stop_reason(loader, node, &at);
        return reason.map_or_else(StopReasons::default, StopReasons::all);
    }
    let known = model_fields::STOP_REASONS;
    let Some(node) = loader.mapping(node, &at, "`stopReason`", known, &[]) else {
        return StopReasons::default();
    };
    let mut of = |dialect: &str| {
        let member = node.members().iter().find(|member| member.key == dialect)?;
        stop_reason(loader, &member.value, &child(&at, dialect))
    };
    StopReasons {
        anthropic: of("anthropic"),
        openai: of("openai"),
        gemini: of("gemini"),
    }
}

fn stop_reason(loader: &mut Loader<'_>, node: &Node, at: &str) -> Option<StopReason> {
    let text = loader.reader.text_of(node, at, "`stopReason`")?;
    let known = StopReason::from_word(text);
    if known.is_none() {
        let message = format!("`{}` is not a known stop reason", cut(text, 40));
        let near = did_you_mean(text, StopReason::all_words());
        let found = loader.error(codes::TIMELINE_ACP_STOP_REASON, node.span, at, message);
        found.label = near.map(|word| format!("did you mean `{word}`?"));
        found.help = Some(
            "use a stop reason of one of the APIs: `end_turn`, `max_tokens`, `refusal`, `stop_sequence`, `length`, \
             `content_filter`, `SAFETY`, …"
                .to_owned(),
        );
    }
    known
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
        let at = child(pointer, &member.key);
        if !known(member) {
            unknown(loader, member, &at);
            continue;
        }
        part(loader, draft, member, &at, node);
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

fn part(loader: &mut Loader<'_>, draft: &mut Draft, member: &Member, at: &str, whole: &Node) {
    let value = &member.value;
    match member.key.as_str() {
        "think" => {
            let entries = texts(loader, value, at, &THINK);
            draft.push(ResponseElement::Think(entries), member, at);
        }
        "assistant" => {
            let entries = entries(loader, value, at, &ASSISTANT, |loader, timed| {
                let mut block = block(loader, timed.value, &timed.pointer)?;
                if let Some((node, pointer)) = timed.object {
                    let meta = loader.meta(Object { node, pointer });
                    block.meta = merged(meta, block.meta);
                }
                Some(timed.entry(block))
            });
            draft.push(ResponseElement::Assistant(entries), member, at);
        }
        "error" => {
            if let Some(error) = loader.decode(value, at, "`error`") {
                draft.push(ResponseElement::Error(error), member, at);
            }
        }
        "tool" => {
            moved(
                loader,
                member.key_span,
                at,
                "`tool` is not allowed inside a response",
            );
            if let Some((tool, meta, written)) = tool::inline(loader, value, at) {
                draft.calls.push(Call {
                    tool,
                    meta,
                    pointer: at.to_owned(),
                    span: whole.span,
                    kept: None,
                    written,
                });
            }
        }
        "agentToolUse" => {
            if let Some((tool, meta)) = tool::written_inside(loader, value, at) {
                let call = Call {
                    tool,
                    meta,
                    pointer: at.to_owned(),
                    span: whole.span,
                    kept: Some(Span {
                        start: member.key_span.start,
                        end: value.span.end,
                    }),
                    written: None,
                };
                draft.open.push((call, member.key_span));
            }
        }
        _ => {}
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
pub(super) fn top_level(
    loader: &mut Loader<'_>,
    flat: &mut Flat,
    item: &Node,
    pointer: &str,
    meta: Json,
) -> Draft {
    let keys: Vec<&Member> = item
        .members()
        .iter()
        .filter(|member| ELEMENTS.contains(&member.key.as_str()))
        .collect();
    let mut draft = Draft::new(meta);
    settings(
        loader,
        &mut draft,
        Object {
            node: item,
            pointer,
        },
    );
    let joins = match keys.as_slice() {
        [only] => only.key == "assistant" && flat.open_think.is_some(),
        _ => false,
    };
    if let Some(first) = keys.first() {
        loader.legacy(
            codes::TIMELINE_LEGACY_EVENT,
            first.key_span,
            &child(pointer, &first.key),
            format!("`{}` is only allowed inside a response", first.key),
            format!("write `- llmResponse: [{}: …]`", first.key),
        );
        flat.is_think_converted = match joins {
            true => flat.is_think_converted && convert::append_element(loader, item),
            false => convert::wrap_response(loader, item, &keys),
        };
    }
    for member in &keys {
        let at = child(pointer, &member.key);
        part(loader, &mut draft, member, &at, item);
    }
    draft
}
