//! Finds the files that are meant: those that somebody named, and those of a kind below folders that somebody named.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use cuecard_source::diagnostic::{Diagnostic, codes};
use walkdir::{DirEntry, WalkDir};

use super::text_file::{help_on_missing, io_reason};

/// Folders deeper than this below a named one are not looked into.
const DEEPEST: usize = 64;

/// More entries of folders are not looked at.
const MOST_ENTRIES: usize = 1_000_000;

/// Whether a folder holds what programs made, and no files of the project: `target`, `node_modules`, or a virtual environment
/// of Python.
pub fn is_made(folder: &Path) -> bool {
    let name = folder.file_name();
    name.is_some_and(|name| name == "target" || name == "node_modules")
        || folder.join("pyvenv.cfg").is_file()
}

/// A file that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Where it is, and what it is called in messages.
    pub path: PathBuf,
    /// Whether somebody named it; else a folder above it was named.
    pub is_named: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Collected {
    /// The files: in the order of the arguments, and below a folder by the bytes of their paths. None stands twice.
    pub files: Vec<FoundFile>,
    /// What can't be read, and bounds that were met, with the paths.
    pub problems: Vec<(PathBuf, Diagnostic)>,
}

/// What is looked for below folders.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Whether a file is meant.
    pub is_meant: fn(&Path) -> bool,
    /// What is said of a folder without any.
    pub none: fn(&Path) -> Diagnostic,
}

/// The files of `paths`: one that is named is meant whatever its name, and below a folder those of `kind` are. Hidden
/// folders, and those that programs [made](is_made), are left out unless they are named; links to folders are not followed.
pub fn collect(paths: &[PathBuf], kind: Kind) -> Collected {
    let mut walk = Walk {
        kind,
        found: Collected::default(),
        entries: 0,
    };
    for path in paths {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => walk.folder(path),
            Ok(_) => walk.named(path),
            Err(error) => walk.unreadable(path, &io_reason(&error)),
        }
    }
    if paths.len() > 1 {
        let mut seen = HashSet::new();
        walk.found.files.retain(|file| {
            let place = fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
            seen.insert(place)
        });
    }
    walk.found
}

struct Walk {
    kind: Kind,
    found: Collected,
    entries: usize,
}

impl Walk {
    fn named(&mut self, path: &Path) {
        self.found.files.push(FoundFile {
            path: path.to_owned(),
            is_named: true,
        });
    }

    fn folder(&mut self, folder: &Path) {
        let (n_files, n_problems) = (self.found.files.len(), self.found.problems.len());
        let is_made_or_hidden = |entry: &DirEntry| {
            entry.depth() > 0
                && entry.file_type().is_dir()
                && (entry.file_name().as_encoded_bytes().starts_with(b".") || is_made(entry.path()))
        };
        let walk = WalkDir::new(folder).max_depth(DEEPEST + 1).into_iter();
        for entry in walk.filter_entry(|entry| !is_made_or_hidden(entry)) {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                self.unreadable(folder, &format!("there are more than {MOST_ENTRIES} files"));
                break;
            }
            match entry {
                Ok(entry) => self.entry(&entry),
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_owned();
                    let reason = error.into_io_error().map(|error| io_reason(&error));
                    self.unreadable(&path, &reason.unwrap_or_default());
                }
            }
        }
        let bytes = |file: &FoundFile| file.path.as_os_str().as_encoded_bytes().to_vec();
        self.found.files[n_files..].sort_by_cached_key(bytes);
        if self.found.files.len() == n_files && self.found.problems.len() == n_problems {
            let none = (self.kind.none)(folder);
            self.found.problems.push((folder.to_owned(), none));
        }
    }

    fn entry(&mut self, entry: &DirEntry) {
        let path = entry.path();
        if entry.file_type().is_dir() {
            if entry.depth() > DEEPEST {
                let reason = format!("it is nested more than {DEEPEST} folders deep");
                self.unreadable(path, &reason);
            }
        } else if (self.kind.is_meant)(path) {
            // A pipe would be waited for.
            if !fs::metadata(path).map_or(true, |found| found.is_file()) {
                return self.unreadable(path, "it is not a file");
            }
            self.found.files.push(FoundFile {
                // `.` is how nobody calls it.
                path: path.strip_prefix(".").unwrap_or(path).to_owned(),
                is_named: false,
            });
        }
    }

    fn unreadable(&mut self, path: &Path, reason: &str) {
        let message = format!("`{}` can't be read: {reason}", path.display());
        let mut found = Diagnostic::error(codes::FILE_READ, message);
        if !path.exists() {
            found.help = help_on_missing(path);
        }
        self.found.problems.push((path.to_owned(), found));
    }
}
