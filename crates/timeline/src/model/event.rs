//! The events of a timeline.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::content::{Block, PlanEntry};
use super::fault::Fault;
use super::stop_reason::StopReasons;
use super::tool_use::ToolUse;
use crate::format::{
    AssertForm, FileChecks, FileReads, InitializeForm, InputsInTime, PermissionForm, absolute,
    blocks_in_time, file_checks, file_reads, filled, headers, included_path, inputs_in_time,
    object, pairs, plan_entries, prompt_response, status_code, texts, texts_in_time, time,
    workspace_path,
};
use cuecard_source::Span;
use cuecard_source::value::Json;

/// One event, where it stands in the flattened list.
#[derive(Debug, Clone)]
pub struct TimelineEvent {
    /// What it asks.
    pub kind: EventKind,
    /// Where it was written, as people count it: `timeline[7].agentActions[1]`.
    pub path: String,
    /// Where it stands.
    pub span: Span,
    /// `_meta`, all of its places merged; null if there is none.
    pub meta: Json,
    /// `fault`.
    pub fault: Option<Fault>,
}

/// What an event asks.
#[derive(Debug, Clone, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum EventKind {
    /// `llmResponse`.
    #[serde(skip)]
    #[strum(serialize = "llmResponse")]
    Response(Response),
    /// A call of a tool by the agent.
    #[serde(rename = "agentToolUse")]
    #[strum(serialize = "agentToolUse")]
    ToolUse(ToolUse),
    /// The agent changes a file.
    AgentEdits(AgentEdits),
    /// The agent plans.
    AgentPlan(AgentPlan),
    /// The agent reads files through the client.
    AgentFileReads(
        #[serde(deserialize_with = "file_reads")]
        #[schemars(with = "FileReads")]
        Vec<FileRead>,
    ),
    /// The agent asks for permission.
    #[serde(rename = "agentPermissionRequest")]
    #[strum(serialize = "agentPermissionRequest")]
    PermissionRequest(#[schemars(with = "PermissionForm")] PermissionRequest),
    /// A notification of an extension.
    Notify(Notify),
    /// What the user says or types, in order, never empty.
    UserInputs(
        #[serde(deserialize_with = "inputs_in_time")]
        #[schemars(with = "InputsInTime")]
        Vec<UserInput>,
    ),
    /// The user changes files.
    UserEdits {
        /// A unified diff next to the timeline.
        #[serde(deserialize_with = "included_path")]
        patch: PathBuf,
        /// When, from the base.
        #[serde(rename = "at", default, deserialize_with = "time")]
        at_ms: Option<u64>,
    },
    /// The user runs a command.
    UserCommand(UserCommand),
    /// The user stops the agent.
    UserCancelSession {
        /// When, from the base.
        #[serde(rename = "at", default, deserialize_with = "time")]
        at_ms: Option<u64>,
    },
    /// The test executor applies a patch.
    ApplyPatch(ApplyPatch),
    /// The client opens the connection.
    Initialize(#[schemars(with = "InitializeForm")] Initialize),
    /// The client authenticates.
    Authenticate(Authenticate),
    /// The client chooses a mode.
    SetMode {
        /// The mode.
        #[serde(rename = "modeId", deserialize_with = "filled")]
        mode_id: String,
    },
    /// The client chooses a model.
    SetModel {
        /// The model.
        #[serde(rename = "modelId", deserialize_with = "filled")]
        model_id: String,
    },
    /// What stands above is history.
    SessionStart(SessionStart),
    /// Moves the base of the times that follow.
    BaseTimeDelta(#[serde(deserialize_with = "time")] u64),
    /// What must hold at this point.
    Assert(#[schemars(with = "AssertForm")] Box<TimelineAssert>),
    /// Takes a picture of the terminal, under this label.
    Screenshot(#[serde(deserialize_with = "filled")] String),
    /// A line for the log.
    Log(LogLine),
    /// The status of the session.
    Status(SessionStatus),
    /// The task is done.
    Complete,
    /// The session stays in the list when it is done.
    Merge,
}

impl EventKind {
    /// Whether the agent thinks in it.
    pub fn thinks(&self) -> bool {
        self.has_element(|element| matches!(element, ResponseElement::Think(_)))
    }

    /// Whether the agent tells of its plan in it.
    pub fn plans(&self) -> bool {
        use super::content::BlockKind;
        let is_plan = |entry: &Entry<Block>| matches!(entry.value.kind, BlockKind::Plan(_));
        matches!(self, Self::AgentPlan(_))
            || self.has_element(|element| match element {
                ResponseElement::Assistant(entries) => entries.iter().any(is_plan),
                _ => false,
            })
    }

    fn has_element(&self, is_it: impl Fn(&ResponseElement) -> bool) -> bool {
        match self {
            Self::Response(response) => response.elements.iter().any(is_it),
            _ => false,
        }
    }

    /// The key it is written with; a tool call's is `agentToolUse`.
    pub fn as_str(&self) -> &'static str {
        self.into()
    }
}

/// A point in time as it was written. The two forms mean different things: see the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// `[n, …]`: a delay after the entry before.
    Delay(u64),
    /// `relativeTime: n`: an offset from the base.
    Offset(u64),
}

/// Something at a point in time.
#[derive(Debug, Clone)]
pub struct Entry<T> {
    /// When.
    pub when: When,
    /// What.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

/// `llmResponse`: one answer of the model.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// Its elements, in written order.
    pub elements: Vec<ResponseElement>,
    /// `usage`, as scripted; null if it is to be counted.
    pub usage: Json,
    /// `stopReason`, as far as it is scripted.
    pub stop_reason: StopReasons,
    /// `refusal`: the text with which the model refuses.
    pub refusal: Option<String>,
    /// Whether it goes on with the answer before it: what stands behind a call in one `llmResponse`.
    pub continues: bool,
}

/// An element of a response.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResponseElement {
    /// What the model thinks.
    Think(#[serde(deserialize_with = "texts_in_time")] Vec<Entry<String>>),
    /// What the model says. Plain text is a text block.
    Assistant(#[serde(deserialize_with = "blocks_in_time")] Vec<Entry<Block>>),
    /// How the request fails.
    Error(ResponseError),
}

/// How a request fails.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self", rename_all = "camelCase")]
#[schemars(rename = "error")]
pub struct ResponseError {
    /// Kind of the error.
    #[serde(default, deserialize_with = "filled")]
    pub error_type: Option<String>,
    /// HTTP status (default: 400).
    #[serde(
        rename = "statusCode",
        default = "default_status",
        deserialize_with = "status_code"
    )]
    #[schemars(range(min = 400, max = 599))]
    pub status: u16,
    /// What is said (default: the kind).
    #[serde(default)]
    pub message: String,
    /// More, for programs; null if there is no more.
    #[serde(default)]
    pub details: Json,
    /// When to try again.
    pub retry_after_seconds: Option<u64>,
    /// Headers of the answer.
    #[serde(default, deserialize_with = "headers")]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub headers: Vec<(String, String)>,
    /// How often it is served (default: once).
    #[serde(default)]
    pub repeat: ServingCount,
    /// Of a stream: an event in it, behind status 200 (default: false, unless something was said).
    #[serde(rename = "inStream", default)]
    pub is_in_stream: bool,
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
}

fn default_status() -> u16 {
    400
}

/// How often an error is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServingCount {
    /// So many times; once by default.
    Times(u32),
    /// Each time.
    Always,
}

impl Default for ServingCount {
    fn default() -> Self {
        Self::Times(1)
    }
}

/// The agent changes a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct AgentEdits {
    /// The file.
    #[serde(deserialize_with = "filled")]
    pub path: String,
    /// Number of lines added.
    pub lines_added: Option<u64>,
    /// Number of lines removed.
    pub lines_removed: Option<u64>,
    /// What is replaced; absent for a whole file.
    pub old_text: Option<String>,
    /// What is written: with it, the edit is a real one.
    pub new_text: Option<String>,
    /// What the edit is for.
    pub description: Option<String>,
    /// The id of the tool call that a model's answer makes of it, counted like those of tool calls.
    #[serde(skip)]
    pub call_id: String,
}

impl AgentEdits {
    /// Whether it says which text is written, and not only how many lines.
    pub fn has_text(&self) -> bool {
        self.new_text.is_some()
    }
}

/// The agent plans.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(extend("required" = ["entries"]))]
pub struct AgentPlan {
    /// What is planned, never empty.
    #[serde(default, deserialize_with = "plan_entries")]
    pub entries: Vec<PlanEntry>,
    /// Whether it replaces the plan (default: true).
    #[serde(rename = "planUpdate", default = "yes")]
    pub replaces: bool,
}

pub(super) fn yes() -> bool {
    true
}

/// A file that the agent reads.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct FileRead {
    /// The file, absolute.
    #[serde(deserialize_with = "absolute")]
    pub path: String,
    /// What the client should answer.
    pub expected_content: Option<String>,
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
}

/// `agentPermissionRequest`.
#[derive(Debug, Clone)]
pub struct PermissionRequest {
    /// `sessionId`.
    pub session_id: Option<String>,
    /// `toolCall`, as written; null if there is none: then it is about the next call, or else about one of its own.
    pub tool_call: Json,
    /// `options`, in order.
    pub options: Vec<PermissionOption>,
    /// `decision` or `granted`.
    pub decision: PermissionDecision,
}

/// An option of a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PermissionOption {
    /// Id of the option.
    #[serde(alias = "optionId", deserialize_with = "filled")]
    pub id: String,
    /// What people read.
    #[serde(alias = "name", deserialize_with = "filled")]
    pub label: String,
    /// What it does.
    pub kind: PermissionKind,
}

words! {
    /// What an option of a permission request does.
    pub enum PermissionKind {
        /// Allows this call.
        AllowOnce = "allow_once",
        /// Allows all such calls.
        AllowAlways = "allow_always",
        /// Rejects this call.
        RejectOnce = "reject_once",
        /// Rejects all such calls.
        RejectAlways = "reject_always",
    }
}

/// What the user decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionDecision {
    /// The option with this id.
    Selected(String),
    /// Nothing: the request is cancelled.
    Cancelled,
}

/// A notification of an extension.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct Notify {
    /// Method of the extension, which begins with an underscore.
    #[schemars(regex(pattern = "^_"))]
    #[serde(deserialize_with = "filled")]
    pub method: String,
    /// Its parameters; null if there are none.
    #[serde(default)]
    pub params: Json,
}

/// An entry of `userInputs`.
#[derive(Debug, Clone)]
pub struct UserInput {
    /// When.
    pub when: When,
    /// `input`: plain text is one text block.
    pub blocks: Vec<Block>,
    /// Whether it was written as plain text.
    pub is_plain: bool,
    /// `target`; `None` means everywhere.
    pub target: Option<UserTarget>,
    /// `exact`: whether a client may say nothing beside it.
    pub is_exact: bool,
    /// `expectedResponse`; null if there is none.
    pub expected_response: Json,
    /// `_meta` of the entry and of the event, merged; null if there is none.
    pub meta: Json,
    /// Where it stands.
    pub span: Span,
}

impl UserInput {
    /// What it is compared by: its text blocks, joined by a newline, else the text of its first resource.
    pub fn prompt_text(&self) -> Option<String> {
        use super::content::BlockKind;
        let texts: Vec<&str> = self
            .blocks
            .iter()
            .filter_map(|block| match &block.kind {
                BlockKind::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        if !texts.is_empty() {
            return Some(texts.join("\n"));
        }
        self.blocks.iter().find_map(|block| match &block.kind {
            BlockKind::Resource { text, .. } => text.clone(),
            _ => None,
        })
    }
}

words! {
    /// Where the user enters something.
    pub enum UserTarget {
        /// A terminal.
        Tui = "tui",
        /// A page.
        WebUi = "webui",
        /// A command line.
        Cli = "cli",
    }
}

/// The user runs a command.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct UserCommand {
    /// A line for the shell. Else `program` and `args` run without one.
    #[serde(rename = "cmd", default, deserialize_with = "filled")]
    pub shell_line: Option<String>,
    /// A program to run without a shell (default: the one under test).
    #[serde(default, deserialize_with = "filled")]
    pub program: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment.
    #[serde(default, deserialize_with = "pairs")]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub env: Vec<(String, String)>,
    /// Where, relative to the workspace.
    #[serde(default, deserialize_with = "workspace_path")]
    pub cwd: Option<PathBuf>,
    /// What must come of it.
    pub expect: Option<CommandExpectation>,
    /// When, from the base.
    #[serde(rename = "at", default, deserialize_with = "time")]
    pub at_ms: Option<u64>,
}

/// What must come of a user's command.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CommandExpectation {
    /// Its exit code.
    #[serde(rename = "exitCode")]
    pub exit_code: Option<i64>,
    /// What its output contains.
    #[serde(rename = "stdoutContains", deserialize_with = "texts")]
    #[schemars(extend("type" = ["string", "array"]))]
    pub stdout: Vec<String>,
    /// What its error output contains.
    #[serde(rename = "stderrContains", deserialize_with = "texts")]
    #[schemars(extend("type" = ["string", "array"]))]
    pub stderr: Vec<String>,
    /// Files.
    #[serde(rename = "fs", deserialize_with = "file_checks")]
    #[schemars(with = "FileChecks")]
    pub files: Vec<super::asserts::LocatedCheck>,
}

/// The test executor applies a patch.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct ApplyPatch {
    /// A unified diff next to the timeline.
    #[serde(deserialize_with = "included_path")]
    pub path: PathBuf,
    /// Whether the result is committed (default: false).
    #[serde(rename = "commit", default)]
    pub is_committed: bool,
    /// Message of the commit (default: the name of the file).
    pub message: Option<String>,
    /// When, from the base.
    #[serde(rename = "at", default, deserialize_with = "time")]
    pub at_ms: Option<u64>,
}

impl ApplyPatch {
    /// The message of the commit, if there is one.
    pub fn commit(&self) -> Option<String> {
        let name = self.path.file_name().unwrap_or_default();
        let default = || format!("Apply {}", name.to_string_lossy());
        let message = || self.message.clone().unwrap_or_else(default);
        self.is_committed.then(message)
    }
}

/// `initialize`: the client's request, and the answer.
#[derive(Debug, Clone)]
pub struct Initialize {
    /// The request's fields, as written.
    pub request: Json,
    /// `expectedResponse`; null if there is none.
    pub expected_response: Json,
}

/// The client authenticates.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Authenticate {
    /// The way to authenticate.
    #[serde(deserialize_with = "filled")]
    pub method_id: String,
    /// How it fails; null if it works.
    #[serde(default)]
    pub error: Json,
    /// What it is answered with; null if nothing is said.
    #[serde(default, deserialize_with = "object")]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub expected_response: Json,
}

/// What stands above is history.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct SessionStart {
    /// Id of the session.
    #[serde(deserialize_with = "filled")]
    pub session_id: Option<String>,
    /// What the first prompt after it is answered with.
    #[serde(deserialize_with = "prompt_response")]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub expected_prompt_response: Option<Json>,
}

/// A line for the log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct LogLine {
    /// How important it is (default: info).
    #[serde(default = "default_level")]
    pub level: LogLevel,
    /// The message.
    pub message: String,
}

fn default_level() -> LogLevel {
    LogLevel::Info
}

words! {
    /// How important a line of the log is.
    pub enum LogLevel {
        /// For those who look for a mistake.
        Debug = "debug",
        /// What happens.
        Info = "info",
        /// What may be wrong.
        Warn = "warn",
        /// The same.
        Warning = "warning",
        /// What is wrong.
        Error = "error",
    }
}

words! {
    /// The status of the session.
    pub enum SessionStatus {
        /// It waits.
        Queued = "queued",
        /// It is set up.
        Provisioning = "provisioning",
        /// It runs.
        Running = "running",
        /// It is about to pause.
        Pausing = "pausing",
        /// It pauses.
        Paused = "paused",
        /// It is about to go on.
        Resuming = "resuming",
        /// It is about to stop.
        Stopping = "stopping",
        /// It was stopped.
        Stopped = "stopped",
        /// It is done.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

/// `assert`: each check is one assertion with its own outcome.
#[derive(Debug, Clone)]
pub struct TimelineAssert {
    /// Its checks, in written order.
    pub checks: Vec<super::asserts::LocatedCheck>,
}
