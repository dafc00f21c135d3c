//! Which model is asked about a sentence, and which recording of one.

use std::path::PathBuf;

use clap::Args;

/// The model, and the cassette.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// The model to ask when the rules can't parse a sentence: openai/NAME or anthropic/NAME (overrides the scenario's `llm`)
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Replay the model's replies from this file; a missing reply is an error
    #[arg(long, value_name = "FILE")]
    pub cassette: Option<PathBuf>,
    /// Record the run into the cassette, and ask the model for missing replies; ignored if `CI` is set
    #[arg(long, requires = "cassette")]
    pub record: bool,
    /// Replay the whole run from the cassette, without a browser or a model
    #[arg(long, requires = "cassette", conflicts_with_all = ["record", "interactive"])]
    pub offline: bool,
}
