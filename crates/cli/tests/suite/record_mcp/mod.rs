//! `record mcp`: what passes the proxy is what would have passed without it, and the recording plays the same.
//!
//! The client is mostly `play`, with a config in which the proxy starts the server.

mod agents;
mod bytes;
mod peers;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use cuecard_testing::scratch::{Running, Scratch};
use serde_json::{Value, json};

use crate::program::{self, Played, read, told};
use crate::servers::HttpServer;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_cuecard");

/// A session whose agent is `play`, with the servers of `servers.json`.
const SESSION: &[&str] = &[
    "record",
    "mcp",
    "--config",
    "servers.json",
    "-o",
    "rec.json",
    "--",
    PROGRAM,
    "play",
    "scenario.json",
    "--config",
    "{config}",
];

/// The entry of a config whose server is started by a proxy that records into `rec.json`.
pub(crate) fn through_proxy(entry: &Value) -> Value {
    let args = [
        "record", "mcp", "--force", "-o", "rec.json", "--server", "peer",
    ];
    let mut args: Vec<Value> = args.map(Value::from).to_vec();
    match entry["command"].is_string() {
        true => {
            args.extend([json!("--"), entry["command"].clone()]);
            args.extend(entry["args"].as_array().into_iter().flatten().cloned());
        }
        false => args.extend([json!("--url"), entry["url"].clone()]),
    }
    let mut proxied = entry.clone();
    if let Some(members) = proxied.as_object_mut() {
        members.remove("url");
        members.remove("type");
    }
    proxied["command"] = PROGRAM.into();
    proxied["args"] = args.into();
    proxied
}

fn configure(scratch: &Scratch, entry: &Value) {
    let config = json!({"mcpServers": {"peer": entry}}).to_string();
    scratch.write(".mcp.json", config).expect("writable");
}

fn write_scenario(scratch: &Scratch, steps: &[Value]) {
    let steps: Vec<Value> = (1..)
        .zip(steps)
        .map(|(number, step)| {
            let mut step = step.clone();
            step["step"] = number.into();
            step["on_error"] = "skip".into();
            step
        })
        .collect();
    let scenario = json!({"version": "2.1", "metadata": {"name": "Calls"}, "steps": steps});
    scratch
        .write("scenario.json", scenario.to_string())
        .expect("writable");
}

/// What each step of a scenario gave.
fn results(scratch: &Scratch, scenario: &str, entry: &Value) -> Vec<(Value, Value)> {
    configure(scratch, entry);
    let args = ["play", scenario, "--include-results", "true", "--json"];
    let finished = program::run(scratch, &args);
    let exit = finished.code().expect("it ends by itself");
    let played = Played::of(finished, exit);
    let steps = played.json["step_results"].as_array().expect("a list");
    let result = |step: &Value| (step["result"].clone(), step["error"].clone());
    steps.iter().map(result).collect()
}

/// The lines of the cassette; each is whole.
pub(crate) fn cassette(scratch: &Scratch) -> Vec<Value> {
    program::trace_lines(&read(scratch, "rec.cassette.jsonl"))
}

/// The calls of the cassette.
fn calls(scratch: &Scratch) -> Vec<Value> {
    let mut lines = cassette(scratch);
    assert_eq!(lines[0]["cassette"], 1, "{lines:#?}");
    assert_eq!(lines[0]["server"], "peer");
    lines.retain(|line| line["cassette"].is_null());
    lines
}

/// A session through the proxy gives what it gives without, and so does the recording of it.
#[track_caller]
fn records_and_plays(entry: &Value, steps: &[Value]) -> Scratch {
    let mut scratch = program::scratch();
    scratch.limit(std::time::Duration::from_secs(180));
    write_scenario(&scratch, steps);
    let without = results(&scratch, "scenario.json", entry);
    assert_eq!(without.len(), steps.len());
    let recorded = results(&scratch, "scenario.json", &through_proxy(entry));
    assert_eq!(recorded, without);
    assert_eq!(calls(&scratch).len(), steps.len());
    let recording: Value = serde_json::from_str(&read(&scratch, "rec.json")).expect("JSON");
    let recorded_steps = recording["steps"].as_array().expect("a list");
    let tools =
        |steps: &[Value]| -> Vec<Value> { steps.iter().map(|step| step["tool"].clone()).collect() };
    assert_eq!(tools(recorded_steps), tools(steps));
    let checked = program::run(&scratch, &["check", "rec.json", "--strict"]);
    assert_eq!(checked.code(), Some(0), "{}", told(&checked));
    let again = results(&scratch, "rec.json", entry);
    assert_eq!(again, without);
    scratch
}

fn demo() -> Value {
    json!({"command": PROGRAM, "args": ["mcp", "demo"]})
}

fn call(tool: &str, params: Value) -> Value {
    json!({"tool": format!("mcp__peer__{tool}"), "params": params})
}

/// Numbers by chance, the same for the same seed (SplitMix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn text(&mut self) -> &'static str {
        let texts = [
            "tea",
            "",
            r#"{{"{{"}}not.a.reference}}"#,
            "über\n\"quotes\"",
            r#"a {{"{{"}} b"#,
            "\u{1f375} 1.50",
        ];
        texts[self.below(texts.len() as u64) as usize]
    }

    fn call(&mut self) -> Value {
        let (text, number) = (self.text(), self.below(4));
        match self.below(8) {
            0 => call(
                "add_note",
                json!({"title": format!("n{number}"), "text": text, "tags": [text]}),
            ),
            1 => call("get_note", json!({"id": number})),
            2 => call("list_notes", json!({})),
            3 => call("search_notes", json!({"query": format!("n{number}")})),
            4 => call("delete_note", json!({"id": number})),
            5 => call("count", json!({"by": number, "name": "c"})),
            6 => call("echo", json!({"message": text})),
            _ => call(
                "echo_json",
                json!({"value": {"deep": [text, number, null, 1.5]}}),
            ),
        }
    }
}

#[test]
fn generated_sessions_play_the_same() {
    for seed in 0..8 {
        let mut chance = Chance(seed);
        let mut entry = demo();
        entry["protocol"] = ["legacy", "modern"][(seed % 2) as usize].into();
        let steps: Vec<Value> = (0..4 + chance.below(12)).map(|_| chance.call()).collect();
        records_and_plays(&entry, &steps);
    }
}

#[test]
fn a_server_over_http_is_recorded_for_a_client_of_stdio() {
    let server = HttpServer::start(Path::new(PROGRAM), &[], &["mcp", "demo", "--http"]);
    for protocol in ["legacy", "modern"] {
        let entry = json!({"url": server.url, "protocol": protocol});
        let steps = [
            call("echo", json!({"message": "a"})),
            call("text", json!({"text": "one two", "do": "words"})),
            call("get_note", json!({"id": 400})),
            call("slow", json!({"seconds": 0.1})),
        ];
        records_and_plays(&entry, &steps);
    }
}

#[test]
fn a_server_over_http_is_recorded_for_clients_of_http() {
    let server = HttpServer::start(Path::new(PROGRAM), &[], &["mcp", "demo", "--http"]);
    let (place, client) = (program::scratch(), program::scratch());
    let (proxy, url) = listening_proxy(&place, &server.url);
    let steps = [
        call("echo", json!({"message": "a"})),
        call("get_note", json!({"id": 400})),
        call("slow", json!({"seconds": 0.1})),
    ];
    write_scenario(&client, &steps);
    for protocol in ["legacy", "modern"] {
        let of = |url: &str| json!({"url": url, "protocol": protocol});
        let without = results(&client, "scenario.json", &of(&server.url));
        assert_eq!(without.len(), steps.len());
        assert_eq!(results(&client, "scenario.json", &of(&url)), without);
    }
    proxy.interrupt();
    let finished = proxy.finish();
    assert_eq!(finished.code(), Some(0), "{}", told(&finished));
    assert!(finished.stdout.contains("6 calls"), "{}", told(&finished));
    assert_eq!(calls(&place).len(), 6);
}

#[test]
fn parallel_calls_are_served_to_the_client_that_made_them() {
    let scratch = program::scratch();
    let call = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "w", "arguments": {"k": id}}});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    }});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let messages = [initialize, initialized, call(1), call(2), call(3), call(4)];
    let input: String = messages
        .iter()
        .map(|message| format!("{message}\n"))
        .collect();
    // The second call is answered first, the third never.
    let script = r#"answer() { echo "{\"jsonrpc\":\"2.0\",\"id\":$1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}}"; }
        while read -r line; do case $line in *'"id":4'*) answer 2; answer 4; answer 1 ;; esac; done"#;
    let record = [
        "record", "mcp", "-o", "rec.json", "--server", "peer", "--", "sh", "-c", script,
    ];
    let recorded = scratch.run_with_input(&record, input.as_bytes());
    let recorded = recorded.expect("it starts");
    let counts = "rec.cassette.jsonl   4 calls, 1 without an answer";
    assert!(recorded.stderr.contains(counts), "{}", told(&recorded));
    let order: Vec<Value> = calls(&scratch)
        .iter()
        .map(|call| call["arguments"]["k"].clone())
        .collect();
    assert_eq!(order, [2, 4, 1, 3], "each line is written with its answer");

    let serve = ["serve", "mcp", "rec.cassette.jsonl"];
    let served = scratch.run_with_input(&serve, input.as_bytes());
    let served = served.expect("it starts");
    assert_eq!(served.code(), Some(0), "{}", told(&served));
    for text in ["1", "2", "4"] {
        let content = json!({"type": "text", "text": text}).to_string();
        assert!(served.stdout.contains(&content), "{}", told(&served));
    }
    configure(&scratch, &json!({"command": PROGRAM, "args": serve}));
    let played = program::run(&scratch, &["play", "rec.json"]);
    assert_eq!(played.code(), Some(0), "{}", told(&played));
    assert!(played.stdout.contains("3 passed"), "{}", told(&played));
}

/// Answers each request with an answer that has none for its call: the path of the request says which.
fn evasive_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.expect("a client");
            let request = read_http(&mut connection);
            let (head, body) = match request.split_whitespace().nth(1) {
                Some("/mcp?empty") => ("500 No\r\ncontent-length: 0", ""),
                Some("/mcp?html") => (
                    "200 OK\r\ncontent-type: text/html\r\ncontent-length: 2",
                    "hi",
                ),
                Some("/mcp?other") => (
                    "200 OK\r\ncontent-type: application/json\r\ncontent-length: 20",
                    r#"{"id":99,"result":1}"#,
                ),
                Some("/mcp?moved") => ("307 Moved\r\nlocation: /mcp?good\r\ncontent-length: 0", ""),
                Some("/mcp?away") => (
                    "307 Moved\r\nlocation: http://localhost:9/mcp\r\ncontent-length: 0",
                    "",
                ),
                Some("/mcp?good") if request.contains("tools/call") => (
                    "200 OK\r\ncontent-type: application/json\r\ncontent-length: 32",
                    r#"{"id":1,"result":{"content":[]}}"#,
                ),
                _ => ("200 OK\r\ncontent-type: text/event-stream", "data: {}\n\n"),
            };
            let answer = format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n{body}");
            connection.write_all(answer.as_bytes()).expect("it is read");
        }
    });
    format!("http://{address}/mcp")
}

/// Reads a message of HTTP to its end, which is that of its stream or of its known length.
fn read_http(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        let length = text.split("content-length: ").nth(1);
        let length = length.and_then(|rest| rest.lines().next()?.parse().ok());
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.len());
        if body
            .zip(length)
            .is_some_and(|(body, length): (usize, usize)| body >= length)
        {
            break;
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => break,
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_call_without_an_answer_over_http_fails_the_recording() {
    for (kinds, code) in [
        (&["good"][..], 0),
        (&["moved"], 0),
        (&["empty", "html", "other", "stream", "away"], 2),
    ] {
        let place = program::scratch();
        let (proxy, url) = listening_proxy(&place, &evasive_server());
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
        for (kind, id) in kinds.iter().zip(1..) {
            let body =
                json!({"id": id, "method": "tools/call", "params": {"name": kind}}).to_string();
            let mut client = TcpStream::connect(address).expect("it listens");
            let request = format!(
                "POST /mcp?{kind} HTTP/1.1\r\nhost: {address}\r\nmcp-session-id: s\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            client.write_all(request.as_bytes()).expect("it is read");
            let answer = read_http(&mut client);
            assert!(answer.starts_with("HTTP/1.1"), "{answer}");
            let moved = "the server redirects to `http://localhost:9/mcp`, which the recorder doesn't follow";
            assert_eq!(answer.contains(moved), *kind == "away", "{answer}");
        }
        proxy.interrupt();
        let finished = proxy.finish();
        assert_eq!(finished.code(), Some(code), "{}", told(&finished));
        let message = "server `peer` did not answer 5 of the requests";
        assert_eq!(
            told(&finished).contains(message),
            code == 2,
            "{}",
            told(&finished)
        );
    }
}

#[test]
fn what_keeps_a_server_of_a_session_from_starting_is_told_by_its_code() {
    let mut gone = demo();
    gone["cwd"] = "gone".into();
    let bad = json!({"command": "no-such-server"});
    for (entry, why) in [
        (bad, "command not found: no-such-server"),
        (gone, "directory not found: "),
    ] {
        let scratch = program::scratch();
        let config = json!({"mcpServers": {"peer": entry}}).to_string();
        scratch.write("servers.json", config).expect("writable");
        write_scenario(&scratch, &[call("a", json!({}))]);
        let finished = program::run(&scratch, SESSION);
        let message = format!("warning[C-RUN-04]: server `peer`: {why}");
        assert!(finished.stderr.contains(&message), "{}", told(&finished));
    }
}

/// A proxy that listens for HTTP in front of the server at `url`, and its own address.
fn listening_proxy(place: &Scratch, url: &str) -> (Running, String) {
    let args = [
        "record", "mcp", "--url", url, "--http", "--server", "peer", "-o", "rec.json",
    ];
    let proxy = place.start(&args).expect("it starts");
    let mut own = String::new();
    proxy.wait_for(|stdout, _| {
        own = stdout
            .split_whitespace()
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        stdout.ends_with('\n')
    });
    assert!(own.ends_with("/mcp"), "{own}");
    (proxy, own)
}

#[test]
fn all_servers_of_a_config_are_recorded_for_an_agent() {
    let scratch = program::scratch();
    let secret = "open-sesame-1234";
    let mut notes = demo();
    notes["env"] = json!({"NOTES_TOKEN": secret});
    let config = json!({"mcpServers": {"notes": notes, "counts": demo()}});
    scratch
        .write("servers.json", config.to_string())
        .expect("writable");
    let steps = [
        json!({"tool": "mcp__notes__add_note", "params": {"title": "Tea", "text": secret}}),
        json!({"tool": "mcp__counts__count", "params": {"by": 2}}),
        json!({"tool": "mcp__notes__list_notes", "params": {}}),
    ];
    write_scenario(&scratch, &steps);
    let finished = program::run(&scratch, SESSION);
    assert_eq!(finished.code(), Some(0), "{}", told(&finished));
    assert!(
        finished
            .stderr
            .contains("recorded  rec.cassette.jsonl   3 calls"),
        "{}",
        told(&finished)
    );
    let text = read(&scratch, "rec.cassette.jsonl") + &read(&scratch, "rec.json");
    assert!(!text.contains(secret), "{text}");
    let recorded: Value = serde_json::from_str(&read(&scratch, "rec.json")).expect("JSON");
    let tools: Vec<&Value> = recorded["steps"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|step| &step["tool"])
        .collect();
    assert_eq!(
        tools,
        [
            "mcp__notes__add_note",
            "mcp__counts__count",
            "mcp__notes__list_notes"
        ]
    );
    // What was taken out must be given.
    let play = ["play", "rec.json", "--config", "servers.json"];
    let played = program::run(&scratch, &play);
    assert_eq!(played.code(), Some(3), "{}", told(&played));
    let given = [&play[..], &["--var", "TEXT_SECRET=mint"]].concat();
    let played = program::run(&scratch, &given);
    assert_eq!(played.code(), Some(0), "{}", told(&played));
    assert_no_folder_left(&scratch);
}

/// A session whose first call was recorded, and whose second takes a minute.
fn in_its_second_call(scratch: &Scratch) -> Running {
    let config = json!({"mcpServers": {"peer": demo()}});
    scratch
        .write("servers.json", config.to_string())
        .expect("writable");
    write_scenario(
        scratch,
        &[
            call("echo", json!({"message": "a"})),
            call("slow", json!({"seconds": 60})),
        ],
    );
    let running = scratch.start(SESSION).expect("it starts");
    assert!(running.wait_for(|_, stderr| stderr.contains("1 ✓")));
    running
}

#[test]
fn an_interrupted_session_leaves_nothing_behind() {
    let scratch = program::scratch();
    let running = in_its_second_call(&scratch);
    running.interrupt();
    let finished = running.finish();
    program::assert_nothing_left(&finished);
    assert_eq!(
        finished.code(),
        Some(program::INTERRUPTED),
        "{}",
        told(&finished)
    );
    assert_eq!(calls(&scratch)[0]["arguments"], json!({"message": "a"}));
    let recorded: Value = serde_json::from_str(&read(&scratch, "rec.json")).expect("JSON");
    assert_eq!(recorded["steps"].as_array().map(Vec::len), Some(1));
    assert_no_folder_left(&scratch);
}

#[test]
fn what_a_killed_session_left_goes_with_the_next() {
    let scratch = program::scratch();
    let running = in_its_second_call(&scratch);
    running.kill();
    drop(running.finish());
    assert_eq!(session_folders(&scratch).len(), 1);
    let next = [
        "record",
        "mcp",
        "--config",
        "servers.json",
        "-o",
        "b.json",
        "--",
        "sh",
        "-c",
        "test -s {config}",
    ];
    assert_eq!(program::run(&scratch, &next).code(), Some(1));
    assert_no_folder_left(&scratch);
}

/// What was handed to the agent is gone.
#[track_caller]
fn assert_no_folder_left(scratch: &Scratch) {
    let left = session_folders(scratch);
    assert!(left.is_empty(), "{left:?}");
}

/// The folders of sessions, wherever the temporary folder of the tests lets them be.
fn session_folders(scratch: &Scratch) -> Vec<std::path::PathBuf> {
    let (home, work) = (scratch.home(), scratch.work());
    let places = [
        work.parent().expect("a folder").join("tmp"),
        home.join(".local/state/cuecard"),
    ];
    let entries = places
        .iter()
        .flat_map(std::fs::read_dir)
        .flatten()
        .flatten();
    let is_ours = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("cuecard-record-")
    };
    entries.map(|entry| entry.path()).filter(is_ours).collect()
}
