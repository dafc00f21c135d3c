//! The timeline: one file that scripts a whole agent session. Times are milliseconds, and a timeline's events
//! are in the order of the file, wrappers flattened and rules applied.

mod asserts;
mod content;
mod event;
mod fault;
pub mod keys;
mod request;
mod settings;
mod stop_reason;
mod terminal;
mod tool_use;
pub mod vocabulary;

pub use asserts::{FileText, LocatedCheck, TimelineCheck};
pub use content::{Block, BlockKind, Media, MediaSource, PlanEntry, PlanPriority, PlanStatus};
pub use event::{
    AgentEdits, AgentPlan, ApplyPatch, Authenticate, CommandExpectation, Entry, EventKind,
    FileRead, Initialize, LogLine, Notify, PermissionDecision, PermissionKind, PermissionOption,
    PermissionRequest, Response, ResponseElement, ResponseError, ServingCount, SessionStart,
    SessionStatus, TimelineAssert, TimelineEvent, UserCommand, UserInput, UserTarget, When,
};
pub use fault::{Fault, FaultKind, FaultMatch, FaultRule, FaultRules};
pub use request::{ApiName, JsonTest, NameGlob, RequestCheck, RequestMatch, TextTest};
pub use settings::{
    AcpSettings, ApiStyle, ArtifactPattern, McpServer, McpTransport, OnRepeat, Repository,
    RepositoryMode, SeedFile, SendThinking, ServerMode, ServerSettings, SideCall, TerminalChoice,
    TimelineExpectations,
};
pub use stop_reason::{StopReason, StopReasons};
pub use terminal::{
    BuiltIn, Normalize, Rendering, Replacement, TerminalConfig, TerminalTheme, file_safe,
};
pub use tool_use::{
    CallKind, ExpectedResult, ToolExecution, ToolExecutionEvent, ToolExecutionKind, ToolStatus,
    ToolUse,
};

use std::path::PathBuf;

use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};

/// A timeline scenario after reading: valid, flat, with spans back into its text.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// The text it was read from.
    pub source: SourceFile,
    /// `name`.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// `description`: for people.
    pub description: Option<String>,
    /// `tags`.
    pub tags: Vec<String>,
    /// `initialPrompt`: the last fallback of the effective prompt, never sent by itself.
    pub initial_prompt: Option<String>,
    /// `terminalRef`.
    pub terminal: Option<TerminalChoice>,
    /// `repo`.
    pub repository: Option<Repository>,
    /// `ah.cmd`: the primary command of the program under test.
    pub command: Option<String>,
    /// `ah.flags`: passed as they stand.
    pub flags: Vec<String>,
    /// `ah.env`, in order.
    pub env: Vec<(String, String)>,
    /// `server`.
    pub server: ServerSettings,
    /// `match`: what a request must be like, beside its prompt, to choose it.
    pub request_match: Option<RequestMatch>,
    /// `acp`.
    pub acp: AcpSettings,
    /// `timeline`, flattened.
    pub events: Vec<TimelineEvent>,
    /// `expect`.
    pub expectations: TimelineExpectations,
    /// Files that it refers to, for the reader of files to look at.
    pub included_files: Vec<IncludedFile>,
    /// Keys at the top that mean nothing here, as written: kept, never evaluated.
    pub unknown: Vec<(String, Json)>,
}

/// A file that a timeline refers to, relative to the timeline's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncludedFile {
    /// The path as written.
    pub path: PathBuf,
    /// Where it is named.
    pub span: Span,
    /// What it is for.
    pub purpose: IncludePurpose,
}

/// What an included file is for, which says what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncludePurpose {
    /// An image or audio file of this media type.
    Media(String),
    /// A unified diff.
    Patch,
    /// A terminal configuration.
    Terminal,
    /// A folder whose tree seeds the repository.
    SeedFolder,
}

impl Timeline {
    /// Whether it has one of these tags; each has if none is asked for.
    pub fn has_tag_of(&self, asked: &[String]) -> bool {
        asked.is_empty() || asked.iter().any(|tag| self.tags.contains(tag))
    }

    /// The index of the `sessionStart`, if there is one: what stands before it is history.
    pub fn boundary(&self) -> Option<usize> {
        self.events
            .iter()
            .position(|event| matches!(event.kind, EventKind::SessionStart(_)))
    }

    /// The text that the scenario is chosen by: that of the first user input after `sessionStart`, else of the first anywhere;
    /// if that has none, `initialPrompt`.
    pub fn effective_prompt(&self) -> Option<String> {
        let text = self.first_input().and_then(UserInput::prompt_text);
        text.or_else(|| self.initial_prompt.clone())
    }

    /// All that users say, in the order of the file.
    pub fn prompts(&self) -> impl Iterator<Item = String> {
        let texts = self.inputs().filter_map(UserInput::prompt_text);
        texts.chain(self.initial_prompt.clone())
    }

    /// All inputs of users, in the order of the file.
    pub fn inputs(&self) -> impl Iterator<Item = &UserInput> {
        self.events.iter().flat_map(|event| match &event.kind {
            EventKind::UserInputs(inputs) => inputs.as_slice(),
            _ => &[],
        })
    }

    /// The first user input after `sessionStart`, else the first anywhere.
    pub fn first_input(&self) -> Option<&UserInput> {
        let live = self.boundary().map_or(&[][..], |idx| &self.events[idx..]);
        live.iter()
            .chain(&self.events)
            .find_map(|event| match &event.kind {
                EventKind::UserInputs(inputs) => inputs.first(),
                _ => None,
            })
    }

    /// The session id that it names: that of `sessionStart`, else the one its first answer is expected to have.
    pub fn session_id(&self) -> Option<&str> {
        self.events.iter().find_map(|event| match &event.kind {
            EventKind::SessionStart(start) => start.session_id.as_deref().or_else(|| {
                start
                    .expected_prompt_response
                    .as_ref()?
                    .get("sessionId")?
                    .as_str()
            }),
            _ => None,
        })
    }
}
