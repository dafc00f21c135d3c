//! `cuecard skill install`: the skill and the server where each agent looks for them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use cuecard_runtime::policy::inside;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_workspace::files;
use serde_json::{Value, json};

use super::config::{Merged, Syntax, add};
use super::{server, text};
use crate::args::SkillAgent;
use crate::commands::stop::Stop;
use crate::inputs::{self, io_reason};
use crate::output::{Output, stdout};

/// Where an agent looks.
struct Places {
    /// The folder with a folder for each skill.
    skills: PathBuf,
    /// The configuration with the MCP servers.
    config: PathBuf,
    syntax: Syntax,
    /// The table of servers in it.
    servers: &'static str,
    entry: Value,
}

/// A file to write.
struct Change {
    path: PathBuf,
    /// What it has now, if it is there.
    before: Option<String>,
    after: String,
}

/// Installs for these agents, or for those that are there. All is written or nothing.
pub(super) fn install(
    agents: &[SkillAgent],
    is_project: bool,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> Result<(), Stop> {
    let here = inputs::working_directory().map_err(Stop::could_not_run)?;
    let variables = inputs::text_environment(environment);
    let home = variables
        .get("HOME")
        .map(PathBuf::from)
        .filter(|home| home.is_absolute());
    let agents = match (agents, &home) {
        ([], Some(home)) => settled(&variables, home)?,
        ([], None) | ([_, ..], None) if !is_project => {
            return Err(unclear("`HOME` is not set", "set it, or use `--project`"));
        }
        (agents, _) => agents.to_vec(),
    };
    let mut changes: Vec<Change> = Vec::new();
    let mut kept = Vec::new();
    for agent in agents {
        let places = match (is_project, &home) {
            (false, Some(home)) => of_user(agent, &variables, home),
            _ => of_project(agent, &here),
        };
        let skill = places.skills.join("cuecard/SKILL.md");
        if is_project {
            for path in [&skill, &places.config] {
                inside(&here, path).map_err(|error| {
                    let message = format!("`{}` {error}", path.display());
                    refused(&message, "remove the link that leads out of the project")
                })?;
            }
        }
        let before = existing(&skill)?;
        match before.as_deref() == Some(&text()) {
            true => kept.push(skill),
            false => changes.push(Change {
                path: skill,
                before,
                after: text(),
            }),
        }
        let before = existing(&places.config)?;
        let merged = add(
            before.as_deref().unwrap_or_default(),
            places.syntax,
            places.servers,
            &places.entry,
        );
        match merged {
            Ok(Merged::Kept) => kept.push(places.config),
            Ok(Merged::Text(after)) => changes.push(Change {
                path: places.config,
                before,
                after,
            }),
            Err(error) => {
                let message = format!("`{}` {error}", places.config.display());
                return Err(refused(&message, "correct the file; nothing was written"));
            }
        }
    }
    write(&changes)?;
    for change in &changes {
        let verb = if change.before.is_some() {
            "updated"
        } else {
            "wrote"
        };
        stdout(&format!("{verb} {}\n", change.path.display()));
    }
    for path in kept {
        stdout(&format!("kept {}, which has it already\n", path.display()));
    }
    let path = variables
        .get("PATH")
        .map(String::as_str)
        .unwrap_or_default();
    if !std::env::split_paths(path).any(|folder| folder.join("cuecard").is_file()) {
        let warning = Diagnostic::warning(
            codes::ARGUMENT,
            "no folder of `PATH` has `cuecard`, with which agents start the server",
        )
        .with_help("put the program into one of them");
        output.diagnostic(&warning, false, &cuecard_source::value::Redactor::default());
    }
    Ok(())
}

/// The agents that have settings in this home.
fn settled(variables: &BTreeMap<String, String>, home: &Path) -> Result<Vec<SkillAgent>, Stop> {
    let is_there = |agent: &SkillAgent| folder_of(*agent, variables, home).is_dir();
    let agents: Vec<SkillAgent> = SkillAgent::value_variants()
        .iter()
        .copied()
        .filter(is_there)
        .collect();
    match agents.is_empty() {
        false => Ok(agents),
        true => Err(unclear(
            "no agent has settings in your home directory",
            "name one with `--agent`",
        )),
    }
}

/// The folder of an agent's settings.
fn folder_of(agent: SkillAgent, variables: &BTreeMap<String, String>, home: &Path) -> PathBuf {
    let (variable, folder) = match agent {
        SkillAgent::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude"),
        SkillAgent::Codex => ("CODEX_HOME", ".codex"),
        SkillAgent::Opencode => ("XDG_CONFIG_HOME", ".config"),
        SkillAgent::Gemini => ("", ".gemini"),
    };
    let named = variables.get(variable).filter(|folder| !folder.is_empty());
    let folder = named.map_or_else(|| home.join(folder), PathBuf::from);
    match agent {
        SkillAgent::Opencode => folder.join("opencode"),
        _ => folder,
    }
}

fn of_user(agent: SkillAgent, variables: &BTreeMap<String, String>, home: &Path) -> Places {
    let folder = folder_of(agent, variables, home);
    match agent {
        SkillAgent::ClaudeCode => {
            // It lies beside the folder, unless that is somewhere else.
            let is_moved = variables
                .get("CLAUDE_CONFIG_DIR")
                .is_some_and(|folder| !folder.is_empty());
            let config = if is_moved { &folder } else { home }.join(".claude.json");
            servers_in_json(folder.join("skills"), config)
        }
        SkillAgent::Codex => of_codex(home.join(".agents/skills"), folder.join("config.toml")),
        SkillAgent::Opencode => of_opencode(folder.join("skills"), &folder),
        SkillAgent::Gemini => servers_in_json(folder.join("skills"), folder.join("settings.json")),
    }
}

fn of_project(agent: SkillAgent, here: &Path) -> Places {
    match agent {
        SkillAgent::ClaudeCode => {
            servers_in_json(here.join(".claude/skills"), here.join(".mcp.json"))
        }
        SkillAgent::Codex => of_codex(here.join(".agents/skills"), here.join(".codex/config.toml")),
        SkillAgent::Opencode => of_opencode(here.join(".opencode/skills"), here),
        SkillAgent::Gemini => servers_in_json(
            here.join(".gemini/skills"),
            here.join(".gemini/settings.json"),
        ),
    }
}

fn servers_in_json(skills: PathBuf, config: PathBuf) -> Places {
    Places {
        skills,
        config,
        syntax: Syntax::Json,
        servers: "mcpServers",
        entry: server(),
    }
}

fn of_codex(skills: PathBuf, config: PathBuf) -> Places {
    Places {
        skills,
        config,
        syntax: Syntax::Toml,
        servers: "mcp_servers",
        entry: server(),
    }
}

fn of_opencode(skills: PathBuf, folder: &Path) -> Places {
    let with_comments = folder.join("opencode.jsonc");
    let config = if with_comments.exists() {
        with_comments
    } else {
        folder.join("opencode.json")
    };
    let entry = json!({ "type": "local", "command": ["cuecard", "mcp"], "enabled": true });
    Places {
        skills,
        config,
        syntax: Syntax::Json,
        servers: "mcp",
        entry,
    }
}

/// The text of a file, if it is there.
fn existing(path: &Path) -> Result<Option<String>, Stop> {
    let unreadable = |reason: String| {
        let message = format!("`{}` can't be read: {reason}", path.display());
        refused(&message, "correct it; nothing was written")
    };
    match fs::metadata(path) {
        Ok(data) if !data.is_file() => Err(unreadable("it is not a regular file".to_owned())),
        Ok(_) => fs::read_to_string(path)
            .map(Some)
            .map_err(|error| unreadable(io_reason(&error))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(io_reason(&error))),
    }
}

/// Writes all, or leaves everything as it was.
fn write(changes: &[Change]) -> Result<(), Stop> {
    for (n_written, change) in changes.iter().enumerate() {
        let Err(error) = files::write(&change.path, &change.after) else {
            continue;
        };
        for written in &changes[..n_written] {
            // What can't be taken back was written a moment ago.
            let _ = match &written.before {
                Some(before) => files::write(&written.path, before).map(drop).map_err(drop),
                None => fs::remove_file(&written.path).map_err(drop),
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

fn unclear(message: &str, help: &str) -> Stop {
    Stop::invalid(Diagnostic::error(codes::ARGUMENT, message).with_help(help))
}
