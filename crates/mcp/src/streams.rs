//! Frames of bounded length over streams of bytes: lines, and frames that begin with their length.

use std::io;
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, watch};
use tokio_util::codec::{FramedRead, LengthDelimitedCodec, LengthDelimitedCodecError};

use cuecard_runtime::lines::Line;
pub(super) use cuecard_runtime::lines::LineReader;

use super::frames::{FrameSink, FrameSource, Loss, Read, SendError};

/// How frames are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// A line end follows each.
    Lines,
    /// Their length goes before each: 4 bytes, little-endian.
    Lengths,
}

impl FrameSource for LineReader {
    fn next(&mut self) -> BoxFuture<'_, Read> {
        let next = async {
            match Self::next(self).await {
                Line::Whole(line) => Read::Frame(line),
                Line::TooLong(bound) => Read::TooLarge(bound),
                Line::End => Read::End,
            }
        };
        next.boxed()
    }
}

/// Reads frames that begin with their length.
pub(super) struct LengthReader {
    frames: FramedRead<Box<dyn AsyncRead + Send + Unpin>, LengthDelimitedCodec>,
    bound: usize,
}

impl LengthReader {
    /// Frames of at most `bound` bytes.
    pub(super) fn new(io: Box<dyn AsyncRead + Send + Unpin>, bound: usize) -> Self {
        let mut codec = LengthDelimitedCodec::builder();
        codec
            .little_endian()
            .length_field_length(4)
            .max_frame_length(bound);
        Self {
            frames: codec.new_read(io),
            bound,
        }
    }

    /// The next frame, without its length. Cancel safe.
    pub(super) async fn frame(&mut self) -> Read {
        let is_too_large = |error: &io::Error| {
            error
                .get_ref()
                .is_some_and(<dyn std::error::Error + Send + Sync>::is::<LengthDelimitedCodecError>)
        };
        match self.frames.next().await {
            Some(Ok(frame)) => Read::Frame(frame.into()),
            Some(Err(error)) if is_too_large(&error) => Read::TooLarge(self.bound),
            // An error of a socket means the same as its end.
            Some(Err(_)) if !self.frames.read_buffer().is_empty() => {
                Read::Broken("the connection ended in the middle of a message".to_owned())
            }
            _ => Read::End,
        }
    }
}

/// Writes frames into a stream.
pub(super) struct StreamWriter {
    framing: Framing,
    /// Dropped when closed, which is the end of the input for the server.
    io: Mutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>,
    closing: watch::Sender<bool>,
    loss: Loss,
}

impl StreamWriter {
    pub(super) fn new(io: Box<dyn AsyncWrite + Send + Unpin>, framing: Framing) -> Self {
        Self {
            framing,
            io: Mutex::new(Some(io)),
            closing: watch::Sender::new(false),
            loss: Loss::new(),
        }
    }

    /// That nobody reads it is no error: what the other side wrote before it stopped says more, so it is for the reader to
    /// end the connection.
    async fn write(&self, mut frame: Vec<u8>) -> Result<(), SendError> {
        match self.framing {
            Framing::Lines => frame.push(b'\n'),
            Framing::Lengths => {
                let length = u32::try_from(frame.len());
                let length = length
                    .map_err(|_| SendError::Unwritable("it is larger than 4 GiB".to_owned()))?;
                frame.splice(0..0, length.to_le_bytes());
            }
        }
        let mut io = self.io.lock().await;
        let io = io.as_mut().ok_or(SendError::Closed)?;
        let written = async {
            io.write_all(&frame).await?;
            io.flush().await
        };
        if written.await.is_err() {
            self.loss.note();
        }
        Ok(())
    }
}

impl FrameSink for StreamWriter {
    fn send(&self, frame: Vec<u8>) -> BoxFuture<'_, Result<(), SendError>> {
        async move {
            let mut closing = self.closing.subscribe();
            tokio::select! {
                biased;
                _ = closing.wait_for(|closing| *closing) => Err(SendError::Closed),
                sent = self.write(frame) => sent,
            }
        }
        .boxed()
    }

    fn broken(&self, grace: Duration) -> BoxFuture<'_, ()> {
        self.loss.passed(grace).boxed()
    }

    fn close(&self) {
        self.closing.send_replace(true);
        if let Ok(mut io) = self.io.try_lock() {
            *io = None;
        }
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        async move {
            self.closing.send_replace(true);
            *self.io.lock().await = None;
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::Poll;

    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// Polls `future` once and drops it.
    async fn begin<T>(future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        std::future::poll_fn(|context| {
            Poll::Ready(match future.as_mut().poll(context) {
                Poll::Ready(value) => Some(value),
                Poll::Pending => None,
            })
        })
        .await
    }

    async fn read_all(input: &'static [u8], bound: usize) -> Vec<String> {
        let mut reader = LineReader::new(Box::new(input), bound);
        let mut lines = Vec::new();
        loop {
            match FrameSource::next(&mut reader).await {
                Read::Frame(line) => lines.push(String::from_utf8_lossy(&line).into_owned()),
                Read::TooLarge(bound) => {
                    lines.push(format!("over {bound}"));
                    return lines;
                }
                Read::Broken(_) | Read::End => return lines,
            }
        }
    }

    #[tokio::test]
    async fn lines_are_read_up_to_the_bound_and_not_beyond() {
        assert_eq!(read_all(b"", 3).await, [""; 0]);
        assert_eq!(read_all(b"a\n\nbc", 3).await, ["a\n", "\n", "bc"]);
        assert_eq!(read_all(b"abc\nabc", 3).await, ["abc\n", "abc"]);
        assert_eq!(read_all(b"a\nabcd\n", 3).await, ["a\n", "over 3"]);
        assert_eq!(read_all(b"abcd", 3).await, ["over 3"]);
    }

    async fn frames(input: &'static [u8], bound: usize) -> Vec<Read> {
        let mut reader = LengthReader::new(Box::new(input), bound);
        let mut reads = Vec::new();
        loop {
            let read = reader.frame().await;
            let goes_on = matches!(read, Read::Frame(_));
            reads.push(read);
            if !goes_on {
                return reads;
            }
        }
    }

    #[tokio::test]
    async fn frames_with_a_length_are_read_up_to_the_bound_and_not_beyond() {
        let frame = |bytes: &[u8]| Read::Frame(bytes.to_vec());
        assert_eq!(
            frames(b"\x01\0\0\0a\0\0\0\0\x03\0\0\0bcd", 3).await,
            [frame(b"a"), frame(b""), frame(b"bcd"), Read::End]
        );
        assert_eq!(frames(b"\x04\0\0\0abcd", 3).await, [Read::TooLarge(3)]);
        assert_eq!(frames(b"\xff\xff\xff\xff", 3).await, [Read::TooLarge(3)]);
        for cut in [&b"\x02\0"[..], b"\x02\0\0\0a"] {
            let [Read::Broken(text)] = &frames(cut, 3).await[..] else {
                panic!("it is whole");
            };
            assert!(text.contains("in the middle"), "{text}");
        }
    }

    #[tokio::test]
    async fn a_cancelled_read_of_a_length_loses_nothing() {
        let (ours, theirs) = tokio::io::duplex(64);
        let mut reader = LengthReader::new(Box::new(theirs), 64);
        let writer = StreamWriter::new(Box::new(ours), Framing::Lengths);
        assert!(begin(reader.frame()).await.is_none());
        writer.send(b"whole".to_vec()).await.expect("room");
        assert_eq!(reader.frame().await, Read::Frame(b"whole".to_vec()));
    }

    #[tokio::test]
    async fn a_cancelled_read_loses_nothing() {
        let (mut ours, theirs) = tokio::io::duplex(64);
        let mut reader = LineReader::new(Box::new(theirs), 64);
        ours.write_all(b"half a").await.expect("room");
        assert!(begin(reader.next()).await.is_none());
        ours.write_all(b" line\n").await.expect("room");
        let Read::Frame(line) = FrameSource::next(&mut reader).await else {
            panic!("no line")
        };
        assert_eq!(line, b"half a line\n");
    }

    #[tokio::test]
    async fn a_write_that_nobody_reads_is_told_to_the_reader_only() {
        let (ours, theirs) = tokio::io::duplex(64);
        let writer = StreamWriter::new(Box::new(ours), Framing::Lines);
        assert!(begin(writer.broken(Duration::ZERO)).await.is_none());
        drop(theirs);
        writer.send(b"lost".to_vec()).await.expect("no error");
        writer.broken(Duration::ZERO).await;
    }

    #[tokio::test]
    async fn closing_frees_a_sender_that_is_stuck() {
        let (ours, mut theirs) = tokio::io::duplex(1);
        let writer = StreamWriter::new(Box::new(ours), Framing::Lines);
        let (sent, ()) = tokio::join!(writer.send(b"stuck".to_vec()), async { writer.close() });
        assert!(matches!(sent, Err(SendError::Closed)));
        writer.closed().await;
        let mut read = Vec::new();
        theirs
            .read_to_end(&mut read)
            .await
            .expect("the end of the input");
        assert_eq!(read, b"s");
        writer
            .send(b"more".to_vec())
            .await
            .expect_err("it stays closed");
    }
}
