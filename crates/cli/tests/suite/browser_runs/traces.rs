//! The trace of a run in a browser is one like any other: it is judged, and compared.

use serde_json::Value;

use super::document;
use crate::parse::Lab;
use crate::program::{run_dirs, told};

/// What must hold of a run, whose trace is in the file `TRACE`.
const CASE: &str = "\
schema_version: '0.1'
id: settings.saved
title: The settings are saved
adapter: cuecard
adapter_input: { trace_file: TRACE }
assertions:
  - { id: no-errors, type: max_errors, params: { limit: 0 } }
  - { id: saves-twice, type: must_call_tool, params: { tool: browser.click, min_calls: 2 } }
  - { id: types-nothing, type: must_not_call_tool, params: { tool: browser.input } }
";

/// Plays the steps into the folder `name`, and gives the run's folder below the working directory.
#[track_caller]
fn play(lab: &Lab, name: &str, steps: &str, exit: i32) -> String {
    let finished = lab.run(&["play", steps, "--json", "--run-dir", name], exit);
    let trace = document(&finished)["trace_path"]
        .as_str()
        .expect("a trace")
        .to_owned();
    trace.trim_end_matches("/trace.jsonl").to_owned()
}

/// Judges the trace of a run by the case.
#[track_caller]
fn judge(lab: &Lab, run: &str, exit: i32) -> Value {
    let case = CASE.replace("TRACE", &format!("{run}/trace.jsonl"));
    lab.scratch
        .write("saved.test.yaml", case)
        .expect("writable");
    document(&lab.run(&["test", "saved.test.yaml", "--strict", "--json"], exit))
}

#[test]
fn the_trace_of_a_run_in_a_browser_is_judged_and_compared_like_any_other() {
    let Some(lab) = Lab::new() else { return };
    lab.make_steps(&[]);
    let (first, second) = (
        play(&lab, "first", "steps.json", 0),
        play(&lab, "second", "steps.json", 0),
    );
    let same = lab.run(&["diff", &first, &second, "--json"], 0);
    assert_eq!(document(&same)["differences"], serde_json::json!([]));
    assert_eq!(judge(&lab, &first, 0)["summary"]["tests_passed"], 1);

    // The same steps on a page that lacks the button.
    let steps = crate::program::read(&lab.scratch, "steps.json");
    let other = steps.replace("dialogs.html", "login.html");
    lab.scratch.write("other.json", other).expect("writable");
    let failed = play(&lab, "failed", "other.json", 1);
    let judged = judge(&lab, &failed, 1);
    let failing: Vec<&str> = judged["results"][0]["assertions"]
        .as_array()
        .expect("assertions")
        .iter()
        .filter(|assertion| assertion["status"] == "fail")
        .filter_map(|assertion| assertion["id"].as_str())
        .collect();
    assert!(failing.contains(&"saves-twice"), "{judged:#}");
    let differs = lab.run(&["diff", &first, &failed], 4);
    assert!(
        differs.stdout.contains("browser.click"),
        "{}",
        told(&differs)
    );
    assert!(
        run_dirs(&lab.scratch).len() <= 1,
        "only the parse went to the usual place"
    );
}
