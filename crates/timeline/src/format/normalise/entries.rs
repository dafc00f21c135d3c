//! Older forms of entries in time and of the blocks in them.

use super::super::pieces::item_pointer;
use super::{Alias, Normaliser, child};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Member, Node, NodeKind};

/// How entries of a list are written.
pub(super) struct Shape {
    /// What they are, for messages: "an entry of `think`".
    what: &'static str,
    aliases: &'static [Alias],
    /// What their values are.
    value: Value,
}

#[derive(Clone, Copy, PartialEq)]
enum Value {
    Text,
    Block(&'static str),
    Content(&'static str),
}

const CONTENT: &[Alias] = &[("timestamp", "relativeTime"), ("text", "content")];

pub(super) const THINK: Shape = Shape {
    what: "an entry of `think`",
    aliases: CONTENT,
    value: Value::Text,
};

pub(super) const ASSISTANT: Shape = Shape {
    what: "an entry of `assistant`",
    aliases: CONTENT,
    value: Value::Block("content"),
};

pub(super) const PROGRESS: Shape = Shape {
    what: "an entry of `progress`",
    aliases: &[
        ("timestamp", "relativeTime"),
        ("text", "message"),
        ("content", "message"),
    ],
    value: Value::Text,
};

pub(super) const INPUTS: Shape = Shape {
    what: "an entry of `userInputs`",
    aliases: &[("timestamp", "relativeTime")],
    value: Value::Content("input"),
};

const BLOCK: &[Alias] = &[
    ("mime_type", "mimeType"),
    ("old_text", "oldText"),
    ("new_text", "newText"),
    ("meta", "_meta"),
];

fn is_pair(items: &[Node]) -> bool {
    matches!(items, [first, second] if first.as_number_text().is_some() && second.as_array().is_none())
}

impl Normaliser<'_, '_> {
    /// The canonical form of a list of entries: pairs and objects.
    pub(super) fn entries(&mut self, node: &mut Node, pointer: &str, shape: &Shape) {
        let is_listed = match &node.kind {
            NodeKind::Array(items) if is_pair(items) => {
                let modern = "write a list of entries: `[[ms, …]]`";
                self.alone(node, pointer, shape, modern);
                false
            }
            NodeKind::Array(_) => true,
            NodeKind::Object(_) => {
                self.alone(node, pointer, shape, "write a list of entries");
                false
            }
            NodeKind::String(_) => false,
            NodeKind::Null => {
                node.kind = NodeKind::Array(Vec::new());
                true
            }
            _ => return,
        };
        if !is_listed {
            node.kind = NodeKind::Array(vec![node.clone()]);
        }
        let NodeKind::Array(items) = &mut node.kind else {
            return;
        };
        for (idx, item) in items.iter_mut().enumerate() {
            let at = match is_listed {
                true => item_pointer(self, item, pointer, idx),
                false => pointer.to_owned(),
            };
            self.entry(item, &at, shape, is_listed);
        }
    }

    fn alone(&mut self, node: &Node, pointer: &str, shape: &Shape, modern: &str) {
        let message = format!("expected a list, found {}", shape.what);
        self.legacy(codes::TIMELINE_FORM, node.span, pointer, message, modern);
    }

    fn entry(&mut self, item: &mut Node, pointer: &str, shape: &Shape, is_listed: bool) {
        if let NodeKind::String(_) = &item.kind {
            let modern = match is_listed {
                true => "write `[0, \"…\"]`",
                false => "write a list of entries: `[[0, \"…\"]]`",
            };
            let message = format!("{} has no time: a delay of 0 is assumed", shape.what);
            self.legacy(codes::TIMELINE_FORM, item.span, pointer, message, modern);
            let now = NodeKind::Number("0".to_owned()).at(item.span);
            item.kind = NodeKind::Array(vec![now, item.clone()]);
        }
        self.rename_keys(item, pointer, shape.aliases);
        let (Value::Block(key) | Value::Content(key)) = shape.value else {
            return;
        };
        let (value, at) = match &mut item.kind {
            NodeKind::Array(pair) => (pair.get_mut(1), format!("{pointer}/1")),
            NodeKind::Object(members) => {
                let member = members.iter_mut().find(|member| member.key == key);
                (member.map(|it| &mut it.value), child(pointer, key))
            }
            _ => return,
        };
        match value {
            Some(value) if shape.value == Value::Content(key) => self.content(value, &at),
            Some(value) => self.block(value, &at),
            None => {}
        }
    }

    fn content(&mut self, node: &mut Node, pointer: &str) {
        match &mut node.kind {
            NodeKind::Array(items) => {
                for (idx, item) in items.iter_mut().enumerate() {
                    let at = item_pointer(self, item, pointer, idx);
                    self.block(item, &at);
                }
            }
            NodeKind::Object(_) => {
                let message = "expected a list of content blocks, found a single block";
                let modern = "write a list of blocks: `- type: …`";
                self.legacy(codes::TIMELINE_FORM, node.span, pointer, message, modern);
                self.block(node, pointer);
                node.kind = NodeKind::Array(vec![node.clone()]);
            }
            _ => {}
        }
    }

    fn block(&mut self, node: &mut Node, pointer: &str) {
        self.rename_keys(node, pointer, BLOCK);
        let NodeKind::Object(members) = &mut node.kind else {
            return;
        };
        for Member { key, value, .. } in members {
            let at = child(pointer, key);
            match (key.as_str(), &value.kind) {
                ("resource", _) => self.rename_keys(value, &at, BLOCK),
                ("type", NodeKind::String(word)) if word == "resourceLink" => {
                    let (code, name) = (codes::TIMELINE_KEY_ALIAS, "resource_link");
                    self.rename(code, value.span, &at, "resourceLink", name);
                    value.kind = NodeKind::String(name.to_owned());
                }
                ("annotations", NodeKind::Array(items)) => {
                    let message = "a list of annotations is read as one mapping";
                    let modern = "write one mapping: `annotations: {priority: 0.5}`";
                    self.legacy(codes::TIMELINE_FORM, value.span, &at, message, modern);
                    if let Some(item) = items.iter().find(|item| item.as_object().is_none()) {
                        self.wrong_type(item, &at, "`annotations`", "a mapping");
                    }
                    let mut all: Vec<Member> = Vec::new();
                    for member in items.iter().flat_map(Node::members) {
                        match all.iter_mut().find(|known| known.key == member.key) {
                            Some(known) => known.value = member.value.clone(),
                            None => all.push(member.clone()),
                        }
                    }
                    value.kind = NodeKind::Object(all);
                }
                _ => {}
            }
        }
    }
}
