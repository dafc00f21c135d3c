//! Which calls of the extension are open, and what its answers mean in MCP.

use std::collections::VecDeque;

use cuecard_source::json::read_value;
use serde_json::{Map, Value, json};

/// The most calls remembered that were given up: an answer without an id may be to one of them.
const MOST_GIVEN_UP: usize = 1_000;

/// The calls that wait for answers, oldest first.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    calls: VecDeque<Call>,
}

#[derive(Debug)]
struct Call {
    id: Value,
    is_given_up: bool,
}

impl OpenCalls {
    /// A call was sent.
    pub(super) fn opened(&mut self, id: &Value) {
        self.calls.push_back(Call {
            id: id.clone(),
            is_given_up: false,
        });
    }

    /// Nobody waits for the answer any more. It may still come, as the extension can't be told.
    pub(super) fn given_up(&mut self, id: &Value) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == *id) {
            call.is_given_up = true;
        }
        let given_up = |call: &Call| call.is_given_up;
        if self.calls.iter().filter(|call| given_up(call)).count() > MOST_GIVEN_UP
            && let Some(oldest) = self.calls.iter().position(given_up)
        {
            self.calls.remove(oldest);
        }
    }

    /// A frame of the extension as a message of MCP. What is no answer stays as it is; nothing is left of
    /// an answer that nobody waits for.
    pub(super) fn translate(&mut self, frame: Vec<u8>) -> Option<Vec<u8>> {
        let Ok(Value::Object(mut answer)) = read_value(&frame) else {
            return Some(frame);
        };
        let result = match (answer.remove("result"), answer.remove("error")) {
            (_, Some(error)) if !error.is_null() => failure(error),
            (Some(result), _) => success(result),
            _ => return Some(frame),
        };
        let id = match answer.remove("id") {
            None | Some(Value::Null) => match self.calls.pop_front() {
                Some(call) if call.is_given_up => return None,
                Some(call) => call.id,
                None => return Some(frame),
            },
            Some(id) => {
                let place = self.calls.iter().position(|call| is_same(&call.id, &id));
                if let Some(place) = place {
                    let call = self.calls.remove(place);
                    if call.is_some_and(|call| call.is_given_up) {
                        return None;
                    }
                }
                id
            }
        };
        let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        Some(message.to_string().into_bytes())
    }
}

/// Whether `theirs` is `ours`, which may have become a text on the way.
fn is_same(ours: &Value, theirs: &Value) -> bool {
    ours == theirs
        || theirs
            .as_str()
            .is_some_and(|text| ours.as_i64().is_some_and(|ours| text.parse() == Ok(ours)))
}

/// The result of a call that worked.
fn success(result: Value) -> Value {
    match result {
        Value::Object(mut fields) => {
            let content = fields.remove("content").unwrap_or(Value::Null);
            fields.insert("content".to_owned(), blocks(content));
            Value::Object(fields)
        }
        other => json!({ "content": blocks(other) }),
    }
}

/// The result of a call that failed: the tool says so, and not the protocol.
fn failure(error: Value) -> Value {
    let content = match error {
        Value::Object(mut fields) => fields
            .remove("content")
            .filter(|content| !content.is_null())
            .or_else(|| fields.remove("message"))
            .unwrap_or(Value::Object(fields)),
        other => other,
    };
    json!({ "content": blocks(content), "isError": true })
}

/// Content as a list of blocks, whatever it was.
fn blocks(content: Value) -> Value {
    match content {
        Value::Array(blocks) => blocks
            .into_iter()
            .map(|block| match block {
                Value::Object(fields) => Value::Object(image(fields)),
                other => text(&other),
            })
            .collect(),
        Value::Null => json!([]),
        other => json!([text(&other)]),
    }
}

fn text(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    json!({ "type": "text", "text": text })
}

/// An image as in MCP: the extension writes images as models take them, `source: {media_type, data}`.
fn image(mut block: Map<String, Value>) -> Map<String, Value> {
    if block.get("type").and_then(Value::as_str) == Some("image")
        && let Some(Value::Object(mut source)) = block.remove("source")
    {
        let data = source.remove("data").unwrap_or_default();
        let kind = source.remove("media_type").unwrap_or_default();
        block.insert("data".to_owned(), data);
        block.insert("mimeType".to_owned(), kind);
    }
    block
}
