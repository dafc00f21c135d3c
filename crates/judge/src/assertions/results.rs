//! What tools answered, and what stands anywhere in the trace.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use serde_json_path::NormalizedPath;

use super::parts::{JsonSchemaText, Path, Pattern, Rules, ToolPattern, Value};
use super::{Assert, TOOL_TRACE, Take};
use crate::Finding;
use crate::document::document;
use crate::mutate::{Mutation, alter_leaves};
use crate::reach::{uncalled_help, unreachable_tool};
use crate::test_case::{ALWAYS, Params};
use crate::values::equals;
use crate::values::{Schema, holds_part, is_in_all, mismatch};
use crate::view::View;
use crate::words::{as_count, brief, count_of, evidence};
use cuecard_source::decode::nullable;
use cuecard_source::diagnostic::did_you_mean;
use cuecard_source::matching::takes_all;
use cuecard_source::value::{Json, split_pointer};
use cuecard_trace::{Event, EventData, ToolResult, Trace};

/// What a tool answered is as it should.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ToolResultMatches {
    /// The tool; a glob is allowed.
    pub tool: ToolPattern,
    /// The part of the result (default: all of it).
    pub json_path: Option<Path>,
    /// The value it must equal.
    #[serde(default, alias = "?equals", deserialize_with = "nullable")]
    pub equals: Option<Value>,
    /// A text part, an element or a key it must hold.
    #[serde(default, alias = "?contains", deserialize_with = "nullable")]
    pub contains: Option<Value>,
    /// A regular expression its text must match.
    #[serde(default)]
    pub regex: Pattern,
    /// A JSON Schema it must satisfy.
    pub json_schema: Option<JsonSchemaText>,
    /// Whether case counts in texts (default: false).
    #[serde(default)]
    pub case_sensitive: bool,
}

impl ToolResultMatches {
    fn is_empty(&self) -> bool {
        self.equals.is_none()
            && self.contains.is_none()
            && self.regex.0.is_none()
            && self.json_schema.is_none()
    }
}

impl Assert for ToolResultMatches {
    const TYPE: &'static str = "tool_result_matches";
    const NEEDS: &'static [&'static str] = TOOL_TRACE;

    fn check(&mut self, params: &mut Params<'_, '_>) {
        self.regex = params.regex("regex", Rules::regex(self.case_sensitive));
        if self.contains.as_deref().is_some_and(is_in_all) {
            params.conflict("contains", "every result holds that", ALWAYS);
        }
        if self
            .json_schema
            .as_ref()
            .is_some_and(|schema| takes_all(&schema.0))
        {
            params.conflict("json_schema", "every result satisfies this schema", ALWAYS);
        }
        if self.is_empty() && !params.has("regex") {
            let help = "add equals, contains, regex or json_schema";
            params.conflict("", "no requirement on the result", help);
        }
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let tool = &self.tool;
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
        let schema = self
            .json_schema
            .as_ref()
            .map(|schema| Schema::new(&schema.0));
        // The result that comes nearest explains the failure.
        let looked = results
            .iter()
            .map(|(event, result)| (event, result, self.misfits(&result.result, schema.as_ref())));
        let nearest = looked.min_by_key(|(_, _, misfits)| misfits.len());
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
            Some((event, result, misfits)) if misfits.is_empty() => {
                let name = tool.text();
                let message = format!("the result of `{name}` in event {} matches", event.seq);
                let finding = Finding::holds(message)
                    .observed(json!({"result": evidence(&result.result)}))
                    .refs([event.event_id.as_str()]);
                match self.json_path.is_none() && self.is_empty() {
                    true => finding.help("no requirement on the result").vacuous(),
                    false => finding,
                }
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

    fn watches(&self, mutation: Mutation) -> bool {
        matches!(mutation, Mutation::DropCall | Mutation::AlterResult)
    }

    fn tools(&self) -> Option<Vec<&ToolPattern>> {
        Some(vec![&self.tool])
    }
}

impl ToolResultMatches {
    /// What of a result is not as it should be; empty if it matches.
    fn misfits(&self, result: &Json, schema: Option<&Schema>) -> Vec<String> {
        let Some(Path(path)) = &self.json_path else {
            return self.value_misfits(result, std::slice::from_ref(&result), schema);
        };
        // Many tools answer JSON as a text.
        let parsed = match result {
            Json::String(text) => serde_json::from_str(text).ok(),
            _ => None,
        };
        let nodes = path.query(parsed.as_ref().unwrap_or(result)).all();
        match nodes.as_slice() {
            [] => vec![format!("`{path}` matches nothing")],
            [node] => self.value_misfits(node, &nodes, schema),
            several => {
                let all = Json::Array(several.iter().map(|node| (*node).clone()).collect());
                self.value_misfits(&all, several, schema)
            }
        }
    }

    /// `value` is what is asked: the only node, or the list of all nodes. A part or a match may be in any of them.
    fn value_misfits(&self, value: &Json, nodes: &[&Json], schema: Option<&Schema>) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(wanted) = &self.equals
            && !is_equal(value, nodes, wanted)
        {
            found.push(format!("expected {}, got {}", brief(wanted), brief(value)));
        }
        if let Some(part) = &self.contains
            && !holds_part(value, part, self.case_sensitive)
            && !nodes
                .iter()
                .any(|node| holds_part(node, part, self.case_sensitive))
        {
            found.push(format!(
                "expected something that contains {}, got {}",
                brief(part),
                brief(value)
            ));
        }
        if let Some(regex) = &self.regex.0
            && !nodes.iter().any(|node| mismatch(node, regex).is_none())
        {
            found.extend(mismatch(value, regex));
        }
        if let Some(schema) = schema {
            found.extend(schema.misfits(value));
        }
        found
    }
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

/// Something in the trace is as it should.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct JsonPath {
    /// A JSONPath over the whole trace (RFC 9535).
    pub path: Path,
    /// The value it must equal.
    #[serde(default, alias = "?equals", deserialize_with = "nullable")]
    pub equals: Option<Value>,
    /// Whether there must be anything.
    pub exists: Option<bool>,
    /// How many there must be.
    pub count: Option<u64>,
}

impl Assert for JsonPath {
    const TYPE: &'static str = "json_path";

    fn check(&mut self, params: &mut Params<'_, '_>) {
        let (exists, count) = (self.exists, self.count);
        if self.equals.is_none() && !params.has("exists") && !params.has("count") {
            let message = "no requirement on the matches of the path";
            params.conflict("", message, "add equals, exists or count");
        }
        let wants_something = self.equals.is_some() || count.is_some_and(|count| count > 0);
        if exists == Some(false) && wants_something {
            let message = "`exists: false` contradicts the other requirements";
            params.conflict("exists", message, "remove it");
        }
        if count == Some(0) && (exists == Some(true) || self.equals.is_some()) {
            let message = "`count: 0` contradicts the other requirements";
            params.conflict("count", message, "remove it");
        }
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let Self {
            path: Path(path),
            equals,
            exists,
            count,
        } = self;
        let (exists, count) = (*exists, *count);
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

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::AlterValue
    }

    /// Changes what the path means, or takes it away where its value doesn't matter.
    fn break_trace(&self, _: Mutation, trace: &Trace, take: &mut Take<'_>) {
        let path = &self.path.0;
        let mut changed = document(trace);
        let located = path.query_located(&changed);
        let mut pointers: Vec<String> = located
            .locations()
            .map(NormalizedPath::to_json_pointer)
            .collect();
        // From the last to the first, so that places stay what they are.
        pointers.sort_by(|one, other| place_of(other).cmp(&place_of(one)));
        pointers.dedup();
        let mut is_changed = false;
        for pointer in &pointers {
            is_changed |= match self.equals {
                Some(_) => changed
                    .pointer_mut(pointer)
                    .is_some_and(|value| alter_leaves(value, 0)),
                None => remove(&mut changed, pointer),
            };
        }
        let what = match self.equals {
            Some(_) => "has another value",
            None => "is missing",
        };
        // What is no trace any more is none that could be judged.
        let trace = is_changed.then(|| Trace::read(changed.to_string().as_bytes()).ok());
        if let Some(Some(trace)) = trace {
            take(format!("`{path}` {what}"), None, trace);
        }
    }
}

/// The parts of a pointer, with places in lists as numbers.
fn place_of(pointer: &str) -> Vec<(Option<usize>, &str)> {
    let parts = pointer.split('/').skip(1);
    parts.map(|part| (part.parse().ok(), part)).collect()
}

/// Takes a value out of the list or object that it stands in.
fn remove(document: &mut Json, pointer: &str) -> bool {
    let Some((parent, name)) = split_pointer(pointer) else {
        return false;
    };
    match document.pointer_mut(parent) {
        Some(Json::Object(members)) => members.remove(&name).is_some(),
        Some(Json::Array(items)) => match name.parse::<usize>() {
            Ok(at) if at < items.len() => {
                items.remove(at);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// What no trace has where a path starts: that nothing is there says nothing.
fn unknown_root(path: &serde_json_path::JsonPath) -> Option<String> {
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
        if events.len() >= crate::MOST_REFS {
            break;
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict::{Fails, Holds};
    use crate::samples::{Events, judged, tool};
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

    fn parsed(text: &str) -> Path {
        Path(serde_json_path::JsonPath::parse(text).expect("a path"))
    }

    fn path(text: &str) -> Option<Path> {
        Some(parsed(text))
    }

    #[test]
    fn results_are_tested_by_value_part_pattern_and_schema() {
        let equals = |json: Json| ToolResultMatches {
            equals: Some(json.into()),
            ..ToolResultMatches::default()
        };
        let contains = |json: Json| ToolResultMatches {
            contains: Some(json.into()),
            ..ToolResultMatches::default()
        };
        let regex = |text: &str| ToolResultMatches {
            regex: Some(Regex::new(text).expect("a pattern")).into(),
            ..ToolResultMatches::default()
        };
        let schema = |json: Json| ToolResultMatches {
            json_schema: Some(json.into()),
            ..ToolResultMatches::default()
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
                ToolResultMatches::default(),
                Holds,
                false,
            ),
            (
                "web_search",
                None,
                ToolResultMatches::default(),
                Holds,
                true,
            ),
            ("raw", path("$.ok[0]"), equals(json!(1)), Holds, false),
            (
                "web_*",
                path("$.error"),
                equals(json!("busy")),
                Holds,
                false,
            ),
            ("silent", None, ToolResultMatches::default(), Fails, false),
            ("other", None, ToolResultMatches::default(), Fails, false),
        ] {
            let what = format!("{name} {at:?} {test:?}");
            let check = ToolResultMatches {
                tool: tool(name),
                json_path: at,
                ..test
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
        let check = ToolResultMatches {
            tool: tool("web_search"),
            json_path: path("$.items[0].n"),
            equals: Some(json!(7).into()),
            ..ToolResultMatches::default()
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
            let check = JsonPath {
                path: parsed(at),
                equals: equals.map(Into::into),
                exists,
                count,
            };
            let finding = judged(check, &search());
            assert_eq!(finding.verdict, expected, "{at}: {}", finding.message);
        }
    }

    #[test]
    fn events_on_the_path_are_the_evidence() {
        let check = JsonPath {
            path: parsed("$.events[?@.data.success == true].data.result"),
            equals: None,
            exists: Some(true),
            count: None,
        };
        assert_eq!(judged(check, &search()).event_refs, ["e4", "e6"]);
    }

    #[test]
    fn nothing_in_nothing_is_said_out_loud() {
        let check = JsonPath {
            path: parsed("$.events[*]"),
            equals: None,
            exists: Some(false),
            count: None,
        };
        assert!(judged(check, &Events::new().trace()).vacuous);
    }
}
