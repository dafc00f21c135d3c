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
                            true => Verdict::Holds,
                            false => Verdict::Fails,
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
