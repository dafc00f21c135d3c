//! What is compared of a trace.

use std::collections::HashMap;

use super::Place;
use crate::assertions::snapshot::{is_kept, stable};
use crate::document::document;
use cuecard_source::value::Json;
use cuecard_trace::{Event, Trace};

/// An event is told on a line of at most so many characters.
const LONGEST_TEXT: usize = 200;

/// What happened, without what differs from run to run.
#[derive(Debug)]
pub(super) struct Meaning {
    /// The events that count, in order.
    pub events: Vec<EventMeaning>,
    /// The trace as a document, without its events.
    pub rest: Json,
}

/// What happened at one point.
#[derive(Debug)]
pub(super) struct EventMeaning {
    /// Where it stands.
    pub place: Place,
    /// The event as a document, without ids, times, and what it refers to.
    pub value: Json,
    /// The event it answers, as a place among the events.
    pub parent: Option<usize>,
    /// The call it belongs to, as a place among the events; absent for a call.
    pub call: Option<usize>,
}

/// What is compared of a trace. Who made it and what it can be asked is no part of what happened.
pub(super) fn meaning(trace: &Trace) -> Meaning {
    let mut rest = document(&stable(&Trace {
        header: trace.header.clone(),
        events: Vec::new(),
        end: trace.end.clone(),
    }));
    if let Json::Object(members) = &mut rest {
        for key in [
            "schema_version",
            "trace_id",
            "test_case_id",
            "test_run_id",
            "adapter",
            "capabilities",
            "events",
        ] {
            members.shift_remove(key);
        }
    }
    let mut seen = Seen::default();
    let stable = stable(trace);
    let written = trace.events.iter().filter(|event| is_kept(event));
    let events = stable
        .events
        .iter()
        .zip(written)
        .enumerate()
        .map(|(index, (event, written))| event_meaning(index, event, written, &mut seen))
        .collect();
    Meaning { events, rest }
}

/// The places of what was seen, by ids.
#[derive(Default)]
struct Seen {
    events: HashMap<String, usize>,
    calls: HashMap<String, usize>,
}

fn event_meaning(index: usize, event: &Event, written: &Event, seen: &mut Seen) -> EventMeaning {
    let mut value = serde_json::to_value(event).unwrap_or_default();
    let (mut parent, mut call) = (None, None);
    if let Json::Object(members) = &mut value {
        members.shift_remove("seq");
        members.shift_remove("ts");
        members.shift_remove("ts_synthesized");
        members.shift_remove("event_id");
        if let Some(Json::String(id)) = members.shift_remove("parent_event_id") {
            parent = seen.events.get(&id).copied();
        }
        let is_call = members.get("type").and_then(Json::as_str) == Some("tool_call");
        let data = members.get_mut("data").and_then(Json::as_object_mut);
        if let Some(Json::String(id)) = data.and_then(|data| data.shift_remove("call_id")) {
            match is_call {
                true => {
                    seen.calls.insert(id, index);
                }
                false => call = seen.calls.get(&id).copied(),
            }
        }
    }
    seen.events.insert(event.event_id.clone(), index);
    EventMeaning {
        place: Place {
            index,
            seq: written.seq,
            event_id: written.event_id.clone(),
            kind: written.data.type_name().to_owned(),
            tool: written.tool().map(str::to_owned),
            text: written.brief(LONGEST_TEXT),
        },
        value,
        parent,
        call,
    }
}
