//! Tells what happens while something serves: in words, or as lines of JSON. Nothing that is told waits for a reader.

use cuecard_report::{Style, diagnostics};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use serde_json::{Map, Value, json};

use crate::exit_code::ExitCode;
use crate::line_queue::LineQueue;
use crate::output::{Output, counted, stderr, stdout};

/// Where and how it is told. Clones are the same one.
#[derive(Clone)]
pub(crate) struct OutputWriter {
    pub(crate) output: Output,
    /// JSON Lines instead of text.
    pub(crate) is_json: bool,
    /// For the result: standard output, or standard error if the other one belongs to the command.
    result: LineQueue,
    /// For progress: standard error.
    progress: LineQueue,
}

impl OutputWriter {
    /// Tells on the streams of the program. With `has_command` standard output belongs to a command.
    pub(crate) fn new(output: &Output, has_command: bool) -> Self {
        let is_json = output.is_json;
        let in_words: fn(u64) -> String =
            |count| format!("… {count} lines were dropped here: the reader was too slow\n");
        let as_event: fn(u64) -> String = |count| {
            let event = json!({"event": "left_out", "lines": count});
            format!("{event}\n")
        };
        let progress = LineQueue::new(stderr, in_words);
        let result = match (has_command, is_json) {
            (true, _) => progress.clone(),
            (false, true) => LineQueue::new(stdout, as_event),
            (false, false) => LineQueue::new(stdout, in_words),
        };
        Self {
            output: output.clone(),
            is_json,
            result,
            progress,
        }
    }

    /// A line of the result.
    pub(crate) fn line(&self, text: &str) {
        self.result.push(format!("{text}\n"), false);
    }

    /// The last line of the result, which is told in any case.
    pub(crate) fn last_line(&self, text: &str) {
        self.result.push(format!("{text}\n"), true);
    }

    /// A line of the result for machines.
    pub(crate) fn event(&self, name: &str, event: Value) {
        self.line(&event_line(name, event));
    }

    /// The last line of the result for machines, which is told in any case.
    pub(crate) fn last_event(&self, name: &str, event: Value) {
        self.last_line(&event_line(name, event));
    }

    /// A line of progress.
    pub(crate) fn progress(&self, text: &str) {
        self.progress.push(format!("{text}\n"), false);
    }

    /// Something was found. For machines it is a part of the result, and errors are told to people too.
    pub(crate) fn finding(&self, found: &Diagnostic) {
        if self.is_json {
            self.event("finding", diagnostics::to_json(found));
        }
        if !self.is_json || found.severity == Severity::Error {
            self.diagnostic(found);
        }
    }

    /// A diagnostic for people.
    pub(crate) fn diagnostic(&self, found: &Diagnostic) {
        let text = diagnostics::render(found, self.output.stderr);
        self.progress.push(text, false);
    }

    /// Waits until everything is told, as long as somebody listens.
    pub(crate) fn drain(&self) {
        let unread = self.result.drain();
        if unread > 0 {
            let lines = counted(unread, "line");
            self.progress(&format!(
                "warning: the last {lines} of the output were not read"
            ));
        }
        self.progress.drain();
    }

    /// The last line for people: the verdict, and what it is about.
    pub(crate) fn verdict(&self, passed: bool, facts: &[String]) {
        let exit = match passed {
            true => ExitCode::Passed,
            false => ExitCode::Failed,
        };
        let style = Style {
            colour: false,
            ..self.output.stderr
        };
        let facts = facts.join(", ");
        self.last_line(&format!("verdict  {}: {facts}", exit.verdict(style)));
    }

    /// How to exit after a run whose command ended with `code`: what is wrong with the trace is printed.
    pub(crate) fn exit_code(
        &self,
        code: ExitCode,
        passed: bool,
        trace_error: Option<&String>,
    ) -> ExitCode {
        if let Some(reason) = trace_error {
            let message = format!("the trace is incomplete: {reason}");
            self.diagnostic(&Diagnostic::error(codes::FILE_WRITE, message));
        }
        match code {
            ExitCode::Passed if trace_error.is_some() => ExitCode::CouldNotRun,
            ExitCode::Passed if !passed => ExitCode::Failed,
            code => code,
        }
    }

    /// Whether something went well, as a mark.
    pub(crate) fn mark(&self, is_good: bool) -> &'static str {
        let style = self.output.stderr;
        if is_good {
            style.symbol("✓", "ok")
        } else {
            style.symbol("✗", "x")
        }
    }
}

fn event_line(name: &str, mut event: Value) -> String {
    let mut line = json!({"event": name});
    if let (Some(line), Some(event)) = (line.as_object_mut(), event.as_object_mut()) {
        line.append(event);
    }
    line.to_string()
}

/// The fact that a mock has played all but `n_unplayed` of `n` turns: `2 of 3 turns played`. `one` is the word for one.
pub(crate) fn played(n_unplayed: usize, n: usize, one: &str) -> String {
    let all = counted(n, one);
    format!("{} of {all} played", n.saturating_sub(n_unplayed))
}

/// Variables to be set, for machines.
pub(crate) fn environment(variables: &[(&str, String)]) -> Map<String, Value> {
    variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.as_str().into()))
        .collect()
}
