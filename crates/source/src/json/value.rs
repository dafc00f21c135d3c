//! JSON whose places nobody asks for.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::{is_large_integer, without_lone_surrogates};
use crate::value::Json;

/// The JSON that `json` is, text or bytes, by the rules of [`super::Node::to_value`]: an integer that needs more than 64 bits becomes the
/// text of its digits. Half of a surrogate pair becomes U+FFFD.
///
/// # Errors
/// If it is no JSON.
pub fn read_value<T: AsRef<[u8]> + ?Sized>(json: &T) -> serde_json::Result<Json> {
    let whole = with_large_integers_as_text(without_lone_surrogates(json.as_ref()));
    // What is known to be UTF-8 as a whole need not be looked at text by text.
    match std::str::from_utf8(&whole) {
        Ok(whole) => serde_json::from_str(whole),
        Err(_) => serde_json::from_slice(&whole),
    }
}

/// The same JSON with each integer that needs more than 64 bits as the text of its digits; what is no JSON as it is.
pub fn with_large_integers_as_text(json: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let found = large_integers(&json);
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

/// Whether valid JSON has an integer that needs more than 64 bits.
pub fn has_large_integer(json: &str) -> bool {
    !large_integers(json.as_bytes()).is_empty()
}

/// Where valid JSON has integers that need more than 64 bits.
fn large_integers(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                let length = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                let number = str::from_utf8(&bytes[at..at + length]);
                if number.is_ok_and(is_large_integer) {
                    found.push(at..at + length);
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    found
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
}
