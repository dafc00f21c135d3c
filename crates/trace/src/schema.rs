//! The JSON Schema of traces: of a document, and of each line of JSON Lines. It is made from the types that read
//! them, so that the two can't differ.

use schemars::generate::SchemaSettings;
use serde_json::{Map, json};

use super::{End, EventData, Header, SCHEMA_VERSION};
use cuecard_source::decode::schema_document;
use cuecard_source::value::Json;

/// The schema (JSON Schema 2020-12) of a trace of version 0.1: of a `.trace.json` document, and of each line of a
/// `.jsonl` file.
pub fn schema() -> Json {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<Header>();
    generator.subschema_for::<End>();
    let types = EventData::schemas(&mut generator);
    let mut definitions = generator.take_definitions(true);
    if let Some(header) = definitions.get_mut("Header") {
        header["properties"]["schema_version"]["const"] = SCHEMA_VERSION.into();
    }
    let document = document(&definitions);
    definitions.insert("Document".to_owned(), document);
    definitions.insert("Event".to_owned(), event(types));
    let tagged = |kind: &str, definition: &str| {
        json!({
            "properties": {"kind": {"const": kind}},
            "required": ["kind"],
            "$ref": format!("#/$defs/{definition}"),
        })
    };
    definitions.insert("HeaderLine".to_owned(), tagged("header", "Header"));
    definitions.insert("EndLine".to_owned(), tagged("end", "End"));
    let is_of_kind =
        |kind: &str| json!({"properties": {"kind": {"const": kind}}, "required": ["kind"]});
    let root = json!({
        "type": "object",
        "if": is_of_kind("header"),
        "then": {"$ref": "#/$defs/HeaderLine"},
        "else": {
            "if": is_of_kind("end"),
            "then": {"$ref": "#/$defs/EndLine"},
            "else": {
                "if": {"required": ["schema_version"]},
                "then": {"$ref": "#/$defs/Document"},
                "else": {"$ref": "#/$defs/Event"},
            },
        },
        "$defs": definitions,
    });
    schema_document(
        "trace",
        SCHEMA_VERSION,
        "Trace",
        "What happened in a run (version 0.1): a .trace.json document, or one line of a .jsonl file.",
        root,
    )
}

/// An event: its own keys, and what its type says of the data.
fn event(types: Vec<(&'static str, schemars::Schema)>) -> Json {
    let keys = json!({
        "event_id": {"type": "string", "description": "Its id, unique in the trace."},
        "seq": {"type": "integer", "minimum": 0, "description": "Its place in the trace, from 1."},
        "ts": {"type": "string", "format": "date-time", "description": "When it happened (RFC 3339)."},
        "ts_synthesized": {
            "type": "boolean",
            "description": "Whether nobody measured `ts`, and it was made from its neighbours.",
        },
        "type": {
            "type": "string",
            "description": "What happened; readers ignore types that they do not know.",
            "examples": EventData::TYPES,
        },
        "actor": {"type": "string", "description": "Who did it: user, agent, tool or system."},
        "group_id": {"type": ["string", "null"], "description": "The group it belongs to."},
        "session_id": {"type": ["string", "null"], "description": "The session it belongs to."},
        "task_id": {"type": ["string", "null"], "description": "The task it belongs to."},
        "agent_id": {"type": ["string", "null"], "description": "The agent it belongs to."},
        "parent_event_id": {"type": ["string", "null"], "description": "The event it answers."},
        "data": {"description": "What happened in detail, by type."},
    });
    let mut event = json!({
        "type": "object",
        "properties": keys,
        "required": ["event_id", "seq", "ts", "type"],
        "description": "One event.",
    });
    event["allOf"] = types
        .into_iter()
        .map(|(name, data)| {
            json!({
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": {"properties": {"data": data}, "required": ["data"]},
            })
        })
        .collect();
    event
}

/// A trace as one document: what the header says, the events, and what the end says if the run had one.
fn document(definitions: &Map<String, Json>) -> Json {
    let mut properties = Map::new();
    for part in ["Header", "End"] {
        if let Some(Json::Object(members)) = definitions
            .get(part)
            .and_then(|part| part.get("properties"))
        {
            properties.extend(members.clone());
        }
        if part == "Header" {
            let events = json!({
                "description": "What happened, in order.",
                "type": "array",
                "items": {"$ref": "#/$defs/Event"},
            });
            properties.insert("events".to_owned(), events);
        }
    }
    json!({
        "description": "A trace as one document.",
        "type": "object",
        "properties": properties,
        "required": ["schema_version", "trace_id", "adapter", "events"],
        "dependentRequired": {"status": ["metrics"]},
    })
}

#[cfg(test)]
mod tests;
