//! Reads the lines of a cassette as a recording.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{Call, Outcome, Recording, RpcError, Server, Tool};

#[derive(Deserialize)]
struct ServerLine {
    #[serde(rename = "cassette")]
    _version: u32,
    #[serde(default)]
    server: String,
    #[serde(default)]
    introduction: Value,
    #[serde(default)]
    tools: Vec<Value>,
}

#[derive(Deserialize)]
struct CallLine {
    server: Option<String>,
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    result: Option<Value>,
    error: Option<ErrorLine>,
    started: Option<f64>,
    duration: Option<f64>,
}

#[derive(Deserialize)]
struct ErrorLine {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Value,
}

/// Whether a text begins as cassettes do.
pub fn is_cassette(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| serde_json::from_str::<ServerLine>(line).is_ok())
}

/// The recording that a cassette keeps. A last line that was cut off is left out.
///
/// # Errors
/// The number of a line that can't be read, and why.
pub fn read_cassette(text: &str) -> Result<Recording, (usize, String)> {
    let mut recording = Recording::default();
    let n_lines = text.lines().count();
    for (line, number) in text
        .lines()
        .zip(1..)
        .filter(|(line, _)| !line.trim().is_empty())
    {
        if let Ok(line) = serde_json::from_str::<ServerLine>(line) {
            recording
                .servers
                .retain(|server| server.name != line.server);
            let tool = |description: Value| Tool {
                name: description["name"].as_str().unwrap_or_default().to_owned(),
                description,
            };
            recording.servers.push(Server {
                name: line.server,
                introduction: line.introduction,
                tools: line.tools.into_iter().map(tool).collect(),
            });
            continue;
        }
        let line: CallLine = match serde_json::from_str(line) {
            Ok(line) => line,
            Err(error) if error.is_eof() && number == n_lines && !text.ends_with('\n') => break,
            Err(error) => return Err((number, error.to_string())),
        };
        let last = recording.servers.last().map(|server| server.name.clone());
        let seconds = |time: Option<f64>| Duration::try_from_secs_f64(time?).ok();
        recording.calls.push(Call {
            server: Some(line.server.or(last).unwrap_or_default()),
            tool: line.tool,
            arguments: line.arguments,
            outcome: match (line.result, line.error) {
                (_, Some(error)) => Outcome::Error(RpcError {
                    code: error.code,
                    message: error.message,
                    data: error.data,
                }),
                (Some(result), None) => Outcome::Result(whole(result)),
                (None, None) => Outcome::Missing,
            },
            started: seconds(line.started),
            duration: seconds(line.duration),
            notifications: Vec::new(),
        });
    }
    Ok(recording)
}

/// A result as it goes over the wire, where only its value was written.
fn whole(result: Value) -> Value {
    if result.get("content").is_some_and(Value::is_array) {
        return result;
    }
    let text = cuecard_source::value::as_text(&result).into_owned();
    let mut whole = json!({ "content": [{ "type": "text", "text": text }] });
    if result.is_object() {
        whole["structuredContent"] = result;
    }
    whole
}
