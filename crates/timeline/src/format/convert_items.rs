//! Older forms as canonical text, where whole items come, go or move. As everywhere in the conversion: where an edit
//! can't be sure of the layout, there is none.

use super::loader::{Loader, member};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};

/// A call inside of a response, to be moved behind it.
pub(super) struct InlineCall {
    /// The element of the response.
    pub element: Span,
    /// The key and its value, if they can stand as they are.
    pub kept: Option<Span>,
    /// The call in canonical form, if they can't.
    pub written: Option<Json>,
}

/// How an item stands in its list.
enum Layout {
    /// Behind a dash, which is the first thing in its line, at this offset.
    Block { dash: usize },
    /// Between brackets.
    Flow,
}

fn layout_of(source: &SourceFile, item: Span) -> Option<Layout> {
    let start = line_start(source, item.start as usize);
    let before = source.text().get(start..item.start as usize)?;
    match before.trim() {
        "-" => Some(Layout::Block {
            dash: start + before.find('-')?,
        }),
        _ if before.trim_end().ends_with(['[', ',']) || before.trim().is_empty() => {
            Some(Layout::Flow)
        }
        _ => None,
    }
}

fn line_start(source: &SourceFile, offset: usize) -> usize {
    let before = source.text().get(..offset).unwrap_or_default();
    before.rfind('\n').map_or(0, |at| at + 1)
}

/// Where the line of an offset ends, before its line feed.
fn line_end(source: &SourceFile, offset: usize) -> usize {
    let text = source.text();
    let rest = text.get(offset..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |at| offset + at)
}

/// The lines from `start` to the end of the line of `end`, with their line feed, if nothing else stands in them. With
/// a comment behind, the part from `start` to `end` alone, so that the comment stays.
fn whole_lines(source: &SourceFile, start: usize, end: usize) -> Option<Span> {
    let text = source.text();
    let first = line_start(source, start);
    let last = line_end(source, end);
    let (before, after) = (text.get(first..start)?, text.get(end..last)?);
    match (before.trim().is_empty(), after.trim()) {
        (true, "") => Some(Span::new(first, (last + 1).min(text.len()))),
        (true, comment) if comment.starts_with('#') => Some(Span::new(start, end)),
        _ => None,
    }
}

/// Removes items that do nothing, wherever in the file their lists stand.
pub(super) fn remove_items(loader: &mut Loader<'_>, root: &Node, items: &[Span]) {
    if items.is_empty() {
        return;
    }
    let mut nodes = vec![root];
    while let Some(node) = nodes.pop() {
        match &node.kind {
            NodeKind::Array(list) => {
                let is_off = |item: &Node| items.contains(&item.span);
                if list.iter().any(is_off) {
                    remove_from(loader, list, is_off);
                }
                nodes.extend(list);
            }
            NodeKind::Object(members) => nodes.extend(members.iter().map(|member| &member.value)),
            _ => {}
        }
    }
}

fn remove_from(loader: &mut Loader<'_>, list: &[Node], is_off: impl Fn(&Node) -> bool) {
    let source = loader.source();
    let Some(layout) = list.first().and_then(|item| layout_of(source, item.span)) else {
        return;
    };
    let is_empty_then = list.iter().all(&is_off);
    if let Layout::Block { .. } = layout {
        for (idx, item) in list.iter().enumerate().filter(|(_, item)| is_off(item)) {
            let Some(Layout::Block { dash }) = layout_of(source, item.span) else {
                continue;
            };
            if is_empty_then && idx == 0 {
                // A list may stand in the column of its key, and brackets may not.
                loader.replace(Span::new(dash, item.span.end as usize), " []");
            } else if let Some(lines) = whole_lines(source, dash, item.span.end as usize) {
                loader.replace(lines, "");
            }
        }
        return;
    }
    let mut at = 0;
    while at < list.len() {
        let run = list[at..].iter().take_while(|item| is_off(item)).count();
        if run == 0 {
            at += 1;
            continue;
        }
        let last = at + run - 1;
        let (start, end) = match (at.checked_sub(1), list.get(last + 1)) {
            (Some(before), _) => (list[before].span.end, list[last].span.end),
            (None, Some(after)) => (list[at].span.start, after.span.start),
            (None, None) => (list[at].span.start, list[last].span.end),
        };
        let span = Span { start, end };
        if !loader.slice(span).contains('#') {
            loader.replace(span, "");
        }
        at += run;
    }
}

/// Moves calls from inside a response to behind it, as events of their own.
pub(super) fn lift_calls(loader: &mut Loader<'_>, item: &Node, body: &Node, calls: &[InlineCall]) {
    let source = loader.source();
    let (Some(elements), Some(layout)) = (body.as_array(), layout_of(source, item.span)) else {
        return;
    };
    let movable: Vec<(&InlineCall, String)> = calls
        .iter()
        .filter_map(|call| {
            let node = elements.iter().find(|node| node.span == call.element)?;
            if node.members().len() != 1 {
                return None;
            }
            Some((call, moved(source, call, item, &layout)?))
        })
        .collect();
    // The calls keep their order: all of them go, or none.
    if movable.len() != calls.len() {
        return;
    }
    let is_lifted = |node: &Node| calls.iter().any(|call| call.element == node.span);
    let in_block = !loader.slice(body.span).starts_with('[');
    match (elements.iter().all(is_lifted), in_block) {
        (true, true) => {
            let Some(key) = member(item, "llmResponse").map(|member| member.key_span) else {
                return;
            };
            let colon = source.text()[key.end as usize..].find(':');
            let Some(colon) = colon.map(|at| key.end as usize + at + 1) else {
                return;
            };
            remove_lines(loader, elements, &is_lifted);
            loader.insert(u32::try_from(colon).unwrap_or(u32::MAX), " []", key);
        }
        (false, true) => remove_lines(loader, elements, &is_lifted),
        (_, false) => remove_from(loader, elements, is_lifted),
    }
    let end = match layout {
        Layout::Block { .. } => line_end(source, item.span.end as usize),
        Layout::Flow => item.span.end as usize,
    };
    let text: String = movable.iter().map(|(_, text)| text.as_str()).collect();
    loader.insert(u32::try_from(end).unwrap_or(u32::MAX), text, item.span);
}

/// Takes the lines of items of a block list out.
fn remove_lines(loader: &mut Loader<'_>, items: &[Node], is_off: &impl Fn(&Node) -> bool) {
    let source = loader.source();
    for item in items.iter().filter(|item| is_off(item)) {
        if let Some(Layout::Block { dash }) = layout_of(source, item.span) {
            // From the line feed before them, so that what comes behind the last one stays there.
            let start = line_start(source, dash).saturating_sub(1);
            let end = line_end(source, item.span.end as usize);
            loader.replace(Span::new(start, end), "");
        }
    }
}

/// A call as the text of an item behind the response, with what separates it from that.
fn moved(source: &SourceFile, call: &InlineCall, item: &Node, layout: &Layout) -> Option<String> {
    let text = match (call.kept, &call.written) {
        (Some(kept), _) => {
            let element = layout_of(source, call.element)?;
            match element {
                Layout::Block { .. } => {
                    let end = line_end(source, kept.end as usize);
                    let from = column(source, kept.start as usize);
                    let to = column(source, item.span.start as usize);
                    shifted(source.text().get(kept.start as usize..end)?, from, to)?
                }
                Layout::Flow => source.slice(kept).to_owned(),
            }
        }
        (None, Some(written)) if !source.slice(call.element).contains('#') => {
            format!("agentToolUse: {written}")
        }
        _ => return None,
    };
    match layout {
        Layout::Block { dash } => {
            let start = line_start(source, *dash);
            let indent = source.text().get(start..*dash)?;
            Some(format!("\n{indent}- {text}"))
        }
        Layout::Flow if text.contains('\n') => None,
        Layout::Flow => Some(format!(", {{{text}}}")),
    }
}

fn column(source: &SourceFile, offset: usize) -> usize {
    offset - line_start(source, offset)
}

/// Lines whose first one stands at the column `from`, moved to stand at `to`. `None` if one of them does not reach so
/// far.
fn shifted(text: &str, from: usize, to: usize) -> Option<String> {
    let by = from.checked_sub(to)?;
    let mut moved = String::new();
    for (idx, line) in text.split('\n').enumerate() {
        if idx > 0 {
            moved.push('\n');
        }
        let blank = line.len() - line.trim_start_matches(' ').len();
        let cut = match idx {
            0 => 0,
            _ if line.trim().is_empty() => blank.min(by),
            _ if blank < by => return None,
            _ => by,
        };
        moved.push_str(&line[cut..]);
    }
    Some(moved)
}

/// Makes `initialPrompt` the first user input. If there is one already, that is chosen by, and the key goes.
pub(super) fn initial_prompt(loader: &mut Loader<'_>, root: &Node, prompt: &str, has_input: bool) {
    let source = loader.source();
    let Some(key) = member(root, "initialPrompt") else {
        return;
    };
    let Some(lines) = key_lines(source, root, key) else {
        return;
    };
    if has_input {
        loader.replace(lines, "");
        return;
    }
    // An agent of an editor would wait for this text, where it takes any now.
    if root.get("acp").is_some() {
        return;
    }
    let Some(timeline) = root.get("timeline") else {
        return;
    };
    let input = format!("userInputs: [[0, {}]]", Json::from(prompt));
    if insert_item(loader, timeline, &input) {
        loader.replace(lines, "");
    }
}

/// Puts an item behind `sessionStart`, or first; whether that could be done.
fn insert_item(loader: &mut Loader<'_>, timeline: &Node, item: &str) -> bool {
    let source = loader.source();
    let Some(items) = timeline.as_array() else {
        return false;
    };
    let boundary = items.iter().position(|item| {
        item.as_str() == Some("sessionStart") || item.get("sessionStart").is_some()
    });
    let at = boundary.map_or(0, |boundary| boundary + 1);
    if items.is_empty() {
        loader.replace(timeline.span, format!("[{{{item}}}]"));
        return true;
    }
    let near = items.get(at).or(items.last());
    let Some((near, layout)) = near.and_then(|near| Some((near, layout_of(source, near.span)?)))
    else {
        return false;
    };
    let is_before = at < items.len();
    match (layout, is_before) {
        (Layout::Block { dash }, true) => {
            let indent = " ".repeat(column(source, dash));
            let dash = u32::try_from(dash).unwrap_or(u32::MAX);
            loader.insert(dash, format!("- {item}\n{indent}"), near.span);
        }
        (Layout::Block { dash }, false) => {
            let indent = " ".repeat(column(source, dash));
            let end = line_end(source, near.span.end as usize);
            let end = u32::try_from(end).unwrap_or(u32::MAX);
            loader.insert(end, format!("\n{indent}- {item}"), near.span);
        }
        (Layout::Flow, true) => loader.insert(near.span.start, format!("{{{item}}}, "), near.span),
        (Layout::Flow, false) => loader.insert(near.span.end, format!(", {{{item}}}"), near.span),
    }
    true
}

/// The lines of a key at the top, if the top is written in a block.
fn key_lines(source: &SourceFile, root: &Node, key: &Member) -> Option<Span> {
    let is_block = !source.slice(root.span).trim_start().starts_with('{');
    let is_plain = !source.slice(key.value.span).starts_with(['*', '&']);
    // The text of a block scalar may end behind its last line.
    let value = source.slice(key.value.span).trim_end();
    let end = key.value.span.start as usize + value.len();
    match is_block && is_plain {
        true => whole_lines(
            source,
            key.key_span.start as usize,
            end.max(key.key_span.end as usize),
        ),
        false => None,
    }
}

/// The inline terminal config of a timeline as a file of its own: its text, and the timeline that names it as `path`.
///
/// `None` if there is no such config, or if its layout can't be taken apart.
pub fn extract_terminal(source: &SourceFile, path: &str) -> Option<(String, SourceFile)> {
    let (root, _) = super::parse::parse(source).ok()?;
    let key = member(&root, "terminalRef")?;
    let value = &key.value;
    if !matches!(value.kind, NodeKind::Object(_))
        || source.slice(value.span).starts_with(['*', '&'])
    {
        return None;
    }
    let written = source.slice(value.span);
    let is_flow = written.starts_with('{');
    let text = if path.ends_with(".json") {
        if written.contains('#') {
            return None;
        }
        format!("{:#}\n", value.to_value())
    } else if is_flow {
        format!("{written}\n")
    } else {
        let from = column(source, value.span.start as usize);
        format!("{}\n", shifted(written, from, 0)?.trim_end())
    };
    let start = match is_flow {
        true => value.span.start as usize,
        false => {
            let colon = source.text().get(key.key_span.end as usize..)?.find(':')?;
            key.key_span.end as usize + colon + 1
        }
    };
    let between = source.text().get(start..value.span.start as usize)?;
    if between.contains('#') {
        return None;
    }
    let end = value.span.start as usize + written.trim_end().len();
    let space = if is_flow { "" } else { " " };
    let at = Span::new(start, end);
    let edit = cuecard_source::Edit {
        at,
        parts: vec![cuecard_source::Part::new(
            format!("{space}{}", Json::from(path)),
            at,
        )],
    };
    Some((text, source.edited(vec![edit])))
}
