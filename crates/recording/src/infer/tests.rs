//! Recordings by construction: what was copied, given or secret is known, so that both a missed copy and one that is
//! none are found.

use std::collections::HashMap;

use cuecard_source::SourceFile;
use cuecard_source::value::as_text;
use cuecard_tool_call::format::{Scope, check_references, read};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use serde_json_path::JsonPath;

use super::{Inferred, infer};
use crate::cassette::Cassette;
use crate::{Call, Outcome, Recording, Server, Step, Tool};

fn call(tool: &str, arguments: Value, result: Value) -> Call {
    let text = match &result {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Call {
        server: Some("demo".to_owned()),
        tool: tool.to_owned(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
        outcome: Outcome::Result(json!({ "content": [{ "type": "text", "text": text }] })),
        started: None,
        duration: None,
        notifications: Vec::new(),
    }
}

fn failed(tool: &str, arguments: Value, text: &str) -> Call {
    Call {
        outcome: Outcome::Result(
            json!({ "content": [{ "type": "text", "text": text }], "isError": true }),
        ),
        ..call(tool, arguments, json!(null))
    }
}

fn recording(prompt: &str, calls: Vec<Call>) -> Recording {
    Recording {
        prompts: vec![prompt.to_owned()],
        calls,
        ..Recording::default()
    }
}

fn of_one(recording: &Recording) -> Inferred {
    infer(recording, None, "test").expect("a scenario")
}

/// What `check` says of the scenario.
fn findings(inferred: &Inferred) -> Vec<String> {
    let source = SourceFile::new("test.json", inferred.scenario.to_text());
    let reading = read(&source);
    let mut all = reading.diagnostics;
    if let Some(scenario) = &reading.scenario {
        all.extend(check_references(scenario, &Scope::default()));
    }
    all.into_iter().map(|found| found.message).collect()
}

fn questions(inferred: &Inferred) -> Vec<&str> {
    inferred
        .questions
        .iter()
        .map(|note| note.text.as_str())
        .collect()
}

fn param<'s>(step: &'s Step, key: &str) -> &'s Value {
    step.params.get(key).unwrap_or(&Value::Null)
}

#[test]
fn a_copied_id_is_an_output_and_a_title_of_the_prompt_a_variable() {
    let recording = recording(
        "Create an issue \"Buy milk\" and label it",
        vec![
            call(
                "create_issue",
                json!({"title": "Buy milk"}),
                json!({"number": 42, "state": "open", "node": "I_kwDO17x"}),
            ),
            call(
                "add_label",
                json!({"issue_number": 42, "node": "I_kwDO17x", "label": "bug", "count": 1, "text": "About \"Buy milk\" (I_kwDO17x)"}),
                json!({"ok": true}),
            ),
        ],
    );
    let inferred = of_one(&recording);
    assert_eq!(findings(&inferred), Vec::<String>::new());
    let steps = &inferred.scenario.steps;
    assert_eq!(
        Value::Object(inferred.scenario.variables.clone()),
        json!({"TITLE": "Buy milk"})
    );
    assert_eq!(param(&steps[0], "title"), "{{TITLE}}");
    assert_eq!(
        json!(steps[0].output),
        json!({"number": "$.number", "node": "$.node"})
    );
    assert_eq!(
        json!(steps[1].params),
        json!({
            "issue_number": "{{create_issue.number}}", "node": "{{create_issue.node}}", "label": "bug", "count": 1,
            "text": "About \"{{TITLE}}\" ({{create_issue.node}})",
        })
    );
    assert_eq!(
        json!(steps[0].expect),
        json!([
            {"json_path": "$.number", "json_schema": {"type": "integer"}},
            {"json_path": "$.node", "json_schema": {"type": "string", "minLength": 1}},
        ])
    );
    assert_eq!(questions(&inferred), Vec::<&str>::new());
    let proposals: Vec<&str> = inferred
        .proposals
        .iter()
        .map(|note| note.text.as_str())
        .collect();
    assert_eq!(
        proposals,
        [
            r#"{"json_path":"$.state","equals":"open"}"#,
            r#"{"json_path":"$.ok","equals":true}"#
        ]
    );
}

#[test]
fn what_one_recording_leaves_open_two_of_them_prove() {
    let one = |title: &str, id: i64, state: &str, url: &str| {
        recording(
            "Do it again",
            vec![
                call(
                    "add",
                    json!({"text": title}),
                    json!({"id": id, "state": state, "n": 3}),
                ),
                call(
                    "get",
                    json!({"id": id, "state": state, "limit": 3, "note": format!("{title} is #{id}")}),
                    json!({"url": url}),
                ),
                call("open", json!({"url": url, "mode": "fast"}), json!("done")),
            ],
        )
    };
    let first = one("Milk", 7, "open", "https://x.example/7");
    let alone = of_one(&first);
    assert_eq!(param(&alone.scenario.steps[1], "id"), 7);
    assert_eq!(
        questions(&alone),
        [
            "`id` is `7`, as `$.id` of `add` was: is it copied from there?",
            "`state` is `open`, as `$.state` of `add` was: is it copied from there?"
        ]
    );
    assert!(
        alone.scenario.steps[1]
            .description
            .starts_with("Open question: `id` is `7`")
    );
    let second = one("Bread", 8, "closed", "https://x.example/8");
    let both = infer(&first, Some(&second), "test").expect("a scenario");
    assert_eq!(findings(&both), Vec::<String>::new());
    assert_eq!(questions(&both), Vec::<&str>::new());
    assert_eq!(
        Value::Object(both.scenario.variables.clone()),
        json!({"TEXT": "Milk"})
    );
    assert_eq!(
        json!(both.scenario.steps[1].params),
        json!({"id": "{{add.id}}", "state": "{{add.state}}", "limit": 3, "note": "{{TEXT}} is #{{add.id}}"})
    );
    assert_eq!(
        json!(both.scenario.steps[2].params),
        json!({"url": "{{get.url}}", "mode": "fast"})
    );
}

#[test]
fn what_was_given_is_found_in_other_texts_of_two_recordings() {
    let task = |title: &str, who: &str| {
        let text = format!("{title}: ask {who}, and {title} again");
        recording(
            "",
            vec![
                call(
                    "add",
                    json!({"text": text, "title": title}),
                    json!({"id": 7}),
                ),
                call(
                    "tell",
                    json!({"who": who, "what": format!("about {title}")}),
                    json!("told"),
                ),
                call("get", json!({"id": 7}), json!({"title": title})),
            ],
        )
    };
    let inferred = infer(
        &task("Buy milk", "Ann Lee"),
        Some(&task("Call the bank", "Bo")),
        "test",
    );
    let inferred = inferred.expect("a scenario");
    let steps = &inferred.scenario.steps;
    assert_eq!(
        json!(inferred.scenario.variables),
        json!({"TITLE": "Buy milk", "WHO": "Ann Lee"})
    );
    assert_eq!(
        *param(&steps[0], "text"),
        json!("{{TITLE}}: ask {{WHO}}, and {{TITLE}} again")
    );
    assert_eq!(*param(&steps[1], "what"), json!("about {{TITLE}}"));
    // Equal by coincidence, or copied: two recordings with one value can't tell.
    assert_eq!(
        questions(&inferred),
        ["`id` is `7`, as `$.id` of `add` was: is it copied from there?"]
    );
}

#[test]
fn texts_of_results_are_found_in_other_texts_and_numbers_are_asked_for() {
    let task = |number: u32, title: &str| {
        let text = format!("#{number} {title}: see /acme/{number}");
        recording(
            "",
            vec![
                call("next", json!({}), json!({"number": number, "title": title})),
                call("write", json!({"text": text}), json!("ok")),
            ],
        )
    };
    let first = task(4711, "Login timeout after 30 s");
    let alone = of_one(&first);
    assert_eq!(
        *param(&alone.scenario.steps[1], "text"),
        json!("#4711 {{next.title}}: see /acme/4711")
    );
    assert_eq!(
        questions(&alone),
        ["`text` holds `4711`, as `$.number` of `next` was: is it copied from there?"]
    );
    let both = infer(&first, Some(&task(52, "Payment fails")), "test").expect("a scenario");
    assert_eq!(
        *param(&both.scenario.steps[1], "text"),
        json!("#{{next.number}} {{next.title}}: see /acme/{{next.number}}")
    );
    assert_eq!(questions(&both), [""; 0]);
    assert_eq!(json!(both.scenario.variables), json!({}));
}

#[test]
fn secrets_are_variables_without_a_value_wherever_they_stand() {
    let key = "sk-proj-abcdefghijklmnopqrstuv1234";
    let recording = recording(
        &format!("Use the key {key} to log in"),
        vec![
            call(
                "login",
                json!({"api_key": key, "headers": {"Authorization": format!("Bearer {key}")}}),
                json!({"session": "s-9918273"}),
            ),
            call(
                "list",
                json!({"session": "s-9918273", "password": "[redacted]"}),
                json!([]),
            ),
        ],
    );
    let inferred = of_one(&recording);
    let text = inferred.scenario.to_text();
    assert!(
        !text.contains(key) && !format!("{:?}", inferred.questions).contains(key),
        "{text}"
    );
    assert_eq!(
        Value::Object(inferred.scenario.variables.clone()),
        json!({"API_KEY": "", "PASSWORD": ""})
    );
    assert_eq!(
        json!(inferred.scenario.steps[0].params),
        json!({"api_key": "{{API_KEY}}", "headers": {"Authorization": "Bearer {{API_KEY}}"}})
    );
    assert_eq!(
        json!(inferred.scenario.steps[1].params),
        json!({"session": "{{login.session}}", "password": "{{PASSWORD}}"})
    );
}

/// What the agent gave itself is no copy of a result that repeats it.
#[test]
fn an_object_of_an_earlier_call_is_not_copied_from_its_result() {
    let relation = |from: &str| json!({"from": from, "to": "Cy"});
    let both = json!([relation("Ann"), relation("Bob")]);
    let recording = recording(
        "Go",
        vec![
            call("create", json!({ "relations": both }), both.clone()),
            call(
                "delete",
                json!({"relations": [relation("Bob")], "all": both}),
                json!({}),
            ),
        ],
    );
    for second in [None, Some(&recording)] {
        let inferred = infer(&recording, second, "test").expect("a scenario");
        assert_eq!(
            json!(inferred.scenario.steps[1].params),
            json!({"relations": [relation("Bob")], "all": both})
        );
        assert_eq!(questions(&inferred), [""; 0]);
    }
}

/// A text that differs keeps its secret apart: no mark is a value.
#[test]
fn a_secret_in_a_text_that_differs_must_be_given() {
    for (one, other, expected) in [
        (
            "postgres://u:[redacted]@h1/db",
            "postgres://u:[redacted]@h2/db",
            "postgres://u:{{DSN_SECRET}}@h1/db",
        ),
        (
            "pw [redacted-00000001]",
            "pw [redacted-0000000a] for bob",
            "pw {{DSN_SECRET}}",
        ),
    ] {
        let of = |dsn: &str| recording("", vec![call("t", json!({ "dsn": dsn }), json!("ok"))]);
        let both = infer(&of(one), Some(&of(other)), "test").expect("a scenario");
        assert_eq!(param(&both.scenario.steps[0], "dsn"), expected);
        assert_eq!(json!(both.scenario.variables), json!({"DSN_SECRET": ""}));
        assert_eq!(
            questions(&both),
            ["`dsn` differs between the recordings: what in it is a variable?"]
        );
    }
}

/// A list or an object stays one, whatever its key is.
#[test]
fn parts_of_an_object_with_secrets_are_variables() {
    for (secret, expected) in [
        (
            json!({"user": "ann", "value": "[redacted]"}),
            json!({"user": "ann", "value": "{{VALUE_SECRET}}"}),
        ),
        (
            json!(["[redacted-00000001]", "[redacted-00000002]", "x"]),
            json!(["{{SECRET}}", "{{SECRET_2}}", "x"]),
        ),
        (
            json!({"data": {"k": "vvvvvv1111"}}),
            json!({"data": {"k": "{{K_SECRET}}"}}),
        ),
        (json!({"n": 12}), json!({"n": 12})),
    ] {
        let calls = vec![call("t", json!({ "secret": secret }), json!("ok"))];
        let inferred = of_one(&recording("Go", calls));
        assert_eq!(*param(&inferred.scenario.steps[0], "secret"), expected);
    }
}

#[test]
fn no_secret_is_left_where_recordings_differ_or_a_result_shows_one() {
    let one = |key: &str, number: &str| {
        recording(
            "Go",
            vec![
                call(
                    "read",
                    json!({"path": "a.env"}),
                    json!(format!("API_KEY={key} ticket {number}")),
                ),
                call(
                    "send",
                    json!({"header": format!("Authorization: Bearer {key}"), "ticket": number}),
                    json!("ok"),
                ),
                call(
                    "log",
                    json!({"header": format!("Authorization: Bearer {}", key.to_uppercase())}),
                    json!("ok"),
                ),
            ],
        )
    };
    let keys = [
        "sk-proj-abcdefghijklmnopqrstuv1234",
        "sk-proj-zyxwvutsrqponmlkjihgfe9876",
    ];
    let inferred = infer(
        &one(keys[0], "ENG-142"),
        Some(&one(keys[1], "ENG-977")),
        "test",
    )
    .expect("a scenario");
    let shown = format!("{}{inferred:?}", inferred.scenario.to_text()).to_lowercase();
    for key in keys {
        assert!(!shown.contains(&key[8..]), "{shown}");
    }
    let steps = &inferred.scenario.steps;
    assert_eq!(
        param(&steps[1], "header"),
        "Authorization: Bearer {{read.header}}"
    );
    assert_eq!(param(&steps[1], "ticket"), "{{read.ticket}}");
    assert_eq!(
        param(&steps[2], "header"),
        "Authorization: Bearer {{HEADER_SECRET}}"
    );
    assert_eq!(
        Value::Object(inferred.scenario.variables.clone()),
        json!({"HEADER_SECRET": ""})
    );
}

#[test]
fn values_in_prose_are_found_by_the_words_before_them() {
    let recording = recording(
        "Go",
        vec![
            call(
                "add",
                json!({"text": "x"}),
                json!("Done.\nCreated ticket ENG-142 in 3 s."),
            ),
            call("close", json!({"ticket": "ENG-142"}), json!("ok")),
        ],
    );
    let inferred = of_one(&recording);
    assert_eq!(findings(&inferred), Vec::<String>::new());
    assert_eq!(
        json!(inferred.scenario.steps[0].output),
        json!({"ticket": {"regex": r"(?m)^\bCreated ticket (\S*[^\s.,;:!?])"}})
    );
    assert_eq!(
        param(&inferred.scenario.steps[1], "ticket"),
        "{{add.ticket}}"
    );
}

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
fn elements_become_targets() {
    let page = "uid=1_0 RootWebArea \"Shop\"\n  uid=1_1 textbox \"Name\"\n  uid=1_2 button \"Save\"\n  uid=1_3 link \"More\"\n  uid=1_4 link \"More\"";
    let recording = recording(
        "Go",
        vec![
            call("take_snapshot", json!({}), json!(page)),
            call(
                "fill_form",
                json!({"elements": [{"uid": "1_1", "value": "Ann"}]}),
                json!("ok"),
            ),
            call("click", json!({"uid": "1_2"}), json!("ok")),
            call("click", json!({"uid": "1_4"}), json!("ok")),
            call("click", json!({"uid": "9_9"}), json!("ok")),
        ],
    );
    let inferred = of_one(&recording);
    let steps = &inferred.scenario.steps;
    assert_eq!(steps.len(), 4, "{steps:?}");
    assert_eq!(
        json!(steps[0].targets),
        json!({"elements[0].uid": {"role": "textbox", "name": "Name"}})
    );
    assert_eq!(
        json!(steps[0].params),
        json!({"elements": [{"value": "Ann"}]})
    );
    assert_eq!(
        steps[1].target,
        Some(json!({"role": "button", "name": "Save"}))
    );
    assert_eq!(json!(steps[1].params), json!({}));
    assert_eq!(
        steps[2].target,
        Some(json!({"role": "link", "name": "More", "nth": 2}))
    );
    assert_eq!(param(&steps[3], "uid"), "9_9");
    assert_eq!(
        questions(&inferred),
        [
            "several elements were alike, and this is number 2 of them: what tells it from the others?",
            "no snapshot before it has the element `9_9`: give the step a `target`"
        ]
    );
    assert_eq!(inferred.left_out[0].call, Some(1));
    assert_eq!(findings(&inferred), Vec::<String>::new());
}

#[test]
fn data_reaches_a_command_by_its_environment_only() {
    let shell = |command: &str, stdout: &str| Call {
        server: None,
        outcome: Outcome::BuiltIn(json!({"stdout": stdout, "stderr": "", "exit_code": 0})),
        ..call(
            "claude__bash",
            json!({"command": command, "expect_exit": 0}),
            json!(null),
        )
    };
    let recording = recording(
        "Go",
        vec![
            shell("git rev-parse HEAD", "4f5e6d7c8b9a\n"),
            shell("git show 4f5e6d7c8b9a", "x"),
            shell("echo 'at 4f5e6d7c8b9a' \"is 4f5e6d7c8b9a\"", "x"),
        ],
    );
    let inferred = of_one(&recording);
    assert_eq!(findings(&inferred), Vec::<String>::new());
    let steps = &inferred.scenario.steps;
    assert_eq!(
        json!(steps[0].output),
        json!({"command": {"regex": r"^\s*(\S*[^\s.,;:!?])", "from": "$.stdout"}})
    );
    assert_eq!(
        json!(steps[1].params),
        json!({"command": "git show \"${VALUE_COMMAND}\"", "expect_exit": 0, "env": {"VALUE_COMMAND": "{{bash.command}}"}})
    );
    assert_eq!(
        param(&steps[2], "command"),
        "echo 'at {{bash.command}}' \"is {{bash.command}}\""
    );
    // The policy knows nothing of git.
    assert_eq!(
        questions(&inferred),
        [
            "the command gets `bash.command` by `env`, which nothing checks: may a result give any value there?"
        ]
    );
}

/// Where the policy checks what data may be, it is left to it; elsewhere it is asked about.
#[test]
fn an_output_in_a_command_is_checked_or_asked_about() {
    for (given, expected, n_asked) in [
        ("rm out/n-10001", "rm out/{{add.id}}", 0),
        ("rm -rf out/n-10001", "rm -rf out/\"${VALUE_ID}\"", 1),
        ("cat \"out/n-10001\"", "cat \"out/{{add.id}}\"", 0),
        ("find n-10001 -name x", "find \"${VALUE_ID}\" -name x", 1),
        ("bash -c 'echo n-10001'", "bash -c 'echo n-10001'", 1),
    ] {
        let shell = Call {
            server: None,
            outcome: Outcome::BuiltIn(json!({"stdout": "", "stderr": "", "exit_code": 0})),
            ..call("claude__bash", json!({"command": given}), json!(null))
        };
        let add = call("add", json!({"t": "x"}), json!({"id": "n-10001"}));
        let inferred = of_one(&recording("", vec![add, shell]));
        assert_eq!(param(&inferred.scenario.steps[1], "command"), expected);
        assert_eq!(
            inferred.questions.len(),
            n_asked,
            "{given} {:?}",
            inferred.questions
        );
    }
}

/// A server reads it as code.
#[test]
fn an_output_in_a_program_of_a_server_is_a_question() {
    for (key, text, n_asked) in [
        ("sql", "delete from t where owner='ann-7001'", 1),
        ("blocks", "[{\"text\": \"from ann-7001\"}]", 1),
        ("text", "from ann-7001", 0),
    ] {
        let calls = vec![
            call("get", json!({"id": 1}), json!({"owner": "ann-7001"})),
            call("run", json!({key: text}), json!("ok")),
        ];
        let inferred = of_one(&recording("", calls));
        assert_eq!(
            inferred.questions.len(),
            n_asked,
            "{key} {:?}",
            inferred.questions
        );
    }
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
fn a_password_in_quotes_is_a_secret_wherever_it_stands() {
    let shell = Call {
        server: None,
        outcome: Outcome::BuiltIn(json!({"stdout": "", "stderr": "", "exit_code": 0})),
        ..call(
            "claude__bash",
            json!({"command": "curl -u ann:hunter2hunter http://x.ex"}),
            json!(null),
        )
    };
    let prompt = "Log in as ann with the password \"hunter2hunter\"";
    let text = of_one(&recording(prompt, vec![shell])).scenario.to_text();
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn the_exit_code_that_is_expected_is_no_word_of_the_prompt() {
    let command = Call {
        server: None,
        outcome: Outcome::BuiltIn(json!({"stdout": "", "stderr": "", "exit_code": 0})),
        ..call(
            "claude__bash",
            json!({"command": "true", "expect_exit": 0}),
            json!(null),
        )
    };
    let inferred = of_one(&recording("Release 2.4.0, with 0 errors", vec![command]));
    assert_eq!(questions(&inferred), [""; 0]);
}

/// A variable is one argument, whatever the user gives; of several words nobody knows how many they are.
#[test]
fn variables_reach_a_command_by_its_environment() {
    use super::parts::{Part, command};
    let of = |before: &str, value: &str, after: &str| {
        let parts = [
            Part::Text(before.to_owned()),
            Part::Variable("V".to_owned(), value.to_owned()),
            Part::Text(after.to_owned()),
        ];
        let written = command(&parts);
        (written.text, written.kept.len())
    };
    for (before, value, after, expected, n_asked) in [
        ("./send ", "tea", "", "./send \"${VALUE_V}\"", 0),
        (
            "./send --to=",
            "tea",
            " now",
            "./send --to=\"${VALUE_V}\" now",
            0,
        ),
        (
            "./send \"the ",
            "tea time",
            "\"",
            "./send \"the ${VALUE_V}\"",
            0,
        ),
        (
            "./send 'the ",
            "tea time",
            "'",
            "./send 'the '\"${VALUE_V}\"",
            0,
        ),
        ("./send ", "tea time", "", "./send {{V}}", 1),
        // What the shell expanded when it was recorded.
        ("mkdir -p ", "src/{api,web}", "", "mkdir -p {{V}}", 1),
        ("ls \"", "$HOME/x", "\"", "ls \"{{V}}\"", 1),
        ("ls '", "$HOME/x", "'", "ls \"${VALUE_V}\"", 0),
        ("echo 'a ", "$5 **b**", "'", "echo 'a '\"${VALUE_V}\"", 0),
        (
            "cat > f <<'E'\n",
            "costs $5",
            "\nE",
            "cat > f <<E\n${VALUE_V}\nE",
            0,
        ),
        ("cat <<E\n", "tea", "\nE", "cat <<E\n${VALUE_V}\nE", 0),
        (
            "git commit -m \"$(cat <<'E'\n",
            "tea",
            "\nE\n)\"",
            "git commit -m \"$(cat <<E\n${VALUE_V}\nE\n)\"",
            0,
        ),
        (
            "echo \"$(echo 'a ",
            "tea time",
            "')\"",
            "echo \"$(echo 'a '\"${VALUE_V}\")\"",
            0,
        ),
        (
            "(cd x && echo \"",
            "tea",
            "\")",
            "(cd x && echo \"${VALUE_V}\")",
            0,
        ),
        ("echo $'", "tea", "\\n'", "echo $'{{V}}\\n'", 1),
        // What is passed to another shell, or is a program, would be read once more.
        ("bash -c 'echo ", "tea", "'", "bash -c 'echo {{V}}'", 1),
        (
            "python3 -c \"print('",
            "tea",
            "')\"",
            "python3 -c \"print('{{V}}')\"",
            1,
        ),
        ("sed 's/x/", "tea", "/' a", "sed 's/x/{{V}}/' a", 1),
        (
            "(cd x && sh -ec \"a; b ",
            "tea",
            "\")",
            "(cd x && sh -ec \"a; b {{V}}\")",
            1,
        ),
        (
            "jq . a | send --title \"for ",
            "tea",
            "\"",
            "jq . a | send --title \"for ${VALUE_V}\"",
            0,
        ),
        (
            "jq --arg t \"",
            "tea",
            "\" .",
            "jq --arg t \"${VALUE_V}\" .",
            0,
        ),
        (
            "python3 run.py 'for ",
            "tea",
            "'",
            "python3 run.py 'for '\"${VALUE_V}\"",
            0,
        ),
        ("echo $((1 + ", "2", "))", "echo $((1 + {{V}}))", 1),
    ] {
        let seen = of(before, value, after);
        assert_eq!(seen, (expected.to_owned(), n_asked), "{before}");
    }
    // Where a program may run it, it stays what it was.
    for (before, after) in [
        ("eval echo ", ""),
        ("eval \"echo ", "\""),
        ("echo ", " | bash"),
        ("printf 'echo %s' ", " | sh"),
        ("source <(echo ", ")"),
        ("alias x='echo ", "'; x"),
        ("git -c alias.x=\"!echo ", "\" x"),
        ("script -qc \"echo ", "\" /dev/null"),
        ("npx -c 'echo ", "'"),
        ("flock x -c 'echo ", "'"),
        ("$BASH -c 'echo ", "'"),
        ("ssh h echo ", ""),
        ("echo 'echo ", "' > x.sh; sh x.sh"),
        ("f() { eval \"$1\"; }; f \"", "\""),
        ("awk -v x=", " 'BEGIN{system(\"echo \" x)}'"),
        ("node -p \"'", "'\""),
        ("node --eval 'f(", ")'"),
        ("su - x -c 'echo ", "'"),
        ("psql -c \"select '", "'\""),
        ("tar cf x.tar --to-command='echo ", "' o"),
    ] {
        let seen = of(before, "n-10001", after);
        assert_eq!(seen, (format!("{before}{{{{V}}}}{after}"), 1), "{before}");
    }
}

#[test]
fn braces_of_recorded_texts_stay_texts() {
    let recording = recording(
        "Go",
        vec![call(
            "render",
            json!({"template": "Hi {{name}}", "{{k}}": 1}),
            json!({"{{x}}": "abc-123456"}),
        )],
    );
    assert_eq!(findings(&of_one(&recording)), Vec::<String>::new());
}

#[test]
fn texts_with_nothing_in_common_are_one_variable() {
    let one = |title: &str| {
        recording(
            "Go",
            vec![call("add", json!({ "title": title }), json!("ok"))],
        )
    };
    let both = infer(&one("Buy milk"), Some(&one("Call Ann")), "test").expect("a scenario");
    assert_eq!(
        Value::Object(both.scenario.variables),
        json!({"TITLE": "Buy milk"})
    );
}

/// The scenario of two recordings without prompts, of these calls: tool, arguments, result.
fn of_two(one: &[(&str, Value, Value)], other: &[(&str, Value, Value)]) -> Inferred {
    let [one, other] = [one, other].map(|calls| {
        let calls = calls.iter().cloned();
        let calls = calls.map(|(tool, arguments, result)| call(tool, arguments, result));
        recording("", calls.collect())
    });
    infer(&one, Some(&other), "test").expect("a scenario")
}

#[test]
fn a_whole_value_of_a_result_is_found_in_a_longer_text() {
    let mail = |query: &str, name: &str, mail: &str| {
        [
            (
                "customer",
                json!({"q": query}),
                json!({"name": name, "email": mail}),
            ),
            (
                "send",
                json!({"to": mail, "subject": format!("Hi {name}")}),
                json!("ok"),
            ),
        ]
    };
    let both = of_two(
        &mail("D1", "Ann Lee", "ann.lee@ex.org"),
        &mail("D2", "Cara Lee", "cara.lee@ex.org"),
    );
    assert_eq!(json!(both.scenario.variables), json!({"Q": "D1"}));
    assert_eq!(
        json!(both.scenario.steps[1].params),
        json!({"to": "{{customer.email}}", "subject": "Hi {{customer.name}}"})
    );
    assert_eq!(questions(&both), [""; 0]);
}

#[test]
fn one_date_is_one_variable_in_any_order_of_the_calls() {
    let task = |date: &str| {
        [
            ("send", json!({"text": format!("Due {date}.")}), json!("ok")),
            ("add", json!({"due": date, "n": date}), json!("ok")),
            (
                "send",
                json!({"text": format!("Note: Due {date}. It is {date}!")}),
                json!("ok"),
            ),
        ]
    };
    let (mut one, mut other) = (task("2026-03-04"), task("2026-05-06"));
    for _ in 0..one.len() {
        let both = of_two(&one, &other);
        assert_eq!(json!(both.scenario.variables), json!({"DUE": "2026-03-04"}));
        assert!(
            both.scenario
                .to_text()
                .contains("\"Note: Due {{DUE}}. It is {{DUE}}!\"")
        );
        assert_eq!(questions(&both), [""; 0]);
        one.rotate_left(1);
        other.rotate_left(1);
    }
}

#[test]
fn what_only_one_recording_has_is_a_question() {
    let cases = [
        (json!({"o": {"a": 1}}), json!({"o": {"b": 1}}), 2),
        (
            json!({"o": {"title": "Tea"}}),
            json!({"o": {"title": "Ice", "tag": "cold"}}),
            1,
        ),
        (json!({"l": {}}), json!({"l": {"k": "v"}}), 1),
        (
            json!({"l": [{"a": 1}]}),
            json!({"l": [{"a": 1, "b": 2}]}),
            1,
        ),
        (
            json!({"title": "Tea"}),
            json!({"title": "Ice", "tag": "cold"}),
            1,
        ),
        (
            json!({"title": "Tea", "tag": "cold"}),
            json!({"title": "Ice"}),
            1,
        ),
        (json!({"tags": ["a", "b"]}), json!({"tags": ["c"]}), 1),
    ];
    for (one, other, n_questions) in cases {
        let both = of_two(
            &[("add", one.clone(), json!("ok"))],
            &[("add", other, json!("ok"))],
        );
        assert_eq!(
            questions(&both).len(),
            n_questions,
            "{one}: {:?}",
            both.questions
        );
    }
}

#[test]
fn two_variables_for_one_value_are_a_question() {
    let task = |who: &str, slug: &str| [("add", json!({"who": who, "slug": slug}), json!("ok"))];
    let both = of_two(&task("Ann Lee", "ann-lee"), &task("Bob Ray", "bob-ray"));
    assert_eq!(
        questions(&both),
        [
            "the values of `WHO` and `SLUG` have something in common: does one follow from the other?"
        ]
    );
    let both = of_two(&task("Ann Lee", "x1"), &task("Bob Ray", "y2"));
    assert_eq!(questions(&both), [""; 0]);
}

/// The calls of an agent that uses a value in one way. Results are JSON, or texts.
fn uses(way: &str, value: &str) -> Option<Recording> {
    let text = |text: &str| json!({"text": text.replace('%', value)});
    let whole = || call("add", json!({"title": value, "list": "home"}), json!("ok"));
    let send = |pattern: &str| call("send", text(pattern), json!("sent"));
    let get = |result: Value| call("get", json!({"n": 1}), result);
    let calls = match way {
        "whole" => vec![whole()],
        "before" => vec![whole(), send("For %, ok")],
        "after" => vec![send("For %, ok"), whole()],
        "twice" => vec![send("%: see %, and then %."), whole()],
        "nested" => vec![
            call(
                "add",
                json!({"meta": {"k": [value, {"deep": value}]}}),
                json!("ok"),
            ),
            send("a % b %"),
        ],
        "inside" => vec![send("For %, ok")],
        "inside long" => vec![send("Please tell all of them that % is what they wait for")],
        "inside two" => vec![send("For %, ok"), send("It is %")],
        "quoted" | "prompted" => vec![send("Now tell them that % is what they wait for")],
        "result" => vec![
            get(json!({"name": value, "ok": true})),
            call(
                "send",
                json!({"to": value, "text": format!("Hi {value}!")}),
                json!("sent"),
            ),
        ],
        "result later" => vec![
            send("Please tell them that % is what they wait for"),
            get(json!({"name": value})),
        ],
        "list" => vec![
            get(json!([{"name": "x"}, {"name": value}])),
            send("Please tell them that % is what they wait for"),
        ],
        "prose" => vec![
            get(json!(format!("The state is {value} now"))),
            call(
                "send",
                json!({"to": value, "text": format!("Hi {value}!")}),
                json!("sent"),
            ),
        ],
        "echoed" => vec![
            call(
                "add",
                json!({"title": value}),
                json!({"id": "n-4711", "title": value}),
            ),
            get(json!({"title": value})),
            send("You said: %!"),
        ],
        _ => {
            let (result, sent) = way.split_once(" -> ")?;
            let result = result.replace('%', value);
            let result = serde_json::from_str(&result).unwrap_or(json!(result));
            vec![get(result), send(sent)]
        }
    };
    let prompt = match way {
        "quoted" => format!("Send \"{value}\" to them"),
        "prompted" => format!("Send {value} to them"),
        _ => String::new(),
    };
    Some(recording(&prompt, calls))
}

const WAYS: &[&str] = &[
    "whole",
    "before",
    "after",
    "twice",
    "nested",
    "inside",
    "inside long",
    "inside two",
    "quoted",
    "prompted",
    "result",
    "result later",
    "list",
    "prose",
    "echoed",
];

/// How texts of results say a value, and how texts of arguments do.
const RESULTS: &[&str] = &[
    "Saved as %",
    "ID: %",
    "Note saved (%).",
    "OK % done",
    "https://x.example/n/%",
    "**%** created",
    "<%>",
    "Saved.\nid=%\nat home",
    "id,t\n%,x\n",
    "| id | t |\n|---|---|\n| % | x |",
    r#"Done: {"id": "%"}"#,
    r#"{"message": "Saved as %"}"#,
    r#"{"url": "https://x.example/?n=%&x=1"}"#,
];
const SENT: &[&str] = &[
    "%",
    "Here: %",
    "#%",
    "Look at % please, it is new",
    "https://y.example/%/edit",
    "[%](u)",
];

fn told() -> impl Iterator<Item = String> {
    let pairs = RESULTS
        .iter()
        .flat_map(|result| SENT.iter().map(move |sent| (result, sent)));
    pairs.map(|(result, sent)| format!("{result} -> {sent}"))
}

/// Values of one kind: of two recordings, and of a play.
const KINDS: &[[&str; 3]] = &[
    ["2026-03-04", "2026-05-06", "2027-01-02"],
    [
        "2026-03-04T10:00:00Z",
        "2026-05-06T11:30:00Z",
        "2027-07-08T09:15:00Z",
    ],
    ["March 2026", "April 2026", "May 2027"],
    ["/home/ann/q1.txt", "/home/ann/q2.txt", "/srv/x.txt"],
    ["ann@example.org", "bob@example.org", "zed@other.com"],
    ["Ann Lee", "Bob Lee", "Zed Moss"],
    ["Buy milk", "Buy brown bread", "Water the plants"],
    ["12.50", "19.50", "7.25"],
    ["1,234.50", "1,345.50", "7,345.00"],
    ["1.2.3", "1.3.3", "2.0.0"],
    [
        "https://ex.org/a?x=1&y=2",
        "https://ex.org/b?x=1&y=3",
        "http://q.org/",
    ],
    ["SKU-1001-A", "SKU-1002-A", "INV/2026/7"],
    [
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3302",
        "aaaaaaaa-4f89-11d3-9a0c-0305e82c3302",
    ],
    ["Ann", "Anna", "Bea"],
    ["+43 660 123456", "+43 660 654321", "+1 5 5"],
    ["4711", "52", "100"],
];

/// What a player sends: the arguments of each step, until one lacks what it needs.
fn played(scenario: &crate::Scenario, values: [&str; 2], results: &Recording) -> Vec<Value> {
    let mut known: HashMap<String, Value> = HashMap::new();
    for (name, default) in &scenario.variables {
        let text = default.as_str().expect("a text");
        known.insert(name.clone(), text.replace(values[0], values[1]).into());
    }
    let mut sent = Vec::new();
    for (step, call) in scenario.steps.iter().zip(&results.calls) {
        sent.push(filled(&json!(step.params), &known));
        let Outcome::Result(result) = &call.outcome else {
            continue;
        };
        let text = result["content"][0]["text"].as_str().expect("a text");
        let result = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        for (name, rule) in &step.output {
            let path = rule
                .as_str()
                .or_else(|| rule["from"].as_str())
                .unwrap_or("$");
            let found = JsonPath::parse(path)
                .expect("a JSONPath")
                .query(&result)
                .exactly_one();
            let mut found = found.ok().cloned().unwrap_or_default();
            if let Some(regex) = rule["regex"].as_str() {
                let regex = regex::Regex::new(regex).expect("a regular expression");
                match regex.captures(found.as_str().unwrap_or_default()) {
                    Some(captures) => found = captures[1].into(),
                    // The check of the step fails, and the player stops.
                    None => return sent,
                }
            }
            known.insert(format!("{}.{name}", step.id), found);
        }
    }
    sent
}

#[test]
fn any_value_plays_in_any_use_or_is_a_question() {
    let mut wrong = Vec::new();
    let mut n_asked = 0;
    // Each of the many ways to tell a value, with every other kind.
    let told = told().zip((0..2).cycle()).map(|(way, skip)| (way, skip, 2));
    let ways = WAYS.iter().map(|way| ((*way).to_owned(), 0, 1)).chain(told);
    for (way, skip, step) in ways {
        let way = way.as_str();
        for kind in KINDS.iter().skip(skip).step_by(step) {
            let [one, other, third] = kind.map(|value| uses(way, value).expect("a way"));
            let inferred = infer(&one, Some(&other), "test").expect("a scenario");
            assert_eq!(findings(&inferred), Vec::<String>::new(), "{way}: {kind:?}");
            let sent = played(&inferred.scenario, [kind[0], kind[2]], &third);
            for (idx, (sent, call)) in sent.iter().zip(&third.calls).enumerate() {
                let is_asked = inferred
                    .questions
                    .iter()
                    .any(|note| note.step == Some(idx + 1));
                n_asked += usize::from(is_asked);
                if !is_asked && *sent != Value::Object(call.arguments.clone()) {
                    wrong.push(format!(
                        "{way}: {kind:?}: {sent} {:?}",
                        inferred.scenario.variables
                    ));
                }
            }
            // The first recording comes of its own values.
            let again = played(&inferred.scenario, [kind[0]; 2], &one);
            let recorded: Vec<Value> = one.calls.iter().map(|call| json!(call.arguments)).collect();
            assert_eq!(again, recorded, "{way}: {kind:?}");
            let is_plain = [
                "whole", "before", "after", "twice", "nested", "result", "echoed",
            ];
            if is_plain.contains(&way) && !inferred.questions.is_empty() {
                wrong.push(format!(
                    "{way}: {kind:?}: needless {:?}",
                    questions(&inferred)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{n_asked} asked\n{}", wrong.join("\n"));
}

/// Of one recording, what is told in a text is a reference that plays with other values, or a question.
#[test]
fn what_a_text_tells_is_a_copy_or_a_question_of_one_recording() {
    let mut wrong = Vec::new();
    for way in told() {
        for kind in [["n-10001", "n-20002"], ["0ff4ea21", "77c1d2e3"]] {
            let [one, other] = kind.map(|value| uses(&way, value).expect("a way"));
            let inferred = of_one(&one);
            let sent = played(&inferred.scenario, kind, &other);
            let is_right = sent.len() < 2 || sent[1] == json!(other.calls[1].arguments);
            if !is_right && inferred.questions.is_empty() {
                wrong.push(format!("{way}: {sent:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn amounts_and_parts_of_longer_texts_are_copies_or_questions() {
    let order = json!({
        "id": "ORD-8928CA", "total": 4.52, "zip": "67140", "due": "2026-05-23", "at": "2026-05-24T10:30:00Z",
        "time": "10:30", "version": "2.4.1", "name": "Ann Lee", "first": "Ann", "sha": "f5bed10aa11223344",
    });
    let made = |second: Value| {
        let calls = vec![
            call("order", json!({}), order.clone()),
            call(
                "ship",
                json!({"o": "x", "at": "2026-05-25T08:00:00Z"}),
                json!("Order ORD-8928CA ships now, at 2026-05-25T08:00:00Z"),
            ),
            call("use", second, json!("ok")),
        ];
        let inferred = of_one(&recording("Go", calls));
        let step = &inferred.scenario.steps[2];
        (json!(step.params), inferred.questions.len())
    };
    for (given, expected, n_asked) in [
        (json!({"amount": 4.52}), json!({"amount": 4.52}), 1),
        (
            json!({"total": 4.52}),
            json!({"total": "{{order.total}}"}),
            0,
        ),
        (
            json!({"t": "It is 4.52 EUR"}),
            json!({"t": "It is 4.52 EUR"}),
            1,
        ),
        (
            json!({"t": "Order ORD-8928CA"}),
            json!({"t": "Order {{order.id}}"}),
            0,
        ),
        (
            json!({"t": "at 67140 Bonn"}),
            json!({"t": "at 67140 Bonn"}),
            1,
        ),
        (json!({"t": 0.5}), json!({"t": 0.5}), 0),
    ] {
        assert_eq!(made(given.clone()), (expected, n_asked), "{given}");
    }
    for (text, n_asked) in [
        ("It is due on 2026-05-23.", 1),
        ("It came on 2026-05-24 then", 1),
        ("Meet at 10:30.", 1),
        ("Released 2.4.1 now", 1),
        ("v2.4.1", 1),
        ("Dear Ann Lee", 2),
        ("Dear Ann,", 1),
        ("Ann", 1),
        ("Built f5bed10", 1),
        ("f5bed10aa", 1),
        ("It was due on 2026-05-21", 0),
        ("anno 2.4", 0),
        ("It ships on 2026-05-25", 0),
    ] {
        let given = json!({ "text": text });
        assert_eq!(made(given.clone()), (given, n_asked), "{text}");
    }
}

#[test]
fn a_name_in_a_path_and_in_a_text_is_one_value_or_a_question() {
    let task = |name: &str| {
        [(
            "write",
            json!({"path": format!("/w/{name}/src"), "content": format!("# {name}\n\nHello.\n")}),
            json!("ok"),
        )]
    };
    let both = of_two(&task("proj-a"), &task("proj-b"));
    assert_eq!(questions(&both).len(), 1, "{:?}", both.questions);
}

/// The password of a form is known by the name of its field.
#[test]
fn what_is_typed_into_a_field_for_a_password_is_a_secret() {
    let fields = json!([
        {"name": "User", "type": "textbox", "value": "ann-lee-77"},
        {"name": "Password", "type": "textbox", "value": "Winter2026Zr"},
        {"name": "API token", "type": "textbox", "value": "[redacted]"},
    ]);
    let calls = vec![
        call(
            "browser_type",
            json!({"element": "Password textbox", "text": "Winter2026Zq"}),
            json!("typed"),
        ),
        call(
            "browser_fill_form",
            json!({ "fields": fields }),
            json!("filled"),
        ),
    ];
    let inferred = of_one(&recording("Log in", calls));
    let text = inferred.scenario.to_text();
    assert!(!text.contains("Winter"), "{text}");
    assert_eq!(
        json!(inferred.scenario.variables),
        json!({"PASSWORD": "", "PASSWORD_2": "", "API_TOKEN": ""})
    );
    let written = &inferred.scenario.steps[1].params["fields"];
    assert_eq!(written[0]["value"], "ann-lee-77");
    assert_eq!(written[2]["value"], "{{API_TOKEN}}");
}

/// Marks and words stand in titles too: the value is the last thing of its line, behind whatever title.
#[test]
fn words_and_marks_find_the_last_value_of_its_line() {
    for (before, after) in [
        (" (", ")"),
        (" saved: #", ""),
        (" | ", ""),
        (" <", ">"),
        (" as ", ""),
        (" with id ", "."),
        (" created. ID: ", ""),
        (" (id: ", ")"),
        (" saved\nKey: ", ""),
        (": ", ""),
        ("](https://x.ex/n/", ")"),
        (" as ", " (3 notes)"),
        ("\" as ", " (3 notes)"),
        (" as ", " in Home"),
        (" with id ", " in project Home"),
        ("\". ID: ", ". Status: open"),
        (" - https://x.ex/i/", " (open)"),
        (" (id ", ") was saved."),
        (" under key ", " for you"),
        (" to channel ", " at 10:30"),
        ("</b> <a href=\"/n/", "\">"),
        (". Reference: ", ". Thank you!"),
        ("\n- ID: ", ""),
        ("\n\nSaved as ", "\n"),
    ] {
        let text = |title: &str, id: &str| format!("Note {title}{before}{id}{after}");
        let one = recording(
            "",
            vec![
                call(
                    "add",
                    json!({"title": "Tea"}),
                    json!(text("Tea", "n-10001")),
                ),
                call("delete", json!({"id": "n-10001"}), json!("ok")),
            ],
        );
        let inferred = of_one(&one);
        assert_eq!(
            param(&inferred.scenario.steps[1], "id"),
            "{{add.id}}",
            "{before}"
        );
        let regex = inferred.scenario.steps[0].output["id"]["regex"].as_str();
        let regex = regex::Regex::new(regex.expect("a pattern")).expect("a pattern");
        for title in [
            "Tea",
            "Call Bob (mobile)",
            "Fix bug #1212",
            "A | B",
            "a <b> c",
            "Dress as clown",
            "Print with id cards",
            "Check ID: 7",
            "Ask (id: who)",
            "Key: 7",
            "Use as n-10001",
            "Saved as draft",
            "Ask ID: 4",
        ] {
            let other = text(title, "n-20002");
            let found = regex.captures(&other).map(|found| found[1].to_owned());
            assert_eq!(found.as_deref(), Some("n-20002"), "{regex} {other}");
        }
    }
}

#[test]
fn a_part_of_an_amount_is_no_copy_and_words_around_a_copy_are_whole_words() {
    let one = recording(
        "",
        vec![
            call(
                "read",
                json!({}),
                json!("Dear Ann, the invoice number is INV-2026-0042 and total 1,234.50 EUR."),
            ),
            call(
                "pay",
                json!({"invoice": "INV-2026-0042", "total": "1,234.50"}),
                json!("ok"),
            ),
        ],
    );
    let alone = of_one(&one);
    assert_eq!(
        json!(alone.scenario.steps[1].params),
        json!({"invoice": "{{read.invoice}}", "total": "{{read.total}}"})
    );
    let found = |text: &str, name: &str| {
        let regex = alone.scenario.steps[0].output[name]["regex"]
            .as_str()
            .expect("a pattern")
            .to_owned();
        let regex = regex::Regex::new(&regex).expect("a regular expression");
        regex.captures(text).map(|found| found[1].to_owned())
    };
    let text = "Dear Denis Moss, the invoice number is INV/2026/0099 and total 7,345.00 EUR.";
    assert_eq!(found(text, "invoice").as_deref(), Some("INV/2026/0099"));
    assert_eq!(found(text, "total").as_deref(), Some("7,345.00"));
}

#[test]
fn a_text_of_which_a_part_could_be_copied_is_a_question_as_a_whole() {
    for (result, value) in [
        ("Call +43 660 1234567 now", "+43 660 1234567"),
        (
            "Please pay to AT61 1904 3002 3457 3201 soon",
            "AT61 1904 3002 3457 3201",
        ),
        (
            "See https://ex.org/i/12345?x=1 for it",
            "https://ex.org/i/12345?x=1",
        ),
    ] {
        let one = recording(
            "",
            vec![
                call("get", json!({}), json!(result)),
                call("use", json!({"p": value}), json!("ok")),
            ],
        );
        let alone = of_one(&one);
        assert_eq!(*param(&alone.scenario.steps[1], "p"), json!(value));
        assert_eq!(
            questions(&alone),
            [format!(
                "`p` is `{value}`, which is in `$` of `get`: is it copied from there?"
            )]
        );
    }
}

#[test]
fn a_copy_under_another_name_is_a_question() {
    let asked = |value: &Value, parameter: Value| {
        let calls = vec![
            call("get", json!({}), json!({"f": value, "g": "zzz"})),
            call("use", json!({ "p": parameter }), json!("ok")),
        ];
        of_one(&recording("", calls)).questions
    };
    for value in [
        json!("2026-03-04"),
        json!("Ann Lee"),
        json!("48211"),
        json!("14:30"),
        json!(71720),
        json!("HGCEBE"),
    ] {
        let shown = as_text(&value);
        let whole = format!("`p` is `{shown}`, as `$.f` of `get` was: is it copied from there?");
        assert_eq!(asked(&value, value.clone())[0].text, whole);
        assert_eq!(asked(&value, json!([value]))[0].text, whole);
    }
    let inside = "`p` holds `HGCEBE`, as `$.f` of `get` was: is it copied from there?";
    let found = asked(&json!("HGCEBE"), json!("Held (HGCEBE)"));
    assert_eq!(found[0].text, inside);
    // They stand everywhere.
    for value in [json!(10_000), json!(150_000), json!("EUR"), json!("OPEN")] {
        assert_eq!(asked(&value, value.clone()), []);
    }
}

/// The beginning of an id in a command.
#[test]
fn a_short_id_of_a_container_is_a_question() {
    let id = "4f6c1d2e3b4a5968778695a4b3c2d1e04f6c1d2e3b4a5968778695a4b3c2d1e0";
    let shell = |command: &str, stdout: String| Call {
        server: None,
        outcome: Outcome::BuiltIn(json!({"stdout": stdout, "stderr": "", "exit_code": 0})),
        ..call("claude__bash", json!({ "command": command }), json!(null))
    };
    let one = of_one(&recording(
        "Run the db",
        vec![
            shell("docker run -d postgres", format!("{id}\n")),
            shell("docker rm -f 4f6c1d2e3b4a", String::new()),
        ],
    ));
    assert_eq!(
        questions(&one),
        ["`command` is `4f6c1d2e3b4a`, which is in `$.stdout` of `bash`: is it copied from there?"]
    );
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
fn items_of_a_list_one_by_one_are_questions() {
    let day = |label: &str, count: usize| {
        let ids: Vec<String> = (1..=count)
            .map(|idx| format!("{label}-{idx}1111"))
            .collect();
        let items: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
        let mut calls = vec![("list", json!({ "label": label }), json!({ "items": items }))];
        calls.extend(
            ids.iter()
                .map(|id| ("close", json!({ "id": id }), json!("ok"))),
        );
        calls
    };
    let asked =
        "`id` was copied from item 2 of 2 in the result of `list`: will it stand there again?";
    for count in [2, 3] {
        let both = of_two(&day("bug", 2), &day("doc", count));
        assert_eq!(questions(&both), [asked]);
    }
    assert_eq!(questions(&of_two(&day("bug", 1), &day("doc", 1))), [""; 0]);
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
fn what_fails_in_the_second_recording_only_is_a_question() {
    let one = |name: &str, second: Call| {
        recording(
            "Do it",
            vec![call("add", json!({ "name": name }), json!("added")), second],
        )
    };
    let first = one("Tea", call("sync", json!({}), json!("done")));
    let second = one("Coffee", failed("sync", json!({}), "busy"));
    let inferred = infer(&first, Some(&second), "test").expect("a scenario");
    let expected = "it failed in the second recording only (busy): may it fail?";
    assert_eq!(questions(&inferred), [expected]);
}

#[test]
fn parts_and_lists_of_results_are_questions() {
    for (result, arguments, expected) in [
        (
            json!({"due": "2026-03-04T00:00:00Z"}),
            json!({"on": "2026-03-04"}),
            "`on` is `2026-03-04`, which is in `$.due` of `get`: is it copied from there?",
        ),
        (
            json!({"items": [{"id": "x-10017"}, {"id": "x-10025"}]}),
            json!({"ids": ["x-10017", "x-10025"]}),
            "all 2 items of `ids` were copied from the result of `get`: are more of them meant if there are more?",
        ),
        (
            json!("a1b2c3d4e5\nf6e5d4c3b2"),
            json!({"text": "see f6e5d4c3b2 there"}),
            "`text` is `f6e5d4c3b2`, which is in `$` of `get`: is it copied from there?",
        ),
        (
            json!("docs/report-2026.md\ndocs/notes.md"),
            json!({"path": "docs/report-2026.md"}),
            "`path` was copied from the first of 2 lines in the result of `get`: will it stand there again?",
        ),
    ] {
        let recording = recording(
            "Do it",
            vec![
                call("get", json!({}), result),
                call("use", arguments, json!("ok")),
            ],
        );
        let inferred = of_one(&recording);
        let asked = questions(&inferred);
        assert!(asked.contains(&expected), "{expected}: {asked:#?}");
    }
    // The folder that a path is in.
    let made = vec![
        call("make", json!({}), json!("/tmp/tmp.AbCdEf1234")),
        call(
            "put",
            json!({"path": "/tmp/tmp.AbCdEf1234/x.txt"}),
            json!("ok"),
        ),
    ];
    let inferred = of_one(&recording("Do it", made));
    let path = param(&inferred.scenario.steps[1], "path");
    assert_eq!(path, "{{make.path}}/x.txt");
}

#[test]
fn two_times_of_one_day_are_related() {
    let one = |name: &str, day: &str| {
        let (start, end) = (format!("{day}T10:00"), format!("{day}T11:00"));
        let arguments = json!({"name": name, "start": start, "end": end});
        recording("Do it", vec![call("add_event", arguments, json!("ok"))])
    };
    let inferred = infer(
        &one("Tea", "2026-03-04"),
        Some(&one("Milk", "2026-05-06")),
        "test",
    );
    let inferred = inferred.expect("a scenario");
    let expected =
        "the values of `START` and `END` have something in common: does one follow from the other?";
    assert_eq!(questions(&inferred), [expected]);
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
fn parallel_calls_are_steps_in_the_order_in_which_they_began() {
    let at = |k: u32, started: u64, ended: u64| Call {
        started: Some(std::time::Duration::from_millis(started)),
        duration: Some(std::time::Duration::from_millis(ended - started)),
        ..call("w", json!({ "k": k }), json!(k))
    };
    let calls = vec![at(2, 1, 100), at(3, 2, 300), at(1, 0, 600), at(4, 700, 800)];
    // A recording has its lines as the calls ended.
    let lines = recording("", calls).to_cassette().concat();
    let text = format!("{{\"cassette\": 1, \"server\": \"demo\"}}\n{lines}");
    let (cassette, found) = Cassette::read(&SourceFile::new("a.cassette.jsonl", text));
    let cassette = cassette.unwrap_or_else(|| panic!("{found:?}"));
    let inferred = of_one(&cassette.recording());
    let order: Vec<&Value> = inferred
        .scenario
        .steps
        .iter()
        .map(|step| param(step, "k"))
        .collect();
    assert_eq!(order, [1, 2, 3, 4]);
}

#[test]
fn a_number_or_an_id_is_found_in_texts_too() {
    let task = |count: u32, id: &str, is_open: bool| {
        let url = format!("https://x.example/n/{id}/edit");
        [
            (
                "send",
                json!({"text": format!("{count} pieces")}),
                json!("ok"),
            ),
            (
                "add",
                json!({"count": count, "day": "2026-03-05"}),
                json!({"id": id, "open": is_open}),
            ),
            ("open", json!({"url": url, "flag": is_open}), json!("ok")),
        ]
    };
    let both = of_two(
        &task(5, "0b54f0c2-1111-4222-8333-444455556666", true),
        &task(7, "9c54f0c2-aaaa-4bbb-8ccc-444455557777", false),
    );
    let steps = &both.scenario.steps;
    assert_eq!(*param(&steps[0], "text"), json!("{{COUNT}} pieces"));
    assert_eq!(*param(&steps[1], "count"), json!("{{COUNT}}"));
    assert_eq!(*param(&steps[1], "day"), json!("2026-03-05"));
    assert_eq!(
        *param(&steps[2], "url"),
        json!("https://x.example/n/{{add.id}}/edit")
    );
    assert_eq!(both.scenario.variables["COUNT"], 5);
    // Two values of a boolean prove nothing, so it is asked for.
    assert_eq!(questions(&both).len(), 1, "{:?}", both.questions);
}

#[test]
fn a_value_of_the_prompt_is_one_variable_or_a_question() {
    let send = json!({
        "to": "Ann Lee", "subject": "quarterly numbers", "order": 48211, "code": "48211",
        "body": "Dear Ann Lee, the quarterly numbers are fine",
    });
    let prompt = "Send Ann Lee the report about quarterly numbers of order 48211";
    let inferred = of_one(&recording(prompt, vec![call("send", send, json!("ok"))]));
    assert_eq!(
        *param(&inferred.scenario.steps[0], "body"),
        json!("Dear {{TO}}, the {{SUBJECT}} are fine")
    );
    assert_eq!(
        questions(&inferred),
        [
            "the values of `ORDER` and `CODE` have something in common: does one follow from the other?"
        ]
    );
}

#[test]
fn what_differs_inside_of_a_command_is_asked_for() {
    let task = |version: &str, stage: &str| {
        let command = format!("git tag v{version} && deploy {version} --env {stage}");
        [
            ("run", json!({"command": command}), json!("ok")),
            (
                "note",
                json!({"text": format!("Deployed {version} to {stage}")}),
                json!("ok"),
            ),
        ]
    };
    let both = of_two(&task("1.2.3", "staging"), &task("1.3.0", "prod"));
    let command = param(&both.scenario.steps[0], "command").as_str();
    assert!(
        command.is_some_and(|command| command.starts_with("git tag {{")),
        "{command:?}"
    );
    let steps: Vec<Option<usize>> = both.questions.iter().map(|note| note.step).collect();
    assert_eq!(steps, [Some(1), Some(2)], "{:?}", both.questions);
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
            outcome: Outcome::BuiltIn(result),
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

/// What an argument is made of.
#[derive(Debug, Clone)]
enum Made {
    /// The id that an earlier call gave, alone or inside a text.
    Copied { from: usize, inside: bool },
    /// A text in quotes in the prompt.
    Prompt(usize),
    /// A secret.
    Secret,
    /// A value that earlier results hold too, and that says nothing.
    Coincidence(Value),
    /// A value that nobody knew before.
    Fresh(String),
}

const KEYS: &[&str] = &["first", "second", "third"];
const SECRET: &str = "hunter2-hunter2";
const PHRASES: &[&str] = &["Buy two loaves", "release 2026", "north-wing"];

fn made() -> impl Strategy<Value = Made> {
    let coincidence = prop_oneof![
        Just(json!(1)),
        Just(json!(true)),
        Just(json!("")),
        Just(json!("open")),
        Just(json!(null)),
        Just(json!(42)),
        Just(json!("{{x}} }} {{")),
    ];
    prop_oneof![
        3 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(at, inside)| Made::Copied { from: at.index(64), inside }),
        2 => (0..PHRASES.len()).prop_map(Made::Prompt),
        1 => Just(Made::Secret),
        3 => coincidence.prop_map(Made::Coincidence),
        1 => "[a-z]{3,6}-[0-9]{5}".prop_map(Made::Fresh),
    ]
}

fn id_of(step: usize, salt: u32) -> String {
    format!("rec_{}x{step:02}", u64::from(salt) + 100_000)
}

fn session(plan: &[Vec<Made>], salt: u32) -> Recording {
    let mut calls = Vec::new();
    for (step, arguments) in plan.iter().enumerate() {
        let mut written = Map::new();
        for (key, made) in KEYS.iter().zip(arguments) {
            let value = match made {
                Made::Copied { .. } if step == 0 => json!("none"),
                Made::Copied {
                    from,
                    inside: false,
                } => json!(id_of(from % step, salt)),
                Made::Copied { from, inside: true } => {
                    json!(format!("see {} there", id_of(from % step, salt)))
                }
                Made::Prompt(phrase) => json!(PHRASES[*phrase]),
                Made::Secret => {
                    written.insert("password".to_owned(), json!(SECRET));
                    continue;
                }
                Made::Coincidence(value) => value.clone(),
                Made::Fresh(text) => json!(text),
            };
            written.insert((*key).to_owned(), value);
        }
        let result = json!({
            "n": 1, "yes": true, "empty": "", "state": "open", "size": 42, "none": null,
            "items": [{"id": id_of(step, salt), "deep": [1, "open"]}], "again": {"of": {"it": id_of(step, salt)}},
        });
        calls.push(call("act", Value::Object(written), result));
    }
    recording(
        "Take 'Buy two loaves', \"release 2026\" and `north-wing`.",
        calls,
    )
}

/// What a scenario's player makes of a template.
fn filled(value: &Value, known: &HashMap<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            if let Some(value) = text
                .strip_prefix("{{")
                .and_then(|rest| known.get(rest.strip_suffix("}}")?))
            {
                return value.clone();
            }
            let mut text = text.clone();
            for (name, value) in known {
                text = text.replace(
                    &format!("{{{{{name}}}}}"),
                    value.as_str().unwrap_or_default(),
                );
            }
            text.replace(r#"{{"{{"}}"#, "{{").into()
        }
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), filled(value, known)))
            .collect(),
        Value::Array(items) => items.iter().map(|item| filled(item, known)).collect(),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exactly_what_was_made_is_found(
        plan in prop::collection::vec(prop::collection::vec(made(), 0..=3), 1..7),
        salt: u32,
        other_salt: u32,
        with_second: bool,
    ) {
        let first = session(&plan, salt);
        let second = session(&plan, other_salt);
        let inferred = infer(&first, with_second.then_some(&second), "test").expect("a scenario");
        prop_assert_eq!(findings(&inferred), Vec::<String>::new());
        let scenario = &inferred.scenario;
        prop_assert!(!scenario.to_text().contains(SECRET));
        prop_assert_eq!(scenario.steps.len(), plan.len());
        let mut known: HashMap<String, Value> = HashMap::new();
        for (name, default) in &scenario.variables {
            known.insert(name.clone(), if default == "" { json!(SECRET) } else { default.clone() });
        }
        for (step, arguments) in plan.iter().enumerate() {
            let written = &scenario.steps[step];
            // The same arguments come of it.
            prop_assert_eq!(
                filled(&Value::Object(written.params.clone()), &known),
                Value::Object(first.calls[step].arguments.clone())
            );
            for (key, made) in KEYS.iter().zip(arguments) {
                let template = param(written, key);
                let text = template.as_str().unwrap_or_default();
                match made {
                    Made::Copied { .. } if step == 0 => prop_assert_eq!(text, "none"),
                    Made::Copied { from, .. } => {
                        let id = &scenario.steps[from % step].id;
                        prop_assert!(text.contains(&format!("{{{{{id}.")), "a missed copy: {}", text);
                    }
                    Made::Prompt(_) => prop_assert!(text.starts_with("{{") && !text.contains('.'), "{}", text),
                    Made::Secret => prop_assert_eq!(param(written, "password"), "{{PASSWORD}}"),
                    Made::Coincidence(value) => {
                        prop_assert_eq!(template, &crate::scenario::verbatim(value), "a coincidence was taken");
                    }
                    Made::Fresh(fresh) => {
                        // The same text in two calls is still the agent's own.
                        prop_assert_eq!(text, fresh, "a needless variable");
                    }
                }
            }
            let result = match &first.calls[step].outcome {
                Outcome::Result(result) => result["content"][0]["text"].as_str().unwrap_or_default(),
                _ => "",
            };
            let result: Value = serde_json::from_str(result).expect("JSON");
            for (name, path) in &written.output {
                let path = JsonPath::parse(path.as_str().expect("a path")).expect("a JSONPath");
                prop_assert_eq!(path.to_string(), "$.items[0].id", "the shortest");
                let value = path.query(&result).exactly_one().expect("one value");
                known.insert(format!("{}.{name}", written.id), value.clone());
            }
        }
    }

    #[test]
    fn any_recording_becomes_a_valid_scenario(
        calls in prop::collection::vec(("[a-zA-Z_ ./-]{0,12}", any_json(), any_json()), 1..5),
        prompt in ".{0,40}",
    ) {
        let calls: Vec<Call> = calls.into_iter().map(|(tool, arguments, result)| {
            let tool = format!("t{tool}");
            call(&tool, json!({ "value": arguments, "uid": "1_2" }), result)
        }).collect();
        let one = recording(&prompt, calls);
        let inferred = of_one(&one);
        prop_assert_eq!(findings(&inferred), Vec::<String>::new());
        let mut other = one.clone();
        other.calls.reverse();
        let both = infer(&one, Some(&other), "test").expect("a scenario");
        prop_assert_eq!(findings(&both), Vec::<String>::new());
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z{}\"'\\\\$.é ]{0,10}",
        "[a-z0-9-]{6,12}",
        Just("{{a.b}}".to_owned()),
        Just("uid=1_2 button \"x\"".to_owned())
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-100_000_i64..100_000).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z{}'\" .]{1,6}", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Results, later arguments, and how many questions there are at least: what stays as it was recorded is asked about.
#[test]
fn what_stays_as_it_was_recorded_is_asked_about() {
    let silent: Vec<String> = [
        // Parts of longer words.
        (json!({"id": "inv_12345678"}), "data/inv_12345678.csv"),
        (json!({"id": "OPS-4711"}), "fix/OPS-4711-cart"),
        (json!({"number": 8119}), "fix/issue-8119"),
        (json!({"id": "n-10001"}), "backup_n-10001"),
        // Rests of longer values.
        (json!("Opened acme/shop#1234"), "see acme/shop#1234"),
        (
            json!("Listening on 10.0.0.7:8080"),
            "http://10.0.0.7:8080/health",
        ),
        (
            json!("Next slot: 2026-03-04T10:30:00Z"),
            "https://cal.ex/2026-03-04T10:30:00Z",
        ),
        (json!({"count": 17}), "There are 17 open tickets"),
        (json!("Found 123 tickets"), "123"),
        // Texts.
        (
            json!("Subject: Your invoice no. 9840\nFrom: Ann Lee"),
            "Re: Your invoice no. 9840",
        ),
        (
            json!("Subject: Your invoice no. 9840\nFrom: Ann Lee"),
            "Hello Ann Lee",
        ),
        (json!({"v": "v1.2.4"}), "Release 1.2.4"),
        // In another spelling.
        (
            json!({"title": "Fix 7 carts"}),
            "https://x.ex/?q=Fix%207%20carts",
        ),
        (
            json!({"title": "Fix 7 carts"}),
            "https://x.ex/?q=Fix+7+carts",
        ),
    ]
    .into_iter()
    .filter(|(result, text)| {
        let calls = vec![
            call("make", json!({"q": "s"}), result.clone()),
            call("use", json!({"x": text}), json!("ok")),
        ];
        of_one(&recording("", calls)).questions.is_empty()
    })
    .map(|(result, text)| format!("{result} {text}"))
    .collect();
    assert_eq!(silent, Vec::<String>::new());
}

/// Where the user's words end in another line, the first value behind them is meant, as in a list of hits.
#[test]
fn the_first_of_several_hits_is_taken() {
    let text = "Found 1 note for \"milk\":\n\nID: n-10001\nTitle: Buy milk\n";
    let calls = vec![
        call("search", json!({"query": "milk"}), json!(text)),
        call("del", json!({"id": "n-10001"}), json!("ok")),
    ];
    let inferred = of_one(&recording("", calls));
    let regex = inferred.scenario.steps[0].output["id"]["regex"].as_str();
    let regex = regex::Regex::new(regex.expect("a pattern")).expect("a pattern");
    let hits = "Found 2 notes for \"tea\":\n\nID: n-50005\nTitle: Buy tea\n\nID: n-60006\nTitle: Ice tea\n";
    assert_eq!(&regex.captures(hits).expect("a match")[1], "n-50005");
}

#[test]
fn an_id_of_a_text_that_is_sent_as_a_number_is_a_question() {
    let calls = vec![
        call(
            "search",
            json!({"q": "late"}),
            json!("1. #70412 - Parcel is late (open)"),
        ),
        call("close", json!({"ticket": 70412}), json!("ok")),
    ];
    assert_eq!(of_one(&recording("", calls)).questions.len(), 1);
}

#[test]
fn what_the_agent_wrote_by_itself_is_no_question() {
    for (result, text) in [
        (json!({"created": "2026-05-25"}), "on 2026-05-26"),
        (json!({"state": "open"}), "is open now"),
        (
            json!({"html_url": "https://x.ex/shop/issues"}),
            "see the issues of the shop",
        ),
        (json!({"state": "done", "n": 3}), "3 of 5"),
    ] {
        let calls = vec![
            call("make", json!({"q": "Daily report 2026"}), result.clone()),
            call(
                "use",
                json!({"x": text, "y": "Daily report 2026"}),
                json!("ok"),
            ),
        ];
        let inferred = of_one(&recording("", calls));
        assert_eq!(questions(&inferred), Vec::<&str>::new(), "{result} {text}");
    }
}

#[test]
fn a_word_of_the_prompt_in_a_value_of_a_result_is_a_question() {
    let calls = vec![
        call(
            "backup",
            json!({"app": "shop"}),
            json!({"new": "shop-96d4cf56d"}),
        ),
        call("post", json!({"text": "Kept shop-96d4cf56d"}), json!("ok")),
        call(
            "write",
            json!({"path": "posts/spring-sale.md"}),
            json!("ok"),
        ),
    ];
    let prompt = "Make a backup of \"shop\", then write \"Spring Sale\"";
    let inferred = of_one(&recording(prompt, calls));
    let text = param(&inferred.scenario.steps[1], "text");
    let is_asked = |step: usize| {
        inferred
            .questions
            .iter()
            .any(|note| note.step == Some(step))
    };
    assert!(
        text == "Kept {{backup.new}}" || is_asked(2),
        "{text} {:?}",
        inferred.questions
    );
    assert!(is_asked(3), "{:?}", inferred.questions);
}
