//! A browser, driven through Playwright. Node runs Playwright's driver as a child of ours, started by the one process
//! spawner; the browser is a child of the driver and hangs on a pipe to it, so it ends when the driver does.
//!
//! A page's state is read by a script that walks the document (`capture/`), in a world of its own beside the page's,
//! and by a DevTools session for what a script can't see: listeners, closed shadow roots, frames of other sites.

mod act;
mod answers;
mod bridge;
mod devtools;
mod driver;
mod events;
mod failure;
mod listeners;
mod scroll;
mod settle;
mod walk;

pub use bridge::BrowserBridge;
