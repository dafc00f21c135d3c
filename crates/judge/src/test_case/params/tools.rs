//! Assertions on the calls of tools.

use super::{Kind, Params, TOOL_TRACE, values};
use crate::model::{ArgsMatch, AssertionCheck, Selector, Which};
use crate::test_case::fields::{self, COUNT, FLAG, TEXTS};
use crate::test_case::values::Rules;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::NodeKind;
use cuecard_source::matching::takes_all;
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::cut;
use cuecard_source::value::fields::{Field, TEXT, field, required};
use cuecard_source::values::schema;

const TOOL: Field = required("tool", TEXT, "The tool; a glob is allowed.");
const SELECTOR: &str = "{\"$ref\": \"#/$defs/selector\"}";

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "must_call_tool",
        meaning: "A tool is called so often.",
        params: &[
            TOOL,
            field("min_calls", COUNT, "The fewest calls (default: 1)."),
            field("max_calls", COUNT, "The most calls."),
        ],
        capabilities: TOOL_TRACE,
        read: must_call_tool,
    },
    Kind {
        name: "must_not_call_tool",
        meaning: "A tool is not called.",
        params: &[TOOL],
        capabilities: TOOL_TRACE,
        read: |reader, params| {
            Some(AssertionCheck::MustNotCallTool {
                tool: params.tool(reader)?,
            })
        },
    },
    Kind {
        name: "tool_call_order",
        meaning: "One event precedes another.",
        params: &[
            required("before", SELECTOR, "The event that comes first."),
            required("after", SELECTOR, "The event that comes later."),
            field(
                "all",
                FLAG,
                "Whether every one precedes every other (default: false).",
            ),
        ],
        capabilities: &[],
        read: tool_call_order,
    },
    Kind {
        name: "tool_args_match",
        meaning: "The arguments of a tool's calls are as they should.",
        params: &[
            TOOL,
            required(
                "match",
                "{\"$ref\": \"#/$defs/args_match\"}",
                "What the arguments must be.",
            ),
            field(
                "which",
                r#"{"anyOf": [{"enum": ["any", "all"]}, {"type": "integer", "minimum": 1}]}"#,
                "Of several calls those that must match: any (default), all, or the n-th.",
            ),
            field(
                "case_sensitive",
                FLAG,
                "Whether case counts in texts (default: false).",
            ),
        ],
        capabilities: TOOL_TRACE,
        read: tool_args_match,
    },
    Kind {
        name: "max_tool_calls",
        meaning: "There are at most so many calls.",
        params: &[
            field(
                "tool",
                TEXT,
                "The tool whose calls count; a glob is allowed.",
            ),
            field("max", COUNT, "The most calls of the tool."),
            field("max_total", COUNT, "The most calls of all tools."),
        ],
        capabilities: TOOL_TRACE,
        read: max_tool_calls,
    },
    Kind {
        name: "stop_after_success",
        meaning: "Nothing of a kind follows the first success.",
        params: &[
            required("success_event", SELECTOR, "The success."),
            required(
                "forbid_following",
                "{\"anyOf\": [{\"$ref\": \"#/$defs/selector\"}, {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/selector\"}}]}",
                "Events that must not follow.",
            ),
            field(
                "allowed_following_tools",
                TEXTS,
                "Tools that may be called nevertheless.",
            ),
        ],
        capabilities: &[],
        read: stop_after_success,
    },
];

/// What to do about a check that always holds.
pub(super) const ALWAYS: &str = "it always holds: specify the value, or remove it";

fn must_call_tool(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let tool = params.tool(reader);
    let min_calls = values::count(reader, params.object, "min_calls");
    let max_calls = values::count(reader, params.object, "max_calls");
    if min_calls.is_none() && max_calls == Some(0) {
        let message = "`max_calls` is 0, and `min_calls` is 1 where nothing is said";
        params.conflict(reader, "max_calls", message, "use `must_not_call_tool`");
    } else {
        params.ordered(reader, ("min_calls", min_calls), ("max_calls", max_calls));
    }
    if min_calls == Some(0) && max_calls.is_none() {
        let message = "`min_calls: 0` without `max_calls` always holds";
        params.conflict(reader, "min_calls", message, "raise it, or add `max_calls`");
    }
    Some(AssertionCheck::MustCallTool {
        tool: tool?,
        min_calls: min_calls.unwrap_or(1),
        max_calls,
    })
}

/// A selector that must be there.
fn selector(reader: &mut Reader<'_>, params: Params<'_>, key: &str) -> Option<Selector> {
    let example = format!("{key}: {{ event_type: tool_call, tool: … }}");
    let node = params.need(reader, key, &example)?;
    values::selector(reader, node, &params.object.child_pointer(key))
}

fn tool_call_order(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let before = selector(reader, params, "before");
    let after = selector(reader, params, "after");
    let all = reader.flag(params.object, "all", "`all`");
    Some(AssertionCheck::ToolCallOrder {
        before: before?,
        after: after?,
        all: all.unwrap_or(false),
    })
}

fn tool_args_match(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let tool = params.tool(reader);
    let case_sensitive = params.case_sensitive(reader);
    let which = which(reader, params);
    params.need(reader, "match", "match: { args_contains: { query: … } }")?;
    let (node, pointer) = values::map(reader, params.object, "match")?;
    let object = Object {
        node,
        pointer: &pointer,
    };
    reader.only_keys(object, fields::ARGS_MATCH, codes::ASSERT_PARAMS, "`match`");
    let matching = ArgsMatch {
        required_keys: values::texts(reader, object, "required_keys"),
        args_contains: values::dotted(reader, object, "args_contains"),
        args_equal: values::dotted(reader, object, "args_equal"),
        regex: regexes(reader, object, case_sensitive),
        json_schema: match reader.get(object, "json_schema") {
            Some(node) => schema(reader, node, &object.child_pointer("json_schema")),
            None => None,
        },
        case_sensitive,
    };
    let says_something = fields::ARGS_MATCH.iter().any(|field| {
        reader.get(object, field.name).is_some_and(|node| {
            !node.as_array().is_some_and(<[_]>::is_empty)
                && (field.name == "json_schema" || !node.as_object().is_some_and(<[_]>::is_empty))
        })
    });
    if !says_something {
        let message = "`match` has no condition on the arguments";
        let help = "add required_keys, args_contains, args_equal, regex or json_schema; to require only the call, use `must_call_tool`";
        params.conflict(reader, "match", message, help);
    }
    for (key, value) in &matching.args_contains {
        if values::is_in_all(value) {
            let message = format!("every value of `{}` holds that", cut(key, 60));
            let help = "to require its presence, use `required_keys`";
            params.conflict(reader, "match", &message, help);
        }
    }
    if reader
        .get(object, "json_schema")
        .is_some_and(|node| takes_all(&node.to_value()))
    {
        let message = "all arguments satisfy this schema";
        params.conflict(reader, "match", message, ALWAYS);
    }
    Some(AssertionCheck::ToolArgsMatch {
        tool: tool?,
        matching,
        which: which?,
    })
}

fn regexes(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    case_sensitive: bool,
) -> Vec<(String, regex::Regex)> {
    let rules = Rules {
        is_regex: true,
        case_sensitive,
        by_line: false,
    };
    let Some((node, pointer)) = values::map(reader, object, "regex") else {
        return Vec::new();
    };
    let below = Object {
        node,
        pointer: &pointer,
    };
    node.members()
        .iter()
        .filter_map(|member| {
            let pointer = below.child_pointer(&member.key);
            let what = format!("`regex.{}`", cuecard_source::value::cut(&member.key, 60));
            let regex = values::regex(reader, &member.value, &pointer, &what, rules)?;
            Some((member.key.clone(), regex))
        })
        .collect()
}

fn which(reader: &mut Reader<'_>, params: Params<'_>) -> Option<Which> {
    let Some(node) = reader.get(params.object, "which") else {
        return Some(Which::Any);
    };
    let found = match &node.kind {
        NodeKind::String(word) if word == "any" => Some(Which::Any),
        NodeKind::String(word) if word == "all" => Some(Which::All),
        _ => node
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .filter(|&number| number > 0)
            .map(Which::Nth),
    };
    if found.is_none() {
        let pointer = params.object.child_pointer("which");
        let wanted = "`any`, `all`, or the number of a call from 1";
        reader.wrong_type(node, &pointer, "`which`", wanted);
    }
    found
}

fn max_tool_calls(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let tool = values::tool(reader, params.object, "tool");
    let max = values::count(reader, params.object, "max");
    let max_total = values::count(reader, params.object, "max_total");
    let has = |key: &str| reader.get(params.object, key).is_some();
    match (has("tool"), has("max"), has("max_total")) {
        (true, false, _) => {
            let message = "`tool` requires `max`";
            params.conflict(
                reader,
                "tool",
                message,
                "add `max`, the most calls of this tool",
            );
        }
        (false, true, _) => {
            let message = "`max` requires `tool`";
            let help = "add `tool`, or write `max_total` for the calls of all tools";
            params.conflict(reader, "max", message, help);
        }
        (false, false, false) => {
            let message = "no limit is given";
            params.conflict(reader, "", message, "add `tool` with `max`, or `max_total`");
        }
        _ => {}
    }
    Some(AssertionCheck::MaxToolCalls {
        tool: tool.zip(max),
        max_total,
    })
}

fn stop_after_success(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let success_event = selector(reader, params, "success_event");
    params.need(
        reader,
        "forbid_following",
        "forbid_following: { event_type: tool_call }",
    );
    let items = values::items(reader, params.object, "forbid_following");
    if items.is_empty() && params.has(reader, "forbid_following") {
        let message = "`forbid_following` forbids nothing";
        let help = "write { event_type: tool_call } to forbid every call";
        params.conflict(reader, "forbid_following", message, help);
    }
    let forbid_following = items
        .into_iter()
        .filter_map(|(node, pointer)| values::selector(reader, node, &pointer))
        .collect();
    let allowed = values::tools(reader, params.object, "allowed_following_tools");
    Some(AssertionCheck::StopAfterSuccess {
        success_event: success_event?,
        forbid_following,
        allowed_following_tools: allowed,
    })
}
