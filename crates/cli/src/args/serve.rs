//! The command line of `cuecard serve`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use cuecard_llm::OnMiss;

use super::shared::factor;
use super::{AddressArgs, Choices, DistanceArgs, RunsArgs, SpeedArgs, SymbolArgs, TagArgs, one_of};

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// What to mock
    #[command(subcommand)]
    pub what: ServedApi,
}

/// What can be mocked.
#[derive(Debug, Subcommand)]
pub(crate) enum ServedApi {
    /// Mock the OpenAI, Anthropic and Google LLM APIs with timelines
    Llm(Box<ServeLlmArgs>),
    /// Mock an agent service with timelines: a REST API, event streams and a page that shows sessions
    Rest(Box<ServeRestArgs>),
    /// Mock an MCP server with a cassette: recorded by `record mcp`, or written by hand
    Mcp(ServeMcpArgs),
}

/// Arguments of `serve mcp`.
#[derive(Debug, Args)]
pub(crate) struct ServeMcpArgs {
    /// The cassette, or the scenario that it was recorded with
    pub file: PathBuf,

    /// Serve this server, if the cassette has several
    #[arg(long = "server", value_name = "NAME")]
    pub server_name: Option<String>,
    /// Answer each call by its arguments, in any order
    #[arg(long)]
    pub any_order: bool,

    /// Serve stdio, which is the default
    #[arg(long, conflicts_with = "http", help_heading = "Network")]
    pub stdio: bool,
    #[command(flatten)]
    pub http: HttpArgs,
    /// With --http: stop at the end of standard input too, as on SIGTERM, and as over stdio
    #[arg(long, requires = "http", help_heading = "Network")]
    pub stop_on_stdin_eof: bool,

    /// Print JSON Lines: `ready` first, `verdict` last; over stdio to stderr
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Whether and where an MCP server of ours listens.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
#[command(group(ArgGroup::new("of_http").args(["port", "bind"]).multiple(true).requires("http")))]
pub(crate) struct HttpArgs {
    /// Serve Streamable HTTP instead of stdio
    #[arg(long)]
    pub http: bool,
    #[command(flatten)]
    pub address: AddressArgs,
    /// Require this bearer token from clients
    #[arg(long, requires = "http")]
    pub token: Option<String>,
}

/// Where a mock listens.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct ListenArgs {
    #[command(flatten)]
    pub address: AddressArgs,
    /// Stop at the end of standard input too, as on SIGTERM: a mock then ends with the program that holds the pipe
    #[arg(long, conflicts_with = "command", hide_short_help = true)]
    pub stop_on_stdin_eof: bool,
}

/// Arguments of `serve rest`.
#[derive(Debug, Args)]
pub(crate) struct ServeRestArgs {
    /// Timelines, and directories of .yaml or .yml files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Run this command with CUECARD_SERVICE_URL set, and exit with it
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    #[command(flatten)]
    pub listen: ListenArgs,
    /// Require this token from clients
    #[arg(long, help_heading = "Network")]
    pub token: Option<String>,
    /// Let web pages of this origin call the API, as http://localhost:5173
    #[arg(long, value_name = "ORIGIN", help_heading = "Network")]
    pub cors: Option<String>,

    /// Treat warnings as errors
    #[arg(long, help_heading = "Checks")]
    pub strict: bool,
    /// Fail if a timeline was not played to its end
    #[arg(long, help_heading = "Checks")]
    pub require_complete: bool,

    #[command(flatten)]
    pub which: WhichTimelineArgs,

    #[command(flatten)]
    pub how: PlayTimelineArgs,
    /// Wait for a prompt at each user input but the first
    #[arg(long, help_heading = "Playback")]
    pub wait_for_prompts: bool,
    /// Start of every session: 2026-01-31T09:00:00Z, or Unix seconds
    #[arg(long, value_name = "TIME", value_parser = fixed_clock, help_heading = "Playback")]
    pub fixed_clock: Option<jiff::Timestamp>,

    /// Print JSON Lines: one line for each event
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// Reads the time of `--fixed-clock`: RFC 3339, or seconds since 1970.
fn fixed_clock(text: &str) -> Result<jiff::Timestamp, String> {
    let from_seconds = |seconds: i64| jiff::Timestamp::from_second(seconds).ok();
    let seconds = text.parse().ok().and_then(from_seconds);
    seconds.or_else(|| text.parse().ok()).ok_or_else(|| {
        "write a time such as 2026-01-31T09:00:00Z, or seconds since 1970".to_owned()
    })
}

/// Arguments of `serve llm`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Playback")]
pub(crate) struct ServeLlmArgs {
    /// Timelines, and directories of .yaml or .yml files
    #[arg(value_name = "PATH", required_unless_present = "scenarios", help_heading = None)]
    pub paths: Vec<PathBuf>,
    /// Run this command with the variables that clients read, and exit with it
    #[arg(last = true, value_name = "COMMAND", help_heading = None)]
    pub command: Vec<OsString>,

    #[command(flatten)]
    pub listen: ListenArgs,
    /// Require this API key from clients
    #[arg(long, help_heading = "Network")]
    pub token: Option<String>,

    /// Treat warnings as errors; also require tool results to match the script
    #[arg(long, help_heading = "Checks")]
    pub strict: bool,
    /// Answer to an unexpected request: error or minimal
    ///
    /// error has an explanation, minimal is an empty message.
    #[arg(
        long,
        value_parser = one_of(MISS_ANSWERS),
        value_name = "ANSWER",
        hide_possible_values = true,
        default_value = "error",
        help_heading = "Checks"
    )]
    pub on_miss: OnMiss,
    /// Keep answering after a failed assert
    ///
    /// `test` has the opposite: it goes on after a failure without --fail-fast.
    #[arg(long, help_heading = "Checks")]
    pub keep_going: bool,
    /// Fail if a timeline was not played to its end; implied by COMMAND
    #[arg(long, help_heading = "Checks")]
    pub require_complete: bool,
    /// Directory in which asserts look for files
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Checks")]
    pub workspace: PathBuf,

    /// A timeline, like PATH (repeatable)
    #[arg(
        long = "scenario",
        value_name = "PATH",
        hide_short_help = true,
        help_heading = "Selection"
    )]
    pub scenarios: Vec<PathBuf>,
    #[command(flatten)]
    pub which: WhichTimelineArgs,

    #[command(flatten)]
    pub how: PlayTimelineArgs,
    /// Number of characters per streaming delta
    #[arg(long, value_name = "CHARACTERS", default_value_t = cuecard_llm::DEFAULT_CHUNK)]
    pub chunk: NonZeroUsize,
    /// Also list this model (repeatable)
    #[arg(long = "model", value_name = "NAME")]
    pub models: Vec<String>,
    /// Time in all responses: 2026-01-31T09:00:00Z, or Unix seconds
    #[arg(long, value_name = "TIME", value_parser = fixed_clock)]
    pub fixed_clock: Option<jiff::Timestamp>,

    /// Profile of the agent's tools, if not detected: NAME[@VERSION]
    ///
    /// Agents advertise their tools, and are detected by them. `cuecard profile list` lists the profiles.
    #[arg(long, value_name = "AGENT", help_heading = "Tools of agents")]
    pub agent: Option<String>,
    /// An additional profile of an agent's tools (repeatable)
    #[arg(
        long = "profile",
        value_name = "FILE",
        help_heading = "Tools of agents"
    )]
    pub profiles: Vec<PathBuf>,
    /// Also validate scripted arguments against the advertised tools
    #[arg(long, help_heading = "Tools of agents")]
    pub strict_tools_validation: bool,

    /// Print JSON Lines: `ready` first, `verdict` last
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write requests and responses to a file as JSON Lines
    ///
    /// An existing file is replaced.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub exchanges: Option<PathBuf>,
    /// Maximum number of exchanges kept
    #[arg(
        long,
        value_name = "N",
        default_value_t = cuecard_llm::DEFAULT_MAX_EXCHANGES,
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub exchanges_max: usize,
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// Which timelines a mock or a run plays.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct WhichTimelineArgs {
    #[command(flatten, next_help_heading = "Selection")]
    pub tagged: TagArgs,
    /// Play the timeline with this name
    ///
    /// A request to a mock can name another.
    #[arg(long, value_name = "NAME")]
    pub scenario_name: Option<String>,
    #[command(flatten, next_help_heading = "Selection")]
    pub distance: DistanceArgs,
    /// Accept any prompt for the first turn; warn if it differs much
    #[arg(long)]
    pub any_prompt: bool,
    #[command(flatten)]
    pub symbols: SymbolArgs,
    /// Skip files with errors instead of refusing to start
    #[arg(long, hide_short_help = true)]
    pub skip_bad: bool,
}

/// How fast timelines are played.
#[derive(Debug, Args)]
pub(crate) struct TimelineSpeedArgs {
    #[command(flatten)]
    pub factor: SpeedArgs,
    /// Lower bound for --speed
    #[arg(
        long,
        value_parser = factor,
        value_name = "FACTOR",
        default_value_t = 0.0,
        hide_default_value = true,
        hide_short_help = true
    )]
    pub min_speed: f64,
}

/// How a mock plays timelines.
#[derive(Debug, Args)]
#[command(next_help_heading = "Playback")]
pub(crate) struct PlayTimelineArgs {
    #[command(flatten, next_help_heading = "Playback")]
    pub speed: TimelineSpeedArgs,
    /// Inject the faults of this file: a list of {match, fault}
    #[arg(long, value_name = "FILE")]
    pub fault: Option<PathBuf>,
    /// List where faults would be injected, and do nothing else
    #[arg(long, alias = "dry-run")]
    pub list_faults: bool,
    /// Maximum number of sessions kept
    #[arg(long, value_name = "N", default_value_t = cuecard_timeline::script::DEFAULT_MAX_SESSIONS, hide_short_help = true)]
    pub sessions_max: usize,
}

/// The values of `--on-miss`.
const MISS_ANSWERS: Choices<OnMiss> = &[
    ("error", OnMiss::Error, "An error with an explanation"),
    ("minimal", OnMiss::Minimal, "An empty message"),
];
