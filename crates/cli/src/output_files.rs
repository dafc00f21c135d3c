//! Where results go: files that the user names, and the folders of runs.

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::text_file;
use cuecard_source::detect::kind_of;
use cuecard_source::diagnostic::{Diagnostic, codes};

use crate::inputs::io_reason;

/// Refuses `results` that would replace what is read: one of `inputs`, or a file that by what it says is no result.
pub(crate) fn check_overwriting<'p>(
    results: impl IntoIterator<Item = &'p Path>,
    inputs: &[&Path],
) -> Result<(), Diagnostic> {
    let inputs: Vec<_> = inputs
        .iter()
        .filter_map(|file| file.canonicalize().ok())
        .collect();
    let mut written = HashSet::new();
    for result in results {
        if result.as_os_str() == "-" {
            let message = "a result of a run goes to a file, and `-` is none";
            return Err(Diagnostic::error(codes::ARGUMENT, message)
                .with_help("for the result on standard output, use `--json`"));
        }
        if !written.insert(std::path::absolute(result).unwrap_or_else(|_| result.to_owned())) {
            let message = format!("two results would be written to `{}`", result.display());
            return Err(Diagnostic::error(codes::ARGUMENT, message)
                .with_help("choose another file for one of them"));
        }
        // A pipe would be waited for.
        let Ok(real) = result.canonicalize() else {
            continue;
        };
        if !real.is_file() {
            continue;
        }
        let shown = result.display().to_string();
        let read = text_file::read(&real, &shown).ok();
        let what = match read.as_ref().and_then(kind_of) {
            Some(kind) => kind.description(),
            None if inputs.contains(&real) => "a file that the run reads",
            None => continue,
        };
        let message = format!("the result would overwrite `{shown}`, {what}");
        return Err(Diagnostic::error(codes::ARGUMENT, message)
            .with_help("choose another file for the result"));
    }
    Ok(())
}

/// Opens a file that a result goes to.
pub(crate) fn create(path: &Path) -> Result<File, Diagnostic> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        // Should this fail, opening the file says why.
        let _ = std::fs::create_dir_all(folder);
    }
    File::create(path).map_err(|error| {
        Diagnostic::error(
            codes::FILE_WRITE,
            format!(
                "`{}` can't be written: {}",
                path.display(),
                io_reason(&error)
            ),
        )
    })
}

/// The folder, below `parent`, of a run that began with the clock.
pub(crate) fn run_dir(
    parent: &Path,
    working_directory: &Path,
    clock: &Clock,
) -> Result<RunDir, Diagnostic> {
    let started = clock.timestamp(Duration::ZERO);
    RunDir::create(&working_directory.join(parent), started).map_err(|error| {
        Diagnostic::error(
            codes::FILE_WRITE,
            format!(
                "failed to create the run directory `{}`: {}",
                parent.display(),
                io_reason(&error)
            ),
        )
        .with_help("choose another directory with `--run-dir DIR`")
    })
}

/// That a file of a run's folder can't be written.
pub(crate) fn unwritable_run(error: &std::io::Error) -> Diagnostic {
    let message = format!("the run directory can't be written: {}", io_reason(error));
    Diagnostic::error(codes::FILE_WRITE, message)
}
