//! The events of a timeline.

use std::path::PathBuf;

use super::content::{Block, PlanEntry};
use super::fault::Fault;
use super::stop_reason::StopReasons;
use super::tool_use::ToolUse;
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
#[derive(Debug, Clone)]
pub enum EventKind {
    /// `llmResponse`.
    Response(Response),
    /// `agentToolUse` or a shorthand.
    ToolUse(ToolUse),
    /// `agentEdits`.
    AgentEdits(AgentEdits),
    /// `agentPlan`.
    AgentPlan(AgentPlan),
    /// `agentFileReads`.
    AgentFileReads(Vec<FileRead>),
    /// `agentPermissionRequest`.
    PermissionRequest(PermissionRequest),
    /// `notify`.
    Notify(Notify),
    /// `userInputs`, in order, never empty.
    UserInputs(Vec<UserInput>),
    /// `userEdits`: a patch, relative to the scenario's folder.
    UserEdits {
        /// `patch`.
        patch: PathBuf,
        /// `at`: from the base.
        at_ms: Option<u64>,
    },
    /// `userCommand`.
    UserCommand(UserCommand),
    /// `userCancelSession`.
    UserCancelSession {
        /// `at`: from the base.
        at_ms: Option<u64>,
    },
    /// `applyPatch`.
    ApplyPatch(ApplyPatch),
    /// `initialize`.
    Initialize(Initialize),
    /// `authenticate`.
    Authenticate(Authenticate),
    /// `setMode`: the id.
    SetMode {
        /// `modeId`.
        mode_id: String,
    },
    /// `setModel`.
    SetModel {
        /// `modelId`.
        model_id: String,
    },
    /// `sessionStart`.
    SessionStart(SessionStart),
    /// `baseTimeDelta` or `advanceMs`: how far the base moves.
    BaseTimeDelta(u64),
    /// `assert`.
    Assert(Box<TimelineAssert>),
    /// `screenshot`: its label.
    Screenshot(String),
    /// `log`.
    Log(LogLine),
    /// `status`.
    Status(SessionStatus),
    /// `complete`.
    Complete,
    /// `merge`.
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
        match self {
            Self::Response(_) => "llmResponse",
            Self::ToolUse(_) => "agentToolUse",
            Self::AgentEdits(_) => "agentEdits",
            Self::AgentPlan(_) => "agentPlan",
            Self::AgentFileReads(_) => "agentFileReads",
            Self::PermissionRequest(_) => "agentPermissionRequest",
            Self::Notify(_) => "notify",
            Self::UserInputs(_) => "userInputs",
            Self::UserEdits { .. } => "userEdits",
            Self::UserCommand(_) => "userCommand",
            Self::UserCancelSession { .. } => "userCancelSession",
            Self::ApplyPatch(_) => "applyPatch",
            Self::Initialize(_) => "initialize",
            Self::Authenticate(_) => "authenticate",
            Self::SetMode { .. } => "setMode",
            Self::SetModel { .. } => "setModel",
            Self::SessionStart(_) => "sessionStart",
            Self::BaseTimeDelta(_) => "baseTimeDelta",
            Self::Assert(_) => "assert",
            Self::Screenshot(_) => "screenshot",
            Self::Log(_) => "log",
            Self::Status(_) => "status",
            Self::Complete => "complete",
            Self::Merge => "merge",
        }
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
#[derive(Debug, Clone)]
pub enum ResponseElement {
    /// `think`.
    Think(Vec<Entry<String>>),
    /// `assistant`. Plain text is a text block.
    Assistant(Vec<Entry<Block>>),
    /// `error`.
    Error(ResponseError),
}

/// `error` of a response.
#[derive(Debug, Clone)]
pub struct ResponseError {
    /// `errorType`.
    pub error_type: Option<String>,
    /// `statusCode`: 400 to 599, by default 400.
    pub status: u16,
    /// `message`.
    pub message: String,
    /// `details`; null if there are none.
    pub details: Json,
    /// `retryAfterSeconds`.
    pub retry_after_seconds: Option<u64>,
    /// `headers`.
    pub headers: Vec<(String, String)>,
    /// `repeat`: how often it is served.
    pub repeat: ServingCount,
    /// `inStream`: whether a stream has begun when it comes, with status 200, though nothing was said.
    pub is_in_stream: bool,
    /// Where it stands.
    pub span: Span,
}

/// How often an error is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServingCount {
    /// So many times; once by default.
    Times(u32),
    /// Each time.
    Always,
}

/// `agentEdits`.
#[derive(Debug, Clone)]
pub struct AgentEdits {
    /// `path`.
    pub path: String,
    /// `linesAdded`.
    pub lines_added: Option<u64>,
    /// `linesRemoved`.
    pub lines_removed: Option<u64>,
    /// `oldText`: what is replaced; absent for a whole file.
    pub old_text: Option<String>,
    /// `newText`: with it, the edit is a real one.
    pub new_text: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// The id of the tool call that a model's answer makes of it, counted like those of tool calls.
    pub call_id: String,
}

impl AgentEdits {
    /// Whether it says which text is written, and not only how many lines.
    pub fn has_text(&self) -> bool {
        self.new_text.is_some()
    }
}

/// `agentPlan`.
#[derive(Debug, Clone)]
pub struct AgentPlan {
    /// `entries`, never empty.
    pub entries: Vec<PlanEntry>,
    /// `planUpdate`: whether it replaces the plan; true by default.
    pub replaces: bool,
}

/// An entry of `agentFileReads.files`.
#[derive(Debug, Clone)]
pub struct FileRead {
    /// `path`, absolute.
    pub path: String,
    /// `expectedContent`.
    pub expected_content: Option<String>,
    /// Where it stands.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionOption {
    /// `id` or `optionId`.
    pub id: String,
    /// `label` or `name`.
    pub label: String,
    /// `kind`: `allow_once`, `allow_always`, `reject_once` or `reject_always`.
    pub kind: String,
}

/// What the user decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionDecision {
    /// The option with this id.
    Selected(String),
    /// Nothing: the request is cancelled.
    Cancelled,
}

/// `notify`: a notification of an extension.
#[derive(Debug, Clone)]
pub struct Notify {
    /// `method`, which begins with an underscore.
    pub method: String,
    /// `params`; null if there are none.
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

/// `target` of a user's event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserTarget {
    /// `tui`.
    Tui,
    /// `webui`.
    WebUi,
    /// `cli`.
    Cli,
}

/// `userCommand`.
#[derive(Debug, Clone)]
pub struct UserCommand {
    /// `cmd`: a line for the shell. Else `program` and `args` run without one.
    pub shell_line: Option<String>,
    /// `program`; `None` is the program under test.
    pub program: Option<String>,
    /// `args`.
    pub args: Vec<String>,
    /// `env`.
    pub env: Vec<(String, String)>,
    /// `cwd`, relative to the workspace.
    pub cwd: Option<PathBuf>,
    /// `expect`.
    pub expect: Option<CommandExpectation>,
    /// `at`: from the base.
    pub at_ms: Option<u64>,
}

/// `expect` of a user's command.
#[derive(Debug, Clone, Default)]
pub struct CommandExpectation {
    /// `exitCode`.
    pub exit_code: Option<i64>,
    /// `stdoutContains`.
    pub stdout: Vec<String>,
    /// `stderrContains`.
    pub stderr: Vec<String>,
    /// `fs`.
    pub files: Vec<super::asserts::LocatedCheck>,
}

/// `applyPatch`.
#[derive(Debug, Clone)]
pub struct ApplyPatch {
    /// `path`, relative to the scenario's folder.
    pub path: PathBuf,
    /// `commit` and `message`: the message of the commit, if there is one.
    pub commit: Option<String>,
    /// `at`: from the base.
    pub at_ms: Option<u64>,
}

/// `initialize`: the client's request, and the answer.
#[derive(Debug, Clone)]
pub struct Initialize {
    /// The request's fields, as written.
    pub request: Json,
    /// `expectedResponse`; null if there is none.
    pub expected_response: Json,
}

/// `authenticate`.
#[derive(Debug, Clone)]
pub struct Authenticate {
    /// `methodId`.
    pub method_id: String,
    /// `error`: what it fails with; null if it works.
    pub error: Json,
    /// `expectedResponse`; null if there is none.
    pub expected_response: Json,
}

/// `sessionStart`.
#[derive(Debug, Clone, Default)]
pub struct SessionStart {
    /// `sessionId`.
    pub session_id: Option<String>,
    /// `expectedPromptResponse`.
    pub expected_prompt_response: Option<Json>,
}

/// `log`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// `level`, by default `info`.
    pub level: String,
    /// `message`.
    pub message: String,
}

/// `status` of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStatus {
    /// `queued`.
    Queued,
    /// `provisioning`.
    Provisioning,
    /// `running`.
    Running,
    /// `pausing`.
    Pausing,
    /// `paused`.
    Paused,
    /// `resuming`.
    Resuming,
    /// `stopping`.
    Stopping,
    /// `stopped`.
    Stopped,
    /// `completed`.
    Completed,
    /// `failed`.
    Failed,
    /// `cancelled`.
    Cancelled,
}

impl SessionStatus {
    /// The word for it in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Provisioning => "provisioning",
            Self::Running => "running",
            Self::Pausing => "pausing",
            Self::Paused => "paused",
            Self::Resuming => "resuming",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// `assert`: each check is one assertion with its own outcome.
#[derive(Debug, Clone)]
pub struct TimelineAssert {
    /// Its checks, in written order.
    pub checks: Vec<super::asserts::LocatedCheck>,
}
