//! Sessions with real servers, recorded by a client of the test, become scenarios that play with other values.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cuecard_testing::scratch::Scratch;
use cuecard_testing::site::Site;
use serde_json::{Value, json};

use crate::agents;
use crate::program::{self, read, told};
use crate::targets::Peer;

/// An agent without a model: it calls tools of a server, and writes what came into a cassette.
pub(crate) struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next_id: u64,
    cassette: String,
}

impl Client {
    /// Starts the server that a config names.
    pub(crate) fn start(scratch: &Scratch, server: &str) -> Self {
        let config: Value = serde_json::from_str(&read(scratch, ".mcp.json")).expect("a config");
        let entry = &config["mcpServers"][server];
        let args = entry["args"].as_array().expect("arguments");
        let mut started = Command::new(entry["command"].as_str().expect("a command"))
            .args(args.iter().filter_map(Value::as_str))
            .current_dir(scratch.work())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut client = Self {
            input: started.stdin.take().expect("piped"),
            output: BufReader::new(started.stdout.take().expect("piped")),
            server: started,
            next_id: 0,
            cassette: String::new(),
        };
        let hello = client.request(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let tools = client.request("tools/list", &json!({}));
        client.record(&json!({"cassette": 1, "server": server, "introduction": hello, "tools": tools["tools"]}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the server reads");
    }

    fn record(&mut self, line: &Value) {
        self.cassette.push_str(&format!("{line}\n"));
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            let length = self.output.read_line(&mut line).expect("readable");
            assert!(length > 0, "the server ended before it answered {method}");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    }

    /// Calls a tool and gives the text of its answer.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        self.record(&json!({"tool": tool, "arguments": arguments, "result": result}));
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_ne!(result["isError"], true, "{tool}: {text}");
        text.to_owned()
    }

    /// Ends as clients end: what the server does then is its own.
    pub(crate) fn leave(mut self) {
        drop(self.input);
        self.server.wait().expect("it was started");
    }

    fn finish(mut self) -> String {
        drop(self.input);
        let _ = self.server.kill();
        self.server.wait().expect("it was started");
        self.cassette
    }
}

/// What the server knows an element by, from the line of a snapshot that holds `words`.
pub(crate) fn id_in(snapshot: &str, words: &str) -> String {
    let line = snapshot
        .lines()
        .find(|line| line.contains(words))
        .unwrap_or_else(|| panic!("no {words} in {snapshot}"));
    let start = ["uid=", "[ref="]
        .iter()
        .find_map(|mark| Some(line.find(mark)? + mark.len()))
        .expect("an id");
    let end = line[start..]
        .find([' ', ']'])
        .map_or(line.len(), |at| start + at);
    line[start..end].to_owned()
}

fn infer(scratch: &Scratch, args: &[&str]) -> Value {
    let finished = program::run(scratch, &[&["infer"], args, &["--json"]].concat());
    assert_eq!(finished.code(), Some(0), "{}", told(&finished));
    serde_json::from_str(&finished.stdout).expect("a document")
}

#[test]
fn two_recordings_of_the_demo_server_become_a_scenario_for_any_note() {
    let scratch = program::scratch();
    let program = env!("CARGO_BIN_EXE_cuecard");
    let config = json!({"mcpServers": {"notes": {"command": program, "args": ["mcp", "demo"]}}});
    scratch
        .write(".mcp.json", config.to_string())
        .expect("writable");
    for (name, first, title) in [("a", "Tea", "Buy milk"), ("b", "Rice", "Call Ann")] {
        let mut client = Client::start(&scratch, "notes");
        // Another note before it, so that the ids differ.
        for extra in 0..first.len() - 2 {
            client.call(
                "add_note",
                &json!({"title": format!("{first} {extra}"), "text": "x"}),
            );
        }
        let added = client.call("add_note", &json!({"title": title, "text": "by hand"}));
        let added: Value = serde_json::from_str(&added).expect("a note");
        client.call("get_note", &json!({"id": added["id"]}));
        client.call("delete_note", &json!({"id": added["id"]}));
        let cassette = client.finish();
        // The notes before are another task's.
        let lines: Vec<&str> = cassette.lines().collect();
        let own = [&lines[..1], &lines[lines.len() - 3..]].concat().join("\n");
        scratch
            .write(format!("{name}.cassette.jsonl"), own)
            .expect("writable");
    }
    let document = infer(
        &scratch,
        &["a.cassette.jsonl", "b.cassette.jsonl", "-o", "note.json"],
    );
    assert_eq!(document["questions"], json!([]), "{document:#}");
    assert_eq!(
        document["scenario"]["variables"],
        json!({"TITLE": "Buy milk"})
    );
    let steps = document["scenario"]["steps"].as_array().expect("steps");
    assert_eq!(steps[1]["params"], json!({"id": "{{add_note.id}}"}));
    assert_eq!(steps[2]["params"], json!({"id": "{{add_note.id}}"}));
    let checked = program::run(&scratch, &["check", "note.json", "--strict", "--connect"]);
    assert_eq!(checked.code(), Some(0), "{}", told(&checked));
    let played = program::play(
        &scratch,
        &[
            "note.json",
            "--var",
            "TITLE=Water the plants",
            "--include-results",
        ],
        0,
    );
    assert_eq!(played.statuses(), ["passed"; 3]);
    assert_eq!(
        played.json["step_results"][1]["result"]["title"],
        "Water the plants"
    );
}

#[test]
fn a_recorded_browser_session_plays_in_a_fresh_browser() {
    for peer in [Peer::Newer, Peer::Playwright] {
        let Some(scratch) = peer.start() else {
            return;
        };
        let site = Site::start().expect("a site");
        let mut client = Client::start(&scratch, peer.server());
        let (open, look, fill, click) = match peer.is_playwright() {
            true => (
                "browser_navigate",
                "browser_snapshot",
                "browser_type",
                "browser_click",
            ),
            false => ("navigate_page", "take_snapshot", "fill", "click"),
        };
        let page = |mut arguments: Value| {
            if !peer.is_playwright() {
                arguments["pageId"] = json!(1);
            }
            arguments
        };
        let act = |id: String, text: Option<&str>| {
            let key = if peer.is_playwright() {
                "target"
            } else {
                "uid"
            };
            let mut arguments = page(json!({ key: id }));
            if let Some(text) = text {
                let key = if peer.is_playwright() {
                    "text"
                } else {
                    "value"
                };
                arguments[key] = json!(text);
            }
            arguments
        };
        client.call(open, &page(json!({"url": site.url("login.html")})));
        let snapshot = client.call(look, &page(json!({})));
        client.call(
            fill,
            &act(
                id_in(&snapshot, "textbox \"E-mail\""),
                Some("ann@example.org"),
            ),
        );
        client.call(
            fill,
            &act(id_in(&snapshot, "textbox \"Password\""), Some("secret-88")),
        );
        client.call(click, &act(id_in(&snapshot, "button \"Log in\""), None));
        scratch
            .write("login.cassette.jsonl", client.finish())
            .expect("writable");
        assert_eq!(site.count("login"), 1, "{peer:?}");

        let document = infer(&scratch, &["login.cassette.jsonl", "-o", "login.json"]);
        assert_eq!(document["questions"], json!([]), "{document:#}");
        let steps = document["scenario"]["steps"].as_array().expect("steps");
        let targets: Vec<&Value> = steps.iter().map(|step| &step["target"]).collect();
        assert_eq!(
            targets,
            [
                &Value::Null,
                &json!({"role": "textbox", "name": "E-mail"}),
                &json!({"role": "textbox", "name": "Password"}),
                &json!({"role": "button", "name": "Log in"}),
            ],
            "{peer:?}"
        );
        // The password is known by the name of its field only.
        assert_eq!(document["scenario"]["variables"], json!({"PASSWORD": ""}));
        assert!(!read(&scratch, "login.json").contains("secret-88"));
        let checked = program::run(&scratch, &["check", "login.json", "--strict"]);
        assert_eq!(checked.code(), Some(0), "{}", told(&checked));
        let given = ["login.json", "--var", "PASSWORD=secret-88"];
        let played = program::play(&scratch, &given, 0);
        assert_eq!(played.statuses(), ["passed"; 4], "{peer:?}");
        assert_eq!(site.count("login"), 2, "{peer:?}");
    }
}

/// The files below a folder with this ending.
fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.expect("readable").path());
    let below = paths.flat_map(|path| match path.is_dir() {
        true => files_below(&path, ending),
        false => vec![path],
    });
    below
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect()
}

#[test]
fn a_session_of_codex_plays_without_it() {
    let example = cuecard_testing::repository_root().join("examples/llm/agent.yaml");
    let example = fs::read_to_string(example).expect("an example");
    // With commands, and with patches.
    for (model, calls, writes) in [
        ("scripted", "exec_command", "claude__bash"),
        ("gpt-5.5", "apply_patch", "claude__write"),
    ] {
        let Some(agent) = agents::codex(model, calls) else {
            return;
        };
        let recorded = agents::prepared(&agent, &example);
        let finished = agents::run(&recorded, &agent);
        assert_eq!(finished.code(), Some(0), "{}", told(&finished));
        let sessions = files_below(&recorded.home().join(".codex/sessions"), ".jsonl");
        let [session] = sessions.as_slice() else {
            panic!("one session, not {sessions:?}");
        };
        let scratch = program::scratch();
        scratch
            .write("session.jsonl", fs::read(session).expect("readable"))
            .expect("writable");
        let made = program::run(
            &scratch,
            &[
                "record",
                "transcript",
                "session.jsonl",
                "-o",
                "greeting.json",
                "--json",
            ],
        );
        assert_eq!(made.code(), Some(0), "{}", told(&made));
        let document: Value = serde_json::from_str(&made.stdout).expect("a document");
        assert_eq!(document["questions"], json!([]), "{document:#}");
        assert_eq!(
            document["scenario"]["steps"][0]["tool"], writes,
            "{document:#}"
        );
        let checked = program::run(&scratch, &["check", "greeting.json", "--strict"]);
        assert_eq!(checked.code(), Some(0), "{}", told(&checked));
        program::play(&scratch, &["greeting.json"], 0);
        assert_eq!(
            read(&scratch, "notes/greeting.txt"),
            "Hello from the timeline.\n"
        );
        assert_eq!(read(&scratch, "words.txt").trim(), "4");
    }
}
