//! What plain scalars mean: the core schema of YAML 1.2, as far as JSON has it.

use std::sync::LazyLock;

use regex::Regex;

use super::Yaml11Type;
use crate::json::{NodeKind, is_out_of_range};

/// What a text without quotes is.
#[derive(Debug, PartialEq)]
pub(super) enum Plain {
    Value(NodeKind),
    /// Text that other readers take for something else.
    Doubtful(Yaml11Type),
    /// `.inf` or `.nan`, which no JSON has.
    NotFinite,
    OutOfRange,
}

pub(super) fn plain(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Value(NodeKind::Null),
        "true" | "True" | "TRUE" => return Plain::Value(NodeKind::Bool(true)),
        "false" | "False" | "FALSE" => return Plain::Value(NodeKind::Bool(false)),
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            return Plain::Doubtful(Yaml11Type::Boolean(true));
        }
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            return Plain::Doubtful(Yaml11Type::Boolean(false));
        }
        _ => {}
    }
    // Nothing else that is special begins with a letter, and most texts do.
    if text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        number(text)
    } else {
        string(text)
    }
}

fn string(text: &str) -> Plain {
    Plain::Value(NodeKind::String(text.to_owned()))
}

fn number(text: &str) -> Plain {
    let (sign, rest) = match text.as_bytes()[0] {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    if matches!(rest, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Plain::NotFinite;
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        let Some(digits) = rest.strip_prefix(prefix) else {
            continue;
        };
        if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
            return string(text);
        }
        // The core schema has no sign there, and no base 2.
        if radix == 2 || rest.len() != text.len() {
            return Plain::Doubtful(Yaml11Type::Number);
        }
        return match u64::from_str_radix(digits, radix) {
            Ok(number) => Plain::Value(NodeKind::Number(number.to_string())),
            Err(_) => Plain::OutOfRange,
        };
    }
    let Some((whole, fraction, exponent)) = parts(rest) else {
        let is_separated = rest.starts_with(|first: char| first.is_ascii_digit())
            && rest.contains('_')
            && parts(&rest.replace('_', "")).is_some();
        return match is_separated {
            true => Plain::Doubtful(Yaml11Type::Number),
            false => string(text),
        };
    };
    if whole.len() > 1 && whole.starts_with('0') {
        return Plain::Doubtful(Yaml11Type::Number);
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = match fraction {
        Some("") => ".0".to_owned(),
        Some(digits) => format!(".{digits}"),
        None => String::new(),
    };
    let json = format!("{sign}{whole}{fraction}{exponent}");
    match is_out_of_range(&json) {
        true => Plain::OutOfRange,
        false => Plain::Value(NodeKind::Number(json)),
    }
}

/// Whole part, fraction and exponent of a number without its sign.
fn parts(text: &str) -> Option<(&str, Option<&str>, &str)> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^([0-9]*)(?:\.([0-9]*))?((?:[eE][+-]?[0-9]+)?)$").expect("a fixed pattern")
    });
    let parts = NUMBER.captures(text)?;
    let part = |idx| parts.get(idx).map(|part| part.as_str());
    let (whole, fraction) = (part(1)?, part(2));
    let has_digit = !whole.is_empty() || fraction.is_some_and(|digits| !digits.is_empty());
    has_digit.then_some((whole, fraction, part(3)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_those_of_json() {
        for (text, json) in [
            ("0", "0"),
            ("-0", "-0"),
            ("+12", "12"),
            ("-12", "-12"),
            ("1.50", "1.50"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("5.", "5.0"),
            ("5.e3", "5.0e3"),
            ("1e5", "1e5"),
            ("1E+5", "1E+5"),
            ("0x1F", "31"),
            ("0o17", "15"),
        ] {
            assert_eq!(
                plain(text),
                Plain::Value(NodeKind::Number(json.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn what_only_looks_like_a_number_is_text() {
        for text in [
            ".",
            "-",
            "+",
            "..",
            "1.2.3",
            "12:30",
            "2025-02-03",
            "1e",
            "e5",
            "1e+",
            "0x",
            "0xg",
            "0b2",
            "+.",
            "12px",
            "_1",
            "--1",
            ".e5",
            "0X1F",
            "-x",
            "1_000_x",
        ] {
            assert_eq!(plain(text), string(text), "{text}");
        }
    }

    #[test]
    fn doubts_and_what_json_lacks_are_told_apart() {
        for text in [
            "012", "00", "-007", "1_000", "0b101", "-0x10", "+0o7", "01.5", "1_0.5",
        ] {
            assert_eq!(plain(text), Plain::Doubtful(Yaml11Type::Number), "{text}");
        }
        assert_eq!(plain("Yes"), Plain::Doubtful(Yaml11Type::Boolean(true)));
        assert_eq!(plain("off"), Plain::Doubtful(Yaml11Type::Boolean(false)));
        assert_eq!(plain("y"), string("y"));
        for text in [".inf", "-.inf", "+.INF", ".NaN"] {
            assert_eq!(plain(text), Plain::NotFinite, "{text}");
        }
        for text in ["1e400", "0xFFFFFFFFFFFFFFFFF"] {
            assert_eq!(plain(text), Plain::OutOfRange, "{text}");
        }
    }
}
