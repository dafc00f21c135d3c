//! The command line of `cuecard browser`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{BrowserFlags, RunsArgs, SafetyArgs, VariableArgs};
use crate::exit_code;

/// Arguments of `browser`.
#[derive(Debug, Args)]
pub(crate) struct BrowserArgs {
    /// What to do
    #[command(subcommand)]
    pub what: BrowserCommand,
}

/// What can be done about browsers.
#[derive(Debug, Subcommand)]
pub(crate) enum BrowserCommand {
    /// Install Playwright's driver into the data directory, and look for a browser
    #[command(after_long_help = exit_code::HELP)]
    Install {
        /// Print what was done as JSON to stdout
        #[arg(long)]
        json: bool,
    },
}

/// What becomes of steps whose page has changed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Browser steps")]
pub(crate) struct HealArgs {
    /// What to do if an element has changed but can still be identified with certainty
    #[arg(long, value_enum, value_name = "MODE", default_value_t = HealMode::Propose)]
    pub heal: HealMode,
    /// Accept the new name of a step's element that a run proposed; may be repeated
    #[arg(long, value_name = "STEP_ID")]
    pub accept_rename: Vec<String>,
    /// Play the steps even if some actions could not be parsed
    #[arg(long)]
    pub allow_partial: bool,
}

/// What becomes of an element that is not as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HealMode {
    /// Fail the step.
    Off,
    /// Use the element, and write a patch next to the steps file.
    Propose,
    /// Use the element, and apply the patch to the steps file if the run passes.
    Accept,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The steps
    pub file: PathBuf,

    #[command(flatten)]
    pub variables: VariableArgs,

    /// Also perform actions with side effects if later steps depend on them
    #[arg(long)]
    pub act: bool,

    #[command(flatten)]
    pub heal: HealArgs,

    #[command(flatten)]
    pub browser: BrowserFlags,

    /// Treat warnings about the file as errors
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
    // A run is only kept for --video and --playwright-trace.
    #[command(flatten)]
    pub runs: RunsArgs,
    /// Print the verdicts as JSON to stdout
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    #[command(flatten)]
    pub safety: SafetyArgs,
}
