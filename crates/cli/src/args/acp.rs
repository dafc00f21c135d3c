//! The command line of `cuecard acp`.

use std::path::PathBuf;

use clap::Args;

use super::RunsArgs;
use super::serve::{PlayTimelineArgs, WhichTimelineArgs};

/// Arguments of `acp`.
#[derive(Debug, Args)]
pub(crate) struct AcpArgs {
    /// Timelines, and folders of .yaml or .yml files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,

    #[command(flatten)]
    pub which: WhichTimelineArgs,

    #[command(flatten)]
    pub how: PlayTimelineArgs,
    /// How long to wait for the client, in seconds: for an answer, and for a scripted cancellation
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        help_heading = "How to play"
    )]
    pub timeout: Option<f64>,
    /// Let the client run commands with PROGRAM -c COMMAND instead of sh
    #[arg(long, value_name = "PROGRAM", help_heading = "How to play")]
    pub exec_wrapper: Option<String>,

    /// Treat warnings as errors
    #[arg(long, help_heading = "How to judge")]
    pub strict: bool,
    /// Fail if prompts were not played
    #[arg(long, help_heading = "How to judge")]
    pub require_complete: bool,

    /// Write the verdict to a file as JSON; standard output belongs to the protocol
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub runs: RunsArgs,
}
