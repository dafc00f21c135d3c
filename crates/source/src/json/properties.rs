//! Properties that hold for every text, with `serde_json` as the judge.

use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value};

use super::{Limits, Node, NodeKind, Parsed, parse, read_value, string_span};
use crate::Span;
use crate::mistake::MistakeKind;

/// The same cases on each run, and no files beside the source.
fn config(n_cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: n_cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x5eed),
        ..ProptestConfig::default()
    }
}

fn read(text: &str) -> Parsed {
    parse(text, &Limits::default())
}

fn any_value() -> impl Strategy<Value = Value> {
    let finite = any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        finite.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z \"\\\\\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 8, |inner| {
        let key = prop_oneof!["[a-d]{1,2}", any::<String>()];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..20)
                .prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

/// Pieces of JSON and of what people take for it, so that random sequences reach every branch of the reader.
fn any_piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\"a\"", "\"b\"", "\"a\":", "1", "-", "0", "1.5",
        "e5", "1e400", ".", "+", "true", "false", "null", "True", "NaN", "x", "é", "'", "'a'", "`",
        "“", "”", "//", "/*", "*/", "#", "\n", "\r\n", "\t", " ", "\u{a0}", "\u{feff}", "\0",
        "\\u", "\\ud83d", "\\ude00", "\\n", "\\x41", "{{", "}}", "{{A}}", "...", "…", "=", "=>",
        ";", "@", "😀", "\u{7f}",
    ]);
    prop_oneof![20 => known.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

/// One change to a text: where, as a fraction of its characters, and what stands there afterwards.
fn any_change() -> impl Strategy<Value = (u16, bool, Option<String>)> {
    (
        any::<u16>(),
        any::<bool>(),
        proptest::option::of(any_piece()),
    )
}

fn change(text: &str, (place, keep, insert): &(u16, bool, Option<String>)) -> String {
    let n_characters = text.chars().count();
    let idx = usize::from(*place) * (n_characters + 1) / (usize::from(u16::MAX) + 1);
    let mut changed: String = text.chars().take(idx).collect();
    changed.extend(insert.as_deref());
    changed.extend(text.chars().skip(if *keep { idx } else { idx + 1 }));
    changed
}

fn all_nodes(root: &Node) -> Vec<&Node> {
    let mut nodes = vec![root];
    let mut next = 0;
    while let Some(&node) = nodes.get(next) {
        nodes.extend(node.as_array().unwrap_or_default());
        nodes.extend(node.members().iter().map(|member| &member.value));
        next += 1;
    }
    nodes
}

/// Holds for any text at all.
fn agrees_with_serde_json(text: &str) -> Result<(), TestCaseError> {
    let parsed = read(text);
    // The same values, but for large integers.
    let theirs = serde_json::from_str::<Value>(text).and_then(|_| read_value(text));
    if parsed.errors.is_empty() {
        let ours = parsed.root.as_ref().map(Node::to_value);
        let theirs = theirs
            .map_err(|error| TestCaseError::fail(format!("accepted {text:?}, but {error}")))?;
        prop_assert_eq!(ours.as_ref(), Some(&theirs), "{:?}", text);
        // The order of members too.
        prop_assert_eq!(ours.unwrap_or_default().to_string(), theirs.to_string());
    } else if theirs.is_ok() {
        let only_duplicates = parsed
            .errors
            .iter()
            .all(|error| error.kind == MistakeKind::DuplicateKey);
        prop_assert!(only_duplicates, "refused {:?}: {:?}", text, parsed.errors);
    }
    for error in &parsed.errors {
        prop_assert!(
            text.get(error.span.range()).is_some(),
            "{:?}: {:?}",
            text,
            error
        );
        for said in [Some(&error.message), error.help.as_ref()]
            .into_iter()
            .flatten()
        {
            prop_assert!(!said.is_empty() && !said.ends_with('.'), "{:?}", said);
            prop_assert!(
                !said.contains(char::is_control) && said.len() < 1000,
                "{:?}",
                said
            );
        }
    }
    prop_assert!(parsed.errors.is_sorted_by_key(|error| error.span.start));
    for node in parsed.root.iter().flat_map(all_nodes) {
        prop_assert!(
            text.get(node.span.range()).is_some(),
            "{:?}: {:?}",
            text,
            node
        );
        for member in node.members() {
            prop_assert!(
                text.get(member.key_span.range()).is_some(),
                "{:?}: {:?}",
                text,
                member
            );
        }
    }
    Ok(())
}

/// The tree with all spans moved back by `offset`.
fn moved(node: &Node, offset: u32) -> Node {
    let back = |span: Span| Span {
        start: span.start - offset,
        end: span.end - offset,
    };
    let mut node = node.clone();
    node.span = back(node.span);
    match &mut node.kind {
        NodeKind::Array(items) => {
            for item in items {
                *item = moved(item, offset);
            }
        }
        NodeKind::Object(members) => {
            for member in members {
                member.key_span = back(member.key_span);
                member.value = moved(&member.value, offset);
            }
        }
        _ => {}
    }
    node
}

/// Writes `character` for a string literal in one of the ways that JSON allows.
fn write_character(literal: &mut String, character: char, style: u8) {
    let short = match character {
        '"' => Some('"'),
        '\\' => Some('\\'),
        '/' => Some('/'),
        '\u{8}' => Some('b'),
        '\u{c}' => Some('f'),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        _ => None,
    };
    let may_be_plain = character >= ' ' && !matches!(character, '"' | '\\');
    match short {
        Some(letter) if style == 1 => literal.extend(['\\', letter]),
        _ if may_be_plain && style != 2 => literal.push(character),
        _ => {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(literal, "\\u{unit:04X}").expect("a string takes it");
            }
        }
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_printed_value_reads_back(value in any_value()) {
        for text in [value.to_string(), format!("{value:#}")] {
            let parsed = read(&text);
            prop_assert_eq!(&parsed.errors, &[]);
            let ours = parsed.root.map(|root| root.to_value());
            prop_assert_eq!(ours.as_ref(), Some(&value));
            prop_assert_eq!(ours.unwrap_or_default().to_string(), value.to_string());
            agrees_with_serde_json(&text)?;
        }
    }

    #[test]
    fn the_text_under_a_node_is_that_node(value in any_value()) {
        let text = format!(" {value:#}\n");
        let root = read(&text).root.expect("valid");
        for node in all_nodes(&root) {
            let parsed = read(&text[node.span.range()]);
            prop_assert_eq!(&parsed.errors, &[]);
            prop_assert_eq!(parsed.root, Some(moved(node, node.span.start)));
        }
    }

    #[test]
    fn damaged_json_is_judged_as_serde_json_does(
        value in any_value(),
        pretty in any::<bool>(),
        changes in proptest::collection::vec(any_change(), 1..4),
    ) {
        let mut text = if pretty { format!("{value:#}") } else { value.to_string() };
        for one in &changes {
            text = change(&text, one);
            agrees_with_serde_json(&text)?;
        }
    }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn any_text_is_judged_as_serde_json_does(text in any::<String>()) {
        agrees_with_serde_json(&text)?;
    }

    #[test]
    fn pieces_of_json_are_judged_as_serde_json_does(pieces in proptest::collection::vec(any_piece(), 0..24)) {
        agrees_with_serde_json(&pieces.concat())?;
    }

    #[test]
    fn string_spans_decode_to_the_characters(
        characters in proptest::collection::vec(
            (prop_oneof![any::<char>(), prop::char::range('\0', '\u{7f}')], 0..3_u8),
            0..12,
        ),
        before in "[ \u{e9}]{0,3}",
    ) {
        let mut source = format!("{before}\"");
        let value: String = characters.iter().map(|&(character, _)| character).collect();
        for &(character, style) in &characters {
            write_character(&mut source, character, style);
        }
        source.push('"');
        let literal = Span::new(before.len(), source.len());
        source.push_str(", more");
        prop_assert_eq!(serde_json::from_str::<String>(&source[literal.range()]).ok(), Some(value.clone()));

        let mut place = literal.start + 1;
        for (offset, character) in value.char_indices() {
            let decoded = offset..offset + character.len_utf8();
            let span = string_span(&source, literal, decoded.clone());
            prop_assert_eq!(span.start, place, "spans follow each other");
            place = span.end;
            let written = format!("\"{}\"", &source[span.range()]);
            prop_assert_eq!(read(&written).root.map(|root| root.to_value()), Some(Value::from(character.to_string())));
            // A part of a character stands for all of it.
            for start in decoded.clone() {
                prop_assert_eq!(string_span(&source, literal, start..start + 1), span);
            }
        }
        prop_assert_eq!(place + 1, literal.end);
        let whole = string_span(&source, literal, 0..value.len());
        prop_assert_eq!(whole, Span { start: literal.start + 1, end: literal.end - 1 });
    }

    #[test]
    fn string_span_never_panics(
        source in "[\"\\\\u0-9a-fdé x{}]{0,20}",
        literal in (0..25_usize, 0..25_usize),
        decoded in (0..25_usize, 0..25_usize),
    ) {
        let literal = Span::new(literal.0, literal.1);
        let span = string_span(&source, literal, decoded.0..decoded.1);
        if source.get(literal.range()).is_some() {
            prop_assert!(source.get(span.range()).is_some());
            prop_assert!(literal.start <= span.start && span.end <= literal.end);
        }
    }
}
