//! Detours, repeated attempts and waits.

use std::time::Duration;

use serde_json::{Value, json};

use super::{call, failed, findings, of_one, param, questions, recording};
use crate::infer::infer;
use crate::{Call, Server, Step, Tool, scenario};

#[test]
fn detours_are_left_out_and_polls_are_one_step() {
    let status = |status: &str| {
        call(
            "status",
            json!({"job": "job-118273"}),
            json!({"status": status}),
        )
    };
    let mut recording = recording(
        "Go",
        vec![
            failed(
                "start",
                json!({"nam": "nightly build of the shop"}),
                "unknown parameter nam",
            ),
            call(
                "start",
                json!({"name": "nightly build of the shop"}),
                json!({"job": "job-118273"}),
            ),
            status("queued"),
            status("queued"),
            status("done"),
            failed("remove", json!({"job": "job-118273"}), "not allowed"),
        ],
    );
    let inferred = of_one(&recording);
    assert_eq!(findings(&inferred), Vec::<String>::new());
    let tools: Vec<&str> = inferred
        .scenario
        .steps
        .iter()
        .map(|step| step.id.as_str())
        .collect();
    assert_eq!(tools, ["start", "status", "remove"]);
    let poll = &inferred.scenario.steps[1];
    assert_eq!(poll.on_error, Some("retry"));
    assert_eq!(
        json!(poll.expect),
        json!([{"json_path": "$.status", "equals": "done"}])
    );
    assert_eq!(
        poll.retry.as_ref().map(|retry| retry["backoff"].clone()),
        Some(json!("constant"))
    );
    assert_eq!(inferred.scenario.steps[2].on_error, Some("skip"));
    assert_eq!(
        questions(&inferred),
        ["it failed in the recording (not allowed): is it needed?"]
    );
    let left: Vec<(Option<usize>, &str)> = inferred
        .left_out
        .iter()
        .map(|note| (note.call, note.text.as_str()))
        .collect();
    assert_eq!(
        left,
        [
            (
                Some(1),
                "it failed (unknown parameter nam), and call 2 did its work"
            ),
            (Some(3), "it waited for what call 5 got"),
            (Some(4), "it waited for what call 5 got"),
        ]
    );
    // Two calls alone may be two additions.
    recording.calls.remove(2);
    let two = of_one(&recording);
    assert_eq!(two.scenario.steps.len(), 4);
    assert!(
        questions(&two)[0].starts_with("calls 3 to 4 are the same"),
        "{:?}",
        two.questions
    );
    // Unless the server says that nothing is added.
    recording.servers.push(Server {
        name: "demo".to_owned(),
        tools: vec![Tool {
            name: "status".to_owned(),
            description: json!({"name": "status", "annotations": {"readOnlyHint": true}}),
        }],
        ..Server::default()
    });
    assert_eq!(of_one(&recording).scenario.steps.len(), 3);
}

#[test]
fn a_writing_call_that_failed_once_is_a_question() {
    let pay = json!({"to": "eve", "amount": 12345});
    let calls = vec![
        failed("pay", pay.clone(), "gateway timeout"),
        call("pay", pay, json!({"id": "p-10001"})),
    ];
    let inferred = of_one(&recording("", calls));
    assert_eq!(
        questions(&inferred),
        [
            "it failed (gateway timeout) and was called again: may each failed call have had its effect?"
        ]
    );
}

#[test]
fn one_of_several_new_words_is_no_end_of_a_wait() {
    let status = |text: &str| call("get_status", json!({"id": "b-1"}), json!(text));
    let calls = vec![
        status("Some checks are still pending"),
        status("Some checks are still pending"),
        status("All checks were successful"),
    ];
    let inferred = of_one(&recording("", calls));
    assert_eq!(inferred.scenario.steps.len(), 3);
    assert_eq!(inferred.questions.len(), 1, "{:?}", inferred.questions);
}

#[test]
fn equal_calls_are_a_wait_only_if_they_read() {
    let run = |tool: &str, results: &[Value]| {
        let calls = results
            .iter()
            .map(|result| call(tool, json!({"k": 1}), result.clone()));
        let inferred = of_one(&recording("", calls.collect()));
        (inferred.scenario.steps.len(), inferred.questions.len())
    };
    let states = |last: &str| ["running", "running", last].map(|state| json!({"s": state}));
    assert_eq!(run("job_status", &states("done")), (1, 0));
    assert_eq!(run("job_status", &states("failed")), (3, 1));
    assert_eq!(run("add_to_cart", &states("discount")), (3, 1));
    assert_eq!(run("set_status", &states("done")), (3, 1));
    let percents = [10, 50, 100].map(
        |percent| json!({"s": if percent < 100 { "running" } else { "done" }, "pct": percent}),
    );
    assert_eq!(run("status", &percents), (1, 0));
    assert_eq!(run("press_key", &percents), (3, 1));
    // What counts up is told by the words around it, or asked for.
    let texts = |texts: [&str; 3]| texts.map(|text| json!(text));
    let counted = |last| texts(["running (30%)", "running (60%)", last]);
    for (tool, results, expected) in [
        ("get_status", counted("passed in 42s"), (1, 0)),
        ("get_status", counted("failed in 42s"), (3, 1)),
        ("get_status", counted("running (100%)"), (3, 1)),
        ("press_key", counted("passed in 42s"), (3, 1)),
        (
            "status",
            texts([
                "**Status**: on\n10:01",
                "**Status**: on\n10:02",
                "**Status**: finished\n10:03",
            ]),
            (1, 0),
        ),
        (
            "status",
            [1, 2, 3].map(|count| json!({"log": format!("line {count}"), "pending": 3 - count})),
            (3, 1),
        ),
        (
            "get_quote",
            texts(["Carpe diem, quam", "Veni, vidi, vici", "Alea iacta, dixit"]),
            (3, 1),
        ),
        (
            "get_job",
            [3, 1, 1].map(|count| json!({"pending": count})),
            (3, 1),
        ),
        (
            "get_job",
            [3, 3, 3].map(|count| json!({"pending": count})),
            (3, 0),
        ),
    ] {
        assert_eq!(run(tool, &results), expected, "{tool} {results:?}");
    }
}

#[test]
fn a_poll_is_known_from_the_longer_one_of_two_recordings() {
    let one = |name: &str, id: &str, url: &str, waits: usize| {
        let job = || json!({ "id": id });
        let mut calls = vec![call("start", json!({ "name": name }), json!({ "id": id }))];
        calls.extend((0..waits).map(|_| call("get_job", job(), json!({"state": "pending"}))));
        calls.push(call(
            "get_job",
            job(),
            json!({"state": "ready", "url": url}),
        ));
        calls.push(call("download", json!({ "url": url }), json!("saved")));
        recording("Do it", calls)
    };
    let first = |waits| one("Tea", "job-4711", "https://x.example/f/a1b2c3", waits);
    let second = |waits| one("Coffee", "job-9922", "https://x.example/f/d4e5f6", waits);
    for (ones, others) in [(1, 2), (2, 1), (0, 3), (3, 0)] {
        let inferred = infer(&first(ones), Some(&second(others)), "test").expect("a scenario");
        let steps = &inferred.scenario.steps;
        let tools: Vec<&str> = steps.iter().map(|step| step.tool.as_str()).collect();
        let expected = [
            "mcp__demo__start",
            "mcp__demo__get_job",
            "mcp__demo__download",
        ];
        assert_eq!(tools, expected, "{ones} {others}");
        assert_eq!(steps[1].on_error, Some("retry"), "{ones} {others}");
        assert_eq!(param(&steps[2], "url"), "{{get_job.url}}");
        assert_eq!(json!(inferred.scenario.variables), json!({"NAME": "Tea"}));
    }
}

#[test]
fn a_failed_call_with_other_values_is_a_question() {
    let run = |one: Value, other: Value| {
        let calls = vec![
            failed("send", one, "not found"),
            call("send", other, json!("ok")),
        ];
        of_one(&recording("", calls)).questions.len()
    };
    assert_eq!(
        run(
            json!({"to": "Ann", "text": "hello"}),
            json!({"to": "ann", "text": "hello"})
        ),
        0
    );
    assert_eq!(
        run(
            json!({"to": "ann", "text": "hello"}),
            json!({"to": "bob", "text": "hello"})
        ),
        1
    );
}

#[test]
fn a_failed_command_is_left_out_only_for_one_like_it() {
    let shell = |command: &str, exit_code: i64| {
        let mut arguments = json!({ "command": command });
        if exit_code == 0 {
            arguments["expect_exit"] = json!(0);
        }
        let result = json!({"stdout": "", "stderr": "", "exit_code": exit_code});
        Call {
            server: None,
            result: Some(result),
            ..call("claude__bash", arguments, json!(null))
        }
    };
    let run = |calls: Vec<Call>| {
        of_one(&recording("Deploy version 1.2.3 to staging", calls))
            .scenario
            .steps
    };
    let steps = run(vec![shell("deploy 1.2.3 --prod", 1), shell("echo done", 0)]);
    assert_eq!(steps.len(), 2);
    assert_eq!(
        param(&steps[0], "command"),
        "deploy \"${VALUE_COMMAND}\" --prod"
    );
    let steps = run(vec![shell("make", 1), shell("make", 1), shell("make", 0)]);
    assert_eq!((steps.len(), steps[0].on_error), (1, Some("retry")));
}

#[test]
fn a_call_that_took_long_gets_the_time_it_needs() {
    let of = |seconds: u64, one: Call| Call {
        duration: Some(Duration::from_secs(seconds)),
        ..one
    };
    let shell = |arguments: Value| Call {
        server: None,
        result: Some(json!({"stdout": "", "stderr": "", "exit_code": 0})),
        ..call("claude__bash", arguments, json!(null))
    };
    let calls = |seconds: u64| {
        recording(
            "Go",
            vec![
                of(29, call("build", json!({}), json!("ok"))),
                of(seconds, call("test", json!({}), json!("ok"))),
                of(seconds, failed("deploy", json!({}), "no")),
                of(seconds, shell(json!({"command": "make"}))),
                of(59, shell(json!({"command": "ls"}))),
                of(
                    seconds,
                    shell(json!({"command": "make all", "timeout": 600_000})),
                ),
                of(
                    seconds,
                    shell(json!({"command": "serve", "run_in_background": true})),
                ),
                of(9_000, call("all", json!({}), json!("ok"))),
            ],
        )
    };
    let times = |steps: &[Step]| {
        let of_step = |step: &Step| (step.timeout, param(step, "timeout").as_u64());
        steps.iter().map(of_step).collect::<Vec<_>>()
    };
    let expected = [
        (None, None),
        (Some(280), None),
        (None, None),
        (None, Some(280_000)),
        (None, None),
        (None, Some(600_000)),
        (None, None),
        (Some(3_600), None),
    ];
    let one = of_one(&calls(140));
    assert_eq!(findings(&one), [""; 0]);
    assert_eq!(times(&one.scenario.steps), expected);
    // Of an awaited state the slowest call counts.
    let status = |state: &str, seconds: u64| {
        of(
            seconds,
            call("job_status", json!({}), json!({"state": state})),
        )
    };
    let calls_of_state = vec![
        status("running", 5),
        status("running", 100),
        status("done", 1),
    ];
    let awaited = of_one(&recording("Go", calls_of_state));
    assert_eq!(times(&awaited.scenario.steps), [(Some(200), None)]);
    // The slower one of two recordings counts.
    let both = infer(&calls(20), Some(&calls(140)), "test").expect("a scenario");
    assert_eq!(times(&both.scenario.steps), expected);
    assert_eq!(times(&scenario(&calls(140), "x").steps), expected);
}

/// What is awaited may be all of a result, as a text or a text in JSON, of any tool.
#[test]
fn a_state_that_is_a_text_is_awaited_or_asked_about() {
    let shell = |stdout: &str| Call {
        server: None,
        result: Some(json!({"stdout": stdout, "stderr": "", "exit_code": 0})),
        ..call("claude__bash", json!({"command": "./state"}), json!(null))
    };
    for states in [
        &["pending", "done"][..],
        &["pending", "pending", "done"],
        &["queued", "running", "done"],
        &["Queued.", "In progress", "Done"],
    ] {
        for tool in ["job_status", "job", "fetch_it", "run"] {
            for is_json in [false, true] {
                let calls = states.iter().map(|state| {
                    let text = match is_json {
                        true => json!(state).to_string(),
                        false => (*state).to_owned(),
                    };
                    call(tool, json!({"job": "j-1"}), json!(text))
                });
                let inferred = of_one(&recording("Go", calls.collect()));
                let steps = &inferred.scenario.steps;
                let is_wait = steps.len() == 1 && steps[0].retry.is_some();
                let asked = questions(&inferred);
                let is_asked = asked
                    .iter()
                    .any(|question| question.contains("was this a wait?"));
                assert!(is_wait || is_asked, "{tool} {states:?}: {asked:?}");
                assert_eq!(findings(&inferred), [""; 0]);
            }
        }
        let calls = states.iter().map(|state| shell(&format!("{state}\n")));
        let inferred = of_one(&recording("Go", calls.collect()));
        assert_eq!(questions(&inferred).len(), 1, "{states:?}");
    }
}
