//! Files by content, with ripgrep's engine.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cuecard_source::diagnostic::did_you_mean;
use globset::GlobSet;
use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{MmapChoice, Searcher, SearcherBuilder};
use ignore::WalkBuilder;
use ignore::types::{Types, TypesBuilder};

use super::{Limits, Skipped, WorkspaceError, note_skipped, note_walk_error, of_path, pattern};

mod rows;

use rows::{FileSink, Rows};

/// The most lines of context on each side of a match; what is asked for beyond is not given.
const MAX_CONTEXT: usize = 1_000;
/// What one line, or in multi-line search one file, may take in memory.
const MAX_BUFFER_BYTES: usize = 256 * 1024 * 1024;
/// How much of a file is looked at to tell whether it is text.
const SNIFFED_BYTES: usize = 64 * 1024;

/// What a search gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum OutputMode {
    /// The lines that match.
    Content,
    /// The files that hold a match.
    #[default]
    FilesWithMatches,
    /// How many lines match in how many files.
    Count,
}

/// What to search for, and where.
#[derive(Debug, Clone, Default)]
pub struct Grep {
    /// A regular expression in the syntax of the `regex` crate.
    pub pattern: String,
    /// An absolute path: a folder, searched with all below it, or a file.
    pub path: PathBuf,
    /// Which files: without a `/` it is matched against the name in any folder, else against the path
    /// from `path`; a leading `!` turns it round. Several are separated by blanks, or by commas outside of braces; the
    /// last that matches decides. A file named by `path` is searched in any case.
    pub glob: Option<String>,
    /// Which files by their type, as ripgrep names it: `py`, `rust`. A file named by `path` is searched in any case.
    pub file_type: Option<String>,
    /// What to give.
    pub output_mode: OutputMode,
    /// How many lines to give before each match, at most a thousand.
    pub context_before: usize,
    /// How many lines to give after each match, at most a thousand.
    pub context_after: usize,
    /// The most rows to give; all are counted. `None` or 0 is all of them, within the limits.
    pub head_limit: Option<usize>,
    /// How many rows to leave out before the first.
    pub offset: usize,
    /// Whether case makes no difference.
    pub case_insensitive: bool,
    /// Whether a match may span lines; `.` then matches a line end.
    pub multiline: bool,
    /// Whether each part that matches is a row of its own, without what stands around it.
    pub only_matching: bool,
}

/// One match, with its surroundings. Bytes that aren't UTF-8 are replaced, a line of more than 10,000
/// characters is cut with a mark.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct GrepMatch {
    /// The absolute path of the file.
    pub file: String,
    /// The number of the (first) line, from 1.
    pub line_num: u64,
    /// The line without its end; all of them if the match spans several.
    pub line: String,
    /// The lines before it, whether they match or not.
    pub context_before: Vec<String>,
    /// The lines after it, whether they match or not.
    pub context_after: Vec<String>,
}

/// What [`grep()`] found; it serialises as the fields of its variant. Files and matches are ordered by
/// path. `skipped` holds what could not be searched, at most a hundred.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum GrepOutcome {
    /// For [`OutputMode::FilesWithMatches`].
    Files {
        /// The files that hold a match.
        files: Vec<String>,
        /// How many hold one, listed or not.
        count: usize,
        /// Whether some follow those in `files`.
        truncated: bool,
        /// What could not be searched.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<Skipped>,
    },
    /// For [`OutputMode::Content`].
    Content {
        /// The matches.
        matches: Vec<GrepMatch>,
        /// How many there are, listed or not.
        total_matches: usize,
        /// Whether some follow those in `matches`, or some of their context is missing.
        truncated: bool,
        /// What could not be searched.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<Skipped>,
    },
    /// For [`OutputMode::Count`].
    Count {
        /// How many lines match; in multi-line search, how many runs of lines.
        count: usize,
        /// In how many files.
        files_count: usize,
        /// What could not be searched.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<Skipped>,
    },
}

/// Searches as ripgrep does: `.gitignore` (inside a repository), `.ignore`, `.rgignore` and
/// `.git/info/exclude` are honoured, hidden files, links and binary files are passed over, UTF-16 is
/// recognised by its mark. The user's own global ignore file plays no part, so that the result is the
/// same everywhere. A file is binary if it has a NUL byte in its first 64 KiB.
///
/// # Errors
/// A pattern or glob that isn't valid, a path that is missing or not searchable, or cancellation.
/// A single file below `path` that can't be read is noted in `skipped`.
pub fn grep(request: &Grep, limits: &Limits) -> Result<GrepOutcome, WorkspaceError> {
    let (matcher, filter, types) = compiled(request)?;
    let metadata = fs::metadata(&request.path).map_err(|source| of_path(&request.path, source))?;

    let asked = request
        .head_limit
        .filter(|limit| *limit > 0)
        .unwrap_or(usize::MAX);
    let mut search = Search {
        matcher,
        only_matching: request.only_matching,
        searcher: searcher(request),
        mode: request.output_mode,
        limits,
        max_rows: asked.min(limits.results),
        offset: request.offset,
        rows: Rows::new(asked.min(limits.results), request.offset, context(request)),
        files: Vec::new(),
        files_count: 0,
        skipped: Vec::new(),
    };
    if metadata.is_file() {
        if search.file(&request.path)? == Searched::Binary {
            note_skipped(&mut search.skipped, &request.path, "it is a binary file");
        }
    } else if metadata.is_dir() {
        search.folder(&request.path, filter.as_ref(), types)?;
    } else {
        let shown = request.path.display();
        let problem = format!("`{shown}` is neither a file nor a folder");
        return Err(WorkspaceError::new(problem));
    }
    Ok(search.outcome())
}

/// Checks the patterns of a search without looking at files.
///
/// # Errors
/// A pattern or glob that isn't valid, or a type of files that isn't known.
pub fn check_grep(request: &Grep) -> Result<(), WorkspaceError> {
    compiled(request).map(drop)
}

type Patterns = (RegexMatcher, Option<Filter>, Option<Types>);

fn compiled(request: &Grep) -> Result<Patterns, WorkspaceError> {
    let matcher = pattern::compile_regex(
        &request.pattern,
        request.case_insensitive,
        request.multiline,
    )?;
    let filter = request.glob.as_deref().map(Filter::new).transpose()?;
    let types = request.file_type.as_deref().map(types).transpose()?;
    Ok((matcher, filter, types))
}

/// How many lines are given before and after each match.
fn context(request: &Grep) -> [usize; 2] {
    match request.output_mode {
        OutputMode::Content if !request.only_matching => {
            [request.context_before, request.context_after].map(|lines| lines.min(MAX_CONTEXT))
        }
        _ => [0, 0],
    }
}

fn searcher(request: &Grep) -> Searcher {
    let [before, after] = context(request);
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .line_number(true)
        .multi_line(request.multiline)
        .before_context(before)
        .after_context(after)
        .heap_limit(Some(MAX_BUFFER_BYTES))
        .memory_map(MmapChoice::never())
        .build()
}

/// The files of this type.
fn types(name: &str) -> Result<Types, WorkspaceError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select(name);
    builder.build().map_err(|_| {
        let definitions = builder.definitions();
        let names = definitions.iter().map(ignore::types::FileTypeDef::name);
        WorkspaceError::new(format!("`{name}` is not a known type of files")).with_help(
            match did_you_mean(name, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`rg --type-list` lists them; `glob` selects by name: `*.ext`".to_owned(),
            },
        )
    })
}

/// Which files of a folder are searched.
struct Filter {
    /// Each with whether it admits what it matches.
    globs: Vec<(GlobSet, bool)>,
}

impl Filter {
    fn new(text: &str) -> Result<Self, WorkspaceError> {
        let globs = split(text)
            .into_iter()
            .map(|glob| {
                let (wanted, glob) = glob
                    .strip_prefix('!')
                    .map_or((true, glob), |rest| (false, rest));
                let anchored = glob.strip_prefix('/');
                let matcher = match anchored {
                    Some(rest) => pattern::compile_glob(rest)?,
                    None if glob.contains('/') => pattern::compile_glob(glob)?,
                    None => {
                        // Checked as written, so that an error shows what the author wrote.
                        pattern::compile_glob(glob)?;
                        pattern::compile_glob(&format!("**/{glob}"))?
                    }
                };
                Ok((matcher, wanted))
            })
            .collect::<Result<_, WorkspaceError>>()?;
        Ok(Self { globs })
    }

    fn admits(&self, from_root: &Path) -> bool {
        let mut globs = self.globs.iter().rev();
        match globs.find(|(matcher, _)| matcher.is_match(from_root)) {
            Some((_, wanted)) => *wanted,
            None => self.globs.iter().all(|(_, wanted)| !wanted),
        }
    }
}

/// The globs in a text, which is one itself if there is nothing to part it at.
fn split(text: &str) -> Vec<&str> {
    let mut globs = Vec::new();
    for word in text.split_whitespace() {
        if word.contains('{') {
            globs.push(word);
        } else {
            globs.extend(word.split(',').filter(|glob| !glob.is_empty()));
        }
    }
    if globs.is_empty() {
        globs.push(text);
    }
    globs
}

#[derive(PartialEq, Eq)]
enum Searched {
    Text,
    Binary,
}

struct Search<'a> {
    matcher: RegexMatcher,
    only_matching: bool,
    searcher: Searcher,
    mode: OutputMode,
    limits: &'a Limits,
    max_rows: usize,
    offset: usize,
    rows: Rows,
    files: Vec<String>,
    files_count: usize,
    skipped: Vec<Skipped>,
}

impl Search<'_> {
    fn folder(
        &mut self,
        root: &Path,
        filter: Option<&Filter>,
        types: Option<Types>,
    ) -> Result<(), WorkspaceError> {
        let mut walk = WalkBuilder::new(root);
        if let Some(types) = types {
            walk.types(types);
        }
        walk.git_global(false)
            .add_custom_ignore_filename(".rgignore")
            .follow_links(false)
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .filter_entry(self.limits.may_enter(root));
        for entry in walk.build() {
            self.limits.check()?;
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    note_walk_error(&mut self.skipped, root, error);
                    continue;
                }
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let from_root = entry.path().strip_prefix(root).unwrap_or(entry.path());
            if filter.is_none_or(|filter| filter.admits(from_root)) {
                self.file(entry.path())?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<Searched, WorkspaceError> {
        let opened = open_text(path);
        let file = match opened {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(Searched::Binary),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    note_skipped(&mut self.skipped, path, error);
                }
                return Ok(Searched::Text);
            }
        };
        let Some(name) = path.to_str() else {
            note_skipped(&mut self.skipped, path, "its name is not UTF-8");
            return Ok(Searched::Text);
        };
        let mut sink = FileSink::new(name, self.mode, &mut self.rows, &self.limits.cancel);
        sink.parts = self.only_matching.then_some(&self.matcher);
        let reader = Interruptible {
            file,
            cancel: &self.limits.cancel,
        };
        let searched = self
            .searcher
            .search_reader(&self.matcher, reader, &mut sink);
        let found = sink.finish();
        // Cancelled in the middle of a file, the search of it ended early, in either way.
        self.limits.check()?;
        if let Err(error) = searched {
            note_skipped(&mut self.skipped, path, error);
        }
        if found > 0 {
            self.files_count += 1;
            let is_row =
                self.mode == OutputMode::FilesWithMatches && self.files_count > self.offset;
            if is_row && self.files.len() < self.max_rows {
                self.files.push(name.to_owned());
            }
        }
        Ok(Searched::Text)
    }

    fn outcome(self) -> GrepOutcome {
        let (total, skipped) = (self.rows.total(), self.skipped);
        match self.mode {
            OutputMode::FilesWithMatches => GrepOutcome::Files {
                truncated: self.files.len() < self.files_count.saturating_sub(self.offset),
                files: self.files,
                count: self.files_count,
                skipped,
            },
            OutputMode::Content => GrepOutcome::Content {
                truncated: self.rows.truncated(),
                matches: self.rows.into_matches(),
                total_matches: total,
                skipped,
            },
            OutputMode::Count => GrepOutcome::Count {
                count: total,
                files_count: self.files_count,
                skipped,
            },
        }
    }
}

/// A file that can't be read any further once the search is cancelled, however long it is.
struct Interruptible<'a> {
    file: File,
    cancel: &'a AtomicBool,
}

impl io::Read for Interruptible<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(io::Error::other("the search was cancelled"));
        }
        self.file.read(buffer)
    }
}

/// Opens a file, or gives `None` if it is binary. UTF-16 is full of NUL bytes; its mark tells it.
fn open_text(path: &Path) -> io::Result<Option<File>> {
    let mut file = File::open(path)?;
    let mut start = Vec::with_capacity(SNIFFED_BYTES);
    file.by_ref()
        .take(SNIFFED_BYTES as u64)
        .read_to_end(&mut start)?;
    let utf16 = start.starts_with(&[0xFF, 0xFE]) || start.starts_with(&[0xFE, 0xFF]);
    if !utf16 && start.contains(&0) {
        return Ok(None);
    }
    file.rewind()?;
    Ok(Some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temp folder");
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            fs::write(path, content).expect("written");
        }
        folder
    }

    fn request(folder: &tempfile::TempDir, pattern: &str, output_mode: OutputMode) -> Grep {
        Grep {
            pattern: pattern.to_owned(),
            path: folder.path().to_owned(),
            output_mode,
            ..Grep::default()
        }
    }

    fn files(request: &Grep) -> Vec<String> {
        match grep(request, &Limits::default()).expect("it searches") {
            GrepOutcome::Files {
                files,
                count,
                truncated,
                ..
            } => {
                assert_eq!((files.len(), truncated), (count, false));
                let prefix = format!("{}/", request.path.display());
                files
                    .iter()
                    .map(|file| file.strip_prefix(&prefix).expect("below").to_owned())
                    .collect()
            }
            other => panic!("not files: {other:?}"),
        }
    }

    fn content(request: &Grep) -> (Vec<GrepMatch>, usize, bool) {
        match grep(request, &Limits::default()).expect("it searches") {
            GrepOutcome::Content {
                matches,
                total_matches,
                truncated,
                ..
            } => (matches, total_matches, truncated),
            other => panic!("not content: {other:?}"),
        }
    }

    #[test]
    fn files_are_listed_by_path_without_the_ignored_hidden_and_binary_ones() {
        let folder = tree(&[
            ("b.txt", b"needle"),
            ("a/z.txt", b"needle"),
            ("a/ignored.txt", b"needle"),
            (".ignore", b"ignored.txt\n"),
            (".rgignore", b"third.txt\n"),
            ("third.txt", b"needle"),
            (".hidden", b"needle"),
            ("binary", b"needle\0\n"),
            ("none", b"hay"),
        ]);
        let mut request = request(&folder, "needle", OutputMode::default());
        assert_eq!(files(&request), ["a/z.txt", "b.txt"]);
        request.glob = Some("*.txt".into());
        assert_eq!(files(&request), ["a/z.txt", "b.txt"]);
        request.glob = Some("/*.txt".into());
        assert_eq!(files(&request), ["b.txt"]);
        request.glob = Some("a/**".into());
        assert_eq!(files(&request), ["a/z.txt"]);
        request.glob = Some("!b.*".into());
        assert_eq!(files(&request), ["a/z.txt"]);
        request.glob = Some("*.{rs,txt}".into());
        assert_eq!(files(&request).len(), 2);
    }

    #[test]
    fn git_ignore_counts_inside_a_repository() {
        let folder = tree(&[
            (".git/HEAD", b""),
            (".gitignore", b"out\n"),
            ("out/a", b"x"),
            ("in", b"x"),
        ]);
        assert_eq!(files(&request(&folder, "x", OutputMode::default())), ["in"]);
    }

    #[test]
    fn each_match_has_all_its_context() {
        let folder = tree(&[("f", b"1\n2\nhit 3\n4\nhit 5\r\n6\n7\n8\nhit 9")]);
        let mut request = request(&folder, "^HIT \\d$", OutputMode::Content);
        request.case_insensitive = true;
        (request.context_before, request.context_after) = (2, 2);
        let (matches, total, truncated) = content(&request);
        assert_eq!((total, truncated), (3, false));
        let shape: Vec<(u64, &str, Vec<&str>, Vec<&str>)> = matches
            .iter()
            .map(|row| {
                let before = row.context_before.iter().map(String::as_str).collect();
                let after = row.context_after.iter().map(String::as_str).collect();
                (row.line_num, row.line.as_str(), before, after)
            })
            .collect();
        assert_eq!(
            shape,
            [
                (3, "hit 3", vec!["1", "2"], vec!["4", "hit 5"]),
                (5, "hit 5", vec!["hit 3", "4"], vec!["6", "7"]),
                (9, "hit 9", vec!["7", "8"], vec![]),
            ]
        );
    }

    #[test]
    fn context_does_not_reach_over_a_gap_or_into_another_file() {
        let folder = tree(&[("a", b"hit\nx\ny\nz\nhit\n"), ("b", b"hit\n")]);
        let mut request = request(&folder, "hit", OutputMode::Content);
        (request.context_before, request.context_after) = (1, 1);
        let (matches, ..) = content(&request);
        let before: Vec<&[String]> = matches
            .iter()
            .map(|row| row.context_before.as_slice())
            .collect();
        let after: Vec<&[String]> = matches
            .iter()
            .map(|row| row.context_after.as_slice())
            .collect();
        assert_eq!(before, [&[][..], &["z".to_owned()], &[]]);
        assert_eq!(after, [&["x".to_owned()][..], &[], &[]]);
    }

    #[test]
    fn a_head_limit_bounds_the_rows_and_not_the_total() {
        let folder = tree(&[("a", b"x\nx\n"), ("b", b"x\n")]);
        let mut request = request(&folder, "x", OutputMode::Content);
        request.head_limit = Some(1);
        (request.context_before, request.context_after) = (1, 1);
        let (matches, total, truncated) = content(&request);
        assert_eq!((matches.len(), total, truncated), (1, 3, true));
        assert_eq!(matches[0].context_after, ["x"]);
        request.head_limit = Some(0);
        assert_eq!(content(&request).0.len(), 3);
        request.head_limit = Some(1);
        request.output_mode = OutputMode::FilesWithMatches;
        let outcome = grep(&request, &Limits::default()).expect("it searches");
        let json = serde_json::to_value(outcome).expect("serialises");
        assert_eq!(
            (&json["count"], &json["truncated"]),
            (&2.into(), &true.into())
        );
        assert_eq!(json["files"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn counts_are_of_lines_and_files() {
        let folder = tree(&[("a", b"x x\nx\n"), ("b", b"x\n"), ("c", b"y\n")]);
        let outcome = grep(
            &request(&folder, "x", OutputMode::Count),
            &Limits::default(),
        )
        .expect("it searches");
        let json = serde_json::to_value(outcome).expect("serialises");
        assert_eq!(json, serde_json::json!({"count": 3, "files_count": 2}));
    }

    #[test]
    fn a_folder_is_left_out_unless_the_search_begins_in_it() {
        let folder = tree(&[("a", b"x\n"), ("runs/1/b", b"x\n")]);
        let runs = folder.path().join("runs");
        let limits = Limits {
            leave_out: Some(runs.clone()),
            ..Limits::default()
        };
        let mut request = request(&folder, "x", OutputMode::Count);
        let count = |request: &Grep| match grep(request, &limits).expect("it searches") {
            GrepOutcome::Count { count, .. } => count,
            other => panic!("{other:?}"),
        };
        assert_eq!(count(&request), 1);
        request.path = runs;
        assert_eq!(count(&request), 1);
        request.path.push("1/b");
        assert_eq!(count(&request), 1);
    }

    #[test]
    fn the_parts_that_match_can_be_rows() {
        let folder = tree(&[("f", b"id 12, id 7\r\nnone\nid 3\n")]);
        let mut request = request(&folder, r"\d+|x*", OutputMode::Content);
        request.only_matching = true;
        request.context_before = 1;
        let rows = |request: &Grep| -> Vec<(u64, String)> {
            let (matches, ..) = content(request);
            assert!(matches.iter().all(|row| row.context_before.is_empty()));
            let rows = matches.into_iter();
            rows.map(|row| (row.line_num, row.line)).collect()
        };
        let row = |number, part: &str| (number, part.to_owned());
        assert_eq!(rows(&request), [row(1, "12"), row(1, "7"), row(3, "3")]);
        request.offset = 1;
        request.head_limit = Some(1);
        assert_eq!(rows(&request), [row(1, "7")]);
        assert_eq!(content(&request).1, 3);
        (request.offset, request.head_limit) = (0, None);
        request.multiline = true;
        request.pattern = r"none\nid|\d$".to_owned();
        assert_eq!(
            rows(&request),
            [row(1, "7"), row(2, "none\nid"), row(3, "3")]
        );
    }

    #[test]
    fn a_match_may_span_lines_when_asked() {
        let folder = tree(&[("f", b"a\nstart\nmiddle\nend\nb\n")]);
        let mut request = request(&folder, "start.*?end", OutputMode::Content);
        assert_eq!(content(&request).1, 0);
        request.multiline = true;
        (request.context_before, request.context_after) = (1, 1);
        let (matches, ..) = content(&request);
        assert_eq!(
            (matches[0].line_num, matches[0].line.as_str()),
            (2, "start\nmiddle\nend")
        );
        assert_eq!(
            (&matches[0].context_before[0], &matches[0].context_after[0]),
            (&"a".into(), &"b".into())
        );
    }

    #[test]
    fn odd_bytes_long_lines_and_utf_16() {
        let mut long = vec![b'x'; 25_000];
        long.extend_from_slice("é\n".as_bytes());
        let mut utf16 = vec![0xFF, 0xFE];
        utf16.extend("naïve\n".encode_utf16().flat_map(u16::to_le_bytes));
        let folder = tree(&[
            ("latin", b"caf\xE9 naive\n"),
            ("long", &long),
            ("utf16", &utf16),
        ]);
        let (matches, ..) = content(&request(&folder, "na.ve|x+", OutputMode::Content));
        let lines: Vec<&str> = matches.iter().map(|row| row.line.as_str()).collect();
        assert_eq!(lines[0], "caf\u{FFFD} naive");
        assert_eq!(
            lines[1],
            format!("{} […15002 more bytes]", "x".repeat(10_000))
        );
        assert_eq!(lines[2], "naïve");
    }

    #[test]
    fn a_named_file_is_searched_whatever_hides_it() {
        let folder = tree(&[(".ignore", b"*\n"), (".secret", b"x\n"), ("bin", b"x\0")]);
        let mut request = request(&folder, "x", OutputMode::Count);
        request.path = folder.path().join(".secret");
        request.glob = Some("*.py".into());
        let outcome = grep(&request, &Limits::default()).expect("it searches");
        assert_eq!(
            outcome,
            GrepOutcome::Count {
                count: 1,
                files_count: 1,
                skipped: vec![]
            }
        );
        request.path = folder.path().join("bin");
        let json = serde_json::to_value(grep(&request, &Limits::default()).expect("it searches"))
            .expect("serialises");
        assert_eq!(json["skipped"][0]["reason"], "it is a binary file");
    }

    #[test]
    fn what_cannot_be_searched_is_an_error() {
        let folder = tree(&[]);
        let mut request = request(&folder, "(", OutputMode::Count);
        let problem = |request: &Grep| {
            let error = grep(request, &Limits::default()).expect_err("it can't be searched");
            error.to_string()
        };
        assert!(problem(&request).contains("is not valid"));
        request.pattern = "x".into();
        request.glob = Some("[".into());
        let error = grep(&request, &Limits::default()).expect_err("a bad glob");
        assert!(error.to_string().contains("`[` is not valid"), "{error}");
        request.glob = None;
        request.path = folder.path().join("missing");
        assert!(problem(&request).starts_with("no such file"));
        request.path = "/dev/null".into();
        assert!(problem(&request).contains("neither a file nor a folder"));
    }

    #[test]
    fn files_are_chosen_by_several_globs_and_by_type() {
        let folder = tree(&[
            ("a.py", b"x"),
            ("b/c.rs", b"x"),
            ("d.txt", b"x"),
            ("e.pyi", b"x"),
        ]);
        let mut request = request(&folder, "x", OutputMode::default());
        for (glob, expected) in [
            ("*.py *.rs", &["a.py", "b/c.rs"][..]),
            ("*.py,*.txt", &["a.py", "d.txt"]),
            ("*.{py,rs} !a.*", &["b/c.rs"]),
            ("!*.py,!*.rs", &["d.txt", "e.pyi"]),
        ] {
            request.glob = Some(glob.into());
            assert_eq!(files(&request), expected, "{glob}");
        }
        request.glob = None;
        request.file_type = Some("py".into());
        assert_eq!(files(&request), ["a.py", "e.pyi"]);
        request.glob = Some("a*".into());
        assert_eq!(files(&request), ["a.py"]);
        request.file_type = Some("pyy".into());
        let error = grep(&request, &Limits::default()).expect_err("no type");
        assert_eq!(error.to_string(), "`pyy` is not a known type of files");
        assert_eq!(error.help().as_deref(), Some("did you mean `py`?"));
    }

    #[test]
    fn context_can_be_on_one_side_and_rows_can_be_left_out() {
        let folder = tree(&[("f", b"1\nhit 2\n3\nhit 4\n5\n")]);
        let mut request = request(&folder, "hit", OutputMode::Content);
        request.context_after = 1;
        let (matches, ..) = content(&request);
        assert_eq!(matches[0].context_after, ["3"]);
        assert!(matches[0].context_before.is_empty());
        (request.context_before, request.context_after) = (2, 0);
        let (matches, ..) = content(&request);
        assert_eq!(matches[0].context_before, ["1"]);
        assert_eq!(matches[1].context_before, ["hit 2", "3"]);
        assert!(matches[1].context_after.is_empty());
        request.offset = 1;
        let (matches, total, truncated) = content(&request);
        assert_eq!((matches.len(), total, truncated), (1, 2, false));
        assert_eq!(matches[0].line_num, 4);
        request.head_limit = Some(1);
        request.offset = 0;
        assert!(content(&request).2);
    }

    #[test]
    fn a_search_can_be_cancelled() {
        let folder = tree(&[("a", b"x\n")]);
        let limits = Limits::default();
        limits
            .cancel
            .store(true, std::sync::atomic::Ordering::Relaxed);
        let outcome = grep(&request(&folder, "x", OutputMode::Count), &limits);
        let error = outcome.expect_err("cancelled");
        assert_eq!(error.to_string(), "the search was cancelled");
    }
}
