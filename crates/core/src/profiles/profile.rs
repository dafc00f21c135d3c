//! A profile: how one agent calls its tools.

use std::collections::BTreeMap;

use super::template::Template;
use super::version::{Version, VersionRange};
use crate::diagnostic::{Diagnostic, codes, did_you_mean};
use crate::scenario::timeline::{EventKind, Timeline};
use crate::value::Json;

/// How one agent calls its tools.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The agent: `claude-code`.
    pub agent: String,
    /// The versions it is for.
    pub versions: VersionRange,
    /// The API by which the agent usually asks its model, if it is that API's usual agent.
    pub endpoint: Option<String>,
    /// Names of tools that give the agent away.
    pub detect: Vec<String>,
    /// For each abstract tool the forms of its calls, of which the first is taken whose conditions hold.
    pub(super) tools: BTreeMap<String, Vec<ToolForm>>,
    /// For each of the agent's tools the arguments that a call must pass.
    pub(super) required: BTreeMap<String, Vec<String>>,
}

/// A form in which an abstract call is made.
#[derive(Debug, Clone)]
pub(super) struct ToolForm {
    /// The agent's tool.
    pub(super) name: String,
    /// Arguments that have these values.
    pub(super) when: BTreeMap<String, Json>,
    /// Arguments that are there.
    pub(super) with: Vec<String>,
    /// Abstract argument → the tool's.
    pub(super) args: BTreeMap<String, String>,
    /// The tool's argument → its value.
    pub(super) fixed: BTreeMap<String, Json>,
    /// The tool's argument → a text made of abstract ones.
    pub(super) texts: BTreeMap<String, Template>,
    /// The tool's argument → a shell command made of abstract ones.
    pub(super) shell: BTreeMap<String, Template>,
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
    pub fn required_arguments(&self, native_tool: &str) -> &[String] {
        self.required.get(native_tool).map_or(&[], Vec::as_slice)
    }

    /// Whether it is for this version, or for one before it.
    pub(super) fn is_at_or_below(&self, version: &Version) -> bool {
        self.versions.from <= *version
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
            .filter(|(_, call)| !is_mcp(&call.tool) && !self.has_tool(&call.tool))
            .map(|(event, call)| {
                let message = format!(
                    "the profile `{}` has no entry for the tool `{}`",
                    self.title(),
                    call.tool
                );
                let known = self.tools.keys().map(String::as_str);
                let help = match did_you_mean(&call.tool, known) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => "it is called as it is written, if the agent advertises that name; else the run fails".into(),
                };
                Diagnostic::warning(codes::TOOL_NOT_IN_PROFILE, message)
                    .at(&timeline.source, call.tool_span)
                    .with_pointer(&event.path)
                    .with_help(help)
            })
            .collect()
    }
}

/// Whether it is the name of an MCP server's tool, which every agent calls by that name.
pub(super) fn is_mcp(tool: &str) -> bool {
    tool.starts_with("mcp__")
}
