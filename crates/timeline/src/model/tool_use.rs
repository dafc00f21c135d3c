//! A tool call of the agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::event::{Entry, yes};
use crate::format::{ExecutionForm, MessagesInTime, filled, messages_in_time, object, time};
use cuecard_source::Span;
use cuecard_source::decode::nullable;
use cuecard_source::value::Json;

/// A call of a tool by the agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self", rename_all = "camelCase")]
#[schemars(rename = "tool_use")]
pub struct ToolUse {
    /// The tool: an abstract name (`runCmd`), an MCP name (`mcp__server__tool`) or any other name.
    #[serde(rename = "toolName", deserialize_with = "filled")]
    pub tool: String,
    /// The name as the author wrote it, if that is an alias or an agent's own name.
    #[serde(skip)]
    pub written_tool: Option<String>,
    /// Where the name stands.
    #[serde(skip)]
    pub tool_span: Span,
    /// Its arguments: always an object.
    #[serde(default = "no_arguments", deserialize_with = "object")]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub args: Arc<Json>,
    /// The arguments as the author wrote them, if some were renamed.
    #[serde(skip)]
    pub written_args: Option<Arc<Json>>,
    /// Where the arguments stand.
    #[serde(skip)]
    pub args_span: Span,
    /// What it says while it runs.
    #[serde(default, deserialize_with = "messages_in_time")]
    #[schemars(with = "MessagesInTime")]
    pub progress: Vec<Entry<String>>,
    /// `progress[].expectOutput`, by index of the progress entry.
    #[serde(skip)]
    pub expected_output: Vec<(usize, String)>,
    /// What it gives back.
    #[serde(default, alias = "?result", deserialize_with = "nullable")]
    #[schemars(with = "Json")]
    pub result: Option<ExpectedResult>,
    /// Whether it works (default: ok).
    #[serde(default)]
    pub status: ToolStatus,
    /// Its output over time, where nothing runs.
    #[serde(rename = "toolExecution")]
    pub execution: Option<ToolExecution>,
    /// Milliseconds before it starts (default: 0).
    #[serde(default, deserialize_with = "time")]
    pub delay_ms: u64,
    /// Id of the call (default: `call_<n>`, counted over the file).
    #[serde(rename = "toolCallId", default, deserialize_with = "filled")]
    pub call_id: String,
    /// Input shown to the client (default: the arguments).
    #[serde(default, alias = "?rawInput", deserialize_with = "nullable")]
    pub raw_input: Option<Json>,
    /// Text that a model sends in place of the arguments, whatever it is.
    pub raw_arguments: Option<String>,
    /// Whether the call must be one that the request advertises (default: true).
    #[serde(rename = "validate", default = "yes")]
    pub is_validated: bool,
    /// Kind of the call (default: the tool's).
    pub kind: Option<CallKind>,
}

fn no_arguments() -> Arc<Json> {
    Arc::new(Json::Object(serde_json::Map::new()))
}

words! {
    /// What a call is for an editor.
    pub enum CallKind {
        /// Reads.
        Read = "read",
        /// Changes a file.
        Edit = "edit",
        /// Deletes a file.
        Delete = "delete",
        /// Moves a file.
        Move = "move",
        /// Searches.
        Search = "search",
        /// Runs something.
        Execute = "execute",
        /// Thinks.
        Think = "think",
        /// Fetches something.
        Fetch = "fetch",
        /// Changes the mode.
        SwitchMode = "switch_mode",
        /// Anything else.
        Other = "other",
    }
}

impl ToolUse {
    /// Whether it is a command that ends when it ends: the script has no time for that.
    pub fn has_own_end(&self) -> bool {
        self.tool == "runCmd"
            && self.progress.is_empty()
            && self.execution.is_none()
            && self.status != ToolStatus::Open
    }
}

/// `result` of a tool call: what is sent as its result, and what a real one is compared with.
#[derive(Debug, Clone)]
pub enum ExpectedResult {
    /// Any value: a string is sent as it is, everything else as JSON.
    Value(Json),
    /// `{contains: text}`: only for comparing.
    Contains(String),
    /// `{regex: pattern}`: only for comparing.
    Regex(regex::Regex),
    /// `{json: value}`: the result read as JSON equals it.
    Json(Json),
}

/// How a tool call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ToolStatus {
    /// It works.
    #[default]
    Ok,
    /// It fails.
    Error,
    /// The call has not ended, and no result is sent.
    #[serde(rename = "pending", alias = "in_progress")]
    #[schemars(skip)]
    Open,
}

/// The output of a simulated tool, over time.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "tool_execution")]
pub struct ToolExecution {
    /// From the start of the call.
    #[serde(rename = "startTimeMs", default, deserialize_with = "time")]
    pub start_ms: u64,
    /// What happens, as written: a time that falls is pulled up by the schedule.
    #[serde(default)]
    #[schemars(with = "Vec<ExecutionForm>")]
    pub events: Vec<ToolExecutionEvent>,
}

/// One of them.
#[derive(Debug, Clone)]
pub struct ToolExecutionEvent {
    /// `timeMs`: from the execution's start.
    pub time_ms: u64,
    /// What happens.
    pub kind: ToolExecutionKind,
    /// Where it stands.
    pub span: Span,
}

/// What happens while a tool runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolExecutionKind {
    /// `stdout`.
    Stdout(String),
    /// `stderr`.
    Stderr(String),
    /// `progress`.
    Progress(String),
    /// `completion`.
    Completion {
        /// `exitCode`.
        exit_code: i64,
        /// `content`.
        content: Option<String>,
    },
}
