//! The one table of keys: what the readers know, what the schemas say.

use cuecard_source::value::fields::{Field, OBJECT, TEXT, field, required};

const FLAG: &str = r#"{"type": "boolean"}"#;
const MILLISECONDS: &str = r#"{"type": "integer", "minimum": 1}"#;
const TEXTS: &str = r#"{"type": "array", "items": {"type": "string"}}"#;
const VALUE: &str = r#"{"type": ["string", "number", "boolean"]}"#;

pub(super) const ROOT: &[Field] = &[
    required(
        "url",
        TEXT,
        "Where it begins: http, https, file or about:blank. May hold {{references}}.",
    ),
    required(
        "actions",
        "{\"type\": \"array\", \"minItems\": 1, \"maxItems\": 500, \"items\": {\"anyOf\": [{\"type\": \"string\", \"minLength\": 1, \"maxLength\": 2000}, {\"$ref\": \"#/$defs/action\"}]}}",
        "Sentences, one action each.",
    ),
    field(
        "options",
        "{\"$ref\": \"#/$defs/options\"}",
        "How they are read and played.",
    ),
    field(
        "variables",
        OBJECT,
        "Values for references; null if a value must be given.",
    ),
    field(
        "secrets",
        TEXTS,
        "Names of variables whose values are never shown.",
    ),
];

pub(super) const ACTION: &[Field] = &[
    required("action", TEXT, "The sentence."),
    field(
        "timeoutMs",
        MILLISECONDS,
        "How long it may take, in milliseconds.",
    ),
    field("optional", FLAG, "Whether its failure is only a warning."),
];

pub(super) const OPTIONS: &[Field] = &[
    field(
        "timeoutMs",
        MILLISECONDS,
        "How long the whole parse may take (default: 300000).",
    ),
    field(
        "actionTimeoutMs",
        MILLISECONDS,
        "How long an action may take (default: 30000).",
    ),
    field(
        "assertTimeoutMs",
        MILLISECONDS,
        "How long an assertion may take to hold (default: 5000).",
    ),
    field(
        "viewport",
        "{\"$ref\": \"#/$defs/viewport\"}",
        "The size of the page (default: 1280 × 720).",
    ),
    field(
        "locale",
        TEXT,
        "The language of the browser (default: en-US).",
    ),
    field(
        "timezone",
        TEXT,
        "The time zone of the browser (default: UTC).",
    ),
    field(
        "storageState",
        TEXT,
        "A file with cookies and local storage.",
    ),
    field(
        "testIdAttribute",
        TEXT,
        "The attribute that tests name elements by (default: data-testid).",
    ),
    field(
        "translator",
        r#"{"enum": ["rules", "model", "rules+model"]}"#,
        "What reads the sentences (default: rules+model).",
    ),
    field(
        "minConfidence",
        r#"{"type": "number", "minimum": 0, "maximum": 1}"#,
        "How sure a model must be (default: 0.6).",
    ),
    field(
        "maxReplies",
        r#"{"type": "integer", "minimum": 1, "maximum": 10}"#,
        "Replies of a model for one sentence (default: 3).",
    ),
    field(
        "promptBudget",
        r#"{"type": "integer", "minimum": 500, "maximum": 1000000}"#,
        "Characters for the text of a page (default: 24000).",
    ),
    field(
        "onFailure",
        r#"{"enum": ["stop", "continue"]}"#,
        "What a failed action does (default: stop).",
    ),
    field(
        "onDialog",
        r#"{"enum": ["dismiss", "accept"]}"#,
        "What becomes of dialogs (default: dismiss).",
    ),
    field(
        "includeAttributes",
        TEXTS,
        "Attributes that the model sees too.",
    ),
    field("llm", "{\"$ref\": \"#/$defs/llm\"}", "Which model."),
];

pub(super) const VIEWPORT: &[Field] = &[
    required(
        "width",
        r#"{"type": "integer", "minimum": 1, "maximum": 10000}"#,
        "Width in CSS pixels.",
    ),
    required(
        "height",
        r#"{"type": "integer", "minimum": 1, "maximum": 10000}"#,
        "Height in CSS pixels.",
    ),
];

pub(super) const LLM: &[Field] = &[
    required(
        "provider",
        r#"{"enum": ["openai", "anthropic"]}"#,
        "The API that it speaks.",
    ),
    required("model", TEXT, "Its name."),
    field("baseUrl", TEXT, "Where it is."),
    field("apiKeyEnv", TEXT, "The environment variable with the key."),
];

pub(super) const STEPS_ROOT: &[Field] = &[
    field("success", FLAG, "Whether every action gave a step."),
    field(
        "executionTimeMs",
        r#"{"type": "integer", "minimum": 0}"#,
        "How long it took.",
    ),
    field("extractedContent", TEXT, "The text that was read last."),
    required(
        "testSteps",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/step\"}}",
        "The steps, in order.",
    ),
    field(
        "status",
        r#"{"enum": ["success", "partial", "failed"]}"#,
        "How many actions gave a step.",
    ),
    field(
        "errors",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/error\"}}",
        "Why actions gave none.",
    ),
    required(
        "version",
        r#"{"enum": ["cuecard-steps/2", "cuecard-steps/1"]}"#,
        "Version of the format.",
    ),
    required("url", TEXT, "Where it begins."),
    field("observed", OBJECT, "What was seen when that was opened."),
    field("options", OBJECT, "As in the script."),
    field("variables", OBJECT, "Values for references."),
    field(
        "secrets",
        TEXTS,
        "Names of variables whose values are never shown.",
    ),
];

pub(super) const STEP: &[Field] = &[
    required("id", TEXT, "Its id, unique in the file."),
    required("description", TEXT, "The sentence."),
    required(
        "action",
        "{\"enum\": [\"click\", \"doubleClick\", \"rightClick\", \"input\", \"navigate\", \"assert\", \"select\", \"press\", \"hover\", \"scroll\", \"wait\", \"upload\", \"extract\", \"drag\"]}",
        "What it does.",
    ),
    field("selector", TEXT, "The selector of its element."),
    field("value", VALUE, "What is typed, chosen or expected."),
    field("url", TEXT, "Where to navigate."),
    field(
        "context",
        OBJECT,
        "The page before it: domStructureSnapshot, fullDomSnapshot.",
    ),
    field(
        "selectors",
        TEXTS,
        "Selectors of its element, the most lasting first.",
    ),
    field(
        "fingerprint",
        "{\"$ref\": \"#/$defs/fingerprint\"}",
        "What its element was.",
    ),
    field(
        "translator",
        r#"{"enum": ["rules", "words", "model"]}"#,
        "Who read the sentence: the rules, in one of their forms or by all of its words, or a model.",
    ),
    field(
        "index",
        r#"{"type": "integer", "minimum": 0}"#,
        "The index that its element had.",
    ),
    field(
        "to",
        r##"{"$ref": "#/$defs/element"}"##,
        "The element that it is dragged to.",
    ),
    field(
        "assertion",
        "{\"$ref\": \"#/$defs/assertion\"}",
        "What must hold.",
    ),
    field("key", TEXT, "The key that is pressed."),
    field(
        "direction",
        r#"{"enum": ["up", "down", "top", "bottom"]}"#,
        "Where to scroll.",
    ),
    field("durationMs", MILLISECONDS, "How long to wait."),
    field(
        "tab",
        r#"{"type": "integer", "minimum": 0}"#,
        "The tab it acts in, from 0.",
    ),
    field(
        "timeout",
        MILLISECONDS,
        "How long it may take, in milliseconds.",
    ),
    field(
        "waitFor",
        r#"{"enum": ["visible", "networkidle", "domcontentloaded", "load"]}"#,
        "What it waits for.",
    ),
    field(
        "maxRetries",
        r#"{"type": "integer", "minimum": 0, "maximum": 10}"#,
        "Retries of what failed before anything was done.",
    ),
    field("optional", FLAG, "Whether its failure is only a warning."),
    field(
        "isLastStep",
        FLAG,
        "Accepted and ignored: it follows from the order.",
    ),
    field("observed", OBJECT, "What was seen when it ran."),
];

/// The second element of a step.
pub(super) const ELEMENT: &[Field] = &[
    required("selectors", TEXTS, "Its selectors, the most lasting first."),
    field(
        "fingerprint",
        r##"{"$ref": "#/$defs/fingerprint"}"##,
        "What it was.",
    ),
    field(
        "index",
        r#"{"type": "integer", "minimum": 0}"#,
        "The index that it had.",
    ),
];

pub(super) const ASSERTION: &[Field] = &[
    required(
        "kind",
        r#"{"enum": ["text", "visible", "hidden", "enabled", "disabled", "checked", "unchecked", "focused", "editable", "value", "url", "title", "dialog", "download", "count"]}"#,
        "What must hold.",
    ),
    field("negate", FLAG, "Whether it must not hold."),
    field(
        "match",
        r#"{"enum": ["equals", "contains", "regex"]}"#,
        "How texts are compared.",
    ),
    field(
        "compare",
        r#"{"enum": ["=", ">=", "<="]}"#,
        "How counts are compared.",
    ),
    field("caseSensitive", FLAG, "Whether capital letters count."),
];

pub(super) const FINGERPRINT: &[Field] = &[
    field("role", TEXT, "Its role."),
    field("name", TEXT, "Its accessible name."),
    field("text", TEXT, "The text on it, if it has no name."),
    required("tag", TEXT, "Its tag."),
    field("inputType", TEXT, "The type of an input."),
    field("testId", TEXT, "Its test id."),
    field(
        "outline",
        r##"{"type": "array", "items": {"$ref": "#/$defs/container"}}"##,
        "What it stands in, innermost first: its item, frames, dialogs, named sections.",
    ),
    field(
        "isContainer",
        FLAG,
        "Whether it is the innermost of these itself, whatever else stands in it.",
    ),
    field(
        "position",
        r#"{"type": "integer", "minimum": -1000000, "maximum": 1000000, "not": {"const": 0}}"#,
        "Which of its twins the sentence named: 1 is the first, -1 the last.",
    ),
    field(
        "siblings",
        TEXTS,
        "The names of the others of its kind in the innermost of these; behind the fortieth their hashes.",
    ),
    field(
        "alone",
        FLAG,
        "Whether no other element of its kind on the page was called so.",
    ),
    field(
        "column",
        TEXT,
        "The heading of its column, if it is known by that.",
    ),
    // Of version 1, which is read.
    field("path", TEXTS, "Version 1: named elements around it."),
    field("near", TEXT, "Version 1: its label, or the text before it."),
    field(
        "ordinal",
        MILLISECONDS,
        "Version 1: its place among its like.",
    ),
    field("of", MILLISECONDS, "Version 1: how many there were."),
    field(
        "scope",
        TEXTS,
        "Version 1: the frames and shadow hosts that it is in.",
    ),
    field(
        "within",
        r##"{"type": "array", "items": {"$ref": "#/$defs/container"}}"##,
        "Version 1: the outline.",
    ),
    field(
        "byPosition",
        TEXTS,
        "Version 1: what stood around each of its twins.",
    ),
    field(
        "likes",
        TEXTS,
        "Version 1: what others of its role were called.",
    ),
    field("around", TEXT, "Version 1: the text around it."),
    field("before", TEXT, "Version 1: the text right before it."),
    field("after", TEXT, "Version 1: the text right behind it."),
];

pub(super) const CONTAINER: &[Field] = &[
    required(
        "kind",
        r#"{"enum": ["section", "dialog", "row", "item", "card", "post", "list", "table", "form", "header", "footer", "navigation", "sidebar", "frame"]}"#,
        "What it is.",
    ),
    field("text", TEXT, "The text that it is known by."),
    field(
        "at",
        r#"{"enum": ["name", "heading", "cell", "text"]}"#,
        "Where in it the text stands.",
    ),
    field("column", TEXT, "The heading of the column with the text."),
    field(
        "made",
        TEXT,
        "What an item is made of: its role, else its tag and class.",
    ),
    field("nodes", MILLISECONDS, "How many nodes were in it."),
    field(
        "below",
        r#"{"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}"#,
        "Version 1: the headings above it.",
    ),
];

pub(super) const ERROR: &[Field] = &[
    field("stepId", TEXT, "The id that the step would have had."),
    required("message", TEXT, "What went wrong."),
    field("action", TEXT, "The sentence."),
    field("playwrightAction", TEXT, "The call that failed."),
    field("llmError", TEXT, "What the model's side said."),
    field("selector", TEXT, "The selector that was used."),
    field("stack", TEXT, "Where in the program it went wrong."),
    field("code", TEXT, "The code."),
    field("candidates", TEXTS, "The elements that could be meant."),
    field("help", TEXT, "What to do about it."),
    field(
        "severity",
        r#"{"enum": ["error", "warning"]}"#,
        "How bad it is.",
    ),
];

pub(super) const OBSERVED: &[Field] = &[
    field("url", TEXT, "The address after it."),
    field("title", TEXT, "The title after it."),
    field("settle", TEXT, "How the page became quiet."),
    field("extractedContent", TEXT, "The text that was read."),
    field("cut", TEXT, "What the text of the page lacks."),
    field(
        "dialogs",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/dialog\"}}",
        "Dialogs that opened.",
    ),
    field(
        "downloads",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/download\"}}",
        "Files that came.",
    ),
    field("warnings", TEXTS, "What deserves a look."),
];

/// A patch that heals steps.
pub(super) const HEAL: &[Field] = &[
    required(
        "version",
        r#"{"const": "cuecard-heal/1"}"#,
        "Version of the format.",
    ),
    required(
        "base",
        TEXT,
        "The SHA-256 of the text of the steps that it fits, in hexadecimal.",
    ),
    field(
        "changes",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/change\"}}",
        "What is healed, for people.",
    ),
    required(
        "patch",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/operation\"}}",
        "What is changed: a JSON Patch (RFC 6902).",
    ),
    field(
        "renames",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/rename\"}}",
        "Elements that may have another name now: each is accepted by its step.",
    ),
];

pub(super) const HEAL_RENAME: &[Field] = &[
    required("stepId", TEXT, "The id of the step."),
    field("description", TEXT, "Its sentence."),
    field("reason", TEXT, "What the element has of the old one."),
    field("from", TEXT, "The old name."),
    field("to", TEXT, "The new name."),
    required(
        "patch",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/operation\"}}",
        "What is changed once it is accepted.",
    ),
];

pub(super) const HEAL_CHANGE: &[Field] = &[
    field("stepId", TEXT, "The id of the step."),
    field("description", TEXT, "Its sentence."),
    field(
        "reason",
        TEXT,
        "Why the element is taken for the one that was meant.",
    ),
];

pub(super) const HEAL_OPERATION: &[Field] = &[
    required(
        "op",
        r#"{"enum": ["test", "add", "remove", "replace"]}"#,
        "What is done.",
    ),
    required(
        "path",
        r#"{"type": "string", "pattern": "^/testSteps/[0-9]+/(id$|(to/)?(selector|selectors|fingerprint|index)(/|$))"}"#,
        "Where: what a step's element is known by, and nothing else.",
    ),
    field("value", "true", "The value."),
];

pub(super) const DIALOG: &[Field] = &[
    required("kind", TEXT, "alert, confirm, prompt or beforeunload."),
    field("message", TEXT, "What it said."),
    field("accepted", FLAG, "Whether it was answered with yes."),
    field(
        "defaultValue",
        TEXT,
        "What a prompt suggests as the answer.",
    ),
];

pub(super) const DOWNLOAD: &[Field] = &[
    required("name", TEXT, "The name that the page gave it."),
    field(
        "size",
        r#"{"type": "integer", "minimum": 0}"#,
        "Its size in bytes.",
    ),
    field("sha256", TEXT, "Its hash, in hexadecimal."),
];

pub(super) const CONTEXT: &[Field] = &[
    field("domStructureSnapshot", TEXT, "The page as text."),
    field("fullDomSnapshot", "true", "All of the page."),
];
