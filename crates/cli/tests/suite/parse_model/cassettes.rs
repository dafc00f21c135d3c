//! Recorded once, played for ever.

use super::*;

/// The text of a run, and that it signed in.
fn signed_in(finished: &Finished) -> String {
    exited(finished, 0);
    let result = result(finished);
    let told: Vec<(&str, &str)> = result["testSteps"]
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| {
            (
                step["action"].as_str().unwrap_or_default(),
                step["translator"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("input", "model"),
            ("input", "model"),
            ("click", "model"),
            ("assert", "rules")
        ]
    );
    finished.stdout.clone()
}

fn record_and_play(model: &str) {
    let Some(mut lab) = Lab::new(&flow()) else {
        return;
    };
    lab.scenario("{}", &FLOW);
    let live = signed_in(&lab.parse(&["--model", model, "--cassette", "a.jsonl", "--record"]));
    lab.passed();
    let site = lab.site.take().expect("the site runs");
    assert_eq!(site.count("login"), 1);

    // Without a model, but on the page: the replies are found.
    lab.scratch
        .set("OPENAI_BASE_URL", "http://127.0.0.1:1")
        .set("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    let again = signed_in(&lab.parse(&["--model", model, "--cassette", "a.jsonl"]));
    assert_eq!(again, live);
    assert_eq!(site.count("login"), 2);

    lab.is_nowhere(PASSWORD);
    lab.is_nowhere(KEY);

    // Another sentence was never asked.
    let text = std::fs::read_to_string(lab.scratch.work().join("login.yaml")).expect("a file");
    let changed = text.replace("let me in", "let me get in");
    lab.scratch.write("login.yaml", changed).expect("writable");
    let missed = lab.parse(&["--cassette", "a.jsonl"]);
    exited(&missed, 1);
    let result = result(&missed);
    let error = &result["errors"][0];
    assert_eq!(error["code"], "B-cassette_miss", "{error}");
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.contains("the nearest differs\n- sentence: let me in\n+ sentence: let me get in"),
        "{message}"
    );
    assert_eq!(result["status"], "partial");
    assert!(
        missed.stderr.contains("+ sentence: let me get in"),
        "{}",
        missed.stderr
    );
}

#[test]
fn replies_over_chat_completions_are_found_again() {
    record_and_play("openai/some-model");
}

#[test]
fn replies_over_messages_are_found_again() {
    record_and_play("anthropic/some-model");
}

#[test]
fn in_ci_nothing_is_asked_and_nothing_recorded() {
    let Some(mut lab) = Lab::new(&flow()) else {
        return;
    };
    lab.scenario("{}", &FLOW[..1]);
    lab.scratch.set("CI", "1");
    let missing = lab.parse(&["--model", "openai/m", "--cassette", "a.jsonl", "--record"]);
    exited(&missing, 3);
    assert!(
        missing.stderr.contains("`CI` is set") || missing.stderr.contains("no such file"),
        "{}",
        missing.stderr
    );
    assert!(!lab.scratch.work().join("a.jsonl").exists());
    lab.scratch
        .write(
            "a.jsonl",
            "{\"kind\":\"cassette\",\"version\":\"cuecard-cassette/1\"}\n",
        )
        .expect("writable");
    let missed = lab.parse(&["--model", "openai/m", "--cassette", "a.jsonl", "--record"]);
    exited(&missed, 1);
    assert!(missed.stderr.contains("`CI` is set"), "{}", missed.stderr);
    assert_eq!(result(&missed)["errors"][0]["code"], "B-cassette_miss");
    let model = lab.model.take().expect("the model runs");
    assert!(model.exchanges().is_empty());
}

#[test]
fn a_broken_cassette_is_told_line_by_line() {
    let Some(lab) = Lab::new(&flow()) else { return };
    lab.scenario("{}", &FLOW);
    lab.scratch
        .write(
            "a.jsonl",
            "{\"kind\":\"cassette\",\"version\":\"cuecard-cassette/1\"}\n{\"kind\":\"odd\"}\n[]\n",
        )
        .expect("writable");
    let refused = lab.parse(&["--cassette", "a.jsonl"]);
    exited(&refused, 3);
    assert!(
        refused.stderr.contains("a.jsonl:2") && refused.stderr.contains("a.jsonl:3"),
        "{}",
        refused.stderr
    );
}
