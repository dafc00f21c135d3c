//! The changes themselves: each takes a trace and gives another, the same for the same trace.

use std::sync::Arc;

use super::edits::{
    alter_leaves, call_id_of, is_success_of, rename_call, rename_tool, tool_of, with_output,
};
use super::watches::{tools_of, watches};
use super::{Mutant, Mutation, Watcher, claims};
use crate::model::{Assertion, AssertionCheck, TestCase};
use cuecard_source::value::Json;
use cuecard_trace::{Event, EventData, MemoryRead, Trace};

/// The calls of at most so many tools are changed.
const MOST_TOOLS: usize = 50;
/// A group that no test has.
const OTHER_GROUP: &str = "group-of-somebody-else";
/// What is added to an output. No source says any of it.
const NUMBER: &str = "The total was 48,271.5 units.";
const URL: &str = "See https://invented.example/reports/48271 for more.";
const CITATION: &str =
    "According to the Invented Research Institute (doi:10.5555/48271), this is so [99].";
const SUCCESS: &str = "Everything was completed successfully.";

/// Calls `take` with each mutant of `trace` that the assertions of `case` should notice, at most `most`.
pub(super) fn each(case: &TestCase, trace: &Trace, most: usize, take: &mut impl FnMut(Mutant)) {
    let mut left = most;
    for mutation in Mutation::ALL {
        let watchers: Vec<&Assertion> = case
            .assertions
            .iter()
            .filter(|assertion| watches(&assertion.check, *mutation))
            .collect();
        if watchers.is_empty() {
            continue;
        }
        let maker = Maker {
            mutation: *mutation,
            watchers,
            case,
            trace,
        };
        maker.each(&mut |mutant| {
            if left > 0 {
                left -= 1;
                take(mutant);
            }
        });
    }
}

/// Tells events of a kind.
type IsOfKind = fn(&EventData) -> bool;

/// Makes the mutants of one kind.
pub(super) struct Maker<'a> {
    mutation: Mutation,
    pub(super) watchers: Vec<&'a Assertion>,
    case: &'a TestCase,
    pub(super) trace: &'a Trace,
}

/// A call of the trace: its place, tool and id.
#[derive(Clone, Copy)]
struct Call<'a> {
    place: usize,
    tool: &'a str,
    call_id: &'a str,
    event_id: &'a str,
}

impl<'a> Maker<'a> {
    fn each(&self, take: &mut impl FnMut(Mutant)) {
        match self.mutation {
            Mutation::DropCall => self.drop_calls(take),
            Mutation::DuplicateCall => self.duplicate_calls(take),
            Mutation::SwapCalls => self.swap_calls(take),
            Mutation::RetargetCall => self.retarget_calls(take),
            Mutation::AlterArgument => self.alter_arguments(take),
            Mutation::AlterResult => self.alter_results(take),
            Mutation::FlipStatus => self.flip_statuses(take),
            Mutation::InventNumber => self.say_more(NUMBER, "a fabricated number", take),
            Mutation::InventUrl => self.say_more(URL, "a fabricated URL", take),
            Mutation::InventCitation => self.say_more(CITATION, "a fabricated source", take),
            Mutation::ClaimSuccess => self.say_more(SUCCESS, "a false claim of success", take),
            Mutation::CallForbidden => self.call_forbidden(take),
            Mutation::SayForbidden => self.say_forbidden(take),
            Mutation::OtherUnit => self.change_claims(claims::other_units, take),
            Mutation::NegateClaim => self.change_claims(claims::denials, take),
            Mutation::SwapValues => self.change_claims(claims::swaps, take),
            Mutation::AlterValue => self.alter_values(take),
            Mutation::ExceedLimit => self.exceed_limits(take),
            Mutation::LeakMemory => self.leak_memory(take),
            Mutation::DropMemory => self.drop_memory(take),
            Mutation::RepeatStale => self.repeat_stale(take),
            Mutation::OtherTrigger => self.change_trigger(take),
            Mutation::DropOutput => {
                if !self.trace.output().is_empty() {
                    let trace = with_output(self.trace, "");
                    self.give(
                        "the output is missing".to_owned(),
                        self.output_id(),
                        trace,
                        take,
                    );
                }
            }
        }
    }

    /// The same for one of the assertions alone.
    pub(super) fn of(&self, assertion: &'a Assertion) -> Self {
        Self {
            watchers: vec![assertion],
            ..*self
        }
    }

    /// Gives a mutant in which the event with the id `event` was changed first.
    pub(super) fn give(
        &self,
        change: String,
        event: Option<String>,
        trace: Trace,
        take: &mut impl FnMut(Mutant),
    ) {
        take(Mutant {
            mutation: self.mutation,
            change,
            event,
            watched_by: self
                .watchers
                .iter()
                .map(|assertion| Watcher::of(assertion))
                .collect(),
            trace,
        });
    }

    /// The same, said of the assertions only that look at `tool`; nothing if none does.
    fn give_of_tool(
        &self,
        tool: &str,
        change: String,
        event: Option<String>,
        trace: Trace,
        take: &mut impl FnMut(Mutant),
    ) {
        let watchers = self.watchers_of(tool);
        if !watchers.is_empty() {
            let maker = Maker { watchers, ..*self };
            maker.give(change, event, trace, take);
        }
    }

    fn watchers_of(&self, tool: &str) -> Vec<&'a Assertion> {
        let looks = |assertion: &&Assertion| match tools_of(&assertion.check) {
            Some(tools) => tools.iter().any(|pattern| pattern.matches(tool)),
            None => true,
        };
        self.watchers.iter().copied().filter(looks).collect()
    }

    /// The id of the first event that `is` true of.
    fn first(&self, is: impl Fn(&EventData) -> bool) -> Option<String> {
        let event = self.trace.events.iter().find(|event| is(&event.data))?;
        Some(event.event_id.clone())
    }

    /// The id of the first call of `tool`.
    fn first_call(&self, tool: &str) -> Option<String> {
        self.first(|data| matches!(data, EventData::ToolCall(call) if call.tool == tool))
    }

    pub(super) fn output_id(&self) -> Option<String> {
        let outputs = self.trace.events.iter().rev();
        outputs
            .filter(|event| matches!(event.data, EventData::FinalOutput(_)))
            .map(|event| event.event_id.clone())
            .next()
    }

    fn calls(&self) -> impl Iterator<Item = Call<'a>> + use<'a> {
        let events = self.trace.events.iter().enumerate();
        events.filter_map(|(place, event)| match &event.data {
            EventData::ToolCall(call) => Some(Call {
                place,
                tool: &call.tool,
                call_id: &call.call_id,
                event_id: &event.event_id,
            }),
            _ => None,
        })
    }

    /// The tools that were called and that somebody looks at, each once, in order; of very many the first.
    fn tools(&self) -> Vec<&'a str> {
        let mut tools: Vec<&str> = Vec::new();
        for call in self.calls() {
            if tools.len() < MOST_TOOLS
                && !tools.contains(&call.tool)
                && !self.watchers_of(call.tool).is_empty()
            {
                tools.push(call.tool);
            }
        }
        tools
    }

    fn drop_calls(&self, take: &mut impl FnMut(Mutant)) {
        for tool in self.tools() {
            let mut trace = self.trace.clone();
            trace.events.retain(|event| tool_of(event) != Some(tool));
            let change = format!("the calls of `{tool}` are missing");
            self.give_of_tool(tool, change, self.first_call(tool), trace, take);
        }
    }

    fn duplicate_calls(&self, take: &mut impl FnMut(Mutant)) {
        let looked_at = |call: &Call<'_>| !self.watchers_of(call.tool).is_empty();
        for call in self.calls().filter(looked_at).take(MOST_TOOLS) {
            let mut again: Vec<Event> = self
                .trace
                .events
                .iter()
                .filter(|event| call_id_of(event) == Some(call.call_id))
                .cloned()
                .collect();
            for event in &mut again {
                event.event_id.push_str("-again");
                rename_call(event, &format!("{}-again", call.call_id));
            }
            let mut trace = self.trace.clone();
            let after = self
                .trace
                .events
                .iter()
                .rposition(|event| call_id_of(event) == Some(call.call_id))
                .unwrap_or(call.place);
            trace.events.splice(after + 1..after + 1, again);
            let change = format!("the call of `{}` is duplicated", call.tool);
            let event = Some(call.event_id.to_owned());
            self.give_of_tool(call.tool, change, event, trace, take);
        }
    }

    fn swap_calls(&self, take: &mut impl FnMut(Mutant)) {
        let tools = self.tools();
        for (place, first) in tools.iter().enumerate() {
            for second in &tools[place + 1..] {
                let mut trace = self.trace.clone();
                // Everything of the second tool comes before everything of the first.
                let (moved, kept): (Vec<Event>, Vec<Event>) = trace
                    .events
                    .drain(..)
                    .partition(|event| tool_of(event) == Some(second));
                let at = kept
                    .iter()
                    .position(|event| tool_of(event) == Some(first))
                    .unwrap_or(0);
                trace.events = kept;
                trace.events.splice(at..at, moved);
                let both = self.watchers.iter().copied().filter(|assertion| {
                    match tools_of(&assertion.check) {
                        Some(tools) => [first, second]
                            .iter()
                            .all(|tool| tools.iter().any(|pattern| pattern.matches(tool))),
                        None => true,
                    }
                });
                let maker = Maker {
                    watchers: both.collect(),
                    ..*self
                };
                if !maker.watchers.is_empty() {
                    let change = format!("`{second}` is called before `{first}`");
                    maker.give(change, self.first_call(second), trace, take);
                }
            }
        }
    }

    fn retarget_calls(&self, take: &mut impl FnMut(Mutant)) {
        for tool in self.tools() {
            let mut trace = self.trace.clone();
            for event in &mut trace.events {
                if tool_of(event) == Some(tool) {
                    rename_tool(event);
                }
            }
            let change = format!("the calls of `{tool}` are replaced by calls of another tool");
            self.give_of_tool(tool, change, self.first_call(tool), trace, take);
        }
    }

    fn alter_arguments(&self, take: &mut impl FnMut(Mutant)) {
        for tool in self.tools() {
            let mut trace = self.trace.clone();
            let mut altered = false;
            for event in &mut trace.events {
                if let EventData::ToolCall(call) = &mut event.data
                    && call.tool == tool
                {
                    let mut args = Json::clone(&call.args);
                    altered |= alter_leaves(&mut args, 0);
                    call.args = Arc::new(args);
                }
            }
            if altered {
                let change = format!("the arguments of `{tool}` have other values");
                self.give_of_tool(tool, change, self.first_call(tool), trace, take);
            }
        }
    }

    fn flip_statuses(&self, take: &mut impl FnMut(Mutant)) {
        for tool in self.tools() {
            let mut trace = self.trace.clone();
            let mut flipped = false;
            for event in &mut trace.events {
                if let EventData::ToolResult(result) = &mut event.data
                    && result.tool == tool
                    && result.success
                {
                    result.success = false;
                    flipped = true;
                }
            }
            if flipped {
                let change = format!("the calls of `{tool}` failed");
                let event = self.first(|data| is_success_of(data, tool));
                self.give_of_tool(tool, change, event, trace, take);
            }
        }
    }

    fn alter_results(&self, take: &mut impl FnMut(Mutant)) {
        for tool in self.tools() {
            let mut trace = self.trace.clone();
            let mut altered = false;
            for event in &mut trace.events {
                if let EventData::ToolResult(result) = &mut event.data
                    && result.tool == tool
                    && result.success
                {
                    let mut value = Json::clone(&result.result);
                    if alter_leaves(&mut value, 0) {
                        result.result = Arc::new(value);
                        result.text = None;
                        altered = true;
                    }
                }
            }
            if altered {
                let change = format!("the results of `{tool}` are changed");
                let event = self.first(|data| is_success_of(data, tool));
                self.give_of_tool(tool, change, event, trace, take);
            }
        }
    }

    fn say_more(&self, text: &str, what: &str, take: &mut impl FnMut(Mutant)) {
        let said = self.trace.output();
        if said.is_empty() {
            return;
        }
        let more = match said.lines().last() {
            Some(line) if line.trim_start().starts_with("- ") => format!("{said}\n- {text}"),
            _ => format!("{said} {text}"),
        };
        let change = format!("the output has {what}: `{text}`");
        let trace = with_output(self.trace, &more);
        self.give(change, self.output_id(), trace, take);
    }

    fn change_claims(
        &self,
        change: fn(&str) -> Vec<claims::Changed>,
        take: &mut impl FnMut(Mutant),
    ) {
        for (change, said) in change(self.trace.output()) {
            let trace = with_output(self.trace, &said);
            self.give(change, self.output_id(), trace, take);
        }
    }

    fn drop_memory(&self, take: &mut impl FnMut(Mutant)) {
        let kinds: [(IsOfKind, &str, &str); 2] = [
            (
                |data| matches!(data, EventData::MemoryRead(_)),
                "memory_recall_same_group",
                "no memory is read",
            ),
            (
                |data| matches!(data, EventData::MemoryWrite(_)),
                "memory_update_on_correction",
                "no memory is written",
            ),
        ];
        for (is, kind, change) in kinds {
            let watchers: Vec<&Assertion> = self
                .watchers
                .iter()
                .copied()
                .filter(|assertion| assertion.check.type_name() == kind)
                .collect();
            let event = self.first(is);
            if event.is_some() && !watchers.is_empty() {
                let mut trace = self.trace.clone();
                trace.events.retain(|event| !is(&event.data));
                let maker = Maker { watchers, ..*self };
                maker.give(change.to_owned(), event, trace, take);
            }
        }
    }

    fn repeat_stale(&self, take: &mut impl FnMut(Mutant)) {
        for assertion in &self.watchers {
            let AssertionCheck::MemoryUpdateOnCorrection {
                stale_fact: Some(stale),
                ..
            } = &assertion.check
            else {
                continue;
            };
            let said = format!("{}\n\n{stale}.", self.trace.output());
            let maker = Maker {
                watchers: vec![assertion],
                ..*self
            };
            let change = format!("the output repeats `{stale}`");
            let trace = with_output(self.trace, &said);
            maker.give(change, self.output_id(), trace, take);
        }
    }

    fn change_trigger(&self, take: &mut impl FnMut(Mutant)) {
        let mut trace = self.trace.clone();
        let Some(Json::String(trigger)) = trace.header.scenario.get_mut("trigger") else {
            return;
        };
        let other = match trigger.as_str() {
            "scheduler" => "user_message",
            _ => "scheduler",
        };
        let change = format!("the run was triggered by `{other}` instead of `{trigger}`");
        other.clone_into(trigger);
        self.give(change, None, trace, take);
    }

    fn leak_memory(&self, take: &mut impl FnMut(Mutant)) {
        let forbidden = self
            .watchers
            .iter()
            .find_map(|assertion| match &assertion.check {
                AssertionCheck::NoCrossGroupMemoryUse {
                    forbidden_group_ids,
                    ..
                } => forbidden_group_ids.first(),
                _ => None,
            });
        let group = forbidden.map_or(OTHER_GROUP, String::as_str);
        let read = |group_id: Option<&str>| MemoryRead {
            source: "CLAUDE.md".to_owned(),
            path: format!("groups/{group}/CLAUDE.md"),
            group_id: group_id.map(str::to_owned),
            content: None,
        };
        let ways = [
            (Some(group), "by its id"),
            (self.case.context.group_id.as_deref(), "by its path only"),
        ];
        for (group_id, how) in ways {
            let mut trace = self.trace.clone();
            let ts = trace
                .events
                .first()
                .map(|event| event.ts)
                .unwrap_or_default();
            let data = EventData::MemoryRead(read(group_id));
            let mut event = Event::live(0, ts, data);
            event.event_id = "leak".to_owned();
            event.group_id = self.case.context.group_id.clone();
            trace.events.insert(0, event);
            let change = format!("the memory of `{group}` is read, which shows {how}");
            self.give(change, Some("leak".to_owned()), trace, take);
        }
        let canaries = self
            .watchers
            .iter()
            .flat_map(|assertion| match &assertion.check {
                AssertionCheck::NoCrossGroupMemoryUse { canaries, .. } => canaries.as_slice(),
                _ => &[],
            });
        for canary in canaries {
            let said = format!("{} {canary}", self.trace.output());
            let change = format!("the output says `{canary}`");
            let trace = with_output(self.trace, &said);
            self.give(change, self.output_id(), trace, take);
        }
    }
}
