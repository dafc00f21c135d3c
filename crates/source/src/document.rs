//! A text as a tree, whether it is JSON or YAML.

use crate::diagnostic::{Diagnostic, codes};
use crate::json::{self, JsonError, JsonErrorKind, Limits, Node};
use crate::yaml::{self, AmbiguousScalar, YamlError, YamlErrorKind};
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
    let (root, diagnostics, doubts) = match language {
        Language::Json => {
            let parsed = json::parse(source.text(), &Limits::default());
            let diagnostics: Vec<_> = parsed
                .errors
                .iter()
                .map(|error| json_diagnostic(source, error))
                .collect();
            (parsed.root, diagnostics, Vec::new())
        }
        Language::Yaml => {
            let parsed = yaml::parse(source.text(), &Limits::default());
            let diagnostics = parsed
                .errors
                .iter()
                .map(|error| yaml_diagnostic(source, error))
                .collect();
            (parsed.root, diagnostics, parsed.doubts)
        }
    };
    Document {
        language,
        root: root.filter(|_| !crate::diagnostic::any_error(&diagnostics)),
        diagnostics,
        doubts,
    }
}

/// A mistake of the JSON reader as a diagnostic, with its place.
pub fn json_diagnostic(source: &SourceFile, error: &JsonError) -> Diagnostic {
    let message = error.message();
    let diagnostic = match &error.kind {
        // Some editors write one; the text after it is what was meant.
        JsonErrorKind::ByteOrderMark => Diagnostic::warning(codes::JSON_SYNTAX, message),
        JsonErrorKind::Empty if is_blank(source.text()) => {
            Diagnostic::error(codes::JSON_SYNTAX, "the file is empty")
        }
        JsonErrorKind::DuplicateKey { .. } => Diagnostic::error(codes::JSON_DUPLICATE, message),
        _ => Diagnostic::error(codes::JSON_SYNTAX, message),
    };
    let mut diagnostic = diagnostic.at(source, error.span);
    diagnostic.help = error.help();
    diagnostic
}

fn yaml_diagnostic(source: &SourceFile, error: &YamlError) -> Diagnostic {
    use YamlErrorKind as Kind;
    let code = match error.kind {
        Kind::DuplicateKey { .. } => codes::YAML_DUPLICATE,
        Kind::Tag { .. }
        | Kind::NotFinite { .. }
        | Kind::NumberOutOfRange { .. }
        | Kind::SeveralDocuments
        | Kind::KeyNotText => codes::YAML_NOT_JSON,
        Kind::AliasInItself | Kind::BadMerge | Kind::TooManyCopies { .. } => codes::YAML_ALIAS,
        _ => codes::YAML_SYNTAX,
    };
    let mut diagnostic = Diagnostic::error(code, error.message()).at(source, error.span);
    diagnostic.help = error.help();
    diagnostic.notes.extend(first_place(source, error));
    diagnostic
}

/// Where a key stands first that stands twice.
pub fn first_place(source: &SourceFile, error: &YamlError) -> Option<String> {
    match error.kind {
        YamlErrorKind::DuplicateKey { first, .. } => {
            let line = source.position(first.start).line;
            Some(format!("first defined on line {line}"))
        }
        _ => None,
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
