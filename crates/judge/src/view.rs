//! A trace as assertions ask it: its calls with what came of them, its messages, and the last answer.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use super::document::document;
use super::fold::{as_read, fold};
use crate::Beside;
use crate::assertions::command::CommandVerdict;
use crate::assertions::snapshot::Snapshot;
use crate::model::{TestCase, ToolPattern};
use cuecard_source::value::Json;
use cuecard_trace::{ErrorHappened, Event, EventData, ToolCall, ToolResult, Trace};

/// A test case and a trace, side by side. What several assertions ask is worked out once.
#[derive(Debug)]
pub struct View<'a> {
    /// The test case.
    pub case: &'a TestCase,
    /// The trace.
    pub trace: &'a Trace,
    beside: Option<&'a Beside>,
    calls: Calls<'a>,
    folded_output: OnceCell<String>,
    read_output: OnceCell<Option<String>>,
    document: OnceCell<Json>,
    causes: OnceCell<Vec<Option<usize>>>,
}

/// A tool call with what came of it.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// Its place among the events, from 0.
    pub position: usize,
    /// Its event.
    pub event: &'a Event,
    /// What was called.
    pub data: &'a ToolCall,
    /// Its answers in order; a call of a broken run has none.
    pub results: Vec<(&'a Event, &'a ToolResult)>,
    /// What went wrong with it.
    pub errors: Vec<(&'a Event, &'a ErrorHappened)>,
}

impl Call<'_> {
    /// Whether `tool` means it: the tool's name, or the name that the agent itself used.
    pub(crate) fn is_of(&self, tool: &ToolPattern) -> bool {
        names_tool(tool, self.data)
    }

    /// The id of its event.
    pub(crate) fn id(&self) -> &str {
        &self.event.event_id
    }
}

#[derive(Debug)]
struct Calls<'a> {
    calls: Vec<Call<'a>>,
    /// For each event, the call that it is or that it belongs to.
    of_event: Vec<Option<usize>>,
}

impl<'a> View<'a> {
    /// Looks at `trace` for `case`.
    pub fn new(case: &'a TestCase, trace: &'a Trace) -> Self {
        Self {
            case,
            trace,
            beside: None,
            calls: link(&trace.events),
            folded_output: OnceCell::new(),
            read_output: OnceCell::new(),
            document: OnceCell::new(),
            causes: OnceCell::new(),
        }
    }

    /// The same with what the assertions ask for besides.
    pub fn with(self, beside: &'a Beside) -> Self {
        Self {
            beside: Some(beside),
            ..self
        }
    }

    /// Whether the trace can be asked about something.
    pub fn has_capability(&self, name: &str) -> bool {
        self.trace
            .header
            .capabilities
            .get(name)
            .and_then(Json::as_bool)
            == Some(true)
    }

    /// All events.
    pub fn events(&self) -> impl Iterator<Item = &'a Event> + '_ {
        self.trace.events.iter()
    }

    /// The last answer: the trace's own, else that of the last `final_output` event. Empty if there is none.
    pub fn output(&self) -> &'a str {
        self.trace.output()
    }

    /// The last answer as it is read, if that makes a difference.
    pub(crate) fn read_output(&self) -> Option<&str> {
        self.read_output
            .get_or_init(|| match as_read(self.output()) {
                Cow::Borrowed(_) => None,
                Cow::Owned(text) => Some(text),
            })
            .as_deref()
    }

    /// The last answer with plain signs and without its case.
    pub(crate) fn folded_output(&self) -> &str {
        self.folded_output
            .get_or_init(|| fold(self.output()).into_owned())
    }

    /// Whether the last answer says nothing.
    pub(crate) fn output_is_empty(&self) -> bool {
        self.output().trim().is_empty()
    }

    /// The event of the last answer and its place, unless the trace gives the answer only at its end.
    pub(crate) fn output_event(&self) -> Option<(usize, &'a Event)> {
        self.trace
            .events
            .iter()
            .enumerate()
            .rev()
            .find(|(_, event)| matches!(event.data, EventData::FinalOutput(_)))
    }

    /// The id of the event of the last answer, if there is one.
    pub(crate) fn output_ref(&self) -> Option<&'a str> {
        self.output_event()
            .map(|(_, event)| event.event_id.as_str())
    }

    /// All tool calls in order.
    pub(crate) fn calls(&self) -> &[Call<'a>] {
        &self.calls.calls
    }

    /// The calls of a tool in order.
    pub(crate) fn calls_of(&self, tool: &ToolPattern) -> Vec<&Call<'a>> {
        self.calls()
            .iter()
            .filter(|call| call.is_of(tool))
            .collect()
    }

    /// Whether the result at `position` is one of `tool`, or of a call that is of it.
    pub(crate) fn is_result_of(
        &self,
        position: usize,
        result: &ToolResult,
        tool: &ToolPattern,
    ) -> bool {
        match self.call_at(position) {
            // Its call says what it is a result of.
            Some(call) => call.is_of(tool),
            None => tool.matches(&result.tool),
        }
    }

    /// Whether the event at `position` belongs to a call of which the trace has an error.
    pub(crate) fn answers_failed_call(&self, position: usize) -> bool {
        self.call_at(position)
            .is_some_and(|call| !call.errors.is_empty())
    }

    /// The call that the event at `position` is, answers, or says an error of.
    pub(crate) fn call_at(&self, position: usize) -> Option<&Call<'a>> {
        let index = self.calls.of_event.get(position).copied().flatten()?;
        self.calls.calls.get(index)
    }

    /// Whether the trace shows nothing that the agent did or said.
    pub(crate) fn shows_nothing(&self) -> bool {
        self.output_is_empty()
            && !self.trace.events.iter().any(|event| {
                matches!(event.data.actor(), "agent" | "tool")
                    && !matches!(event.data, EventData::FinalOutput(_))
            })
    }

    /// The places of the events that led to the one at `position`, the nearest first.
    pub(crate) fn causes_of(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        let causes = self.causes.get_or_init(|| causes(&self.trace.events));
        let cause_of = move |position: &usize| causes.get(*position).copied().flatten();
        std::iter::successors(cause_of(&position), cause_of)
    }

    /// The whole trace as one JSON document.
    pub(crate) fn document(&self) -> &Json {
        self.document.get_or_init(|| document(self.trace))
    }

    /// The stored trace that is called `file`, if it was handed in.
    pub(crate) fn snapshot(&self, file: &str) -> Option<&'a Snapshot> {
        self.beside?.snapshots.get(file)
    }

    /// What a command said of the trace, if it was run.
    pub(crate) fn verdict(&self, command: &[String]) -> Option<&'a CommandVerdict> {
        self.beside?.verdicts.get(command)
    }
}

/// What led to each event: the event that it names as its parent; else the call of a result or an error, the call that an
/// edit or a question directly follows, and what was last said to the agent in the session. What somebody else did, or
/// looked at, has no cause.
fn causes(events: &[Event]) -> Vec<Option<usize>> {
    let (mut by_event_id, mut by_call_id) = (HashMap::new(), HashMap::new());
    // By session: what was said to the agent, and the call that it is at.
    let (mut said, mut working) = (HashMap::new(), HashMap::new());
    let mut causes = Vec::with_capacity(events.len());
    for (position, event) in events.iter().enumerate() {
        let session = event.session_id.as_deref();
        let call = |id: &str| by_call_id.get(id).copied();
        let told = || said.get(&session).copied();
        let inferred = match &event.data {
            EventData::ToolResult(result) => call(&result.call_id),
            EventData::ErrorHappened(error) => {
                error.call_id.as_deref().and_then(call).or_else(told)
            }
            EventData::FileEdit(_) | EventData::Permission(_) => {
                working.get(&session).copied().or_else(told)
            }
            EventData::Message(message) if message.role == "user" => None,
            data if data.actor() == "agent" => told(),
            _ => None,
        };
        let parent = event.parent_event_id.as_deref();
        causes.push(
            parent
                .and_then(|id| by_event_id.get(id).copied())
                .or(inferred),
        );
        match &event.data {
            EventData::ToolCall(called) => {
                by_call_id.insert(&*called.call_id, position);
                working.insert(session, position);
            }
            EventData::ToolResult(result) => {
                if let Some(call) = by_call_id.get(&*result.call_id) {
                    working.insert(session, *call);
                }
            }
            EventData::MessageReceived(_) | EventData::Message(_) | EventData::Thought(_) => {
                working.remove(&session);
            }
            _ => {}
        }
        let is_said = match &event.data {
            EventData::MessageReceived(_) => true,
            EventData::Message(message) => message.role == "user",
            _ => false,
        };
        if is_said {
            said.insert(session, position);
        }
        by_event_id.insert(event.event_id.as_str(), position);
    }
    causes
}

/// Gives each result and error to the latest earlier call with its call id; of several such calls, to the one
/// that it names as its parent.
fn link(events: &[Event]) -> Calls<'_> {
    let mut calls: Vec<Call<'_>> = Vec::new();
    let mut of_event = Vec::with_capacity(events.len());
    let mut by_call_id: HashMap<&str, usize> = HashMap::new();
    let mut by_event_id: HashMap<&str, usize> = HashMap::new();
    for (position, event) in events.iter().enumerate() {
        let find = |calls: &[Call<'_>], call_id: Option<&str>| {
            let parent = event.parent_event_id.as_deref();
            parent
                .and_then(|id| by_event_id.get(id))
                .filter(|&&index| call_id.is_none_or(|id| *calls[index].data.call_id == *id))
                .or_else(|| by_call_id.get(call_id?))
                .copied()
        };
        let index = match &event.data {
            EventData::ToolCall(data) => {
                let index = calls.len();
                by_call_id.insert(&data.call_id, index);
                by_event_id.insert(&event.event_id, index);
                calls.push(Call {
                    position,
                    event,
                    data,
                    results: Vec::new(),
                    errors: Vec::new(),
                });
                Some(index)
            }
            EventData::ToolResult(result) => {
                let index = find(&calls, Some(&result.call_id));
                if let Some(call) = index.and_then(|index| calls.get_mut(index)) {
                    call.results.push((event, result));
                }
                index
            }
            EventData::ErrorHappened(error) => {
                let index = find(&calls, error.call_id.as_deref());
                if let Some(call) = index.and_then(|index| calls.get_mut(index)) {
                    call.errors.push((event, error));
                }
                index
            }
            _ => None,
        };
        of_event.push(index);
    }
    Calls { calls, of_event }
}

/// Whether `tool` means a call: by the tool's name, or by the name that the agent itself used.
pub(crate) fn names_tool(tool: &ToolPattern, call: &ToolCall) -> bool {
    let native = call.native_tool.as_deref();
    tool.matches(&call.tool) || native.is_some_and(|native| tool.matches(native))
}

/// What `key` reaches in `json`: a key as it is, else the way through objects and lists that its parts
/// between the dots name, as in `filter.tags.0`.
pub(crate) fn dotted<'j>(json: &'j Json, key: &str) -> Option<&'j Json> {
    let (mut at, mut rest) = (json, key);
    loop {
        if let Some(found) = member(at, rest) {
            return Some(found);
        }
        let (first, after) = rest.split_once('.')?;
        at = member(at, first)?;
        rest = after;
    }
}

fn member<'j>(json: &'j Json, key: &str) -> Option<&'j Json> {
    match json {
        Json::Object(members) => members.get(key),
        Json::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, Events};
    use super::*;
    use serde_json::json;

    #[test]
    fn dotted_keys_reach_into_objects_and_lists() {
        let args = json!({"a": {"b": [1, {"c.d": 2}]}, "a.b": 3, "e": null});
        assert_eq!(dotted(&args, "a.b"), Some(&json!(3)));
        assert_eq!(dotted(&args, "a.b.0"), Some(&json!(1)));
        assert_eq!(dotted(&args, "a.b.1.c.d"), Some(&json!(2)));
        assert_eq!(dotted(&args, "e"), Some(&Json::Null));
        for absent in ["b", "a.c", "a.b.2", "a.", "", ".", "a..b"] {
            assert_eq!(dotted(&args, absent), None, "{absent}");
        }
    }

    #[test]
    fn results_and_errors_belong_to_the_latest_call_of_their_id() {
        let trace = Events::new()
            .call("search", "c1", json!({"q": 1}))
            .error("search", Some("c1"), "timeout")
            .call("search", "c1", json!({"q": 2}))
            .result("search", "c1", true, json!("late"))
            .result("search", "unknown", true, json!("stray"))
            .trace();
        let case = samples::case();
        let view = View::new(&case, &trace);
        let calls = view.calls();
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[0].errors.len(), 1);
        assert!(calls[0].results.is_empty());
        assert_eq!(calls[1].results.len(), 1);
        assert_eq!(view.call_at(3).map(|call| call.position), Some(2));
        assert!(view.call_at(4).is_none());
    }

    #[test]
    fn what_led_to_an_event_comes_before_it() {
        let edit = || {
            EventData::FileEdit(cuecard_trace::FileEdit {
                path: "a".into(),
                lines_added: 1,
                lines_removed: 0,
                hash_before: None,
                hash_after: None,
            })
        };
        let log = EventData::Log(cuecard_trace::Log {
            level: "info".into(),
            message: "seen".into(),
            stream: None,
        });
        let mut trace = Events::new()
            .call("early", "c0", json!({}))
            .user("first")
            .call("write", "c1", json!({}))
            .call("look", "c2", json!({}))
            .result("write", "c1", true, json!({}))
            .event(edit())
            .message("written")
            .event(edit())
            .user("second")
            .error("look", Some("c2"), "late")
            .event(log)
            .output("over")
            .trace();
        let causes_in = |trace: &Trace| causes(&trace.events);
        let expected = [
            None,
            None,
            Some(1),
            Some(1),
            Some(2),
            Some(2),
            Some(1),
            Some(1),
            None,
            Some(3),
            None,
            Some(8),
        ];
        assert_eq!(causes_in(&trace), expected);
        let case = samples::case();
        let view = View::new(&case, &trace);
        assert_eq!(view.causes_of(5).collect::<Vec<_>>(), [2, 1]);
        // Another session knows nothing of it; what is named goes before; what comes later is no cause.
        trace.events[11].session_id = Some("other".into());
        trace.events[10].parent_event_id = Some(trace.events[6].event_id.clone());
        trace.events[3].parent_event_id = Some(trace.events[9].event_id.clone());
        let causes = causes_in(&trace);
        assert_eq!(
            [causes[11], causes[10], causes[3]],
            [None, Some(6), Some(1)]
        );
    }

    #[test]
    fn a_named_parent_wins_over_the_call_id() {
        let mut trace = Events::new()
            .call("search", "c1", json!({}))
            .call("search", "c1", json!({}))
            .result("search", "c1", true, json!("first"))
            .trace();
        trace.events[2].parent_event_id = Some("e1".into());
        let case = samples::case();
        let view = View::new(&case, &trace);
        assert_eq!(view.calls()[0].results.len(), 1);
    }
}
