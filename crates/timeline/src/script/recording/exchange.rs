//! What is recorded of an exchange: a request as all dialects mean it, and what it was answered with.

use std::sync::Arc;

use super::super::request::Request;
use super::super::sessions::SessionKey;
use super::super::turns::{AnswerImage, Piece};
use crate::model::ResponseError;
use cuecard_source::value::{Json, Redactor};

/// A request and its answer.
#[derive(Debug, Clone, Copy)]
pub struct RecordedExchange<'a> {
    /// The session that it is of, by what it says without the answer that it goes on from.
    pub session: SessionKey,
    /// The request, without the answer that it goes on from.
    pub request: &'a Request,
    /// The id of the answer that it goes on from (`previous_response_id`), as the provider gave it.
    pub previous_id: Option<&'a str>,
    /// The answer.
    pub answer: &'a RecordedAnswer,
}

/// What a model answered.
#[derive(Debug, Clone, Default)]
pub struct RecordedAnswer {
    /// The id that a later request may go on from (`resp_…`).
    pub id: Option<String>,
    /// What it says, in order.
    pub elements: Vec<RecordedElement>,
    /// Why it stopped, in the words of timelines, if that does not follow from its elements.
    pub stop_reason: Option<String>,
    /// `usage`, as a timeline scripts it; null if nothing was said.
    pub usage: Json,
    /// The error in its place, or after its elements.
    pub error: Option<ResponseError>,
    /// Whether it shows what the model thinks to a request that doesn't ask for it.
    pub has_unrequested_thinking: bool,
    /// Whether the client went away before the end.
    pub is_abandoned: bool,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordedElement {
    /// What the model thinks, in pieces as they came.
    Thinking(Vec<Piece>),
    /// What it says, in pieces as they came.
    Text(Vec<Piece>),
    /// What it refuses with, where the API has a field for that, in pieces as they came.
    Refusal(Vec<Piece>),
    /// An image, and when it came.
    Image(Arc<AnswerImage>, u64),
    /// A call of a tool.
    Call(RecordedCall),
}

impl RecordedElement {
    /// Whether a secret stands in it.
    pub(super) fn finds(&self, redactor: &Redactor) -> bool {
        match self {
            Self::Thinking(pieces) | Self::Text(pieces) | Self::Refusal(pieces) => {
                let text: String = pieces.iter().map(|piece| &*piece.text).collect();
                redactor.finds(&text)
            }
            Self::Image(image, _) => redactor.finds(&image.data),
            Self::Call(call) => {
                redactor.finds(&call.args.to_string())
                    || call.raw.as_ref().is_some_and(|raw| redactor.finds(raw))
            }
        }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// Its id, as the provider gave it.
    pub id: String,
    /// The tool, as the agent calls it.
    pub name: String,
    /// Its arguments: an object, or a text for a tool that takes one.
    pub args: Arc<Json>,
    /// The text that came in place of arguments, if it is no object.
    pub raw: Option<String>,
    /// When it was complete, in milliseconds since the request came.
    pub at_ms: u64,
}

/// What became of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// What it is in the recording.
    pub outcome: RecordedOutcome,
    /// The conversation it belongs to, from 0; none if it is left out.
    pub conversation: Option<usize>,
    /// The conversations whose scenarios have changed: this one, and others that turned out to hold a secret.
    pub changed: Vec<usize>,
    /// What is left out of the recording or may differ when it is played, one sentence each.
    pub notes: Vec<String>,
}

/// What an exchange is in the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedOutcome {
    /// A turn of a scenario.
    Turn {
        /// Which, from 1.
        turn: usize,
    },
    /// An error of a turn.
    Error {
        /// The turn, from 1.
        turn: usize,
    },
    /// A request beside the conversation.
    Side,
    /// The scenario answers it already.
    Again,
    /// Nothing of it is recorded.
    LeftOut,
}

impl RecordedOutcome {
    /// Its name for people and machines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn { .. } => "turn",
            Self::Error { .. } => "error",
            Self::Side => "side",
            Self::Again => "again",
            Self::LeftOut => "left_out",
        }
    }
}
