//! Composes players: what is settled before a run, of whatever kind (`prepare`), what is known of files without one
//! (`check`), and the test runner, which finds test
//! cases, gets the trace of each from where it comes, and has it judged.
//!
//! Takes what the user asked for, resolved; gives what can be played, and results. Knows no option and prints nothing.
//! Cases are judged by several threads. Their results are told in the order of the files, whichever ends first, and
//! a thread is never far ahead of what was told. Nothing that is wrong with one case keeps the others from being
//! judged: not a file that can't be read, nor a player that panics.

mod artifacts;
mod browser;
mod case;
pub mod check;
mod collect;
mod live;
pub mod parity;
mod played;
pub mod prepare;
mod recorded;
mod selection;
mod snapshots;
mod sources;
pub mod timeline;
pub mod watch;
mod workers;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use cuecard_judge::TestResult;
use cuecard_judge::model::Unproven;
use cuecard_judge::mutate::Mutations;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_tool_call::script::Given;
use cuecard_trace::Trace;
use timeline::WhichAgent;

pub use artifacts::Artifacts;
pub use browser::played_steps;
pub use case::{CaseFile, read_case};
pub use collect::{Collected, TestFile, collect};
pub use recorded::RecordedRun;
pub use selection::{Filter, Selection, Shard};
pub use sources::errors_of;
pub use workers::{WORKER, run};

use cuecard_mcp::config::Config;
use cuecard_runtime::policy::{Policy, PolicyOptions};

/// What all cases of a run share.
#[derive(Debug)]
pub struct Setup {
    /// Id of the run.
    pub run_id: String,
    /// Whether warnings about files are errors, and what had nothing to judge fails.
    pub strict: bool,
    /// What becomes of claims that are neither supported nor refuted; as the cases say if absent.
    pub unproven: Option<Unproven>,
    /// How long a case may take.
    pub timeout: Duration,
    /// Where relative paths of scenarios start, and where their commands run.
    pub working_directory: PathBuf,
    /// What children may inherit from.
    pub environment: Vec<(OsString, OsString)>,
    /// Variables that live commands get besides.
    pub live_environment: Vec<(OsString, OsString)>,
    /// The file of `--config`.
    pub config: Option<PathBuf>,
    /// The environment that configs may refer to.
    pub config_environment: BTreeMap<String, String>,
    /// Values of variables that a test case's own are stronger than.
    pub defaults: Vec<Given>,
    /// Values of variables that are stronger than a test case's own.
    pub given: Vec<Given>,
    /// The names of which the user says that they are secrets.
    pub secrets: Vec<String>,
    /// Those names of `given` and `secrets` that no scenario that was played so far has a variable for.
    pub unknown: Mutex<BTreeSet<String>>,
    /// What scenarios and commands may do.
    pub policy: Policy,
    /// The same as it was said, for runs in workspaces of their own.
    pub safety: PolicyOptions,
    /// Our own program, which plays agents.
    pub own_program: PathBuf,
    /// Which agent plays timelines.
    pub agent: WhichAgent,
    /// What scripted delays are multiplied by.
    pub speed: f64,
    /// Whether stored traces are replaced by what the run made.
    pub update: bool,
    /// Whether the assertions of each case that passes are asked about changed traces.
    pub mutate: bool,
    /// The servers, once a case asked for them.
    pub servers: OnceLock<Result<Config, Vec<Diagnostic>>>,
}

/// A case that was judged, or why it could not be.
#[derive(Debug)]
pub struct Judged {
    /// The result.
    pub result: TestResult,
    /// What it was judged on, to be written or shown; absent if there is none.
    pub trace: Option<Trace>,
    /// Whether the trace is to be written.
    pub save_trace: bool,
    /// What is doubtful about its files.
    pub warnings: Vec<Diagnostic>,
    /// Why it could not be judged.
    pub problem: Option<Problem>,
    /// Stored traces that were replaced, as messages name them.
    pub updated: Vec<String>,
    /// What its assertions noticed of changes to the trace, if that was asked and the case passes.
    pub mutations: Option<Mutations>,
}

impl Setup {
    /// The names that the user gave and that no scenario that was played has a variable for.
    pub fn unknown(&self) -> BTreeSet<String> {
        let unknown = self.unknown.lock();
        unknown.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that a scenario has these variables.
    pub(crate) fn know<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            unknown.remove(name);
        }
    }

    /// The files that servers were looked for in, whether they are there or not; none if no case asked for servers.
    pub fn config_files(&self) -> Vec<PathBuf> {
        let Some(Ok(config)) = self.servers.get() else {
            return Vec::new();
        };
        let broken = config.broken.iter().map(|broken| &broken.file.path);
        let read = config.files.iter().map(|file| &file.path);
        read.chain(broken).chain(&config.absent).cloned().collect()
    }
}

impl Judged {
    /// A case that could not be judged.
    pub fn error(result: TestResult, problem: Problem) -> Self {
        Self {
            result,
            trace: None,
            save_trace: false,
            warnings: Vec::new(),
            problem: Some(problem),
            updated: Vec::new(),
            mutations: None,
        }
    }
}

/// Why a case could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// The test case, or a scenario it plays, is not valid.
    Invalid,
    /// There is no trace: a bundle that is not valid, a server or a command that failed, a file that can't be read.
    CouldNotRun,
    /// Somebody stopped the run.
    Interrupted,
}

/// Why nothing is run, or why there is no trace, with all findings.
#[derive(Debug)]
pub struct Stop {
    /// What kind of reason it is.
    pub problem: Problem,
    /// The findings, without secrets.
    pub diagnostics: Vec<Diagnostic>,
}

impl Stop {
    fn new(problem: Problem, found: impl Into<Vec<Diagnostic>>) -> Self {
        Self {
            problem,
            diagnostics: found.into(),
        }
    }

    fn invalid(found: impl Into<Vec<Diagnostic>>) -> Self {
        Self::new(Problem::Invalid, found)
    }

    fn could_not_run(found: impl Into<Vec<Diagnostic>>) -> Self {
        Self::new(Problem::CouldNotRun, found)
    }

    fn interrupted() -> Self {
        let message = "the run was interrupted before this test ended";
        let found = Diagnostic::error(codes::INTERRUPTED, message);
        Self::new(Problem::Interrupted, found)
    }
}

#[cfg(test)]
mod tests;
