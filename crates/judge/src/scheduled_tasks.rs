//! `scheduler_task_runs` and `scheduler_outbound_count`.

use std::collections::HashMap;

use serde_json::json;

use super::fold::fold;
use super::recovery::sorted;
use super::view::{dotted, names_tool};
use super::words::as_count;
use super::{Finding, Verdict, View};
use crate::model::{TestCase, ToolPattern, Trigger};
use cuecard_source::value::{Json, as_text};
use cuecard_trace::{Event, EventData, Header, ToolCall};

/// The scheduler started the task, and something happened in it.
pub(super) fn task_ran(view: &View<'_>, task_id: Option<&str>, trigger: &str) -> Finding {
    let scenario = &view.trace.header.scenario;
    let seen_trigger = scenario.get("trigger").and_then(Json::as_str);
    let seen_task = seen_task(scenario);
    let wanted = wanted_task(view.case, &view.trace.header, task_id);
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
        let is_word = [Trigger::Scheduler, Trigger::UserMessage]
            .iter()
            .any(|known| known.as_str() == trigger);
        let finding = match seen_trigger {
            Some(seen) => Finding::fails(format!(
                "the run was triggered by `{seen}`, not by `{trigger}`"
            )),
            None => Finding::fails(format!(
                "the trace has no trigger for the run; expected `{trigger}`"
            )),
        };
        let finding = finding.observed(observed).refs(refs());
        return if is_word {
            finding
        } else {
            finding.help("`trigger_must_equal` must be `scheduler` or `user_message`")
        };
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
        return Finding::fails(format!("no event belongs to task `{wanted}`")).observed(observed);
    }
    let events = if count == 1 { "event" } else { "events" };
    Finding::holds(format!(
        "task `{wanted}` ran: {count} {events}, triggered by `{trigger}`"
    ))
    .observed(observed)
    .refs(refs())
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

/// So many sends succeeded, none of them twice.
pub(super) fn sent(
    view: &View<'_>,
    tool: &ToolPattern,
    exact: Option<u64>,
    min: Option<u64>,
    max: Option<u64>,
    dedupe_by: Option<&str>,
) -> Finding {
    let mut calls: HashMap<&str, (&Event, &ToolCall)> = HashMap::new();
    let mut tried = 0_u64;
    let mut sends: Vec<(&Event, Option<(&Event, &ToolCall)>)> = Vec::new();
    for (position, event) in view.events().enumerate() {
        match &event.data {
            EventData::ToolCall(call) if names_tool(tool, call) => {
                tried += 1;
                calls.insert(&call.call_id, (event, call));
            }
            EventData::ToolResult(result)
                if result.success && view.is_result_of(position, result, tool) =>
            {
                // A call is one send, however often its result is told.
                let call = calls.remove(result.call_id.as_ref());
                let is_told_again = call.is_none()
                    && sends.iter().any(|(_, sent)| {
                        sent.is_some_and(|(_, sent)| sent.call_id == result.call_id)
                    });
                if !is_told_again {
                    sends.push((event, call));
                }
            }
            _ => {}
        }
    }
    let count = u64::try_from(sends.len()).unwrap_or(u64::MAX);
    let (duplicates, untold) = dedupe_by
        .map(|key| duplicates(&sends, key))
        .unwrap_or_default();
    let observed = json!({
        "calls": tried,
        "successful_sends": count,
        "duplicates": duplicates.iter().map(|(key, ids)| json!({ "key": key, "events": ids })).collect::<Vec<_>>(),
    });
    let (least, most) = match (exact, min, max) {
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

/// Sends with the same value of an argument, however it is written, and their events; and the event of the first that
/// doesn't have it.
fn duplicates<'e>(
    sends: &[(&'e Event, Option<(&Event, &ToolCall)>)],
    key: &str,
) -> (Vec<(String, Vec<&'e str>)>, Option<&'e str>) {
    let mut order: Vec<(String, Vec<&str>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut untold = None;
    for (event, call) in sends {
        let value = call.and_then(|(_, call)| dotted(&call.args, key));
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
