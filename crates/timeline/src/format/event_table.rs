//! The one table of events: which there are, and what may stand beside them.

use super::normalise_call::CALL_KEYS;
use super::response::SETTINGS;

/// An event of the format.
pub(super) struct EventSpec {
    pub key: &'static str,
    /// Keys that may stand beside it, those that may stand everywhere aside.
    pub beside: &'static [&'static str],
}

const fn event(key: &'static str, beside: &'static [&'static str]) -> EventSpec {
    EventSpec { key, beside }
}

/// Keys that may stand beside every event.
pub(super) const EVERYWHERE: &[&str] = &["_meta", "fault"];

/// The events, wrappers and shorthands of tools aside.
pub(super) const EVENTS: &[EventSpec] = &[
    event("llmResponse", SETTINGS),
    event("agentToolUse", CALL_KEYS),
    event("agentEdits", &[]),
    event("agentPlan", &[]),
    event("agentFileReads", &[]),
    event("agentPermissionRequest", &[]),
    event("notify", &[]),
    event("userInputs", &["target"]),
    event("userEdits", &["at"]),
    event("userCommand", &["at"]),
    event("userCancelSession", &["at"]),
    event("applyPatch", &["at"]),
    event("initialize", &["expectedResponse"]),
    event("authenticate", &["expectedResponse"]),
    event("setMode", &[]),
    event("setModel", &[]),
    event("sessionStart", &[]),
    event("baseTimeDelta", &[]),
    event("assert", &[]),
    event("screenshot", &[]),
    event("log", &[]),
    event("status", &[]),
    event("complete", &[]),
    event("merge", &[]),
];
