//! JUnit XML: one suite a scenario, one case a step. A suite of a run that did not pass has a case that did not, too.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use cuecard_browser_steps::model::TestStep;
use cuecard_page::browser_tool;
use cuecard_source::value::Json;
use cuecard_tool_call::model::{Step, Template};
use cuecard_trace::{StepFinished, StepStatus};

use cuecard_tool_call::script::Verdict;

use super::PlayTotals;
use super::play_terminal::tally;

/// What a report says of one run.
#[derive(Debug, Clone)]
pub struct JunitSuite(TestSuite);

/// The case that stands for a run as a whole.
const RUN: &str = "run";

/// Collects steps and writes the report at the end.
#[derive(Debug, Clone)]
pub struct JunitReport {
    suite: TestSuite,
    name: String,
    /// Whether a case says that something went wrong.
    names_failure: bool,
    /// Steps that did not end yet, in order.
    open: VecDeque<OpenStep>,
}

#[derive(Debug, Clone)]
struct OpenStep {
    number: u64,
    label: String,
    tool: String,
}

impl JunitReport {
    /// A report on the scenario called `name`, read from `file`; `steps` are those in range, in order.
    pub fn new<'a>(name: &str, file: &str, steps: impl IntoIterator<Item = &'a Step>) -> Self {
        Self::of_steps(name, file, steps.into_iter().map(OpenStep::of))
    }

    /// The same on the steps of a browser file, each with its number.
    pub fn of_browser<'a>(
        name: &str,
        file: &str,
        steps: impl IntoIterator<Item = (u64, &'a TestStep)>,
    ) -> Self {
        let open = |(number, step): (u64, &TestStep)| OpenStep {
            number,
            label: step.description.clone(),
            tool: browser_tool(step.action).into_owned(),
        };
        Self::of_steps(name, file, steps.into_iter().map(open))
    }

    fn of_steps(name: &str, file: &str, steps: impl Iterator<Item = OpenStep>) -> Self {
        let mut suite = TestSuite::new(name);
        suite.add_property(Property::new("file", file));
        Self {
            suite,
            name: name.to_owned(),
            names_failure: false,
            open: steps.collect(),
        }
    }

    /// Takes note of a step that ended.
    pub fn step(&mut self, step: &StepFinished) {
        if let Some(at) = self.open.iter().position(|open| open.number == step.step) {
            self.open.remove(at);
        }
        let error = step.error.as_ref();
        self.names_failure |= matches!(step.status, StepStatus::Failed | StepStatus::Unknown);
        let mut status = match step.status {
            StepStatus::Passed | StepStatus::Tolerated => TestCaseStatus::success(),
            StepStatus::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
            StepStatus::Unknown => TestCaseStatus::non_success(NonSuccessKind::Error),
            StepStatus::Skipped => TestCaseStatus::skipped(),
        };
        match step.status {
            StepStatus::Failed => {
                if let Some(error) = error {
                    let facts = error.notes.iter().chain(&error.help);
                    let lines: Vec<String> = std::iter::once(&error.message)
                        .chain(facts)
                        .cloned()
                        .collect();
                    status =
                        non_success(NonSuccessKind::Failure, &error.message, &error.code, &lines);
                }
            }
            StepStatus::Unknown => {
                status.set_message("the run ended during the step; it may have had an effect");
            }
            StepStatus::Skipped => {
                status.set_message(match &step.skipped_by {
                    Some(condition) => format!("condition is false: {condition}"),
                    None => tally(step),
                });
            }
            StepStatus::Passed | StepStatus::Tolerated => {}
        }
        let label = step
            .description
            .as_deref()
            .or(step.id.as_deref())
            .unwrap_or(&step.tool);
        let mut case = self.case(step.step, label, &step.tool, status);
        case.set_time(Duration::from_secs_f64(step.duration_ms.max(0.0) / 1000.0));
        if let Some(group) = &step.group {
            case.add_property(Property::new("group", group.as_str()));
        }
        if let (StepStatus::Tolerated, Some(error)) = (step.status, error) {
            let lines: Vec<&str> = std::iter::once(&error.message)
                .chain(&error.notes)
                .map(String::as_str)
                .collect();
            case.set_system_out(format!("tolerated failure: {}", lines.join("\n")));
        }
        if let Some(reason) = &step.healed {
            case.set_system_out(format!("healed: {reason}"));
        }
        if let Some(restored) = step.restored {
            case.set_system_out(restored.as_str());
        }
        self.suite.add_test_case(case);
    }

    fn case(&self, number: u64, label: &str, tool: &str, status: TestCaseStatus) -> TestCase {
        let mut case = TestCase::new(format!("{number} {label}"), status);
        case.set_classname(self.name.as_str());
        case.add_property(Property::new("tool", tool));
        case
    }

    /// Returns the suite of the run. Steps that did not run are skipped; a run that was interrupted, or did not pass
    /// without a step to blame, has a case of its own.
    pub fn finish(mut self, totals: &PlayTotals) -> JunitSuite {
        for step in std::mem::take(&mut self.open) {
            let mut status = TestCaseStatus::skipped();
            status.set_message("not run");
            let case = self.case(step.number, &step.label, &step.tool, status);
            self.suite.add_test_case(case);
        }
        let kind = match totals.verdict {
            Verdict::Passed => None,
            Verdict::Interrupted => Some(NonSuccessKind::Error),
            Verdict::Failed | Verdict::Blocked if self.names_failure => None,
            Verdict::Failed => Some(NonSuccessKind::Failure),
            Verdict::Blocked => Some(NonSuccessKind::Error),
        };
        if let Some(kind) = kind {
            let mut status = TestCaseStatus::non_success(kind);
            status.set_message(totals.error.as_deref().unwrap_or(totals.verdict.as_str()));
            self.suite.add_test_case(TestCase::new(RUN, status));
        }
        self.suite.set_time(totals.took);
        JunitSuite(self.suite)
    }
}

impl JunitSuite {
    /// Returns the suite of a file that was not played, with the reasons.
    pub fn refused<'a>(file: &str, reasons: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut suite = TestSuite::new(file);
        suite.add_property(Property::new("file", file));
        let reasons: Vec<_> = reasons.into_iter().collect();
        let lines: Vec<String> = reasons.iter().map(|(_, line)| (*line).to_owned()).collect();
        let (code, message) = reasons.first().copied().unwrap_or(("", "not played"));
        let status = non_success(NonSuccessKind::Error, message, code, &lines);
        suite.add_test_case(TestCase::new(RUN, status));
        Self(suite)
    }
}

/// Writes a report of one or more runs.
///
/// # Errors
/// Those of `out`.
pub fn write(
    name: &str,
    suites: impl IntoIterator<Item = JunitSuite>,
    took: Duration,
    out: impl Write,
) -> io::Result<()> {
    let mut report = Report::new(name);
    report.set_time(took);
    report.add_test_suites(suites.into_iter().map(|suite| suite.0));
    serialize(&report, out)
}

/// Writes a report of one suite.
pub(super) fn write_suite(
    name: &str,
    mut suite: TestSuite,
    took: Duration,
    out: impl Write,
) -> io::Result<()> {
    suite.set_time(took);
    write(name, [JunitSuite(suite)], took, out)
}

/// Writes a report without the two characters that XML has no place for, and its writer doesn't know.
fn serialize(report: &Report, mut out: impl Write) -> io::Result<()> {
    let text = report.to_string().map_err(io::Error::other)?;
    let text = text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    out.write_all(text.as_bytes())
}

/// Why something did not go well: a line, a word for machines, and everything there is to say.
pub(super) fn non_success(
    kind: NonSuccessKind,
    message: &str,
    word: &str,
    lines: &[String],
) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(message);
    status.set_type(word);
    status.set_description(lines.join("\n"));
    status
}

impl OpenStep {
    fn of(step: &Step) -> Self {
        let tool = step.tool.to_string();
        let label = match (step.description.as_deref(), &step.id) {
            (Some(Template::Literal(Json::String(text))), _) => text.clone(),
            (_, Some(id)) => id.clone(),
            (_, None) => tool.clone(),
        };
        Self {
            number: step.number,
            label,
            tool,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_source::SourceFile;
    use cuecard_tool_call::format::read;

    #[test]
    fn steps_that_did_not_run_are_skipped_ones() {
        let text = r#"{"version": "2.1", "metadata": {"name": "x"}, "steps": [
            {"step": 1, "tool": "mcp__s__t", "params": {}},
            {"step": 2, "tool": "mcp__s__t", "params": {}, "description": "post it"},
            {"step": 3, "id": "last", "tool": "mcp__s__u", "params": {}}]}"#;
        let scenario = read(&SourceFile::new("x.json", text))
            .scenario
            .expect("valid");
        let mut report = JunitReport::new("x", "x.json", &scenario.steps);
        report.step(&StepFinished {
            step: 1,
            id: None,
            tool: "mcp__s__t".into(),
            description: None,
            status: StepStatus::Failed,
            duration_ms: 1.0,
            attempts: Vec::new(),
            error: None,
            skipped_by: None,
            group: None,
            healed: None,
            outputs: serde_json::Map::new(),
            restored: None,
            element: None,
            elements: None,
        });
        let mut bytes = Vec::new();
        let suite = [report.finish(&PlayTotals::of_step(true))];
        write("x", suite, Duration::ZERO, &mut bytes).expect("written");
        let written = String::from_utf8(bytes).expect("text");
        assert!(written.contains(r#"tests="3""#), "{written}");
        assert!(written.contains(r#"failures="1""#), "{written}");
        assert_eq!(
            written.matches(r#"<skipped message="not run""#).count(),
            2,
            "{written}"
        );
        assert!(written.contains(r#"name="2 post it""#), "{written}");
        assert!(written.contains(r#"name="3 last""#), "{written}");
    }
}
