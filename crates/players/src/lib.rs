//! The players of Cuecard: everything that touches processes, sockets, files and the clock.

pub mod browser;
pub mod doctor;
pub mod judging;
pub mod llm;
pub mod mcp;
pub mod replay;
pub mod runtime;
pub mod wire;
pub mod workspace;
