use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::model::{ExpectedOutcome, Severity, TestContext, TestTools};
use crate::{misspelt_redactions, redacted};
use cuecard_source::diagnostic::codes;
use cuecard_source::{SourceFile, Span};

fn run(strict: bool) -> Run {
    Run {
        id: "run-1".into(),
        file: "test.yaml".into(),
        started: Timestamp::UNIX_EPOCH,
        finished: Timestamp::UNIX_EPOCH,
        took: Duration::ZERO,
        strict,
    }
}

fn case(redact_fields: &[&str]) -> TestCase {
    TestCase {
        id: "case".into(),
        title: "A case".into(),
        description: None,
        tags: Vec::new(),
        input: TraceInput::TraceFile {
            file: PathBuf::from("x.trace.json"),
            span: Span::default(),
        },
        context: TestContext::default(),
        tools: TestTools::default(),
        assertions: Vec::new(),
        expected: Some(ExpectedOutcome {
            outcome: None,
            failure_categories: vec!["groundedness".into()].into(),
        }),
        save_trace: true,
        redact_fields: redact_fields
            .iter()
            .map(|&field| field.to_owned())
            .collect(),
        source: SourceFile::new("test.yaml", ""),
    }
}

fn outcome(status: OutcomeStatus) -> Outcome {
    Outcome {
        id: "a".into(),
        kind: "json_path".into(),
        severity: Severity::Critical,
        status,
        message: String::new(),
        help: None,
        params: Json::Null,
        observed: Json::Null,
        event_refs: Vec::new(),
        required_capabilities: Vec::new(),
        missing_capabilities: Vec::new(),
        vacuous: false,
    }
}

fn trace(args: Json, output: &str) -> Trace {
    let lines = [
        json!({"kind": "header", "schema_version": "0.1", "trace_id": "t", "test_run_id": "r",
            "adapter": {"name": "x", "version": "1"}, "scenario": {"group_id": "group-a"}}),
        json!({"event_id": "e1", "seq": 1, "ts": "2026-01-01T00:00:00Z", "type": "tool_call",
            "actor": "agent", "group_id": "group-a",
            "data": {"tool": "mail", "call_id": "c", "args": args}}),
        json!({"event_id": "e2", "seq": 2, "ts": "2026-01-01T00:00:01Z", "type": "tool_result",
            "actor": "tool", "data": {"tool": "mail", "call_id": "c", "success": true,
            "result": {"text": "{\"Email\": \"ada@example.org\", \"sent\": true}"}}}),
        json!({"kind": "end", "final_output": {"role": "assistant", "content": output},
            "status": "success", "metrics": {"timing_ms_total": 1.0, "tool_call_count": 1, "retry_count": 0}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Trace::read_lines(text.as_bytes()).expect("a trace")
}

fn written(trace: &Trace) -> String {
    format!("{trace:?}")
}

#[test]
fn the_worst_outcome_is_the_verdict() {
    use OutcomeStatus::{Fail, Pass, Skip, Warn};
    for (outcomes, strict, expected) in [
        (vec![Pass, Warn, Skip], false, TestStatus::Pass),
        (vec![Pass, Fail], false, TestStatus::Fail),
        (vec![Skip, Skip], false, TestStatus::Skipped),
        (vec![], false, TestStatus::Pass),
        (vec![Skip, Skip], true, TestStatus::Fail),
        (vec![], true, TestStatus::Fail),
    ] {
        let outcomes = outcomes.into_iter().map(outcome).collect::<Vec<_>>();
        let shown = format!("{outcomes:?}");
        let judged = TestResult::judged(&case(&[]), trace(json!({}), ""), outcomes, run(strict));
        assert_eq!(judged.result.status, expected, "{shown}");
        let failed = expected == TestStatus::Fail;
        assert_eq!(
            !judged.result.failure_categories.is_empty(),
            failed,
            "{shown}"
        );
    }
}

#[test]
fn what_had_nothing_to_judge_is_said_and_fails_strictly() {
    for (strict, expected) in [(false, TestStatus::Pass), (true, TestStatus::Fail)] {
        let mut vacuous = outcome(OutcomeStatus::Pass);
        vacuous.vacuous = true;
        vacuous.message = "no error to judge".into();
        let judged =
            TestResult::judged(&case(&[]), trace(json!({}), ""), vec![vacuous], run(strict));
        assert_eq!(judged.result.status, expected);
        assert_eq!(
            judged.result.vacuous_lines().collect::<Vec<_>>(),
            ["a (json_path): no error to judge"]
        );
    }
    let mut died = trace(json!({}), "");
    died.end = None;
    let judged = TestResult::judged(
        &case(&[]),
        died,
        vec![outcome(OutcomeStatus::Pass)],
        run(false),
    );
    assert!(
        judged
            .result
            .vacuous
            .expect("said")
            .contains("the trace is incomplete")
    );
}

#[test]
fn redacted_fields_are_gone_from_trace_and_result_wherever_they_are_repeated() {
    let secret = "ada@example.org";
    let mut failed = outcome(OutcomeStatus::Fail);
    failed.message = "the output names `ada@exam…`, and not “Bob”".into();
    failed.help = Some(format!("leave `{secret}` out"));
    failed.observed = json!({"said": ["to ada@example.org", "ada@exam"], "n": 1});
    failed.params = json!({"args_equal": {"email": "grace@example.org"}});
    failed.event_refs = vec!["e1".into(), "e2".into()];
    let judged = TestResult::judged(
        &case(&["email"]),
        trace(
            json!({"EMAIL": secret, "to": [secret], "subject": "Hi"}),
            "Sent to ada@example.org.",
        ),
        vec![failed],
        run(false),
    );
    for text in [written(&judged.trace), format!("{:?}", judged.result)] {
        assert!(!text.contains("ada@"), "{text}");
        assert!(!text.contains("grace@"), "{text}");
    }
    let outcome = &judged.result.assertions[0].outcome;
    assert_eq!(
        outcome.message,
        "the output names `[redacted]…`, and not “Bob”"
    );
    assert_eq!(outcome.observed["n"], 1);
    let end = judged.trace.end.expect("an end");
    assert_eq!(
        end.final_output.expect("an output").content,
        "Sent to [redacted]."
    );
    let brief: Vec<_> = judged
        .result
        .evidence
        .iter()
        .map(|event| event.text.as_str())
        .collect();
    assert!(brief[0].contains(r#"subject: "Hi""#), "{brief:?}");
}

#[test]
fn credentials_of_what_others_recorded_are_gone_from_trace_and_result() {
    let password = "hunter2Long9x";
    let token = format!("ghp_{}", "a1B2c3D4".repeat(5));
    let mut foreign = case(&[]);
    foreign.input = TraceInput::Transcript {
        file: PathBuf::from("s.jsonl"),
        format: None,
        span: Span::default(),
    };
    let mut failed = outcome(OutcomeStatus::Fail);
    failed.message = format!("the arguments hold `{password}`, not `{}…`", &token[..12]);
    failed.observed = json!({"args": {"run": format!("login {password}")}});
    failed.event_refs = vec!["e1".into(), "e2".into()];
    let args = json!({"run": format!("login {password}"), "env": {"DB_PASSWORD": password}});
    let trace = trace(args, &format!("It is {token}."));
    let shown = redacted(&foreign, &trace).into_owned();
    let own = TestResult::judged(&case(&[]), trace.clone(), Vec::new(), run(false)).trace;
    assert_eq!(own, trace, "ours holds none");
    let judged = TestResult::judged(&foreign, trace, vec![failed], run(false));
    let result = format!("{:?}", judged.result);
    for text in [written(&judged.trace), written(&shown), result] {
        assert!(
            !text.contains(password) && !text.contains("ghp_a"),
            "{text}"
        );
        assert!(text.contains("login [redacted]"), "{text}");
    }
}

#[test]
fn pointers_mean_places_of_the_trace_and_the_result() {
    let args = json!({"a": {"pin": "1234567"}, "b": {"pin": "7654321"}});
    let judged = TestResult::judged(
        &case(&[
            "/events/*/data/args/a",
            "/scenario/group_id",
            "/events/0/group_id",
            "/assertions/0/observed/x",
        ]),
        trace(args, "done"),
        vec![Outcome {
            observed: json!({"x": "seen-here", "y": 2}),
            ..outcome(OutcomeStatus::Fail)
        }],
        run(false),
    );
    let text = written(&judged.trace);
    assert!(
        !text.contains("1234567") && text.contains("7654321"),
        "{text}"
    );
    assert!(!text.contains("group-a"), "{text}");
    assert_eq!(
        judged.result.assertions[0].outcome.observed,
        json!({"x": "[redacted]", "y": 2})
    );
}

#[test]
fn data_that_lost_the_shape_of_its_type_keeps_its_type() {
    let judged = TestResult::judged(
        &case(&["success", "call_id", "content"]),
        trace(json!({}), "a secret answer"),
        Vec::new(),
        run(false),
    );
    let kinds: Vec<_> = judged
        .trace
        .events
        .iter()
        .map(|event| event.data.type_name())
        .collect();
    assert_eq!(kinds, ["tool_call", "tool_result"]);
    let end = judged.trace.end.expect("an end");
    assert_eq!(end.final_output.expect("an output").content, "[redacted]");
}

#[test]
fn a_diagnostic_does_not_show_the_line_of_a_redacted_field() {
    let source = SourceFile::new(
        "replay.json",
        "{\n  \"email\": \"ada@example.org\",\n  \"n\": 1\n}\n",
    );
    let at = |text: &str| {
        let start = source.text().find(text).expect("there");
        Span::new(start, start + text.len())
    };
    let diagnostics = vec![
        Diagnostic::error(codes::ARGUMENT, "`email` is `ada@example.org`")
            .at(&source, at("\"ada@example.org\""))
            .with_pointer("/email"),
        Diagnostic::error(codes::ARGUMENT, "`n` is odd").at(&source, at("1")),
    ];
    let result = TestResult::not_judged(&case(&["email"]), diagnostics, run(false));
    assert_eq!(result.status, TestStatus::Error);
    let [first, second] = &result.diagnostics[..] else {
        panic!("two diagnostics");
    };
    let place = first.place.as_ref().expect("a place");
    assert!(!place.source.text().contains("ada@"));
    assert_eq!(place.source.position(place.span.start).line, 2);
    assert_eq!(first.message, "`email` is `[redacted]`");
    assert!(
        second
            .place
            .as_ref()
            .expect("a place")
            .source
            .text()
            .contains("\"n\": 1")
    );
}

#[test]
fn more_redacted_text_than_can_be_looked_for_silences_the_assertions() {
    let mut failed = outcome(OutcomeStatus::Fail);
    failed.message = "the output names “part of it”".into();
    failed.observed = json!("part of it");
    let judged = TestResult::judged(
        &case(&["body"]),
        trace(json!({"body": "part of it, and more. ".repeat(20_000)}), ""),
        vec![failed],
        run(false),
    );
    let outcome = &judged.result.assertions[0].outcome;
    assert_eq!(outcome.message, "[redacted]");
    assert_eq!(outcome.observed, "[redacted]");
    assert!(!written(&judged.trace).contains("part of it"));
}

#[test]
fn evidence_is_bounded_and_begins_with_what_failed() {
    let lines: Vec<String> = (1..=300)
        .map(|seq| {
            json!({"event_id": format!("e{seq}"), "seq": seq, "ts": "2026-01-01T00:00:00Z",
                "type": "thought", "actor": "agent", "data": {"text": "x".repeat(5000)}})
            .to_string()
        })
        .collect();
    let header = json!({"kind": "header", "schema_version": "0.1", "trace_id": "t", "test_run_id": "r",
        "adapter": {"name": "x", "version": "1"}});
    let trace =
        Trace::read_lines(format!("{header}\n{}\n", lines.join("\n")).as_bytes()).expect("a trace");
    let mut passed = outcome(OutcomeStatus::Pass);
    passed.event_refs = (1..=200).map(|seq| format!("e{seq}")).collect();
    let mut failed = outcome(OutcomeStatus::Fail);
    failed.event_refs = vec!["e299".into()];
    let judged = TestResult::judged(&case(&[]), trace, vec![passed, failed], run(false));
    assert_eq!(judged.result.evidence.len(), MAX_EVIDENCE);
    let last = judged.result.evidence.last().expect("evidence");
    assert_eq!(last.event_id, "e299");
    assert!(last.text.chars().count() <= MAX_EVIDENCE_TEXT + 1);
}

#[test]
fn a_field_that_is_misspelt_is_told_before_it_is_written() {
    let trace = trace(json!({"password": "s3cret", "to": "ada"}), "");
    for (name, told) in [
        ("pasword", 1),
        ("password", 0),
        ("Password", 0),
        ("iban", 0),
        ("/events/0/data/args/to", 0),
        ("/nope/to", 1),
        ("/*/args/to", 0),
    ] {
        let found = misspelt_redactions(&case(&[name]), &trace);
        assert_eq!(found.len(), told, "{name}: {found:?}");
    }
}
