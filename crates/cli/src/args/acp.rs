//! The command line of `cuecard acp`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::RunsArgs;
use super::serve::{PlayTimelineArgs, WhichTimelineArgs};
use super::shared::seconds;

/// Arguments of `acp`.
#[derive(Debug, Args)]
pub(crate) struct AcpArgs {
    /// Timelines, and directories of .yaml or .yml files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// With --client: the command that starts the agent
    #[arg(last = true, value_name = "AGENT", requires = "client")]
    pub command: Vec<OsString>,

    #[command(flatten)]
    pub which: WhichTimelineArgs,

    #[command(flatten)]
    pub how: PlayTimelineArgs,
    /// How long to wait for the other side, in seconds [default: 60]
    ///
    /// This limits the wait for an answer, and for a scripted cancellation.
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        allow_negative_numbers = true,
        help_heading = "Playback"
    )]
    pub timeout: Option<Duration>,
    /// Let the client run commands with PROGRAM -c COMMAND instead of sh
    #[arg(long, value_name = "PROGRAM", help_heading = "Playback")]
    pub exec_wrapper: Option<String>,

    /// Drive an agent: send it the prompts of the timelines, and compare what it does
    #[arg(
        long,
        requires = "command",
        conflicts_with = "exec_wrapper",
        help_heading = "As a client"
    )]
    pub client: bool,
    /// Working directory of the sessions, instead of a new one with the files of `repo`
    #[arg(
        long,
        value_name = "DIR",
        requires = "client",
        help_heading = "As a client"
    )]
    pub cwd: Option<PathBuf>,
    /// Give the sessions the servers of this MCP config, not those of the timelines
    #[arg(
        long,
        value_name = "FILE",
        requires = "client",
        help_heading = "As a client"
    )]
    pub mcp_servers: Option<PathBuf>,
    /// Keep the new working directories
    #[arg(long, requires = "client", help_heading = "As a client")]
    pub keep: bool,

    /// Treat warnings as errors
    #[arg(long, help_heading = "Checks")]
    pub strict: bool,
    /// Fail if a timeline was not played to its end
    #[arg(long, help_heading = "Checks")]
    pub require_complete: bool,

    /// Write a report: junit:FILE
    #[arg(long = "report", value_name = "KIND:FILE", help_heading = "Output")]
    pub report: Option<String>,
    /// Write the verdict as JSON to a file; an earlier result is replaced
    ///
    /// Without --client, standard output belongs to the protocol, so there is no --json.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub runs: RunsArgs,
}
