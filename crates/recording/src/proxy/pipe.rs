//! Between a client and a server that is a process: the bytes of the standard streams.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use cuecard_runtime::process::{ProcessGroup, ProcessSpec};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::queue::Queue;
use super::tap::{Frames, Tap, lock};

/// How many bytes are on their way at once, in each direction.
const CHUNK: usize = 64 << 10;
/// How long a server may take to end by itself, and then to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How long calls may still take when the client has closed its side.
const LAST_CALLS: Duration = Duration::from_secs(60);
/// How much of standard error is kept for the end, in bytes.
const TAIL: usize = 4 << 10;
/// How many of its lines are told.
const LAST_LINES: usize = 5;

/// The client's side of the proxy: blocking streams.
#[derive(Debug)]
pub struct Streams {
    /// What the client sends.
    pub input: OwnedFd,
    /// What the client reads.
    pub output: OwnedFd,
    /// Where standard error of the server goes.
    pub errors: OwnedFd,
}

/// How it ended.
#[derive(Debug)]
pub struct End {
    /// Whether the server ended while its client was still there.
    pub is_server_first: bool,
    /// How its process ended.
    pub status: Option<ExitStatus>,
    /// The last lines of its standard error.
    pub last_lines: Vec<String>,
}

impl End {
    /// Whether something went wrong: the server ended by itself, and not well.
    pub fn is_failure(&self) -> bool {
        self.is_server_first && !self.status.is_some_and(|status| status.success())
    }
}

/// Starts the server, and passes on what it and its client say until one of them ends, or `stop`.
///
/// # Errors
/// The server can't be started.
pub async fn run(
    server: &ProcessSpec,
    client: Streams,
    tap: &Arc<Mutex<Tap>>,
    stop: &CancellationToken,
) -> io::Result<End> {
    let mut group = ProcessGroup::spawn(server, &[])?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (group.stdin.take(), group.stdout.take(), group.stderr.take())
    else {
        return Err(io::Error::other(
            "the standard streams of the server are missing",
        ));
    };
    let queue = Queue::new(tap);
    type Read = fn(&mut Tap, &str, Option<&[u8]>);
    let noticing = |read: Read| {
        let (queue, mut frames) = (queue.clone(), Frames::default());
        move |bytes: &[u8]| {
            frames.read(bytes, |frame| {
                let frame = frame.map(<[u8]>::to_vec);
                let n_bytes = frame.as_ref().map_or(0, Vec::len);
                queue.pass(n_bytes, move |tap| read(tap, "", frame.as_deref()));
            });
            if queue.is_full() {
                let _ = queue.read_so_far().blocking_recv();
            }
        }
    };
    let tail = Arc::new(Mutex::new(VecDeque::new()));
    let keeping = tail.clone();
    let mut client_ended = pump(client.input, stdin.into_owned_fd()?, noticing(Tap::client))?;
    let mut server_ended = pump(
        stdout.into_owned_fd()?,
        client.output,
        noticing(Tap::server),
    )?;
    let keep = move |bytes: &[u8]| {
        let mut tail = keeping.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(bytes);
        let surplus = tail.len().saturating_sub(TAIL);
        tail.drain(..surplus);
    };
    let errors_ended = pump(stderr.into_owned_fd()?, client.errors, keep)?;
    let mut n_open = lock(tap).n_open();
    let mut is_client_done = false;
    let is_server_first = tokio::select! {
        why = &mut client_ended => {
            is_client_done = matches!(why, Ok(Stop::Source));
            !is_client_done
        }
        why = &mut server_ended => !matches!(why, Ok(Stop::Destination)),
        _ = group.wait() => true,
        () = stop.cancelled() => {
            group.terminate();
            false
        }
    };
    if is_client_done {
        let _ = queue.read_so_far().await;
        // What is under way when the client says no more is answered, as it would be without us.
        tokio::select! {
            _ = tokio::time::timeout(LAST_CALLS, n_open.wait_for(|open| *open == 0)) => {}
            _ = group.wait() => {}
            () = stop.cancelled() => {}
        }
    }
    let status = group.shut_down(GRACE).await;
    // What it said last is still in the pipes; a client that does not read it is not waited for.
    let rest = async {
        if !server_ended.is_terminated() {
            let _ = server_ended.await;
        }
        let _ = errors_ended.await;
    };
    let _ = tokio::time::timeout(GRACE, rest).await;
    let _ = queue.read_so_far().await;
    let tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    let tail: Vec<u8> = tail.iter().copied().collect();
    let tail = String::from_utf8_lossy(&tail);
    let lines = tail.lines().filter(|line| !line.trim().is_empty());
    let mut last_lines: Vec<String> = lines.map(str::to_owned).collect();
    last_lines.drain(..last_lines.len().saturating_sub(LAST_LINES));
    Ok(End {
        is_server_first,
        status,
        last_lines,
    })
}

/// Why nothing more is passed on.
#[derive(Debug)]
enum Stop {
    /// Nothing more comes.
    Source,
    /// Nobody takes it any more.
    Destination,
}

/// Passes on what comes, when `before` has seen it, on a thread of its own: pipes of other programs are best read and
/// written by calls that wait.
fn pump(
    from: OwnedFd,
    to: OwnedFd,
    mut before: impl FnMut(&[u8]) + Send + 'static,
) -> io::Result<oneshot::Receiver<Stop>> {
    let (ends, ended) = oneshot::channel();
    let (mut from, mut to) = (blocking(from)?, blocking(to)?);
    thread::Builder::new()
        .name("cuecard-proxy".to_owned())
        .spawn(move || {
            let mut chunk = vec![0; CHUNK];
            let stop = loop {
                match from.read(&mut chunk) {
                    Ok(length @ 1..) => {
                        before(&chunk[..length]);
                        if to.write_all(&chunk[..length]).is_err() {
                            break Stop::Destination;
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => {
                        // The last line may have no end.
                        before(b"\n");
                        break Stop::Source;
                    }
                }
            };
            drop(to);
            // Nobody waits when all is over.
            let _ = ends.send(stop);
        })?;
    Ok(ended)
}

fn blocking(stream: OwnedFd) -> io::Result<File> {
    rustix::io::ioctl_fionbio(&stream, false)?;
    Ok(stream.into())
}
