//! Raw arguments: what may be typed, and what it says in `--help`, the man page and completions.

mod acp;
mod agent;
mod browser;
mod help;
mod infer;
mod mcp;
mod mistakes;
mod model;
mod overview;
mod parse;
mod profile;
mod record;
mod resume;
mod run;
mod safety;
mod serve;
mod shared;
mod test;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use cuecard_browser_steps::format::export::ToolCallServer;
use cuecard_report::play_json::IncludeResults;
use cuecard_timeline::script::PlayerKind;

pub(crate) use acp::AcpArgs;
pub(crate) use agent::AgentArgs;
pub(crate) use browser::{BrowserArgs, BrowserCommand, HealArgs, HealMode, VerifyArgs};
pub(crate) use help::command;
pub(crate) use infer::{InferArgs, InferredScenarioArgs, RecordTranscriptArgs};
pub(crate) use mcp::{McpArgs, McpServer, SkillAgent, SkillArgs, SkillCommand};
pub(crate) use mistakes::report;
pub(crate) use model::ModelArgs;
pub(crate) use parse::{BrowserFlags, ParseArgs};
pub(crate) use profile::{ProfileArgs, ProfileCaptureArgs, ProfileCommand};
pub(crate) use record::{RecordArgs, RecordLlmArgs, RecordMcpArgs, RecordedSource};
pub(crate) use resume::ResumeArgs;
pub(crate) use run::{AuditArgs, ParityArgs, PlayRunArgs, RealAgentArgs, RunArgs, ShowArgs};
pub(crate) use safety::{SafetyArgs, word};
pub(crate) use serve::{
    PlayTimelineArgs, ServeArgs, ServeLlmArgs, ServeMcpArgs, ServeRestArgs, ServedApi,
    TimelineSpeedArgs, WhichTimelineArgs,
};
pub(crate) use shared::{
    AddressArgs, ConnectArgs, DistanceArgs, EnvFileArgs, SecretVariableArgs, ServerArgs, SpeedArgs,
    TagArgs,
};
use shared::{Choices, one_of};
pub(crate) use test::{DiffArgs, TestArgs};

/// Agents that stick to the script.
#[derive(Debug, Parser)]
#[command(
    name = "cuecard",
    version,
    about = "A test kit for AI agents: it replays tool calls, mocks models and agents, records, and checks runs",
    long_about = "A test kit for AI agents. Cuecard replays recorded tool calls on real MCP servers without a model, mocks the model's API, ACP agents, agent services and coding agents from one timeline, turns sentences into browser steps, records real traffic, and checks what an agent did.",
    after_help = "Try it:  cuecard call demo add_note --arg title=Tea --arg text=Green\n         cuecard examples",
    propagate_version = true,
    disable_help_subcommand = true,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// When to use colors: auto, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t = Color::Auto,
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true,
        help_heading = COMMON
    )]
    pub color: Color,
    /// Print help; --help prints more than -h, and examples
    #[arg(short, long, global = true, action = ArgAction::Help, help_heading = COMMON)]
    help: Option<bool>,
    /// Print the version
    #[arg(short = 'V', long, global = true, action = ArgAction::Version, help_heading = COMMON)]
    version: Option<bool>,
}

/// The value of `--color` in a command line that can't be understood.
pub(crate) fn color_of(arguments: &[OsString]) -> Color {
    let mut values = arguments
        .iter()
        .filter_map(|word| word.to_str())
        .filter_map({
            let mut is_next = false;
            move |word| {
                let value = match is_next {
                    true => Some(word),
                    false => word.strip_prefix("--color="),
                };
                is_next = word == "--color";
                Color::from_str(value?, false).ok()
            }
        });
    values.next().unwrap_or(Color::Auto)
}

/// The heading of the options of all commands.
const COMMON: &str = "Common options";

/// When to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a scenario on real MCP servers, or browser steps in a browser
    Play(Box<PlayArgs>),
    /// Check that pages match browser steps, or a server its cassette
    Verify(Box<VerifyArgs>),
    /// Turn a browser script into validated browser steps
    Parse(Box<ParseArgs>),
    /// Test what an agent did: assertions on actions and answers
    Test(Box<TestArgs>),
    /// Compare two traces or two test results
    Diff(DiffArgs),
    /// Check files without running them, and list what they would do
    Check(CheckArgs),
    /// List the scenarios of the project
    List(ListArgs),
    /// Try every MCP server of your configs, and list what is missing
    Doctor(DoctorArgs),
    /// List the tools of an MCP server, with their parameters
    Tools(ToolsArgs),
    /// Call a tool of an MCP server once, and print the result
    Call(CallArgs),
    /// Convert old scenarios, older timelines, and browser steps
    Convert(ConvertArgs),
    /// Print the JSON Schema of a file format, or list the formats
    Schema(SchemaArgs),
    /// Explain a code such as C-REF-02, or what a timeline does and when
    Explain(ExplainArgs),
    /// Write the examples of the book into a directory
    Examples(ExamplesArgs),
    /// Print a shell completion script
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the man page
    Man,
    /// Serve scenarios to agents as an MCP server, or the demo server
    Mcp(Box<McpArgs>),
    /// Teach agents to use Cuecard: show or install its skill
    Skill(SkillArgs),
    /// Mock a model's API, an agent service or an MCP server
    Serve(ServeArgs),
    /// Mock an ACP agent, or drive a real agent as its client
    Acp(AcpArgs),
    /// Mock a coding agent in a terminal, which really runs its tools
    Agent(AgentArgs),
    /// Run a timeline end to end: workspace, terminal, agent, checks
    Run(RunArgs),
    /// Play a timeline through every mock, and compare what clients see
    Parity(ParityArgs),
    /// Run a timeline several times, and name the first difference
    Audit(AuditArgs),
    /// Step through a finished run: what happened, and its screens
    Show(ShowArgs),
    /// Record tool calls, a model or a session as files that play again
    Record(RecordArgs),
    /// Make a scenario of one recording, or of two of the same task
    Infer(InferArgs),
    /// Show or capture how an agent names its tools
    Profile(ProfileArgs),
    /// Install what browser scripts and browser steps need
    Browser(BrowserArgs),
}

/// Arguments of `examples`.
#[derive(Debug, Args)]
pub(crate) struct ExamplesArgs {
    /// Where they go; files that are there and differ are not replaced
    #[arg(default_value = "examples", value_name = "DIR")]
    pub directory: PathBuf,
}

/// Arguments of `play`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Playback")]
pub(crate) struct PlayArgs {
    /// Scenarios or browser steps to play: files, directories, names, or `-` for stdin
    ///
    /// Names are those of scenarios in .cuecard/scenarios/ or .sandy/scenarios/.
    #[arg(required = true, value_name = "FILE", help_heading = None)]
    pub files: Vec<PathBuf>,

    /// Start at this step
    #[arg(long, visible_alias = "resume-from", value_name = "STEP")]
    pub start: Option<u64>,
    /// Stop after this step
    #[arg(long, value_name = "STEP")]
    pub end: Option<u64>,
    #[command(flatten)]
    pub resume: ResumeArgs,
    /// Check what can be checked without side effects, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// With --dry-run: also start the servers, and check the tools
    #[arg(long, requires = "dry_run")]
    pub connect: bool,
    #[command(flatten, next_help_heading = "Playback")]
    pub speed: SpeedArgs,
    /// Treat warnings as errors; also fail steps that change or lose a value
    #[arg(long)]
    pub strict: bool,
    /// Number of files to play at the same time
    #[arg(short, long, value_name = "N", default_value = "1")]
    pub jobs: NonZeroUsize,

    #[command(flatten)]
    pub variables: VariableArgs,

    /// Print the result as JSON to stdout
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write the result as JSON to a file, instead of an earlier result
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Include tool results: true, false or on_failure
    #[arg(
        long,
        value_parser = one_of(INCLUDE_RESULTS),
        value_name = "WHEN",
        num_args = 0..=1,
        hide_possible_values = true,
        default_value = "false",
        default_missing_value = "true",
        help_heading = "Output"
    )]
    pub include_results: IncludeResults,
    /// Write a report: junit:FILE or html:FILE (repeatable)
    #[arg(long = "report", value_name = "KIND:FILE", help_heading = "Output")]
    pub reports: Vec<String>,
    /// Show server logs
    #[arg(short, long, action = ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    /// Show configs, server starts, parameters, results and timings
    #[arg(long, help_heading = "Output")]
    pub debug: bool,
    #[command(flatten)]
    pub runs: RunsArgs,

    #[command(flatten, next_help_heading = "Servers")]
    pub servers: ConnectArgs,

    #[command(flatten)]
    pub browser: BrowserFlags,
    /// Take a screenshot of the browser when a step fails
    #[arg(long, help_heading = "Browser")]
    pub screenshot_on_failure: bool,
    /// Take a screenshot of the browser after each step that uses it, and show it in the HTML report
    #[arg(long, help_heading = "Browser")]
    pub screenshot_each_step: bool,
    /// Directory for screenshots
    #[arg(
        long,
        value_name = "DIR",
        default_value = "./screenshots",
        help_heading = "Browser"
    )]
    pub screenshot_dir: PathBuf,
    #[command(flatten)]
    pub heal: HealArgs,

    #[command(flatten)]
    pub safety: SafetyArgs,
}

/// Where runs are kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct RunsArgs {
    /// Directory for run data
    ///
    /// The last 20 runs are kept, and 20 that failed.
    #[arg(long, value_name = "DIR", default_value = ".cuecard/runs")]
    pub run_dir: PathBuf,
}

/// The name of a secret. Who gives its value too would show it to everybody who lists processes.
fn secret_name(text: &str) -> Result<String, &'static str> {
    let is_letter = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    match text.chars().all(is_letter) {
        true => Ok(text.to_owned()),
        false => Err(
            "write only the name: the value is that of `CUECARD_VAR_NAME` in the environment, or is asked for",
        ),
    }
}

/// Where variables get their values.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Variables")]
pub(crate) struct VariableArgs {
    /// Set a variable (repeatable)
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// Set a variable to JSON, or all variables of a JSON file (repeatable)
    ///
    /// The file is a JSON object; `@-` reads it from standard input.
    #[arg(long = "var-json", value_name = "NAME=JSON|@FILE")]
    pub json_variables: Vec<String>,
    #[command(flatten, next_help_heading = "Variables")]
    pub env: EnvFileArgs,
    /// Redact the value of this variable everywhere (repeatable)
    ///
    /// The value is that of CUECARD_VAR_NAME, or is asked for in a terminal.
    #[arg(long = "secret", value_name = "NAME", value_parser = secret_name)]
    pub secrets: Vec<String>,
    /// Treat all variables from the environment and from --env as secrets
    #[arg(long, hide = true, help_heading = None)]
    pub hide_environment: bool,
}

/// What the rules of timelines ask for.
#[derive(Debug, Default, Args)]
pub(crate) struct SymbolArgs {
    /// Define a symbol for the rules of timelines (repeatable)
    ///
    /// Symbols also come from CUECARD_DEFINES.
    #[arg(
        long = "define",
        alias = "scenario-define",
        value_name = "K[=V]",
        help_heading = "Selection"
    )]
    pub defines: Vec<String>,
}

/// The values of `--include-results`.
const INCLUDE_RESULTS: Choices<IncludeResults> = &[
    ("true", IncludeResults::Always, "Always"),
    ("false", IncludeResults::Never, "Never"),
    ("on_failure", IncludeResults::OnFailure, "For failed steps"),
];

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("of_connect").arg("timeout").requires("connect")))]
pub(crate) struct CheckArgs {
    /// Scenarios, timelines, browser scripts, test cases, directories of them, or `-` for stdin
    #[arg(required = true, value_name = "PATH")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub tagged: TagArgs,
    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,
    /// Suggest targets for the element ids in a scenario, based on this page snapshot
    ///
    /// The snapshot is a result of a browser's MCP server.
    #[arg(long, value_name = "FILE")]
    pub snapshot: Vec<PathBuf>,
    #[command(flatten)]
    pub symbols: SymbolArgs,
    /// Print the findings as JSON to stdout
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub server: ServerArgs,
    /// Also start the servers, and check tools and parameters without calling any tool
    #[arg(long, help_heading = "Servers")]
    pub connect: bool,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Directories to look in [default: .cuecard/scenarios and .sandy/scenarios]
    pub folders: Vec<PathBuf>,
    /// Print the list as JSON to stdout
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The servers to try [default: all]
    pub servers: Vec<String>,
    /// Don't start any server: only list the servers and where they are configured
    #[arg(long)]
    pub no_start: bool,
    /// Print the findings as JSON to stdout
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Arguments of `tools`.
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// The server: its name in a config, or its URL
    #[arg(value_name = "SERVER")]
    pub server_name: Option<String>,
    /// The command that starts the server, instead of its name
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Print the tools and their schemas as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Arguments of `call`.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The server (its name in a config, or its URL) and the tool; only the tool before a command
    #[arg(value_name = "SERVER> <TOOL", required = true, num_args = 1..=2)]
    pub names: Vec<String>,
    /// The command that starts the server
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// An argument (repeatable): parsed as JSON unless the tool expects a string
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub texts: Vec<String>,
    /// An argument as JSON (repeatable)
    #[arg(long = "arg-json", value_name = "NAME=JSON")]
    pub values: Vec<String>,
    /// All arguments as a JSON object, `@FILE` to read it from a file, or `-` for stdin
    #[arg(long = "args", value_name = "JSON", allow_hyphen_values = true)]
    pub all: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The scenario, timeline or browser steps to convert, or `-` for stdin
    pub file: PathBuf,
    /// Target format for browser steps: a tool-call scenario, or a Playwright test
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "in_place")]
    pub to: Option<ExportForm>,
    /// With --to tool-call: the browser's MCP server that the scenario targets
    #[arg(
        long,
        value_parser = one_of(EXPORT_SERVERS),
        value_name = "SERVER",
        requires = "to",
        default_value = "chrome-devtools"
    )]
    pub server: ToolCallServer,
    /// With --to: export the steps even if some actions could not be parsed
    #[arg(long, requires = "to")]
    pub allow_partial: bool,
    /// Write the result to this file instead of stdout; --force replaces an existing file
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    pub output: Option<PathBuf>,
    /// Overwrite the input file with the result
    #[arg(short, long)]
    pub in_place: bool,
    /// Overwrite the file given with --output
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Print the result and the findings as JSON to stdout
    #[arg(long)]
    pub json: bool,
}

/// What browser steps become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// A tool-call scenario of version 2.1
    ToolCall,
    /// A `.spec.ts` for `@playwright/test`
    Playwright,
}

/// The values of `--server` of `convert`.
const EXPORT_SERVERS: Choices<ToolCallServer> = &[
    (
        "chrome-devtools",
        ToolCallServer::ChromeDevtools,
        "chrome-devtools-mcp",
    ),
    ("playwright", ToolCallServer::Playwright, "@playwright/mcp"),
];

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("of_prompt").arg("max_distance").requires("prompt")))]
pub(crate) struct ExplainArgs {
    /// A code, or timelines and folders of timelines
    #[arg(value_name = "CODE|PATH")]
    pub what: Vec<PathBuf>,
    #[command(flatten)]
    pub tagged: TagArgs,
    /// Show which timeline is selected for this prompt, and why
    #[arg(long, value_name = "TEXT", requires = "what")]
    pub prompt: Option<String>,
    #[command(flatten)]
    pub distance: DistanceArgs,
    /// Show how one player handles each event
    #[arg(long, value_parser = one_of(PLAYERS), value_name = "NAME")]
    pub player: Option<PlayerKind>,
    #[command(flatten)]
    pub speed: SpeedArgs,
    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub symbols: SymbolArgs,
    /// Print the result as JSON to stdout
    #[arg(long)]
    pub json: bool,
}

/// The values of `--player`.
const PLAYERS: Choices<PlayerKind> = &[
    ("llm", PlayerKind::Llm, "The mock LLM API"),
    ("acp", PlayerKind::Acp, "The mock agent over ACP"),
    ("rest", PlayerKind::Rest, "The mock agent service"),
    ("agent", PlayerKind::Agent, "The mock agent in a terminal"),
    (
        "run",
        PlayerKind::Run,
        "The executor: everything around the agent",
    ),
];

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The format [default: list all formats]
    pub name: Option<String>,
    /// Write the schema, or all schemas, as NAME.schema.json to this directory
    #[arg(short = 'o', long = "output", alias = "out", value_name = "DIR")]
    pub out: Option<PathBuf>,
}
