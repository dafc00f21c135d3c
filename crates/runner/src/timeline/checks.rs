//! Asserts, screenshots, and what is expected in the end.

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use cuecard_source::Span;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_terminal::{MAX_SETTLE, Places, Snapshot, normalised, png, style_text, svg};
use cuecard_timeline::model::{EventKind, LocatedCheck, TimelineCheck, ToolStatus};
use cuecard_timeline::script::{Act, PlayerKind};
use cuecard_trace::{Assertion, EventData, Screenshot as ScreenshotEvent};
use cuecard_workspace::checks;
use cuecard_workspace::probe::{self, ProbeResult};

use super::RunMode;
use super::executor::Executor;
use super::goldens::{self, Golden, WrittenGolden};
use super::outcome::Screenshot;
use cuecard_timeline::model::file_safe;

/// Larger screens have no `.png`, in characters.
const MOST_CELLS: usize = 40_000;

/// What stands above the looks of the cells in an expected screen.
const STYLE_HEADING: &str = "--- style";

/// A screenshot whose pictures are still to be made.
pub(super) struct PendingScreenshot {
    pub(super) label: String,
    pub(super) text: String,
    /// The same as it stood there.
    raw: String,
    snapshot: Snapshot,
}

/// A check that an agent makes, as it is about its answers.
#[derive(Debug, Clone)]
pub(super) struct AgentCheck {
    pub(super) event_idx: usize,
    pub(super) key: String,
    pub(super) span: Span,
}

impl Executor<'_> {
    pub(super) fn still(&self) -> Duration {
        Duration::from_millis(self.script.terminal.settle_ms)
    }

    pub(super) async fn screenshot(&mut self, event_idx: usize, label: &str) {
        let Some(terminal) = &self.terminal else {
            let message = format!("no terminal: the screenshot `{label}` can't be taken");
            return self
                .fails(codes::MODEL_ASSERT_UNJUDGED, event_idx, message)
                .await;
        };
        let is_still = terminal.settled(self.still()).await;
        let (text, snapshot) = {
            let screen = terminal.screen();
            (screen.text(), screen.snapshot())
        };
        let raw = text;
        let text = self.normalised(&raw);
        self.record(EventData::Screenshot(ScreenshotEvent {
            label: label.to_owned(),
            files: vec![format!("{}.txt", self.shot_path(label))],
        }));
        let what = format!("screenshot {label}");
        let with_style = |text: &str, style: &str| format!("{text}\n\n{STYLE_HEADING}\n{style}");
        let compared = match self.script.terminal.rendering.style {
            true => with_style(&text, &style_text(&snapshot)),
            false => text.clone(),
        };
        let normalise =
            |expected: &str| match expected.split_once(&format!("\n\n{STYLE_HEADING}\n")) {
                Some((text, style)) => with_style(&self.normalised(text), style),
                None => self.normalised(expected),
            };
        let compared = goldens::compare(
            &self.options.goldens,
            &self.script,
            label,
            &compared,
            normalise,
        );
        match compared {
            Golden::Same => {
                self.record_check(event_idx, "screenshot", true, label);
                self.add_event(event_idx, what, Some(true));
            }
            Golden::Written(path) => {
                self.add_event(event_idx, format!("{what}: wrote {}", path.display()), None);
                self.written.push(WrittenGolden { path, is_still });
            }
            Golden::Found(found) => {
                let is_failure = found.severity == cuecard_source::diagnostic::Severity::Error;
                if is_failure {
                    self.record_check(event_idx, "screenshot", false, &found.message);
                }
                self.add_event(event_idx, what, is_failure.then_some(false));
                let found = self.placed(found, event_idx);
                self.find(found).await;
            }
        }
        self.pending_screenshots.push(PendingScreenshot {
            label: label.to_owned(),
            text,
            raw,
            snapshot,
        });
    }

    fn shot_path(&self, label: &str) -> String {
        format!(
            "{}/{}/screenshots/{}",
            file_safe(&self.script.timeline.name),
            file_safe(&self.script.terminal.profile_id()),
            file_safe(label)
        )
    }

    /// A text as it is compared.
    pub(super) fn normalised(&self, text: &str) -> String {
        let places = Places {
            workspace: &self.places.workspace,
            home: &self.places.home,
            temporary: &self.places.temporary,
        };
        normalised(text, &self.script.compared(self.options), places)
    }

    /// Writes the files of all screenshots.
    pub(super) fn pictures(&mut self) -> (Vec<Screenshot>, Vec<Diagnostic>) {
        let (mut done, mut problems) = (Vec::new(), Vec::new());
        for shot in std::mem::take(&mut self.pending_screenshots) {
            let base = self.shot_path(&shot.label);
            let drawn = svg(&shot.snapshot, self.script.terminal.theme);
            let mut files = vec![("txt", format!("{}\n", shot.text).into_bytes())];
            let (columns, rows) = shot.snapshot.size();
            match (usize::from(columns) * usize::from(rows) <= MOST_CELLS).then(|| png(&drawn)) {
                // It would take minutes.
                None => files.push(("svg", drawn.into_bytes())),
                Some(Ok(png)) => files.extend([("svg", drawn.into_bytes()), ("png", png)]),
                Some(Err(why)) => problems.push(Diagnostic::warning(
                    codes::FILE_WRITE,
                    format!("there is no picture of `{}`: {why}", shot.label),
                )),
            }
            let mut written = Vec::new();
            for (ending, content) in files {
                let relative = format!("{base}.{ending}");
                let path = self.run_dir.path().join(&relative);
                let file = self.run_dir.create_file(relative.as_ref());
                match file.and_then(|mut file| file.write_all(&content)) {
                    Ok(()) => written.push(path),
                    Err(error) => {
                        let reason = cuecard_runtime::text_file::io_reason(&error);
                        let message = format!("`{}` can't be written: {reason}", path.display());
                        problems.push(Diagnostic::error(codes::FILE_WRITE, message));
                    }
                }
            }
            done.push(Screenshot {
                label: shot.label,
                text: shot.text,
                files: written,
            });
        }
        (done, problems)
    }

    pub(super) async fn assert(&mut self, event_idx: usize, checks: &[LocatedCheck]) {
        for check in checks {
            let is_seen = self.terminal.is_some() && is_of_screen(&check.check);
            if self.simulation.is_some() && !is_seen {
                // It has failed in the beginning: nobody looks.
                continue;
            }
            let seen = self.check(&check.check).await;
            match seen {
                Some(seen) => {
                    let span = Some(check.span);
                    self.judged(event_idx, &check.key, seen.holds, &seen.evidence, span)
                        .await;
                }
                // The program under test is a client of ACP, or should be.
                None if self.is_with_client()
                    && matches!(check.check, TimelineCheck::AcpSession { .. }) =>
                {
                    self.of_agent.push(AgentCheck {
                        event_idx,
                        key: check.key.clone(),
                        span: check.span,
                    });
                }
                // The model's mock server looks at its requests by itself.
                None if self.model.is_some()
                    && matches!(check.check, TimelineCheck::Request(_)) => {}
                None => {
                    let (who, help) = match check.check {
                        TimelineCheck::AcpSession { .. } => (
                            "an agent that speaks ACP",
                            "name an ACP client as the program, or play the timeline with `cuecard acp`",
                        ),
                        _ => (
                            "the mock server of a model",
                            "run it with a real agent and `server.mode: mock`, or play it with `cuecard serve llm`",
                        ),
                    };
                    let told = format!("nobody judges it in this run: only {who} does");
                    self.record_check(event_idx, &check.key, false, &told);
                    self.add_event(event_idx, format!("assert {}", check.key), Some(false));
                    let message = format!("the assert `{}` failed: {told}", check.key);
                    let found = self.finding(codes::MODEL_ASSERT_UNJUDGED, event_idx, message);
                    let found = found.at(&self.script.timeline.source, check.span);
                    self.find(found.with_help(help)).await;
                }
            }
        }
    }

    /// Makes a check; nothing if it is about what is not there.
    async fn check(&mut self, check: &TimelineCheck) -> Option<ProbeResult> {
        let environment = self.command_environment();
        match check {
            TimelineCheck::ScreenContains(text) => Some(self.on_screen(text, true).await),
            TimelineCheck::ScreenOmits(text) => Some(self.on_screen(text, false).await),
            TimelineCheck::ExitCode(wanted) => {
                let code = self.last_command.as_ref().map(|outcome| outcome.exit_code);
                Some(match code {
                    None => seen(false, "no `userCommand` was run before".to_owned()),
                    Some(None) => seen(false, "the command timed out".to_owned()),
                    Some(Some(code)) => seen(
                        i64::from(code) == *wanted,
                        format!("the exit code is {code}"),
                    ),
                })
            }
            TimelineCheck::Screenshot { label, contains } => {
                let shot = self
                    .pending_screenshots
                    .iter()
                    .find(|shot| shot.label == *label);
                Some(match shot {
                    None => seen(false, format!("no screenshot `{label}` was taken above")),
                    Some(shot) => {
                        let lacks = |part: &&String| {
                            !shot.text.contains(*part) && !shot.raw.contains(*part)
                        };
                        let missing = contains.iter().find(lacks);
                        match missing {
                            None => seen(true, "all of it is there".to_owned()),
                            Some(part) => seen(false, format!("{part:?} is not in it")),
                        }
                    }
                })
            }
            TimelineCheck::AcpSession { .. } => None,
            check => checks::check(check, &self.places.workspace, &environment).await,
        }
    }

    /// Looks for a text on the screen and above it, until it is there or isn't.
    async fn on_screen(&mut self, text: &str, wanted: bool) -> ProbeResult {
        let Some(terminal) = &self.terminal else {
            return seen(false, "there is no terminal".to_owned());
        };
        if !wanted {
            // What is still being drawn might come.
            terminal.settled(self.still()).await;
        }
        let until = self.clock.now() + MAX_SETTLE;
        loop {
            let Some(terminal) = &self.terminal else {
                return seen(false, "there is no terminal".to_owned());
            };
            let mut changes = terminal.changes();
            let whole = terminal.screen().whole_text();
            let is_there = self.normalised(&whole).contains(text) || whole.contains(text);
            if is_there == wanted {
                let how = if wanted { "is" } else { "is not" };
                return seen(true, format!("{text:?} {how} on the screen"));
            }
            if self.clock.now() >= until {
                let how = if wanted { "is not" } else { "is" };
                return seen(false, format!("{text:?} {how} on the screen"));
            }
            tokio::select! {
                // Once it can't change any more, that is all.
                Ok(()) = changes.changed() => {}
                () = self.clock.sleep_until(until) => {}
            }
        }
    }

    /// Notes what became of a check in the trace.
    fn record_check(&mut self, event_idx: usize, key: &str, holds: bool, seen: &str) {
        let path = self.path_of(event_idx);
        let check = Assertion::of_check((&path, key), holds, seen);
        self.record(EventData::Assertion(check));
    }

    /// Tells what became of a check.
    pub(super) async fn judged(
        &mut self,
        event_idx: usize,
        key: &str,
        holds: bool,
        told: &str,
        span: Option<Span>,
    ) {
        self.record_check(event_idx, key, holds, told);
        self.add_event(event_idx, format!("assert {key}"), Some(holds));
        if !holds {
            let message = format!("the assert `{key}` failed: {told}");
            let mut found = self.finding(codes::MODEL_ASSERT_FAILED, event_idx, message);
            if let Some(span) = span {
                found = found.at(&self.script.timeline.source, span);
            }
            self.find_with_screen(found).await;
        }
    }

    /// Whether an assert looks at the exit code of the command of this event.
    pub(super) fn is_code_asserted(&self, event_idx: usize) -> bool {
        let below = self.script.timeline.events.iter().skip(event_idx + 1);
        let until_next = below.take_while(|event| !matches!(event.kind, EventKind::UserCommand(_)));
        let mut asserts = until_next.filter_map(|event| match &event.kind {
            EventKind::Assert(assert) => Some(&assert.checks),
            _ => None,
        });
        asserts.any(|checks| {
            let is_code = |check: &LocatedCheck| matches!(check.check, TimelineCheck::ExitCode(_));
            checks.iter().any(is_code)
        })
    }

    /// What is expected once the program has ended.
    pub(super) async fn expect(&mut self) {
        let expected = self.script.timeline.expectations.clone();
        let source = self.script.timeline.source.clone();
        let simulates = self.mode() == RunMode::Simulate;
        let has_program = !simulates || !self.options.which.program.is_empty();
        if let Some(wanted) = expected.exit_code.filter(|_| has_program) {
            let code = self.end.map(|end| i64::from(end.shell_code()));
            if code != Some(wanted) {
                let message = match (code, self.was_closed) {
                    (_, true) => format!(
                        "expected exit code {wanted}, but the program did not end by itself"
                    ),
                    (Some(code), _) => format!("expected exit code {wanted}, got {code}"),
                    (None, _) => format!("expected exit code {wanted}, but no program ran"),
                };
                let mut found = Diagnostic::error(codes::EXPECTATION_FAILED, message);
                if let Some(span) = expected.span {
                    found = found.at(&source, span);
                }
                self.find_with_screen(found).await;
            }
        }
        for artifact in expected.artifacts.iter().filter(|_| !simulates) {
            let probed = probe::exists(&self.places.workspace, &artifact.pattern);
            if !probed.holds {
                let message = format!("no file matches `{}`", artifact.pattern);
                let found = Diagnostic::error(codes::EXPECTATION_FAILED, message)
                    .at(&source, artifact.span)
                    .with_note(format!("the workspace has: {}", self.what_exists()));
                self.find(found).await;
            }
        }
    }
}

impl Executor<'_> {
    /// Says what nobody looks at: without ACP, and with a real agent (T-ASRT-03).
    pub(super) async fn tell_not_evaluated(&mut self) {
        let script = self.script.clone();
        let has_model = self.model.is_some();
        for event in &script.timeline.events {
            let kind = event.kind.as_str();
            let what = match &event.kind {
                EventKind::ToolUse(call) if has_model && call.status == ToolStatus::Error => Some(
                    "`status` is not evaluated: agents tell their models of failures in words"
                        .to_owned(),
                ),
                other => {
                    let act = PlayerKind::Agent.cell(other).act;
                    (act == Act::NotEvaluated)
                        .then(|| format!("`{kind}` is not evaluated: it needs an ACP client"))
                }
            };
            if let Some(message) = what {
                let note = Diagnostic::note(codes::MODEL_ASSERT_UNJUDGED, message)
                    .at(&script.timeline.source, event.span)
                    .with_pointer(event.path.clone());
                let note = self.findings.strictly_noted(note);
                self.find(note).await;
            }
        }
    }

    /// Whether a program under test may start an agent that plays the timeline.
    fn is_with_client(&self) -> bool {
        self.mode() == RunMode::MockAgent && !self.options.which.program.is_empty()
    }

    /// What an agent was to judge fails if it says so, or if it was judged by nobody.
    pub(super) async fn take_over_judgements(&mut self) {
        for check in self.of_agent.clone() {
            let message = match self.judgement(&check).cloned() {
                Some(None) => continue,
                Some(Some(why)) => format!("the assert `{}` failed: {why}", check.key),
                None => {
                    let told = "nobody judged it, as no agent that speaks ACP answered the prompt";
                    self.judged(check.event_idx, &check.key, false, told, Some(check.span))
                        .await;
                    continue;
                }
            };
            let found = self.finding(codes::MODEL_ASSERT_FAILED, check.event_idx, message);
            let found = found.at(&self.script.timeline.source, check.span);
            self.find_with_screen(found).await;
        }
    }

    /// What an agent has said of an assert, if it has judged it: why it does not hold, or nothing.
    fn judgement(&self, check: &AgentCheck) -> Option<&Option<String>> {
        let path = self.path_of(check.event_idx);
        self.judged.get(&format!("{path}.{}", check.key))
    }

    /// The asserts that an agent was to judge and has not.
    pub(super) fn unjudged(&self) -> impl Iterator<Item = &AgentCheck> {
        let checks = self.of_agent.iter();
        checks.filter(|check| self.judgement(check).is_none())
    }
}

/// So many names of files are told.
const MAX_NAMES: usize = 20;

impl Executor<'_> {
    /// The names at the top of the workspace.
    fn what_exists(&self) -> String {
        let entries = fs::read_dir(&self.places.workspace).into_iter().flatten();
        let names = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name != ".git").collect();
        names.sort_unstable();
        let more = names.len().saturating_sub(MAX_NAMES);
        names.truncate(MAX_NAMES);
        match (names.is_empty(), more) {
            (true, _) => "nothing".to_owned(),
            (false, 0) => names.join(", "),
            (false, more) => format!("{} and {more} more", names.join(", ")),
        }
    }
}

/// Whether a check is about what the program shows.
pub(super) fn is_of_screen(check: &TimelineCheck) -> bool {
    matches!(
        check,
        TimelineCheck::ScreenContains(_)
            | TimelineCheck::ScreenOmits(_)
            | TimelineCheck::Screenshot { .. }
    )
}

fn seen(holds: bool, evidence: String) -> ProbeResult {
    ProbeResult { holds, evidence }
}
