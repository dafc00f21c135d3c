//! What a stand-in finds while it runs: each finding once, failures counted.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuecard_source::diagnostic::{Diagnostic, Severity};
use cuecard_source::value::without_credentials;
use cuecard_trace::{EventData, Log};

/// More findings are counted, not kept.
const MAX_FINDINGS: usize = 1_000;

/// Findings of a run, in order; bounded.
#[derive(Debug, Default)]
pub struct Findings {
    is_strict: bool,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    findings: Vec<Diagnostic>,
    told: HashSet<String>,
    n_failures: u64,
}

impl Findings {
    /// Nothing found yet; for who is strict, warnings are errors.
    pub fn new(is_strict: bool) -> Self {
        Self {
            is_strict,
            ..Self::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A warning as an error, for who is strict.
    pub fn strictly(&self, found: Diagnostic) -> Diagnostic {
        found.strictly(self.is_strict)
    }

    /// The same of a note that says that something was not looked at: who is strict wants to know.
    pub fn strictly_noted(&self, mut found: Diagnostic) -> Diagnostic {
        if self.is_strict {
            found.severity = Severity::Error;
        }
        found
    }

    /// Keeps a finding; `false` if the same was found before. Errors are failures, and are counted each time.
    pub fn keep(&self, found: &Diagnostic) -> bool {
        let mut inner = self.lock();
        inner.n_failures += u64::from(found.severity == Severity::Error);
        if inner.findings.len() >= MAX_FINDINGS {
            return false;
        }
        let text = format!(
            "{}{:?}{}",
            found.code.name(),
            found.place.as_ref().map(|place| place.span),
            found.message
        );
        if !inner.told.insert(text) {
            return false;
        }
        inner.findings.push(found.clone());
        true
    }

    /// How many failures there were.
    pub fn n_failures(&self) -> u64 {
        self.lock().n_failures
    }

    /// What was found so far.
    pub fn list(&self) -> Vec<Diagnostic> {
        self.lock().findings.clone()
    }
}

/// A finding as the trace has it.
pub fn logged(diagnostic: &Diagnostic) -> EventData {
    EventData::Log(Log {
        level: diagnostic.severity.as_str().to_owned(),
        message: format!("{}: {}", diagnostic.code.name(), explain(diagnostic)),
        stream: None,
    })
}

/// A finding as text: what, where, the facts, what to do; without credentials that a peer sent.
pub fn explain(diagnostic: &Diagnostic) -> String {
    let mut text = without_credentials(&diagnostic.message).into_owned();
    if let Some(place) = &diagnostic.place {
        let position = place.source.position(place.span.start);
        text.push_str(&format!(
            "\nat {}:{}:{}",
            place.source.name(),
            position.line,
            position.column
        ));
    }
    for note in &diagnostic.notes {
        text.push('\n');
        text.push_str(&without_credentials(note));
    }
    if let Some(help) = &diagnostic.help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    text
}

#[cfg(test)]
mod tests {
    use cuecard_source::diagnostic::codes;

    use super::*;

    #[test]
    fn findings_are_kept_up_to_the_bound_and_failures_counted_behind_it() {
        let findings = Findings::new(false);
        for number in 0..MAX_FINDINGS + 5 {
            let found = Diagnostic::error(codes::MODEL_MISS, format!("miss {number}"));
            assert_eq!(findings.keep(&found), number < MAX_FINDINGS);
        }
        assert_eq!(findings.list().len(), MAX_FINDINGS);
        assert_eq!(findings.n_failures(), (MAX_FINDINGS + 5) as u64);
    }

    #[test]
    fn the_same_finding_is_kept_once_and_counted_twice() {
        let findings = Findings::new(true);
        let found = findings.strictly(Diagnostic::warning(codes::MODEL_MISS, "again"));
        assert!(findings.keep(&found) && !findings.keep(&found));
        assert_eq!((findings.list().len(), findings.n_failures()), (1, 2));
    }
}
