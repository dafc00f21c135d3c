//! Raw arguments of `record`.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::RunsArgs;
use crate::exit_code;

/// Arguments of `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// What to record
    #[command(subcommand)]
    pub what: RecordedSource,
}

/// What can be recorded.
#[derive(Debug, Subcommand)]
pub(crate) enum RecordedSource {
    /// Conversations with a language model, passed on to the API of OpenAI, Anthropic or Google or one like them, as timelines
    #[command(after_long_help = format!("{RECORD_LLM_EXAMPLES}\n\n{}\n{}", exit_code::HELP, exit_code::HELP_ON_COMMAND))]
    Llm(Box<RecordLlmArgs>),
}

const RECORD_LLM_EXAMPLES: &str = "\
Examples:
  cuecard record llm --upstream https://api.anthropic.com -o fix-test.yaml -- claude -p 'Fix the test'
  cuecard record llm --upstream http://localhost:11434 --port 8099
  cuecard serve llm fix-test.yaml -- claude -p 'Fix the test'      the same again, without the model";

/// Arguments of `record llm`.
#[derive(Debug, Args)]
pub(crate) struct RecordLlmArgs {
    /// Run this command against it, with the variables set that clients read, and end with it
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    /// Where requests are passed on to, such as https://api.openai.com/v1
    #[arg(long, value_name = "URL", help_heading = "The model")]
    pub upstream: String,
    /// Send the API key in this variable, in place of the client's
    #[arg(long, value_name = "NAME", help_heading = "The model")]
    pub upstream_key_env: Option<String>,
    /// The longest that the model may say nothing in the middle of an answer, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = cuecard_llm::record::DEFAULT_STALL.as_secs_f64(),
        help_heading = "The model"
    )]
    pub stall: f64,

    /// The port (0: any free one)
    #[arg(long, default_value_t = 0, help_heading = "Where")]
    pub port: u16,
    /// The address; another than this machine's own needs --token
    #[arg(
        long,
        default_value = "127.0.0.1",
        value_name = "ADDRESS",
        help_heading = "Where"
    )]
    pub bind: IpAddr,
    /// Ask clients for this API key; the model's needs --upstream-key-env then
    #[arg(long, requires = "upstream_key_env", help_heading = "Where")]
    pub token: Option<String>,

    /// The scenario to write; further conversations go into files with -2, -3 before the ending
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "recorded.yaml",
        help_heading = "Output"
    )]
    pub out: PathBuf,
    /// Replace scenarios that exist
    #[arg(long, help_heading = "Output")]
    pub force: bool,
    /// Keep a value out of everything that is written; it comes from CUECARD_VAR_NAME (repeatable)
    #[arg(long = "secret", value_name = "NAME", help_heading = "Output")]
    pub secrets: Vec<String>,
    /// A profile of an agent's tools, beside those that are built in (repeatable)
    #[arg(long = "profile", value_name = "FILE", help_heading = "Output")]
    pub profiles: Vec<PathBuf>,
    /// Print JSON Lines: `ready` first, `recorded` last
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// The most exchanges that are kept in the run's folder
    #[arg(
        long,
        value_name = "N",
        default_value_t = cuecard_llm::DEFAULT_MAX_EXCHANGES,
        help_heading = "Output"
    )]
    pub exchanges_max: usize,
    #[command(flatten)]
    pub runs: RunsArgs,
}
