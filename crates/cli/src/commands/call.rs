//! `cuecard call`: one call of a tool, its result on standard output.

use cuecard_mcp::result::{text_of, value_of};
use cuecard_mcp::{ContentBlock, ToolInfo, ToolReply};
use cuecard_replay::check_arguments;
use cuecard_source::diagnostic::{Diagnostic, Severity, codes, did_you_mean};
use cuecard_source::value::{as_text, printable_lines};
use cuecard_tool_call::model::Parse;
use serde_json::{Map, Value as Json, json};

use super::server;
use crate::args::CallArgs;
use crate::asynchronous::interruptibly;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs::{self, json_value, pair};
use crate::output::stderr_line;

pub(crate) fn run(args: &CallArgs, context: &Context) -> Result<ExitCode, Stop> {
    let Context {
        environment,
        output,
    } = context;
    let (name, tool) = match (args.names.as_slice(), args.command.as_slice()) {
        ([tool], [_, ..]) => (None, tool),
        ([server, tool], _) => (Some(server.as_str()), tool),
        _ => {
            let help = "write `cuecard call SERVER TOOL`, or `cuecard call TOOL -- COMMAND`";
            return Err(Stop::argument("a call needs a server and a tool", help));
        }
    };
    let mut named = server::named(name, &args.command, &args.server, context)?;
    let mut fetched = Vec::new();
    let called = interruptibly(async || {
        let session = named.start(environment).await;
        let mut session = session.map_err(Stop::could_not_run)?;
        let arguments = async {
            let tools = server::tools(&session).await.map_err(Stop::could_not_run)?;
            // The call of a tool that the config leaves out is refused with that reason.
            let known = match named.leaves_out(tool) {
                true => None,
                false => known(&tools, tool, name)?,
            };
            let arguments = arguments(args, known).map_err(Stop::invalid)?;
            let mut doubts = known.map_or_else(Vec::new, |tool| doubts(&arguments, tool));
            let server = name.unwrap_or("-- COMMAND");
            for doubt in doubts.iter_mut().filter(|doubt| doubt.help.is_none()) {
                doubt.help = Some(format!("`cuecard tools {server}` lists the parameters"));
            }
            output.redacted(&doubts, &named.redactor);
            Ok(arguments)
        };
        let called = match arguments.await {
            Ok(arguments) => {
                let mut reply = session.call(tool, arguments.clone(), named.timeout).await;
                if session.lacks_back_channel(&reply) {
                    stderr_line(&named.redactor.text(&session.fall_back_message()));
                    let again = named.fall_back_to_legacy(session, environment).await;
                    session = again.map_err(Stop::could_not_run)?;
                    reply = session.call(tool, arguments, named.timeout).await;
                }
                reply.map_err(|error| Stop::could_not_run(server::call_failed(&error)))
            }
            Err(stop) => Err(stop),
        };
        named.show_warnings(&session, output);
        fetched = session.take_secrets();
        session.stop().await;
        called
    })?;
    named.redactor.add(fetched);
    let reply = called.map_err(|stop| stop.redacted(&named.redactor))?;
    if reply.is_error && !args.json {
        stderr_line("the tool reported an error:");
    }
    let text = |_| match text(&reply) {
        text if text.is_empty() && reply.is_error => "(without a message)\n".to_owned(),
        text => shown(&named.redactor.text(&text)),
    };
    output.result(&named.redactor, || document(tool, &reply), text);
    Ok(match reply.is_error {
        true => ExitCode::Failed,
        false => ExitCode::Passed,
    })
}

/// The tool of this name; none if the server lists none at all.
fn known<'t>(
    tools: &'t [ToolInfo],
    name: &str,
    server: Option<&str>,
) -> Result<Option<&'t ToolInfo>, Stop> {
    let found = tools.iter().find(|tool| tool.name == name);
    if found.is_some() || tools.is_empty() {
        return Ok(found);
    }
    let error = Diagnostic::error(
        codes::TOOL_UNKNOWN,
        format!("the server has no tool `{name}`"),
    );
    let names = tools.iter().map(|tool| tool.name.as_str());
    Err(Stop::invalid(match did_you_mean(name, names) {
        Some(proposal) => error.with_help(format!("did you mean `{proposal}`?")),
        None => match server {
            Some(server) => error.with_help(format!("`cuecard tools {server}` lists its tools")),
            None => error.with_help("`cuecard tools -- COMMAND` lists its tools"),
        },
    }))
}

/// The arguments of the call: those of `--args`, with each `--arg` and `--arg-json` over them.
fn arguments(args: &CallArgs, tool: Option<&ToolInfo>) -> Result<Map<String, Json>, Diagnostic> {
    let wrong = |message: String| Diagnostic::error(codes::ARGUMENT, message);
    let mut arguments = match &args.all {
        None => Map::new(),
        Some(text) => match read_all(text)? {
            Json::Object(arguments) => arguments,
            _ => return Err(wrong("`--args` must be a JSON object".to_owned())),
        },
    };
    let mut own = Map::new();
    let mut give = |name: &str, value: Json| match own.insert(name.to_owned(), value) {
        None => Ok(()),
        Some(_) => {
            Err(wrong(format!("`{name}` is given twice")).with_help("remove one of the two"))
        }
    };
    let unreadable = |option: &str, name: &str, error: &str| {
        let message = format!("the value of `{option} {name}` can't be read as JSON: {error}");
        wrong(message)
    };
    for text in &args.texts {
        let (name, value) = pair(text, "--arg", "NAME=VALUE")?;
        let schema = tool.map(|tool| &tool.input_schema["properties"][name]);
        let value = typed(value, schema).map_err(|error| {
            unreadable("--arg", name, &error).with_help(format!(
                "for a text, write --arg-json {name}='\"…\"' with quotation marks"
            ))
        })?;
        give(name, value)?;
    }
    for text in &args.values {
        let (name, value) = pair(text, "--arg-json", "NAME=VALUE")?;
        let value = json_value(value).map_err(|error| unreadable("--arg-json", name, &error))?;
        give(name, value)?;
    }
    arguments.extend(own);
    Ok(arguments)
}

/// What the tool's schema says against the arguments, as warnings: the server decides.
fn doubts(arguments: &Map<String, Json>, tool: &ToolInfo) -> Vec<Diagnostic> {
    check_arguments(tool, arguments.clone())
        .into_iter()
        .map(|found| Diagnostic {
            severity: Severity::Warning,
            ..found
        })
        .collect()
}

/// The JSON of `--args`: itself, or that of a file behind an `@`; `-` is standard input.
fn read_all(text: &str) -> Result<Json, Diagnostic> {
    let text = match text.strip_prefix('@').or((text == "-").then_some("-")) {
        Some(file) => inputs::read_source(file.as_ref())?.text().to_owned(),
        None => text.to_owned(),
    };
    json_value(&text).map_err(|error| {
        let message = format!("`--args` can't be read as JSON: {error}");
        Diagnostic::error(codes::ARGUMENT, message)
    })
}

/// A value as the schema of its parameter wants it: a text where texts are wanted, else JSON if it is that.
///
/// # Errors
/// It begins like an object, a list or a number, and can't be read as one.
fn typed(value: &str, schema: Option<&Json>) -> Result<Json, String> {
    let kinds = schema.map(|schema| &schema["type"]);
    let is_text = match kinds {
        Some(Json::String(kind)) => kind == "string",
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        _ => false,
    };
    match json_value(value) {
        _ if is_text => Ok(value.into()),
        Err(error) if value.starts_with(['{', '[']) || value.parse::<f64>().is_ok() => Err(error),
        Err(_) => Ok(value.into()),
        Ok(json) => Ok(json),
    }
}

/// What came back, for people: texts as they are, and a line for what is none.
fn text(reply: &ToolReply) -> String {
    let mut text = String::new();
    for block in &reply.content {
        let line = match block {
            ContentBlock::Text(text) => text.clone(),
            ContentBlock::Image {
                data_base64,
                media_type,
            }
            | ContentBlock::Audio {
                data_base64,
                media_type,
            } => {
                let padding = data_base64
                    .bytes()
                    .rev()
                    .take_while(|sign| *sign == b'=')
                    .count();
                let n_bytes = (data_base64.len() - padding) * 3 / 4;
                format!("[{media_type}, {n_bytes} bytes]")
            }
            ContentBlock::Resource {
                text: Some(text), ..
            } => text.clone(),
            ContentBlock::Resource { uri, .. } => format!("[resource {uri}]"),
            ContentBlock::ResourceLink(block) | ContentBlock::Other(block) => block.to_string(),
        };
        text.push_str(line.trim_end_matches('\n'));
        text.push('\n');
    }
    match (&reply.structured, text.is_empty()) {
        (Some(structured), true) => format!("{structured:#}\n"),
        (Some(structured), false) if is_list_of(&structured["result"], &reply.content) => {
            format!("{:#}\n", structured["result"])
        }
        _ => text,
    }
}

/// Whether `value` is a list whose elements are `blocks`: of a list of one, they would be no list.
fn is_list_of(value: &Json, blocks: &[ContentBlock]) -> bool {
    let is_element = |(element, block): (&Json, &ContentBlock)| match block {
        ContentBlock::Text(text) => {
            *text == as_text(element) || json_value(text).is_ok_and(|json| json == *element)
        }
        _ => false,
    };
    value.as_array().is_some_and(|elements| {
        elements.len() == blocks.len() && elements.iter().zip(blocks).all(is_element)
    })
}

/// The same for programs.
fn document(tool: &str, reply: &ToolReply) -> Json {
    let found = value_of(tool, reply, Parse::Auto).map(|found| (found.value, found.blobs));
    let (value, blobs) = found.unwrap_or_default();
    let files = blobs
        .iter()
        .map(|blob| json!({"media_type": blob.media_type, "base64": blob.base64}));
    json!({
        "is_error": reply.is_error,
        "value": value,
        "text": text_of(reply),
        "structured": reply.structured,
        "files": files.collect::<Json>(),
    })
}

/// `text` fit for a terminal: what a server sends must not move the cursor or change the colours.
fn shown(text: &str) -> String {
    let columns: Vec<_> = text.split('\t').map(printable_lines).collect();
    columns.join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_the_schema_wants() {
        let text = json!({"type": "string"});
        let number = json!({"type": "integer"});
        for (value, schema, expected) in [
            ("12", Some(&text), json!("12")),
            ("12", Some(&number), json!(12)),
            ("12", None, json!(12)),
            ("twelve", Some(&number), json!("twelve")),
            ("[1,2]", None, json!([1, 2])),
            ("true", None, json!(true)),
        ] {
            let typed = typed(value, schema).expect("it can be sent");
            assert_eq!(typed, expected, "{value}");
        }
        assert_eq!(typed("{2", Some(&text)).ok(), Some(json!("{2")));
        assert!(typed("{2", Some(&number)).is_err());
        assert!(typed("[draft] x", None).is_err());
    }
}
