//! What a scenario would do: servers, commands, paths and hosts, for `check`.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use crate::model::{
    BuiltinTool, DuplicateKey, MemberRef, Step, Template, ToolCallScenario, ToolName,
};
use cuecard_source::Effects;
use cuecard_source::value::{Json, Origin, as_text};

/// What the steps of `scenario` in `range` would do. `is_known` tells configured servers, since a server's
/// name may hold `__`.
pub fn effects(
    scenario: &ToolCallScenario,
    range: &RangeInclusive<u64>,
    is_known: impl Fn(&str) -> bool,
) -> Effects {
    let mut effects = Effects::default();
    for step in scenario.steps_in(range) {
        effects
            .servers
            .extend_new(server_of(scenario, step, &is_known));
        let param = |name: &str| param(scenario, step, name);
        let ToolName::Builtin(tool) = step.tool else {
            // The server writes it, or the player if the server refuses.
            if let Some((_, "take_screenshot")) = step.tool.server_and_tool(&is_known) {
                effects.writes.extend_new(param("filePath"));
            }
            continue;
        };
        match tool {
            BuiltinTool::Wait
            | BuiltinTool::Log
            | BuiltinTool::WaitForElement
            | BuiltinTool::WaitUntil
            | BuiltinTool::BashOutput
            | BuiltinTool::KillShell => {}
            BuiltinTool::AppendFile => effects.writes.extend_new(param("path")),
            BuiltinTool::Read => effects.reads.extend_new(param("file_path")),
            BuiltinTool::Write | BuiltinTool::Edit => effects.writes.extend_new(param("file_path")),
            BuiltinTool::NotebookEdit => effects.writes.extend_new(param("notebook_path")),
            BuiltinTool::Glob | BuiltinTool::Grep => {
                effects
                    .reads
                    .extend_new(Some(param("path").unwrap_or_else(|| ".".to_owned())));
            }
            BuiltinTool::Bash => {
                effects.commands.extend_new(param("command"));
                for name in variables(step) {
                    effects.variables.extend_new(Some(name));
                }
            }
            BuiltinTool::WebFetch => effects.urls.extend_new(param("url")),
        }
    }
    effects
}

/// The MCP server that a step talks to, if it talks to one.
pub fn server_of(
    scenario: &ToolCallScenario,
    step: &Step,
    is_known: impl Fn(&str) -> bool,
) -> Option<String> {
    match step.tool {
        ToolName::Mcp(_) => step
            .tool
            .server_and_tool(is_known)
            .map(|(server, _)| server.to_owned()),
        ToolName::Builtin(BuiltinTool::WaitForElement | BuiltinTool::WaitUntil) => Some(
            param(scenario, step, "mcp_server").unwrap_or_else(|| "chrome-devtools".to_owned()),
        ),
        ToolName::Builtin(_) => None,
    }
}

trait ExtendNew {
    fn extend_new(&mut self, item: Option<String>);
}

impl ExtendNew for Vec<String> {
    fn extend_new(&mut self, item: Option<String>) {
        if let Some(item) = item {
            add_once(self, item);
        }
    }
}

fn add_once(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// The names of the variables that a command gets.
fn variables(step: &Step) -> Vec<String> {
    match step.params.member("env") {
        Some(MemberRef::Literal(Json::Object(members))) => members.keys().cloned().collect(),
        Some(MemberRef::Template(Template::Object(members))) => members
            .iter()
            .filter_map(|(name, _)| match name {
                Template::Literal(Json::String(name)) => Some(name.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn param(scenario: &ToolCallScenario, step: &Step, name: &str) -> Option<String> {
    Some(match step.params.member(name)? {
        MemberRef::Literal(json) => as_text(json).into_owned(),
        MemberRef::Template(template) => shown(scenario, template),
    })
}

fn shown(scenario: &ToolCallScenario, template: &Template) -> String {
    let filled = template.fill::<DuplicateKey>(|placeholder| {
        let reference = &placeholder.reference;
        let mut variables = scenario.variables.iter();
        let variable = variables.find(|it| it.name == reference.name && reference.path.is_empty());
        let default = variable.filter(|it| !it.is_required());
        let default = default.map(|it| Cow::Borrowed(&it.default));
        let written = || Cow::Owned(format!("{{{{{}}}}}", reference.text).into());
        Ok((default.unwrap_or_else(written), Origin::Author))
    });
    filled.map_or_else(|_| String::new(), |it| as_text(&it.json).into_owned())
}
