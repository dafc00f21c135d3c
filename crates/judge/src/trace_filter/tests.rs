//! A trace with gaps is judged as the whole of it is.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::*;
use crate::model::{AssertionCheck as Check, Selector};
use crate::samples::{assertion, case, pattern, selector, tool};
use crate::tests::{check, tool_pattern, value};
use crate::{Judgement, Run, Snapshots, TestResult, judge_filtered, judge_with};
use cuecard_source::value::Json;

/// Type, data, how many events before it its parent is, and the task it belongs to.
type Line = (&'static str, Json, Option<usize>, Option<&'static str>);

fn line() -> impl Strategy<Value = Line> {
    let name = || select(&["search", "fetch", "send", "rare"][..]);
    let call_id = || select(&["c1", "c2", "c3", "c4"][..]);
    let text = || select(&["a", "group-b knows", "yes?", "12 news", ""][..]);
    let path = || select(&["groups/group-a/x.md", "groups/group-b/x.md", "notes"][..]);
    let call =
        (name(), call_id(), value(), any::<bool>()).prop_map(|(tool, id, args, is_native)| {
            let native = is_native.then_some("Native");
            (
                "tool_call",
                json!({"tool": tool, "call_id": id, "args": args, "native_tool": native}),
            )
        });
    let result = (name(), call_id(), value(), any::<bool>(), proptest::option::of(0_u8..9)).prop_map(
        |(tool, id, result, success, took)| {
            let data = json!({"tool": tool, "call_id": id, "result": result, "success": success, "duration_ms": took});
            ("tool_result", data)
        },
    );
    let error = (proptest::option::of(name()), proptest::option::of(call_id()), text()).prop_map(
        |(tool, id, message)| {
            let data = json!({"scope": "tool", "tool": tool, "call_id": id, "error_type": "timeout", "message": message, "retryable": true});
            ("error", data)
        },
    );
    let said = (
        select(&["message", "message_received", "final_output"][..]),
        text(),
    )
        .prop_map(|(kind, content)| (kind, json!({"role": "assistant", "content": content})));
    let memory = (select(&["memory_read", "memory_write"][..]), path(), text()).prop_map(
        |(kind, path, content)| {
            (
                kind,
                json!({"source": "file", "path": path, "content": content}),
            )
        },
    );
    let other = (select(&["nonsense", "log", "assertion"][..]), name(), any::<bool>()).prop_map(
        |(kind, name, success)| {
            let data = json!({
                "tool": name, "success": success, "level": "info", "message": name, "id": "a1", "type": "file",
                "status": if success { "pass" } else { "fail" },
            });
            (kind, data)
        },
    );
    let data = prop_oneof![6 => call, 6 => result, 2 => error, 1 => said, 1 => memory, 1 => other];
    let parent = proptest::option::weighted(0.3, 0_usize..6);
    let task = proptest::option::weighted(0.2, select(&["t1", "t2"][..]));
    (data, parent, task).prop_map(|((kind, data), parent, task)| (kind, data, parent, task))
}

/// A trace in JSON Lines, in which the same events come again and again.
fn text() -> impl Strategy<Value = String> {
    let output = proptest::option::of(select(
        &["- a\n- b?", "It failed.", "search said 12 news", ""][..],
    ));
    let parts = (
        prop::collection::vec(line(), 0..12),
        0_usize..30,
        prop::collection::vec(line(), 0..6),
    );
    (parts, output, any::<bool>()).prop_map(|((repeated, times, last), output, has_end)| {
        let header = json!({
            "kind": "header", "schema_version": "0.1", "trace_id": "t", "test_run_id": "r",
            "adapter": {"name": "n", "version": "1"}, "scenario": {"trigger": "scheduler", "task_id": "t1", "group_id": "group-a"},
        });
        let mut lines = vec![header];
        for (kind, data, parent, task) in repeated.iter().cycle().take(repeated.len() * times).chain(&last) {
            let seq = lines.len();
            let ts = Timestamp::UNIX_EPOCH + Duration::from_millis(seq as u64);
            let parent = parent.and_then(|before| seq.checked_sub(before)).map(|parent| format!("e{parent}"));
            lines.push(json!({
                "event_id": format!("e{seq}"), "seq": seq, "ts": ts.to_string(), "type": kind, "actor": "agent",
                "parent_event_id": parent, "task_id": task, "data": data,
            }));
        }
        if has_end {
            let output = output.map(|content| json!({"role": "assistant", "content": content}));
            lines.push(json!({
                "kind": "end", "final_output": output, "status": "success",
                "metrics": {"timing_ms_total": 20.0, "tool_call_count": 1, "retry_count": 0},
            }));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    })
}

/// Types that the general tests leave to their families.
fn family_check() -> impl Strategy<Value = Check> {
    let small = || proptest::option::of(0_u64..4);
    let tools = || prop::collection::vec(tool_pattern(), 0..2);
    prop_oneof![
        (tool_pattern(), 0_u64..3, small()).prop_map(|(tool, max_retries, min_backoff_ms)| {
            Check::RetryPolicyRespected {
                tool,
                max_retries,
                retry_on_error_types: vec!["timeout".into()],
                min_backoff_ms,
            }
        }),
        any::<bool>().prop_map(|must_not_claim_success| Check::GracefulFailureOutput {
            allowed_failure_phrases: Vec::new(),
            must_not_claim_success,
            forbidden_success_phrases: Vec::new(),
        }),
        proptest::option::of(select(&["t1", "t2", "t3"][..])).prop_map(|task| {
            Check::SchedulerTaskRuns {
                task_id: task.map(str::to_owned),
                trigger_must_equal: "scheduler".into(),
            }
        }),
        (tool_pattern(), small(), small(), any::<bool>()).prop_map(|(tool, min, max, dedupes)| {
            Check::SchedulerOutboundCount {
                tool,
                exact: None,
                min,
                max,
                dedupe_by: dedupes.then(|| "a".to_owned()),
            }
        }),
        tools().prop_map(|allowed_sources| Check::ClaimsSupportedByFixtures {
            allowed_sources,
            proof: crate::model::ProofRules::default(),
        }),
        tools().prop_map(|allowed_sources| Check::NoFabricatedSourceOrCitation {
            allowed_sources,
            citation_patterns: vec![pattern("[0-9]+ news")],
        }),
        any::<bool>().prop_map(|require_event| Check::MemoryRecallSameGroup {
            group_id: Some("group-a".into()),
            expected_memory_fact: "a".into(),
            output_patterns: Vec::new(),
            require_event,
        }),
        select(&["group-a", "group-b"][..]).prop_map(|group| Check::MemoryUpdateOnCorrection {
            group_id: Some(group.into()),
            corrected_fact: "12 news".into(),
            stale_fact: Some("a".into()),
        }),
        any::<bool>().prop_map(|names| Check::NoCrossGroupMemoryUse {
            current_group_id: Some("group-a".into()),
            forbidden_group_ids: if names {
                vec!["group-b".into()]
            } else {
                Vec::new()
            },
            canaries: vec!["group-b knows".into()],
            require_event_level_proof: false,
        }),
        tool_pattern().prop_map(|tool| Check::AskClarifyingWhenAmbiguous {
            forbidden_tools: vec![tool],
            question_patterns: Vec::new(),
        }),
    ]
}

fn run() -> Run {
    Run {
        id: "r".into(),
        file: "test.yaml".into(),
        started: Timestamp::UNIX_EPOCH,
        finished: Timestamp::UNIX_EPOCH,
        took: Duration::ZERO,
        strict: false,
    }
}

fn filtered(case: &TestCase, text: &str) -> FilteredTrace {
    let filter = TraceFilter::new(case).expect("nothing needs the whole");
    filter
        .read(TraceReader::new(text.as_bytes()))
        .expect("a trace")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn gaps_change_nothing(
        checks in prop::collection::vec(prop_oneof![3 => check(), 2 => family_check()], 1..4),
        available in prop::option::of(prop::collection::vec(select(&["search", "fetch"][..]).prop_map(str::to_owned), 0..3)),
        forbidden in prop::collection::vec(tool_pattern(), 0..2),
        max_calls in prop::option::of(0_u64..200),
        text in text(),
    ) {
        let mut case = case();
        case.tools.available = available;
        case.tools.forbidden = forbidden;
        case.tools.max_calls = max_calls;
        case.assertions = checks.into_iter().map(assertion).collect();
        if let Ok(filter) = TraceFilter::new(&case) {
            let whole = Trace::read(text.as_bytes()).expect("a trace");
            let filtered = filter.read(TraceReader::new(text.as_bytes())).expect("a trace");
            prop_assert_eq!(filtered.event_count(), whole.events.len());
            let snapshots = Snapshots::new();
            let of_whole = judge_with(&case, &whole, &snapshots);
            let of_filtered = judge_filtered(&case, &filtered, &snapshots);
            prop_assert_eq!(&of_filtered, &of_whole);
            let told = |Judgement { result, .. }: Judgement| {
                (result.status, result.vacuous, result.trace, result.evidence)
            };
            prop_assert_eq!(
                told(TestResult::judged(&case, filtered, of_filtered, run())),
                told(TestResult::judged(&case, whole, of_whole, run())),
            );
        }
    }
}

/// A long trace: calls of `search` with their results, and one call of `send`.
fn long(count: usize) -> String {
    let line = |seq: usize, kind: &str, data: Json| json!({"event_id": format!("e{seq}"), "seq": seq, "ts": "2026-01-01T00:00:00Z", "type": kind, "data": data});
    let mut lines = vec![
        json!({"kind": "header", "schema_version": "0.1", "trace_id": "t", "test_run_id": "r", "adapter": {"name": "", "version": ""}}),
    ];
    for number in 0..count {
        let (tool, id) = (
            if number == count - 1 {
                "send"
            } else {
                "search"
            },
            format!("c{number}"),
        );
        lines.push(line(
            2 * number + 1,
            "tool_call",
            json!({"tool": tool, "call_id": id, "args": {"n": number}}),
        ));
        lines.push(line(
            2 * number + 2,
            "tool_result",
            json!({"tool": tool, "call_id": id, "success": true, "result": "r"}),
        ));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn little_is_kept_of_a_long_trace() {
    let mut case = case();
    let with_args = Selector {
        args: vec![("n".into(), json!(700))],
        ..selector("tool_call")
    };
    case.assertions = vec![
        assertion(Check::MustNotCallTool { tool: tool("send") }),
        assertion(Check::MaxToolCalls {
            tool: Some((tool("search"), 5)),
            max_total: None,
        }),
        assertion(Check::ToolCallOrder {
            before: with_args,
            after: selector("final_output"),
            all: false,
        }),
        assertion(Check::OutputContains {
            any_of: vec!["a".into()],
            all_of: Vec::new(),
            regex: Vec::new(),
            case_sensitive: false,
        }),
    ];
    let filtered = filtered(&case, &long(1000));
    assert_eq!(filtered.event_count(), 2000);
    // A hundred calls of `search`, the call of `send`, that with the number, and the first result.
    assert_eq!(filtered.trace.events.len(), 103);
    let outcomes = judge_filtered(&case, &filtered, &Snapshots::new());
    assert_eq!(
        outcomes[0].message,
        "`send` was called once, expected no call"
    );
    assert_eq!(outcomes[0].event_refs, ["e1999"]);
    assert_eq!(outcomes[1].observed, json!({"calls": 999}));
    assert_eq!(outcomes[2].observed["before_found"], json!(true));
}

#[test]
fn what_needs_the_whole_is_named() {
    let mut case = case();
    let path = serde_json_path::JsonPath::parse("$.events[0]").expect("a path");
    case.assertions = vec![assertion(Check::JsonPath {
        path,
        equals: None,
        exists: None,
        count: None,
    })];
    assert_eq!(
        TraceFilter::new(&case).expect_err("needs all"),
        "the assertion `a1` (json_path) needs all of it: its path may lead anywhere in the trace"
    );
    case.assertions.clear();
    case.redact_fields = vec!["token".into()];
    assert!(TraceFilter::new(&case).is_err());
}

#[test]
fn lines_that_nobody_asks_for_must_be_json() {
    let case = case();
    let told = |text: String| {
        let filter = TraceFilter::new(&case).expect("nothing is asked");
        let read = filter.read(TraceReader::new(text.as_bytes()));
        read.map(|filtered| filtered.event_count())
            .map_err(|error| error.to_string())
    };
    let whole = long(3);
    assert_eq!(told(whole.clone()), Ok(6));
    // Cut off in the midst of its last line, by a crash.
    assert_eq!(told(whole[..whole.len() - 20].to_owned()), Ok(5));
    let broken = told(whole.replacen("\"n\":1", "\"n\":", 1)).expect_err("not JSON");
    assert!(broken.starts_with("line 4: not JSON: "), "{broken}");
    let lacking = told(whole.replacen("\"call_id\":\"c1\",", "", 1)).expect_err("no event");
    assert_eq!(lacking, "line 4: missing field `call_id`");
    assert_eq!(
        told(String::new()).expect_err("nothing"),
        "line 1: not a trace: the first line must be the header"
    );
}
