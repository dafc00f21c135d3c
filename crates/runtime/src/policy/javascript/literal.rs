//! Data as JavaScript literals.

use cuecard_source::value::{Json, Piece};

/// Text as a string literal.
pub(super) fn string(text: &str) -> String {
    let json = Json::from(text).to_string();
    json.chars().map(escaped).collect()
}

/// Data as the value that it was filled in as.
pub(super) fn expression(data: &Piece) -> String {
    let text = data.text.as_str();
    if data.is_string {
        return string(text);
    }
    if text.is_empty() {
        return "null".to_owned();
    }
    match serde_json::from_str::<Json>(text) {
        // JSON is JavaScript, but in a literal the key `__proto__` would set the prototype.
        Ok(json) if !has_proto(&json) => text.chars().map(escaped).collect(),
        _ => format!("JSON.parse({})", string(text)),
    }
}

/// Line ends of JavaScript that JSON doesn't know as such, and what no one should see raw. Outside of strings JSON has
/// none of them.
fn escaped(character: char) -> String {
    match character {
        '\u{2028}' | '\u{2029}' | '\u{7f}'..='\u{9f}' => format!("\\u{:04x}", u32::from(character)),
        other => other.to_string(),
    }
}

/// No deeper than the JSON reader, which has a bound.
fn has_proto(json: &Json) -> bool {
    match json {
        Json::Array(items) => items.iter().any(has_proto),
        Json::Object(members) => members
            .iter()
            .any(|(key, value)| key == "__proto__" || has_proto(value)),
        _ => false,
    }
}
