//! Timelines on the command line: the examples are what they say, and large files end in an answer.

use cuecard_testing::scratch::Finished;
use serde_json::Value;

use crate::program::{run, scratch, told};

/// The examples; each has a row in `examples/timelines/README.md`.
const EXAMPLES: &[&str] = &["broken-date", "busy-model", "editor", "plans", "second-day"];

fn folder() -> String {
    let root = cuecard_testing::repository_root();
    root.join("examples/timelines").display().to_string()
}

#[track_caller]
fn document(finished: &Finished) -> Value {
    assert_eq!(finished.code(), Some(0), "{}", told(finished));
    serde_json::from_str(&finished.stdout).expect("one JSON document")
}

#[test]
fn every_example_checks_without_a_word_and_needs_no_conversion() {
    let scratch = scratch();
    let checked = document(&run(&scratch, &["check", "--strict", "--json", &folder()]));
    let files = checked["files"].as_array().expect("an entry for each file");
    let readme = std::fs::read_to_string(format!("{}/README.md", folder())).expect("a page");
    assert_eq!(files.len(), EXAMPLES.len());
    for (entry, name) in files.iter().zip(EXAMPLES) {
        assert_eq!(entry["timeline"]["name"], *name);
        assert_eq!(entry["diagnostics"], serde_json::json!([]), "{entry:#}");
        assert!(readme.contains(&format!("({name}.yaml)")), "{name}");
    }
    for name in EXAMPLES {
        let file = format!("{}/{name}.yaml", folder());
        let converted = document(&run(&scratch, &["convert", "--json", &file]));
        assert_eq!(converted["changed"], false, "{name}");
    }
}

#[test]
fn the_examples_are_chosen_by_their_prompts() {
    let scratch = scratch();
    for (prompt, name) in [
        ("Which day was the oldest letter written?", "second-day"),
        ("name three RIVERS", "busy-model"),
        ("Here is the garden: where do the beans go?", "editor"),
    ] {
        let told = run(
            &scratch,
            &["explain", "--json", "--prompt", prompt, &folder()],
        );
        assert_eq!(document(&told)["chosen"]["name"], name, "{prompt}");
    }
}

#[test]
fn a_large_file_is_answered() {
    let scratch = scratch();
    let event = "  - log: \"a line of the log that says a bit more than most\"\n";
    for (bytes, exit) in [(1 << 20, 0), (10 << 20, 3)] {
        let text = format!(
            "name: large\ntimeline:\n{}",
            event.repeat(bytes / event.len())
        );
        scratch.write("large.yaml", &text).expect("written");
        let checked = run(&scratch, &["check", "large.yaml"]);
        assert_eq!(checked.code(), Some(exit), "{}", told(&checked));
    }
    let mistakes = format!("name: bad\ntimeline:\n{}", "  - lgo: x\n".repeat(2000));
    scratch.write("bad.yaml", &mistakes).expect("written");
    let checked = run(&scratch, &["check", "bad.yaml"]);
    assert_eq!(checked.code(), Some(3));
    assert!(checked.stderr.contains("did you mean `log`?"));
    let shown = checked.stderr.matches("error[").count();
    assert_eq!(shown, 101, "the last one counts the rest");
    let counted = "error[X-FIND-01]: 1900 more findings are not shown: 1900 errors";
    assert!(checked.stderr.contains(counted), "{}", checked.stderr);
    assert!(checked.stdout.contains("2000 errors"), "{}", checked.stdout);
    let checked = run(&scratch, &["check", "--json", "bad.yaml"]);
    assert_eq!(checked.code(), Some(3));
    let document: Value = serde_json::from_str(&checked.stdout).expect("JSON");
    let found = &document["files"][0]["diagnostics"];
    assert_eq!(found.as_array().map(Vec::len), Some(101));
    assert_eq!(found[100]["code"], "X-FIND-01");
    assert_eq!(checked.stderr.matches("\"code\":").count(), 101);
}

/// Each example of the format's first description, and what is told about it.
const FIRST_EXAMPLES: &[(&str, &[&str])] = &[
    ("audio-content", &["T-LLM-08"]),
    ("capability-negotiation", &["T-ACP-15"]),
    ("diff-content", &["T-LLM-08"]),
    ("embedded-resource", &["T-LLM-08"]),
    ("error-response", &[]),
    (
        "example-timeline",
        &["T-TIME-01", "T-TIME-01", "T-LLM-04", "T-TIME-03"],
    ),
    ("image-content", &["T-LLM-08"]),
    ("meta-fields", &["T-ACP-10", "T-ACP-10"]),
    ("plan-content", &["T-LLM-08"]),
    ("resource-link", &["T-LLM-08", "T-LOAD-16"]),
    ("rule-structure", &[]),
    ("rules-of-capabilities", &[]),
    ("rules-of-the-server", &[]),
    ("session-with-history", &["T-ACP-25"]),
    ("text-content", &[]),
    ("tool-execution-details", &["T-TIME-01", "T-TIME-03"]),
    (
        "top-level",
        &["T-LOAD-10", "T-ACP-25", "T-LLM-04", "T-TIME-03"],
    ),
];

fn first_examples(folder: &str) -> String {
    let root = cuecard_testing::repository_root();
    root.join("tests/timelines")
        .join(folder)
        .display()
        .to_string()
}

#[test]
fn the_first_examples_of_the_format_load() {
    let scratch = scratch();
    let checked = document(&run(
        &scratch,
        &["check", "--json", &first_examples("seed")],
    ));
    let files = checked["files"].as_array().expect("an entry for each file");
    let found: Vec<(String, Vec<&str>)> = files
        .iter()
        .map(|entry| {
            assert_eq!(entry["errors"], 0, "{entry:#}");
            let file = entry["file"].as_str().expect("a path");
            let name = file
                .rsplit('/')
                .next()
                .and_then(|name| name.strip_suffix(".yaml"));
            let diagnostics = entry["diagnostics"].as_array().into_iter().flatten();
            let codes = diagnostics.filter_map(|found| found["code"].as_str());
            (name.expect("a timeline").to_owned(), codes.collect())
        })
        .collect();
    let found: Vec<(&str, &[&str])> = found
        .iter()
        .map(|(name, codes)| (name.as_str(), codes.as_slice()))
        .collect();
    assert_eq!(found, FIRST_EXAMPLES);
}

#[test]
fn the_first_examples_hold_whatever_their_symbols_are() {
    let scratch = scratch();
    let folder = first_examples("seed");
    for symbols in [
        &["--define", "full_test_suite", "--define", "production_env"][..],
        &[
            "--define",
            "development_env",
            "--define",
            "condition_name",
            "--define",
            "numeric_symbol=3",
        ],
    ] {
        let args = [&["check", "--json", &folder][..], symbols].concat();
        let checked = run(&scratch, &args);
        let checked: Value = serde_json::from_str(&checked.stdout).expect("JSON");
        for entry in checked["files"].as_array().expect("entries") {
            // With sessions that can be loaded, this fragment has no history.
            let is_half = entry["file"]
                .as_str()
                .is_some_and(|file| file.ends_with("rules-of-capabilities.yaml"))
                && symbols.contains(&"full_test_suite");
            let codes = entry["diagnostics"].as_array().into_iter().flatten();
            let errors: Vec<&Value> = codes.filter(|found| found["severity"] == "error").collect();
            match is_half {
                true => assert_eq!(errors[0]["code"], "T-ACP-01", "{entry:#}"),
                false => assert!(errors.is_empty(), "{entry:#}"),
            }
        }
    }
}

#[test]
fn the_first_examples_that_are_no_yaml_get_the_working_form() {
    let scratch = scratch();
    let folder = first_examples("seed-not-yaml");
    for (name, help) in [
        ("rules-beside-a-list", "`- rules:`"),
        ("meta-before-elements", "put `_meta` beside `llmResponse`"),
    ] {
        let file = format!("{folder}/{name}.yaml");
        let checked = run(&scratch, &["check", &file]);
        assert_eq!(checked.code(), Some(3), "{}", told(&checked));
        assert!(
            checked.stderr.contains("error[T-LOAD-01]"),
            "{}",
            checked.stderr
        );
        assert!(checked.stderr.contains(help), "{}", checked.stderr);
        assert_eq!(
            checked.stderr.matches("error[").count(),
            1,
            "{}",
            checked.stderr
        );
    }
}

/// The texts of all tests and of what golden cases expect, but for those that list every code.
fn tests_and_expectations() -> String {
    let root = cuecard_testing::repository_root();
    let mut texts = String::new();
    let mut folders = vec![root.join("crates"), root.join("tests/golden")];
    while let Some(folder) = folders.pop() {
        if folder.ends_with("explain-all") {
            continue;
        }
        for entry in std::fs::read_dir(&folder).expect("readable") {
            let path = entry.expect("readable").path();
            let name = path.display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if name.contains("/tests/golden/")
                || (name.contains("test") && name.ends_with(".rs"))
            {
                texts.push_str(&std::fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }
    texts
}

#[test]
fn every_code_of_timelines_is_caused_by_a_test() {
    let texts = tests_and_expectations();
    let untested: Vec<&str> = cuecard_source::diagnostic::catalogue()
        .map(cuecard_source::diagnostic::Code::name)
        .filter(|name| name.starts_with("T-") && !texts.contains(name))
        .collect();
    assert_eq!(untested, [""; 0]);
}
