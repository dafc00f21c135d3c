//! What can be said about a service before it starts.

use std::net::SocketAddr;

use cuecard_runtime::listener::DEFAULT_BIND;
use cuecard_timeline::format::Symbols;
use cuecard_timeline::model::FaultRules;
use cuecard_timeline::script::{DEFAULT_MAX_DISTANCE, DEFAULT_MAX_SESSIONS, Speed};
use jiff::Timestamp;

/// What can be said about a service before it starts.
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// Where it listens.
    pub bind: SocketAddr,
    /// The token that clients must send as `Authorization: Bearer`.
    pub token: Option<String>,
    /// Web pages of this origin may read answers; none if absent.
    pub cors_origin: Option<String>,
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
    /// Whether the prompt of each scenario may be any.
    pub any_prompt: bool,
    /// The scenario that every session plays.
    pub scenario_name: Option<String>,
    /// Whether a session waits for a prompt at each user input but the first.
    pub waits_for_prompts: bool,
    /// When every session begins, as its events tell; the real time if absent.
    pub fixed_time: Option<Timestamp>,
    /// How many sessions there are at once.
    pub max_sessions: usize,
    /// A scenario that no session played to its end is a failure.
    pub require_complete: bool,
    /// How many connections there are at once.
    pub max_connections: usize,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            bind: DEFAULT_BIND,
            token: None,
            cors_origin: None,
            symbols: Symbols::new(),
            faults: None,
            skip_bad: false,
            tags: Vec::new(),
            is_strict: false,
            speed: Speed::AS_WRITTEN,
            max_distance: DEFAULT_MAX_DISTANCE,
            any_prompt: false,
            scenario_name: None,
            waits_for_prompts: false,
            fixed_time: None,
            max_sessions: DEFAULT_MAX_SESSIONS,
            require_complete: false,
            max_connections: 10_000,
        }
    }
}
