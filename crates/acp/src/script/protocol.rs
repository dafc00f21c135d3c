//! What the protocol demands of a client's requests and answers, as `protocol.json` has it. Does no I/O.

use std::sync::LazyLock;

use cuecard_source::value::{Json, cut};
use serde_json::json;

static SCHEMA: LazyLock<Json> =
    LazyLock::new(|| serde_json::from_str(include_str!("protocol.json")).unwrap_or_default());

/// Returns why the parameters of a request are none that the protocol has.
pub(crate) fn request_problem(method: &str, params: &Json) -> Option<String> {
    problem("requests", method, params)
}

/// Returns why the result of a request to a client is none that the protocol has.
pub(crate) fn answer_problem(method: &str, result: &Json) -> Option<String> {
    problem("answers", method, result)
}

fn problem(side: &str, method: &str, message: &Json) -> Option<String> {
    let demands = SCHEMA[side].get(method)?;
    if message.is_null() && demands["required"].is_null() {
        // SDKs send it for an object without members.
        return None;
    }
    let mut schema = SCHEMA.clone();
    schema["type"] = json!("object");
    schema["allOf"] = json!([demands]);
    let validator = jsonschema::validator_for(&schema).ok()?;
    let error = validator.validate(message).err()?;
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { "/" } else { &place };
    Some(format!("at `{place}`: {}", cut(&error.to_string(), 200)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_schema_is_one() {
        for side in ["requests", "answers"] {
            for method in SCHEMA[side].as_object().expect("methods").keys() {
                let problem = problem(side, method, &json!([]));
                let problem = problem.unwrap_or_else(|| panic!("{method} takes anything"));
                assert!(problem.contains("is not of type"), "{problem}");
            }
        }
        assert_eq!(answer_problem("terminal/release", &Json::Null), None);
    }
}
