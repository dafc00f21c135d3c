//! A real client of the Agent Client Protocol with `cuecard acp`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use cuecard_testing::peers;
use cuecard_testing::repository_root;
use serde_json::Value;

use crate::program;

/// What came of a talk.
struct Talk {
    /// What the client printed.
    said: String,
    verdict: Value,
    /// The file that the agent edits.
    list: Option<String>,
}

/// A client on an SDK.
#[derive(Debug, Clone, Copy)]
enum Sdk {
    Python,
    JavaScript,
}

impl Sdk {
    /// The command that runs the client; nothing when peers are left out.
    fn client(self) -> Option<Vec<PathBuf>> {
        let tests = repository_root().join("tests/acp");
        Some(match self {
            Self::Python => vec![
                peers::require("venv-llm/bin/python")?,
                tests.join("client.py"),
            ],
            Self::JavaScript => vec![
                peers::require_program("node")?,
                tests.join("client.mjs"),
                peers::require("npm/node_modules")?,
            ],
        })
    }
}

/// Sends prompts by an SDK; nothing when peers are left out.
fn talk(sdk: Sdk, prompts: &[&str]) -> Option<Talk> {
    let client = sdk.client()?;
    let scratch = program::scratch();
    let folder = scratch.work();
    let root = repository_root();
    let output = Command::new(&client[0])
        .args(&client[1..])
        .args(prompts)
        .arg("--")
        .arg(Path::new(env!("CARGO_BIN_EXE_cuecard")))
        .arg("acp")
        .arg(root.join("examples/acp/fix-notes.yaml"))
        .args(["--speed", "0", "-o", "verdict.json"])
        .current_dir(&folder)
        .output()
        .expect("the client runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    let verdict = std::fs::read(folder.join("verdict.json"));
    let verdict = verdict.unwrap_or_else(|error| panic!("{error}\n{said}\n{errors}"));
    Some(Talk {
        said,
        verdict: serde_json::from_slice(&verdict).expect("JSON"),
        list: std::fs::read_to_string(folder.join("list.txt")).ok(),
    })
}

#[test]
fn a_client_gets_what_the_timeline_says() {
    for sdk in [Sdk::Python, Sdk::JavaScript] {
        gets_what_the_timeline_says(sdk);
    }
}

fn gets_what_the_timeline_says(sdk: Sdk) {
    let Some(talk) = talk(sdk, &["Put milk on the list"]) else {
        return;
    };
    assert!(!talk.said.contains("INVALID"), "{sdk:?}: {}", talk.said);
    let said = talk
        .said
        .lines()
        .filter(|line| !line.starts_with("checked "));
    let lines: Vec<&str> = said.map(str::trim_end).collect();
    assert_eq!(
        lines,
        [
            "agent_thought_chunk  I look at what there is.",
            "agent_message_chunk  First a look at the folder.",
            "tool_call pending",
            "tool_call_update in_progress",
            "tool_call_update completed",
            "permission once",
            "tool_call pending",
            "tool_call_update in_progress",
            "tool_call_update completed",
            "agent_message_chunk  Milk is on the list.",
            "stopped end_turn",
        ]
    );
    assert_eq!(talk.list.as_deref(), Some("milk\n"));
    assert_eq!(talk.verdict["passed"], true, "{}", talk.verdict);
    assert_eq!(talk.verdict["unplayed"], serde_json::json!([]));
}

#[test]
fn what_a_client_says_otherwise_is_told_to_it() {
    for sdk in [Sdk::Python, Sdk::JavaScript] {
        is_told_what_was_expected(sdk);
    }
}

#[test]
fn what_the_agent_sends_is_as_the_published_schema_says() {
    let Some(talk) = talk(Sdk::JavaScript, &["Put milk on the list"]) else {
        return;
    };
    assert!(!talk.said.contains("INVALID"), "{}", talk.said);
    // The answers to three requests, the updates, and each of its own requests.
    assert!(talk.said.contains("checked 18"), "{}", talk.said);
}

fn is_told_what_was_expected(sdk: Sdk) {
    let Some(talk) = talk(sdk, &["Put tea on the list"]) else {
        return;
    };
    assert!(talk.said.contains("error -32602"), "{}", talk.said);
    assert!(talk.said.contains("Put milk on the list"), "{}", talk.said);
    assert_eq!(
        (&talk.verdict["passed"], talk.list),
        (&Value::Bool(false), None)
    );
    assert_eq!(talk.verdict["findings"][0]["code"], "T-ACP-20");
}

const NOISY: &str = "
name: noisy
timeline:
  - userInputs: [[0, Go]]
  - llmResponse: [{assistant: [[0, Done.]]}]
    fault: {kind: stderr}
";

/// More than a pipe holds is written to it before the answer is.
#[test]
fn a_client_that_does_not_read_standard_error_gets_its_answer() {
    let scratch = program::scratch();
    std::fs::write(scratch.work().join("noisy.yaml"), NOISY).expect("writable");
    let mut agent = Command::new(env!("CARGO_BIN_EXE_cuecard"))
        .args(["acp", "noisy.yaml"])
        .current_dir(scratch.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let requests = [
        r#""method":"initialize","params":{"protocolVersion":1}"#,
        r#""method":"session/new","params":{"cwd":"/","mcpServers":[]}"#,
        r#""method":"session/prompt","params":{"sessionId":"noisy-1","prompt":[{"type":"text","text":"Go"}]}"#,
    ];
    let mut input = agent.stdin.take().expect("a pipe");
    for (id, request) in requests.iter().enumerate() {
        writeln!(input, r#"{{"jsonrpc":"2.0","id":{id},{request}}}"#).expect("it is read");
    }
    let output = BufReader::new(agent.stdout.take().expect("a pipe"));
    let (sender, answers) = mpsc::channel();
    let reading = std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if line.contains("stopReason") {
                let _ = sender.send(line);
            }
        }
    });
    let answer = answers.recv_timeout(Duration::from_secs(30));
    drop(input);
    let mut errors = String::new();
    let mut stream = agent.stderr.take().expect("a pipe");
    stream.read_to_string(&mut errors).expect("text");
    reading.join().expect("it reads");
    let status = agent.wait().expect("it ends");
    assert!(answer.is_ok() && status.success(), "{answer:?} {status}");
    assert!(errors.len() > 8 << 20, "{}", errors.len());
}

/// What the agent demands is what the published schema demands.
#[test]
fn requests_and_answers_are_demanded_as_the_published_schema_does() {
    let Some(modules) = peers::require("npm/node_modules") else {
        return;
    };
    let read = |path: PathBuf| -> Value {
        let text = std::fs::read(&path).expect("it is there");
        serde_json::from_slice(&text).expect("JSON")
    };
    let published = read(modules.join("@agentclientprotocol/sdk/schema/v1/schema.json"));
    let own = read(repository_root().join("crates/acp/src/script/protocol.json"));
    let required = |schema: &Value| -> Vec<String> {
        let keys = schema["required"].as_array().into_iter().flatten();
        let mut keys: Vec<String> = keys.map(ToString::to_string).collect();
        keys.sort();
        keys
    };
    for (side, of, end) in [
        ("requests", "agent", "Request"),
        ("answers", "client", "Response"),
    ] {
        for (method, demands) in own[side].as_object().expect("methods") {
            let mut definitions = published["$defs"].as_object().expect("types").iter();
            let (_, definition) = definitions
                .find(|(name, schema)| {
                    schema["x-method"] == **method && schema["x-side"] == of && name.ends_with(end)
                })
                .unwrap_or_else(|| panic!("`{method}` is not published"));
            assert_eq!(required(demands), required(definition), "{method}");
        }
    }
}
