//! Older forms as canonical text. A word is replaced where it stands. An item of a list whose form is older is written
//! anew, unless there is more in it than its values, such as a comment, an anchor or rules: then it stays, and its
//! warning too.

use super::loader::{Loader, member, merged};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::value::Json;
use cuecard_source::{Span, yaml};

/// Items of a list that follow each other, and what they are in canonical form; none if they can stay.
pub(super) struct Rewritten<'n> {
    pub nodes: Vec<&'n Node>,
    pub items: Option<Vec<Json>>,
}

impl<'n> Rewritten<'n> {
    /// Takes in the item whose one event, `more`, goes on with the response of this one. Whether this one is a response.
    pub(super) fn join(&mut self, node: &'n Node, more: Option<Vec<Json>>) -> bool {
        let (Some([first]), Some([mut more])) = (
            self.items.as_deref_mut(),
            more.and_then(|more| <[Json; 1]>::try_from(more).ok()),
        ) else {
            return false;
        };
        let (Some(elements), Json::Array(others)) = (
            first.get_mut("llmResponse").and_then(Json::as_array_mut),
            more["llmResponse"].take(),
        ) else {
            return false;
        };
        elements.extend(others);
        more["llmResponse"] = elements.drain(..).collect();
        *first = merged(first.take(), more);
        self.nodes.push(node);
        true
    }
}

/// Writes those items of a list anew that have older forms; one in brackets as a whole.
pub(super) fn list(loader: &mut Loader<'_>, list: &Node, all: Vec<Rewritten<'_>>) {
    if all.iter().all(|it| it.items.is_none()) {
        return;
    }
    let is_flow = loader.source().slice(list.span).starts_with('[');
    if is_flow {
        let items = all.into_iter().flat_map(|it| {
            let as_written = || it.nodes.iter().map(|node| node.to_value()).collect();
            it.items.unwrap_or_else(as_written)
        });
        return value(loader, list, &items.collect());
    }
    let is_empty = |it: &Rewritten<'_>| it.items.as_deref() == Some(&[]);
    if all.iter().all(is_empty) {
        return;
    }
    for Rewritten { nodes, items } in all {
        if let Some(items) = items {
            item(loader, &nodes, items);
        }
    }
}

/// Writes items behind their dashes anew.
fn item(loader: &mut Loader<'_>, nodes: &[&Node], items: Vec<Json>) {
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
        return;
    };
    let whole = Span {
        start: first.span.start,
        end: last.span.end.max(first.span.start),
    };
    let Some(lines) = own_lines(loader, whole, nodes) else {
        return;
    };
    let before = loader.source().slice(Span {
        end: whole.start,
        ..lines
    });
    let Some((indent, "")) = before.trim_end().split_once('-') else {
        return;
    };
    let text = match items.is_empty() {
        true => String::new(),
        false => yaml::write(&Json::Array(items)),
    };
    let text = text.lines().map(|line| match line.is_empty() {
        true => "\n".to_owned(),
        false => format!("{indent}{line}\n"),
    });
    loader.replace(lines, text.collect::<String>());
}

/// Replaces a value by JSON, which is YAML too.
pub(super) fn value(loader: &mut Loader<'_>, node: &Node, json: &Json) {
    if holds_only(loader, node.span, &[node]) {
        loader.replace(node.span, json.to_string());
    }
}

/// The lines of a span, their line feeds included, if nothing else ends there, and nothing is in it but `nodes`.
fn own_lines(loader: &Loader<'_>, whole: Span, nodes: &[&Node]) -> Option<Span> {
    let text = loader.source().text();
    let (start, end) = (whole.start as usize, whole.end as usize);
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let rest = text[end..].find('\n');
    let line_end = rest.map_or(text.len(), |at| end + at + 1);
    let is_all = text[end..line_end].trim().is_empty() && holds_only(loader, whole, nodes);
    is_all.then(|| Span::new(line, line_end))
}

/// Whether there is nothing in a span but the keys and values of `nodes`, and what holds them together.
fn holds_only(loader: &Loader<'_>, whole: Span, nodes: &[&Node]) -> bool {
    let mut spans = Vec::new();
    for node in nodes {
        push_words(node, &mut spans);
    }
    spans.sort_by_key(|span| span.start);
    spans.push(Span {
        start: whole.end,
        end: whole.end,
    });
    let is_layout = |sign: char| sign.is_whitespace() || "-?:,[]{}|>+0123456789".contains(sign);
    let mut at = whole.start;
    for span in spans {
        let between = Span {
            start: at,
            end: span.start,
        };
        let source = loader.source();
        if span.start < at
            || source.slice(span).starts_with('*')
            || !source.slice(between).chars().all(is_layout)
        {
            return false;
        }
        at = span.end;
    }
    true
}

/// The places of keys and of values that hold no others.
fn push_words(node: &Node, spans: &mut Vec<Span>) {
    match &node.kind {
        NodeKind::Array(items) => items.iter().for_each(|item| push_words(item, spans)),
        NodeKind::Object(members) => {
            for member in members {
                spans.push(member.key_span);
                push_words(&member.value, spans);
            }
        }
        _ => spans.push(node.span),
    }
}

/// Makes `initialPrompt` the first user input. If there is one already, that is chosen by, and the key goes.
pub(super) fn initial_prompt(loader: &mut Loader<'_>, root: &Node, prompt: &str, has_input: bool) {
    let Some(key) = member(root, "initialPrompt") else {
        return;
    };
    let whole = Span {
        start: key.key_span.start,
        end: key.value.span.end,
    };
    let own = super::normalise::object(&key.key, key.key_span, key.value.clone());
    let lines = own_lines(loader, whole, &[&own]);
    let Some(lines) = lines.filter(|lines| lines.start == whole.start) else {
        return;
    };
    // An agent of an editor would wait for this text, where it takes any now.
    if !has_input && root.get("acp").is_some() {
        return;
    }
    if !has_input {
        let items = root.get("timeline").and_then(Node::as_array);
        let items = items.unwrap_or_default();
        let is_boundary = |item: &Node| {
            item.as_str() == Some("sessionStart") || item.get("sessionStart").is_some()
        };
        let boundary = items.iter().position(is_boundary);
        let Some(next) = items.get(boundary.map_or(0, |at| at + 1)) else {
            return;
        };
        let before = &loader.source().text()[..next.span.start as usize];
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let Some((indent, "")) = before[line..].trim_end().split_once('-') else {
            return;
        };
        let input = format!("{indent}- userInputs: [[0, {}]]\n", Json::from(prompt));
        loader.replace(Span::new(line, line), input);
    }
    loader.replace(lines, "");
}
