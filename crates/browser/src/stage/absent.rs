//! The stage of a build without a browser: nobody can have one, so that nothing is ever asked of it.

use std::sync::Arc;

use super::{
    Deadline, Failure, Outcome, PageErrors, PageInspector, PageState, Performed, Stage,
    StageAction, Targets, Values,
};
use crate::{ElementAddress, WaitPolicy};

/// A browser that there never is.
#[derive(Debug)]
pub enum LiveStage {}

#[allow(missing_docs, clippy::missing_errors_doc)]
impl LiveStage {
    pub fn values(&self) -> &Values {
        match *self {}
    }

    pub async fn picture(&mut self) -> Result<Vec<u8>, Failure> {
        match *self {}
    }

    pub fn page_text(&self) -> Option<String> {
        match *self {}
    }

    pub fn console(&self) -> Vec<String> {
        match *self {}
    }

    pub async fn stop(self) {
        match self {}
    }
}

impl Stage for LiveStage {
    async fn open(&mut self, _: &str, _: WaitPolicy, _: Deadline) -> Result<Outcome, Failure> {
        match *self {}
    }

    async fn look(&mut self) -> Result<Arc<PageState>, Failure> {
        match *self {}
    }

    async fn look_again(&mut self, _: Deadline) -> Result<Option<Arc<PageState>>, Failure> {
        match *self {}
    }

    async fn perform(
        &mut self,
        _: &StageAction<'_>,
        _: &mut (dyn Targets + Send),
    ) -> Result<Performed, Failure> {
        match *self {}
    }
}

impl PageInspector for LiveStage {
    async fn screenshot(&mut self) -> Option<Vec<u8>> {
        match *self {}
    }

    async fn show(&mut self, _: &ElementAddress, _: Deadline) {
        match *self {}
    }

    fn console(&mut self) -> Vec<String> {
        match *self {}
    }

    fn complaints(&mut self) -> PageErrors {
        match *self {}
    }
}
