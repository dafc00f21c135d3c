//! Questions of real servers, answered by the scenario, in both eras.

use super::*;

/// Writes `scenario.json` with these answers and this one step, and plays it.
#[track_caller]
fn play_with(scratch: &Scratch, answers: &Value, step: &Value, exit: i32) -> Played {
    let mut step = step.clone();
    step["step"] = json!(1);
    let scenario = json!({
        "version": "2.1",
        "metadata": {"name": "Questions"},
        "variables": {"WHO": "Ada"},
        "answers": answers,
        "steps": [step],
    });
    scratch
        .write("scenario.json", format!("{scenario:#}"))
        .expect("writable");
    let args = ["scenario.json", "--include-results", "true"];
    program::play(scratch, &args, exit)
}

/// The events of requests in the only trace: each is one type and its data.
fn exchanges(scratch: &Scratch) -> Vec<(String, Value)> {
    program::trace_lines(&program::only_trace(scratch))
        .into_iter()
        .filter_map(|line| {
            let kind = line["type"].as_str()?.strip_prefix("request_")?.to_owned();
            Some((kind, line["data"].clone()))
        })
        .collect()
}

fn python(protocol: &str) -> Option<Value> {
    let python = peers::require("venv/bin/python")?;
    Some(
        json!({"command": python, "args": [script("python_sdk.py"), "stdio"], "protocol": protocol}),
    )
}

fn book() -> Value {
    json!({"tool": "mcp__peer__book", "params": {"day": "Monday"}})
}

fn two_questions(entry: &Value) {
    let mut scratch = with_server(entry);
    patient(&mut scratch);
    let answers = json!({"elicitation": [
        {"match": "how many", "action": "accept"},
        {"match": {"equals": "In whose name?"}, "content": {"name": "{{WHO}}"}},
    ]});
    let played = play_with(&scratch, &answers, &book(), 0);
    let booked = json!({"day": "Monday", "guests": 2, "name": "Ada"});
    assert_eq!(played.step(1)["result"], booked);
    assert!(!played.stderr.contains("C-ANSWER"), "{}", played.stderr);
    let exchanges = exchanges(&scratch);
    let kinds: Vec<&str> = exchanges.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["received", "answered", "received", "answered"]);
    let asked = &exchanges[0].1;
    assert_eq!(asked["server"], "peer");
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(
        asked["params"]["message"],
        "A table on Monday: for how many?"
    );
    let defaults = json!({"action": "accept", "content": {"guests": 2, "outside": false}});
    assert_eq!(exchanges[1].1["result"], defaults);
    assert_eq!(exchanges[3].1["answer"], "/answers/elicitation/1");
}

#[test]
fn python_asks_twice_in_the_legacy_era() {
    let Some(entry) = python("legacy") else {
        return;
    };
    two_questions(&entry);
}

#[test]
fn python_asks_twice_in_the_modern_era() {
    let Some(entry) = python("modern") else {
        return;
    };
    two_questions(&entry);
}

#[test]
fn python_asks_twice_over_http_in_both_eras() {
    let Some(python) = peers::require("venv/bin/python") else {
        return;
    };
    let script = script("python_sdk.py");
    let script = script.to_str().expect("a path of UTF-8");
    let server = HttpServer::start(&python, &[], &[script, "http"]);
    for protocol in ["legacy", "modern"] {
        two_questions(&json!({"url": server.url, "protocol": protocol}));
    }
}

fn refused(protocol: &str) {
    let Some(entry) = python(protocol) else {
        return;
    };
    let mut scratch = with_server(&entry);
    patient(&mut scratch);
    let answers = json!({"elicitation": [
        {"match": "how many", "action": "decline"},
        {"match": "How old", "action": "accept"},
    ]});
    let played = play_with(&scratch, &answers, &book(), 1);
    let step = played.step(1);
    assert_eq!(step["code"], "C-ANSWER-02", "{step:#}");
    assert_eq!(
        step["error"],
        "server `peer` asked `In whose name?`, and no entry of `answers` matches"
    );
    let entry = r#"{ "content": { "name": … } }"#;
    assert!(played.stderr.contains(entry), "{}", played.stderr);
    let exchanges = exchanges(&scratch);
    assert_eq!(exchanges[1].1["result"], json!({"action": "decline"}));
    let refusal = exchanges[3].1["error"].as_str().expect("a refusal");
    assert!(
        refusal.contains("no entry of `answers` matches"),
        "{refusal}"
    );
}

#[test]
fn a_question_without_an_answer_fails_the_step_in_the_legacy_era() {
    refused("legacy");
}

#[test]
fn a_question_without_an_answer_fails_the_step_in_the_modern_era() {
    refused("modern");
}

#[test]
fn a_server_that_needs_answers_says_so_to_a_scenario_without() {
    let Some(entry) = python("auto") else { return };
    let mut scratch = with_server(&entry);
    patient(&mut scratch);
    let played = play(&scratch, &json!([book()]), 1);
    assert_eq!(played.step(1)["code"], "C-RUN-02");
    let proposal = r#""answers": { "elicitation": [ { "action": "accept" } ] }"#;
    assert!(played.stderr.contains(proposal), "{}", played.stderr);
}

fn everything() -> Option<Value> {
    Some(json!({"command": npm("mcp-server-everything")?, "args": ["stdio"]}))
}

/// It lists the tool only for clients that can be asked.
fn trigger() -> Value {
    json!({"tool": "mcp__peer__trigger-elicitation-request", "params": {}})
}

#[test]
fn server_everything_gets_the_form_it_asks_for() {
    let Some(entry) = everything() else { return };
    let mut scratch = with_server(&entry);
    patient(&mut scratch);
    let content = json!({
        "name": "{{WHO}}", "check": true, "integer": 7,
        "untitledSingleSelectEnum": "Monica", "untitledMultipleSelectEnum": ["Guitar", "Piano"],
    });
    let answers = json!({"elicitation": [
        {"match": {"matches": "inputs?", "server": "peer"}, "content": content},
    ]});
    let played = play_with(&scratch, &answers, &trigger(), 0);
    let text = played.step(1)["text"].as_str().expect("a text");
    let raw = text.split_once("Raw result: ").expect("what it got").1;
    let raw: Value = serde_json::from_str(raw).expect("JSON");
    let mut sent = content;
    sent["name"] = json!("Ada");
    assert_eq!(raw, json!({"action": "accept", "content": sent}));
}

#[test]
fn an_answer_that_does_not_fit_the_form_is_not_sent() {
    let Some(entry) = everything() else { return };
    for (answer, reason) in [
        (
            json!({"action": "accept"}),
            "the field `name` is required, and it has no default",
        ),
        (
            json!({"content": {"name": "Ada", "integer": "7"}}),
            "`integer`: \"7\" is not of type \"integer\"",
        ),
        (
            json!({"content": {"name": "Ada", "intger": 7}}),
            "the form has no field `intger`; did you mean `integer`?",
        ),
    ] {
        let mut scratch = with_server(&entry);
        patient(&mut scratch);
        let played = play_with(&scratch, &json!({"elicitation": [answer]}), &trigger(), 1);
        let step = played.step(1);
        assert_eq!(step["code"], "C-ANSWER-03", "{step:#}");
        let error = step["error"].as_str().expect("an error");
        assert!(error.ends_with(reason), "{error}");
    }
}

#[test]
fn an_answer_that_nobody_asked_for_is_told() {
    let Some(entry) = everything() else { return };
    let scratch = with_server(&entry);
    let step = json!({"tool": "mcp__peer__echo", "params": {"message": "hi"}});
    let answers = json!({
        "roots": ["."], "sampling": [{"reply": "x"}], "elicitation": [{"action": "accept"}],
    });
    let played = play_with(&scratch, &answers, &step, 0);
    for place in [
        "answer 1 of `answers.sampling`",
        "answer 1 of `answers.elicitation`",
    ] {
        let told = format!("C-ANSWER-04: {place} was never requested by a server");
        assert!(played.stderr.contains(&told), "{}", played.stderr);
    }
}

/// Plays one call of a tool that asks the model and for the roots, and compares what it got and what is recorded.
#[track_caller]
pub(super) fn consults(entry: &Value, tool: &str) {
    let mut scratch = with_server(entry);
    patient(&mut scratch);
    let answers = json!({
        "roots": [".", {"uri": "/data/{{WHO}}", "name": "data"}],
        "sampling": [
            {"match": {"contains": "Name a", "model": "tiny"}, "reply": "never"},
            {"match": {"equals": "Name a bird."}, "reply": {"content": "{{WHO}}'s wren", "model": "m-1"}},
        ],
    });
    let step = json!({"tool": format!("mcp__peer__{tool}"), "params": {"topic": "bird"}});
    let played = play_with(&scratch, &answers, &step, 0);
    let here = scratch.work().canonicalize().expect("a path");
    let roots = json!([format!("file://{}", here.display()), "file:///data/Ada"]);
    let text = "Ada's wren";
    let expected = json!({"text": text, "model": "m-1", "roots": roots});
    assert_eq!(played.step(1)["result"], expected, "{}", played.stderr);
    let mut given: Vec<Value> = exchanges(&scratch)
        .iter()
        .filter_map(|(_, data)| data.get("answer").cloned())
        .collect();
    given.sort_by_key(Value::to_string);
    assert_eq!(given, ["/answers/roots", "/answers/sampling/1"]);
}

#[test]
fn python_consults_a_model_and_asks_for_roots_in_both_eras() {
    let Some(python) = peers::require("venv/bin/python") else {
        return;
    };
    let script = script("python_sdk.py");
    let server = HttpServer::start(
        &python,
        &[],
        &[script.to_str().expect("a path of UTF-8"), "http"],
    );
    for (protocol, tool) in [
        ("legacy", "consult"),
        ("modern", "consult"),
        ("legacy", "consult_directly"),
        // It is started again for the older protocol.
        ("auto", "consult_directly"),
    ] {
        consults(
            &json!({"command": python, "args": [script, "stdio"], "protocol": protocol}),
            tool,
        );
        consults(&json!({"url": server.url, "protocol": protocol}), tool);
    }
}

#[test]
fn a_reply_that_uses_tools_is_sent_as_it_is_written() {
    for protocol in ["legacy", "modern"] {
        let Some(entry) = python(protocol) else {
            return;
        };
        let mut scratch = with_server(&entry);
        patient(&mut scratch);
        let tool_use =
            json!({"type": "tool_use", "id": "u1", "name": "look_up", "input": {"who": "{{WHO}}"}});
        let reply = json!({"content": [tool_use], "stopReason": "toolUse"});
        let answers = json!({"sampling": [{"reply": reply}]});
        let step = json!({"tool": "mcp__peer__consult_with_tools", "params": {"topic": "bird"}});
        let played = play_with(&scratch, &answers, &step, 0);
        let expected = json!({"stop": "toolUse", "uses": [["look_up", {"who": "Ada"}]]});
        assert_eq!(played.step(1)["result"], expected, "{}", played.stderr);
    }
}

#[test]
fn a_model_and_roots_without_answers_are_told_with_the_entries_that_would_answer() {
    for protocol in ["legacy", "modern"] {
        let Some(entry) = python(protocol) else {
            return;
        };
        let mut scratch = with_server(&entry);
        patient(&mut scratch);
        let step = json!({"tool": "mcp__peer__consult", "params": {"topic": "bird"}});
        let answers = json!({"roots": [], "sampling": [{"match": "Name a fish", "reply": "carp"}]});
        let played = play_with(&scratch, &answers, &step, 1);
        let error = "server `peer` asked a model `Name a bird.`, and no entry of `answers` matches";
        assert_eq!(played.step(1)["code"], "C-ANSWER-02", "{}", played.stderr);
        assert_eq!(played.step(1)["error"], error);
        let entry = r#""sampling": [ { "reply": "…" } ]"#;
        assert!(played.stderr.contains(entry), "{}", played.stderr);

        let played = play_with(
            &scratch,
            &json!({"sampling": [{"reply": "wren"}]}),
            &step,
            1,
        );
        let entry = r#""answers": { "roots": [ "." ] }"#;
        assert!(played.stderr.contains(entry), "{}", played.stderr);
        let played = play_with(&scratch, &json!({"roots": []}), &step, 1);
        let entry = r#""answers": { "sampling": [ { "reply": "…" } ] }"#;
        assert!(played.stderr.contains(entry), "{}", played.stderr);
    }
}

/// It lists both tools only for clients that can be asked.
fn everything_samples_and_lists_roots(entry: &Value) {
    let mut scratch = with_server(entry);
    patient(&mut scratch);
    let answers = json!({
        "roots": [{"uri": "src", "name": "Sources"}],
        "sampling": [
            {"match": "goodbye", "reply": "never"},
            {"match": {"matches": "context: hello$"}, "reply": "hello {{WHO}}"},
        ],
    });
    let sample =
        json!({"tool": "mcp__peer__trigger-sampling-request", "params": {"prompt": "hello"}});
    let played = play_with(&scratch, &answers, &sample, 0);
    let text = played.step(1)["result"].as_str().expect("a text");
    let raw = text.split_once('\n').expect("what it got").1;
    let raw: Value = serde_json::from_str(raw).expect("JSON");
    let content = json!({"type": "text", "text": "hello Ada"});
    let sent =
        json!({"role": "assistant", "content": content, "model": "mock", "stopReason": "endTurn"});
    assert_eq!(raw, sent);
    let list = json!({"tool": "mcp__peer__get-roots-list", "params": {}});
    let played = play_with(&scratch, &answers, &list, 0);
    let text = played.step(1)["result"].as_str().expect("a text");
    assert!(
        text.contains("1. Sources\n   URI: file:///") && text.contains("/src\n"),
        "{text}"
    );
}

#[test]
fn server_everything_samples_and_lists_roots_over_every_transport() {
    let Some(entry) = everything() else { return };
    everything_samples_and_lists_roots(&entry);
    let Some(server) = npm("mcp-server-everything") else {
        return;
    };
    for (transport, path) in [("sse", "sse"), ("streamableHttp", "mcp")] {
        let preload = format!("--require={}", script("loopback.cjs").display());
        let server = HttpServer::start(&server, &[("NODE_OPTIONS", preload)], &[transport]);
        let url = format!("{}/{path}", server.url);
        everything_samples_and_lists_roots(&json!({"url": url}));
    }
}

#[test]
fn roots_are_the_folders_of_a_server_that_asks_for_them_when_it_starts() {
    let Some(server) = npm("mcp-server-filesystem") else {
        return;
    };
    let mut scratch = with_server(&json!({"command": server, "args": []}));
    patient(&mut scratch);
    scratch.write("shelf/note.txt", "milk").expect("writable");
    let step =
        json!({"tool": "mcp__peer__read_text_file", "params": {"path": "{{SHELF}}/note.txt"}});
    let scenario = |roots: Value| {
        let scenario = json!({
            "version": "2.1", "metadata": {"name": "Roots"},
            "variables": {"SHELF": scratch.work().join("shelf")},
            "answers": {"roots": roots},
            "steps": [{"step": 1, "tool": step["tool"], "params": step["params"]}],
        });
        scratch
            .write("scenario.json", scenario.to_string())
            .expect("writable");
    };
    scenario(json!(["shelf"]));
    let played = program::play(&scratch, &["scenario.json"], 0);
    assert_eq!(played.statuses(), ["passed"], "{}", played.stderr);
    assert!(!played.stderr.contains("C-ANSWER"), "{}", played.stderr);
    program::play(&scratch, &["scenario.json", "--dry-run", "--connect"], 0);
    scenario(json!(["elsewhere"]));
    program::play(&scratch, &["scenario.json"], 1);
}
