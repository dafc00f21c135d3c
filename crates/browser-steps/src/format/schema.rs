//! The JSON Schemas, made from the table of keys.

use serde_json::json;

use super::fields;
use cuecard_source::value::Json;
use cuecard_source::value::fields::{object, schema_document};

/// The schema (JSON Schema 2020-12) of a browser script.
pub fn schema() -> Json {
    let mut root = object(fields::ROOT);
    root["$defs"] = json!({
        "action": object(fields::ACTION),
        "options": object(fields::OPTIONS),
        "viewport": object(fields::VIEWPORT),
        "llm": object(fields::LLM),
    });
    schema_document(
        "browser",
        "1",
        "Browser scenario",
        "A URL with plain-language actions, which are compiled to validated steps.",
        root,
    )
}

/// The schema of the steps that a browser script becomes.
pub fn steps_schema() -> Json {
    let mut step = object(fields::STEP);
    step["properties"]["context"] = object(fields::CONTEXT);
    step["properties"]["observed"] = object(fields::OBSERVED);
    let mut root = object(fields::STEPS_ROOT);
    root["properties"]["observed"] = object(fields::OBSERVED);
    root["$defs"] = json!({
        "step": step,
        "element": object(fields::ELEMENT),
        "assertion": object(fields::ASSERTION),
        "fingerprint": object(fields::FINGERPRINT),
        "container": object(fields::CONTAINER),
        "error": object(fields::ERROR),
        "dialog": object(fields::DIALOG),
        "download": object(fields::DOWNLOAD),
    });
    schema_document(
        "steps",
        "1",
        "Browser steps",
        "Validated steps compiled from a browser script (version cuecard-steps/2).",
        root,
    )
}

/// The schema of a patch that heals steps.
pub fn heal_schema() -> Json {
    let mut operation = object(fields::HEAL_OPERATION);
    operation["if"] = json!({"properties": {"op": {"const": "remove"}}});
    operation["else"] = json!({"required": ["value"]});
    let mut root = object(fields::HEAL);
    root["$defs"] = json!({"change": object(fields::HEAL_CHANGE), "operation": operation, "rename": object(fields::HEAL_RENAME)});
    schema_document(
        "heal",
        "1",
        "Healing patch",
        "Changes to elements that were healed in a run (version cuecard-heal/1).",
        root,
    )
}
