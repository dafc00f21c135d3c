//! `cuecard test` from outside: the examples as a whole, the files it writes, and its end when it is interrupted.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use cuecard_judge::model::AssertionCheck;
use serde_json::{Value, json};

use super::program::{INTERRUPTED, run, scratch};

/// Judges a folder of the examples and reads the document.
fn judged(folder: &str, exit: i32) -> Value {
    let scratch = scratch();
    let path = cuecard_testing::repository_root()
        .join("examples/tests")
        .join(folder);
    let finished = run(&scratch, &["test", &path.display().to_string(), "--json"]);
    assert_eq!(finished.code(), Some(exit), "{}", finished.stderr);
    serde_json::from_str(&finished.stdout).expect("one document")
}

/// The types of assertions that came out as `status`.
fn types(document: &Value, status: &str) -> BTreeSet<String> {
    let results = document["results"].as_array().expect("results");
    results
        .iter()
        .flat_map(|result| result["assertions"].as_array().expect("assertions"))
        .filter(|assertion| assertion["status"] == status)
        .map(|assertion| assertion["type"].as_str().expect("a type").to_owned())
        .collect()
}

#[test]
fn every_type_of_assertion_has_an_example_that_holds_and_one_that_fails() {
    let (passing, failing) = (judged("passing", 0), judged("failing", 1));
    let all: BTreeSet<String> = AssertionCheck::TYPES
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    let missing =
        |found: BTreeSet<String>| -> Vec<String> { all.difference(&found).cloned().collect() };
    assert_eq!(missing(types(&passing, "pass")), Vec::<String>::new());
    assert_eq!(missing(types(&failing, "fail")), Vec::<String>::new());
    assert_eq!(
        passing["summary"]["vacuous"], 0,
        "an example judges something"
    );
    let failed = failing["results"].as_array().expect("results");
    let holds = failed
        .iter()
        .flat_map(|result| result["assertions"].as_array().expect("assertions"))
        .filter(|assertion| assertion["status"] == "pass")
        .count();
    assert_eq!(holds, 0, "everything goes wrong in the failing examples");
}

#[test]
fn the_assertions_of_the_examples_notice_what_goes_wrong() {
    let path = cuecard_testing::repository_root().join("examples/tests/passing");
    let path = path.display().to_string();
    let mutated = |jobs: &str| {
        let args = [
            "test",
            &path,
            "--mutate",
            "--min-score",
            "90",
            "--json",
            "-j",
            jobs,
        ];
        let finished = run(&scratch(), &args);
        assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
        finished.stdout
    };
    let alone = mutated("1");
    assert_eq!(mutated("4"), alone, "the same mutants in the same order");
    let document: Value = serde_json::from_str(&alone).expect("one document");
    assert_eq!(document["left_out"], serde_json::json!([]));
    let asked = document["by_assertion_type"].as_object().expect("types");
    assert!(asked.len() >= 21, "{:?}", asked.keys());
}

#[test]
fn one_test_asserts_everything_of_one_bundle() {
    let document = judged("passing/everything", 0);
    let asserted: BTreeSet<String> = ["pass", "skip"]
        .iter()
        .flat_map(|status| types(&document, status))
        .collect();
    let all: BTreeSet<String> = AssertionCheck::TYPES
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    assert_eq!(asserted, all);
}

#[test]
fn every_invalid_example_is_an_error_with_its_place() {
    let document = judged("invalid", 3);
    let results = document["results"].as_array().expect("results");
    for result in results {
        assert_eq!(result["status"], "error", "{result:#}");
        assert!(result["errors"][0]["line"].is_u64(), "{result:#}");
    }
    assert_eq!(document["summary"]["tests_total"], results.len());
}

#[test]
fn traces_and_results_are_written_and_can_be_judged_again() {
    let scratch = scratch();
    let examples = cuecard_testing::repository_root().join("examples/tests/passing/tools");
    let finished = run(
        &scratch,
        &[
            "test",
            &examples.display().to_string(),
            "--out",
            "runs",
            "--report",
            "html:report.html",
        ],
    );
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    let runs: Vec<_> = fs::read_dir(scratch.work().join("runs"))
        .expect("the folder of runs")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    let [run_folder] = runs.as_slice() else {
        panic!("one run: {runs:?}")
    };
    let read = |name: &str| -> Value {
        let text = fs::read_to_string(run_folder.join(name)).expect(name);
        serde_json::from_str(&text).expect(name)
    };
    let (result, summary) = (read("tools.booked-once.result.json"), read("summary.json"));
    assert_eq!(result, summary["results"][0]);
    let trace = run_folder.join("tools.booked-once.trace.json");
    assert_eq!(
        result["artifacts"]["trace"],
        trace
            .strip_prefix(scratch.work())
            .expect("below")
            .display()
            .to_string()
    );
    // What was judged of the bundle holds of the trace that it became.
    let case = fs::read_to_string(examples.join("test.yaml")).expect("the case");
    let case = case
        .replace("adapter: nanoclaw\nmode: replay\n", "adapter: cuecard\n")
        .replace(
            "replay_file: ./replay.json",
            &format!("trace_file: {}", trace.display()),
        );
    fs::write(scratch.work().join("again.yaml"), case).expect("written");
    let finished = run(&scratch, &["test", "again.yaml", "--strict"]);
    assert_eq!(
        finished.code(),
        Some(0),
        "{}{}",
        finished.stdout,
        finished.stderr
    );
    let page = fs::read_to_string(scratch.work().join("report.html")).expect("the report");
    assert!(page.contains("tools.booked-once"));
}

#[test]
fn a_server_that_does_not_say_which_tools_it_has_holds_no_test_beyond_its_time() {
    let scratch = scratch();
    let server = cuecard_testing::repository_root().join("tests/servers/unruly.sh");
    let config =
        json!({"mcpServers": {"unruly": {"command": "bash", "args": [server, "unlisted"]}}});
    let steps = json!([{"step": 1, "tool": "mcp__unruly__ok", "params": {}}]);
    let scenario = json!({"version": "2.1", "metadata": {"name": "x"}, "steps": steps});
    let case = "schema_version: \"0.1\"\nid: lists\nadapter: cuecard\nadapter_input: { play: ./scenario.json }\n\
                assertions:\n  - { id: a, type: must_not_call_tool, params: { tool: mcp__unruly__die } }\n";
    for (name, text) in [
        (".mcp.json", config.to_string()),
        ("scenario.json", scenario.to_string()),
        ("a.test.yaml", case.to_owned()),
    ] {
        fs::write(scratch.work().join(name), text).expect("written");
    }
    let began = Instant::now();
    let finished = run(&scratch, &["test", ".", "--timeout", "2"]);
    assert!(finished.stdout.contains("lists"), "{}", finished.stdout);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn an_interrupted_run_ends_its_command_and_says_so() {
    let scratch = scratch();
    let case = |id: &str, script: &str| {
        format!(
            "schema_version: \"0.1\"\nid: {id}\nadapter: nanoclaw\nmode: live\nadapter_input: {{ command: [sh, -c, {script:?}] }}\nassertions:\n  - {{ id: a, type: max_errors, params: {{ limit: 0 }} }}\n"
        )
    };
    let work = scratch.work();
    fs::write(work.join("a.test.yaml"), case("ends", "exit 1")).expect("written");
    // Who reads a named pipe waits until somebody writes.
    let begun = work.join("begun");
    let made = std::process::Command::new("mkfifo").arg(&begun).status();
    assert!(made.expect("mkfifo is there").success());
    let sleeps = format!("echo > '{}'; sleep 600", begun.display());
    fs::write(work.join("b.test.yaml"), case("sleeps", &sleeps)).expect("written");
    let reports = ["tap", "junit", "json"].map(|kind| format!("{kind}:report.{kind}"));
    let mut args = vec!["test", ".", "-j", "1"];
    args.extend(reports.iter().flat_map(|report| ["--report", report]));
    let running = scratch.start(&args).expect("it starts");
    assert!(running.wait_for(|stdout, _| stdout.contains("ERROR ends")));
    fs::read(&begun).expect("the second test begins");
    running.interrupt();
    let finished = running.finish();
    assert_eq!(
        finished.code(),
        Some(INTERRUPTED),
        "{}{}",
        finished.stdout,
        finished.stderr
    );
    // No report is green of what did not end.
    let message = "the run was interrupted before this test ended";
    assert!(finished.stdout.contains(message), "{}", finished.stdout);
    let report = |kind: &str| fs::read_to_string(work.join(format!("report.{kind}")));
    for (kind, red) in [
        ("tap", "not ok 2 - sleeps"),
        ("junit", "errors=\"2\""),
        ("json", "\"tests_errored\":2"),
    ] {
        let text = report(kind).expect("a report");
        assert!(text.contains(red) && text.contains(message), "{text}");
    }
}
