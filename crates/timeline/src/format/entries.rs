//! Entries in time: `[ms, value]` or `{relativeTime, …}`.

use super::loader::{Alias, Loader, alias};
use crate::model::{Entry, When};
use cuecard_source::Span;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::Object;
use cuecard_source::value::fields::Field;

/// How entries of a list are written.
pub(super) struct Shape {
    /// What they are, for messages: "an entry of `think`".
    pub what: &'static str,
    pub fields: &'static [Field],
    /// The key of the value.
    pub value: &'static str,
    pub aliases: &'static [Alias],
}

pub(super) const THINK: Shape = Shape {
    what: "an entry of `think`",
    fields: super::fields::TIMED_TEXT,
    value: "content",
    aliases: &[alias("timestamp", "relativeTime"), alias("text", "content")],
};

pub(super) const ASSISTANT: Shape = Shape {
    what: "an entry of `assistant`",
    fields: super::fields::TIMED_BLOCK,
    value: "content",
    aliases: &[alias("timestamp", "relativeTime"), alias("text", "content")],
};

pub(super) const PROGRESS: Shape = Shape {
    what: "an entry of `progress`",
    fields: super::fields::TIMED_MESSAGE,
    value: "message",
    aliases: &[
        alias("timestamp", "relativeTime"),
        alias("text", "message"),
        alias("content", "message"),
    ],
};

pub(super) const INPUTS: Shape = Shape {
    what: "an entry of `userInputs`",
    fields: super::fields::USER_INPUT,
    value: "input",
    aliases: &[alias("timestamp", "relativeTime")],
};

/// One entry, before its value is read.
pub(super) struct Timed<'n> {
    pub when: When,
    pub value: &'n Node,
    pub pointer: String,
    /// The entry's other keys, if it is a mapping.
    pub object: Option<(&'n Node, &'n str)>,
    pub span: Span,
}

impl Timed<'_> {
    pub(super) fn entry<T>(&self, value: T) -> Entry<T> {
        Entry {
            when: self.when,
            value,
            span: self.span,
        }
    }
}

/// Reads the entries of a list; `read` gets each.
pub(super) fn entries<T>(
    loader: &mut Loader<'_>,
    node: &Node,
    pointer: &str,
    shape: &Shape,
    mut read: impl FnMut(&mut Loader<'_>, Timed<'_>) -> Option<T>,
) -> Vec<T> {
    let items = match &node.kind {
        NodeKind::Array(items) if is_pair(items) => {
            loader.legacy(
                codes::TIMELINE_FORM,
                node.span,
                pointer,
                format!("expected a list, found {}", shape.what),
                "write a list of entries: `[[ms, …]]`",
            );
            loader.insert(node.span.start, "[", node.span);
            loader.insert(node.span.end, "]", node.span);
            vec![(node, pointer.to_owned())]
        }
        NodeKind::Array(items) => loader.items(items, pointer),
        NodeKind::String(_) | NodeKind::Object(_) => {
            if matches!(node.kind, NodeKind::Object(_)) {
                loader.legacy(
                    codes::TIMELINE_FORM,
                    node.span,
                    pointer,
                    format!("expected a list, found {}", shape.what),
                    "write a list of entries",
                );
            }
            vec![(node, pointer.to_owned())]
        }
        NodeKind::Null => Vec::new(),
        _ => {
            let wanted = "a list of `[ms, value]` or `{relativeTime, …}`";
            loader.reader.wrong_type(node, pointer, "this", wanted);
            Vec::new()
        }
    };
    let is_listed = matches!(node.kind, NodeKind::Array(_));
    items
        .into_iter()
        .filter_map(|(item, pointer)| one(loader, item, &pointer, shape, is_listed, &mut read))
        .collect()
}

fn is_pair(items: &[Node]) -> bool {
    matches!(items, [first, second] if first.as_number_text().is_some() && second.as_array().is_none())
}

fn one<T>(
    loader: &mut Loader<'_>,
    item: &Node,
    pointer: &str,
    shape: &Shape,
    is_listed: bool,
    read: &mut impl FnMut(&mut Loader<'_>, Timed<'_>) -> Option<T>,
) -> Option<T> {
    match &item.kind {
        NodeKind::Array(parts) => {
            let [time, value] = parts.as_slice() else {
                let wanted = "`[ms, value]`";
                loader.invalid(
                    item.span,
                    pointer,
                    format!(
                        "{} is {wanted}: expected two elements, found {}",
                        shape.what,
                        parts.len()
                    ),
                );
                return None;
            };
            let when = loader.time(time, &format!("{pointer}/0"), "the delay");
            let value = read(
                loader,
                Timed {
                    when: When::Delay(when.unwrap_or(0)),
                    value,
                    pointer: format!("{pointer}/1"),
                    object: None,
                    span: item.span,
                },
            );
            when.and(value)
        }
        NodeKind::String(_) => {
            let modern = match is_listed {
                true => "write `[0, \"…\"]`",
                false => "write a list of entries: `[[0, \"…\"]]`",
            };
            loader.legacy(
                codes::TIMELINE_FORM,
                item.span,
                pointer,
                format!("{} has no time: a delay of 0 is assumed", shape.what),
                modern,
            );
            super::convert::time_text(loader, item, is_listed);
            read(
                loader,
                Timed {
                    when: When::Delay(0),
                    value: item,
                    pointer: pointer.to_owned(),
                    object: None,
                    span: item.span,
                },
            )
        }
        NodeKind::Object(_) => {
            let mapping = loader.mapping(item, pointer, shape.what, shape.fields, shape.aliases)?;
            let object = Object {
                node: &mapping,
                pointer,
            };
            let example = "relativeTime: 0";
            let time = loader
                .reader
                .required(object, "relativeTime", shape.what, example);
            let when = time.and_then(|time| {
                loader.time(
                    time,
                    &object.child_pointer("relativeTime"),
                    "`relativeTime`",
                )
            });
            let example = format!("`{}`", shape.value);
            let value = loader
                .reader
                .required(object, shape.value, shape.what, &example)?;
            let value = read(
                loader,
                Timed {
                    when: When::Offset(when.unwrap_or(0)),
                    value,
                    pointer: object.child_pointer(shape.value),
                    object: Some((&mapping, pointer)),
                    span: item.span,
                },
            );
            when.and(value)
        }
        _ => {
            let wanted = format!("`[ms, value]` or `{{relativeTime, {}}}`", shape.value);
            loader.reader.wrong_type(item, pointer, shape.what, &wanted);
            None
        }
    }
}

/// Entries of plain text.
pub(super) fn texts(
    loader: &mut Loader<'_>,
    node: &Node,
    pointer: &str,
    shape: &Shape,
) -> Vec<Entry<String>> {
    entries(loader, node, pointer, shape, |loader, timed| {
        let text = plain(loader, timed.value, &timed.pointer, shape)?;
        Some(timed.entry(text))
    })
}

/// A text that is not empty.
pub(super) fn plain(
    loader: &mut Loader<'_>,
    node: &Node,
    pointer: &str,
    shape: &Shape,
) -> Option<String> {
    let text = loader.reader.text_of(node, pointer, shape.what)?;
    if text.is_empty() {
        let message = format!("{} has an empty text", shape.what);
        loader.error(codes::TIMELINE_BLOCK_VALUE, node.span, pointer, message);
        return None;
    }
    Some(text.to_owned())
}
