//! A stored step as what is to be done.

use cuecard_browser_steps::model::{ActionKind, IntermediateStep, TestStep, Translator};
use cuecard_page::sentences::wanted_open;

/// What a step does, as a sentence would have been understood.
pub(super) fn intent(step: &TestStep) -> IntermediateStep {
    // Whoever else read the sentence chose a click.
    let is_by_rules = matches!(step.translator, None | Some(Translator::Rules));
    let may_be_done = is_by_rules && step.action == ActionKind::Click;
    IntermediateStep {
        wants_open: may_be_done
            .then(|| wanted_open(&step.description))
            .flatten(),
        // What an assertion expects stands in it already.
        input_value: match step.assertion {
            Some(_) => None,
            None => step.input_value(),
        },
        url: step.url.clone(),
        assertion: step.assertion.clone(),
        key: step.key.clone(),
        direction: step.direction,
        duration_ms: step.duration_ms,
        ..IntermediateStep::new(step.action, step.description.clone())
    }
}
