//! The JSON Schemas: of what is read from the structs that read it.

use super::heal::HealPatch;
use super::read::{ActionForm, ScenarioRoot};
use super::steps_read::StepsRoot;
use cuecard_source::decode::{schema_document, schema_of};
use cuecard_source::value::Json;

/// The schema (JSON Schema 2020-12) of a browser script.
pub fn schema() -> Json {
    let mut root = schema_of::<ScenarioRoot>();
    root["$defs"]["action"] = schema_of::<ActionForm>();
    schema_document(
        "browser",
        "1",
        "Browser scenario",
        "A URL with plain-language actions, which are compiled to validated steps.",
        root,
    )
}

/// The schema of the steps that a browser script becomes.
pub fn steps_schema() -> Json {
    schema_document(
        "steps",
        "1",
        "Browser steps",
        "Validated steps compiled from a browser script (version cuecard-steps/2).",
        schema_of::<StepsRoot>(),
    )
}

/// The schema of a patch that heals steps.
pub fn heal_schema() -> Json {
    schema_document(
        "heal",
        "1",
        "Healing patch",
        "Changes to elements that were healed in a run (version cuecard-heal/1).",
        schema_of::<HealPatch>(),
    )
}
