//! The examples: each is played with the command of `examples/README.md`, and does what it says it does.

use std::fs;

use cuecard_testing::scratch::Scratch;
use serde_json::{Value, json};

use crate::program::{self, Played, read};

/// All examples; each has a test below.
const EXAMPLES: &[&str] = &[
    "answers",
    "append-file",
    "conditions",
    "default-values",
    "expect",
    "files-and-search",
    "notebook",
    "outputs-and-jsonpath",
    "picture",
    "quickstart",
    "required-variables",
    "retry",
    "shell",
    "skip-errors",
    "timeouts",
    "waits",
];

#[test]
fn every_example_is_listed_here_and_checks_without_a_word() {
    let scratch = with_examples();
    let mut found: Vec<String> = fs::read_dir(scratch.work().join("examples"))
        .expect("the copied examples")
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            Some(name.strip_suffix(".json")?.to_owned())
        })
        .collect();
    found.sort();
    assert_eq!(found, EXAMPLES);

    let files: Vec<String> = EXAMPLES
        .iter()
        .map(|name| format!("examples/{name}.json"))
        .collect();
    let mut args = vec!["check", "--json", "--strict"];
    args.extend(files.iter().map(String::as_str));
    let checked = program::run(&scratch, &args);
    assert_eq!(checked.code(), Some(0), "{}", program::told(&checked));
    let checked: Value = serde_json::from_str(&checked.stdout).expect("one JSON document");
    let checked = checked["files"].as_array().expect("an entry for each file");
    assert_eq!(checked.len(), EXAMPLES.len());
    for (entry, file) in checked.iter().zip(&files) {
        assert_eq!(entry["file"], json!(file));
        assert_eq!(entry["valid"], true, "{entry:#}");
        assert_eq!(entry["diagnostics"], json!([]), "{entry:#}");
    }
}

/// Its page and its server are not started here: `replay_browser` plays such steps.
#[test]
fn the_browser_script_is_right_and_shown_on_its_quick_start() {
    let scratch = program::scratch();
    program::run(&scratch, &["examples"]);
    let checked = program::run(
        &scratch,
        &["check", "--strict", "examples/browser/notes.yaml"],
    );
    assert_eq!(checked.code(), Some(0), "{}", program::told(&checked));
    let quick_start = cuecard_testing::repository_root().join("docs/start-browser.md");
    let quick_start = fs::read_to_string(quick_start).expect("a page of the book");
    for file in ["notes.html", "notes.yaml"] {
        let text = read(&scratch, &format!("examples/browser/{file}"));
        let shown: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(quick_start.contains(&shown.join("\n")), "{file}: {text}");
    }
}

#[test]
fn the_schema_knows_every_key_that_the_examples_use() {
    let scratch = with_examples();
    let printed = program::run(&scratch, &["schema", "tool-call"]);
    assert_eq!(printed.code(), Some(0), "{}", program::told(&printed));
    let schema: Value = serde_json::from_str(&printed.stdout).expect("the schema is JSON");
    for key in ["version", "metadata", "steps"] {
        assert!(
            schema["required"]
                .as_array()
                .is_some_and(|required| required.contains(&key.into())),
            "`{key}` is not required in {schema:#}"
        );
    }
    let step = &schema["$defs"]["Step"]["properties"];
    for name in EXAMPLES {
        let example: Value =
            serde_json::from_str(&read(&scratch, &format!("examples/{name}.json"))).expect("JSON");
        for key in example.as_object().expect("an object").keys() {
            let known = &schema["properties"][key];
            assert!(known.is_object(), "{name}: `{key}` is not in the schema");
        }
        for key in example["steps"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|step| step.as_object().expect("an object").keys())
        {
            assert!(
                step[key].is_object(),
                "{name}: `{key}` of a step is not in the schema"
            );
        }
    }
}

#[test]
fn append_file_collects_the_records_in_three_formats() {
    let scratch = with_examples();
    // Twice, since examples may be played as often as one likes.
    for _ in 0..2 {
        play(&scratch, "append-file");
        assert_eq!(
            read(&scratch, "out/prices.jsonl"),
            "{\"name\":\"Café, ground\",\"price\":7.5}\n{\"name\":\"Tea \\\"Assam\\\"\",\"price\":4}\n"
        );
        assert_eq!(
            read(&scratch, "out/prices.csv"),
            "name,price,organic\n\"Café, ground\",7.5,\n\"Tea \"\"Assam\"\"\",4,\nCocoa,12,true\n"
        );
        let list: Value =
            serde_json::from_str(&read(&scratch, "out/prices.json")).expect("valid JSON");
        assert_eq!(
            list,
            json!([{"name": "Café, ground", "price": 7.5}, {"name": "Tea \"Assam\"", "price": 4}])
        );
    }
}

#[test]
fn conditions_decide_which_steps_run() {
    let scratch = with_examples();
    let played = play(&scratch, "conditions");
    assert_eq!(
        played.statuses(),
        [
            "passed", "passed", "skipped", "passed", "skipped", "passed", "passed", "passed"
        ]
    );
    assert_eq!(played.json["passed_steps"], 6);
    assert_eq!(
        played.json["completed_steps"],
        json!([1, 2, 3, 4, 5, 6, 7, 8])
    );

    let free = program::play(
        &scratch,
        &["examples/conditions.json", "--var", "PLAN=free"],
        0,
    );
    assert_eq!(
        free.statuses()[2..4],
        ["passed", "skipped"],
        "{:#}",
        free.json
    );
}

#[test]
fn answers_are_given_to_the_questions_they_are_for() {
    let scratch = with_examples();
    let played = play(&scratch, "answers");
    assert_eq!(played.statuses(), ["passed"; 3]);
    assert!(!played.stderr.contains("C-ANSWER"), "{}", played.stderr);
    let answers: Vec<Value> = program::trace_lines(&program::only_trace(&scratch))
        .into_iter()
        .filter(|line| line["type"] == "request_answered")
        .map(|line| line["data"]["answer"].clone())
        .collect();
    let places = [0, 1, 2].map(|n| json!(format!("/answers/elicitation/{n}")));
    assert_eq!(answers, places);
}

#[test]
fn default_values_stand_in_for_what_is_absent() {
    let scratch = with_examples();
    let played = play(&scratch, "default-values");
    assert_eq!(played.output("greeting", "text"), &json!("Hello, stranger"));
    assert_eq!(played.step(2)["params"], json!({"by": 5}));
    assert_eq!(played.step(3)["status"], "skipped");
    assert_eq!(
        played.step(4)["params"]["message"],
        "Hello, stranger, called nothing else"
    );

    let ada = program::play(
        &scratch,
        &["examples/default-values.json", "--var", "NAME=Ada"],
        0,
    );
    assert_eq!(ada.step(4)["params"]["message"], "Hello, Ada, called adA");
}

#[test]
fn expect_checks_every_result_and_can_fail() {
    let scratch = with_examples();
    let played = play(&scratch, "expect");
    assert_eq!(played.statuses(), ["passed"; 6]);
    let asserted = program::trace_lines(&program::only_trace(&scratch))
        .iter()
        .filter(|line| line["type"] == "assertion")
        .map(|line| line["data"]["status"].clone())
        .collect::<Vec<Value>>();
    assert_eq!(asserted, vec![json!("pass"); 8]);

    let unmet = program::play(
        &scratch,
        &["examples/expect.json", "--var-json", "TOTAL=4"],
        1,
    );
    assert_eq!(unmet.json["failed_step"], 1);
    assert_eq!(unmet.step(1)["code"], "C-EXPECT-02");
    let message = unmet.json["error"].as_str().unwrap_or_default();
    assert!(message.contains("expected 4, got 3"), "{message}");
}

#[test]
fn files_and_search_writes_edits_and_finds() {
    let scratch = with_examples();
    let played = play(&scratch, "files-and-search");
    assert_eq!(
        read(&scratch, "out/library/tea.md"),
        "# Tea\n\nWater at 80 degrees.\nTwo minutes.\n"
    );
    assert_eq!(
        read(&scratch, "out/library/hot/coffee.md"),
        "# Coffee\n\nWater at 93 degrees.\nFour minutes.\n"
    );
    assert_eq!(played.output("pages", "count"), &json!(2));
    assert_eq!(
        played.output("hot", "lines"),
        &json!(["Water at 93 degrees.", "Water at 80 degrees."])
    );
}

#[test]
fn notebook_ends_with_one_valid_code_cell() {
    let scratch = with_examples();
    let played = play(&scratch, "notebook");
    let notebook: Value =
        serde_json::from_str(&read(&scratch, "out/analysis.ipynb")).expect("valid JSON");
    assert_eq!(notebook["nbformat"], 4);
    assert_eq!(
        notebook["cells"],
        json!([{
            "cell_type": "code",
            "execution_count": null,
            "id": played.output("code", "cell"),
            "metadata": {},
            "outputs": [],
            "source": ["total = sum(range(10))\n", "total"],
        }])
    );
}

#[test]
fn outputs_and_jsonpath_gives_values_and_lists() {
    let scratch = with_examples();
    let played = play(&scratch, "outputs-and-jsonpath");
    assert_eq!(played.output("list", "count"), &json!(3));
    assert_eq!(played.output("list", "first"), &json!("Milk"));
    assert_eq!(played.output("list", "last"), &json!("Bread"));
    assert_eq!(
        played.output("list", "titles"),
        &json!(["Milk", "Ada", "Bread"])
    );
    assert_eq!(played.output("list", "today"), &json!(["Ada", "Bread"]));
    assert_eq!(played.step(5)["params"]["value"]["number"], 3);
    assert_eq!(
        played.step(7)["params"]["message"],
        "The note about butter: there is none"
    );
}

#[test]
fn picture_becomes_a_png_file_of_the_run() {
    let scratch = with_examples();
    let played = play(&scratch, "picture");
    let run = scratch
        .work()
        .join(played.json["run_dir"].as_str().expect("a run directory"));
    let files: Vec<_> = fs::read_dir(run.join("files"))
        .expect("a folder of files")
        .map(|entry| entry.expect("readable").path())
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let image = fs::read(&files[0]).expect("readable");
    assert_eq!(image[..8], *b"\x89PNG\r\n\x1a\n");
    // Width and height stand in the header, most significant byte first.
    assert_eq!(image[16..24], [0, 0, 0, 64, 0, 0, 0, 64]);
    assert_eq!(played.output("field", "bytes"), &json!(image.len()));
}

#[test]
fn quickstart_writes_its_report() {
    let scratch = with_examples();
    let played = play(&scratch, "quickstart");
    assert_eq!(
        read(&scratch, "out/quickstart.txt"),
        "Hello, Ada!\n\nNote 1 is \"Welcome, Ada\" (#welcome-ada).\nNotes in all: 1 [\"Welcome, Ada\"]\nThe service was ready after 3 attempts.\n"
    );
    assert_eq!(played.step(3)["retries"], 2);
    assert_eq!(played.step(4)["status"], "skipped");

    // What its last step proposes.
    let said = played.step(7)["params"]["message"]
        .as_str()
        .expect("a message")
        .to_owned();
    let (_, options) = said.split_once("Next: ").expect("a proposal");
    let mut args = vec!["examples/quickstart.json"];
    args.extend(options.split(' '));
    let german = program::play(&scratch, &args, 0);
    assert_eq!(german.step(4)["status"], "passed");
    assert_eq!(
        german.output("all", "titles"),
        &json!(["Welcome, Grace", "Willkommen, Grace"])
    );
}

#[test]
fn required_variables_must_be_given() {
    let scratch = with_examples();
    let refused = program::run(&scratch, &["play", "examples/required-variables.json"]);
    assert_eq!(refused.code(), Some(3), "{}", program::told(&refused));
    assert!(refused.stderr.contains("C-VAR-01"), "{}", refused.stderr);
    assert!(refused.stderr.contains("`NAME`"), "{}", refused.stderr);
    assert_eq!(program::run_dirs(&scratch).len(), 0, "nothing was played");

    let played = play(&scratch, "required-variables");
    assert_eq!(
        played.output("greeting", "text"),
        &json!("Hello Ada, how is Paris?")
    );
    assert_eq!(played.step(1)["description"], "Greet Ada");
    assert_eq!(played.step(2)["params"]["by"], 2);
}

#[test]
fn retry_tries_as_often_as_it_says() {
    let scratch = with_examples();
    let played = play(&scratch, "retry");
    let retries: Vec<&Value> = (1..=5).map(|step| &played.step(step)["retries"]).collect();
    assert_eq!(retries, [2, 3, 2, 1, 0]);
    assert_eq!(played.output("build", "attempts"), &json!(3));
    assert_eq!(played.step(4)["status"], "tolerated");
    assert_eq!(played.json["success"], true);
}

#[test]
fn shell_passes_data_and_ends_a_slow_command() {
    let scratch = with_examples();
    let played = play(&scratch, "shell");
    // Step 2 expects the nasty text back as it was sent.
    assert_eq!(played.statuses(), ["passed"; 5]);
    assert_eq!(played.output("check", "code"), &json!(3));
    assert!(
        played.stderr.contains("The check said: two warnings"),
        "{}",
        played.stderr
    );
}

#[test]
fn skip_errors_goes_on_and_passes() {
    let scratch = with_examples();
    let played = play(&scratch, "skip-errors");
    assert_eq!(
        played.statuses(),
        ["tolerated", "tolerated", "passed", "passed"]
    );
    assert_eq!(played.output("new", "title"), &json!("Untitled"));
    assert_eq!(played.json["passed_steps"], 2);
    assert_eq!(played.json["completed_steps"], json!([1, 2, 3, 4]));
}

#[test]
fn timeouts_end_a_call_and_leave_the_server_usable() {
    let scratch = with_examples();
    let played = play(&scratch, "timeouts");
    assert_eq!(played.statuses(), ["passed", "tolerated", "passed"]);
    assert_eq!(played.step(2)["code"], "C-RUN-03");
}

#[test]
fn waits_say_what_was_asked_for() {
    let scratch = with_examples();
    // The README's command has `--speed 0`: what is reported is the time asked for, not the time it took.
    let played = play(&scratch, "waits");
    assert_eq!(played.output("pause", "seconds"), &json!(0.1));
    assert!(
        played.stderr.contains("Waited 0.1 seconds"),
        "{}",
        played.stderr
    );
}

/// A place with a copy of the examples, since they write beside themselves.
fn with_examples() -> Scratch {
    let scratch = program::scratch();
    let examples = cuecard_testing::repository_root().join("examples");
    for entry in fs::read_dir(examples).expect("the examples") {
        let path = entry.expect("readable").path();
        // Whoever tried them out has `out/` there.
        if path.is_file() {
            let name = path.file_name().expect("a name");
            let content = fs::read(&path).expect("readable");
            scratch
                .write(std::path::Path::new("examples").join(name), content)
                .expect("writable");
        }
    }
    scratch
}

/// Plays an example with the command that the README gives; it must pass.
#[track_caller]
fn play(scratch: &Scratch, name: &str) -> Played {
    let readme = read(scratch, "examples/README.md");
    let file = format!("examples/{name}.json");
    let command = readme
        .lines()
        .filter_map(|line| {
            let (_, command) = line.rsplit_once("`cuecard play ")?;
            command.split_once('`').map(|(command, _)| command)
        })
        .find(|command| command.split(' ').next() == Some(file.as_str()))
        .unwrap_or_else(|| panic!("examples/README.md has no command for {file}"));
    let played = program::play(scratch, &command.split(' ').collect::<Vec<&str>>(), 0);
    assert_eq!(played.json["success"], true);
    assert!(
        !played.stderr.contains("warning:") && !played.stderr.contains("warning["),
        "an example is free of warnings\n{}",
        played.stderr
    );
    played
}
