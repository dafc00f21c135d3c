//! Which tools were called, how often, and with what.

use serde_json::json;

use super::Finding;
use super::reach::{uncalled_help, unknown_tool, unreachable_tool};
use super::values::equals;
use super::values::{Schema, holds_part, mismatch};
use super::view::{Call, View, dotted};
use super::words::{as_count, brief, count_of, evidence, quoted, times};
use crate::model::{ArgsMatch, ToolPattern, Which};
use cuecard_source::value::Json;

pub(super) fn must_call(
    tool: &ToolPattern,
    min: u64,
    max: Option<u64>,
    view: &View<'_>,
) -> Finding {
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

fn uncalled_or_fewer(tool: &ToolPattern, count: u64, view: &View<'_>) -> String {
    if count == 0 {
        unreachable_tool(tool, view).unwrap_or_else(|| uncalled_help(tool, view))
    } else {
        "the agent stopped too early, or `min_calls` is too high".to_owned()
    }
}

pub(super) fn must_not_call(tool: &ToolPattern, view: &View<'_>) -> Finding {
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

pub(super) fn max_calls(
    tool: Option<&(ToolPattern, u64)>,
    max_total: Option<u64>,
    view: &View<'_>,
) -> Finding {
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
        if as_count(count) > *max {
            broken.push(format!(
                "{was}, expected at most {}",
                count_of(*max, "call")
            ));
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

pub(super) fn args_match(
    tool: &ToolPattern,
    matching: &ArgsMatch,
    which: Which,
    view: &View<'_>,
) -> Finding {
    let calls = Calls {
        tool,
        listed: view.calls_of(tool),
    };
    if calls.listed.is_empty() {
        let help = unreachable_tool(tool, view).unwrap_or_else(|| uncalled_help(tool, view));
        return Finding::fails(format!(
            "`{}` was never called, so no arguments match",
            tool.text()
        ))
        .observed(json!({"calls": 0}))
        .help(help);
    }
    let schema = matching.json_schema.as_ref().map(Schema::new);
    let misfits = |call: &Call<'_>| args_misfits(matching, schema.as_ref(), &call.data.args);
    let finding = match which {
        Which::Any => any_matches(&calls, misfits),
        Which::All => all_match(&calls, misfits),
        Which::Nth(n) => nth_matches(&calls, n, misfits),
    };
    let asks_nothing = matching.required_keys.is_empty()
        && matching.args_contains.is_empty()
        && matching.args_equal.is_empty()
        && matching.regex.is_empty()
        && matching.json_schema.is_none();
    if asks_nothing {
        finding
            .help("`match` has no condition on the arguments")
            .vacuous()
    } else {
        finding
    }
}

/// The calls of a tool.
struct Calls<'v, 'a> {
    tool: &'v ToolPattern,
    /// In order.
    listed: Vec<&'v Call<'a>>,
}

impl<'v> Calls<'v, '_> {
    fn ids(&self) -> impl Iterator<Item = &'v str> {
        self.listed.iter().map(|call| call.event.event_id.as_str())
    }
}

fn any_matches(calls: &Calls<'_, '_>, misfits: impl Fn(&Call<'_>) -> Vec<String>) -> Finding {
    let tool = calls.tool;
    // The call that comes nearest explains the failure.
    let mut nearest: Option<(&Call<'_>, Vec<String>)> = None;
    for &call in &calls.listed {
        let found = misfits(call);
        if found.is_empty() {
            return matched(tool, call);
        }
        if nearest
            .as_ref()
            .is_none_or(|(_, least)| found.len() < least.len())
        {
            nearest = Some((call, found));
        }
    }
    let (call, found) = match nearest {
        Some(nearest) => nearest,
        None => return Finding::fails(format!("`{}` was never called", tool.text())),
    };
    let which = if calls.listed.len() == 1 {
        format!("the call of `{}` doesn't match", tool.text())
    } else {
        format!(
            "none of {} calls of `{}` matches; nearest is event {}",
            calls.listed.len(),
            tool.text(),
            call.event.seq
        )
    };
    Finding::fails(format!("{which}: {}", found.join("; ")))
        .observed(json!({
            "calls": calls.listed.len(),
            "nearest": call.id(),
            "args": evidence(&call.data.args),
            "misfits": found,
        }))
        .help(called_with(call))
        .refs(calls.ids())
}

fn all_match(calls: &Calls<'_, '_>, misfits: impl Fn(&Call<'_>) -> Vec<String>) -> Finding {
    let tool = calls.tool;
    let mut broken = calls
        .listed
        .iter()
        .map(|call| (*call, misfits(call)))
        .filter(|(_, found)| !found.is_empty());
    let Some((call, found)) = broken.next() else {
        return Finding::holds(format!(
            "the arguments match in {} of `{}`",
            count_of(as_count(calls.listed.len()), "call"),
            tool.text()
        ))
        .observed(json!({"calls": calls.listed.len()}))
        .refs(calls.ids());
    };
    let others: Vec<&str> = broken.map(|(call, _)| call.id()).collect();
    let mismatched = others.len() + 1;
    Finding::fails(format!(
        "{} of {} calls of `{}` don't match; the first is event {}: {}",
        mismatched,
        calls.listed.len(),
        tool.text(),
        call.event.seq,
        found.join("; ")
    ))
    .observed(json!({
        "calls": calls.listed.len(),
        "mismatched": mismatched,
        "args": evidence(&call.data.args),
        "misfits": found,
    }))
    .help(called_with(call))
    .refs(std::iter::once(call.id()).chain(others))
}

fn nth_matches(
    calls: &Calls<'_, '_>,
    n: usize,
    misfits: impl Fn(&Call<'_>) -> Vec<String>,
) -> Finding {
    let tool = calls.tool;
    let call = n.checked_sub(1).and_then(|index| calls.listed.get(index));
    let Some(&call) = call else {
        return Finding::fails(format!(
            "`{}` was {}, so there is no call {n}",
            tool.text(),
            times(calls.listed.len())
        ))
        .observed(json!({"calls": calls.listed.len()}))
        .help("`which` counts the calls of this tool from 1")
        .refs(calls.ids());
    };
    let found = misfits(call);
    if found.is_empty() {
        return matched(tool, call);
    }
    Finding::fails(format!(
        "call {n} of `{}` doesn't match: {}",
        tool.text(),
        found.join("; ")
    ))
    .observed(json!({"args": evidence(&call.data.args), "misfits": found}))
    .help(called_with(call))
    .refs([call.id()])
}

fn matched(tool: &ToolPattern, call: &Call<'_>) -> Finding {
    Finding::holds(format!(
        "the arguments of `{}` in event {} match",
        tool.text(),
        call.event.seq
    ))
    .observed(json!({"args": evidence(&call.data.args)}))
    .refs([call.id()])
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
fn args_misfits(matching: &ArgsMatch, schema: Option<&Schema>, args: &Json) -> Vec<String> {
    let mut found = Vec::new();
    for key in &matching.required_keys {
        if dotted(args, key).is_none() {
            found.push(format!("`{key}` is missing"));
        }
    }
    for (key, part) in &matching.args_contains {
        match dotted(args, key) {
            None => found.push(format!(
                "`{key}` is missing, expected it to contain {}",
                brief(part)
            )),
            Some(got) if !holds_part(got, part, matching.case_sensitive) => found.push(format!(
                "`{key}` is {}, expected it to contain {}",
                brief(got),
                brief(part)
            )),
            Some(_) => {}
        }
    }
    for (key, wanted) in &matching.args_equal {
        match dotted(args, key) {
            None => found.push(format!("`{key}` is missing, expected {}", brief(wanted))),
            Some(got) if !equals(got, wanted) => found.push(format!(
                "`{key}` is {}, expected {}",
                brief(got),
                brief(wanted)
            )),
            Some(_) => {}
        }
    }
    for (key, regex) in &matching.regex {
        match dotted(args, key) {
            None => found.push(format!("`{key}` is missing, expected a match of /{regex}/")),
            Some(got) => {
                if let Some(reason) = mismatch(got, regex) {
                    found.push(format!("`{key}`: {reason}"));
                }
            }
        }
    }
    if let Some(schema) = schema {
        found.extend(schema.misfits(args));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fails, Holds};
    use super::super::samples::{Events, answer, case, judged, judged_for, selects, tool};
    use super::*;
    use crate::model::AssertionCheck;
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
        table: impl IntoIterator<Item = (AssertionCheck, super::super::Verdict, bool)>,
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
        AssertionCheck::MustCallTool {
            tool: tool(name),
            min_calls,
            max_calls,
        }
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
        AssertionCheck::MustNotCallTool { tool: tool(name) }
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
        case.tools.available = Some(vec!["web_search".into(), "mcp__*".into()]);
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
        let none_of = |max_total| AssertionCheck::MaxToolCalls {
            tool: Some((tool("zzz"), 1)),
            max_total,
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
        let stop = AssertionCheck::StopAfterSuccess {
            success_event: selects("tool_result", "web_search"),
            forbid_following: vec![selects("tool_call", "delete_all")],
            allowed_following_tools: Vec::new(),
        };
        assert!(said(stop).0);
        let asks = AssertionCheck::AskClarifyingWhenAmbiguous {
            forbidden_tools: vec![tool("delete_all")],
            question_patterns: Vec::new(),
        };
        let finding = judged_for(&case, asks, &Events::new().output("Which one?").trace());
        assert!(finding.vacuous, "{}", finding.message);
    }

    #[test]
    fn calls_stay_below_their_limits() {
        let max = |of: Option<(&str, u64)>, max_total| AssertionCheck::MaxToolCalls {
            tool: of.map(|(name, max)| (tool(name), max)),
            max_total,
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
        AssertionCheck::ToolArgsMatch {
            tool: tool("web_search"),
            matching,
            which,
        }
    }

    fn keys(keys: &[&str]) -> ArgsMatch {
        ArgsMatch {
            required_keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            ..ArgsMatch::default()
        }
    }

    fn contains(key: &str, part: Json) -> ArgsMatch {
        ArgsMatch {
            args_contains: vec![(key.into(), part)],
            ..ArgsMatch::default()
        }
    }

    fn equals(key: &str, wanted: Json) -> ArgsMatch {
        ArgsMatch {
            args_equal: vec![(key.into(), wanted)],
            ..ArgsMatch::default()
        }
    }

    fn matches(key: &str, pattern: &str) -> ArgsMatch {
        let regex = RegexBuilder::new(pattern).case_insensitive(true).build();
        ArgsMatch {
            regex: vec![(key.into(), regex.expect("a pattern"))],
            ..ArgsMatch::default()
        }
    }

    fn fits(schema: Json) -> ArgsMatch {
        ArgsMatch {
            json_schema: Some(schema),
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
                            args_equal: vec![("n".into(), json!(3))],
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
            args_equal: vec![("query".into(), json!("weather")), ("n".into(), json!(1))],
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
