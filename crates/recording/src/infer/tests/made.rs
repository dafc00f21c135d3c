//! Recordings by construction, of random plans.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use serde_json_path::JsonPath;

use super::{call, filled, findings, of_one, param, recording};
use crate::infer::infer;
use crate::{Call, Outcome, Recording};

/// What an argument is made of.
#[derive(Debug, Clone)]
enum Made {
    /// The id that an earlier call gave, alone or inside a text.
    Copied { from: usize, inside: bool },
    /// A text in quotes in the prompt.
    Prompt(usize),
    /// A secret.
    Secret,
    /// A value that earlier results hold too, and that says nothing.
    Coincidence(Value),
    /// A value that nobody knew before.
    Fresh(String),
}

const KEYS: &[&str] = &["first", "second", "third"];
const SECRET: &str = "hunter2-hunter2";
const PHRASES: &[&str] = &["Buy two loaves", "release 2026", "north-wing"];

fn made() -> impl Strategy<Value = Made> {
    let coincidence = prop_oneof![
        Just(json!(1)),
        Just(json!(true)),
        Just(json!("")),
        Just(json!("open")),
        Just(json!(null)),
        Just(json!(42)),
        Just(json!("{{x}} }} {{")),
    ];
    prop_oneof![
        3 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(at, inside)| Made::Copied { from: at.index(64), inside }),
        2 => (0..PHRASES.len()).prop_map(Made::Prompt),
        1 => Just(Made::Secret),
        3 => coincidence.prop_map(Made::Coincidence),
        1 => "[a-z]{3,6}-[0-9]{5}".prop_map(Made::Fresh),
    ]
}

fn id_of(step: usize, salt: u32) -> String {
    format!("rec_{}x{step:02}", u64::from(salt) + 100_000)
}

fn session(plan: &[Vec<Made>], salt: u32) -> Recording {
    let mut calls = Vec::new();
    for (step, arguments) in plan.iter().enumerate() {
        let mut written = Map::new();
        for (key, made) in KEYS.iter().zip(arguments) {
            let value = match made {
                Made::Copied { .. } if step == 0 => json!("none"),
                Made::Copied {
                    from,
                    inside: false,
                } => json!(id_of(from % step, salt)),
                Made::Copied { from, inside: true } => {
                    json!(format!("see {} there", id_of(from % step, salt)))
                }
                Made::Prompt(phrase) => json!(PHRASES[*phrase]),
                Made::Secret => {
                    written.insert("password".to_owned(), json!(SECRET));
                    continue;
                }
                Made::Coincidence(value) => value.clone(),
                Made::Fresh(text) => json!(text),
            };
            written.insert((*key).to_owned(), value);
        }
        let result = json!({
            "n": 1, "yes": true, "empty": "", "state": "open", "size": 42, "none": null,
            "items": [{"id": id_of(step, salt), "deep": [1, "open"]}], "again": {"of": {"it": id_of(step, salt)}},
        });
        calls.push(call("act", Value::Object(written), result));
    }
    recording(
        "Take 'Buy two loaves', \"release 2026\" and `north-wing`.",
        calls,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exactly_what_was_made_is_found(
        plan in prop::collection::vec(prop::collection::vec(made(), 0..=3), 1..7),
        salt: u32,
        other_salt: u32,
        with_second: bool,
    ) {
        let first = session(&plan, salt);
        let second = session(&plan, other_salt);
        let inferred = infer(&first, with_second.then_some(&second), "test").expect("a scenario");
        prop_assert_eq!(findings(&inferred), Vec::<String>::new());
        let scenario = &inferred.scenario;
        prop_assert!(!scenario.to_text().contains(SECRET));
        prop_assert_eq!(scenario.steps.len(), plan.len());
        let mut known: HashMap<String, Value> = HashMap::new();
        for (name, default) in &scenario.variables {
            known.insert(name.clone(), if default == "" { json!(SECRET) } else { default.clone() });
        }
        for (step, arguments) in plan.iter().enumerate() {
            let written = &scenario.steps[step];
            // The same arguments come of it.
            prop_assert_eq!(
                filled(&Value::Object(written.params.clone()), &known),
                Value::Object(first.calls[step].arguments.clone())
            );
            for (key, made) in KEYS.iter().zip(arguments) {
                let template = param(written, key);
                let text = template.as_str().unwrap_or_default();
                match made {
                    Made::Copied { .. } if step == 0 => prop_assert_eq!(text, "none"),
                    Made::Copied { from, .. } => {
                        let id = &scenario.steps[from % step].id;
                        prop_assert!(text.contains(&format!("{{{{{id}.")), "a missed copy: {}", text);
                    }
                    Made::Prompt(_) => prop_assert!(text.starts_with("{{") && !text.contains('.'), "{}", text),
                    Made::Secret => prop_assert_eq!(param(written, "password"), "{{PASSWORD}}"),
                    Made::Coincidence(value) => {
                        let expected = match value {
                            Value::String(text) => crate::scenario::verbatim_text(text).into(),
                            other => other.clone(),
                        };
                        prop_assert_eq!(template, &expected, "a coincidence was taken");
                    }
                    Made::Fresh(fresh) => {
                        // The same text in two calls is still the agent's own.
                        prop_assert_eq!(text, fresh, "a needless variable");
                    }
                }
            }
            let result = match &first.calls[step].outcome {
                Outcome::Result(result) => result["content"][0]["text"].as_str().unwrap_or_default(),
                _ => "",
            };
            let result: Value = serde_json::from_str(result).expect("JSON");
            for (name, path) in &written.output {
                let path = JsonPath::parse(path.as_str().expect("a path")).expect("a JSONPath");
                prop_assert_eq!(path.to_string(), "$.items[0].id", "the shortest");
                let value = path.query(&result).exactly_one().expect("one value");
                known.insert(format!("{}.{name}", written.id), value.clone());
            }
        }
    }

    #[test]
    fn any_recording_becomes_a_valid_scenario(
        calls in prop::collection::vec(("[a-zA-Z_ ./-]{0,12}", any_json(), any_json()), 1..5),
        prompt in ".{0,40}",
    ) {
        let calls: Vec<Call> = calls.into_iter().map(|(tool, arguments, result)| {
            let tool = format!("t{tool}");
            call(&tool, json!({ "value": arguments, "uid": "1_2" }), result)
        }).collect();
        let one = recording(&prompt, calls);
        let inferred = of_one(&one);
        prop_assert_eq!(findings(&inferred), Vec::<String>::new());
        let mut other = one.clone();
        other.calls.reverse();
        let both = infer(&one, Some(&other), "test").expect("a scenario");
        prop_assert_eq!(findings(&both), Vec::<String>::new());
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z{}\"'\\\\$.é ]{0,10}",
        "[a-z0-9-]{6,12}",
        Just("{{a.b}}".to_owned()),
        Just("uid=1_2 button \"x\"".to_owned())
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-100_000_i64..100_000).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z{}'\" .]{1,6}", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
