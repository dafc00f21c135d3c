//! What is found while a config is read.

use std::cmp::Reverse;

use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::json::Node;
use cuecard_source::value::push_pointer;
use cuecard_source::{SourceFile, Span};

use crate::text;

/// How many problems of one server are told.
const MAX_PROBLEMS: usize = 10;

/// How much of a name or word a message repeats, in characters.
const LONGEST_SHOWN: usize = 60;

/// A name from the file, fit to be shown.
pub(super) fn cut(name: &str) -> String {
    text::cut(&text::clean(name), LONGEST_SHOWN)
}

/// After this many findings of a file the rest is only counted.
const MAX_FINDINGS: usize = 100;

/// The findings of one file.
pub(super) struct Findings<'a> {
    pub(super) source: &'a SourceFile,
    list: Vec<Diagnostic>,
}

/// A value of the file with the JSON pointer to it.
#[derive(Clone)]
pub(super) struct Located<'n> {
    pub node: &'n Node,
    pub pointer: String,
}

impl<'n> Located<'n> {
    /// What stands at `key`, or at an index, of this value.
    pub(super) fn child(&self, key: &str, node: &'n Node) -> Self {
        let mut pointer = self.pointer.clone();
        push_pointer(&mut pointer, key);
        Self { node, pointer }
    }
}

impl<'a> Findings<'a> {
    pub(super) fn new(source: &'a SourceFile) -> Self {
        Self {
            source,
            list: Vec::new(),
        }
    }

    /// An error about the text under `span`, to be completed and added.
    pub(super) fn error(&self, span: Span, pointer: &str, message: String) -> Diagnostic {
        let error = Diagnostic::error(codes::CONFIG_INVALID, message);
        error.at(self.source, span).with_pointer(pointer)
    }

    /// An error about the shape of the file.
    pub(super) fn invalid(&self, at: &Located<'_>, message: String) -> Diagnostic {
        self.error(at.node.span, &at.pointer, message)
    }

    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// All findings in the order of the file.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let mut list = self.list;
        list.sort_by_key(|diagnostic| {
            diagnostic
                .place
                .as_ref()
                .map_or(0, |place| place.span.start)
        });
        let rest = list.split_off(list.len().min(MAX_FINDINGS));
        let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
        let n_left_off = rest.iter().filter(is_error).count();
        if n_left_off > 0 {
            let message = format!("the file has {n_left_off} more errors");
            list.push(
                Diagnostic::error(codes::CONFIG_INVALID, message)
                    .at(self.source, Span::default())
                    .with_help(
                        "correct the first ones; perhaps the file isn't meant to be a config",
                    ),
            );
        }
        list
    }
}

/// What keeps one server from being used, as one: the first error in the file, with what `tell` says of the others. It
/// waits until somebody asks for that server.
pub(super) fn into_one(
    mut problems: Vec<Diagnostic>,
    tell: impl Fn(Diagnostic) -> String,
) -> Option<Diagnostic> {
    problems.sort_by_key(|problem| {
        let start = problem.place.as_ref().map_or(0, |place| place.span.start);
        (Reverse(problem.severity), start)
    });
    let n_left_off = problems.len().saturating_sub(MAX_PROBLEMS);
    let mut problems = problems.into_iter().take(MAX_PROBLEMS);
    let mut first = problems.next()?;
    first.notes.extend(problems.map(tell));
    if n_left_off > 0 {
        first.notes.push(format!("and {n_left_off} more"));
    }
    Some(first)
}
