//! What the tests of this binary share: the program in a place of its own, and what it said as values.

use std::fs;
use std::path::{Path, PathBuf};

use cuecard_testing::scratch::{Finished, Scratch};
use serde_json::Value;

/// What the program says when it was interrupted.
pub(crate) const INTERRUPTED: i32 = 130;

/// A fresh place to run the program in.
pub(crate) fn scratch() -> Scratch {
    Scratch::new(Path::new(env!("CARGO_BIN_EXE_cuecard"))).expect("a scratch folder")
}

/// Runs the program and waits for its end. A process that it leaves behind fails the test.
#[track_caller]
pub(crate) fn run(scratch: &Scratch, args: &[&str]) -> Finished {
    let finished = scratch.run(args).expect("the program starts");
    assert_nothing_left(&finished);
    finished
}

/// Runs `play … --json` and reads its document. The exit code must be `exit`.
#[track_caller]
pub(crate) fn play(scratch: &Scratch, args: &[&str], exit: i32) -> Played {
    let args = [&["play"], args, &["--json"]].concat();
    Played::of(run(scratch, &args), exit)
}

/// A run that is over, with its JSON document.
pub(crate) struct Played {
    /// The document of `--json`.
    pub(crate) json: Value,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Played {
    /// Reads what `play --json` wrote. The exit code must be `exit`.
    #[track_caller]
    pub(crate) fn of(finished: Finished, exit: i32) -> Self {
        assert_nothing_left(&finished);
        assert_eq!(finished.code(), Some(exit), "{}", told(&finished));
        let json = serde_json::from_str(&finished.stdout).unwrap_or_else(|error| {
            panic!(
                "standard output is not one JSON document ({error})\n{}",
                told(&finished)
            )
        });
        Self {
            json,
            stderr: finished.stderr,
        }
    }

    /// The entry of the step with this number.
    #[track_caller]
    pub(crate) fn step(&self, number: u64) -> &Value {
        self.json["step_results"]
            .as_array()
            .and_then(|steps| steps.iter().find(|step| step["step"] == number))
            .unwrap_or_else(|| panic!("no entry for step {number} in {:#}", self.json))
    }

    /// The status of each step that was reached, in order.
    pub(crate) fn statuses(&self) -> Vec<&str> {
        self.json["step_results"]
            .as_array()
            .map(|steps| {
                steps
                    .iter()
                    .map(|step| step["status"].as_str().unwrap_or("no status"))
                    .collect()
            })
            .unwrap_or_default()
    }

    /// The value of an output.
    pub(crate) fn output(&self, step: &str, name: &str) -> &Value {
        &self.json["outputs"][step][name]
    }
}

/// Fails the test if something outlived the program.
#[track_caller]
pub(crate) fn assert_nothing_left(finished: &Finished) {
    assert!(
        finished.left_behind.is_empty(),
        "left running: {:#?}\n{}",
        finished.left_behind,
        told(finished)
    );
}

/// Both streams and the end, for the reader of a failed test.
pub(crate) fn told(finished: &Finished) -> String {
    format!(
        "it ended with {}\n--- stdout\n{}\n--- stderr\n{}",
        finished.ended,
        shortened(&finished.stdout),
        shortened(&finished.stderr)
    )
}

/// A file below the working directory, as text.
#[track_caller]
pub(crate) fn read(scratch: &Scratch, relative: &str) -> String {
    let path = scratch.work().join(relative);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("`{relative}`: {error}"))
}

/// A number that `/proc` has of a process, where the system tells: the one behind `name` in `file`.
pub(crate) fn proc_number(id: i32, file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{id}/{file}")).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The run directories below the working directory.
pub(crate) fn run_dirs(scratch: &Scratch) -> Vec<PathBuf> {
    run_dirs_in(scratch, ".cuecard/runs")
}

fn run_dirs_in(scratch: &Scratch, relative: &str) -> Vec<PathBuf> {
    fs::read_dir(scratch.work().join(relative))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect()
}

/// The trace of the only run in the working directory.
#[track_caller]
pub(crate) fn only_trace(scratch: &Scratch) -> String {
    only_trace_in(scratch, ".cuecard/runs")
}

/// The trace of the only run that was kept in this folder with `--run-dir`.
#[track_caller]
pub(crate) fn only_trace_in(scratch: &Scratch, relative: &str) -> String {
    let runs = run_dirs_in(scratch, relative);
    assert_eq!(runs.len(), 1, "{runs:?}");
    fs::read_to_string(runs[0].join("trace.jsonl")).expect("a trace")
}

/// The complete lines of a trace as JSON. A last line without its end is left out, as its format says.
#[track_caller]
pub(crate) fn trace_lines(trace: &str) -> Vec<Value> {
    trace
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .map(|line| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("a line of the trace is no JSON: {error}\n{line}"))
        })
        .collect()
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 8000;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
