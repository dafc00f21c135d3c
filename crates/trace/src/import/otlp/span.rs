//! Spans with their attributes as plain JSON.

use std::collections::HashSet;

use super::openinference;
use crate::import::lines::{LeftOut, items, json_in_text, text};
use cuecard_source::value::Json;

/// A span, with what it says of itself and of the resource it belongs to.
#[derive(Debug)]
pub(super) struct Span {
    pub id: String,
    pub parent_id: Option<String>,
    pub trace_id: String,
    /// Nanoseconds since 1970.
    pub start: u64,
    /// Nanoseconds since 1970.
    pub end: u64,
    pub operation: Operation,
    pub error: Option<SpanError>,
    /// Whether it is about a model or a tool, in words that are not known.
    pub is_unknown: bool,
    pub name: String,
    attributes: serde_json::Map<String, Json>,
    resource: serde_json::Map<String, Json>,
    /// Events by name, with their attributes.
    pub events: Vec<(String, serde_json::Map<String, Json>)>,
}

/// What a span is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// A model was asked.
    Model,
    /// A tool was run.
    Tool,
    /// An agent was asked.
    Agent,
    /// Something else.
    Other,
}

/// Why a span failed.
#[derive(Debug)]
pub(super) struct SpanError {
    pub kind: Option<String>,
    pub message: Option<String>,
}

/// All spans of all documents.
pub(super) fn spans(documents: &[Json], left_out: &mut LeftOut) -> Vec<Span> {
    let mut spans = Vec::new();
    // What could not be delivered is sent again.
    let mut seen = HashSet::new();
    for document in documents {
        let names = document.as_object().into_iter().flatten();
        for (name, _) in names.filter(|(name, _)| *name != "resourceSpans") {
            left_out.add(name);
        }
        for of_resource in items(document, "resourceSpans") {
            let resource = of_resource.get("resource").map(attributes);
            let resource = resource.unwrap_or_default();
            for scope in items(of_resource, "scopeSpans") {
                for json in items(scope, "spans") {
                    match span(json, &resource) {
                        Some(span) => {
                            if span.is_unknown {
                                left_out.add("a span of a model or a tool in other conventions");
                            }
                            if seen.insert((span.trace_id.clone(), span.id.clone())) {
                                spans.push(span);
                            }
                        }
                        None => left_out.add("a span without `spanId` or `startTimeUnixNano`"),
                    }
                }
            }
        }
    }
    spans
}

fn span(json: &Json, resource: &serde_json::Map<String, Json>) -> Option<Span> {
    let mut own = attributes(json);
    openinference::translate(&mut own);
    let operation = operation(&own);
    let start = nanoseconds(json, "startTimeUnixNano")?;
    let status = json.get("status").unwrap_or(&Json::Null);
    let has_failed = match status.get("code") {
        Some(Json::Number(code)) => code.as_u64() == Some(2),
        Some(Json::String(code)) => code == "STATUS_CODE_ERROR",
        _ => false,
    };
    let exceptions = items(json, "events").iter();
    let is_exception = |event: &Json| text(event, "name") == Some("exception");
    // A tool with an exception, and with neither a status nor a result, failed as well.
    let has_failed = has_failed
        || (operation == Operation::Tool
            && status.get("code").is_none_or(|code| *code == 0)
            && !own.contains_key("gen_ai.tool.call.result")
            && exceptions.clone().any(is_exception));
    let exception = exceptions
        .filter(|event| has_failed && is_exception(event))
        .map(attributes)
        .next_back()
        .unwrap_or_default();
    let of_exception = |name: &str| exception.get(name).and_then(Json::as_str);
    let kind = own.get("error.type").and_then(Json::as_str);
    let kind = kind.or_else(|| of_exception("exception.type"));
    let message = text(status, "message")
        .filter(|message| !message.is_empty())
        .or_else(|| of_exception("exception.message"));
    Some(Span {
        is_unknown: is_unknown(&own),
        id: text(json, "spanId")?.to_owned(),
        parent_id: text(json, "parentSpanId")
            .filter(|id| !id.is_empty())
            .map(str::to_owned),
        trace_id: text(json, "traceId").unwrap_or_default().to_owned(),
        start,
        end: nanoseconds(json, "endTimeUnixNano").unwrap_or(start),
        operation,
        error: (has_failed || kind.is_some()).then(|| SpanError {
            kind: kind.map(str::to_owned),
            message: message.map(str::to_owned),
        }),
        name: text(json, "name").unwrap_or_default().to_owned(),
        // What is of no use is not kept.
        resource: match operation {
            Operation::Other => serde_json::Map::new(),
            _ => resource.clone(),
        },
        events: match operation {
            Operation::Other => Vec::new(),
            _ => items(json, "events")
                .iter()
                .filter_map(|event| Some((text(event, "name")?.to_owned(), attributes(event))))
                .collect(),
        },
        attributes: own,
    })
}

fn operation(attributes: &serde_json::Map<String, Json>) -> Operation {
    let own = |name: &str| attributes.get(name).and_then(Json::as_str);
    match own("gen_ai.operation.name") {
        Some("chat" | "generate_content" | "text_completion") => Operation::Model,
        Some("execute_tool") => Operation::Tool,
        Some("invoke_agent") => Operation::Agent,
        Some(_) => Operation::Other,
        None if own("mcp.method.name") == Some("tools/call") => Operation::Tool,
        None if own("gen_ai.tool.name").is_some() => Operation::Tool,
        None => Operation::Other,
    }
}

/// Whether attributes tell of a model or a tool in words of conventions that are not read.
fn is_unknown(attributes: &serde_json::Map<String, Json>) -> bool {
    const OLDER: &[&str] = &["gen_ai.prompt.", "gen_ai.completion."];
    const OTHERS: &[&str] = &["gen_ai.", "llm.", "traceloop."];
    let has = |prefixes: &[&str]| {
        attributes
            .keys()
            .any(|key| prefixes.iter().any(|prefix| key.starts_with(prefix)))
    };
    let is_named = [
        "gen_ai.operation.name",
        "mcp.method.name",
        openinference::KIND,
    ]
    .iter()
    .any(|name| attributes.contains_key(*name));
    has(OLDER) || (operation(attributes) == Operation::Other && !is_named && has(OTHERS))
}

impl Span {
    /// Whether it tells something about the agent.
    pub(super) fn is_ours(&self) -> bool {
        self.operation != Operation::Other
    }

    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.attributes
            .get(name)
            .or_else(|| self.resource.get(name))
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// An attribute that is a value, or that value as JSON in a text.
    pub(super) fn json(&self, name: &str) -> Option<Json> {
        self.get(name).map(in_text)
    }

    pub(super) fn tool(&self) -> &str {
        self.text("gen_ai.tool.name").unwrap_or_else(|| {
            let name = self.name.strip_prefix("execute_tool ");
            name.unwrap_or(&self.name)
        })
    }

    /// The id that the model gave the call, if that is known.
    pub(super) fn own_call_id(&self) -> Option<&str> {
        self.text("gen_ai.tool.call.id")
    }

    pub(super) fn call_id(&self) -> &str {
        self.own_call_id().unwrap_or(&self.id)
    }

    /// What went in and what came out, as far as it is known.
    pub(super) fn tokens(&self) -> impl Iterator<Item = u64> {
        [
            ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
            [
                "gen_ai.usage.output_tokens",
                "gen_ai.usage.completion_tokens",
            ],
        ]
        .into_iter()
        .filter_map(|names| {
            let count = |name: &str| self.get(name)?.as_u64();
            names.into_iter().find_map(count)
        })
    }
}

/// A value, or the object or array that a text is as JSON.
pub(super) fn in_text(json: &Json) -> Json {
    match json {
        Json::String(text) => json_in_text(text).unwrap_or_else(|| json.clone()),
        _ => json.clone(),
    }
}

fn nanoseconds(json: &Json, key: &str) -> Option<u64> {
    match json.get(key)? {
        Json::String(text) => text.parse().ok(),
        number => number.as_u64(),
    }
}

fn attributes(json: &Json) -> serde_json::Map<String, Json> {
    key_values(items(json, "attributes"))
}

fn key_values(list: &[Json]) -> serde_json::Map<String, Json> {
    list.iter()
        .filter_map(|entry| Some((text(entry, "key")?.to_owned(), value(entry.get("value")?))))
        .collect()
}

/// A value of an attribute, which is an object with its type for a key. It is no deeper than the text it came from.
fn value(json: &Json) -> Json {
    let Some((kind, inner)) = json.as_object().and_then(|object| object.iter().next()) else {
        return Json::Null;
    };
    match (kind.as_str(), inner) {
        // 64-bit numbers are written as text.
        ("intValue", Json::String(text)) => text
            .parse::<i64>()
            .map_or_else(|_| inner.clone(), Json::from),
        ("arrayValue", list) => items(list, "values").iter().map(value).collect(),
        ("kvlistValue", list) => Json::Object(key_values(items(list, "values"))),
        _ => inner.clone(),
    }
}
