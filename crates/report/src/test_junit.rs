//! Results of tests in JUnit XML: one suite, one case a test.

use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};

use super::{Style, diagnostics, junit, test_terminal};
use cuecard_judge::{OutcomeStatus, TestResult, TestStatus};

/// Collects tests and writes the report at the end. Holds what it will write of each.
#[derive(Debug)]
pub struct TestJunitReport {
    suite: TestSuite,
}

impl Default for TestJunitReport {
    fn default() -> Self {
        Self {
            suite: TestSuite::new("cuecard test"),
        }
    }
}

impl TestJunitReport {
    /// Takes note of a test that ended.
    pub fn result(&mut self, result: &TestResult) {
        let mut case = TestCase::new(result.id.as_str(), status(result));
        case.set_classname(result.run.file.as_str());
        case.set_time(result.run.took);
        if !result.title.is_empty() && result.title != result.id {
            case.add_property(Property::new("title", result.title.as_str()));
        }
        for tag in &result.tags {
            case.add_property(Property::new("tag", tag.as_str()));
        }
        for category in &result.failure_categories {
            case.add_property(Property::new("failure_category", category.as_str()));
        }
        let unproven = result.unproven_claims();
        if unproven > 0 {
            case.add_property(Property::new("unproven_claims", unproven.to_string()));
        }
        let said = said_beside(result);
        if !said.is_empty() {
            case.set_system_out(said.join("\n"));
        }
        self.suite.add_test_case(case);
    }

    /// Writes the report.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(self, took: Duration, out: impl Write) -> io::Result<()> {
        junit::write_suite("cuecard test", self.suite, took, out)
    }
}

fn status(result: &TestResult) -> TestCaseStatus {
    match result.status {
        TestStatus::Pass => TestCaseStatus::success(),
        TestStatus::Skipped => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(result.vacuous.as_deref().unwrap_or_default());
            status
        }
        TestStatus::Error => {
            let first = result.diagnostics.first();
            let lines: Vec<String> = result
                .diagnostics
                .iter()
                .map(|diagnostic| diagnostics::render(diagnostic, Style::default()))
                .collect();
            junit::non_success(
                NonSuccessKind::Error,
                first.map_or("", |diagnostic| diagnostic.message.as_str()),
                first.map_or("", |diagnostic| diagnostic.code.name()),
                &lines,
            )
        }
        TestStatus::Fail => {
            let failed: Vec<_> = result
                .assertions
                .iter()
                .map(|assertion| &assertion.outcome)
                .filter(|outcome| outcome.status == OutcomeStatus::Fail)
                .collect();
            let (message, kind) = match failed.first() {
                Some(first) => (
                    format!("{}: {}", first.id, first.message),
                    first.kind.as_str(),
                ),
                None => (result.vacuous.clone().unwrap_or_default(), "vacuous"),
            };
            let lines: Vec<String> = failed
                .iter()
                .map(|outcome| test_terminal::outcome(Style::default(), result, outcome))
                .collect();
            junit::non_success(NonSuccessKind::Failure, &message, kind, &lines)
        }
    }
}

/// What is no failure and deserves to be read.
fn said_beside(result: &TestResult) -> Vec<String> {
    let warned = result
        .assertions
        .iter()
        .map(|assertion| &assertion.outcome)
        .filter(|outcome| outcome.status == OutcomeStatus::Warn)
        .map(|outcome| format!("warning: {}: {}", outcome.id, outcome.message));
    let vacuous = result
        .vacuous_lines()
        .map(|line| format!("vacuous: {line}"));
    warned.chain(vacuous).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn each_test_is_a_case() {
        let mut report = TestJunitReport::default();
        for (result, _) in &sample::all() {
            report.result(result);
        }
        let mut bytes = Vec::new();
        report
            .write(Duration::from_millis(38), &mut bytes)
            .expect("written");
        let text = String::from_utf8(bytes).expect("text");
        for part in [
            r#"tests="4" skipped="1" failures="1" errors="1" time="0.038""#,
            r#"<testcase name="news.current.grounded" classname="tests/news/test.yaml" time="0.004">"#,
            r#"<failure message="grounded-claims-only: 1 of 4 units has no support: “Reuters reports 40 % growth”" type="claims_supported_by_fixtures">"#,
            r#"<property name="failure_category" value="groundedness"/>"#,
            "<system-out>warning: three-bullet-format: 4 bullets, expected 3",
            r#"<error message="`call_id` is `c9`, and no `tool_call` before it has that id" type="X-ARG-01">"#,
            r#"<skipped message="every assertion was skipped"/>"#,
            "vacuous: retries (retry_policy_respected)",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
