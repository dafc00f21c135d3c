//! Data as JavaScript literals.

use cuecard_source::value::{Json, Piece};

/// Text as a string literal.
pub(super) fn string(text: &str) -> String {
    escaped(&Json::from(text).to_string())
}

/// Data as the value that it was filled in as.
pub(super) fn expression(data: &Piece) -> String {
    let text = data.text.as_str();
    // JSON is JavaScript, but in a literal the key `__proto__`, also with escapes in it, would set the prototype.
    let is_plain = || !text.contains("__proto__") && !text.contains('\\');
    match text {
        _ if data.is_string => string(text),
        "" => "null".to_owned(),
        _ if is_plain() && serde_json::from_str::<Json>(text).is_ok() => escaped(text),
        _ => format!("JSON.parse({})", string(text)),
    }
}

/// With escapes for line ends of JavaScript that JSON doesn't know as such, and what no one should see raw. Outside of
/// strings JSON has none of them.
fn escaped(json: &str) -> String {
    let escaped = json.chars().map(|letter| match letter {
        '\u{2028}' | '\u{2029}' | '\u{7f}'..='\u{9f}' => format!("\\u{:04x}", u32::from(letter)),
        letter => letter.into(),
    });
    escaped.collect()
}
