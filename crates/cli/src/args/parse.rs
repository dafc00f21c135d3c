//! The command line of `cuecard parse`, and what all commands with a browser share.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use cuecard_browser_steps::model::TranslatorChoice;

use super::{Choices, ModelArgs, RunsArgs, SafetyArgs, VariableArgs, one_of};

/// Arguments of `parse`.
#[derive(Debug, Args)]
pub(crate) struct ParseArgs {
    /// The browser script, or `-` for stdin
    pub file: PathBuf,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub model: ModelArgs,

    #[command(flatten)]
    pub variables: VariableArgs,

    /// Write the steps to this file instead of stdout; an existing file is replaced
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Print the result as JSON to stdout, even with --output
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Include the duration in the result
    #[arg(long, help_heading = "Output")]
    pub timings: bool,
    /// Store the full page with each step
    #[arg(long, help_heading = "Output")]
    pub full_dom: bool,
    /// Print more detail in errors, such as every model reply
    #[arg(short, long, action = ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    #[command(flatten)]
    pub runs: RunsArgs,

    #[command(flatten)]
    pub browser: BrowserFlags,
    #[command(flatten)]
    pub safety: SafetyArgs,
}

/// How sentences are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parsing")]
pub(crate) struct ReadingArgs {
    /// How sentences are parsed (overrides the script's `translator`)
    #[arg(long, value_parser = one_of(TRANSLATORS), value_name = "WHO")]
    pub translator: Option<TranslatorChoice>,
    /// Show the interpretation of each sentence and ask for confirmation
    #[arg(long)]
    pub interactive: bool,
}

/// The values of `--translator`.
const TRANSLATORS: Choices<TranslatorChoice> = &[
    ("rules", TranslatorChoice::Rules, "Rules only"),
    ("model", TranslatorChoice::Model, "Model only"),
    (
        "rules+model",
        TranslatorChoice::RulesThenModel,
        "Rules first, then a model for what the rules can't parse",
    ),
];

/// How a browser is run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Browser")]
pub(crate) struct BrowserFlags {
    /// Path of the browser [default: detected]
    #[arg(long, value_name = "PATH", conflicts_with = "cdp")]
    pub browser: Option<PathBuf>,
    /// Connect to a running browser at this DevTools URL; the browser and its tabs stay open
    #[arg(long, value_name = "URL")]
    pub cdp: Option<String>,
    /// Run the browser with a visible window
    #[arg(long, conflicts_with = "cdp")]
    pub headed: bool,
    /// Delay each browser operation by this many milliseconds
    #[arg(long, value_name = "MS")]
    pub slow_mo: Option<u64>,
    /// Record a video of each tab into the run directory
    #[arg(long)]
    pub video: bool,
    /// Write Playwright's own trace into the run directory
    #[arg(long)]
    pub playwright_trace: bool,
    /// Only consider the part of the page that matches this CSS selector
    #[arg(long, value_name = "CSS")]
    pub page_root: Option<String>,
}
