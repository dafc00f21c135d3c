//! What most likely went wrong where `serde_json` stopped, and what to write instead.

use serde::de::IgnoredAny;

use crate::Span;
use crate::mistake::{Mistake, MistakeKind, excerpt, is_invisible};

/// Where, what, and what to do.
type Told = (Span, String, &'static str);

/// The first mistake in the grammar, or `None` if the text from `start` on is JSON, but for halves of surrogate pairs.
pub(super) fn first_mistake(text: &str, start: usize) -> Option<Mistake> {
    let error = serde_json::from_str::<IgnoredAny>(text.get(start..)?).err()?;
    let at = match error.is_eof() {
        true => text.len(),
        false => start + offset(&text[start..], error.line(), error.column()),
    };
    let place = Place::new(text, start, at);
    let told = error.to_string();
    if place.n_before == 0 && error.is_eof() {
        let (span, message) = (Span::new(at, at), "expected a JSON value");
        return Some(Mistake::new(
            MistakeKind::Empty,
            span,
            message,
            "write a value, such as `{}`",
        ));
    }
    let (span, message, help) = match error.is_eof() {
        true => place.unfinished(),
        false => place.mistake(&told),
    };
    Some(Mistake::new(MistakeKind::Syntax, span, message, help))
}

/// The byte that a line and a column name; both begin with 1, columns are bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    // A line end is column 0 of the line that it begins.
    let mut at = (before + column).saturating_sub(1).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The surroundings of a mistake.
struct Place<'text> {
    text: &'text str,
    at: usize,
    /// Where the last of what stands before it ends, blanks left out.
    last_end: usize,
    /// How many bytes but blanks stand before it.
    n_before: usize,
    /// The brackets that are open before it.
    open: Vec<usize>,
    /// The opening quote of the string that it stands in.
    quote: Option<usize>,
}

impl<'text> Place<'text> {
    fn new(text: &'text str, start: usize, at: usize) -> Self {
        let mut open = Vec::new();
        let mut quote = None;
        let mut escaped = false;
        let before = text.get(start..at).unwrap_or_default();
        for (offset, byte) in before.bytes().enumerate() {
            match (quote, byte) {
                _ if escaped => escaped = false,
                (Some(_), b'\\') => escaped = true,
                (Some(_), b'"') => quote = None,
                (None, b'"') => quote = Some(start + offset),
                (None, b'[' | b'{') => open.push(start + offset),
                (None, b']' | b'}') => {
                    open.pop();
                }
                _ => {}
            }
        }
        let trimmed = before.trim_end_matches([' ', '\t', '\r', '\n']);
        Self {
            text,
            at,
            last_end: start + trimmed.len(),
            n_before: trimmed.trim_start().len(),
            open,
            quote,
        }
    }

    /// What the end of the text leaves open.
    fn unfinished(&self) -> Told {
        if let Some(quote) = self.quote {
            let help = "end it with `\"`; perhaps the file is truncated";
            let span = Span::new(quote, quote + 1);
            return (span, "unterminated string".to_owned(), help);
        }
        let Some(&innermost) = self.open.last() else {
            let span = Span::new(self.at, self.at);
            return (
                span,
                "the text ends in the middle of a value".to_owned(),
                "",
            );
        };
        let (opener, closer) = brackets(self.text.as_bytes()[innermost]);
        let around = match self.open.len() - 1 {
            0 => String::new(),
            1 => ", nor is the bracket around it".to_owned(),
            more => format!(", nor are the {more} brackets around it"),
        };
        let help = match closer {
            ']' => "write `]` where it ends; perhaps the file is truncated",
            _ => "write `}` where it ends; perhaps the file is truncated",
        };
        let message = format!("this `{opener}` is never closed{around}");
        (Span::new(innermost, innermost + 1), message, help)
    }

    /// What stands at the place and should not; `told` is what `serde_json` says.
    fn mistake(&self, told: &str) -> Told {
        if told.starts_with("control character") {
            return self.control_character();
        }
        if told.starts_with("invalid escape") {
            return self.escape();
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let first = rest.chars().next().unwrap_or(' ');
        let here = Span::new(self.at, self.at + first.len_utf8());
        let mistake = |message: &str, help| (here, message.to_owned(), help);
        let last = self.text.get(..self.last_end).unwrap_or_default();
        match first {
            '/' if rest.starts_with("//") || rest.starts_with("/*") => {
                return comment(rest, self.at);
            }
            '#' => return comment(rest, self.at),
            '\'' | '`' | '‘' | '’' | '‚' | '“' | '”' | '„' => {
                let message = format!("strings must be in `\"`, not in `{first}`");
                return (here, message, "write `\"` around the text");
            }
            '{' if rest.starts_with("{{") || last.ends_with('{') => {
                let start = self.at - usize::from(!rest.starts_with("{{"));
                if let Some(reference) = reference(&self.text[start..]) {
                    let message = format!("reference `{}` is not quoted", excerpt(reference));
                    let help = "write `\"` around it: a string that is one reference keeps the type of its value";
                    return (Span::new(start, start + reference.len()), message, help);
                }
            }
            ']' | '}' if last.ends_with(',') => {
                let comma = Span::new(self.last_end - 1, self.last_end);
                let message = format!("trailing `,` before `{first}`");
                return (comma, message, "remove the comma");
            }
            ']' | '}'
                if ["expected `,`", "trailing", "key must"]
                    .iter()
                    .any(|start| told.starts_with(start)) =>
            {
                return self.bracket(here, first);
            }
            ']' | '}' if told.starts_with("expected value") => {
                return mistake("expected a value", "write a value, perhaps `null`");
            }
            ',' => return mistake("unexpected `,`", "remove the comma"),
            ';' | '=' if told.starts_with("expected `:`") => {
                return mistake("expected `:` between key and value", "write `:`");
            }
            ';' if self.open.is_empty() => {}
            ';' => return mistake("expected `,`, found `;`", "write `,`"),
            ':' if told.starts_with("expected `,` or `]`") => {
                let help = "write `{` and `}` around the keys and values";
                return mistake("unexpected key in an array", help);
            }
            ':' if told.starts_with("key must") => {
                return mistake(
                    "expected a key before `:`",
                    "write a key before it: `\"name\": …`",
                );
            }
            '[' | '{' if told.starts_with("key must") => {
                let help = "write `\"name\": ` before it, or use an array";
                return mistake("expected a string as key", help);
            }
            _ if is_invisible(first) => {
                let message = format!("U+{:04X} is not whitespace in JSON", u32::from(first));
                let help = "replace it with an ordinary space, or remove it";
                return (here, message, help);
            }
            _ => {}
        }
        let missing = Span::new(self.last_end, self.last_end);
        if told.starts_with("trailing characters") {
            let line = rest.lines().next().unwrap_or_default().trim_end();
            let span = Span::new(self.at, self.at + line.len().max(1));
            let help =
                "a file contains one value: remove the rest, or wrap everything in `[` and `]`";
            return (
                span,
                "unexpected text after the end of the value".to_owned(),
                help,
            );
        }
        if told.starts_with("expected `:`") {
            return (missing, "expected `:` between key and value".to_owned(), "");
        }
        if told.starts_with("expected `,`") {
            // Nothing stands right after a string but what ends it: it ended too early.
            if last.ends_with('"') && self.last_end == self.at && first.is_alphanumeric() {
                let quote = Span::new(self.at - 1, self.at);
                let help = "write `\\\"` for a quote inside a string";
                return (quote, "unescaped `\"` inside a string".to_owned(), help);
            }
            return match first.is_alphanumeric() || "\"{[-_$".contains(first) {
                true => (missing, "expected `,`".to_owned(), ""),
                false => {
                    let message = format!(
                        "expected `,` or a closing bracket, found `{}`",
                        excerpt(&first.to_string())
                    );
                    (here, message, "remove it")
                }
            };
        }
        self.word(told)
    }

    /// What stands where a value or a key belongs.
    fn word(&self, told: &str) -> Told {
        let is_end = |character: char| " \t\r\n,:;=[]{}\"".contains(character);
        let before = &self.text[..self.at];
        // `serde_json` may stop within a word.
        let start = match self.last_end == self.at {
            true => before.rfind(is_end).map_or(0, |end| end + 1),
            false => self.at,
        };
        let rest = &self.text[start..];
        let length = rest.find(is_end).unwrap_or(rest.len());
        let word = &rest[..length];
        let span = Span::new(start, start + length.max(1));
        let said = excerpt(word);
        if told.starts_with("key must") {
            return (
                span,
                format!("key `{said}` is not quoted"),
                "write `\"` around it",
            );
        }
        if matches!(word, "..." | "…") {
            let help = "write out what it stands for, or remove it";
            return (span, format!("`{word}` is not JSON"), help);
        }
        let (message, help) = match word.to_ascii_lowercase().as_str() {
            "true" => (format!("JSON has no `{said}`"), "write `true`"),
            "false" => (format!("JSON has no `{said}`"), "write `false`"),
            "none" | "nil" | "undefined" | "null" => {
                (format!("JSON has no `{said}`"), "write `null`")
            }
            "nan" | "inf" | "infinity" | "-inf" | "-infinity" => {
                (format!("JSON has no `{said}`"), "write `null`, or a number")
            }
            _ if word
                .starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) =>
            {
                let help = "write a number as `12`, `-0.5` or `1e6`, and text in `\"`";
                (format!("`{said}` is not a valid number"), help)
            }
            _ => (
                format!("`{said}` is not quoted, and is not true, false or null"),
                "write `\"` around it if it is text",
            ),
        };
        (span, message, help)
    }

    fn bracket(&self, here: Span, closer: char) -> Told {
        let Some(&innermost) = self.open.last() else {
            let help = "remove it, or look for an extra closing bracket before it";
            return (here, format!("unmatched `{closer}`"), help);
        };
        let (opener, _) = brackets(self.text.as_bytes()[innermost]);
        let (container, help) = match opener {
            '[' => ("array", "write `]` here, or before it"),
            _ => ("object", "write `}` here, or before it"),
        };
        let message = format!("mismatched `{closer}`: the {container} was opened with `{opener}`");
        (here, message, help)
    }

    fn control_character(&self) -> Told {
        let rest = self.text.get(self.at..).unwrap_or_default();
        // The place may be the character before it.
        let found = rest.char_indices().find(|(_, character)| *character < ' ');
        let (offset, character) = found.unwrap_or((0, ' '));
        let at = self.at + offset;
        let span = Span::new(at, at + 1);
        match character {
            '\n' | '\r' => {
                // A string that was left open runs into its line's end.
                let help = "end it with `\"`; a line break inside a string is written `\\n`, a quote `\\\"`";
                match self.quote {
                    Some(quote) => (
                        Span::new(quote, quote + 1),
                        "unterminated string".to_owned(),
                        help,
                    ),
                    None => (span, "a line break inside a string".to_owned(), help),
                }
            }
            '\t' => (span, "a tab inside a string".to_owned(), "write `\\t`"),
            other => {
                let message = format!(
                    "the control character U+{:04X} inside a string",
                    u32::from(other)
                );
                (
                    span,
                    message,
                    "write it as `\\u` and four hexadecimal digits",
                )
            }
        }
    }

    fn escape(&self) -> Told {
        let before = self.text.get(..=self.at).unwrap_or(self.text);
        let start = before.rfind('\\').unwrap_or(self.at);
        let letter = self.text[start..].chars().nth(1);
        let length = 1 + letter.map_or(0, char::len_utf8);
        let escape = excerpt(&self.text[start..start + length]);
        let help = match letter {
            Some('u') => "write four hexadecimal digits after `\\u`, or `\\\\u` for a backslash",
            _ => "write `\\\\` for a backslash",
        };
        (
            Span::new(start, start + length),
            format!("invalid escape `{escape}`"),
            help,
        )
    }
}

fn comment(rest: &str, at: usize) -> Told {
    let length = match rest.starts_with("/*") {
        true => rest.find("*/").map_or(rest.len(), |end| end + 2),
        false => rest.find('\n').unwrap_or(rest.len()),
    };
    let help = "remove it; put notes for readers into a description";
    (
        Span::new(at, at + length),
        "comments are not allowed in JSON".to_owned(),
        help,
    )
}

/// The opening bracket and the one that closes it.
fn brackets(opener: u8) -> (char, char) {
    match opener {
        b'[' => ('[', ']'),
        _ => ('{', '}'),
    }
}

/// The `{{reference}}` that `text` begins with.
fn reference(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("{{")?;
    let length = inside.find(['{', '}', '\n', '"'])?;
    let name = inside[..length].split('|').next()?.trim();
    let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    (is_name && inside[length..].starts_with("}}")).then(|| &text[..length + 4])
}
