//! Older forms as canonical text: edits that touch only the bytes that must change, so that comments and layout stay.
//!
//! Where an edit can't be sure of the layout, there is none: the file is then read as before, with its warning.

use super::loader::Loader;
use cuecard_source::Span;
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::value::Json;

/// Whether a node is written in a block and not as `{…}`, nor as an alias.
fn is_block(loader: &Loader<'_>, node: &Node) -> bool {
    !loader.slice(node.span).starts_with(['{', '[', '*'])
}

fn is_flow(loader: &Loader<'_>, node: &Node) -> bool {
    loader.slice(node.span).starts_with('{')
}

/// Where the line of an offset begins.
fn line_start(loader: &Loader<'_>, offset: u32) -> u32 {
    let before = loader.source().text().get(..offset as usize);
    let start = before
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |at| at + 1);
    u32::try_from(start).unwrap_or(u32::MAX)
}

/// How many characters stand before an offset in its line.
fn column(loader: &Loader<'_>, offset: u32) -> usize {
    let span = Span {
        start: line_start(loader, offset),
        end: offset,
    };
    loader.slice(span).chars().count()
}

/// Where the lines of a span begin, its first line and blank ones aside.
fn lines(loader: &Loader<'_>, span: Span) -> Vec<u32> {
    let text = loader.slice(span);
    text.match_indices('\n')
        .filter(|(at, _)| {
            let rest = &text[at + 1..];
            let line = rest.split('\n').next().unwrap_or_default();
            !line.trim().is_empty()
        })
        .map(|(at, _)| span.start + u32::try_from(at + 1).unwrap_or(0))
        .collect()
}

/// Indents the lines of a span, its first line aside.
fn indent(loader: &mut Loader<'_>, span: Span, by: usize) {
    for line in lines(loader, span) {
        loader.insert(line, " ".repeat(by), span);
    }
}

/// A value as JSON, which is YAML too. Comments in it would be lost: then there is no edit.
pub(super) fn value(loader: &mut Loader<'_>, node: &Node, json: &Json) {
    let written = loader.slice(node.span);
    if !written.contains('#') && !written.starts_with('*') {
        loader.replace(node.span, json.to_string());
    }
}

/// `[{name, value}]` for a mapping of scalars.
pub(super) fn names_and_values(loader: &mut Loader<'_>, node: &Node) {
    let scalar = |member: &Member| match &member.value.kind {
        NodeKind::String(text) | NodeKind::Number(text) => Some(text.clone()),
        NodeKind::Bool(flag) => Some(flag.to_string()),
        _ => None,
    };
    let entry = |member: &Member| {
        let value = scalar(member)?;
        Some(serde_json::json!({"name": member.key, "value": value}))
    };
    let entries: Option<Vec<Json>> = node.members().iter().map(entry).collect();
    if let Some(entries) = entries.filter(|entries| !entries.is_empty()) {
        value(loader, node, &Json::Array(entries));
    }
}

/// A text with a delay of 0.
pub(super) fn time_text(loader: &mut Loader<'_>, node: &Node, is_listed: bool) {
    let NodeKind::String(text) = &node.kind else {
        return;
    };
    let whole = with_header(loader, node.span);
    let written = loader.slice(whole);
    if written.starts_with('*') {
        return;
    }
    let quoted = match written.starts_with(['"', '\'']) && !written.contains('\n') {
        true => written.to_owned(),
        false => Json::from(text.as_str()).to_string(),
    };
    let entry = match is_listed {
        true => format!("[0, {quoted}]"),
        false => format!("[[0, {quoted}]]"),
    };
    loader.replace(whole, entry);
}

/// The place of a text with the `|` or `>` before it, if it has one.
fn with_header(loader: &Loader<'_>, span: Span) -> Span {
    let text = loader.source().text();
    let before = text.get(..span.start as usize).unwrap_or_default();
    let Some((head, indent)) = before.rsplit_once('\n') else {
        return span;
    };
    let head = head.trim_end();
    let bare =
        head.trim_end_matches(|last: char| matches!(last, '+' | '-') || last.is_ascii_digit());
    if !indent.trim().is_empty() || !bare.ends_with(['|', '>']) {
        return span;
    }
    let header = bare.len() - 1;
    match bare[..header].ends_with([' ', '\t']) {
        true => Span::new(header, span.end as usize),
        false => span,
    }
}

/// A list of mappings with one key each, for one mapping.
pub(super) fn list_of_members(loader: &mut Loader<'_>, node: &Node) {
    let members = node.members();
    if is_block(loader, node) {
        for member in members {
            let whole = Span {
                start: member.key_span.start,
                end: member.value.span.end.max(member.key_span.end),
            };
            loader.insert(whole.start, "- ", member.key_span);
            indent(loader, whole, 2);
        }
    } else if is_flow(loader, node) {
        loader.insert(node.span.start, "[", node.span);
        for pair in members.windows(2) {
            let [before, after] = pair else { continue };
            loader.insert(before.value.span.end, "}", before.key_span);
            loader.insert(after.key_span.start, "{", after.key_span);
        }
        loader.insert(node.span.end, "]", node.span);
    }
}

/// `llmResponse: [- think: …]` for an item with top-level elements; whether that could be done.
pub(super) fn wrap_response(loader: &mut Loader<'_>, item: &Node, keys: &[&Member]) -> bool {
    let are_all_elements = item.members().iter().all(|member| {
        ["_meta", "usage", "stopReason"].contains(&member.key.as_str())
            || keys.iter().any(|key| key.key == member.key)
    });
    if !is_block(loader, item) || !are_all_elements {
        return false;
    }
    let column = column(loader, item.span.start);
    let head = format!("llmResponse:\n{}- ", " ".repeat(column + 2));
    loader.insert(item.span.start, head, item.span);
    let first_of: Vec<u32> = item
        .members()
        .iter()
        .skip(1)
        .filter(|member| keys.iter().any(|key| key.key == member.key))
        .map(|member| member.key_span.start)
        .collect();
    for line in lines(loader, item.span) {
        let start = first_of
            .iter()
            .find(|&&start| line_start(loader, start) == line);
        match start {
            Some(&start) => {
                loader.insert(line, "  ", item.span);
                loader.insert(start, "- ", item.span);
            }
            None => loader.insert(line, "    ", item.span),
        }
    }
    true
}

/// Makes an item an element of the response before it; whether that could be done.
pub(super) fn append_element(loader: &mut Loader<'_>, item: &Node) -> bool {
    let start = line_start(loader, item.span.start);
    let before = loader.slice(Span {
        start,
        end: item.span.start,
    });
    let Some(dash) = before.find('-') else {
        return false;
    };
    if !before[..dash].trim().is_empty() || !before[dash + 1..].trim().is_empty() {
        return false;
    }
    let by = column(loader, item.span.start) + 2 - dash;
    loader.insert(start, " ".repeat(by), item.span);
    indent(loader, item.span, by);
    true
}

/// `X: {…}` for `{type: X, …}`.
pub(super) fn untag(loader: &mut Loader<'_>, item: &Node, tag: &Member, name: &str) {
    let members = item.members();
    let is_first = members.first().is_some_and(|first| first.key == tag.key);
    let has_fault = item.get("fault").is_some();
    let is_scalar = members.len() == 2
        && members.iter().any(|member| {
            ["value", "label", "entries", "inputs", "elements", "ms"].contains(&member.key.as_str())
        });
    if !is_first || has_fault || is_scalar {
        return;
    }
    let tagged = Span {
        start: tag.key_span.start,
        end: tag.value.span.end,
    };
    let Some(next) = members.get(1) else {
        loader.replace(tagged, format!("{name}: true"));
        return;
    };
    if is_block(loader, item) {
        loader.replace(tagged, format!("{name}:"));
        indent(loader, item.span, 2);
    } else if is_flow(loader, item) {
        let to_next = Span {
            start: tagged.start,
            end: next.key_span.start,
        };
        loader.replace(to_next, format!("{name}: {{"));
        loader.insert(item.span.end, "}", item.span);
    }
}

/// `assert: {git: …}` for `assertGit: …`.
pub(super) fn assert_git(loader: &mut Loader<'_>, item: &Node, key: &Member) {
    if is_block(loader, item) {
        let column = column(loader, key.key_span.start);
        let head = format!("assert:\n{}git", " ".repeat(column + 2));
        loader.replace(key.key_span, head);
        let whole = Span {
            start: key.key_span.start,
            end: key.value.span.end,
        };
        indent(loader, whole, 2);
    } else if is_flow(loader, item) {
        loader.replace(key.key_span, "assert: {git");
        loader.insert(key.value.span.end, "}", key.key_span);
    }
}

/// Moves `toolCallId` out of the arguments, to stand before them.
pub(super) fn lift_call_id(loader: &mut Loader<'_>, body: &Node, args: &Member) {
    let members = args.value.members();
    let Some(idx) = members.iter().position(|member| member.key == "toolCallId") else {
        return;
    };
    let found = &members[idx];
    let whole = Span {
        start: found.key_span.start,
        end: found.value.span.end,
    };
    let written = loader.slice(whole);
    if written.contains('\n') || members.len() < 2 || body.get("toolCallId").is_some() {
        return;
    }
    let separator = match (is_block(loader, body), is_flow(loader, body)) {
        (true, _) => format!("\n{}", " ".repeat(column(loader, args.key_span.start))),
        (_, true) => ", ".to_owned(),
        _ => return,
    };
    let from = match (members.get(idx + 1), idx.checked_sub(1)) {
        (Some(next), _) => Span {
            start: whole.start,
            end: next.key_span.start,
        },
        (None, Some(before)) => Span {
            start: members[before].value.span.end,
            end: whole.end,
        },
        (None, None) => return,
    };
    // A comment in between would go with it.
    if loader.slice(from).contains('#') || loader.slice(args.value.span).starts_with('*') {
        return;
    }
    loader.insert(
        args.key_span.start,
        format!("{written}{separator}"),
        found.key_span,
    );
    loader.replace(from, "");
}
