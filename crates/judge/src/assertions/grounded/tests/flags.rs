//! Flags of several things: which of them a sentence is about, all of it says.

use super::*;

/// Things in pairs, by the key of their name.
const THINGS: &[(&str, [&str; 2])] = &[
    ("name", ["Alpha", "Beta"]),
    ("product", ["cough syrup", "nasal spray"]),
    ("room", ["Room A1", "Room B2"]),
    ("hotel", ["Hotel Krone", "Hotel Seeblick"]),
    ("ref", ["R7", "R9"]),
];

/// Flags by their keys, with what a sentence says of a thing that has them, and of one that hasn't.
const FLAGS: &[(&str, &str, &str)] = &[
    ("in_stock", "is in stock", "is not in stock"),
    ("available", "is available", "is not available"),
    ("free", "is free", "isn't free"),
    ("has_lift", "has a lift", "has no lift"),
];

/// What else a sentence says of a thing: `{}` is what it is called, `<>` what is said of its flag, `N` a number of its record.
const FORMS: &[&str] = &[
    "{} <>.",
    "{} costs N EUR and <>.",
    "{} (N EUR) <>.",
    "{}, at N EUR, <>.",
    "{} <> and costs N EUR.",
    "- {}: N EUR, <>",
];

#[test]
fn a_flag_is_that_of_the_thing_whatever_else_is_said_of_it() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (key, names) in THINGS {
        for (flag, has, has_not) in FLAGS {
            for is_first in [true, false] {
                let prices = [129, 84];
                let record = |at: usize, is: bool| json!({(*key): names[at], "price_eur": prices[at], (*flag): is});
                let results = vec![json!({"items": [record(0, is_first), record(1, !is_first)]})];
                for (at, form) in [0, 1]
                    .into_iter()
                    .flat_map(|at| FORMS.iter().map(move |form| (at, form)))
                {
                    for says_so in [true, false] {
                        let name = match names[at].contains(char::is_uppercase) {
                            true => names[at].to_owned(),
                            false => format!("The {}", names[at]),
                        };
                        let claim = form
                            .replace("<>", if says_so { has } else { has_not })
                            .replace('N', &prices[at].to_string())
                            .replace("{}", &name);
                        let is_so = (at == 0) == is_first;
                        let expected = match says_so == is_so {
                            true => Truth::True,
                            false => Truth::False,
                        };
                        let finding = judge(&claim, &results);
                        count += 1;
                        if finding.verdict != expected {
                            wrong.push(format!("{claim} ({flag}: {is_so}): {}", finding.message));
                        }
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_flag_and_its_opposite_say_the_same_of_each_other() {
    let mut wrong = Vec::new();
    for (key, opposite) in [
        ("open", "closed"),
        ("closed", "open"),
        ("online", "offline"),
        ("active", "inactive"),
        ("valid", "invalid"),
        ("enabled", "disabled"),
        ("available", "unavailable"),
        ("unpaid", "paid"),
        ("unlocked", "locked"),
    ] {
        for flag in [true, false] {
            let result = json!({ "event": "Concert", key: flag });
            for (said, is_so) in [
                (format!("The concert is {key}."), flag),
                (format!("The concert is not {key}."), !flag),
                (format!("The concert is {opposite}."), !flag),
                (format!("The concert is not {opposite}."), flag),
            ] {
                let verdict = judge(&said, std::slice::from_ref(&result)).verdict;
                // A flag that is false may be neither, so that is no mistake.
                let may_fail = !flag && said.contains(opposite);
                if verdict != if is_so { Truth::True } else { Truth::False } && !may_fail {
                    wrong.push(format!("{said} ({key}: {flag}): {verdict:?}"));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_key_may_deny_by_itself() {
    for (flag, output, expected) in [
        (false, "The concert is sold out.", Truth::False),
        (false, "The concert is not sold out.", Truth::True),
        (true, "The concert is sold out.", Truth::True),
        (true, "The concert is not sold out.", Truth::False),
    ] {
        let result = json!({ "event": "Concert", "sold_out": flag });
        assert_eq!(
            judge(output, &[result]).verdict,
            expected,
            "{output} {flag}"
        );
    }
}

#[test]
fn all_of_a_list_are_counted_however_they_are_called() {
    let hotels = json!([
        { "name": "Harbour Hotel", "pool": false },
        { "name": "Garden Hotel", "pool": true },
    ]);
    for output in [
        "Both hotels have a pool.",
        "All hotels have a pool.",
        "None of the hotels has a pool.",
        "Neither the Harbour Hotel nor the Garden Hotel has a pool.",
    ] {
        let verdict = judge(output, std::slice::from_ref(&hotels)).verdict;
        assert_eq!(verdict, Truth::False, "{output}");
    }
    let verdict = judge("The Garden Hotel has a pool.", &[hotels]).verdict;
    assert_eq!(verdict, Truth::True);
}
