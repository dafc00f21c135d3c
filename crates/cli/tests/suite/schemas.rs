//! The JSON Schemas: the files in `schemas/` are what the program writes, and they hold for files that people and
//! the program wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cuecard_browser::model::Cassette;
use cuecard_source::SourceFile;
use cuecard_source::detect::{FileKind, detect};
use cuecard_source::diagnostic::{Diagnostic, Severity};
use cuecard_source::document::read_document;
use cuecard_source::json::Node;
use cuecard_testing::repository_root;
use cuecard_timeline::format::Symbols;
use cuecard_trace::{Trace, import};
use jsonschema::Validator;
use serde_json::{Value, json};
use {
    cuecard_browser_steps::format as browser, cuecard_judge::test_case,
    cuecard_timeline::format as timeline, cuecard_tool_call::format as tool_call,
};

use crate::program::{only_trace, read, run, scratch, told, trace_lines};

const NAMES: [&str; 13] = [
    "browser",
    "cassette",
    "faults",
    "heal",
    "mcp-cassette",
    "replay-bundle",
    "result",
    "steps",
    "terminal",
    "test-case",
    "timeline",
    "tool-call",
    "trace",
];

fn committed(name: &str) -> String {
    let path = repository_root().join(format!("schemas/{name}.schema.json"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn validator(name: &str) -> Validator {
    let schema: Value = serde_json::from_str(&committed(name)).expect("JSON");
    jsonschema::draft202012::new(&schema).expect("a valid schema")
}

#[track_caller]
pub(crate) fn assert_fits(validator: &Validator, value: &Value, what: &str) {
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{what}\n{}", errors.join("\n"));
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect()
}

#[test]
fn the_committed_schemas_are_what_the_program_writes() {
    let scratch = scratch();
    let finished = run(&scratch, &["schema", "--out", "written"]);
    assert_eq!(finished.code(), Some(0), "{}", told(&finished));
    let written = scratch.work().join("written");
    let advice = "run `cargo run -- schema --output schemas`, and read the diff";
    let committed_names = names_in(&repository_root().join("schemas"));
    assert_eq!(committed_names, names_in(&written), "{advice}");
    let expected: BTreeSet<String> = NAMES
        .iter()
        .map(|name| format!("{name}.schema.json"))
        .collect();
    assert_eq!(committed_names, expected);
    for name in NAMES {
        let new = fs::read_to_string(written.join(format!("{name}.schema.json"))).expect("written");
        assert!(
            committed(name) == new,
            "`schemas/{name}.schema.json` is out of date: {advice}"
        );
        let schema: Value = serde_json::from_str(&new).expect("JSON");
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        let id = schema["$id"].as_str().expect("an id");
        assert!(
            id.starts_with(&format!("urn:cuecard:schema:{name}:")),
            "{id}"
        );
        assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name}");
        let printed = run(&scratch, &["schema", name]);
        assert_eq!(printed.stdout, new, "{name}");
    }
}

/// The files below a folder, in order.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// The values that a schema must take if the file is a valid one of a known kind, with the schema's name.
fn valid_values(source: &SourceFile, root: &Node) -> Option<(&'static str, Vec<Value>)> {
    let text = source.text();
    match detect(root)? {
        FileKind::ToolCall => {
            tool_call::read(source).scenario?;
            Some(("tool-call", vec![root.to_value()]))
        }
        FileKind::ToolCallLegacy => {
            let reading = tool_call::read(source);
            reading.scenario?;
            let converted = reading.converted?;
            Some(("tool-call", vec![serde_json::from_str(&converted).ok()?]))
        }
        FileKind::TestCase => {
            test_case::read(source).case?;
            Some(("test-case", vec![root.to_value()]))
        }
        FileKind::Timeline => {
            let reading = timeline::read(source, &Symbols::new());
            reading.timeline?;
            // The schema is that of the canonical form, and not every older form can be converted.
            let is_left_over = |found: &Diagnostic| found.severity == Severity::Warning;
            let converted = reading.converted.as_ref().unwrap_or(source);
            let again = timeline::read(converted, &Symbols::new());
            if again.diagnostics.iter().any(is_left_over) {
                return None;
            }
            let root = read_document(converted).root?;
            Some(("timeline", vec![root.to_value()]))
        }
        FileKind::Browser => {
            browser::read(source).scenario?;
            Some(("browser", vec![root.to_value()]))
        }
        FileKind::BrowserSteps => {
            browser::read_steps(source).steps?;
            Some(("steps", vec![root.to_value()]))
        }
        FileKind::ReplayBundle => {
            import::replay_bundle(source, &[]).trace?;
            Some(("replay-bundle", vec![root.to_value()]))
        }
        FileKind::Trace => {
            Trace::read(text.as_bytes()).ok()?;
            Some(("trace", vec![root.to_value()]))
        }
        _ => None,
    }
}

#[test]
fn what_the_readers_take_fits() {
    let root = repository_root();
    let mut paths = Vec::new();
    for folder in ["examples", "tests/seed", "tests/golden"] {
        files(&root.join(folder), &mut paths);
    }
    let validators: BTreeMap<&str, Validator> = NAMES.map(|name| (name, validator(name))).into();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in paths {
        let name = path.display().to_string();
        let is_known = [".json", ".yaml", ".yml"]
            .iter()
            .any(|end| name.ends_with(end));
        let Some(text) = fs::read_to_string(&path).ok().filter(|_| is_known) else {
            continue;
        };
        let source = SourceFile::new(name.as_str(), text);
        let document = read_document(&source);
        let Some(root) = document.root else { continue };
        let Some((schema, values)) = valid_values(&source, &root) else {
            continue;
        };
        for value in &values {
            assert_fits(&validators[schema], value, &name);
        }
        *counts.entry(schema).or_default() += 1;
    }
    // Fewer would mean that they were not found.
    for (name, least) in [
        ("tool-call", 60),
        ("test-case", 20),
        ("timeline", 8),
        ("replay-bundle", 15),
        ("trace", 3),
    ] {
        let count = counts.get(name).copied().unwrap_or_default();
        assert!(count >= least, "{count} files for {name}");
    }
}

/// A text with what the schema must say of it. The reader agrees.
type Sample = (&'static str, bool);

/// Whether the reader of a kind of file takes a text.
fn is_read(schema: &str, text: &str) -> bool {
    let source = SourceFile::new("sample.yaml", text);
    match schema {
        "faults" => timeline::read_faults(&source).is_ok(),
        "terminal" => timeline::read_terminal(&source).is_ok(),
        "heal" => browser::read_heal(&source).is_ok(),
        "cassette" => {
            let header = r#"{"kind":"cassette","version":"cuecard-cassette/1"}"#;
            let run = r#"{"kind":"run"}"#;
            let seen = r#"{"kind":"look","state":{"page":{"url":"https://a/","viewport":[800,600]},"nodes":[{"tagName":"body","xpath":"/html/body","isVisible":true}]}}"#;
            let lines = match text.contains("\"version\"") {
                true => text.to_owned(),
                false => format!("{header}\n{run}\n{seen}\n{text}"),
            };
            let source = SourceFile::new("sample.jsonl", format!("{lines}\n"));
            Cassette::check(&source).is_empty()
        }
        other => panic!("no reader for {other}"),
    }
}

#[test]
fn files_beside_scenarios_fit_as_they_are_read() {
    let all: &[(&str, &[Sample])] = &[
        (
            "faults",
            &[
                ("- {match: {tool: runCmd}, fault: {kind: wrong_id}}", true),
                (
                    "- {match: {event: llmResponse, index: 3}, fault: {kind: cut, at: 20}}",
                    true,
                ),
                ("[]", true),
                ("- {match: {}, fault: {kind: cut}}", false),
                ("- {match: {index: -1}, fault: {kind: cut}}", false),
                ("- {match: {tool: a}, fault: {kind: broken}}", false),
                ("- {fault: {kind: cut}}", false),
                ("{match: {tool: a}, fault: {kind: cut}}", false),
            ],
        ),
        (
            "terminal",
            &[
                (
                    "{name: wide, width: 120, height: 30, theme: high-contrast, env: {A: 1}}",
                    true,
                ),
                (
                    "{rendering: {unicodeBoxChars: false}, scrollback: 500, settle: 80}",
                    true,
                ),
                ("normalize: [{regex: '[0-9]+', with: N}]", true),
                ("width: 1001", false),
                ("height: tall", false),
                ("theme: dark", false),
                ("rendering: {unicodeBoxChars: maybe}", false),
                ("normalize: [{regex: a}]", false),
            ],
        ),
        (
            "heal",
            &[
                (
                    r#"{"version": "cuecard-heal/1", "base": "00", "changes": [{"stepId": "st-1"}], "patch": [
                        {"op": "test", "path": "/testSteps/0/id", "value": "st-1"},
                        {"op": "remove", "path": "/testSteps/0/fingerprint/testId"},
                        {"op": "replace", "path": "/testSteps/0/selector", "value": "css=a"}]}"#,
                    true,
                ),
                (
                    r#"{"version": "cuecard-heal/2", "base": "00", "patch": []}"#,
                    false,
                ),
                (r#"{"version": "cuecard-heal/1", "patch": []}"#, false),
                (r#"{"version": "cuecard-heal/1", "base": "00"}"#, false),
                (
                    r#"{"version": "cuecard-heal/1", "base": "00", "patch": [
                        {"op": "replace", "path": "/testSteps/0/value", "value": "other"}]}"#,
                    false,
                ),
                (
                    r#"{"version": "cuecard-heal/1", "base": "00", "patch": [
                        {"op": "replace", "path": "/testSteps/0/selector"}]}"#,
                    false,
                ),
                (
                    r#"{"version": "cuecard-heal/1", "base": "00", "patch": [
                        {"op": "move", "path": "/testSteps/0/selector", "value": "a"}]}"#,
                    false,
                ),
            ],
        ),
        (
            "cassette",
            &[
                (
                    r#"{"kind":"cassette","version":"cuecard-cassette/1"}"#,
                    true,
                ),
                (
                    r#"{"kind":"cassette","version":"cuecard-cassette/9"}"#,
                    false,
                ),
                (
                    r#"{"kind":"run","model":{"dialect":"openai","model":"m"}}"#,
                    true,
                ),
                (
                    r#"{"kind":"open","url":"https://a/","outcome":{"url":"https://a/","tab":0}}"#,
                    true,
                ),
                (r#"{"kind":"lookAgain","sameState":true}"#, true),
                (
                    r#"{"kind":"perform","deed":{"action":"click"},"failure":{"code":"B-timeout","message":"m"}}"#,
                    true,
                ),
                (
                    r#"{"kind":"reply","key":"k","model":{"dialect":"openai","model":"m"},"prompt":{"action":"a","previous":"p","page":"q"},"earlier":["x"],"reply":{"calls":[{"name":"f","arguments":{"a":1}}]}}"#,
                    true,
                ),
                (
                    r#"{"kind":"person","key":"k","action":"a","shown":["b"],"decided":{"pick":0}}"#,
                    true,
                ),
                (
                    r#"{"kind":"person","key":"k","action":"a","shown":["b"],"decided":"skip"}"#,
                    true,
                ),
                (r#"{"kind":"end","complete":true}"#, true),
                (r#"{"kind":"reply","key":"k"}"#, false),
                (r#"{"kind":"sing"}"#, false),
            ],
        ),
    ];
    for (schema, samples) in all {
        let validator = validator(schema);
        for (text, fits) in *samples {
            assert_eq!(
                is_read(schema, text),
                *fits,
                "the reader of {schema}: {text}"
            );
            let root = read_document(&SourceFile::new("sample.yaml", *text)).root;
            let value = root.expect(text).to_value();
            assert_eq!(
                validator.is_valid(&value),
                *fits,
                "the schema of {schema}: {text}"
            );
        }
    }
    let config =
        repository_root().join("tests/timelines/seed/configs/terminal/default-100x30.json");
    let config: Value =
        serde_json::from_str(&fs::read_to_string(config).expect("it is there")).expect("JSON");
    assert_fits(&validator("terminal"), &config, "a terminal config");
}

#[test]
fn what_the_readers_refuse_does_not_fit() {
    let root = repository_root().join("examples");
    let parsed = |path: &str| -> Value {
        let text = fs::read_to_string(root.join(path)).expect(path);
        let document = read_document(&SourceFile::new(path, text));
        document.root.expect(path).to_value()
    };
    for (name, file, changes) in [
        (
            "tool-call",
            "quickstart.json",
            [
                ("/version", json!("9")),
                ("/steps", json!({})),
                ("/steps/0/tool", json!(7)),
            ],
        ),
        (
            "test-case",
            "tests/passing/tools/test.yaml",
            [
                ("/assertions/0/type", json!("must_call_tol")),
                ("/assertions/0/params", json!([])),
                ("/adapter", json!("robot")),
            ],
        ),
        (
            "timeline",
            "timelines/broken-date.yaml",
            [
                ("/timeline", json!({})),
                ("/repo/files/0/path", json!(7)),
                ("/server/mode", json!("mocked")),
            ],
        ),
        (
            "replay-bundle",
            "tests/passing/tools/replay.json",
            [
                ("/script/0/type", json!("tool_cal")),
                ("/status", json!("fine")),
                ("/metrics", json!(null)),
            ],
        ),
        (
            "trace",
            "tests/passing/recorded/run.trace.json",
            [
                ("/events/0/seq", json!("one")),
                ("/events/0/data", json!([])),
                ("/adapter", json!("cuecard")),
            ],
        ),
    ] {
        let validator = validator(name);
        let good = parsed(file);
        assert_fits(&validator, &good, file);
        for (pointer, bad) in changes {
            let mut other = good.clone();
            *other
                .pointer_mut(pointer)
                .unwrap_or_else(|| panic!("{file}{pointer}")) = bad;
            assert!(!validator.is_valid(&other), "{file}{pointer}");
        }
    }
}

#[test]
fn what_the_program_writes_fits() {
    let scratch = scratch();
    let examples = repository_root().join("examples");
    let example = |path: &str| examples.join(path).display().to_string();
    let played = run(&scratch, &["play", &example("expect.json")]);
    assert_eq!(played.code(), Some(0), "{}", told(&played));
    let (trace, result) = (validator("trace"), validator("result"));
    let lines = trace_lines(&only_trace(&scratch));
    assert!(lines.len() > 5);
    for line in &lines {
        assert_fits(&trace, line, &line.to_string());
    }
    let args = [
        "test",
        &example("tests/failing"),
        &example("tests/passing"),
        "--out",
        "runs",
    ];
    let tested = run(&scratch, &args);
    assert_eq!(tested.code(), Some(1), "{}", told(&tested));
    let mut written = Vec::new();
    files(&scratch.work().join("runs"), &mut written);
    let (mut traces, mut results) = (0, 0);
    for path in written {
        let name = path
            .strip_prefix(scratch.work())
            .expect("below")
            .display()
            .to_string();
        let value: Value = serde_json::from_str(&read(&scratch, &name)).expect("JSON");
        if name.ends_with(".trace.json") {
            assert_fits(&trace, &value, &name);
            traces += 1;
        } else if name.ends_with(".result.json") {
            assert_fits(&result, &value, &name);
            results += 1;
        } else {
            for one in value["results"].as_array().expect("results") {
                assert_fits(&result, one, &name);
            }
        }
    }
    assert!(
        traces > 10 && results > 10,
        "{traces} traces, {results} results"
    );
}
