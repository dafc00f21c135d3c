//! Finding files by name ([`glob()`]) and by content ([`grep()`]).

mod glob;
mod grep;
mod pattern;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ignore::DirEntry;

use super::missing_path::{blocking_part, missing_path_hint};
use cuecard_runtime::text_file::io_reason;

use super::WorkspaceError;

pub use glob::{Globbed, any_match, check_glob, glob, split_absolute};
pub use grep::{Grep, GrepMatch, GrepOutcome, OutputMode, check_grep, grep};

/// How many paths that could not be looked at are kept by name.
const MAX_SKIPPED: usize = 100;

/// What a search may use up.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The most rows (files or matches) a result holds; what is beyond is counted, not kept.
    pub results: usize,
    /// Set it from elsewhere to end the search with an error. A search runs on a thread
    /// of its own, which no timeout could end otherwise.
    pub cancel: Arc<AtomicBool>,
    /// A folder that is not looked into, unless the search begins in it.
    pub leave_out: Option<PathBuf>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            results: 100_000,
            cancel: Arc::default(),
            leave_out: None,
        }
    }
}

impl Limits {
    fn check(&self) -> Result<(), WorkspaceError> {
        if self.cancel.load(Ordering::Relaxed) {
            Err(WorkspaceError::new("the search was cancelled"))
        } else {
            Ok(())
        }
    }

    /// Whether a walk from `root` enters what it meets.
    fn may_enter(&self, root: &Path) -> impl Fn(&DirEntry) -> bool + Send + Sync + use<> {
        let absolute = |path: &Path| fs::canonicalize(path).ok();
        let left_out = self.leave_out.as_deref().and_then(absolute);
        let begins_in_it =
            |folder: &PathBuf| absolute(root).is_some_and(|root| root.starts_with(folder));
        let left_out = left_out.filter(|folder| !begins_in_it(folder));
        move |entry| {
            left_out.as_ref().is_none_or(|folder| {
                folder.file_name() != Some(entry.file_name())
                    || absolute(entry.path()).as_ref() != Some(folder)
            })
        }
    }
}

/// A path that a search met and could not look at.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    /// The path; bytes that aren't UTF-8 are replaced.
    pub path: String,
    /// Why, as a lowercase fragment.
    pub reason: String,
}

/// Nothing can be found at `path`.
fn of_path(path: &Path, source: io::Error) -> WorkspaceError {
    let shown = path.display();
    if source.kind() == io::ErrorKind::NotFound {
        return WorkspaceError {
            help: missing_path_hint(path),
            ..WorkspaceError::new(format!("no such file or directory: `{shown}`"))
        };
    }
    if source.kind() == io::ErrorKind::NotADirectory
        && let Some((part, _)) = blocking_part(path)
    {
        return not_a_folder(&part);
    }
    let reason = io_reason(&source);
    WorkspaceError::new(format!("cannot access `{shown}`: {reason}"))
}

/// A folder is needed, and what is at `path` is none.
fn not_a_folder(path: &Path) -> WorkspaceError {
    let above = path.parent().map(Path::display);
    WorkspaceError {
        help: above.map(|above| format!("the folder it is in is `{above}`")),
        ..WorkspaceError::new(format!("`{}` is not a folder", path.display()))
    }
}

/// Notes a path that was skipped, up to the bound.
fn note_skipped(skipped: &mut Vec<Skipped>, path: &Path, reason: impl fmt::Display) {
    if skipped.len() < MAX_SKIPPED {
        skipped.push(Skipped {
            path: path.to_string_lossy().into_owned(),
            reason: reason.to_string(),
        });
    }
}

/// Notes what the walker could not enter. A path that is gone by the time the walker gets there is no
/// news, and a broken line in an ignore file is the business of whoever wrote it.
fn note_walk_error(skipped: &mut Vec<Skipped>, root: &Path, error: ignore::Error) {
    let mut path = root.to_owned();
    let mut error = error;
    loop {
        error = match error {
            ignore::Error::WithPath { path: inner, err } => {
                path = inner;
                *err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
                *err
            }
            ignore::Error::Io(source) if source.kind() == io::ErrorKind::NotFound => return,
            other => {
                note_skipped(skipped, &path, other);
                return;
            }
        };
    }
}
