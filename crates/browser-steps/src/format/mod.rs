//! Browser scenarios (JSON or YAML): a URL with plain-language actions; and the steps that they become.

mod effects;
pub mod export;
mod heal;
mod read;
mod schema;
mod steps_read;
mod steps_write;
#[cfg(test)]
mod tests;
mod url;
mod variables;

pub use effects::{BrowserEffects, effects, steps_effects};
pub use heal::{HEAL_VERSION, HealPatch, HealedStep, ProposedRename, heal, no_rename, read_heal};
pub use read::{Reading, read};
pub use schema::{heal_schema, schema, steps_schema};
pub use steps_read::{ParsedSteps, read_steps, step_span};
pub use variables::{Declared, ReferringText, references};

use cuecard_source::diagnostic::codes;
use cuecard_source::reader::Format;

/// What this format calls its mistakes.
const FORMAT: Format = Format {
    missing: codes::BROWSER_OPTION,
    wrong_type: codes::BROWSER_OPTION,
    unknown: codes::BROWSER_UNKNOWN_KEY,
    value: codes::BROWSER_OPTION,
    path: codes::BROWSER_OPTION,
    check: codes::BROWSER_OPTION,
    null_is_absent: true,
};

/// What the steps call their mistakes.
const STEPS_FORMAT: Format = Format {
    missing: codes::BROWSER_STEPS,
    wrong_type: codes::BROWSER_STEPS,
    unknown: codes::BROWSER_UNKNOWN_KEY,
    value: codes::BROWSER_STEPS,
    path: codes::BROWSER_STEPS,
    check: codes::BROWSER_STEPS,
    null_is_absent: true,
};
