//! What can be said about a recording before it starts.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use cuecard_timeline::profiles::Profile;

use super::super::options::{DEFAULT_BODY_LIMIT, DEFAULT_MAX_EXCHANGES};
use super::upstream::Upstream;
use cuecard_runtime::http_server::Timeouts;
use cuecard_runtime::listener::DEFAULT_BIND;

/// So long a provider may say nothing in the middle of an answer, if nothing else is said. Models that think are
/// silent for minutes.
pub const DEFAULT_STALL: Duration = Duration::from_secs(600);

/// What can be said about a recording before it starts.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// Where requests go.
    pub upstream: Upstream,
    /// The scenario of the first conversation; further ones have `-2`, `-3` before the ending.
    pub out: PathBuf,
    /// Whether files that exist may be replaced.
    pub replaces: bool,
    /// Where it listens; port 0 takes a free one.
    pub bind: SocketAddr,
    /// The secret that clients must send as their API key. Needed if other machines can reach `bind`.
    pub token: Option<String>,
    /// The largest body of a request, in bytes.
    pub body_limit: usize,
    /// How long slow clients are waited for.
    pub timeouts: Timeouts,
    /// How long the provider may say nothing in the middle of an answer.
    pub stall: Duration,
    /// What must not stand in anything that is written.
    pub secrets: Vec<String>,
    /// Profiles beside those that are built in.
    pub profiles: Vec<Profile>,
    /// How many exchanges are told; further ones are counted.
    pub max_exchanges: usize,
}

impl RecordOptions {
    /// The usual options for a recording of conversations with `upstream` into the file `out`.
    pub fn new(upstream: Upstream, out: impl Into<PathBuf>) -> Self {
        Self {
            upstream,
            out: out.into(),
            replaces: false,
            bind: DEFAULT_BIND,
            token: None,
            body_limit: DEFAULT_BODY_LIMIT,
            timeouts: Timeouts::default(),
            stall: DEFAULT_STALL,
            secrets: Vec::new(),
            profiles: Vec::new(),
            max_exchanges: DEFAULT_MAX_EXCHANGES,
        }
    }
}
