//! How agents are handed MCP servers: each by the table `mcp` of its preset.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use cuecard_source::diagnostic::Diagnostic;
use serde::Deserialize;
use serde_json::{Value, json};

use super::presets::{AgentPreset, BUILT_IN};

/// Agents that are handed servers, and have no preset for a terminal.
const NOT_DRIVEN: &[(&str, &str)] = &[
    ("claude-code", include_str!("agents/claude-code.toml")),
    ("vibe", include_str!("agents/vibe.toml")),
];

/// The names of the agents that are given MCP servers without a `{config}` in their command.
pub fn handed_agent_names() -> impl Iterator<Item = &'static str> {
    let presets = BUILT_IN.iter().chain(NOT_DRIVEN);
    // The help reads this at each start, so nothing is parsed.
    let handed = presets.filter(|(_, text)| text.contains("\n[mcp]"));
    handed.map(|(name, _)| *name)
}

/// What stands for the path of the file with the servers.
const CONFIG: &str = "{config}";

/// How an agent is handed servers. In the texts, `{config}` is the path of a file with them, `{servers}` what is in it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpPreset {
    /// Arguments, which go right behind the program.
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    form: ServersForm,
}

/// How the servers are written.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ServersForm {
    /// `{"mcpServers": {NAME: {"command", "args"}}}`, as in `.mcp.json`.
    #[default]
    McpServers,
    /// The config of opencode.
    Opencode,
    /// A list of servers with their names, as JSON.
    List,
    /// An inline table of TOML.
    Toml,
}

/// The command of an agent that is handed servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedServers {
    /// The command.
    pub command: Vec<OsString>,
    /// Variables for it.
    pub env: Vec<(String, String)>,
    /// What must stand in the file.
    pub config: String,
}

/// `command` with the servers in the file `config`, of which each has a name and the command that starts it: `{config}`
/// in an argument is the path of the file, and without that an agent is told as its preset says. `None` if its program is
/// no known agent.
///
/// # Errors
/// A preset can't be used.
pub fn hand_servers(
    command: &[OsString],
    servers: &BTreeMap<String, Vec<String>>,
    config: &Path,
) -> Result<Option<HandedServers>, Diagnostic> {
    let path = config.to_string_lossy();
    let has_place = |word: &OsString| word.to_str().is_some_and(|word| word.contains(CONFIG));
    if command.iter().any(has_place) {
        let fill = |word: &OsString| match word.to_str() {
            Some(text) => text.replace(CONFIG, &path).into(),
            None => word.clone(),
        };
        return Ok(Some(HandedServers {
            command: command.iter().map(fill).collect(),
            env: Vec::new(),
            config: ServersForm::McpServers.text(servers),
        }));
    }
    let Some((program, rest)) = command.split_first() else {
        return Ok(None);
    };
    let name = Path::new(program).file_name().unwrap_or(program);
    for (preset, text) in BUILT_IN.iter().chain(NOT_DRIVEN) {
        let file = AgentPreset::parse(preset, text)?.file;
        let (true, Some(mcp)) = (name == file.program.as_str(), file.mcp) else {
            continue;
        };
        let text = mcp.form.text(servers);
        let fill = |word: &String| word.replace(CONFIG, &path).replace("{servers}", &text);
        let args = mcp.args.iter().map(|arg| fill(arg).into());
        return Ok(Some(HandedServers {
            command: [program.clone()]
                .into_iter()
                .chain(args)
                .chain(rest.iter().cloned())
                .collect(),
            env: mcp
                .env
                .iter()
                .map(|(name, value)| (name.clone(), fill(value)))
                .collect(),
            config: text,
        }));
    }
    Ok(None)
}

impl ServersForm {
    fn text(self, servers: &BTreeMap<String, Vec<String>>) -> String {
        let parts = servers.iter().filter_map(|(name, words)| {
            let (program, args) = words.split_first()?;
            Some((name, program, args))
        });
        match self {
            Self::McpServers => {
                let servers = parts.map(|(name, program, args)| {
                    (name.clone(), json!({"command": program, "args": args}))
                });
                json!({"mcpServers": servers.collect::<serde_json::Map<_, _>>()}).to_string()
            }
            Self::Opencode => {
                let servers = servers.iter();
                let servers = servers.map(|(name, words)| {
                    (name.clone(), json!({"type": "local", "command": words}))
                });
                json!({"mcp": servers.collect::<serde_json::Map<_, _>>()}).to_string()
            }
            Self::List => {
                let server = |(name, program, args)| json!({"name": name, "transport": "stdio", "command": [program], "args": args});
                parts.map(server).collect::<Value>().to_string()
            }
            Self::Toml => {
                // A string of JSON is one of TOML, and so is a list of them.
                let server = |(name, program, args)| {
                    format!(
                        "{}={{command={},args={}}}",
                        json!(name),
                        json!(program),
                        json!(args)
                    )
                };
                format!("{{{}}}", parts.map(server).collect::<Vec<_>>().join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handed(command: &[&str]) -> Option<HandedServers> {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let words = ["cuecard", "record", "a \"b\""].map(str::to_owned);
        let servers = BTreeMap::from([("my notes".to_owned(), words.to_vec())]);
        hand_servers(&command, &servers, Path::new("/t/c.json")).expect("the presets are good")
    }

    #[test]
    fn each_agent_is_told_in_its_own_words() {
        let claude = handed(&["/usr/bin/claude", "-p", "go"]).expect("it is known");
        assert_eq!(
            claude.command,
            [
                "/usr/bin/claude",
                "--mcp-config",
                "/t/c.json",
                "--strict-mcp-config",
                "-p",
                "go"
            ]
        );
        let expected = json!({"mcpServers": {"my notes": {"command": "cuecard", "args": ["record", "a \"b\""]}}});
        assert_eq!(claude.config, expected.to_string());

        let codex = handed(&["codex", "exec", "go"]).expect("it is known");
        assert_eq!(codex.command[3..], ["exec", "go"]);
        let set = codex.command[2].to_str().expect("text");
        let read: toml::Table = toml::from_str(set).expect("TOML");
        let server = &read["mcp_servers"]["my notes"];
        assert_eq!(server["args"][1].as_str(), Some("a \"b\""));

        for (program, variable) in [
            ("opencode", "OPENCODE_CONFIG"),
            ("gemini", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"),
            ("qwen", "QWEN_CODE_SYSTEM_SETTINGS_PATH"),
        ] {
            let handed = handed(&[program, "go"]).expect("it is known");
            assert_eq!(handed.env, [(variable.to_owned(), "/t/c.json".to_owned())]);
            assert_eq!(handed.command, [program, "go"]);
        }
        let vibe = handed(&["vibe"]).expect("it is known");
        let list: Value = serde_json::from_str(&vibe.env[0].1).expect("JSON");
        assert_eq!(list[0]["command"], json!(["cuecard"]));
    }

    #[test]
    fn a_place_in_the_command_goes_first_and_others_are_unknown() {
        let other = handed(&["sh", "-c", "agent --mcp={config}"]).expect("it has a place");
        assert_eq!(other.command[2], "agent --mcp=/t/c.json");
        assert_eq!(handed(&["my-agent", "go"]), None);
    }

    #[test]
    fn the_names_are_those_of_the_agents_that_are_handed_servers() {
        for (name, text) in BUILT_IN.iter().chain(NOT_DRIVEN) {
            let file = AgentPreset::parse(name, text).expect(name).file;
            let is_named = handed_agent_names().any(|it| it == *name);
            assert_eq!(is_named, file.mcp.is_some(), "{name}");
        }
    }
}
