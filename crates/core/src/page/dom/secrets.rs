//! Takes secrets out of a state while it is decoded. The capture doesn't read secret fields in the first place; this
//! is the second line.

use std::borrow::Cow;
use std::collections::HashSet;

use super::state::{DomElement, HopKind, ScopeHop};
use crate::value::{Json, Redactor};

/// What stands where a secret stood in a page's text.
pub(super) const MASK: &str = "***";

/// Whether a field is for something that nobody may read.
pub(super) fn is_secret_field(element: &DomElement) -> bool {
    if element.tag_name != "input" && element.tag_name != "textarea" {
        return false;
    }
    element.input_type().as_deref() == Some("password")
        || element
            .attribute("autocomplete")
            .is_some_and(|tokens| tokens.split_ascii_whitespace().any(is_secret_token))
}

fn is_secret_token(token: &str) -> bool {
    let token = token.to_ascii_lowercase();
    matches!(
        token.as_str(),
        "current-password" | "new-password" | "one-time-code"
    ) || token.starts_with("cc-")
}

/// Removes the value of a secret field, and says in its place whether there is one.
pub(super) fn hide_value(element: &mut DomElement) {
    let value = element.attribute("value").map(|value| !value.is_empty());
    element.filled = Some(element.filled.or(value).unwrap_or(false));
    element.attributes.retain(|(name, _)| name != "value");
}

/// Removes known secrets from everything about an element that is text.
pub(super) fn mask_element(element: &mut DomElement, secrets: &Redactor) {
    if secrets.is_empty() {
        return;
    }
    if element
        .attribute("value")
        .is_some_and(|value| secrets.finds(value))
    {
        hide_value(element);
        element.filled = Some(true);
    }
    for (_, value) in &mut element.attributes {
        mask(value, secrets);
    }
    for text in [&mut element.name, &mut element.label] {
        mask(text, secrets);
    }
    for option in &mut element.options {
        mask(&mut option.label, secrets);
        mask(&mut option.value, secrets);
    }
}

/// Replaces known secrets in a text.
pub(super) fn mask(text: &mut String, secrets: &Redactor) {
    if let Cow::Owned(masked) = secrets.text_with(text, MASK) {
        *text = masked;
    }
}

/// Takes secrets out of a capture in JSON: known ones everywhere, and the values of nodes that were secret once.
pub(super) fn mask_capture(capture: &mut Json, secrets: &Redactor, nodes: &HashSet<u64>) {
    for document in items(&mut capture["documents"]) {
        for node in items(&mut document["nodes"]) {
            let is_secret = node["nodeId"]
                .as_u64()
                .is_some_and(|node| nodes.contains(&node));
            let Some(value) = node
                .pointer("/attributes/value")
                .and_then(Json::as_str)
                .map(str::to_owned)
            else {
                continue;
            };
            if !is_secret && !secrets.finds(&value) {
                continue;
            }
            if let Some(attributes) = node["attributes"].as_object_mut() {
                attributes.remove("value");
            }
            if node.get("filled").is_none_or(Json::is_null) {
                node["filled"] = Json::Bool(!value.is_empty());
            }
        }
    }
    mask_texts(capture, secrets);
}

fn items(list: &mut Json) -> impl Iterator<Item = &mut Json> {
    list.as_array_mut().into_iter().flatten()
}

/// Keys below which no text of the page stands, but how elements are reached and what they are.
const STRUCTURE: &[&str] = &[
    "path",
    "tagName",
    "role",
    "kind",
    "states",
    "proxy",
    "interactiveBy",
    "topBasis",
    "documentId",
];

/// Replaces known secrets in every text of the page.
fn mask_texts(json: &mut Json, secrets: &Redactor) {
    match json {
        Json::String(text) => mask(text, secrets),
        Json::Array(items) => items.iter_mut().for_each(|item| mask_texts(item, secrets)),
        Json::Object(members) => members
            .iter_mut()
            .filter(|(key, _)| !STRUCTURE.contains(&key.as_str()))
            .for_each(|(_, value)| mask_texts(value, secrets)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// The address of an element as one text, to remember it by.
pub(super) fn address(scope: &[ScopeHop], xpath: &str) -> String {
    let mut address = String::new();
    for hop in scope {
        address.push(match hop.kind {
            HopKind::Frame => 'f',
            HopKind::Shadow => 's',
        });
        address.push_str(&hop.xpath);
        address.push('\n');
    }
    address.push_str(xpath);
    address
}
