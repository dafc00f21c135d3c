//! What can be said about a service before it starts.

use std::net::SocketAddr;

use cuecard_runtime::listener::DEFAULT_BIND;
use cuecard_runtime::load::PlayOptions;
use cuecard_timeline::model::Timeline;
use jiff::Timestamp;
use tokio::sync::watch;

/// What can be said about a service before it starts.
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// Which timelines are played, and how.
    pub play: PlayOptions,
    /// Where it listens.
    pub bind: SocketAddr,
    /// The token that clients must send as `Authorization: Bearer`.
    pub token: Option<String>,
    /// Web pages of this origin may read answers; none if absent.
    pub cors_origin: Option<String>,
    /// Whether a session waits for a prompt at each user input but the first.
    pub waits_for_prompts: bool,
    /// Whether it takes any prompt in place of a scripted one, as the caller compares those that came.
    pub takes_any_prompt: bool,
    /// The event of the timeline that is not told yet, nor anything below it: who looks at sessions moves it on. All is
    /// told without one.
    pub hold: Option<watch::Receiver<usize>>,
    /// When every session begins, as its events tell; the real time if absent.
    pub fixed_time: Option<Timestamp>,
    /// How many threads serve; 0 serves on the runtime of the caller.
    pub n_threads: usize,
    /// How many connections there are at once.
    pub max_connections: usize,
}

impl ServiceOptions {
    /// Whether any prompt is taken in place of one of `timeline`.
    pub(crate) fn takes_any(&self, timeline: &Timeline) -> bool {
        self.takes_any_prompt || timeline.server.any_prompt
    }
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            play: PlayOptions::default(),
            bind: DEFAULT_BIND,
            token: None,
            cors_origin: None,
            waits_for_prompts: false,
            takes_any_prompt: false,
            hold: None,
            fixed_time: None,
            n_threads: 0,
            max_connections: 10_000,
        }
    }
}
