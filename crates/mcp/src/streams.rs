//! Frames of bounded length over streams of bytes: lines, and frames that begin with their length.

use std::io;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, watch};

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
    io: Box<dyn AsyncRead + Send + Unpin>,
    /// What was read and not yet given. It outlives a cancelled read.
    buffer: Vec<u8>,
    bound: usize,
}

impl LengthReader {
    /// Frames of at most `bound` bytes.
    pub(super) fn new(io: Box<dyn AsyncRead + Send + Unpin>, bound: usize) -> Self {
        Self {
            io,
            buffer: Vec::new(),
            bound,
        }
    }

    /// The next frame, without its length. Cancel safe.
    pub(super) async fn frame(&mut self) -> Read {
        loop {
            let missing = match self.buffer.first_chunk::<4>() {
                None => 4 - self.buffer.len(),
                Some(length) => {
                    let length = u32::from_le_bytes(*length);
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    if length > self.bound {
                        return Read::TooLarge(self.bound);
                    }
                    let end = length + 4;
                    if self.buffer.len() == end {
                        return Read::Frame(std::mem::take(&mut self.buffer).split_off(4));
                    }
                    end - self.buffer.len()
                }
            };
            // The length is only a claim, so memory is taken as bytes come.
            self.buffer.reserve(missing.min(64 * 1024));
            let mut limited = (&mut self.io).take(missing as u64);
            match limited.read_buf(&mut self.buffer).await {
                Ok(1..) => {}
                // An error of a socket means the same as its end.
                Ok(0) | Err(_) if self.buffer.is_empty() => return Read::End,
                Ok(0) | Err(_) => {
                    let text = "the connection ended in the middle of a message";
                    return Read::Broken(text.to_owned());
                }
            }
        }
    }
}

/// Writes frames into a stream.
pub(super) struct StreamWriter {
    framing: Framing,
    out: Mutex<Out>,
    closing: watch::Sender<bool>,
    loss: Loss,
}

struct Out {
    /// Dropped when closed, which is the end of the input for the server.
    io: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    /// What is still to be written.
    pending: Vec<u8>,
    written: usize,
}

impl StreamWriter {
    pub(super) fn new(io: Box<dyn AsyncWrite + Send + Unpin>, framing: Framing) -> Self {
        Self {
            framing,
            out: Mutex::new(Out {
                io: Some(io),
                pending: Vec::new(),
                written: 0,
            }),
            closing: watch::Sender::new(false),
            loss: Loss::new(),
        }
    }

    async fn write(&self, frame: Vec<u8>) -> Result<(), WriteError> {
        let mut out = self.out.lock().await;
        out.flush().await?;
        out.pending = match self.framing {
            Framing::Lines => {
                let mut frame = frame;
                frame.push(b'\n');
                frame
            }
            Framing::Lengths => {
                let length = u32::try_from(frame.len()).map_err(|_| WriteError::TooLong)?;
                let mut whole = Vec::with_capacity(frame.len() + 4);
                whole.extend_from_slice(&length.to_le_bytes());
                whole.extend_from_slice(&frame);
                whole
            }
        };
        out.flush().await
    }
}

impl FrameSink for StreamWriter {
    // That nobody reads it is no error: what the other side wrote before it stopped says more, so it is for
    // the reader to end the connection.
    fn send(&self, frame: Vec<u8>) -> BoxFuture<'_, Result<(), SendError>> {
        async move {
            let mut closing = self.closing.subscribe();
            let written = tokio::select! {
                biased;
                _ = closing.wait_for(|closing| *closing) => Err(WriteError::Closed),
                written = self.write(frame) => written,
            };
            match written {
                Ok(()) => Ok(()),
                Err(WriteError::Unread) => {
                    self.loss.note();
                    Ok(())
                }
                Err(WriteError::Closed) => Err(SendError::Closed),
                Err(WriteError::TooLong) => {
                    Err(SendError::Unwritable("it is larger than 4 GiB".to_owned()))
                }
            }
        }
        .boxed()
    }

    fn broken(&self, grace: Duration) -> BoxFuture<'_, ()> {
        self.loss.passed(grace).boxed()
    }

    fn close(&self) {
        self.closing.send_replace(true);
        if let Ok(mut out) = self.out.try_lock() {
            out.io = None;
        }
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        async move {
            self.closing.send_replace(true);
            self.out.lock().await.io = None;
        }
        .boxed()
    }
}

/// Why a frame was not written.
enum WriteError {
    /// By us.
    Closed,
    /// Nobody reads any more.
    Unread,
    TooLong,
}

impl From<io::Error> for WriteError {
    fn from(_: io::Error) -> Self {
        Self::Unread
    }
}

impl Out {
    /// Writes what is pending. A cancelled call goes on where it stopped.
    async fn flush(&mut self) -> Result<(), WriteError> {
        let Some(io) = &mut self.io else {
            return Err(WriteError::Closed);
        };
        while self.written < self.pending.len() {
            match io.write(&self.pending[self.written..]).await? {
                0 => return Err(WriteError::Unread),
                count => self.written += count,
            }
        }
        self.pending = Vec::new();
        self.written = 0;
        io.flush().await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::Poll;

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
    async fn a_frame_whose_sender_gave_up_is_finished_before_the_next() {
        let (ours, mut theirs) = tokio::io::duplex(4);
        let writer = StreamWriter::new(Box::new(ours), Framing::Lines);
        assert!(begin(writer.send(b"0123456789".to_vec())).await.is_none());
        let both = async {
            writer.send(b"next".to_vec()).await.expect("it is read");
            writer.closed().await;
        };
        let mut read = String::new();
        let ((), count) = tokio::join!(both, theirs.read_to_string(&mut read));
        count.expect("text");
        assert_eq!(read, "0123456789\nnext\n");
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
