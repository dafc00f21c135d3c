//! What a test case asserts of a finished trace: every type with its parameters, read and checked.

use regex::Regex;
use serde_json_path::JsonPath;

use super::test_case::ToolPattern;
use cuecard_source::Span;
use cuecard_source::value::Json;

/// An entry of `assertions`.
#[derive(Debug, Clone)]
pub struct Assertion {
    /// `id`, unique in its test case.
    pub id: String,
    /// `severity`.
    pub severity: Severity,
    /// `requires_capabilities`, and those that the type needs anyway.
    pub requires_capabilities: Vec<String>,
    /// `type` and `params`.
    pub check: AssertionCheck,
    /// `params` as written, for the result.
    pub params: Json,
    /// Where it stands.
    pub span: Span,
}

/// `severity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Severity {
    /// A failure fails the test.
    #[default]
    Critical,
    /// A failure is a warning.
    Warning,
}

impl Severity {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
        }
    }
}

/// Which events are meant: what is given must hold.
#[derive(Debug, Clone, Default)]
pub struct Selector {
    /// `event_type`.
    pub event_type: Option<String>,
    /// `tool`.
    pub tool: Option<ToolPattern>,
    /// `call_id`.
    pub call_id: Option<String>,
    /// `success`, of a tool result.
    pub success: Option<bool>,
    /// `args`: dotted keys and their values.
    pub args: Vec<(String, Json)>,
    /// `data`: dotted keys into what the event says, and their values.
    pub data: Vec<(String, Json)>,
    /// `caused_by`: what an event before it must be that led to it, directly or by others.
    pub caused_by: Option<Box<Selector>>,
}

impl Selector {
    /// The types of events that players write.
    pub const EVENT_TYPES: &'static [&'static str] = &[
        "message_received",
        "final_output",
        "tool_call",
        "tool_result",
        "request_received",
        "request_answered",
        "request_sent",
        "response_received",
        "memory_read",
        "memory_write",
        "error",
        "message",
        "thought",
        "plan",
        "http_exchange",
        "file_edit",
        "terminal",
        "screenshot",
        "permission",
        "log",
        "assertion",
        "step_started",
        "step_finished",
        "element_started",
        "element_finished",
    ];
}

/// How an argument, a result or a place of the trace is tested. What is given must hold.
#[derive(Debug, Clone, Default)]
pub struct ValueTest {
    /// `equals`.
    pub equals: Option<Json>,
    /// `contains`: a text part, an element, a key.
    pub contains: Option<Json>,
    /// `regex`.
    pub regex: Option<Regex>,
    /// `json_schema`.
    pub json_schema: Option<Json>,
    /// `case_sensitive`: whether case counts in `contains`; the regular expression knows by itself.
    pub case_sensitive: bool,
}

/// `match` of `tool_args_match`. Dotted keys reach into the arguments.
#[derive(Debug, Clone, Default)]
pub struct ArgsMatch {
    /// `required_keys`.
    pub required_keys: Vec<String>,
    /// `args_contains`: a text part, an element, or a part of an object.
    pub args_contains: Vec<(String, Json)>,
    /// `args_equal`.
    pub args_equal: Vec<(String, Json)>,
    /// `regex`.
    pub regex: Vec<(String, Regex)>,
    /// `json_schema` of the arguments as a whole.
    pub json_schema: Option<Json>,
    /// `case_sensitive`: whether case counts in `args_contains`; the regular expressions know by themselves.
    pub case_sensitive: bool,
}

/// `which`: of several calls, those that must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Which {
    /// At least one.
    #[default]
    Any,
    /// All of them.
    All,
    /// The n-th, from 1.
    Nth(usize),
}

/// A call in `trajectory`.
#[derive(Debug, Clone)]
pub struct ExpectedCall {
    /// `tool`.
    pub tool: ToolPattern,
    /// `args`: dotted keys and their values.
    pub args: Vec<(String, Json)>,
}

/// `mode` of `trajectory`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrajectoryMode {
    /// `exact`: these calls in this order, and no others.
    Exact,
    /// `in_order`: these calls in this order, others between them.
    InOrder,
    /// `any_order`: these calls and no others, in any order.
    AnyOrder,
    /// `superset`: at least these calls.
    Superset,
    /// `subset`: no call but these.
    Subset,
}

/// `format` of `output_matches_format`.
#[derive(Debug, Clone)]
pub enum OutputFormat {
    /// `bullet_list`.
    BulletList {
        /// `min_bullets`.
        min: Option<usize>,
        /// `max_bullets`.
        max: Option<usize>,
        /// `max_sentences_per_bullet`.
        max_sentences: Option<usize>,
    },
    /// `numbered_list`.
    NumberedList {
        /// `min_items`.
        min: Option<usize>,
        /// `max_items`.
        max: Option<usize>,
    },
    /// `paragraphs`.
    Paragraphs {
        /// `exact_paragraphs`.
        exact: Option<usize>,
        /// `min_paragraphs`.
        min: Option<usize>,
        /// `max_paragraphs`.
        max: Option<usize>,
    },
    /// `json`.
    Json {
        /// `required_keys`, dotted.
        required_keys: Vec<String>,
        /// `json_schema`.
        json_schema: Option<Json>,
    },
    /// `markdown_table`.
    MarkdownTable,
    /// `single_line`.
    SingleLine,
}

/// A pattern with the text it was made of.
#[derive(Debug, Clone)]
pub struct TextPattern {
    /// As it is written.
    pub text: String,
    /// What it matches; case is already seen to.
    pub regex: Regex,
}

/// How claims are proved.
#[derive(Debug, Clone, Default)]
pub struct ProofRules {
    /// `unproven`: what becomes of a claim that is neither supported nor refuted.
    pub unproven: Unproven,
    /// `equivalents`: groups of words and phrases that mean the same.
    pub equivalents: Vec<Vec<String>>,
    /// `ignore`: sentences that are no claims.
    pub ignored: Vec<TextPattern>,
    /// `min_overlap`: a claim is refuted if all results together have less than this part of its words, from 0 to 1.
    pub min_overlap: Option<f64>,
}

/// `unproven`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unproven {
    /// It is a warning.
    #[default]
    Warn,
    /// It fails.
    Fail,
    /// It passes.
    Pass,
}

macro_rules! assertion_checks {
    ($($(#[$meta:meta])* $variant:ident = $name:literal { $($(#[$field_meta:meta])* $field:ident: $kind:ty,)* })*) => {
        /// `type` and `params` of an assertion.
        #[derive(Debug, Clone)]
        pub enum AssertionCheck {
            $($(#[$meta])* $variant { $($(#[$field_meta])* $field: $kind,)* },)*
        }

        impl AssertionCheck {
            /// Every type as it is written.
            pub const TYPES: &'static [&'static str] = &[$($name,)*];

            /// The type as it is written.
            pub fn type_name(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $name,)* }
            }
        }
    };
}

assertion_checks! {
    /// A tool was called so often.
    MustCallTool = "must_call_tool" {
        /// `tool`.
        tool: ToolPattern,
        /// `min_calls`, 1 if absent.
        min_calls: u64,
        /// `max_calls`.
        max_calls: Option<u64>,
    }
    /// A tool was not called.
    MustNotCallTool = "must_not_call_tool" {
        /// `tool`.
        tool: ToolPattern,
    }
    /// One event precedes another.
    ToolCallOrder = "tool_call_order" {
        /// `before`.
        before: Selector,
        /// `after`.
        after: Selector,
        /// `all`: every one precedes every other.
        all: bool,
    }
    /// The arguments of a tool's calls.
    ToolArgsMatch = "tool_args_match" {
        /// `tool`.
        tool: ToolPattern,
        /// `match`.
        matching: ArgsMatch,
        /// `which`.
        which: Which,
    }
    /// At most so many calls.
    MaxToolCalls = "max_tool_calls" {
        /// `tool` with `max`.
        tool: Option<(ToolPattern, u64)>,
        /// `max_total`.
        max_total: Option<u64>,
    }
    /// Nothing of a kind after the first success.
    StopAfterSuccess = "stop_after_success" {
        /// `success_event`.
        success_event: Selector,
        /// `forbid_following`.
        forbid_following: Vec<Selector>,
        /// `allowed_following_tools`.
        allowed_following_tools: Vec<ToolPattern>,
    }
    /// The output holds something.
    OutputContains = "output_contains" {
        /// `any_of`: one of them.
        any_of: Vec<String>,
        /// `all_of`: all of them.
        all_of: Vec<String>,
        /// `regex`: all of them match.
        regex: Vec<TextPattern>,
        /// `case_sensitive`.
        case_sensitive: bool,
    }
    /// The output doesn't hold something.
    OutputOmits = "output_omits" {
        /// `patterns`, as texts or as regular expressions of which each line has its own beginning and end.
        patterns: Vec<TextPattern>,
    }
    /// The output has a form.
    OutputMatchesFormat = "output_matches_format" {
        /// `format` and what belongs to it.
        format: OutputFormat,
    }
    /// The agent asks before it acts.
    AskClarifyingWhenAmbiguous = "ask_clarifying_when_ambiguous" {
        /// `forbidden_tools`: not to be called before the question.
        forbidden_tools: Vec<ToolPattern>,
        /// `question_patterns`: what counts as a question, beside the usual.
        question_patterns: Vec<TextPattern>,
    }
    /// What the output claims stands in the tools' results.
    ClaimsSupportedByFixtures = "claims_supported_by_fixtures" {
        /// `allowed_sources`: tools whose results count.
        allowed_sources: Vec<ToolPattern>,
        /// How claims are proved.
        proof: ProofRules,
    }
    /// What the output cites was there.
    NoFabricatedSourceOrCitation = "no_fabricated_source_or_citation" {
        /// `allowed_sources`: tools whose results count.
        allowed_sources: Vec<ToolPattern>,
        /// `citation_patterns`: what else is a citation.
        citation_patterns: Vec<TextPattern>,
    }
    /// A memory of the group was read and honoured.
    MemoryRecallSameGroup = "memory_recall_same_group" {
        /// `group_id`; the scenario's if absent.
        group_id: Option<String>,
        /// `expected_memory_fact`.
        expected_memory_fact: String,
        /// `output_patterns`: how the output shows it.
        output_patterns: Vec<TextPattern>,
        /// `require_event`, true if absent.
        require_event: bool,
    }
    /// A correction was remembered.
    MemoryUpdateOnCorrection = "memory_update_on_correction" {
        /// `group_id`; the scenario's if absent.
        group_id: Option<String>,
        /// `corrected_fact`.
        corrected_fact: String,
        /// `stale_fact`.
        stale_fact: Option<String>,
    }
    /// No memory of another group was used.
    NoCrossGroupMemoryUse = "no_cross_group_memory_use" {
        /// `current_group_id`; the scenario's if absent.
        current_group_id: Option<String>,
        /// `forbidden_group_ids`; every other group if empty.
        forbidden_group_ids: Vec<String>,
        /// `canaries`: texts that only the other groups know.
        canaries: Vec<String>,
        /// `require_event_level_proof`.
        require_event_level_proof: bool,
    }
    /// Failed calls are repeated as allowed.
    RetryPolicyRespected = "retry_policy_respected" {
        /// `tool`.
        tool: ToolPattern,
        /// `max_retries`.
        max_retries: u64,
        /// `retry_on_error_types`; every type if empty.
        retry_on_error_types: Vec<String>,
        /// `min_backoff_ms`.
        min_backoff_ms: Option<u64>,
    }
    /// The output admits a failure.
    GracefulFailureOutput = "graceful_failure_output" {
        /// `allowed_failure_phrases`.
        allowed_failure_phrases: Vec<String>,
        /// `must_not_claim_success`, true if absent.
        must_not_claim_success: bool,
        /// `forbidden_success_phrases`.
        forbidden_success_phrases: Vec<String>,
    }
    /// A scheduled task ran.
    SchedulerTaskRuns = "scheduler_task_runs" {
        /// `task_id`; the scenario's if absent.
        task_id: Option<String>,
        /// `trigger_must_equal`, `scheduler` if absent.
        trigger_must_equal: String,
    }
    /// A scheduled task sent so many messages.
    SchedulerOutboundCount = "scheduler_outbound_count" {
        /// `tool`, `outbound_send` if absent.
        tool: ToolPattern,
        /// `exact`.
        exact: Option<u64>,
        /// `min`.
        min: Option<u64>,
        /// `max`.
        max: Option<u64>,
        /// `dedupe_by`: the dotted key of the arguments that makes two messages the same.
        dedupe_by: Option<String>,
    }
    /// The calls as a whole.
    Trajectory = "trajectory" {
        /// `mode`.
        mode: TrajectoryMode,
        /// `calls`.
        calls: Vec<ExpectedCall>,
    }
    /// What a tool answered.
    ToolResultMatches = "tool_result_matches" {
        /// `tool`.
        tool: ToolPattern,
        /// `json_path` into the result; the whole of it if absent.
        json_path: Option<JsonPath>,
        /// What must hold.
        test: ValueTest,
    }
    /// Anything in the trace.
    JsonPath = "json_path" {
        /// `path` over the whole trace as one document.
        path: JsonPath,
        /// `equals`.
        equals: Option<Json>,
        /// `exists`.
        exists: Option<bool>,
        /// `count`.
        count: Option<u64>,
    }
    /// The trace equals a stored one by meaning.
    TraceSnapshot = "trace_snapshot" {
        /// `file`, relative to the folder of the test file.
        file: String,
        /// `ignore`: JSON pointers in which `*` stands for any part.
        ignore: Vec<String>,
    }
    /// It took no longer.
    MaxDurationMs = "max_duration_ms" {
        /// `limit`, in milliseconds.
        limit: f64,
    }
    /// It took no more tokens.
    MaxTokens = "max_tokens" {
        /// `limit`.
        limit: u64,
    }
    /// No more went wrong.
    MaxErrors = "max_errors" {
        /// `limit`.
        limit: u64,
    }
    /// A file, as a player checks it at the end of a run.
    File = "file" {
        /// The parameters as the player reads them.
        params: Json,
    }
    /// The repository, as a player checks it at the end of a run.
    Git = "git" {
        /// The parameters as the player reads them.
        params: Json,
    }
    /// The exit code, as a player checks it at the end of a run.
    ExitCode = "exit_code" {
        /// The parameters as the player reads them.
        params: Json,
    }
    /// The screen, as a player checks it at the end of a run.
    Screen = "screen" {
        /// The parameters as the player reads them.
        params: Json,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_know_every_type() {
        assert_eq!(Selector::EVENT_TYPES, cuecard_trace::EventData::TYPES);
    }
}
