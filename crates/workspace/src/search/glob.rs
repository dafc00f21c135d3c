//! Files by name.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use globset::GlobSet;
use ignore::WalkBuilder;

use super::{
    Limits, Skipped, WorkspaceError, not_a_folder, note_skipped, note_walk_error, of_path, pattern,
};

/// Folders of version control. Nobody means them by `**`, and what is in them changes with every run.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".svn", ".bzr", ".jj"];

/// More entries are not looked at for one match.
const MAX_ENTRIES: usize = 1_000_000;

/// What [`glob()`] found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Globbed {
    /// Absolute paths, the newest modification first, then by path.
    pub files: Vec<String>,
    /// How many files match, kept or not.
    pub count: usize,
    /// Whether `files` lacks some of them, the oldest.
    pub truncated: bool,
    /// What could not be looked at; at most a hundred.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// Finds the regular files below `root` (absolute) whose path from there matches `pattern`.
///
/// `*` and `?` stay within one folder, so `*.py` means those directly in `root`; `**` goes through any
/// number of folders. As with the tool it stands for, hidden files count and ignore files don't. Folders
/// of version control are left out unless the pattern names them. Symbolic links are neither followed
/// nor listed. An absolute pattern must lie below `root` (see [`split_absolute`]).
///
/// # Errors
/// A pattern that isn't valid or leaves `root`, a `root` that is missing or no folder, or cancellation.
pub fn glob(root: &Path, pattern: &str, limits: &Limits) -> Result<Globbed, WorkspaceError> {
    let relative = below_root(root, pattern)?;
    let matcher = pattern::compile_glob(relative)?;
    let metadata = fs::metadata(root).map_err(|source| of_path(root, source))?;
    if !metadata.is_dir() {
        return Err(not_a_folder(root));
    }

    // The best stay in the heap: its greatest is the next to go.
    let mut kept: BinaryHeap<(Reverse<SystemTime>, String)> = BinaryHeap::new();
    let mut count = 0;
    let mut skipped = Vec::new();
    for entry in walk(root, relative, limits).build() {
        limits.check()?;
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                note_walk_error(&mut skipped, root, error);
                continue;
            }
        };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(from_root) = entry.path().strip_prefix(root) else {
            continue;
        };
        if !matcher.is_match(from_root) {
            continue;
        }
        let Some(path) = entry.path().to_str() else {
            note_skipped(&mut skipped, entry.path(), "its name is not UTF-8");
            continue;
        };
        // A file that vanished since it was listed is not there.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        count += 1;
        kept.push((Reverse(modified), path.to_owned()));
        if kept.len() > limits.results {
            kept.pop();
        }
    }
    let files: Vec<String> = kept
        .into_sorted_vec()
        .into_iter()
        .map(|(_, path)| path)
        .collect();
    Ok(Globbed {
        truncated: files.len() < count,
        files,
        count,
        skipped,
    })
}

/// Checks a pattern for [`glob()`] without looking at files.
///
/// # Errors
/// A pattern that isn't valid. Whether one leaves the folder that it is looked for in depends on the folder.
pub fn check_glob(pattern: &str) -> Result<(), WorkspaceError> {
    pattern::compile_glob(pattern).map(drop)
}

/// Whether a file, folder or link below `root` (absolute, without links) matches `pattern`; with a `/` at its end, a
/// folder. Links to folders of `root` are followed; of other folders only the link itself counts.
///
/// # Errors
/// A pattern that isn't valid or leaves `root`, also by a link that it names; a folder that can't be read; a `root` with
/// so many entries that not all were looked at.
pub fn any_match(root: &Path, pattern: &str) -> Result<bool, WorkspaceError> {
    let relative = below_root(root, pattern)?;
    let mut search = AnyMatch {
        root,
        pattern,
        components: relative.split('/').collect(),
        matcher: pattern::compile_glob(relative.trim_end_matches('/'))?,
        wants_folder: relative.ends_with('/'),
        n_left: MAX_ENTRIES,
    };
    search.look(Path::new(""), &mut vec![root.to_owned()])
}

/// The search for one match.
struct AnyMatch<'a> {
    root: &'a Path,
    pattern: &'a str,
    components: Vec<&'a str>,
    matcher: GlobSet,
    wants_folder: bool,
    n_left: usize,
}

impl AnyMatch<'_> {
    /// Looks into `folder`, a path below the root. `above` are the real paths of it and of the folders on the way to it.
    fn look(&mut self, folder: &Path, above: &mut Vec<PathBuf>) -> Result<bool, WorkspaceError> {
        let here = self.root.join(folder);
        let of_here = |source| of_path(&here, source);
        let depth = folder.components().count();
        for entry in fs::read_dir(&here).map_err(of_here)? {
            let name = entry.map_err(of_here)?.file_name();
            self.n_left = self.n_left.checked_sub(1).ok_or_else(|| {
                WorkspaceError::new("there are too many files to look at all of them")
            })?;
            let (path, place) = (folder.join(&name), here.join(&name));
            let is_folder = place.is_dir();
            if self.matcher.is_match(&path) && (!self.wants_folder || is_folder) {
                return Ok(true);
            }
            if !is_folder || !may_enter(&self.components, depth, &name) {
                continue;
            }
            // A folder that is gone by now holds nothing.
            let Ok(real) = fs::canonicalize(&place) else {
                continue;
            };
            if !real.starts_with(self.root) {
                if self.components.get(depth).is_some_and(|it| name == **it) {
                    return Err(outside(self.root, self.pattern));
                }
                continue;
            }
            if above.contains(&real) {
                continue;
            }
            above.push(real);
            if self.look(&path, above)? {
                return Ok(true);
            }
            above.pop();
        }
        Ok(false)
    }
}

/// Splits an absolute pattern into the folder its literal beginning names and the rest, so that the
/// folder can be judged before it is searched. `None` for a relative pattern.
pub fn split_absolute(pattern: &str) -> Option<(PathBuf, &str)> {
    if !pattern.starts_with('/') {
        return None;
    }
    let literal = pattern.find(is_special).unwrap_or(pattern.len());
    let cut = pattern[..literal].rfind('/')?;
    let folder = if cut == 0 { "/" } else { &pattern[..cut] };
    Some((PathBuf::from(folder), &pattern[cut + 1..]))
}

fn outside(root: &Path, pattern: &str) -> WorkspaceError {
    let root = root.display();
    WorkspaceError::new(format!("the glob `{pattern}` leaves the folder `{root}`"))
        .with_help("give the folder as `path`, and the pattern below it")
}

/// The pattern as seen from `root`.
fn below_root<'p>(root: &Path, pattern: &'p str) -> Result<&'p str, WorkspaceError> {
    let outside = || outside(root, pattern);
    let relative = if pattern.starts_with('/') {
        let prefix = root.to_str().ok_or_else(outside)?.trim_end_matches('/');
        pattern
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_prefix('/'))
            .ok_or_else(outside)?
    } else {
        pattern
    };
    if relative.split('/').any(|component| component == "..") {
        return Err(outside());
    }
    let mut relative = relative;
    while let Some(rest) = relative.strip_prefix("./") {
        relative = rest;
    }
    Ok(relative)
}

fn is_special(c: char) -> bool {
    matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\')
}

/// Whether a folder called `name`, `depth` folders below the root, may hold what the pattern of these `components` is
/// about.
fn may_enter(components: &[&str], depth: usize, name: &OsStr) -> bool {
    // A brace may hold slashes, so it tells nothing about the depth.
    let has_any_depth = components
        .iter()
        .any(|component| component.contains("**") || component.contains('{'));
    let folders = &components[..components.len() - 1];
    let is_literal = |component: &&&str| !component.contains(is_special) && !component.is_empty();
    let literal = folders.iter().take_while(is_literal).nth(depth);
    let is_control = |folder: &&str| name == *folder && !components.contains(folder);
    (has_any_depth || depth + 1 < components.len())
        && !VERSION_CONTROL.iter().any(is_control)
        && literal.is_none_or(|expected| name == *expected)
}

/// A walk that enters no folder in which nothing can match.
fn walk(root: &Path, pattern: &str, limits: &Limits) -> WalkBuilder {
    let components: Vec<String> = pattern.split('/').map(str::to_owned).collect();
    let is_left_out = limits.may_enter(root);
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false)
        .follow_links(false)
        .filter_entry(move |entry| {
            let depth = entry.depth();
            if depth == 0 || !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return true;
            }
            let components: Vec<&str> = components.iter().map(String::as_str).collect();
            may_enter(&components, depth - 1, entry.file_name()) && is_left_out(entry)
        });
    walk
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    /// A tree whose files were modified one second apart, in the order given.
    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temp folder");
        for (index, name) in files.iter().enumerate() {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            let file = File::create(&path).expect("created");
            let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + index as u64);
            file.set_times(FileTimes::new().set_modified(modified))
                .expect("set");
        }
        folder
    }

    fn names(folder: &tempfile::TempDir, pattern: &str) -> Vec<String> {
        let found = glob(folder.path(), pattern, &Limits::default()).expect("it searches");
        assert_eq!(found.count, found.files.len());
        assert!(!found.truncated);
        let prefix = format!("{}/", folder.path().display());
        found
            .files
            .iter()
            .map(|file| file.strip_prefix(&prefix).expect("below").to_owned())
            .collect()
    }

    #[test]
    fn stars_and_braces_mean_what_they_mean_in_the_shell() {
        let folder = tree(&[
            "a.py",
            "src/b.py",
            "src/deep/c.py",
            "src/d.rs",
            ".hidden/e.py",
            "[x].py",
        ]);
        assert_eq!(names(&folder, "*.py"), ["[x].py", "a.py"]);
        assert_eq!(names(&folder, "./*.py"), ["[x].py", "a.py"]);
        assert_eq!(names(&folder, "src/*.py"), ["src/b.py"]);
        assert_eq!(names(&folder, "src/**/*.py"), ["src/deep/c.py", "src/b.py"]);
        assert_eq!(
            names(&folder, "**/*.py"),
            [
                "[x].py",
                ".hidden/e.py",
                "src/deep/c.py",
                "src/b.py",
                "a.py"
            ]
        );
        assert_eq!(names(&folder, "{a,src/b}.py"), ["src/b.py", "a.py"]);
        assert_eq!(names(&folder, "src/*.{py,rs}"), ["src/d.rs", "src/b.py"]);
        assert_eq!(names(&folder, "\\[x\\].py"), ["[x].py"]);
        assert_eq!(names(&folder, "*/?.rs"), ["src/d.rs"]);
        assert_eq!(names(&folder, "a.py"), ["a.py"]);
        assert!(names(&folder, "nowhere/**").is_empty());
        let absolute = format!("{}/src/*.py", folder.path().display());
        assert_eq!(names(&folder, &absolute), ["src/b.py"]);
    }

    #[test]
    fn equal_times_are_ordered_by_path() {
        let folder = tree(&["b", "a", "c"]);
        for name in ["a", "b", "c"] {
            let file = File::options()
                .write(true)
                .open(folder.path().join(name))
                .expect("there");
            file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH))
                .expect("set");
        }
        assert_eq!(names(&folder, "*"), ["a", "b", "c"]);
    }

    #[test]
    fn ignore_files_do_not_count_but_version_control_folders_are_left_out() {
        let folder = tree(&[".git/config", ".gitignore", "build/out.txt", "sub/.git/x"]);
        fs::write(folder.path().join(".gitignore"), "build\n").expect("written");
        let mut found = names(&folder, "**");
        found.sort();
        assert_eq!(found, [".gitignore", "build/out.txt"]);
        assert_eq!(names(&folder, ".git/*"), [".git/config"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_neither_followed_nor_listed() {
        let folder = tree(&["real/file.txt"]);
        std::os::unix::fs::symlink(folder.path().join("real"), folder.path().join("link"))
            .expect("linked");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("real/loop")).expect("linked");
        std::os::unix::fs::symlink("file.txt", folder.path().join("real/other.txt"))
            .expect("linked");
        assert_eq!(names(&folder, "**/*.txt"), ["real/file.txt"]);
        assert!(names(&folder, "link/*.txt").is_empty());
        // The root itself is the caller's choice.
        let through =
            glob(&folder.path().join("link"), "*.txt", &Limits::default()).expect("it searches");
        assert_eq!(through.count, 1);
    }

    #[cfg(unix)]
    #[test]
    fn one_match_is_found_through_links_of_the_folder_only() {
        let outside = tree(&["x/y.txt"]);
        let folder = tree(&["d/f.txt", "d/deep/g.txt", "e/h.txt"]);
        let root = fs::canonicalize(folder.path()).expect("there");
        for (to, name) in [
            (root.join("d"), "link"),
            (root.clone(), "d/loop"),
            (root.join("e"), "d/sibling"),
            (root.join("d"), "e/sibling"),
            (outside.path().to_owned(), "out"),
            ("nowhere".into(), "broken"),
        ] {
            std::os::unix::fs::symlink(to, root.join(name)).expect("linked");
        }
        let found = |pattern: &str| any_match(&root, pattern).map_err(|error| error.to_string());
        for pattern in [
            "link/*",
            "link/deep/*",
            "**/g.txt",
            "brok*",
            "ou*",
            "out*/",
            "*/sibling/*.txt",
        ] {
            assert_eq!(found(pattern), Ok(true), "{pattern}");
        }
        for pattern in [
            "link/*.md",
            "brok*/",
            "**/y.txt",
            "*/y.txt",
            "d/loop/loop/z*",
        ] {
            assert_eq!(found(pattern), Ok(false), "{pattern}");
        }
        for pattern in ["out/*", "out/**/y.txt"] {
            let error = found(pattern).expect_err("it leads out");
            assert!(error.contains("leaves the folder"), "{error}");
        }
    }

    #[test]
    fn a_folder_is_left_out_unless_the_search_begins_in_it() {
        let folder = tree(&["a.json", "out/runs/1/b.json", "runs/c.json"]);
        let runs = folder.path().join("out/runs");
        let limits = Limits {
            leave_out: Some(runs.clone()),
            ..Limits::default()
        };
        let count = |root: &Path| glob(root, "**/*.json", &limits).expect("it searches").count;
        assert_eq!(count(folder.path()), 2);
        assert_eq!(count(&folder.path().join("out")), 0);
        assert_eq!(count(&runs), 1);
        assert_eq!(count(&runs.join("1")), 1);
    }

    #[test]
    fn the_newest_are_kept_and_all_are_counted() {
        let folder = tree(&["1", "2", "3", "4"]);
        let limits = Limits {
            results: 2,
            ..Limits::default()
        };
        let found = glob(folder.path(), "*", &limits).expect("it searches");
        assert!(found.files[0].ends_with("/4") && found.files[1].ends_with("/3"));
        assert_eq!(
            (found.files.len(), found.count, found.truncated),
            (2, 4, true)
        );
        let json = serde_json::to_value(&found).expect("serialises");
        let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["files", "count", "truncated"]);
    }

    #[test]
    fn what_cannot_be_searched_is_an_error() {
        let folder = tree(&["file"]);
        let limits = Limits::default();
        let missing = glob(&folder.path().join("no"), "*", &limits).expect_err("missing");
        assert!(missing.to_string().starts_with("no such file"), "{missing}");
        let near = glob(&folder.path().join("fiel"), "*", &limits).expect_err("missing");
        assert!(near.help().is_some_and(|help| help.ends_with("/file`?")));
        let below = glob(&folder.path().join("file/a/b"), "*", &limits).expect_err("below a file");
        assert!(
            below.to_string().ends_with("/file` is not a folder"),
            "{below}"
        );
        let file = glob(&folder.path().join("file"), "*", &limits).expect_err("a file");
        assert!(file.to_string().ends_with("is not a folder"), "{file}");
        for pattern in ["../*", "a/../../b", "/etc/*"] {
            let outside = glob(folder.path(), pattern, &limits).expect_err("outside");
            assert!(
                outside.to_string().contains("leaves the folder"),
                "{outside}"
            );
        }
        let cancelled = Limits {
            cancel: Arc::new(AtomicBool::new(true)),
            ..Limits::default()
        };
        let error = glob(folder.path(), "*", &cancelled).expect_err("cancelled");
        assert_eq!(error.to_string(), "the search was cancelled");
    }

    #[test]
    fn an_absolute_pattern_splits_at_its_literal_folder() {
        assert_eq!(
            split_absolute("/a/b/*.rs"),
            Some((PathBuf::from("/a/b"), "*.rs"))
        );
        assert_eq!(
            split_absolute("/a/b*/c"),
            Some((PathBuf::from("/a"), "b*/c"))
        );
        assert_eq!(split_absolute("/*"), Some((PathBuf::from("/"), "*")));
        assert_eq!(split_absolute("/a/b"), Some((PathBuf::from("/a"), "b")));
        assert_eq!(split_absolute("a/*"), None);
    }
}
