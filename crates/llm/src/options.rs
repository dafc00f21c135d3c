//! What can be said about a stand-in before it starts.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use cuecard_timeline::profiles::{AgentName, Profile};

use cuecard_runtime::http_server::Timeouts;
use cuecard_runtime::listener::DEFAULT_BIND;
use cuecard_runtime::load::PlayOptions;
use tokio::sync::watch;

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

/// How far a model may go, as somebody else says, and how far it was asked to.
#[derive(Debug, Clone)]
pub struct TurnLead {
    /// Turns above this event of the timeline are answered, others wait.
    pub until: watch::Receiver<usize>,
    /// For how many turns it was asked; the trace has what came with the request.
    pub n_asked: watch::Sender<usize>,
}

/// What can be said about a stand-in before it starts.
#[derive(Debug, Clone)]
pub struct LlmOptions {
    /// Which timelines are played, and how.
    pub play: PlayOptions,
    /// Where it listens; port 0 takes a free one.
    pub bind: SocketAddr,
    /// The secret that clients must send, as their API key for example. Needed if other machines can reach `bind`.
    pub token: Option<String>,
    /// The largest body of a request, in bytes.
    pub body_limit: usize,
    /// How long slow clients are waited for.
    pub timeouts: Timeouts,
    /// How many characters of a text are in one delta of a stream.
    pub chunk: NonZeroUsize,
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
    /// The run around it, which does all asserts and says how far the model may go.
    pub lead: Option<TurnLead>,
    /// The program under test judges the asserts and artifacts itself, where it works: only those of requests are judged.
    pub leaves_asserts: bool,
    /// Where asserts look.
    pub workspace: PathBuf,
    /// The environment for `git`, of which an allow-list is passed on.
    pub environment: Vec<(OsString, OsString)>,
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
    /// Models that are listed beside those of the scenarios.
    pub models: Vec<String>,
    /// The time that answers carry, in seconds since 1970; that of the start if absent.
    pub fixed_time: Option<u64>,
}

impl Default for LlmOptions {
    fn default() -> Self {
        Self {
            play: PlayOptions::default(),
            bind: DEFAULT_BIND,
            token: None,
            body_limit: DEFAULT_BODY_LIMIT,
            timeouts: Timeouts::default(),
            chunk: DEFAULT_CHUNK,
            agent: None,
            profiles: Vec::new(),
            strict_tools: false,
            on_miss: OnMiss::Error,
            keep_going: false,
            lead: None,
            leaves_asserts: false,
            workspace: PathBuf::from("."),
            environment: Vec::new(),
            max_exchanges: DEFAULT_MAX_EXCHANGES,
            keeps_exchanges: true,
            max_connections: DEFAULT_MAX_CONNECTIONS,
            n_threads: 0,
            models: Vec::new(),
            fixed_time: None,
        }
    }
}
