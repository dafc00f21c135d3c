//! What a run tells: its findings, its trace, and those who watch it.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::findings::{Findings, logged};
use cuecard_runtime::trace_writer::{TraceWriter, Writer};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::value::Json;
use cuecard_timeline::model::{EventKind, TimelineCheck};
use cuecard_trace::{Assertion, End, EventData, RunStatus};

use super::script::{self, AcpScript};
use super::verdict::{Notice, Verdict};

/// Whom a run tells what.
pub(super) struct Telling {
    pub(super) findings: Findings,
    pub(super) clock: Clock,
    teller: TraceWriter<Notice>,
}

impl Telling {
    pub(super) fn new(is_strict: bool, clock: Clock, teller: TraceWriter<Notice>) -> Self {
        Self {
            findings: Findings::new(is_strict),
            clock,
            teller,
        }
    }

    /// Events of a session, for the trace.
    pub(super) async fn tell(&self, session: &Arc<str>, events: Vec<EventData>) {
        self.tell_at(session, self.clock.now(), events).await;
    }

    /// Events that happened before.
    pub(super) async fn tell_at(&self, session: &Arc<str>, at: Duration, events: Vec<EventData>) {
        let session = Some(session.clone());
        self.teller.events_in(session, at, events).await;
    }

    /// Waits until the trace has all that was told.
    pub(super) async fn settled(&self) {
        self.teller.settled().await;
    }

    pub(super) async fn notice(&self, notice: Notice) {
        self.teller.notice(notice).await;
    }

    /// Something was found in a session.
    pub(super) async fn find(&self, session: &Arc<str>, found: Diagnostic) {
        self.found(Some(session.clone()), found).await;
    }

    pub(super) async fn found(&self, session: Option<Arc<str>>, found: Diagnostic) {
        let found = self.findings.strictly(found);
        let is_new = self.findings.keep(&found);
        if is_new || found.severity == Severity::Error {
            let events = vec![logged(&found)];
            self.teller
                .events_in(session, self.clock.now(), events)
                .await;
        }
        if is_new {
            self.notice(Notice::Finding(Box::new(found))).await;
        }
    }

    /// Judges the asserts among `events` that need nothing but the answers to prompts; `answers` are those since the
    /// last such assert.
    pub(super) async fn judge(
        &self,
        session: &Arc<str>,
        answers: &mut Vec<Json>,
        (script, events): (&AcpScript, Range<usize>),
    ) {
        for event_idx in events {
            let event = script.event(event_idx);
            let EventKind::Assert(assert) = &event.kind else {
                continue;
            };
            let is_judged = assert
                .checks
                .iter()
                .any(|check| matches!(check.check, TimelineCheck::AcpSession { .. }));
            let answers = match is_judged {
                true => std::mem::take(answers),
                false => Vec::new(),
            };
            for check in &assert.checks {
                let TimelineCheck::AcpSession { prompt_idx, fields } = &check.check else {
                    let message = format!("`{}` can't be evaluated by `cuecard acp`", check.key);
                    let found = Diagnostic::note(codes::MODEL_ASSERT_UNJUDGED, message)
                        .at(&script.timeline.source, check.span);
                    self.find(session, self.findings.strictly_noted(found))
                        .await;
                    continue;
                };
                let answer = answers.get(*prompt_idx).unwrap_or(&Json::Null);
                let lack = match answer.is_null() {
                    true => Some(format!("prompt {} was not answered", prompt_idx + 1)),
                    false => script::lacks(fields, answer),
                };
                let event_told = EventData::Assertion(Assertion {
                    id: format!("{}.{}", event.path, check.key),
                    kind: "acp.session".to_owned(),
                    status: if lack.is_none() { "pass" } else { "fail" }.to_owned(),
                    observed: answer.clone(),
                    evidence: lack.clone(),
                });
                self.tell(session, vec![event_told]).await;
                if let Some(lack) = lack {
                    let found = Diagnostic::error(
                        codes::MODEL_ASSERT_FAILED,
                        format!("`{}` does not hold: {lack}", check.key),
                    )
                    .at(&script.timeline.source, check.span);
                    self.find(session, found).await;
                }
            }
        }
    }

    /// The trace is over; what became of it is noted in `verdict`.
    pub(super) async fn end(&self, writer: Writer, verdict: &mut Verdict) {
        let end = End::after(self.clock.now(), RunStatus::of(verdict.passed));
        verdict.trace_error = self.teller.finish(end, writer).await;
    }
}
