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
        "description": "A recorded run of `cuecard parse` (version cuecard-cassette/1): one line of a .jsonl file.",
        "type": "object",
        "required": ["kind"],
        "oneOf": [
            line("cassette", "The first line.", json!({"version": {"const": VERSION}}), &["version"]),
            line("run", "A run begins.", json!({"model": reference("model")}), &[]),
            line("open", "The first page was opened.", came(json!({
                "url": {"type": "string", "description": "Its address, with references instead of values."},
            })), &["url"]),
            line("look", "The page was looked at.", came(json!({})), &[]),
            line("lookAgain", "The page was looked at a moment later.", came(json!({})), &[]),
            line("perform", "Something was done to the page.", came(json!({
                "deed": {"type": "object", "description": "What was to be done."},
            })), &["deed"]),
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
            line("person", "A person decided.", json!({
                "key": {"type": "string", "description": "By which it is found."},
                "action": {"type": "string", "description": "The sentence."},
                "shown": {"type": "array", "items": {"type": "string"}, "description": "What the person saw."},
                "decided": {
                    "oneOf": [
                        {"const": "skip"},
                        {
                            "type": "object",
                            "properties": {"pick": {"type": "integer", "minimum": 0}},
                            "required": ["pick"],
                        },
                    ],
                    "description": "To leave it out, or the element at this place, from 0.",
                },
            }), &["key", "action", "shown", "decided"]),
            line("end", "The run is over.", json!({
                "complete": {"type": "boolean", "description": "Whether every action was tried."},
            }), &["complete"]),
        ],
        "$defs": definitions(),
    })
}

fn line(kind: &str, meaning: &str, mut properties: Json, required: &[&str]) -> Json {
    properties["kind"] = json!({"const": kind});
    json!({"description": meaning, "properties": properties, "required": required})
}

/// With what came back from the page.
fn came(mut properties: Json) -> Json {
    properties["outcome"] = reference("outcome");
    properties["state"] = reference("state");
    properties["sameState"] =
        json!({"type": "boolean", "description": "The page is the one that was seen last."});
    properties["failure"] = reference("failure");
    properties
}

fn reference(name: &str) -> Json {
    json!({"$ref": format!("#/$defs/{name}")})
}

fn definitions() -> Json {
    let text = |meaning: &str| json!({"type": "string", "description": meaning});
    let texts = |meaning: &str| json!({"type": "array", "items": {"type": "string"}, "description": meaning});
    let count = json!({"type": "integer", "minimum": 0});
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
        "outcome": {
            "type": "object",
            "description": "What came of it.",
            "properties": {
                "url": text("The address of the page."),
                "title": text("Its title."),
                "settle": text("How the wait for the page ended."),
                "extractedContent": text("The text that was read."),
                "tab": count,
                "dialogs": {"type": "array", "items": {"type": "object"}},
                "downloads": {"type": "array", "items": {"type": "object"}},
                "warnings": texts("What deserves a second look."),
            },
        },
        "state": {
            "type": "object",
            "description": "The page: its elements and texts, without secrets.",
            "properties": {"page": {"type": "object"}, "nodes": {"type": "array"}, "warnings": {"type": "array"}},
            "required": ["page", "nodes"],
        },
        "failure": {
            "type": "object",
            "description": "Why nothing came of it.",
            "properties": {
                "code": text("The code."),
                "message": text("What happened."),
                "help": text("What to do about it."),
                "call": text("The call to Playwright that failed."),
                "selector": text("The selector that the call used."),
                "modelError": text("What a model's side said."),
                "candidates": texts("The elements that could be meant."),
                "stack": text("More than most readers want."),
                "hasActed": {"type": "boolean", "description": "Whether something may have been done before."},
            },
        },
    })
}
