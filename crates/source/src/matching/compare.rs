//! Typed comparison, made for the idioms of scenarios: a number equals a numeric text, a boolean the texts
//! "true" and "false", null the empty text. Nothing else crosses types.

use std::cmp::Ordering;
use std::fmt;

use regex::Regex;

use super::Comparison;
use crate::value::{Json, as_text, cut, kind_name};

/// So many characters of a value are shown.
const MAX_SHOWN: usize = 300;

/// Why two values can't be compared as asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomparable(String);

impl fmt::Display for Incomparable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Incomparable {}

/// Whether `left` and `right` have the same members and elements, whose other values are equal by `is_equal`.
pub fn equal_by(left: &Json, right: &Json, is_equal: fn(&Json, &Json) -> bool) -> bool {
    match (left, right) {
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| equal_by(left, right, is_equal))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| {
                    let other = right.get(key);
                    other.is_some_and(|other| equal_by(value, other, is_equal))
                })
        }
        _ => is_equal(left, right),
    }
}

/// Whether `left` and `right` are the same JSON: `1` is `1.0`, and no text.
pub fn is_same_json(left: &Json, right: &Json) -> bool {
    equal_by(left, right, |left, right| match (left, right) {
        (Json::Number(_), Json::Number(_)) => equal(left, right),
        _ => left == right,
    })
}

/// What `actual` lacks of `expected`: the pointer to the first value that differs, and both values, cut; `None` if it lacks
/// nothing. Objects may have further members. Null expects nothing, and `false` may be missing.
pub fn lack(expected: &Json, actual: &Json) -> Option<String> {
    fn at(path: &str, expected: &Json, actual: &Json) -> Option<String> {
        match (expected, actual) {
            (Json::Object(wanted), Json::Object(found)) => {
                wanted.iter().find_map(|(key, wanted)| {
                    let path = format!("{path}/{key}");
                    at(&path, wanted, found.get(key).unwrap_or(&Json::Null))
                })
            }
            _ if is_same_json(expected, actual) => None,
            (Json::Bool(false), Json::Null) => None,
            _ => Some(format!(
                "`{path}`: expected {}, got {}",
                cut(&expected.to_string(), MAX_SHOWN),
                cut(&actual.to_string(), MAX_SHOWN)
            )),
        }
    }
    match expected {
        Json::Null => None,
        expected => at("", expected, actual),
    }
}

/// Whether `left` and `right` are equal.
pub fn equal(left: &Json, right: &Json) -> bool {
    equal_by(left, right, |left, right| match (left, right) {
        (Json::Number(_), Json::Number(_))
        | (Json::Number(_), Json::String(_))
        | (Json::String(_), Json::Number(_)) => {
            compare_numbers(left, right) == Some(Ordering::Equal)
        }
        (Json::Bool(flag), Json::String(text)) | (Json::String(text), Json::Bool(flag)) => {
            text.trim() == if *flag { "true" } else { "false" }
        }
        (Json::Null, Json::String(text)) | (Json::String(text), Json::Null) => text.is_empty(),
        _ => left == right,
    })
}

/// Whether a bare value counts as true: not null, false, 0, empty or the text "false". Blanks and line ends around a
/// text don't count: a command prints `false` with one.
pub fn is_true(json: &Json) -> bool {
    match json {
        Json::Null => false,
        Json::Bool(flag) => *flag,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !matches!(text.trim(), "" | "false"),
        Json::Array(items) => !items.is_empty(),
        Json::Object(members) => !members.is_empty(),
    }
}

/// Whether `left comparison right` holds. `regex` is the right side of `matches` if it was compiled before.
///
/// # Errors
/// When the two can't be compared so: texts with numbers by `<`, anything with a broken expression.
pub fn compare(
    left: &Json,
    comparison: Comparison,
    right: &Json,
    regex: Option<&Regex>,
) -> Result<bool, Incomparable> {
    Ok(match comparison {
        Comparison::Equal => equal(left, right),
        Comparison::NotEqual => !equal(left, right),
        Comparison::Less => order(left, right)? == Ordering::Less,
        Comparison::LessOrEqual => order(left, right)? != Ordering::Greater,
        Comparison::Greater => order(left, right)? == Ordering::Greater,
        Comparison::GreaterOrEqual => order(left, right)? != Ordering::Less,
        Comparison::Contains => contains(left, right),
        Comparison::Matches => match regex {
            Some(regex) => regex.is_match(&as_text(left)),
            None => {
                let pattern = as_text(right);
                Regex::new(&pattern)
                    .map_err(|error| {
                        Incomparable(format!(
                            "`{pattern}` is not a valid regular expression: {}",
                            super::regex_reason(&error)
                        ))
                    })?
                    .is_match(&as_text(left))
            }
        },
    })
}

/// Whether a text holds a part, an array an element, or an object a key.
pub(super) fn contains(whole: &Json, part: &Json) -> bool {
    match whole {
        // A text has no part that is null.
        _ if part.is_null() && !whole.is_array() => false,
        Json::Array(items) => items.iter().any(|item| equal(item, part)),
        Json::Object(members) => members.contains_key(as_text(part).as_ref()),
        Json::Null => false,
        _ => as_text(whole).contains(as_text(part).as_ref()),
    }
}

/// As [`contains`], each value with its type.
pub(super) fn contains_strictly(whole: &Json, part: &Json) -> bool {
    match (whole, part) {
        (Json::Array(items), part) => items.iter().any(|item| is_same_json(item, part)),
        (Json::Object(members), Json::String(key)) => members.contains_key(key),
        (Json::String(whole), Json::String(part)) => whole.contains(part.as_str()),
        _ => false,
    }
}

fn order(left: &Json, right: &Json) -> Result<Ordering, Incomparable> {
    compare_numbers(left, right)
        .or_else(|| match (left, right) {
            (Json::String(left), Json::String(right)) => Some(left.cmp(right)),
            _ => None,
        })
        .ok_or_else(|| {
            Incomparable(format!(
                "{} and {} can't be ordered",
                described(left),
                described(right)
            ))
        })
}

fn described(json: &Json) -> String {
    match json {
        Json::Array(_) | Json::Object(_) | Json::Null => kind_name(json).to_owned(),
        _ => format!(
            "the {} `{}`",
            kind_name(json).trim_start_matches("a "),
            cut(&json.to_string(), 40)
        ),
    }
}

fn compare_numbers(left: &Json, right: &Json) -> Option<Ordering> {
    if let (Some(left), Some(right)) = (integer(left), integer(right)) {
        return Some(left.cmp(&right));
    }
    number(left)?.partial_cmp(&number(right)?)
}

fn integer(json: &Json) -> Option<i128> {
    match json {
        Json::Number(number) => number
            .as_i64()
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from))
            .or_else(|| whole(number.as_f64()?)),
        Json::String(_) => numeric(json)?.parse().ok(),
        _ => None,
    }
}

/// The integer that `number` is, so that it can be compared with one that no `f64` holds.
fn whole(number: f64) -> Option<i128> {
    // Every integer of an `f64` below this is one of an `i128`.
    let is_whole = number.fract() == 0.0 && number.abs() < 1e38;
    is_whole.then_some(number as i128)
}

fn number(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) => number.as_f64(),
        _ => numeric(json)?.parse().ok(),
    }
}

/// A text that may be a number, with blanks around it as commands print it. Rust would parse "inf" and "nan" too.
fn numeric(json: &Json) -> Option<&str> {
    let text = json.as_str()?.trim();
    let is_numeric = text
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    (is_numeric && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn holds(left: Json, comparison: Comparison, right: Json) -> bool {
        compare(&left, comparison, &right, None).expect("comparable")
    }

    #[test]
    fn idioms_of_scenarios_hold() {
        assert!(holds(json!(3), Comparison::Equal, json!("3")));
        assert!(holds(json!("3.0"), Comparison::Equal, json!(3)));
        assert!(holds(json!(1.0), Comparison::Equal, json!(1)));
        assert!(holds(json!(true), Comparison::Equal, json!("true")));
        assert!(holds(json!(null), Comparison::Equal, json!("")));
        assert!(holds(json!("x"), Comparison::NotEqual, json!("")));
        assert!(
            !holds(json!("01"), Comparison::Equal, json!("1")),
            "two texts are compared as texts"
        );
        assert!(!holds(json!(0), Comparison::Equal, json!("")));
        for (text, is_number) in [("7", true), ("       7\n", true), ("7 8", false)] {
            assert_eq!(
                holds(json!(7), Comparison::Equal, json!(text)),
                is_number,
                "{text:?}"
            );
        }
        assert!(!holds(json!(null), Comparison::Equal, json!(false)));
        assert!(!holds(json!([]), Comparison::Equal, json!("")));
        assert!(holds(
            json!({"a": 1, "b": [2]}),
            Comparison::Equal,
            json!({"b": [2.0], "a": 1})
        ));
    }

    #[test]
    fn order_is_numeric_where_both_are_numbers() {
        assert!(holds(json!("10"), Comparison::Greater, json!(9)));
        assert!(
            holds(json!("10"), Comparison::Greater, json!("9")),
            "numeric texts are ordered as numbers"
        );
        assert!(holds(json!("apple"), Comparison::Less, json!("banana")));
        assert!(holds(
            json!(9007199254740993_u64),
            Comparison::Greater,
            json!(9007199254740992_u64)
        ));
        let large = json!("18446744073709551617");
        for (number, is_equal) in [
            (json!("18446744073709551617"), true),
            (json!("18446744073709551999"), false),
            (json!(18_446_744_073_709_551_616.0_f64), false),
            (json!(1e300), false),
        ] {
            assert_eq!(
                holds(large.clone(), Comparison::Equal, number.clone()),
                is_equal,
                "{number}"
            );
        }
        let error = compare(&json!([1]), Comparison::Less, &json!(2), None).expect_err("no order");
        assert_eq!(
            error.to_string(),
            "an array and the number `2` can't be ordered"
        );
    }

    #[test]
    fn contains_and_matches_look_inside() {
        assert!(holds(json!("hello"), Comparison::Contains, json!("ell")));
        assert!(holds(json!([1, "2"]), Comparison::Contains, json!(2)));
        assert!(holds(json!({"a": 1}), Comparison::Contains, json!("a")));
        assert!(!holds(json!(null), Comparison::Contains, json!("")));
        assert!(!holds(json!("abc"), Comparison::Contains, json!(null)));
        assert!(holds(json!([null]), Comparison::Contains, json!(null)));
        assert!(holds(json!("v12"), Comparison::Matches, json!("^v\\d+$")));
        assert!(compare(&json!("x"), Comparison::Matches, &json!("("), None).is_err());
    }

    #[test]
    fn truth_of_bare_values() {
        for truth in [
            json!(true),
            json!(1),
            json!("0"),
            json!("x"),
            json!([0]),
            json!({"a": null}),
        ] {
            assert!(is_true(&truth), "{truth}");
        }
        for falsehood in [
            json!(null),
            json!(false),
            json!(0),
            json!(0.0),
            json!(""),
            json!("false"),
            json!("false\n"),
            json!(" \n"),
            json!([]),
            json!({}),
        ] {
            assert!(!is_true(&falsehood), "{falsehood}");
        }
    }

    #[test]
    fn a_lack_names_its_place() {
        let expected =
            json!({"fs": {"readTextFile": true, "writeTextFile": false}, "terminal": true});
        let actual = json!({"fs": {"readTextFile": true}, "terminal": false, "more": 1});
        assert_eq!(
            lack(&expected, &actual).as_deref(),
            Some("`/terminal`: expected true, got false")
        );
        assert_eq!(lack(&json!({"fs": {"readTextFile": true}}), &actual), None);
    }

    proptest! {
        #[test]
        fn equality_is_symmetric_and_reflexive_on_texts(left in ".{0,8}", right in ".{0,8}", number in any::<i32>()) {
            let (text, other) = (json!(left), json!(right));
            prop_assert!(equal(&text, &text));
            prop_assert_eq!(equal(&text, &other), equal(&other, &text));
            prop_assert!(equal(&json!(number), &json!(number.to_string())));
        }
    }
}
