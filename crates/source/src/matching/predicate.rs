//! One predicate on one value, with the reason when it does not hold.

use regex::Regex;

use super::compare::{contains, contains_strictly, equal, is_same_json};
use crate::value::{Json, as_text, cut, kind_name, pointer_steps};

/// What a value is asked.
#[derive(Debug, Clone, Copy)]
pub enum Predicate<'a> {
    /// To equal, as conditions compare.
    Equals(&'a Json),
    /// To equal, each value with its type: 5 is not "5".
    EqualsStrictly(&'a Json),
    /// To hold a text part, an element or a key.
    Contains(&'a Json),
    /// The same, each value with its type.
    ContainsStrictly(&'a Json),
    /// To match, as text.
    Matches(&'a Regex),
    /// To satisfy a JSON Schema.
    JsonSchema(&'a Json),
    /// To be a number of milliseconds not above this.
    MaxMilliseconds(f64),
}

impl Predicate<'_> {
    /// Its name in a scenario.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Equals(_) | Self::EqualsStrictly(_) => "equals",
            Self::Contains(_) | Self::ContainsStrictly(_) => "contains",
            Self::Matches(_) => "matches",
            Self::JsonSchema(_) => "json_schema",
            Self::MaxMilliseconds(_) => "max_ms",
        }
    }

    /// Where it does not hold and why; empty if it does. At most [`MOST_MISFITS`].
    pub fn misfits(&self, subject: &Json) -> Vec<Mismatch> {
        match self {
            Self::Equals(wanted) => differences(wanted, subject, equal),
            Self::EqualsStrictly(wanted) => differences(wanted, subject, is_same_json),
            Self::Contains(part) => lacks(part, subject, contains(subject, part)),
            Self::ContainsStrictly(part) => lacks(part, subject, contains_strictly(subject, part)),
            Self::Matches(regex) => {
                let text = as_text(subject);
                only((!regex.is_match(&text)).then(|| {
                    let hint = hint(&text, |whole| regex.is_match(whole));
                    format!(
                        "expected a match of /{regex}/, got {}{hint}",
                        shown(subject)
                    )
                }))
            }
            Self::JsonSchema(schema) => match schema_validator(schema) {
                Ok(validator) => validator
                    .iter_errors(subject)
                    .take(MOST_MISFITS)
                    .map(|error| Mismatch {
                        place: json_path(subject, error.instance_path().as_str()),
                        reason: cut(&error.to_string(), 300).into_owned(),
                    })
                    .collect(),
                Err(error) => only(Some(format!("invalid schema: {error}"))),
            },
            Self::MaxMilliseconds(limit) => only(match subject.as_f64() {
                Some(took) if took <= *limit => None,
                Some(took) => Some(format!(
                    "expected {limit} ms at most, took {} ms",
                    rounded(took, *limit)
                )),
                None => Some(format!("expected {limit} ms at most, took {subject}")),
            }),
        }
    }
}

/// Whether every value fits a schema: it has notes at the most.
pub fn takes_all(schema: &Json) -> bool {
    let notes = [
        "$schema",
        "$id",
        "$comment",
        "title",
        "description",
        "default",
        "examples",
    ];
    match schema {
        Json::Object(members) => members.keys().all(|key| notes.contains(&key.as_str())),
        schema => *schema == Json::Bool(true),
    }
}

/// What looks whether values satisfy a JSON Schema; `format` counts.
///
/// # Errors
/// Why it is no schema.
pub fn schema_validator(
    schema: &Json,
) -> Result<jsonschema::Validator, jsonschema::ValidationError<'static>> {
    jsonschema::options()
        .should_validate_formats(true)
        .build(schema)
}

/// One place where a value is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The way from the value that was looked at, as a JSONPath without its `$`; empty for that value itself.
    pub place: String,
    /// What was expected and what was there.
    pub reason: String,
}

/// So many misfits of one predicate are told.
pub const MOST_MISFITS: usize = 5;

fn only(reason: Option<String>) -> Vec<Mismatch> {
    let at_root = |reason| Mismatch {
        place: String::new(),
        reason,
    };
    reason.map(at_root).into_iter().collect()
}

fn lacks(part: &Json, subject: &Json, is_there: bool) -> Vec<Mismatch> {
    only((!is_there).then(|| {
        format!(
            "expected something that contains {}, got {}",
            shown(part),
            shown(subject)
        )
    }))
}

/// Where two values differ: the smallest parts that do, and the keys that only one has.
fn differences(wanted: &Json, got: &Json, is_equal: fn(&Json, &Json) -> bool) -> Vec<Mismatch> {
    let mut found = Vec::new();
    compare_parts(wanted, got, is_equal, &mut String::new(), &mut found);
    found
}

/// What is said if nothing but the line end is in the way, which outputs of commands have.
fn hint(text: &str, would_hold: impl Fn(&str) -> bool) -> &'static str {
    let without = text.trim_end_matches(['\r', '\n']);
    match without.len() < text.len() && would_hold(without) {
        true => ": the line end is what differs",
        false => "",
    }
}

fn compare_parts(
    wanted: &Json,
    got: &Json,
    is_equal: fn(&Json, &Json) -> bool,
    place: &mut String,
    found: &mut Vec<Mismatch>,
) {
    if found.len() >= MOST_MISFITS || is_equal(got, wanted) {
        return;
    }
    let length = place.len();
    let reason = match (wanted, got) {
        (Json::Object(wanted), Json::Object(got)) => {
            for (key, wanted) in wanted {
                if let Some(got) = got.get(key) {
                    push_key(place, key);
                    compare_parts(wanted, got, is_equal, place, found);
                    place.truncate(length);
                }
            }
            let missing = names(
                wanted.keys().filter(|key| !got.contains_key(*key)),
                ["is", "are"],
            );
            let extra = names(
                got.keys().filter(|key| !wanted.contains_key(*key)),
                ["was", "were"],
            );
            match (missing, extra) {
                (None, None) => return,
                (Some(missing), None) => format!("{missing} missing"),
                (None, Some(extra)) => format!("{extra} unexpected"),
                (Some(missing), Some(extra)) => {
                    format!("{missing} missing, and {extra} unexpected")
                }
            }
        }
        (Json::Array(wanted), Json::Array(got)) => {
            for (index, (wanted, got)) in wanted.iter().zip(got).enumerate() {
                place.push_str(&format!("[{index}]"));
                compare_parts(wanted, got, is_equal, place, found);
                place.truncate(length);
            }
            if wanted.len() == got.len() {
                return;
            }
            let elements = |count: usize| match count {
                0 => "no elements".to_owned(),
                1 => "1 element".to_owned(),
                count => format!("{count} elements"),
            };
            format!(
                "expected {}, got {}",
                elements(wanted.len()),
                elements(got.len())
            )
        }
        _ => {
            let text = got.as_str().unwrap_or_default();
            let hint = hint(text, |whole| is_equal(&whole.into(), wanted));
            format!("expected {}, got {}{hint}", shown(wanted), shown(got))
        }
    };
    if found.len() < MOST_MISFITS {
        found.push(Mismatch {
            place: place.clone(),
            reason,
        });
    }
}

fn shown(json: &Json) -> String {
    let text = json.to_string();
    match json {
        Json::Array(_) | Json::Object(_) if text.len() > 200 => {
            format!("{} {}", kind_name(json), cut(&text, 200))
        }
        _ => cut(&text, 200).into_owned(),
    }
}

/// A JSON pointer into `subject` as a JSONPath without its `$`.
pub fn json_path(subject: &Json, pointer: &str) -> String {
    let mut place = String::new();
    let mut at = Some(subject);
    for key in pointer_steps(pointer) {
        match at {
            Some(Json::Array(items)) => {
                place.push_str(&format!("[{key}]"));
                at = key.parse().ok().and_then(|index: usize| items.get(index));
            }
            other => {
                push_key(&mut place, &key);
                at = other.and_then(|json| json.get(&key));
            }
        }
    }
    place
}

/// Adds the step to the member `key` to a JSONPath.
pub fn push_key(path: &mut String, key: &str) {
    let is_plain = key
        .chars()
        .all(|character| character.is_alphanumeric() || character == '_')
        && key.starts_with(|first: char| first.is_alphabetic() || first == '_');
    if is_plain {
        path.push('.');
        path.push_str(key);
    } else {
        let quoted = Json::from(key).to_string().replace("\\\"", "\"");
        let inner = &quoted[1..quoted.len() - 1];
        path.push_str(&format!("['{}']", inner.replace('\'', "\\'")));
    }
}

/// ``the key `a` is``, ``the keys `a`, `b` are``, with the verb for one or many; `None` without a key.
fn names<'a>(keys: impl Iterator<Item = &'a String>, verb: [&str; 2]) -> Option<String> {
    const SHOWN: usize = 8;
    let mut listed = Vec::new();
    let mut count = 0;
    for key in keys {
        count += 1;
        if count <= SHOWN {
            listed.push(format!("`{}`", cut(key, 60)));
        }
    }
    let listed = listed.join(", ");
    let [one, many] = verb;
    match count {
        0 => None,
        1 => Some(format!("the key {listed} {one}")),
        count if count > SHOWN => Some(format!(
            "the keys {listed} and {} more {many}",
            count - SHOWN
        )),
        _ => Some(format!("the keys {listed} {many}")),
    }
}

/// To the millisecond where that is exact enough to be above the limit, since nobody can act on more.
fn rounded(took: f64, limit: f64) -> f64 {
    let whole = took.round();
    if took >= 10.0 && whole > limit {
        whole
    } else {
        took
    }
}

/// The reason of a regular expression's error, without the drawing below it.
pub fn regex_reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let reason = text.lines().last().unwrap_or_default();
    reason.trim().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_end_that_alone_differs_is_named() {
        let regex = Regex::new("^Running$").expect("a pattern");
        let wanted = Json::from("Running");
        for predicate in [Predicate::Matches(&regex), Predicate::Equals(&wanted)] {
            for (text, is_named) in [
                ("Running\n", true),
                ("Running\r\n", true),
                ("Runnin\n", false),
            ] {
                let misfits = predicate.misfits(&text.into());
                let reason = &misfits[0].reason;
                assert_eq!(
                    reason.ends_with(": the line end is what differs"),
                    is_named,
                    "{reason}"
                );
            }
        }
    }

    #[test]
    fn failures_say_what_was_expected_and_what_was_there() {
        let told = |predicate: Predicate<'_>, subject: Json| -> Vec<String> {
            predicate
                .misfits(&subject)
                .into_iter()
                .map(|misfit| format!("{}: {}", misfit.place, misfit.reason))
                .collect()
        };
        assert!(told(Predicate::Equals(&json!(3)), json!("3")).is_empty());
        assert_eq!(
            told(Predicate::Equals(&json!(3)), json!("x")),
            [": expected 3, got \"x\""]
        );
        assert_eq!(
            told(
                Predicate::EqualsStrictly(&json!({"n": 5})),
                json!({"n": "5"})
            ),
            [".n: expected 5, got \"5\""]
        );
        assert!(told(Predicate::EqualsStrictly(&json!([1, 5])), json!([1.0, 5])).is_empty());
        assert!(told(Predicate::Contains(&json!("b")), json!("abc")).is_empty());
        assert!(told(Predicate::ContainsStrictly(&json!("b")), json!("abc")).is_empty());
        assert!(told(Predicate::ContainsStrictly(&json!(5)), json!([1, 5])).is_empty());
        for (part, whole) in [
            (json!(5), json!(["5"])),
            (json!("1"), json!(12)),
            (json!(1), json!("12")),
            (json!(1), json!({"1": 0})),
        ] {
            assert!(!told(Predicate::ContainsStrictly(&part), whole.clone()).is_empty());
            assert!(told(Predicate::Contains(&part), whole).is_empty());
        }
        let regex = Regex::new("^a").expect("valid");
        assert_eq!(
            told(Predicate::Matches(&regex), json!("ba")),
            [": expected a match of /^a/, got \"ba\""]
        );
        let schema = json!({"type": "object", "required": ["id"], "additionalProperties": {"type": "integer"}});
        assert!(told(Predicate::JsonSchema(&schema), json!({"id": 1})).is_empty());
        let broken = told(
            Predicate::JsonSchema(&schema),
            json!({"a~/b": "x", "c": "y"}),
        );
        assert_eq!(broken.len(), 3, "{broken:?}");
        assert!(
            broken
                .iter()
                .any(|text| text.starts_with("['a~/b']: \"x\" is not of type"))
        );
    }

    #[test]
    fn a_difference_deep_inside_is_named_by_its_place() {
        let told = |wanted: Json, got: Json| -> Vec<(String, String)> {
            Predicate::Equals(&wanted)
                .misfits(&got)
                .into_iter()
                .map(|misfit| (misfit.place, misfit.reason))
                .collect()
        };
        let one = |place: &str, reason: &str| vec![(place.to_owned(), reason.to_owned())];
        assert_eq!(
            told(json!({"b": {"c": [1, 3]}}), json!({"b": {"c": [1, 2]}})),
            one(".b.c[1]", "expected 3, got 2")
        );
        assert_eq!(
            told(json!({"a b": {"n": 1}}), json!({"a b": {"n": 1, "x": 2}})),
            one("['a b']", "the key `x` was unexpected")
        );
        assert_eq!(
            told(json!({"a": 1, "b": 2, "c": 3}), json!({"c": 3, "d": 4})),
            one(
                "",
                "the keys `a`, `b` are missing, and the key `d` was unexpected"
            )
        );
        assert_eq!(
            told(json!([1, 2]), json!([1])),
            one("", "expected 2 elements, got 1 element")
        );
        assert_eq!(told(json!([{"a": "1"}]), json!([{"a": 1}])), []);
        let many: Vec<Json> = (0..100).map(Json::from).collect();
        let other: Vec<Json> = (1..101).map(Json::from).collect();
        assert_eq!(told(many.into(), other.into()).len(), MOST_MISFITS);
    }

    #[test]
    fn a_time_is_rounded_unless_that_hides_the_excess() {
        let told = |limit: f64, took: f64| {
            Predicate::MaxMilliseconds(limit)
                .misfits(&json!(took))
                .pop()
                .map(|misfit| misfit.reason)
        };
        assert_eq!(told(5.0, 5.0), None);
        assert_eq!(
            told(5.0, 227.006).as_deref(),
            Some("expected 5 ms at most, took 227 ms")
        );
        assert_eq!(
            told(227.0, 227.006).as_deref(),
            Some("expected 227 ms at most, took 227.006 ms")
        );
        assert_eq!(
            told(5.0, 6.25).as_deref(),
            Some("expected 5 ms at most, took 6.25 ms")
        );
    }

    #[test]
    fn a_regex_reason_is_one_line() {
        let broken = String::from("a(");
        let error = Regex::new(&broken).expect_err("broken");
        assert_eq!(regex_reason(&error), "unclosed group");
    }
}
