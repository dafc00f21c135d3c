//! What can be said about a stand-in before it starts.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use cuecard_timeline::format::Symbols;
use cuecard_timeline::model::FaultRules;
use cuecard_timeline::profiles::{AgentName, Profile};
use cuecard_timeline::script::{DEFAULT_MAX_DISTANCE, DEFAULT_MAX_SESSIONS, Speed};

use cuecard_runtime::listener::DEFAULT_BIND;
use cuecard_runtime::timeouts::Timeouts;

/// How many characters of a text are in one delta of a stream, if nothing else is said.
pub const DEFAULT_CHUNK: NonZeroUsize = NonZeroUsize::new(16).expect("not zero");

/// How many exchanges are kept, if nothing else is said.
pub const DEFAULT_MAX_EXCHANGES: usize = 10_000;

/// How many connections there are at once, if nothing else is said.
pub const DEFAULT_MAX_CONNECTIONS: usize = 16_384;

/// The largest body of a request that is read, in bytes, if nothing else is said. Histories hold images.
pub const DEFAULT_BODY_LIMIT: usize = 32 * 1024 * 1024;

/// What a request gets that the script does not expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnMiss {
    /// An error that explains it.
    #[default]
    Error,
    /// An empty message. It is a miss all the same.
    Minimal,
}

/// What can be said about a stand-in before it starts.
#[derive(Debug, Clone)]
pub struct LlmOptions {
    /// Where it listens; port 0 takes a free one.
    pub bind: SocketAddr,
    /// The secret that clients must send, as their API key for example. Needed if other machines can reach `bind`.
    pub token: Option<String>,
    /// The largest body of a request, in bytes.
    pub body_limit: usize,
    /// How long slow clients are waited for.
    pub timeouts: Timeouts,
    /// What the conditions of rules ask for.
    pub symbols: Symbols,
    /// What goes wrong on purpose, beside what the files themselves say.
    pub faults: Option<FaultRules>,
    /// Leaves out files that can't be used, instead of not starting.
    pub skip_bad: bool,
    /// Only timelines with one of these tags are played; all if there is none.
    pub tags: Vec<String>,
    /// Warnings about files are errors, and results of tools must be the scripted ones.
    pub is_strict: bool,
    /// How fast scripted delays pass.
    pub speed: Speed,
    /// How many characters of a text are in one delta of a stream.
    pub chunk: NonZeroUsize,
    /// How far a prompt may be from that of the scenario which is chosen by it: 0, the same, to 1.
    pub max_distance: f64,
    /// Whether the first turn of each scenario takes any prompt.
    pub any_prompt: bool,
    /// The scenario that is played if a request names none.
    pub scenario_name: Option<String>,
    /// The agent whose tools are called, if the advertised tools don't tell.
    pub agent: Option<AgentName>,
    /// Profiles beside those that are built in.
    pub profiles: Vec<Profile>,
    /// Scripted calls must fit the advertised schemas in types and names too.
    pub strict_tools: bool,
    /// What a request gets that the script does not expect.
    pub on_miss: OnMiss,
    /// A failed assert does not keep the turn after it from being answered.
    pub keep_going: bool,
    /// Where asserts look.
    pub workspace: PathBuf,
    /// The environment for `git`, of which an allow-list is passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// How many sessions are kept; the least recently used go.
    pub max_sessions: usize,
    /// How many exchanges are recorded: kept, told to who watches, and written into the trace. Further ones are
    /// counted.
    pub max_exchanges: usize,
    /// Whether exchanges are kept for [`RunningLlm::exchanges`](super::RunningLlm::exchanges).
    pub keeps_exchanges: bool,
    /// How many connections there are at once; fewer if the limit of open files is lower. When there are more, those
    /// that wait longest are closed.
    pub max_connections: usize,
    /// How many threads serve, each with its own share of the connections; 0 serves on the runtime of the caller.
    pub n_threads: usize,
    /// Turns that no session got are a failure.
    pub require_complete: bool,
    /// Models that are listed beside those of the scenarios.
    pub models: Vec<String>,
    /// The time that answers carry, in seconds since 1970; that of the start if absent.
    pub fixed_time: Option<u64>,
}

impl Default for LlmOptions {
    fn default() -> Self {
        Self {
            bind: DEFAULT_BIND,
            token: None,
            body_limit: DEFAULT_BODY_LIMIT,
            timeouts: Timeouts::default(),
            symbols: Symbols::new(),
            faults: None,
            skip_bad: false,
            tags: Vec::new(),
            is_strict: false,
            speed: Speed::AS_WRITTEN,
            chunk: DEFAULT_CHUNK,
            max_distance: DEFAULT_MAX_DISTANCE,
            any_prompt: false,
            scenario_name: None,
            agent: None,
            profiles: Vec::new(),
            strict_tools: false,
            on_miss: OnMiss::Error,
            keep_going: false,
            workspace: PathBuf::from("."),
            environment: Vec::new(),
            max_sessions: DEFAULT_MAX_SESSIONS,
            max_exchanges: DEFAULT_MAX_EXCHANGES,
            keeps_exchanges: true,
            max_connections: DEFAULT_MAX_CONNECTIONS,
            n_threads: 0,
            require_complete: false,
            models: Vec::new(),
            fixed_time: None,
        }
    }
}
