//! One predicate on one value, with the reason when it does not hold.

use regex::Regex;

use super::compare::{contains, equal};
use crate::value::{Json, as_text, cut, kind_name};

/// What a value is asked.
#[derive(Debug, Clone, Copy)]
pub enum Predicate<'a> {
    /// To equal, as conditions compare.
    Equals(&'a Json),
    /// To hold a text part, an element or a key.
    Contains(&'a Json),
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
            Self::Equals(_) => "equals",
            Self::Contains(_) => "contains",
            Self::Matches(_) => "matches",
            Self::JsonSchema(_) => "json_schema",
            Self::MaxMilliseconds(_) => "max_ms",
        }
    }

    /// `None` if it holds; else what was expected and what was there.
    pub fn failure(&self, subject: &Json) -> Option<String> {
        match self {
            Self::Equals(wanted) => (!equal(subject, wanted))
                .then(|| format!("expected {}, got {}", shown(wanted), shown(subject))),
            Self::Contains(part) => (!contains(subject, part)).then(|| {
                format!(
                    "expected something that contains {}, got {}",
                    shown(part),
                    shown(subject)
                )
            }),
            Self::Matches(regex) => (!regex.is_match(&as_text(subject)))
                .then(|| format!("expected a match of /{regex}/, got {}", shown(subject))),
            Self::JsonSchema(schema) => match jsonschema::validator_for(schema) {
                Ok(validator) => validator.iter_errors(subject).next().map(|error| {
                    let place = error.instance_path().to_string();
                    let place = if place.is_empty() {
                        "it".to_owned()
                    } else {
                        format!("`{place}`")
                    };
                    format!("{place} does not fit the schema: {error}")
                }),
                Err(error) => Some(format!("the schema can't be used: {error}")),
            },
            Self::MaxMilliseconds(limit) => match subject.as_f64() {
                Some(took) if took <= *limit => None,
                _ => Some(format!("expected {limit} ms at most, took {subject} ms")),
            },
        }
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
    fn failures_say_what_was_expected_and_what_was_there() {
        assert_eq!(Predicate::Equals(&json!(3)).failure(&json!("3")), None);
        assert_eq!(
            Predicate::Equals(&json!(3)).failure(&json!("x")).as_deref(),
            Some("expected 3, got \"x\"")
        );
        assert!(
            Predicate::Contains(&json!("b"))
                .failure(&json!("abc"))
                .is_none()
        );
        let regex = Regex::new("^a").expect("valid");
        assert!(
            Predicate::Matches(&regex)
                .failure(&json!("ba"))
                .is_some_and(|text| text.contains("/^a/"))
        );
        let schema = json!({"type": "object", "required": ["id"]});
        assert!(
            Predicate::JsonSchema(&schema)
                .failure(&json!({"id": 1}))
                .is_none()
        );
        assert!(
            Predicate::JsonSchema(&schema)
                .failure(&json!({}))
                .is_some_and(|text| text.contains("id"))
        );
        assert!(Predicate::MaxMilliseconds(5.0).failure(&json!(6)).is_some());
    }

    #[test]
    fn a_regex_reason_is_one_line() {
        let broken = String::from("a(");
        let error = Regex::new(&broken).expect_err("broken");
        assert_eq!(regex_reason(&error), "unclosed group");
    }
}
