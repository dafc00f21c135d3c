//! How a run went, and what those who watch it are told.

use std::collections::{BTreeMap, BTreeSet};
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

/// A segment that a session did not play to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnplayedTurn {
    /// The scenario's name.
    pub scenario: String,
    /// The session; absent if the scenario had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
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
    /// How many segments its sessions have to play.
    pub n_turns: usize,
}

/// The segments that were played to their end, by scenario and session.
pub(super) type PlayedSegments = BTreeMap<(usize, Arc<str>), BTreeSet<usize>>;

/// How a run of a stand-in went.
#[derive(Debug, Clone, Default)]
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
    /// Segments that were not played to their end.
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

    /// The scenarios and what is missing of them. Each session is judged for itself, since one that plays all must not hide
    /// another that stops early.
    pub(super) fn of(scripts: &[Arc<AcpScript>], played: &PlayedSegments) -> Self {
        let mut verdict = Self::default();
        for (scenario_idx, script) in scripts.iter().enumerate() {
            let timeline = &script.timeline;
            let segments = 0..script.segments.live.len();
            let of_scenario = played.iter().filter(|((of, _), _)| *of == scenario_idx);
            let sessions = of_scenario.map(|((_, session), played)| (Some(session), played));
            let mut sessions: Vec<_> = sessions.collect();
            let nothing = BTreeSet::new();
            if sessions.is_empty() {
                sessions.push((None, &nothing));
            }
            for (session, played) in &sessions {
                for segment_idx in segments.clone().filter(|idx| !played.contains(idx)) {
                    let event = timeline.events.get(script.bounds(segment_idx).0);
                    let line =
                        event.map_or(1, |event| timeline.source.position(event.span.start).line);
                    verdict.unplayed.push(UnplayedTurn {
                        scenario: timeline.name.clone(),
                        session: session.map(ToString::to_string),
                        turn: segment_idx + 1,
                        place: format!("{}:{line}", timeline.source.name()),
                    });
                }
            }
            verdict.scenarios.push(Scenario {
                name: timeline.name.clone(),
                file: timeline.source.name().to_owned(),
                n_turns: segments.len() * sessions.len(),
            });
        }
        verdict
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
