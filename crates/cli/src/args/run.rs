//! The command line of `cuecard run`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use cuecard_runner::timeline::RunMode;

use super::serve::{TimelineSpeedArgs, WhichTimelineArgs};
use super::shared::{seconds, wait};
use super::{Choices, RunsArgs, SafetyArgs, one_of};

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub play: PlayRunArgs,

    /// Show the running program next to the timeline; q ends the run
    #[arg(long, conflicts_with_all = ["json", "jobs"], help_heading = "Screens")]
    pub live: bool,
    /// Show the runs on a page at this port (0: any free port)
    #[arg(long, value_name = "PORT", help_heading = "Screens")]
    pub serve_rest: Option<u16>,
    /// Write expected screens that are missing or differ
    #[arg(long, help_heading = "Screens")]
    pub update_goldens: bool,

    /// Write a report: junit:FILE; report.html is always in the run directory
    #[arg(long, value_name = "KIND:FILE", help_heading = "Output")]
    pub report: Option<String>,
}

/// How timelines are run, once or several times.
#[derive(Debug, Args)]
pub(crate) struct PlayRunArgs {
    /// Timelines, and directories of .yaml or .yml files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// The program under test with its arguments, instead of --program
    #[arg(last = true, value_name = "PROGRAM", conflicts_with = "program")]
    pub command: Vec<OsString>,

    /// Who plays the agent: mock-agent, real-agent or simulate
    ///
    /// real-agent is a real agent with a mock of its model; simulate runs no tool and reports the events only. Without this option: real-agent if --agent is given or `server.mode` is mock or real,
    /// else mock-agent.
    #[arg(
        long,
        value_parser = one_of(MODES),
        value_name = "MODE",
        hide_possible_values = true,
        help_heading = "Agent"
    )]
    pub mode: Option<RunMode>,
    #[command(flatten, next_help_heading = "Agent")]
    pub agent: RealAgentArgs,
    /// Run this command after each tool call and edit of the mock agent
    #[arg(long, value_name = "COMMAND", help_heading = "Agent")]
    pub checkpoint_cmd: Option<String>,

    /// Keep the workspaces
    #[arg(long, help_heading = "Screens")]
    pub keep: bool,
    /// Directory of expected screens [default: __goldens__ next to each timeline]
    #[arg(long, value_name = "DIR", help_heading = "Screens")]
    pub goldens: Option<PathBuf>,
    /// Treat warnings as errors
    #[arg(long, help_heading = "Screens")]
    pub strict: bool,

    #[command(flatten)]
    pub which: WhichTimelineArgs,

    /// How long a run may take, in seconds
    #[arg(
        long,
        alias = "timeout",
        value_name = "SECONDS",
        value_parser = seconds,
        allow_negative_numbers = true,
        default_value = "300",
        help_heading = "Timing"
    )]
    pub run_timeout: Duration,
    /// How long the program may take to end, in seconds
    ///
    /// The time begins when its terminal is gone.
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = wait,
        allow_negative_numbers = true,
        default_value = "5",
        help_heading = "Timing"
    )]
    pub grace: Duration,
    /// Number of runs at the same time
    #[arg(
        short,
        long,
        value_name = "N",
        default_value = "1",
        help_heading = "Timing"
    )]
    pub jobs: NonZeroUsize,
    #[command(flatten, next_help_heading = "Timing")]
    pub speed: TimelineSpeedArgs,

    /// Print the result as JSON to stdout
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub runs: RunsArgs,

    #[command(flatten, next_help_heading = "Safety")]
    pub safety: SafetyArgs,
}

/// Which agent plays a timeline.
#[derive(Debug, Args)]
pub(crate) struct RealAgentArgs {
    /// The real agent to run: a preset, or your own as a .toml file
    #[arg(long, value_name = "NAME", long_help = agent_help())]
    pub agent: Option<String>,
    /// An additional profile of an agent's tools (repeatable)
    #[arg(long = "profile", value_name = "FILE")]
    pub profiles: Vec<PathBuf>,
    /// The program under test [default: the agent, or the mock agent]
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<OsString>,
}

/// Arguments of `audit`.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Number of runs of each timeline
    #[arg(long = "runs", value_name = "N", default_value_t = 10)]
    pub n_runs: usize,
    /// Seed for the variations of the runs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub run: PlayRunArgs,
}

/// The values of `--mode`.
const MODES: Choices<RunMode> = &[
    (
        "mock-agent",
        RunMode::MockAgent,
        "The mock agent plays the timeline",
    ),
    (
        "real-agent",
        RunMode::RealAgent,
        "A real agent does, with a mock of its model",
    ),
    (
        "simulate",
        RunMode::Simulate,
        "Nobody: the events are reported, and no tool runs",
    ),
];

/// Arguments of `parity`.
#[derive(Debug, Args)]
pub(crate) struct ParityArgs {
    /// Timelines, and directories of .yaml or .yml files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub which: WhichTimelineArgs,
    /// Print the result as JSON to stdout
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The run: last, its id, its directory, or a file with a trace or a transcript
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Print the screen as it was after this many seconds, instead of showing the run
    #[arg(long, value_name = "SECONDS", value_parser = wait)]
    pub at: Option<Duration>,
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// The help of `--agent`: the presets that are built in.
fn agent_help() -> String {
    let presets: Vec<_> = cuecard_runner::timeline::agent_names().collect();
    format!(
        "The real agent to run: a preset, or your own as a .toml file\n\nThe presets are {}.",
        presets.join(", ")
    )
}
