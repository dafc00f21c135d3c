//! Pieces of `scenario` and `tools` that are kept as they are written, or checked against each other.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::FORMAT;
use crate::assertions::parts::{Text, Value, parts};
use cuecard_source::Span;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::Node;
use cuecard_source::reader::Reader;
use cuecard_source::value::{Json, cut};
use cuecard_trace::import::Fixture;

parts! {
    /// The task of a scheduler, as written; null if nothing is said.
    pub SchedulerContext(Json) as Json, {}, |reader, node, pointer| {
        let read = reader.decoded::<SchedulerKeys>(node, pointer, "`scheduler_context`");
        reader.diagnostics.extend(read.diagnostics);
        read.value.map(|_| node.to_value())
    };
    /// Messages as written: objects with `role`, `content` and whatever else.
    pub Messages(Vec<Json>) as [Json], {}, |reader, node, pointer| {
        let messages = objects::<MessageKeys>(reader, node, pointer, "a message", true)?;
        Some(messages.into_iter().map(|(_, node, _)| node.to_value()).collect())
    };
    /// Results that tool results may refer to.
    pub Fixtures(Vec<Fixture>) as [Fixture], {}, fixtures;
}

/// The task of a scheduler.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
#[allow(dead_code, reason = "the text is kept as it is written")]
pub struct SchedulerKeys {
    /// The task.
    task_id: Option<Text>,
    /// Its name.
    task_name: Option<Text>,
    /// When it was scheduled to run (RFC 3339).
    scheduled_for: Option<Text>,
    /// The time zone it was planned in.
    timezone: Option<Text>,
}

/// A message.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "message")]
#[allow(dead_code, reason = "the text is kept as it is written")]
pub struct MessageKeys {
    /// Who said it: user, assistant or system.
    role: String,
    /// What was said.
    content: String,
}

/// A result that tool results may refer to.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "fixture")]
pub struct FixtureKeys {
    /// The name that tool results refer to.
    id: Text,
    /// The tool that answers so.
    tool: Text,
    /// What it stands for.
    #[allow(dead_code, reason = "it is for people")]
    description: Option<String>,
    /// What the tool answers.
    result: Option<Value>,
    /// How the tool fails.
    error: Option<Value>,
}

/// Reads a list of objects, with the pointer to each. If they are open, an unknown key is only reported if it is probably
/// a known one misspelt.
fn objects<'n, T: DeserializeOwned>(
    reader: &mut Reader<'_>,
    node: &'n Node,
    pointer: &str,
    what: &str,
    is_open: bool,
) -> Option<Vec<(T, &'n Node, String)>> {
    let Some(items) = node.as_array() else {
        let key = pointer.rsplit('/').next().unwrap_or_default();
        reader.wrong_type(node, pointer, &format!("`{key}`"), "a list");
        return None;
    };
    let items = items.iter().enumerate().filter_map(|(idx, item)| {
        let pointer = format!("{pointer}/{idx}");
        let mut read = reader.decoded::<T>(item, &pointer, what);
        read.diagnostics
            .retain(|found| !is_open || found.code != FORMAT.unknown || found.label.is_some());
        reader.diagnostics.extend(read.diagnostics);
        Some((read.value?, item, pointer))
    });
    Some(items.collect())
}

fn fixtures(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Vec<Fixture>> {
    let fixtures = objects::<FixtureKeys>(reader, node, pointer, "a fixture", false)?;
    let mut ids = Ids::new("two fixtures have");
    let fixtures = fixtures.into_iter().map(|(fixture, node, pointer)| {
        let FixtureKeys {
            id,
            tool,
            result,
            error,
            ..
        } = fixture;
        let span_of = |key: &str| node.get(key).unwrap_or(node).span;
        if result.is_some() && error.is_some() {
            let message = "a fixture has either `result` or `error`, not both";
            let pointer = format!("{pointer}/error");
            reader.error_at(codes::CASE_FIELD_VALUE, span_of("error"), &pointer, message);
        }
        ids.add(reader, &id, span_of("id"), &format!("{pointer}/id"));
        Fixture {
            id: id.0,
            tool: tool.0,
            result: result.map(|value| value.0),
            error: error.map(|value| value.0),
            span: node.span,
        }
    });
    Some(fixtures.collect())
}

/// The ids of a list, each of which may be there once.
pub(super) struct Ids<'w> {
    firsts: HashMap<String, Span>,
    whose: &'w str,
}

impl<'w> Ids<'w> {
    pub(super) fn new(whose: &'w str) -> Self {
        Self {
            firsts: HashMap::new(),
            whose,
        }
    }

    /// Reports an id that was there before.
    pub(super) fn add(&mut self, reader: &mut Reader<'_>, id: &str, span: Span, pointer: &str) {
        let first = *self.firsts.entry(id.to_owned()).or_insert(span);
        if first == span {
            return;
        }
        let line = reader.source.position(first.start).line;
        let message = format!("{} the id `{}`", self.whose, cut(id, 60));
        let diagnostic = reader.error_at(codes::CASE_DUPLICATE, span, pointer, message);
        diagnostic
            .notes
            .push(format!("first defined on line {line}"));
        diagnostic.help = Some("change one of the ids".to_owned());
    }
}
