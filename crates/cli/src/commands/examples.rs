//! `cuecard examples`: the examples of the repository, which are in the binary, as files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cuecard_source::diagnostic::{Diagnostic, codes};
use include_dir::{Dir, DirEntry, include_dir};

use crate::args::ExamplesArgs;
use crate::context::Stop;
use crate::exit_code::ExitCode;
use crate::output::stdout;

static EXAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../examples");

pub(crate) fn run(args: &ExamplesArgs) -> Result<ExitCode, Stop> {
    let directory = &args.directory;
    let shown = directory.display();
    let help = "name another directory: `cuecard examples DIR`";
    if let Some(path) = differing(&EXAMPLES, directory) {
        let message = format!("`{}` is there, and is not the example", path.display());
        return Err(Stop::argument(message, help));
    }
    let n_files = write(&EXAMPLES, directory).map_err(|error| {
        let message = format!("`{shown}` can't be written: {error}");
        Stop::could_not_run(Diagnostic::error(codes::FILE_WRITE, message).with_help(help))
    })?;
    stdout(&format!(
        "{shown}: {n_files} files, which {shown}/README.md lists\ntry  cuecard play {shown}/quickstart.json\n"
    ));
    Ok(ExitCode::Passed)
}

/// A file that is there and has another content.
fn differing(folder: &Dir<'_>, directory: &Path) -> Option<PathBuf> {
    folder.entries().iter().find_map(|entry| {
        let to = directory.join(entry.path().file_name().unwrap_or_default());
        match entry {
            DirEntry::Dir(folder) => differing(folder, &to),
            DirEntry::File(file) => {
                let is_same = fs::read(&to).is_ok_and(|content| content == file.contents());
                (to.symlink_metadata().is_ok() && !is_same).then_some(to)
            }
        }
    })
}

/// Writes all files, and gives their number.
fn write(folder: &Dir<'_>, directory: &Path) -> io::Result<usize> {
    fs::create_dir_all(directory)?;
    let mut n_files = 0;
    for entry in folder.entries() {
        // The path of an entry begins at the root of all.
        let to = directory.join(entry.path().file_name().unwrap_or_default());
        match entry {
            DirEntry::Dir(folder) => n_files += write(folder, &to)?,
            DirEntry::File(file) => {
                fs::write(&to, file.contents())?;
                make_runnable(&to, file.contents())?;
                n_files += 1;
            }
        }
    }
    Ok(n_files)
}

/// Lets scripts be run.
fn make_runnable(path: &Path, content: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    match content.starts_with(b"#!") {
        true => fs::set_permissions(path, fs::Permissions::from_mode(0o755)),
        false => Ok(()),
    }
}
