//! Reads a type from a tree: the struct with its serde attributes is the format, and here it gets places.
//!
//! [`decode`] is a serde deserializer over [`Node`]s. An error says where it is and what is wrong there, and the reading
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
use std::rc::Rc;

use serde::de::{self, DeserializeOwned};

use crate::diagnostic::{Code, Diagnostic, any_error};
use crate::json::Node;
use crate::reader::{Format, Reader};
use crate::value::{cut, push_pointer};
use crate::yaml::AmbiguousScalar;
use crate::{SourceFile, Span};

pub use by_hand::{by_hand, checked};
use recovery::{Mark, Marks, NodeId};
pub use schema::schema_of;
pub use wrappers::{Items, OneOrMany, Spanned, entries, items, nullable, one_or_many};

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
    pub format: &'static Format,
    /// If the text is YAML, what of it other readers of YAML take otherwise.
    pub yaml: Option<&'a Rc<[AmbiguousScalar]>>,
}

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
        root: recovery::id(root),
        path: RefCell::default(),
        findings: RefCell::default(),
        marks: RefCell::default(),
        is_whole: Cell::new(true),
    };
    let value = context.attempts(root, || decoder::read(root, &context));
    let mut diagnostics = context.findings.into_inner();
    diagnostics.sort_by_key(crate::document::place_of);
    Decoded {
        value,
        is_whole: context.is_whole.get(),
        diagnostics,
    }
}

/// Reads a part of a file, which stands at a JSON pointer. `what` is what messages call it.
pub fn decode_part<T: DeserializeOwned>(
    reader: &Reader<'_>,
    node: &Node,
    pointer: &str,
    what: &str,
    format: &'static Format,
) -> Decoded<T> {
    let input = Input {
        source: reader.source,
        offset: 0,
        what,
        format,
        yaml: reader.yaml(),
    };
    let mut decoded = decode(node, input);
    let found = decoded.diagnostics.iter_mut();
    for below in found.filter_map(|found| found.pointer.as_mut()) {
        below.insert_str(0, pointer);
    }
    decoded
}

/// What is shared while one tree is read.
struct Context<'a> {
    input: Input<'a>,
    root: NodeId,
    marks: RefCell<Marks>,
    is_whole: Cell<bool>,
    path: RefCell<Vec<PathStep>>,
    findings: RefCell<Vec<Diagnostic>>,
}

struct PathStep {
    name: StepName,
    /// The value there, if it can be left out of what holds it.
    part: Option<NodeId>,
}

enum StepName {
    Key(String),
    Item(usize),
}

impl Context<'_> {
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in self.path.borrow().iter() {
            match &step.name {
                StepName::Key(key) => push_pointer(&mut pointer, key),
                StepName::Item(idx) => push_pointer(&mut pointer, &idx.to_string()),
            }
        }
        pointer
    }

    /// What a message calls the value that is read: its key, its place in a list, or what the whole is.
    fn subject(&self) -> String {
        let path = self.path.borrow();
        let mut names = path.iter().rev().map(|step| &step.name);
        match (names.next(), names.next()) {
            (None, _) => self.input.what.to_owned(),
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

    fn span(&self, span: Span) -> Span {
        let offset = self.input.offset;
        Span {
            start: span.start.saturating_add(offset),
            end: span.end.saturating_add(offset),
        }
    }

    fn file(&self, error: DecodeError) {
        if error.is_filed {
            return;
        }
        let code = (error.code)(self.input.format);
        let mut diagnostic = Diagnostic::error(code, error.message);
        if let Some((span, pointer)) = error.place {
            diagnostic = diagnostic.at(self.input.source, span).with_pointer(pointer);
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
