//! The stand-in for an agent: serves a client to its verdict.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cuecard_runtime::lines::{Line, LineReader};
use cuecard_runtime::scripted_faults::ScriptedFaults;
use cuecard_runtime::trace_writer::Writer;
use cuecard_source::diagnostic::{Diagnostic, codes};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::agent::Agent;
use super::found::Refused;
use super::options::AcpOptions;
use super::peer::{self, Outgoing, Peer, WriterEnd};
use super::player::Ready;
use super::rpc;
use super::verdict::Verdict;

/// A longer line of the client is refused, in bytes.
const MAX_LINE: usize = 64 << 20;

/// A stand-in that has read its files.
pub struct ReadyAgent {
    agent: Arc<Agent>,
    frames: tokio::sync::mpsc::Receiver<Outgoing>,
    writer: Writer,
    diagnostics: Vec<Diagnostic>,
}

impl ReadyAgent {
    pub(super) fn new(ready: Ready, options: AcpOptions, faults: ScriptedFaults<()>) -> Self {
        let (peer, frames) = Peer::new();
        let Ready {
            scripts,
            selector,
            telling,
            writer,
            diagnostics,
        } = ready;
        let agent = Agent::new(options, scripts, selector, peer, faults, telling);
        Self {
            agent: Arc::new(agent),
            frames,
            writer,
            diagnostics,
        }
    }

    /// What was found in the files: warnings and notes, and the errors of files that were left out.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// How many scenarios there are.
    pub fn n_scenarios(&self) -> usize {
        self.agent.scripts.len()
    }

    /// Serves a client until its lines end, `stop` is cancelled or a fault ends it.
    pub async fn serve(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        stop: &CancellationToken,
    ) -> Verdict {
        let Self {
            agent,
            frames,
            writer,
            ..
        } = self;
        let for_faults = agent.clone();
        let mut writing =
            tokio::spawn(async move { peer::write(frames, output, &for_faults.faults).await });
        let mut lines = LineReader::new(Box::new(input), MAX_LINE);
        let mut end = None;
        loop {
            let line = tokio::select! {
                line = lines.next() => line,
                () = stop.cancelled() => break,
                ended = &mut writing => {
                    end = Some(ended.unwrap_or(WriterEnd::Cut));
                    break;
                }
            };
            match line {
                Line::Whole(line) => agent.handle(&line).await,
                Line::TooLong(bound) => {
                    let message =
                        format!("a line of the client is longer than {} MiB", bound >> 20);
                    let refused = Refused::unexpected(rpc::INVALID_REQUEST, message);
                    agent.telling.found(None, *refused.found).await;
                    break;
                }
                Line::End => break,
            }
        }
        // An agent that has crashed can't be waited for.
        if end != Some(WriterEnd::Crashed) {
            agent.tell_abandoned().await;
        }
        agent.end().await;
        agent.peer.close();
        let end = match end {
            Some(end) => end,
            None => writing.await.unwrap_or(WriterEnd::Cut),
        };
        let mut verdict = settle(&agent, end).await;
        agent.telling.end(writer, &mut verdict).await;
        verdict
    }
}

/// What is said at the end.
async fn settle(agent: &Agent, end: WriterEnd) -> Verdict {
    let mut verdict = Verdict::of(&agent.scripts, &agent.played());
    verdict.n_sessions = agent.n_sessions.load(Ordering::Relaxed);
    verdict.n_prompts = agent.n_prompts.load(Ordering::Relaxed);
    verdict.is_crashed = end == WriterEnd::Crashed;
    let unplayed = &verdict.unplayed;
    if verdict.n_prompts == 0 && !unplayed.is_empty() && !verdict.is_crashed {
        let message = "the client sent no prompt that the script takes, so nothing was played";
        agent
            .telling
            .found(None, Diagnostic::error(codes::ACP_MISSING, message))
            .await;
    } else if let Some(first) = unplayed
        .first()
        .filter(|_| agent.options.play.require_complete)
    {
        let session = first.session.as_ref();
        let session = session.map(|session| format!(" in the session `{session}`"));
        let message = format!(
            "{} of the prompts were not played, first: prompt {} of `{}`{} ({})",
            unplayed.len(),
            first.turn,
            first.scenario,
            session.unwrap_or_default(),
            first.place
        );
        let found = Diagnostic::error(codes::ACP_MISSING, message);
        agent.telling.found(None, found).await;
    }
    let timeline_of = |idx: usize| agent.scripts.get(idx).map(|script| &*script.timeline);
    let missed = "its event was not played, or has no such frame; `--dry-run` lists where faults would be injected";
    for found in agent.faults.unfired(timeline_of, missed) {
        agent.telling.found(None, found).await;
    }
    verdict
}
