//! The test case: where a trace comes from, and what must hold of it.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Assertion, AssertionCheck, ToolPattern, Unproven};
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};
use cuecard_trace::import::{Fixture, TranscriptFormat};

/// A test case after reading: valid, with spans back into its text.
#[derive(Debug, Clone)]
pub struct TestCase {
    /// `id`, unique in a suite.
    pub id: String,
    /// `title`; the id if it has none.
    pub title: String,
    /// `description`.
    pub description: Option<String>,
    /// `tags`.
    pub tags: Vec<String>,
    /// `adapter` and `adapter_input`: where the trace comes from.
    pub input: TraceInput,
    /// `scenario`: who was asked what.
    pub context: TestContext,
    /// `tools`: what the agent had.
    pub tools: TestTools,
    /// `assertions`, in order.
    pub assertions: Vec<Assertion>,
    /// `expected`: for people, and the source of the result's failure categories.
    pub expected: Option<ExpectedOutcome>,
    /// `reporting.save_trace`.
    pub save_trace: bool,
    /// `reporting.redact_fields`: JSON pointers or key names whose values are never written.
    pub redact_fields: Vec<String>,
    /// The text that the spans are of.
    pub source: SourceFile,
}

impl TestCase {
    /// Whether it has one of these tags; each has if none is asked for.
    pub fn has_tag_of(&self, asked: &[String]) -> bool {
        asked.is_empty() || asked.iter().any(|tag| self.tags.contains(tag))
    }

    /// Says what becomes of claims that are neither supported nor refuted, whatever the assertions say.
    pub fn set_unproven(&mut self, unproven: Unproven) {
        for assertion in &mut self.assertions {
            if let AssertionCheck::ClaimsSupportedByFixtures(claims) = &mut assertion.check {
                claims.unproven = unproven;
            }
        }
    }
}

/// Where the trace of a test case comes from. Paths are as written: relative to the folder of the test file.
#[derive(Debug, Clone)]
pub enum TraceInput {
    /// `adapter: nanoclaw`, `mode: replay`: a replay bundle.
    ReplayBundle {
        /// `replay_file`.
        file: PathBuf,
        /// Where it is named.
        span: Span,
    },
    /// `adapter: nanoclaw`, `mode: live`: a command that makes a replay bundle.
    Live {
        /// `command`: program and arguments.
        command: Vec<String>,
        /// Where it stands.
        span: Span,
    },
    /// `adapter: cuecard` with `play`: a tool-call scenario is played.
    Play {
        /// `play`.
        file: PathBuf,
        /// `variables`.
        variables: serde_json::Map<String, Json>,
        /// Where the file is named.
        span: Span,
    },
    /// `adapter: cuecard` with `trace_file`: a trace of an earlier run.
    TraceFile {
        /// `trace_file`.
        file: PathBuf,
        /// Where it is named.
        span: Span,
    },
    /// `adapter: cuecard` with `transcript`: a run that another program recorded.
    Transcript {
        /// `transcript`.
        file: PathBuf,
        /// `format`.
        format: TranscriptFormat,
        /// Where the file is named.
        span: Span,
    },
}

/// `scenario`: the situation of the agent.
#[derive(Debug, Clone, Default)]
pub struct TestContext {
    /// `group_id`.
    pub group_id: Option<String>,
    /// `session_id`.
    pub session_id: Option<String>,
    /// `task_id`.
    pub task_id: Option<String>,
    /// `trigger`.
    pub trigger: Trigger,
    /// `scheduler_context`: an object with `task_id`, `task_name`, `scheduled_for`, `timezone`; else null.
    pub scheduler_context: Json,
    /// `input_messages`: objects with `role` and `content`.
    pub input_messages: Vec<Json>,
    /// `prior_messages`: what was said before.
    pub prior_messages: Vec<Json>,
    /// `memory_snapshot`: what the agent remembered; null if nothing is said.
    pub memory_snapshot: Json,
    /// `mounts`; null if nothing is said.
    pub mounts: Json,
}

/// `trigger`: what made the agent act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Trigger {
    /// A message of the user.
    #[default]
    UserMessage,
    /// A scheduler.
    Scheduler,
}

impl Trigger {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserMessage => "user_message",
            Self::Scheduler => "scheduler",
        }
    }
}

/// `tools`: what the agent could call.
#[derive(Debug, Clone, Default)]
pub struct TestTools {
    /// `available`: names of tools; nothing is said if absent.
    pub available: Option<Vec<String>>,
    /// `fixtures`.
    pub fixtures: Vec<Fixture>,
    /// `policy.max_calls`.
    pub max_calls: Option<u64>,
    /// `policy.forbidden`: tools that must not be called.
    pub forbidden: Vec<ToolPattern>,
    /// What the servers of a played scenario offered, which no file says: whoever plays it fills this in.
    pub offered: Vec<String>,
}

/// `expected`.
#[derive(Debug, Clone, Default)]
pub struct ExpectedOutcome {
    /// `outcome`, in words.
    pub outcome: Option<String>,
    /// `failure_categories`.
    pub failure_categories: Vec<String>,
}

/// How long a test case may take when nobody says: five minutes.
pub const DEFAULT_CASE_TIMEOUT: Duration = Duration::from_secs(300);
