//! Real agents, played by `serve llm`, whose servers are recorded.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::agents::{Agent, VIBE_PROVIDERS, VIBE_SETTINGS, installed, opencode, prepared, words};
use crate::for_agents::claude_variables;

/// What the agent is asked for.
const PROMPT: &str = "Add the note Tea with the text Green";

const TIMELINE: &str = "name: notes
timeline:
  - userInputs: [[0, PROMPT]]
  - llmResponse: []
  - agentToolUse: { toolName: PREFIXadd_note, args: { title: Tea, text: Green } }
  - llmResponse: []
  - agentToolUse: { toolName: PREFIXlist_notes, args: {} }
  - llmResponse: [{ assistant: [[0, \"Noted.\"]] }]
";

/// The agent, which puts `prefix` before the tools of the server, does its task with it, and what it called plays
/// without it.
#[track_caller]
fn is_recorded(agent: Option<Agent>, prefix: &str) {
    is_recorded_with(
        "",
        agent,
        &TIMELINE.replace("PREFIX", prefix).replace("PROMPT", PROMPT),
    );
}

/// The same of an agent that a shell prepares with `before`, and of this timeline.
#[track_caller]
fn is_recorded_with(before: &str, agent: Option<Agent>, timeline: &str) {
    let Some(agent) = agent else {
        return;
    };
    let scratch = prepared(&agent, timeline);
    let home = scratch.home();
    let text = |name: &str| home.join(name).to_string_lossy().into_owned();
    let config = json!({"mcpServers": {"notes": demo()}}).to_string();
    std::fs::write(home.join("servers.json"), config).expect("writable");
    let mut args = words(&[
        "serve",
        "llm",
        &text("timeline.yaml"),
        "--run-dir",
        &text("runs"),
        "--",
    ]);
    // The address is known only when the command runs, so that it is a shell's.
    args.extend(words(&["sh", "-c"]));
    args.extend(agent.command.iter().map(|word| word.replace("{}", PROMPT)));
    let place = args
        .iter()
        .position(|word| word == "-c")
        .expect("it is there");
    args[place + 1] = format!(
        "{before}exec '{PROGRAM}' record mcp --config '{}' -o rec.json -- {}",
        text("servers.json"),
        args[place + 1]
    );
    let finished = scratch.run(&args).expect("it starts");
    program::assert_nothing_left(&finished);
    assert_eq!(finished.code(), Some(0), "{}", told(&finished));
    let recorded: Value = serde_json::from_str(&read(&scratch, "rec.json")).expect("JSON");
    let steps = recorded["steps"].as_array().expect("a list");
    let tools: Vec<&Value> = steps.iter().map(|step| &step["tool"]).collect();
    assert_eq!(
        tools,
        ["mcp__notes__add_note", "mcp__notes__list_notes"],
        "{}",
        told(&finished)
    );
    // What the user asked for is what it plays with other values.
    assert_eq!(
        recorded["variables"],
        json!({"TITLE": "Tea", "TEXT": "Green"})
    );
    let cassette = read(&scratch, "rec.cassette.jsonl");
    assert!(
        cassette.contains(&json!([PROMPT]).to_string()),
        "{cassette}"
    );
    let played = program::run(
        &scratch,
        &[
            "play",
            "rec.json",
            "--config",
            &text("servers.json"),
            "--var",
            "TITLE=Coffee",
            "--output",
            "result.json",
            "--include-results",
        ],
    );
    assert_eq!(played.code(), Some(0), "{}", told(&played));
    assert!(played.stdout.contains("2 passed"), "{}", told(&played));
    let result = read(&scratch, "result.json");
    assert!(
        result.contains("Coffee") && !result.contains("Tea"),
        "{result}"
    );
}

#[test]
fn codex_is_recorded() {
    let Some(program) = installed(".bin/codex") else {
        return;
    };
    let config = "model = \"scripted\"\nmodel_provider = \"cuecard\"\ncheck_for_update_on_startup = false\n\
         [analytics]\nenabled = false\n\
         [model_providers.cuecard]\nname = \"cuecard\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n";
    let script = format!(
        "'{program}' exec --dangerously-bypass-approvals-and-sandbox \
         -c \"model_providers.cuecard.base_url='$OPENAI_BASE_URL'\" '{PROMPT}'"
    );
    let agent = Agent {
        command: vec![script],
        variables: Vec::new(),
        files: vec![(".codex/config.toml", config.to_owned())],
        dialect: "responses",
        calls: "",
    };
    is_recorded(Some(agent), "mcp__notes__");
}

#[test]
fn gemini_cli_is_recorded() {
    let Some(program) = installed(".bin/gemini") else {
        return;
    };
    // The settings that it is handed count only if root alone can write them and each folder above.
    let runtime = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let is_private = |folder: &Path| {
        let metadata = folder.metadata().expect("it is there");
        metadata.permissions().mode() & 0o022 == 0
    };
    if !rustix::process::getuid().is_root() || !runtime.ancestors().all(is_private) {
        return;
    }
    let settings = r#"{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
        "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}}"#;
    let agent = Agent {
        command: vec![format!(
            "'{program}' --yolo --model gemini-2.5-pro --prompt '{PROMPT}'"
        )],
        // Scratch folders are below /tmp, where everybody may write.
        variables: vec![("XDG_RUNTIME_DIR", runtime.display().to_string())],
        files: vec![(".gemini/settings.json", settings.to_owned())],
        dialect: "gemini",
        calls: "",
    };
    is_recorded(Some(agent), "mcp_notes_");
}

#[test]
fn opencode_is_recorded() {
    let agent = opencode("@ai-sdk/openai-compatible", "{env:OPENAI_BASE_URL}", "chat");
    let agent = agent.map(|mut agent| {
        agent.command = vec![format!("'{}' run '{PROMPT}'", agent.command[0])];
        agent
    });
    is_recorded(agent, "notes_");
}

#[test]
fn claude_code_is_recorded() {
    let Some(program) = installed("@anthropic-ai/claude-code-linux-x64/claude") else {
        return;
    };
    let options = "--model claude-sonnet-4-5 --allowedTools mcp__notes";
    let agent = Agent {
        command: vec![format!("'{program}' -p '{PROMPT}' {options}")],
        variables: claude_variables(),
        files: Vec::new(),
        dialect: "messages",
        calls: "",
    };
    is_recorded(Some(agent), "mcp__notes__");
}

#[test]
fn mistral_vibe_is_recorded() {
    let Some(program) = cuecard_testing::peers::optional("venv-vibe/bin/vibe") else {
        return;
    };
    let agent = Agent {
        command: vec![format!(
            "'{}' --trust --output text -p '{PROMPT}'",
            program.display()
        )],
        variables: VIBE_SETTINGS
            .map(|(name, value)| (name, value.to_owned()))
            .to_vec(),
        files: Vec::new(),
        dialect: "chat",
        calls: "",
    };
    // It calls tools of servers from a program.
    let timeline = r#"name: notes
timeline:
  - userInputs: [[0, PROMPT]]
  - llmResponse: []
  - agentToolUse:
      toolName: run_typescript
      args:
        code: |
          async function main() {
            await tools.mcp_notes.add_note({ title: "Tea", text: "Green" });
            return await tools.mcp_notes.list_notes({});
          }
  - llmResponse: [{ assistant: [[0, "Noted."]] }]
"#;
    let timeline = timeline.replace("PROMPT", PROMPT);
    is_recorded_with(VIBE_PROVIDERS, Some(agent), &timeline);
}
