//! The result of a test: what was judged, of what, with which evidence, and what came of it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Map;

use super::redact_fields::FieldRedactor;
use super::{Outcome, OutcomeStatus};
use crate::model::{TestCase, TraceInput};
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::Json;
use cuecard_trace::{EventData, RunStatus, Trace};

/// More events are not told in a result; they stand in the trace.
const MAX_EVIDENCE: usize = 100;

/// More characters of an event are not told in a result.
const MAX_EVIDENCE_TEXT: usize = 200;

/// What came of one test.
#[derive(Debug, Clone)]
pub struct TestResult {
    /// Id of the test case.
    pub id: String,
    /// Its title; empty if it could not be read.
    pub title: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Where the trace came from: the adapter's name.
    pub adapter: String,
    /// How and when it ran.
    pub run: Run,
    /// How it came out.
    pub status: TestStatus,
    /// `expected.failure_categories`, if it failed.
    pub failure_categories: Vec<String>,
    /// What came of each assertion, in order.
    pub assertions: Vec<JudgedAssertion>,
    /// Why nothing could be judged.
    pub diagnostics: Vec<Diagnostic>,
    /// Why the verdict says less than it seems, for the test as a whole.
    pub vacuous: Option<String>,
    /// The trace in numbers; absent if there is none.
    pub trace: Option<TraceSummary>,
    /// The events that outcomes refer to, in the order of the trace.
    pub evidence: Vec<Evidence>,
    /// Files that belong to it, by kind.
    pub artifacts: Map<String, Json>,
}

/// How and when a test ran.
#[derive(Debug, Clone)]
pub struct Run {
    /// Id of the run, the same for all tests of a suite.
    pub id: String,
    /// The test file as people know it.
    pub file: String,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub finished: Timestamp,
    /// How long it took, by a clock that is never set.
    pub took: Duration,
    /// Whether what had nothing to judge fails: `--strict`.
    pub strict: bool,
}

/// How a test came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TestStatus {
    /// Every critical assertion holds.
    Pass,
    /// One doesn't.
    Fail,
    /// Nothing could be judged.
    Error,
    /// Nothing was judged: no assertion could be asked.
    Skipped,
}

impl TestStatus {
    /// The word in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// An outcome and where its assertion stands.
#[derive(Debug, Clone)]
pub struct JudgedAssertion {
    /// What came of it.
    pub outcome: Outcome,
    /// Its line in the test file; absent for what no assertion asked.
    pub line: Option<usize>,
}

/// A trace in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceSummary {
    /// Its id.
    pub trace_id: String,
    /// How the run ended; absent if the trace has no end.
    pub status: Option<RunStatus>,
    /// How many events it has, those that are not kept included.
    #[serde(skip)]
    pub events: usize,
    /// Tools and how often they were called, in the order of their first calls.
    pub tool_calls: Vec<CallCount>,
    /// Calls that repeated a failed one.
    pub retry_count: u64,
    /// Wall-clock time of the run, in milliseconds.
    pub timing_ms_total: f64,
}

/// How often a tool was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallCount {
    /// The tool.
    pub tool: String,
    /// The number of calls.
    pub count: u64,
}

/// An event that an outcome refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Its id.
    #[serde(skip)]
    pub event_id: String,
    /// Its place in the trace.
    pub seq: u64,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Who did it.
    pub actor: String,
    /// Its tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it is about, on one line.
    pub text: String,
}

/// What may be written and shown of a judged test: credentials and `redact_fields` are taken out of both.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The result.
    pub result: TestResult,
    /// The trace.
    pub trace: Trace,
}

impl TestResult {
    /// The result of `case`, whose assertions came out as `outcomes` on `trace`.
    pub fn judged(
        case: &TestCase,
        mut trace: Trace,
        mut outcomes: Vec<Outcome>,
        run: Run,
    ) -> Judgement {
        let mut redactor = FieldRedactor::new(case);
        redactor.trace(&mut trace);
        for (idx, outcome) in outcomes.iter_mut().enumerate() {
            redactor.outcome(idx, outcome);
            if run.strict && outcome.vacuous && outcome.status == OutcomeStatus::Pass {
                outcome.status = OutcomeStatus::Fail;
            }
        }
        let vacuous = vacuity(&outcomes, &trace);
        let status = status(&outcomes, vacuous.is_some() && run.strict);
        let failed = status == TestStatus::Fail;
        let expected = case.expected.as_ref().filter(|_| failed);
        let result = Self {
            failure_categories: expected
                .map(|expected| expected.failure_categories.to_vec())
                .unwrap_or_default(),
            status,
            vacuous,
            trace: Some(TraceSummary::of(&trace)),
            evidence: evidence(&outcomes, &trace),
            assertions: with_lines(case, outcomes),
            ..Self::of(case, run)
        };
        Judgement { result, trace }
    }

    /// The result of `case` of which nothing could be judged.
    pub fn not_judged(case: &TestCase, mut diagnostics: Vec<Diagnostic>, run: Run) -> Self {
        let mut redactor = FieldRedactor::new(case);
        for diagnostic in &mut diagnostics {
            redactor.diagnostic(diagnostic);
        }
        Self {
            diagnostics,
            ..Self::of(case, run)
        }
    }

    /// The result of a file that is no test case. It goes by the name of its file.
    pub fn not_read(diagnostics: Vec<Diagnostic>, run: Run) -> Self {
        Self {
            id: run.file.clone(),
            title: String::new(),
            tags: Vec::new(),
            adapter: String::new(),
            run,
            status: TestStatus::Error,
            failure_categories: Vec::new(),
            assertions: Vec::new(),
            diagnostics,
            vacuous: None,
            trace: None,
            evidence: Vec::new(),
            artifacts: Map::new(),
        }
    }

    fn of(case: &TestCase, run: Run) -> Self {
        Self {
            id: case.id.clone(),
            title: case.title.clone(),
            tags: case.tags.clone(),
            adapter: match case.input {
                TraceInput::ReplayBundle { .. } | TraceInput::Live { .. } => "nanoclaw",
                TraceInput::Play { .. }
                | TraceInput::TraceFile { .. }
                | TraceInput::Transcript { .. } => "cuecard",
            }
            .to_owned(),
            ..Self::not_read(Vec::new(), run)
        }
    }

    /// How many assertions came out so.
    pub fn count(&self, status: OutcomeStatus) -> usize {
        self.assertions
            .iter()
            .filter(|assertion| assertion.outcome.status == status)
            .count()
    }

    /// How many critical assertions don't hold.
    pub fn critical_failures(&self) -> usize {
        self.count(OutcomeStatus::Fail)
    }

    /// How many claims are neither supported nor refuted.
    pub fn unproven_claims(&self) -> usize {
        let outcomes = self.assertions.iter().map(|assertion| &assertion.outcome);
        let claims = outcomes.filter(|outcome| outcome.kind == "claims_supported_by_fixtures");
        let counts = claims.filter_map(|outcome| outcome.observed["unproven"].as_u64());
        usize::try_from(counts.sum::<u64>()).unwrap_or(usize::MAX)
    }

    /// Why the verdict says less than it seems: of the test as a whole, and of outcomes with nothing to judge.
    pub fn vacuous_lines(&self) -> impl Iterator<Item = String> + '_ {
        let of_outcomes = self
            .assertions
            .iter()
            .map(|assertion| &assertion.outcome)
            .filter(|outcome| outcome.vacuous)
            .map(|outcome| {
                let why = outcome.help.iter().map(|help| format!(" ({help})"));
                let why: String = why.collect();
                format!(
                    "{} ({}): {}{why}",
                    outcome.id, outcome.kind, outcome.message
                )
            });
        self.vacuous.clone().into_iter().chain(of_outcomes)
    }
}

impl TraceSummary {
    fn of(trace: &Trace) -> Self {
        let mut tool_calls: Vec<CallCount> = Vec::new();
        let mut rows: HashMap<&str, usize> = HashMap::new();
        for event in &trace.events {
            let EventData::ToolCall(call) = &event.data else {
                continue;
            };
            let tool = &*call.tool;
            let row = *rows.entry(tool).or_insert_with(|| {
                let tool = tool.to_owned();
                tool_calls.push(CallCount { tool, count: 0 });
                tool_calls.len() - 1
            });
            tool_calls[row].count += 1;
        }
        let metrics = trace.end.as_ref().map(|end| end.metrics);
        Self {
            trace_id: trace.header.trace_id.clone(),
            status: trace.end.as_ref().map(|end| end.status),
            events: trace.events.len(),
            tool_calls,
            retry_count: metrics.map_or(0, |metrics| metrics.retry_count),
            timing_ms_total: metrics.map_or(0.0, |metrics| metrics.timing_ms_total),
        }
    }
}

fn vacuity(outcomes: &[Outcome], trace: &Trace) -> Option<String> {
    let skipped = |outcome: &Outcome| outcome.status == OutcomeStatus::Skip;
    match outcomes {
        [] => Some("it asserts nothing".to_owned()),
        outcomes if outcomes.iter().all(skipped) => Some("every assertion was skipped".to_owned()),
        _ if trace.end.is_none() => Some(
            "the trace is incomplete: the run ended abnormally, and more could have followed"
                .to_owned(),
        ),
        _ => None,
    }
}

fn status(outcomes: &[Outcome], vacuity_fails: bool) -> TestStatus {
    let fails = |outcome: &Outcome| outcome.status == OutcomeStatus::Fail;
    let skipped = |outcome: &Outcome| outcome.status == OutcomeStatus::Skip;
    if vacuity_fails || outcomes.iter().any(fails) {
        TestStatus::Fail
    } else if !outcomes.is_empty() && outcomes.iter().all(skipped) {
        TestStatus::Skipped
    } else {
        TestStatus::Pass
    }
}

fn with_lines(case: &TestCase, outcomes: Vec<Outcome>) -> Vec<JudgedAssertion> {
    let lines: HashMap<&str, usize> = case
        .assertions
        .iter()
        .map(|assertion| {
            let position = case.source.position(assertion.span.start);
            (assertion.id.as_str(), position.line)
        })
        .collect();
    outcomes
        .into_iter()
        .map(|outcome| JudgedAssertion {
            line: lines.get(outcome.id.as_str()).copied(),
            outcome,
        })
        .collect()
}

/// The events that outcomes refer to; those of failures come before others where there are too many.
fn evidence(outcomes: &[Outcome], trace: &Trace) -> Vec<Evidence> {
    let mut meant: HashSet<&str> = HashSet::new();
    let is_bad =
        |outcome: &&Outcome| matches!(outcome.status, OutcomeStatus::Fail | OutcomeStatus::Warn);
    let bad = outcomes.iter().filter(is_bad);
    let other = outcomes.iter().filter(|outcome| !is_bad(outcome));
    for id in bad.chain(other).flat_map(|outcome| &outcome.event_refs) {
        if meant.len() >= MAX_EVIDENCE {
            break;
        }
        meant.insert(id);
    }
    trace
        .events
        .iter()
        .filter(|event| meant.contains(event.event_id.as_str()))
        .map(|event| Evidence {
            event_id: event.event_id.clone(),
            seq: event.seq,
            kind: event.data.type_name().to_owned(),
            actor: event.data.actor().to_owned(),
            tool: event.tool().map(str::to_owned),
            text: event.brief(MAX_EVIDENCE_TEXT),
        })
        .collect()
}

/// How many tests came out how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// All of them.
    pub tests: usize,
    /// Those that passed.
    pub passed: usize,
    /// Those that failed.
    pub failed: usize,
    /// Those that could not be judged.
    pub errors: usize,
    /// Those of which every assertion was skipped.
    pub skipped: usize,
    /// Assertions that only warn.
    pub warnings: usize,
    /// Outcomes and tests with nothing to judge.
    pub vacuous: usize,
    /// Claims that are neither supported nor refuted.
    pub unproven: usize,
}

impl Totals {
    /// Counts one more.
    pub fn add(&mut self, result: &TestResult) {
        self.tests += 1;
        *match result.status {
            TestStatus::Pass => &mut self.passed,
            TestStatus::Fail => &mut self.failed,
            TestStatus::Error => &mut self.errors,
            TestStatus::Skipped => &mut self.skipped,
        } += 1;
        self.warnings += result.count(OutcomeStatus::Warn);
        self.vacuous += result.vacuous_lines().count();
        self.unproven += result.unproven_claims();
    }
}

#[cfg(test)]
mod tests;
