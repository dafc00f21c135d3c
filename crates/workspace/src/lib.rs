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
use std::path::Path;

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
mod json_text;
mod missing_path;
mod text;

/// Why something in the workspace could not be done. [`fmt::Display`] gives a lowercase fragment that names the path, the URL
/// or the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceError {
    message: String,
    help: Option<String>,
    note: Option<String>,
    is_timeout: bool,
}

impl WorkspaceError {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            note: None,
            is_timeout: false,
        }
    }

    fn with_help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    /// The same, with the file at `path` before it.
    fn at(self, path: &Path) -> Self {
        Self {
            message: format!("`{}`: {}", path.display(), self.message),
            ..self
        }
    }

    /// What to do about it, as one sentence without a full stop; `None` where the message says it all.
    pub fn help(&self) -> Option<String> {
        self.help.clone()
    }

    /// Facts that are too long for the message, such as the lines of a file that come nearest to a text
    /// that is not in it. A note may have several lines.
    pub fn notes(&self) -> Vec<String> {
        self.note.iter().cloned().collect()
    }

    /// Whether the time ran out.
    pub fn is_timeout(&self) -> bool {
        self.is_timeout
    }
}

impl fmt::Display for WorkspaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WorkspaceError {}

/// How a folder is called in messages.
const FOLDER: &str = "a folder";

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
    fn lists_and_sizes_read_as_text() {
        let names = |count: usize| (0..count).map(|i| format!("`{i}`"));
        assert_eq!(listed(names(1), 3), "`0`");
        assert_eq!(listed(names(3), 3), "`0`, `1` and `2`");
        assert_eq!(listed(names(5), 3), "`0`, `1`, `2` and 2 more");
        assert_eq!(bytes_in_words(256 << 20), "256 MiB");
        assert_eq!(bytes_in_words(1500), "1500 bytes");
    }

    #[test]
    fn a_folder_is_named_with_what_to_do() {
        let error = disk::not_a_file(Path::new("/data"), "read", FOLDER);
        assert_eq!(error.to_string(), "cannot read `/data`: it is a folder");
        assert_eq!(
            error.help().as_deref(),
            Some("list its files with `claude__glob`")
        );
    }
}
