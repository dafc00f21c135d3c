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

const MARKER: Option<&str> = Some(r#"{"type": ["boolean", "null", "object"]}"#);

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
    event(
        "agentEdits",
        fields::AGENT_EDITS,
        &[],
        None,
        "The agent changes a file.",
    ),
    event(
        "agentPlan",
        fields::AGENT_PLAN,
        &[],
        None,
        "The agent plans.",
    ),
    event(
        "agentFileReads",
        fields::FILE_READS,
        &[],
        None,
        "The agent reads files through the client.",
    ),
    event(
        "agentPermissionRequest",
        fields::PERMISSION,
        &[],
        None,
        "The agent asks for permission.",
    ),
    event(
        "notify",
        fields::NOTIFY,
        &[],
        None,
        "A notification of an extension.",
    ),
    event(
        "userInputs",
        fields::USER_INPUT,
        fields::INPUTS_SIBLINGS,
        Some("{\"$ref\": \"#/$defs/user_inputs\"}"),
        "What the user says or types.",
    ),
    event(
        "userEdits",
        fields::USER_EDITS,
        fields::AT,
        None,
        "The user changes files.",
    ),
    event(
        "userCommand",
        fields::USER_COMMAND,
        fields::AT,
        None,
        "The user runs a command.",
    ),
    event(
        "userCancelSession",
        &[],
        fields::AT,
        MARKER,
        "The user stops the agent.",
    ),
    event(
        "applyPatch",
        fields::APPLY_PATCH,
        fields::AT,
        None,
        "The test executor applies a patch.",
    ),
    event(
        "initialize",
        fields::INITIALIZE,
        fields::EXPECTED_RESPONSE,
        None,
        "The client opens the connection.",
    ),
    event(
        "authenticate",
        fields::AUTHENTICATE,
        fields::EXPECTED_RESPONSE,
        None,
        "The client authenticates.",
    ),
    event(
        "setMode",
        fields::SET_MODE,
        &[],
        None,
        "The client chooses a mode.",
    ),
    event(
        "setModel",
        fields::SET_MODEL,
        &[],
        None,
        "The client chooses a model.",
    ),
    event(
        "sessionStart",
        fields::SESSION_START,
        &[],
        Some("{\"$ref\": \"#/$defs/session_start\"}"),
        "What stands above is history.",
    ),
    event(
        "baseTimeDelta",
        &[],
        &[],
        Some("{\"$ref\": \"#/$defs/time\"}"),
        "Moves the base of the times that follow.",
    ),
    event(
        "assert",
        fields::ASSERT,
        &[],
        None,
        "What must hold at this point.",
    ),
    event(
        "screenshot",
        &[],
        &[],
        Some(r#"{"type": "string"}"#),
        "Takes a picture of the terminal, under this label.",
    ),
    event(
        "log",
        fields::LOG,
        &[],
        Some("{\"$ref\": \"#/$defs/log\"}"),
        "A line for the log.",
    ),
    event(
        "status",
        &[],
        &[],
        Some(
            r#"{"enum": ["queued", "provisioning", "running", "pausing", "paused", "resuming", "stopping", "stopped", "completed", "failed", "cancelled"]}"#,
        ),
        "The status of the session.",
    ),
    event("complete", &[], &[], MARKER, "The task is done."),
    event(
        "merge",
        &[],
        &[],
        MARKER,
        "The session stays in the list when it is done.",
    ),
];
