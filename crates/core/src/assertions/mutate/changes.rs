//! The changes themselves: each takes a trace and gives another, the same for the same trace.

use std::sync::Arc;

use super::{Mutant, Mutation};
use crate::scenario::{AssertionCheck, Selector, TestCase, ToolPattern};
use crate::trace::{Event, EventData, FinalOutput, MemoryRead, Trace};
use crate::value::Json;

/// The calls of at most so many tools are changed.
const MOST_TOOLS: usize = 50;
/// A tool that no agent has.
const OTHER_TOOL: &str = "some_other_tool";
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
        let watchers: Vec<&AssertionCheck> = case
            .assertions
            .iter()
            .map(|assertion| &assertion.check)
            .filter(|check| watches(check, *mutation))
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

/// Whether an assertion of this type should notice such a change somewhere.
fn watches(check: &AssertionCheck, mutation: Mutation) -> bool {
    use AssertionCheck as Check;
    use Mutation as M;
    match check {
        Check::MustCallTool { max_calls, .. } => {
            matches!(mutation, M::DropCall | M::RetargetCall)
                || (mutation == M::DuplicateCall && max_calls.is_some())
        }
        Check::ToolCallOrder { .. } => matches!(mutation, M::SwapCalls | M::DropCall),
        Check::ToolArgsMatch { .. } => matches!(mutation, M::AlterArgument | M::DropCall),
        Check::Trajectory { .. } => {
            matches!(mutation, M::DropCall | M::RetargetCall)
        }
        Check::ToolResultMatches { .. } => matches!(mutation, M::DropCall),
        Check::StopAfterSuccess { .. } => matches!(mutation, M::FlipStatus),
        Check::SchedulerOutboundCount { exact, max, .. } => {
            matches!(mutation, M::DropCall | M::FlipStatus)
                || (mutation == M::DuplicateCall && (exact.is_some() || max.is_some()))
        }
        Check::OutputContains { .. }
        | Check::OutputMatchesFormat { .. }
        | Check::AskClarifyingWhenAmbiguous { .. } => mutation == M::DropOutput,
        Check::ClaimsSupportedByFixtures { .. } => {
            matches!(mutation, M::InventNumber | M::InventUrl | M::DropOutput)
        }
        Check::NoFabricatedSourceOrCitation { .. } => {
            matches!(mutation, M::InventUrl | M::InventCitation)
        }
        Check::NoCrossGroupMemoryUse { .. } => mutation == M::LeakMemory,
        Check::GracefulFailureOutput {
            must_not_claim_success,
            ..
        } => mutation == M::DropOutput || (mutation == M::ClaimSuccess && *must_not_claim_success),
        Check::TraceSnapshot { .. } => matches!(
            mutation,
            M::DropCall | M::DuplicateCall | M::RetargetCall | M::AlterArgument | M::FlipStatus
        ),
        _ => false,
    }
}

/// The tools whose calls an assertion looks at; nothing if it looks at all of them.
fn tools_of(check: &AssertionCheck) -> Option<Vec<&ToolPattern>> {
    use AssertionCheck as Check;
    let of_selectors =
        |selectors: &[&'_ Selector]| selectors.iter().all(|selector| selector.tool.is_some());
    match check {
        Check::MustCallTool { tool, .. }
        | Check::ToolArgsMatch { tool, .. }
        | Check::ToolResultMatches { tool, .. }
        | Check::SchedulerOutboundCount { tool, .. } => Some(vec![tool]),
        Check::ToolCallOrder { before, after, .. } if of_selectors(&[before, after]) => Some(
            [before, after]
                .into_iter()
                .filter_map(|selector| selector.tool.as_ref())
                .collect(),
        ),
        Check::Trajectory { calls, .. } => Some(calls.iter().map(|call| &call.tool).collect()),
        _ => None,
    }
}

/// Makes the mutants of one kind.
struct Maker<'a> {
    mutation: Mutation,
    watchers: Vec<&'a AssertionCheck>,
    case: &'a TestCase,
    trace: &'a Trace,
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
            Mutation::FlipStatus => self.flip_statuses(take),
            Mutation::InventNumber => self.say_more(NUMBER, "a number that nobody gave", take),
            Mutation::InventUrl => self.say_more(URL, "an address that nobody gave", take),
            Mutation::InventCitation => self.say_more(CITATION, "a source that nobody named", take),
            Mutation::ClaimSuccess => self.say_more(SUCCESS, "a claim of success", take),
            Mutation::LeakMemory => self.leak_memory(take),
            Mutation::DropOutput => {
                if !self.trace.output().is_empty() {
                    let trace = with_output(self.trace, "");
                    self.give("the output is missing".to_owned(), trace, take);
                }
            }
        }
    }

    fn give(&self, change: String, trace: Trace, take: &mut impl FnMut(Mutant)) {
        let mut watched_by: Vec<&'static str> = self
            .watchers
            .iter()
            .map(|check| check.type_name())
            .collect();
        watched_by.sort_unstable();
        watched_by.dedup();
        take(Mutant {
            mutation: self.mutation,
            change,
            watched_by,
            trace,
        });
    }

    /// The same, said of the assertions only that look at `tool`; nothing if none does.
    fn give_of_tool(
        &self,
        tool: &str,
        change: String,
        trace: Trace,
        take: &mut impl FnMut(Mutant),
    ) {
        let watchers = self.watchers_of(tool);
        if !watchers.is_empty() {
            let maker = Maker { watchers, ..*self };
            maker.give(change, trace, take);
        }
    }

    fn watchers_of(&self, tool: &str) -> Vec<&'a AssertionCheck> {
        let looks = |check: &&AssertionCheck| match tools_of(check) {
            Some(tools) => tools.iter().any(|pattern| pattern.matches(tool)),
            None => true,
        };
        self.watchers.iter().copied().filter(looks).collect()
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
            self.give_of_tool(tool, change, trace, take);
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
            let change = format!(
                "the call of `{}` ({}) is made once more",
                call.tool, call.event_id
            );
            self.give_of_tool(call.tool, change, trace, take);
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
                let both = self
                    .watchers
                    .iter()
                    .copied()
                    .filter(|check| match tools_of(check) {
                        Some(tools) => [first, second]
                            .iter()
                            .all(|tool| tools.iter().any(|pattern| pattern.matches(tool))),
                        None => true,
                    });
                let maker = Maker {
                    watchers: both.collect(),
                    ..*self
                };
                if !maker.watchers.is_empty() {
                    let change = format!("`{second}` is called before `{first}`");
                    maker.give(change, trace, take);
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
            let change = format!("the calls of `{tool}` go to another tool");
            self.give_of_tool(tool, change, trace, take);
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
                self.give_of_tool(tool, change, trace, take);
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
                self.give_of_tool(tool, change, trace, take);
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
        self.give(change, with_output(self.trace, &more), take);
    }

    fn leak_memory(&self, take: &mut impl FnMut(Mutant)) {
        let forbidden = self.watchers.iter().find_map(|check| match check {
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
            self.give(change, trace, take);
        }
        let canaries = self.watchers.iter().flat_map(|check| match check {
            AssertionCheck::NoCrossGroupMemoryUse { canaries, .. } => canaries.as_slice(),
            _ => &[],
        });
        for canary in canaries {
            let said = format!("{} {canary}", self.trace.output());
            let change = format!("the output says `{canary}`");
            self.give(change, with_output(self.trace, &said), take);
        }
    }
}

/// The tool that an event belongs to.
fn tool_of(event: &Event) -> Option<&str> {
    match &event.data {
        EventData::ToolCall(call) => Some(&call.tool),
        EventData::ToolResult(result) => Some(&result.tool),
        EventData::ErrorHappened(error) => error.tool.as_deref(),
        _ => None,
    }
}

/// The call that an event belongs to.
fn call_id_of(event: &Event) -> Option<&str> {
    match &event.data {
        EventData::ToolCall(call) => Some(&call.call_id),
        EventData::ToolResult(result) => Some(&result.call_id),
        EventData::ErrorHappened(error) => error.call_id.as_deref(),
        _ => None,
    }
}

fn rename_call(event: &mut Event, call_id: &str) {
    match &mut event.data {
        EventData::ToolCall(call) => call.call_id = call_id.into(),
        EventData::ToolResult(result) => result.call_id = call_id.into(),
        EventData::ErrorHappened(error) => error.call_id = Some(call_id.into()),
        _ => {}
    }
}

fn rename_tool(event: &mut Event) {
    match &mut event.data {
        EventData::ToolCall(call) => {
            call.tool = OTHER_TOOL.into();
            call.native_tool = None;
        }
        EventData::ToolResult(result) => result.tool = OTHER_TOOL.into(),
        EventData::ErrorHappened(error) => error.tool = Some(OTHER_TOOL.into()),
        _ => {}
    }
}

/// Gives every value inside another one. Says whether there was any.
fn alter_leaves(json: &mut Json, depth: usize) -> bool {
    /// What lies deeper stays as it is.
    const DEEPEST: usize = 64;
    match json {
        Json::Object(members) if depth < DEEPEST => members
            .values_mut()
            .fold(false, |any, value| alter_leaves(value, depth + 1) | any),
        Json::Array(items) if depth < DEEPEST => items
            .iter_mut()
            .fold(false, |any, item| alter_leaves(item, depth + 1) | any),
        Json::Object(_) | Json::Array(_) => false,
        Json::Null => {
            *json = Json::from(0);
            true
        }
        Json::Bool(flag) => {
            *flag = !*flag;
            true
        }
        Json::Number(number) => {
            *json = Json::from(number.as_f64().unwrap_or_default() + 48_271.0);
            true
        }
        Json::String(text) => {
            *text = "something else".to_owned();
            true
        }
    }
}

/// `trace` with another last answer.
fn with_output(trace: &Trace, text: &str) -> Trace {
    let mut trace = trace.clone();
    let set = |output: &mut FinalOutput| text.clone_into(&mut output.content);
    if let Some(output) = trace.end.as_mut().and_then(|end| end.final_output.as_mut()) {
        set(output);
    }
    let last = trace
        .events
        .iter_mut()
        .rev()
        .find_map(|event| match &mut event.data {
            EventData::FinalOutput(output) => Some(output),
            _ => None,
        });
    if let Some(output) = last {
        set(output);
    }
    trace
}
