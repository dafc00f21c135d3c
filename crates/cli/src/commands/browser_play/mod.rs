//! `cuecard play` of browser steps.

mod heal;
mod prepared;

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter};
use std::sync::Arc;
use std::time::Duration;

use cuecard_browser::replay::{self as player, Replay, Replayed, numbered};
use cuecard_page::browser_tool;
use cuecard_replay::{Played, prepare as trace};
use cuecard_report::browser_html::{BrowserEnd, BrowserHtml, BrowserStep};
use cuecard_report::junit::JunitReport;
use cuecard_report::play_json::IncludeResults;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::tap::Recorder;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::printable;
use cuecard_trace::Header;
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub(crate) use heal::Kept;
pub(crate) use prepared::{PlayRequest, Prepared, prepare};

use super::play;
use super::play_output::{self, Report, Reports, Subject};
use super::stop::Stop;
use super::{browser_files, browser_stage, play_output::unwritable};
use crate::args::PlayArgs;
use crate::asynchronous::asynchronously;
use crate::exit_code::ExitCode;
use crate::inputs::{self, io_reason};
use crate::output::{Output, stderr, stderr_line, stdout};

/// Plays the steps in `source`.
pub(super) fn run(
    args: &PlayArgs,
    source: SourceFile,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> ExitCode {
    let prepared = options(args).and_then(|(timeout, reports)| {
        let asked = PlayRequest {
            file: &args.file,
            variables: &args.variables,
            heal: &args.heal,
            browser: &args.browser,
            safety: &args.safety,
            range: args.start.unwrap_or(0)..=args.end.unwrap_or(u64::MAX),
            timeout,
            strict: args.strict,
            json: args.json,
            run_dir: Some(&args.runs.run_dir),
        };
        Ok((prepare(&asked, source, environment, output)?, reports))
    });
    let (prepared, reports) = match prepared {
        Ok(prepared) => prepared,
        Err(stopped) => return play::refused(args, stopped, output),
    };
    if args.dry_run {
        let would_do = browser_files::of_steps(&prepared.ready.steps);
        stderr(&would_do.list());
        stdout(&format!("it would do {}\n", would_do.line()));
        return ExitCode::Passed;
    }
    let exit = asynchronously(async |stop| perform(args, &prepared, &reports, output, &stop).await);
    exit.unwrap_or_else(|exit| exit)
}

/// The time limit and the reports that the user asked for.
fn options(args: &PlayArgs) -> Result<(Option<Duration>, Vec<Report>), Stop> {
    let (timeout, _) = inputs::seconds("--timeout", args.timeout).map_err(Stop::invalid)?;
    let reports = args
        .reports
        .iter()
        .map(|report| play_output::report_file(report))
        .collect::<Result<_, _>>()
        .map_err(Stop::invalid)?;
    Ok((timeout, reports))
}

async fn perform(
    args: &PlayArgs,
    prepared: &Prepared,
    reports: &[Report],
    output: &Output,
    stop: &CancellationToken,
) -> ExitCode {
    let clock = Clock::start();
    let redactor = prepared.redactor();
    let fail = |diagnostic: &Diagnostic| {
        output.diagnostic(diagnostic, args.json, redactor);
        ExitCode::CouldNotRun
    };
    let run_dir = match play::run_dir(&args.runs.run_dir, &prepared.working_directory, &clock) {
        Ok(run_dir) => Arc::new(run_dir),
        Err(diagnostic) => return fail(&diagnostic),
    };
    let name = prepared.ready.source.name().to_owned();
    let mut outputs = match begin(args, prepared, &name, reports) {
        Ok(outputs) => outputs,
        Err(diagnostic) => return fail(&diagnostic),
    };
    header(output, prepared, &name);
    let mut recorder = Recorder::new(clock, redactor.clone());
    if let Err(diagnostic) = begin_trace(args, prepared, &name, &run_dir, &mut recorder) {
        return fail(&diagnostic);
    }
    recorder.tell(Box::new(play_output::Terminal::new(
        args,
        output,
        &labels(prepared),
    )));
    recorder.tell(Box::new(outputs.reports.listener()));
    let pages = RefCell::new((std::mem::take(&mut outputs.pages), None));
    let mut told = |step: BrowserStep| {
        let (pages, error) = &mut *pages.borrow_mut();
        for page in pages {
            if let Err(found) = page.step(&step, redactor) {
                error.get_or_insert(found);
            }
        }
    };
    let is_pictured = reports
        .iter()
        .any(|report| matches!(report, Report::Html(_)));
    let replayed = match prepared.start(&args.browser, run_dir.path()).await {
        Ok(mut stage) => {
            let replay = Replay {
                is_pictured,
                keeps_each: args.screenshot_each_step,
                ..prepared.ready.replay(Some(&run_dir))
            };
            let replayed = player::play(&replay, &mut stage, &mut recorder, &mut told, stop).await;
            recorder.settle();
            stage.stop().await;
            let shown = args.runs.run_dir.join(run_dir.id());
            browser_stage::tell_recorded(&args.browser, run_dir.path(), &shown, output);
            replayed
        }
        Err(failure) => not_played(&recorder, failure, prepared),
    };
    let (pages, page_error) = pages.into_inner();
    finish(Finishing {
        args,
        prepared,
        output,
        name: &name,
        run_dir: &run_dir,
        recorder,
        replayed,
        reports: outputs.reports,
        pages,
        page_error,
    })
}

/// Where results go.
struct Outputs {
    reports: Reports,
    pages: Vec<BrowserHtml<BufWriter<File>>>,
}

fn begin(
    args: &PlayArgs,
    prepared: &Prepared,
    name: &str,
    reports: &[Report],
) -> Result<Outputs, Diagnostic> {
    let in_range = || {
        numbered(&prepared.ready.steps).filter(|(number, _)| prepared.ready.range.contains(number))
    };
    let subject = Subject {
        name,
        total: in_range().count(),
        junit: JunitReport::of_browser(name, name, in_range()),
        html: None,
    };
    let mut pages = Vec::new();
    for report in reports {
        if let Report::Html(file) = report {
            let out = BufWriter::with_capacity(256 << 10, play::create(file)?);
            pages.push(BrowserHtml::begin(out).map_err(|error| unwritable(&error))?);
        }
    }
    // What a step found of its page is in its result.
    let reports = Reports::begin(args, IncludeResults::Always, subject, reports)?;
    Ok(Outputs { reports, pages })
}

fn labels(prepared: &Prepared) -> Vec<(u64, String, String)> {
    numbered(&prepared.ready.steps)
        .map(|(number, step)| {
            let tool = browser_tool(step.action).into_owned();
            (number, step.description.clone(), tool)
        })
        .collect()
}

/// The first lines: the steps, and where they begin.
fn header(output: &Output, prepared: &Prepared, name: &str) {
    let style = output.stderr;
    let count = numbered(&prepared.ready.steps)
        .filter(|(number, _)| prepared.ready.range.contains(number))
        .count();
    let steps = format!("{count} step{}", if count == 1 { "" } else { "s" });
    let facts = [
        style.strong(&printable(name)),
        steps,
        printable(&prepared.ready.steps.url).into_owned(),
    ];
    stderr(&format!(
        "{} {}\n\n",
        style.symbol("▶", ">"),
        facts.join(style.dot())
    ));
}

fn begin_trace(
    args: &PlayArgs,
    prepared: &Prepared,
    name: &str,
    run_dir: &RunDir,
    recorder: &mut Recorder<'_>,
) -> Result<(), Diagnostic> {
    let header = Header::live(
        run_dir.id(),
        json!({"name": name, "file": name, "url": prepared.ready.steps.url}),
        json!({"supports_tool_trace": true, "supports_replay": true}),
    );
    let started = recorder.clock().timestamp(Duration::ZERO);
    let begun = run_dir
        .trace_file()
        .and_then(|file| recorder.write_to(Box::new(file), &header))
        .and_then(|()| {
            run_dir.describe(&play::description(args, name, run_dir.id(), started, None))
        });
    begun.map_err(|error| {
        let message = format!("the run directory can't be written: {}", io_reason(&error));
        Diagnostic::error(codes::FILE_WRITE, message)
    })
}

/// A run for which there is no browser.
fn not_played(recorder: &Recorder<'_>, failure: Diagnostic, prepared: &Prepared) -> Replayed {
    let total = numbered(&prepared.ready.steps)
        .filter(|(number, _)| prepared.ready.range.contains(number))
        .count();
    Replayed::blocked(failure, total, recorder.clock().now())
}

struct Finishing<'a, 'r> {
    args: &'a PlayArgs,
    prepared: &'a Prepared,
    output: &'a Output,
    name: &'a str,
    run_dir: &'a RunDir,
    recorder: Recorder<'r>,
    replayed: Replayed,
    reports: Reports,
    pages: Vec<BrowserHtml<BufWriter<File>>>,
    page_error: Option<io::Error>,
}

/// Ends the trace and the reports, keeps what was healed, and says how it went.
fn finish(finishing: Finishing<'_, '_>) -> ExitCode {
    let Finishing {
        args,
        prepared,
        output,
        name,
        run_dir,
        mut recorder,
        replayed,
        reports,
        pages,
        mut page_error,
    } = finishing;
    let redactor = prepared.redactor();
    let played = Played {
        verdict: replayed.verdict,
        summary: replayed.summary,
        failure: replayed.failure.clone(),
        took: replayed.took,
        screenshots: replayed.screenshots.clone(),
    };
    recorder.end(&trace::end(&played));
    let mut problems: Vec<Diagnostic> = Vec::new();
    if let Some(error) = recorder.take_error() {
        let message = format!("the trace can't be written: {}", io_reason(&error));
        problems.push(Diagnostic::error(codes::FILE_WRITE, message));
    }
    let started = recorder.clock().timestamp(Duration::ZERO);
    drop(recorder);
    // The run is over; a description that can't be written is not worth its verdict.
    let description = play::description(args, name, run_dir.id(), started, Some(&played));
    let _ = run_dir.describe(&description);
    let mut exit = play::exit_code(played.verdict);
    let shown_run_dir = args.runs.run_dir.join(run_dir.id());
    if let Some(failure) = &played.failure {
        play_output::failure(output, failure, &shown_run_dir, args.json, redactor);
    }
    let kept = match prepared.healer.keep(&prepared.ready.source, &replayed) {
        Ok(kept) => kept,
        Err(diagnostic) => {
            problems.push(diagnostic);
            Kept::Nothing
        }
    };
    let has_drifted = !replayed.healed.is_empty() || prepared.healer.has_taken();
    if exit == ExitCode::Passed && has_drifted {
        exit = ExitCode::Drifted;
    }
    let failure = played
        .failure
        .as_ref()
        .map(|failure| failure.message.as_str());
    for page in pages {
        let end = BrowserEnd {
            name,
            url: &prepared.ready.steps.url,
            verdict: played.verdict,
            summary: played.summary,
            failure,
            started,
            took: played.took,
        };
        if let Err(error) = page.end(&end, redactor) {
            page_error.get_or_insert(error);
        }
    }
    problems.extend(page_error.as_ref().map(unwritable));
    let more = vec![
        ("healed_steps", json!(replayed.healed.len())),
        ("heal_file", json!(kept.file())),
    ];
    problems.extend(
        reports
            .end(output, &played, &shown_run_dir, more, redactor)
            .err(),
    );
    if let Some(words) = kept.words() {
        stderr_line(&output.stderr.faint(&words));
    }
    for problem in &problems {
        output.diagnostic(problem, args.json, redactor);
        exit = exit.worst(ExitCode::CouldNotRun);
    }
    exit
}
