//! The text of a config: the tree that it is, in JSON or TOML.

use std::ops::Range;

use cuecard_source::json::{self, JsonErrorKind, Limits, Node, string_span};
use cuecard_source::{Span, toml};

use super::places::{MAX_BYTES, Syntax};
use super::secrets;

/// A text after parsing, of whatever syntax.
pub(super) struct Parsed {
    /// The value; without mistakes it is there.
    pub root: Option<Node>,
    pub mistakes: Vec<Mistake>,
}

/// What keeps a text from being read.
pub(super) struct Mistake {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}

/// Reads a text without comments; the syntax bounds how deep it is nested.
pub(super) fn parse(text: &str, syntax: Syntax) -> Parsed {
    let (root, mistakes): (_, Vec<Mistake>) = match syntax {
        Syntax::Toml => {
            let parsed = toml::parse(text);
            let mistakes = parsed.errors.into_iter().map(|error| Mistake {
                span: error.span,
                message: error.message,
                help: error.help,
            });
            (parsed.root, mistakes.collect())
        }
        Syntax::Json | Syntax::JsonWithComments => {
            let limits = Limits {
                max_bytes: MAX_BYTES,
                ..Limits::default()
            };
            let parsed = json::parse(text, &limits);
            let mistakes = parsed.errors.iter().map(|error| {
                let veil = match &error.kind {
                    JsonErrorKind::Syntax { .. } => secrets::veiled,
                    _ => str::to_owned,
                };
                Mistake {
                    span: error.span,
                    message: veil(&error.message()),
                    help: error.help().as_deref().map(veil),
                }
            });
            (parsed.root, mistakes.collect())
        }
    };
    Parsed { root, mistakes }
}

/// Where the part `range` of a text stands, whose literal in JSON or TOML has the span `literal`.
pub(super) fn text_span(source: &str, literal: Span, range: Range<usize>) -> Span {
    let written = source.get(literal.range()).unwrap_or_default();
    let start = literal.start as usize;
    if written.starts_with("'''") || written.starts_with("\"\"\"") {
        // What a line break is in such a text depends on what stands around it.
        literal
    } else if written.starts_with('\'') {
        Span::new(start + 1 + range.start, start + 1 + range.end)
    } else {
        string_span(source, literal, range)
    }
}
