//! `cuecard skill`: what teaches agents to use Cuecard. The text is made from the tables of tools, keys and commands.

mod config;
mod install;

use std::path::Path;

use clap::CommandFactory as _;
use cuecard_source::value::Json;
use cuecard_tool_call::format;
use cuecard_tool_call::model::BuiltinTool;
use serde_json::{Value, json};

use super::mcp::tools::TOOLS;
use crate::args::{Cli, SkillArgs, SkillCommand};
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::output::{stderr_line, stdout};
use crate::output_files::write_text;

const TEMPLATE: &str = include_str!("SKILL.md");
/// The commands that the skill names, in the order in which an agent needs them.
const COMMANDS: [&str; 8] = [
    "list", "check", "play", "explain", "record", "tools", "call", "doctor",
];

pub(crate) fn run(args: &SkillArgs, context: &Context) -> Result<ExitCode, Stop> {
    match &args.what {
        SkillCommand::Show { out: None } => stdout(&text()),
        SkillCommand::Show { out: Some(folder) } => write_plugin(folder)?,
        SkillCommand::Install { agents, project } => install::install(agents, *project, context)?,
    }
    Ok(ExitCode::Passed)
}

/// The text of `SKILL.md`.
fn text() -> String {
    let schema = format::schema();
    let tools = TOOLS.iter().map(|tool| row(tool.name, &tool.about()));
    let builtin = BuiltinTool::ALL.iter().map(|tool| {
        let params = tool.params().iter();
        let params = params.map(|param| match param.required {
            true => format!("**{}**", param.name),
            false => param.name.to_owned(),
        });
        let params = params.collect::<Vec<_>>().join(", ");
        row(
            tool.name(),
            &format!("{} Parameters: {params}.", tool.meaning()),
        )
    });
    let cli = Cli::command();
    let commands = COMMANDS.iter().filter_map(|name| {
        let about = cli.find_subcommand(name)?.get_about()?.to_string();
        Some(row(&format!("cuecard {name}"), &format!("{about}.")))
    });
    TEMPLATE
        .replace("{{TOOLS}}", &table(tools))
        .replace("{{STEP}}", &keys(&schema["$defs"]["Step"]))
        .replace("{{EXPECT}}", &keys(&schema["$defs"]["Expectation"]))
        .replace("{{BUILTIN}}", &table(builtin))
        .replace("{{COMMANDS}}", &table(commands))
}

fn keys(schema: &Json) -> String {
    let required = schema["required"].as_array();
    let is_required = |key: &str| required.is_some_and(|keys| keys.iter().any(|it| it == key));
    let properties = schema["properties"].as_object().into_iter().flatten();
    table(properties.map(|(key, property)| {
        let about = property["description"].as_str().unwrap_or_default();
        match is_required(key) {
            true => row(key, &format!("Required. {about}")),
            false => row(key, about),
        }
    }))
}

fn row(name: &str, about: &str) -> String {
    format!("- `{name}`: {about}\n")
}

fn table(rows: impl Iterator<Item = String>) -> String {
    rows.collect::<String>().trim_end().to_owned()
}

/// The entry of the server in configs that have a command and its arguments.
fn server() -> Value {
    json!({ "command": "cuecard", "args": ["mcp"] })
}

/// Writes the plugin for Claude Code.
fn write_plugin(folder: &Path) -> Result<(), Stop> {
    let description =
        "Saves sequences of tool calls as scenarios and replays them without a model.";
    let author = json!({ "name": "The Cuecard authors" });
    let plugin = json!({
        "name": "cuecard",
        "version": env!("CARGO_PKG_VERSION"),
        "description": description,
        "author": author,
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["mcp", "replay", "automation", "testing"],
    });
    let marketplace = json!({
        "name": "cuecard",
        "description": description,
        "owner": author,
        "plugins": [{ "name": "cuecard", "source": "./", "description": description }],
    });
    let servers = json!({ "mcpServers": { "cuecard": server() } });
    for (file, text) in [
        (".claude-plugin/plugin.json", format!("{plugin:#}\n")),
        (
            ".claude-plugin/marketplace.json",
            format!("{marketplace:#}\n"),
        ),
        (".mcp.json", format!("{servers:#}\n")),
        ("skills/cuecard/SKILL.md", text()),
    ] {
        let path = folder.join(file);
        write_text(&path, &text).map_err(Stop::could_not_run)?;
        stderr_line(&format!("wrote {}", path.display()));
    }
    Ok(())
}
