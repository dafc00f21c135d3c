//! Patience with clients has an end: connections that never finish their request, or never read their answer, are
//! closed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use super::clock::Stopwatch;
use super::connection_limit::{Connection, Place};

/// How long each part of a conversation with a client may take.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// From the first byte of a request to its last.
    pub request: Duration,
    /// Between two requests on one connection, and before the first.
    pub idle: Duration,
    /// Without the client taking anything of its answer.
    pub answer: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(30),
            idle: Duration::from_secs(300),
            answer: Duration::from_secs(60),
        }
    }
}

/// Whether a connection's request is being answered. While it is, nothing is expected from the client.
#[derive(Debug, Clone)]
pub struct ActivityFlag(Arc<Connection>);

impl ActivityFlag {
    /// The request is whole, and is being answered until what is returned is dropped.
    pub fn answering(&self) -> Answering {
        self.0.begin_answer();
        Answering(self.0.clone())
    }
}

/// Lasts as long as an answer does.
#[derive(Debug)]
pub struct Answering(Arc<Connection>);

impl Answering {
    /// The connection ends in a reset, as that of a server which has crashed, instead of being closed.
    pub fn reset(&self) {
        self.0.reset();
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.end_answer();
    }
}

/// A connection that ends when a time limit does, or when others need its place.
#[derive(Debug)]
pub struct TimeoutStream {
    // The order counts: the connection is closed before its place is free.
    stream: TcpStream,
    place: Place,
    timeouts: Timeouts,
    /// Whether a part of a request has come.
    is_in_request: bool,
    /// Whether others need its place, and it was only looked once more for a request.
    is_leaving: bool,
    /// How many answers had begun when it was last looked.
    n_answers: usize,
    /// How long the client has been waited for.
    waiting: Stopwatch,
    /// Wakes who reads; often too early, since it is not set anew for each request.
    reading: Option<Pin<Box<Sleep>>>,
    /// Whether `reading` was set for a request, and not for the longer time between two.
    is_set_for_request: bool,
    writing: Option<Pin<Box<Sleep>>>,
}

impl Drop for TimeoutStream {
    fn drop(&mut self) {
        if self.place.connection().is_reset() {
            // Without it the connection is closed, which its client can't use either.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl TimeoutStream {
    pub(super) fn new(stream: TcpStream, timeouts: Timeouts, place: Place) -> Self {
        Self {
            stream,
            place,
            timeouts,
            is_in_request: false,
            is_leaving: false,
            n_answers: 0,
            waiting: Stopwatch::start(),
            reading: None,
            is_set_for_request: false,
            writing: None,
        }
    }

    /// Whether its request is being answered, to be told.
    pub(super) fn busy(&self) -> ActivityFlag {
        ActivityFlag(self.place.connection().clone())
    }

    /// How long the client may still be waited for.
    fn left(&self) -> Duration {
        let limit = match self.is_in_request {
            true => self.timeouts.request,
            false => self.timeouts.idle,
        };
        limit.saturating_sub(self.waiting.elapsed())
    }

    /// Ready when the client was waited for long enough.
    fn poll_overdue(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let is_early_enough = self.is_set_for_request || !self.is_in_request;
            if let Some(reading) = self.reading.as_mut().filter(|_| is_early_enough) {
                ready!(reading.as_mut().poll(context));
            }
            let left = self.left();
            if left.is_zero() {
                return Poll::Ready(());
            }
            self.is_set_for_request = self.is_in_request;
            self.reading = Some(Box::pin(tokio::time::sleep(left)));
        }
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
        let limit = self.timeouts.answer;
        let writing = self
            .writing
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(writing.as_mut().poll(context));
        Poll::Ready(Err(timed_out()))
    }
}

fn timed_out() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the client took too long")
}

impl AsyncRead for TimeoutStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (n_answers, is_busy) = self.place.connection().answers();
        let mut begins_to_wait = n_answers != self.n_answers;
        if begins_to_wait {
            self.n_answers = n_answers;
            self.is_in_request = false;
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        // The time for a request counts from its first byte, not from its last one so far.
        if buffer.filled().len() > before && !self.is_in_request {
            self.is_in_request = true;
            begins_to_wait = true;
        }
        if begins_to_wait {
            self.waiting = Stopwatch::start();
        }
        if buffer.filled().len() > before {
            self.place.connection().stay();
        }
        if polled.is_ready() {
            let is_overdue = !begins_to_wait && !is_busy && self.left().is_zero();
            return match is_overdue {
                true => Poll::Ready(Err(timed_out())),
                false => polled,
            };
        }
        if self.place.connection().poll_let_go(context).is_pending() {
            self.is_leaving = false;
            if is_busy {
                return Poll::Pending;
            }
            ready!(self.poll_overdue(context));
            return Poll::Ready(Err(timed_out()));
        }
        if is_busy {
            self.place.connection().stay();
            return Poll::Pending;
        }
        // A request that has come is answered: the runtime may not have told of it yet, or it is about to be read.
        if !self.is_leaving {
            self.is_leaving = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        match rustix::io::ioctl_fionread(&self.stream) {
            Ok(1..) => Poll::Pending,
            _ => Poll::Ready(Err(timed_out())),
        }
    }
}

impl AsyncWrite for TimeoutStream {
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
