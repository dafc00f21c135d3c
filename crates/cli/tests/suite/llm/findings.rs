//! Every doubt about a scenario or a conversation is told on the terminal, in the trace, to machines, and by the exit
//! code of a strict run.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use cuecard_testing::scratch::{Finished, Running, Scratch};
use serde_json::{Value, json};

use super::run_dirs;
use crate::program;

/// When a doubt arises.
#[derive(Clone, Copy, PartialEq)]
enum Arises {
    /// When the files are read. In a strict run a warning keeps it from starting.
    AtStart,
    /// While it serves. In a strict run a warning fails it.
    WhileServing,
}

struct Doubt {
    code: &'static str,
    severity: &'static str,
    arises: Arises,
    /// What stands below the name of the scenario.
    scenario: &'static str,
    /// More arguments.
    args: &'static [&'static str],
    /// The conversation, as the messages of each request.
    requests: fn() -> Vec<Value>,
}

const HELLO: &str = "timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"One\"]]}]
  - userInputs: [[0, \"Go on\"]]
  - llmResponse: [{assistant: [[0, \"Two\"]]}]
";

/// The profile of an agent that has the tool `lookup` too.
const OTHER: &str = "agent = \"other\"
versions = \">=1.0.0\"
detect = [\"nothing\"]
[[tools.lookup]]
name = \"lookup\"
";

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn begin() -> Vec<Value> {
    vec![json!([user("Begin")])]
}

const DOUBTS: &[Doubt] = &[
    Doubt {
        code: "T-LLM-01",
        severity: "warning",
        arises: Arises::WhileServing,
        scenario: "server: {llmApiStyle: anthropic}
timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"One\"]]}]
",
        args: &[],
        requests: begin,
    },
    Doubt {
        code: "T-LLM-01",
        severity: "warning",
        arises: Arises::AtStart,
        scenario: "server: {llmApiStyle: openai}
timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"One\"]]}]
",
        args: &["--agent", "claude-code"],
        requests: Vec::new,
    },
    Doubt {
        code: "T-LLM-05",
        severity: "warning",
        arises: Arises::WhileServing,
        scenario: "timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: []
  - agentToolUse: {toolName: lookup, args: {}, result: as scripted}
  - llmResponse: [{assistant: [[0, \"Done\"]]}]
",
        args: &[],
        requests: || {
            let call = json!({"id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}});
            vec![
                json!([user("Begin")]),
                json!([
                    user("Begin"),
                    {"role": "assistant", "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": "call_1", "content": "another"},
                ]),
            ]
        },
    },
    Doubt {
        code: "T-LLM-08",
        severity: "warning",
        arises: Arises::AtStart,
        scenario: "timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, {type: diff, path: /a, newText: b}]]}]
",
        args: &[],
        requests: begin,
    },
    Doubt {
        code: "T-LLM-09",
        severity: "note",
        arises: Arises::WhileServing,
        scenario: HELLO,
        args: &[],
        requests: || {
            vec![
                json!([user("Begin")]),
                json!([
                    user("Summary so far"),
                    {"role": "assistant", "content": "I see"},
                    user("Go on"),
                ]),
            ]
        },
    },
    Doubt {
        code: "T-LLM-10",
        severity: "warning",
        arises: Arises::AtStart,
        scenario: "timeline:
  - userInputs: [[0, \"Begin\"]]
",
        args: &[],
        requests: begin,
    },
    Doubt {
        code: "T-SEL-03",
        severity: "warning",
        arises: Arises::WhileServing,
        scenario: HELLO,
        args: &["--any-prompt"],
        requests: || vec![json!([user("It is about something else entirely")])],
    },
    Doubt {
        code: "T-TIME-05",
        severity: "note",
        arises: Arises::AtStart,
        scenario: "timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[500, \"One\"]]}]
  - userInputs: [[100, \"Go on\"]]
  - llmResponse: [{assistant: [[0, \"Two\"]]}]
",
        args: &["--speed", "0"],
        requests: begin,
    },
    Doubt {
        code: "T-ASRT-03",
        severity: "note",
        arises: Arises::WhileServing,
        scenario: "timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"One\"]]}]
  - assert: {text: {contains: [One]}}
",
        args: &[],
        requests: begin,
    },
    Doubt {
        code: "T-TOOL-02",
        severity: "warning",
        arises: Arises::WhileServing,
        scenario: "timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: []
  - agentToolUse: {toolName: lookup, args: {}}
",
        args: &["--profile", "other.toml", "--agent", "other"],
        requests: begin,
    },
    Doubt {
        code: "T-TOOL-03",
        severity: "warning",
        arises: Arises::WhileServing,
        scenario: "timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: []
  - readFile: {path: /a, encoding: utf-8}
",
        args: &[],
        requests: begin,
    },
    Doubt {
        code: "T-TOOL-05",
        severity: "warning",
        arises: Arises::AtStart,
        scenario: "timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: []
  - agentToolUse: {toolName: lookup, args: {}}
",
        args: &["--agent", "claude-code"],
        requests: begin,
    },
    Doubt {
        code: "T-FAULT-01",
        severity: "warning",
        arises: Arises::WhileServing,
        scenario: "timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"One\"]]}]
    fault: {kind: stderr}
",
        args: &[],
        requests: begin,
    },
];

/// A stand-in that was told nothing yet, or that didn't start.
fn start(scratch: &Scratch, doubt: &Doubt, more: &[&str]) -> Running {
    let text = format!("name: scenario\n{}", doubt.scenario);
    scratch.write("scenario.yaml", &text).expect("writable");
    scratch.write("other.toml", OTHER).expect("writable");
    let args = [&["serve", "llm", "scenario.yaml"], doubt.args, more].concat();
    scratch.start(&args).expect("the program starts")
}

/// Has the conversation, and ends the stand-in.
fn converse(running: Running, doubt: &Doubt) -> Finished {
    let mut port = None;
    let is_ready = running.wait_for(|stdout, _| {
        let url = stdout.split_once("http://127.0.0.1:");
        let digits = url.map(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next());
        port = digits
            .flatten()
            .and_then(|digits| digits.parse::<u16>().ok());
        port.is_some() && stdout.contains('\n')
    });
    if is_ready {
        let port = port.expect("it is ready");
        for messages in (doubt.requests)() {
            ask(port, &messages);
        }
        running.terminate();
    }
    running.finish()
}

fn ask(port: u16, messages: &Value) {
    let names = ["lookup", "Bash", "Read", "Edit", "Write", "Glob", "Grep"];
    let tool = |name| json!({"type": "function", "function": {"name": name, "parameters": {}}});
    let tools: Vec<Value> = names.into_iter().map(tool).collect();
    let body = json!({"model": "m", "messages": messages, "tools": tools}).to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("listening");
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nx-cuecard-session: one\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("open");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// The codes and severities that machines are told, in `ready` and while it serves.
fn told(finished: &Finished) -> Vec<(String, String)> {
    let lines = finished
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let found = lines.flat_map(|line| match line["event"].as_str() {
        Some("ready") => line["diagnostics"].as_array().cloned().unwrap_or_default(),
        Some("finding") => vec![line],
        _ => Vec::new(),
    });
    let text = |found: &Value, key: &str| found[key].as_str().unwrap_or_default().to_owned();
    found
        .map(|found| (text(&found, "code"), text(&found, "severity")))
        .collect()
}

#[test]
fn each_doubt_is_told_everywhere() {
    for doubt in DOUBTS {
        let scratch = program::scratch();
        let finished = converse(start(&scratch, doubt, &["--json"]), doubt);
        let context = format!("{}: {}", doubt.code, program::told(&finished));
        assert_eq!(finished.code(), Some(0), "{context}");
        let expected = (doubt.code.to_owned(), doubt.severity.to_owned());
        assert_eq!(told(&finished), [expected], "{context}");
        let trace = run_dirs(&scratch)[0].join("trace.jsonl");
        let trace = std::fs::read_to_string(trace).expect("a trace");
        let logs = program::trace_lines(&trace);
        let logged = logs.iter().any(|line| {
            let message = line["data"]["message"].as_str().unwrap_or_default();
            line["type"] == "log" && message.starts_with(doubt.code)
        });
        assert!(logged, "{context}\n{trace}");

        let scratch = program::scratch();
        let finished = converse(start(&scratch, doubt, &[]), doubt);
        let context = format!("{}: {}", doubt.code, program::told(&finished));
        assert_eq!(finished.code(), Some(0), "{context}");
        let shown = format!("{}[{}]", doubt.severity, doubt.code);
        assert!(finished.stderr.contains(&shown), "{context}");
    }
}

#[test]
fn a_strict_run_fails_by_warnings_and_by_what_was_not_looked_at() {
    for doubt in DOUBTS {
        let scratch = program::scratch();
        let finished = converse(start(&scratch, doubt, &["--strict"]), doubt);
        let context = format!("{}: {}", doubt.code, program::told(&finished));
        let (exit, shown) = match (doubt.severity, doubt.arises) {
            ("note", _) if !["T-ASRT-03", "T-LLM-09"].contains(&doubt.code) => (0, "note"),
            (_, Arises::AtStart) => (3, "error"),
            (_, Arises::WhileServing) => (1, "error"),
        };
        assert_eq!(finished.code(), Some(exit), "{context}");
        let shown = format!("{shown}[{}]", doubt.code);
        assert!(finished.stderr.contains(&shown), "{context}");
    }
}

#[test]
fn a_scenario_without_a_prompt_in_a_set_is_doubted_at_the_start() {
    let scratch = program::scratch();
    scratch
        .write("one.yaml", format!("name: one\n{HELLO}"))
        .expect("writable");
    let mute = "name: two\ntimeline:\n  - llmResponse: [{assistant: [[0, \"Two\"]]}]\n";
    scratch.write("two.yaml", mute).expect("writable");
    let finished = program::run(&scratch, &["serve", "llm", ".", "--strict"]);
    assert_eq!(finished.code(), Some(3), "{}", program::told(&finished));
    assert!(
        finished.stderr.contains("error[T-SEL-03]"),
        "{}",
        finished.stderr
    );
    let finished = program::run(&scratch, &["serve", "llm", ".", "--", "true"]);
    assert!(
        finished.stderr.contains("warning[T-SEL-03]"),
        "{}",
        finished.stderr
    );
}
