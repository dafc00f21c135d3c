//! The state machine. A player polls it for effects, carries them out, and tells it what came of them.

mod iteration;
mod retry;
mod summary;

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use self::iteration::Iteration;
pub use self::summary::{Summary, Verdict};
use super::page_check::wanted;
use super::resolve::{Left, Resolver};
use super::{Bindings, Failure, FailureKind, ReadyAnswers, results};
use crate::model::{
    OnError, Parse, RetryThen, Step, Target, TargetParam, Template, ToolCallScenario, ToolName,
};
use cuecard_page::Wanted;
use cuecard_source::Span;
use cuecard_source::decode::Spanned;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::{Json, Value};
use cuecard_trace::{
    Attempt, EventData, Restored, StepError, StepFinished, StepStarted, StepStatus,
};

/// A wait that a scenario asks for is at most this long: a day.
const MAX_WAIT: f64 = 86_400.0;

/// What the user chose for a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Numbers of the steps that are played.
    pub range: RangeInclusive<u64>,
    /// What scripted delays are multiplied by: 0.5 is faster, 0 doesn't wait.
    pub speed: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            range: 0..=u64::MAX,
            speed: 1.0,
        }
    }
}

/// What the player is to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Write this into the trace; it happened at this time.
    Record(Duration, EventData),
    /// Bring what is recorded to the disk.
    Commit,
    /// Call these tools: one, or those of a group together.
    Call(Vec<CallRequest>),
    /// Say [`Script::returned`] for the first of the calls that are out.
    Await,
    /// Poll again when the clock shows this.
    WaitUntil(Duration),
    /// The run is over.
    Finished(Verdict),
}

/// A call to make.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRequest {
    /// Number of the step.
    pub step: u64,
    /// Id of the call in the trace.
    pub call_id: Arc<str>,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// The tool.
    pub tool: ToolName,
    /// Its parameters: an object. Shared with the step, which may call again.
    pub params: Arc<Value>,
    /// The elements of a page that the call is about, to be found before it.
    pub targets: Arc<[ElementTarget]>,
    /// The step's own timeout, which caps every other.
    pub timeout: Option<Duration>,
    /// How the answer's text becomes a value.
    pub parse: Parse,
    /// What servers are answered that ask something meanwhile.
    pub answers: Arc<ReadyAnswers>,
}

/// An element of a page: what is given must hold for exactly one. All of it is data, wherever it came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElementTarget {
    /// The parameter that gets what the server knows it by; the tool's own if absent.
    pub param: Option<TargetParam>,
    /// A CSS selector.
    pub selector: Option<String>,
    /// What else it is.
    pub wanted: Wanted,
    /// Where the target stands.
    pub span: Span,
}

/// `call_STEP_ATTEMPT` or `call_STEP.ELEMENT_ATTEMPT`; every call needs one.
fn call_id(step: u64, element: Option<u64>, attempt: u32) -> Arc<str> {
    let (mut first, mut second) = (itoa::Buffer::new(), itoa::Buffer::new());
    let element = element.map_or(String::new(), |index| format!(".{index}"));
    let parts = [
        "call_",
        first.format(step),
        &element,
        "_",
        second.format(attempt),
    ];
    parts.concat().into()
}

/// The number of the step that made the call with this id.
pub fn step_of_call(call_id: &str) -> Option<u64> {
    let number = call_id.strip_prefix("call_")?.split(['.', '_']).next()?;
    number.parse().ok()
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    /// The tool's result.
    Returned(Arc<Json>),
    /// Why there is none.
    Failed(Box<Failure>),
}

/// A running scenario.
#[derive(Debug)]
pub struct Script {
    scenario: Arc<ToolCallScenario>,
    resolver: Resolver,
    options: Options,
    effects: VecDeque<Effect>,
    /// The steps whose calls are out, in the order of their calls.
    calling: VecDeque<Current>,
    /// The steps that are to be called, as soon as nothing is out.
    due: Vec<Current>,
    /// The next step begins at this time, if it has come.
    pause_end: Duration,
    /// Steps of a group that ended without a call, and when: they are recorded behind those before them.
    held: VecDeque<(Duration, StepFinished)>,
    /// How the run ends, as soon as nothing is under way.
    verdict: Option<Verdict>,
    /// The steps that an earlier run has done, in play order, and the first elements of the next.
    restored: VecDeque<StepFinished>,
    /// The step with `for_each` that is under way.
    iteration: Option<Iteration>,
    next_idx: usize,
    end_idx: usize,
    /// The first step that ended and is to be played again.
    unfinished: Option<u64>,
    summary: Summary,
    failure: Option<Diagnostic>,
    /// For the calls of a scenario that answers nothing.
    no_answers: Arc<ReadyAnswers>,
}

/// A step under way.
#[derive(Debug)]
struct Current {
    idx: usize,
    description: Option<String>,
    params: Arc<Value>,
    targets: Arc<[ElementTarget]>,
    started: Duration,
    call_started: Duration,
    attempts: Vec<Attempt>,
    /// When the next call may be made, and why it is another one.
    due: Duration,
    failure: Option<Failure>,
    /// How long `wait_after` asks to wait, once the step ran.
    pause: Option<Duration>,
}

impl Current {
    fn new(idx: usize, now: Duration) -> Self {
        Self {
            idx,
            description: None,
            params: Arc::default(),
            targets: Arc::default(),
            started: now,
            call_started: now,
            attempts: Vec::new(),
            due: now,
            failure: None,
            pause: None,
        }
    }

    /// Notes that the call under way is over, and why it is no success.
    fn end_attempt(&mut self, took: Duration, error: Option<String>) {
        let attempt = u32::try_from(self.attempts.len() + 1).unwrap_or(u32::MAX);
        self.attempts.push(Attempt {
            attempt,
            started_ms: milliseconds(self.call_started),
            duration_ms: milliseconds(took),
            error,
        });
    }
}

impl Script {
    /// A script at its start.
    pub fn new(scenario: Arc<ToolCallScenario>, bindings: Bindings, options: Options) -> Self {
        let first = scenario
            .steps
            .partition_point(|step| step.number < *options.range.start());
        let total = scenario.steps_in(&options.range).len();
        Self {
            resolver: Resolver::new(scenario.clone(), bindings),
            options,
            effects: VecDeque::new(),
            calling: VecDeque::new(),
            due: Vec::new(),
            pause_end: Duration::ZERO,
            held: VecDeque::new(),
            verdict: None,
            restored: VecDeque::new(),
            iteration: None,
            next_idx: first,
            end_idx: first + total,
            unfinished: None,
            summary: Summary {
                total,
                ..Summary::default()
            },
            failure: None,
            no_answers: Arc::default(),
            scenario,
        }
    }

    /// Says how an earlier run ended steps, in play order, and the first elements of the next: they are not played.
    pub fn restore(&mut self, done: Vec<StepFinished>) {
        self.restored = done.into();
    }

    /// The number of the first step that is not done.
    pub fn unfinished(&self) -> Option<u64> {
        let next = self.scenario.steps[..self.end_idx].get(self.next_idx);
        self.unfinished.or(next.map(|step| step.number))
    }

    /// Counts so far.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// Whether every step of the scenario is in range.
    pub fn is_whole(&self) -> bool {
        self.summary.total == self.scenario.steps.len()
    }

    /// Why the run failed, with its place in the scenario.
    pub fn failure(&self) -> Option<&Diagnostic> {
        self.failure.as_ref()
    }

    /// What to do now.
    pub fn poll(&mut self, now: Duration) -> Effect {
        loop {
            if let Some(effect) = self.effects.pop_front() {
                return effect;
            }
            if !self.calling.is_empty() {
                return Effect::Await;
            }
            if let Some(first) = self.due.iter().map(|current| current.due).min() {
                match first <= now {
                    true => self.call(now),
                    false => return Effect::WaitUntil(first),
                }
                continue;
            }
            if let Some(verdict) = self.verdict {
                return Effect::Finished(verdict);
            }
            if now < self.pause_end {
                return Effect::WaitUntil(self.pause_end);
            }
            self.begin_next(now);
        }
    }

    /// What came of the first of the calls that are out, at its end.
    pub fn returned(&mut self, ended: Duration, outcome: CallOutcome) {
        let Some(mut current) = self.calling.pop_front() else {
            return;
        };
        let scenario = self.scenario.clone();
        let step = &scenario.steps[current.idx];
        let took = ended.saturating_sub(current.call_started);
        let checked = match outcome {
            CallOutcome::Failed(failure) => Err(*failure),
            CallOutcome::Returned(result) => {
                let effects = &mut self.effects;
                results::expectations(step, &self.resolver, &result, took, &mut |assertion| {
                    let assertion = EventData::Assertion(assertion);
                    effects.push_back(Effect::Record(ended, assertion));
                })
                .map(|()| result)
            }
        };
        let error = checked.as_ref().err();
        current.end_attempt(took, error.map(|failure| failure.message.clone()));
        match checked.and_then(|result| results::outputs(step, &result)) {
            Ok(outputs) => self.passed(ended, current, step, outputs),
            Err(failure) => match self.retry_at(ended, step, &current, &failure) {
                Ok(Some(due)) => {
                    let failure = Some(failure);
                    self.due.push(Current {
                        due,
                        failure,
                        ..current
                    });
                }
                Ok(None) => self.failed(ended, current, step, failure),
                Err(mut rule) => {
                    rule.notes
                        .push(format!("the call itself failed with: {}", failure.message));
                    self.failed(ended, current, step, rule);
                }
            },
        }
    }

    /// What came of the call of this step, although others before it are out.
    pub fn returned_early(&mut self, step: u64, ended: Duration, outcome: CallOutcome) {
        let mut out = self.calling.iter();
        let at = out.position(|current| self.scenario.steps[current.idx].number == step);
        if let Some(current) = at.and_then(|at| self.calling.remove(at)) {
            self.calling.push_front(current);
            self.returned(ended, outcome);
        }
    }

    /// Somebody stopped the run. Steps under way are reported as unknown, since they may have had an effect.
    pub fn interrupt(&mut self, now: Duration) {
        let is_under_way = !self.calling.is_empty() || !self.due.is_empty();
        if self.verdict.is_some() && !is_under_way {
            return;
        }
        self.verdict = Some(Verdict::Interrupted);
        for mut current in std::mem::take(&mut self.calling) {
            let took = now.saturating_sub(current.call_started);
            current.end_attempt(took, Some("interrupted before it returned".to_owned()));
            self.due.push(current);
        }
        self.due.sort_by_key(|current| current.idx);
        while !self.due.is_empty() {
            let current = self.due.remove(0);
            self.end(now, current, StepStatus::Unknown, |_| {});
        }
        // Between two elements.
        self.end_iteration(now);
    }

    /// Begins the next step, with those of its group, or the next element.
    fn begin_next(&mut self, now: Duration) {
        let scenario = self.scenario.clone();
        if let Some(iteration) = &mut self.iteration {
            let idx = iteration.idx;
            self.resolver.element = iteration.next().map(|element| (idx, element));
            self.begin(now, idx, &scenario.steps[idx]);
            return;
        }
        let steps = &scenario.steps[self.next_idx..self.end_idx];
        let Some(first) = steps.first() else {
            self.verdict = Some(Verdict::Passed);
            return;
        };
        let rest = steps.iter().skip(1);
        let n_grouped = rest.take_while(|step| step.is_grouped_with(first)).count();
        let first = self.next_idx;
        self.next_idx += n_grouped + 1;
        for idx in first..self.next_idx {
            self.begin_step(now, idx, &scenario.steps[idx]);
        }
    }

    fn begin_step(&mut self, now: Duration, idx: usize, step: &Step) {
        let is_done = |it: &mut StepFinished| it.step == step.number && it.element.is_none();
        if let Some(mut finished) = self.restored.pop_front_if(is_done) {
            self.summary.restored += 1;
            finished.restored.get_or_insert(Restored::Done);
            self.end_step(now, idx, finished);
            return;
        }
        match &step.for_each {
            None => self.begin(now, idx, step),
            Some(for_each) => self.begin_iteration(now, idx, for_each),
        }
    }

    /// Begins a step, or the element that is bound.
    fn begin(&mut self, now: Duration, idx: usize, step: &Step) {
        let element = self.element_index();
        let is_done = |it: &mut StepFinished| it.step == step.number && it.element == element;
        if let Some(mut finished) = self.restored.pop_front_if(is_done) {
            finished.restored.get_or_insert(Restored::Done);
            finished.elements = self.iteration.as_ref().map(Iteration::count);
            self.end_element(now, finished);
            return;
        }
        let mut current = Current::new(idx, now);
        let template = step.description.as_ref();
        current.description = template.and_then(|template| self.describe(template));
        let condition = step.condition.as_deref().map(
            |Spanned {
                 value: condition,
                 span,
             }| {
                self.resolver
                    .holds(condition)
                    .map_err(|failure| match failure.span {
                        Some(_) => failure,
                        None => failure.at(*span),
                    })
            },
        );
        match condition {
            Some(Ok(false)) => self.skipped(now, current, step),
            Some(Err(failure)) => self.failed(now, current, step, failure),
            // What can't be resolved is found before the call, which may have an effect.
            None | Some(Ok(true)) => match self
                .arguments(step)
                .and_then(|arguments| Ok((arguments, self.pause_after(step)?)))
            {
                Ok(((params, targets), pause)) => {
                    let elements = self.iteration.as_ref().map(Iteration::count);
                    let started = self.started(step, current.description.clone(), elements);
                    let started = match element {
                        Some(_) => EventData::ElementStarted(started),
                        None => EventData::StepStarted(started),
                    };
                    self.record(now, started);
                    self.commit(step);
                    self.due.push(Current {
                        params: Arc::new(params),
                        targets,
                        pause,
                        ..current
                    });
                }
                Err(failure) => self.failed(now, current, step, failure),
            },
        }
    }

    /// The index of the element that the step runs for.
    fn element_index(&self) -> Option<u64> {
        let (_, element) = self.resolver.element.as_ref()?;
        element.index.as_u64()
    }

    fn started(
        &self,
        step: &Step,
        description: Option<String>,
        elements: Option<u64>,
    ) -> StepStarted {
        StepStarted {
            step: step.number,
            id: step.id.clone(),
            tool: step.tool.text(),
            description,
            element: self.element_index(),
            elements,
        }
    }

    fn record(&mut self, at: Duration, data: EventData) {
        self.effects.push_back(Effect::Record(at, data));
    }

    /// Brings what is recorded to the disk, if the step has an effect that must not happen twice.
    fn commit(&mut self, step: &Step) {
        if step.effect.is_some() {
            self.effects.push_back(Effect::Commit);
        }
    }

    /// Records the end of a step or an element that was played, with what `complete` adds.
    fn end(
        &mut self,
        now: Duration,
        current: Current,
        status: StepStatus,
        complete: impl FnOnce(&mut StepFinished),
    ) {
        let idx = current.idx;
        let mut finished = finished(now, current, &self.scenario, status);
        finished.element = self.element_index();
        finished.elements = self.iteration.as_ref().map(Iteration::count);
        complete(&mut finished);
        match finished.element {
            Some(_) => self.end_element(now, finished),
            None => self.end_step(now, idx, finished),
        }
    }

    /// Counts a step that ended, leaves behind what it leaves for references, and records it.
    fn end_step(&mut self, now: Duration, idx: usize, finished: StepFinished) {
        let scenario = self.scenario.clone();
        let step = &scenario.steps[idx];
        if matches!(finished.status, StepStatus::Failed | StepStatus::Unknown) {
            let before = self.unfinished.unwrap_or(step.number);
            self.unfinished = Some(before.min(step.number));
        }
        let count = match finished.status {
            StepStatus::Passed => &mut self.summary.passed,
            StepStatus::Tolerated => &mut self.summary.tolerated,
            StepStatus::Skipped => &mut self.summary.skipped,
            StepStatus::Failed => &mut self.summary.failed,
            StepStatus::Unknown => &mut self.summary.unknown,
        };
        *count += 1;
        let left = match finished.status {
            StepStatus::Skipped if finished.elements.is_none() => Left::Skipped,
            StepStatus::Tolerated if finished.elements.is_none() => Left::Tolerated,
            _ => {
                let output = |name: &String| finished.outputs.get(name).cloned();
                Left::Outputs(step.outputs.iter().map(|rule| output(&rule.name)).collect())
            }
        };
        self.resolver.leave(idx, left);
        if finished.attempts.is_empty() && self.waits_for_others(step.number) {
            self.held.push_back((now, finished));
            return;
        }
        let is_played = finished.restored.is_none();
        self.record(now, EventData::StepFinished(finished));
        if is_played {
            self.commit(step);
        }
        while let Some((_, next)) = self.held.front()
            && !self.waits_for_others(next.step)
        {
            let held = self.held.pop_front();
            self.effects
                .extend(held.map(|(at, next)| Effect::Record(at, EventData::StepFinished(next))));
        }
    }

    /// Whether a step of the same group is under way and stands before this one.
    fn waits_for_others(&self, number: u64) -> bool {
        let mut under_way = self.calling.iter().chain(&self.due);
        under_way.any(|current| self.scenario.steps[current.idx].number < number)
    }

    /// What a step calls its tool with.
    fn arguments(&self, step: &Step) -> Result<(Value, Arc<[ElementTarget]>), Failure> {
        let params = self.resolver.value(&step.params)?;
        if step.target.is_none() && step.targets.is_empty() {
            return Ok((params, Arc::default()));
        }
        let own = step.target.as_deref().map(|target| (None, target));
        let named = step.targets.iter();
        let named = named.map(|named| (Some(named.param.clone()), &named.target));
        let targets = own
            .into_iter()
            .chain(named)
            .map(|(param, target)| self.element(param, target))
            .collect::<Result<Vec<_>, _>>()?;
        Ok((params, targets.into()))
    }

    fn element(
        &self,
        param: Option<TargetParam>,
        target: &Target,
    ) -> Result<ElementTarget, Failure> {
        let selector = target.selector.as_ref();
        Ok(ElementTarget {
            param,
            selector: selector
                .map(|template| self.resolver.text(template))
                .transpose()?,
            wanted: wanted(target, &self.resolver)?,
            span: target.span,
        })
    }

    /// A description is for people: one that can't be filled in is shown as far as it goes.
    fn describe(&self, template: &Template) -> Option<String> {
        self.resolver.text(template).ok()
    }

    /// Calls the steps whose time has come.
    fn call(&mut self, now: Duration) {
        let answers = match self.scenario.answers.is_empty() {
            true => self.no_answers.clone(),
            false => Arc::new(ReadyAnswers::resolve(
                &self.scenario.answers,
                &self.resolver,
            )),
        };
        let scenario = self.scenario.clone();
        let mut requests = Vec::new();
        for mut current in std::mem::take(&mut self.due) {
            if now < current.due {
                self.due.push(current);
                continue;
            }
            let step = &scenario.steps[current.idx];
            if let Some(failure) = current.failure.take() {
                // It waited for the others of its group.
                if self.is_too_late(now, step, &current).unwrap_or_default() {
                    self.failed(now, current, step, failure);
                    continue;
                }
                self.summary.retries += 1;
            }
            let attempt = u32::try_from(current.attempts.len() + 1).unwrap_or(u32::MAX);
            current.call_started = now;
            self.summary.calls += 1;
            requests.push(CallRequest {
                step: step.number,
                call_id: call_id(step.number, self.element_index(), attempt),
                attempt,
                tool: step.tool.clone(),
                params: current.params.clone(),
                targets: current.targets.clone(),
                timeout: step.timeout,
                parse: step.parse,
                answers: answers.clone(),
            });
            self.calling.push_back(current);
        }
        if !requests.is_empty() {
            self.effects.push_back(Effect::Call(requests));
        }
    }

    fn skipped(&mut self, now: Duration, current: Current, step: &Step) {
        let condition = step.condition.as_deref().map(|Spanned { span, .. }| {
            let written = self.scenario.source.slice(*span);
            serde_json::from_str(written).unwrap_or_else(|_| written.to_owned())
        });
        self.end(now, current, StepStatus::Skipped, |finished| {
            finished.skipped_by = condition;
        });
    }

    fn passed(&mut self, now: Duration, current: Current, step: &Step, outputs: Vec<Option<Json>>) {
        let pause = current.pause;
        let named = step.outputs.iter().zip(outputs);
        self.end(now, current, StepStatus::Passed, |finished| {
            finished.outputs = named
                .filter_map(|(rule, value)| Some((rule.name.clone(), value?)))
                .collect();
        });
        self.pause(now, pause);
    }

    fn failed(&mut self, now: Duration, current: Current, step: &Step, mut failure: Failure) {
        let tolerated = !failure.kind.is_blocking()
            && match step.on_error {
                OnError::Stop => false,
                OnError::Skip => true,
                OnError::Retry => {
                    step.retry_rule().then == RetryThen::Skip
                        && self.is_retried(step, &failure).unwrap_or(false)
                }
            };
        failure.notes.extend(self.why_not_retried(step, &failure));
        failure.notes.extend(self.resolver.explain(&step.params, 5));
        for template in step.all_targets().flat_map(Target::templates) {
            failure.notes.extend(self.resolver.explain(template, 5));
        }
        let status = if tolerated {
            StepStatus::Tolerated
        } else {
            StepStatus::Failed
        };
        let pause = current.pause;
        let mut label = None;
        self.end(now, current, status, |finished| {
            label = finished.element_label();
            finished.error = Some(StepError {
                code: failure.kind.code().name().to_owned(),
                error_type: failure.kind.as_str().to_owned(),
                message: failure.message.clone(),
                notes: failure.notes.clone(),
                help: failure.help.clone(),
            });
        });
        if tolerated {
            self.pause(now, pause);
            return;
        }
        if self.failure.is_some() {
            // The first step of a group that failed says why the run did; its others have their own errors.
            return;
        }
        if let Some(label) = label {
            failure.message = format!("{label}: {}", failure.message);
        }
        self.failure = Some(failure.to_diagnostic(step, &self.scenario.source));
        self.verdict = Some(if failure.kind.is_blocking() {
            Verdict::Blocked
        } else {
            Verdict::Failed
        });
    }

    /// Returns how long `wait_after` asks to wait: after a step that ran and lets the run go on, but not after the last.
    fn pause_after(&self, step: &Step) -> Result<Option<Duration>, Failure> {
        let is_last_element = self.iteration.as_ref().is_none_or(Iteration::is_last);
        let is_last = self.next_idx >= self.end_idx && is_last_element;
        let Some(template) = step.wait_after.as_ref().filter(|_| !is_last) else {
            return Ok(None);
        };
        let seconds = self.resolver.number(template, "wait_after", MAX_WAIT)?;
        let scaled = (seconds.min(MAX_WAIT) * self.options.speed).max(0.0);
        Ok(Some(
            Duration::try_from_secs_f64(scaled).unwrap_or_default(),
        ))
    }

    /// The next step waits for the longest pause of those before it.
    fn pause(&mut self, now: Duration, pause: Option<Duration>) {
        self.pause_end = self.pause_end.max(now + pause.unwrap_or_default());
    }
}

fn finished(
    now: Duration,
    current: Current,
    scenario: &ToolCallScenario,
    status: StepStatus,
) -> StepFinished {
    let step = &scenario.steps[current.idx];
    StepFinished {
        step: step.number,
        id: step.id.clone(),
        tool: step.tool.text(),
        description: current.description,
        status,
        duration_ms: milliseconds(now.saturating_sub(current.started)),
        attempts: current.attempts,
        error: None,
        skipped_by: None,
        group: step.group.as_deref().map(str::to_owned),
        healed: None,
        outputs: serde_json::Map::new(),
        restored: None,
        element: None,
        elements: None,
    }
}

/// To the microsecond.
fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

impl From<Failure> for CallOutcome {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

impl CallOutcome {
    /// A failure of this kind.
    pub fn failed(kind: FailureKind, message: impl Into<String>) -> Self {
        Failure::new(kind, message).into()
    }
}
