//! Data as JavaScript literals.

use cuecard_source::value::Json;

/// Text as a string literal.
pub(super) fn string(text: &str) -> String {
    let json = Json::from(text).to_string();
    json.chars().map(escaped).collect()
}

/// The value if the text is JSON for anything but a string, else a string.
pub(super) fn expression(text: &str) -> String {
    if text.trim() != text || text.starts_with('"') {
        return string(text);
    }
    match serde_json::from_str::<Json>(text) {
        // In a literal this key would set the prototype.
        Ok(json) if has_proto(&json) => format!("JSON.parse({})", string(text)),
        // JSON is JavaScript, here in the digits that it came with.
        Ok(_) => text.chars().map(escaped).collect(),
        Err(_) => string(text),
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
