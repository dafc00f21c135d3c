//! Looks whether the pages still have what steps remember. It opens addresses, and changes nothing.
//!
//! Steps that only look are done. Behind one that could change something and is not done, an element counts that is still
//! there; what is not there is not checked, until a step opens an address.

use std::time::Duration;

use cuecard_browser_steps::model::{ActionKind, TestStep};
use cuecard_page::identity::Verdict as Identity;
use cuecard_page::selector::Finder;
use cuecard_report::browser_html::BrowserStep;
use cuecard_tool_call::script::Verdict;
use cuecard_trace::StepStatus;
use tokio_util::sync::CancellationToken;

use super::memory::{Judged, Memory};
use super::play::open;
use super::seek::{seek, worst};
use super::step::{Ended, play_step};
use super::told::shown;
use super::{Replay, Replayed};
use crate::stage::{Deadline, Failure, PageInspector, Stage};
use cuecard_runtime::tap::Recorder;

/// What came of looking.
#[derive(Debug)]
pub struct Verified {
    /// How it ended, with the counts of steps.
    pub replayed: Replayed,
    /// Each step, in order.
    pub steps: Vec<VerifiedStep>,
}

/// A step that was looked at, or was not.
#[derive(Debug)]
pub struct VerifiedStep {
    /// The step, its element and the verdict.
    pub told: BrowserStep,
    /// Whether it was done, since what comes after it needs that.
    pub was_done: bool,
}

struct Verifying<'a, 'r, S> {
    replay: &'a Replay<'r>,
    stage: &'a mut S,
    steps: Vec<VerifiedStep>,
    whole: Deadline,
    replayed: Replayed,
    /// The step that was not done, so that what comes after it may be on another page.
    stuck_at: Option<usize>,
    /// Whether steps are done that could change something.
    acts: bool,
    /// The place of the last step that is checked: it is not done, nor what comes after it.
    last: usize,
}

/// Gives the verdict of each step. With `acts`, steps that could change something are done too, but for the last.
/// The browser stays up: ending it is the caller's.
pub async fn verify<S: Stage + PageInspector>(
    replay: &Replay<'_>,
    stage: &mut S,
    recorder: &mut Recorder<'_>,
    stop: &CancellationToken,
    acts: bool,
) -> Verified {
    let whole = Deadline::after(Duration::from_millis(replay.options.timeout_ms));
    let steps = replay.in_range().map(|(number, _, step)| VerifiedStep {
        told: shown(step, number),
        was_done: false,
    });
    let all = 0..replay.steps.test_steps.len();
    let is_checked = |place: &usize| judged_memory(replay, *place).is_some();
    let mut verifying = Verifying {
        steps: steps.collect(),
        replay,
        stage,
        whole,
        replayed: replay.begun(),
        stuck_at: None,
        acts,
        last: all.clone().rev().find(is_checked).unwrap_or(0),
    };
    match open(replay, verifying.stage, recorder, whole, stop).await {
        Some(Ok(())) => {
            for place in all {
                if !verifying.step(place, recorder, stop).await {
                    break;
                }
            }
        }
        Some(Err(failure)) => verifying.replayed.fail(replay, None, &failure),
        None => verifying.replayed.verdict = Verdict::Interrupted,
    }
    let mut replayed = verifying.replayed;
    replayed.took = recorder.clock().now();
    Verified {
        replayed,
        steps: verifying.steps,
    }
}

/// What a step remembers of an element that must be there.
fn judged_memory<'a>(replay: &'a Replay<'_>, place: usize) -> Option<&'a Memory> {
    let memory = replay.memories.of(place);
    memory.filter(|memory| memory.fingerprint.is_some())
}

/// Whether a step changes nothing, whoever runs the page.
fn only_looks(step: &TestStep) -> bool {
    matches!(
        step.action,
        ActionKind::Navigate
            | ActionKind::Scroll
            | ActionKind::Wait
            | ActionKind::Hover
            | ActionKind::Assert
            | ActionKind::Extract
    )
}

/// Whether a step opens an address, and does not only go back or forward, or load the page again.
fn opens_an_address(step: &TestStep) -> bool {
    let url = step.url.as_deref().unwrap_or_default();
    step.action == ActionKind::Navigate && !matches!(url, "back" | "forward" | "reload")
}

impl<S: Stage + PageInspector> Verifying<'_, '_, S> {
    /// Looks at one step, or does it. False if nothing goes on.
    async fn step(
        &mut self,
        place: usize,
        recorder: &mut Recorder<'_>,
        stop: &CancellationToken,
    ) -> bool {
        let (replay, whole) = (self.replay, self.whole);
        let step = &replay.steps.test_steps[place];
        if opens_an_address(step) {
            // Whatever came before it: it leads to its page.
            self.stuck_at = None;
        }
        let is_needed = place < self.last && step.assertion.is_none();
        if is_needed && self.stuck_at.is_none() && (self.acts || only_looks(step)) {
            let played = &mut self.replayed;
            let ended = play_step(replay, self.stage, recorder, place, whole, stop, played).await;
            self.steps[place].was_done = ended.status == StepStatus::Passed;
            if ended.status == StepStatus::Failed {
                self.stuck_at = Some(place);
            }
            return self.add(place, ended);
        }
        let mut goes_on = true;
        if let Some(memory) = judged_memory(replay, place) {
            goes_on = match self.stuck_at {
                None => self.look(place, step, memory, stop).await,
                Some(before) => self.glance(place, before, memory).await,
            };
        }
        if is_needed {
            self.stuck_at.get_or_insert(place);
        }
        goes_on
    }

    fn add(&mut self, place: usize, mut ended: Ended) -> bool {
        self.steps[place].told = std::mem::take(&mut ended.told);
        self.replayed.add(self.replay, place, ended)
    }

    /// The verdict on the page as it is now, behind a step that was not done: an element that is not there need not be.
    async fn glance(&mut self, place: usize, before: usize, memory: &Memory) -> bool {
        let scene = match self.stage.look().await {
            Ok(scene) => scene,
            Err(failure) => {
                self.replayed.fail(self.replay, None, &failure);
                return false;
            }
        };
        let attribute = &self.replay.options.test_id_attribute;
        let judged = memory.judge_all(Finder::new(&scene.state, attribute));
        let judged = judged.map(worst);
        if let Some(judged) = judged.filter(|one| matches!(one.verdict, Identity::Same { .. })) {
            let ended = self.looked(place, None, Some(judged));
            return self.add(place, ended);
        }
        let told = &mut self.steps[before].told;
        if told.notes.is_empty() && told.error.is_none() {
            let note = "not performed, since it could change something; dependent steps are not checked (use `--act` to perform it)";
            told.notes.push(note.to_owned());
        }
        true
    }

    /// The verdict once the page has had the time that the step gives it.
    async fn look(
        &mut self,
        place: usize,
        step: &TestStep,
        memory: &Memory,
        stop: &CancellationToken,
    ) -> bool {
        let options = self.replay.options;
        let default = match step.assertion {
            Some(_) => options.assert_timeout_ms,
            None => options.action_timeout_ms,
        };
        let limit = Duration::from_millis(step.timeout_ms.unwrap_or(default));
        let replay = Replay {
            heals: self.replay.heals && step.assertion.is_none(),
            ..self.replay.clone()
        };
        let sought = tokio::select! {
            biased;
            sought = seek(&replay, self.stage, step, place, memory, self.whole.and(limit)) => sought,
            () = stop.cancelled() => {
                self.replayed.verdict = Verdict::Interrupted;
                return false;
            }
        };
        let ended = match sought {
            Ok(found) => {
                let mut ended = self.looked(place, None, Some(found.judged));
                ended.told.target = Some(found.aim.words);
                ended.healed = found.healed;
                ended
            }
            Err(missing) => Ended {
                renamed: missing.renamed,
                ..self.looked(place, Some(missing.failure), missing.judged)
            },
        };
        self.add(place, ended)
    }

    /// How a step ended that was only looked at.
    fn looked(&mut self, place: usize, failure: Option<Failure>, judged: Option<Judged>) -> Ended {
        let told = std::mem::take(&mut self.steps[place].told);
        Ended::new(&self.replay.steps.test_steps[place], told, failure, judged)
    }
}
