//! What a sentence means by the rules, on the page as it is.

use cuecard_browser_steps::model::{ActionKind, BrowserAssertion, IntermediateStep};
use cuecard_page::dom::NodeId;
use cuecard_page::selector::Finder;
use cuecard_page::sentences::{
    Intent, NotFound, Translation, Understanding, nearest_form, understand,
};
use cuecard_source::diagnostic::codes;

use crate::stage::{Failure, Values, ambiguous, choices, with_values};

/// What a sentence means on a page, whoever read it.
#[derive(Debug)]
pub(super) struct Translated {
    /// What is done.
    pub step: IntermediateStep,
    /// Its element; none if it needs none.
    pub target: Option<NodeId>,
    /// What that is dragged to.
    pub to: Option<NodeId>,
    /// What finds it on each new state, if words do.
    pub intent: Option<Intent>,
}

/// Why nothing is done: one of several may be meant, or nothing that is there.
#[derive(Debug)]
pub(super) struct Unclear {
    /// What could be meant; none if nothing is there.
    pub candidates: Vec<NodeId>,
    pub failure: Failure,
}

/// Reads a sentence. The names in what comes of it have values in the place of references.
///
/// # Errors
/// Why the rules can't read it, and whether nobody else may.
pub(super) fn read(sentence: &str, values: &Values) -> Result<Intent, (Failure, bool)> {
    match understand(sentence) {
        Understanding::Understood(intent) => Ok(with_values(*intent, values)),
        Understanding::NotUnderstood { is_final: true, .. } => {
            let message = "it says what is not to be done, which is no action";
            let failure = Failure::new(codes::BROWSER_NOT_UNDERSTOOD, message);
            let help = "leave it out, or verify what must not be there";
            Err((failure.help(help), true))
        }
        Understanding::NotUnderstood { reason, .. } => {
            let failure = Failure::new(codes::BROWSER_NOT_UNDERSTOOD, reason);
            let failure = match nearest_form(sentence) {
                Some(form) => failure.help(format!("the closest form is: {form}")),
                None => failure
                    .help("start with a verb: click X, type 'text' into X, verify X is visible"),
            };
            Err((failure, false))
        }
        Understanding::Compound { parts } => {
            let failure = compound();
            let failure = match parts.is_empty() {
                true => {
                    failure.help("write one action for each; put a name with \"and\" in quotes")
                }
                false => {
                    let parts: Vec<String> = parts.iter().map(|part| format!("- {part}")).collect();
                    failure.help(format!("write one action for each:\n{}", parts.join("\n")))
                }
            };
            Err((failure, true))
        }
    }
}

fn compound() -> Failure {
    Failure::new(codes::BROWSER_COMPOUND, "it asks for more than one action")
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
///
/// # Errors
/// If it means nothing there, or one of several elements.
pub(super) fn meaning(
    sentence: &str,
    read: &Result<Intent, Failure>,
    finder: Finder<'_>,
) -> Result<Translated, Unclear> {
    let in_part_or = |failure: Failure| match in_part(sentence, finder) {
        Some(found) => found,
        None => Err(Unclear {
            candidates: Vec::new(),
            failure,
        }),
    };
    let intent = match read {
        Ok(intent) => intent,
        Err(failure) => return in_part_or(failure.clone()),
    };
    let intended = |step: IntermediateStep, target, to| Translated {
        step,
        target,
        to,
        intent: Some(intent.clone()),
    };
    match finder.resolve(intent) {
        Translation::Step { target, to, step } => Ok(intended(*step, target, to)),
        Translation::Ambiguous {
            candidates,
            words,
            say,
        } => Err(unclear(candidates, words, &say)),
        Translation::NotFound(_) if may_be_absent(intent) => {
            let own = || intended(intent.step.clone(), None, None);
            let found = in_part(sentence, finder).and_then(Result::ok);
            Ok(found.unwrap_or_else(own))
        }
        Translation::NotFound(found) => in_part_or(absent(&found)),
        // It was read already.
        Translation::NotUnderstood { reason } => Err(Unclear {
            candidates: Vec::new(),
            failure: Failure::new(codes::BROWSER_NOT_UNDERSTOOD, reason),
        }),
        Translation::Compound { .. } => Err(Unclear {
            candidates: Vec::new(),
            failure: compound(),
        }),
    }
}

/// What a sentence means that names its element only in part.
fn in_part(sentence: &str, finder: Finder<'_>) -> Option<Result<Translated, Unclear>> {
    let (translation, intent) = match finder.read_partially(sentence)? {
        Ok(intent) => (finder.resolve(&intent), Some(intent)),
        Err(ambiguous) => (ambiguous, None),
    };
    match translation {
        Translation::Step { target, to, step } => Some(Ok(Translated {
            target,
            to,
            step: *step,
            intent,
        })),
        Translation::Ambiguous {
            candidates,
            words,
            say,
        } => Some(Err(unclear(candidates, words, &say))),
        _ => None,
    }
}

fn unclear(candidates: Vec<NodeId>, words: Vec<String>, say: &[String]) -> Unclear {
    Unclear {
        candidates,
        failure: ambiguous(words, say),
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
