//! Browser scenarios: what a model is asked about a sentence, and whether its answer can be used.
//!
//! A model sees the page as text, what was done before, and one sentence; it answers by calling one function. What it
//! answers is checked against the page and the sentence before anything is done: it may not invent.

mod allowed_values;
mod answer;
mod cassette;
mod function;
mod prompt;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Call, InvalidReply, Question};
pub use cassette::cassette_key;
pub use function::{FUNCTION_NAME, function_description, function_schema};
pub use prompt::{PreviousStep, Prompt, SYSTEM};
