//! The tree of a text, with spans: `jsonc_parser` reads it, and `serde_json` judges the grammar, of which the former takes
//! more than JSON has.

use jsonc_parser::ast::Value;
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, ParseStringErrorKind, parse_to_ast};
use serde::de::IgnoredAny;

use super::number::is_out_of_range;
use super::{Limits, Member, Node, NodeKind};
use crate::Span;
use crate::mistake::{Mistake, MistakeKind, Mistakes, excerpt, is_invisible};

/// Builds a tree, and collects what is wrong with the text.
pub(super) struct Builder<'text> {
    text: &'text str,
    /// Where the value begins, behind a byte order mark.
    start: usize,
    limits: Limits,
    pub(super) mistakes: Mistakes,
}

impl<'text> Builder<'text> {
    /// A builder that begins at `start`.
    pub(super) fn new(text: &'text str, start: usize, limits: Limits) -> Self {
        Self {
            text,
            start,
            limits,
            mistakes: Mistakes::new(limits.max_errors),
        }
    }

    /// The value of the whole text, which may have what editors add to JSON; `None` if it is broken, nested too deeply or has
    /// too many mistakes.
    pub(super) fn build(&mut self, has_comments: bool) -> Option<Node> {
        let json = &self.text[self.start..];
        let options = ParseOptions {
            allow_comments: has_comments,
            allow_trailing_commas: has_comments,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let judged = match has_comments {
            true => None,
            false => serde_json::from_str::<IgnoredAny>(json).err(),
        };
        let parsed = parse_to_ast(json, &CollectOptions::default(), &options);
        let judged = judged.map(|error| (self.start + offset(json, &error), error));
        let root = match (parsed, judged) {
            (Ok(parsed), None) => parsed.value,
            (Ok(parsed), Some((at, error))) if parsed.value.is_some() => {
                return self.broken(at, &error);
            }
            (Ok(_), Some(_)) => None,
            // What goes wrong first has caused the rest.
            (Err(error), Some((at, judged))) if at < self.start + error.range().start => {
                return self.broken(at, &judged);
            }
            (Err(error), _) => {
                self.refuse(error.kind(), error.range());
                return None;
            }
        };
        let Some(root) = root else {
            let (at, help) = (self.text.len(), "write a value, such as `{}`");
            let (kind, message) = (MistakeKind::Empty, "expected a JSON value");
            self.mistakes
                .add(Mistake::new(kind, Span::new(at, at), message, help))?;
            return None;
        };
        self.node(root, 0)
    }

    fn span(&self, range: Range) -> Span {
        Span::new(self.start + range.start, self.start + range.end)
    }

    /// Reports what `serde_json` refuses at a place.
    fn broken(&mut self, at: usize, error: &serde_json::Error) -> Option<Node> {
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or_default();
        let is_control = said.starts_with("control character");
        // The place is the character before it.
        let control = self.text[at..]
            .find(char::is_control)
            .filter(|_| is_control);
        let at = at + control.unwrap_or_default();
        let first = self.text[at..].chars().next().unwrap_or(' ');
        let is_blank = !is_control && first != ' ' && is_invisible(first);
        let (message, help) = match is_blank {
            true => (
                format!("U+{:04X} is not whitespace in JSON", u32::from(first)),
                "replace it with an ordinary space, or remove it",
            ),
            false => (
                said.to_owned(),
                "in a string a line break is written `\\n`, a tab `\\t`, a quote `\\\"` and a backslash `\\\\`",
            ),
        };
        let span = Span::new(at, at + first.len_utf8());
        self.mistakes
            .add(Mistake::new(MistakeKind::Syntax, span, message, help))?;
        None
    }

    /// Reports what `jsonc_parser` refuses.
    fn refuse(&mut self, kind: &ParseErrorKind, range: Range) {
        use ParseErrorKind as Kind;
        let whole = self.span(range);
        let written = &self.text[whole.range()];
        let line = match kind {
            // The bracket tells which one it is.
            Kind::UnterminatedArray | Kind::UnterminatedObject => &written[..1],
            _ => written.lines().next().unwrap_or_default(),
        };
        let span = Span::new(whole.range().start, whole.range().start + line.len());
        let mut message = kind.to_string();
        if let Some(first) = message.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        let is_word = matches!(
            kind,
            Kind::UnexpectedWord | Kind::UnexpectedToken | Kind::ExpectedStringObjectProperty
        );
        if is_word && !line.is_empty() {
            // Not behind the words: a secret would follow `token:`.
            message = format!("`{}`: {message}", excerpt(line));
        }
        let help = match kind {
            Kind::CommentsNotAllowed => "remove it; put notes for readers into a description",
            Kind::TrailingCommasNotAllowed | Kind::UnexpectedComma => "remove the comma",
            Kind::SingleQuotedStringsNotAllowed | Kind::ExpectedStringObjectProperty => {
                "write `\"` around it"
            }
            Kind::UnexpectedWord | Kind::UnexpectedToken => {
                "write `true`, `false`, `null` or a number, and `\"` around text"
            }
            Kind::UnexpectedTokenInObject => {
                "a key is a string; a reference stands in one: \"{{name}}\""
            }
            Kind::UnterminatedArray | Kind::UnterminatedObject => {
                "close it; perhaps the file is truncated"
            }
            Kind::MultipleRootJsonValues => {
                "a file contains one value: remove the rest, or wrap everything in `[` and `]`"
            }
            Kind::String(ParseStringErrorKind::UnterminatedStringLiteral) => "end it with `\"`",
            Kind::String(ParseStringErrorKind::InvalidUnicodeEscapeSequence(_)) => {
                "write the whole surrogate pair, as in `\\ud83d\\ude00`, or the character itself"
            }
            Kind::String(_) => "write `\\\\` for a backslash",
            Kind::ExpectedDigit
            | Kind::ExpectedDigitFollowingNegativeSign
            | Kind::ExpectedPlusMinusOrDigitInNumberLiteral
            | Kind::BareDecimalPointNumbersNotAllowed
            | Kind::HexadecimalNumbersNotAllowed
            | Kind::NonFiniteNumbersNotAllowed
            | Kind::UnaryPlusNumbersNotAllowed => {
                "write a number as `12`, `-0.5` or `1e6`, and text in `\"`"
            }
            _ => "",
        };
        let kind = match kind {
            Kind::NestingDepthExceeded => MistakeKind::TooDeep,
            _ => MistakeKind::Syntax,
        };
        self.mistakes.add(Mistake::new(kind, span, message, help));
    }

    /// The node of a value inside `depth` others.
    fn node(&mut self, value: Value<'_>, depth: usize) -> Option<Node> {
        let span = self.span(value.range());
        let kind = match value {
            Value::NullKeyword(_) => NodeKind::Null,
            Value::BooleanLit(flag) => NodeKind::Bool(flag.value),
            Value::StringLit(text) => NodeKind::String(text.value.into_owned()),
            Value::NumberLit(number) => {
                if is_out_of_range(number.value) {
                    let message = format!("number `{}` is out of range", excerpt(number.value));
                    let help = "the largest number is about `1.7e308`; longer ones can be strings";
                    self.mistakes
                        .add(Mistake::new(MistakeKind::NotJson, span, message, help))?;
                }
                NodeKind::Number(number.value.to_owned())
            }
            Value::Array(array) => {
                self.bound(depth, span)?;
                let items = array.elements.into_iter();
                let items = items.map(|item| self.node(item, depth + 1));
                NodeKind::Array(items.collect::<Option<_>>()?)
            }
            Value::Object(object) => {
                self.bound(depth, span)?;
                let mut members = Vec::with_capacity(object.properties.len());
                for property in object.properties {
                    members.push(Member {
                        key_span: self.span(property.name.range()),
                        key: property.name.into_string(),
                        value: self.node(property.value, depth + 1)?,
                    });
                }
                self.mistakes.add_duplicates(&members)?;
                NodeKind::Object(members)
            }
        };
        Some(Node { kind, span })
    }

    fn bound(&mut self, depth: usize, span: Span) -> Option<()> {
        let limit = self.limits.max_depth.min(Limits::DEEPEST);
        if depth + 1 < limit {
            return Some(());
        }
        let message = format!("arrays and objects are nested {limit} deep here");
        let help = format!("nest less than {limit} deep");
        let start = span.start as usize;
        let kind = MistakeKind::TooDeep;
        let mistake = Mistake::new(kind, Span::new(start, start + 1), message, &help);
        self.mistakes.add(mistake)?;
        None
    }
}

/// The byte that an error of `serde_json` is about; the end of the text, if that comes too early.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    if error.is_eof() {
        return text.len();
    }
    let lines = text.split_inclusive('\n').take(error.line() - 1);
    let before: usize = lines.map(str::len).sum();
    // A line end is column 0 of the line that it begins.
    let at = (before + error.column()).saturating_sub(1).min(text.len());
    text.floor_char_boundary(at)
}
