//! What a run may take: time, tokens, errors.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::parts::Amount;
use super::{Assert, Take};
use crate::mutate::{MOST_CALLS, Mutation, with_before_answer};
use crate::test_case::Params;
use crate::view::View;
use crate::words::{as_count, brief, count_of};
use crate::{Finding, Verdict};
use cuecard_trace::{ErrorHappened, Event, EventData, RunStatus, Trace};

/// It took no longer.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct MaxDurationMs {
    /// The longest it may take, in milliseconds.
    pub limit: Amount,
}

impl Assert for MaxDurationMs {
    const TYPE: &'static str = "max_duration_ms";

    fn check(&mut self, _: &mut Params<'_, '_>) {}

    fn judge(&self, view: &View<'_>) -> Finding {
        let limit = *self.limit;
        let Some(end) = &view.trace.end else {
            return Finding::new(
                Verdict::Undecided,
                "the trace is incomplete, so the duration of the run is unknown",
            )
            .help("the run ended abnormally: see its last events");
        };
        let took = end.metrics.timing_ms_total;
        if end.metrics.timing_synthesized {
            return Finding::new(
                Verdict::Undecided,
                format!("the duration was not measured: {took} ms is synthesized"),
            )
            .observed(json!({"timing_ms_total": took, "timing_synthesized": true}))
            .help("the source of the trace has no timestamps");
        }
        let observed = json!({"timing_ms_total": took});
        if took <= limit && took > 0.0 {
            Finding::holds(format!("it took {took} ms, at most {limit} ms allowed"))
                .observed(observed)
        } else if took == 0.0 {
            Finding::holds("the trace says that it took 0 ms")
                .help("the trace has no measured duration")
                .observed(observed)
                .vacuous()
        } else {
            let (slowest, help) = slowest(view);
            Finding::fails(format!("it took {took} ms, expected at most {limit} ms"))
                .observed(observed)
                .help(help)
                .refs(slowest)
        }
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::ExceedLimit
    }

    fn break_trace(&self, _: Mutation, trace: &Trace, take: &mut Take<'_>) {
        let mut changed = trace.clone();
        if let Some(end) = &mut changed.end {
            let took = *self.limit + 1.0;
            end.metrics.timing_ms_total = took;
            take(format!("the run took {took} ms"), None, changed);
        }
    }
}

/// The tool result that took longest.
fn slowest<'a>(view: &View<'a>) -> (Option<&'a str>, String) {
    let mut slowest: Option<(f64, &Event, &str)> = None;
    for event in view.events() {
        if let EventData::ToolResult(result) = &event.data
            && let Some(took) = result.duration_ms
            && slowest.is_none_or(|(longest, ..)| took > longest)
        {
            slowest = Some((took, event, &result.tool));
        }
    }
    match slowest {
        Some((took, event, tool)) => (
            Some(&event.event_id),
            format!(
                "the slowest call is `{tool}`, {took} ms until event {}",
                event.seq
            ),
        ),
        None => (
            None,
            "the trace has no durations for individual calls".to_owned(),
        ),
    }
}

/// It took no more tokens.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct MaxTokens {
    /// The most there may be.
    pub limit: u64,
}

impl Assert for MaxTokens {
    const TYPE: &'static str = "max_tokens";

    fn check(&mut self, _: &mut Params<'_, '_>) {}

    fn judge(&self, view: &View<'_>) -> Finding {
        let limit = self.limit;
        let used = view
            .trace
            .end
            .as_ref()
            .and_then(|end| end.metrics.token_usage);
        let Some(used) = used else {
            return Finding::new(Verdict::Skipped, "the trace has no token usage");
        };
        let observed = json!({"token_usage": used});
        if used == 0 {
            return Finding::holds("the trace reports 0 tokens used")
                .observed(observed)
                .vacuous();
        }
        let was = count_of(used, "token");
        if used <= limit {
            Finding::holds(format!("{was} used, at most {limit} allowed")).observed(observed)
        } else {
            Finding::fails(format!("{was} used, expected at most {limit}"))
                .observed(observed)
                .help("long tool results and repeated calls are the usual reasons")
        }
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::ExceedLimit
    }

    fn break_trace(&self, _: Mutation, trace: &Trace, take: &mut Take<'_>) {
        let mut changed = trace.clone();
        if let Some(end) = &mut changed.end {
            let tokens = self.limit.saturating_add(1);
            end.metrics.token_usage = Some(tokens);
            take(format!("{tokens} tokens were used"), None, changed);
        }
    }
}

/// No more went wrong.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct MaxErrors {
    /// The most there may be.
    pub limit: u64,
}

impl Assert for MaxErrors {
    const TYPE: &'static str = "max_errors";

    fn check(&mut self, _: &mut Params<'_, '_>) {}

    fn judge(&self, view: &View<'_>) -> Finding {
        let limit = self.limit;
        let errors: Vec<(&Event, String)> = view
            .trace
            .events
            .iter()
            .enumerate()
            .filter_map(|(position, event)| {
                error_at(position, event, view).map(|text| (event, text))
            })
            .collect();
        let count = as_count(errors.len());
        let has_failed = view
            .trace
            .end
            .as_ref()
            .is_some_and(|end| end.status == RunStatus::Failed);
        if errors.is_empty() && has_failed && limit == 0 {
            return Finding::fails("the run failed, but no event has the error")
                .observed(json!({"errors": 0, "status": "failed"}));
        }
        if errors.is_empty() && view.trace.end.is_none() && limit == 0 {
            return Finding::fails(
                "the trace is incomplete: the run ended abnormally for an unknown reason",
            )
            .observed(json!({"errors": 0, "status": null}))
            .help("run it again, and look at the last events of its trace");
        }
        let finding = match errors.first() {
            Some((first, text)) if count > limit => Finding::fails(format!(
                "{} occurred, expected at most {limit}; the first is event {}: {text}",
                count_of(count, "error"),
                first.seq
            ))
            .help("error events and failed tool results count; both for the same call count once"),
            _ => Finding::holds(format!(
                "{} occurred, at most {limit} allowed",
                count_of(count, "error")
            )),
        };
        let finding = finding
            .observed(json!({"errors": count}))
            .refs(errors.iter().map(|(event, _)| event.event_id.as_str()));
        if errors.is_empty() && view.shows_nothing() {
            finding
                .help("the trace shows nothing that the agent did or said")
                .vacuous()
        } else {
            finding
        }
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::ExceedLimit || (mutation == Mutation::FlipStatus && self.limit == 0)
    }

    fn break_trace(&self, _: Mutation, trace: &Trace, take: &mut Take<'_>) {
        let count = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if trace.end.is_none() || count >= MOST_CALLS {
            return;
        }
        let errors = (0..=count).map(|_| {
            EventData::ErrorHappened(ErrorHappened {
                scope: "runtime".to_owned(),
                tool: None,
                call_id: None,
                error_type: "one_too_many".to_owned(),
                message: "something failed".to_owned(),
                retryable: false,
            })
        });
        let changed = with_before_answer(trace, "error-", errors);
        take(format!("{} more errors happened", count + 1), None, changed);
    }
}

/// What went wrong in an event: it is an error, or a failed result of a call without an error of its own.
pub(super) fn error_at(position: usize, event: &Event, view: &View<'_>) -> Option<String> {
    match &event.data {
        EventData::ErrorHappened(error) => Some(format!(
            "`{}` {}",
            error.error_type,
            brief(&error.message.as_str().into())
        )),
        EventData::ToolResult(result) if !result.success => (!view.answers_failed_call(position))
            .then(|| format!("`{}` failed with {}", result.tool, brief(&result.result))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict::{Fails, Holds, Skipped, Undecided};
    use crate::samples::{Events, answer, judged};
    use cuecard_trace::Trace;

    #[test]
    fn time_is_that_of_the_whole_run() {
        let took = |ms| {
            Events::new()
                .call("a", "c", json!({}))
                .output("x")
                .metrics(ms, None)
                .trace()
        };
        for (ms, limit, expected, vacuous) in [
            (99.5, 100.0, Holds, false),
            (100.0, 100.0, Holds, false),
            (100.1, 100.0, Fails, false),
            (0.0, 100.0, Holds, true),
            (f64::NAN, 100.0, Fails, false),
        ] {
            let finding = judged(
                MaxDurationMs {
                    limit: limit.into(),
                },
                &took(ms),
            );
            assert_eq!(
                (finding.verdict, finding.vacuous),
                (expected, vacuous),
                "{ms}"
            );
        }
        let mut died = took(1.0);
        died.end = None;
        let finding = judged(MaxDurationMs { limit: 5.0.into() }, &died);
        assert_eq!(finding.verdict, Undecided);
    }

    #[test]
    fn the_slowest_call_is_named() {
        let trace = Events::new()
            .call("slow", "c", json!({}))
            .result("slow", "c", true, json!(1))
            .metrics(50.0, None)
            .trace();
        let finding = judged(MaxDurationMs { limit: 5.0.into() }, &trace);
        assert_eq!(finding.message, "it took 50 ms, expected at most 5 ms");
        assert_eq!(finding.event_refs, ["e2"]);
        assert_eq!(
            finding.help.as_deref(),
            Some("the slowest call is `slow`, 3 ms until event 2")
        );
    }

    #[test]
    fn a_time_that_nobody_measured_decides_nothing() {
        let mut trace = Events::new().output("x").metrics(2.0, None).trace();
        let check = || MaxDurationMs { limit: 5.0.into() };
        assert_eq!(judged(check(), &trace).verdict, Holds);
        trace
            .end
            .as_mut()
            .expect("an end")
            .metrics
            .timing_synthesized = true;
        assert_eq!(judged(check(), &trace).verdict, Undecided);
    }

    #[test]
    fn tokens_are_judged_where_they_are_known() {
        let used = |tokens| Events::new().output("x").metrics(1.0, tokens).trace();
        for (tokens, expected, vacuous) in [
            (None, Skipped, false),
            (Some(0), Holds, true),
            (Some(10), Holds, false),
            (Some(11), Fails, false),
        ] {
            let finding = judged(MaxTokens { limit: 10 }, &used(tokens));
            assert_eq!(
                (finding.verdict, finding.vacuous),
                (expected, vacuous),
                "{tokens:?}"
            );
        }
    }

    #[test]
    fn a_run_that_failed_is_an_error() {
        let mut trace = answer("fine");
        trace.end.as_mut().expect("an end").status = RunStatus::Failed;
        let check = |limit| MaxErrors { limit };
        assert_eq!(judged(check(0), &trace).verdict, Fails);
        assert_eq!(judged(check(1), &trace).verdict, Holds);
        // Nobody knows how one went that has no end.
        trace.end = None;
        assert_eq!(judged(check(0), &trace).verdict, Fails);
        assert_eq!(judged(check(1), &trace).verdict, Holds);
    }

    #[test]
    fn errors_count_once_for_each_call() {
        let failed = |with_error: bool| -> Trace {
            let events = Events::new().call("a", "c", json!({}));
            let events = if with_error {
                events.error("a", Some("c"), "timeout")
            } else {
                events
            };
            events
                .result("a", "c", false, json!("no"))
                .output("sorry")
                .trace()
        };
        for (trace, limit, expected, vacuous) in [
            (failed(true), 1, Holds, false),
            (failed(true), 0, Fails, false),
            (failed(false), 1, Holds, false),
            (failed(false), 0, Fails, false),
            (answer("fine"), 0, Holds, false),
            (Events::new().trace(), 0, Holds, true),
            (
                Events::new()
                    .error("a", None, "x")
                    .error("a", None, "y")
                    .trace(),
                1,
                Fails,
                false,
            ),
        ] {
            let finding = judged(MaxErrors { limit }, &trace);
            assert_eq!(
                (finding.verdict, finding.vacuous),
                (expected, vacuous),
                "{}",
                finding.message
            );
        }
    }
}
