//! Diagnostics: where, what, and what to do about it.
//!
//! A [`Diagnostic`] is data; `reports::diagnostics` renders it as plain text, in colour or as JSON.

mod bounded;
mod catalogue;
mod suggest;

pub use bounded::{MAX_SHOWN, bounded};
pub use catalogue::{Code, catalogue, codes, find_code};
pub use suggest::did_you_mean;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{SourceFile, Span};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Severity {
    /// Worth knowing; nothing to correct, with `--strict` neither.
    Note,
    /// Accepted, but it deserves a look; `--strict` makes it an error.
    Warning,
    /// The file, argument or run can't be used as it is.
    Error,
}

impl Severity {
    /// The word shown to people and machines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A span of a source text.
#[derive(Debug, Clone)]
pub struct Place {
    /// The text.
    pub source: SourceFile,
    /// The part of it that is meant.
    pub span: Span,
}

/// One finding. Build it with [`Diagnostic::error`] or [`Diagnostic::warning`] and the `with_*` methods.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The entry of the catalogue that `cuecard explain` shows.
    pub code: Code,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where, if it is in a text at all.
    pub place: Option<Place>,
    /// What stands beside the marked place, usually the correction.
    pub label: Option<String>,
    /// JSON pointer of the value concerned.
    pub pointer: Option<String>,
    /// Facts that help to understand, one line each.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message.into())
    }

    /// A warning.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message.into())
    }

    /// A note.
    pub fn note(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message.into())
    }

    fn new(severity: Severity, code: Code, message: String) -> Self {
        Self {
            severity,
            code,
            message,
            place: None,
            label: None,
            pointer: None,
            notes: Vec::new(),
            help: None,
        }
    }

    /// Says where it is. In a text that was made from another, that is the place it came from.
    #[must_use]
    pub fn at(mut self, source: &SourceFile, span: Span) -> Self {
        let (source, span) = source.origin_of(span);
        self.place = Some(Place { source, span });
        self
    }

    /// Puts the name that was probably meant by `word` beside the marked place, if there is one.
    pub fn suggest<'n>(&mut self, word: &str, names: impl IntoIterator<Item = &'n str>) {
        let name = did_you_mean(word, names);
        self.label = name.map(|name| format!("did you mean `{name}`?"));
    }

    /// Puts a text beside the marked place.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Names the value concerned by its JSON pointer.
    #[must_use]
    pub fn with_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// For `--strict`, if that is asked for: as an error, if it is a warning.
    #[must_use]
    pub fn strictly(mut self, is_strict: bool) -> Self {
        if is_strict && self.severity == Severity::Warning {
            self.severity = Severity::Error;
        }
        self
    }
}

/// Whether any of them is an error.
pub fn any_error(diagnostics: &[Diagnostic]) -> bool {
    diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// For what takes one diagnostic or several.
impl From<Diagnostic> for Vec<Diagnostic> {
    fn from(one: Diagnostic) -> Self {
        vec![one]
    }
}
