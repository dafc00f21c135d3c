//! A profile: how one agent calls its tools.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::advertised::{AdvertisedTool, ToolInput};
use super::call::AbstractCall;
use super::read;
use super::template::Template;
use super::values::ValueTemplate;
use super::version::VersionRange;
use crate::model::{EventKind, Timeline};
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::value::Json;

/// How one agent calls its tools.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The agent: `claude-code`.
    pub agent: String,
    /// The versions it is for.
    pub versions: VersionRange,
    /// The API by which the agent usually asks its model, if it is that API's usual agent.
    #[serde(default, deserialize_with = "read::endpoint")]
    pub endpoint: Option<String>,
    /// Names of tools that give the agent away.
    pub detect: Vec<String>,
    /// For each abstract tool the forms of its calls, of which the first is taken whose conditions hold.
    pub(super) tools: BTreeMap<String, Vec<ToolForm>>,
    /// The agent's tools, by name.
    #[serde(default, deserialize_with = "read::schemas")]
    pub(super) schemas: BTreeMap<String, KnownTool>,
    /// A tool through which others are called, where the agent has such a one.
    pub(super) through: Option<Through>,
    /// Whether the agent takes absolute paths only.
    #[serde(default, rename = "absolute_paths")]
    pub(super) wants_absolute_paths: bool,
}

/// A tool of an agent.
#[derive(Debug, Clone)]
pub(super) struct KnownTool {
    /// The tool as requests advertise it.
    pub(super) advertised: AdvertisedTool,
    /// Arguments that the agent adds to calls of it in its history.
    pub(super) fills_in: Vec<String>,
}

/// A tool that takes a program which calls other tools.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Through {
    /// The tool that is advertised.
    pub(super) name: String,
    /// The program: `{name}` is the tool that it calls, `{args}` what it passes.
    #[serde(deserialize_with = "Through::program_of")]
    pub(super) program: Template,
}

/// A form in which an abstract call is made.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ToolForm {
    /// The agent's tool.
    pub(super) name: String,
    /// Arguments that have these values.
    pub(super) when: BTreeMap<String, Json>,
    /// Arguments that are there.
    pub(super) with: Vec<String>,
    /// Arguments that are texts of whole lines.
    pub(super) whole_lines: Vec<String>,
    /// Arguments that are texts of one line, without white space around it.
    pub(super) one_line: Vec<String>,
    /// Abstract argument → the tool's.
    pub(super) args: BTreeMap<String, String>,
    /// The tool's argument → its value.
    pub(super) fixed: BTreeMap<String, Json>,
    /// The tool's argument → a value with texts that stand for abstract ones.
    pub(super) values: BTreeMap<String, ValueTemplate>,
    /// The tool's argument → a text made of abstract ones.
    #[serde(deserialize_with = "read::texts")]
    pub(super) texts: BTreeMap<String, Template>,
    /// The tool's argument → a shell command made of abstract ones.
    #[serde(deserialize_with = "read::commands")]
    pub(super) shell: BTreeMap<String, Template>,
    /// The tool's arguments that are lists of texts, in which the text is the only one.
    pub(super) lists: Vec<String>,
    /// Arguments that say what the form does anyway.
    pub(super) ignores: Vec<String>,
    /// Abstract arguments that a call of the agent's leaves out.
    pub(super) assume: BTreeMap<String, Json>,
}

impl Profile {
    /// `claude-code 2.0.5`.
    pub fn title(&self) -> String {
        format!("{} {}", self.agent, self.versions.from)
    }

    /// Whether it has an entry for the abstract tool.
    pub fn has_tool(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// The arguments that a call of the agent's tool must pass.
    pub fn required_arguments(&self, native_tool: &str) -> Vec<&str> {
        let known = self.schemas.get(native_tool);
        let schema = known.and_then(|known| known.advertised.schema());
        let required = schema.and_then(|schema| schema["required"].as_array());
        required
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect()
    }

    /// Returns the arguments of a call in the agent's history without those that the agent added to what it was sent.
    pub fn without_filled_in(&self, native_tool: &str, sent: &Json, held: &Json) -> Json {
        let mut held = held.clone();
        let known = self.schemas.get(native_tool);
        let names = known.map_or(&[][..], |known| &known.fills_in);
        if let Some(args) = held.as_object_mut() {
            for name in names
                .iter()
                .filter(|name| sent.get(name.as_str()).is_none())
            {
                args.remove(name.as_str());
            }
        }
        held
    }

    /// The agent's tools, as its requests advertise them.
    pub fn advertised(&self) -> Vec<AdvertisedTool> {
        let known = self.schemas.values();
        known.map(|known| known.advertised.clone()).collect()
    }

    /// The names of the abstract tools that it has an entry for.
    pub fn abstract_tools(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The agent's tools that calls of the abstract tool become, each once, the usual one first.
    pub fn native_tools(&self, tool: &str) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for form in self.tools.get(tool).into_iter().flatten() {
            if !names.contains(&form.name.as_str()) {
                names.push(&form.name);
            }
        }
        names
    }

    /// Whether the agent takes free text for the tool.
    pub(super) fn takes_text(&self, native_tool: &str) -> bool {
        self.schemas
            .get(native_tool)
            .is_some_and(|known| known.advertised.input == ToolInput::Text)
    }

    /// The advertised tools that it doesn't know. Those of MCP servers, and those that the provider runs, are no
    /// agent's.
    pub fn unknown_tools<'a>(&self, advertised: &'a [AdvertisedTool]) -> Vec<&'a str> {
        let is_of_server = |tool: &AdvertisedTool| {
            is_mcp(&tool.name) || tool.namespace.as_deref().is_some_and(is_mcp)
        };
        advertised
            .iter()
            .filter(|tool| tool.input != ToolInput::Opaque && !is_of_server(tool))
            .filter(|tool| !self.schemas.contains_key(&tool.name))
            .map(|tool| tool.name.as_str())
            .collect()
    }

    /// The call with its relative paths below `folder`, if the agent takes absolute paths only.
    pub fn placed(&self, call: &AbstractCall, folder: &str) -> Option<AbstractCall> {
        let is_path = |name: &str| matches!(name, "path" | "notebook_path" | "cwd");
        let args = call.args.as_object()?;
        let is_relative = |name: &str, value: &Json| {
            is_path(name) && value.as_str().is_some_and(|path| !path.starts_with('/'))
        };
        // Without a path, the folder itself is meant.
        let is_of_folder = call.tool == "listDir" && !args.contains_key("path");
        if !self.wants_absolute_paths
            || !self.has_tool(&call.tool)
            || !(is_of_folder || args.iter().any(|(name, value)| is_relative(name, value)))
        {
            return None;
        }
        let mut args = args.clone();
        if is_of_folder {
            args.insert("path".to_owned(), ".".into());
        }
        for (name, value) in &mut args {
            if is_relative(name, value)
                && let Some(path) = value.as_str()
            {
                let path = path.strip_prefix("./").unwrap_or(path);
                *value = Json::String(match path {
                    "" | "." => folder.to_owned(),
                    path => format!("{}/{path}", folder.trim_end_matches('/')),
                });
            }
        }
        Some(AbstractCall {
            args: Json::Object(args).into(),
            ..call.clone()
        })
    }

    /// Whether a call that is made by this profile fits the tool, if the profile knows its name: another agent may call
    /// its shell `bash` too.
    pub(super) fn takes(&self, tool: &AdvertisedTool) -> bool {
        let own = self
            .schemas
            .get(&tool.name)
            .and_then(|known| known.advertised.schema());
        let (Some(own), Some(theirs)) = (own, tool.schema()) else {
            return true;
        };
        let holds = |schema: &Json, names: &Json| {
            let known = schema["properties"].as_object();
            let mut names = names
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Json::as_str);
            known.is_none_or(|known| known.is_empty() || names.all(|name| known.contains_key(name)))
        };
        holds(theirs, &own["required"]) && holds(own, &theirs["required"])
    }

    /// T-TOOL-05 for each call of `timeline` that the profile has no entry for.
    pub fn check(&self, timeline: &Timeline) -> Vec<Diagnostic> {
        let calls = timeline
            .events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::ToolUse(call) => Some((event, call)),
                _ => None,
            });
        calls
            .filter(|(_, call)| {
                call.is_validated && !is_mcp(&call.tool) && !self.has_tool(&call.tool)
            })
            .map(|(event, call)| {
                let message = format!(
                    "the profile `{}` has no entry for the tool `{}`",
                    self.title(),
                    call.tool
                );
                let known = self.tools.keys().map(String::as_str);
                let help = match did_you_mean(&call.tool, known) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => "it is called by this name if the agent advertises it; otherwise the run fails".into(),
                };
                Diagnostic::warning(codes::TOOL_NOT_IN_PROFILE, message)
                    .at(&timeline.source, call.tool_span)
                    .with_pointer(&event.path)
                    .with_help(help)
            })
            .collect()
    }
}

impl ToolForm {
    /// Whether it says the call in another tool's words, and not in a command or a text.
    pub(super) fn is_worded(&self) -> bool {
        self.shell.is_empty() && self.texts.is_empty()
    }
}

/// Whether it is the name of an MCP server's tool, which every agent calls by that name.
pub(super) fn is_mcp(tool: &str) -> bool {
    tool.starts_with("mcp__")
}
