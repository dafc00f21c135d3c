//! What the reports on a played scenario say at their end.

use std::time::Duration;

use cuecard_source::value::Json;
use cuecard_tool_call::script::{Summary, Verdict};

/// What is known only at the end.
#[derive(Debug, Clone)]
pub struct PlayTotals {
    /// How it ended.
    pub verdict: Verdict,
    /// Counts.
    pub summary: Summary,
    /// Wall-clock time.
    pub took: Duration,
    /// Why it failed, for people.
    pub error: Option<String>,
    /// The run's folder.
    pub run_dir: String,
    /// The trace.
    pub trace_path: String,
    /// Screenshots that were taken.
    pub screenshots: Vec<String>,
    /// What more is known of this kind of run, by name.
    pub more: Vec<(&'static str, Json)>,
}

#[cfg(test)]
impl PlayTotals {
    /// Those of a run of one step.
    pub(crate) fn of_step(has_failed: bool) -> Self {
        Self {
            verdict: match has_failed {
                true => Verdict::Failed,
                false => Verdict::Passed,
            },
            summary: Summary {
                total: 1,
                passed: usize::from(!has_failed),
                failed: usize::from(has_failed),
                ..Summary::default()
            },
            took: Duration::from_millis(20),
            error: None,
            run_dir: "runs/1".to_owned(),
            trace_path: "runs/1/trace.jsonl".to_owned(),
            screenshots: Vec::new(),
            more: Vec::new(),
        }
    }
}
