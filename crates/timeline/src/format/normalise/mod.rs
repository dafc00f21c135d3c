//! Older forms as the canonical tree, each with its warning and its conversion, before types are read from it.

mod calls;
mod convert;
mod entries;
mod items;
mod response;

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use super::pieces::{child, item_pointer, name_of};
use crate::script::EventRow;
use cuecard_source::diagnostic::{Code, codes};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::{Json, cut};
use cuecard_source::{Edit, Span};

pub(super) use items::WRAPPERS;
pub(super) use response::ELEMENTS;

/// The codes of older forms that are more than another word.
const RESTRUCTURED: [Code; 5] = [
    codes::TIMELINE_MARKER_OFF,
    codes::TIMELINE_LEGACY_EVENT,
    codes::TIMELINE_INLINE_TOOL,
    codes::TIMELINE_MISPLACED,
    codes::TIMELINE_FORM,
];

/// Another spelling of a key, which is reported, and its canonical one.
type Alias = (&'static str, &'static str);

const META: &[Alias] = &[("meta", "_meta")];

/// Other spellings of keys: of which objects (a pointer, in which `*` is any item), and their canonical names.
const RENAMES: &[(&str, &[Alias])] = &[
    ("/repo/files/*", &[("content", "contents")]),
    ("/expect", &[("exit_code", "exitCode")]),
];

/// The same, of the bodies of events.
const EVENT_RENAMES: &[(&str, &[Alias])] = &[
    (
        "/agentEdits",
        &[("old_text", "oldText"), ("new_text", "newText")],
    ),
    ("/userCommand/expect", &[("exit_code", "exitCode")]),
];

/// Where an older word for a reason to stop may stand.
const STOP_REASONS: &[&str] = &[
    "/assert/acp/session/*/stopReason",
    "/sessionStart/expectedPromptResponse/stopReason",
    "/userInputs/*/expectedResponse/stopReason",
];

/// Events that may have no body, and whether they can have fields.
const MARKERS: &[(&str, bool)] = &[
    ("sessionStart", true),
    ("userCancelSession", true),
    ("complete", false),
    ("merge", false),
];

/// Objects that should be lists of `{name, value}`.
const PAIRS: &[&str] = &["/acp/mcpServers/*/env", "/acp/mcpServers/*/headers"];

/// The tool and the arguments of a call as they were written, if otherwise.
pub(super) type WrittenCall = (Option<String>, Option<Json>);

/// Makes the tree of a file canonical.
pub(super) struct Normaliser<'r, 'a> {
    pub reader: &'r mut Reader<'a>,
    /// What makes the text canonical.
    pub edits: Vec<Edit>,
    /// Calls as they were written, by the place of the tool's name.
    pub written_calls: HashMap<Span, WrittenCall>,
    /// Whether the item at hand has an older form that is more than another word.
    is_restructured: bool,
    /// Whether it is an element of a response, without that.
    is_element: bool,
    /// Whether events may be written with `type`.
    allows_type_steps: bool,
}

impl<'a> Deref for Normaliser<'_, 'a> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Reader<'a> {
        self.reader
    }
}

impl DerefMut for Normaliser<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.reader
    }
}

impl<'r, 'a> Normaliser<'r, 'a> {
    pub(super) fn new(reader: &'r mut Reader<'a>) -> Self {
        Self {
            reader,
            edits: Vec::new(),
            written_calls: HashMap::new(),
            is_restructured: false,
            is_element: false,
            allows_type_steps: false,
        }
    }

    /// The canonical form of a whole file.
    pub(super) fn root(&mut self, root: &mut Node) {
        let allows = |key: &str| {
            let flag = root.get("compat").and_then(|compat| compat.get(key));
            flag.and_then(Node::as_bool) == Some(true)
        };
        let allows_inline_terminal = allows("allowInlineTerminal");
        self.allows_type_steps = allows("allowTypeSteps");
        for (path, aliases) in RENAMES {
            self.each(root, "", path, &mut |this, node, pointer| {
                this.rename_keys(node, pointer, aliases);
            });
        }
        for path in PAIRS {
            self.each(root, "", path, &mut Self::names_and_values);
        }
        let NodeKind::Object(members) = &mut root.kind else {
            return;
        };
        for Member { key, value, .. } in members {
            match (key.as_str(), &value.kind) {
                ("initialPrompt", kind) if *kind != NodeKind::Null => self.legacy(
                    codes::TIMELINE_KEY_ALIAS,
                    value.span,
                    "/initialPrompt",
                    "`initialPrompt` only selects the timeline and is never sent",
                    "write the prompt as the first entry of `userInputs`",
                ),
                ("terminalRef", NodeKind::Object(_)) if !allows_inline_terminal => self.legacy(
                    codes::TIMELINE_FORM,
                    value.span,
                    "/terminalRef",
                    "inline terminal configuration: expected a path",
                    "move it to a file next to the timeline, or set compat.allowInlineTerminal",
                ),
                ("timeline", NodeKind::Array(_)) => *value = self.events(value, "/timeline"),
                _ => {}
            }
        }
    }

    /// Warns about an older form and says what to write.
    fn legacy(
        &mut self,
        code: Code,
        span: Span,
        pointer: &str,
        message: impl Into<String>,
        modern: impl Into<String>,
    ) {
        let diagnostic = self.warning_at(code, span, pointer, message);
        diagnostic.help = Some(modern.into());
        self.is_restructured |= RESTRUCTURED.contains(&code);
    }

    /// Replaces the text under a span when the file is converted.
    fn replace(&mut self, at: Span, text: impl Into<String>) {
        self.edits.push(Edit::new(at, text));
    }

    /// Replaces a word when the file is converted. One in quotes stays so: `"a":1` means something else without.
    fn replace_word(&mut self, at: Span, word: &str) {
        let quote = self.source.slice(at).chars().next();
        match quote.filter(|quote| matches!(quote, '"' | '\'')) {
            Some(quote) => self.replace(at, format!("{quote}{word}{quote}")),
            None => self.replace(at, word),
        }
    }

    /// Reports another spelling of a key or value, and replaces it in the conversion.
    fn rename(&mut self, code: Code, span: Span, pointer: &str, found: &str, name: &str) {
        let message = format!("`{}` is an older spelling of `{name}`", cut(found, 40));
        self.legacy(code, span, pointer, message, format!("write `{name}`"));
        self.replace_word(span, name);
    }

    /// Gives keys of a mapping their canonical names. Reports other spellings, and keys that stand there twice over.
    fn rename_keys(&mut self, node: &mut Node, pointer: &str, aliases: &[Alias]) {
        let NodeKind::Object(members) = &mut node.kind else {
            return;
        };
        let mut idx = 0;
        while let Some(Member { key, key_span, .. }) = members.get(idx) {
            let (at, span) = (child(pointer, key), *key_span);
            match aliases.iter().find(|(alias, _)| alias == key) {
                None => {}
                Some((alias, name)) if members.iter().any(|member| member.key == *name) => {
                    let message = format!("`{alias}` and `{name}` mean the same");
                    self.error_at(codes::TIMELINE_SHAPE, span, &at, message)
                        .help = Some(format!("keep `{name}` only"));
                    members.remove(idx);
                    continue;
                }
                Some((alias, name)) => {
                    self.rename(codes::TIMELINE_KEY_ALIAS, span, &at, alias, name);
                    members[idx].key = (*name).to_owned();
                }
            }
            idx += 1;
        }
    }

    /// Items of a list with their pointers.
    fn items<'n>(&self, items: &'n [Node], pointer: &str) -> Vec<(&'n Node, String)> {
        let items = items.iter().enumerate();
        let items = items.map(|(idx, item)| (item, item_pointer(self, item, pointer, idx)));
        items.collect()
    }

    /// A list of canonical items, each with the pointer to what it was made of.
    fn list(&mut self, items: Vec<(Node, String)>, pointer: &str, span: Span) -> Node {
        for (idx, (item, written)) in items.iter().enumerate() {
            if *written != item_pointer(self, item, pointer, idx) {
                Rc::make_mut(&mut self.moved).insert(item.span, written.clone());
            }
        }
        NodeKind::Array(items.into_iter().map(|(item, _)| item).collect()).at(span)
    }

    /// The canonical body of an event: what stands beside it and belongs to it moves into it. `None` if there is no event.
    fn body(&mut self, row: &EventRow, key: &Member, item: Object<'_>) -> Option<Node> {
        let event = row.key;
        let pointer = item.child_pointer(&key.key);
        let mut body = key.value.clone();
        self.rename_keys(&mut body, &pointer, META);
        if key.key == "assertGit" {
            let message = "`assertGit` is an older spelling of `assert: {git: …}`";
            let modern = "write `assert: {git: …}`";
            let code = codes::TIMELINE_KEY_ALIAS;
            self.legacy(code, key.key_span, &pointer, message, modern);
            self.is_restructured = true;
            body = object("git", key.key_span, body);
        }
        let of_event = |path: &'static str| {
            let path = path.strip_prefix('/')?.strip_prefix(event)?;
            (path.is_empty() || path.starts_with('/')).then_some(path)
        };
        for (path, aliases) in EVENT_RENAMES {
            if let Some(path) = of_event(path) {
                self.each(&mut body, &pointer, path, &mut |this, node, at| {
                    this.rename_keys(node, at, aliases);
                });
            }
        }
        for path in STOP_REASONS.iter().copied().filter_map(of_event) {
            self.each(&mut body, &pointer, path, &mut Self::stop_reason);
        }
        if let Some((marker, has_fields)) = MARKERS.iter().find(|(marker, _)| *marker == event) {
            self.marked(marker, &mut body, &pointer, *has_fields)?;
        }
        match (event, &body.kind) {
            ("log", NodeKind::String(_)) => body = object("message", body.span, body),
            ("userInputs", _) => self.entries(&mut body, &pointer, &entries::INPUTS),
            _ => {}
        }
        let mut beside = ["at", "expectedResponse"].into_iter();
        let beside = beside.find(|key| row.beside.contains(key));
        let beside = beside.and_then(|key| member(item.node, key));
        if let (NodeKind::Object(members), Some(beside)) = (&mut body.kind, beside) {
            let key = &beside.key;
            match members.iter().any(|member| member.key == *key) {
                false => members.push(beside.clone()),
                true if key == "at" => {}
                true => {
                    let at = item.child_pointer(key);
                    let message = format!("`{key}` is given both inside and next to the event");
                    self.error_at(codes::TIMELINE_SHAPE, beside.value.span, &at, message);
                }
            }
        }
        Some(body)
    }

    /// The body of an event that may have none: an object if it can have fields, else null.
    fn marked(
        &mut self,
        name: &str,
        body: &mut Node,
        pointer: &str,
        has_fields: bool,
    ) -> Option<()> {
        match &body.kind {
            NodeKind::Bool(false) => {
                let code = codes::TIMELINE_MARKER_OFF;
                let message = format!("`{name}: false` does nothing");
                self.legacy(code, body.span, pointer, message, "remove the event");
                return None;
            }
            NodeKind::Object(_) if has_fields => return Some(()),
            NodeKind::Object(members) => {
                for member in members.iter().filter(|member| member.key != "_meta") {
                    let at = child(pointer, &member.key);
                    let message = format!("`{name}` does not take any fields");
                    self.warning_at(codes::TIMELINE_UNKNOWN, member.key_span, &at, message);
                }
            }
            NodeKind::Null | NodeKind::Bool(true) => {}
            _ => {
                let wanted = "true, or nothing";
                self.wrong_type(body, pointer, &format!("`{name}`"), wanted);
                return None;
            }
        }
        body.kind = match has_fields {
            true => NodeKind::Object(Vec::new()),
            false => NodeKind::Null,
        };
        Some(())
    }

    /// Other words for reasons to stop.
    fn stop_reason(&mut self, node: &mut Node, pointer: &str) {
        let (word, modern) = match node.as_str() {
            Some("completed") => ("completed", "end_turn"),
            Some("interrupted") => ("interrupted", "cancelled"),
            _ => return,
        };
        let code = codes::TIMELINE_ACP_STOP_REASON;
        self.rename(code, node.span, pointer, word, modern);
        node.kind = NodeKind::String(modern.to_owned());
    }

    /// Changes the values at a path.
    fn each(
        &mut self,
        node: &mut Node,
        pointer: &str,
        path: &str,
        change: &mut impl FnMut(&mut Self, &mut Node, &str),
    ) {
        let Some(path) = path.strip_prefix('/') else {
            return change(self, node, pointer);
        };
        let (step, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
        match &mut node.kind {
            NodeKind::Array(items) if step == "*" => {
                for (idx, item) in items.iter_mut().enumerate() {
                    let at = item_pointer(self, item, pointer, idx);
                    self.each(item, &at, rest, change);
                }
            }
            // One alone is a list of one.
            _ if step == "*" => self.each(node, pointer, rest, change),
            NodeKind::Object(members) => {
                for member in members.iter_mut().filter(|member| member.key == step) {
                    self.each(&mut member.value, &child(pointer, step), rest, change);
                }
            }
            _ => {}
        }
    }

    /// `[{name, value}]` for an object.
    fn names_and_values(&mut self, node: &mut Node, pointer: &str) {
        let NodeKind::Object(members) = &node.kind else {
            return;
        };
        let items = members.iter().map(
            |Member {
                 key,
                 key_span,
                 value,
             }| {
                let name = NodeKind::String(key.clone()).at(*key_span);
                let parts = [("name", name), ("value", value.clone())];
                let parts = parts.map(|(key, value)| Member::new(key, *key_span, value));
                NodeKind::Object(parts.into()).at(value.span)
            },
        );
        let items = NodeKind::Array(items.collect()).at(node.span);
        if !members.is_empty() {
            let code = codes::TIMELINE_FORM;
            let message = format!("{} must be a list, not a mapping", name_of(pointer));
            let modern = "write a list: `[{name: …, value: …}]`";
            self.legacy(code, node.span, pointer, message, modern);
            self.rewrite(node, &items.to_value());
        }
        *node = items;
    }
}

/// The member of a mapping with this key.
fn member<'n>(node: &'n Node, key: &str) -> Option<&'n Member> {
    node.members().iter().find(|member| member.key == key)
}

/// An object with one key.
fn object(key: &str, key_span: Span, value: Node) -> Node {
    let span = value.span;
    NodeKind::Object(vec![Member::new(key, key_span, value)]).at(span)
}
