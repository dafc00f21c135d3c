//! Which tab to work in.

use futures::StreamExt as _;
use serde_json::{Map, Value, json};

use super::execute_tool;
use crate::error::{Advice, ErrorKind, quote};
use crate::frames::{FrameSink as _, FrameSource, FrameWriter};
use crate::link::ReadEnd;

/// The most frames that may come before an answer.
const MOST_FRAMES: usize = 1_000;

/// The first tab there is, or a new one.
pub(super) async fn find(
    reader: &mut FrameSource,
    writer: &FrameWriter,
) -> Result<Value, ErrorKind> {
    let args = Map::from_iter([("createIfEmpty".to_owned(), Value::Bool(false))]);
    // No tab, or an extension that can't tell: both are what a new one is for.
    let answer = ask(reader, writer, 1, "tabs_context_mcp", &args).await?;
    let known = values(&answer)
        .iter()
        .find_map(|value| number(&value["availableTabs"][0]["tabId"]));
    if let Some(tab) = known {
        return Ok(tab);
    }
    let answer = ask(reader, writer, 2, "tabs_create_mcp", &Map::new()).await?;
    let texts = texts(&answer);
    values(&answer)
        .iter()
        .find_map(|value| number(&value["tabId"]))
        .or_else(|| texts.iter().find_map(|text| after_tab_id(text)))
        .ok_or_else(|| ErrorKind::Unusable {
            text: format!(
                "has no tab to work in, and did not open one{}",
                quote(&texts.join(" "))
            ),
            help: Advice::Do("open a tab in Chrome that the extension may use"),
        })
}

/// Calls a tool and gives its answer, result or error.
async fn ask(
    reader: &mut FrameSource,
    writer: &FrameWriter,
    id: u64,
    tool: &str,
    args: &Map<String, Value>,
) -> Result<Value, ErrorKind> {
    let frame = execute_tool(&json!(id), tool, args);
    writer.send(frame).await.map_err(|_| ErrorKind::Closed)?;
    for _ in 0..MOST_FRAMES {
        let frame = match reader.next().await {
            Some(Ok(frame)) => frame,
            Some(Err(ReadEnd::TooLarge(bound))) => return Err(ErrorKind::TooLarge { bound }),
            _ => return Err(ErrorKind::Closed),
        };
        let mut answer: Value =
            serde_json::from_slice(&frame).map_err(|error| ErrorKind::Protocol {
                text: format!("it answered with invalid JSON: {error}"),
            })?;
        let given = &answer["id"];
        // Nothing else is open, so an answer without an id is to this.
        let is_ours = given.is_null() || *given == json!(id) || *given == json!(id.to_string());
        if !is_ours {
            continue;
        }
        for key in ["error", "result"] {
            if !answer[key].is_null() {
                return Ok(answer[key].take());
            }
        }
    }
    Err(ErrorKind::Protocol {
        text: format!("more than {MOST_FRAMES} messages, and none answers `{tool}`"),
    })
}

/// What an answer says: its texts.
fn texts(answer: &Value) -> Vec<&str> {
    let content = &answer["content"];
    let blocks = content.as_array().into_iter().flatten();
    blocks
        .filter_map(|block| block["text"].as_str().or(block.as_str()))
        .chain(content.as_str())
        .chain(answer["message"].as_str())
        .chain(answer.as_str())
        .collect()
}

/// What an answer holds: itself, its structured part, and what its texts are the JSON of.
fn values(answer: &Value) -> Vec<Value> {
    let mut values = vec![answer.clone(), answer["structuredContent"].clone()];
    values.extend(
        texts(answer)
            .iter()
            .filter_map(|text| serde_json::from_str(text).ok()),
    );
    values
}

fn number(value: &Value) -> Option<Value> {
    value.is_number().then(|| value.clone())
}

/// The number in `Tab ID: 7`.
fn after_tab_id(text: &str) -> Option<Value> {
    let (_, rest) = text.split_once("Tab ID:")?;
    let digits = rest
        .trim_start()
        .split(|c: char| !c.is_ascii_digit())
        .next()?;
    digits.parse::<u64>().ok().map(Value::from)
}
