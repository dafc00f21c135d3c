//! A transparent proxy between a client and a server of MCP: what passes goes on as it came, and a [`Tap`] reads it on
//! the way.
//!
//! Three transports share the tap: [`pipe`] between two streams of bytes, [`forward`] between two connections of HTTP,
//! and [`bridge`] from a stream of bytes to a server behind HTTP. None of them knows what a frame means; the tap does,
//! touches none, and reads it when it has gone on.

pub mod bridge;
mod cassette;
pub mod forward;
pub mod pipe;
mod queue;
mod session;
mod tap;
#[cfg(test)]
mod tests;

pub use cassette::{RecordedFiles, Summary};
pub use session::{Endpoint, ProxyReport, Session, SessionFolder, Upstream};
pub use tap::Tap;
