//! What a suite depends on, and whether that changed since it was judged.
//!
//! The files are looked at again and again, which works on every file system, and finds whatever an editor does: a
//! file that is written, one that is renamed into its place, one that is gone for a moment.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_judge::model::{TestCase, TraceInput};
use cuecard_judge::snapshot_files;
use cuecard_source::diagnostic::Diagnostic;

use super::sources::joined;
use super::{CaseFile, TestFile, collect, read_case};
use cuecard_runtime::clock::{Clock, Stopwatch};
use cuecard_runtime::text_file::folder_of;

/// The time between two looks; what changed counts once it stayed the same for one of them.
const INTERVAL: Duration = Duration::from_millis(150);

/// A suite of very many files is looked at less often: looking takes at most one part of so many of the time.
const SHARE: u32 = 20;

/// The tests of a suite and what the files that they depend on look like at one moment.
#[derive(Debug, Clone, Default)]
pub struct WatchedSuite {
    tests: Vec<WatchedTest>,
    shared: Vec<WatchedFile>,
    problems: Vec<Diagnostic>,
}

#[derive(Debug, Clone)]
struct WatchedTest {
    file: TestFile,
    /// The test file itself first.
    depends: Vec<WatchedFile>,
}

/// A file from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WatchedFile {
    path: PathBuf,
    /// Absent if there is no such file.
    look: Option<FileStamp>,
}

/// What changes when a file is written or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    changed: (i64, i64),
    modified: (i64, i64),
    size: u64,
    inode: u64,
}

/// What is different between two moments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The files that are new, gone, or were written, in path order.
    pub files: Vec<PathBuf>,
    /// The tests that depend on one of them, in the order of the suite.
    pub concerned: Vec<TestFile>,
}

impl WatchedSuite {
    /// Looks at the tests of `paths` and at `shared`, the files that all of them depend on.
    pub fn look(paths: &[PathBuf], shared: &[PathBuf]) -> Self {
        Self::default().look_again(paths, shared)
    }

    /// As [`Self::look`]; test files that look as before aren't read again.
    #[must_use]
    pub fn look_again(&self, paths: &[PathBuf], shared: &[PathBuf]) -> Self {
        let collected = collect(paths);
        let known = self.by_file();
        let tests = collected.files.into_iter().map(|file| {
            // Before it is read: a change in between shows at the next look.
            let own = WatchedFile::at(file.path.clone());
            let known = known.get(&file.path);
            let depends = match known.filter(|test| test.depends.first() == Some(&own)) {
                Some(known) => {
                    let others = known.depends.iter().skip(1);
                    others.map(|seen| seen.path.clone()).collect()
                }
                None => dependencies(&file),
            };
            let others = depends.into_iter().map(WatchedFile::at);
            WatchedTest {
                file,
                depends: [own].into_iter().chain(others).collect(),
            }
        });
        Self {
            tests: tests.collect(),
            shared: shared.iter().cloned().map(WatchedFile::at).collect(),
            problems: collected
                .problems
                .into_iter()
                .map(|(_, found)| found)
                .collect(),
        }
    }

    fn by_file(&self) -> HashMap<&PathBuf, &WatchedTest> {
        let tests = self.tests.iter();
        tests.map(|test| (&test.file.path, test)).collect()
    }

    /// The same with `shared` as the files that all tests depend on, as they look now.
    #[must_use]
    pub fn with_shared(self, shared: &[PathBuf]) -> Self {
        Self {
            shared: shared.iter().cloned().map(WatchedFile::at).collect(),
            ..self
        }
    }

    /// The tests, in the order of the suite.
    pub fn files(&self) -> Vec<TestFile> {
        self.tests.iter().map(|test| test.file.clone()).collect()
    }

    /// What can't be read.
    pub fn problems(&self) -> &[Diagnostic] {
        &self.problems
    }

    /// What is different since `before`; nothing if all looks the same.
    pub fn change_since(&self, before: &Self) -> Option<Change> {
        let mut files: BTreeSet<PathBuf> = BTreeSet::new();
        let differing =
            |now: &[WatchedFile], then: &[WatchedFile], files: &mut BTreeSet<PathBuf>| {
                let mut paths = now
                    .iter()
                    .filter(|seen| !then.contains(seen))
                    .chain(then.iter().filter(|seen| !now.contains(seen)))
                    .map(|seen| seen.path.clone())
                    .peekable();
                let differs = paths.peek().is_some();
                files.extend(paths);
                differs
            };
        let all = differing(&self.shared, &before.shared, &mut files);
        let mut concerned = Vec::new();
        let (now, then) = (self.by_file(), before.by_file());
        for test in &self.tests {
            let differs = match then.get(&test.file.path) {
                Some(then) => differing(&test.depends, &then.depends, &mut files),
                None => {
                    files.insert(test.file.path.clone());
                    true
                }
            };
            if all || differs {
                concerned.push(test.file.clone());
            }
        }
        for gone in &before.tests {
            if !now.contains_key(&gone.file.path) {
                files.insert(gone.file.path.clone());
            }
        }
        let messages = |scene: &Self| -> Vec<String> {
            let problems = scene.problems.iter();
            problems.map(|problem| problem.message.clone()).collect()
        };
        let is_same =
            files.is_empty() && concerned.is_empty() && messages(self) == messages(before);
        (!is_same).then(|| Change {
            files: files.into_iter().collect(),
            concerned,
        })
    }
}

impl WatchedFile {
    fn at(path: PathBuf) -> Self {
        let look = fs::metadata(&path).ok().map(|metadata| FileStamp {
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            size: metadata.size(),
            inode: metadata.ino(),
        });
        Self { path, look }
    }
}

/// The files besides its own that a test depends on, whether they are there or not.
fn dependencies(file: &TestFile) -> Vec<PathBuf> {
    match read_case(file) {
        CaseFile::Cases(cases, _) => {
            let folder = folder_of(&file.path);
            let files = cases.iter().flat_map(|case| of_case(case, folder));
            let files: BTreeSet<PathBuf> = files.collect();
            // A new recording changes the folder that it is in.
            let folders = files.iter().filter_map(|file| file.parent());
            let folders: BTreeSet<PathBuf> = match cases.len() {
                0 | 1 => BTreeSet::new(),
                _ => folders.map(Path::to_owned).collect(),
            };
            files.into_iter().chain(folders).collect()
        }
        CaseFile::Scenario(_) | CaseFile::Invalid(_) => Vec::new(),
    }
}

fn of_case(case: &TestCase, folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = match &case.input {
        TraceInput::ReplayBundle { file, .. }
        | TraceInput::TraceFile { file, .. }
        | TraceInput::Transcript { file, .. }
        | TraceInput::Play { file, .. } => vec![joined(folder, file)],
        // A script beside the test is what people work on.
        TraceInput::Live { command, .. } => command
            .iter()
            .map(|argument| joined(folder, Path::new(argument)))
            .filter(|path| path.is_file())
            .collect(),
    };
    paths.extend(snapshot_files(case).map(|file| joined(folder, Path::new(file))));
    paths
}

/// Waits until what `look` sees differs from `now`, and two looks in a row see the same. Nothing if `look` has
/// nothing more to see.
pub async fn changed(
    now: &WatchedSuite,
    mut look: impl AsyncFnMut(&WatchedSuite) -> Option<WatchedSuite>,
) -> Option<(WatchedSuite, Change)> {
    let mut last = now.clone();
    loop {
        let seen = look(&last).await?;
        let is_quiet = seen.change_since(&last).is_none();
        match seen.change_since(now) {
            Some(change) if is_quiet => return Some((seen, change)),
            _ => last = seen,
        }
    }
}

/// As [`changed`], looking at `paths` and `shared` from time to time.
pub async fn changed_on_disk(
    now: &WatchedSuite,
    paths: &[PathBuf],
    shared: &[PathBuf],
) -> Option<(WatchedSuite, Change)> {
    let mut took = Duration::ZERO;
    changed(now, async |last| {
        let clock = Clock::start();
        clock.sleep_until(INTERVAL.max(took * SHARE)).await;
        let stopwatch = Stopwatch::start();
        let scene = last.look_again(paths, shared);
        took = stopwatch.elapsed();
        Some(scene)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    const CASE: &str = "schema_version: \"0.1\"\nid: one\nadapter: nanoclaw\nmode: replay\n\
        adapter_input: { replay_file: ./replay.json }\nassertions:\n\
        \x20 - { id: a, type: trace_snapshot, params: { file: stored.json } }\n";

    fn names(paths: &[PathBuf], root: &Path) -> Vec<String> {
        let name = |path: &PathBuf| {
            let path = path.strip_prefix(root).expect("below the root");
            path.display().to_string()
        };
        paths.iter().map(name).collect()
    }

    /// Two tests, each in its folder; the first has a bundle.
    fn suite() -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().expect("a folder");
        for below in ["a", "b"] {
            let below = folder.path().join(below);
            fs::create_dir(&below).expect("made");
            fs::write(below.join("test.yaml"), CASE).expect("written");
        }
        fs::write(folder.path().join("a/replay.json"), "{}").expect("written");
        let paths = vec![folder.path().to_owned()];
        (folder, paths)
    }

    /// What changes when `act` is done: the files and the tests concerned.
    fn change(act: impl FnOnce(&Path), shared: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
        let (folder, paths) = suite();
        let shared: Vec<PathBuf> = shared.iter().map(|name| folder.path().join(name)).collect();
        let before = WatchedSuite::look(&paths, &shared);
        act(folder.path());
        let change = before.look_again(&paths, &shared).change_since(&before)?;
        let concerned: Vec<PathBuf> = change.concerned.into_iter().map(|file| file.path).collect();
        Some((
            names(&change.files, folder.path()),
            names(&concerned, folder.path()),
        ))
    }

    fn some(files: &[&str], tests: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Some((owned(files), owned(tests)))
    }

    #[test]
    fn the_tests_that_depend_on_a_file_are_concerned() {
        let write = |name: &'static str| {
            move |folder: &Path| fs::write(folder.join(name), "{ }").expect("written")
        };
        assert_eq!(change(|_| {}, &[]), None);
        assert_eq!(
            change(write("a/replay.json"), &[]),
            some(&["a/replay.json"], &["a/test.yaml"])
        );
        // A file that was missing appears.
        assert_eq!(
            change(write("b/stored.json"), &[]),
            some(&["b/stored.json"], &["b/test.yaml"])
        );
        assert_eq!(change(write("b/notes.txt"), &[]), None);
        assert_eq!(
            change(write("b/test.yaml"), &[]),
            // It isn't a test case any more, and depends on nothing else.
            some(
                &["b/replay.json", "b/stored.json", "b/test.yaml"],
                &["b/test.yaml"]
            )
        );
        assert_eq!(
            change(write("servers.json"), &["servers.json"]),
            some(&["servers.json"], &["a/test.yaml", "b/test.yaml"])
        );
    }

    #[test]
    fn tests_appear_and_disappear() {
        let appear = |folder: &Path| {
            fs::write(folder.join("c.test.yaml"), CASE).expect("written");
        };
        assert_eq!(
            change(appear, &[]),
            some(&["c.test.yaml"], &["c.test.yaml"])
        );
        let disappear = |folder: &Path| fs::remove_file(folder.join("a/test.yaml")).expect("gone");
        assert_eq!(change(disappear, &[]), some(&["a/test.yaml"], &[]));
        let nothing_left = |folder: &Path| fs::remove_dir_all(folder).expect("gone");
        let change = change(nothing_left, &[]).expect("a change");
        assert_eq!(change.0, ["a/test.yaml", "b/test.yaml"]);
    }

    #[test]
    fn a_file_that_is_renamed_into_place_has_changed() {
        let rename = |folder: &Path| {
            let new = folder.join("a/.replay.json.swp");
            // Of the same size.
            fs::write(&new, "[]").expect("written");
            fs::rename(new, folder.join("a/replay.json")).expect("renamed");
        };
        assert_eq!(
            change(rename, &[]),
            some(&["a/replay.json"], &["a/test.yaml"])
        );
    }

    #[test]
    fn a_change_counts_once_it_is_quiet() {
        let (folder, paths) = suite();
        let look = || WatchedSuite::look(&paths, &[]);
        let before = look();
        let (sender, mut looks) = mpsc::unbounded_channel();
        sender.send(before.clone()).expect("open");
        // An editor takes the file away, and puts it back in two pieces.
        let bundle = folder.path().join("a/replay.json");
        fs::remove_file(&bundle).expect("gone");
        sender.send(look()).expect("open");
        for text in ["{", "{\"a\": 1}"] {
            fs::write(&bundle, text).expect("written");
            sender.send(look()).expect("open");
        }
        let last = look();
        sender.send(last.clone()).expect("open");
        // What comes later is for the next time.
        sender.send(before.clone()).expect("open");
        let found = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime")
            .block_on(changed(&before, async |_| looks.recv().await));
        let (scene, change) = found.expect("a change");
        assert_eq!(scene.change_since(&last), None);
        assert_eq!(change.files, [bundle]);
        assert_eq!(looks.len(), 1);
        drop(sender);
        let nothing = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime")
            .block_on(changed(&before, async |_| looks.recv().await));
        assert_eq!(nothing.map(|(_, change)| change), None, "it is as before");
    }
}
