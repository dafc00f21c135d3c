//! What can be wrong with a YAML text.

use super::syntax::SyntaxProblem;
use crate::Span;
use crate::json::JsonErrorKind;

/// One mistake in a YAML text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    /// What is wrong.
    pub kind: YamlErrorKind,
    /// Where; of no length where something is missing.
    pub span: Span,
}

/// The mistakes with their facts. Texts from the file are cut as those of [`JsonErrorKind`] are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum YamlErrorKind {
    /// The text holds no value.
    Empty,
    /// The text is longer than the limit, both in bytes. Nothing was read.
    TooLarge {
        /// Length of the text.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Lists and mappings are nested too deeply, by themselves or through aliases.
    TooDeep {
        /// The depth that is refused.
        limit: usize,
    },
    /// The limit on errors is reached. Nothing after the span was read.
    TooManyErrors {
        /// The limit.
        limit: usize,
    },
    /// Anchors and aliases stand for more than the limit.
    TooManyCopies {
        /// The limit in values, a long text counting as several.
        limit: usize,
    },
    /// A control character that YAML doesn't allow.
    ControlCharacter {
        /// The character.
        character: char,
    },
    /// The text can't be read from here on.
    Syntax(SyntaxProblem),
    /// A key stands twice in one mapping. The span is the later key.
    DuplicateKey {
        /// The key.
        key: String,
        /// Where it stands first.
        first: Span,
    },
    /// A list or mapping where a key belongs.
    KeyNotText,
    /// A `:` without a key before it.
    MissingKey,
    /// A tag, such as `!include`.
    Tag {
        /// The tag as written.
        tag: String,
    },
    /// `.inf` or `.nan`.
    NotFinite {
        /// As written.
        text: String,
    },
    /// A number too large for an `f64`, or for 64 bits if it is written in base 8 or 16.
    NumberOutOfRange {
        /// The number.
        text: String,
    },
    /// A second document. The span is its beginning.
    SeveralDocuments,
    /// An alias inside of what it stands for.
    AliasInItself,
    /// `<<` with something that is neither a mapping nor a list of them.
    BadMerge,
}

impl YamlError {
    /// What is wrong, in one sentence without a full stop.
    pub fn message(&self) -> String {
        use YamlErrorKind as Kind;
        match &self.kind {
            Kind::Empty => "the file is empty".to_owned(),
            Kind::TooLarge { bytes, limit } => {
                format!("the file is {bytes} bytes long; the limit for YAML is {limit}")
            }
            Kind::TooDeep { limit } => {
                format!("lists and mappings are nested more than {limit} levels deep")
            }
            Kind::TooManyErrors { limit } => {
                format!("there are more than {limit} errors; the rest of the file was not read")
            }
            Kind::TooManyCopies { limit } => {
                format!("the aliases in this file expand to more than {limit} values")
            }
            Kind::ControlCharacter { character } => format!(
                "the control character U+{:04X} is not allowed in YAML",
                u32::from(*character)
            ),
            Kind::Syntax(problem) => problem.message(),
            Kind::DuplicateKey { key, .. } => format!("duplicate key `{key}`"),
            Kind::KeyNotText => "a key must be text, not a list or a mapping".to_owned(),
            Kind::MissingKey => "expected a key before `:`".to_owned(),
            Kind::Tag { tag } => format!("unsupported tag `{tag}`"),
            Kind::NotFinite { text } => format!("`{text}` can't be represented in JSON"),
            Kind::NumberOutOfRange { text } => format!("the number `{text}` is too large"),
            Kind::SeveralDocuments => "unexpected second document".to_owned(),
            Kind::AliasInItself => "recursive alias".to_owned(),
            Kind::BadMerge => "`<<` can only merge a mapping or a list of mappings".to_owned(),
        }
    }

    /// What to do, where that is known.
    pub fn help(&self) -> Option<String> {
        use YamlErrorKind as Kind;
        let help = match &self.kind {
            Kind::Empty => "write the document, or name another file",
            Kind::TooLarge { .. } => "write large documents as JSON",
            Kind::TooDeep { .. } => "reduce the nesting",
            Kind::TooManyErrors { .. } => "fix the errors above first",
            Kind::TooManyCopies { .. } => "write out what is needed, without anchors and aliases",
            Kind::ControlCharacter { .. } => {
                "remove it, or write it as an escape in double quotes: \"\\u0000\""
            }
            Kind::Syntax(problem) => return problem.help(),
            Kind::DuplicateKey { .. } => "remove one of them",
            Kind::KeyNotText => "put the key in quotes",
            Kind::MissingKey => "write the key, or put the text in quotes",
            Kind::Tag { .. } => "remove it; text that begins with `!` needs quotes",
            Kind::NotFinite { .. } => "put it in quotes if text is meant",
            Kind::NumberOutOfRange { .. } => "put it in quotes to keep it as text",
            Kind::SeveralDocuments => "a file contains one document: remove the `---`",
            Kind::AliasInItself => "refer to another anchor",
            Kind::BadMerge => {
                "write `<<: *name` with the anchor of a mapping, or put the key in quotes"
            }
        };
        Some(help.to_owned())
    }
}

/// Text of the file for an error, cut where it is long and without control characters.
pub(super) fn excerpt(text: &str) -> String {
    let clean = |character: char| match character.is_control() {
        true => ' ',
        false => character,
    };
    let mut characters = text.chars().map(clean);
    let start: String = characters
        .by_ref()
        .take(JsonErrorKind::LONGEST_EXCERPT)
        .collect();
    match characters.next() {
        Some(_) => start + "…",
        None => start,
    }
}
