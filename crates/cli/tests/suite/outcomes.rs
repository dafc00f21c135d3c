//! What is left of runs: whenever one fails, every report on it names what failed, whichever way it failed and whichever report
//! it is; and its directory is kept.

use serde_json::{Value, json};

use crate::program::{self, INTERRUPTED, read, scratch, told};
use cuecard_testing::scratch::Scratch;

/// A way to fail.
struct Way {
    steps: Value,
    options: &'static [&'static str],
    /// What each report says of it.
    words: &'static str,
}

/// Puts a title into the output `title` of `note`.
fn note() -> Value {
    json!({"step": 1, "id": "note", "tool": "mcp__demo__add_note", "params": {"title": "Soon", "text": "x"},
        "output": {"title": "$.title"}})
}

fn ways() -> Vec<Way> {
    let way = |words, steps| Way {
        steps,
        options: &[],
        words,
    };
    let log = json!({"step": 2, "tool": "sandy__log", "params": {"message": "{{note.title}}"}});
    let with = |mut step: Value, key: &str, value: Value| {
        step[key] = value;
        step
    };
    let fails = json!({"step": 1, "tool": "mcp__demo__fail", "params": {"times": 9, "key": "a"}});
    vec![
        way("not ready yet", json!([fails])),
        way(
            "expected 7, got 1",
            json!([with(
                note(),
                "expect",
                json!({"json_path": "$.id", "equals": 7})
            )]),
        ),
        way(
            "matched nothing",
            json!([
                with(note(), "output", json!({"title": "$.nothing"})),
                log.clone()
            ]),
        ),
        way(
            "has no value",
            json!([
                note(),
                with(
                    log.clone(),
                    "params",
                    json!({"message": "{{note.title.first}}"})
                )
            ]),
        ),
        way(
            "be evaluated",
            json!([
                note(),
                with(log.clone(), "condition", json!("{{note.title}} < 3"))
            ]),
        ),
        way(
            "did not answer",
            json!([{"step": 1, "tool": "mcp__demo__slow", "params": {"seconds": 30}, "timeout": 0.2}]),
        ),
        way(
            "wait_after",
            json!([
                note(),
                with(log.clone(), "wait_after", json!("{{note.title}}")),
                with(log, "step", json!(3))
            ]),
        ),
        way(
            "attempt 2 of 9",
            json!([with(
                with(fails, "on_error", json!("retry")),
                "retry",
                json!({"count": 1, "delay": 1})
            )]),
        ),
        way(
            "exit code 3",
            json!([{"step": 1, "tool": "claude__bash", "params": {"command": "exit 3", "expect_exit": 0}}]),
        ),
        Way {
            options: &["--read-only"],
            ..way(
                "--read-only",
                json!([{"step": 1, "tool": "claude__write", "params": {"file_path": "a.txt", "content": "x"}}]),
            )
        },
        Way {
            options: &["--strict"],
            ..way(
                "no step ran",
                json!([{"step": 1, "tool": "sandy__log", "params": {"message": "x"}, "condition": "1 == 2"}]),
            )
        },
    ]
}

fn write(place: &Scratch, file: &str, steps: &Value) {
    let scenario = json!({"version": "2.1", "metadata": {"name": "Ways to fail"}, "steps": steps});
    place
        .write(file, scenario.to_string().as_bytes())
        .expect("writable");
}

/// Each named text has all of the words.
#[track_caller]
fn assert_named(way: &Way, texts: &[(&str, &str, &[&str])]) {
    for (report, text, words) in texts {
        for word in [&[way.words][..], words].concat() {
            assert!(
                text.contains(word),
                "{report} lacks `{word}` for {}\n{text}",
                way.steps
            );
        }
    }
}

#[test]
fn every_report_of_play_names_every_failure() {
    for way in ways() {
        let place = scratch();
        write(&place, "fails.json", &way.steps);
        let mut args = vec!["play", "fails.json", "--report", "junit:report.xml"];
        args.extend(["--report", "html:report.html", "-o", "result.json"]);
        args.extend(way.options);
        let finished = program::run(&place, &args);
        assert_eq!(finished.code(), Some(1), "{}", told(&finished));
        let result: Value = serde_json::from_str(&read(&place, "result.json")).expect("JSON");
        assert_eq!(
            (&result["success"], &result["status"]),
            (&json!(false), &json!("failed"))
        );
        let error = result["error"].as_str().expect("an error");
        assert_named(
            &way,
            &[
                ("the terminal", &finished.stderr, &["error["]),
                ("JSON", error, &[]),
                (
                    "JUnit",
                    &read(&place, "report.xml"),
                    &[r#"failures="1""#, "<failure"],
                ),
                (
                    "HTML",
                    &read(&place, "report.html"),
                    &["Ways to fail failed"],
                ),
            ],
        );
    }
}

/// A run that can't begin is reported too, and overwrites no scenario.
#[test]
fn what_does_not_begin_is_named_in_every_report() {
    let place = scratch();
    let unknown = json!([{"step": 1, "tool": "mcp__nobody__x", "params": {}}]);
    let broken = json!([{"step": 1, "tool": "sandy__log", "params": {"message": "{{later.x}}"}}]);
    write(&place, "unknown.json", &unknown);
    write(&place, "broken.json", &broken);
    place.write("torn.json", "{\"version\":").expect("writable");
    place.write("folder/torn.json", "").expect("writable");
    for (file, exit, words) in [
        ("unknown.json", 2, "nobody"),
        ("broken.json", 3, "later"),
        ("torn.json", 3, "torn.json"),
        ("none.json", 3, "none.json"),
        ("folder", 3, "torn.json"),
    ] {
        let args = [
            "play",
            file,
            "--report",
            "junit:r.xml",
            "--report",
            "html:r.html",
            "-o",
            "r.json",
        ];
        let finished = program::run(&place, &args);
        assert_eq!(finished.code(), Some(exit), "{file}: {}", told(&finished));
        let result: Value = serde_json::from_str(&read(&place, "r.json")).expect("JSON");
        assert_eq!(result["success"], false, "{file}");
        let junit = read(&place, "r.xml");
        assert!(
            junit.contains(r#"errors="1""#) && junit.contains(words),
            "{file}: {junit}"
        );
        let html = read(&place, "r.html");
        assert!(html.contains("0 of 1 passed"), "{file}: {html}");
    }
    let text = read(&place, "broken.json");
    let over = program::run(&place, &["play", "broken.json", "-o", "broken.json"]);
    assert_eq!((over.code(), read(&place, "broken.json")), (Some(3), text));
}

/// Of several files none is played if one has errors; a variable is for the files that know it.
#[test]
fn files_are_played_if_all_are_right() {
    let place = scratch();
    let touch = |file: &str| {
        let command = format!("echo {{{{ID}}}} > {file}");
        json!([{"step": 1, "tool": "claude__bash", "params": {"command": command}}])
    };
    let variables = |file: &str, steps: Value| {
        let scenario = json!({"version": "2.1", "metadata": {"name": "One"}, "variables": {"ID": ""}, "steps": steps});
        place.write(file, scenario.to_string()).expect("writable");
    };
    variables("a.json", touch("ran.txt"));
    let later = json!([{"step": 1, "tool": "sandy__log", "params": {"message": "{{b.o}}"}},
        {"step": 2, "id": "b", "tool": "claude__bash", "params": {"command": "echo x"}, "output": {"o": "$.stdout"}}]);
    write(&place, "b.json", &later);
    let finished = program::run(&place, &["play", "a.json", "b.json", "--var", "ID=5"]);
    assert_eq!(finished.code(), Some(3), "{}", told(&finished));
    assert!(!place.work().join("ran.txt").exists());
    let message = json!({"message": "x"});
    let log = json!([{"step": 1, "tool": "sandy__log", "params": message}]);
    write(&place, "b.json", &log);
    for (option, value, exit) in [
        ("--var", "ID=5", 0),
        ("--var", "OD=5", 3),
        ("--secret", "ID", 3),
    ] {
        let args = [
            "play", "a.json", "b.json", "--strict", "--json", option, value,
        ];
        let finished = program::run(&place, &args);
        assert_eq!(finished.code(), Some(exit), "{value}: {}", told(&finished));
        let result: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        // The other file knows nothing of it, and is right; a name that no file has is a mistake.
        let is_played = value != "OD=5";
        assert_eq!(
            result["files"][1]["success"], is_played,
            "{value}: {result:#}"
        );
    }
}

/// What no value of a reference changes is refused before the run.
/// Writes a scenario whose second step uses the title that the first one, `n`, gave.
fn write_use_of_data(place: &Scratch, tool: &str, params: &Value) {
    let mut note = note();
    note["id"] = json!("n");
    let steps = json!([note, {"step": 2, "tool": tool, "params": params}]);
    write(place, "s.json", &steps);
}

#[test]
fn a_dry_run_sees_what_is_forbidden_for_every_value() {
    let place = scratch();
    for (tool, params, options) in [
        (
            "claude__bash",
            json!({"command": "echo {{n.title}}"}),
            &["--confine"][..],
        ),
        (
            "claude__bash",
            json!({"command": "cat {{n.title}}"}),
            &["--only-commands", "npm"],
        ),
        (
            "claude__write",
            json!({"file_path": "o/{{n.title}}.txt", "content": ""}),
            &["--read-only"],
        ),
        (
            "claude__write",
            json!({"file_path": "/etc/{{n.title}}.txt", "content": ""}),
            &[],
        ),
        (
            "claude__write",
            json!({"file_path": ".github/workflows/{{n.title}}.yml", "content": ""}),
            &[],
        ),
        (
            "claude__web_fetch",
            json!({"url": "http://127.0.0.1:9/{{n.title}}"}),
            &["--only-hosts", "x.example"],
        ),
    ] {
        write_use_of_data(&place, tool, &params);
        let played = [&["play", "s.json"], options].concat();
        let dry = [&played[..], &["--dry-run"]].concat();
        for (args, exit) in [(dry, 3), (played, 1)] {
            let finished = program::run(&place, &args);
            assert_eq!(finished.code(), Some(exit), "{params}: {}", told(&finished));
            assert!(
                finished.stderr.contains("C-SAFE"),
                "{params}: {}",
                told(&finished)
            );
        }
    }
}

/// What the book says of data in a URL or a path before its value is known: nothing, unless no value passes.
#[test]
fn a_dry_run_refuses_nothing_that_some_value_passes() {
    let place = scratch();
    for (tool, params, options) in [
        (
            "claude__web_fetch",
            json!({"url": "http://127.0.0.1:{{n.title}}/x"}),
            &["--allow-host", "127.0.0.1"][..],
        ),
        (
            "claude__web_fetch",
            json!({"url": "http://{{n.title}}/{{n.title}}"}),
            &[
                "--only-hosts",
                "*.example.org",
                "--allow-host",
                "127.0.0.1:80",
            ],
        ),
        (
            "claude__write",
            json!({"file_path": "/etc/{{n.title}}/o.txt", "content": ""}),
            &["--allow-path", "/etc/ssl/certs"],
        ),
        (
            "claude__write",
            json!({"file_path": ".{{n.title}}", "content": ""}),
            &[],
        ),
        (
            "claude__write",
            json!({"file_path": "vite.config.{{n.title}}", "content": ""}),
            &[],
        ),
        (
            "claude__read",
            json!({"file_path": "/etc/{{n.title}}"}),
            &["--allow-path", "/etc/hosts"],
        ),
    ] {
        write_use_of_data(&place, tool, &params);
        let dry = [&["play", "s.json", "--dry-run"], options].concat();
        let finished = program::run(&place, &dry);
        assert_eq!(finished.code(), Some(0), "{params}: {}", told(&finished));
    }
}

#[test]
fn every_report_on_several_files_names_every_failure() {
    for way in ways() {
        let place = scratch();
        write(&place, "fails.json", &way.steps);
        let message = json!({"message": "x"});
        write(
            &place,
            "passes.json",
            &json!([{"step": 1, "tool": "sandy__log", "params": message}]),
        );
        let mut args = vec!["play", "fails.json", "passes.json", "-j", "2", "--json"];
        args.extend([
            "--report",
            "junit:report.xml",
            "--report",
            "html:report.html",
        ]);
        args.extend(way.options);
        let finished = program::run(&place, &args);
        assert_eq!(finished.code(), Some(1), "{}", told(&finished));
        let result: Value = serde_json::from_str(&finished.stdout).expect("one document");
        assert_eq!(result["summary"]["failed"], 1, "{result:#}");
        assert_eq!(result["files"][0]["file"], "fails.json");
        let error = result["files"][0]["error"].as_str().expect("an error");
        let page = read(&place, "report/1-fails.html");
        assert_named(
            &way,
            &[
                ("the terminal", &finished.stderr, &["1 failed (fails.json)"]),
                ("JSON", error, &[]),
                (
                    "JUnit",
                    &read(&place, "report.xml"),
                    &[r#"failures="1""#, "<failure"],
                ),
                (
                    "the index",
                    &read(&place, "report.html"),
                    &["failed", "report/1-fails.html"],
                ),
                ("the page", &page, &["Ways to fail failed"]),
            ],
        );
    }
}

#[test]
fn every_report_of_test_names_every_failure() {
    for way in ways() {
        let place = scratch();
        write(&place, "fails.json", &way.steps);
        let mut args = vec!["test", "fails.json"];
        for report in [
            "junit:j.xml",
            "json:r.json",
            "tap:t.tap",
            "github:g.txt",
            "html:h.html",
        ] {
            args.extend(["--report", report]);
        }
        args.extend(way.options);
        let finished = program::run(&place, &args);
        assert_eq!(finished.code(), Some(1), "{}", told(&finished));
        assert_named(
            &way,
            &[
                ("the terminal", &finished.stdout, &["FAIL", "1 failed"]),
                ("JSON", &read(&place, "r.json"), &[r#""fail""#]),
                (
                    "JUnit",
                    &read(&place, "j.xml"),
                    &[r#"failures="1""#, "<failure"],
                ),
                ("TAP", &read(&place, "t.tap"), &["not ok"]),
                ("GitHub", &read(&place, "g.txt"), &["::error"]),
                ("HTML", &read(&place, "h.html"), &[r#""fail""#]),
            ],
        );
    }
}

#[test]
fn an_interrupted_run_is_an_error_in_every_report() {
    let place = scratch();
    let slow = json!([{"step": 1, "tool": "mcp__demo__slow", "params": {"seconds": 30}}]);
    write(&place, "slow.json", &slow);
    let message = json!({"message": "x"});
    write(
        &place,
        "first.json",
        &json!([{"step": 1, "tool": "sandy__log", "params": message}]),
    );
    let several = &["first.json", "slow.json", "slow.json"];
    for (files, jobs, begun) in [
        (&["slow.json"][..], "1", "1 step"),
        (several, "1", "1 ✓"),
        (several, "2", "1 ✓"),
    ] {
        let mut args = vec!["play"];
        args.extend(files);
        args.extend(["-j", jobs, "-o", "result.json"]);
        args.extend([
            "--report",
            "junit:report.xml",
            "--report",
            "html:report.html",
        ]);
        let running = place.start(&args).expect("it starts");
        assert!(
            running.wait_for(|_, stderr| stderr.contains(begun)),
            "it begins"
        );
        running.interrupt();
        let finished = running.finish();
        program::assert_nothing_left(&finished);
        assert_eq!(finished.code(), Some(INTERRUPTED), "{}", told(&finished));
        let result: Value = serde_json::from_str(&read(&place, "result.json")).expect("JSON");
        assert_eq!(result["status"], "interrupted", "{result:#}");
        assert!(read(&place, "report.xml").contains("<error"));
        let page = read(&place, "report.html");
        assert!(
            page.contains("interrupted") || page.contains("not played"),
            "{page}"
        );
    }
}

#[test]
fn all_runs_of_a_command_are_kept_and_of_earlier_ones_the_newest_of_each_kind() {
    let place = scratch();
    let message = json!({"message": "x"});
    write(
        &place,
        "passes.json",
        &json!([{"step": 1, "tool": "sandy__log", "params": message}]),
    );
    write(&place, "fails.json", &ways()[0].steps);
    let files = ["passes.json"; 30];
    let play = |files: &[&str], exit| {
        let args = [&["play", "-j", "4"], files].concat();
        let finished = program::run(&place, &args);
        assert_eq!(finished.code(), Some(exit), "{}", told(&finished));
        program::run_dirs(&place).len()
    };
    assert_eq!(play(&["fails.json"], 1), 1);
    assert_eq!(play(&files, 0), 31);
    // Of the 30 that passed 20 are left, and the one that failed.
    assert_eq!(play(&["passes.json"], 0), 22);
}

/// Mistakes that people make when they give a secret.
#[test]
fn a_secret_behind_the_wrong_sign_is_shown_nowhere() {
    let place = scratch();
    let steps =
        json!([{"step": 1, "tool": "mcp__demo__echo", "params": {"message": "{{API_TOKEN}}"}}]);
    let scenario = json!({"version": "2.1", "metadata": {"name": "t"}, "variables": {"API_TOKEN": ""}, "steps": steps});
    place
        .write("s.json", scenario.to_string())
        .expect("writable");
    let forms: [&[&str]; 10] = [
        &["API_TOKEN=hunter2secret"],
        &["--secret", "API_TOKEN=hunter2secret"],
        &["--secret", "API_TOKEN:hunter2secret"],
        &["--secret", "API_TOKEN hunter2secret"],
        &["--var", "API_TOKEN:hunter2secret"],
        &["--var", "hunter2secret"],
        &["--var-json", "API_TOKEN=hunter2secret"],
        &["--var-json", "@API_TOKEN=hunter2secret"],
        &["--var-json", "{\"API_TOKEN\":\"hunter2secret\"}"],
        &["--env", "API_TOKEN=hunter2secret"],
    ];
    for given in forms {
        let reports = [
            "--report",
            "junit:r.xml",
            "--report",
            "html:r.html",
            "-o",
            "o.json",
        ];
        let args = [&["play", "s.json"][..], given, &reports].concat();
        let finished = program::run(&place, &args);
        assert_eq!(finished.code(), Some(3), "{}", told(&finished));
        // There are none where the arguments can't be read.
        let files = ["r.xml", "r.html", "o.json"]
            .map(|file| std::fs::read_to_string(place.work().join(file)).unwrap_or_default());
        let all = files.join("\n") + &told(&finished);
        assert!(
            all.contains("API_TOKEN") && !all.contains("hunter2"),
            "{all}"
        );
    }
}
