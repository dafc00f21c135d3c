//! Tool-call scenarios (JSON): version 2.1, and version 1.x by its conversion.

mod check;
mod condition;
mod effects;
mod fingerprint;
mod group;
mod legacy;
mod lint;
mod params;
mod pieces;
mod proposals;
mod read;
mod references;
mod schema;
mod template;

use cuecard_source::diagnostic::codes;
use cuecard_source::reader;

pub(crate) use lint::Literals;
pub(crate) use pieces::{Outputs, members, outputs, seconds, targets, texts};

pub use cuecard_source::Effects;
pub use effects::{effects, server_of};
pub use fingerprint::{Fingerprint, fingerprint};
pub use lint::{OPEN_QUESTION, lint};
pub use read::{Partial, Reading, read};
pub use references::{Scope, check_references, check_withheld};
pub use schema::schema;

/// What this format calls its mistakes.
const FORMAT: reader::Format = reader::Format {
    missing: codes::FIELD_MISSING,
    wrong_type: codes::FIELD_TYPE,
    unknown: codes::FIELD_UNKNOWN,
    value: codes::FIELD_VALUE,
    path: codes::PATH_SYNTAX,
    check: codes::EXPECT_INVALID,
};

/// Reads a condition on its own, as `condition` of a step is read.
///
/// # Errors
/// What is wrong with it.
#[cfg(test)]
pub(crate) fn read_condition(
    text: &str,
) -> Result<crate::model::Condition, Vec<cuecard_source::diagnostic::Diagnostic>> {
    let literal = cuecard_source::value::Json::from(text).to_string();
    let limits = cuecard_source::json::Limits::default();
    let node = cuecard_source::json::parse(&literal, &limits).root;
    let source = cuecard_source::SourceFile::new("condition", literal);
    let mut reader = reader::Reader::new(&source, &FORMAT);
    let condition = node.and_then(|node| condition::parse(&mut reader, &node, text, ""));
    if cuecard_source::diagnostic::any_error(&reader.diagnostics) {
        return Err(reader.diagnostics);
    }
    condition.ok_or(reader.diagnostics)
}

#[cfg(test)]
mod tests;
