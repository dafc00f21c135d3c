//! The test case: where a trace comes from, and what must hold of it.

use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;

use super::assertion::{Assertion, AssertionCheck, Unproven};
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
            if let AssertionCheck::ClaimsSupportedByFixtures { proof, .. } = &mut assertion.check {
                proof.unproven = unproven;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trigger {
    /// `user_message`.
    #[default]
    UserMessage,
    /// `scheduler`.
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

/// The name of a tool, or a glob such as `mcp__github__*`.
#[derive(Debug, Clone)]
pub struct ToolPattern {
    text: String,
    regex: Option<Regex>,
}

impl ToolPattern {
    /// A pattern in which `*` stands for any text and `?` for any character.
    ///
    /// # Errors
    /// If it is too long to be one.
    pub fn new(text: &str) -> Result<Self, regex::Error> {
        let is_glob = text.contains(['*', '?']);
        let regex = is_glob
            .then(|| {
                let pattern: String = text
                    .chars()
                    .map(|character| match character {
                        '*' => ".*".to_owned(),
                        '?' => ".".to_owned(),
                        other => regex::escape(other.encode_utf8(&mut [0; 4])),
                    })
                    .collect();
                Regex::new(&format!("(?s)^{pattern}$"))
            })
            .transpose()?;
        Ok(Self {
            text: text.to_owned(),
            regex,
        })
    }

    /// As it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it means the tool called `name`.
    pub fn matches(&self, name: &str) -> bool {
        match &self.regex {
            Some(regex) => regex.is_match(name),
            None => self.text == name,
        }
    }
}

/// How long a test case may take when nobody says: five minutes.
pub const DEFAULT_CASE_TIMEOUT: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_named_or_globbed() {
        let is_match =
            |pattern: &str, name: &str| ToolPattern::new(pattern).expect("a pattern").matches(name);
        assert!(is_match("web.search", "web.search"));
        assert!(!is_match("web.search", "web_search"));
        assert!(is_match("mcp__*__get_?", "mcp__a__b__get_x"));
        assert!(!is_match("mcp__*", "a mcp__x"));
        assert!(is_match("*", ""));
    }
}
