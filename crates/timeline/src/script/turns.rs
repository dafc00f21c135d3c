//! Turns: what a model answers, one request after the other, and what must arrive before each.

use std::sync::Arc;

use super::answer::{AnswerImage, Element};
use super::blocks::ExpectedBlock;
use super::request::RequestedBlock;
use super::schedule::Schedule;
use super::speed::Speed;
use super::text::squeeze;
use crate::model::{ResponseError, ServingCount, StopReasons, Timeline, ToolUse};
use crate::profiles::AbstractCall;
use cuecard_source::Span;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::Json;

/// The answers that a timeline scripts for a model, in order.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    /// The answers.
    pub turns: Vec<Turn>,
}

/// A user input that is waited for.
#[derive(Debug, Clone)]
pub struct ExpectedInput {
    /// Its text as written; `None` if it has none, only an image perhaps.
    pub text: Option<String>,
    /// The same for comparing.
    pub normal: String,
    /// What must come beside the text, in order.
    pub blocks: Vec<ExpectedBlock>,
    /// Whether nothing may be said beside it.
    pub is_exact: bool,
    /// Whether these are keys for a terminal. What the agent makes of them isn't known, so any text fits.
    pub is_keys: bool,
    /// Where it stands.
    pub span: Span,
}

/// One answer of the model.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The event it begins with.
    pub event_idx: usize,
    /// Where that was written: `timeline[7]`.
    pub path: String,
    /// Where that stands.
    pub span: Span,
    /// Whether it is the first after a user input, or after nothing that it goes on from.
    pub begins_segment: bool,
    /// Whether it stands before `sessionStart`.
    pub is_history: bool,
    /// The user input between the turn before and this one.
    pub input: Option<ExpectedInput>,
    /// The `assert` events between the turn before and this one.
    pub checks: Vec<usize>,
    /// What is served, one after the other: all but the last end in an error.
    pub attempts: Vec<Attempt>,
    /// The time of the schedule that is *now* when its request arrives.
    pub origin_ms: u64,
    /// `usage`, as scripted; null if it is to be counted.
    pub usage: Json,
    /// `stopReason`, as far as it is scripted.
    pub stop_reason: StopReasons,
    /// Whether the user cancels right after it, so that it may be missing in a history, wholly or in part.
    pub is_cancelled: bool,
    /// The text of its answer for comparing, without white space.
    pub(super) squeezed: String,
    /// The same for each of the [texts between its calls](Self::texts).
    pub(super) squeezed_texts: Vec<String>,
}

/// What one request is answered with.
#[derive(Debug, Clone, Default)]
pub struct Attempt {
    /// In order: thinking and text as written, then the calls.
    pub elements: Vec<TurnElement>,
    /// The error it ends with. Without elements before it, it is the whole answer.
    pub error: Option<TurnError>,
}

/// An error that is served.
#[derive(Debug, Clone)]
pub struct TurnError {
    /// When, in the time of the schedule.
    pub at_ms: u64,
    /// What.
    pub error: Arc<ResponseError>,
}

/// A part of an answer.
pub type TurnElement = Element<TurnCall>;

/// A tool call of an answer.
#[derive(Debug, Clone)]
pub struct TurnCall {
    /// Its id.
    pub id: String,
    /// When it is sent, in the time of the schedule.
    pub at_ms: u64,
    /// What is called.
    pub call: AbstractCall,
    /// The event it comes from.
    pub event_idx: usize,
    /// The scripted call, unless it comes from an edit.
    pub scripted: Option<Arc<ToolUse>>,
    /// Whether a result must follow. Not for a call that is still open when the script goes on.
    pub needs_result: bool,
}

/// What compiling the turns gives.
#[derive(Debug)]
pub struct CompiledTurns {
    /// The turns: complete, whatever was found.
    pub turns: Turns,
    /// T-LLM-04, 08 and 10.
    pub diagnostics: Vec<Diagnostic>,
}

impl Turns {
    /// The turns of `timeline`, at the times of its `schedule`.
    pub fn compile(timeline: &Timeline, schedule: &Schedule) -> CompiledTurns {
        super::turns_build::build(timeline, schedule)
    }

    /// Leaves out of all prompts what is no text: for a client that only types.
    pub fn leave_blocks_out(&mut self) {
        let of_turns = self.turns.iter_mut().filter_map(|turn| turn.input.as_mut());
        for input in of_turns {
            input.blocks.clear();
        }
    }

    /// The turn that begins the first segment after `sessionStart`; of all without one. `None` if there is none.
    pub fn first_live(&self) -> Option<usize> {
        let is_first = |turn: &Turn| turn.begins_segment && !turn.is_history;
        self.turns.iter().position(is_first)
    }
}

impl Turn {
    /// Its calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &TurnCall> {
        self.elements().filter_map(Element::call)
    }

    fn elements(&self) -> impl Iterator<Item = &TurnElement> {
        self.attempts.iter().flat_map(|attempt| &attempt.elements)
    }

    /// The images of its answer, each with the text that describes it.
    pub fn images(&self) -> impl Iterator<Item = (&Arc<AnswerImage>, &Arc<str>)> {
        let pieces = self.elements().flat_map(Element::pieces);
        pieces.filter_map(|piece| Some((piece.image.as_ref()?, &piece.text)))
    }

    /// Whether these are images of its answer, in its order.
    pub fn has_images(&self, held: &[&RequestedBlock]) -> bool {
        let mut images = self.images();
        held.iter()
            .all(|block| images.any(|(image, _)| image.is_in(block)))
    }

    /// The text of its answer, in one piece.
    pub fn text(&self) -> String {
        self.texts().concat()
    }

    /// The texts of its answer between its calls: before the first one, behind it, and so on.
    pub fn texts(&self) -> Vec<String> {
        let answer = self.attempts.iter().find(|attempt| attempt.error.is_none());
        let mut texts = vec![String::new()];
        for element in answer.iter().flat_map(|attempt| &attempt.elements) {
            match (element, texts.last_mut()) {
                (Element::Call(_), _) => texts.push(String::new()),
                (Element::Text(pieces) | Element::Refusal(pieces), Some(text)) => {
                    text.extend(pieces.iter().map(|piece| &*piece.text));
                }
                _ => {}
            }
        }
        texts
    }

    /// Whether a history that has `text` for its answer has it word for word; of one that the user cancelled, a beginning.
    pub fn is_said_in(&self, text: &str) -> bool {
        let text = squeeze(text);
        self.squeezed == text || (self.is_cancelled && self.squeezed.starts_with(&text))
    }

    /// Whether a history with these [texts between the calls](Self::texts) has each where it was said. One that the user
    /// cancelled may end anywhere.
    pub fn is_in_order(&self, texts: &[String]) -> bool {
        let mut pairs = self.squeezed_texts.iter().zip(texts);
        self.is_cancelled
            || self.squeezed_texts.len() != texts.len()
            || pairs.all(|(scripted, held)| *scripted == squeeze(held))
    }

    /// Whether it is only errors, which leave no trace in a history.
    pub fn is_only_errors(&self) -> bool {
        self.attempts.iter().all(|attempt| attempt.error.is_some())
    }

    /// Whether its answer is an empty message, which clients may leave out of their history.
    pub fn is_silent(&self) -> bool {
        !self.is_only_errors() && self.squeezed.is_empty() && self.calls().next().is_none()
    }

    /// How long after its request something that is scheduled at `at_ms` is due.
    pub fn delay_of(&self, at_ms: u64, speed: Speed) -> u64 {
        speed.after(self.origin_ms, at_ms)
    }
}

impl TurnError {
    /// Whether it has been served as often as it is to be, after `n_served` times.
    pub fn is_spent(&self, n_served: u32) -> bool {
        match self.error.repeat {
            ServingCount::Times(times) => n_served >= times.max(1),
            ServingCount::Always => false,
        }
    }
}
