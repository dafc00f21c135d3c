//! What else is kept of a run: pictures, and what the page complained of.

use super::Deadline;
use crate::ElementAddress;

/// What a page complained of since somebody asked last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageErrors {
    /// Errors on its console, and those of its scripts.
    pub console: Vec<String>,
    /// Requests that failed.
    pub requests: Vec<String>,
}

/// Sees more of a page than is needed to perform steps.
pub trait PageInspector {
    /// The page as it looks, as PNG; what secret fields hold is painted over. None if no picture can be taken.
    fn screenshot(&mut self) -> impl Future<Output = Option<Vec<u8>>> + Send;

    /// Brings an element into view, if it can be.
    fn show(
        &mut self,
        target: &ElementAddress,
        deadline: Deadline,
    ) -> impl Future<Output = ()> + Send;

    /// The last lines of the console.
    fn console(&mut self) -> Vec<String>;

    /// What is new since this was asked last.
    fn complaints(&mut self) -> PageErrors;
}
