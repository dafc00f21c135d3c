//! What a run tells: its findings, its trace, and those who watch it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::findings::{Findings, logged};
use cuecard_runtime::trace_writer::{TraceWriter, Writer};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::matching::lack;
use cuecard_source::value::Json;
use cuecard_timeline::model::{EventKind, TimelineCheck};
use cuecard_trace::{Assertion, End, EventData, RunStatus};
use cuecard_workspace::checks;

use serde_json::json;

use super::script::{self, AcpScript};
use super::verdict::{Notice, Verdict};

/// The folder that asserts are about.
#[derive(Clone, Copy)]
pub(super) struct CheckedFolder<'f> {
    pub(super) root: &'f Path,
    /// The environment of commands that are needed.
    pub(super) environment: &'f [(OsString, OsString)],
    /// The checks in the midst of a turn that held there, by event and key.
    pub(super) held: &'f HashSet<(usize, String)>,
}

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

    /// Judges the asserts among `events`: of the answers to prompts, which are those in `answers` since the last such
    /// assert, and of what is in `folder`.
    pub(super) async fn judge(
        &self,
        session: &Arc<str>,
        answers: &mut Vec<Json>,
        (script, events): (&AcpScript, Range<usize>),
        folder: Option<CheckedFolder<'_>>,
    ) {
        for event_idx in events.clone() {
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
            let mut above = script.timeline.events[..event_idx].iter();
            let is_prepared = above.all(|event| !script::is_for_others(&event.kind));
            for check in &assert.checks {
                let judged = match (&check.check, folder) {
                    (TimelineCheck::AcpSession { prompt_idx, fields }, _) => {
                        let answer = answers.get(*prompt_idx).cloned().unwrap_or_default();
                        let lack = match answer.is_null() {
                            true => Some(format!("prompt {} was not answered", prompt_idx + 1)),
                            false => lack(fields, &answer),
                        };
                        Some((answer, lack))
                    }
                    (_, Some(folder)) if folder.held.contains(&(event_idx, check.key.clone())) => {
                        Some((json!("it held at its point of the turn"), None))
                    }
                    (other, Some(folder)) if is_prepared => {
                        let probed = checks::check(other, folder.root, folder.environment).await;
                        probed.map(|probed| {
                            let seen = json!(probed.evidence);
                            (seen, (!probed.holds).then_some(probed.evidence))
                        })
                    }
                    _ => None,
                };
                let Some((observed, lack)) = judged else {
                    let message = format!("`{}` can't be evaluated by `cuecard acp`", check.key);
                    let mut found = Diagnostic::note(codes::MODEL_ASSERT_UNJUDGED, message)
                        .at(&script.timeline.source, check.span);
                    if !is_prepared && folder.is_some() {
                        found.severity = Severity::Warning;
                        found = found.with_note("an event above it is not played");
                    }
                    self.find(session, self.findings.strictly_noted(found))
                        .await;
                    continue;
                };
                let (key, evidence) = (&*check.key, lack.as_deref().unwrap_or_default());
                let mut event_told =
                    Assertion::of_check((&event.path, key), lack.is_none(), evidence);
                event_told.observed = observed;
                let event_told = EventData::Assertion(event_told);
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

    /// The trace is over; what was found and became of it is noted in `verdict`.
    pub(super) async fn end(&self, writer: Writer, verdict: &mut Verdict) {
        verdict.findings = self.findings.list();
        verdict.n_failures = self.findings.n_failures();
        verdict.passed = verdict.n_failures == 0;
        let end = End::after(self.clock.now(), RunStatus::of(verdict.passed));
        verdict.trace_error = self.teller.finish(end, writer).await;
    }
}
