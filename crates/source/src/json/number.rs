//! Numbers: the strict grammar, what else people write, and what a machine number can hold.

use super::error::{JsonErrorKind, NumberProblem, excerpt};
use super::node::{Node, NodeKind};
use super::reader::Reader;
use crate::Span;

/// Whether `text` is an integer that fits neither `i64` nor `u64`. Such a number identifies something, so it is read as the
/// text of its digits, wherever JSON comes from: as an `f64` it would be another one.
pub fn is_large_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && text.parse::<i64>().is_err()
        && text.parse::<u64>().is_err()
}

/// The machine form of a number: `i64` or `u64` where it is written as an integer and fits, the text of a larger integer,
/// else an `f64`. Null where it is out of range or no number, which only happens in a tree that was parsed with errors.
pub(super) fn number_value(text: &str) -> serde_json::Value {
    // Minus zero has no integer form.
    if text != "-0" {
        if let Ok(integer) = text.parse::<u64>() {
            return integer.into();
        }
        if let Ok(integer) = text.parse::<i64>() {
            return integer.into();
        }
    }
    if is_large_integer(text) {
        return text.into();
    }
    let nearest = text.parse::<f64>().ok();
    nearest
        .and_then(serde_json::Number::from_f64)
        .map_or(serde_json::Value::Null, serde_json::Value::Number)
}

impl Reader<'_> {
    /// Reads what looks like a number and stands at the current place.
    pub(super) fn number(&mut self) -> Node {
        let start = self.at;
        match strict_end(self.bytes, start) {
            Some(end) if !self.number_goes_on(end) => {
                self.at = end;
                let text = self.piece(start, end);
                let span = Span::new(start, end);
                if is_out_of_range(text) {
                    self.report(
                        JsonErrorKind::NumberOutOfRange {
                            text: excerpt(text),
                        },
                        span,
                    );
                }
                Node {
                    kind: NodeKind::Number(text.to_owned()),
                    span,
                }
            }
            _ => self.odd_number(start),
        }
    }

    /// Whether the text goes on at `end` in a way that shows that no JSON number was meant, as in `1.2.3` or `12:30`.
    fn number_goes_on(&self, end: usize) -> bool {
        match self.bytes.get(end) {
            Some(b'_' | b'.' | b'+' | b'-' | b'%') => true,
            Some(b':' | b'/') => self.bytes.get(end + 1).is_some_and(u8::is_ascii_digit),
            Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
            Some(_) => self.char_at(end).is_some_and(char::is_alphanumeric),
            None => false,
        }
    }

    fn odd_number(&mut self, start: usize) -> Node {
        let end = self.bare_end(start, false);
        self.at = end;
        let text = self.piece(start, end);
        let span = Span::new(start, end);
        let (problem, instead) = diagnose(text);
        let kind = match &instead {
            Some(number) => NodeKind::Number(number.clone()),
            None => NodeKind::String(text.to_owned()),
        };
        self.report(
            JsonErrorKind::BadNumber {
                text: excerpt(text),
                problem,
                instead: instead.filter(|number| number.len() <= 40),
            },
            span,
        );
        Node { kind, span }
    }
}

/// Where the JSON number that starts at `start` ends, `None` if none starts there or it breaks off after a point or
/// an exponent.
fn strict_end(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = |from: usize| {
        let mut end = from;
        while bytes.get(end).is_some_and(u8::is_ascii_digit) {
            end += 1;
        }
        (end > from).then_some(end)
    };
    let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
    at = if bytes.get(at) == Some(&b'0') {
        at + 1
    } else {
        digits(at)?
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        at = digits(at)?;
    }
    Some(at)
}

fn is_strict(text: &str) -> bool {
    strict_end(text.as_bytes(), 0) == Some(text.len())
}

pub(crate) fn is_out_of_range(text: &str) -> bool {
    // The largest `f64` has 309 digits, so most numbers need no look.
    let may_be = text.len() >= 309 || text.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    may_be && text.parse::<f64>().is_ok_and(f64::is_infinite)
}

/// Says what is wrong with `text`, and what to write instead where that is certain.
fn diagnose(text: &str) -> (NumberProblem, Option<String>) {
    let strict = |text: String| (is_strict(&text) && !is_out_of_range(&text)).then_some(text);
    if text == "-" {
        return (NumberProblem::LoneMinus, None);
    }
    if let Some(rest) = text.strip_prefix('+')
        && let Some(number) = strict(rest.to_owned())
    {
        return (NumberProblem::LeadingPlus, Some(number));
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    if let Some(number) = from_radix(digits) {
        return (NumberProblem::OtherBase, strict(format!("{sign}{number}")));
    }
    if digits.contains('_')
        && let Some(number) = strict(format!("{sign}{}", digits.replace('_', "")))
    {
        return (NumberProblem::Separator, Some(number));
    }
    if let Some(number) = strict(format!("{sign}0{digits}"))
        && digits.starts_with('.')
    {
        return (NumberProblem::NoDigitBeforePoint, Some(number));
    }
    let without_zeros = digits.trim_start_matches('0');
    if digits.starts_with('0') {
        let zero = if without_zeros.starts_with(|first: char| first.is_ascii_digit()) {
            ""
        } else {
            "0"
        };
        if let Some(number) = strict(format!("{sign}{zero}{without_zeros}")) {
            return (NumberProblem::LeadingZero, Some(number));
        }
    }
    if let Some((whole, rest)) = digits.split_once('.')
        && let Some(number) = strict(format!("{sign}{whole}.0{rest}"))
        && !rest.starts_with(|first: char| first.is_ascii_digit())
    {
        return (NumberProblem::NoDigitAfterPoint, Some(number));
    }
    let breaks_off = text.trim_end_matches(['+', '-']);
    if breaks_off.ends_with(['e', 'E']) && is_strict(&breaks_off[..breaks_off.len() - 1]) {
        return (NumberProblem::NoExponentDigits, None);
    }
    (NumberProblem::NotANumber, None)
}

fn from_radix(digits: &str) -> Option<u64> {
    let radix = match digits.get(..2)? {
        "0x" | "0X" => 16,
        "0o" | "0O" => 8,
        "0b" | "0B" => 2,
        _ => return None,
    };
    let rest = digits.get(2..)?;
    // `from_str_radix` would take a sign.
    if !rest.starts_with(|first: char| first.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(rest, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_integers_are_large() {
        for small in [
            "0",
            "-0",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
            "1.5",
            "1e400",
            "",
            "-",
            "x",
        ] {
            assert!(!is_large_integer(small), "{small}");
        }
        for large in [
            "18446744073709551616",
            "-9223372036854775809",
            &"9".repeat(400),
        ] {
            assert!(is_large_integer(large), "{large}");
        }
    }

    #[test]
    fn the_machine_form_is_the_narrowest() {
        assert_eq!(
            number_value("-9223372036854775808"),
            serde_json::json!(i64::MIN)
        );
        assert_eq!(
            number_value("18446744073709551615"),
            serde_json::json!(u64::MAX)
        );
        assert_eq!(
            number_value("18446744073709551616"),
            serde_json::json!("18446744073709551616")
        );
        assert_eq!(
            number_value("1e20"),
            serde_json::json!(100_000_000_000_000_000_000.0_f64)
        );
        assert_eq!(number_value("-0").to_string(), "-0.0");
        assert_eq!(number_value("1e400"), serde_json::Value::Null);
    }

    #[test]
    fn the_strict_grammar_ends_where_it_must() {
        let end = |text: &str| strict_end(text.as_bytes(), 0);
        assert_eq!(end("-12.50e+3,"), Some(9));
        assert_eq!(end("012"), Some(1));
        assert_eq!(
            (
                end("1."),
                end("1.e3"),
                end("1e"),
                end("1e+"),
                end("-"),
                end(".5")
            ),
            (None, None, None, None, None, None)
        );
    }

    #[test]
    fn problems_come_with_the_number_that_was_meant() {
        use NumberProblem::*;
        for (text, problem, instead) in [
            ("+1", LeadingPlus, Some("1")),
            ("012", LeadingZero, Some("12")),
            ("-007.5", LeadingZero, Some("-7.5")),
            ("00", LeadingZero, Some("0")),
            ("00.5", LeadingZero, Some("0.5")),
            (".5", NoDigitBeforePoint, Some("0.5")),
            ("-.5", NoDigitBeforePoint, Some("-0.5")),
            ("5.", NoDigitAfterPoint, Some("5.0")),
            ("5.e3", NoDigitAfterPoint, Some("5.0e3")),
            ("0x1F", OtherBase, Some("31")),
            ("-0b101", OtherBase, Some("-5")),
            ("1_000", Separator, Some("1000")),
            ("1e", NoExponentDigits, None),
            ("1e+", NoExponentDigits, None),
            ("-", LoneMinus, None),
            ("1.2.3", NotANumber, None),
            ("2025-02-03", NotANumber, None),
            ("0x", NotANumber, None),
            ("0x+1", NotANumber, None),
            ("12px", NotANumber, None),
        ] {
            assert_eq!(
                diagnose(text),
                (problem, instead.map(str::to_owned)),
                "{text}"
            );
        }
    }
}
