//! Understands a recording: what was copied from where, what the user gave, what is secret, which elements of pages
//! were meant. Everything is proved from the recording, or from two of them, or it stays as it was recorded and is an
//! open question.

mod build;
mod differences;
mod fields;
mod forms;
mod leftovers;
mod pairs;
mod parts;
mod passwords;
mod prompt;
mod questions;
mod secrets;
mod shape;
mod sources;
mod spellings;
mod targets;
#[cfg(test)]
mod tests;
mod texts;
mod tidy;
mod values;

pub(crate) use build::snake;
pub(crate) use fields::Fields;
pub(crate) use forms::each_secret;
pub(crate) use parts::{Part, takes_data};
pub(crate) use secrets::{is_distinct, secrets};
use serde::Serialize;
pub(crate) use values::each_leaf;

use crate::{Recording, Scenario};

/// A recording has at most this many calls.
pub const MOST_CALLS: usize = 2_000;

/// The scenario of a recording, and what is to be said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Inferred {
    /// The scenario.
    pub scenario: Scenario,
    /// What the recording can't tell; also in the descriptions of the steps.
    pub questions: Vec<Note>,
    /// Checks that hold for what was recorded, and would forbid other values.
    pub proposals: Vec<Note>,
    /// Calls that are no steps, with the reason.
    pub left_out: Vec<Note>,
    /// What would make more of the recording, in a sentence without a full stop.
    pub hints: Vec<String>,
}

/// A remark about a step of the scenario, or about a call of the recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Note {
    /// The step's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The numbers of the other steps of which it holds too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<usize>,
    /// The call's place in the recording, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// The tool as scenarios name it; empty if the remark is about all of the recording.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The remark, in a sentence without a full stop.
    pub text: String,
}

/// A recording from which no scenario can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InferError {
    /// It has no call that can be played.
    NoCalls,
    /// It has more than [`MOST_CALLS`].
    TooManyCalls,
}

impl std::fmt::Display for InferError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoCalls => {
                formatter.write_str("the recording has no call of a tool that a scenario can play")
            }
            Self::TooManyCalls => {
                write!(formatter, "the recording has more than {MOST_CALLS} calls")
            }
        }
    }
}

impl std::error::Error for InferError {}

/// Makes a scenario of a recording. A second recording of the same task proves what one alone can't: what differs and
/// was copied from nowhere is a variable.
///
/// # Errors
/// If there are no calls, or too many.
pub fn infer(
    recording: &Recording,
    second: Option<&Recording>,
    name: &str,
) -> Result<Inferred, InferError> {
    for recording in second.into_iter().chain([recording]) {
        match recording.calls.len() {
            0 => return Err(InferError::NoCalls),
            count if count > MOST_CALLS => return Err(InferError::TooManyCalls),
            _ => {}
        }
    }
    build::build(recording, second, name)
}
