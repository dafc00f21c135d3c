//! What is typed into fields of pages for secrets, if the call names the field only by what its server knows it by.

use std::collections::HashMap;

use cuecard_page::Snapshot;
use cuecard_source::value::{Json, as_text, is_credential, key_of};
use serde_json::{Map, Value, json};

use super::targets::names_element;
use crate::Outcome;

/// The roles of the elements that one types into.
const TYPED_INTO: &[&str] = &["textbox", "spinbutton"];

/// The fields for secrets that the snapshots of one server showed so far.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// What each is called, by what the server knows it by.
    names: HashMap<String, String>,
}

impl Fields {
    /// Reads the snapshot in a result, if it has one. What it shows stands for what was shown before.
    pub(crate) fn see(&mut self, outcome: &Outcome) {
        let Outcome::Result(result) = outcome else {
            return;
        };
        let parts = result["content"].as_array().into_iter().flatten();
        for text in parts.filter_map(|part| part["text"].as_str()) {
            let may_be = text.contains("uid=") || text.contains("[ref=");
            let snapshot = may_be.then(|| Snapshot::read(text).ok()).flatten();
            for element in snapshot.into_iter().flat_map(|snapshot| snapshot.elements) {
                let is_typed_into = TYPED_INTO.contains(&element.role.as_str());
                match is_typed_into && is_for_secret(&element.name) {
                    true => self.names.insert(element.id, element.name),
                    false => self.names.remove(&element.id),
                };
            }
        }
    }

    /// What a call types into fields for secrets: each secret, with what the field calls it, such as `Password`.
    pub(crate) fn typed(&self, arguments: &Map<String, Json>) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if !self.names.is_empty() {
            self.find(arguments, &mut found);
        }
        found
    }

    fn find(&self, members: &Map<String, Json>, found: &mut Vec<(String, String)>) {
        let ids = members.iter().filter(|(key, _)| names_element(key));
        let mut names = ids.filter_map(|(_, id)| self.names.get(id.as_str()?));
        if let Some(name) = names.next() {
            let labelled = labelled(members.clone(), name);
            for (key, value) in members {
                let called = key_of(&labelled, key);
                if called != key && is_credential(called, value) {
                    found.push((as_text(value).into_owned(), called.to_owned()));
                }
            }
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

/// The members with the name of the field beside them.
fn labelled(mut members: Map<String, Json>, name: &str) -> Map<String, Json> {
    members.insert("target".to_owned(), json!({ "name": name }));
    members
}

fn is_for_secret(name: &str) -> bool {
    key_of(&labelled(Map::new(), name), "value") != "value"
}
