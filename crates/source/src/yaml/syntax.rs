//! Mistakes of syntax in words for people: the parser's own words name its insides.

use crate::Span;
use crate::mistake::{Mistake, MistakeKind, excerpt};

/// The mistake that the parser names with `info`.
pub(super) fn mistake(info: &str, span: Span) -> Mistake {
    let fits = |words: &str| words.split('|').any(|words| info.contains(words));
    match WORDS.iter().find(|(words, ..)| fits(words)) {
        Some((_, message, help)) => {
            let kind = match *message {
                NO_ANCHOR => MistakeKind::Alias,
                TOO_DEEP => MistakeKind::TooDeep,
                _ => MistakeKind::Syntax,
            };
            Mistake::new(kind, span, *message, help)
        }
        None => {
            let message = format!("invalid YAML: {}", excerpt(info));
            let help = "put texts with `:`, `#`, brackets or quotes in quotes";
            Mistake::new(MistakeKind::Syntax, span, message, help)
        }
    }
}

const NO_ANCHOR: &str = "undefined anchor";
const TOO_DEEP: &str = "`[` and `{` are nested too deeply";

/// Parts of the parser's messages, what is wrong, and what to do; the first row that fits counts.
const WORDS: &[(&str, &str, &str)] = &[
    (
        "cannot start with a tab|tabs disallowed|tab cannot be used|found a tab",
        "tabs can't be used for indentation",
        "indent with spaces",
    ),
    (
        "mapping values are not allowed",
        "an unquoted value can't contain a second `: `",
        "put the whole value in quotes: title: \"one: two\"",
    ),
    (
        "illegal placement of ':'",
        "expected `,` or a closing bracket",
        "separate the parts with `,`; text with brackets needs quotes",
    ),
    (
        "comment intercepting",
        "a comment can't interrupt a multi-line string",
        "put the comment above the text",
    ),
    (
        "simple key expect",
        "expected `:` after the key",
        "write `key: value`; multi-line text needs quotes or `|`",
    ),
    (
        "expected node content",
        "a list `[` or an object `{` above is not closed",
        "write the closing `]` or `}`; text with brackets needs quotes",
    ),
    (
        "did not find expected key",
        "inconsistent indentation",
        "indent it like the lines around it",
    ),
    (
        "indentation in quoted|found unexpected end of stream|found unexpected document indicator",
        "unterminated quoted string",
        "close it; write a quote inside the string as '' or \\\"",
    ),
    (
        "invalid trailing content",
        "unexpected text after a quoted string",
        "put the whole value in one pair of quotes",
    ),
    (
        "unknown escape|expected hexadecimal|character escape code",
        "invalid escape sequence",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    (
        "unknown anchor",
        NO_ANCHOR,
        "write the anchor first, as `&name`; text that begins with `*` needs quotes",
    ),
    (
        "anchor or alias",
        "an unquoted string can't start like this",
        "put the whole value in quotes",
    ),
    (
        "expected ','|in flow mapping",
        "expected `,` or a closing bracket",
        "separate the parts with `,`; text with brackets needs quotes",
    ),
    (
        "in flow construct",
        "inconsistent indentation",
        "indent it like the lines around it",
    ),
    (
        "misplaced bracket",
        "unmatched closing bracket",
        "remove it; text with brackets needs quotes",
    ),
    ("recursion limit", TOO_DEEP, "nest less deeply"),
    (
        "block sequence entries|only valid inside a block",
        "a list item is not allowed here",
        "put the list on lines of its own, or the text in quotes",
    ),
    (
        "expected '-' indicator",
        "inconsistent indentation",
        "indent it like the lines around it",
    ),
    (
        "block scalar",
        "invalid block scalar",
        "write `|` or `>` alone, and indent the lines below with spaces",
    ),
    (
        "indentation",
        "inconsistent indentation",
        "indent it like the lines around it",
    ),
    (
        "unexpected character|plain scalar|must be followed by|mapping keys are not allowed",
        "an unquoted string can't start like this",
        "put the whole value in quotes",
    ),
    (
        "expected <document start>",
        "unexpected text after the end of the value",
        "indent it as what it belongs to, or put the text in quotes",
    ),
    (
        "directive|TAG",
        "invalid directive (a line that starts with `%`)",
        "remove the line; text that begins with `%` needs quotes",
    ),
    (
        "tag|handle",
        "invalid tag",
        "remove it; text that begins with `!` needs quotes",
    ),
    (
        "byte order mark",
        "a byte order mark is only allowed at the start of a file",
        "remove it",
    ),
];
