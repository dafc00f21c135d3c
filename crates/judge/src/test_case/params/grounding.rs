//! Assertions on what the last answer rests on.

use super::output::{CASE, by_line};
use super::{Kind, Params, TOOL_TRACE, values};
use crate::model::{AssertionCheck, ProofRules, ToolPattern, Unproven};
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
                "A claim fails if all results together have less than this part of its content words.",
            ),
            field(
                "unproven",
                r#"{"enum": ["warn", "fail", "pass"]}"#,
                "What becomes of a claim that is neither supported nor refuted (default: warn).",
            ),
            field(
                "equivalents",
                r#"{"type": "array", "items": {"type": "array", "minItems": 2, "items": {"type": "string", "minLength": 1}}}"#,
                "Groups of words and phrases that mean the same here.",
            ),
            field(
                "ignore",
                TEXTS,
                "Regular expressions of sentences that are no claims.",
            ),
        ],
        capabilities: TOOL_TRACE,
        read: |reader, params| {
            let allowed_sources = sources(reader, params);
            let proof = proof_rules(reader, params);
            Some(AssertionCheck::ClaimsSupportedByFixtures {
                allowed_sources: allowed_sources?,
                proof,
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

fn proof_rules(reader: &mut Reader<'_>, params: Params<'_>) -> ProofRules {
    const WORDS: &[(&str, Unproven)] = &[
        ("warn", Unproven::Warn),
        ("fail", Unproven::Fail),
        ("pass", Unproven::Pass),
    ];
    let object = params.object;
    ProofRules {
        unproven: reader
            .one_of(object, "unproven", "`unproven`", WORDS)
            .unwrap_or_default(),
        equivalents: equivalents(reader, params),
        ignored: values::patterns(reader, object, "ignore", by_line(false)),
        min_overlap: values::number(reader, object, "min_overlap", 1.0),
    }
}

/// Lists of two words or more.
fn equivalents(reader: &mut Reader<'_>, params: Params<'_>) -> Vec<Vec<String>> {
    let Some(node) = reader.get(params.object, "equivalents") else {
        return Vec::new();
    };
    let pointer = params.object.child_pointer("equivalents");
    let Some(groups) = node.as_array() else {
        reader.wrong_type(
            node,
            &pointer,
            "`equivalents`",
            "an array of arrays of words",
        );
        return Vec::new();
    };
    let mut found = Vec::new();
    for (idx, group) in groups.iter().enumerate() {
        let words = group.as_array().map(|words| {
            let words = words
                .iter()
                .filter_map(|word| word.as_str().filter(|word| !word.trim().is_empty()));
            words.map(str::to_owned).collect::<Vec<String>>()
        });
        match words.filter(|words| {
            words.len() > 1 && Some(words.len()) == group.as_array().map(<[_]>::len)
        }) {
            Some(words) => found.push(words),
            None => {
                let pointer = format!("{pointer}/{idx}");
                reader.wrong_type(
                    group,
                    &pointer,
                    "a group of `equivalents`",
                    "an array of two words or more",
                );
            }
        }
    }
    found
}

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
