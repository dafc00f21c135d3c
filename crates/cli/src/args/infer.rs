//! Raw arguments of `infer` and `record transcript`.

use std::path::PathBuf;

use clap::Args;
use cuecard_trace::import::TranscriptFormat;

use super::{Choices, SecretVariableArgs, one_of};

/// Arguments of `infer`.
#[derive(Debug, Args)]
pub(crate) struct InferArgs {
    /// A recording: a cassette, a scenario with its cassette next to it, or the transcript of an agent's session
    #[arg(value_name = "FILE")]
    pub first: PathBuf,
    /// A second recording of the same task, with other values: what differs is a variable or an output
    #[arg(value_name = "SECOND")]
    pub second: Option<PathBuf>,

    #[command(flatten)]
    pub scenario: InferredScenarioArgs,
}

/// Arguments of `record transcript`.
#[derive(Debug, Args)]
pub(crate) struct RecordTranscriptArgs {
    /// The session: a file of Claude Code or Codex, or their output
    ///
    /// The output is that of `claude --output-format stream-json` or `codex exec --json`.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    #[command(flatten)]
    pub scenario: InferredScenarioArgs,
}

/// Where the scenario goes, and how the recordings are read.
#[derive(Debug, Args)]
pub(crate) struct InferredScenarioArgs {
    /// The scenario file to write [default: standard output]; --force replaces a file
    #[arg(short, long = "output", alias = "out", value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
    /// Format of the transcript, if it can't be told from its lines
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT")]
    pub format: Option<TranscriptFormat>,
    #[command(flatten)]
    pub secret: SecretVariableArgs,
    /// Print the scenario, the open questions and the proposals as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// The values of `--format`.
const FORMATS: Choices<TranscriptFormat> = &[
    (
        "claude-code",
        TranscriptFormat::ClaudeCode,
        "A session of Claude Code, or its `stream-json` output",
    ),
    (
        "codex",
        TranscriptFormat::Codex,
        "A session of Codex, or the output of `codex exec --json`",
    ),
    (
        "atif",
        TranscriptFormat::Atif,
        "The Agent Trajectory Interchange Format",
    ),
    (
        "otlp",
        TranscriptFormat::Otlp,
        "OpenTelemetry spans as JSON",
    ),
];
