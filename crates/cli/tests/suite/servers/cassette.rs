//! Cassettes, served to the clients of others and compared with the servers of others.

use super::*;

const NOTES: &str = r#"{"cassette": 1, "server": "notes", "tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
{"tool": "add", "arguments": {"text": "Tea"}, "result": "1"}
{"tool": "list", "result": {"notes": ["Tea"]}}
{"tool": "add", "arguments": {"text": ""}, "error": {"code": -32602, "message": "the text is empty"}}
"#;

/// What the client of the Python SDK prints.
const SEEN: [&str; 4] = [
    r#"["add", "list"]"#,
    r#"[false, "1", null]"#,
    r#"[false, "{\"notes\":[\"Tea\"]}", {"notes": ["Tea"]}]"#,
    r#""the text is empty""#,
];

fn served() -> Scratch {
    let scratch = program::scratch();
    scratch
        .write("notes.cassette.jsonl", NOTES)
        .expect("writable");
    scratch
}

#[track_caller]
fn sees_the_cassette(python: &Path, args: &[&str]) {
    let client = script("cassette_client.py");
    let client = client.to_str().expect("a path of UTF-8");
    let mut scratch = Scratch::new(python).expect("a scratch folder");
    patient(&mut scratch);
    let finished = scratch.run(&[&[client], args].concat()).expect("it starts");
    let lines: Vec<&str> = finished.stdout.lines().collect();
    let miss = lines.get(3).copied().unwrap_or_default();
    assert!(
        miss.starts_with(r#"[true, "`drop` was called, and the next record of"#),
        "{}{}",
        finished.stdout,
        finished.stderr
    );
    let others: Vec<&str> = [&lines[..3], &lines[4..]].concat();
    assert_eq!(others, SEEN, "{}", finished.stderr);
}

#[test]
fn clients_of_the_python_sdk_see_a_cassette_over_stdio() {
    for venv in ["venv", "venv-legacy"] {
        let Some(python) = peers::require(&format!("{venv}/bin/python")) else {
            return;
        };
        let scratch = served();
        let cassette = scratch.work().join("notes.cassette.jsonl");
        let cassette = cassette.to_str().expect("a path of UTF-8");
        sees_the_cassette(
            &python,
            &[env!("CARGO_BIN_EXE_cuecard"), "serve", "mcp", cassette],
        );
    }
}

#[test]
fn the_inspector_sees_a_cassette() {
    let Some(inspector) = inspector() else { return };
    inspector
        .0
        .write("notes.cassette.jsonl", NOTES)
        .expect("writable");
    let program = env!("CARGO_BIN_EXE_cuecard");
    let server = [program, "serve", "mcp", "notes.cassette.jsonl"];
    let listed = inspect(&inspector, &server, &["tools/list"]);
    assert_eq!(listed["tools"][0]["name"], "add", "{listed:#}");
    let add = |text| {
        let request = ["tools/call", "--tool-name", "add", "--tool-arg", text];
        inspect(&inspector, &server, &request)
    };
    let called = add("text=Tea");
    assert_eq!(called["content"][0]["text"], "1", "{called:#}");
    let missed = add("text=Oil");
    assert_eq!(missed["isError"], true, "{missed:#}");
    let told = missed["content"][0]["text"].as_str().expect("a text");
    assert!(told.contains("Oil") && told.contains("Tea"), "{told}");
}

#[test]
fn clients_of_the_python_sdk_see_a_cassette_over_http() {
    for venv in ["venv", "venv-legacy"] {
        let Some(python) = peers::require(&format!("{venv}/bin/python")) else {
            return;
        };
        let scratch = served();
        let running = scratch
            .start(&["serve", "mcp", "notes.cassette.jsonl", "--http"])
            .expect("it starts");
        let mut url = None;
        running.wait_for(|stdout, _| {
            let word = stdout
                .split_whitespace()
                .find(|word| word.starts_with("http://"));
            url = word.map(str::to_owned);
            url.is_some()
        });
        sees_the_cassette(&python, &[&url.expect("it says where")]);
    }
}

/// Verifies `cassette` against the server `peer`.
#[track_caller]
fn verifies(entry: &Value, cassette: &str, args: &[&str], exit: i32) -> Value {
    let mut scratch = with_server(entry);
    patient(&mut scratch);
    scratch
        .write("x.cassette.jsonl", cassette)
        .expect("writable");
    let args = [&["verify", "x.cassette.jsonl", "--json"], args].concat();
    Played::of(program::run(&scratch, &args), exit).json
}

const EVERYTHING: &str = r#"{"cassette": 1, "server": "peer"}
{"tool": "echo", "arguments": {"message": "hi"}, "result": "Echo: hi"}
{"tool": "get-sum", "arguments": {"a": 1, "b": 2}, "result": "The sum of 1 and 2 is 4."}
"#;

#[track_caller]
fn everything_has_drifted(entry: &Value) {
    let found = verifies(entry, EVERYTHING, &["--writes"], 4);
    let verdicts: Vec<_> = found["calls"]
        .as_array()
        .expect("calls")
        .iter()
        .map(|call| &call["verdict"])
        .collect();
    assert_eq!(verdicts, ["same", "drifted"], "{found:#}");
    assert_eq!(found["calls"][1]["differences"][0]["path"], "$");
}

#[test]
fn server_everything_is_compared_over_each_transport() {
    let Some(server) = npm("mcp-server-everything") else {
        return;
    };
    everything_has_drifted(&json!({"command": server, "args": ["stdio"]}));
    let preload = format!("--require={}", script("loopback.cjs").display());
    for (mode, path) in [("streamableHttp", "mcp"), ("sse", "sse")] {
        let variables = [("NODE_OPTIONS", preload.clone())];
        let running = HttpServer::start(&server, &variables, &[mode]);
        let kind = if mode == "sse" { "sse" } else { "http" };
        everything_has_drifted(&json!({"type": kind, "url": format!("{}/{path}", running.url)}));
    }
}

#[test]
fn both_eras_of_a_python_server_are_compared() {
    for (venv, server) in [
        ("venv", "python_sdk.py"),
        ("venv-legacy", "python_sdk_legacy.py"),
    ] {
        let Some(python) = peers::require(&format!("{venv}/bin/python")) else {
            return;
        };
        let entry = json!({"command": python, "args": [script(server), "stdio"]});
        let cassette = concat!(
            "{\"cassette\": 1, \"server\": \"peer\"}\n",
            r#"{"tool": "issues", "arguments": {"labels": ["bug"], "ids": [1]}, "result": {"content": [{"type": "text", "text": "x"}], "structuredContent": {"result": [{"labels": "bug", "ids": "[1]"}]}}}"#,
            "\n",
        );
        let found = verifies(&entry, cassette, &["--writes"], 0);
        assert_eq!(found["calls"][0]["verdict"], "same", "{found:#}");
    }
}

#[test]
fn a_changed_file_is_drift_of_server_filesystem_and_update_takes_it_in() {
    let Some(server) = npm("mcp-server-filesystem") else {
        return;
    };
    let mut scratch = program::scratch();
    patient(&mut scratch);
    scratch.write("shelf/list.txt", "one\n").expect("writable");
    let shelf = scratch.work().join("shelf");
    configure(&scratch, &json!({"command": server, "args": [&shelf]}));
    let call = json!({"tool": "read_text_file", "arguments": {"path": shelf.join("list.txt")}, "result": "one\n"});
    let write = json!({"tool": "create_directory", "arguments": {"path": shelf.join("new")}, "result": "x"});
    let cassette = format!("{{\"cassette\": 1, \"server\": \"peer\"}}\n{call}\n{write}\n");
    scratch
        .write("x.cassette.jsonl", cassette)
        .expect("writable");
    let verify = |scratch: &Scratch, more: &[&str], exit| {
        let args = [&["verify", "x.cassette.jsonl", "--json"], more].concat();
        Played::of(program::run(scratch, &args), exit).json
    };
    let found = verify(&scratch, &[], 4);
    assert_eq!(found["status"], "incomplete", "{found:#}");
    assert_eq!(found["calls"][0]["verdict"], "same", "{found:#}");
    assert!(!shelf.join("new").exists(), "what may write was not called");
    scratch.write("shelf/list.txt", "two\n").expect("writable");
    let found = verify(&scratch, &["--update"], 4);
    assert_eq!(
        (&found["status"], &found["updated"]),
        (&json!("drifted"), &json!(true))
    );
    let found = verify(&scratch, &[], 4);
    assert_eq!(found["calls"][0]["verdict"], "same", "{found:#}");
}

#[test]
fn server_memory_is_as_recorded() {
    let Some(server) = npm("mcp-server-memory") else {
        return;
    };
    let entry = json!({"command": server, "env": {"MEMORY_FILE_PATH": "/nonexistent/memory.json"}});
    let cassette = concat!(
        "{\"cassette\": 1, \"server\": \"peer\"}\n",
        r#"{"tool": "read_graph", "result": {"entities": [], "relations": []}}"#,
        "\n",
    );
    let found = verifies(&entry, cassette, &["--writes"], 0);
    assert_eq!(found["status"], "passed", "{found:#}");
}
