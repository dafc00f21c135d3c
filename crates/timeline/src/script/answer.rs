//! What a model answers, part by part: a player writes it, a recorder reads it.

use std::borrow::Cow;
use std::sync::Arc;

use super::blocks::is_same_data;
use super::request::RequestedBlock;
use cuecard_source::json::read_value;
use cuecard_source::value::Json;

/// A part of an answer, whose calls are of this type.
#[derive(Debug, Clone, PartialEq)]
pub enum Element<C = Call> {
    /// What the model thinks.
    Thinking(Vec<Piece>),
    /// What it says.
    Text(Vec<Piece>),
    /// What it refuses with: a field of its own for OpenAI, text elsewhere.
    Refusal(Vec<Piece>),
    /// A call of a tool; several in a row are parallel.
    Call(C),
}

impl<C> Element<C> {
    /// The call, if it is one.
    pub fn call(&self) -> Option<&C> {
        match self {
            Self::Call(call) => Some(call),
            Self::Thinking(_) | Self::Text(_) | Self::Refusal(_) => None,
        }
    }

    /// Its pieces; a call has none.
    pub fn pieces(&self) -> &[Piece] {
        match self {
            Self::Thinking(pieces) | Self::Text(pieces) | Self::Refusal(pieces) => pieces,
            Self::Call(_) => &[],
        }
    }

    /// Its text; a call has none.
    pub fn text(&self) -> String {
        joined(self.pieces())
    }

    /// Whether it says nothing, and is only a delay.
    pub fn is_empty(&self) -> bool {
        let is_empty = |piece: &Piece| piece.text.is_empty() && piece.image.is_none();
        !matches!(self, Self::Call(_)) && self.pieces().iter().all(is_empty)
    }
}

/// A piece of text and when it is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: Arc<str>,
    /// When it is complete, in milliseconds since the answer began, or of a script, in the time of the schedule: it is
    /// spread over the gap before. A time before that of the piece before means that one.
    pub at_ms: u64,
    /// An image in place of the text, which describes it, where the dialect has images in answers.
    pub image: Option<Arc<AnswerImage>>,
}

/// An image of the model's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerImage {
    /// Its type: `image/png`.
    pub mime_type: String,
    /// Its bytes, in base64.
    pub data: String,
}

impl AnswerImage {
    /// Whether `block`, which a client sends, is this image.
    pub fn is_in(&self, block: &RequestedBlock) -> bool {
        is_same_data(&self.data, &block.data)
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its id, which is sent as it is.
    pub id: String,
    /// The name of the tool, as the request advertises it.
    pub name: String,
    /// The group of the tool, in dialects that have groups.
    pub namespace: Option<String>,
    /// What it is called with.
    pub input: CallInput,
    /// When it is complete, in milliseconds since the answer began.
    pub at_ms: u64,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq)]
pub enum CallInput {
    /// Arguments, an object.
    Arguments(Arc<Json>),
    /// The text for a custom tool. A dialect without such tools sends `{"input": text}`.
    Text(String),
    /// A text that is sent as arguments though it may be none, on purpose. Where arguments are an object and no text, it
    /// is the value that the text holds, else the text itself.
    Raw(String),
}

impl Call {
    /// The input as one text: the arguments as compact JSON, or the text itself.
    pub fn input_text(&self) -> Cow<'_, str> {
        match &self.input {
            CallInput::Arguments(arguments) => arguments.to_string().into(),
            CallInput::Text(text) | CallInput::Raw(text) => text.into(),
        }
    }

    /// The input as an object, or what a raw text is.
    pub fn arguments(&self) -> Json {
        match &self.input {
            CallInput::Arguments(arguments) => Json::clone(arguments),
            CallInput::Text(text) => serde_json::json!({ "input": text }),
            CallInput::Raw(text) => read_value(text).unwrap_or_else(|_| text.as_str().into()),
        }
    }

    /// The arguments as JSON text, in dialects that have no custom tools.
    pub fn arguments_text(&self) -> String {
        match &self.input {
            CallInput::Arguments(arguments) => arguments.to_string(),
            CallInput::Text(text) => serde_json::json!({ "input": text }).to_string(),
            CallInput::Raw(text) => text.clone(),
        }
    }
}

/// The text of pieces.
pub fn joined(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| &*piece.text).collect()
}

/// The pieces in runs of one part each: texts, or a single image.
pub fn runs(pieces: &[Piece]) -> impl Iterator<Item = &[Piece]> {
    pieces.chunk_by(|one, next| one.image.is_none() && next.image.is_none())
}
