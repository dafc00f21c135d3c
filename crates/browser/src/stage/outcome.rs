//! What came of a deed.

use std::fmt;

use cuecard_browser_steps::model::Observed;
use cuecard_page::dom::DomState;
use cuecard_source::diagnostic::{Code, codes};

use crate::error::{BrowserError, BrowserErrorKind};

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

/// Why a deed could not be done. Secrets are masked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// The code, such as `B-element_covered`.
    pub code: String,
    /// What happened: a fragment in lower case.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The call to Playwright that failed.
    pub call: Option<String>,
    /// The selector that the call used.
    pub selector: Option<String>,
    /// What a model's side said.
    pub model_error: Option<String>,
    /// The elements that could be meant, in words.
    pub candidates: Vec<String>,
    /// More than most readers want: every reply of a model, the driver's own words.
    pub stack: Option<String>,
    /// Whether something may have been done to the page before it failed; then it must not be tried again.
    pub has_acted: bool,
    /// Whether the page put another element in the place of the one that was looked at: then it is looked for again.
    pub was_replaced: bool,
}

impl Failure {
    /// A failure before anything was done.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code: code.name().to_owned(),
            message: message.into(),
            ..Self::default()
        }
    }

    /// With what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With the elements that could be meant.
    #[must_use]
    pub fn among(mut self, candidates: Vec<String>) -> Self {
        self.candidates = candidates;
        self
    }

    /// Whether it has this code.
    pub fn is(&self, code: Code) -> bool {
        self.code == code.name()
    }

    /// How often an element is looked for again that the page replaced before anything was done with it.
    pub const MOST_REPLACED: u32 = 20;

    /// Whether nothing can be done any more: the browser is gone, or never was there.
    pub fn is_final(&self) -> bool {
        [
            codes::BROWSER_UNAVAILABLE,
            codes::BROWSER_LOST,
            codes::BROWSER_CRASHED,
        ]
        .iter()
        .any(|&code| self.is(code))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<BrowserError> for Failure {
    fn from(error: BrowserError) -> Self {
        Self {
            code: code_of(error.kind).name().to_owned(),
            message: error.message,
            help: error.help,
            call: error.call.map(str::to_owned),
            selector: error.selector,
            has_acted: matches!(
                error.kind,
                BrowserErrorKind::ValueRejected
                    // Nothing says why it took so long: something may have been dispatched.
                    | BrowserErrorKind::Timeout
                    | BrowserErrorKind::DialogBlocked
                    | BrowserErrorKind::PageCrashed
                    | BrowserErrorKind::BrowserLost
            ),
            was_replaced: error.kind == BrowserErrorKind::ElementReplaced,
            ..Self::default()
        }
    }
}

/// The code of a kind of error.
fn code_of(kind: BrowserErrorKind) -> Code {
    match kind {
        BrowserErrorKind::Unavailable => codes::BROWSER_UNAVAILABLE,
        BrowserErrorKind::NavigationFailed => codes::BROWSER_NAVIGATION,
        BrowserErrorKind::Timeout => codes::BROWSER_TIMEOUT,
        BrowserErrorKind::ElementNotFound | BrowserErrorKind::ElementReplaced => {
            codes::BROWSER_NOT_FOUND
        }
        BrowserErrorKind::ElementCovered => codes::BROWSER_COVERED,
        BrowserErrorKind::ElementDisabled => codes::BROWSER_DISABLED,
        BrowserErrorKind::NotEditable => codes::BROWSER_NOT_EDITABLE,
        BrowserErrorKind::ValueRejected => codes::BROWSER_VALUE,
        BrowserErrorKind::OptionNotFound => codes::BROWSER_CHOICE,
        BrowserErrorKind::DialogBlocked => codes::BROWSER_DIALOG,
        BrowserErrorKind::PageCrashed => codes::BROWSER_CRASHED,
        BrowserErrorKind::BrowserLost => codes::BROWSER_LOST,
        BrowserErrorKind::PageTooLarge => codes::BROWSER_PAGE_TOO_LARGE,
    }
}
