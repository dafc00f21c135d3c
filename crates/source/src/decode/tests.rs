use std::collections::BTreeMap;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;
use crate::SourceFile;
use crate::diagnostic::{Severity, any_error, codes};
use crate::json::{Limits, parse, parse_part};
use crate::reader::{Object, Reader};
use crate::value::Json;

const FORMAT: Format = Format {
    missing: codes::FIELD_MISSING,
    wrong_type: codes::FIELD_TYPE,
    unknown: codes::FIELD_UNKNOWN,
    value: codes::FIELD_VALUE,
    path: codes::FIELD_VALUE,
    check: codes::FIELD_VALUE,
};

/// Members of all kinds.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Everything {
    name: Spanned<String>,
    #[serde(default, alias = "is_on")]
    is_on: bool,
    byte: u8,
    signed: i64,
    unsigned: u64,
    real: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maybe: Option<i32>,
    pair: (String, u16),
    list: Vec<String>,
    map: BTreeMap<String, i64>,
    anything: Json,
    #[serde(default)]
    events: Items<Event>,
    #[serde(default)]
    inner: Option<Box<Everything>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Event {
    Stop,
    Say(String),
    Move(i32, i32),
    Run {
        cmd: Spanned<String>,
        times: Option<u8>,
    },
}

fn read<T: DeserializeOwned>(text: &str) -> (Decoded<T>, SourceFile) {
    let source = SourceFile::new("x.json", text);
    let parsed = parse(text, &Limits::default());
    assert_eq!(parsed.errors, [], "{text}");
    let root = parsed.root.expect("valid");
    let decoded = Reader::new(&source, &FORMAT).decoded(&root, "", "the file");
    (decoded, source)
}

/// The findings as `severity code pointer 'text under the span' message (label)`.
fn findings<T: DeserializeOwned>(text: &str) -> Vec<String> {
    let (decoded, source) = read::<T>(text);
    let shown = decoded.diagnostics.iter().map(|found| {
        let place = found.place.as_ref().expect("each finding has a place");
        let label = found
            .label
            .as_deref()
            .map_or(String::new(), |label| format!(" ({label})"));
        let (severity, code) = (found.severity.as_str(), found.code.name());
        let pointer = found.pointer.as_deref().expect("each has a pointer");
        format!(
            "{severity} {code} {pointer} '{}' {}{label}",
            source.slice(place.span),
            found.message
        )
    });
    shown.collect()
}

#[derive(Debug, PartialEq, Deserialize)]
struct Small {
    cmd: String,
    #[serde(default)]
    times: Option<u8>,
    #[serde(default)]
    events: Items<Event>,
}

#[test]
fn each_mistake_is_told_with_its_place() {
    for (text, expected) in [
        (
            r#"{"cmd": 1}"#,
            "error C-FIELD-02 /cmd '1' `cmd` must be a string, not 1",
        ),
        (
            "[]",
            "error C-FIELD-02  '[' the file must be an object, not an array",
        ),
        ("{}", "error C-FIELD-01 /cmd '{' the file has no `cmd`"),
        (
            r#"{"cmd": null}"#,
            "error C-FIELD-01 /cmd 'null' the file has no `cmd`",
        ),
        (
            r#"{"cdm": "ls"}"#,
            "error C-FIELD-01 /cmd '\"cdm\"' the file has no `cmd` (did you mean `cmd`?)",
        ),
        (
            r#"{"cmd": "", "tims": 1}"#,
            "warning C-FIELD-03 /tims '\"tims\"' unknown key `tims` in the file (did you mean `times`?)",
        ),
        (
            r#"{"cmd": "", "times": 300}"#,
            "error C-FIELD-02 /times '300' `times` must be an integer from 0 to 255, not 300",
        ),
        (
            r#"{"cmd": "", "times": 1.5}"#,
            "error C-FIELD-02 /times '1.5' `times` must be an integer from 0 to 255, not 1.5",
        ),
        (
            r#"{"cmd": "", "events": {}}"#,
            "error C-FIELD-02 /events '{' `events` must be an array, not an object",
        ),
        (
            r#"{"cmd": "", "events": ["stpo"]}"#,
            "error C-FIELD-04 /events/0 '\"stpo\"' `events[0]` must be `stop`, `say`, `move` or `run`, not `stpo` (did you mean `stop`?)",
        ),
        (
            r#"{"cmd": "", "events": [{"run": {"cmd": 1}}]}"#,
            "error C-FIELD-02 /events/0/run/cmd '1' `cmd` must be a string, not 1",
        ),
        (
            r#"{"cmd": "", "events": [{"say": "a", "stop": null}]}"#,
            "error C-FIELD-02 /events/0 '{' `events[0]` must have one key, of `stop`, `say`, `move` or `run`",
        ),
        (
            r#"{"cmd": "", "events": ["say"]}"#,
            "error C-FIELD-04 /events/0 '\"say\"' `events[0]` must be an object with the key `say`",
        ),
        (
            r#"{"cmd": "", "events": [{"move": [1]}]}"#,
            "error C-FIELD-02 /events/0/move '[' `move` must be an array of 2 items, not an array",
        ),
    ] {
        assert_eq!(findings::<Small>(text), [expected], "{text}");
    }
}

#[test]
fn null_is_absence_and_keys_of_others_pass() {
    let text =
        r#"{"cmd": "ls", "times": null, "events": null, "x-note": 1, "_y": 2, "$schema": ""}"#;
    assert_eq!(findings::<Small>(text), [""; 0]);
}

#[test]
fn each_wrong_item_is_found_and_the_others_are_kept() {
    let text = r#"{"cmd": "", "events": ["stop", 1, {"say": 2}, {"say": "a"}, {"run": {}}, {"run": {"cmd": "b", "tmes": 1}}]}"#;
    let (decoded, _) = read::<Small>(text);
    let kept = decoded.value.as_ref().expect("the rest is right");
    let run = Event::Run {
        cmd: "b".to_owned().into(),
        times: None,
    };
    assert_eq!(
        kept.events.0,
        [Event::Stop, Event::Say("a".to_owned()), run]
    );
    let severities: Vec<_> = decoded
        .diagnostics
        .iter()
        .map(|found| found.severity)
        .collect();
    use Severity::{Error, Warning};
    assert_eq!(severities, [Error, Error, Error, Warning]);
}

/// A type with all that can be said beyond serde's attributes.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
struct Check {
    path: Dotted,
    #[serde(default, alias = "?equals", alias = "!", deserialize_with = "nullable")]
    equals: Option<Json>,
    #[serde(default)]
    matches: Option<Dotted>,
    #[serde(default, deserialize_with = "one_or_many")]
    also: Vec<Check>,
}

impl Check {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        if object.get("equals").is_none() && object.get("matches").is_none() {
            let (span, pointer) = (object.node.span, object.pointer);
            reader.error_at(codes::EXPECT_INVALID, span, pointer, "this checks nothing");
        }
    }
}

crate::checked!(Check);

/// A text with a dot in it, with its place.
#[derive(Debug, PartialEq)]
struct Dotted(String, Span);

impl<'de> Deserialize<'de> for Dotted {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stand_in = Self(String::new(), Span::default());
        by_hand(deserializer, Some(stand_in), |reader, node, pointer| {
            let text = reader.text_of(node, pointer, "a path")?;
            if !text.contains('.') {
                reader.error_at(codes::PATH_SYNTAX, node.span, pointer, "there is no dot");
                return None;
            }
            Some(Self(text.to_owned(), node.span))
        })
    }
}

impl JsonSchema for Dotted {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Dotted".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[derive(Debug, PartialEq, Deserialize)]
struct Large {
    first: String,
    second: Wanted,
    third: Dotted,
    #[serde(default)]
    flag: bool,
    #[serde(default)]
    words: Vec<Word>,
    #[serde(default)]
    pair: Option<(u8, u8)>,
    #[serde(default)]
    checks: Vec<Check>,
    #[serde(default)]
    small: Option<Small>,
    #[serde(default, rename = "expectAll")]
    expect_all: Option<bool>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Wanted {
    one: u8,
    #[serde(alias = "twoMore")]
    two_more: u8,
}

/// A text, or an object with a text.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
enum Word {
    String(String),
    Object(Small),
}

#[test]
fn all_mistakes_of_a_struct_are_found_in_one_pass() {
    let text = r#"{
        "secnd": 0,
        "third": "c",
        "flag": "yes",
        "words": ["a", 1, {"cmd": 2, "times": -1}, true],
        "pair": [1, 300],
        "checks": [{"path": 3, "equals": null, "matches": "d"}, {"path": "a.b"}, {"eqals": 1}],
        "small": {"times": 1, "events": [{"say": 4}, {"move": [1, "x"]}, "stop"]},
        "expectall": true
    }"#;
    let expected = [
        "error C-FIELD-01 /first '{' the file has no `first`",
        "error C-FIELD-01 /second '\"secnd\"' the file has no `second` (did you mean `second`?)",
        "error C-PATH-01 /third '\"c\"' there is no dot",
        "error C-FIELD-02 /flag '\"yes\"' `flag` must be true or false, not the string `yes`",
        "error C-FIELD-02 /words/1 '1' `words[1]` must be a string or an object, not 1",
        "error C-FIELD-02 /words/2/cmd '2' `cmd` must be a string, not 2",
        "error C-FIELD-02 /words/2/times '-1' `times` must be an integer from 0 to 255, not -1",
        "error C-FIELD-02 /words/3 'true' `words[3]` must be a string or an object, not true",
        "error C-FIELD-02 /pair/1 '300' `pair[1]` must be an integer from 0 to 255, not 300",
        "error C-FIELD-02 /checks/0/path '3' a path must be a string, not 3",
        "error C-PATH-01 /checks/0/matches '\"d\"' there is no dot",
        "error C-EXPECT-01 /checks/1 '{\"path\": \"a.b\"}' this checks nothing",
        "error C-FIELD-01 /checks/2/path '{' `checks[2]` has no `path`",
        "error C-FIELD-03 /checks/2/eqals '\"eqals\"' unknown key `eqals` in `checks[2]` (did you mean `equals`?)",
        "error C-FIELD-01 /small/cmd '{' `small` has no `cmd`",
        "error C-FIELD-02 /small/events/0/say '4' `say` must be a string, not 4",
        "error C-FIELD-02 /small/events/1/move/1 '\"x\"' `move[1]` must be an integer from -2147483648 to 2147483647, not the string `x`",
        "error C-FIELD-03 /expectall '\"expectall\"' unknown key `expectall` in the file (did you mean `expectAll`?)",
    ];
    assert_eq!(findings::<Large>(text), expected);
    let value = read::<Large>(text)
        .0
        .value
        .expect("only keys of the whole are missing");
    assert_eq!((value.first.as_str(), value.third.0.as_str()), ("", ""));
    assert_eq!((value.small, value.words.len()), (None, 1));
}

#[test]
fn what_is_wrong_is_left_out_of_the_value() {
    let text = r#"{"first": "a", "second": {"one": 1, "twoMore": 2}, "third": "c.d", "flag": 1,
        "words": [1, "b", {"tims": 1}], "checks": [{"path": "e.f", "equals": null, "also": {"path": "g"}}]}"#;
    let (decoded, source) = read::<Large>(text);
    let value = decoded.value.expect("the rest is right");
    assert_eq!(source.slice(value.third.1), "\"c.d\"");
    assert!(!value.flag && value.small.is_none());
    assert_eq!(value.words, [Word::String("b".to_owned())]);
    assert_eq!(value.checks.len(), 1);
    assert_eq!(value.checks[0].equals, Some(Json::Null));
    assert_eq!(value.checks[0].also, []);
    assert_eq!(decoded.diagnostics.len(), 5, "{:#?}", decoded.diagnostics);
    let missing = r#"{"first": "a", "second": {"one": 1, "twoMore": "x"}, "third": "c.d"}"#;
    assert_eq!(
        findings::<Large>(missing),
        [
            "error C-FIELD-02 /second/twoMore '\"x\"' `twoMore` must be an integer from 0 to 255, not the string `x`"
        ]
    );
}

#[test]
fn other_deserializers_refuse_what_is_read_by_hand() {
    let error = serde_json::from_str::<Dotted>("\"a.b\"").expect_err("no node");
    assert!(error.to_string().contains("read by hand"), "{error}");
}

#[test]
fn places_of_a_part_are_those_in_the_whole() {
    let source = SourceFile::new("x.jsonl", "{}\n{\"cmd\": 7}\n");
    let parsed = parse_part(source.text(), Span::new(3, 13), &Limits::default());
    let root = parsed.root.expect("valid");
    let decoded = Reader::new(&source, &FORMAT).decoded::<Small>(&root, "", "a line");
    let place = decoded.diagnostics[0].place.as_ref().expect("a place");
    assert_eq!(source.slice(place.span), "7");
    let text = r#"{"name": "é"}"#;
    #[derive(Deserialize)]
    struct Named {
        name: Spanned<String>,
    }
    let (named, source) = read::<Named>(text);
    let name = named.value.expect("right").name;
    assert_eq!(
        (source.slice(name.span), name.value.as_str()),
        ("\"é\"", "é")
    );
}

#[test]
fn more_findings_than_the_bound_are_not_kept() {
    let text = json!({ "cmd": "", "events": vec![1; MAX_FINDINGS + 5] }).to_string();
    assert_eq!(read::<Small>(&text).0.diagnostics.len(), MAX_FINDINGS);
}

#[test]
fn the_schema_takes_what_is_written() {
    let schema = json!(schemars::schema_for!(Everything));
    let written = json!(Everything {
        pair: ("a".to_owned(), 1),
        ..Everything::default()
    });
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(validator.is_valid(&written), "{schema:#} {written:#}");
    assert!(!validator.is_valid(&json!({ "name": 1 })));
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        (-1e9..1e9).prop_map(|number: f64| json!(number)),
        ".{0,5}".prop_map(Json::from),
    ];
    let keys = prop_oneof![
        "[a-z]{0,3}",
        "name|cmd|events|run|say|list|map|pair|inner|byte"
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::btree_map(keys.clone(), inner, 0..6)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        Just(Event::Stop),
        ".{0,9}".prop_map(Event::Say),
        any::<(i32, i32)>().prop_map(|(x, y)| Event::Move(x, y)),
        (".{0,9}", any::<Option<u8>>()).prop_map(|(cmd, times)| Event::Run {
            cmd: cmd.into(),
            times
        }),
    ]
}

fn everything() -> impl Strategy<Value = Everything> {
    // As the struct has it: null is absence, so `anything` is none.
    let anything = any_json().prop_filter("null is absence", |json| !json.is_null());
    let scalars = (
        ".{0,9}",
        any::<bool>(),
        any::<u8>(),
        any::<i64>(),
        any::<u64>(),
        -1e300..1e300,
    );
    let rest = (
        any::<Option<i32>>(),
        (".{0,9}", any::<u16>()),
        prop::collection::vec(".{0,9}", 0..4),
        prop::collection::btree_map(".{0,9}", any::<i64>(), 0..4),
        anything,
        prop::collection::vec(event(), 0..5),
    );
    let one = (scalars, rest).prop_map(|(scalars, rest)| {
        let (name, is_on, byte, signed, unsigned, real) = scalars;
        let (maybe, pair, list, map, anything, events) = rest;
        Everything {
            name: name.into(),
            is_on,
            byte,
            signed,
            unsigned,
            real,
            maybe,
            pair,
            list,
            map,
            anything,
            events: Items(events),
            inner: None,
        }
    });
    (one.boxed(), any::<bool>()).prop_map(|(one, is_nested)| match is_nested {
        true => Everything {
            pair: one.pair.clone(),
            anything: 1.into(),
            inner: Some(Box::new(one)),
            ..Everything::default()
        },
        false => one,
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(written in everything()) {
        let (decoded, _) = read::<Everything>(&json!(written).to_string());
        prop_assert!(decoded.diagnostics.is_empty(), "{:?}", decoded.diagnostics);
        prop_assert_eq!(decoded.value, Some(written));
    }

    #[test]
    fn any_json_is_read_or_refused_in_its_place(json in any_json()) {
        let text = json.to_string();
        let (decoded, source) = read::<Everything>(&text);
        for found in &decoded.diagnostics {
            let span = found.place.as_ref().expect("a place").span;
            prop_assert!(source.text().get(span.range()).is_some_and(|text| !text.is_empty()), "{found:?}");
            prop_assert!(found.pointer.is_some());
        }
        prop_assert!(decoded.value.is_some() || any_error(&decoded.diagnostics));
        let (same, _) = read::<Json>(&text);
        prop_assert_eq!(same.value, Some(json));
    }
}
