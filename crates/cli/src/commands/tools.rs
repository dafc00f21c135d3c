//! `cuecard tools`: the tools of a server, with their parameters.

use cuecard_mcp::ToolInfo;
use cuecard_report::Style;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::{cut, printable, printable_lines};
use serde_json::{Value as Json, json};

use super::server;
use crate::args::ToolsArgs;
use crate::asynchronous::interruptibly;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::output::counted;

/// The longest type that is shown, in characters.
const LONGEST_KIND: usize = 60;

pub(crate) fn run(args: &ToolsArgs, context: &Context) -> Result<ExitCode, Stop> {
    let name = args.server_name.as_deref();
    let named = server::named(name, &args.command, &args.server, context)?;
    let listed = interruptibly(async || {
        let session = named.start(&context.environment).await?;
        let tools = server::tools(&session).await;
        named.show_warnings(&session, &context.output);
        let (facts, server) = (server::facts(&session), server::document(&session));
        session.stop().await;
        Ok::<_, Diagnostic>((tools?, facts, server))
    })?;
    let (tools, facts, server) =
        listed.map_err(|found| Stop::could_not_run(found).redacted(&named.redactor))?;
    let document =
        || json!({"server": server, "tools": tools.iter().map(entry).collect::<Vec<_>>()});
    let text = |style| text(&tools, &facts, style);
    context.output.result(&named.redactor, document, text);
    Ok(ExitCode::Passed)
}

/// A tool for programs, with the names of the protocol.
fn entry(tool: &ToolInfo) -> Json {
    let mut entry = json!({"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema});
    if let Some(schema) = &tool.output_schema {
        entry["outputSchema"] = schema.clone();
    }
    entry
}

/// All tools for people: what each does, and a line for each parameter.
fn text(tools: &[ToolInfo], facts: &[String], style: Style) -> String {
    let facts: Vec<String> = facts
        .iter()
        .map(|fact| printable(fact).into_owned())
        .chain([counted(tools.len(), "tool")])
        .collect();
    let mut text = format!("{}\n", style.faint(&facts.join(style.dot())));
    for tool in tools {
        text.push_str(&format!("\n{}\n", style.strong(&printable(&tool.name))));
        let description = tool.description.as_deref().unwrap_or_default().trim();
        for line in printable_lines(description).lines() {
            text.push_str(&format!("  {}\n", line.trim_end()));
        }
        let rows = parameters(&tool.input_schema);
        let widths = |column: usize| {
            let lengths = rows.iter().map(|row| row[column].chars().count());
            lengths.max().unwrap_or_default()
        };
        let (names, kinds) = (widths(0), widths(1));
        for [name, kind, meaning] in &rows {
            let row = format!("    {name:<names$}  {kind:<kinds$}  {meaning}");
            text.push_str(&format!("{}\n", row.trim_end()));
        }
    }
    text
}

/// Name (with a `*` if it is needed), type and meaning of each parameter.
fn parameters(schema: &Json) -> Vec<[String; 3]> {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, property)| {
            let mark = if is_required(name) { "*" } else { "" };
            let meaning = property["description"].as_str().unwrap_or_default();
            let meaning = meaning.split_whitespace().collect::<Vec<_>>().join(" ");
            [
                format!("{}{mark}", printable(name)),
                printable(&cut(&kind(property), LONGEST_KIND)).into_owned(),
                printable(&meaning).into_owned(),
            ]
        })
        .collect()
}

/// A type in words: `string`, `array of integer`, `en | de`.
fn kind(schema: &Json) -> String {
    if let Some(values) = schema["enum"].as_array() {
        let values = values.iter().map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        });
        return values.collect::<Vec<_>>().join(" | ");
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(kinds) = schema[key].as_array() {
            return kinds.iter().map(kind).collect::<Vec<_>>().join(" | ");
        }
    }
    match &schema["type"] {
        Json::String(word) if word == "array" && schema["items"].is_object() => {
            format!("array of {}", kind(&schema["items"]))
        }
        Json::String(word) => word.clone(),
        Json::Array(words) => {
            let words = words.iter().filter_map(Json::as_str);
            words.collect::<Vec<_>>().join(" | ")
        }
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_told_with_their_types() {
        let schema = json!({
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "description": "who\nis greeted"},
                "language": {"enum": ["en", "de"]},
                "tags": {"type": "array", "items": {"type": "integer"}},
                "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "more": {},
            }
        });
        let rows = parameters(&schema);
        let rows: Vec<String> = rows.iter().map(|row| row.join(" - ")).collect();
        assert_eq!(
            rows,
            [
                "name* - string - who is greeted",
                "language - en | de - ",
                "tags - array of integer - ",
                "limit - integer | null - ",
                "more - any - ",
            ]
        );
    }
}
