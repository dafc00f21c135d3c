//! Which model is asked about a sentence, and which recording of one.

use std::path::PathBuf;

use clap::Args;

/// The model, and the cassette.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// The model for sentences that the rules can't parse: openai/NAME or anthropic/NAME
    ///
    /// It overrides the browser script's `llm`.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Replay the model's replies from this file; a missing reply is an error
    #[arg(long, value_name = "FILE")]
    pub cassette: Option<PathBuf>,
    /// Ask the model for missing replies, and record them into the cassette
    ///
    /// Ignored if `CI` is set.
    #[arg(long, requires = "cassette")]
    pub record: bool,
}
