//! The folders of earlier runs.

use std::fs;
use std::path::{Path, PathBuf};

use cuecard_source::diagnostic::{Diagnostic, codes};
use serde_json::Value as Json;

/// The folder of the run called `name`; `last` is the last one with such a folder and description.
pub(super) fn find(
    runs: &Path,
    name: &str,
    is_wanted: impl Fn(&Path, &Json) -> bool,
) -> Result<PathBuf, Diagnostic> {
    let as_path = Path::new(name);
    if as_path.join("trace.jsonl").is_file() {
        return Ok(as_path.to_owned());
    }
    let entries = fs::read_dir(runs).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut known: Vec<_> = paths
        .filter(|path| path.join("trace.jsonl").is_file())
        .map(|path| (described(&path), path))
        .collect();
    known.sort_by_key(|(description, path)| (started_at(description), path.clone()));
    let mut newest = known.into_iter().rev();
    let found = match name {
        "last" => newest.find(|(description, path)| is_wanted(path, description)),
        id => newest.find(|(_, path)| path.ends_with(id)),
    };
    if found.is_none() && as_path.is_dir() {
        let message = format!("`{name}` has no trace.jsonl: it is no run directory");
        return Err(Diagnostic::error(codes::FILE_READ, message));
    }
    found.map(|(_, path)| path).ok_or_else(|| {
        let message = match name {
            "last" => format!("there is no run in `{}`", runs.display()),
            id => format!("there is no run `{id}` in `{}`", runs.display()),
        };
        Diagnostic::error(codes::FILE_READ, message)
            .with_help("name the directory of a run, or where runs are with --run-dir")
    })
}

/// What the run in a folder says of itself; null if that can't be read.
pub(super) fn described(folder: &Path) -> Json {
    let text = fs::read(folder.join("run.json")).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// When a run began.
pub(super) fn started_at(description: &Json) -> Option<jiff::Timestamp> {
    description["started_at"].as_str()?.parse().ok()
}
