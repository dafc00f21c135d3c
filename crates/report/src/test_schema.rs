//! The JSON Schema of results of tests.

use serde_json::json;

use cuecard_judge::TestStatus;
use cuecard_source::value::Json;
use cuecard_source::value::fields::schema_document;
use cuecard_trace::SCHEMA_VERSION;

/// The schema (JSON Schema 2020-12) of the document of one test.
pub fn result_schema() -> Json {
    let text = json!({"type": "string"});
    let count = json!({"type": "integer", "minimum": 0});
    let time = json!({"type": "string", "format": "date-time"});
    let words = |words: &[&str]| json!({"enum": words});
    let texts = json!({"type": "array", "items": text});
    let milliseconds = json!({"type": "number", "minimum": 0});
    let object = |required: &[&str], properties: Json| json!({"type": "object", "required": required, "properties": properties});
    let assertion = object(
        &[
            "id",
            "type",
            "severity",
            "status",
            "message",
            "params",
            "observed",
            "evidence",
            "capability_check",
        ],
        json!({
            "id": text,
            "type": text,
            "severity": words(&["critical", "warning"]),
            "status": words(&["pass", "fail", "warn", "skip"]),
            "message": text,
            "help": text,
            "line": {"type": "integer", "minimum": 1},
            "params": {},
            "observed": {},
            "evidence": object(&["event_refs"], json!({"event_refs": texts})),
            "capability_check": object(
                &["required", "available", "status"],
                json!({"required": texts, "available": texts, "status": words(&["pass", "skip"])}),
            ),
            "vacuous": {"const": true},
        }),
    );
    let error = object(
        &["severity", "code", "message"],
        json!({
            "severity": words(&["error", "warning", "note"]),
            "code": text,
            "message": text,
            "file": {"type": ["string", "null"]},
            "line": {"type": ["integer", "null"], "minimum": 1},
            "column": {"type": ["integer", "null"], "minimum": 1},
            "pointer": {"type": ["string", "null"]},
            "label": {"type": ["string", "null"]},
            "notes": texts,
            "help": {"type": ["string", "null"]},
        }),
    );
    let mut trace_summary = object(
        &[
            "trace_id",
            "status",
            "tool_calls",
            "retry_count",
            "timing_ms_total",
        ],
        json!({
            "trace_id": text,
            "status": {"enum": ["success", "partial", "failed", "blocked", null]},
            "tool_calls": {
                "type": "array",
                "items": object(&["tool", "count"], json!({"tool": text, "count": count})),
            },
            "retry_count": count,
            "timing_ms_total": milliseconds,
        }),
    );
    trace_summary["type"] = json!(["object", "null"]);
    let evidence = object(
        &["seq", "type", "actor", "text"],
        json!({"seq": count, "type": text, "actor": text, "tool": text, "text": text}),
    );
    let counts = [
        "assertions_total",
        "assertions_passed",
        "assertions_failed",
        "assertions_warned",
        "assertions_skipped",
        "critical_failures",
    ];
    let summary = object(
        &counts,
        counts
            .iter()
            .map(|&name| (name.to_owned(), count.clone()))
            .collect(),
    );
    let schema = object(
        &[
            "schema_version",
            "result_id",
            "test_case_id",
            "test_run_id",
            "adapter",
            "status",
            "started_at",
            "finished_at",
            "duration_ms",
            "summary",
            "failure_categories",
            "assertions",
            "trace_summary",
            "evidence",
            "artifacts",
        ],
        json!({
            "schema_version": {"const": SCHEMA_VERSION},
            "result_id": text,
            "test_case_id": text,
            "test_run_id": text,
            "title": text,
            "file": text,
            "tags": texts,
            "adapter": text,
            "status": words(&TestStatus::ALL.map(TestStatus::as_str)),
            "started_at": time,
            "finished_at": time,
            "duration_ms": milliseconds,
            "summary": summary,
            "failure_categories": texts,
            "assertions": {"type": "array", "items": assertion},
            "vacuous": text,
            "errors": {"type": "array", "items": error},
            "trace_summary": trace_summary,
            "evidence": {"type": "object", "additionalProperties": evidence},
            "artifacts": {"type": "object"},
        }),
    );
    schema_document(
        "result",
        SCHEMA_VERSION,
        "Result of a test",
        "Outcome of the assertions of one test case (version 0.1).",
        schema,
    )
}
