//! Older forms as the canonical tree, each with its warning and its conversion, before types are read from it.

use super::convert;
use super::loader::{Alias, Loader, alias, child};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::Object;

/// Other spellings of keys: of which objects (a pointer, in which `*` is any item), and their canonical names.
const RENAMES: &[(&str, &[Alias])] = &[
    ("/repo/files/*", &[alias("content", "contents")]),
    ("/expect", &[alias("exit_code", "exitCode")]),
];

/// Objects that should be lists of `{name, value}`.
const PAIRS: &[&str] = &["/acp/mcpServers/*/env", "/acp/mcpServers/*/headers"];

/// The canonical form of what stands beside the timeline.
pub(super) fn settings(loader: &mut Loader<'_>, root: &mut Node) {
    for (path, aliases) in RENAMES {
        each(loader, root, "", path, &mut |loader, node, pointer| {
            let renamed = loader.renamed(node, pointer, aliases).into_owned();
            *node = renamed;
        });
    }
    for path in PAIRS {
        each(loader, root, "", path, &mut names_and_values);
    }
}

/// The canonical body of an event: what stands beside it and belongs to it moves into it.
pub(super) fn body(loader: &mut Loader<'_>, event: &str, body: &Node, item: Object<'_>) -> Node {
    let pointer = item.child_pointer(event);
    let aliases: &[Alias] = match event {
        "agentEdits" => &[alias("old_text", "oldText"), alias("new_text", "newText")],
        _ => &[],
    };
    let mut body = loader.renamed(body, &pointer, aliases).into_owned();
    let beside = match event {
        "userEdits" => "at",
        "initialize" | "authenticate" => "expectedResponse",
        _ => "",
    };
    let beside = item.node.members().iter().find(|it| it.key == beside);
    match (&mut body.kind, beside) {
        (NodeKind::String(_), _) if event == "log" => {
            let message = Member {
                key: "message".to_owned(),
                key_span: body.span,
                value: body.clone(),
            };
            body.kind = NodeKind::Object(vec![message]);
        }
        (NodeKind::Object(members), Some(beside)) => {
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
        _ => {}
    }
    body
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
    convert::names_and_values(loader, node);
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
    let items = items.collect();
    node.kind = NodeKind::Array(items);
}
