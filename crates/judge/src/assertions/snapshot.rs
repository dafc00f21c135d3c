//! Whether a trace equals a stored one by meaning.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Assert;
use super::parts::{Text, Texts};
use crate::Finding;
use crate::compare::{Difference, compare, places_of};
use crate::mutate::Mutation;
use crate::redact_fields::redacted;
use crate::test_case::Params;
use crate::view::View;
use cuecard_source::value::Json;
use cuecard_trace::{Adapter, Event, EventData, Header, Metrics, Trace};

/// So many differences are told.
const MOST_TOLD: usize = 20;

/// A stored trace, or why it can't be read.
#[derive(Debug, Clone, PartialEq)]
pub enum Snapshot {
    /// It was read.
    Stored(Box<Trace>),
    /// It is there and can't be read: the reason.
    Unreadable(String),
}

/// Stored traces by their files, as test cases write them. A file that isn't there is left out.
pub type Snapshots = BTreeMap<String, Snapshot>;

/// `trace` without what differs from run to run: ids of the run, times, durations, tokens and logs are gone, ids
/// of events, calls, sessions and agents are numbered as they come. This is what a snapshot stores, so that
/// storing an equal trace again changes nothing.
pub fn stable(trace: &Trace) -> Trace {
    let mut numbering = Numbering::default();
    let header = &trace.header;
    let mut scenario = header.scenario.clone();
    for (key, letter) in [("session_id", 's'), ("agent_id", 'a')] {
        if let Some(Json::String(id)) = scenario.get_mut(key) {
            *id = numbering.of(letter, id);
        }
    }
    let events = trace
        .events
        .iter()
        .filter(|event| is_kept(event))
        .zip(1..)
        .map(|(event, seq)| stable_event(event, seq, &mut numbering))
        .collect();
    Trace {
        header: Header {
            schema_version: header.schema_version.clone(),
            trace_id: "snapshot".to_owned(),
            test_case_id: None,
            test_run_id: "snapshot".to_owned(),
            adapter: Adapter {
                name: header.adapter.name.clone(),
                version: String::new(),
            },
            capabilities: header.capabilities.clone(),
            scenario,
            input_messages: header.input_messages.clone(),
        },
        events,
        end: trace.end.as_ref().map(|end| {
            let mut end = end.clone();
            end.metrics = Metrics {
                timing_ms_total: 0.0,
                timing_synthesized: false,
                token_usage: None,
                ..end.metrics
            };
            end.artifacts.clear();
            end
        }),
    }
}

/// New ids for old ones, by kind and in the order in which they come.
#[derive(Default)]
struct Numbering {
    known: HashMap<(char, String), usize>,
    last: HashMap<char, usize>,
}

impl Numbering {
    fn of(&mut self, kind: char, id: &str) -> String {
        let number = match self.known.get(&(kind, id.to_owned())) {
            Some(number) => *number,
            None => {
                let last = self.last.entry(kind).or_default();
                *last += 1;
                self.known.insert((kind, id.to_owned()), *last);
                *last
            }
        };
        format!("{kind}{number}")
    }

    fn shared(&mut self, kind: char, id: &str) -> Arc<str> {
        self.of(kind, id).into()
    }
}

fn stable_event(event: &Event, seq: u64, numbering: &mut Numbering) -> Event {
    let mut data = event.data.clone();
    match &mut data {
        EventData::ToolCall(call) => call.call_id = numbering.shared('c', &call.call_id),
        EventData::ToolResult(result) => {
            result.call_id = numbering.shared('c', &result.call_id);
            result.duration_ms = None;
        }
        EventData::ErrorHappened(error) => {
            if let Some(id) = &mut error.call_id {
                *id = numbering.shared('c', id);
            }
        }
        EventData::StepFinished(step) | EventData::ElementFinished(step) => {
            step.duration_ms = 0.0;
            for attempt in &mut step.attempts {
                attempt.started_ms = 0.0;
                attempt.duration_ms = 0.0;
            }
        }
        // What it observed is how long the call took.
        EventData::Assertion(check) if check.kind == "max_ms" => check.observed = Json::Null,
        _ => {}
    }
    let mut renamed = |kind, id: &Option<String>| id.as_ref().map(|id| numbering.of(kind, id));
    Event {
        event_id: renamed('e', &Some(event.event_id.clone())).unwrap_or_default(),
        seq,
        ts: Timestamp::UNIX_EPOCH,
        ts_synthesized: false,
        group_id: event.group_id.clone(),
        session_id: renamed('s', &event.session_id),
        task_id: event.task_id.clone(),
        agent_id: renamed('a', &event.agent_id),
        parent_event_id: renamed('e', &event.parent_event_id),
        data,
    }
}

/// The trace equals a stored one by meaning.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct TraceSnapshot {
    /// The stored trace.
    pub file: Text,
    /// JSON pointers to leave out; `*` stands for any part.
    #[serde(default)]
    pub ignore: Texts,
}

impl Assert for TraceSnapshot {
    const TYPE: &'static str = "trace_snapshot";

    fn check(&mut self, params: &mut Params<'_, '_>) {
        params.check_pointers("ignore");
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let Self { file, ignore } = self;
        let update = "`cuecard test --update` creates it";
        let stored = match view.snapshot(file) {
            Some(Snapshot::Stored(stored)) => stored,
            Some(Snapshot::Unreadable(reason)) => {
                return Finding::fails(format!(
                    "the stored trace `{file}` can't be read: {reason}"
                ))
                .observed(json!({"stored": false}))
                .help(format!("{update} again"));
            }
            None => {
                return Finding::fails(format!("stored trace `{file}` not found"))
                    .observed(json!({"stored": false}))
                    .help(update);
            }
        };
        // What may not be written is not in the stored trace either.
        let shown = redacted(view.case, view.trace);
        let comparison = compare(stored, &shown, ignore);
        let mut told = comparison.differences.iter().flat_map(Difference::told);
        let first: Vec<String> = told.by_ref().take(MOST_TOLD).collect();
        let count = first.len() + told.count();
        let Some(difference) = first.first() else {
            let finding = Finding::holds(format!("the trace equals `{file}`"))
                .observed(json!({"differences": 0}));
            return if !view.events().any(is_kept) {
                finding.help("both traces are empty").vacuous()
            } else if comparison.ignores_all_events {
                finding.help("`ignore` excludes every event").vacuous()
            } else {
                finding
            };
        };
        let more = match count {
            1 => String::new(),
            2 => " and 1 more difference".to_owned(),
            count => format!(" and {} more differences", count - 1),
        };
        let kept: Vec<&Event> = view.events().filter(|event| is_kept(event)).collect();
        let differing = places_of(&comparison.differences);
        let refs = kept
            .iter()
            .enumerate()
            .filter(|(index, _)| differing.contains(index))
            .map(|(_, event)| event.event_id.as_str());
        Finding::fails(format!("the trace differs from `{file}`: {difference}{more}"))
        .observed(json!({"differences": count, "first": first}))
        .help(format!(
            "if the change is intended, {update} again; `ignore` takes JSON pointers such as `/events/*/data/result`"
        ))
        .refs(refs)
    }

    fn watches(&self, mutation: Mutation) -> bool {
        use Mutation::{
            AlterArgument, AlterResult, DropCall, DuplicateCall, FlipStatus, RetargetCall,
        };
        matches!(
            mutation,
            DropCall | DuplicateCall | RetargetCall | AlterArgument | AlterResult | FlipStatus
        )
    }
}

/// Logs say how a run went, not what happened.
pub(crate) fn is_kept(event: &Event) -> bool {
    !matches!(event.data, EventData::Log(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict::{Fails, Holds};
    use crate::samples::{Events, assertion, case};
    use crate::{Beside, OutcomeStatus, judge_with};
    use cuecard_trace::{Log, TraceWriter};

    fn compared(stored: &Trace, new: &Trace, ignore: &[&str]) -> Finding {
        let snapshots = Snapshots::from([(
            "s.json".to_owned(),
            Snapshot::Stored(Box::new(stored.clone())),
        )]);
        let beside = snapshots.into();
        let case = case();
        let view = View::new(&case, new).with(&beside);
        let check = TraceSnapshot {
            file: "s.json".into(),
            ignore: crate::trials::texts(ignore),
        };
        check.judge(&view)
    }

    fn events() -> Events {
        Events::new()
            .user("news?")
            .call("web_search", "c1", json!({"q": "ai", "n": 1}))
            .result(
                "web_search",
                "c1",
                true,
                json!({"items": [{"id": "x1", "t": "a"}]}),
            )
    }

    fn run() -> Trace {
        events().output("- a").metrics(12.0, Some(3)).trace()
    }

    #[test]
    fn what_differs_from_run_to_run_does_not_count() {
        let stored = run();
        let mut new = run();
        new.header.trace_id = "other".into();
        new.header.test_run_id = "other".into();
        new.header.adapter.version = "9".into();
        for event in &mut new.events {
            event.event_id = format!("id-{}", event.seq);
            event.ts = Timestamp::from_second(1_000_000).expect("in range");
            match &mut event.data {
                EventData::ToolCall(call) => call.call_id = "call_zzz".into(),
                EventData::ToolResult(result) => {
                    result.call_id = "call_zzz".into();
                    result.duration_ms = Some(99.0);
                }
                _ => {}
            }
        }
        let log = EventData::Log(Log {
            level: "info".into(),
            message: "noise".into(),
            stream: None,
        });
        new.events
            .insert(1, Event::live(9, Timestamp::UNIX_EPOCH, log));
        if let Some(end) = &mut new.end {
            end.metrics.timing_ms_total = 4000.0;
            end.metrics.token_usage = None;
            end.artifacts.insert("file".into(), json!("x"));
        }
        let finding = compared(&stored, &new, &[]);
        assert_eq!(finding.verdict, Holds, "{}", finding.message);
        assert!(!finding.vacuous);
        // What is stored is the same for both, to the byte.
        let bytes = |trace: &Trace| {
            let stable = stable(trace);
            let mut bytes = Vec::new();
            let mut writer = TraceWriter::new(&mut bytes);
            for event in &stable.events {
                writer.event(event).expect("memory");
            }
            bytes
        };
        assert_eq!(bytes(&stored), bytes(&new));
        assert_eq!(stable(&stable(&new)), stable(&new));
    }

    #[test]
    fn what_happened_counts() {
        let told = |new: Trace| {
            let finding = compared(&run(), &new, &[]);
            assert_eq!(finding.verdict, Fails);
            (finding.message, finding.event_refs)
        };
        let with = |args: Json, result: Json| {
            Events::new()
                .user("news?")
                .call("web_search", "c1", args)
                .result("web_search", "c1", true, result)
                .output("- a")
                .trace()
        };
        let result = json!({"items": [{"id": "x1", "t": "a"}]});
        assert_eq!(
            told(with(json!({"q": "ml", "n": 1}), result.clone())),
            (
                "the trace differs from `s.json`: `/events/1/data/args/q` is \"ml\", was \"ai\""
                    .to_owned(),
                vec!["e2".to_owned()]
            )
        );
        let (message, _) = told(with(json!({"q": "ai", "n": "1"}), result.clone()));
        assert!(
            message.ends_with("`/events/1/data/args/n` is \"1\", was 1"),
            "{message}"
        );
        let (message, _) = told(with(json!({"q": "ai", "k": 1}), json!({"items": []})));
        assert!(
            message.ends_with("`/events/1/data/args/n` is missing, was 1 and 2 more differences"),
            "{message}"
        );
        let one_more = events()
            .call("web_fetch", "c2", json!({}))
            .output("- a")
            .trace();
        assert_eq!(
            told(one_more),
            (
                "the trace differs from `s.json`: event 4 is new: `tool_call` of `web_fetch`"
                    .to_owned(),
                vec!["e4".to_owned()]
            )
        );
        let (message, _) = told(Events::new().user("news?").output("- a").trace());
        assert_eq!(
            message,
            "the trace differs from `s.json`: `tool_call` of `web_search` is missing"
        );
        let (message, _) = told(
            events()
                .error("web_search", Some("c1"), "timeout")
                .output("- a")
                .trace(),
        );
        assert!(
            message.ends_with("event 4 is new: `error` of `web_search`"),
            "{message}"
        );
        let mut died = run();
        died.end = None;
        let (message, _) = told(died);
        assert!(message.contains("`/final_output` is missing"), "{message}");
    }

    #[test]
    fn a_result_of_another_call_counts() {
        let two = |first: &str| {
            Events::new()
                .call("a", "c1", json!({}))
                .call("a", "c2", json!({}))
                .result("a", first, true, json!(1))
                .trace()
        };
        assert_eq!(compared(&two("c1"), &two("c1"), &[]).verdict, Holds);
        assert_eq!(compared(&two("c1"), &two("c2"), &[]).verdict, Fails);
    }

    #[test]
    fn ignored_places_do_not_count() {
        let new = Events::new()
            .user("news?")
            .call("web_search", "c1", json!({"q": "ai", "n": 2}))
            .result(
                "web_search",
                "c1",
                true,
                json!({"items": [{"id": "x2", "t": "a"}]}),
            )
            .output("- a")
            .trace();
        for (ignore, expected, vacuous) in [
            (
                &["/events/*/data/args/n", "/events/*/data/result/items/*/id"][..],
                Holds,
                false,
            ),
            (&["/events/1/data/args/n", "/events/**/id"], Holds, false),
            (&["/events/*/data/args", "/events/*/data/re*"], Holds, false),
            (&["/events/*/data/args/n"], Fails, false),
            (&["/events/0/data/args/n", "/events/**/id"], Fails, false),
            (&["/events/*/data/args/nn", "/events/**/id"], Fails, false),
            (&["/events"], Holds, true),
            (&["/**"], Holds, true),
            (&["/events/*"], Holds, true),
        ] {
            let finding = compared(&run(), &new, ignore);
            assert_eq!(
                (finding.verdict, finding.vacuous),
                (expected, vacuous),
                "{ignore:?}: {}",
                finding.message
            );
        }
    }

    #[test]
    fn a_trace_that_is_not_stored_fails() {
        let mut case = case();
        case.assertions = vec![assertion(TraceSnapshot {
            file: "s.json".into(),
            ignore: Texts::default(),
        })];
        let files: Vec<&str> = crate::snapshot_files(&case).collect();
        assert_eq!(files, ["s.json"]);
        let outcomes = judge_with(&case, &run(), &Beside::default());
        assert_eq!(outcomes[0].status, OutcomeStatus::Fail);
        assert_eq!(outcomes[0].message, "stored trace `s.json` not found");
        let broken =
            Snapshots::from([("s.json".into(), Snapshot::Unreadable("line 1: bad".into()))]);
        assert_eq!(
            judge_with(&case, &run(), &broken.into())[0].message,
            "the stored trace `s.json` can't be read: line 1: bad"
        );
    }
}
