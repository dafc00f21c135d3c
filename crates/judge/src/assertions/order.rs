//! Which event precedes which, and what may follow a success.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::parts::{Selector, ToolPattern, Tools};
use super::{Assert, Take};
use crate::Finding;
use crate::mutate::{Mutation, OTHER_TOOL, call_more, name_for};
use crate::reach::{
    described, is_about, only_agents_name, selects, unknown_tool, unmet_help, unreachable_selector,
};
use crate::test_case::Params;
use crate::view::View;
use crate::words::{as_count, count_of};
use cuecard_source::decode::{OneOrMany, one_or_many};
use cuecard_source::value::Json;
use cuecard_trace::{Event, Trace};

/// Where something happened: the place among the events and the event, which the last answer may lack.
#[derive(Debug, Clone, Copy)]
struct Moment<'a> {
    position: usize,
    event: Option<&'a Event>,
}

impl<'a> Moment<'a> {
    fn id(self) -> Option<&'a str> {
        self.event.map(|event| event.event_id.as_str())
    }

    fn words(self) -> String {
        match self.event {
            Some(event) => format!("event {}", event.seq),
            None => "the end".to_owned(),
        }
    }

    fn json(self) -> Json {
        match self.event {
            Some(event) => json!({"event_id": event.event_id, "seq": event.seq}),
            None => json!("end"),
        }
    }
}

/// The moments that `selector` means, in order. An answer given only at the end of the trace is the last.
fn moments<'v, 'a>(
    selector: &'v Selector,
    view: &'v View<'a>,
) -> impl DoubleEndedIterator<Item = Moment<'a>> + use<'v, 'a> {
    let only_at_end = view.output_event().is_none()
        && !view.output_is_empty()
        && selector.event_type.as_deref() == Some("final_output")
        && selector.tool.is_none()
        && selector.call_id.is_none()
        && selector.success.is_none()
        && selector.args.is_empty()
        && selector.data.is_empty()
        && selector.caused_by.is_none();
    let at_end = Moment {
        position: view.trace.events.len(),
        event: None,
    };
    view.trace
        .events
        .iter()
        .enumerate()
        .filter(move |(position, event)| selects(selector, view, *position, event))
        .map(|(position, event)| Moment {
            position,
            event: Some(event),
        })
        .chain(only_at_end.then_some(at_end))
}

/// One event precedes another.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ToolCallOrder {
    /// The event that comes first.
    pub before: Selector,
    /// The event that comes later.
    pub after: Selector,
    /// Whether every one precedes every other (default: false).
    #[serde(default)]
    pub all: bool,
}

impl Assert for ToolCallOrder {
    const TYPE: &'static str = "tool_call_order";

    fn check(&mut self, _: &mut Params<'_, '_>) {}

    fn judge(&self, view: &View<'_>) -> Finding {
        let Self { before, after, all } = self;
        let first_before = moments(before, view).next();
        let first_after = moments(after, view).next();
        let (Some(first_before), Some(first_after)) = (first_before, first_after) else {
            let lacking = [
                ("before", before, first_before),
                ("after", after, first_after),
            ]
            .into_iter()
            .filter(|(_, _, found)| found.is_none());
            let missing: Vec<String> = lacking
                .clone()
                .map(|(name, selector, _)| format!("`{name}` ({})", described(selector)))
                .collect();
            let help: Vec<String> = lacking
                .map(|(_, selector, _)| unmet_help(selector, view))
                .collect();
            return Finding::fails(format!(
                "no event matches {}",
                missing.join(", and none matches ")
            ))
            .observed(json!({
                "before_found": first_before.is_some(),
                "after_found": first_after.is_some(),
            }))
            .help(dedup(help).join("; "))
            .refs(
                [first_before, first_after]
                    .into_iter()
                    .flatten()
                    .filter_map(Moment::id),
            );
        };
        let decisive = if *all {
            moments(before, view).next_back().unwrap_or(first_before)
        } else {
            first_before
        };
        let (earlier, later) = (described(before), described(after));
        let observed = json!({"before": decisive.json(), "after": first_after.json()});
        let refs = [decisive, first_after].into_iter().filter_map(Moment::id);
        if decisive.position < first_after.position {
            return Finding::holds(format!(
                "{earlier} in {} precedes {later} in {}",
                decisive.words(),
                first_after.words()
            ))
            .observed(observed)
            .refs(refs);
        }
        let which = if *all { "every" } else { "the first" };
        let message = if decisive.position == first_after.position {
            format!("{} is both {earlier} and {later}", decisive.words())
        } else {
            format!(
                "{later} came first, in {}; expected {which} {earlier} before it, found one in {}",
                first_after.words(),
                decisive.words()
            )
        };
        Finding::fails(message)
            .observed(observed)
            .help("add `tool`, `call_id`, `args` or `data` to a selector to match fewer events")
            .refs(refs)
    }

    fn watches(&self, mutation: Mutation) -> bool {
        matches!(mutation, Mutation::SwapCalls | Mutation::DropCall)
    }

    fn tools(&self) -> Option<Vec<&ToolPattern>> {
        Some(vec![self.before.tool.as_ref()?, self.after.tool.as_ref()?])
    }
}

fn is_allowed(allowed: &[ToolPattern], event: &Event) -> bool {
    allowed.iter().any(|tool| is_about(tool, event))
}

fn dedup(mut texts: Vec<String>) -> Vec<String> {
    texts.dedup();
    texts
}

/// Nothing of a kind follows the first success.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct StopAfterSuccess {
    /// The success.
    pub success_event: Selector,
    /// Events that must not follow.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<Selector>")]
    pub forbid_following: Vec<Selector>,
    /// Tools that may be called nevertheless.
    #[serde(default)]
    pub allowed_following_tools: Tools,
}

impl Assert for StopAfterSuccess {
    const TYPE: &'static str = "stop_after_success";

    fn check(&mut self, params: &mut Params<'_, '_>) {
        if params.is_empty("forbid_following") {
            let help = "write { event_type: tool_call } to forbid every call";
            params.conflict(
                "forbid_following",
                "`forbid_following` forbids nothing",
                help,
            );
        }
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let Self {
            success_event,
            forbid_following,
            allowed_following_tools: allowed,
        } = self;
        let Some(success) = moments(success_event, view).next() else {
            return Finding::fails(format!("no event matches {}", described(success_event)))
                .observed(json!({"success_event": null}))
                .help(unmet_help(success_event, view));
        };
        let mut violations: Vec<Moment<'_>> = forbid_following
            .iter()
            .flat_map(|selector| moments(selector, view))
            .filter(|moment| moment.position > success.position)
            .filter(|moment| !moment.event.is_some_and(|event| is_allowed(allowed, event)))
            .collect();
        violations.sort_by_key(|moment| moment.position);
        violations.dedup_by_key(|moment| moment.position);
        let forbidden: Vec<String> = forbid_following.iter().map(described).collect();
        let forbidden = forbidden.join(" or ");
        if let Some(first) = violations.first() {
            let count = as_count(violations.len());
            const SHOWN: usize = 20;
            let shown: Vec<Json> = violations.iter().take(SHOWN).map(|m| m.json()).collect();
            return Finding::fails(format!(
                "{} of {forbidden} after the success in {}; the first in {}",
                count_of(count, "event"),
                success.words(),
                first.words()
            ))
            .observed(json!({
                "success": success.json(),
                "violations": shown,
                "violation_count": count,
            }))
            .help("list the tools that may follow in `allowed_following_tools`")
            .refs(
                std::iter::once(success)
                    .chain(violations)
                    .filter_map(Moment::id),
            );
        }
        let mut natives = forbid_following.iter();
        if let Some(reason) = natives.find_map(|selector| only_agents_name(selector, view)) {
            return Finding::fails(format!("can't determine whether {forbidden} follows"))
                .observed(json!({"success": success.json()}))
                .help(reason)
                .refs(success.id());
        }
        let finding = Finding::holds(format!(
            "nothing forbidden follows the success in {}",
            success.words()
        ))
        .observed(json!({"success": success.json()}))
        .refs(success.id());
        let reasons: Vec<String> = forbid_following
            .iter()
            .filter_map(|selector| {
                let unknown = || unknown_tool(selector.tool.as_ref()?, view);
                unreachable_selector(selector, view).or_else(unknown)
            })
            .collect();
        if reasons.len() < forbid_following.len() {
            finding
        } else if reasons.is_empty() {
            finding.help("`forbid_following` forbids nothing").vacuous()
        } else {
            finding.help(dedup(reasons).join("; ")).vacuous()
        }
    }

    fn watches(&self, mutation: Mutation) -> bool {
        use Mutation::{CallForbidden, DuplicateCall, FlipStatus};
        matches!(mutation, FlipStatus | DuplicateCall | CallForbidden)
    }

    fn tools(&self) -> Option<Vec<&ToolPattern>> {
        self.success_event.tool.as_ref().map(|tool| vec![tool])
    }

    fn break_trace(&self, _: Mutation, trace: &Trace, take: &mut Take<'_>) {
        for selector in self.forbid_following.iter() {
            let is_call = selector
                .event_type
                .as_deref()
                .is_none_or(|kind| kind == "tool_call");
            if !is_call || selector.call_id.is_some() || selector.success.is_some() {
                continue;
            }
            let name = match &selector.tool {
                Some(tool) => name_for(tool),
                None => Some(OTHER_TOOL.to_owned()),
            };
            let is_allowed = |name: &String| {
                self.allowed_following_tools
                    .iter()
                    .any(|tool| tool.matches(name))
            };
            if let Some(name) = name.filter(|name| !is_allowed(name)) {
                call_more(trace, &name, Json::Object(selector.args.0.clone()), 1, take);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict::{self, Fails, Holds};
    use crate::samples::{Events, args, final_output, judged, judged_for, selector, selects, tool};
    use cuecard_trace::{EventData, Trace};

    fn news() -> Trace {
        Events::new()
            .user("news?")
            .call("web_search", "c1", json!({"query": "ai"}))
            .error("web_search", Some("c1"), "timeout")
            .call("web_search", "c2", json!({"query": "ai news"}))
            .result("web_search", "c2", true, json!([]))
            .call("web_fetch", "c3", json!({"url": "u"}))
            .result("web_fetch", "c3", true, json!("text"))
            .output("- news")
            .trace()
    }

    fn ordered(before: Selector, after: Selector, all: bool) -> ToolCallOrder {
        ToolCallOrder { before, after, all }
    }

    #[test]
    fn the_first_before_precedes_the_first_after() {
        let call = |name| selects("tool_call", name);
        let with_args = |key: &str, value: Json| Selector {
            args: args(&[(key, value)]),
            ..call("web_search")
        };
        for (before, after, all, expected) in [
            (call("web_search"), call("web_fetch"), false, Holds),
            (call("web_search"), call("web_fetch"), true, Holds),
            (call("web_fetch"), call("web_search"), false, Fails),
            (call("web_*"), call("web_fetch"), false, Holds),
            (call("web_*"), call("web_fetch"), true, Fails),
            (call("web_search"), call("web_search"), false, Fails),
            (call("web_search"), selector("final_output"), true, Holds),
            (selector("final_output"), call("web_search"), false, Fails),
            (selector("error"), call("web_fetch"), false, Holds),
            (call("nothing"), call("web_fetch"), false, Fails),
            (call("web_search"), call("nothing"), false, Fails),
            (
                with_args("query", json!("ai news")),
                call("web_fetch"),
                false,
                Holds,
            ),
            (
                selector("error"),
                with_args("query", json!("ai")),
                false,
                Fails,
            ),
            (
                selector("error"),
                with_args("query", json!("ai news")),
                false,
                Holds,
            ),
        ] {
            let what = format!("{} before {}", described(&before), described(&after));
            let finding = judged(ordered(before, after, all), &news());
            assert_eq!(finding.verdict, expected, "{what}: {}", finding.message);
            assert!(!finding.vacuous);
        }
    }

    #[test]
    fn results_do_not_have_the_agents_own_name_of_a_tool() {
        let mut trace = news();
        for event in &mut trace.events {
            if let EventData::ToolCall(call) = &mut event.data
                && &*call.tool == "web_fetch"
            {
                call.native_tool = Some("Fetch".into());
            }
        }
        let stops = |kind: &str| StopAfterSuccess {
            success_event: selector("error"),
            forbid_following: vec![selects(kind, "Fetch")],
            allowed_following_tools: Tools::default(),
        };
        for kind in ["tool_call", "tool_result"] {
            let finding = judged(stops(kind), &trace);
            assert_eq!(finding.verdict, Fails, "{kind}: {}", finding.message);
        }
        let help = judged(stops("tool_result"), &trace).help;
        let help = help.expect("a way out");
        assert!(help.contains("own name for `web_fetch`"), "{help}");
    }

    #[test]
    fn a_missing_event_is_explained() {
        let finding = judged(
            ordered(
                selects("tool_call", "web_serch"),
                selector("final_ouput"),
                false,
            ),
            &news(),
        );
        assert_eq!(
            finding.message,
            "no event matches `before` (`tool_call` of `web_serch`), and none matches `after` (`final_ouput`)"
        );
        assert_eq!(
            finding.help.as_deref(),
            Some(
                "did you mean `web_search`?; no player emits events of type `final_ouput`: did you mean `final_output`?"
            )
        );
        assert_eq!(
            finding.observed,
            json!({"before_found": false, "after_found": false})
        );
    }

    #[test]
    fn an_answer_only_at_the_end_is_an_event() {
        let mut trace = Events::new().call("a", "c", json!({})).trace();
        let check = || ordered(selects("tool_call", "a"), selector("final_output"), true);
        assert_eq!(judged(check(), &trace).verdict, Fails);
        if let Some(end) = &mut trace.end {
            end.final_output = Some(final_output("done"));
        }
        let finding = judged(check(), &trace);
        assert_eq!(finding.verdict, Holds, "{}", finding.message);
        assert_eq!(finding.event_refs, ["e1"]);
    }

    fn stops(
        success: Selector,
        forbid: Vec<Selector>,
        allowed: &[&str],
        trace: &Trace,
    ) -> (Verdict, bool, String) {
        let check = StopAfterSuccess {
            success_event: success,
            forbid_following: forbid,
            allowed_following_tools: allowed
                .iter()
                .map(|name| tool(name))
                .collect::<Vec<_>>()
                .into(),
        };
        let finding = judged(check, trace);
        (finding.verdict, finding.vacuous, finding.message)
    }

    #[test]
    fn nothing_forbidden_follows_a_success() {
        let success = |name| Selector {
            success: Some(true),
            ..selects("tool_result", name)
        };
        let calls = || vec![selector("tool_call")];
        let trace = news();
        for (first, forbid, allowed, expected, vacuous) in [
            (success("web_fetch"), calls(), &[][..], Holds, false),
            (success("web_search"), calls(), &[], Fails, false),
            (success("web_search"), calls(), &["web_fetch"], Holds, false),
            (success("web_search"), calls(), &["web_s*"], Fails, false),
            (
                success("web_search"),
                vec![selects("tool_call", "web_search")],
                &[],
                Holds,
                false,
            ),
            (
                success("web_search"),
                vec![selects("tool_call", "x"), selects("tool_call", "web_fetch")],
                &[],
                Fails,
                false,
            ),
            (success("other"), calls(), &[], Fails, false),
            (success("web_fetch"), vec![], &[], Holds, true),
            (
                success("web_fetch"),
                vec![selector("tool_cal")],
                &[],
                Holds,
                true,
            ),
            (
                success("web_fetch"),
                vec![Selector {
                    success: Some(false),
                    ..selector("tool_call")
                }],
                &[],
                Holds,
                true,
            ),
        ] {
            let what = described(&first);
            let (verdict, is_vacuous, message) = stops(first, forbid, allowed, &trace);
            assert_eq!(
                (verdict, is_vacuous),
                (expected, vacuous),
                "{what}: {message}"
            );
        }
    }

    #[test]
    fn a_forbidden_tool_that_nobody_has_is_said_out_loud() {
        let mut case = crate::samples::case();
        case.tools.available = Some(vec!["web_search".into(), "web_fetch".into()].into());
        let check = StopAfterSuccess {
            success_event: selects("tool_result", "web_fetch"),
            forbid_following: vec![selects("tool_call", "web_serch")],
            allowed_following_tools: Tools::default(),
        };
        let finding = judged_for(&case, check, &news());
        assert!(finding.vacuous);
        assert_eq!(
            finding.help.as_deref(),
            Some("unknown tool `web_serch`: not in `tools.available`: did you mean `web_search`?")
        );
    }
}
