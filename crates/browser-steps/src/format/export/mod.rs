//! Steps in other notations: a tool-call scenario for the MCP server of a browser, and a test for Playwright's own
//! runner. What a notation can't say is a warning at its step.

mod choice;
mod pages;
mod playwright;
#[cfg(test)]
mod tests;
mod texts;
mod tool_call;

use std::path::Path;

pub use playwright::to_playwright;
pub use tool_call::{ToolCallServer, to_tool_call};

use crate::model::{AssertKind, Compare, TestStep};
use cuecard_page::sentences;
use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::document::read_document;
use cuecard_source::json::Node;
use cuecard_source::value::cut;
use cuecard_source::{SourceFile, Span};

/// Steps in another notation.
#[derive(Debug)]
pub struct Exported {
    /// The file.
    pub text: String,
    /// What it can't say, at its step.
    pub warnings: Vec<Diagnostic>,
}

/// What a test is called: as the file of its steps, in words.
fn name_of(source: &SourceFile) -> String {
    let name = Path::new(source.name())
        .file_stem()
        .map_or("steps".into(), |stem| stem.to_string_lossy());
    let name = name.strip_suffix(".steps").unwrap_or(&name);
    name.replace(['-', '_'], " ")
}

/// Whether a step is to leave its element open, or closed, whatever it was: `expand X`, `close X`. What `open X` leads to
/// is mostly a link, which does not fold.
fn wanted_open(step: &TestStep) -> Option<bool> {
    let is_said = |is_open: &bool| !is_open || step.description.to_lowercase().contains("expand");
    step.wants_open().filter(is_said)
}

/// What no other notation can assert, in words: how many items are in a place, what a number is compared with.
fn unsaid(step: &TestStep) -> Option<&'static str> {
    let assertion = step.assertion.as_ref()?;
    match assertion.kind {
        AssertKind::Count => sentences::counts_items(&step.description)
            .then_some("which elements are the items of a place can't be expressed"),
        AssertKind::Dialog | AssertKind::Download => {
            Some("what the action before it led to can't be expressed")
        }
        _ => (assertion.compare != Compare::Equal)
            .then_some("a text with a bound can't be expressed"),
    }
}

/// Collects what an export can't say.
struct Warnings<'a> {
    source: &'a SourceFile,
    root: Option<Node>,
    found: Vec<Diagnostic>,
}

impl<'a> Warnings<'a> {
    fn new(source: &'a SourceFile) -> Self {
        Self {
            source,
            root: read_document(source).root,
            found: Vec::new(),
        }
    }

    /// Says what the export of the step at `place`, from 0, lacks.
    fn warn(&mut self, place: usize, step: &TestStep, what: &str, help: &str) {
        self.add(codes::BROWSER_EXPORT, place, step, what, help);
    }

    /// Says why the export has nothing for the step at `place`, from 0.
    fn leave_out(&mut self, place: usize, step: &TestStep, why: &str, help: &str) {
        let what = format!("{why}, so it is skipped");
        self.add(codes::BROWSER_LEFT_OUT, place, step, &what, help);
    }

    /// Leaves out an assertion that no other notation can express; false if they can.
    fn leave_out_unsaid(&mut self, place: usize, step: &TestStep) -> bool {
        let why = unsaid(step);
        if let Some(why) = why {
            self.leave_out(place, step, why, "play it with `cuecard play`");
        }
        why.is_some()
    }

    fn add(&mut self, code: Code, place: usize, step: &TestStep, what: &str, help: &str) {
        let message = format!(
            "step {} ({}): {what}",
            place + 1,
            cut(&step.description, 60)
        );
        let mut diagnostic = Diagnostic::warning(code, message).with_help(help.to_owned());
        if let Some(span) = self.span(place) {
            diagnostic = diagnostic
                .at(self.source, span)
                .with_pointer(format!("/testSteps/{place}"));
        }
        self.found.push(diagnostic);
    }

    /// Where a step begins to say what it does.
    fn span(&self, place: usize) -> Option<Span> {
        let steps = self.root.as_ref()?.get("testSteps")?.as_array()?;
        let step = steps.get(place)?;
        Some(step.get("description").unwrap_or(step).span)
    }
}
