//! `cuecard test --watch` from outside: what makes it judge again, what it judges then, and how it ends.

use std::fs;

use cuecard_testing::scratch::{Running, Scratch};
use serde_json::Value;

use super::program::{INTERRUPTED, scratch};

const PASSING: &str = r#"{"schema_version": "0.1", "adapter": "nanoclaw-replay",
    "scenario": {"group_id": "g", "trigger": "user_message"}, "input_messages": [{"role": "user", "content": "hi"}],
    "script": [], "final_output": {"role": "assistant", "content": "hello"}, "status": "success",
    "metrics": {"timing_ms_total": 1}}"#;

fn case(id: &str, input: &str) -> String {
    format!(
        "schema_version: \"0.1\"\nid: {id}\nadapter: nanoclaw\n{input}\nassertions:\n  \
         - {{ id: greets, type: output_contains, params: {{ all_of: [hello] }} }}\n"
    )
}

/// Two tests that pass, each with its bundle.
fn suite() -> Scratch {
    let scratch = scratch();
    for id in ["one", "two"] {
        write(&scratch, &format!("{id}/replay.json"), PASSING);
        let input = "mode: replay\nadapter_input: { replay_file: ./replay.json }";
        write(&scratch, &format!("{id}/test.yaml"), &case(id, input));
    }
    scratch
}

fn write(scratch: &Scratch, path: &str, text: &str) {
    scratch.write(path, text).expect("written");
}

/// Waits until there are so many lines, and reads the last.
fn lines(running: &Running, count: usize) -> Value {
    let mut last = String::new();
    let seen = running.wait_for(|stdout, _| {
        let whole = stdout.rfind('\n').map_or("", |end| &stdout[..end]);
        last = whole.lines().last().unwrap_or_default().to_owned();
        whole.lines().count() >= count
    });
    assert!(seen, "line {count} comes; the last is {last}");
    serde_json::from_str(&last).expect("JSON")
}

fn judged(run: &Value) -> Vec<&str> {
    let results = run["results"].as_array().expect("results");
    let ids = results
        .iter()
        .filter_map(|one| one["test_case_id"].as_str());
    ids.collect()
}

#[test]
fn what_a_change_concerns_is_judged_again() {
    let scratch = suite();
    let running = scratch
        .start(&["test", ".", "--watch", "--json"])
        .expect("started");
    let first = lines(&running, 2);
    assert_eq!(first["event"], "run");
    assert_eq!(judged(&first), ["one", "two"]);
    assert_eq!(first["status"], "pass");

    // One bundle changes: by a rename, as editors do it.
    write(
        &scratch,
        "one/replay.json~",
        &PASSING.replace("hello", "good day"),
    );
    fs::rename(
        scratch.work().join("one/replay.json~"),
        scratch.work().join("one/replay.json"),
    )
    .expect("renamed");
    let second = lines(&running, 3);
    assert_eq!(judged(&second), ["one"]);
    assert_eq!(second["changed"], serde_json::json!(["one/replay.json"]));
    assert_eq!(second["status"], "fail");
    assert_eq!(second["summary"]["tests_total"], 2);
    assert_eq!(second["summary"]["tests_passed"], 1);

    // A test appears, another goes.
    let input = "mode: replay\nadapter_input: { replay_file: ./two/replay.json }";
    write(&scratch, "three.test.yaml", &case("three", input));
    let third = lines(&running, 4);
    assert_eq!(judged(&third), ["three"]);
    assert_eq!(third["summary"]["tests_total"], 3);
    fs::remove_file(scratch.work().join("one/test.yaml")).expect("gone");
    let fourth = lines(&running, 5);
    assert_eq!(judged(&fourth), Vec::<&str>::new());
    assert_eq!(fourth["summary"]["tests_total"], 2);
    assert_eq!(fourth["status"], "pass");

    // What two tests depend on.
    write(&scratch, "two/replay.json", &PASSING.replace("hello", "no"));
    let fifth = lines(&running, 6);
    assert_eq!(judged(&fifth), ["three", "two"]);

    running.interrupt();
    let finished = running.finish();
    assert_eq!(
        finished.code(),
        Some(1),
        "the exit code of how all tests are now"
    );
    let all: Vec<Value> = finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(all[0]["event"], "ready");
    assert_eq!(all[0]["tests"], 2);
    assert_eq!(all.last().expect("a line")["event"], "verdict");
    assert_eq!(all.last().expect("a line")["exit"], 1);
    assert_eq!(finished.stderr, "");
}

#[test]
fn people_see_what_failed_and_what_still_does() {
    let scratch = suite();
    write(&scratch, "one/replay.json", &PASSING.replace("hello", "no"));
    let running = scratch.start(&["test", ".", "--watch"]).expect("started");
    let waits = |times: usize| {
        running.wait_for(|_, stderr| stderr.matches("waiting for changes").count() >= times)
    };
    assert!(waits(1));
    write(&scratch, "two/replay.json", &PASSING.replace("hi", "hey"));
    assert!(waits(2));
    write(&scratch, "one/replay.json", PASSING);
    assert!(waits(3));
    running.interrupt();
    let finished = running.finish();
    assert_eq!(finished.code(), Some(0));
    assert!(
        !finished.stdout.contains('\u{1b}'),
        "only a terminal is cleared"
    );
    let heads: Vec<&str> = finished
        .stdout
        .lines()
        .filter(|line| line.starts_with("PASS") || line.starts_with("FAIL"))
        .map(|line| line.split("   ").next().unwrap_or_default())
        .collect();
    assert_eq!(
        heads,
        [
            "FAIL  one",
            "PASS  two", // all
            "PASS  two",
            "FAIL  one", // what changed, and what still fails
            "PASS  one",
        ]
    );
    assert!(
        finished
            .stdout
            .contains("FAIL  one   one/test.yaml   unchanged\n")
    );
    assert!(finished.stderr.contains("changed: two/replay.json\n"));
}

#[test]
fn a_run_that_is_cut_short_was_interrupted() {
    let scratch = scratch();
    let input = "mode: live\nadapter_input: { command: [/bin/sh, -c, 'touch begun; sleep 600'] }";
    write(&scratch, "test.yaml", &case("slow", input));
    write(&scratch, "b/test.yaml", &case("b", input));
    let running = scratch
        .start(&["test", ".", "--watch", "--json", "-j", "1"])
        .expect("started");
    assert_eq!(lines(&running, 1)["event"], "ready");
    running.interrupt();
    let finished = running.finish();
    assert_eq!(finished.code(), Some(INTERRUPTED));
    let last = finished.stdout.lines().last().expect("a line");
    let last: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(
        (&last["event"], &last["exit"]),
        (&"verdict".into(), &130.into())
    );
}
