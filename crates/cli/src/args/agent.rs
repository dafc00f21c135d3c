//! The command line of `cuecard agent`.

use std::path::PathBuf;

use clap::Args;

use super::serve::{TimelineSpeedArgs, WhichTimelineArgs};
use super::{RunsArgs, SafetyArgs};

/// Arguments of `agent`.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Timelines, and directories of .yaml or .yml files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,

    /// The workspace: tools run here, and no path leads out of it [default: .]
    #[arg(long, value_name = "DIR", help_heading = "Playback")]
    pub workspace: Option<PathBuf>,
    /// Answer tool calls with the scripted results: run nothing, change nothing
    #[arg(long, conflicts_with = "checkpoint_cmd", help_heading = "Playback")]
    pub simulate: bool,
    /// Run this command after each tool call and each edit
    ///
    /// It finds them in CUECARD_EVENT, CUECARD_TOOL and CUECARD_INDEX.
    #[arg(long, value_name = "COMMAND", help_heading = "Playback")]
    pub checkpoint_cmd: Option<String>,
    #[command(flatten, next_help_heading = "Playback")]
    pub speed: TimelineSpeedArgs,

    #[command(flatten)]
    pub which: WhichTimelineArgs,

    /// Treat warnings as errors
    #[arg(long, help_heading = "Checks")]
    pub strict: bool,

    /// Write the session as a transcript of claude-code or codex (repeatable)
    #[arg(
        long = "transcript",
        value_name = "AGENT[:FILE]",
        help_heading = "Output"
    )]
    pub transcripts: Vec<String>,
    #[command(flatten)]
    pub runs: RunsArgs,

    #[command(flatten, next_help_heading = "Safety")]
    pub safety: SafetyArgs,
}
