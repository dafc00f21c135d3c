//! Results of tests as JSON: one document a test, and one for the suite, written as a stream.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::json;

use super::diagnostics::DiagnosticEntry;
use cuecard_judge::model::Severity;
use cuecard_judge::{
    Evidence, JudgedAssertion, OutcomeStatus, TestResult, TestStatus, Totals, TraceSummary,
};
use cuecard_source::decode::schema_document;
use cuecard_source::value::Json;
use cuecard_trace::{Milliseconds, SCHEMA_VERSION};

/// A result as the document of one test, with a newline at the end.
///
/// # Errors
/// Those of `out`.
pub fn write_result(result: &TestResult, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, &ResultDocument::of(result))?;
    out.write_all(b"\n")
}

/// A result as the document of one test.
pub fn result_document(result: &TestResult) -> Json {
    serde_json::to_value(ResultDocument::of(result)).unwrap_or_default()
}

/// How a suite with these totals came out.
pub fn status(totals: &Totals) -> TestStatus {
    match totals {
        Totals { errors: 1.., .. } => TestStatus::Error,
        Totals { failed: 1.., .. } => TestStatus::Fail,
        Totals { passed: 0, .. } => TestStatus::Skipped,
        _ => TestStatus::Pass,
    }
}

/// The counts of a suite.
pub fn summary(totals: &Totals) -> Json {
    json!({
        "tests_total": totals.tests,
        "tests_passed": totals.passed,
        "tests_failed": totals.failed,
        "tests_errored": totals.errors,
        "tests_skipped": totals.skipped,
        "warnings": totals.warnings,
        "vacuous": totals.vacuous,
        "unproven_claims": totals.unproven,
    })
}

/// Writes the document of a suite. Holds no results.
#[derive(Debug)]
pub struct SummaryJson<W> {
    out: W,
    totals: Totals,
}

impl<W: Write> SummaryJson<W> {
    /// Begins the document.
    ///
    /// # Errors
    /// Those of `out`, here and in the other methods.
    pub fn begin(mut out: W, run_id: &str) -> io::Result<Self> {
        write!(
            out,
            "{{\n  \"schema_version\": \"{SCHEMA_VERSION}\",\n  \"test_run_id\": {},\n  \"results\": [",
            Json::from(run_id)
        )?;
        Ok(Self {
            out,
            totals: Totals::default(),
        })
    }

    /// Takes note of a test that ended.
    ///
    /// # Errors
    /// See [`Self::begin`].
    pub fn result(&mut self, result: &TestResult) -> io::Result<()> {
        let separator: &[u8] = match self.totals.tests {
            0 => b"\n    ",
            _ => b",\n    ",
        };
        self.out.write_all(separator)?;
        serde_json::to_writer(&mut self.out, &ResultDocument::of(result))?;
        self.totals.add(result);
        Ok(())
    }

    /// Ends the document.
    ///
    /// # Errors
    /// See [`Self::begin`].
    pub fn end(mut self, took: Duration) -> io::Result<W> {
        let totals = self.totals;
        let status = status(&totals);
        let close: &[u8] = match totals.tests {
            0 => b"]",
            _ => b"\n  ]",
        };
        self.out.write_all(close)?;
        let summary = summary(&totals);
        write!(
            self.out,
            ",\n  \"status\": \"{}\",\n  \"summary\": {summary},\n  \"duration_ms\": {}\n}}\n",
            status.as_str(),
            Json::from(milliseconds(took)),
        )?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Field names are the contract of the result.
#[derive(Serialize, JsonSchema)]
struct ResultDocument<'a> {
    #[schemars(extend("const" = SCHEMA_VERSION))]
    schema_version: &'a str,
    result_id: String,
    test_case_id: &'a str,
    test_run_id: &'a str,
    title: &'a str,
    file: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: &'a [String],
    adapter: &'a str,
    status: TestStatus,
    #[schemars(with = "String", extend("format" = "date-time"))]
    started_at: Milliseconds,
    #[schemars(with = "String", extend("format" = "date-time"))]
    finished_at: Milliseconds,
    #[schemars(range(min = 0))]
    duration_ms: f64,
    summary: SummaryEntry,
    failure_categories: &'a [String],
    assertions: Vec<AssertionEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vacuous: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<DiagnosticEntry>,
    trace_summary: Option<&'a TraceSummary>,
    evidence: BTreeMap<&'a str, &'a Evidence>,
    artifacts: &'a serde_json::Map<String, Json>,
}

#[derive(Serialize, JsonSchema)]
struct SummaryEntry {
    assertions_total: usize,
    assertions_passed: usize,
    assertions_failed: usize,
    assertions_warned: usize,
    assertions_skipped: usize,
    critical_failures: usize,
}

#[derive(Serialize, JsonSchema)]
struct AssertionEntry<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    severity: Severity,
    status: OutcomeStatus,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    params: &'a Json,
    observed: &'a Json,
    evidence: Refs<'a>,
    capability_check: CapabilityCheck<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    vacuous: bool,
}

#[derive(Serialize, JsonSchema)]
struct Refs<'a> {
    event_refs: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct CapabilityCheck<'a> {
    required: &'a [String],
    available: Vec<&'a str>,
    #[schemars(extend("enum" = ["pass", "skip"]))]
    status: &'a str,
}

impl<'a> ResultDocument<'a> {
    fn of(result: &'a TestResult) -> Self {
        let evidence = result.evidence.iter();
        Self {
            schema_version: SCHEMA_VERSION,
            result_id: format!("{}:{}", result.run.id, result.id),
            test_case_id: &result.id,
            test_run_id: &result.run.id,
            title: &result.title,
            file: &result.run.file,
            tags: &result.tags,
            adapter: &result.adapter,
            status: result.status,
            started_at: Milliseconds(result.run.started),
            finished_at: Milliseconds(result.run.finished),
            duration_ms: milliseconds(result.run.took),
            summary: SummaryEntry {
                assertions_total: result.assertions.len(),
                assertions_passed: result.count(OutcomeStatus::Pass),
                assertions_failed: result.count(OutcomeStatus::Fail),
                assertions_warned: result.count(OutcomeStatus::Warn),
                assertions_skipped: result.count(OutcomeStatus::Skip),
                critical_failures: result.critical_failures(),
            },
            failure_categories: &result.failure_categories,
            assertions: result.assertions.iter().map(AssertionEntry::of).collect(),
            vacuous: result.vacuous.as_deref(),
            errors: result.diagnostics.iter().map(DiagnosticEntry::of).collect(),
            trace_summary: result.trace.as_ref(),
            evidence: evidence.map(|it| (it.event_id.as_str(), it)).collect(),
            artifacts: &result.artifacts,
        }
    }
}

impl<'a> AssertionEntry<'a> {
    fn of(assertion: &'a JudgedAssertion) -> Self {
        let outcome = &assertion.outcome;
        let missing = &outcome.missing_capabilities;
        let required = &outcome.required_capabilities;
        let available = required.iter().filter(|name| !missing.contains(name));
        Self {
            id: &outcome.id,
            kind: &outcome.kind,
            severity: outcome.severity,
            status: outcome.status,
            message: &outcome.message,
            help: outcome.help.as_deref(),
            line: assertion.line,
            params: &outcome.params,
            observed: &outcome.observed,
            evidence: Refs {
                event_refs: &outcome.event_refs,
            },
            capability_check: CapabilityCheck {
                required,
                available: available.map(String::as_str).collect(),
                status: if missing.is_empty() { "pass" } else { "skip" },
            },
            vacuous: outcome.vacuous,
        }
    }
}

/// The schema (JSON Schema 2020-12) of the document of one test.
pub fn result_schema() -> Json {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let generator = settings.into_generator();
    let mut schema = json!(generator.into_root_schema_for::<ResultDocument<'_>>());
    if let Json::Object(members) = &mut schema {
        // The document has its own.
        members.retain(|key, _| !matches!(key.as_str(), "$schema" | "title" | "description"));
    }
    schema_document(
        "result",
        SCHEMA_VERSION,
        "Result of a test",
        "Outcome of the assertions of one test case (version 0.1).",
        schema,
    )
}

/// Milliseconds to the microsecond.
pub(super) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn document(result: &TestResult) -> Json {
        let mut bytes = Vec::new();
        write_result(result, &mut bytes).expect("written");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    #[test]
    fn a_result_has_the_fields_of_the_format() {
        let (result, _) = sample::all().remove(0);
        let document = document(&result);
        assert_eq!(document["result_id"], "run-1:news.current.grounded");
        assert_eq!(document["status"], "fail");
        assert_eq!(document["started_at"], "2026-11-22T06:00:00.000Z");
        assert_eq!(
            document["summary"],
            json!({"assertions_total": 4, "assertions_passed": 1, "assertions_failed": 1,
                "assertions_warned": 1, "assertions_skipped": 1, "critical_failures": 1})
        );
        assert_eq!(document["failure_categories"], json!(["groundedness"]));
        assert_eq!(
            document["assertions"][3]["capability_check"],
            json!({"required": ["supports_tool_trace", "supports_memory_events"],
                "available": ["supports_tool_trace"], "status": "skip"})
        );
        assert_eq!(
            document["trace_summary"],
            json!({"trace_id": "trace-1", "status": "success",
                "tool_calls": [{"tool": "web_search", "count": 1}, {"tool": "web_fetch", "count": 2}],
                "retry_count": 0, "timing_ms_total": 3400.0})
        );
        assert_eq!(document["evidence"]["e6"]["tool"], "web_fetch");
        assert_eq!(document["assertions"][0]["line"], 2);
    }

    #[test]
    fn every_result_fits_the_schema() {
        let schema = jsonschema::validator_for(&result_schema()).expect("a schema");
        for (result, _) in &sample::all() {
            let document = document(result);
            let errors: Vec<_> = schema
                .iter_errors(&document)
                .map(|error| error.to_string())
                .collect();
            assert!(errors.is_empty(), "{errors:?}");
            for field in document.as_object().expect("an object").keys() {
                assert!(!result_schema()["properties"][field].is_null(), "{field}");
            }
        }
    }

    #[test]
    fn the_summary_is_one_document() {
        let mut report = SummaryJson::begin(Vec::new(), "run-1").expect("begun");
        for (result, _) in &sample::all() {
            report.result(result).expect("written");
        }
        let bytes = report.end(Duration::from_millis(38)).expect("ended");
        let document: Json = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(document["results"].as_array().map(Vec::len), Some(4));
        assert_eq!(document["status"], "error");
        assert_eq!(
            document["summary"],
            json!({"tests_total": 4, "tests_passed": 1, "tests_failed": 1, "tests_errored": 1,
                "tests_skipped": 1, "warnings": 1, "vacuous": 2, "unproven_claims": 0})
        );
        let empty = SummaryJson::begin(Vec::new(), "r").expect("begun");
        let bytes = empty.end(Duration::ZERO).expect("ended");
        let document: Json = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(
            (&document["results"], &document["status"]),
            (&json!([]), &json!("skipped"))
        );
    }
}
