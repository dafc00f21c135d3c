//! The text of a config: the tree that it is, in JSON or TOML, and what of it may be shown.

use std::ops::Range;

use cuecard_runtime::env_file::painted;
use cuecard_source::json::{self, Limits, Node, string_span};
use cuecard_source::{Span, toml};

use super::places::{MAX_BYTES, Syntax};
use super::secrets::{self, Shown};

/// A text after parsing, of whatever syntax.
pub(super) struct Parsed {
    /// The value; without mistakes it is there.
    pub root: Option<Node>,
    pub mistakes: Vec<Mistake>,
    pub shown: Shown,
}

/// What keeps a text from being read.
pub(super) struct Mistake {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}

/// Reads a text without comments; the syntax bounds how deep it is nested.
pub(super) fn parse(text: &str, syntax: Syntax) -> Parsed {
    // In a text that can't be read nobody can tell what is a value.
    let is_torn;
    let (root, mut mistakes): (_, Vec<Mistake>) = match syntax {
        Syntax::Toml => {
            let parsed = toml::parse(text);
            is_torn = !parsed.errors.is_empty();
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
            is_torn = parsed.root.is_none();
            let mistakes = parsed.errors.iter().map(|error| Mistake {
                span: error.span,
                message: error.message(),
                help: error.help(),
            });
            (parsed.root, mistakes.collect())
        }
    };
    let mut shown = secrets::shown(text, root.as_ref());
    match syntax {
        Syntax::Toml if is_torn => shown.text = keys_only(text),
        Syntax::Json | Syntax::JsonWithComments if is_torn => {
            shown.text = secrets::veiled(text);
            for mistake in &mut mistakes {
                mistake.message = secrets::veiled_message(&mistake.message);
                mistake.help = mistake.help.as_deref().map(secrets::veiled_message);
            }
        }
        _ => {}
    }
    Parsed {
        root,
        mistakes,
        shown,
    }
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

/// The text with everything painted over that may be a value, wherever a mistake may have put it.
fn keys_only(text: &str) -> String {
    let mut hidden = Vec::new();
    let mut start = 0;
    // Brackets that values have opened; a text of several lines opens one that is never closed.
    let mut open = 0_usize;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let is_header = trimmed.starts_with('[') && trimmed.ends_with(']');
        let shown = match line.find('=') {
            _ if open > 0 => 0,
            _ if is_header => line.len(),
            Some(equals) if line[..equals].chars().all(is_of_key) => equals + 1,
            _ => 0,
        };
        hidden.push(start + shown..start + line.len());
        start += line.len();
        if line.contains("\"\"\"") || line.contains("'''") {
            open = usize::MAX;
        }
        for character in line.chars() {
            match character {
                '[' | '{' => open = open.saturating_add(1),
                ']' | '}' if open < usize::MAX => open = open.saturating_sub(1),
                _ => {}
            }
        }
    }
    painted(text, &hidden)
}

fn is_of_key(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, ' ' | '\t' | '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_shown_of_a_broken_text() {
        for (text, shown) in [
            (
                "[servers.a]\nenv = { T = abcdefgh }\n  abc\nx = 1",
                "[servers.a]\nenv = * * * ******** *\n  ***\nx = *",
            ),
            (
                "args = [\n  abcd==,\n]\nb = 1",
                "args = *\n  *******\n*\nb = *",
            ),
            (
                "a = \"\"\"\nabcd==\n\"\"\"\nb = 1",
                "a = ***\n******\n***\n* * *",
            ),
        ] {
            assert_eq!(keys_only(text), shown);
        }
    }
}
