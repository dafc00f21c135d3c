//! Entries in time: `[ms, value]` or `{relativeTime, …}`.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::pieces::{merged, meta, prompt_response, time};
use crate::model::{Block, Entry, UserInput, UserTarget, When};
use cuecard_source::decode::{Items, Spanned, by_hand};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::NodeKind;
use cuecard_source::value::Json;

/// An entry: a pair, or an object with a time from the base.
#[derive(Deserialize)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
enum Timed<T, O> {
    Array((Time, T)),
    Object(O),
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Time(
    #[serde(deserialize_with = "time")]
    #[schemars(range(min = 0))]
    u64,
);

/// A text that is not empty.
#[derive(JsonSchema)]
#[schemars(transparent)]
pub(crate) struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(
            deserializer,
            Some(Self(String::new())),
            |reader, node, pointer| {
                let text = reader.text_of(node, pointer, &super::pieces::name_of(pointer))?;
                if text.is_empty() {
                    let message = "an entry has an empty text";
                    reader.error_at(codes::TIMELINE_BLOCK_VALUE, node.span, pointer, message);
                    return None;
                }
                Some(Self(text.to_owned()))
            },
        )
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0
    }
}

/// A text at a time.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "timed_text")]
pub(crate) struct TimedText {
    /// From the base.
    relative_time: Time,
    /// The text.
    content: Text,
}

/// A message of a tool at a time.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "timed_message")]
pub(crate) struct TimedMessage {
    /// From the base.
    relative_time: Time,
    /// The message.
    message: Text,
    /// What the real output must hold by then.
    #[allow(dead_code, reason = "the call looks it up")]
    expect_output: Option<String>,
}

/// A content block at a time.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "timed_block")]
pub(crate) struct TimedBlock {
    /// From the base.
    relative_time: Time,
    /// Text or a content block.
    #[schemars(with = "BlockOrText")]
    content: Block,
    /// For extensions.
    #[serde(rename = "_meta", default, deserialize_with = "meta")]
    #[schemars(with = "std::collections::BTreeMap<String, Json>")]
    meta: Json,
}

/// Something that the user says or types.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "user_input")]
pub(crate) struct TimedInput {
    /// From the base.
    relative_time: Time,
    /// Text, or a list of content blocks.
    #[schemars(with = "ContentForm")]
    input: Content,
    /// Where it is entered (default: everywhere).
    target: Option<UserTarget>,
    /// Whether a client may say nothing beside it (default: false).
    #[serde(default)]
    exact: bool,
    /// What the prompt is answered.
    #[serde(default, deserialize_with = "prompt_response")]
    #[schemars(with = "std::collections::BTreeMap<String, Json>")]
    expected_response: Json,
    /// For extensions.
    #[serde(rename = "_meta", default, deserialize_with = "meta")]
    #[schemars(with = "std::collections::BTreeMap<String, Json>")]
    meta: Json,
}

/// Text or a block, for the schema.
#[derive(JsonSchema)]
#[schemars(untagged, rename = "block_or_text")]
#[allow(dead_code, reason = "it is for the schema")]
pub(crate) enum BlockOrText {
    String(#[schemars(length(min = 1))] String),
    Object(super::content::BlockForm),
}

/// Content, for the schema.
#[derive(JsonSchema)]
#[schemars(untagged, rename = "content")]
#[allow(dead_code, reason = "it is for the schema")]
pub(crate) enum ContentForm {
    String(#[schemars(length(min = 1))] String),
    Array(#[schemars(length(min = 1))] Vec<BlockOrText>),
}

/// Blocks, and whether they were written as plain text.
struct Content(Vec<Block>, bool);

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(deserializer, None, |reader, node, pointer| {
            match &node.kind {
                NodeKind::Array(items) if items.is_empty() => {
                    let message = "a list of content blocks is empty";
                    reader.error_at(codes::TIMELINE_BLOCK_VALUE, node.span, pointer, message);
                    None
                }
                NodeKind::Array(items) => {
                    let blocks: Vec<Block> = reader.decode(node, pointer, "content")?;
                    (blocks.len() == items.len()).then_some(Self(blocks, false))
                }
                NodeKind::String(_) => {
                    let block = reader.decode(node, pointer, "content")?;
                    Some(Self(vec![block], true))
                }
                _ => {
                    let wanted = "a text or a list of content blocks";
                    reader.wrong_type(node, pointer, "content", wanted);
                    None
                }
            }
        })
    }
}

/// A list of entries, for the schema: pairs with `W`, or objects `O`.
pub(crate) struct InTime<W, O>(PhantomData<(W, O)>);

impl<W: JsonSchema, O: JsonSchema> JsonSchema for InTime<W, O> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}_list", O::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let pair = json_schema!({
            "type": "array",
            "prefixItems": [{"type": "integer", "minimum": 0}, generator.subschema_for::<W>()],
            "minItems": 2,
            "maxItems": 2,
        });
        let forms = [pair, generator.subschema_for::<O>()];
        json_schema!({"type": "array", "items": {"anyOf": forms}})
    }
}

pub(crate) type TextsInTime = InTime<Text, TimedText>;
pub(crate) type MessagesInTime = InTime<Text, TimedMessage>;
pub(crate) type BlocksInTime = InTime<BlockOrText, TimedBlock>;
pub(crate) type InputsInTime = InTime<ContentForm, TimedInput>;

/// What an object with a time is made of.
trait AtTime<T> {
    fn parts(self) -> (Time, T);
}

impl AtTime<String> for TimedText {
    fn parts(self) -> (Time, String) {
        (self.relative_time, self.content.0)
    }
}

impl AtTime<String> for TimedMessage {
    fn parts(self) -> (Time, String) {
        (self.relative_time, self.message.0)
    }
}

impl AtTime<Block> for TimedBlock {
    fn parts(self) -> (Time, Block) {
        let mut block = self.content;
        block.meta = merged(self.meta, block.meta);
        (self.relative_time, block)
    }
}

impl From<Content> for UserInput {
    fn from(Content(blocks, is_plain): Content) -> Self {
        Self {
            when: When::Delay(0),
            blocks,
            is_plain,
            target: None,
            is_exact: false,
            expected_response: Json::Null,
            meta: Json::Null,
            span: cuecard_source::Span::default(),
        }
    }
}

impl AtTime<UserInput> for TimedInput {
    fn parts(self) -> (Time, UserInput) {
        let input = UserInput {
            target: self.target,
            is_exact: self.exact,
            expected_response: self.expected_response,
            meta: self.meta,
            ..UserInput::from(self.input)
        };
        (self.relative_time, input)
    }
}

fn entries<'de, D: Deserializer<'de>, W, O, T>(deserializer: D) -> Result<Vec<Entry<T>>, D::Error>
where
    W: Deserialize<'de> + Into<T>,
    O: Deserialize<'de> + AtTime<T>,
{
    let items: Items<Spanned<Timed<W, O>>> = Items::deserialize(deserializer)?;
    let entries = items.0.into_iter().map(|Spanned { span, value }| {
        let (when, value) = match value {
            Timed::Array((time, value)) => (When::Delay(time.0), value.into()),
            Timed::Object(object) => {
                let (time, value) = object.parts();
                (When::Offset(time.0), value)
            }
        };
        Entry { when, value, span }
    });
    Ok(entries.collect())
}

/// Reads texts in time.
pub(crate) fn texts_in_time<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Entry<String>>, D::Error> {
    entries::<_, Text, TimedText, _>(deserializer)
}

/// Reads messages of a tool in time.
pub(crate) fn messages_in_time<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Entry<String>>, D::Error> {
    entries::<_, Text, TimedMessage, _>(deserializer)
}

/// Reads blocks in time.
pub(crate) fn blocks_in_time<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Entry<Block>>, D::Error> {
    entries::<_, Block, TimedBlock, _>(deserializer)
}

/// Reads what the user says or types in time.
pub(crate) fn inputs_in_time<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<UserInput>, D::Error> {
    let entries = entries::<_, Content, TimedInput, UserInput>(deserializer)?;
    let inputs = entries.into_iter().map(|entry| UserInput {
        when: entry.when,
        span: entry.span,
        ..entry.value
    });
    Ok(inputs.collect())
}
