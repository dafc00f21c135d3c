//! The binary's own server as a process of its own, reached like any other.

use super::*;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cuecard");
const TOKEN: &str = "a-token-of-24-characters";

fn steps() -> Value {
    json!([
        {"id": "note", "tool": "mcp__peer__add_note", "params": {"title": "Tea", "text": "Green."}, "output": {"id": "$.id"}},
        {"id": "got", "tool": "mcp__peer__get_note", "params": {"id": "{{note.id}}"}, "output": {"text": "$.text"}},
        {"tool": "mcp__peer__fail", "params": {"times": 2, "key": "k"}, "on_error": "retry",
         "retry": {"count": 2, "delay": 1}},
        {"tool": "mcp__peer__picture", "params": {}},
        {"tool": "mcp__peer__slow", "params": {"seconds": 60}, "timeout": 1, "on_error": "skip"},
        {"tool": "mcp__peer__count", "params": {"by": 4}, "expect": {"json_path": "$.value", "equals": 4}},
    ])
}

#[track_caller]
fn assert_played(scratch: &Scratch) {
    let played = play(scratch, &steps(), 0);
    assert_eq!(
        played.statuses(),
        [
            "passed",
            "passed",
            "passed",
            "passed",
            "tolerated",
            "passed"
        ]
    );
    assert_eq!(played.output("got", "text"), "Green.");
    assert_eq!(played.step(3)["attempts"].as_array().map(Vec::len), Some(3));
    assert_eq!(played.step(4)["result"]["width"], 64);
    let run = played.json["run_dir"].as_str().expect("a run directory");
    let image = scratch.work().join(run).join("files/call_4_1_0.png");
    assert_png(&std::fs::read(image).expect("the picture is a file of the run"));
    assert_timed_out(played.step(5));
}

#[test]
fn the_demo_server_over_stdio() {
    assert_played(&with_server(
        &json!({"command": PROGRAM, "args": ["mcp", "demo"]}),
    ));
}

#[test]
fn a_demo_server_that_crashes_is_started_again_and_has_forgotten() {
    let scratch = with_server(&json!({"command": PROGRAM, "args": ["mcp", "demo"]}));
    let played = play(
        &scratch,
        &json!([
            {"tool": "mcp__peer__count", "params": {"by": 7}, "expect": {"json_path": "$.value", "equals": 7}},
            {"tool": "mcp__peer__crash", "params": {}, "on_error": "skip"},
            {"tool": "mcp__peer__count", "params": {}, "expect": {"json_path": "$.value", "equals": 1}},
        ]),
        0,
    );
    assert_eq!(played.statuses(), ["passed", "tolerated", "passed"]);
    let crash = played.step(2);
    assert_eq!(crash["code"], "C-RUN-02", "{crash:#}");
    let error = crash["error"].as_str().expect("an error");
    assert!(error.contains("server `peer`"), "{error}");
    let again = "server `peer` had exited and is being restarted";
    assert!(played.stderr.contains(again), "{}", played.stderr);
}

#[test]
fn the_time_of_a_step_does_not_run_while_its_server_starts() {
    let slow_to_start = format!("sleep 3; exec '{PROGRAM}' mcp demo");
    let scratch = with_server(&json!({"command": "sh", "args": ["-c", slow_to_start]}));
    let steps = json!([
        {"tool": "mcp__peer__echo", "params": {"message": "hello"}, "timeout": 2, "expect": {"equals": "hello"}},
    ]);
    let played = play(&scratch, &steps, 0);
    let took = played.step(1)["duration"].as_f64().expect("a number");
    assert!((3.0..HARD_LIMIT).contains(&took), "{took}");
}

#[test]
fn the_demo_server_over_http() {
    let server = HttpServer::start(Path::new(PROGRAM), &[], &["mcp", "demo", "--http"]);
    let scratch = with_server(&json!({"url": server.url}));
    assert_played(&scratch);
    let document = dry_run(&scratch, &steps(), 0);
    assert_eq!(document["connected"][0]["transport"], "http");
    assert_eq!(document["connected"][0]["protocol"], "2026-07-28");
}

#[test]
fn the_demo_server_asks_in_both_eras_and_over_http() {
    let http = HttpServer::start(Path::new(PROGRAM), &[], &["mcp", "demo", "--http"]);
    let example = cuecard_testing::repository_root().join("examples/answers.json");
    let example = std::fs::read_to_string(example).expect("the example");
    for protocol in ["legacy", "modern"] {
        for entry in [
            json!({"command": PROGRAM, "args": ["mcp", "demo"], "protocol": protocol}),
            json!({"url": http.url, "protocol": protocol}),
        ] {
            let scratch = with_server(&entry);
            let scenario = example.replace("mcp__demo__", "mcp__peer__");
            scratch.write("scenario.json", scenario).expect("writable");
            let played = program::play(&scratch, &["scenario.json"], 0);
            assert_eq!(played.statuses(), ["passed"; 3], "{}", played.stderr);
        }
    }
}

#[test]
fn the_demo_server_over_http_wants_its_token() {
    let args = ["mcp", "demo", "--http", "--token", TOKEN];
    let server = HttpServer::start(Path::new(PROGRAM), &[], &args);
    let mut scratch = with_server(&json!({
        "url": server.url,
        "headers": {"Authorization": "Bearer ${DEMO_TOKEN}"},
    }));
    scratch.set("DEMO_TOKEN", TOKEN);
    assert_played(&scratch);
    // The token is a secret: no file of the run has it.
    let run = &program::run_dirs(&scratch)[0];
    for name in ["trace.jsonl", "run.json"] {
        let text = std::fs::read_to_string(run.join(name)).expect("it is there");
        assert!(!text.contains(TOKEN), "{text}");
    }

    scratch.set("DEMO_TOKEN", "another-token-altogether");
    let wrong = play(&scratch, &steps(), 2);
    assert!(wrong.stderr.contains("error[C-RUN-04]"), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("401"), "{}", wrong.stderr);
    assert!(!wrong.stderr.contains("another-token"), "{}", wrong.stderr);

    configure(&scratch, &json!({"url": server.url}));
    let without = play(&scratch, &steps(), 2);
    assert!(without.stderr.contains("401"), "{}", without.stderr);
}
