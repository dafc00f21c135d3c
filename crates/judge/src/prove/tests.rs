//! Claims of which it is known whether they are true.

use serde_json::{Value, json};

use super::{Evidence, Judged, ProofVerdict, judge_claims};
use crate::model::ProofRules;

/// What becomes of an answer after results of one tool without arguments.
fn judged(results: &[Value], answer: &str) -> Vec<Judged> {
    let evidence: Vec<Evidence<'_>> = results
        .iter()
        .map(|result| Evidence {
            event: 0,
            tool: "look_up",
            arguments: &Value::Null,
            result,
            text: None,
        })
        .collect();
    judge_claims(answer, &evidence, &[], &ProofRules::default())
}

fn worst(result: Value, answer: &str) -> ProofVerdict {
    let all = judged(&[result], answer);
    let has = |verdict| all.iter().any(|judged| judged.verdict == verdict);
    if has(ProofVerdict::Refuted) {
        ProofVerdict::Refuted
    } else if has(ProofVerdict::Unproven) {
        ProofVerdict::Unproven
    } else {
        ProofVerdict::Supported
    }
}

#[test]
fn what_is_false_is_not_supported() {
    let mut wrong = Vec::new();
    for (result, answer) in [
        (json!({"alerts": true}), "Alerts are off."),
        (json!("0 retries"), "There were retries."),
        (
            json!([{"ticket": "T1", "state": "open"}, {"ticket": "T2", "state": "closed"}]),
            "No ticket is open.",
        ),
        (
            json!([{"guest": "Mia", "room": "12"}, {"guest": "Noah", "room": "7"}]),
            "Mia's room is 7.",
        ),
        (
            json!([{"guest": "Mia", "room": "12"}, {"guest": "Noah", "room": "7"}]),
            "| | Mia | Noah |\n|---|---|---|\n| room | 7 | 12 |",
        ),
        (
            json!({"min_age": 18, "max_age": 65}),
            "The maximum age is 18.",
        ),
        (
            json!("Customers asked whether refunds are off."),
            "Refunds are off.",
        ),
        (
            json!("Ann approved Bob's request."),
            "Bob approved Ann's request.",
        ),
        (
            json!("Rents rose 3.1 % in 2025 and 4.4 % in 2024."),
            "Rents rose 3.1 % in 2024.",
        ),
        (
            json!({"signed": "2026-03-02", "cancelled": null}),
            "It was cancelled on March 2, 2026.",
        ),
        (
            json!("The treaty did not sign."),
            "I could not check the date, but the treaty was signed.",
        ),
        (
            json!({"total": 40, "currency": "EUR"}),
            "The total is 40 USD.",
        ),
        (
            json!({"note": "Entry is free only for children."}),
            "Entry is free.",
        ),
        (
            json!({"note": "The train may be late."}),
            "The train is late.",
        ),
        (
            json!({"text": "Refunds are possible if you have a receipt."}),
            "Refunds are possible.",
        ),
        (
            json!({"price_eur_per_month": 12}),
            "The price is 12 EUR per year.",
        ),
    ] {
        if worst(result.clone(), answer) == ProofVerdict::Supported {
            wrong.push(format!("{result} {answer}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn what_is_true_is_not_refuted() {
    let mut wrong = Vec::new();
    for (result, answer) in [
        (json!("9 done; 0 failed"), "9 done, none failed"),
        (
            json!([{"room": "12", "state": "cleaned"}, {"booking": "B4", "state": "open"}]),
            "Room 12 was cleaned and booking B4 is open.",
        ),
        (
            json!({"prices": [20, 120], "currency": "EUR"}),
            "Prices range from 20 to 120 EUR.",
        ),
        (
            json!({"total": 40, "currency": "EUR"}),
            "The total is 40 EUR.",
        ),
        (json!({"rate": 0.42}), "The rate is 42 %."),
        (json!({"total": 40}), "## Next steps"),
        (
            json!("Rents rose 3.1 % in 2025 and 4.4 % in 2024."),
            "Rents rose 3.1 % in 2025 and 4.4 % in 2024.",
        ),
        (
            json!({"items": [{"n": 1}, {"n": 2}, {"n": 3}]}),
            "There are three items.",
        ),
    ] {
        if worst(result.clone(), answer) == ProofVerdict::Refuted {
            wrong.push(format!("{result} {answer}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}
