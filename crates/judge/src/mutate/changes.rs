//! The changes themselves: each takes a trace and gives another, the same for the same trace.

use super::edits::{
    alter_arguments, alter_result, call_id_of, flip_status, output_id, rename_call, rename_tool,
    tool_of, with_output,
};
use super::{Mutant, Mutation, Watcher, claims};
use crate::assertions::{Assertion, Take};
use crate::model::TestCase;
use cuecard_source::value::Json;
use cuecard_trace::{Event, EventData, Trace};

/// The calls of at most so many tools are changed.
const MOST_TOOLS: usize = 50;
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
            .filter(|assertion| assertion.check.watches(*mutation))
            .collect();
        if watchers.is_empty() {
            continue;
        }
        let maker = Maker {
            mutation: *mutation,
            watchers,
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

/// Makes the mutants of one kind.
struct Maker<'a> {
    mutation: Mutation,
    watchers: Vec<&'a Assertion>,
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
            Mutation::RetargetCall => {
                self.change_tools(
                    "the calls of TOOL are replaced by calls of another tool",
                    rename_tool,
                    take,
                );
            }
            Mutation::AlterArgument => {
                self.change_tools(
                    "the arguments of TOOL have other values",
                    alter_arguments,
                    take,
                );
            }
            Mutation::AlterResult => {
                self.change_tools("the results of TOOL are changed", alter_result, take);
            }
            Mutation::FlipStatus => {
                self.change_tools("the calls of TOOL failed", flip_status, take);
            }
            Mutation::InventNumber => self.say(NUMBER, "a fabricated number", take),
            Mutation::InventUrl => self.say(URL, "a fabricated URL", take),
            Mutation::InventCitation => self.say(CITATION, "a fabricated source", take),
            Mutation::ClaimSuccess => self.say(SUCCESS, "a false claim of success", take),
            Mutation::OtherUnit => self.change_claims(claims::other_units, take),
            Mutation::NegateClaim => self.change_claims(claims::denials, take),
            Mutation::SwapValues => self.change_claims(claims::swaps, take),
            Mutation::OtherTrigger => self.change_trigger(take),
            Mutation::DropOutput => {
                if !self.trace.output().is_empty() {
                    let trace = with_output(self.trace, "");
                    let change = "the output is missing".to_owned();
                    self.give(change, output_id(self.trace), trace, take);
                }
            }
            Mutation::CallForbidden
            | Mutation::SayForbidden
            | Mutation::AlterValue
            | Mutation::ExceedLimit
            | Mutation::LeakMemory
            | Mutation::DropMemory
            | Mutation::RepeatStale => {
                for assertion in self.watchers.iter().copied() {
                    let maker = Maker {
                        watchers: vec![assertion],
                        ..*self
                    };
                    let give: &mut Take<'_> =
                        &mut |change, event, trace| maker.give(change, event, trace, take);
                    assertion.check.break_trace(self.mutation, self.trace, give);
                }
            }
        }
    }

    /// Gives a mutant in which the event with the id `event` was changed first.
    fn give(
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
        let looks = |assertion: &&Assertion| match assertion.check.tools() {
            Some(tools) => tools.iter().any(|pattern| pattern.matches(tool)),
            None => true,
        };
        self.watchers.iter().copied().filter(looks).collect()
    }

    /// The id of the first call of `tool`.
    fn first_call(&self, tool: &str) -> Option<String> {
        let call = self.calls().find(|call| call.tool == tool)?;
        Some(call.event_id.to_owned())
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
                    match assertion.check.tools() {
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

    /// Changes the events of each tool by a function that says whether there was anything to change. `words` have `TOOL` in the
    /// place of its name.
    fn change_tools(
        &self,
        words: &str,
        change: fn(&mut EventData) -> bool,
        take: &mut impl FnMut(Mutant),
    ) {
        for tool in self.tools() {
            let mut trace = self.trace.clone();
            let mut first = None;
            for event in &mut trace.events {
                if tool_of(event) == Some(tool) && change(&mut event.data) && first.is_none() {
                    first = Some(event.event_id.clone());
                }
            }
            if first.is_some() {
                let change = words.replace("TOOL", &format!("`{tool}`"));
                self.give_of_tool(tool, change, first, trace, take);
            }
        }
    }

    fn say(&self, text: &str, what: &str, take: &mut impl FnMut(Mutant)) {
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
        self.give(change, output_id(self.trace), trace, take);
    }

    fn change_claims(
        &self,
        change: fn(&str) -> Vec<claims::Changed>,
        take: &mut impl FnMut(Mutant),
    ) {
        for (change, said) in change(self.trace.output()) {
            let trace = with_output(self.trace, &said);
            self.give(change, output_id(self.trace), trace, take);
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
}
