//! Reads timelines as `check` and `explain` need them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuecard_runtime::collect::{FoundFile, collect};
use cuecard_runtime::timelines::{TIMELINES, read_timeline};
use cuecard_source::SourceFile;
use cuecard_source::detect::{FileKind, detect};
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::document::read_document;
use cuecard_timeline::format::{SymbolUse, Symbols};
use cuecard_timeline::model::Timeline;
use cuecard_timeline::script::LlmScript;

/// The files that `paths` name, and the timelines below the folders among them, with what is wrong about folders. A
/// file that is named is always one of them, so that reading it can say what is wrong with it.
pub(super) fn files(paths: &[PathBuf]) -> (Vec<FoundFile>, Vec<(PathBuf, Diagnostic)>) {
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for path in paths {
        if !path.is_dir() {
            seen.insert(place_of(path));
            files.push(FoundFile {
                path: path.clone(),
                is_named: true,
            });
            continue;
        }
        let found = collect(std::slice::from_ref(path), TIMELINES);
        let new = found
            .files
            .into_iter()
            .filter(|file| seen.insert(place_of(&file.path)));
        files.extend(new);
        problems.extend(
            found
                .problems
                .into_iter()
                .map(|found| (path.clone(), found)),
        );
    }
    (files, problems)
}

/// Where a path leads.
pub(super) fn place_of(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A timeline after reading.
pub(super) struct TimelineFile {
    /// What it says and when; `None` if it can't be used.
    pub script: Option<LlmScript>,
    /// What was found, as it is without `--strict`.
    pub diagnostics: Vec<Diagnostic>,
    /// The symbols that its conditions ask for.
    pub symbols: Vec<SymbolUse>,
    /// Files and folders beside it that are data of its own, and no timelines.
    pub beside: Vec<PathBuf>,
}

/// Whether the text is a timeline, or would be if it had no errors. Below a folder each file in YAML is one that is
/// nothing else.
pub(super) fn is_timeline(source: &SourceFile) -> bool {
    let is_yaml = [".yaml", ".yml"]
        .iter()
        .any(|ending| source.name().ends_with(ending));
    if is_yaml {
        return true;
    }
    match read_document(source).root {
        Some(root) => detect(&root) == Some(FileKind::Timeline),
        // What can't be read has no keys, only lines that look like some.
        None => source
            .text()
            .lines()
            .any(|line| line.starts_with("timeline:")),
    }
}

/// Reads a timeline in `folder`, and looks at what stands beside it.
pub(super) fn read(source: &SourceFile, folder: &Path, symbols: &Symbols) -> TimelineFile {
    let read = read_timeline(source, folder, symbols);
    let mut diagnostics = read.diagnostics;
    let script = read.timeline.map(|timeline| {
        let is_for_model = is_for_model(&timeline);
        let (script, found) = LlmScript::compile(Arc::new(timeline), false);
        diagnostics.extend(
            found
                .into_iter()
                .filter(|found| is_for_model || !ABOUT_MODELS.contains(&found.code)),
        );
        script
    });
    TimelineFile {
        script: script.filter(|_| !any_error(&diagnostics)),
        diagnostics,
        symbols: read.symbols,
        beside: read.beside,
    }
}

/// What matters only where the timeline stands in for a model.
const ABOUT_MODELS: [cuecard_source::diagnostic::Code; 3] = [
    codes::MODEL_EDIT_COUNTS,
    codes::MODEL_BLOCK_AS_TEXT,
    codes::MODEL_EMPTY_SEGMENT,
];

/// A timeline with `acp` is for a client of that protocol, unless it also says something of a model's API.
fn is_for_model(timeline: &Timeline) -> bool {
    timeline.acp.span.is_none()
        || timeline.server.mode.is_some()
        || timeline.server.api_style.is_some()
}
