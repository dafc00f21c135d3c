//! What the clients say, in the words of each API.

use cuecard_timeline::script::Endpoint;
use cuecard_wire::llm::media::user_message;
use serde_json::{Value, json};

use super::Message;

/// What was said in the words of an API.
pub(super) fn messages(endpoint: Endpoint, said: &Message) -> Vec<Value> {
    match (endpoint, said) {
        (_, Message::User(texts, blocks)) => {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            match blocks.is_empty() && endpoint != Endpoint::Gemini {
                true => texts
                    .iter()
                    .map(|text| user_message(endpoint, &[text], &[]))
                    .collect(),
                false => vec![user_message(endpoint, &texts, blocks)],
            }
        }
        (Endpoint::Gemini, Message::Results(results)) => {
            let parts = results.iter().map(|result| {
                json!({"functionResponse": {
                    "id": result.id, "name": result.tool, "response": {"output": result.text},
                }})
            });
            vec![json!({"role": "user", "parts": parts.collect::<Vec<_>>()})]
        }
        (Endpoint::Gemini, Message::Model { texts, calls }) => {
            let text = |text: &str| json!({"text": text});
            let parts = in_order(texts, calls, text, |(id, name, args)| {
                json!({"functionCall": {"id": id, "name": name, "args": args}})
            });
            vec![json!({"role": "model", "parts": parts})]
        }
        (Endpoint::Messages, Message::Results(results)) => {
            let blocks = results.iter().map(|result| {
                json!({"type": "tool_result", "tool_use_id": result.id, "content": result.text})
            });
            vec![json!({"role": "user", "content": blocks.collect::<Vec<_>>()})]
        }
        (Endpoint::Messages, Message::Model { texts, calls }) => {
            let text = |text: &str| json!({"type": "text", "text": text});
            let mut blocks = in_order(texts, calls, text, |(id, name, args)| {
                json!({"type": "tool_use", "id": id, "name": name, "input": args})
            });
            blocks.retain(|block| block["text"] != "");
            vec![json!({"role": "assistant", "content": blocks})]
        }
        (Endpoint::Responses, Message::Results(results)) => results
            .iter()
            .map(|result| {
                json!({"type": "function_call_output", "call_id": result.id, "output": result.text})
            })
            .collect(),
        (Endpoint::Responses, Message::Model { texts, calls }) => {
            let text = |text: &str| {
                let content = json!([{"type": "output_text", "text": text}]);
                json!({"type": "message", "role": "assistant", "content": content})
            };
            in_order(texts, calls, text, |(id, name, args)| {
                let arguments = args.to_string();
                json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
            })
        }
        (_, Message::Results(results)) => results
            .iter()
            .map(|result| {
                json!({"role": "tool", "tool_call_id": result.id, "content": result.text})
            })
            .collect(),
        (_, Message::Model { texts, calls }) => {
            let mut message = json!({"role": "assistant", "content": texts.concat()});
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

/// Texts and the calls between them. An answer that is nothing is an empty text.
fn in_order(
    texts: &[String],
    calls: &[(String, String, Value)],
    text: impl Fn(&str) -> Value,
    call: impl Fn(&(String, String, Value)) -> Value,
) -> Vec<Value> {
    let mut parts = Vec::new();
    for (idx, said) in texts.iter().enumerate() {
        if !said.is_empty() || calls.is_empty() {
            parts.push(text(said));
        }
        parts.extend(calls.get(idx).map(&call));
    }
    parts
}
