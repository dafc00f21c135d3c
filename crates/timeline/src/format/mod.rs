//! Timelines (YAML): one file that scripts a whole session of an agent.
//!
//! [`read`] parses the text with its spans, resolves the rules by the symbols, reads every form of an event into the
//! one model, and looks at the whole. Older forms are read with a warning, and [`Read::converted`] has them rewritten.

mod acp;
mod acp_settings;
mod agent;
mod asserts;
mod checks;
mod condition;
mod content;
mod control;
mod entries;
mod events;
mod faults;
mod included;
mod normalise;
mod parse;
mod pieces;
mod read;
mod request;
mod response;
mod rules;
mod schema;
mod settings;
mod symbols;
mod terminal;
#[cfg(test)]
mod tests;
mod tool;
mod user;

pub(crate) use acp_settings::{Capabilities, McpServerForm, capabilities, objects};
pub(crate) use agent::{FileReads, PermissionForm, file_reads, plan_entries};
pub(crate) use asserts::{AssertForm, FileChecks, file_checks};
pub(crate) use content::is_image;
pub(crate) use control::InitializeForm;
pub(crate) use entries::{
    InputsInTime, MessagesInTime, blocks_in_time, inputs_in_time, messages_in_time, texts_in_time,
};
pub use faults::{faults_schema, read_faults};
pub use included::{Included, check_included, check_names};
pub(crate) use pieces::{
    absolute, absolute_path, filled, glob, headers, included_path, object, pairs, pattern,
    prompt_response, texts, time, workspace_path,
};
pub use read::{Read, read};
pub(crate) use read::{name, read_apart};
pub(crate) use request::{JsonForm, TextTestForm, header_tests, json_checks};
pub(crate) use response::status_code;
pub use rules::SymbolUse;
pub use schema::schema;
pub(crate) use settings::{Commit, Contents, commit, contents};
pub use symbols::{Symbol, SymbolValue, Symbols};
pub(crate) use terminal::{NormalizeForm, inline_terminal, normalize};
pub use terminal::{read_terminal, terminal_schema};
pub(crate) use tool::ExecutionForm;

use cuecard_source::diagnostic::codes;
use cuecard_source::reader::Format;

/// What this format calls its mistakes.
const FORMAT: Format = Format {
    missing: codes::TIMELINE_SHAPE,
    wrong_type: codes::TIMELINE_SHAPE,
    unknown: codes::TIMELINE_UNKNOWN,
    value: codes::TIMELINE_SHAPE,
    path: codes::TIMELINE_SHAPE,
    check: codes::TIMELINE_SHAPE,
};
