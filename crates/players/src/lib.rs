//! The players of Cuecard: everything that touches processes, sockets, files and the clock.

pub mod mcp;
pub mod runtime;
