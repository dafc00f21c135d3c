//! What the clients say, in the words of each API.

use cuecard_timeline::script::Endpoint;
use serde_json::{Value, json};

use super::Message;

/// A block in the words of an API.
fn block(endpoint: Endpoint, (kind, data): &(&str, String)) -> Value {
    let url = |mime: &str| format!("data:{mime};base64,{data}");
    let source = |mime: &str| json!({"type": "base64", "media_type": mime, "data": data});
    if data.contains("://") {
        return match endpoint {
            Endpoint::Chat => json!({"type": "file", "file": {"file_id": data}}),
            Endpoint::Responses => json!({"type": "input_file", "file_url": data}),
            Endpoint::Messages => {
                json!({"type": "document", "source": {"type": "url", "url": data}})
            }
            Endpoint::Gemini => {
                json!({"fileData": {"mimeType": "text/plain", "fileUri": data}})
            }
        };
    }
    match (endpoint, *kind) {
        (Endpoint::Chat, "image") => {
            json!({"type": "image_url", "image_url": {"url": url("image/png")}})
        }
        (Endpoint::Chat | Endpoint::Responses, "audio") => {
            json!({"type": "input_audio", "input_audio": {"data": data, "format": "wav"}})
        }
        (Endpoint::Chat, _) => json!({"type": "file", "file": {"file_data": url("text/plain")}}),
        (Endpoint::Responses, "image") => {
            json!({"type": "input_image", "image_url": url("image/png")})
        }
        (Endpoint::Responses, _) => json!({"type": "input_file", "file_data": url("text/plain")}),
        (Endpoint::Messages, "image") => json!({"type": "image", "source": source("image/png")}),
        (Endpoint::Messages, "audio") => {
            json!({"type": "document", "source": source("audio/wav")})
        }
        (Endpoint::Messages, _) => json!({"type": "document", "source": source("text/plain")}),
        (Endpoint::Gemini, kind) => {
            let mime = match kind {
                "image" => "image/png",
                "audio" => "audio/wav",
                _ => "text/plain",
            };
            json!({"inlineData": {"mimeType": mime, "data": data}})
        }
    }
}

/// What was said in the words of an API.
pub(super) fn messages(endpoint: Endpoint, said: &Message) -> Vec<Value> {
    match (endpoint, said) {
        (Endpoint::Gemini, Message::User(texts, blocks)) => {
            let mut parts: Vec<_> = texts.iter().map(|text| json!({"text": text})).collect();
            parts.extend(blocks.iter().map(|block| self::block(endpoint, block)));
            vec![json!({"role": "user", "parts": parts})]
        }
        (_, Message::User(texts, blocks)) if !blocks.is_empty() => {
            let kind = if endpoint == Endpoint::Responses { "input_text" } else { "text" };
            let texts = texts.iter().map(|text| json!({"type": kind, "text": text}));
            let blocks = blocks.iter().map(|block| self::block(endpoint, block));
            vec![json!({"role": "user", "content": texts.chain(blocks).collect::<Vec<_>>()})]
        }
        (Endpoint::Gemini, Message::Results(results)) => {
            let parts = results.iter().map(|result| {
                json!({"functionResponse": {
                    "id": result.id, "name": result.tool, "response": {"output": result.text},
                }})
            });
            vec![json!({"role": "user", "parts": parts.collect::<Vec<_>>()})]
        }
        (Endpoint::Gemini, Message::Model { text, calls }) => {
            let mut parts = vec![json!({"text": text})];
            parts.extend(calls.iter().map(
                |(id, name, args)| json!({"functionCall": {"id": id, "name": name, "args": args}}),
            ));
            vec![json!({"role": "model", "parts": parts})]
        }
        (_, Message::User(texts, _)) => texts
            .iter()
            .map(|text| json!({"role": "user", "content": text}))
            .collect(),
        (Endpoint::Messages, Message::Results(results)) => {
            let blocks = results.iter().map(|result| {
                json!({"type": "tool_result", "tool_use_id": result.id, "content": result.text})
            });
            vec![json!({"role": "user", "content": blocks.collect::<Vec<_>>()})]
        }
        (Endpoint::Messages, Message::Model { text, calls }) => {
            let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
            let mut blocks: Vec<Value> = text.into_iter().collect();
            blocks.extend(calls.iter().map(|(id, name, args)| {
                json!({"type": "tool_use", "id": id, "name": name, "input": args})
            }));
            vec![json!({"role": "assistant", "content": blocks})]
        }
        (Endpoint::Responses, Message::Results(results)) => results
            .iter()
            .map(|result| {
                json!({"type": "function_call_output", "call_id": result.id, "output": result.text})
            })
            .collect(),
        (Endpoint::Responses, Message::Model { text, calls }) => {
            let mut items = Vec::new();
            if !text.is_empty() || calls.is_empty() {
                let content = json!([{"type": "output_text", "text": text}]);
                items.push(json!({"type": "message", "role": "assistant", "content": content}));
            }
            items.extend(calls.iter().map(|(id, name, args)| {
                let arguments = args.to_string();
                json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
            }));
            items
        }
        (_, Message::Results(results)) => results
            .iter()
            .map(|result| {
                json!({"role": "tool", "tool_call_id": result.id, "content": result.text})
            })
            .collect(),
        (_, Message::Model { text, calls }) => {
            let mut message = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                let calls = calls.iter().map(|(id, name, args)| {
                    json!({"id": id, "type": "function", "function": {
                        "name": name, "arguments": args.to_string(),
                    }})
                });
                message["tool_calls"] = calls.collect::<Vec<_>>().into();
            }
            vec![message]
        }
    }
}
