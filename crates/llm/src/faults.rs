//! The faults of the scenarios: which turn each of them hits, and which have happened.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::model::{EventKind, Fault, FaultKind, TimelineEvent};
use cuecard_timeline::script::{LlmScript, Served, Speed, Turn};
use serde::Serialize;

/// All faults of a set of scenarios.
#[derive(Debug, Default)]
pub(super) struct Faults {
    scripted: Vec<ScriptedFault>,
    /// By scenario and turn.
    of_turn: HashMap<(usize, usize), Vec<usize>>,
    has_happened: Vec<AtomicBool>,
}

#[derive(Debug)]
struct ScriptedFault {
    scenario_idx: usize,
    event_idx: usize,
    fault: Fault,
    /// Where it hits, or why it never does.
    aim: Result<FaultTarget, &'static str>,
}

#[derive(Debug)]
struct FaultTarget {
    turn_idx: usize,
    /// The call that it is for; without one it is for the whole answer.
    call_id: Option<String>,
}

/// A fault of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    /// Which fault it is.
    pub(super) fault_idx: usize,
    pub(super) kind: FaultKind,
    /// The first frame from then on is hit, in milliseconds since the request, as written.
    pub(super) at_ms: Option<u64>,
    /// The frames of this call are meant.
    pub(super) call_id: Option<String>,
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

impl Faults {
    pub(super) fn of(scripts: &[Arc<LlmScript>]) -> Self {
        let mut faults = Self::default();
        for (scenario_idx, script) in scripts.iter().enumerate() {
            for (event_idx, event) in script.timeline.events.iter().enumerate() {
                if let Some(fault) = event.fault {
                    faults.add(ScriptedFault {
                        scenario_idx,
                        event_idx,
                        fault,
                        aim: aim(script, event_idx, event, fault.kind),
                    });
                }
            }
        }
        faults
    }

    fn add(&mut self, fault: ScriptedFault) {
        if let Ok(aim) = &fault.aim {
            let turn = self.of_turn.entry((fault.scenario_idx, aim.turn_idx));
            turn.or_default().push(self.scripted.len());
        }
        self.scripted.push(fault);
        self.has_happened.push(AtomicBool::new(false));
    }

    /// The faults of a turn, when it is served for the first time in a session.
    pub(super) fn of_turn(
        &self,
        scenario_idx: usize,
        script: &LlmScript,
        turn: &Turn,
        served: &Served,
    ) -> Vec<Hit> {
        let Some(found) = self.of_turn.get(&(scenario_idx, served.turn_idx)) else {
            return Vec::new();
        };
        let hits = found.iter().filter_map(|&fault_idx| {
            let scripted = self.scripted.get(fault_idx)?;
            let start_ms = script.schedule.events.get(scripted.event_idx)?.start_ms;
            let at_ms = scripted.fault.at_ms.map(|after_ms| {
                let at_ms = start_ms.saturating_add(after_ms);
                turn.delay_of(at_ms, Speed::AS_WRITTEN)
            });
            Some(Hit {
                fault_idx,
                kind: scripted.fault.kind,
                at_ms,
                call_id: scripted.aim.as_ref().ok()?.call_id.clone(),
            })
        });
        hits.collect()
    }

    /// A fault has happened.
    pub(super) fn happened(&self, fault_idx: usize) {
        if let Some(happened) = self.has_happened.get(fault_idx) {
            happened.store(true, Ordering::Relaxed);
        }
    }

    /// T-FAULT-01: the faults that never happened.
    pub(super) fn unfired(&self, scripts: &[Arc<LlmScript>]) -> Vec<Diagnostic> {
        let faults = self.scripted.iter().zip(&self.has_happened);
        faults
            .filter(|(_, happened)| !happened.load(Ordering::Relaxed))
            .filter_map(|(scripted, _)| {
                let timeline = &scripts.get(scripted.scenario_idx)?.timeline;
                let event = timeline.events.get(scripted.event_idx)?;
                let message = format!("the fault `{}` was never triggered", scripted.fault.kind.as_str());
                let why = match &scripted.aim {
                    Err(never) => *never,
                    Ok(_) => {
                        "its turn was not played, or the answer has no such frame; `--dry-run` lists where faults would be injected"
                    }
                };
                Some(
                    Diagnostic::warning(codes::FAULT_NEVER, message)
                        .at(&timeline.source, event.span)
                        .with_pointer(format!("{}.fault", event.path))
                        .with_help(why),
                )
            })
            .collect()
    }

    /// What would be hit.
    pub(super) fn planned(&self, scripts: &[Arc<LlmScript>]) -> Vec<PlannedFault> {
        let planned = self.scripted.iter().filter_map(|scripted| {
            let timeline = &scripts.get(scripted.scenario_idx)?.timeline;
            let event = timeline.events.get(scripted.event_idx)?;
            let line = timeline.source.position(event.span.start).line;
            let (turn, never) = match &scripted.aim {
                Ok(aim) => (Some(aim.turn_idx + 1), None),
                Err(never) => (None, Some(*never)),
            };
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
                turn,
                never,
            })
        });
        planned.collect()
    }
}

/// Where a fault hits.
fn aim(
    script: &LlmScript,
    event_idx: usize,
    event: &TimelineEvent,
    kind: FaultKind,
) -> Result<FaultTarget, &'static str> {
    if kind == FaultKind::Stderr {
        return Err("a model API has no stderr");
    }
    let is_answer = matches!(event.kind, EventKind::Response(_));
    let turns = script.turns.turns.iter().enumerate();
    for (turn_idx, turn) in turns {
        if let Some(call) = turn.calls().find(|call| call.event_idx == event_idx) {
            return Ok(FaultTarget {
                turn_idx,
                call_id: Some(call.id.clone()),
            });
        }
        if is_answer && turn.event_idx == event_idx {
            return Ok(FaultTarget {
                turn_idx,
                call_id: None,
            });
        }
    }
    Err("a model sends nothing at this event; put it at an `llmResponse` or a tool call")
}
