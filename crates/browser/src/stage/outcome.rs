//! What came of a deed.

use cuecard_browser_steps::model::Observed;
use cuecard_page::dom::DomState;

/// The page at one moment.
#[derive(Debug, Clone)]
pub struct PageState {
    /// What is on it. Secrets are masked.
    pub state: DomState,
}

/// A deed that was performed.
#[derive(Debug, Clone)]
pub struct Performed {
    /// What came of it.
    pub outcome: Outcome,
    /// The state on which an assertion was judged, or a scroll to an element ended. None after other deeds: ask the
    /// stage.
    pub scene: Option<std::sync::Arc<PageState>>,
}

/// What was seen after a deed. Secrets are masked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// As steps keep it.
    pub observed: Observed,
    /// The tab in which it was done, from 0.
    pub tab: usize,
}
