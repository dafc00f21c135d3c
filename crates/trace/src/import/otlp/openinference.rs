//! The attributes of OpenInference, in the words of the conventions for generative AI, which is what the rest reads.

use std::collections::BTreeMap;

use serde_json::{Map, json};

use super::span::in_text;
use cuecard_source::value::Json;

/// The attribute that says what a span is about.
pub(super) const KIND: &str = "openinference.span.kind";

type Attributes = Map<String, Json>;

/// Adds what the attributes of a span of OpenInference say, where nothing else says it. A retriever is a tool, and the
/// documents are its result. Chains only hold others together, and embeddings and the like are nobody's turn: they stay
/// as they are.
pub(super) fn translate(attributes: &mut Attributes) {
    let kind = attributes.get(KIND).and_then(Json::as_str);
    let kind = kind.unwrap_or_default().to_ascii_uppercase();
    let operation = match kind.as_str() {
        "LLM" => "chat",
        "TOOL" | "RETRIEVER" => "execute_tool",
        "AGENT" => "invoke_agent",
        _ => return,
    };
    let of = |name: &str| attributes.get(name).cloned();
    let mut added: Vec<(&str, Option<Json>)> = vec![
        ("gen_ai.operation.name", Some(operation.into())),
        ("gen_ai.conversation.id", of("session.id")),
        ("gen_ai.agent.name", of("agent.name")),
    ];
    match operation {
        "execute_tool" => added.extend([
            ("gen_ai.tool.name", of("tool.name")),
            ("gen_ai.tool.call.id", of("tool_call.id").or(of("tool.id"))),
            (
                "gen_ai.tool.call.arguments",
                match kind.as_str() {
                    "RETRIEVER" => of("input.value").map(query),
                    _ => of("input.value").or(of("tool.parameters")),
                },
            ),
            (
                "gen_ai.tool.call.result",
                documents(attributes).or(of("output.value").map(of_message)),
            ),
        ]),
        _ => added.extend([
            (
                "gen_ai.input.messages",
                messages(attributes, "llm.input_messages")
                    .or_else(|| said("user", attributes, "input")),
            ),
            (
                "gen_ai.output.messages",
                messages(attributes, "llm.output_messages")
                    .or_else(|| said("assistant", attributes, "output")),
            ),
            ("gen_ai.usage.input_tokens", of("llm.token_count.prompt")),
            (
                "gen_ai.usage.output_tokens",
                of("llm.token_count.completion"),
            ),
        ]),
    }
    for (name, value) in added {
        if let Some(value) = value {
            attributes.entry(name).or_insert(value);
        }
    }
}

/// `PREFIX.0.REST`, `PREFIX.1.REST`, … as one map of `REST` for each number.
fn numbered(attributes: &Attributes, prefix: &str) -> Vec<Attributes> {
    let mut groups: BTreeMap<u32, Attributes> = BTreeMap::new();
    for (name, value) in attributes {
        let rest = name
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_prefix('.'));
        if let Some((number, rest)) = rest.and_then(|rest| rest.split_once('.'))
            && let Ok(number) = number.parse()
        {
            let group = groups.entry(number).or_default();
            group.insert(rest.to_owned(), value.clone());
        }
    }
    groups.into_values().collect()
}

/// What is in a message of LangChain around a tool's result.
fn of_message(value: Json) -> Json {
    let message = in_text(&value);
    let content = message
        .get("content")
        .or_else(|| message.pointer("/data/content"));
    match content {
        Some(content) if message["type"] == "tool" => content.clone(),
        _ => value,
    }
}

/// The arguments of a retriever: a text is what it looked for.
fn query(value: Json) -> Json {
    match in_text(&value) {
        Json::String(query) => json!({"query": query}),
        _ => value,
    }
}

/// The documents that a retriever found; nothing if there are none.
fn documents(attributes: &Attributes) -> Option<Json> {
    let documents = numbered(attributes, "retrieval.documents");
    let documents: Vec<Json> = documents
        .into_iter()
        .map(|document| {
            let fields = document.into_iter().map(|(name, value)| {
                let name = name.strip_prefix("document.").unwrap_or(&name).to_owned();
                let value = match name.as_str() {
                    "metadata" => in_text(&value),
                    _ => value,
                };
                (name, value)
            });
            Json::Object(fields.collect())
        })
        .collect();
    (!documents.is_empty()).then(|| documents.into())
}

/// The messages below `prefix`; nothing if there are none.
fn messages(attributes: &Attributes, prefix: &str) -> Option<Json> {
    let messages: Vec<Json> = numbered(attributes, prefix).iter().map(message).collect();
    (!messages.is_empty()).then(|| messages.into())
}

fn message(of: &Attributes) -> Json {
    let text = |text: &Json| json!({"type": "text", "content": text});
    let role = of.get("message.role").and_then(Json::as_str);
    let content = of.get("message.content");
    let mut parts: Vec<Json> = Vec::new();
    match (role, of.get("message.tool_call_id")) {
        (Some("tool"), Some(id)) => {
            parts.push(json!({"type": "tool_call_response", "id": id, "response": content}));
        }
        _ => parts.extend(content.filter(|content| *content != "").map(text)),
    }
    for content in numbered(of, "message.contents") {
        parts.extend(content.get("message_content.text").map(text));
    }
    for call in numbered(of, "message.tool_calls") {
        let arguments = call.get("tool_call.function.arguments");
        parts.push(json!({
            "type": "tool_call",
            "id": call.get("tool_call.id"),
            "name": call.get("tool_call.function.name"),
            "arguments": arguments,
        }));
    }
    json!({"role": role, "parts": parts})
}

/// The value of a span that has no messages, if it is a text: JSON is the request or the answer of some library.
fn said(role: &str, attributes: &Attributes, side: &str) -> Option<Json> {
    let value = attributes.get(&format!("{side}.value"))?;
    let is_text = value.is_string() && in_text(value).is_string();
    is_text.then(|| json!([{"role": role, "parts": [{"type": "text", "content": value}]}]))
}
