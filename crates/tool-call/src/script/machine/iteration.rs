//! A step with `for_each`: its list, and what came of the elements so far.

use std::sync::Arc;
use std::time::Duration;

use super::super::resolve::{Element, Resolver};
use super::super::{Failure, FailureKind};
use super::{Current, Script, finished, milliseconds};
use crate::model::{ForEach, MAX_ELEMENTS, Step};
use cuecard_source::value::{Json, Origin, Value, kind_name};
use cuecard_trace::{EventData, StepError, StepFinished, StepStatus};

/// A step with `for_each` under way.
#[derive(Debug)]
pub(super) struct Iteration {
    /// The place of the step.
    pub(super) idx: usize,
    /// When the step began.
    pub(super) started: Duration,
    elements: std::vec::IntoIter<Element>,
    n_failed: usize,
    /// The end of the step, as far as it is known.
    whole: StepFinished,
}

impl Iteration {
    /// The iteration over `elements`, whose end is to be `whole`.
    pub(super) fn new(
        (idx, step): (usize, &Step),
        started: Duration,
        elements: Vec<Element>,
        whole: StepFinished,
    ) -> Self {
        let no_values = |name: &String| (name.clone(), Json::Array(Vec::new()));
        let names = step.outputs.iter().map(|rule| &rule.name);
        Self {
            idx,
            started,
            n_failed: 0,
            whole: StepFinished {
                elements: Some(elements.len() as u64),
                outputs: names.map(no_values).collect(),
                ..whole
            },
            elements: elements.into_iter(),
        }
    }

    /// How many elements the list has.
    pub(super) fn count(&self) -> u64 {
        self.whole.elements.unwrap_or_default()
    }

    /// Whether no element is left.
    pub(super) fn is_last(&self) -> bool {
        self.elements.len() == 0
    }

    /// The next element.
    pub(super) fn next(&mut self) -> Option<Element> {
        self.elements.next()
    }

    /// Takes note of the end of an element. Each that lets the run go on has its place in the outputs.
    pub(super) fn add(&mut self, finished: &StepFinished) {
        use StepStatus::{Failed, Passed, Skipped, Tolerated, Unknown};
        self.n_failed += usize::from(matches!(finished.status, Failed | Tolerated));
        if let (Some(error), Some(label)) = (&finished.error, finished.element_label())
            && (self.whole.error.is_none() || finished.status == Failed)
        {
            self.whole.error = Some(StepError {
                message: format!("{label}: {}", error.message),
                ..error.clone()
            });
        }
        self.whole.status = match (self.whole.status, finished.status) {
            (_, Failed | Unknown) => finished.status,
            (Tolerated, _) | (_, Tolerated) => Tolerated,
            (Passed, _) | (_, Passed) => Passed,
            _ => Skipped,
        };
        self.whole.skipped_by.clone_from(&finished.skipped_by);
        if !matches!(finished.status, Failed | Unknown) {
            for (name, values) in &mut self.whole.outputs {
                if let Json::Array(values) = values {
                    values.push(finished.outputs.get(name).cloned().unwrap_or_default());
                }
            }
        }
    }

    /// Returns the end of the step, `duration_ms` after its start; unknown if it ends between two elements.
    pub(super) fn finish(mut self, duration_ms: f64) -> StepFinished {
        let has_stopped = self.whole.status == StepStatus::Failed;
        if !self.is_last() && !has_stopped {
            self.whole.status = StepStatus::Unknown;
        }
        if self.whole.status != StepStatus::Skipped {
            self.whole.skipped_by = None;
        }
        if let Some(error) = self.whole.error.as_mut().filter(|_| self.n_failed > 1) {
            let count = self.whole.elements.unwrap_or_default();
            let note = format!("{} of {count} elements failed", self.n_failed);
            error.notes.push(note);
        }
        self.whole.duration_ms = duration_ms;
        self.whole
    }
}

impl Script {
    /// Begins with the elements of a step, which follow one by one.
    pub(super) fn begin_iteration(&mut self, now: Duration, idx: usize, for_each: &ForEach) {
        let scenario = self.scenario.clone();
        let step = &scenario.steps[idx];
        let mut current = Current::new(idx, now);
        let described = |template| self.resolver.known_text(template);
        current.description = step.description.as_ref().map(described);
        match elements(&self.resolver, for_each) {
            Ok(elements) => {
                let description = current.description.clone();
                let whole = finished(now, current, &scenario, StepStatus::Skipped);
                let iteration = Iteration::new((idx, step), now, elements, whole);
                if iteration.count() > 0 {
                    let started = self.started(step, description, Some(iteration.count()));
                    self.record(now, EventData::StepStarted(started));
                }
                self.iteration = Some(iteration);
                self.end_iteration_if_over(now);
            }
            Err(failure) => self.failed(now, current, step, failure),
        }
    }

    /// Records the end of the element under way; that of the step follows if the element is its last or ends the run.
    pub(super) fn end_element(&mut self, now: Duration, finished: StepFinished) {
        self.resolver.element = None;
        let Some(iteration) = &mut self.iteration else {
            return;
        };
        iteration.add(&finished);
        let is_stopped = matches!(finished.status, StepStatus::Failed | StepStatus::Unknown);
        let idx = iteration.idx;
        self.record(now, EventData::ElementFinished(finished));
        let scenario = self.scenario.clone();
        self.commit(&scenario.steps[idx]);
        self.summary.elements += usize::from(!is_stopped);
        match is_stopped {
            true => self.end_iteration(now),
            false => self.end_iteration_if_over(now),
        }
    }

    fn end_iteration_if_over(&mut self, now: Duration) {
        if self.iteration.as_ref().is_some_and(Iteration::is_last) {
            self.end_iteration(now);
        }
    }

    /// Ends the step with `for_each` that is under way, if any.
    pub(super) fn end_iteration(&mut self, now: Duration) {
        if let Some(iteration) = self.iteration.take() {
            let took = milliseconds(now.saturating_sub(iteration.started));
            self.end_step(now, iteration.idx, iteration.finish(took));
        }
    }
}

/// The elements of the list of `for_each`. Each is data if a part of it is.
///
/// # Errors
/// If the list can't be resolved, is no array, or is too long.
fn elements(resolver: &Resolver, for_each: &ForEach) -> Result<Vec<Element>, Failure> {
    let failure =
        |message: String| Failure::new(FailureKind::BadParameters, message).at(for_each.span);
    let Value { json, marks } = resolver.value(&for_each.list)?;
    let items = match Arc::unwrap_or_clone(json) {
        Json::Array(items) if items.len() <= MAX_ELEMENTS => items,
        Json::Array(items) => {
            let count = items.len();
            return Err(failure(format!(
                "`for_each` has {count} elements, more than the limit of {MAX_ELEMENTS}"
            )));
        }
        other => {
            let kind = kind_name(&other);
            let failure = failure(format!("`for_each` must be an array, not {kind}"));
            return Err(match other {
                Json::String(_) => failure.with_help(
                    "an output gives an array with a path such as `$.items`; a variable gets one from `--var-json`",
                ),
                _ => failure,
            });
        }
    };
    let mut origins = vec![Origin::Author; items.len()];
    for mark in marks {
        let index = mark.pointer.split('/').nth(1);
        let index = index.and_then(|index| index.parse::<usize>().ok());
        let marked = match index {
            Some(index) => origins.get_mut(index..=index),
            None => origins.get_mut(..),
        };
        for origin in marked.into_iter().flatten() {
            if origin.is_trusted() {
                *origin = mark.origin;
            }
        }
    }
    let elements = items.into_iter().zip(origins).enumerate();
    Ok(elements
        .map(|(index, (value, origin))| Element {
            value,
            origin,
            index: index.into(),
        })
        .collect())
}
