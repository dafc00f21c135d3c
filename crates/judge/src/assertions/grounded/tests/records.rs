//! Whose value a text is: values of records, of calls that only their arguments tell apart, and of later results.

use super::*;

/// Records in pairs: what names them, and what else they have.
const PAIRS: &[(&str, [&str; 2], &str, [&str; 2])] = &[
    (
        "title",
        ["Team stand-up", "Budget review"],
        "location",
        ["Zoom", "Room 4B"],
    ),
    (
        "id",
        ["MOB-88", "MOB-91"],
        "assignee",
        ["Tariq Haddad", "Ingrid Dahl"],
    ),
    (
        "name",
        ["Klara and the Sun", "Never Let Me Go"],
        "branch",
        ["West Street", "Central Station"],
    ),
    (
        "host",
        ["web-02", "web-03"],
        "status",
        ["in_maintenance", "out_of_rotation"],
    ),
    (
        "city",
        ["Oslo", "Rome"],
        "airport",
        ["Gardermoen", "Fiumicino"],
    ),
];

/// What is said of a value: `{}` is what a thing is called, `<>` the value.
const FORMS: &[&str] = &["- {}: <>", "{} (<>)", "{}: <>.", "- {} – <>", "{} is <>."];

/// Both claims of a form: with the own value, and with that of the other thing.
fn claims(names: [&str; 2], values: [&str; 2]) -> Vec<(String, bool)> {
    let mut claims = Vec::new();
    for form in FORMS {
        for thing in [0, 1] {
            for value in [0, 1] {
                let claim = form
                    .replace("{}", names[thing])
                    .replace("<>", &values[value].replace('_', " "));
                claims.push((claim, thing == value));
            }
        }
    }
    claims
}

fn check(claims: Vec<(String, bool)>, judged: impl Fn(&str) -> Finding) {
    let count = claims.len();
    let wrong: Vec<String> = claims
        .into_iter()
        .filter_map(|(claim, is_so)| {
            let finding = judged(&claim);
            let expected = if is_so { Truth::True } else { Truth::False };
            (finding.verdict != expected).then(|| format!("{claim} ({is_so}): {}", finding.message))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {count} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_text_is_the_value_of_its_own_record() {
    for (name, names, key, values) in PAIRS {
        let record = |at: usize| json!({ (*name): names[at], (*key): values[at], "seen": true });
        let results = [json!({ "items": [record(0), record(1)] })];
        check(claims(*names, *values), |claim| judge(claim, &results));
    }
}

/// A run with calls of one tool, by their arguments.
fn calls(output: &str, calls: &[(serde_json::Value, serde_json::Value)]) -> Finding {
    let mut trial = Trial::new(output);
    for (at, (args, result)) in calls.iter().enumerate() {
        let id = format!("call-{at}");
        trial = trial
            .event(
                "tool_call",
                json!({ "tool": "get", "call_id": id, "args": args }),
            )
            .event(
                "tool_result",
                json!({ "tool": "get", "call_id": id, "success": true, "result": result }),
            );
    }
    judged_by(&trial.view(), &tools(&["get"]), None)
}

#[test]
fn what_a_result_was_asked_for_tells_it_from_another() {
    for (_, names, key, values) in PAIRS {
        let call = |at: usize| {
            (
                json!({ "item": names[at] }),
                json!({ (*key): values[at], "seen": true }),
            )
        };
        check(claims(*names, *values), |claim| {
            calls(claim, &[call(0), call(1)])
        });
    }
    let weather = |city: &str, low: i32, high: i32, wind: u32| {
        (
            json!({ "city": city, "date": "2026-01-20" }),
            json!({ "temp_min_c": low, "temp_max_c": high, "wind_kmh": wind }),
        )
    };
    let both = [weather("Oslo", -11, -4, 14), weather("Rome", 5, 13, 22)];
    let said = |claim: &str, is_so: bool| (claim.to_owned(), is_so);
    check(
        vec![
            said("- Oslo: low of -11 °C, high of -4 °C, wind 14 km/h", true),
            said("- Oslo: low of -4 °C, high of -11 °C, wind 14 km/h", false),
            said("- Oslo: low of 5 °C, high of 13 °C, wind 22 km/h", false),
            said("- Rome: 5 to 13 °C, wind 22 km/h", true),
            said("- Rome: -11 to -4 °C, wind 14 km/h", false),
            said(
                "Forecast for Tuesday, 20 January:\n- Rome: 5 to 13 °C, wind 22 km/h",
                true,
            ),
            said(
                "Forecast for Monday, 20 January:\n- Rome: 5 to 13 °C, wind 22 km/h",
                false,
            ),
        ],
        |claim| calls(claim, &both),
    );
}

#[test]
fn what_was_searched_for_is_no_name_of_what_was_found() {
    let results = [(
        json!({ "query": "CEO Jane Doe of Acme" }),
        json!({ "text": "Acme makes anvils in Ohio." }),
    )];
    assert_eq!(
        calls("Acme's CEO is Jane Doe.", &results).verdict,
        Truth::False
    );
}

#[test]
fn the_later_of_two_results_of_one_call_counts() {
    let call = |status: &str, place: &str, is_healthy: bool| {
        (
            json!({ "parcel": "ZX990112" }),
            json!({ "parcel": "ZX990112", "status": status, "location": place, "healthy": is_healthy }),
        )
    };
    let both = [
        call("in_transit", "Hub Leipzig", false),
        call("out_for_delivery", "Depot Potsdam", true),
    ];
    let said = |claim: &str, is_so: bool| (claim.to_owned(), is_so);
    check(
        vec![
            said("- ZX990112: out for delivery, at Depot Potsdam", true),
            said("- ZX990112: in transit, at Hub Leipzig", false),
            said("ZX990112 was at Hub Leipzig before.", true),
            said("ZX990112 is healthy.", true),
            said("ZX990112 is unhealthy.", false),
        ],
        |claim| calls(claim, &both),
    );
}

#[test]
fn none_and_all_are_counted() {
    for (first, second) in [(true, true), (true, false), (false, true), (false, false)] {
        let record = |name: &str, is: bool| json!({ "subject": name, "cancelled": is });
        let results = [json!({ "lessons": [record("Maths", first), record("English", second)] })];
        check(
            vec![
                (
                    "There are two lessons, and all of them are cancelled.".to_owned(),
                    first && second,
                ),
                (
                    "There are two lessons, and none of them is cancelled.".to_owned(),
                    !first && !second,
                ),
            ],
            |claim| judge(claim, &results),
        );
    }
}

#[test]
fn zero_is_none_of_them() {
    for (count, denies) in [(0, true), (3, false)] {
        let results = [json!({ "account": "Nordhaus", "overdue_tasks": count })];
        check(
            vec![
                (
                    "There are no overdue tasks on the Nordhaus account.".to_owned(),
                    denies,
                ),
                (
                    "There are overdue tasks on the Nordhaus account.".to_owned(),
                    !denies,
                ),
            ],
            |claim| judge(claim, &results),
        );
    }
}

#[test]
fn each_clause_denies_for_itself() {
    let text = "About 3,200 orders could not be completed; no customer data was lost.";
    holds("No customer data was lost.", text);
    fails("Some customer data was lost.", text);
}

#[test]
fn values_in_running_text_belong_to_the_words_beside_them() {
    let text = "The house was built in 1962 and has a living area of 132 square metres on a plot of 540 square metres.";
    holds("Built in 1962, 132 m² living area, 540 m² plot", text);
    fails("Built in 1962, 540 m² living area, 132 m² plot", text);
    let text = "Books can be borrowed for four weeks, DVDs and games for one week.";
    holds("Books can be borrowed for four weeks.", text);
    fails("Books can be borrowed for one week.", text);
    fails(
        "Stir in 1.2 ml of stock.",
        "Stir in 300 g of lentils and 1.2 litres of stock.",
    );
}
