//! Raw arguments of `record`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand};

use super::serve::HttpArgs;
use super::shared::seconds;
use super::{AddressArgs, RecordTranscriptArgs, RunsArgs, SecretVariableArgs};

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
    /// Record conversations with a language model as timelines, as a proxy of its API
    Llm(Box<RecordLlmArgs>),
    /// Make a scenario of the transcript of an agent's session
    Transcript(RecordTranscriptArgs),
    /// Record the tool calls that a client makes to MCP servers as a scenario and a cassette
    Mcp(Box<RecordMcpArgs>),
}

/// Arguments of `record llm`.
#[derive(Debug, Args)]
pub(crate) struct RecordLlmArgs {
    /// Run this command with the variables that clients read, and exit with it
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    /// URL to forward requests to, such as https://api.openai.com/v1
    #[arg(long, value_name = "URL", help_heading = "Model")]
    pub upstream: String,
    /// Use the API key from this environment variable instead of the client's
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub upstream_key_env: Option<String>,
    /// Idle timeout in the middle of a response, in seconds [default: 600]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        help_heading = "Model"
    )]
    pub stall: Option<Duration>,

    #[command(flatten)]
    pub address: AddressArgs,
    /// Require this API key from clients; needs --upstream-key-env
    #[arg(long, requires = "upstream_key_env", help_heading = "Network")]
    pub token: Option<String>,

    /// The timeline to write; --force replaces an existing file
    ///
    /// Further conversations go to files with -2, -3 before the extension.
    #[arg(
        short,
        long = "output",
        alias = "out",
        value_name = "FILE",
        default_value = "recorded.yaml",
        help_heading = "Output"
    )]
    pub out: PathBuf,
    /// Overwrite existing timelines
    #[arg(long, help_heading = "Output")]
    pub force: bool,
    /// Redact the value of CUECARD_VAR_NAME everywhere (repeatable)
    ///
    /// It is asked for in a terminal if that is not set.
    #[arg(long = "secret", value_name = "NAME", value_parser = super::secret_name, help_heading = "Output")]
    pub secrets: Vec<String>,
    /// An additional profile of an agent's tools (repeatable)
    #[arg(long = "profile", value_name = "FILE", help_heading = "Output")]
    pub profiles: Vec<PathBuf>,
    /// Print JSON Lines: `ready` first, `recorded` last
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Maximum number of exchanges kept in the run directory
    #[arg(
        long,
        value_name = "N",
        default_value_t = cuecard_llm::DEFAULT_MAX_EXCHANGES,
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub exchanges_max: usize,
    #[command(flatten)]
    pub runs: RunsArgs,
}

/// Arguments of `record mcp`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Servers")]
#[command(group(ArgGroup::new("of_url").arg("http").requires("url")))]
pub(crate) struct RecordMcpArgs {
    /// The command that starts the server; with --config the agent to run
    #[arg(last = true, value_name = "COMMAND", long_help = command_help(), help_heading = None)]
    pub command: Vec<OsString>,

    /// Record all servers of this config, and run the agent with them
    #[arg(long, value_name = "FILE", requires = "command")]
    pub config: Option<PathBuf>,
    /// URL of the server (Streamable HTTP), in place of a command
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "command"])]
    pub url: Option<String>,
    /// Header of each request to --url, such as 'Authorization: Bearer ${TOKEN}' (repeatable)
    #[arg(long = "header", value_name = "HEADER", requires = "url")]
    pub headers: Vec<String>,
    /// Name of the server in the scenario (default: as it calls itself)
    #[arg(long = "server", value_name = "NAME", conflicts_with = "config")]
    pub server_name: Option<String>,

    #[command(flatten)]
    pub http: HttpArgs,

    /// The scenario to write; --force replaces an existing file
    ///
    /// The cassette goes next to it: notes.cassette.jsonl for notes.json.
    #[arg(
        short,
        long = "output",
        alias = "out",
        value_name = "FILE",
        default_value = "recorded.json",
        help_heading = "Output"
    )]
    pub out: PathBuf,
    /// Overwrite an existing recording
    #[arg(long, help_heading = "Output")]
    pub force: bool,
    #[command(flatten, next_help_heading = "Output")]
    pub secret: SecretVariableArgs,
    /// Print JSON Lines: `ready` first, `recorded` last
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// The proxy of one server of a session, as the agent starts it
    #[arg(long, hide = true, requires = "server_name", help_heading = None)]
    pub session: Option<PathBuf>,
}

/// The help of the command: the agents that can be run.
fn command_help() -> String {
    let agents: Vec<_> = cuecard_runner::timeline::handed_agent_names().collect();
    format!(
        "The command that starts the server; with --config the agent to run\n\nThese agents are given the servers by themselves: {}. To another one, name the file with `{{config}}` in an argument.",
        agents.join(", ")
    )
}
