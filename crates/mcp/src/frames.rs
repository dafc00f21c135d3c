//! Frames: whole messages as bytes, on their way in and out.
//!
//! This is the seam between what moves messages and what they mean. A transport is a [`FrameSource`] and a
//! [`FrameSink`]; [`super::messages::MessageTransport`] reads the protocol out of them, whatever they are.
//! Whoever wants to see or to disturb what passes wraps one of the two. Transports over a stream of bytes
//! (standard streams, Unix sockets) are made of its two halves, which can be wrapped as well.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::BoxStream;
use futures::{Sink, SinkExt as _};
use serde_json::{Map, Value};
use tokio::sync::{Mutex, SetOnce};
use tokio_util::sync::CancellationToken;

use super::error::ErrorKind;
use super::link::ReadEnd;
use cuecard_runtime::clock::Stopwatch;

/// The largest frame accepted, in bytes.
pub(super) const LARGEST_FRAME: usize = 64 * 1024 * 1024;

/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_millis(200);

/// Where frames come from; that of a line has its line end, if there was one. Nothing is read behind an error, and the end
/// of the stream is [`ReadEnd::Closed`].
pub(super) type FrameSource = BoxStream<'static, Result<Vec<u8>, ReadEnd>>;

/// Where frames go.
pub(super) trait FrameSink: Send + Sync + 'static {
    /// Sends one message, as the bytes of its JSON text. Who begins it waits for its end: the rest of a frame would be
    /// taken for the beginning of the next.
    fn send(&self, frame: Vec<u8>) -> BoxFuture<'_, Result<(), SendError>>;

    /// Returns when frames have been lost because nobody takes them, and `grace` has passed since, in
    /// which the rest of what the other side said can be read. Cancel safe.
    fn broken(&self, grace: Duration) -> BoxFuture<'_, ()>;

    /// Gives up the sending under way, and sends nothing more.
    fn close(&self);

    /// Ends the connection.
    fn closed(&self) -> BoxFuture<'_, ()>;

    /// What it adds to the arguments of calls that lack it.
    fn added_arguments(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// Sends frames one after the other.
pub(super) struct FrameWriter {
    /// Dropped when closed, which is the end of the input for the server.
    sink: Mutex<Option<BoxSink>>,
    closing: CancellationToken,
    /// Runs since frames were lost, because nobody takes them.
    lost: SetOnce<Stopwatch>,
}

type BoxSink = Pin<Box<dyn Sink<Vec<u8>, Error = SendError> + Send>>;

impl FrameWriter {
    pub(super) fn new(sink: impl Sink<Vec<u8>, Error = SendError> + Send + 'static) -> Self {
        Self {
            sink: Mutex::new(Some(Box::pin(sink))),
            closing: CancellationToken::new(),
            lost: SetOnce::new(),
        }
    }
}

impl FrameSink for FrameWriter {
    fn send(&self, frame: Vec<u8>) -> BoxFuture<'_, Result<(), SendError>> {
        async move {
            let sending = async {
                match self.sink.lock().await.as_mut() {
                    Some(sink) => sink.send(frame).await,
                    None => Err(SendError::Closed),
                }
            };
            let sent = self.closing.run_until_cancelled(sending).await;
            match sent.unwrap_or(Err(SendError::Closed)) {
                // What the other side said before it stopped says more, so it is for the reader to end the connection.
                Err(SendError::Lost) => {
                    let _ = self.lost.set(Stopwatch::start());
                    Ok(())
                }
                sent => sent,
            }
        }
        .boxed()
    }

    fn broken(&self, grace: Duration) -> BoxFuture<'_, ()> {
        async move {
            let passed = self.lost.wait().await.elapsed();
            tokio::time::sleep(grace.saturating_sub(passed)).await;
        }
        .boxed()
    }

    fn close(&self) {
        self.closing.cancel();
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        async move {
            self.close();
            if let Some(mut sink) = self.sink.lock().await.take() {
                // It is closed in any case, by being dropped.
                let _ = tokio::time::timeout(GOODBYE, sink.close()).await;
            }
        }
        .boxed()
    }
}

/// A frame was not sent.
#[derive(Debug)]
pub(super) enum SendError {
    /// The connection was closed by us.
    Closed,
    /// Nobody takes it.
    Lost,
    /// The message is no JSON text.
    Unwritable(String),
    /// Each message is a request of its own, and this one failed.
    Request(ErrorKind),
}

impl From<std::io::Error> for SendError {
    fn from(_: std::io::Error) -> Self {
        Self::Lost
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection is closed"),
            Self::Lost => f.write_str("nobody takes the message"),
            Self::Unwritable(text) => write!(f, "the message can't be written: {text}"),
            Self::Request(failure) => write!(f, "the message was not taken: {failure:?}"),
        }
    }
}

impl std::error::Error for SendError {}
