//! Which tools were called, how often, and with what.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema as JsonSchemaOf, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, json};

use super::parts::{Args, JsonSchemaText, Regexes, Rules, Texts, ToolPattern};
use super::{Assert, TOOL_TRACE, Take};
use crate::Finding;
use crate::mutate::{Mutation, OTHER_TOOL, call_more, name_for};
use crate::reach::{uncalled_help, unknown_tool, unreachable_tool};
use crate::test_case::{ALWAYS, Params};
use crate::values::equals;
use crate::values::{Schema, holds_part, is_in_all, mismatch};
use crate::view::{Call, View, dotted};
use crate::words::{as_count, brief, count_of, evidence, quoted, times};
use cuecard_source::decode::by_hand;
use cuecard_source::matching::takes_all;
use cuecard_source::value::{Json, cut};
use cuecard_trace::{EventData, ToolCall, Trace};

/// A tool is called so often.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct MustCallTool {
    /// The tool; a glob is allowed.
    pub tool: ToolPattern,
    /// The fewest calls (default: 1).
    pub min_calls: Option<u64>,
    /// The most calls.
    pub max_calls: Option<u64>,
}

impl Assert for MustCallTool {
    const TYPE: &'static str = "must_call_tool";
    const NEEDS: &'static [&'static str] = TOOL_TRACE;

    fn check(&mut self, params: &mut Params<'_, '_>) {
        let (min, max) = (self.min_calls, self.max_calls);
        if min.is_none() && max == Some(0) {
            let message = "`max_calls` is 0, and `min_calls` is 1 where nothing is said";
            params.conflict("max_calls", message, "use `must_not_call_tool`");
        } else {
            params.ordered(("min_calls", min), ("max_calls", max));
        }
        if min == Some(0) && max.is_none() {
            let message = "`min_calls: 0` without `max_calls` always holds";
            params.conflict("min_calls", message, "raise it, or add `max_calls`");
        }
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let tool = &self.tool;
        let (min, max) = (self.min_calls.unwrap_or(1), self.max_calls);
        let calls = view.calls_of(tool);
        let total = calls.len();
        let count = as_count(total);
        let was = format!("`{}` was {}", tool.text(), times(total));
        let finding = if count < min {
            let expected = count_of(min, "call");
            Finding::fails(format!("{was}, expected at least {expected}"))
                .help(uncalled_or_fewer(tool, count, view))
        } else if let Some(max) = max.filter(|max| count > *max) {
            let expected = count_of(max, "call");
            Finding::fails(format!("{was}, expected at most {expected}")).help(
                "the evidence includes the calls beyond the limit: what made the agent call again?",
            )
        } else if count == 0 {
            // Only a lower bound of 0 lets this be.
            Finding::holds(was).vacuous()
        } else {
            Finding::holds(was)
        };
        finding
            .observed(json!({"calls": count}))
            .refs(calls.iter().map(|call| call.id()))
    }

    fn watches(&self, mutation: Mutation) -> bool {
        use Mutation::{DropCall, DuplicateCall, RetargetCall};
        matches!(mutation, DropCall | RetargetCall)
            || (mutation == DuplicateCall && self.max_calls.is_some())
    }

    fn tools(&self) -> Option<Vec<&ToolPattern>> {
        Some(vec![&self.tool])
    }
}

fn uncalled_or_fewer(tool: &ToolPattern, count: u64, view: &View<'_>) -> String {
    if count == 0 {
        unreachable_tool(tool, view).unwrap_or_else(|| uncalled_help(tool, view))
    } else {
        "the agent stopped too early, or `min_calls` is too high".to_owned()
    }
}

/// A tool is not called.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct MustNotCallTool {
    /// The tool; a glob is allowed.
    pub tool: ToolPattern,
}

impl Assert for MustNotCallTool {
    const TYPE: &'static str = "must_not_call_tool";
    const NEEDS: &'static [&'static str] = TOOL_TRACE;

    fn check(&mut self, _: &mut Params<'_, '_>) {}

    fn judge(&self, view: &View<'_>) -> Finding {
        let tool = &self.tool;
        let calls = view.calls_of(tool);
        let total = calls.len();
        let was = format!("`{}` was {}", tool.text(), times(total));
        let Some(first) = calls.first() else {
            let finding = Finding::holds(was).observed(json!({"calls": 0}));
            return said_if_unjudged(finding, unknown_tool(tool, view), view);
        };
        Finding::fails(format!("{was}, expected no call"))
            .help(format!(
                "the first call is event {} with {}",
                first.event.seq,
                brief(&first.data.args)
            ))
            .observed(json!({"calls": total, "first_args": evidence(&first.data.args)}))
            .refs(calls.iter().map(|call| call.id()))
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::CallForbidden
    }

    fn break_trace(&self, _: Mutation, trace: &Trace, take: &mut Take<'_>) {
        if let Some(name) = name_for(&self.tool) {
            call_more(trace, &name, Json::Object(Map::new()), 1, take);
        }
    }
}

/// Marks what holds of a trace that shows nothing, or of a tool that nobody knows.
pub(super) fn said_if_unjudged(
    finding: Finding,
    unreachable: Option<String>,
    view: &View<'_>,
) -> Finding {
    match unreachable {
        Some(reason) => finding.help(reason).vacuous(),
        None if view.shows_nothing() => finding
            .help("the trace shows nothing that the agent did or said")
            .vacuous(),
        None => finding,
    }
}

/// There are at most so many calls.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct MaxToolCalls {
    /// The tool whose calls count; a glob is allowed.
    pub tool: Option<ToolPattern>,
    /// The most calls of the tool.
    pub max: Option<u64>,
    /// The most calls of all tools.
    pub max_total: Option<u64>,
}

impl Assert for MaxToolCalls {
    const TYPE: &'static str = "max_tool_calls";
    const NEEDS: &'static [&'static str] = TOOL_TRACE;

    fn check(&mut self, params: &mut Params<'_, '_>) {
        let (key, message, help) = match (params.has("tool"), params.has("max")) {
            (true, false) => (
                "tool",
                "`tool` requires `max`",
                "add `max`, the most calls of this tool",
            ),
            (false, true) => (
                "max",
                "`max` requires `tool`",
                "add `tool`, or write `max_total` for the calls of all tools",
            ),
            (false, false) if !params.has("max_total") => (
                "",
                "no limit is given",
                "add `tool` with `max`, or `max_total`",
            ),
            _ => return,
        };
        params.conflict(key, message, help);
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let tool = self.tool.as_ref().zip(self.max);
        let max_total = self.max_total;
        if tool.is_none() && max_total.is_none() {
            return Finding::holds("no limit is given").vacuous();
        }
        let mut broken = Vec::new();
        let mut holding = Vec::new();
        let mut observed = serde_json::Map::new();
        let mut counted: Vec<&Call<'_>> = Vec::new();
        if let Some((tool, max)) = tool {
            let calls = view.calls_of(tool);
            let count = calls.len();
            observed.insert("calls".to_owned(), count.into());
            let was = format!("`{}` was {}", tool.text(), times(count));
            if as_count(count) > max {
                broken.push(format!("{was}, expected at most {}", count_of(max, "call")));
            } else {
                holding.push(format!("{was}, at most {max} allowed"));
            }
            counted = calls;
        }
        if let Some(max) = max_total {
            let total = view.calls().len();
            observed.insert("total".to_owned(), total.into());
            let were = match total {
                1 => "there was 1 tool call".to_owned(),
                total => format!("there were {}", count_of(as_count(total), "tool call")),
            };
            if as_count(total) > max {
                broken.push(format!("{were}, expected at most {max}"));
            } else {
                holding.push(format!("{were}, at most {max} allowed"));
            }
            counted = view.calls().iter().collect();
        }
        let refs = counted.iter().map(|call| call.id());
        if broken.is_empty() {
            let unreachable = tool.and_then(|(tool, _)| unknown_tool(tool, view));
            let finding = Finding::holds(holding.join("; "))
                .observed(observed)
                .refs(refs);
            return said_if_unjudged(finding, unreachable.filter(|_| max_total.is_none()), view);
        }
        Finding::fails(broken.join("; "))
            .observed(observed)
            .help("the evidence lists the calls: look for repeated ones")
            .refs(refs)
    }

    fn watches(&self, mutation: Mutation) -> bool {
        matches!(mutation, Mutation::DuplicateCall | Mutation::CallForbidden)
    }

    fn tools(&self) -> Option<Vec<&ToolPattern>> {
        self.tool.as_ref().map(|tool| vec![tool])
    }

    fn break_trace(&self, _: Mutation, trace: &Trace, take: &mut Take<'_>) {
        let calls = |is_meant: &dyn Fn(&ToolCall) -> bool| {
            let calls = trace.events.iter().filter_map(|event| match &event.data {
                EventData::ToolCall(call) => Some(call),
                _ => None,
            });
            calls.filter(|call| is_meant(call)).count()
        };
        // As many as it takes to be one too many.
        let mut exceed = |name: &str, max: u64, count: usize| {
            let max = usize::try_from(max).unwrap_or(usize::MAX);
            let times = max.saturating_sub(count).saturating_add(1);
            call_more(trace, name, Json::Object(Map::new()), times, take);
        };
        if let (Some(tool), Some(max)) = (&self.tool, self.max)
            && let Some(name) = name_for(tool)
        {
            exceed(&name, max, calls(&|call| tool.matches(&call.tool)));
        }
        if let Some(max) = self.max_total {
            exceed(OTHER_TOOL, max, calls(&|_| true));
        }
    }
}

/// The arguments of a tool's calls are as they should.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ToolArgsMatch {
    /// The tool; a glob is allowed.
    pub tool: ToolPattern,
    /// What the arguments must be.
    pub r#match: ArgsMatch,
    /// Of several calls those that must match: any (default), all, or the n-th.
    #[serde(default)]
    pub which: Which,
    /// Whether case counts in texts (default: false).
    #[serde(default)]
    pub case_sensitive: bool,
}

/// What arguments must be. Dotted keys reach into them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(rename = "args_match")]
pub struct ArgsMatch {
    /// Dotted keys that must be there.
    #[serde(default)]
    pub required_keys: Texts,
    /// Dotted keys and what their values must contain.
    #[serde(default)]
    pub args_contains: Args,
    /// Dotted keys and their values.
    #[serde(default)]
    pub args_equal: Args,
    /// Dotted keys and regular expressions that their values must match.
    #[serde(default)]
    pub regex: Regexes,
    /// A JSON Schema that the arguments must satisfy.
    pub json_schema: Option<JsonSchemaText>,
}

impl ArgsMatch {
    fn is_empty(&self) -> bool {
        self.required_keys.is_empty()
            && self.args_contains.is_empty()
            && self.args_equal.is_empty()
            && self.regex.is_empty()
            && self.json_schema.is_none()
    }
}

/// Of several calls those that must match.
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

impl<'de> Deserialize<'de> for Which {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(deserializer, Some(Self::Any), |reader, node, pointer| {
            let number = || {
                usize::try_from(node.as_u64()?)
                    .ok()
                    .filter(|number| *number > 0)
            };
            let which = match node.as_str() {
                Some("any") => Some(Self::Any),
                Some("all") => Some(Self::All),
                _ => number().map(Self::Nth),
            };
            if which.is_none() {
                let expected = "`any`, `all`, or the number of a call from 1";
                reader.wrong_type(node, pointer, "`which`", expected);
            }
            which
        })
    }
}

impl JsonSchema for Which {
    fn schema_name() -> Cow<'static, str> {
        "which".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> JsonSchemaOf {
        json_schema!({ "anyOf": [{ "enum": ["any", "all"] }, { "type": "integer", "minimum": 1 }] })
    }

    fn inline_schema() -> bool {
        true
    }
}

impl Assert for ToolArgsMatch {
    const TYPE: &'static str = "tool_args_match";
    const NEEDS: &'static [&'static str] = TOOL_TRACE;

    fn check(&mut self, params: &mut Params<'_, '_>) {
        let matching = &mut self.r#match;
        matching.regex = params.regexes("match", "regex", Rules::regex(self.case_sensitive));
        if matching.is_empty() && !params.says_something("match") {
            let message = "`match` has no condition on the arguments";
            let help = "add required_keys, args_contains, args_equal, regex or json_schema; to require only the call, use `must_call_tool`";
            params.conflict("match", message, help);
        }
        for (key, value) in matching.args_contains.iter() {
            if is_in_all(value) {
                let message = format!("every value of `{}` holds that", cut(key, 60));
                let help = "to require its presence, use `required_keys`";
                params.conflict("match", &message, help);
            }
        }
        if matching
            .json_schema
            .as_ref()
            .is_some_and(|schema| takes_all(&schema.0))
        {
            params.conflict("match", "all arguments satisfy this schema", ALWAYS);
        }
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let Self {
            tool,
            r#match: matching,
            which,
            case_sensitive,
        } = self;
        let name = tool.text();
        let calls = view.calls_of(tool);
        let count = calls.len();
        let ids = || calls.iter().map(|call| call.id());
        if calls.is_empty() {
            let help = unreachable_tool(tool, view).unwrap_or_else(|| uncalled_help(tool, view));
            return Finding::fails(format!("`{name}` was never called, so no arguments match"))
                .observed(json!({"calls": 0}))
                .help(help);
        }
        let meant = match *which {
            Which::Nth(n) => calls.get(n.saturating_sub(1)..n).unwrap_or_default(),
            _ => calls.as_slice(),
        };
        let schema = matching
            .json_schema
            .as_ref()
            .map(|schema| Schema::new(&schema.0));
        let looked = meant.iter().map(|call| {
            let args = &call.data.args;
            let found = args_misfits(matching, *case_sensitive, schema.as_ref(), args);
            (*call, found)
        });
        let looked: Vec<(&Call<'_>, Vec<String>)> = looked.collect();
        let broken = looked.iter().filter(|(_, found)| !found.is_empty());
        let broken: Vec<&(&Call<'_>, Vec<String>)> = broken.collect();
        let nearest = looked.iter().min_by_key(|(_, found)| found.len());
        let shown = match *which {
            Which::All => broken.first().copied().or(nearest),
            _ => nearest,
        };
        let Some((call, found)) = shown else {
            let was = times(count);
            return Finding::fails(format!("`{name}` was {was}, so there is no such call"))
                .observed(json!({"calls": count}))
                .help("`which` counts the calls of this tool from 1")
                .refs(ids());
        };
        let seq = call.event.seq;
        let args = evidence(&call.data.args);
        if found.is_empty() {
            let (message, refs) = match *which {
                Which::All => {
                    let all = count_of(as_count(count), "call");
                    let message = format!("the arguments match in {all} of `{name}`");
                    (message, ids().collect())
                }
                _ => (
                    format!("the arguments of `{name}` in event {seq} match"),
                    vec![call.id()],
                ),
            };
            let finding = Finding::holds(message)
                .observed(json!({"calls": count, "args": args}))
                .refs(refs);
            return match matching.is_empty() {
                true => finding
                    .help("`match` has no condition on the arguments")
                    .vacuous(),
                false => finding,
            };
        }
        let n_broken = broken.len();
        let fault = match *which {
            Which::Nth(n) => format!("call {n} of `{name}` doesn't match"),
            _ if count == 1 => format!("the call of `{name}` doesn't match"),
            Which::Any => {
                format!("none of {count} calls of `{name}` matches; nearest is event {seq}")
            }
            Which::All => format!(
                "{n_broken} of {count} calls of `{name}` don't match; the first is event {seq}"
            ),
        };
        Finding::fails(format!("{fault}: {}", found.join("; ")))
            .observed(json!({
                "calls": count,
                "mismatched": n_broken,
                "event": call.id(),
                "args": args,
                "misfits": found,
            }))
            .help(called_with(call))
            .refs(broken.iter().map(|(call, _)| call.id()))
    }

    fn watches(&self, mutation: Mutation) -> bool {
        matches!(mutation, Mutation::AlterArgument | Mutation::DropCall)
    }

    fn tools(&self) -> Option<Vec<&ToolPattern>> {
        Some(vec![&self.tool])
    }
}

fn called_with(call: &Call<'_>) -> String {
    match call.data.args.as_object() {
        Some(members) if members.is_empty() => {
            format!("event {} has no arguments", call.event.seq)
        }
        Some(members) => format!(
            "event {} has the arguments {}",
            call.event.seq,
            quoted(members.keys().map(String::as_str))
        ),
        None => format!(
            "the arguments of event {} are not an object",
            call.event.seq
        ),
    }
}

/// What of the arguments is not as it should be; empty if they match.
fn args_misfits(
    matching: &ArgsMatch,
    case_sensitive: bool,
    schema: Option<&Schema>,
    args: &Json,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |key: &str, expected: String, fault: &dyn Fn(&Json) -> Option<String>| {
        found.extend(match dotted(args, key) {
            None => Some(format!("`{key}` is missing{expected}")),
            Some(got) => fault(got),
        });
    };
    for key in matching.required_keys.iter() {
        look(key, String::new(), &|_| None);
    }
    for (key, part) in matching.args_contains.iter() {
        let expected = format!(", expected it to contain {}", brief(part));
        look(key, expected.clone(), &|got| {
            let is_fault = !holds_part(got, part, case_sensitive);
            is_fault.then(|| format!("`{key}` is {}{expected}", brief(got)))
        });
    }
    for (key, wanted) in matching.args_equal.iter() {
        let expected = format!(", expected {}", brief(wanted));
        look(key, expected.clone(), &|got| {
            (!equals(got, wanted)).then(|| format!("`{key}` is {}{expected}", brief(got)))
        });
    }
    for (key, regex) in matching.regex.iter() {
        let expected = format!(", expected a match of /{regex}/");
        look(key, expected, &|got| {
            mismatch(got, regex).map(|reason| format!("`{key}`: {reason}"))
        });
    }
    if let Some(schema) = schema {
        found.extend(schema.misfits(args));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict::{Fails, Holds};
    use crate::assertions::AssertionCheck;
    use crate::assertions::order::StopAfterSuccess;
    use crate::assertions::questions::AskClarifyingWhenAmbiguous;
    use crate::samples;
    use crate::samples::{Events, answer, case, judged, judged_for, selects, tool};
    use cuecard_trace::{EventData, Trace};
    use regex::RegexBuilder;

    fn searches() -> Trace {
        Events::new()
            .user("news?")
            .call(
                "web_search",
                "c1",
                json!({"query": "Latest AI news", "n": 3, "opts": {"lang": "en"}}),
            )
            .result("web_search", "c1", true, json!([]))
            .call(
                "web_search",
                "c2",
                json!({"query": "weather", "tags": ["a", "b"]}),
            )
            .call("mcp__github__get_issue", "c3", json!({}))
            .output("done")
            .trace()
    }

    fn check_all(
        trace: &Trace,
        table: impl IntoIterator<Item = (AssertionCheck, crate::Verdict, bool)>,
    ) {
        for (check, expected, vacuous) in table {
            let finding = judged(check.clone(), trace);
            assert_eq!(
                (finding.verdict, finding.vacuous),
                (expected, vacuous),
                "{check:?}: {}",
                finding.message
            );
        }
    }

    fn must(name: &str, min_calls: u64, max_calls: Option<u64>) -> AssertionCheck {
        let min_calls = Some(min_calls);
        MustCallTool {
            tool: tool(name),
            min_calls,
            max_calls,
        }
        .into()
    }

    #[test]
    fn a_tool_is_called_as_often_as_asked() {
        check_all(
            &searches(),
            [
                (must("web_search", 1, None), Holds, false),
                (must("web_search", 2, Some(2)), Holds, false),
                (must("web_search", 3, None), Fails, false),
                (must("web_search", 1, Some(1)), Fails, false),
                (must("mcp__*", 1, Some(1)), Holds, false),
                (must("*", 3, Some(3)), Holds, false),
                (must("web_fetch", 1, None), Fails, false),
                (must("web_fetch", 0, Some(1)), Holds, true),
                (must("WEB_SEARCH", 1, None), Fails, false),
            ],
        );
    }

    #[test]
    fn a_failure_names_the_tool_that_was_meant() {
        let finding = judged(must("web_serch", 1, None), &searches());
        assert_eq!(
            finding.message,
            "`web_serch` was never called, expected at least 1 call"
        );
        assert_eq!(finding.help.as_deref(), Some("did you mean `web_search`?"));
        assert_eq!(finding.observed, json!({"calls": 0}));
        let finding = judged(must("outbound_send", 1, None), &searches());
        assert_eq!(
            finding.help.as_deref(),
            Some("the trace calls `web_search`, `mcp__github__get_issue`")
        );
        let finding = judged(must("web_search", 3, None), &searches());
        assert_eq!(finding.event_refs, ["e2", "e4"]);
        let finding = judged(must("x", 1, None), &answer("hi"));
        assert_eq!(finding.help.as_deref(), Some("the trace has no tool call"));
    }

    fn must_not(name: &str) -> AssertionCheck {
        MustNotCallTool { tool: tool(name) }.into()
    }

    #[test]
    fn a_tool_is_not_called() {
        check_all(
            &searches(),
            [
                // Nothing says that there is such a tool.
                (must_not("web_fetch"), Holds, true),
                (must_not("web_search"), Fails, false),
                (must_not("mcp__github__*"), Fails, false),
            ],
        );
        check_all(&answer("4"), [(must_not("web_search"), Holds, true)]);
        check_all(&answer(" "), [(must_not("web_search"), Holds, true)]);
        check_all(&Events::new().trace(), [(must_not("*"), Holds, true)]);
        let finding = judged(must_not("web_search"), &searches());
        assert_eq!(
            finding.message,
            "`web_search` was called 2 times, expected no call"
        );
    }

    #[test]
    fn the_name_that_the_agent_used_counts_too() {
        let mut trace = searches();
        if let EventData::ToolCall(call) = &mut trace.events[1].data {
            call.native_tool = Some("WebSearch".into());
        }
        check_all(
            &trace,
            [
                (must_not("WebSearch"), Fails, false),
                (must("WebSearch", 1, Some(1)), Holds, false),
            ],
        );
    }

    #[test]
    fn a_tool_that_nobody_has_is_said_out_loud() {
        let mut case = case();
        case.tools.available = Some(vec!["web_search".into(), "mcp__*".into()].into());
        let said = |check| {
            let finding = judged_for(&case, check, &searches());
            (finding.vacuous, finding.help)
        };
        let (vacuous, help) = said(must_not("web_serch2"));
        assert!(vacuous);
        assert_eq!(
            help.as_deref(),
            Some("unknown tool `web_serch2`: not in `tools.available`: did you mean `web_search`?")
        );
        assert!(!said(must_not("mcp__slack__post")).0);
        let none_of = |max_total| {
            AssertionCheck::from(MaxToolCalls {
                tool: Some(tool("zzz")),
                max: Some(1),
                max_total,
            })
        };
        assert!(said(none_of(None)).0);
        assert!(!said(none_of(Some(9))).0);
        // Nothing is listed: what the trace calls and what servers offered is known, and nothing else.
        case.tools.available = None;
        case.tools.offered = vec!["mcp__notes__delete".into()];
        let said = |check| {
            let finding = judged_for(&case, check, &searches());
            (finding.vacuous, finding.help)
        };
        assert!(!said(must_not("mcp__notes__*")).0);
        assert!(said(none_of(None)).0);
        let (vacuous, help) = said(must_not("delete_all"));
        assert!(vacuous);
        assert_eq!(
            help.as_deref(),
            Some(
                "unknown tool `delete_all`: no server provides it; list it in `tools.available` if the agent has it"
            )
        );
        let stop = StopAfterSuccess {
            success_event: selects("tool_result", "web_search"),
            forbid_following: vec![selects("tool_call", "delete_all")],
            ..StopAfterSuccess::default()
        };
        assert!(said(stop.into()).0);
        let asks = AskClarifyingWhenAmbiguous {
            forbidden_tools: vec![tool("delete_all")].into(),
            ..AskClarifyingWhenAmbiguous::default()
        };
        let finding = judged_for(&case, asks, &Events::new().output("Which one?").trace());
        assert!(finding.vacuous, "{}", finding.message);
    }

    #[test]
    fn calls_stay_below_their_limits() {
        let max = |of: Option<(&str, u64)>, max_total| {
            AssertionCheck::from(MaxToolCalls {
                tool: of.map(|(name, _)| tool(name)),
                max: of.map(|(_, max)| max),
                max_total,
            })
        };
        check_all(
            &searches(),
            [
                (max(Some(("web_search", 2)), None), Holds, false),
                (max(Some(("web_search", 1)), None), Fails, false),
                // Nothing says that there is such a tool.
                (max(Some(("web_fetch", 0)), None), Holds, true),
                (max(None, Some(3)), Holds, false),
                (max(None, Some(2)), Fails, false),
                (max(Some(("web_search", 2)), Some(2)), Fails, false),
            ],
        );
        check_all(&Events::new().trace(), [(max(None, Some(3)), Holds, true)]);
        let finding = judged(max(Some(("web_search", 1)), Some(2)), &searches());
        assert_eq!(
            finding.message,
            "`web_search` was called 2 times, expected at most 1 call; there were 3 tool calls, expected at most 2"
        );
    }

    fn args(matching: ArgsMatch, which: Which) -> AssertionCheck {
        ToolArgsMatch {
            tool: tool("web_search"),
            r#match: matching,
            which,
            case_sensitive: false,
        }
        .into()
    }

    fn keys(keys: &[&str]) -> ArgsMatch {
        ArgsMatch {
            required_keys: keys
                .iter()
                .map(|key| (*key).to_owned())
                .collect::<Vec<_>>()
                .into(),
            ..ArgsMatch::default()
        }
    }

    fn contains(key: &str, part: Json) -> ArgsMatch {
        ArgsMatch {
            args_contains: samples::args(&[(key, part)]),
            ..ArgsMatch::default()
        }
    }

    fn equals(key: &str, wanted: Json) -> ArgsMatch {
        ArgsMatch {
            args_equal: samples::args(&[(key, wanted)]),
            ..ArgsMatch::default()
        }
    }

    fn matches(key: &str, pattern: &str) -> ArgsMatch {
        let regex = RegexBuilder::new(pattern).case_insensitive(true).build();
        ArgsMatch {
            regex: vec![(key.into(), regex.expect("a pattern"))].into(),
            ..ArgsMatch::default()
        }
    }

    fn fits(schema: Json) -> ArgsMatch {
        ArgsMatch {
            json_schema: Some(schema.into()),
            ..ArgsMatch::default()
        }
    }

    #[test]
    fn arguments_match_in_the_calls_that_are_asked() {
        use Which::{All, Any, Nth};
        check_all(
            &searches(),
            [
                (args(keys(&["query", "opts.lang"]), Any), Holds, false),
                (args(keys(&["query"]), All), Holds, false),
                (args(keys(&["query", "n"]), All), Fails, false),
                (args(keys(&["n"]), Nth(1)), Holds, false),
                (args(keys(&["n"]), Nth(2)), Fails, false),
                (args(keys(&["n"]), Nth(3)), Fails, false),
                (args(keys(&["n"]), Nth(0)), Fails, false),
                (args(contains("query", json!("ai NEWS")), Any), Holds, false),
                (args(contains("query", json!("ai NEWS")), All), Fails, false),
                (args(contains("tags", json!("b")), Any), Holds, false),
                (args(contains("n", json!(3)), Any), Holds, false),
                (
                    args(contains("opts", json!({"lang": "EN"})), Any),
                    Holds,
                    false,
                ),
                (args(contains("absent", json!("b")), Any), Fails, false),
                (args(equals("n", json!(3)), Any), Holds, false),
                (args(equals("n", json!(4)), Any), Fails, false),
                (args(equals("query", json!("WEATHER")), Any), Fails, false),
                (args(equals("tags.1", json!("b")), Any), Holds, false),
                (
                    args(matches("query", "^latest .* news$"), Any),
                    Holds,
                    false,
                ),
                (args(matches("n", "^[0-9]$"), Any), Holds, false),
                (args(matches("query", "^news"), Any), Fails, false),
                (args(matches("absent", ".*"), Any), Fails, false),
                (args(fits(json!({"required": ["tags"]})), Any), Holds, false),
                (args(fits(json!({"required": ["tags"]})), All), Fails, false),
                (args(ArgsMatch::default(), Any), Holds, true),
                // Every part must hold of one call, not each of some call.
                (
                    args(
                        ArgsMatch {
                            args_equal: samples::args(&[("n", json!(3))]),
                            ..keys(&["tags"])
                        },
                        Any,
                    ),
                    Fails,
                    false,
                ),
            ],
        );
        check_all(&answer("hi"), [(args(keys(&["query"]), Any), Fails, false)]);
        check_all(&answer("hi"), [(args(keys(&["query"]), All), Fails, false)]);
    }

    #[test]
    fn the_nearest_call_explains_a_mismatch() {
        let matching = ArgsMatch {
            args_equal: samples::args(&[("query", json!("weather")), ("n", json!(1))]),
            ..keys(&["tags"])
        };
        let finding = judged(args(matching, Which::Any), &searches());
        assert_eq!(
            finding.message,
            "none of 2 calls of `web_search` matches; nearest is event 4: `n` is missing, expected 1"
        );
        assert_eq!(
            finding.help.as_deref(),
            Some("event 4 has the arguments `query`, `tags`")
        );
        assert_eq!(finding.event_refs, ["e2", "e4"]);
    }
}
