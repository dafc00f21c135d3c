//! Servers that are child processes: their start, their standard error and their end.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::error::{Advice, ErrorKind};
use super::link::{Link, ReadEnd};
use super::messages::MessageTransport;
use super::text::clean;
use cuecard_runtime::process::{ProcessGroup, ProcessSpec};

/// How long output may still be read after its process ended.
const DRAIN: Duration = Duration::from_millis(200);
/// How long a process may take to end after its output did: on a busy machine, that of a script takes a while.
const EXIT: Duration = Duration::from_secs(1);
/// How long a server may take to end by itself, and then to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// Starts the process of a server.
pub(super) fn start(
    command: &str,
    args: &[String],
    env: &[(String, String)],
    cwd: Option<&Path>,
    inherited: &[(OsString, OsString)],
    link: &Arc<Link>,
) -> Result<(MessageTransport, ProcessSupervisor), ErrorKind> {
    let spec = ProcessSpec {
        program: command.into(),
        args: args.iter().map(OsString::from).collect(),
        env: env
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        cwd: cwd.map(PathBuf::from),
    };
    let mut group =
        ProcessGroup::spawn(&spec, inherited).map_err(|error| not_started(&error, command, cwd))?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (group.stdin.take(), group.stdout.take(), group.stderr.take())
    else {
        return Err(not_run("its standard streams are missing".to_owned()));
    };
    let transport = MessageTransport::lines(stdout, stdin, Arc::clone(link));
    Ok((
        transport,
        ProcessSupervisor::start(group, stderr, Arc::clone(link)),
    ))
}

fn not_started(error: &io::Error, command: &str, cwd: Option<&Path>) -> ErrorKind {
    // The operating system says `NotFound` for both, and does not say which.
    if let Some(cwd) = cwd
        && !cwd.is_dir()
    {
        return ErrorKind::NotRun {
            text: format!(
                "directory not found: `{}`",
                clean(&cwd.display().to_string())
            ),
            help: Advice::Correct("cwd"),
        };
    }
    match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotRun {
            text: format!("command not found: `{}`", clean(command)),
            help: Advice::Install(command.to_owned()),
        },
        _ => not_run(error.to_string().to_lowercase()),
    }
}

fn not_run(text: String) -> ErrorKind {
    let help = Advice::Correct("command");
    ErrorKind::NotRun { text, help }
}

/// Owns a server's process: tells the link when it ends, and ends it. Dropping a keeper kills the
/// process.
pub(super) struct ProcessSupervisor {
    order: Option<oneshot::Sender<Order>>,
    task: JoinHandle<()>,
    errors: JoinHandle<()>,
}

enum Order {
    /// Wait for the end, ask for it, then kill.
    Stop,
    Kill,
}

impl ProcessSupervisor {
    fn start(group: ProcessGroup, stderr: ChildStderr, link: Arc<Link>) -> Self {
        let (order, orders) = oneshot::channel();
        let errors = tokio::spawn(read_errors(stderr, Arc::clone(&link)));
        let task = tokio::spawn(keep(group, orders, link));
        Self {
            order: Some(order),
            task,
            errors,
        }
    }

    /// Ends the process politely; its input must have been closed before. Takes at most about four
    /// seconds.
    pub(super) async fn stop(self) {
        self.end(Order::Stop).await;
    }

    /// Kills the process and whatever it started.
    pub(super) async fn kill(self) {
        self.end(Order::Kill).await;
    }

    async fn end(mut self, order: Order) {
        if let Some(orders) = self.order.take() {
            // An error means that the process ended by itself.
            let _ = orders.send(order);
        }
        // The bound is for a process that even a kill does not end, such as one stuck in the kernel.
        let _ = tokio::time::timeout(3 * GRACE, &mut self.task).await;
    }
}

impl Drop for ProcessSupervisor {
    fn drop(&mut self) {
        // Aborting drops the process group, which kills it.
        self.task.abort();
        self.errors.abort();
    }
}

async fn keep(mut group: ProcessGroup, mut orders: oneshot::Receiver<Order>, link: Arc<Link>) {
    let mut order = None;
    tokio::select! {
        given = &mut orders => order = Some(given.unwrap_or(Order::Kill)),
        status = group.wait() => return ended(status, &link).await,
        end = link.reading_ended() => {
            // Its output, or our interest in it, mostly ends because the process did.
            if !matches!(end, ReadEnd::TooLarge(_)) {
                tokio::select! {
                    given = &mut orders => order = Some(given.unwrap_or(Order::Kill)),
                    status = group.wait() => return ended(status, &link).await,
                    () = tokio::time::sleep(EXIT) => {}
                }
            }
            if order.is_none() {
                // It lives, but is of no use any more.
                link.end(None);
            }
        }
    }
    let order = match order {
        Some(order) => order,
        None => orders.await.unwrap_or(Order::Kill),
    };
    let status = match order {
        Order::Stop => group.shut_down(GRACE).await,
        Order::Kill => group.kill().await,
    };
    link.end(status.map(Into::into));
}

/// The process has ended: reads what it wrote last, which is still in the pipes, and tells.
async fn ended(status: io::Result<ExitStatus>, link: &Link) {
    let ends = async {
        link.reading_ended().await;
        link.errors_ended().await;
    };
    let _ = tokio::time::timeout(DRAIN, ends).await;
    link.end(status.ok().map(Into::into));
}

async fn read_errors(mut stderr: ChildStderr, link: Arc<Link>) {
    let mut chunk = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
        link.push_errors(&chunk[..count]);
    }
    link.end_errors();
}
