//! Lines of bounded length over streams of bytes.

use std::io;
use std::time::Duration;

use crate::runtime::clock::Stopwatch;

use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::{Mutex, watch};

/// Reads lines of bounded length.
pub(super) struct LineReader {
    io: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    /// The line begun. It outlives a cancelled read.
    line: Vec<u8>,
    bound: usize,
}

/// One read.
pub(super) enum Read {
    /// A line, with its end if it has one.
    Line(Vec<u8>),
    /// A line over this many bytes; what follows can't be read.
    TooLarge(usize),
    /// The end of the stream.
    End,
}

impl LineReader {
    /// Lines of at most `bound` bytes.
    pub(super) fn new(io: Box<dyn AsyncRead + Send + Unpin>, bound: usize) -> Self {
        Self {
            io: BufReader::with_capacity(64 * 1024, io),
            line: Vec::new(),
            bound,
        }
    }

    /// The next line; the last one may lack its line end. Cancel safe.
    pub(super) async fn next(&mut self) -> Read {
        loop {
            let room = (self.bound + 1).saturating_sub(self.line.len());
            let mut limited = (&mut self.io).take(room as u64);
            let read = limited.read_until(b'\n', &mut self.line).await;
            if self.line.ends_with(b"\n") {
                return Read::Line(std::mem::take(&mut self.line));
            }
            if self.line.len() > self.bound {
                self.line = Vec::new();
                return Read::TooLarge(self.bound);
            }
            // An error of a pipe means the same as its end.
            if matches!(read, Ok(0) | Err(_)) {
                if self.line.is_empty() {
                    return Read::End;
                }
                return Read::Line(std::mem::take(&mut self.line));
            }
        }
    }
}

/// Writes lines. A frame begun is finished before the next, even if its sender gave up.
pub(super) struct LineWriter {
    out: Mutex<Out>,
    closing: watch::Sender<bool>,
    /// When a write failed, because nobody reads any more.
    broken: watch::Sender<Option<Stopwatch>>,
}

struct Out {
    /// Dropped when closed, which is the end of the input for the server.
    io: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    /// What is still to be written.
    pending: Vec<u8>,
    written: usize,
}

impl LineWriter {
    pub(super) fn new(io: Box<dyn AsyncWrite + Send + Unpin>) -> Self {
        Self {
            out: Mutex::new(Out {
                io: Some(io),
                pending: Vec::new(),
                written: 0,
            }),
            closing: watch::Sender::new(false),
            broken: watch::Sender::new(None),
        }
    }

    /// Writes `frame` and a line end. That nobody reads it is no error: what the other side wrote before it
    /// stopped says more, so it is for the reader to end the connection; see [`Self::broken`].
    ///
    /// # Errors
    /// If the connection was closed by us.
    pub(super) async fn send(&self, frame: Vec<u8>) -> io::Result<()> {
        let mut closing = self.closing.subscribe();
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => Err(closed()),
            sent = self.write(frame) => match sent {
                Err(error) if error.kind() != io::ErrorKind::NotConnected => {
                    let now = Stopwatch::start();
                    self.broken.send_if_modified(|since| since.replace(now).is_none());
                    Ok(())
                }
                sent => sent,
            },
        }
    }

    /// Waits until a write has failed and `patience` has passed since, in which the rest of what the other
    /// side wrote can be read. Cancel safe.
    pub(super) async fn broken(&self, patience: Duration) {
        let mut broken = self.broken.subscribe();
        let since = match broken.wait_for(Option::is_some).await {
            Ok(since) => *since,
            Err(_) => None,
        };
        let passed = since.map_or(Duration::ZERO, Stopwatch::elapsed);
        tokio::time::sleep(patience.saturating_sub(passed)).await;
    }

    async fn write(&self, frame: Vec<u8>) -> io::Result<()> {
        let mut out = self.out.lock().await;
        out.flush().await?;
        out.pending = frame;
        out.pending.push(b'\n');
        out.flush().await
    }

    /// Ends the input of the server, at once or when the write under way has been given up.
    pub(super) fn close(&self) {
        self.closing.send_replace(true);
        if let Ok(mut out) = self.out.try_lock() {
            out.io = None;
        }
    }

    /// Like [`Self::close`], and waits until it is done.
    pub(super) async fn closed(&self) {
        self.closing.send_replace(true);
        self.out.lock().await.io = None;
    }
}

impl Out {
    /// Writes what is pending. A cancelled call goes on where it stopped.
    async fn flush(&mut self) -> io::Result<()> {
        let Some(io) = &mut self.io else {
            return Err(closed());
        };
        while self.written < self.pending.len() {
            match io.write(&self.pending[self.written..]).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => self.written += count,
            }
        }
        self.pending = Vec::new();
        self.written = 0;
        io.flush().await
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the connection is closed")
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
            match reader.next().await {
                Read::Line(line) => lines.push(String::from_utf8_lossy(&line).into_owned()),
                Read::TooLarge(bound) => {
                    lines.push(format!("over {bound}"));
                    return lines;
                }
                Read::End => return lines,
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

    #[tokio::test]
    async fn a_cancelled_read_loses_nothing() {
        let (mut ours, theirs) = tokio::io::duplex(64);
        let mut reader = LineReader::new(Box::new(theirs), 64);
        ours.write_all(b"half a").await.expect("room");
        assert!(begin(reader.next()).await.is_none());
        ours.write_all(b" line\n").await.expect("room");
        let Read::Line(line) = reader.next().await else {
            panic!("no line")
        };
        assert_eq!(line, b"half a line\n");
    }

    #[tokio::test]
    async fn a_frame_whose_sender_gave_up_is_finished_before_the_next() {
        let (ours, mut theirs) = tokio::io::duplex(4);
        let writer = LineWriter::new(Box::new(ours));
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
        let writer = LineWriter::new(Box::new(ours));
        assert!(begin(writer.broken(Duration::ZERO)).await.is_none());
        drop(theirs);
        writer.send(b"lost".to_vec()).await.expect("no error");
        writer.broken(Duration::ZERO).await;
    }

    #[tokio::test]
    async fn closing_frees_a_sender_that_is_stuck() {
        let (ours, mut theirs) = tokio::io::duplex(1);
        let writer = LineWriter::new(Box::new(ours));
        let (sent, ()) = tokio::join!(writer.send(b"stuck".to_vec()), async { writer.close() });
        assert_eq!(
            sent.expect_err("closed").kind(),
            io::ErrorKind::NotConnected
        );
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
