//! What the page knows of a test: its result, and its trace within bounds.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use serde::Serialize;

use crate::diagnostics;
use cuecard_judge::{Evidence, JudgedAssertion, TestResult};
use cuecard_source::value::{Json, cut};
use cuecard_trace::{Event, EventData, Milliseconds, Trace};

/// Events of one test. In a longer trace those that outcomes refer to stay, and the first and the last.
const MAX_EVENTS: usize = 2000;

/// Characters of one text; the rest stands in the trace.
const MAX_TEXT: usize = 20_000;

/// Bytes of the data of one event, roughly.
const MAX_DATA: usize = 256 << 10;

/// Characters of an event's line.
const MAX_BRIEF: usize = 160;

#[derive(Serialize)]
struct TestEntry<'a> {
    id: &'a str,
    title: &'a str,
    file: &'a str,
    tags: &'a [String],
    adapter: &'a str,
    status: &'a str,
    ms: f64,
    started: Milliseconds,
    categories: &'a [String],
    vacuous: Vec<String>,
    errors: Vec<ErrorEntry>,
    assertions: Vec<AssertionEntry<'a>>,
    trace: Option<TraceEntry<'a>>,
    artifacts: &'a serde_json::Map<String, Json>,
}

#[derive(Serialize)]
struct ErrorEntry {
    message: String,
    code: &'static str,
    text: String,
}

#[derive(Serialize)]
struct AssertionEntry<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    severity: &'a str,
    status: &'a str,
    message: Cow<'a, str>,
    help: Option<&'a str>,
    line: Option<usize>,
    params: Json,
    observed: Json,
    refs: &'a [String],
    vacuous: bool,
}

#[derive(Serialize)]
struct TraceEntry<'a> {
    id: &'a str,
    status: Option<cuecard_trace::RunStatus>,
    calls: u64,
    ms: f64,
    /// Events that are not shown.
    omitted: usize,
    events: Vec<EventEntry<'a>>,
}

#[derive(Serialize)]
struct EventEntry<'a> {
    id: &'a str,
    seq: u64,
    /// Milliseconds after the first event.
    at: i64,
    /// Whether nobody measured that time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    synthesized: bool,
    #[serde(rename = "type")]
    kind: &'a str,
    actor: &'a str,
    lane: &'static str,
    tool: Option<&'a str>,
    /// How long it took.
    ms: Option<f64>,
    /// Whether it tells of a failure.
    bad: bool,
    text: String,
    parent: Option<&'a str>,
    group: Option<&'a str>,
    data: Json,
    /// Whether a part of the data is not shown.
    cut: bool,
}

/// Writes a test as one JSON object to `out`, the events within `room` bytes; how many they took.
pub(super) fn write(
    result: &TestResult,
    trace: Option<&Trace>,
    room: usize,
    out: &mut Vec<u8>,
) -> io::Result<usize> {
    let mut used = 0;
    let entry = TestEntry {
        id: &result.id,
        title: &result.title,
        file: &result.run.file,
        tags: &result.tags,
        adapter: &result.adapter,
        status: result.status.as_str(),
        ms: crate::test_json::milliseconds(result.run.took),
        started: Milliseconds(result.run.started),
        categories: &result.failure_categories,
        vacuous: result.vacuous_lines().collect(),
        errors: result
            .diagnostics
            .iter()
            .map(|diagnostic| ErrorEntry {
                message: diagnostic.message.clone(),
                code: diagnostic.code.name(),
                text: diagnostics::render(diagnostic, crate::Style::default()),
            })
            .collect(),
        assertions: result.assertions.iter().map(AssertionEntry::of).collect(),
        trace: trace.map(|trace| TraceEntry::of(result, trace, room, &mut used)),
        artifacts: &result.artifacts,
    };
    serde_json::to_writer(&mut *out, &entry)?;
    out.flush()?;
    Ok(used)
}

impl<'a> AssertionEntry<'a> {
    fn of(assertion: &'a JudgedAssertion) -> Self {
        let outcome = &assertion.outcome;
        Self {
            id: &outcome.id,
            kind: &outcome.kind,
            severity: outcome.severity.as_str(),
            status: outcome.status.as_str(),
            message: cut(&outcome.message, MAX_TEXT),
            help: outcome.help.as_deref(),
            line: assertion.line,
            params: bounded(&outcome.params).0,
            observed: bounded(&outcome.observed).0,
            refs: &outcome.event_refs,
            vacuous: outcome.vacuous,
        }
    }
}

impl<'a> TraceEntry<'a> {
    fn of(result: &TestResult, trace: &'a Trace, room: usize, used: &mut usize) -> Self {
        let shown = shown(result, trace);
        let started = trace.events.first().map(|event| event.ts);
        let took = durations(trace);
        let mut events = Vec::with_capacity(shown.len());
        for idx in shown {
            let event = &trace.events[idx];
            let (data, is_cut, bytes) = event_data(event);
            if *used + bytes > room {
                break;
            }
            *used += bytes;
            events.push(EventEntry {
                id: &event.event_id,
                seq: event.seq,
                at: started.map_or(0, |first| {
                    event.ts.as_millisecond() - first.as_millisecond()
                }),
                synthesized: event.ts_synthesized,
                kind: event.data.type_name(),
                actor: event.data.actor(),
                lane: lane(event.data.actor()),
                tool: event.tool(),
                ms: took.get(&idx).copied(),
                bad: is_bad(&event.data),
                text: event.brief(MAX_BRIEF),
                parent: event.parent_event_id.as_deref(),
                group: event.group_id.as_deref(),
                data,
                cut: is_cut,
            });
        }
        Self {
            id: &trace.header.trace_id,
            status: trace.end.as_ref().map(|end| end.status),
            calls: trace
                .end
                .as_ref()
                .map_or(0, |end| end.metrics.tool_call_count),
            ms: trace
                .end
                .as_ref()
                .map_or(0.0, |end| end.metrics.timing_ms_total),
            omitted: result
                .trace
                .as_ref()
                .map_or(0, |summary| summary.events)
                .max(trace.events.len())
                - events.len(),
            events,
        }
    }
}

/// Which events are shown, in order.
fn shown(result: &TestResult, trace: &Trace) -> Vec<usize> {
    let count = trace.events.len();
    if count <= MAX_EVENTS {
        return (0..count).collect();
    }
    let evidence: HashSet<&str> = result
        .evidence
        .iter()
        .map(|Evidence { event_id, .. }| event_id.as_str())
        .collect();
    let half = (MAX_EVENTS - evidence.len().min(MAX_EVENTS)) / 2;
    (0..count)
        .filter(|&idx| {
            idx < half
                || idx >= count - half
                || evidence.contains(trace.events[idx].event_id.as_str())
        })
        .collect()
}

/// How long events took, by their place in the trace: as results say, else from the call to its result.
fn durations(trace: &Trace) -> HashMap<usize, f64> {
    let mut took = HashMap::new();
    let mut open: HashMap<&str, usize> = HashMap::new();
    for (idx, event) in trace.events.iter().enumerate() {
        match &event.data {
            EventData::ToolCall(call) => {
                open.insert(&call.call_id, idx);
            }
            EventData::ToolResult(result) => {
                let call = open.remove(&*result.call_id);
                let passed = call.map(|call| {
                    let milliseconds =
                        event.ts.as_millisecond() - trace.events[call].ts.as_millisecond();
                    // Less than 2^53 for every time that can be written.
                    milliseconds.max(0) as f64
                });
                if let Some(milliseconds) = result.duration_ms.or(passed) {
                    took.insert(call.unwrap_or(idx), milliseconds);
                }
            }
            _ => {
                if let Some(milliseconds) = event.duration_ms() {
                    took.insert(idx, milliseconds);
                }
            }
        }
    }
    took
}

fn lane(actor: &str) -> &'static str {
    match actor {
        "user" => "user",
        "agent" => "agent",
        "tool" => "tool",
        _ => "system",
    }
}

fn is_bad(data: &EventData) -> bool {
    match data {
        EventData::ErrorHappened(_) => true,
        EventData::ToolResult(result) => !result.success,
        EventData::RequestAnswered(answer) => answer.error.is_some(),
        EventData::ResponseReceived(response) => response.error.is_some(),
        EventData::Assertion(assertion) => assertion.status == "fail",
        EventData::Log(log) => log.level == "error",
        EventData::StepFinished(step) | EventData::ElementFinished(step) => step.error.is_some(),
        EventData::Terminal(terminal) => terminal.exit_code.is_some_and(|code| code != 0),
        _ => false,
    }
}

/// The data of an event within bounds, whether a part of it is missing, and its size in bytes.
fn event_data(event: &Event) -> (Json, bool, usize) {
    let whole = serde_json::to_value(event).unwrap_or_default();
    let (data, is_cut) = bounded(whole.get("data").unwrap_or(&Json::Null));
    let bytes = data.to_string().len();
    (data, is_cut, bytes)
}

/// As much of a value as is shown, and whether a part of it is missing.
fn bounded(json: &Json) -> (Json, bool) {
    let mut copy = Copy {
        room: MAX_DATA,
        is_cut: false,
    };
    let shown = copy.of(json);
    (shown, copy.is_cut)
}

/// A copy of a value that ends where there is no more room.
struct Copy {
    /// Bytes left, roughly.
    room: usize,
    is_cut: bool,
}

impl Copy {
    fn of(&mut self, json: &Json) -> Json {
        match json {
            Json::String(text) => self.text(text).into(),
            Json::Array(items) => {
                let mut shown = Vec::new();
                for item in items {
                    if !self.take(1) {
                        shown.push(format!("… {} more", items.len() - shown.len()).into());
                        break;
                    }
                    shown.push(self.of(item));
                }
                Json::Array(shown)
            }
            Json::Object(members) => {
                let mut shown = serde_json::Map::new();
                for (name, value) in members {
                    if !self.take(name.len() + 4) {
                        let rest = members.len() - shown.len();
                        shown.insert("…".to_owned(), format!("{rest} more").into());
                        break;
                    }
                    shown.insert(name.clone(), self.of(value));
                }
                Json::Object(shown)
            }
            scalar => {
                self.take(8);
                scalar.clone()
            }
        }
    }

    fn text(&mut self, text: &str) -> String {
        let shown = cut(text, MAX_TEXT.min(self.room));
        self.is_cut |= matches!(shown, Cow::Owned(_));
        self.take(shown.len() + 2);
        shown.into_owned()
    }

    /// Takes room; whether there was any.
    fn take(&mut self, bytes: usize) -> bool {
        let had_room = self.room > 0;
        self.is_cut |= !had_room;
        self.room = self.room.saturating_sub(bytes);
        had_room
    }
}
