//! When a failed call is made again.

use std::time::Duration;

use super::super::Failure;
use super::{Current, MAX_WAIT, Script, milliseconds};
use crate::model::{Backoff, OnError, Step};
use cuecard_source::value::cut;

/// The longest wait between two attempts.
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// The most calls after the first one that a step is retried by.
const MOST_RETRIES: f64 = 1000.0;

impl Script {
    /// Whether the retry rule is meant for this failure.
    pub(super) fn is_retried(&self, step: &Step, failure: &Failure) -> Result<bool, Failure> {
        if step.on_error != OnError::Retry || !failure.kind.is_retryable() {
            return Ok(false);
        }
        let wanted = self.retry_condition(step)?;
        let mut said = failure.notes.iter().chain([&failure.message]);
        let is_meant = said.any(|said| wanted.iter().any(|text| said.contains(text)));
        Ok(wanted.is_empty() || is_meant)
    }

    /// The texts of which an error must contain one to be retried.
    fn retry_condition(&self, step: &Step) -> Result<Vec<String>, Failure> {
        let texts = step.retry_rule().condition.iter();
        texts.map(|template| self.resolver.text(template)).collect()
    }

    /// Says that an error is not one of those that the retry rule is for.
    pub(super) fn why_not_retried(&self, step: &Step, failure: &Failure) -> Option<String> {
        let is_meant = self.is_retried(step, failure).ok()?;
        if is_meant || step.on_error != OnError::Retry || !failure.kind.is_retryable() {
            return None;
        }
        let wanted = self.retry_condition(step).ok()?;
        let wanted: Vec<String> = wanted
            .iter()
            .map(|text| format!("`{}`", cut(text, 100)))
            .collect();
        let wanted = wanted.join(" or ");
        Some(format!("not retried: the error doesn't contain {wanted}"))
    }

    /// When to call again, or `None` if that was the last attempt.
    pub(super) fn retry_at(
        &self,
        now: Duration,
        step: &Step,
        current: &Current,
        failure: &Failure,
    ) -> Result<Option<Duration>, Failure> {
        let attempt = u32::try_from(current.attempts.len()).unwrap_or(u32::MAX);
        if !self.is_retried(step, failure)?
            || f64::from(attempt)
                > self
                    .resolver
                    .number(&step.retry_rule().count, "retry.count", MOST_RETRIES)?
        {
            return Ok(None);
        }
        let delay =
            self.resolver
                .number(&step.retry_rule().delay, "retry.delay", MAX_WAIT * 1000.0)?;
        let delay = Duration::try_from_secs_f64(delay / 1000.0).unwrap_or(Duration::MAX);
        let delay = match step.retry_rule().backoff {
            Backoff::Constant => delay.min(Duration::from_secs(3600)),
            Backoff::Exponential => delay
                .saturating_mul(2_u32.saturating_pow(attempt - 1))
                .min(MAX_BACKOFF),
        };
        let due = now + delay;
        Ok((!self.is_too_late(due, step, current)?).then_some(due))
    }

    /// Whether `max_ms` forbids a retry at a time.
    ///
    /// # Errors
    /// If it can't be resolved.
    pub(super) fn is_too_late(
        &self,
        at: Duration,
        step: &Step,
        current: &Current,
    ) -> Result<bool, Failure> {
        let Some(most) = &step.retry_rule().max_ms else {
            return Ok(false);
        };
        let most = self.resolver.number(most, "retry.max_ms", f64::MAX)?;
        Ok(milliseconds(at) - milliseconds(current.started) > most)
    }
}
