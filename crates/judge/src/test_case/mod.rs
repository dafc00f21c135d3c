//! Test cases (YAML or JSON): where a trace comes from, and what must hold of it.

mod context;
mod input;
mod params;
mod read;
mod schema;
#[cfg(test)]
mod tests;

pub use context::{FixtureKeys, Fixtures, MessageKeys, Messages, SchedulerContext, SchedulerKeys};
pub(crate) use params::{ALWAYS, Params, read_params, read_part, read_parts};
pub use read::{Reading, read};
pub use schema::schema;

use cuecard_source::diagnostic::codes;
use cuecard_source::reader::Format;

/// What this format calls its mistakes.
static FORMAT: Format = CODES;

const CODES: Format = Format {
    missing: codes::CASE_FIELD_MISSING,
    wrong_type: codes::CASE_FIELD_TYPE,
    unknown: codes::CASE_FIELD_UNKNOWN,
    value: codes::CASE_FIELD_VALUE,
    path: codes::ASSERT_PATTERN,
    check: codes::ASSERT_PATTERN,
};
