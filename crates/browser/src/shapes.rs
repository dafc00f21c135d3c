//! What the bridge to a browser is told, and what it tells.

use std::path::PathBuf;

use strum::IntoStaticStr;

/// How much of a page must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    /// The document.
    Document,
    /// Also pictures, styles and frames.
    Everything,
}

/// How an element is clicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickKind {
    /// Once.
    Single,
    /// Twice.
    Double,
    /// Once, with the right button.
    Right,
}

/// Where a navigation goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Navigation {
    /// To this address.
    To(String),
    /// One page back.
    Back,
    /// One page forward.
    Forward,
    /// To the same page again.
    Reload,
}

/// What to capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureOptions {
    /// The attribute that holds test ids.
    pub test_id_attribute: String,
    /// The CSS selector of the element to begin with, instead of the body.
    pub root: Option<String>,
}

impl Default for CaptureOptions {
    fn default() -> Self {
        Self {
            test_id_attribute: "data-testid".to_owned(),
            root: None,
        }
    }
}

/// A move in search of an element: of everything on the page that scrolls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchMove {
    /// Remembers where all of it is, and moves nothing.
    Mark,
    /// On by most of what it shows.
    Down,
    /// The other way.
    Up,
    /// To where it was when that was remembered.
    ToMark,
    /// To the beginning.
    ToTop,
}

/// How a wait for the page ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum WaitOutcome {
    /// Whatever the action changed was changed at once, and it asked for nothing.
    Instant,
    /// It loaded a page that changed no more, and asked for nothing more, once it was loaded.
    Loaded,
    /// Requests were answered, and nothing changed any more.
    Quiet,
    /// The page was still busy when the time was up.
    Bounded,
}

/// How long a page is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Until it is done.
    Whole,
    /// The same after an action in a frame or a shadow root: since nobody sees what changes in there, it is never
    /// [`WaitOutcome::Instant`].
    Unwatched,
    /// Until it is done, once its document is there.
    Document,
    /// As [`Self::Whole`] if it loads or asks for anything; else not at all. For an action that was [`WaitOutcome::Instant`]
    /// when it was recorded.
    IfBusy,
    /// Until what it loads is loaded; as [`Self::Whole`] if it loads nothing, or asks for more than is answered by then.
    /// For an action that was [`WaitOutcome::Loaded`] when it was recorded.
    Load,
}

impl WaitOutcome {
    /// The word in results.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl WaitPolicy {
    /// How a replay waits after an action that ended so when it was recorded: by the word of a [`WaitOutcome`].
    pub fn as_recorded(word: Option<&str>) -> Self {
        match word {
            Some(word) if word == WaitOutcome::Instant.name() => Self::IfBusy,
            Some(word) if word == WaitOutcome::Loaded.name() => Self::Load,
            _ => Self::Whole,
        }
    }
}

/// A file that a page gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// The name that the page gave it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
    /// Why it isn't there, should it have failed.
    pub failure: Option<String>,
}
