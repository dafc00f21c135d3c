//! Patience with clients has an end: connections that never finish their request, or never read their answer, are
//! closed.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;

/// How long each part of a conversation with a client may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// From the first byte of a request to its last.
    pub request: Duration,
    /// Between two requests on one connection, and before the first.
    pub idle: Duration,
    /// Without the client taking anything of its answer.
    pub answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(30),
            idle: Duration::from_secs(300),
            answer: Duration::from_secs(60),
        }
    }
}

/// A listener whose connections end when patience does.
#[derive(Debug)]
pub struct PatientListener {
    listener: TcpListener,
    patience: Patience,
}

impl PatientListener {
    /// Accepts what `listener` does.
    pub fn new(listener: TcpListener, patience: Patience) -> Self {
        Self { listener, patience }
    }
}

impl Listener for PatientListener {
    type Io = PatientStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Events of a stream are small, and each is to be seen when it is sent.
        let _ = stream.set_nodelay(true);
        let stream = PatientStream {
            stream,
            patience: self.patience,
            busy: Busy::default(),
            is_in_request: false,
            n_answers: 0,
            reading: None,
            writing: None,
        };
        (stream, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// Whether a connection's request is being answered. While it is, nothing is expected from the client.
#[derive(Debug, Clone, Default)]
pub struct Busy(Arc<Answers>);

#[derive(Debug, Default)]
struct Answers {
    n_begun: AtomicUsize,
    n_over: AtomicUsize,
    is_reset: AtomicBool,
}

impl Busy {
    /// The request is whole, and is being answered until what is returned is dropped.
    pub fn answering(&self) -> Answering {
        self.0.n_begun.fetch_add(1, Ordering::Relaxed);
        Answering(self.0.clone())
    }

    /// How many answers were begun, and whether one of them is not over.
    fn answers(&self) -> (usize, bool) {
        let n_over = self.0.n_over.load(Ordering::Relaxed);
        let n_begun = self.0.n_begun.load(Ordering::Relaxed);
        (n_begun, n_begun > n_over)
    }
}

impl Connected<IncomingStream<'_, PatientListener>> for Busy {
    fn connect_info(stream: IncomingStream<'_, PatientListener>) -> Self {
        stream.io().busy.clone()
    }
}

/// Lasts as long as an answer does.
#[derive(Debug)]
pub struct Answering(Arc<Answers>);

impl Answering {
    /// The connection ends in a reset, as that of a server which has crashed, instead of being closed.
    pub fn reset(&self) {
        self.0.is_reset.store(true, Ordering::Relaxed);
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.n_over.fetch_add(1, Ordering::Relaxed);
    }
}

/// A connection that ends when patience does.
#[derive(Debug)]
pub struct PatientStream {
    stream: TcpStream,
    patience: Patience,
    busy: Busy,
    /// Whether a part of a request has come.
    is_in_request: bool,
    /// How many answers had begun when it was last looked.
    n_answers: usize,
    reading: Option<Pin<Box<Sleep>>>,
    writing: Option<Pin<Box<Sleep>>>,
}

impl Drop for PatientStream {
    fn drop(&mut self) {
        if self.busy.0.is_reset.load(Ordering::Relaxed) {
            // Without it the connection is closed, which its client can't use either.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl PatientStream {
    /// Whether the client was waited for long enough.
    fn is_overdue(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.busy.answers().1 {
            return Poll::Pending;
        }
        let patience = match self.is_in_request {
            true => self.patience.request,
            false => self.patience.idle,
        };
        self.reading
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)))
            .as_mut()
            .poll(context)
    }

    fn written<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.writing = None;
            return polled;
        }
        let patience = self.patience.answer;
        let writing = self
            .writing
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(writing.as_mut().poll(context));
        Poll::Ready(Err(out_of_patience()))
    }
}

fn out_of_patience() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the client took too long")
}

impl AsyncRead for PatientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (n_answers, _) = self.busy.answers();
        if n_answers != self.n_answers {
            self.n_answers = n_answers;
            self.is_in_request = false;
            self.reading = None;
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if polled.is_ready() {
            // The time for a request counts from its first byte, not from its last one so far.
            if buffer.filled().len() > before && !self.is_in_request {
                self.is_in_request = true;
                self.reading = None;
            }
            if self.is_overdue(context).is_pending() {
                return polled;
            }
        } else {
            ready!(self.is_overdue(context));
        }
        Poll::Ready(Err(out_of_patience()))
    }
}

impl AsyncWrite for PatientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
