//! What has changed in a folder since it was looked at last.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cuecard_source::matching::changed_lines;
use ignore::{DirEntry, WalkBuilder};

/// So many files and folders are looked at, in their order; what is beyond is not.
const MAX_FILES: usize = 10_000;
/// Lines are counted in files up to this size, in bytes.
const MAX_LENGTH: u64 = 256 << 10;
/// So much text of files is kept, in bytes.
const MAX_KEPT: u64 = 32 << 20;

/// A file that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file, relative to the folder, with `/` between folders.
    pub path: String,
    /// Lines that are new; 0 in a file that is long or no text.
    pub lines_added: u64,
    /// Lines that are gone; likewise.
    pub lines_removed: u64,
}

/// What lies in a folder by path, without version control: what stands in each file, or how long it is and a hash of it if that
/// is much or no text, and where links lead. Of what is very long, only the length counts. Beside it the first path that was
/// not looked at, as there is too much.
pub fn contents(root: &Path) -> (Vec<(String, String)>, Option<String>) {
    let content = |file: &DirEntry| {
        let kind = file.file_type();
        if file.path_is_symlink() {
            return target(file);
        }
        if !kind.is_some_and(|kind| kind.is_file()) {
            return format!("{kind:?}");
        }
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let bytes = (length <= MAX_KEPT).then(|| fs::read(file.path()).ok());
        let bytes = bytes.flatten().unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        match String::from_utf8(bytes) {
            Ok(text) if length <= MAX_LENGTH => text,
            _ => format!("{length} bytes, hash {}", hasher.finish()),
        }
    };
    let (entries, beyond) = entries(root);
    let contents = entries
        .into_iter()
        .map(|(path, file)| (path, content(&file)));
    (contents.collect(), beyond)
}

/// Where a link leads.
fn target(link: &DirEntry) -> String {
    let target = fs::read_link(link.path()).unwrap_or_default();
    format!("-> {}", target.display())
}

/// What lies below a folder, without version control, in the order of [`Path`]; and the first path that is too much.
fn entries(root: &Path) -> (Vec<(String, DirEntry)>, Option<String>) {
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp);
    let mut entries = walk.build().flatten().map(|entry| {
        let relative = entry.path().strip_prefix(root);
        let path = relative.unwrap_or(entry.path()).to_string_lossy();
        (path.into_owned(), entry)
    });
    let looked_at = entries.by_ref().take(MAX_FILES).collect();
    (looked_at, entries.next().map(|(path, _)| path))
}

/// A folder whose changes are followed. Version control and what is beyond the bounds does not count.
#[derive(Debug)]
pub struct FolderChanges {
    root: PathBuf,
    files: BTreeMap<String, SeenFile>,
    /// The first path that was not looked at, as there is too much.
    beyond: Option<String>,
}

#[derive(Debug)]
struct SeenFile {
    stamp: Stamp,
    /// Nothing if it is long or no text.
    text: Option<String>,
}

/// What tells that a file was written.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    changed: (i64, i64, u64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt as _;
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            changed: (metadata.ctime(), metadata.ctime_nsec(), metadata.ino()),
        }
    }
}

impl FolderChanges {
    /// Looks at `root` for the first time.
    pub fn new(root: &Path) -> Self {
        let mut folder = Self {
            root: root.to_owned(),
            files: BTreeMap::new(),
            beyond: None,
        };
        folder.take();
        folder
    }

    /// The files that were there at the last look, relative to the folder.
    pub fn paths(&self) -> impl Iterator<Item = &String> {
        self.files.keys()
    }

    /// The path from which on nothing was compared in the last look, as there is too much.
    pub fn beyond(&self) -> Option<&str> {
        self.beyond.as_deref()
    }

    /// What has changed since the last look, by path. A file whose content is the same has not, nor has a link that leads to
    /// the same place.
    pub fn take(&mut self) -> Vec<FileChange> {
        let mut before = std::mem::take(&mut self.files);
        let mut changes = Vec::new();
        let mut kept = 0;
        let (entries, beyond) = entries(&self.root);
        let before_it = std::mem::replace(&mut self.beyond, beyond);
        let bounds = [before_it, self.beyond.clone()];
        // What was looked at only once may be as it was.
        let is_compared = |path: &str| {
            let mut bounds = bounds.iter().flatten();
            bounds.all(|bound| Path::new(path) < Path::new(bound))
        };
        for (path, entry) in entries {
            let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else {
                continue;
            };
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let (stamp, old) = (Stamp::of(&metadata), before.remove(&path));
            let file = match old {
                Some(old) if old.stamp == stamp => old,
                old => {
                    let is_kept = stamp.length <= MAX_LENGTH && kept + stamp.length <= MAX_KEPT;
                    let read = || match () {
                        () if kind.is_symlink() => Some(target(&entry)),
                        () if kind.is_file() => fs::read_to_string(entry.path()).ok(),
                        // Who reads a pipe waits for its writer.
                        () => None,
                    };
                    let text = is_kept.then(read).flatten();
                    let is_same = old
                        .as_ref()
                        .is_some_and(|old| old.text.is_some() && old.text == text);
                    if !is_same && is_compared(&path) {
                        let old = old.map_or(Some(String::new()), |old| old.text);
                        changes.push(change(path.clone(), old.as_deref(), text.as_deref()));
                    }
                    SeenFile { stamp, text }
                }
            };
            kept += file.text.as_ref().map_or(0, |text| text.len() as u64);
            self.files.insert(path, file);
        }
        let gone = before.into_iter().filter(|(path, _)| is_compared(path));
        changes.extend(gone.map(|(path, old)| change(path, old.text.as_deref(), Some(""))));
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }
}

fn change(path: String, old: Option<&str>, new: Option<&str>) -> FileChange {
    let lines = old.zip(new).map(|(old, new)| changed_lines(old, new));
    let (lines_added, lines_removed) = lines.unwrap_or_default();
    FileChange {
        path,
        lines_added,
        lines_removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_removed_and_moved_files_are_changes_and_touched_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &[u8]| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("kept.txt", b"one\n");
        write("edited.txt", b"one\ntwo\n");
        write("gone.txt", b"one\n");
        write("moved.txt", b"one\ntwo\nthree\n");
        write(".git/index", b"1");
        let mut changes = FolderChanges::new(folder.path());
        assert_eq!(changes.take(), []);
        write("kept.txt", b"one\n");
        write("edited.txt", b"one\n2\nthree\n");
        write("new/empty.txt", b"");
        write("new/image.png", b"\xff\xd8\xff");
        write(".git/index", b"2");
        fs::remove_file(folder.path().join("gone.txt")).unwrap();
        fs::rename(
            folder.path().join("moved.txt"),
            folder.path().join("new/moved.txt"),
        )
        .unwrap();
        let told: Vec<String> = changes.take().iter().map(told).collect();
        assert_eq!(
            told,
            [
                "edited.txt +2 -1",
                "gone.txt +0 -1",
                "moved.txt +0 -3",
                "new/empty.txt +0 -0",
                "new/image.png +0 -0",
                "new/moved.txt +3 -0",
            ]
        );
        assert_eq!(changes.take(), []);
    }

    /// A file that is long, or that was none of text, has changed when it was written.
    #[test]
    fn what_is_not_kept_is_told_without_lines() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("long.txt");
        let long = "line\n".repeat(60_000);
        fs::write(&file, &long).unwrap();
        let mut changes = FolderChanges::new(folder.path());
        fs::write(&file, format!("{long}more\n")).unwrap();
        let told: Vec<String> = changes.take().iter().map(told).collect();
        assert_eq!(told, ["long.txt +0 -0"]);
    }

    /// Which files are looked at follows from their names, and a bound that moves makes no changes.
    #[test]
    fn what_is_too_much_is_left_out_and_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = |number: usize| folder.path().join(format!("{number:05}"));
        for number in 0..MAX_FILES + 500 {
            fs::write(file(number), "one\n").unwrap();
        }
        let mut changes = FolderChanges::new(folder.path());
        // The folder itself is the first.
        let beyond = format!("{:05}", MAX_FILES - 1);
        assert_eq!(changes.beyond(), Some(beyond.as_str()));
        assert_eq!(contents(folder.path()).1, Some(beyond));
        fs::write(file(MAX_FILES + 3), "two\n").unwrap();
        fs::write(folder.path().join("00000-new"), "new\n").unwrap();
        let told = |changes: &mut FolderChanges| -> Vec<String> {
            changes.take().iter().map(self::told).collect()
        };
        assert_eq!(told(&mut changes), ["00000-new +1 -0"]);
        fs::remove_file(file(0)).unwrap();
        fs::remove_file(file(1)).unwrap();
        assert_eq!(told(&mut changes), ["00000 +0 -1", "00001 +0 -1"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let link = |to: &str| {
            let path = folder.path().join("link");
            let _ = fs::remove_file(&path);
            std::os::unix::fs::symlink(to, path).unwrap();
        };
        let mut changes = FolderChanges::new(folder.path());
        let mut told = |to: &str| -> Vec<String> {
            link(to);
            changes.take().iter().map(self::told).collect()
        };
        assert_eq!(told("nowhere"), ["link +1 -0"]);
        assert_eq!(told("nowhere"), [""; 0]);
        assert_eq!(told("/tmp"), ["link +1 -1"]);
    }

    fn told(change: &FileChange) -> String {
        format!(
            "{} +{} -{}",
            change.path, change.lines_added, change.lines_removed
        )
    }
}
