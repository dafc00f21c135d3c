//! Properties that hold for every text, with the JSON reader as the judge.

use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value};

use super::parse;
use crate::json::{self, Limits, Node};

/// The same cases on each run, and no files beside the source.
fn config(n_cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: n_cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x5eed),
        ..ProptestConfig::default()
    }
}

/// Text without what JSON would write raw and YAML forbids or reads otherwise.
fn any_text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "", "yes", "012", "1_000", "~", "null", "true", "1.5", "0x1F", "- a", "a: b", "# c", "*a",
        "&a", "!t", "<<", "'", "\"", "|", ">", "[", "{", "}", "%", "@", "`", "---", "...", " a ",
        "\n", "a\n\nb\n", "\\", "é😀", "\u{85}", "\u{2028}", "\u{a0}", ".inf", "?", ":", "-",
    ]);
    prop_oneof![
        odd.prop_map(str::to_owned),
        "[a-z:#'\" \\-\\n\\\\é]{0,12}",
        any::<String>(),
    ]
    .prop_filter("no byte order mark", |text: &String| {
        !text.contains('\u{feff}')
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    let finite = any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        finite.prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((any_text(), inner), 0..14)
                .prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

/// Writes `value` as lines, indented by `depth` levels, behind what stands on the line already.
fn write_block(value: &Value, depth: usize, to: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                write!(to, "\n{indent}-").expect("a string takes it");
                write_block(item, depth + 1, to);
            }
        }
        Value::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                let key = Value::from(key.as_str());
                // A key of more than 1024 characters needs another form.
                write!(to, "\n{indent}? {key}\n{indent}:").expect("a string takes it");
                write_block(value, depth + 1, to);
            }
        }
        Value::String(text) if is_literal(text) => {
            // The indicator counts from the indentation around.
            let indent = "  ".repeat(depth.max(1));
            to.push_str(" |2-");
            for line in text.split('\n') {
                write!(to, "\n{indent}{line}").expect("a string takes it");
            }
        }
        Value::String(text) if !text.contains(char::is_control) && !text.is_empty() => {
            write!(to, " '{}'", text.replace('\'', "''")).expect("a string takes it");
        }
        other => write!(to, " {other}").expect("a string takes it"),
    }
}

/// Whether a literal block keeps `text` as it is when its end is stripped.
fn is_literal(text: &str) -> bool {
    !text.is_empty()
        && !text.ends_with('\n')
        && text
            .chars()
            .all(|character| character == '\n' || matches!(character, ' '..='~'))
        && text
            .split('\n')
            .all(|line| !line.is_empty() && !line.starts_with(' '))
        && !text.starts_with("---")
        && !text.contains("\n---")
        && !text.starts_with("...")
        && !text.contains("\n...")
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
fn is_sound(text: &str) -> Result<(), TestCaseError> {
    let parsed = parse(text, &Limits::default());
    prop_assert_eq!(parsed.errors.is_empty() && parsed.root.is_none(), false);
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
    for doubt in &parsed.doubts {
        prop_assert!(
            text.get(doubt.span.range()).is_some(),
            "{:?}: {:?}",
            text,
            doubt
        );
    }
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

fn any_piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "a",
        "b: ",
        "- ",
        ": ",
        ":",
        "? ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "'",
        "\"",
        "|\n",
        ">\n",
        "|2-\n",
        "#",
        " #",
        "&a ",
        "*a",
        "!t ",
        "!!str ",
        "<<: ",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "\n",
        "\n  ",
        "\n    ",
        "\r\n",
        "\t",
        " ",
        "é",
        "😀",
        "\\",
        "\\n",
        "yes",
        "1_0",
        ".inf",
        "0x1",
        "~",
        "\u{feff}",
        "\0",
        "\u{7f}",
        "\u{85}",
    ]);
    prop_oneof![20 => known.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn json_is_yaml_and_reads_to_the_same_tree(value in any_value()) {
        for text in [value.to_string(), format!("{value:#}")] {
            let ours = parse(&text, &Limits::default());
            let theirs = json::parse(&text, &Limits::default());
            prop_assert_eq!(&ours.errors, &[], "{}", text);
            prop_assert_eq!(&ours.doubts, &[], "{}", text);
            prop_assert_eq!(ours.root, theirs.root, "{}", text);
        }
    }

    #[test]
    fn values_written_as_blocks_read_back(value in any_value()) {
        let mut text = String::new();
        write_block(&value, 0, &mut text);
        let parsed = parse(&text, &Limits::default());
        prop_assert_eq!(&parsed.errors, &[], "{}", text);
        let root = parsed.root.expect("no errors, so a value");
        prop_assert_eq!(root.to_value().to_string(), value.to_string(), "{}", text);
        for node in all_nodes(&root) {
            let written = &text[node.span.range()];
            let is_scalar = node.as_array().is_none() && node.as_object().is_none();
            if is_scalar && !node.as_str().is_some_and(is_literal) {
                let alone = parse(written, &Limits::default()).root;
                prop_assert_eq!(alone.map(|node| node.kind), Some(node.kind.clone()), "{}", written);
            }
        }
        is_sound(&text)?;
    }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn any_text_is_read_soundly(text in any::<String>()) {
        is_sound(&text)?;
    }

    #[test]
    fn pieces_of_yaml_are_read_soundly(pieces in proptest::collection::vec(any_piece(), 0..30)) {
        is_sound(&pieces.concat())?;
    }
}
