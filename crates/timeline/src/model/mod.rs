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
    FileRead, Initialize, LogLevel, LogLine, Notify, PermissionDecision, PermissionKind,
    PermissionOption, PermissionRequest, Response, ResponseElement, ResponseError, ServingCount,
    SessionStart, SessionStatus, TimelineAssert, TimelineEvent, UserCommand, UserInput, UserTarget,
    When,
};
pub use fault::{Fault, FaultKind, FaultMatch, FaultRule, FaultRules};
pub use request::{ApiName, JsonTest, NameGlob, RequestCheck, RequestMatch, TextTest};
pub use settings::{
    AcpSettings, ApiStyle, ArtifactPattern, Compat, McpServer, McpTransport, OnRepeat, Program,
    Repository, RepositoryMode, SeedFile, SendThinking, ServerMode, ServerSettings, SideCall,
    TerminalChoice, TimelineExpectations,
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

use schemars::JsonSchema;
use serde::Deserialize;

use crate::format::{filled, name, read_apart};
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};

/// A timeline scenario after reading: valid, flat, with spans back into its text.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[schemars(extend("required" = ["name", "timeline"]))]
pub struct Timeline {
    /// The text it was read from.
    #[serde(skip)]
    pub source: SourceFile,
    /// Name of the timeline.
    #[serde(deserialize_with = "name")]
    #[schemars(length(min = 1))]
    pub name: String,
    /// Where the name stands.
    #[serde(skip)]
    pub name_span: Span,
    /// What it is for, for people.
    pub description: Option<String>,
    /// Words to choose timelines by.
    pub tags: Vec<String>,
    /// Path of a terminal configuration.
    #[serde(rename = "terminalRef")]
    #[schemars(with = "Json", extend("type" = ["string", "object"]))]
    pub terminal: Option<TerminalChoice>,
    /// Older forms that need no warning.
    pub compat: Compat,
    /// The workspace that the agent starts in.
    #[serde(rename = "repo")]
    pub repository: Option<Repository>,
    /// The program under test.
    #[serde(rename = "ah")]
    pub program: Program,
    /// How the stand-ins for services behave.
    pub server: ServerSettings,
    /// What a request to a model must be like, beside its prompt, to choose the timeline.
    #[serde(rename = "match")]
    pub request_match: Option<RequestMatch>,
    /// How the stand-in for an ACP agent behaves.
    pub acp: AcpSettings,
    /// What happens, in order.
    #[serde(rename = "timeline", deserialize_with = "read_apart")]
    #[schemars(with = "Json")]
    pub events: Vec<TimelineEvent>,
    /// What holds after the run.
    #[serde(rename = "expect")]
    pub expectations: TimelineExpectations,
    /// Legacy: what the timeline is chosen by if it has no userInputs.
    #[serde(deserialize_with = "filled")]
    pub initial_prompt: Option<String>,
    /// Files that it refers to, for the reader of files to look at.
    #[serde(skip)]
    pub included_files: Vec<IncludedFile>,
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
