//! Which events each type of assertion may name or decide by.

use std::cell::Cell;
use std::rc::Rc;

use super::collector::{EventCollector, Kept, Look};
use crate::MOST_REFS;
use crate::model::{
    Assertion, AssertionCheck as Check, ExpectedCall, Selector, TestCase, ToolPattern,
    TrajectoryMode, Which,
};
use crate::order::violates;
use crate::questions::asked_in;
use crate::reach::selects_alone;
use crate::results::ResultTest;
use crate::scheduled_tasks::wanted_task;
use crate::tools::ArgsTest;
use crate::trajectory::is_met_by;
use cuecard_trace::{EventData, Header};

/// A trajectory with more calls is compared with the whole trace.
const MOST_EXPECTED: usize = 200;

/// Why `case` needs the whole trace, if it does.
pub(super) fn keeps_whole(case: &TestCase) -> Option<String> {
    if !case.redact_fields.is_empty() {
        return Some(
            "`redact_fields` has to find what stands in them in the whole trace".to_owned(),
        );
    }
    case.assertions.iter().find_map(|assertion| {
        let reason = match &assertion.check {
            Check::JsonPath { .. } => "its path may lead anywhere in the trace",
            Check::TraceSnapshot { .. } => "it compares the whole trace",
            Check::ToolCallOrder { before, after, .. }
                if [before, after].into_iter().any(asks_of_others) =>
            {
                OF_OTHERS
            }
            Check::StopAfterSuccess {
                success_event,
                forbid_following,
                ..
            } if asks_of_others(success_event) || forbid_following.iter().any(asks_of_others) => {
                OF_OTHERS
            }
            Check::Trajectory { calls, .. } if calls.len() > MOST_EXPECTED => {
                "it expects very many calls"
            }
            _ => return None,
        };
        let (id, kind) = (&assertion.id, assertion.check.type_name());
        Some(format!(
            "the assertion `{id}` ({kind}) needs all of it: {reason}"
        ))
    })
}

const OF_OTHERS: &str =
    "a selector asks of an event for what is said in another, such as the arguments of its call";

/// Whether a selector asks of an event for what others say: the arguments of its call, or its causes.
fn asks_of_others(selector: &Selector) -> bool {
    let is_call = selector.event_type.as_deref() == Some("tool_call");
    selector.caused_by.is_some() || (!selector.args.is_empty() && !is_call)
}

/// What the assertions of a test case want to see.
#[derive(Debug, Default)]
pub(super) struct EventDemand<'c> {
    /// Each with the place of its assertion, if it is of one.
    keepers: Vec<(Option<usize>, EventCollector<'c>)>,
    /// Which keepers asked for the event at hand.
    asked: Vec<usize>,
    assertions: usize,
    /// Whether somebody asks which call a result belongs to.
    pub follows_calls: bool,
    /// Whether the event at hand is kept anyway.
    pub is_first: bool,
}

impl<'c> EventDemand<'c> {
    /// What `case` wants of a trace with this header.
    pub(super) fn of(case: &'c TestCase, header: &Header) -> Self {
        let mut keepers: Vec<(Option<usize>, EventCollector<'c>)> = vec![
            // The last answer.
            (None, EventCollector::last(|look| look.is("final_output"))),
        ];
        keepers.extend(of_policy(case).into_iter().map(|keeper| (None, keeper)));
        let mut follows_calls = false;
        for (idx, assertion) in case.assertions.iter().enumerate() {
            follows_calls |= matches!(
                assertion.check,
                Check::ToolResultMatches { .. }
                    | Check::MaxErrors { .. }
                    | Check::GracefulFailureOutput { .. }
                    | Check::RetryPolicyRespected { .. }
                    | Check::SchedulerOutboundCount { .. }
            );
            let of_assertion = of_assertion(assertion, case, header);
            keepers.extend(of_assertion.into_iter().map(|keeper| (Some(idx), keeper)));
        }
        Self {
            keepers,
            asked: Vec::new(),
            assertions: case.assertions.len(),
            follows_calls,
            is_first: false,
        }
    }

    /// Whether somebody wants to see the event.
    pub(super) fn ask(&mut self, look: &Look<'_>) -> bool {
        self.asked.clear();
        for (idx, (_, keeper)) in self.keepers.iter_mut().enumerate() {
            if keeper.wants(look) {
                self.asked.push(idx);
            }
        }
        !self.asked.is_empty()
    }

    /// Shows the event to those who asked for it.
    pub(super) fn see(&mut self, kept: &Kept) {
        for &idx in &self.asked {
            self.keepers[idx].1.see(kept);
        }
    }

    pub(super) fn keepers(&self) -> impl Iterator<Item = &EventCollector<'c>> {
        self.keepers.iter().map(|(_, keeper)| keeper)
    }

    /// What was counted for each assertion.
    pub(super) fn counts(&self) -> Vec<Option<u64>> {
        let mut counts = vec![None; self.assertions];
        for (idx, keeper) in &self.keepers {
            if let (Some(idx), Some(count)) = (idx, keeper.count()) {
                counts[*idx] = Some(count);
            }
        }
        counts
    }
}

fn is_call(look: &Look<'_>) -> bool {
    look.is("tool_call")
}

fn first_calls_of(tool: &ToolPattern) -> EventCollector<'_> {
    EventCollector::first(MOST_REFS, move |look| look.calls(tool))
}

/// For what `tools` of the test case provides.
fn of_policy(case: &TestCase) -> Vec<EventCollector<'_>> {
    let tools = &case.tools;
    let mut keepers = Vec::new();
    if let Some(available) = &tools.available {
        let patterns: Vec<ToolPattern> = available
            .iter()
            .filter_map(|name| ToolPattern::new(name).ok())
            .collect();
        keepers.push(EventCollector::first(MOST_REFS, move |look| {
            is_call(look) && !patterns.iter().any(|tool| look.is_about(tool))
        }));
    }
    if !tools.forbidden.is_empty() {
        keepers.push(EventCollector::first(MOST_REFS, |look| {
            tools.forbidden.iter().any(|tool| look.calls(tool))
        }));
    }
    if tools.max_calls.is_some() {
        keepers.push(EventCollector::first(MOST_REFS, is_call));
    }
    keepers
}

/// For one assertion. Those that need the whole trace don't come here.
fn of_assertion<'c>(
    assertion: &'c Assertion,
    case: &'c TestCase,
    header: &Header,
) -> Vec<EventCollector<'c>> {
    match &assertion.check {
        Check::MustCallTool { tool, .. } | Check::MustNotCallTool { tool } => {
            vec![first_calls_of(tool)]
        }
        Check::MaxToolCalls { tool, max_total } => {
            let of_tool = tool.as_ref().map(|(tool, _)| first_calls_of(tool));
            let of_all = max_total.map(|_| EventCollector::first(MOST_REFS, is_call));
            of_tool.into_iter().chain(of_all).collect()
        }
        Check::ToolArgsMatch {
            tool,
            matching,
            which,
        } => {
            let test = ArgsTest::new(matching);
            let is_call = move |look: &Look<'_>| look.calls(tool);
            match which {
                Which::Any => vec![
                    first_calls_of(tool),
                    EventCollector::nearest(is_call, move |event| test.misfits_of(event)),
                ],
                Which::All => vec![
                    first_calls_of(tool),
                    EventCollector::first(MOST_REFS, is_call)
                        .that(move |event| test.misfits_of(event).is_some_and(|count| count > 0.0))
                        .counting(),
                ],
                Which::Nth(n) => vec![EventCollector::first(MOST_REFS.max(*n), is_call)],
            }
        }
        Check::ToolCallOrder { before, after, all } => {
            let mut keepers = vec![first_of(before), first_of(after)];
            if *all {
                keepers.push(
                    EventCollector::last(may_select(before))
                        .that(|event| selects_alone(before, event)),
                );
            }
            keepers
        }
        Check::StopAfterSuccess {
            success_event,
            forbid_following,
            allowed_following_tools,
        } => {
            // Until the success nothing else is looked at.
            let has_succeeded = Rc::new(Cell::new(false));
            let is_over = has_succeeded.clone();
            let may = move |look: &Look<'_>| match has_succeeded.get() {
                false => may_select(success_event)(look),
                true => forbid_following
                    .iter()
                    .any(|selector| may_select(selector)(look)),
            };
            let violations = EventCollector::first(MOST_REFS, may)
                .that(move |event| {
                    if is_over.get() {
                        return violates(forbid_following, allowed_following_tools, event);
                    }
                    is_over.set(selects_alone(success_event, event));
                    false
                })
                .counting();
            vec![first_of(success_event), violations]
        }
        Check::AskClarifyingWhenAmbiguous {
            forbidden_tools,
            question_patterns,
        } => {
            let has_asked = Rc::new(Cell::new(false));
            let waits = has_asked.clone();
            let is_said = |look: &Look<'_>| look.is("message") || look.is("final_output");
            vec![
                EventCollector::first(1, is_said).that(move |event| {
                    let asks = asked_in(event, question_patterns).is_some();
                    has_asked.set(has_asked.get() || asks);
                    asks
                }),
                EventCollector::first(1, move |look| waits.get() && look.is("message_received")),
                EventCollector::first(MOST_REFS, |look| {
                    forbidden_tools.iter().any(|tool| look.calls(tool))
                })
                .counting_before("final_output"),
            ]
        }
        Check::ToolResultMatches {
            tool,
            json_path,
            test,
        } => {
            let is_result = move |look: &Look<'_>| look.is_result_of(tool);
            let test = ResultTest::new(json_path.as_ref(), test);
            vec![
                first_calls_of(tool),
                EventCollector::first(MOST_REFS, is_result).counting(),
                EventCollector::nearest(is_result, move |event| test.misfits_of(event)),
            ]
        }
        Check::Trajectory { mode, calls } => of_trajectory(*mode, calls),
        Check::MaxDurationMs { .. } => {
            let mut longest = f64::NEG_INFINITY;
            vec![EventCollector::last(move |look| {
                let took = look.glance.duration_ms.filter(|took| *took > longest);
                let is_longest = look.is("tool_result") && took.is_some();
                if let Some(took) = took.filter(|_| is_longest) {
                    longest = took;
                }
                is_longest
            })]
        }
        Check::MaxErrors { .. } | Check::GracefulFailureOutput { .. } => {
            vec![EventCollector::all(is_error)]
        }
        Check::RetryPolicyRespected { tool, .. } => vec![EventCollector::all(move |look| {
            look.is("error") || look.calls(tool) || look.is_result_of(tool)
        })],
        Check::SchedulerOutboundCount { tool, .. } => vec![EventCollector::all(move |look| {
            look.calls(tool) || look.is_result_of(tool)
        })],
        Check::SchedulerTaskRuns { task_id, .. } => {
            let wanted = wanted_task(case, header, task_id.as_deref()).map(str::to_owned);
            vec![
                EventCollector::first(1, move |look| {
                    wanted.is_some()
                        && look.glance.task_id.as_deref() == wanted.as_deref()
                        && !look.is("message_received")
                })
                .counting(),
            ]
        }
        Check::ClaimsSupportedByFixtures {
            allowed_sources, ..
        } => vec![EventCollector::all(move |look| {
            look.is("message_received")
                || (look.is("tool_result")
                    && look.glance.success == Some(true)
                    && (allowed_sources.is_empty()
                        || allowed_sources.iter().any(|tool| look.is_about(tool))))
        })],
        // A source that isn't allowed may be what the answer cites.
        Check::NoFabricatedSourceOrCitation { .. } => vec![EventCollector::all(|look| {
            look.is("tool_result") && look.glance.success == Some(true)
        })],
        Check::MemoryRecallSameGroup { .. } => {
            vec![EventCollector::all(|look| look.is("memory_read"))]
        }
        Check::MemoryUpdateOnCorrection { .. } => vec![EventCollector::all(|look| {
            look.is("memory_write") || look.is("message_received")
        })],
        Check::NoCrossGroupMemoryUse { .. } => vec![EventCollector::all(|look| {
            const SAID: &[&str] = &[
                "memory_read",
                "memory_write",
                "tool_call",
                "message",
                "thought",
                "final_output",
                "plan",
            ];
            SAID.contains(&&*look.glance.kind)
        })],
        Check::File { .. } | Check::Git { .. } | Check::ExitCode { .. } | Check::Screen { .. } => {
            let (id, kind) = (assertion.id.as_str(), assertion.check.type_name());
            vec![EventCollector::all(|look| look.is("assertion")).that(move |event| {
                matches!(&event.data, EventData::Assertion(checked) if checked.id == id && checked.kind == kind)
            })]
        }
        Check::OutputContains { .. }
        | Check::OutputOmits { .. }
        | Check::OutputMatchesFormat { .. }
        | Check::MaxTokens { .. }
        | Check::JsonPath { .. }
        | Check::TraceSnapshot { .. } => Vec::new(),
    }
}

fn is_error(look: &Look<'_>) -> bool {
    look.is("error") || look.is("tool_result") && look.glance.success == Some(false)
}

fn first_of(selector: &Selector) -> EventCollector<'_> {
    EventCollector::first(1, may_select(selector)).that(|event| selects_alone(selector, event))
}

/// Whether a selector may mean an event, as far as a glance tells.
fn may_select(selector: &Selector) -> impl Fn(&Look<'_>) -> bool + '_ {
    |look| {
        let glance = look.glance;
        selector
            .event_type
            .as_deref()
            .is_none_or(|kind| look.is(kind))
            && selector
                .tool
                .as_ref()
                .is_none_or(|tool| look.is_about(tool))
            && selector
                .call_id
                .as_deref()
                .is_none_or(|id| glance.call_id.as_deref() == Some(id))
            && selector
                .success
                .is_none_or(|success| glance.success == Some(success))
    }
}

fn of_trajectory(mode: TrajectoryMode, expected: &[ExpectedCall]) -> Vec<EventCollector<'_>> {
    // Those that are named, one that is too many, and in place of each that is expected another.
    let shown = MOST_REFS + expected.len();
    let mut keepers = vec![EventCollector::first(shown, is_call)];
    match mode {
        TrajectoryMode::Exact => {}
        TrajectoryMode::InOrder => {
            let mut rest = expected.iter().peekable();
            keepers.push(
                EventCollector::first(expected.len(), is_call)
                    .that(move |event| rest.next_if(|wanted| is_met_by(wanted, event)).is_some()),
            );
        }
        // Of more calls than are expected at all, one is always free.
        TrajectoryMode::AnyOrder | TrajectoryMode::Superset | TrajectoryMode::Subset => {
            keepers.extend(expected.iter().map(|wanted| {
                EventCollector::first(expected.len(), |look| look.calls(&wanted.tool))
                    .that(|event| is_met_by(wanted, event))
            }));
        }
    }
    keepers
}
