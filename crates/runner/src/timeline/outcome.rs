//! What a run tells, and what came of it.

use std::path::PathBuf;
use std::time::Duration;

use cuecard_runtime::run_dir::RunDir;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::Json;
use cuecard_terminal::SharedScreen;
use cuecard_workspace::running::CommandEnd;
use serde_json::json;

use super::goldens::WrittenGolden;
use super::{RunMode, RunOptions, RunScript};

/// Something that happened in a run.
#[derive(Debug, Clone)]
pub struct RunEvent {
    /// When, from the start of the run.
    pub at: Duration,
    /// The event: `timeline[3]`.
    pub event: String,
    /// What it was, in words.
    pub what: String,
    /// Whether it was looked at, and was as it should be.
    pub holds: Option<bool>,
    /// Whether the timeline asks for that.
    pub is_check: bool,
}

/// What those who watch a run are told, as it happens.
pub enum RunNotice<'a> {
    /// The program under test was started; this is its screen.
    Started(SharedScreen),
    /// What is waited for: the event of the timeline.
    Next(&'a str),
    /// Something happened.
    Event(&'a RunEvent),
}

/// A picture of the terminal that was taken.
#[derive(Debug, Clone)]
pub struct Screenshot {
    /// Its label.
    pub label: String,
    /// Its text as it is compared.
    pub text: String,
    /// Its files: text, SVG and PNG.
    pub files: Vec<PathBuf>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    /// Nothing failed.
    Passed,
    /// Something did.
    Failed,
    /// It could not be run.
    CouldNotRun,
    /// The user ended it.
    Interrupted,
}

impl RunStatus {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::CouldNotRun => "could not run",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct RunOutcome {
    /// The scenario's name.
    pub scenario: String,
    /// Its file, as it was named.
    pub file: String,
    /// The terminal's profile.
    pub terminal: String,
    /// What composed it.
    pub mode: RunMode,
    /// The version of the agent, if that is known.
    pub agent_version: Option<String>,
    /// How it ended.
    pub status: RunStatus,
    /// What failed and what is doubtful, in order.
    pub findings: Vec<Diagnostic>,
    /// How many failures there were.
    pub n_failures: u64,
    /// What happened, in order.
    pub events: Vec<RunEvent>,
    /// The pictures that were taken.
    pub screenshots: Vec<Screenshot>,
    /// How the program under test ended.
    pub end: Option<CommandEnd>,
    /// The program under test and its arguments.
    pub program: Vec<String>,
    /// The run's folder.
    pub folder: PathBuf,
    /// The workspace, if it was kept.
    pub workspace: Option<PathBuf>,
    /// Goldens that were written.
    pub written: Vec<WrittenGolden>,
    /// How long it took.
    pub took: Duration,
}

impl RunOutcome {
    pub(super) fn new(script: &RunScript, options: &RunOptions, run_dir: &RunDir) -> Self {
        Self {
            scenario: script.timeline.name.clone(),
            file: script.timeline.source.name().to_owned(),
            terminal: script.terminal.profile_id(),
            mode: script.mode(options),
            agent_version: None,
            status: RunStatus::Passed,
            findings: Vec::new(),
            n_failures: 0,
            events: Vec::new(),
            screenshots: Vec::new(),
            end: None,
            program: Vec::new(),
            folder: run_dir.path().to_owned(),
            workspace: None,
            written: Vec::new(),
            took: Duration::ZERO,
        }
    }

    pub(super) fn could_not_run(&mut self, problem: Diagnostic) {
        self.status = RunStatus::CouldNotRun;
        self.n_failures += 1;
        self.findings.push(problem);
    }

    /// The outcome for machines.
    pub fn to_json(&self) -> Json {
        let events = self.events.iter().map(|event| {
            json!({
                "elapsed_ms": event.at.as_millis(), "event": event.event,
                "what": event.what, "holds": event.holds,
            })
        });
        let screenshots = self.screenshots.iter();
        let screenshots = screenshots
            .map(|shot| json!({"label": shot.label, "text": shot.text, "files": shot.files}));
        let written = self.written.iter();
        let unsettled = written.clone().filter(|golden| !golden.is_still);
        json!({
            "scenario": self.scenario,
            "file": self.file,
            "terminal": self.terminal,
            "mode": self.mode.as_str(),
            "agent_version": self.agent_version,
            "status": self.status.as_str(),
            "failures": self.n_failures,
            "findings": cuecard_report::diagnostics::list_to_json(&self.findings),
            "events": events.collect::<Vec<_>>(),
            "screenshots": screenshots.collect::<Vec<_>>(),
            "program": self.program,
            "exit_code": self.end.map(CommandEnd::shell_code),
            "run": self.folder,
            "workspace": self.workspace,
            "goldens_written": written.clone().map(|golden| &golden.path).collect::<Vec<_>>(),
            "goldens_unsettled": unsettled.map(|golden| &golden.path).collect::<Vec<_>>(),
            "duration_ms": self.took.as_millis(),
        })
    }
}
