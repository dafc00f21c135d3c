//! JSON whose places nobody asks for.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::number::rounded;
use super::{has_lone_surrogate, is_large_integer, lone_surrogate, without_lone_surrogates};
use crate::diagnostic::{Diagnostic, codes};
use crate::value::{Json, cut};

/// The JSON that `json` is, text or bytes, by the rules of [`super::Node::to_value`]: an integer that needs more than 64 bits becomes the
/// text of its digits. Half of a surrogate pair becomes U+FFFD.
///
/// # Errors
/// If it is no JSON.
pub fn read_value<T: AsRef<[u8]> + ?Sized>(json: &T) -> serde_json::Result<Json> {
    let whole = with_texts(without_lone_surrogates(json.as_ref()), is_large_integer);
    // What is known to be UTF-8 as a whole need not be looked at text by text.
    match std::str::from_utf8(&whole) {
        Ok(whole) => serde_json::from_str(whole),
        Err(_) => serde_json::from_slice(&whole),
    }
}

/// The JSON with each number as the text that it is.
///
/// # Errors
/// If it is no JSON.
pub fn read_numbers_as_texts(json: &str) -> serde_json::Result<Json> {
    serde_json::from_slice(&with_texts(json.as_bytes().into(), |_| true))
}

/// The same JSON with the numbers that are meant as texts; what is no JSON as it is.
fn with_texts(json: Cow<'_, [u8]>, is_meant: fn(&str) -> bool) -> Cow<'_, [u8]> {
    let mut found = Vec::new();
    numbers(&json, |number, _, at| {
        if is_meant(number) {
            found.push(at);
        }
    });
    if found.is_empty() || serde_json::from_slice::<IgnoredAny>(&json).is_err() {
        return json;
    }
    let mut whole = Vec::with_capacity(json.len() + 2 * found.len());
    let mut done = 0;
    for token in found {
        whole.extend_from_slice(&json[done..token.start]);
        whole.push(b'"');
        whole.extend_from_slice(&json[token.clone()]);
        whole.push(b'"');
        done = token.end;
    }
    whole.extend_from_slice(&json[done..]);
    Cow::Owned(whole)
}

/// Whether valid JSON has a number that [`read_value`] reads as another value: an integer that needs more than 64 bits, or
/// one that becomes another number.
pub fn has_inexact_number(json: &str) -> bool {
    let mut has_one = false;
    numbers(json.as_bytes(), |number, _, _| {
        has_one |= is_large_integer(number) || rounded(number).is_some();
    });
    has_one
}

/// What a peer sent as it can be held: half of a surrogate pair is U+FFFD, and an integer that needs more than 64 bits the
/// text of its digits. With the warnings of [`changes`].
pub fn mended<'a>(what: &str, json: &'a [u8]) -> (Cow<'a, [u8]>, Vec<Diagnostic>) {
    let whole = without_lone_surrogates(json);
    let found = warnings(what, json, matches!(whole, Cow::Owned(_)));
    (with_texts(whole, is_large_integer), found)
}

/// The warnings that `what` has half of a surrogate pair, and a number that becomes another one when it is read: the first
/// of each, which is `json`, valid or not.
pub fn changes(what: &str, json: &[u8]) -> Vec<Diagnostic> {
    warnings(what, json, has_lone_surrogate(json))
}

fn warnings(what: &str, json: &[u8], has_half: bool) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = has_half.then(|| lone_surrogate(what)).into_iter().collect();
    let mut is_rounded = false;
    numbers(json, |number, key, _| {
        if let (false, Some(read)) = (is_rounded, rounded(number)) {
            is_rounded = true;
            let key = key.and_then(|key| str::from_utf8(&json[key]).ok());
            let place = key.map(|key| format!(" in `{}`", cut(key, 50)));
            let message = format!(
                "{what} contains the number `{}`{}, which becomes `{}`",
                cut(number, 50),
                place.unwrap_or_default(),
                Json::from(read)
            );
            let help = "the sender must write a value whose digits matter as a string";
            found.push(Diagnostic::warning(codes::JSON_ROUNDED, message).with_help(help));
        }
    });
    found
}

/// Passes each number of valid JSON as it is written, with where the key before it stands, and where it does.
fn numbers<'a>(bytes: &'a [u8], mut pass: impl FnMut(&'a str, Option<Range<usize>>, Range<usize>)) {
    let (mut at, mut string, mut key) = (0, 0..0, None);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let start = at + 1;
                at = start;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = at.min(bytes.len());
                string = start..at;
                at += 1;
            }
            b':' => {
                key = Some(string.clone());
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                let length = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                if let Ok(number) = str::from_utf8(&bytes[at..at + length]) {
                    pass(number, key.clone(), at..at + length);
                }
                at += length;
            }
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_large_integer_is_the_text_of_its_digits() {
        for (text, expected) in [
            ("18446744073709551617", json!("18446744073709551617")),
            (
                r#"{"a": [-9223372036854775809, 1, 1e30], "1\"18446744073709551617": "\ud83d"}"#,
                json!({
                    "a": ["-9223372036854775809", 1, 1e30],
                    "1\"18446744073709551617": "\u{fffd}",
                }),
            ),
            ("18446744073709551615", json!(u64::MAX)),
        ] {
            assert_eq!(read_value(text).expect("JSON"), expected, "{text}");
        }
        assert!(read_value("18446744073709551617 1").is_err());
    }

    #[test]
    fn a_number_that_becomes_another_one_is_a_warning() {
        let json = r#"{"a\"": ["1e-400", 0.5], "small": [1e-400, 1e-400], "b": "\ud83d"}"#;
        let found = changes("it", json.as_bytes());
        let messages: Vec<&str> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "it contains half of a surrogate pair, which becomes U+FFFD",
                "it contains the number `1e-400` in `small`, which becomes `0.0`",
            ]
        );
        assert!(changes("it", b"[1e30, 0.1, 18446744073709551617, \"1e-400\"]").is_empty());
        assert!(changes("it", b"\"\\").is_empty());
    }
}
