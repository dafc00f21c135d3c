//! Why a command does nothing.

use cuecard_runner::Problem;
use cuecard_source::diagnostic::Diagnostic;

use crate::exit_code::ExitCode;

/// Why nothing was done: findings to show, and how to exit.
pub(super) struct Stop(pub Vec<Diagnostic>, pub ExitCode);

impl Stop {
    pub(super) fn invalid(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic], ExitCode::Invalid)
    }

    pub(super) fn could_not_run(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic], ExitCode::CouldNotRun)
    }
}

impl From<cuecard_runner::Stop> for Stop {
    fn from(stop: cuecard_runner::Stop) -> Self {
        let exit = match stop.problem {
            Problem::Invalid => ExitCode::Invalid,
            Problem::CouldNotRun => ExitCode::CouldNotRun,
            Problem::Interrupted => ExitCode::Interrupted,
        };
        Self(stop.diagnostics, exit)
    }
}
