//! Whether values hold what is asked of them.

use super::fold::{composed, fold, plain};
use super::view::dotted;
use super::words::brief;
use cuecard_source::matching::{MOST_MISFITS, equal, equal_by, schema_validator};
use cuecard_source::value::{Json, as_text, cut, is_invisible};
use serde_json::Map;

/// Whether two values are equal. Nothing crosses types but a number, which equals the text it is written as: `"007"`,
/// `"1.10"` and `"+351"` are codes, versions and phones, and no numbers.
pub(super) fn equals(left: &Json, right: &Json) -> bool {
    equal_by(left, right, |left, right| match (left, right) {
        (Json::Number(number), Json::String(text)) | (Json::String(text), Json::Number(number)) => {
            let whole = number
                .as_f64()
                .filter(|whole| whole.fract() == 0.0 && whole.abs() < 1e15)
                .map(|whole| format!("{whole:.0}"));
            *text == number.to_string() || whole.is_some_and(|whole| *text == whole)
        }
        (Json::Number(_), Json::Number(_)) => equal(left, right),
        (Json::String(left), Json::String(right)) => composed(left) == composed(right),
        _ => left == right,
    })
}

/// Whether the dotted keys of `wanted` have these values in `args`.
pub(super) fn args_equal(wanted: &Map<String, Json>, args: &Json) -> bool {
    wanted
        .iter()
        .all(|(key, value)| dotted(args, key).is_some_and(|got| equals(got, value)))
}

/// Whether there is nothing in a text that anybody can see.
pub(crate) fn is_nothing(text: &str) -> bool {
    text.chars()
        .all(|sign| sign.is_whitespace() || is_invisible(sign))
}

/// Whether every text, list or object holds this.
pub(crate) fn is_in_all(part: &Json) -> bool {
    match part {
        Json::String(text) => is_nothing(text),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Whether `whole` holds `part`: a text a part of it, whatever its case unless that counts; a list the element,
/// or each of several; an object the key, or the keys with values that hold those given. Everything else is
/// equal.
pub(super) fn holds_part(whole: &Json, part: &Json, case_sensitive: bool) -> bool {
    match (whole, part) {
        (Json::String(whole), Json::String(part)) if case_sensitive => {
            plain(whole).contains(&*plain(part))
        }
        (Json::String(whole), Json::String(part)) => fold(whole).contains(&*fold(part)),
        (Json::Array(items), Json::Array(parts)) => parts.iter().all(|part| {
            items
                .iter()
                .any(|item| is_element(item, part, case_sensitive))
        }),
        (Json::Array(items), part) => items
            .iter()
            .any(|item| is_element(item, part, case_sensitive)),
        (Json::Object(members), Json::Object(parts)) => parts.iter().all(|(key, part)| {
            members
                .get(key)
                .is_some_and(|member| holds_part(member, part, case_sensitive))
        }),
        (Json::Object(members), Json::String(key)) => members.contains_key(key),
        (whole, part) => equals(whole, part),
    }
}

/// A text is an element as a whole; an object if it holds what is given.
fn is_element(item: &Json, part: &Json, case_sensitive: bool) -> bool {
    match (item, part) {
        (Json::String(item), Json::String(part)) if case_sensitive => plain(item) == plain(part),
        (Json::String(item), Json::String(part)) => fold(item) == fold(part),
        (Json::Object(_), Json::Object(_)) | (Json::Array(_), Json::Array(_)) => {
            holds_part(item, part, case_sensitive)
        }
        _ => equals(item, part),
    }
}

/// A compiled JSON Schema.
#[derive(Debug)]
pub(super) struct Schema(Result<jsonschema::Validator, String>);

impl Schema {
    pub(super) fn new(schema: &Json) -> Self {
        Self(schema_validator(schema).map_err(|error| error.to_string()))
    }

    /// Why `value` doesn't satisfy it; empty if it does.
    pub(super) fn misfits(&self, value: &Json) -> Vec<String> {
        match &self.0 {
            Ok(validator) => validator
                .iter_errors(value)
                .take(MOST_MISFITS)
                .map(|error| {
                    let reason = error.to_string();
                    let place = error.instance_path().to_string();
                    let reason = cut(&reason, 300);
                    if place.is_empty() {
                        reason.into_owned()
                    } else {
                        format!("at `{place}`: {reason}")
                    }
                })
                .collect(),
            Err(error) => vec![format!("invalid schema: {error}")],
        }
    }
}

/// Why `value` is no match of `regex`.
pub(super) fn mismatch(value: &Json, regex: &regex::Regex) -> Option<String> {
    (!regex.is_match(&as_text(value)))
        .then(|| format!("expected a match of /{regex}/, got {}", brief(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_number_equals_its_text() {
        for (left, right, expected) in [
            (json!(7), json!("7"), true),
            (json!(7.0), json!("7"), true),
            (json!(1.5), json!("1.5"), true),
            (json!(7), json!(7.0), true),
            (json!(-7), json!("-7"), true),
            (json!(7), json!("007"), false),
            (json!(1.1), json!("1.10"), false),
            (json!(351), json!("+351"), false),
            (json!(100), json!("1e2"), false),
            (json!(7), json!(" 7"), false),
            (
                json!(1_234_567_890_123_456_789_u64),
                json!("01234567890123456789"),
                false,
            ),
            (json!(null), json!(""), false),
            (json!(true), json!("true"), false),
            (json!({"a": [7]}), json!({"a": ["7"]}), true),
            (json!({"a": [7]}), json!({"a": ["07"]}), false),
        ] {
            assert_eq!(equals(&left, &right), expected, "{left} {right}");
            assert_eq!(equals(&right, &left), expected, "{right} {left}");
        }
    }

    #[test]
    fn case_counts_where_it_is_asked_for() {
        for (whole, part, expected) in [
            (json!("Latest AI news"), json!("AI"), true),
            (json!("Latest AI news"), json!("ai"), false),
            (json!(["Bc"]), json!("bc"), false),
            (json!(["Bc"]), json!(["Bc"]), true),
            (
                json!({"a": {"b": "Hello"}}),
                json!({"a": {"b": "hell"}}),
                false,
            ),
            (json!([{"b": "Hello"}]), json!({"b": "Hell"}), true),
        ] {
            assert_eq!(holds_part(&whole, &part, true), expected, "{whole} {part}");
        }
    }

    #[test]
    fn parts_are_texts_elements_and_members() {
        for (whole, part, expected) in [
            (json!("Latest AI news"), json!("ai NEWS"), true),
            (json!("Latest"), json!("earliest"), false),
            (json!(3), json!(3), true),
            (json!(3), json!("3"), true),
            (json!(30), json!(3), false),
            (json!(["a", "Bc"]), json!("bc"), true),
            (json!(["a", "bc"]), json!("b"), false),
            (json!(["a", "b", 3]), json!([3, "a"]), true),
            (json!(["a"]), json!(["a", "b"]), false),
            (json!([{"id": 1, "x": 2}]), json!({"id": 1}), true),
            (
                json!({"a": {"b": "Hello", "c": 1}}),
                json!({"a": {"b": "hell"}}),
                true,
            ),
            (json!({"a": 1}), json!({"a": 1, "b": 2}), false),
            (json!({"a": 1}), json!("a"), true),
            (json!(null), json!("a"), false),
            (json!(true), json!(true), true),
        ] {
            assert_eq!(holds_part(&whole, &part, false), expected, "{whole} {part}");
        }
    }

    #[test]
    fn a_schema_says_where_it_is_broken() {
        let schema = Schema::new(&json!({"properties": {"a": {"type": "integer"}}}));
        assert!(schema.misfits(&json!({"a": 1})).is_empty());
        assert_eq!(
            schema.misfits(&json!({"a": "x"})),
            ["at `/a`: \"x\" is not of type \"integer\""]
        );
        let broken = Schema::new(&json!({"type": 7})).misfits(&json!(1));
        assert!(broken[0].starts_with("invalid schema: "), "{broken:?}");
    }
}
