//! `cuecard test`: judges test cases and suites of them.

mod drafting;
mod list;
mod mutating;
mod reports;
mod setup;
mod telling;
mod watching;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use cuecard_runner::{self as judging, Collected, Judged, Setup, TestFile};
use cuecard_runtime::clock::Clock;
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use tokio_util::sync::CancellationToken;

use self::setup::Plan;
use self::telling::TestReporter;
use crate::args::TestArgs;
use crate::asynchronous::asynchronously;
use crate::commands::list::named;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs::io_reason;
use crate::output::Output;

pub(crate) fn run(args: &TestArgs, context: &Context) -> Result<ExitCode, Stop> {
    if args.init {
        return drafting::run(args, &context.output);
    }
    let clock = Clock::start();
    let (plan, warnings) = setup::plan(args, &context.environment, &clock)?;
    let output = &context.output;
    output.diagnostics(&warnings);
    if args.watch {
        return Ok(watching::run(args, plan, context)?);
    }
    let Collected {
        mut files,
        mut problems,
    } = judging::collect(&paths(args));
    for (path, problem) in &mut problems {
        // A name that no scenario has may be like one.
        if let Err(unknown) = named(path) {
            *problem = unknown;
        }
    }
    if let Some(shard) = plan.shard {
        let mut numbers = 0..;
        files.retain(|_| numbers.next().is_some_and(|number| shard.holds(number)));
    }
    if !args.list && !args.mutate {
        return judge(args, files, problems, plan, &clock, output);
    }
    let exit = match problems.is_empty() {
        true => ExitCode::Passed,
        false => ExitCode::Invalid,
    };
    for (_, problem) in &problems {
        output.diagnostic(problem);
    }
    Ok(exit.worst(match args.list {
        true => list::run(args, &files, &plan.selection, output),
        false => mutating::run(args, files, plan, &clock, output),
    }))
}

/// The files and folders; a name is that of a scenario, as for `play`. What is neither is told when it is read.
fn paths(args: &TestArgs) -> Vec<PathBuf> {
    let found = |path: &PathBuf| named(path).unwrap_or_else(|_| path.clone());
    args.paths.iter().map(found).collect()
}

fn judge(
    args: &TestArgs,
    files: Vec<TestFile>,
    problems: Vec<(PathBuf, Diagnostic)>,
    plan: Plan,
    clock: &Clock,
    output: &Output,
) -> Result<ExitCode, Stop> {
    let total = files.len();
    let telling = TestReporter::begin(args, &plan, total, output);
    let mut telling = telling.map_err(Stop::could_not_run)?;
    for (path, problem) in problems {
        telling.refuse(path.display().to_string(), problem, clock);
    }
    let is_part = plan.shard.is_some() || !plan.selection.filters.is_empty();
    let mut is_cut_short = false;
    let judged = asynchronously(async |stop| {
        let tell = |judged| match telling.tell(judged) {
            true => ControlFlow::Continue(()),
            false => {
                is_cut_short = true;
                ControlFlow::Break(())
            }
        };
        judge_all(files, plan, &stop, output, tell).await
    });
    let exit = match judged {
        Ok((setup, ExitCode::Passed)) if !is_part && !is_cut_short => {
            unknown_variables(&setup, args, output)
        }
        Ok((_, exit)) | Err(exit) => exit,
    };
    Ok(exit.worst(telling.end(clock, exit == ExitCode::Interrupted)))
}

/// Says which variables that the user gave no scenario has.
fn unknown_variables(setup: &Setup, args: &TestArgs, output: &Output) -> ExitCode {
    let found: Vec<Diagnostic> = setup
        .unknown()
        .into_iter()
        .map(|name| match args.variables.secrets.contains(&name) {
            // What it was to hide is not hidden.
            true => Diagnostic::error(
                codes::VARIABLE_UNKNOWN,
                format!("`--secret {name}`: no scenario that was played has a variable `{name}`"),
            ),
            false => Diagnostic::warning(
                codes::VARIABLE_UNKNOWN,
                format!("no scenario that was played has a variable `{name}`"),
            ),
        })
        .map(|found| found.strictly(args.strict))
        .collect();
    output.diagnostics(&found);
    match any_error(&found) {
        true => ExitCode::Invalid,
        false => ExitCode::Passed,
    }
}

/// Judges all files, and gives `tell` what came of each. Afterwards the setup knows which servers were asked for, and
/// the exit code says whether the run went to its end.
async fn judge_all(
    files: Vec<TestFile>,
    plan: Plan,
    stop: &CancellationToken,
    output: &Output,
    tell: impl FnMut(Judged) -> ControlFlow<()>,
) -> (Arc<Setup>, ExitCode) {
    let setup = Arc::new(plan.setup);
    let ended = judging::run(files, plan.selection, setup.clone(), plan.jobs, stop, tell).await;
    let exit = match ended {
        Ok(()) if stop.is_cancelled() => ExitCode::Interrupted,
        Ok(()) => ExitCode::Passed,
        Err(error) => {
            let message = format!("failed to start a thread: {}", io_reason(&error));
            output.diagnostic(&Diagnostic::error(codes::TEST_RUN, message));
            ExitCode::CouldNotRun
        }
    };
    (setup, exit)
}
