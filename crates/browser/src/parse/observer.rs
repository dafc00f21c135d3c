//! Who follows a parse: it is told what happens, and may be asked.

use std::time::Duration;

use cuecard_browser_steps::model::{StepsFile, Translator};

use crate::stage::{Failure, Outcome};

/// What happens during a parse. Texts hold no secrets.
#[derive(Debug, Clone, PartialEq)]
pub enum ParseEvent<'a> {
    /// The first page is being opened.
    Opening {
        /// Its address, with references as they stand.
        url: &'a str,
    },
    /// An action begins.
    Begun {
        /// Its place, from 0.
        ordinal: usize,
        /// The sentence.
        action: &'a str,
    },
    /// A model is being asked.
    Asking {
        /// The place of the action.
        ordinal: usize,
    },
    /// An action was understood, and is being done.
    Understood {
        /// Its place.
        ordinal: usize,
        /// Who read it.
        translator: Translator,
        /// What is done, in words: `textbox "E-mail"`.
        words: &'a str,
    },
    /// Something was learned that is worth keeping, should the parse not come to its end. It is told before the action
    /// that gave it is said to have ended.
    Kept {
        /// What the parse would give if it ended here: its status is partial.
        file: &'a StepsFile,
    },
    /// An action ended.
    Ended {
        /// Its place.
        ordinal: usize,
        /// How it ended.
        marked: Marked<'a>,
        /// How long it took.
        took: Duration,
    },
}

/// How an action ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Marked<'a> {
    /// It gave a step.
    Done(&'a Outcome),
    /// It failed.
    Failed(&'a Failure),
    /// It failed, which is only a warning.
    Warned(&'a Failure),
    /// It was not tried.
    NotTried,
    /// A person left it out.
    Skipped,
}

/// What is going to be done, or could be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proposal {
    /// The place of the action, from 0.
    pub ordinal: usize,
    /// The sentence.
    pub action: String,
    /// What would be done, in words; none if it is not clear.
    pub understood: Option<String>,
    /// Why it is not clear.
    pub reason: Option<String>,
    /// The elements that could be meant, in words.
    pub candidates: Vec<String>,
}

/// What a person decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Do what was understood. If nothing was, it fails.
    Go,
    /// Do it with this candidate, counted from 0.
    Pick(usize),
    /// Leave this action out.
    Skip,
    /// End the parse here.
    Quit,
}

/// Follows a parse.
pub trait ParseObserver: Send {
    /// Is told what happens.
    fn hear(&mut self, event: &ParseEvent<'_>);

    /// Decides what is done. Asked before anything is done, and before it is given up; who does not decide lets it go on.
    fn decide(&mut self, proposal: &Proposal) -> impl Future<Output = Choice> + Send {
        let _ = proposal;
        std::future::ready(Choice::Go)
    }
}

/// Nobody follows.
impl ParseObserver for () {
    fn hear(&mut self, _: &ParseEvent<'_>) {}
}
