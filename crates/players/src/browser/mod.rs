//! A browser, driven through Playwright: the [`BrowserBridge`] navigates, acts and captures.
//!
//! Its types stay in this folder. Node runs Playwright's driver as a child of ours, started by the one process
//! spawner; the browser is a child of the driver and hangs on a pipe to it, so it ends when the driver does.
//!
//! A page's state is read by a script that walks the document (`capture/`), in a world of its own beside the page's,
//! and by a DevTools session for what a script can't see: listeners, closed shadow roots, frames of other sites.

mod act;
mod address;
mod bridge;
mod devtools;
mod driver;
mod error;
mod events;
mod install;
mod listeners;
pub mod model;
mod options;
pub mod parse;
pub mod replay;
mod scroll;
pub mod session;
mod settle;
pub mod stage;
pub mod storage_state;
mod tools;
mod walk;

pub use address::ElementAddress;
pub use bridge::{BrowserBridge, Loaded, Navigation};
pub use error::{BrowserError, BrowserErrorKind};
pub use events::{DialogSeen, Download};
pub use install::{Installed, install};
pub use options::{BrowserOptions, OnDialog, PageDefaults};
pub use scroll::SearchMove;
pub use settle::{Settled, Settling};
pub use tools::{BrowserTools, Looked};
pub use walk::CaptureOptions;
