//! Runs timelines end to end: a workspace, a program in a terminal, its user, and what is looked at on the way.

mod agent;
mod checks;
mod executor;
mod goldens;
mod model;
mod outcome;
mod presets;
mod real_agent;
mod user;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::load::{PlayOptions, load};
use cuecard_runtime::policy::{PolicyOptions, inside};
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::start_error::StartError;
use cuecard_runtime::text_file::{self, folder_of, io_reason};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::format::read_terminal;
use cuecard_timeline::model::{EventKind, ServerMode, TerminalChoice, TerminalConfig, Timeline};
use cuecard_timeline::script::{Schedule, TerminalStep, terminal_steps};
use tokio_util::sync::CancellationToken;

use self::executor::Executor;
pub use self::goldens::GoldenOptions;
pub use self::outcome::{RunEvent, RunOutcome, RunStatus, Screenshot};
pub use self::presets::{AgentPreset, agent_names};

/// How timelines are run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Which timelines, and how.
    pub play: PlayOptions,
    /// What composes a run; as the timeline has it if that is not said.
    pub mode: Option<RunMode>,
    /// How the real agent is started and driven.
    pub preset: Option<AgentPreset>,
    /// The program under test and its arguments; without one it is the agent of the preset, or the stand-in for one.
    pub program: Vec<OsString>,
    /// Our own program, and what it needs to play the agent: what is allowed, symbols.
    pub own_program: PathBuf,
    /// Arguments for it.
    pub agent_args: Vec<OsString>,
    /// What commands of the user's may do. Root and working directory become the workspace.
    pub policy: PolicyOptions,
    /// What children may inherit from.
    pub environment: Vec<(OsString, OsString)>,
    /// Where expected screens are, and what is done about those that differ.
    pub goldens: GoldenOptions,
    /// Whether the workspaces stay.
    pub keep: bool,
    /// How long a run may take.
    pub timeout: Duration,
    /// How long a program may take to end once it is asked to.
    pub grace: Duration,
}

/// What composes a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMode {
    /// The stand-in for an agent plays the timeline.
    MockAgent,
    /// A real agent does, whose model is played; or answers by itself, where `server.mode` is `real`.
    RealAgent,
}

impl RunMode {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MockAgent => "mock-agent",
            Self::RealAgent => "real-agent",
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

    /// Its file, as it was named.
    pub fn file(&self) -> &str {
        self.timeline.source.name()
    }

    /// What composes its run.
    pub fn mode(&self, options: &RunOptions) -> RunMode {
        let of_timeline = || match self.timeline.server.mode {
            _ if options.preset.is_some() => RunMode::RealAgent,
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
    let loaded = load(paths, play, |timeline| {
        let compiled = Schedule::compile(&timeline, play.is_strict);
        let mut found = compiled.diagnostics;
        let (terminal, doubts) = terminal_of(&timeline);
        found.extend(doubts);
        found.extend(clashes(&timeline));
        let steps = terminal_steps(&timeline, &compiled.schedule);
        let script = RunScript {
            timeline,
            steps,
            terminal,
        };
        (script, found)
    });
    if loaded.is_bad(play.skip_bad) {
        return Err(StartError::Files(loaded.diagnostics));
    }
    let mut scripts = loaded.scripts;
    if let Some(name) = &play.scenario_name {
        scripts.retain(|script| script.timeline.name == *name);
        if scripts.is_empty() {
            let message = format!("no scenario is called `{name}`");
            let unknown = Diagnostic::error(codes::SELECT_UNKNOWN, message);
            return Err(StartError::Files(vec![unknown]));
        }
    }
    // A run chooses no scenario by its prompt.
    let mut diagnostics = loaded.diagnostics;
    diagnostics.retain(|found| found.code != codes::SELECT_SAME);
    Ok(RunScripts {
        scripts,
        diagnostics,
    })
}

/// The terminal of a timeline; what is wrong with its file.
fn terminal_of(timeline: &Timeline) -> (TerminalConfig, Vec<Diagnostic>) {
    match &timeline.terminal {
        None => (TerminalConfig::default(), Vec::new()),
        Some(TerminalChoice::Inline(config)) => ((**config).clone(), Vec::new()),
        Some(TerminalChoice::File(file)) => {
            let path = folder_of(Path::new(timeline.source.name())).join(file);
            // That it is there was looked at when the timeline was read.
            let read = text_file::read(&path, &path.display().to_string());
            match read
                .map_err(|found| vec![found])
                .and_then(|source| read_terminal(&source))
            {
                Ok(read) => read,
                Err(found) => (TerminalConfig::default(), found),
            }
        }
    }
}

/// Screenshots whose files would be the same (T-TERM-04).
fn clashes(timeline: &Timeline) -> Vec<Diagnostic> {
    let mut known: Vec<(String, &str)> = Vec::new();
    let mut found = Vec::new();
    for event in &timeline.events {
        let EventKind::Screenshot(label) = &event.kind else {
            continue;
        };
        let file = file_safe(label);
        if let Some((_, other)) = known.iter().find(|(known, _)| *known == file) {
            let message = match other == label {
                true => format!("two screenshots are called `{label}`"),
                false => {
                    format!("the screenshots `{other}` and `{label}` have the same file, `{file}`")
                }
            };
            let clash = Diagnostic::error(codes::TERMINAL_LABEL, message);
            found.push(
                clash
                    .at(&timeline.source, event.span)
                    .with_pointer(event.path.clone()),
            );
        }
        known.push((file, label));
    }
    found
}

/// A name as that of a file.
fn file_safe(name: &str) -> String {
    let safe = name.chars().map(|character| match character {
        '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => '_',
        character if character.is_control() || character.is_whitespace() => '_',
        character => character,
    });
    let safe: String = safe.collect();
    match safe.trim_matches('.') {
        "" => "_".to_owned(),
        _ if safe.starts_with('.') => format!("_{}", &safe[1..]),
        _ => safe,
    }
}

/// Runs a timeline, with its data in `run_dir`, to its end or until `stop` is cancelled. `watch` is told what happens.
pub async fn run_timeline(
    script: &Arc<RunScript>,
    options: &RunOptions,
    run_dir: &RunDir,
    stop: &CancellationToken,
    watch: &mut dyn FnMut(&RunEvent),
) -> RunOutcome {
    let clock = Clock::start();
    let mut outcome = RunOutcome::new(script, options, run_dir);
    let folders = match RunFolders::create(script, &options.environment).await {
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
    async fn create(
        script: &RunScript,
        environment: &[(OsString, OsString)],
    ) -> Result<Self, Diagnostic> {
        let problem = |error: std::io::Error| {
            let message = format!("no folder for the run can be made: {}", io_reason(&error));
            Diagnostic::error(codes::FILE_WRITE, message)
                .with_help("name a folder that can be written in TMPDIR")
        };
        let root = tempfile::Builder::new()
            .prefix("cuecard-")
            .tempdir()
            .map_err(problem)?;
        let path = fs::canonicalize(root.path()).map_err(problem)?;
        let (workspace, home) = (path.join("work"), path.join("home"));
        for folder in [&workspace, &home, &path.join("tmp")] {
            fs::create_dir(folder).map_err(problem)?;
        }
        cuecard_workspace::seed::seed(&script.timeline, &workspace, environment).await?;
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
