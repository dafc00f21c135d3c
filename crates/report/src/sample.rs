//! Tests as they come out, for the tests of the reports: one that fails, one that passes, one that could not be
//! judged, one that was skipped.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use cuecard_judge::assertions::limits::MaxErrors;
use cuecard_judge::model::{
    Assertion, ExpectedOutcome, Severity, TestCase, TestContext, TestTools, TraceInput,
};
use cuecard_judge::{Judgement, Outcome, OutcomeStatus, Run, TestResult};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};
use cuecard_trace::Trace;

/// All of them, in order, with their traces.
pub(super) fn all() -> Vec<(TestResult, Option<Trace>)> {
    let news = news();
    let memory = memory();
    vec![
        (news.result, Some(news.trace)),
        (memory.result, Some(memory.trace)),
        (broken(), None),
        {
            let skipped = skipped();
            (skipped.result, Some(skipped.trace))
        },
    ]
}

pub(super) fn run(file: &str, milliseconds: u64) -> Run {
    Run {
        id: "run-1".into(),
        file: file.into(),
        started: "2026-11-22T06:00:00Z".parse().expect("a time"),
        finished: "2026-11-22T06:00:00.004Z".parse().expect("a time"),
        took: Duration::from_millis(milliseconds),
        strict: false,
    }
}

/// A test case with assertions of these ids, each on a line of its own.
pub(super) fn case(id: &str, assertions: &[&str]) -> TestCase {
    let text: String = std::iter::once("assertions:\n".to_owned())
        .chain(assertions.iter().map(|id| format!("  - id: {id}\n")))
        .collect();
    let place = |id: &str| {
        let start = text.find(&format!("id: {id}")).expect("there");
        Span::new(start, start + 1)
    };
    TestCase {
        id: id.into(),
        title: id.into(),
        description: None,
        tags: Vec::new(),
        input: TraceInput::ReplayBundle {
            file: PathBuf::from("replay.json"),
            span: Span::default(),
        },
        context: TestContext::default(),
        tools: TestTools::default(),
        assertions: assertions
            .iter()
            .map(|&id| Assertion {
                id: id.into(),
                severity: Severity::Critical,
                requires_capabilities: Vec::new(),
                check: MaxErrors { limit: 0 }.into(),
                params: Json::Null,
                span: place(id),
            })
            .collect(),
        expected: None,
        save_trace: false,
        redact_fields: Vec::new(),
        source: SourceFile::new("test.yaml", text),
    }
}

pub(super) fn outcome(id: &str, kind: &str, status: OutcomeStatus, message: &str) -> Outcome {
    Outcome::of_run(id, kind, status, message.to_owned())
}

/// A trace of events given as type, actor, milliseconds after the start, and data.
pub(super) fn trace(events: &[(&str, &str, i64, Json)], output: &str) -> Trace {
    let mut lines = vec![json!({
        "kind": "header", "schema_version": "0.1", "trace_id": "trace-1", "test_run_id": "run-1",
        "adapter": {"name": "nanoclaw", "version": "0.1"},
    })];
    let start: jiff::Timestamp = "2026-02-24T17:00:00Z".parse().expect("a time");
    for (idx, (kind, actor, at, data)) in events.iter().enumerate() {
        let ts = start + Duration::from_millis(u64::try_from(*at).expect("positive"));
        lines.push(json!({
            "event_id": format!("e{}", idx + 1), "seq": idx + 1, "ts": ts.to_string(),
            "type": kind, "actor": actor, "data": data,
        }));
    }
    lines.push(json!({
        "kind": "end", "final_output": {"role": "assistant", "content": output}, "status": "success",
        "metrics": {
            "timing_ms_total": 3400.0,
            "tool_call_count": events.iter().filter(|event| event.0 == "tool_call").count(),
            "retry_count": 0,
        },
    }));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Trace::read_lines(text.as_bytes()).expect("a trace")
}

fn news() -> Judgement {
    let output =
        "- Reuters reports 40 % growth\n- The bank keeps its rate\n- Rain tomorrow\n- More soon";
    let page = "growth of 4 % in the third quarter. ".repeat(60);
    let trace = trace(
        &[
            (
                "message_received",
                "user",
                0,
                json!({"role": "user", "content": "What is new in the economy? Three bullets."}),
            ),
            (
                "thought",
                "agent",
                180,
                json!({"text": "I need current sources."}),
            ),
            (
                "tool_call",
                "agent",
                500,
                json!({"tool": "web_search", "call_id": "c1", "args": {"query": "economy news today", "limit": 5}}),
            ),
            (
                "tool_result",
                "tool",
                900,
                json!({"tool": "web_search", "call_id": "c1", "success": true, "result": {"items": [{"title": "Quarterly figures <b>out</b>", "url": "https://news.example/1"}]}}),
            ),
            (
                "tool_call",
                "agent",
                1000,
                json!({"tool": "web_fetch", "call_id": "c2", "args": {"url": "https://news.example/1"}}),
            ),
            (
                "tool_result",
                "tool",
                2300,
                json!({"tool": "web_fetch", "call_id": "c2", "success": true, "result": {"text": page}}),
            ),
            (
                "tool_call",
                "agent",
                2400,
                json!({"tool": "web_fetch", "call_id": "c3", "args": {"url": "https://bank.example/rates"}}),
            ),
            (
                "error",
                "system",
                2900,
                json!({"scope": "tool", "tool": "web_fetch", "call_id": "c3", "error_type": "timeout", "message": "no answer within 500 ms", "retryable": true}),
            ),
            (
                "final_output",
                "agent",
                3400,
                json!({"role": "assistant", "content": output}),
            ),
        ],
        output,
    );
    let mut grounded = outcome(
        "grounded-claims-only",
        "claims_supported_by_fixtures",
        OutcomeStatus::Fail,
        "1 of 4 units has no support: “Reuters reports 40 % growth”",
    );
    grounded.params = json!({"allowed_sources": ["web_search", "web_fetch"], "min_overlap": 0.5});
    grounded.observed = json!([
        "40 %: in no result",
        "Reuters: in no result",
        "nearest: event 6, “growth of 4 %”"
    ]);
    grounded.event_refs = vec!["e6".into(), "e9".into()];
    grounded.help = Some(
        "say only what a tool answered, or allow the tool that knows it in `allowed_sources`"
            .into(),
    );
    let mut format = outcome(
        "three-bullet-format",
        "output_matches_format",
        OutcomeStatus::Warn,
        "4 bullets, expected 3",
    );
    format.params = json!({"format": "bullet_list", "min_bullets": 3, "max_bullets": 3});
    format.observed = json!(4);
    format.event_refs = vec!["e9".into()];
    let mut searched = outcome(
        "searches-first",
        "must_call_tool",
        OutcomeStatus::Pass,
        "`web_search` was called once",
    );
    searched.event_refs = vec!["e3".into()];
    let mut memory = outcome(
        "no-foreign-memory",
        "no_cross_group_memory_use",
        OutcomeStatus::Skip,
        "the trace lacks supports_memory_events",
    );
    memory.required_capabilities = vec![
        "supports_tool_trace".into(),
        "supports_memory_events".into(),
    ];
    memory.missing_capabilities = vec!["supports_memory_events".into()];
    let mut case = case(
        "news.current.grounded",
        &[
            "grounded-claims-only",
            "three-bullet-format",
            "searches-first",
            "no-foreign-memory",
        ],
    );
    case.title = "Current news, grounded in sources".into();
    case.tags = vec!["news".into(), "groundedness".into()];
    case.expected = Some(ExpectedOutcome {
        outcome: Some("a short list".into()),
        failure_categories: vec!["groundedness".into()].into(),
    });
    TestResult::judged(
        &case,
        trace,
        vec![grounded, format, searched, memory],
        run("tests/news/test.yaml", 4),
    )
}

fn memory() -> Judgement {
    let trace = trace(
        &[
            (
                "message_received",
                "user",
                0,
                json!({"role": "user", "content": "Hello"}),
            ),
            (
                "memory_read",
                "agent",
                10,
                json!({"source": "CLAUDE.md", "path": "groups/a/CLAUDE.md", "group_id": "a"}),
            ),
            (
                "final_output",
                "agent",
                20,
                json!({"role": "assistant", "content": "Hi"}),
            ),
        ],
        "Hi",
    );
    let mut recall = outcome(
        "recalls",
        "memory_recall_same_group",
        OutcomeStatus::Pass,
        "the output honours the fact",
    );
    recall.event_refs = vec!["e2".into()];
    let mut retry = outcome(
        "retries",
        "retry_policy_respected",
        OutcomeStatus::Pass,
        "`web_fetch` had no error to judge",
    );
    retry.vacuous = true;
    TestResult::judged(
        &case("memory.same-group", &["recalls", "retries"]),
        trace,
        vec![recall, retry],
        run("tests/memory/test.yaml", 1),
    )
}

fn broken() -> TestResult {
    let source = SourceFile::new(
        "tests/broken/replay.json",
        "{\n  \"script\": [\n    {\"type\": \"tool_result\", \"call_id\": \"c9\"}\n  ]\n}\n",
    );
    let start = source.text().find("\"c9\"").expect("there");
    let diagnostic = Diagnostic::error(
        codes::ARGUMENT,
        "`call_id` is `c9`, and no `tool_call` before it has that id",
    )
    .at(&source, Span::new(start, start + 4))
    .with_pointer("/script/0/call_id")
    .with_help("add the call, or correct the id");
    TestResult::not_judged(
        &case("broken.bundle", &["any"]),
        vec![diagnostic],
        run("tests/broken/test.yaml", 0),
    )
}

fn skipped() -> Judgement {
    let mut only = outcome(
        "no-foreign-memory",
        "no_cross_group_memory_use",
        OutcomeStatus::Skip,
        "the trace lacks supports_memory_events",
    );
    only.missing_capabilities = vec!["supports_memory_events".into()];
    TestResult::judged(
        &case("skipped.all", &["no-foreign-memory"]),
        trace(&[], "Hi"),
        vec![only],
        run("tests/skipped/test.yaml", 0),
    )
}
