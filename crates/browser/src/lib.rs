//! A browser, driven through Playwright: the [`BrowserBridge`] navigates, acts and captures. Sentences become steps on it
//! (`parse`, and `model` where a model is asked), and steps are played again (`replay`).
//!
//! Playwright's types stay in `driven/`, which a build without the feature `browser` leaves out: there is no stage then,
//! and whoever wants to start one is told so.
#![cfg_attr(not(feature = "browser"), allow(dead_code, unused_imports))]

mod address;
mod choice;
#[cfg(feature = "browser")]
mod driven;
mod failure;
mod install;
pub mod model;
mod options;
pub mod parse;
pub mod replay;
pub mod session;
mod shapes;
pub mod stage;
pub mod storage_state;
mod tools;

pub use address::{ElementAddress, Guard};
pub use cuecard_runtime::browsers::Mode;
#[cfg(feature = "browser")]
pub use driven::BrowserBridge;
pub use failure::Failure;
pub use install::{Installed, install};
pub use options::BrowserOptions;
pub use shapes::{
    CaptureOptions, ClickKind, Download, Loaded, Navigation, SearchMove, WaitOutcome, WaitPolicy,
};
pub use tools::{BrowserTools, Looked};
