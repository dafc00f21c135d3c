//! Cassettes: recorded calls of MCP servers as JSON Lines, or such a file written by hand.

mod compare;
mod format;
mod read;
mod serve;
mod verify;

pub use compare::{Change, Direction};
pub use format::{CallLine, FaultLine, Notification, ServerLine, VERSION, schema};
pub use read::{Cassette, Record};
pub(crate) use read::{line, redact};
pub use serve::{CassetteServer, Served};
pub use verify::{CallVerdict, Verification, VerifyOptions, verify};

#[cfg(test)]
mod tests;
