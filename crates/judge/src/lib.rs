//! Judgement: a test case and a finished trace become outcomes with evidence. Mutants of traces, which assertions should
//! notice, and how two traces differ, are here too.
//!
//! Takes traces and test cases, gives outcomes. Never plays anything, and does no I/O.

pub mod assertions;
mod blocks;
pub mod compare;
mod document;
mod draft;
mod evidence;
mod fold;
pub mod model;
pub mod mutate;
mod prove;
mod reach;
mod redact_fields;
mod result;
#[cfg(test)]
mod samples;
pub mod test_case;
mod text;
mod tool_policy;
#[cfg(test)]
mod trials;
mod values;
mod view;
mod words;

pub use assertions::command::{CommandVerdict, CommandVerdicts};
pub use assertions::snapshot::{Snapshot, Snapshots, stable};
pub use draft::draft;
pub use redact_fields::{misspelt_redactions, redacted};
pub use result::{
    CallCount, Evidence, JudgedAssertion, Judgement, Run, TestResult, TestStatus, Totals,
    TraceSummary,
};
pub use view::View;

use crate::assertions::{Assertion, AssertionCheck};
use crate::model::{Severity, TestCase};
use cuecard_source::value::Json;
use cuecard_trace::Trace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What came of an assertion.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// `id` of the assertion.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// Its severity.
    pub severity: Severity,
    /// How it came out.
    pub status: OutcomeStatus,
    /// What was found, in words: a fragment without a full stop.
    pub message: String,
    /// What to try, if it failed.
    pub help: Option<String>,
    /// Its parameters as written.
    pub params: Json,
    /// What was there.
    pub observed: Json,
    /// Ids of the events that show it.
    pub event_refs: Vec<String>,
    /// Capabilities that it needs.
    pub required_capabilities: Vec<String>,
    /// Those of them that the trace lacks.
    pub missing_capabilities: Vec<String>,
    /// Whether there was nothing to judge.
    pub vacuous: bool,
}

impl Outcome {
    /// An outcome that no assertion of the test case stands for: it has no parameters and needs no capability.
    pub fn of_run(id: &str, kind: &str, status: OutcomeStatus, message: String) -> Self {
        Self {
            id: id.to_owned(),
            kind: kind.to_owned(),
            severity: match status {
                OutcomeStatus::Warn => Severity::Warning,
                _ => Severity::Critical,
            },
            status,
            message,
            help: None,
            params: Json::Null,
            observed: Json::Null,
            event_refs: Vec::new(),
            required_capabilities: Vec::new(),
            missing_capabilities: Vec::new(),
            vacuous: false,
        }
    }
}

/// How an assertion came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum OutcomeStatus {
    /// It holds.
    Pass,
    /// It does not, and is critical.
    Fail,
    /// It does not and is only a warning, or can't be decided.
    Warn,
    /// The trace can't be asked.
    Skip,
}

impl OutcomeStatus {
    /// The word in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Skip => "skip",
        }
    }
}

/// What a family of assertions finds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub verdict: Verdict,
    pub message: String,
    pub help: Option<String>,
    pub observed: Json,
    pub event_refs: Vec<String>,
    pub vacuous: bool,
}

/// What a finding says, before the severity is seen to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    Fails,
    /// Nobody can tell from this trace: a warning, whatever the severity.
    Undecided,
    /// The trace has nothing that could be asked.
    Skipped,
}

impl Finding {
    pub(crate) fn holds(message: impl Into<String>) -> Self {
        Self::new(Verdict::Holds, message)
    }

    pub(crate) fn fails(message: impl Into<String>) -> Self {
        Self::new(Verdict::Fails, message)
    }

    pub(crate) fn new(verdict: Verdict, message: impl Into<String>) -> Self {
        Self {
            verdict,
            message: message.into(),
            help: None,
            observed: Json::Null,
            event_refs: Vec::new(),
            vacuous: false,
        }
    }

    pub(crate) fn observed(mut self, observed: impl Into<Json>) -> Self {
        self.observed = observed.into();
        self
    }

    /// Adds the events that show it, each once, [`MOST_REFS`] at most.
    pub(crate) fn refs<'a>(mut self, ids: impl IntoIterator<Item = &'a str>) -> Self {
        for id in ids {
            if self.event_refs.len() >= MOST_REFS {
                break;
            }
            if !self.event_refs.iter().any(|known| known == id) {
                self.event_refs.push(id.to_owned());
            }
        }
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// There was nothing to judge.
    pub(crate) fn vacuous(mut self) -> Self {
        self.vacuous = true;
        self
    }
}

/// An outcome names so many events at most; its observation counts them all.
pub const MOST_REFS: usize = 100;

/// Judges every assertion of `case` on `trace`, in order. What the calls do beyond `tools.available` and
/// `tools.policy` follows as warnings of their own.
pub fn judge(case: &TestCase, trace: &Trace) -> Vec<Outcome> {
    judge_with(case, trace, &Beside::default())
}

/// What assertions ask for that is not in the trace.
#[derive(Debug, Default)]
pub struct Beside {
    /// The stored traces that [`snapshot_files`] names.
    pub snapshots: Snapshots,
    /// What the commands of assertions said of the trace.
    pub verdicts: CommandVerdicts,
}

impl From<Snapshots> for Beside {
    fn from(snapshots: Snapshots) -> Self {
        Self {
            snapshots,
            ..Self::default()
        }
    }
}

/// As [`judge`], with what the assertions ask for besides.
pub fn judge_with(case: &TestCase, trace: &Trace, beside: &Beside) -> Vec<Outcome> {
    let view = View::new(case, trace).with(beside);
    let assertions = case.assertions.iter();
    let mut outcomes: Vec<Outcome> = assertions
        .map(|assertion| outcome(assertion, &view))
        .collect();
    outcomes.extend(tool_policy::warnings(&view));
    outcomes
}

/// The files of the stored traces that the assertions of `case` ask for, as written.
pub fn snapshot_files(case: &TestCase) -> impl Iterator<Item = &str> {
    case.each_assertion()
        .filter_map(|assertion| match &assertion.check {
            AssertionCheck::TraceSnapshot(snapshot) => Some(&*snapshot.file),
            _ => None,
        })
}

/// The capabilities that an assertion needs and the trace lacks.
fn missing_capabilities(assertion: &Assertion, view: &View<'_>) -> Vec<String> {
    let needed = assertion.requires_capabilities.iter();
    needed
        .filter(|name| !view.has_capability(name))
        .cloned()
        .collect()
}

/// What is found of an assertion.
pub(crate) fn finding(assertion: &Assertion, view: &View<'_>) -> Finding {
    found_without(&missing_capabilities(assertion, view), assertion, view)
}

fn found_without(missing: &[String], assertion: &Assertion, view: &View<'_>) -> Finding {
    match missing.is_empty() {
        true => assertion.check.judge(view),
        false => Finding::new(
            Verdict::Skipped,
            format!("the trace does not have {}", missing.join(", ")),
        ),
    }
}

fn outcome(assertion: &Assertion, view: &View<'_>) -> Outcome {
    let missing = missing_capabilities(assertion, view);
    let finding = found_without(&missing, assertion, view);
    let status = match (finding.verdict, assertion.severity) {
        (Verdict::Holds, _) => OutcomeStatus::Pass,
        (Verdict::Fails, Severity::Critical) => OutcomeStatus::Fail,
        (Verdict::Fails, Severity::Warning) | (Verdict::Undecided, _) => OutcomeStatus::Warn,
        (Verdict::Skipped, _) => OutcomeStatus::Skip,
    };
    Outcome {
        id: assertion.id.clone(),
        kind: assertion.check.type_name().to_owned(),
        severity: assertion.severity,
        status,
        message: finding.message,
        help: finding.help,
        params: assertion.params.clone(),
        observed: finding.observed,
        event_refs: finding.event_refs,
        required_capabilities: assertion.requires_capabilities.clone(),
        missing_capabilities: missing,
        vacuous: finding.vacuous,
    }
}

#[cfg(test)]
mod tests;
