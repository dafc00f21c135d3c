//! `llmResponse`: one answer of the model.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::entries::{BlocksInTime, TextsInTime};
use super::events::{Beside, EventReader, only};
use super::pieces::{child, filled, item_pointer, merged};
use crate::model::{
    EventKind, Response, ResponseElement, ResponseError, ServingCount, StopReason, StopReasons,
    ToolUse,
};
use crate::script::events::ANSWER_KEYS;
use cuecard_source::checked;
use cuecard_source::decode::by_hand;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, Reader, found};
use cuecard_source::value::{Json, cut};

checked!(ResponseError);

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

/// A part of a response.
enum Part {
    Element(ResponseElement),
    /// A call and its `_meta`.
    Call(Box<ToolUse>, Json),
}

impl EventReader<'_, '_> {
    /// Reads the body of `llmResponse`, and the keys beside it that belong to it. Behind a call in it begins a response of
    /// its own.
    pub(super) fn response(&mut self, item: Object<'_>, body: Object<'_>, beside: Beside) {
        let mut response = Response::default();
        let mut meta = beside.meta;
        self.settings(&mut response, item);
        let mut parts: Vec<(Part, String, &Node)> = Vec::new();
        for (idx, node) in body.node.as_array().unwrap_or_default().iter().enumerate() {
            let pointer = item_pointer(self.reader, node, body.pointer, idx);
            let element = Object {
                node,
                pointer: &pointer,
            };
            self.settings(&mut response, element);
            meta = merged(meta, self.meta(element));
            let part = self.part(element);
            parts.extend(part.map(|(part, pointer)| (part, pointer, node)));
        }
        let is_call = |(part, ..): &(Part, String, &Node)| matches!(part, Part::Call(..));
        let last_call = parts.iter().rposition(is_call);
        // The refusal ends what the answer says, and behind the last of these calls it says more.
        let mut refusal = last_call.and_then(|_| response.refusal.take());
        let kind = EventKind::Response(response);
        self.push(
            kind,
            item.pointer,
            item.node.span,
            meta.clone(),
            beside.fault,
        );
        for (idx, (part, pointer, node)) in parts.into_iter().enumerate() {
            let last = self.events.last_mut().map(|event| &mut event.kind);
            let (kind, meta) = match (part, last) {
                (Part::Element(element), Some(EventKind::Response(open))) => {
                    open.elements.push(element);
                    continue;
                }
                (Part::Element(element), _) => {
                    let more = Response {
                        elements: vec![element],
                        refusal: refusal.take_if(|_| Some(idx) > last_call),
                        continues: true,
                        ..Response::default()
                    };
                    (EventKind::Response(more), meta.clone())
                }
                (Part::Call(tool, own), _) => (EventKind::ToolUse(*tool), own),
            };
            self.push(kind, &pointer, node.span, meta, None);
        }
    }

    /// Reads what an answer is as a whole, beside its event or in an element.
    fn settings(&mut self, response: &mut Response, object: Object<'_>) {
        let own = only(object.node, ANSWER_KEYS);
        let own: Option<Settings> = match own.members() {
            [] => None,
            _ => self.reader.decode(&own, object.pointer, "`llmResponse`"),
        };
        let own = own.unwrap_or_default();
        response.usage = merged(std::mem::take(&mut response.usage), own.usage);
        response.stop_reason = own.stop_reason.or(response.stop_reason);
        response.refusal = own.refusal.or(response.refusal.take());
    }

    /// Reads an element, or a call among them, with the pointer to it.
    fn part(&mut self, element: Object<'_>) -> Option<(Part, String)> {
        let key = element.node.members().first()?;
        let at = child(element.pointer, &key.key);
        match key.key.as_str() {
            "agentToolUse" => {
                let call = Object {
                    node: &key.value,
                    pointer: &at,
                };
                let (tool, meta) = self.call(call, "`agentToolUse`")?;
                Some((Part::Call(Box::new(tool), meta), at))
            }
            "think" | "assistant" | "error" => {
                let decoded = self
                    .reader
                    .decode(element.node, element.pointer, "an element");
                let element: ResponseElement = decoded?;
                if let ResponseElement::Assistant(entries) = &element {
                    self.include_media(entries.iter().map(|entry| &entry.value));
                }
                Some((Part::Element(element), at))
            }
            _ => None,
        }
    }
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
                    let code = codes::TIMELINE_ACP_STOP_REASON;
                    let found = reader.error_at(code, node.span, pointer, message);
                    found.suggest(text, Self::all_words());
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
