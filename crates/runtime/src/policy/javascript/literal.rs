//! Data as JavaScript literals.

use cuecard_source::value::Json;

/// Text for the inside of a string in either kind of quotes.
pub(super) fn in_quotes(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\'' => escaped.push_str("\\'"),
            '"' => escaped.push_str("\\\""),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            // Line ends of JavaScript that JSON doesn't know as such, and what no one should see raw.
            '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            other => escaped.push(other),
        }
    }
    escaped
}

/// Text as a string literal.
pub(super) fn string(text: &str) -> String {
    format!("\"{}\"", in_quotes(text))
}

/// An expression in parentheses: the value if the text is JSON for anything but a string, else a string.
pub(super) fn expression(text: &str) -> String {
    if text.trim() != text || text.starts_with('"') {
        return format!("({})", string(text));
    }
    match serde_json::from_str::<Json>(text) {
        // In a literal this key would set the prototype.
        Ok(json) if has_proto(&json) => format!("(JSON.parse({}))", string(text)),
        // JSON is JavaScript, here in the digits that it came with.
        Ok(_) => format!(
            "({})",
            text.replace('\u{2028}', "\\u2028")
                .replace('\u{2029}', "\\u2029")
        ),
        Err(_) => format!("({})", string(text)),
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
