//! Runs timelines end to end: a workspace, a program in a terminal, its user, and what is looked at on the way.

mod agent;
mod audit;
mod checks;
mod executor;
mod goldens;
mod handed_servers;
mod hold;
mod model;
mod outcome;
mod presets;
mod real_agent;
mod simulation;
pub(crate) mod tested;
mod user;

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::load::{PlayOptions, load};
use cuecard_runtime::policy::{PolicyOptions, inside};
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::start_error::StartError;
use cuecard_runtime::text_file::{self, folder_of, io_reason};
use cuecard_service::RunningService;
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_terminal::control::Fingerprint;
use cuecard_timeline::format::read_terminal;
use cuecard_timeline::model::{
    EventKind, ServerMode, TerminalChoice, TerminalConfig, Timeline, TimelineEvent, UserInput,
    UserTarget,
};
use cuecard_timeline::profiles::Profile;
use cuecard_timeline::script::{
    Act, EventPart, PlayerKind, Schedule, ScheduledPart, TerminalStep, parts, terminal_steps,
};
use tokio_util::sync::CancellationToken;

pub use self::audit::{Audit, Surroundings, audit};
use self::executor::Executor;
pub use self::goldens::{GoldenOptions, WrittenGolden, is_ci};
pub use self::handed_servers::{HandedServers, hand_servers, handed_agent_names};
pub use self::model::TraceLines;
pub use self::outcome::{RunEvent, RunNotice, RunOutcome, RunStatus, Screenshot};
pub use self::presets::{AgentPreset, agent_names};
pub(crate) use self::simulation::start_session;

/// Which agent plays a timeline, in which program.
#[derive(Debug, Clone, Default)]
pub struct WhichAgent {
    /// How the real agent is started and driven.
    pub preset: Option<AgentPreset>,
    /// Profiles of agents beside those that are built in.
    pub profiles: Vec<Profile>,
    /// The program under test and its arguments; without one it is the agent of the preset, or the stand-in for one.
    pub program: Vec<OsString>,
}

/// How timelines are run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Which timelines, and how.
    pub play: PlayOptions,
    /// What composes a run; as the timeline has it if that is not said.
    pub mode: Option<RunMode>,
    /// The agent and the program under test.
    pub which: WhichAgent,
    /// Our own program, and what it needs to play the agent: what is allowed, symbols.
    pub own_program: PathBuf,
    /// A command that the mock agent runs after each call and each edit.
    pub checkpoint: Option<String>,
    /// What commands of the user's may do. Root and working directory become the workspace.
    pub policy: PolicyOptions,
    /// What children may inherit from.
    pub environment: Vec<(OsString, OsString)>,
    /// Where expected screens are, and what is done about those that differ.
    pub goldens: GoldenOptions,
    /// Whether the workspaces stay.
    pub keep: bool,
    /// A page that shows the runs while they go on.
    pub page: Option<Arc<RunningService>>,
    /// How many characters of a text the model of a real agent sends at once.
    pub chunk: Option<NonZeroUsize>,
    /// The locale of programs.
    pub locale: String,
    /// Where the folders of runs are made; the system's place for temporary files without one.
    pub folder: Option<PathBuf>,
    /// How long a run may take.
    pub timeout: Duration,
    /// How long a program may take to end once it is asked to.
    pub grace: Duration,
}

impl RunOptions {
    /// Nothing said but what there must be.
    pub fn new(
        own_program: PathBuf,
        policy: PolicyOptions,
        environment: Vec<(OsString, OsString)>,
    ) -> Self {
        Self {
            play: PlayOptions::default(),
            mode: None,
            which: WhichAgent::default(),
            own_program,
            checkpoint: None,
            policy,
            environment,
            goldens: GoldenOptions::default(),
            keep: false,
            page: None,
            chunk: None,
            locale: DEFAULT_LOCALE.to_owned(),
            folder: None,
            timeout: DEFAULT_TIMEOUT,
            grace: DEFAULT_GRACE,
        }
    }
}

/// What composes a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMode {
    /// The stand-in for an agent plays the timeline.
    MockAgent,
    /// A real agent does, whose model is played; or answers by itself, where `server.mode` is `real`.
    RealAgent,
    /// An agent service tells it, and nothing is done.
    Simulate,
}

impl RunMode {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MockAgent => "mock-agent",
            Self::RealAgent => "real-agent",
            Self::Simulate => "simulate",
        }
    }
}

/// A timeline that can be run.
#[derive(Debug)]
pub struct RunScript {
    timeline: Arc<Timeline>,
    steps: Vec<TerminalStep>,
    terminal: TerminalConfig,
}

/// Timelines that can be run.
#[derive(Debug)]
pub struct RunScripts {
    /// In the order of their files.
    pub scripts: Vec<Arc<RunScript>>,
    /// What was found in the files.
    pub diagnostics: Vec<Diagnostic>,
}

impl RunScript {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.timeline.name
    }

    /// The parts of events that are played in it, in order; some of them are the agent's.
    pub fn parts(&self) -> Vec<(usize, EventPart)> {
        let steps = self.steps.iter();
        steps
            .map(|step| (step.scheduled.event_idx, step.scheduled.part))
            .collect()
    }

    /// Those that an agent plays that speaks ACP, once the first prompt has come.
    pub fn acp_parts(&self) -> HashSet<(usize, EventPart)> {
        let schedule = Schedule::compile(&self.timeline, false).schedule;
        let mut events = self.timeline.events.iter();
        let is_prompt = |event: &TimelineEvent| matches!(event.kind, EventKind::UserInputs(_));
        let from = self.timeline.boundary().unwrap_or(0);
        let first = events.by_ref().skip(from).position(is_prompt);
        let all = from + first.unwrap_or_default()..self.timeline.events.len();
        let parts = parts(&schedule, all).into_iter();
        let is_played = |part: &ScheduledPart| {
            let act = PlayerKind::Acp
                .cell(&self.timeline.events[part.event_idx].kind)
                .act;
            let is_input = matches!(part.part, EventPart::Input(_));
            !is_input && matches!(act, Act::Acts | Act::Awaits | Act::ActsAndAwaits)
        };
        let played = parts.filter(is_played);
        played.map(|part| (part.event_idx, part.part)).collect()
    }

    pub(crate) fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// What an agent that plays it says of it.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.timeline)
    }

    /// Its file, as it was named.
    pub fn file(&self) -> &str {
        self.timeline.source.name()
    }

    /// That the timeline types into a program, and that none is named: the mock agent, which is the default, would have
    /// nothing to play.
    fn missing_program(&self, options: &RunOptions) -> Option<Diagnostic> {
        let is_mock_agent = self.mode(options) == RunMode::MockAgent;
        let mut events = self.timeline.events.iter();
        let is_agents = |event: &TimelineEvent| {
            let act = PlayerKind::Agent.cell(&event.kind).act;
            matches!(act, Act::Acts | Act::ActsAndAwaits)
        };
        if !is_mock_agent || !options.which.program.is_empty() || events.any(is_agents) {
            return None;
        }
        let is_typed = |event: &&TimelineEvent| match &event.kind {
            EventKind::UserInputs(inputs) => inputs
                .iter()
                .any(|input| input.target == Some(UserTarget::Tui)),
            _ => false,
        };
        let typed = self.timeline.events.iter().find(is_typed)?;
        let message = "the timeline types into a program, and none was given";
        let file = self.file();
        let found = Diagnostic::error(codes::TERMINAL_START, message)
            .at(&self.timeline.source, typed.span)
            .with_help(format!("name it: `cuecard run {file} -- PROGRAM`"));
        Some(found)
    }

    /// How texts of its screens are compared, which the agent has a say in.
    fn compared(&self, options: &RunOptions) -> TerminalConfig {
        let mut terminal = self.terminal.clone();
        let preset = options.which.preset.iter();
        let of_agent = preset.flat_map(|preset| preset.normalize.iter().cloned());
        terminal.normalize.replace.extend(of_agent);
        terminal
    }

    /// What composes its run.
    pub fn mode(&self, options: &RunOptions) -> RunMode {
        let of_timeline = || match self.timeline.server.mode {
            _ if options.which.preset.is_some() => RunMode::RealAgent,
            Some(ServerMode::Mock | ServerMode::Real) => RunMode::RealAgent,
            Some(ServerMode::None) | None => RunMode::MockAgent,
        };
        options.mode.unwrap_or_else(of_timeline)
    }
}

/// Reads what `paths` name.
///
/// # Errors
/// [`StartError::Files`]: bad files, all of their errors at once.
pub fn load_runs(paths: &[PathBuf], play: &PlayOptions) -> Result<RunScripts, StartError> {
    let mut loaded = load(paths, play, |timeline| {
        let compiled = Schedule::compile(&timeline, play.is_strict);
        let mut found = compiled.diagnostics;
        found.extend(not_typed(&timeline, play.is_strict));
        let terminal = terminal_of(&timeline);
        let steps = terminal_steps(&timeline, &compiled.schedule);
        let script = RunScript {
            timeline,
            steps,
            terminal,
        };
        (script, found)
    });
    // A run chooses no scenario by its prompt, and prompts wait anyway.
    loaded.diagnostics.retain(|found| {
        found.code != codes::SELECT_SAME && found.code != codes::TIMELINE_TIME_PROMPT
    });
    if loaded.is_bad(play.skip_bad) {
        return Err(StartError::Files(loaded.diagnostics));
    }
    let mut scripts = loaded.scripts;
    let names: Vec<String> = scripts
        .iter()
        .map(|script| format!("`{}`", script.name()))
        .collect();
    if let Some(name) = &play.scenario_name {
        scripts.retain(|script| script.timeline.name == *name);
        if scripts.is_empty() {
            let message = format!("no timeline is called `{name}`");
            let unknown = Diagnostic::error(codes::SELECT_UNKNOWN, message)
                .with_note(format!("available: {}", names.join(", ")));
            return Err(StartError::Files(vec![unknown]));
        }
    }
    Ok(RunScripts {
        scripts,
        diagnostics: loaded.diagnostics,
    })
}

/// The terminal of a timeline. What is wrong with its file was found when the timeline was read.
fn terminal_of(timeline: &Timeline) -> TerminalConfig {
    match &timeline.terminal {
        None => TerminalConfig::default(),
        Some(TerminalChoice::Inline(config)) => (**config).clone(),
        Some(TerminalChoice::File(file)) => {
            let path = folder_of(Path::new(timeline.source.name())).join(file);
            let source = text_file::read(&path, &path.display().to_string());
            let read = source.ok().and_then(|source| read_terminal(&source).ok());
            read.map(|(config, _)| config).unwrap_or_default()
        }
    }
}

/// Inputs that are not typed in a terminal (T-ASRT-03).
fn not_typed(timeline: &Timeline, is_strict: bool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for event in &timeline.events {
        let EventKind::UserInputs(inputs) = &event.kind else {
            continue;
        };
        let is_web = |input: &&UserInput| input.target == Some(UserTarget::WebUi);
        let of_web = inputs.iter().filter(is_web).count();
        if of_web > 0 {
            let message = format!("{of_web} of the inputs are for a web page: nobody types them");
            let mut note = Diagnostic::note(codes::MODEL_ASSERT_UNJUDGED, message)
                .at(&timeline.source, event.span)
                .with_pointer(event.path.clone());
            if is_strict {
                note.severity = Severity::Error;
            }
            found.push(note);
        }
    }
    found
}

/// Runs a timeline, with its data in `run_dir`, to its end or until `stop` is cancelled. `watch` is told what happens.
pub async fn run_timeline(
    script: &Arc<RunScript>,
    options: &RunOptions,
    run_dir: &RunDir,
    stop: &CancellationToken,
    watch: &mut dyn FnMut(RunNotice<'_>),
) -> RunOutcome {
    let clock = Clock::start();
    let mut outcome = RunOutcome::new(script, options, run_dir);
    if let Some(problem) = script.missing_program(options) {
        outcome.could_not_run(problem);
        return outcome;
    }
    let folders = match RunFolders::create(script, options).await {
        Ok(folders) => folders,
        Err(problem) => {
            outcome.could_not_run(problem);
            return outcome;
        }
    };
    let executor = Executor::new(script.clone(), options, run_dir, folders.places(), clock);
    match executor {
        Ok(mut executor) => {
            executor.run(stop, watch).await;
            executor.finish(&mut outcome);
        }
        Err(problem) => outcome.could_not_run(problem),
    }
    outcome.took = clock.now();
    if options.keep {
        outcome.workspace = Some(folders.keep());
    }
    outcome
}

/// The folders of a run: a home, and the workspace beside it.
struct RunFolders {
    root: tempfile::TempDir,
    workspace: PathBuf,
    home: PathBuf,
}

/// Where a run takes place.
#[derive(Debug, Clone)]
struct RunPlaces {
    workspace: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
}

impl RunFolders {
    /// Makes them, and fills the workspace.
    async fn create(script: &RunScript, options: &RunOptions) -> Result<Self, Diagnostic> {
        let problem = |error: std::io::Error| {
            let message = format!("no folder for the run can be made: {}", io_reason(&error));
            Diagnostic::error(codes::FILE_WRITE, message)
                .with_help("name a folder that can be written in TMPDIR")
        };
        let mut named = tempfile::Builder::new();
        named.prefix("cuecard-");
        let root = match &options.folder {
            Some(folder) => named.tempdir_in(folder),
            None => named.tempdir(),
        };
        let root = root.map_err(problem)?;
        let path = fs::canonicalize(root.path()).map_err(problem)?;
        let (workspace, home) = (path.join("work"), path.join("home"));
        for folder in [&workspace, &home, &path.join("tmp")] {
            fs::create_dir(folder).map_err(problem)?;
        }
        cuecard_workspace::seed::seed(&script.timeline, &workspace, &options.environment).await?;
        Ok(Self {
            root,
            workspace,
            home,
        })
    }

    fn places(&self) -> RunPlaces {
        RunPlaces {
            workspace: self.workspace.clone(),
            home: self.home.clone(),
            temporary: self.root.path().join("tmp"),
        }
    }

    /// Leaves them; where the workspace is.
    fn keep(self) -> PathBuf {
        let _ = self.root.keep();
        self.workspace
    }
}

/// The file of a timeline's folder that it names.
fn beside(timeline: &Timeline, file: &Path) -> Result<PathBuf, String> {
    let folder = folder_of(Path::new(timeline.source.name()));
    let folder = fs::canonicalize(folder).map_err(|error| io_reason(&error))?;
    inside(&folder, &folder.join(file))
}

/// The locale of programs, unless it is another.
const DEFAULT_LOCALE: &str = "C.UTF-8";
/// How long a run may take.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);
/// How long a program may take to end once it is asked to.
const DEFAULT_GRACE: Duration = Duration::from_secs(5);
