//! The whole story: a real agent, played by `serve llm`, does a task through an MCP server, saves it as the skill says,
//! and a second session replays it with other values.

use std::os::unix::fs::symlink;
use std::process::Command;

use cuecard_testing::peers;
use cuecard_testing::scratch::Scratch;

use super::*;
use crate::agents::{Agent, codex, installed, opencode, prepared, words};

/// The scenario as an agent writes it down after the task.
fn letter() -> Value {
    json!({
        "version": "2.1",
        "metadata": {"name": "Letter", "description": "Writes a letter to somebody"},
        "variables": {"NAME": ""},
        "steps": [
            {"step": 1, "tool": "mcp__files__write_file",
             "params": {"path": "{{NAME}}.txt", "content": "Dear {{NAME}},\n"}},
            {"step": 2, "id": "written", "tool": "mcp__files__read_text_file", "params": {"path": "{{NAME}}.txt"},
             "output": {"text": "$.content"}, "expect": {"json_path": "$.content", "contains": "{{NAME}}"}},
        ],
    })
}

/// The file in the home that is locked as long as a server is recorded.
const RECORDING: &str = "recording.lock";

/// A session: what the user says, and the calls that the agent is made to do.
fn timeline(prompt: &str, calls: &[(String, Value)]) -> String {
    let mut events = vec![json!({"userInputs": [[0, prompt]]})];
    for (tool, args) in calls {
        events.push(json!({"llmResponse": []}));
        events.push(json!({"agentToolUse": {"toolName": tool, "args": args}}));
    }
    events.push(json!({"llmResponse": [{"assistant": [[0, "Done."]]}]}));
    json!({"name": "session", "timeline": events}).to_string()
}

/// Plays `calls` to the agent, and returns the log of what it asked its model.
#[track_caller]
fn session(scratch: &Scratch, agent: &Agent, prompt: &str, calls: &[(String, Value)]) -> String {
    let home = scratch.home();
    let place = |name: &str| home.join(name).display().to_string();
    fs::write(place("timeline.yaml"), timeline(prompt, calls)).expect("writable");
    let _ = fs::remove_file(place("exchanges.jsonl"));
    let (timeline, log) = (place("timeline.yaml"), place("exchanges.jsonl"));
    let mut args = words(&[
        "serve",
        "llm",
        &timeline,
        "--run-dir",
        &place("runs"),
        "--exchanges",
        &log,
        "--",
    ]);
    args.extend(agent.command.iter().map(|word| word.replace("{}", prompt)));
    let mut running = scratch.start(&args).expect("the program starts");
    drop(running.take_input());
    running.wait_for(|_, _| false);
    // Its servers write their recording when the agent has gone.
    let waited = Command::new("flock")
        .arg(place(RECORDING))
        .arg("true")
        .status();
    assert!(waited.expect("flock starts").success());
    let finished = running.finish();
    let told = program::told(&finished);
    assert_eq!(finished.code(), Some(0), "{told}");
    assert!(
        !finished.stderr.contains("T-LLM-") && !finished.stderr.contains("T-TOOL-"),
        "{told}"
    );
    fs::read_to_string(log).expect("a log")
}

/// The agent has the skill and the server, and a server for files, which is recorded where the agent has a config of its
/// own; `tool` is what it calls a tool of a server.
#[track_caller]
fn saves_and_replays(agent: Option<Agent>, name: &str, tool: fn(&str, &str) -> String) {
    let Some(files) = peers::require("npm/node_modules/.bin/mcp-server-filesystem") else {
        return;
    };
    let Some(agent) = agent else { return };
    let mut scratch = prepared(&agent, "");
    let bin = scratch.home().join("bin");
    fs::create_dir_all(&bin).expect("writable");
    symlink(PROGRAM, bin.join("cuecard")).expect("linked");
    let path = std::env::var("PATH").expect("a path");
    scratch.set("PATH", format!("{}:{path}", bin.display()));
    let command = json!({"command": files, "args": [scratch.work()]});
    let servers = json!({"mcpServers": {"files": command}});
    scratch
        .write(".mcp.json", servers.to_string())
        .expect("writable");
    let recorded = scratch.home().join("recorded.json").display().to_string();
    let work = scratch.work().display().to_string();
    let files = files.to_str().expect("UTF-8");
    let options = ["--force", "-o", &recorded, "--server", "files", "--"];
    let lock = scratch.home().join(RECORDING).display().to_string();
    let proxied = [
        &["-s", &lock, PROGRAM, "record", "mcp"],
        &options[..],
        &[files, &work],
    ]
    .concat();
    match name {
        "codex" => {
            let config = scratch.home().join(".codex/config.toml");
            let text = fs::read_to_string(&config).expect("a config");
            let entry = format!(
                "\n[mcp_servers.files]\nrequired = true\nstartup_timeout_sec = 300\ncommand = {}\nargs = {}\n",
                json!("flock"),
                json!(proxied)
            );
            fs::write(config, text + &entry).expect("writable");
        }
        "opencode" => {
            let command = [&["flock"], &proxied[..]].concat();
            let entry = json!({"type": "local", "command": command, "timeout": 300_000});
            let config = json!({"mcp": {"files": entry}});
            scratch
                .write("opencode.json", config.to_string())
                .expect("writable");
        }
        _ => {}
    }
    if name != "plugin" {
        let installed = program::run(&scratch, &["skill", "install", "--agent", name]);
        assert_eq!(installed.code(), Some(0), "{}", program::told(&installed));
    }

    let ada = scratch.work().join("Ada.txt").display().to_string();
    let log = session(
        &scratch,
        &agent,
        "Write a letter to Ada, and remember how",
        &[
            (
                tool("files", "write_file"),
                json!({"path": ada, "content": "Dear Ada,\n"}),
            ),
            (tool("files", "read_text_file"), json!({"path": ada})),
            (
                tool("cuecard", "save_scenario"),
                json!({"name": "letter", "scenario": letter()}),
            ),
        ],
    );
    assert_eq!(program::read(&scratch, "Ada.txt"), "Dear Ada,\n");
    let saved: Value =
        serde_json::from_str(&program::read(&scratch, ".cuecard/scenarios/letter.json"))
            .expect("JSON");
    assert_eq!(saved, letter());
    if ["codex", "opencode"].contains(&name) {
        let text = fs::read_to_string(&recorded).expect("a recording");
        let scenario: Value = serde_json::from_str(&text).expect("JSON");
        let tools =
            ["write_file", "read_text_file"].map(|tool| json!(format!("mcp__files__{tool}")));
        let steps = scenario["steps"].as_array().expect("steps").iter();
        assert_eq!(
            steps.map(|step| step["tool"].clone()).collect::<Vec<_>>(),
            tools,
            "{text}"
        );
        let checked = program::run(&scratch, &["check", &recorded]);
        assert_eq!(checked.code(), Some(0), "{}", program::told(&checked));
    }
    // The agent has told its model of the skill and of the tools.
    assert!(
        log.contains("Saves a sequence of tool calls as a scenario"),
        "{log}"
    );
    assert!(log.contains("play_scenario"), "{log}");

    let log = session(
        &scratch,
        &agent,
        "Write a letter to Grace",
        &[
            (tool("cuecard", "list_scenarios"), json!({})),
            (
                tool("cuecard", "play_scenario"),
                json!({"scenario": "letter", "variables": {"NAME": "Grace"}, "dry_run": false}),
            ),
        ],
    );
    assert_eq!(program::read(&scratch, "Grace.txt"), "Dear Grace,\n");
    let trace = program::only_trace(&scratch);
    assert!(trace.contains("mcp__files__write_file"), "{trace}");
    // What the tools answered has come to the model.
    for part in ["Writes a letter to somebody", "trace_path"] {
        assert!(log.contains(part), "{part}\n{log}");
    }
}

fn with_prefix(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

#[test]
fn codex_saves_a_task_and_replays_it() {
    saves_and_replays(codex("scripted", "exec_command"), "codex", with_prefix);
}

#[test]
fn opencode_saves_a_task_and_replays_it() {
    let agent = opencode("@ai-sdk/openai-compatible", "{env:OPENAI_BASE_URL}", "chat");
    saves_and_replays(agent, "opencode", |server, tool| format!("{server}_{tool}"));
}

pub(crate) fn claude_variables() -> Vec<(&'static str, String)> {
    vec![
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        // It would begin without the servers that are slow to start.
        ("MCP_CONNECTION_NONBLOCKING", "0".to_owned()),
        ("MCP_TIMEOUT", "300000".to_owned()),
    ]
}

/// Claude Code with what `skill install` puts into its home, or with the plugin.
fn claude(options: &[&str], server: &str) -> Option<Agent> {
    let program = installed("@anthropic-ai/claude-code-linux-x64/claude")?;
    let allowed = format!("mcp__files,{server}");
    let mut command = words(&[
        &program,
        "-p",
        "{}",
        "--model",
        "claude-sonnet-4-5",
        "--allowedTools",
        &allowed,
    ]);
    command.extend(words(&["--mcp-config", ".mcp.json"]));
    command.extend(words(options));
    Some(Agent {
        command,
        variables: claude_variables(),
        files: Vec::new(),
        dialect: "messages",
        calls: "Bash",
    })
}

#[test]
fn claude_code_saves_a_task_and_replays_it() {
    saves_and_replays(claude(&[], "mcp__cuecard"), "claude-code", with_prefix);
}

#[test]
fn claude_code_with_the_plugin_saves_a_task_and_replays_it() {
    let plugin = cuecard_testing::repository_root().join("plugin");
    let server = "mcp__plugin_cuecard_cuecard";
    let agent = claude(&["--plugin-dir", plugin.to_str().expect("UTF-8")], server);
    saves_and_replays(agent, "plugin", |server, tool| match server {
        "cuecard" => format!("mcp__plugin_cuecard_cuecard__{tool}"),
        _ => with_prefix(server, tool),
    });
}
