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

use super::io_reason;
use super::missing_path::{blocking_part, missing_path_hint};

pub use glob::{Globbed, any_match, glob, split_absolute};
pub use grep::{Grep, GrepMatch, GrepOutcome, OutputMode, grep};

/// How many paths that could not be looked at are kept by name.
const MAX_SKIPPED: usize = 100;

/// What a search may use up.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The most rows (files or matches) a result holds; what is beyond is counted, not kept.
    pub results: usize,
    /// Set it from elsewhere to end the search with [`SearchError::Cancelled`]. A search runs on a thread
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
    fn check(&self) -> Result<(), SearchError> {
        if self.cancel.load(Ordering::Relaxed) {
            Err(SearchError::Cancelled)
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

/// What kind of pattern a [`SearchError::Pattern`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternKind {
    /// A file name pattern.
    Glob,
    /// A regular expression.
    Regex,
}

impl fmt::Display for PatternKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Glob => "glob",
            Self::Regex => "regular expression",
        })
    }
}

/// Why a search could not be made.
#[derive(Debug)]
pub enum SearchError {
    /// The pattern is not one.
    Pattern {
        /// Which language it is written in.
        kind: PatternKind,
        /// The pattern as given.
        pattern: String,
        /// Where it goes wrong, in characters from 1, where that can be told.
        position: Option<usize>,
        /// What is wrong with it.
        reason: String,
    },
    /// The pattern is longer than a pattern can sensibly be.
    TooLong {
        /// Which language it is written in.
        kind: PatternKind,
        /// Its length in bytes.
        length: usize,
        /// The bound in bytes.
        limit: usize,
    },
    /// There is no type of files of this name.
    FileType {
        /// The name.
        name: String,
        /// The name that was probably meant.
        proposal: Option<String>,
    },
    /// A glob that leaves the folder it is looked for in.
    Outside {
        /// The pattern as given.
        pattern: String,
        /// The folder.
        root: PathBuf,
    },
    /// There is nothing at this path.
    NotFound {
        /// The path.
        path: PathBuf,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// A folder is needed and this isn't one.
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A file or folder is needed and this is neither (a socket, a device).
    NotSearchable {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refused.
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Its reason.
        source: io::Error,
    },
    /// Not all entries were looked at.
    TooMany,
    /// [`Limits::cancel`] was set.
    Cancelled,
}

impl SearchError {
    fn of_path(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound {
                hint: missing_path_hint(&path),
                path,
            },
            io::ErrorKind::NotADirectory => match blocking_part(&path) {
                Some((part, _)) => Self::NotAFolder { path: part },
                None => Self::Unreadable { path, source },
            },
            _ => Self::Unreadable { path, source },
        }
    }

    /// What to do about it, where there is something to say.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Pattern { kind: PatternKind::Regex, reason, .. } if reason.contains("\"\\n\"") => {
                Some("with `multiline: true` a pattern may span lines".to_owned())
            }
            Self::Pattern { kind: PatternKind::Regex, .. } => {
                Some("a backslash before a special character takes it literally".to_owned())
            }
            Self::Pattern { kind: PatternKind::Glob, .. } => Some(
                "`*` stays in one folder, `**` goes through all, `{a,b}` is either, `[ab]` one character"
                    .to_owned(),
            ),
            Self::Outside { .. } => Some("give the folder as `path`, and the pattern below it".to_owned()),
            Self::NotAFolder { path } => path
                .parent()
                .map(|parent| format!("the folder it is in is `{}`", parent.display())),
            Self::NotFound { hint, .. } => hint.clone(),
            Self::FileType { proposal, .. } => Some(match proposal {
                Some(name) => format!("did you mean `{name}`?"),
                None => "`rg --type-list` lists them; `glob` selects by name: `*.ext`".to_owned(),
            }),
            Self::TooLong { .. }
            | Self::NotSearchable { .. }
            | Self::Unreadable { .. }
            | Self::TooMany
            | Self::Cancelled => None,
        }
    }
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern {
                kind,
                pattern,
                position,
                reason,
            } => {
                write!(f, "the {kind} `{pattern}` is not valid")?;
                if let Some(position) = position {
                    write!(f, " at character {position}")?;
                }
                write!(f, ": {reason}")
            }
            Self::TooLong {
                kind,
                length,
                limit,
            } => {
                write!(
                    f,
                    "the {kind} is {length} bytes long, at most {limit} are allowed"
                )
            }
            Self::FileType { name, .. } => write!(f, "`{name}` is not a known type of files"),
            Self::Outside { pattern, root } => {
                write!(
                    f,
                    "the glob `{pattern}` leaves the folder `{}`",
                    root.display()
                )
            }
            Self::NotFound { path, .. } => {
                write!(f, "no such file or directory: `{}`", path.display())
            }
            Self::NotAFolder { path } => write!(f, "`{}` is not a folder", path.display()),
            Self::NotSearchable { path } => {
                write!(f, "`{}` is neither a file nor a folder", path.display())
            }
            Self::Unreadable { path, source } => {
                write!(
                    f,
                    "cannot access `{}`: {}",
                    path.display(),
                    io_reason(source)
                )
            }
            Self::TooMany => f.write_str("there are too many files to look at all of them"),
            Self::Cancelled => f.write_str("the search was cancelled"),
        }
    }
}

impl std::error::Error for SearchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } => Some(source),
            _ => None,
        }
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
