//! Runs that end in the middle, and what a resumed run makes of them.

use std::collections::BTreeSet;

use cuecard_testing::scratch::{Ended, Finished, Scratch};
use serde_json::{Value, json};

use crate::program::{self, read, run, run_dirs, scratch, told};

const STEPS: u64 = 30;

/// What each step does: it kills the program where the file `hold` says, before its effect or behind it.
const GATE: &str = r#"
at() { if [ "$(cat hold)" = "$1" ]; then kill -9 $PPID; kill -STOP $$; fi; }
at "$1 before"
echo "$1" >> effects
at "$1 behind"
"#;

fn write(place: &Scratch, steps: &[Value]) {
    let scenario = json!({
        "version": "2.1",
        "metadata": {"name": "Thirty effects"},
        "variables": {"WORD": "word"},
        "steps": steps,
    });
    let text = format!("{scenario:#}");
    place.write("scenario.json", text).expect("writable");
}

fn command(number: u64, command: &str) -> Value {
    json!({
        "step": number,
        "id": format!("s{number}"),
        "tool": "claude__bash",
        "params": {"command": command},
        "output": {"said": "$.stdout"},
    })
}

#[track_caller]
fn killed(finished: &Finished) {
    assert_eq!(finished.ended, Ended::Signalled(9), "{}", told(finished));
    program::assert_nothing_left(finished);
}

/// The numbers of the steps that the terminal called done, played or restored.
fn reported(stderr: &str) -> BTreeSet<u64> {
    let lines = stderr.lines().filter(|line| line.contains(" ✓ "));
    lines
        .filter_map(|line| line.split_whitespace().next()?.parse().ok())
        .collect()
}

#[test]
fn killed_at_every_point_each_step_runs_once_and_nothing_reported_is_lost() {
    let place = scratch();
    place.write("gate.sh", GATE).expect("writable");
    let steps: Vec<Value> = (1..=STEPS)
        .map(|number| {
            let before = number - 1;
            let mut step = command(number, &format!(". ./gate.sh {number}; echo {number}"));
            step["wait_after"] = 600.into();
            if number > 1 {
                // What the step before gave is there, whichever run played it, or it was assumed to be done.
                step["expect"] = json!({"json_path": "$.stdout", "equals": format!("{number}\n")});
                if !is_assumed(before) {
                    step["params"]["env"] = json!({"BEFORE": format!("{{{{s{before}.said}}}}")});
                    step["params"]["command"] = format!(
                        "[ \"$(echo $BEFORE)\" = {before} ] || exit 9; . ./gate.sh {number}; echo {number}"
                    )
                    .into();
                }
            }
            step
        })
        .collect();
    write(&place, &steps);
    let resume = |more: &[&str], speed: &str| -> Vec<String> {
        let first = ["play", "scenario.json", "--speed", speed];
        let words = first.iter().chain(more);
        words.map(|word| (*word).to_owned()).collect()
    };
    let mut decision: Vec<&str> = Vec::new();
    for number in 1..=STEPS {
        place
            .write("hold", format!("{number} before"))
            .expect("writable");
        killed(&place.run(&resume(&decision, "0")).expect("it starts"));

        let undecided = run(&place, &["play", "scenario.json", "--resume", "last"]);
        assert_eq!(undecided.code(), Some(3), "{}", told(&undecided));
        let said = format!("ended during step {number}, which may have taken effect");
        assert!(undecided.stderr.contains(&said), "{}", told(&undecided));

        let redo = resume(
            &["--resume", "last", "--redo"],
            if is_assumed(number) { "0" } else { "1" },
        );
        if is_assumed(number) {
            place
                .write("hold", format!("{number} behind"))
                .expect("writable");
            killed(&place.run(&redo).expect("it starts"));
            decision = vec!["--resume", "last", "--assume-done"];
            continue;
        }
        place.write("hold", "nowhere").expect("writable");
        decision = vec!["--resume", "last"];
        if number == STEPS {
            // It is the last, which nothing follows.
            let last = run(
                &place,
                &[
                    "play",
                    "scenario.json",
                    "--speed",
                    "0",
                    "--resume",
                    "last",
                    "--redo",
                ],
            );
            assert_eq!(last.code(), Some(0), "{}", told(&last));
            assert_eq!(
                reported(&last.stderr),
                (1..=STEPS).collect(),
                "{}",
                told(&last)
            );
            break;
        }
        // Between two steps: the run waits, and has reported the step.
        let running = place.start(&redo).expect("it starts");
        let seen = running.wait_for(|_, stderr| reported(stderr).contains(&number));
        running.kill();
        let finished = running.finish();
        assert!(seen, "{}", told(&finished));
        killed(&finished);
    }
    let effects: Vec<u64> = read(&place, "effects")
        .lines()
        .map(|line| line.parse().expect("a number"))
        .collect();
    assert_eq!(effects, (1..=STEPS).collect::<Vec<_>>());
    let again = run(&place, &["play", "scenario.json", "--resume", "last"]);
    assert_eq!(again.code(), Some(3), "{}", told(&again));
    assert!(
        again.stderr.contains("passed: there is nothing to resume"),
        "{}",
        told(&again)
    );
}

/// Each third step is killed behind its effect.
fn is_assumed(number: u64) -> bool {
    number % 3 == 1
}

#[test]
fn a_scenario_that_changed_is_refused_with_its_steps() {
    let place = scratch();
    let steps = [
        command(1, "echo one"),
        command(2, "exit 1"),
        command(3, "echo three"),
    ];
    let mut failing = steps.clone();
    failing[1]["params"]["expect_exit"] = 0.into();
    write(&place, &failing);
    let failed = program::play(&place, &["scenario.json"], 1);
    assert_eq!(failed.json["resume_from"], 2, "{:#}", failed.json);
    assert_eq!(
        failed.json["resume_command"],
        "cuecard play scenario.json --json --resume last"
    );
    write(&place, &[&steps[..2], &[command(4, "echo four")]].concat());
    let refused = program::play(&place, &["scenario.json", "--resume", "last"], 3);
    assert!(
        refused
            .stderr
            .contains("the scenario changed since the run")
            && refused.stderr.contains("step 2, step 3, step 4"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        refused.json["diagnostics"][0]["code"], "C-RESUME-01",
        "{:#}",
        refused.json
    );
    // Only what it says counts, not how it is laid out.
    let text = read(&place, "scenario.json");
    write(&place, &failing);
    let compact: Value = serde_json::from_str(&read(&place, "scenario.json")).expect("JSON");
    assert_ne!(compact.to_string(), text);
    place
        .write("scenario.json", compact.to_string())
        .expect("writable");
    let resumed = program::play(&place, &["scenario.json", "--resume", "last"], 1);
    assert_eq!(resumed.statuses(), ["passed", "failed"]);
    assert_eq!(resumed.step(1)["restored"], "done");
    assert_eq!(resumed.output("s1", "said"), "one\n");
}

#[test]
fn secrets_are_given_again_and_never_in_the_journal() {
    let mut place = scratch();
    let mut steps = [
        command(1, "echo \"{{NAME}}\""),
        command(2, "echo \"$T\""),
        command(3, "[ -e flag ]"),
        command(4, "echo \"{{s1.said}}\""),
    ];
    steps[1]["params"]["env"] = json!({"T": "{{WORD}}"});
    steps[2]["params"]["expect_exit"] = 0.into();
    let mut scenario = json!({
        "version": "2.1",
        "metadata": {"name": "A secret"},
        "variables": {"WORD": "", "NAME": ""},
        "steps": steps,
    });
    place
        .write("scenario.json", scenario.to_string())
        .expect("writable");
    place.set("CUECARD_VAR_WORD", "s3cret-word");
    let args = ["scenario.json", "--secret", "WORD", "--var", "NAME=Ann"];
    program::play(&place, &args, 1);
    let journal =
        std::fs::read_to_string(run_dirs(&place)[0].join("journal.jsonl")).expect("a journal");
    assert!(
        !journal.contains("s3cret") && journal.contains("Ann"),
        "{journal}"
    );

    place.write("flag", "").expect("writable");
    place.set("CUECARD_VAR_WORD", "another-word");
    let refused = program::play(&place, &["scenario.json", "--resume", "last"], 3);
    let said = "the secret `WORD` is not what it was in the run";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    assert!(
        !refused.stderr.contains("another-word"),
        "{}",
        refused.stderr
    );
    place.set("CUECARD_VAR_WORD", "s3cret-word");
    let other = program::play(
        &place,
        &["scenario.json", "--resume", "last", "--var", "NAME=Bob"],
        3,
    );
    assert!(
        other.stderr.contains("`Bob` (--var) was `Ann`"),
        "{}",
        other.stderr
    );
    // It need not be called a secret again.
    let resumed = program::play(&place, &["scenario.json", "--resume", "last"], 0);
    assert_eq!(resumed.output("s4", "said"), "Ann\n\n");
    let last = run_dirs(&place).into_iter().max().expect("a run");
    for file in ["journal.jsonl", "trace.jsonl", "run.json"] {
        let text = std::fs::read_to_string(last.join(file)).expect("a file");
        assert!(!text.contains("s3cret"), "{file}: {text}");
    }

    // What holds a secret is not kept, so nobody can go on with it.
    scenario["steps"][3]["params"]["command"] = "echo {{s2.said}}".into();
    std::fs::remove_file(place.work().join("flag")).expect("there");
    place
        .write("scenario.json", scenario.to_string())
        .expect("writable");
    program::play(&place, &args, 1);
    let refused = program::play(&place, &["scenario.json", "--resume", "last"], 3);
    assert!(
        refused.stderr.contains("`s2.said` is not known"),
        "{}",
        refused.stderr
    );
}

#[test]
fn data_stays_data() {
    let place = scratch();
    let mut read_it = command(3, "");
    read_it["tool"] = "claude__read".into();
    read_it["params"] = json!({"file_path": "{{s1.said}}"});
    let mut steps = [
        command(1, "printf ../outside.txt"),
        command(2, "[ -e flag ]"),
        read_it,
    ];
    steps[1]["params"]["expect_exit"] = 0.into();
    write(&place, &steps);
    program::play(&place, &["scenario.json"], 1);
    place.write("flag", "").expect("writable");
    let refused = program::play(&place, &["scenario.json", "--resume", "last"], 1);
    assert_eq!(refused.step(3)["code"], "C-SAFE-01", "{:#}", refused.json);
}

#[test]
fn a_journal_is_repaired_at_its_end_and_refused_in_its_middle() {
    let place = scratch();
    let mut steps = [command(1, "echo one"), command(2, "[ -e flag ]")];
    steps[1]["params"]["expect_exit"] = 0.into();
    write(&place, &steps);
    program::play(&place, &["scenario.json"], 1);
    place.write("flag", "").expect("writable");
    let path = run_dirs(&place)[0].join("journal.jsonl");
    let whole = std::fs::read_to_string(&path).expect("a journal");
    std::fs::write(&path, format!("{whole}garbage\n")).expect("writable");
    let refused = program::play(&place, &["scenario.json", "--resume", "last"], 3);
    let said = format!(
        "journal.jsonl` line {}: not a record",
        whole.lines().count() + 1
    );
    assert!(refused.stderr.contains(&said), "{}", refused.stderr);
    std::fs::write(&path, format!("{whole}{{\"begin\":{{\"st")).expect("writable");
    let resumed = program::play(&place, &["scenario.json", "--resume", "last", "--redo"], 0);
    assert!(
        resumed.stderr.contains("ends in the middle of a line"),
        "{}",
        resumed.stderr
    );
    assert!(
        resumed
            .stderr
            .contains("`--redo` and `--assume-done` have no effect"),
        "{}",
        resumed.stderr
    );
    assert_eq!(resumed.statuses(), ["passed", "passed"]);
    // The run that was resumed says so, and can't be resumed a second time.
    let id = path
        .parent()
        .and_then(|run| run.file_name())
        .expect("an id")
        .to_string_lossy()
        .into_owned();
    let refused = program::play(&place, &["scenario.json", "--resume", &id], 3);
    assert!(
        refused.stderr.contains("was resumed already, by the run"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_run_that_goes_on_is_not_resumed() {
    let place = scratch();
    let mut waiting = command(1, "echo one");
    waiting["wait_after"] = 600.into();
    write(&place, &[waiting, command(2, "echo two")]);
    let running = place.start(&["play", "scenario.json"]).expect("it starts");
    assert!(running.wait_for(|_, stderr| reported(stderr).contains(&1)));
    // From another home, so that the first is not taken for a process that was left behind.
    let other = scratch();
    let path = |name: &str| place.work().join(name).display().to_string();
    let (file, runs) = (path("scenario.json"), path(".cuecard/runs"));
    let args = [&*file, "--run-dir", &runs, "--resume", "last"];
    let refused = program::play(&other, &args, 3);
    assert!(
        refused.stderr.contains("is still going on"),
        "{}",
        refused.stderr
    );
    running.interrupt();
    let stopped = running.finish();
    assert_eq!(
        stopped.code(),
        Some(program::INTERRUPTED),
        "{}",
        told(&stopped)
    );
    assert!(
        stopped
            .stderr
            .contains("resume from step 2: cuecard play scenario.json --resume last"),
        "{}",
        told(&stopped)
    );
    let resumed = program::play(&place, &["scenario.json", "--resume", "last"], 0);
    assert_eq!(resumed.json["restored_steps"], 1, "{:#}", resumed.json);
}

#[test]
fn without_room_for_its_journal_a_run_does_not_begin() {
    let bash = scratch_of_bash();
    let value = "x".repeat(40_000);
    let scenario = json!({
        "version": "2.1",
        "metadata": {"name": "No room"},
        "variables": {"VALUE": value},
        "steps": [{"step": 1, "tool": "claude__write", "params": {"file_path": "effect", "content": "{{VALUE | default(\"\")}}"}}],
    });
    bash.write("scenario.json", scenario.to_string())
        .expect("writable");
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$CUECARD\" play scenario.json";
    let finished = bash.run(&["-c", script]).expect("bash starts");
    assert_eq!(finished.code(), Some(2), "{}", told(&finished));
    assert!(
        finished
            .stderr
            .contains("the run directory can't be written"),
        "{}",
        told(&finished)
    );
    assert!(!bash.work().join("effect").exists());
}

fn scratch_of_bash() -> Scratch {
    let mut bash = Scratch::new(std::path::Path::new("/bin/bash")).expect("a scratch folder");
    bash.set("CUECARD", env!("CARGO_BIN_EXE_cuecard"));
    bash
}
