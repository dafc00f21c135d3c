//! The command lines of `cuecard test` and `cuecard diff`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use cuecard_judge::model::Unproven;

use super::shared::{percentage, seconds};
use super::{Choices, RealAgentArgs, SafetyArgs, SpeedArgs, VariableArgs, one_of};

/// Arguments of `test`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Execution")]
pub(crate) struct TestArgs {
    /// Test cases, scenarios, timelines, and directories of them
    ///
    /// In directories, the files test.yaml and NAME.test.yaml are tests. A scenario, also by its name as for `play`, is tested
    /// by its own checks.
    #[arg(required = true, value_name = "PATH", help_heading = None)]
    pub paths: Vec<PathBuf>,

    /// Only tests that match a text or a /pattern/ (repeatable)
    ///
    /// Compared are the id, the title, the path and the scenario's name.
    #[arg(
        short = 'k',
        long = "filter",
        visible_alias = "grep",
        value_name = "TEXT",
        help_heading = "Selection"
    )]
    pub filters: Vec<String>,
    /// Only tests with this tag (repeatable)
    #[arg(long = "tag", value_name = "TAG", help_heading = "Selection")]
    pub tags: Vec<String>,
    /// Run only shard I of N: every N-th file, starting at the I-th
    #[arg(long, value_name = "I/N", help_heading = "Selection")]
    pub shard: Option<String>,
    /// List the tests without running them
    #[arg(long, help_heading = "Selection")]
    pub list: bool,

    /// Draft a test of a recorded run: a trace, a transcript, or a replay bundle
    ///
    /// The draft is written beside the recording, as NAME.test.yaml.
    #[arg(long, help_heading = "Selection", conflicts_with_all = ["list", "watch", "update", "mutate", "reports", "out", "shard"])]
    pub init: bool,

    /// Number of tests to run at the same time [default: number of cores]
    #[arg(short, long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=256))]
    pub jobs: Option<usize>,
    /// Stop after the first failing test
    ///
    /// `serve llm` has the opposite: it stops at the first failed assert without --keep-going.
    #[arg(short = 'x', long)]
    pub fail_fast: bool,
    /// Treat warnings as errors; also fail assertions with nothing to check
    #[arg(long)]
    pub strict: bool,
    /// Unproven claims: warn, fail or pass [default: as in the test case]
    #[arg(long, value_name = "WHAT", value_parser = one_of(UNPROVEN), hide_possible_values = true)]
    pub unproven: Option<Unproven>,
    /// Timeout for a test, in seconds [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
    /// Update the stored traces of trace_snapshot with those of this run
    #[arg(long)]
    pub update: bool,
    /// Rerun tests when a file they depend on changes, until Ctrl-C
    ///
    /// With --json, this prints JSON Lines: one line for each run.
    #[arg(long, conflicts_with_all = ["list", "update", "fail_fast", "shard", "reports", "out", "mutate"])]
    pub watch: bool,
    /// Mutation testing: list the changes of traces that no test detects
    #[arg(long, conflicts_with_all = ["list", "update", "fail_fast", "reports", "out"])]
    pub mutate: bool,
    /// With --mutate: fail if fewer mutants are detected, in percent
    #[arg(
        long,
        value_parser = percentage,
        value_name = "PERCENT",
        allow_negative_numbers = true,
        requires = "mutate"
    )]
    pub min_score: Option<f64>,
    #[command(flatten, next_help_heading = "Execution")]
    pub speed: SpeedArgs,
    /// Read servers from this file only
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Print the result as JSON to stdout
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write a report: html, junit, json, tap or github (repeatable)
    ///
    /// The file `-` is standard output.
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
    /// The first input: a trace, a transcript, a result of `cuecard test`, or a run directory
    pub first: PathBuf,
    /// The second input, of the same kind
    pub second: PathBuf,
    /// Ignore the values at a JSON pointer when comparing traces (repeatable)
    ///
    /// `*` matches any text within a segment, `**` any number of segments.
    #[arg(long, value_name = "POINTER")]
    pub ignore: Vec<String>,
    /// Print the differences as JSON to stdout
    #[arg(long)]
    pub json: bool,
}

/// The values of `--unproven`.
const UNPROVEN: Choices<Unproven> = &[
    ("warn", Unproven::Warn, "They are warnings"),
    ("fail", Unproven::Fail, "They fail the test"),
    ("pass", Unproven::Pass, "They pass"),
];
