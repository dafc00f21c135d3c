//! What can go wrong with a browser, by the names that results use.

use std::fmt;

/// The kind of a failure; [`BrowserErrorKind::name`] is what results call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowserErrorKind {
    /// Node, Playwright or a browser is missing, or the browser doesn't start.
    Unavailable,
    /// A page could not be loaded.
    NavigationFailed,
    /// Something took longer than it may, and no other kind says why.
    Timeout,
    /// There is no such element, or it can't be seen.
    ElementNotFound,
    /// The page took the element away that was looked at, or put another one in its place; nothing was done.
    ElementReplaced,
    /// Something else lies over the element.
    ElementCovered,
    /// The element is disabled.
    ElementDisabled,
    /// The element takes no input.
    NotEditable,
    /// The element holds something else than what was put in.
    ValueRejected,
    /// A list has no such option.
    OptionNotFound,
    /// The page opens one dialog after the other.
    DialogBlocked,
    /// The page crashed.
    PageCrashed,
    /// The browser or its driver ended.
    BrowserLost,
    /// The page has more elements than can be looked at.
    PageTooLarge,
}

impl BrowserErrorKind {
    /// The name in results, such as `element_covered`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unavailable => "browser_unavailable",
            Self::NavigationFailed => "navigation_failed",
            Self::Timeout => "timeout",
            Self::ElementNotFound | Self::ElementReplaced => "element_not_found",
            Self::ElementCovered => "element_covered",
            Self::ElementDisabled => "element_disabled",
            Self::NotEditable => "not_editable",
            Self::ValueRejected => "value_rejected",
            Self::OptionNotFound => "option_not_found",
            Self::DialogBlocked => "dialog_blocked",
            Self::PageCrashed => "page_crashed",
            Self::BrowserLost => "browser_lost",
            Self::PageTooLarge => "page_too_large",
        }
    }
}

/// A failure: what happened, in a lower-case fragment, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserError {
    /// What kind it is.
    pub kind: BrowserErrorKind,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Playwright's call that failed, for example `click`.
    pub call: Option<&'static str>,
    /// The selector that the call used.
    pub selector: Option<String>,
}

impl BrowserError {
    pub(super) fn new(kind: BrowserErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            help: None,
            call: None,
            selector: None,
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn at(mut self, call: &'static str, selector: &str) -> Self {
        self.call = Some(call);
        self.selector = Some(selector.to_owned());
        self
    }
}

/// There is no browser in this program.
pub(super) fn not_built_in() -> BrowserError {
    let message = "this build of cuecard has no browser support";
    BrowserError::new(BrowserErrorKind::Unavailable, message)
        .help("use a release, or build it with its default features: cargo build --release")
}

/// There is no place for a window: `why`.
pub(super) fn no_display(why: &str) -> BrowserError {
    let message = format!("the browser can't open a window: {why}");
    BrowserError::new(BrowserErrorKind::Unavailable, message).help(
        "omit --headed, or use a virtual display: xvfb-run -a cuecard … (apt-get install xvfb xauth)",
    )
}

impl fmt::Display for BrowserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BrowserError {}
