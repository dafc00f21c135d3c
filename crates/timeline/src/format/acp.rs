//! What the protocol of editors and agents allows: words, and what fits together.

use super::pieces::{invalid, is_object};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, Reader, either, found};
use cuecard_source::value::{Json, cut};

const STOP_REASONS: &[&str] = &[
    "end_turn",
    "max_tokens",
    "max_turn_requests",
    "refusal",
    "cancelled",
];

/// A reason to stop, as the wire has it.
pub(super) fn stop_reason(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<String> {
    let text = reader.text_of(node, pointer, "`stopReason`")?;
    if STOP_REASONS.contains(&text) {
        return Some(text.to_owned());
    }
    let listed = STOP_REASONS.iter().map(|word| format!("`{word}`"));
    let message = match text.trim() {
        "" => "`stopReason` is empty".to_owned(),
        _ => format!("unknown stop reason `{}`", cut(text, 40)),
    };
    let code = codes::TIMELINE_ACP_STOP_REASON;
    let found = reader.error_at(code, node.span, pointer, message);
    found.suggest(text, STOP_REASONS.iter().copied());
    found.help = Some(format!("it is {}", either(&listed.collect::<Vec<_>>())));
    None
}

/// What a prompt is expected to be answered.
pub(super) fn prompt_response(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Json> {
    if !is_object(reader, node, pointer) {
        return None;
    }
    let answer = Object { node, pointer };
    if let Some(reason) = reader.get(answer, "stopReason") {
        stop_reason(reader, reason, &answer.child_pointer("stopReason"));
    }
    if let Some(id) = reader.get(answer, "sessionId")
        && id.as_str().is_none_or(str::is_empty)
    {
        let message = format!("`sessionId` must be a string, not {}", found(id));
        invalid(reader, id.span, &answer.child_pointer("sessionId"), message);
    }
    Some(node.to_value())
}
