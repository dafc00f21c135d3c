//! `scheduler_task_runs` and `scheduler_outbound_count`.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::parts::{Text, ToolPattern};
use super::recovery::sorted;
use super::{Assert, TOOL_TRACE};
use crate::fold::fold;
use crate::model::{TestCase, Trigger};
use crate::mutate::Mutation;
use crate::test_case::Params;
use crate::view::{Call, dotted};
use crate::words::as_count;
use crate::{Finding, Verdict, View};
use cuecard_source::value::{Json, as_text};
use cuecard_trace::{Event, EventData, Header};

/// A scheduled task ran.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct SchedulerTaskRuns {
    /// The task (default: the scenario's).
    pub task_id: Option<Text>,
    /// What must have made the agent act (default: scheduler).
    pub trigger_must_equal: Option<Trigger>,
}

impl Assert for SchedulerTaskRuns {
    const TYPE: &'static str = "scheduler_task_runs";

    fn check(&mut self, _: &mut Params<'_, '_>) {}

    /// The scheduler started the task, and something happened in it.
    fn judge(&self, view: &View<'_>) -> Finding {
        let trigger = self
            .trigger_must_equal
            .unwrap_or(Trigger::Scheduler)
            .as_str();
        let scenario = &view.trace.header.scenario;
        let seen_trigger = scenario.get("trigger").and_then(Json::as_str);
        let seen_task = seen_task(scenario);
        let wanted = wanted_task(view.case, &view.trace.header, self.task_id.as_deref());
        let of_task: Vec<&Event> = view
            .trace
            .events
            .iter()
            .filter(|event| {
                event
                    .task_id
                    .as_deref()
                    .is_some_and(|task| Some(task) == wanted)
            })
            // That a message came in is not that the task ran.
            .filter(|event| !matches!(event.data, EventData::MessageReceived(_)))
            .collect();
        let count = as_count(of_task.len());
        let observed = json!({
            "trigger": seen_trigger,
            "task_id": seen_task,
            "events_of_task": count,
        });
        let refs = || of_task.iter().take(1).map(|event| event.event_id.as_str());
        const SCHEDULER: &str = "supports_scheduler_context";
        if seen_trigger.is_none() && !view.has_capability(SCHEDULER) {
            let message = format!(
                "the trace lacks the capability `{SCHEDULER}`, so nothing shows what triggered the run"
            );
            return Finding::new(Verdict::Skipped, message).observed(observed);
        }
        let Some(wanted) = wanted else {
            return Finding::fails("neither the test case nor the trace specifies a task")
                .observed(observed)
                .help("add a `task_id` to the assertion");
        };
        let is_triggered = seen_trigger == Some(trigger);
        if !is_triggered {
            let finding = match seen_trigger {
                Some(seen) => Finding::fails(format!(
                    "the run was triggered by `{seen}`, not by `{trigger}`"
                )),
                None => Finding::fails(format!(
                    "the trace has no trigger for the run; expected `{trigger}`"
                )),
            };
            return finding.observed(observed).refs(refs());
        }
        if seen_task.is_some_and(|seen| seen != wanted) {
            let seen = seen_task.unwrap_or_default();
            return Finding::fails(format!("task `{seen}` ran, not `{wanted}`"))
                .observed(observed)
                .refs(refs());
        }
        let scheduled = text(scenario, &["scheduler_context", "task_id"]);
        if let Some(scheduled) = scheduled.filter(|scheduled| *scheduled != wanted) {
            return Finding::fails(format!(
                "the scheduler started task `{scheduled}`, not `{wanted}`"
            ))
            .observed(observed)
            .refs(refs());
        }
        // Nor that nothing was said at its end.
        let is_silent = |event: &&Event| matches!(&event.data, EventData::FinalOutput(output) if output.content.trim().is_empty());
        if of_task.is_empty() || (count == 1 && of_task.iter().all(is_silent)) {
            return Finding::fails(format!("no event belongs to task `{wanted}`"))
                .observed(observed);
        }
        let events = if count == 1 { "event" } else { "events" };
        Finding::holds(format!(
            "task `{wanted}` ran: {count} {events}, triggered by `{trigger}`"
        ))
        .observed(observed)
        .refs(refs())
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::OtherTrigger
    }
}

/// The task whose events are looked for: the one that is given, else that of the test case, else that of the trace.
fn wanted_task<'a>(
    case: &'a TestCase,
    header: &'a Header,
    task_id: Option<&'a str>,
) -> Option<&'a str> {
    let context = &case.context;
    task_id
        .or(context.task_id.as_deref())
        .or_else(|| text(&context.scheduler_context, &["task_id"]))
        .or_else(|| seen_task(&header.scenario))
}

fn seen_task(scenario: &Json) -> Option<&str> {
    text(scenario, &["task_id"]).or_else(|| text(scenario, &["scheduler_context", "task_id"]))
}

fn text<'a>(value: &'a Json, path: &[&str]) -> Option<&'a str> {
    let found = path.iter().try_fold(value, |value, key| value.get(key))?;
    found.as_str().filter(|text| !text.is_empty())
}

/// A scheduled task sent so many messages.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct SchedulerOutboundCount {
    /// The tool that sends (default: outbound_send).
    #[serde(default = "outbound_send")]
    pub tool: ToolPattern,
    /// The number of messages.
    pub exact: Option<u64>,
    /// The fewest messages.
    pub min: Option<u64>,
    /// The most messages.
    pub max: Option<u64>,
    /// The dotted key of the arguments that makes two messages the same.
    pub dedupe_by: Option<Text>,
}

fn outbound_send() -> ToolPattern {
    "outbound_send".into()
}

impl Assert for SchedulerOutboundCount {
    const TYPE: &'static str = "scheduler_outbound_count";
    const NEEDS: &'static [&'static str] = TOOL_TRACE;

    fn check(&mut self, params: &mut Params<'_, '_>) {
        params.ordered(("min", self.min), ("max", self.max));
        params.exact_alone("exact", &["min", "max"]);
        if !["exact", "min", "max", "dedupe_by"]
            .into_iter()
            .any(|key| params.has(key))
        {
            let help = "add `exact`, `min`, `max` or `dedupe_by`";
            params.conflict("", "no message count is given", help);
        }
    }

    /// So many sends succeeded, none of them twice.
    fn judge(&self, view: &View<'_>) -> Finding {
        let Self {
            tool,
            exact,
            min,
            max,
            dedupe_by,
        } = self;
        let dedupe_by = dedupe_by.as_deref();
        let tried = view.calls_of(tool).len();
        // A call is one send, however often its result is told.
        let mut sent = HashSet::new();
        let sends = view.events().enumerate().filter_map(|(position, event)| {
            let EventData::ToolResult(result) = &event.data else {
                return None;
            };
            let call = view.call_at(position);
            let is_send = result.success
                && view.is_result_of(position, result, tool)
                && call.is_none_or(|call| sent.insert(call.position));
            is_send.then_some((event, call))
        });
        let sends: Vec<(&Event, Option<&Call<'_>>)> = sends.collect();
        let count = u64::try_from(sends.len()).unwrap_or(u64::MAX);
        let (duplicates, untold) = dedupe_by
            .map(|key| duplicates(&sends, key))
            .unwrap_or_default();
        let observed = json!({
            "calls": tried,
            "successful_sends": count,
            "duplicates": duplicates.iter().map(|(key, ids)| json!({ "key": key, "events": ids })).collect::<Vec<_>>(),
        });
        let (least, most) = match (*exact, *min, *max) {
            (Some(exact), _, _) => (exact, Some(exact)),
            // Without a number it has to send at all.
            (None, None, None) => (1, None),
            (None, min, max) => (min.unwrap_or(0), max),
        };
        let expected = match (least, most) {
            (least, Some(most)) if least == most => format!("exactly {least}"),
            (0, Some(most)) => format!("at most {most}"),
            (least, Some(most)) => format!("{least} to {most}"),
            (least, None) => format!("at least {least}"),
        };
        let name = tool.text();
        let mut seen = format!("{count} successful of {tried} calls of `{name}`");
        if !duplicates.is_empty() {
            let extra: usize = duplicates.iter().map(|(_, ids)| ids.len() - 1).sum();
            let twice = if extra == 1 {
                "one was sent twice".to_owned()
            } else {
                format!("{extra} were sent again")
            };
            seen.push_str(&format!(", {twice} by `{}`", dedupe_by.unwrap_or_default()));
        }
        let is_in_range = count >= least && most.is_none_or(|most| count <= most);
        let refs: Vec<&str> = sends
            .iter()
            .map(|(event, _)| event.event_id.as_str())
            .collect();
        if !is_in_range || !duplicates.is_empty() {
            let finding = Finding::fails(format!("{seen}; expected {expected}"))
                .observed(observed)
                .refs(refs);
            return if tried > 0 && count == 0 {
                finding.help("only sends with a `tool_result` of `success: true` count")
            } else {
                finding
            };
        }
        if let (Some(id), Some(key)) = (untold, dedupe_by) {
            let message =
                format!("{seen}; the send in {id} has no `{key}` that would tell it from others");
            return Finding::new(Verdict::Undecided, message)
                .observed(observed)
                .refs(refs)
                .help("`dedupe_by` is the dotted name of an argument that each send has");
        }
        let finding = Finding::holds(format!("{seen}; expected {expected}"))
            .observed(observed)
            .refs(refs);
        if tried == 0 && count == 0 {
            finding.vacuous()
        } else {
            finding
        }
    }

    fn watches(&self, mutation: Mutation) -> bool {
        use Mutation::{DropCall, DuplicateCall, FlipStatus};
        matches!(mutation, DropCall | FlipStatus)
            || (mutation == DuplicateCall && (self.exact.is_some() || self.max.is_some()))
    }

    fn tools(&self) -> Option<Vec<&ToolPattern>> {
        Some(vec![&self.tool])
    }
}

/// Sends with the same value of an argument, however it is written, and their events; and the event of the first that
/// doesn't have it.
fn duplicates<'e>(
    sends: &[(&'e Event, Option<&Call<'_>>)],
    key: &str,
) -> (Vec<(String, Vec<&'e str>)>, Option<&'e str>) {
    let mut order: Vec<(String, Vec<&str>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut untold = None;
    for (event, call) in sends {
        let value = call.and_then(|call| dotted(&call.data.args, key));
        let Some(value) = value.filter(|value| !value.is_null()) else {
            untold = untold.or(Some(event.event_id.as_str()));
            continue;
        };
        let written = fold(as_text(&sorted(value)).trim()).into_owned();
        let place = *places.entry(written).or_insert(order.len());
        if place == order.len() {
            order.push((value.to_string(), Vec::new()));
        }
        order[place].1.push(&event.event_id);
    }
    order.retain(|(_, events)| events.len() > 1);
    (order, untold)
}

#[cfg(test)]
mod tests;
