//! How often a call is tried again, and what its failure does.

use serde_json::Map;

use crate::scenario::browser::TestStep;
use crate::value::Json;

/// How often an element or an assertion is looked for, in milliseconds.
const AGAIN: u64 = 250;

/// The most retries that a scenario may ask for.
const MOST_RETRIES: u64 = 1_000;

/// What a target that finds nothing says; only this is tried again, since nothing was done yet.
const NOT_FOUND: &str = "element not found";

/// Keys that steps of every kind have: a time, what a failure does, and how long an element is looked for.
pub(super) fn common(step: &TestStep, look_for_ms: Option<u64>) -> Map<String, Json> {
    let mut more = Map::new();
    match (step.optional, look_for_ms) {
        (true, _) => {
            more.insert("on_error".to_owned(), "skip".into());
        }
        (false, Some(limit)) => more = retry(limit, Some(NOT_FOUND), false),
        (false, None) => {}
    }
    more
}

/// Tries again for so many milliseconds.
pub(super) fn retry(limit_ms: u64, condition: Option<&str>, then_skip: bool) -> Map<String, Json> {
    let mut retry = Map::new();
    let count = (limit_ms / AGAIN).clamp(1, MOST_RETRIES);
    retry.insert("count".to_owned(), count.into());
    retry.insert("delay".to_owned(), AGAIN.into());
    retry.insert("backoff".to_owned(), "constant".into());
    if let Some(condition) = condition {
        retry.insert("condition".to_owned(), condition.into());
    }
    if then_skip {
        retry.insert("then".to_owned(), "skip".into());
    }
    let mut more = Map::new();
    more.insert("on_error".to_owned(), "retry".into());
    more.insert("retry".to_owned(), Json::Object(retry));
    more
}
