//! Clients of every kind against the agent, over streams in memory.

use std::path::Path;
use std::time::Duration;

use cuecard_source::diagnostic::Severity;
use cuecard_source::value::Json;
use cuecard_timeline::script::Speed;
use serde_json::json;
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines,
    ReadHalf, WriteHalf, duplex, split,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::*;

mod protocol;

/// A client that says what a test wants.
struct Client {
    out: Option<WriteHalf<DuplexStream>>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    next_id: u64,
    verdict: JoinHandle<Verdict>,
}

/// What the client can do.
fn able() -> Json {
    json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true})
}

impl Client {
    /// A client of an agent that plays `timeline` without waiting.
    async fn start(timeline: &str) -> Self {
        Self::with(timeline, |_| {}).await
    }

    async fn with(timeline: &str, change: impl FnOnce(&mut AcpOptions)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("scenario.yaml");
        std::fs::write(&path, timeline).expect("written");
        Self::of(&path, change).await
    }

    async fn of(path: &Path, change: impl FnOnce(&mut AcpOptions)) -> Self {
        let mut options = AcpOptions {
            play: PlayOptions {
                speed: Speed::new(0.0, 0.0).expect("a speed"),
                ..PlayOptions::default()
            },
            ..AcpOptions::default()
        };
        change(&mut options);
        let agent = AcpPlayer::from_files([path]).options(options);
        let ready = agent.agent().await.expect("it starts");
        let (ours, theirs) = duplex(1 << 20);
        let (input, output) = split(theirs);
        let verdict = tokio::spawn(async move {
            let stop = CancellationToken::new();
            ready.serve(input, output, &stop).await
        });
        let (lines, out) = split(ours);
        Self {
            out: Some(out),
            lines: BufReader::new(lines).lines(),
            next_id: 0,
            verdict,
        }
    }

    async fn line(&mut self, line: &str) {
        let out = self.out.as_mut().expect("it is open");
        out.write_all(format!("{line}\n").as_bytes())
            .await
            .expect("it is read");
    }

    async fn send(&mut self, message: Json) {
        self.line(&message.to_string()).await;
    }

    /// Sends a request, and gives its id.
    async fn ask(&mut self, method: &str, params: Json) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    async fn answer(&mut self, request: &Json, result: Json) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
            .await;
    }

    async fn next(&mut self) -> Json {
        let line = self
            .lines
            .next_line()
            .await
            .expect("it can be read")
            .expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    /// What comes until the answer to a request, and that.
    async fn until(&mut self, id: u64) -> (Vec<Json>, Json) {
        let mut before = Vec::new();
        loop {
            let message = self.next().await;
            match message["id"] == id && message.get("method").is_none() {
                true => return (before, message),
                false => before.push(message),
            }
        }
    }

    async fn call(&mut self, method: &str, params: Json) -> Json {
        let id = self.ask(method, params).await;
        self.until(id).await.1
    }

    /// Initializes and opens a session; its id.
    async fn open(&mut self, capabilities: Json) -> String {
        self.call(
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
        )
        .await;
        let opened = self
            .call("session/new", json!({"cwd": "/work", "mcpServers": []}))
            .await;
        opened["result"]["sessionId"]
            .as_str()
            .expect("an id")
            .to_owned()
    }

    async fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.ask(
            "session/prompt",
            json!({"sessionId": session, "prompt": prompt}),
        )
        .await
    }

    /// Closes its side, and takes the verdict.
    async fn end(mut self) -> Verdict {
        if let Some(mut out) = self.out.take() {
            // An agent that has crashed reads no more.
            let _ = out.shutdown().await;
        }
        let mut rest = String::new();
        let _ = self.lines.get_mut().read_to_string(&mut rest).await;
        drop(self.lines);
        self.verdict.await.expect("a verdict")
    }
}

fn codes(verdict: &Verdict) -> Vec<&'static str> {
    let errors = verdict
        .findings
        .iter()
        .filter(|found| found.severity == Severity::Error);
    errors.map(|found| found.code.name()).collect()
}

/// The kinds of updates.
fn updates(messages: &[Json]) -> Vec<&str> {
    let updates = messages
        .iter()
        .filter(|message| message["method"] == "session/update");
    updates
        .filter_map(|message| message["params"]["update"]["sessionUpdate"].as_str())
        .collect()
}

const HELLO: &str = "
name: hello
timeline:
  - userInputs: [[0, \"Say hello\"]]
  - llmResponse:
      - think: [[500, \"Hm.\"]]
      - assistant: [[500, \"Hello!\"]]
  - userInputs: [[0, \"And again\"]]
  - llmResponse: [{assistant: [[0, \"Hello again!\"]]}]
";

#[tokio::test]
async fn each_prompt_plays_its_segment() {
    let mut client = Client::start(HELLO).await;
    let session = client.open(json!({})).await;
    assert_eq!(session, "hello-1");
    let id = client.prompt(&session, "say  HELLO").await;
    let (before, answer) = client.until(id).await;
    assert_eq!(
        updates(&before),
        ["agent_thought_chunk", "agent_message_chunk"]
    );
    assert_eq!(answer["result"], json!({"stopReason": "end_turn"}));
    let id = client.prompt(&session, "And again").await;
    assert_eq!(updates(&client.until(id).await.0), ["agent_message_chunk"]);
    let verdict = client.end().await;
    assert!(verdict.passed && verdict.unplayed.is_empty(), "{verdict:?}");
    assert_eq!((verdict.n_sessions, verdict.n_prompts), (1, 2));
}

#[tokio::test]
async fn what_the_script_does_not_expect_gets_its_answer_and_its_finding() {
    let mut client = Client::start(HELLO).await;
    let early = client
        .call("session/new", json!({"cwd": "/w", "mcpServers": []}))
        .await;
    assert_eq!(early["error"]["code"], -32600);
    let session = client.open(json!({})).await;
    client.line("{ nothing").await;
    assert_eq!(client.next().await["error"]["code"], -32700);
    client.line("[]").await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    client
        .send(json!({"jsonrpc": "2.0", "id": 99, "result": {}}))
        .await;
    client
        .send(
            json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}),
        )
        .await;
    let id = client.prompt(&session, "Say goodbye").await;
    let (_, answer) = client.until(id).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["data"]["expected"], "Say hello");
    let id = client.prompt("nobody", "Say hello").await;
    assert_eq!(client.until(id).await.1["error"]["code"], -32002);
    assert_eq!(
        client.call("session/fork", json!({})).await["error"]["code"],
        -32601
    );
    assert_eq!(
        client.call("_vendor/x", json!({})).await["error"]["code"],
        -32601
    );
    let relative = client
        .call("session/new", json!({"cwd": "w", "mcpServers": []}))
        .await;
    assert_eq!(relative["error"]["code"], -32602);
    let image = json!([{"type": "image", "mimeType": "image/png", "data": ""}]);
    let answer = client
        .call(
            "session/prompt",
            json!({"sessionId": session, "prompt": image}),
        )
        .await;
    assert_eq!(answer["error"]["code"], -32602);
    // None of it has consumed the segment.
    let id = client.prompt(&session, "Say hello").await;
    assert_eq!(client.until(id).await.1["result"]["stopReason"], "end_turn");
    let verdict = client.end().await;
    assert!(!verdict.passed);
    let unexpected = codes(&verdict)
        .iter()
        .filter(|code| **code == "T-ACP-20")
        .count();
    assert_eq!(
        (unexpected, codes(&verdict).len()),
        (8, 9),
        "{:?}",
        verdict.findings
    );
    assert_eq!(verdict.unplayed.len(), 1);
}

const ROUND_TRIPS: &str = "
name: trips
timeline:
  - userInputs: [[0, \"Go\"]]
  - runCmd: {cmd: make test}
    result: {contains: \"3 passed\"}
    status: ok
  - agentEdits: {path: a.txt, oldText: \"one\", newText: \"two\"}
  - agentFileReads: {files: [{path: /work/a.txt, expectedContent: \"two\"}]}
  - agentPermissionRequest:
      toolCall: {toolCallId: c1, title: Delete, kind: fs/write_text_file}
      options:
        - {id: yes1, label: Allow, kind: allow_once}
        - {id: no1, label: Reject, kind: reject_once}
      granted: false
";

/// Answers the calls of an agent until its prompt is answered: what was called, with its parameters.
async fn served(
    client: &mut Client,
    id: u64,
    output: &str,
    exit_code: i64,
    option: &str,
) -> (Vec<String>, Json) {
    let mut called = Vec::new();
    loop {
        let message = client.next().await;
        let Some(method) = message["method"].as_str() else {
            assert_eq!(message["id"], id, "{message}");
            return (called, message);
        };
        if message.get("id").is_none() {
            continue;
        }
        let result = match method {
            "terminal/create" => json!({"terminalId": "t1"}),
            "terminal/wait_for_exit" => json!({"exitCode": exit_code, "signal": null}),
            "terminal/output" => json!({"output": output, "truncated": false}),
            "fs/read_text_file" if called.iter().any(|known| known == "fs/write_text_file") => {
                json!({"content": "two\n"})
            }
            "fs/read_text_file" => json!({"content": "one\n"}),
            "session/request_permission" => {
                assert_eq!(message["params"]["toolCall"]["kind"], "edit");
                json!({"outcome": {"outcome": "selected", "optionId": option}})
            }
            _ => Json::Null,
        };
        if method == "fs/write_text_file" {
            assert_eq!(message["params"]["content"], "two\n");
        }
        called.push(method.to_owned());
        client.answer(&message, result).await;
    }
}

#[tokio::test]
async fn calls_of_the_client_are_made_and_compared() {
    for (output, exit_code, option, expected) in [
        ("3 passed\n", 0, "no1", &[][..]),
        ("2 passed\n", 1, "yes1", &["T-TERM-05", "T-ACP-23"][..]),
    ] {
        let mut client = Client::start(ROUND_TRIPS).await;
        let session = client.open(able()).await;
        let id = client.prompt(&session, "Go").await;
        let (called, answer) = served(&mut client, id, output, exit_code, option).await;
        assert_eq!(answer["result"]["stopReason"], "end_turn");
        assert_eq!(
            called,
            [
                "terminal/create",
                "terminal/wait_for_exit",
                "terminal/output",
                "terminal/release",
                "fs/read_text_file",
                "fs/write_text_file",
                "fs/read_text_file",
                "session/request_permission"
            ]
        );
        let verdict = client.end().await;
        assert_eq!(codes(&verdict), expected, "{:?}", verdict.findings);
    }
    // A client that can do nothing of it is asked for nothing but the permission.
    let mut client = Client::start(ROUND_TRIPS).await;
    let session = client.open(json!({})).await;
    let id = client.prompt(&session, "Go").await;
    let (called, _) = served(&mut client, id, "", 0, "no1").await;
    assert_eq!(called, ["session/request_permission"]);
    assert!(client.end().await.passed);
}

#[tokio::test]
async fn a_cancellation_ends_the_command_and_the_turn() {
    let mut client = Client::start(ROUND_TRIPS).await;
    let session = client.open(able()).await;
    let id = client.prompt(&session, "Go").await;
    let mut called = Vec::new();
    let mut statuses = Vec::new();
    let answer = loop {
        let message = client.next().await;
        match (message["method"].as_str(), message.get("id")) {
            (Some("terminal/wait_for_exit"), _) => {
                // A second prompt meanwhile is refused.
                let second = client.prompt(&session, "Go").await;
                let (_, refused) = client.until(second).await;
                assert_eq!(refused["error"]["code"], -32600);
                let params = json!({"sessionId": session});
                client
                    .send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}))
                    .await;
                called.push("terminal/wait_for_exit".to_owned());
            }
            (Some(method), Some(_)) => {
                called.push(method.to_owned());
                client.answer(&message, json!({"terminalId": "t1"})).await;
            }
            (Some(_), None) => {
                let status = message["params"]["update"]["status"].as_str();
                statuses.extend(status.map(str::to_owned));
            }
            (None, _) => {
                assert_eq!(message["id"], id);
                break message;
            }
        }
    };
    assert_eq!(answer["result"], json!({"stopReason": "cancelled"}));
    assert_eq!(
        called,
        [
            "terminal/create",
            "terminal/wait_for_exit",
            "terminal/kill",
            "terminal/release"
        ]
    );
    assert_eq!(statuses, ["pending", "in_progress", "failed"]);
    let verdict = client.end().await;
    assert_eq!(
        codes(&verdict),
        ["T-ACP-20", "T-ACP-20"],
        "the second prompt, and a cancellation that nobody scripted: {:?}",
        verdict.findings
    );
    assert_eq!(verdict.unplayed.len(), 1);
}

#[tokio::test]
async fn a_scripted_cancellation_is_waited_for() {
    let timeline = "
name: count
timeline:
  - userInputs: [[0, \"Count\"]]
  - llmResponse: [{assistant: [[0, \"1\"]]}]
  - userCancelSession: {at: 10}
  - llmResponse: [{assistant: [[100, \"2\"]]}]
";
    let mut client = Client::start(timeline).await;
    let session = client.open(json!({})).await;
    let id = client.prompt(&session, "Count").await;
    assert_eq!(
        client.next().await["params"]["update"]["content"]["text"],
        "1"
    );
    client
        .send(
            json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}),
        )
        .await;
    let (before, answer) = client.until(id).await;
    assert!(before.is_empty(), "{before:?}");
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    assert!(client.end().await.passed);
    let mut client = Client::with(timeline, |options| options.patience = Duration::ZERO).await;
    let session = client.open(json!({})).await;
    let id = client.prompt(&session, "Count").await;
    assert_eq!(updates(&client.until(id).await.0).len(), 2);
    assert_eq!(codes(&client.end().await), ["T-ACP-22"]);
}

#[tokio::test]
async fn a_cancellation_before_its_place_leaves_the_rest_unplayed() {
    let timeline = "
name: count
timeline:
  - userInputs: [[0, \"Count\"]]
  - llmResponse: [{assistant: [[0, \"1\"], [60000, \"2\"]]}]
  - userCancelSession
";
    let as_written = |options: &mut AcpOptions| options.play.speed = Speed::AS_WRITTEN;
    let mut client = Client::with(timeline, as_written).await;
    let session = client.open(json!({})).await;
    let id = client.prompt(&session, "Count").await;
    client.next().await;
    client
        .send(
            json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}),
        )
        .await;
    assert_eq!(
        client.until(id).await.1["result"]["stopReason"],
        "cancelled"
    );
    let verdict = client.end().await;
    assert_eq!(codes(&verdict), ["T-ACP-20"], "{:?}", verdict.findings);
    assert_eq!(verdict.unplayed.len(), 1);
}

const LOADABLE: &str = "
name: past
acp: {capabilities: {loadSession: true, sessionCapabilities: {list: true, close: true}}}
timeline:
  - userInputs: [[0, \"Old question\"]]
  - llmResponse: [{assistant: [[900, \"Old answer\"]]}]
  - runCmd: {cmd: make}
    result: built
    status: ok
  - sessionStart: {sessionId: s-1, expectedPromptResponse: {stopReason: max_tokens}}
  - userInputs: [[0, \"New question\"]]
  - llmResponse: [{assistant: [[0, \"New answer\"]]}]
";

#[tokio::test]
async fn a_loaded_session_tells_its_history_first() {
    let mut client = Client::start(LOADABLE).await;
    client
        .call(
            "initialize",
            json!({"protocolVersion": 3, "clientCapabilities": able()}),
        )
        .await;
    let params = |id: &str| json!({"sessionId": id, "cwd": "/work", "mcpServers": []});
    let unknown = client.call("session/load", params("s-2")).await;
    assert_eq!(unknown["error"]["code"], -32002);
    let id = client.ask("session/load", params("s-1")).await;
    let (before, answer) = client.until(id).await;
    assert_eq!(
        updates(&before),
        [
            "user_message_chunk",
            "agent_message_chunk",
            "tool_call",
            "tool_call_update"
        ]
    );
    // Nobody is asked for anything.
    assert_eq!(updates(&before).len(), before.len());
    assert_eq!(answer["result"], json!({}));
    let listed = client.call("session/list", json!({})).await;
    assert_eq!(
        listed["result"]["sessions"],
        json!([{"sessionId": "s-1", "cwd": "/work"}])
    );
    let id = client.prompt("s-1", "New question").await;
    let (before, answer) = client.until(id).await;
    assert_eq!(updates(&before), ["agent_message_chunk"]);
    assert_eq!(answer["result"]["stopReason"], "max_tokens");
    assert_eq!(
        client
            .call("session/close", json!({"sessionId": "s-1"}))
            .await["result"],
        json!({})
    );
    assert_eq!(
        client.call("session/resume", params("s-1")).await["error"]["code"],
        -32601
    );
    let verdict = client.end().await;
    assert_eq!(
        codes(&verdict),
        ["T-ACP-20", "T-ACP-20"],
        "{:?}",
        verdict.findings
    );
}

#[tokio::test]
async fn a_session_of_an_earlier_process_is_listed_and_resumed_without_its_history() {
    let timeline = LOADABLE.replace("close: true", "resume: true");
    assert_ne!(timeline, LOADABLE);
    let mut client = Client::start(&timeline).await;
    let hello = json!({"protocolVersion": 1, "clientCapabilities": able()});
    client.call("initialize", hello).await;
    let listed = client.call("session/list", json!({"cwd": "/work"})).await;
    let entry = json!({"sessionId": "s-1", "cwd": "/work"});
    assert_eq!(listed["result"]["sessions"], json!([entry]));
    let params = |id: &str| json!({"sessionId": id, "cwd": "/work", "mcpServers": []});
    let unknown = client.call("session/resume", params("s-2")).await;
    assert_eq!(unknown["error"]["code"], -32002);
    let id = client.ask("session/resume", params("s-1")).await;
    let (before, answer) = client.until(id).await;
    assert_eq!((before.len(), &answer["result"]), (0, &json!({})));
    let id = client.prompt("s-1", "New question").await;
    let (before, answer) = client.until(id).await;
    assert_eq!(updates(&before), ["agent_message_chunk"]);
    assert_eq!(answer["result"]["stopReason"], "max_tokens");
    let verdict = client.end().await;
    assert_eq!(codes(&verdict), ["T-ACP-20"], "{:?}", verdict.findings);
}

#[tokio::test]
async fn calls_that_the_client_must_make_are_missed() {
    let timeline = "
name: modes
timeline:
  - initialize: {protocolVersion: 1, clientCapabilities: {terminal: true}}
  - authenticate: {methodId: key}
  - userInputs: [[0, \"One\"]]
  - llmResponse: [{assistant: [[0, \"1\"]]}]
  - setMode: {modeId: plan}
  - userInputs: [[0, \"Two\"]]
  - llmResponse: [{assistant: [[0, \"2\"]]}]
";
    for is_good in [true, false] {
        let mut client = Client::start(timeline).await;
        let capabilities = json!({"terminal": is_good});
        let initialized = client
            .call(
                "initialize",
                json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
            )
            .await;
        assert_eq!(initialized["result"]["authMethods"][0]["id"], "key");
        let new = json!({"cwd": "/w", "mcpServers": []});
        if !is_good {
            assert_eq!(
                client.call("session/new", new.clone()).await["error"]["code"],
                -32000
            );
        }
        client
            .call("authenticate", json!({"methodId": "key"}))
            .await;
        let opened = client.call("session/new", new).await;
        assert_eq!(opened["result"]["modes"]["currentModeId"], "plan");
        let session = opened["result"]["sessionId"]
            .as_str()
            .expect("an id")
            .to_owned();
        let mode = |id: &str| json!({"sessionId": session, "modeId": id});
        assert_eq!(
            client.call("session/set_mode", mode("plan")).await["error"]["code"],
            -32602,
            "too early"
        );
        let id = client.prompt(&session, "One").await;
        client.until(id).await;
        if is_good {
            assert_eq!(
                client.call("session/set_mode", mode("plan")).await["result"],
                json!({})
            );
        }
        let id = client.prompt(&session, "Two").await;
        client.until(id).await;
        let expected: &[&str] = match is_good {
            true => &["T-ACP-20"],
            false => &["T-ACP-21", "T-ACP-22", "T-ACP-20", "T-ACP-22"],
        };
        assert_eq!(codes(&client.end().await), expected);
    }
}

/// What arrives of a turn of two messages with a fault at the first, line by line.
async fn spoiled(fault: &str) -> (Vec<String>, Verdict) {
    let timeline = format!(
        "
name: spoiled
timeline:
  - userInputs: [[0, \"Go\"]]
  - runCmd: {{cmd: make}}
    result: built
    fault: {{kind: {fault}}}
  - llmResponse: [{{assistant: [[0, \"Done\"]]}}]
"
    );
    let mut client = Client::start(&timeline).await;
    let session = client.open(json!({})).await;
    let id = client.prompt(&session, "Go").await;
    let mut lines = Vec::new();
    while let Ok(Some(line)) = client.lines.next_line().await {
        let is_last =
            line.contains(&format!("\"id\":{id},")) || line.contains(&format!("\"id\":{id}}}"));
        lines.push(line);
        if is_last {
            break;
        }
    }
    (lines, client.end().await)
}

#[tokio::test]
async fn faults_spoil_what_is_sent() {
    let is_json = |line: &String| serde_json::from_str::<Json>(line).is_ok();
    let (plain, _) = spoiled("split").await;
    assert!(plain.iter().all(is_json));
    let n_plain = plain.len();
    for (fault, n_lines, n_json) in [
        ("duplicate", n_plain + 1, n_plain + 1),
        ("reorder", n_plain, n_plain),
        ("merge", n_plain, n_plain),
        ("garbage", n_plain, n_plain - 1),
        ("wrong_id", n_plain, n_plain),
        ("cut", 1, 0),
        ("crash", 0, 0),
    ] {
        let (lines, verdict) = spoiled(fault).await;
        let found = (
            lines.len(),
            lines.iter().filter(|line| is_json(line)).count(),
        );
        assert_eq!(found, (n_lines, n_json), "{fault}: {lines:#?}");
        assert_eq!(verdict.is_crashed, fault == "crash");
        let is_unfired = verdict
            .findings
            .iter()
            .any(|found| found.code.name() == "T-FAULT-01");
        assert!(!is_unfired, "{fault}: {:?}", verdict.findings);
        let has_stranger = lines.iter().any(|line| line.contains("nobody-987654321"));
        assert_eq!(has_stranger, fault == "wrong_id");
    }
    let (lines, _) = spoiled("reorder").await;
    assert!(
        lines[0].contains("tool_call_update") && lines[1].contains("\"tool_call\""),
        "{lines:#?}"
    );
}

#[tokio::test]
async fn media_are_sent_from_their_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rich.yaml");
    // A picture of one pixel.
    let png = base64::Engine::decode(
        &base64::engine::general_purpose::STANDARD,
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    );
    let png = png.expect("base64");
    std::fs::write(folder.path().join("dot.png"), &png).expect("written");
    std::fs::write(
        &path,
        "
name: rich
timeline:
  - userInputs: [[0, \"Show\"]]
  - llmResponse:
      - assistant:
          - [0, {type: image, mimeType: image/png, path: dot.png}]
          - [0, {type: resource_link, uri: \"file:///a\", name: a}]
          - [0, {type: diff, path: /work/a.txt, oldText: x, newText: y}]
          - [0, {type: plan, entries: [{content: one, priority: low, status: pending}]}]
",
    )
    .expect("written");
    let mut client = Client::of(&path, |_| {}).await;
    let session = client.open(json!({})).await;
    let id = client.prompt(&session, "Show").await;
    let (before, _) = client.until(id).await;
    assert_eq!(
        updates(&before),
        [
            "agent_message_chunk",
            "agent_message_chunk",
            "tool_call",
            "plan"
        ]
    );
    let data = before[0]["params"]["update"]["content"]["data"]
        .as_str()
        .expect("data");
    let sent = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data);
    assert_eq!(sent.expect("base64"), png);
    assert!(client.end().await.passed);
}

#[tokio::test]
async fn a_client_that_leaves_in_a_turn_is_not_waited_for() {
    let mut client = Client::start(ROUND_TRIPS).await;
    let session = client.open(able()).await;
    client.prompt(&session, "Go").await;
    while client.next().await["method"] != "terminal/create" {}
    let verdict = client.end().await;
    assert_eq!(codes(&verdict), ["T-ACP-22"], "{:?}", verdict.findings);
    assert_eq!(verdict.unplayed.len(), 1);
}

#[tokio::test]
async fn without_a_prompt_nothing_has_passed() {
    let mut client = Client::start(ROUND_TRIPS).await;
    client.open(able()).await;
    let verdict = client.end().await;
    assert_eq!(codes(&verdict), ["T-ACP-22"], "{:?}", verdict.findings);
}

#[tokio::test]
async fn a_file_that_differs_is_told() {
    let timeline = ROUND_TRIPS.replace("expectedContent: \"two\"", "expectedContent: \"three\"");
    let mut client = Client::start(&timeline).await;
    let session = client.open(able()).await;
    let id = client.prompt(&session, "Go").await;
    served(&mut client, id, "3 passed", 0, "no1").await;
    let verdict = client.end().await;
    assert_eq!(codes(&verdict), ["T-ACP-24"], "{:?}", verdict.findings);
}

#[tokio::test]
async fn half_a_surrogate_pair_in_a_line_is_replaced_with_a_warning() {
    let mut client = Client::start(HELLO).await;
    client
        .line(r#"{"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {"protocolVersion": 1, "clientInfo": {"name": "a\ud83d", "version": "1"}}}"#)
        .await;
    let (_, answer) = client.until(7).await;
    assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
    let verdict = client.end().await;
    let found = verdict
        .findings
        .iter()
        .find(|found| found.code.name() == "C-JSON-04");
    assert_eq!(found.map(|found| found.severity), Some(Severity::Warning));
}

/// Plays a call that changes a file whose content the client answers so; what was written, and the findings.
async fn changed(call: &str, answer: Json, is_strict: bool) -> (Vec<String>, Verdict) {
    let timeline = format!(
        "name: changes\ntimeline:\n  - userInputs: [[0, Go]]\n  - {call}\n  - llmResponse: [assistant: [[0, Done.]]]\n"
    );
    let mut client = Client::with(&timeline, |options| options.play.is_strict = is_strict).await;
    let session = client.open(able()).await;
    let id = client.prompt(&session, "Go").await;
    let mut written = Vec::new();
    loop {
        let message = client.next().await;
        match message["method"].as_str() {
            None => break assert_eq!(message["id"], id, "{message}"),
            Some("fs/read_text_file") => {
                let mut answer = answer.clone();
                answer["id"] = message["id"].clone();
                answer["jsonrpc"] = json!("2.0");
                client.send(answer).await;
            }
            Some("fs/write_text_file") => {
                let content = message["params"]["content"].as_str();
                written.push(content.expect("a text").to_owned());
                client.answer(&message, Json::Null).await;
            }
            Some(_) => {}
        }
    }
    (written, client.end().await)
}

#[tokio::test]
async fn a_file_that_can_not_be_read_or_is_another_one_is_not_changed() {
    let append = "appendFile: {path: a.txt, content: \"more\\n\"}";
    let edit = "editFile: {path: a.txt, old_string: one, new_string: two}";
    let unreadable = json!({"error": {"code": -32603, "message": "the disk is gone"}});
    let missing = json!({"error": {"code": -32002, "message": "Resource"}});
    let in_words = json!({"error": {"code": -32603, "message": "ENOENT: no such file"}});
    let text = |content: &str| json!({"result": {"content": content}});
    for (call, answer, written, lax, strict) in [
        (append, &text("one\n"), &["one\nmore\n"][..], true, true),
        (append, &missing, &["more\n"], true, true),
        (append, &in_words, &["more\n"], true, true),
        (append, &unreadable, &[], false, false),
        (edit, &text("one\n"), &["two\n"], true, true),
        (edit, &unreadable, &[], false, false),
        (edit, &missing, &[], true, false),
        (edit, &text("three\n"), &[], true, false),
    ] {
        for (is_strict, passes) in [(false, lax), (true, strict)] {
            let (changes, verdict) = changed(call, answer.clone(), is_strict).await;
            assert_eq!(changes, written, "{call} {answer}");
            assert_eq!(
                verdict.passed, passes,
                "{call} {answer}: {:?}",
                verdict.findings
            );
            let mut findings = verdict.findings.iter();
            let is_told = findings.any(|found| found.code.name() == "T-ACP-24");
            assert_eq!(is_told, !(lax && strict), "{call} {answer}");
        }
    }
}
