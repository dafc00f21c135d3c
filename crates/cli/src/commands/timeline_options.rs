//! What the arguments of every stand-in mean that plays timelines.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::load::PlayOptions;
use cuecard_runtime::trace_writer::TraceOutput;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::format::{Symbols, read_faults};
use cuecard_timeline::script::Speed;

use serde_json::json;

use crate::args::{PlayTimelineArgs, WhichTimelineArgs};
use crate::inputs::{self, read_source, symbols};
use crate::output_files::{self, unwritable_run};

/// The arguments, checked.
pub(super) struct TimelineOptions {
    pub(super) play: PlayOptions,
    /// What is doubtful about the files that they name.
    pub(super) doubts: Vec<Diagnostic>,
    /// Everything that is wrong with them.
    pub(super) problems: Vec<Diagnostic>,
}

impl TimelineOptions {
    pub(super) fn of(
        which: &WhichTimelineArgs,
        how: &PlayTimelineArgs,
        (is_strict, require_complete): (bool, bool),
        environment: &[(OsString, OsString)],
    ) -> Self {
        let (mut problems, mut doubts) = (Vec::new(), Vec::new());
        let argument = |message: &str| Diagnostic::error(codes::ARGUMENT, message);
        let speed = Speed::new(how.speed, how.min_speed).unwrap_or_else(|| {
            problems.push(argument("`--speed` and `--min-speed` must be 0 or more"));
            Speed::AS_WRITTEN
        });
        if !(0.0..=1.0).contains(&which.max_distance) {
            problems.push(argument("`--max-distance` must be between 0 and 1"));
        }
        let faults = how.fault.as_deref().and_then(|path| {
            let read = read_source(path).map_err(|problem| vec![problem]);
            match read.and_then(|source| read_faults(&source)) {
                Ok((faults, found)) => {
                    doubts.extend(found);
                    Some(faults)
                }
                Err(found) => {
                    problems.extend(found);
                    None
                }
            }
        });
        let symbols = symbols(&which.symbols, environment).unwrap_or_else(|found| {
            problems.extend(found);
            Symbols::new()
        });
        Self {
            play: PlayOptions {
                symbols,
                faults,
                skip_bad: which.skip_bad,
                tags: which.tags.clone(),
                is_strict,
                speed,
                max_distance: which.max_distance,
                any_prompt: which.any_prompt,
                scenario_name: which.scenario_name.clone(),
                max_sessions: how.sessions_max,
                require_complete,
            },
            doubts,
            problems,
        }
    }
}

/// The trace of a stand-in that plays `paths`, in a folder of its own below `parent`.
pub(super) fn trace(
    parent: &Path,
    command: &str,
    paths: &[PathBuf],
) -> Result<TraceOutput, Diagnostic> {
    let working_directory = inputs::working_directory()?;
    let clock = Clock::start();
    let run_dir = output_files::run_dir(parent, &working_directory, &clock)?;
    let file = run_dir
        .trace_file()
        .map_err(|error| unwritable_run(&error))?;
    let described = json!({
        "id": run_dir.id(),
        "command": command,
        "scenarios": paths,
        "started_at": clock.timestamp(Duration::ZERO).to_string(),
    });
    run_dir
        .describe(&described)
        .map_err(|error| unwritable_run(&error))?;
    Ok(TraceOutput {
        out: Box::new(file),
        run_id: run_dir.id().to_owned(),
    })
}
