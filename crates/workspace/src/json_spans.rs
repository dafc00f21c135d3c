//! Where the parts of a JSON text stand, so that one part can be replaced and all other bytes stay.
//!
//! The text must have passed [`validate`]; these walkers only skip over it, in constant memory and without
//! recursion, so that a file of millions of records needs no tree.

use std::ops::Range;

use cuecard_source::json::{self, JsonErrorKind, Limits};
use serde::de::IgnoredAny;

/// The largest text whose mistake is looked for by the reader that explains mistakes, in bytes: it builds
/// a tree.
const LARGEST_EXPLAINED: usize = 16 << 20;

/// Whether `text` is one JSON value.
///
/// # Errors
/// What is wrong with it, with line and column: a lowercase fragment.
pub(super) fn validate(text: &str) -> Result<(), String> {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(explained(text).unwrap_or_else(|| error.to_string())),
    }
}

/// The first mistake in the words of the reader of scenarios, if it finds the one that matters here: what
/// it refuses beyond the grammar is no reason to refuse a file that others wrote.
fn explained(text: &str) -> Option<String> {
    let limits = Limits {
        max_depth: Limits::DEEPEST,
        max_bytes: LARGEST_EXPLAINED,
        ..Limits::default()
    };
    let parsed = json::parse(text, &limits);
    let error = parsed.errors.iter().find(|error| {
        !matches!(
            error.kind,
            JsonErrorKind::DuplicateKey { .. } | JsonErrorKind::NumberOutOfRange { .. }
        )
    })?;
    if matches!(
        error.kind,
        JsonErrorKind::TooLarge { .. } | JsonErrorKind::TooDeep { .. }
    ) {
        return None;
    }
    let before = text.get(..error.span.start as usize)?;
    let line = before.matches('\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[line_start..].chars().count() + 1;
    Some(format!(
        "{} (line {line}, column {column})",
        error.message()
    ))
}

/// The span of the one value in `text`, without the white space around it.
pub(super) fn root(text: &str) -> Range<usize> {
    let start = skip_space(text.as_bytes(), 0);
    start..text.trim_end_matches(is_json_space).len()
}

/// The spans of an array's elements.
pub(super) fn elements(text: &str, array: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let bytes = &text.as_bytes()[..array.end];
    let mut position = array.start + 1;
    std::iter::from_fn(move || {
        position = skip_space(bytes, position);
        if matches!(bytes.get(position), None | Some(b']')) {
            return None;
        }
        let start = position;
        let end = skip_value(bytes, start);
        position = skip_separator(bytes, end);
        Some(start..end)
    })
}

/// The keys of an object with the spans of their values.
pub(super) fn members(
    text: &str,
    object: Range<usize>,
) -> impl Iterator<Item = (String, Range<usize>)> {
    let bytes = &text.as_bytes()[..object.end];
    let mut position = object.start + 1;
    std::iter::from_fn(move || {
        position = skip_space(bytes, position);
        if matches!(bytes.get(position), None | Some(b'}')) {
            return None;
        }
        let key_end = skip_value(bytes, position);
        // A key with half a surrogate pair has no value as a string; none that we look for has one.
        let key = serde_json::from_str(&text[position..key_end]).unwrap_or_default();
        let colon = skip_space(bytes, key_end);
        let start = skip_space(bytes, colon + 1);
        let end = skip_value(bytes, start);
        position = skip_separator(bytes, end);
        Some((key, start..end))
    })
}

/// The white space directly before `position`.
pub(super) fn space_before(text: &str, position: usize) -> &str {
    let before = &text[..position];
    &before[before.trim_end_matches(is_json_space).len()..]
}

fn is_json_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

fn skip_space(bytes: &[u8], mut position: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(position) {
        position += 1;
    }
    position
}

/// Behind the comma that follows a value, if there is one.
fn skip_separator(bytes: &[u8], end: usize) -> usize {
    let position = skip_space(bytes, end);
    match bytes.get(position) {
        Some(b',') => position + 1,
        _ => position,
    }
}

/// The end of the value that starts at `start`.
fn skip_value(bytes: &[u8], start: usize) -> usize {
    let mut position = start;
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(position) {
        match byte {
            b'"' => position = skip_string(bytes, position),
            b'[' | b'{' => {
                depth += 1;
                position += 1;
            }
            b']' | b'}' if depth == 0 => return position,
            b']' | b'}' => {
                depth -= 1;
                position += 1;
            }
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return position,
            _ => {
                position += 1;
                continue;
            }
        }
        // A string or a container has just ended.
        if depth == 0 {
            return position;
        }
    }
    position
}

fn skip_string(bytes: &[u8], start: usize) -> usize {
    let mut position = start + 1;
    while let Some(byte) = bytes.get(position) {
        position += match byte {
            b'"' => return position + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    bytes.len()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    /// Any JSON value of a few levels, with the strings that break things.
    pub(crate) fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
            any_text().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((any_text(), inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    /// Text full of separators, quotes, line ends, escapes and characters of several bytes.
    pub(crate) fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-c,\"\n\r\\\\ {}\\[\\]:é😀]{0,8}",
            "[a-z]{1,6}",
            any::<String>()
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn spans_are_those_of_the_parts(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty {
                format!(" {value:#}\n")
            } else {
                value.to_string()
            };
            validate(&text).unwrap();
            let root = root(&text);
            prop_assert_eq!(&serde_json::from_str::<Value>(&text[root.clone()]).unwrap(), &value);
            match &value {
                Value::Array(items) => {
                    let found: Vec<Value> = elements(&text, root)
                        .map(|span| serde_json::from_str(&text[span]).unwrap())
                        .collect();
                    prop_assert_eq!(&found, items);
                }
                Value::Object(expected) => {
                    let found: Map<String, Value> = members(&text, root)
                        .map(|(key, span)| (key, serde_json::from_str(&text[span]).unwrap()))
                        .collect();
                    prop_assert_eq!(&found, expected);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn mistakes_are_told_in_the_words_of_the_scenario_reader() {
        let problem = |text: &str| validate(text).unwrap_err();
        assert_eq!(
            problem("[1,\n {\"é\": 2 \"b\": 3}]"),
            "expected `,` (line 2, column 9)"
        );
        // A key that stands twice is no mistake here, so it must not hide the one that is.
        assert!(problem("{\"a\": 1, \"a\": 2").ends_with("(line 1, column 1)"));
        assert!(validate("{\"a\": 1, \"a\": 1e999}").is_ok());
        let deep = "[".repeat(10_000);
        assert!(
            problem(&deep).contains("never closed, nor are the 9999 brackets"),
            "{}",
            problem(&deep)
        );
    }

    #[test]
    fn depth_costs_no_stack() {
        let text = format!("[{}{}]", "[".repeat(1_000_000), "]".repeat(1_000_000));
        validate(&text).unwrap();
        assert_eq!(elements(&text, root(&text)).count(), 1);
    }
}
