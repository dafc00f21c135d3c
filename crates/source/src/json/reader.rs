//! The reader: a loop over what is expected next, with the open arrays and objects on a stack of its own, so that
//! no input can exhaust the machine's.

use std::collections::HashMap;

use super::error::{JsonError, JsonErrorKind, excerpt};
use super::node::{Member, Node, NodeKind};
use super::{Limits, Parsed};
use crate::Span;

/// Objects up to this size are searched for duplicate keys by comparing them all.
const SMALL_OBJECT: usize = 12;

pub(super) struct Reader<'text> {
    pub(super) text: &'text str,
    pub(super) bytes: &'text [u8],
    /// The next byte to read; always the start of a character.
    pub(super) at: usize,
    /// Where the last value or key ended.
    pub(super) last_end: usize,
    /// Where the last comma stands.
    pub(super) last_comma: usize,
    /// Whether the last value had no key and was dropped, which was reported then.
    pub(super) is_dropped: bool,
    pub(super) open: Vec<Open>,
    limits: Limits,
    errors: Vec<JsonError>,
    root: Option<Node>,
    is_over: bool,
}

/// An array or object whose closing bracket was not read yet.
pub(super) struct Open {
    /// Offset of the opening bracket.
    pub(super) start: usize,
    content: Content,
}

enum Content {
    Array(Vec<Node>),
    Object {
        members: Vec<Member>,
        /// The key whose value comes next; without one the value is dropped.
        key: Option<(String, Span)>,
    },
}

/// What may stand next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Root,
    /// An item of an array, or its end.
    Item(Place),
    /// A key of an object, or its end.
    Key(Place),
    Colon,
    /// The value of a member.
    Value,
    /// A comma, a closing bracket, or the end of the text.
    Next,
}

/// Where an item or key is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// After the opening bracket, or where a mistake was reported already: the container may end.
    First,
    AfterComma,
}

impl Open {
    pub(super) fn is_array(&self) -> bool {
        matches!(self.content, Content::Array(_))
    }

    pub(super) fn opener(&self) -> char {
        if self.is_array() { '[' } else { '{' }
    }

    pub(super) fn closer(&self) -> u8 {
        if self.is_array() { b']' } else { b'}' }
    }

    pub(super) fn opener_span(&self) -> Span {
        Span::new(self.start, self.start + 1)
    }

    /// The key whose value comes next.
    pub(super) fn key(&self) -> Option<&(String, Span)> {
        match &self.content {
            Content::Object { key, .. } => key.as_ref(),
            Content::Array(_) => None,
        }
    }
}

impl<'text> Reader<'text> {
    pub(super) fn new(text: &'text str, limits: Limits) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            last_end: 0,
            last_comma: 0,
            is_dropped: false,
            open: Vec::new(),
            limits,
            errors: Vec::new(),
            root: None,
            is_over: false,
        }
    }

    pub(super) fn read(mut self) -> Parsed {
        self.skip_byte_order_mark();
        let mut expected = Expected::Root;
        while !self.is_over {
            let may_be_value = matches!(
                expected,
                Expected::Root | Expected::Item(_) | Expected::Value
            );
            self.skip_trivia(may_be_value);
            let Some(byte) = self.peek() else {
                self.end_of_text();
                break;
            };
            let next = match expected {
                Expected::Root | Expected::Item(_) | Expected::Value => self.value(byte, expected),
                Expected::Key(place) => self.key(byte, place),
                Expected::Colon => self.colon(byte),
                Expected::Next => self.next(byte),
            };
            match next {
                Some(next) => expected = next,
                None => break,
            }
        }
        while !self.open.is_empty() {
            self.close_last(self.at);
        }
        // Duplicate keys are found at an object's end, so after what is wrong inside it.
        self.errors.sort_by_key(|error| {
            let is_last = matches!(error.kind, JsonErrorKind::TooManyErrors { .. });
            (is_last, error.span.start)
        });
        Parsed {
            root: self.root,
            errors: self.errors,
        }
    }

    fn value(&mut self, byte: u8, expected: Expected) -> Option<Expected> {
        match byte {
            b'"' => {
                let (text, span) = self.string(false);
                self.add(Node {
                    kind: NodeKind::String(text),
                    span,
                });
            }
            b'{' | b'[' => match self.bare_reference() {
                Some((text, span)) => self.add(Node {
                    kind: NodeKind::String(text),
                    span,
                }),
                None => return self.open_container(byte),
            },
            b'0'..=b'9' => {
                let node = self.number();
                self.add(node);
            }
            b'-' | b'+' | b'.' if self.starts_number(byte) => {
                let node = self.number();
                self.add(node);
            }
            b',' | b':' | b';' | b'=' | b']' | b'}' => return self.no_value(byte, expected),
            _ => {
                let node = match self.wrong_quote() {
                    Some(quote) => {
                        let (text, span) = self.wrongly_quoted(quote);
                        Node {
                            kind: NodeKind::String(text),
                            span,
                        }
                    }
                    None => self.word(),
                };
                self.add(node);
            }
        }
        Some(Expected::Next)
    }

    fn key(&mut self, byte: u8, place: Place) -> Option<Expected> {
        let (key, span) = match byte {
            b'"' => self.string(true),
            b'}' | b']' => {
                if place == Place::AfterComma {
                    self.trailing_comma(byte);
                }
                return self.close(byte);
            }
            b',' | b';' | b'=' => {
                return Some(self.stray_separator(byte, Expected::Key(Place::First)));
            }
            b':' => {
                self.report(JsonErrorKind::MissingKey, Span::new(self.at, self.at + 1));
                self.at += 1;
                return Some(Expected::Value);
            }
            b'{' | b'[' => match self.bare_reference() {
                Some(reference) => reference,
                None => {
                    let opener = char::from(byte);
                    self.report(
                        JsonErrorKind::KeyNotString { opener },
                        Span::new(self.at, self.at + 1),
                    );
                    return self.open_container(byte);
                }
            },
            _ => match self.wrong_quote() {
                Some(quote) => self.wrongly_quoted(quote),
                None => match self.bare_key() {
                    Some(key) => key,
                    None => return Some(Expected::Next),
                },
            },
        };
        self.last_end = span.end as usize;
        if let Some(Open {
            content: Content::Object { key: next_key, .. },
            ..
        }) = self.open.last_mut()
        {
            *next_key = Some((key, span));
        }
        Some(Expected::Colon)
    }

    fn colon(&mut self, byte: u8) -> Option<Expected> {
        match byte {
            b':' => self.at += 1,
            b'=' => self.wrong_separator(':'),
            b',' | b';' | b'}' | b']' => {
                self.missing_value();
                return Some(Expected::Next);
            }
            _ => self.report(
                JsonErrorKind::MissingColon,
                Span::new(self.last_end, self.last_end),
            ),
        }
        Some(Expected::Value)
    }

    fn next(&mut self, byte: u8) -> Option<Expected> {
        let Some(is_array) = self.open.last().map(Open::is_array) else {
            self.trailing_text(byte);
            return None;
        };
        let after = |place: Place| {
            if is_array {
                Expected::Item(place)
            } else {
                Expected::Key(place)
            }
        };
        match byte {
            b',' => {
                self.last_comma = self.at;
                self.at += 1;
                Some(after(Place::AfterComma))
            }
            b']' | b'}' => self.close(byte),
            _ => Some(self.no_comma(byte, is_array, after(Place::First))),
        }
    }

    fn open_container(&mut self, byte: u8) -> Option<Expected> {
        let limit = self.limits.max_depth.min(Limits::DEEPEST);
        if self.open.len() + 1 >= limit {
            self.report(
                JsonErrorKind::TooDeep { limit },
                Span::new(self.at, self.at + 1),
            );
            return None;
        }
        let content = if byte == b'[' {
            Content::Array(Vec::new())
        } else {
            Content::Object {
                members: Vec::new(),
                key: None,
            }
        };
        self.open.push(Open {
            start: self.at,
            content,
        });
        self.at += 1;
        Some(if byte == b'[' {
            Expected::Item(Place::First)
        } else {
            Expected::Key(Place::First)
        })
    }

    /// Closes the innermost array or object, whose text ends at `end`.
    pub(super) fn close_last(&mut self, end: usize) {
        let Some(open) = self.open.pop() else {
            return;
        };
        let kind = match open.content {
            Content::Array(items) => NodeKind::Array(items),
            Content::Object { members, .. } => {
                self.report_duplicates(&members);
                NodeKind::Object(members)
            }
        };
        self.add(Node {
            kind,
            span: Span::new(open.start, end),
        });
    }

    /// Puts a finished value where it belongs.
    pub(super) fn add(&mut self, node: Node) {
        self.last_end = node.span.end as usize;
        self.is_dropped = false;
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::Array(items)) => items.push(node),
            Some(Content::Object { members, key }) => match key.take() {
                Some((key, key_span)) => members.push(Member {
                    key,
                    key_span,
                    value: node,
                }),
                None => self.is_dropped = true,
            },
        }
    }

    fn report_duplicates(&mut self, members: &[Member]) {
        if members.len() <= SMALL_OBJECT {
            for (idx, member) in members.iter().enumerate() {
                if let Some(first) = members[..idx]
                    .iter()
                    .find(|earlier| earlier.key == member.key)
                {
                    self.report_duplicate(member, first.key_span);
                }
            }
            return;
        }
        let mut first_spans = HashMap::with_capacity(members.len());
        for member in members {
            let first = *first_spans
                .entry(member.key.as_str())
                .or_insert(member.key_span);
            if first != member.key_span {
                self.report_duplicate(member, first);
            }
        }
    }

    fn report_duplicate(&mut self, member: &Member, first: Span) {
        let key = excerpt(&member.key);
        self.report(JsonErrorKind::DuplicateKey { key, first }, member.key_span);
    }

    fn end_of_text(&mut self) {
        if let Some(open) = self.open.last() {
            let kind = JsonErrorKind::UnclosedBracket {
                opener: open.opener(),
                around: self.open.len() - 1,
            };
            self.report(kind, open.opener_span());
        } else if self.root.is_none() {
            self.report(JsonErrorKind::Empty, Span::new(self.at, self.at));
        }
    }

    /// Notes a mistake; one too many ends the reading.
    pub(super) fn report(&mut self, kind: JsonErrorKind, span: Span) {
        let limit = self.limits.max_errors;
        if self.errors.len() < limit {
            self.errors.push(JsonError { kind, span });
        } else if self.errors.len() == limit {
            self.is_over = true;
            let kind = JsonErrorKind::TooManyErrors { limit };
            self.errors.push(JsonError {
                kind,
                span: Span::new(self.at, self.at),
            });
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    /// The text from `start` to `end`, empty where there is none.
    pub(super) fn piece(&self, start: usize, end: usize) -> &'text str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn starts_number(&self, byte: u8) -> bool {
        match self.bytes.get(self.at + 1) {
            Some(next) if byte == b'-' => !next.is_ascii_alphabetic(),
            Some(next) => next.is_ascii_digit() || byte == b'+' && *next == b'.',
            None => byte == b'-',
        }
    }

    fn wrong_quote(&self) -> Option<char> {
        let character = self.char_at(self.at)?;
        matches!(character, '\'' | '`' | '‘' | '’' | '‚' | '“' | '”' | '„').then_some(character)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fmt::Write;
    use std::ops::Range;

    use super::super::{JsonErrorKind as Kind, Limits, Parsed, parse};
    use super::*;

    fn read(text: &str) -> Parsed {
        parse(text, &Limits::default())
    }

    /// Reads `text` and compares all errors and the places they point at.
    pub(in super::super) fn finds_at(text: &str, expected: &[(Kind, Range<usize>)]) {
        let found: Vec<_> = read(text)
            .errors
            .into_iter()
            .map(|error| (error.kind, error.span.range()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    /// Reads `text` and compares all errors and the text under their spans.
    pub(in super::super) fn finds(text: &str, expected: &[(Kind, &str)]) {
        let found: Vec<_> = read(text)
            .errors
            .into_iter()
            .map(|error| (error.kind, &text[error.span.range()]))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    /// The value that is made of `text`, mistakes or not.
    pub(in super::super) fn value_of(text: &str) -> serde_json::Value {
        read(text).root.expect("something is made of it").to_value()
    }

    #[test]
    fn an_empty_text_is_an_error() {
        finds_at("", &[(Kind::Empty, 0..0)]);
        finds_at(" \n", &[(Kind::Empty, 2..2)]);
        assert_eq!(read("// only this").errors.len(), 2);
    }

    #[test]
    fn duplicate_keys_point_at_the_first() {
        let duplicate = |key: &str, first: Range<usize>| Kind::DuplicateKey {
            key: key.to_owned(),
            first: Span::new(first.start, first.end),
        };
        let text = r#"{"a": {"b": 1, "\u0062": 2}, "c": 3, "a": 4, "a": 5}"#;
        finds_at(
            text,
            &[
                (duplicate("b", 7..10), 15..23),
                (duplicate("a", 1..4), 37..40),
                (duplicate("a", 1..4), 45..48),
            ],
        );
    }

    #[test]
    fn duplicates_in_a_large_object_are_found_in_one_pass() {
        let mut text = String::from("{");
        for number in 0..100_000 {
            write!(text, "\"key{number}\":{number},").expect("a string takes it");
        }
        text.push_str("\"key7\":0}");
        let errors = read(&text).errors;
        assert_eq!(errors.len(), 1);
        let first = text.find("\"key7\"").expect("it is there");
        let Kind::DuplicateKey { key, first: span } = &errors[0].kind else {
            panic!("{:?}", errors[0]);
        };
        assert_eq!((key.as_str(), span.range()), ("key7", first..first + 6));
    }

    #[test]
    fn numbers_out_of_range_and_odd_ones_are_errors() {
        use super::super::NumberProblem;
        let bad = |text: &str, problem: NumberProblem, instead: Option<&str>| Kind::BadNumber {
            text: text.to_owned(),
            problem,
            instead: instead.map(str::to_owned),
        };
        let range = |text: &str| Kind::NumberOutOfRange {
            text: text.to_owned(),
        };
        finds(
            "[1e400, -1e400, 1e-400, 0e999999999999]",
            &[(range("1e400"), "1e400"), (range("-1e400"), "-1e400")],
        );
        let digits = "9".repeat(310);
        assert!(matches!(
            read(&digits).errors[..],
            [JsonError {
                kind: Kind::NumberOutOfRange { .. },
                ..
            }]
        ));
        let text = "[012, +1, .5, 5., 0x1F, 1.2.3, 2025-02-03, 12:30, -, 50%]";
        finds(
            text,
            &[
                (bad("012", NumberProblem::LeadingZero, Some("12")), "012"),
                (bad("+1", NumberProblem::LeadingPlus, Some("1")), "+1"),
                (
                    bad(".5", NumberProblem::NoDigitBeforePoint, Some("0.5")),
                    ".5",
                ),
                (
                    bad("5.", NumberProblem::NoDigitAfterPoint, Some("5.0")),
                    "5.",
                ),
                (bad("0x1F", NumberProblem::OtherBase, Some("31")), "0x1F"),
                (bad("1.2.3", NumberProblem::NotANumber, None), "1.2.3"),
                (
                    bad("2025-02-03", NumberProblem::NotANumber, None),
                    "2025-02-03",
                ),
                (bad("12:30", NumberProblem::NotANumber, None), "12:30"),
                (bad("-", NumberProblem::LoneMinus, None), "-"),
                (bad("50%", NumberProblem::NotANumber, None), "50%"),
            ],
        );
        assert_eq!(value_of("[012, 1.2.3]"), serde_json::json!([12, "1.2.3"]));
    }

    #[test]
    fn depth_is_bounded_as_in_serde_json() {
        for depth in [126, 127, 128, 129] {
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            assert_eq!(read(&text).errors.is_empty(), theirs.is_ok(), "{depth}");
        }
        let deep = "[".repeat(1_000_000);
        finds_at(&deep, &[(Kind::TooDeep { limit: 128 }, 127..128)]);
        let flat = Limits {
            max_depth: 0,
            ..Limits::default()
        };
        assert_eq!(parse("1", &flat).errors, []);
        assert_eq!(parse("[]", &flat).errors.len(), 1);
    }

    #[test]
    fn length_is_bounded() {
        let limits = Limits {
            max_bytes: 4,
            ..Limits::default()
        };
        assert_eq!(parse("1234", &limits).errors, []);
        let parsed = parse("12345", &limits);
        assert_eq!(parsed.errors[0].kind, Kind::TooLarge { bytes: 5, limit: 4 });
        assert_eq!(parsed.root, None);
    }

    #[test]
    fn errors_are_bounded_and_the_last_says_so() {
        let limits = Limits {
            max_errors: 3,
            ..Limits::default()
        };
        let parsed = parse(r#"{"a":1,"a":2,"b":[tru,fals,nul,x,y]}"#, &limits);
        let kinds: Vec<_> = parsed.errors.iter().map(|error| &error.kind).collect();
        assert_eq!(kinds.len(), 4);
        assert_eq!(kinds[3], &Kind::TooManyErrors { limit: 3 });
        let none = Limits {
            max_errors: 0,
            ..Limits::default()
        };
        assert_eq!(parse("[1,]", &none).errors.len(), 1);
        assert_eq!(parse("[1]", &none).errors, []);
        let exact = Limits {
            max_errors: 1,
            ..Limits::default()
        };
        assert_eq!(parse("[1,]", &exact).errors.len(), 1);
    }
}
