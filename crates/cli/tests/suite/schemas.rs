//! The JSON Schemas: the files in `schemas/` are what the program writes, and they hold for files that people and
//! the program wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cuecard_core::diagnostic::{Diagnostic, Severity};
use cuecard_core::formats::detect::{FileKind, detect};
use cuecard_core::formats::document::read_document;
use cuecard_core::formats::timeline::{ReadOptions, Symbols};
use cuecard_core::formats::{browser, test_case, timeline, tool_call};
use cuecard_core::source::SourceFile;
use cuecard_core::source::json::Node;
use cuecard_core::trace::{Trace, import};
use cuecard_testing::repository_root;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::program::{only_trace, read, run, scratch, told, trace_lines};

const NAMES: [&str; 8] = [
    "browser",
    "replay-bundle",
    "result",
    "steps",
    "test-case",
    "timeline",
    "tool-call",
    "trace",
];

fn committed(name: &str) -> String {
    let path = repository_root().join(format!("schemas/{name}.schema.json"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn validator(name: &str) -> Validator {
    let schema: Value = serde_json::from_str(&committed(name)).expect("JSON");
    jsonschema::draft202012::new(&schema).expect("a valid schema")
}

#[track_caller]
fn assert_fits(validator: &Validator, value: &Value, what: &str) {
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
    let advice = "run `cargo run -- schema --out schemas`, and read the diff";
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
            let reading = timeline::read(source, &Symbols::new(), &ReadOptions::default());
            reading.timeline?;
            // The schema is that of the canonical form, and not every older form can be converted.
            let is_left_over = |found: &Diagnostic| found.severity == Severity::Warning;
            let converted = reading.converted.as_ref().unwrap_or(source);
            let again = timeline::read(converted, &Symbols::new(), &ReadOptions::default());
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
