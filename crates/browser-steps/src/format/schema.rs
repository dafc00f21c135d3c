//! The JSON Schemas: of what is read from the structs that read it.

use serde_json::json;

use super::read::{ACTION, ScenarioRoot};
use super::steps_read::StepsRoot;
use cuecard_source::decode::schema_of;
use cuecard_source::value::Json;
use cuecard_source::value::fields::{Field, TEXT, field, object, required, schema_document};

/// The schema (JSON Schema 2020-12) of a browser script.
pub fn schema() -> Json {
    let mut root = schema_of::<ScenarioRoot>();
    root["$defs"]["action"] = object(ACTION);
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
    schema_document(
        "steps",
        "1",
        "Browser steps",
        "Validated steps compiled from a browser script (version cuecard-steps/2).",
        schema_of::<StepsRoot>(),
    )
}

/// The schema of a patch that heals steps.
pub fn heal_schema() -> Json {
    let mut operation = object(HEAL_OPERATION);
    operation["if"] = json!({"properties": {"op": {"const": "remove"}}});
    operation["else"] = json!({"required": ["value"]});
    let mut root = object(HEAL);
    root["$defs"] = json!({"change": object(HEAL_CHANGE), "operation": operation, "rename": object(HEAL_RENAME)});
    schema_document(
        "heal",
        "1",
        "Healing patch",
        "Changes to elements that were healed in a run (version cuecard-heal/1).",
        root,
    )
}

/// A patch that heals steps.
const HEAL: &[Field] = &[
    required(
        "version",
        r#"{"const": "cuecard-heal/1"}"#,
        "Version of the format.",
    ),
    required(
        "base",
        TEXT,
        "The SHA-256 of the text of the steps that it fits, in hexadecimal.",
    ),
    field(
        "changes",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/change\"}}",
        "What is healed, for people.",
    ),
    required(
        "patch",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/operation\"}}",
        "What is changed: a JSON Patch (RFC 6902).",
    ),
    field(
        "renames",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/rename\"}}",
        "Elements that may have another name now: each is accepted by its step.",
    ),
];

const HEAL_RENAME: &[Field] = &[
    required("stepId", TEXT, "The id of the step."),
    field("description", TEXT, "Its sentence."),
    field("reason", TEXT, "What the element has of the old one."),
    field("from", TEXT, "The old name."),
    field("to", TEXT, "The new name."),
    required(
        "patch",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/operation\"}}",
        "What is changed once it is accepted.",
    ),
];

const HEAL_CHANGE: &[Field] = &[
    field("stepId", TEXT, "The id of the step."),
    field("description", TEXT, "Its sentence."),
    field(
        "reason",
        TEXT,
        "Why the element is taken for the one that was meant.",
    ),
];

const HEAL_OPERATION: &[Field] = &[
    required(
        "op",
        r#"{"enum": ["test", "add", "remove", "replace"]}"#,
        "What is done.",
    ),
    required(
        "path",
        r#"{"type": "string", "pattern": "^/testSteps/[0-9]+/(id$|(to/)?(selector|selectors|fingerprint|index)(/|$))"}"#,
        "Where: what a step's element is known by, and nothing else.",
    ),
    field("value", "true", "The value."),
];
