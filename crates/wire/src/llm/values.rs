//! Values that a provider refuses although a request can be understood without them.

use cuecard_source::value::Json;
use cuecard_timeline::script::Endpoint::{self, Chat, Gemini, Messages, Responses};

use super::demands;
use super::errors::ApiError;
use super::fault::{Expected, Fault, FaultKind};
use super::node::Node;

/// Members at the top that only other APIs have, or older ones of the same provider, and the APIs that refuse them.
const FOREIGN: &[(&str, &[Endpoint])] = &[
    ("frequency_penalty", &[Messages]),
    ("generationConfig", &[Chat, Responses]),
    ("max_completion_tokens", &[Messages, Responses]),
    ("max_output_tokens", &[Messages, Chat]),
    ("max_tokens", &[Responses, Gemini]),
    ("n", &[Messages, Responses]),
    ("presence_penalty", &[Messages]),
    ("response_format", &[Messages, Responses, Gemini]),
    ("stop", &[Messages, Responses, Gemini]),
    ("stop_sequences", &[Chat, Responses]),
    ("stream", &[Gemini]),
    ("system", &[Gemini]),
    ("temperature", &[Gemini]),
    ("tool_choice", &[Gemini]),
];

/// The types of blocks that only other APIs have, and the APIs that refuse them.
const FOREIGN_BLOCKS: &[(&str, &[Endpoint])] = &[
    ("image", &[Chat, Responses]),
    ("image_url", &[Messages, Responses]),
    ("input_audio", &[Messages]),
    ("input_file", &[Messages, Chat]),
    ("input_image", &[Messages, Chat]),
    ("input_text", &[Messages, Chat]),
    ("output_text", &[Messages, Chat]),
    ("text", &[Responses]),
    ("tool_result", &[Responses]),
    ("tool_use", &[Responses]),
];

/// The blocks that each API has, as far as its error lists them.
const CHAT_BLOCKS: &[&str] = &["text", "image_url", "input_audio", "refusal", "file"];
const MESSAGES_BLOCKS: &[&str] = &["text", "image", "document", "tool_use", "tool_result"];
const RESPONSES_BLOCKS: &[&str] = &["input_text", "input_image", "input_file", "output_text"];

/// The refusal of the provider, if it refuses a value. `betas` are what the header `anthropic-beta` asks for.
pub fn refusal(endpoint: Endpoint, body: &Json, betas: &str) -> Option<ApiError> {
    let fault = check(endpoint, &Node::root(body)).err();
    fault
        .map(|fault| fault.error(endpoint))
        .or_else(|| demands::refusal(endpoint, body, betas))
}

fn check(endpoint: Endpoint, body: &Node<'_, '_>) -> Result<(), Fault> {
    let foreign = FOREIGN.iter().filter(|(_, of)| of.contains(&endpoint));
    for (name, _) in foreign {
        if let Some(member) = body.get(name) {
            return Err(member.fault(FaultKind::Foreign));
        }
    }
    if endpoint == Endpoint::Gemini {
        let Some(config) = body.either("generationConfig", "generation_config") else {
            return Ok(());
        };
        within(config.get("temperature"), 2)?;
        return within(config.either("topP", "top_p"), 1);
    }
    let hottest = if endpoint == Endpoint::Messages { 1 } else { 2 };
    within(body.get("temperature"), hottest)?;
    within(body.get("top_p"), 1)?;
    if endpoint == Endpoint::Chat
        && let Some(seed) = body.get("seed").filter(|seed| !seed.json.is_i64())
    {
        return Err(seed.mistyped(Expected::Count));
    }
    let (messages, allowed) = match endpoint {
        Endpoint::Messages => ("messages", MESSAGES_BLOCKS),
        Endpoint::Responses => ("input", RESPONSES_BLOCKS),
        Endpoint::Chat | Endpoint::Gemini => ("messages", CHAT_BLOCKS),
    };
    let is_foreign = |kind: &str| {
        let mut foreign = FOREIGN_BLOCKS.iter();
        foreign.any(|(name, of)| *name == kind && of.contains(&endpoint))
    };
    let Some(messages) = body.get(messages).filter(|list| list.json.is_array()) else {
        return Ok(());
    };
    messages.each(|message| {
        let content = message.get("content");
        let Some(content) = content.filter(|content| content.json.is_array()) else {
            return Ok(());
        };
        content.each(|block| match block.get("type") {
            Some(kind) if kind.json.as_str().is_some_and(is_foreign) => {
                Err(kind.fault(FaultKind::Unknown(allowed)))
            }
            _ => Ok(()),
        })
    })
}

/// A number from 0 to `most`.
fn within(node: Option<Node<'_, '_>>, most: u32) -> Result<(), Fault> {
    let Some(node) = node else { return Ok(()) };
    match node.json.as_f64() {
        None => Err(node.mistyped(Expected::Number)),
        Some(number) if (0.0..=f64::from(most)).contains(&number) => Ok(()),
        Some(_) => Err(node.fault(FaultKind::Outside { most })),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_provider_refuses_is_refused() {
        let said = |body: Json, endpoint| refusal(endpoint, &body, "").map(|error| error.message);
        for (endpoint, body, message) in [
            (
                Endpoint::Chat,
                json!({"temperature": 5}),
                "Invalid 'temperature': expected a value from 0 to 2, but got 5 instead.",
            ),
            (
                Endpoint::Chat,
                json!({"top_p": "x"}),
                "Invalid type for 'top_p': expected a number, but got a string instead.",
            ),
            (
                Endpoint::Chat,
                json!({"messages": [{"content": [{"type": "input_text", "text": "a"}]}]}),
                "Invalid value: 'input_text'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal' and 'file'.",
            ),
            (
                Endpoint::Chat,
                json!({"seed": "x"}),
                "Invalid type for 'seed': expected an integer, but got a string instead.",
            ),
            (
                Endpoint::Messages,
                json!({"temperature": 1.5}),
                "temperature: Input should be from 0 to 1",
            ),
            (
                Endpoint::Messages,
                json!({"n": 2}),
                "n: Extra inputs are not permitted",
            ),
            (
                Endpoint::Responses,
                json!({"max_tokens": 3}),
                "Unknown parameter: 'max_tokens'.",
            ),
            (
                Endpoint::Gemini,
                json!({"generationConfig": {"temperature": 9}}),
                "Invalid value at 'generationConfig.temperature', 9",
            ),
        ] {
            assert_eq!(said(body, endpoint).as_deref(), Some(message));
        }
        for (endpoint, body) in [
            (
                Endpoint::Chat,
                json!({"temperature": null, "top_p": 1, "max_tokens": 3, "n": 1}),
            ),
            (
                Endpoint::Messages,
                json!({"temperature": 1, "messages": [{"content": "a"}]}),
            ),
            (
                Endpoint::Responses,
                json!({"input": [{"content": [{"type": "input_text", "text": "a"}]}]}),
            ),
            (Endpoint::Gemini, json!({"generationConfig": {"topP": 0.5}})),
        ] {
            assert_eq!(said(body, endpoint), None);
        }
    }
}
