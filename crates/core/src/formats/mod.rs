//! File types to the model. Every reader reports all errors of a file at once.

pub mod browser;
pub mod detect;
pub mod document;
mod reader;
pub mod test_case;
pub mod timeline;
pub mod tool_call;
mod values;

use crate::value::fields;
