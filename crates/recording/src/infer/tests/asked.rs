//! What stays as it was recorded is asked about, each value by itself; what says nothing is not.

use serde_json::{Value, json};

use super::{call, of_one, of_two, param, questions, recording};
use crate::Recording;
use crate::infer::infer;

fn command(text: &str, stdout: &str) -> crate::Call {
    crate::Call {
        server: None,
        tool: "claude__bash".to_owned(),
        result: Some(json!({ "stdout": stdout, "exit_code": 0 })),
        ..call("claude__bash", json!({ "command": text }), json!(null))
    }
}

/// The questions that have a word.
fn about<'q>(questions: &[&'q str], word: &str) -> Vec<&'q str> {
    let quoted = questions.iter().copied();
    quoted.filter(|question| question.contains(word)).collect()
}

#[test]
fn what_a_later_prompt_repeats_of_a_text_is_a_copy_or_a_question() {
    for (result, id) in [
        (
            "Created ticket PROJ-812 for ann\nhttps://t.example/PROJ-812",
            "PROJ-812",
        ),
        ("Created ticket 4425", "4425"),
        ("{\"number\": 4425, \"state\": \"open\"}", "4425"),
        ("Created c_255464 (https://t.example/c_255464)", "c_255464"),
    ] {
        for value in [
            json!(id),
            id.parse::<u64>().map_or(json!(id), |number| json!(number)),
        ] {
            let first = command("tk create ticket \"Silver harbour\"", result);
            let recording = Recording {
                prompts: vec![
                    "Create a ticket".to_owned(),
                    format!("Now take ticket {id}"),
                ],
                prompted_at: vec![0, 1],
                calls: vec![
                    first,
                    call("close", json!({ "ticket": value }), json!("ok")),
                ],
                ..Recording::default()
            };
            let inferred = of_one(&recording);
            let ticket = param(&inferred.scenario.steps[1], "ticket");
            let is_copy = ticket.as_str().is_some_and(|text| text.contains("{{bash."));
            let all = questions(&inferred);
            assert!(
                is_copy || !about(&all, id).is_empty(),
                "{result}: {ticket} {all:?}"
            );
        }
    }
}

#[test]
fn a_question_hides_no_other_value_of_its_parameter() {
    let result = json!("Dora Dunn gets 9645 pieces, ref A-77120");
    let text = "9645 pieces for Dora Dunn, see A-77120";
    let calls = vec![
        call("list", json!({}), result),
        call("note", json!({ "text": text }), json!("ok")),
    ];
    let inferred = of_one(&recording("Make a note of it", calls));
    let all = questions(&inferred).join(" ");
    let written = param(&inferred.scenario.steps[1], "text").to_string();
    for value in ["Dora Dunn", "9645", "A-77120"] {
        assert!(
            all.contains(value) || !written.contains(value),
            "{value}: {all} {written}"
        );
    }
    assert!(inferred.questions.len() <= 2, "{all}");
}

#[test]
fn a_word_of_the_prompt_that_a_command_gets_is_a_question() {
    let of = |text: &str| {
        let prompt = "Create an issue in the folder larch.";
        let inferred = of_one(&recording(prompt, vec![command(text, "ok")]));
        questions(&inferred)
            .iter()
            .map(|it| (*it).to_owned())
            .collect::<Vec<String>>()
    };
    for text in [
        "tk create --folder larch",
        "tk create --folder=larch -v",
        "tk create -f 'larch'",
        "tk create issue_7 larch",
        "cd x && tk put larch; ls",
    ] {
        let all = of(text);
        assert!(
            all.len() == 1 && all[0].contains("`larch`"),
            "{text}: {all:?}"
        );
    }
    for text in ["tk create", "issue folder", "tk create x | folder create"] {
        assert_eq!(of(text), [""; 0], "{text}");
    }
}

#[test]
fn a_name_of_two_words_is_found_in_other_spellings() {
    let asks = |result: Value, prompt: &str, argument: &str| {
        let calls = vec![
            call("get", json!({}), result),
            call("write", json!({ "path": argument }), json!("ok")),
        ];
        let inferred = of_one(&recording(prompt, calls));
        !inferred.questions.is_empty()
            || param(&inferred.scenario.steps[1], "path") != &json!(argument)
    };
    assert!(asks(
        json!({"title": "Spring Sale"}),
        "Go",
        "posts/spring-sale.md"
    ));
    assert!(asks(
        json!({"name": "Hugo Dunn"}),
        "Go",
        "users/hugo_dunn.txt"
    ));
    assert!(asks(
        json!("ok"),
        "Write to Hugo Dunn please.",
        "hugo_dunn.txt"
    ));
    assert!(!asks(json!("all is well there"), "Go", "docs/is-well.md"));
    // In the name of a branch, with an id beside it.
    let calls = vec![
        call("get", json!({}), json!({"id": 42, "title": "Login button"})),
        command("git checkout -b fix/issue-42-login-button", "ok"),
    ];
    let inferred = of_one(&recording("Go", calls));
    assert_eq!(
        questions(&inferred),
        [
            "`command` holds `42` (`$.id`), `login-button` (`$.title`), and so does the result of `get`: is it copied from there?"
        ]
    );
}

#[test]
fn digits_in_groups_are_the_same_number() {
    for (before, after) in [
        ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00"),
        ("+4930123456789", "+49 30 123456789"),
        ("12000", "12 000 pieces"),
        ("4929 1234 5678 9012", "4929123456789012"),
    ] {
        let calls = vec![
            call("get", json!({}), json!({ "value": before })),
            call(
                "send",
                json!({ "text": format!("For {after}.") }),
                json!("ok"),
            ),
        ];
        let inferred = of_one(&recording("Go", calls));
        assert_eq!(
            inferred.questions.len(),
            1,
            "{before}: {:?}",
            questions(&inferred)
        );
    }
}

#[test]
fn the_day_of_the_recording_is_a_question() {
    let of = |days: &[&str]| {
        let arguments = json!({"title": "Report of 2026-03-02", "path": "reports/2026-03-02.md"});
        let recording = Recording {
            days: days.iter().map(|day| (*day).to_owned()).collect(),
            ..recording(
                "Write the report",
                vec![call("write", arguments, json!("ok"))],
            )
        };
        let inferred = of_one(&recording);
        questions(&inferred)
            .iter()
            .map(|it| (*it).to_owned())
            .collect::<Vec<String>>()
    };
    assert_eq!(
        of(&["2026-03-02"]),
        [
            "`title` holds `2026-03-02`, the day of the recording: is it a variable? (likewise `path` of step 1)"
        ]
    );
    assert_eq!(of(&["2026-03-05"]), [""; 0]);
}

#[test]
fn a_number_inside_a_date_or_a_phone_number_of_the_prompt_is_no_variable() {
    for prompt in [
        "Create a ticket due 2026-05-20.",
        "Call +49 30 555 20 or write to bob-20@example.org",
        "Meet at 10:20 or 20:15, see v1.20.3",
        "Open https://a.example/20/x",
    ] {
        let calls = vec![call("list", json!({"limit": 20}), json!("ok"))];
        let inferred = of_one(&recording(prompt, calls));
        assert_eq!(
            *param(&inferred.scenario.steps[0], "limit"),
            json!(20),
            "{prompt}"
        );
    }
    let calls = vec![call("list", json!({"limit": 20}), json!("ok"))];
    let inferred = of_one(&recording("List 20 of them, please", calls));
    assert_eq!(
        *param(&inferred.scenario.steps[0], "limit"),
        json!("{{LIMIT}}")
    );
}

#[test]
fn an_address_is_one_question_and_two_recordings_prove_what_is_the_same() {
    let calls = |id: u64| {
        vec![
            (
                "list",
                json!({}),
                json!({"url": "https://git.example/acme/tickets/1", "id": id}),
            ),
            (
                "note",
                json!({"text": format!("See https://git.example/acme/issues and {id} please")}),
                json!("ok"),
            ),
        ]
    };
    let made = |id| {
        calls(id)
            .into_iter()
            .map(|(tool, arguments, result)| call(tool, arguments, result))
    };
    let one = of_one(&recording("Go", made(93731).collect()));
    assert!(
        about(&questions(&one), "git.example").len() <= 1,
        "{:?}",
        questions(&one)
    );
    let two = of_two(&calls(93731), &calls(48213));
    assert_eq!(questions(&two), [""; 0]);
}

#[test]
fn two_recordings_of_a_command_are_compared_word_by_word() {
    let of = |name: &str, mail: &str, number: u32| {
        let text = format!("tk create \"{name}\" \"{mail}\" {number}");
        recording("", vec![command(&text, "ok")])
    };
    let one = of("Red copper door", "carl47@example.org", 1713);
    let other = of("Big green hat", "dora12@example.org", 2468);
    let inferred = infer(&one, Some(&other), "test").expect("a scenario");
    let mut defaults: Vec<String> = inferred
        .scenario
        .variables
        .values()
        .map(|value| cuecard_source::value::as_text(value).into_owned())
        .collect();
    defaults.sort();
    assert_eq!(defaults, ["1713", "Red copper door", "carl47@example.org"]);
}

#[test]
fn digits_of_a_result_may_begin_with_a_zero_in_a_command() {
    let calls = vec![
        command("tk create", "Created issue 98981697"),
        command("tk show 98981697", "ok"),
    ];
    let inferred = of_one(&recording("Go", calls));
    let step = &inferred.scenario.steps[1];
    assert!(!step.params["env"].is_null(), "{:?}", step.params);
}

#[test]
fn a_title_behind_other_words_of_a_quoted_argument_is_one_variable() {
    let of = |title: &str| {
        let text = format!("tk show \"Re: {title}\"");
        recording(
            "",
            vec![
                call("add", json!({"title": title}), json!("ok")),
                command(&text, "ok"),
            ],
        )
    };
    let (one, other) = (of("Wooden lamp river"), of("Copper north window"));
    let inferred = infer(&one, Some(&other), "test").expect("a scenario");
    assert_eq!(
        json!(inferred.scenario.variables),
        json!({"TITLE": "Wooden lamp river"})
    );
}

#[test]
fn of_several_variables_that_are_alike_the_nearest_is_named() {
    let calls = |title: &str, word: &str, path: &str| {
        [
            ("a", json!({"title": title}), json!("ok")),
            ("b", json!({"text": word}), json!("ok")),
            ("c", json!({"path": path}), json!("ok")),
        ]
    };
    let inferred = of_two(
        &calls(
            "Silver apple orange",
            "North basket copper silver",
            "docs/north-basket-copper-silver.md",
        ),
        &calls(
            "Winter pear lemon",
            "South bottle iron winter",
            "docs/south-bottle-iron-winter.md",
        ),
    );
    let all = questions(&inferred);
    let path = about(&all, "`PATH`");
    assert!(path.len() == 1 && path[0].contains("`TEXT`"), "{all:?}");
}

#[test]
fn a_copy_is_one_wherever_two_recordings_have_it() {
    let calls = |id: u64| {
        [
            ("make", json!({}), json!({"number": id})),
            (
                "link",
                json!({"ids": [id], "value": id.to_string()}),
                json!("ok"),
            ),
            (
                "note",
                json!({"body": format!("note {id} has an owner")}),
                json!("ok"),
            ),
        ]
    };
    let inferred = of_two(&calls(41), &calls(57));
    let note = param(&inferred.scenario.steps[2], "body");
    assert!(
        note.as_str().is_some_and(|text| text.contains("{{make.")),
        "{note}"
    );
    assert_eq!(
        inferred.scenario.variables.len(),
        0,
        "{:?}",
        inferred.scenario.variables
    );
}

#[test]
fn what_a_command_gives_to_an_option_for_passwords_is_a_secret() {
    for (text, secret) in [
        ("tk login --password correcthorse", "correcthorse"),
        (
            "tk login --user ann --token correcthorse -v",
            "correcthorse",
        ),
        (
            "tk login --passphrase 'correct horse battery'",
            "correct horse battery",
        ),
    ] {
        let inferred = of_one(&recording("Log in", vec![command(text, "ok")]));
        let written = inferred.scenario.to_text();
        assert!(!written.contains(secret), "{written}");
    }
    for text in [
        "tk login --password-file key.txt",
        "tk login --token \"$TOKEN\"",
        "tk --token -v",
    ] {
        let inferred = of_one(&recording("Log in", vec![command(text, "ok")]));
        assert_eq!(inferred.scenario.variables.len(), 0, "{text}");
    }
}

#[test]
fn what_is_typed_where_a_password_is_asked_for_is_a_secret() {
    let snapshot = "uid=1_1 textbox \"Name\"\nuid=1_2 textbox \"Password\"\nuid=1_3 button \"Go\"";
    let of = |clicked: &str| {
        let calls = vec![
            call("take_snapshot", json!({}), json!(snapshot)),
            call("click", json!({"uid": clicked}), json!("ok")),
            call("type_text", json!({"text": "hunter blue"}), json!("ok")),
            call("press_key", json!({"key": "Enter"}), json!("ok")),
            call("type_text", json!({"text": "some other text"}), json!("ok")),
        ];
        of_one(&recording("Go", calls)).scenario.to_text()
    };
    assert!(!of("1_2").contains("hunter blue"));
    assert!(of("1_2").contains("some other text"));
    assert!(of("1_1").contains("hunter blue"));
}

#[test]
fn much_repeated_text_is_compared_in_little_time() {
    let text = |idx: usize| "line\nüö\n".repeat(300 + idx);
    let calls = (0..20).flat_map(|idx| {
        let path = format!("/w/a{}.txt", idx % 10);
        [
            call(
                "write",
                json!({"path": path, "content": text(idx)}),
                json!("written"),
            ),
            call("read", json!({"path": path}), json!(text(idx))),
        ]
    });
    let began = std::time::Instant::now();
    of_one(&recording("", calls.collect()));
    // It took more than a minute when each run of words was compared with each other one.
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[test]
fn words_that_were_not_compared_are_a_question() {
    let text = |n_words: usize| "word ".repeat(n_words);
    let write = |n_words: usize| call("write", json!({"content": text(n_words)}), json!("ok"));
    let calls = vec![
        call("read", json!({}), json!("ok")),
        write(2_000),
        write(2_001),
    ];
    let inferred = of_one(&recording("", calls));
    assert_eq!(
        questions(&inferred),
        [
            "of a text of more than 2000 words only the first ones were compared with earlier results: does the rest hold any of them?"
        ]
    );
    assert_eq!(inferred.questions[0].step, Some(3));
}
