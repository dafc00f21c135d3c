//! Assertions on the last answer.

use super::{Kind, Params, values};
use crate::model::{AssertionCheck, OutputFormat};
use crate::test_case::fields::{COUNT, FLAG, TEXTS};
use crate::test_case::values::Rules;
use cuecard_source::reader::Reader;
use cuecard_source::value::fields::{Field, field, required};
use cuecard_source::values::schema;

pub(super) const CASE: Field = field(
    "case_sensitive",
    FLAG,
    "Whether to match case (default: false).",
);

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "output_contains",
        meaning: "The output contains something.",
        params: &[
            field("any_of", TEXTS, "Texts of which one must be there."),
            field("all_of", TEXTS, "Texts that must all be there."),
            field("regex", TEXTS, "Regular expressions that must all match."),
            CASE,
        ],
        capabilities: &[],
        read: output_contains,
    },
    Kind {
        name: "output_omits",
        meaning: "The output does not contain something.",
        params: &[
            required("patterns", TEXTS, "What must not be there."),
            field(
                "regex",
                FLAG,
                "Whether they are regular expressions (default: false).",
            ),
            CASE,
        ],
        capabilities: &[],
        read: output_omits,
    },
    Kind {
        name: "output_matches_format",
        meaning: "The output has the required format.",
        params: &[
            required(
                "format",
                r#"{"enum": ["bullet_list", "numbered_list", "paragraphs", "json", "markdown_table", "single_line"]}"#,
                "The form.",
            ),
            field("min_bullets", COUNT, "The fewest bullets."),
            field("max_bullets", COUNT, "The most bullets."),
            field(
                "max_sentences_per_bullet",
                COUNT,
                "The most sentences of a bullet.",
            ),
            field("min_items", COUNT, "The fewest items of a numbered list."),
            field("max_items", COUNT, "The most items of a numbered list."),
            field("exact_paragraphs", COUNT, "The number of paragraphs."),
            field("min_paragraphs", COUNT, "The fewest paragraphs."),
            field("max_paragraphs", COUNT, "The most paragraphs."),
            field(
                "required_keys",
                TEXTS,
                "Dotted keys that the JSON must have.",
            ),
            field(
                "json_schema",
                r#"{"type": ["object", "boolean"]}"#,
                "A JSON Schema that the JSON must satisfy.",
            ),
        ],
        capabilities: &[],
        read: output_matches_format,
    },
    Kind {
        name: "ask_clarifying_when_ambiguous",
        meaning: "The agent asks before it acts.",
        params: &[
            field(
                "forbidden_tools",
                TEXTS,
                "Tools not to be called before the question.",
            ),
            field(
                "question_patterns",
                TEXTS,
                "Regular expressions of what counts as a question, beside the usual.",
            ),
            CASE,
        ],
        capabilities: &[],
        read: |reader, params| {
            let rules = by_line(params.case_sensitive(reader));
            Some(AssertionCheck::AskClarifyingWhenAmbiguous {
                forbidden_tools: values::tools(reader, params.object, "forbidden_tools"),
                question_patterns: values::patterns(
                    reader,
                    params.object,
                    "question_patterns",
                    rules,
                ),
            })
        },
    },
];

/// Regular expressions in which each line has its own beginning and end.
pub(super) fn by_line(case_sensitive: bool) -> Rules {
    Rules {
        is_regex: true,
        case_sensitive,
        by_line: true,
    }
}

fn output_contains(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let case_sensitive = params.case_sensitive(reader);
    let rules = Rules {
        is_regex: true,
        case_sensitive,
        by_line: false,
    };
    let mut is_empty = true;
    for key in ["any_of", "all_of", "regex"] {
        let Some(node) = reader.get(params.object, key) else {
            continue;
        };
        is_empty = false;
        if node.as_array().is_some_and(<[_]>::is_empty) {
            let message = format!("`{key}` is empty");
            params.conflict(reader, key, &message, "add a text, or remove the key");
        }
    }
    if is_empty {
        let message = "no requirement on the output";
        params.conflict(reader, "", message, "add `any_of`, `all_of` or `regex`");
    }
    Some(AssertionCheck::OutputContains {
        any_of: values::texts(reader, params.object, "any_of"),
        all_of: values::texts(reader, params.object, "all_of"),
        regex: values::patterns(reader, params.object, "regex", rules),
        case_sensitive,
    })
}

fn output_omits(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let rules = Rules {
        is_regex: reader
            .flag(params.object, "regex", "`regex`")
            .unwrap_or(false),
        case_sensitive: params.case_sensitive(reader),
        by_line: true,
    };
    let node = params.need(reader, "patterns", "patterns: [ … ]")?;
    if node.as_array().is_some_and(<[_]>::is_empty) {
        let message = "`patterns` is empty, so nothing is forbidden";
        params.conflict(
            reader,
            "patterns",
            message,
            "add what the output must not contain",
        );
    }
    Some(AssertionCheck::OutputOmits {
        patterns: values::patterns(reader, params.object, "patterns", rules),
    })
}

const FORMATS: &[(&str, &str)] = &[
    ("bullet_list", "bullet_list"),
    ("numbered_list", "numbered_list"),
    ("paragraphs", "paragraphs"),
    ("json", "json"),
    ("markdown_table", "markdown_table"),
    ("single_line", "single_line"),
];

/// Which parameter goes with which form.
const OF_FORMAT: &[(&str, &[&str])] = &[
    (
        "bullet_list",
        &["min_bullets", "max_bullets", "max_sentences_per_bullet"],
    ),
    ("numbered_list", &["min_items", "max_items"]),
    (
        "paragraphs",
        &["exact_paragraphs", "min_paragraphs", "max_paragraphs"],
    ),
    ("json", &["required_keys", "json_schema"]),
];

fn output_matches_format(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    params.need(reader, "format", "format: bullet_list");
    let name = reader.one_of(params.object, "format", "`format`", FORMATS)?;
    for (of, keys) in OF_FORMAT.iter().filter(|(of, _)| *of != name) {
        for key in *keys {
            if params.has(reader, key) {
                let message = format!("`{key}` belongs to format `{of}`, not `{name}`");
                params.conflict(reader, key, &message, "remove it, or choose the other form");
            }
        }
    }
    let object = params.object;
    let mut size = |key: &str| values::size(reader, object, key);
    let format = match name {
        "bullet_list" => {
            let (min, max) = (size("min_bullets"), size("max_bullets"));
            let max_sentences = size("max_sentences_per_bullet");
            params.ordered(reader, ("min_bullets", min), ("max_bullets", max));
            OutputFormat::BulletList {
                min,
                max,
                max_sentences,
            }
        }
        "numbered_list" => {
            let (min, max) = (size("min_items"), size("max_items"));
            params.ordered(reader, ("min_items", min), ("max_items", max));
            OutputFormat::NumberedList { min, max }
        }
        "paragraphs" => {
            let exact = size("exact_paragraphs");
            let (min, max) = (size("min_paragraphs"), size("max_paragraphs"));
            params.ordered(reader, ("min_paragraphs", min), ("max_paragraphs", max));
            let bounds = &["min_paragraphs", "max_paragraphs"];
            params.exact_alone(reader, "exact_paragraphs", bounds);
            OutputFormat::Paragraphs { exact, min, max }
        }
        "json" => OutputFormat::Json {
            required_keys: values::texts(reader, object, "required_keys"),
            json_schema: match reader.get(object, "json_schema") {
                Some(node) => schema(reader, node, &object.child_pointer("json_schema")),
                None => None,
            },
        },
        "markdown_table" => OutputFormat::MarkdownTable,
        _ => OutputFormat::SingleLine,
    };
    Some(AssertionCheck::OutputMatchesFormat { format })
}
