//! JSON whose places nobody asks for.

use std::ops::Range;

use super::{is_large_integer, without_lone_surrogates};
use crate::value::Json;

/// The JSON that `json` is, text or bytes, by the rules of [`super::Node::to_value`]: an integer that needs more than 64 bits becomes the
/// text of its digits. Half of a surrogate pair becomes U+FFFD.
///
/// # Errors
/// If it is no JSON.
pub fn read_value<T: AsRef<[u8]> + ?Sized>(json: &T) -> serde_json::Result<Json> {
    let whole = without_lone_surrogates(json.as_ref());
    // What is known to be UTF-8 as a whole need not be looked at text by text.
    let Ok(whole) = std::str::from_utf8(&whole) else {
        return serde_json::from_slice(&whole);
    };
    let value = serde_json::from_str(whole)?;
    let mut kept = String::new();
    let mut done = 0;
    for token in large_integers(whole) {
        kept.push_str(&whole[done..token.start]);
        kept.push_str(&format!("\"{}\"", &whole[token.clone()]));
        done = token.end;
    }
    match done {
        0 => Ok(value),
        _ => serde_json::from_str(&(kept + &whole[done..])),
    }
}

/// Whether valid JSON has an integer that needs more than 64 bits.
pub fn has_large_integer(json: &str) -> bool {
    !large_integers(json).is_empty()
}

/// Where valid JSON has integers that need more than 64 bits.
fn large_integers(json: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let bytes = json.as_bytes();
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
                if is_large_integer(&json[at..at + length]) {
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
