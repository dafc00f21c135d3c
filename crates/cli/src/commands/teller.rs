//! Tells what happens while something serves: in words, or as lines of JSON.

use cuecard_core::diagnostic::{Diagnostic, Severity};
use cuecard_core::reports::diagnostics;
use cuecard_core::value::Redactor;
use serde_json::{Map, Value, json};

use crate::output::{Output, stderr, stdout};

/// Where and how it is told.
#[derive(Clone)]
pub(crate) struct Teller {
    pub(crate) output: Output,
    /// JSON Lines instead of text.
    pub(crate) is_json: bool,
    /// Standard output belongs to the command.
    pub(crate) has_command: bool,
}

impl Teller {
    /// A line of the result.
    pub(crate) fn line(&self, text: &str) {
        let line = format!("{text}\n");
        match self.has_command {
            true => stderr(&line),
            false => stdout(&line),
        }
    }

    /// A line of the result for machines.
    pub(crate) fn event(&self, name: &str, mut event: Value) {
        let mut line = json!({"event": name});
        if let (Some(line), Some(event)) = (line.as_object_mut(), event.as_object_mut()) {
            line.append(event);
        }
        self.line(&line.to_string());
    }

    /// Something was found. For machines it is a part of the result, and errors are told to people too.
    pub(crate) fn finding(&self, found: &Diagnostic) {
        if !self.is_json {
            self.output.diagnostic(found, false, &Redactor::default());
            return;
        }
        self.event("finding", diagnostics::to_json(found));
        if found.severity == Severity::Error {
            stderr(&diagnostics::render(found, self.output.stderr));
        }
    }

    /// Whether something went well, as a mark.
    pub(crate) fn mark(&self, is_good: bool) -> &'static str {
        match (is_good, self.output.stderr.unicode) {
            (true, true) => "✓",
            (false, true) => "✗",
            (true, false) => "ok",
            (false, false) => "x",
        }
    }
}

/// Variables to be set, for machines.
pub(crate) fn environment(variables: &[(&str, String)]) -> Map<String, Value> {
    variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.as_str().into()))
        .collect()
}
