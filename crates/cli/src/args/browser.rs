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
    /// Put Playwright's driver into the data folder, and look for a browser
    #[command(after_long_help = exit_code::HELP)]
    Install {
        /// Print what was done as one JSON document on standard output
        #[arg(long)]
        json: bool,
    },
}

/// What becomes of steps whose page has changed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Browser steps")]
pub(crate) struct HealArgs {
    /// What becomes of an element that is not as it was, if there is no doubt which it is
    #[arg(long, value_enum, value_name = "MODE", default_value_t = HealMode::Propose)]
    pub heal: HealMode,
    /// Play the steps of a parse that did not succeed with every action
    #[arg(long)]
    pub allow_partial: bool,
}

/// What becomes of an element that is not as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HealMode {
    /// It is a failure.
    Off,
    /// It is used, and a patch for the steps is written beside them.
    Propose,
    /// It is used, and the steps take in the patch after a run that passed.
    Accept,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The steps
    pub file: PathBuf,

    #[command(flatten)]
    pub variables: VariableArgs,

    /// Do also what could change something, where later steps need it
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
    /// Print the verdicts as one JSON document on standard output
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    #[command(flatten)]
    pub safety: SafetyArgs,
}
