//! Gets the trace of a case from where it comes.

use std::path::{Path, PathBuf};

use cuecard_browser_steps::format::read_steps;
use cuecard_judge::Outcome;
use cuecard_judge::model::{TestCase, TraceInput};
use cuecard_source::detect::{FileKind, kind_of};
use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::{SourceFile, Span};
use cuecard_tool_call::format as tool_call;
use cuecard_trace::Trace;
use cuecard_trace::import::{self, Imported};
use tokio_util::sync::CancellationToken;

use super::recorded::RecordedRun;
use super::{Setup, Stop, live, played};
use cuecard_runtime::text_file;
use cuecard_runtime::timelines::read_timeline;
use cuecard_timeline::format::Symbols;
use cuecard_workspace::search::{Limits, glob, split_absolute};

/// A trace that can be judged.
#[derive(Debug)]
pub(super) struct Recorded {
    pub trace: Trace,
    /// The tools that its servers offered, where that is known.
    pub offered: Vec<String>,
    /// What is doubtful about what it was made of.
    pub warnings: Vec<Diagnostic>,
    /// What the player itself says against the run, if it says anything.
    pub failure: Option<Outcome>,
}

/// The trace of `case`, whose file lies in `folder`.
pub(super) fn record(
    case: &TestCase,
    folder: &Path,
    setup: &Setup,
    stop: &CancellationToken,
) -> Result<Recorded, Stop> {
    match &case.input {
        TraceInput::ReplayBundle { file, span } => {
            let source = read(case, folder, file, *span)?;
            recorded(import::replay_bundle(&source, &case.tools.fixtures))
        }
        TraceInput::Live { command, span } => {
            let source = live::run(command, *span, case, folder, setup, stop)?;
            recorded(import::replay_bundle(&source, &case.tools.fixtures))
        }
        TraceInput::TraceFile { file, span } => {
            let here = |found: Diagnostic| found.at(&case.source, *span);
            let run = RecordedRun::trace(&joined(folder, file))
                .map_err(|error| Stop::could_not_run(here(error)))?;
            Ok(Recorded {
                trace: run.trace,
                offered: run.tools,
                warnings: run.warnings.into_iter().map(here).collect(),
                failure: None,
            })
        }
        TraceInput::Transcript { file, format, span } => {
            let source = read(case, folder, file, *span)?;
            let format = format.or_else(|| import::detect(&source)).ok_or_else(|| {
                let message = "the format of this file can't be told from its content";
                let error = Diagnostic::error(codes::FILE_KIND, message).at(&case.source, *span);
                let help = "say which it is: `format: atif`, `otlp`, `claude-code` or `codex`";
                Stop::could_not_run(error.with_help(help))
            })?;
            recorded(import::transcript(&source, format))
        }
        TraceInput::Play {
            file,
            variables,
            span,
        } => {
            let source = read(case, folder, file, *span).map_err(|stopped| Stop {
                problem: super::Problem::Invalid,
                ..stopped
            })?;
            played::play(source, variables, case, setup, stop)
        }
    }
}

/// The case for each recording, if it names several by a pattern; else itself.
pub(super) fn each_run(mut case: TestCase, folder: &Path) -> Result<Vec<TestCase>, Diagnostic> {
    let source = case.source.clone();
    let Some((file, span)) = case.input.recorded_file() else {
        return Ok(vec![case]);
    };
    let pattern = file.to_string_lossy().into_owned();
    if !pattern.contains(['*', '?', '[', '{']) || joined(folder, file).exists() {
        return Ok(vec![case]);
    }
    let failed = |message: String| Diagnostic::error(codes::FILE_READ, message).at(&source, span);
    let (root, below) = match split_absolute(&pattern) {
        Some((root, below)) => (root, below),
        None => (
            folder.to_owned(),
            pattern.strip_prefix("./").unwrap_or(&pattern),
        ),
    };
    let root = std::path::absolute(&root).unwrap_or(root);
    let found =
        glob(&root, below, &Limits::default()).map_err(|error| failed(error.to_string()))?;
    let mut runs = found.files;
    runs.sort_unstable();
    if runs.is_empty() {
        let message = format!("no file matches `{pattern}`");
        return Err(failed(message).with_help("it is looked for in the folder of the test"));
    }
    let cases = runs.into_iter().map(|run| {
        let path = Path::new(&run);
        let path = path.strip_prefix(&root).unwrap_or(path);
        let name = path.with_extension("").to_string_lossy().replace('/', "-");
        let mut one = case.clone();
        one.title = match one.title == one.id {
            true => format!("{}.{name}", one.id),
            false => format!("{}: {name}", one.title),
        };
        one.id = format!("{}.{name}", one.id);
        if let Some((file, _)) = one.input.recorded_file() {
            *file = match pattern.starts_with('/') {
                true => root.join(path),
                false => path.to_owned(),
            };
        }
        one
    });
    Ok(cases.collect())
}

/// Why steps can't be played, whatever the arguments are.
pub fn errors_of(source: &SourceFile) -> Vec<Diagnostic> {
    let found = match kind_of(source) {
        Some(FileKind::BrowserSteps) => read_steps(source).diagnostics,
        Some(FileKind::Timeline) => {
            let folder = text_file::folder_of(Path::new(source.name()));
            read_timeline(source, folder, &Symbols::new()).diagnostics
        }
        _ => tool_call::read(source).diagnostics,
    };
    let is_error = |found: &Diagnostic| found.severity == Severity::Error;
    found.into_iter().filter(is_error).collect()
}

/// What is wrong with the files that the trace of `case` comes from. A recording may be made later.
pub(crate) fn check_input(case: &TestCase, folder: &Path) -> Vec<Diagnostic> {
    match each_run(case.clone(), folder) {
        Ok(cases) if cases.len() > 1 => {
            let cases = cases.iter();
            return cases.flat_map(|case| check_input(case, folder)).collect();
        }
        Ok(_) => {}
        Err(mut none) => {
            none.severity = Severity::Warning;
            return vec![none];
        }
    }
    let whole = |file: &PathBuf, span: &Span| read(case, folder, file, *span);
    let found = match &case.input {
        TraceInput::Live { .. } => return Vec::new(),
        TraceInput::ReplayBundle { file, span } => whole(file, span)
            .map(|source| import::replay_bundle(&source, &case.tools.fixtures).diagnostics),
        TraceInput::Play { file, span, .. } => whole(file, span).map(|source| errors_of(&source)),
        TraceInput::TraceFile { file, span } | TraceInput::Transcript { file, span, .. } => {
            let path = joined(folder, file);
            let message = format!("`{}` doesn't exist yet", path.display());
            let missing = Diagnostic::warning(codes::FILE_READ, message).at(&case.source, *span);
            regular(&path, case, *span)
                .map(|()| (!path.exists()).then_some(missing).into_iter().collect())
        }
    };
    found.unwrap_or_else(|stopped| stopped.diagnostics)
}

/// The file that the test case names at `span`.
fn read(case: &TestCase, folder: &Path, file: &Path, span: Span) -> Result<SourceFile, Stop> {
    let path = joined(folder, file);
    regular(&path, case, span)?;
    text_file::read(&path, &path.display().to_string())
        .map_err(|error| Stop::could_not_run(error.at(&case.source, span)))
}

/// Refuses what would be waited for or never ends: pipes, devices.
fn regular(path: &Path, case: &TestCase, span: Span) -> Result<(), Stop> {
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            let message = format!("`{}` can't be read: it is not a file", path.display());
            let error = Diagnostic::error(codes::FILE_READ, message).at(&case.source, span);
            Err(Stop::could_not_run(error))
        }
        // Opening it says what is wrong.
        _ => Ok(()),
    }
}

/// `file` as messages call it: below `folder`, without the dots that lead nowhere.
pub(super) fn joined(folder: &Path, file: &Path) -> std::path::PathBuf {
    let file: std::path::PathBuf = file
        .components()
        .filter(|part| !matches!(part, std::path::Component::CurDir))
        .collect();
    match folder == Path::new(".") {
        true => file,
        false => folder.join(file),
    }
}

fn recorded(imported: Imported) -> Result<Recorded, Stop> {
    let Some(trace) = imported.trace else {
        return Err(Stop::could_not_run(imported.diagnostics));
    };
    debug_assert!(
        imported
            .diagnostics
            .iter()
            .all(|diagnostic| diagnostic.severity == Severity::Warning)
    );
    Ok(Recorded {
        trace,
        offered: imported.tools,
        warnings: imported.diagnostics,
        failure: None,
    })
}
