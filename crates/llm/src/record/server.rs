//! Starts a recording and stops it.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::JoinHandle as Thread;

use cuecard_source::diagnostic::{Diagnostic, codes};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::super::exchange_recorder::Watcher;
use super::super::server::{KEY_HEADERS, WatcherSlot};
use super::files::RecordedFile;
use super::options::RecordOptions;
use super::proxy::{self, Proxy};
use super::writer::{self, Message};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::http_server::{ServerOptions, serve};
use cuecard_runtime::listener::{self, Guard};
use cuecard_runtime::start_error::StartError;
use cuecard_runtime::trace_writer::TraceOutput;
use cuecard_runtime::workers::Worker;

/// More clients than this are never recorded at once.
const MOST_CONNECTIONS: usize = 1_000;

/// A recording, before it starts. See [the module](super) for an example.
#[derive(Debug)]
pub struct RecordLlm {
    options: RecordOptions,
    trace: Option<TraceOutput>,
    watcher: Option<WatcherSlot>,
}

impl RecordLlm {
    /// A recording with these options.
    pub fn new(options: RecordOptions) -> Self {
        Self {
            options,
            trace: None,
            watcher: None,
        }
    }

    /// Writes the trace of the run.
    #[must_use]
    pub fn trace(mut self, trace: TraceOutput) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Tells `watcher` what happens, on a thread of its own.
    #[must_use]
    pub fn watch(mut self, watcher: Watcher) -> Self {
        self.watcher = Some(WatcherSlot(watcher));
        self
    }

    /// Listens. Nothing is written before there is something to record.
    ///
    /// # Errors
    /// [`StartError`]: the scenario would replace a file or has no folder, the port is taken, the trace can't be
    /// written.
    pub async fn start(self) -> Result<RunningRecorder, StartError> {
        let Self {
            options,
            trace,
            watcher,
        } = self;
        check_out(&options)?;
        let guard = Guard::new(options.bind, options.token.clone())
            .map_err(StartError::Listener)?
            .body_limit(options.body_limit)
            .token_headers(KEY_HEADERS);
        let client = options
            .upstream
            .client()
            .map_err(|error| StartError::Io(io::Error::other(error)))?;
        let listener = guard.listen().await.map_err(StartError::Listener)?;
        let address = listener.local_addr().map_err(StartError::Io)?;
        let clock = Clock::start();
        let watcher = watcher.map(|WatcherSlot(watcher)| watcher);
        let (queue, thread) =
            writer::start(clock, &options, trace, watcher).map_err(StartError::Io)?;
        let serving = ServerOptions {
            n_threads: 0,
            timeouts: options.timeouts,
            max_connections: MOST_CONNECTIONS,
        };
        let stop = CancellationToken::new();
        let proxy = Arc::new(Proxy {
            options,
            guard,
            client,
            clock,
            stop: stop.clone(),
            queue: queue.clone(),
            n_requests: AtomicU64::new(0),
        });
        let answer = move |request| proxy::handle(proxy.clone(), request);
        let worker = serve(listener, serving, &stop, answer, |_| async {});
        Ok(RunningRecorder {
            address,
            worker: worker.map_err(StartError::Io)?,
            queue,
            thread,
            stop: stop.clone(),
            _stop_on_drop: stop.drop_guard(),
        })
    }
}

/// Whether the first scenario can be written.
fn check_out(options: &RecordOptions) -> Result<(), StartError> {
    let out = &options.out;
    let shown = out.display();
    let refuse = |message: String, help: &str| {
        let found = Diagnostic::error(codes::ARGUMENT, message).with_help(help);
        Err(StartError::Files(vec![found]))
    };
    if out.file_name().is_none() || out.is_dir() {
        return refuse(
            format!("`{shown}` is not a file"),
            "specify the scenario file to write, such as `-o recorded.yaml`",
        );
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder
        && !folder.is_dir()
    {
        return refuse(
            format!("`{}` is not a folder", folder.display()),
            "create the folder first, or choose another file with `-o FILE`",
        );
    }
    if out.exists() && !options.replaces {
        return refuse(
            format!("`{shown}` already exists"),
            "choose another file with `-o FILE`, or overwrite it with `--force`",
        );
    }
    Ok(())
}

/// A recording that runs. It ends with [`RunningRecorder::stop`], and when it is dropped.
pub struct RunningRecorder {
    address: SocketAddr,
    worker: Worker,
    queue: mpsc::Sender<Message>,
    thread: Thread<Recording>,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

impl RunningRecorder {
    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// `http://127.0.0.1:41873`, without a slash at the end. Clients of OpenAI's API want `/v1` after it.
    pub fn base_url(&self) -> String {
        listener::base_url(self.address)
    }

    /// Stops: no new requests, a moment for answers on their way, everything written.
    pub async fn stop(self) -> Recording {
        let Self {
            worker,
            queue,
            thread,
            stop,
            ..
        } = self;
        stop.cancel();
        worker.ended().await;
        // The writer is gone only after a panic in a watcher.
        let _ = queue.send(Message::Close).await;
        let ended = tokio::task::spawn_blocking(move || thread.join()).await;
        match ended {
            Ok(Ok(recording)) => recording,
            Ok(Err(_)) | Err(_) => Recording {
                write_error: Some("the writer of the recording has ended early".to_owned()),
                ..Recording::default()
            },
        }
    }
}

impl fmt::Debug for RunningRecorder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunningRecorder")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// What was recorded.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// The scenarios that were written.
    pub files: Vec<RecordedFile>,
    /// How many requests were passed on.
    pub n_exchanges: u64,
    /// How many of them are in the scenarios.
    pub n_recorded: u64,
    /// How many asked for an answer and are not.
    pub n_left_out: u64,
    /// Why a scenario is not whole, if one isn't.
    pub write_error: Option<String>,
    /// Why the trace is not whole, if it isn't.
    pub trace_error: Option<String>,
}
