//! The JSON Schema of test cases, for editors: made from the structs that read them.

use schemars::generate::SchemaSettings;
use serde_json::json;

use super::params::AROUND;
use super::read::Document;
use crate::assertions::Kind;
use cuecard_source::decode::schema_document;
use cuecard_source::value::Json;

/// The schema (JSON Schema 2020-12) of a test case of version 0.1.
pub fn schema() -> Json {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut root = json!(generator.root_schema_for::<Document>());
    if let Json::Object(members) = &mut root {
        // The document has its own.
        members.retain(|key, _| !matches!(key.as_str(), "$schema" | "title" | "description"));
    }
    let (around, types): (Vec<_>, Vec<_>) = Kind::ALL
        .iter()
        .partition(|kind| AROUND.contains(&kind.name));
    let schemas = types
        .iter()
        .map(|kind| (kind, (kind.schema)(&mut generator)));
    let of_types = schemas.map(|(kind, schema)| params(kind, json!(schema)));
    let of_types: Json = of_types.collect();
    let around = around
        .iter()
        .map(|kind| (kind.name, json!((kind.schema)(&mut generator))));
    let around: Vec<(&str, Json)> = around.collect();
    for (name, mut schema) in generator.take_definitions(true) {
        if matches!(name.as_str(), "selector" | "args_match" | "call") {
            close(&mut schema);
        }
        root["$defs"][name] = schema;
    }
    let names: Vec<&str> = types.iter().map(|kind| kind.name).collect();
    let assertion = &mut root["$defs"]["assertion"];
    assertion["properties"]["type"] = json!({"description": "What is asserted.", "enum": names});
    assertion["allOf"] = of_types;
    let keys = std::iter::once("type").chain(AROUND);
    assertion["oneOf"] = keys.map(|key| json!({"required": [key]})).collect();
    for (key, schema) in around {
        assertion["properties"][key] = schema;
    }
    schema_document(
        "test-case",
        "0.1",
        "Test case",
        "Where the trace of an agent's run comes from, and what must hold of it (version 0.1).",
        root,
    )
}

/// What the parameters are if the assertion is of this type.
fn params(kind: &Kind, mut params: Json) -> Json {
    close(&mut params);
    let needs_params = params.get("required").is_some();
    if !needs_params {
        params["type"] = json!(["object", "null"]);
    }
    let mut then = json!({"properties": {"params": params}});
    if needs_params {
        then["required"] = json!(["params"]);
    }
    json!({
        "if": {"properties": {"type": {"const": kind.name}}, "required": ["type"]},
        "then": then,
    })
}

/// Makes the schema of a struct one of an object without other keys than its own and notes. What may be absent is no
/// null; what a number may be at most is the business of the reader.
fn close(object: &mut Json) {
    let Some(properties) = object.get_mut("properties").and_then(Json::as_object_mut) else {
        return;
    };
    for property in properties.values_mut() {
        if let Some(Json::Array(types)) = property.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                property["type"] = only.clone();
            }
        }
        if let Some(Json::Array(choices)) = property.get_mut("anyOf") {
            choices.retain(|choice| choice["type"] != "null");
        }
        if let Json::Object(property) = property {
            property.remove("format");
            property.remove("default");
        }
    }
    object["additionalProperties"] = false.into();
    object["patternProperties"] = json!({"^(x-|_|\\$)": true});
}
