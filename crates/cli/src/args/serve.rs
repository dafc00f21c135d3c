//! The command line of `cuecard serve`.

use std::ffi::OsString;
use std::net::IpAddr;
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
    /// The API of a language model: OpenAI's, Anthropic's and Google's, answered by timelines
    #[command(after_long_help = format!("{}\n{}", exit_code::HELP, exit_code::HELP_ON_COMMAND))]
    Llm(Box<ServeLlmArgs>),
}

/// Arguments of `serve llm`.
#[derive(Debug, Args)]
pub(crate) struct ServeLlmArgs {
    /// Timelines, and folders with files that end in .yaml or .yml
    #[arg(value_name = "PATH", required_unless_present = "scenarios")]
    pub paths: Vec<PathBuf>,
    /// Run this command against it, with the variables set that clients read, and end with it
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    /// A timeline, as PATH (repeatable)
    #[arg(
        long = "scenario",
        value_name = "PATH",
        help_heading = "Which scenario"
    )]
    pub scenarios: Vec<PathBuf>,
    /// Play the scenario of this name, if a request names none
    #[arg(long, value_name = "NAME", help_heading = "Which scenario")]
    pub scenario_name: Option<String>,
    /// How far a prompt may be from the scenario's own, from 0 to 1
    #[arg(
        long,
        value_name = "DISTANCE",
        default_value_t = cuecard_timeline::script::DEFAULT_MAX_DISTANCE,
        help_heading = "Which scenario"
    )]
    pub max_distance: f64,
    /// Take any prompt for the first turn, with a warning if it is far from the scenario's own
    #[arg(long, help_heading = "Which scenario")]
    pub any_prompt: bool,
    #[command(flatten)]
    pub symbols: SymbolArgs,
    /// Leave out files that have errors, instead of not starting
    #[arg(long, help_heading = "Which scenario")]
    pub skip_bad: bool,

    /// The port (0: any free one)
    #[arg(long, default_value_t = 0, help_heading = "Where")]
    pub port: u16,
    /// The address; another than this machine's own needs --token
    #[arg(
        long,
        default_value = "127.0.0.1",
        value_name = "ADDRESS",
        help_heading = "Where"
    )]
    pub bind: IpAddr,
    /// Ask clients for this API key
    #[arg(long, help_heading = "Where")]
    pub token: Option<String>,

    /// Multiply scripted delays (0.5 is faster, 0 doesn't wait)
    #[arg(
        long,
        alias = "scenario-speed",
        value_name = "FACTOR",
        allow_negative_numbers = true,
        default_value_t = 1.0,
        help_heading = "How to play"
    )]
    pub speed: f64,
    /// The least that --speed may be
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 0.0,
        hide_default_value = true,
        help_heading = "How to play"
    )]
    pub min_speed: f64,
    /// How many characters of a text are in one delta of a stream
    #[arg(
        long,
        value_name = "CHARACTERS",
        default_value_t = cuecard_llm::DEFAULT_CHUNK,
        help_heading = "How to play"
    )]
    pub chunk: NonZeroUsize,
    /// The agent whose tools are called, if the advertised tools don't tell: NAME or NAME@VERSION
    #[arg(long, value_name = "AGENT", help_heading = "How to play")]
    pub agent: Option<String>,
    /// A profile of an agent's tools, beside those that are built in (repeatable)
    #[arg(long = "profile", value_name = "FILE", help_heading = "How to play")]
    pub profiles: Vec<PathBuf>,
    /// List this model too (repeatable)
    #[arg(long = "model", value_name = "NAME", help_heading = "How to play")]
    pub models: Vec<String>,
    /// Faults that are laid over the timelines: a file with a list of {match, fault}
    #[arg(long, value_name = "FILE", help_heading = "How to play")]
    pub fault: Option<PathBuf>,
    /// List what faults would hit, and don't serve
    #[arg(long, help_heading = "How to play")]
    pub dry_run: bool,
    /// The time that answers carry, in seconds since 1970
    #[arg(long, value_name = "SECONDS", help_heading = "How to play")]
    pub fixed_clock: Option<u64>,
    /// The most sessions that are kept
    #[arg(
        long,
        value_name = "N",
        default_value_t = cuecard_timeline::script::DEFAULT_MAX_SESSIONS,
        help_heading = "How to play"
    )]
    pub sessions_max: usize,

    /// Treat warnings about files as errors, and ask for the scripted results of tools
    #[arg(long, help_heading = "How to judge")]
    pub strict: bool,
    /// Scripted calls must fit the advertised tools in types and names of arguments too
    #[arg(long, help_heading = "How to judge")]
    pub strict_tools_validation: bool,
    /// What a request gets that the script does not expect
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value_t = MissAnswer::Error,
        help_heading = "How to judge"
    )]
    pub on_miss: MissAnswer,
    /// Answer on after a failed assert
    #[arg(long, help_heading = "How to judge")]
    pub keep_going: bool,
    /// Turns that nobody asked for are a failure; always so with COMMAND
    #[arg(long, help_heading = "How to judge")]
    pub require_complete: bool,
    /// Where asserts look for files
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
    /// Write requests and what they got into a file, as JSON Lines
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub exchanges: Option<PathBuf>,
    /// The most exchanges that are kept
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

/// What a request gets that the script does not expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MissAnswer {
    /// An error that explains it.
    Error,
    /// An empty message.
    Minimal,
}
