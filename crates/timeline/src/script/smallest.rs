//! The smallest value that fits a JSON Schema, for answers of which only the shape matters.

use serde_json::{Map, json};

use cuecard_source::value::Json;

/// Deeper schemas, and such as go in circles, get null.
const MAX_DEPTH: usize = 16;
/// Lists and texts are never made longer.
const MAX_LENGTH: u64 = 100;

/// A small value that fits `schema`, as far as its types, required members, lengths and enumerations say. Patterns
/// and formats are not looked at.
pub fn smallest_value(schema: &Json) -> Json {
    value(schema, schema, 0)
}

fn value(root: &Json, schema: &Json, depth: usize) -> Json {
    if depth > MAX_DEPTH {
        return Json::Null;
    }
    if let Some(constant) = schema.get("const").or_else(|| schema.get("default")) {
        return constant.clone();
    }
    if let Some(first) = schema["enum"].as_array().and_then(|words| words.first()) {
        return first.clone();
    }
    if let Some(pointer) = schema["$ref"].as_str().and_then(|to| to.strip_prefix('#')) {
        let target = root.pointer(pointer).unwrap_or(&Json::Null);
        return value(root, target, depth + 1);
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema[key].as_array().and_then(|schemas| schemas.first()) {
            return value(root, first, depth + 1);
        }
    }
    let type_name = match &schema["type"] {
        Json::String(name) => name.as_str(),
        Json::Array(names) => names.first().and_then(Json::as_str).unwrap_or("null"),
        _ if schema.get("items").is_some() => "array",
        _ => "object",
    };
    // Gemini writes types in capitals.
    match type_name.to_ascii_lowercase().as_str() {
        "object" => object(root, schema, depth),
        "array" => {
            let n_items = schema["minItems"].as_u64().unwrap_or(0).min(MAX_LENGTH);
            let items = (0..n_items).map(|_| value(root, &schema["items"], depth + 1));
            Json::Array(items.collect())
        }
        "string" => {
            let n_characters = schema["minLength"].as_u64().unwrap_or(0).min(MAX_LENGTH);
            Json::String((0..n_characters).map(|_| 'x').collect())
        }
        "integer" | "number" => match &schema["minimum"] {
            minimum @ Json::Number(_) => minimum.clone(),
            _ => json!(0),
        },
        "boolean" => json!(false),
        _ => Json::Null,
    }
}

fn object(root: &Json, schema: &Json, depth: usize) -> Json {
    let required = schema["required"].as_array();
    let members = required
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .map(|name| {
            let member = value(root, &schema["properties"][name], depth + 1);
            (name.to_owned(), member)
        });
    Json::Object(members.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_fits_its_schema() {
        let schema = json!({
            "type": "object",
            "required": ["title", "tags", "kind", "size", "done", "inner", "any"],
            "properties": {
                "title": {"type": "string", "minLength": 2},
                "tags": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "kind": {"enum": ["a", "b"]},
                "size": {"type": ["integer", "null"], "minimum": 3},
                "done": {"type": "BOOLEAN"},
                "inner": {"$ref": "#/$defs/inner"},
                "any": {"anyOf": [{"const": 7}]},
                "left_out": {"type": "string"},
            },
            "$defs": {"inner": {"type": "object", "required": [], "properties": {}}},
        });
        let smallest = smallest_value(&schema);
        assert_eq!(
            smallest,
            json!({"title": "xx", "tags": [""], "kind": "a", "size": 3, "done": false, "inner": {}, "any": 7})
        );
    }

    #[test]
    fn a_circle_ends() {
        let schema =
            json!({"type": "object", "required": ["me"], "properties": {"me": {"$ref": "#"}}});
        assert!(smallest_value(&schema).is_object());
        assert!(smallest_value(&json!({"$ref": "#/nowhere"})).is_object());
    }
}
