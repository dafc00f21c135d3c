//! A tool call of the agent.

use std::sync::Arc;

use super::event::Entry;
use cuecard_source::Span;
use cuecard_source::value::Json;

/// `agentToolUse`, and every shorthand for it.
#[derive(Debug, Clone)]
pub struct ToolUse {
    /// The abstract name (`runCmd`), an MCP name (`mcp__server__tool`) or any other name, as it was written.
    pub tool: String,
    /// The name as the author wrote it, if that is an alias or an agent's own name.
    pub written_tool: Option<String>,
    /// Where the name stands.
    pub tool_span: Span,
    /// `args`, with the canonical names of arguments. Always an object.
    pub args: Arc<Json>,
    /// The arguments as the author wrote them, if some were renamed.
    pub written_args: Option<Arc<Json>>,
    /// Where the arguments stand.
    pub args_span: Span,
    /// `toolCallId`, or `call_<n>`, n counted over the file.
    pub call_id: String,
    /// `rawInput`, if it differs from the arguments.
    pub raw_input: Option<Json>,
    /// `rawArguments`: a text that is sent in place of the arguments, whatever it is.
    pub raw_arguments: Option<String>,
    /// `validate`: whether the call must be one that the request advertises. True unless it says otherwise.
    pub is_validated: bool,
    /// `kind`, if the author gave one.
    pub kind: Option<String>,
    /// `progress`.
    pub progress: Vec<Entry<String>>,
    /// `progress[].expectOutput`, by index of the progress entry.
    pub expected_output: Vec<(usize, String)>,
    /// `result`.
    pub result: Option<ExpectedResult>,
    /// `status`.
    pub status: ToolStatus,
    /// `toolExecution`.
    pub execution: Option<ToolExecution>,
    /// `delayMs` of an inline tool: how long after the cursor the call starts.
    pub delay_ms: u64,
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

/// `status` of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolStatus {
    /// `ok`.
    #[default]
    Ok,
    /// `error`.
    Error,
    /// `pending` or `in_progress`: the call has not ended, and no result is sent.
    Open,
}

/// `toolExecution`: the output of a simulated tool, over time.
#[derive(Debug, Clone)]
pub struct ToolExecution {
    /// `startTimeMs`: from the call's start.
    pub start_ms: u64,
    /// `events`, as written: a time that falls is pulled up by the schedule.
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
