//! Marks in the place of secrets: `[redacted-4b1f9c22]`, or `[redacted-NAME]` if the user named it. Within one recording,
//! equal marks stand for equal secrets; a plain `[redacted]` tells nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::LazyLock;

use cuecard_source::value::{Json, REDACTED, as_text};
use regex::Regex;
use serde::{Deserialize, Serialize};

/// Finds a mark.
pub(crate) static MARK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[redacted(?:-[\w.-]+)?\]").expect("it is fixed"));

/// Returns `text` with all marks plain.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    MARK.replace_all(text, REDACTED)
}

/// The name that the user gave to the secret of a mark.
pub(crate) fn name_of(mark: &str) -> Option<&str> {
    let name = mark.strip_prefix("[redacted-")?.strip_suffix(']')?;
    let is_hash = name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    (!is_hash && MARK.find(mark)?.len() == mark.len()).then_some(name)
}

/// How secrets are marked.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Marks {
    /// What secrets are hashed with. Only who knows it can tell a secret by its hash.
    pub(crate) salt: u64,
    /// The names of those that the user named, by their values.
    pub(crate) names: BTreeMap<String, String>,
}

impl Marks {
    /// Gives each mark in `redacted` the name or the hash of the secret that stands there in `original`.
    pub(crate) fn number(&self, original: &Json, redacted: &mut Json) {
        match (original, redacted) {
            (Json::Array(items), Json::Array(redacted)) => {
                for (item, redacted) in items.iter().zip(redacted) {
                    self.number(item, redacted);
                }
            }
            (Json::Object(members), Json::Object(redacted)) => {
                for (member, redacted) in members.values().zip(redacted.values_mut()) {
                    self.number(member, redacted);
                }
            }
            (original, Json::String(redacted)) => {
                let original = as_text(original);
                if original != *redacted {
                    *redacted = numbered(&original, redacted, self);
                }
            }
            _ => {}
        }
    }

    fn mark(&self, secret: &str) -> String {
        if let Some(name) = self.names.get(secret) {
            return format!("[redacted-{name}]");
        }
        let mut hasher = DefaultHasher::new();
        (self.salt, secret).hash(&mut hasher);
        format!("[redacted-{:08x}]", hasher.finish() >> 32)
    }
}

fn numbered(original: &str, redacted: &str, marks: &Marks) -> String {
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
        text += &(marks.mark(&rest[..end]) + piece);
        rest = rest.get(end + piece.len()..).unwrap_or_default();
    }
    text
}
