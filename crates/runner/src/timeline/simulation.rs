//! A run that only looks real: an agent service tells the timeline, and nothing is done.

use std::sync::mpsc;
use std::time::Duration;

use cuecard_runtime::load::PlayOptions;
use cuecard_service::{MockService, RunningService, ServiceOptions, TraceOutput};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::{EventKind, LocatedCheck, Timeline};
use cuecard_timeline::script::{Lane, StepRole, TerminalStep};
use cuecard_trace::Event;
use serde_json::json;

use super::checks::is_of_screen;
use super::executor::Executor;
use super::hold::Hold;
use super::{RunScript, TraceLines};

/// Where a program finds the service.
pub(super) const SERVICE_VARIABLE: &str = "CUECARD_SERVICE_URL";
/// How often it is looked whether a program has ended.
const LOOKS_EVERY: Duration = Duration::from_millis(50);
/// What to do about a check that nobody makes.
const HELP: &str = "run it in another mode, or leave the check out of this run with `rules`; `cuecard serve rest` only reports events";

/// An agent service that plays a timeline.
pub(super) struct Simulation {
    running: RunningService,
    events: mpsc::Receiver<Event>,
    pub(super) hold: Hold,
}

impl Simulation {
    /// Starts it. If a program follows it, it awaits the prompts that the program sends, and tells nothing behind what is
    /// to be looked at until that is done.
    pub(super) async fn start(
        script: &RunScript,
        play: &PlayOptions,
        has_program: bool,
    ) -> Result<Self, Vec<Diagnostic>> {
        let is_ours = if has_program {
            is_look
        } else {
            |_: &EventKind| false
        };
        let (hold, held) = Hold::new(script.timeline(), is_ours);
        let settings = ServiceOptions {
            play: PlayOptions {
                require_complete: true,
                scenario_name: None,
                tags: Vec::new(),
                ..play.clone()
            },
            waits_for_prompts: has_program,
            takes_any_prompt: true,
            hold: Some(held),
            ..ServiceOptions::default()
        };
        let (sender, events) = mpsc::channel();
        let trace = TraceOutput {
            out: Box::new(TraceLines::to(sender)),
            run_id: "service".to_owned(),
        };
        let running = MockService::from_files([script.file()])
            .options(settings)
            .trace(trace)
            .start()
            .await;
        match running {
            Ok(running) => Ok(Self {
                running,
                events,
                hold,
            }),
            Err(cuecard_service::StartError::Files(found)) => Err(found),
            Err(error) => Err(vec![Diagnostic::error(
                codes::TERMINAL_START,
                error.to_string(),
            )]),
        }
    }

    /// Its address.
    pub(super) fn url(&self) -> String {
        self.running.base_url()
    }

    /// What it told its trace since it was asked last.
    pub(super) fn events(&self) -> Vec<Event> {
        self.events.try_iter().collect()
    }
}

/// Whether a program is looked at there.
fn is_look(event: &EventKind) -> bool {
    matches!(event, EventKind::Assert(_) | EventKind::Screenshot(_))
}

/// Starts a session of a timeline at the service at `url`; its address.
///
/// # Errors
/// Why there is none, for people.
pub(crate) async fn start_session(
    client: &reqwest::Client,
    url: &str,
    timeline: &Timeline,
) -> Result<String, String> {
    let said = |error: reqwest::Error| format!("the service can't be reached: {error}");
    let prompt = timeline.effective_prompt();
    let task = json!({
        "prompt": prompt.unwrap_or_else(|| timeline.name.clone()),
        "repo": {"mode": "none"},
        "runtime": {"type": "local"},
        "agents": [{"type": "claude-code", "version": "latest", "count": 1}],
    });
    let request = client
        .post(format!("{url}/api/v1/tasks"))
        .header("x-scenario-name", &timeline.name);
    let answer = request.json(&task).send().await.map_err(said)?;
    let answer: Json = answer.json().await.map_err(said)?;
    let session = answer["session_ids"][0].as_str();
    let session = session.ok_or_else(|| format!("the task was refused: {answer}"))?;
    Ok(format!("{url}/api/v1/sessions/{session}"))
}

impl Executor<'_> {
    /// Starts the service, and without a program the session, too.
    pub(super) async fn start_simulation(&mut self) -> Result<(), Diagnostic> {
        let has_program = !self.options.which.program.is_empty();
        let started = Simulation::start(&self.script, &self.options.play, has_program).await;
        let simulation = match started {
            Ok(simulation) => simulation,
            Err(mut found) => {
                let last = found.pop();
                for found in found {
                    self.find(found).await;
                }
                let unknown = || {
                    Diagnostic::error(codes::TERMINAL_START, "the agent service can't be started")
                };
                return Err(last.unwrap_or_else(unknown));
            }
        };
        let url = simulation.url();
        self.simulation = Some(simulation);
        self.tell_unjudged(has_program).await;
        if has_program {
            return Ok(());
        }
        cuecard_runtime::tls::install();
        let client = reqwest::Client::builder().no_proxy().build();
        let session = match client {
            Ok(client) => start_session(&client, &url, self.script.timeline()).await,
            Err(error) => Err(error.to_string()),
        };
        let failed = |why| Diagnostic::error(codes::TERMINAL_START, why);
        session.map(|_| ()).map_err(failed)
    }

    /// Says what is left out, as nothing is done. A check that nobody makes fails the run.
    async fn tell_unjudged(&mut self, has_program: bool) {
        let script = self.script.clone();
        let expected = &script.timeline.expectations;
        if !expected.artifacts.is_empty() || (expected.exit_code.is_some() && !has_program) {
            let span = expected.artifacts.first().map(|artifact| artifact.span);
            let message = "nobody judges `expect`: this run only simulates";
            let found = Diagnostic::error(codes::MODEL_ASSERT_UNJUDGED, message).at(
                &script.timeline.source,
                span.or(expected.span).unwrap_or_default(),
            );
            self.find(found.with_help(HELP)).await;
        }
        for event in &script.timeline.events {
            let (is_check, what) = match &event.kind {
                EventKind::Assert(assert) => {
                    let is_seen = |check: &&LocatedCheck| has_program && is_of_screen(&check.check);
                    let mut left = assert.checks.iter().filter(|check| !is_seen(check));
                    let Some(left) = left.next() else {
                        continue;
                    };
                    (true, format!("nobody judges the assert `{}`", left.key))
                }
                EventKind::Screenshot(label) if !has_program => {
                    (true, format!("nobody takes the screenshot `{label}`"))
                }
                EventKind::UserCommand(command) if command.expect.is_some() => (
                    true,
                    "nobody judges what is expected of the command".to_owned(),
                ),
                EventKind::UserEdits { .. }
                | EventKind::ApplyPatch(_)
                | EventKind::UserCommand(_) => (
                    false,
                    "commands and patches of the user are left out".to_owned(),
                ),
                EventKind::UserCancelSession { .. } if !has_program => {
                    (false, "nobody interrupts without a program".to_owned())
                }
                EventKind::UserInputs(inputs)
                    if !has_program && inputs.iter().any(|input| input.target.is_some()) =>
                {
                    (false, "nobody types keys without a program".to_owned())
                }
                _ => continue,
            };
            let message = format!("{what}: this run only simulates");
            let found = Diagnostic::note(codes::MODEL_ASSERT_UNJUDGED, message)
                .at(&script.timeline.source, event.span)
                .with_pointer(event.path.clone());
            let mut found = self.findings.strictly_noted(found);
            if is_check {
                found.severity = Severity::Error;
                found = found.with_help(HELP);
            }
            self.find(found).await;
        }
    }

    /// Waits for the time of a step, and for what the service tells above it; `false`, and the run is over, if the program
    /// ends before that.
    pub(super) async fn await_simulation(&mut self, step: &TerminalStep) -> bool {
        let event_idx = step.scheduled.event_idx;
        let lane = self.script.timeline.events[event_idx].kind.row().lane;
        let is_prompt = step.role == StepRole::Prompt;
        if step.role == StepRole::History || lane == Lane::Agent {
            return true;
        }
        // Keys may come while the agent works.
        if (lane != Lane::User || is_prompt) && !self.told_above(event_idx).await {
            return false;
        }
        self.wait_for(step.due_ms).await;
        true
    }

    /// Waits for what the service tells above an event.
    pub(super) async fn told_above(&mut self, event_idx: usize) -> bool {
        loop {
            let Some(simulation) = &self.simulation else {
                return true;
            };
            self.awaits = match simulation.running.received().as_slice() {
                [] => "the program started a session".to_owned(),
                [prompts, ..] => format!(
                    "the service had told what stands above; the program has sent {} of {} prompts",
                    prompts.len(),
                    self.typed.len()
                ),
            };
            let looks = self.clock.sleep_until(self.clock.now() + LOOKS_EVERY);
            tokio::select! {
                () = simulation.running.told_above(event_idx) => return true,
                () = looks => {}
            }
            let cut_off = simulation.running.cut_off();
            if let Some(status) = cut_off {
                let last = self.script.timeline.events.len().saturating_sub(1);
                let message = format!("the program's session was {status} before this event");
                self.is_stuck = true;
                self.fails(codes::TERMINAL_ENDED, event_idx.min(last), message)
                    .await;
                return false;
            }
            if self.terminal.is_some() && self.program_has_ended() {
                let last = self.script.timeline.events.len().saturating_sub(1);
                let message = "the program ended before the session came to this event";
                let event_idx = event_idx.min(last);
                self.is_stuck = true;
                self.fails(codes::TERMINAL_ENDED, event_idx, message.to_owned())
                    .await;
                return false;
            }
        }
    }

    /// Takes over what the service found.
    pub(super) async fn end_simulation(&mut self, simulation: Simulation) {
        let Simulation {
            running,
            events,
            hold: _hold,
        } = simulation;
        if self.terminal.is_some() {
            self.compare_prompts(&running.received()).await;
        }
        let verdict = running.stop().await;
        self.record_of_player(events.try_iter().collect());
        for found in verdict.findings {
            self.find(found).await;
        }
    }

    /// Compares the prompts that the program sent with those that were typed.
    async fn compare_prompts(&mut self, received: &[Vec<String>]) {
        let message = match received {
            // What became of it was said.
            [] if self.is_stuck => return,
            [] => "the program started no session".to_owned(),
            [received] => {
                let words = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
                let typed: Vec<String> = self.typed.iter().map(words).collect();
                let received: Vec<String> = received.iter().map(words).collect();
                let count = typed.len().max(received.len());
                let Some(at) = (0..count).find(|&at| typed.get(at) != received.get(at)) else {
                    return;
                };
                let shown = |text: Option<&String>| match text {
                    Some(text) => format!("{:?}", cut(text, 200)),
                    None => "none".to_owned(),
                };
                format!(
                    "the program sent another prompt {}: typed {}, received {}",
                    at + 1,
                    shown(typed.get(at)),
                    shown(received.get(at))
                )
            }
            received => format!("the program started {} sessions", received.len()),
        };
        self.find_with_screen(Diagnostic::error(codes::TERMINAL_INPUT, message))
            .await;
    }
}
