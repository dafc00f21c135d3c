//! What is typed into fields of pages for secrets, if the call names the field only by what its server knows it by.

use std::collections::HashMap;

use cuecard_page::Snapshot;
use cuecard_source::value::{Json, SHORTEST_SECRET, as_text, credential_in};
use serde_json::{Map, Value};

use super::prompt::occurrences;
use super::targets::names_element;
use crate::Outcome;

/// The roles of the elements that one types into.
const TYPED_INTO: &[&str] = &["textbox", "spinbutton"];

/// The fields for secrets that the snapshots of one server showed so far.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// What each is called, by what the server knows it by.
    names: HashMap<String, String>,
    /// What the field is called that a call acted on last, if it is one.
    focused: Option<String>,
}

/// How fields beside those for passwords and tokens call what is nobody else's.
const PRIVATE: &str =
    "2fa|card number|cvc|cvv|one-time|one time|pin|recovery|security code|verification code";

/// Keys of parameters that move the focus of a page.
const KEYS: &[&str] = &["key", "keys"];

impl Fields {
    /// Reads the snapshot in a result, if it has one. What it shows stands for what was shown before.
    pub(crate) fn see(&mut self, outcome: &Outcome) {
        let Outcome::Result(result) = outcome else {
            return;
        };
        let parts = result["content"].as_array().into_iter().flatten();
        for text in parts.filter_map(|part| part["text"].as_str()) {
            let snapshot = snapshot_in(text);
            for element in snapshot.into_iter().flat_map(|snapshot| snapshot.elements) {
                let is_typed_into = TYPED_INTO.contains(&element.role.as_str());
                match secret_of(&element.name).filter(|_| is_typed_into) {
                    Some(name) => self.names.insert(element.id, name.to_owned()),
                    None => self.names.remove(&element.id),
                };
            }
        }
    }

    /// What a call types into fields for secrets: each secret, with what the field calls it, such as `Password`. A call
    /// that names no field types into the one that was acted on last.
    pub(crate) fn typed(&mut self, arguments: &Map<String, Json>) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if !self.names.is_empty() || self.focused.is_some() {
            self.find(arguments, &mut found);
        }
        let element = arguments.iter().find(|(key, _)| names_element(key));
        match (element, &self.focused) {
            (Some((_, id)), _) => {
                self.focused = id.as_str().and_then(|id| self.names.get(id).cloned());
            }
            (None, Some(_)) if KEYS.iter().any(|key| arguments.contains_key(*key)) => {
                self.focused = None;
            }
            (None, Some(name)) => {
                found.extend(typed_values(arguments).map(|value| (value, name.clone())));
            }
            (None, None) => {}
        }
        found
    }

    fn find(&self, members: &Map<String, Json>, found: &mut Vec<(String, String)>) {
        let ids = members.iter().filter(|(key, _)| names_element(key));
        let mut names = ids.filter_map(|(_, id)| self.names.get(id.as_str()?));
        if let Some(name) = names.next() {
            found.extend(typed_values(members).map(|value| (value, name.clone())));
        }
        for value in members.values() {
            match value {
                Value::Object(members) => self.find(members, found),
                Value::Array(items) => {
                    let items = items.iter().filter_map(Value::as_object);
                    items.for_each(|members| self.find(members, found));
                }
                _ => {}
            }
        }
    }
}

/// The snapshot of a page that a text is, if it is one.
pub(super) fn snapshot_in(text: &str) -> Option<Snapshot> {
    let may_be = text.contains("uid=") || text.contains("[ref=");
    may_be.then(|| Snapshot::read(text).ok()).flatten()
}

/// The values among members that are typed into a field.
pub(super) fn typed_values(members: &Map<String, Json>) -> impl Iterator<Item = String> {
    let values = ["text", "value"]
        .into_iter()
        .filter_map(|key| members.get(key));
    let texts = values.map(|value| as_text(value).into_owned());
    texts.filter(|text| text.chars().count() >= SHORTEST_SECRET && !text.contains('\n'))
}

/// What a field of this name asks for, if that is a secret: `Password` of `Your Password *`.
pub(super) fn secret_of(name: &str) -> Option<&str> {
    let lower = name.to_lowercase();
    let is_private = || {
        PRIVATE
            .split('|')
            .any(|words| occurrences(&lower, words).next().is_some())
    };
    credential_in(name).or_else(|| is_private().then_some(name))
}
