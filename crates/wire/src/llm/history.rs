//! What the readers of all dialects share.

use cuecard_source::json::{self, read_value};
use cuecard_source::value::{Json, as_text};
use cuecard_timeline::script::{
    Endpoint, Message, Part, Request, RequestedCall, RequestedResult, Role, ToolChoice,
};

use super::fault::{Expected, Fault};
use super::media;
use super::node::Node;

/// The types of blocks whose `text` is text: plain, of a request, and of an answer.
const TEXT_TYPES: &[&str] = &[
    "text",
    "input_text",
    "output_text",
    "summary_text",
    "reasoning_text",
];

/// Adds a text to the system's.
pub(super) fn add_system(request: &mut Request, text: &str) {
    if text.is_empty() {
        return;
    }
    if !request.system.is_empty() {
        request.system.push('\n');
    }
    request.system.push_str(text);
}

/// What agents let the model have said to the context that they begin with: no model said it, nor a user what stands
/// before it.
const ACKNOWLEDGED: &str = "Got it. Thanks for the context!";

/// Adds a message with these parts.
pub(super) fn add(request: &mut Request, role: Role, parts: Vec<Part>) {
    let is_said = request
        .history
        .iter()
        .any(|message| message.role == Role::Assistant);
    if role == Role::Assistant
        && !is_said
        && matches!(&parts[..], [Part::Text(text)] if text == ACKNOWLEDGED)
    {
        let context = std::mem::take(&mut request.history);
        for part in context.into_iter().flat_map(|message| message.parts) {
            if let Part::Text(text) = part {
                add_system(request, &text);
            }
        }
        return;
    }
    request.history.push(Message { role, parts });
}

/// The choice among tools that a request to OpenAI leaves a model. In Chat, what it names is in a member of its own.
///
/// # Errors
/// It is no choice.
pub(super) fn tool_choice(endpoint: Endpoint, choice: &Node<'_, '_>) -> Result<ToolChoice, Fault> {
    let kind = match choice.json {
        Json::String(word) => word.as_str(),
        Json::Object(_) => choice.need("type")?.text()?,
        _ => return Err(choice.mistyped(Expected::Object)),
    };
    let named = |inner: &Node<'_, '_>| match kind {
        "allowed_tools" => allowed_tools(inner),
        _ => Ok(ToolChoice::Tool(inner.need("name")?.text()?.to_owned())),
    };
    match (kind, endpoint) {
        ("none", _) => Ok(ToolChoice::None),
        ("required", _) => Ok(ToolChoice::Any),
        ("auto", _) => Ok(ToolChoice::Auto),
        ("function" | "custom" | "allowed_tools", Endpoint::Chat) => named(&choice.need(kind)?),
        ("function" | "custom" | "allowed_tools", _) => named(choice),
        (_, Endpoint::Chat) => Ok(ToolChoice::Auto),
        (other, _) => Ok(ToolChoice::Tool(other.to_owned())),
    }
}

/// The tools that OpenAI's `allowed_tools` leaves a model; one without a name is known by its type.
///
/// # Errors
/// Something in it is no tool.
fn allowed_tools(allowed: &Node<'_, '_>) -> Result<ToolChoice, Fault> {
    let is_required = allowed.text_of("mode")? == "required";
    let names = allowed.all("tools", |tool| {
        let kind = tool.need("type")?.text()?;
        let name = match tool.get(kind) {
            Some(inner) => inner.text_of("name")?.to_owned(),
            None => tool.text_of("name")?.to_owned(),
        };
        Ok(match name.is_empty() {
            true => kind.to_owned(),
            false => name,
        })
    })?;
    Ok(match names.is_empty() {
        true if is_required => ToolChoice::Any,
        true => ToolChoice::Auto,
        false => ToolChoice::Among { names, is_required },
    })
}

/// A call with its id, its tool and the text of its arguments.
pub(super) fn call(id: &str, name: &str, arguments: Json) -> Part {
    Part::Call(RequestedCall {
        id: id.to_owned(),
        name: name.to_owned(),
        args: arguments,
    })
}

/// The arguments that a text holds: an object, or the text itself if it is none.
pub(super) fn arguments(text: &str) -> Json {
    read_value(text)
        .ok()
        .filter(Json::is_object)
        .unwrap_or_else(|| Json::String(text.to_owned()))
}

/// Whether the body of a request has half of a surrogate pair: in a text, or in the arguments of a call, which are JSON in a
/// text.
pub fn has_lone_surrogate(body: &[u8]) -> bool {
    json::has_lone_surrogate(body) || has_lone_surrogate_in_arguments(body)
}

/// Whether the arguments of a call in the body of a request have half of a surrogate pair.
pub fn has_lone_surrogate_in_arguments(body: &[u8]) -> bool {
    fn has_arguments(json: &Json) -> bool {
        match json {
            Json::Array(items) => items.iter().any(has_arguments),
            Json::Object(members) => members.iter().any(|(name, value)| match value {
                Json::String(text) => {
                    name == "arguments" && json::has_lone_surrogate(text.as_bytes())
                }
                value => has_arguments(value),
            }),
            _ => false,
        }
    }
    json::may_have_surrogates(body) && read_value(body).is_ok_and(|body| has_arguments(&body))
}

/// The result of a call that is only a text.
pub(super) fn text_result(
    call_id: &str,
    name: &str,
    text: String,
    is_error: bool,
) -> RequestedResult {
    RequestedResult {
        call_id: call_id.to_owned(),
        name: name.to_owned(),
        text,
        blocks: Vec::new(),
        is_error,
    }
}

/// Content, which is a text or a list of blocks: calls `visit` with each block, and with a text as it is.
pub(super) fn content<'j>(
    node: &Node<'_, 'j>,
    mut visit: impl FnMut(Content<'_, '_, 'j>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    match node.json {
        Json::String(text) => visit(Content::Text(text)),
        Json::Array(_) => node.each(|block| match block.json {
            // Some clients put texts into the list.
            Json::String(text) => visit(Content::Text(text)),
            _ => visit(Content::Block(block)),
        }),
        _ => Err(node.mistyped(Expected::TextOrList)),
    }
}

/// A part of content.
pub(super) enum Content<'n, 'p, 'j> {
    /// A text.
    Text(&'j str),
    /// A block, whose type is in it.
    Block(&'n Node<'p, 'j>),
}

/// The text of a block, if it is one of text.
pub(super) fn block_text<'j>(block: &Node<'_, 'j>) -> Result<Option<&'j str>, Fault> {
    let kind = block.need("type")?.text()?;
    if TEXT_TYPES.contains(&kind) {
        return block.need("text")?.text().map(Some);
    }
    match kind {
        "refusal" => block.need("refusal")?.text().map(Some),
        _ => Ok(None),
    }
}

/// The parts of content whose blocks are text, and others that aren't looked into.
pub(super) fn parts(node: &Node<'_, '_>) -> Result<Vec<Part>, Fault> {
    let mut parts = Vec::new();
    content(node, |content| {
        parts.push(match content {
            Content::Text(text) => Part::Text(text.to_owned()),
            Content::Block(block) => match block_text(block)? {
                Some(text) => Part::Text(text.to_owned()),
                None => media::read(block.text_of("type")?, block.json),
            },
        });
        Ok(())
    })?;
    Ok(parts)
}

/// All texts of content, joined by newlines.
pub(super) fn joined(node: &Node<'_, '_>) -> Result<String, Fault> {
    let mut texts = Vec::new();
    content(node, |content| {
        match content {
            Content::Text(text) => texts.push(text),
            Content::Block(block) => texts.extend(block_text(block)?),
        }
        Ok(())
    })?;
    Ok(texts.join("\n"))
}

/// A result with this content.
pub(super) fn result_with(
    call_id: &str,
    name: &str,
    content: Option<&Node<'_, '_>>,
    is_error: bool,
) -> Part {
    let inner = content.and_then(|content| parts(content).ok());
    let blocks = inner.into_iter().flatten().filter_map(|part| match part {
        Part::Block(block) => Some(block.name),
        _ => None,
    });
    let text = content.map_or_else(String::new, result_text);
    Part::Result(RequestedResult {
        blocks: blocks.collect(),
        ..text_result(call_id, name, text, is_error)
    })
}

/// What a tool answered: its texts, joined by newlines, or as JSON whatever else it is.
fn result_text(node: &Node<'_, '_>) -> String {
    joined(node).unwrap_or_else(|_| as_text(node.json).into_owned())
}
