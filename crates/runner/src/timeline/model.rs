//! The model of a real agent: its stand-in plays the same timeline, and says which turns the agent has had.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use cuecard_llm::{
    DEFAULT_CHUNK, LlmOptions, MockLlm, Notice, RunningLlm, StartError, TraceOutput, TurnLead,
    Verdict,
};
use cuecard_runtime::clock::Clock;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::Json;
use cuecard_timeline::model::{EventKind, TimelineEvent};
use cuecard_timeline::profiles::{AgentName, Profiles};
use cuecard_timeline::script::LlmScript;
use cuecard_trace::Event;
use tokio::sync::watch;

use super::hold::Hold;
use super::{RunOptions, RunScript};

/// Whether the run does something there, during which the agent gets no answer.
pub(super) fn is_of_run(event: &EventKind) -> bool {
    matches!(
        event,
        EventKind::Assert(_)
            | EventKind::Screenshot(_)
            | EventKind::UserCommand(_)
            | EventKind::UserEdits { .. }
            | EventKind::ApplyPatch(_)
    )
}

/// When each turn was asked for, and when its answer was whole by the schedule; by the index of the turn.
type Served = BTreeMap<usize, (Duration, Duration)>;

/// A stand-in for a model that plays a timeline to an agent.
pub(super) struct Model {
    running: RunningLlm,
    pub(super) script: Arc<LlmScript>,
    pub(super) hold: Hold,
    /// For how many turns the agent has asked.
    n_asked: watch::Receiver<usize>,
    served: watch::Receiver<Served>,
    events: mpsc::Receiver<Event>,
}

impl Model {
    /// Starts it for the timeline of `script`, whose files are in `workspace`.
    pub(super) async fn start(
        script: &RunScript,
        options: &RunOptions,
        workspace: &Path,
        (clock, mut log): (Clock, File),
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut play = options.play.clone();
        play.require_complete = true;
        play.scenario_name = None;
        play.tags = Vec::new();
        let agent = options
            .which
            .preset
            .as_ref()
            .map(|preset| &preset.file.agent);
        let profiles = Profiles::with(options.which.profiles.clone());
        let (hold, until) = Hold::new(&script.timeline, is_of_run);
        let (asks, n_asked) = watch::channel(0);
        let lead = TurnLead {
            until,
            n_asked: asks,
        };
        let settings = LlmOptions {
            play,
            // One without a profile is known by the tools that it advertises.
            agent: agent
                .and_then(|name| AgentName::parse(name))
                .filter(|name| profiles.of_agent(name).is_some()),
            profiles: options.which.profiles.clone(),
            lead: Some(lead),
            chunk: options.chunk.unwrap_or(DEFAULT_CHUNK),
            workspace: workspace.to_owned(),
            environment: options.environment.clone(),
            ..LlmOptions::default()
        };
        let (sender, events) = mpsc::channel();
        let trace = TraceOutput {
            out: Box::new(TraceLines::to(sender)),
            run_id: "model".to_owned(),
        };
        let (report, served) = watch::channel(Served::new());
        let running = MockLlm::from_file(script.file())
            .options(settings)
            .trace(trace)
            .watch(Box::new(move |notice| {
                let Notice::Exchange(exchange) = notice else {
                    return;
                };
                if let Ok(line) = serde_json::to_string(exchange) {
                    // The trace has it too.
                    let _ = writeln!(log, "{line}");
                }
                if exchange.outcome == "turn"
                    && let Some(turn) = exchange.turn
                {
                    let asked = clock.now();
                    let whole = asked + Duration::from_millis(exchange.due_ms);
                    report.send_modify(|served| {
                        served.entry(turn - 1).or_insert((asked, whole));
                    });
                }
            }))
            .start()
            .await
            .map_err(|error| match error {
                StartError::Files(found) => found,
                error => {
                    let code = cuecard_source::diagnostic::codes::TERMINAL_START;
                    vec![Diagnostic::error(code, error.to_string())]
                }
            })?;
        let (script, _) = LlmScript::compile(script.timeline.clone(), false);
        Ok(Self {
            running,
            script: Arc::new(script),
            hold,
            n_asked,
            served,
            events,
        })
    }

    /// Its address.
    pub(super) fn url(&self) -> String {
        self.running.base_url()
    }

    /// The turns that stand above an event of the timeline.
    pub(super) fn turns_above(&self, event_idx: usize) -> usize {
        let turns = &self.script.turns.turns;
        turns.partition_point(|turn| turn.event_idx < event_idx)
    }

    /// Whether a turn of the model follows an event before the next prompt is typed.
    pub(super) fn goes_on(&self, event_idx: usize) -> bool {
        let Some(next) = self.script.turn(self.turns_above(event_idx)) else {
            return false;
        };
        // The prompt that the turn answers may stand above the event.
        let events = &self.script.timeline.events;
        let between = events.get(event_idx..next.event_idx).unwrap_or_default();
        let is_prompt = |event: &TimelineEvent| match &event.kind {
            EventKind::UserInputs(inputs) => inputs.iter().any(|input| input.target.is_none()),
            _ => false,
        };
        next.input.is_none() || !between.iter().any(is_prompt)
    }

    /// When a turn was asked for, and when its answer was whole; nothing if that has not happened.
    pub(super) fn served(&self, turn_idx: usize) -> Option<(Duration, Duration)> {
        self.served.borrow().get(&turn_idx).copied()
    }

    /// Whether a turn was answered.
    pub(super) fn was_served(&self, turn_idx: usize) -> bool {
        self.served(turn_idx).is_some()
    }

    /// Whether a turn was asked for; it may not be answered yet.
    pub(super) fn was_asked(&self, turn_idx: usize) -> bool {
        *self.n_asked.borrow() > turn_idx
    }

    /// Waits until a turn is asked for, or answered.
    pub(super) async fn goes_ahead(&self) {
        let (mut served, mut n_asked) = (self.served.clone(), self.n_asked.clone());
        served.mark_unchanged();
        n_asked.mark_unchanged();
        let (served, asked) = (served.changed(), n_asked.changed());
        tokio::select! {
            Ok(()) = served => {}
            Ok(()) = asked => {}
            else => std::future::pending().await,
        }
    }

    /// Whether the agent did something that the script does not have.
    pub(super) fn has_failed(&self) -> bool {
        self.running.verdict().n_failures > 0
    }

    /// What it told its trace since it was asked last.
    pub(super) fn events(&self) -> Vec<Event> {
        self.events.try_iter().collect()
    }

    /// Ends it; what it found.
    pub(super) async fn stop(self) -> (Verdict, Vec<Event>) {
        let Self {
            running,
            events,
            hold,
            ..
        } = self;
        // Nobody waits for us any more.
        drop(hold);
        let verdict = running.stop().await;
        (verdict, events.try_iter().collect())
    }
}

/// Where a trace is written for somebody who wants its events.
pub struct TraceLines {
    line: Vec<u8>,
    tell: Box<dyn FnMut(Event) + Send>,
}

impl TraceLines {
    /// Each event is told to `tell`.
    pub fn new(tell: impl FnMut(Event) + Send + 'static) -> Self {
        Self {
            line: Vec::new(),
            tell: Box::new(tell),
        }
    }

    /// Each event is sent. Nobody listens any more once the run is over.
    pub(crate) fn to(events: mpsc::Sender<Event>) -> Self {
        Self::new(move |event| drop(events.send(event)))
    }
}

impl std::fmt::Debug for TraceLines {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TraceLines").finish_non_exhaustive()
    }
}

impl Write for TraceLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            if byte != b'\n' {
                self.line.push(byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let event = serde_json::from_slice::<Json>(&line);
            if let Ok(event) = event.and_then(|json| Event::from_json(&json)) {
                (self.tell)(event);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
