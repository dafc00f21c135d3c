//! Configs in TOML: the same tree as of JSON, with spans into the TOML.

use std::ops::Range;

use cuecard_source::json::string_span;
use cuecard_source::{Span, toml};

use super::read::{Mistake, Parsed};
use cuecard_runtime::env_file::painted;

/// Reads one TOML text. The syntax bounds how deep it is nested.
pub(super) fn parse(text: &str) -> Parsed {
    let parsed = toml::parse(text);
    let mistakes = parsed.errors.into_iter().map(|error| Mistake {
        span: error.span,
        message: error.message,
        help: error.help,
    });
    Parsed {
        root: parsed.root,
        mistakes: mistakes.collect(),
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
pub(super) fn keys_only(text: &str) -> String {
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
