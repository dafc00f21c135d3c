//! Amounts: of which currency and unit, with which sign, by the week or by the month; versions and addresses.

use super::*;

/// Each currency as it is written, and whether `$` alone may be it.
const MONEY: &[(&str, &[&str], bool)] = &[
    ("USD", &["US$50", "USD 50", "50 USD"], true),
    ("AUD", &["A$50", "AU$50", "50 AUD"], true),
    ("CAD", &["C$50", "CA$ 50", "CAD 50"], true),
    ("NZD", &["NZ$50", "50 NZD"], true),
    ("EUR", &["€50", "50 €", "50 euros", "EUR 50"], false),
    ("GBP", &["£50", "50 pounds", "50 GBP"], false),
    ("KRW", &["₩50", "50 KRW"], false),
    ("PLN", &["50 zł", "50 PLN"], false),
];

#[test]
fn money_of_one_currency_is_none_of_another() {
    let mut wrong = Vec::new();
    let mut look = |claim: &str, results: &[serde_json::Value], is_same: bool| {
        let finding = judge(&format!("The Blue Room costs {claim}."), results);
        let expected = if is_same { Truth::True } else { Truth::False };
        if finding.verdict != expected {
            wrong.push(format!("{claim} of {results:?}: {}", finding.message));
        }
    };
    for (code, written, is_dollar) in MONEY {
        for source in [
            article(&format!("The Blue Room costs {}.", written[0])),
            vec![json!({"name": "Blue Room", "price": 50, "currency": code})],
        ] {
            for (other, claims, _) in MONEY {
                for claim in *claims {
                    look(claim, &source, code == other);
                }
            }
            look("$50", &source, *is_dollar);
            look("50 dollars", &source, *is_dollar);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn what_is_paid_by_the_week_is_not_paid_by_the_month() {
    let rates = [
        ("hour", "hourly"),
        ("week", "weekly"),
        ("month", "monthly"),
        ("year", "yearly"),
    ];
    let mut wrong = Vec::new();
    for (source_period, source_adverb) in rates {
        for source in [
            article(&format!(
                "At Mill Lane the rent is $50 per {source_period}."
            )),
            article(&format!("At Mill Lane the {source_adverb} rent is $50.")),
            vec![json!({"street": "Mill Lane", (format!("{source_adverb}_rent_usd")): 50})],
            vec![
                json!({"street": "Mill Lane", "rent": 50, "currency": "USD", "interval": source_period}),
            ],
            vec![
                json!({"street": "Mill Lane", "rent": 50, "currency": "USD", "billing": source_adverb}),
            ],
        ] {
            for (period, adverb) in rates {
                for claim in [
                    format!("At Mill Lane the rent is $50 per {period}."),
                    format!("At Mill Lane the rent is $50 a {period}."),
                    format!("At Mill Lane the rent is $50/{period}."),
                    format!("At Mill Lane the rent is $50 {adverb}."),
                    format!("At Mill Lane the {adverb} rent is $50."),
                    format!("At Mill Lane the rent is $50 every {period}."),
                ] {
                    let finding = judge(&claim, &source);
                    let expected = match period == source_period {
                        true => Truth::True,
                        false => Truth::False,
                    };
                    if finding.verdict != expected {
                        wrong.push(format!("{claim} of {source:?}: {}", finding.message));
                    }
                }
            }
            let finding = judge("At Mill Lane the rent is $50.", &source);
            assert_eq!(finding.verdict, Truth::True, "{source:?}");
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_code_is_no_denial_and_a_sentence_no_state() {
    let record = json!([{"city": "Bergen", "country": "no", "hotels": 12}]);
    let finding = judge(
        "Bergen has 12 hotels in the country.",
        std::slice::from_ref(&record),
    );
    assert_eq!(finding.verdict, Truth::True, "{}", finding.message);
    let note = "Unfortunately the ferry of the evening was cancelled";
    let record = json!([{"route": "Bergen", "note": note, "ferries": 3}]);
    let finding = judge("Bergen has 3 ferries.", &[record]);
    assert_eq!(finding.verdict, Truth::True, "{}", finding.message);
}

#[test]
fn a_sign_a_version_and_an_address_are_those_of_the_results() {
    let balance = json!({ "account": "Ada", "balance_eur": 500 });
    let people = json!([
        { "name": "Alice", "email": "alice@x.org" },
        { "name": "Bob", "email": "bob@x.org" },
    ]);
    for (result, output, expected) in [
        (
            &balance,
            "The account of Ada stands at -500 EUR.",
            Truth::False,
        ),
        (
            &balance,
            "The account of Ada stands at minus 500 EUR.",
            Truth::False,
        ),
        (
            &balance,
            "The account of Ada stands at 500 EUR.",
            Truth::True,
        ),
        (&people, "Alice's email is bob@x.org.", Truth::False),
        (&people, "Alice's email is alice@x.org.", Truth::True),
        (
            &json!("Version 1.1 is out."),
            "Version 1.10 is out.",
            Truth::False,
        ),
        (
            &json!("Version 1.10 is out."),
            "Version 1.1 is out.",
            Truth::False,
        ),
        (
            &json!("Version 1.10 is out."),
            "Version 1.10 is out.",
            Truth::True,
        ),
    ] {
        let finding = judge(output, std::slice::from_ref(result));
        assert_eq!(finding.verdict, expected, "{output}: {}", finding.message);
    }
}
