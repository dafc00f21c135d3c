//! Commands that `claude__bash` starts in the background: their output comes bit by bit, and they are gone with the run.

use cuecard_testing::scratch::{Finished, Running, Scratch};
use serde_json::{Value, json};

use crate::program::{self, INTERRUPTED, Played, scratch};

/// A command that says where it is, starts a child that leaves its group, and stays.
const STAYS: &str = "setsid sleep 600 & echo $! $$ >ids; echo ready; wait";

fn write_scenario(place: &Scratch, steps: &[Value]) {
    write_with_variables(place, &json!({}), steps);
}

fn write_with_variables(place: &Scratch, variables: &Value, steps: &[Value]) {
    let metadata = json!({"name": "Background"});
    let scenario =
        json!({"version": "2.1", "metadata": metadata, "variables": variables, "steps": steps});
    place
        .write("scenario.json", scenario.to_string())
        .expect("writable");
}

fn started(command: &str) -> Value {
    json!({
        "step": 1, "id": "started", "tool": "claude__bash",
        "params": {"command": command, "run_in_background": true},
        "output": {"id": "$.shell_id"},
    })
}

/// A step that reads the output again and again until `expect` holds.
fn read_until(number: u64, expect: Value) -> Value {
    json!({
        "step": number, "tool": "claude__bash_output", "params": {"bash_id": "{{started.id}}"},
        "expect": expect,
        "on_error": "retry", "retry": {"count": 1000, "delay": 20, "backoff": "constant"},
    })
}

fn assert_gone(place: &Scratch) {
    let ids = program::read(place, "ids");
    let ids: Vec<&str> = ids.split_whitespace().collect();
    assert_eq!(ids.len(), 2, "it started");
    for id in ids {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let is_alive = !stat.is_empty() && !stat.contains(") Z ");
        assert!(!is_alive, "process {id} is left: {stat}");
    }
}

#[test]
fn output_is_read_bit_by_bit_and_a_retry_reads_the_same_again() {
    let place = scratch();
    write_scenario(
        &place,
        &[
            started(
                "echo one; echo problem >&2; until [ -e go ]; do sleep 0.02; done; printf 'tw'; sleep 0.1; echo o; exit 3",
            ),
            read_until(2, json!({"json_path": "$.stdout", "equals": "one\n"})),
            read_until(3, json!({"json_path": "$.status", "equals": "running"})),
            json!({"step": 4, "tool": "claude__write", "params": {"file_path": "go", "content": ""}}),
            read_until(5, json!({"json_path": "$.status", "equals": "failed"})),
            read_until(6, json!({"json_path": "$.stdout", "equals": ""})),
        ],
    );
    let played = program::play(&place, &["scenario.json", "--include-results"], 0);
    let result = |number| &played.step(number)["result"];
    assert_eq!(result(2)["stdout"], "one\n");
    // Each attempt of step 5 read on from where step 3 had stopped.
    assert_eq!(result(5)["stdout"], "two\n");
    assert_eq!(result(5)["exit_code"], 3);
    assert_eq!(result(6)["exit_code"], 3);
}

/// Half of a secret could not be told from other text.
#[test]
fn output_that_ends_within_a_secret_is_read_with_its_rest() {
    let mut place = scratch();
    place.set("CUECARD_VAR_TOKEN", "Tango7Foxtrot9Bravo");
    let command =
        "printf 'a %s' \"${V:0:9}\"; until [ -e go ]; do sleep 0.02; done; echo \"${V:9}\"";
    let mut start = started(command);
    start["params"]["env"] = json!({"V": "{{TOKEN}}"});
    let go =
        json!({"step": 4, "tool": "claude__write", "params": {"file_path": "go", "content": ""}});
    let steps = [
        start,
        read_until(2, json!({"json_path": "$.stdout", "equals": "a "})),
        json!({"step": 3, "tool": "claude__bash_output", "params": {"bash_id": "{{started.id}}"},
               "expect": {"json_path": "$.stdout", "equals": ""}}),
        go,
        read_until(
            5,
            json!({"json_path": "$.stdout", "equals": "Tango7Foxtrot9Bravo\n"}),
        ),
    ];
    write_with_variables(&place, &json!({"TOKEN": ""}), &steps);
    let args = ["scenario.json", "--secret", "TOKEN", "--include-results"];
    let played = program::play(&place, &args, 0);
    assert_eq!(played.step(2)["result"]["stdout"], "a ");
    assert_eq!(played.step(5)["result"]["stdout"], "[redacted]\n");
    assert!(!program::only_trace(&place).contains("Tango7Fox"));
}

#[test]
fn a_command_in_the_background_ends_with_a_run_that_passes() {
    let place = scratch();
    write_scenario(
        &place,
        &[
            started(STAYS),
            read_until(2, json!({"json_path": "$.stdout", "contains": "ready"})),
        ],
    );
    program::play(&place, &["scenario.json"], 0);
    assert_gone(&place);
}

#[test]
fn a_command_in_the_background_ends_with_a_run_that_fails() {
    let place = scratch();
    write_scenario(
        &place,
        &[
            started(STAYS),
            read_until(2, json!({"json_path": "$.stdout", "contains": "ready"})),
            json!({"step": 3, "tool": "claude__read", "params": {"file_path": "not-there"}}),
        ],
    );
    program::play(&place, &["scenario.json"], 1);
    assert_gone(&place);
}

#[test]
fn a_command_in_the_background_ends_with_a_run_that_is_interrupted() {
    let place = scratch();
    write_scenario(
        &place,
        &[
            started(STAYS),
            read_until(2, json!({"json_path": "$.stdout", "contains": "ready"})),
            json!({"step": 3, "tool": "sandy__wait", "params": {"duration": 600}}),
        ],
    );
    let finished = interrupted_in_step_3(&place);
    Played::of(finished, INTERRUPTED);
    assert_gone(&place);
}

fn interrupted_in_step_3(place: &Scratch) -> Finished {
    let running: Running = place
        .start(&["play", "scenario.json", "--json"])
        .expect("the program starts");
    assert!(running.wait_for(|_, stderr| stderr.contains("2 ✓")));
    running.interrupt();
    running.finish()
}

#[test]
fn a_killed_command_takes_its_children_along_before_the_run_ends() {
    let place = scratch();
    write_scenario(
        &place,
        &[
            started(STAYS),
            read_until(2, json!({"json_path": "$.stdout", "contains": "ready"})),
            json!({
                "step": 3, "tool": "claude__kill_shell", "params": {"shell_id": "{{started.id}}"},
                "expect": {"json_path": "$.status", "equals": "killed"},
            }),
            json!({
                "step": 4, "tool": "claude__bash",
                "params": {"command": "for id in $(cat ids); do while kill -0 $id 2>/dev/null; do sleep 0.02; done; done", "expect_exit": 0},
            }),
        ],
    );
    program::play(&place, &["scenario.json"], 0);
    assert_gone(&place);
}
