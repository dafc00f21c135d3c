//! The JSON Schema of cassettes: of one line each, as of traces.

use cuecard_source::value::Json;
use serde_json::json;

use super::line::VERSION;

/// The schema (JSON Schema 2020-12) of a line of a cassette.
pub fn cassette_schema() -> Json {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:cuecard:schema:cassette:1",
        "title": "Cassette",
        "description": "Recorded replies of a model (version cuecard-cassette/1): one line of a .jsonl file.",
        "type": "object",
        "required": ["kind"],
        "oneOf": [
            line("cassette", "The first line.", json!({"version": {"const": VERSION}}), &["version"]),
            line("reply", "A model replied.", json!({
                "key": {"type": "string", "description": "By which it is found."},
                "model": reference("model"),
                "prompt": reference("prompt"),
                "earlier": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Its earlier replies to the same, each with what was wrong with it.",
                },
                "reply": reference("reply"),
            }), &["key", "model", "prompt", "reply"]),
        ],
        "$defs": definitions(),
    })
}

fn line(kind: &str, meaning: &str, mut properties: Json, required: &[&str]) -> Json {
    properties["kind"] = json!({"const": kind});
    json!({"description": meaning, "properties": properties, "required": required})
}

fn reference(name: &str) -> Json {
    json!({"$ref": format!("#/$defs/{name}")})
}

fn definitions() -> Json {
    let text = |meaning: &str| json!({"type": "string", "description": meaning});
    json!({
        "model": {
            "type": "object",
            "description": "The model that was asked.",
            "properties": {"dialect": {"enum": ["openai", "anthropic"]}, "model": text("Its name.")},
            "required": ["dialect", "model"],
        },
        "prompt": {
            "type": "object",
            "description": "What the model was asked.",
            "properties": {
                "action": text("The sentence."),
                "previous": text("The action before."),
                "page": text("The page as text."),
            },
            "required": ["action", "previous", "page"],
        },
        "reply": {
            "type": "object",
            "properties": {
                "text": text("What it said beside calls."),
                "calls": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"id": text("Its id."), "name": text("The function."), "arguments": {}},
                    "required": ["name", "arguments"],
                }},
            },
        },
    })
}
