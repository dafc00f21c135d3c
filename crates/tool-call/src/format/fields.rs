//! The one table of keys: what the reader knows, what the schema says.

pub(super) use cuecard_source::value::fields::{Field, names};
use cuecard_source::value::fields::{OBJECT, TEXT, field, required};

/// A number, or text with a reference that gives one.
const NUMBER_OR_REFERENCE: &str =
    r#"{"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}"#;

pub(super) const ROOT: &[Field] = &[
    required(
        "version",
        r#"{"enum": ["2.1", "2.0", "2", 2.1]}"#,
        "Version of the format: \"2.1\".",
    ),
    required(
        "metadata",
        "{\"$ref\": \"#/$defs/metadata\"}",
        "Who made the scenario and what for.",
    ),
    field(
        "variables",
        OBJECT,
        "Variables with their defaults; an empty string means that a value is required.",
    ),
    field(
        "environment",
        OBJECT,
        "What the scenario was recorded with.",
    ),
    field(
        "answers",
        "{\"$ref\": \"#/$defs/answers\"}",
        "What to answer when a server asks something during a call.",
    ),
    required(
        "steps",
        "{\"type\": \"array\", \"minItems\": 1, \"items\": {\"$ref\": \"#/$defs/step\"}}",
        "The steps, played in the order of their numbers.",
    ),
];

pub(super) const METADATA: &[Field] = &[
    required("name", TEXT, "Name of the scenario."),
    field("description", TEXT, "What it does."),
    field("created_at", TEXT, "When it was made (ISO 8601)."),
    field("created_by", TEXT, "Who or what made it."),
    field("target_url", TEXT, "The main page of a browser scenario."),
    field("instruction", TEXT, "What the user had asked for."),
];

pub(super) const ENVIRONMENT: &[Field] = &[
    field("mcp", TEXT, "The MCP server it was recorded with."),
    field(
        "viewport",
        OBJECT,
        "Width and height of the browser's page.",
    ),
    field("recorded_at", TEXT, "When it was recorded (ISO 8601)."),
];

pub(super) const STEP: &[Field] = &[
    required(
        "step",
        r#"{"type": "integer", "minimum": 0}"#,
        "Number of the step: the order of play.",
    ),
    required(
        "tool",
        TEXT,
        "The tool: mcp__server__tool, or a built-in sandy__… or claude__… tool.",
    ),
    required(
        "params",
        OBJECT,
        "The arguments of the call; references are substituted.",
    ),
    field(
        "id",
        r#"{"type": "string", "pattern": "^[\\p{L}\\p{N}_-]+$"}"#,
        "Name by which other steps refer to this one.",
    ),
    field(
        "output",
        r##"{"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/output"}]}}"##,
        "Names for parts of the result, each with a JSONPath (RFC 9535), or a regular expression.",
    ),
    field(
        "output_optional",
        r#"{"type": "boolean"}"#,
        "If true, an output that matches nothing is absent instead of an error.",
    ),
    field("description", TEXT, "What the step does."),
    field(
        "wait_after",
        NUMBER_OR_REFERENCE,
        "Seconds to wait after the step.",
    ),
    field(
        "on_error",
        r#"{"enum": ["stop", "skip", "retry"]}"#,
        "What to do on failure: stop the run, continue, or retry.",
    ),
    field("retry", "{\"$ref\": \"#/$defs/retry\"}", "Retry settings."),
    field(
        "condition",
        TEXT,
        "The step is skipped unless this condition is true.",
    ),
    field(
        "for_each",
        r#"{"anyOf": [{"type": "array", "maxItems": 10000}, {"type": "string"}]}"#,
        "The step runs once for each element of this array, or of the array that a reference gives.",
    ),
    field(
        "as",
        r#"{"type": "string", "pattern": "^[\\p{L}\\p{N}_-]+$"}"#,
        "Name of the element in references (default: item). Its index, from 0, is this name with _index.",
    ),
    field(
        "group",
        r#"{"type": "string", "pattern": "^[\\p{L}\\p{N}_-]+$"}"#,
        "Neighbouring steps with the same group start together; the next step waits for all of them.",
    ),
    field(
        "expect",
        "{\"anyOf\": [{\"$ref\": \"#/$defs/expect\"}, {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/expect\"}}]}",
        "Checks on the step's result.",
    ),
    field(
        "timeout",
        r#"{"type": "number", "exclusiveMinimum": 0}"#,
        "Timeout for each call of the step, in seconds.",
    ),
    field(
        "target",
        "{\"$ref\": \"#/$defs/target\"}",
        "The page element that the call acts on; the player looks up its id.",
    ),
    field(
        "targets",
        "{\"type\": \"object\", \"minProperties\": 1, \"additionalProperties\": {\"$ref\": \"#/$defs/target\"}}",
        "The same for a call about several elements, by the parameters that name them: \"elements[0].uid\".",
    ),
    field(
        "parse",
        r#"{"enum": ["auto", "json", "text", "structured", "content"]}"#,
        "Which part of the tool's response is the result.",
    ),
    field(
        "effect",
        r#"{"const": "once"}"#,
        "The effect must not happen twice: the journal of the run is on the disk before its call, and before it is reported.",
    ),
];

pub(super) const TARGET: &[Field] = &[
    field("role", TEXT, "The element's role, such as \"button\"."),
    field("name", TEXT, "The element's accessible name."),
    field("text", TEXT, "The element's whole name or text."),
    field(
        "within",
        "{\"$ref\": \"#/$defs/place\"}",
        "The container of the element.",
    ),
    field(
        "nth",
        r#"{"type": "integer", "minimum": 1}"#,
        "Which of several elements it is, in the order of the page, from 1.",
    ),
    field("selector", TEXT, "A CSS selector that matches the element."),
];

pub(super) const PLACE: &[Field] = &[
    field(
        "role",
        TEXT,
        "Its role, such as \"row\", \"dialog\" or \"form\".",
    ),
    field(
        "name",
        TEXT,
        "Its accessible name; of a row also the text of its first cell or heading, or of all of it.",
    ),
    field(
        "text",
        TEXT,
        "A text in it: the whole of one of its cells, headings or lines.",
    ),
];

pub(super) const RETRY: &[Field] = &[
    field(
        "count",
        NUMBER_OR_REFERENCE,
        "Maximum number of retries (default 3).",
    ),
    field(
        "delay",
        NUMBER_OR_REFERENCE,
        "Delay before the first retry, in milliseconds (default 500).",
    ),
    field(
        "condition",
        r#"{"type": ["string", "array", "null"], "items": {"type": "string"}}"#,
        "Retry only if the error contains this text, or one of these.",
    ),
    field(
        "max_ms",
        NUMBER_OR_REFERENCE,
        "No retry starts later than this many milliseconds after the first call.",
    ),
    field(
        "backoff",
        r#"{"enum": ["exponential", "constant"]}"#,
        "Whether the delay doubles each time, up to 30 s (default), or stays constant.",
    ),
    field(
        "then",
        r#"{"enum": ["stop", "skip"]}"#,
        "What to do when all retries have failed (default stop).",
    ),
];

pub(super) const OUTPUT: &[Field] = &[
    required(
        "regex",
        TEXT,
        "A regular expression: its first group, or the whole match, is the output.",
    ),
    field(
        "from",
        TEXT,
        "The JSONPath of the text to search (default: the whole result).",
    ),
];

pub(super) const EXPECT: &[Field] = &[
    field(
        "json_path",
        TEXT,
        "The part of the result to look at (default: all of it).",
    ),
    field("equals", "true", "The value it must equal."),
    field(
        "contains",
        "true",
        "A substring, array element or object key that it must contain.",
    ),
    field(
        "strict",
        r#"{"type": "boolean"}"#,
        "Whether `equals` and `contains` compare types too, so that 5 is not \"5\".",
    ),
    field("matches", TEXT, "A regular expression its text must match."),
    field(
        "json_schema",
        r#"{"type": ["object", "boolean"]}"#,
        "A JSON Schema it must satisfy.",
    ),
    field(
        "max_ms",
        r#"{"type": "number", "minimum": 0}"#,
        "The maximum duration of the call, in milliseconds.",
    ),
    field(
        "shows",
        TEXT,
        "A text that the page must show, if the result is a snapshot of one.",
    ),
    field(
        "lacks",
        TEXT,
        "A text that the page must not show, if the result is a snapshot of one.",
    ),
    field(
        "elements",
        "{\"$ref\": \"#/$defs/elements\"}",
        "Elements that the page must have, if the result is a snapshot of one.",
    ),
];

pub(super) const ELEMENTS: &[Field] = &[
    field("role", TEXT, "The role of each, such as \"button\"."),
    field(
        "name",
        TEXT,
        "The accessible name of each; if no element has exactly this name, all of its words must match.",
    ),
    field("text", TEXT, "The whole name or text of each."),
    field(
        "within",
        "{\"$ref\": \"#/$defs/place\"}",
        "What each of them is in.",
    ),
    field(
        "count",
        r##"{"anyOf": [{"type": "integer", "minimum": 0}, {"$ref": "#/$defs/count"}]}"##,
        "How many there must be (default: at least one).",
    ),
];

pub(super) const COUNT: &[Field] = &[
    field(
        "min",
        r#"{"type": "integer", "minimum": 0}"#,
        "The minimum.",
    ),
    field(
        "max",
        r#"{"type": "integer", "minimum": 0}"#,
        "The maximum.",
    ),
];

pub(super) const ANSWERS: &[Field] = &[
    field(
        "roots",
        "{\"type\": \"array\", \"items\": {\"anyOf\": [{\"type\": \"string\"}, {\"$ref\": \"#/$defs/root\"}]}}",
        "The folders that servers may ask for, as paths or URIs.",
    ),
    field(
        "sampling",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/sampling\"}}",
        "Responses of a model to sampling requests; the first matching one is used.",
    ),
    field(
        "elicitation",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/elicitation\"}}",
        "Answers to elicitation requests; the first matching one is used.",
    ),
];

pub(super) const ROOT_FOLDER: &[Field] = &[
    required("uri", TEXT, "Its URI, or its path."),
    field("name", TEXT, "Its name for people."),
];

pub(super) const SAMPLING: &[Field] = &[
    field(
        "match",
        "{\"anyOf\": [{\"type\": \"string\"}, {\"$ref\": \"#/$defs/sampling_match\"}]}",
        "Which requests it is for: a text in the last message of the user, or an object (default: all).",
    ),
    required(
        "reply",
        "{\"anyOf\": [{\"type\": \"string\"}, {\"$ref\": \"#/$defs/reply\"}]}",
        "What the model responds: a text, or an object.",
    ),
];

pub(super) const REPLY: &[Field] = &[
    required(
        "content",
        r#"{"type": ["string", "object", "array"]}"#,
        "A text, a content block, or an array of content blocks.",
    ),
    field("model", TEXT, "The name of the model (default: mock)."),
    field(
        "stopReason",
        TEXT,
        "Why the model stopped (default: endTurn).",
    ),
];

pub(super) const ELICITATION: &[Field] = &[
    field(
        "match",
        "{\"anyOf\": [{\"type\": \"string\"}, {\"$ref\": \"#/$defs/match\"}]}",
        "Which questions it is for: a text in the question's message, or an object (default: all).",
    ),
    field(
        "action",
        r#"{"enum": ["accept", "decline", "cancel"]}"#,
        "What the user does (default: accept).",
    ),
    field(
        "content",
        OBJECT,
        "The form values to submit; without it, an accepted form uses its defaults.",
    ),
];

const CONTAINS: Field = field("contains", TEXT, "A text in the message.");
const EQUALS: Field = field("equals", TEXT, "The whole message.");
const MATCHES: Field = field(
    "matches",
    TEXT,
    "A regular expression that the message must match.",
);
const SERVER: Field = field("server", TEXT, "The only server whose requests it is for.");

pub(super) const ELICITATION_MATCH: &[Field] = &[CONTAINS, EQUALS, MATCHES, SERVER];

pub(super) const SAMPLING_MATCH: &[Field] = &[
    CONTAINS,
    EQUALS,
    MATCHES,
    SERVER,
    field(
        "model",
        TEXT,
        "A text in one of the model names that the server prefers.",
    ),
];
