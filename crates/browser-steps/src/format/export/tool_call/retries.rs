//! How often a call is tried again, and what its failure does.

use serde_json::{Map, json};

use super::ToolCallServer;
use crate::model::TestStep;
use cuecard_source::value::Json;

/// How often an element or an assertion is looked for, in milliseconds.
const AGAIN: u64 = 250;

/// The most retries that a scenario may ask for.
const MOST_RETRIES: u64 = 1_000;

/// What a target that finds nothing says.
const NOT_FOUND: &str = "element not found";

impl ToolCallServer {
    /// What its errors say when nothing was done yet: there is no such element, it went away before the call, or it is
    /// disabled.
    fn not_ready(self) -> [&'static str; 4] {
        match self {
            Self::ChromeDevtools => [
                NOT_FOUND,
                "no longer exists on the page",
                "is detached from document",
                "did not become interactive",
            ],
            Self::Playwright => [
                NOT_FOUND,
                "not found in the current page snapshot",
                "element was detached from the DOM",
                "element is not enabled",
            ],
        }
    }
}

/// Keys of a call on an element: it is tried again for so many milliseconds while the element is not ready.
pub(super) fn on_element(step: &TestStep, server: ToolCallServer, limit: u64) -> Map<String, Json> {
    if step.optional {
        return common(step);
    }
    let mut more = retry(limit, false);
    if let Some(Json::Object(retry)) = more.get_mut("retry") {
        retry.insert("max_ms".to_owned(), limit.into());
        retry.insert("condition".to_owned(), json!(server.not_ready()));
    }
    more
}

/// Keys that steps of every kind have: what a failure does.
pub(super) fn common(step: &TestStep) -> Map<String, Json> {
    let mut more = Map::new();
    if step.optional {
        more.insert("on_error".to_owned(), "skip".into());
    }
    more
}

/// Tries again for so many milliseconds.
pub(super) fn retry(limit_ms: u64, then_skip: bool) -> Map<String, Json> {
    let mut retry = Map::new();
    let count = (limit_ms / AGAIN).clamp(1, MOST_RETRIES);
    retry.insert("count".to_owned(), count.into());
    retry.insert("delay".to_owned(), AGAIN.into());
    retry.insert("backoff".to_owned(), "constant".into());
    if then_skip {
        retry.insert("then".to_owned(), "skip".into());
    }
    let mut more = Map::new();
    more.insert("on_error".to_owned(), "retry".into());
    more.insert("retry".to_owned(), Json::Object(retry));
    more
}
