//! Puts events in order and fills in what the source left out: numbers, ids, times, and what answers what.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::import::CAPABILITIES;
use crate::{
    Adapter, End, Event, EventData, FinalOutput, Header, Metrics, RunStatus, SCHEMA_VERSION, Trace,
};
use cuecard_source::value::Json;

/// An event on its way into a trace.
#[derive(Debug)]
pub(super) struct Draft {
    pub event_id: Option<String>,
    pub ts: Option<Timestamp>,
    pub group_id: Option<String>,
    pub session_id: Option<String>,
    pub task_id: Option<String>,
    pub agent_id: Option<String>,
    /// The event it answers, if the source says so; what answers a call is linked to it anyway.
    pub parent_event_id: Option<String>,
    pub data: EventData,
}

impl Draft {
    pub(super) fn new(ts: Option<Timestamp>, data: EventData) -> Self {
        Self {
            event_id: None,
            ts,
            group_id: None,
            session_id: None,
            task_id: None,
            agent_id: None,
            parent_event_id: None,
            data,
        }
    }
}

/// Everything about a trace but its events, and what is counted from them.
#[derive(Debug)]
pub(super) struct Frame {
    pub adapter: Adapter,
    pub capabilities: Json,
    pub scenario: Json,
    pub input_messages: Vec<Json>,
    pub final_output: Option<FinalOutput>,
    pub status: RunStatus,
    /// From the first event to the last if absent.
    pub timing_ms_total: Option<f64>,
    /// Calls that repeat a failed one if absent.
    pub retry_count: Option<u64>,
    pub token_usage: Option<u64>,
    pub artifacts: serde_json::Map<String, Json>,
}

/// The trace of `drafts`, in their order.
pub(super) fn trace(frame: Frame, drafts: Vec<Draft>) -> Trace {
    let times = times(&drafts);
    let are_measured: Vec<bool> = drafts.iter().map(|draft| draft.ts.is_some()).collect();
    let ids = event_ids(&drafts);
    let retries = frame.retry_count.unwrap_or_else(|| count_retries(&drafts));
    let mut calls: HashMap<Arc<str>, usize> = HashMap::new();
    let mut tool_call_count = 0;
    let mut events = Vec::with_capacity(drafts.len());
    for (idx, (draft, seq)) in drafts.into_iter().zip(1..).enumerate() {
        let answered = match &draft.data {
            EventData::ToolResult(result) => calls.get(&result.call_id),
            EventData::ErrorHappened(error) => {
                error.call_id.as_ref().and_then(|call| calls.get(call))
            }
            _ => None,
        };
        let parent_event_id = draft
            .parent_event_id
            .or_else(|| answered.map(|&call_idx| ids[call_idx].clone()));
        if let EventData::ToolCall(call) = &draft.data {
            calls.insert(call.call_id.clone(), idx);
            tool_call_count += 1;
        }
        events.push(Event {
            event_id: ids[idx].clone(),
            seq,
            ts: times[idx],
            ts_synthesized: !are_measured[idx],
            group_id: draft.group_id,
            session_id: draft.session_id,
            task_id: draft.task_id,
            agent_id: draft.agent_id,
            parent_event_id,
            data: draft.data,
        });
    }
    let timing_ms_total = frame.timing_ms_total.unwrap_or_else(|| span_ms(&events));
    // From the first measured time to the last it took at least as long.
    let measured = are_measured.iter().filter(|is_measured| **is_measured);
    let timing_synthesized = frame.timing_ms_total.is_none() && measured.count() < 2;
    let mut trace = Trace {
        header: Header {
            schema_version: SCHEMA_VERSION.to_owned(),
            trace_id: String::new(),
            test_case_id: None,
            test_run_id: String::new(),
            adapter: frame.adapter,
            capabilities: frame.capabilities,
            scenario: frame.scenario,
            input_messages: frame.input_messages,
        },
        events,
        end: Some(End {
            final_output: frame.final_output,
            status: frame.status,
            metrics: Metrics {
                timing_ms_total,
                timing_synthesized,
                tool_call_count,
                retry_count: retries,
                token_usage: frame.token_usage,
            },
            artifacts: frame.artifacts,
        }),
    };
    let digest = digest(&trace);
    trace.header.trace_id = format!("trace-{digest:016x}");
    trace.header.test_run_id = format!("run-{digest:016x}");
    trace
}

/// The flags of a trace, in the order of the format; `told` are those that the source gives itself.
pub(super) fn capabilities(told: &serde_json::Map<String, Json>) -> Json {
    let mut flags: serde_json::Map<String, Json> = CAPABILITIES
        .iter()
        .map(|&(name, default)| (name.to_owned(), Json::Bool(default)))
        .collect();
    for (name, flag) in told {
        flags.insert(name.clone(), flag.clone());
    }
    Json::Object(flags)
}

/// Given ids are kept, a second time with a number; the others count the events, and step aside where such an id
/// was given.
fn event_ids(drafts: &[Draft]) -> Vec<String> {
    let given: HashSet<&str> = drafts
        .iter()
        .filter_map(|draft| draft.event_id.as_deref())
        .collect();
    let mut seen: HashSet<&str> = HashSet::with_capacity(given.len());
    drafts
        .iter()
        .zip(1_u64..)
        .map(|(draft, seq)| {
            let mut id = match draft.event_id.as_deref() {
                Some(id) if seen.insert(id) => return id.to_owned(),
                Some(id) => format!("{id}'{seq}"),
                None => format!("e{seq}"),
            };
            while given.contains(id.as_str()) {
                id.push('\'');
            }
            id
        })
        .collect()
}

/// A time for each: between two known ones evenly, else a millisecond apart. Without any known time they count from
/// the epoch.
fn times(drafts: &[Draft]) -> Vec<Timestamp> {
    let known: Vec<(usize, i64)> = drafts
        .iter()
        .enumerate()
        .filter_map(|(idx, draft)| Some((idx, draft.ts?.as_millisecond())))
        .collect();
    let mut milliseconds = Vec::with_capacity(drafts.len());
    let mut next = 0;
    for idx in 0..drafts.len() {
        while known.get(next).is_some_and(|&(at, _)| at < idx) {
            next += 1;
        }
        let before = next.checked_sub(1).map(|at| known[at]);
        let after = known.get(next).copied();
        milliseconds.push(match (before, after) {
            (_, Some((at, time))) if at == idx => time,
            (None, None) => count(idx + 1),
            (None, Some((at, time))) => time.saturating_sub(count(at - idx)),
            (Some((at, time)), Some((until, end))) if end > time => {
                let share = i128::from(end - time) * (idx - at) as i128 / (until - at) as i128;
                time.saturating_add(i64::try_from(share).unwrap_or(i64::MAX))
            }
            (Some((at, time)), _) => time.saturating_add(count(idx - at)),
        });
    }
    milliseconds.into_iter().map(to_time).collect()
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The time, to the millisecond, within what a timestamp can hold.
pub(super) fn to_time(milliseconds: i64) -> Timestamp {
    let limit = if milliseconds < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    Timestamp::from_millisecond(milliseconds).unwrap_or(limit)
}

/// A time as a source writes it, to the millisecond; `None` if it is none, or outside the years 0 to 9999.
pub(super) fn read_time(text: &str) -> Option<Timestamp> {
    let time: Timestamp = text.parse().ok()?;
    let milliseconds = time.as_millisecond();
    YEARS_0_TO_9999
        .contains(&milliseconds)
        .then(|| to_time(milliseconds))
}

/// In milliseconds since 1970.
const YEARS_0_TO_9999: std::ops::Range<i64> = -62_167_219_200_000..253_402_214_400_000;

fn span_ms(events: &[Event]) -> f64 {
    let times = || events.iter().map(|event| event.ts.as_millisecond());
    match (times().min(), times().max()) {
        (Some(first), Some(last)) => last.saturating_sub(first) as f64,
        _ => 0.0,
    }
}

/// Calls that do the same as an earlier call which failed.
fn count_retries(drafts: &[Draft]) -> u64 {
    let mut under_way: HashMap<&str, (&str, String)> = HashMap::new();
    let mut failed: HashSet<(&str, String)> = HashSet::new();
    let mut retries = 0;
    for draft in drafts {
        match &draft.data {
            EventData::ToolCall(call) => {
                let what = (&*call.tool, call.args.to_string());
                retries += u64::from(failed.remove(&what));
                under_way.insert(&call.call_id, what);
            }
            EventData::ToolResult(result) if !result.success => {
                failed.extend(under_way.remove(&*result.call_id));
            }
            _ => {}
        }
    }
    retries
}

/// A number for the content: FNV-1a over what the trace file holds.
fn digest(trace: &Trace) -> u64 {
    struct Hash(u64);
    impl std::io::Write for Hash {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            for byte in bytes {
                self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    // Nothing here can fail; if it did, the number would still be one for this content.
    let _ = trace.write_lines(&mut hash);
    hash.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Thought;
    use proptest::prelude::*;

    fn drafts(times: &[Option<i64>]) -> Vec<Draft> {
        times
            .iter()
            .map(|time| {
                let thought = Thought { text: "x".into() };
                Draft::new(time.map(to_time), EventData::Thought(thought))
            })
            .collect()
    }

    fn filled(given: &[Option<i64>]) -> Vec<i64> {
        times(&drafts(given))
            .into_iter()
            .map(Timestamp::as_millisecond)
            .collect()
    }

    #[test]
    fn missing_times_come_from_the_neighbours() {
        assert_eq!(filled(&[None, None, None]), [1, 2, 3]);
        assert_eq!(filled(&[None, None, Some(100)]), [98, 99, 100]);
        assert_eq!(
            filled(&[Some(100), None, None, Some(130)]),
            [100, 110, 120, 130]
        );
        assert_eq!(filled(&[Some(100), None, None]), [100, 101, 102]);
        assert_eq!(filled(&[Some(100), None, Some(50)]), [100, 101, 50]);
    }

    #[test]
    fn times_that_nobody_measured_are_marked() {
        let frame = || Frame {
            adapter: Adapter {
                name: "x".to_owned(),
                version: "1".to_owned(),
            },
            capabilities: Json::Null,
            scenario: Json::Null,
            input_messages: Vec::new(),
            final_output: None,
            status: RunStatus::Success,
            timing_ms_total: None,
            retry_count: None,
            token_usage: None,
            artifacts: serde_json::Map::new(),
        };
        let marks = |given: &[Option<i64>]| {
            let trace = trace(frame(), drafts(given));
            let marks: Vec<bool> = trace
                .events
                .iter()
                .map(|event| event.ts_synthesized)
                .collect();
            let end = trace.end.as_ref().expect("an end");
            let mut lines = Vec::new();
            trace.write_lines(&mut lines).expect("written");
            let read = Trace::read(lines.as_slice()).expect("read");
            assert_eq!(read, trace, "the marks are in the file");
            (marks, end.metrics.timing_synthesized)
        };
        assert_eq!(marks(&[None, None]), (vec![true, true], true));
        assert_eq!(
            marks(&[Some(5), None, Some(9)]),
            (vec![false, true, false], false)
        );
        assert_eq!(marks(&[Some(5), None]), (vec![false, true], true));
    }

    #[test]
    fn made_ids_step_aside_for_given_ones() {
        let mut all = drafts(&[None, None, None]);
        all[0].event_id = Some("e3".into());
        assert_eq!(event_ids(&all), ["e3", "e2", "e3'"]);
        all[1].event_id = Some("e3".into());
        assert_eq!(event_ids(&all), ["e3", "e3'2", "e3'"]);
    }

    #[test]
    fn times_outside_the_format_are_refused() {
        assert!(read_time("2026-02-24T17:00:00.5Z").is_some());
        assert!(read_time("2026-02-24T17:00:00+01:00").is_some());
        for text in ["", "today", "2026-02-24", "-000001-02-24T17:00:00Z"] {
            assert!(read_time(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_times_can_be_filled_in(given in prop::collection::vec(prop::option::of(any::<i64>()), 0..20)) {
            prop_assert_eq!(times(&drafts(&given)).len(), given.len());
        }
    }
}
