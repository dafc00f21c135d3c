//! Older forms as canonical text. A word is replaced where it stands. An item of a list whose form is older is written
//! anew, unless there is more in it than its values, such as a comment, an anchor or rules: then it stays, and its
//! warning too.

use super::super::rules::overlay;
use super::{Normaliser, member};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::value::Json;
use cuecard_source::{Span, yaml};

/// Items of a list that follow each other, and the events that they are in canonical form, with the pointers to them.
pub(super) struct Rewritten<'n> {
    pub nodes: Vec<&'n Node>,
    pub items: Vec<(Node, String)>,
    /// Whether the form is older, and not only a word.
    pub is_restructured: bool,
    /// Whether anything is older.
    pub is_changed: bool,
    /// Whether it is an element of a response, without that.
    pub is_element: bool,
}

impl Rewritten<'_> {
    /// Whether it is an answer right behind its thinking, which are one response.
    pub(super) fn answers(&self, thinking: &Self) -> bool {
        let is_all = |it: &Self, key: &str| {
            let body = it
                .items
                .first()
                .and_then(|(item, _)| item.get("llmResponse"));
            let elements = body.filter(|_| it.is_element).and_then(Node::as_array);
            elements.is_some_and(|all| all.iter().all(|element| element.get(key).is_some()))
        };
        is_all(self, "assistant") && is_all(thinking, "think")
    }

    /// Takes in the elements of another response, and what stands beside it.
    pub(super) fn join(&mut self, more: Self) {
        self.nodes.extend(more.nodes);
        for ((item, _), (more, _)) in self.items.iter_mut().zip(more.items) {
            let (NodeKind::Object(members), NodeKind::Object(mut more)) =
                (&mut item.kind, more.kind)
            else {
                continue;
            };
            let body = more.remove(0).value.kind;
            if let (NodeKind::Array(elements), NodeKind::Array(more)) =
                (&mut members[0].value.kind, body)
            {
                elements.extend(more);
            }
            overlay(members, more);
        }
    }
}

fn written(items: &[(Node, String)]) -> Vec<Json> {
    let items = items.iter().map(|(item, _)| {
        let mut event = item.to_value();
        let body = event
            .as_object_mut()
            .and_then(|event| event.values_mut().next());
        // It may have no body.
        if let Some(body @ Json::Null) = body {
            *body = Json::Bool(true);
        }
        event
    });
    items.collect()
}

impl Normaliser<'_, '_> {
    /// Writes those items of a list anew that have older forms; one in brackets as a whole.
    pub(super) fn rewrite_items(&mut self, list: &Node, all: &[Rewritten<'_>]) {
        if all.iter().all(|it| !it.is_restructured) {
            return;
        }
        if self.source.slice(list.span).starts_with('[') {
            let items = all
                .iter()
                .flat_map(|it| match it.is_changed || it.is_restructured {
                    true => written(&it.items),
                    false => it.nodes.iter().map(|node| node.to_value()).collect(),
                });
            return self.rewrite(list, &items.collect());
        }
        if all
            .iter()
            .all(|it| it.is_restructured && it.items.is_empty())
        {
            return;
        }
        for it in all.iter().filter(|it| it.is_restructured) {
            self.rewrite_item(&it.nodes, written(&it.items));
        }
    }

    /// Writes items behind their dashes anew.
    fn rewrite_item(&mut self, nodes: &[&Node], items: Vec<Json>) {
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
            return;
        };
        let whole = Span {
            start: first.span.start,
            end: last.span.end.max(first.span.start),
        };
        let Some(lines) = self.own_lines(whole, nodes) else {
            return;
        };
        let before = self.source.slice(Span {
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
        self.replace(lines, text.collect::<String>());
    }

    /// Replaces a value by JSON, which is YAML too.
    pub(super) fn rewrite(&mut self, node: &Node, json: &Json) {
        if self.holds_only(node.span, &[node]) {
            self.replace(node.span, json.to_string());
        }
    }

    /// The lines of a span, their line feeds included, if nothing else ends there, and nothing is in it but `nodes`.
    fn own_lines(&self, whole: Span, nodes: &[&Node]) -> Option<Span> {
        let text = self.source.text();
        let (start, end) = (whole.start as usize, whole.end as usize);
        let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let rest = text[end..].find('\n');
        let line_end = rest.map_or(text.len(), |at| end + at + 1);
        let is_all = text[end..line_end].trim().is_empty() && self.holds_only(whole, nodes);
        is_all.then(|| Span::new(line, line_end))
    }

    /// Whether there is nothing in a span but the keys and values of `nodes`, and what holds them together.
    fn holds_only(&self, whole: Span, nodes: &[&Node]) -> bool {
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
            let source = self.source;
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

    /// Makes `initialPrompt` the first user input. If there is one already, that is chosen by, and the key goes.
    pub(in crate::format) fn convert_prompt(&mut self, root: &Node, prompt: &str, has_input: bool) {
        let Some(key) = member(root, "initialPrompt") else {
            return;
        };
        let whole = Span {
            start: key.key_span.start,
            end: key.value.span.end,
        };
        let own = super::object(&key.key, key.key_span, key.value.clone());
        let lines = self.own_lines(whole, &[&own]);
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
            let before = &self.source.text()[..next.span.start as usize];
            let line = before.rfind('\n').map_or(0, |at| at + 1);
            let Some((indent, "")) = before[line..].trim_end().split_once('-') else {
                return;
            };
            let input = format!("{indent}- userInputs: [[0, {}]]\n", Json::from(prompt));
            self.replace(Span::new(line, line), input);
        }
        self.replace(lines, "");
    }
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
