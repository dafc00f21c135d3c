//! The data of each type of event. Field names are the format's.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use cuecard_source::value::Json;

/// `message_received` (user): a message reached the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageReceived {
    /// Who wrote it, usually `user`.
    pub role: String,
    /// Its text.
    pub content: String,
}

/// `final_output` (agent): the last answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FinalOutput {
    /// Who wrote it, usually `assistant`.
    pub role: String,
    /// Its text.
    pub content: String,
    /// What form it has, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format_hint: Option<String>,
}

/// `tool_call` (agent): a tool was called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// `mcp__server__tool`, a built-in or an abstract name.
    pub tool: Cow<'static, str>,
    /// What its result refers to.
    pub call_id: Arc<str>,
    /// What it was called with.
    #[serde(default)]
    pub args: Arc<Json>,
    /// The name that the agent itself used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_tool: Option<String>,
    /// Which attempt of a step it was, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// `tool_result` (tool): a tool answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResult {
    /// The tool.
    pub tool: Cow<'static, str>,
    /// The call it answers.
    pub call_id: Arc<str>,
    /// Whether the call did what it was asked.
    pub success: bool,
    /// What it answered.
    #[serde(default)]
    pub result: Arc<Json>,
    /// The whole text of the answer, where the result is only a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The structured content of the answer, where the result is not the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Json>,
    /// The fixture the result was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture_id: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

/// `request_received` (tool): a server asked something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestReceived {
    /// The server's name.
    pub server: String,
    /// What kind of request, for example `elicitation/create`.
    pub method: String,
    /// What it asked; a long request is cut to a text.
    #[serde(default)]
    pub params: Json,
}

/// `request_answered` (agent): a server's request got its answer, or was refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestAnswered {
    /// The server's name.
    pub server: String,
    /// What kind of request.
    pub method: String,
    /// The answer; a long one is cut to a text. Absent if the request was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Json>,
    /// Where in the scenario the answer stands, as a JSON pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Why the request was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `request_sent` (agent): a server was asked something that is no call of a step, or that a call became.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestSent {
    /// The server's name.
    pub server: String,
    /// What kind of request, for example `tools/call`.
    pub method: String,
    /// What was sent.
    #[serde(default)]
    pub params: Json,
    /// The call that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Arc<str>>,
}

/// `response_received` (tool): a server answered such a request. The answer to a call is a `tool_result`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseReceived {
    /// The server's name.
    pub server: String,
    /// What kind of request it answers.
    pub method: String,
    /// The text of the answer; a long one is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The call that the request belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Arc<str>>,
}

/// `memory_read` (agent).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRead {
    /// The kind of memory.
    pub source: String,
    /// Which file or key.
    pub path: String,
    /// Whose memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<String>,
    /// What was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// `memory_write` (agent).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryWrite {
    /// The kind of memory.
    pub source: String,
    /// Which file or key.
    pub path: String,
    /// Whose memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<String>,
    /// What was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What changed, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_summary: Option<String>,
}

/// `error` (system): something went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorHappened {
    /// `tool`, `model` or `runtime`.
    pub scope: String,
    /// The tool concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Cow<'static, str>>,
    /// The call concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Arc<str>>,
    /// A word for machines, for example `timeout`.
    pub error_type: String,
    /// What went wrong, for people.
    pub message: String,
    /// Whether trying again may help.
    pub retryable: bool,
}

/// `message` (agent): a message that is not the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Who wrote it.
    pub role: String,
    /// Its text.
    pub content: String,
}

/// `thought` (agent).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thought {
    /// Its text.
    pub text: String,
}

/// `plan` (agent).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Its entries as the agent sent them.
    pub entries: Json,
}

/// `http_exchange` (system): a request that a stand-in answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HttpExchange {
    /// The API's dialect.
    pub dialect: String,
    /// The path of the request.
    pub path: String,
    /// The status of the answer.
    pub status: u16,
    /// Main or side lane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// The turn that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// The request, bounded.
    pub request: Json,
    /// The answer, bounded.
    pub response: Json,
}

/// `file_edit` (agent).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileEdit {
    /// The file.
    pub path: String,
    /// Lines added.
    pub lines_added: u64,
    /// Lines removed.
    pub lines_removed: u64,
    /// Hash of the content before; absent for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash_before: Option<String>,
    /// Hash of the content after; absent for a deleted file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash_after: Option<String>,
}

/// `terminal` (user): a command beside the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Terminal {
    /// The command.
    pub command: String,
    /// What it printed.
    pub text: String,
    /// Its exit code, once it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

/// `screenshot` (agent).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Screenshot {
    /// What it shows.
    pub label: String,
    /// Its files.
    pub files: Vec<String>,
}

/// `permission` (system): somebody was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Permission {
    /// What could be chosen.
    pub options: Json,
    /// What was chosen.
    pub outcome: Json,
}

/// `log` (system).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Log {
    /// debug, info, warning or error.
    pub level: String,
    /// What was said.
    pub message: String,
    /// Who said it: a server's name, or absent for us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
}

/// `assertion` (system): a check was evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assertion {
    /// Which check.
    pub id: String,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// `pass` or `fail`.
    pub status: String,
    /// What was there.
    #[serde(default)]
    pub observed: Json,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl Assertion {
    /// What became of a check of a timeline: the event that it stands in, its key there, and what was seen.
    pub fn of_check((event, key): (&str, &str), holds: bool, seen: &str) -> Self {
        Self {
            id: format!("{event}.{key}"),
            kind: key.split('[').next().unwrap_or(key).to_owned(),
            status: if holds { "pass" } else { "fail" }.to_owned(),
            observed: Json::String(seen.to_owned()),
            evidence: (!holds).then(|| seen.to_owned()),
        }
    }
}

/// `step_started` (system): a scenario's step began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepStarted {
    /// Its number.
    pub step: u64,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool it calls.
    pub tool: Cow<'static, str>,
    /// What it does, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The index of the element that begins, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<u64>,
    /// The number of elements in the list of a step with `for_each`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
}

/// `element_started` (system): a step with `for_each` is about to call its tool for an element.
pub(super) type ElementStarted = StepStarted;

/// `element_finished` (system): a step with `for_each` is done with an element. Its outputs are those of the element.
pub(super) type ElementFinished = StepFinished;

/// `step_finished` (system): a scenario's step ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepFinished {
    /// Its number.
    pub step: u64,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool it called.
    pub tool: Cow<'static, str>,
    /// What it does, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How it ended.
    pub status: StepStatus,
    /// From its start to its end, all attempts and the waits between them included.
    pub duration_ms: f64,
    /// Every call, the first included. Those of a step with `for_each` stand in the events of its elements.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
    /// The condition that was false; absent if a step was skipped because it has no elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_by: Option<String>,
    /// The group whose steps started together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Why it passed although its element is not as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healed: Option<String>,
    /// What it gave to later steps.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub outputs: serde_json::Map<String, Json>,
    /// Why this run did not play it, if it resumes another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Restored>,
    /// The index of the element that ended, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<u64>,
    /// The number of elements in the list of a step with `for_each`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
}

impl StepStarted {
    /// Returns `element 2 of 5`, counted from 1, if it is the start of an element.
    pub fn element_label(&self) -> Option<String> {
        element_label(self.element, self.elements)
    }
}

impl StepFinished {
    /// Returns `element 2 of 5`, counted from 1, if it is the end of an element.
    pub fn element_label(&self) -> Option<String> {
        element_label(self.element, self.elements)
    }
}

fn element_label(index: Option<u64>, count: Option<u64>) -> Option<String> {
    Some(format!("element {} of {}", index? + 1, count?))
}

/// Why a resumed run does not play a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Restored {
    /// The resumed run has done it.
    Done,
    /// The user says that it is done.
    AssumedDone,
}

impl Restored {
    /// The words in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "restored",
            Self::AssumedDone => "assumed done",
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// It did what it should.
    Passed,
    /// It failed and ended the run.
    Failed,
    /// It failed and the run went on.
    Tolerated,
    /// Its condition was false, or its list has no elements.
    Skipped,
    /// The run was cut off while it was under way: it may have had an effect.
    Unknown,
}

impl StepStatus {
    /// The word in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Tolerated => "tolerated",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
        }
    }
}

/// One call of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// Which, from 1.
    pub attempt: u32,
    /// When it began, in milliseconds after the run's start.
    pub started_ms: f64,
    /// How long it took.
    pub duration_ms: f64,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepError {
    /// The code that `cuecard explain` knows.
    pub code: String,
    /// A word for machines.
    pub error_type: String,
    /// What went wrong.
    pub message: String,
    /// Facts that help, such as a server's last words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// An event of a type that this version does not know; kept as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    /// Its type.
    pub kind: String,
    /// Who it is ascribed to.
    pub actor: String,
    /// Its data.
    pub data: Json,
}
