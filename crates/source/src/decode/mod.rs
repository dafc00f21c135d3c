//! Reads a type from a tree: the struct with its serde attributes is the format, and here it gets places.
//!
//! [`decode`] is a serde deserializer over [`Node`]s. An error says where it is and what is wrong there; a key that the
//! struct doesn't know is a warning with a proposal; a list of type [`Items`] goes on after a wrong item, so that one pass
//! finds all of them; [`Spanned`] keeps the place of a value. Null is as good as an absent key. Serde's `tag`, `untagged`
//! and `flatten` read a value twice and lose the places: formats that are read here do without.

mod decoder;
mod wrappers;

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, DeserializeOwned};

use crate::diagnostic::{Code, Diagnostic, any_error};
use crate::json::Node;
use crate::reader::Format;
use crate::value::{cut, push_pointer};
use crate::{SourceFile, Span};

pub use wrappers::{Items, Spanned};

/// How deep lists and objects may stand in each other.
const MAX_DEPTH: usize = 256;
/// How many items a list, and how many keys an object may have.
const MAX_ITEMS: usize = 1_000_000;
/// More findings of one value are not kept.
const MAX_FINDINGS: usize = 1_000;
/// How many bytes of what somebody wrote a message repeats.
const MAX_SHOWN_BYTES: usize = 200;

/// What is read, and what its mistakes are called.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The text that the tree was read from.
    pub source: &'a SourceFile,
    /// Where the part of the text begins in which the tree counts its places: 0, or a line of JSON Lines.
    pub offset: u32,
    /// What the tree is, as `the file` or `a record`.
    pub what: &'a str,
    /// The codes.
    pub format: &'a Format,
}

/// What was read.
#[derive(Debug)]
pub struct Decoded<T> {
    /// The value, without the wrong items of its [`Items`]; `None` if something else is wrong.
    pub value: Option<T>,
    /// What is wrong or doubtful, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Decoded<T> {
    /// Returns the value if nothing is wrong with it, and the findings.
    pub fn without_errors(self) -> (Option<T>, Vec<Diagnostic>) {
        let has_error = any_error(&self.diagnostics);
        (self.value.filter(|_| !has_error), self.diagnostics)
    }
}

/// Reads a value of type `T` from a tree.
pub fn decode<T: DeserializeOwned>(root: &Node, input: Input<'_>) -> Decoded<T> {
    let context = Context {
        input,
        path: RefCell::default(),
        findings: RefCell::default(),
    };
    let value = match decoder::read(root, &context) {
        Ok(value) => Some(value),
        Err(error) => {
            context.file(error);
            None
        }
    };
    let mut diagnostics = context.findings.into_inner();
    diagnostics.sort_by_key(crate::document::place_of);
    Decoded { value, diagnostics }
}

/// What is shared while one tree is read.
struct Context<'a> {
    input: Input<'a>,
    path: RefCell<Vec<PathStep>>,
    findings: RefCell<Vec<Diagnostic>>,
}

enum PathStep {
    Key(String),
    Item(usize),
}

impl Context<'_> {
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in self.path.borrow().iter() {
            match step {
                PathStep::Key(key) => push_pointer(&mut pointer, key),
                PathStep::Item(idx) => push_pointer(&mut pointer, &idx.to_string()),
            }
        }
        pointer
    }

    /// What a message calls the value that is read: its key, its place in a list, or what the whole is.
    fn subject(&self) -> String {
        let path = self.path.borrow();
        match path.as_slice() {
            [] => self.input.what.to_owned(),
            [.., PathStep::Key(list), PathStep::Item(idx)] => {
                format!("`{}[{idx}]`", cut(list, MAX_SHOWN_BYTES))
            }
            [.., PathStep::Item(idx)] => format!("item {idx}"),
            [.., PathStep::Key(key)] => format!("`{}`", cut(key, MAX_SHOWN_BYTES)),
        }
    }

    fn span(&self, span: Span) -> Span {
        let offset = self.input.offset;
        Span {
            start: span.start.saturating_add(offset),
            end: span.end.saturating_add(offset),
        }
    }

    fn file(&self, error: DecodeError) {
        let code = (error.code)(self.input.format);
        let mut diagnostic = Diagnostic::error(code, error.message);
        if let Some((span, pointer)) = error.place {
            diagnostic = diagnostic.at(self.input.source, span).with_pointer(pointer);
        }
        diagnostic.label = error.label;
        self.keep(diagnostic);
    }

    fn keep(&self, diagnostic: Diagnostic) {
        let mut findings = self.findings.borrow_mut();
        if findings.len() < MAX_FINDINGS {
            findings.push(diagnostic);
        }
    }
}

/// What is wrong with a value. It gets its place, and its message the value's name, from the decoder that stands at it.
#[derive(Debug, Clone)]
struct DecodeError {
    code: fn(&Format) -> Code,
    /// What follows after the name of the value, until there is a place.
    message: String,
    label: Option<String>,
    missing: Option<&'static str>,
    /// Where, with the JSON pointer.
    place: Option<(Span, String)>,
}

impl DecodeError {
    fn new(code: fn(&Format) -> Code, message: String) -> Self {
        Self {
            code,
            message,
            label: None,
            missing: None,
            place: None,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message.trim_start())
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        let shown = cut(&message, MAX_SHOWN_BYTES);
        Self::new(|format| format.value, format!(": {shown}"))
    }

    fn missing_field(field: &'static str) -> Self {
        let error = Self::new(|format| format.missing, format!(" has no `{field}`"));
        Self {
            missing: Some(field),
            ..error
        }
    }

    fn duplicate_field(field: &'static str) -> Self {
        let message = format!(" has `{field}` twice, under two names");
        Self::new(|format| format.value, message)
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        let message = format!(" must be {expected}, and has {length} items");
        Self::new(|format| format.value, message)
    }
}

#[cfg(test)]
mod tests;
