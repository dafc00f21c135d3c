//! Requests of Chat Completions.

use cuecard_source::value::Json;
use cuecard_timeline::script::{AdvertisedTool, Endpoint, Part, Request, Role, ToolInput};

use super::super::errors::ApiError;
use super::super::fault::{Fault, FaultKind};
use super::super::history;
use super::super::node::Node;

const ROLES: &[&str] = &[
    "system",
    "developer",
    "assistant",
    "user",
    "function",
    "tool",
];

/// What a body says.
///
/// # Errors
/// OpenAI's 400.
pub(in super::super) fn read(body: &Json) -> Result<Request, ApiError> {
    understand(&Node::root(body)).map_err(|fault| fault.error(Endpoint::Chat))
}

fn understand(body: &Node<'_, '_>) -> Result<Request, Fault> {
    let mut request = Request::new(Endpoint::Chat);
    request.model = body.need("model")?.text()?.to_owned();
    let messages = body.need("messages")?;
    messages.each(|message| add_message(&mut request, message))?;
    if messages.json.as_array().is_some_and(Vec::is_empty) {
        return Err(messages.fault(FaultKind::Empty));
    }
    request.tools = tools(body)?;
    if let Some(choice) = body.get("tool_choice") {
        request.tool_choice = history::tool_choice(Endpoint::Chat, &choice)?;
    }
    request.allows_parallel = allows_parallel(body);
    request.max_tokens = match body.count("max_completion_tokens")? {
        Some(count) => Some(count),
        None => body.count("max_tokens")?,
    };
    request.wants_stream = body.flag("stream")?;
    if let Some(options) = body.get("stream_options") {
        request.wants_stream_usage = options.flag("include_usage")?;
    }
    if let Some(format) = body.get("response_format") {
        request.response_schema = match format.need("type")?.text()? {
            "json_schema" => {
                let schema = format.need("json_schema")?;
                Some(
                    schema
                        .get("schema")
                        .map_or(Json::Object(Default::default()), |schema| {
                            schema.json.clone()
                        }),
                )
            }
            "json_object" => Some(serde_json::json!({"type": "object"})),
            _ => None,
        };
    }
    Ok(request)
}

/// Whether a request to OpenAI allows several calls at once.
pub(in super::super) fn allows_parallel(body: &Node<'_, '_>) -> bool {
    let flag = body.get("parallel_tool_calls");
    flag.is_none_or(|flag| flag.json != false)
}

fn add_message(request: &mut Request, message: &Node<'_, '_>) -> Result<(), Fault> {
    message.object()?;
    let role = message.need("role")?;
    match role.text()? {
        "system" | "developer" => {
            history::add_system(request, &history::joined(&message.need("content")?)?);
        }
        "user" => {
            let content = message.need("content")?;
            check_blocks(&content)?;
            history::add(request, Role::User, history::parts(&content)?);
        }
        "assistant" => {
            let parts = assistant(message)?;
            history::add(request, Role::Assistant, parts);
        }
        "tool" => {
            let id = message.need("tool_call_id")?.text()?;
            let content = message.need("content")?;
            let result = history::result_with(id, "", Some(&content), false);
            history::add(request, Role::User, vec![result]);
        }
        "function" => {
            let name = message.need("name")?.text()?;
            let content = message.get("content");
            let result = history::result_with("", name, content.as_ref(), false);
            history::add(request, Role::User, vec![result]);
        }
        _ => return Err(role.fault(FaultKind::Unknown(ROLES))),
    }
    Ok(())
}

/// The blocks that calls and their results are for Anthropic: here they would be passed over.
fn check_blocks(content: &Node<'_, '_>) -> Result<(), Fault> {
    if !content.json.is_array() {
        return Ok(());
    }
    content.each(|block| match block.get("type") {
        Some(kind) if kind.json == "tool_use" || kind.json == "tool_result" => {
            Err(kind.fault(FaultKind::Unknown(BLOCKS)))
        }
        _ => Ok(()),
    })
}

const BLOCKS: &[&str] = &["text", "image_url", "input_audio", "refusal", "file"];

fn assistant(message: &Node<'_, '_>) -> Result<Vec<Part>, Fault> {
    let mut parts = Vec::new();
    // What servers with open models call thinking.
    for name in ["reasoning_content", "reasoning"] {
        if let Some(thinking) = message
            .get(name)
            .and_then(|thinking| thinking.json.as_str())
        {
            parts.push(Part::Thinking(thinking.to_owned()));
            break;
        }
    }
    if let Some(content) = message.get("content") {
        check_blocks(&content)?;
        parts.extend(history::parts(&content)?);
    }
    if let Some(refusal) = message.get("refusal") {
        parts.push(Part::Text(refusal.text()?.to_owned()));
    }
    message.each_of("tool_calls", |call| {
        let id = call.need("id")?.text()?;
        parts.push(match call.get("custom") {
            Some(custom) => {
                let input = Json::String(custom.text_of("input")?.to_owned());
                history::call(id, custom.need("name")?.text()?, input)
            }
            None => {
                let function = call.need("function")?;
                let arguments = history::arguments(function.text_of("arguments")?);
                history::call(id, function.need("name")?.text()?, arguments)
            }
        });
        Ok(())
    })?;
    if let Some(call) = message.get("function_call") {
        let arguments = history::arguments(call.text_of("arguments")?);
        parts.push(history::call("", call.need("name")?.text()?, arguments));
    }
    Ok(parts)
}

/// The tools that a body advertises.
pub(in super::super) fn tools(body: &Node<'_, '_>) -> Result<Vec<AdvertisedTool>, Fault> {
    let mut tools = body.all("tools", tool)?;
    // What tools were before there were others than functions.
    tools.extend(body.all("functions", function)?);
    Ok(tools)
}

fn tool(tool: &Node<'_, '_>) -> Result<AdvertisedTool, Fault> {
    tool.object()?;
    let kind = tool.need("type")?.text()?;
    match kind {
        "function" => function(&tool.need("function")?),
        "custom" => {
            let custom = tool.need("custom")?;
            Ok(AdvertisedTool {
                name: custom.need("name")?.text()?.to_owned(),
                description: custom.text_of("description")?.to_owned(),
                input: ToolInput::Text,
                namespace: None,
            })
        }
        // A tool that the provider runs.
        _ => Ok(AdvertisedTool {
            name: kind.to_owned(),
            description: String::new(),
            input: ToolInput::Opaque,
            namespace: None,
        }),
    }
}

fn function(function: &Node<'_, '_>) -> Result<AdvertisedTool, Fault> {
    Ok(AdvertisedTool {
        name: function.need("name")?.text()?.to_owned(),
        description: function.text_of("description")?.to_owned(),
        input: ToolInput::Schema(
            function
                .get("parameters")
                .map_or(Json::Null, |schema| schema.json.clone()),
        ),
        namespace: None,
    })
}
