//! What a case is judged with beside its trace: stored traces, which may be replaced, and what commands say.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use cuecard_judge::model::{Assertion, AssertionCheck, TestCase};
use cuecard_judge::{self as assertions, Beside, Outcome, Snapshot, stable};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Text;
use cuecard_trace::Trace;
use tokio_util::sync::CancellationToken;

use super::sources::joined;
use super::{Setup, Stop, live};
use cuecard_runtime::text_file::io_reason;

/// What the traces of a case are compared with.
pub(super) struct Stored {
    beside: Beside,
    /// Files that were written.
    pub updated: Vec<String>,
}

impl Stored {
    /// Judges the assertions of the case.
    pub(super) fn judge(&self, case: &TestCase, trace: &Trace) -> Vec<Outcome> {
        assertions::judge_with(case, trace, &self.beside)
    }
}

/// Reads the traces that `case` names, or replaces them by `trace` if they are to `update`, and runs its commands.
pub(super) fn prepare(
    case: &TestCase,
    folder: &Path,
    trace: &Trace,
    setup: &Setup,
    update: bool,
    stop: &CancellationToken,
) -> Result<Stored, Stop> {
    let mut stored = Stored {
        beside: Beside::default(),
        updated: Vec::new(),
    };
    for assertion in case.each_assertion() {
        let AssertionCheck::TraceSnapshot(snapshot) = &assertion.check else {
            continue;
        };
        let file = &*snapshot.file;
        let path = joined(folder, Path::new(file));
        if update && replace(&path, case, assertion, trace, setup)? {
            stored.updated.push(path.display().to_string());
        }
        if let Some(snapshot) = read(&path) {
            stored.beside.snapshots.insert(file.to_owned(), snapshot);
        }
    }
    stored.beside.verdicts = live::verdicts(case, trace, folder, setup, stop)?;
    Ok(stored)
}

fn read(path: &Path) -> Option<Snapshot> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => return Some(Snapshot::Unreadable(io_reason(&error))),
    };
    Some(match Trace::read(BufReader::new(file)) {
        Ok(trace) => Snapshot::Stored(Box::new(trace)),
        Err(error) => Snapshot::Unreadable(error.to_string()),
    })
}

/// Stores `trace` at `path`; whether that changed anything.
fn replace(
    path: &Path,
    case: &TestCase,
    assertion: &Assertion,
    trace: &Trace,
    setup: &Setup,
) -> Result<bool, Stop> {
    let failed =
        |code, message: String| Diagnostic::error(code, message).at(&case.source, assertion.span);
    let mut content = Vec::new();
    let unwritable = |error: std::io::Error| {
        let message = format!(
            "`{}` can't be written: {}",
            path.display(),
            io_reason(&error)
        );
        Stop::could_not_run(failed(codes::FILE_WRITE, message))
    };
    stable(&assertions::redacted(case, trace))
        .write_document(&mut content)
        .map_err(unwritable)?;
    match fs::read(path) {
        Ok(old) if old == content => return Ok(false),
        Ok(old) if !old.is_empty() && Trace::read(old.as_slice()).is_err() => {
            let message = format!("`{}` is not a trace: it is not overwritten", path.display());
            let error = failed(codes::FILE_WRITE, message);
            let help = "name another file in `file`, or delete this one";
            return Err(Stop::could_not_run(error.with_help(help)));
        }
        _ => {}
    }
    let absolute = setup.working_directory.join(path);
    let allowed = setup
        .policy
        .write_path(&Text::from(absolute.to_string_lossy().as_ref()))
        .map_err(|refusal| {
            let error = failed(codes::SAFETY_PATH, refusal.message).with_help(refusal.help);
            Stop::could_not_run(error)
        })?;
    if let Some(parent) = allowed.parent() {
        fs::create_dir_all(parent).map_err(unwritable)?;
    }
    // In one step, so that nobody reads a half.
    let written = allowed
        .parent()
        .map_or_else(
            tempfile::NamedTempFile::new,
            tempfile::NamedTempFile::new_in,
        )
        .and_then(|mut file| {
            std::io::Write::write_all(&mut file, &content)?;
            file.persist(&allowed).map_err(|error| error.error)?;
            Ok(())
        });
    written.map_err(unwritable)?;
    Ok(true)
}
