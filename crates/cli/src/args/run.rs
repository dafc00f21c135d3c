//! The command line of `cuecard run`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::serve::{SpeedArgs, WhichTimelineArgs};
use super::{RunsArgs, SafetyArgs};

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Timelines, and folders of .yaml or .yml files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// The program under test with its arguments, instead of --program
    #[arg(last = true, value_name = "PROGRAM", conflicts_with = "program")]
    pub command: Vec<OsString>,

    #[command(flatten)]
    pub which: WhichTimelineArgs,

    /// What composes the run (default: real-agent if --agent is given or `server.mode` is mock or real, else mock-agent)
    #[arg(long, value_enum, value_name = "MODE", help_heading = "How to play")]
    pub mode: Option<Mode>,
    #[command(flatten, next_help_heading = "How to play")]
    pub agent: RealAgentArgs,
    #[command(flatten)]
    pub speed: SpeedArgs,
    /// Run this command after each tool call and each edit of the mock agent
    #[arg(long, value_name = "COMMAND", help_heading = "How to play")]
    pub checkpoint_cmd: Option<String>,
    /// How long a run may take, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        default_value_t = 300.0,
        help_heading = "How to play"
    )]
    pub timeout: f64,
    /// How long the program may take to end once its terminal is gone, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        default_value_t = 5.0,
        help_heading = "How to play"
    )]
    pub grace: f64,
    /// Number of runs at once
    #[arg(
        short,
        long,
        value_name = "N",
        default_value = "1",
        help_heading = "How to play"
    )]
    pub jobs: NonZeroUsize,
    /// Show the running program beside the timeline; q ends the run
    #[arg(long, conflicts_with_all = ["json", "jobs"], help_heading = "Output")]
    pub live: bool,
    /// Show the runs on a page at this port while they go on (0: any free port)
    #[arg(long, value_name = "PORT", help_heading = "Output")]
    pub serve_rest: Option<u16>,
    /// Keep the workspaces
    #[arg(long, help_heading = "How to play")]
    pub keep: bool,

    /// Folder of expected screens (default: __goldens__ beside each scenario)
    #[arg(long, value_name = "DIR", help_heading = "How to judge")]
    pub goldens: Option<PathBuf>,
    /// Write expected screens that are missing or differ
    #[arg(long, help_heading = "How to judge")]
    pub update_goldens: bool,
    /// Treat warnings as errors
    #[arg(long, help_heading = "How to judge")]
    pub strict: bool,

    #[command(flatten, next_help_heading = "Safety")]
    pub safety: SafetyArgs,

    /// Print the result as JSON to stdout
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write a report: junit:FILE
    #[arg(long, value_name = "KIND:FILE", help_heading = "Output")]
    pub report: Option<String>,
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// Which agent plays a timeline.
#[derive(Debug, Args)]
pub(crate) struct RealAgentArgs {
    /// The real agent to run: its name, or a preset of your own as a .toml file
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// An additional profile, which says how an agent calls the timeline's tools (repeatable)
    #[arg(long = "profile", value_name = "FILE")]
    pub profiles: Vec<PathBuf>,
    /// The program under test (default: the agent of --agent, else the mock agent, which plays the timeline's agent)
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<OsString>,
}

/// Arguments of `audit`.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Number of runs of each timeline
    #[arg(
        long = "runs",
        value_name = "N",
        default_value_t = 10,
        help_heading = "How to judge"
    )]
    pub n_runs: usize,
    /// What the changes follow from
    #[arg(
        long,
        value_name = "SEED",
        default_value_t = 1,
        help_heading = "How to judge"
    )]
    pub seed: u64,
}

/// What composes a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// The mock agent plays the timeline.
    MockAgent,
    /// A real agent does, with a mock of its model.
    RealAgent,
    /// An agent service tells it; nothing is done
    Simulate,
}

/// Arguments of `parity`.
#[derive(Debug, Args)]
pub(crate) struct ParityArgs {
    /// Timelines, and folders of .yaml or .yml files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub which: WhichTimelineArgs,
    #[command(flatten, next_help_heading = "Safety")]
    pub safety: SafetyArgs,
    /// Print the result as JSON to stdout
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The run: last, its id, or its folder
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Print the screen as it was after so many seconds, instead of showing the run
    #[arg(long, value_name = "SECONDS")]
    pub at: Option<f64>,
    #[command(flatten)]
    pub runs: RunsArgs,
}
