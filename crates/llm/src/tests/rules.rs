//! The script decides: turns, retries, misses, tools, asserts, the verdict.

use super::*;

fn tools(names: &[(&str, Value)]) -> Value {
    let tool = |(name, schema): &(&str, Value)| json!({"type": "function", "function": {"name": name, "parameters": schema}});
    names.iter().map(tool).collect()
}

fn bash() -> Value {
    json!({"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]})
}

const TWO: &str = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"One\"]]}]
  - userInputs: [[0, \"Go on\"]]
  - llmResponse: [{assistant: [[0, \"Two\"]]}]
";

#[tokio::test]
async fn a_request_that_comes_again_gets_the_same_answer() {
    let played = Played::timeline(TWO).await;
    let first = played.chat(said("Begin")).await;
    let again = played.chat(said("Begin")).await;
    assert_eq!(first.content(), "One");
    assert_eq!(first.text, again.text);
    let history = json!([
        {"role": "user", "content": "Begin"}, {"role": "assistant", "content": "One"},
        {"role": "user", "content": "Go on"},
    ]);
    assert_eq!(played.chat(history).await.content(), "Two");
    let exchanges = played.running.exchanges();
    let outcomes: Vec<_> = exchanges.iter().map(|exchange| exchange.outcome).collect();
    assert_eq!(outcomes, ["turn", "repeat", "turn"]);
    assert_eq!(exchanges[2].turn, Some(2));
    let verdict = played.running.stop().await;
    assert!(verdict.passed && verdict.unplayed.is_empty(), "{verdict:?}");
}

#[tokio::test]
async fn an_error_is_served_once_with_its_headers() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{error: {statusCode: 429, message: slow down, retryAfterSeconds: 7, headers: {x-left: \"0\"}}}]
  - llmResponse: [{assistant: [[0, \"Now\"]]}]
";
    let played = Played::timeline(timeline).await;
    let limited = played.chat(said("Begin")).await;
    assert_eq!(limited.status, 429);
    assert_eq!(limited.header("retry-after"), Some("7"));
    assert_eq!(limited.header("x-left"), Some("0"));
    assert_eq!(limited.header("x-should-retry"), None);
    assert_eq!(limited.json()["error"]["message"], "slow down");
    assert_eq!(played.chat(said("Begin")).await.content(), "Now");
    assert_eq!(played.codes().await, Vec::<&str>::new());
}

#[tokio::test]
async fn a_miss_explains_itself_and_fails_the_run() {
    let played = Played::timeline(TWO).await;
    let history = json!([
        {"role": "user", "content": "Begin"}, {"role": "assistant", "content": "One"},
        {"role": "user", "content": "Something else entirely"},
    ]);
    let miss = played.chat(history).await;
    assert_eq!(miss.status, 404);
    assert_eq!(miss.header("x-should-retry"), Some("false"));
    let message = miss.json()["error"]["message"]
        .as_str()
        .expect("text")
        .to_owned();
    assert!(
        message.contains("expected turn 2") && message.contains("a.yaml:6"),
        "{message}"
    );
    assert!(message.contains("Something else entirely"), "{message}");
    let verdict = played.running.stop().await;
    assert!(!verdict.passed);
    assert_eq!((verdict.n_misses, verdict.n_failures), (1, 1));
    assert_eq!(verdict.findings[0].code.name(), "T-LLM-02");
}

#[tokio::test]
async fn a_miss_can_be_answered_with_nothing_and_still_fails_the_run() {
    let played = Played::with(TWO, |options| {
        options.on_miss = super::super::OnMiss::Minimal;
    })
    .await;
    let history = json!([
        {"role": "user", "content": "Begin"}, {"role": "assistant", "content": "One"},
        {"role": "user", "content": "Something else entirely"},
    ]);
    let miss = played.chat(history).await;
    assert_eq!((miss.status.as_u16(), miss.content()), (200, json!("")));
    assert!(!played.running.stop().await.passed);
}

#[tokio::test]
async fn sessions_stay_apart_and_names_never_fall_through() {
    let played = Played::timeline(TWO).await;
    let body = json!({"model": "m", "messages": said("Begin")});
    for session in ["one", "two"] {
        let answer = played
            .post_with(CHAT, &body, &[("x-cuecard-session", session)])
            .await;
        assert_eq!(answer.content(), "One");
    }
    let unknown = played
        .post_with(CHAT, &body, &[("x-scenario-name", "scenari")])
        .await;
    assert_eq!(unknown.status, 404);
    assert!(
        unknown.text.contains("did you mean `scenario`?"),
        "{}",
        unknown.text
    );
    assert_eq!(played.codes().await, ["T-SEL-01"]);
}

#[tokio::test]
async fn a_prompt_that_is_far_from_every_scenario_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, prompt) in [
        ("fix", "Fix the failing test"),
        ("deploy", "Deploy to staging"),
    ] {
        let text = format!(
            "name: {name}\ntimeline:\n  - userInputs: [[0, \"{prompt}\"]]\n  - llmResponse: [{{assistant: [[0, \"{name}\"]]}}]\n"
        );
        let path = folder.path().join(format!("{name}.yaml"));
        std::fs::write(path, text).expect("writable");
    }
    let played = Played::start(folder, |_| {}).await;
    let held = played.chat(said("Please fix the failing test now")).await;
    assert_eq!(held.content(), "fix");
    // A typing mistake is near enough to say which one is meant, and not what it waits for.
    let near = played.chat(said("Fix the failing tset")).await;
    assert_eq!(near.status, 404);
    let expected = "user text: expected \\\"Fix the failing test\\\" (";
    assert!(near.text.contains(expected), "{}", near.text);
    let far = played.chat(said("Write a poem about the sea")).await;
    assert_eq!(far.status, 404);
    for named in ["`fix`", "`deploy`", "x-scenario-name"] {
        assert!(far.text.contains(named), "{named}: {}", far.text);
    }
    assert_eq!(played.codes().await, ["T-LLM-02", "T-SEL-02"]);
}

const COMMAND: &str = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: []
  - runCmd: {cmd: \"make\", cwd: sub dir}
  - llmResponse: [{assistant: [[0, \"Done\"]]}]
";

#[tokio::test]
async fn calls_are_those_of_the_agent_and_results_go_back() {
    let played = Played::timeline(COMMAND).await;
    let mut advertised = vec![("Bash", bash())];
    let others = ["Read", "Write", "Edit", "Glob", "Grep"];
    advertised.extend(others.map(|name| (name, json!({"type": "object"}))));
    let body = json!({"model": "m", "messages": said("Begin"), "tools": tools(&advertised)});
    let first = played.post(CHAT, &body).await.json();
    let message = &first["choices"][0]["message"];
    let call = &message["tool_calls"][0];
    assert_eq!(call["function"]["name"], "Bash");
    let arguments: Value =
        serde_json::from_str(call["function"]["arguments"].as_str().expect("text")).expect("JSON");
    assert_eq!(arguments["command"], "(cd 'sub dir' && make)");
    let history = json!([
        {"role": "user", "content": "Begin"}, message,
        {"role": "tool", "tool_call_id": call["id"], "content": "ok"},
    ]);
    let body = json!({"model": "m", "messages": history, "tools": tools(&advertised)});
    assert_eq!(played.post(CHAT, &body).await.content(), "Done");
    assert!(played.running.stop().await.passed);
}

#[tokio::test]
async fn a_call_that_nobody_takes_is_refused_each_time() {
    let played = Played::timeline(COMMAND).await;
    for _ in 0..2 {
        let refused = played.chat(said("Begin")).await;
        assert_eq!(refused.status, 400);
        assert!(
            refused.text.contains("advertises no tools"),
            "{}",
            refused.text
        );
    }
    assert_eq!(played.codes().await, ["T-TOOL-04"]);

    let timeline = "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: []\n  - agentToolUse: {toolName: lookup, args: {}}\n";
    let played = Played::timeline(timeline).await;
    let schema =
        json!({"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]});
    let body =
        json!({"model": "m", "messages": said("Begin"), "tools": tools(&[("lookup", schema)])});
    let refused = played.post(CHAT, &body).await;
    assert_eq!(refused.status, 400);
    assert!(
        refused.text.contains("`lookup` needs `key`"),
        "{}",
        refused.text
    );
    assert_eq!(played.codes().await, ["T-LLM-03"]);
}

const ASSERTED: &str = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"One\"]]}]
  - assert: {fs: {exists: [made.txt]}, json: {file: [{path: a.json, pointer: /x, equals: 1}]}}
  - userInputs: [[0, \"Go on\"]]
  - llmResponse: [{assistant: [[0, \"Two\"]]}]
  - assert: {fs: {notExists: [left.txt]}}
";

async fn go_on(played: &Played) -> Answer {
    assert_eq!(played.chat(said("Begin")).await.content(), "One");
    let history = json!([
        {"role": "user", "content": "Begin"}, {"role": "assistant", "content": "One"},
        {"role": "user", "content": "Go on"},
    ]);
    played.chat(history).await
}

#[tokio::test]
async fn asserts_are_made_between_turns_and_behind_the_last() {
    let played = Played::timeline(ASSERTED).await;
    let refused = go_on(&played).await;
    assert_eq!(refused.status, 400);
    assert!(
        refused.text.contains("`made.txt`") && refused.text.contains("a.yaml:5"),
        "{}",
        refused.text
    );
    assert_eq!(played.codes().await, ["T-ASRT-10", "T-ASRT-10"]);

    let played = Played::with(ASSERTED, |options| options.keep_going = true).await;
    assert_eq!(go_on(&played).await.content(), "Two");
    assert_eq!(played.codes().await.len(), 2);

    let played = Played::timeline(ASSERTED).await;
    let work = played.folder.path().join("work");
    std::fs::write(work.join("made.txt"), "").expect("writable");
    std::fs::write(work.join("a.json"), "{\"x\": 1.0}").expect("writable");
    assert_eq!(go_on(&played).await.content(), "Two");
    std::fs::write(work.join("left.txt"), "").expect("writable");
    assert_eq!(played.codes().await, ["T-ASRT-10"]);
}

#[tokio::test]
async fn unplayed_turns_fail_where_all_are_required() {
    let played = Played::with(TWO, |options| options.play.require_complete = true).await;
    assert_eq!(played.chat(said("Begin")).await.content(), "One");
    assert!(played.running.verdict().passed, "it is not over");
    let verdict = played.running.stop().await;
    assert!(!verdict.passed);
    assert_eq!(verdict.unplayed.len(), 1);
    assert_eq!(
        verdict.findings[0].message,
        "turn 2 of `scenario` was not played"
    );
}

#[tokio::test]
async fn the_trace_tells_an_error_once_and_what_arrived_once() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{error: {statusCode: 503, message: later}}]
  - llmResponse: [{assistant: [[0, \"Now\"]]}]
";
    let traces = tempfile::tempdir().expect("a folder");
    let trace = traces.path().join("trace.jsonl");
    let played = Played::built(timeline, |mock| mock.trace(trace_in(&trace))).await;
    assert_eq!(played.chat(said("Begin")).await.status, 503);
    assert_eq!(played.chat(said("Begin")).await.content(), "Now");
    let verdict = played.running.stop().await;
    assert!(verdict.passed && verdict.trace_error.is_none());
    let types = types_in(&std::fs::read_to_string(&trace).expect("written"));
    assert_eq!(
        types,
        [
            "message_received",
            "error",
            "http_exchange",
            "final_output",
            "http_exchange"
        ]
    );
}

fn trace_in(path: &std::path::Path) -> TraceOutput {
    TraceOutput {
        out: Box::new(std::fs::File::create(path).expect("writable")),
        run_id: "run".into(),
    }
}

/// The types of the events of a trace.
fn types_in(trace: &str) -> Vec<String> {
    trace
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter_map(|line| Some(line["type"].as_str()?.to_owned()))
        .collect()
}

#[tokio::test]
async fn the_trace_has_texts_and_calls_in_their_order() {
    let traces = tempfile::tempdir().expect("a folder");
    let trace = traces.path().join("trace.jsonl");
    let timeline = "  - userInputs: [[0, Begin]]
  - llmResponse:
      - agentToolUse: {toolName: runCmd, args: {cmd: one}}
      - assistant: [[0, Two]]
      - agentToolUse: {toolName: runCmd, args: {cmd: three}}
      - assistant: [[0, Four]]
";
    let played = Played::built(timeline, |mock| mock.trace(trace_in(&trace))).await;
    let tools = tools(&[("runCmd", json!({}))]);
    let body = json!({"model": "m", "messages": said("Begin"), "tools": tools});
    assert_eq!(played.post(CHAT, &body).await.status, 200);
    assert!(played.running.stop().await.passed);
    let text = std::fs::read_to_string(&trace).expect("written");
    let events = text.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let data = &line["data"];
        let said = data["content"].as_str().or(data["args"]["cmd"].as_str());
        Some(said?.to_owned())
    });
    assert_eq!(
        events.collect::<Vec<_>>(),
        ["Begin", "one", "Two", "three", "Four"]
    );
}

#[tokio::test]
async fn the_trace_and_the_watcher_are_told_in_order() {
    let traces = tempfile::tempdir().expect("a folder");
    let trace = traces.path().join("trace.jsonl");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let watcher = seen.clone();
    let played = Played::built(COMMAND, |mock| {
        let mock = mock.trace(trace_in(&trace));
        mock.watch(Box::new(move |notice| {
            if let Notice::Exchange(exchange) = notice {
                watcher.lock().expect("not poisoned").push(exchange.outcome);
            }
        }))
    })
    .await;
    let body = json!({
        "model": "m", "messages": said("Begin"), "tools": tools(&[("runCmd", json!({}))]),
        "metadata": {"api_key": "s3cret-key"}, "web": "https://me:s3cret-key@example.com/x",
        "note": format!("max_tokens=100, {{\"pwd\": \"s3cret-key\"}} and ghp_{}", "s3cret".repeat(6)),
    });
    let headers = [("authorization", "Bearer s3cret-key")];
    assert_eq!(played.post_with(CHAT, &body, &headers).await.status, 200);
    let exchange = played.running.exchanges().remove(0);
    assert_eq!(exchange.headers["authorization"], "[redacted]");
    assert_eq!(
        exchange.request["note"],
        "max_tokens=100, {\"pwd\": \"[redacted]\"} and [redacted]"
    );
    assert!(!exchange.request.to_string().contains("s3cret"));
    assert_eq!(
        exchange.request["web"],
        "https://me:[redacted]@example.com/x"
    );
    assert!(played.running.stop().await.passed);
    assert_eq!(*seen.lock().expect("not poisoned"), ["turn"]);
    let text = std::fs::read_to_string(&trace).expect("written");
    let types = types_in(&text);
    assert_eq!(types, ["message_received", "tool_call", "http_exchange"]);
    assert!(!text.contains("s3cret"));
}
