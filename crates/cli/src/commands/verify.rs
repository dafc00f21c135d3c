//! `cuecard verify`.

use std::time::Duration;

use cuecard_browser::replay::{self as player, Verified};
use cuecard_browser::session::Scratch;
use cuecard_report::browser_verdicts::{self, Looked};
use cuecard_report::{diagnostics, duration};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::tap::Recorder;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::printable;
use cuecard_tool_call::script::Verdict;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::play::browser_steps::{Kept, PlayRequest, Prepared, prepare};
use super::{browser_stage, cassette, verify_cassette};
use crate::args::VerifyArgs;
use crate::asynchronous::asynchronously;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs::{self, io_reason};
use crate::output::{self, Output, stderr, stderr_line};
use crate::output_files::run_dir;

pub(crate) fn run(args: &VerifyArgs, context: &Context) -> Result<ExitCode, Stop> {
    let source = inputs::read_source(&args.file);
    if source
        .as_ref()
        .is_ok_and(|source| cassette::is_meant(&args.file, source))
    {
        return verify_cassette::run(args, context);
    }
    let prepared = source.map_err(Stop::invalid).and_then(|source| {
        let working_directory = inputs::working_directory().map_err(Stop::could_not_run)?;
        let run_dir = Some(args.runs.run_dir.as_path());
        let policy =
            inputs::policy(&args.safety, run_dir, &working_directory).map_err(Stop::invalid)?;
        let asked = PlayRequest {
            file: &args.file,
            variables: &args.variables,
            heal: &args.heal,
            browser: &args.browser,
            root: args.safety.root_in(&working_directory),
            policy,
            working_directory,
            range: 0..=u64::MAX,
            timeout: None,
            strict: args.strict,
            found: Vec::new(),
        };
        prepare(asked, source, context)
    });
    let refused = |stop: &Stop| {
        json!({
            "success": false,
            "status": "invalid",
            "steps": [],
            "diagnostics": diagnostics::list_to_json(&stop.diagnostics),
        })
    };
    let prepared = prepared.map_err(|stop| stop.with_document(refused))?;
    asynchronously(async |stop| perform(args, &prepared, &context.output, &stop).await)?
}

async fn perform(
    args: &VerifyArgs,
    prepared: &Prepared,
    output: &Output,
    stop: &CancellationToken,
) -> Result<ExitCode, Stop> {
    let redactor = prepared.redactor();
    let failed = |found: Diagnostic| Stop::could_not_run(found).redacted(redactor);
    let run_dir = kept_run(args, prepared).map_err(failed)?;
    // Nobody wants what is downloaded on the way.
    let scratch = Scratch::new().map_err(|error| {
        let reason = io_reason(&error);
        let message = format!("failed to create a temporary directory: {reason}");
        failed(Diagnostic::error(codes::FILE_WRITE, message))
    })?;
    let folder = run_dir.as_ref().map_or(scratch.path(), RunDir::path);
    let stage = prepared.start(&args.browser, folder).await;
    let mut stage = stage.map_err(failed)?;
    let style = output.stderr;
    let facts = [
        style.strong(&printable(prepared.ready.source.name())),
        printable(&prepared.ready.steps.url).into_owned(),
    ];
    stderr(&format!(
        "{} {}\n\n",
        style.symbol("▶", ">"),
        facts.join(style.dot())
    ));
    let mut recorder = Recorder::new(Clock::start(), redactor.clone());
    let replay = prepared.ready.replay(None);
    let verified = player::verify(&replay, &mut stage, &mut recorder, stop, args.act).await;
    stage.stop().await;
    let exit = finish(args, prepared, output, &verified);
    if let Some(run_dir) = &run_dir {
        let shown = args.runs.run_dir.join(run_dir.id());
        browser_stage::tell_recorded(&args.browser, run_dir.path(), &shown, output);
    }
    Ok(exit)
}

/// The run directory, if what is recorded was asked for.
fn kept_run(args: &VerifyArgs, prepared: &Prepared) -> Result<Option<RunDir>, Diagnostic> {
    let is_recorded = args.browser.video || args.browser.playwright_trace;
    let create = || {
        run_dir(
            &args.runs.run_dir,
            &prepared.working_directory,
            &Clock::start(),
        )
    };
    is_recorded.then(create).transpose()
}

fn finish(
    args: &VerifyArgs,
    prepared: &Prepared,
    output: &Output,
    verified: &Verified,
) -> ExitCode {
    let redactor = prepared.redactor();
    let replayed = &verified.replayed;
    let steps: Vec<Looked<'_>> = verified
        .steps
        .iter()
        .map(|step| (&step.told, step.was_done))
        .collect();
    stderr(&redactor.text(&browser_verdicts::lines(output.stderr, &steps)));
    let mut exit = ExitCode::from(replayed.verdict);
    if let Some(failure) = &replayed.failure {
        stderr_line("");
        output.redacted(std::slice::from_ref(failure), redactor);
    }
    let kept = match prepared.healer.keep(&prepared.ready.source, replayed) {
        Ok(kept) => kept,
        Err(diagnostic) => {
            output.redacted(&[diagnostic], redactor);
            exit = exit.worst(ExitCode::CouldNotRun);
            Kept::Nothing
        }
    };
    let has_drifted = !replayed.healed.is_empty() || prepared.healer.has_taken();
    if exit == ExitCode::Passed && has_drifted {
        exit = ExitCode::Drifted;
    }
    let done: Vec<String> = verified
        .steps
        .iter()
        .filter(|step| step.was_done)
        .map(|step| step.told.number.to_string())
        .collect();
    stderr_line("");
    if !done.is_empty() {
        stderr_line(&output.stderr.faint(&format!(
            "performed: step{} {}",
            if done.len() == 1 { "" } else { "s" },
            done.join(", ")
        )));
    }
    if let Some(words) = kept.words() {
        stderr_line(&output.stderr.faint(&words));
    }
    let took = duration(replayed.took);
    let style = output.summary_style();
    let counts = browser_verdicts::counts(style, &steps);
    let line = format!("{}: {counts}{}{took}", exit.verdict(style), style.dot());
    output.summary(&line);
    if args.json {
        let mut document = document(verified, &steps, &kept, replayed.failure.as_ref());
        redactor.json(&mut document);
        output::document(&document);
    }
    exit
}

fn document(
    verified: &Verified,
    steps: &[Looked<'_>],
    kept: &Kept,
    failure: Option<&Diagnostic>,
) -> serde_json::Value {
    let replayed = &verified.replayed;
    let seconds = |time: Duration| time.as_micros() as f64 / 1_000_000.0;
    json!({
        "success": replayed.verdict == Verdict::Passed,
        "status": replayed.verdict.as_str(),
        "steps": browser_verdicts::entries(steps),
        "healed_steps": replayed.healed.len(),
        "renamed_steps": replayed.renamed.len(),
        "heal_file": kept.file(),
        "error": failure.map(|failure| failure.message.as_str()),
        "duration": seconds(replayed.took),
    })
}
