//! The asserts of a timeline, where no run does them.

use cuecard_runtime::findings::explain;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::model::{EventKind, LocatedCheck, RequestCheck, TimelineCheck};
use cuecard_timeline::script::{LlmScript, Served, check_request};
use cuecard_trace::{Assertion, EventData};
use cuecard_wire::llm::Received;
use cuecard_wire::llm::errors::ApiError;
use cuecard_workspace::checks;
use cuecard_workspace::probe::ProbeResult;

use super::{ExchangeReport, MockServer};

fn of_request(check: &RequestCheck, received: Option<&Received>) -> ProbeResult {
    let (holds, evidence) = match received {
        Some(Received { request, body }) => check_request(check, request, body),
        None => (false, "no request came after it".to_owned()),
    };
    ProbeResult { holds, evidence }
}

impl MockServer {
    /// The asserts between the turn before and this one. A run that leads, or a program that is left to it, makes those
    /// that are not about the request.
    pub(super) async fn run_asserts(
        &self,
        script: &LlmScript,
        served: &Served,
        received: &Received,
        told: &mut ExchangeReport,
    ) -> Result<(), ApiError> {
        let mut failures = Vec::new();
        let checks = served.turn(script).map(|turn| &turn.checks);
        for &event_idx in checks.into_iter().flatten() {
            if let Some(event) = script.timeline.events.get(event_idx)
                && let EventKind::Assert(assert) = &event.kind
            {
                let judged = self.judge(script, &event.path, &assert.checks, Some(received));
                let (events, failed) = judged.await;
                told.events.extend(events);
                failures.extend(failed);
            }
        }
        match failures.is_empty() {
            true => Ok(()),
            false => Err(ApiError::new(400, failures.join("\n"))),
        }
    }

    /// Makes the checks of an assert: what the trace is told, and what failed, in words.
    pub(crate) async fn judge(
        &self,
        script: &LlmScript,
        path: &str,
        assert: &[LocatedCheck],
        received: Option<&Received>,
    ) -> (Vec<EventData>, Vec<String>) {
        let (mut events, mut failures) = (Vec::new(), Vec::new());
        let (workspace, environment) = (&self.options.workspace, &self.options.environment);
        for check in assert {
            let seen = match &check.check {
                TimelineCheck::Request(request) => Some(of_request(request, received)),
                _ if self.options.lead.is_some() || self.options.leaves_asserts => continue,
                other => checks::check(other, workspace, environment).await,
            };
            let Some(seen) = seen else {
                let why = match check.check {
                    TimelineCheck::ExitCode(_) => "no `userCommand` was run",
                    TimelineCheck::AcpSession { .. } => "no ACP session available",
                    _ => "no terminal available",
                };
                let message = format!("`{}` is not evaluated here: {why}", check.key);
                let found = Diagnostic::note(codes::MODEL_ASSERT_UNJUDGED, message)
                    .at(&script.timeline.source, check.span);
                self.find(self.findings.strictly_noted(found)).await;
                continue;
            };
            events.push(EventData::Assertion(Assertion::of_check(
                (path, &check.key),
                seen.holds,
                &seen.evidence,
            )));
            if !seen.holds {
                let message = format!("the assert `{}` failed: {}", check.key, seen.evidence);
                let found = Diagnostic::error(codes::MODEL_ASSERT_FAILED, message)
                    .at(&script.timeline.source, check.span)
                    .with_pointer(format!("{path}.{}", check.key));
                failures.push(explain(&found));
                self.find(found).await;
            }
        }
        (events, failures)
    }
}
