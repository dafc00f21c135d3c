//! Assertions on the trace as a whole, and on what tools answered.

use super::tools::ALWAYS;
use super::{Kind, Params, TOOL_TRACE, values};
use crate::model::{AssertionCheck, ExpectedCall, TrajectoryMode, ValueTest};
use crate::test_case::fields::{ANY, CALL, COUNT, FLAG, TEXTS};
use crate::test_case::values::Rules;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::matching::takes_all;
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::Json;
use cuecard_source::value::fields::{Field, TEXT, field, required};
use cuecard_source::values::{json_path, schema};

const LIMIT: Field = required("limit", COUNT, "The most there may be.");

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "trajectory",
        meaning: "The calls as a whole are as they should.",
        params: &[
            required(
                "mode",
                r#"{"enum": ["exact", "in_order", "any_order", "superset", "subset"]}"#,
                "How the calls are compared.",
            ),
            required(
                "calls",
                "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/call\"}}",
                "The calls.",
            ),
        ],
        capabilities: TOOL_TRACE,
        read: trajectory,
    },
    Kind {
        name: "tool_result_matches",
        meaning: "What a tool answered is as it should.",
        params: &[
            required("tool", TEXT, "The tool; a glob is allowed."),
            field(
                "json_path",
                TEXT,
                "The part of the result (default: all of it).",
            ),
            field("equals", ANY, "The value it must equal."),
            field(
                "contains",
                ANY,
                "A text part, an element or a key it must hold.",
            ),
            field("regex", TEXT, "A regular expression its text must match."),
            field(
                "json_schema",
                r#"{"type": ["object", "boolean"]}"#,
                "A JSON Schema it must satisfy.",
            ),
            field(
                "case_sensitive",
                FLAG,
                "Whether case counts in texts (default: false).",
            ),
        ],
        capabilities: TOOL_TRACE,
        read: tool_result_matches,
    },
    Kind {
        name: "json_path",
        meaning: "Something in the trace is as it should.",
        params: &[
            required("path", TEXT, "A JSONPath over the whole trace (RFC 9535)."),
            field("equals", ANY, "The value it must equal."),
            field("exists", FLAG, "Whether there must be anything."),
            field("count", COUNT, "How many there must be."),
        ],
        capabilities: &[],
        read: json_path_check,
    },
    Kind {
        name: "trace_snapshot",
        meaning: "The trace equals a stored one by meaning.",
        params: &[
            required("file", TEXT, "The stored trace."),
            field(
                "ignore",
                TEXTS,
                "JSON pointers to leave out; `*` stands for any part.",
            ),
        ],
        capabilities: &[],
        read: trace_snapshot,
    },
    Kind {
        name: "max_duration_ms",
        meaning: "It took no longer.",
        params: &[required(
            "limit",
            r#"{"type": "number", "minimum": 0}"#,
            "The longest it may take, in milliseconds.",
        )],
        capabilities: &[],
        read: |reader, params| {
            params.need(reader, "limit", "limit: 5000")?;
            let limit = values::number(reader, params.object, "limit", f64::INFINITY)?;
            Some(AssertionCheck::MaxDurationMs { limit })
        },
    },
    Kind {
        name: "max_tokens",
        meaning: "It took no more tokens.",
        params: &[LIMIT],
        capabilities: &[],
        read: |reader, params| {
            let limit = limit(reader, params)?;
            Some(AssertionCheck::MaxTokens { limit })
        },
    },
    Kind {
        name: "max_errors",
        meaning: "No more went wrong.",
        params: &[LIMIT],
        capabilities: &[],
        read: |reader, params| {
            let limit = limit(reader, params)?;
            Some(AssertionCheck::MaxErrors { limit })
        },
    },
];

fn limit(reader: &mut Reader<'_>, params: Params<'_>) -> Option<u64> {
    params.need(reader, "limit", "limit: 0")?;
    values::count(reader, params.object, "limit")
}

const MODES: &[(&str, TrajectoryMode)] = &[
    ("exact", TrajectoryMode::Exact),
    ("in_order", TrajectoryMode::InOrder),
    ("any_order", TrajectoryMode::AnyOrder),
    ("superset", TrajectoryMode::Superset),
    ("subset", TrajectoryMode::Subset),
];

fn trajectory(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    params.need(reader, "mode", "mode: in_order");
    let mode = reader.one_of(params.object, "mode", "`mode`", MODES);
    let node = params.need(reader, "calls", "calls: [ { tool: web_search } ]")?;
    let pointer = params.object.child_pointer("calls");
    let NodeKind::Array(items) = &node.kind else {
        reader.wrong_type(node, &pointer, "`calls`", "a list of { tool, args }");
        return None;
    };
    let always_holds = matches!(
        mode,
        Some(TrajectoryMode::InOrder | TrajectoryMode::Superset)
    );
    if items.is_empty() && always_holds {
        let message = "`calls` is empty, so this always holds";
        params.conflict(
            reader,
            "calls",
            message,
            "add a call, or use `mode: exact` for none",
        );
    }
    let mut calls = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let pointer = format!("{pointer}/{index}");
        if !matches!(item.kind, NodeKind::Object(_)) {
            reader.wrong_type(item, &pointer, "a call", "an object such as { tool: … }");
            continue;
        }
        let object = Object {
            node: item,
            pointer: &pointer,
        };
        reader.only_keys(object, CALL, codes::ASSERT_PARAMS, "an expected call");
        reader.required(object, "tool", "this call", "tool: …");
        let tool = values::tool(reader, object, "tool");
        let args = values::dotted(reader, object, "args");
        calls.extend(tool.map(|tool| ExpectedCall { tool, args }));
    }
    Some(AssertionCheck::Trajectory { mode: mode?, calls })
}

/// A value of any shape, null included, if the key is there.
fn given(reader: &mut Reader<'_>, params: Params<'_>, key: &str) -> Option<Json> {
    let node = params.object.get(key)?;
    Some(values::free(
        reader,
        node,
        &params.object.child_pointer(key),
    ))
}

fn tool_result_matches(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let object = params.object;
    let tool = params.tool(reader);
    let path = match reader.get(object, "json_path") {
        Some(node) => json_path(reader, node, &object.child_pointer("json_path")).map(Some),
        None => Some(None),
    };
    let case_sensitive = params.case_sensitive(reader);
    let rules = Rules {
        is_regex: true,
        case_sensitive,
        by_line: false,
    };
    let test = ValueTest {
        equals: given(reader, params, "equals"),
        contains: given(reader, params, "contains"),
        regex: match reader.get(object, "regex") {
            Some(node) => {
                let pointer = object.child_pointer("regex");
                values::regex(reader, node, &pointer, "`regex`", rules)
            }
            None => None,
        },
        json_schema: match reader.get(object, "json_schema") {
            Some(node) => schema(reader, node, &object.child_pointer("json_schema")),
            None => None,
        },
        case_sensitive,
    };
    if test.contains.as_ref().is_some_and(values::is_in_all) {
        let message = "every result holds that";
        params.conflict(reader, "contains", message, ALWAYS);
    }
    let schema = reader.get(object, "json_schema").map(Node::to_value);
    if schema.as_ref().is_some_and(takes_all) {
        let message = "every result satisfies this schema";
        params.conflict(reader, "json_schema", message, ALWAYS);
    }
    let keys = ["equals", "contains", "regex", "json_schema"];
    if keys.iter().all(|key| object.get(key).is_none()) {
        let message = "no requirement on the result";
        let help = "add equals, contains, regex or json_schema";
        params.conflict(reader, "", message, help);
    }
    Some(AssertionCheck::ToolResultMatches {
        tool: tool?,
        json_path: path?.map(|(path, _)| path),
        test,
    })
}

fn json_path_check(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let object = params.object;
    let path = params
        .need(reader, "path", "path: $.events[?@.type == 'error']")
        .and_then(|node| json_path(reader, node, &object.child_pointer("path")));
    let equals = given(reader, params, "equals");
    let exists = reader.flag(object, "exists", "`exists`");
    let count = values::count(reader, object, "count");
    if equals.is_none() && !params.has(reader, "exists") && !params.has(reader, "count") {
        let message = "no requirement on the matches of the path";
        params.conflict(reader, "", message, "add equals, exists or count");
    }
    let wants_something = equals.is_some() || count.is_some_and(|count| count > 0);
    if exists == Some(false) && wants_something {
        let message = "`exists: false` contradicts the other requirements";
        params.conflict(reader, "exists", message, "remove it");
    }
    if count == Some(0) && (exists == Some(true) || equals.is_some()) {
        let message = "`count: 0` contradicts the other requirements";
        params.conflict(reader, "count", message, "remove it");
    }
    Some(AssertionCheck::JsonPath {
        path: path?.0,
        equals,
        exists,
        count,
    })
}

fn trace_snapshot(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    params.need(reader, "file", "file: expected.trace.json");
    let file = values::text(reader, params.object, "file");
    let ignore = values::texts(reader, params.object, "ignore");
    for (node, pointer) in values::items(reader, params.object, "ignore") {
        let Some(text) = node.as_str().filter(|text| !text.starts_with('/')) else {
            continue;
        };
        let message = format!(
            "`{}` is not a valid JSON pointer: it must start with `/`",
            cuecard_source::value::cut(text, 60)
        );
        let code = codes::ASSERT_PATTERN;
        values::report(reader, code, node.span, &pointer, message);
    }
    Some(AssertionCheck::TraceSnapshot {
        file: file?,
        ignore,
    })
}
