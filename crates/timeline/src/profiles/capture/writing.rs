//! TOML for the file of a profile.

use cuecard_source::value::Json;
use serde::Serialize as _;
use toml::ser::ValueSerializer;

use crate::profiles::advertised::{AdvertisedTool, ToolInput};

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

/// A key.
pub(super) fn key(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    match !name.is_empty() && name.bytes().all(is_bare) {
        true => name.to_owned(),
        false => text(name),
    }
}

/// A string in one line.
pub(super) fn text(text: &str) -> String {
    // Both have the same escapes, but for the one character.
    Json::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A value in one line, without its nulls, which TOML doesn't have.
pub(super) fn value(json: impl Into<Json>) -> String {
    let mut text = String::new();
    let written = without_nulls(json.into()).serialize(ValueSerializer::new(&mut text));
    match written.is_ok() {
        true => text,
        false => "{}".to_owned(),
    }
}

fn without_nulls(json: Json) -> Json {
    match json {
        Json::Array(items) => {
            let items = items.into_iter().filter(|item| !item.is_null());
            items.map(without_nulls).collect()
        }
        Json::Object(members) => {
            let members = members.into_iter().filter(|(_, member)| !member.is_null());
            let members = members.map(|(name, member)| (name, without_nulls(member)));
            members.collect()
        }
        json => json,
    }
}

/// The table of a tool, without what only a model reads.
pub(super) fn schema(tool: &AdvertisedTool) -> String {
    let schema = tool.schema().unwrap_or(&Json::Null);
    let required = schema["required"].as_array().into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Json::as_str).collect();
    let properties = schema["properties"].as_object();
    let properties: serde_json::Map<String, Json> = properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name.clone(), property(schema)))
        .collect();
    let namespace = tool.namespace.as_deref();
    let lines = [
        namespace.map(|name| format!("namespace = {}\n", text(name))),
        (tool.input == ToolInput::Text).then(|| "text = true\n".to_owned()),
        (!required.is_empty()).then(|| format!("required = {}\n", value(required))),
        (!properties.is_empty()).then(|| format!("properties = {}\n", value(properties))),
    ];
    let lines: String = lines.into_iter().flatten().collect();
    format!("[schemas.{}]\n{lines}", key(&tool.name))
}

/// The type of a property where that is all there is, else its schema.
fn property(schema: &Json) -> Json {
    let shape = shape(schema);
    let kind = &shape["type"];
    let is_all = shape.as_object().is_some_and(|members| members.len() == 1);
    match is_all && (kind.is_string() || kind.is_array()) {
        true => kind.clone(),
        false => shape,
    }
}

/// A schema without what only a model reads.
fn shape(schema: &Json) -> Json {
    let members = schema.as_object().into_iter().flatten();
    let kept = members.filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
    let kept = kept.map(|(name, member)| {
        let member = match (name.as_str(), member) {
            ("properties" | "$defs" | "definitions", Json::Object(named)) => {
                let named = named.iter();
                named
                    .map(|(name, member)| (name.clone(), shape(member)))
                    .collect()
            }
            ("items", member) => shape(member),
            (_, member) => member.clone(),
        };
        (name.clone(), member)
    });
    Json::Object(kept.collect())
}
