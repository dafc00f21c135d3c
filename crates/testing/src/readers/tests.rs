use std::path::Path;
use std::{fs, panic};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

use super::{TARGETS, Target};
use crate::repository_root;

/// Longer files take long and are no other.
const LONGEST: usize = 20_000;

/// Files of the repository that a reader is for, or that it could be given by mistake.
fn corpus() -> Vec<String> {
    let mut found = vec![
        r#"{"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a", "version": "1"}, "steps": [
  {"step_id": 1, "source": "user", "message": "Hi", "timestamp": "2026-01-02T03:04:05Z"},
  {"step_id": 2, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": {"a": 1}}],
   "observation": {"results": [{"source_call_id": "c", "content": "1"}]}}]}"#
            .to_owned(),
        r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "1", "spanId": "2", "name": "execute_tool f",
  "startTimeUnixNano": "1767322800000000000", "endTimeUnixNano": "1767322801000000000",
  "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
   {"key": "gen_ai.tool.name", "value": {"stringValue": "f"}}]}]}]}]}"#
            .to_owned(),
        concat!(
            r#"{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"s","cli_version":"1"}}"#,
            "\n",
            r#"{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c"}}"#,
            "\n",
            r#"{"timestamp":"2026-01-02T03:04:07.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"a"}}"#,
            "\n",
        )
        .to_owned(),
        r#"{"mcpServers": {"a": {"command": "npx", "args": ["-y", "${A}"], "env": {"B": "${A:-b}"}}, "b": {"url": "http://h:1/"}}}"#
            .to_owned(),
        "url: https://shop.example/\nactions:\n  - \"click 'Log in' in the 'Top' section\"\n  - { action: type {{A}} into the Name field, optional: true }\noptions: { viewport: { width: 800, height: 600 } }\nvariables: { A: b }\n"
            .to_owned(),
        r#"{"version": "cuecard-steps/1", "url": "https://a/", "testSteps": [{"id": "st-1", "description": "d", "action": "assert",
  "selectors": ["role=button[name=\"A\"]"], "fingerprint": {"tag": "button", "path": ["form"]}, "assertion": {"kind": "visible"}}]}"#
            .to_owned(),
        r#"{"version": "cuecard-heal/1", "base": "00", "changes": [{"stepId": "st-1"}], "patch": [
  {"op": "test", "path": "/testSteps/0/id", "value": "st-1"}, {"op": "replace", "path": "/testSteps/0/selector", "value": "css=a"}]}"#
            .to_owned(),
        r#"{"version": 1, "owners": [null, {"document": 0, "path": ["/html/body/iframe"], "kind": "frame"}], "documents": [
  {"url": "https://a/", "viewport": [800, 600], "size": [800, 900], "nodes": [
   {"tagName": "body", "path": "/html/body"},
   {"parent": 0, "tagName": "iframe", "path": "iframe", "isVisible": true, "content": [0, 0, 9, 9]},
   {"parent": 0, "tagName": "x-a", "path": "x-a", "isVisible": true},
   {"parent": 2, "tagName": "button", "path": "/button", "role": "button", "name": "A", "isVisible": true, "isInteractive": true, "isInViewport": true, "attributes": {"id": "a"}},
   {"parent": 3, "text": "A"}]},
  {"nodes": [{"tagName": "body", "path": "/html/body"}, {"parent": 0, "text": "in"}]}]}"#
            .to_owned(),
        concat!(
            r#"{"kind":"cassette","version":"cuecard-cassette/1"}"#,
            "\n",
            r#"{"kind":"run","model":{"dialect":"openai","model":"m"}}"#,
            "\n",
            r#"{"kind":"open","url":"https://a/","outcome":{"url":"https://a/","title":"A","tab":0}}"#,
            "\n",
            r#"{"kind":"look","state":{"page":{"url":"https://a/","viewport":[800,600]},"nodes":[{"tagName":"body","xpath":"/html/body","isVisible":true},{"parent":0,"tagName":"button","xpath":"/html/body/button","role":"button","name":"A","isInteractive":true,"highlightIndex":0,"states":["disabled"],"scope":[["frame","/html/body/iframe"]]},{"parent":1,"text":"A","isVisible":true}]}}"#,
            "\n",
            r#"{"kind":"reply","key":"k","model":{"dialect":"openai","model":"m"},"prompt":{"action":"a","previous":"p","page":"q"},"earlier":["x"],"reply":{"calls":[{"name":"f","arguments":{"a":1}}]}}"#,
            "\n",
            r#"{"kind":"perform","deed":{"action":"click"},"failure":{"code":"B-timeout","message":"m"}}"#,
            "\n",
            r#"{"kind":"lookAgain","sameState":true}"#,
            "\n",
            r#"{"kind":"person","key":"k","action":"a","shown":["b"],"decided":{"pick":0}}"#,
            "\n",
            r#"{"kind":"end","complete":true}"#,
            "\n",
        )
        .to_owned(),
        concat!(
            r#"{"cassette":1,"server":"a","introduction":{"serverInfo":{"name":"a"}},"tools":[{"name":"t","inputSchema":{}}]}"#,
            "\n",
            r#"{"server":"a","tool":"t","arguments":{"a":1},"result":{"b":[2]},"started":0.5,"duration":1}"#,
            "\n",
            r#"{"tool":"t","error":{"code":-1,"message":"m","data":3},"delay":0.1,"fault":{"kind":"cut"},"notifications":[{"method":"n","params":{}}]}"#,
            "\n",
        )
        .to_owned(),
        concat!(
            r#"{"run":{"journal":1,"start":0,"end":9,"salt":"s","steps":{"1":"a","2":"b"},"rest":"c","variables":{"A":1},"secrets":{}}}"#,
            "\n",
            r#"{"begin":{"step":1}}"#,
            "\n",
            r#"{"end":{"finished":{"step":1,"tool":"t","status":"passed","duration_ms":1.0,"outputs":{"o":1}}}}"#,
            "\n",
            r#"{"begin":{"step":2}}"#,
            "\n",
        )
        .to_owned(),
        "frame=css=#pay >> within=role=row[name=\"A\"] >> role=button[name=\"B\"] >> nth=1".to_owned(),
        "verify that the 'Save' button in the 'A' row is not visible and click 'B'".to_owned(),
        "[mcp_servers.a]\ncommand = \"npx\"\nargs = [\"-y\"]\n".to_owned(),
    ];
    let root = repository_root();
    for folder in [
        "examples",
        "tests/seed",
        "tests/golden/check",
        "tests/golden/play",
    ] {
        collect(&root.join(folder), &mut found);
    }
    found
}

fn collect(folder: &Path, found: &mut Vec<String>) {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("a folder of the repository")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, found);
            continue;
        }
        let name = path.to_string_lossy();
        let is_text = [".json", ".jsonl", ".yaml", ".toml", "/trace"]
            .iter()
            .any(|end| name.ends_with(end));
        if let (true, Ok(text)) = (is_text, fs::read_to_string(&path))
            && text.len() <= LONGEST
        {
            found.push(text);
        }
    }
}

/// What a change puts in.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "\\ud800",
    "null",
    "true",
    "-",
    "0",
    "1e999",
    "18446744073709551616",
    "-0.0",
    "\n",
    "\r",
    "\t",
    " ",
    "\u{feff}",
    "\u{202e}",
    "\0",
    "é",
    "😀",
    "#",
    "&a ",
    "*a",
    "|",
    ">",
    "!!",
    "'",
    "{{",
    "}}",
    "${",
    "$.",
    "\"kind\":\"end\",",
    "\"events\":[],",
    "\"call_id\":\"c\",",
    "\"type\":\"error\",",
    "\"ts\":7,",
];

/// One change to a text.
#[derive(Debug, Clone)]
enum Change {
    Remove(Index, Index),
    Repeat(Index, Index),
    Insert(Index, &'static str),
    /// A part of another file.
    Splice(Index, Index, Index, Index),
    /// A byte; what is no text any more becomes U+FFFD.
    Byte(Index, u8),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        1 => (index(), index()).prop_map(|(from, to)| Change::Remove(from, to)),
        1 => (index(), index()).prop_map(|(from, to)| Change::Repeat(from, to)),
        4 => (index(), select(PIECES)).prop_map(|(at, piece)| Change::Insert(at, piece)),
        1 => (index(), index(), index(), index()).prop_map(|(at, file, from, to)| Change::Splice(at, file, from, to)),
        2 => (index(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
    ]
}

fn changed(corpus: &[String], text: &str, changes: &[Change]) -> String {
    /// At most this much is taken out, repeated or spliced in.
    const PART: usize = 200;
    let part = |bytes: &[u8], from: &Index, to: &Index| {
        let start = from.index(bytes.len() + 1);
        start..(start + to.index(PART)).min(bytes.len())
    };
    let mut bytes = text.as_bytes().to_vec();
    for change in changes {
        match change {
            Change::Remove(from, to) => {
                let range = part(&bytes, from, to);
                bytes.drain(range);
            }
            Change::Repeat(from, to) => {
                let range = part(&bytes, from, to);
                let (end, repeated) = (range.end, bytes[range].to_vec());
                bytes.splice(end..end, repeated);
            }
            Change::Insert(at, piece) => {
                let at = at.index(bytes.len() + 1);
                bytes.splice(at..at, piece.bytes());
            }
            Change::Splice(at, file, from, to) => {
                let other = file.get(corpus).as_bytes();
                let at = at.index(bytes.len() + 1);
                bytes.splice(at..at, other[part(other, from, to)].to_vec());
            }
            Change::Byte(at, byte) => {
                let at = at.index(bytes.len().max(1));
                bytes.splice(at..(at + 1).min(bytes.len()), [*byte]);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn every_reader_stands_every_file_and_every_change_to_one() {
    let corpus = corpus();
    assert!(corpus.len() > 100, "{} files", corpus.len());
    for (name, target) in TARGETS {
        for text in &corpus {
            target(text);
        }
        let config = Config {
            cases: 300,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(0x5eed),
            ..Config::default()
        };
        let changes = (any::<Index>(), prop::collection::vec(change(), 1..6));
        let run = TestRunner::new(config).run(&changes, |(file, changes)| {
            let text = changed(&corpus, file.get::<String>(&corpus), &changes);
            holds(*target, &text)
        });
        if let Err(error) = run {
            panic!("{name}: {error}");
        }
    }
}

/// Whether a target holds of a text; a panic is a failure that the runner can shrink.
fn holds(target: fn(&str), text: &str) -> Result<(), TestCaseError> {
    panic::catch_unwind(|| target(text))
        .map_err(|_| TestCaseError::fail(format!("it panics on {text:?}")))
}

#[test]
fn every_reader_has_its_fuzz_target() {
    let root = repository_root().join("fuzz");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("the manifest");
    let mut targets: Vec<String> = fs::read_dir(root.join("fuzz_targets"))
        .expect("the targets")
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            Some(path.file_stem()?.to_str()?.to_owned())
        })
        .collect();
    targets.sort();
    let mut known: Vec<&str> = TARGETS.iter().map(|&(name, _): &Target| name).collect();
    known.sort_unstable();
    assert_eq!(targets, known);
    for name in known {
        let source = root.join(format!("fuzz_targets/{name}.rs"));
        let text = fs::read_to_string(source).expect("the target");
        assert!(
            text.contains(&format!("readers::{name}(text)")),
            "{name}: {text}"
        );
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name}");
    }
}
