//! Plays all steps of a file.

use std::time::Duration;

use cuecard_browser_steps::format::step_span;
use cuecard_browser_steps::model::{BrowserResult, browser_opened, browser_opening};
use cuecard_browser_steps::model::{Observed, OnFailure};
use cuecard_page::dom::MASK;
use cuecard_source::diagnostic::{Diagnostic, codes, find_code};
use cuecard_tool_call::script::Verdict;
use cuecard_trace::{EventData, Log, StepStatus};
use tokio_util::sync::CancellationToken;

use super::step::play_step;
use super::told::{milliseconds, shown, step_error};
use super::{Replay, ReplayObserver, Replayed};
use crate::WaitPolicy;
use crate::stage::{Deadline, Failure, PageInspector, Stage};
use cuecard_runtime::tap::Recorder;

/// How long the first page may take.
const OPENING: Duration = Duration::from_secs(30);

/// Plays the steps in range to the end, or until one fails, or until `stop` is cancelled. `told` hears of each step,
/// also of those that did not run. The browser stays up: ending it is the caller's.
pub async fn play<S: Stage + PageInspector>(
    replay: &Replay<'_>,
    stage: &mut S,
    recorder: &mut Recorder<'_>,
    told: &mut dyn ReplayObserver,
    stop: &CancellationToken,
) -> Replayed {
    let clock = recorder.clock();
    let mut played = replay.begun();
    let mut n_told = 0;
    let whole = Deadline::after(Duration::from_millis(replay.options.timeout_ms));
    match open(replay, stage, recorder, whole, stop).await {
        Some(Ok(())) => {
            let mut counted = |step| {
                n_told += 1;
                told.step(step);
            };
            play_steps(
                replay,
                stage,
                recorder,
                &mut counted,
                whole,
                stop,
                &mut played,
            )
            .await;
        }
        Some(Err(failure)) => played.fail(replay, None, &failure),
        None => played.verdict = Verdict::Interrupted,
    }
    for (number, _, step) in replay.in_range().skip(n_told) {
        told.step(shown(step, number));
    }
    if played.verdict == Verdict::Interrupted {
        recorder.record(EventData::Log(Log {
            level: "error".to_owned(),
            message: "the run was interrupted".to_owned(),
            stream: None,
        }));
    }
    played.took = clock.now();
    played
}

async fn play_steps<S: Stage + PageInspector>(
    replay: &Replay<'_>,
    stage: &mut S,
    recorder: &mut Recorder<'_>,
    told: &mut dyn ReplayObserver,
    whole: Deadline,
    stop: &CancellationToken,
    played: &mut Replayed,
) {
    for (_, place, _) in replay.in_range() {
        if let Some(error) = recorder.take_error() {
            let message = format!("the trace can't be written: {error}");
            let help = "free disk space, or choose another directory with `--run-dir DIR`";
            played.failure = Some(Diagnostic::error(codes::FILE_WRITE, message).with_help(help));
            played.verdict = Verdict::Blocked;
            return;
        }
        let mut ended = play_step(replay, stage, recorder, place, whole, stop, played).await;
        recorder.settle();
        told.step(std::mem::take(&mut ended.told));
        let has_failed = ended.status == StepStatus::Failed;
        let stops = replay.options.on_failure == OnFailure::Stop || whole.is_over();
        if !played.add(replay, place, ended) || (has_failed && stops) {
            return;
        }
    }
}

/// Opens the page on which the first step begins. None if somebody stopped it.
pub(super) async fn open<S: Stage>(
    replay: &Replay<'_>,
    stage: &mut S,
    recorder: &mut Recorder<'_>,
    whole: Deadline,
    stop: &CancellationToken,
) -> Option<Result<(), Failure>> {
    let clock = recorder.clock();
    let (url, observed) = beginning(replay);
    let settling = WaitPolicy::as_recorded(observed.settle.as_deref());
    let began = clock.now();
    recorder.record(browser_opening(url));
    recorder.settle();
    let opened = tokio::select! {
        biased;
        opened = stage.open(url, settling, whole.and(OPENING)) => opened,
        () = stop.cancelled() => return None,
    };
    let mut result = BrowserResult {
        duration_ms: Some(milliseconds(clock.now().saturating_sub(began))),
        ..BrowserResult::default()
    };
    match &opened {
        Ok(outcome) => result.observed = outcome.observed.clone(),
        Err(failure) => result.error = Some(step_error(failure)),
    }
    for event in browser_opened(&result) {
        recorder.record(event);
    }
    Some(opened.map(|_| ()))
}

/// Where the first step in range begins, and what was seen there: where the step before it ended, if that is known.
fn beginning<'a>(replay: &'a Replay<'_>) -> (&'a str, &'a Observed) {
    let before = replay
        .in_range()
        .next()
        .and_then(|(_, place, _)| replay.steps.test_steps.get(place.checked_sub(1)?));
    let ended = before.and_then(|step| Some((step.observed.url.as_deref()?, &step.observed)));
    ended
        // What stood in the place of a mask is not known.
        .filter(|(url, _)| !url.contains(MASK))
        .unwrap_or((&replay.steps.url, &replay.steps.observed))
}

/// A failure as it is shown, with the place of its step.
pub(super) fn diagnostic(
    replay: &Replay<'_>,
    place: Option<usize>,
    failure: &Failure,
) -> Diagnostic {
    let code = find_code(&failure.code).unwrap_or(codes::BROWSER_LOST);
    let message = match place {
        Some(place) => format!("step {} failed: {}", place + 1, failure.message),
        None => failure.message.clone(),
    };
    let mut diagnostic = Diagnostic::error(code, message);
    if let Some(place) = place {
        diagnostic = diagnostic.with_pointer(format!("/testSteps/{place}"));
        if let Some(span) = step_span(replay.source, place) {
            diagnostic = diagnostic.at(replay.source, span);
        }
    }
    diagnostic.notes.extend(step_error(failure).notes);
    diagnostic.help.clone_from(&failure.help);
    diagnostic
}
