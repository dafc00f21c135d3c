//! What two recordings of a task prove.

use serde_json::{Value, json};

use super::{call, failed, findings, of_one, of_two, param, questions, recording};
use crate::Call;
use crate::infer::infer;

#[test]
fn what_one_recording_leaves_open_two_of_them_prove() {
    let one = |title: &str, id: i64, state: &str, url: &str| {
        recording(
            "Do it again",
            vec![
                call(
                    "add",
                    json!({"text": title}),
                    json!({"id": id, "state": state, "n": 3}),
                ),
                call(
                    "get",
                    json!({"id": id, "state": state, "limit": 3, "note": format!("{title} is #{id}")}),
                    json!({"url": url}),
                ),
                call("open", json!({"url": url, "mode": "fast"}), json!("done")),
            ],
        )
    };
    let first = one("Milk", 7, "open", "https://x.example/7");
    let alone = of_one(&first);
    assert_eq!(param(&alone.scenario.steps[1], "id"), 7);
    assert_eq!(
        questions(&alone),
        [
            "`id` is `7`, as `$.id` of `add` was: is it copied from there?",
            "`state` is `open`, as `$.state` of `add` was: is it copied from there?"
        ]
    );
    assert!(
        alone.scenario.steps[1]
            .description
            .starts_with("Open question: `id` is `7`")
    );
    let second = one("Bread", 8, "closed", "https://x.example/8");
    let both = infer(&first, Some(&second), "test").expect("a scenario");
    assert_eq!(findings(&both), Vec::<String>::new());
    assert_eq!(questions(&both), Vec::<&str>::new());
    assert_eq!(
        Value::Object(both.scenario.variables.clone()),
        json!({"TEXT": "Milk"})
    );
    assert_eq!(
        json!(both.scenario.steps[1].params),
        json!({"id": "{{add.id}}", "state": "{{add.state}}", "limit": 3, "note": "{{TEXT}} is #{{add.id}}"})
    );
    assert_eq!(
        json!(both.scenario.steps[2].params),
        json!({"url": "{{get.url}}", "mode": "fast"})
    );
}

#[test]
fn what_was_given_is_found_in_other_texts_of_two_recordings() {
    let task = |title: &str, who: &str| {
        let text = format!("{title}: ask {who}, and {title} again");
        recording(
            "",
            vec![
                call(
                    "add",
                    json!({"text": text, "title": title}),
                    json!({"id": 7}),
                ),
                call(
                    "tell",
                    json!({"who": who, "what": format!("about {title}")}),
                    json!("told"),
                ),
                call("get", json!({"id": 7}), json!({"title": title})),
            ],
        )
    };
    let inferred = infer(
        &task("Buy milk", "Ann Lee"),
        Some(&task("Call the bank", "Bo")),
        "test",
    );
    let inferred = inferred.expect("a scenario");
    let steps = &inferred.scenario.steps;
    assert_eq!(
        json!(inferred.scenario.variables),
        json!({"TITLE": "Buy milk", "WHO": "Ann Lee"})
    );
    assert_eq!(
        *param(&steps[0], "text"),
        json!("{{TITLE}}: ask {{WHO}}, and {{TITLE}} again")
    );
    assert_eq!(*param(&steps[1], "what"), json!("about {{TITLE}}"));
    // Equal by coincidence, or copied: two recordings with one value can't tell.
    assert_eq!(
        questions(&inferred),
        ["`id` is `7`, as `$.id` of `add` was: is it copied from there?"]
    );
}

#[test]
fn texts_of_results_are_found_in_other_texts_and_numbers_are_asked_for() {
    let task = |number: u32, title: &str| {
        let text = format!("#{number} {title}: see /acme/{number}");
        recording(
            "",
            vec![
                call("next", json!({}), json!({"number": number, "title": title})),
                call("write", json!({"text": text}), json!("ok")),
            ],
        )
    };
    let first = task(4711, "Login timeout after 30 s");
    let alone = of_one(&first);
    assert_eq!(
        *param(&alone.scenario.steps[1], "text"),
        json!("#4711 {{next.title}}: see /acme/4711")
    );
    assert_eq!(
        questions(&alone),
        [
            "`text` holds `4711` (`$.number`), and so does the result of `next`: is it copied from there?"
        ]
    );
    let both = infer(&first, Some(&task(52, "Payment fails")), "test").expect("a scenario");
    assert_eq!(
        *param(&both.scenario.steps[1], "text"),
        json!("#{{next.number}} {{next.title}}: see /acme/{{next.number}}")
    );
    assert_eq!(questions(&both), [""; 0]);
    assert_eq!(json!(both.scenario.variables), json!({}));
}

#[test]
fn texts_with_nothing_in_common_are_one_variable() {
    let one = |title: &str| {
        recording(
            "Go",
            vec![call("add", json!({ "title": title }), json!("ok"))],
        )
    };
    let both = infer(&one("Buy milk"), Some(&one("Call Ann")), "test").expect("a scenario");
    assert_eq!(
        Value::Object(both.scenario.variables),
        json!({"TITLE": "Buy milk"})
    );
}

#[test]
fn a_whole_value_of_a_result_is_found_in_a_longer_text() {
    let mail = |query: &str, name: &str, mail: &str| {
        [
            (
                "customer",
                json!({"q": query}),
                json!({"name": name, "email": mail}),
            ),
            (
                "send",
                json!({"to": mail, "subject": format!("Hi {name}")}),
                json!("ok"),
            ),
        ]
    };
    let both = of_two(
        &mail("D1", "Ann Lee", "ann.lee@ex.org"),
        &mail("D2", "Cara Lee", "cara.lee@ex.org"),
    );
    assert_eq!(json!(both.scenario.variables), json!({"Q": "D1"}));
    assert_eq!(
        json!(both.scenario.steps[1].params),
        json!({"to": "{{customer.email}}", "subject": "Hi {{customer.name}}"})
    );
    assert_eq!(questions(&both), [""; 0]);
}

#[test]
fn one_date_is_one_variable_in_any_order_of_the_calls() {
    let task = |date: &str| {
        [
            ("send", json!({"text": format!("Due {date}.")}), json!("ok")),
            ("add", json!({"due": date, "n": date}), json!("ok")),
            (
                "send",
                json!({"text": format!("Note: Due {date}. It is {date}!")}),
                json!("ok"),
            ),
        ]
    };
    let (mut one, mut other) = (task("2026-03-04"), task("2026-05-06"));
    for _ in 0..one.len() {
        let both = of_two(&one, &other);
        assert_eq!(json!(both.scenario.variables), json!({"DUE": "2026-03-04"}));
        assert!(
            both.scenario
                .to_text()
                .contains("\"Note: Due {{DUE}}. It is {{DUE}}!\"")
        );
        assert_eq!(questions(&both), [""; 0]);
        one.rotate_left(1);
        other.rotate_left(1);
    }
}

#[test]
fn what_only_one_recording_has_is_a_question() {
    let cases = [
        (json!({"o": {"a": 1}}), json!({"o": {"b": 1}}), 2),
        (
            json!({"o": {"title": "Tea"}}),
            json!({"o": {"title": "Ice", "tag": "cold"}}),
            1,
        ),
        (json!({"l": {}}), json!({"l": {"k": "v"}}), 1),
        (
            json!({"l": [{"a": 1}]}),
            json!({"l": [{"a": 1, "b": 2}]}),
            1,
        ),
        (
            json!({"title": "Tea"}),
            json!({"title": "Ice", "tag": "cold"}),
            1,
        ),
        (
            json!({"title": "Tea", "tag": "cold"}),
            json!({"title": "Ice"}),
            1,
        ),
        (json!({"tags": ["a", "b"]}), json!({"tags": ["c"]}), 1),
    ];
    for (one, other, n_questions) in cases {
        let both = of_two(
            &[("add", one.clone(), json!("ok"))],
            &[("add", other, json!("ok"))],
        );
        assert_eq!(
            questions(&both).len(),
            n_questions,
            "{one}: {:?}",
            both.questions
        );
    }
}

#[test]
fn two_variables_for_one_value_are_a_question() {
    let task = |who: &str, slug: &str| [("add", json!({"who": who, "slug": slug}), json!("ok"))];
    let both = of_two(&task("Ann Lee", "ann-lee"), &task("Bob Ray", "bob-ray"));
    assert_eq!(
        questions(&both),
        [
            "the values of `WHO` and `SLUG` have something in common: does one follow from the other?"
        ]
    );
    let both = of_two(&task("Ann Lee", "x1"), &task("Bob Ray", "y2"));
    assert_eq!(questions(&both), [""; 0]);
}

#[test]
fn what_fails_in_the_second_recording_only_is_a_question() {
    let one = |name: &str, second: Call| {
        recording(
            "Do it",
            vec![call("add", json!({ "name": name }), json!("added")), second],
        )
    };
    let first = one("Tea", call("sync", json!({}), json!("done")));
    let second = one("Coffee", failed("sync", json!({}), "busy"));
    let inferred = infer(&first, Some(&second), "test").expect("a scenario");
    let expected = "it failed in the second recording only (busy): may it fail?";
    assert_eq!(questions(&inferred), [expected]);
}

#[test]
fn two_times_of_one_day_are_related() {
    let one = |name: &str, day: &str| {
        let (start, end) = (format!("{day}T10:00"), format!("{day}T11:00"));
        let arguments = json!({"name": name, "start": start, "end": end});
        recording("Do it", vec![call("add_event", arguments, json!("ok"))])
    };
    let inferred = infer(
        &one("Tea", "2026-03-04"),
        Some(&one("Milk", "2026-05-06")),
        "test",
    );
    let inferred = inferred.expect("a scenario");
    let expected =
        "the values of `START` and `END` have something in common: does one follow from the other?";
    assert_eq!(questions(&inferred), [expected]);
}

#[test]
fn whole_values_are_taken_in_quotes_too() {
    let calls = |mail: &str| {
        let said = json!({ "who": mail }).to_string();
        [
            ("get", json!({}), json!({"id": 1, "mail": mail})),
            ("say", json!({ "text": said }), json!("ok")),
        ]
    };
    let both = of_two(&calls("carl47@example.org"), &calls("dora12@example.org"));
    assert_eq!(
        param(&both.scenario.steps[1], "text"),
        r#"{"who":"{{get.mail}}"}"#
    );
    assert_eq!(
        json!(both.scenario.steps[0].output),
        json!({"mail": "$.mail"})
    );
}

#[test]
fn variables_are_composed_in_the_words_of_commands() {
    let calls = |id: &str, day: &str| {
        let shell = |command: String| Call {
            server: None,
            tool: "claude__bash".to_owned(),
            ..call("", json!({ "command": command }), json!("ok"))
        };
        recording(
            "Do it again",
            vec![
                shell(format!("gh issue view {id} --json title")),
                shell(format!("git checkout -b fix/{id}")),
                shell(format!("gh pr create --body \"Closes #{id}\"")),
                call("list", json!({ "day": day }), json!("ok")),
                call(
                    "free",
                    json!({ "from": format!("{day}T00:00:00Z") }),
                    json!("ok"),
                ),
            ],
        )
    };
    let (one, other) = (calls("4711", "2026-07-15"), calls("5822", "2026-08-16"));
    let both = infer(&one, Some(&other), "test").expect("a scenario");
    assert_eq!(
        Value::Object(both.scenario.variables.clone()),
        json!({"COMMAND": "4711", "DAY": "2026-07-15"})
    );
    assert_eq!(param(&both.scenario.steps[4], "from"), "{{DAY}}T00:00:00Z");
    assert_eq!(findings(&both), Vec::<String>::new());
}

#[test]
fn a_copy_from_another_place_of_the_result_is_a_question() {
    let once = |user: &str, key: &str, path: &str| {
        [
            (
                "lookup",
                json!({"user": user}),
                json!({user: key, "all": {key: 1}}),
            ),
            (
                "cancel",
                json!({"order": format!("{path}{key}")}),
                json!("ok"),
            ),
        ]
    };
    for path in ["orders/", ""] {
        let both = of_two(
            &once("ann-01", "key-8831", path),
            &once("bob-07", "key-9942", path),
        );
        assert!(
            questions(&both)
                .iter()
                .any(|asked| asked.starts_with("`order` has")
                    && asked.contains("is it copied from there?")),
            "{:?}",
            questions(&both)
        );
    }
}

#[test]
fn a_key_of_a_result_that_is_passed_on_is_a_question() {
    let calls = vec![
        call("list", json!({}), json!({"orders": {"ord-002b": {"n": 1}}})),
        call("cancel", json!({"id": "ord-002b"}), json!("ok")),
    ];
    let asked = of_one(&recording("Cancel it", calls));
    assert_eq!(
        questions(&asked),
        [
            "`id` holds `ord-002b` (`$.orders`), and so does the result of `list`: is it copied from there?"
        ]
    );
}
