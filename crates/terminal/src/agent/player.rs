//! Plays a session, step by step.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use cuecard_runtime::findings::{Findings, logged};
use cuecard_runtime::tap::{Listener, Recorder};
use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::value::cut;
use cuecard_timeline::model::keys::{KeyModes, read_keys};
use cuecard_timeline::model::{
    BlockKind, EventKind, PlanEntry, ResponseElement, TimelineEvent, ToolUse, UserInput,
};
use cuecard_timeline::script::{
    Act, EventPart, PlayerKind, StepRole, TerminalStep, Wanted, block_text, normalise,
};
use cuecard_trace::{
    End, Event, EventData, FinalOutput, Message, MessageReceived, Plan, RunStatus, Thought,
};
use serde_json::json;
use std::sync::mpsc;

use super::calls::OpenCall;
use super::input::Input;
use super::pace::Pace;
use super::printing::{Printer, TerminalOutput};
use super::tools::Tools;
use super::{AgentOptions, AgentScript, AgentVerdict, MockAgent};
use crate::control::{ControlFinding, Fingerprint, FromAgent};

/// A session that is being played.
pub(super) struct Player {
    scripts: Vec<Arc<AgentScript>>,
    selector: cuecard_timeline::script::Selector,
    pub(super) options: AgentOptions,
    /// The scenario, once it is chosen.
    pub(super) script: Option<Arc<AgentScript>>,
    pub(super) printer: Printer,
    pub(super) recorder: Recorder<'static>,
    /// What was recorded and the executor was not told.
    unsent: mpsc::Receiver<serde_json::Value>,
    pub(super) findings: Findings,
    pub(super) pace: Pace,
    input: Input,
    /// A prompt that was read to choose the scenario.
    read_prompt: Option<String>,
    pub(super) tools: Tools,
    /// Calls that have begun and not ended, by their events.
    pub(super) open: BTreeMap<usize, OpenCall>,
    plan: Vec<PlanEntry>,
    /// What it is saying or thinking, piece by piece.
    pending: Option<PendingMessage>,
    /// What the agent said since the last prompt.
    said: String,
    /// Nothing more of the turn is played: the user has cancelled it.
    is_cancelled: bool,
}

/// Something that is being said.
struct PendingMessage {
    /// The element of the response.
    piece: (usize, usize),
    is_thought: bool,
    text: String,
}

/// What ends a session early.
enum Stop {
    /// The user does.
    Interrupted,
    /// There is nobody to type what the script waits for.
    NoInput,
}

impl Player {
    pub(super) async fn start(
        agent: MockAgent,
        output: TerminalOutput,
        mut recorder: Recorder<'static>,
    ) -> Self {
        let MockAgent {
            scripts,
            selector,
            options,
            ..
        } = agent;
        let (sender, unsent) = mpsc::channel();
        let clock = recorder.clock();
        let (pace, problem) =
            Pace::new((clock, options.play.speed), options.control.as_ref()).await;
        if pace.is_controlled() {
            recorder.tell(Box::new(ControlListener(sender)));
        }
        let tools = Tools::new(
            options.workspace.clone(),
            options.policy.clone(),
            options.environment.clone(),
        );
        let mut player = Self {
            findings: Findings::new(options.play.is_strict),
            input: Input::open(),
            printer: Printer::new(output),
            scripts,
            selector,
            script: None,
            recorder,
            unsent,
            pace,
            read_prompt: None,
            tools,
            open: BTreeMap::new(),
            plan: Vec::new(),
            pending: None,
            said: String::new(),
            is_cancelled: false,
            options,
        };
        if let Some(reason) = problem {
            let message =
                format!("the executor can't be reached: {reason}; the agent keeps its own time");
            player
                .find(
                    Diagnostic::warning(codes::TERMINAL_NO_CONTROL, message),
                    None,
                )
                .await;
        }
        if player.input.is_terminal {
            player.printer.pastes(true);
        }
        player
    }

    /// Plays the whole session; whether the user ended it.
    pub(super) async fn play(&mut self) -> bool {
        if let Err(Stop::Interrupted) = self.play_all().await {
            return true;
        }
        if self.pace.is_abandoned() {
            let message = "the run plays another timeline, or it has ended";
            self.printer.error(message);
            let found = Diagnostic::error(codes::TERMINAL_NO_CONTROL, message);
            self.find(found, None).await;
        }
        false
    }

    async fn play_all(&mut self) -> Result<(), Stop> {
        let script = self.choose().await?;
        self.script = Some(script.clone());
        self.tools.connect(&script.timeline.acp.mcp_servers);
        if self.options.simulates && self.pace.is_controlled() {
            // Who runs it would take what is told for what was done.
            let message = "the mock agent simulates its tools: their results are not compared";
            let note = self
                .findings
                .strictly_noted(Diagnostic::note(codes::TOOL_SIMULATED, message));
            self.find(note, None).await;
        }
        while let Some(idx) = self.pace.next(script.steps.len()).await {
            let step = script.steps[idx];
            let interrupted = self.input.pressed_ctrl_c();
            // Where the script has none, a Ctrl-C is the user's own. At a prompt it is a key.
            let is_own = step.role != StepRole::Prompt
                && !self.is_cancelled
                && !self.pace.is_controlled()
                && !is_interrupted_later(&script, idx);
            tokio::select! {
                biased;
                done = self.step(step, &script) => done?,
                () = interrupted, if is_own => self.interrupt(step).await,
            }
            let mut below = script.steps.iter().skip(idx + 1);
            if !below.any(|it| it.scheduled.event_idx == step.scheduled.event_idx) {
                self.flush_message();
            }
            self.tell_executor().await;
            self.pace.tell(&FromAgent::Done(idx)).await;
        }
        if let Some(more) = self.input.unread().filter(|_| !self.pace.is_controlled()) {
            let message = format!("the input goes on after the script: {:?}", cut(&more, 200));
            self.find(Diagnostic::error(codes::TERMINAL_INPUT, message), None)
                .await;
        }
        Ok(())
    }

    /// The scenario: the one that the executor plays, too; without an executor the only one, the one of the name, or that
    /// of the first prompt.
    async fn choose(&mut self) -> Result<Arc<AgentScript>, Stop> {
        let name = self.options.play.scenario_name.as_ref();
        let scripts = self.scripts.iter();
        let named = scripts.filter(|script| name.is_none_or(|name| script.timeline.name == *name));
        let named: Vec<Arc<AgentScript>> = named.cloned().collect();
        if self.pace.is_controlled() {
            for script in named {
                if self.pace.offer(Fingerprint::of(&script.timeline)).await {
                    return Ok(script);
                }
            }
            return Err(Stop::NoInput);
        }
        if let ([script, ..], Some(_)) | ([script], None) = (&named[..], name) {
            return Ok(script.clone());
        }
        loop {
            let prompt = self.read_prompt().await?;
            let wanted = Wanted {
                prompts: &[&prompt],
                ..Wanted::default()
            };
            match self.selector.select(wanted) {
                Ok(selection) => {
                    self.read_prompt = Some(prompt);
                    return Ok(self.scripts[selection.scenario_idx].clone());
                }
                Err(error) => {
                    let found = *error;
                    self.printer.error(&found.message);
                    self.find(found, None).await;
                }
            }
        }
    }

    async fn step(&mut self, step: TerminalStep, script: &AgentScript) -> Result<(), Stop> {
        let event_idx = step.scheduled.event_idx;
        let event = &script.timeline.events[event_idx];
        let act = PlayerKind::Agent.cell(&event.kind).act;
        match (step.role, act) {
            (StepRole::History, _) => {
                self.history(step, event).await;
                return Ok(());
            }
            (StepRole::Prompt, _) => {
                self.is_cancelled = false;
                self.await_prompt(step, script).await?;
                self.pace.is_now(step.due_ms);
                return Ok(());
            }
            (_, Act::Acts | Act::Awaits | Act::ActsAndAwaits) => {}
            (_, Act::NotEvaluated) => {
                let message = format!(
                    "`{}` is not evaluated: it needs a client of ACP",
                    event.kind.as_str()
                );
                let found = Diagnostic::note(codes::MODEL_ASSERT_UNJUDGED, message)
                    .at(&script.timeline.source, event.span);
                self.find(found, Some(event_idx)).await;
                return Ok(());
            }
            _ => return Ok(()),
        }
        if self.is_cancelled {
            return Ok(());
        }
        self.pace.wait_for(step.due_ms).await;
        let since = self.recorder.clock().now();
        match &event.kind {
            EventKind::UserInputs(inputs) => self.await_keys(step, inputs, script).await?,
            EventKind::UserCancelSession { .. } => {
                if self.input.is_terminal {
                    self.input.interrupted().await;
                } else {
                    let message = "nobody can cancel a session whose input is no terminal";
                    self.differs(codes::TERMINAL_INPUT, event_idx, message.to_owned())
                        .await;
                }
                self.cancel().await;
            }
            _ => self.act(step, event).await,
        }
        // What takes longer than the script says moves all that follows.
        let took = self.recorder.clock().now().saturating_sub(since);
        self.pace.delay(took);
        Ok(())
    }

    /// What was said and done before the session.
    async fn history(&mut self, step: TerminalStep, event: &TimelineEvent) {
        match (&event.kind, step.scheduled.part) {
            (EventKind::UserInputs(inputs), EventPart::Input(idx)) => {
                self.printer.begin_prompt();
                self.printer
                    .echo(&inputs[idx].prompt_text().unwrap_or_default());
                self.printer.end_prompt();
            }
            (EventKind::ToolUse(call), EventPart::CallStart) => {
                self.printer.call(&call.tool, &call.args);
            }
            (EventKind::ToolUse(call), EventPart::CallEnd) => {
                self.printer.answer(&super::calls::scripted_outcome(call));
            }
            (EventKind::Response(_) | EventKind::AgentPlan(_), _) => self.act(step, event).await,
            _ => {}
        }
    }

    async fn act(&mut self, step: TerminalStep, event: &TimelineEvent) {
        let event_idx = step.scheduled.event_idx;
        if !matches!(event.kind, EventKind::Response(_)) {
            self.flush_message();
        }
        match (&event.kind, step.scheduled.part) {
            (EventKind::Response(response), part) => {
                let (EventPart::Think { element_idx, .. }
                | EventPart::Assistant { element_idx, .. }
                | EventPart::Error(element_idx)) = part
                else {
                    return;
                };
                let piece = (event_idx, element_idx);
                match (&response.elements[element_idx], part) {
                    (ResponseElement::Think(entries), EventPart::Think { entry_idx, .. }) => {
                        let text = &entries[entry_idx].value;
                        self.add_piece(piece, true, text);
                        self.printer.think(piece, text);
                    }
                    (
                        ResponseElement::Assistant(entries),
                        EventPart::Assistant { entry_idx, .. },
                    ) => {
                        let block = &entries[entry_idx].value;
                        let text = block_text(block);
                        self.add_piece(piece, false, &text);
                        match &block.kind {
                            BlockKind::Plan(entries) => self.printer.plan(entries),
                            _ => self.printer.say(piece, &text),
                        }
                    }
                    (ResponseElement::Error(error), _) => self.printer.error(&error.message),
                    _ => {}
                }
            }
            (EventKind::ToolUse(call), part) => self.call(event_idx, call, part).await,
            (EventKind::AgentEdits(edit), _) => self.edit(event_idx, edit).await,
            (EventKind::AgentPlan(plan), _) => {
                if plan.replaces {
                    self.plan.clear();
                }
                self.plan.extend(plan.entries.iter().cloned());
                let entries = self.plan.iter().map(
                    |entry| json!({"content": entry.content, "status": entry.status.as_str()}),
                );
                self.recorder.record(EventData::Plan(Plan {
                    entries: entries.collect(),
                }));
                self.printer.plan(&self.plan);
            }
            _ => {}
        }
    }

    /// A piece of what the agent says or thinks.
    fn add_piece(&mut self, piece: (usize, usize), is_thought: bool, text: &str) {
        match &mut self.pending {
            Some(saying) if saying.piece == piece => saying.text.push_str(text),
            _ => {
                self.flush_message();
                self.pending = Some(PendingMessage {
                    piece,
                    is_thought,
                    text: text.to_owned(),
                });
            }
        }
    }

    /// What the agent is saying is whole.
    fn flush_message(&mut self) {
        let Some(PendingMessage {
            is_thought, text, ..
        }) = self.pending.take()
        else {
            return;
        };
        self.recorder.record(match is_thought {
            true => EventData::Thought(Thought { text }),
            false => {
                if !self.said.is_empty() {
                    self.said.push('\n');
                }
                self.said.push_str(&text);
                EventData::Message(Message {
                    role: "assistant".to_owned(),
                    content: text,
                })
            }
        });
    }

    /// A prompt of the user's.
    async fn read_prompt(&mut self) -> Result<String, Stop> {
        self.printer.begin_prompt();
        let is_terminal = self.input.is_terminal;
        let printer = &mut self.printer;
        let typing = |removed: &str, added: &str| {
            printer.erase(removed);
            printer.echo(added);
        };
        let prompt = self.input.prompt(typing).await;
        if let Some(prompt) = prompt.as_ref().filter(|_| !is_terminal) {
            self.printer.echo(prompt);
        }
        self.printer.end_prompt();
        match prompt {
            Some(prompt) => Ok(prompt),
            None if is_terminal && !self.input.is_over => Err(Stop::Interrupted),
            None => Err(Stop::NoInput),
        }
    }

    async fn await_prompt(&mut self, step: TerminalStep, script: &AgentScript) -> Result<(), Stop> {
        let event_idx = step.scheduled.event_idx;
        let (EventKind::UserInputs(inputs), EventPart::Input(idx)) =
            (&script.timeline.events[event_idx].kind, step.scheduled.part)
        else {
            return Ok(());
        };
        self.answer_is_over();
        self.recorder.settle();
        let wanted = inputs[idx].prompt_text().unwrap_or_default();
        let came = match self.read_prompt.take() {
            Some(prompt) => Ok(prompt),
            None => self.read_prompt().await,
        };
        let came = match came {
            Ok(came) => came,
            Err(stop) => {
                let message = format!("the prompt {:?} did not come", cut(&wanted, 200));
                self.differs(codes::TERMINAL_INPUT, event_idx, message)
                    .await;
                return Err(stop);
            }
        };
        self.recorder
            .record(EventData::MessageReceived(MessageReceived {
                role: "user".to_owned(),
                content: came.clone(),
            }));
        let is_any = script.timeline.server.any_prompt && event_idx == first_prompt(script);
        if normalise(&came) != normalise(&wanted) {
            let message = "the prompt is not the one that the script expects".to_owned();
            let (code, severity) = match is_any {
                true => (
                    codes::SELECT_DOUBT,
                    cuecard_source::diagnostic::Severity::Warning,
                ),
                false => (
                    codes::TERMINAL_INPUT,
                    cuecard_source::diagnostic::Severity::Error,
                ),
            };
            let mut found = self
                .finding(code, event_idx, message)
                .with_note(format!("expected: {}", cut(&wanted, 300)))
                .with_note(format!("typed:    {}", cut(&escaped(&came), 300)))
                .with_help(
                    "correct the prompt or the timeline; `--any-prompt` takes any first prompt",
                );
            found.severity = severity;
            self.find(found, Some(event_idx)).await;
        }
        Ok(())
    }

    /// Keys that the script has pressed.
    async fn await_keys(
        &mut self,
        step: TerminalStep,
        inputs: &[UserInput],
        script: &AgentScript,
    ) -> Result<(), Stop> {
        let EventPart::Input(idx) = step.scheduled.part else {
            return Ok(());
        };
        let text = inputs[idx].prompt_text().unwrap_or_default();
        let modes = KeyModes {
            bracketed_paste: self.input.is_terminal,
            ..KeyModes::default()
        };
        let keys = read_keys(&text).unwrap_or_default();
        let wanted: Vec<u8> = keys.iter().flat_map(|key| key.bytes(modes)).collect();
        self.recorder.settle();
        let came = self.input.keys(wanted.len()).await;
        if came != wanted {
            let message = "the keys are not those that the script expects";
            let found = self
                .finding(
                    codes::TERMINAL_INPUT,
                    step.scheduled.event_idx,
                    message.to_owned(),
                )
                .with_note(format!("expected: {:?}", String::from_utf8_lossy(&wanted)))
                .with_note(format!("typed:    {:?}", String::from_utf8_lossy(&came)));
            self.find(found, Some(step.scheduled.event_idx)).await;
        }
        let _ = script;
        match came.len() < wanted.len() {
            true => Err(Stop::NoInput),
            false => Ok(()),
        }
    }

    /// The user has cancelled the turn: nothing more of it is done.
    async fn cancel(&mut self) {
        self.is_cancelled = true;
        for event_idx in self.open.keys().copied().collect::<Vec<_>>() {
            if let Some(call) = self.call_of(event_idx) {
                self.cancel_call(event_idx, &call).await;
            }
        }
        self.printer.error("Interrupted");
    }

    fn call_of(&self, event_idx: usize) -> Option<ToolUse> {
        match &self.script.as_ref()?.timeline.events[event_idx].kind {
            EventKind::ToolUse(call) => Some(call.clone()),
            _ => None,
        }
    }

    /// The user interrupts the turn in the midst of a step, although the script does not.
    async fn interrupt(&mut self, step: TerminalStep) {
        self.input.use_ctrl_c().await;
        self.is_cancelled = true;
        let event_idx = step.scheduled.event_idx;
        let mut open: Vec<usize> = self.open.keys().copied().collect();
        if step.scheduled.part == EventPart::CallStart && !open.contains(&event_idx) {
            open.push(event_idx);
        }
        for event_idx in open {
            if let Some(call) = self.call_of(event_idx) {
                self.abort_call(event_idx, &call).await;
            }
        }
        self.printer.error("Interrupted");
        let message = "the user interrupted the turn, and the timeline doesn't: the rest of the turn was not played";
        self.differs(codes::TERMINAL_INPUT, event_idx, message.to_owned())
            .await;
    }

    /// What the agent said is its answer.
    fn answer_is_over(&mut self) {
        self.flush_message();
        if !self.said.is_empty() {
            self.recorder.record(EventData::FinalOutput(FinalOutput {
                role: "assistant".to_owned(),
                content: std::mem::take(&mut self.said),
                format_hint: None,
            }));
        }
    }

    /// A finding about an event.
    pub(super) fn finding(&self, code: Code, event_idx: usize, message: String) -> Diagnostic {
        let found = Diagnostic::error(code, message);
        match &self.script {
            Some(script) => {
                let event = &script.timeline.events[event_idx];
                found
                    .at(&script.timeline.source, event.span)
                    .with_pointer(event.path.clone())
            }
            None => found,
        }
    }

    pub(super) async fn differs(&mut self, code: Code, event_idx: usize, message: String) {
        let found = self.finding(code, event_idx, message);
        self.find(found, Some(event_idx)).await;
    }

    pub(super) async fn find(&mut self, found: Diagnostic, event_idx: Option<usize>) {
        let found = self.findings.strictly(found);
        if self.findings.keep(&found) {
            self.recorder.record(logged(&found));
        }
        if self.pace.is_controlled() {
            let message = FromAgent::Found(ControlFinding::of(&found, event_idx));
            self.pace.tell(&message).await;
        }
    }

    /// Everything recorded so far goes into the trace and to the executor.
    async fn tell_executor(&mut self) {
        self.recorder.settle();
        while let Ok(event) = self.unsent.try_recv() {
            self.pace.tell(&FromAgent::Trace(event)).await;
        }
    }

    pub(super) async fn end(mut self, is_interrupted: bool) -> io::Result<AgentVerdict> {
        self.answer_is_over();
        self.printer.finish();
        if self.input.is_terminal {
            self.printer.pastes(false);
        }
        self.tools.close().await;
        self.tell_executor().await;
        let n_failures = self.findings.n_failures();
        let status = match (is_interrupted, n_failures) {
            (true, _) => RunStatus::Blocked,
            (false, 0) => RunStatus::Success,
            (false, _) => RunStatus::Failed,
        };
        let elapsed = self.recorder.clock().now();
        self.recorder.end(&End::after(elapsed, status));
        if let Some(error) = self.recorder.take_error() {
            return Err(error);
        }
        Ok(AgentVerdict {
            scenario: self.script.map(|script| script.timeline.name.clone()),
            findings: self.findings.list(),
            n_failures,
            is_interrupted,
        })
    }
}

/// Whether the script has an interrupt or keys before the next prompt.
fn is_interrupted_later(script: &AgentScript, idx: usize) -> bool {
    let rest = script.steps[idx..].iter().enumerate();
    let of_turn = rest.take_while(|(nth, step)| *nth == 0 || step.role != StepRole::Prompt);
    let mut kinds = of_turn.map(|(_, step)| {
        (
            &script.timeline.events[step.scheduled.event_idx].kind,
            step.role,
        )
    });
    kinds.any(|(kind, role)| match kind {
        EventKind::UserCancelSession { .. } => true,
        EventKind::UserInputs(_) => role == StepRole::Live,
        _ => false,
    })
}

/// A text with its control characters, but for line ends, as escapes.
fn escaped(text: &str) -> String {
    let is_shown = |sign: char| !sign.is_control() || sign == '\n';
    text.chars()
        .map(|sign| match is_shown(sign) {
            true => sign.to_string(),
            false => sign.escape_default().to_string(),
        })
        .collect()
}

/// The event of the prompt that a scenario begins with.
fn first_prompt(script: &AgentScript) -> usize {
    let mut steps = script.steps.iter();
    let first = steps.find(|step| step.role == StepRole::Prompt);
    first.map_or(usize::MAX, |step| step.scheduled.event_idx)
}

/// Keeps events for the executor.
struct ControlListener(mpsc::Sender<serde_json::Value>);

impl Listener for ControlListener {
    fn event(&mut self, event: &Event) {
        let mut line = Vec::new();
        if event.write_line(&mut line).is_ok()
            && let Ok(json) = serde_json::from_slice(&line)
        {
            let _ = self.0.send(json);
        }
    }
}
