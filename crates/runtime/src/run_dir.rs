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

/// The journal in it.
pub const JOURNAL: &str = "journal.jsonl";

/// What describes the run.
const DESCRIPTION: &str = "run.json";

/// How many runs of earlier commands are kept, and as many that failed.
const KEPT: usize = 20;

/// A run's folder. Its trace file is locked while the run goes on, so that nobody clears it away.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    id: String,
    trace: File,
}

impl RunDir {
    /// Creates `<parent>/<id>/` for a run that started at `started`, whose trace is locked until it ends.
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
        describe(&self.path, description)
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

/// Makes sure that a run is over: while the file is held, nobody resumes it or clears it away. `None` if it goes on.
///
/// # Errors
/// The operating system's.
pub fn lock_finished(path: &Path) -> io::Result<Option<File>> {
    let trace = File::open(path.join("trace.jsonl"))?;
    match flock(&trace, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        // A file system without locks still keeps a trace.
        _ => Ok(Some(trace)),
    }
}

/// Removes the oldest runs below `parent`, of those that failed and of the others apart. A command calls it before its
/// first run, so that it keeps all of its own. What can't be removed stays: clearing up never fails a run.
pub fn clear_old(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let mut runs: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| is_run(path))
        .collect();
    runs.sort();
    let (failed, others): (Vec<PathBuf>, Vec<PathBuf>) =
        runs.into_iter().partition(|path| has_failed(path));
    for runs in [failed, others] {
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
}

/// Whether a run says that it failed. One that was killed still says that it is running, and is worth a look, too.
fn has_failed(path: &Path) -> bool {
    let text = fs::read(path.join(DESCRIPTION)).unwrap_or_default();
    let description: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let status = description["status"].as_str();
    status.is_some_and(|status| !matches!(status, "passed" | "success" | "interrupted"))
}

/// Adds how a run ended to the description in its folder.
///
/// # Errors
/// The operating system's, and if the description is no JSON.
pub fn set_status(path: &Path, status: &str) -> io::Result<()> {
    let text = fs::read(path.join(DESCRIPTION))?;
    let mut description: serde_json::Value = serde_json::from_slice(&text)?;
    description["status"] = status.into();
    describe(path, &description)
}

/// Writes the description in a run's folder, replacing it in one step.
fn describe(path: &Path, description: &serde_json::Value) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(path)?;
    serde_json::to_writer_pretty(&mut file, description)?;
    file.persist(path.join(DESCRIPTION))?;
    Ok(())
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
    fn of_earlier_commands_twenty_runs_and_twenty_that_failed_are_kept_and_strangers_stay() {
        let parent = tempfile::tempdir().expect("a folder");
        fs::create_dir(parent.path().join("mine")).expect("a folder");
        // A folder of results, which is called like a run.
        let results = parent.path().join("19600101T000000-abcdef");
        fs::create_dir(&results).expect("a folder");
        let create = |second: i64, status: &str| {
            let at = Timestamp::from_second(second).expect("in range");
            let run = RunDir::create(parent.path(), at).expect("created");
            run.describe(&serde_json::json!({"kind": "play"}))
                .expect("written");
            set_status(run.path(), status).expect("written");
            run
        };
        let open = create(0, "running");
        let path = |run: RunDir| run.path().to_owned();
        let failed: Vec<PathBuf> = (1..24).map(|at| path(create(at, "failed"))).collect();
        let passed: Vec<PathBuf> = (24..50).map(|at| path(create(at, "passed"))).collect();
        clear_old(parent.path());
        let kept = |runs: &[PathBuf]| runs.iter().filter(|run| run.exists()).count();
        assert_eq!((kept(&failed), kept(&passed)), (KEPT, KEPT));
        assert!(failed[22].exists() && passed[25].exists(), "the newest");
        assert!(open.path().exists(), "it goes on");
        assert!(parent.path().join("mine").exists());
        assert!(results.exists());
        assert!(
            !parent.path().join(".gitignore").exists(),
            "the folder had something in it"
        );
        let own = parent.path().join("own");
        RunDir::create(&own, Timestamp::UNIX_EPOCH).expect("created");
        let ignore = fs::read_to_string(own.join(".gitignore"));
        assert_eq!(ignore.expect("written"), "*\n");
    }
}
