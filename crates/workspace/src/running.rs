//! A command that runs beside whoever started it: what it printed so far, and how it ended.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuecard_runtime::process::{ProcessGroup, ProcessSpec};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::commands::{gap, unfinished, warnings};

/// How long what a command started may go on printing after it has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A command that runs, or has run. It is killed with all that it started when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct RunningCommand(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The same as `stderr` if both streams are one.
    stdout: Arc<Mutex<Output>>,
    stderr: Arc<Mutex<Output>>,
    end: watch::Receiver<Option<CommandEnd>>,
    kill: CancellationToken,
}

/// How far both streams of a command were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutputPosition {
    stdout: u64,
    stderr: u64,
}

/// What a command printed after a position. Bytes that aren't UTF-8 are replaced; a mark in front says how much was
/// dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOutput {
    /// Its output.
    pub stdout: String,
    /// Its error output.
    pub stderr: String,
    /// Which streams had bytes that aren't UTF-8, in words.
    pub warnings: Vec<String>,
    /// Whether some of it was dropped.
    pub is_truncated: bool,
    /// Where the next output begins.
    pub position: OutputPosition,
    /// How the command ended, if it had when this was read: then this is all.
    pub end: Option<CommandEnd>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandEnd {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it instead.
    pub signal: Option<i32>,
}

/// What was printed: the end of it, if it is too long.
#[derive(Debug)]
struct Output {
    bytes: Vec<u8>,
    limit: usize,
    n_dropped: u64,
}

impl RunningCommand {
    /// Starts a command, with its standard input closed; both of its streams go to one output, of which the last
    /// `limit` bytes are kept. `inherited` is the environment to choose from, as for [`ProcessGroup::spawn`].
    ///
    /// # Errors
    /// The operating system's.
    pub fn start(
        spec: &ProcessSpec,
        inherited: &[(OsString, OsString)],
        limit: usize,
    ) -> io::Result<Self> {
        let output = Output::new(limit);
        Self::start_into(spec, inherited, output.clone(), output)
    }

    /// The same, with an output for each stream.
    ///
    /// # Errors
    /// The operating system's.
    pub fn start_with_two_outputs(
        spec: &ProcessSpec,
        inherited: &[(OsString, OsString)],
        limit: usize,
    ) -> io::Result<Self> {
        Self::start_into(spec, inherited, Output::new(limit), Output::new(limit))
    }

    fn start_into(
        spec: &ProcessSpec,
        inherited: &[(OsString, OsString)],
        stdout: Arc<Mutex<Output>>,
        stderr: Arc<Mutex<Output>>,
    ) -> io::Result<Self> {
        let group = ProcessGroup::spawn(spec, inherited)?;
        let (ended, end) = watch::channel(None);
        let kill = CancellationToken::new();
        let outputs = [stdout.clone(), stderr.clone()];
        tokio::spawn(run(group, outputs, kill.clone(), ended));
        Ok(Self(Arc::new(Shared {
            stdout,
            stderr,
            end,
            kill,
        })))
    }

    /// What it printed so far on its standard output, or on both streams if they are one. Bytes that aren't UTF-8 are
    /// replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.0.stdout).bytes).into_owned()
    }

    /// The same, with a mark in front that says how much of it was dropped.
    pub fn marked_text(&self) -> String {
        self.output_since(OutputPosition::default(), |_| 0).stdout
    }

    /// Whether the beginning of this output was dropped.
    pub fn is_truncated(&self) -> bool {
        lock(&self.0.stdout).n_dropped > 0
    }

    /// What it printed after `position`; of a command with two outputs. While it runs, as many bytes at the end as
    /// `unfinished` says are left to the next reader.
    pub fn output_since(
        &self,
        position: OutputPosition,
        unfinished: impl Fn(&str) -> usize,
    ) -> NewOutput {
        // First: what is read after the end is all.
        let end = self.end();
        let stdout = lock(&self.0.stdout).since(position.stdout, end.is_some(), &unfinished);
        let stderr = lock(&self.0.stderr).since(position.stderr, end.is_some(), &unfinished);
        NewOutput {
            warnings: warnings(
                [stdout.is_lossy, stderr.is_lossy],
                [stdout.is_truncated, stderr.is_truncated],
            ),
            is_truncated: stdout.is_truncated || stderr.is_truncated,
            position: OutputPosition {
                stdout: stdout.position,
                stderr: stderr.position,
            },
            stdout: stdout.text,
            stderr: stderr.text,
            end,
        }
    }

    /// How it ended, if it has.
    pub fn end(&self) -> Option<CommandEnd> {
        *self.0.end.borrow()
    }

    /// Waits until it has ended.
    pub async fn ended(&self) -> CommandEnd {
        let mut end = self.0.end.clone();
        let ended = end.wait_for(Option::is_some).await;
        ended
            .ok()
            .and_then(|end| *end)
            .unwrap_or(CommandEnd::KILLED)
    }

    /// Kills it with all that it started.
    pub fn kill(&self) {
        self.0.kill.cancel();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.kill.cancel();
    }
}

impl CommandEnd {
    /// Ended by a kill.
    pub const KILLED: Self = Self {
        code: None,
        signal: Some(9),
    };

    /// The exit code as shells tell it: of a signal, 128 and its number.
    pub fn shell_code(self) -> i32 {
        self.code
            .unwrap_or_else(|| 128_i32.saturating_add(self.signal.unwrap_or_default()))
    }
}

impl From<ExitStatus> for CommandEnd {
    fn from(status: ExitStatus) -> Self {
        Self {
            code: status.code(),
            signal: status.signal(),
        }
    }
}

fn lock(output: &Mutex<Output>) -> MutexGuard<'_, Output> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads what a command prints until it ends or is killed; what it left running goes on until the command is dropped.
async fn run(
    mut group: ProcessGroup,
    [stdout, stderr]: [Arc<Mutex<Output>>; 2],
    kill: CancellationToken,
    ended: watch::Sender<Option<CommandEnd>>,
) {
    drop(group.stdin.take());
    let (out, err) = (group.stdout.take(), group.stderr.take());
    let printing = async {
        tokio::join!(print(out, &stdout), print(err, &stderr));
    };
    tokio::pin!(printing);
    let mut is_silent = false;
    let status = loop {
        tokio::select! {
            status = group.wait() => break status.ok(),
            () = kill.cancelled() => break group.kill().await,
            () = &mut printing, if !is_silent => is_silent = true,
        }
    };
    if !is_silent {
        // What it left in the background may hold its streams for long.
        let _ = tokio::time::timeout(LAST_WORDS, printing).await;
    }
    ended.send_replace(Some(status.map_or(CommandEnd::KILLED, CommandEnd::from)));
    kill.cancelled().await;
}

async fn print(stream: Option<impl AsyncRead + Unpin>, output: &Mutex<Output>) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 16 << 10];
    while let Ok(n) = stream.read(&mut buffer).await {
        if n == 0 {
            return;
        }
        lock(output).print(&buffer[..n]);
    }
}

/// What stands in one output after a position.
struct Tail {
    text: String,
    is_lossy: bool,
    is_truncated: bool,
    position: u64,
}

impl Output {
    fn new(limit: usize) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self {
            bytes: Vec::new(),
            limit,
            n_dropped: 0,
        }))
    }

    fn print(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let mut surplus = self.bytes.len().saturating_sub(self.limit);
        if surplus > 0 {
            // Cut between characters.
            while self
                .bytes
                .get(surplus)
                .is_some_and(|byte| byte & 0xC0 == 0x80)
            {
                surplus += 1;
            }
            self.bytes.drain(..surplus);
            self.n_dropped += surplus as u64;
        }
    }

    /// What is not complete yet is left to the next reader, unless this `is_all`.
    fn since(&self, position: u64, is_all: bool, unfinished_text: &dyn Fn(&str) -> usize) -> Tail {
        let start = position.saturating_sub(self.n_dropped);
        let start =
            usize::try_from(start).map_or(self.bytes.len(), |start| start.min(self.bytes.len()));
        let mut new = &self.bytes[start..];
        if !is_all {
            new = &new[..new.len() - unfinished(new)];
        }
        let read = String::from_utf8_lossy(new);
        let n_left = match is_all {
            true => 0,
            false => unfinished_text(&read),
        };
        let n_lost = self.n_dropped.saturating_sub(position);
        let mut text = match n_lost {
            0 => String::new(),
            n_lost => gap(n_lost),
        };
        text.push_str(&read[..read.len() - n_left]);
        // What stands for a byte that is not UTF-8 is longer than that.
        let n_read = new.len().saturating_sub(n_left);
        Tail {
            text,
            is_lossy: matches!(read, Cow::Owned(_)),
            is_truncated: n_lost > 0,
            position: self.n_dropped + (start + n_read) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_output_is_read_from_a_position_in_whole_characters() {
        let output = Output::new(4);
        let mut output = lock(&output);
        output.print(b"a\xC3");
        let tail = output.since(0, false, &|_| 0);
        assert_eq!((tail.text.as_str(), tail.position), ("a", 1));
        let torn = output.since(1, true, &|_| 0);
        assert_eq!((torn.text.as_str(), torn.is_lossy), ("\u{FFFD}", true));
        output.print(b"\xA9");
        let tail = output.since(1, false, &|_| 0);
        assert_eq!(
            (tail.text.as_str(), tail.is_lossy, tail.is_truncated),
            ("é", false, false)
        );
        output.print(b"0123456");
        let tail = output.since(tail.position, false, &|_| 0);
        assert_eq!(
            (tail.text.as_str(), tail.is_truncated, tail.position),
            ("[… 3 bytes dropped …]\n3456", true, 10)
        );
        // A beginning that is longer than what stands there is left as a whole.
        output.print(b"\xFF");
        let tail = output.since(10, false, &|_| 3);
        assert_eq!((tail.text.as_str(), tail.position), ("", 10));
    }
}
