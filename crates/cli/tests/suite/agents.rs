//! Real coding agents on a timeline: each is run by `serve llm` in a scratch home, in a fresh repository, and does there
//! what the timeline says. None of them needs the internet: what would go there meets a closed port.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cuecard_testing::peers;
use cuecard_testing::scratch::{Finished, Scratch};
use serde_json::Value;

use crate::program;

const PROMPT: &str = "Write a greeting into greeting.txt";

/// Agents are large programs, and on a busy machine all of them start at once.
const LIMIT: Duration = Duration::from_secs(900);

/// A coding agent as the tests run it.
pub(crate) struct Agent {
    /// The command, of which `{}` is the prompt.
    pub(crate) command: Vec<String>,
    /// Variables for it.
    pub(crate) variables: Vec<(&'static str, String)>,
    /// Files below its home.
    pub(crate) files: Vec<(&'static str, String)>,
    /// The API that it must ask by.
    pub(crate) dialect: &'static str,
    /// A tool that it must have been made to call.
    pub(crate) calls: &'static str,
}

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The path of an installed agent; nothing when peers are left out.
pub(crate) fn installed(relative: &str) -> Option<String> {
    peers::require_program("node")?;
    let path = peers::require(&format!("agents/node_modules/{relative}"))?;
    Some(path.to_string_lossy().into_owned())
}

/// Codex, with tools for this model.
pub(crate) fn codex(model: &str, calls: &'static str) -> Option<Agent> {
    let program = installed(".bin/codex")?;
    // The address is known only when the command runs.
    let script = "exec \"$0\" exec --dangerously-bypass-approvals-and-sandbox \
        -c \"model_providers.cuecard.base_url='$OPENAI_BASE_URL'\" \"$1\"";
    let config = format!(
        "model = \"{model}\"\nmodel_provider = \"cuecard\"\ncheck_for_update_on_startup = false\n\
         [analytics]\nenabled = false\n\
         [model_providers.cuecard]\nname = \"cuecard\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n"
    );
    Some(Agent {
        command: words(&["sh", "-c", script, &program, "{}"]),
        variables: Vec::new(),
        files: vec![(".codex/config.toml", config)],
        dialect: "responses",
        calls,
    })
}

/// The program of opencode.
pub(crate) fn opencode_program() -> Option<String> {
    let machine = match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    };
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        _ => "linux",
    };
    installed(&format!("opencode-{system}-{machine}/bin/opencode"))
}

/// opencode, with a provider that asks by this API.
pub(crate) fn opencode(package: &str, base_url: &str, dialect: &'static str) -> Option<Agent> {
    let program = opencode_program()?;
    let config = serde_json::json!({
        "autoupdate": false, "share": "disabled", "model": "mock/scripted",
        "provider": {"mock": {
            "npm": package, "options": {"baseURL": base_url, "apiKey": "cuecard"},
            "models": {"scripted": {"name": "scripted", "tool_call": true}},
        }},
    });
    Some(Agent {
        command: words(&[&program, "run", "{}"]),
        variables: vec![
            ("OPENCODE_CONFIG_CONTENT", config.to_string()),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".to_owned()),
        ],
        files: Vec::new(),
        dialect,
        calls: "edit",
    })
}

/// A fresh home and repository for an agent.
pub(crate) fn prepared(agent: &Agent, timeline: &str) -> Scratch {
    let mut scratch = program::scratch();
    scratch.limit(LIMIT);
    scratch.set("NO_PROXY", "127.0.0.1,localhost");
    // Nothing but this machine can be reached.
    for name in ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"] {
        scratch.set(name, "http://127.0.0.1:9");
    }
    for (name, value) in &agent.variables {
        scratch.set(*name, value);
    }
    for (relative, text) in &agent.files {
        let path = scratch.home().join(relative);
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }
    fs::write(scratch.home().join("timeline.yaml"), timeline).expect("writable");
    let git = Command::new("git")
        .args(["init", "--quiet", "."])
        .current_dir(scratch.work())
        .env("HOME", scratch.home())
        .status();
    assert!(git.expect("git is there").success());
    scratch
}

fn exchanges(scratch: &Scratch) -> PathBuf {
    scratch.home().join("exchanges.jsonl")
}

pub(crate) fn run(scratch: &Scratch, agent: &Agent) -> Finished {
    run_with(scratch, agent, &[])
}

/// The same with more options.
fn run_with(scratch: &Scratch, agent: &Agent, options: &[&str]) -> Finished {
    let home = scratch.home();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut args = words(&["serve", "llm", &text(&home.join("timeline.yaml"))]);
    args.extend(words(&["--run-dir", &text(&home.join("runs"))]));
    args.extend(words(options));
    args.extend(words(&["--exchanges", &text(&exchanges(scratch)), "--"]));
    args.extend(agent.command.iter().map(|word| word.replace("{}", PROMPT)));
    scratch.run(&args).expect("the program starts")
}

/// The agent does everything that the example says, and is asked for nothing else.
#[track_caller]
fn assert_plays_the_example(agent: Option<Agent>) {
    let Some(agent) = agent else {
        return;
    };
    let example = cuecard_testing::repository_root().join("examples/llm/agent.yaml");
    let scratch = prepared(&agent, &fs::read_to_string(example).expect("an example"));
    let finished = run(&scratch, &agent);
    let told = program::told(&finished);
    assert_eq!(finished.code(), Some(0), "{told}");
    assert!(finished.stderr.contains("passed"), "{told}");
    assert!(!finished.stderr.contains("T-LLM-"), "{told}");
    assert!(!finished.stderr.contains("T-TOOL-"), "{told}");
    let greeting = fs::read_to_string(scratch.work().join("notes/greeting.txt"));
    assert_eq!(
        greeting.expect("it was written"),
        "Hello from the timeline.\n"
    );

    let log = fs::read_to_string(exchanges(&scratch)).expect("a log");
    let log: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let main: Vec<&Value> = log.iter().filter(|it| it["lane"] == "main").collect();
    assert!(main.len() >= 5, "{told}");
    for exchange in &main {
        assert_eq!(exchange["dialect"], agent.dialect, "{exchange:#}");
        assert_eq!(exchange["outcome"], "turn", "{exchange:#}");
    }
    let last = main.last().expect("checked")["request"].to_string();
    assert!(
        last.contains(&format!("\"name\":\"{}\"", agent.calls)),
        "{last}"
    );
}

#[test]
fn codex_plays_the_example_with_commands() {
    assert_plays_the_example(codex("scripted", "exec_command"));
}

#[test]
fn codex_plays_the_example_with_patches() {
    assert_plays_the_example(codex("gpt-5.5", "apply_patch"));
}

#[test]
fn codex_plays_the_example_through_programs() {
    assert_plays_the_example(codex("gpt-6-sol", "exec"));
}

#[test]
fn opencode_plays_the_example_by_chat() {
    assert_plays_the_example(opencode(
        "@ai-sdk/openai-compatible",
        "{env:OPENAI_BASE_URL}",
        "chat",
    ));
}

#[test]
fn opencode_plays_the_example_by_messages() {
    assert_plays_the_example(opencode(
        "@ai-sdk/anthropic",
        "{env:ANTHROPIC_BASE_URL}/v1",
        "messages",
    ));
}

#[test]
fn gemini_cli_plays_the_example() {
    let Some(program) = installed(".bin/gemini") else {
        return;
    };
    let settings = r#"{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
        "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}}"#;
    assert_plays_the_example(Some(Agent {
        command: words(&[
            &program,
            "--yolo",
            "--model",
            "gemini-2.5-pro",
            "--prompt",
            "{}",
        ]),
        variables: Vec::new(),
        files: vec![(".gemini/settings.json", settings.to_owned())],
        dialect: "gemini",
        calls: "replace",
    }));
}

/// How Mistral Vibe asks a model whose address is known only when it runs, in variables and the beginning of a script.
pub(crate) const VIBE_PROVIDERS: &str = r#"export VIBE_PROVIDERS="[{\"name\":\"mock\",\"api_base\":\"$OPENAI_BASE_URL\",\"api_key_env_var\":\"\"}]"; "#;
pub(crate) const VIBE_SETTINGS: [(&str, &str); 8] = [
    ("VIBE_ACTIVE_MODEL", "scripted"),
    (
        "VIBE_MODELS",
        r#"{"scripted":{"name":"scripted","provider":"mock"}}"#,
    ),
    ("VIBE_DEFAULT_AGENT", "auto-approve"),
    ("VIBE_ENABLE_TELEMETRY", "false"),
    ("VIBE_ENABLE_UPDATE_CHECKS", "false"),
    ("VIBE_ENABLE_AUTO_UPDATE", "false"),
    ("VIBE_ENABLE_CONNECTORS", "false"),
    ("VIBE_EXPERIMENTS__ENABLE", "false"),
];

#[test]
fn mistral_vibe_plays_the_example() {
    let Some(program) = peers::optional("venv-vibe/bin/vibe") else {
        return;
    };
    let script = format!("{VIBE_PROVIDERS}exec \"$0\" --trust --output text -p \"$1\"");
    let settings = VIBE_SETTINGS.map(|(name, value)| (name, value.to_owned()));
    assert_plays_the_example(Some(Agent {
        command: words(&["sh", "-c", &script, &program.to_string_lossy(), "{}"]),
        variables: settings.to_vec(),
        files: Vec::new(),
        dialect: "chat",
        calls: "edit",
    }));
}

#[test]
fn an_assert_that_fails_fails_the_run_of_the_agent() {
    let Some(agent) = codex("scripted", "exec_command") else {
        return;
    };
    let timeline = "name: wrong
timeline:
  - userInputs: [[0, \"Write a greeting into greeting.txt\"]]
  - llmResponse: []
  - writeFile: { path: greeting.txt, content: \"Hello.\\n\" }
  - assert: { fs: { contains: [{ path: greeting.txt, substring: Goodbye }] } }
  - llmResponse: [{ assistant: [[0, \"Written.\"]] }]
";
    let scratch = prepared(&agent, timeline);
    let finished = run(&scratch, &agent);
    let told = program::told(&finished);
    assert!(finished.code().is_some_and(|code| code != 0), "{told}");
    for part in ["T-ASRT-10", "fs.contains[0]", "timeline.yaml:6:", "Goodbye"] {
        assert!(finished.stderr.contains(part), "{part}\n{told}");
    }
    let greeting = fs::read_to_string(scratch.work().join("greeting.txt"));
    assert_eq!(greeting.expect("it was written"), "Hello.\n");
}

const WORK: &str = "name: work
timeline:
  - userInputs: [[0, \"Write a greeting into greeting.txt\"]]
  - llmResponse: [{ assistant: [[0, \"I'll write it.\"]] }]
  - writeFile: { path: greeting.txt, content: \"Hello.\\n\" }
  - llmResponse: []
  - readFile: { path: greeting.txt }
  - runCmd: { cmd: pwd }
  - llmResponse: [{ assistant: [[0, \"Done.\"]] }]
";

/// What is recorded of the agent plays to it again in another folder, without any finding.
#[track_caller]
fn assert_its_recording_plays(agent: Option<Agent>) {
    let Some(mut agent) = agent else {
        return;
    };
    let scratch = prepared(&agent, WORK);
    let recorded = scratch.home().join("recorded.yaml");
    let command = agent.command.clone();
    let script = "program=$0 out=$1; shift; \
        exec \"$program\" record llm --upstream \"$OPENAI_BASE_URL\" -o \"$out\" -- \"$@\"";
    let out = recorded.to_string_lossy();
    agent.command = words(&["sh", "-c", script, env!("CARGO_BIN_EXE_cuecard"), &out]);
    agent.command.extend(command.iter().cloned());
    let finished = run(&scratch, &agent);
    assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));

    agent.command = command;
    let recorded = fs::read_to_string(recorded).expect("it was recorded");
    let folder = scratch.work().to_string_lossy().into_owned();
    assert!(!recorded.contains(&folder), "{recorded}");
    let scratch = prepared(&agent, &recorded);
    let finished = run_with(&scratch, &agent, &["--strict"]);
    let told = program::told(&finished);
    assert_eq!(finished.code(), Some(0), "{told}\n{recorded}");
    assert!(!finished.stderr.contains("[T-"), "{told}\n{recorded}");
    let greeting = fs::read_to_string(scratch.work().join("greeting.txt"));
    assert_eq!(greeting.expect("it was written"), "Hello.\n");
}

#[test]
fn a_recording_of_codex_plays_to_it() {
    assert_its_recording_plays(codex("scripted", "exec_command"));
}

#[test]
fn a_recording_of_opencode_plays_to_it() {
    assert_its_recording_plays(opencode(
        "@ai-sdk/openai-compatible",
        "{env:OPENAI_BASE_URL}",
        "chat",
    ));
}
