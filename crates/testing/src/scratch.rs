//! A throw-away place to run the program in: a working directory, a home and an environment of its own.
//!
//! Nothing is waited for by sleeping: output and exit arrive as events. Each command has a time limit, after
//! which it is killed, and whatever it leaves running is found, reported and killed too.

mod left_behind;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Component, Path, PathBuf};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;

use crate::normalise::Context;

/// How long a command may take unless [`Scratch::limit`] says otherwise.
pub const TIME_LIMIT: Duration = Duration::from_secs(240);

/// Output beyond this many bytes per stream is read and dropped, so that a flood can't fill the memory.
const MAX_OUTPUT: usize = 64 << 20;

/// Folders nested deeper than this are not copied: a case has no use for them.
const MAX_DEPTH: usize = 32;

/// Held for reading while a file is written, and for writing while a process is started: a process that starts
/// while another thread writes a script inherits the open file for a moment, and then nobody can run the script
/// (`Text file busy`).
static STARTING: RwLock<()> = RwLock::new(());

/// A fresh folder with `work`, `home` and `tmp` in it, and the program to run there.
///
/// Everything is removed when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    program: PathBuf,
    root: PathBuf,
    env: BTreeMap<OsString, OsString>,
    limit: Duration,
    _guard: TempDir,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It exited by itself with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It was killed at its time limit.
    TimedOut(Duration),
}

/// What a command left when it was over.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// Standard output; invalid UTF-8 is replaced.
    pub stdout: String,
    /// Standard error; invalid UTF-8 is replaced.
    pub stderr: String,
    /// Processes that outlived it, as `id command line`. They have been killed. Found on Linux only, by the
    /// `HOME` they inherited.
    pub left_behind: Vec<String>,
}

/// A command that is still running. Dropping it kills its process group.
#[derive(Debug)]
pub struct Running {
    /// The write end of its standard input; drop it to close the pipe.
    pub stdin: Option<ChildStdin>,
    id: Pid,
    shared: Arc<Shared>,
    home: PathBuf,
    limit: Duration,
}

impl Scratch {
    /// An empty place to run `program` in.
    ///
    /// The environment is `PATH` as it is here, `HOME` and `TMPDIR` in the scratch folder, `LANG=C.UTF-8`
    /// and `TZ=UTC`, nothing else.
    ///
    /// # Errors
    /// When the folders can't be made.
    pub fn new(program: &Path) -> io::Result<Self> {
        let guard = tempfile::Builder::new().prefix("cuecard-test-").tempdir()?;
        // Programs report canonical paths; the normaliser must know the same ones.
        let root = guard.path().canonicalize()?;
        for name in ["work", "home", "tmp"] {
            fs::create_dir(root.join(name))?;
        }
        let mut env = BTreeMap::from([
            ("HOME".into(), root.join("home").into()),
            ("TMPDIR".into(), root.join("tmp").into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("TZ".into(), "UTC".into()),
        ]);
        if let Some(path) = std::env::var_os("PATH") {
            env.insert("PATH".into(), path);
        }
        Ok(Self {
            program: program.to_path_buf(),
            root,
            env,
            limit: TIME_LIMIT,
            _guard: guard,
        })
    }

    /// The working directory of the commands.
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The home directory of the commands.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Sets a variable of the commands' environment.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> &mut Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Changes the time limit of the commands started from now on.
    pub fn limit(&mut self, limit: Duration) -> &mut Self {
        self.limit = limit;
        self
    }

    /// Writes a file at a path relative to the working directory, folders included, and gives its full path.
    ///
    /// # Errors
    /// When the path is absolute or has `..` in it, or the file can't be written.
    pub fn write(
        &self,
        relative: impl AsRef<Path>,
        content: impl AsRef<[u8]>,
    ) -> io::Result<PathBuf> {
        let path = self.work().join(inside(relative.as_ref())?);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let _writing = STARTING.read().unwrap_or_else(PoisonError::into_inner);
        fs::write(&path, content)?;
        Ok(path)
    }

    /// Copies what is in the folder `from` into the working directory; permissions and links are kept.
    ///
    /// # Errors
    /// When something can't be read or written, or folders are nested too deep.
    pub fn copy_tree(&self, from: &Path) -> io::Result<()> {
        let _writing = STARTING.read().unwrap_or_else(PoisonError::into_inner);
        copy_folder(from, &self.work(), MAX_DEPTH)
    }

    /// A normaliser's context that knows this place, this repository and the moment of this call.
    ///
    /// Times from before the call are left as they are, so that authored dates stay visible: make it before
    /// the first command.
    pub fn context(&self) -> Context {
        Context::default()
            .path(self.work(), "$DIR")
            .path(self.home(), "$HOME")
            .path(self.root.join("tmp"), "$TMP")
            .path(&self.root, "$ABOVE")
            .path(crate::repository_root(), "$REPO")
            .version(env!("CARGO_PKG_VERSION"))
            .since_now()
    }

    /// Runs the program with empty standard input until it is over.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn run<A: AsRef<OsStr>>(&self, args: &[A]) -> io::Result<Finished> {
        self.run_with_input(args, b"")
    }

    /// Runs the program with `input` on its standard input until it is over. A program that doesn't read it
    /// all is no error.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn run_with_input<A: AsRef<OsStr>>(
        &self,
        args: &[A],
        input: &[u8],
    ) -> io::Result<Finished> {
        let mut running = self.start(args)?;
        let stdin = running.stdin.take();
        let input = input.to_vec();
        let writer = thread::spawn(move || {
            if let Some(mut pipe) = stdin {
                // A closed pipe means that the program has read what it wanted.
                let _ = pipe.write_all(&input);
            }
        });
        let finished = running.finish();
        // Nothing reads the pipe any more, so the writer has ended or is about to.
        let _ = writer.join();
        Ok(finished)
    }

    /// Starts the program in a process group of its own, with its standard input open.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn start<A: AsRef<OsStr>>(&self, args: &[A]) -> io::Result<Running> {
        let starting = STARTING.write().unwrap_or_else(PoisonError::into_inner);
        let mut child = Command::new(&self.program)
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .envs(&self.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        drop(starting);
        let id = Pid::from_child(&child);
        let shared = Arc::new(Shared::default());
        follow(child.stdout.take(), &shared, |state| &mut state.stdout);
        follow(child.stderr.take(), &shared, |state| &mut state.stderr);
        let stdin = child.stdin.take();
        let waiter = Arc::clone(&shared);
        thread::spawn(move || {
            let status = child.wait();
            waiter.change(|state| state.ended = Some(status.ok()));
        });
        Ok(Running {
            stdin,
            id,
            shared,
            home: self.home(),
            limit: self.limit,
        })
    }
}

impl Finished {
    /// The exit code, if it exited by itself.
    pub fn code(&self) -> Option<i32> {
        match self.ended {
            Ended::Exited(code) => Some(code),
            Ended::Signalled(_) | Ended::TimedOut(_) => None,
        }
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "{code}"),
            Self::Signalled(signal) => write!(f, "signal {signal}"),
            Self::TimedOut(limit) => write!(f, "killed, still running after {} s", limit.as_secs()),
        }
    }
}

impl Running {
    /// The process id, which is the group's id too.
    pub fn id(&self) -> i32 {
        self.id.as_raw_nonzero().get()
    }

    /// Its standard input, once: what is written there is sent, and dropping it closes it.
    pub fn take_input(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// Waits until `reached` is true for what it has written so far to standard output and standard error.
    /// False when it ended, or its time limit passed, before that.
    pub fn wait_for(&self, mut reached: impl FnMut(&str, &str) -> bool) -> bool {
        let mut seen = false;
        let wait = |state: &mut State| {
            seen = reached(
                &String::from_utf8_lossy(&state.stdout.bytes),
                &String::from_utf8_lossy(&state.stderr.bytes),
            );
            !seen && !state.over()
        };
        drop(self.shared.wait_while(self.limit, wait));
        seen
    }

    /// Sends SIGINT to the program alone, as Ctrl-C does to a program without children in its group.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Sends SIGTERM to the program alone.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends SIGHUP to the program alone, as to the first process of a terminal that is closed.
    pub fn hang_up(&self) {
        self.signal(Signal::HUP);
    }

    /// Sends SIGKILL to the program alone: it gets no chance to tidy up.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Closes standard input and waits until it is over, at most for the time limit.
    pub fn finish(mut self) -> Finished {
        self.stdin = None;
        let in_time = {
            let state = self
                .shared
                .wait_while(self.limit, |state| state.ended.is_none());
            state.ended.is_some()
        };
        if !in_time {
            self.kill_group();
            drop(
                self.shared
                    .wait_while(TIME_LIMIT, |state| state.ended.is_none()),
            );
        }
        let left_behind = left_behind::find_and_kill(&self.home);
        // Whoever held the pipes is gone; what is in them still arrives.
        let mut state = self.shared.wait_while(TIME_LIMIT, |state| !state.over());
        let ended = match state.ended.flatten() {
            _ if !in_time => Ended::TimedOut(self.limit),
            Some(status) => ended(status),
            None => Ended::Signalled(0),
        };
        Finished {
            ended,
            stdout: state.stdout.take_text(),
            stderr: state.stderr.take_text(),
            left_behind,
        }
    }

    fn signal(&self, signal: Signal) {
        // While the status is not there the process has not been reaped, so the id is still its own.
        if self.shared.state().ended.is_none() {
            let _ = kill_process(self.id, signal);
        }
    }

    fn kill_group(&self) {
        if self.shared.state().ended.is_none() {
            let _ = kill_process_group(self.id, Signal::KILL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill_group();
    }
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, signal) => Ended::Signalled(signal.unwrap_or(0)),
    }
}

/// What the threads that follow a command report, and the bell they ring.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    stdout: Stream,
    stderr: Stream,
    /// `Some(None)` when the status could not be had.
    ended: Option<Option<ExitStatus>>,
}

#[derive(Debug, Default)]
struct Stream {
    bytes: Vec<u8>,
    closed: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    fn wait_while(
        &self,
        limit: Duration,
        condition: impl FnMut(&mut State) -> bool,
    ) -> MutexGuard<'_, State> {
        self.changed
            .wait_timeout_while(self.state(), limit, condition)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}

impl State {
    fn over(&self) -> bool {
        self.ended.is_some() && self.stdout.closed && self.stderr.closed
    }
}

impl Stream {
    fn take_text(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.bytes)).into_owned()
    }
}

fn follow(
    pipe: Option<impl Read + Send + 'static>,
    shared: &Arc<Shared>,
    stream: fn(&mut State) -> &mut Stream,
) {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        if let Some(mut pipe) = pipe {
            let mut chunk = vec![0_u8; 16 << 10];
            while let Ok(read @ 1..) = pipe.read(&mut chunk) {
                shared.change(|state| {
                    let bytes = &mut stream(state).bytes;
                    let room = MAX_OUTPUT.saturating_sub(bytes.len());
                    bytes.extend_from_slice(&chunk[..read.min(room)]);
                });
            }
        }
        shared.change(|state| stream(state).closed = true);
    });
}

/// The path itself, if it is relative and stays inside whatever it is joined to.
pub(crate) fn inside(relative: &Path) -> io::Result<&Path> {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if relative.components().all(plain) {
        Ok(relative)
    } else {
        Err(io::Error::other(format!(
            "`{}` must be a relative path without `..`",
            relative.display()
        )))
    }
}

fn copy_folder(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    if depth == 0 {
        return Err(io::Error::other(format!(
            "`{}` is nested too deep",
            from.display()
        )));
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &target, depth - 1)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell() -> Scratch {
        Scratch::new(Path::new("/bin/sh")).expect("a temporary folder")
    }

    #[test]
    fn a_command_sees_its_own_folders_and_no_foreign_variable() {
        let mut scratch = shell();
        scratch.set("GIVEN", "yes");
        scratch.write("a/b.txt", "hello").expect("writable");
        let script =
            "pwd; echo $HOME; echo \"$GIVEN|$CARGO_MANIFEST_DIR|$TZ\"; cat a/b.txt; cat; exit 3";
        let finished = scratch
            .run_with_input(&["-c", script], b" and input")
            .expect("sh starts");
        let work = scratch.work();
        let home = scratch.home();
        assert_eq!(
            finished.stdout,
            format!(
                "{}\n{}\nyes||UTC\nhello and input",
                work.display(),
                home.display()
            )
        );
        assert_eq!(finished.ended, Ended::Exited(3));
        assert_eq!(finished.left_behind, Vec::<String>::new());
        assert!(scratch.write("../x", "").is_err());
        assert!(scratch.write("/x", "").is_err());
    }

    #[test]
    fn input_that_nobody_reads_is_no_error() {
        let input = vec![b'x'; 1 << 20];
        let finished = shell()
            .run_with_input(&["-c", "exit 0"], &input)
            .expect("sh starts");
        assert_eq!(finished.ended, Ended::Exited(0));
    }

    #[test]
    fn a_hanging_command_is_killed_with_its_children() {
        let mut scratch = shell();
        scratch.limit(Duration::from_millis(200));
        let finished = scratch
            .run(&["-c", "sleep 600 & sleep 600"])
            .expect("sh starts");
        assert!(matches!(finished.ended, Ended::TimedOut(_)), "{finished:?}");
        assert_eq!(finished.code(), None);
        assert_eq!(finished.left_behind, Vec::<String>::new());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_left_behind_is_named_and_killed() {
        let scratch = shell();
        let finished = scratch
            .run(&["-c", "setsid sleep 601 </dev/null >/dev/null 2>&1 & exit 0"])
            .expect("sh starts");
        assert_eq!(finished.ended, Ended::Exited(0));
        assert_eq!(finished.left_behind.len(), 1, "{finished:?}");
        assert!(
            finished.left_behind[0].ends_with("sleep 601"),
            "{finished:?}"
        );
        assert_eq!(
            left_behind::find_and_kill(&scratch.home()),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_running_command_is_awaited_by_its_output_and_told_to_end() {
        let scratch = shell();
        let script =
            // Not SIGINT: whoever runs the tests in the background may have it ignored, and a shell can't undo that.
            "trap 'echo caught; exit 143' TERM; echo ready; while :; do read line || sleep 1; done";
        let running = scratch.start(&["-c", script]).expect("sh starts");
        assert!(running.wait_for(|stdout, _| stdout.contains("ready\n")));
        running.terminate();
        let finished = running.finish();
        assert_eq!(finished.ended, Ended::Exited(143), "{finished:?}");
        assert_eq!(finished.stdout, "ready\ncaught\n");

        let gone = scratch.start(&["-c", "echo other"]).expect("sh starts");
        assert!(!gone.wait_for(|stdout, _| stdout.contains("ready")));
    }

    #[test]
    fn a_tree_is_copied_with_links_and_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let from = shell();
        let script = from
            .write("bin/tool", "#!/bin/sh\necho ran\n")
            .expect("writable");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("allowed");
        std::os::unix::fs::symlink("bin/tool", from.work().join("link")).expect("allowed");
        let to = shell();
        to.copy_tree(&from.work()).expect("copied");
        let finished = to.run(&["-c", "./link"]).expect("sh starts");
        assert_eq!(finished.stdout, "ran\n");
        assert!(to.work().join("link").is_symlink());
    }
}
