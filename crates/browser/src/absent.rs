//! The bridge of a build without a browser: nobody can have one, so that none of what it could be asked is ever asked.

use std::path::PathBuf;
use std::time::Duration;

use super::failure::{Failure, not_built_in};
use super::{
    BrowserOptions, CaptureOptions, ClickKind, Download, ElementAddress, Guard, Loaded, Navigation,
    SearchMove, WaitOutcome, WaitPolicy,
};
use cuecard_browser_steps::model::{Dialog, Direction};
use cuecard_runtime::policy::Refusal;

/// A browser that there never is.
#[derive(Debug)]
pub enum BrowserBridge {}

impl BrowserBridge {
    /// Says that there is no browser.
    ///
    /// # Errors
    /// Always.
    pub async fn start(_: &BrowserOptions) -> Result<Self, Failure> {
        Err(not_built_in())
    }
}

#[allow(missing_docs, clippy::missing_errors_doc)]
impl BrowserBridge {
    pub async fn stop(self) {
        match self {}
    }

    pub async fn navigate_until(
        &mut self,
        _: &Navigation,
        _: Loaded,
        _: Duration,
    ) -> Result<Option<u16>, Failure> {
        match *self {}
    }

    pub async fn capture(&mut self, _: &CaptureOptions) -> Result<String, Failure> {
        match *self {}
    }

    pub fn guard(&mut self, _: Option<Guard>) {
        match *self {}
    }

    pub fn current_tab(&self) -> usize {
        match *self {}
    }

    pub async fn title(&self) -> String {
        match *self {}
    }

    pub async fn evaluate(&mut self, _: &str) -> Result<serde_json::Value, Failure> {
        match *self {}
    }

    pub fn refused(&self) -> Option<Refusal> {
        match *self {}
    }

    pub fn refused_frames(&self) -> Vec<Refusal> {
        match *self {}
    }

    pub(crate) fn has_abandoned(&self) -> bool {
        match *self {}
    }

    pub fn url(&self) -> String {
        match *self {}
    }

    pub fn dialogs(&self) -> Vec<Dialog> {
        match *self {}
    }

    pub fn downloads(&self) -> Vec<Download> {
        match *self {}
    }

    pub async fn wait_for_downloads(&self, _: usize, _: Duration) -> Vec<Download> {
        match *self {}
    }

    pub fn console(&self) -> Vec<String> {
        match *self {}
    }

    pub fn complaints(&mut self) -> (Vec<String>, Vec<String>) {
        match *self {}
    }

    pub async fn click(
        &mut self,
        _: &ElementAddress,
        _: ClickKind,
        _: Duration,
    ) -> Result<(), Failure> {
        match *self {}
    }

    pub async fn fill(&mut self, _: &ElementAddress, _: &str, _: Duration) -> Result<(), Failure> {
        match *self {}
    }

    pub async fn set_checked(
        &mut self,
        _: &ElementAddress,
        _: bool,
        _: Duration,
    ) -> Result<(), Failure> {
        match *self {}
    }

    pub async fn select(
        &mut self,
        _: &ElementAddress,
        _: &str,
        _: Duration,
    ) -> Result<(), Failure> {
        match *self {}
    }

    pub async fn press(
        &mut self,
        _: Option<&ElementAddress>,
        _: &str,
        _: Duration,
    ) -> Result<(), Failure> {
        match *self {}
    }

    pub async fn hover(&mut self, _: &ElementAddress, _: Duration) -> Result<(), Failure> {
        match *self {}
    }

    pub async fn drag(
        &mut self,
        _: &ElementAddress,
        _: &ElementAddress,
        _: Duration,
    ) -> Result<(), Failure> {
        match *self {}
    }

    pub async fn scroll(&mut self, _: Direction) -> Result<(), Failure> {
        match *self {}
    }

    pub async fn scroll_to(&mut self, _: &ElementAddress, _: Duration) -> Result<(), Failure> {
        match *self {}
    }

    pub async fn upload(
        &mut self,
        _: &ElementAddress,
        _: &[PathBuf],
        _: Duration,
    ) -> Result<(), Failure> {
        match *self {}
    }

    pub async fn extract(&mut self, _: &ElementAddress, _: Duration) -> Result<String, Failure> {
        match *self {}
    }

    pub async fn screenshot_hiding(&mut self, _: &[ElementAddress]) -> Result<Vec<u8>, Failure> {
        match *self {}
    }

    pub async fn gives_file(&mut self, _: &ElementAddress) -> bool {
        match *self {}
    }

    pub async fn search(&mut self, _: SearchMove) -> Result<bool, Failure> {
        match *self {}
    }

    pub async fn settle(&mut self, _: WaitPolicy) -> Result<WaitOutcome, Failure> {
        match *self {}
    }
}
