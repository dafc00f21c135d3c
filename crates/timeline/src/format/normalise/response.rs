//! Older forms of answers: each becomes a list of elements with one key, and calls that follow it.

use super::{META, Normaliser, child, entries, object};
use crate::model::vocabulary::AbstractTool;
use cuecard_source::Span;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::first_character;
use cuecard_source::value::cut;

/// What may be an element of a response.
pub(in crate::format) const ELEMENTS: [&str; 3] = ["think", "assistant", "error"];

/// What else may be a part of a response.
const OTHER_PARTS: [&str; 5] = ["agentToolUse", "_meta", "usage", "stopReason", "refusal"];

/// Whether a node has the one key of a call.
fn is_call(node: &Node) -> bool {
    node.get("agentToolUse").is_some()
}

impl Normaliser<'_, '_> {
    /// The elements of the body of `llmResponse`. Calls that belong behind it go to `calls`.
    pub(super) fn response(
        &mut self,
        body: &Node,
        pointer: &str,
        calls: &mut Vec<(Node, String)>,
    ) -> Option<Node> {
        let mut parts = Vec::new();
        match &body.kind {
            NodeKind::Array(items) => {
                for (item, pointer) in self.items(items, pointer) {
                    let members = item.members().iter();
                    let elements = members.filter(|it| ELEMENTS.contains(&it.key.as_str()));
                    if elements.count() > 1 {
                        self.legacy(
                            codes::TIMELINE_FORM,
                            first_character(self.source, item.span),
                            &pointer,
                            "an element has several parts: they are played in file order",
                            "write one element for each",
                        );
                    }
                    if item.as_object() == Some(&[]) {
                        let message = "an element of `llmResponse` is empty";
                        self.error_at(codes::TIMELINE_SHAPE, item.span, &pointer, message);
                    }
                    parts.extend(self.element(item, &pointer, calls));
                }
            }
            NodeKind::Object(members) if members.is_empty() => {}
            NodeKind::Object(_) => {
                self.legacy(
                    codes::TIMELINE_FORM,
                    first_character(self.source, body.span),
                    pointer,
                    "expected a list of elements, found a mapping",
                    "write a list: `- think: …`, `- assistant: …`",
                );
                parts = self.element(body, pointer, calls);
            }
            NodeKind::Null => {}
            _ => {
                let wanted = "a list of `think`, `assistant`, `agentToolUse` and `error`";
                self.wrong_type(body, pointer, "`llmResponse`", wanted);
            }
        }
        let is_element = |part: &Node| ELEMENTS.iter().any(|key| part.get(key).is_some());
        let end = parts.iter().rposition(|(part, _)| is_element(part));
        for (part, pointer) in parts.split_off(end.map_or(0, |end| end + 1)) {
            if let ([call], true) = (part.members(), is_call(&part)) {
                let message = "a call at the end of a response stands after it";
                self.moved_call(call.key_span, &child(&pointer, &call.key), message);
                calls.push((part, pointer));
            } else {
                parts.push((part, pointer));
            }
        }
        calls.sort_by_key(|(call, _)| call.span.start);
        let error = parts
            .iter()
            .rposition(|(part, _)| part.get("error").is_some());
        let call = parts.iter().position(|(part, _)| is_call(part));
        if error.is_some_and(|error| !calls.is_empty() || call.is_some_and(|call| call < error)) {
            let message = "a response with an error can't contain calls before it";
            self.error_at(codes::TIMELINE_SHAPE, body.span, pointer, message);
        }
        Some(self.list(parts, pointer, body.span))
    }

    /// An element as elements with one key each, in written order.
    pub(super) fn element(
        &mut self,
        element: &Node,
        pointer: &str,
        calls: &mut Vec<(Node, String)>,
    ) -> Vec<(Node, String)> {
        if element.as_object().is_none() {
            let what = "an element of `llmResponse`";
            self.wrong_type(element, pointer, what, "a mapping");
        }
        let mut element = element.clone();
        self.rename_keys(&mut element, pointer, META);
        let mut parts = Vec::new();
        for Member {
            key,
            key_span,
            value,
        } in element.members()
        {
            let at = child(pointer, key);
            let mut value = value.clone();
            let part = |key: &str, value| {
                let mut part = object(key, *key_span, value);
                part.span = element.span;
                (part, pointer.to_owned())
            };
            match key.as_str() {
                "think" => self.entries(&mut value, &at, &entries::THINK),
                "assistant" => self.entries(&mut value, &at, &entries::ASSISTANT),
                "tool" => {
                    let message = "`tool` is not allowed inside a response";
                    self.moved_call(*key_span, &at, message);
                    let call = self.inline(&value, &at);
                    calls.extend(call.map(|call| part("agentToolUse", call)));
                    continue;
                }
                "agentToolUse" => match self.call(&value, &at, &[]) {
                    Some(call) => value = call,
                    None => continue,
                },
                "error" => {}
                key if OTHER_PARTS.contains(&key) => {}
                _ => {
                    self.unknown_part(key, *key_span, &at);
                    continue;
                }
            }
            parts.push(part(key, value));
        }
        parts
    }

    /// Reports a call that follows the response, though it is written inside.
    fn moved_call(&mut self, span: Span, at: &str, message: &str) {
        let modern = "write `- agentToolUse: …` as an event after the response";
        self.legacy(codes::TIMELINE_INLINE_TOOL, span, at, message, modern);
    }

    fn unknown_part(&mut self, key: &str, span: Span, at: &str) {
        let message = format!("unknown part `{}` in `llmResponse`", cut(key, 40));
        let found = self.error_at(codes::TIMELINE_SHAPE, span, at, message);
        found.suggest(key, ELEMENTS.into_iter().chain(OTHER_PARTS));
        found.help = Some(match AbstractTool::meant_by(key) {
            Some(tool) => format!("write `- {}: …` as an event after the response", tool.name),
            None => "its parts are `think`, `assistant`, `agentToolUse` and `error`".to_owned(),
        });
    }
}
