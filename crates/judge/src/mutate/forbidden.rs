//! What assertions forbid, made to happen: calls of tools and texts.

use std::sync::Arc;

use super::Mutant;
use super::changes::Maker;
use super::edits::with_output;
use crate::model::{Assertion, AssertionCheck, Selector, TextPattern, ToolPattern};
use cuecard_source::value::Json;
use cuecard_trace::{Event, EventData, ToolCall, ToolResult, Trace};

/// A tool of any name.
const SOME_TOOL: &str = "some_other_tool";
/// A bound above this is not gone beyond.
pub(super) const MOST_CALLS: usize = 50;

impl Maker<'_> {
    /// Makes the calls that an assertion forbids, right before the answer.
    pub(super) fn call_forbidden(&self, take: &mut impl FnMut(Mutant)) {
        for assertion in self.watchers.iter().copied() {
            for (tool, args, times) in forbidden_calls(assertion, self.trace) {
                let mut trace = self.trace.clone();
                let at = before_answer(&trace);
                let ts = trace
                    .events
                    .last()
                    .map(|event| event.ts)
                    .unwrap_or_default();
                let calls = (0..times).flat_map(|number| {
                    let call_id: Arc<str> = format!("forbidden-{number}").into();
                    let call = ToolCall {
                        tool: tool.clone().into(),
                        call_id: call_id.clone(),
                        args: Arc::new(args.clone()),
                        native_tool: None,
                        attempt: None,
                    };
                    let result = ToolResult {
                        tool: tool.clone().into(),
                        call_id,
                        success: true,
                        result: Arc::new(Json::Null),
                        text: None,
                        structured: None,
                        fixture_id: None,
                        duration_ms: None,
                    };
                    [EventData::ToolCall(call), EventData::ToolResult(result)]
                });
                let events: Vec<Event> = calls
                    .zip(0..)
                    .map(|(data, number)| {
                        let mut event = Event::live(0, ts, data);
                        event.event_id = format!("forbidden-e{number}");
                        event
                    })
                    .collect();
                let change = match times {
                    1 => format!("`{tool}` is called, which is forbidden"),
                    times => format!("`{tool}` is called {times} times more, which is too often"),
                };
                trace.events.splice(at..at, events);
                let event = Some("forbidden-e0".to_owned());
                self.of(assertion).give(change, event, trace, take);
            }
        }
    }

    /// Says what an assertion forbids, on a line of its own.
    pub(super) fn say_forbidden(&self, take: &mut impl FnMut(Mutant)) {
        let said = self.trace.output();
        for assertion in self.watchers.iter().copied() {
            let texts: Vec<String> = match &assertion.check {
                AssertionCheck::OutputOmits { patterns } => {
                    let literal = patterns.iter().filter(|pattern| is_literal(pattern));
                    literal.map(|pattern| pattern.text.clone()).collect()
                }
                AssertionCheck::GracefulFailureOutput {
                    forbidden_success_phrases,
                    ..
                } => forbidden_success_phrases.clone(),
                _ => Vec::new(),
            };
            for text in texts {
                let more = match said.is_empty() {
                    true => text.clone(),
                    false => format!("{said}\n{text}"),
                };
                let change = format!("the output says `{text}`, which is forbidden");
                let trace = with_output(self.trace, &more);
                self.of(assertion)
                    .give(change, self.output_id(), trace, take);
            }
        }
    }
}

/// The calls that break an assertion: the tool, its arguments, and how often.
fn forbidden_calls(assertion: &Assertion, trace: &Trace) -> Vec<(String, Json, usize)> {
    let nothing = || Json::Object(serde_json::Map::new());
    let once = |tools: &[ToolPattern]| -> Vec<(String, Json, usize)> {
        let names = tools.iter().filter_map(name_for);
        names.map(|name| (name, nothing(), 1)).collect()
    };
    match &assertion.check {
        AssertionCheck::MustNotCallTool { tool } => once(std::slice::from_ref(tool)),
        AssertionCheck::AskClarifyingWhenAmbiguous {
            forbidden_tools, ..
        } => once(forbidden_tools),
        AssertionCheck::StopAfterSuccess {
            forbid_following,
            allowed_following_tools,
            ..
        } => forbid_following
            .iter()
            .filter_map(call_for)
            .filter(|(name, ..)| {
                !allowed_following_tools
                    .iter()
                    .any(|tool| tool.matches(name))
            })
            .collect(),
        AssertionCheck::MaxToolCalls { tool, max_total } => {
            let called = |is_meant: &dyn Fn(&ToolCall) -> bool| {
                let calls = trace.events.iter().filter_map(|event| match &event.data {
                    EventData::ToolCall(call) => Some(call),
                    _ => None,
                });
                calls.filter(|call| is_meant(call)).count()
            };
            // As many as it takes to be one too many.
            let required = |max: u64, count: usize| {
                let max = usize::try_from(max).unwrap_or(usize::MAX);
                let required = max.saturating_sub(count).saturating_add(1);
                (required <= MOST_CALLS).then_some(required)
            };
            let of_tool = tool.as_ref().and_then(|(tool, max)| {
                let times = required(*max, called(&|call| tool.matches(&call.tool)))?;
                Some((name_for(tool)?, nothing(), times))
            });
            let of_all = max_total.and_then(|max| {
                let times = required(max, called(&|_| true))?;
                Some((SOME_TOOL.to_owned(), nothing(), times))
            });
            of_tool.into_iter().chain(of_all).collect()
        }
        _ => Vec::new(),
    }
}

/// A name that a pattern means.
fn name_for(tool: &ToolPattern) -> Option<String> {
    let name = tool.text().replace(['*', '?'], "x");
    tool.matches(&name).then_some(name)
}

/// A call that a selector means, if it means calls.
fn call_for(selector: &Selector) -> Option<(String, Json, usize)> {
    let is_call = selector
        .event_type
        .as_deref()
        .is_none_or(|kind| kind == "tool_call");
    if !is_call || selector.call_id.is_some() || selector.success.is_some() {
        return None;
    }
    let name = match &selector.tool {
        Some(tool) => name_for(tool)?,
        None => SOME_TOOL.to_owned(),
    };
    let args = selector.args.iter().cloned().collect();
    Some((name, Json::Object(args), 1))
}

/// The place right before the last answer.
pub(super) fn before_answer(trace: &Trace) -> usize {
    let is_answer = |event: &Event| matches!(event.data, EventData::FinalOutput(_));
    trace
        .events
        .iter()
        .rposition(is_answer)
        .unwrap_or(trace.events.len())
}

/// Whether a pattern matches its own text, as every text does, and most expressions that only list words.
pub(super) fn is_literal(pattern: &TextPattern) -> bool {
    pattern.regex.is_match(&pattern.text)
}
