//! The command line of `cuecard serve`.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{RunsArgs, SymbolArgs};
use crate::exit_code;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// What to stand in for
    #[command(subcommand)]
    pub what: ServedApi,
}

/// What can be stood in for.
#[derive(Debug, Subcommand)]
pub(crate) enum ServedApi {
    /// Mock the OpenAI, Anthropic and Google LLM APIs with timelines
    #[command(after_long_help = format!("{}\n{}", exit_code::HELP, exit_code::HELP_ON_COMMAND))]
    Llm(Box<ServeLlmArgs>),
    /// Mock an agent service with timelines: a REST API, event streams and a page that shows sessions
    #[command(after_long_help = format!("{}\n{}", exit_code::HELP, exit_code::HELP_ON_COMMAND))]
    Rest(Box<ServeRestArgs>),
    /// Mock an MCP server with a cassette: recorded by `record mcp`, or written by hand
    #[command(after_long_help = exit_code::HELP)]
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
    #[arg(long, conflicts_with = "http", help_heading = "Where")]
    pub stdio: bool,
    #[command(flatten)]
    pub http: HttpArgs,

    /// Print JSON Lines: `ready` first, `verdict` last; over stdio to stderr
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Whether and where an MCP server of ours listens.
#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    /// Serve Streamable HTTP instead of stdio
    #[arg(long, help_heading = "Where")]
    pub http: bool,
    /// Port to listen on (0: any free port)
    #[arg(long, requires = "http", default_value_t = 0, help_heading = "Where")]
    pub port: u16,
    /// Address to listen on; a non-loopback address requires --token
    #[arg(
        long,
        requires = "http",
        default_value = "127.0.0.1",
        value_name = "ADDRESS",
        help_heading = "Where"
    )]
    pub bind: IpAddr,
    /// Require this bearer token from clients
    #[arg(long, requires = "http", help_heading = "Where")]
    pub token: Option<String>,
}

impl HttpArgs {
    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::new(self.bind, self.port)
    }
}

/// Where a stand-in listens.
#[derive(Debug, Args)]
pub(crate) struct ListenArgs {
    /// Port to listen on (0: any free port)
    #[arg(long, default_value_t = 0, help_heading = "Where")]
    pub port: u16,
    /// Address to listen on; a non-loopback address requires --token
    #[arg(
        long,
        default_value = "127.0.0.1",
        value_name = "ADDRESS",
        help_heading = "Where"
    )]
    pub bind: IpAddr,
}

impl ListenArgs {
    /// The address and the port.
    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::new(self.bind, self.port)
    }
}

/// Arguments of `serve rest`.
#[derive(Debug, Args)]
pub(crate) struct ServeRestArgs {
    /// Timelines, and folders of .yaml or .yml files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Run this command with CUECARD_SERVICE_URL set, and exit when it exits
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    #[command(flatten)]
    pub which: WhichTimelineArgs,

    #[command(flatten)]
    pub listen: ListenArgs,
    /// Require this token from clients
    #[arg(long, help_heading = "Where")]
    pub token: Option<String>,
    /// Let web pages of this origin call the API, as http://localhost:5173
    #[arg(long, value_name = "ORIGIN", help_heading = "Where")]
    pub cors: Option<String>,

    #[command(flatten)]
    pub how: PlayTimelineArgs,
    /// Wait for a prompt at each user input but the first
    #[arg(long, help_heading = "How to play")]
    pub wait_for_prompts: bool,
    /// Begin every session at this time, as 2026-01-31T09:00:00Z
    #[arg(long, value_name = "TIME", help_heading = "How to play")]
    pub fixed_clock: Option<jiff::Timestamp>,

    /// Treat warnings as errors
    #[arg(long, help_heading = "How to judge")]
    pub strict: bool,
    /// Fail if a scenario was not played to its end
    #[arg(long, help_heading = "How to judge")]
    pub require_complete: bool,

    /// Write one line of JSON per event instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// Arguments of `serve llm`.
#[derive(Debug, Args)]
pub(crate) struct ServeLlmArgs {
    /// Timelines, and folders of .yaml or .yml files
    #[arg(value_name = "PATH", required_unless_present = "scenarios")]
    pub paths: Vec<PathBuf>,
    /// Run this command with the environment variables that clients read, and exit when it exits
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    /// A timeline, as PATH (repeatable)
    #[arg(
        long = "scenario",
        value_name = "PATH",
        help_heading = "Which scenario"
    )]
    pub scenarios: Vec<PathBuf>,
    #[command(flatten)]
    pub which: WhichTimelineArgs,

    #[command(flatten)]
    pub listen: ListenArgs,
    /// Require this API key from clients
    #[arg(long, help_heading = "Where")]
    pub token: Option<String>,

    #[command(flatten)]
    pub how: PlayTimelineArgs,
    /// Number of characters per streaming delta
    #[arg(
        long,
        value_name = "CHARACTERS",
        default_value_t = cuecard_llm::DEFAULT_CHUNK,
        help_heading = "How to play"
    )]
    pub chunk: NonZeroUsize,
    /// The agent whose tools are called, if it can't be detected from the advertised tools: NAME or NAME@VERSION
    #[arg(long, value_name = "AGENT", help_heading = "How to play")]
    pub agent: Option<String>,
    /// An additional profile of an agent's tools (repeatable)
    #[arg(long = "profile", value_name = "FILE", help_heading = "How to play")]
    pub profiles: Vec<PathBuf>,
    /// Also list this model (repeatable)
    #[arg(long = "model", value_name = "NAME", help_heading = "How to play")]
    pub models: Vec<String>,
    /// Timestamp to use in responses, as Unix time in seconds
    #[arg(long, value_name = "SECONDS", help_heading = "How to play")]
    pub fixed_clock: Option<u64>,

    /// Treat warnings about files as errors, and require tool results to match the script
    #[arg(long, help_heading = "How to judge")]
    pub strict: bool,
    /// Also validate argument names and types of scripted calls against the advertised tools
    #[arg(long, help_heading = "How to judge")]
    pub strict_tools_validation: bool,
    /// How to answer a request that the script does not expect
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value_t = MissAnswer::Error,
        help_heading = "How to judge"
    )]
    pub on_miss: MissAnswer,
    /// Keep answering after a failed assert
    #[arg(long, help_heading = "How to judge")]
    pub keep_going: bool,
    /// Fail if turns were not played; implied by COMMAND
    #[arg(long, help_heading = "How to judge")]
    pub require_complete: bool,
    /// Directory in which asserts look for files
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        help_heading = "How to judge"
    )]
    pub workspace: PathBuf,

    /// Print JSON Lines: `ready` first, `verdict` last
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write requests and responses to a file as JSON Lines
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub exchanges: Option<PathBuf>,
    /// Maximum number of exchanges kept
    #[arg(
        long,
        value_name = "N",
        default_value_t = cuecard_llm::DEFAULT_MAX_EXCHANGES,
        help_heading = "Output"
    )]
    pub exchanges_max: usize,
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// Which timelines a stand-in plays.
#[derive(Debug, Args)]
pub(crate) struct WhichTimelineArgs {
    /// Only timelines with this tag (repeatable)
    #[arg(long = "tag", value_name = "TAG", help_heading = "Which scenario")]
    pub tags: Vec<String>,
    /// Play the scenario with this name if a request does not specify one
    #[arg(long, value_name = "NAME", help_heading = "Which scenario")]
    pub scenario_name: Option<String>,
    /// Maximum distance between a prompt and the scenario's prompt, from 0 to 1
    #[arg(
        long,
        value_name = "DISTANCE",
        default_value_t = cuecard_timeline::script::DEFAULT_MAX_DISTANCE,
        help_heading = "Which scenario"
    )]
    pub max_distance: f64,
    /// Accept any prompt for the first turn, with a warning if it differs greatly from the scenario's prompt
    #[arg(long, help_heading = "Which scenario")]
    pub any_prompt: bool,
    #[command(flatten)]
    pub symbols: SymbolArgs,
    /// Skip files with errors instead of refusing to start
    #[arg(long, help_heading = "Which scenario")]
    pub skip_bad: bool,
}

/// How fast timelines are played.
#[derive(Debug, Args)]
pub(crate) struct SpeedArgs {
    /// Multiply scripted delays by this factor (0.5: faster, 0: no delay)
    #[arg(
        long,
        alias = "scenario-speed",
        value_name = "FACTOR",
        allow_negative_numbers = true,
        default_value_t = 1.0,
        help_heading = "How to play"
    )]
    pub speed: f64,
    /// Lower bound for --speed
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 0.0,
        hide_default_value = true,
        help_heading = "How to play"
    )]
    pub min_speed: f64,
}

/// How a stand-in plays timelines.
#[derive(Debug, Args)]
pub(crate) struct PlayTimelineArgs {
    #[command(flatten)]
    pub speed: SpeedArgs,
    /// Faults to inject into the timelines: a file with a list of {match, fault}
    #[arg(long, value_name = "FILE", help_heading = "How to play")]
    pub fault: Option<PathBuf>,
    /// List where faults would be injected, without serving
    #[arg(long, help_heading = "How to play")]
    pub dry_run: bool,
    /// Maximum number of sessions kept
    #[arg(
        long,
        value_name = "N",
        default_value_t = cuecard_timeline::script::DEFAULT_MAX_SESSIONS,
        help_heading = "How to play"
    )]
    pub sessions_max: usize,
}

/// How to answer a request that the script does not expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MissAnswer {
    /// An error with an explanation.
    Error,
    /// An empty message.
    Minimal,
}
