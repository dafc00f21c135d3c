//! The examples of the public scenario format (v2.1) in `tests/seed`, one file for each section that has one.
//!
//! All of them check without errors. Those that need neither a browser nor more than a stand-in for an account
//! are played, with the folders of the examples replaced by those of the test, and have the effect they should.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use cuecard_testing::scratch::Scratch;
use serde_json::{Value, json};

use crate::program::{self, Played, read};

/// What an example of the format may be warned about: literal element ids, and outputs for the reader of the
/// result alone.
const ALLOWED_WARNINGS: &[&str] = &["C-UID-01", "C-OUT-02", "C-EXIT-01"];

#[test]
fn every_example_checks_without_errors() {
    let scratch = program::scratch();
    let mut files: Vec<String> = fs::read_dir(folder())
        .expect("the examples")
        .map(|entry| {
            let path = entry.expect("readable").path();
            path.into_os_string()
                .into_string()
                .expect("a readable path")
        })
        .collect();
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    let mut args = vec!["check", "--json"];
    args.extend(files.iter().map(String::as_str));
    let checked = program::run(&scratch, &args);
    assert_eq!(checked.code(), Some(0), "{}", program::told(&checked));
    let checked: Value = serde_json::from_str(&checked.stdout).expect("one JSON document");
    let checked = checked["files"].as_array().expect("an entry for each file");
    assert_eq!(checked.len(), files.len());
    for entry in checked {
        assert_eq!(entry["errors"], 0, "{entry:#}");
        for diagnostic in entry["diagnostics"].as_array().into_iter().flatten() {
            let code = diagnostic["code"].as_str().unwrap_or_default();
            assert!(ALLOWED_WARNINGS.contains(&code), "{entry:#}");
        }
    }
}

#[test]
fn literal_element_ids_are_warned_about_one_by_one() {
    let scratch = program::scratch();
    for (name, count) in [
        ("uid-based-selection", 1),
        ("interaction-patterns", 2),
        ("selective-retry", 1),
        ("sandy-wait-for-element", 0),
    ] {
        let file = folder().join(format!("{name}.json"));
        let checked = program::run(
            &scratch,
            &["check", file.to_str().expect("a readable path")],
        );
        let found = checked.stderr.matches("warning[C-UID-01]").count()
            + checked.stdout.matches("warning[C-UID-01]").count();
        assert_eq!(found, count, "{}", program::told(&checked));
    }
}

#[test]
fn metadata_and_environment_are_kept_and_shown() {
    let scratch = program::scratch();
    for name in ["metadata-schema", "environment-schema"] {
        let source = adapted(&scratch, name);
        play(&scratch, name, &[], 0);
        let checked = program::run(&scratch, &["check", "--json", &format!("{name}.json")]);
        let checked: Value = serde_json::from_str(&checked.stdout).expect("JSON");
        for key in ["metadata", "environment"] {
            assert_eq!(
                checked["files"][0][key],
                *source.get(key).unwrap_or(&Value::Null),
                "{checked:#}"
            );
        }
    }
}

#[test]
fn variables_are_substituted_and_an_empty_one_must_be_given() {
    let scratch = with_accounts("7");
    adapted(&scratch, "variable-substitution");
    let refused = program::run(&scratch, &["play", "variable-substitution.json"]);
    assert_eq!(refused.code(), Some(3), "{}", program::told(&refused));
    assert!(refused.stderr.contains("`TITLE`"), "{}", refused.stderr);

    let played = play(
        &scratch,
        "variable-substitution",
        &["--var", "TITLE=Broken door"],
        0,
    );
    assert_eq!(
        played.step(1)["params"],
        json!({"title": "Broken door", "repo": "owner/repo"})
    );
}

#[test]
fn outputs_reach_later_steps() {
    let scratch = with_accounts("7");
    let played = play(&scratch, "output-schema", &[], 0);
    assert_eq!(played.output("create_issue", "issue_number"), &json!(7));
    assert_eq!(
        played.output("create_issue", "full_response")["html_url"],
        "https://issues.example/7"
    );
    assert_eq!(played.step(2)["params"]["text"], "Issue #7 created");
}

#[test]
fn every_path_of_the_table_finds_its_part() {
    let scratch = with_accounts("7");
    let played = play(&scratch, "jsonpath-table", &[], 0);
    let output = |name| played.output("create_issue", name);
    assert_eq!(output("full")["number"], 7);
    assert_eq!(output("field"), &json!(7));
    assert_eq!(output("nested"), &json!("nested"));
    assert_eq!(output("element"), &json!({"id": 1}));
    assert_eq!(output("ids"), &json!([1, 2]), "all ids, not the first");
    assert_eq!(played.step(2)["params"]["message"], "nested [1,2]");
}

#[test]
fn skip_goes_on_and_stop_ends_the_run() {
    let scratch = with_accounts("7");
    let played = play(&scratch, "error-handling", &[], 1);
    assert_eq!(played.statuses(), ["tolerated", "passed", "failed"]);
    assert_eq!(played.json["failed_step"], 3);
    assert_eq!(
        played.json["error"]
            .as_str()
            .map(|error| error.contains("the service is down")),
        Some(true)
    );
}

#[test]
fn retry_comes_back_while_the_error_says_so_and_only_then() {
    let scratch = program::scratch();
    let played = play(&scratch, "retry-configuration", &[], 0);
    assert_eq!(played.step(1)["retries"], 1);
    assert_eq!(played.step(1)["attempts"].as_array().map(Vec::len), Some(2));

    let mut other = adapted(&scratch, "retry-configuration");
    other["steps"][0]["params"]["message"] = "the network is down".into();
    write(&scratch, "other", &other);
    let stopped = program::play(&scratch, &["other.json"], 1);
    assert_eq!(
        stopped.step(1)["attempts"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn conditions_look_at_what_came_back() {
    for (number, statuses) in [
        ("7", ["passed", "passed", "skipped"]),
        ("", ["passed", "skipped", "passed"]),
    ] {
        let scratch = with_accounts(number);
        let played = play(&scratch, "conditional-execution", &[], 0);
        assert_eq!(played.statuses(), statuses);
        let logs = [
            played.stderr.contains("there is an issue"),
            played.stderr.contains("there is none"),
        ];
        assert_eq!(logs, [!number.is_empty(), number.is_empty()]);
    }
}

#[test]
fn wait_and_log_do_what_they_say() {
    let scratch = program::scratch();
    let waited = play(
        &scratch,
        "sandy-wait",
        &["--speed", "0", "--include-results"],
        0,
    );
    assert_eq!(waited.step(1)["result"], json!({"waited": 2}));

    let logged = play(&scratch, "sandy-log", &["--include-results"], 0);
    assert_eq!(
        logged.step(2)["result"],
        json!({"logged": "Step completed"})
    );
    assert!(
        logged.stderr.contains("Step completed"),
        "{}",
        logged.stderr
    );
}

#[test]
fn append_file_appends_in_every_format() {
    let scratch = program::scratch();
    for _ in 0..2 {
        play(&scratch, "sandy-append-file", &[], 0);
    }
    let lines = "{\"name\":\"Tea\",\"price\":\"4\"}\n{\"name\":\"Coffee\",\"price\":\"7\"}\n";
    assert_eq!(read(&scratch, "products.jsonl"), lines.repeat(2));
    let rows = "Tea,4\nCoffee,7\n";
    assert_eq!(
        read(&scratch, "products.csv"),
        format!("name,price\n{rows}{rows}"),
        "one header"
    );
    let list: Value = serde_json::from_str(&read(&scratch, "products.json")).expect("valid JSON");
    let (tea, coffee) = (
        json!({"name": "Tea", "price": "4"}),
        json!({"name": "Coffee", "price": "7"}),
    );
    assert_eq!(list, json!([tea, coffee, tea, coffee]));
}

#[test]
fn read_gives_the_lines_that_are_asked_for() {
    let scratch = program::scratch();
    let lines: String = (1..=100).map(|line| format!("line {line}\n")).collect();
    scratch.write("file.txt", lines).expect("writable");
    let played = play(&scratch, "claude-read", &[], 0);
    let content = played
        .output("read_config", "content")
        .as_str()
        .expect("text");
    let shown: Vec<&str> = content.lines().collect();
    assert_eq!(shown.len(), 50);
    assert_eq!(shown[0], "    10\tline 10");
    assert_eq!(shown[49], "    59\tline 59");
}

#[test]
fn write_makes_the_file_and_its_folders() {
    let scratch = program::scratch();
    let source = adapted(&scratch, "claude-write");
    play(&scratch, "claude-write", &[], 0);
    assert_eq!(read(&scratch, "output.txt"), "File content here");

    let mut deeper = source;
    deeper["steps"][0]["params"]["file_path"] = "new/folders/output.txt".into();
    write(&scratch, "deeper", &deeper);
    program::play(&scratch, &["deeper.json"], 0);
    assert_eq!(
        read(&scratch, "new/folders/output.txt"),
        "File content here"
    );
}

#[test]
fn edit_replaces_a_unique_text_only() {
    let scratch = program::scratch();
    scratch
        .write(
            "file.py",
            "def old_function():\n    pass\n\n\ndef other():\n    pass\n",
        )
        .expect("writable");
    play(&scratch, "claude-edit", &[], 0);
    let edited = "def new_function():\n    pass\n\n\ndef other():\n    pass\n";
    assert_eq!(read(&scratch, "file.py"), edited);

    // What is replaced already is not found again.
    let missing = play(&scratch, "claude-edit", &[], 1);
    assert_eq!(missing.json["failed_step"], 3);
    assert_eq!(read(&scratch, "file.py"), edited);

    let twice = "def old_function():\n    pass\ndef old_function():\n    pass\n";
    scratch.write("file.py", twice).expect("writable");
    play(&scratch, "claude-edit", &[], 1);
    assert_eq!(read(&scratch, "file.py"), twice);
}

#[test]
fn glob_and_grep_find_the_files() {
    let scratch = program::scratch();
    for (file, content) in [
        ("src/one_test.py", "def test_one():\n    pass\n"),
        ("src/deep/two_test.py", "def test_two():\n    pass\n"),
        ("src/three.py", "three = 3\n"),
        ("src/four.txt", "def not_python():\n"),
    ] {
        scratch
            .write(Path::new("project").join(file), content)
            .expect("writable");
    }
    let expected: Vec<String> = ["src/deep/two_test.py", "src/one_test.py"]
        .iter()
        .map(|file| {
            let path = scratch.work().join("project").join(file);
            path.to_str().expect("a readable path").to_owned()
        })
        .collect();
    for (name, id) in [("claude-glob", "find_tests"), ("claude-grep", "search")] {
        let played = play(&scratch, name, &[], 0);
        let mut files: Vec<&str> = played
            .output(id, "files")
            .as_array()
            .expect("a list")
            .iter()
            .map(|file| file.as_str().expect("a path"))
            .collect();
        files.sort_unstable();
        assert_eq!(files, expected, "{name}");
    }
}

#[test]
fn bash_gives_what_the_command_wrote_and_its_exit_code() {
    for (exit, status) in [(0, "ok"), (1, "broken")] {
        let scratch = with_pytest(exit, status);
        let played = play(&scratch, "claude-bash", &[], 0);
        assert_eq!(
            played.output("run_tests", "stdout"),
            &json!(format!("tests/ -v: {status}\n"))
        );
        assert_eq!(played.output("run_tests", "exit_code"), &json!(exit));
    }
}

#[test]
fn web_fetch_gives_the_content_of_the_address() {
    let (played, request) = fetched(r#"{"answer": 42}"#, None, 0);
    assert_eq!(
        played.output("fetch_api", "content"),
        &json!("{\"answer\": 42}")
    );
    assert!(request.starts_with("GET /data HTTP/1.1\r\n"), "{request}");
}

#[test]
fn web_fetch_gives_the_parsed_body_on_request() {
    let (played, _) = fetched(r#"{"answer": 42}"#, Some("json"), 0);
    assert_eq!(
        played.output("fetch_api", "content"),
        &json!({"answer": 42})
    );
    let (played, _) = fetched("not found here", Some("json"), 1);
    assert!(
        played.stderr.contains("is not JSON: expected"),
        "{}",
        played.stderr
    );
}

/// Plays the seed's example with a server that answers with `body`; also gives the request.
fn fetched(body: &'static str, parse: Option<&str>, exit: i32) -> (Played, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a request");
        let mut request = Vec::new();
        let mut chunk = [0; 1024];
        while !request.ends_with(b"\r\n\r\n") {
            let read = stream.read(&mut chunk).expect("readable");
            assert!(read > 0, "the request ends early");
            request.extend_from_slice(&chunk[..read]);
        }
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
        .expect("writable");
        String::from_utf8(request).expect("text")
    });
    let scratch = program::scratch();
    let mut scenario = adapted(&scratch, "claude-web-fetch");
    scenario["steps"][0]["params"]["url"] = format!("http://{address}/data").into();
    if let Some(parse) = parse {
        scenario["steps"][0]["parse"] = parse.into();
    }
    write(&scratch, "fetch", &scenario);
    let played = program::play(&scratch, &["fetch.json"], exit);
    (played, server.join().expect("the server answered"))
}

#[test]
fn notebook_edit_replaces_the_source_of_its_cell() {
    let scratch = program::scratch();
    let cell = |id: &str, source: &str| {
        json!({
            "cell_type": "code",
            "execution_count": null,
            "id": id,
            "metadata": {},
            "outputs": [],
            "source": [source],
        })
    };
    let notebook = |source: &str| {
        json!({
            "cells": [cell("first", "a = 1"), cell("abc123", source)],
            "metadata": {"kept": true},
            "nbformat": 4,
            "nbformat_minor": 5,
        })
    };
    scratch
        .write("notebook.ipynb", notebook("print('old')").to_string())
        .expect("writable");
    play(&scratch, "claude-notebook-edit", &[], 0);
    let edited: Value = serde_json::from_str(&read(&scratch, "notebook.ipynb")).expect("JSON");
    assert_eq!(edited, notebook("print('Hello World')"));
}

#[test]
fn the_mixed_example_finds_runs_reads_and_reports() {
    let scratch = with_pytest(1, "broken");
    add_accounts(&scratch, "7");
    for name in ["a_test.py", "b/c_test.py", "helper.py"] {
        scratch
            .write(Path::new("project/tests").join(name), "")
            .expect("writable");
    }
    scratch
        .write("project/.report.json", "{\"failed\": 1}\n")
        .expect("writable");
    let played = play(&scratch, "mixed-mcp-and-claude-tools", &[], 0);
    assert_eq!(
        played.output("read_report", "content"),
        &json!("     1\t{\"failed\": 1}")
    );
    assert_eq!(
        played.step(4)["params"],
        json!({"channel": "#ci", "text": "Tests completed: 2 files, exit code: 1"})
    );
}

#[test]
fn the_complete_example_creates_an_issue_and_tells() {
    let scratch = with_accounts("42");
    let played = play(
        &scratch,
        "complete-example",
        &["--var", "TITLE=It is broken", "--include-results"],
        0,
    );
    assert_eq!(
        played.step(1)["params"],
        json!({"repo": "owner/repo", "title": "It is broken", "body": "Automated issue creation"})
    );
    assert_eq!(
        played.step(2)["params"],
        json!({"channel": "#dev", "text": "New issue #42: https://issues.example/42"})
    );
    assert_eq!(played.step(2)["result"], json!({"posted": true}));
}

fn folder() -> std::path::PathBuf {
    cuecard_testing::repository_root().join("tests/seed")
}

/// Writes an example into the working directory, with its absolute paths replaced by those of the test.
#[track_caller]
fn adapted(scratch: &Scratch, name: &str) -> Value {
    let text = fs::read_to_string(folder().join(format!("{name}.json")))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let work = scratch.work();
    let work = work.to_str().expect("a readable path");
    let text = text
        // First the one that the test's own folder may stand in.
        .replace("\"/tmp/", &format!("\"{work}/"))
        .replace("\"/path/to/", &format!("\"{work}/"))
        .replace("\"/project/", &format!("\"{work}/project/"));
    let example = serde_json::from_str(&text).expect("an example is JSON");
    write(scratch, name, &example);
    example
}

fn write(scratch: &Scratch, name: &str, scenario: &Value) {
    scratch
        .write(format!("{name}.json"), scenario.to_string())
        .expect("writable");
}

/// Plays an example, adapted.
#[track_caller]
fn play(scratch: &Scratch, name: &str, options: &[&str], exit: i32) -> Played {
    adapted(scratch, name);
    let file = format!("{name}.json");
    program::play(scratch, &[&[file.as_str()], options].concat(), exit)
}

/// A place where `github` and `slack` are stand-ins; issues get this number.
fn with_accounts(number: &str) -> Scratch {
    let scratch = program::scratch();
    add_accounts(&scratch, number);
    scratch
}

fn add_accounts(scratch: &Scratch, number: &str) {
    let script = cuecard_testing::repository_root().join("tests/servers/accounts.sh");
    let script = script.to_str().expect("a readable path");
    let server = json!({"command": "bash", "args": [script, number]});
    let config = json!({"mcpServers": {"github": server, "slack": server}});
    scratch
        .write(".mcp.json", config.to_string())
        .expect("writable");
}

/// A place with a `pytest` that says its arguments and `status`, and ends with this code.
fn with_pytest(exit: i32, status: &str) -> Scratch {
    use std::os::unix::fs::PermissionsExt as _;
    let mut scratch = program::scratch();
    let path = scratch
        .write(
            "bin/pytest",
            format!("#!/bin/sh\necho \"$*: {status}\"\nexit {exit}\n"),
        )
        .expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("allowed");
    let bin = scratch.work().join("bin");
    let inherited = std::env::var("PATH").unwrap_or_default();
    scratch.set("PATH", format!("{}:{inherited}", bin.display()));
    scratch
}
