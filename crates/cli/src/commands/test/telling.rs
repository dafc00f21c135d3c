//! What came of each test, as it is told: on the terminal, in reports, in files, and in the exit code.

use std::collections::HashMap;
use std::time::Duration;

use cuecard_judge::{Run, TestResult, TestStatus, Totals};
use cuecard_report::diagnostics::to_json;
use cuecard_report::test_terminal::{TestList, counts};
use cuecard_runner::{Artifacts, Judged, Problem};
use cuecard_runtime::clock::Clock;
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};

use super::reports::Reports;
use super::setup::Plan;
use crate::args::TestArgs;
use crate::exit_code::ExitCode;
use crate::output::{Output, counted, stderr, stderr_line, stdout};
use crate::waiting::LiveLine;

/// More lines about what had nothing to judge are not shown.
const MOST_VACUOUS: usize = 50;

/// Tells results in the order it is given them.
pub(super) struct TestReporter<'a> {
    args: &'a TestArgs,
    output: &'a Output,
    list: TestList,
    reports: Reports,
    artifacts: Option<Artifacts>,
    /// The files of tests by their ids.
    ids: HashMap<String, String>,
    totals: Totals,
    /// How many of them are no tests, but something that was asked for.
    n_refused: usize,
    /// Whether `--fail-fast` ended the run.
    is_cut_short: bool,
    vacuous: Vec<String>,
    vacuous_left_out: usize,
    exit: ExitCode,
    live: LiveLine,
    run_id: String,
}

impl<'a> TestReporter<'a> {
    pub(super) fn begin(
        args: &'a TestArgs,
        plan: &Plan,
        total: usize,
        output: &'a Output,
    ) -> Result<Self, Diagnostic> {
        let run_id = &plan.setup.run_id;
        let artifacts = args
            .out
            .as_deref()
            .map(|folder| Artifacts::create(folder, run_id))
            .transpose()?;
        let summary = artifacts.as_ref().map(Artifacts::summary);
        let reports = Reports::begin(args, run_id, summary.as_deref())?;
        let style = match reports.takes_stdout {
            true => output.stderr,
            false => output.stdout,
        };
        Ok(Self {
            args,
            output,
            list: TestList::new(style, std::iter::empty()),
            reports,
            artifacts,
            ids: HashMap::new(),
            totals: Totals::default(),
            n_refused: 0,
            is_cut_short: false,
            vacuous: Vec::new(),
            vacuous_left_out: 0,
            exit: ExitCode::Passed,
            live: live_line(output, total),
            run_id: run_id.clone(),
        })
    }

    /// Tells what came of a test; whether to go on.
    pub(super) fn tell(&mut self, mut judged: Judged) -> bool {
        if let Some(bar) = self.live.bar() {
            bar.inc(1);
        }
        refuse_second(&mut self.ids, &mut judged);
        if let Some(artifacts) = &mut self.artifacts
            && let Err(diagnostic) = artifacts.write(&mut judged)
        {
            self.stop(&diagnostic);
            return false;
        }
        self.show(&judged);
        let result = &judged.result;
        self.totals.add(result);
        self.exit = self.exit.worst(exit_code(result.status, judged.problem));
        if let Err(diagnostic) = self.reports.result(result, judged.trace.as_ref()) {
            self.stop(&diagnostic);
            return false;
        }
        self.is_cut_short =
            self.args.fail_fast && matches!(result.status, TestStatus::Fail | TestStatus::Error);
        !self.is_cut_short
    }

    /// Tells of something that is no test, where one was asked for.
    pub(super) fn refuse(&mut self, name: String, found: Diagnostic, clock: &Clock) {
        self.n_refused += 1;
        let now = clock.timestamp(clock.now());
        let run = Run {
            id: self.run_id.clone(),
            file: name,
            started: now,
            finished: now,
            took: Duration::ZERO,
            strict: self.args.strict,
        };
        let result = TestResult::not_read(vec![found], run);
        self.tell(Judged::error(result, Problem::Invalid));
    }

    fn show(&mut self, judged: &Judged) {
        let result = &judged.result;
        self.live.above(|| {
            self.output.diagnostics(&judged.warnings);
            let text = self.list.result(result);
            match self.reports.takes_stdout {
                true => stderr(&text),
                false => stdout(&text),
            }
            for file in &judged.updated {
                stderr_line(&format!("updated {file}"));
            }
            if self.args.json {
                for diagnostic in &result.diagnostics {
                    stderr_line(&to_json(diagnostic).to_string());
                }
            }
        });
        let lines = self.list.vacuous(result);
        if self.vacuous.len() >= MOST_VACUOUS && !lines.is_empty() {
            self.vacuous_left_out += 1;
        } else if !lines.is_empty() {
            self.vacuous.push(lines);
        }
    }

    /// Nothing more can be told.
    fn stop(&mut self, diagnostic: &Diagnostic) {
        self.live.above(|| self.output.diagnostic(diagnostic));
        self.exit = self.exit.worst(ExitCode::CouldNotRun);
    }

    /// Tells the counts, and how to exit.
    pub(super) fn end(mut self, clock: &Clock, is_interrupted: bool) -> ExitCode {
        let took = clock.now();
        self.live.end();
        if self.totals.tests == 0 && !is_interrupted {
            self.nothing(clock);
        }
        let (takes_stdout, style) = match self.reports.takes_stdout {
            true => (true, self.output.stderr),
            false => (false, self.output.stdout),
        };
        let mut text = self.vacuous.concat();
        if self.vacuous_left_out > 0 {
            text.push_str(&format!(
                "vacuous: {} more tests had nothing to check\n",
                self.vacuous_left_out
            ));
        }
        if self.totals.tests > 0 {
            let counts = match self.totals.tests - self.n_refused {
                0 => {
                    let errors = style.bad(&counted(self.n_refused, "error"));
                    format!("no tests · {errors}")
                }
                _ => counts(style, &self.totals, took),
            };
            let exit = match is_interrupted {
                true => ExitCode::Interrupted,
                false => self.exit,
            };
            text.push_str(&format!("\n{}: {counts}\n", exit.verdict(style)));
        }
        match takes_stdout {
            true => stderr(&text),
            false => stdout(&text),
        }
        if self.is_cut_short {
            stderr_line(
                "stopped at the first failure (--fail-fast): the remaining tests were not run",
            );
        }
        match self.reports.end(took) {
            Ok(files) => {
                for file in files {
                    let line = format!("report: {}", file.display());
                    stderr_line(&self.output.stderr.faint(&line));
                }
                self.exit
            }
            Err(diagnostic) => {
                self.output.diagnostic(&diagnostic);
                self.exit.worst(ExitCode::CouldNotRun)
            }
        }
    }

    /// No test was judged: a shard may be empty, but nothing else.
    fn nothing(&mut self, clock: &Clock) {
        let Some((options, found)) = none_selected(self.args) else {
            // The paths hold none, which was said.
            return;
        };
        match found.severity {
            Severity::Error => self.refuse(options, found, clock),
            _ => self.output.diagnostic(&found),
        }
    }
}

/// The options, and that no test is what they ask for; `None` if they ask for nothing.
pub(super) fn none_selected(args: &TestArgs) -> Option<(String, Diagnostic)> {
    let is_selected = !args.filters.is_empty() || !args.tags.is_empty();
    if !is_selected && args.shard.is_none() {
        return None;
    }
    let words = |option: &str, values: &[String]| {
        let words: Vec<String> = values
            .iter()
            .map(|value| format!("{option} {value}"))
            .collect();
        words.join(" ")
    };
    let options: Vec<String> = [
        words("--filter", &args.filters),
        words("--tag", &args.tags),
        words("--shard", args.shard.as_slice()),
    ]
    .into_iter()
    .filter(|option| !option.is_empty())
    .collect();
    let options = options.join(" ");
    let message = format!("no test matches `{options}`");
    let found = match is_selected && args.shard.is_none() {
        true => Diagnostic::error(codes::TEST_NONE, message)
            .with_help("`cuecard test --list PATH` lists ids, tags and files"),
        false => Diagnostic::warning(codes::TEST_NONE, message),
    };
    Some((options, found))
}

/// Two tests of one id can't be told apart in reports. `ids` holds the files of tests by their ids.
pub(super) fn refuse_second(ids: &mut HashMap<String, String>, judged: &mut Judged) {
    let result = &judged.result;
    let Some(first) = ids.get(&result.id) else {
        ids.insert(result.id.clone(), result.run.file.clone());
        return;
    };
    let error = Diagnostic::error(
        codes::TEST_DUPLICATE,
        format!("duplicate test id `{}`", result.id),
    )
    .with_note(format!("first used in {first}"))
    .with_help("give each test a unique id, so that reports can distinguish them");
    let run = result.run.clone();
    *judged = Judged {
        warnings: std::mem::take(&mut judged.warnings),
        ..Judged::error(TestResult::not_read(vec![error], run), Problem::Invalid)
    };
}

/// How to exit for a test that came out so.
pub(super) fn exit_code(status: TestStatus, problem: Option<Problem>) -> ExitCode {
    match (status, problem) {
        (TestStatus::Pass | TestStatus::Skipped, _) => ExitCode::Passed,
        (TestStatus::Fail, _) => ExitCode::Failed,
        (TestStatus::Error, Some(Problem::Invalid)) => ExitCode::Invalid,
        (TestStatus::Error, Some(Problem::Interrupted)) => ExitCode::Interrupted,
        (TestStatus::Error, Some(Problem::CouldNotRun) | None) => ExitCode::CouldNotRun,
    }
}

/// How far the run is, on a terminal and once it takes a while.
pub(super) fn live_line(output: &Output, total: usize) -> LiveLine {
    let template = "judging {pos}/{len}  {elapsed}";
    let live = LiveLine::new(output, total > 0, template, |style| style);
    if let Some(bar) = live.bar() {
        bar.set_length(total as u64);
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    live
}
