//! The command line of `cuecard browser`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{BrowserFlags, ConnectArgs, RunsArgs, SafetyArgs, VariableArgs};

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
    Install {
        /// Print what was done as JSON to stdout
        #[arg(long)]
        json: bool,
    },
}

/// What becomes of steps whose page has changed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Healing")]
pub(crate) struct HealArgs {
    /// What to do if an element has changed but can still be identified with certainty
    #[arg(long, value_enum, value_name = "MODE", default_value_t = HealMode::Propose)]
    pub heal: HealMode,
    /// Accept the new name of a step's element that a run proposed (repeatable)
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
    /// The steps; or the cassette of an MCP server, or the scenario that it was recorded with
    pub file: PathBuf,
    /// For a cassette: the command that starts the server, instead of its entry in a config
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Also perform actions with side effects, but for the last step
    #[arg(long)]
    pub act: bool,
    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,

    #[command(flatten)]
    pub variables: VariableArgs,

    /// Compare with this server, if the cassette has several
    #[arg(long = "server", value_name = "NAME", help_heading = "Cassettes")]
    pub server_name: Option<String>,
    /// URL of the server (Streamable HTTP), instead of its entry in a config
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "command",
        help_heading = "Cassettes"
    )]
    pub url: Option<String>,
    #[command(flatten, next_help_heading = "Cassettes")]
    pub servers: ConnectArgs,
    /// Also call tools that don't say that they only read
    #[arg(long, help_heading = "Cassettes")]
    pub writes: bool,
    /// A part of results that may differ, such as '$.created_at' (repeatable)
    #[arg(long, value_name = "JSONPATH", help_heading = "Cassettes")]
    pub ignore: Vec<String>,
    /// Write what the server answers now into the cassette
    #[arg(long, help_heading = "Cassettes")]
    pub update: bool,

    // A run is only kept for --video and --playwright-trace.
    #[command(flatten)]
    pub runs: RunsArgs,
    /// Print the verdicts as JSON to stdout
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    #[command(flatten)]
    pub browser: BrowserFlags,
    #[command(flatten)]
    pub heal: HealArgs,

    #[command(flatten)]
    pub safety: SafetyArgs,
}
