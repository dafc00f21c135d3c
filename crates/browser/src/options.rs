//! What a browser is started with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::tools::BrowserTools;
use cuecard_runtime::policy::Policy;

/// What to do with dialogs that a page opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDialog {
    /// Close them; a question is answered with no.
    #[default]
    Dismiss,
    /// Answer them with yes, and a prompt with what it suggests.
    Accept,
}

/// What is the same on each machine, so that each sees the same page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageDefaults {
    /// Width and height of the viewport in pixels.
    pub viewport: (u32, u32),
    /// The language, such as `en-US`.
    pub locale: String,
    /// The time zone, such as `UTC`.
    pub timezone: String,
}

impl Default for PageDefaults {
    fn default() -> Self {
        Self {
            viewport: (1280, 720),
            locale: "en-US".to_owned(),
            timezone: "UTC".to_owned(),
        }
    }
}

/// What a browser is started with.
#[derive(Debug, Clone)]
pub struct BrowserOptions {
    /// The programs that make it run.
    pub tools: BrowserTools,
    /// Viewport, language and time zone.
    pub page: PageDefaults,
    /// Cookies and local storage to begin with, in Playwright's form; a secret.
    pub storage_state: Option<serde_json::Value>,
    /// Whether it has a window.
    pub is_headed: bool,
    /// How long each call waits before it is made, to watch.
    pub slow_motion: Option<Duration>,
    /// What becomes of dialogs.
    pub on_dialog: OnDialog,
    /// Where downloads are written; it is made when the first one comes.
    pub downloads: PathBuf,
    /// The address of a running browser to use instead of starting one.
    pub devtools_address: Option<String>,
    /// What says which hosts may be opened; all if absent.
    pub policy: Option<Arc<Policy>>,
    /// The folder that videos of all tabs are written into.
    pub videos: Option<PathBuf>,
    /// The file that Playwright's own trace is written into. It holds all that is typed, secrets too.
    pub playwright_trace: Option<PathBuf>,
}

impl BrowserOptions {
    /// Options with the defaults, for these programs.
    pub fn new(tools: BrowserTools, downloads: PathBuf) -> Self {
        Self {
            tools,
            page: PageDefaults::default(),
            storage_state: None,
            is_headed: false,
            slow_motion: None,
            on_dialog: OnDialog::default(),
            downloads,
            devtools_address: None,
            policy: None,
            videos: None,
            playwright_trace: None,
        }
    }
}
