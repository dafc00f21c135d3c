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
use super::memory::{Judged, Memory};
use super::seek::{NotFound, place_of, seek};
use super::targets::Remembering;
use super::told::{milliseconds, notes, shown, step_error};
use super::{Replay, Replayed};
use crate::WaitPolicy;
use crate::stage::{
    ActionTarget, Deadline, Failure, Limits, PageInspector, PageState, Performed, Stage,
    StageAction,
};
use cuecard_runtime::clock::Clock;
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

/// A step that is being played.
struct Playing<'a, 'r> {
    replay: &'a Replay<'r>,
    step: &'a TestStep,
    place: usize,
    told: BrowserStep,
    healed: Vec<HealedStep>,
    renamed: Option<HealedStep>,
    scene: Option<Arc<PageState>>,
}

/// What came of one attempt.
struct Tried {
    outcome: Result<Performed, Failure>,
    judged: Option<Judged>,
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
        healed: Vec::new(),
        renamed: None,
        scene: None,
    };
    let mut attempts = Vec::new();
    let most = 1 + step.max_retries.unwrap_or(0);
    let tried = loop {
        let attempt = attempts.len() as u32 + 1;
        let began = clock.now();
        let tried = playing
            .attempt(stage, recorder, attempt, whole, stop, played)
            .await;
        let error = tried.outcome.as_ref().err();
        attempts.push(Attempt {
            attempt,
            started_ms: milliseconds(began),
            duration_ms: milliseconds(clock.now().saturating_sub(began)),
            error: error.map(|failure| failure.message.clone()),
        });
        let most = |failure: &Failure| match failure.was_replaced {
            true => most.max(1 + Failure::MOST_REPLACED),
            false => most,
        };
        let is_retried = error.is_some_and(|failure| {
            !failure.has_acted && !failure.is_final() && attempt < most(failure)
        }) && !tried.is_interrupted
            && !whole.is_over();
        if !is_retried {
            break tried;
        }
    };
    playing
        .finish(stage, recorder, tried, attempts, started, clock)
        .await
}

impl Playing<'_, '_> {
    async fn attempt<S: Stage + PageInspector>(
        &mut self,
        stage: &mut S,
        recorder: &mut Recorder<'_>,
        attempt: u32,
        whole: Deadline,
        stop: &CancellationToken,
        played: &mut Replayed,
    ) -> Tried {
        let clock = recorder.clock();
        played.summary.calls += 1;
        played.summary.retries += u64::from(attempt > 1);
        let limits = self.limits(whole);
        let began = clock.now();
        let mut found = None;
        if let Some(memory) = self.aimed_at() {
            let deadline = Deadline::after(limits.action);
            let (replay, step, place) = (self.replay, self.step, self.place);
            let sought = tokio::select! {
                biased;
                sought = seek(replay, stage, step, place, memory, deadline) => Some(sought),
                () = stop.cancelled() => None,
            };
            match sought {
                Some(Ok(sought)) => found = Some(sought),
                Some(Err(missing)) => {
                    recorder.record(browser_call(step, None, attempt));
                    return self.missing(*missing, recorder, attempt, began);
                }
                None => return Tried::interrupted(),
            }
        }
        let judged = found.as_ref().map(|found| found.judged.clone());
        self.look_at(stage, found.as_ref().map(|found| (&found.scene, found.id)))
            .await;
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
        // What is recorded so far outlives whatever is done now.
        recorder.settle();
        self.perform(
            stage,
            recorder,
            attempt,
            (aim, to, judged),
            limits,
            began,
            stop,
        )
        .await
    }

    /// What the step is aimed at before it is performed: assertions and searches find their elements on the way.
    fn aimed_at(&self) -> Option<&Memory> {
        let is_search = self.step.action == ActionKind::Scroll && self.step.direction.is_none();
        match self.step.assertion.is_some() || is_search {
            true => None,
            false => self.replay.memories.of(self.place),
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

    /// There is nothing to act on.
    fn missing(
        &mut self,
        missing: NotFound,
        recorder: &mut Recorder<'_>,
        attempt: u32,
        began: Duration,
    ) -> Tried {
        if missing.scene.is_some() {
            self.scene = missing.scene;
        }
        self.renamed = missing.renamed;
        let result = BrowserResult {
            verdict: missing
                .judged
                .as_ref()
                .map(|judged| judged.told.word.clone()),
            error: Some(step_error(&missing.failure)),
            is_retryable: true,
            duration_ms: Some(milliseconds(recorder.clock().now().saturating_sub(began))),
            ..BrowserResult::default()
        };
        for event in browser_result(self.step, attempt, &result) {
            recorder.record(event);
        }
        Tried {
            outcome: Err(missing.failure),
            judged: missing.judged,
            is_interrupted: false,
        }
    }

    /// Keeps what the page is before the step: a picture with the target on it, and its text.
    async fn look_at<S: Stage + PageInspector>(
        &mut self,
        stage: &mut S,
        found: Option<(&Arc<PageState>, cuecard_page::dom::NodeId)>,
    ) {
        if let Some((scene, _)) = found {
            self.scene = Some(Arc::clone(scene));
        }
        if !self.replay.is_pictured {
            return;
        }
        if self.scene.is_none() {
            // A page that can't be looked at is no reason not to play the step: the step says what is wrong.
            self.scene = stage.look().await.ok();
        }
        let Some(scene) = &self.scene else { return };
        let target = found.and_then(|(scene, id)| place_of(&scene.state, id));
        let size = scene.state.page.viewport;
        if let Some(png) = stage.screenshot().await {
            self.told.picture = Some(Picture { png, size, target });
        }
    }

    #[allow(clippy::too_many_arguments, reason = "each is a part of one attempt")]
    async fn perform<S: Stage + PageInspector>(
        &mut self,
        stage: &mut S,
        recorder: &mut Recorder<'_>,
        attempt: u32,
        (aim, to, judged): (Option<ActionTarget>, Option<ActionTarget>, Option<Judged>),
        limits: Limits,
        began: Duration,
        stop: &CancellationToken,
    ) -> Tried {
        let intent = intent(self.step);
        let deed = StageAction {
            step: &intent,
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
        let outcome = tokio::select! {
            biased;
            outcome = stage.perform(&deed, &mut targets) => Some(outcome),
            () = stop.cancelled() => None,
        };
        let Some(outcome) = outcome else {
            return Tried::interrupted();
        };
        let judged = judged.or(targets.judged);
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
        let observed = match &outcome {
            Ok(performed) => performed.outcome.observed.clone(),
            Err(_) => Observed::default(),
        };
        let healed = self.healed.first().filter(|_| outcome.is_ok());
        let result = BrowserResult {
            verdict: judged.as_ref().map(|judged| judged.told.word.clone()),
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
        Tried {
            outcome,
            judged,
            is_interrupted: false,
        }
    }

    async fn finish<S: Stage + PageInspector>(
        mut self,
        stage: &mut S,
        recorder: &mut Recorder<'_>,
        tried: Tried,
        attempts: Vec<Attempt>,
        started: Duration,
        clock: Clock,
    ) -> Ended {
        let failure = tried.outcome.err();
        let status = match (&failure, tried.is_interrupted) {
            (_, true) => StepStatus::Unknown,
            (None, false) => StepStatus::Passed,
            (Some(failure), false) if self.step.optional && !failure.is_final() => {
                StepStatus::Tolerated
            }
            (Some(_), false) => StepStatus::Failed,
        };
        if let Some(judged) = tried.judged {
            self.told.candidates = judged.candidates;
            self.told.verdict = Some(judged.told);
        }
        let mut screenshots = Vec::new();
        if status == StepStatus::Failed {
            let page = self.page_text();
            let kept = evidence::keep(self.replay, stage, self.place, page.as_deref()).await;
            if let Some(kept) = kept {
                if self.told.picture.is_none()
                    && let (Some(scene), Some(png)) = (&self.scene, kept.png)
                {
                    self.told.picture = Some(Picture {
                        png,
                        size: scene.state.page.viewport,
                        target: None,
                    });
                }
                screenshots = kept.files;
                recorder.record(kept.event);
            }
        } else if self.replay.keeps_each
            && !tried.is_interrupted
            && let Some(kept) = evidence::keep_after(self.replay, stage, self.place).await
        {
            let size = self.scene.as_ref().map(|scene| scene.state.page.viewport);
            let picture = |(png, size)| Picture {
                png,
                size,
                target: None,
            };
            self.told.after = kept.png.zip(size).map(picture);
            screenshots = kept.files;
            recorder.record(kept.event);
        }
        self.tell_page(stage);
        let mut healed = self.healed;
        healed.retain(|_| status == StepStatus::Passed);
        let renamed = self.renamed.filter(|_| status != StepStatus::Passed);
        let error = failure.as_ref().filter(|_| !tried.is_interrupted);
        let finished = StepFinished {
            step: self.told.number,
            id: Some(self.step.id.clone()),
            tool: browser_tool(self.step.action),
            description: Some(self.step.description.clone()),
            status,
            duration_ms: milliseconds(clock.now().saturating_sub(started)),
            attempts,
            error: error.map(step_error),
            skipped_by: None,
            healed: healed.first().map(|healed| healed.reason.clone()),
            outputs: serde_json::Map::new(),
            restored: None,
            element: None,
            elements: None,
        };
        self.told.status = Some(status);
        self.told.ms = Some(finished.duration_ms);
        self.told.error.clone_from(&finished.error);
        recorder.record(EventData::StepFinished(finished));
        Ended {
            status,
            failure,
            healed,
            renamed,
            told: self.told,
            screenshots,
            is_interrupted: tried.is_interrupted,
        }
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

    fn tell_page<S: Stage + PageInspector>(&mut self, stage: &mut S) {
        let complaints = stage.complaints();
        self.told.console = complaints.console;
        self.told.requests = complaints.requests;
        if let Some(scene) = &self.scene {
            self.told.url.clone_from(&scene.state.page.url);
            self.told.title.clone_from(&scene.state.page.title);
        }
        if self.replay.is_pictured {
            self.told.page = self.page_text().unwrap_or_default();
        }
    }
}

impl Tried {
    fn interrupted() -> Self {
        Self {
            outcome: Err(Failure {
                message: "interrupted".to_owned(),
                has_acted: true,
                ..Failure::default()
            }),
            judged: None,
            is_interrupted: true,
        }
    }
}
