//! Why a command does nothing.

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
