//! Where results go: files that the user names, and the folders of runs.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::run_dir::RunDir;
use cuecard_source::diagnostic::{Diagnostic, codes};

use crate::inputs::io_reason;

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
