//! The calls of one session, whatever they were taken from.

use std::time::Duration;

use cuecard_source::value::Redactor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::cassette::Notification;
use crate::marks::Marks;

/// The tool calls of one session, in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// What the user asked for, if the source tells it (transcripts do).
    pub prompts: Vec<String>,
    /// How many calls were made before each prompt; shorter than the prompts if the source doesn't tell.
    pub prompted_at: Vec<usize>,
    /// The servers that were called.
    pub servers: Vec<Server>,
    /// The calls, by the time they began.
    pub calls: Vec<Call>,
    /// What the source can't tell of calls, by their places from 1.
    pub doubts: Vec<(usize, String)>,
    /// Calls that had an effect and can't be made again, each with the reason, by the places of the calls behind them.
    pub gaps: Vec<(usize, String)>,
    /// The days on which it was made (UTC), such as `2026-03-04`, as far as the source tells.
    pub days: Vec<String>,
}

/// The days of points in time as RFC 3339 writes them.
pub(crate) fn days<'t>(times: impl Iterator<Item = &'t str>) -> Vec<String> {
    let days = times.filter_map(|time| Some(time.split_once('T')?.0));
    let mut days: Vec<String> = days.map(str::to_owned).collect();
    days.dedup();
    days
}

impl Recording {
    /// Puts marks in the place of secrets, which are given as names of variables and values: so they become these variables,
    /// and are in nothing that is made of the recording.
    pub fn hide(&mut self, secrets: &[(String, String)]) {
        if secrets.is_empty() {
            return;
        }
        let redactor = Redactor::new(secrets.iter().map(|(_, value)| value.clone()));
        let names = secrets
            .iter()
            .map(|(name, value)| (value.clone(), name.clone()));
        let marks = Marks {
            salt: 0,
            names: names.collect(),
        };
        let hide = |value: &mut Value| marks.hide(&redactor, value);
        let hide_text = |text: &mut String| {
            let mut value = Value::from(std::mem::take(text));
            hide(&mut value);
            if let Value::String(hidden) = value {
                *text = hidden;
            }
        };
        self.prompts.iter_mut().for_each(hide_text);
        for (_, text) in self.doubts.iter_mut().chain(&mut self.gaps) {
            hide_text(text);
        }
        for call in &mut self.calls {
            let mut arguments = Value::Object(std::mem::take(&mut call.arguments));
            hide(&mut arguments);
            if let Value::Object(hidden) = arguments {
                call.arguments = hidden;
            }
            match &mut call.outcome {
                Outcome::Result(value) | Outcome::BuiltIn(value) => hide(value),
                Outcome::Error(error) => {
                    hide_text(&mut error.message);
                    hide(&mut error.data);
                }
                Outcome::Missing => {}
            }
        }
    }

    /// Whether the secret of this name is [hidden](Self::hide) somewhere in the recording.
    pub fn hides(&self, name: &str) -> bool {
        let written = json!([self.prompts, self.calls]).to_string();
        written.contains(&format!("[redacted-{name}]"))
    }
}

/// A server as it introduced itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Server {
    /// The name in the configuration; `mcp__NAME__…` in scenarios.
    pub name: String,
    /// Its answer to `initialize` or `server/discover`, as it came; null if unknown.
    pub introduction: Value,
    /// The tools that it listed; empty if nobody asked for the list.
    pub tools: Vec<Tool>,
}

/// An entry of `tools/list`, whole: it has a name, and whatever else the server says of the tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Map<String, Value>", into = "Value")]
#[schemars(rename = "ToolEntry", with = "Map<String, Value>")]
pub struct Tool {
    /// The name, without the server's.
    pub name: String,
    /// The whole entry of `tools/list`, an object with `inputSchema`, `outputSchema` and `annotations`.
    pub description: Value,
}

impl TryFrom<Map<String, Value>> for Tool {
    type Error = &'static str;

    fn try_from(entry: Map<String, Value>) -> Result<Self, Self::Error> {
        let name = entry.get("name").and_then(Value::as_str);
        let name = name.ok_or("a tool needs a `name`, which is a string")?;
        Ok(Self {
            name: name.to_owned(),
            description: Value::Object(entry),
        })
    }
}

impl From<Tool> for Value {
    fn from(tool: Tool) -> Self {
        tool.description
    }
}

/// One call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Call {
    /// The name of the server; `None` for the agent's own tools, which scenarios call `claude__*`.
    pub server: Option<String>,
    /// The tool's name as its server knows it, or the whole name of a built-in tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// The answer.
    pub outcome: Outcome,
    /// The time between the beginning of the recording and of the call, if it is known.
    pub started: Option<Duration>,
    /// The time that the call took, if it is known.
    pub duration: Option<Duration>,
    /// The notifications that came for the call before its answer.
    pub notifications: Vec<Notification>,
}

impl Call {
    /// The time until its answer, if one came that is no failure.
    pub(crate) fn took(&self) -> Option<Duration> {
        self.duration.filter(|_| self.outcome.is_success())
    }
}

/// The answer to a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub enum Outcome {
    /// The result of an MCP server: `content`, `structuredContent`, `isError` and whatever else it sent.
    Result(Value),
    /// The result of a built-in tool, an object with the fields that scenarios know.
    BuiltIn(Value),
    /// An error of the protocol.
    Error(RpcError),
    /// None: the session ended, or the server died, before it came.
    #[default]
    Missing,
}

impl Outcome {
    /// Whether it is the result of a call that did not fail.
    pub fn is_success(&self) -> bool {
        match self {
            Self::Result(result) => result["isError"] != true,
            Self::BuiltIn(_) => true,
            Self::Error(_) | Self::Missing => false,
        }
    }
}

/// An error of JSON-RPC.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ErrorLine")]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}
