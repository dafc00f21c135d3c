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
            Self::ElementNotFound => "element_not_found",
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

    /// From Playwright's error during `call`, without the driver's stack.
    pub(super) fn from_playwright(error: &playwright_rs::Error, call: &'static str) -> Self {
        use playwright_rs::Error;
        let kind = match error {
            Error::Timeout(_) | Error::NavigationTimeout { .. } | Error::AssertionTimeout(_) => {
                BrowserErrorKind::Timeout
            }
            Error::ChannelClosed | Error::TransportError(_) | Error::TargetClosed { .. } => {
                BrowserErrorKind::BrowserLost
            }
            Error::ElementNotFound(_) => BrowserErrorKind::ElementNotFound,
            other if is_closed(&other.to_string()) => BrowserErrorKind::BrowserLost,
            _ => BrowserErrorKind::ElementNotFound,
        };
        Self {
            call: Some(call),
            ..Self::new(kind, first_line(&error.to_string()))
        }
    }
}

fn is_closed(text: &str) -> bool {
    text.contains("has been closed") || text.contains("Target closed")
}

/// There is no place for a window: `why`.
pub(super) fn no_display(why: &str) -> BrowserError {
    let message = format!("the browser has no place for its window: {why}");
    BrowserError::new(BrowserErrorKind::Unavailable, message).help(
        "leave out --headed; or use a display that nobody sees: xvfb-run -a cuecard … (apt-get install xvfb xauth)",
    )
}

/// What an error of the driver says before its log and its stack.
pub(super) fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or("").trim();
    let mut line = line;
    for prefix in ["Protocol error: ", "Timeout: ", "Error: ", "TimeoutError: "] {
        line = line.strip_prefix(prefix).unwrap_or(line);
    }
    line.trim_end_matches('.').chars().take(500).collect()
}

impl fmt::Display for BrowserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BrowserError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_driver_is_told_without_its_stack() {
        let text = "Protocol error: page.goto: net::ERR_CONNECTION_REFUSED at http://x/\nCall log:\n  - navigating\n \n at Object.goto (/driver/lib.js:1:1)";
        assert_eq!(
            first_line(text),
            "page.goto: net::ERR_CONNECTION_REFUSED at http://x/"
        );
        let error = playwright_rs::Error::ProtocolError("page.click: Target closed".into());
        let error = BrowserError::from_playwright(&error, "click");
        assert_eq!(error.kind, BrowserErrorKind::BrowserLost);
    }
}
