//! The one table of keys: what the loader knows, what the schema says.

use cuecard_source::value::fields::{
    ANY, COUNT, FLAG, Field, OBJECT, TEXT, TEXTS, field, required,
};

const TIME: &str = "{\"$ref\": \"#/$defs/time\"}";
const META: &str = "{\"$ref\": \"#/$defs/meta\"}";
const BLOCKS: &str = "{\"$ref\": \"#/$defs/content\"}";
const ENTRIES: &str = "{\"$ref\": \"#/$defs/plan_entries\"}";

pub(super) const ROOT: &[Field] = &[
    required(
        "name",
        r#"{"type": "string", "minLength": 1}"#,
        "Name of the timeline.",
    ),
    field("description", TEXT, "What it is for, for people."),
    field("tags", TEXTS, "Words to choose timelines by."),
    field(
        "terminalRef",
        r#"{"type": ["string", "object"]}"#,
        "Path of a terminal configuration.",
    ),
    field(
        "compat",
        "{\"$ref\": \"#/$defs/compat\"}",
        "Older forms that need no warning.",
    ),
    field(
        "repo",
        "{\"$ref\": \"#/$defs/repo\"}",
        "The workspace that the agent starts in.",
    ),
    field(
        "ah",
        "{\"$ref\": \"#/$defs/ah\"}",
        "The program under test.",
    ),
    field(
        "server",
        "{\"$ref\": \"#/$defs/server\"}",
        "How the stand-ins for services behave.",
    ),
    field(
        "match",
        "{\"$ref\": \"#/$defs/match\"}",
        "What a request to a model must be like, beside its prompt, to choose the timeline.",
    ),
    field(
        "acp",
        "{\"$ref\": \"#/$defs/acp\"}",
        "How the stand-in for an ACP agent behaves.",
    ),
    required(
        "timeline",
        "{\"$ref\": \"#/$defs/timeline\"}",
        "What happens, in order.",
    ),
    field(
        "expect",
        "{\"$ref\": \"#/$defs/expect\"}",
        "What holds after the run.",
    ),
    field(
        "initialPrompt",
        TEXT,
        "Legacy: what the timeline is chosen by if it has no userInputs.",
    ),
];

/// Keys that may stand beside every event.
pub(super) const EVERYWHERE: &[Field] = &[
    field("_meta", META, "For extensions."),
    field(
        "fault",
        "{\"$ref\": \"#/$defs/fault\"}",
        "What goes wrong on the wire.",
    ),
];

pub(super) const RESPONSE: &[Field] = &[
    field(
        "think",
        "{\"$ref\": \"#/$defs/texts_in_time\"}",
        "What the model thinks.",
    ),
    field(
        "assistant",
        "{\"$ref\": \"#/$defs/blocks_in_time\"}",
        "What the model says.",
    ),
    field(
        "error",
        "{\"$ref\": \"#/$defs/error\"}",
        "How the request fails.",
    ),
];

pub(super) const TOOL_USE: &[Field] = &[
    required("toolName", TEXT, "The tool."),
    field("args", OBJECT, "Its arguments."),
    field(
        "progress",
        "{\"$ref\": \"#/$defs/texts_in_time\"}",
        "What it says while it runs.",
    ),
    field("result", ANY, "What it gives back."),
    field(
        "status",
        r#"{"enum": ["ok", "error"]}"#,
        "Whether it works (default: ok).",
    ),
    field(
        "toolExecution",
        "{\"$ref\": \"#/$defs/tool_execution\"}",
        "Its output over time, where nothing runs.",
    ),
    field(
        "delayMs",
        TIME,
        "Milliseconds before it starts (default: 0).",
    ),
    field("toolCallId", TEXT, "Id of the call (default: counted)."),
    field(
        "rawInput",
        ANY,
        "Input shown to the client (default: the arguments).",
    ),
    field(
        "rawArguments",
        TEXT,
        "Text that a model sends in place of the arguments, whatever it is.",
    ),
    field(
        "validate",
        FLAG,
        "Whether the call must be one that the request advertises (default: true).",
    ),
    field(
        "kind",
        r#"{"enum": ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]}"#,
        "Kind of the call (default: the tool's).",
    ),
];

pub(super) const TOOL_EXECUTION: &[Field] = &[
    field("startTimeMs", TIME, "From the start of the call."),
    field(
        "events",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/tool_execution_event\"}}",
        "What happens.",
    ),
];

pub(super) const TOOL_EXECUTION_EVENT: &[Field] = &[
    required(
        "type",
        r#"{"enum": ["stdout", "stderr", "progress", "completion"]}"#,
        "What happens.",
    ),
    required("timeMs", TIME, "From the start of the execution."),
    field("content", TEXT, "Output or message."),
    field(
        "exitCode",
        r#"{"type": "integer"}"#,
        "Exit code at the completion.",
    ),
];

pub(super) const USER_INPUT: &[Field] = &[
    required("relativeTime", TIME, "From the base."),
    required("input", BLOCKS, "Text, or a list of content blocks."),
    field(
        "target",
        r#"{"enum": ["tui", "webui", "cli"]}"#,
        "Where it is entered (default: everywhere).",
    ),
    field(
        "exact",
        FLAG,
        "Whether a client may say nothing beside it (default: false).",
    ),
    field("expectedResponse", OBJECT, "What the prompt is answered."),
    field("_meta", META, "For extensions."),
];

pub(super) const INPUTS_SIBLINGS: &[Field] = &[field(
    "target",
    r#"{"enum": ["tui", "webui", "cli"]}"#,
    "Where the entries are entered that don't say it themselves.",
)];

pub(super) const AT: &[Field] = &[field("at", TIME, "When, from the base.")];

pub(super) const EXPECTED_RESPONSE: &[Field] = &[field(
    "expectedResponse",
    OBJECT,
    "What it is answered with.",
)];

/// Keys of the kinds of content blocks, `type` aside.
pub(super) const BLOCK: &[Field] = &[
    required(
        "type",
        r#"{"enum": ["text", "image", "audio", "resource", "resource_link", "diff", "plan"]}"#,
        "The kind of block.",
    ),
    field("text", TEXT, "The text."),
    field("mimeType", TEXT, "Media type."),
    field("path", TEXT, "A file next to the timeline, or of a diff."),
    field("data", TEXT, "Bytes in base64."),
    field("uri", TEXT, "Where it is from."),
    field(
        "resource",
        "{\"$ref\": \"#/$defs/resource\"}",
        "The resource itself.",
    ),
    field("name", TEXT, "Name of a resource."),
    field("title", TEXT, "Title of a resource."),
    field("description", TEXT, "What a resource is."),
    field("size", COUNT, "Size of a resource in bytes."),
    field("oldText", TEXT, "What a diff replaces."),
    field("newText", TEXT, "What a diff writes."),
    field("entries", ENTRIES, "What is planned."),
    field(
        "compare",
        r#"{"enum": ["data", "kind"]}"#,
        "What is compared of a block in a prompt: its data (default), or only its kind.",
    ),
    field(
        "annotations",
        r#"{"type": ["object", "array"]}"#,
        "Who it is for, and how important it is.",
    ),
    field("_meta", META, "For extensions."),
];

pub(super) const RESOURCE: &[Field] = &[
    required("uri", TEXT, "Where it is from."),
    field("mimeType", TEXT, "Media type."),
    field("text", TEXT, "Its text."),
    field("blob", TEXT, "Its bytes in base64."),
];

pub(super) const ANNOTATIONS: &[Field] = &[
    field(
        "audience",
        r#"{"type": "array", "items": {"enum": ["user", "assistant"]}}"#,
        "Who it is for.",
    ),
    field(
        "priority",
        r#"{"type": "number", "minimum": 0, "maximum": 1}"#,
        "How important it is.",
    ),
    field("lastModified", TEXT, "When it was changed."),
];

pub(super) const TIMED_TEXT: &[Field] = &[
    required("relativeTime", TIME, "From the base."),
    required("content", TEXT, "The text."),
];

pub(super) const TIMED_BLOCK: &[Field] = &[
    required("relativeTime", TIME, "From the base."),
    required(
        "content",
        "{\"$ref\": \"#/$defs/block_or_text\"}",
        "Text or a content block.",
    ),
    field("_meta", META, "For extensions."),
];

pub(super) const TIMED_MESSAGE: &[Field] = &[
    required("relativeTime", TIME, "From the base."),
    required("message", TEXT, "The message."),
    field(
        "expectOutput",
        TEXT,
        "What the real output must hold by then.",
    ),
];
