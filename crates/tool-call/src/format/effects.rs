//! What a scenario would do: servers, commands, paths and hosts, for `check`.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde_json::Map;

use crate::model::{BuiltinTool, DuplicateKey, Step, ToolCallScenario, ToolName};
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
        add(&mut effects.servers, server_of(scenario, step, &is_known));
        let param = |name: &str| param(scenario, step, name);
        let ToolName::Builtin(tool) = step.tool else {
            // The server writes it, or the player if the server refuses.
            if let Some((_, "take_screenshot")) = step.tool.server_and_tool(&is_known) {
                add(&mut effects.writes, param("filePath"));
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
            BuiltinTool::AppendFile => add(&mut effects.writes, param("path")),
            BuiltinTool::Read => add(&mut effects.reads, param("file_path")),
            BuiltinTool::Write | BuiltinTool::Edit => add(&mut effects.writes, param("file_path")),
            BuiltinTool::NotebookEdit => add(&mut effects.writes, param("notebook_path")),
            BuiltinTool::Glob | BuiltinTool::Grep => {
                let path = param("path").unwrap_or_else(|| ".".to_owned());
                add(&mut effects.reads, [path]);
            }
            BuiltinTool::Bash => {
                add(&mut effects.commands, param("command"));
                let names = known(scenario, step, "env");
                let names = names.as_ref().and_then(Json::as_object);
                let names = names.into_iter().flat_map(Map::keys);
                add(&mut effects.variables, names.cloned());
            }
            BuiltinTool::WebFetch => add(&mut effects.urls, param("url")),
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

/// Adds what is not in the list yet.
fn add(list: &mut Vec<String>, items: impl IntoIterator<Item = String>) {
    for item in items {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// A parameter as text.
fn param(scenario: &ToolCallScenario, step: &Step, name: &str) -> Option<String> {
    Some(as_text(&known(scenario, step, name)?).into_owned())
}

/// A parameter with the defaults of variables filled in.
fn known(scenario: &ToolCallScenario, step: &Step, name: &str) -> Option<Json> {
    let template = step.params.member(name)?;
    let filled = template.fill::<DuplicateKey>(|placeholder| {
        let reference = &placeholder.reference;
        let mut variables = scenario.variables.iter();
        let variable = variables.find(|it| it.name == reference.name && reference.path.is_empty());
        let default = variable.filter(|it| !it.is_required());
        let default = default.map(|it| Cow::Borrowed(&it.default));
        let written = || Cow::Owned(format!("{{{{{}}}}}", reference.text).into());
        Ok((default.unwrap_or_else(written), Origin::Author))
    });
    filled.ok().map(|value| Arc::unwrap_or_clone(value.json))
}
