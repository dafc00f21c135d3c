//! Turns a browser script into steps: each sentence is understood on the page as it is, done, and kept with what
//! finds its element again.
//!
//! The rules read a sentence first; a model is asked only about what they can't read. What was understood is done once
//! and never again, and nothing is done that is not clear.

mod ask;
mod keep;
mod observer;
mod orchestrator;
#[cfg(test)]
mod tests;
mod understand;

pub use observer::{Choice, Marked, ParseEvent, ParseObserver, Proposal};
pub use orchestrator::parse;

use cuecard_browser_steps::model::{BrowserScenario, StepsFile};
use cuecard_browser_steps::question::{Answer, Prompt, Question};
use cuecard_source::value::Json;

use super::model::Interpreter;
use super::stage::{Failure, Values};

/// What is parsed, and how.
#[derive(Debug, Clone)]
pub struct ParseRequest<'a> {
    /// The scenario.
    pub scenario: &'a BrowserScenario,
    /// Its `options` as the author wrote them.
    pub options: Json,
    /// Values of variables and secrets.
    pub values: Values,
    /// The names of all secrets.
    pub secrets: Vec<String>,
    /// Whether each step keeps the whole page.
    pub full_dom: bool,
    /// Whether the result says how long it took.
    pub timings: bool,
    /// Whether errors say all there is to say, with the driver's own words.
    pub is_verbose: bool,
}

/// What came of a parse.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The result.
    pub file: StepsFile,
    /// What made it end before its last action, if something did.
    pub ended_by: Option<Failure>,
}

/// For scenarios that no model is asked about.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoInterpreter;

impl Interpreter for NoInterpreter {
    async fn interpret(&mut self, _: &Question<'_>, _: &Prompt) -> Result<Answer, Failure> {
        // It is never given to a parse: that one has no interpreter then.
        std::future::pending().await
    }
}
