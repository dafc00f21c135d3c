//! How a run went, and what those who watch it are told.

use std::collections::HashSet;
use std::sync::Arc;

use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::Json;
use serde::Serialize;
use serde_json::json;

use super::script::AcpScript;

/// What those who watch a stand-in are told, as it happens.
#[derive(Debug, Clone)]
pub enum Notice {
    /// A prompt was answered.
    Turn(TurnReport),
    /// Something failed, or is doubtful.
    Finding(Box<Diagnostic>),
}

/// A prompt that was answered.
#[derive(Debug, Clone, Serialize)]
pub struct TurnReport {
    /// The session.
    pub session: String,
    /// The scenario's name.
    pub scenario: String,
    /// Which of its prompts, from 1.
    pub turn: usize,
    /// The reason to stop, or the error.
    pub reason: String,
}

/// A segment that no session played to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnplayedTurn {
    /// The scenario's name.
    pub scenario: String,
    /// Which of its prompts, from 1.
    pub turn: usize,
    /// Where it stands: `file:line`.
    pub place: String,
}

/// A scenario of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Its file, as it was named.
    pub file: String,
    /// How many segments it has.
    pub n_turns: usize,
}

/// How a run of a stand-in went.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Whether nothing failed.
    pub passed: bool,
    /// What failed and what is doubtful, in order; bounded.
    pub findings: Vec<Diagnostic>,
    /// How many failures there were.
    pub n_failures: u64,
    /// How many sessions there were.
    pub n_sessions: u64,
    /// How many prompts were taken.
    pub n_prompts: u64,
    /// The scenarios, in the order of their files.
    pub scenarios: Vec<Scenario>,
    /// Segments that no session played to their end.
    pub unplayed: Vec<UnplayedTurn>,
    /// Whether a fault ended the agent.
    pub is_crashed: bool,
    /// Whether an agent or its folder was not to be had, so that a scenario was not played.
    pub could_not_run: bool,
    /// Why the trace is not whole, if it isn't.
    pub trace_error: Option<String>,
}

impl Verdict {
    /// How many segments there are.
    pub fn n_turns(&self) -> usize {
        self.scenarios.iter().map(|scenario| scenario.n_turns).sum()
    }

    pub(super) fn scenarios(scripts: &[Arc<AcpScript>]) -> Vec<Scenario> {
        let scenario = |script: &Arc<AcpScript>| Scenario {
            name: script.timeline.name.clone(),
            file: script.timeline.source.name().to_owned(),
            n_turns: script.segments.live.len(),
        };
        scripts.iter().map(scenario).collect()
    }

    /// The segments that are not among those that were played: pairs of scenario and number from 0.
    pub(super) fn unplayed(
        scripts: &[Arc<AcpScript>],
        played: &HashSet<(usize, usize)>,
    ) -> Vec<UnplayedTurn> {
        let mut unplayed = Vec::new();
        for (scenario_idx, script) in scripts.iter().enumerate() {
            for segment_idx in 0..script.segments.live.len() {
                if played.contains(&(scenario_idx, segment_idx)) {
                    continue;
                }
                let timeline = &script.timeline;
                let event = timeline.events.get(script.bounds(segment_idx).0);
                let line = event.map_or(1, |event| timeline.source.position(event.span.start).line);
                unplayed.push(UnplayedTurn {
                    scenario: timeline.name.clone(),
                    turn: segment_idx + 1,
                    place: format!("{}:{line}", timeline.source.name()),
                });
            }
        }
        unplayed
    }

    /// The verdict for machines.
    pub fn to_json(&self) -> Json {
        let findings = cuecard_report::diagnostics::list_to_json(&self.findings);
        json!({
            "passed": self.passed,
            "failures": self.n_failures,
            "sessions": self.n_sessions,
            "prompts": self.n_prompts,
            "turns": self.n_turns(),
            "unplayed": self.unplayed,
            "crashed": self.is_crashed,
            "findings": findings,
            "trace_error": self.trace_error,
        })
    }
}
