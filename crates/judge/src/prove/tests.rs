//! Claims of which it is known whether they are true.

use serde_json::{Value, json};

mod forms;

use super::ProofRules;
use super::{Evidence, Judged, ProofVerdict, judge_claims};

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
    judge_claims(answer, &evidence, &[], ProofRules::default())
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
        (json!({"duration_min": 90}), "It takes 2 hours."),
        (
            json!("Smoking is not allowed in rooms."),
            "Is smoking allowed? Yes.",
        ),
        (
            json!("Smoking is not allowed in rooms."),
            "## Is smoking allowed in rooms?\n\nOf course.",
        ),
        (json!({"pool_open": false}), "Q: Is the pool open?\nA: Yes."),
        (json!({"pool_open": true}), "Is the pool open? No."),
        (
            json!({"one_click": true, "two_click": false}),
            "Two click is on.",
        ),
        // What one sentence says of one thing is not said of another.
        (
            json!(
                "The parcel of Gus weighs 60 kg and contains 80 books. The parcel of Ada weighs 7 kg and contains 3 books."
            ),
            "The parcel of Gus weighs 60 kg and contains 3 books.",
        ),
        (
            json!("Ann lives in Oslo and works in Malmo."),
            "Ann lives in Malmo and works in Oslo.",
        ),
        (
            json!([{"hotel": "Krone", "price_eur": 251, "rooms": 21}, {"hotel": "Villa Rosa", "price_eur": 40, "rooms": 18}]),
            "Krone has 21 rooms and costs €40 – Villa Rosa has 18 rooms and costs €40.",
        ),
        (
            json!([{"place": "Krone", "city": "Ghent", "rooms": 42}, {"place": "Old Mill", "city": "Graz", "rooms": 25}]),
            "Old Mill has 25 rooms and is in Ghent.",
        ),
        (
            json!([{"name": "Ann", "pulse": 60}, {"name": "Bob", "pulse": 90}]),
            "Ann is here. The pulse is 90.",
        ),
        // A title tells what a text is about, and a line alone what those below it are of.
        (
            json!({"title": "Bridge collapse averted", "text": "The old bridge over the river was inspected by two engineers on Monday. It is open."}),
            "The bridge collapsed on Monday.",
        ),
        (
            json!([{"name": "Ann", "age": 60, "city": "Bonn"}, {"name": "Bob", "age": 90, "city": "Graz"}]),
            "Ann\nage: 90\ncity: Graz",
        ),
        (
            json!([{"ticket": "T1", "state": "open"}, {"ticket": "T2", "state": "closed"}]),
            "1. Open\n\n- T2",
        ),
        // Who did it is whom the key of the deed names.
        (
            json!({"number": 1412, "author": "jo", "state": "merged", "merged_by": "kim"}),
            "#1412 was merged by jo.",
        ),
        (
            json!({"number": 1412, "author": "jo", "state": "open"}),
            "jo opened #1412.",
        ),
        (
            json!({"country": "Portugal", "capital": "Lisbon", "neighbours": ["Spain"]}),
            "The capital of Spain is Lisbon.",
        ),
        (
            json!([{"name": "Ivo", "age": 23, "manager": "Dev"}, {"name": "Dev", "age": 51, "manager": "Ada"}]),
            "Dev (age: 23, manager: Dev)",
        ),
        // What is denied of an entry, of a flag beside a list, and by a picture.
        (
            json!({"files": ["main.py", "util.py"]}),
            "There is no main.py.",
        ),
        (
            json!({"heating": true, "lights": [{"name": "lamp", "on": true}, {"name": "spot", "on": false}]}),
            "The heating is not on.",
        ),
        (
            json!([{"service": "cache", "enabled": true}, {"service": "mail", "enabled": false}]),
            "❌ cache",
        ),
        (
            json!({"matches": [{"home": "Falcons", "score": "3-1"}, {"home": "United", "score": "0-0"}]}),
            "There were three matches.",
        ),
        (
            json!({"high_52w": 102.4, "low_52w": 61.05}),
            "The 52w low is 102.4.",
        ),
        (
            json!("The Green party voted against it."),
            "The Green party voted for it.",
        ),
    ] {
        if worst(result.clone(), answer) == ProofVerdict::Supported {
            wrong.push(format!("{result} {answer}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn numbers_in_keys_are_words_of_their_flags() {
    for (result, answer) in [
        (
            json!({"one_click_checkout": false}),
            "One click checkout is off.",
        ),
        (json!({"one_time_code": true}), "The one-time code is on."),
        (json!({"2fa_enabled": true}), "2FA is enabled."),
        (
            json!({"2fa_enabled": false, "alerts_enabled": true}),
            "Alerts are enabled, and 2FA is not.",
        ),
        (json!({"duration_min": 90}), "It takes 1.5 hours."),
        (json!({"duration_min": 90}), "It takes 1 h 30 min."),
        (json!({"distance_km": 251}), "The distance is 156 miles."),
        (json!({"pool_open": false}), "Is the pool open? No."),
        (
            json!("The pool is closed in winter."),
            "Is the pool closed in winter? Yes.",
        ),
        (json!({"open_24h": false}), "It is not open 24h."),
        (json!({"alerts_enabled": true}), "Alerts are on."),
        (json!({"login_disabled": true}), "Login is off."),
        (
            json!({"backup": true, "cache": false}),
            "Backup is on, cache is off.",
        ),
        (
            json!({"high": 22, "unit": "celsius", "rain_chance": 0.4}),
            "The high is 22 °C and the rain chance 40 %.",
        ),
        (
            json!({"min_age": 18, "max_age": 65}),
            "The minimum age is 18 and the maximum age 65.",
        ),
        (
            json!({"plan": "Pro", "price_per_month_gbp": 12}),
            "The Pro plan has a price of £12 per month.",
        ),
        (
            json!({"drug": "X1", "times_per_day": 2}),
            "X1: 2 times per day",
        ),
        (json!({"region": "North", "q1": 120}), "North: Q1 120"),
        (
            json!([{"lamp": "Nova", "dimmable": true}, {"lamp": "Pixel", "dimmable": true}, {"lamp": "Orbit", "dimmable": false}]),
            "Nova and Pixel are dimmable.",
        ),
        (
            json!([{"plan": "Team", "SSO": false}, {"plan": "Scale", "SSO": true}]),
            "Team has no SSO.",
        ),
        (
            json!({"tracks": ["Ocean", "Home"]}),
            "Ocean is one of the tracks.",
        ),
    ] {
        let found = worst(result.clone(), answer);
        assert_eq!(found, ProofVerdict::Supported, "{result} {answer}");
    }
    for (result, answer) in [
        (
            json!({"one_click_checkout": false}),
            "One click checkout is on.",
        ),
        (
            json!({"one_click_checkout": false}),
            "Two click checkout is off.",
        ),
        (json!({"2fa_enabled": true}), "2FA is disabled."),
        (
            json!({"items": ["a", "b", "c", "d"]}),
            "There are three stories.",
        ),
        (
            json!({"items": ["a", "b", "c", "d"]}),
            "I found three items.",
        ),
    ] {
        let found = worst(result.clone(), answer);
        assert_eq!(found, ProofVerdict::Refuted, "{result} {answer}");
    }
}

#[test]
fn what_is_true_is_not_refuted() {
    let mut wrong = Vec::new();
    for (result, answer) in [
        (json!("9 done; 0 failed"), "9 done, none failed"),
        (
            json!([{"login": "bkim", "admin": false}, {"login": "dfox", "admin": false}, {"login": "cdiaz", "admin": true}]),
            "bkim and dfox are listed. Neither is an admin.",
        ),
        (
            json!({"currency": "EUR", "items": [{"kind": "hotel", "desc": "Seehof, 5 nights", "price": 475}, {"kind": "car", "desc": "Compact, 5 days", "price": 165}]}),
            "| Item | Price |\n|---|---|\n| Hotel Seehof, 5 nights | €475 |\n| Compact car, 5 days | €165 |",
        ),
        (
            json!("/            50G   21G   42%\n/srv/media   8.0T  7.4T  93%"),
            "On / 21 GB of 50 GB are used; on /srv/media 7.4 of 8.0 TB.",
        ),
        (
            json!([{"day": "2026-01-05", "rain_mm": 12.0}, {"day": "2026-01-06", "rain_mm": 3.5}, {"day": "2026-01-07", "rain_mm": 20.5}, {"day": "2026-01-08", "rain_mm": 9.0}]),
            "From January 5 to 7 there was 36 mm of rain.",
        ),
        (
            json!({"distance_km": 6.0, "moving_time": "00:32:12"}),
            "You ran 6 km in 32 minutes and 12 seconds.",
        ),
        (
            json!({"delivered_at": "2026-02-10", "rule": "Customers can return items within 30 days of delivery."}),
            "It was delivered on February 10, 2026, so it can be returned until March 12, 2026.",
        ),
        (
            json!([{"instances": [{"id": "i-1"}]}, {"instances": [{"id": "i-2"}, {"id": "i-3"}]}, {"instances": [{"id": "i-4"}]}]),
            "There are four instances.",
        ),
        (
            json!({"symbol": "ACME", "high_52w": 198.2}),
            "The 52-week high of ACME is 198.2.",
        ),
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
            json!([{"flight": "QX 373", "destination": "Malmo", "price_usd": 185.97}, {"flight": "QX 512", "destination": "Porto", "price_usd": 90.5}]),
            "The price of Malmo (QX 373) is $185.97.",
        ),
        (
            json!("Rents rose 3.1 % in 2025 and 4.4 % in 2024."),
            "Rents rose 3.1 % in 2025 and 4.4 % in 2024.",
        ),
        (
            json!({"items": [{"n": 1}, {"n": 2}, {"n": 3}]}),
            "There are three items.",
        ),
        (
            json!({"items": ["a", "b", "c", "d"]}),
            "I searched the news and picked three stories.",
        ),
        (
            json!("Smoking is not allowed in rooms."),
            "Is smoking allowed? No.",
        ),
        (json!({"duration_min": 90}), "It takes about 2 hours."),
        (
            json!({"candidate": "Petit", "votes": 9580, "share": 0.479}),
            "Petit received 47.9 % of the vote.",
        ),
        (
            json!([{"payee": "Rewe", "amount": -54.2, "currency": "EUR"}, {"payee": "Rewe", "amount": -23.75, "currency": "EUR"}]),
            "You spent €77.95 at Rewe.",
        ),
        (
            json!({"hits": [{"title": "VPN setup"}, {"title": "VPN errors"}, {"title": "Tokens"}]}),
            "I found 3 hits for VPN.",
        ),
    ] {
        if worst(result.clone(), answer) == ProofVerdict::Refuted {
            wrong.push(format!("{result} {answer}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn records_say_what_is_theirs() {
    let mut wrong = Vec::new();
    let family = json!({"name": "Ann", "age": 31, "spouse": {"name": "Dee", "age": 33}});
    for (source, answer, verdict) in [
        (
            family.clone(),
            "The age of Dee is 33.",
            ProofVerdict::Supported,
        ),
        (
            family.clone(),
            "The age of Ann is 33.",
            ProofVerdict::Unproven,
        ),
        (family, "The age of Dee is 31.", ProofVerdict::Unproven),
        (
            json!({"non_refundable": true}),
            "It is non-refundable.",
            ProofVerdict::Supported,
        ),
        (
            json!({"non_refundable": true}),
            "It is refundable.",
            ProofVerdict::Refuted,
        ),
        (
            json!({"temp_c": 0}),
            "The temp is 0 °C.",
            ProofVerdict::Supported,
        ),
        (
            json!([{"name": "Part 0", "price_eur": 1.0}, {"name": "Part 1", "price_eur": 2.5}]),
            "The price of Part 0 is 1.00 EUR.",
            ProofVerdict::Supported,
        ),
        (
            json!([{"name": "Part 0", "price_eur": 1.0}, {"name": "Part 1", "price_eur": 2.5}]),
            "**Part 0**\n\nPrice: 2.50 EUR",
            ProofVerdict::Refuted,
        ),
        (
            json!({"company": "Halden", "revenue_m_usd": 412.5}),
            "The revenue of Halden is $412.5 million.",
            ProofVerdict::Supported,
        ),
        (
            json!({"amount_cents": 1250, "currency": "EUR"}),
            "The amount is €12.50.",
            ProofVerdict::Supported,
        ),
        (
            json!({"city": "Oslo", "celsius": 12}),
            "It is 12 °C in Oslo.",
            ProofVerdict::Supported,
        ),
        (
            json!({"city": "Oslo", "celsius": 12}),
            "It is 21 °C in Oslo.",
            ProofVerdict::Refuted,
        ),
        (
            json!(
                "<table><tr><td>Single</td><td>80 EUR</td></tr><tr><td>Double</td><td>120 EUR</td></tr></table>"
            ),
            "Single: price 120 EUR",
            ProofVerdict::Unproven,
        ),
        (
            json!("<room><name>Single</name><price>80 EUR</price></room>"),
            "Single: price 80 EUR",
            ProofVerdict::Unproven,
        ),
        (
            json!("Adults: 12 EUR\nChildren: 5 EUR"),
            "Adults: 5 EUR",
            ProofVerdict::Unproven,
        ),
        (
            json!({"city": "Graz", "sky": "sunny"}),
            "The sky of Graz is sunny.\n\nMit freundlichen Grüßen",
            ProofVerdict::Supported,
        ),
        (
            json!({"city": "Graz", "sky": "sunny"}),
            "Laut den Ergebnissen:\n\nThe sky of Graz is sunny.",
            ProofVerdict::Unproven,
        ),
        (
            json!("The train leaves from platform 3."),
            "The train leaves from platform 4, shall I book it?",
            ProofVerdict::Refuted,
        ),
        (
            json!("The plan is B."),
            "The plan is D. Shall I book it?",
            ProofVerdict::Unproven,
        ),
    ] {
        let found = worst(source.clone(), answer);
        if found != verdict {
            wrong.push(format!("{source} | {answer} | {found:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn who_does_what_to_whom_is_kept() {
    let mut wrong = Vec::new();
    for (source, answer, verdict) in [
        (
            "The Orchard Office reports that apples are cheap.",
            "According to the Orchard Office, apples are cheap.",
            ProofVerdict::Supported,
        ),
        (
            "Nobody at the Orchard Office says that apples are cheap.",
            "Apples are cheap.",
            ProofVerdict::Unproven,
        ),
        (
            "Ann hired Bob on 3 May 2026.",
            "Bob was hired by Ann.",
            ProofVerdict::Unproven,
        ),
        (
            "Ann hired Bob on 3 May 2026.",
            "Ann was hired by Bob.",
            ProofVerdict::Unproven,
        ),
        (
            "Ann hired Bob on 3 May 2026.",
            "Ann was hired on 3 May 2026.",
            ProofVerdict::Unproven,
        ),
        (
            "The bridge was built by Alpha Corp.",
            "Alpha Corp built the bridge.",
            ProofVerdict::Unproven,
        ),
        (
            "Mark refused to sign the lease.",
            "Mark signed the lease.",
            ProofVerdict::Unproven,
        ),
        (
            "The firm lacks a licence.",
            "The firm has a licence.",
            ProofVerdict::Unproven,
        ),
        (
            "Fewer than 10 rooms remain.",
            "10 rooms remain.",
            ProofVerdict::Unproven,
        ),
        (
            "Max married Ina's sister.",
            "Max married Ina.",
            ProofVerdict::Unproven,
        ),
        (
            "Without a ticket, entry is not allowed.",
            "Entry is not allowed.",
            ProofVerdict::Unproven,
        ),
        (
            "The Water Board says the dam is safe.",
            "According to Delft University, the dam is safe.",
            ProofVerdict::Refuted,
        ),
        (
            "Neither Ann nor Bob came.",
            "Ann came.",
            ProofVerdict::Refuted,
        ),
        (
            "Neither Ann nor Bob attended.",
            "Bob did not attend.",
            ProofVerdict::Supported,
        ),
        (
            "Only Ann and Bob have a key.",
            "Only Ann has a key.",
            ProofVerdict::Unproven,
        ),
        (
            "X1 hired 5 people in Rome and fired 3 people in Oslo.",
            "X1 fired 3 people in Oslo.",
            ProofVerdict::Supported,
        ),
        (
            "X1 hired 5 people in Rome and fired 3 people in Oslo.",
            "In Oslo, X1 hired 5 people.",
            ProofVerdict::Unproven,
        ),
        (
            "Sales in Oslo rose by 7 percent, but sales in Turin fell by 45 percent.",
            "In Turin, sales rose by 7 percent.",
            ProofVerdict::Unproven,
        ),
        (
            "In Köln stieg die Miete um 5 Prozent, in Bonn sank sie um 3 Prozent.",
            "In Bonn stieg die Miete um 5 Prozent.",
            ProofVerdict::Unproven,
        ),
        (
            "Der Hund biss den Mann.",
            "Den Hund biss der Mann.",
            ProofVerdict::Unproven,
        ),
    ] {
        let found = worst(json!(source), answer);
        if found != verdict {
            wrong.push(format!("{source} | {answer} | {found:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// What hangs under something is of that: a cell of its row, an item of the value above it, a fragment of what stands before.
#[test]
fn what_hangs_under_a_value_is_of_that() {
    let orders =
        || json!([{"id": 2001, "status": "delivered"}, {"id": 2002, "status": "returned"}]);
    let talks = || json!([{"time": "9:00", "talk": "Yoga", "speaker": "Ann"}, {"time": "11:00", "talk": "Spin", "speaker": "Bob"}]);
    let days = || json!([{"date": "2026-03-01", "person": "Ann"}, {"date": "2026-03-02", "person": "Bob"}]);
    let cities = || json!([{"city": "Rome", "score": 31}, {"city": "Oslo", "score": 12}]);
    let files = || json!([{"path": "a1.py", "tested": true, "owner": "Liv"}, {"path": "b2.py", "tested": false, "owner": "Moe"}]);
    let people = || json!([{"name": "Ann", "age": 30, "paid": true}, {"name": "Bob", "age": 45, "paid": false}]);
    let staff = || json!([{"name": "Mara Quinn", "manager": "Ivo Stein", "part_time": true}, {"name": "Ivo Stein", "manager": "Ruth Abel", "part_time": false}]);
    let rows = [
        (
            orders(),
            "| Order | Status |\n|---|---|\n| 2001 | delivered |\n| 2002 | returned |",
            true,
        ),
        (
            orders(),
            "| Order | Status |\n|---|---|\n| 2001 | returned |",
            false,
        ),
        (
            orders(),
            "| Order | Status |\n|---|---|\n| 9999 | delivered |",
            false,
        ),
        (orders(), "2001 – delivered", true),
        (orders(), "2001 – returned", false),
        (orders(), "#2001 | returned", false),
        (orders(), "## 2001\n- Status: delivered", true),
        (orders(), "## 2001\n- Status: returned", false),
        (
            talks(),
            "| Time | Talk |\n|---|---|\n| 9:00 | Yoga |\n| 11:00 | Spin |",
            true,
        ),
        (
            talks(),
            "| Time | Talk |\n|---|---|\n| 9:00 | Spin |",
            false,
        ),
        (talks(), "9:00 – Yoga (Ann)", true),
        (talks(), "9:00 – Yoga (Bob)", false),
        (
            days(),
            "| Date | Person |\n|---|---|\n| 1 March 2026 | Ann |",
            true,
        ),
        (
            days(),
            "| Date | Person |\n|---|---|\n| 1 March 2026 | Bob |",
            false,
        ),
        (cities(), "- Rome (31)\n- Oslo (12)", true),
        (cities(), "Oslo (31)", false),
        (
            cities(),
            "| # | City | Score |\n|---|---|---|\n| 1 | Rome | 31 |\n| 2 | Oslo | 12 |",
            true,
        ),
        (
            cities(),
            "| # | City | Score |\n|---|---|---|\n| 1 | Rome | 12 |",
            false,
        ),
        (files(), "**Tested**\n- a1.py", true),
        (files(), "**Tested**\n- b2.py", false),
        (files(), "Not tested:\n- b2.py", true),
        (files(), "Not tested:\n- a1.py", false),
        (files(), "**Liv**\n- a1.py", true),
        (files(), "**Liv**\n- b2.py", false),
        (
            files(),
            "| Tested | Not tested |\n|---|---|\n| b2.py | a1.py |",
            false,
        ),
        (people(), "- **Name**: Ann\n- **Age**: 30", true),
        (people(), "- **Name**: Ann\n- **Age**: 45", false),
        (people(), "name: Ann\nage: 30\n\nname: Bob\nage: 45", true),
        (
            people(),
            "| Name | Paid |\n|---|---|\n| Ann | yes |\n| Bob | no |",
            true,
        ),
        (people(), "| Name | Paid |\n|---|---|\n| Ann | no |", false),
        (staff(), "Ivo Stein is not part time.", true),
        (staff(), "Ivo Stein is part time.", false),
        (
            staff(),
            "| Name | Part time |\n|---|---|\n| Ivo Stein | yes |",
            false,
        ),
        (staff(), "Mara Quinn's manager is Ivo Stein.", true),
    ];
    check(&rows);
}

#[test]
fn each_part_of_a_claim_has_its_own_proof() {
    let shop =
        || json!({"name": "Shop", "enabled": false, "active": true, "public": true, "paid": false});
    let cars = || json!({"cars": [{"plate": "X1", "seats": 4, "color": "red"}, {"plate": "X2", "seats": 5, "color": "blue"}]});
    let court = || json!({"title": "Court rejects appeal by Vantor", "text": "The company paid the fine. The judge thanked the witnesses."});
    let order = || json!({"order": 77, "discount": 5, "total": 7.75, "items": [{"sku": "cup", "qty": 2, "price": 3}]});
    let plan = || json!("Olga Marsh called the plan \"irresponsible\" and said it was unsafe.");
    let deploy = || json!({"service": "billing", "version": "v2.14.1", "previous_version": "v2.13.0", "status": "succeeded", "health": {"up": 3}});
    let years =
        || json!([{"year": 2021, "revenue_eur": 2100}, {"year": 2024, "revenue_eur": 2380}]);
    let users = || json!({"users": [{"name": "Ann"}, {"name": "Bob"}]});
    let rows = [
        (shop(), "Shop is active, but not paid.", true),
        (shop(), "Shop is enabled, but not active.", false),
        (shop(), "Shop is neither enabled nor paid.", true),
        (shop(), "Shop is neither active nor paid.", false),
        (shop(), "Shop is public and active.", true),
        (shop(), "Shop is public, active and enabled.", false),
        (cars(), "We have 2 cars.", true),
        (cars(), "We have 4 cars.", false),
        (cars(), "Four cars are red.", false),
        (cars(), "Cars: 4", false),
        (cars(), "X1 has 4 seats.", true),
        (cars(), "There are two cars: X1 and X2.", true),
        (users(), "There are two users: Ann and Bob.", true),
        (
            json!([{"number": 17}, {"number": 18}]),
            "There are two numbers, 17 and 18.",
            true,
        ),
        (users(), "There are two users: Ann and Zed.", false),
        (court(), "The company paid the fine.", true),
        (court(), "The company paid Vantor.", false),
        (court(), "The judge rejects the appeal.", false),
        (order(), "cup: 2", true),
        (order(), "cup: 5", false),
        (order(), "cup: 7.75", false),
        (order(), "The total of order 77 is 7.75.", true),
        (
            plan(),
            "Olga Marsh called the plan \"irresponsible\".",
            true,
        ),
        (plan(), "Olga Marsh called the plan \"responsible\".", false),
        (deploy(), "billing v2.14.1 succeeded", true),
        (deploy(), "billing v2.13.0 succeeded", false),
        (deploy(), "The previous version is v2.13.0.", true),
        (
            json!("Store it at minus 20 degrees."),
            "Store it at -20 degrees.",
            true,
        ),
        (
            json!("Store it at minus 20 degrees."),
            "Store it at 20 degrees.",
            false,
        ),
        (
            json!("Tickets cost 12 euros, or 8 euros for students."),
            "Tickets cost 12 euros for students.",
            false,
        ),
        (years(), "Revenue was 2,380 EUR in 2021.", false),
        (
            json!("Is it offline? No, it needs a connection."),
            "It needs a connection.",
            true,
        ),
        (
            json!("Trains run from Thursday."),
            "Trains run from Thursday [1].",
            true,
        ),
        (
            json!({"name": "Uma Kerr", "city": "Oslo"}),
            "Uma Kerr: Oslo",
            true,
        ),
        (json!({"range": {"km_left": 310}}), "310 km left", true),
    ];
    check(&rows);
}

/// Nothing false is supported, and everything true is.
fn check(rows: &[(Value, &str, bool)]) {
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(result, answer, is_true)| {
            let verdict = worst(result.clone(), answer);
            let is_right = (verdict == ProofVerdict::Supported) == *is_true;
            (!is_right).then(|| format!("{answer}: {verdict:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lists of one name are counted together.
#[test]
fn lists_of_one_name_are_one() {
    let orders = || json!([{"name": "Ann", "orders": ["A1", "A2"]}, {"name": "Bob", "orders": ["B1", "B2", "B3"]}]);
    check(&[
        (orders(), "There are 5 orders.", true),
        (orders(), "There are 3 orders.", false),
    ]);
}

/// What is said of several is so of each, and what is said of one names it.
#[test]
fn several_records_are_not_one() {
    let trains =
        || json!([{"train": "RE 57", "cancelled": false}, {"train": "RE 59", "cancelled": true}]);
    let people = || json!([{"name": "Ada", "active": true, "paid": false}, {"name": "Bob", "active": false, "paid": false}]);
    let shops = || {
        json!([
            {"shop": "Lyon", "quarter": "Q1", "units": 120}, {"shop": "Lyon", "quarter": "Q2", "units": 95},
            {"shop": "Ghent", "quarter": "Q1", "units": 210}, {"shop": "Ghent", "quarter": "Q2", "units": 260},
        ])
    };
    let hosts = || {
        json!(
            "| host | region | status | cpu |\n|---|---|---|---|\n| web-1 | eu-west | running | 42 % |\n| web-2 | us-east | stopped | 0 % |\n| db-1 | eu-west | running | 7 % |"
        )
    };
    let order = || {
        json!({
            "order_id": "A-77", "status": "shipped",
            "shipping": {"address": {"street": "Storgatan 5", "city": "Uppsala", "zip": "753 31"}},
            "billing": {"address": {"street": "Kungsgatan 12", "city": "Stockholm", "zip": "111 43"}},
        })
    };
    check(&[
        (trains(), "RE 59 is cancelled.", true),
        (trains(), "RE 57 and RE 59 are cancelled.", false),
        (people(), "Neither of them is active.", false),
        (people(), "Neither of them has paid.", true),
        (people(), "Each of them is active.", false),
        (people(), "They are active.", false),
        (people(), "They are not active.", false),
        (people(), "No one is active.", false),
        (people(), "No one has paid.", true),
        (people(), "Ada is active, and so is Bob.", false),
        (people(), "Ada is active; Bob is too.", false),
        (people(), "Ada is active, but Bob is not active.", true),
        (shops(), "Lyon Q1: 120 units", true),
        (shops(), "Ghent: 210 units in Q1, 260 units in Q2.", true),
        (shops(), "Lyon Q1: 95 units", false),
        (
            shops(),
            "| Shop | Quarter | Units |\n|---|---|---|\n| Lyon | Q1 | 120 |\n| Lyon | Q2 | 95 |",
            true,
        ),
        (
            shops(),
            "| Shop | Quarter | Units |\n|---|---|---|\n| Lyon | Q1 | 95 |\n| Lyon | Q2 | 120 |",
            false,
        ),
        (
            hosts(),
            "web-1 is running in eu-west at 42 % CPU; web-2 in us-east is stopped.",
            true,
        ),
        (order(), "It is shipped to Uppsala.", true),
        (order(), "It is shipped to Kungsgatan 12, Stockholm.", false),
        (order(), "The shipping address is Kungsgatan 12.", false),
    ]);
}

/// A name is one word, and a line that says a value of the items below it belongs to each.
#[test]
fn names_and_lead_ins_are_read_whole() {
    let issues = || {
        json!({"issues": [
            {"title": "Login does not work on Safari", "state": "open", "blocked": false},
            {"title": "Export without header", "state": "closed", "blocked": true},
        ]})
    };
    let invoices = || json!({"invoices": [{"id": "INV-1", "paid": true, "state": "closed"}, {"id": "INV-2", "paid": false, "state": "open"}]});
    let staff = || json!([{"name": "Dora Klein", "remote": true}, {"name": "Emil Sand", "remote": false}, {"name": "Fay Okoro", "remote": true}]);
    let orders = || json!({"orders": [{"id": "A1", "state": "open", "priority": 3}, {"id": "A2", "state": "open", "priority": 1}]});
    let table = || {
        json!(
            "# People\n\n| name | city | active |\n|---|---|---|\n| Ann Lee | Graz | true |\n| Bo Kim | Porto | false |"
        )
    };
    check(&[
        (issues(), "\"Login does not work on Safari\" is open.", true),
        (
            issues(),
            "\"Login does not work on Safari\" is not blocked.",
            true,
        ),
        (
            issues(),
            "\"Login does not work on Safari\" is blocked.",
            false,
        ),
        (issues(), "Login works on Safari.", false),
        (issues(), "\"Export without header\" is not blocked.", false),
        (invoices(), "Unpaid invoices:\n- INV-2", true),
        (invoices(), "Unpaid invoices:\n- INV-1", false),
        (invoices(), "These invoices are not paid:\n- INV-1", false),
        (
            invoices(),
            "Here are the invoices that aren't paid:\n- INV-2",
            true,
        ),
        (invoices(), "## Open invoices\n\n- INV-1", false),
        (staff(), "Dora Klein and Fay Okoro are remote.", true),
        (staff(), "Emil Sand and Dora Klein are remote.", false),
        (
            json!({"lead": "Emil Sand", "members": staff()}),
            "Emil Sand and Dora Klein are remote.",
            false,
        ),
        (orders(), "There are 3 open orders.", false),
        (orders(), "There is one order.", false),
        (table(), "Bo Kim is active.", false),
        (table(), "Bo Kim is not active.", true),
        (
            json!("We do not deliver to Malta."),
            "We do not deliver.",
            false,
        ),
        (
            json!("We do not deliver to Malta."),
            "We do not deliver to Malta.",
            true,
        ),
        (
            json!([{"name": "Ann", "paid": true}]),
            "Ann: ❌ not paid",
            false,
        ),
    ]);
}

/// Values are compared to their last digit, and signs where they stand.
#[test]
fn values_are_what_they_are() {
    let mail = || json!({"messages": [{"from": "Uwe", "subject": "Lunch on Friday?"}, {"from": "Tara", "subject": "Roof"}]});
    check(&[
        (mail(), "\"Lunch on Friday?\" is from Tara.", false),
        (mail(), "- Tara: Lunch on Friday?", false),
        (
            json!({"peak_kw": 12.4}),
            "The peak was nearly 20 kW.",
            false,
        ),
        (json!({"peak_kw": 19.4}), "The peak was nearly 20 kW.", true),
        (
            json!({"total_eur": 1_234_567.89}),
            "Total: €1,234,567.98",
            false,
        ),
        (
            json!({"total_eur": 1_234_567.89}),
            "Total: 1.234.567,89 €",
            true,
        ),
        (
            json!({"id": 12_345_678_901_u64}),
            "The id is 12345678902.",
            false,
        ),
        (
            json!({"start": "2026-03-02T14:05:31Z", "end": "2026-03-02T14:05:32Z"}),
            "The start was at 14:05:32.",
            false,
        ),
        (json!({"zip": "01067"}), "The zip is 1067.", false),
        (json!({"winner": "no"}), "The winner is \"no\".", true),
        (
            json!({"consumption_kwh": 1840}),
            "Consumption: 1.84 MWh",
            true,
        ),
        (json!("service:\n  CACHE: \"off\""), "CACHE is on.", false),
        (json!({"cache": true}), "The cache is on.", true),
        (json!({"cache": false}), "The cache is on.", false),
        (
            json!("Blend the soup. Never blend it while it is boiling."),
            "Blend it while it is boiling.",
            false,
        ),
        (
            json!("The meeting on 3 March at 9:00 is cancelled."),
            "The meeting is on 3 March at 9:00.",
            false,
        ),
    ]);
}

/// A year beside an amount is no amount, and what is reckoned from several results is not invented.
#[test]
fn what_may_be_reckoned_is_unproven() {
    for (results, answer) in [
        (
            vec![json!([{"year": 2021, "revenue_eur": 2100}, {"year": 2024, "revenue_eur": 2380}])],
            "Revenue was 2,100 EUR in 2021 and 2,380 EUR in 2024.",
        ),
        (
            vec![
                json!({"name": "Aero", "price_usd": 1099}),
                json!({"name": "Titan", "price_usd": 1599}),
            ],
            "The Titan costs $500 more than the Aero.",
        ),
        (
            vec![json!({"name": "Fish Feast", "price_eur": 12.9, "bags": 3})],
            "Three bags of Fish Feast cost €38.70.",
        ),
        (
            vec![json!(
                "- [x] Order paint\n- [ ] Call the plumber\n- [x] Measure the kitchen"
            )],
            "2 of 3 tasks are done.",
        ),
        (
            vec![json!([{"name": "Dev", "remote": true}, {"name": "Sofia", "remote": false}])],
            "Dev is remote; Sofia is not.",
        ),
    ] {
        let all = judged(&results, answer);
        let refuted = all.iter().find(|one| one.verdict == ProofVerdict::Refuted);
        assert!(
            refuted.is_none(),
            "{answer}: {:?}",
            refuted.map(|one| &one.why)
        );
    }
}
