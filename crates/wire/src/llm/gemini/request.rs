//! Requests of generateContent. Names are camelCase, and just as well snake_case.

use cuecard_source::value::{Json, as_text};
use cuecard_timeline::script::{
    AdvertisedTool, Endpoint, Part, Request, RequestedResult, Role, ToolChoice, ToolInput,
};

use super::super::errors::ApiError;
use super::super::fault::{Fault, FaultKind};
use super::super::history;
use super::super::media;
use super::super::node::Node;
use super::super::route::Target;

const ROLES: &[&str] = &["user", "model"];

/// What a body says.
///
/// # Errors
/// Google's 400.
pub(in super::super) fn read(target: &Target<'_>, body: &Json) -> Result<Request, ApiError> {
    let root = Node::root(body);
    // Counting takes a whole request too.
    let inner = root.either("generateContentRequest", "generate_content_request");
    let body = inner.as_ref().filter(|_| target.counts).unwrap_or(&root);
    understand(target, body).map_err(|fault| fault.error(Endpoint::Gemini))
}

fn understand(target: &Target<'_>, body: &Node<'_, '_>) -> Result<Request, Fault> {
    let mut request = Request::new(Endpoint::Gemini);
    request.model = match target.model {
        Some(model) => model.to_owned(),
        None => body
            .text_of("model")?
            .trim_start_matches("models/")
            .to_owned(),
    };
    request.wants_stream = target.wants_stream;
    if let Some(system) = body.either("systemInstruction", "system_instruction") {
        history::add_system(&mut request, &system_text(&system)?);
    }
    let contents = body.need("contents")?;
    match contents.json {
        Json::Object(_) => add_content(&mut request, &contents)?,
        Json::Array(list) if list.is_empty() => return Err(contents.fault(FaultKind::Empty)),
        _ => contents.each(|content| add_content(&mut request, content))?,
    }
    request.tools = tools(body)?;
    if let Some(config) = body.either("toolConfig", "tool_config")
        && let Some(calling) = config.either("functionCallingConfig", "function_calling_config")
    {
        request.tool_choice = tool_choice(&calling)?;
    }
    if let Some(config) = body.either("generationConfig", "generation_config") {
        configure(&mut request, &config)?;
    }
    Ok(request)
}

fn configure(request: &mut Request, config: &Node<'_, '_>) -> Result<(), Fault> {
    request.max_tokens = match config.count("maxOutputTokens")? {
        Some(count) => Some(count),
        None => config.count("max_output_tokens")?,
    };
    if let Some(thinking) = config.either("thinkingConfig", "thinking_config") {
        request.wants_thinking =
            thinking.flag("includeThoughts")? || thinking.flag("include_thoughts")?;
    }
    let schema = config
        .either("responseSchema", "response_schema")
        .or_else(|| config.either("responseJsonSchema", "response_json_schema"))
        .or_else(|| config.get("_responseJsonSchema"));
    let mime_type = config.either("responseMimeType", "response_mime_type");
    let is_json = mime_type.is_some_and(|mime_type| mime_type.json == "application/json");
    request.response_schema = match schema {
        Some(schema) => Some(schema.json.clone()),
        None => is_json.then(|| Json::Object(Default::default())),
    };
    Ok(())
}

/// A content, or nothing but a text.
fn system_text(system: &Node<'_, '_>) -> Result<String, Fault> {
    if let Json::String(text) = system.json {
        return Ok(text.clone());
    }
    system.object()?;
    let mut texts = Vec::new();
    each_part(system, |part| {
        if let Some(text) = part.get("text") {
            texts.push(text.text()?.to_owned());
        }
        Ok(())
    })?;
    Ok(texts.join("\n"))
}

fn add_content(request: &mut Request, content: &Node<'_, '_>) -> Result<(), Fault> {
    content.object()?;
    let role = match content.get("role") {
        None => Role::User,
        Some(role) => match role.text()? {
            "user" | "function" | "tool" | "" => Role::User,
            "model" => Role::Assistant,
            "system" => {
                let text = system_text(content)?;
                history::add_system(request, &text);
                return Ok(());
            }
            _ => return Err(role.fault(FaultKind::Unknown(ROLES))),
        },
    };
    let mut parts = Vec::new();
    each_part(content, |part| {
        parts.push(self::part(part)?);
        Ok(())
    })?;
    history::add(request, role, parts);
    Ok(())
}

/// Parts are a list, or a single one.
fn each_part<'j>(
    content: &Node<'_, 'j>,
    mut visit: impl FnMut(&Node<'_, 'j>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    match content.get("parts") {
        Some(parts) if parts.json.is_object() => visit(&parts),
        Some(parts) => parts.each(visit),
        None => Ok(()),
    }
}

fn part(part: &Node<'_, '_>) -> Result<Part, Fault> {
    if let Json::String(text) = part.json {
        return Ok(Part::Text(text.clone()));
    }
    part.object()?;
    if let Some(call) = part.either("functionCall", "function_call") {
        let arguments = call
            .get("args")
            .map_or(Json::Object(Default::default()), |args| args.json.clone());
        let id = call.text_of("id")?;
        return Ok(history::call(id, call.need("name")?.text()?, arguments));
    }
    if let Some(response) = part.either("functionResponse", "function_response") {
        let (text, is_error) = response
            .get("response")
            .map_or((String::new(), false), result);
        let name = response.need("name")?.text()?;
        let parts = response.json["parts"].as_array().into_iter().flatten();
        let names = parts.filter_map(|part| part.as_object()?.keys().next().cloned());
        return Ok(Part::Result(RequestedResult {
            blocks: names.collect(),
            ..history::text_result(response.text_of("id")?, name, text, is_error)
        }));
    }
    if let Some(text) = part.get("text") {
        let text = text.text()?.to_owned();
        return Ok(if part.flag("thought")? {
            Part::Thinking(text)
        } else {
            Part::Text(text)
        });
    }
    let members = part.json.as_object();
    let mut names = members.into_iter().flat_map(serde_json::Map::keys);
    let is_media = |name: &&String| name.to_ascii_lowercase().ends_with("data");
    let first = names.clone().next();
    let name = names.find(is_media).or(first);
    Ok(media::read(name.map_or("", String::as_str), part.json))
}

/// What a function answered, which is an object by the wire, and one member of it by custom.
fn result(response: Node<'_, '_>) -> (String, bool) {
    if let Some(error) = response.get("error") {
        return (as_text(error.json).into_owned(), true);
    }
    let members = response.json.as_object().map_or(0, serde_json::Map::len);
    // Some name the function once more.
    let is_named = members == 2 && response.json["name"].is_string();
    let said = ["output", "result", "content", "return_value"]
        .into_iter()
        .filter(|_| members == 1 || is_named)
        .find_map(|name| response.json.get(name));
    (as_text(said.unwrap_or(response.json)).into_owned(), false)
}

/// The tools that a body advertises.
pub(in super::super) fn tools(body: &Node<'_, '_>) -> Result<Vec<AdvertisedTool>, Fault> {
    let mut tools = Vec::new();
    body.each_of("tools", |tool| add_tools(&mut tools, tool))?;
    Ok(tools)
}

fn add_tools(tools: &mut Vec<AdvertisedTool>, tool: &Node<'_, '_>) -> Result<(), Fault> {
    tool.object()?;
    if let Some(declarations) = tool.either("functionDeclarations", "function_declarations") {
        declarations.each(|function| {
            let schema = function
                .either("parametersJsonSchema", "parameters_json_schema")
                .or_else(|| function.get("parameters"));
            tools.push(AdvertisedTool {
                name: function.need("name")?.text()?.to_owned(),
                description: function.text_of("description")?.to_owned(),
                input: ToolInput::Schema(schema.map_or(Json::Null, |schema| schema.json.clone())),
                namespace: None,
            });
            Ok(())
        })?;
    }
    // Tools that the provider runs.
    let members = tool.json.as_object();
    for name in members.into_iter().flat_map(serde_json::Map::keys) {
        if name != "functionDeclarations" && name != "function_declarations" {
            tools.push(AdvertisedTool {
                name: name.clone(),
                description: String::new(),
                input: ToolInput::Opaque,
                namespace: None,
            });
        }
    }
    Ok(())
}

fn tool_choice(calling: &Node<'_, '_>) -> Result<ToolChoice, Fault> {
    let allowed = calling.either("allowedFunctionNames", "allowed_function_names");
    let mut names = Vec::new();
    if let Some(allowed) = allowed {
        allowed.each(|name| {
            names.push(name.text()?.to_owned());
            Ok(())
        })?;
    }
    let mode = calling.text_of("mode")?.to_ascii_uppercase();
    Ok(match (mode.as_str(), names.as_slice()) {
        ("NONE", _) => ToolChoice::None,
        ("ANY", [name]) => ToolChoice::Tool(name.clone()),
        ("ANY", []) => ToolChoice::Any,
        ("ANY", _) => ToolChoice::Among {
            names,
            is_required: true,
        },
        ("VALIDATED", [_, ..]) => ToolChoice::Among {
            names,
            is_required: false,
        },
        _ => ToolChoice::Auto,
    })
}
