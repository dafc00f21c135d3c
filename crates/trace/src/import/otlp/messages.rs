//! Messages to and from models: in attributes, or in events of older conventions.

use super::span::{Span, in_text};
use crate::import::lines::{content_text, items, text};
use crate::import::results::Answer;
use cuecard_source::value::Json;

/// A message.
pub(super) struct Message {
    pub role: String,
    pub parts: Vec<Part>,
}

/// A part of a message.
pub(super) enum Part {
    Text(String),
    Thought(String),
    Call {
        id: String,
        name: String,
        args: Json,
    },
    Response {
        id: String,
        response: Json,
    },
    /// Of a kind that is not known.
    Unknown(String),
}

/// The event that holds messages as attributes of the same names.
const DETAILS: &str = "gen_ai.client.inference.operation.details";

/// What the model or agent was given.
pub(super) fn input(span: &Span) -> Vec<Message> {
    let found = attribute(span, "gen_ai.input.messages");
    if !found.is_empty() {
        return found;
    }
    span.events
        .iter()
        .filter_map(|(name, attributes)| {
            let role = match name.as_str() {
                "gen_ai.user.message" => "user",
                "gen_ai.tool.message" => "tool",
                _ => return None,
            };
            let content = attributes.get("content")?;
            let part = match attributes.get("id").and_then(Json::as_str) {
                Some(id) if role == "tool" => Part::Response {
                    id: id.to_owned(),
                    response: content.clone(),
                },
                _ => Part::Text(content_text(content)),
            };
            Some(Message {
                role: role.to_owned(),
                parts: vec![part],
            })
        })
        .collect()
}

/// What it answered.
pub(super) fn output(span: &Span) -> Vec<Message> {
    let found = attribute(span, "gen_ai.output.messages");
    if !found.is_empty() {
        return found;
    }
    span.events
        .iter()
        .filter(|(name, _)| name == "gen_ai.choice")
        .map(|(_, attributes)| {
            let whole = Json::Object(attributes.clone());
            let inner = attributes.get("message").map(in_text);
            message(inner.as_ref().unwrap_or(&whole))
        })
        .collect()
}

/// How a call was answered.
pub(super) fn answer(result: &Json, success: bool) -> Answer {
    match result {
        Json::String(text) => Answer::of_text(text.clone(), success),
        other => Answer {
            success,
            result: other.clone(),
            ..Answer::default()
        },
    }
}

fn attribute(span: &Span, name: &str) -> Vec<Message> {
    let of_event = || {
        let details = span.events.iter().find(|(event, _)| event == DETAILS)?;
        details.1.get(name).map(in_text)
    };
    match span.json(name).or_else(of_event) {
        Some(Json::Array(messages)) => messages.iter().map(message).collect(),
        _ => Vec::new(),
    }
}

fn message(json: &Json) -> Message {
    let mut parts: Vec<Part> = items(json, "parts").iter().map(part).collect();
    if parts.is_empty() {
        let content = json.get("content").map(content_text).unwrap_or_default();
        if !content.is_empty() {
            parts.push(Part::Text(content));
        }
        parts.extend(items(json, "tool_calls").iter().map(older_call));
    }
    Message {
        role: text(json, "role").unwrap_or_default().to_owned(),
        parts,
    }
}

fn part(json: &Json) -> Part {
    let own = |key: &str| text(json, key).unwrap_or_default().to_owned();
    let content = || json.get("content").map(content_text).unwrap_or_default();
    match text(json, "type").unwrap_or_default() {
        "text" => Part::Text(content()),
        "reasoning" => Part::Thought(content()),
        "tool_call" => Part::Call {
            id: own("id"),
            name: own("name"),
            args: json.get("arguments").map(in_text).unwrap_or_default(),
        },
        "tool_call_response" => {
            let response = json.get("response").or_else(|| json.get("result"));
            Part::Response {
                id: own("id"),
                response: response.cloned().unwrap_or_default(),
            }
        }
        other => Part::Unknown(other.to_owned()),
    }
}

/// A call as a chat API writes it.
fn older_call(json: &Json) -> Part {
    let function = json.get("function").unwrap_or(json);
    Part::Call {
        id: text(json, "id").unwrap_or_default().to_owned(),
        name: text(function, "name").unwrap_or_default().to_owned(),
        args: function.get("arguments").map(in_text).unwrap_or_default(),
    }
}
