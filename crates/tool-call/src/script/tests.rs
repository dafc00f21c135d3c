//! The machine on a virtual clock: a player of a few lines drives it and writes down what it saw.

mod for_each;
mod group;
mod properties;
mod values;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::{
    CallOutcome, CallRequest, Effect, FailureKind, Given, Options, Script, Verdict, bind_variables,
};
use crate::format::{Scope, check_references, read};
use crate::model::ToolCallScenario;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::any_error;
use cuecard_source::value::{Json, Origin};
use cuecard_trace::{EventData, StepFinished, StepStatus};

fn scenario(steps: Json, variables: Json) -> Arc<ToolCallScenario> {
    let text = json!({"version": "2.1", "metadata": {"name": "test"}, "variables": variables, "steps": steps}).to_string();
    let reading = read(&SourceFile::new("test.json", text));
    let Some(scenario) = reading.scenario else {
        panic!("{:#?}", reading.diagnostics)
    };
    Arc::new(scenario)
}

/// What a run did.
struct Run {
    verdict: Verdict,
    calls: Vec<(CallRequest, Duration)>,
    steps: Vec<StepFinished>,
    script: Script,
    now: Duration,
}

impl Run {
    fn statuses(&self) -> Vec<StepStatus> {
        self.steps.iter().map(|step| step.status).collect()
    }

    fn error(&self) -> &str {
        self.steps
            .iter()
            .rev()
            .find_map(|step| step.error.as_ref())
            .map_or("", |error| &error.message)
    }
}

/// Plays with an `answer` for each call; a call takes ten milliseconds.
fn play_with(
    scenario: &Arc<ToolCallScenario>,
    given: &[Given],
    options: Options,
    answer: impl FnMut(&CallRequest) -> CallOutcome,
) -> Run {
    resume_with(scenario, given, options, Vec::new(), answer)
}

/// The same behind the steps that are `done`.
fn resume_with(
    scenario: &Arc<ToolCallScenario>,
    given: &[Given],
    options: Options,
    done: Vec<StepFinished>,
    mut answer: impl FnMut(&CallRequest) -> CallOutcome,
) -> Run {
    let (bindings, diagnostics) = bind_variables(scenario, given);
    assert!(!any_error(&diagnostics), "{diagnostics:#?}");
    let mut script = Script::new(scenario.clone(), bindings, options);
    script.restore(done);
    let mut now = Duration::ZERO;
    let (mut calls, mut steps) = (Vec::new(), Vec::new());
    let mut out = VecDeque::new();
    let verdict = loop {
        match script.poll(now) {
            Effect::Record(_, EventData::StepFinished(step)) => steps.push(step),
            Effect::Record(..) | Effect::Commit => {}
            Effect::Call(requests) => {
                out.extend(requests.iter().map(&mut answer));
                calls.extend(requests.into_iter().map(|request| (request, now)));
                now += Duration::from_millis(10);
            }
            Effect::Await => script.returned(now, out.pop_front().expect("a call is out")),
            Effect::WaitUntil(until) => {
                assert!(until > now, "a wait ends in the future");
                now = until;
            }
            Effect::Finished(verdict) => break verdict,
        }
    };
    Run {
        verdict,
        calls,
        steps,
        script,
        now,
    }
}

fn play(steps: Json, answer: impl FnMut(&CallRequest) -> CallOutcome) -> Run {
    play_with(&scenario(steps, json!({})), &[], Options::default(), answer)
}

fn returned(value: Json) -> CallOutcome {
    CallOutcome::Returned(value.into())
}

fn fails(message: &str) -> CallOutcome {
    CallOutcome::failed(FailureKind::ToolError, message)
}

fn given(name: &str, value: Json) -> Given {
    Given {
        name: name.into(),
        value,
        from: "--var".into(),
        secret: false,
        may_be_unknown: false,
    }
}

#[test]
fn a_whole_reference_keeps_its_type_and_text_takes_values_as_people_write_them() {
    let run = play(
        json!([
            {"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"all": "$"}},
            {"step": 2, "tool": "mcp__s__t", "params": {
                "whole": "{{a.all}}", "number": "{{a.all.n}}", "flag": "{{ a.all.flag }}", "deep": "{{a.all.list[1].x}}",
                "text": "n={{a.all.n}} flag={{a.all.flag}} null={{a.all.nothing}} list={{a.all.list}} ü={{a.all.ü}}",
                "{{a.all.key}}": 1, "plain": [1, {"b": null}],
                "env": {"{{a.all.key}}": "author", "OTHER": "x{{a.all.n}}"}
            }}
        ]),
        |_| {
            returned(
                json!({"n": 7, "flag": true, "nothing": null, "list": [1, {"x": "é"}], "ü": "ß", "key": "k"}),
            )
        },
    );
    assert_eq!(run.verdict, Verdict::Passed);
    let params = &run.calls[1].0.params;
    assert_eq!(params.json["whole"]["n"], 7);
    assert_eq!(params.json["number"], 7);
    assert_eq!(params.json["flag"], true);
    assert_eq!(params.json["deep"], "é");
    assert_eq!(
        params.json["text"],
        "n=7 flag=true null= list=[1,{\"x\":\"é\"}] ü=ß"
    );
    assert_eq!(params.json["k"], 1);
    assert_eq!(params.json["plain"], json!([1, {"b": null}]));
    let text = params.text("/text").expect("a text");
    assert!(
        text.untrusted()
            .is_some_and(|piece| piece.origin == Origin::Peer && piece.text == "7")
    );
    let data = text
        .pieces()
        .iter()
        .filter(|piece| piece.reference.is_some());
    let strings: Vec<bool> = data.map(|piece| piece.is_string).collect();
    assert_eq!(strings, [false, false, false, false, true]);
    assert!(
        params
            .text("/whole/ü")
            .is_some_and(|text| !text.is_trusted()),
        "parts of a whole reference are data too"
    );
    for pointer in ["/env/k", "/env/OTHER"] {
        let text = params.text(pointer).expect("a text");
        assert!(text.pieces().len() == 1 && !text.is_trusted(), "{pointer}");
    }
    assert!(params.data_around("/env").is_some(), "its names are data");
    assert!(
        params.data_around("/k").is_some(),
        "data chose the parameter"
    );
    assert!(params.data_around("/plain").is_none());
    assert!(
        params
            .text("/plain/0")
            .is_some_and(|text| text.is_trusted())
    );
}

#[test]
fn what_is_filled_in_is_not_read_again() {
    let run = play(
        json!([
            {"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"evil": "$"}},
            {"step": 2, "tool": "mcp__s__t", "params": {"x": "{{a.evil}}", "y": "<{{a.evil}}>"}, "condition": "{{a.evil}} != \"\""}
        ]),
        |_| returned(json!("{{a.evil}} || 1 == 1")),
    );
    assert_eq!(
        *run.calls[1].0.params.json,
        json!({"x": "{{a.evil}} || 1 == 1", "y": "<{{a.evil}} || 1 == 1>"})
    );
}

#[test]
fn data_cannot_change_what_a_condition_means() {
    let run = play(
        json!([
            {"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"v": "$"}},
            {"step": 2, "tool": "mcp__s__t", "params": {}, "condition": "{{a.v}} == \"yes\""}
        ]),
        |_| returned(json!("no\" || \"1\" == \"1")),
    );
    assert_eq!(run.statuses(), [StepStatus::Passed, StepStatus::Skipped]);
    assert_eq!(
        run.steps[1].skipped_by.as_deref(),
        Some("{{a.v}} == \"yes\"")
    );
    assert_eq!(run.script.summary().skipped, 1);
}

#[test]
fn a_condition_reads_what_a_command_printed_without_its_line_end() {
    for (printed, condition, holds) in [
        ("main\n", "{{a.v}} == 'main'", true),
        ("main\r\n", "{{a.v}} != 'main'", false),
        ("main", "{{a.v}} == \"main\\n\"", true),
        ("main\n\n", "{{a.v}} == 'main'", false),
        ("main\n", "{{a.v}} matches '^main$'", true),
        ("\n", "{{a.v}} == ''", true),
        ("[\"a\\n\", \"b\\n\"]", "{{a.v}} contains 'a'", true),
        ("[\"a\\n\", \"b\\n\"]", "{{a.v}} contains {{a.v[1]}}", true),
        ("[\"a\\n\\n\"]", "{{a.v}} contains 'a'", false),
        ("ab", "'xaby' contains {{a.v}}", true),
        ("ab\n", "'xaby' contains {{a.v}}", true),
        ("a\n", "{{a.v}} contains \"\\n\"", false),
        ("a\nb\n", "{{a.v}} contains \"\\n\"", true),
    ] {
        let run = play(
            json!([
                {"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"v": "$"}},
                {"step": 2, "tool": "mcp__s__t", "params": {}, "condition": condition}
            ]),
            |_| returned(serde_json::from_str(printed).unwrap_or_else(|_| json!(printed))),
        );
        let status = match holds {
            true => StepStatus::Passed,
            false => StepStatus::Skipped,
        };
        assert_eq!(run.statuses()[1], status, "{printed:?} {condition}");
    }
}

#[test]
fn a_reference_to_a_skipped_step_says_so_and_a_default_allows_it() {
    let steps = |reference: &str| {
        json!([
            {"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"v": "$"}, "condition": "false"},
            {"step": 2, "tool": "mcp__s__t", "params": {"x": reference}}
        ])
    };
    let run = play(steps("{{a.v}}"), |_| returned(json!(1)));
    assert_eq!(run.verdict, Verdict::Failed);
    assert_eq!(run.error(), "`a.v` has no value: step 1 (`a`) was skipped");
    assert!(
        run.calls.is_empty(),
        "nothing was called with an empty string"
    );
    let run = play(steps("{{a.v | default([1])}}"), |_| returned(json!(1)));
    assert_eq!(run.verdict, Verdict::Passed);
    assert_eq!(run.calls[0].0.params.json["x"], json!([1]));
}

#[test]
fn a_missing_part_of_a_value_names_what_is_there() {
    let run = play(
        json!([
            {"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"v": "$"}},
            {"step": 2, "tool": "mcp__s__t", "params": {"x": "{{a.v.nubmer}}"}}
        ]),
        |_| returned(json!({"number": 1, "title": "t"})),
    );
    let error = run.steps[1].error.as_ref().expect("failed");
    assert_eq!(
        error.message,
        "`a.v.nubmer` has no value: the object has no `nubmer`"
    );
    assert_eq!(error.notes[0], "it has: number, title");
    assert_eq!(error.help.as_deref(), Some("did you mean `number`?"));
}

#[test]
fn a_missing_element_says_how_many_there_are() {
    let part = |reference: &str, value: Json| {
        let run = play(
            json!([
                {"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"v": "$"}},
                {"step": 2, "tool": "mcp__s__t", "params": {"x": reference}}
            ]),
            |_| returned(value.clone()),
        );
        let error = run.steps[1].error.as_ref().expect("failed");
        (error.message.clone(), error.notes[0].clone())
    };
    for (reference, value, message, note) in [
        (
            "{{a.v[1]}}",
            json!(["x"]),
            "`a.v[1]` has no value: the array has no element 1",
            "it has 1 element, number 0",
        ),
        (
            "{{a.v.2}}",
            json!([1, 2]),
            "`a.v.2` has no value: the array has no element 2",
            "it has 2 elements, counted from 0",
        ),
        (
            "{{a.v[0]}}",
            json!([]),
            "`a.v[0]` has no value: the array has no element 0",
            "it is empty",
        ),
        (
            "{{a.v.k}}",
            json!({}),
            "`a.v.k` has no value: the object has no `k`",
            "it is empty",
        ),
    ] {
        assert_eq!(
            part(reference, value),
            (message.to_owned(), note.to_owned()),
            "{reference}"
        );
    }
}

#[test]
fn a_note_names_a_secret_without_its_value() {
    let scenario = scenario(
        json!([{"step": 1, "tool": "mcp__s__t", "params": {"x": "{{TOKEN}}"}}]),
        json!({"TOKEN": ""}),
    );
    let secret = Given {
        secret: true,
        ..given("TOKEN", json!("hush"))
    };
    let run = play_with(&scenario, &[secret], Options::default(), |_| fails("no"));
    let error = run.steps[0].error.as_ref().expect("failed");
    assert_eq!(error.notes, ["`{{TOKEN}}` is a secret (--var)"]);
}

#[test]
fn outputs_follow_the_shape_of_their_path() {
    let answer = json!({"items": [{"id": 1}, {"id": 2}], "one": [{"id": 3}]});
    let step = |path: &str, optional: bool| json!([{"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"v": path}, "output_optional": optional}]);
    for (path, wanted) in [
        ("$", answer.clone()),
        ("$.items[0].id", json!(1)),
        ("$.items[*].id", json!([1, 2])),
        ("$.one[*].id", json!([3])),
        ("$.items[?@.id > 1]", json!([{"id": 2}])),
        ("$.items[0:1]", json!([{"id": 1}])),
    ] {
        let run = play(step(path, false), |_| returned(answer.clone()));
        assert_eq!(run.steps[0].outputs["v"], wanted, "{path}");
    }
    let run = play(step("$.nope", false), |_| returned(answer.clone()));
    assert_eq!((run.verdict, run.calls.len()), (Verdict::Failed, 1));
    assert!(run.error().starts_with("the output `v` matched nothing"));
    let step_by = |rule: serde_json::Value, optional: bool| json!([{"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"v": rule}, "output_optional": optional}]);
    let texts = json!({"text": "Created #41, then #42", "all": ["none", "no. 7"], "n": 12});
    for (rule, wanted) in [
        (json!({"regex": r"#(\d+)", "from": "$.text"}), "41"),
        (json!({"regex": r"#\d+$", "from": "$.text"}), "#42"),
        (
            json!({"regex": r"then (?:#)(?P<n>\d)(\d)", "from": "$.text"}),
            "4",
        ),
        (json!({"regex": r"\d+", "from": "$.all[*]"}), "7"),
        (json!({"regex": r"\d", "from": "$.n"}), "1"),
        (json!({"regex": r#""n":(\d+)"#}), "12"),
    ] {
        let run = play(step_by(rule.clone(), false), |_| returned(texts.clone()));
        assert_eq!(run.steps[0].outputs["v"], json!(wanted), "{rule}");
    }
    let rule = json!({"regex": "(x)?#9", "from": "$.text"});
    let run = play(step_by(rule.clone(), false), |_| returned(texts.clone()));
    assert_eq!(
        run.error(),
        "the output `v` matched nothing: /(x)?#9/ in `$.text`"
    );
    let run = play(step_by(rule, true), |_| returned(texts.clone()));
    assert_eq!(run.steps[0].outputs.get("v"), None);
    // A group that took no part gives nothing.
    let rule = json!({"regex": "(x)?#41", "from": "$.text"});
    let run = play(step_by(rule, false), |_| returned(texts.clone()));
    assert_eq!(
        run.error(),
        "the output `v` has no value: the first group of /(x)?#41/ took no part in the match"
    );
    let run = play(step("$.nope", true), |_| returned(answer.clone()));
    assert_eq!(
        (run.verdict, run.steps[0].outputs.get("v")),
        (Verdict::Passed, None)
    );
    let run = play(step("$.nope[*]", true), |_| returned(answer.clone()));
    assert_eq!(run.steps[0].outputs["v"], json!([]));
}

#[test]
fn stop_ends_the_run_and_skip_goes_on() {
    let steps = |on_error: &str| {
        json!([
            {"step": 1, "tool": "mcp__s__t", "params": {}, "on_error": on_error},
            {"step": 2, "tool": "mcp__s__t", "params": {}}
        ])
    };
    let first_fails = |request: &CallRequest| {
        if request.step == 1 {
            fails("boom")
        } else {
            returned(json!(1))
        }
    };
    let run = play(steps("stop"), first_fails);
    assert_eq!((run.verdict, run.calls.len()), (Verdict::Failed, 1));
    let run = play(steps("skip"), first_fails);
    assert_eq!(
        (run.verdict, run.statuses()),
        (
            Verdict::Passed,
            vec![StepStatus::Tolerated, StepStatus::Passed]
        )
    );
    assert_eq!(run.script.summary().tolerated, 1);
}

#[test]
fn a_server_that_cannot_start_blocks_the_run_whatever_on_error_says() {
    let run = play(
        json!([{"step": 1, "tool": "mcp__s__t", "params": {}, "on_error": "skip"}, {"step": 2, "tool": "mcp__s__t", "params": {}}]),
        |_| CallOutcome::failed(FailureKind::ServerStart, "not there"),
    );
    assert_eq!((run.verdict, run.calls.len()), (Verdict::Blocked, 1));
}

#[test]
fn retry_waits_doubles_and_stops() {
    let step = json!([
        {"step": 1, "tool": "mcp__s__t", "params": {}, "on_error": "retry", "retry": {"count": 3, "delay": 1000}},
        {"step": 2, "tool": "mcp__s__t", "params": {}}
    ]);
    let run = play(step, |_| fails("boom"));
    let starts: Vec<u128> = run.calls.iter().map(|(_, at)| at.as_millis()).collect();
    assert_eq!(
        starts,
        [0, 1010, 3020, 7030],
        "the first call and three more, 1 s, 2 s and 4 s apart"
    );
    assert_eq!(
        (run.verdict, run.steps[0].attempts.len()),
        (Verdict::Failed, 4)
    );
    assert_eq!(run.script.summary().retries, 3);
    assert_eq!(run.steps[0].attempts[3].error.as_deref(), Some("boom"));
}

#[test]
fn backoff_is_capped_and_can_be_constant() {
    let steps = |retry: Json| json!([{"step": 1, "tool": "mcp__s__t", "params": {}, "on_error": "retry", "retry": retry}]);
    let gaps = |run: &Run| -> Vec<u128> {
        run.calls
            .windows(2)
            .map(|pair| (pair[1].1 - pair[0].1).as_millis() - 10)
            .collect()
    };
    let run = play(steps(json!({"count": 4, "delay": 12_000})), |_| fails("x"));
    assert_eq!(gaps(&run), [12_000, 24_000, 30_000, 30_000]);
    let run = play(
        steps(json!({"count": 2, "delay": 700, "backoff": "constant"})),
        |_| fails("x"),
    );
    assert_eq!(gaps(&run), [700, 700]);
}

#[test]
fn retry_looks_at_its_condition_and_at_what_follows() {
    let steps = |then: &str| {
        json!([
            {"step": 1, "tool": "mcp__s__t", "params": {}, "on_error": "retry", "retry": {"count": 2, "delay": 0, "condition": "not found", "then": then}},
            {"step": 2, "tool": "mcp__s__t", "params": {}}
        ])
    };
    let run = play(steps("stop"), |_| fails("network down"));
    assert_eq!(
        (run.verdict, run.calls.len()),
        (Verdict::Failed, 1),
        "another error stops at once"
    );
    let error = run.steps[0].error.as_ref().expect("failed");
    assert_eq!(
        error.notes,
        ["not retried: the error doesn't contain `not found`"]
    );
    let run = play(steps("skip"), |_| fails("network down"));
    assert_eq!(
        run.verdict,
        Verdict::Failed,
        "`then` is for an error that was retried"
    );
    let run = play(steps("skip"), |request| {
        if request.step == 1 {
            fails("element not found")
        } else {
            returned(json!(1))
        }
    });
    assert_eq!((run.verdict, run.calls.len()), (Verdict::Passed, 4));
    let mut left = 2;
    let run = play(steps("stop"), |_| {
        left -= 1;
        if left >= 0 {
            fails("not found")
        } else {
            returned(json!(1))
        }
    });
    assert_eq!(
        (run.verdict, run.steps[0].attempts.len()),
        (Verdict::Passed, 3)
    );
}

#[test]
fn retry_knows_several_errors_and_how_long() {
    let steps = |more: Json| {
        let mut retry = json!({"count": 5, "delay": 100, "backoff": "constant", "condition": ["not found", "disabled"]});
        if let (Some(retry), Json::Object(more)) = (retry.as_object_mut(), more) {
            retry.extend(more);
        }
        json!([{"step": 1, "tool": "mcp__s__t", "params": {}, "on_error": "retry", "retry": retry}])
    };
    let run = play(steps(json!({})), |_| fails("it is disabled"));
    assert_eq!(run.calls.len(), 6);
    let run = play(steps(json!({"max_ms": 250})), |_| fails("not found"));
    assert_eq!(
        run.calls.len(),
        3,
        "none begins after a quarter of a second"
    );
    let run = play(steps(json!({})), |_| fails("network down"));
    let error = run.steps[0].error.as_ref().expect("failed");
    assert_eq!(
        error.notes,
        ["not retried: the error doesn't contain `not found` or `disabled`"]
    );
}

#[test]
fn a_failed_output_is_never_retried() {
    let run = play(
        json!([{"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"v": "$.x"}, "on_error": "retry", "retry": {"delay": 0}}]),
        |_| returned(json!({})),
    );
    assert_eq!((run.verdict, run.calls.len()), (Verdict::Failed, 1));
}

#[test]
fn expectations_are_checked_retried_and_recorded() {
    let steps = json!([{
        "step": 1, "tool": "mcp__s__t", "params": {}, "on_error": "retry", "retry": {"count": 2, "delay": 0},
        "expect": [{"json_path": "$.n", "equals": "{{WANTED}}"}, {"contains": "n", "max_ms": 50}]
    }]);
    let mut n = 0;
    let run = play_with(
        &scenario(steps, json!({"WANTED": 3})),
        &[],
        Options::default(),
        |_| {
            n += 1;
            returned(json!({"n": n}))
        },
    );
    assert_eq!((run.verdict, run.calls.len()), (Verdict::Passed, 3));
    assert_eq!(
        run.steps[0].attempts[0].error.as_deref(),
        Some("`equals` at `$.n`: expected 3, got 1")
    );
}

#[test]
fn a_check_that_became_empty_holds_for_nothing() {
    for expect in [
        json!({"contains": "{{PART}}"}),
        json!({"shows": "{{PART}}"}),
        json!({"lacks": " {{PART}} "}),
    ] {
        let steps = json!([{"step": 1, "tool": "mcp__s__t", "params": {}, "expect": expect}]);
        let scenario = scenario(steps, json!({"PART": "it"}));
        let empty = [given("PART", json!(""))];
        let run = play_with(&scenario, &empty, Options::default(), |_| {
            returned(json!("all broken"))
        });
        assert_eq!(run.verdict, Verdict::Failed);
        let error = run.steps[0].error.clone().expect("failed");
        assert!(error.message.contains("matches everything"), "{error:?}");
    }
}

#[test]
fn every_check_that_fails_is_told() {
    let failed = |expect: Json, result: Json| {
        let run = play(
            json!([{"step": 1, "tool": "mcp__s__t", "params": {}, "expect": expect}]),
            |_| returned(result.clone()),
        );
        let error = run.steps[0].error.clone().expect("failed");
        (error.message, error.notes)
    };
    let (message, notes) = failed(
        json!([{"equals": 1, "contains": "x"}, {"matches": "^y"}]),
        json!("abc"),
    );
    assert_eq!(message, "`equals`: expected 1, got \"abc\"");
    assert_eq!(
        notes,
        [
            "also `contains`: expected something that contains \"x\", got \"abc\"",
            "also `matches`: expected a match of /^y/, got \"abc\""
        ]
    );
    let (message, notes) = failed(
        json!({"json_path": "$.user", "equals": {"a": 1, "b": {"c": [1, 3]}, "d": 0}}),
        json!({"user": {"a": 1, "b": {"c": [1, 2]}, "e": 0}}),
    );
    assert_eq!(message, "`equals` at `$.user.b.c[1]`: expected 3, got 2");
    assert_eq!(
        notes,
        [
            "also `equals` at `$.user`: the key `d` is missing, and the key `e` was unexpected",
            "the result was {\"user\":{\"a\":1,\"b\":{\"c\":[1,2]},\"e\":0}}"
        ]
    );
    let (message, notes) = failed(
        json!({"json_path": "$.items[*].id", "equals": [1, 3]}),
        json!({"items": [{"id": 1}, {"id": 2}]}),
    );
    assert_eq!(
        message,
        "`equals` at `$.items[*].id`, at `[1]` of its matches: expected 3, got 2"
    );
    assert_eq!(notes.len(), 1);
    let (message, notes) = failed(
        json!({"json_path": "$.name", "equals": "x", "matches": "y"}),
        json!({"id": 1}),
    );
    assert_eq!(message, "`$.name` matched nothing");
    assert_eq!(notes, ["the result was {\"id\":1}"]);
    let (message, notes) = failed(
        json!({"json_schema": {"properties": {"id": {"type": "string"}}, "required": ["name"]}}),
        json!({"id": 1}),
    );
    assert!(
        [&message, &notes[0]]
            .iter()
            .any(|text| text.contains("`json_schema` at `$.id`: 1 is not of type \"string\"")),
        "{message} {notes:?}"
    );
    assert_eq!(notes.len(), 2);
    let many: Vec<Json> = (0..50).map(|number| json!({"equals": number})).collect();
    let (_, notes) = failed(many.into(), json!(-1));
    assert_eq!(notes.len(), 11, "{notes:?}");
    assert_eq!(notes[10], "and 39 more");
}

#[test]
fn a_tool_that_is_too_slow_breaks_max_ms() {
    let run = play(
        json!([{"step": 1, "tool": "mcp__s__t", "params": {}, "expect": {"max_ms": 5}}]),
        |_| returned(json!(1)),
    );
    assert_eq!(run.error(), "`max_ms`: expected 5 ms at most, took 10 ms");
    assert!(
        run.steps[0]
            .error
            .as_ref()
            .is_some_and(|error| error.notes.is_empty())
    );
}

#[test]
fn wait_after_follows_steps_that_ran_but_not_the_last_and_is_scaled() {
    let steps = json!([
        {"step": 1, "tool": "mcp__s__t", "params": {}, "wait_after": 2},
        {"step": 2, "tool": "mcp__s__t", "params": {}, "wait_after": 2, "condition": "false"},
        {"step": 3, "tool": "mcp__s__t", "params": {}, "wait_after": "{{PAUSE}}", "on_error": "skip"},
        {"step": 4, "tool": "mcp__s__t", "params": {}, "wait_after": 2}
    ]);
    let fail_third = |request: &CallRequest| {
        if request.step == 3 {
            fails("x")
        } else {
            returned(json!(1))
        }
    };
    let scenario = scenario(steps, json!({"PAUSE": 3}));
    let run = play_with(&scenario, &[], Options::default(), fail_third);
    assert_eq!(run.now.as_millis(), 2000 + 3000 + 30);
    let run = play_with(
        &scenario,
        &[],
        Options {
            speed: 0.0,
            ..Options::default()
        },
        fail_third,
    );
    assert_eq!(run.now.as_millis(), 30);
}

#[test]
fn a_step_with_a_wait_that_cannot_be_resolved_is_not_called() {
    let steps = |on_error: &str| {
        json!([
            {"step": 1, "id": "a", "tool": "mcp__s__t", "params": {}, "output": {"pause": "$.pause"}},
            {"step": 2, "tool": "mcp__s__t", "params": {}, "wait_after": "{{a.pause}}", "on_error": on_error},
            {"step": 3, "tool": "mcp__s__t", "params": {}}
        ])
    };
    let soon = |_: &CallRequest| returned(json!({"pause": "soon"}));
    let run = play(steps("stop"), soon);
    assert_eq!(run.statuses(), [StepStatus::Passed, StepStatus::Failed]);
    assert_eq!((run.calls.len(), run.script.summary().failed), (1, 1));
    assert!(run.error().contains("wait_after"), "{}", run.error());
    // It is a failure like any other.
    let run = play(steps("skip"), soon);
    assert_eq!(
        run.statuses()[1..],
        [StepStatus::Tolerated, StepStatus::Passed]
    );
    let run = play(steps("stop"), |_| returned(json!({"pause": 2})));
    assert_eq!(run.statuses(), [StepStatus::Passed; 3]);
    assert_eq!(run.now.as_millis(), 2000 + 30);
}

#[test]
fn a_range_plays_its_steps_only() {
    let steps = json!([
        {"step": 10, "tool": "mcp__s__t", "params": {}},
        {"step": 20, "tool": "mcp__s__t", "params": {}},
        {"step": 30, "tool": "mcp__s__t", "params": {}, "wait_after": 9}
    ]);
    let run = play_with(
        &scenario(steps, json!({})),
        &[],
        Options {
            range: 15..=25,
            ..Options::default()
        },
        |_| returned(json!(1)),
    );
    assert_eq!(
        run.calls
            .iter()
            .map(|(call, _)| call.step)
            .collect::<Vec<_>>(),
        [20]
    );
    assert_eq!((run.script.summary().total, run.now.as_millis()), (1, 10));
}

#[test]
fn an_interrupted_step_is_unknown() {
    let scenario = scenario(
        json!([{"step": 1, "tool": "mcp__s__t", "params": {}}]),
        json!({}),
    );
    let (bindings, _) = bind_variables(&scenario, &[]);
    let mut script = Script::new(scenario, bindings, Options::default());
    while !matches!(script.poll(Duration::ZERO), Effect::Call(_)) {}
    script.interrupt(Duration::from_secs(1));
    let Effect::Record(_, EventData::StepFinished(step)) = script.poll(Duration::from_secs(1))
    else {
        panic!("the step ends")
    };
    assert_eq!(step.status, StepStatus::Unknown);
    let [attempt] = &step.attempts[..] else {
        panic!("the call was made: {:?}", step.attempts);
    };
    assert_eq!((attempt.attempt, attempt.duration_ms), (1, 1000.0));
    assert_eq!(
        attempt.error.as_deref(),
        Some("interrupted before it returned")
    );
    assert_eq!(
        script.poll(Duration::from_secs(1)),
        Effect::Finished(Verdict::Interrupted)
    );
}

#[test]
fn all_missing_variables_are_reported_together_and_later_values_win() {
    let scenario = scenario(
        json!([{"step": 1, "tool": "mcp__s__t", "params": {"x": "{{A}}{{B}}{{C}}"}}]),
        json!({"A": "", "B": "", "C": "c"}),
    );
    let (_, diagnostics) = bind_variables(&scenario, &[]);
    let codes: Vec<_> = diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code.name())
        .collect();
    assert_eq!(codes, ["C-VAR-01", "C-VAR-01"]);
    let values = [
        given("A", json!("")),
        given("B", json!("1")),
        given("B", json!(2)),
        given("C", json!({"z": 1})),
    ];
    let run = play_with(&scenario, &values, Options::default(), |_| {
        returned(json!(1))
    });
    assert_eq!(
        run.calls[0].0.params.json["x"], "2{\"z\":1}",
        "an empty value that was given is a value"
    );
    let (_, diagnostics) = bind_variables(
        &scenario,
        &[
            given("A", json!(1)),
            given("B", json!(1)),
            given("c", json!(1)),
        ],
    );
    assert_eq!(diagnostics[0].code.name(), "C-VAR-02");
    assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `C`?"));
}

#[test]
fn references_that_must_fail_are_found_before_the_run() {
    let scenario = scenario(
        json!([
            {"step": 1, "id": "a", "tool": "mcp__s__t", "params": {"later": "{{b.v}}", "own": "{{a.v}}"}, "output": {"v": "$"}},
            {"step": 2, "id": "b", "tool": "mcp__s__t", "params": {"x": "{{a.w}}", "y": "{{a}}", "z": "{{NOPE}}", "ok": "{{NOPE | default(1)}}"}, "output": {"v": "$"}},
            {"step": 3, "tool": "mcp__s__t", "params": {"x": "{{a.v}}", "y": "{{b.v}}", "z": "{{a.v | default(0)}}"}}
        ]),
        json!({}),
    );
    let codes = |scope: &Scope<'_>| -> Vec<&str> {
        check_references(&scenario, scope)
            .iter()
            .map(|found| found.code.name())
            .collect()
    };
    assert_eq!(
        codes(&Scope::default()),
        ["C-REF-03", "C-REF-03", "C-REF-02", "C-REF-02", "C-REF-02"]
    );
    assert_eq!(
        codes(&Scope {
            range: 3..=3,
            ..Scope::default()
        }),
        ["C-REF-04", "C-REF-04"]
    );
    let names = ["NOPE".to_owned()];
    assert_eq!(
        codes(&Scope {
            given: &names,
            range: 2..=2,
            unreliable_names: &[],
        }),
        ["C-REF-02", "C-REF-02"]
    );
}
