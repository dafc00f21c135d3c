//! A stored step as what is to be done.

use cuecard_browser_steps::model::{IntermediateStep, TestStep};

/// What a step does, as a sentence would have been understood.
pub(super) fn intent(step: &TestStep) -> IntermediateStep {
    IntermediateStep {
        wants_open: step.wants_open(),
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
