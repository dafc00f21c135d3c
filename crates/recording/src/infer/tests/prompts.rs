//! What the prompt gave, and what stays as it was recorded.

use serde_json::{Value, json};

use super::{call, of_one, of_two, param, questions, recording};
use crate::infer::infer;

#[test]
fn a_name_in_a_path_and_in_a_text_is_one_value_or_a_question() {
    let task = |name: &str| {
        [(
            "write",
            json!({"path": format!("/w/{name}/src"), "content": format!("# {name}\n\nHello.\n")}),
            json!("ok"),
        )]
    };
    let both = of_two(&task("proj-a"), &task("proj-b"));
    assert_eq!(questions(&both).len(), 1, "{:?}", both.questions);
}

#[test]
fn a_value_of_the_prompt_is_one_variable_or_a_question() {
    let send = json!({
        "to": "Ann Lee", "subject": "quarterly numbers", "order": 48211, "code": "48211",
        "body": "Dear Ann Lee, the quarterly numbers are fine",
    });
    let prompt = "Send Ann Lee the report about quarterly numbers of order 48211";
    let inferred = of_one(&recording(prompt, vec![call("send", send, json!("ok"))]));
    assert_eq!(
        *param(&inferred.scenario.steps[0], "body"),
        json!("Dear {{TO}}, the {{SUBJECT}} are fine")
    );
    assert_eq!(
        questions(&inferred),
        [
            "the values of `ORDER` and `CODE` have something in common: does one follow from the other?"
        ]
    );
}

/// Results, later arguments, and how many questions there are at least: what stays as it was recorded is asked about.
#[test]
fn what_stays_as_it_was_recorded_is_asked_about() {
    let silent: Vec<String> = [
        // Parts of longer words.
        (json!({"id": "inv_12345678"}), "data/inv_12345678.csv"),
        (json!({"id": "OPS-4711"}), "fix/OPS-4711-cart"),
        (json!({"number": 8119}), "fix/issue-8119"),
        (json!({"id": "n-10001"}), "backup_n-10001"),
        // Rests of longer values.
        (json!("Opened acme/shop#1234"), "see acme/shop#1234"),
        (
            json!("Listening on 10.0.0.7:8080"),
            "http://10.0.0.7:8080/health",
        ),
        (
            json!("Next slot: 2026-03-04T10:30:00Z"),
            "https://cal.ex/2026-03-04T10:30:00Z",
        ),
        (json!({"count": 17}), "There are 17 open tickets"),
        (json!("Found 123 tickets"), "123"),
        // Texts.
        (
            json!("Subject: Your invoice no. 9840\nFrom: Ann Lee"),
            "Re: Your invoice no. 9840",
        ),
        (
            json!("Subject: Your invoice no. 9840\nFrom: Ann Lee"),
            "Hello Ann Lee",
        ),
        (json!({"v": "v1.2.4"}), "Release 1.2.4"),
        // In another spelling.
        (
            json!({"title": "Fix 7 carts"}),
            "https://x.ex/?q=Fix%207%20carts",
        ),
        (
            json!({"title": "Fix 7 carts"}),
            "https://x.ex/?q=Fix+7+carts",
        ),
    ]
    .into_iter()
    .filter(|(result, text)| {
        let calls = vec![
            call("make", json!({"q": "s"}), result.clone()),
            call("use", json!({"x": text}), json!("ok")),
        ];
        of_one(&recording("", calls)).questions.is_empty()
    })
    .map(|(result, text)| format!("{result} {text}"))
    .collect();
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn what_the_agent_wrote_by_itself_is_no_question() {
    for (result, text) in [
        (json!({"created": "2026-05-25"}), "on 2026-05-26"),
        (json!({"state": "open"}), "is open now"),
        (
            json!({"html_url": "https://x.ex/shop/issues"}),
            "see the issues of the shop",
        ),
        (json!({"state": "done", "n": 3}), "3 of 5"),
    ] {
        let calls = vec![
            call("make", json!({"q": "Daily report 2026"}), result.clone()),
            call(
                "use",
                json!({"x": text, "y": "Daily report 2026"}),
                json!("ok"),
            ),
        ];
        let inferred = of_one(&recording("", calls));
        assert_eq!(questions(&inferred), Vec::<&str>::new(), "{result} {text}");
    }
}

#[test]
fn a_word_of_the_prompt_in_a_value_of_a_result_is_a_question() {
    let calls = vec![
        call(
            "backup",
            json!({"app": "shop"}),
            json!({"new": "shop-96d4cf56d"}),
        ),
        call("post", json!({"text": "Kept shop-96d4cf56d"}), json!("ok")),
        call(
            "write",
            json!({"path": "posts/spring-sale.md"}),
            json!("ok"),
        ),
    ];
    let prompt = "Make a backup of \"shop\", then write \"Spring Sale\"";
    let inferred = of_one(&recording(prompt, calls));
    let text = param(&inferred.scenario.steps[1], "text");
    let is_asked = |step: usize| {
        inferred
            .questions
            .iter()
            .any(|note| note.step == Some(step))
    };
    assert!(
        text == "Kept {{backup.new}}" || is_asked(2),
        "{text} {:?}",
        inferred.questions
    );
    assert!(is_asked(3), "{:?}", inferred.questions);
}

/// What the user repeats of a result is a copy, and so is it in the text of a call.
#[test]
fn a_value_of_a_result_that_a_later_prompt_has_is_a_copy() {
    let calls = vec![
        call(
            "create",
            json!({"title": "x"}),
            json!({"number": 4711, "key": "PROJ-812"}),
        ),
        call("close", json!({"key": "PROJ-812"}), json!("ok")),
        call(
            "tell",
            json!({"text": "PROJ-812 is closed", "number": 4711}),
            json!("ok"),
        ),
    ];
    let mut one = recording("Create an issue", calls);
    one.prompts
        .push("Close PROJ-812 now, it is 4711".to_owned());
    one.prompted_at = vec![0, 1];
    let inferred = of_one(&one);
    let steps = &inferred.scenario.steps;
    assert_eq!(param(&steps[1], "key"), "{{create.key}}");
    assert_eq!(param(&steps[2], "text"), "{{create.key}} is closed");
    assert_eq!(param(&steps[2], "number"), "{{create.number}}");
    assert_eq!(json!(inferred.scenario.variables), json!({}));
    one.prompted_at = vec![0, 0];
    let before = of_one(&one).scenario;
    assert_eq!(param(&before.steps[1], "key"), "{{KEY}}");
}

#[test]
fn a_single_word_of_the_prompt_in_a_longer_text_is_a_question() {
    let calls = vec![
        call(
            "add",
            json!({"title": "Groceries"}),
            json!({"id": "nt_9a8b7c6d"}),
        ),
        call(
            "send",
            json!({"text": "I added Groceries (nt_9a8b7c6d)"}),
            json!("ok"),
        ),
        call("log", json!({"text": "Groceries2 done"}), json!("ok")),
    ];
    let inferred = of_one(&recording("Add a note titled Groceries, please", calls));
    assert_eq!(
        questions(&inferred),
        ["`text` holds `Groceries`, and so does the prompt: is it a variable?"]
    );
}

#[test]
fn one_recording_without_a_prompt_says_what_helps() {
    let calls = || vec![call("add", json!({"title": "Groceries"}), json!("ok"))];
    let mut one = recording("", calls());
    assert_eq!(of_one(&one).hints, [""; 0]);
    one.prompts.clear();
    let hints = of_one(&one).hints;
    assert!(hints[0].contains("a second recording"), "{hints:?}");
    let both = infer(&one, Some(&one), "test").expect("a scenario");
    assert!(
        both.hints[0].contains("pass the same values"),
        "{:?}",
        both.hints
    );
}

#[test]
fn a_number_of_the_prompt_that_is_a_variable_is_one_in_longer_texts_too() {
    let calls = vec![
        call("refund", json!({"order_id": 14964}), json!("ok")),
        call(
            "mail",
            json!({"subject": "Refund for order 14964", "file": "refunds/14964.md", "limit": 50}),
            json!("ok"),
        ),
    ];
    let inferred = of_one(&recording("Refund order 14964, at most 50", calls));
    assert_eq!(questions(&inferred), Vec::<&str>::new());
    assert_eq!(
        Value::Object(inferred.scenario.variables.clone()),
        json!({"ORDER_ID": 14964, "LIMIT": 50})
    );
    assert_eq!(
        json!(inferred.scenario.steps[1].params),
        json!({"subject": "Refund for order {{ORDER_ID}}", "file": "refunds/{{ORDER_ID}}.md", "limit": "{{LIMIT}}"})
    );
}

#[test]
fn values_stand_beside_letters_of_languages_without_spaces() {
    for (prompt, arguments, variables) in [
        (
            "赤い椅子を登録して、dora.halevy@example.orgに連絡してください。",
            json!({"to": "dora.halevy@example.org"}),
            json!({"TO": "dora.halevy@example.org"}),
        ),
        (
            "チケットPROJ-812を閉じて、金額は4800円",
            json!({"key": "PROJ-812", "amount": 4800}),
            json!({"KEY": "PROJ-812", "AMOUNT": 4800}),
        ),
        (
            "「赤い傘の在庫確認」を登録してください。",
            json!({"title": "赤い傘の在庫確認"}),
            json!({"TITLE": "赤い傘の在庫確認"}),
        ),
        (
            "パスワードはhunter2-blueです",
            json!({"text": "hunter2-blue"}),
            json!({"TEXT_SECRET": ""}),
        ),
    ] {
        let inferred = of_one(&recording(prompt, vec![call("t", arguments, json!("ok"))]));
        assert_eq!(json!(inferred.scenario.variables), variables, "{prompt}");
    }
    let calls = vec![call("t", json!({"name": "田中太郎"}), json!("ok"))];
    let inferred = of_one(&recording("東京のユーザー田中太郎を作成", calls));
    assert_eq!(
        questions(&inferred),
        ["`name` is `田中太郎`, which the prompt mentions: is it a variable?"]
    );
}

#[test]
fn words_of_names_and_in_paths_are_questions() {
    let calls = vec![
        call("me", json!({}), json!({"login": "octocat"})),
        call("assign", json!({"assignee": "octocat"}), json!("ok")),
        call(
            "run",
            json!({"command": "git mv src/old_name.py lib/other.py"}),
            json!("ok"),
        ),
    ];
    let inferred = of_one(&recording("Rename old_name everywhere", calls));
    assert_eq!(
        questions(&inferred),
        [
            "`assignee` is `octocat`, as `$.login` of `me` was: is it copied from there?",
            "`command` holds `old_name`, and so does the prompt: is it a variable?"
        ]
    );
}
