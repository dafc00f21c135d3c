//! What else is kept of a run: pictures, and what the page complained of.

use cuecard_report::browser_html::Picture;

use crate::ElementAddress;
use crate::stage::Deadline;
use crate::stage::LiveStage;

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

impl PageInspector for LiveStage {
    async fn screenshot(&mut self) -> Option<Vec<u8>> {
        // A page that is gone has no picture; the step says so.
        self.picture().await.ok()
    }

    async fn show(&mut self, target: &ElementAddress, deadline: Deadline) {
        // What can't be brought into view is acted on, or not, all the same.
        let _ = self.bridge().scroll_to(target, deadline.left()).await;
    }

    fn console(&mut self) -> Vec<String> {
        LiveStage::console(self)
    }

    fn complaints(&mut self) -> PageErrors {
        let (console, requests) = self.bridge().complaints();
        PageErrors { console, requests }
    }
}

/// A picture of a page with the place of the target on it.
pub(super) fn picture(png: Vec<u8>, size: (f64, f64), target: Option<[f64; 4]>) -> Picture {
    Picture { png, size, target }
}
