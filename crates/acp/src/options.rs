//! What can be said about a stand-in before it starts.

use std::time::Duration;

use cuecard_timeline::format::Symbols;
use cuecard_timeline::model::FaultRules;
use cuecard_timeline::script::{DEFAULT_MAX_DISTANCE, DEFAULT_MAX_SESSIONS, Speed};

/// How long a client may take to answer or to make a call that is scripted, if nothing else is said.
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(60);

/// What can be said about a stand-in before it starts.
#[derive(Debug, Clone)]
pub struct AcpOptions {
    /// What the conditions of rules ask for.
    pub symbols: Symbols,
    /// What goes wrong on purpose, beside what the files themselves say.
    pub faults: Option<FaultRules>,
    /// Leaves out files that can't be used, instead of not starting.
    pub skip_bad: bool,
    /// Only timelines with one of these tags are played; all if there is none.
    pub tags: Vec<String>,
    /// Warnings are errors.
    pub is_strict: bool,
    /// How fast scripted delays pass.
    pub speed: Speed,
    /// How far a prompt may be from that of the scenario which is chosen by it: 0, the same, to 1.
    pub max_distance: f64,
    /// Whether the first prompt of each scenario may be any.
    pub any_prompt: bool,
    /// The scenario that every session plays.
    pub scenario_name: Option<String>,
    /// How long the client may take to answer, and to make a call that is scripted.
    pub patience: Duration,
    /// How many sessions there are at once.
    pub max_sessions: usize,
    /// A program that commands are run by: `CMD -c LINE` is what the client is asked to start.
    pub exec_wrapper: Option<String>,
    /// Segments that no session played are a failure.
    pub require_complete: bool,
}

impl Default for AcpOptions {
    fn default() -> Self {
        Self {
            symbols: Symbols::new(),
            faults: None,
            skip_bad: false,
            tags: Vec::new(),
            is_strict: false,
            speed: Speed::AS_WRITTEN,
            max_distance: DEFAULT_MAX_DISTANCE,
            any_prompt: false,
            scenario_name: None,
            patience: DEFAULT_PATIENCE,
            max_sessions: DEFAULT_MAX_SESSIONS,
            exec_wrapper: None,
            require_complete: false,
        }
    }
}
