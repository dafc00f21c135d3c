//! JUnit XML of a stand-in or a client that played timelines: one case a scenario.

use std::io::{self, Write};
use std::time::Duration;

use cuecard_source::diagnostic::{Diagnostic, Severity};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::diagnostics::render;
use super::junit::{non_success, write_suite};
use super::style::Style;

/// A scenario that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedScenario<'s> {
    /// Its name.
    pub name: &'s str,
    /// Its file, as findings name it.
    pub file: &'s str,
    /// How many of its prompts were not played.
    pub n_unplayed: usize,
    /// How many it has.
    pub n_prompts: usize,
}

/// Writes the report of `command`. A finding belongs to the scenario in whose file it was found; a case of its own, the
/// command itself, has those that belong to none.
///
/// # Errors
/// Those of `out`.
pub fn write(
    command: &str,
    scenarios: &[PlayedScenario<'_>],
    findings: &[Diagnostic],
    took: Duration,
    out: impl Write,
) -> io::Result<()> {
    let file_of = |found: &Diagnostic| {
        found
            .place
            .as_ref()
            .map(|place| place.source.name().to_owned())
    };
    let is_known = |file: &str| scenarios.iter().any(|scenario| scenario.file == file);
    let mut suite = TestSuite::new(command);
    for scenario in scenarios {
        let its = findings
            .iter()
            .filter(|found| file_of(found).as_deref() == Some(scenario.file));
        let mut status = status(its);
        if scenario.n_unplayed > 0
            && scenario.n_unplayed == scenario.n_prompts
            && !is_failure(&status)
        {
            status = TestCaseStatus::skipped();
            status.set_message("none of its prompts was played");
        }
        let mut case = TestCase::new(scenario.name, status);
        case.set_classname(scenario.file);
        suite.add_test_case(case);
    }
    let rest: Vec<&Diagnostic> = findings
        .iter()
        .filter(|found| file_of(found).is_none_or(|file| !is_known(&file)))
        .collect();
    if !rest.is_empty() {
        suite.add_test_case(TestCase::new(command, status(rest.into_iter())));
    }
    write_suite(command, suite, took, out)
}

/// A timeline that was run.
#[derive(Debug)]
pub struct PlayedRun<'s> {
    /// Its name.
    pub name: &'s str,
    /// Its file.
    pub file: &'s str,
    /// What kept it from being run to its end, in a word; nothing if it was.
    pub error: Option<&'s str>,
    /// What was found in it.
    pub findings: &'s [Diagnostic],
    /// How long it took.
    pub took: Duration,
}

/// Writes the report of runs: one case a run.
///
/// # Errors
/// Those of `out`.
pub fn write_runs(command: &str, runs: &[PlayedRun<'_>], out: impl Write) -> io::Result<()> {
    let mut suite = TestSuite::new(command);
    for run in runs {
        let mut status = status(run.findings.iter());
        if let Some(error) = run.error {
            let lines = run
                .findings
                .iter()
                .map(|found| render(found, Style::default()));
            let lines: Vec<String> = lines.collect();
            let mut errors = run.findings.iter();
            let first = errors.find(|found| found.severity == Severity::Error);
            let (message, code) = match first {
                Some(first) => (format!("{error}: {}", first.message), first.code.name()),
                None => (error.to_owned(), ""),
            };
            status = non_success(NonSuccessKind::Error, &message, code, &lines);
        }
        let mut case = TestCase::new(run.name, status);
        case.set_classname(run.file);
        case.set_time(run.took);
        suite.add_test_case(case);
    }
    let took = runs.iter().map(|run| run.took).sum();
    write_suite(command, suite, took, out)
}

fn is_failure(status: &TestCaseStatus) -> bool {
    matches!(status, TestCaseStatus::NonSuccess { .. })
}

fn status<'f>(findings: impl Iterator<Item = &'f Diagnostic>) -> TestCaseStatus {
    let errors: Vec<&Diagnostic> = findings
        .filter(|found| found.severity == Severity::Error)
        .collect();
    match errors.first() {
        None => TestCaseStatus::success(),
        Some(first) => {
            let lines: Vec<String> = errors
                .iter()
                .map(|found| render(found, Style::default()))
                .collect();
            let kind = NonSuccessKind::Failure;
            non_success(kind, &first.message, first.code.name(), &lines)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_source::diagnostic::codes;
    use cuecard_source::{SourceFile, Span};

    #[test]
    fn a_failure_belongs_to_the_scenario_of_its_file() {
        let source = SourceFile::new("a.yaml", "name: a\n");
        let found = Diagnostic::error(codes::ACP_CONTENT, "it said <x>");
        let findings = [
            found.at(&source, Span { start: 0, end: 4 }),
            Diagnostic::error(codes::ACP_MISSING, "it left"),
            Diagnostic::warning(codes::FAULT_NEVER, "a doubt"),
        ];
        let of = |name, file, n_unplayed| PlayedScenario {
            name,
            file,
            n_unplayed,
            n_prompts: 2,
        };
        let scenarios = [
            of("a", "a.yaml", 0),
            of("b", "b.yaml", 1),
            of("c", "c.yaml", 2),
        ];
        let mut text = Vec::new();
        write(
            "cuecard acp",
            &scenarios,
            &findings,
            Duration::from_secs(1),
            &mut text,
        )
        .expect("written");
        let text = String::from_utf8(text).expect("text");
        assert!(
            text.contains(r#"tests="4" skipped="1" errors="0" failures="2""#),
            "{text}"
        );
        assert!(
            text.contains(r#"message="it said &lt;x&gt;" type="T-ACP-24""#),
            "{text}"
        );
        assert!(
            text.contains(r#"<testcase name="cuecard acp""#) && text.contains("it left"),
            "{text}"
        );
        assert!(
            text.contains(r#"<testcase name="b" classname="b.yaml""#),
            "{text}"
        );
    }
}
