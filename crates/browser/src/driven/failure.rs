//! What Playwright says of a failure, by the names that results use.

use crate::failure::Failure;
use cuecard_source::diagnostic::codes;

impl Failure {
    /// The element that was looked at is not there any more, whatever is in its place by now.
    pub(super) fn replaced() -> Self {
        Self {
            was_replaced: true,
            ..Self::new(codes::BROWSER_NOT_FOUND, "the element no longer exists")
        }
    }

    /// From Playwright's error during `call`, without the driver's stack.
    pub(super) fn from_playwright(error: &playwright_rs::Error, call: &'static str) -> Self {
        use playwright_rs::Error;
        let kind = match error {
            Error::Timeout(_) | Error::NavigationTimeout { .. } | Error::AssertionTimeout(_) => {
                codes::BROWSER_TIMEOUT
            }
            Error::ChannelClosed | Error::TransportError(_) | Error::TargetClosed { .. } => {
                codes::BROWSER_LOST
            }
            other if other.to_string().contains(REPLACED) => {
                return Self {
                    call: Some(call.to_owned()),
                    ..Self::replaced()
                };
            }
            Error::ElementNotFound(_) => codes::BROWSER_NOT_FOUND,
            other if other.to_string().contains(UNCHANGED) => codes::BROWSER_VALUE,
            other if is_closed(&other.to_string()) => codes::BROWSER_LOST,
            _ => codes::BROWSER_NOT_FOUND,
        };
        Self {
            call: Some(call.to_owned()),
            stack: Some(error.to_string()),
            ..Self::of_browser(kind, first_line(&error.to_string()))
        }
    }
}

/// What our engine for selectors says of an element that it kept and that is no longer on the page.
const REPLACED: &str = "cuecard: the element was replaced";

/// What Playwright says of a checkbox that was clicked and stayed as it was.
const UNCHANGED: &str = "did not change its state";

fn is_closed(text: &str) -> bool {
    text.contains("has been closed") || text.contains("Target closed")
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
        let error = Failure::from_playwright(&error, "click");
        assert!(error.is(codes::BROWSER_LOST), "{error}");
        assert!(
            error
                .stack
                .is_some_and(|stack| stack.contains("page.click"))
        );
        // It was clicked, and must not be clicked again.
        let text = "locator.check: Clicking the checkbox did not change its state";
        let error = playwright_rs::Error::ProtocolError(text.into());
        let error = Failure::from_playwright(&error, "check");
        assert!(error.is(codes::BROWSER_VALUE), "{error}");
    }
}
