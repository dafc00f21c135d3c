//! The run directory: `.cuecard/runs/<UTC>-<6 hex>/` with the trace, saved files and screenshots of a run.

use std::fs::{self, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};

/// The folder in it for the files of answers.
pub(crate) const FILES: &str = "files";

/// How many runs are kept.
const KEPT: usize = 20;

/// A run's folder. Its trace file is locked while the run goes on, so that nobody clears it away.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    id: String,
    trace: File,
}

impl RunDir {
    /// Creates `<parent>/<id>/` for a run that started at `started`, and clears away all but the newest runs.
    ///
    /// # Errors
    /// The operating system's.
    pub fn create(parent: &Path, started: Timestamp) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        // What else is in a folder of the user's is not for us to hide.
        if fs::read_dir(parent)?.next().is_none() {
            fs::write(parent.join(".gitignore"), "*\n")?;
        }
        let (path, id) = loop {
            let id = new_id(started);
            let path = parent.join(&id);
            match fs::create_dir(&path) {
                Ok(()) => break (path, id),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let trace = create_private(&path.join("trace.jsonl"))?;
        // A file system without locks still keeps a trace.
        let _ = flock(&trace, FlockOperation::NonBlockingLockExclusive);
        clear_old(parent);
        Ok(Self { path, id, trace })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The run's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where the trace is.
    pub fn trace_path(&self) -> PathBuf {
        self.path.join("trace.jsonl")
    }

    /// The open trace file.
    ///
    /// # Errors
    /// The operating system's.
    pub fn trace_file(&self) -> io::Result<File> {
        self.trace.try_clone()
    }

    /// Whether the trace file was deleted since.
    pub fn is_trace_lost(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        self.trace.metadata().is_ok_and(|data| data.nlink() == 0)
    }

    /// Writes a file below `files/` and gives its path.
    ///
    /// # Errors
    /// The operating system's.
    pub fn save(&self, name: &str, content: &[u8]) -> io::Result<PathBuf> {
        let folder = self.path.join(FILES);
        fs::create_dir_all(&folder)?;
        let path = folder.join(name);
        create_private(&path)?.write_all(content)?;
        Ok(path)
    }

    /// Creates a file below the folder, with the folders on the way.
    ///
    /// # Errors
    /// The operating system's.
    pub fn create_file(&self, relative: &Path) -> io::Result<File> {
        let path = self.path.join(relative);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        create_private(&path)
    }

    /// Writes `run.json`, replacing it in one step.
    ///
    /// # Errors
    /// The operating system's.
    pub fn describe(&self, description: &serde_json::Value) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.path)?;
        serde_json::to_writer_pretty(&mut file, description)?;
        file.persist(self.path.join("run.json"))?;
        Ok(())
    }
}

/// A file for the user's eyes: what servers answered is nobody else's business.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)
}

/// An id for a run that started at `started`.
pub fn new_id(started: Timestamp) -> String {
    let random = RandomState::new().hash_one(std::process::id()) & 0xff_ffff;
    format!("{}-{random:06x}", started.strftime("%Y%m%dT%H%M%S"))
}

/// Removes the oldest runs. What can't be removed stays: clearing up never fails a run.
fn clear_old(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let mut runs: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| is_run(path))
        .collect();
    runs.sort();
    let surplus = runs.len().saturating_sub(KEPT);
    for path in runs.into_iter().take(surplus) {
        let is_over = File::open(path.join("trace.jsonl")).map_or(true, |file| {
            flock(&file, FlockOperation::NonBlockingLockShared).is_ok()
        });
        if is_over {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Whether a folder is one that [`RunDir::create`] made.
fn is_run(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_folder = path.symlink_metadata().is_ok_and(|data| data.is_dir());
    is_folder && name.is_some_and(is_run_id) && path.join("trace.jsonl").is_file()
}

fn is_run_id(name: &str) -> bool {
    let Some((time, random)) = name.split_once('-') else {
        return false;
    };
    let is_time = time.len() == 15
        && time.bytes().enumerate().all(|(at, byte)| {
            if at == 8 {
                byte == b'T'
            } else {
                byte.is_ascii_digit()
            }
        });
    is_time && random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_user_reads_what_a_run_wrote() {
        use std::os::unix::fs::PermissionsExt as _;
        let parent = tempfile::tempdir().expect("a folder");
        let run = RunDir::create(parent.path(), Timestamp::UNIX_EPOCH).expect("created");
        let saved = run.save("answer.txt", b"x").expect("written");
        run.describe(&serde_json::json!({})).expect("written");
        for path in [run.trace_path(), saved, run.path().join("run.json")] {
            let mode = fs::metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
    }

    #[test]
    fn the_newest_twenty_runs_are_kept_and_strangers_stay() {
        let parent = tempfile::tempdir().expect("a folder");
        fs::create_dir(parent.path().join("mine")).expect("a folder");
        // A folder of results, which is called like a run.
        let results = parent.path().join("19600101T000000-abcdef");
        fs::create_dir(&results).expect("a folder");
        let at = |second: i64| Timestamp::from_second(second).expect("in range");
        let first = RunDir::create(parent.path(), at(0)).expect("created");
        let second = RunDir::create(parent.path(), at(1))
            .expect("created")
            .path()
            .to_owned();
        for run in 2..25 {
            RunDir::create(parent.path(), at(run)).expect("created");
        }
        assert!(
            first.path().exists(),
            "a run that goes on is not cleared away"
        );
        assert!(!second.exists());
        assert!(parent.path().join("mine").exists());
        assert!(results.exists());
        let runs = fs::read_dir(parent.path())
            .expect("readable")
            .filter_map(Result::ok)
            .filter(|entry| is_run_id(&entry.file_name().to_string_lossy()))
            .count();
        assert_eq!(runs, KEPT + 2);
        let is_hidden = || parent.path().join(".gitignore").exists();
        assert!(!is_hidden(), "the folder had something in it");
        let own = parent.path().join("own");
        RunDir::create(&own, at(30)).expect("created");
        let ignore = fs::read_to_string(own.join(".gitignore"));
        assert_eq!(ignore.expect("written"), "*\n");
    }
}
