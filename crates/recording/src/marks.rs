//! Marks in the place of secrets: `[redacted-4b1f9c22]`, or `[redacted-NAME]` if the user named it. Within one recording,
//! equal marks stand for equal secrets; a plain `[redacted]` tells nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::LazyLock;

use cuecard_source::value::{Json, REDACTED, Redactor};
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
    /// Puts marks in the place of the secrets in JSON.
    pub(crate) fn hide(&self, redactor: &Redactor, json: &mut Json) {
        redactor.json_by(json, &|secret| self.mark(secret));
    }

    pub(crate) fn mark(&self, secret: &str) -> String {
        if let Some(name) = self.names.get(secret) {
            return format!("[redacted-{name}]");
        }
        let mut hasher = DefaultHasher::new();
        (self.salt, secret).hash(&mut hasher);
        format!("[redacted-{:08x}]", hasher.finish() >> 32)
    }
}
