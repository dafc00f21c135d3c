//! Steps that start together: real servers and commands at the same time, and runs that end among them.

use std::collections::BTreeSet;

use cuecard_testing::scratch::{Ended, Scratch};
use serde_json::{Value, json};

use crate::program::{self, read, run, scratch, told};

fn write(place: &Scratch, steps: &[Value]) {
    let scenario = json!({"version": "2.1", "metadata": {"name": "Together"}, "steps": steps});
    let text = format!("{scenario:#}");
    place.write("scenario.json", text).expect("writable");
}

/// A step of the group `g`.
fn grouped(number: u64, tool: &str, params: &Value) -> Value {
    json!({"step": number, "group": "g", "tool": tool, "params": params})
}

#[test]
fn calls_to_one_server_to_several_and_commands_overlap() {
    let place = scratch();
    let demo = json!({"command": env!("CARGO_BIN_EXE_cuecard"), "args": ["mcp", "demo"]});
    let config = json!({"mcpServers": {"one": demo, "two": demo}});
    place
        .write(".mcp.json", config.to_string())
        .expect("writable");
    let slow = json!({"seconds": 1.5});
    let steps = [
        grouped(1, "mcp__one__slow", &slow),
        grouped(2, "mcp__one__slow", &slow),
        grouped(3, "mcp__two__slow", &slow),
        grouped(4, "mcp__demo__slow", &slow),
        grouped(5, "claude__bash", &json!({"command": "sleep 1.5"})),
        grouped(6, "sandy__wait", &json!({"duration": 1.5})),
    ];
    write(&place, &steps);
    let played = program::play(&place, &["scenario.json"], 0);
    let times: Vec<(jiff::Timestamp, jiff::Timestamp)> = (1..=6)
        .map(|number| {
            let step = played.step(number);
            let started: jiff::Timestamp = step["started_at"]
                .as_str()
                .and_then(|text| text.parse().ok())
                .expect("a time");
            let took = step["duration"].as_f64().expect("seconds");
            (started, started + jiff::SignedDuration::from_secs_f64(took))
        })
        .collect();
    let last_start = times.iter().map(|(start, _)| start).max();
    let first_end = times.iter().map(|(_, end)| end).min();
    assert!(last_start < first_end, "{:#}", played.json);
}

#[test]
fn a_server_that_does_not_start_blocks_the_run_behind_its_group() {
    let place = scratch();
    let config = json!({"mcpServers": {"broken": {"command": "false"}}});
    place
        .write(".mcp.json", config.to_string())
        .expect("writable");
    let steps = [
        grouped(1, "mcp__broken__x", &json!({})),
        grouped(2, "claude__bash", &json!({"command": "touch done"})),
        json!({"step": 3, "tool": "sandy__log", "params": {"message": "never"}}),
    ];
    write(&place, &steps);
    let played = program::play(&place, &["scenario.json"], 2);
    assert_eq!(played.statuses(), ["failed", "passed"]);
    assert_eq!(played.json["failed_step"], 1);
    assert_eq!(read(&place, "done"), "");
}

#[test]
fn interrupted_inside_a_group_what_has_returned_is_known() {
    let place = scratch();
    let steps = [
        grouped(1, "mcp__demo__slow", &json!({"seconds": 60})),
        grouped(2, "claude__bash", &json!({"command": "echo 2 > effects"})),
        grouped(
            3,
            "claude__bash",
            &json!({"command": "[ -e flag ] || { touch flag; sleep 1; kill -INT $PPID; sleep 60; }"}),
        ),
    ];
    write(&place, &steps);
    let words = ["scenario.json"];
    let played = program::play(&place, &words, program::INTERRUPTED);
    assert_eq!(played.step(2)["status"], "passed", "{:#}", played.json);
    assert_eq!(unknown_steps(&place), [1, 3].into());
}

/// The numbers of the steps that the refusal to resume names.
fn unknown_steps(place: &Scratch) -> BTreeSet<u64> {
    let refused = run(place, &["play", "scenario.json", "--resume", "last"]);
    assert_eq!(refused.code(), Some(3), "{}", told(&refused));
    let (_, named) = refused.stderr.split_once("ended during ").expect("it says");
    let (named, _) = named.split_once(", which may").expect("it says");
    let words = named.split(|letter: char| !letter.is_ascii_digit());
    words.filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn killed_inside_a_group_each_step_ran_once_or_is_named_unknown() {
    for killer in 1..=4 {
        for when in ["before", "behind"] {
            let place = scratch();
            let steps: Vec<Value> = (1..=4)
                .map(|number| {
                    let at = |moment: &str| match number == killer && moment == when {
                        true => "[ -e flag ] || { touch flag; kill -9 $PPID; kill -STOP $$; }; ",
                        false => "",
                    };
                    let command = format!(
                        "sleep 0.{number}; {}echo {number} >> effects; {}true",
                        at("before"),
                        at("behind")
                    );
                    grouped(number, "claude__bash", &json!({"command": command}))
                })
                .collect();
            write(&place, &steps);
            let killed = run(&place, &["play", "scenario.json"]);
            assert_eq!(killed.ended, Ended::Signalled(9), "{}", told(&killed));
            let unknown = unknown_steps(&place);
            assert!(unknown.contains(&killer), "{unknown:?}");
            let effects = || match place.work().join("effects").exists() {
                true => read(&place, "effects"),
                false => String::new(),
            };
            let has_effect = |step: &u64| effects().lines().any(|line| line == step.to_string());
            for step in 1..=4 {
                assert!(has_effect(&step) || unknown.contains(&step), "{step}");
            }
            let (done, redo): (Vec<u64>, Vec<u64>) = unknown.iter().partition(|it| has_effect(it));
            let mut words = vec!["play".to_owned(), "scenario.json".to_owned()];
            words.extend(["--resume", "last"].map(str::to_owned));
            for (option, steps) in [("--assume-done", done), ("--redo", redo)] {
                let steps: Vec<String> = steps.iter().map(u64::to_string).collect();
                if !steps.is_empty() {
                    words.extend([option.to_owned(), steps.join(",")]);
                }
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let resumed = run(&place, &words);
            assert_eq!(resumed.code(), Some(0), "{}", told(&resumed));
            let mut lines: Vec<String> = effects().lines().map(str::to_owned).collect();
            lines.sort();
            assert_eq!(lines, ["1", "2", "3", "4"], "{killer} {when}");
        }
    }
}
