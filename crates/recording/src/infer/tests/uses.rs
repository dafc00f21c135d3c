//! One value in every use: it plays with other values, or there is a question.

use std::collections::HashMap;

use serde_json::{Value, json};
use serde_json_path::JsonPath;

use super::{call, filled, findings, of_one, questions, recording};
use crate::Recording;
use crate::infer::infer;

/// The calls of an agent that uses a value in one way. Results are JSON, or texts.
fn uses(way: &str, value: &str) -> Option<Recording> {
    let text = |text: &str| json!({"text": text.replace('%', value)});
    let whole = || call("add", json!({"title": value, "list": "home"}), json!("ok"));
    let send = |pattern: &str| call("send", text(pattern), json!("sent"));
    let get = |result: Value| call("get", json!({"n": 1}), result);
    let calls = match way {
        "whole" => vec![whole()],
        "before" => vec![whole(), send("For %, ok")],
        "after" => vec![send("For %, ok"), whole()],
        "twice" => vec![send("%: see %, and then %."), whole()],
        "nested" => vec![
            call(
                "add",
                json!({"meta": {"k": [value, {"deep": value}]}}),
                json!("ok"),
            ),
            send("a % b %"),
        ],
        "inside" => vec![send("For %, ok")],
        "inside long" => vec![send("Please tell all of them that % is what they wait for")],
        "inside two" => vec![send("For %, ok"), send("It is %")],
        "quoted" | "prompted" => vec![send("Now tell them that % is what they wait for")],
        "result" => vec![
            get(json!({"name": value, "ok": true})),
            call(
                "send",
                json!({"to": value, "text": format!("Hi {value}!")}),
                json!("sent"),
            ),
        ],
        "result later" => vec![
            send("Please tell them that % is what they wait for"),
            get(json!({"name": value})),
        ],
        "list" => vec![
            get(json!([{"name": "x"}, {"name": value}])),
            send("Please tell them that % is what they wait for"),
        ],
        "prose" => vec![
            get(json!(format!("The state is {value} now"))),
            call(
                "send",
                json!({"to": value, "text": format!("Hi {value}!")}),
                json!("sent"),
            ),
        ],
        "echoed" => vec![
            call(
                "add",
                json!({"title": value}),
                json!({"id": "n-4711", "title": value}),
            ),
            get(json!({"title": value})),
            send("You said: %!"),
        ],
        _ => {
            let (result, sent) = way.split_once(" -> ")?;
            let result = result.replace('%', value);
            let result = serde_json::from_str(&result).unwrap_or(json!(result));
            vec![get(result), send(sent)]
        }
    };
    let prompt = match way {
        "quoted" => format!("Send \"{value}\" to them"),
        "prompted" => format!("Send {value} to them"),
        _ => String::new(),
    };
    Some(recording(&prompt, calls))
}

const WAYS: &[&str] = &[
    "whole",
    "before",
    "after",
    "twice",
    "nested",
    "inside",
    "inside long",
    "inside two",
    "quoted",
    "prompted",
    "result",
    "result later",
    "list",
    "prose",
    "echoed",
];

/// How texts of results say a value, and how texts of arguments do.
const RESULTS: &[&str] = &[
    "Saved as %",
    "ID: %",
    "Note saved (%).",
    "OK % done",
    "https://x.example/n/%",
    "**%** created",
    "<%>",
    "Saved.\nid=%\nat home",
    "id,t\n%,x\n",
    "| id | t |\n|---|---|\n| % | x |",
    r#"Done: {"id": "%"}"#,
    r#"{"message": "Saved as %"}"#,
    r#"{"url": "https://x.example/?n=%&x=1"}"#,
];
const SENT: &[&str] = &[
    "%",
    "Here: %",
    "#%",
    "Look at % please, it is new",
    "https://y.example/%/edit",
    "[%](u)",
];

fn told() -> impl Iterator<Item = String> {
    let pairs = RESULTS
        .iter()
        .flat_map(|result| SENT.iter().map(move |sent| (result, sent)));
    pairs.map(|(result, sent)| format!("{result} -> {sent}"))
}

/// Values of one kind: of two recordings, and of a play.
const KINDS: &[[&str; 3]] = &[
    ["2026-03-04", "2026-05-06", "2027-01-02"],
    [
        "2026-03-04T10:00:00Z",
        "2026-05-06T11:30:00Z",
        "2027-07-08T09:15:00Z",
    ],
    ["March 2026", "April 2026", "May 2027"],
    ["/home/ann/q1.txt", "/home/ann/q2.txt", "/srv/x.txt"],
    ["ann@example.org", "bob@example.org", "zed@other.com"],
    ["Ann Lee", "Bob Lee", "Zed Moss"],
    ["Buy milk", "Buy brown bread", "Water the plants"],
    ["12.50", "19.50", "7.25"],
    ["1,234.50", "1,345.50", "7,345.00"],
    ["1.2.3", "1.3.3", "2.0.0"],
    [
        "https://ex.org/a?x=1&y=2",
        "https://ex.org/b?x=1&y=3",
        "http://q.org/",
    ],
    ["SKU-1001-A", "SKU-1002-A", "INV/2026/7"],
    [
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3302",
        "aaaaaaaa-4f89-11d3-9a0c-0305e82c3302",
    ],
    ["Ann", "Anna", "Bea"],
    ["+43 660 123456", "+43 660 654321", "+1 5 5"],
    ["4711", "52", "100"],
];

/// What a player sends: the arguments of each step, until one lacks what it needs.
fn played(scenario: &crate::Scenario, values: [&str; 2], results: &Recording) -> Vec<Value> {
    let mut known: HashMap<String, Value> = HashMap::new();
    for (name, default) in &scenario.variables {
        let text = default.as_str().expect("a text");
        known.insert(name.clone(), text.replace(values[0], values[1]).into());
    }
    let mut sent = Vec::new();
    for (step, call) in scenario.steps.iter().zip(&results.calls) {
        sent.push(filled(&json!(step.params), &known));
        let Some(result) = &call.result else {
            continue;
        };
        let text = result["content"][0]["text"].as_str().expect("a text");
        let result = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        for (name, rule) in &step.output {
            let path = rule
                .as_str()
                .or_else(|| rule["from"].as_str())
                .unwrap_or("$");
            let found = JsonPath::parse(path)
                .expect("a JSONPath")
                .query(&result)
                .exactly_one();
            let mut found = found.ok().cloned().unwrap_or_default();
            if let Some(regex) = rule["regex"].as_str() {
                let regex = regex::Regex::new(regex).expect("a regular expression");
                match regex.captures(found.as_str().unwrap_or_default()) {
                    Some(captures) => found = captures[1].into(),
                    // The check of the step fails, and the player stops.
                    None => return sent,
                }
            }
            known.insert(format!("{}.{name}", step.id), found);
        }
    }
    sent
}

#[test]
fn any_value_plays_in_any_use_or_is_a_question() {
    let mut wrong = Vec::new();
    let mut n_asked = 0;
    // Each of the many ways to tell a value, with every other kind.
    let told = told().zip((0..2).cycle()).map(|(way, skip)| (way, skip, 2));
    let ways = WAYS.iter().map(|way| ((*way).to_owned(), 0, 1)).chain(told);
    for (way, skip, step) in ways {
        let way = way.as_str();
        for kind in KINDS.iter().skip(skip).step_by(step) {
            let [one, other, third] = kind.map(|value| uses(way, value).expect("a way"));
            let inferred = infer(&one, Some(&other), "test").expect("a scenario");
            assert_eq!(findings(&inferred), Vec::<String>::new(), "{way}: {kind:?}");
            let sent = played(&inferred.scenario, [kind[0], kind[2]], &third);
            for (idx, (sent, call)) in sent.iter().zip(&third.calls).enumerate() {
                let is_asked = inferred
                    .questions
                    .iter()
                    .any(|note| note.step == Some(idx + 1) || note.also.contains(&(idx + 1)));
                n_asked += usize::from(is_asked);
                if !is_asked && *sent != Value::Object(call.arguments.clone()) {
                    wrong.push(format!(
                        "{way}: {kind:?}: {sent} {:?}",
                        inferred.scenario.variables
                    ));
                }
            }
            // The first recording comes of its own values.
            let again = played(&inferred.scenario, [kind[0]; 2], &one);
            let recorded: Vec<Value> = one.calls.iter().map(|call| json!(call.arguments)).collect();
            assert_eq!(again, recorded, "{way}: {kind:?}");
            let is_plain = [
                "whole", "before", "after", "twice", "nested", "result", "echoed",
            ];
            if is_plain.contains(&way) && !inferred.questions.is_empty() {
                wrong.push(format!(
                    "{way}: {kind:?}: needless {:?}",
                    questions(&inferred)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{n_asked} asked\n{}", wrong.join("\n"));
}

/// Of one recording, what is told in a text is a reference that plays with other values, or a question.
#[test]
fn what_a_text_tells_is_a_copy_or_a_question_of_one_recording() {
    let mut wrong = Vec::new();
    for way in told() {
        for kind in [["n-10001", "n-20002"], ["0ff4ea21", "77c1d2e3"]] {
            let [one, other] = kind.map(|value| uses(&way, value).expect("a way"));
            let inferred = of_one(&one);
            let sent = played(&inferred.scenario, kind, &other);
            let is_right = sent.len() < 2 || sent[1] == json!(other.calls[1].arguments);
            if !is_right && inferred.questions.is_empty() {
                wrong.push(format!("{way}: {sent:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
