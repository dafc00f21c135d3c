//! JUnit XML: one suite a scenario, one case a step.

use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::trace::{StepFinished, StepStatus};

/// Collects steps and writes the report at the end.
#[derive(Debug)]
pub struct JunitReport {
    suite: TestSuite,
    name: String,
}

impl JunitReport {
    /// A report on the scenario called `name`, read from `file`.
    pub fn new(name: &str, file: &str) -> Self {
        let mut suite = TestSuite::new(name);
        suite.add_property(Property::new("file", file));
        Self {
            suite,
            name: name.to_owned(),
        }
    }

    /// Takes note of a step.
    pub fn step(&mut self, step: &StepFinished) {
        let error = step.error.as_ref();
        let mut status = match step.status {
            StepStatus::Passed | StepStatus::Tolerated => TestCaseStatus::success(),
            StepStatus::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
            StepStatus::Unknown => TestCaseStatus::non_success(NonSuccessKind::Error),
            StepStatus::Skipped => TestCaseStatus::skipped(),
        };
        match step.status {
            StepStatus::Failed => {
                if let Some(error) = error {
                    status.set_message(error.message.as_str());
                    status.set_type(error.code.as_str());
                    let mut description = error.message.clone();
                    for line in error.notes.iter().chain(&error.help) {
                        description.push('\n');
                        description.push_str(line);
                    }
                    status.set_description(description);
                }
            }
            StepStatus::Unknown => {
                status.set_message(
                    "the run ended while the step was under way; it may have had an effect",
                );
            }
            StepStatus::Skipped => {
                status.set_message(format!(
                    "condition is false: {}",
                    step.skipped_by.as_deref().unwrap_or_default()
                ));
            }
            StepStatus::Passed | StepStatus::Tolerated => {}
        }
        let label = step
            .description
            .as_deref()
            .or(step.id.as_deref())
            .unwrap_or(&step.tool);
        let mut case = TestCase::new(format!("{} {label}", step.step), status);
        case.set_classname(self.name.as_str());
        case.set_time(Duration::from_secs_f64(step.duration_ms.max(0.0) / 1000.0));
        case.add_property(Property::new("tool", step.tool.as_str()));
        if let (StepStatus::Tolerated, Some(error)) = (step.status, error) {
            case.set_system_out(format!("tolerated failure: {}", error.message));
        }
        self.suite.add_test_case(case);
    }

    /// Writes the report. A run that could not go on without a step to blame is an error of the suite.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(
        mut self,
        took: Duration,
        blocked: Option<&str>,
        out: impl Write,
    ) -> io::Result<()> {
        if let Some(reason) = blocked {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(reason);
            self.suite.add_test_case(TestCase::new("run", status));
        }
        self.suite.set_time(took);
        let mut report = Report::new(self.name);
        report.set_time(took);
        report.add_test_suite(self.suite);
        report.serialize(out).map_err(io::Error::other)
    }
}
