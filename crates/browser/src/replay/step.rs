//! Plays one step: its element is looked for, the call is recorded, and only then anything is done.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cuecard_browser_steps::format::HealedStep;
use cuecard_browser_steps::model::{ActionKind, Observed, TestStep};
use cuecard_browser_steps::model::{BrowserResult, browser_call, browser_result};
use cuecard_page::browser_tool;
use cuecard_page::selector::Finder;
use cuecard_page::text::TextOptions;
use cuecard_report::browser_html::{BrowserStep, Picture};
use cuecard_trace::{Attempt, EventData, StepFinished, StepStarted, StepStatus};
use tokio_util::sync::CancellationToken;

use super::evidence;
use super::intent::intent;
use super::memory::Judged;
use super::seek::{Found, place_of, seek};
use super::targets::Remembering;
use super::told::{milliseconds, notes, shown, step_error};
use super::{Replay, Replayed};
use crate::WaitPolicy;
use crate::stage::{
    Deadline, Failure, Limits, PageInspector, PageState, Performed, Stage, StageAction,
};
use cuecard_runtime::tap::Recorder;

/// How a step ended.
pub(super) struct Ended {
    /// Its status.
    pub(super) status: StepStatus,
    /// Why it failed.
    pub(super) failure: Option<Failure>,
    /// What its elements are known by now.
    pub(super) healed: Vec<HealedStep>,
    /// What may be its element under a new name.
    pub(super) renamed: Option<HealedStep>,
    /// What a report shows of it.
    pub(super) told: BrowserStep,
    /// What was kept of the page when it failed.
    pub(super) screenshots: Vec<PathBuf>,
    /// Whether somebody stopped the run.
    pub(super) is_interrupted: bool,
}

impl Ended {
    /// How a step ended that failed so, if it did.
    pub(super) fn new(
        step: &TestStep,
        mut told: BrowserStep,
        failure: Option<Failure>,
        judged: Option<Judged>,
    ) -> Self {
        let status = match &failure {
            None => StepStatus::Passed,
            Some(failure) if step.optional && !failure.is_final() => StepStatus::Tolerated,
            Some(_) => StepStatus::Failed,
        };
        if let Some(judged) = judged {
            told.candidates = judged.candidates;
            told.verdict = Some(judged.told);
        }
        told.status = Some(status);
        told.error = failure.as_ref().map(step_error);
        Self {
            status,
            failure,
            healed: Vec::new(),
            renamed: None,
            told,
            screenshots: Vec::new(),
            is_interrupted: false,
        }
    }
}

/// A step that is being played.
struct Playing<'a, 'r> {
    replay: &'a Replay<'r>,
    step: &'a TestStep,
    place: usize,
    told: BrowserStep,
    /// What the last attempt said about its element.
    judged: Option<Judged>,
    healed: Vec<HealedStep>,
    renamed: Option<HealedStep>,
    scene: Option<Arc<PageState>>,
    is_interrupted: bool,
}

/// Plays the step at `place`. `whole` is the deadline of the run.
pub(super) async fn play_step<S: Stage + PageInspector>(
    replay: &Replay<'_>,
    stage: &mut S,
    recorder: &mut Recorder<'_>,
    place: usize,
    whole: Deadline,
    stop: &CancellationToken,
    played: &mut Replayed,
) -> Ended {
    let step = &replay.steps.test_steps[place];
    let number = place as u64 + 1;
    let clock = recorder.clock();
    let started = clock.now();
    recorder.record_at(
        started,
        EventData::StepStarted(StepStarted {
            step: number,
            id: Some(step.id.clone()),
            tool: browser_tool(step.action),
            description: Some(step.description.clone()),
            element: None,
            elements: None,
        }),
    );
    let mut playing = Playing {
        replay,
        step,
        place,
        told: shown(step, number),
        judged: None,
        healed: Vec::new(),
        renamed: None,
        scene: None,
        is_interrupted: false,
    };
    let mut attempts = Vec::new();
    let most = 1 + step.max_retries.unwrap_or(0);
    let failure = loop {
        let attempt = attempts.len() as u32 + 1;
        played.summary.calls += 1;
        played.summary.retries += u64::from(attempt > 1);
        let began = clock.now();
        let failure = playing
            .attempt(stage, recorder, attempt, whole, stop)
            .await
            .err();
        attempts.push(Attempt {
            attempt,
            started_ms: milliseconds(began),
            duration_ms: milliseconds(clock.now().saturating_sub(began)),
            error: failure.as_ref().map(|failure| failure.message.clone()),
        });
        let is_retried = failure.as_ref().is_some_and(|failure| {
            let most = match failure.was_replaced {
                true => most.max(1 + Failure::MOST_REPLACED),
                false => most,
            };
            !failure.has_acted && !failure.is_final() && attempt < most
        });
        if !is_retried || whole.is_over() {
            break failure;
        }
    };
    playing
        .finish(stage, recorder, failure, attempts, started)
        .await
}

impl Playing<'_, '_> {
    /// Looks for the element, and does with it what the step says.
    async fn attempt<S: Stage + PageInspector>(
        &mut self,
        stage: &mut S,
        recorder: &mut Recorder<'_>,
        attempt: u32,
        whole: Deadline,
        stop: &CancellationToken,
    ) -> Result<(), Failure> {
        let began = recorder.clock().now();
        let limits = self.limits(whole);
        let outcome = tokio::select! {
            biased;
            outcome = async {
                match self.find(stage, limits).await {
                    Ok(found) => self.perform(stage, recorder, attempt, found, limits).await,
                    Err(failure) => {
                        recorder.record(browser_call(self.step, None, attempt));
                        Err(failure)
                    }
                }
            } => outcome,
            () = stop.cancelled() => {
                self.is_interrupted = true;
                return Err(Failure {
                    message: "interrupted".to_owned(),
                    has_acted: true,
                    ..Failure::default()
                });
            }
        };
        let observed = match &outcome {
            Ok(performed) => performed.outcome.observed.clone(),
            Err(_) => Observed::default(),
        };
        let healed = self.healed.first().filter(|_| outcome.is_ok());
        let result = BrowserResult {
            verdict: self.judged.as_ref().map(|judged| judged.told.word.clone()),
            reason: healed.map(|healed| healed.reason.clone()),
            observed,
            error: outcome.as_ref().err().map(step_error),
            is_retryable: outcome.as_ref().is_err_and(|failure| !failure.has_acted),
            screenshots: Vec::new(),
            duration_ms: Some(milliseconds(recorder.clock().now().saturating_sub(began))),
        };
        for event in browser_result(self.step, attempt, &result) {
            recorder.record(event);
        }
        self.told.notes = notes(&result.observed);
        self.told.extracted = result.observed.extracted_content;
        outcome.map(|_| ())
    }

    /// Looks for what the step is aimed at, if it is known before the step is performed.
    async fn find<S: Stage + PageInspector>(
        &mut self,
        stage: &mut S,
        limits: Limits,
    ) -> Result<Option<Found>, Failure> {
        self.judged = None;
        // Assertions and searches find their elements on the way.
        let is_search = self.step.action == ActionKind::Scroll && self.step.direction.is_none();
        let memory = match self.step.assertion.is_some() || is_search {
            true => None,
            false => self.replay.memories.of(self.place),
        };
        let Some(memory) = memory else {
            return Ok(None);
        };
        let deadline = Deadline::after(limits.action);
        match seek(self.replay, stage, self.step, self.place, memory, deadline).await {
            Ok(found) => {
                self.judged = Some(found.judged.clone());
                Ok(Some(found))
            }
            Err(missing) => {
                self.scene = missing.scene.or(self.scene.take());
                self.judged = missing.judged;
                self.renamed = missing.renamed;
                Err(missing.failure)
            }
        }
    }

    fn limits(&self, whole: Deadline) -> Limits {
        let options = self.replay.options;
        let of = |default: u64| {
            let time = self.step.timeout_ms.unwrap_or(default);
            Duration::from_millis(time).min(whole.left())
        };
        Limits {
            action: of(options.action_timeout_ms),
            assertion: of(options.assert_timeout_ms),
        }
    }

    /// Keeps what the page is before the step: a picture with the target on it, and its text.
    async fn look_at<S: Stage + PageInspector>(&mut self, stage: &mut S, found: Option<&Found>) {
        if let Some(found) = found {
            self.scene = Some(Arc::clone(&found.scene));
        }
        if !self.replay.is_pictured {
            return;
        }
        if self.scene.is_none() {
            // A page that can't be looked at is no reason not to play the step: the step says what is wrong.
            self.scene = stage.look().await.ok();
        }
        let Some(scene) = &self.scene else { return };
        let target = found.and_then(|found| place_of(&found.scene.state, found.id));
        let size = scene.state.page.viewport;
        if let Some(png) = stage.screenshot().await {
            self.told.picture = Some(Picture { png, size, target });
        }
    }

    /// Does what the step says. What is recorded before outlives whatever is done.
    async fn perform<S: Stage + PageInspector>(
        &mut self,
        stage: &mut S,
        recorder: &mut Recorder<'_>,
        attempt: u32,
        found: Option<Found>,
        limits: Limits,
    ) -> Result<Performed, Failure> {
        self.look_at(stage, found.as_ref()).await;
        let (aim, to) = found.map_or((None, None), |found| {
            self.healed = found.healed;
            (Some(found.aim), found.to)
        });
        self.told.target = aim.as_ref().map(|aim| match &to {
            Some(to) => format!("{} to {}", aim.words, to.words),
            None => aim.words.clone(),
        });
        recorder.record(browser_call(
            self.step,
            self.told.target.as_deref(),
            attempt,
        ));
        recorder.settle();
        let deed = StageAction {
            step: &intent(self.step),
            aim,
            to,
            limits,
            wait_for: self.step.wait_for,
            settling: WaitPolicy::as_recorded(self.step.observed.settle.as_deref()),
        };
        let may_heal = self.replay.heals && self.step.assertion.is_none();
        let mut targets = Remembering::new(
            self.replay.memories.of(self.place),
            self.step,
            self.place,
            self.replay.values,
            may_heal,
        );
        let outcome = stage.perform(&deed, &mut targets).await;
        self.judged = self.judged.take().or(targets.judged);
        if targets.healed.is_some() {
            self.healed = targets.healed.into_iter().collect();
        }
        if self.told.target.is_none() {
            self.told.target = targets.words;
        }
        if let Ok(performed) = &outcome
            && performed.scene.is_some()
        {
            self.scene.clone_from(&performed.scene);
        }
        outcome
    }

    async fn finish<S: Stage + PageInspector>(
        mut self,
        stage: &mut S,
        recorder: &mut Recorder<'_>,
        failure: Option<Failure>,
        attempts: Vec<Attempt>,
        started: Duration,
    ) -> Ended {
        let (told, judged) = (std::mem::take(&mut self.told), self.judged.take());
        let mut ended = Ended::new(self.step, told, failure, judged);
        if self.is_interrupted {
            ended.is_interrupted = true;
            ended.status = StepStatus::Unknown;
            ended.told.status = Some(StepStatus::Unknown);
            ended.told.error = None;
        }
        let size = self.scene.as_ref().map(|scene| scene.state.page.viewport);
        let picture = |png: Option<Vec<u8>>| {
            png.zip(size).map(|(png, size)| Picture {
                png,
                size,
                target: None,
            })
        };
        let mut kept = None;
        if ended.status == StepStatus::Failed {
            let page = self.page_text();
            kept = evidence::keep(self.replay, stage, self.place, page.as_deref()).await;
            if let Some(kept) = kept.as_mut().filter(|_| ended.told.picture.is_none()) {
                ended.told.picture = picture(kept.png.take());
            }
        } else if self.replay.keeps_each && !self.is_interrupted {
            kept = evidence::keep_after(self.replay, stage, self.place).await;
            ended.told.after = picture(kept.as_mut().and_then(|kept| kept.png.take()));
        }
        if let Some(kept) = kept {
            ended.screenshots = kept.files;
            recorder.record(kept.event);
        }
        self.tell_page(stage, &mut ended.told);
        match ended.status {
            StepStatus::Passed => ended.healed = self.healed,
            _ => ended.renamed = self.renamed,
        }
        let finished = StepFinished {
            step: ended.told.number,
            id: Some(self.step.id.clone()),
            tool: browser_tool(self.step.action),
            description: Some(self.step.description.clone()),
            status: ended.status,
            duration_ms: milliseconds(recorder.clock().now().saturating_sub(started)),
            attempts,
            error: ended.told.error.clone(),
            skipped_by: None,
            group: None,
            healed: ended.healed.first().map(|healed| healed.reason.clone()),
            outputs: serde_json::Map::new(),
            restored: None,
            element: None,
            elements: None,
        };
        ended.told.ms = Some(finished.duration_ms);
        recorder.record(EventData::StepFinished(finished));
        ended
    }

    /// The page as text, within the budget of the options.
    fn page_text(&self) -> Option<String> {
        let scene = self.scene.as_ref()?;
        let options = self.replay.options;
        let finder = Finder::new(&scene.state, &options.test_id_attribute);
        let options = TextOptions {
            budget: options.prompt_budget,
            include_attributes: &options.include_attributes,
            action: &self.step.description,
        };
        match self.replay.values.page_text(finder, &options) {
            Ok(page) => Some(page.text),
            Err(error) => Some(error.to_string()),
        }
    }

    fn tell_page<S: Stage + PageInspector>(&self, stage: &mut S, told: &mut BrowserStep) {
        let complaints = stage.complaints();
        told.console = complaints.console;
        told.requests = complaints.requests;
        if let Some(scene) = &self.scene {
            told.url.clone_from(&scene.state.page.url);
            told.title.clone_from(&scene.state.page.title);
        }
        if self.replay.is_pictured {
            told.page = self.page_text().unwrap_or_default();
        }
    }
}
