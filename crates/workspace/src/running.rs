//! A command that runs beside whoever started it: what it printed so far, and how it ended.

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

/// How long what a command started may go on printing after it has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A command that runs, or has run. It is killed with all that it started when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct RunningCommand(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    output: Arc<Mutex<Output>>,
    end: watch::Receiver<Option<CommandEnd>>,
    kill: CancellationToken,
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
    is_truncated: bool,
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
        let group = ProcessGroup::spawn(spec, inherited)?;
        let output = Arc::new(Mutex::new(Output {
            bytes: Vec::new(),
            limit,
            is_truncated: false,
        }));
        let (ended, end) = watch::channel(None);
        let kill = CancellationToken::new();
        tokio::spawn(run(group, output.clone(), kill.clone(), ended));
        Ok(Self(Arc::new(Shared { output, end, kill })))
    }

    /// What it printed so far. Bytes that aren't UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.0.output).bytes).into_owned()
    }

    /// Whether the beginning of the output was dropped.
    pub fn is_truncated(&self) -> bool {
        lock(&self.0.output).is_truncated
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
    output: Arc<Mutex<Output>>,
    kill: CancellationToken,
    ended: watch::Sender<Option<CommandEnd>>,
) {
    drop(group.stdin.take());
    let (out, err) = (group.stdout.take(), group.stderr.take());
    let printing = async {
        tokio::join!(print(out, &output), print(err, &output));
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

impl Output {
    fn print(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let mut surplus = self.bytes.len().saturating_sub(self.limit);
        if surplus > 0 {
            self.is_truncated = true;
            // Cut between characters.
            while self
                .bytes
                .get(surplus)
                .is_some_and(|byte| byte & 0xC0 == 0x80)
            {
                surplus += 1;
            }
            self.bytes.drain(..surplus);
        }
    }
}
