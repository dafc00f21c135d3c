//! The one writer of a stand-in: the trace, and those who watch. It has a thread of its own, so that no answer waits
//! for a disk.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use cuecard_source::value::Redactor;
use cuecard_trace::{End, EventData, Header};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::clock::{Clock, Stopwatch};
use super::tap::Recorder;
use super::text_file::io_reason;

/// So much may wait to be told; who tells more waits too.
const QUEUE: usize = 4_096;
/// So many bytes of requests may wait with it.
const QUEUED_BYTES: usize = 64 << 20;
/// Bytes are counted in such units, rounded up.
const UNIT: usize = 1 << 10;
/// Under load the trace is flushed this often; else whenever nothing waits.
const FLUSH: Duration = Duration::from_millis(20);

/// Who watches a stand-in: is told of each notice, as it happens.
pub type Watcher<N> = Box<dyn FnMut(&N) + Send>;

/// Where a trace goes.
pub struct TraceOutput {
    /// The file.
    pub out: Box<dyn Write + Send>,
    /// The id of the run.
    pub run_id: String,
}

impl std::fmt::Debug for TraceOutput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TraceOutput")
            .field("run_id", &self.run_id)
            .finish_non_exhaustive()
    }
}

enum TraceMessage<N> {
    Events(Duration, Option<Arc<str>>, Vec<EventData>),
    Notice(N, Option<OwnedSemaphorePermit>),
    End(Box<End>),
    /// Who asks is told when everything before is written.
    Settle(oneshot::Sender<()>),
    /// Nothing more is told.
    Close,
}

/// Tells the writer.
#[derive(Debug)]
pub struct TraceWriter<N> {
    queue: mpsc::Sender<TraceMessage<N>>,
    /// Units of bytes that may still wait.
    units: Arc<Semaphore>,
    has_trace: bool,
    has_watcher: bool,
}

impl<N> Clone for TraceWriter<N> {
    fn clone(&self) -> Self {
        Self {
            queue: self.queue.clone(),
            units: self.units.clone(),
            ..*self
        }
    }
}

/// The thread that writes. It ends with [`TraceWriter::close`], or when the last teller is gone.
#[derive(Debug)]
pub struct Writer {
    thread: JoinHandle<Option<io::Error>>,
}

/// Starts the writer.
///
/// # Errors
/// If the header can't be written, or there can be no thread.
pub fn start<N: Send + 'static>(
    clock: Clock,
    secrets: Vec<String>,
    trace: Option<(TraceOutput, Header)>,
    watcher: Option<Watcher<N>>,
) -> io::Result<(TraceWriter<N>, Writer)> {
    let (has_trace, has_watcher) = (trace.is_some(), watcher.is_some());
    let units = Arc::new(Semaphore::new(QUEUED_BYTES / UNIT));
    let (sender, receiver) = mpsc::channel(QUEUE);
    let (ready, is_ready) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new()
        .name("cuecard-trace".to_owned())
        .spawn(move || {
            let mut recorder = Recorder::new(clock, Redactor::new(secrets));
            let written = trace.map_or(Ok(()), |(trace, header)| {
                recorder.write_to(trace.out, &header)
            });
            let has_begun = written.is_ok();
            // Nobody waits only if the start was given up.
            let _ = ready.send(written);
            has_begun.then(|| write(receiver, recorder, watcher))?
        })?;
    is_ready
        .recv()
        .map_err(|_| io::Error::other("the writer of the trace has ended"))??;
    let teller = TraceWriter {
        queue: sender,
        units,
        has_trace,
        has_watcher,
    };
    Ok((teller, Writer { thread }))
}

fn write<N>(
    mut queue: mpsc::Receiver<TraceMessage<N>>,
    mut recorder: Recorder<'_>,
    mut watcher: Option<Watcher<N>>,
) -> Option<io::Error> {
    let mut notices = Vec::new();
    let mut asking = Vec::new();
    while let Some(first) = queue.blocking_recv() {
        let since = Stopwatch::start();
        let mut next = Some(first);
        let mut is_over = false;
        while let Some(told) = next.take() {
            match told {
                TraceMessage::Events(at, session, events) => {
                    for event in events {
                        recorder.record_in(session.as_deref(), at, event);
                    }
                }
                TraceMessage::Notice(notice, units) => notices.push((notice, units)),
                TraceMessage::End(end) => recorder.end(&end),
                TraceMessage::Settle(asks) => asking.push(asks),
                TraceMessage::Close => is_over = true,
            }
            if !is_over && since.elapsed() < FLUSH {
                next = queue.try_recv().ok();
            }
        }
        // Who watches is told of nothing that a crash could take out of the trace.
        recorder.settle();
        for (notice, units) in notices.drain(..) {
            if let Some(watcher) = &mut watcher {
                watcher(&notice);
            }
            drop(units);
        }
        for asks in asking.drain(..) {
            // Who no longer waits need not be told.
            let _ = asks.send(());
        }
        if is_over {
            break;
        }
    }
    recorder.take_error()
}

impl<N> TraceWriter<N> {
    /// Whether events are worth making.
    pub fn has_trace(&self) -> bool {
        self.has_trace
    }

    /// These happened at `at`.
    pub async fn events(&self, at: Duration, events: Vec<EventData>) {
        self.events_in(None, at, events).await;
    }

    /// The same in a session.
    pub async fn events_in(&self, session: Option<Arc<str>>, at: Duration, events: Vec<EventData>) {
        if self.has_trace && !events.is_empty() {
            self.tell(TraceMessage::Events(at, session, events)).await;
        }
    }

    /// Tells who watches.
    pub async fn notice(&self, notice: N) {
        if self.has_watcher {
            self.tell(TraceMessage::Notice(notice, None)).await;
        }
    }

    /// The same of what holds `n_bytes`, of which only so many wait.
    pub async fn sized_notice(&self, notice: N, n_bytes: usize) {
        if self.has_watcher {
            let n_units = n_bytes.div_ceil(UNIT).clamp(1, QUEUED_BYTES / UNIT);
            let n_units = u32::try_from(n_units).unwrap_or(1);
            // They are never closed.
            let units = self.units.clone().acquire_many_owned(n_units).await.ok();
            self.tell(TraceMessage::Notice(notice, units)).await;
        }
    }

    /// The same from where nothing can be waited for: with a full queue, nobody is told.
    pub fn try_notice(&self, notice: N) {
        let _ = self.queue.try_send(TraceMessage::Notice(notice, None));
    }

    /// Waits until everything told so far is written, and those who watch know it.
    pub async fn settled(&self) {
        let (asks, settled) = oneshot::channel();
        self.tell(TraceMessage::Settle(asks)).await;
        // The writer is gone only after a panic in a watcher.
        let _ = settled.await;
    }

    /// The trace is over, with its last line. Why it is not whole, if it isn't.
    pub async fn finish(&self, end: End, writer: Writer) -> Option<String> {
        self.end(end).await;
        self.close().await;
        // The writer has nothing more to wait for, and is no part of the runtime.
        match tokio::task::spawn_blocking(move || writer.join()).await {
            Ok(error) => error.map(|error| io_reason(&error)),
            Err(_) => Some("its writer has ended early".to_owned()),
        }
    }

    /// The trace is over.
    async fn end(&self, end: End) {
        if self.has_trace {
            self.tell(TraceMessage::End(Box::new(end))).await;
        }
    }

    /// The writer may end: what connections that are still open tell is told to nobody.
    pub async fn close(&self) {
        self.tell(TraceMessage::Close).await;
    }

    async fn tell(&self, told: TraceMessage<N>) {
        // The writer is gone only after a panic in a watcher.
        let _ = self.queue.send(told).await;
    }
}

impl Writer {
    /// Waits until everything is written, after [`TraceWriter::close`].
    pub fn join(self) -> Option<io::Error> {
        self.thread.join().ok().flatten()
    }
}
