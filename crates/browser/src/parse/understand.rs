//! What a sentence means by the rules, on the page as it is.

use cuecard_browser_steps::model::{ActionKind, BrowserAssertion, IntermediateStep};
use cuecard_page::dom::NodeId;
use cuecard_page::selector::Finder;
use cuecard_page::sentences::{
    Intent, NotFound, Translation, Understanding, nearest_form, understand,
};
use cuecard_source::diagnostic::codes;

use crate::stage::{Failure, Values, ambiguous, choices, with_values};

/// What the rules make of a sentence.
#[derive(Debug)]
pub(super) enum Reading {
    /// They can read it.
    Read(Box<Intent>),
    /// They can't; the failure says so.
    NotRead(Failure),
    /// It is no single action, whoever reads it.
    Refused(Failure),
}

/// What an intent means on a page.
#[derive(Debug)]
pub(super) enum Meaning {
    /// This element, or none if it needs none.
    Clear {
        target: Option<NodeId>,
        /// What that is dragged to.
        to: Option<NodeId>,
        /// What is done with it.
        step: Box<IntermediateStep>,
        /// What finds it on each new state, if words do.
        intent: Option<Box<Intent>>,
    },
    /// One of these.
    Unclear {
        candidates: Vec<NodeId>,
        failure: Failure,
    },
    /// Nothing that is there.
    Absent(Failure),
}

/// Reads a sentence. The names in what comes of it have values in the place of references.
pub(super) fn reading(sentence: &str, values: &Values) -> Reading {
    match understand(sentence) {
        Understanding::Understood(intent) => Reading::Read(Box::new(with_values(*intent, values))),
        Understanding::NotUnderstood { reason, is_final } => {
            if is_final {
                let message = "it says what is not to be done, which is no action";
                let failure = Failure::new(codes::BROWSER_NOT_UNDERSTOOD, message);
                return Reading::Refused(
                    failure.help("leave it out, or verify what must not be there"),
                );
            }
            let failure = Failure::new(codes::BROWSER_NOT_UNDERSTOOD, reason);
            Reading::NotRead(match nearest_form(sentence) {
                Some(form) => failure.help(format!("the closest form is: {form}")),
                None => failure
                    .help("start with a verb: click X, type 'text' into X, verify X is visible"),
            })
        }
        Understanding::Compound { parts } => {
            let message = "it asks for more than one action";
            let failure = Failure::new(codes::BROWSER_COMPOUND, message);
            Reading::Refused(match parts.is_empty() {
                true => {
                    failure.help("write one action for each; put a name with \"and\" in quotes")
                }
                false => {
                    let parts: Vec<String> = parts.iter().map(|part| format!("- {part}")).collect();
                    failure.help(format!("write one action for each:\n{}", parts.join("\n")))
                }
            })
        }
    }
}

/// Whether an intent is judged or looked for by the stage itself, on each new state: then it may be about what is not
/// there now.
pub(super) fn may_be_absent(intent: &Intent) -> bool {
    let assertion = intent.step.assertion.as_ref();
    // What is scrolled to may not be rendered yet.
    assertion.is_some_and(BrowserAssertion::may_lack_element)
        || intent.step.action_type == ActionKind::Scroll
}

/// What a sentence means on a page: by what was read of it, else by the parts of names in it.
pub(super) fn meaning(
    sentence: &str,
    read: &Result<Box<Intent>, Failure>,
    finder: Finder<'_>,
) -> Meaning {
    let intent = match read {
        Ok(intent) => intent,
        Err(failure) => {
            return in_part(sentence, finder).unwrap_or_else(|| Meaning::Absent(failure.clone()));
        }
    };
    match finder.resolve(intent) {
        Translation::Step { target, to, step } => Meaning::Clear {
            target,
            to,
            step,
            intent: Some(intent.clone()),
        },
        Translation::Ambiguous {
            candidates,
            words,
            say,
        } => Meaning::Unclear {
            candidates,
            failure: ambiguous(words, &say),
        },
        Translation::NotFound(found) => {
            in_part(sentence, finder).unwrap_or_else(|| match may_be_absent(intent) {
                true => Meaning::Clear {
                    target: None,
                    to: None,
                    step: Box::new(intent.step.clone()),
                    intent: Some(intent.clone()),
                },
                false => Meaning::Absent(absent(&found)),
            })
        }
        // It was read already.
        Translation::NotUnderstood { reason } => {
            Meaning::Absent(Failure::new(codes::BROWSER_NOT_UNDERSTOOD, reason))
        }
        Translation::Compound { .. } => Meaning::Absent(Failure::new(
            codes::BROWSER_COMPOUND,
            "it asks for more than one action",
        )),
    }
}

/// What a sentence means that names its element only in part.
fn in_part(sentence: &str, finder: Finder<'_>) -> Option<Meaning> {
    let intent = finder.read_partially(sentence)?;
    match finder.resolve(&intent) {
        Translation::Step { target, to, step } => Some(Meaning::Clear {
            target,
            to,
            step,
            intent: Some(Box::new(intent)),
        }),
        _ => None,
    }
}

/// What stands before sentences for what comes near.
const NEAR: &str = "if that is meant, write";

fn absent(found: &NotFound) -> Failure {
    let failure = Failure::new(codes::BROWSER_NOT_FOUND, found.to_string());
    let failure = failure.among(found.nearest.clone());
    match choices(NEAR, &found.say) {
        Some(help) => failure.help(help),
        None if found.nearest.is_empty() => failure,
        None => failure.help("the candidates are similar: use one of their names"),
    }
}
