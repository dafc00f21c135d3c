//! The command line of `cuecard browser`.

use clap::{Args, Subcommand};

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
