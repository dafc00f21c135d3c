//! The one table of events: what the loader knows, what the schema says.

use super::{fields, model_fields};
use cuecard_source::value::fields::Field;

/// An event of the format.
pub(super) struct EventSpec {
    pub key: &'static str,
    /// Keys of its body; empty if the body is no mapping.
    pub fields: &'static [Field],
    /// Keys that may stand beside it, those that may stand everywhere aside.
    pub siblings: &'static [Field],
    /// The JSON Schema of its body, where it is no mapping of `fields`.
    pub body: Option<&'static str>,
    pub meaning: &'static str,
}

const fn event(
    key: &'static str,
    fields: &'static [Field],
    siblings: &'static [Field],
    body: Option<&'static str>,
    meaning: &'static str,
) -> EventSpec {
    EventSpec {
        key,
        fields,
        siblings,
        body,
        meaning,
    }
}

/// One that the model's struct defines; its body may be a scalar.
const fn derived(key: &'static str, siblings: &'static [Field], is_scalar: bool) -> EventSpec {
    let body = if is_scalar { Some("true") } else { None };
    event(key, &[], siblings, body, "")
}

impl EventSpec {
    /// The keys of its body.
    pub(super) fn keys(&self) -> Vec<String> {
        match self.meaning {
            "" => super::schema::keys_of(self.key),
            _ => self
                .fields
                .iter()
                .map(|field| field.name.to_owned())
                .collect(),
        }
    }
}

/// The events, wrappers and shorthands of tools aside.
pub(super) const EVENTS: &[EventSpec] = &[
    event(
        "llmResponse",
        fields::RESPONSE,
        model_fields::RESPONSE_SIBLINGS,
        Some("{\"$ref\": \"#/$defs/response\"}"),
        "One answer of the model.",
    ),
    event(
        "agentToolUse",
        fields::TOOL_USE,
        fields::TOOL_USE,
        None,
        "A call of a tool by the agent.",
    ),
    derived("agentEdits", &[], false),
    derived("agentPlan", &[], false),
    derived("agentFileReads", &[], false),
    derived("agentPermissionRequest", &[], false),
    derived("notify", &[], false),
    event(
        "userInputs",
        fields::USER_INPUT,
        fields::INPUTS_SIBLINGS,
        Some("{\"$ref\": \"#/$defs/user_inputs\"}"),
        "What the user says or types.",
    ),
    derived("userEdits", fields::AT, false),
    derived("userCommand", fields::AT, false),
    derived("userCancelSession", fields::AT, false),
    derived("applyPatch", fields::AT, false),
    derived("initialize", fields::EXPECTED_RESPONSE, false),
    derived("authenticate", fields::EXPECTED_RESPONSE, false),
    derived("setMode", &[], false),
    derived("setModel", &[], false),
    derived("sessionStart", &[], false),
    derived("baseTimeDelta", &[], true),
    derived("assert", &[], false),
    derived("screenshot", &[], true),
    derived("log", &[], true),
    derived("status", &[], true),
    derived("complete", &[], true),
    derived("merge", &[], true),
];
