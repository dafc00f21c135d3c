//! Raw arguments: what may be typed, and what it says in `--help`, the man page and completions.

mod browser;
mod model;
mod parse;
mod profile;
mod record;
mod serve;

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::exit_code::{self, ExitCode};

pub(crate) use browser::{BrowserArgs, BrowserCommand, HealArgs, HealMode, VerifyArgs};
pub(crate) use model::ModelArgs;
pub(crate) use parse::{BrowserFlags, ParseArgs, TranslatorArg};
pub(crate) use profile::{ProfileArgs, ProfileCaptureArgs, ProfileCommand};
pub(crate) use record::{RecordArgs, RecordLlmArgs, RecordedSource};
pub(crate) use serve::{MissAnswer, ServeArgs, ServeLlmArgs, ServedApi};

/// Agents that stick to the script.
#[derive(Debug, Parser)]
#[command(
    name = "cuecard",
    version,
    about = "Agents that stick to the script",
    long_about = "Cuecard replays recorded tool calls of AI agents against real MCP servers, without a model:\nthe same calls, the same checks, the same result every time.",
    after_help = "Try it:  cuecard play examples/quickstart.json",
    after_long_help = exit_code::HELP,
    propagate_version = true,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
}

/// When to use colours.
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
    /// Play a tool-call scenario against real MCP servers, or browser steps in a browser
    #[command(after_long_help = exit_code::HELP)]
    Play(Box<PlayArgs>),
    /// Look whether the pages still have what browser steps remember, and do no more than that needs
    #[command(after_long_help = exit_code::HELP)]
    Verify(Box<VerifyArgs>),
    /// Turn a browser scenario in plain words into validated steps
    #[command(after_long_help = with_examples(PARSE_EXAMPLES))]
    Parse(Box<ParseArgs>),
    /// Judge runs of agents: test cases with assertions on what was done and answered
    #[command(after_long_help = with_examples(TEST_EXAMPLES))]
    Test(Box<TestArgs>),
    /// Tell how two traces, or the results of two runs of tests, differ by meaning
    #[command(after_long_help = with_examples(DIFF_EXAMPLES))]
    Diff(DiffArgs),
    /// Check scenarios, timelines and test cases without running anything, and list what they would do
    #[command(after_long_help = exit_code::HELP)]
    Check(CheckArgs),
    /// List the scenarios of the project
    List(ListArgs),
    /// Try every MCP server: where it comes from, whether it starts, what the machine lacks
    #[command(after_long_help = exit_code::HELP)]
    Doctor(DoctorArgs),
    /// List the tools of an MCP server, with their parameters
    #[command(after_long_help = with_examples(TOOLS_EXAMPLES))]
    Tools(ToolsArgs),
    /// Call a tool of an MCP server once, and print what it answers
    #[command(after_long_help = with_examples(CALL_EXAMPLES))]
    Call(CallArgs),
    /// Rewrite a scenario of version 1.x as version 2.1, a timeline in canonical form, or browser steps as something else
    #[command(after_long_help = exit_code::HELP)]
    Convert(ConvertArgs),
    /// Bring timelines into their layout: order of keys, blank lines, ends of lines
    #[command(after_long_help = exit_code::HELP)]
    Fmt(FmtArgs),
    /// Print the JSON Schema of a file format, or list them
    #[command(after_long_help = exit_code::HELP)]
    Schema(SchemaArgs),
    /// Explain a code such as C-REF-02, or what a timeline does and when; without either list all codes
    #[command(after_long_help = exit_code::HELP)]
    Explain(ExplainArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the man page
    Man,
    /// Serve the built-in MCP server
    Mcp(McpArgs),
    /// Stand in for a service that agents talk to
    Serve(ServeArgs),
    /// Record what agents do as scenarios that play the same again
    Record(RecordArgs),
    /// Show what agents call their tools, and make such a profile of what an agent advertised
    #[command(after_long_help = exit_code::HELP)]
    Profile(ProfileArgs),
    /// Get what browser scenarios need
    Browser(BrowserArgs),
}

const TEST_EXAMPLES: &str = "\
Examples:
  cuecard test tests/ --report html:report.html    judge everything below a folder
  cuecard test tests/ --filter news --watch        again whenever a file changes
  cuecard test tests/ --mutate --min-score 90      do the assertions notice defects?
  cuecard test tests/ --update                     keep the traces as they are now";

const PARSE_EXAMPLES: &str = "\
Examples:
  cuecard parse login.yaml -o login.steps.json     sentences become steps
  cuecard parse login.yaml --translator rules      without a model
  cuecard parse login.yaml --headed --slow-mo 300  to watch";

const TOOLS_EXAMPLES: &str = "\
Examples:
  cuecard tools notes                              a server of a config
  cuecard tools https://tickets.example/mcp        any other one
  cuecard tools -- npx -y @playwright/mcp          the command that starts it";

const CALL_EXAMPLES: &str = "\
Examples:
  cuecard call notes add --arg text=Tea --arg count=2
  cuecard call notes add --args @notes.json --json
  cuecard call browser_tabs --arg action=list -- npx -y @playwright/mcp";

const DIFF_EXAMPLES: &str = "\
Examples:
  cuecard diff old.trace.json new.trace.jsonl      two traces
  cuecard diff .cuecard/runs/A .cuecard/runs/B     the traces of two runs
  cuecard diff runs/A runs/B                       two results of `cuecard test --out runs`";

fn with_examples(examples: &str) -> String {
    format!("{examples}\n\n{}", exit_code::HELP)
}

/// Arguments of `play`.
#[derive(Debug, Args)]
pub(crate) struct PlayArgs {
    /// The scenario or the browser steps, or `-` for standard input
    pub file: PathBuf,

    #[command(flatten)]
    pub variables: VariableArgs,

    #[command(flatten)]
    pub heal: HealArgs,

    #[command(flatten)]
    pub browser: BrowserFlags,

    /// Read servers from this file only
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub config: Option<PathBuf>,
    /// The longest a call, or starting a server, may take, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        help_heading = "Servers"
    )]
    pub timeout: Option<f64>,

    /// Begin with this step
    #[arg(
        long,
        alias = "resume-from",
        value_name = "STEP",
        help_heading = "What to play"
    )]
    pub start: Option<u64>,
    /// End with this step
    #[arg(long, value_name = "STEP", help_heading = "What to play")]
    pub end: Option<u64>,
    /// Check everything that can be known without side effects, and run nothing
    #[arg(long, help_heading = "What to play")]
    pub dry_run: bool,
    /// With --dry-run: start the servers too, and check tools and parameters
    #[arg(long, requires = "dry_run", help_heading = "What to play")]
    pub connect: bool,
    /// Multiply scripted delays (0.5 is faster, 0 doesn't wait)
    #[arg(
        long,
        value_name = "FACTOR",
        allow_negative_numbers = true,
        default_value_t = 1.0,
        help_heading = "What to play"
    )]
    pub speed: f64,
    /// Treat warnings about the file as errors
    #[arg(long, help_heading = "What to play")]
    pub strict: bool,

    /// Print the result as one JSON document on standard output
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write the result as JSON into a file
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Put tool results into the JSON result
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
    /// Write a report: junit:FILE, of browser steps also html:FILE (repeatable)
    #[arg(long = "report", value_name = "KIND:FILE", help_heading = "Output")]
    pub reports: Vec<String>,
    /// Show what servers log
    #[arg(short, long, action = ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    /// Show config sources, server starts, parameters, results and timings
    #[arg(long, help_heading = "Output")]
    pub debug: bool,
    /// Take a screenshot of the browser when a step fails
    #[arg(long, help_heading = "Output")]
    pub screenshot_on_failure: bool,
    /// Where screenshots go
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
    /// The folder that keeps the last 20 runs
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
    /// Test cases, and folders with files called test.yaml or NAME.test.yaml; a scenario is a test of its own checks
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Only tests with this in their id, title or path: a text, or /a regular expression/ (repeatable)
    #[arg(long = "filter", value_name = "TEXT", help_heading = "Which tests")]
    pub filters: Vec<String>,
    /// Only tests with this tag (repeatable)
    #[arg(long = "tag", value_name = "TAG", help_heading = "Which tests")]
    pub tags: Vec<String>,
    /// Only every N-th file, from the I-th: the I-th of N parts of the suite
    #[arg(long, value_name = "I/N", help_heading = "Which tests")]
    pub shard: Option<String>,
    /// List the tests and judge nothing
    #[arg(long, help_heading = "Which tests")]
    pub list: bool,

    /// How many tests run at once (default: as many as there are cores)
    #[arg(short, long, value_name = "N", help_heading = "How to run")]
    pub jobs: Option<usize>,
    /// Stop after the first test that fails
    #[arg(long, help_heading = "How to run")]
    pub fail_fast: bool,
    /// Fail what had nothing to judge, and treat warnings about files as errors
    #[arg(long, help_heading = "How to run")]
    pub strict: bool,
    /// The longest a test may take, in seconds (default: 300)
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        help_heading = "How to run"
    )]
    pub timeout: Option<f64>,
    /// Replace the stored traces of trace_snapshot by those of this run
    #[arg(long, help_heading = "How to run")]
    pub update: bool,
    /// Judge again whenever a file changes that a test depends on, until Ctrl-C; with --json a line for each run
    #[arg(
        long,
        conflicts_with_all = ["list", "update", "fail_fast", "shard", "reports", "out", "mutate"],
        help_heading = "How to run"
    )]
    pub watch: bool,
    /// Change the trace of each test that passes as a defect would, and tell which changes no assertion notices
    #[arg(
        long,
        conflicts_with_all = ["list", "update", "fail_fast", "reports", "out"],
        help_heading = "How to run"
    )]
    pub mutate: bool,
    /// With --mutate: fail if less of the changes is noticed, in percent
    #[arg(
        long,
        value_name = "PERCENT",
        allow_negative_numbers = true,
        requires = "mutate",
        help_heading = "How to run"
    )]
    pub min_score: Option<f64>,
    /// Multiply scripted delays of played scenarios (0.5 is faster, 0 doesn't wait)
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

    /// Print the result as one JSON document on standard output
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write a report: html, junit, json, tap or github, to a file or - for standard output (repeatable)
    #[arg(long = "report", value_name = "KIND:FILE", help_heading = "Output")]
    pub reports: Vec<String>,
    /// Write traces and results into DIR/RUN/
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub variables: VariableArgs,

    #[command(flatten)]
    pub safety: SafetyArgs,
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The first: a trace, a result of `cuecard test`, or the folder of a run
    pub first: PathBuf,
    /// The second, of the same kind
    pub second: PathBuf,
    /// Don't compare what a JSON pointer names in two traces; `*` stands for any text of a part, `**` for any parts (repeatable)
    #[arg(long, value_name = "POINTER")]
    pub ignore: Vec<String>,
    /// Print the differences as one JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// Where variables get their values.
#[derive(Debug, Default, Args)]
pub(crate) struct VariableArgs {
    /// Give a variable a value (repeatable)
    #[arg(long = "var", value_name = "NAME=VALUE", help_heading = "Variables")]
    pub variables: Vec<String>,
    /// Give a variable a JSON value (repeatable)
    #[arg(
        long = "var-json",
        value_name = "NAME=JSON",
        help_heading = "Variables"
    )]
    pub json_variables: Vec<String>,
    /// Read variables from a file of NAME=VALUE lines
    #[arg(long = "env", value_name = "FILE", help_heading = "Variables")]
    pub env_file: Option<PathBuf>,
    /// Keep a variable's value out of everything that is written; it comes from CUECARD_VAR_NAME or a prompt
    #[arg(long = "secret", value_name = "NAME", help_heading = "Variables")]
    pub secrets: Vec<String>,
}

/// What the rules of timelines ask for.
#[derive(Debug, Default, Args)]
pub(crate) struct SymbolArgs {
    /// Define a symbol for the rules of timelines: K, or K=V (repeatable; also from CUECARD_DEFINES)
    #[arg(long = "define", alias = "scenario-define", value_name = "K=V")]
    pub defines: Vec<String>,
}

/// What a scenario may do.
#[derive(Debug, Args)]
#[command(next_help_heading = "Safety")]
pub(crate) struct SafetyArgs {
    /// Where paths made from a server's answers must stay (default: the working directory)
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Keep everything inside the root, and run no commands
    #[arg(long)]
    pub confine: bool,
    /// Change nothing: no writes, no commands
    #[arg(long)]
    pub read_only: bool,
    /// Allow a folder outside the root (repeatable)
    #[arg(long = "allow-path", value_name = "DIR")]
    pub allow_paths: Vec<PathBuf>,
    /// Allow a host that would be refused (repeatable)
    #[arg(long = "allow-host", value_name = "HOST")]
    pub allow_hosts: Vec<String>,
    /// Allow a command that would be refused (repeatable)
    #[arg(long = "allow-command", value_name = "NAME")]
    pub allow_commands: Vec<String>,
    /// Allow these hosts only (repeatable, or comma-separated)
    #[arg(long = "only-hosts", value_name = "HOST", value_delimiter = ',')]
    pub only_hosts: Vec<String>,
    /// Allow these commands only (repeatable, or comma-separated)
    #[arg(long = "only-commands", value_name = "NAME", value_delimiter = ',')]
    pub only_commands: Vec<String>,
}

impl SafetyArgs {
    /// The root, seen from the working directory.
    pub(crate) fn root_in(&self, working_directory: &Path) -> PathBuf {
        match &self.root {
            Some(root) => working_directory.join(root),
            None => working_directory.to_owned(),
        }
    }
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
    /// The scenarios, timelines and test cases, folders of timelines, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub files: Vec<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,
    /// Propose targets for the element ids in a scenario, from this snapshot of a page as a browser's server wrote it
    #[arg(long, value_name = "FILE")]
    pub snapshot: Vec<PathBuf>,
    #[command(flatten)]
    pub symbols: SymbolArgs,
    /// Print the findings as one JSON document on standard output
    #[arg(long)]
    pub json: bool,

    /// Read servers from this file only
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    pub config: Option<PathBuf>,
    /// Start the servers too, and check tools and parameters; no tool is called
    #[arg(long, help_heading = "Servers")]
    pub connect: bool,
    /// Read variables, also those of configs, from a file of NAME=VALUE lines
    #[arg(long = "env", value_name = "FILE", help_heading = "Servers")]
    pub env_file: Option<PathBuf>,
    /// With --connect: the longest that starting a server may take, in seconds
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
    /// Print the list as one JSON document on standard output
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
    /// The longest that starting a server may take, in seconds
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Start no server: only tell which there are, and where they come from
    #[arg(long)]
    pub no_start: bool,
    /// Print the findings as one JSON document on standard output
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
    /// The longest that starting the server, or a call, may take, in seconds
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
    /// The server: its name in a config, or its address
    #[arg(value_name = "SERVER")]
    pub server_name: Option<String>,
    /// The command that starts the server, in place of its name
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Print the tools and their schemas as one JSON document
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Arguments of `call`.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The server (its name in a config, or its address) and the tool; the tool alone if a command starts the server
    #[arg(value_name = "SERVER> <TOOL", required = true, num_args = 1..=2)]
    pub names: Vec<String>,
    /// The command that starts the server
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// An argument (repeatable): a text where the tool takes one, else JSON
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub texts: Vec<String>,
    /// An argument as JSON (repeatable)
    #[arg(long = "arg-json", value_name = "NAME=JSON")]
    pub values: Vec<String>,
    /// All arguments as a JSON object, `@FILE` for one in a file, or `-` for standard input
    #[arg(long = "args", value_name = "JSON", allow_hyphen_values = true)]
    pub all: Option<String>,
    /// Print the answer as one JSON document
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The scenario, timeline or browser steps, or `-` for standard input
    pub file: PathBuf,
    /// What browser steps become: a tool-call scenario, or a test for Playwright's own runner
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["in_place", "terminal_file"])]
    pub to: Option<ExportForm>,
    /// With --to tool-call: the browser's server that the scenario is for
    #[arg(
        long,
        value_enum,
        value_name = "SERVER",
        requires = "to",
        default_value = "chrome-devtools"
    )]
    pub server: ExportServer,
    /// With --to: export the steps of a parse that did not succeed with every action
    #[arg(long, requires = "to")]
    pub allow_partial: bool,
    /// Write the result into this file instead of printing it
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    pub output: Option<PathBuf>,
    /// Write the result into the scenario's own file
    #[arg(short, long)]
    pub in_place: bool,
    /// Put a terminal config that stands in the timeline into this file beside it: .yaml, .yml or .json
    #[arg(long, value_name = "FILE")]
    pub terminal_file: Option<String>,
    /// Replace the file given with --output
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Print the result and the findings as one JSON document on standard output
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
    /// The timelines and folders of them, or `-` for standard input, which is printed
    #[arg(required = true, value_name = "PATH")]
    pub files: Vec<PathBuf>,
    /// Write nothing: name the files that are laid out otherwise, and fail if there are any
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A code, or timelines and folders of them
    #[arg(value_name = "CODE|PATH")]
    pub what: Vec<PathBuf>,
    /// Say which of the timelines is chosen for this prompt, and why
    #[arg(long, value_name = "TEXT", requires = "what")]
    pub prompt: Option<String>,
    /// The distance above which no timeline is chosen, from 0 to 1
    #[arg(
        long,
        value_name = "DISTANCE",
        allow_negative_numbers = true,
        default_value_t = cuecard_timeline::script::DEFAULT_MAX_DISTANCE,
        requires = "prompt"
    )]
    pub max_distance: f64,
    /// Say how one player takes each event
    #[arg(long, value_enum, value_name = "NAME")]
    pub player: Option<Player>,
    /// Multiply times (0.5 is faster, 0 doesn't wait)
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
    /// Print the result as one JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// Who plays a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Player {
    /// The stand-in for a model's API.
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
    /// The format; without it all are listed
    pub name: Option<String>,
    /// Write the schema, or all of them, as NAME.schema.json into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Arguments of `mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// What to serve
    #[command(subcommand)]
    pub what: McpServer,
}

/// The servers the binary brings.
#[derive(Debug, Subcommand)]
pub(crate) enum McpServer {
    /// Notes, a counter, a text tool and one that fails on demand: over stdio, or HTTP with --http
    Demo {
        /// Serve Streamable HTTP instead of stdio
        #[arg(long)]
        http: bool,
        /// The port (0: any free one)
        #[arg(long, requires = "http", default_value_t = 0)]
        port: u16,
        /// The address; another than this machine's own needs --token
        #[arg(
            long,
            requires = "http",
            default_value = "127.0.0.1",
            value_name = "ADDRESS"
        )]
        bind: IpAddr,
        /// Ask clients for this bearer token
        #[arg(long, requires = "http")]
        token: Option<String>,
    },
}

/// Shows what clap has to say; help and version are no errors.
pub(crate) fn report(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    // A closed pipe is the reader's wish.
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::Passed;
    }
    if arguments.iter().any(|argument| argument == "--json") {
        let message = error.to_string();
        let first = message
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        let line = serde_json::json!({"severity": "error", "code": "X-ARG-01", "message": first});
        crate::output::stderr_line(&line.to_string());
    }
    ExitCode::Invalid
}
