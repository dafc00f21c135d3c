//! The one function that a model calls.

use serde_json::json;
use strum::VariantNames;

use crate::model::{ActionKind, AssertKind};
use cuecard_source::value::Json;

/// What it is called.
pub const FUNCTION_NAME: &str = "perform_browser_action";

/// What it is for.
pub fn function_description() -> &'static str {
    "Performs one action of a browser test, or says that the sentence can't be carried out."
}

/// The JSON Schema of its arguments.
pub fn function_schema() -> Json {
    let (actions, kinds) = (<ActionKind as VariantNames>::VARIANTS, AssertKind::VARIANTS);
    json!({
        "type": "object",
        "properties": {
            "actionType": {"type": "string", "enum": actions, "description": "What the sentence asks; unknown if that is not clear."},
            "targetSelector": {"type": "string", "pattern": "^highlightIndex=[0-9]+$", "description": "The element, by its index on the page: highlightIndex=N."},
            "toSelector": {"type": "string", "pattern": "^highlightIndex=[0-9]+$", "description": "Where the element is dragged: highlightIndex=N."},
            "inputValue": {"type": ["string", "number", "boolean"], "description": "What to type, select or upload, exactly as the sentence gives it; true or false for checkboxes."},
            "url": {"type": "string", "description": "Where to navigate, as the sentence gives it; or back, forward, reload."},
            "key": {"type": "string", "description": "The key to press, such as Enter or Control+A."},
            "direction": {"type": "string", "enum": ["up", "down"], "description": "Where to scroll."},
            "assertion": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": kinds},
                    "expected": {"type": ["string", "number", "boolean"]},
                    "negate": {"type": "boolean"},
                },
                "required": ["kind"],
                "description": "What must hold.",
            },
            "description": {"type": "string", "description": "What is done, in a few words."},
            "isAmbiguous": {"type": "boolean", "description": "Whether more than one element could be meant."},
            "candidates": {"type": "array", "items": {"type": "integer", "minimum": 0}, "description": "Indexes of the elements that could be meant."},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "error": {"type": "string", "description": "Why the sentence can't be carried out."},
        },
        "required": ["actionType", "description", "isAmbiguous", "confidence"],
    })
}
