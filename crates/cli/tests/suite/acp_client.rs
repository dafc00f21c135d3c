//! Real agents under `cuecard acp --client`, whose model is played by `serve llm` from the same timeline.

use std::fs;
use std::path::PathBuf;

use cuecard_testing::peers;
use cuecard_testing::repository_root;
use cuecard_testing::scratch::Finished;
use serde_json::Value;

use crate::agents::{Agent, VIBE_PROVIDERS, VIBE_SETTINGS, opencode, prepared, words};
use crate::program;

/// What came of a run.
struct Run {
    finished: Finished,
    verdict: Value,
    /// Everything for a failed assertion.
    told: String,
}

impl Run {
    fn has(&self, code: &str) -> bool {
        let findings = self.verdict["findings"].as_array().expect("a list");
        findings
            .iter()
            .any(|found| found["code"] == code && found["severity"] == "error")
    }
}

/// opencode, which speaks the protocol and asks before it writes.
fn opencode_acp() -> Option<Agent> {
    let mut agent = opencode("@ai-sdk/openai-compatible", "{env:OPENAI_BASE_URL}", "chat")?;
    agent.command.truncate(1);
    agent.command.push("acp".to_owned());
    Some(agent)
}

/// The same, asking before it writes a file.
fn careful_opencode() -> Option<Agent> {
    let mut agent = opencode_acp()?;
    for (name, value) in &mut agent.variables {
        if *name == "OPENCODE_CONFIG_CONTENT" {
            let mut config: Value = serde_json::from_str(value).expect("JSON");
            config["permission"] = serde_json::json!({"edit": "ask"});
            *value = config.to_string();
        }
    }
    Some(agent)
}

/// mistral-vibe, which reads and writes files and runs commands through its client.
fn vibe() -> Option<Agent> {
    let program = peers::optional("venv-vibe/bin/vibe-acp")?;
    let script = format!("{VIBE_PROVIDERS}exec \"$0\"");
    let titles = ("VIBE_SESSION_LOGGING__GENERATE_TITLES", "false");
    let settings = VIBE_SETTINGS.into_iter().chain([titles]);
    Some(Agent {
        command: words(&["sh", "-c", &script, &program.to_string_lossy()]),
        variables: settings
            .map(|(name, value)| (name, value.to_owned()))
            .collect(),
        files: Vec::new(),
        dialect: "chat",
        calls: "write_file",
    })
}

/// Drives an agent through `expected` while its model plays `played`.
fn drive(agent: &Agent, played: &str, expected: &str) -> Run {
    let scratch = prepared(agent, played);
    let home = scratch.home();
    fs::write(home.join("expected.yaml"), expected).expect("writable");
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let program = env!("CARGO_BIN_EXE_cuecard");
    let mut args = words(&[
        "serve",
        "llm",
        &text(home.join("timeline.yaml")),
        "--speed",
        "0",
    ]);
    args.extend(words(&["--run-dir", &text(home.join("runs")), "--"]));
    args.extend(words(&[
        program,
        "acp",
        "--client",
        &text(home.join("expected.yaml")),
    ]));
    args.extend(words(&[
        "--speed",
        "0",
        "--run-dir",
        &text(home.join("runs")),
    ]));
    args.extend(words(&["-o", &text(home.join("verdict.json")), "--"]));
    args.extend(agent.command.iter().cloned());
    let finished = scratch.run(&args).expect("the program starts");
    let told = program::told(&finished);
    let verdict = fs::read(home.join("verdict.json"));
    let verdict = verdict.unwrap_or_else(|error| panic!("{error}\n{told}"));
    Run {
        finished,
        verdict: serde_json::from_slice(&verdict).expect("JSON"),
        told,
    }
}

fn example() -> String {
    let example = repository_root().join("examples/acp/greeting.yaml");
    fs::read_to_string(example).expect("an example")
}

/// The agent passes the example; and not if the client expects a little else.
#[track_caller]
fn assert_does_what_is_scripted(agent: &Agent) {
    let run = drive(agent, &example(), &example());
    assert_eq!(run.finished.code(), Some(0), "{}", run.told);
    assert_eq!(run.verdict["passed"], true, "{}", run.told);
    assert_eq!(run.verdict["prompts"], 2, "{}", run.told);

    let other = example()
        .replace("Done: greeting.txt", "Greeting.txt")
        .replace("ls && wc", "ls; wc")
        .replace("4 greeting.txt", "5 greeting.txt")
        .replace("new_string: timeline", "new_string: file");
    let run = drive(agent, &example(), &other);
    assert_eq!(run.finished.code(), Some(1), "{}", run.told);
    for part in [
        "the agent said something else",
        "expected \"ls; wc -w greeting.txt\", got",
        "gave another result",
        "`new_string`: expected",
    ] {
        assert!(run.finished.stderr.contains(part), "{part}\n{}", run.told);
    }
}

#[test]
fn opencode_does_what_is_scripted() {
    let Some(agent) = opencode_acp() else { return };
    assert_does_what_is_scripted(&agent);
}

#[test]
fn vibe_does_what_is_scripted() {
    let Some(agent) = vibe() else { return };
    assert_does_what_is_scripted(&agent);
}

const CANCELLED: &str = r#"
name: cancelled
timeline:
  - userInputs: [[0, "Sleep a while"]]
  - runCmd: {cmd: "sleep 600"}
    status: in_progress
  - userCancelSession: {}
  - userInputs: [[0, "Are you there?"]]
  - llmResponse: [{assistant: [[0, "Yes."]]}]
"#;

#[test]
fn a_command_of_an_agent_is_cancelled() {
    for agent in [opencode_acp(), vibe()].iter().flatten() {
        let run = drive(agent, CANCELLED, CANCELLED);
        assert_eq!(run.finished.code(), Some(0), "{}", run.told);
        assert_eq!(run.verdict["prompts"], 2, "{}", run.told);
    }
}

const ASKED: &str = r#"
name: asked
timeline:
  - userInputs: [[0, "Write a greeting"]]
  - agentPermissionRequest:
      toolCall: {kind: edit}
      options:
        - {id: once, label: Allow once, kind: allow_once}
        - {id: always, label: Always allow, kind: allow_always}
        - {id: reject, label: Reject, kind: reject_once}
      granted: true
  - writeFile: {path: greeting.txt, content: "Hello\n"}
  - llmResponse: [{assistant: [[0, "Written."]]}]
"#;

#[test]
fn the_user_of_the_script_decides() {
    let Some(agent) = careful_opencode() else {
        return;
    };
    let run = drive(&agent, ASKED, ASKED);
    assert_eq!(run.finished.code(), Some(0), "{}", run.told);

    // The call fails, and the agent says nothing more.
    let refused = ASKED.replace("granted: true", "granted: false");
    let run = drive(&agent, ASKED, &refused);
    assert!(run.has("T-TERM-05") && run.has("T-ACP-22"), "{}", run.told);
    assert!(
        run.told.contains("The user rejected permission"),
        "{}",
        run.told
    );

    // Nobody asked, although the script says so.
    let Some(agent) = opencode_acp() else { return };
    let run = drive(&agent, ASKED, ASKED);
    assert!(
        run.told.contains("the agent did not ask for permission"),
        "{}",
        run.told
    );
}

const ASSERTED: &str = r#"
name: asserted
timeline:
  - userInputs: [[0, "Write a greeting"]]
  - writeFile: {path: greeting.txt, content: "Hello\n"}
  - assert: {fs: {contains: [{path: greeting.txt, substring: Hello}]}}
  - llmResponse: []
  - editFile: {path: greeting.txt, old_string: Hello, new_string: Goodbye}
  - assert: {fs: {contains: [{path: greeting.txt, substring: Goodbye}]}}
  - llmResponse: []
  - runCmd: {cmd: "cp greeting.txt copy.txt && rm greeting.txt"}
  - llmResponse: [{assistant: [[0, "Moved."]]}]
  - assert: {fs: {exists: [copy.txt], notExists: [greeting.txt]}}
expect: {artifacts: [{pattern: "copy.*"}]}
"#;

/// The files are looked at where the agent works, in the midst of a turn too.
#[test]
fn asserts_hold_where_the_agent_works() {
    let is_played = |line: &&str| !line.contains("- assert:") && !line.starts_with("expect:");
    let played: Vec<&str> = ASSERTED.lines().filter(is_played).collect();
    let played = played.join("\n");
    for agent in [opencode_acp(), vibe()].iter().flatten() {
        let run = drive(agent, &played, ASSERTED);
        assert_eq!(run.finished.code(), Some(0), "{}", run.told);
        let other = ASSERTED
            .replace("substring: Hello", "substring: Morning")
            .replace("copy.*", "move.*");
        let run = drive(agent, &played, &other);
        assert!(run.has("T-ASRT-10") && run.has("T-EXP-01"), "{}", run.told);
    }
}
