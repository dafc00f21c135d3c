//! A model's answer, before a dialect gives it its shape.

use std::borrow::Cow;
use std::sync::Arc;

use cuecard_source::json::read_value;
use cuecard_source::value::Json;
use cuecard_timeline::script::AnswerImage;

use super::errors::ApiError;
use super::ids::IdSeed;
use super::stop::StopReason;
use super::usage::Usage;

/// An answer of the model: the same one makes the plain body and the stream of every dialect.
#[derive(Debug, Clone)]
pub struct Answer<'a> {
    /// What its ids are made of.
    pub seed: IdSeed,
    /// Its id, if it isn't made of the seed: that of a Responses answer says where it belongs, see
    /// [`ResponseId`](super::ids::ResponseId).
    pub id: Option<&'a str>,
    /// The model as it was asked for.
    pub model: &'a str,
    /// When it was made, in seconds since 1970.
    pub created_at: u64,
    /// What it says, in order.
    pub elements: &'a [Element],
    /// Why it stops, if the script says so; else it follows from the elements.
    pub stop: Option<StopReason>,
    /// What it costs.
    pub usage: Usage,
    /// Whether thinking is shown, where the dialect can: Anthropic with `thinking`, Responses if summaries are asked for,
    /// Gemini with `includeThoughts`. Chat has [another field](Self::reasoning_content) for it.
    pub shows_thinking: bool,
    /// Whether a Chat answer has its thinking in `reasoning_content`, as compatible services say it.
    pub reasoning_content: bool,
    /// Whether a Chat stream ends with its usage: `stream_options.include_usage`.
    pub streams_usage: bool,
    /// The body of the request, parts of which a Responses answer repeats; null is fine too.
    pub request: &'a Json,
    /// An error after the elements.
    pub failure: Option<Failure<'a>>,
}

impl Answer<'_> {
    /// Why it stops: what the script says, else for its calls, else because it is done.
    pub fn stop_reason(&self) -> StopReason {
        self.stop.unwrap_or_else(|| {
            let calls = self
                .elements
                .iter()
                .any(|element| matches!(element, Element::Call(_)));
            if calls {
                StopReason::ToolUse
            } else {
                StopReason::EndTurn
            }
        })
    }

    /// The elements that say something: an empty text is only a delay.
    pub(super) fn said(&self) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(|element| !element.is_empty())
    }

    /// The calls, in order.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.elements.iter().filter_map(|element| match element {
            Element::Call(call) => Some(call),
            Element::Thinking(_) | Element::Text(_) | Element::Refusal(_) => None,
        })
    }

    /// What it refuses with.
    pub(super) fn refusal(&self) -> Option<&[Piece]> {
        self.said().find_map(|element| match element {
            Element::Refusal(pieces) => Some(&pieces[..]),
            _ => None,
        })
    }

    /// Whether there is thinking.
    pub(super) fn has_thinking(&self) -> bool {
        self.said()
            .any(|element| matches!(element, Element::Thinking(_)))
    }

    /// Whether there is text that isn't empty.
    pub(super) fn has_text(&self) -> bool {
        self.said()
            .any(|element| matches!(element, Element::Text(_)))
    }
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Element {
    /// What the model thinks.
    Thinking(Vec<Piece>),
    /// What it says.
    Text(Vec<Piece>),
    /// What it refuses with: a field of its own for OpenAI, text elsewhere.
    Refusal(Vec<Piece>),
    /// A call of a tool; several in a row are parallel.
    Call(Call),
}

impl Element {
    /// Its text; a call has none.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Thinking(pieces) | Self::Text(pieces) | Self::Refusal(pieces) => joined(pieces),
            Self::Call(_) => String::new(),
        }
    }

    /// Whether it says nothing, and is only a delay.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Thinking(pieces) | Self::Text(pieces) | Self::Refusal(pieces) => {
                let is_empty = |piece: &Piece| piece.text.is_empty() && piece.image.is_none();
                pieces.iter().all(is_empty)
            }
            Self::Call(_) => false,
        }
    }
}

/// A piece of text and when it is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: Arc<str>,
    /// When it is complete, in milliseconds since the answer began. A time before that of the piece before means
    /// that one.
    pub at_ms: u64,
    /// An image in place of the text, which describes it, where the dialect has images in answers.
    pub image: Option<Arc<AnswerImage>>,
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
    pub(super) fn input_text(&self) -> Cow<'_, str> {
        match &self.input {
            CallInput::Arguments(arguments) => arguments.to_string().into(),
            CallInput::Text(text) | CallInput::Raw(text) => text.into(),
        }
    }

    /// The input as an object, or what a raw text is.
    pub(super) fn arguments(&self) -> Json {
        match &self.input {
            CallInput::Arguments(arguments) => Json::clone(arguments),
            CallInput::Text(text) => serde_json::json!({ "input": text }),
            CallInput::Raw(text) => read_value(text).unwrap_or_else(|_| text.as_str().into()),
        }
    }

    /// The arguments as JSON text, in dialects that have no custom tools.
    pub(super) fn arguments_text(&self) -> String {
        match &self.input {
            CallInput::Arguments(arguments) => arguments.to_string(),
            CallInput::Text(text) => serde_json::json!({ "input": text }).to_string(),
            CallInput::Raw(text) => text.clone(),
        }
    }
}

/// An error that ends an answer after it has begun.
#[derive(Debug, Clone, Copy)]
pub struct Failure<'a> {
    /// The error.
    pub error: &'a ApiError,
    /// When, in milliseconds since the answer began.
    pub at_ms: u64,
}

/// The text of pieces.
pub(super) fn joined(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| &*piece.text).collect()
}
