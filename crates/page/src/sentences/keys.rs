//! Names of keys, and times.

use super::sentence::Token;

/// Keys by the names that people write, and the names that browsers know.
const KEYS: &[(&str, &str)] = &[
    ("enter", "Enter"),
    ("return", "Enter"),
    ("tab", "Tab"),
    ("escape", "Escape"),
    ("esc", "Escape"),
    ("space", "Space"),
    ("spacebar", "Space"),
    ("backspace", "Backspace"),
    ("delete", "Delete"),
    ("insert", "Insert"),
    ("home", "Home"),
    ("end", "End"),
    ("pageup", "PageUp"),
    ("pagedown", "PageDown"),
    ("arrowup", "ArrowUp"),
    ("arrowdown", "ArrowDown"),
    ("arrowleft", "ArrowLeft"),
    ("arrowright", "ArrowRight"),
    ("up", "ArrowUp"),
    ("down", "ArrowDown"),
    ("left", "ArrowLeft"),
    ("right", "ArrowRight"),
];

/// Keys that are held while another is pressed.
const MODIFIERS: &[(&str, &str)] = &[
    ("control", "Control"),
    ("ctrl", "Control"),
    ("shift", "Shift"),
    ("alt", "Alt"),
    ("option", "Alt"),
    ("meta", "Meta"),
    ("command", "Meta"),
    ("cmd", "Meta"),
];

/// The longest wait, in milliseconds.
const LONGEST_WAIT: f64 = 600_000.0;

/// The key that words name: `Enter`, `Control+A`, `the Enter key`, `arrow down`.
pub(super) fn key(tokens: &[Token]) -> Option<String> {
    let words: Option<Vec<&str>> = tokens.iter().map(Token::as_str).collect();
    let mut words = words?;
    if words.len() > 1 && words.last()?.eq_ignore_ascii_case("key") {
        words.pop();
        if words.first()?.eq_ignore_ascii_case("the") {
            words.remove(0);
        }
    }
    let joined = match words.as_slice() {
        [one] => (*one).to_owned(),
        [first, second] if first.eq_ignore_ascii_case("arrow") => format!("arrow{second}"),
        [first, second] if first.eq_ignore_ascii_case("page") => format!("page{second}"),
        _ => return None,
    };
    let find = |known: &[(&str, &'static str)], word: &str| {
        known
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(word))
            .map(|(_, key)| *key)
    };
    if joined == "+" {
        return Some(joined);
    }
    let mut parts: Vec<&str> = joined.split('+').collect();
    let last = parts.pop()?;
    let held: Option<Vec<&str>> = parts.iter().map(|part| find(MODIFIERS, part)).collect();
    let held = held?;
    let is_function = last
        .strip_prefix(['F', 'f'])
        .and_then(|number| number.parse::<u8>().ok())
        .is_some_and(|number| (1..=12).contains(&number));
    let mut signs = last.chars();
    let last = match (signs.next(), signs.next()) {
        (Some(sign), None) => sign.to_string(),
        _ if is_function => last.to_ascii_uppercase(),
        _ => find(KEYS, last)?.to_owned(),
    };
    Some(
        held.into_iter()
            .chain([last.as_str()])
            .collect::<Vec<_>>()
            .join("+"),
    )
}

/// A time in milliseconds, if it is one that is waited.
pub(super) fn milliseconds(number: &str, unit: &str) -> Option<u64> {
    let number: f64 = number.parse().ok()?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "s" | "sec" | "second" | "seconds" => 1_000.0,
        "ms" | "millisecond" | "milliseconds" => 1.0,
        _ => return None,
    };
    let milliseconds = (number * factor).round();
    // In this range the conversion is exact.
    (milliseconds > 0.0 && milliseconds <= LONGEST_WAIT).then_some(milliseconds as u64)
}
