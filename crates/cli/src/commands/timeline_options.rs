//! What the arguments of every stand-in mean that plays timelines.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::load::PlayOptions;
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::trace_writer::TraceOutput;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_timeline::format::{Symbols, read_faults};
use cuecard_timeline::script::Speed;
use serde_json::{Value as Json, json};

use crate::args::{PlayTimelineArgs, TimelineSpeedArgs, WhichTimelineArgs};
use crate::context::Problems;
use crate::inputs::{self, read_source, symbols};
use crate::output_files::{self, unwritable_run};

/// The arguments, checked.
pub(super) struct TimelineOptions {
    pub(super) play: PlayOptions,
    /// What is doubtful about the files that they name.
    pub(super) doubts: Vec<Diagnostic>,
    /// Everything that is wrong with them.
    pub(super) problems: Problems,
}

impl TimelineOptions {
    /// The options, and what is doubtful.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub(super) fn checked(self) -> Result<(PlayOptions, Vec<Diagnostic>), Vec<Diagnostic>> {
        self.problems.or(Some((self.play, self.doubts)))
    }

    /// Those of a stand-in with sessions and a wire.
    pub(super) fn of(
        which: &WhichTimelineArgs,
        how: &PlayTimelineArgs,
        (is_strict, require_complete): (bool, bool),
        environment: &[(OsString, OsString)],
    ) -> Self {
        let mut options = Self::of_player(which, &how.speed, is_strict, environment);
        options.play.max_sessions = how.sessions_max;
        options.play.require_complete = require_complete;
        if let Some(path) = &how.fault {
            let read = read_source(path).map_err(|problem| vec![problem]);
            let read = read.and_then(|source| read_faults(&source));
            if let Some((faults, found)) = options.problems.take(read) {
                options.doubts.extend(found);
                options.play.faults = Some(faults);
            }
        }
        options
    }

    /// Those of any player.
    pub(super) fn of_player(
        which: &WhichTimelineArgs,
        speed: &TimelineSpeedArgs,
        is_strict: bool,
        environment: &[(OsString, OsString)],
    ) -> Self {
        let mut problems = Problems::default();
        let speed = Speed::new(speed.factor.speed, speed.min_speed);
        let symbols = problems.take(symbols(&which.symbols, environment));
        Self {
            play: PlayOptions {
                symbols: symbols.unwrap_or_else(Symbols::new),
                skip_bad: which.skip_bad,
                tags: which.tagged.tags.clone(),
                is_strict,
                speed: speed.unwrap_or(Speed::AS_WRITTEN),
                max_distance: which.distance.max_distance,
                any_prompt: which.any_prompt,
                scenario_name: which.scenario_name.clone(),
                ..PlayOptions::default()
            },
            doubts: Vec::new(),
            problems,
        }
    }
}

/// The trace of a mock that plays `paths`, in a folder of its own below `parent`.
pub(super) fn trace(
    parent: &Path,
    command: &str,
    paths: &[PathBuf],
) -> Result<TraceOutput, Diagnostic> {
    let described = json!({"command": command, "scenarios": paths});
    run_folder(parent, described).map(|(_, trace)| trace)
}

/// The folder of a run, below `parent`, and its trace. `described` says what is run.
pub(super) fn run_folder(
    parent: &Path,
    mut described: Json,
) -> Result<(RunDir, TraceOutput), Diagnostic> {
    let working_directory = inputs::working_directory()?;
    let clock = Clock::start();
    let run_dir = output_files::run_dir(parent, &working_directory, &clock)?;
    let file = run_dir
        .trace_file()
        .map_err(|error| unwritable_run(&error))?;
    described["id"] = run_dir.id().into();
    described["started_at"] = clock.timestamp(Duration::ZERO).to_string().into();
    run_dir
        .describe(&described)
        .map_err(|error| unwritable_run(&error))?;
    let trace = TraceOutput {
        out: Box::new(file),
        run_id: run_dir.id().to_owned(),
    };
    Ok((run_dir, trace))
}
