//! Texts of JSON of which one part is replaced and all other bytes stay.

use cuecard_source::MistakeKind;
use cuecard_source::json::{self, Limits, Node};
use serde_json::value::RawValue;

/// The largest text whose mistake is looked for by the reader that explains mistakes, in bytes: it builds
/// a tree.
const LARGEST_EXPLAINED: usize = 16 << 20;

/// The elements of an array, each as it is written in `text`, in memory for their places only: a file may have millions of
/// records. `None` if it is JSON, but no array.
///
/// # Errors
/// What is wrong with the JSON, with line and column: a lowercase fragment.
pub(super) fn elements(text: &str) -> Result<Option<Vec<&str>>, String> {
    let wrong = |error: serde_json::Error| explained(text).unwrap_or_else(|| error.to_string());
    let value: &RawValue = serde_json::from_str(text).map_err(wrong)?;
    if !value.get().starts_with('[') {
        return Ok(None);
    }
    let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(wrong)?;
    Ok(Some(elements.into_iter().map(RawValue::get).collect()))
}

/// The place of `part`, which is a part of `text`.
pub(super) fn start_of(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// The tree of a JSON text, in which keys may stand twice; half of a surrogate pair is U+FFFD in it.
///
/// # Errors
/// As [`elements`].
pub(super) fn read(text: &str) -> Result<Node, String> {
    let limits = Limits {
        max_depth: Limits::DEEPEST,
        max_bytes: text.len(),
        max_errors: usize::MAX,
    };
    let why = || explained(text).unwrap_or_else(|| "it is nested too deeply".to_owned());
    // Of the same length, so that the places stay.
    let whole = json::without_lone_surrogates(text.as_bytes());
    let whole = str::from_utf8(&whole).unwrap_or(text);
    json::parse(whole, &limits).root.ok_or_else(why)
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
    let mut errors = parsed.errors.iter();
    let error = errors.find(|error| {
        let (key, number) = (MistakeKind::DuplicateKey, MistakeKind::NotJson);
        error.kind != key && error.kind != number
    })?;
    if matches!(error.kind, MistakeKind::TooLarge | MistakeKind::TooDeep) {
        return None;
    }
    let before = text.get(..error.span.start as usize)?;
    let line = before.matches('\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[line_start..].chars().count() + 1;
    Some(format!("{} (line {line}, column {column})", error.message))
}

/// The white space directly before `position`.
pub(super) fn space_before(text: &str, position: usize) -> &str {
    let before = &text[..position];
    &before[before.trim_ascii_end().len()..]
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
        fn elements_are_those_of_the_array(items in prop::collection::vec(any_json(), 0..4), pretty in any::<bool>()) {
            let value = Value::from(items.clone());
            let text = if pretty {
                format!(" {value:#}\n")
            } else {
                value.to_string()
            };
            let found = elements(&text).unwrap().unwrap();
            for (part, item) in found.iter().zip(&items) {
                let start = start_of(&text, part);
                prop_assert_eq!(&&text[start..start + part.len()], part);
                prop_assert_eq!(&serde_json::from_str::<Value>(part).unwrap(), item);
            }
            prop_assert_eq!(found.len(), items.len());
        }
    }

    #[test]
    fn mistakes_are_told_in_the_words_of_the_scenario_reader() {
        let problem = |text: &str| elements(text).unwrap_err();
        assert_eq!(
            problem("[1,\n {\"é\": 2 \"b\": 3}]"),
            "expected comma (line 2, column 9)"
        );
        // A key that stands twice is no mistake here, so it must not hide the one that is.
        assert!(problem("{\"a\": 1, \"a\": 2").ends_with("(line 1, column 1)"));
        assert!(elements("{\"a\": 1, \"a\": 1e999}").is_ok());
        assert!(read("{\"a\": 1, \"a\": 1e999}").is_ok());
        let deep = "[".repeat(10_000);
        assert!(
            problem(&deep).contains("EOF while parsing a list"),
            "{}",
            problem(&deep)
        );
    }

    #[test]
    fn depth_costs_no_stack() {
        let text = format!("[{}{}]", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(elements(&text).unwrap().unwrap().len(), 1);
    }
}
