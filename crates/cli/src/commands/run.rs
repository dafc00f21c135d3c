//! `cuecard run`: timelines end to end.

use std::ffi::OsString;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuecard_report::diagnostics;
use cuecard_report::run_html::{self, RunReport, RunReportEvent};
use cuecard_report::stand_in_junit::{self, PlayedRun};
use cuecard_runner::timeline::{
    AgentPreset, GoldenOptions, RunMode, RunNotice, RunOptions, RunOutcome, RunScript, RunStatus,
    WhichAgent, load_runs, run_timeline,
};
use cuecard_runtime::run_dir::set_status;
use cuecard_service::{MockService, RunningService, ServiceOptions};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::printable;
use futures::StreamExt as _;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::live::LiveView;
use super::timeline_options::{TimelineOptions, run_folder};
use crate::args::{PlayRunArgs, RealAgentArgs, RunArgs};
use crate::asynchronous::until_stopped;
use crate::commands::profile::read_profiles;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::{self, Output, counted, stderr_line};
use crate::output_files;

pub(crate) fn run(args: &RunArgs, context: &Context) -> Result<ExitCode, Stop> {
    let refused = |stop: &Stop| document(Vec::new(), &stop.diagnostics);
    run_all(args, context).map_err(|stop| stop.with_document(refused))
}

fn run_all(args: &RunArgs, context: &Context) -> Result<ExitCode, Stop> {
    let output = &context.output;
    let RunArgs { play, .. } = args;
    let options = options(play, args.update_goldens, &context.environment)?;
    let junit = junit(args).map_err(Stop::invalid)?;
    let loaded = load_runs(&play.paths, &options.play)?;
    output.diagnostics(&loaded.diagnostics);
    let n_scripts = loaded.scripts.len();
    let jobs = play.jobs.get();
    let outcomes = until_stopped(async |stop| {
        let page = match args.serve_rest {
            Some(port) => Some(Arc::new(page(port).await?)),
            None => None,
        };
        let options = RunOptions { page, ..options };
        let runs = loaded
            .scripts
            .iter()
            .map(|script| one(script, args, &options, (&stop, output)));
        let mut runs = futures::stream::iter(runs).buffered(jobs);
        let mut outcomes = Vec::new();
        while let Some(outcome) = runs.next().await {
            let outcome = outcome?;
            let report = report(&outcome);
            if !play.json {
                tell(&outcome, report.as_deref().ok(), output);
            }
            output.diagnostics(&outcome.findings);
            output.diagnostics(report.err().as_slice());
            outcomes.push(outcome);
            if stop.is_cancelled() {
                break;
            }
        }
        Ok::<_, Stop>(outcomes)
    });
    let outcomes = match outcomes {
        Ok(outcomes) => outcomes?,
        Err(code) => return Ok(code),
    };
    let mut code = outcomes
        .iter()
        .map(exit_code)
        .fold(ExitCode::Passed, ExitCode::worst);
    if play.json {
        let runs: Vec<_> = outcomes.iter().map(RunOutcome::to_json).collect();
        output::document(&document(runs, &loaded.diagnostics));
    } else if n_scripts > 1 {
        let count = |status| {
            outcomes
                .iter()
                .filter(|outcome| outcome.status == status)
                .count()
        };
        let passed = count(RunStatus::Passed);
        let left = match n_scripts - outcomes.len() {
            0 => String::new(),
            left => format!(", {left} not run"),
        };
        let verdict = code.verdict(output.stdout);
        output::stdout(&format!(
            "{verdict}: {passed} of {n_scripts} runs passed{left}\n"
        ));
    }
    if let Some(path) = junit
        && let Err(problem) = write_junit(&outcomes, &path)
    {
        output.diagnostic(&problem);
        code = code.worst(ExitCode::CouldNotRun);
    }
    Ok(code)
}

/// The file of `--report`, without what an earlier run left in it.
fn junit(args: &RunArgs) -> Result<Option<PathBuf>, Diagnostic> {
    let file = output_files::junit(args.report.as_deref())?;
    let inputs: Vec<_> = args.play.paths.iter().map(PathBuf::as_path).collect();
    output_files::check_overwriting(file.as_deref(), &inputs)?;
    output_files::clear_results(file.as_slice());
    Ok(file)
}

fn write_junit(outcomes: &[RunOutcome], path: &Path) -> Result<(), Diagnostic> {
    let runs = outcomes.iter().map(|outcome| PlayedRun {
        name: &outcome.scenario,
        file: &outcome.file,
        error: match outcome.status {
            RunStatus::Passed | RunStatus::Failed => None,
            RunStatus::CouldNotRun | RunStatus::Interrupted => Some(outcome.status.as_str()),
        },
        findings: &outcome.findings,
        took: outcome.took,
    });
    let runs: Vec<_> = runs.collect();
    output_files::write_with(path, |file| {
        stand_in_junit::write_runs("cuecard run", &runs, file)
    })
}

/// The document of `--json`.
fn document(runs: Vec<Json>, found: &[Diagnostic]) -> Json {
    json!({ "runs": runs, "diagnostics": diagnostics::list_to_json(found) })
}

fn exit_code(outcome: &RunOutcome) -> ExitCode {
    match outcome.status {
        RunStatus::Passed => ExitCode::Passed,
        RunStatus::Failed => ExitCode::Failed,
        RunStatus::CouldNotRun => ExitCode::CouldNotRun,
        RunStatus::Interrupted => ExitCode::Interrupted,
    }
}

/// Starts the page on which the runs are seen.
async fn page(port: u16) -> Result<RunningService, Stop> {
    let page = MockService::default().options(ServiceOptions {
        bind: (Ipv4Addr::LOCALHOST, port).into(),
        n_threads: 1,
        ..ServiceOptions::default()
    });
    let page = page.start().await?;
    stderr_line(&format!("the runs are shown at {}", page.base_url()));
    Ok(page)
}

pub(super) fn options(
    args: &PlayRunArgs,
    update_goldens: bool,
    environment: &[(OsString, OsString)],
) -> Result<RunOptions, Stop> {
    let options = TimelineOptions::of_player(&args.which, &args.speed, args.strict, environment);
    let (play, _) = options.checked().map_err(Stop::invalid)?;
    let goldens = GoldenOptions::new(
        args.goldens.clone(),
        update_goldens,
        args.strict,
        environment,
    )
    .map_err(Stop::invalid)?;
    let own_program = inputs::own_program().map_err(Stop::could_not_run)?;
    let working_directory = inputs::working_directory().map_err(Stop::could_not_run)?;
    let policy = inputs::policy_options(&args.safety, None, &working_directory);
    let unused = match args.mode {
        Some(RunMode::Simulate | RunMode::MockAgent) if args.agent.agent.is_some() => {
            Some("--agent")
        }
        Some(RunMode::Simulate | RunMode::RealAgent) if args.checkpoint_cmd.is_some() => {
            Some("--checkpoint-cmd")
        }
        None if args.agent.agent.is_some() && args.checkpoint_cmd.is_some() => {
            Some("--checkpoint-cmd")
        }
        _ => None,
    };
    if let Some(unused) = unused {
        let message = format!("`{unused}` has no meaning in this mode: nothing would look at it");
        return Err(Stop::invalid(Diagnostic::error(codes::ARGUMENT, message)));
    }
    let which = which_agent(&args.agent, &args.command, &working_directory);
    let which = which.map_err(Stop::invalid)?;
    Ok(RunOptions {
        play,
        mode: args.mode,
        which,
        checkpoint: args.checkpoint_cmd.clone(),
        goldens,
        keep: args.keep,
        timeout: args.run_timeout,
        grace: args.grace,
        ..RunOptions::new(own_program, policy, environment.to_vec())
    })
}

/// The agent and the program that are named; the program may be a command with its arguments.
pub(super) fn which_agent(
    args: &RealAgentArgs,
    command: &[OsString],
    working_directory: &Path,
) -> Result<WhichAgent, Vec<Diagnostic>> {
    let mut program = match &args.program {
        Some(program) => vec![program.clone()],
        None => command.to_vec(),
    };
    // A path is seen from here, not from the workspace.
    if let Some(first) = program
        .first_mut()
        .filter(|first| first.as_encoded_bytes().contains(&b'/'))
    {
        *first = working_directory.join(&*first).into();
    }
    let preset = args.agent.as_deref().map(AgentPreset::find);
    Ok(WhichAgent {
        preset: preset.transpose().map_err(|found| vec![found])?,
        profiles: read_profiles(&args.profiles)?,
        program,
    })
}

/// Runs one timeline.
async fn one(
    script: &Arc<RunScript>,
    args: &RunArgs,
    options: &RunOptions,
    (stop, output): (&CancellationToken, &Output),
) -> Result<RunOutcome, Stop> {
    let described = json!({"command": "run", "scenarios": [script.file()]});
    let (run_dir, _) =
        run_folder(&args.play.runs.run_dir, described).map_err(Stop::could_not_run)?;
    let live = args.live.then(|| LiveView::start(script, stop)).transpose();
    let live = live.map_err(|error| {
        let reason = inputs::io_reason(&error);
        let message = format!("`--live` needs a terminal: {reason}");
        Stop::invalid(Diagnostic::error(codes::ARGUMENT, message))
    })?;
    let is_alone = args.play.jobs.get() == 1 && !args.play.json;
    let mut watch = |notice: RunNotice<'_>| match (&live, notice) {
        (Some(live), notice) => live.notice(notice),
        (None, RunNotice::Event(event)) if is_alone => {
            let style = &output.stderr;
            let mark = event.holds.map_or(" ".to_owned(), |it| style.mark(it));
            stderr_line(&format!(
                "  {:>7.2} s  {mark} {}",
                event.at.as_secs_f64(),
                printable(&event.what)
            ));
        }
        (None, _) => {}
    };
    let outcome = run_timeline(script, options, &run_dir, stop, &mut watch).await;
    // The run is over; a description that can't be written is not worth its verdict.
    let _ = set_status(run_dir.path(), outcome.status.as_str());
    Ok(outcome)
}

/// Tells people how a run went.
fn tell(outcome: &RunOutcome, report: Option<&Path>, output: &Output) {
    let style = &output.stdout;
    let mark = style.mark(outcome.status == RunStatus::Passed);
    output::stdout(&format!(
        "{mark} {} {}  {}\n",
        printable(&outcome.scenario),
        outcome.status.as_str(),
        facts(outcome)
    ));
    for golden in &outcome.written {
        let mut doubts = Vec::new();
        if outcome.status != RunStatus::Passed {
            doubts.push(format!("the run {}", outcome.status.as_str()));
        }
        if !golden.is_still {
            doubts.push("the screen was not still".to_owned());
        }
        let doubts = match doubts.is_empty() {
            true => String::new(),
            false => format!("  though {}", doubts.join(" and ")),
        };
        output::stdout(&format!("  wrote {}{doubts}\n", golden.path.display()));
    }
    match report {
        Some(report) => output::stdout(&format!("  report {}\n", report.display())),
        None => output::stdout(&format!("  run {}\n", outcome.folder.display())),
    }
    if let Some(workspace) = &outcome.workspace {
        output::stdout(&format!("  workspace {}\n", workspace.display()));
    }
}

/// A run in numbers.
fn facts(outcome: &RunOutcome) -> String {
    let mut facts = Vec::new();
    let checks = outcome.events.iter().filter(|event| event.is_check);
    let judged = checks.filter_map(|event| event.holds);
    let (held, judged) = (
        judged.clone().filter(|holds| *holds).count(),
        judged.count(),
    );
    if judged > 0 {
        facts.push(format!("{held} of {} held", counted(judged, "check")));
    }
    if outcome.n_failures > 0 {
        let failures = usize::try_from(outcome.n_failures).unwrap_or(usize::MAX);
        facts.push(counted(failures, "failure"));
    }
    if !outcome.screenshots.is_empty() {
        facts.push(counted(outcome.screenshots.len(), "screenshot"));
    }
    facts.push(format!("{:.2} s", outcome.took.as_secs_f64()));
    if let Some(version) = &outcome.agent_version {
        let program = outcome
            .program
            .first()
            .map(String::as_str)
            .unwrap_or_default();
        let program = Path::new(program).file_name().unwrap_or_default();
        facts.push(format!("{} {version}", program.to_string_lossy()));
    }
    facts.join(" · ")
}

/// Writes the report of a run into its folder; where it is.
fn report(outcome: &RunOutcome) -> Result<PathBuf, Diagnostic> {
    let screens = outcome.screenshots.iter().filter_map(|shot| {
        let svg = shot
            .files
            .iter()
            .find(|file| file.extension().is_some_and(|it| it == "svg"))?;
        Some((shot.label.as_str(), std::fs::read_to_string(svg).ok()?))
    });
    let events = outcome.events.iter().map(|event| RunReportEvent {
        at: event.at,
        place: &event.event,
        what: &event.what,
        holds: event.holds,
    });
    let facts = facts(outcome);
    let report = RunReport {
        name: &outcome.scenario,
        file: &outcome.file,
        status: (outcome.status.as_str(), outcome.status == RunStatus::Passed),
        facts: &facts,
        events: events.collect(),
        findings: &outcome.findings,
        screens: screens.collect(),
        folder: outcome.folder.display().to_string(),
    };
    let path = outcome.folder.join("report.html");
    let mut page = Vec::new();
    // Writing into memory can't fail.
    let _ = run_html::write(&report, &mut page);
    output_files::write_with(&path, |file| file.write_all(&page))?;
    Ok(path)
}
