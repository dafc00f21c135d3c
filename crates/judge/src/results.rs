//! What tools answered, and what stands anywhere in the trace.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;
use serde_json_path::JsonPath;

use super::Finding;
use super::reach::{uncalled_help, unreachable_tool};
use super::values::equals;
use super::values::{Schema, holds_part, mismatch};
use super::view::View;
use super::words::{as_count, brief, count_of, evidence};
use crate::model::{ToolPattern, ValueTest};
use cuecard_source::diagnostic::did_you_mean;
use cuecard_source::value::Json;
use cuecard_trace::{Event, EventData, ToolResult};

pub(super) fn tool_result(
    tool: &ToolPattern,
    path: Option<&JsonPath>,
    test: &ValueTest,
    view: &View<'_>,
) -> Finding {
    let results: Vec<(&Event, &ToolResult)> = view
        .trace
        .events
        .iter()
        .enumerate()
        .filter_map(|(position, event)| match &event.data {
            EventData::ToolResult(result) if view.is_result_of(position, result, tool) => {
                Some((event, result))
            }
            _ => None,
        })
        .collect();
    let refs = results.iter().map(|(event, _)| event.event_id.as_str());
    let count = results.len();
    let schema = test.json_schema.as_ref().map(Schema::new);
    // The result that comes nearest explains the failure.
    let mut nearest: Option<(&Event, &ToolResult, Vec<String>)> = None;
    for (event, result) in &results {
        let misfits = result_misfits(&result.result, path, test, schema.as_ref());
        if misfits.is_empty() {
            let finding = Finding::holds(format!(
                "the result of `{}` in event {} matches",
                tool.text(),
                event.seq
            ))
            .observed(json!({"result": evidence(&result.result)}))
            .refs([event.event_id.as_str()]);
            let asks_nothing = path.is_none()
                && test.equals.is_none()
                && test.contains.is_none()
                && test.regex.is_none()
                && test.json_schema.is_none();
            return if asks_nothing {
                finding.help("no requirement on the result").vacuous()
            } else {
                finding
            };
        }
        if nearest
            .as_ref()
            .is_none_or(|(_, _, least)| misfits.len() < least.len())
        {
            nearest = Some((event, result, misfits));
        }
    }
    match nearest {
        None => {
            let calls = view.calls_of(tool);
            let help = if calls.is_empty() {
                unreachable_tool(tool, view).unwrap_or_else(|| uncalled_help(tool, view))
            } else {
                "it was called, but the trace has no result".to_owned()
            };
            Finding::fails(format!("no result of `{}`", tool.text()))
                .observed(json!({"results": 0}))
                .help(help)
                .refs(calls.iter().map(|call| call.id()))
        }
        Some((event, result, misfits)) => {
            let which = if count == 1 {
                format!("the result of `{}` doesn't match", tool.text())
            } else {
                format!(
                    "none of {count} results of `{}` matches; nearest is event {}",
                    tool.text(),
                    event.seq
                )
            };
            Finding::fails(format!("{which}: {}", misfits.join("; ")))
                .observed(json!({
                    "results": count,
                    "nearest": event.event_id,
                    "result": evidence(&result.result),
                    "misfits": misfits,
                }))
                .help(format!(
                    "event {} answers {}",
                    event.seq,
                    brief(&result.result)
                ))
                .refs(refs)
        }
    }
}

/// What of a result is not as it should be; empty if it matches.
fn result_misfits(
    result: &Json,
    path: Option<&JsonPath>,
    test: &ValueTest,
    schema: Option<&Schema>,
) -> Vec<String> {
    let Some(path) = path else {
        return value_misfits(result, std::slice::from_ref(&result), test, schema);
    };
    // Many tools answer JSON as a text.
    let parsed = match result {
        Json::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    };
    let nodes = path.query(parsed.as_ref().unwrap_or(result)).all();
    match nodes.as_slice() {
        [] => vec![format!("`{path}` matches nothing")],
        [node] => value_misfits(node, &nodes, test, schema),
        several => {
            let all = Json::Array(several.iter().map(|node| (*node).clone()).collect());
            value_misfits(&all, several, test, schema)
        }
    }
}

/// `value` is what is asked: the only node, or the list of all nodes. A part or a match may be in any of them.
fn value_misfits(
    value: &Json,
    nodes: &[&Json],
    test: &ValueTest,
    schema: Option<&Schema>,
) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(wanted) = &test.equals
        && !is_equal(value, nodes, wanted)
    {
        found.push(format!("expected {}, got {}", brief(wanted), brief(value)));
    }
    if let Some(part) = &test.contains
        && !holds_part(value, part, test.case_sensitive)
        && !nodes
            .iter()
            .any(|node| holds_part(node, part, test.case_sensitive))
    {
        found.push(format!(
            "expected something that contains {}, got {}",
            brief(part),
            brief(value)
        ));
    }
    if let Some(regex) = &test.regex
        && !nodes.iter().any(|node| mismatch(node, regex).is_none())
    {
        found.extend(mismatch(value, regex));
    }
    if let Some(schema) = schema {
        found.extend(schema.misfits(value));
    }
    found
}

/// One node may be given as it is or as a list of one.
fn is_equal(value: &Json, nodes: &[&Json], wanted: &Json) -> bool {
    equals(value, wanted)
        || match (nodes, wanted) {
            ([node], Json::Array(items)) => {
                matches!(items.as_slice(), [item] if equals(node, item))
            }
            _ => false,
        }
}

pub(super) fn json_path(
    path: &JsonPath,
    equals: Option<&Json>,
    exists: Option<bool>,
    count: Option<u64>,
    view: &View<'_>,
) -> Finding {
    let located = path.query_located(view.document());
    let nodes: Vec<&Json> = located.nodes().collect();
    let found = as_count(nodes.len());
    let all;
    let value: &Json = match nodes.as_slice() {
        [node] => node,
        several => {
            all = Json::Array(
                several
                    .iter()
                    .take(50)
                    .map(|node| (*node).clone())
                    .collect(),
            );
            &all
        }
    };
    let mut broken = Vec::new();
    if let Some(wanted) = equals {
        if nodes.is_empty() {
            broken.push(format!("no value at `{path}`, expected {}", brief(wanted)));
        } else if !equals_nodes(&nodes, wanted) {
            broken.push(format!(
                "`{path}` is {}, expected {}",
                brief(value),
                brief(wanted)
            ));
        }
    }
    // Without any test the place must be there.
    let exists = exists.or((equals.is_none() && count.is_none()).then_some(true));
    match exists {
        Some(true) if nodes.is_empty() => broken.push(format!("no value at `{path}`")),
        Some(false) if !nodes.is_empty() => broken.push(format!(
            "`{path}` matches {}, expected no match",
            count_of(found, "place")
        )),
        _ => {}
    }
    if let Some(count) = count.filter(|count| *count != found) {
        broken.push(format!(
            "`{path}` matches {}, expected {count}",
            count_of(found, "place")
        ));
    }
    if nodes.is_empty()
        && broken.is_empty()
        && let Some(fault) = unknown_root(path)
    {
        broken.push(fault);
    }
    let events = events_of(
        located
            .locations()
            .map(serde_json_path::NormalizedPath::to_json_pointer),
        view,
    );
    let observed = json!({"count": found, "value": evidence(value)});
    if broken.is_empty() {
        let finding = Finding::holds(format!("`{path}` is as expected"))
            .observed(observed)
            .refs(events);
        return if nodes.is_empty() && view.shows_nothing() {
            finding
                .help("the trace shows nothing that the agent did or said")
                .vacuous()
        } else {
            finding
        };
    }
    Finding::fails(broken.join("; "))
        .observed(observed)
        .help("the path starts at the whole trace: `$.events[*].data`, `$.final_output.content`, `$.metrics`")
        .refs(events)
}

/// What no trace has where a path starts: that nothing is there says nothing.
fn unknown_root(path: &JsonPath) -> Option<String> {
    static ROOT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^\$(?:\.([A-Za-z_][\w-]*)|\[['"]([^'"]*)['"]\])"#).expect("a fixed pattern")
    });
    let path = path.to_string();
    let found = ROOT.captures(&path)?;
    let name = found.get(1).or_else(|| found.get(2))?.as_str();
    if ROOTS.contains(&name) {
        return None;
    }
    let meant = did_you_mean(name, ROOTS.iter().copied());
    let meant = meant.map_or_else(String::new, |meant| format!(": did you mean `{meant}`?"));
    Some(format!("a trace has no top-level `{name}`{meant}"))
}

/// What a trace may have at its top.
const ROOTS: &[&str] = &[
    "schema_version",
    "trace_id",
    "test_case_id",
    "test_run_id",
    "adapter",
    "capabilities",
    "scenario",
    "input_messages",
    "events",
    "final_output",
    "status",
    "metrics",
    "artifacts",
];

/// A single node as it is, any number as a list.
fn equals_nodes(nodes: &[&Json], wanted: &Json) -> bool {
    matches!(nodes, [node] if equals(node, wanted))
        || match wanted {
            Json::Array(items) => {
                items.len() == nodes.len()
                    && nodes
                        .iter()
                        .zip(items)
                        .all(|(node, item)| equals(node, item))
            }
            _ => false,
        }
}

/// The events that JSON pointers lead into.
fn events_of<'a>(pointers: impl Iterator<Item = String>, view: &View<'a>) -> Vec<&'a str> {
    let mut events: Vec<&str> = Vec::new();
    for pointer in pointers {
        let index = pointer
            .strip_prefix("/events/")
            .and_then(|rest| rest.split('/').next()?.parse::<usize>().ok());
        if let Some(event) = index.and_then(|index| view.trace.events.get(index))
            && events.last() != Some(&event.event_id.as_str())
        {
            events.push(&event.event_id);
        }
        if events.len() >= super::MOST_REFS {
            break;
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fails, Holds};
    use super::super::samples::{Events, judged, tool};
    use super::*;
    use crate::model::AssertionCheck;
    use cuecard_trace::Trace;
    use regex::Regex;

    fn search() -> Trace {
        Events::new()
            .call("web_search", "c1", json!({"q": "a"}))
            .result("web_search", "c1", false, json!({"error": "busy"}))
            .call("web_search", "c2", json!({"q": "a"}))
            .result(
                "web_search",
                "c2",
                true,
                json!({"items": [{"title": "Growth of 4 %", "n": 1}, {"title": "Rust", "n": 2}]}),
            )
            .call("raw", "c3", json!({}))
            .result("raw", "c3", true, json!("{\"ok\": [1]}"))
            .call("silent", "c4", json!({}))
            .output("done")
            .trace()
    }

    fn path(text: &str) -> Option<JsonPath> {
        Some(JsonPath::parse(text).expect("a path"))
    }

    #[test]
    fn results_are_tested_by_value_part_pattern_and_schema() {
        let equals = |json: Json| ValueTest {
            equals: Some(json),
            ..ValueTest::default()
        };
        let contains = |json: Json| ValueTest {
            contains: Some(json),
            ..ValueTest::default()
        };
        let regex = |text: &str| ValueTest {
            regex: Some(Regex::new(text).expect("a pattern")),
            ..ValueTest::default()
        };
        let schema = |json: Json| ValueTest {
            json_schema: Some(json),
            ..ValueTest::default()
        };
        for (name, at, test, expected, vacuous) in [
            (
                "web_search",
                None,
                equals(json!({"error": "busy"})),
                Holds,
                false,
            ),
            (
                "web_search",
                None,
                contains(json!({"items": [{"n": 2}]})),
                Holds,
                false,
            ),
            (
                "web_search",
                path("$.items[0].n"),
                equals(json!(1)),
                Holds,
                false,
            ),
            (
                "web_search",
                path("$.items[0].n"),
                equals(json!(2)),
                Fails,
                false,
            ),
            (
                "web_search",
                path("$.items[*].n"),
                equals(json!([1, 2])),
                Holds,
                false,
            ),
            (
                "web_search",
                path("$.items[*].n"),
                equals(json!(1)),
                Fails,
                false,
            ),
            (
                "web_search",
                path("$.items[?@.n == 2].title"),
                equals(json!(["Rust"])),
                Holds,
                false,
            ),
            (
                "web_search",
                path("$.items[*].title"),
                contains(json!("rust")),
                Holds,
                false,
            ),
            (
                "web_search",
                path("$.items[*].title"),
                contains(json!("growth")),
                Holds,
                false,
            ),
            (
                "web_search",
                path("$.items[*].title"),
                contains(json!("go")),
                Fails,
                false,
            ),
            (
                "web_search",
                path("$.items[*].title"),
                regex("^Rust$"),
                Holds,
                false,
            ),
            (
                "web_search",
                path("$.items[*].title"),
                regex("^Go$"),
                Fails,
                false,
            ),
            (
                "web_search",
                path("$.items"),
                schema(json!({"type": "array", "minItems": 2})),
                Holds,
                false,
            ),
            (
                "web_search",
                path("$.items"),
                schema(json!({"type": "array", "minItems": 3})),
                Fails,
                false,
            ),
            (
                "web_search",
                path("$.nothing"),
                equals(json!(null)),
                Fails,
                false,
            ),
            (
                "web_search",
                path("$.error"),
                ValueTest::default(),
                Holds,
                false,
            ),
            ("web_search", None, ValueTest::default(), Holds, true),
            ("raw", path("$.ok[0]"), equals(json!(1)), Holds, false),
            (
                "web_*",
                path("$.error"),
                equals(json!("busy")),
                Holds,
                false,
            ),
            ("silent", None, ValueTest::default(), Fails, false),
            ("other", None, ValueTest::default(), Fails, false),
        ] {
            let what = format!("{name} {at:?} {test:?}");
            let check = AssertionCheck::ToolResultMatches {
                tool: tool(name),
                json_path: at,
                test,
            };
            let finding = judged(check, &search());
            assert_eq!(
                (finding.verdict, finding.vacuous),
                (expected, vacuous),
                "{what}: {}",
                finding.message
            );
        }
    }

    #[test]
    fn a_result_that_does_not_match_is_shown() {
        let check = AssertionCheck::ToolResultMatches {
            tool: tool("web_search"),
            json_path: path("$.items[0].n"),
            test: ValueTest {
                equals: Some(json!(7)),
                ..ValueTest::default()
            },
        };
        let finding = judged(check, &search());
        assert_eq!(
            finding.message,
            "none of 2 results of `web_search` matches; nearest is event 2: `$.items[0].n` matches nothing"
        );
        assert_eq!(finding.event_refs, ["e2", "e4"]);
    }

    #[test]
    fn a_path_asks_the_whole_trace() {
        for (at, equals, exists, count, expected) in [
            ("$.status", Some(json!("success")), None, None, Holds),
            ("$.status", Some(json!("failed")), None, None, Fails),
            (
                "$.final_output.content",
                Some(json!("done")),
                None,
                None,
                Holds,
            ),
            ("$.metrics.retry_count", Some(json!(0)), None, None, Holds),
            // What no trace has says nothing by its absence.
            ("$.evnts[*]", None, None, Some(0), Fails),
            ("$['evnts'][*]", None, Some(false), None, Fails),
            ("$.events[99]", None, Some(false), None, Holds),
            ("$..retries", None, None, Some(0), Holds),
            (
                "$.events[?@.type == 'tool_call'].data.tool",
                Some(json!(["web_search", "web_search", "raw", "silent"])),
                None,
                None,
                Holds,
            ),
            (
                "$.events[?@.type == 'tool_call'].data.tool",
                Some(json!("web_search")),
                None,
                None,
                Fails,
            ),
            (
                "$.events[?@.type == 'tool_call']",
                None,
                None,
                Some(4),
                Holds,
            ),
            (
                "$.events[?@.type == 'tool_call']",
                None,
                None,
                Some(3),
                Fails,
            ),
            ("$.events[?@.type == 'log']", None, Some(false), None, Holds),
            ("$.events[?@.type == 'log']", None, Some(true), None, Fails),
            ("$.events[0]", None, Some(false), None, Fails),
            ("$.nothing", None, None, None, Fails),
            ("$.nothing", Some(json!([])), None, None, Fails),
            ("$.status", None, None, None, Holds),
            (
                "$.events[0].seq",
                Some(json!(1)),
                Some(true),
                Some(1),
                Holds,
            ),
        ] {
            let check = AssertionCheck::JsonPath {
                path: JsonPath::parse(at).expect("a path"),
                equals,
                exists,
                count,
            };
            let finding = judged(check, &search());
            assert_eq!(finding.verdict, expected, "{at}: {}", finding.message);
        }
    }

    #[test]
    fn events_on_the_path_are_the_evidence() {
        let check = AssertionCheck::JsonPath {
            path: JsonPath::parse("$.events[?@.data.success == true].data.result").expect("a path"),
            equals: None,
            exists: Some(true),
            count: None,
        };
        assert_eq!(judged(check, &search()).event_refs, ["e4", "e6"]);
    }

    #[test]
    fn nothing_in_nothing_is_said_out_loud() {
        let check = AssertionCheck::JsonPath {
            path: JsonPath::parse("$.events[*]").expect("a path"),
            equals: None,
            exists: Some(false),
            count: None,
        };
        assert!(judged(check, &Events::new().trace()).vacuous);
    }
}
