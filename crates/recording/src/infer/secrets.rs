//! What must not be written: it becomes a variable without a value.

use std::collections::{HashMap, HashSet};

use cuecard_source::value::{
    REDACTED, as_text, find_credentials, find_credentials_in_text, is_credential,
};
use serde_json::{Value, json};

use super::build::Builder;
use super::fields::Fields;
use super::forms::{cookies, each_secret};
use super::passwords::secrets_in;
use super::prompt::occurrences;
use crate::Recording;
use crate::marks::{MARK, name_of, plain};
use crate::scenario::secret_name;

/// What was typed into fields of pages for secrets, with what the fields call it.
pub(super) fn typed_secrets(
    recording: &Recording,
    second: Option<&Recording>,
) -> HashMap<String, String> {
    let mut secrets = HashMap::new();
    for recording in second.into_iter().chain([recording]) {
        let mut fields: HashMap<&Option<String>, Fields> = HashMap::new();
        for call in &recording.calls {
            let fields = fields.entry(&call.server).or_default();
            let typed = fields.typed(&call.arguments).into_iter();
            // What was taken out without a number may be any secret.
            secrets.extend(typed.filter(|(secret, _)| secret != REDACTED));
            fields.see(call);
        }
    }
    secrets
}

/// The credentials, or their marks, in arguments and prompts.
pub(crate) fn secrets(recording: &Recording, second: Option<&Recording>) -> Vec<String> {
    let mut secrets = Vec::new();
    for recording in second.into_iter().chain([recording]) {
        let texts = recording.calls.iter();
        let texts = texts.map(|call| json!(call.arguments).to_string());
        let texts: Vec<String> = texts.collect();
        for call in &recording.calls {
            each_secret(&call.arguments, &mut |secret| secrets.push(secret));
        }
        for text in &texts {
            secrets.extend(MARK.find_iter(text).map(|mark| mark.as_str().to_owned()));
            let arguments = serde_json::from_str(&plain(text)).unwrap_or_default();
            find_credentials(&arguments, &mut secrets);
        }
        for prompt in &recording.prompts {
            find_credentials_in_text(prompt, &mut secrets);
            let is_used = |word: &str| {
                let mut texts = texts.iter();
                texts.any(|text| places_of(text, word).next().is_some())
            };
            let named = secrets_in(prompt).into_iter();
            let named = named.filter(|secret| !secret.is_plain || is_used(secret.text));
            secrets.extend(named.map(|secret| secret.text.to_owned()));
        }
    }
    secrets
}

/// The credentials in results, of which nothing may be shown.
pub(super) fn secrets_of_results(recording: &Recording, second: Option<&Recording>) -> Vec<String> {
    let mut secrets = Vec::new();
    let calls = second.into_iter().chain([recording]);
    for call in calls.flat_map(|recording| &recording.calls) {
        if let Some(value) = &call.result {
            find_credentials(value, &mut secrets);
        }
    }
    let parts = secrets.iter().flat_map(|secret| cookies(secret));
    let parts: Vec<String> = parts.map(str::to_owned).collect();
    secrets.extend(parts);
    secrets
}

/// How many bytes a secret has at least that is sought inside of words too, and one of letters and digits.
const SHORTEST_MASKED: usize = 8;
const SHORTEST_MIXED: usize = 6;

/// So many characters of a secret may be known by chance.
const LONGEST_KNOWN: usize = 3;

/// Whether no word has the letters of a secret by chance.
pub(crate) fn is_distinct(secret: &str) -> bool {
    let has = |test: fn(char) -> bool| secret.contains(test);
    let is_mixed = has(|letter| letter.is_ascii_digit()) && has(char::is_alphabetic);
    secret.len() >= SHORTEST_MASKED || (is_mixed && secret.len() >= SHORTEST_MIXED)
}

/// Where a secret stands in a text; a distinct one also inside of words, as in `-pSECRET`.
pub(super) fn places_of<'t>(text: &'t str, secret: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_found = is_distinct(secret);
    let places = text.match_indices(secret).map(|(at, _)| at);
    places.filter(move |at| is_found || occurrences(text, secret).any(|place| place == *at))
}

/// The shortest parts of secrets that tell something of them.
pub(super) fn parts_of<'s>(secrets: impl Iterator<Item = &'s String>) -> HashSet<Vec<char>> {
    let mut parts = HashSet::new();
    for secret in secrets.filter(|secret| !MARK.is_match(secret)) {
        let letters: Vec<char> = secret.to_ascii_lowercase().chars().collect();
        parts.extend(letters.windows(LONGEST_KNOWN + 1).map(<[char]>::to_vec));
    }
    parts
}

impl Builder<'_, '_> {
    /// A remark without secrets and parts of them. Short parts of small letters stay: any word may have them.
    pub(super) fn without_secrets(&self, remark: &str) -> String {
        let text = self.redactor.text(remark);
        let text = self.masker.text(&text);
        let folded: Vec<char> = text.to_ascii_lowercase().chars().collect();
        let mut is_part = vec![false; folded.len()];
        for (at, part) in folded.windows(LONGEST_KNOWN + 1).enumerate() {
            if self.secret_parts.contains(part) {
                is_part[at..=at + LONGEST_KNOWN].fill(true);
            }
        }
        let letters: Vec<(char, bool)> = text.chars().zip(is_part).collect();
        let runs = letters.chunk_by(|one, other| one.1 == other.1);
        let written = runs.map(|run| {
            let may_be_word = || run.iter().all(|(letter, _)| letter.is_ascii_lowercase());
            match run[0].1 && (run.len() >= SHORTEST_MASKED || !may_be_word()) {
                true => REDACTED.to_owned(),
                false => run.iter().map(|(letter, _)| letter).collect(),
            }
        });
        written.collect()
    }

    pub(super) fn is_secret(&self, value: &Value) -> bool {
        // Only the parts of a list or an object are.
        if value.is_array() || value.is_object() {
            return false;
        }
        let text = as_text(value);
        let secrets = self.redactor.secrets();
        // Of `Bearer abc`, only the token is one.
        let holds_one = secrets
            .iter()
            .any(|secret| secret.len() < text.len() && text.contains(secret.as_str()));
        let is_known = secrets.iter().any(|secret| *secret == text);
        !holds_one && (is_known || is_credential(&self.key, value))
    }

    /// A variable without a default; each secret has its own.
    pub(super) fn secret(&mut self, value: &Value) -> String {
        let is_taken_out = value.as_str() == Some(REDACTED);
        // Secrets that were taken out all look the same; their names tell them apart.
        let known = match is_taken_out {
            true => (self.key.clone(), REDACTED.to_owned()),
            false => (value.to_string(), String::new()),
        };
        if is_taken_out && self.variables.contains_key(&known) {
            let key = &self.key;
            self.ask_everywhere(format!(
                "`{key}` was taken out of the recording as a secret here and in another place: is it the same one?"
            ));
        }
        let given = value.as_str().and_then(name_of);
        let field = self.typed_secrets.get(as_text(value).as_ref());
        let key = field.unwrap_or(&self.key);
        let name = given.map_or_else(|| secret_name(key), str::to_owned);
        self.variable_as(known, json!(""), &name)
    }
}
