use serde_json::json;

use super::super::parts::ToolPattern;
use super::*;
use crate::Verdict;
use crate::trials::{Trial, tools};

fn news() -> serde_json::Value {
    json!({ "items": [
        { "title": "Model X released with new agent features", "source": "ExampleTech", "url": "https://example.com/a", "published_at": "2026-02-24" },
        { "title": "Open-source eval tools gain traction", "source": "DevNews", "url": "https://example.com/b", "published_at": "2026-02-24" },
        { "title": "Enterprise teams test agent reliability workflows", "source": "InfraDaily", "url": "https://example.com/c", "published_at": "2026-02-23" },
    ]})
}

mod amounts;
mod flags;
mod records;

fn judged_by(view: &View<'_>, allowed: &[ToolPattern], min_overlap: Option<f64>) -> Finding {
    let check = ClaimsSupportedByFixtures {
        allowed_sources: allowed.to_vec().into(),
        min_overlap: min_overlap.map(Into::into),
        ..ClaimsSupportedByFixtures::default()
    };
    check.judge(view)
}

fn judge(output: &str, results: &[serde_json::Value]) -> Finding {
    let trial = results.iter().fold(Trial::new(output), |trial, result| {
        trial.result("web_search", result.clone())
    });
    judged_by(&trial.view(), &tools(&["web_search"]), None)
}

fn article(text: &str) -> Vec<serde_json::Value> {
    vec![json!({ "text": text })]
}

/// Whether an answer is true. A true one never fails, a false one never passes without a word: both may be a warning.
#[derive(Debug, Clone, Copy)]
enum Truth {
    True,
    False,
}

impl PartialEq<Truth> for Verdict {
    fn eq(&self, truth: &Truth) -> bool {
        !matches!(
            (self, truth),
            (Self::Fails, Truth::True) | (Self::Holds, Truth::False)
        )
    }
}

#[track_caller]
fn holds(output: &str, text: &str) {
    let finding = judge(output, &article(text));
    assert_eq!(
        finding.verdict,
        Truth::True,
        "{output} | {text} | {}",
        finding.message
    );
}

#[track_caller]
fn fails(output: &str, text: &str) {
    let finding = judge(output, &article(text));
    assert_eq!(
        finding.verdict,
        Truth::False,
        "{output} | {text} | {}",
        finding.message
    );
}

#[test]
fn the_public_examples_keep_their_verdicts() {
    let output = "- Model X released with new agent features.\n- Open-source eval tools are gaining traction.\n- Enterprise teams are testing agent reliability workflows.";
    let finding = judge(output, &[news()]);
    assert_eq!(finding.verdict, Truth::True, "{}", finding.message);
    let finding = judge(
        output,
        &article("Article excerpt about Model X and agent features."),
    );
    assert_eq!(finding.verdict, Truth::False);
    let digest = "- Eval tooling improved regression testing workflows for agents.\n- Teams are using these tools to catch behavior regressions earlier.";
    let title = json!({ "items": [{ "title": "Eval tooling improves agent regression testing", "source": "DevNews", "url": "https://example.com/eval", "published_at": "2026-02-24" }] });
    let text = json!({ "text": "Article excerpt on improvements in agent regression testing workflows. Teams are using these tools to catch behavior regressions earlier." });
    let finding = judge(digest, &[title.clone(), text]);
    assert_eq!(finding.verdict, Truth::True, "{}", finding.message);
    let digest = "- Eval tooling improved regression testing workflows for agents.\n- Teams retried after a timeout and completed delivery.";
    let text = json!({ "text": "Article excerpt on improvements in agent regression testing workflows. Teams retried after a timeout and completed delivery." });
    let finding = judge(digest, &[title, text]);
    assert_eq!(finding.verdict, Truth::True, "{}", finding.message);
}

#[test]
fn numbers_are_those_of_the_results() {
    for (output, text) in [
        ("Revenue grew 4 %.", "Revenue grew by 4 percent in 2025."),
        (
            "Revenue grew by 4.1 percent.",
            "Revenue grew by 4.13 % over the year.",
        ),
        (
            "The city has about 1,200 schools.",
            "The city has 1,234 schools.",
        ),
        (
            "The company earned 1.2 million dollars.",
            "The company earned $1,234,567 last year.",
        ),
        (
            "The company earned $1.2M.",
            "The company earned 1.2 million dollars.",
        ),
        (
            "The company employs 12,345 engineers.",
            "The company employs 12345 engineers.",
        ),
        (
            "Three engineers joined the company.",
            "3 engineers joined the company.",
        ),
        (
            "The request timed out after 5 seconds.",
            "The request timed out after 5000ms.",
        ),
        (
            "Der Umsatz stieg auf 1.234,5 Millionen Euro.",
            "Der Umsatz stieg auf 1234,5 Mio. Euro und wurde von der Bank bestätigt.",
        ),
        (
            "Les ventes de la société atteignent 12 345 unités.",
            "Les ventes de la société atteignent 12345 unités.",
        ),
        (
            "GPT-5 scored 87 points on the benchmark.",
            "On the benchmark GPT 5 scored 87 points.",
        ),
        (
            "The share fell by 3 % on Monday.",
            "The share changed by -3 % on Monday.",
        ),
    ] {
        holds(output, text);
    }
    for (output, text) in [
        ("Revenue grew 40 %.", "Revenue grew by 4 percent in 2025."),
        (
            "Revenue grew 4.13 percent.",
            "Revenue grew by 4.1 % over the year.",
        ),
        ("Revenue grew 4 %.", "Revenue grew, said 4 analysts."),
        ("The city has 1,200 schools.", "The city has 1,234 schools."),
        (
            "The company earned 1.3 million dollars.",
            "The company earned $1,234,567 last year.",
        ),
        (
            "The company earned 5 million euros.",
            "The company earned 5 million dollars.",
        ),
        (
            "Five engineers joined the company.",
            "3 engineers joined the company.",
        ),
        (
            "The request timed out after 5 minutes.",
            "The request timed out after 5000ms.",
        ),
        (
            "GPT-6 scored 87 points on the benchmark.",
            "On the benchmark GPT-5 scored 87 points.",
        ),
        (
            "The share rose by 3 % on Monday.",
            "The share fell by 3 % on Monday.",
        ),
        (
            "Version 1.2.4 of the library was released.",
            "Version 1.2.3 of the library was released.",
        ),
        (
            "Account 9007199254740993 is overdrawn.",
            "Account 9007199254740992 is overdrawn.",
        ),
    ] {
        fails(output, text);
    }
}

#[test]
fn numbers_of_json_are_exact() {
    let weather = vec![json!({ "city": "Paris", "temperature": 12.5, "humidity_ratio": 0.4 })];
    for (output, verdict) in [
        ("The temperature in Paris is 12.5 °C.", Truth::True),
        ("The temperature in Paris is 13 °C.", Truth::True),
        ("The temperature in Paris is 14 °C.", Truth::False),
        ("The humidity in Paris is 40 %.", Truth::True),
        ("The humidity in Paris is 45 %.", Truth::False),
    ] {
        let finding = judge(output, &weather);
        assert_eq!(finding.verdict, verdict, "{output}: {}", finding.message);
    }
}

#[test]
fn numbers_count_with_what_they_measure() {
    let orders = vec![json!({ "orders": [
        { "customer_id": 77, "total": 50, "currency": "EUR", "items": 3, "shipped": true },
        { "customer_id": 78, "total": 64, "currency": "EUR", "items": 5, "shipped": false, "gift": null },
    ] })];
    for (output, verdict) in [
        (
            "The order of customer 77 has a total of 50 EUR.",
            Truth::True,
        ),
        (
            "The order of customer 77 has a total of 50 euros.",
            Truth::True,
        ),
        ("The order of customer 77 has a total of €50.", Truth::True),
        ("The order of customer 77 has 3 items.", Truth::True),
        ("The order of customer 78 is not shipped.", Truth::True),
        (
            "The order of customer 77 has a total of 77 EUR.",
            Truth::False,
        ),
        (
            "The order of customer 77 has a total of 50 USD.",
            Truth::False,
        ),
        (
            "The order of customer 77 has a total of 64 EUR.",
            Truth::False,
        ),
        ("The order of customer 77 has 5 items.", Truth::False),
        ("The order has 77 customers.", Truth::False),
        ("The order of customer 77 is not shipped.", Truth::False),
        ("The order of customer 78 is shipped.", Truth::False),
        ("The order of customer 77 is shipped.", Truth::True),
        ("Customer 78 got a gift.", Truth::False),
    ] {
        let finding = judge(output, &orders);
        assert_eq!(finding.verdict, verdict, "{output}: {}", finding.message);
    }
    for (output, text) in [
        (
            "The total is 77 EUR.",
            "The customer id is 77, and the total of the order is 50 EUR.",
        ),
        (
            "The plant makes 48 EUR of power.",
            "The plant makes 48 MW of power.",
        ),
        (
            "The plant makes 48 GW of power.",
            "The plant makes 48 MW of power.",
        ),
        (
            "Revenue rose 7 %, and costs rose 4 %.",
            "Revenue rose 4 % and costs rose 7 % in the second quarter.",
        ),
        (
            "3 km of engineers joined the company.",
            "3 engineers joined the company.",
        ),
    ] {
        fails(output, text);
    }
    for (output, text) in [
        (
            "The rent is 900 EUR per day.",
            "The rent is 900 EUR per month.",
        ),
        ("The rent is 900 EUR a year.", "The rent is 900 EUR/month."),
        ("The share is 4 ‰.", "The share is 4 %."),
    ] {
        fails(output, text);
    }
    holds(
        "The rent is 900 EUR a month.",
        "The rent is 900 EUR per month.",
    );
    let wind =
        vec![json!({ "city": "Lisbon", "wind_kph": 15.1, "rooms_free": 0, "rooms_total": 3 })];
    for (output, verdict) in [
        ("The wind in Lisbon blows at 15.1 km/h.", Truth::True),
        ("The wind in Lisbon blows at 15.1 m/s.", Truth::False),
        ("Lisbon has 3 rooms free.", Truth::False),
        ("Lisbon has 3 rooms in total.", Truth::True),
    ] {
        let finding = judge(output, &wind);
        assert_eq!(finding.verdict, verdict, "{output}: {}", finding.message);
    }
    holds(
        "Revenue rose 4 %, and costs rose 7 %.",
        "Revenue rose 4 % and costs rose 7 % in the second quarter.",
    );
}

#[test]
fn dates_are_compared_as_dates() {
    let text = "The launch of Model X was announced at 2026-02-24T17:30:00Z by ExampleTech.";
    for output in [
        "The launch of Model X was announced on 24 February 2026.",
        "The launch of Model X was announced on Feb 24, 2026.",
        "The launch of Model X was announced on February 24th.",
        "The launch of Model X was announced in February 2026.",
        "The launch of Model X was announced on 24.02.2026.",
        "The launch of Model X was announced on 02/24/2026.",
        "The launch of Model X was announced on Tuesday, 24 February.",
        "The launch of Model X was announced at 5:30 pm.",
        "The launch of Model X was announced in 2026.",
        "The launch of Model X was announced today.",
    ] {
        holds(output, text);
    }
    for output in [
        "The launch of Model X was announced on 25 February 2026.",
        "The launch of Model X was announced on Feb 24, 2025.",
        "The launch of Model X was announced in March 2026.",
        "The launch of Model X was announced on 24.03.2026.",
        "The launch of Model X was announced on Thursday, 24 February.",
        "The launch of Model X was announced at 5:45 pm.",
        "The launch of Model X was announced in 2024.",
    ] {
        fails(output, text);
    }
    let flights = json!([
        { "no": "TP 1356", "dep": "2026-03-02T07:05:00+00:00", "arr": "2026-03-02T09:50:00+00:00" },
        { "no": "BA 501", "dep": "2026-03-02T14:20:00+00:00", "arr": "2026-03-02T17:05:00+00:00" },
    ]);
    for (output, verdict) in [
        ("- TP 1356: dep 07:05\n- BA 501: dep 14:20", Truth::True),
        ("- TP 1356: dep 14:20\n- BA 501: dep 07:05", Truth::False),
    ] {
        let finding = judge(output, std::slice::from_ref(&flights));
        assert_eq!(finding.verdict, verdict, "{output}: {}", finding.message);
    }
    fails(
        "The launch was on 24 February 2026.",
        "The launch was on 24 February.",
    );
}

#[test]
fn addresses_and_quotations_stand_there() {
    let text = "The report at https://Example.com/Report/ says: “growth of four percent is solid”, see https://example.com/b?id=1#top.";
    for output in [
        "The report says \"growth of four percent is solid\".",
        "The report says “Growth of four percent … solid.”",
        "The report ([link](https://example.com/Report)) says growth is solid.",
        "The report says growth is solid: https://example.com/b?id=1.",
        "The \"solid\" growth is in the report.",
    ] {
        holds(output, text);
    }
    for output in [
        "The report says \"growth of five percent is solid\".",
        "The report says \"growth of four percent is weak\".",
        "The report ([link](https://example.com/report)) says growth is solid.",
        "The report says growth is solid: https://example.com/b?id=2.",
        "The report says growth is solid: https://example.org/Report.",
    ] {
        fails(output, text);
    }
}

#[test]
fn names_are_those_of_the_results() {
    let text = "Demis Hassabis, CEO of Google DeepMind, presented artificial intelligence research in London, Reuters reported.";
    for output in [
        "Google DeepMind CEO Demis Hassabis presented research in London.",
        "AI research was presented in London by Hassabis.",
        "Reuters reports that Hassabis presented research on artificial intelligence.",
        "**Artificial Intelligence Research Presented by DeepMind's CEO in London**: Hassabis presented it.",
    ] {
        holds(output, text);
    }
    for output in [
        "Google DeepMind CEO Sundar Pichai presented research in London.",
        "Artificial intelligence research was presented in Paris by Hassabis.",
        "Bloomberg reports that Hassabis presented research on artificial intelligence.",
        "According to the Financial Times, Hassabis presented research on artificial intelligence.",
        "OpenAI presented artificial intelligence research in London.",
        "NASA presented artificial intelligence research in London.",
        "Demis London, CEO of Google DeepMind, presented artificial intelligence research.",
    ] {
        fails(output, text);
    }
}

#[test]
fn every_part_of_the_output_needs_a_single_result() {
    let text = "The library adds streaming responses and fixes a memory leak in the parser.";
    for output in [
        "The library fixes a parser memory leak and adds streamed responses.",
        "Here is the summary:\n\n- Adds streaming responses\n- Fixes a memory leak in the parser\n\nLet me know if you need more!",
        "## Summary\n\nStreaming responses were added to the library.",
        "Hi there! The parser's memory leak is fixed. Hope this helps!",
        "The library has 2 changes:\n- streaming responses\n- a fixed memory leak",
    ] {
        holds(output, text);
    }
    for output in [
        "The library fixes a parser memory leak and cures cancer in laboratory mice.",
        "The library adds streaming responses.\n\nKangaroos hop through Australian deserts.",
        "- Adds streaming responses\n- Supports quantum encryption",
        "Sure, the library supports quantum encryption!",
        "Hope this helps, quantum encryption arrives in 3 weeks.",
        "The library has 3 changes:\n- streaming responses\n- a fixed memory leak",
    ] {
        fails(output, text);
    }
    // Shared by two results, but not by one.
    let finding = judge(
        "Penguins migrate northward beneath glaciers",
        &[
            json!({ "text": "Penguins are birds." }),
            json!({ "text": "Glaciers melt." }),
            json!({ "text": "Geese migrate." }),
        ],
    );
    assert_eq!(finding.verdict, Truth::False);
}

#[test]
fn the_opposite_is_not_supported() {
    for (output, text) in [
        (
            "The board approved the merger.",
            "The board did not approve the merger.",
        ),
        (
            "The board did not approve the merger.",
            "The board approved the merger on Monday.",
        ),
        (
            "Profits rose in the second quarter.",
            "Profits fell in the second quarter.",
        ),
        (
            "The tests for the parser passed.",
            "The tests for the parser failed.",
        ),
        (
            "The minister never visited the factory.",
            "The minister visited the factory.",
        ),
        (
            "Der Minister hat die Fabrik nicht besucht.",
            "Der Minister hat die Fabrik am Montag besucht und war zufrieden.",
        ),
        ("The shop is not open.", "The shop is not closed today."),
        ("The letter was sent.", "The letter was not sent."),
        (
            "Order 17 was delivered.",
            "Order 17 was not delivered, but order 18 was.",
        ),
        (
            "The contract ends in May.",
            "The contract does not end in May.",
        ),
        (
            "Line 9 was affected by the strike.",
            "Line 9 was not affected by the strike.",
        ),
        ("The strike failed.", "The strike succeeded."),
        ("The invoice is unpaid.", "The invoice is paid."),
        (
            "The patient refused the treatment.",
            "The patient accepted the treatment.",
        ),
        (
            "The offer is valid until June.",
            "The offer is not valid until June.",
        ),
    ] {
        fails(output, text);
    }
    for (output, text) in [
        (
            "The board didn't approve the merger.",
            "The merger was not approved by the board.",
        ),
        (
            "The board approved the merger.",
            "There was no debate, and the board approved the merger.",
        ),
        (
            "Profits rose in the second quarter.",
            "Profits rose in the second quarter after they fell in the first quarter.",
        ),
        ("The shop is not open.", "The shop is closed today."),
        (
            "Line 9 was unaffected by the strike.",
            "Line 9 was not affected by the strike.",
        ),
        (
            "Line 9 runs today.",
            "Line 9 runs today. Line 4 does not run today.",
        ),
        (
            "The letter will come once it was sent.",
            "The letter was not sent. It will come tomorrow.",
        ),
    ] {
        holds(output, text);
    }
}

#[test]
fn false_and_nothing_deny_what_their_key_names() {
    let result = json!({
        "invoice": 17, "customer": "Ada", "sent": true, "paid": false, "notes": null, "errors": [], "total": 50,
    });
    for (output, verdict) in [
        ("Invoice 17 was paid.", Truth::False),
        ("The invoice was paid.", Truth::False),
        ("The invoice of Ada was sent and paid.", Truth::False),
        ("It has been paid.", Truth::False),
        ("The invoice has notes.", Truth::False),
        ("There are errors.", Truth::False),
        ("The invoice was sent.", Truth::True),
        ("The invoice was not paid.", Truth::True),
        ("The invoice will be paid.", Truth::True),
        ("The invoice is still to be paid.", Truth::True),
        ("Once the invoice is paid, it has no notes.", Truth::True),
        ("The total of the invoice is 50. Paid: ❌", Truth::True),
    ] {
        let finding = judge(output, std::slice::from_ref(&result));
        assert_eq!(finding.verdict, verdict, "{output}: {}", finding.message);
    }
    let people = json!([{ "name": "Ada", "vegan": true }, { "name": "Bob", "vegan": false }]);
    for (output, verdict) in [
        ("Ada is vegan.", Truth::True),
        ("Bob is not vegan.", Truth::True),
        ("Bob is vegan.", Truth::False),
        ("Ada is not vegan.", Truth::False),
    ] {
        let finding = judge(output, std::slice::from_ref(&people));
        assert_eq!(finding.verdict, verdict, "{output}: {}", finding.message);
    }
}

#[test]
fn a_value_is_judged_by_the_words_that_are_nearest() {
    let orders = json!({ "orders": [
        { "id": 1041, "status": "shipped", "total": { "amount": 12900, "currency": "EUR" }, "items": [{ "name": "Boots", "qty": 1 }] },
        { "id": 1042, "status": "processing", "total": { "amount": 4550, "currency": "EUR" }, "items": [{ "name": "Socks", "qty": 5 }] },
    ]});
    for (output, verdict) in [
        (
            "Order 1041 was shipped; order 1042 is still processing.",
            Truth::True,
        ),
        (
            "Order 1042 was shipped; order 1041 is still processing.",
            Truth::False,
        ),
        ("Order 1043 was shipped.", Truth::False),
    ] {
        let finding = judge(output, std::slice::from_ref(&orders));
        assert_eq!(finding.verdict, verdict, "{output}: {}", finding.message);
    }
}

#[test]
fn the_latest_of_contradicting_results_counts() {
    let (paid, open) = (
        json!("The invoice was paid."),
        json!("The invoice was not paid."),
    );
    for (results, verdict) in [
        ([paid.clone(), open.clone()], Truth::False),
        ([open, paid], Truth::True),
    ] {
        let finding = judge("The invoice was paid.", &results);
        assert_eq!(finding.verdict, verdict, "{}", finding.message);
    }
}

#[test]
fn what_the_user_asks_is_no_statement() {
    for said in [
        "Tell me whether the bridge is safe.",
        "I wonder if the bridge is safe.",
        "Is the bridge safe",
        "The bridge is safe.",
    ] {
        let trial = Trial::new("The bridge is safe.")
            .event(
                "message_received",
                json!({ "role": "user", "content": said }),
            )
            .result("web_search", json!("The bridge is not safe."));
        let finding = judged_by(&trial.view(), &tools(&["web_search"]), None);
        assert_eq!(finding.verdict, Truth::False, "{said}");
    }
    let trial = Trial::new("The bridge can carry 40 tonnes.")
        .event(
            "message_received",
            json!({ "role": "user", "content": "Can the bridge carry 40 tonnes?" }),
        )
        .result("web_search", json!("The bridge can carry 10 tonnes."));
    let finding = judged_by(&trial.view(), &tools(&["web_search"]), None);
    assert_eq!(finding.verdict, Truth::False, "{}", finding.message);
}

#[test]
fn languages_without_spaces_are_compared_by_pairs() {
    holds(
        "东京股市周一上涨4%。",
        "据报道,东京股市周一上涨4%,投资者乐观。",
    );
    fails(
        "东京股市周一上涨40%。",
        "据报道,东京股市周一上涨4%,投资者乐观。",
    );
    fails(
        "大熊猫喜欢吃竹子。",
        "据报道,东京股市周一上涨4%,投资者乐观。",
    );
    holds(
        "会議は2026年2月24日に開催されます。",
        "次の会議は2026-02-24に東京で開催されます。",
    );
    fails(
        "会議は2026年2月25日に開催されます。",
        "次の会議は2026-02-24に東京で開催されます。",
    );
}

#[test]
fn only_successful_results_of_allowed_tools_count() {
    let text = json!({ "text": "Penguins migrate northward." });
    let trial = Trial::new("Penguins migrate northward.").result("memory", text.clone());
    let finding = judged_by(&trial.view(), &tools(&["web_*"]), None);
    assert_eq!(finding.verdict, Truth::False);
    assert!(
        finding.message.contains("no successful result of web_*"),
        "{}",
        finding.message
    );
    let trial = Trial::new("Penguins migrate northward.").event(
        "tool_result",
        json!({ "tool": "web_search", "call_id": "c", "success": false, "result": text }),
    );
    assert_eq!(judged_by(&trial.view(), &[], None).verdict, Truth::False);
}

#[test]
fn nothing_claimed_is_vacuous() {
    for output in [
        "",
        "  \n",
        "Hello!",
        "Sure, thanks!",
        "What would you like to know?",
    ] {
        let finding = judge(output, &[news()]);
        assert!(
            finding.vacuous && finding.verdict == Verdict::Holds,
            "{output}: {}",
            finding.message
        );
    }
    let finding = judge(
        "I couldn't find anything about Atlantis in 2031.",
        &[news()],
    );
    assert_eq!(finding.verdict, Truth::False, "{}", finding.message);
}

#[test]
fn what_is_missing_is_told_with_the_nearest_place() {
    let told = |output: &str| {
        let finding = judge(output, &article("The bank saw growth of 4 %."));
        (finding.verdict, finding.message)
    };
    let (verdict, message) = told("Reuters reports 40 % growth.");
    assert_eq!(verdict, Verdict::Fails);
    assert_eq!(
        message,
        "“Reuters reports 40 % growth.”: the number 40 % is nowhere"
    );
    let (verdict, message) = told("The bank saw strong growth of 4 %.");
    assert_eq!(verdict, Verdict::Undecided);
    assert_eq!(
        message,
        "“The bank saw strong growth of 4 %.”: not proved: `strong`; nearest: “text: The bank saw growth of 4 %.”"
    );
}

#[test]
fn the_overlap_can_be_set() {
    let trial = Trial::new("Penguins migrate northward beneath glaciers.")
        .result("web_search", json!("Penguins migrate."));
    assert_eq!(
        judged_by(&trial.view(), &[], Some(0.9)).verdict,
        Truth::False
    );
    assert_eq!(
        judged_by(&trial.view(), &[], Some(0.2)).verdict,
        Truth::True
    );
}

/// What JSON says in one word or number, what is then so, and what is not.
const STATES: &[(&str, &str, &str)] = &[
    (r#"{"status":"unpaid"}"#, "unpaid", "paid"),
    (r#"{"status":"paid"}"#, "paid", "unpaid"),
    (r#"{"status":"not shipped"}"#, "not shipped", "shipped"),
    (r#"{"status":"not_shipped"}"#, "not shipped", "shipped"),
    (r#"{"paid":"no"}"#, "not paid", "paid"),
    (r#"{"paid":"yes"}"#, "paid", "not paid"),
    (r#"{"paid":0}"#, "not paid", "paid"),
    (r#"{"paid":1}"#, "paid", "not paid"),
    (r#"{"paid":false}"#, "not paid", "paid"),
    (r#"{"isActive":0}"#, "not active", "active"),
    (r#"{"status":"inactive"}"#, "inactive", "active"),
    (r#"{"status":"closed"}"#, "closed", "open"),
    (r#"{"state":"open"}"#, "open", "closed"),
    (r#"{"state":"rejected"}"#, "rejected", "approved"),
    (r#"{"state":"pending"}"#, "pending", "confirmed"),
    (
        r#"{"shipment":{"status":"pending"}}"#,
        "pending",
        "delivered",
    ),
    (r#"{"status":"unconfirmed"}"#, "unconfirmed", "confirmed"),
    (r#"{"result":"failed"}"#, "failed", "passed"),
    (
        r#"{"availability":"unavailable"}"#,
        "unavailable",
        "available",
    ),
];

#[test]
fn states_of_json_are_said_as_they_are() {
    let mut wrong = Vec::new();
    for (state, so, not_so) in STATES {
        for (key, name, subject) in [
            ("invoice", "INV-7", "Invoice INV-7"),
            ("order_id", "5521", "Order 5521"),
            ("title", "Sea Double", "The Sea Double"),
        ] {
            let mut record: serde_json::Value = serde_json::from_str(state).expect("JSON");
            record[key] = json!(name);
            record["city"] = json!("Lisbon");
            for (results, with) in [
                (record.clone(), "alone"),
                (
                    json!({ "items": [{ key: "Other 9", "status": "archived" }, record] }),
                    "in a list",
                ),
            ] {
                for (said, expected) in [(so, Truth::True), (not_so, Truth::False)] {
                    for output in [
                        format!("{subject} is {said}."),
                        format!("I looked it up in Lisbon: {subject} is {said}."),
                        format!("{subject} in Lisbon is {said}."),
                    ] {
                        let finding = judge(&output, std::slice::from_ref(&results));
                        if finding.verdict != expected {
                            wrong.push(format!(
                                "{state} {with}: {output} {:?} {}",
                                finding.verdict, finding.message
                            ));
                        }
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
