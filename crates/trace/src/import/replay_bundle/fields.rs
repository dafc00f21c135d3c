//! The one table of keys, object by object: what the reader knows, what the schema says. Where a key may be left
//! out, null is the same as leaving it out.

use cuecard_source::value::fields::{Field, field, required};

const ANY: &str = "true";
const TEXT: &str = r#"{"type": ["string", "null"]}"#;
const NEEDED_TEXT: &str = r#"{"type": "string"}"#;
const NAME: &str = r#"{"type": "string", "minLength": 1}"#;
const FLAG: &str = r#"{"type": ["boolean", "null"]}"#;
const NEEDED_FLAG: &str = r#"{"type": "boolean"}"#;
const COUNT: &str = r#"{"type": ["integer", "null"], "minimum": 0}"#;
const MILLISECONDS: &str = r#"{"type": ["number", "null"], "minimum": 0}"#;
const NEEDED_MILLISECONDS: &str = r#"{"type": "number", "minimum": 0}"#;
const OBJECT: &str = r#"{"type": ["object", "null"]}"#;
const TIME: &str = r#"{"type": ["string", "null"], "format": "date-time"}"#;

/// The keys of a bundle.
pub(super) const ROOT: &[Field] = &[
    required(
        "schema_version",
        r#"{"const": "0.1"}"#,
        "Version of the format: \"0.1\".",
    ),
    required(
        "adapter",
        r#"{"const": "nanoclaw-replay"}"#,
        "What the bundle is written for.",
    ),
    required(
        "scenario",
        "{\"$ref\": \"#/$defs/scenario\"}",
        "Whose agent ran, and what made it act.",
    ),
    field(
        "capabilities",
        r#"{"type": ["object", "null"], "additionalProperties": {"type": ["boolean", "null"]}}"#,
        "What the run can be asked.",
    ),
    required(
        "input_messages",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/message\"}}",
        "What the agent was told first.",
    ),
    required(
        "script",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/step\"}}",
        "The steps of the run, in the order in which they happened.",
    ),
    field(
        "final_output",
        "{\"anyOf\": [{\"$ref\": \"#/$defs/final_output\"}, {\"type\": \"null\"}]}",
        "The last answer; a run that succeeded has one, here or as a step.",
    ),
    required(
        "status",
        r#"{"enum": ["success", "partial", "failed", "blocked"]}"#,
        "How the run ended.",
    ),
    required(
        "metrics",
        "{\"$ref\": \"#/$defs/metrics\"}",
        "What the run took.",
    ),
    field("artifacts", OBJECT, "Files that belong to the run."),
];

/// The keys of `scenario`.
pub(super) const SCENARIO: &[Field] = &[
    required("group_id", NAME, "The group whose agent ran."),
    field("session_id", TEXT, "The session."),
    field("task_id", TEXT, "The scheduled task."),
    required(
        "trigger",
        r#"{"enum": ["user_message", "scheduler"]}"#,
        "What made the agent act.",
    ),
    field(
        "scheduler_context",
        OBJECT,
        "The task of a scheduler; a run of the scheduler has one.",
    ),
];

/// The keys of `scheduler_context`.
pub(super) const SCHEDULER_CONTEXT: &[Field] = &[
    field("task_id", ANY, "The task."),
    field("task_name", ANY, "Its name."),
    field(
        "scheduled_for",
        ANY,
        "When it was scheduled to run (RFC 3339).",
    ),
    field("timezone", ANY, "The time zone it was planned in."),
];

/// The keys of an input message.
pub(super) const MESSAGE: &[Field] = &[
    field("role", TEXT, "Who said it (default: user)."),
    required("content", NEEDED_TEXT, "What was said."),
    field("ts", TIME, "When (RFC 3339)."),
];

/// The keys of the final output.
pub(super) const FINAL_OUTPUT: &[Field] = &[
    field("role", TEXT, "Who gave it (default: assistant)."),
    field("content", TEXT, "Its text."),
    field("format_hint", TEXT, "What form it has."),
];

/// The keys of `metrics`.
pub(super) const METRICS: &[Field] = &[
    required(
        "timing_ms_total",
        NEEDED_MILLISECONDS,
        "The time of the whole run in milliseconds.",
    ),
    field(
        "tool_call_count",
        COUNT,
        "Tool calls; those of the script are counted.",
    ),
    field("retry_count", COUNT, "Calls that repeated a failed one."),
    field(
        "token_usage",
        r#"{"type": ["integer", "object", "null"]}"#,
        "Tokens: a number, or an object with `total_tokens`, or `input_tokens` and `output_tokens`.",
    ),
];

/// Keys of every step.
pub(super) const STEP: &[Field] = &[
    required("type", NEEDED_TEXT, "What happened."),
    field(
        "event_id",
        r#"{"type": ["string", "null"], "minLength": 1}"#,
        "Its id, unique in the bundle.",
    ),
    field("ts", TIME, "When (RFC 3339)."),
    field("group_id", TEXT, "The group it belongs to."),
    field("session_id", TEXT, "The session it belongs to."),
    field("task_id", TEXT, "The task it belongs to."),
    field("agent_id", TEXT, "The agent it belongs to."),
    field("parent_event_id", TEXT, "The event it answers."),
];

/// A type of step.
pub(super) struct StepType {
    pub name: &'static str,
    pub meaning: &'static str,
    /// Its own keys.
    pub fields: &'static [Field],
}

const TOOL: Field = required("tool", NAME, "The tool's name.");
const CALL_ID: Field = required("call_id", NAME, "What a call and its result share.");
const SOURCE: Field = field("source", TEXT, "The kind of memory.");
const PATH: Field = field("path", TEXT, "Which file or key.");

/// The types of steps.
pub(super) const STEPS: &[StepType] = &[
    StepType {
        name: "message_received",
        meaning: "A message reached the agent.",
        fields: &[
            field("role", TEXT, "Who wrote it (default: user)."),
            required("content", NEEDED_TEXT, "Its text."),
        ],
    },
    StepType {
        name: "tool_call",
        meaning: "A tool was called.",
        fields: &[
            TOOL,
            CALL_ID,
            field("args", ANY, "What it was called with."),
            field("native_tool", TEXT, "The name that the agent itself used."),
            field("attempt", COUNT, "Which attempt it was, from 1."),
        ],
    },
    StepType {
        name: "tool_result",
        meaning: "A tool answered.",
        fields: &[
            TOOL,
            CALL_ID,
            required(
                "success",
                NEEDED_FLAG,
                "Whether the call did what it was asked.",
            ),
            field("result", ANY, "What it answered."),
            field("text", TEXT, "The whole text of the answer."),
            field(
                "fixture_id",
                TEXT,
                "The fixture of the test case that the result is taken from.",
            ),
            field("duration_ms", MILLISECONDS, "How long it took."),
        ],
    },
    StepType {
        name: "memory_read",
        meaning: "The agent read its memory.",
        fields: &[SOURCE, PATH, field("content", TEXT, "What was read.")],
    },
    StepType {
        name: "memory_write",
        meaning: "The agent wrote its memory.",
        fields: &[
            SOURCE,
            PATH,
            field("content", TEXT, "What was written."),
            field("change_summary", TEXT, "What changed, in words."),
        ],
    },
    StepType {
        name: "error",
        meaning: "Something went wrong.",
        fields: &[
            field(
                "scope",
                r#"{"enum": ["tool", "model", "runtime", null]}"#,
                "Where it went wrong.",
            ),
            field("tool", TEXT, "The tool concerned."),
            field("call_id", TEXT, "The call concerned."),
            required(
                "error_type",
                NAME,
                "A word for machines, for example `timeout`.",
            ),
            field("message", TEXT, "What went wrong, for people."),
            field("retryable", FLAG, "Whether trying again may help."),
        ],
    },
    StepType {
        name: "final_output",
        meaning: "The agent gave its last answer.",
        fields: &[
            field("role", TEXT, "Who gave it (default: assistant)."),
            required("content", NEEDED_TEXT, "Its text."),
            field("format_hint", TEXT, "What form it has."),
        ],
    },
];
