use serde_json::json;

use super::super::parts::TextPattern;
use super::*;
use crate::Verdict;
use crate::trials::{Trial, patterns, tools};

fn real(view: &View<'_>, allowed: &[ToolPattern], patterns: &[TextPattern]) -> Finding {
    let check = NoFabricatedSourceOrCitation {
        allowed_sources: allowed.to_vec().into(),
        citation_patterns: patterns.to_vec().into(),
        case_sensitive: false,
    };
    check.judge(view)
}

fn judge(output: &str) -> Finding {
    let trial = Trial::new(output)
        .result("web_search", json!({ "items": [
            { "title": "Growth slows in Europe", "source": "Reuters", "url": "https://www.reuters.com/markets/growth", "published_at": "2026-02-24" },
            { "title": "Inflation study", "source": "Journal of Economics", "url": "https://doi.org/10.1000/xyz123", "author": "Jane Smith" },
        ]}))
        .result("weather", json!({ "text": "Bloomberg expects rain, https://bloomberg.com/rain." }));
    real(&trial.view(), &tools(&["web_search"]), &[])
}

#[test]
fn what_was_there_may_be_cited() {
    for output in [
        "Growth slows, according to Reuters.",
        "Reuters reports that growth slows (https://reuters.com/markets/growth/).",
        "As reported by Reuters, growth slows [1].",
        "Growth slows [1][2].",
        "See reuters.com for more.",
        "The study (doi:10.1000/XYZ123) by Smith et al. is about inflation.",
        "Laut Reuters verlangsamt sich das Wachstum.",
        "Selon Reuters, la croissance ralentit.",
        "According to the article, growth slows; source: Reuters.",
        "Growth slows [1].\n\nSources:\n1. Growth slows in Europe, https://www.reuters.com/markets/growth",
        "Growth slows [1].\n\n[1]: https://www.reuters.com/markets/growth",
        "According to the Journal of Economics study, inflation fell.",
    ] {
        let finding = judge(output);
        assert_eq!(
            finding.verdict,
            Verdict::Holds,
            "{output}: {}",
            finding.message
        );
        assert!(!finding.vacuous, "{output}");
    }
}

#[test]
fn what_was_not_there_may_not_be_cited_in_any_form() {
    for output in [
        "Growth slows. Source : Bild",
        "Growth slows [Miller 2020].",
        "Growth slows, see ftp://bild.example/growth.",
    ] {
        let finding = judge(output);
        assert_eq!(
            finding.verdict,
            Verdict::Fails,
            "{output}: {}",
            finding.message
        );
    }
}

#[test]
fn what_was_not_there_is_made_up() {
    for (output, missing) in [
        ("Growth slows, according to Bloomberg.", "Bloomberg"),
        (
            "Growth slows, according to bloomberg analysts.",
            "bloomberg",
        ),
        ("The Guardian reports that growth slows.", "Guardian"),
        (
            "Growth slows, as stated by the Financial Times.",
            "Financial Times",
        ),
        (
            "Growth slows (https://reuters.com/markets/decline).",
            "https://reuters.com/markets/decline",
        ),
        ("Growth slows, says bbc.com today.", "bbc.com"),
        ("Growth slows [3].", "[3]"),
        ("Growth slows [1, 7].", "[7]"),
        (
            "The study (doi:10.1000/xyz124) is about inflation.",
            "10.1000/xyz124",
        ),
        ("Inflation rose (Miller, 2024).", "Miller"),
        ("Jones et al. studied inflation.", "Jones"),
        (
            "Laut Handelsblatt verlangsamt sich das Wachstum.",
            "Handelsblatt",
        ),
        (
            "Growth slows [1].\n\nSources:\n1. Decline hits Asia, https://ft.com/decline",
            "https://ft.com/decline",
        ),
        (
            "Growth slows [2].\n\n[1]: https://www.reuters.com/markets/growth",
            "[2]",
        ),
        (
            "Growth slows [1].\n\nReferences\n\n1. Penguins of Antarctica, Nature Press",
            "[1] Penguins",
        ),
        ("See arXiv:2401.12345 for more.", "arXiv:2401.12345"),
    ] {
        let finding = judge(output);
        assert_eq!(
            finding.verdict,
            Verdict::Fails,
            "{output}: {}",
            finding.message
        );
        assert!(
            finding.message.contains(missing),
            "{output}: {}",
            finding.message
        );
    }
}

#[test]
fn a_source_elsewhere_is_named() {
    let finding = judge("Rain, see https://bloomberg.com/rain");
    assert_eq!(
        finding.help.as_deref(),
        Some("found in results of `weather`: is it missing from `allowed_sources`?")
    );
}

#[test]
fn nothing_cited_is_vacuous() {
    for output in [
        "",
        "Growth slows.",
        "The plan (due: 20 February 2024) is ready.",
        "| Name | Hours per week | City |\n|---|---|---|\n| Ann | 32 | Graz |",
        "Use `list[0]` in the code.\n```\na[1] = b[2]\n```",
    ] {
        let finding = judge(output);
        assert!(
            finding.vacuous && finding.verdict == Verdict::Holds,
            "{output}: {}",
            finding.message
        );
    }
}

#[test]
fn own_patterns_are_citations_too() {
    let trial = Trial::new("As in ticket ACME-7.").result("tracker", json!({ "key": "ACME-8" }));
    let own = patterns(&[r"ticket (\S+\d)"]);
    assert_eq!(real(&trial.view(), &[], &own).verdict, Verdict::Fails);
    let trial = Trial::new("As in ticket ACME-8.").result("tracker", json!({ "key": "ACME-8" }));
    assert_eq!(real(&trial.view(), &[], &own).verdict, Verdict::Holds);
}

#[test]
fn what_was_asked_for_by_its_address_may_be_cited() {
    let trial = |url: &str| {
        let output = format!("The line opens in May ({url}), as Aziz and Blom (2024) say.");
        Trial::new(&output)
            .event("message_received", json!({ "role": "user", "content": "Look at https://user.example/a." }))
            .event("tool_call", json!({ "tool": "fetch", "call_id": "c", "args": { "url": "https://news.example/tram", "query": "https://searched.example" } }))
            .event("tool_result", json!({ "tool": "fetch", "call_id": "c", "success": true, "result": { "authors": ["Noor Aziz", "Peter Blom"], "year": 2024, "doi": "10.1234/sl.17" } }))
    };
    for (url, verdict) in [
        ("https://news.example/tram?utm_source=chat", Verdict::Holds),
        ("https://user.example/a", Verdict::Holds),
        ("https://doi.org/10.1234/sl.17", Verdict::Holds),
        ("https://searched.example", Verdict::Fails),
    ] {
        let finding = real(&trial(url).view(), &[], &[]);
        assert_eq!(finding.verdict, verdict, "{url}: {}", finding.message);
    }
}
