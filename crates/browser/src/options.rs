//! What a browser is started with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::tools::BrowserTools;
use cuecard_browser_steps::model as file;
use cuecard_runtime::policy::Policy;

/// What the user says about the browser itself.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The browser to start.
    pub browser: Option<PathBuf>,
    /// The address of a running browser to use instead.
    pub devtools_address: Option<String>,
    /// Whether it has a window.
    pub is_headed: bool,
    /// How long each call waits before it is made, to watch.
    pub slow_motion: Option<Duration>,
    /// The part of pages that is looked at, a CSS selector.
    pub page_root: Option<String>,
    /// The folder that videos of all tabs are written into.
    pub videos: Option<PathBuf>,
    /// The file that Playwright's own trace is written into. It holds all that is typed, secrets too.
    pub playwright_trace: Option<PathBuf>,
}

/// What a browser is started with.
#[derive(Debug, Clone)]
pub struct BrowserOptions {
    /// The programs that make it run.
    pub tools: BrowserTools,
    /// What the user says about the browser itself.
    pub program: Program,
    /// The options of the file: viewport, language, time zone, and what becomes of dialogs.
    pub page: file::BrowserOptions,
    /// Cookies and local storage to begin with, in Playwright's form; a secret.
    pub storage_state: Option<serde_json::Value>,
    /// Where downloads are written; it is made when the first one comes.
    pub downloads: PathBuf,
    /// What says which hosts may be opened; all if absent.
    pub policy: Option<Arc<Policy>>,
}

impl BrowserOptions {
    /// Options with the defaults, for these programs.
    pub fn new(tools: BrowserTools, downloads: PathBuf) -> Self {
        Self {
            tools,
            program: Program::default(),
            page: file::BrowserOptions::default(),
            storage_state: None,
            downloads,
            policy: None,
        }
    }
}
