//! Which model is asked about a sentence, and which recording of one.

use std::path::PathBuf;

use clap::Args;

/// The model, and the cassette.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// The model for what the rules can't read: openai/NAME or anthropic/NAME, in place of the scenario's `llm`
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Find the model's replies in this file; one that is missing is an error
    #[arg(long, value_name = "FILE")]
    pub cassette: Option<PathBuf>,
    /// Record the run into the cassette, and ask for replies that are missing; not if `CI` is set
    #[arg(long, requires = "cassette")]
    pub record: bool,
    /// Play the whole run from the cassette, without a browser and without a model
    #[arg(long, requires = "cassette", conflicts_with_all = ["record", "interactive"])]
    pub offline: bool,
}
