//! Runs that are killed, or that somebody ends: what was told to be done is kept, and nothing is left running.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use cuecard_testing::peers;
use cuecard_testing::scratch::{Ended, Running, Scratch};
use serde_json::{Value, json};

use super::SENTENCES;
use crate::parse::Lab;
use crate::program::{
    INTERRUPTED, assert_nothing_left, only_trace_in, read, run_dirs, told, trace_lines,
};

/// SIGKILL.
const KILLED: Ended = Ended::Signalled(9);

/// Writes a scenario whose last sentence takes a minute.
fn write_long(lab: &Lab, name: &str) {
    let actions = [SENTENCES[0], SENTENCES[1], "wait 60 s"];
    let scenario = json!({"url": lab.site.url("dialogs.html"), "actions": actions});
    lab.scratch
        .write(name, scenario.to_string())
        .expect("writable");
}

/// Starts a parse, and comes back when two of its three actions are done.
#[track_caller]
fn half_parsed(lab: &Lab) -> Running {
    write_long(lab, "long.json");
    lab.scratch
        .write("out.json", "as before")
        .expect("writable");
    let args = ["parse", "long.json", "-o", "out.json"];
    let running = lab.scratch.start(&args).expect("the program starts");
    if !running.wait_for(|_, stderr| stderr.contains("2 ✓")) {
        panic!("{}", told(&running.finish()));
    }
    running
}

/// The steps that the only run has kept.
#[track_caller]
fn kept(lab: &Lab) -> (PathBuf, Value) {
    let runs = run_dirs(&lab.scratch);
    assert_eq!(runs.len(), 1, "{runs:?}");
    let path = runs[0].join("steps.json");
    let text = std::fs::read_to_string(&path).expect("steps were kept");
    (path, serde_json::from_str(&text).expect("JSON"))
}

/// What must hold of a parse that was broken off after two of its actions.
#[track_caller]
fn assert_kept(lab: &Lab) {
    let (path, file) = kept(lab);
    assert_eq!(file["status"], "partial");
    let sentences: Vec<&Value> = file["testSteps"]
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| &step["description"])
        .collect();
    assert_eq!(sentences, SENTENCES[..2]);
    assert_eq!(read(&lab.scratch, "out.json"), "as before");
    // What was kept can be played.
    let path = path.display().to_string();
    lab.run(&["play", &path, "--allow-partial"], 0);
}

#[test]
fn a_parse_that_is_killed_loses_nothing_that_it_told_and_no_browser_stays() {
    let Some(lab) = Lab::new() else { return };
    let running = half_parsed(&lab);
    running.kill();
    let finished = running.finish();
    assert_eq!(finished.ended, KILLED, "{}", told(&finished));
    assert_nothing_left(&finished);
    assert_kept(&lab);
}

#[test]
fn a_parse_that_somebody_ends_says_where_its_steps_are() {
    let Some(lab) = Lab::new() else { return };
    let running = half_parsed(&lab);
    running.interrupt();
    let finished = running.finish();
    assert_eq!(finished.code(), Some(INTERRUPTED), "{}", told(&finished));
    assert_nothing_left(&finished);
    assert_eq!(finished.stdout, "");
    let shown = "interrupted: 2 of 3 steps are in .cuecard/runs/";
    assert!(finished.stderr.contains(shown), "{}", told(&finished));
    let description = std::fs::read_to_string(run_dirs(&lab.scratch)[0].join("run.json"));
    assert!(description.expect("written").contains("\"interrupted\""));
    assert_kept(&lab);
}

#[test]
fn a_question_can_be_ended_too() {
    let Some(lab) = Lab::new() else { return };
    let Some(script) = peers::require_program("script") else {
        return;
    };
    write_long(&lab, "long.json");
    // `script` gives the program a terminal, and passes on what is typed.
    let mut terminal = Scratch::new(&script).expect("a scratch folder");
    terminal.limit(Duration::from_secs(240));
    let command = format!(
        "cd '{}' && exec '{}' parse long.json --interactive",
        lab.scratch.work().display(),
        env!("CARGO_BIN_EXE_cuecard")
    );
    let mut running = terminal
        .start(&["-qec", &command, "/dev/null"])
        .expect("a terminal starts");
    let is_asked = running.wait_for(|stdout, _| stdout.contains("run it?"));
    let mut keys = running.stdin.take().expect("it reads");
    // Ctrl-C, as a terminal sends it.
    keys.write_all(b"\x03").expect("it reads");
    let is_over = running.wait_for(|stdout, _| stdout.contains("interrupted before"));
    let finished = running.finish();
    assert!(is_asked && is_over, "{}", told(&finished));
    assert_eq!(finished.code(), Some(INTERRUPTED), "{}", told(&finished));
    assert_nothing_left(&finished);
}

#[test]
fn steps_that_are_killed_leave_a_trace_of_what_was_done_and_no_browser() {
    let Some(lab) = Lab::new() else { return };
    lab.make_steps(&[]);
    let mut steps: Value = serde_json::from_str(&read(&lab.scratch, "steps.json")).expect("JSON");
    steps["testSteps"][2] = json!({"id": "st-wait", "description": "wait 60 s", "action": "wait", "durationMs": 60_000});
    lab.scratch
        .write("long.steps.json", steps.to_string())
        .expect("writable");
    let running = lab
        .scratch
        .start(&["play", "long.steps.json", "--run-dir", "killed"])
        .expect("the program starts");
    let is_half = running.wait_for(|_, stderr| stderr.contains("2 ✓"));
    running.kill();
    let finished = running.finish();
    assert!(is_half, "{}", told(&finished));
    assert_eq!(finished.ended, KILLED, "{}", told(&finished));
    assert_nothing_left(&finished);
    let trace = only_trace_in(&lab.scratch, "killed");
    let lines = trace_lines(&trace);
    let of_type = |name: &str| lines.iter().filter(|line| line["type"] == name).count();
    // The first call opens the page.
    let counts = (of_type("tool_result"), of_type("step_finished"));
    assert_eq!(counts, (3, 2), "{trace}");
    assert!(lines.iter().all(|line| line["kind"] != "end"), "{trace}");
}
