//! Looks whether the pages still have what steps remember. It opens addresses, and changes nothing.
//!
//! A step is put off as long as what comes after it can be seen on the page as it is. When something can't, or the step
//! led to another page when it was made, what was put off is done, in order, if it only looks. What could change something
//! is done only if that was asked for; else it ends the look at that page, which goes on where the steps open an address.

use std::time::Duration;

use cuecard_browser_steps::format::HealedStep;
use cuecard_browser_steps::model::{ActionKind, TestStep};
use cuecard_page::identity::Verdict as Identity;
use cuecard_page::selector::Finder;
use cuecard_report::browser_html::BrowserStep;
use cuecard_tool_call::script::{Summary, Verdict};
use cuecard_trace::StepStatus;
use tokio_util::sync::CancellationToken;

use super::inspector::PageInspector;
use super::memory::{Judged, Memory};
use super::play::{diagnostic, open};
use super::seek::{seek, worst};
use super::step::{Ended, play_step};
use super::told::{shown, step_error};
use super::{Replay, Replayed};
use crate::stage::{Deadline, Failure, Stage};
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
    /// Steps that were put off.
    pending: Vec<usize>,
    whole: Deadline,
    replayed: Replayed,
    /// Whether a step was not done: what comes after it may be on another page.
    is_stuck: bool,
    /// Whether steps are done that could change something.
    acts: bool,
}

/// Gives the verdict of each step. With `acts`, steps that could change something are done too where others need that.
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
        pending: Vec::new(),
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
        is_stuck: false,
        acts,
    };
    match open(replay, verifying.stage, recorder, whole, stop).await {
        Some(Ok(())) => {
            for place in 0..replay.steps.test_steps.len() {
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
    /// Looks at one step. None if nothing goes on.
    async fn step(
        &mut self,
        place: usize,
        recorder: &mut Recorder<'_>,
        stop: &CancellationToken,
    ) -> Option<()> {
        let step = &self.replay.steps.test_steps[place];
        let is_assertion = step.assertion.is_some();
        let Some(memory) = self.judged_memory(place) else {
            // What is about no element, or about one that is not there, is not looked at.
            if !is_assertion {
                if opens_an_address(step) && !self.acts {
                    // Whatever came before it: it leads to its page.
                    self.pending.clear();
                    self.is_stuck = false;
                }
                self.pending.push(place);
            }
            return Some(());
        };
        if self.leads_elsewhere(place) {
            self.catch_up(recorder, stop).await?;
        }
        if !self.pending.is_empty() || self.is_stuck {
            let judged = self.glance(memory).await?;
            let is_same = matches!(judged.verdict, Identity::Same { .. });
            if is_same || self.is_stuck {
                if is_same {
                    self.found(place, judged, None, Vec::new());
                    if !is_assertion {
                        self.pending.push(place);
                    }
                }
                return Some(());
            }
            self.catch_up(recorder, stop).await?;
            if self.is_stuck {
                return Some(());
            }
        }
        self.look(place, step, memory, stop).await
    }

    /// What a step remembers of an element that must be there.
    fn judged_memory(&self, place: usize) -> Option<&'a Memory> {
        self.replay
            .memories
            .of(place)
            .filter(|memory| memory.fingerprint.is_some())
    }

    /// Whether one of the steps that were put off led to another page or tab when it was made, or may have.
    fn leads_elsewhere(&self, place: usize) -> bool {
        let steps = &self.replay.steps.test_steps;
        let url_before = |place: usize| match place.checked_sub(1) {
            Some(before) => steps[before].observed.url.as_deref(),
            None => Some(self.replay.steps.url.as_str()),
        };
        self.pending.iter().any(|&put_off| {
            let after = steps[put_off].observed.url.as_deref();
            after.is_none()
                || after != url_before(put_off)
                || steps[put_off].tab != steps[place].tab
        })
    }

    /// Does what was put off, in order.
    async fn catch_up(
        &mut self,
        recorder: &mut Recorder<'_>,
        stop: &CancellationToken,
    ) -> Option<()> {
        for place in std::mem::take(&mut self.pending) {
            let step = &self.replay.steps.test_steps[place];
            if !self.acts && !only_looks(step) {
                self.is_stuck = true;
                self.steps[place].told.notes.push(
                    "not performed, since it could change something; dependent steps are not checked (use `--act` to perform it)"
                        .to_owned(),
                );
                return Some(());
            }
            let Ended {
                status,
                failure,
                healed,
                renamed,
                told,
                is_interrupted,
                ..
            } = play_step(
                self.replay,
                self.stage,
                recorder,
                place,
                self.whole,
                stop,
                &mut self.replayed,
            )
            .await;
            if is_interrupted {
                self.replayed.verdict = Verdict::Interrupted;
                return None;
            }
            self.steps[place].was_done = status == StepStatus::Passed;
            self.replayed.renamed.extend(renamed);
            if let Some(failure) = failure.filter(|_| status == StepStatus::Failed) {
                let was_counted = self.steps[place].told.status == Some(StepStatus::Passed);
                self.replayed.summary.passed -= usize::from(was_counted);
                self.steps[place].told = told;
                self.replayed.summary.failed += 1;
                self.is_stuck = true;
                self.fail(Some(place), &failure);
                return (!failure.is_final()).then_some(());
            }
            if self.steps[place].told.status.is_none() {
                self.replayed.summary.passed += usize::from(status == StepStatus::Passed);
                self.steps[place].told = told;
            }
            let is_known = |known: &HealedStep| known.place == place;
            if !healed.is_empty() && !self.replayed.healed.iter().any(is_known) {
                self.replayed.summary.healed += 1;
                self.replayed.healed.extend(healed);
            }
        }
        Some(())
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
                if step.assertion.is_none() {
                    self.pending.push(place);
                }
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
                self.is_stuck |= step.assertion.is_none();
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
