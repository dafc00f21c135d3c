//! Timelines: the model, the format, when each event is due, a model's turns, which request is where in them, which
//! scenario is meant, and what agents call their tools.
//!
//! A file becomes a timeline; requests and times become what to answer. Knows no wire format, and does no I/O.

pub mod format;
pub mod model;
pub mod profiles;
pub mod script;
