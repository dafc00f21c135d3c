//! Drives agents through scripts, one after the other, and says how it went.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::AcpOptions;
use cuecard_runtime::scripted_faults::ScriptedFaults;
use cuecard_runtime::trace_writer::Writer;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::model::{McpServer, Timeline};
use cuecard_workspace::probe;
use tokio_util::sync::CancellationToken;

use super::Connection;
use super::conversation::Conversation;
use super::folder::SessionFolder;
use super::talk::{Stopped, Talk};
use crate::peer::{self, Peer, WriterEnd};
use crate::script::{AcpScript, is_for_others};
use crate::session::IndexedScript;
use crate::telling::Telling;
use crate::verdict::{PlayedSegments, Verdict};

/// So much of what an agent printed is shown when it dies, in lines.
const SHOWN_LINES: usize = 20;

/// How long an agent is listened to after its last answer.
const LINGER: Duration = Duration::from_millis(100);

/// How long what an agent wrote may take to be read once it has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Drives agents.
pub(super) struct Driver {
    pub(super) telling: Arc<Telling>,
    pub(super) faults: ScriptedFaults<()>,
    pub(super) options: AcpOptions,
    /// The servers of all sessions, in place of those of the timelines.
    pub(super) mcp_servers: Option<Vec<McpServer>>,
    tallies: Mutex<Tallies>,
}

/// What is counted.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    pub(super) n_sessions: u64,
    pub(super) n_prompts: u64,
    pub(super) played: PlayedSegments,
    could_not_run: bool,
}

impl Driver {
    pub(super) fn new(
        telling: Telling,
        faults: ScriptedFaults<()>,
        options: AcpOptions,
        mcp_servers: Option<Vec<McpServer>>,
    ) -> Self {
        Self {
            telling: Arc::new(telling),
            faults,
            options,
            mcp_servers,
            tallies: Mutex::default(),
        }
    }

    pub(super) fn tallies(&self) -> MutexGuard<'_, Tallies> {
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A scenario can't be played.
    pub(super) async fn could_not_run(&self, problem: Diagnostic) {
        self.tallies().could_not_run = true;
        self.telling.found(None, problem).await;
    }

    /// Drives an agent through a script.
    pub(super) async fn drive(
        self: &Arc<Self>,
        script: IndexedScript,
        folder: SessionFolder,
        environment: &[(OsString, OsString)],
        connection: Connection,
        stop: &CancellationToken,
    ) {
        let Connection {
            input,
            output,
            process,
        } = connection;
        let (peer, frames) = Peer::new();
        let root = folder.root.clone();
        let conversation = Conversation::new(peer, self.telling.clone(), root, environment);
        let conversation = Arc::new(conversation);
        let for_faults = self.clone();
        let writing =
            tokio::spawn(async move { peer::write(frames, output, &for_faults.faults).await });
        let mut listening = tokio::spawn(conversation.clone().listen(input));
        let timeline = script.1.timeline.clone();
        let mut talk = Talk::new(self.clone(), conversation.clone(), script, folder, writing);
        let stopped = tokio::select! {
            played = talk.play() => played.err(),
            () = stop.cancelled() => Some(Stopped::Told),
        };
        if process.is_some() && stopped.is_none() {
            // Late updates of the last turn are updates too.
            self.telling
                .clock
                .sleep_until(self.telling.clock.now() + LINGER)
                .await;
        }
        // Its input is still open: nobody told it to end.
        let has_left = stopped.is_none() && conversation.state().is_over;
        let n_open = conversation.terminals.n_open();
        if stopped.is_none() && n_open > 0 {
            let message = format!("the agent did not release {n_open} of its terminals");
            let found = Diagnostic::warning(codes::ACP_UNEXPECTED, message);
            let help = "an agent sends `terminal/release` for each terminal that it created";
            conversation.found(found.with_help(help)).await;
        }
        conversation.terminals.close();
        conversation.peer.close();
        // What waits to be read by an agent that doesn't is given up.
        let folder = std::mem::take(&mut talk.session_folder);
        let written = talk.end_writing(stopped.is_some()).await;
        let (status, errors) = match process {
            Some(process) => process.end().await,
            None => (None, String::new()),
        };
        // What it still said is heard to the end.
        let _ = tokio::time::timeout(LAST_WORDS, &mut listening).await;
        listening.abort();
        if stopped.is_none() && self.options.offers_tools {
            look_at_end(&conversation, &timeline, folder).await;
        }
        let is_gone =
            stopped.is_some_and(|it| it == Stopped::Gone) && written != WriterEnd::Crashed;
        let has_crashed = has_left && status.is_some_and(|status| !status.success());
        if is_gone || has_crashed {
            let how = status.map_or_else(String::new, |status| format!(" ({status})"));
            let (code, what) = match is_gone {
                true => (codes::ACP_MISSING, "ended before the script did"),
                false => (codes::ACP_UNEXPECTED, "crashed after its last answer"),
            };
            let mut found = Diagnostic::error(code, format!("the agent {what}{how}"));
            let lines: Vec<&str> = errors.lines().collect();
            for line in &lines[lines.len().saturating_sub(SHOWN_LINES)..] {
                found = found.with_note(format!("stderr: {line}"));
            }
            conversation.found(found).await;
        }
    }

    /// What is said at the end.
    pub(super) async fn settle(&self, scripts: &[Arc<AcpScript>], writer: Writer) -> Verdict {
        let timeline_of = |idx: usize| scripts.get(idx).map(|script| &*script.timeline);
        let missed = "its event was not played; `--dry-run` lists where faults would be injected";
        for found in self.faults.unfired(timeline_of, missed) {
            self.telling.found(None, found).await;
        }
        let mut verdict = {
            let tallies = self.tallies();
            Verdict {
                n_sessions: tallies.n_sessions,
                n_prompts: tallies.n_prompts,
                could_not_run: tallies.could_not_run,
                ..Verdict::of(scripts, &tallies.played)
            }
        };
        if let Some(first) = verdict.unplayed.first()
            && self.telling.findings.n_failures() == 0
        {
            let message = format!(
                "prompt {} of `{}` was not played",
                first.turn, first.scenario
            );
            let found = Diagnostic::error(codes::ACP_MISSING, message);
            self.telling
                .found(None, found.with_note(first.place.clone()))
                .await;
        }
        self.telling.end(writer, &mut verdict).await;
        verdict
    }
}

/// Looks into the folder of a session that is over.
async fn look_at_end(conversation: &Conversation, timeline: &Timeline, mut folder: SessionFolder) {
    for path in folder.late() {
        let message = format!("the agent changed `{path}` after its last answer");
        let found = Diagnostic::error(codes::ACP_UNEXPECTED, message);
        conversation.found(found).await;
    }
    if timeline
        .events
        .iter()
        .any(|event| is_for_others(&event.kind))
    {
        // What is expected may be the work of others.
        return;
    }
    for artifact in &timeline.expectations.artifacts {
        if !probe::exists(&folder.root, &artifact.pattern).holds {
            let message = format!("no file matches `{}`", artifact.pattern);
            let found = Diagnostic::error(codes::EXPECTATION_FAILED, message);
            let found = found.at(&timeline.source, artifact.span);
            conversation.found(found).await;
        }
    }
}
