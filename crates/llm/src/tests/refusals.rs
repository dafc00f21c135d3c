//! What no model and no API would do: it must not pass.

use super::*;

const CALL: &str = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: []
  - agentToolUse: {toolName: lookup, args: {key: a}, result: \"one\", status: error}
  - llmResponse: [{assistant: [[0, \"Done\"]]}]
";

fn lookup() -> Value {
    json!([{"type": "function", "function": {"name": "lookup", "parameters": {"type": "object"}}}])
}

#[tokio::test]
async fn a_result_without_its_call_is_refused_as_by_each_api() {
    let result = |endpoint: &str, path: &str| match endpoint {
        "chat" => (
            CHAT.to_owned(),
            json!({"model": "m", "messages": [
                {"role": "user", "content": "Begin"}, {"role": "tool", "tool_call_id": "call_1", "content": "one"},
            ]}),
        ),
        "messages" => (
            path.to_owned(),
            json!({"model": "m", "max_tokens": 9, "messages": [
                {"role": "user", "content": "Begin"},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "one"}]},
            ]}),
        ),
        _ => (
            path.to_owned(),
            json!({"model": "m", "input": [
                {"role": "user", "content": "Begin"},
                {"type": "function_call_output", "call_id": "call_1", "output": "one"},
                {"type": "function_call", "call_id": "call_1", "name": "lookup", "arguments": "{\"key\": \"a\"}"},
            ]}),
        ),
    };
    for (endpoint, path) in [
        ("chat", ""),
        ("messages", "/v1/messages"),
        ("responses", "/v1/responses"),
    ] {
        let played = Played::timeline(CALL).await;
        let (path, body) = result(endpoint, path);
        let refused = played.post(&path, &body).await;
        assert_eq!(refused.status, 400, "{endpoint}");
        assert!(refused.text.contains("call_1"), "{}", refused.text);
        assert_eq!(played.codes().await, ["T-LLM-11"], "{endpoint}");
    }
}

#[tokio::test]
async fn results_come_right_after_their_calls() {
    let user = |text: &str| json!({"role": "user", "content": text});
    let arguments = "{\"key\": \"a\"}";
    let call = json!({"role": "assistant", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": arguments}},
    ]});
    let result = json!({"role": "tool", "tool_call_id": "call_1", "content": "one"});
    let use_it = json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": "call_1", "name": "lookup", "input": {"key": "a"}},
    ]});
    let used =
        json!({"type": "tool_result", "tool_use_id": "call_1", "content": "one", "is_error": true});
    let text = json!({"type": "text", "text": "More"});
    let behind = json!({"role": "user", "content": [text, used]});
    let function = json!({"role": "model", "parts": [{"functionCall": {"name": "lookup", "args": {"key": "a"}}}]});
    let said = |text: &str| json!({"role": "user", "parts": [{"text": text}]});
    let response = json!({"role": "user", "parts": [{"functionResponse": {"name": "lookup", "response": {"output": "one"}}}]});
    for (path, body) in [
        (
            CHAT,
            json!({"model": "m", "messages": [user("Begin"), call, user("More"), result]}),
        ),
        (
            "/v1/messages",
            json!({"model": "m", "max_tokens": 9, "messages": [user("Begin"), use_it, behind]}),
        ),
        (
            "/v1beta/models/m:generateContent",
            json!({"contents": [said("Begin"), function, said("More"), response]}),
        ),
    ] {
        let played = Played::timeline(CALL).await;
        let refused = played.post(path, &body).await;
        assert_eq!(refused.status, 400, "{path}: {}", refused.text);
        assert_eq!(played.codes().await, ["T-LLM-11"], "{path}");
    }
}

#[tokio::test]
async fn a_response_that_is_not_known_is_no_missing_path() {
    let played = Played::timeline(CALL).await;
    let body = json!({"model": "m", "input": "More", "previous_response_id": "resp_other"});
    assert_eq!(played.post("/v1/responses", &body).await.status, 404);
    let verdict = played.running.stop().await;
    let message = &verdict.findings[0].message;
    assert!(
        message.contains("the response that it goes on from"),
        "{message}"
    );
}

#[tokio::test]
async fn a_result_that_the_model_says_is_refused() {
    let played = Played::timeline(CALL).await;
    let body = json!({"model": "m", "max_tokens": 9, "messages": [
        {"role": "user", "content": "Begin"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "call_1", "name": "lookup", "input": {"key": "a"}},
            {"type": "tool_result", "tool_use_id": "call_1", "content": "one"},
        ]},
        {"role": "user", "content": "Go on"},
    ]});
    assert_eq!(played.post("/v1/messages", &body).await.status, 400);
    assert_eq!(played.codes().await, ["T-LLM-11"]);
}

#[tokio::test]
async fn calls_are_those_that_the_request_allows() {
    let ask = async |timeline: &str, choice: Value| {
        let played = Played::timeline(timeline).await;
        let body = json!({"model": "m", "messages": said("Begin"), "tools": lookup(), "tool_choice": choice});
        let status = played.post(CHAT, &body).await.status;
        (status.as_u16(), played.codes().await)
    };
    assert_eq!(ask(CALL, json!("auto")).await, (200, vec![]));
    assert_eq!(ask(CALL, json!("none")).await, (400, vec!["T-LLM-03"]));
    // One that is not among the tools is no choice.
    let other = json!({"type": "function", "function": {"name": "other"}});
    assert_eq!(ask(CALL, other).await, (400, vec!["T-LLM-11"]));
    let text =
        "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: [{assistant: [[0, \"Done\"]]}]\n";
    assert_eq!(ask(text, json!("required")).await, (400, vec!["T-LLM-03"]));
}

#[tokio::test]
async fn an_error_that_was_scripted_must_come_back_as_one() {
    for (is_error, codes) in [(true, vec![]), (false, vec!["T-LLM-05"])] {
        let played = Played::timeline(CALL).await;
        let tools = json!([{"name": "lookup", "input_schema": {"type": "object"}}]);
        let mut messages = vec![json!({"role": "user", "content": "Begin"})];
        let body = |messages: &[Value]| json!({"model": "m", "max_tokens": 9, "tools": tools, "messages": messages});
        let first = played.post("/v1/messages", &body(&messages)).await.json();
        messages.push(json!({"role": "assistant", "content": first["content"]}));
        let id = &first["content"][0]["id"];
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "one", "is_error": is_error},
        ]}));
        let second = played.post("/v1/messages", &body(&messages)).await;
        assert_eq!(second.status, 200, "{}", second.text);
        assert_eq!(played.codes().await, codes);
    }
}

const ASSERTED: &str = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"One\"]]}]
  - assert: {exitCode: 0}
  - userInputs: [[0, \"Go on\"]]
  - llmResponse: [{assistant: [[0, \"Two\"]]}]
";

#[tokio::test]
async fn in_strict_runs_what_was_not_looked_at_fails() {
    for (is_strict, passes) in [(false, true), (true, false)] {
        // An assert that needs what is not there, and a history that says something else.
        for answer in ["One", "Something else"] {
            let asserts = answer == "One";
            let timeline = match asserts {
                true => ASSERTED.to_owned(),
                false => ASSERTED.replace("  - assert: {exitCode: 0}\n", ""),
            };
            let played =
                Played::with(&timeline, |options| options.play.is_strict = is_strict).await;
            assert_eq!(played.chat(said("Begin")).await.content(), "One");
            let history = json!([
                {"role": "user", "content": "Begin"}, {"role": "assistant", "content": answer},
                {"role": "user", "content": "Go on"},
            ]);
            assert_eq!(played.chat(history).await.content(), "Two");
            let verdict = played.running.stop().await;
            let code = if asserts { "T-ASRT-03" } else { "T-LLM-09" };
            assert_eq!(verdict.findings[0].code.name(), code);
            assert_eq!(verdict.passed, passes, "{code}");
        }
    }
}

#[tokio::test]
async fn a_call_that_the_client_remembers_otherwise_is_told() {
    for (name, arguments, text, codes) in [
        ("lookup", "{ \"key\": \"a\" }", "", vec![]),
        ("remove", "{\"key\": \"a\"}", "", vec!["T-LLM-09"]),
        ("lookup", "{\"key\": \"b\"}", "", vec!["T-LLM-09"]),
        ("lookup", "{\"key\": \"a\"}", "Changed", vec!["T-LLM-09"]),
    ] {
        let played = Played::timeline(CALL).await;
        let body = |messages: Value| json!({"model": "m", "messages": messages, "tools": lookup()});
        let first = played.post(CHAT, &body(said("Begin"))).await.json();
        let mut call = first["choices"][0]["message"]["tool_calls"][0].clone();
        call["function"] = json!({"name": name, "arguments": arguments});
        let history = json!([
            {"role": "user", "content": "Begin"}, {"role": "assistant", "content": text, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": "one"},
        ]);
        assert_eq!(played.post(CHAT, &body(history)).await.content(), "Done");
        assert_eq!(played.codes().await, codes, "{name} {arguments} {text}");
    }
}

#[tokio::test]
async fn a_strict_run_fails_if_a_history_is_not_word_for_word_what_was_said() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"It rains in Spain\"]]}]
  - userInputs: [[0, \"More\"]]
  - llmResponse: [{assistant: [[0, \"Done\"]]}]
";
    for (remembered, passes) in [
        ("It rains\nin  Spain", true),
        ("It rains in", false),
        ("It rains in Spain today", false),
        ("It rains in spain", false),
        ("It pours in Spain", false),
    ] {
        let played = Played::with(timeline, |options| options.play.is_strict = true).await;
        played.chat(said("Begin")).await;
        let history = json!([
            {"role": "user", "content": "Begin"}, {"role": "assistant", "content": remembered},
            {"role": "user", "content": "More"},
        ]);
        assert_eq!(played.chat(history).await.content(), "Done");
        assert_eq!(played.running.stop().await.passed, passes, "{remembered}");
    }
}

#[tokio::test]
async fn a_wrong_prompt_does_not_pass_over_an_error() {
    let timeline = "  - userInputs: [[0, \"Anybody?\"]]
  - llmResponse: [{error: {statusCode: 429}}]
  - llmResponse: [{assistant: [[0, \"Yes\"]]}]
";
    let played = Played::timeline(timeline).await;
    let refused = played.chat(said("Anybody else")).await;
    assert_eq!(refused.status, 404);
    assert!(refused.text.contains("Anybody?"), "{}", refused.text);
    assert_eq!(played.chat(said("Anybody?")).await.status, 429);
    assert_eq!(played.chat(said("Anybody?")).await.content(), "Yes");
    assert_eq!(played.codes().await, ["T-LLM-02"]);
}

#[tokio::test]
async fn what_is_expected_in_the_end_is_judged() {
    let expect = "expect: {exitCode: 3, artifacts: [{pattern: \"out/*.txt\"}]}\n";
    let timeline = format!(
        "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: [{{assistant: [[0, \"One\"]]}}]\n{expect}"
    );
    for (exit_code, writes, codes) in [
        (Some(3), true, vec![]),
        (Some(0), true, vec!["T-EXP-01"]),
        (Some(3), false, vec!["T-EXP-01"]),
        (None, true, vec!["T-ASRT-03"]),
    ] {
        let played = Played::timeline(&timeline).await;
        assert_eq!(played.chat(said("Begin")).await.content(), "One");
        let out = played.folder.path().join("work/out");
        if writes {
            std::fs::create_dir(&out).expect("writable");
            std::fs::write(out.join("a.txt"), "").expect("writable");
        }
        assert!(played.running.expects_exit_code(3));
        let verdict = played.running.stop_after(exit_code).await;
        let found: Vec<_> = verdict.findings.iter().map(|it| it.code.name()).collect();
        assert_eq!(found, codes);
    }
}

#[tokio::test]
async fn files_without_an_answer_or_with_a_bad_glob_are_refused() {
    for (text, code, marked) in [
        ("name: a\ntimeline: []\n", "T-LOAD-20", "a"),
        (
            "name: a\nserver: {ignore: [/x, \"/[\"]}\ntimeline: [{llmResponse: []}]\n",
            "T-LOAD-08",
            "\"/[\"",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.yaml"), text).expect("writable");
        let Err(StartError::Files(found)) = MockLlm::from_file(folder.path()).start().await else {
            panic!("it started");
        };
        let place = found[0].place.as_ref().expect("a place");
        assert_eq!(
            (found[0].code.name(), place.source.slice(place.span)),
            (code, marked)
        );
    }
}

#[tokio::test]
async fn scenarios_with_one_prompt_are_chosen_by_name() {
    let start = async |setting: &str, name: Option<&str>| {
        let folder = tempfile::tempdir().expect("a folder");
        for file in ["a", "b"] {
            let text = format!(
                "name: {file}\n{setting}timeline:\n  - userInputs: [[0, \"Hello\"]]\n  - llmResponse: [{{assistant: [[0, {file}]]}}]\n"
            );
            let path = folder.path().join(format!("{file}.yaml"));
            std::fs::write(path, text).expect("writable");
        }
        let mock = MockLlm::from_file(folder.path());
        let started = mock
            .with(|options| options.play.scenario_name = name.map(str::to_owned))
            .start()
            .await;
        started.map(|running| Played {
            folder,
            running,
            client: client(),
        })
    };
    let Err(StartError::Files(found)) = start("", None).await else {
        panic!("it started");
    };
    assert_eq!(found[0].code.name(), "T-SEL-04");
    let played = start("", Some("b"))
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(played.chat(said("Hello")).await.content(), "b");

    let by_name = start("server: {byName: true}\n", None).await;
    let played = by_name.unwrap_or_else(|error| panic!("{error}"));
    let body = json!({"model": "m", "messages": said("Hello")});
    for name in ["a", "b"] {
        let answer = played
            .post_with(CHAT, &body, &[("x-scenario-name", name)])
            .await;
        assert_eq!(answer.content(), name);
    }
    assert_eq!(played.chat(said("Hello")).await.status, 404);
    assert_eq!(played.codes().await, ["T-SEL-02"]);
}

#[tokio::test]
async fn the_tokens_of_a_responses_request_are_counted() {
    let played = Played::timeline(CALL).await;
    let body = json!({"model": "m", "input": "Begin"});
    let answer = played
        .post("/v1/responses/input_tokens", &body)
        .await
        .json();
    assert_eq!(answer["object"], "response.input_tokens");
    assert!(answer["input_tokens"].as_u64() > Some(0), "{answer}");
    assert_eq!(played.codes().await, [] as [&str; 0]);
}

#[tokio::test]
async fn a_call_that_is_not_validated_needs_no_entry_in_the_profile() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: []\n  - agentToolUse: {toolName: nonsense, args: {}}\n    validate: false\n";
    let played = Played::with(timeline, |options| {
        options.agent = cuecard_timeline::profiles::AgentName::parse("codex");
    })
    .await;
    let found = played.running.diagnostics();
    assert!(
        found.iter().all(|it| it.code.name() != "T-TOOL-05"),
        "{found:?}"
    );
}

#[tokio::test]
async fn half_a_surrogate_pair_in_a_body_is_replaced_with_a_warning() {
    let played = Played::timeline(
        "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: [{assistant: [[0, \"Done\"]]}]\n",
    )
    .await;
    let body = json!({"model": "m", "messages": said("Begin"), "user": "CUT"}).to_string();
    let body = body.replace("CUT", "\\ud83d");
    let request = played.client.post(played.url(CHAT)).body(body);
    let request = request.header("content-type", "application/json");
    assert_eq!(Answer::of(request).await.content(), "Done");
    assert_eq!(played.codes().await, ["C-JSON-04"]);

    // The arguments of a call are JSON in a text.
    for (city, codes) in [("\\ud83d", &["C-JSON-04"][..]), ("\\ud83d\\ude00", &[])] {
        let played = Played::timeline("  - userInputs: [[0, Begin]]\n  - llmResponse: [{assistant: [[0, Done]]}]\n  - sessionStart: true\n  - userInputs: [[0, More]]\n  - llmResponse: [{assistant: [[0, Done]]}]\n").await;
        let arguments = format!("{{\"city\": \"{city}\"}}");
        let call = json!({"id": "c", "type": "function", "function": {"name": "look", "arguments": arguments}});
        let messages = json!([
            {"role": "user", "content": "Begin"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "\\ud83d"},
        ]);
        played
            .post(CHAT, &json!({"model": "m", "messages": messages}))
            .await;
        let mut found = played.codes().await;
        found.retain(|code| *code == "C-JSON-04");
        assert_eq!(found, codes, "{city}");
    }
}
