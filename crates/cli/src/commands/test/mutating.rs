//! `cuecard test --mutate`: what do the assertions notice?

use std::ops::ControlFlow;

use cuecard_judge::TestStatus;
use cuecard_report::test_mutations::MutationReport;
use cuecard_report::test_terminal::TestList;
use cuecard_runner::{Judged, Problem, TestFile};
use cuecard_runtime::clock::Clock;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;

use super::judge_all;
use super::setup::Plan;
use super::telling::{exit_code, live_line};
use crate::args::TestArgs;
use crate::asynchronous::asynchronously;
use crate::exit_code::ExitCode;
use crate::output::{Output, stderr};

/// Judges each test and its mutants. A test that does not pass unchanged is told as without mutants, and counts.
pub(super) fn run(
    args: &TestArgs,
    files: Vec<TestFile>,
    plan: Plan,
    clock: &Clock,
    output: &Output,
) -> ExitCode {
    let mut report = MutationReport::default();
    let mut exit = ExitCode::Passed;
    let list = TestList::new(output.stderr, std::iter::empty());
    let mut live = live_line(output, files.len());
    let ended = asynchronously(async |stop| {
        let tell = |mut judged: Judged| {
            if let Some(bar) = live.bar() {
                bar.inc(1);
            }
            if judged.problem == Some(Problem::Interrupted) {
                return ControlFlow::Continue(());
            }
            let result = &judged.result;
            exit = exit.worst(exit_code(result.status, judged.problem));
            live.above(|| {
                output.diagnostics(&judged.warnings);
                if matches!(result.status, TestStatus::Fail | TestStatus::Error) {
                    stderr(&list.result(result));
                }
            });
            report.add(result, judged.mutations.take());
            ControlFlow::Continue(())
        };
        judge_all(files, plan, &stop, output, tell).await.1
    });
    let ended = ended.unwrap_or_else(|exit| exit);
    live.end();
    let least = args.min_score;
    let text = |style| report.text(style, least, clock.now());
    output.result(&Redactor::default(), || report.json(least), text);
    if ended != ExitCode::Interrupted
        && let Some(least) = least.filter(|least| report.is_below(*least))
    {
        let (message, help) = match report.score() {
            Some(score) if score >= least => (
                format!(
                    "{} not exercised: a score of 100 % requires all of them",
                    report.n_unexercised()
                ),
                "it is unknown what they detect; review them by hand, or lower --min-score",
            ),
            Some(_) => (
                format!("the score is below {least} %"),
                "tighten the assertions that cover the undetected mutants, or lower --min-score",
            ),
            None => (
                "no score: there was nothing to mutate".to_owned(),
                "add assertions about the agent's calls, output or memory",
            ),
        };
        output.diagnostic(&Diagnostic::error(codes::TEST_SCORE, message).with_help(help));
        exit = exit.worst(ExitCode::Failed);
    }
    exit.worst(ended)
}
