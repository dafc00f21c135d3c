//! Strings: reading them, repairing them, and finding decoded characters in the source again.

use std::ops::Range;

use super::error::{JsonErrorKind, excerpt};
use super::reader::Reader;
use crate::Span;

/// How far, in bytes, the reader looks ahead to guess where a damaged string was meant to end.
const LOOK_AHEAD: usize = 16 * 1024;

/// Where the byte range `decoded` of a string's value stands in `source`, given the span of the string literal with
/// its quotes. An escape counts as a whole: a range that covers part of what it stands for covers all of it. What lies
/// beyond the string's end is cut. An empty range gives an empty span. The literal must come from [`super::parse`].
pub fn string_span(source: &str, literal: Span, decoded: Range<usize>) -> Span {
    let Some(text) = source.get(literal.range()) else {
        return literal;
    };
    let mut place = usize::from(text.starts_with('"'));
    let end = text.len() - usize::from(text.len() > 1 && text.ends_with('"'));
    let content = text.get(..end).unwrap_or(text);
    // How many bytes of the value stand before `place`.
    let mut before = 0;
    let mut first = None;
    while let Some(character) = content.get(place..).and_then(|rest| rest.chars().next()) {
        let (source_len, decoded_len) = if character == '\\' {
            let escape = escape_at(content, place);
            (escape.len, escape.meaning.decoded_len(escape.len))
        } else {
            (character.len_utf8(), character.len_utf8())
        };
        if before + decoded_len > decoded.start {
            first.get_or_insert(place);
        }
        if first.is_some() && before >= decoded.end {
            break;
        }
        place += source_len;
        before += decoded_len;
    }
    let place = place.min(content.len());
    let start = literal.start as usize;
    Span::new(start + first.unwrap_or(place), start + place)
}

impl Reader<'_> {
    /// Reads the string whose opening `"` stands at the current place, as a key or a value.
    pub(super) fn string(&mut self, is_key: bool) -> (String, Span) {
        let open = self.at;
        let end = self.plain_end(open + 1);
        if self.bytes.get(end) == Some(&b'"') && !self.word_follows(end + 1) {
            self.at = end + 1;
            return (
                self.piece(open + 1, end).to_owned(),
                Span::new(open, self.at),
            );
        }
        self.string_with_care(open, end, is_key)
    }

    /// Goes on with a string that has more to it than plain characters up to `at`.
    fn string_with_care(&mut self, open: usize, mut at: usize, is_key: bool) -> (String, Span) {
        let mut decoded = self.piece(open + 1, at).to_owned();
        // Once a mistake has made the reader guess: the quote that ends the string.
        let mut last_quote = None;
        let mut first_control: Option<(char, Span)> = None;
        let mut n_controls = 0_usize;
        let end = loop {
            match self.bytes.get(at) {
                None => {
                    self.report(JsonErrorKind::UnclosedString, Span::new(open, open + 1));
                    break at;
                }
                Some(b'"') => {
                    if last_quote.is_none()
                        && self.word_follows(at + 1)
                        && let Some(guess) = self.closing_quote_on_line(at)
                    {
                        if guess.ends_key && !is_key {
                            // What follows is a key, so the quote before it is missing rather than this one too much.
                            self.report(JsonErrorKind::UnclosedString, Span::new(open, open + 1));
                            break self.end_of_unclosed(open + 1, at, &mut decoded);
                        }
                        let more = guess.more;
                        self.report(
                            JsonErrorKind::UnescapedQuote { more },
                            Span::new(at, at + 1),
                        );
                        last_quote = Some(guess.at);
                    }
                    if last_quote.is_none_or(|last| at >= last) {
                        break at + 1;
                    }
                    decoded.push('"');
                    at += 1;
                }
                Some(b'\\') => {
                    let escape = escape_at(self.text, at);
                    let span = Span::new(at, at + escape.len);
                    let written = self.piece(at, at + escape.len);
                    match escape.meaning {
                        Meaning::Character(_) => {}
                        Meaning::LoneSurrogate(unit) => {
                            self.report(JsonErrorKind::LoneSurrogate { unit }, span);
                        }
                        Meaning::Unknown => self.report(
                            JsonErrorKind::BadEscape {
                                escape: excerpt(written),
                            },
                            span,
                        ),
                    }
                    escape.meaning.push_to(&mut decoded, written);
                    at += escape.len;
                }
                Some(&byte) if byte < b' ' => {
                    let is_break = matches!(byte, b'\n' | b'\r');
                    if is_break && last_quote.is_none() {
                        last_quote = self.closing_quote_below(at);
                        if last_quote.is_none() {
                            self.report(JsonErrorKind::UnclosedString, Span::new(open, open + 1));
                            break self.end_of_unclosed(open + 1, at, &mut decoded);
                        }
                    }
                    let is_pair = byte == b'\r' && self.bytes.get(at + 1) == Some(&b'\n');
                    let len = 1 + usize::from(is_pair);
                    let character = if is_pair { '\n' } else { char::from(byte) };
                    first_control.get_or_insert((character, Span::new(at, at + len)));
                    n_controls += 1;
                    decoded.push_str(self.piece(at, at + len));
                    at += len;
                }
                Some(_) => {
                    let end = self.plain_end(at);
                    decoded.push_str(self.piece(at, end));
                    at = end;
                }
            }
        };
        if let Some((character, span)) = first_control {
            let more = n_controls - 1;
            self.report(JsonErrorKind::ControlCharacter { character, more }, span);
        }
        self.at = end;
        (decoded, Span::new(open, end))
    }

    /// Reads a string in the quotes of another language or a word processor, whose opening one stands at the current
    /// place.
    pub(super) fn wrongly_quoted(&mut self, quote: char) -> (String, Span) {
        let open = self.at;
        let closers: &[char] = match quote {
            '\'' => &['\''],
            '`' => &['`'],
            '‘' | '’' | '‚' => &['’', '‘', '\''],
            _ => &['”', '“', '"'],
        };
        let start = open + quote.len_utf8();
        let mut close = None;
        let mut line_end = self.bytes.len();
        let mut characters = self.piece(start, line_end).char_indices().peekable();
        while let Some((offset, character)) = characters.next() {
            if character == '\n' {
                line_end = start + offset;
                break;
            } else if character == '\\' {
                characters.next_if(|&(_, next)| next != '\n');
            } else if closers.contains(&character)
                // An apostrophe stands inside a word.
                && !characters.peek().is_some_and(|(_, next)| next.is_alphanumeric())
            {
                close = Some((start + offset, character.len_utf8()));
                break;
            }
        }
        let Some((end, len)) = close else {
            self.report(JsonErrorKind::UnclosedString, Span::new(open, start));
            let mut decoded = decode_quietly(self.piece(start, line_end));
            self.at = self.end_of_unclosed(start, line_end, &mut decoded);
            return (decoded, Span::new(open, self.at));
        };
        let decoded = decode_quietly(self.piece(start, end));
        self.at = end + len;
        let span = Span::new(open, self.at);
        let content = excerpt(&decoded);
        self.report(JsonErrorKind::WrongQuotes { quote, content }, span);
        (decoded, span)
    }

    fn plain_end(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        let length = rest.iter().position(|&byte| !is_plain(byte));
        from + length.unwrap_or(rest.len())
    }

    /// Whether a letter or digit follows a quote, as it never does in JSON.
    fn word_follows(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
            Some(_) => self.char_at(at).is_some_and(char::is_alphanumeric),
            None => false,
        }
    }

    /// Takes the quote at `inner` for one inside a string, and looks on the same line for the string's end.
    fn closing_quote_on_line(&self, inner: usize) -> Option<ClosingQuote> {
        let mut at = inner + 1;
        let mut more = 0;
        while at < inner + LOOK_AHEAD {
            match self.bytes.get(at)? {
                b'\n' | b'\r' => return None,
                b'\\' => at += 1,
                b'"' => match self.skip_blanks(at + 1, b" \t") {
                    following @ (None | Some(b',' | b':' | b']' | b'}' | b'\n' | b'\r')) => {
                        return Some(ClosingQuote {
                            at,
                            more,
                            ends_key: following == Some(b':'),
                        });
                    }
                    Some(_) => more += 1,
                },
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Takes the line break at `at` for one inside a string: where the string ends. `None` where the next quote looks
    /// like the start of another string, so that this one was rather left open.
    fn closing_quote_below(&self, at: usize) -> Option<usize> {
        let mut place = at + 1;
        while place < at + LOOK_AHEAD {
            match self.bytes.get(place)? {
                b'\\' => place += 1,
                b'"' => {
                    let following = self.skip_blanks(place + 1, b" \t\r\n");
                    return matches!(following, None | Some(b',' | b':' | b']' | b'}'))
                        .then_some(place);
                }
                _ => {}
            }
            place += 1;
        }
        None
    }

    /// The first byte at or after `from` that is none of `blanks`.
    pub(super) fn skip_blanks(&self, from: usize, blanks: &[u8]) -> Option<u8> {
        let rest = self.bytes.get(from..)?;
        rest.iter()
            .take(LOOK_AHEAD)
            .copied()
            .find(|byte| !blanks.contains(byte))
    }

    /// Where a string ends that was left open up to the line's end at `at`: before a last comma, which then most
    /// likely stands behind the string. Its content begins at `start`.
    fn end_of_unclosed(&self, start: usize, at: usize, decoded: &mut String) -> usize {
        let blanks = [' ', '\t', '\r'];
        let written = self.piece(start, at).trim_end_matches(blanks);
        decoded.truncate(decoded.trim_end_matches(blanks).len());
        let Some(kept) = written.strip_suffix(',') else {
            return start + written.len();
        };
        if decoded.ends_with(',') {
            decoded.pop();
        }
        start + kept.len()
    }
}

/// A guess where a string with quotes inside it ends.
struct ClosingQuote {
    at: usize,
    /// How many quotes stand between the first one inside and this one.
    more: usize,
    /// Whether a colon follows.
    ends_key: bool,
}

/// Whether a byte of a string stands for itself.
const fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

/// An escape: its length in the source, and what it stands for.
struct Escape {
    len: usize,
    meaning: Meaning,
}

enum Meaning {
    Character(char),
    LoneSurrogate(u16),
    Unknown,
}

impl Meaning {
    /// Appends what the escape stands for; what is wrong stays as it is written.
    fn push_to(&self, decoded: &mut String, written: &str) {
        match self {
            Self::Character(character) => decoded.push(*character),
            Self::LoneSurrogate(_) => decoded.push(char::REPLACEMENT_CHARACTER),
            Self::Unknown => decoded.push_str(written),
        }
    }

    /// How many bytes [`Meaning::push_to`] appends for an escape of `written_len` bytes.
    fn decoded_len(&self, written_len: usize) -> usize {
        match self {
            Self::Character(character) => character.len_utf8(),
            Self::LoneSurrogate(_) => char::REPLACEMENT_CHARACTER.len_utf8(),
            Self::Unknown => written_len,
        }
    }
}

/// The escape whose backslash stands at `at`.
fn escape_at(text: &str, at: usize) -> Escape {
    let rest = text.get(at + 1..).unwrap_or_default();
    let simple = |character: char| Escape {
        len: 2,
        meaning: Meaning::Character(character),
    };
    let unknown = |len: usize| Escape {
        len,
        meaning: Meaning::Unknown,
    };
    match rest.chars().next() {
        Some('"') => simple('"'),
        Some('\\') => simple('\\'),
        Some('/') => simple('/'),
        Some('b') => simple('\u{8}'),
        Some('f') => simple('\u{c}'),
        Some('n') => simple('\n'),
        Some('r') => simple('\r'),
        Some('t') => simple('\t'),
        Some('u') => unicode_escape(rest),
        Some('x') if n_hex(rest, 1, 2) == 2 => unknown(4),
        Some('U') if n_hex(rest, 1, 8) == 8 => unknown(10),
        // The control character is a mistake of its own.
        Some(other) if other < ' ' => unknown(1),
        Some(other) => unknown(1 + other.len_utf8()),
        None => unknown(1),
    }
}

/// The escape `\u…`, where `rest` begins at the `u`.
fn unicode_escape(rest: &str) -> Escape {
    let Some(unit) = four_hex(rest, 1) else {
        let braced = n_hex(rest, 2, 6);
        let is_braced =
            rest.starts_with("u{") && braced > 0 && rest.as_bytes().get(2 + braced) == Some(&b'}');
        let len = if is_braced {
            1 + 2 + braced + 1
        } else {
            2 + n_hex(rest, 1, 3)
        };
        return Escape {
            len,
            meaning: Meaning::Unknown,
        };
    };
    // A high half needs a low one right after it.
    let low = match unit {
        0xd800..=0xdbff if rest.get(5..7) == Some("\\u") => four_hex(rest, 7),
        _ => None,
    };
    let decoded = match low {
        Some(low) => char::decode_utf16([unit, low]).next(),
        None => char::decode_utf16([unit]).next(),
    };
    match decoded {
        Some(Ok(character)) => Escape {
            len: if low.is_some() { 12 } else { 6 },
            meaning: Meaning::Character(character),
        },
        _ => Escape {
            len: 6,
            meaning: Meaning::LoneSurrogate(unit),
        },
    }
}

fn four_hex(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 4)?;
    // `from_str_radix` would take a sign.
    (n_hex(digits, 0, 4) == 4).then(|| u16::from_str_radix(digits, 16).ok())?
}

/// How many hexadecimal digits stand at `at`, `most` at the most.
fn n_hex(text: &str, at: usize, most: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    rest.iter()
        .take(most)
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count()
}

/// Decodes what stood in wrong quotes, without reports.
fn decode_quietly(content: &str) -> String {
    let mut decoded = String::with_capacity(content.len());
    let mut at = 0;
    while let Some(character) = content.get(at..).and_then(|rest| rest.chars().next()) {
        if character != '\\' {
            decoded.push(character);
            at += character.len_utf8();
            continue;
        }
        let escape = escape_at(content, at);
        let written = content.get(at..at + escape.len).unwrap_or_default();
        match written {
            "\\'" | "\\`" => decoded.push_str(&written[1..]),
            _ => escape.meaning.push_to(&mut decoded, written),
        }
        at += escape.len;
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::super::JsonErrorKind as Kind;
    use super::super::reader::tests::{finds, finds_at, value_of};
    use super::*;

    fn bad_escape(escape: &str) -> Kind {
        Kind::BadEscape {
            escape: escape.to_owned(),
        }
    }

    #[test]
    fn all_escapes_decode() {
        let text = r#""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\uDE00é""#;
        finds(text, &[]);
        assert_eq!(
            value_of(text),
            serde_json::json!("\"\\/\u{8}\u{c}\n\r\tAé😀é")
        );
    }

    #[test]
    fn unknown_escapes_are_reported_one_by_one_and_kept() {
        finds(
            r#"["C:\dir\x41", "\u{1F600}\u12", "\U0001F600\é"]"#,
            &[
                (bad_escape("\\d"), "\\d"),
                (bad_escape("\\x41"), "\\x41"),
                (bad_escape("\\u{1F600}"), "\\u{1F600}"),
                (bad_escape("\\u12"), "\\u12"),
                (bad_escape("\\U0001F600"), "\\U0001F600"),
                (bad_escape("\\é"), "\\é"),
            ],
        );
        assert_eq!(value_of(r#""a\qb""#), serde_json::json!("a\\qb"));
        finds(r#""\u+123""#, &[(bad_escape("\\u"), "\\u")]);
    }

    #[test]
    fn half_a_surrogate_pair_is_named() {
        let lone = |unit: u16| Kind::LoneSurrogate { unit };
        finds(r#""\ud83d""#, &[(lone(0xd83d), "\\ud83d")]);
        finds(r#""\ude00x""#, &[(lone(0xde00), "\\ude00")]);
        finds(r#""\ud83d\u0041""#, &[(lone(0xd83d), "\\ud83d")]);
        finds(r#""\ud83d\ud83d\ude00""#, &[(lone(0xd83d), "\\ud83d")]);
        assert_eq!(
            value_of(r#""\ud83dx\ud83d\ude00""#),
            serde_json::json!("\u{fffd}x😀")
        );
    }

    #[test]
    fn control_characters_are_reported_once_for_each_string() {
        let control = |character: char, more: usize| Kind::ControlCharacter { character, more };
        finds(
            "[\"a\tb\", \"\u{1}\u{2}\u{3}\"]",
            &[(control('\t', 0), "\t"), (control('\u{1}', 2), "\u{1}")],
        );
        let text = "{\"a\": \"one\r\ntwo\nthree\", \"b\": 2}";
        finds(text, &[(control('\n', 1), "\r\n")]);
        assert_eq!(
            value_of(text),
            serde_json::json!({"a": "one\r\ntwo\nthree", "b": 2})
        );
        finds("\"\u{7f}\"", &[]);
    }

    #[test]
    fn a_string_left_open_ends_with_its_line() {
        let text = "{\n  \"a\": \"one,\n  \"b\": 2\n}";
        finds_at(text, &[(Kind::UnclosedString, 9..10)]);
        assert_eq!(value_of(text), serde_json::json!({"a": "one", "b": 2}));
        let text = "{\"a\": \"one \r\n}";
        finds_at(text, &[(Kind::UnclosedString, 6..7)]);
        assert_eq!(value_of(text), serde_json::json!({"a": "one"}));
        finds_at("\"abc", &[(Kind::UnclosedString, 0..1)]);
        finds_at(
            "\"abc\\",
            &[(Kind::UnclosedString, 0..1), (bad_escape("\\"), 4..5)],
        );
        finds_at("\"", &[(Kind::UnclosedString, 0..1)]);
        let text = r#"{"a": "one, "b": 2}"#;
        finds_at(text, &[(Kind::UnclosedString, 6..7)]);
        assert_eq!(value_of(text), serde_json::json!({"a": "one", "b": 2}));
    }

    #[test]
    fn a_quote_inside_a_string_is_one_mistake() {
        finds_at(r#"{"a"b": 1}"#, &[(Kind::UnescapedQuote { more: 0 }, 3..4)]);
        let text = r#"{"a": "he said "hi" to "me"", "b": 2}"#;
        finds_at(text, &[(Kind::UnescapedQuote { more: 3 }, 15..16)]);
        assert_eq!(
            value_of(text),
            serde_json::json!({"a": "he said \"hi\" to \"me\"", "b": 2})
        );
    }

    #[test]
    fn other_quotes_are_taken_for_strings() {
        let wrong = |quote: char, content: &str| Kind::WrongQuotes {
            quote,
            content: content.to_owned(),
        };
        let text = r#"{'it': 'isn't \'so\'', “a”: `b`, ‘c’: "d"}"#;
        finds(
            text,
            &[
                (wrong('\'', "it"), "'it'"),
                (wrong('\'', "isn't 'so'"), r"'isn't \'so\''"),
                (wrong('“', "a"), "“a”"),
                (wrong('`', "b"), "`b`"),
                (wrong('‘', "c"), "‘c’"),
            ],
        );
        assert_eq!(
            value_of(text),
            serde_json::json!({"it": "isn't 'so'", "a": "b", "c": "d"})
        );
        finds_at("['a,\n 1]", &[(Kind::UnclosedString, 1..2)]);
        assert_eq!(value_of("['a,\n 1]"), serde_json::json!(["a", 1]));
    }

    #[test]
    fn string_span_walks_escapes() {
        let source = r#"  "a\n\u00e9\ud83d\ude00z""#;
        let literal = Span::new(2, source.len());
        // The value is a, line feed, é (2 bytes), 😀 (4 bytes), z.
        let at = |decoded: Range<usize>| &source[string_span(source, literal, decoded).range()];
        assert_eq!(at(0..1), "a");
        assert_eq!(at(1..2), r"\n");
        assert_eq!(at(2..4), r"\u00e9");
        assert_eq!(at(4..8), r"\ud83d\ude00");
        assert_eq!(at(8..9), "z");
        assert_eq!(at(0..9), r"a\n\u00e9\ud83d\ude00z");
        assert_eq!(
            at(3..5),
            r"\u00e9\ud83d\ude00",
            "parts of characters count as whole"
        );
        assert_eq!(at(8..99), "z");
        assert_eq!(string_span(source, literal, 1..1), Span::new(4, 4));
        assert_eq!(string_span(source, literal, 9..9), Span::new(25, 25));
        assert_eq!(string_span(source, literal, 50..60), Span::new(25, 25));
        assert_eq!(
            string_span(source, Span::new(90, 99), 0..1),
            Span::new(90, 99)
        );
        assert_eq!(string_span("\"", Span::new(0, 1), 0..1), Span::new(1, 1));
    }
}
