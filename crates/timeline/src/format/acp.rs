//! What the protocol of editors and agents allows: words, and what fits together.

use super::loader::Loader;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, either, found};
use cuecard_source::value::{Json, cut};

const STOP_REASONS: &[&str] = &[
    "end_turn",
    "max_tokens",
    "max_turn_requests",
    "refusal",
    "cancelled",
];

/// A reason to stop, as the wire has it. Reports older words, and those that are none.
pub(super) fn stop_reason(loader: &mut Loader<'_>, node: &Node, pointer: &str) -> Option<String> {
    let code = codes::TIMELINE_ACP_STOP_REASON;
    let Some(text) = node.as_str() else {
        loader
            .reader
            .wrong_type(node, pointer, "`stopReason`", "a string");
        return None;
    };
    if STOP_REASONS.contains(&text) {
        return Some(text.to_owned());
    }
    let modern = match text {
        "completed" => "end_turn",
        "interrupted" => "cancelled",
        _ => {
            let listed: Vec<String> = STOP_REASONS
                .iter()
                .map(|word| format!("`{word}`"))
                .collect();
            let message = match text.trim() {
                "" => "`stopReason` is empty".to_owned(),
                _ => format!("unknown stop reason `{}`", cut(text, 40)),
            };
            let near = did_you_mean(text, STOP_REASONS.iter().copied());
            let diagnostic = loader.error(code, node.span, pointer, message);
            diagnostic.label = near.map(|word| format!("did you mean `{word}`?"));
            diagnostic.help = Some(format!("it is {}", either(&listed)));
            return None;
        }
    };
    loader.rename(code, node.span, pointer, text, modern);
    Some(modern.to_owned())
}

/// What a prompt is expected to be answered, with its reason to stop as the wire has it; null if absent.
pub(super) fn prompt_response(loader: &mut Loader<'_>, object: Object<'_>, key: &str) -> Json {
    let Some(node) = loader.reader.get(object, key) else {
        return Json::Null;
    };
    let pointer = object.child_pointer(key);
    if !loader.is_mapping(node, &pointer, &format!("`{key}`")) {
        return Json::Null;
    }
    let mut json = node.to_value();
    let inner = Object {
        node,
        pointer: &pointer,
    };
    if let Some(reason) = loader.reader.get(inner, "stopReason")
        && let Some(reason) = stop_reason(loader, reason, &inner.child_pointer("stopReason"))
    {
        json["stopReason"] = Json::String(reason);
    }
    if let Some(id) = loader.reader.get(inner, "sessionId")
        && id.as_str().is_none_or(str::is_empty)
    {
        let message = format!("`sessionId` must be a string, not {}", found(id));
        let at = inner.child_pointer("sessionId");
        loader.invalid(id.span, &at, message);
    }
    json
}
