use super::*;
use crate::json::Node;
use crate::json::NodeKind;
use crate::mistake::MistakeKind;

fn read(text: &str) -> Parsed {
    parse(text, &Limits::default())
}

#[track_caller]
fn root(text: &str) -> Node {
    let parsed = read(text);
    assert_eq!(parsed.errors, [], "{text}");
    parsed.root.expect("a valid text has a root")
}

#[track_caller]
fn value(text: &str) -> serde_json::Value {
    root(text).to_value()
}

/// The only mistake of `text`, with the text under its span.
#[track_caller]
fn mistake(text: &str) -> (MistakeKind, &str) {
    let parsed = read(text);
    assert_eq!(parsed.errors.len(), 1, "{text}: {:?}", parsed.errors);
    let error = parsed.errors.into_iter().next().expect("one");
    let under = text.get(error.span.range()).expect("a part of the text");
    (error.kind, under)
}

#[track_caller]
fn said(text: &str, message: &str, under: &str) {
    let (_, marked) = mistake(text);
    let found = &read(text).errors[0].message;
    assert!(found.contains(message), "{text}: {found}");
    assert_eq!(marked, under, "{text}");
}

#[test]
fn json_with_pairs_of_surrogates_is_read() {
    let text = "{\"a\": \"\\ud83d\\udc69\"}\n";
    let parsed = parse(text, &Limits::default());
    let value = parsed.root.map(|root| root.to_value());
    assert_eq!(value, Some(serde_json::json!({"a": "\u{1f469}"})));
    let half = parse("{\"a\": \"\\ud83d\"}", &Limits::default());
    assert!(!half.errors.is_empty());
}

#[test]
fn values_are_those_of_the_core_schema() {
    let text = "a: null\nb: ~\nc:\nd: true\ne: 12\nf: 1.5\ng: text here\nh: 'it''s'\ni: \"\\u00e9\\n\"\nj: yes\nk: |\n  one\n  two\nl: >-\n  one\n  two\nm: [1, {n: 2}]\no: {}\n";
    assert_eq!(
        value(text),
        serde_json::json!({
            "a": null, "b": null, "c": null, "d": true, "e": 12, "f": 1.5, "g": "text here", "h": "it's",
            "i": "é\n", "j": "yes", "k": "one\ntwo\n", "l": "one two", "m": [1, {"n": 2}], "o": {}
        })
    );
    assert_eq!(
        value("- a\n-\n- - b\n"),
        serde_json::json!(["a", null, ["b"]])
    );
    assert_eq!(
        value("1: a\ntrue: b\n~: c"),
        serde_json::json!({"1": "a", "true": "b", "~": "c"})
    );
    assert_eq!(value("---\na: 1\n...\n"), serde_json::json!({"a": 1}));
    assert_eq!(
        value("\u{feff}a: 1\r\nb: 2\r\n"),
        serde_json::json!({"a": 1, "b": 2})
    );
}

#[test]
fn spans_are_bytes_of_what_is_written() {
    let text = "é: &x 'ü''' # ö\nlist:\n  - plain é  # c\n  -\n  - &y { k: [1, \"a\\\"b\" ] }\n  - *y\nblock: |\n    öne\n    two\n\nempty:\nlast: end\n\n";
    let root = root(text);
    let slice = |span: Span| &text[span.range()];
    assert_eq!(slice(root.span), text.trim_end());
    let member = |idx: usize| &root.members()[idx];
    assert_eq!(
        (slice(member(0).key_span), slice(member(0).value.span)),
        ("é", "'ü'''")
    );
    let list = member(1).value.as_array().expect("a list");
    let items: Vec<&str> = list.iter().map(|item| slice(item.span)).collect();
    assert_eq!(items, ["plain é", "", "{ k: [1, \"a\\\"b\" ] }", "*y"]);
    assert_eq!(
        slice(member(1).value.span),
        &text[list[0].span.start as usize - 2..list[3].span.end as usize]
    );
    let inner = list[2].get("k").expect("k").as_array().expect("a list");
    assert_eq!(slice(inner[1].span), "\"a\\\"b\"");
    assert_eq!(slice(member(2).value.span), "öne\n    two");
    let empty = member(3);
    assert_eq!(
        empty.value.span,
        Span::new(
            empty.key_span.end as usize + 1,
            empty.key_span.end as usize + 1
        )
    );
    assert_eq!(slice(member(4).value.span), "end");
}

#[test]
fn places_are_right_after_carriage_returns_and_a_byte_order_mark() {
    let text = "\u{feff}# é\r\na:\r\n  - 'x'\r\n  - y\r\n";
    let root = root(text);
    let items = root.get("a").expect("a").as_array().expect("a list");
    assert_eq!(&text[items[0].span.range()], "'x'");
    assert_eq!(&text[items[1].span.range()], "y");
}

#[test]
fn aliases_and_merges_stand_for_what_they_name() {
    let text = "base: &base {a: 1, b: 2}\nother: &other\n  b: 3\n  c: 4\nall:\n  <<: [*base, *other]\n  a: 5\none: {<<: *base}\nquoted: {'<<': 1}\nkey: &k name\n*k : 6\n";
    assert_eq!(
        value(text),
        serde_json::json!({
            "base": {"a": 1, "b": 2}, "other": {"b": 3, "c": 4}, "all": {"a": 5, "b": 2, "c": 4},
            "one": {"a": 1, "b": 2}, "quoted": {"<<": 1}, "key": "name", "name": 6
        })
    );
    said("a: {<<: 1}", "can only merge a mapping", "1");
    said("a: &a [*a]", "recursive alias", "*a");
    assert_eq!(mistake("a: *b"), (MistakeKind::Alias, "*"));
}

#[test]
fn aliases_are_bounded() {
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (name, of) in "bcdefghi".chars().zip("abcdefgh".chars()) {
        let items = vec![format!("*{of}"); 10].join(",");
        bomb.push_str(&format!("{name}: &{name} [{items}]\n"));
    }
    let too_many = |text: &str| {
        let parsed = read(text);
        let limit = format!("expand to more than {} values", 10_000 + text.len());
        assert!(parsed.errors[0].message.contains(&limit));
        assert_eq!(parsed.errors[0].kind, MistakeKind::Alias);
        assert_eq!(parsed.root, None);
    };
    too_many(&bomb);

    let long = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(100_000),
        vec!["*a"; 1000].join(",")
    );
    too_many(&long);

    let (open, close) = ("[".repeat(70), "]".repeat(70));
    let tower = format!("a: &a {open}{close}\nb: {open}*a{close}\n");
    assert_eq!(mistake(&tower), (MistakeKind::TooDeep, "*a"));
}

#[test]
fn what_json_lacks_is_refused() {
    for (text, message, under) in [
        (
            "a: !include x.yaml",
            "unsupported tag `!include`",
            "!include",
        ),
        ("a: &b !!str 1", "unsupported tag `!!str`", "!!str"),
        ("a: !!map\n  b: 1", "unsupported tag `!!map`", "!!map"),
        ("a: .inf", "`.inf` can't be represented", ".inf"),
        ("a: 1e999", "the number `1e999` is too large", "1e999"),
        ("a: 1\n---\nb: 2", "unexpected second document", "-"),
        ("? [a, b]\n: 1", "a key must be text", "["),
    ] {
        said(text, message, under);
        assert_eq!(mistake(text).0, MistakeKind::NotJson, "{text}");
    }
    said("{ : 1 }", "expected a key before `:`", "");
    said("a: \0b", "the control character U+0000", "\0");
    for empty in ["", "\n", "# only a comment\n", "\u{feff}"] {
        assert_eq!(mistake(empty), (MistakeKind::Empty, ""), "{empty:?}");
    }
    assert_eq!(root("---\n").kind, NodeKind::Null);
}

#[test]
fn duplicate_keys_are_refused_in_small_and_large_mappings() {
    let text = "a: 1\n'a': 2";
    assert_eq!(mistake(text), (MistakeKind::DuplicateKey, "'a'"));
    assert_eq!(read(text).errors[0].first, Some(Span::new(0, 1)));
    let mut large: String = (0..40).map(|n| format!("k{n}: {n}\n")).collect();
    large.push_str("k7: 1\n");
    assert_eq!(mistake(&large).1, "k7");
    assert_eq!(mistake("1: a\n'1': b").1, "'1'");
}

#[test]
fn brackets_end_where_they_close() {
    let text = "{ \"a\": { \"b\": [ 1 ] } , \"c\": [ 2 ]\t }  # end\n";
    let root = root(text);
    let written = |node: &Node| text[node.span.range()].to_owned();
    assert_eq!(written(&root), text.trim_end_matches("  # end\n"));
    let members = root.members();
    assert_eq!(written(&members[0].value), "{ \"b\": [ 1 ] }");
    assert_eq!(written(&members[1].value), "[ 2 ]");
}

#[test]
fn mistakes_of_meaning_are_found_together() {
    let parsed = read("a: .nan\nb: !x 1\nc: 1\nc: 2\n");
    let under: Vec<_> = parsed.errors.iter().map(|error| error.span.start).collect();
    assert_eq!(under, [3, 11, 21]);
    assert!(parsed.root.is_some());
}

#[test]
fn mistakes_of_syntax_have_their_place() {
    said("a:\n\t- b", "tab", "-");
    said("title: one: two", "mapping values are not allowed", ":");
    said("a: 'b\nc: d\n", "in quoted scalar", "'");
    said("a: 'b' c\n", "invalid trailing content", "c");
    said("a: \"\\d\"\n", "unknown escape character", "\"");
    said("a: [1, 2\nb: 3\n", "illegal placement", ":");
    said("a: ]\n", "misplaced bracket", "]");
    said("a: @b\n", "unexpected character", "@");
    said("a: 1\nb\nc: 2\n", "simple key expect", "c");
    said("a:\n  b: 1\n c: 2\n", "did not find expected key", "c");
    said("a: - b\n", "block sequence entries are not allowed", "-");
    said("[a]\nb\n", "expected <document start>", "b");
    let deep = "[".repeat(100_000);
    assert_eq!(mistake(&deep).0, MistakeKind::TooDeep);
    let deep = "- ".repeat(100_000);
    assert_eq!(mistake(&deep).0, MistakeKind::TooDeep);
}

#[test]
fn doubts_are_listed_with_their_places() {
    let text = "a: yes\nb: 'yes'\nc: [1_000, off]\nno: 1\n";
    let parsed = read(text);
    let found: Vec<_> = parsed
        .doubts
        .iter()
        .map(|doubt| (&text[doubt.span.range()], doubt.taken_for))
        .collect();
    assert_eq!(
        found,
        [
            ("yes", Yaml11Type::Boolean(true)),
            ("1_000", Yaml11Type::Number),
            ("off", Yaml11Type::Boolean(false))
        ]
    );
}

#[test]
fn length_and_errors_are_bounded() {
    let limits = Limits {
        max_bytes: 4,
        ..Limits::default()
    };
    assert_eq!(parse("a: 1", &limits).errors, []);
    assert_eq!(
        parse("a: 12", &limits).errors[0].kind,
        MistakeKind::TooLarge
    );
    let limits = Limits {
        max_errors: 2,
        ..Limits::default()
    };
    let parsed = parse("[.nan, .nan, .nan, .nan]", &limits);
    assert_eq!(parsed.errors.len(), 3);
    assert_eq!(parsed.errors[2].kind, MistakeKind::TooMany);
}
