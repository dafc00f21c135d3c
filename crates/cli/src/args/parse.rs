//! The command line of `cuecard parse`, and what all commands with a browser share.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

use super::{ModelArgs, RunsArgs, SafetyArgs, VariableArgs};

/// Arguments of `parse`.
#[derive(Debug, Args)]
pub(crate) struct ParseArgs {
    /// The browser scenario, or `-` for standard input
    pub file: PathBuf,

    #[command(flatten)]
    pub variables: VariableArgs,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub model: ModelArgs,

    #[command(flatten)]
    pub browser: BrowserFlags,

    /// Write the steps into this file instead of printing them
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Print the result on standard output, also with --output; errors as JSON, too
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Say in the result how long it took
    #[arg(long, help_heading = "Output")]
    pub timings: bool,
    /// Keep the whole page with each step
    #[arg(long, help_heading = "Output")]
    pub full_dom: bool,
    /// Say more in errors, such as every reply of a model
    #[arg(short, long, action = ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    #[command(flatten)]
    pub runs: RunsArgs,

    #[command(flatten)]
    pub safety: SafetyArgs,
}

/// How sentences are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// What reads the sentences, in place of the scenario's `translator`
    #[arg(long, value_enum, value_name = "WHO")]
    pub translator: Option<TranslatorArg>,
    /// Show what each sentence means before it is done, and ask
    #[arg(long)]
    pub interactive: bool,
}

/// `--translator`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TranslatorArg {
    /// The rules alone.
    Rules,
    /// A model alone.
    Model,
    /// The rules, and a model for what they can't read.
    #[value(name = "rules+model")]
    RulesThenModel,
}

/// How a browser is run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Browser")]
pub(crate) struct BrowserFlags {
    /// The browser (default: one that is found on this machine)
    #[arg(long, value_name = "PATH", conflicts_with = "cdp")]
    pub browser: Option<PathBuf>,
    /// Use a browser that runs already, at this address of its DevTools; it stays open, with all of its tabs
    #[arg(long, value_name = "URL")]
    pub cdp: Option<String>,
    /// Show the browser's window
    #[arg(long, conflicts_with = "cdp")]
    pub headed: bool,
    /// Wait so long before each call to the browser, in milliseconds, to watch
    #[arg(long, value_name = "MS")]
    pub slow_mo: Option<u64>,
    /// Record a video of each tab into the run directory
    #[arg(long)]
    pub video: bool,
    /// Write Playwright's own trace into the run directory
    #[arg(long)]
    pub playwright_trace: bool,
    /// Look at this part of the page only, a CSS selector
    #[arg(long, value_name = "CSS")]
    pub page_root: Option<String>,
}
