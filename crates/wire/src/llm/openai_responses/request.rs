//! Requests of Responses.

use cuecard_source::value::Json;
use cuecard_timeline::script::{
    AdvertisedTool, Endpoint, Part, PreviousAnswer, Request, Role, ToolInput,
};

use super::super::errors::ApiError;
use super::super::fault::{Expected, Fault, FaultKind};
use super::super::history;
use super::super::ids::ResponseId;
use super::super::node::Node;
use super::super::openai_chat;

const ROLES: &[&str] = &["assistant", "system", "developer", "user"];

/// The items of a history with tools, which Codex sends for some models.
const WITH_TOOLS: &[&str] = &["additional_tools", "tool_search_output"];

/// What a body says.
///
/// # Errors
/// OpenAI's 400, or 404 if the previous answer isn't ours.
pub(in super::super) fn read(body: &Json) -> Result<Request, ApiError> {
    understand(&Node::root(body)).map_err(|fault| fault.error(Endpoint::Responses))
}

fn understand(body: &Node<'_, '_>) -> Result<Request, Fault> {
    let mut request = Request::new(Endpoint::Responses);
    request.model = body.need("model")?.text()?.to_owned();
    if let Some(instructions) = body.get("instructions") {
        match instructions.json {
            Json::String(text) => history::add_system(&mut request, text),
            _ => instructions.each(|item| add_item(&mut request, item))?,
        }
    }
    if let Some(previous) = body.get("previous_response_id") {
        request.previous = Some(self::previous(&previous)?);
    }
    match body.get("input") {
        Some(input) => match input.json {
            Json::String(text) => {
                history::add(&mut request, Role::User, vec![Part::Text(text.clone())]);
            }
            Json::Array(_) => input.each(|item| add_item(&mut request, item))?,
            _ => return Err(input.mistyped(Expected::TextOrList)),
        },
        // What is asked may be stored with the provider.
        None if request.previous.is_some() || body.get("prompt").is_some() => {}
        None => {
            return Err(body
                .need("input")
                .err()
                .unwrap_or_else(|| body.mistyped(Expected::Object)));
        }
    }
    request.tools = tools(body)?;
    if let Some(choice) = body.get("tool_choice") {
        request.tool_choice = history::tool_choice(Endpoint::Responses, &choice)?;
    }
    request.allows_parallel = openai_chat::allows_parallel(body);
    request.max_tokens = body.count("max_output_tokens")?;
    request.wants_stream = body.flag("stream")?;
    if let Some(reasoning) = body.get("reasoning") {
        request.wants_thinking = reasoning.either("summary", "generate_summary").is_some();
    }
    if let Some(text) = body.get("text")
        && let Some(format) = text.get("format")
    {
        request.response_schema = match format.text_of("type")? {
            "json_schema" => Some(format.need("schema")?.json.clone()),
            "json_object" => Some(serde_json::json!({"type": "object"})),
            _ => None,
        };
    }
    Ok(request)
}

fn previous(id: &Node<'_, '_>) -> Result<PreviousAnswer, Fault> {
    let text = id.text()?;
    let known = ResponseId::decode(text).ok_or_else(|| id.fault(FaultKind::UnknownAnswer))?;
    Ok(PreviousAnswer {
        id: text.to_owned(),
        scenario: known.scenario,
        turn_idx: known.turn as usize,
        session: known.session,
    })
}

fn add_item(request: &mut Request, item: &Node<'_, '_>) -> Result<(), Fault> {
    item.object()?;
    let kind = item.text_of("type")?;
    match kind {
        "" | "message" => add_message(request, item)?,
        "function_call" => {
            let arguments = history::arguments(item.text_of("arguments")?);
            let id = item.need("call_id")?.text()?;
            let call = history::call(id, item.need("name")?.text()?, arguments);
            history::add(request, Role::Assistant, vec![call]);
        }
        "custom_tool_call" => {
            let input = Json::String(item.text_of("input")?.to_owned());
            let id = item.need("call_id")?.text()?;
            let call = history::call(id, item.need("name")?.text()?, input);
            history::add(request, Role::Assistant, vec![call]);
        }
        "reasoning" => {
            let mut thoughts = Vec::new();
            for name in ["summary", "content"] {
                if let Some(list) = item.get(name) {
                    thoughts.push(history::joined(&list)?);
                }
            }
            thoughts.retain(|thought| !thought.is_empty());
            history::add(
                request,
                Role::Assistant,
                vec![Part::Thinking(thoughts.join("\n"))],
            );
        }
        _ if WITH_TOOLS.contains(&kind) => {
            if let Some(id) = item.get("call_id") {
                let result = history::text_result(id.text()?, "", String::new(), false);
                history::add(request, Role::User, vec![Part::Result(result)]);
            }
        }
        // `function_call_output`, and those of tools that the client runs though the provider defines them.
        _ if kind.ends_with("_call_output") => {
            let id = item.need("call_id")?.text()?;
            let (output, has_failed) = (item.need("output")?, item.text_of("status")? == "failed");
            let result = history::result_with(id, "", Some(&output), has_failed);
            history::add(request, Role::User, vec![result]);
        }
        // The calls of such tools.
        _ if kind.ends_with("_call") && item.get("call_id").is_some() => {
            let id = item.need("call_id")?.text()?;
            let name = kind.strip_suffix("_call").unwrap_or(kind);
            let arguments = item.either("action", "operation");
            let arguments = arguments.map_or(Json::Null, |arguments| arguments.json.clone());
            history::add(
                request,
                Role::Assistant,
                vec![history::call(id, name, arguments)],
            );
        }
        _ => history::add(request, Role::Assistant, vec![Part::other(kind)]),
    }
    Ok(())
}

fn add_message(request: &mut Request, message: &Node<'_, '_>) -> Result<(), Fault> {
    let role = message.need("role")?;
    let content = message.need("content")?;
    match role.text()? {
        "system" | "developer" => history::add_system(request, &history::joined(&content)?),
        "user" => history::add(request, Role::User, history::parts(&content)?),
        "assistant" => history::add(request, Role::Assistant, history::parts(&content)?),
        _ => return Err(role.fault(FaultKind::Unknown(ROLES))),
    }
    Ok(())
}

/// The tools that a body advertises.
pub(in super::super) fn tools(body: &Node<'_, '_>) -> Result<Vec<AdvertisedTool>, Fault> {
    let mut tools = Vec::new();
    if let Some(input) = body.get("input").filter(|input| input.json.is_array()) {
        input.each(|item| match item.json["type"].as_str() {
            Some(kind) if WITH_TOOLS.contains(&kind) => {
                item.each_of("tools", |tool| add_tool(&mut tools, tool, None))
            }
            _ => Ok(()),
        })?;
    }
    body.each_of("tools", |tool| add_tool(&mut tools, tool, None))?;
    Ok(tools)
}

fn add_tool(
    tools: &mut Vec<AdvertisedTool>,
    tool: &Node<'_, '_>,
    namespace: Option<&str>,
) -> Result<(), Fault> {
    tool.object()?;
    let kind = tool.need("type")?.text()?;
    let input = match kind {
        "function" => ToolInput::Schema(
            tool.get("parameters")
                .map_or(Json::Null, |schema| schema.json.clone()),
        ),
        "custom" => ToolInput::Text,
        // A group of tools, whose name a call has beside the tool's. Groups aren't nested.
        "namespace" => {
            let group = tool.need("name")?.text()?;
            return tool.each_of("tools", |inner| match inner.text_of("type")? {
                "namespace" => Ok(()),
                _ => add_tool(tools, inner, Some(group)),
            });
        }
        // Tools that the client runs though the provider defines them.
        "local_shell" | "shell" | "apply_patch" => ToolInput::Schema(Json::Null),
        _ => ToolInput::Opaque,
    };
    let name = match kind {
        "function" | "custom" => tool.need("name")?.text()?,
        _ => kind,
    };
    tools.push(AdvertisedTool {
        name: name.to_owned(),
        description: tool
            .get("description")
            .and_then(|description| description.json.as_str())
            .unwrap_or_default()
            .to_owned(),
        input,
        namespace: namespace.map(str::to_owned),
    });
    Ok(())
}
