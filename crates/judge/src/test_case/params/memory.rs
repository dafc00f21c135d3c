//! Assertions on the memory of groups.

use super::output::{CASE, by_line};
use super::{Kind, Params, values};
use crate::model::AssertionCheck;
use crate::test_case::fields::{FLAG, TEXTS};
use cuecard_source::reader::Reader;
use cuecard_source::value::fields::{TEXT, field, required};

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "memory_recall_same_group",
        meaning: "A memory of the group was read and is honoured.",
        params: &[
            field("group_id", TEXT, "The group (default: the scenario's)."),
            required("expected_memory_fact", TEXT, "What is remembered."),
            field(
                "output_patterns",
                TEXTS,
                "Regular expressions that show in the output that it is honoured.",
            ),
            field(
                "require_event",
                FLAG,
                "Whether the memory must have been read or given (default: true).",
            ),
            CASE,
        ],
        capabilities: &[],
        read: recall,
    },
    Kind {
        name: "memory_update_on_correction",
        meaning: "A correction is remembered.",
        params: &[
            field("group_id", TEXT, "The group (default: the scenario's)."),
            required("corrected_fact", TEXT, "What is right."),
            field(
                "stale_fact",
                TEXT,
                "What was wrong, and must not be in the output.",
            ),
        ],
        capabilities: &["supports_memory_events"],
        read: |reader, params| {
            let group_id = values::text(reader, params.object, "group_id");
            let stale_fact = values::text(reader, params.object, "stale_fact");
            let corrected_fact = needed_text(reader, params, "corrected_fact");
            Some(AssertionCheck::MemoryUpdateOnCorrection {
                group_id,
                corrected_fact: corrected_fact?,
                stale_fact,
            })
        },
    },
    Kind {
        name: "no_cross_group_memory_use",
        meaning: "No memory of another group is used.",
        params: &[
            field(
                "current_group_id",
                TEXT,
                "The group (default: the scenario's).",
            ),
            field(
                "forbidden_group_ids",
                TEXTS,
                "Groups whose memory is forbidden (default: every other).",
            ),
            field("canaries", TEXTS, "Texts that only the other groups know."),
            field(
                "require_event_level_proof",
                FLAG,
                "Whether there must be memory events at all (default: false).",
            ),
        ],
        capabilities: &[],
        read: cross_group,
    },
];

fn needed_text(reader: &mut Reader<'_>, params: Params<'_>, key: &str) -> Option<String> {
    params.need(reader, key, &format!("{key}: …"))?;
    values::text(reader, params.object, key)
}

fn recall(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let group_id = values::text(reader, params.object, "group_id");
    let fact = needed_text(reader, params, "expected_memory_fact");
    let rules = by_line(params.case_sensitive(reader));
    let output_patterns = values::patterns(reader, params.object, "output_patterns", rules);
    let require_event = reader.flag(params.object, "require_event", "`require_event`");
    Some(AssertionCheck::MemoryRecallSameGroup {
        group_id,
        expected_memory_fact: fact?,
        output_patterns,
        require_event: require_event.unwrap_or(true),
    })
}

fn cross_group(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let object = params.object;
    let current_group_id = values::text(reader, object, "current_group_id");
    let forbidden_group_ids = values::texts(reader, object, "forbidden_group_ids");
    if let Some(current) = &current_group_id
        && forbidden_group_ids.contains(current)
    {
        let message = "the current group is among the forbidden ones";
        params.conflict(reader, "forbidden_group_ids", message, "remove it");
    }
    let canaries = values::texts(reader, object, "canaries");
    let proof = reader.flag(
        object,
        "require_event_level_proof",
        "`require_event_level_proof`",
    );
    Some(AssertionCheck::NoCrossGroupMemoryUse {
        current_group_id,
        forbidden_group_ids,
        canaries,
        require_event_level_proof: proof.unwrap_or(false),
    })
}
