//! Assertions on what the last answer rests on.

use super::output::{CASE, by_line};
use super::{Kind, Params, TOOL_TRACE, values};
use crate::model::{AssertionCheck, ToolPattern};
use crate::test_case::fields::TEXTS;
use cuecard_source::reader::Reader;
use cuecard_source::value::fields::{Field, field, required};

const SOURCES: Field = required(
    "allowed_sources",
    TEXTS,
    "Tools whose results count; globs are allowed.",
);

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "claims_supported_by_fixtures",
        meaning: "What the output claims stands in the tools' results.",
        params: &[
            SOURCES,
            field(
                "min_overlap",
                r#"{"type": "number", "minimum": 0, "maximum": 1}"#,
                "The part of a sentence's content words that one result must share.",
            ),
        ],
        capabilities: TOOL_TRACE,
        read: |reader, params| {
            let allowed_sources = sources(reader, params);
            let min_overlap = values::number(reader, params.object, "min_overlap", 1.0);
            Some(AssertionCheck::ClaimsSupportedByFixtures {
                allowed_sources: allowed_sources?,
                min_overlap,
            })
        },
    },
    Kind {
        name: "no_fabricated_source_or_citation",
        meaning: "What the output cites was in the tools' results.",
        params: &[
            SOURCES,
            field(
                "citation_patterns",
                TEXTS,
                "Regular expressions of what else is a citation.",
            ),
            CASE,
        ],
        capabilities: TOOL_TRACE,
        read: |reader, params| {
            let allowed_sources = sources(reader, params);
            let rules = by_line(params.case_sensitive(reader));
            let citation_patterns =
                values::patterns(reader, params.object, "citation_patterns", rules);
            Some(AssertionCheck::NoFabricatedSourceOrCitation {
                allowed_sources: allowed_sources?,
                citation_patterns,
            })
        },
    },
];

fn sources(reader: &mut Reader<'_>, params: Params<'_>) -> Option<Vec<ToolPattern>> {
    let example = "allowed_sources: [web_search], or [\"*\"] for every tool";
    let node = params.need(reader, "allowed_sources", example)?;
    if node.as_array().is_some_and(<[_]>::is_empty) {
        let message = "`allowed_sources` is empty, so nothing could be supported";
        let help = "name the tools, or write [\"*\"] for every tool";
        params.conflict(reader, "allowed_sources", message, help);
    }
    Some(values::tools(reader, params.object, "allowed_sources"))
}
