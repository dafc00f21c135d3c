//! The workspace: the only place with side effects on files.
//!
//! Everything here is plain and synchronous: absolute paths in, results or a [`WorkspaceError`] out. What a
//! scenario may touch is decided above; nothing here knows where a value came from.
//! Results derive `Serialize`, and their field names are what scenarios refer to.
//!
//! What may be relied on: a file is replaced as a whole or not at all (a temporary file in the same folder,
//! flushed, then renamed); a symbolic link is followed, never replaced; named pipes, devices and sockets are
//! refused before they can block; whatever is read has a bound that its error names.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

use std::fmt;
use std::io;
use std::path::PathBuf;

pub mod append;
pub mod changes;
pub mod checks;
pub mod commands;
pub mod edit;
pub mod fetch;
pub mod files;
pub mod git;
pub mod notebook;
pub mod probe;
pub mod running;
pub mod search;
pub mod seed;

mod disk;
mod json_spans;
mod missing_path;
mod text;

use append::AppendProblem;
use edit::EditProblem;
use files::ReadProblem;
use notebook::NotebookProblem;

/// Why something in the workspace could not be done. [`fmt::Display`] gives a lowercase fragment that names
/// the path; [`WorkspaceError::help`] what to do about it.
#[derive(Debug)]
pub enum WorkspaceError {
    /// The operating system refused.
    Io {
        /// The path as it was asked for.
        path: PathBuf,
        /// What was tried, as a verb: `read`, `write`, …
        action: &'static str,
        /// What to do about it, where that is known.
        hint: Option<String>,
        /// What the operating system said.
        source: io::Error,
    },
    /// Something that is no folder stands in the middle of the path.
    Blocked {
        /// The path as it was asked for.
        path: PathBuf,
        /// What was tried, as a verb.
        action: &'static str,
        /// The part of the path that is no folder.
        part: PathBuf,
        /// What is there: `a file`, `a named pipe`, …
        found: &'static str,
    },
    /// The path leads to something that is not a regular file.
    NotAFile {
        /// The path as it was asked for.
        path: PathBuf,
        /// What was tried, as a verb.
        action: &'static str,
        /// What is there: `a folder`, `a named pipe`, …
        found: &'static str,
    },
    /// A file is, or would become, larger than its bound.
    TooLarge {
        /// The path as it was asked for.
        path: PathBuf,
        /// The bound in bytes.
        limit: u64,
        /// What to do instead.
        hint: &'static str,
    },
    /// A file was found, but what was asked of it can't be read.
    Read {
        /// The path as it was asked for.
        path: PathBuf,
        /// Why.
        problem: ReadProblem,
    },
    /// A text replacement doesn't fit the file.
    Edit {
        /// The path as it was asked for.
        path: PathBuf,
        /// Why.
        problem: EditProblem,
    },
    /// A file is no notebook, or the cell operation doesn't fit it.
    Notebook {
        /// The path as it was asked for.
        path: PathBuf,
        /// Why.
        problem: NotebookProblem,
    },
    /// Records could not be appended.
    Append {
        /// The path as it was asked for.
        path: PathBuf,
        /// Why.
        problem: AppendProblem,
    },
}

impl WorkspaceError {
    /// What to do about it, as one sentence without a full stop; `None` where the message says it all.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Io { hint, .. } => hint.clone(),
            Self::Blocked { part, .. } => {
                Some(format!("give another path, or rename `{}`", part.display()))
            }
            Self::NotAFile { action, found, .. } => match (*action, *found) {
                ("read", FOLDER) => Some("list its files with `claude__glob`".to_owned()),
                (_, FOLDER) => Some("give the path of a file inside it".to_owned()),
                _ => None,
            },
            Self::TooLarge { hint, .. } => Some((*hint).to_owned()),
            Self::Read { problem, .. } => problem.help(),
            Self::Edit { problem, .. } => problem.help(),
            Self::Notebook { problem, .. } => problem.help(),
            Self::Append { problem, .. } => problem.help(),
        }
    }

    /// Facts that are too long for the message, such as the lines of a file that come nearest to a text
    /// that is not in it. A note may have several lines.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Edit { problem, .. } => problem.note().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The path that was asked for.
    pub fn path(&self) -> &std::path::Path {
        match self {
            Self::Io { path, .. }
            | Self::Blocked { path, .. }
            | Self::NotAFile { path, .. }
            | Self::TooLarge { path, .. }
            | Self::Read { path, .. }
            | Self::Edit { path, .. }
            | Self::Notebook { path, .. }
            | Self::Append { path, .. } => path,
        }
    }
}

impl fmt::Display for WorkspaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.path().display();
        match self {
            Self::Io { action, source, .. } => {
                write!(f, "cannot {action} `{shown}`: {}", io_reason(source))
            }
            Self::Blocked {
                action,
                part,
                found,
                ..
            } => write!(
                f,
                "cannot {action} `{shown}`: `{}` is {found}, not a folder",
                part.display()
            ),
            Self::NotAFile { action, found, .. } => {
                write!(f, "cannot {action} `{shown}`: it is {found}")
            }
            Self::TooLarge { limit, .. } => {
                write!(
                    f,
                    "`{shown}` is larger than the limit of {}",
                    bytes_in_words(*limit)
                )
            }
            Self::Read { problem, .. } => write!(f, "`{shown}`: {problem}"),
            Self::Edit { problem, .. } => write!(f, "`{shown}`: {problem}"),
            Self::Notebook { problem, .. } => write!(f, "`{shown}`: {problem}"),
            Self::Append { problem, .. } => write!(f, "`{shown}`: {problem}"),
        }
    }
}

// The words of an I/O error are part of the message already, so `source` stays empty.
impl std::error::Error for WorkspaceError {}

/// How a folder is called in [`WorkspaceError::NotAFile`].
const FOLDER: &str = "a folder";

/// What the operating system said, in words that need no table of error numbers.
fn io_reason(error: &io::Error) -> String {
    use io::ErrorKind as Kind;
    let words = match error.kind() {
        Kind::NotFound => "no such file or folder",
        Kind::PermissionDenied => "permission denied",
        Kind::IsADirectory => "it is a folder",
        Kind::NotADirectory => "a part of the path is not a folder",
        Kind::StorageFull => "the disk is full",
        Kind::QuotaExceeded => "disk quota exceeded",
        Kind::ReadOnlyFilesystem => "the file system is read-only",
        Kind::FileTooLarge => "the file would be larger than the system allows",
        Kind::InvalidFilename => "the name is too long or not allowed",
        Kind::ResourceBusy | Kind::ExecutableFileBusy => "it is in use by another process",
        _ => {
            let text = error.to_string();
            // "Too many open files (os error 24)" → "too many open files".
            let text = text.split(" (os error").next().unwrap_or_default();
            let mut chars = text.chars();
            return match chars.next() {
                Some(first) => first.to_lowercase().chain(chars).collect(),
                None => "the system gave no reason".to_owned(),
            };
        }
    };
    words.to_owned()
}

/// A size for people: whole MiB or KiB where it is one, else bytes.
fn bytes_in_words(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    match bytes {
        _ if bytes >= MIB && bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        _ if bytes >= KIB && bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        1 => "1 byte".to_owned(),
        _ => format!("{bytes} bytes"),
    }
}

/// `text` with at most `limit` characters, and an ellipsis where something was cut off.
fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// "`a`, `b` and `c`", or the first `limit` of them "and 12 more".
fn listed(items: impl ExactSizeIterator<Item = String>, limit: usize) -> String {
    let total = items.len();
    let shown: Vec<String> = items.take(limit).collect();
    if total > shown.len() {
        return format!("{} and {} more", shown.join(", "), total - shown.len());
    }
    match shown.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_errors_are_words_without_numbers() {
        let reason = |number| io_reason(&io::Error::from_raw_os_error(number));
        assert_eq!(reason(2), "no such file or folder");
        assert_eq!(reason(13), "permission denied");
        assert_eq!(reason(21), "it is a folder");
        assert_eq!(reason(28), "the disk is full");
        assert_eq!(reason(30), "the file system is read-only");
        assert_eq!(reason(24), "too many open files");
    }

    #[test]
    fn lists_and_sizes_read_as_text() {
        let names = |count: usize| (0..count).map(|i| format!("`{i}`"));
        assert_eq!(listed(names(1), 3), "`0`");
        assert_eq!(listed(names(3), 3), "`0`, `1` and `2`");
        assert_eq!(listed(names(5), 3), "`0`, `1`, `2` and 2 more");
        assert_eq!(bytes_in_words(256 << 20), "256 MiB");
        assert_eq!(bytes_in_words(1500), "1500 bytes");
        assert_eq!(shortened("äöü", 2), "äö…");
        assert_eq!(shortened("äöü", 3), "äöü");
    }

    #[test]
    fn a_folder_is_named_with_what_to_do() {
        let error = WorkspaceError::NotAFile {
            path: "/data".into(),
            action: "read",
            found: FOLDER,
        };
        assert_eq!(error.to_string(), "cannot read `/data`: it is a folder");
        assert_eq!(
            error.help().as_deref(),
            Some("list its files with `claude__glob`")
        );
    }
}
