//! `play` of browser steps.

mod heal;
mod prepared;

use std::path::{Path, PathBuf};

use cuecard_browser::replay::{self as player, Replay, Replayed, numbered};
use cuecard_page::browser_tool;
use cuecard_report::Style;
use cuecard_report::browser_html::BrowserStep;
use cuecard_report::junit::JunitReport;
use cuecard_report::play_json::IncludeResults;
use cuecard_runner::check::steps_plan;
use cuecard_runner::played_steps;
use cuecard_source::SourceFile;
use cuecard_source::value::printable;
use cuecard_trace::Header;
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub(crate) use heal::Kept;
pub(crate) use prepared::{PlayRequest, Prepared, prepare};

use super::options::Options;
use super::reports::{Report, SharedPart, Subject};
use super::run::{Ending, Opening, Run};
use crate::args::PlayArgs;
use crate::commands::{browser_files, browser_stage};
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::output::{Output, counted, stderr, stdout};

/// Steps that can be played, with what the user wants to know of it.
pub(super) struct ReadySteps {
    file: PathBuf,
    prepared: Prepared,
    reports: Vec<Report>,
    part: Option<SharedPart>,
}

/// Reads and checks everything. Warnings are shown.
pub(super) fn ready(
    args: &PlayArgs,
    options: Options,
    file: &Path,
    source: SourceFile,
    context: &Context,
) -> Result<ReadySteps, Stop> {
    let asked = PlayRequest {
        file,
        variables: &options.variables,
        heal: &args.heal,
        browser: &args.browser,
        root: args.safety.root_in(&options.working_directory),
        policy: options.policy,
        working_directory: options.working_directory,
        range: options.range,
        timeout: options.timeout,
        strict: args.strict,
        found: options.warnings,
    };
    Ok(ReadySteps {
        file: file.to_owned(),
        prepared: prepare(asked, source, context)?,
        reports: options.reports,
        part: options.part,
    })
}

/// Says what steps would do.
pub(super) fn preview(steps: &ReadySteps) -> ExitCode {
    let would_do = steps_plan(&steps.prepared.ready.steps);
    stderr(&browser_files::list(&would_do));
    stdout(&format!("it would do {}\n", browser_files::line(&would_do)));
    ExitCode::Passed
}

/// Plays steps.
pub(super) async fn play_steps(
    args: &PlayArgs,
    steps: &ReadySteps,
    output: &Output,
    stop: &CancellationToken,
) -> Result<ExitCode, Stop> {
    let ReadySteps {
        file,
        prepared,
        reports,
        part,
    } = steps;
    let redactor = prepared.redactor();
    let name = prepared.ready.source.name();
    let url = prepared.ready.steps.url.as_str();
    let in_range = || {
        numbered(&prepared.ready.steps).filter(|(number, _)| prepared.ready.range.contains(number))
    };
    let total = in_range().count();
    let opening = Opening {
        subject: Subject {
            name,
            file: name,
            total,
            junit: JunitReport::of_browser(name, name, in_range()),
            url: Some(url),
            // What a step found of its page is in its result.
            include: IncludeResults::Always,
        },
        file,
        reports,
        part: part.clone(),
        working_directory: &prepared.working_directory,
        redactor: redactor.clone(),
        title: title(name, total, url, output.stderr),
        labels: labels(prepared),
        header: &|id| {
            Header::live(
                id,
                json!({"name": name, "file": name, "url": url}),
                json!({"supports_tool_trace": true, "supports_replay": true}),
            )
        },
        resumed_from: None,
        journal: None,
    };
    let mut run = Run::begin(args, output, opening)?;
    let replayed = match prepared.start(&args.browser, run.dir.path()).await {
        Ok(mut stage) => {
            let replay = Replay {
                is_pictured: reports
                    .iter()
                    .any(|report| matches!(report, Report::Html(_))),
                keeps_each: args.screenshot_each_step,
                ..prepared.ready.replay(Some(&run.dir))
            };
            let pages = run.reports.clone();
            let mut told = |step: BrowserStep| pages.step(&step, redactor);
            let recorder = &mut run.recorder;
            let replayed = player::play(&replay, &mut stage, recorder, &mut told, stop).await;
            run.recorder.settle();
            stage.stop().await;
            let shown = args.runs.run_dir.join(run.dir.id());
            browser_stage::tell_recorded(&args.browser, run.dir.path(), &shown, output);
            replayed
        }
        Err(failure) => Replayed::blocked(failure, total, run.recorder.clock().now()),
    };
    Ok(finish(run, prepared, replayed))
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
fn title(name: &str, total: usize, url: &str, style: Style) -> String {
    let facts = [
        style.strong(&printable(name)),
        counted(total, "step"),
        printable(url).into_owned(),
    ];
    let mark = style.symbol("▶", ">");
    format!("{mark} {}\n\n", facts.join(style.dot()))
}

/// Keeps what was healed, and ends the run.
fn finish(run: Run<'_>, prepared: &Prepared, replayed: Replayed) -> ExitCode {
    let mut problems = Vec::new();
    let kept = match prepared.healer.keep(&prepared.ready.source, &replayed) {
        Ok(kept) => kept,
        Err(diagnostic) => {
            problems.push(diagnostic);
            Kept::Nothing
        }
    };
    let ending = Ending {
        more: vec![
            ("healed_steps", json!(replayed.healed.len())),
            ("renamed_steps", json!(replayed.renamed.len())),
            ("heal_file", json!(kept.file())),
        ],
        words: kept.words(),
        has_drifted: !replayed.healed.is_empty() || prepared.healer.has_taken(),
        problems,
        ..Ending::default()
    };
    run.finish(&played_steps(replayed), ending)
}
