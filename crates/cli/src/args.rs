//! Raw arguments: what may be typed, and what it says in `--help`, the man page and completions.

mod acp;
mod agent;
mod browser;
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

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::exit_code;

pub(crate) use acp::AcpArgs;
pub(crate) use agent::AgentArgs;
pub(crate) use browser::{BrowserArgs, BrowserCommand, HealArgs, HealMode, VerifyArgs};
pub(crate) use infer::{InferArgs, InferredScenarioArgs, RecordTranscriptArgs};
pub(crate) use mcp::{McpArgs, McpServer, SkillAgent, SkillArgs, SkillCommand};
pub(crate) use mistakes::report;
pub(crate) use model::ModelArgs;
pub(crate) use overview::command;
use overview::{
    CALL_EXAMPLES, DIFF_EXAMPLES, FIRST_EXAMPLES, INFER_EXAMPLES, PARSE_EXAMPLES, TEST_EXAMPLES,
    TOOLS_EXAMPLES, with_examples,
};
pub(crate) use parse::{BrowserFlags, ParseArgs, TranslatorArg};
pub(crate) use profile::{ProfileArgs, ProfileCaptureArgs, ProfileCommand};
pub(crate) use record::{RecordArgs, RecordLlmArgs, RecordMcpArgs, RecordedSource};
pub(crate) use resume::ResumeArgs;
pub(crate) use run::{AuditArgs, Mode, ParityArgs, RealAgentArgs, RunArgs, ShowArgs};
pub(crate) use safety::{SafetyArgs, word};
pub(crate) use serve::{
    MissAnswer, PlayTimelineArgs, ServeArgs, ServeLlmArgs, ServeMcpArgs, ServeRestArgs, ServedApi,
    SpeedArgs, WhichTimelineArgs,
};

/// Agents that stick to the script.
#[derive(Debug, Parser)]
#[command(
    name = "cuecard",
    version,
    about = "A test kit for AI agents: it replays tool calls, mocks models and agents, records, and checks runs",
    long_about = "A test kit for AI agents. Cuecard replays recorded tool calls on real MCP servers without a model, mocks the model's API, ACP agents, agent services and coding agents from one timeline, turns sentences into browser steps, records real traffic, and checks what an agent did.",
    after_help = "Try it:  cuecard call demo add_note --arg title=Tea --arg text=Green\n         cuecard examples",
    after_long_help = with_examples(FIRST_EXAMPLES),
    propagate_version = true,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// When to use colors
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
}

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
    #[command(after_long_help = exit_code::HELP)]
    Play(Box<PlayArgs>),
    /// Check that pages match browser steps, or a server its cassette
    #[command(after_long_help = exit_code::HELP)]
    Verify(Box<VerifyArgs>),
    /// Turn a browser script into validated browser steps
    #[command(after_long_help = with_examples(PARSE_EXAMPLES))]
    Parse(Box<ParseArgs>),
    /// Test what an agent did: assertions on actions and answers
    #[command(after_long_help = with_examples(TEST_EXAMPLES))]
    Test(Box<TestArgs>),
    /// Compare two traces or two test results
    #[command(after_long_help = with_examples(DIFF_EXAMPLES))]
    Diff(DiffArgs),
    /// Check files without running them, and list what they would do
    #[command(after_long_help = exit_code::HELP)]
    Check(CheckArgs),
    /// List the scenarios of the project
    List(ListArgs),
    /// Try every MCP server of your configs, and list what is missing
    #[command(after_long_help = exit_code::HELP)]
    Doctor(DoctorArgs),
    /// List the tools of an MCP server, with their parameters
    #[command(after_long_help = with_examples(TOOLS_EXAMPLES))]
    Tools(ToolsArgs),
    /// Call a tool of an MCP server once, and print the result
    #[command(after_long_help = with_examples(CALL_EXAMPLES))]
    Call(CallArgs),
    /// Convert old scenarios, older timelines, and browser steps
    #[command(after_long_help = exit_code::HELP)]
    Convert(ConvertArgs),
    /// Format timelines: key order, blank lines, line endings
    #[command(after_long_help = exit_code::HELP)]
    Fmt(FmtArgs),
    /// Print the JSON Schema of a file format, or list the formats
    #[command(after_long_help = exit_code::HELP)]
    Schema(SchemaArgs),
    /// Explain a code such as C-REF-02, or what a timeline does and when
    #[command(after_long_help = exit_code::HELP)]
    Explain(ExplainArgs),
    /// Write the examples of the book into a directory
    #[command(after_long_help = exit_code::HELP)]
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
    #[command(after_long_help = with_examples(mcp::MCP_EXAMPLES))]
    Mcp(Box<McpArgs>),
    /// Teach agents to use Cuecard: show or install its skill
    Skill(SkillArgs),
    /// Mock a model's API, an agent service or an MCP server
    Serve(ServeArgs),
    /// Mock an ACP agent, or drive a real agent as its client
    #[command(after_long_help = exit_code::HELP)]
    Acp(AcpArgs),
    /// Mock a coding agent in a terminal, which really runs its tools
    #[command(after_long_help = exit_code::HELP)]
    Agent(AgentArgs),
    /// Run a timeline end to end: workspace, terminal, agent, checks
    #[command(after_long_help = exit_code::HELP)]
    Run(RunArgs),
    /// Play a timeline through every mock, and compare what clients see
    #[command(after_long_help = exit_code::HELP)]
    Parity(ParityArgs),
    /// Run a timeline several times, and name the first difference
    #[command(after_long_help = exit_code::HELP)]
    Audit(AuditArgs),
    /// Step through a finished run: what happened, and its screens
    #[command(after_long_help = exit_code::HELP)]
    Show(ShowArgs),
    /// Record tool calls, a model or a session as files that play again
    Record(RecordArgs),
    /// Make a scenario of one recording, or of two of the same task
    #[command(after_long_help = with_examples(INFER_EXAMPLES))]
    Infer(InferArgs),
    /// Show or capture how an agent names its tools
    #[command(after_long_help = exit_code::HELP)]
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
pub(crate) struct PlayArgs {
    /// Scenarios or browser steps to play: files, folders, names of scenarios in .cuecard/scenarios/ or
    /// .sandy/scenarios/, or `-` for stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub variables: VariableArgs,

    #[command(flatten)]
    pub heal: HealArgs,

    #[command(flatten)]
    pub browser: BrowserFlags,

    /// Read servers from this file only
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub config: Option<PathBuf>,
    /// Timeout for a call or for starting a server, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        help_heading = "Servers"
    )]
    pub timeout: Option<f64>,

    /// Start at this step
    #[arg(
        long,
        alias = "resume-from",
        value_name = "STEP",
        help_heading = "What to play"
    )]
    pub start: Option<u64>,
    /// Stop after this step
    #[arg(long, value_name = "STEP", help_heading = "What to play")]
    pub end: Option<u64>,
    #[command(flatten)]
    pub resume: ResumeArgs,
    /// Check everything that can be checked without side effects, and run nothing
    #[arg(long, help_heading = "What to play")]
    pub dry_run: bool,
    /// With --dry-run: also start the servers, and check tools and parameters
    #[arg(long, requires = "dry_run", help_heading = "What to play")]
    pub connect: bool,
    /// Multiply scripted delays by this factor (0.5: faster, 0: no delay)
    #[arg(
        long,
        value_name = "FACTOR",
        allow_negative_numbers = true,
        default_value_t = 1.0,
        help_heading = "What to play"
    )]
    pub speed: f64,
    /// Treat warnings about the file as errors, and fail steps of which a value was changed or lost
    #[arg(long, help_heading = "What to play")]
    pub strict: bool,
    /// Number of files to play at the same time
    #[arg(
        short,
        long,
        value_name = "N",
        default_value = "1",
        help_heading = "What to play"
    )]
    pub jobs: NonZeroUsize,

    /// Print the result as JSON to stdout
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write the result as JSON to a file
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Include tool results in the JSON result
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        num_args = 0..=1,
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
    /// Show config sources, server starts, parameters, results and timings
    #[arg(long, help_heading = "Output")]
    pub debug: bool,
    /// Take a screenshot of the browser when a step fails
    #[arg(long, help_heading = "Output")]
    pub screenshot_on_failure: bool,
    /// Take a screenshot of the browser after each step that uses it, and show it in the HTML report
    #[arg(long, help_heading = "Output")]
    pub screenshot_each_step: bool,
    /// Directory for screenshots
    #[arg(
        long,
        value_name = "DIR",
        default_value = "./screenshots",
        help_heading = "Output"
    )]
    pub screenshot_dir: PathBuf,
    #[command(flatten)]
    pub runs: RunsArgs,

    #[command(flatten)]
    pub safety: SafetyArgs,
}

/// Where runs are kept.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Directory for run data; the last 20 runs are kept, and 20 that failed
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".cuecard/runs",
        help_heading = "Output"
    )]
    pub run_dir: PathBuf,
}

/// Arguments of `test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Test cases, and folders containing test.yaml or NAME.test.yaml files; a scenario, also by its name as for `play`,
    /// is tested by its own checks
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Only tests whose id, title, path or scenario's name matches: a substring, or a /regular expression/ (repeatable)
    #[arg(
        short = 'k',
        long = "filter",
        visible_alias = "grep",
        value_name = "TEXT",
        help_heading = "Which tests"
    )]
    pub filters: Vec<String>,
    /// Only tests with this tag (repeatable)
    #[arg(long = "tag", value_name = "TAG", help_heading = "Which tests")]
    pub tags: Vec<String>,
    /// Run only shard I of N: every N-th file, starting at the I-th
    #[arg(long, value_name = "I/N", help_heading = "Which tests")]
    pub shard: Option<String>,
    /// List the tests without running them
    #[arg(long, help_heading = "Which tests")]
    pub list: bool,

    /// Number of tests to run in parallel (default: number of cores)
    #[arg(short, long, value_name = "N", help_heading = "How to run")]
    pub jobs: Option<usize>,
    /// Stop after the first failing test
    #[arg(short = 'x', long, help_heading = "How to run")]
    pub fail_fast: bool,
    /// Fail tests whose assertions had nothing to check, and treat warnings about files as errors
    #[arg(long, help_heading = "How to run")]
    pub strict: bool,
    /// Timeout for a test, in seconds (default: 300)
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        help_heading = "How to run"
    )]
    pub timeout: Option<f64>,
    /// Update the stored traces of trace_snapshot with those of this run
    #[arg(long, help_heading = "How to run")]
    pub update: bool,
    /// Rerun tests when a file they depend on changes, until Ctrl-C; with --json, print one line per run
    #[arg(
        long,
        conflicts_with_all = ["list", "update", "fail_fast", "shard", "reports", "out", "mutate"],
        help_heading = "How to run"
    )]
    pub watch: bool,
    /// Mutation testing: inject defects into the traces of passing tests, and list those that no assertion detects
    #[arg(
        long,
        conflicts_with_all = ["list", "update", "fail_fast", "reports", "out"],
        help_heading = "How to run"
    )]
    pub mutate: bool,
    /// With --mutate: fail if fewer mutants are detected, in percent
    #[arg(
        long,
        value_name = "PERCENT",
        allow_negative_numbers = true,
        requires = "mutate",
        help_heading = "How to run"
    )]
    pub min_score: Option<f64>,
    /// Multiply scripted delays of played scenarios by this factor (0.5: faster, 0: no delay)
    #[arg(
        long,
        value_name = "FACTOR",
        allow_negative_numbers = true,
        default_value_t = 1.0,
        help_heading = "How to run"
    )]
    pub speed: f64,
    /// Read servers from this file only
    #[arg(long, value_name = "FILE", help_heading = "How to run")]
    pub config: Option<PathBuf>,

    /// Print the result as JSON to stdout
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write a report: html, junit, json, tap or github, to a file or `-` for stdout (repeatable)
    #[arg(long = "report", value_name = "KIND:FILE", help_heading = "Output")]
    pub reports: Vec<String>,
    /// Write traces and results to DIR/RUN/
    #[arg(
        short = 'o',
        long = "output",
        alias = "out",
        value_name = "DIR",
        help_heading = "Output"
    )]
    pub out: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Timelines")]
    pub agent: RealAgentArgs,

    #[command(flatten)]
    pub variables: VariableArgs,

    #[command(flatten)]
    pub safety: SafetyArgs,
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The first input: a trace, a result of `cuecard test`, or a run directory
    pub first: PathBuf,
    /// The second input, of the same kind
    pub second: PathBuf,
    /// Ignore the values at a JSON pointer when comparing traces; `*` matches any text within a segment, `**` any number of segments (repeatable)
    #[arg(long, value_name = "POINTER")]
    pub ignore: Vec<String>,
    /// Print the differences as JSON to stdout
    #[arg(long)]
    pub json: bool,
}

/// The name of a secret. Who gives its value too would show it to everybody who lists processes.
fn secret_name(text: &str) -> Result<String, &'static str> {
    let is_letter = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    match text.chars().all(is_letter) {
        true => Ok(text.to_owned()),
        false => Err(
            "it is the name of a variable; its value is that of the variable `CUECARD_VAR_NAME` of the environment, or typed when asked",
        ),
    }
}

/// Where variables get their values.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct VariableArgs {
    /// Set a variable (repeatable)
    #[arg(long = "var", value_name = "NAME=VALUE", help_heading = "Variables")]
    pub variables: Vec<String>,
    /// Set a variable to a JSON value, or all variables of a file that is a JSON object; `@-` reads standard input (repeatable)
    #[arg(
        long = "var-json",
        value_name = "NAME=JSON|@FILE",
        help_heading = "Variables"
    )]
    pub json_variables: Vec<String>,
    /// Read variables from a file of NAME=VALUE lines
    #[arg(long = "env", value_name = "FILE", help_heading = "Variables")]
    pub env_file: Option<PathBuf>,
    /// Treat a variable as a secret and redact its value from all output; the value comes from CUECARD_VAR_NAME or a prompt
    #[arg(long = "secret", value_name = "NAME", value_parser = secret_name, help_heading = "Variables")]
    pub secrets: Vec<String>,
    /// Treat all variables from the environment and from --env as secrets
    #[arg(long, hide = true)]
    pub hide_environment: bool,
}

/// Which of the tagged files are meant.
#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// Only test cases and timelines with this tag (repeatable)
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

/// What the rules of timelines ask for.
#[derive(Debug, Default, Args)]
pub(crate) struct SymbolArgs {
    /// Define a symbol for the rules of timelines: K, or K=V (repeatable; also from CUECARD_DEFINES)
    #[arg(long = "define", alias = "scenario-define", value_name = "K=V")]
    pub defines: Vec<String>,
}

/// `--include-results`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum IncludeResults {
    /// Always.
    True,
    /// Never.
    False,
    /// For failed steps.
    OnFailure,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Scenarios, timelines, test cases, folders of timelines, or `-` for stdin
    #[arg(required = true, value_name = "PATH")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub tagged: TagArgs,
    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,
    /// Suggest targets for the element ids in a scenario, based on this page snapshot from a browser's MCP server
    #[arg(long, value_name = "FILE")]
    pub snapshot: Vec<PathBuf>,
    #[command(flatten)]
    pub symbols: SymbolArgs,
    /// Print the findings as JSON to stdout
    #[arg(long)]
    pub json: bool,

    /// Read servers from this file only
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub config: Option<PathBuf>,
    /// Also start the servers, and check tools and parameters without calling any tool
    #[arg(long, help_heading = "Servers")]
    pub connect: bool,
    /// Read variables, including those used in configs, from a file of NAME=VALUE lines
    #[arg(long = "env", value_name = "FILE", help_heading = "Servers")]
    pub env_file: Option<PathBuf>,
    /// With --connect: timeout for starting a server, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        requires = "connect",
        help_heading = "Servers"
    )]
    pub timeout: Option<f64>,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Folders to look in (default: .cuecard/scenarios and .sandy/scenarios)
    pub folders: Vec<PathBuf>,
    /// Print the list as JSON to stdout
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The servers to try (default: all)
    pub servers: Vec<String>,
    /// Read servers from this file only
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Read variables for configs from a file of NAME=VALUE lines
    #[arg(long = "env", value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// Timeout for starting a server, in seconds
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Don't start any server: only list the servers and where they are configured
    #[arg(long)]
    pub no_start: bool,
    /// Print the findings as JSON to stdout
    #[arg(long)]
    pub json: bool,
}

/// How a server is found and reached.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Read servers from this file only
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub config: Option<PathBuf>,
    /// Read variables for configs from a file of NAME=VALUE lines
    #[arg(long = "env", value_name = "FILE", help_heading = "Servers")]
    pub env_file: Option<PathBuf>,
    /// Timeout for starting the server or for a call, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        help_heading = "Servers"
    )]
    pub timeout: Option<f64>,
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
    /// The server (its name in a config, or its URL) and the tool; only the tool if a command is given
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
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["in_place", "terminal_file"])]
    pub to: Option<ExportForm>,
    /// With --to tool-call: the browser's MCP server that the scenario targets
    #[arg(
        long,
        value_enum,
        value_name = "SERVER",
        requires = "to",
        default_value = "chrome-devtools"
    )]
    pub server: ExportServer,
    /// With --to: export the steps even if some actions could not be parsed
    #[arg(long, requires = "to")]
    pub allow_partial: bool,
    /// Write the result to this file instead of stdout
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    pub output: Option<PathBuf>,
    /// Overwrite the input file with the result
    #[arg(short, long)]
    pub in_place: bool,
    /// Move an inline terminal config to this file next to the timeline: .yaml, .yml or .json
    #[arg(long, value_name = "FILE")]
    pub terminal_file: Option<String>,
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

/// The server of a browser that a scenario is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportServer {
    /// chrome-devtools-mcp
    ChromeDevtools,
    /// @playwright/mcp
    Playwright,
}

/// Arguments of `fmt`.
#[derive(Debug, Args)]
pub(crate) struct FmtArgs {
    /// Timelines and folders of timelines, or `-` to format stdin to stdout
    #[arg(required = true, value_name = "PATH")]
    pub files: Vec<PathBuf>,
    /// Write nothing: list the files that are not formatted, and fail if there are any
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A code, or timelines and folders of timelines
    #[arg(value_name = "CODE|PATH")]
    pub what: Vec<PathBuf>,
    #[command(flatten)]
    pub tagged: TagArgs,
    /// Show which timeline is selected for this prompt, and why
    #[arg(long, value_name = "TEXT", requires = "what")]
    pub prompt: Option<String>,
    /// Maximum distance at which a timeline is selected, from 0 to 1
    #[arg(
        long,
        value_name = "DISTANCE",
        allow_negative_numbers = true,
        default_value_t = cuecard_timeline::script::DEFAULT_MAX_DISTANCE,
        requires = "prompt"
    )]
    pub max_distance: f64,
    /// Show how one player handles each event
    #[arg(long, value_enum, value_name = "NAME")]
    pub player: Option<Player>,
    /// Multiply times by this factor (0.5: faster, 0: no delay)
    #[arg(
        long,
        alias = "scenario-speed",
        value_name = "FACTOR",
        allow_negative_numbers = true,
        default_value_t = 1.0
    )]
    pub speed: f64,
    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub symbols: SymbolArgs,
    /// Print the result as JSON to stdout
    #[arg(long)]
    pub json: bool,
}

/// Who plays a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Player {
    /// The mock LLM API.
    Llm,
    /// The mock agent over ACP.
    Acp,
    /// The mock agent service.
    Rest,
    /// The mock agent in a terminal.
    Agent,
    /// The executor: everything around the agent.
    Run,
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The format (default: list all formats)
    pub name: Option<String>,
    /// Write the schema, or all schemas, as NAME.schema.json to this folder
    #[arg(short = 'o', long = "output", alias = "out", value_name = "DIR")]
    pub out: Option<PathBuf>,
}
