//! Calls in the words of agents: what each request advertises says which.

use super::*;

const PATCH: &str = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch";

fn write_it() -> &'static str {
    "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: []\n  - writeFile: {path: a.txt, content: \"one\\n\"}\n"
}

fn responses(tools: &Value, more: &Value) -> Value {
    let mut input = vec![json!({"role": "user", "content": "Begin"})];
    input.splice(0..0, more.as_array().cloned().unwrap_or_default());
    json!({"model": "m", "input": input, "tools": tools})
}

fn shell() -> Value {
    let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]});
    json!([{"type": "function", "function": {"name": "bash", "parameters": schema}}])
}

#[tokio::test]
async fn a_patch_is_a_custom_call_for_codex_and_comes_again_as_it_was_sent() {
    let played = Played::timeline(write_it()).await;
    let tools = json!([
        {"type": "function", "name": "exec_command", "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}}},
        {"type": "custom", "name": "apply_patch"},
    ]);
    let answer = played
        .post("/v1/responses", &responses(&tools, &json!([])))
        .await;
    let answer = answer.json();
    let call = &answer["output"][0];
    assert_eq!(call["type"], "custom_tool_call", "{answer:#}");
    assert_eq!(
        (&call["name"], &call["input"]),
        (&json!("apply_patch"), &json!(PATCH))
    );

    let id = answer["id"].as_str().expect("an id");
    let again = played.get(&format!("/v1/responses/{id}")).await.json();
    assert_eq!(again["output"][0]["name"], "apply_patch", "{again:#}");
    assert_eq!(again["output"][0]["input"], json!(PATCH));
    assert_eq!(again["model"], "m");
    assert_eq!(played.codes().await, [] as [&str; 0]);
}

#[tokio::test]
async fn tools_that_come_with_the_history_are_called_with_their_group() {
    let played = Played::timeline(write_it()).await;
    let exec = json!({"type": "custom", "name": "exec"});
    let wait = json!({"type": "function", "name": "wait", "parameters": {}});
    let group = json!({"type": "namespace", "name": "functions", "tools": [exec, wait]});
    let more = json!([{"type": "additional_tools", "role": "developer", "tools": [group]}]);
    let answer = played
        .post("/v1/responses", &responses(&Value::Null, &more))
        .await
        .json();
    let call = &answer["output"][0];
    assert_eq!(
        (&call["name"], &call["namespace"]),
        (&json!("exec"), &json!("functions")),
        "{answer:#}"
    );
    let program = format!("text(await tools.apply_patch({}));", json!(PATCH));
    assert_eq!(call["input"], json!(program));
    assert_eq!(played.codes().await, [] as [&str; 0]);
}

#[tokio::test]
async fn tools_of_a_server_are_found_in_its_group() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: []\n  - agentToolUse: {toolName: mcp__demo__echo, args: {message: hi}}\n";
    let played = Played::timeline(timeline).await;
    let echo = json!({"type": "function", "name": "echo", "parameters": {"required": ["message"]}});
    let tools = json!([{"type": "namespace", "name": "mcp__demo", "tools": [echo]}]);
    let answer = played
        .post("/v1/responses", &responses(&tools, &json!([])))
        .await
        .json();
    let call = &answer["output"][0];
    assert_eq!(
        (&call["name"], &call["namespace"]),
        (&json!("echo"), &json!("mcp__demo")),
        "{answer:#}"
    );
}

#[tokio::test]
async fn an_argument_without_a_place_and_another_agent_are_told_and_traced() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: []\n  - runCmd: {cmd: ls, timeout: 5}\n";
    let body = json!({"model": "m", "messages": said("Begin"), "tools": shell()});
    let played = Played::with(timeline, |options| {
        options.agent = cuecard_timeline::profiles::AgentName::parse("codex");
    })
    .await;
    let answer = played.post(CHAT, &body).await.json();
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call["arguments"], r#"{"command":"ls"}"#, "{answer:#}");
    let verdict = played.running.stop().await;
    assert!(verdict.passed);
    let mut codes: Vec<&str> = verdict.findings.iter().map(|it| it.code.name()).collect();
    codes.retain(|code| code.starts_with("T-TOOL"));
    assert_eq!(codes, ["T-TOOL-02", "T-TOOL-03"]);

    // In strict runs both are failures.
    let played = Played::with(timeline, |options| options.play.is_strict = true).await;
    let _ = played.post(CHAT, &body).await;
    assert!(!played.running.stop().await.passed);
}

#[tokio::test]
async fn a_tool_that_the_named_agent_has_not_is_told_before_it_starts() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: []\n  - webFetch: {url: u, prompt: p}\n";
    let codex = || cuecard_timeline::profiles::AgentName::parse("codex");
    let played = Played::with(timeline, |options| options.agent = codex()).await;
    let told: Vec<&str> = played
        .running
        .diagnostics()
        .iter()
        .map(|found| found.code.name())
        .collect();
    assert!(told.contains(&"T-TOOL-05"), "{told:?}");
    let body = json!({"model": "m", "messages": said("Begin"), "tools": shell()});
    assert_eq!(played.post(CHAT, &body).await.status, 400);
    let verdict = played.running.stop().await;
    let last = verdict.findings.last().expect("a finding");
    assert_eq!((verdict.passed, last.code.name()), (false, "T-TOOL-04"));

    let folder = tempfile::tempdir().expect("a folder");
    let text = format!("name: scenario\ntimeline:\n{timeline}");
    std::fs::write(folder.path().join("a.yaml"), text).expect("writable");
    let strict = MockLlm::from_file(folder.path()).with(|options| {
        options.agent = codex();
        options.play.is_strict = true;
    });
    match strict.start().await {
        Err(StartError::Files(found)) => assert_eq!(found[0].code.name(), "T-TOOL-05"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn relative_paths_are_below_the_workspace_for_an_agent_that_wants_absolute_ones() {
    let played = Played::timeline(write_it()).await;
    let tools: Vec<Value> = ["write_file", "run_shell_command", "task_stop"]
        .iter()
        .map(|name| json!({"type": "function", "function": {"name": name, "parameters": {}}}))
        .collect();
    let body = json!({"model": "m", "messages": said("Begin"), "tools": tools});
    let mut qwen = None;
    let answer = played.post(CHAT, &body).await.json();
    for call in answer["choices"][0]["message"]["tool_calls"]
        .as_array()
        .expect("calls")
    {
        let args = call["function"]["arguments"].as_str().expect("text");
        qwen = serde_json::from_str::<Value>(args).ok();
    }
    let path = played.folder.path().join("work/a.txt");
    assert_eq!(qwen.expect("arguments")["file_path"], json!(path));
}

#[tokio::test]
async fn what_an_agent_acknowledges_is_no_answer_of_the_model() {
    let played = Played::timeline(
        "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: [{assistant: [[0, \"One\"]]}]\n  - userInputs: [[0, \"On\"]]\n  - llmResponse: [{assistant: [[0, \"Two\"]]}]\n",
    )
    .await;
    let mut messages = vec![
        json!({"role": "user", "content": "This is the context."}),
        json!({"role": "assistant", "content": "Got it. Thanks for the context!"}),
        json!({"role": "user", "content": "Begin"}),
    ];
    assert_eq!(played.chat(json!(messages)).await.content(), "One");
    messages.push(json!({"role": "assistant", "content": "One"}));
    messages.push(json!({"role": "user", "content": "On"}));
    assert_eq!(played.chat(json!(messages)).await.content(), "Two");
    assert_eq!(played.codes().await, [] as [&str; 0]);
}

#[tokio::test]
async fn an_agent_that_is_not_known_writes_files_with_its_own_tool() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: []\n  - writeFile: {path: a, content: b}\n  - runCmd: {cmd: ls}\n";
    let function = |name: &str, arguments: &[&str]| {
        let properties: serde_json::Map<String, Value> = arguments
            .iter()
            .map(|name| ((*name).to_owned(), json!({"type": "string"})))
            .collect();
        let schema = json!({"type": "object", "properties": properties, "required": arguments});
        json!({"type": "function", "function": {"name": name, "parameters": schema}})
    };
    let body = |tools: Value| json!({"model": "m", "messages": said("Begin"), "tools": tools});
    let tools = json!([
        function("bash", &["command"]),
        function("write_file", &["path", "content"])
    ]);
    let played = Played::timeline(timeline).await;
    let answer = played.post(CHAT, &body(tools)).await.json();
    let calls = &answer["choices"][0]["message"]["tool_calls"];
    assert_eq!(calls[0]["function"]["name"], "write_file", "{answer:#}");
    assert_eq!(calls[1]["function"]["name"], "bash", "{answer:#}");
    // Without one, the error says which profile was taken, and why.
    let played = Played::timeline(timeline).await;
    let tools = json!([
        function("bash", &["command"]),
        function("paint", &["colour"])
    ]);
    let answer = played.post(CHAT, &body(tools)).await;
    assert!(
        answer.text.contains("no profile has these tools"),
        "{}",
        answer.text
    );
    let tools = ["list_agents", "glob", "edit"].map(|name| function(name, &[]));
    let played = Played::timeline(timeline).await;
    let answer = played.post(CHAT, &body(json!(tools))).await;
    assert!(
        answer.text.contains("the profile is `qwen-code 0.24.4`"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn in_strict_validation_a_tool_that_the_profile_does_not_know_is_refused() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: []\n  - runCmd: {cmd: ls}\n";
    let mut advertised = shell();
    let others = ["read", "edit", "write", "teleport"].map(
        |name| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}),
    );
    advertised.as_array_mut().expect("a list").extend(others);
    let body = json!({"model": "m", "messages": said("Begin"), "tools": advertised});
    for (strict, status) in [(false, 200), (true, 400)] {
        let played = Played::with(timeline, |options| options.strict_tools = strict).await;
        let answer = played.post(CHAT, &body).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        let is_told = answer.text.contains("advertises `teleport`");
        assert_eq!(is_told, strict, "{}", answer.text);
        assert_eq!(played.running.stop().await.passed, !strict);
    }
}

#[tokio::test]
async fn what_gemini_cli_adds_to_a_search_in_its_history_is_no_difference() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: []
  - grep: {pattern: one, path: notes}
  - llmResponse: [{assistant: [[0, \"Done\"]]}]
";
    let function =
        |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {}}});
    let names = [
        "list_directory",
        "read_file",
        "grep_search",
        "glob",
        "replace",
        "write_file",
        "run_shell_command",
        "google_web_search",
    ];
    let tools: Vec<Value> = names.into_iter().map(function).collect();
    let body = |messages: Value| json!({"model": "m", "messages": messages, "tools": tools});
    for (name, value, codes) in [
        ("context", json!(50), vec![]),
        ("names_only", json!(true), vec!["T-LLM-09"]),
    ] {
        let played = Played::timeline(timeline).await;
        let first = played.post(CHAT, &body(said("Begin"))).await.json();
        let mut call = first["choices"][0]["message"]["tool_calls"][0].clone();
        assert_eq!(call["function"]["name"], "grep_search", "{first:#}");
        let arguments = call["function"]["arguments"].as_str().expect("JSON");
        let mut arguments: Value = serde_json::from_str(arguments).expect("JSON");
        arguments[name] = value;
        call["function"]["arguments"] = arguments.to_string().into();
        let history = json!([
            {"role": "user", "content": "Begin"}, {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": "one"},
        ]);
        assert_eq!(played.post(CHAT, &body(history)).await.content(), "Done");
        assert_eq!(played.codes().await, codes, "{name}");
    }
}
