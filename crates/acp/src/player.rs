//! From files to a side of the protocol that is ready to play.

use std::path::PathBuf;
use std::sync::Arc;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::findings::logged;
use cuecard_runtime::load::{header, load};
use cuecard_runtime::scripted_faults::{PlannedFault, ScriptedFaults};
use cuecard_runtime::start_error::StartError;
use cuecard_runtime::trace_writer::{self, TraceOutput, Watcher, Writer};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::model::{EventKind, FaultKind, TimelineEvent};
use cuecard_timeline::script::{Act, PlayerKind, Selector};

use super::client::ReadyClient;
use super::mock_agent::ReadyAgent;
use super::options::AcpOptions;
use super::script::AcpScript;
use super::telling::Telling;
use super::verdict::Notice;

/// A side of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The stand-in for an agent.
    Agent,
    /// The client of a real one.
    Client,
}

/// Plays timelines, before it starts.
#[derive(Default)]
pub struct AcpPlayer {
    paths: Vec<PathBuf>,
    options: AcpOptions,
    trace: Option<TraceOutput>,
    watcher: Option<Watcher<Notice>>,
}

/// What has been read, and the trace that has begun.
pub(super) struct Ready {
    pub(super) scripts: Vec<Arc<AcpScript>>,
    pub(super) selector: Selector,
    pub(super) telling: Telling,
    pub(super) writer: Writer,
    /// What was found in the files.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The scripts, what chooses among all that were read, and what was found in the files.
type Read = (Vec<Arc<AcpScript>>, Selector, Vec<Diagnostic>);

impl AcpPlayer {
    /// A player of the timelines in these files and folders.
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

    /// Reads the files, and tells what would go wrong on purpose.
    ///
    /// # Errors
    /// [`StartError::Files`]: bad files, all of their errors at once.
    pub fn planned_faults(&self, side: Side) -> Result<Vec<PlannedFault>, StartError> {
        let (scripts, ..) = self.read(side)?;
        let timeline_of = |idx: usize| scripts.get(idx).map(|script| &*script.timeline);
        Ok(faults_of(&scripts, side).planned(timeline_of, |()| 1))
    }

    /// Reads the files: a stand-in for an agent, which can serve a client then.
    ///
    /// # Errors
    /// [`StartError`]: bad files, all of their errors at once; a trace that can't be written.
    pub async fn agent(self) -> Result<ReadyAgent, StartError> {
        let (ready, options) = self.ready(Side::Agent).await?;
        let faults = faults_of(&ready.scripts, Side::Agent);
        Ok(ReadyAgent::new(ready, options, faults))
    }

    /// Reads the files: a client, which can drive agents then.
    ///
    /// # Errors
    /// [`StartError`]: bad files, all of their errors at once; a trace that can't be written.
    pub async fn client(self) -> Result<ReadyClient, StartError> {
        let (ready, options) = self.ready(Side::Client).await?;
        let faults = faults_of(&ready.scripts, Side::Client);
        Ok(ReadyClient::new(ready, options, faults))
    }

    fn read(&self, side: Side) -> Result<Read, StartError> {
        let play = &self.options.play;
        let mut loaded = load(&self.paths, play, |timeline| {
            let (timeline, mut found) = cuecard_runtime::media::embedded(timeline, |_| true);
            let (script, compiled) = AcpScript::compile(timeline, play.is_strict);
            found.extend(compiled);
            (script, found)
        });
        if side == Side::Client {
            // A client chooses no scenario by its prompt.
            loaded
                .diagnostics
                .retain(|found| found.code != codes::SELECT_SAME);
        }
        if loaded.is_bad(play.skip_bad) {
            return Err(StartError::Files(loaded.diagnostics));
        }
        let mut scripts = loaded.scripts;
        let timelines = scripts.iter().map(|script| &*script.timeline);
        let name = play.scenario_name.as_deref();
        let selector = Selector::new(timelines, play.max_distance);
        if let Some(unknown) = selector.unknown_name(name) {
            return Err(StartError::Files(vec![unknown]));
        }
        if let Some(name) = name.filter(|_| side == Side::Client) {
            scripts.retain(|script| script.timeline.name == name);
        }
        Ok((scripts, selector, loaded.diagnostics))
    }

    async fn ready(self, side: Side) -> Result<(Ready, AcpOptions), StartError> {
        let (scripts, selector, diagnostics) = self.read(side)?;
        let clock = Clock::start();
        let trace = self.trace.map(|trace| {
            let timelines = scripts.iter().map(|script| &*script.timeline);
            let header = header(&trace.run_id, timelines);
            (trace, header)
        });
        let secrets = scripts
            .iter()
            .flat_map(|script| script.timeline.acp.secrets());
        let secrets = secrets.collect();
        let (teller, writer) =
            trace_writer::start(clock, secrets, trace, self.watcher).map_err(StartError::Io)?;
        let logs = diagnostics.iter().map(logged).collect();
        teller.events(clock.now(), logs).await;
        let ready = Ready {
            telling: Telling::new(self.options.play.is_strict, clock, teller),
            scripts,
            selector,
            writer,
            diagnostics,
        };
        Ok((ready, self.options))
    }
}

/// The faults of scripts, and whether each can ever happen: what a side sends can be spoiled.
fn faults_of(scripts: &[Arc<AcpScript>], side: Side) -> ScriptedFaults<()> {
    let timelines = scripts.iter().map(|script| &*script.timeline);
    ScriptedFaults::of(timelines, |_, _, event: &TimelineEvent, kind: FaultKind| {
        let act = PlayerKind::Acp.cell(&event.kind).act;
        match (side, act, &event.kind) {
            (_, _, EventKind::SessionStart(_)) => Err("nothing is sent at this event"),
            (Side::Client, Act::Awaits, _)
                if matches!(
                    kind,
                    FaultKind::Merge | FaultKind::Reorder | FaultKind::Stderr
                ) =>
            {
                Err(
                    "a client sends nothing after it before it is answered, and nothing to standard error",
                )
            }
            (Side::Agent, _, EventKind::PermissionRequest(_) | EventKind::AgentFileReads(_))
                if matches!(kind, FaultKind::Merge | FaultKind::Reorder) =>
            {
                Err("the agent sends nothing after it before it is answered")
            }
            (Side::Agent, Act::Acts | Act::ActsAndAwaits, _) | (Side::Client, Act::Awaits, _) => {
                Ok(())
            }
            (Side::Agent, ..) => Err(
                "an ACP agent sends nothing at this event; put it at an `llmResponse` or a tool call",
            ),
            (Side::Client, ..) => {
                Err("a client sends nothing at this event; put it at `userInputs`")
            }
        }
    })
}
