//! Why something could not be done, by the codes that results use.

use std::fmt;

use cuecard_source::diagnostic::{Code, codes};

/// Why something could not be done. Secrets are masked.
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
    /// More than most readers want: the driver's own words.
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

    /// A failure of the browser, or of what was done in it: then it may have been done all the same.
    pub(crate) fn of_browser(code: Code, message: impl Into<String>) -> Self {
        let may_have_acted = [
            codes::BROWSER_VALUE,
            // Nothing says why it took so long: something may have been dispatched.
            codes::BROWSER_TIMEOUT,
            codes::BROWSER_DIALOG,
            codes::BROWSER_CRASHED,
            codes::BROWSER_LOST,
        ];
        Self {
            has_acted: may_have_acted.contains(&code),
            ..Self::new(code, message)
        }
    }

    /// With the call to Playwright that failed, and its selector.
    pub(crate) fn at(mut self, call: &str, selector: &str) -> Self {
        self.call = Some(call.to_owned());
        self.selector = Some(selector.to_owned());
        self
    }

    /// With what a model's side said.
    pub(crate) fn with_model_error(mut self, said: impl Into<String>) -> Self {
        self.model_error = Some(said.into());
        self
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

/// There is no place for a window: `why`.
pub(super) fn no_display(why: &str) -> Failure {
    let message = format!("the browser can't open a window: {why}");
    Failure::of_browser(codes::BROWSER_UNAVAILABLE, message).help(
        "omit --headed, or use a virtual display: xvfb-run -a cuecard … (apt-get install xvfb xauth)",
    )
}
