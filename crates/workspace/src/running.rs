//! A command that runs beside whoever started it: what it printed so far, and how it ended.

use std::borrow::Cow;
use std::collections::VecDeque;
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

/// How long output is still read when a command has ended: what it wrote is in the pipes by then, and whoever else keeps
/// them open is not waited for.
const DRAIN: Duration = Duration::from_millis(100);
/// How long a killed command may take to be gone. Only one that hangs inside the system takes any time.
const REAP: Duration = Duration::from_secs(1);

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

/// What was printed: the beginning and the end of it, if it is too long.
#[derive(Debug)]
struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    max_head: usize,
    max_tail: usize,
    /// The bytes that were dropped between them.
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
        let output = Output::new(0, limit);
        Self::start_into(spec, inherited, output.clone(), output)
    }

    /// The same, with an output for each stream, of which so many of the first and of the last bytes are kept.
    ///
    /// # Errors
    /// The operating system's.
    pub(super) fn start_with_two_outputs(
        spec: &ProcessSpec,
        inherited: &[(OsString, OsString)],
        [max_head, max_tail]: [usize; 2],
    ) -> io::Result<Self> {
        let output = || Output::new(max_head, max_tail);
        Self::start_into(spec, inherited, output(), output())
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
        tokio::spawn(run(ended, kill.clone(), outputs, group));
        Ok(Self(Arc::new(Shared {
            stdout,
            stderr,
            end,
            kill,
        })))
    }

    /// What is kept of the end of what it printed so far. Bytes that aren't UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(lock(&self.0.stdout).tail.make_contiguous()).into_owned()
    }

    /// All that is kept, with a mark that says how much of it was dropped.
    pub fn marked_text(&self) -> String {
        self.output_since(OutputPosition::default(), |_| 0).stdout
    }

    /// Whether some of this output was dropped.
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

    /// The same, and waits until all of it is gone, a second at most.
    pub(super) async fn stop(&self) {
        self.kill();
        let mut end = self.0.end.clone();
        let gone = async { while end.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(REAP, gone).await;
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
/// The group is dropped before `ended`, for which [`RunningCommand::stop`] waits.
async fn run(
    ended: watch::Sender<Option<CommandEnd>>,
    kill: CancellationToken,
    [stdout, stderr]: [Arc<Mutex<Output>>; 2],
    mut group: ProcessGroup,
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
        let _ = tokio::time::timeout(DRAIN, printing).await;
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
struct Part {
    text: String,
    is_lossy: bool,
    is_truncated: bool,
    position: u64,
}

impl Output {
    fn new(max_head: usize, max_tail: usize) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            max_head,
            max_tail,
            n_dropped: 0,
        }))
    }

    fn print(&mut self, bytes: &[u8]) {
        let room = self.max_head - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(self.max_tail);
        if surplus > 0 {
            self.tail.drain(..surplus);
            self.n_dropped += surplus as u64;
            // Halves of characters go with what was dropped.
            self.n_dropped += unfinished(&self.head) as u64;
            self.head.truncate(self.head.len() - unfinished(&self.head));
            self.max_head = self.head.len();
            while self.tail.front().is_some_and(|byte| is_continuation(*byte)) {
                self.tail.pop_front();
                self.n_dropped += 1;
            }
        }
    }

    /// What is not complete yet is left to the next reader, unless this `is_all`.
    fn since(
        &mut self,
        position: u64,
        is_all: bool,
        unfinished_text: &dyn Fn(&str) -> usize,
    ) -> Part {
        let from = |start: u64, length: usize| {
            let from = usize::try_from(position.saturating_sub(start));
            from.map_or(length, |from| from.min(length))
        };
        let n_head = self.head.len() as u64;
        let tail_start = n_head + self.n_dropped;
        let end = tail_start + self.tail.len() as u64;
        let (head_from, tail_from) = (from(0, self.head.len()), from(tail_start, self.tail.len()));
        let (head, tail) = (
            &self.head[head_from..],
            &self.tail.make_contiguous()[tail_from..],
        );
        let n_lost = tail_start - position.max(n_head).min(tail_start);
        let (before, new) = match n_lost {
            0 => (Cow::Borrowed(""), [head, tail].concat()),
            _ => (String::from_utf8_lossy(head), tail.to_vec()),
        };
        let whole = match is_all {
            true => &new[..],
            false => &new[..new.len() - unfinished(&new)],
        };
        let read = String::from_utf8_lossy(whole);
        let n_left = match is_all {
            true => 0,
            false => unfinished_text(&read),
        };
        let mut text = before.to_string();
        if n_lost > 0 {
            let line_end = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{line_end}[… {n_lost} bytes dropped …]\n"));
        }
        text.push_str(&read[..read.len() - n_left]);
        let is_lossy = [&before, &read].map(|text| matches!(text, Cow::Owned(_)));
        // What stands for a byte that is not UTF-8 is longer than that.
        let n_read = whole.len().saturating_sub(n_left);
        Part {
            text,
            is_lossy: is_lossy.contains(&true),
            is_truncated: n_lost > 0,
            position: end - (new.len() - n_read) as u64,
        }
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// How many bytes at the end begin a character of UTF-8 that lacks its rest.
pub(super) fn unfinished(bytes: &[u8]) -> usize {
    for (back, byte) in bytes.iter().rev().take(3).enumerate() {
        if is_continuation(*byte) {
            continue;
        }
        let width = match byte {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 1,
        };
        return if width > back + 1 { back + 1 } else { 0 };
    }
    0
}

/// Says of which streams, `stdout` and `stderr`, bytes were replaced, and which were longer than what is kept.
fn warnings(is_lossy: [bool; 2], is_cut: [bool; 2]) -> Vec<String> {
    let streams = ["stdout", "stderr"].into_iter().zip(is_lossy).zip(is_cut);
    let said = streams.flat_map(|((stream, is_lossy), is_cut)| {
        let lossy = format!("`{stream}` is not valid UTF-8: bytes were replaced by U+FFFD");
        let cut = format!("`{stream}` is too long: a part of it was dropped");
        [is_lossy.then_some(lossy), is_cut.then_some(cut)]
    });
    said.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_output_is_read_from_a_position_in_whole_characters() {
        let output = Output::new(0, 4);
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
    #[test]
    fn the_beginning_and_the_end_are_kept_in_whole_characters() {
        let kept = |limit: usize, pieces: &[&[u8]]| {
            let output = Output::new(limit / 2, limit - limit / 2);
            let mut output = lock(&output);
            pieces.iter().for_each(|piece| output.print(piece));
            output.since(0, true, &|_| 0).text
        };
        let pieces: Vec<&[u8]> = "ééééééééé".as_bytes().chunks(3).collect();
        assert_eq!(kept(10, &pieces), "éé\n[… 10 bytes dropped …]\néé");
        assert_eq!(kept(0, &[b"abc"]), "[… 3 bytes dropped …]\n");
        assert_eq!(kept(4, &[b"ab", b"cd"]), "abcd");
    }

    #[test]
    fn an_unfinished_character_is_recognised() {
        for (bytes, expected) in [
            (&b"a"[..], 0),
            ("é".as_bytes(), 0),
            (&[0xC3], 1),
            (&[b'a', 0xE2, 0x82], 2),
            (&[0xF0, 0x9F, 0x98], 3),
            (&[0x80, 0x80, 0x80], 0),
            (&[], 0),
        ] {
            assert_eq!(unfinished(bytes), expected, "{bytes:?}");
        }
    }
}
