//! `cuecard run` with real programs in the terminal, with real agents (in a module of their own), and transcripts that are read again.

mod acp;
mod real_agents;

use std::fs;
use std::path::{Path, PathBuf};

use cuecard_testing::peers;
use cuecard_testing::scratch::Scratch;
use serde_json::{Value, json};

use crate::program;

/// What `run --json` says of its one run; the exit code must be `exit`.
#[track_caller]
fn run(scratch: &Scratch, args: &[&str], exit: i32) -> Value {
    let finished = program::run(scratch, &[&["run", "--json"], args].concat());
    assert_eq!(finished.code(), Some(exit), "{}", program::told(&finished));
    let json: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    json["runs"][0].clone()
}

/// The codes of what was found.
fn codes(run: &Value) -> Vec<&str> {
    let findings = run["findings"].as_array().expect("a list");
    findings
        .iter()
        .filter_map(|found| found["code"].as_str())
        .collect()
}

/// An editor draws on the alternate screen, in colours, with wide characters.
#[test]
fn an_editor_is_driven_by_keys() {
    if peers::folder().is_none() || peers::require_program("vi").is_none() {
        return;
    }
    let scratch = program::scratch();
    let timeline = "
name: editor
terminalRef: {width: 40, height: 10}
compat: {allowInlineTerminal: true}
repo: {files: [{path: a.txt, contents: \"eins\\nzwei 日本語\\n\"}]}
timeline:
  - userInputs: [{relativeTime: 0, input: 'Godrei é <<b>><Esc>', target: tui}]
  - screenshot: edited
  - assert: {text: {contains: ['zwei 日本語', 'drei é <b>>']}, screen: {label: edited, contains: [eins]}}
  - userInputs: [{relativeTime: 50, input: '<Resize:60x14>', target: tui}]
  - assert: {text: {contains: [\"~\\n~\\n~\\n~\\n~\\n~\\n~\\n~\\n~\\n~\"]}}
  - userInputs: [{relativeTime: 50, input: ':set lines?<Enter>', target: tui}]
  - assert: {text: {contains: [lines=14]}}
  - screenshot: resized
  - userInputs: [{relativeTime: 50, input: ':2d<Enter>:wq<Enter>', target: tui}]
expect: {exitCode: 0}
";
    scratch.write("editor.yaml", timeline).expect("writable");
    let run = run(
        &scratch,
        &[
            "editor.yaml",
            "--keep",
            "--",
            "vi",
            "-u",
            "NONE",
            "-N",
            "a.txt",
        ],
        0,
    );
    let workspace = run["workspace"].as_str().expect("it was kept");
    let text = fs::read_to_string(format!("{workspace}/a.txt")).expect("a file");
    let _ = fs::remove_dir_all(workspace.trim_end_matches("/work"));
    assert_eq!(text, "eins\ndrei é <b>>\n");
    let files = run["screenshots"][0]["files"].as_array().expect("files");
    assert_eq!(files.len(), 3, "{files:?}");
    for file in files {
        let content = fs::read(file.as_str().expect("a path")).expect("a file");
        assert!(!content.is_empty());
    }
    let cast = fs::read_to_string(format!(
        "{}/terminal.cast",
        run["run"].as_str().expect("a folder")
    ));
    let cast = cast.expect("a recording");
    assert!(cast.lines().count() > 2 && cast.contains("1049h"), "{cast}");
    assert!(cast.contains("\"r\",\"60x14\""), "{cast}");
    let resized = run["screenshots"][1]["files"].as_array().expect("files");
    let picture = resized.iter().filter_map(Value::as_str);
    let picture = picture.filter(|file| file.ends_with(".svg"));
    let picture: Vec<_> = picture
        .map(|file| fs::read_to_string(file).expect("text"))
        .collect();
    let first = fs::read_to_string(files[1].as_str().expect("a path")).expect("text");
    let width = |svg: &str| {
        svg.split("width=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .map(str::to_owned)
    };
    assert_ne!(width(&picture[0]), width(&first));
}

/// Programs that hang, flood, die or leave something behind are ended, with all that they started.
#[test]
fn programs_that_misbehave_are_ended() {
    for (script, exit, code) in [
        ("trap '' HUP TERM; echo waits; sleep 1000", 1, "T-TERM-13"),
        ("yes a flood that never ends", 1, "T-TERM-13"),
        ("echo dies; kill -9 $$", 0, ""),
        (
            "setsid sh -c 'echo daemon; sleep 1000' & sleep 0.2; kill -9 $$",
            0,
            "",
        ),
    ] {
        let scratch = program::scratch();
        let timeline = "name: ends\ntimeline:\n  - log: looking\nexpect: {exitCode: 137}\n";
        scratch.write("ends.yaml", timeline).expect("writable");
        let args = [
            "ends.yaml",
            "--run-timeout",
            "2",
            "--grace",
            "0.2",
            "--",
            "sh",
            "-c",
            script,
        ];
        // That nothing is left is looked at by `run`.
        let run = run(&scratch, &args, exit);
        assert!(
            code.is_empty() || codes(&run).contains(&code),
            "{script}: {run:#}"
        );
    }
}

#[test]
fn a_workspace_that_can_t_be_written_is_said() {
    let mut scratch = program::scratch();
    scratch
        .write("fine.yaml", "name: fine\ntimeline:\n  - log: here\n")
        .expect("writable");
    scratch.set("TMPDIR", "/proc/none");
    let finished = program::run(&scratch, &["run", "fine.yaml", "--", "true"]);
    assert_eq!(finished.code(), Some(2), "{}", program::told(&finished));
    assert!(
        finished.stdout.contains("could not run"),
        "{}",
        program::told(&finished)
    );
    assert!(
        finished.stderr.contains("TMPDIR"),
        "{}",
        program::told(&finished)
    );
}

/// What an agent wrote as its transcript is what happened, also to who reads it again.
#[test]
fn transcripts_are_judged_as_the_session_was() {
    let scratch = program::scratch();
    let timeline = "
name: session
timeline:
  - userInputs: [[0, Count the lines]]
  - llmResponse: [{think: [[0, \"A command.\"]]}, {assistant: [[0, \"I count.\"]]}]
  - runCmd: {cmd: \"printf 'a\\\\nb\\\\n' | wc -l\"}
    result: \"2\"
  - readFile: {path: missing.txt}
    status: error
  - llmResponse: [{assistant: [[0, \"There are 2 lines.\"]]}]
";
    scratch.write("session.yaml", timeline).expect("writable");
    for (format, tool) in [("claude-code", "Bash"), ("codex", "exec_command")] {
        let transcript = format!("{format}:{format}.jsonl");
        let args = ["agent", "session.yaml", "--transcript", &transcript];
        let finished = scratch
            .run_with_input(&args, b"count the lines\n")
            .expect("the program starts");
        assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));
        let case = format!(
            "schema_version: \"0.1\"
id: {format}
title: The transcript of a session
adapter: cuecard
adapter_input: {{transcript: ./{format}.jsonl, format: {format}}}
assertions:
  - {{id: called, type: must_call_tool, params: {{tool: {tool}}}}}
  - {{id: said, type: output_contains, params: {{all_of: [There are 2 lines]}}}}
"
        );
        scratch
            .write(format!("{format}.test.yaml"), &case)
            .expect("writable");
        let finished = program::run(&scratch, &["test", &format!("{format}.test.yaml")]);
        assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));
        // What it did not say is missed.
        let case = case.replace("There are 2", "There are 3");
        scratch
            .write(format!("{format}.test.yaml"), &case)
            .expect("writable");
        let finished = program::run(&scratch, &["test", &format!("{format}.test.yaml")]);
        assert_eq!(finished.code(), Some(1), "{}", program::told(&finished));
    }
}

/// The timelines of the book.
fn examples() -> Vec<String> {
    let root = cuecard_testing::repository_root().join("examples");
    let mut found = vec![root.join("tests/passing/run/timeline.yaml")];
    for folder in ["acp", "llm", "run", "service", "timelines"] {
        let entries = fs::read_dir(root.join(folder)).expect("a folder");
        found.extend(entries.flatten().map(|entry| entry.path()));
    }
    let names = found.iter().map(|path| path.to_string_lossy().into_owned());
    let is_timeline = |name: &String| name.ends_with(".yaml") && !name.ends_with(".terminal.yaml");
    let mut names: Vec<String> = names.filter(is_timeline).collect();
    names.sort();
    names
}

/// Every example says the same through every mock.
#[test]
fn all_examples_are_the_same_through_every_mock() {
    let scratch = program::scratch();
    let mut n_compared = 0;
    for name in examples() {
        let finished = program::run(&scratch, &["parity", "--json", &name]);
        let told = program::told(&finished);
        assert_eq!(finished.code(), Some(0), "{name}\n{told}");
        let json: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        let faces = json["scenarios"][0]["faces"].as_array().expect("faces");
        let compared = faces.iter().filter(|face| face["left_out"].is_null());
        n_compared += compared.count();
    }
    assert!(n_compared > 60, "only {n_compared} were compared");
}

/// Every example runs with the mock agent, or with the program that its page names, and as a simulation.
#[test]
fn all_examples_run_without_a_model() {
    let scratch = program::scratch();
    for name in examples() {
        let mut args = vec![name.as_str(), "--mode", "mock-agent"];
        if name.ends_with("run/editor.yaml") {
            args.extend(["--", "sh"]);
        }
        let text = fs::read_to_string(&name).expect("a timeline");
        // Only an ACP client makes the one check, and nobody any check where nothing is done.
        let is_red = text.contains("session:");
        let played = run(&scratch, &args, i32::from(is_red));
        let is_unjudged = ["assert:", "screenshot:", "expect:"]
            .iter()
            .any(|key| text.contains(key));
        let simulated = [&name, "--mode", "simulate"];
        let simulated = run(&scratch, &simulated, i32::from(is_unjudged));
        for (run, is_red) in [(played, is_red), (simulated, is_unjudged)] {
            let status = if is_red { "failed" } else { "passed" };
            assert_eq!(run["status"], status, "{name}: {run:#}");
            let found = run["findings"].as_array().expect("a list").iter();
            let mut errors = found.filter(|found| found["severity"] == "error");
            assert!(errors.all(|found| found["code"] == "T-ASRT-03"), "{run:#}");
        }
    }
}

/// A mock that shows something else is found, with the first difference.
#[test]
fn a_difference_between_mocks_is_told() {
    let scratch = program::scratch();
    // An argument that no tool of the request has is left out by the model, and shown by the others.
    let timeline = "
name: differs
timeline:
  - userInputs: [[0, Look]]
  - llmResponse: [{assistant: [[0, I look]]}]
  - agentToolUse: {toolName: ownTool, args: {a: 1}, rawArguments: '{\"a\": 2}', result: seen}
  - llmResponse: [{assistant: [[0, Seen]]}]
";
    scratch.write("differs.yaml", timeline).expect("writable");
    let finished = program::run(&scratch, &["parity", "differs.yaml"]);
    assert_eq!(finished.code(), Some(1), "{}", program::told(&finished));
    assert!(
        finished.stdout.contains("expected call call_1 of ownTool"),
        "{}",
        program::told(&finished)
    );
}

/// Prompts of more than text, and arguments that an agent's own tool does not have.
#[test]
fn blocks_of_prompts_are_the_same_through_every_mock() {
    let scratch = program::scratch();
    let timeline = r#"
name: blocks
acp: {capabilities: {promptCapabilities: {image: true, embeddedContext: true}}}
timeline:
  - userInputs:
      - relativeTime: 0
        input:
          - {type: text, text: "What is this?"}
          - {type: image, mimeType: image/png, data: "iVBORw0KGgo="}
          - {type: resource, resource: {uri: "file:///a.txt", mimeType: text/plain, text: "notes"}}
          - {type: resource_link, uri: "file:///b.txt", name: b.txt}
  - llmResponse: [{assistant: [[0, "A picture."]]}]
  - grep: {pattern: "a", path: ".", "-n": true, "-i": true}
    result: "x"
  - llmResponse: [{assistant: [[0, "Done."]]}]
"#;
    // The text of a prompt may be that of a resource.
    let alone = timeline.replace("          - {type: text, text: \"What is this?\"}\n", "");
    for timeline in [timeline, &alone] {
        scratch.write("blocks.yaml", timeline).expect("writable");
        let finished = program::run(&scratch, &["parity", "blocks.yaml"]);
        assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));
        assert_eq!(
            finished.stdout.matches("4 the same").count(),
            7,
            "{}",
            finished.stdout
        );
    }
}

/// A run that depends on what is around it is found out; one that does not is the same each time.
#[test]
fn what_differs_from_run_to_run_is_named() {
    let scratch = program::scratch();
    let timeline = |command: &str| {
        format!(
            "name: audited
timeline:
  - userInputs: [[0, Go]]
  - llmResponse: [{{assistant: [[100, I go]]}}]
  - runCmd: {{cmd: \"{command}\"}}
  - screenshot: gone
"
        )
    };
    for (command, exit) in [
        ("echo the same; pwd", 0),
        ("echo $LANG", 1),
        ("pwd | tr -dc / | wc -c", 1),
        ("head -c 8 /dev/urandom | od -An -c", 1),
        ("head -c 8 /dev/urandom > random.bin", 1),
        ("seq -f %05g 10500 | xargs touch", 0),
    ] {
        scratch
            .write("audited.yaml", timeline(command))
            .expect("writable");
        let has_many_files = command.starts_with("seq");
        let n_runs = if has_many_files { "2" } else { "6" };
        let args = ["audit", "--json", "audited.yaml", "--runs", n_runs];
        let finished = program::run(&scratch, &args);
        assert_eq!(
            finished.code(),
            Some(exit),
            "{command}\n{}",
            program::told(&finished)
        );
        let json: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        let difference = &json["scenarios"][0]["difference"];
        let beyond = &json["scenarios"][0]["not_compared_from"];
        assert_eq!(beyond.is_string(), has_many_files, "{json:#}");
        if exit == 1 {
            let first = difference["first"].as_str().expect("an event");
            let is_of_file = first.starts_with("file random.bin: ");
            let is_named = first.starts_with("tool_result") || is_of_file;
            assert!(is_named, "{difference:#}");
            assert_eq!(is_of_file, command.ends_with("random.bin"));
        }
    }
}

/// The screens of our own, driven by our own executor.
#[test]
fn a_run_is_watched_and_stepped_through() {
    let scratch = program::scratch();
    let watched = "
name: watched
timeline:
  - userInputs: [[0, Begin]]
  - llmResponse: [{assistant: [[0, I begin]]}]
  - runCmd: {cmd: 'echo first; echo $((1 + 1))nd'}
  - assert: {fs: {exists: [missing.txt]}}
  - userInputs: [[10, Go on]]
  - llmResponse: [{assistant: [[60000, It is over]]}]
";
    scratch.write("watched.yaml", watched).expect("writable");
    let cuecard = env!("CARGO_BIN_EXE_cuecard");
    let runs = scratch
        .work()
        .join("watched")
        .to_string_lossy()
        .into_owned();
    let file = scratch
        .work()
        .join("watched.yaml")
        .to_string_lossy()
        .into_owned();
    let driven = |name: &str, keys: &[&str], text: &str, exit: u8| {
        let inputs: String = keys
            .iter()
            .map(|keys| {
                format!("  - userInputs: [{{relativeTime: 0, input: '{keys}', target: tui}}]\n")
            })
            .collect();
        let timeline = format!(
            "name: {name}
terminalRef: {{width: 130, height: 24}}
compat: {{allowInlineTerminal: true}}
timeline:
{inputs}  - assert: {{text: {{contains: [{text}]}}}}
  - userInputs: [{{relativeTime: 0, input: 'q', target: tui}}]
expect: {{exitCode: {exit}}}
"
        );
        scratch.write("driven.yaml", timeline).expect("writable");
    };
    // While it goes on; a user who presses q ends it.
    driven("live", &[], "'assert fs.exists[0]'", 130);
    let args = [
        "driven.yaml",
        "--",
        cuecard,
        "run",
        &file,
        "--live",
        "--run-dir",
        &runs,
    ];
    run(&scratch, &args, 0);
    // Afterwards: forward, to the failure, and back.
    for (name, keys, text) in [
        ("first", &[][..], "'message received  Begin', '1 of'"),
        ("further", &["<Right><Right>"][..], "['3 of', '2nd']"),
        ("failure", &["n"][..], "'fs.exists[0] f', '2nd'"),
        ("back", &["G<Left><Left>g"][..], "'1 of'"),
    ] {
        let text = text.trim_matches(['[', ']']);
        driven(name, keys, text, 0);
        run(
            &scratch,
            &["driven.yaml", "--", cuecard, "show", "--run-dir", &runs],
            0,
        );
    }
    let plain = program::run(&scratch, &["show", "last", "--run-dir", &runs]);
    assert_eq!(plain.code(), Some(0));
    assert!(
        plain.stdout.contains("✗ check  timeline[3].fs.exists[0]"),
        "{}",
        plain.stdout
    );
    let screen = program::run(
        &scratch,
        &["show", "last", "--run-dir", &runs, "--at", "100"],
    );
    assert!(screen.stdout.contains("> Begin"), "{}", screen.stdout);
    let none = program::run(&scratch, &["show", "nothing", "--run-dir", &runs]);
    assert_eq!(none.code(), Some(3), "{}", program::told(&none));
}

/// A client of agent services: what is typed becomes a task and then its prompts, what it is told is printed.
const CLIENT: &str = r#"
import json, os, sys, threading, urllib.request

url = os.environ["CUECARD_SERVICE_URL"] + "/api/v1"

def post(path, body):
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request))

def follow(session):
    headers = {"accept": "text/event-stream"}
    for line in urllib.request.urlopen(urllib.request.Request(url + f"/sessions/{session}/events", headers=headers)):
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            if event["type"] == "message" and event["role"] == "assistant":
                print("said:", event["content"], flush=True)

print("ready", flush=True)
task = {"prompt": input(), "repo": {"mode": "none"}, "runtime": {"type": "local"},
        "agents": [{"type": "claude-code", "version": "latest", "count": 1}]}
session = post("/tasks", task)["session_ids"][0]
threading.Thread(target=follow, args=[session], daemon=True).start()
if "stops" in sys.argv:
    post(f"/sessions/{session}/stop", {})
for line in sys.stdin:
    if "quits early" in sys.argv:
        break
    more = ", please" if "says more" in sys.argv else ""
    post(f"/sessions/{session}/prompt", {"prompt": line.strip() + more})
"#;

#[test]
fn a_simulation_is_told_to_a_program() {
    let Some(python) = peers::require_program("python3") else {
        return;
    };
    let scratch = program::scratch();
    scratch.write("client.py", CLIENT).expect("writable");
    let timeline = "
name: told
terminalRef: slow.yaml
timeline:
  - userInputs: [[0, 'Write it']]
  - llmResponse: [{assistant: [[30, 'I write it.']]}]
  - writeFile: {path: a.txt, content: 'never'}
  - screenshot: first
  - assert: {screen: {label: first, contains: ['said: I write it.']}}
  - userInputs: [[100, 'Now test it']]
  - llmResponse: [{assistant: [[30, 'It is tested.']]}]
  - assert: {text: {contains: ['said: It is tested.']}}
  - userCommand: {cmd: 'false'}
";
    scratch.write("told.yaml", timeline).expect("writable");
    // The screen shows what was said when the client has printed it, and nobody knows when that is: a busy machine
    // takes longer than the usual 50 ms.
    scratch
        .write("slow.yaml", "settle: 800\n")
        .expect("writable");
    let python = python.display().to_string();
    let client = scratch.work().join("client.py").display().to_string();
    let told = ["told.yaml", "--mode", "simulate"];
    let with = |more: &[&'static str]| {
        let mut args = told.map(str::to_owned).to_vec();
        args.extend(["--".to_owned(), python.clone(), client.clone()]);
        args.extend(more.iter().map(|word| (*word).to_owned()));
        args
    };
    let checks = |run: &Value| -> Vec<String> {
        let events = run["events"].as_array().expect("a list").iter();
        let checked = events.filter(|event| event["holds"].is_boolean());
        checked
            .map(|event| {
                format!(
                    "{} {}",
                    event["what"].as_str().expect("text"),
                    event["holds"]
                )
            })
            .collect()
    };
    let words = with(&[]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let seen = run(&scratch, &words, 0);
    assert_eq!(codes(&seen), ["T-ASRT-03", "T-TERM-08"]);
    assert_eq!(
        checks(&seen),
        ["assert screen true", "assert text.contains[0] true"]
    );
    // What is typed must be what is sent.
    let words = with(&["says more"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let other = run(&scratch, &words, 1);
    assert_eq!(codes(&other), ["T-ASRT-03", "T-TERM-08", "T-TERM-10"]);
    // Who leaves before the last prompt is found out.
    let words = with(&["quits early"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let left = run(&scratch, &words, 1);
    assert!(codes(&left).contains(&"T-TERM-11"), "{left}");
    // A session that goes no further is not waited for.
    let words = with(&["stops"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let stopped = run(&scratch, &words, 1);
    assert!(codes(&stopped).contains(&"T-TERM-11"), "{stopped}");
    // What nobody looks at is not green: files with a program, screens without one.
    let alone = run(&scratch, &told, 1);
    assert_eq!(checks(&alone), [""; 0]);
    assert_eq!(alone["program"], json!([]));
    let written = timeline.replace(
        "['said: I write it.']}",
        "['said: I write it.']}, fs: {exists: [a.txt]}",
    );
    scratch.write("told.yaml", &written).expect("writable");
    let words = with(&[]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let unseen = run(&scratch, &words, 1);
    assert_eq!(codes(&unseen), ["T-ASRT-03", "T-ASRT-03", "T-TERM-08"]);
}

/// A command that ends when it ends is interrupted, which would otherwise take a minute and leave a file.
#[test]
fn a_command_of_the_mock_agent_is_cancelled_while_it_runs() {
    let scratch = program::scratch();
    let timeline = "
name: cancel
timeline:
  - userInputs: [[0, Wait for it]]
  - agentToolUse: {toolName: runCmd, args: {cmd: 'echo begun; sleep 60; echo never > late.txt'}}
  - userCancelSession: {at: 400}
  - assert: {fs: {notExists: [late.txt]}, text: {contains: [Interrupted]}}
  - userInputs: [[800, Go on]]
  - llmResponse: [{assistant: [[0, 'I go on.']]}]
  - assert: {text: {contains: ['I go on.']}}
expect: {exitCode: 0}
";
    scratch.write("cancel.yaml", timeline).expect("writable");
    let seen = run(&scratch, &["cancel.yaml", "--run-timeout", "50"], 0);
    assert_eq!(codes(&seen), [""; 0]);
}

/// The page of the agent service shows a run while it goes on, and does not steer it.
#[test]
fn a_run_is_shown_on_a_page_while_it_goes_on() {
    if peers::require_program("curl").is_none() {
        return;
    }
    let scratch = program::scratch();
    let address = scratch.work().join("address");
    let timeline = format!(
        "
name: seen
timeline:
  - userInputs: [[0, 'Write it']]
  - llmResponse: [{{think: [[0, 'A file']]}}, {{assistant: [[0, 'I write it.']]}}]
  - writeFile: {{path: a.txt, content: \"text\\n\"}}
  - assert: {{fs: {{exists: [a.txt, missing.txt]}}}}
  - userCommand:
      cmd: |
        until [ -s {0} ]; do sleep 0.05; done
        at=$(cat {0})/api/v1
        curl -s $at/sessions/session-1 > session.json
        curl -s \"$at/sessions/session-1/events?perPage=100\" > events.json
        curl -s -X POST $at/sessions/session-1/stop > refused.json
        curl -s -X DELETE $at/sessions/session-1 >> refused.json
        curl -s $at/tasks -d '{{\"prompt\": \"Do more\"}}' >> refused.json
  - assert:
      fs:
        contains:
          - {{path: session.json, substring: '\"status\":\"running\",\"waitingForPrompt\":false,\"readOnly\":true'}}
          - {{path: session.json, substring: '\"prompt\":\"seen\"'}}
          - {{path: refused.json, substring: \"that shows a run can't be stopped\"}}
          - {{path: refused.json, substring: \"that shows a run can't be deleted\"}}
          - {{path: refused.json, substring: 'it does no tasks'}}
  - userCommand: {{cmd: cat events.json}}
",
        address.display()
    );
    scratch.write("seen.yaml", &timeline).expect("writable");
    let running = scratch
        .start(&["run", "seen.yaml", "--json", "--serve-rest", "0"])
        .expect("the program starts");
    let mut told = String::new();
    running.wait_for(|_, stderr| {
        stderr.clone_into(&mut told);
        stderr.contains("shown at http://")
    });
    let line = told.lines().find_map(|line| line.split_once("shown at "));
    let (_, url) = line.expect("an address");
    fs::write(&address, url).expect("writable");
    let finished = running.finish();
    program::assert_nothing_left(&finished);
    let json: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let run = &json["runs"][0];
    assert_eq!(codes(run), ["T-ASRT-10"], "{run:#}");
    let path = format!("{}/trace.jsonl", run["run"].as_str().expect("a folder"));
    let trace = fs::read_to_string(path).expect("a trace");
    let printed = program::trace_lines(&trace)
        .into_iter()
        .find(|event| event["data"]["command"] == "cat events.json")
        .expect("what was seen");
    let seen = printed["data"]["text"].as_str().expect("text");
    let seen: Value = serde_json::from_str(seen).expect("JSON");
    let seen = seen["items"].as_array().expect("a list").iter();
    let gist = seen.map(|event| {
        let keys = [
            "role",
            "content",
            "thought",
            "tool_name",
            "tool_output",
            "status",
            "message",
        ];
        let values = keys.iter().filter_map(|key| event[key].as_str());
        let first = values.map(|value| value.lines().next().unwrap_or_default());
        format!(
            "{}: {}",
            event["type"].as_str().expect("text"),
            first.collect::<Vec<_>>().join(" ")
        )
    });
    assert_eq!(
        gist.collect::<Vec<_>>(),
        [
            "status: queued",
            "status: running",
            "message: user Write it",
            "thought: A file",
            "message: assistant I write it.",
            "tool_use: writeFile started",
            "tool_result: writeFile Wrote a.txt completed",
            "file_edit: ",
            "log: pass: timeline[3].fs.exists[0]",
            "log: fail: timeline[3].fs.exists[1]",
            "log: T-ASRT-10: the assert `fs.exists[1]` failed: `missing.txt`: no such file",
        ]
    );
}

/// All files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let found = entries.flat_map(|entry| match entry.path() {
        path if path.is_dir() => files_below(&path),
        path => vec![path],
    });
    found.collect()
}

/// What a server is given stays out of the traces, whoever prints it.
#[test]
fn secrets_reach_no_file() {
    let scratch = program::scratch();
    let timeline = "
name: secret
acp: {mcpServers: [{name: wiki, command: wiki-server, env: {WIKI_TOKEN: 'Bearer open-sesame'}}]}
timeline:
  - userInputs: [[0, 'Show it']]
  - runCmd: {cmd: 'echo open-sesame | tee seen.txt'}
  - userCommand: {cmd: cat seen.txt}
  - agentToolUse: {toolName: login, args: {password: sesame-too}, result: 'token sesame-too'}
  - screenshot: all
  - assert: {fs: {contains: [{path: seen.txt, substring: open-sesame}]}}
";
    scratch.write("secret.yaml", timeline).expect("writable");
    let shown = run(&scratch, &["secret.yaml", "--keep"], 0);
    let workspace = shown["workspace"].as_str().expect("it was kept");
    let root = workspace.trim_end_matches("/work");
    let mut n_redacted = 0;
    for folder in [
        shown["run"].as_str().expect("a folder"),
        &format!("{root}/tmp"),
    ] {
        for file in files_below(Path::new(folder)) {
            let bytes = fs::read(&file).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            // What a real program prints is the exception: here it is the user's own command.
            assert!(!text.contains("sesame"), "{}: {text}", file.display());
            n_redacted += usize::from(text.contains("[redacted]"));
        }
    }
    assert!(
        n_redacted >= 4,
        "the traces, the recording and the screenshot"
    );
    let _ = fs::remove_dir_all(root);
}
