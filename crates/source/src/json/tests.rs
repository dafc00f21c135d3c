use std::fmt::Write;
use std::ops::Range;

use serde_json::json;

use super::{Limits, Parsed, parse, parse_with_comments};
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
    for (text, place, message, help) in [
        ("", "", "expected a JSON value", "write a value"),
        ("\u{feff}1", "\u{feff}", "byte order mark", "without"),
        (
            "[1] // a\n",
            "// a",
            "comments are not allowed",
            "remove it",
        ),
        ("{/* a */}", "/* a */", "comments are not", "remove it"),
        ("[\u{a0}1]", "\u{a0}", "U+00A0 is not", "ordinary space"),
        ("{\"a\n\":1}", "\n", "control character", "`\\n`"),
        ("[\"a\tb\"]", "\t", "control character", "`\\t`"),
        (
            "{a: 1}",
            "a",
            "`a`: expected string for object property",
            "`\"`",
        ),
        ("{\"a\" 1}", "1", "expected colon after", ""),
        ("[1 2]", "", "expected comma", ""),
        (
            "[1,]",
            ",",
            "trailing commas are not allowed",
            "remove the comma",
        ),
        ("[1,,2]", ",", "unexpected comma", "remove the comma"),
        ("['it']", "'", "single-quoted strings are not", "write `\"`"),
        ("[\"a]", "\"a]", "unterminated string", "end it with"),
        ("[\"\\x41\"]", "\\x", "invalid escape", "write `\\\\`"),
        (
            "[\"\\ud83d\"]",
            "\\ud83d\"",
            "invalid unicode escape",
            "the whole",
        ),
        ("[+1]", "+", "unary plus on numbers", "write a number as"),
        (
            "[0x1F]",
            "0",
            "hexadecimal numbers are not",
            "write a number as",
        ),
        (
            "[1e400]",
            "1e400",
            "number `1e400` is out of range",
            "1.7e308",
        ),
        ("[True]", "True", "`True`: unexpected token", "`true`"),
        (
            "{\"a\": hello}",
            "hello",
            "`hello`: unexpected token",
            "around text",
        ),
        (
            "{\"a\": {{b.c}}}",
            "{",
            "unexpected token in object",
            "\"{{name}}\"",
        ),
        (
            "[1] [2]",
            "[",
            "more than one JSON value",
            "wrap everything",
        ),
        ("{\"a\": [1}", "}", "unexpected close brace", ""),
        ("{\"a\": [1, 2", "[", "unterminated array", "truncated"),
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
fn what_editors_accept_is_read() {
    let text = "// servers é\n{ /* all,\n of them */ \"a\": [1, 2, /* 3 */ ], // one\n \"b\": {\"c\": \"// no\", },\r\n}";
    let parsed = parse_with_comments(text, &Limits::default());
    assert_eq!(parsed.errors, []);
    let root = parsed.root.expect("it is valid");
    assert_eq!(root.to_value(), json!({"a": [1, 2], "b": {"c": "// no"}}));
    assert_eq!(&text[root.members()[1].key_span.range()], "\"b\"");
    for text in [
        "[1,,]",
        "[,]",
        "[1 /* open ]",
        "{\"a\": / 1}",
        "/",
        "[1, 2",
        "// a",
    ] {
        let parsed = parse_with_comments(text, &Limits::default());
        assert_ne!(parsed.errors, [], "{text}");
    }
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
    let text = r#"{"a": [1e400, -1e400, 1e-400], "a": "y", "b": "x"}"#;
    let found = kinds(text, &Limits::default());
    let expected = [
        (Kind::NotJson, 7..12),
        (Kind::NotJson, 14..20),
        (Kind::DuplicateKey, 31..34),
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
    assert_eq!(kinds(&deep, &Limits::default())[0].0, Kind::TooDeep);
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
