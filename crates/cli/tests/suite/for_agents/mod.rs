//! The server for agents and the skill: foreign clients, calls that are cancelled, and real agents that save a task and
//! replay it.

mod clients;
mod install;
mod stories;

use std::fs;
use std::path::Path;
pub(crate) use stories::claude_variables;

use serde_json::{Value, json};

use crate::program;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cuecard");

/// A scenario that keeps a note on `TITLE`, and its second step reads it.
fn note() -> Value {
    json!({
        "version": "2.1",
        "metadata": {"name": "Note"},
        "variables": {"TITLE": ""},
        "steps": [
            {"step": 1, "id": "note", "tool": "mcp__demo__add_note",
             "params": {"title": "{{TITLE}}", "text": "t"}, "output": {"id": "$.id"}},
            {"step": 2, "tool": "mcp__demo__get_note", "params": {"id": "{{note.id}}"}},
        ],
    })
}

fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder").flatten() {
            let path = entry.path();
            match entry.file_type().expect("a kind").is_dir() {
                true => folders.push(path),
                false => found.push(
                    path.strip_prefix(folder)
                        .expect("below")
                        .display()
                        .to_string(),
                ),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_plugin_is_what_the_program_writes() {
    let scratch = program::scratch();
    let finished = program::run(&scratch, &["skill", "show", "-o", "plugin"]);
    assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));
    let committed = cuecard_testing::repository_root().join("plugin");
    let written = scratch.work().join("plugin");
    let files = files_below(&written);
    assert_eq!(files, files_below(&committed));
    for file in files {
        let text = |folder: &Path| fs::read_to_string(folder.join(&file)).expect("text");
        let advice = "run `cargo run -- skill show -o plugin`, and read the diff";
        assert!(text(&written) == text(&committed), "{file}: {advice}");
    }
}

#[test]
fn the_skill_has_what_agents_ask_of_one() {
    let scratch = program::scratch();
    let skill = program::run(&scratch, &["skill", "show"]).stdout;
    let (front, body) = skill
        .strip_prefix("---\n")
        .expect("frontmatter")
        .split_once("\n---\n")
        .expect("its end");
    let lines: Vec<&str> = front.lines().collect();
    assert_eq!(lines[0], "name: cuecard");
    // The bound of Codex, opencode and the standard of skills.
    let description = lines[1]
        .strip_prefix("description: ")
        .expect("a description");
    assert!(
        (1..=1024).contains(&description.len()),
        "{}",
        description.len()
    );
    assert!(
        !description.contains(": "),
        "it would be no plain scalar of YAML"
    );
    assert_eq!(lines.len(), 2);
    // Every placeholder is filled in, and what the text says is all there is to read.
    for placeholder in [
        "{{TOOLS}}",
        "{{STEP}}",
        "{{EXPECT}}",
        "{{BUILTIN}}",
        "{{COMMANDS}}",
    ] {
        assert!(!body.contains(placeholder));
    }
    assert!(body.lines().count() < 500);
}

/// The example in the skill is a scenario without errors.
#[test]
fn the_scenario_of_the_skill_has_no_errors() {
    let scratch = program::scratch();
    let skill = program::run(&scratch, &["skill", "show"]).stdout;
    let example = skill
        .split("```json\n")
        .nth(1)
        .expect("an example")
        .split("```")
        .next();
    scratch
        .write("example.json", example.expect("its end"))
        .expect("writable");
    let servers = json!({"mcpServers": {"github": {"command": "x"}, "slack": {"command": "x"}}});
    scratch
        .write(".mcp.json", servers.to_string())
        .expect("writable");
    let checked = program::run(&scratch, &["check", "--strict", "example.json"]);
    assert_eq!(checked.code(), Some(0), "{}", program::told(&checked));
}
