//! The faults of the scenarios: which turn each of them hits.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use cuecard_source::diagnostic::Diagnostic;
use cuecard_timeline::model::{EventKind, FaultKind, TimelineEvent};
use cuecard_timeline::script::{LlmScript, Part, Request, Served, Speed, Turn};

use cuecard_runtime::fault::NOBODYS_ID;
pub use cuecard_runtime::scripted_faults::PlannedFault;
use cuecard_runtime::scripted_faults::ScriptedFaults;

/// All faults of a set of scenarios.
#[derive(Debug)]
pub(super) struct Faults {
    scripts: Vec<Arc<LlmScript>>,
    scripted: ScriptedFaults<FaultTarget>,
    /// By scenario and turn.
    of_turn: HashMap<(usize, usize), Vec<usize>>,
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

impl Faults {
    pub(super) fn of(scripts: &[Arc<LlmScript>]) -> Self {
        let timelines = scripts.iter().map(|script| &*script.timeline);
        let scripted = ScriptedFaults::of(timelines, |scenario_idx, event_idx, event, kind| {
            aim(&scripts[scenario_idx], event_idx, event, kind)
        });
        let mut of_turn: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
        for (fault_idx, fault) in scripted.all().iter().enumerate() {
            if let Ok(aim) = &fault.aim {
                let turn = of_turn.entry((fault.scenario_idx, aim.turn_idx));
                turn.or_default().push(fault_idx);
            }
        }
        Self {
            scripts: scripts.to_vec(),
            scripted,
            of_turn,
        }
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
            let scripted = self.scripted.all().get(fault_idx)?;
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

    /// Puts the ids of the script in place of those that `wrong_id` has given to calls: a client that goes on with such a call
    /// answers it by the id that it got.
    pub(super) fn restore_ids(&self, request: &mut Request) {
        let previous = request.previous.as_ref().map(|it| it.turn_idx);
        let wrong = self.scripted.all().iter();
        let wrong = wrong.filter(|fault| fault.fault.kind == FaultKind::WrongId);
        let aims = wrong.filter_map(|fault| fault.aim.as_ref().ok());
        let aims = aims.filter(|aim| previous.is_none_or(|turn_idx| turn_idx == aim.turn_idx));
        let mut ids: Vec<&String> = aims.filter_map(|aim| aim.call_id.as_ref()).collect();
        if ids.is_empty() {
            return;
        }
        let parts = request.history.iter_mut();
        let mut parts: Vec<&mut Part> = parts.flat_map(|message| &mut message.parts).collect();
        // What was asked for once more has come with its own id.
        ids.retain(|id| {
            let mut parts = parts.iter();
            !parts.any(|part| matches!(part, Part::Call(call) if call.id == **id))
        });
        ids.dedup();
        let mut ids = ids.into_iter();
        let mut open = VecDeque::new();
        let is_wrong = |id: &str| id.ends_with(&NOBODYS_ID.to_string());
        for part in &mut parts {
            let (id, restored) = match part {
                Part::Call(call) if is_wrong(&call.id) => {
                    let restored = ids.next();
                    open.extend(restored);
                    (&mut call.id, restored)
                }
                Part::Result(result) if is_wrong(&result.call_id) => {
                    (&mut result.call_id, open.pop_front().or_else(|| ids.next()))
                }
                _ => continue,
            };
            if let Some(restored) = restored {
                id.clone_from(restored);
            }
        }
    }

    /// A fault has happened.
    pub(super) fn happened(&self, fault_idx: usize) {
        self.scripted.happened(fault_idx);
    }

    /// T-FAULT-01: the faults that never happened.
    pub(super) fn unfired(&self) -> Vec<Diagnostic> {
        let missed = "its turn was not played, or the answer has no such frame; `--dry-run` lists where faults would be injected";
        self.scripted.unfired(|idx| self.timeline(idx), missed)
    }

    /// What would be hit.
    pub(super) fn planned(&self) -> Vec<PlannedFault> {
        let turn_of = |aim: &FaultTarget| aim.turn_idx + 1;
        self.scripted.planned(|idx| self.timeline(idx), turn_of)
    }

    fn timeline(&self, scenario_idx: usize) -> Option<&cuecard_timeline::model::Timeline> {
        let script = self.scripts.get(scenario_idx)?;
        Some(&script.timeline)
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
