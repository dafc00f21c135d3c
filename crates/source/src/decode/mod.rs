//! Reads a type from a tree: the struct with its serde attributes is the format, and here it gets places.
//!
//! [`Reader::decode`] is a serde deserializer over [`Node`]s. An error says where it is and what is wrong there, and the reading
//! goes on without the wrong part, so that all mistakes are found. A key that the struct doesn't know is a warning with a
//! proposal; null is as good as an absent key. What a format needs beyond serde's attributes:
//!
//! - [`Spanned`] keeps the place of a value; [`by_hand`] hands over its node; [`checked!`](crate::checked) looks at a
//!   struct when it was read;
//! - an alias `?key` says that null is a value of `key` ([`nullable`]), an alias `!` that unknown keys are errors, an alias
//!   `~` that they are allowed, but for misspelt ones;
//! - an enum with `#[serde(rename = "$Kind", rename_all = "lowercase")]` has a variant for each kind of value that may
//!   stand there, such as `String` and `Object`.
//!
//! Serde's `tag`, `untagged` and `flatten` read a value twice and lose the places: formats that are read here do without.

mod by_hand;
mod decoder;
mod recovery;
mod schema;
mod wrappers;

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{self, DeserializeOwned};

use crate::Span;
use crate::diagnostic::{Code, Diagnostic};
use crate::json::Node;
use crate::reader::{Format, Reader};
use crate::value::{cut, push_pointer};

pub use by_hand::{by_hand, checked};
use recovery::{Mark, Marks, NodeId};
pub use schema::{schema_document, schema_of};
pub use wrappers::{Items, OneOrMany, Spanned, entries, items, nullable, one_or_many};

/// How many items a list, and how many keys an object may have.
const MAX_ITEMS: usize = 1_000_000;
/// More findings of one value are not kept.
const MAX_FINDINGS: usize = 1_000;
/// How many bytes of what somebody wrote a message repeats.
const MAX_SHOWN_BYTES: usize = 200;

/// What was read.
#[derive(Debug)]
pub struct Decoded<T> {
    /// The value without what is wrong in it, and with something empty for a key that the whole lacks; `None` if nothing is
    /// left.
    pub value: Option<T>,
    /// Whether the whole has all its keys, so that none of them is that something empty.
    pub is_whole: bool,
    /// What is wrong or doubtful, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    /// Reads a value of type `T`, which messages call `what`, from the tree at a pointer.
    pub fn decoded<T: DeserializeOwned>(
        &mut self,
        root: &Node,
        pointer: &str,
        what: &str,
    ) -> Decoded<T> {
        let context = Context {
            reader: self.without_findings(),
            n_patterns: Cell::new(self.n_patterns),
            pointer,
            what,
            root: recovery::id(root),
            path: RefCell::default(),
            findings: RefCell::default(),
            marks: RefCell::default(),
            is_whole: Cell::new(true),
        };
        let value = context.attempts(root, || decoder::read(root, &context));
        self.n_patterns = context.n_patterns.get();
        let mut diagnostics = context.findings.into_inner();
        diagnostics.sort_by_key(crate::document::place_of);
        Decoded {
            value,
            is_whole: context.is_whole.get(),
            diagnostics,
        }
    }

    /// As [`Self::decoded`], with the findings among those of the reader. Returns nothing if nothing is left of it without
    /// what is wrong.
    pub fn decode<T: DeserializeOwned>(
        &mut self,
        root: &Node,
        pointer: &str,
        what: &str,
    ) -> Option<T> {
        let decoded = self.decoded(root, pointer, what);
        self.diagnostics.extend(decoded.diagnostics);
        decoded.value.filter(|_| decoded.is_whole)
    }
}

/// What is shared while one tree is read.
struct Context<'a> {
    /// What the tree is read with.
    reader: Reader<'a>,
    n_patterns: Cell<usize>,
    /// The JSON pointer to the tree in the document.
    pointer: &'a str,
    /// What the tree is, as `the file` or `a record`.
    what: &'a str,
    root: NodeId,
    marks: RefCell<Marks>,
    is_whole: Cell<bool>,
    path: RefCell<Vec<PathStep>>,
    findings: RefCell<Vec<Diagnostic>>,
}

struct PathStep {
    name: StepName,
    /// The pointer to it, if it stands elsewhere in the document.
    moved: Option<String>,
    /// The value there, if it can be left out of what holds it.
    part: Option<NodeId>,
}

enum StepName {
    Key(String),
    Item(usize),
}

impl Context<'_> {
    fn pointer(&self) -> String {
        let mut pointer = self.pointer.to_owned();
        for step in self.path.borrow().iter() {
            match (&step.moved, &step.name) {
                (Some(moved), _) => pointer.clone_from(moved),
                (None, StepName::Key(key)) => push_pointer(&mut pointer, key),
                (None, StepName::Item(idx)) => push_pointer(&mut pointer, &idx.to_string()),
            }
        }
        pointer
    }

    /// What a message calls the value that is read: its key, its place in a list, or what the whole is.
    fn subject(&self) -> String {
        let path = self.path.borrow();
        let mut names = path.iter().rev().map(|step| &step.name);
        match (names.next(), names.next()) {
            (None, _) => self.what.to_owned(),
            (Some(StepName::Item(idx)), Some(StepName::Key(list))) => {
                format!("`{}[{idx}]`", cut(list, MAX_SHOWN_BYTES))
            }
            (Some(StepName::Item(idx)), _) => format!("item {idx}"),
            (Some(StepName::Key(key)), _) => format!("`{}`", cut(key, MAX_SHOWN_BYTES)),
        }
    }

    /// The innermost value on the way that can be left out.
    fn part(&self) -> NodeId {
        let path = self.path.borrow();
        let part = path.iter().rev().find_map(|step| step.part);
        part.unwrap_or(self.root)
    }

    fn file(&self, error: DecodeError) {
        if error.is_filed {
            return;
        }
        let code = (error.code)(self.reader.format());
        let mut diagnostic = Diagnostic::error(code, error.message);
        if let Some((span, pointer)) = error.place {
            diagnostic = diagnostic
                .at(self.reader.source, span)
                .with_pointer(pointer);
        }
        diagnostic.label = error.label;
        diagnostic.help = error.help;
        self.keep(diagnostic);
    }

    fn keep(&self, diagnostic: Diagnostic) {
        let mut findings = self.findings.borrow_mut();
        // A part that is read twice says everything twice.
        let is_new = |known: &Diagnostic| {
            let span = |it: &Diagnostic| it.place.as_ref().map(|place| place.span);
            span(known) != span(&diagnostic) || known.message != diagnostic.message
        };
        if findings.len() < MAX_FINDINGS && findings.iter().rev().all(is_new) {
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
    /// Whether the message ends with what is found there.
    shows_found: bool,
    label: Option<String>,
    help: Option<String>,
    missing: Option<&'static str>,
    /// Where, with the JSON pointer.
    place: Option<(Span, String)>,
    /// Whether it is reported already.
    is_filed: bool,
    /// What is done to find more.
    mark: Option<Mark>,
}

impl DecodeError {
    fn new(code: fn(&Format) -> Code, message: String) -> Self {
        Self {
            code,
            message,
            shows_found: false,
            label: None,
            help: None,
            missing: None,
            place: None,
            is_filed: false,
            mark: None,
        }
    }

    fn filed() -> Self {
        let error = Self::new(|format| format.value, String::new());
        Self {
            is_filed: true,
            ..error
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

    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let error = Self::new(
            |format| format.wrong_type,
            format!(" must be {expected}, not "),
        );
        Self {
            shows_found: true,
            ..error
        }
    }

    fn invalid_value(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let error = Self::invalid_type(unexpected, expected);
        Self {
            code: |format| format.value,
            ..error
        }
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        let message = format!(" must be {expected}, and has {length} items");
        Self::new(|format| format.value, message)
    }
}

#[cfg(test)]
mod tests;
