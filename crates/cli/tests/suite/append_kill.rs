//! `sandy__append_file` killed in the middle, and on a full disk: what a step reported is in the file, whole.
//!
//! The program is killed for real, while it appends, after a number of steps that differs from run to run and
//! is the same in every run of this test. Where in an append it then is, is chance: what must hold, holds
//! anywhere.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use cuecard_testing::scratch::{Ended, Scratch};
use serde_json::{Value, json};

use crate::program::{self, Played, read, scratch, told, trace_lines};

const FORMATS: [&str; 3] = ["jsonl", "csv", "json"];

/// How many runs are killed.
const KILLS: u64 = 8;
/// Steps of a run, a third for each format.
const STEPS: u64 = 600;
/// The kill comes after fewer steps than this, long before the run would be over.
const LATEST: u64 = 60;
/// Records of one step.
const PARTS: u64 = 3;
/// Bytes that make a record larger than what a pipe or a page takes at once.
const PADDING: usize = 12_000;
/// A JSON file is written anew by each append, so its records are short.
const SHORT: &str = "short";

#[test]
fn killed_at_any_moment_every_reported_record_is_whole() {
    let place = scratch();
    let mut random = Random(0x2026_1121);
    let mut torn = false;
    let mut promised = BTreeSet::new();
    for run in 0..KILLS {
        let steps: Vec<Value> = (1..=STEPS).map(|step| append(run, step)).collect();
        write_scenario(&place, &steps, PADDING);
        // At least one step for each format, which repairs what the run before left torn.
        let shown_before = 3 + random.below(LATEST);
        let runs = format!("runs/{run}");
        let running = place
            .start(&["play", "scenario.json", "--run-dir", &runs])
            .expect("the program starts");
        let seen = running.wait_for(|_, stderr| passed(stderr) >= shown_before);
        running.kill();
        let finished = running.finish();
        assert!(seen, "{}", told(&finished));
        assert_eq!(finished.ended, Ended::Signalled(9), "{}", told(&finished));

        let trace = trace_lines(&program::only_trace_in(&place, &runs));
        let repaired = trace.iter().any(tells_of_a_repair);
        assert_eq!(repaired, torn, "a torn record, and only that, is repaired");
        let steps_of = |event: &str| -> BTreeSet<u64> {
            trace
                .iter()
                .filter(|line| line["type"] == event)
                .filter_map(|line| line["data"]["step"].as_u64())
                .collect()
        };
        let (begun, done) = (steps_of("step_started"), steps_of("step_finished"));
        assert!(
            (1..=passed(&finished.stderr)).all(|step| done.contains(&step)),
            "what was shown is in the trace"
        );
        promised.extend(done.iter().map(|&step| (run, step)));

        let [jsonl, csv] = ["out/records.jsonl", "out/records.csv"];
        let is_there = |path: &str| place.work().join(path).exists();
        torn = is_there(jsonl) && !read(&place, jsonl).ends_with('\n');
        if is_there(csv) {
            // A torn row is for people to remove.
            let text = read(&place, csv);
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            place.write(csv, &text[..whole]).expect("writable");
        }
        for format in FORMATS {
            let records = records(&place, format);
            for record in &records {
                let (of, step, _) = *record;
                assert!(
                    of < run || begun.contains(&step),
                    "nobody wrote {record:?} of `{format}`"
                );
            }
            let unique: BTreeSet<&Record> = records.iter().collect();
            assert_eq!(unique.len(), records.len(), "a record of `{format}` twice");
            for &(of, step) in promised
                .iter()
                .filter(|(_, step)| format_of(*step) == format)
            {
                for part in 0..PARTS {
                    assert!(
                        unique.contains(&(of, step, part)),
                        "part {part} of step {step} in run {of} is missing in `{format}`"
                    );
                }
            }
        }
    }
    assert!(!promised.is_empty(), "no step passed before a kill");

    // Afterwards it is as if nothing had happened.
    let steps: Vec<Value> = (1..=3).map(|step| append(KILLS, step)).collect();
    write_scenario(&place, &steps, PADDING);
    let last = program::play(&place, &["scenario.json"], 0);
    assert_eq!(last.statuses(), ["passed"; 3]);
    for (format, step) in FORMATS.into_iter().zip(1..) {
        assert!(read(&place, &format!("out/records.{format}")).ends_with('\n'));
        assert_eq!(
            records(&place, format).last(),
            Some(&(KILLS, step, PARTS - 1))
        );
    }
}

#[test]
fn a_torn_last_record_is_removed_with_a_warning_and_the_others_stay() {
    let whole = "{\"a\":1}\n{\"a\":2}\n";
    let (place, played) = appended_to("jsonl", &format!("{whole}{{\"a\":3,\"text\":\"brok"), 0);
    let warning = "warning: a torn record was removed from the end of";
    assert!(played.stderr.contains(warning), "{}", played.stderr);
    assert!(played.stderr.contains("brok"), "{}", played.stderr);
    assert_eq!(
        read(&place, "records.jsonl"),
        format!("{whole}{{\"a\":4}}\n")
    );
}

#[test]
fn a_torn_last_row_is_an_error_and_stays() {
    let torn = "a,text\n1,one\n2,two\n3,\"brok";
    let (place, played) = appended_to("csv", torn, 1);
    assert!(played.stderr.contains("line 4"), "{}", played.stderr);
    assert_eq!(read(&place, "records.csv"), torn);
}

/// The run of a step that appends to a file of this text.
fn appended_to(format: &str, text: &str, exit: i32) -> (Scratch, Played) {
    let place = scratch();
    let file = format!("records.{format}");
    place.write(&file, text).expect("writable");
    let step = json!({
        "step": 1,
        "tool": "sandy__append_file",
        "params": {"path": file, "format": format, "data": {"a": 4}},
    });
    write_scenario(&place, &[step], 0);
    let played = program::play(&place, &["scenario.json"], exit);
    (place, played)
}

#[test]
fn without_room_nothing_is_appended_and_smaller_records_still_are() {
    for format in FORMATS {
        let (place, file, before) = nearly_full(format);
        let step = |number: u64, name: &str| {
            json!({
                "step": number,
                "tool": "sandy__append_file",
                "params": {"path": file, "format": format, "data": [{"a": number, "text": name}]},
                "on_error": "skip",
            })
        };
        write_scenario(&place, &[step(1, "{{PADDING}}"), step(2, "small")], 10_000);
        // Only a file that has to hold it all becomes too large, not the trace.
        let stdout = with_limit(&place, "--json --end 1", 0);
        let result: Value = serde_json::from_str(&stdout).expect("one document");
        let refused = &result["step_results"][0];
        assert_eq!(refused["status"], "tolerated", "{refused:#}");
        let error = refused["error"].as_str().unwrap_or_default();
        assert!(
            error.contains(&file) && error.contains("larger than the system allows"),
            "{error}"
        );
        assert_eq!(read(&place, &file), before, "nothing half done");
        let left: Vec<String> = std::fs::read_dir(place.work().join("out"))
            .expect("readable")
            .map(|entry| {
                entry
                    .expect("readable")
                    .file_name()
                    .into_string()
                    .expect("a name")
            })
            .collect();
        assert_eq!(left, [format!("records.{format}")], "no temporary file");

        with_limit(&place, "--json --start 2", 0);
        let after = read(&place, &file);
        assert_ne!(after, before);
        assert!(after.contains("small") && after.len() < 64 << 10);
    }
}

#[test]
fn a_step_that_finds_no_room_stops_the_run_and_says_why() {
    let (place, file, before) = nearly_full("jsonl");
    let steps = [1, 2].map(|number| {
        json!({
            "step": number,
            "tool": "sandy__append_file",
            "params": {"path": file, "data": {"text": "{{PADDING}}"}},
        })
    });
    write_scenario(&place, &steps, 10_000);
    with_limit(&place, "", 1);
    let stderr = read(&place, "stderr.txt");
    assert!(stderr.contains("error[C-RUN-"), "{stderr}");
    assert!(stderr.contains("nothing was appended"), "{stderr}");
    assert!(stderr.contains("1 failed"), "{stderr}");
    assert_eq!(read(&place, &file), before);
}

#[test]
fn without_room_for_its_trace_the_run_ends_before_the_next_effect() {
    let (place, _, _) = nearly_full("jsonl");
    let steps: Vec<Value> = (1..=10)
        .map(|number| {
            json!({
                "step": number,
                "tool": "claude__write",
                "params": {"file_path": format!("out/{number}.txt"), "content": "{{PADDING}}"},
            })
        })
        .collect();
    write_scenario(&place, &steps, 20_000);
    with_limit(&place, "", 2);
    let stderr = read(&place, "stderr.txt");
    let told = stderr.matches("error[X-IO-02]: the trace can't be written");
    assert_eq!(told.count(), 1, "{stderr}");
    let run = program::run_dirs(&place).pop().expect("a run");
    let trace = std::fs::read_to_string(run.join("trace.jsonl")).expect("a trace");
    let called = trace_lines(&trace)
        .iter()
        .filter(|line| line["type"] == "tool_call")
        .count();
    assert!((1..10).contains(&called), "{called}");
    for number in 1..=10 {
        let written = place.work().join(format!("out/{number}.txt")).exists();
        assert_eq!(written, number <= called, "step {number} of {called} calls");
    }
}

/// Run, step and part of a record.
type Record = (u64, u64, u64);

/// The records of a file. What is torn is left out, which a JSON file never is.
#[track_caller]
fn records(place: &Scratch, format: &str) -> Vec<Record> {
    let path = format!("out/records.{format}");
    if !place.work().join(&path).exists() {
        return Vec::new();
    }
    let text = read(place, &path);
    let whole = || {
        text.split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'))
    };
    match format {
        "json" => serde_json::from_str::<Vec<Value>>(&text)
            .unwrap_or_else(|error| panic!("`{path}` is not valid any more: {error}"))
            .iter()
            .map(|value| record(value, SHORT.len()))
            .collect(),
        "jsonl" => whole()
            .map(|line| {
                let value = serde_json::from_str(line)
                    .unwrap_or_else(|error| panic!("a line of `{path}`: {error}\n{line}"));
                record(&value, PADDING)
            })
            .collect(),
        _ => {
            let mut lines = whole();
            assert_eq!(lines.next(), Some("padding,run,step,part"));
            lines
                .map(|line| {
                    let fields: Vec<&str> = line.split(',').collect();
                    assert_eq!(fields.len(), 4, "a line of `{path}`: {line}");
                    assert_eq!(fields[0].len(), PADDING, "a line of `{path}`");
                    let number = |field: &str| field.parse().expect("a number");
                    (number(fields[1]), number(fields[2]), number(fields[3]))
                })
                .collect()
        }
    }
}

#[track_caller]
fn record(value: &Value, padding: usize) -> Record {
    let number = |key: &str| value[key].as_u64().expect("a number");
    assert_eq!(value["padding"].as_str().map(str::len), Some(padding));
    (number("run"), number("step"), number("part"))
}

fn format_of(step: u64) -> &'static str {
    match step % 3 {
        1 => "jsonl",
        2 => "csv",
        _ => "json",
    }
}

fn append(run: u64, step: u64) -> Value {
    let format = format_of(step);
    let padding = if format == "json" {
        SHORT
    } else {
        "{{PADDING}}"
    };
    let data: Vec<Value> = (0..PARTS)
        // A row of CSV that is cut in its last field can't be told from one that lacks its line end.
        .map(|part| json!({"padding": padding, "run": run, "step": step, "part": part}))
        .collect();
    json!({
        "step": step,
        "tool": "sandy__append_file",
        "params": {"path": format!("out/records.{format}"), "format": format, "data": data},
    })
}

fn write_scenario(place: &Scratch, steps: &[Value], padding: usize) {
    let mut scenario = json!({"version": "2.1", "metadata": {"name": "Append"}, "steps": steps});
    if padding > 0 {
        scenario["variables"] = json!({"PADDING": "x".repeat(padding)});
    }
    place
        .write("scenario.json", scenario.to_string())
        .expect("writable");
}

/// How many steps are shown as passed.
fn passed(stderr: &str) -> u64 {
    stderr.matches(" ✓ ").count() as u64
}

fn tells_of_a_repair(line: &Value) -> bool {
    line["data"]["message"]
        .as_str()
        .is_some_and(|message| message.contains("a torn record was removed"))
}

/// A place for [`with_limit`] with a file of records that has room for a few thousand bytes more.
fn nearly_full(format: &str) -> (Scratch, String, String) {
    let mut place = Scratch::new(Path::new("/bin/bash")).expect("a scratch folder");
    place.set("CUECARD", OsString::from(env!("CARGO_BIN_EXE_cuecard")));
    let text = "x".repeat(60_000);
    let content = match format {
        "jsonl" => format!("{{\"a\":0,\"text\":\"{text}\"}}\n"),
        "csv" => format!("a,text\n0,{text}\n"),
        _ => format!("[{{\"a\":0,\"text\":\"{text}\"}}]\n"),
    };
    let file = format!("out/records.{format}");
    place.write(&file, &content).expect("writable");
    (place, file, content)
}

/// Plays the scenario where no file may grow beyond 64 KiB, which is what a full disk looks like from inside;
/// gives standard output.
#[track_caller]
fn with_limit(place: &Scratch, options: &str, exit: i32) -> String {
    let script = format!(
        "trap '' XFSZ; ulimit -f 64; exec \"$CUECARD\" play scenario.json {options} 2>stderr.txt"
    );
    let finished = place.run(&["-c", &script]).expect("bash starts");
    program::assert_nothing_left(&finished);
    assert_eq!(
        finished.code(),
        Some(exit),
        "{}\n{}",
        told(&finished),
        read(place, "stderr.txt")
    );
    finished.stdout
}

/// Numbers that look random and are the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
