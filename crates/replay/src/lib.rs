//! Plays a tool-call scenario against real MCP servers and the built-in tools.
//!
//! Asks the script what to do, routes the call, keeps its time, asks the policy, and tells the script what came. Decides
//! nothing about the scenario itself.

mod builtin;
mod connect;
mod fit;
mod mcp_call;
mod older;
mod page;
mod pool;
pub mod prepare;
mod requests;
mod screenshot;
mod target;
mod toolbox;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_tool_call::model::ToolCallScenario;
use cuecard_tool_call::script::{Bindings, Effect, Options, Script, Summary, Verdict};
use cuecard_trace::{EventData, StepFinished, StepStatus};
use tokio_util::sync::CancellationToken;

pub use builtin::{forbidden, mistakes, refused_for_text};
pub use connect::{Connected, Connections, check_allowed, check_arguments};
pub use pool::{DEMO_SERVER, Pool, is_built_in, known_servers, unknown_server};
pub use toolbox::{ToolSettings, Toolbox};

use cuecard_runtime::tap::Recorder;
use screenshot::Shot;

/// What to play.
#[derive(Debug)]
pub struct Play {
    /// The scenario.
    pub scenario: Arc<ToolCallScenario>,
    /// The values of its variables.
    pub bindings: Bindings,
    /// Range and speed.
    pub options: Options,
    /// Which screenshots are taken; none if absent.
    pub screenshots: Option<Screenshots>,
    /// The first steps, and elements of the next, which an earlier run has done: they are not played.
    pub restored: Vec<StepFinished>,
}

/// Screenshots of the browser that a server drives.
#[derive(Debug, Clone)]
pub struct Screenshots {
    /// Where they go.
    pub folder: PathBuf,
    /// Whether one is taken after each step in a browser, and not only when a step fails.
    pub each_step: bool,
}

impl Screenshots {
    /// What is taken after an event, if anything.
    fn after(&self, data: &EventData) -> Option<Shot> {
        let (EventData::StepFinished(step) | EventData::ElementFinished(step)) = data else {
            return None;
        };
        // Of a step with elements, each has its own.
        let is_whole = step.elements.is_some() && step.element.is_none();
        if step.restored.is_some() || is_whole {
            return None;
        }
        let has_failed = matches!(step.status, StepStatus::Failed | StepStatus::Tolerated);
        let is_asked =
            self.each_step && step.status == StepStatus::Passed && step.tool.starts_with("mcp__");
        (has_failed || is_asked).then_some(Shot {
            step: step.step,
            has_failed,
        })
    }
}

/// How it went.
#[derive(Debug)]
pub struct Played {
    /// The verdict.
    pub verdict: Verdict,
    /// Counts.
    pub summary: Summary,
    /// Why it failed or could not go on.
    pub failure: Option<Diagnostic>,
    /// Wall-clock time.
    pub took: Duration,
    /// Screenshots that were taken.
    pub screenshots: Vec<PathBuf>,
    /// The number of the first step that is not done.
    pub unfinished: Option<u64>,
}

/// Plays to the end, or until `stop` is cancelled. The servers stay up: ending them is the caller's, by
/// [`Toolbox::shut_down`], whatever happened here.
pub async fn play(
    play: Play,
    toolbox: &mut Toolbox,
    recorder: &mut Recorder<'_>,
    stop: &CancellationToken,
) -> Played {
    let clock = recorder.clock();
    let bindings = play.bindings.in_directory(&toolbox.working_directory);
    let mut script = Script::new(play.scenario, bindings, play.options);
    script.restore(play.restored);
    let reporter = recorder.reporter();
    let mut screenshots = Vec::new();
    let mut now = clock.now();
    let verdict = loop {
        if let Some(error) = recorder.take_error() {
            let failure = Diagnostic::error(
                codes::FILE_WRITE,
                format!("the {} can't be written: {error}", recorder.failed_file()),
            )
            .with_help("free disk space, or choose another directory with `--run-dir DIR`");
            return finish(
                &script,
                Verdict::Blocked,
                Some(failure),
                clock.now(),
                screenshots,
            );
        }
        match script.poll(now) {
            Effect::Record(at, data) => {
                let asked = play.screenshots.as_ref();
                let shot = asked.and_then(|asked| Some((asked.after(&data)?, &asked.folder)));
                recorder.record_at(at, data);
                if let Some((shot, folder)) = shot {
                    screenshots.extend(screenshot::take(toolbox, shot, folder, recorder).await);
                    now = clock.now();
                }
                continue;
            }
            Effect::Commit => recorder.commit(),
            Effect::Call(requests) => {
                // Calls that are answered at once never give way, and whoever stops the run must be heard.
                tokio::task::coop::consume_budget().await;
                tokio::select! {
                    // First the call: most are answered before anybody could stop them.
                    biased;
                    () = toolbox.begin(requests, recorder) => {}
                    () = stop.cancelled() => {}
                    never = reporter.report() => match never {},
                }
                now = clock.now();
            }
            Effect::Await => {
                let returned = tokio::select! {
                    biased;
                    returned = toolbox.returned(recorder) => returned,
                    () = stop.cancelled() => None,
                    never = reporter.report() => match never {},
                };
                now = clock.now();
                match returned {
                    Some((ended, outcome)) => script.returned(ended, outcome),
                    None if stop.is_cancelled() => {}
                    None => script.interrupt(now),
                }
            }
            Effect::WaitUntil(until) => {
                recorder.settle();
                tokio::select! {
                    biased;
                    () = stop.cancelled() => {}
                    () = clock.sleep_until(until) => {}
                    never = reporter.report() => match never {},
                }
                now = clock.now();
            }
            Effect::Finished(verdict) => {
                if verdict == Verdict::Interrupted {
                    recorder.record(pool::log("error", "the run was interrupted".to_owned()));
                }
                warn_of_unused_answers(&script, verdict, toolbox, recorder);
                break verdict;
            }
        }
        if stop.is_cancelled() {
            for (step, ended, outcome) in toolbox.interrupt(recorder).await {
                script.returned_early(step, ended, outcome);
            }
            script.interrupt(now);
        }
    };
    recorder.commit();
    let failure = script.failure().cloned();
    finish(&script, verdict, failure, clock.now(), screenshots)
}

/// An answer that nobody asked for may be one that is looked for elsewhere. Nothing can be said of a run in
/// which not every step was called.
fn warn_of_unused_answers(
    script: &Script,
    verdict: Verdict,
    toolbox: &mut Toolbox,
    recorder: &mut Recorder<'_>,
) {
    let is_whole = verdict == Verdict::Passed
        && script.is_whole()
        && script.summary().passed == script.summary().total;
    if is_whole {
        for warning in toolbox.pool.unused_answers() {
            recorder.record(pool::log("warning", warning));
        }
    }
}

fn finish(
    script: &Script,
    verdict: Verdict,
    failure: Option<Diagnostic>,
    took: Duration,
    screenshots: Vec<PathBuf>,
) -> Played {
    Played {
        verdict,
        summary: script.summary(),
        failure,
        took,
        screenshots,
        unfinished: script.unfinished(),
    }
}
