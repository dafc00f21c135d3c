//! A real agent in the terminal: it is started as its preset says, and waited for by what it asks its model.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use cuecard_llm::{DUMMY_KEY, client_variables};
use cuecard_runtime::programs::Programs;
use cuecard_runtime::text_file::io_reason;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::model::{EventKind, ServerMode};
use cuecard_timeline::script::{Lane, StepRole, TerminalStep};
use cuecard_workspace::changes::FolderChanges;
use cuecard_workspace::commands::{CommandRequest, run};

use super::executor::Executor;
use super::model::{Model, is_of_run};
use super::presets::{VERSION_TIMEOUT, Values, version_in};

/// The program under test where nobody names one.
const DEFAULT_PROGRAM: &str = "ah";
/// How long an agent may take to ask its model for the next turn.
const AGENT_TIMEOUT: Duration = Duration::from_secs(120);
/// How often it is looked whether an agent is ready.
const LOOKS_EVERY: Duration = Duration::from_millis(50);
/// How long an agent that was told to quit has for it at least: some end threads and servers first.
const LONGEST_QUIT: Duration = Duration::from_secs(15);

/// How long an agent without a preset must stand still to be ready.
const STILL: Duration = Duration::from_millis(400);

impl Executor<'_> {
    /// Starts the model and lays out the agent's home; the command of the agent, and its variables in `env`.
    pub(super) async fn prepare_real_agent(
        &mut self,
        env: &mut Vec<(OsString, OsString)>,
    ) -> Result<Vec<OsString>, Diagnostic> {
        if let Some(boundary) = self.script.timeline.boundary() {
            let message = "a real agent knows nothing of the history above this";
            let found = self.finding(codes::TERMINAL_START, boundary, message.to_owned());
            return Err(
                found.with_help("run the timeline with the mock agent, or leave the history out")
            );
        }
        let mut url = String::new();
        if self.script.timeline.server.mode != Some(ServerMode::Real) {
            let workspace = self.places.workspace.clone();
            let log = self.run_dir.create_file("exchanges.jsonl".as_ref());
            let log = log.map_err(|error| {
                let message = format!("`exchanges.jsonl` can't be written: {}", io_reason(&error));
                Diagnostic::error(codes::FILE_WRITE, message)
            })?;
            let model =
                Model::start(&self.script, self.options, &workspace, (self.clock, log)).await;
            match model {
                Ok(model) => {
                    url = model.url();
                    self.model = Some(model);
                }
                Err(mut found) => {
                    let last = found.pop();
                    for found in found {
                        self.find(found).await;
                    }
                    return Err(last.unwrap_or_else(|| {
                        Diagnostic::error(codes::TERMINAL_START, "the model can't be started")
                    }));
                }
            }
            let variables = client_variables(&url, None);
            env.extend(
                variables
                    .into_iter()
                    .map(|(name, value)| (name.into(), value.into())),
            );
        }
        let Some(preset) = self.options.which.preset.clone() else {
            let program = self.options.which.program.clone();
            return Ok(match program.is_empty() {
                true => vec![DEFAULT_PROGRAM.into()],
                false => program,
            });
        };
        let values = Values {
            url: &url,
            key: DUMMY_KEY,
            home: &self.places.home,
            workspace: &self.places.workspace,
        };
        preset.furnish(values)?;
        let own = preset.env(values).into_iter();
        env.extend(own.map(|(name, value)| (name.into(), value.into())));
        let mut words = self.options.which.program.clone();
        if words.is_empty() {
            let programs = Programs {
                environment: &self.options.environment,
            };
            let program = programs.find(&preset.file.program).ok_or_else(|| {
                let message = format!(
                    "`{}` is not installed: it is not in PATH",
                    preset.file.program
                );
                Diagnostic::error(codes::TERMINAL_START, message)
                    .with_help("install it, or name its path with --program")
            })?;
            words.push(program.into());
        }
        let program = words[0].clone();
        words.extend(preset.args(values).into_iter().map(OsString::from));
        self.agent_version = self.version_of(&program, &preset.file.version, env).await;
        if let Some(version) = &self.agent_version {
            let range = cuecard_timeline::profiles::VersionRange::parse(&preset.file.versions);
            let is_tried = cuecard_timeline::profiles::Version::parse(version)
                .zip(range)
                .is_none_or(|(version, range)| range.holds(&version));
            if !is_tried {
                let message = format!(
                    "{} {version} is not among the versions that its preset was tried with ({})",
                    preset.file.agent, preset.file.versions
                );
                self.find(Diagnostic::warning(codes::TOOL_PROFILE_DIFFERS, message))
                    .await;
            }
        }
        Ok(words)
    }

    /// The version that a program tells.
    async fn version_of(
        &self,
        program: &OsString,
        args: &[String],
        env: &[(OsString, OsString)],
    ) -> Option<String> {
        let words = std::iter::once(program.to_str()?).chain(args.iter().map(String::as_str));
        let request = CommandRequest {
            command: cuecard_timeline::profiles::shell::join(words),
            cwd: self.places.home.clone(),
            env: env.to_vec(),
            timeout: VERSION_TIMEOUT,
            max_output: 1 << 16,
        };
        let outcome = run(request, &[]).await.ok().filter(|_| !args.is_empty())?;
        version_in(&outcome.stdout).or_else(|| version_in(&outcome.stderr))
    }

    /// Waits until the agent has come to a step: for what stands above it, and for its time.
    pub(super) async fn await_real_agent(&mut self, step: &TerminalStep) {
        let event_idx = step.scheduled.event_idx;
        let event = &self.script.timeline.events[event_idx];
        let lane = event.kind.row().lane;
        let is_clock = matches!(
            event.kind,
            EventKind::BaseTimeDelta(_) | EventKind::SessionStart(_)
        );
        if step.role == StepRole::History || lane == Lane::Agent || is_clock {
            return;
        }
        let Some(model) = &self.model else {
            if step.role == StepRole::Prompt || lane == Lane::Barrier {
                self.await_idle().await;
                self.compare_edits(event_idx).await;
            }
            return;
        };
        let n_turns = model.turns_above(event_idx);
        let goes_on = model.goes_on(event_idx);
        let is_prompt = step.role == StepRole::Prompt;
        if lane == Lane::User && !is_prompt && !is_of_run(&event.kind) {
            // It may come while the agent works: at its time after the turn that goes on then was asked for.
            let at_ms = step.scheduled.at_ms;
            let turns = &model.script.turns.turns[..n_turns];
            let begun = turns.iter().rposition(|turn| turn.origin_ms <= at_ms);
            let origin_ms = begun.map_or(0, |idx| turns[idx].origin_ms);
            if let Some(idx) = begun
                && !self.await_turn(idx, event_idx, Model::was_served).await
            {
                return;
            }
            let asked = begun.and_then(|idx| self.model.as_ref()?.served(idx));
            let asked = asked.map_or(self.began, |(asked, _)| asked);
            let after = self.options.play.speed.after(origin_ms, at_ms);
            return self
                .clock
                .sleep_until(asked + Duration::from_millis(after))
                .await;
        }
        if goes_on && !is_prompt {
            // What stands above is done once the agent asks for more, which it does not get yet.
            if self.await_turn(n_turns, event_idx, Model::was_asked).await {
                self.record_changes();
                self.compare_edits(event_idx).await;
            }
            return;
        }
        if n_turns > 0
            && !self
                .await_turn(n_turns - 1, event_idx, Model::was_served)
                .await
        {
            return;
        }
        if let Some((_, whole)) = n_turns
            .checked_sub(1)
            .and_then(|idx| self.model.as_ref()?.served(idx))
        {
            self.clock.sleep_until(whole).await;
        }
        self.await_idle().await;
        self.compare_edits(event_idx).await;
    }

    /// Waits until the agent has come to a turn; `false`, and the run is over, if it doesn't.
    async fn await_turn(
        &mut self,
        turn_idx: usize,
        event_idx: usize,
        is_there: impl Fn(&Model, usize) -> bool,
    ) -> bool {
        let until = self.clock.now() + AGENT_TIMEOUT;
        let turn = self
            .model
            .as_ref()
            .and_then(|model| model.script.turn(turn_idx));
        let path = turn.map(|turn| turn.path.clone()).unwrap_or_default();
        self.awaits = format!("the agent asked its model for `{path}`");
        loop {
            let (Some(model), Some(terminal)) = (&self.model, &mut self.terminal) else {
                return true;
            };
            if is_there(model, turn_idx) {
                return true;
            }
            let has_ended = terminal.end().is_some();
            let why = match model.has_failed() {
                _ if has_ended => "the agent ended before it asked its model for",
                true => "the mock model refused a request, so the agent did not come to",
                false if self.clock.now() >= until => "the agent did not ask its model in time for",
                false => {
                    tokio::select! {
                        () = model.goes_ahead() => {}
                        () = self.clock.sleep_until(self.clock.now() + LOOKS_EVERY) => {}
                    }
                    continue;
                }
            };
            terminal.settled(STILL).await;
            self.is_stuck = true;
            let message = format!("{why} `{path}`");
            self.fails(codes::TERMINAL_STUCK, event_idx, message).await;
            return false;
        }
    }

    /// Waits until the agent can be typed to, as long as the run may take: some start slowly.
    async fn await_idle(&mut self) {
        self.awaits = "the agent was ready for a prompt".to_owned();
        loop {
            let Some(terminal) = &mut self.terminal else {
                return;
            };
            if terminal.end().is_some() {
                return;
            }
            let is_still = terminal.settled(STILL).await;
            let screen = terminal.screen().text();
            let modes = terminal.screen().key_modes();
            let is_idle = match &self.options.which.preset {
                Some(preset) => preset.is_idle(&screen, modes),
                None => is_still && !screen.trim().is_empty(),
            };
            if is_idle {
                return self.record_changes();
            }
            self.clock.sleep_until(self.clock.now() + LOOKS_EVERY).await;
        }
    }

    /// Compares the edits above an event, of which the script says only how large they are, with what the agent has done.
    async fn compare_edits(&mut self, event_idx: usize) {
        let timeline = self.script.timeline.clone();
        let (changes, from) = std::mem::replace(&mut self.changed, (Vec::new(), event_idx));
        let mut scripted: BTreeMap<&str, (usize, u64, u64)> = BTreeMap::new();
        for (idx, event) in timeline.events[from.min(event_idx)..event_idx]
            .iter()
            .enumerate()
        {
            if let EventKind::AgentEdits(edit) = &event.kind
                && !edit.has_text()
            {
                let sum = scripted.entry(edit.path.trim_start_matches("./"));
                let (last, added, removed) = sum.or_default();
                *last = from + idx;
                *added += edit.lines_added.unwrap_or_default();
                *removed += edit.lines_removed.unwrap_or_default();
            }
        }
        for (path, (event_idx, added, removed)) in scripted {
            let changes = changes.iter().filter(|change| change.path == path);
            let count = changes.fold((0, 0), |(added, removed), change| {
                (added + change.lines_added, removed + change.lines_removed)
            });
            let beyond = self.changes.as_ref().and_then(FolderChanges::beyond);
            let is_compared = beyond.is_none_or(|beyond| Path::new(path) < Path::new(beyond));
            if count == (added, removed) || !is_compared {
                continue;
            }
            let message = format!(
                "the agent changed `{path}` by +{} −{} lines, and the script says +{added} −{removed}",
                count.0, count.1
            );
            self.add_event(event_idx, message.clone(), None);
            let found = Diagnostic::warning(codes::TERMINAL_EDIT_DIFFERS, message);
            let found = self.placed(found, event_idx);
            self.find(found).await;
        }
    }

    /// Waits for the last turn, and has the agent quit.
    pub(super) async fn end_real_agent(&mut self) {
        let last = self.script.timeline.events.len().saturating_sub(1);
        let n_turns = self
            .model
            .as_ref()
            .map_or(0, |model| model.turns_above(usize::MAX));
        if n_turns > 0 && !self.await_turn(n_turns - 1, last, Model::was_served).await {
            return;
        }
        self.await_idle().await;
        if self.is_stuck {
            return;
        }
        self.compare_edits(last + 1).await;
        let (Some(preset), Some(terminal)) = (&self.options.which.preset, &mut self.terminal)
        else {
            return;
        };
        for key in &preset.quit {
            terminal.press(std::slice::from_ref(key)).await;
            let _ = tokio::time::timeout(STILL, terminal.ended()).await;
            if terminal.end().is_some() {
                return;
            }
        }
        let patience = self.options.grace.max(LONGEST_QUIT);
        let _ = tokio::time::timeout(patience, terminal.ended()).await;
    }

    /// Takes over what the model found.
    pub(super) async fn end_model(&mut self, model: Model) {
        let (verdict, events) = model.stop().await;
        self.record_of_player(events);
        for found in verdict.findings {
            // Without an agent nobody asks.
            if !(self.could_not_run && found.code == codes::MODEL_UNPLAYED) {
                self.find(found).await;
            }
        }
    }
}
