//! Why a command does nothing.

use cuecard_runner::Problem;
use cuecard_runner::prepare::Refused;
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

impl From<Refused> for Stop {
    fn from(refused: Refused) -> Self {
        let exit = match refused.problem {
            Problem::Invalid => ExitCode::Invalid,
            Problem::CouldNotRun => ExitCode::CouldNotRun,
            Problem::Interrupted => ExitCode::Interrupted,
        };
        Self(refused.diagnostics, exit)
    }
}
