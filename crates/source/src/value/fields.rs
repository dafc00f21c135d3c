//! Tables of keys: what a reader knows of an object, and what its schema says.

use serde_json::{Map, json};

use super::Json;

/// A key of one of a format's objects.
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// Whether an object without it is a mistake.
    pub required: bool,
    /// The JSON Schema of its value, as JSON.
    pub schema: &'static str,
    /// What it means, in a sentence.
    pub meaning: &'static str,
}

/// A key that may be left out.
pub const fn field(name: &'static str, schema: &'static str, meaning: &'static str) -> Field {
    Field {
        name,
        required: false,
        schema,
        meaning,
    }
}

/// A key that must be there.
pub const fn required(name: &'static str, schema: &'static str, meaning: &'static str) -> Field {
    Field {
        name,
        required: true,
        schema,
        meaning,
    }
}

/// The schema of a string.
pub const TEXT: &str = r#"{"type": "string"}"#;
/// The schema of a whole number from 0.
pub const COUNT: &str = r#"{"type": "integer", "minimum": 0}"#;
/// The schema of anything.
pub const ANY: &str = "true";

/// The keys of a table.
pub fn names(fields: &[Field]) -> Vec<&'static str> {
    fields.iter().map(|field| field.name).collect()
}

/// The JSON Schema of an object with these keys; others are allowed.
pub fn object(fields: &[Field]) -> Json {
    let properties: Map<String, Json> = fields
        .iter()
        .map(|field| {
            let mut schema: Json = serde_json::from_str(field.schema).unwrap_or(Json::Bool(true));
            if schema == Json::Bool(true) {
                schema = json!({});
            }
            schema["description"] = field.meaning.into();
            (field.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| field.required)
        .map(|field| field.name)
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// A JSON Schema that is a document of its own: what it is called and is for, then `schema`.
///
/// `name` is that of its file, `version` the version of the format it describes.
pub fn schema_document(
    name: &str,
    version: &str,
    title: &str,
    description: &str,
    schema: Json,
) -> Json {
    let mut document = Map::new();
    let draft = "https://json-schema.org/draft/2020-12/schema";
    document.insert("$schema".to_owned(), draft.into());
    let id = format!("urn:cuecard:schema:{name}:{version}");
    document.insert("$id".to_owned(), id.into());
    document.insert("title".to_owned(), title.into());
    document.insert("description".to_owned(), description.into());
    if let Json::Object(members) = schema {
        document.extend(members);
    }
    Json::Object(document)
}
