//! Clients that others wrote, and one that speaks the protocol by hand where those are too polite.

use std::io::Write as _;

use cuecard_testing::peers;
use cuecard_testing::scratch::{Running, Scratch};
use serde_json::{Value, json};

use super::*;
use crate::servers::{inspect, inspector};

const NAMES: [&str; 6] = [
    "list_scenarios",
    "check_scenario",
    "play_scenario",
    "explain",
    "record_transcript",
    "save_scenario",
];

/// The Python SDK of this environment saves a scenario and plays it.
fn python_saves_and_plays(venv: &str, protocol: &str) {
    let Some(python) = peers::require(&format!("{venv}/bin/python")) else {
        return;
    };
    let scratch = Scratch::new(&python).expect("a scratch folder");
    let calls = json!([
        {"name": "save_scenario", "arguments": {"name": "note", "scenario": note()}},
        {"name": "play_scenario", "arguments": {"scenario": "note", "variables": {"TITLE": "Tea"}, "dry_run": false}},
        {"name": "play_scenario", "arguments": {"scenario": 5}},
    ]);
    let client = crate::servers::script("python_calls.py");
    let client = client.to_str().expect("UTF-8");
    let finished = scratch
        .run_with_input(&[client, PROGRAM, "mcp"], calls.to_string().as_bytes())
        .expect("it starts");
    let told = program::told(&finished);
    assert_eq!(finished.code(), Some(0), "{told}");
    program::assert_nothing_left(&finished);
    let lines: Vec<Value> = finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines[0], json!({"protocol": protocol, "tools": NAMES}));
    for line in &lines[1..] {
        let text: Value =
            serde_json::from_str(line["text"].as_str().expect("a text")).expect("JSON");
        assert_eq!(text, line["structured"], "{told}");
    }
    let [saved, played, refused] = &lines[1..] else {
        panic!("{told}")
    };
    assert_eq!(
        saved["structured"]["saved"], ".cuecard/scenarios/note.json",
        "{told}"
    );
    assert_eq!(played["structured"]["status"], "passed", "{told}");
    assert_eq!(played["structured"]["outputs"]["note"]["id"], 1, "{told}");
    let progress = played["progress"].to_string();
    assert!(
        progress.contains("mcp__demo__add_note") && progress.contains("2 passed"),
        "{progress}"
    );
    assert_eq!(refused["is_error"], true, "{told}");
    let error = refused["structured"]["error"].as_str().expect("a text");
    assert!(error.contains("`scenario`"), "{error}");
}

#[test]
fn the_python_sdk_2_saves_and_plays() {
    python_saves_and_plays("venv", "2026-07-28");
}

#[test]
fn the_python_sdk_1_saves_and_plays() {
    python_saves_and_plays("venv-legacy", "2025-11-25");
}

#[test]
fn the_inspector_checks_and_plays() {
    let Some(inspector) = inspector() else { return };
    inspector
        .0
        .write("note.json", note().to_string())
        .expect("writable");
    let server = [PROGRAM, "mcp"];
    let listed = inspect(&inspector, &server, &["tools/list"]);
    let names = listed["tools"].as_array().expect("tools").iter();
    let names: Vec<_> = names.map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, NAMES.map(Some));
    let call = |tool: &str, arguments: &[&str]| {
        let mut request = vec!["tools/call", "--tool-name", tool];
        let arguments = arguments.iter();
        request.extend(arguments.flat_map(|argument| ["--tool-arg", *argument]));
        inspect(&inspector, &server, &request)["structuredContent"].clone()
    };
    let checked = call("check_scenario", &["scenario=note.json"]);
    assert_eq!(checked["valid"], true, "{checked:#}");
    let arguments = [
        "scenario=note.json",
        r#"variables={"TITLE":"Tea"}"#,
        "dry_run=false",
    ];
    let played = call("play_scenario", &arguments);
    assert_eq!(played["status"], "passed", "{played:#}");
}

/// A client that writes whatever a test wants.
struct Client {
    running: Running,
    next_id: u64,
}

impl Client {
    fn start(scratch: &Scratch, args: &[&str]) -> Self {
        let running = scratch
            .start(&[&["mcp"], args].concat())
            .expect("the server starts");
        let mut client = Self {
            running,
            next_id: 1,
        };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let id = client.request("initialize", hello);
        client.answer(id);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.running.stdin.as_mut().expect("open");
        writeln!(stdin, "{message}").expect("the server reads");
    }

    fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn call(&mut self, tool: &str, arguments: Value, token: Option<&str>) -> u64 {
        let mut params = json!({"name": tool, "arguments": arguments});
        if let Some(token) = token {
            params["_meta"] = json!({"progressToken": token});
        }
        self.request("tools/call", params)
    }

    /// Waits for a message that is like this.
    fn wait_for(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut found = None;
        let mut all = String::new();
        self.running.wait_for(|stdout, stderr| {
            let whole = stdout
                .split_inclusive('\n')
                .filter(|line| line.ends_with('\n'));
            let mut messages = whole.filter_map(|line| serde_json::from_str::<Value>(line).ok());
            found = messages.find(|message| is_it(message));
            all = format!("{stdout}{stderr}");
            found.is_some()
        });
        found.unwrap_or_else(|| panic!("it never came:\n{all}"))
    }

    fn answer(&self, id: u64) -> Value {
        self.wait_for(|message| message["id"] == id)
    }
}

/// How the runs that were begun stand, in the order in which they were begun.
fn statuses(scratch: &Scratch) -> Vec<String> {
    let mut runs = program::run_dirs(scratch);
    runs.sort();
    let statuses = runs.iter().map(|run| {
        let text = fs::read_to_string(run.join("run.json")).expect("a description");
        let run: Value = serde_json::from_str(&text).expect("JSON");
        run["status"].as_str().expect("a status").to_owned()
    });
    statuses.collect()
}

#[test]
fn a_call_that_is_cancelled_ends_its_run() {
    let scratch = program::scratch();
    let servers = json!({"mcpServers": {"peer": {"command": PROGRAM, "args": ["mcp", "demo"]}}});
    scratch
        .write(".mcp.json", servers.to_string())
        .expect("writable");
    let slow = json!({"version": "2.1", "metadata": {"name": "Slow"}, "steps": [
        {"step": 1, "tool": "mcp__peer__echo", "params": {"message": "hi"}},
        {"step": 2, "tool": "mcp__peer__slow", "params": {"seconds": 60}, "timeout": 120},
    ]});
    scratch
        .write("slow.json", slow.to_string())
        .expect("writable");
    let mut client = Client::start(&scratch, &[]);
    let arguments = json!({"scenario": "slow.json", "dry_run": false});
    let ids: Vec<u64> = (0..4)
        .map(|number| {
            client.call(
                "play_scenario",
                arguments.clone(),
                Some(&format!("run {number}")),
            )
        })
        .collect();
    for number in 0..4 {
        let token = format!("run {number}");
        client.wait_for(|message| {
            let params = &message["params"];
            let text = params["message"].as_str().unwrap_or_default();
            params["progressToken"] == *token && text.contains("mcp__peer__echo")
        });
    }
    assert_eq!(statuses(&scratch), ["running"; 4]);
    // All that may run at a time do: the next run waits until one has ended, and other calls don't.
    let explained = client.call("explain", json!({"what": "C-REF-02"}), None);
    client.answer(explained);
    assert_eq!(statuses(&scratch), ["running"; 4]);
    let waiting = client.call("play_scenario", json!({"scenario": "slow.json"}), None);
    let cancelled = json!({"requestId": ids[0], "reason": "enough"});
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}));
    client.answer(waiting);
    let mut ended = statuses(&scratch);
    ended.sort();
    assert_eq!(ended, ["interrupted", "running", "running", "running"]);
    // The others end with the client.
    client.running.stdin = None;
    let finished = client.running.finish();
    assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));
    program::assert_nothing_left(&finished);
}

#[test]
fn two_calls_that_save_the_same_name_save_one() {
    let scratch = program::scratch();
    let mut client = Client::start(&scratch, &[]);
    let arguments = json!({"name": "note", "scenario": note()});
    let ids = [(); 8].map(|()| client.call("save_scenario", arguments.clone(), None));
    let saved = ids.map(|id| client.answer(id)["result"]["isError"] == false);
    assert_eq!(saved.iter().filter(|saved| **saved).count(), 1);
}

#[test]
fn nothing_is_saved_through_a_link() {
    let scratch = program::scratch();
    let folder = scratch.work().join(".cuecard/scenarios");
    fs::create_dir_all(&folder).expect("writable");
    std::os::unix::fs::symlink("../config.json", folder.join("note.json")).expect("linked");
    let mut client = Client::start(&scratch, &["--confine"]);
    let arguments = json!({"name": "note", "scenario": note(), "overwrite": true});
    let id = client.call("save_scenario", arguments, None);
    let answer = client.answer(id);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let error = &answer["result"]["structuredContent"]["error"];
    assert!(error.to_string().contains("symbolic link"), "{answer}");
    assert!(!scratch.work().join(".cuecard/config.json").exists());
}

#[test]
fn what_an_agent_gives_is_on_no_command_line() {
    let scratch = program::scratch();
    let looks = json!({"version": "2.1", "metadata": {"name": "Looks"},
        "variables": {"KEY": "", "LIST": []}, "steps": [
        {"step": 1, "id": "look", "tool": "claude__bash",
         "params": {"command": "tr '\\0' ' ' < /proc/$PPID/cmdline"}, "output": {"words": "$.stdout"}},
        {"step": 2, "id": "said", "tool": "sandy__log", "params": {"message": "{{KEY}} {{LIST}}"},
         "output": {"text": "$"}},
    ]});
    scratch
        .write("looks.json", looks.to_string())
        .expect("writable");
    let mut client = Client::start(&scratch, &[]);
    let variables = json!({"KEY": "canary-7", "LIST": ["canary-8", 3]});
    let arguments = json!({"scenario": "looks.json", "variables": variables, "dry_run": false});
    let id = client.call("play_scenario", arguments, None);
    let outputs = client.answer(id)["result"]["structuredContent"]["outputs"].clone();
    let words = outputs["look"]["words"].as_str().expect("a text");
    assert!(
        words.contains("play") && !words.contains("canary"),
        "{outputs}"
    );
    let said = outputs["said"].to_string();
    assert!(
        said.contains("canary-7") && said.contains("canary-8"),
        "{outputs}"
    );
    client.running.stdin = None;
    program::assert_nothing_left(&client.running.finish());
}

#[test]
fn hostile_arguments_are_answered_and_nothing_is_written() {
    let scratch = program::scratch();
    let outside = scratch.home().join("outside");
    fs::create_dir_all(&outside).expect("writable");
    fs::write(outside.join("x.json"), note().to_string()).expect("writable");
    scratch
        .write("note.json", note().to_string())
        .expect("writable");
    std::os::unix::fs::symlink(&outside, scratch.work().join("link")).expect("linked");
    std::os::unix::fs::symlink(outside.join("x.json"), scratch.work().join("x.json"))
        .expect("linked");
    fs::create_dir_all(scratch.work().join("sub")).expect("writable");
    std::os::unix::fs::symlink(outside.join("x.json"), scratch.work().join("sub/x.json"))
        .expect("linked");
    fs::create_dir_all(scratch.work().join(".cuecard")).expect("writable");
    std::os::unix::fs::symlink(&outside, scratch.work().join(".cuecard/scenarios"))
        .expect("linked");
    let mut client = Client::start(&scratch, &[]);
    let huge = "x".repeat(3 << 20);
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let scenarios = [
        json!("x"),
        json!("x.json"),
        json!("link/x.json"),
        json!("link"),
        json!("sub"),
        json!("."),
        json!("../home/outside/x.json"),
        json!("/etc/passwd"),
        json!("a\u{0}b"),
        json!(""),
        json!("-"),
        json!("--config=x"),
        json!(huge),
        json!(null),
        json!(1),
        json!([]),
        json!({}),
        deep.clone(),
    ];
    let mut calls = Vec::new();
    for (tool, key) in [
        ("list_scenarios", "folder"),
        ("check_scenario", "scenario"),
        ("play_scenario", "scenario"),
        ("explain", "what"),
        ("record_transcript", "transcript"),
        ("record_transcript", "name"),
        ("save_scenario", "name"),
        ("save_scenario", "scenario"),
    ] {
        for value in &scenarios {
            let mut arguments = match tool {
                "save_scenario" => json!({"scenario": note(), "name": "x"}),
                "record_transcript" => json!({"transcript": "x", "name": "x"}),
                _ => json!({}),
            };
            arguments[key] = value.clone();
            calls.push((tool, arguments));
        }
        calls.push((tool, json!({"unknown": deep.clone()})));
    }
    let variables = json!({"": 1, "TITLE": huge, "--var": "x"});
    calls.push((
        "play_scenario",
        json!({"scenario": "note.json", "variables": variables}),
    ));
    for (tool, arguments) in calls {
        let id = client.call(tool, arguments.clone(), None);
        let answer = client.answer(id);
        let shown: String = arguments.to_string().chars().take(200).collect();
        let size = answer.to_string().len();
        assert!(size < 64_000, "{tool} {shown}: {size} bytes");
        let is_error = answer.get("error").is_some() || answer["result"]["isError"] == true;
        let text = answer.to_string();
        assert!(is_error, "{tool} {shown}: {text}");
        assert!(!text.contains("root:"), "{tool} {shown}: {text}");
    }
    // What the link leads to is not listed either.
    let listed = client.call("list_scenarios", json!({}), None);
    assert_eq!(
        client.answer(listed)["result"]["structuredContent"]["scenarios"],
        json!([])
    );
    let only: Vec<String> = files_below(&outside);
    assert_eq!(only, ["x.json"]);
    client.running.stdin = None;
    program::assert_nothing_left(&client.running.finish());
}

#[test]
fn a_cassette_outside_of_the_project_is_not_read() {
    let scratch = program::scratch();
    let cassette = "{\"cassette\":1,\"server\":\"s\"}\n{\"tool\":\"t\",\"arguments\":{},\"result\":{\"content\":[]}}\n";
    let outside = scratch.home().join("outside.jsonl");
    fs::write(&outside, cassette).expect("writable");
    for name in ["linked", "own"] {
        scratch
            .write(format!("{name}.json"), note().to_string())
            .expect("writable");
    }
    scratch
        .write("own.cassette.jsonl", cassette)
        .expect("writable");
    let link = scratch.work().join("linked.cassette.jsonl");
    std::os::unix::fs::symlink(&outside, link).expect("linked");
    let mut client = Client::start(&scratch, &[]);
    for (name, is_error) in [("own", false), ("linked", true)] {
        let arguments = json!({"transcript": format!("{name}.json"), "name": name});
        let id = client.call("record_transcript", arguments, None);
        let answer = client.answer(id);
        assert_eq!(answer["result"]["isError"], is_error, "{answer}");
        let refused = "the path `linked.cassette.jsonl`";
        assert_eq!(answer.to_string().contains(refused), is_error, "{answer}");
    }
    client.running.stdin = None;
    program::assert_nothing_left(&client.running.finish());
}
