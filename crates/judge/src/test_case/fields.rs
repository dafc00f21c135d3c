//! The one table of keys: what the reader knows, what the schema says.

use cuecard_source::value::fields::{Field, OBJECT, TEXT, field, required};

pub(super) const TEXTS: &str = r#"{"type": ["array", "string"], "items": {"type": "string"}}"#;
pub(super) const FLAG: &str = r#"{"type": "boolean"}"#;
pub(super) const COUNT: &str = r#"{"type": "integer", "minimum": 0}"#;
pub(super) const ANY: &str = "true";
const OPTIONAL_TEXT: &str = r#"{"type": ["string", "null"]}"#;
const OPTIONAL_OBJECT: &str = r#"{"type": ["object", "null"]}"#;
const MESSAGES: &str =
    "{\"type\": [\"array\", \"null\"], \"items\": {\"$ref\": \"#/$defs/message\"}}";

pub(super) const ROOT: &[Field] = &[
    required(
        "schema_version",
        r#"{"enum": ["0.1", 0.1]}"#,
        "Version of the format: \"0.1\".",
    ),
    required("id", TEXT, "Name of the test case, unique in its suite."),
    field("title", OPTIONAL_TEXT, "A human-readable title."),
    field("description", OPTIONAL_TEXT, "A description."),
    field("tags", TEXTS, "Tags for selecting test cases."),
    required(
        "adapter",
        r#"{"enum": ["nanoclaw", "cuecard"]}"#,
        "The source of the trace: a NanoClaw agent or its replay bundle, or Cuecard.",
    ),
    field(
        "mode",
        r#"{"enum": ["replay", "live", null]}"#,
        "Whether NanoClaw's bundle is read or made (default: replay).",
    ),
    required(
        "adapter_input",
        "{\"$ref\": \"#/$defs/adapter_input\"}",
        "Where the trace comes from.",
    ),
    field(
        "scenario",
        "{\"$ref\": \"#/$defs/scenario\"}",
        "The situation of the agent.",
    ),
    field(
        "tools",
        "{\"$ref\": \"#/$defs/tools\"}",
        "What the agent could call.",
    ),
    required(
        "assertions",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/assertion\"}}",
        "The assertions on the trace.",
    ),
    field(
        "expected",
        "{\"$ref\": \"#/$defs/expected\"}",
        "What is expected, for people.",
    ),
    field(
        "reporting",
        "{\"$ref\": \"#/$defs/reporting\"}",
        "What to store from a run.",
    ),
];

pub(super) const INPUT: &[Field] = &[
    field("replay_file", TEXT, "NanoClaw's replay bundle."),
    field(
        "command",
        r#"{"type": "array", "items": {"type": "string"}, "minItems": 1}"#,
        "Program and arguments that produce a replay bundle.",
    ),
    field("play", TEXT, "A tool-call scenario to play."),
    field(
        "variables",
        OBJECT,
        "Values for the variables of the played scenario.",
    ),
    field("trace_file", TEXT, "The trace of an earlier run."),
    field("transcript", TEXT, "A run that another program recorded."),
    field(
        "format",
        r#"{"enum": ["atif", "otlp", "claude-code", "codex"]}"#,
        "What the transcript is.",
    ),
];

/// Known, and not run by this release.
pub(super) const LATER_INPUT: &[&str] = &["run"];

pub(super) const CONTEXT: &[Field] = &[
    field(
        "group_id",
        OPTIONAL_TEXT,
        "The group that the agent works for.",
    ),
    field("session_id", OPTIONAL_TEXT, "The session."),
    field("task_id", OPTIONAL_TEXT, "The scheduled task."),
    field(
        "trigger",
        r#"{"enum": ["user_message", "scheduler", null]}"#,
        "What made the agent act (default: user_message).",
    ),
    field(
        "scheduler_context",
        OPTIONAL_OBJECT,
        "The task of a scheduler.",
    ),
    field("input_messages", MESSAGES, "What the agent was asked."),
    field("prior_messages", MESSAGES, "What was said before."),
    field("memory_snapshot", ANY, "What the agent remembered."),
    field("mounts", ANY, "What the agent's container had."),
];

pub(super) const SCHEDULER: &[Field] = &[
    field("task_id", OPTIONAL_TEXT, "The task."),
    field("task_name", OPTIONAL_TEXT, "Its name."),
    field(
        "scheduled_for",
        OPTIONAL_TEXT,
        "When it was scheduled to run (RFC 3339).",
    ),
    field(
        "timezone",
        OPTIONAL_TEXT,
        "The time zone it was planned in.",
    ),
];

pub(super) const MESSAGE: &[Field] = &[
    required("role", TEXT, "Who said it: user, assistant or system."),
    required("content", TEXT, "What was said."),
];

pub(super) const TOOLS: &[Field] = &[
    field(
        "available",
        TEXTS,
        "Names of the tools; a call of any other is a warning.",
    ),
    field(
        "fixtures",
        "{\"type\": [\"array\", \"null\"], \"items\": {\"$ref\": \"#/$defs/fixture\"}}",
        "Results that tool results may refer to.",
    ),
    field(
        "policy",
        "{\"$ref\": \"#/$defs/policy\"}",
        "Bounds on the calls.",
    ),
];

pub(super) const FIXTURE: &[Field] = &[
    required("id", TEXT, "The name that tool results refer to."),
    required("tool", TEXT, "The tool that answers so."),
    field("description", OPTIONAL_TEXT, "What it stands for."),
    field("result", ANY, "What the tool answers."),
    field("error", ANY, "How the tool fails."),
];

pub(super) const POLICY: &[Field] = &[
    field(
        "max_calls",
        COUNT,
        "The maximum number of calls of all tools together.",
    ),
    field(
        "forbidden",
        TEXTS,
        "Tools that must not be called; globs are allowed.",
    ),
];

pub(super) const EXPECTED: &[Field] = &[
    field("outcome", OPTIONAL_TEXT, "The outcome, in words."),
    field(
        "failure_categories",
        TEXTS,
        "What a failure of this test case means; included in the result.",
    ),
];

pub(super) const REPORTING: &[Field] = &[
    field(
        "save_trace",
        FLAG,
        "Whether the trace is kept (default: true).",
    ),
    field(
        "redact_fields",
        TEXTS,
        "JSON pointers or key names whose values are never written.",
    ),
];

pub(super) const ASSERTION: &[Field] = &[
    required(
        "id",
        TEXT,
        "Name of the assertion, unique in its test case.",
    ),
    required("type", TEXT, "What is asserted."),
    field(
        "severity",
        r#"{"enum": ["critical", "warning", null]}"#,
        "Whether it fails the test (default: critical) or only warns.",
    ),
    field(
        "requires_capabilities",
        TEXTS,
        "Capabilities that the trace must have; otherwise the assertion is skipped.",
    ),
    field("params", OPTIONAL_OBJECT, "The parameters of the type."),
];
