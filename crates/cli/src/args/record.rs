//! Raw arguments of `record`.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{RecordTranscriptArgs, RunsArgs};
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
    /// Record conversations with a language model as timelines, proxying to an OpenAI, Anthropic, Google or compatible API
    #[command(after_long_help = format!("{RECORD_LLM_EXAMPLES}\n\n{}\n{}", exit_code::HELP, exit_code::HELP_ON_COMMAND))]
    Llm(Box<RecordLlmArgs>),
    /// Make a scenario of the transcript of an agent's session
    #[command(after_long_help = format!("{RECORD_TRANSCRIPT_EXAMPLES}\n\n{}", exit_code::HELP))]
    Transcript(RecordTranscriptArgs),
    /// Record the tool calls that a client makes to MCP servers as a scenario and a cassette
    #[command(after_long_help = format!("{RECORD_MCP_EXAMPLES}\n\n{}\n{}", exit_code::HELP, exit_code::HELP_ON_COMMAND))]
    Mcp(Box<RecordMcpArgs>),
}

const RECORD_TRANSCRIPT_EXAMPLES: &str = "\
Examples:
  cuecard record transcript ~/.claude/projects/-home-me-shop/5f0c….jsonl -o release.json
  codex exec --json 'Tidy the notes' > session.jsonl; cuecard record transcript session.jsonl";

const RECORD_LLM_EXAMPLES: &str = "\
Examples:
  cuecard record llm --upstream https://api.anthropic.com -o fix-test.yaml -- claude -p 'Fix the test'
  cuecard record llm --upstream http://localhost:11434 --port 8099
  cuecard serve llm fix-test.yaml -- claude -p 'Fix the test'      replay it without the model";

/// Arguments of `record llm`.
#[derive(Debug, Args)]
pub(crate) struct RecordLlmArgs {
    /// Run this command with the environment variables that clients read, and exit when it exits
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    /// URL to forward requests to, such as https://api.openai.com/v1
    #[arg(long, value_name = "URL", help_heading = "The model")]
    pub upstream: String,
    /// Use the API key from this environment variable instead of the client's
    #[arg(long, value_name = "NAME", help_heading = "The model")]
    pub upstream_key_env: Option<String>,
    /// Idle timeout in the middle of a response, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = cuecard_llm::record::DEFAULT_STALL.as_secs_f64(),
        help_heading = "The model"
    )]
    pub stall: f64,

    /// Port to listen on (0: any free port)
    #[arg(long, default_value_t = 0, help_heading = "Where")]
    pub port: u16,
    /// Address to listen on; a non-loopback address requires --token
    #[arg(
        long,
        default_value = "127.0.0.1",
        value_name = "ADDRESS",
        help_heading = "Where"
    )]
    pub bind: IpAddr,
    /// Require this API key from clients; the upstream key must then come from --upstream-key-env
    #[arg(long, requires = "upstream_key_env", help_heading = "Where")]
    pub token: Option<String>,

    /// The scenario file to write; further conversations go to files with -2, -3 before the extension
    #[arg(
        short,
        long = "output",
        alias = "out",
        value_name = "FILE",
        default_value = "recorded.yaml",
        help_heading = "Output"
    )]
    pub out: PathBuf,
    /// Overwrite existing scenarios
    #[arg(long, help_heading = "Output")]
    pub force: bool,
    /// Redact the value of CUECARD_VAR_NAME from all output (repeatable)
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
        help_heading = "Output"
    )]
    pub exchanges_max: usize,
    #[command(flatten)]
    pub runs: RunsArgs,
}

const RECORD_MCP_EXAMPLES: &str = "\
Examples:
  cuecard record mcp --config .mcp.json -o tidy.json -- claude -p 'Tidy the notes'
  cuecard record mcp -o tidy.json -- npx -y @modelcontextprotocol/server-memory
  cuecard record mcp --url https://tickets.example/mcp --http -o tickets.json
  cuecard play tidy.json                           the same calls without the agent";

/// Arguments of `record mcp`.
#[derive(Debug, Args)]
pub(crate) struct RecordMcpArgs {
    /// The command that starts the server; with --config the agent to run
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    /// Record all servers of this config, and run the agent with them
    #[arg(
        long,
        value_name = "FILE",
        requires = "command",
        help_heading = "Servers"
    )]
    pub config: Option<PathBuf>,
    /// URL of the server (Streamable HTTP), in place of a command
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "command"], help_heading = "Servers")]
    pub url: Option<String>,
    /// Header of each request to --url, such as 'Authorization: Bearer ${TOKEN}' (repeatable)
    #[arg(
        long = "header",
        value_name = "HEADER",
        requires = "url",
        help_heading = "Servers"
    )]
    pub headers: Vec<String>,
    /// Name of the server in the scenario (default: as it calls itself)
    #[arg(
        long = "server",
        value_name = "NAME",
        conflicts_with = "config",
        help_heading = "Servers"
    )]
    pub server_name: Option<String>,

    /// Listen for clients over HTTP instead of stdio
    #[arg(long, requires = "url", help_heading = "Where")]
    pub http: bool,
    /// Port to listen on (0: any free port)
    #[arg(long, requires = "http", default_value_t = 0, help_heading = "Where")]
    pub port: u16,
    /// Address to listen on; a non-loopback address requires --token
    #[arg(
        long,
        requires = "http",
        default_value = "127.0.0.1",
        value_name = "ADDRESS",
        help_heading = "Where"
    )]
    pub bind: IpAddr,
    /// Require this bearer token from clients
    #[arg(long, requires = "http", help_heading = "Where")]
    pub token: Option<String>,

    /// The scenario to write, such as notes.json; the cassette goes beside it, as notes.cassette.jsonl
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
    /// Redact the value of CUECARD_VAR_NAME from all output (repeatable)
    #[arg(long = "secret", value_name = "NAME", value_parser = super::secret_name, help_heading = "Output")]
    pub secrets: Vec<String>,
    /// Print JSON Lines: `ready` first, `recorded` last
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// The proxy of one server of a session, as the agent starts it
    #[arg(long, hide = true, requires = "server_name")]
    pub session: Option<PathBuf>,
}
