//! The one process spawner: every child leads a process group of its own, and no group outlives us.
//!
//! A child ends in one of four ways: it exits by itself, [`ProcessGroup::shut_down`] ends it politely,
//! dropping the [`ProcessGroup`] kills it, or [`kill_all`] does (on a panic or a second Ctrl-C). In each
//! case the whole group is killed, so a grandchild that stays behind goes too; on Linux also one that left the
//! group. Should this process be killed itself, Linux ends the group's leader (parent-death signal).

#[cfg(target_os = "linux")]
mod escaped;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub use pty_process::{OwnedReadPty, OwnedWritePty, Pty, Size};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// The variables a child inherits; everything else must be given by name.
pub const INHERITED: &[&str] = &[
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "SYSTEMROOT",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
];

/// How long each killed process is waited for.
#[cfg(target_os = "linux")]
const DYING: Duration = Duration::from_millis(500);

static LIVE_GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
/// A command of the user's runs on our terminal: what it leaves behind is the user's affair.
static RUNS_USER_COMMAND: AtomicBool = AtomicBool::new(false);

/// What to start.
#[derive(Debug, Clone, Default)]
pub struct ProcessSpec {
    /// A program name looked up in `PATH`, or a path.
    pub program: OsString,
    /// Its arguments, passed as they are.
    pub args: Vec<OsString>,
    /// Variables beside the inherited allow-list; a later entry of the same name wins.
    pub env: Vec<(OsString, OsString)>,
    /// Working directory; ours if absent.
    pub cwd: Option<PathBuf>,
}

/// A running child with its process group and its three pipes.
#[derive(Debug)]
pub struct ProcessGroup {
    child: Child,
    group: i32,
    /// What its processes have in their environment; nothing if only the leader is ours to end.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "processes that left are found on Linux only")
    )]
    marker: Option<String>,
    /// Those that left the group and were killed.
    #[cfg(target_os = "linux")]
    escaped: BTreeSet<i32>,
    /// Standard input; take it, and drop it to close the pipe.
    pub stdin: Option<ChildStdin>,
    /// Standard output.
    pub stdout: Option<ChildStdout>,
    /// Standard error.
    pub stderr: Option<ChildStderr>,
}

impl ProcessGroup {
    /// Starts `spec` with all three streams piped, in a session of its own: it can't ask on the user's terminal, where nobody
    /// could answer, and fails there as it does where there is none. `inherited` is the environment to choose from: a
    /// snapshot taken by the command line, never read here.
    ///
    /// # Errors
    /// The operating system's, for example `NotFound` when there is no such program.
    pub fn spawn(spec: &ProcessSpec, inherited: &[(OsString, OsString)]) -> io::Result<Self> {
        let is_allowed = |name: &OsString| INHERITED.iter().any(|allowed| name == allowed);
        let inherited = inherited.iter().filter(|(name, _)| is_allowed(name));
        let mut command = command(spec, inherited);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        leave_terminal(&mut command);
        Self::start(command, true)
    }

    /// Starts `spec` in a terminal of its own, which is the controlling one of its session: what is written to the
    /// [`Pty`] is typed, what is read from it was printed. `environment` is all that the program finds.
    ///
    /// # Errors
    /// As [`ProcessGroup::spawn`], and when there is no terminal to be had.
    pub fn spawn_in_terminal(
        spec: &ProcessSpec,
        (columns, rows): (u16, u16),
    ) -> io::Result<(Self, Pty)> {
        let of_terminal = |error: pty_process::Error| match error {
            pty_process::Error::Io(error) => error,
            error => io::Error::other(error),
        };
        let (pty, terminal) = pty_process::open().map_err(of_terminal)?;
        pty.resize(pty_process::Size::new(rows, columns))
            .map_err(of_terminal)?;
        let group = Self::start_with(command(spec, []), true, |command| {
            pty_process::Command::from(command)
                .spawn(terminal)
                .map_err(of_terminal)
        })?;
        Ok((group, pty))
    }

    /// Starts a command of the user's on our own standard streams, with all of `environment` and the variables of
    /// `spec` over it. On a terminal it stays in our group, since no other may read from there; then only the command
    /// itself is ended, and Ctrl-C reaches it as it reaches us.
    ///
    /// # Errors
    /// As [`ProcessGroup::spawn`].
    pub fn attach(
        spec: &ProcessSpec,
        environment: &[(OsString, OsString)],
        is_terminal: bool,
    ) -> io::Result<Self> {
        let mut command = command(spec, environment);
        if is_terminal {
            RUNS_USER_COMMAND.store(true, Ordering::Relaxed);
        } else {
            command.process_group(0);
        }
        Self::start(command, !is_terminal)
    }

    /// Starts `command`; what leaves its group is to be found if it `is_marked`.
    fn start(command: Command, is_marked: bool) -> io::Result<Self> {
        Self::start_with(command, is_marked, |mut command| command.spawn())
    }

    fn start_with(
        mut command: Command,
        is_marked: bool,
        spawn: impl FnOnce(Command) -> io::Result<Child>,
    ) -> io::Result<Self> {
        die_with_parent(&mut command);
        let marker = is_marked.then(|| mark(&mut command));
        let mut child = spawn(command)?;
        let group = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .ok_or_else(|| io::Error::other("the child has no process id"))?;
        live_groups().insert(group);
        Ok(Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            group,
            marker,
            #[cfg(target_os = "linux")]
            escaped: BTreeSet::new(),
        })
    }

    /// The process id of the group's leader, which is the group's id too.
    pub fn id(&self) -> i32 {
        self.group
    }

    /// Waits until the leader exits. Safe to drop and call again.
    ///
    /// # Errors
    /// The operating system's, should waiting fail.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// The leader's status if it has exited already.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Ends the group: closes standard input, waits `grace` for the leader, asks with SIGTERM, waits
    /// `grace` once more, kills. What is left of the group is killed in every case.
    pub async fn shut_down(mut self, grace: Duration) -> Option<ExitStatus> {
        self.stdin = None;
        if let Ok(Ok(status)) = tokio::time::timeout(grace, self.child.wait()).await {
            return Some(status);
        }
        signal_group(self.group, Signal::TERM);
        if let Ok(Ok(status)) = tokio::time::timeout(grace, self.child.wait()).await {
            return Some(status);
        }
        self.kill().await
    }

    /// Asks the group to end (SIGTERM).
    pub fn terminate(&self) {
        signal_group(self.group, Signal::TERM);
    }

    /// Tells the group that its terminal is gone (SIGHUP). What inherited from us that it ignores this is asked to end.
    pub fn hang_up(&self) {
        signal_group(self.group, Signal::HUP);
        if ignores_hangup() {
            self.terminate();
        }
    }

    /// Kills the group; the leader is still to be waited for.
    pub fn signal_kill(&mut self) {
        self.end();
    }

    /// Kills the whole group at once and reaps the leader.
    pub async fn kill(mut self) -> Option<ExitStatus> {
        self.end();
        let status = self.child.wait().await.ok();
        // Who asks for a process that was killed is not told that it is still there.
        #[cfg(target_os = "linux")]
        if !self.escaped.is_empty() {
            let killed = std::mem::take(&mut self.escaped);
            let reaped = tokio::task::spawn_blocking(move || escaped::reap_killed(&killed, DYING));
            let _ = reaped.await;
        }
        status
    }

    fn end(&mut self) {
        // Those that left are sought when this is called first: that reads all of `/proc`.
        #[cfg(target_os = "linux")]
        let marker = self.marker.take();
        // First while their ancestor says whose they are.
        #[cfg(target_os = "linux")]
        if let (Some(marker), Some(_)) = (&marker, self.child.id()) {
            self.escaped.extend(escaped::kill_of(self.group, marker));
        }
        signal_group(self.group, Signal::KILL);
        #[cfg(target_os = "linux")]
        if let Some(marker) = &marker {
            self.escaped.extend(escaped::kill_of(self.group, marker));
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
        live_groups().remove(&self.group);
    }
}

/// The command of `spec`, with the variables of `environment` below its own and no others.
fn command<'e>(
    spec: &'e ProcessSpec,
    environment: impl IntoIterator<Item = &'e (OsString, OsString)>,
) -> Command {
    let mut command = Command::new(&spec.program);
    let variables = environment.into_iter().chain(&spec.env);
    command
        .args(&spec.args)
        .env_clear()
        .envs(variables.map(|(name, value)| (name, value)))
        .kill_on_drop(true);
    if let Some(cwd) = &spec.cwd {
        command.current_dir(cwd);
    }
    command
}

/// Kills every group that is still alive, and what left one before. For the end, the panic hook and an impatient user.
pub fn kill_all() {
    for group in std::mem::take(&mut *live_groups()) {
        signal_group(group, Signal::KILL);
    }
    #[cfg(target_os = "linux")]
    if !RUNS_USER_COMMAND.load(Ordering::Relaxed) {
        escaped::kill_all();
    }
}

fn live_groups() -> std::sync::MutexGuard<'static, BTreeSet<i32>> {
    LIVE_GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn signal_group(group: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(group) {
        // A group that has gone already is what we want.
        let _ = kill_process_group(pid, signal);
    }
}

/// Gives the processes of a command something to be known by.
#[cfg(target_os = "linux")]
fn mark(command: &mut Command) -> String {
    use std::sync::atomic::AtomicU64;

    static NEXT: AtomicU64 = AtomicU64::new(0);
    escaped::adopt_orphans();
    escaped::reap_orphans();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let marker = format!("{}.{number}", std::process::id());
    command.env(escaped::VARIABLE, &marker);
    marker
}

#[cfg(not(target_os = "linux"))]
fn mark(_command: &mut Command) -> String {
    String::new()
}

/// Returns whether we were started to outlive the terminal, with `nohup`.
pub fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "pre_exec is the only way to set the parent-death signal in the child"
)]
fn die_with_parent(command: &mut Command) {
    // SAFETY: the closure makes one system call (prctl), which is async-signal-safe, and allocates nothing.
    unsafe {
        command.pre_exec(|| {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
                .map_err(io::Error::from)
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_command: &mut Command) {}

#[expect(
    unsafe_code,
    reason = "pre_exec is the only way to begin a session in the child"
)]
fn leave_terminal(command: &mut Command) {
    // SAFETY: the closure makes one system call (setsid), which is async-signal-safe, and allocates nothing.
    unsafe {
        command.pre_exec(|| match rustix::process::setsid() {
            Ok(_) => Ok(()),
            Err(error) => Err(io::Error::from(error)),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

    fn shell(script: &str) -> ProcessSpec {
        ProcessSpec {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            ..ProcessSpec::default()
        }
    }

    async fn output(mut group: ProcessGroup) -> String {
        let mut text = String::new();
        let mut stdout = group.stdout.take().expect("piped");
        stdout.read_to_string(&mut text).await.expect("readable");
        text
    }

    fn alive(pid: i32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_program_has_a_session_of_its_own_and_so_no_terminal() {
        let script = "cut -d' ' -f5,6 /proc/$$/stat; echo $$";
        let group = ProcessGroup::spawn(&shell(script), &[]).expect("sh starts");
        let printed = output(group).await;
        let numbers: Vec<&str> = printed.split_whitespace().collect();
        assert_eq!(numbers.len(), 3, "{printed}");
        assert!(
            numbers.iter().all(|number| number == &numbers[2]),
            "{printed}"
        );
    }

    #[tokio::test]
    async fn a_child_sees_the_allow_list_and_its_own_variables_only() {
        let mut spec = shell("echo \"$PATH|$CUECARD_TEST_LEAK|$GIVEN\"");
        spec.env.push(("GIVEN".into(), "yes".into()));
        let inherited = vec![
            ("PATH".into(), "/bin:/usr/bin".into()),
            ("CUECARD_TEST_LEAK".into(), "secret".into()),
        ];
        let group = ProcessGroup::spawn(&spec, &inherited).expect("sh starts");
        assert_eq!(output(group).await, "/bin:/usr/bin||yes\n");
    }

    #[tokio::test]
    async fn a_leader_that_ignores_term_and_its_grandchild_both_go() {
        let mut group = ProcessGroup::spawn(
            &shell("trap '' TERM; sleep 600 & echo $!; while :; do wait; done"),
            &[],
        )
        .expect("sh starts");
        let mut line = [0_u8; 16];
        let read = group
            .stdout
            .as_mut()
            .expect("piped")
            .read(&mut line)
            .await
            .expect("readable");
        let grandchild: i32 = String::from_utf8_lossy(&line[..read])
            .trim()
            .parse()
            .expect("a pid");
        assert!(alive(grandchild));
        let leader = group.id();
        group.shut_down(Duration::from_millis(50)).await;
        assert!(!alive(leader));
        // The grandchild is init's to reap; it is dead or a zombie once the signal is delivered.
        while alive(grandchild) {
            tokio::task::yield_now().await;
        }
    }

    /// Starts `script`, which prints the number of a process that left the group, and lets `end` end the group.
    #[cfg(target_os = "linux")]
    async fn ends_stray<F: Future>(script: &str, end: impl FnOnce(ProcessGroup) -> F) {
        let environment = [("PATH".into(), "/bin:/usr/bin".into())];
        let mut group = ProcessGroup::spawn(&shell(script), &environment).expect("sh starts");
        let mut lines = BufReader::new(group.stdout.take().expect("piped")).lines();
        let line = lines.next_line().await.expect("readable").expect("a line");
        let stray: i32 = line.trim().parse().expect("a pid");
        assert!(alive(stray), "{script}");
        end(group).await;
        let gone = async {
            while alive(stray) {
                tokio::task::yield_now().await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(10), gone).await;
        in_time.expect(script);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn orphans_that_ended_are_reaped_when_the_next_group_starts() {
        let stat = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/stat"));
        let script = "(sh -c 'echo $$' &); exec sleep 600";
        let environment = [("PATH".into(), "/bin:/usr/bin".into())];
        let mut group = ProcessGroup::spawn(&shell(script), &environment).expect("sh starts");
        let mut lines = BufReader::new(group.stdout.take().expect("piped")).lines();
        let orphan = lines.next_line().await.expect("readable").expect("a line");
        // Another test may have reaped it already.
        while stat(orphan.trim()).is_ok_and(|stat| !stat.contains(") Z ")) {
            tokio::task::yield_now().await;
        }
        // The system may leave a child out of its list while others end.
        let mut next = Vec::new();
        let reaped = async {
            while stat(orphan.trim()).is_ok() {
                next.push(ProcessGroup::spawn(&shell("exit"), &[]).expect("sh starts"));
                tokio::task::yield_now().await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(10), reaped).await;
        in_time.expect("it is reaped");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn what_left_the_group_is_ended_with_it() {
        let sleeper = "setsid sh -c 'echo $$; exec sleep 600'";
        for script in [
            format!("{sleeper} & wait"),
            // The one that forked is gone.
            format!("({sleeper} &); exec sleep 600"),
        ] {
            ends_stray(&script, |group| async { drop(group) }).await;
            ends_stray(&script, ProcessGroup::kill).await;
            ends_stray(&script, |group| group.shut_down(Duration::from_millis(20))).await;
        }
        // Its environment says nothing, but its parent does.
        let script = "env -i PATH=/bin:/usr/bin setsid sh -c 'echo $$; exec sleep 600' & wait";
        ends_stray(script, |group| async { drop(group) }).await;
    }

    #[tokio::test]
    async fn a_missing_program_is_not_found() {
        let spec = ProcessSpec {
            program: "cuecard-no-such-program".into(),
            ..ProcessSpec::default()
        };
        let error = ProcessGroup::spawn(&spec, &[]).expect_err("there is none");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
