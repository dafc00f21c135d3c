//! A server on the Python SDK, which speaks both eras of the protocol, over both transports.

use super::*;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

fn python() -> Option<PathBuf> {
    peers::require("venv/bin/python")
}

fn over_stdio(protocol: &str, spoken: &str) {
    let Some(python) = python() else { return };
    let entry = json!({"command": python, "args": [script("python_sdk.py"), "stdio"], "protocol": protocol});
    plays_in_its_era(&entry, "stdio", spoken);
}

fn over_http(protocol: &str, spoken: &str) {
    let Some(python) = python() else { return };
    let script = script("python_sdk.py");
    let server = HttpServer::start(
        &python,
        &[],
        &[script.to_str().expect("a path of UTF-8"), "http"],
    );
    plays_in_its_era(
        &json!({"url": server.url, "protocol": protocol}),
        "http",
        spoken,
    );
}

#[test]
fn python_over_stdio_is_found_to_be_modern() {
    over_stdio("auto", MODERN);
}

#[test]
fn python_over_stdio_in_the_legacy_era() {
    over_stdio("legacy", LEGACY);
}

#[test]
fn python_over_stdio_in_the_modern_era() {
    over_stdio("modern", MODERN);
}

#[test]
fn python_over_http_is_found_to_be_modern() {
    over_http("auto", MODERN);
}

#[test]
fn python_over_http_in_the_legacy_era() {
    over_http("legacy", LEGACY);
}

#[test]
fn python_over_http_in_the_modern_era() {
    over_http("modern", MODERN);
}

/// A tool that asks in the middle of its work can do so over the older protocol only.
fn falls_back_to_ask(entry: &Value) {
    let mut scratch = with_server(entry);
    patient(&mut scratch);
    let scenario = json!({
        "version": "2.1",
        "metadata": {"name": "Fall back"},
        "answers": {"elicitation": [{"match": {"contains": "Really"}, "action": "accept", "content": {"name": "Ada"}}]},
        "steps": [
            {"step": 1, "id": "before", "tool": "mcp__peer__era", "params": {}, "output": {"protocol": "$.protocol"}},
            {"step": 2, "tool": "mcp__peer__confirm", "params": {"what": "go"},
             "expect": {"json_path": "$.by", "equals": "Ada"}},
            {"step": 3, "id": "after", "tool": "mcp__peer__era", "params": {}, "output": {"protocol": "$.protocol"}},
        ],
    });
    scratch
        .write("scenario.json", scenario.to_string())
        .expect("writable");
    let played = program::play(&scratch, &["scenario.json"], 0);
    assert_eq!(played.output("before", "protocol"), MODERN);
    assert_eq!(played.output("after", "protocol"), LEGACY);
    let said = "server `peer` can't ask anything over protocol 2026-07-28";
    assert!(played.stderr.contains(said), "{}", played.stderr);
    // A call by hand has no answer, and comes as far as to be asked.
    let args = ["call", "peer", "confirm", "--arg", "what=go"];
    let called = program::run(&scratch, &args);
    let shown = called.stderr + &called.stdout;
    assert!(
        shown.contains(said) && !shown.contains("no back-channel"),
        "{shown}"
    );
}

#[test]
fn python_falls_back_to_the_legacy_era_to_ask() {
    let Some(python) = python() else { return };
    let script = script("python_sdk.py");
    falls_back_to_ask(&json!({"command": python, "args": [script, "stdio"]}));
    let script = script.to_str().expect("a path of UTF-8");
    let server = HttpServer::start(&python, &[], &[script, "http"]);
    falls_back_to_ask(&json!({"url": server.url}));
}

#[test]
fn lists_stay_lists_with_either_version_of_the_sdk() {
    for (venv, server) in [
        ("venv", "python_sdk.py"),
        ("venv-legacy", "python_sdk_legacy.py"),
    ] {
        let Some(python) = peers::require(&format!("{venv}/bin/python")) else {
            return;
        };
        let entry = json!({"command": python, "args": [script(server), "stdio"]});
        let mut scratch = with_server(&entry);
        patient(&mut scratch);
        let params = json!({"labels": "{{L}}", "ids": "{{IDS}}"});
        let expected = json!([{"labels": "bug,ui", "ids": "[1, 2]"}]);
        let steps = json!([{"tool": "mcp__peer__issues", "params": params, "expect": {"equals": expected, "strict": true}}]);
        write_scenario(&scratch, &steps);
        let args = [
            "scenario.json",
            "--var",
            r#"L=["bug","ui"]"#,
            "--var",
            r#"IDS=[1,"2"]"#,
        ];
        let played = program::play(&scratch, &args, 0);
        assert_eq!(played.statuses(), ["passed"], "{}", played.stderr);
    }
}

fn plays_in_its_era(entry: &Value, transport: &str, spoken: &str) {
    let mut scratch = with_server(entry);
    patient(&mut scratch);
    let steps = json!([
        {"id": "era", "tool": "mcp__peer__era", "params": {}, "output": {"protocol": "$.protocol"}},
        {"id": "add", "tool": "mcp__peer__add", "params": {"a": "20", "b": 22}, "output": {"sum": "$.sum"}},
        {"id": "shout", "tool": "mcp__peer__shout", "params": {"text": "über {{add.sum}}"}, "output": {"text": "$"}},
        {"tool": "mcp__peer__picture", "params": {}},
        {"tool": "mcp__peer__fail", "params": {"reason": "the stars"}, "on_error": "skip"},
        {"tool": "mcp__peer__say", "params": {"message": "{{shout.text}}, listen"}},
        {"tool": "mcp__peer__hang", "params": {}, "timeout": 1, "on_error": "skip"},
        // The cancellation and this call may arrive on different connections.
        {"tool": "mcp__peer__hung", "params": {}, "expect": {"json_path": "$.cancelled", "equals": 1},
         "on_error": "retry", "retry": {"count": 200, "delay": 50, "backoff": "constant"}},
        {"tool": "mcp__peer__shouts", "params": {"text": "no"}},
    ]);
    write_scenario(&scratch, &steps);
    let args = [
        "scenario.json",
        "--include-results",
        "true",
        "-v",
        "--debug",
    ];
    let played = program::play(&scratch, &args, 1);
    assert_eq!(
        played.statuses(),
        [
            "passed",
            "passed",
            "passed",
            "passed",
            "tolerated",
            "passed",
            "tolerated",
            "passed",
            "failed"
        ],
        "{}",
        played.stderr
    );
    let up = format!(
        "server `peer` (python-sdk 1.2.3) is up: {transport}, protocol {spoken}, from .mcp.json"
    );
    assert!(played.stderr.contains(&up), "{}", played.stderr);
    assert_eq!(played.output("era", "protocol"), spoken);
    assert_eq!(played.output("add", "sum"), 42);
    let converted = "C-PARAM-04: `a` was the text \"20\" and is sent as 20";
    assert!(played.stderr.contains(converted), "{}", played.stderr);
    assert_eq!(played.output("shout", "text"), "ÜBER 42");
    assert_png(&saved_file(
        &scratch,
        &played.step(4)["result"],
        "image/png",
    ));

    let failed = played.step(5);
    assert_eq!(failed["code"], "C-RUN-01");
    assert_eq!(
        failed["error"],
        "Error executing tool fail: no luck: the stars"
    );

    assert!(
        played.stderr.contains("peer: ÜBER 42, listen"),
        "{}",
        played.stderr
    );
    assert_timed_out(played.step(7));

    assert_eq!(played.step(9)["error"], "Unknown tool: shouts");
    assert!(
        played.stderr.contains("did you mean `shout`?"),
        "{}",
        played.stderr
    );
}

#[test]
fn what_a_server_logs_is_in_the_trace_and_without_v_not_on_standard_error() {
    let Some(python) = python() else { return };
    let entry = json!({"command": python, "args": [script("python_sdk.py"), "stdio"]});
    let scratch = with_server(&entry);
    let steps = json!([{"tool": "mcp__peer__say", "params": {"message": "psst"}}]);
    let played = play(&scratch, &steps, 0);
    assert!(!played.stderr.contains("peer: psst"), "{}", played.stderr);
    let trace = program::only_trace(&scratch);
    let logged = program::trace_lines(&trace).iter().any(|line| {
        line["type"] == "log"
            && line["data"]["stream"] == "peer"
            && line["data"]["message"] == "psst"
    });
    assert!(logged, "{trace}");
}

#[test]
fn an_older_server_forced_to_be_modern_could_not_run() {
    let Some(server) = npm("mcp-server-memory") else {
        return;
    };
    let scratch = with_server(&json!({"command": server, "protocol": "modern"}));
    let steps = json!([{"tool": "mcp__peer__read_graph", "params": {}}]);
    let played = play(&scratch, &steps, 2);
    assert!(
        played.stderr.contains("error[C-RUN-04]"),
        "{}",
        played.stderr
    );
    assert!(played.stderr.contains("protocol"), "{}", played.stderr);
}
