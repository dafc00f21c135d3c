//! How a run ended, and the counts of its steps.

use cuecard_source::diagnostic::{Diagnostic, codes};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every step passed, was skipped, or failed in a way that the scenario tolerates.
    Passed,
    /// A step failed.
    Failed,
    /// The run could not go on: a server or a file of the run is not to be had.
    Blocked,
    /// Somebody stopped it.
    Interrupted,
}

impl Verdict {
    /// The word for it in files and JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Counts of a run, so far or at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Steps in range.
    pub total: usize,
    /// Steps that were not played, since an earlier run did them or the user says that they are done. They count for what
    /// they ended with as well.
    pub restored: usize,
    /// Steps that passed.
    pub passed: usize,
    /// Those of them whose element was not as it was.
    pub healed: usize,
    /// Steps whose failure was tolerated.
    pub tolerated: usize,
    /// Steps whose condition was false or whose list has no elements.
    pub skipped: usize,
    /// Steps that ended the run.
    pub failed: usize,
    /// Steps that were interrupted: they may have had an effect.
    pub unknown: usize,
    /// Elements of steps with `for_each` that let the run go on.
    pub elements: usize,
    /// Calls, retries included.
    pub calls: u64,
    /// Calls that repeated a failed one.
    pub retries: u64,
}

impl Summary {
    /// That no step passed and none failed: their conditions were false, or what they failed with was tolerated.
    pub fn nothing_passed(&self) -> Option<Diagnostic> {
        if self.passed + self.failed + self.unknown > 0 {
            return None;
        }
        let message = match (self.skipped, self.tolerated) {
            (0, 0) => return None,
            (1, 0) => "no step ran: its only step was skipped".to_owned(),
            (count, 0) => format!("no step ran: all {count} were skipped"),
            (0, 1) => "no step passed: its only step failed, which is tolerated".to_owned(),
            (0, count) => format!("no step passed: all {count} failed, which is tolerated"),
            (skipped, tolerated) => format!(
                "no step passed: the failures of {tolerated} are tolerated, and {skipped} were skipped"
            ),
        };
        let warning = Diagnostic::warning(codes::RUN_NOTHING, message);
        Some(warning.with_help("nothing was tested, which is a failure with `--strict`"))
    }

    /// How many steps did not run.
    pub fn not_run(&self) -> usize {
        let begun = self.done() + self.failed + self.unknown;
        self.total.saturating_sub(begun)
    }

    /// How many steps let the run go on.
    pub fn done(&self) -> usize {
        self.passed + self.tolerated + self.skipped
    }
}
