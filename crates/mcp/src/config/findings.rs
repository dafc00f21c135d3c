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
    errors_left_off: usize,
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
            errors_left_off: 0,
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
        if self.list.len() < MAX_FINDINGS {
            self.list.push(diagnostic);
        } else {
            self.errors_left_off += usize::from(diagnostic.severity == Severity::Error);
        }
    }

    /// How much was found so far.
    pub(super) fn count(&self) -> usize {
        self.list.len()
    }

    /// Takes the warnings back that came after the first `count` findings.
    pub(super) fn take_warnings_after(&mut self, count: usize) -> Vec<Diagnostic> {
        let later = self.list.split_off(count.min(self.list.len()));
        let (errors, warnings) = later
            .into_iter()
            .partition(|diagnostic| diagnostic.severity == Severity::Error);
        self.list.extend::<Vec<Diagnostic>>(errors);
        warnings
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
        if self.errors_left_off > 0 {
            let message = format!("the file has {} more errors", self.errors_left_off);
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

/// What keeps one server from being used. It waits until somebody asks for that server.
#[derive(Default)]
pub(super) struct Problems {
    list: Vec<Diagnostic>,
    left_off: usize,
}

impl Problems {
    pub(super) fn add(&mut self, problem: impl FnOnce() -> Diagnostic) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(problem());
        } else {
            self.left_off += 1;
        }
    }

    /// All problems as one, if there are any: the first error in the file, with what `tell` says of the
    /// others.
    pub(super) fn into_one(mut self, tell: impl Fn(Diagnostic) -> String) -> Option<Diagnostic> {
        self.list.sort_by_key(|problem| {
            let start = problem.place.as_ref().map_or(0, |place| place.span.start);
            (Reverse(problem.severity), start)
        });
        let mut problems = self.list.into_iter();
        let mut first = problems.next()?;
        first.notes.extend(problems.map(tell));
        if self.left_off > 0 {
            first.notes.push(format!("and {} more", self.left_off));
        }
        Some(first)
    }
}
