//! The JSON Schema of a type that is read here.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, json};

use crate::value::Json;

/// Returns the schema (2020-12) of a type, without `$schema`, title and description. Null is as good as an absent key.
pub fn schema_of<T: JsonSchema>() -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Json::Object(members) = &mut schema {
        members.retain(|key, _| !matches!(key.as_str(), "title" | "description"));
    }
    let definitions = schema.get_mut("$defs").and_then(Json::as_object_mut);
    definitions
        .into_iter()
        .flatten()
        .for_each(|(_, it)| allow_null(it));
    allow_null(&mut schema);
    schema
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

/// Lets each key of an object that may be absent be null.
fn allow_null(object: &mut Json) {
    let required = object.get("required").cloned().unwrap_or_default();
    let required = required.as_array().map_or(&[][..], |keys| keys);
    let properties = object.get_mut("properties").and_then(Json::as_object_mut);
    for (key, property) in properties.into_iter().flatten() {
        if let Some(members) = property.as_object_mut() {
            // What an absent key is in memory, which need not be what one could write.
            members.remove("default");
        }
        if required.contains(&Json::from(key.as_str())) {
            continue;
        }
        let absence = json!({ "type": "null" });
        if let Some(kinds) = property.get_mut("type") {
            let mut all = kinds.as_array().cloned().unwrap_or(vec![kinds.clone()]);
            all.push("null".into());
            all.dedup();
            *kinds = all.into();
        } else if let Some(any) = property.get_mut("anyOf").and_then(Json::as_array_mut) {
            any.push(absence);
            any.dedup();
        } else if let Some(members) = property.as_object_mut()
            && let Some(reference) = members.remove("$ref")
        {
            let any = json!([{ "$ref": reference }, absence]);
            members.insert("anyOf".to_owned(), any);
        }
    }
}
