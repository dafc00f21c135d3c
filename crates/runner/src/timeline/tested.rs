//! A timeline as a test: it is run, and its trace and its own checks are judged.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use cuecard_judge::model::TestCase;
use cuecard_judge::{Outcome, OutcomeStatus};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::load::PlayOptions;
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::start_error::StartError;
use cuecard_runtime::text_file::io_reason;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_timeline::script::Speed;
use cuecard_trace::{Event, EventData, Trace};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

use super::{GoldenOptions, RunOptions, RunStatus, load_runs, run_timeline};
use crate::played::{block_on, case_header};
use crate::sources::Recorded;
use crate::{Setup, Stop};

/// Runs the timeline in `source`; it is read from its file.
pub(crate) fn play(
    source: &SourceFile,
    case: &TestCase,
    setup: &Setup,
    stop: &CancellationToken,
) -> Result<Recorded, Stop> {
    let could_not_run = |what: &str, why: String| {
        let error = Diagnostic::error(codes::TEST_RUN, format!("{what}: {why}"));
        Stop::could_not_run(error)
    };
    let options = RunOptions {
        play: PlayOptions {
            is_strict: setup.strict,
            speed: Speed::new(setup.speed, 0.0).unwrap_or_default(),
            ..PlayOptions::default()
        },
        goldens: GoldenOptions::new(None, setup.update, setup.strict, &setup.environment)
            .map_err(Stop::invalid)?,
        timeout: setup.timeout,
        which: setup.agent.clone(),
        ..RunOptions::new(
            setup.own_program.clone(),
            setup.safety.clone(),
            setup.environment.clone(),
        )
    };
    let loaded = load_runs(&[PathBuf::from(source.name())], &options.play);
    let loaded = loaded.map_err(|error| match error {
        StartError::Files(found) => Stop::invalid(found),
        error => could_not_run("the timeline can't be read", error.to_string()),
    })?;
    let folder = tempfile::tempdir()
        .and_then(|folder| {
            let started = Clock::start().timestamp(Duration::ZERO);
            RunDir::create(folder.path(), started).map(|run_dir| (folder, run_dir))
        })
        .map_err(|error| could_not_run("no folder for the run can be made", io_reason(&error)))?;
    let (_folder, run_dir) = folder;
    let script = &loaded.scripts[0];
    let outcome =
        block_on(async { run_timeline(script, &options, &run_dir, stop, &mut |_| {}).await })?;
    match outcome.status {
        RunStatus::Interrupted => return Err(Stop::interrupted()),
        RunStatus::CouldNotRun => return Err(Stop::could_not_run(outcome.findings)),
        RunStatus::Passed | RunStatus::Failed => {}
    }
    let read = File::open(run_dir.trace_path())
        .map_err(|error| could_not_run("the trace of the run can't be read", io_reason(&error)))?;
    let mut trace = Trace::read_lines(BufReader::new(read))
        .map_err(|error| could_not_run("the trace of the run can't be read", error.to_string()))?;
    trace.header = case_header(trace.header, case, setup);
    let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
    let errors: Vec<&Diagnostic> = outcome.findings.iter().filter(is_error).collect();
    let failure = errors.first().map(|first| {
        let more = match errors.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let message = format!("{}: {}{more}", first.code.name(), first.message);
        Outcome {
            help: first.help.clone(),
            ..Outcome::of_run("run", "run", OutcomeStatus::Fail, message)
        }
    });
    let doubts = loaded.diagnostics.into_iter();
    let doubts = doubts.chain(outcome.findings.iter().cloned());
    let warnings = doubts.filter(|found| found.severity == Severity::Warning);
    Ok(Recorded {
        warnings: warnings.collect(),
        trace,
        offered: Vec::new(),
        failure,
    })
}

/// A check of a timeline, as an outcome.
pub(crate) fn check_outcome(event: &Event) -> Option<Outcome> {
    let EventData::Assertion(assertion) = &event.data else {
        return None;
    };
    // The expectations of a tool call belong to its step.
    if !assertion.id.starts_with("timeline[") {
        return None;
    }
    let status = match assertion.status.as_str() {
        "pass" => OutcomeStatus::Pass,
        _ => OutcomeStatus::Fail,
    };
    let message = match &assertion.evidence {
        Some(evidence) => evidence.clone(),
        None => cuecard_source::value::as_text(&assertion.observed).into_owned(),
    };
    Some(Outcome {
        event_refs: vec![event.event_id.clone()],
        ..Outcome::of_run(&assertion.id, &assertion.kind, status, message)
    })
}
