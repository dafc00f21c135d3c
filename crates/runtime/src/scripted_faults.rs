//! The faults that stand in timelines: where each is to hit, and which have happened.

use std::sync::atomic::{AtomicBool, Ordering};

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::model::{EventKind, Fault, FaultKind, Timeline, TimelineEvent};
use serde::Serialize;

/// All faults of a set of timelines. `A` says where one hits.
#[derive(Debug)]
pub struct ScriptedFaults<A> {
    faults: Vec<ScriptedFault<A>>,
    has_happened: Vec<AtomicBool>,
}

/// A fault of an event.
#[derive(Debug)]
pub struct ScriptedFault<A> {
    /// The timeline.
    pub scenario_idx: usize,
    /// Its event.
    pub event_idx: usize,
    /// What goes wrong, and when.
    pub fault: Fault,
    /// Where it hits, or why it never does.
    pub aim: Result<A, &'static str>,
}

/// A fault that stands in the scenarios, and what it would hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedFault {
    /// The scenario's name.
    pub scenario: String,
    /// Where its event stands: `file:line`.
    pub place: String,
    /// The event as people count it: `timeline[7]`.
    pub path: String,
    /// The event's name, and its tool.
    pub event: String,
    /// What goes wrong.
    pub kind: &'static str,
    /// How long after the event's start, in milliseconds; else its first frame.
    pub at_ms: Option<u64>,
    /// The turn that it hits, from 1.
    pub turn: Option<usize>,
    /// Why it never happens, if that is known.
    pub never: Option<&'static str>,
}

impl<A> ScriptedFaults<A> {
    /// Those of `timelines`; `aim` says where one of an event hits, by the index of its timeline and its own.
    pub fn of<'t>(
        timelines: impl IntoIterator<Item = &'t Timeline>,
        aim: impl Fn(usize, usize, &TimelineEvent, FaultKind) -> Result<A, &'static str>,
    ) -> Self {
        let mut faults = Vec::new();
        for (scenario_idx, timeline) in timelines.into_iter().enumerate() {
            for (event_idx, event) in timeline.events.iter().enumerate() {
                if let Some(fault) = event.fault {
                    faults.push(ScriptedFault {
                        scenario_idx,
                        event_idx,
                        fault,
                        aim: aim(scenario_idx, event_idx, event, fault.kind),
                    });
                }
            }
        }
        let has_happened = faults.iter().map(|_| AtomicBool::new(false)).collect();
        Self {
            faults,
            has_happened,
        }
    }

    /// All of them.
    pub fn all(&self) -> &[ScriptedFault<A>] {
        &self.faults
    }

    /// A fault has happened.
    pub fn happened(&self, fault_idx: usize) {
        if let Some(happened) = self.has_happened.get(fault_idx) {
            happened.store(true, Ordering::Relaxed);
        }
    }

    /// T-FAULT-01: the faults that never happened, although they have an aim because of `missed`.
    pub fn unfired<'t>(
        &self,
        timeline_of: impl Fn(usize) -> Option<&'t Timeline>,
        missed: &str,
    ) -> Vec<Diagnostic> {
        let faults = self.faults.iter().zip(&self.has_happened);
        faults
            .filter(|(_, happened)| !happened.load(Ordering::Relaxed))
            .filter_map(|(scripted, _)| {
                let timeline = timeline_of(scripted.scenario_idx)?;
                let event = timeline.events.get(scripted.event_idx)?;
                let kind = scripted.fault.kind.as_str();
                let message = format!("the fault `{kind}` was never triggered");
                let why = scripted.aim.as_ref().err().copied().unwrap_or(missed);
                Some(
                    Diagnostic::warning(codes::FAULT_NEVER, message)
                        .at(&timeline.source, event.span)
                        .with_pointer(format!("{}.fault", event.path))
                        .with_help(why),
                )
            })
            .collect()
    }

    /// What would be hit; `turn_of` counts turns from 1.
    pub fn planned<'t>(
        &self,
        timeline_of: impl Fn(usize) -> Option<&'t Timeline>,
        turn_of: impl Fn(&A) -> usize,
    ) -> Vec<PlannedFault> {
        let planned = self.faults.iter().filter_map(|scripted| {
            let timeline = timeline_of(scripted.scenario_idx)?;
            let event = timeline.events.get(scripted.event_idx)?;
            let line = timeline.source.position(event.span.start).line;
            Some(PlannedFault {
                scenario: timeline.name.clone(),
                place: format!("{}:{line}", timeline.source.name()),
                path: event.path.clone(),
                event: match &event.kind {
                    EventKind::ToolUse(call) => format!("{} {}", event.kind.as_str(), call.tool),
                    kind => kind.as_str().to_owned(),
                },
                kind: scripted.fault.kind.as_str(),
                at_ms: scripted.fault.at_ms,
                turn: scripted.aim.as_ref().ok().map(&turn_of),
                never: scripted.aim.as_ref().err().copied(),
            })
        });
        planned.collect()
    }
}
