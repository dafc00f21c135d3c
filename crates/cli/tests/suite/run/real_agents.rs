//! Real agents on a timeline in a terminal: those that everybody knows, and one that nobody has heard of.

use std::fs;

use cuecard_testing::scratch::Scratch;
use cuecard_testing::{peers, repository_root};
use serde_json::{Value, json};

use super::{codes, examples, run};
use crate::agents::{installed, opencode_program};
use crate::program;

/// Creates, edits, tests and commits code; without its own end it fits every agent.
const TASK: &str = r##"
name: task
repo:
  init: true
  files: [{path: check.sh, contents: "test \"$(cat greeting.txt)\" = 'Hello from the timeline.'\n"}]
timeline:
  - userInputs: [[0, "Write a greeting, and test it"]]
  - llmResponse: [{assistant: [[20, "I write it."]]}]
  - writeFile: {path: greeting.txt, content: "Hello from the script.\n"}
  - llmResponse: [{assistant: [[20, "It should name the timeline."]]}]
  - editFile: {path: greeting.txt, old_string: "Hello from the script.", new_string: "Hello from the timeline."}
  - assert: {fs: {contains: [{path: greeting.txt, substring: timeline}]}}
  - llmResponse: []
  - runCmd: {cmd: "sh check.sh && echo tested > result.txt"}
  - llmResponse: [{assistant: [[20, "The greeting is tested."]]}]
  - assert: {text: {contains: ["greeting is tested"]}, fs: {exists: [result.txt]}}
  - baseTimeDelta: 500
  - userInputs: [[0, "Commit it"]]
  - llmResponse: [{assistant: [[20, "I commit it."]]}]
  - runCmd: {cmd: "git add -A && git commit -qm 'Add a greeting'"}
  - llmResponse: [{assistant: [[20, "It is committed."]]}]
  - screenshot: committed
  - assert: {git: {headMessageContains: "Add a greeting", commitsAheadOf: "HEAD~1"}, screen: {label: committed, contains: ["It is committed"]}}
expect: {artifacts: [{pattern: "*.txt"}]}
"##;

/// What a run is about, without what differs each time: what was found, what was looked at, and the trace's calls,
/// results and edits.
fn gist(run: &Value) -> Value {
    let path = format!("{}/trace.jsonl", run["run"].as_str().expect("a folder"));
    let trace = fs::read_to_string(path).expect("a trace");
    let events = trace
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let is_kept = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        matches!(
            kind,
            "tool_call" | "message_received" | "message" | "final_output"
        )
    };
    let kept: Vec<Value> = events
        .filter(is_kept)
        .map(|event| {
            json!([
                event["type"],
                event["data"]["tool"],
                event["data"]["args"],
                event["data"]["content"]
            ])
        })
        .collect();
    let checks: Vec<&Value> = run["events"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|event| &event["what"])
        .collect();
    json!([run["status"], codes(run), checks, kept])
}

/// Runs the task with an agent; three times it is the same.
#[track_caller]
fn assert_does_the_task(agent: &str, program: &str, times: usize) {
    let mut scratch = program::scratch();
    scratch.limit(std::time::Duration::from_secs(600));
    scratch.write("task.yaml", TASK).expect("writable");
    let mut before: Option<Value> = None;
    for _ in 0..times {
        let run = run(
            &scratch,
            &["task.yaml", "--agent", agent, "--program", program],
            0,
        );
        assert_eq!(run["status"], "passed", "{run:#}");
        assert_eq!(run["mode"], "real-agent");
        assert!(run["agent_version"].is_string(), "{run:#}");
        let found: Vec<&str> = codes(&run);
        assert!(found.iter().all(|code| *code == "T-TERM-08"), "{found:?}");
        let events = run["events"].as_array().expect("a list").iter();
        let changed =
            events.filter_map(|event| event["what"].as_str()?.strip_prefix("agent: changed "));
        let changed: Vec<&str> = changed.collect();
        // What its commands write counts, too; what stands at the end is the same in every run.
        assert_eq!(changed, ["greeting.txt (+1 −0)", "result.txt (+1 −0)"]);
        let gist = gist(&run);
        if let Some(before) = &before {
            assert_eq!(*before, gist);
        }
        before = Some(gist);
    }
}

#[test]
fn codex_does_the_task_three_times_the_same() {
    if let Some(program) = installed(".bin/codex") {
        assert_does_the_task("codex", &program, 3);
    }
}

#[test]
fn opencode_does_the_task() {
    if let Some(program) = opencode_program() {
        assert_does_the_task("opencode", &program, 1);
    }
}

#[test]
fn gemini_cli_does_the_task() {
    if let Some(program) = installed(".bin/gemini") {
        assert_does_the_task("gemini-cli", &program, 1);
    }
}

/// What comes later is not seen before, and what the user does between two turns is done before the next one.
#[test]
fn a_real_agent_waits_while_the_run_looks() {
    let Some(program) = installed(".bin/codex") else {
        return;
    };
    let scratch = program::scratch();
    let timeline = r#"
name: waits
timeline:
  - userInputs: [[0, "Write a greeting"]]
  - assert: {fs: {notExists: [a.txt]}}
  - userCommand: {cmd: "echo early > early.txt"}
  - llmResponse: [{assistant: [[0, "I write it."]]}]
  - writeFile: {path: a.txt, content: "hello\n"}
  - assert: {text: {notContains: ["All done later."]}, fs: {exists: [a.txt, early.txt], notExists: [later.txt]}}
  - userCommand: {cmd: "sleep 0.5; test ! -e later.txt && cp a.txt copy.txt"}
  - assert: {exitCode: 0}
  - llmResponse: [{assistant: [[0, "Next."]]}]
  - runCmd: {cmd: "cat copy.txt > later.txt"}
  - screenshot: before
  - assert: {fs: {exists: [later.txt]}}
  - llmResponse: [{assistant: [[0, "All done later."]]}]
  - assert: {text: {contains: ["All done later."]}}
"#;
    scratch.write("waits.yaml", timeline).expect("writable");
    let args = ["waits.yaml", "--agent", "codex", "--program", &program];
    let done = run(&scratch, &args, 0);
    let text = done["screenshots"][0]["files"][0].as_str().expect("a path");
    let text = fs::read_to_string(text).expect("a screenshot");
    assert!(
        text.contains("Next.") && !text.contains("All done later."),
        "{text}"
    );
}

/// Every example with a real agent; expected screens are those of the mock agent.
#[test]
fn codex_runs_all_examples() {
    let Some(program) = installed(".bin/codex") else {
        return;
    };
    let mut scratch = program::scratch();
    scratch.limit(std::time::Duration::from_secs(600));
    for name in examples() {
        let exit = match () {
            // An agent that is new has no history, and a shell needs no model.
            () if name.ends_with("second-day.yaml") || name.ends_with("run/editor.yaml") => 2,
            // Only an ACP client judges it.
            () if name.ends_with("timelines/editor.yaml") => 1,
            () => 0,
        };
        let mut args = vec![name.as_str(), "--agent", "codex", "--program", &program];
        args.extend(["--speed", "0", "--goldens", "goldens", "--update-goldens"]);
        let done = run(&scratch, &args, exit);
        let is_doubt = |code: &&str| !["T-LLM-01", "T-LLM-05", "T-ASRT-03"].contains(code);
        let found: Vec<&str> = codes(&done).into_iter().filter(is_doubt).collect();
        assert_eq!(found.is_empty(), exit != 2, "{name}: {done:#}");
    }
}

#[test]
fn a_real_agent_that_does_something_else_fails_the_run() {
    let Some(program) = installed(".bin/codex") else {
        return;
    };
    let mut scratch = program::scratch();
    scratch.limit(std::time::Duration::from_secs(600));
    // Between two turns and on the screen.
    let wrong = TASK
        .replace("substring: timeline", "substring: nothing")
        .replace("\"greeting is tested\"", "\"never said\"");
    scratch.write("wrong.yaml", &wrong).expect("writable");
    let run = run(
        &scratch,
        &["wrong.yaml", "--agent", "codex", "--program", &program],
        1,
    );
    assert_eq!(run["status"], "failed");
    let codes = codes(&run);
    assert_eq!(codes, ["T-ASRT-10", "T-ASRT-10", "T-TERM-08"]);
    let notes = run["findings"].to_string();
    assert!(notes.contains("the screen at that moment"), "{notes}");
}

#[test]
fn the_mock_agent_does_the_same_task() {
    let scratch = program::scratch();
    scratch.write("task.yaml", TASK).expect("writable");
    let first = run(&scratch, &["task.yaml", "--speed", "0"], 0);
    let second = run(&scratch, &["task.yaml"], 0);
    assert_eq!(gist(&first), gist(&second));
}

/// The preset of a small agent of our own, whose tools have names that nobody knows.
fn preset_of(python: &std::path::Path) -> String {
    format!(
        "agent = 'mine'
versions = '>=1.2.0'
program = '{}'
args = ['{}']
ready = '^[?]\\s*\\z'
quit = '<C-d>'

[env]
MODEL_URL = '{{base_url.openai}}'
MODEL_KEY = '{{key}}'
",
        python.display(),
        repository_root().join("tests/run/agent.py").display()
    )
}

/// A place with that preset as `mine.toml`.
fn with_mine(python: &std::path::Path) -> Scratch {
    let scratch = program::scratch();
    scratch
        .write("mine.toml", preset_of(python))
        .expect("writable");
    scratch
}

/// A timeline in which something is done, said and looked at wherever that may stand, and which holds in this order; with
/// `wrong` it does not.
fn ordered(name: &str, mut seed: u64, wrong: bool) -> String {
    let mut draw = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut timeline = format!("name: {name}\ntimeline:\n");
    let (mut n_done, n_turns) = (0, 4 + draw(4));
    let broken_at = draw(n_turns);
    for turn in 0..n_turns {
        let is_prompt = turn == 0 || draw(3) == 0;
        if is_prompt && turn > 0 {
            // A prompt is typed once the agent has nothing more to do.
            timeline += "  - llmResponse: [{assistant: [[20, done]]}]\n";
        }
        if is_prompt {
            timeline += &format!("  - userInputs: [[100, 'Do {turn}']]\n");
        }
        let n_looks = draw(3) + u64::from(wrong && turn == broken_at);
        for look in 0..n_looks {
            let later = n_done + 1;
            let is_wrong = wrong && turn == broken_at && look == 0;
            let (there, not_there) = if is_wrong {
                (later, later + 1)
            } else {
                (n_done, later)
            };
            timeline += &match draw(4) {
                0 => format!(
                    "  - assert: {{fs: {{exists: [f{there}], notExists: [f{not_there}]}}}}\n"
                ),
                1 => format!(
                    "  - userCommand: {{cmd: 'test -e f{there} && ! test -e f{not_there}'}}\n  - assert: {{exitCode: 0}}\n"
                ),
                2 => format!(
                    "  - assert: {{text: {{contains: [said-{there}-], notContains: [said-{not_there}-]}}}}\n"
                ),
                _ => format!(
                    "  - screenshot: s{turn}-{look}\n  - assert: {{screen: {{label: s{turn}-{look}, contains: [said-{there}-]}}}}\n"
                ),
            };
        }
        n_done += 1;
        timeline += &format!(
            "  - llmResponse: [{{assistant: [[20, 'said-{n_done}-']]}}]\n  - writeFile: {{path: f{n_done}, content: \"x\\n\"}}\n"
        );
    }
    timeline
        + "  - llmResponse: [{assistant: [[20, over]]}]\n  - assert: {text: {contains: [over]}}\n"
}

/// Wherever the run looks and the user acts, it is before what comes below.
#[test]
fn what_stands_between_turns_is_done_in_order() {
    let Some(python) = peers::require_program("python3") else {
        return;
    };
    let scratch = with_mine(&python);
    // What has nothing above it is there from the start.
    let seeded = |timeline: String| {
        let repo = "repo: {files: [{path: f0, contents: ''}]}\ntimeline:\n";
        let timeline = timeline.replace("timeline:\n", repo);
        timeline.replace("[said-0-]", "['?']")
    };
    for seed in 0..12 {
        let (right, wrong) = (format!("right-{seed}"), format!("wrong-{seed}"));
        scratch
            .write(
                format!("all/{right}.yaml"),
                seeded(ordered(&right, seed, false)),
            )
            .expect("writable");
        scratch
            .write(
                format!("all/{wrong}.yaml"),
                seeded(ordered(&wrong, seed, true)),
            )
            .expect("writable");
    }
    let args = [
        "run",
        "all",
        "--agent",
        "mine.toml",
        "--jobs",
        "6",
        "--json",
        "--run-timeout",
        "60",
    ];
    let finished = program::run(&scratch, &args);
    assert_eq!(finished.code(), Some(1), "{}", program::told(&finished));
    let json: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let runs = json["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 24);
    for run in runs {
        let name = run["scenario"].as_str().expect("a name");
        let expected = if name.starts_with("right") {
            "passed"
        } else {
            "failed"
        };
        assert_eq!(run["status"], expected, "{run:#}");
    }
}

/// An agent that loses patience asks again, and gets no answer before it may go on either.
#[test]
fn who_asks_again_waits_too() {
    let Some(python) = peers::require_program("python3") else {
        return;
    };
    let scratch = program::scratch();
    let preset = preset_of(&python) + "MODEL_PATIENCE = '0.4'\n";
    scratch.write("mine.toml", preset).expect("writable");
    let timeline = r#"
name: again
timeline:
  - userInputs: [[0, "Do it"]]
  - llmResponse: [{assistant: [[0, "First."]]}]
  - writeFile: {path: first, content: "x\n"}
  - userCommand: {cmd: "sleep 1.5; test -e first && ! test -e second"}
  - assert: {exitCode: 0, text: {contains: ["asking again"]}}
  - llmResponse: [{assistant: [[0, "Second."]]}]
  - writeFile: {path: second, content: "x\n"}
  - llmResponse: [{assistant: [[0, "Over."]]}]
  - assert: {fs: {exists: [second]}, text: {contains: ["Over."]}}
"#;
    scratch.write("again.yaml", timeline).expect("writable");
    let done = run(&scratch, &["again.yaml", "--agent", "mine.toml"], 0);
    assert_eq!(codes(&done), [""; 0], "{done:#}");
    let events = done["events"].as_array().expect("a list").iter();
    let said = events.filter_map(|event| event["what"].as_str()?.strip_prefix("agent: \""));
    assert_eq!(
        said.collect::<Vec<_>>(),
        ["First.\"", "Second.\"", "Over.\""]
    );
}

/// An agent that asks before it reads keys loses what is typed in between, unless its preset says so.
#[test]
fn what_is_typed_waits_until_keys_are_read() {
    let Some(python) = peers::require_program("python3") else {
        return;
    };
    let agent = repository_root().join("tests/run/agent.py");
    let slow = format!(
        r#"import builtins, runpy, termios, time
read = builtins.input

def slow(prompt):
    print(prompt, end="", flush=True)
    time.sleep(1)
    termios.tcflush(0, termios.TCIFLUSH)
    print("\x1b[?2004h", end="", flush=True)
    line = read()
    print("\x1b[?2004l", end="", flush=True)
    return line

builtins.input = slow
runpy.run_path("{}")
"#,
        agent.display()
    );
    let scratch = program::scratch();
    scratch.write("slow.py", slow).expect("writable");
    let slow = scratch.work().join("slow.py").display().to_string();
    let preset = preset_of(&python).replace(&agent.display().to_string(), &slow);
    let preset = preset.replace("quit =", "prompt_takes_pastes = true\nquit =");
    scratch.write("mine.toml", preset).expect("writable");
    let timeline = r#"
name: slow
timeline:
  - userInputs: [[0, "Do it"]]
  - llmResponse: [{assistant: [[0, "First."]]}]
  - userInputs: [[0, "Go on"]]
  - llmResponse: [{assistant: [[0, "Second."]]}]
  - assert: {text: {contains: ["Second."]}}
"#;
    scratch.write("slow.yaml", timeline).expect("writable");
    run(&scratch, &["slow.yaml", "--agent", "mine.toml"], 0);
}

/// A check of a request that never comes is not green.
#[test]
fn a_check_of_a_request_behind_the_last_turn_fails() {
    let Some(python) = peers::require_program("python3") else {
        return;
    };
    let scratch = with_mine(&python);
    let timeline = r#"
name: last
timeline:
  - userInputs: [[0, "Do it"]]
  - llmResponse: [{assistant: [[0, "Done."]]}]
  - assert: {request: {model: other}}
"#;
    scratch.write("last.yaml", timeline).expect("writable");
    let done = run(&scratch, &["last.yaml", "--agent", "mine.toml"], 1);
    let told = done["findings"].to_string();
    assert!(told.contains("no request came after it"), "{told}");
}

/// Where a folder has more files than are looked at, the note names the first that is not, and `--strict` fails.
#[test]
fn changes_beyond_what_is_looked_at_are_named() {
    let Some(python) = peers::require_program("python3") else {
        return;
    };
    let scratch = with_mine(&python);
    let timeline = r#"
name: many
timeline:
  - userInputs: [[0, "Write them"]]
  - llmResponse: [{assistant: [[0, "I write them."]]}]
  - runCmd: {cmd: "mkdir many; cd many; seq -w 1 10050 | xargs touch"}
  - llmResponse: [{assistant: [[0, "Written."]]}]
  - assert: {fs: {exists: [many/10050]}}
"#;
    scratch.write("many.yaml", timeline).expect("writable");
    let args = ["many.yaml", "--agent", "mine.toml"];
    let done = run(&scratch, &args, 0);
    let note = done["findings"].to_string();
    assert!(
        note.contains("changes from `many/09999` on are not compared"),
        "{note}"
    );
    let events = done["events"].as_array().expect("a list").iter();
    let mut changed =
        events.filter_map(|event| event["what"].as_str()?.strip_prefix("agent: changed "));
    assert_eq!(changed.next_back(), Some("many/09998 (+0 −0)"));
    run(&scratch, &[&args[..], &["--strict"]].concat(), 1);
}

/// An agent that nobody has heard of: tools with the names of a timeline's are called as they are written, and become the
/// entries of its profile.
#[test]
fn an_agent_without_a_profile_is_known_by_its_tools() {
    let Some(python) = peers::require_program("python3") else {
        return;
    };
    let scratch = program::scratch();
    let preset = preset_of(&python);
    scratch.write("mine.toml", &preset).expect("writable");
    let timeline = "
name: unknown
timeline:
  - userInputs: [[0, 'Write it']]
  - llmResponse: [{assistant: [[0, 'I write it.']]}]
  - writeFile: {path: a.txt, content: \"text\\n\"}
  - llmResponse: [{assistant: [[0, 'I look at it.']]}]
  - runCmd: {cmd: 'cp a.txt b.txt; cat b.txt'}
    result: {contains: text}
  - llmResponse: [{assistant: [[0, 'It is written.']]}]
  - assert: {fs: {exists: [a.txt, b.txt]}, text: {contains: ['It is written.']}}
";
    scratch.write("unknown.yaml", timeline).expect("writable");
    let args = ["unknown.yaml", "--agent", "mine.toml"];
    let unknown = run(&scratch, &args, 0);
    assert_eq!(codes(&unknown), [""; 0], "{unknown:#}");
    let log = format!(
        "{}/exchanges.jsonl",
        unknown["run"].as_str().expect("a folder")
    );
    let captured = program::run(
        &scratch,
        &[
            "profile",
            "capture",
            &log,
            "--agent",
            "mine@1.2.0",
            "-o",
            ".",
        ],
    );
    assert_eq!(captured.code(), Some(0), "{}", program::told(&captured));
    let profile = ["--profile", "mine/1.2.0.toml"];
    let known = run(&scratch, &[&args[..], &profile].concat(), 0);
    assert_eq!(codes(&known), [""; 0], "{known:#}");
    // What an edit of counts only says is compared with what was done.
    for (count, expected) in [(1, &[][..]), (2, &["T-TERM-06"])] {
        let edit = format!("  - agentEdits: {{path: b.txt, linesAdded: {count}}}\n  - assert:");
        let edits = timeline.replace("  - assert:", &edit);
        scratch.write("edits.yaml", &edits).expect("writable");
        let edits = ["edits.yaml", "--agent", "mine.toml"];
        let edited = run(&scratch, &[&edits[..], &profile].concat(), 0);
        assert_eq!(codes(&edited), expected, "{edited:#}");
    }
    // What no tool takes is not made something else.
    let edit = timeline.replace(
        "runCmd: {cmd: 'cp a.txt b.txt; cat b.txt'}",
        "editFile: {path: a.txt, old_string: text, new_string: word}",
    );
    scratch.write("edit.yaml", &edit).expect("writable");
    let failed = run(
        &scratch,
        &["edit.yaml", "--agent", "mine.toml", "--run-timeout", "20"],
        1,
    );
    assert!(codes(&failed).contains(&"T-TOOL-04"), "{failed:#}");
    assert!(codes(&failed).contains(&"T-TERM-15"), "{failed:#}");
}

/// A timeline is a test with a real agent, too.
#[test]
fn codex_is_tested_with_a_timeline() {
    let Some(program) = installed(".bin/codex") else {
        return;
    };
    let scratch = program::scratch();
    scratch.write("task.yaml", TASK).expect("writable");
    let args = [
        "test",
        "task.yaml",
        "--json",
        "--agent",
        "codex",
        "--program",
    ];
    let tested = program::run(&scratch, &[&args[..], &[&program]].concat());
    assert_eq!(tested.code(), Some(0), "{}", program::told(&tested));
    let other = TASK.replace("contains: [\"greeting is tested\"]", "contains: [nothing]");
    assert_ne!(other, TASK);
    scratch.write("task.yaml", other).expect("writable");
    let tested = program::run(&scratch, &[&args[..], &[&program]].concat());
    assert_eq!(tested.code(), Some(1), "{}", program::told(&tested));
}
