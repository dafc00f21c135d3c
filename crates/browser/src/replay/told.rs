//! Steps, and what came of them, as reports and traces have them.

use std::time::Duration;

use cuecard_browser_steps::model::browser_notes;
use cuecard_browser_steps::model::{Observed, TestStep};
use cuecard_report::browser_html::BrowserStep;
use cuecard_source::value::as_text;
use cuecard_trace::StepError;

use serde_json::json;

use crate::stage::Failure;

/// A step as a report shows it, before anything is known of it.
pub(super) fn shown(step: &TestStep, number: u64) -> BrowserStep {
    BrowserStep {
        number,
        id: step.id.clone(),
        words: step.description.clone(),
        action: step.action.as_str().to_owned(),
        selector: step.selectors.first().cloned(),
        value: step
            .value
            .as_ref()
            .map(|value| as_text(value).into_owned())
            .or_else(|| step.url.clone())
            .or_else(|| step.key.clone()),
        ..BrowserStep::default()
    }
}

/// Dialogs, downloads and warnings in words.
pub(super) fn notes(observed: &Observed) -> Vec<String> {
    let settle = observed
        .settle
        .iter()
        .filter(|word| *word == "bounded")
        .map(|_| "the page was still busy when the wait for it ended".to_owned());
    browser_notes(&json!(observed))
        .into_iter()
        .chain(settle)
        .chain(observed.warnings.iter().cloned())
        .collect()
}

/// A failure as steps of a trace have it.
pub(super) fn step_error(failure: &Failure) -> StepError {
    let near = failure
        .candidates
        .iter()
        .map(|words| format!("similar: {words}"));
    let call = failure.call.iter().map(|call| match &failure.selector {
        Some(selector) => format!("in `{call}` on `{selector}`"),
        None => format!("in `{call}`"),
    });
    let selector = failure
        .selector
        .iter()
        .filter(|_| failure.call.is_none())
        .map(|selector| format!("searched by `{selector}`"));
    StepError {
        code: failure.code.clone(),
        error_type: failure
            .code
            .strip_prefix("B-")
            .unwrap_or(&failure.code)
            .to_owned(),
        message: failure.message.clone(),
        notes: near.chain(call).chain(selector).collect(),
        help: failure.help.clone(),
    }
}

/// To the microsecond.
pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}
