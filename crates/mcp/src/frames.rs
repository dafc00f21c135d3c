//! Frames: whole messages as bytes, on their way in and out.
//!
//! This is the seam between what moves messages and what they mean. A transport is a [`FrameSource`] and a
//! [`FrameSink`]; [`super::messages::MessageTransport`] reads the protocol out of them, whatever they are.
//! Whoever wants to see or to disturb what passes wraps one of the two. Transports over a stream of bytes
//! (standard streams, Unix sockets) are made of its two halves, which can be wrapped as well.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::error::ErrorKind;
use cuecard_runtime::clock::Stopwatch;

/// The largest frame accepted, in bytes.
pub(super) const LARGEST_FRAME: usize = 64 * 1024 * 1024;

/// Where frames come from.
pub(super) trait FrameSource: Send + 'static {
    /// The next frame. Cancel safe. Not called again after anything else than a frame.
    fn next(&mut self) -> BoxFuture<'_, Read>;
}

/// Where frames go.
pub(super) trait FrameSink: Send + Sync + 'static {
    /// Sends one message, as the bytes of its JSON text. Who begins it waits for its end: the rest of a frame would be
    /// taken for the beginning of the next.
    fn send(&self, frame: Vec<u8>) -> BoxFuture<'_, Result<(), SendError>>;

    /// Returns when frames have been lost because nobody takes them, and `grace` has passed since, in
    /// which the rest of what the other side said can be read. Cancel safe.
    fn broken(&self, grace: Duration) -> BoxFuture<'_, ()>;

    /// Ends the connection, at once or when the sending under way has been given up.
    fn close(&self);

    /// Like [`Self::close`], and waits until it is done.
    fn closed(&self) -> BoxFuture<'_, ()>;

    /// What it adds to the arguments of calls that lack it.
    fn added_arguments(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// One read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A frame. That of a line has its line end, if there was one.
    Frame(Vec<u8>),
    /// A frame over this many bytes; what follows can't be read.
    TooLarge(usize),
    /// The connection broke, for this reason.
    Broken(String),
    /// The end.
    End,
}

/// When frames were lost for the first time, because nobody takes them.
pub(super) struct Loss {
    since: watch::Sender<Option<Stopwatch>>,
}

impl Loss {
    pub(super) fn new() -> Self {
        Self {
            since: watch::Sender::new(None),
        }
    }

    /// A frame was lost.
    pub(super) fn note(&self) {
        let now = Stopwatch::start();
        self.since
            .send_if_modified(|since| since.replace(now).is_none());
    }

    /// As [`FrameSink::broken`].
    pub(super) async fn passed(&self, grace: Duration) {
        let mut since = self.since.subscribe();
        let since = match since.wait_for(Option::is_some).await {
            Ok(since) => *since,
            Err(_) => None,
        };
        let passed = since.map_or(Duration::ZERO, Stopwatch::elapsed);
        tokio::time::sleep(grace.saturating_sub(passed)).await;
    }
}

/// A frame was not sent.
#[derive(Debug)]
pub(super) enum SendError {
    /// The connection was closed by us.
    Closed,
    /// The message is no JSON text.
    Unwritable(String),
    /// Each message is a request of its own, and this one failed.
    Request(ErrorKind),
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection is closed"),
            Self::Unwritable(text) => write!(f, "the message can't be written: {text}"),
            Self::Request(failure) => write!(f, "the message was not taken: {failure:?}"),
        }
    }
}

impl std::error::Error for SendError {}
