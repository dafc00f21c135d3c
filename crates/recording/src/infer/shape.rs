//! What later steps need of a result, and what else was there.

use serde_json::{Value, json};

use super::values::{Source, Weight, weight};

/// The check that a result has what an output takes.
pub(super) fn check(source: &Source, result: &Value) -> Option<Value> {
    let path = source.path.to_string();
    if let Some(regex) = &source.regex {
        return Some(matches(&path, regex));
    }
    let schema = match source.path.get(result)? {
        Value::String(_) => json!({ "type": "string", "minLength": 1 }),
        Value::Number(number) if number.is_f64() => json!({ "type": "number" }),
        Value::Number(_) => json!({ "type": "integer" }),
        Value::Array(_) => json!({ "type": "array", "minItems": 1 }),
        Value::Object(_) => json!({ "type": "object", "minProperties": 1 }),
        _ => return None,
    };
    Some(match path.as_str() {
        "$" => json!({ "json_schema": schema }),
        path => json!({ "json_path": path, "json_schema": schema }),
    })
}

/// The check that a regular expression matches the text at a path.
pub(super) fn matches(path: &str, regex: &str) -> Value {
    match path {
        "$" => json!({ "matches": regex }),
        path => json!({ "json_path": path, "matches": regex }),
    }
}

/// So many checks are proposed for a step.
const MOST: usize = 3;

/// Checks on counts and values that hold for a result, and for that of the second recording.
pub(super) fn proposals(result: &Value, second: Option<&Value>) -> Vec<Value> {
    let Value::Object(members) = result else {
        return Vec::new();
    };
    let of_member = |(key, value): (&String, &Value)| {
        let is_plain = key
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let other = second.map(|second| second.get(key).unwrap_or(&Value::Null));
        let path = format!("$.{key}");
        let count = |items: &Value| items.as_array().map(Vec::len);
        match value {
            _ if !is_plain || key.is_empty() => None,
            Value::Array(items) if other.is_none_or(|other| count(other) == Some(items.len())) => {
                let schema = json!({ "minItems": items.len(), "maxItems": items.len() });
                Some(json!({ "json_path": path, "json_schema": schema }))
            }
            Value::Bool(_) | Value::String(_)
                if weight(value) <= Weight::Weak
                    && value != ""
                    && other.is_none_or(|other| other == value) =>
            {
                Some(json!({ "json_path": path, "equals": value }))
            }
            _ => None,
        }
    };
    members.iter().filter_map(of_member).take(MOST).collect()
}
