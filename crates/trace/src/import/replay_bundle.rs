//! Replay bundles: a run of NanoClaw as JSON, written by hand or captured.

mod format;
mod order;
mod schema;
mod step;
#[cfg(test)]
mod tests;

pub use schema::schema;

use super::{Imported, builder};
use crate::import::Fixture;
use builder::{Draft, Frame};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, Severity, any_error, codes};
use cuecard_source::document::Language;
use cuecard_source::json::{self, Limits, Node};
use cuecard_source::reader::{Format, Reader};
use format::Bundle;

/// What this format calls its mistakes.
static FORMAT: Format = Format {
    missing: codes::BUNDLE_MISSING,
    wrong_type: codes::BUNDLE_VALUE,
    unknown: codes::BUNDLE_UNKNOWN,
    value: codes::BUNDLE_VALUE,
    path: codes::BUNDLE_VALUE,
    check: codes::BUNDLE_VALUE,
};

/// Reads a replay bundle. A `tool_result` without `result` takes that of the fixture it names.
pub fn replay_bundle(source: &SourceFile, fixtures: &[Fixture]) -> Imported {
    let mut findings = Findings::default();
    let trace = parse(source, &mut findings).and_then(|root| {
        let mut reader = Reader::new(source, &FORMAT);
        let trace = read(&mut reader, &root, fixtures, &mut findings);
        findings.keep(reader.diagnostics);
        trace
    });
    let diagnostics = findings.finish();
    Imported {
        tools: Vec::new(),
        trace: trace
            .filter(|_| !any_error(&diagnostics))
            .map(|(frame, drafts)| builder::trace(frame, drafts)),
        diagnostics,
    }
}

fn read(
    reader: &mut Reader<'_>,
    root: &Node,
    fixtures: &[Fixture],
    findings: &mut Findings,
) -> Option<(Frame, Vec<Draft>)> {
    if !format::is_of_this_release(reader, root) {
        return None;
    }
    let bundle = reader.decoded::<Bundle>(root, "", "the bundle");
    findings.keep(bundle.diagnostics);
    let steps = step::read_script(reader, root, fixtures, findings);
    let bundle = bundle.value.filter(|_| bundle.is_whole)?;
    let final_output = bundle.final_output(reader, root, &steps);
    bundle.check(reader, root, &steps);
    let messages = bundle.messages(root);
    let frame = bundle.frame(root, &messages, final_output);
    let drafts = order::drafts(&frame, messages, steps);
    Some((frame, drafts))
}

/// A result stands deeper in a trace than in a bundle, and the trace must be readable with the usual limit of 128.
const MAX_DEPTH: usize = 124;

/// The tree of the text, if it has no errors.
fn parse(source: &SourceFile, findings: &mut Findings) -> Option<Node> {
    let limits = Limits {
        max_depth: MAX_DEPTH,
        ..Limits::default()
    };
    let parsed = json::parse(source.text(), &limits);
    findings.keep(parsed.errors.iter().map(|mistake| Diagnostic {
        code: codes::BUNDLE_JSON,
        ..mistake.diagnostic(source, Language::Json)
    }));
    parsed.root.filter(|_| !any_error(&findings.kept))
}

/// After this many findings the rest is left unsaid: a generated file repeats one mistake in every step.
const MAX_FINDINGS: usize = 100;

/// What is wrong or doubtful.
#[derive(Default)]
struct Findings {
    kept: Vec<Diagnostic>,
    n_left_out: usize,
}

impl Findings {
    fn keep(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        for found in found {
            if self.kept.len() < MAX_FINDINGS {
                self.kept.push(found);
                continue;
            }
            self.n_left_out += 1;
            // Warnings alone must not hide that there is an error.
            if found.severity == Severity::Error && !any_error(&self.kept) {
                self.kept.pop();
                self.kept.push(found);
            }
        }
    }

    /// All of them, in the order of the file.
    fn finish(mut self) -> Vec<Diagnostic> {
        self.kept.sort_by_key(cuecard_source::document::place_of);
        if let (Some(last), true) = (self.kept.last_mut(), self.n_left_out > 0) {
            let note = format!("{} further findings are not shown", self.n_left_out);
            last.notes.push(note);
        }
        self.kept
    }
}
