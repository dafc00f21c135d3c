use std::fmt::Write;
use std::ops::Range;

use serde_json::json;

use super::{Limits, Parsed, parse};
use crate::mistake::MistakeKind as Kind;

fn read(text: &str) -> Parsed {
    parse(text, &Limits::default())
}

/// The first mistake: the text under its span, what is wrong, and what to do.
fn first(text: &str) -> (String, String, String) {
    let errors = read(text).errors;
    let error = errors.first().unwrap_or_else(|| panic!("{text} is wrong"));
    let place = text[error.span.range()].to_owned();
    let help = error.help.clone();
    (place, error.message.clone(), help.unwrap_or_default())
}

/// The kinds of all mistakes, and where they stand.
fn kinds(text: &str, limits: &Limits) -> Vec<(Kind, Range<usize>)> {
    let errors = parse(text, limits).errors.into_iter();
    errors
        .map(|error| (error.kind, error.span.range()))
        .collect()
}

#[test]
fn each_mistake_has_its_place_and_its_words() {
    let mut wrong = Vec::new();
    let quoted = "strings must be in `\"`, not in ";
    for (text, place, message, help) in [
        ("", "", "expected a JSON value", "write a value"),
        (
            "\u{feff}1",
            "\u{feff}",
            "begins with a byte order mark",
            "without",
        ),
        (
            "[1] // a\n",
            "// a",
            "comments are not allowed",
            "remove it",
        ),
        (
            "{/* a */}",
            "/* a */",
            "comments are not allowed",
            "remove it",
        ),
        ("{\n# a\n}", "# a", "comments are not allowed", "remove it"),
        ("[1] /* a", "/* a", "comments are not allowed", "remove it"),
        (
            "[\u{a0}1]",
            "\u{a0}",
            "U+00A0 is not whitespace in JSON",
            "ordinary space",
        ),
        (
            "[1]\u{1}",
            "\u{1}",
            "U+0001 is not whitespace",
            "ordinary space",
        ),
        ("{\"a\n\":1}", "\"", "unterminated string", "end it with"),
        ("[\"a\tb\"]", "\t", "a tab inside a string", "\\t"),
        (
            "[\"a\u{1}\"]",
            "\u{1}",
            "control character U+0001",
            "hexadecimal",
        ),
        (
            "{a: 1}",
            "a",
            "key `a` is not quoted",
            "write `\"` around it",
        ),
        (
            "{\"b\": 1, a-b: 1}",
            "a-b",
            "key `a-b` is not quoted",
            "write `\"`",
        ),
        ("{[1]: 2}", "[", "expected a string as key", "use an array"),
        ("{: 1}", ":", "expected a key before `:`", "write a key"),
        ("{\"a\": }", "}", "expected a value", "null"),
        (
            "{\"a\": 1, \"b\"}",
            "",
            "expected `:` between key and value",
            "",
        ),
        ("{\"a\" 1}", "", "expected `:` between key and value", ""),
        (
            "{\"a\" = 1}",
            "=",
            "expected `:` between key and value",
            "write `:`",
        ),
        ("[1 2]", "", "expected `,`", ""),
        ("[1; 2]", ";", "expected `,`, found `;`", "write `,`"),
        ("[1,]", ",", "trailing `,` before `]`", "remove the comma"),
        (
            "{\"a\": 1,\n}",
            ",",
            "trailing `,` before `}`",
            "remove the comma",
        ),
        ("[,1]", ",", "unexpected `,`", "remove the comma"),
        ("[1,,2]", ",", "unexpected `,`", "remove the comma"),
        (
            "[\"a\": 1]",
            ":",
            "unexpected key in an array",
            "around the keys",
        ),
        ("['it']", "'", quoted, "write `\"`"),
        ("{\u{201c}a\u{201d}: 1}", "\u{201c}", quoted, "write `\"`"),
        (
            "[\"say \"hi\" there\"]",
            "\"",
            "unescaped `\"` inside a string",
            "\\\"",
        ),
        ("[\"a]", "\"", "unterminated string", "end it with"),
        ("[\"\\x41\"]", "\\x", "invalid escape `\\x`", "write `\\\\`"),
        (
            "[\"C:\\Users\"]",
            "\\U",
            "invalid escape `\\U`",
            "write `\\\\`",
        ),
        (
            "[\"\\u12\"]",
            "\\u",
            "invalid escape `\\u`",
            "four hexadecimal",
        ),
        (
            "[\"\\ud83d\"]",
            "\\ud83d",
            "half of a surrogate pair",
            "the whole",
        ),
        (
            "[012]",
            "012",
            "`012` is not a valid number",
            "write a number as",
        ),
        (
            "[+1]",
            "+1",
            "`+1` is not a valid number",
            "write a number as",
        ),
        (
            "[.5]",
            ".5",
            "`.5` is not a valid number",
            "write a number as",
        ),
        (
            "[5.]",
            "5.",
            "`5.` is not a valid number",
            "write a number as",
        ),
        ("[0x1F]", "", "expected `,`", ""),
        (
            "[1e400]",
            "1e400",
            "number `1e400` is out of range",
            "1.7e308",
        ),
        ("[True]", "True", "JSON has no `True`", "write `true`"),
        ("[None, 1]", "None", "JSON has no `None`", "write `null`"),
        ("[NaN]", "NaN", "JSON has no `NaN`", "or a number"),
        ("[nul]", "nul", "`nul` is not quoted", "if it is text"),
        (
            "{\"a\": hello}",
            "hello",
            "`hello` is not quoted",
            "if it is text",
        ),
        (
            "{\"a\": {{b.c}}}",
            "{{b.c}}",
            "reference `{{b.c}}` is not quoted",
            "keeps the type",
        ),
        ("[...]", "...", "`...` is not JSON", "write out"),
        (
            "[1] [2]",
            "[2]",
            "unexpected text after the end",
            "wrap everything",
        ),
        ("[1]]", "]", "unmatched `]`", "remove it"),
        (
            "{\"a\": [1}",
            "}",
            "mismatched `}`: the array was opened with `[`",
            "write `]`",
        ),
        (
            "{\"a\": [1, 2",
            "[",
            "this `[` is never closed, nor is the bracket around it",
            "truncated",
        ),
        (
            "[[[1]",
            "[",
            "this `[` is never closed, nor is",
            "write `]` where it ends",
        ),
        ("[tr", "[", "this `[` is never closed", "truncated"),
        ("-", "-", "`-` is not a valid number", "write a number"),
    ] {
        let (found, said, advice) = first(text);
        let has_help = advice.contains(help) && advice.is_empty() == help.is_empty();
        if found != place || !said.contains(message) || !has_help {
            wrong.push(format!("{text}: `{found}` {said}: {advice}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn duplicate_keys_point_at_the_first() {
    let duplicates = |text: &str| {
        let found = read(text).errors.into_iter().map(|error| {
            assert_eq!(error.kind, Kind::DuplicateKey);
            let first = error.first.expect("it is known");
            (error.message, first.range(), error.span.range())
        });
        found.collect::<Vec<_>>()
    };
    let duplicate = |key: &str, first, place| (format!("duplicate key `{key}`"), first, place);
    let text = r#"{"a": {"b": 1, "\u0062": 2}, "c": 3, "a": 4, "a": 5}"#;
    let expected = [
        duplicate("b", 7..10, 15..23),
        duplicate("a", 1..4, 37..40),
        duplicate("a", 1..4, 45..48),
    ];
    assert_eq!(duplicates(text), expected);

    let mut text = String::from("{");
    for number in 0..100_000 {
        write!(text, "\"key{number}\":{number},").expect("a string takes it");
    }
    text.push_str("\"key7\":0}");
    let first = text.find("\"key7\"").expect("it is there");
    let last = text.len() - 9..text.len() - 3;
    assert_eq!(
        duplicates(&text),
        [duplicate("key7", first..first + 6, last)]
    );
}

#[test]
fn all_mistakes_but_those_of_the_grammar_are_told() {
    let text = r#"{"a": [1e400, -1e400, 1e-400], "a": "\udE00", "b": "x"}"#;
    let found = kinds(text, &Limits::default());
    let expected = [
        (Kind::NotJson, 7..12),
        (Kind::NotJson, 14..20),
        (Kind::DuplicateKey, 31..34),
        (Kind::Syntax, 37..43),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        read(text).root.expect("the best of it").to_value(),
        json!({"a": [null, null, 0.0], "b": "x"})
    );
}

#[test]
fn depth_is_bounded_as_in_serde_json() {
    for depth in [126, 127, 128, 129] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        assert_eq!(read(&text).errors.is_empty(), theirs.is_ok(), "{depth}");
    }
    let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(
        kinds(&deep, &Limits::default()),
        [(Kind::TooDeep, 127..128)]
    );
    assert_eq!(read(&"[".repeat(1_000_000)).errors.len(), 1);
    let flat = Limits {
        max_depth: 0,
        ..Limits::default()
    };
    assert_eq!(parse("1", &flat).errors, []);
    assert_eq!(parse("[]", &flat).errors.len(), 1);
}

#[test]
fn length_and_errors_are_bounded() {
    let limits = Limits {
        max_bytes: 4,
        ..Limits::default()
    };
    assert_eq!(parse("1234", &limits).errors, []);
    assert_eq!(kinds("12345", &limits), [(Kind::TooLarge, 0..0)]);

    let text = r#"{"a":1,"a":2,"a":3,"a":4,"a":5,"a":6}"#;
    let at_most = |max_errors| {
        let limits = Limits {
            max_errors,
            ..Limits::default()
        };
        kinds(text, &limits)
    };
    let found = at_most(3);
    assert_eq!((found.len(), found[3].0), (4, Kind::TooMany));
    assert_eq!(at_most(0).len(), 1);
    assert_eq!(at_most(5).len(), 5);
}
