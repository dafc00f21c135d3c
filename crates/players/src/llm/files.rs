//! Reads the timelines that a stand-in plays: files, and folders with files.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuecard_core::diagnostic::{Diagnostic, Severity, any_error, codes};
use cuecard_core::formats::timeline::{Included, ReadOptions, check_included, check_names, read};
use cuecard_core::scenario::timeline::Timeline;
use cuecard_core::script::timeline::{LlmScript, Selector};

use super::options::LlmOptions;
use crate::runtime::text_file::{self, io_reason};

/// Folders deeper than this below a named one are not looked into.
const DEEPEST: usize = 64;
/// More files are not read.
const MOST_FILES: usize = 10_000;
/// So much of a media file tells its type.
const MEDIA_HEAD: u64 = 4096;

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// The scripts, in the order of the files.
    pub(super) scripts: Vec<Arc<LlmScript>>,
    /// What was found in the files.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Files that were left out.
    pub(super) left_out: Vec<PathBuf>,
}

/// Reads what `paths` name. The files that have errors are in `left_out`; whether that is in order is for the caller
/// to say.
pub(super) fn load(paths: &[PathBuf], options: &LlmOptions) -> Loaded {
    let mut loaded = Loaded::default();
    let mut files = Vec::new();
    for path in paths {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                let before = files.len();
                collect(path, 0, &mut files, &mut loaded.diagnostics);
                if files.len() == before {
                    let message = format!("there is no scenario below `{}`", path.display());
                    loaded.diagnostics.push(
                        Diagnostic::error(codes::TIMELINE_NONE, message)
                            .with_help("scenarios are files that end in `.yaml` or `.yml`"),
                    );
                }
            }
            _ => files.push(path.clone()),
        }
    }
    let mut seen = HashSet::new();
    files.retain(|path| seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.clone())));
    for path in files {
        let (timeline, mut diagnostics) = read_file(&path, options);
        let script = timeline.and_then(|timeline| {
            let (script, found) = LlmScript::compile(Arc::new(timeline), options.is_strict);
            diagnostics.extend(found);
            (!any_error(&diagnostics)).then_some(script)
        });
        match script {
            Some(script) => loaded.scripts.push(Arc::new(script)),
            None => loaded.left_out.push(path),
        }
        loaded.diagnostics.append(&mut diagnostics);
    }
    let timelines = || loaded.scripts.iter().map(|script| &*script.timeline);
    let mut between = check_names(timelines());
    between.extend(Selector::doubts(timelines()));
    loaded
        .diagnostics
        .extend(between.into_iter().map(|found| strictly(found, options)));
    loaded
}

fn strictly(found: Diagnostic, options: &LlmOptions) -> Diagnostic {
    match options.is_strict {
        true => found.strictly(),
        false => found,
    }
}

fn read_file(path: &Path, options: &LlmOptions) -> (Option<Timeline>, Vec<Diagnostic>) {
    let source = match text_file::read(path, &path.display().to_string()) {
        Ok(source) => source,
        Err(diagnostic) => return (None, vec![diagnostic]),
    };
    let read = read(&source, &options.symbols, &ReadOptions::default());
    let mut diagnostics: Vec<_> = read
        .diagnostics
        .into_iter()
        .map(|found| strictly(found, options))
        .collect();
    if let Some(timeline) = &read.timeline {
        let folder = path.parent().unwrap_or(Path::new(""));
        diagnostics.extend(check_included(timeline, |included| look(folder, included)));
    }
    (read.timeline, diagnostics)
}

/// What is at a path below a scenario's folder.
fn look(folder: &Path, path: &Path) -> Included {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let (Ok(root), Ok(real)) = (
        fs::canonicalize(folder),
        fs::canonicalize(folder.join(path)),
    ) else {
        return Included::Missing;
    };
    if !real.starts_with(&root) {
        return Included::Outside;
    }
    if real.is_dir() {
        return Included::Folder;
    }
    let mut head = Vec::new();
    let read = fs::File::open(&real).and_then(|file| {
        use std::io::Read as _;
        file.take(MEDIA_HEAD).read_to_end(&mut head)
    });
    match read {
        Ok(_) => Included::File(head),
        Err(_) => Included::Missing,
    }
}

/// The scenarios below a folder, sorted by their paths as bytes. Hidden folders are left out.
fn collect(
    folder: &Path,
    depth: usize,
    files: &mut Vec<PathBuf>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            let message = format!(
                "`{}` can't be read: {}",
                folder.display(),
                io_reason(&error)
            );
            diagnostics.push(Diagnostic::error(codes::FILE_READ, message));
            return;
        }
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| !name.as_encoded_bytes().starts_with(b"."))
        })
        .collect();
    paths.sort_by(|one, other| {
        let bytes = |path: &PathBuf| path.as_os_str().as_encoded_bytes().to_vec();
        bytes(one).cmp(&bytes(other))
    });
    for path in paths {
        let is_scenario = path
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml");
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if is_folder && depth < DEEPEST {
            collect(&path, depth + 1, files, diagnostics);
        } else if is_scenario && path.is_file() {
            if files.len() >= MOST_FILES {
                let message = format!("there are more than {MOST_FILES} scenarios");
                let is_told = diagnostics.iter().any(|found| found.message == message);
                if !is_told {
                    diagnostics.push(Diagnostic::error(codes::TIMELINE_NONE, message));
                }
                return;
            }
            files.push(path);
        }
    }
}

/// Whether any finding keeps the stand-in from starting.
pub(super) fn is_bad(loaded: &Loaded, skip_bad: bool) -> bool {
    if !skip_bad {
        return any_error(&loaded.diagnostics) || loaded.scripts.is_empty();
    }
    let is_about_arguments = loaded
        .diagnostics
        .iter()
        .any(|found| found.severity == Severity::Error && found.code == codes::TIMELINE_NONE);
    loaded.scripts.is_empty() || is_about_arguments
}
