//! How real agents are started and driven in a terminal: one file of data each, in `agents/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use cuecard_runtime::text_file::{self, io_reason};
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_timeline::model::Replacement;
use cuecard_timeline::model::keys::{KeyModes, Keystroke, read_keys};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::handed_servers::McpPreset;

/// The presets that are built in.
pub(super) const BUILT_IN: &[(&str, &str)] = &[
    ("cline", include_str!("agents/cline.toml")),
    ("codex", include_str!("agents/codex.toml")),
    ("gemini-cli", include_str!("agents/gemini-cli.toml")),
    ("mini-swe-agent", include_str!("agents/mini-swe-agent.toml")),
    ("opencode", include_str!("agents/opencode.toml")),
    ("openhands", include_str!("agents/openhands.toml")),
    ("pi", include_str!("agents/pi.toml")),
    ("qwen-code", include_str!("agents/qwen-code.toml")),
];

/// The names of the agents whose presets are built in.
pub fn agent_names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// How a real agent is started and driven.
#[derive(Debug, Clone)]
pub struct AgentPreset {
    pub(super) file: PresetFile,
    /// What the screen shows when a prompt may be typed, and while the agent works.
    pub(super) ready: Option<Regex>,
    pub(super) busy: Option<Regex>,
    pub(super) submit: Vec<Keystroke>,
    pub(super) interrupt: Vec<Keystroke>,
    pub(super) quit: Vec<Keystroke>,
    /// What its texts are compared with: ids of its own making differ each time.
    pub(super) normalize: Vec<Replacement>,
}

/// A preset as it stands in a file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetFile {
    /// The agent's name, which is that of its profile too.
    pub(super) agent: String,
    /// The versions that it was tried with.
    pub(super) versions: String,
    /// The program, looked up in `PATH`.
    pub(super) program: String,
    /// Arguments with which it prints its version.
    #[serde(default)]
    pub(super) version: Vec<String>,
    /// Arguments with which it is driven in a terminal.
    #[serde(default)]
    pub(super) args: Vec<String>,
    ready: Option<String>,
    /// Whether it takes pastes (bracketed paste mode) at each prompt, and only there: what is typed before may be lost.
    #[serde(default)]
    prompt_takes_pastes: bool,
    busy: Option<String>,
    #[serde(default = "enter")]
    submit: String,
    #[serde(default = "control_c")]
    interrupt: String,
    #[serde(default = "control_c")]
    quit: String,
    /// Variables; texts in braces are replaced, see [`Values`].
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    normalize: Vec<PresetReplacement>,
    /// Files below its home.
    #[serde(default)]
    files: Vec<HomeFile>,
    /// How it is handed MCP servers.
    pub(super) mcp: Option<McpPreset>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct HomeFile {
    path: String,
    content: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PresetReplacement {
    regex: String,
    with: String,
}

fn enter() -> String {
    "<Enter>".to_owned()
}

fn control_c() -> String {
    "<C-c>".to_owned()
}

/// What texts in braces stand for in a preset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'a> {
    /// The address of the model's stand-in.
    pub(super) url: &'a str,
    pub(super) key: &'a str,
    pub(super) home: &'a Path,
    pub(super) workspace: &'a Path,
}

impl Values<'_> {
    fn fill(&self, text: &str) -> String {
        let Self {
            url,
            key,
            home,
            workspace,
        } = self;
        text.replace("{base_url.openai}", &format!("{url}/v1"))
            .replace("{base_url.anthropic}", url)
            .replace("{base_url.gemini}", url)
            .replace("{key}", key)
            .replace("{home}", &home.to_string_lossy())
            .replace("{workspace}", &workspace.to_string_lossy())
    }
}

impl AgentPreset {
    /// The preset of this name, or in this file if it is the path of one.
    ///
    /// # Errors
    /// There is none, or something is wrong with it.
    pub fn find(name: &str) -> Result<Self, Diagnostic> {
        if name.ends_with(".toml") {
            let source = text_file::read(Path::new(name), name)?;
            return Self::parse(name, source.text());
        }
        let built_in = BUILT_IN.iter().find(|(known, _)| *known == name);
        let (_, text) = built_in.ok_or_else(|| {
            let near = did_you_mean(name, agent_names());
            let found = Diagnostic::error(codes::ARGUMENT, format!("no agent is called `{name}`"));
            let names: Vec<&str> = agent_names().collect();
            let found = found.with_help(format!(
                "write one of {}, or the path of a preset of your own that ends in .toml",
                names.join(", ")
            ));
            match near {
                Some(near) => found.with_note(format!("did you mean `{near}`?")),
                None => found,
            }
        })?;
        Self::parse(name, text)
    }

    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Diagnostic> {
        let bad = |what: String| {
            let message = format!("the preset `{name}` can't be used: {what}");
            Diagnostic::error(codes::CONFIG_INVALID, message)
        };
        let file: PresetFile = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        let pattern = |key: &str, pattern: Option<&String>| {
            let Some(pattern) = pattern else {
                return Ok(None);
            };
            let built = RegexBuilder::new(pattern).multi_line(true).build();
            built
                .map(Some)
                .map_err(|error| bad(format!("`{key}`: {error}")))
        };
        let keys = |key: &str, text: &str| {
            read_keys(text).map_err(|_| bad(format!("`{key}` has an unknown key: {text}")))
        };
        let normalize = file.normalize.iter().map(|replaced| {
            let pattern = Regex::new(&replaced.regex);
            let pattern = pattern.map_err(|error| bad(format!("`normalize`: {error}")))?;
            let with = replaced.with.clone();
            Ok(Replacement { pattern, with })
        });
        Ok(Self {
            ready: pattern("ready", file.ready.as_ref())?,
            busy: pattern("busy", file.busy.as_ref())?,
            submit: keys("submit", &file.submit)?,
            interrupt: keys("interrupt", &file.interrupt)?,
            quit: keys("quit", &file.quit)?,
            normalize: normalize.collect::<Result<_, _>>()?,
            file,
        })
    }

    /// The agent's name.
    pub(super) fn agent(&self) -> &str {
        &self.file.agent
    }

    /// Its variables.
    pub(super) fn env(&self, values: Values<'_>) -> Vec<(String, String)> {
        let env = self.file.env.iter();
        env.map(|(name, value)| (name.clone(), values.fill(value)))
            .collect()
    }

    /// Its arguments.
    pub(super) fn args(&self, values: Values<'_>) -> Vec<String> {
        self.file.args.iter().map(|arg| values.fill(arg)).collect()
    }

    /// Writes its files into the home.
    pub(super) fn furnish(&self, values: Values<'_>) -> Result<(), Diagnostic> {
        for file in &self.file.files {
            let path = values.home.join(&file.path);
            let folder = path.parent().unwrap_or(values.home);
            let content = values.fill(&file.content);
            let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, content));
            written.map_err(|error| {
                let message = format!(
                    "`{}` can't be written: {}",
                    path.display(),
                    io_reason(&error)
                );
                Diagnostic::error(codes::FILE_WRITE, message)
            })?;
        }
        Ok(())
    }

    /// Whether a prompt may be typed: the screen of the agent shows it, and its terminal has the modes for it.
    pub(super) fn is_idle(&self, screen: &str, modes: KeyModes) -> bool {
        let matches = |pattern: &Option<Regex>, default: bool| {
            pattern
                .as_ref()
                .map_or(default, |pattern| pattern.is_match(screen))
        };
        let takes_keys = modes.bracketed_paste || !self.file.prompt_takes_pastes;
        matches(&self.ready, true) && !matches(&self.busy, false) && takes_keys
    }
}

/// How long a program may take to tell its version.
pub(super) const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// The first thing in a text that looks like a version.
pub(super) fn version_in(text: &str) -> Option<String> {
    let pattern = Regex::new(r"\d+\.\d+(?:\.\d+)?(?:[-+][0-9A-Za-z.-]+)?").ok()?;
    let found = pattern.find(text)?.as_str();
    Some(found.trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_preset_that_is_built_in_can_be_used() {
        for name in agent_names() {
            let preset = AgentPreset::find(name).expect("a preset");
            assert_eq!(preset.file.agent, name);
            assert!(preset.ready.is_some() && preset.busy.is_some(), "{name}");
            assert!(
                !preset.submit.is_empty() && !preset.quit.is_empty(),
                "{name}"
            );
            let values = Values {
                url: "http://127.0.0.1:1",
                key: "k",
                home: Path::new("/h"),
                workspace: Path::new("/w"),
            };
            let filled = format!("{:?}{:?}", preset.env(values), preset.args(values));
            assert!(
                !filled.contains("{home") && !filled.contains("{base"),
                "{filled}"
            );
        }
    }

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (text, version) in [
            ("codex-cli 0.169.0\n", Some("0.169.0")),
            (
                "This is mini-swe-agent version 2.4.6.\nUsage",
                Some("2.4.6"),
            ),
            ("v1.18.33-beta.2", Some("1.18.33-beta.2")),
            ("unknown", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version, "{text}");
        }
    }
}
