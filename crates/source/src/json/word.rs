//! Words without quotes: true, false and null, and what people write besides them.

use super::error::{JsonErrorKind, excerpt};
use super::is_invisible;
use super::node::{Node, NodeKind};
use super::reader::Reader;
use crate::Span;

/// The longest `{{reference}}` without quotes that is recognised, in bytes.
const LONGEST_REFERENCE: usize = 512;

impl Reader<'_> {
    /// Reads the word that stands at the current place as a value.
    pub(super) fn word(&mut self) -> Node {
        let start = self.at;
        for (word, kind) in [
            ("true", NodeKind::Bool(true)),
            ("false", NodeKind::Bool(false)),
            ("null", NodeKind::Null),
        ] {
            let end = start + word.len();
            if self.bytes.get(start..end) == Some(word.as_bytes())
                && self.bare_end(start, false) == end
            {
                self.at = end;
                let span = Span::new(start, end);
                return Node { kind, span };
            }
        }
        self.unknown_word(start)
    }

    fn unknown_word(&mut self, start: usize) -> Node {
        let mut end = self.bare_end(start, false);
        let meant = meaning(self.piece(start, end));
        if meant.is_none() {
            end = self.last_word_end(end, false);
        }
        self.at = end;
        let span = Span::new(start, end);
        let word = self.piece(start, end);
        if matches!(word, "..." | "…") {
            self.report(JsonErrorKind::Ellipsis, span);
            return Node {
                kind: NodeKind::Null,
                span,
            };
        }
        let instead = meant.as_ref().map(|(instead, _)| *instead);
        self.report(
            JsonErrorKind::UnknownWord {
                word: excerpt(word),
                instead,
            },
            span,
        );
        let kind = meant.map_or_else(|| NodeKind::String(word.to_owned()), |(_, kind)| kind);
        Node { kind, span }
    }

    /// Reads the word that stands at the current place as a key; `None`, after a report, if it is an ellipsis.
    pub(super) fn bare_key(&mut self) -> Option<(String, Span)> {
        let start = self.at;
        let end = self.bare_end(start, true);
        let end = self.last_word_end(end, true);
        self.at = end;
        let span = Span::new(start, end);
        let key = self.piece(start, end);
        if matches!(key, "..." | "…") {
            self.report(JsonErrorKind::Ellipsis, span);
            return None;
        }
        self.report(JsonErrorKind::UnquotedKey { key: excerpt(key) }, span);
        Some((key.to_owned(), span))
    }

    /// Reads the `{{reference}}` without quotes that stands at the current place, if one does.
    pub(super) fn bare_reference(&mut self) -> Option<(String, Span)> {
        let start = self.at;
        let inside = self.text.get(start..)?.strip_prefix("{{")?;
        let length = inside
            .bytes()
            .take(LONGEST_REFERENCE)
            .position(|byte| matches!(byte, b'}' | b'{' | b'\n'))?;
        let (body, rest) = inside.split_at_checked(length)?;
        let name = body.split('|').next().unwrap_or(body).trim();
        let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && name
                .chars()
                .all(|part| part.is_alphanumeric() || matches!(part, '_' | '-' | '.' | '[' | ']'));
        if !is_name || !rest.starts_with("}}") {
            return None;
        }
        let end = start + 2 + length + 2;
        self.at = end;
        let reference = self.piece(start, end);
        let span = Span::new(start, end);
        self.report(
            JsonErrorKind::UnquotedReference {
                reference: excerpt(reference),
            },
            span,
        );
        Some((reference.to_owned(), span))
    }

    /// Where the word without quotes that begins at `start` ends: before a space, a comma, a bracket, a quote, a
    /// comment, or a colon unless the word goes on right after it. At least one character is taken.
    pub(super) fn bare_end(&self, start: usize, is_key: bool) -> usize {
        let mut end = start;
        let mut previous = None;
        while let Some(character) = self.char_at(end) {
            if previous.is_some() && !self.goes_on(end, character, previous, is_key) {
                break;
            }
            previous = Some(character);
            end += character.len_utf8();
        }
        end
    }

    fn goes_on(&self, at: usize, character: char, previous: Option<char>, is_key: bool) -> bool {
        let next = self.bytes.get(at + 1);
        match character {
            ',' | ';' | '[' | ']' | '{' | '}' | '"' => false,
            '=' => !is_key,
            ':' => {
                !is_key
                    && next.is_some_and(|next| {
                        !next.is_ascii_whitespace() && !b",;[]{}\"'".contains(next)
                    })
            }
            '/' => match next {
                Some(b'/') => previous == Some(':'),
                Some(b'*') => false,
                _ => true,
            },
            other => !is_invisible(other),
        }
    }

    /// Where the last of several words ends, if more of them follow the one that ends at `end` on the same line.
    fn last_word_end(&self, mut end: usize, is_key: bool) -> usize {
        loop {
            let rest = self.piece(end, self.bytes.len());
            let blanks = rest
                .bytes()
                .take_while(|byte| matches!(byte, b' ' | b'\t'))
                .count();
            let next = end + blanks;
            if blanks == 0 || !self.char_at(next).is_some_and(char::is_alphabetic) {
                return end;
            }
            end = self.bare_end(next, is_key);
        }
    }
}

/// What a word of another language is in JSON.
fn meaning(word: &str) -> Option<(&'static str, NodeKind)> {
    // Longer than the longest of them, so that lower-casing costs nothing.
    if word.len() > "undefined".len() {
        return None;
    }
    match word.to_ascii_lowercase().as_str() {
        "true" => Some(("true", NodeKind::Bool(true))),
        "false" => Some(("false", NodeKind::Bool(false))),
        "null" | "none" | "nil" | "undefined" | "nan" | "inf" | "infinity" | "-inf"
        | "-infinity" | "+inf" | "+infinity" => Some(("null", NodeKind::Null)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::JsonErrorKind as Kind;
    use super::super::reader::tests::{finds, finds_at, value_of};

    fn word(word: &str, instead: Option<&'static str>) -> Kind {
        Kind::UnknownWord {
            word: word.to_owned(),
            instead,
        }
    }

    #[test]
    fn words_of_other_languages_say_what_to_write() {
        let text = "[True, FALSE, None, nil, undefined, NaN, Infinity, -Infinity]";
        finds(
            text,
            &[
                (word("True", Some("true")), "True"),
                (word("FALSE", Some("false")), "FALSE"),
                (word("None", Some("null")), "None"),
                (word("nil", Some("null")), "nil"),
                (word("undefined", Some("null")), "undefined"),
                (word("NaN", Some("null")), "NaN"),
                (word("Infinity", Some("null")), "Infinity"),
                (word("-Infinity", Some("null")), "-Infinity"),
            ],
        );
        assert_eq!(
            value_of(text),
            serde_json::json!([true, false, null, null, null, null, null, null])
        );
    }

    #[test]
    fn text_without_quotes_is_one_mistake() {
        let text = "{\"a\": hello big world, \"b\": https://x.example/?q=1, \"c\": #dev, \"d\": /tmp/x // why\n}";
        finds(
            text,
            &[
                (word("hello big world", None), "hello big world"),
                (
                    word("https://x.example/?q=1", None),
                    "https://x.example/?q=1",
                ),
                (word("#dev", None), "#dev"),
                (word("/tmp/x", None), "/tmp/x"),
                (Kind::Comment, "// why"),
            ],
        );
        assert_eq!(value_of(text)["b"], "https://x.example/?q=1");
        finds("[truey]", &[(word("truey", None), "truey")]);
    }

    #[test]
    fn keys_without_quotes_are_taken_for_strings() {
        let unquoted = |key: &str| Kind::UnquotedKey {
            key: key.to_owned(),
        };
        let text = "{a: 1, $b-c : 2, d e: 3, true: 4, 5: 5}";
        finds(
            text,
            &[
                (unquoted("a"), "a"),
                (unquoted("$b-c"), "$b-c"),
                (unquoted("d e"), "d e"),
                (unquoted("true"), "true"),
                (unquoted("5"), "5"),
            ],
        );
        assert_eq!(
            value_of(text),
            serde_json::json!({"a": 1, "$b-c": 2, "d e": 3, "true": 4, "5": 5})
        );
    }

    #[test]
    fn references_without_quotes_are_recognised() {
        let reference = |text: &str| Kind::UnquotedReference {
            reference: text.to_owned(),
        };
        let text = r#"{"a": {{ NAME }}, {{KEY}}: [{{s.out.a[0] | default("x")}}]}"#;
        finds(
            text,
            &[
                (reference("{{ NAME }}"), "{{ NAME }}"),
                (reference("{{KEY}}"), "{{KEY}}"),
                (
                    reference("{{s.out.a[0] | default(\"x\")}}"),
                    "{{s.out.a[0] | default(\"x\")}}",
                ),
            ],
        );
        assert_eq!(
            value_of(text),
            serde_json::json!({"a": "{{ NAME }}", "{{KEY}}": ["{{s.out.a[0] | default(\"x\")}}"]})
        );
        finds_at(
            r#"{{"a": 1}: 2}"#,
            &[(Kind::KeyNotString { opener: '{' }, 1..2)],
        );
    }

    #[test]
    fn an_ellipsis_is_one_mistake() {
        finds(
            r#"{"a": ..., ...}"#,
            &[(Kind::Ellipsis, "..."), (Kind::Ellipsis, "...")],
        );
        finds("[1, …]", &[(Kind::Ellipsis, "…")]);
        finds(r#"{ ... }"#, &[(Kind::Ellipsis, "...")]);
    }
}
