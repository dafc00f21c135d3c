//! Goes through a timeline: tells the agent when its steps are due, and does what its user does.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::findings::{Findings, logged};
use cuecard_runtime::load::header;
use cuecard_runtime::policy::Policy;
use cuecard_runtime::process::ProcessSpec;
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::tap::Recorder;
use cuecard_runtime::text_file::io_reason;
use cuecard_service::ShownSession;
use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::value::{Json, Redactor, as_text, cut, find_credentials};
use cuecard_terminal::Terminal;
use cuecard_terminal::control::CONTROL_VARIABLE;
use cuecard_timeline::model::{EventKind, SessionStatus};
use cuecard_timeline::script::{Act, EventPart, PlayerKind, StepRole};
use cuecard_trace::{End, Event, EventData, FileEdit, Log, RunStatus as TraceStatus};
use cuecard_workspace::changes::{FileChange, FolderChanges};
use cuecard_workspace::commands::CommandOutcome;
use cuecard_workspace::running::CommandEnd;
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use super::agent::Agent;
use super::checks::{AgentCheck, PendingScreenshot};
use super::goldens::WrittenGolden;
use super::model::Model;
use super::outcome::{RunEvent, RunNotice, RunOutcome, RunStatus};
use super::simulation::{SERVICE_VARIABLE, Simulation};
use super::{RunMode, RunOptions, RunPlaces, RunScript};

/// A run that goes on.
pub(super) struct Executor<'a> {
    pub(super) script: Arc<RunScript>,
    pub(super) options: &'a RunOptions,
    pub(super) run_dir: &'a RunDir,
    pub(super) places: RunPlaces,
    pub(super) policy: Policy,
    pub(super) clock: Clock,
    recorder: Recorder<'a>,
    /// The page that shows the run.
    page: Option<ShownSession>,
    pub(super) findings: Findings,
    events: Vec<RunEvent>,
    /// How many of them were told.
    n_reported: usize,
    /// The screen that was shown last to explain something.
    shown: Option<String>,
    pub(super) terminal: Option<Terminal>,
    /// The program under test and its arguments, for people.
    pub(super) program: Vec<String>,
    /// The agent that plays the timeline with us, if there is one.
    pub(super) agent: Option<Agent>,
    /// Where an agent finds us that has not come yet.
    pub(super) listener: Option<UnixListener>,
    /// What is another one in the timeline of an agent that has come.
    pub(super) other_script: Option<String>,
    /// Asserts that only an agent can judge.
    pub(super) of_agent: Vec<AgentCheck>,
    /// Why those that it has judged do not hold, by their ids; nothing if they do.
    pub(super) judged: HashMap<String, Option<String>>,
    /// The model of a real agent.
    pub(super) model: Option<Model>,
    /// The service that plays the timeline, in a simulation.
    pub(super) simulation: Option<Simulation>,
    /// What a real agent does to the files of the workspace.
    pub(super) changes: Option<FolderChanges>,
    /// What it has done that was not compared with the script yet, and the event from which on that is to be done.
    pub(super) changed: (Vec<FileChange>, usize),
    /// The prompts that the user has typed.
    pub(super) typed: Vec<String>,
    /// How many calls the agent has made.
    n_calls: u64,
    pub(super) agent_version: Option<String>,
    /// What is waited for, in words.
    pub(super) awaits: String,
    /// Whether it makes no sense to go on.
    pub(super) is_stuck: bool,
    pub(super) pending_screenshots: Vec<PendingScreenshot>,
    pub(super) written: Vec<WrittenGolden>,
    pub(super) last_command: Option<CommandOutcome>,
    pub(super) end: Option<CommandEnd>,
    /// Whether the program was ended, as it did not end by itself.
    pub(super) was_closed: bool,
    is_interrupted: bool,
    pub(super) could_not_run: bool,
    /// When the time `origin_ms` of the timeline was.
    pub(super) began: Duration,
    origin_ms: u64,
}

impl<'a> Executor<'a> {
    pub(super) fn new(
        script: Arc<RunScript>,
        options: &'a RunOptions,
        run_dir: &'a RunDir,
        places: RunPlaces,
        clock: Clock,
    ) -> Result<Self, Diagnostic> {
        let mut policy = options.policy.clone();
        policy.root.clone_from(&places.workspace);
        policy.working_directory.clone_from(&places.workspace);
        let policy = Policy::new(policy).map_err(|refusal| {
            Diagnostic::error(codes::ARGUMENT, refusal.message).with_help(refusal.help)
        })?;
        let mut secrets: Vec<String> = script.timeline.acp.secrets().collect();
        let env = script.timeline.program.env.iter();
        let env = env.map(|(name, value)| (name.clone(), Json::from(value.as_str())));
        find_credentials(&Json::Object(env.collect()), &mut secrets);
        let mut recorder = Recorder::new(clock, Redactor::new(secrets));
        let file = run_dir.trace_file().and_then(|file| {
            let header = header(run_dir.id(), std::iter::once(&*script.timeline));
            recorder.write_to(Box::new(BufWriter::new(file)), &header)
        });
        file.map_err(|error| {
            let message = format!("the trace can't be written: {}", io_reason(&error));
            Diagnostic::error(codes::FILE_WRITE, message)
        })?;
        let agent = match &options.which.preset {
            Some(preset) => preset.agent(),
            None => "cuecard",
        };
        let page = options.page.as_ref();
        let page = page.and_then(|page| page.show(script.name(), agent));
        if let Some(page) = &page {
            recorder.tell(Box::new(page.clone()));
        }
        Ok(Self {
            page,
            findings: Findings::new(options.play.is_strict),
            script,
            options,
            run_dir,
            places,
            policy,
            began: clock.now(),
            clock,
            recorder,
            events: Vec::new(),
            n_reported: 0,
            shown: None,
            terminal: None,
            program: Vec::new(),
            agent: None,
            listener: None,
            other_script: None,
            of_agent: Vec::new(),
            judged: HashMap::new(),
            model: None,
            simulation: None,
            changes: None,
            changed: (Vec::new(), 0),
            typed: Vec::new(),
            n_calls: 0,
            agent_version: None,
            awaits: String::new(),
            is_stuck: false,
            pending_screenshots: Vec::new(),
            written: Vec::new(),
            last_command: None,
            end: None,
            was_closed: false,
            is_interrupted: false,
            could_not_run: false,
            origin_ms: 0,
        })
    }

    /// Plays the whole timeline.
    pub(super) async fn run(
        &mut self,
        stop: &CancellationToken,
        watch: &mut dyn FnMut(RunNotice<'_>),
    ) {
        let deadline = self.clock.now() + self.options.timeout;
        let clock = self.clock;
        let is_over = {
            let playing = self.play(watch);
            tokio::select! {
                () = playing => None,
                () = clock.sleep_until(deadline) => Some(false),
                () = stop.cancelled() => Some(true),
            }
        };
        match is_over {
            Some(true) => self.is_interrupted = true,
            Some(false) => {
                let seconds = self.options.timeout.as_secs_f64();
                let message = format!("the run took longer than {seconds} s");
                let found = Diagnostic::error(codes::TERMINAL_TIMEOUT, message)
                    .with_note(format!("it waited until {}", self.awaits))
                    .with_help(
                        "allow more with `--run-timeout`; in `cuecard test` with `--timeout`",
                    );
                self.find_with_screen(found).await;
            }
            None => {}
        }
        self.close().await;
        if !self.is_interrupted && !self.could_not_run {
            self.expect().await;
        }
        self.report_events(watch);
    }

    async fn play(&mut self, watch: &mut dyn FnMut(RunNotice<'_>)) {
        self.awaits = "the program had started".to_owned();
        if let Err(problem) = self.start().await {
            self.could_not_run = true;
            return self.find(problem).await;
        }
        if !self.speaks_acp() && self.listener.is_none() {
            self.tell_not_evaluated().await;
        }
        if let Some(terminal) = &self.terminal {
            watch(RunNotice::Started(terminal.shared_screen()));
        }
        self.began = self.clock.now();
        if self.mode() == RunMode::RealAgent {
            self.changes = Some(FolderChanges::new(&self.places.workspace));
        }
        let script = self.script.clone();
        for (idx, step) in script.steps.iter().enumerate() {
            let event_idx = step.scheduled.event_idx;
            let event = &script.timeline.events[event_idx];
            watch(RunNotice::Next(&event.path));
            self.awaits = format!("`{}` was due", event.path);
            if self.mode() == RunMode::RealAgent {
                self.await_real_agent(step).await;
                if self.is_stuck {
                    break;
                }
            } else if self.mode() == RunMode::Simulate {
                if !self.await_simulation(step).await {
                    break;
                }
            } else if step.role != StepRole::History {
                self.wait_for(step.due_ms).await;
            }
            // What happened while it was waited for stands before what happens now.
            self.report_events(watch);
            let since = self.clock.now();
            self.awaits = format!("`{}` was done", event.path);
            let is_of_run = step.role != StepRole::History
                && matches!(PlayerKind::Run.cell(&event.kind).act, Act::Acts);
            if is_of_run {
                self.act(event_idx, step.scheduled.part).await;
            }
            self.meet_late(step.role == StepRole::Prompt).await;
            let of_model = self.model.as_mut().map(|model| &mut model.hold);
            let of_service = self.simulation.as_mut().map(|service| &mut service.hold);
            if let Some(hold) = of_model.or(of_service) {
                hold.has_done(event_idx);
            }
            let speaks_acp = self.speaks_acp();
            let is_of_agent = step.role == StepRole::History
                // It judges its answers itself, and waits there as we do.
                || (speaks_acp && matches!(event.kind, EventKind::Assert(_)))
                || match PlayerKind::Agent.cell(&event.kind).act {
                    Act::Acts | Act::Awaits | Act::ActsAndAwaits => true,
                    Act::NotEvaluated => speaks_acp,
                    Act::Clock | Act::Boundary | Act::Skips => false,
                };
            if is_of_agent {
                self.agent_plays(idx, event_idx).await;
                if self.is_stuck {
                    break;
                }
            }
            match step.role {
                StepRole::Prompt => {
                    self.began = self.clock.now();
                    self.origin_ms = step.due_ms;
                }
                // What takes longer than the script says moves all that follows.
                _ => self.began += self.clock.now().saturating_sub(since),
            }
            self.report_events(watch);
        }
        if self.mode() == RunMode::RealAgent && !self.is_stuck {
            self.end_real_agent().await;
        }
        if self.mode() == RunMode::Simulate && !self.is_stuck {
            self.told_above(usize::MAX).await;
        }
        if self.listener.take().is_some() {
            self.find_no_agent().await;
        }
        if let Some(agent) = self.agent.take() {
            let goes_on = agent.speaks_acp;
            agent.end(self).await;
            self.awaits = "the agent ended".to_owned();
            // The client of an agent that speaks ACP goes on without it.
            if !goes_on && let Some(terminal) = &mut self.terminal {
                let grace = self.options.grace;
                let _ = tokio::time::timeout(grace, terminal.ended()).await;
            }
        }
        self.take_over_judgements().await;
        if script.timeline.expectations.exit_code.is_some()
            && let Some(terminal) = &mut self.terminal
        {
            self.awaits = "the program ended, whose exit code is expected".to_owned();
            terminal.ended().await;
        }
    }

    /// Starts the program in its terminal.
    async fn start(&mut self) -> Result<(), Diagnostic> {
        let timeline = self.script.timeline.clone();
        let is_real = self.mode() == RunMode::RealAgent;
        let is_own = !is_real && self.options.which.program.is_empty();
        let mut env = self.program_environment();
        let simulates = self.mode() == RunMode::Simulate;
        if simulates {
            self.start_simulation().await?;
            if is_own {
                return Ok(());
            }
            let url = self.simulation.as_ref().map(Simulation::url);
            env.push((SERVICE_VARIABLE.into(), url.unwrap_or_default().into()));
        }
        let mut words = match (is_real, is_own) {
            (true, _) => self.prepare_real_agent(&mut env).await?,
            (false, true) => self.agent_command(),
            (false, false) => self.options.which.program.clone(),
        };
        if !is_own {
            words.extend(timeline.program.command.iter().map(OsString::from));
            words.extend(timeline.program.flags.iter().map(OsString::from));
        }
        let (listening, socket) = Agent::listen(&self.places)?;
        if !is_real && !simulates {
            env.push((CONTROL_VARIABLE.into(), socket.into()));
        }
        let spec = ProcessSpec {
            program: words[0].clone(),
            args: words[1..].to_vec(),
            env,
            cwd: Some(self.places.workspace.clone()),
        };
        let shown = words.iter().map(|word| word.to_string_lossy().into_owned());
        self.program = shown.collect();
        let cast = self.run_dir.create_file("terminal.cast".as_ref());
        let cast = cast.map_err(|error| {
            let message = format!("`terminal.cast` can't be written: {}", io_reason(&error));
            Diagnostic::error(codes::FILE_WRITE, message)
        })?;
        let terminal = Terminal::start(
            &spec,
            &self.script.terminal,
            self.clock,
            Box::new(BufWriter::new(cast)),
        );
        self.terminal = Some(terminal.map_err(|error| {
            let message = format!(
                "`{}` can't be started: {}",
                self.program[0],
                io_reason(&error)
            );
            Diagnostic::error(codes::TERMINAL_START, message)
                .with_help("name the program under test with --program, or an agent with --agent")
        })?);
        let steps = self.script.steps.iter();
        let mut acts = steps.filter(|step| {
            let kind = &timeline.events[step.scheduled.event_idx].kind;
            matches!(
                PlayerKind::Agent.cell(kind).act,
                Act::Acts | Act::ActsAndAwaits
            )
        });
        if is_own || (!is_real && !simulates && acts.next().is_some()) {
            match is_own {
                true => self.agent = Some(self.meet_own(&listening).await?),
                false => self.meet_early(listening).await,
            }
        } else if let Some(terminal) = &self.terminal {
            // A program that has drawn its screen can be typed to.
            terminal
                .drawn(Duration::from_millis(self.script.terminal.settle_ms))
                .await;
        }
        Ok(())
    }

    /// The environment of the program under test: little of ours, and the same everywhere.
    pub(super) fn program_environment(&self) -> Vec<(OsString, OsString)> {
        let terminal = &self.script.terminal;
        let mut env: BTreeMap<OsString, OsString> = BTreeMap::new();
        let kept = [
            "PATH",
            "NODE_EXTRA_CA_CERTS",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            // For our own agent.
            "CUECARD_DEFINES",
            "AH_SCENARIO_DEFINES",
        ];
        for (name, value) in &self.options.environment {
            if kept.iter().any(|kept| name == kept) {
                env.insert(name.clone(), value.clone());
            }
        }
        let (home, temporary) = (&self.places.home, &self.places.temporary);
        let term = terminal.term.clone();
        let above = self.places.workspace.parent().unwrap_or(Path::new("/"));
        for (name, value) in [
            ("HOME", home.as_os_str()),
            ("TMPDIR", temporary.as_os_str()),
            ("TERM", term.as_deref().unwrap_or("xterm-256color").as_ref()),
            ("COLORTERM", "truecolor".as_ref()),
            ("LANG", self.options.locale.as_ref()),
            ("LC_ALL", self.options.locale.as_ref()),
            ("TZ", "UTC".as_ref()),
            ("SHELL", "/bin/sh".as_ref()),
            ("USER", "user".as_ref()),
            ("LOGNAME", "user".as_ref()),
            // A repository around the workspace is not meant.
            ("GIT_CEILING_DIRECTORIES", above.as_os_str()),
        ] {
            env.insert(name.into(), value.to_owned());
        }
        for (name, value) in terminal.env.iter().chain(&self.script.timeline.program.env) {
            env.insert(name.into(), value.into());
        }
        env.into_iter().collect()
    }

    /// Does what the user does, looks at what is to be looked at.
    async fn act(&mut self, event_idx: usize, part: EventPart) {
        let script = self.script.clone();
        let event = &script.timeline.events[event_idx];
        let changes_files = matches!(
            event.kind,
            EventKind::UserEdits { .. } | EventKind::ApplyPatch(_) | EventKind::UserCommand(_)
        );
        if changes_files {
            self.record_changes();
        }
        match (&event.kind, part) {
            // Nothing is done: the service only tells of it.
            (
                EventKind::UserEdits { .. }
                | EventKind::ApplyPatch(_)
                | EventKind::UserCommand(_)
                | EventKind::Log(_)
                | EventKind::Status(_),
                _,
            ) if self.simulation.is_some() => {}
            (
                EventKind::UserInputs(_)
                | EventKind::UserCancelSession { .. }
                | EventKind::Screenshot(_),
                _,
            ) if self.simulation.is_some() && self.terminal.is_none() => {}
            (EventKind::UserInputs(inputs), EventPart::Input(idx)) => {
                self.type_input(event_idx, &inputs[idx]).await;
            }
            (EventKind::UserEdits { patch, .. }, _) => self.patch(event_idx, patch, None).await,
            (EventKind::ApplyPatch(patch), _) => {
                self.patch(event_idx, &patch.path, patch.commit().as_deref())
                    .await;
            }
            (EventKind::UserCommand(command), _) => self.command(event_idx, command).await,
            (EventKind::UserCancelSession { .. }, _) => self.interrupt(event_idx).await,
            (EventKind::Assert(assert), _) => self.assert(event_idx, &assert.checks).await,
            (EventKind::Screenshot(label), _) => self.screenshot(event_idx, label).await,
            (EventKind::Log(line), _) => {
                self.record(EventData::Log(Log {
                    level: line.level.as_str().to_owned(),
                    message: line.message.clone(),
                    stream: None,
                }));
                self.add_event(event_idx, line.message.clone(), None);
            }
            (EventKind::Status(status), _) => {
                self.add_event(event_idx, format!("status {}", status.as_str()), None);
            }
            _ => {}
        }
        if let Some(changes) = self.changes.as_mut().filter(|_| changes_files) {
            // The user's own are none of the agent's.
            changes.take();
        }
    }

    /// Has the agent play a step, if it plays with us.
    async fn agent_plays(&mut self, step_idx: usize, event_idx: usize) {
        let Some(mut agent) = self.agent.take() else {
            return;
        };
        let played = agent.play(step_idx, self).await;
        if played {
            self.agent = Some(agent);
            if self.is_stuck {
                let message = "the agent got another prompt than was typed, and goes on with none";
                self.fails(codes::TERMINAL_STUCK, event_idx, message.to_owned())
                    .await;
            }
        } else {
            let how = match self.terminal.as_mut().and_then(Terminal::end) {
                Some(end) => format!(" with exit code {}", end.shell_code()),
                None => String::new(),
            };
            let message = format!("the agent ended{how} before the timeline");
            self.fails(codes::TERMINAL_ENDED, event_idx, message).await;
        }
    }

    /// Waits until a time of the timeline.
    pub(super) async fn wait_for(&self, at_ms: u64) {
        let after = self.options.play.speed.after(self.origin_ms, at_ms);
        let due = self.began + Duration::from_millis(after);
        self.clock.sleep_until(due).await;
    }

    /// Whether the agent speaks ACP with the program under test.
    pub(super) fn speaks_acp(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| agent.speaks_acp)
    }

    /// Whether an agent tells what it is asked, or may come to do so.
    pub(super) fn has_agent(&self) -> bool {
        self.agent.is_some() || self.listener.is_some()
    }

    pub(super) fn program_has_ended(&mut self) -> bool {
        let end = self.terminal.as_mut().and_then(Terminal::end);
        end.is_some()
    }

    pub(super) fn mode(&self) -> RunMode {
        self.script.mode(self.options)
    }

    /// Ends what still runs.
    async fn close(&mut self) {
        self.agent = None;
        if let Some(terminal) = &mut self.terminal {
            self.was_closed = terminal.end().is_none();
            let grace = self.options.grace;
            let (end, is_killed) = terminal.close(grace).await;
            self.end = Some(end);
            if is_killed && !grace.is_zero() {
                let seconds = grace.as_secs_f64();
                let message = format!(
                    "`{}` was still there {seconds} s after its terminal had gone, and was killed",
                    self.program.first().map(String::as_str).unwrap_or_default()
                );
                let found = Diagnostic::warning(codes::TERMINAL_KILLED, message);
                let help =
                    "let it end on SIGHUP, have the timeline end it, or allow more with --grace";
                self.find(found.with_help(help)).await;
            }
        }
        if let Some(model) = self.model.take() {
            self.end_model(model).await;
        }
        if let Some(simulation) = self.simulation.take() {
            self.end_simulation(simulation).await;
        }
    }

    /// Writes what is left to write, and says how it went.
    pub(super) fn finish(mut self, outcome: &mut RunOutcome) {
        let (screenshots, problems) = self.pictures();
        for problem in problems {
            self.findings.keep(&problem);
        }
        outcome.screenshots = screenshots;
        outcome.n_failures = self.findings.n_failures();
        outcome.findings = self.findings.list();
        outcome.events = std::mem::take(&mut self.events);
        outcome.end = self.end;
        outcome.agent_version = self.agent_version.take();
        outcome.program = std::mem::take(&mut self.program);
        outcome.written = std::mem::take(&mut self.written);
        outcome.status = match outcome.n_failures {
            _ if self.is_interrupted => RunStatus::Interrupted,
            _ if self.could_not_run => RunStatus::CouldNotRun,
            0 => RunStatus::Passed,
            _ => RunStatus::Failed,
        };
        if let Some(page) = &self.page {
            self.recorder.settle();
            page.end(match outcome.status {
                RunStatus::Passed => SessionStatus::Completed,
                RunStatus::Failed | RunStatus::CouldNotRun => SessionStatus::Failed,
                RunStatus::Interrupted => SessionStatus::Stopped,
            });
        }
        let elapsed = self.clock.now();
        let status = match outcome.status {
            RunStatus::Passed => TraceStatus::Success,
            RunStatus::Failed => TraceStatus::Failed,
            RunStatus::CouldNotRun | RunStatus::Interrupted => TraceStatus::Blocked,
        };
        let mut end = End::after(elapsed, status);
        end.metrics.tool_call_count = self.n_calls;
        self.recorder.end(&end);
        if let Some(error) = self.recorder.take_error() {
            let message = format!("the trace is incomplete: {}", io_reason(&error));
            outcome.could_not_run(Diagnostic::error(codes::FILE_WRITE, message));
        }
    }

    pub(super) fn path_of(&self, event_idx: usize) -> String {
        self.script.timeline.events[event_idx].path.clone()
    }

    pub(super) fn record(&mut self, data: EventData) {
        self.recorder.record(data);
    }

    /// Something happened, and whether it is as it should be if that was looked at.
    pub(super) fn add_event(&mut self, event_idx: usize, what: String, holds: Option<bool>) {
        self.events.push(RunEvent {
            at: self.clock.now(),
            event: self.path_of(event_idx),
            what,
            holds,
            is_check: holds.is_some(),
        });
    }

    /// Tells what has happened since it was told last, and writes it.
    fn report_events(&mut self, watch: &mut dyn FnMut(RunNotice<'_>)) {
        self.take_over_events();
        self.recorder.settle();
        for event in self.events.iter().skip(self.n_reported) {
            watch(RunNotice::Event(event));
        }
        self.n_reported = self.events.len();
    }

    /// What a real agent has changed in the workspace since this was asked last. The mock agent tells of it by itself.
    pub(super) fn record_changes(&mut self) {
        self.take_over_events();
        let changes = self.changes.as_mut().map(FolderChanges::take);
        for change in changes.unwrap_or_default() {
            let edit = EventData::FileEdit(FileEdit {
                path: change.path.clone(),
                lines_added: change.lines_added,
                lines_removed: change.lines_removed,
                hash_before: None,
                hash_after: None,
            });
            self.add_agent_event(self.clock.now(), &edit);
            self.record(edit);
            self.changed.0.push(change);
        }
        if let Some(beyond) = self.changes.as_ref().and_then(FolderChanges::beyond) {
            let message = format!(
                "the workspace has too many files: changes from `{beyond}` on are not compared"
            );
            let note = Diagnostic::note(codes::MODEL_ASSERT_UNJUDGED, message);
            let note = self.findings.strictly_noted(note);
            if self.findings.keep(&note) {
                self.recorder.record(logged(&note));
            }
        }
    }

    /// Takes over what the model or the service has told since this was asked last.
    fn take_over_events(&mut self) {
        let of_model = self.model.as_ref().map(Model::events);
        let of_service = self.simulation.as_ref().map(Simulation::events);
        self.record_of_player(of_model.or(of_service).unwrap_or_default());
    }

    /// What a player told its trace.
    pub(super) fn record_of_player(&mut self, events: Vec<Event>) {
        let started = self.clock.timestamp(Duration::ZERO);
        for event in events {
            let elapsed = event.ts.duration_since(started);
            let elapsed = Duration::try_from(elapsed).unwrap_or_default();
            self.n_calls += u64::from(matches!(event.data, EventData::ToolCall(_)));
            if let EventData::Assertion(assertion) = &event.data {
                let evidence = assertion.evidence.clone();
                self.judged.insert(assertion.id.clone(), evidence);
            }
            self.add_agent_event(elapsed, &event.data);
            self.recorder.record_at(elapsed, event.data);
        }
    }

    /// What the agent did, or what its model saw, as an event of the run.
    pub(super) fn add_agent_event(&mut self, at: Duration, data: &EventData) {
        let (event, what, holds) = match data {
            EventData::ToolCall(call) => {
                let args = call.args.as_object().into_iter().flatten();
                let first = args
                    .map(|(_, value)| as_text(value))
                    .next()
                    .unwrap_or_default();
                let first = first.lines().next().unwrap_or_default().to_owned();
                (
                    String::new(),
                    format!("agent: {} {}", call.tool, cut(&first, 60)),
                    None,
                )
            }
            EventData::Message(message) if message.role == "assistant" => {
                let first = message.content.lines().next().unwrap_or_default();
                (String::new(), format!("agent: {:?}", cut(first, 60)), None)
            }
            EventData::FinalOutput(output) if self.mode() == RunMode::RealAgent => {
                let first = output.content.lines().next().unwrap_or_default();
                (String::new(), format!("agent: {:?}", cut(first, 60)), None)
            }
            // The mock agent's own calls say so.
            EventData::FileEdit(edit) if self.mode() != RunMode::MockAgent => {
                let (added, removed) = (edit.lines_added, edit.lines_removed);
                let what = format!("agent: changed {} (+{added} −{removed})", edit.path);
                (String::new(), what, None)
            }
            EventData::Assertion(assertion) => {
                // `timeline[2].assert.fs.exists[0]`
                let (event, key) = assertion.id.split_once("].").unwrap_or_default();
                (
                    format!("{event}]"),
                    format!("assert {key}"),
                    Some(assertion.status == "pass"),
                )
            }
            _ => return,
        };
        self.events.push(RunEvent {
            at,
            event,
            what,
            holds,
            is_check: holds.is_some(),
        });
    }

    /// A finding about an event.
    pub(super) fn finding(&self, code: Code, event_idx: usize, message: String) -> Diagnostic {
        self.placed(Diagnostic::error(code, message), event_idx)
    }

    pub(super) fn placed(&self, found: Diagnostic, event_idx: usize) -> Diagnostic {
        let event = &self.script.timeline.events[event_idx];
        found
            .at(&self.script.timeline.source, event.span)
            .with_pointer(event.path.clone())
    }

    pub(super) async fn fails(&mut self, code: Code, event_idx: usize, message: String) {
        self.add_event(event_idx, message.clone(), Some(false));
        if let Some(failure) = self.events.last_mut() {
            failure.is_check = false;
        }
        let found = self.finding(code, event_idx, message);
        self.find_with_screen(found).await;
    }

    /// A finding with the screen as it is now.
    pub(super) async fn find_with_screen(&mut self, found: Diagnostic) {
        let Some(terminal) = &self.terminal else {
            return self.find(found).await;
        };
        // What explains it may be on its way.
        terminal.settled(self.still()).await;
        let rows = terminal.screen().rows();
        let last = rows.iter().rposition(|row| !row.is_empty());
        let shown = rows[..last.map_or(0, |last| last + 1)].join("\n");
        let note = match &self.shown {
            _ if shown.is_empty() => "the screen was empty".to_owned(),
            Some(before) if *before == shown => "the screen was the same as above".to_owned(),
            _ => format!("the screen at that moment:\n{shown}"),
        };
        self.shown = Some(shown);
        let found = found.with_note(note);
        self.find(found).await;
    }

    pub(super) async fn find(&mut self, found: Diagnostic) {
        let found = self.findings.strictly(found);
        if self.findings.keep(&found) {
            self.recorder.record(logged(&found));
        }
    }
}
