//! What holds of every family: it judges any trace, the same way each time, and isn't moved by events that have
//! nothing to do with it.

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use regex::Regex;
use serde_json::json;

use super::samples::{Events, answer, assertion, case, pattern, selector, selects, tool};
use super::*;
use crate::assertions::format::{OutputFormat, OutputMatchesFormat};
use crate::assertions::limits::{MaxDurationMs, MaxErrors, MaxTokens};
use crate::assertions::order::{StopAfterSuccess, ToolCallOrder};
use crate::assertions::output::{OutputContains, OutputOmits};
use crate::assertions::parts::{Args, Selector, Texts, ToolPattern};
use crate::assertions::player_checks::File;
use crate::assertions::questions::AskClarifyingWhenAmbiguous;
use crate::assertions::results::{JsonPath, ToolResultMatches};
use crate::assertions::snapshot::TraceSnapshot;
use crate::assertions::tools::{
    ArgsMatch, MaxToolCalls, MustCallTool, MustNotCallTool, ToolArgsMatch, Which,
};
use crate::assertions::trajectory::{ExpectedCall, Trajectory, TrajectoryMode};
use cuecard_trace::{Event, EventData, Log};

const TOOLS: &[&str] = &["search", "fetch", "send"];

fn name() -> impl Strategy<Value = &'static str> {
    select(TOOLS)
}

pub(super) fn tool_pattern() -> impl Strategy<Value = ToolPattern> {
    select(&["search", "fetch", "send", "other", "s*", "*"][..]).prop_map(tool)
}

pub(super) fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (0_i64..4).prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "[ab A1.é\n]{0,4}".prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::btree_map("[ab.]{0,2}", inner, 0..3)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// Texts that look like answers, and texts that look like nothing.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[-*+•] [a-zA-Z. ]{0,12}",
        " {0,6}[0-9]{1,3}[.)] [a-z?!. ]{0,12}",
        select(
            &[
                "```",
                "~~~",
                "",
                "  ",
                "---",
                "# T",
                "|a|b|",
                "|-|-|",
                "Which one?",
                "{\"a\": 1}"
            ][..]
        )
        .prop_map(str::to_owned),
        "\\PC{0,20}",
        any::<String>(),
    ];
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n"))
}

fn events() -> impl Strategy<Value = Trace> {
    let call_id = || select(&["c1", "c2", "c3"][..]);
    let event = prop_oneof![
        3 => (name(), call_id(), value()).prop_map(|(tool, id, args)| (0, tool, id, args, String::new())),
        3 => (name(), call_id(), value()).prop_map(|(tool, id, result)| (1, tool, id, result, String::new())),
        1 => (name(), call_id()).prop_map(|(tool, id)| (2, tool, id, Json::Null, String::new())),
        1 => text().prop_map(|text| (3, "", "", Json::Null, text)),
        1 => text().prop_map(|text| (4, "", "", Json::Null, text)),
    ];
    let output = proptest::option::of(text());
    (
        prop::collection::vec(event, 0..8),
        output,
        any::<f64>(),
        any::<Option<u64>>(),
        any::<bool>(),
    )
        .prop_map(|(all, output, took, tokens, died)| {
            let events =
                all.into_iter()
                    .fold(
                        Events::new(),
                        |events, (kind, tool, id, json, text)| match kind {
                            0 => events.call(tool, id, json),
                            1 => {
                                let success = !json.is_null();
                                events.result(tool, id, success, json)
                            }
                            2 => events.error(tool, Some(id), "timeout"),
                            3 => events.says(&text),
                            _ => events.user(&text),
                        },
                    );
            let events = match output {
                Some(output) => events.output(&output),
                None => events,
            };
            let mut trace = events.metrics(took, tokens).trace();
            if died {
                trace.end = None;
            }
            trace
        })
}

fn any_selector() -> impl Strategy<Value = Selector> {
    let kind = select(
        &[
            "tool_call",
            "tool_result",
            "error",
            "final_output",
            "message",
            "nonsense",
        ][..],
    );
    (
        kind,
        proptest::option::of(tool_pattern()),
        any::<Option<bool>>(),
        prop::collection::btree_map("[ab.]{0,2}", value(), 0..2),
        prop::collection::vec(
            (
                select(&["content", "tool", "args.a", "result"][..]),
                value(),
            ),
            0..2,
        ),
        proptest::option::of(select(&["tool_call", "message_received", "error"][..])),
    )
        .prop_map(|(kind, tool, success, args, data, cause)| Selector {
            caused_by: cause.map(|kind| Box::new(selector(kind))),
            tool,
            success,
            args: Args(args.into_iter().collect()),
            data: Args(
                data.into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect(),
            ),
            ..selector(kind)
        })
}

fn pairs() -> impl Strategy<Value = Args> {
    prop::collection::btree_map("[ab.]{0,3}", value(), 0..3)
        .prop_map(|pairs| Args(pairs.into_iter().collect()))
}

fn count() -> impl Strategy<Value = u64> {
    0_u64..4
}

fn size() -> impl Strategy<Value = Option<usize>> {
    proptest::option::of(0_usize..4)
}

pub(super) fn check() -> impl Strategy<Value = AssertionCheck> {
    let calls = prop_oneof![
        (
            tool_pattern(),
            proptest::option::of(count()),
            proptest::option::of(count())
        )
            .prop_map(|(tool, min_calls, max_calls)| {
                AssertionCheck::from(MustCallTool {
                    tool,
                    min_calls,
                    max_calls,
                })
            }),
        tool_pattern().prop_map(|tool| MustNotCallTool { tool }.into()),
        (
            proptest::option::of((tool_pattern(), count())),
            proptest::option::of(count())
        )
            .prop_map(|(tool, max_total)| {
                let (tool, max) = tool.unzip();
                MaxToolCalls {
                    tool,
                    max,
                    max_total,
                }
                .into()
            }),
        (
            tool_pattern(),
            prop::collection::vec("[ab.]{0,3}", 0..2),
            pairs(),
            pairs(),
            0_usize..5
        )
            .prop_map(|(tool, required_keys, args_contains, args_equal, which)| {
                ToolArgsMatch {
                    tool,
                    r#match: ArgsMatch {
                        required_keys: required_keys.into(),
                        args_contains,
                        args_equal,
                        regex: vec![("a".into(), Regex::new("a|1").expect("a pattern"))].into(),
                        json_schema: Some(json!({"type": "object"}).into()),
                    },
                    which: match which {
                        0 => Which::Any,
                        1 => Which::All,
                        n => Which::Nth(n - 2),
                    },
                    case_sensitive: which % 2 == 0,
                }
                .into()
            }),
    ];
    let order = prop_oneof![
        (any_selector(), any_selector(), any::<bool>()).prop_map(|(before, after, all)| {
            AssertionCheck::from(ToolCallOrder { before, after, all })
        }),
        (
            any_selector(),
            prop::collection::vec(any_selector(), 0..3),
            prop::collection::vec(tool_pattern(), 0..2)
        )
            .prop_map(|(success_event, forbid_following, allowed)| {
                StopAfterSuccess {
                    success_event,
                    forbid_following,
                    allowed_following_tools: allowed.into(),
                }
                .into()
            }),
        (
            select(
                &[
                    TrajectoryMode::Exact,
                    TrajectoryMode::InOrder,
                    TrajectoryMode::AnyOrder,
                    TrajectoryMode::Superset,
                    TrajectoryMode::Subset,
                ][..]
            ),
            prop::collection::vec((tool_pattern(), pairs()), 0..4)
        )
            .prop_map(|(mode, calls)| {
                let calls = calls.into_iter();
                let calls = calls.map(|(tool, args)| ExpectedCall { tool, args });
                Trajectory {
                    mode,
                    calls: calls.collect(),
                }
                .into()
            }),
    ];
    let texts = || prop::collection::vec("[a-cA-C?]{0,2}", 0..3).prop_map(Texts);
    let form = |format| OutputMatchesFormat {
        format,
        ..OutputMatchesFormat::default()
    };
    let output = prop_oneof![
        (texts(), texts(), any::<bool>()).prop_map(|(any_of, all_of, case_sensitive)| {
            AssertionCheck::from(OutputContains {
                any_of,
                all_of,
                regex: vec![pattern("[a-z]")].into(),
                case_sensitive,
            })
        }),
        select(&["a+", "^-", "$", "which"][..]).prop_map(|text| {
            OutputOmits {
                patterns: vec![pattern(text)].into(),
                ..OutputOmits::default()
            }
            .into()
        }),
        tool_pattern().prop_map(|tool| {
            AskClarifyingWhenAmbiguous {
                forbidden_tools: vec![tool].into(),
                ..AskClarifyingWhenAmbiguous::default()
            }
            .into()
        }),
        (size(), size(), size()).prop_map(move |(min, max, max_sentences)| {
            OutputMatchesFormat {
                min_bullets: min,
                max_bullets: max,
                max_sentences_per_bullet: max_sentences,
                ..form(OutputFormat::BulletList)
            }
            .into()
        }),
        (size(), size()).prop_map(move |(min, max)| {
            OutputMatchesFormat {
                min_items: min,
                max_items: max,
                ..form(OutputFormat::NumberedList)
            }
            .into()
        }),
        (size(), size(), size()).prop_map(move |(exact, min, max)| {
            OutputMatchesFormat {
                exact_paragraphs: exact,
                min_paragraphs: min,
                max_paragraphs: max,
                ..form(OutputFormat::Paragraphs)
            }
            .into()
        }),
        select(
            &[
                OutputFormat::MarkdownTable,
                OutputFormat::SingleLine,
                OutputFormat::Json
            ][..]
        )
        .prop_map(move |format| {
            OutputMatchesFormat {
                required_keys: vec!["a".to_owned()].into(),
                ..form(format)
            }
            .into()
        }),
    ];
    let path = |text: &str| {
        let path: serde_json_path::JsonPath = text.parse().expect("a path");
        path.into()
    };
    let whole = prop_oneof![
        (
            tool_pattern(),
            proptest::option::of(value()),
            proptest::option::of(value()),
            any::<bool>()
        )
            .prop_map(move |(tool, equals, contains, has_path)| {
                AssertionCheck::from(ToolResultMatches {
                    tool,
                    json_path: has_path.then(|| path("$..a")),
                    equals: equals.map(Into::into),
                    contains: contains.map(Into::into),
                    ..ToolResultMatches::default()
                })
            }),
        (
            proptest::option::of(value()),
            any::<Option<bool>>(),
            proptest::option::of(count())
        )
            .prop_map(move |(equals, exists, count)| {
                JsonPath {
                    path: path("$.events[?@.type == 'tool_call'].data.args.a"),
                    equals: equals.map(Into::into),
                    exists,
                    count,
                }
                .into()
            }),
        select(&["s.json", "none.json"][..]).prop_map(|file| {
            TraceSnapshot {
                file: file.into(),
                ignore: vec!["/events/*/data/args".to_owned()].into(),
            }
            .into()
        }),
        any::<f64>().prop_map(|limit| MaxDurationMs {
            limit: limit.into()
        }
        .into()),
        count().prop_map(|limit| MaxTokens { limit }.into()),
        count().prop_map(|limit| MaxErrors { limit }.into()),
        Just(File::default().into()),
    ];
    prop_oneof![3 => calls, 3 => order, 3 => output, 2 => whole]
}

fn snapshots(stored: &Trace) -> Snapshots {
    Snapshots::from([(
        "s.json".to_owned(),
        Snapshot::Stored(Box::new(stored.clone())),
    )])
}

proptest! {
    #[test]
    fn every_trace_is_judged_and_always_the_same_way(
        check in check(),
        trace in events(),
        stored in events(),
        available in prop::option::of(prop::collection::vec(name().prop_map(str::to_owned), 0..3)),
    ) {
        let mut case = case();
        case.tools.available = available.map(Texts);
        case.assertions = vec![assertion(check)];
        let snapshots = snapshots(&stored).into();
        let outcomes = judge_with(&case, &trace, &snapshots);
        prop_assert_eq!(&outcomes, &judge_with(&case, &trace, &snapshots));
        for outcome in &outcomes {
            prop_assert!(!outcome.message.is_empty());
            prop_assert!(outcome.event_refs.len() <= MOST_REFS);
            for id in &outcome.event_refs {
                prop_assert!(trace.events.iter().any(|event| event.event_id == *id), "{} has no event", id);
            }
            if outcome.status == OutcomeStatus::Fail {
                prop_assert!(outcome.help.is_some(), "{} gives no help", outcome.message);
                prop_assert!(!outcome.vacuous, "{} fails of nothing", outcome.message);
            }
        }
    }

    #[test]
    fn a_log_changes_no_verdict(check in check(), trace in events(), stored in events(), at in any::<Index>()) {
        let mut case = case();
        case.assertions = vec![assertion(check)];
        let snapshots = snapshots(&stored).into();
        let mut with_log = trace.clone();
        let log = EventData::Log(Log { level: "info".into(), message: "Which one? - a".into(), stream: None });
        let mut event = Event::live(99, Timestamp::UNIX_EPOCH, log);
        event.event_id = "noise".into();
        with_log.events.insert(at.index(trace.events.len() + 1), event);
        let told = |trace: &Trace| -> Vec<(OutcomeStatus, bool)> {
            judge_with(&case, trace, &snapshots)
                .iter()
                .map(|outcome| (outcome.status, outcome.vacuous))
                .collect()
        };
        prop_assert_eq!(told(&trace), told(&with_log));
    }

    #[test]
    fn a_trace_equals_itself(trace in events()) {
        let mut case = case();
        case.assertions = vec![assertion(TraceSnapshot { file: "s.json".into(), ignore: Texts::default() })];
        for stored in [trace.clone(), stable(&trace)] {
            let outcomes = judge_with(&case, &trace, &snapshots(&stored).into());
            prop_assert_eq!(outcomes[0].status, OutcomeStatus::Pass, "{}", outcomes[0].message);
        }
    }

    #[test]
    fn one_more_call_is_seen(trace in events(), at in any::<Index>()) {
        let called = |name: &str| MustCallTool { tool: tool(name), min_calls: None, max_calls: None };
        let uncalled = |name: &str| MustNotCallTool { tool: tool(name) };
        let mut case = case();
        case.assertions = vec![assertion(called("new")), assertion(uncalled("new"))];
        let statuses = |trace: &Trace| -> Vec<OutcomeStatus> {
            judge(&case, trace).iter().map(|outcome| outcome.status).collect()
        };
        prop_assert_eq!(statuses(&trace), [OutcomeStatus::Fail, OutcomeStatus::Pass]);
        let call = Events::new().call("new", "n", Json::Null).trace().events.remove(0);
        let mut with_call = trace;
        with_call.events.insert(at.index(with_call.events.len() + 1), call);
        prop_assert_eq!(statuses(&with_call), [OutcomeStatus::Pass, OutcomeStatus::Fail]);
    }
}

#[test]
fn severity_and_capabilities_make_the_status() {
    let trace = answer("hello");
    let failing = || {
        assertion(MustCallTool {
            tool: tool("search"),
            min_calls: None,
            max_calls: None,
        })
    };
    let mut case = case();
    let warning = Assertion {
        severity: Severity::Warning,
        ..failing()
    };
    let gated = Assertion {
        requires_capabilities: vec!["supports_tool_trace".into(), "supports_live_run".into()],
        ..failing()
    };
    case.assertions = vec![failing(), warning, gated];
    let outcomes = judge(&case, &trace);
    let statuses: Vec<OutcomeStatus> = outcomes.iter().map(|outcome| outcome.status).collect();
    assert_eq!(
        statuses,
        [
            OutcomeStatus::Fail,
            OutcomeStatus::Warn,
            OutcomeStatus::Skip
        ]
    );
    assert_eq!(
        outcomes[2].message,
        "the trace does not have supports_live_run"
    );
    assert_eq!(outcomes[2].missing_capabilities, ["supports_live_run"]);
    assert_eq!(outcomes[0].kind, "must_call_tool");
}

#[test]
fn what_looks_long_is_judged_in_bounded_time() {
    let hostile = [
        "- ",
        "1. ",
        "|",
        "?",
        "```\n",
        "a. ",
        "\"",
        "(",
        "    - a\n",
        "Dr. ",
    ]
    .map(|part| part.repeat(1_000_000 / part.len()));
    for output in &hostile {
        let trace = answer(output);
        for format in [
            OutputFormat::BulletList,
            OutputFormat::Paragraphs,
            OutputFormat::Json,
            OutputFormat::MarkdownTable,
        ] {
            let check = OutputMatchesFormat {
                format,
                max_bullets: Some(1),
                max_sentences_per_bullet: Some(1),
                exact_paragraphs: Some(1),
                ..OutputMatchesFormat::default()
            };
            let finding = super::samples::judged(check, &trace);
            assert!(finding.message.len() < 2000);
        }
        let asks = AskClarifyingWhenAmbiguous::default();
        assert!(super::samples::judged(asks, &trace).message.len() < 2000);
    }
}

#[test]
fn selectors_of_results_know_the_arguments_of_their_call() {
    let trace = Events::new()
        .call("search", "c1", json!({"q": "a"}))
        .call("search", "c2", json!({"q": "b"}))
        .result("search", "c2", true, Json::Null)
        .result("search", "c1", true, Json::Null)
        .trace();
    let of = |query: &str| Selector {
        args: super::samples::args(&[("q", json!(query))]),
        ..selects("tool_result", "search")
    };
    let check = |before, after| ToolCallOrder {
        before,
        after,
        all: false,
    };
    let verdict = |check| super::samples::judged(check, &trace).verdict;
    assert_eq!(verdict(check(of("b"), of("a"))), Verdict::Holds);
    assert_eq!(verdict(check(of("a"), of("b"))), Verdict::Fails);
}
