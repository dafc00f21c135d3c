//! Browser scenarios: what the author asks in plain words, and the steps that it becomes.

mod assertion;
mod input;
mod observed;
mod step;
mod steps_file;

pub use assertion::{AssertKind, BrowserAssertion, Compare, TextMatch};
pub use input::{
    BrowserAction, BrowserOptions, BrowserScenario, OnDialog, OnFailure, Provider, ProviderKind,
    TranslatorChoice, Viewport,
};
pub use observed::{Observed, ObservedDialog, ObservedDownload};
pub use step::{ActionKind, Direction, InputValue, IntermediateStep};
pub use steps_file::{
    Container, ContainerKind, ErrorInfo, Fingerprint, ParseStatus, STEPS_VERSION, StepsFile,
    TestStep, TextPlace, Translator, WaitFor, step_id,
};
