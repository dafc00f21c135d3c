//! What is copied from an earlier result of one recording.

use cuecard_source::SourceFile;
use cuecard_source::value::as_text;
use serde_json::{Value, json};
use std::time::Duration;

use super::{call, findings, of_one, of_two, param, questions, recording};
use crate::Call;
use crate::cassette::Cassette;
use crate::infer::{Inferred, infer};

#[test]
fn a_copied_id_is_an_output_and_a_title_of_the_prompt_a_variable() {
    let recording = recording(
        "Create an issue \"Buy milk\" and label it",
        vec![
            call(
                "create_issue",
                json!({"title": "Buy milk"}),
                json!({"number": 42, "state": "open", "node": "I_kwDO17x"}),
            ),
            call(
                "add_label",
                json!({"issue_number": 42, "node": "I_kwDO17x", "label": "bug", "count": 1, "text": "About \"Buy milk\" (I_kwDO17x)"}),
                json!({"ok": true}),
            ),
        ],
    );
    let inferred = of_one(&recording);
    assert_eq!(findings(&inferred), Vec::<String>::new());
    let steps = &inferred.scenario.steps;
    assert_eq!(
        Value::Object(inferred.scenario.variables.clone()),
        json!({"TITLE": "Buy milk"})
    );
    assert_eq!(param(&steps[0], "title"), "{{TITLE}}");
    assert_eq!(
        json!(steps[0].output),
        json!({"number": "$.number", "node": "$.node"})
    );
    assert_eq!(
        json!(steps[1].params),
        json!({
            "issue_number": "{{create_issue.number}}", "node": "{{create_issue.node}}", "label": "bug", "count": 1,
            "text": "About \"{{TITLE}}\" ({{create_issue.node}})",
        })
    );
    assert_eq!(
        json!(steps[0].expect),
        json!([
            {"json_path": "$.number", "json_schema": {"type": "integer"}},
            {"json_path": "$.node", "json_schema": {"type": "string", "minLength": 1}},
        ])
    );
    assert_eq!(questions(&inferred), Vec::<&str>::new());
    let proposals: Vec<&str> = inferred
        .proposals
        .iter()
        .map(|note| note.text.as_str())
        .collect();
    assert_eq!(
        proposals,
        [
            r#"{"json_path":"$.state","equals":"open"}"#,
            r#"{"json_path":"$.ok","equals":true}"#
        ]
    );
}

/// What the agent gave itself is no copy of a result that repeats it.
#[test]
fn an_object_of_an_earlier_call_is_not_copied_from_its_result() {
    let relation = |from: &str| json!({"from": from, "to": "Cy"});
    let both = json!([relation("Ann"), relation("Bob")]);
    let recording = recording(
        "Go",
        vec![
            call("create", json!({ "relations": both }), both.clone()),
            call(
                "delete",
                json!({"relations": [relation("Bob")], "all": both}),
                json!({}),
            ),
        ],
    );
    for second in [None, Some(&recording)] {
        let inferred = infer(&recording, second, "test").expect("a scenario");
        assert_eq!(
            json!(inferred.scenario.steps[1].params),
            json!({"relations": [relation("Bob")], "all": both})
        );
        assert_eq!(questions(&inferred), [""; 0]);
    }
}

#[test]
fn values_in_prose_are_found_by_the_words_before_them() {
    let recording = recording(
        "Go",
        vec![
            call(
                "add",
                json!({"text": "x"}),
                json!("Done.\nCreated ticket ENG-142 in 3 s."),
            ),
            call("close", json!({"ticket": "ENG-142"}), json!("ok")),
        ],
    );
    let inferred = of_one(&recording);
    assert_eq!(findings(&inferred), Vec::<String>::new());
    assert_eq!(
        json!(inferred.scenario.steps[0].output),
        json!({"ticket": {"regex": r"(?m)^\bCreated ticket (\S*[^\s.,;:!?])"}})
    );
    assert_eq!(
        param(&inferred.scenario.steps[1], "ticket"),
        "{{add.ticket}}"
    );
}

#[test]
fn braces_of_recorded_texts_stay_texts() {
    let recording = recording(
        "Go",
        vec![call(
            "render",
            json!({"template": "Hi {{name}}", "{{k}}": 1}),
            json!({"{{x}}": "abc-123456"}),
        )],
    );
    assert_eq!(findings(&of_one(&recording)), Vec::<String>::new());
}

#[test]
fn amounts_and_parts_of_longer_texts_are_copies_or_questions() {
    let order = json!({
        "id": "ORD-8928CA", "total": 4.52, "zip": "67140", "due": "2026-05-23", "at": "2026-05-24T10:30:00Z",
        "time": "10:30", "version": "2.4.1", "name": "Ann Lee", "first": "Ann", "sha": "f5bed10aa11223344",
    });
    let made = |second: Value| {
        let calls = vec![
            call("order", json!({}), order.clone()),
            call(
                "ship",
                json!({"o": "x", "at": "2026-05-25T08:00:00Z"}),
                json!("Order ORD-8928CA ships now, at 2026-05-25T08:00:00Z"),
            ),
            call("use", second, json!("ok")),
        ];
        let inferred = of_one(&recording("Go", calls));
        let step = &inferred.scenario.steps[2];
        (json!(step.params), inferred.questions.len())
    };
    for (given, expected, n_asked) in [
        (json!({"amount": 4.52}), json!({"amount": 4.52}), 1),
        (
            json!({"total": 4.52}),
            json!({"total": "{{order.total}}"}),
            0,
        ),
        (
            json!({"t": "It is 4.52 EUR"}),
            json!({"t": "It is 4.52 EUR"}),
            1,
        ),
        (
            json!({"t": "Order ORD-8928CA"}),
            json!({"t": "Order {{order.id}}"}),
            0,
        ),
        (
            json!({"t": "at 67140 Bonn"}),
            json!({"t": "at 67140 Bonn"}),
            1,
        ),
        (json!({"t": 0.5}), json!({"t": 0.5}), 0),
    ] {
        assert_eq!(made(given.clone()), (expected, n_asked), "{given}");
    }
    for (text, n_asked) in [
        ("It is due on 2026-05-23.", 1),
        ("It came on 2026-05-24 then", 1),
        ("Meet at 10:30.", 1),
        ("Released 2.4.1 now", 1),
        ("v2.4.1", 1),
        ("Dear Ann Lee", 1),
        ("Dear Ann,", 1),
        ("Ann", 1),
        ("Built f5bed10", 1),
        ("f5bed10aa", 1),
        ("It was due on 2026-05-21", 0),
        ("anno 2.4", 0),
        ("It ships on 2026-05-25", 0),
    ] {
        let given = json!({ "text": text });
        assert_eq!(made(given.clone()), (given, n_asked), "{text}");
    }
}

/// Marks and words stand in titles too: the value is the last thing of its line, behind whatever title.
#[test]
fn words_and_marks_find_the_last_value_of_its_line() {
    for (before, after) in [
        (" (", ")"),
        (" saved: #", ""),
        (" | ", ""),
        (" <", ">"),
        (" as ", ""),
        (" with id ", "."),
        (" created. ID: ", ""),
        (" (id: ", ")"),
        (" saved\nKey: ", ""),
        (": ", ""),
        ("](https://x.ex/n/", ")"),
        (" as ", " (3 notes)"),
        ("\" as ", " (3 notes)"),
        (" as ", " in Home"),
        (" with id ", " in project Home"),
        ("\". ID: ", ". Status: open"),
        (" - https://x.ex/i/", " (open)"),
        (" (id ", ") was saved."),
        (" under key ", " for you"),
        (" to channel ", " at 10:30"),
        ("</b> <a href=\"/n/", "\">"),
        (". Reference: ", ". Thank you!"),
        ("\n- ID: ", ""),
        ("\n\nSaved as ", "\n"),
    ] {
        let text = |title: &str, id: &str| format!("Note {title}{before}{id}{after}");
        let one = recording(
            "",
            vec![
                call(
                    "add",
                    json!({"title": "Tea"}),
                    json!(text("Tea", "n-10001")),
                ),
                call("delete", json!({"id": "n-10001"}), json!("ok")),
            ],
        );
        let inferred = of_one(&one);
        assert_eq!(
            param(&inferred.scenario.steps[1], "id"),
            "{{add.id}}",
            "{before}"
        );
        let regex = inferred.scenario.steps[0].output["id"]["regex"].as_str();
        let regex = regex::Regex::new(regex.expect("a pattern")).expect("a pattern");
        for title in [
            "Tea",
            "Call Bob (mobile)",
            "Fix bug #1212",
            "A | B",
            "a <b> c",
            "Dress as clown",
            "Print with id cards",
            "Check ID: 7",
            "Ask (id: who)",
            "Key: 7",
            "Use as n-10001",
            "Saved as draft",
            "Ask ID: 4",
        ] {
            let other = text(title, "n-20002");
            let found = regex.captures(&other).map(|found| found[1].to_owned());
            assert_eq!(found.as_deref(), Some("n-20002"), "{regex} {other}");
        }
    }
}

#[test]
fn a_part_of_an_amount_is_no_copy_and_words_around_a_copy_are_whole_words() {
    let one = recording(
        "",
        vec![
            call(
                "read",
                json!({}),
                json!("Dear Ann, the invoice number is INV-2026-0042 and total 1,234.50 EUR."),
            ),
            call(
                "pay",
                json!({"invoice": "INV-2026-0042", "total": "1,234.50"}),
                json!("ok"),
            ),
        ],
    );
    let alone = of_one(&one);
    assert_eq!(
        json!(alone.scenario.steps[1].params),
        json!({"invoice": "{{read.invoice}}", "total": "{{read.total}}"})
    );
    let found = |text: &str, name: &str| {
        let regex = alone.scenario.steps[0].output[name]["regex"]
            .as_str()
            .expect("a pattern")
            .to_owned();
        let regex = regex::Regex::new(&regex).expect("a regular expression");
        regex.captures(text).map(|found| found[1].to_owned())
    };
    let text = "Dear Denis Moss, the invoice number is INV/2026/0099 and total 7,345.00 EUR.";
    assert_eq!(found(text, "invoice").as_deref(), Some("INV/2026/0099"));
    assert_eq!(found(text, "total").as_deref(), Some("7,345.00"));
}

#[test]
fn a_text_of_which_a_part_could_be_copied_is_a_question_as_a_whole() {
    for (result, value) in [
        ("Call +43 660 1234567 now", "+43 660 1234567"),
        (
            "Please pay to AT61 1904 3002 3457 3201 soon",
            "AT61 1904 3002 3457 3201",
        ),
        (
            "See https://ex.org/i/12345?x=1 for it",
            "https://ex.org/i/12345?x=1",
        ),
    ] {
        let one = recording(
            "",
            vec![
                call("get", json!({}), json!(result)),
                call("use", json!({"p": value}), json!("ok")),
            ],
        );
        let alone = of_one(&one);
        assert_eq!(*param(&alone.scenario.steps[1], "p"), json!(value));
        assert_eq!(
            questions(&alone),
            [format!(
                "`p` holds `{value}`, and so does the result of `get`: is it copied from there?"
            )]
        );
    }
}

#[test]
fn a_copy_under_another_name_is_a_question() {
    let asked = |value: &Value, parameter: Value| {
        let calls = vec![
            call("get", json!({}), json!({"f": value, "g": "zzz"})),
            call("use", json!({ "p": parameter }), json!("ok")),
        ];
        of_one(&recording("", calls)).questions
    };
    for value in [
        json!("2026-03-04"),
        json!("Ann Lee"),
        json!("48211"),
        json!("14:30"),
        json!(71720),
        json!("HGCEBE"),
    ] {
        let shown = as_text(&value);
        let whole = format!("`p` is `{shown}`, as `$.f` of `get` was: is it copied from there?");
        assert_eq!(asked(&value, value.clone())[0].text, whole);
        assert_eq!(asked(&value, json!([value]))[0].text, whole);
    }
    let inside =
        "`p` holds `HGCEBE` (`$.f`), and so does the result of `get`: is it copied from there?";
    let found = asked(&json!("HGCEBE"), json!("Held (HGCEBE)"));
    assert_eq!(found[0].text, inside);
    // They stand everywhere.
    for value in [json!(10_000), json!(150_000), json!("EUR"), json!("OPEN")] {
        assert_eq!(asked(&value, value.clone()), []);
    }
}

/// The beginning of an id in a command.
#[test]
fn a_short_id_of_a_container_is_a_question() {
    let id = "4f6c1d2e3b4a5968778695a4b3c2d1e04f6c1d2e3b4a5968778695a4b3c2d1e0";
    let shell = |command: &str, stdout: String| Call {
        server: None,
        result: Some(json!({"stdout": stdout, "stderr": "", "exit_code": 0})),
        ..call("claude__bash", json!({ "command": command }), json!(null))
    };
    let one = of_one(&recording(
        "Run the db",
        vec![
            shell("docker run -d postgres", format!("{id}\n")),
            shell("docker rm -f 4f6c1d2e3b4a", String::new()),
        ],
    ));
    assert_eq!(
        questions(&one),
        [
            "`command` holds `4f6c1d2e3b4a` (`$.stdout`), and so does the result of `bash`: is it copied from there?"
        ]
    );
}

#[test]
fn items_of_a_list_one_by_one_are_questions() {
    let day = |label: &str, count: usize| {
        let ids: Vec<String> = (1..=count)
            .map(|idx| format!("{label}-{idx}1111"))
            .collect();
        let items: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
        let mut calls = vec![("list", json!({ "label": label }), json!({ "items": items }))];
        calls.extend(
            ids.iter()
                .map(|id| ("close", json!({ "id": id }), json!("ok"))),
        );
        calls
    };
    let asked =
        "`id` was copied from item 2 of 2 in the result of `list`: will it stand there again?";
    for count in [2, 3] {
        let both = of_two(&day("bug", 2), &day("doc", count));
        assert_eq!(questions(&both), [asked]);
    }
    assert_eq!(questions(&of_two(&day("bug", 1), &day("doc", 1))), [""; 0]);
}

#[test]
fn parts_and_lists_of_results_are_questions() {
    for (result, arguments, expected) in [
        (
            json!({"due": "2026-03-04T00:00:00Z"}),
            json!({"on": "2026-03-04"}),
            "`on` holds `2026-03-04` (`$.due`), and so does the result of `get`: is it copied from there?",
        ),
        (
            json!("a1b2c3d4e5\nf6e5d4c3b2"),
            json!({"text": "see f6e5d4c3b2 there"}),
            "`text` holds `f6e5d4c3b2`, and so does the result of `get`: is it copied from there?",
        ),
        (
            json!("docs/report-2026.md\ndocs/notes.md"),
            json!({"path": "docs/report-2026.md"}),
            "`path` was copied from the first of 2 lines in the result of `get`: will it stand there again?",
        ),
    ] {
        let recording = recording(
            "Do it",
            vec![
                call("get", json!({}), result),
                call("use", arguments, json!("ok")),
            ],
        );
        let inferred = of_one(&recording);
        let asked = questions(&inferred);
        assert!(asked.contains(&expected), "{expected}: {asked:#?}");
    }
    // The folder that a path is in.
    let made = vec![
        call("make", json!({}), json!("/tmp/tmp.AbCdEf1234")),
        call(
            "put",
            json!({"path": "/tmp/tmp.AbCdEf1234/x.txt"}),
            json!("ok"),
        ),
    ];
    let inferred = of_one(&recording("Do it", made));
    let path = param(&inferred.scenario.steps[1], "path");
    assert_eq!(path, "{{make.path}}/x.txt");
}

#[test]
fn parallel_calls_are_steps_in_the_order_in_which_they_began() {
    let at = |k: u32, started: u64, ended: u64| Call {
        started: Some(std::time::Duration::from_millis(started)),
        duration: Some(std::time::Duration::from_millis(ended - started)),
        ..call("w", json!({ "k": k }), json!(k))
    };
    let calls = vec![at(2, 1, 100), at(3, 2, 300), at(1, 0, 600), at(4, 700, 800)];
    // A recording has its lines as the calls ended.
    let lines = recording("", calls).to_cassette().concat();
    let text = format!("{{\"cassette\": 1, \"server\": \"demo\"}}\n{lines}");
    let (cassette, found) = Cassette::read(&SourceFile::new("a.cassette.jsonl", text));
    let cassette = cassette.unwrap_or_else(|| panic!("{found:?}"));
    let inferred = of_one(&cassette.recording());
    let order: Vec<&Value> = inferred
        .scenario
        .steps
        .iter()
        .map(|step| param(step, "k"))
        .collect();
    assert_eq!(order, [1, 2, 3, 4]);
}

#[test]
fn a_number_or_an_id_is_found_in_texts_too() {
    let task = |count: u32, id: &str, is_open: bool| {
        let url = format!("https://x.example/n/{id}/edit");
        [
            (
                "send",
                json!({"text": format!("{count} pieces")}),
                json!("ok"),
            ),
            (
                "add",
                json!({"count": count, "day": "2026-03-05"}),
                json!({"id": id, "open": is_open}),
            ),
            ("open", json!({"url": url, "flag": is_open}), json!("ok")),
        ]
    };
    let both = of_two(
        &task(5, "0b54f0c2-1111-4222-8333-444455556666", true),
        &task(7, "9c54f0c2-aaaa-4bbb-8ccc-444455557777", false),
    );
    let steps = &both.scenario.steps;
    assert_eq!(*param(&steps[0], "text"), json!("{{COUNT}} pieces"));
    assert_eq!(*param(&steps[1], "count"), json!("{{COUNT}}"));
    assert_eq!(*param(&steps[1], "day"), json!("2026-03-05"));
    assert_eq!(
        *param(&steps[2], "url"),
        json!("https://x.example/n/{{add.id}}/edit")
    );
    assert_eq!(both.scenario.variables["COUNT"], 5);
    // Two values of a boolean prove nothing, so it is asked for.
    assert_eq!(questions(&both).len(), 1, "{:?}", both.questions);
}

/// Where the user's words end in another line, the first value behind them is meant, as in a list of hits.
#[test]
fn the_first_of_several_hits_is_taken() {
    let text = "Found 1 note for \"milk\":\n\nID: n-10001\nTitle: Buy milk\n";
    let calls = vec![
        call("search", json!({"query": "milk"}), json!(text)),
        call("del", json!({"id": "n-10001"}), json!("ok")),
    ];
    let inferred = of_one(&recording("", calls));
    let regex = inferred.scenario.steps[0].output["id"]["regex"].as_str();
    let regex = regex::Regex::new(regex.expect("a pattern")).expect("a pattern");
    let hits = "Found 2 notes for \"tea\":\n\nID: n-50005\nTitle: Buy tea\n\nID: n-60006\nTitle: Ice tea\n";
    assert_eq!(&regex.captures(hits).expect("a match")[1], "n-50005");
}

#[test]
fn an_id_of_a_text_that_is_sent_as_a_number_is_a_question() {
    let calls = vec![
        call(
            "search",
            json!({"q": "late"}),
            json!("1. #70412 - Parcel is late (open)"),
        ),
        call("close", json!({"ticket": 70412}), json!("ok")),
    ];
    assert_eq!(of_one(&recording("", calls)).questions.len(), 1);
}

#[test]
fn a_value_is_asked_about_once_however_often_it_is_used() {
    let use_it = |tool: &str, arguments: Value| call(tool, arguments, json!("ok"));
    let calls = vec![
        call(
            "add_note",
            json!({"text": "x"}),
            json!({"id": 7, "count": 7}),
        ),
        use_it("pin", json!({"id": 7})),
        use_it("comment", json!({"id": 7, "note_id": 7})),
        use_it("move", json!({"id": 7})),
        use_it("limit", json!({"count": 7})),
        use_it("due", json!({"by": "2026-05-23"})),
    ];
    let mut one = recording("Move it up to 2026", calls);
    one.calls[0].result = Some(json!({"content": [
        {"type": "text", "text": r#"{"id": 7, "count": 7, "due": "2026-05-23"}"#},
    ]}));
    let inferred = of_one(&one);
    assert_eq!(
        questions(&inferred),
        [
            "`id` is `7`, as `$.id` of `add_note` was: is it copied from there? (likewise `id` of step 3, `note_id` of step 3, `id` of step 4)",
            "`count` is `7`, as `$.count` of `add_note` was: is it copied from there?",
            "`by` is `2026-05-23`, as `$.due` of `add_note` was: is it copied from there?",
        ]
    );
    assert_eq!(inferred.questions[0].also, [3, 4]);
    let descriptions = inferred.scenario.steps.iter();
    let has_question = descriptions.map(|step| step.description.starts_with("Open question: "));
    assert_eq!(
        has_question.collect::<Vec<_>>(),
        [false, true, false, false, true, true]
    );
}

#[test]
fn a_number_in_another_form_is_a_question() {
    let of = |result: Value, argument: Value| {
        let calls = vec![
            call("get_order", json!({"n": 1}), result),
            call("pay", json!({"amount": argument}), json!("ok")),
        ];
        let inferred = of_one(&recording("Pay it", calls));
        let asked = questions(&inferred);
        (asked.len(), asked.join(" "))
    };
    for (result, argument) in [
        (json!({"total": 1500}), json!("1,500.00")),
        (json!({"total": 1500}), json!("1.500")),
        (json!({"total": 1500}), json!("Pay EUR 1.500,00 at once")),
        (json!({"total": 12.5}), json!("12.50")),
        (json!({"total": "1,500.00"}), json!(1500)),
        (json!("The total is $ 1,234.50."), json!(1234.5)),
    ] {
        let (n_asked, asked) = of(result.clone(), argument.clone());
        assert_eq!(n_asked, 1, "{result} {argument}: {asked}");
        assert!(asked.contains("in another form?"), "{asked}");
    }
    for (result, argument) in [
        (json!({"total": 1500}), json!("1,501.00")),
        (json!({"count": 10}), json!("10.00")),
        (json!({"version": "1.5.0"}), json!("1.50")),
    ] {
        let (n_asked, asked) = of(result.clone(), argument.clone());
        assert_eq!(n_asked, 0, "{result} {argument}: {asked}");
    }
}

/// A file that is read, changed and written back as a whole has the text of the recording.
#[test]
fn lines_of_a_file_that_are_written_back_are_a_question() {
    let shell = |command: &str, stdout: &str| Call {
        server: None,
        result: Some(json!({"stdout": stdout, "stderr": "", "exit_code": 0})),
        ..call("claude__bash", json!({"command": command}), json!(null))
    };
    let write = |path: &str, content: &str| Call {
        server: None,
        result: Some(Value::Null),
        ..call(
            "claude__write",
            json!({"file_path": path, "content": content}),
            json!(null),
        )
    };
    let read = Call {
        server: None,
        result: Some(json!({"content": "     1\tport = a\n     2\thost = b\n"})),
        ..call(
            "claude__read",
            json!({"file_path": "app.toml"}),
            json!(null),
        )
    };
    let changed = "port = a\nhost = c\n";
    let asked = |calls: Vec<Call>| {
        let inferred = of_one(&recording("Go", calls));
        let texts = questions(&inferred).into_iter();
        let own = texts.filter(|text| text.contains("`port = a"));
        own.count()
    };
    for first in [
        read.clone(),
        shell("cat ./app.toml", "port = a\nhost = b\n"),
        call(
            "read_text_file",
            json!({"path": "app.toml"}),
            json!("port = a\nhost = b\n"),
        ),
    ] {
        assert_eq!(
            asked(vec![first.clone(), write("app.toml", changed)]),
            1,
            "{first:?}"
        );
        assert_eq!(
            asked(vec![
                first.clone(),
                write("app.toml", "key = x\nline = y\n")
            ]),
            0
        );
        // What the agent wrote itself is what it wants to stand there.
        let own = write("app.toml", "port = a\nhost = b\n");
        assert_eq!(asked(vec![own, first, write("app.toml", changed)]), 0);
    }
}

/// Numbers and strings of digits alike: what may name the thing of a result is a question, an ordinary number is none.
#[test]
fn a_number_under_another_name_is_a_question_by_both_names() {
    let asked = |result: &Value, arguments: &Value| {
        let calls = vec![
            call("create", json!({}), result.clone()),
            call("use", arguments.clone(), json!("ok")),
        ];
        let inferred = of_one(&recording("", calls));
        assert_eq!(json!(inferred.scenario.steps[1].params), *arguments);
        inferred.questions.len()
    };
    for (result, arguments, n_questions) in [
        (json!({"number": 8123}), json!({"issue": 8123}), 1),
        (json!({"number": 8123}), json!({"issue": "8123"}), 1),
        (json!({"number": 55}), json!({"issue": 55}), 1),
        (json!({"number": 5}), json!({"issue": 5}), 1),
        (json!({"pr": {"number": 77}}), json!({"pull": 77}), 1),
        (json!({"iid": 4711}), json!({"keys": [4711]}), 1),
        (
            json!({"ids": [31, 32]}),
            json!({"one": 31, "second": 32}),
            2,
        ),
        (
            json!({"items": [{"id": 301}, {"id": 302}]}),
            json!({"item": 302}),
            1,
        ),
        (json!({"code": "4711"}), json!({"pin_2": 4711}), 1),
        (json!("Created issue #77"), json!({"issue": 77}), 1),
        (json!({"number": 81_234}), json!({"zip": 81_234}), 1),
        (json!({"number": 81_234}), json!({"zip": "81234"}), 1),
        (json!({"id": 20}), json!({"limit": 20}), 0),
        (json!({"id": 25}), json!({"page_size": "25"}), 0),
        (json!({"id": 3}), json!({"retries": 3}), 0),
        (json!({"total": 12}), json!({"rating": 12}), 0),
        (json!({"total": 12}), json!({"rating": "12"}), 0),
        (json!({"bytes": 100}), json!({"amount": 100}), 0),
    ] {
        assert_eq!(
            asked(&result, &arguments),
            n_questions,
            "{result} {arguments}"
        );
    }
}

/// The calls with the reference, or the value, that `key` of the last one became, and what is asked.
fn last_of(inferred: &Inferred, key: &str) -> (Value, Vec<String>) {
    let last = inferred.scenario.steps.last().expect("a step");
    let asked = questions(inferred).into_iter().map(str::to_owned);
    (param(last, key).clone(), asked.collect())
}

#[test]
fn of_two_results_with_a_value_the_one_that_is_called_so_is_meant() {
    let once = |n: u64| {
        [
            ("list", json!({}), json!({"count": n})),
            ("add", json!({"title": format!("t{n}")}), json!({"id": n})),
            ("get", json!({"id": n}), json!("ok")),
        ]
    };
    assert_eq!(
        last_of(&of_two(&once(3), &once(4)), "id"),
        (json!("{{add.id}}"), vec![])
    );
    // Called otherwise, each of the two may be it.
    let once = |n: u64| {
        [
            ("list", json!({}), json!({"count": n})),
            ("add", json!({}), json!({"id": n})),
            ("get", json!({"order": n}), json!("ok")),
        ]
    };
    let (value, asked) = last_of(&of_two(&once(3), &once(4)), "order");
    assert_eq!(value, "{{ORDER}}");
    assert_eq!(asked.len(), 1, "{asked:?}");
}

#[test]
fn a_value_of_two_results_of_one_recording_is_a_question() {
    let email = "ann@x.example";
    for (one, two, [key, value], expected) in [
        (
            json!({"id": "usr-8811"}),
            json!({"owner": "usr-8811"}),
            ["who", "usr-8811"],
            "{{a.id}}",
        ),
        (
            json!({"author": {"email": email}}),
            json!({"assignee": {"email": email}}),
            ["email", email],
            "{{a.email}}",
        ),
    ] {
        let calls = vec![
            call("a", json!({}), one),
            call("b", json!({}), two),
            call("tell", json!({ key: value }), json!("ok")),
        ];
        let (value, asked) = last_of(&of_one(&recording("Go", calls)), key);
        assert_eq!(value, expected);
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert!(asked[0].contains("and in `b`"), "{asked:?}");
    }
}

#[test]
fn a_result_that_came_later_than_the_call_is_not_its_source() {
    let at = |call: Call, started: u64, took: u64| Call {
        started: Some(Duration::from_millis(started)),
        duration: Some(Duration::from_millis(took)),
        ..call
    };
    for (started, expected) in [(100, "usr-8811"), (1_100, "{{a.id}}")] {
        let calls = vec![
            at(call("a", json!({}), json!({"id": "usr-8811"})), 0, 1_000),
            at(
                call("b", json!({"id": "usr-8811"}), json!("ok")),
                started,
                10,
            ),
        ];
        assert_eq!(last_of(&of_one(&recording("Go", calls)), "id").0, expected);
    }
}

#[test]
fn a_copied_key_of_an_object_is_a_reference_too() {
    let calls = vec![
        call("a", json!({}), json!({"id": "usr-8811"})),
        call("b", json!({"m": {"usr-8811": 1, "plain": 2}}), json!("ok")),
    ];
    assert_eq!(
        last_of(&of_one(&recording("Go", calls)), "m").0,
        json!({"{{a.id}}": 1, "plain": 2})
    );
}

#[test]
fn a_number_of_the_prompt_that_a_result_calls_so_is_a_question() {
    let calls = vec![
        call("create", json!({}), json!({"id": 1234})),
        call("track", json!({"id": 1234}), json!("ok")),
    ];
    let (value, asked) = last_of(&of_one(&recording("Order 1234 pieces", calls)), "id");
    assert_eq!(value, "{{ID}}");
    assert_eq!(
        asked,
        [
            "`id` is `1234`, which the prompt has and `$.id` of `create` was too: the prompt's was taken"
        ]
    );
    for text in ["Track order 1234", "Track #1234", "1234 must be tracked"] {
        let calls = vec![
            call("list", json!({}), json!([{"id": 1234}, {"id": 1299}])),
            call("track_order", json!({"id": 1234}), json!("ok")),
        ];
        let (value, asked) = last_of(&of_one(&recording(text, calls)), "id");
        assert_eq!((value, asked), (json!("{{ID}}"), vec![]), "{text}");
    }
}
