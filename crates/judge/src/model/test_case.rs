//! The test case: where a trace comes from, and what must hold of it.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Assertion, AssertionCheck, Unproven};
use crate::assertions::parts::{Text, Texts, Tools, Value};
use crate::test_case::{
    FixtureKeys, Fixtures, MessageKeys, Messages, SchedulerContext, SchedulerKeys,
};
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};
use cuecard_trace::import::TranscriptFormat;

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

    /// All assertions, also those within others.
    pub fn each_assertion(&self) -> impl Iterator<Item = &Assertion> {
        self.assertions.iter().flat_map(Assertion::each)
    }

    /// Says what becomes of claims that are neither supported nor refuted, whatever the assertions say.
    pub fn set_unproven(&mut self, unproven: Unproven) {
        for assertion in &mut self.assertions {
            assertion.change(&|check| {
                if let AssertionCheck::ClaimsSupportedByFixtures(claims) = check {
                    claims.unproven = unproven;
                }
            });
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
        /// `format`; what its content looks like if absent.
        format: Option<TranscriptFormat>,
        /// Where the file is named.
        span: Span,
    },
}

impl TraceInput {
    /// The file of a recording, as written.
    pub fn recorded_file(&mut self) -> Option<(&mut PathBuf, Span)> {
        match self {
            Self::ReplayBundle { file, span }
            | Self::TraceFile { file, span }
            | Self::Transcript { file, span, .. } => Some((file, *span)),
            Self::Live { .. } | Self::Play { .. } => None,
        }
    }
}

/// The situation of the agent.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(rename = "scenario")]
pub struct TestContext {
    /// The group that the agent works for.
    pub group_id: Option<Text>,
    /// The session.
    pub session_id: Option<Text>,
    /// The scheduled task.
    pub task_id: Option<Text>,
    /// What made the agent act (default: user_message).
    pub trigger: Option<Trigger>,
    /// The task of a scheduler.
    #[serde(default)]
    #[schemars(with = "Option<SchedulerKeys>")]
    pub scheduler_context: SchedulerContext,
    /// What the agent was asked.
    #[serde(default)]
    #[schemars(with = "Option<Vec<MessageKeys>>")]
    pub input_messages: Messages,
    /// What was said before.
    #[serde(default)]
    #[schemars(with = "Option<Vec<MessageKeys>>")]
    pub prior_messages: Messages,
    /// What the agent remembered.
    #[serde(default)]
    pub memory_snapshot: Value,
    /// What the agent's container had.
    #[serde(default)]
    pub mounts: Value,
}

impl TestContext {
    /// What made the agent act.
    pub fn trigger(&self) -> Trigger {
        self.trigger.unwrap_or_default()
    }
}

/// What made the agent act.
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

/// What the agent could call.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(rename = "tools")]
pub struct TestTools {
    /// Names of the tools; a call of any other is a warning.
    #[serde(default)]
    #[schemars(with = "Texts")]
    pub available: Option<Texts>,
    /// Results that tool results may refer to.
    #[serde(default)]
    #[schemars(with = "Option<Vec<FixtureKeys>>")]
    pub fixtures: Fixtures,
    /// Bounds on the calls.
    #[serde(default)]
    pub policy: ToolPolicy,
    /// What the servers of a played scenario offered, which no file says: whoever plays it fills this in.
    #[serde(skip)]
    pub offered: Vec<String>,
}

/// Bounds on the calls.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(rename = "policy")]
pub struct ToolPolicy {
    /// The maximum number of calls of all tools together.
    #[serde(default)]
    #[schemars(with = "u64")]
    pub max_calls: Option<u64>,
    /// Tools that must not be called; globs are allowed.
    #[serde(default)]
    pub forbidden: Tools,
}

/// What is expected, for people.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(rename = "expected")]
pub struct ExpectedOutcome {
    /// The outcome, in words.
    pub outcome: Option<String>,
    /// What a failure of this test case means; included in the result.
    #[serde(default)]
    pub failure_categories: Texts,
}

/// How long a test case may take when nobody says: five minutes.
pub const DEFAULT_CASE_TIMEOUT: Duration = Duration::from_secs(300);
