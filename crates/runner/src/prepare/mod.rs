//! What is settled before a run: one place for play, dry runs, verify and tests.

mod resume;
mod steps;
mod tool_calls;

use cuecard_source::diagnostic::{Diagnostic, Severity, any_error};
use cuecard_source::value::Redactor;

pub use resume::{Decision, Resumption, begin_journal, lacks_output};
pub use steps::{PreparedSteps, StepsRequest, partial, prepare_steps};
pub use tool_calls::{
    CallsContext, CallsRequest, GivenTo, PreparedCalls, environment_server, prepare_calls,
};

use super::Stop;

/// Findings, errors apart from warnings.
struct Findings {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    strict: bool,
}

impl Findings {
    fn new(strict: bool, found: Vec<Diagnostic>) -> Self {
        let mut findings = Self {
            errors: Vec::new(),
            warnings: Vec::new(),
            strict,
        };
        findings.take(found);
        findings
    }

    fn take(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        for diagnostic in found {
            match diagnostic.severity {
                Severity::Error => self.errors.push(diagnostic),
                Severity::Warning if self.strict => self.errors.push(diagnostic.strictly(true)),
                Severity::Warning | Severity::Note => self.warnings.push(diagnostic),
            }
        }
    }

    fn is_bad(&self) -> bool {
        any_error(&self.errors)
    }

    /// All of them in the order of the file.
    fn refused(self, redactor: &Redactor) -> Stop {
        let all = self.errors.into_iter().chain(self.warnings);
        let mut diagnostics: Vec<_> = all.map(|found| redacted(found, redactor)).collect();
        diagnostics.sort_by_key(|found| found.place.as_ref().map_or(0, |place| place.span.start));
        Stop::invalid(diagnostics)
    }
}

/// A finding without secrets.
pub(crate) fn redacted(mut diagnostic: Diagnostic, redactor: &Redactor) -> Diagnostic {
    diagnostic.message = redactor.text(&diagnostic.message).into_owned();
    for note in &mut diagnostic.notes {
        *note = redactor.text(note).into_owned();
    }
    for text in [&mut diagnostic.label, &mut diagnostic.help]
        .into_iter()
        .flatten()
    {
        *text = redactor.text(text).into_owned();
    }
    diagnostic
}
