//! Looks whether the pages still have what steps remember. It opens addresses, and changes nothing.
//!
//! Steps that only look are done. Behind one that could change something and is not done, an element counts that is still
//! there; what is not there is not checked, until a step opens an address.

use std::time::Duration;

use cuecard_browser_steps::format::HealedStep;
use cuecard_browser_steps::model::{ActionKind, TestStep};
use cuecard_page::identity::Verdict as Identity;
use cuecard_page::selector::Finder;
use cuecard_report::browser_html::BrowserStep;
use cuecard_tool_call::script::{Summary, Verdict};
use cuecard_trace::StepStatus;
use tokio_util::sync::CancellationToken;

use super::memory::{Judged, Memory};
use super::play::{diagnostic, open};
use super::seek::{seek, worst};
use super::step::play_step;
use super::told::{shown, step_error};
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
    let mut verifying = Verifying {
        steps: steps.collect(),
        replay,
        stage,
        whole,
        replayed: Replayed {
            verdict: Verdict::Passed,
            summary: Summary {
                total: replay.in_range().count(),
                ..Summary::default()
            },
            failure: None,
            healed: Vec::new(),
            renamed: Vec::new(),
            is_whole: replay.is_whole(),
            took: Duration::ZERO,
            screenshots: Vec::new(),
        },
        stuck_at: None,
        acts,
        last: 0,
    };
    let all = 0..replay.steps.test_steps.len();
    let is_checked = |place: &usize| verifying.judged_memory(*place).is_some();
    verifying.last = all.clone().rev().find(is_checked).unwrap_or(0);
    match open(replay, verifying.stage, recorder, whole, stop).await {
        Some(Ok(())) => {
            for place in all {
                if verifying.step(place, recorder, stop).await.is_none() {
                    break;
                }
            }
        }
        Some(Err(failure)) => verifying.fail(None, &failure),
        None => verifying.replayed.verdict = Verdict::Interrupted,
    }
    let mut replayed = verifying.replayed;
    replayed.took = recorder.clock().now();
    Verified {
        replayed,
        steps: verifying.steps,
    }
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

impl<'a, S: Stage + PageInspector> Verifying<'a, '_, S> {
    /// Looks at one step, or does it. None if nothing goes on.
    async fn step(
        &mut self,
        place: usize,
        recorder: &mut Recorder<'_>,
        stop: &CancellationToken,
    ) -> Option<()> {
        let step = &self.replay.steps.test_steps[place];
        if opens_an_address(step) {
            // Whatever came before it: it leads to its page.
            self.stuck_at = None;
        }
        let is_needed = place < self.last && step.assertion.is_none();
        if is_needed && self.stuck_at.is_none() && (self.acts || only_looks(step)) {
            return self.perform(place, recorder, stop).await;
        }
        if let Some(memory) = self.judged_memory(place) {
            match self.stuck_at {
                None => self.look(place, step, memory, stop).await?,
                Some(before) => {
                    let judged = self.glance(memory).await?;
                    let told = &mut self.steps[before].told;
                    if matches!(judged.verdict, Identity::Same { .. }) {
                        self.found(place, judged, None, Vec::new());
                    } else if told.notes.is_empty() && told.error.is_none() {
                        let note = "not performed, since it could change something; dependent steps are not checked (use `--act` to perform it)";
                        told.notes.push(note.to_owned());
                    }
                }
            }
        }
        if is_needed {
            self.stuck_at.get_or_insert(place);
        }
        Some(())
    }

    /// What a step remembers of an element that must be there.
    fn judged_memory(&self, place: usize) -> Option<&'a Memory> {
        self.replay
            .memories
            .of(place)
            .filter(|memory| memory.fingerprint.is_some())
    }

    /// Does a step.
    async fn perform(
        &mut self,
        place: usize,
        recorder: &mut Recorder<'_>,
        stop: &CancellationToken,
    ) -> Option<()> {
        let (replay, whole) = (self.replay, self.whole);
        let played = &mut self.replayed;
        let ended = play_step(replay, self.stage, recorder, place, whole, stop, played).await;
        if ended.is_interrupted {
            self.replayed.verdict = Verdict::Interrupted;
            return None;
        }
        let is_passed = ended.status == StepStatus::Passed;
        self.steps[place] = VerifiedStep {
            told: ended.told,
            was_done: is_passed,
        };
        self.replayed.summary.healed += usize::from(!ended.healed.is_empty());
        self.replayed.healed.extend(ended.healed);
        self.replayed.renamed.extend(ended.renamed);
        self.replayed.summary.passed += usize::from(is_passed);
        self.replayed.summary.tolerated += usize::from(ended.status == StepStatus::Tolerated);
        let Some(failure) = ended.failure.filter(|_| ended.status == StepStatus::Failed) else {
            return Some(());
        };
        self.replayed.summary.failed += 1;
        self.stuck_at = Some(place);
        self.fail(Some(place), &failure);
        (!failure.is_final()).then_some(())
    }

    /// The verdict on the page as it is now.
    async fn glance(&mut self, memory: &Memory) -> Option<Judged> {
        match self.stage.look().await {
            Ok(scene) => {
                let attribute = &self.replay.options.test_id_attribute;
                let all = memory.judge_all(Finder::new(&scene.state, attribute))?;
                Some(worst(all))
            }
            Err(failure) => {
                self.fail(None, &failure);
                None
            }
        }
    }

    /// The verdict once the page has had the time that the step gives it.
    async fn look(
        &mut self,
        place: usize,
        step: &TestStep,
        memory: &Memory,
        stop: &CancellationToken,
    ) -> Option<()> {
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
                return None;
            }
        };
        match sought {
            Ok(found) => {
                self.found(place, found.judged, Some(found.aim.words), found.healed);
                Some(())
            }
            Err(missing) => {
                let is_final = missing.failure.is_final();
                self.replayed.renamed.extend(missing.renamed);
                let told = &mut self.steps[place].told;
                if let Some(judged) = missing.judged {
                    told.verdict = Some(judged.told);
                    told.candidates = judged.candidates;
                }
                told.status = Some(match step.optional {
                    true => StepStatus::Tolerated,
                    false => StepStatus::Failed,
                });
                told.error = Some(step_error(&missing.failure));
                if step.optional {
                    self.replayed.summary.tolerated += 1;
                    return (!is_final).then_some(());
                }
                self.replayed.summary.failed += 1;
                self.fail(Some(place), &missing.failure);
                (!is_final).then_some(())
            }
        }
    }

    fn found(
        &mut self,
        place: usize,
        judged: Judged,
        words: Option<String>,
        healed: Vec<HealedStep>,
    ) {
        let told = &mut self.steps[place].told;
        told.target = words;
        told.candidates = judged.candidates;
        told.verdict = Some(judged.told);
        told.status = Some(StepStatus::Passed);
        self.replayed.summary.passed += 1;
        self.replayed.summary.healed += usize::from(!healed.is_empty());
        self.replayed.healed.extend(healed);
    }

    fn fail(&mut self, place: Option<usize>, failure: &Failure) {
        self.replayed.verdict = match failure.is_final() {
            true => Verdict::Blocked,
            false => Verdict::Failed,
        };
        if self.replayed.failure.is_none() {
            self.replayed.failure = Some(diagnostic(self.replay, place, failure));
        }
    }
}
