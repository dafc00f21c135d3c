//! Steps with `for_each`: what each element calls, what the step leaves, and where a run goes on.

use proptest::prelude::*;
use serde_json::json;

use super::super::{CallOutcome, Effect, FailureKind, Options, Script, Verdict, bind_variables};
use super::{Run, given, play, play_with, resume_with, returned, scenario};
use crate::format::{Scope, check_references, read};
use cuecard_source::SourceFile;
use cuecard_source::value::{Json, Origin};
use cuecard_trace::{EventData, Restored, StepFinished, StepStatus};
use std::time::Duration;

/// A first step that gives a list, and what is done with it.
fn after_list(steps: Json) -> Json {
    let mut all = vec![
        json!({"step": 1, "id": "list", "tool": "mcp__s__list", "params": {}, "output": {"all": "$"}}),
    ];
    all.extend(steps.as_array().cloned().unwrap_or_default());
    all.into()
}

fn params(run: &Run) -> Vec<Json> {
    let calls = run.calls.iter();
    calls
        .map(|(call, _)| Json::clone(&call.params.json))
        .collect()
}

fn outputs(run: &Run, idx: usize) -> Json {
    run.steps[idx].outputs.clone().into()
}

#[test]
fn each_element_is_a_call_of_its_own_and_outputs_are_arrays() {
    let steps = after_list(json!([
        {"step": 2, "id": "close", "tool": "mcp__s__close", "for_each": "{{list.all}}", "as": "issue",
            "description": "Close {{issue.id}}", "params": {"n": "{{issue.id}}", "text": "{{issue_index}}: {{issue}}"},
            "output": {"state": "$.state"}},
        {"step": 3, "tool": "mcp__s__t", "params": {"states": "{{close.state}}", "last": "{{close.state[-1]}}"}}
    ]));
    let run = play(steps, |call| match call.step {
        1 => returned(json!([{"id": 7}, {"id": 8}])),
        _ => returned(json!({"state": format!("closed {}", call.params.json["n"])})),
    });
    assert_eq!(run.verdict, Verdict::Passed);
    let wanted = [
        json!({}),
        json!({"n": 7, "text": "0: {\"id\":7}"}),
        json!({"n": 8, "text": "1: {\"id\":8}"}),
        json!({"states": ["closed 7", "closed 8"], "last": "closed 8"}),
    ];
    assert_eq!(params(&run), wanted);
    let ids: Vec<&str> = run.calls.iter().map(|(call, _)| &*call.call_id).collect();
    assert_eq!(ids, ["call_1_1", "call_2.0_1", "call_2.1_1", "call_3_1"]);
    assert_eq!(run.steps[1].elements, Some(2));
    assert_eq!(
        run.steps[1].description.as_deref(),
        Some("Close {{issue.id}}")
    );
    assert_eq!(run.script.summary().passed, 3);
    // Data stays data, and the index is ours.
    let text = run.calls[1].0.params.text("/text").expect("a text");
    let origins: Vec<Origin> = text.pieces().iter().map(|piece| piece.origin).collect();
    assert_eq!(origins, [Origin::Author, Origin::Author, Origin::Peer]);
}

#[test]
fn an_element_of_the_author_is_trusted_and_one_with_data_is_not() {
    let steps = after_list(json!([
        {"step": 2, "tool": "mcp__s__t", "for_each": ["a", {"b": "{{list.all}}"}, "{{V}}"], "params": {"v": "{{item}}", "w": "{{item.b | default(1)}}"}}
    ]));
    let scenario = scenario(steps, json!({"V": 0}));
    let run = play_with(
        &scenario,
        &[given("V", json!("u"))],
        Options::default(),
        |_| returned(json!("x")),
    );
    let origin = |idx: usize| run.calls[idx].0.params.marks[0].origin;
    assert_eq!(
        [origin(1), origin(2), origin(3)],
        [Origin::Author, Origin::Peer, Origin::User]
    );
}

#[test]
fn each_element_has_its_condition_its_failure_and_its_retries() {
    let steps = after_list(json!([
        {"step": 2, "id": "s", "tool": "mcp__s__t", "for_each": "{{list.all}}", "condition": "{{item}} != 2",
            "params": {"n": "{{item}}"}, "output": {"v": "$"}, "on_error": "retry",
            "retry": {"count": 1, "delay": 0, "then": "skip"}, "wait_after": "{{item}}"},
        {"step": 3, "tool": "mcp__s__t", "params": {"v": "{{s.v}}"}}
    ]));
    let run = play(steps, |call| {
        match (call.step, call.params.json["n"].as_u64(), call.attempt) {
            (1, ..) => returned(json!([1, 2, 3, 4])),
            (2, Some(3), _) | (2, Some(4), 1) => CallOutcome::failed(FailureKind::ToolError, "no"),
            _ => returned(json!("ok")),
        }
    });
    assert_eq!(run.verdict, Verdict::Passed);
    let seen: Vec<_> = run
        .calls
        .iter()
        .map(|(call, _)| call.call_id.to_string())
        .collect();
    assert_eq!(
        seen,
        [
            "call_1_1",
            "call_2.0_1",
            "call_2.2_1",
            "call_2.2_2",
            "call_2.3_1",
            "call_2.3_2",
            "call_3_1"
        ]
    );
    assert_eq!(params(&run)[6], json!({"v": ["ok", null, null, "ok"]}));
    let step = &run.steps[1];
    assert_eq!(
        (step.status, run.error()),
        (StepStatus::Tolerated, "element 3 of 4: no")
    );
    let summary = run.script.summary();
    assert_eq!(
        (summary.calls, summary.retries, summary.tolerated),
        (7, 2, 1)
    );
    // `wait_after` follows each element that ran.
    assert_eq!(run.now, Duration::from_millis(70 + 8_000));
}

#[test]
fn a_failure_ends_the_run_at_its_element() {
    let steps = json!([
        {"step": 1, "id": "s", "tool": "mcp__s__t", "for_each": [1, 2, 3], "params": {"n": "{{item}}"}},
        {"step": 2, "tool": "mcp__s__t", "params": {}}
    ]);
    let run = play(steps, |call| match call.params.json["n"].as_u64() {
        Some(2) => CallOutcome::failed(FailureKind::ToolError, "no"),
        _ => returned(json!(1)),
    });
    assert_eq!((run.verdict, run.calls.len()), (Verdict::Failed, 2));
    let failure = run.script.failure().expect("a failure");
    assert_eq!(failure.message, "step 1 (`s`) failed: element 2 of 3: no");
    assert!(
        failure.notes.contains(&"`{{item}}` was 2".to_owned()),
        "{failure:?}"
    );
}

#[test]
fn a_list_without_elements_skips_the_step_and_gives_empty_outputs() {
    let steps = after_list(json!([
        {"step": 2, "id": "s", "tool": "mcp__s__t", "for_each": "{{list.all}}", "params": {}, "output": {"v": "$"}},
        {"step": 3, "tool": "mcp__s__t", "for_each": "{{s.v}}", "params": {}}
    ]));
    let run = play(steps, |_| returned(json!([])));
    assert_eq!(
        run.statuses(),
        [StepStatus::Passed, StepStatus::Skipped, StepStatus::Skipped]
    );
    assert_eq!(
        (outputs(&run, 1), run.steps[1].elements),
        (json!({"v": []}), Some(0))
    );
}

#[test]
fn what_is_no_list_fails_before_any_call() {
    for (list, message) in [
        (json!("a"), "`for_each` must be an array, not a string"),
        (
            json!({"a": 1}),
            "`for_each` must be an array, not an object",
        ),
        (json!(null), "`for_each` must be an array, not null"),
        (
            vec![0; 10_001].into(),
            "`for_each` has 10001 elements, more than the limit of 10000",
        ),
    ] {
        let steps = after_list(
            json!([{"step": 2, "tool": "mcp__s__t", "for_each": "{{list.all}}", "params": {}}]),
        );
        let run = play(steps, |_| returned(list.clone()));
        assert_eq!(
            (run.verdict, run.calls.len(), run.error()),
            (Verdict::Failed, 1, message)
        );
    }
}

#[test]
fn what_is_wrong_with_for_each_is_found_before_the_run() {
    let found = |step: Json| {
        let text = json!({"version": "2.1", "metadata": {"name": "x"}, "variables": {"V": [1]}, "steps": [
            {"step": 1, "id": "a", "tool": "mcp__s__t", "for_each": [1], "params": {}, "output": {"o": "$"}}, step
        ]});
        let reading = read(&SourceFile::new("x.json", text.to_string()));
        let scenario = reading.scenario.as_ref();
        let references = scenario.map(|it| check_references(it, &Scope::default()));
        let all = reading
            .diagnostics
            .iter()
            .cloned()
            .chain(references.into_iter().flatten());
        all.map(|it| (it.message, it.help.or(it.label).unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let step = |more: Json| {
        let mut step = json!({"step": 2, "tool": "mcp__s__t", "params": {}});
        step.as_object_mut()
            .expect("an object")
            .extend(more.as_object().cloned().unwrap_or_default());
        found(step)
    };
    let only = |more: Json| {
        let mut found = step(more);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    };
    assert_eq!(
        step(json!({"for_each": "{{V}}", "as": "x", "params": {"a": "{{x}} {{x_index}}"}})),
        []
    );
    assert_eq!(step(json!({"params": {"a": "{{a.o[0].b}} {{a.o}}"}})), []);
    for (more, message) in [
        (
            json!({"for_each": "V"}),
            "`for_each` must be an array, or one reference to an array, not the string `V`",
        ),
        (
            json!({"for_each": 1}),
            "`for_each` must be an array, or one reference to an array, not 1",
        ),
        (
            json!({"for_each": [1], "as": "V"}),
            "`V` of this `for_each` is also a variable",
        ),
        (
            json!({"for_each": [1], "as": "a"}),
            "`a` of this `for_each` is also the id of a step",
        ),
        (
            json!({"for_each": [1], "as": "a b"}),
            "`a b` is not a valid name for `as`",
        ),
        (
            json!({"as": "x"}),
            "this `as` has no effect without `for_each`",
        ),
        (json!({"for_each": "{{item}}"}), "`item` is not defined"),
        (
            json!({"for_each": vec![0; 10_001]}),
            "`for_each` has 10001 elements, more than the limit of 10000",
        ),
        (
            json!({"params": {"a": "{{a.o.b}}"}}),
            "`a.o` is an array, with a value for each element of `for_each`",
        ),
    ] {
        assert_eq!(only(more).0, message);
    }
    let (_, help) = only(json!({"params": {"a": "{{item_index}}"}}));
    assert_eq!(
        help,
        "`item_index` has a value only within a step with `for_each`"
    );
    let (_, help) = only(json!({"for_each": [1], "as": "issue", "params": {"a": "{{isue}}"}}));
    assert_eq!(help, "did you mean `issue`?");
}

/// Every event that ends a step or an element.
fn ends(
    script: &mut Script,
    mut answer: impl FnMut(u64) -> Option<CallOutcome>,
) -> Vec<StepFinished> {
    let (mut now, mut ends) = (Duration::ZERO, Vec::new());
    loop {
        match script.poll(now) {
            Effect::Record(_, EventData::StepFinished(end) | EventData::ElementFinished(end)) => {
                ends.push(end);
            }
            Effect::Record(..) | Effect::Commit => {}
            Effect::Call(call) => {
                match answer(call[0].params.json["n"].as_u64().unwrap_or_default()) {
                    Some(outcome) => script.returned(now, outcome),
                    None => script.interrupt(now),
                }
            }
            Effect::Await => panic!("the call has returned"),
            Effect::WaitUntil(until) => now = until,
            Effect::Finished(_) => return ends,
        }
    }
}

#[test]
fn a_run_goes_on_behind_the_elements_that_are_done() {
    let steps = json!([
        {"step": 1, "id": "s", "tool": "mcp__s__t", "for_each": [1, 2, 3, 4], "params": {"n": "{{item}}"}, "output": {"v": "$"}},
        {"step": 2, "tool": "mcp__s__t", "params": {"v": "{{s.v}}"}}
    ]);
    let scenario = scenario(steps, json!({}));
    let (bindings, _) = bind_variables(&scenario, &[]);
    let mut script = Script::new(scenario.clone(), bindings, Options::default());
    let first = ends(&mut script, |n| (n < 3).then(|| returned(json!(n * 10))));
    let statuses: Vec<_> = first.iter().map(|end| (end.element, end.status)).collect();
    assert_eq!(
        statuses,
        [
            (Some(0), StepStatus::Passed),
            (Some(1), StepStatus::Passed),
            (Some(2), StepStatus::Unknown),
            (None, StepStatus::Unknown),
        ]
    );
    assert_eq!(script.summary().unknown, 1);
    let mut done = first[..2].to_vec();
    // The user says that the third is done: nobody knows its outputs.
    done.push(StepFinished {
        status: StepStatus::Passed,
        restored: Some(Restored::AssumedDone),
        elements: None,
        ..first[2].clone()
    });
    let second = resume_with(&scenario, &[], Options::default(), done, |call| {
        returned(json!(call.params.json["n"].as_u64().map(|n| n * 10)))
    });
    assert_eq!(second.verdict, Verdict::Passed);
    assert_eq!(
        params(&second),
        [json!({"n": 4}), json!({"v": [10, 20, null, 40]})]
    );
    assert_eq!(second.steps[0].restored, None);
}

#[test]
fn a_run_that_is_interrupted_between_two_elements_ends_its_step() {
    let step =
        json!({"step": 1, "tool": "mcp__s__t", "for_each": [1, 2], "params": {}, "wait_after": 5});
    let scenario = scenario(json!([step]), json!({}));
    let (bindings, _) = bind_variables(&scenario, &[]);
    let mut script = Script::new(scenario, bindings, Options::default());
    let mut statuses = Vec::new();
    let verdict = loop {
        match script.poll(Duration::ZERO) {
            Effect::Record(_, EventData::StepFinished(end) | EventData::ElementFinished(end)) => {
                statuses.push((end.element, end.status));
            }
            Effect::Record(..) | Effect::Commit => {}
            Effect::Call(_) => {}
            Effect::Await => script.returned(Duration::ZERO, returned(json!(1))),
            Effect::WaitUntil(_) => script.interrupt(Duration::ZERO),
            Effect::Finished(verdict) => break verdict,
        }
    };
    assert_eq!(verdict, Verdict::Interrupted);
    assert_eq!(
        statuses,
        [(Some(0), StepStatus::Passed), (None, StepStatus::Unknown)]
    );
}

proptest! {
    /// A step with `for_each` makes the same calls as a step for each element.
    #[test]
    fn an_iteration_is_its_steps_one_by_one(
        plan in prop::collection::vec((0_u64..9, 0_u8..4), 1..6),
        on_error in 0_usize..3,
        pause in prop::bool::ANY,
    ) {
        let keys = |value: &str, index: &str| json!({
            "tool": "mcp__s__t", "params": {"n": value, "i": index, "t": format!("<{value}>")},
            "condition": format!("{value} != 4"), "on_error": (["stop", "skip", "retry"][on_error]),
            "retry": {"count": 1, "delay": 50}, "wait_after": (if pause { json!(value) } else { Json::Null }),
        });
        let with = |mut step: Json, more: Json| {
            step.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
            step
        };
        let last = json!({"step": 99, "tool": "mcp__s__t", "params": {}});
        let list: Vec<u64> = plan.iter().map(|(value, _)| *value).collect();
        let looped = json!([with(keys("{{item}}", "{{item_index}}"), json!({"step": 1, "for_each": list})), last]);
        let mut unrolled: Vec<Json> = (1..).zip(&list).map(|(number, value)| {
            let mut step = with(keys(&value.to_string(), ""), json!({"step": number}));
            step["params"]["n"] = (*value).into();
            step["params"]["i"] = (number - 1).into();
            step
        }).collect();
        unrolled.push(last);
        let runs = [looped, unrolled.into()].map(|steps| {
            let mut answers = plan.iter().map(|(_, answer)| *answer).cycle();
            play(steps, |_| match answers.next() {
                Some(0) => CallOutcome::failed(FailureKind::ToolError, "no"),
                _ => returned(json!(1)),
            })
        });
        let seen = |run: &Run| -> Vec<_> {
            run.calls.iter().map(|(call, at)| (call.params.json.clone(), call.attempt, *at)).collect()
        };
        prop_assert_eq!(seen(&runs[0]), seen(&runs[1]));
        prop_assert_eq!(runs[0].verdict, runs[1].verdict);
        prop_assert_eq!(runs[0].now, runs[1].now);
    }
}
