//! The text of a config: the tree that it is, in JSON or TOML.

use std::ops::Range;

use cuecard_source::json::{self, Limits, Node, string_span};
use cuecard_source::{Mistake, MistakeKind, Span, toml};

use super::places::{MAX_BYTES, Syntax};
use super::secrets;

/// A text after parsing, of whatever syntax.
pub(super) struct Parsed {
    /// The value; without mistakes it is there.
    pub root: Option<Node>,
    pub mistakes: Vec<Mistake>,
}

/// Reads a text; the syntax bounds how deep it is nested.
pub(super) fn parse(text: &str, syntax: Syntax) -> Parsed {
    let (root, mistakes): (_, Vec<Mistake>) = match syntax {
        Syntax::Toml => {
            let parsed = toml::parse(text);
            (parsed.root, parsed.errors)
        }
        Syntax::Json | Syntax::JsonWithComments => {
            let limits = Limits {
                max_bytes: MAX_BYTES,
                ..Limits::default()
            };
            let parsed = match syntax {
                Syntax::JsonWithComments => json::parse_with_comments(text, &limits),
                _ => json::parse(text, &limits),
            };
            let mut mistakes = parsed.errors;
            let of_syntax = |mistake: &&mut Mistake| mistake.kind == MistakeKind::Syntax;
            for mistake in mistakes.iter_mut().filter(of_syntax) {
                mistake.message = secrets::veiled(&mistake.message);
                mistake.help = mistake.help.as_deref().map(secrets::veiled);
            }
            (parsed.root, mistakes)
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
