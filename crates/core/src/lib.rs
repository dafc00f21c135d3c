//! The pure part of Cuecard: formats, the script machine, the trace, checks and reports.
//!
//! Nothing here does I/O, reads the clock or the environment, or prints; a test of the workspace proves it.

pub mod assertions;
pub mod diagnostic;
pub mod formats;
pub mod matching;
pub mod page;
pub mod profiles;
pub mod reports;
pub mod scenario;
pub mod script;
pub mod source;
pub mod trace;
pub mod value;
