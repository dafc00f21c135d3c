//! Timelines on disk: which files below a folder are some, and what stands beside them.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use cuecard_source::SourceFile;
use cuecard_source::detect::{FileKind, detect};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::document::read_document;
use cuecard_timeline::format::{Included, SymbolUse, Symbols, check_included, read, read_terminal};
use cuecard_timeline::model::{IncludePurpose, IncludedFile, Timeline};

use super::collect::{FoundFile, Kind, collect};
use super::text_file;

/// So much of an included file tells its type, in bytes.
const HEAD: u64 = 4096;

/// Below a folder, what ends in `.yaml` or `.yml` is a timeline, unless it is hidden.
pub const TIMELINES: Kind = Kind {
    is_meant: is_yaml,
    none: |folder| {
        let message = format!("no scenarios found in `{}`", folder.display());
        Diagnostic::error(codes::TIMELINE_NONE, message)
            .with_help("only `.yaml` and `.yml` files are searched; pass other files explicitly")
    },
};

/// Whether the name of a file says that it is YAML; hidden ones are somebody else's.
pub fn is_yaml(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml"))
}

/// That no file has a tag that was asked for.
pub fn none_tagged(tags: &[String]) -> Diagnostic {
    let tags: Vec<String> = tags.iter().map(|tag| format!("`--tag {tag}`")).collect();
    let message = format!("no file matches {}", tags.join(" or "));
    Diagnostic::error(codes::TIMELINE_NONE, message)
        .with_help("timelines and test cases list theirs in `tags`")
}

/// The files that `paths` name, and those of a kind below the folders among them, with what is wrong about folders. A
/// file that is named is always one of them, so that reading it can say what is wrong with it.
pub fn files(paths: &[PathBuf], kind: Kind) -> (Vec<FoundFile>, Vec<(PathBuf, Diagnostic)>) {
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
        let found = collect(std::slice::from_ref(path), kind);
        let new = found
            .files
            .into_iter()
            .filter(|file| seen.insert(place_of(&file.path)));
        files.extend(new);
        problems.extend(found.problems);
    }
    (files, problems)
}

/// Where a path leads.
fn place_of(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Leaves out what is data of one of the others, unless it was named: `beside` says what each has beside it.
pub fn without_data<T>(all: Vec<(FoundFile, T)>, beside: impl Fn(&T) -> &[PathBuf]) -> Vec<T> {
    let data: Vec<PathBuf> = all
        .iter()
        .flat_map(|(_, one)| beside(one).iter().cloned())
        .collect();
    let is_data = |path: &Path| {
        let place = place_of(path);
        data.iter().any(|data| place.starts_with(data))
    };
    all.into_iter()
        .filter(|(file, _)| file.is_named || data.is_empty() || !is_data(&file.path))
        .map(|(_, one)| one)
        .collect()
}

/// Whether the text is a timeline, or would be if it had no errors. Below a folder each file in YAML is one that is
/// nothing else.
pub fn is_timeline(source: &SourceFile) -> bool {
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

/// A timeline's file after reading, with what stands beside it.
#[derive(Debug, Default)]
pub struct TimelineFile {
    /// What it says; `None` if it can't be used.
    pub timeline: Option<Timeline>,
    /// What was found, in it and beside it.
    pub diagnostics: Vec<Diagnostic>,
    /// The symbols that its conditions ask for.
    pub symbols: Vec<SymbolUse>,
    /// Files and folders beside it that are data of its own, and no timelines.
    pub beside: Vec<PathBuf>,
}

/// Reads a timeline in `folder`, and looks at what stands beside it.
pub fn read_timeline(source: &SourceFile, folder: &Path, symbols: &Symbols) -> TimelineFile {
    let read = read(source, symbols);
    let mut diagnostics = read.diagnostics;
    diagnostics.extend(check_beside(source, &read.included_files, folder));
    TimelineFile {
        timeline: read.timeline,
        diagnostics,
        symbols: read.symbols,
        beside: beside(&read.included_files, folder),
    }
}

/// Looks at the `files` that a timeline in `folder` refers to, and reads its terminal config.
fn check_beside(source: &SourceFile, files: &[IncludedFile], folder: &Path) -> Vec<Diagnostic> {
    let named = folder;
    let folder = here(folder);
    let root = fs::canonicalize(folder);
    let mut found = check_included(source, files, |path| match &root {
        Ok(root) => look(root, &folder.join(path)),
        Err(_) => Included::Missing,
    });
    if found.is_empty() {
        let terminals = files
            .iter()
            .filter(|file| file.purpose == IncludePurpose::Terminal);
        for file in terminals {
            let path = named.join(&file.path);
            found.extend(match text_file::read(&path, &path.display().to_string()) {
                Err(unreadable) => vec![unreadable],
                Ok(config) => match read_terminal(&config) {
                    Ok((_, doubts)) => doubts,
                    Err(errors) => errors,
                },
            });
        }
    }
    found
}

/// Those of the `files` of a timeline in `folder` that hold data, as far as they exist. What is in them is no timeline
/// of its own, even if its name looks like one.
fn beside(files: &[IncludedFile], folder: &Path) -> Vec<PathBuf> {
    files
        .iter()
        .filter(|file| {
            let is_data = [IncludePurpose::Terminal, IncludePurpose::SeedFolder];
            is_data.contains(&file.purpose)
        })
        .filter_map(|file| fs::canonicalize(here(folder).join(&file.path)).ok())
        .collect()
}

/// The working directory has a name too.
fn here(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

fn look(root: &Path, path: &Path) -> Included {
    let Ok(real) = fs::canonicalize(path) else {
        return Included::Missing;
    };
    if !real.starts_with(root) {
        return Included::Outside;
    }
    match fs::metadata(&real) {
        Ok(metadata) if metadata.is_dir() => return Included::Folder,
        // A pipe would be waited for.
        Ok(metadata) if metadata.is_file() => {}
        _ => return Included::Missing,
    }
    let mut head = Vec::new();
    match File::open(&real).and_then(|file| file.take(HEAD).read_to_end(&mut head)) {
        Ok(_) => Included::File(head),
        Err(_) => Included::Missing,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const TEXT: &str = "
name: media
terminalRef: terminal.yaml
repo: {init: true, dir: seed}
timeline:
  - applyPatch: {path: change.patch}
  - applyPatch: {path: away.patch}
  - applyPatch: {path: seed}
";

    #[test]
    fn the_terminal_config_is_read() {
        let scratch = tempfile::tempdir().expect("a folder");
        let text = "name: a\nterminalRef: terminal.toml\ntimeline: []\n";
        let source = SourceFile::new("a.yaml", text);
        let files = read(&source, &Symbols::new()).included_files;
        for (config, codes) in [
            ("width = 100\n", &[][..]),
            ("width = 0\nheigth = 3\n", &["T-TERM-01", "T-LOAD-05"]),
        ] {
            fs::write(scratch.path().join("terminal.toml"), config).expect("written");
            let found = check_beside(&source, &files, scratch.path());
            let found_codes: Vec<&str> = found.iter().map(|found| found.code.name()).collect();
            assert_eq!(found_codes, codes);
            for found in found {
                let place = found.place.expect("a place");
                assert!(place.source.name().ends_with("terminal.toml"));
            }
        }
    }

    #[test]
    fn what_stands_beside_a_timeline_is_looked_at() {
        let scratch = tempfile::tempdir().expect("a folder");
        let root = scratch.path().join("inner");
        fs::create_dir_all(root.join("seed")).expect("made");
        fs::write(root.join("terminal.yaml"), "width: 80").expect("written");
        fs::write(scratch.path().join("outside"), "x").expect("written");
        symlink(scratch.path().join("outside"), root.join("away.patch")).expect("linked");

        let source = SourceFile::new("media.yaml", TEXT);
        let files = read(&source, &Symbols::new()).included_files;
        let messages: Vec<String> = check_beside(&source, &files, &root)
            .into_iter()
            .map(|found| found.message)
            .collect();
        assert_eq!(
            messages,
            [
                "`change.patch` not found next to the timeline",
                "`away.patch` is outside the timeline's directory",
                "`seed` is a folder: expected a file",
            ]
        );
        let real = fs::canonicalize(&root).expect("it is there");
        assert_eq!(
            beside(&files, &root),
            [real.join("terminal.yaml"), real.join("seed")]
        );
    }
}
