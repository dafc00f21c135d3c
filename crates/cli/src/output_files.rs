//! Where results go: files that the user names, and the folders of runs.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io::{self, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::run_dir::{RunDir, clear_old};
use cuecard_runtime::text_file;
use cuecard_source::Effects;
use cuecard_source::detect::kind_of;
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_workspace::files;

use crate::context::Stop;
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

/// The kind and the file of `--report KIND:FILE`, of which a command knows `kinds`.
pub(crate) fn report<'r>(
    report: &'r str,
    kinds: &[&str],
) -> Result<(&'r str, &'r str), Diagnostic> {
    let (message, help) = match report.split_once(':').unwrap_or((report, "")) {
        (kind, "") if kinds.contains(&kind) => (
            format!("`--report {report}` has no file name"),
            format!("write --report {kind}:FILE"),
        ),
        (kind, file) if kinds.contains(&kind) => return Ok((kind, file)),
        (kind, _) => {
            let help = match did_you_mean(kind, kinds.iter().copied()) {
                Some(proposal) => format!("did you mean `{proposal}:FILE`?"),
                None => format!("available reports: {}:FILE", kinds.join(":FILE, ")),
            };
            (format!("unknown report format `{kind}`"), help)
        }
    };
    Err(Diagnostic::error(codes::ARGUMENT, message).with_help(help))
}

/// The file of `--report junit:FILE`.
pub(crate) fn junit(written: Option<&str>) -> Result<Option<PathBuf>, Diagnostic> {
    let junit = written.map(|written| report(written, &["junit"]));
    Ok(junit.transpose()?.map(|(_, file)| file.into()))
}

/// Removes what an earlier run left in `results`. A file with anything else in it stays until a run begins.
pub(crate) fn clear_results(results: &[PathBuf]) {
    let is_file = |file: &&PathBuf| file.symlink_metadata().is_ok_and(|data| data.is_file());
    for file in results.iter().filter(is_file) {
        let shown = file.display().to_string();
        if text_file::read(file, &shown).is_ok_and(|source| is_result(source.text())) {
            // What can't be removed is told when it is written.
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Whether a text is a result or a report, or the beginning of one.
fn is_result(text: &str) -> bool {
    let text = text.trim_start();
    let begins = |start: &str| {
        let head = text.get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    text.is_empty()
        || (begins("{") && text.contains("\"step_results\""))
        || (begins("{") && text.contains("\"unplayed\"") && text.contains("\"trace_error\""))
        || (begins("<?xml") && text.contains("<testsuite"))
        || (begins("<!doctype html") && text.contains("cuecard"))
}

/// Refuses a result in a file that a scenario reads or writes.
pub(crate) fn check_used(results: &[PathBuf], effects: &Effects) -> Result<(), Diagnostic> {
    let place_of = |path: &Path| {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        absolute.canonicalize().unwrap_or(absolute)
    };
    let uses = |verb, paths: &[String]| {
        paths
            .iter()
            .map(move |path| (verb, PathBuf::from(path)))
            .collect::<Vec<_>>()
    };
    let used = [
        uses("reads", &effects.reads),
        uses("writes", &effects.writes),
    ]
    .concat();
    for result in results {
        let place = place_of(result);
        if let Some((verb, _)) = used.iter().find(|(_, path)| place_of(path) == place) {
            let shown = result.display();
            let message = format!("the result would go to `{shown}`, which a step {verb}");
            return Err(Diagnostic::error(codes::ARGUMENT, message)
                .with_help("choose another file for the result"));
        }
    }
    Ok(())
}

/// A file that a result goes to. It is an error if something else is written there meanwhile.
#[derive(Debug)]
pub(crate) struct ResultFile {
    path: PathBuf,
    file: File,
}

impl ResultFile {
    /// Opens it.
    pub(crate) fn create(path: &Path) -> Result<Self, Diagnostic> {
        Ok(Self {
            path: path.to_owned(),
            file: create(path)?,
        })
    }

    /// The same file, for looking at it once all is written.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(Self {
            path: self.path.clone(),
            file: self.file.try_clone()?,
        })
    }

    /// Fails if something else was written there since.
    pub(crate) fn check(&mut self) -> io::Result<()> {
        use std::os::unix::fs::MetadataExt as _;
        let id = |data: &Metadata| (data.dev(), data.ino());
        let ours = self.file.metadata()?;
        let is_there = std::fs::metadata(&self.path).is_ok_and(|now| id(&now) == id(&ours));
        match !ours.is_file() || (is_there && self.file.stream_position()? == ours.len()) {
            true => Ok(()),
            false => Err(io::Error::other(format!(
                "something else was written to `{}` during the run",
                self.path.display()
            ))),
        }
    }
}

impl Write for ResultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // What truncated the file in between would be filled up with zeros.
        self.check()?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Replaces a file as a whole or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Diagnostic> {
    files::write(path, text).map(drop).map_err(|error| {
        let mut found = Diagnostic::error(codes::FILE_WRITE, error.to_string());
        found.help = error.help();
        found
    })
}

/// As [`write_text`], over another file only with `--force`.
pub(crate) fn write_new(path: &Path, text: &str, is_forced: bool) -> Result<(), Stop> {
    if !is_forced && path.exists() {
        let message = format!("`{}` already exists", path.display());
        let help = "choose another name, or pass --force to overwrite it";
        return Err(Stop::refused(codes::FILE_WRITE, message, help));
    }
    write_text(path, text).map_err(Stop::could_not_run)
}

/// That a file can't be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Diagnostic {
    let message = format!(
        "`{}` can't be written: {}",
        path.display(),
        io_reason(error)
    );
    Diagnostic::error(codes::FILE_WRITE, message)
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
    File::create(path).map_err(|error| unwritable(path, &error))
}

/// Writes a file that a result goes to.
pub(crate) fn write_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Diagnostic> {
    write(&mut create(path)?).map_err(|error| unwritable(path, &error))
}

/// Old runs are cleared away once, so that all runs of a command are kept.
static CLEARED: Once = Once::new();

/// Makes the folder, below `parent`, of a run that began at `started`.
///
/// # Errors
/// The operating system's.
pub(crate) fn create_run_dir(parent: &Path, started: jiff::Timestamp) -> io::Result<RunDir> {
    CLEARED.call_once(|| clear_old(parent));
    RunDir::create(parent, started)
}

/// The folder, below `parent`, of a run that began with the clock.
pub(crate) fn run_dir(
    parent: &Path,
    working_directory: &Path,
    clock: &Clock,
) -> Result<RunDir, Diagnostic> {
    let started = clock.timestamp(Duration::ZERO);
    create_run_dir(&working_directory.join(parent), started).map_err(|error| {
        let (parent, reason) = (parent.display(), io_reason(&error));
        let message = format!("failed to create the run directory `{parent}`: {reason}");
        Diagnostic::error(codes::FILE_WRITE, message)
            .with_help("choose another directory with `--run-dir DIR`")
    })
}

/// That a file of a run's folder can't be written.
pub(crate) fn unwritable_run(error: &std::io::Error) -> Diagnostic {
    let message = format!("the run directory can't be written: {}", io_reason(error));
    Diagnostic::error(codes::FILE_WRITE, message)
}
