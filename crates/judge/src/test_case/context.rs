//! Reads `scenario`, `tools`, `expected` and `reporting`.

use std::collections::HashMap;

use super::{fields, values};
use crate::assertions::parts::free;
use crate::model::{ExpectedOutcome, Fixture, TestContext, TestTools, Trigger};
use cuecard_source::Span;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::Json;
use cuecard_source::value::fields::Field;

const TRIGGERS: &[(&str, Trigger)] = &[
    ("user_message", Trigger::UserMessage),
    ("scheduler", Trigger::Scheduler),
];

/// A field that is an object of known keys, with its pointer.
fn part<'n>(
    reader: &mut Reader<'_>,
    object: Object<'n>,
    key: &str,
    known: &'static [Field],
) -> Option<(&'n Node, String)> {
    let (node, pointer) = values::map(reader, object, key)?;
    let below = Object {
        node,
        pointer: &pointer,
    };
    reader.unknown_keys(below, known, &[], &format!("`{key}`"));
    Some((node, pointer))
}

pub(super) fn context(reader: &mut Reader<'_>, object: Object<'_>) -> TestContext {
    let Some((node, pointer)) = part(reader, object, "scenario", fields::CONTEXT) else {
        return TestContext::default();
    };
    let below = Object {
        node,
        pointer: &pointer,
    };
    let scheduler = part(reader, below, "scheduler_context", fields::SCHEDULER);
    if let Some((node, pointer)) = &scheduler {
        let object = Object { node, pointer };
        for field in fields::SCHEDULER {
            values::text(reader, object, field.name);
        }
    }
    TestContext {
        group_id: values::text(reader, below, "group_id"),
        session_id: values::text(reader, below, "session_id"),
        task_id: values::text(reader, below, "task_id"),
        trigger: reader
            .one_of(below, "trigger", "`scenario.trigger`", TRIGGERS)
            .unwrap_or_default(),
        scheduler_context: scheduler.map_or(Json::Null, |(node, _)| node.to_value()),
        input_messages: messages(reader, below, "input_messages"),
        prior_messages: messages(reader, below, "prior_messages"),
        memory_snapshot: anything(reader, below, "memory_snapshot"),
        mounts: anything(reader, below, "mounts"),
    }
}

fn anything(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Json {
    match reader.get(object, key) {
        Some(node) => free(reader, node, &object.child_pointer(key)),
        None => Json::Null,
    }
}

/// A field that is a list, each item an object with its pointer.
fn objects<'n>(
    reader: &mut Reader<'_>,
    object: Object<'n>,
    key: &str,
    what: &str,
) -> Vec<(&'n Node, String)> {
    let Some(node) = reader.get(object, key) else {
        return Vec::new();
    };
    let pointer = object.child_pointer(key);
    let NodeKind::Array(items) = &node.kind else {
        reader.wrong_type(node, &pointer, &format!("`{key}`"), "a list");
        return Vec::new();
    };
    let mut found = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let pointer = format!("{pointer}/{index}");
        match item.kind {
            NodeKind::Object(_) => found.push((item, pointer)),
            _ => reader.wrong_type(item, &pointer, what, "an object"),
        }
    }
    found
}

fn messages(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Vec<Json> {
    let example = "for example { role: user, content: \"Hello\" }";
    objects(reader, object, key, "a message")
        .into_iter()
        .map(|(node, pointer)| {
            let message = Object {
                node,
                pointer: &pointer,
            };
            reader.near_misses(message, fields::MESSAGE);
            for name in ["role", "content"] {
                if reader
                    .required(message, name, "a message", example)
                    .is_some()
                {
                    reader.text(message, name, &format!("`{name}` of a message"));
                }
            }
            node.to_value()
        })
        .collect()
}

pub(super) fn tools(reader: &mut Reader<'_>, object: Object<'_>) -> TestTools {
    let Some((node, pointer)) = part(reader, object, "tools", fields::TOOLS) else {
        return TestTools::default();
    };
    let below = Object {
        node,
        pointer: &pointer,
    };
    let available = reader
        .get(below, "available")
        .is_some()
        .then(|| values::texts(reader, below, "available"));
    let fixtures = fixtures(reader, below);
    let (mut max_calls, mut forbidden) = (None, Vec::new());
    if let Some((node, pointer)) = part(reader, below, "policy", fields::POLICY) {
        let policy = Object {
            node,
            pointer: &pointer,
        };
        max_calls = values::count(reader, policy, "max_calls");
        forbidden = values::tools(reader, policy, "forbidden");
    }
    TestTools {
        available,
        fixtures,
        max_calls,
        forbidden,
        offered: Vec::new(),
    }
}

fn fixtures(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<Fixture> {
    let mut firsts: HashMap<String, Span> = HashMap::new();
    let mut fixtures = Vec::new();
    for (node, pointer) in objects(reader, object, "fixtures", "a fixture") {
        let below = Object {
            node,
            pointer: &pointer,
        };
        reader.unknown_keys(below, fields::FIXTURE, &[], "this fixture");
        reader.required(
            below,
            "id",
            "a fixture",
            "an `id` for tool results to refer to",
        );
        reader.required(below, "tool", "a fixture", "the `tool` that returns it");
        let id = values::text(reader, below, "id");
        let tool = values::text(reader, below, "tool");
        reader.text(below, "description", "`description`");
        let mut value = |key: &str| {
            let node = reader.get(below, key)?;
            Some(free(reader, node, &below.child_pointer(key)))
        };
        let (result, error) = (value("result"), value("error"));
        if result.is_some() && error.is_some() {
            let message = "a fixture has either `result` or `error`, not both".to_owned();
            let span = below.get("error").map_or(node.span, |node| node.span);
            values::invalid(reader, span, &below.child_pointer("error"), message);
        }
        let (Some(id), Some(tool)) = (id, tool) else {
            continue;
        };
        let id_span = below.get("id").map_or(node.span, |node| node.span);
        unique(
            reader,
            &mut firsts,
            &id,
            id_span,
            &pointer,
            "two fixtures have",
        );
        fixtures.push(Fixture {
            id,
            tool,
            result,
            error,
            span: node.span,
        });
    }
    fixtures
}

/// Reports an id that was there before.
pub(super) fn unique(
    reader: &mut Reader<'_>,
    firsts: &mut HashMap<String, Span>,
    id: &str,
    span: Span,
    pointer: &str,
    whose: &str,
) {
    let first = *firsts.entry(id.to_owned()).or_insert(span);
    if first == span {
        return;
    }
    let line = reader.source.position(first.start).line;
    let message = format!("{whose} the id `{}`", cuecard_source::value::cut(id, 60));
    let diagnostic = reader.error(codes::CASE_DUPLICATE, span, message);
    diagnostic.pointer = Some(format!("{pointer}/id"));
    diagnostic
        .notes
        .push(format!("first defined on line {line}"));
    diagnostic.help = Some("change one of the ids".to_owned());
}

pub(super) fn expected(reader: &mut Reader<'_>, object: Object<'_>) -> Option<ExpectedOutcome> {
    let (node, pointer) = part(reader, object, "expected", fields::EXPECTED)?;
    let below = Object {
        node,
        pointer: &pointer,
    };
    Some(ExpectedOutcome {
        outcome: reader
            .text(below, "outcome", "`expected.outcome`")
            .map(|(text, _)| text.to_owned()),
        failure_categories: values::texts(reader, below, "failure_categories"),
    })
}

/// Whether the trace is kept, and what is never written.
pub(super) fn reporting(reader: &mut Reader<'_>, object: Object<'_>) -> (bool, Vec<String>) {
    let Some((node, pointer)) = part(reader, object, "reporting", fields::REPORTING) else {
        return (true, Vec::new());
    };
    let below = Object {
        node,
        pointer: &pointer,
    };
    let save_trace = reader.flag(below, "save_trace", "`reporting.save_trace`");
    (
        save_trace.unwrap_or(true),
        values::texts(reader, below, "redact_fields"),
    )
}
