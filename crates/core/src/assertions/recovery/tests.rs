use serde_json::json;

use super::*;
use crate::assertions::Verdict;
use crate::assertions::trials::{Trial, tools};

/// `c`: called, `t`: timed out, `d`: denied, `s`: succeeded, `f`: a failed result, `o`: called with other arguments.
fn run(script: &str) -> Trial {
    let mut call = 0;
    script.chars().zip(0_i64..).fold(Trial::new("x"), |trial, (step, at)| {
        let id = |call: i32| format!("call-{call}");
        let at_ms = at * 100;
        match step {
            'c' | 'o' => {
                call += 1;
                trial.event("tool_call", json!({ "tool": "web_fetch", "call_id": id(call), "args": { "url": step.to_string(), "timeout": call }, "at_ms": at_ms }))
            }
            't' | 'd' => trial.event("error", json!({
                "scope": "tool", "tool": "web_fetch", "call_id": id(call), "error_type": if step == 't' { "timeout" } else { "denied" },
                "message": "m", "retryable": true, "at_ms": at_ms,
            })),
            _ => trial.event("tool_result", json!({ "tool": "web_fetch", "call_id": id(call), "success": step == 's', "result": {}, "at_ms": at_ms })),
        }
    })
}

fn retry(script: &str, max: u64, backoff: Option<u64>) -> Finding {
    let tool = tools(&["web_fetch"]).remove(0);
    retried_as_allowed(
        &run(script).view(),
        &tool,
        max,
        &["timeout".to_owned()],
        backoff,
    )
}

#[test]
fn retries_are_counted_by_chain() {
    for (script, max, verdict) in [
        ("ctcs", 1, Verdict::Holds),
        ("ctcs", 0, Verdict::Fails),
        ("ct", 0, Verdict::Holds),
        ("ctctcs", 1, Verdict::Fails),
        ("ctctcs", 2, Verdict::Holds),
        ("cdcs", 1, Verdict::Fails),
        ("cd", 1, Verdict::Holds),
        ("ccts", 1, Verdict::Fails),
        // A failed result and its error are one failure.
        ("cftcs", 1, Verdict::Holds),
        ("ctfcs", 1, Verdict::Holds),
        ("cfcs", 1, Verdict::Fails),
        // A success ends a chain; another call is none.
        ("ctcsctcs", 1, Verdict::Holds),
        ("ctos", 0, Verdict::Holds),
    ] {
        let finding = retry(script, max, None);
        assert_eq!(
            finding.verdict, verdict,
            "{script} {max}: {}",
            finding.message
        );
        assert!(!finding.vacuous, "{script}");
    }
    for script in ["", "cs", "cscs"] {
        let finding = retry(script, 1, None);
        assert!(
            finding.vacuous && finding.verdict == Verdict::Holds,
            "{script}"
        );
    }
}

#[test]
fn retries_wait() {
    assert_eq!(retry("ctcs", 1, Some(100)).verdict, Verdict::Holds);
    let finding = retry("ctcs", 1, Some(101));
    assert_eq!(
        finding.message,
        "`web_fetch` was retried at e3 after 100 ms, at least 101 ms expected"
    );
    assert_eq!(finding.event_refs, ["e1", "e2", "e3"]);
}

fn graceful(output: &str, phrases: &[&str], claims: &[&str]) -> Finding {
    let mut trial = run("ct");
    if let Some(last) = trial.trace.events.last_mut() {
        last.data = EventData::FinalOutput(crate::trace::FinalOutput {
            role: "assistant".to_owned(),
            content: output.to_owned(),
            format_hint: None,
        });
    }
    let owned = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    failed_gracefully(&trial.view(), &owned(phrases), true, &owned(claims), None)
}

#[test]
fn failures_are_admitted() {
    for output in [
        "I couldn’t fetch today's daily digest because the source request timed out. Please try again later.",
        "The digest was not sent successfully: the fetch failed.",
        "Unable to reach the site, so nothing has been sent.",
        "The fetch failed; once it works the digest will be sent successfully.",
        "There was an error. No email was sent.",
        "Der Abruf ist fehlgeschlagen.",
        "Le téléchargement a échoué.",
        "获取失败,请稍后再试。",
    ] {
        let finding = graceful(output, &[], &[]);
        assert_eq!(
            finding.verdict,
            Verdict::Holds,
            "{output}: {}",
            finding.message
        );
    }
    for output in [
        "",
        "Here is your digest.",
        "I couldn't fetch today's digest due to a timeout, but the daily digest was sent successfully. All set.",
        "The fetch failed and the digest was sent successfully.",
        "The fetch timed out. Everything went fine.",
        "The fetch timed out; the report has been delivered.",
        "Die Anfrage ist fehlgeschlagen, der Bericht wurde erfolgreich versendet.",
    ] {
        let finding = graceful(output, &[], &[]);
        assert_eq!(
            finding.verdict,
            Verdict::Fails,
            "{output}: {}",
            finding.message
        );
    }
    assert_eq!(
        graceful("I couldn't fetch it.", &["Couldn't  fetch"], &[]).verdict,
        Verdict::Holds
    );
    assert_eq!(
        graceful("It failed.", &["couldn't fetch"], &[]).verdict,
        Verdict::Fails
    );
    assert_eq!(
        graceful("It failed. Enjoy your digest!", &[], &["enjoy your digest"]).verdict,
        Verdict::Fails
    );
    assert_eq!(
        graceful(
            "It failed, so you can't enjoy your digest.",
            &[],
            &["enjoy your digest"]
        )
        .verdict,
        Verdict::Holds
    );
    let finding = failed_gracefully(&Trial::new("It failed.").view(), &[], true, &[], None);
    assert_eq!(finding.verdict, Verdict::Fails);
}
