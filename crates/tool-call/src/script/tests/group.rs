//! Steps of a group: what starts together, what the next step waits for, and where a run goes on.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::super::{CallRequest, Effect, Options, Script, Verdict, bind_variables};
use super::{Run, fails, play, resume_with, returned, scenario};
use cuecard_source::value::Json;
use cuecard_trace::{EventData, StepStatus};

/// Steps 1 and 2 are a group, `more` says what else they have; step 3 refers to both.
fn two_and_one(more: [Json; 2]) -> Json {
    let mut steps = json!([
        {"step": 1, "id": "a", "group": "g", "tool": "mcp__s__t", "params": {}, "output": {"v": "$"}},
        {"step": 2, "id": "b", "group": "g", "tool": "mcp__s__t", "params": {}, "output": {"v": "$"}},
        {"step": 3, "tool": "mcp__s__t", "params": {"a": "{{a.v | default('none')}}", "b": "{{b.v | default('none')}}"}}
    ]);
    for (step, more) in steps.as_array_mut().into_iter().flatten().zip(more) {
        for (key, value) in more.as_object().into_iter().flatten() {
            step[key] = value.clone();
        }
    }
    steps
}

/// When which step was called.
fn calls(run: &Run) -> Vec<(u64, u128)> {
    let calls = run.calls.iter();
    calls
        .map(|(call, at)| (call.step, at.as_millis()))
        .collect()
}

/// How which step ended, in the order of the trace.
fn ends(run: &Run) -> Vec<(u64, StepStatus)> {
    let steps = run.steps.iter();
    steps.map(|step| (step.step, step.status)).collect()
}

fn number(call: &CallRequest) -> Json {
    call.step.into()
}

#[test]
fn steps_of_a_group_start_together_and_the_next_waits_for_all() {
    let run = play(two_and_one([json!({}), json!({})]), |call| {
        returned(number(call))
    });
    assert_eq!(run.verdict, Verdict::Passed);
    assert_eq!(calls(&run), [(1, 0), (2, 0), (3, 10)]);
    assert_eq!(*run.calls[2].0.params.json, json!({"a": 1, "b": 2}));
    assert_eq!(run.now.as_millis(), 20);
}

#[test]
fn a_failure_lets_the_others_finish_and_stops_the_run() {
    let both = [json!({"on_error": "stop"}), json!({})];
    let run = play(two_and_one(both), |call| match call.step {
        1 => fails("no"),
        _ => returned(json!(1)),
    });
    assert_eq!(run.verdict, Verdict::Failed);
    assert_eq!(calls(&run), [(1, 0), (2, 0)]);
    assert_eq!(
        ends(&run),
        [(1, StepStatus::Failed), (2, StepStatus::Passed)]
    );
    assert_eq!(run.script.unfinished(), Some(1));
    let summary = run.script.summary();
    assert_eq!((summary.passed, summary.not_run()), (1, 1));

    let run = play(two_and_one([json!({}), json!({})]), |call| {
        fails(&format!("no {}", call.step))
    });
    let failure = run.script.failure().expect("it failed");
    assert!(failure.message.contains("no 1"), "{}", failure.message);
    assert_eq!(run.script.summary().failed, 2);

    let skip = [json!({"on_error": "skip"}), json!({})];
    let run = play(two_and_one(skip), |call| match call.step {
        1 => fails("no"),
        _ => returned(number(call)),
    });
    assert_eq!(run.verdict, Verdict::Passed);
    assert_eq!(*run.calls[2].0.params.json, json!({"a": "none", "b": 2}));
}

#[test]
fn what_is_wrong_before_a_call_and_what_is_skipped_holds_for_its_step_alone() {
    let more = [
        json!({"condition": "false"}),
        json!({"params": {"x": "{{V.y}}"}}),
    ];
    let text = json!({"V": {}});
    let scenario = scenario(two_and_one(more), text);
    let run = resume_with(&scenario, &[], Options::default(), Vec::new(), |call| {
        returned(number(call))
    });
    assert_eq!(
        ends(&run),
        [(1, StepStatus::Skipped), (2, StepStatus::Failed)]
    );
    assert_eq!(run.verdict, Verdict::Failed);

    // What ends without a call stands behind those before it.
    let more = [json!({}), json!({"condition": "false"})];
    let run = play(two_and_one(more), |call| returned(number(call)));
    let (passed, skipped) = (StepStatus::Passed, StepStatus::Skipped);
    assert_eq!(ends(&run), [(1, passed), (2, skipped), (3, passed)]);
}

#[test]
fn a_retry_waits_for_the_others_and_keeps_its_time() {
    let retry = json!({"on_error": "retry", "retry": {"delay": 5}});
    let answer = |call: &CallRequest| match (call.step, call.attempt) {
        (1, 1) => fails("no"),
        _ => returned(number(call)),
    };
    let run = play(two_and_one([retry.clone(), json!({})]), answer);
    assert_eq!(run.verdict, Verdict::Passed);
    assert_eq!(calls(&run), [(1, 0), (2, 0), (1, 15), (3, 25)]);
    assert_eq!(ends(&run)[..2].iter().map(|end| end.0).sum::<u64>(), 3);
    assert_eq!(run.script.summary().retries, 1);

    // A slow neighbour takes the time that a retry has.
    let most = json!({"on_error": "retry", "retry": {"delay": 5, "max_ms": 16}});
    let steps = two_and_one([most, json!({})]);
    let scenario = scenario(steps, json!({}));
    let (bindings, _) = bind_variables(&scenario, &[]);
    let mut script = Script::new(scenario, bindings, Options::default());
    while !matches!(script.poll(Duration::ZERO), Effect::Await) {}
    script.returned(Duration::from_millis(10), fails("no"));
    script.returned(Duration::from_secs(1), returned(json!(2)));
    let verdict = loop {
        match script.poll(Duration::from_secs(1)) {
            Effect::Call(_) => panic!("it is too late"),
            Effect::Finished(verdict) => break verdict,
            _ => {}
        }
    };
    assert_eq!((verdict, script.summary().retries), (Verdict::Failed, 0));
}

#[test]
fn the_next_step_waits_for_the_longest_pause() {
    let pauses = || [json!({"wait_after": 1}), json!({"wait_after": 0.1})];
    let run = play(two_and_one(pauses()), |call| returned(number(call)));
    assert_eq!(calls(&run), [(1, 0), (2, 0), (3, 1010)]);
    let mut last = two_and_one(pauses());
    last.as_array_mut().map(Vec::pop);
    let run = play(last, |call| returned(number(call)));
    assert_eq!(run.now.as_millis(), 10, "nothing follows");
}

#[test]
fn a_range_takes_a_part_of_a_group() {
    let steps = two_and_one([json!({}), json!({})]);
    let options = Options {
        range: 2..=2,
        ..Options::default()
    };
    let run = resume_with(
        &scenario(steps, json!({})),
        &[],
        options,
        Vec::new(),
        |_| returned(json!(1)),
    );
    assert_eq!(calls(&run), [(2, 0)]);
}

#[test]
fn all_that_is_under_way_is_unknown_when_the_run_is_stopped_and_the_rest_is_played_later() {
    let retry = json!({"on_error": "retry"});
    let scenario = scenario(two_and_one([json!({}), retry]), json!({}));
    let (bindings, _) = bind_variables(&scenario, &[]);
    let mut script = Script::new(scenario.clone(), bindings, Options::default());
    while !matches!(script.poll(Duration::ZERO), Effect::Await) {}
    script.interrupt(Duration::from_secs(1));
    let mut ended = Vec::new();
    let verdict = loop {
        match script.poll(Duration::from_secs(1)) {
            Effect::Record(_, EventData::StepFinished(step)) => ended.push(step),
            Effect::Finished(verdict) => break verdict,
            _ => {}
        }
    };
    assert_eq!(verdict, Verdict::Interrupted);
    let statuses: Vec<_> = ended.iter().map(|step| (step.step, step.status)).collect();
    assert_eq!(
        statuses,
        [(1, StepStatus::Unknown), (2, StepStatus::Unknown)]
    );
    assert_eq!(script.unfinished(), Some(1));

    // What has returned by then is known.
    let (bindings, _) = bind_variables(&scenario, &[]);
    let mut script = Script::new(scenario.clone(), bindings, Options::default());
    while !matches!(script.poll(Duration::ZERO), Effect::Await) {}
    script.returned_early(2, Duration::from_millis(5), returned(json!(2)));
    script.interrupt(Duration::from_secs(1));
    let summary = script.summary();
    assert_eq!((summary.passed, summary.unknown), (1, 1));

    let mut done = ended.split_off(1);
    done[0].status = StepStatus::Passed;
    done[0].outputs.insert("v".to_owned(), json!("known"));
    let run = resume_with(&scenario, &[], Options::default(), done, |call| {
        returned(number(call))
    });
    assert_eq!(calls(&run), [(1, 0), (3, 10)]);
    assert_eq!(*run.calls[1].0.params.json, json!({"a": 1, "b": "known"}));
}

proptest! {
    /// Whether steps start together or one after the other, each makes the same calls and ends the same way.
    #[test]
    fn a_group_does_what_its_steps_do_alone(kinds in prop::collection::vec((0_u8..4, 0_u8..3), 2..9)) {
        let steps: Vec<Json> = kinds.iter().zip(1_u64..).map(|(&(kind, _), number)| json!({
            "step": number, "tool": "mcp__s__t", "params": {"n": number}, "id": format!("s{number}"), "output": {"v": "$.v"},
            "on_error": (["skip", "skip", "retry", "retry"][kind as usize]),
            "retry": {"count": 2, "delay": number * 100, "then": "skip"},
            "condition": (if kind == 1 { "false" } else { "true" }),
        })).collect();
        let mut grouped = steps.clone();
        for (step, (_, group)) in grouped.iter_mut().zip(&kinds) {
            step["group"] = format!("g{group}").into();
        }
        // A group must not be interrupted.
        let mut number = 0;
        for at in 1..grouped.len() {
            number += u64::from(kinds[at].1 != kinds[at - 1].1);
            grouped[at]["group"] = format!("g{number}").into();
        }
        grouped[0]["group"] = "g0".into();
        let answer = |call: &CallRequest| match kinds[call.step as usize - 1].0 {
            2 => fails("no"),
            3 if call.attempt < 3 => fails("not yet"),
            _ => returned(json!({"v": call.step})),
        };
        let run = |steps: Vec<Json>| {
            let run = play(steps.into(), answer);
            let mut ends = run.steps.clone();
            ends.sort_by_key(|end| end.step);
            let ends: Vec<_> = ends.iter().map(|end| (end.step, end.status, end.attempts.len(), end.outputs.clone())).collect();
            (run.verdict, run.script.summary(), ends)
        };
        prop_assert_eq!(run(grouped), run(steps));
    }
}
