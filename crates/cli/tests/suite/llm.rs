//! `serve llm` from outside: by real SDKs, by a command that it runs, by signals.

mod findings;
mod unread;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuecard_testing::peers;
use cuecard_testing::scratch::{Running, Scratch};
use serde_json::{Value, json};

use crate::program::{self, read, run_dirs};

const TWO: &str = "name: two
timeline:
  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"One\"]]}]
  - userInputs: [[0, \"Go on\"]]
  - llmResponse: [{assistant: [[0, \"Two\"]]}]
";

/// A stand-in that runs, with its `ready` line.
struct Served {
    running: Running,
    ready: Value,
}

impl Served {
    fn start(scratch: &Scratch, args: &[&str]) -> Self {
        Self::begin(scratch, &["serve", "llm", "--json"], args)
    }

    /// A recording of what `upstream` says, into `recorded.yaml`.
    fn record(scratch: &Scratch, upstream: &Self, args: &[&str]) -> Self {
        let command = ["record", "llm", "--json", "--upstream", upstream.url()];
        Self::begin(scratch, &command, args)
    }

    fn begin(scratch: &Scratch, command: &[&str], args: &[&str]) -> Self {
        let args = [command, args].concat();
        let running = scratch.start(&args).expect("the program starts");
        let mut ready = Value::Null;
        let came = running.wait_for(|stdout, _| {
            let line = stdout.split_once('\n').map(|(line, _)| line);
            match line.and_then(|line| serde_json::from_str(line).ok()) {
                Some(line) => {
                    ready = line;
                    true
                }
                None => false,
            }
        });
        assert!(came, "{}", program::told(&running.finish()));
        assert_eq!(ready["event"], "ready");
        Self { running, ready }
    }

    fn url(&self) -> &str {
        self.ready["url"].as_str().expect("a URL")
    }

    /// The status and body of what a request gets.
    fn post(&self, path: &str, body: &Value) -> (u16, String) {
        let port = self.ready["port"].as_u64().expect("a port");
        let mut stream = TcpStream::connect(("127.0.0.1", u16::try_from(port).expect("a port")))
            .expect("listening");
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer s3cret-key\r\n\
             x-cuecard-session: one\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("open");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).expect("a status");
        (status.parse().expect("a number"), answer)
    }

    /// Ends it with SIGTERM: the verdict. The exit code must be `exit`.
    fn end(self, exit: i32) -> Value {
        let verdict = self.last(exit);
        assert_eq!(verdict["event"], "verdict");
        verdict
    }

    /// Ends it with SIGTERM: the last line that it prints.
    fn last(self, exit: i32) -> Value {
        self.running.terminate();
        let finished = self.running.finish();
        program::assert_nothing_left(&finished);
        assert_eq!(finished.code(), Some(exit), "{}", program::told(&finished));
        let last = finished.stdout.lines().last().expect("a line");
        serde_json::from_str(last).expect("JSON")
    }
}

fn with(text: &str) -> Scratch {
    let scratch = program::scratch();
    scratch.write("scenario.yaml", text).expect("writable");
    scratch
}

fn chat(messages: &Value) -> Value {
    json!({"model": "m", "messages": messages})
}

fn folder() -> PathBuf {
    cuecard_testing::repository_root().join("tests/llm")
}

/// What a script found out about a stand-in, in JSON.
#[track_caller]
fn outcomes(program: &Path, script: &str, url: &str, more: &[&Path]) -> Value {
    let output = Command::new(program)
        .arg(folder().join(script))
        .arg(url)
        .args(more)
        .output()
        .expect("the script starts");
    let told = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"))
}

/// What a script with SDKs found out about the stand-in, beside what it should have.
#[track_caller]
fn check_sdks(program: &Path, script: &str, more: &[&Path]) {
    let scratch = program::scratch();
    let scenarios = folder().join("scenarios");
    let served = Served::start(&scratch, &[scenarios.to_str().expect("text")]);
    let found = outcomes(program, script, served.url(), more);
    let expected = std::fs::read(folder().join("expected.json")).expect("a file");
    let expected: Value = serde_json::from_slice(&expected).expect("JSON");
    for (name, outcome) in expected.as_object().expect("an object") {
        assert_eq!(&found[name], outcome, "{name}");
    }
    assert_eq!(
        found.as_object().map(serde_json::Map::len),
        expected.as_object().map(serde_json::Map::len)
    );
    let verdict = served.end(1);
    assert_eq!(
        verdict["misses"], 1,
        "the one that is asked for: {verdict:#}"
    );
    // And the answer of somebody else, which one of the checks goes on from.
    assert_eq!(verdict["failures"], 2, "{verdict:#}");
    // One stream is left on purpose, and clients that don't try again leave after a 429.
    let left = verdict["unplayed"].as_array().expect("a list");
    let mut left: Vec<_> = left
        .iter()
        .map(|it| (&it["scenario"], &it["cut"]))
        .collect();
    left.dedup();
    let (no, yes) = (json!(false), json!(true));
    assert_eq!(
        left,
        [(&json!("limit"), &no), (&json!("slow"), &yes)],
        "{verdict:#}"
    );
}

#[test]
fn the_python_sdks_take_it_for_the_real_thing() {
    let Some(python) = peers::require("venv-llm/bin/python") else {
        return;
    };
    check_sdks(&python, "checks.py", &[]);
}

/// What a script with SDKs saw.
fn seen(program: &Path, script: &str, url: &str, more: &[&Path]) -> Value {
    let output = Command::new(program)
        .arg(folder().join(script))
        .arg(url)
        .args(more)
        .output()
        .expect("the script starts");
    let told = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"))
}

/// What a script sees of a model that is recorded, and of the recording, must be the same.
#[track_caller]
fn check_recording(program: &Path, script: &str, more: &[&Path]) {
    // Each ends by itself, and nothing of it may be left then.
    let (upstream, scratch) = (program::scratch(), program::scratch());
    let scenarios = folder().join("scenarios");
    let model = Served::start(&upstream, &[scenarios.to_str().expect("text")]);
    let recorder = Served::record(&scratch, &model, &[]);
    let first = seen(program, script, recorder.url(), more);
    assert!(!first.to_string().contains("Error: "), "{first:#}");
    let recorded = recorder.last(0);
    assert_eq!(
        (&recorded["event"], &recorded["left_out"]),
        (&json!("recorded"), &json!(0))
    );
    model.end(0);
    let files: Vec<&str> = recorded["files"]
        .as_array()
        .expect("files")
        .iter()
        .filter_map(|file| file["path"].as_str())
        .collect();
    for file in &files {
        let text = read(&scratch, file);
        assert!(!text.contains("a-key-of-twelve"), "{text}");
        let finished = program::run(&scratch, &["check", "--strict", file]);
        assert_eq!(
            finished.code(),
            Some(0),
            "{}\n{text}",
            program::told(&finished)
        );
    }
    let args = [&["--strict", "--require-complete"], &files[..]].concat();
    let replay = Served::start(&scratch, &args);
    let second = seen(program, script, replay.url(), more);
    assert_eq!(second, first);
    let verdict = replay.end(0);
    assert_eq!(verdict["unplayed"], json!([]));
    assert_eq!(verdict["findings"], json!([]), "{verdict:#}");
}

#[test]
fn a_recording_of_the_python_sdks_plays_the_same_to_them() {
    let Some(python) = peers::require("venv-llm/bin/python") else {
        return;
    };
    check_recording(&python, "record.py", &[]);
}

#[test]
fn a_recording_of_the_node_sdks_plays_the_same_to_them() {
    let (Some(_), Some(npm)) = (
        peers::require("npm/node_modules/openai"),
        peers::require("npm"),
    ) else {
        return;
    };
    let Some(node) = peers::require_program("node") else {
        return;
    };
    check_recording(&node, "record.mjs", &[&npm]);
}

#[test]
fn a_command_is_recorded_and_the_recording_plays_to_it() {
    let Some(python) = peers::require_program("python3") else {
        return;
    };
    let examples = cuecard_testing::repository_root().join("examples/llm");
    let client = examples.join("ask.py").display().to_string();
    let python = python.display().to_string();
    let (upstream, scratch) = (program::scratch(), program::scratch());
    let scenario = examples.join("two-turns.yaml").display().to_string();
    let model = Served::start(&upstream, &[&scenario]);
    let command = ["--", &python, &client];
    let record = [
        "record",
        "llm",
        "--upstream",
        model.url(),
        "-o",
        "capitals.yaml",
    ];
    let finished = program::run(&scratch, &[&record[..], &command].concat());
    assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));
    assert_eq!(finished.stdout.lines().count(), 2, "{}", finished.stdout);
    assert!(
        finished
            .stderr
            .contains("recorded  capitals.yaml   2 turns"),
        "{}",
        finished.stderr
    );
    model.end(0);
    let text = read(&scratch, "capitals.yaml");
    assert!(text.contains("\"Rome, since 1871.\""), "{text}");
    let serve = ["serve", "llm", "--strict", "capitals.yaml"];
    let played = program::run(&scratch, &[&serve[..], &command].concat());
    assert_eq!(played.code(), Some(0), "{}", program::told(&played));
    assert_eq!(played.stdout, finished.stdout);

    // It replaces nothing unless that is asked for, and the command's code is ours.
    let record = [
        "record",
        "llm",
        "--upstream",
        "http://127.0.0.1:9",
        "-o",
        "capitals.yaml",
    ];
    let failing = ["--", "sh", "-c", "exit 7"];
    let finished = program::run(&scratch, &[&record[..], &failing].concat());
    assert_eq!(finished.code(), Some(3), "{}", program::told(&finished));
    let finished = program::run(&scratch, &[&record[..], &["--force"], &failing].concat());
    assert_eq!(finished.code(), Some(7), "{}", program::told(&finished));
    assert_eq!(read(&scratch, "capitals.yaml"), text);
}

#[test]
fn a_recording_leaves_its_files_and_no_key() {
    let (upstream, scratch) = (with(TWO), program::scratch());
    let model = Served::start(&upstream, &["scenario.yaml"]);
    let recorder = Served::record(&scratch, &model, &[]);
    let first = json!([{"role": "user", "content": "Begin"}]);
    assert_eq!(recorder.post("/v1/chat/completions", &chat(&first)).0, 200);
    // What is reported as recorded is in the file, before the end.
    let is_told = |stdout: &str, _: &str| stdout.contains("\"outcome\":\"turn\"");
    assert!(recorder.running.wait_for(is_told));
    assert!(read(&scratch, "recorded.yaml").contains("\"One\""));
    let recorded = recorder.last(0);
    let files = json!([{"path": "recorded.yaml", "name": "recorded", "turns": 1, "side_calls": 0}]);
    assert_eq!(recorded["files"], files);
    model.end(0);
    let texts: Vec<String> = run_dirs(&scratch)
        .iter()
        .flat_map(|run| ["exchanges.jsonl", "trace.jsonl"].map(|name| run.join(name)))
        .map(|path| std::fs::read_to_string(path).expect("written"))
        .collect();
    assert!(
        texts
            .iter()
            .all(|text| !text.contains("s3cret-key") && !text.is_empty())
    );
}

#[test]
fn the_node_sdks_take_it_for_the_real_thing() {
    let (Some(_), Some(npm)) = (
        peers::require("npm/node_modules/openai"),
        peers::require("npm"),
    ) else {
        return;
    };
    let Some(node) = peers::require_program("node") else {
        return;
    };
    check_sdks(&node, "checks.mjs", &[&npm]);
}

/// A scenario with a fault, named after it.
fn faulty(name: &str, fault: &str) -> String {
    format!(
        "name: {name}
timeline:
  - userInputs: [[0, \"Say hello, {name}\"]]
  - llmResponse: [{{assistant: [[0, \"Hello, this is a text of several deltas.\"]]}}]
    fault: {fault}
"
    )
}

#[test]
fn the_python_sdk_sees_faults_as_errors_and_goes_on() {
    let Some(python) = peers::require("venv-llm/bin/python") else {
        return;
    };
    let scratch = program::scratch();
    for kind in ["cut", "garbage", "crash", "duplicate", "split", "wrong_id"] {
        let text = faulty(kind, &format!("{{kind: {kind}}}"));
        let file = format!("{kind}.yaml");
        scratch.write(&file, &text).expect("writable");
    }
    let served = Served::start(&scratch, &["."]);
    let found = outcomes(&python, "faults.py", served.url(), &[]);
    let text = "Hello, this is a text of several deltas.";
    assert_eq!(
        found,
        json!({
            "cut_stream": ["APIConnectionError", text],
            "cut_plain": ["APIConnectionError", text],
            "garbage_stream": ["JSONDecodeError", text],
            "garbage_plain": ["JSONDecodeError", text],
            "crash_stream": ["APIConnectionError", text],
            "crash_plain_and_the_own_retry": text,
            "duplicate_stream": ["no error", text],
            "split_stream": ["no error", text],
            "wrong_id_stream": ["chatcmpl-987654321", text],
        })
    );
    let verdict = served.end(0);
    assert_eq!(verdict["misses"], 0, "{verdict:#}");
    assert_eq!(verdict["findings"], json!([]), "{verdict:#}");
}

#[test]
fn a_dry_run_lists_what_faults_would_hit() {
    let scratch = with(&faulty("one", "{kind: cut, at: 20}"));
    let rules = "- {match: {index: 0}, fault: {kind: stall}}\n";
    scratch.write("faults.yaml", rules).expect("writable");
    let args = [
        "serve",
        "llm",
        "scenario.yaml",
        "--fault",
        "faults.yaml",
        "--dry-run",
    ];
    let finished = program::run(&scratch, &args);
    assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));
    assert_eq!(
        finished.stdout,
        "scenario.yaml:3  timeline[0] userInputs  stall  never: a model sends nothing at this event; put it at an `llmResponse` or a tool call
scenario.yaml:4  timeline[1] llmResponse  cut at 20 ms  turn 1 of `one`
2 faults
"
    );
    let finished = program::run(&scratch, &[&args[..], &["--json"]].concat());
    let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(document["faults"][1]["turn"], 1);
    assert_eq!(run_dirs(&scratch).len(), 0, "nothing was served");

    scratch
        .write("faults.yaml", "- {match: {}}\n")
        .expect("writable");
    let finished = program::run(&scratch, &args);
    assert_eq!(finished.code(), Some(3), "{}", program::told(&finished));
    assert!(
        finished.stderr.contains("faults.yaml:1:"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_conversation_as_scripted_passes_and_leaves_its_files() {
    let scratch = with(TWO);
    let served = Served::start(&scratch, &["scenario.yaml"]);
    let first = json!([{"role": "user", "content": "Begin"}]);
    assert_eq!(served.post("/v1/chat/completions", &chat(&first)).0, 200);
    let second = json!([
        {"role": "user", "content": "Begin"}, {"role": "assistant", "content": "One"},
        {"role": "user", "content": "Go on"},
    ]);
    let (status, answer) = served.post("/v1/chat/completions", &chat(&second));
    assert_eq!(status, 200);
    assert!(answer.contains("\"Two\""), "{answer}");
    let verdict = served.end(0);
    assert_eq!(
        (&verdict["passed"], &verdict["exchanges"]),
        (&json!(true), &json!(2))
    );

    let run = &run_dirs(&scratch)[0];
    let text = |name: &str| std::fs::read_to_string(run.join(name)).expect("written");
    let exchanges = text("exchanges.jsonl");
    assert_eq!(exchanges.lines().count(), 2);
    assert!(!exchanges.contains("s3cret-key"));
    let trace = program::trace_lines(&text("trace.jsonl"));
    let types: Vec<&str> = trace
        .iter()
        .filter_map(|line| line["type"].as_str())
        .collect();
    assert_eq!(
        types,
        [
            "message_received",
            "message",
            "http_exchange",
            "message_received",
            "final_output",
            "http_exchange",
        ]
    );
    assert_eq!(trace.last().expect("an end")["status"], "success");
}

#[test]
fn a_miss_is_told_in_the_answer_on_the_terminal_and_in_the_trace() {
    let scratch = with(TWO);
    let served = Served::start(&scratch, &["scenario.yaml"]);
    let messages = json!([
        {"role": "user", "content": "Begin"}, {"role": "assistant", "content": "One"},
        {"role": "user", "content": "Stop"},
    ]);
    let (status, answer) = served.post("/v1/chat/completions", &chat(&messages));
    assert_eq!(status, 404);
    assert!(
        answer.contains("expected turn 2 (scenario.yaml:6)"),
        "{answer}"
    );
    let verdict = served.end(1);
    assert_eq!(verdict["findings"][0]["code"], "T-LLM-02");
    let trace = read(&scratch, &format!("{}/trace.jsonl", relative(&scratch)));
    assert!(trace.contains("T-LLM-02"), "{trace}");
}

fn relative(scratch: &Scratch) -> String {
    let run = run_dirs(scratch).remove(0);
    let relative = run.strip_prefix(scratch.work()).expect("inside");
    relative.display().to_string()
}

#[test]
fn a_command_gets_the_variables_and_its_code_wins() {
    let scratch = with(TWO);
    let script = "echo $OPENAI_BASE_URL; echo $ANTHROPIC_BASE_URL $GEMINI_API_KEY; exit 7";
    let args = ["serve", "llm", "scenario.yaml", "--", "sh", "-c", script];
    let finished = program::run(&scratch, &args);
    assert_eq!(finished.code(), Some(7), "{}", program::told(&finished));
    let lines: Vec<&str> = finished.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "ours goes to standard error: {lines:?}");
    assert!(
        lines[0].starts_with("http://127.0.0.1:") && lines[0].ends_with("/v1"),
        "{lines:?}"
    );
    assert!(lines[1].ends_with(" cuecard"), "{lines:?}");
    assert!(
        finished.stderr.contains("0 of 2 turns played"),
        "{}",
        finished.stderr
    );

    let args = [
        "serve",
        "llm",
        "scenario.yaml",
        "--json",
        "--",
        "echo",
        "hi",
    ];
    let finished = program::run(&scratch, &args);
    assert_eq!(finished.stdout, "hi\n", "it is the command's");
    let events: Vec<Value> = finished
        .stderr
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let names: Vec<_> = events
        .iter()
        .filter_map(|it| it["event"].as_str())
        .collect();
    assert_eq!(names, ["ready", "finding", "verdict"]);

    let finished = program::run(&scratch, &["serve", "llm", "scenario.yaml", "--", "true"]);
    assert_eq!(finished.code(), Some(1), "{}", program::told(&finished));
    assert!(finished.stderr.contains("T-LLM-07"), "{}", finished.stderr);

    let args = ["serve", "llm", "scenario.yaml", "--", "no-such-program"];
    let finished = program::run(&scratch, &args);
    assert_eq!(finished.code(), Some(2), "{}", program::told(&finished));
}

#[test]
fn what_is_recorded_is_bounded_and_the_rest_is_counted() {
    let scratch = with(TWO);
    let args = ["scenario.yaml", "--exchanges-max", "1"];
    let served = Served::start(&scratch, &args);
    let first = json!([{"role": "user", "content": "Begin"}]);
    for _ in 0..3 {
        assert_eq!(served.post("/v1/chat/completions", &chat(&first)).0, 200);
    }
    let verdict = served.end(0);
    assert_eq!(
        (&verdict["exchanges"], &verdict["exchanges_left_out"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(verdict["findings"][0]["code"], "X-LIMIT-01");
    let run = relative(&scratch);
    let exchanges = read(&scratch, &format!("{run}/exchanges.jsonl"));
    assert_eq!(exchanges.lines().count(), 1);
    let trace = read(&scratch, &format!("{run}/trace.jsonl"));
    assert_eq!(trace.matches("\"http_exchange\"").count(), 1, "{trace}");
    assert!(trace.contains("X-LIMIT-01"), "{trace}");
}

#[test]
fn a_command_has_the_limit_of_open_files_that_was_there_before() {
    let scratch = with(TWO);
    let program = env!("CARGO_BIN_EXE_cuecard");
    let line = format!(
        "ulimit -Sn 200; exec {program} serve llm scenario.yaml -- sh -c 'ulimit -Sn; exit 5'"
    );
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(scratch.work())
        .output()
        .expect("a shell");
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "200\n");
}

#[test]
fn a_command_may_end_with_the_code_that_is_expected() {
    let scratch = with(&format!("{TWO}expect: {{exitCode: 5}}\n"));
    // The turns that were not played fail the run, and the code doesn't.
    for (line, ends) in [("exit 5", 1), ("exit 4", 4)] {
        let args = ["serve", "llm", "scenario.yaml", "--", "sh", "-c", line];
        let finished = program::run(&scratch, &args);
        assert_eq!(finished.code(), Some(ends), "{}", program::told(&finished));
    }
    let run = relative(&scratch);
    let exchanges = std::fs::metadata(scratch.work().join(format!("{run}/exchanges.jsonl")));
    let mode = exchanges.expect("written").permissions().mode();
    assert_eq!(mode & 0o077, 0, "nobody else reads it");
}

/// Else the connection with which the table of open files grows waits, and so do all others of its thread.
#[cfg(target_os = "linux")]
#[test]
fn there_is_room_for_all_connections_before_the_first_one() {
    let scratch = with(TWO);
    let served = Served::start(&scratch, &["scenario.yaml"]);
    let of_process = |file: &str, name: &str| {
        program::proc_number(served.running.id(), file, name).expect("a number")
    };
    let wanted = of_process("limits", "Max open files").min(16_384);
    assert!(of_process("status", "FDSize:") >= wanted);
    served.end(0);
}

#[test]
fn the_example_is_played_by_its_client() {
    let Some(python) = peers::require_program("python3") else {
        return;
    };
    let examples = cuecard_testing::repository_root().join("examples/llm");
    let scratch = program::scratch();
    let scenario = examples.join("two-turns.yaml").display().to_string();
    let client = examples.join("ask.py").display().to_string();
    let python = python.display().to_string();
    let args = ["serve", "llm", &scenario, "--", &python, &client];
    let finished = program::run(&scratch, &args);
    assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));
    assert_eq!(
        finished.stdout,
        "What is the capital of France? Paris.\nAnd of Italy? Rome, since 1871.\n"
    );
}

#[test]
fn the_examples_start_without_a_word() {
    let scratch = program::scratch();
    let examples = cuecard_testing::repository_root().join("examples/llm");
    let served = Served::start(&scratch, &["--strict", examples.to_str().expect("text")]);
    assert_eq!(served.ready["scenarios"], 4);
    assert_eq!(served.end(0)["findings"], json!([]));
}

#[test]
fn what_keeps_it_from_starting_is_told() {
    let scratch = with(TWO);
    scratch
        .write(
            "bad.yaml",
            "name: bad\ntimeline:\n  - userInptus: [[0, x]]\n",
        )
        .expect("writable");
    scratch
        .write("worse.yaml", "name: worse\ntimeline: 3\n")
        .expect("writable");
    let finished = program::run(&scratch, &["serve", "llm", ".", "--json"]);
    assert_eq!(finished.code(), Some(3), "{}", program::told(&finished));
    assert_eq!(finished.stdout, "");
    for file in ["bad.yaml:3", "worse.yaml:2"] {
        assert!(finished.stderr.contains(file), "{}", finished.stderr);
    }

    let taken = TcpListener::bind("127.0.0.1:0").expect("loopback is free");
    let port = taken.local_addr().expect("bound").port().to_string();
    let args = ["serve", "llm", "scenario.yaml", "--port", &port];
    let finished = program::run(&scratch, &args);
    assert_eq!(finished.code(), Some(2), "{}", program::told(&finished));
    assert!(
        finished
            .stderr
            .contains(&format!("failed to listen on `127.0.0.1:{port}`")),
        "{}",
        finished.stderr
    );

    for args in [
        &["--bind", "0.0.0.0"][..],
        &["--speed", "-1"],
        &["--max-distance", "2"],
        &["--workspace", "nowhere"],
        &["--agent", "nobody"],
        &["--define", "1x"],
        &["--scenario-name", "tow"],
        &["--chunk", "0"],
    ] {
        let args = [&["serve", "llm", "scenario.yaml"], args].concat();
        let finished = program::run(&scratch, &args);
        assert_eq!(
            finished.code(),
            Some(3),
            "{args:?}: {}",
            program::told(&finished)
        );
    }
}
