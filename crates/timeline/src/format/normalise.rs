//! Older forms as the canonical tree, each with its warning and its conversion, before types are read from it.

use super::convert;
use super::events::META;
use super::loader::{Alias, Loader, alias, child, member};
use super::normalise_entries::{self, INPUTS};
use crate::script::EventRow;
use cuecard_source::Span;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::Object;

/// Other spellings of keys: of which objects (a pointer, in which `*` is any item), and their canonical names.
const RENAMES: &[(&str, &[Alias])] = &[
    ("/repo/files/*", &[alias("content", "contents")]),
    ("/expect", &[alias("exit_code", "exitCode")]),
];

/// The same, of the bodies of events.
const EVENT_RENAMES: &[(&str, &[Alias])] = &[
    (
        "/agentEdits",
        &[alias("old_text", "oldText"), alias("new_text", "newText")],
    ),
    ("/userCommand/expect", &[alias("exit_code", "exitCode")]),
];

/// Where an older word for a reason to stop may stand.
const STOP_REASONS: &[&str] = &[
    "/assert/acp/session/*/stopReason",
    "/sessionStart/expectedPromptResponse/stopReason",
    "/userInputs/*/expectedResponse/stopReason",
];

/// Events that may have no body, and whether they can have fields.
pub(super) const MARKERS: &[(&str, bool)] = &[
    ("sessionStart", true),
    ("userCancelSession", true),
    ("complete", false),
    ("merge", false),
];

/// Events whose body need be no mapping.
pub(super) const SCALARS: &[&str] = &[
    "llmResponse",
    "userInputs",
    "userCancelSession",
    "baseTimeDelta",
    "screenshot",
    "log",
    "status",
    "complete",
    "merge",
];

/// Objects that should be lists of `{name, value}`.
const PAIRS: &[&str] = &["/acp/mcpServers/*/env", "/acp/mcpServers/*/headers"];

/// The canonical form of what stands beside the timeline.
pub(super) fn settings(loader: &mut Loader<'_>, root: &mut Node) {
    for (path, aliases) in RENAMES {
        each(loader, root, "", path, &mut |loader, node, pointer| {
            *node = loader.renamed(node, pointer, aliases).into_owned();
        });
    }
    for path in PAIRS {
        each(loader, root, "", path, &mut names_and_values);
    }
}

/// The canonical body of an event: what stands beside it and belongs to it moves into it. `None` if there is no event.
pub(super) fn body(
    loader: &mut Loader<'_>,
    spec: &EventRow,
    key: &Member,
    item: Object<'_>,
) -> Option<Node> {
    let event = spec.key;
    let pointer = item.child_pointer(&key.key);
    let mut body = loader.renamed(&key.value, &pointer, META).into_owned();
    if key.key == "assertGit" {
        let message = "`assertGit` is an older spelling of `assert: {git: …}`";
        let modern = "write `assert: {git: …}`";
        let code = codes::TIMELINE_KEY_ALIAS;
        loader.legacy(code, key.key_span, &pointer, message, modern);
        loader.is_restructured = true;
        body = object("git", key.key_span, body);
    }
    let of_event = |path: &'static str| {
        let path = path.strip_prefix('/')?.strip_prefix(event)?;
        (path.is_empty() || path.starts_with('/')).then_some(path)
    };
    for (path, aliases) in EVENT_RENAMES {
        if let Some(path) = of_event(path) {
            let change = &mut |loader: &mut Loader<'_>, node: &mut Node, at: &str| {
                *node = loader.renamed(node, at, aliases).into_owned();
            };
            each(loader, &mut body, &pointer, path, change);
        }
    }
    for path in STOP_REASONS.iter().copied().filter_map(of_event) {
        each(loader, &mut body, &pointer, path, &mut stop_reason);
    }
    if let Some((marker, has_fields)) = MARKERS.iter().find(|(marker, _)| *marker == event) {
        marked(loader, marker, &mut body, &pointer, *has_fields)?;
    }
    match (event, &body.kind) {
        ("log", NodeKind::String(_)) => body = object("message", body.span, body),
        ("userInputs", _) => normalise_entries::entries(loader, &mut body, &pointer, &INPUTS),
        _ => {}
    }
    let beside = ["at", "expectedResponse"].into_iter();
    let beside = beside.filter(|key| spec.beside.contains(key));
    let beside = beside.filter_map(|key| member(item.node, key)).next();
    if let (NodeKind::Object(members), Some(beside)) = (&mut body.kind, beside) {
        let is_inside = members.iter().any(|member| member.key == beside.key);
        match is_inside {
            false => members.push(beside.clone()),
            true if beside.key == "at" => {}
            true => {
                let at = item.child_pointer(&beside.key);
                let message = format!(
                    "`{}` is given both inside and next to the event",
                    beside.key
                );
                loader.invalid(beside.value.span, &at, message);
            }
        }
    }
    Some(body)
}

/// An object with one key.
pub(super) fn object(key: &str, key_span: Span, value: Node) -> Node {
    let span = value.span;
    let key = key.to_owned();
    let member = Member {
        key,
        key_span,
        value,
    };
    Node {
        kind: NodeKind::Object(vec![member]),
        span,
    }
}

/// The body of an event that may have none: an object if it can have fields, else null.
fn marked(
    loader: &mut Loader<'_>,
    name: &str,
    body: &mut Node,
    pointer: &str,
    has_fields: bool,
) -> Option<()> {
    match &body.kind {
        NodeKind::Bool(false) => {
            let code = codes::TIMELINE_MARKER_OFF;
            let message = format!("`{name}: false` does nothing");
            loader.legacy(code, body.span, pointer, message, "remove the event");
            return None;
        }
        NodeKind::Object(_) if has_fields => return Some(()),
        NodeKind::Object(members) => {
            for member in members.iter().filter(|member| member.key != "_meta") {
                let at = child(pointer, &member.key);
                let message = format!("`{name}` does not take any fields");
                loader.warning(codes::TIMELINE_UNKNOWN, member.key_span, &at, message);
            }
        }
        NodeKind::Null | NodeKind::Bool(true) => {}
        _ => {
            let what = format!("`{name}`");
            let wanted = "true, or nothing";
            loader.reader.wrong_type(body, pointer, &what, wanted);
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
fn stop_reason(loader: &mut Loader<'_>, node: &mut Node, pointer: &str) {
    let modern = match node.as_str() {
        Some("completed") => "end_turn",
        Some("interrupted") => "cancelled",
        _ => return,
    };
    let code = codes::TIMELINE_ACP_STOP_REASON;
    let word = node.as_str().unwrap_or_default().to_owned();
    loader.rename(code, node.span, pointer, &word, modern);
    node.kind = NodeKind::String(modern.to_owned());
}

/// Changes the values at a path.
fn each(
    loader: &mut Loader<'_>,
    node: &mut Node,
    pointer: &str,
    path: &str,
    change: &mut impl FnMut(&mut Loader<'_>, &mut Node, &str),
) {
    let Some(path) = path.strip_prefix('/') else {
        return change(loader, node, pointer);
    };
    let (step, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    match &mut node.kind {
        NodeKind::Array(items) if step == "*" => {
            for (idx, item) in items.iter_mut().enumerate() {
                let at = loader.item_pointer(item, pointer, idx);
                each(loader, item, &at, rest, change);
            }
        }
        // One alone is a list of one.
        _ if step == "*" => each(loader, node, pointer, rest, change),
        NodeKind::Object(members) => {
            for member in members.iter_mut().filter(|member| member.key == step) {
                each(
                    loader,
                    &mut member.value,
                    &child(pointer, step),
                    rest,
                    change,
                );
            }
        }
        _ => {}
    }
}

/// `[{name, value}]` for an object.
fn names_and_values(loader: &mut Loader<'_>, node: &mut Node, pointer: &str) {
    let NodeKind::Object(members) = &node.kind else {
        return;
    };
    if !members.is_empty() {
        let code = codes::TIMELINE_FORM;
        let what = super::pieces::name_of(pointer);
        let message = format!("{what} must be a list, not a mapping");
        let modern = "write a list: `[{name: …, value: …}]`";
        loader.legacy(code, node.span, pointer, message, modern);
    }
    let items = members.iter().map(|member| {
        let part = |key: &str, value: Node| Member {
            key: key.to_owned(),
            key_span: member.key_span,
            value,
        };
        let name = Node {
            kind: NodeKind::String(member.key.clone()),
            span: member.key_span,
        };
        let parts = vec![part("name", name), part("value", member.value.clone())];
        Node {
            kind: NodeKind::Object(parts),
            span: member.value.span,
        }
    });
    let items = Node {
        kind: NodeKind::Array(items.collect()),
        span: node.span,
    };
    if !members.is_empty() {
        convert::value(loader, node, &items.to_value());
    }
    *node = items;
}
