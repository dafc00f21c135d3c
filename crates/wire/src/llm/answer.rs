//! A model's answer, before a dialect gives it its shape.

use cuecard_source::value::Json;

pub use cuecard_timeline::script::answer::{Call, CallInput, Element, Piece};
pub(super) use cuecard_timeline::script::answer::{joined, runs};

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
        self.stop.unwrap_or_else(|| match self.calls().next() {
            Some(_) => StopReason::ToolUse,
            None => StopReason::EndTurn,
        })
    }

    /// The elements that say something: an empty text is only a delay.
    pub(super) fn said(&self) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(|element| !element.is_empty())
    }

    /// The calls, in order.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.elements.iter().filter_map(Element::call)
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

/// An error that ends an answer after it has begun.
#[derive(Debug, Clone, Copy)]
pub struct Failure<'a> {
    /// The error.
    pub error: &'a ApiError,
    /// When, in milliseconds since the answer began.
    pub at_ms: u64,
}
