//! A text as a tree, whether it is JSON or YAML.

use crate::diagnostic::{Diagnostic, codes};
use crate::json::{self, Limits, Node};
use crate::mistake::{Mistake, MistakeKind};
use crate::yaml::{self, AmbiguousScalar};
use crate::{SourceFile, Span};

/// What a text is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// JSON.
    Json,
    /// YAML 1.2.
    Yaml,
}

impl Language {
    /// By the ending of the name; where that says nothing, by the first character: JSON documents begin with a bracket.
    pub fn of(source: &SourceFile) -> Self {
        let name = source.name().to_ascii_lowercase();
        if name.ends_with(".json") {
            return Self::Json;
        }
        if name.ends_with(".yaml") || name.ends_with(".yml") {
            return Self::Yaml;
        }
        let text = source.text().trim_start_matches('\u{feff}').trim_start();
        match text.starts_with(['{', '[']) {
            true => Self::Json,
            false => Self::Yaml,
        }
    }
}

/// A text after reading.
#[derive(Debug)]
pub struct Document {
    /// What it is written in.
    pub language: Language,
    /// The value, if there is no error.
    pub root: Option<Node>,
    /// What is wrong or doubtful about the text, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// Texts that other readers of YAML take for something else.
    pub doubts: Vec<AmbiguousScalar>,
}

/// Reads a text as what it is written in.
pub fn read_document(source: &SourceFile) -> Document {
    let language = Language::of(source);
    let limits = Limits::default();
    let parsed = match language {
        Language::Json => json::parse(source.text(), &limits),
        Language::Yaml => yaml::parse(source.text(), &limits),
    };
    let found = parsed.errors.iter();
    let diagnostics: Vec<_> = found
        .map(|mistake| mistake.diagnostic(source, language))
        .collect();
    let root = parsed.root;
    Document {
        language,
        root: root.filter(|_| !crate::diagnostic::any_error(&diagnostics)),
        diagnostics,
        doubts: parsed.doubts,
    }
}

impl Mistake {
    /// The mistake as a diagnostic with its place.
    pub fn diagnostic(&self, source: &SourceFile, language: Language) -> Diagnostic {
        use MistakeKind as Kind;
        let code = match (language, self.kind) {
            (Language::Json, Kind::DuplicateKey) => codes::JSON_DUPLICATE,
            (Language::Json, _) => codes::JSON_SYNTAX,
            (Language::Yaml, Kind::DuplicateKey) => codes::YAML_DUPLICATE,
            (Language::Yaml, Kind::NotJson) => codes::YAML_NOT_JSON,
            (Language::Yaml, Kind::Alias) => codes::YAML_ALIAS,
            (Language::Yaml, _) => codes::YAML_SYNTAX,
        };
        let mut found = match self.kind {
            // Some editors write one; the text after it is what was meant.
            Kind::ByteOrderMark => Diagnostic::warning(code, &self.message),
            Kind::Empty if is_blank(source.text()) => Diagnostic::error(code, "the file is empty"),
            _ => Diagnostic::error(code, &self.message),
        }
        .at(source, self.span);
        found.help.clone_from(&self.help);
        if let Some(first) = self.first {
            let line = source.position(first.start).line;
            found.notes.push(format!("first defined on line {line}"));
        }
        found
    }
}

/// Whether there is nothing in a text but a byte order mark and white space.
pub fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

/// The place of a diagnostic, to sort by.
pub fn place_of(diagnostic: &Diagnostic) -> Span {
    diagnostic
        .place
        .as_ref()
        .map_or(Span::default(), |place| place.span)
}
