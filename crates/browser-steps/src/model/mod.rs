//! Browser scenarios: what the author asks in plain words, and the steps that it becomes.

mod events;
mod input;
mod observed;
mod steps_file;

pub use cuecard_page::{
    ActionKind, AssertKind, BrowserAssertion, Compare, Container, ContainerKind, Direction,
    Fingerprint, InputValue, IntermediateStep, TextMatch, TextPlace,
};
pub use events::{
    BrowserResult, browser_call, browser_events, browser_notes, browser_opened, browser_opening,
    browser_result,
};
pub(crate) use input::LONGEST_ACTION_MS;
pub use input::{
    BrowserAction, BrowserOptions, BrowserScenario, OnDialog, OnFailure, Provider, ProviderKind,
    TranslatorChoice, Viewport,
};
pub use observed::{Dialog, Download, Observed};
pub use steps_file::{
    ErrorInfo, OLDER_VERSION, ParseStatus, STEPS_VERSION, Severity, StepContext, StepElement,
    StepsFile, TestStep, Translator, WaitFor, step_id,
};
