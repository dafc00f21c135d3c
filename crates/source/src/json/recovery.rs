//! Going on after a mistake: what was most likely meant where a separator or bracket is missing, wrong or too much.

use super::error::{JsonErrorKind, excerpt};
use super::node::{Node, NodeKind};
use super::reader::{Expected, Place, Reader};
use crate::Span;

impl Reader<'_> {
    /// Goes on where a separator or closing bracket stands in place of a value.
    pub(super) fn no_value(&mut self, byte: u8, expected: Expected) -> Option<Expected> {
        match (expected, byte) {
            (Expected::Item(place), b']' | b'}') => {
                if place == Place::AfterComma {
                    self.trailing_comma(byte);
                }
                self.close(byte)
            }
            (Expected::Item(_), _) => {
                Some(self.stray_separator(byte, Expected::Item(Place::First)))
            }
            (Expected::Value, b',' | b';' | b']' | b'}') => {
                self.missing_value();
                Some(Expected::Next)
            }
            (_, b']' | b'}') => self.close(byte),
            _ => Some(self.stray_separator(byte, expected)),
        }
    }

    /// Reports and skips a separator with nothing before it.
    pub(super) fn stray_separator(&mut self, byte: u8, then: Expected) -> Expected {
        let kind = if byte == b',' {
            JsonErrorKind::ExtraComma
        } else {
            JsonErrorKind::UnexpectedCharacter {
                character: char::from(byte),
            }
        };
        self.report(kind, Span::new(self.at, self.at + 1));
        self.at += 1;
        then
    }

    /// Reports a key without a value and makes it null.
    pub(super) fn missing_value(&mut self) {
        let Some((key, span)) = self.open.last().and_then(|open| open.key()) else {
            return;
        };
        let (key, span) = (excerpt(key), *span);
        self.report(JsonErrorKind::MissingValue { key }, span);
        self.add(Node {
            kind: NodeKind::Null,
            span: Span::new(self.last_end, self.last_end),
        });
    }

    pub(super) fn trailing_comma(&mut self, closer: u8) {
        let kind = JsonErrorKind::TrailingComma {
            closer: char::from(closer),
        };
        self.report(kind, Span::new(self.last_comma, self.last_comma + 1));
    }

    /// Reports and skips what stands where `:` or `,` belongs: `=`, `=>` or `;`.
    pub(super) fn wrong_separator(&mut self, expected: char) {
        let len = if self.piece(self.at, self.at + 2) == "=>" {
            2
        } else {
            1
        };
        let found = self.piece(self.at, self.at + len).to_owned();
        self.report(
            JsonErrorKind::WrongSeparator { expected, found },
            Span::new(self.at, self.at + len),
        );
        self.at += len;
    }

    /// Goes on where neither a comma nor a closing bracket follows a value.
    pub(super) fn no_comma(&mut self, byte: u8, is_array: bool, then: Expected) -> Expected {
        match byte {
            b';' => {
                self.last_comma = self.at;
                self.wrong_separator(',');
                then
            }
            b':' | b'=' if is_array => {
                self.report(JsonErrorKind::KeyInArray, Span::new(self.at, self.at + 1));
                self.at += 1;
                then
            }
            // What stands here was no key, as was reported already. Its value is dropped like it.
            b':' if self.is_dropped => {
                self.at += 1;
                Expected::Value
            }
            b':' | b'=' => self.stray_separator(byte, Expected::Value),
            _ if self.may_begin_item(byte) => {
                self.report(
                    JsonErrorKind::MissingComma,
                    Span::new(self.last_end, self.last_end),
                );
                then
            }
            _ => {
                let start = self.at;
                self.at = self.bare_end(start, true);
                let text = excerpt(self.piece(start, self.at));
                self.report(
                    JsonErrorKind::UnexpectedText { text },
                    Span::new(start, self.at),
                );
                Expected::Next
            }
        }
    }

    fn may_begin_item(&self, byte: u8) -> bool {
        match byte {
            b'"' | b'\'' | b'`' | b'{' | b'[' | b'-' | b'_' | b'$' => true,
            byte if byte.is_ascii() => byte.is_ascii_alphanumeric(),
            _ => self.char_at(self.at).is_some_and(|character| {
                character.is_alphanumeric() || "‘’‚“”„".contains(character)
            }),
        }
    }

    /// Closes what a closing bracket at the current place is meant to close. `None` where it ends the reading.
    pub(super) fn close(&mut self, closer: u8) -> Option<Expected> {
        let bracket = Span::new(self.at, self.at + 1);
        let stray = JsonErrorKind::StrayBracket {
            closer: char::from(closer),
        };
        let Some(innermost) = self.open.last() else {
            self.report(stray, bracket);
            return None;
        };
        if innermost.closer() == closer {
            self.at += 1;
            self.close_last(self.at);
            return Some(Expected::Next);
        }
        let following = self.skip_blanks(self.at + 1, b" \t\r\n");
        let n_closed = match self.open.iter().rposition(|open| open.closer() == closer) {
            // It belongs to nothing: what is open goes on.
            None if following == Some(innermost.closer())
                || (self.open.len() == 1 && following == Some(b',')) =>
            {
                self.report(stray, bracket);
                self.at += 1;
                return Some(Expected::Next);
            }
            None => 1,
            Some(idx) if self.is_typing_error(idx, following) => 1,
            Some(idx) => self.open.len() - idx,
        };
        let kind = JsonErrorKind::MismatchedBracket {
            opener: innermost.opener(),
            opener_span: innermost.opener_span(),
            closer: char::from(closer),
        };
        self.report(kind, bracket);
        for _ in 1..n_closed {
            self.close_last(self.at);
        }
        self.at += 1;
        self.close_last(self.at);
        Some(Expected::Next)
    }

    /// Whether a wrong closing bracket, which could close the container at `idx`, is rather meant for the innermost
    /// one: if what follows fits that, and doesn't fit that brackets were forgotten.
    fn is_typing_error(&self, idx: usize, following: Option<u8>) -> bool {
        let fits_in = |around: Option<usize>| match (
            around.and_then(|around| self.open.get(around)),
            following,
        ) {
            (None, following) => following.is_none(),
            (Some(_), Some(b',')) => true,
            (Some(around), following) => following == Some(around.closer()),
        };
        let around_innermost = self.open.len().checked_sub(2);
        fits_in(around_innermost) && !fits_in(idx.checked_sub(1))
    }

    /// Reports text after the value. The rest isn't read, since nobody can say what it is.
    pub(super) fn trailing_text(&mut self, byte: u8) {
        if matches!(byte, b']' | b'}') {
            let kind = JsonErrorKind::StrayBracket {
                closer: char::from(byte),
            };
            self.report(kind, Span::new(self.at, self.at + 1));
            return;
        }
        let rest = self.piece(self.at, self.bytes.len());
        let line = rest.split('\n').next().unwrap_or(rest).trim_end();
        let is_value = matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9');
        self.report(
            JsonErrorKind::TrailingText { is_value },
            Span::new(self.at, self.at + line.len()),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::JsonErrorKind as Kind;
    use super::super::reader::tests::{finds, finds_at, value_of};
    use crate::Span;
    use serde_json::json;

    #[test]
    fn missing_commas_are_reported_where_they_belong() {
        let text = "{\"a\": 1\n \"b\": [1 2 \"x\" 'y'] c: 3}";
        finds_at(
            text,
            &[
                (Kind::MissingComma, 7..7),
                (Kind::MissingComma, 16..16),
                (Kind::MissingComma, 18..18),
                (Kind::MissingComma, 22..22),
                (
                    Kind::WrongQuotes {
                        quote: '\'',
                        content: "y".to_owned(),
                    },
                    23..26,
                ),
                (Kind::MissingComma, 27..27),
                (
                    Kind::UnquotedKey {
                        key: "c".to_owned(),
                    },
                    28..29,
                ),
            ],
        );
        assert_eq!(
            value_of(text),
            json!({"a": 1, "b": [1, 2, "x", "y"], "c": 3})
        );
    }

    #[test]
    fn commas_too_many_are_reported() {
        finds_at("[1, 2,]", &[(Kind::TrailingComma { closer: ']' }, 5..6)]);
        finds_at(
            "{\"a\": 1 , }",
            &[(Kind::TrailingComma { closer: '}' }, 8..9)],
        );
        finds_at(
            "[,1,,2]",
            &[(Kind::ExtraComma, 1..2), (Kind::ExtraComma, 4..5)],
        );
        finds_at(
            "{,\"a\":1,,}",
            &[(Kind::ExtraComma, 1..2), (Kind::ExtraComma, 8..9)],
        );
        assert_eq!(value_of("[,1,,2,]"), json!([1, 2]));
    }

    #[test]
    fn other_separators_are_taken_for_the_right_ones() {
        let wrong = |expected: char, found: &str| Kind::WrongSeparator {
            expected,
            found: found.to_owned(),
        };
        let text = "{\"a\" = 1; \"b\" => [1; 2]}";
        finds(
            text,
            &[
                (wrong(':', "="), "="),
                (wrong(',', ";"), ";"),
                (wrong(':', "=>"), "=>"),
                (wrong(',', ";"), ";"),
            ],
        );
        assert_eq!(value_of(text), json!({"a": 1, "b": [1, 2]}));
    }

    #[test]
    fn missing_parts_of_members_are_named() {
        let missing = |key: &str| Kind::MissingValue {
            key: key.to_owned(),
        };
        finds(
            r#"{"a" 1, "b": , "c", "d":}"#,
            &[
                (Kind::MissingColon, ""),
                (missing("b"), "\"b\""),
                (missing("c"), "\"c\""),
                (missing("d"), "\"d\""),
            ],
        );
        assert_eq!(
            value_of(r#"{"a" 1, "b": , "c", "d":}"#),
            json!({"a": 1, "b": null, "c": null, "d": null})
        );
        finds_at(r#"{: 1, "a": 2}"#, &[(Kind::MissingKey, 1..2)]);
        assert_eq!(value_of(r#"{: 1, "a": 2}"#), json!({"a": 2}));
        finds_at(r#"{[1]: 2}"#, &[(Kind::KeyNotString { opener: '[' }, 1..2)]);
        finds_at(
            r#"{"a": 1: 2}"#,
            &[(Kind::UnexpectedCharacter { character: ':' }, 7..8)],
        );
        finds_at(
            r#"{"a":: 1}"#,
            &[(Kind::UnexpectedCharacter { character: ':' }, 5..6)],
        );
        finds_at(
            r#"["a": 1, "b": 2]"#,
            &[(Kind::KeyInArray, 4..5), (Kind::KeyInArray, 12..13)],
        );
    }

    #[test]
    fn garbage_after_a_value_is_one_mistake() {
        finds(
            r#"{"a": 1 @@@, "b": 2}"#,
            &[(
                Kind::UnexpectedText {
                    text: "@@@".to_owned(),
                },
                "@@@",
            )],
        );
    }

    #[test]
    fn text_after_the_value_is_reported_once() {
        finds(
            "{} x y\nz",
            &[(Kind::TrailingText { is_value: false }, "x y")],
        );
        finds(
            "{}\n{}\n{}",
            &[(Kind::TrailingText { is_value: true }, "{}")],
        );
        finds_at("{}}", &[(Kind::StrayBracket { closer: '}' }, 2..3)]);
        finds_at("]", &[(Kind::StrayBracket { closer: ']' }, 0..1)]);
        finds("1 2", &[(Kind::TrailingText { is_value: true }, "2")]);
    }

    #[test]
    fn brackets_left_open_point_at_the_opener() {
        let unclosed = |opener: char, around: usize| Kind::UnclosedBracket { opener, around };
        finds_at("{\"a\": [1, 2", &[(unclosed('[', 1), 6..7)]);
        finds_at("{\"a\":", &[(unclosed('{', 0), 0..1)]);
        finds_at("[1,", &[(unclosed('[', 0), 0..1)]);
        finds_at(
            "{\"a",
            &[(unclosed('{', 0), 0..1), (Kind::UnclosedString, 1..2)],
        );
        assert_eq!(value_of("{\"a\": [1, 2"), json!({"a": [1, 2]}));
    }

    #[test]
    fn brackets_of_the_wrong_kind_close_what_was_meant() {
        let mismatched = |opener: char, start: usize, closer: char| Kind::MismatchedBracket {
            opener,
            opener_span: Span::new(start, start + 1),
            closer,
        };
        // A typing error: the object goes on.
        finds_at(
            r#"{"a": [1, 2}, "b": 3}"#,
            &[(mismatched('[', 6, '}'), 11..12)],
        );
        assert_eq!(
            value_of(r#"{"a": [1, 2}, "b": 3}"#),
            json!({"a": [1, 2], "b": 3})
        );
        finds_at("[1, 2}", &[(mismatched('[', 0, '}'), 5..6)]);
        // Forgotten: the object ends here.
        finds_at(r#"{"a": [1, 2}"#, &[(mismatched('[', 6, '}'), 11..12)]);
        finds_at(
            r#"[{"a": [1, 2}, {"b": 3}]"#,
            &[(mismatched('[', 7, '}'), 12..13)],
        );
        assert_eq!(
            value_of(r#"[{"a": [1, 2}, {"b": 3}]"#),
            json!([{"a": [1, 2]}, {"b": 3}])
        );
        // One too many: the array goes on.
        finds_at("[1, 2}, 3]", &[(Kind::StrayBracket { closer: '}' }, 5..6)]);
        finds_at("[1, 2}]", &[(Kind::StrayBracket { closer: '}' }, 5..6)]);
    }

    #[test]
    fn a_scenario_written_like_a_script_shows_all_its_mistakes_at_once() {
        let text = r#"// my scenario
{
  version: '2.1',
  "steps": [
    { "step": 1, "tool": "sandy__log", "params": { "message": "C:\logs\d, "level": {{LEVEL}} }, },
    { "step": 02 "tool": "sandy__wait", "params": { "duration": .5 } }
  ],
  "steps": None
"#;
        let places: Vec<_> = super::super::parse(text, &super::super::Limits::default())
            .errors
            .into_iter()
            .map(|error| text[error.span.range()].to_owned())
            .collect();
        let expected = [
            "// my scenario",
            "{",
            "version",
            "'2.1'",
            "\"",
            r"\l",
            r"\d",
            "{{LEVEL}}",
            ",",
            "02",
            "",
            ".5",
            "\"steps\"",
            "None",
        ];
        assert_eq!(places, expected);
        let expected = json!({
            "version": "2.1",
            "steps": [
                {"step": 1, "tool": "sandy__log", "params": {"message": r"C:\logs\d", "level": "{{LEVEL}}"}},
                {"step": 2, "tool": "sandy__wait", "params": {"duration": 0.5}},
            ],
        });
        assert_eq!(value_of(text), expected);
    }
}
