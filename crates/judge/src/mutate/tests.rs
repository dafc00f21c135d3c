use serde_json::json;

use super::super::samples::{self, Events, assertion, selects, tool};
use super::*;
use crate::assertions::AssertionCheck;
use crate::assertions::grounded::ClaimsSupportedByFixtures;
use crate::assertions::limits::{MaxDurationMs, MaxErrors, MaxTokens};
use crate::assertions::order::ToolCallOrder;
use crate::assertions::output::{OutputContains, OutputOmits};
use crate::assertions::results::JsonPath;
use crate::assertions::scheduled_tasks::SchedulerOutboundCount;
use crate::assertions::snapshot::TraceSnapshot;
use crate::assertions::tools::{MaxToolCalls, MustCallTool, MustNotCallTool};
use cuecard_source::value::Json;
use cuecard_trace::EventData;

fn case(checks: Vec<AssertionCheck>) -> TestCase {
    TestCase {
        assertions: checks.into_iter().map(assertion).collect(),
        ..samples::case()
    }
}

fn trace(tools: &[&str], output: &str) -> Trace {
    let mut events = Events::new();
    for (number, tool) in tools.iter().enumerate() {
        let call_id = format!("c{number}");
        events = events
            .call(tool, &call_id, json!({"n": number, "deep": ["x"]}))
            .result(tool, &call_id, true, json!({}));
    }
    let mut trace = events.trace();
    if let Some(end) = &mut trace.end {
        end.final_output = Some(samples::final_output(output));
    }
    trace
}

/// The changes with what each leaves: the tools in order, and the output.
fn changes(case: &TestCase, trace: &Trace) -> Vec<(Mutation, Vec<String>, String)> {
    let mut seen = Vec::new();
    changes::each(case, trace, MOST_MUTANTS, &mut |mutant| {
        let tools = mutant
            .trace
            .events
            .iter()
            .filter_map(|event| match &event.data {
                EventData::ToolCall(call) => Some(call.tool.to_string()),
                _ => None,
            });
        let output = mutant
            .trace
            .end
            .as_ref()
            .and_then(|end| end.final_output.as_ref());
        let output = output.map_or(String::new(), |output| output.content.clone());
        seen.push((mutant.mutation, tools.collect(), output));
    });
    seen
}

#[test]
fn changes_are_made_where_an_assertion_looks() {
    let must_call = MustCallTool {
        tool: tool("a"),
        min_calls: None,
        max_calls: Some(1),
    };
    let changes = changes(&case(vec![must_call.into()]), &trace(&["a", "b"], "done"));
    let tools: Vec<(Mutation, Vec<&str>)> = changes
        .iter()
        .map(|(mutation, tools, _)| (*mutation, tools.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(
        tools,
        [
            (Mutation::DropCall, vec!["b"]),
            (Mutation::DuplicateCall, vec!["a", "a", "b"]),
            (Mutation::RetargetCall, vec!["some_other_tool", "b"]),
        ]
    );
}

#[test]
fn an_order_is_turned_round() {
    let order = ToolCallOrder {
        before: selects("tool_call", "a"),
        after: selects("tool_call", "c"),
        all: false,
    };
    let swapped: Vec<Vec<String>> =
        changes(&case(vec![order.into()]), &trace(&["a", "b", "c"], ""))
            .into_iter()
            .filter(|(mutation, ..)| *mutation == Mutation::SwapCalls)
            .map(|(_, tools, _)| tools)
            .collect();
    assert_eq!(swapped, [["c", "a", "b"]]);
}

#[test]
fn what_is_invented_is_said_in_the_form_of_the_output() {
    let claims = ClaimsSupportedByFixtures {
        allowed_sources: vec![tool("a")].into(),
        ..ClaimsSupportedByFixtures::default()
    };
    let outputs: Vec<String> = changes(&case(vec![claims.into()]), &trace(&["a"], "- one\n- two"))
        .into_iter()
        .map(|(_, _, output)| output)
        .collect();
    assert_eq!(outputs.len(), 5);
    assert!(
        outputs[0].starts_with("- one\n- two\n- The total was"),
        "{outputs:?}"
    );
    assert!(outputs[1].contains("https://"), "{outputs:?}");
    assert_eq!(outputs[2], "- It is not true that one\n- two");
    assert_eq!(outputs[4], "");
}

#[test]
fn what_is_forbidden_is_done_and_what_is_not_exercised_is_told() {
    let checks = vec![
        MustNotCallTool {
            tool: tool("mcp__*__delete"),
        }
        .into(),
        MaxToolCalls {
            tool: Some(tool("b")),
            max: Some(2),
            max_total: None,
        }
        .into(),
        OutputOmits {
            patterns: vec![samples::pattern("as an ai"), samples::pattern(r"^sk-\d+")].into(),
            ..OutputOmits::default()
        }
        .into(),
        OutputOmits {
            patterns: vec![samples::pattern("^secret$")].into(),
            ..OutputOmits::default()
        }
        .into(),
        SchedulerOutboundCount {
            tool: tool("send"),
            exact: Some(0),
            min: None,
            max: None,
            dedupe_by: None,
        }
        .into(),
    ];
    let mut case = case(checks);
    for (number, assertion) in case.assertions.iter_mut().enumerate() {
        assertion.id = format!("a{number}");
    }
    let passing = trace(&["a", "b"], "done");
    let made: Vec<_> = changes(&case, &passing)
        .into_iter()
        .filter(|(mutation, ..)| {
            matches!(mutation, Mutation::CallForbidden | Mutation::SayForbidden)
        })
        .map(|(_, tools, output)| (tools.join(" "), output))
        .collect();
    assert_eq!(
        made,
        [
            ("a b mcp__x__delete".to_owned(), "done".to_owned()),
            ("a b b b".to_owned(), "done".to_owned()),
            ("a b".to_owned(), "done\nas an ai".to_owned()),
        ]
    );
    let mutations = mutate(&case, &passing, |trace| super::super::judge(&case, trace));
    // One call more is within the bound.
    let survived: Vec<_> = mutations.survivors.iter().map(|one| one.mutation).collect();
    assert_eq!(survived, [Mutation::DuplicateCall]);
    let unexercised: Vec<_> = mutations
        .unexercised
        .iter()
        .map(|one| (one.assertion.id.as_str(), one.pattern.as_deref()))
        .collect();
    assert_eq!(
        unexercised,
        [("a2", Some(r"^sk-\d+")), ("a3", None), ("a4", None)]
    );
}

#[test]
fn limits_are_exceeded_and_values_changed() {
    let path = |path: &str, equals: Option<Json>| {
        AssertionCheck::from(JsonPath {
            path: path
                .parse::<serde_json_path::JsonPath>()
                .expect("a path")
                .into(),
            equals: equals.map(Into::into),
            ..JsonPath::default()
        })
    };
    let checks = vec![
        MaxErrors { limit: 2 }.into(),
        MaxErrors { limit: 0 }.into(),
        MaxTokens { limit: 9 }.into(),
        MaxDurationMs {
            limit: 60_000.0.into(),
        }
        .into(),
        path("$.final_output.content", Some(json!("done"))),
        path("$.events[?@.type == 'tool_call']", None),
        path("$.events[*].data.args.n", Some(json!([0, 1]))),
    ];
    let mut case = case(checks);
    for (number, assertion) in case.assertions.iter_mut().enumerate() {
        assertion.id = format!("a{number}");
    }
    let mut passing = trace(&["a", "b"], "done");
    let metrics = passing
        .end
        .as_mut()
        .map(|end| &mut end.metrics)
        .expect("an end");
    metrics.timing_ms_total = 5.0;
    metrics.token_usage = Some(1);
    let unchanged = super::super::judge(&case, &passing);
    assert!(
        unchanged
            .iter()
            .all(|one| one.status == OutcomeStatus::Pass),
        "{unchanged:?}"
    );
    let mutations = mutate(&case, &passing, |trace| super::super::judge(&case, trace));
    assert_eq!(mutations.survivors, []);
    assert_eq!(mutations.unexercised, []);
    assert_eq!(mutations.by_mutation[&Mutation::ExceedLimit].made, 4);
    assert_eq!(mutations.by_mutation[&Mutation::AlterValue].made, 3);
}

#[test]
fn mutants_are_counted_by_those_who_should_notice_them() {
    let checks = vec![
        MustCallTool {
            tool: tool("a"),
            min_calls: None,
            max_calls: None,
        }
        .into(),
        OutputContains {
            any_of: vec!["done".to_owned()].into(),
            ..OutputContains::default()
        }
        .into(),
    ];
    let case = case(checks);
    let passing = trace(&["a"], "done");
    // A judge that looks at the output only.
    let mutations = mutate(&case, &passing, |trace| {
        let output = trace.end.as_ref().and_then(|end| end.final_output.as_ref());
        let status = match output.map(|output| output.content.as_str()) {
            Some("done") => OutcomeStatus::Pass,
            _ => OutcomeStatus::Fail,
        };
        vec![Outcome::of_run(
            "1",
            "output_contains",
            status,
            String::new(),
        )]
    });
    assert_eq!(
        mutations.by_type,
        BTreeMap::from([
            (
                "must_call_tool",
                Tally {
                    made: 2,
                    noticed: 0
                }
            ),
            (
                "output_contains",
                Tally {
                    made: 1,
                    noticed: 1
                }
            ),
        ])
    );
    assert_eq!(mutations.total.score(), Some(100.0 / 3.0));
    assert_eq!(mutations.survivors.len(), 2);
    assert_eq!(
        mutations.survivors[0].change,
        "the calls of `a` are missing"
    );
    assert_eq!(Tally::default().score(), None);
}

#[test]
fn the_same_trace_gives_the_same_mutants_and_no_more_than_the_bound() {
    let many: Vec<String> = (0..MOST_MUTANTS * 2).map(|n| format!("t{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let snapshot = TraceSnapshot {
        file: "s".into(),
        ..TraceSnapshot::default()
    };
    let case = case(vec![snapshot.into()]);
    let mut count = 0;
    changes::each(&case, &trace(&many[..40], "x"), 25, &mut |_| count += 1);
    assert_eq!(count, 25);
    let first = changes(&case, &trace(&["a", "b"], "x"));
    assert_eq!(first, changes(&case, &trace(&["a", "b"], "x")));
    assert!(first.len() > 4);
}
