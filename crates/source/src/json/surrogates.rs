//! Halves of surrogate pairs in the JSON of peers.
//!
//! A program that cuts a text between the two halves of a character such as an emoji writes `"\ud83d"`. JSON allows
//! that, a text of Unicode can't hold it, and `serde_json` refuses the whole document.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::diagnostic::{Diagnostic, codes};

/// U+FFFD, as long as the escape that it replaces: every place in the text stays.
const REPLACEMENT: &[u8; ESCAPE] = br"\ufffd";

/// The length of `\ud83d`.
const ESCAPE: usize = 6;

/// Whether `json`, or JSON in one of its texts, may have a surrogate: most have no escape at all, which is quickly seen.
pub fn may_have_surrogates(json: &[u8]) -> bool {
    static ESCAPED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\\u[dD][89a-fA-F]").expect("a fixed pattern"));
    json.contains(&b'\\') && ESCAPED.is_match(json)
}

/// Returns `json` with U+FFFD for each half of a surrogate pair; borrowed if it has none.
pub fn without_lone_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    if !may_have_surrogates(json) {
        return Cow::Borrowed(json);
    }
    let mut replaced = Cow::Borrowed(json);
    let mut at = 0;
    while at < json.len() {
        at += match (json[at], code_unit(&json[at..])) {
            (b'\\', Some(0xD800..=0xDBFF))
                if matches!(code_unit(&json[at + ESCAPE..]), Some(0xDC00..=0xDFFF)) =>
            {
                2 * ESCAPE
            }
            (b'\\', Some(0xD800..=0xDFFF)) => {
                replaced.to_mut()[at..at + ESCAPE].copy_from_slice(REPLACEMENT);
                ESCAPE
            }
            // Another escape, of which a backslash may be the second part.
            (b'\\', _) => 2,
            _ => 1,
        };
    }
    replaced
}

/// Whether `json` has half of a surrogate pair.
pub fn has_lone_surrogate(json: &[u8]) -> bool {
    matches!(without_lone_surrogates(json), Cow::Owned(_))
}

/// The warning that `what` has half of a surrogate pair.
pub fn lone_surrogate(what: &str) -> Diagnostic {
    let message = format!("{what} contains half of a surrogate pair, which becomes U+FFFD");
    Diagnostic::warning(codes::JSON_SURROGATE, message)
        .with_help("the sender cuts a text inside of a character: it must cut between characters")
}

/// The code unit of an escape such as `\ud83d` that `json` begins with.
fn code_unit(json: &[u8]) -> Option<u32> {
    let digits = json.strip_prefix(br"\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| {
        Some(unit * 16 + char::from(*digit).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_is_replaced_and_nothing_else() {
        for (json, expected) in [
            (r#"["\ud83d"]"#, Some(r#"["\ufffd"]"#)),
            (r#"["\uDE00x"]"#, Some(r#"["\ufffdx"]"#)),
            (
                r#"["\ud83d\ud83d\ude00\u0041"]"#,
                Some(r#"["\ufffd\ud83d\ude00\u0041"]"#),
            ),
            (r#"["\ud83d\ude00"]"#, None),
            (r#"["\\ud83d"]"#, None),
            (r#"["\\\ud83d"]"#, Some(r#"["\\\ufffd"]"#)),
            (r#"["\ud8"#, None),
            ("plain", None),
        ] {
            let found = without_lone_surrogates(json.as_bytes());
            assert_eq!(&*found, expected.unwrap_or(json).as_bytes(), "{json}");
            assert_eq!(matches!(found, Cow::Owned(_)), expected.is_some(), "{json}");
        }
    }
}
