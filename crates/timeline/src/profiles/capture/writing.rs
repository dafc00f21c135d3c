//! TOML for the file of a profile.

use std::fmt::Write as _;

use crate::profiles::advertised::{AdvertisedTool, ToolInput};
use cuecard_source::value::Json;

/// What a schema says beside the shape of a value.
const LEFT_OUT: &[&str] = &[
    "$schema",
    "additionalProperties",
    "default",
    "description",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "title",
];

/// Deeper schemas are cut.
const MAX_DEPTH: usize = 12;

/// A string.
pub(super) fn text(text: &str) -> String {
    // Both have the same escapes, but for the one character.
    Json::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A key.
pub(super) fn key(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    match !name.is_empty() && name.bytes().all(is_bare) {
        true => name.to_owned(),
        false => text(name),
    }
}

/// A list of strings.
pub(super) fn list(items: &[&str]) -> String {
    let items: Vec<String> = items.iter().map(|item| text(item)).collect();
    format!("[{}]", items.join(", "))
}

/// The table of a tool, without what only a model reads.
pub(super) fn schema(tool: &AdvertisedTool) -> String {
    let mut table = format!("[schemas.{}]\n", key(&tool.name));
    if let Some(namespace) = &tool.namespace {
        let _ = writeln!(table, "namespace = {}", text(namespace));
    }
    if tool.input == ToolInput::Text {
        table.push_str("text = true\n");
    }
    let schema = tool.schema().unwrap_or(&Json::Null);
    let required = schema["required"].as_array().into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Json::as_str).collect();
    if !required.is_empty() {
        let _ = writeln!(table, "required = {}", list(&required));
    }
    if let Some(properties) = schema["properties"].as_object()
        && !properties.is_empty()
    {
        let members = properties
            .iter()
            .map(|(name, schema)| format!("{} = {}", key(name), property(schema)));
        let members: Vec<String> = members.collect();
        let _ = writeln!(table, "properties = {{ {} }}", members.join(", "));
    }
    table
}

/// The type of a property where that is all there is, else its schema.
fn property(schema: &Json) -> String {
    let Some(members) = schema.as_object() else {
        return "{}".to_owned();
    };
    let mut kept = members
        .iter()
        .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
    match (kept.next(), kept.next()) {
        (Some((name, kind)), None) if name == "type" && is_type(kind) => value(kind, 0),
        _ => shape(schema, 0),
    }
}

fn is_type(kind: &Json) -> bool {
    kind.is_string() || kind.is_array()
}

/// A schema.
fn shape(schema: &Json, depth: usize) -> String {
    let Some(members) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
        return "{}".to_owned();
    };
    let kept = members
        .iter()
        .filter(|(name, value)| !LEFT_OUT.contains(&name.as_str()) && !value.is_null());
    let members = kept.map(|(name, member)| {
        let member = match (name.as_str(), member) {
            ("properties" | "$defs" | "definitions", Json::Object(named)) => {
                let named: Vec<String> = named
                    .iter()
                    .map(|(name, member)| format!("{} = {}", key(name), shape(member, depth + 1)))
                    .collect();
                table(&named)
            }
            ("items", member) => shape(member, depth + 1),
            (_, member) => value(member, depth + 1),
        };
        format!("{} = {member}", key(name))
    });
    table(&members.collect::<Vec<_>>())
}

/// A value as it stands; nulls can't be said.
pub(super) fn value(json: &Json, depth: usize) -> String {
    match json {
        Json::String(content) => text(content),
        Json::Array(items) => {
            let items = items.iter().filter(|item| !item.is_null());
            let items: Vec<String> = items.map(|item| value(item, depth + 1)).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(_) => shape(json, depth),
        Json::Null => "{}".to_owned(),
        Json::Bool(_) | Json::Number(_) => json.to_string(),
    }
}

fn table(members: &[String]) -> String {
    match members.is_empty() {
        true => "{}".to_owned(),
        false => format!("{{ {} }}", members.join(", ")),
    }
}
