//! Tool-call scenarios: the model, the format, and the running machine.
//!
//! A file becomes a scenario; the script is told what happened and says what to do next. Time is a number that it is
//! given. Never calls a tool, and does no I/O.

pub mod format;
pub mod model;
pub mod script;
