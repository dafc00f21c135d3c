//! `cuecard skill install`: the skill and the server where each agent looks for them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use cuecard_runtime::policy::inside;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_workspace::files;
use serde_json::{Value, json};

use super::config::{Syntax, add};
use super::{server, text};
use crate::args::SkillAgent::{self, ClaudeCode, Codex, Gemini, Opencode};
use crate::context::{Context, Stop};
use crate::inputs::{self, unreadable};
use crate::output::stdout;

/// A file with the text that it has, if it is there, and the text that it gets.
struct Change {
    path: PathBuf,
    before: Option<String>,
    after: String,
}

/// Installs for these agents, or for those that are there. All is written or nothing.
pub(super) fn install(
    agents: &[SkillAgent],
    is_project: bool,
    context: &Context,
) -> Result<(), Stop> {
    let here = inputs::working_directory().map_err(Stop::could_not_run)?;
    let variables = inputs::text_environment(&context.environment);
    let home = variables.get("HOME").map(PathBuf::from);
    let Some(home) = home.filter(|home| home.is_absolute()) else {
        let help = "set it to your home directory";
        return Err(Stop::argument("`HOME` is not set", help));
    };
    let settings = |agent| settings_folder(agent, &variables, &home);
    let mut agents = agents.to_vec();
    if agents.is_empty() {
        let known = SkillAgent::value_variants().iter().copied();
        agents.extend(known.filter(|agent| settings(*agent).is_dir()));
    }
    if agents.is_empty() {
        let message = "no agent has settings in your home directory";
        return Err(Stop::argument(message, "name one with `--agent`"));
    }
    let mut changes: Vec<Change> = Vec::new();
    for agent in agents {
        let (skills, config) = match is_project {
            true => places_in_project(agent, &here),
            false => places_in_home(agent, &settings(agent), &home),
        };
        let skill = skills.join("cuecard/SKILL.md");
        // A home may be made of links.
        for path in [&skill, &config].into_iter().filter(|_| is_project) {
            inside(&here, path).map_err(|error| {
                let message = format!("`{}` {error}", path.display());
                refused(&message, "remove the link that leads out of the project")
            })?;
        }
        let (syntax, servers, entry) = form(agent);
        let before = existing(&config)?;
        let after = add(
            before.as_deref().unwrap_or_default(),
            syntax,
            servers,
            &entry,
        );
        let after = after.map_err(|error| {
            let message = format!("`{}` {error}", config.display());
            refused(&message, "correct the file; nothing was written")
        })?;
        let old_skill = existing(&skill)?;
        changes.push(Change {
            path: skill,
            before: old_skill,
            after: text(),
        });
        changes.push(Change {
            path: config,
            before,
            after,
        });
    }
    write(&changes)?;
    for Change {
        path,
        before,
        after,
    } in &changes
    {
        let verb = match before {
            None => "wrote",
            Some(before) if before == after => "kept",
            Some(_) => "updated",
        };
        stdout(&format!("{verb} {}\n", path.display()));
    }
    let path = variables.get("PATH").map_or("", String::as_str);
    if !std::env::split_paths(path).any(|folder| folder.join("cuecard").is_file()) {
        let message = "no directory of `PATH` has `cuecard`, with which agents start the server";
        let warning = Diagnostic::warning(codes::ARGUMENT, message);
        let warning = warning.with_help("put the program into one of them");
        context.output.diagnostic(&warning);
    }
    Ok(())
}

/// The folder of an agent's settings.
fn settings_folder(
    agent: SkillAgent,
    variables: &BTreeMap<String, String>,
    home: &Path,
) -> PathBuf {
    let named = |variable: &str, folder: &str| {
        let named = variables.get(variable).filter(|folder| !folder.is_empty());
        named.map_or_else(|| home.join(folder), PathBuf::from)
    };
    match agent {
        ClaudeCode => named("CLAUDE_CONFIG_DIR", ".claude"),
        Codex => named("CODEX_HOME", ".codex"),
        Opencode => named("XDG_CONFIG_HOME", ".config").join("opencode"),
        Gemini => home.join(".gemini"),
    }
}

/// The folder with the user's skills, and the config with the user's servers.
fn places_in_home(agent: SkillAgent, settings: &Path, home: &Path) -> (PathBuf, PathBuf) {
    let skills = settings.join("skills");
    match agent {
        // It lies beside the folder, unless that was moved.
        ClaudeCode if settings == home.join(".claude") => (skills, home.join(".claude.json")),
        ClaudeCode => (skills, settings.join(".claude.json")),
        Codex => (home.join(".agents/skills"), settings.join("config.toml")),
        Opencode => (skills, opencode_config(settings)),
        Gemini => (skills, settings.join("settings.json")),
    }
}

/// The folder with the project's skills, and the config with its servers.
fn places_in_project(agent: SkillAgent, here: &Path) -> (PathBuf, PathBuf) {
    match agent {
        ClaudeCode => (here.join(".claude/skills"), here.join(".mcp.json")),
        Codex => (here.join(".agents/skills"), here.join(".codex/config.toml")),
        Opencode => (here.join(".opencode/skills"), opencode_config(here)),
        Gemini => (
            here.join(".gemini/skills"),
            here.join(".gemini/settings.json"),
        ),
    }
}

fn opencode_config(folder: &Path) -> PathBuf {
    let with_comments = folder.join("opencode.jsonc");
    match with_comments.exists() {
        true => with_comments,
        false => folder.join("opencode.json"),
    }
}

/// How an agent writes its config, what it calls the table of servers, and an entry there.
fn form(agent: SkillAgent) -> (Syntax, &'static str, Value) {
    match agent {
        ClaudeCode | Gemini => (Syntax::Json, "mcpServers", server()),
        Codex => (Syntax::Toml, "mcp_servers", server()),
        Opencode => {
            let entry = json!({ "type": "local", "command": ["cuecard", "mcp"], "enabled": true });
            (Syntax::Json, "mcp", entry)
        }
    }
}

/// The text of a file, if it is there.
fn existing(path: &Path) -> Result<Option<String>, Stop> {
    let read = fs::metadata(path).and_then(|data| match data.is_file() {
        true => fs::read_to_string(path),
        // A pipe would be waited for.
        false => Err(io::Error::other("it is not a regular file")),
    });
    match read {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = unreadable(path, &error).message;
            Err(refused(&message, "correct it; nothing was written"))
        }
    }
}

/// Writes all, or leaves everything as it was.
fn write(changes: &[Change]) -> Result<(), Stop> {
    for (n_written, change) in changes.iter().enumerate() {
        if change.before.as_ref() == Some(&change.after) {
            continue;
        }
        let Err(error) = files::write(&change.path, &change.after) else {
            continue;
        };
        for written in &changes[..n_written] {
            // What can't be taken back was written a moment ago.
            let _ = match &written.before {
                Some(before) => files::write(&written.path, before).is_ok(),
                None => fs::remove_file(&written.path).is_ok(),
            };
        }
        let help = error
            .help()
            .unwrap_or_else(|| "nothing was changed".to_owned());
        return Err(refused(&error.to_string(), &help));
    }
    Ok(())
}

fn refused(message: &str, help: &str) -> Stop {
    Stop::could_not_run(Diagnostic::error(codes::FILE_WRITE, message).with_help(help))
}
