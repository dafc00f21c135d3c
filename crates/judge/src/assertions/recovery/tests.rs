use serde_json::json;

use super::*;
use crate::Verdict;
use crate::trials::{Trial, tools};

fn retried_as_allowed(
    view: &View<'_>,
    tool: &ToolPattern,
    max_retries: u64,
    types: &[String],
    min_backoff_ms: Option<u64>,
) -> Finding {
    let check = RetryPolicyRespected {
        tool: tool.clone(),
        max_retries,
        retry_on_error_types: types.to_vec().into(),
        min_backoff_ms,
    };
    check.judge(view)
}

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
    let tool = tools(&["web_fetch"]).0.remove(0);
    retried_as_allowed(
        &run(script).view(),
        &tool,
        max,
        &["timeout".to_owned()],
        backoff,
    )
}

#[test]
fn how_arguments_are_written_makes_no_others() {
    let call = |trial: Trial, id: &str, args: serde_json::Value| {
        trial.event(
            "tool_call",
            json!({ "tool": "web_fetch", "call_id": id, "args": args }),
        )
    };
    let same = [
        (
            json!({ "q": 1, "z": { "b": 1, "a": 2 } }),
            json!({ "z": { "a": 2, "b": 1.0 }, "q": 1.0, "timeout": 9 }),
        ),
        (json!({}), json!(null)),
    ];
    for (first, second) in same {
        let trial = call(Trial::new("x"), "1", first).event(
            "error",
            json!({ "scope": "tool", "tool": "web_fetch", "call_id": "1", "error_type": "timeout", "message": "m", "retryable": true }),
        );
        let trial = call(trial, "2", second);
        let tool = tools(&["web_fetch"]).0.remove(0);
        let finding = retried_as_allowed(&trial.view(), &tool, 0, &[], None);
        assert_eq!(finding.verdict, Verdict::Fails, "{}", finding.message);
    }
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

#[test]
fn times_that_nobody_measured_decide_nothing() {
    let tool = tools(&["web_fetch"]).0.remove(0);
    let mut trial = run("ctcs");
    for event in &mut trial.trace.events {
        event.ts_synthesized = true;
    }
    let verdict =
        |max, backoff| retried_as_allowed(&trial.view(), &tool, max, &[], backoff).verdict;
    assert_eq!(verdict(1, Some(1)), Verdict::Undecided);
    assert_eq!(verdict(1, None), Verdict::Holds);
    assert_eq!(verdict(0, Some(1)), Verdict::Fails);
}

#[test]
fn a_tool_may_be_called_as_the_agent_calls_it() {
    let tool = tools(&["Fetch"]).0.remove(0);
    let mut trial = run("cdcs");
    for event in &mut trial.trace.events {
        if let EventData::ToolCall(call) = &mut event.data {
            call.native_tool = Some("Fetch".into());
        }
    }
    let finding = retried_as_allowed(&trial.view(), &tool, 9, &["timeout".to_owned()], None);
    assert_eq!(finding.verdict, Verdict::Fails, "{}", finding.message);
}
