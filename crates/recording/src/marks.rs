//! Marks in the place of secrets: `[redacted-4b1f9c22]`. Within one recording, equal marks stand for equal secrets; a
//! plain `[redacted]` tells nothing.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::LazyLock;

use cuecard_source::value::{Json, REDACTED, as_text};
use regex::Regex;

/// Finds a mark.
pub(crate) static MARK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[redacted(?:-[0-9a-f]{8})?\]").expect("it is fixed"));

/// Returns `text` with all marks plain.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    MARK.replace_all(text, REDACTED)
}

/// Gives each mark in `redacted` the hash of the secret that stands there in `original`. Only who knows the salt can tell
/// a secret by it.
pub(crate) fn number(original: &Json, redacted: &mut Json, salt: u64) {
    match (original, redacted) {
        (Json::Array(items), Json::Array(redacted)) => {
            for (item, redacted) in items.iter().zip(redacted) {
                number(item, redacted, salt);
            }
        }
        (Json::Object(members), Json::Object(redacted)) => {
            for (member, redacted) in members.values().zip(redacted.values_mut()) {
                number(member, redacted, salt);
            }
        }
        (original, Json::String(redacted)) => {
            let original = as_text(original);
            if original != *redacted {
                *redacted = numbered(&original, redacted, salt);
            }
        }
        _ => {}
    }
}

fn numbered(original: &str, redacted: &str, salt: u64) -> String {
    let mut pieces = redacted.split(REDACTED);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    let mut rest = original.get(text.len()..).unwrap_or_default();
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        let end = match pieces.peek() {
            // Secrets without anything between them are one.
            Some(_) if piece.is_empty() => continue,
            Some(_) => rest.match_indices(piece).find(|(at, _)| *at > 0),
            None => rest.rmatch_indices(piece).next(),
        };
        let end = end.map_or(rest.len(), |(at, _)| at);
        let mut hasher = DefaultHasher::new();
        (salt, &rest[..end]).hash(&mut hasher);
        text += &format!("[redacted-{:08x}]{piece}", hasher.finish() >> 32);
        rest = rest.get(end + piece.len()..).unwrap_or_default();
    }
    text
}
