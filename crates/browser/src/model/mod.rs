//! A model that reads sentences: what it is asked, over which API, and what it answered when it was asked before.
//!
//! [`ModelInterpreter`] holds one conversation for each sentence: what can't be used goes back to the model as one
//! line, until the replies are used up. It speaks with a [`ModelClient`], or has its replies from a [`Cassette`], or
//! both.

mod cassette;
mod client;
mod interpreter;
mod reply;
mod retry;
mod settings;
#[cfg(test)]
mod tests;

use std::future::Future;

use cuecard_browser_steps::question::{Answer, Prompt, Question};

use crate::stage::Failure;

pub use cassette::{Cassette, CassetteMode, ModelIdentity, cassette_schema};
pub use client::HttpModelClient;
pub use interpreter::{ModelClient, ModelInterpreter};
pub use reply::{Conversation, Reply, Turn};
pub use settings::{ModelSettings, Place};

/// Says what a sentence means that the rules can't read.
pub trait Interpreter: Send {
    /// Asks about a sentence: its answer was checked against the page and the sentence. `prompt` holds the same page and
    /// sentence as `question`, as text.
    ///
    /// # Errors
    /// `translation_invalid` with every reply, `model_unavailable`, `cassette_miss`.
    fn interpret(
        &mut self,
        question: &Question<'_>,
        prompt: &Prompt,
    ) -> impl Future<Output = Result<Answer, Failure>> + Send;
}
