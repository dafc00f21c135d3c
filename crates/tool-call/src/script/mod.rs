//! The running machine: a scenario and what has happened so far give what to do now. Pure: time is a number.

mod answers;
mod failure;
mod machine;
mod page_check;
mod resolve;
mod results;
mod variables;

#[cfg(test)]
mod tests;

pub use answers::{Answered, ReadyAnswers, Unanswered};
pub use failure::{Failure, FailureKind};
pub use machine::{
    CallOutcome, CallRequest, Effect, ElementTarget, Options, Script, Summary, Verdict,
    step_of_call,
};
pub use resolve::Bindings;
pub use variables::{Given, bind_variables, help_on_unknown_variable, short_secret};
