//! A stand-in for an agent that speaks the Agent Client Protocol: editors and other clients talk to it over two streams,
//! and a timeline says what it does.
//!
//! Lines come in, [`agent`] finds what each of them means to the script, [`turn`] plays the segment that a prompt opens,
//! and [`peer`] writes what is sent, with the faults that hit it. What the script is to a client is said by [`script`],
//! which does no I/O. What happened is in the verdict and the trace.

mod agent;
mod found;
mod media;
mod options;
mod peer;
mod rpc;
mod script;
mod session;
#[cfg(test)]
mod tests;
mod turn;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Json;
use cuecard_timeline::model::{EventKind, FaultKind, TimelineEvent};
use cuecard_timeline::script::{Act, PlayerKind, Selector};
use cuecard_trace::{End, Metrics, RunStatus};
use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

pub use cuecard_runtime::load::PlayOptions;
pub use cuecard_runtime::scripted_faults::PlannedFault;
pub use cuecard_runtime::start_error::StartError;
pub use cuecard_runtime::trace_writer::TraceOutput;
pub use options::{AcpOptions, DEFAULT_PATIENCE};

use agent::Agent;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::findings::logged;
use cuecard_runtime::lines::{Line, LineReader};
use cuecard_runtime::load::{Loaded, header, load};
use cuecard_runtime::scripted_faults::ScriptedFaults;
use cuecard_runtime::text_file::io_reason;
use cuecard_runtime::trace_writer::{self, Watcher, Writer};
use found::Refused;
use peer::{Outgoing, Peer, WriterEnd};
use script::AcpScript;

/// A longer line of the client is refused, in bytes.
const MAX_LINE: usize = 64 << 20;

/// What those who watch a stand-in are told, as it happens.
#[derive(Debug, Clone)]
pub enum Notice {
    /// A prompt was answered.
    Turn(TurnReport),
    /// Something failed, or is doubtful.
    Finding(Box<Diagnostic>),
}

/// A prompt that was answered.
#[derive(Debug, Clone, Serialize)]
pub struct TurnReport {
    /// The session.
    pub session: String,
    /// The scenario's name.
    pub scenario: String,
    /// Which of its prompts, from 1.
    pub turn: usize,
    /// The reason to stop, or the error.
    pub reason: String,
}

/// A segment that no session played to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnplayedTurn {
    /// The scenario's name.
    pub scenario: String,
    /// Which of its prompts, from 1.
    pub turn: usize,
    /// Where it stands: `file:line`.
    pub place: String,
}

/// How a run of a stand-in went.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Whether nothing failed.
    pub passed: bool,
    /// What failed and what is doubtful, in order; bounded.
    pub findings: Vec<Diagnostic>,
    /// How many failures there were.
    pub n_failures: u64,
    /// How many sessions there were.
    pub n_sessions: u64,
    /// How many prompts were taken.
    pub n_prompts: u64,
    /// How many segments there are.
    pub n_turns: usize,
    /// Segments that no session played to their end.
    pub unplayed: Vec<UnplayedTurn>,
    /// Whether a fault ended the agent.
    pub is_crashed: bool,
    /// Why the trace is not whole, if it isn't.
    pub trace_error: Option<String>,
}

impl Verdict {
    /// The verdict for machines.
    pub fn to_json(&self) -> Json {
        let findings = cuecard_report::diagnostics::list_to_json(&self.findings);
        json!({
            "passed": self.passed,
            "failures": self.n_failures,
            "sessions": self.n_sessions,
            "prompts": self.n_prompts,
            "turns": self.n_turns,
            "unplayed": self.unplayed,
            "crashed": self.is_crashed,
            "findings": findings,
            "trace_error": self.trace_error,
        })
    }
}

/// A stand-in for an agent, before it starts.
#[derive(Default)]
pub struct MockAgent {
    paths: Vec<PathBuf>,
    options: AcpOptions,
    trace: Option<TraceOutput>,
    watcher: Option<Watcher<Notice>>,
}

impl MockAgent {
    /// A stand-in that plays the timelines in these files and folders.
    pub fn from_files(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self {
            paths: paths.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Everything that can be said about it.
    #[must_use]
    pub fn options(mut self, options: AcpOptions) -> Self {
        self.options = options;
        self
    }

    /// Writes the trace of the run.
    #[must_use]
    pub fn trace(mut self, trace: TraceOutput) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Tells `watcher` what happens, on a thread of its own.
    #[must_use]
    pub fn watch(mut self, watcher: Watcher<Notice>) -> Self {
        self.watcher = Some(watcher);
        self
    }

    fn load(&self) -> Loaded<AcpScript> {
        let play = &self.options.play;
        load(&self.paths, play, |timeline| {
            let (timeline, mut found) = media::embedded(timeline);
            let (script, compiled) = AcpScript::compile(timeline, play.is_strict);
            found.extend(compiled);
            (script, found)
        })
    }

    /// Reads the files, and tells what would go wrong on purpose.
    ///
    /// # Errors
    /// [`StartError::Files`]: bad files, all of their errors at once.
    pub fn planned_faults(&self) -> Result<Vec<PlannedFault>, StartError> {
        let loaded = self.load();
        if loaded.is_bad(self.options.play.skip_bad) {
            return Err(StartError::Files(loaded.diagnostics));
        }
        let scripts = &loaded.scripts;
        let timeline_of = |idx: usize| scripts.get(idx).map(|script| &*script.timeline);
        Ok(faults_of(scripts).planned(timeline_of, |()| 1))
    }

    /// Reads the files.
    ///
    /// # Errors
    /// [`StartError`]: bad files, all of their errors at once; a trace that can't be written.
    pub async fn start(self) -> Result<ReadyAgent, StartError> {
        let loaded = self.load();
        if loaded.is_bad(self.options.play.skip_bad) {
            return Err(StartError::Files(loaded.diagnostics));
        }
        let Loaded {
            scripts,
            diagnostics,
            ..
        } = loaded;
        let timelines = || scripts.iter().map(|script| &*script.timeline);
        let selector = Selector::new(timelines(), self.options.play.max_distance);
        if let Some(unknown) = selector.unknown_name(self.options.play.scenario_name.as_deref()) {
            return Err(StartError::Files(vec![unknown]));
        }
        let clock = Clock::start();
        let trace = self.trace.map(|trace| {
            let header = header(&trace.run_id, timelines());
            (trace, header)
        });
        let (teller, writer) =
            trace_writer::start(clock, Vec::new(), trace, self.watcher).map_err(StartError::Io)?;
        let logs = diagnostics.iter().map(logged).collect();
        teller.events(clock.now(), logs).await;
        let faults = faults_of(&scripts);
        let (peer, frames) = Peer::new();
        let agent = Agent::new(
            self.options,
            scripts,
            selector,
            peer,
            faults,
            teller.clone(),
            clock,
        );
        Ok(ReadyAgent {
            agent: Arc::new(agent),
            frames,
            teller,
            writer,
            diagnostics,
        })
    }
}

/// The faults of scripts, and whether each can ever happen.
fn faults_of(scripts: &[Arc<AcpScript>]) -> ScriptedFaults<()> {
    let timelines = scripts.iter().map(|script| &*script.timeline);
    ScriptedFaults::of(timelines, |_, _, event: &TimelineEvent, _: FaultKind| {
        let acts = matches!(
            PlayerKind::Acp.cell(&event.kind).act,
            Act::Acts | Act::ActsAndAwaits
        );
        match &event.kind {
            EventKind::SessionStart(_) => Err("nothing is sent at this event"),
            _ if acts => Ok(()),
            _ => Err(
                "an ACP agent sends nothing at this event; put it at an `llmResponse` or a tool call",
            ),
        }
    })
}

/// A stand-in that has read its files.
pub struct ReadyAgent {
    agent: Arc<Agent>,
    frames: tokio::sync::mpsc::Receiver<Outgoing>,
    teller: trace_writer::TraceWriter<Notice>,
    writer: Writer,
    diagnostics: Vec<Diagnostic>,
}

impl ReadyAgent {
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
            teller,
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
                    agent.found(None, *refused.found).await;
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
        let elapsed = agent.clock.now();
        let status = match verdict.passed {
            true => RunStatus::Success,
            false => RunStatus::Failed,
        };
        teller
            .end(End {
                final_output: None,
                status,
                metrics: Metrics {
                    timing_ms_total: elapsed.as_secs_f64() * 1000.0,
                    timing_synthesized: false,
                    ..Metrics::default()
                },
                artifacts: serde_json::Map::new(),
            })
            .await;
        teller.close().await;
        let written = tokio::task::spawn_blocking(move || writer.join()).await;
        verdict.trace_error = written.ok().flatten().map(|error| io_reason(&error));
        verdict
    }
}

/// What is said at the end.
async fn settle(agent: &Agent, end: WriterEnd) -> Verdict {
    let unplayed: Vec<UnplayedTurn> = agent
        .unplayed()
        .into_iter()
        .map(|(scenario_idx, segment_idx)| {
            let script = &agent.scripts[scenario_idx];
            let timeline = &script.timeline;
            let event = timeline.events.get(script.bounds(segment_idx).0);
            let line = event.map_or(1, |event| timeline.source.position(event.span.start).line);
            UnplayedTurn {
                scenario: timeline.name.clone(),
                turn: segment_idx + 1,
                place: format!("{}:{line}", timeline.source.name()),
            }
        })
        .collect();
    let n_prompts = agent.n_prompts.load(Ordering::Relaxed);
    if n_prompts == 0 && !unplayed.is_empty() && end != WriterEnd::Crashed {
        let message = "the client sent no prompt, so nothing was played";
        agent
            .found(None, Diagnostic::error(codes::ACP_MISSING, message))
            .await;
    } else if let Some(first) = unplayed
        .first()
        .filter(|_| agent.options.play.require_complete)
    {
        let message = format!(
            "{} of the prompts were not played, first: prompt {} of `{}` ({})",
            unplayed.len(),
            first.turn,
            first.scenario,
            first.place
        );
        let found = Diagnostic::error(codes::ACP_MISSING, message);
        agent.found(None, found).await;
    }
    let timeline_of = |idx: usize| agent.scripts.get(idx).map(|script| &*script.timeline);
    let missed = "its event was not played, or has no such frame; `--dry-run` lists where faults would be injected";
    for found in agent.faults.unfired(timeline_of, missed) {
        agent.found(None, found).await;
    }
    let findings = agent.findings.list();
    Verdict {
        passed: agent.findings.n_failures() == 0,
        n_failures: agent.findings.n_failures(),
        findings,
        n_sessions: agent.n_sessions.load(Ordering::Relaxed),
        n_prompts,
        n_turns: agent
            .scripts
            .iter()
            .map(|script| script.segments.live.len())
            .sum(),
        unplayed,
        is_crashed: end == WriterEnd::Crashed,
        trace_error: None,
    }
}
