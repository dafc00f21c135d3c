//! What a program of the author's says of a trace. Whoever judges runs it, and hands in what it said.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Assert;
use super::parts::CommandLine;
use crate::mutate::Mutation;
use crate::test_case::Params;
use crate::view::View;
use crate::{Finding, OutcomeStatus, Verdict};
use cuecard_source::value::{Json, cut};

/// A message that is longer is cut, in bytes.
const LONGEST_MESSAGE: usize = 2_000;

/// A program says that the trace is right.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Command {
    /// Program and arguments: it gets the trace as JSON on its standard input, and prints its verdict as JSON.
    #[schemars(with = "CommandLine")]
    pub command: CommandLine,
}

/// What a program says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandVerdict {
    /// `pass`, `fail`, `warn` if it can't tell, or `skip` if the trace has nothing that it could look at.
    pub status: OutcomeStatus,
    /// What it found, in words.
    #[serde(default)]
    pub message: String,
    /// What was there.
    #[serde(default)]
    pub observed: Json,
}

/// What programs say, by their command.
pub type CommandVerdicts = BTreeMap<Vec<String>, CommandVerdict>;

impl CommandVerdict {
    /// Reads what a program printed.
    ///
    /// # Errors
    /// Why it is no verdict.
    pub fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}

impl Assert for Command {
    const TYPE: &'static str = "command";

    fn check(&mut self, _: &mut Params<'_, '_>) {}

    fn judge(&self, view: &View<'_>) -> Finding {
        let Some(said) = view.verdict(&self.command) else {
            return Finding::new(Verdict::Skipped, "nobody ran the command");
        };
        let verdict = match said.status {
            OutcomeStatus::Pass => Verdict::Holds,
            OutcomeStatus::Fail => Verdict::Fails,
            OutcomeStatus::Warn => Verdict::Undecided,
            OutcomeStatus::Skip => Verdict::Skipped,
        };
        let program = self.command.first().map_or("", String::as_str);
        let message = match said.message.trim() {
            "" => format!("`{program}` says {}", said.status.as_str()),
            message => format!("`{program}`: {}", cut(message, LONGEST_MESSAGE)),
        };
        Finding::new(verdict, message).observed(said.observed.clone())
    }

    fn watches(&self, _: Mutation) -> bool {
        false
    }
}
