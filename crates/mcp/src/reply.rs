//! What a tool answered, read from the wire.

use serde_json::{Map, Value};

/// The most questions in one result.
const MOST_REQUESTS: usize = 100;

/// The answer to one call, in the order of the wire.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolReply {
    /// Whether the tool reports a failure.
    pub is_error: bool,
    /// The result as one JSON value, if the server gives it; an explicit `null` is kept.
    pub structured: Option<Value>,
    /// The blocks of content.
    pub content: Vec<ContentBlock>,
}

/// One block of a tool's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentBlock {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Its bytes in base64, as they came.
        data_base64: String,
        /// For example `image/png`.
        media_type: String,
    },
    /// A sound.
    Audio {
        /// Its bytes in base64, as they came.
        data_base64: String,
        /// For example `audio/wav`.
        media_type: String,
    },
    /// A link to a resource: the block as it came.
    ResourceLink(Value),
    /// A resource itself.
    Resource {
        /// Where it belongs.
        uri: String,
        /// For example `text/markdown`.
        media_type: Option<String>,
        /// Its text, if it is one.
        text: Option<String>,
        /// Its bytes in base64, if it is no text.
        blob_base64: Option<String>,
    },
    /// A block of a kind we don't know, or one that lacks what its kind needs: as it came.
    Other(Value),
}

/// Why an answer is no [`ToolReply`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NoReply {
    /// The server wants answers first.
    NeedsInput(InputWanted),
    /// It breaks the protocol.
    Malformed(String),
}

/// What a server wants before it goes on with a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct InputWanted {
    /// Its requests by their keys, each with `method` and `params`.
    pub(super) requests: Map<String, Value>,
    /// What it wants back as it is.
    pub(super) state: Option<String>,
}

impl ToolReply {
    /// Reads a result that was recorded; `None` if it is no answer, such as a question of the server's.
    pub fn read(result: Value) -> Option<Self> {
        Self::from_wire(result).ok()
    }

    /// Reads the `result` of a `tools/call`.
    pub(super) fn from_wire(result: Value) -> Result<Self, NoReply> {
        let malformed = |text: &str| NoReply::Malformed(text.to_owned());
        let Value::Object(mut fields) = result else {
            return Err(malformed("the result is not an object"));
        };
        match fields.get("resultType").and_then(Value::as_str) {
            None | Some("complete") => {}
            Some("input_required") => return Err(wanted(fields)),
            Some(other) => {
                let text = format!("unexpected result type `{other}`");
                return Err(NoReply::Malformed(text));
            }
        }
        let is_error = match fields.get("isError") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(is_error)) => *is_error,
            Some(_) => return Err(malformed("`isError` is not a boolean")),
        };
        let structured = fields.remove("structuredContent");
        let content: Vec<ContentBlock> = match fields.remove("content") {
            // Nothing at all is the answer of a tool that has none; what says something says it in its place.
            None | Some(Value::Null) if structured.is_none() && says_something(&fields) => {
                return Err(malformed("the result has no `content`"));
            }
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(blocks)) => blocks.into_iter().map(ContentBlock::from_wire).collect(),
            Some(_) => return Err(malformed("`content` is not an array")),
        };
        let is_no_block = |block: &ContentBlock| matches!(block, ContentBlock::Other(block) if !block["type"].is_string());
        if content.iter().any(is_no_block) {
            return Err(malformed("a block of `content` has no `type`"));
        }
        let lacks_text = |block: &ContentBlock| matches!(block, ContentBlock::Other(block) if block["type"] == "text");
        if content.iter().any(lacks_text) {
            return Err(malformed("a block of text has no `text`"));
        }
        Ok(Self {
            is_error,
            structured,
            content,
        })
    }
}

fn says_something(fields: &Map<String, Value>) -> bool {
    let is_known = |key: &str| matches!(key, "isError" | "_meta" | "resultType");
    fields.keys().any(|key| !is_known(key))
}

impl ContentBlock {
    fn from_wire(mut block: Value) -> Self {
        Self::read(&mut block).unwrap_or(Self::Other(block))
    }

    /// The block, or nothing; only a block that is read is taken apart.
    fn read(block: &mut Value) -> Option<Self> {
        let fields = block.as_object_mut()?;
        match fields.get("type")?.as_str()? {
            "text" => Some(Self::Text(take_text(fields, "text")?)),
            "image" if has_media(fields) => Some(Self::Image {
                data_base64: take_text(fields, "data")?,
                media_type: take_text(fields, "mimeType")?,
            }),
            "audio" if has_media(fields) => Some(Self::Audio {
                data_base64: take_text(fields, "data")?,
                media_type: take_text(fields, "mimeType")?,
            }),
            "resource_link" => Some(Self::ResourceLink(std::mem::take(block))),
            "resource" => {
                let resource = fields.get_mut("resource")?.as_object_mut()?;
                let is = |name: &str| resource.get(name).is_some_and(Value::is_string);
                if !is("uri") || !(is("text") || is("blob")) {
                    return None;
                }
                Some(Self::Resource {
                    uri: take_text(resource, "uri")?,
                    media_type: take_text(resource, "mimeType"),
                    text: take_text(resource, "text"),
                    blob_base64: take_text(resource, "blob"),
                })
            }
            _ => None,
        }
    }
}

fn has_media(fields: &Map<String, Value>) -> bool {
    ["data", "mimeType"]
        .iter()
        .all(|name| fields.get(*name).is_some_and(Value::is_string))
}

/// The string called `name`, moved out; a value of another type stays.
fn take_text(fields: &mut Map<String, Value>, name: &str) -> Option<String> {
    match fields.get_mut(name)? {
        Value::String(text) => Some(std::mem::take(text)),
        _ => None,
    }
}

/// What an `input_required` result asks for.
fn wanted(mut fields: Map<String, Value>) -> NoReply {
    let malformed = |text: String| NoReply::Malformed(text);
    let requests = match fields.remove("inputRequests") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(requests)) if requests.len() > MOST_REQUESTS => {
            let text = format!("it asks more than {MOST_REQUESTS} questions at once");
            return malformed(text);
        }
        Some(Value::Object(requests)) => requests,
        Some(_) => return malformed("`inputRequests` is not an object".to_owned()),
    };
    let state = match fields.remove("requestState") {
        None | Some(Value::Null) => None,
        Some(Value::String(state)) => Some(state),
        Some(_) => return malformed("`requestState` is not a string".to_owned()),
    };
    if requests.is_empty() && state.is_none() {
        return malformed("it requests input without saying which".to_owned());
    }
    NoReply::NeedsInput(InputWanted { requests, state })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reply(result: Value) -> ToolReply {
        ToolReply::from_wire(result).expect("a reply")
    }

    #[test]
    fn every_kind_of_block_is_read_in_order() {
        let link = json!({ "type": "resource_link", "uri": "file:///a", "name": "a" });
        let odd = json!({ "type": "hologram", "x": [1] });
        let text_resource = json!({ "uri": "test://1", "mimeType": "text/plain", "text": "hi" });
        let read = reply(json!({
            "content": [
                { "type": "text", "text": "one", "annotations": { "priority": 1 } },
                { "type": "image", "data": "aGk=", "mimeType": "image/png" },
                { "type": "audio", "data": "aGk=", "mimeType": "audio/wav" },
                link.clone(),
                { "type": "resource", "resource": text_resource },
                { "type": "resource", "resource": { "uri": "test://2", "blob": "aGk=" } },
                odd.clone(),
            ],
            "isError": true,
        }));
        assert!(read.is_error);
        assert_eq!(
            read.content,
            [
                ContentBlock::Text("one".into()),
                ContentBlock::Image {
                    data_base64: "aGk=".into(),
                    media_type: "image/png".into()
                },
                ContentBlock::Audio {
                    data_base64: "aGk=".into(),
                    media_type: "audio/wav".into()
                },
                ContentBlock::ResourceLink(link),
                ContentBlock::Resource {
                    uri: "test://1".into(),
                    media_type: Some("text/plain".into()),
                    text: Some("hi".into()),
                    blob_base64: None,
                },
                ContentBlock::Resource {
                    uri: "test://2".into(),
                    media_type: None,
                    text: None,
                    blob_base64: Some("aGk=".into()),
                },
                ContentBlock::Other(odd),
            ]
        );
    }

    #[test]
    fn a_block_that_lacks_something_is_kept_whole() {
        for block in [
            json!({ "type": "image", "data": "aGk=" }),
            json!({ "type": "resource", "resource": { "uri": "u" } }),
            json!({ "type": "resource", "resource": { "text": "t" } }),
            json!({ "type": "of-tomorrow" }),
        ] {
            let read = reply(json!({ "content": [block.clone()] }));
            assert_eq!(read.content, [ContentBlock::Other(block)]);
        }
    }

    #[test]
    fn a_structured_null_is_kept_apart_from_none() {
        assert_eq!(
            reply(json!({ "structuredContent": null })).structured,
            Some(Value::Null)
        );
        assert_eq!(reply(json!({})), ToolReply::default());
    }

    #[test]
    fn what_is_no_reply_says_why() {
        let no = |value| ToolReply::from_wire(value).expect_err("no reply");
        assert_eq!(
            no(json!([])),
            NoReply::Malformed("the result is not an object".into())
        );
        assert_eq!(
            no(json!({ "content": "text" })),
            NoReply::Malformed("`content` is not an array".into())
        );
        assert_eq!(
            no(json!({ "isError": "yes" })),
            NoReply::Malformed("`isError` is not a boolean".into())
        );
        assert_eq!(
            no(json!({ "error": "disk full, nothing saved" })),
            NoReply::Malformed("the result has no `content`".into())
        );
        assert_eq!(
            no(json!({ "content": [{ "type": "text", "text": null }] })),
            NoReply::Malformed("a block of text has no `text`".into())
        );
        let request = json!({ "method": "elicitation/create", "params": {} });
        assert_eq!(
            no(json!({
                "resultType": "input_required",
                "inputRequests": { "a": request.clone(), "b": request.clone() },
                "requestState": "s",
            })),
            NoReply::NeedsInput(InputWanted {
                requests: Map::from_iter([
                    ("a".to_owned(), request.clone()),
                    ("b".to_owned(), request)
                ]),
                state: Some("s".to_owned()),
            })
        );
        let many: Map<String, Value> = (0..=MOST_REQUESTS)
            .map(|n| (n.to_string(), json!({})))
            .collect();
        for odd in [
            json!({ "resultType": "input_required" }),
            json!({ "resultType": "input_required", "inputRequests": [] }),
            json!({ "resultType": "input_required", "requestState": 1 }),
            json!({ "resultType": "input_required", "inputRequests": many }),
        ] {
            assert!(matches!(no(odd), NoReply::Malformed(_)));
        }
        assert!(matches!(
            no(json!({ "resultType": "task" })),
            NoReply::Malformed(_)
        ));
    }
}
