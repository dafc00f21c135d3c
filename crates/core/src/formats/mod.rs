//! File types to the model. Every reader reports all errors of a file at once.

pub mod detect;
pub mod tool_call;
