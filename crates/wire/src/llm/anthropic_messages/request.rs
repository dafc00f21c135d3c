//! Requests of Messages.

use cuecard_source::value::Json;
use cuecard_timeline::script::{
    AdvertisedTool, Endpoint, Part, Request, Role, ToolChoice, ToolInput,
};

use super::super::errors::ApiError;
use super::super::fault::{Expected, Fault, FaultKind};
use super::super::history::{self, Content};
use super::super::media;
use super::super::node::Node;
use super::super::route::Target;

const ROLES: &[&str] = &["user", "assistant"];

/// The beginnings of the types of tools that the provider defines and the client runs.
const RUN_BY_CLIENT: &[&str] = &["bash_", "text_editor_", "computer_", "memory_"];

/// What a body says.
///
/// # Errors
/// Anthropic's 400.
pub(in super::super) fn read(target: &Target<'_>, body: &Json) -> Result<Request, ApiError> {
    understand(target, &Node::root(body)).map_err(|fault| fault.error(Endpoint::Messages))
}

fn understand(target: &Target<'_>, body: &Node<'_, '_>) -> Result<Request, Fault> {
    let mut request = Request::new(Endpoint::Messages);
    request.model = body.need("model")?.text()?.to_owned();
    if let Some(system) = body.get("system") {
        history::add_system(&mut request, &history::joined(&system)?);
    }
    let messages = body.need("messages")?;
    messages.each(|message| add_message(&mut request, message))?;
    if messages.json.as_array().is_some_and(Vec::is_empty) {
        return Err(messages.fault(FaultKind::Empty));
    }
    request.max_tokens = body.count("max_tokens")?;
    if !target.counts {
        body.need("max_tokens")?;
    }
    request.tools = tools(body)?;
    if let Some(choice) = body.get("tool_choice") {
        request.tool_choice = match choice.need("type")?.text()? {
            "any" => ToolChoice::Any,
            "none" => ToolChoice::None,
            "tool" => ToolChoice::Tool(choice.need("name")?.text()?.to_owned()),
            _ => ToolChoice::Auto,
        };
    }
    request.allows_parallel = body.json["tool_choice"]["disable_parallel_tool_use"] != true;
    request.wants_stream = body.flag("stream")?;
    if let Some(thinking) = body.get("thinking") {
        let kind = thinking.need("type")?.text()?;
        request.wants_thinking = kind != "disabled";
        request.needs_thinking = kind == "enabled";
    }
    let format = body.get("output_config");
    let format = format.as_ref().and_then(|config| config.get("format"));
    if let Some(format) = format.or_else(|| body.get("output_format")) {
        request.response_schema = format.get("schema").map(|schema| schema.json.clone());
    }
    Ok(request)
}

fn add_message(request: &mut Request, message: &Node<'_, '_>) -> Result<(), Fault> {
    message.object()?;
    let role = message.need("role")?;
    let content = message.need("content")?;
    let role = match role.text()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        // In the middle of a conversation, where the API lets the system speak.
        "system" => {
            history::add_system(request, &history::joined(&content)?);
            return Ok(());
        }
        _ => return Err(role.fault(FaultKind::Unknown(ROLES))),
    };
    let mut parts = Vec::new();
    history::content(&content, |content| {
        match content {
            Content::Text(text) => parts.push(Part::Text(text.to_owned())),
            Content::Block(block) => parts.push(self::block(block)?),
        }
        Ok(())
    })?;
    history::add(request, role, parts);
    Ok(())
}

fn block(block: &Node<'_, '_>) -> Result<Part, Fault> {
    block.object()?;
    let kind = block.need("type")?.text()?;
    Ok(match kind {
        "text" => Part::Text(block.need("text")?.text()?.to_owned()),
        "thinking" => Part::Thinking(block.text_of("thinking")?.to_owned()),
        "redacted_thinking" => Part::Thinking(String::new()),
        "tool_use" => {
            let input = block.need("input")?;
            let id = block.need("id")?.text()?;
            history::call(id, block.need("name")?.text()?, input.json.clone())
        }
        "tool_result" => {
            let id = block.need("tool_use_id")?.text()?;
            let content = block.get("content");
            if let Some(content) = content.as_ref().filter(|content| content.json.is_object()) {
                return Err(content.mistyped(Expected::TextOrList));
            }
            let is_error = block.flag("is_error")?;
            history::result_with(id, "", content.as_ref(), is_error)
        }
        other => media::read(other, block.json),
    })
}

/// The tools that a body advertises.
pub(in super::super) fn tools(body: &Node<'_, '_>) -> Result<Vec<AdvertisedTool>, Fault> {
    body.all("tools", tool)
}

fn tool(tool: &Node<'_, '_>) -> Result<AdvertisedTool, Fault> {
    tool.object()?;
    let kind = tool.text_of("type")?;
    if kind.is_empty() || kind == "custom" {
        return Ok(AdvertisedTool {
            name: tool.need("name")?.text()?.to_owned(),
            description: tool.text_of("description")?.to_owned(),
            input: ToolInput::Schema(tool.need("input_schema")?.json.clone()),
            namespace: None,
        });
    }
    // That is how OpenAI's APIs say it.
    if kind == "function" {
        return Err(tool.need("type")?.fault(FaultKind::Unknown(&["custom"])));
    }
    let is_run_by_client = RUN_BY_CLIENT
        .iter()
        .any(|beginning| kind.starts_with(beginning));
    let name = tool.either("name", "mcp_server_name");
    Ok(AdvertisedTool {
        name: name.map_or(Ok(kind), |name| name.text())?.to_owned(),
        description: String::new(),
        input: if is_run_by_client {
            ToolInput::Schema(Json::Null)
        } else {
            ToolInput::Opaque
        },
        namespace: None,
    })
}
