//! Frames of bounded length over streams of bytes: lines, and frames that begin with their length.

use std::io;

use futures::future::ready;
use futures::{SinkExt as _, StreamExt as _, stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::bytes::Bytes;
use tokio_util::codec::{
    BytesCodec, FramedWrite, LengthDelimitedCodec, LengthDelimitedCodecError, length_delimited,
};

use cuecard_runtime::lines::{Line, LineReader};

use super::frames::{FrameSource, FrameWriter, SendError};
use super::link::ReadEnd;

/// Reads lines of at most `bound` bytes.
pub(super) fn lines(read: impl AsyncRead + Send + Unpin + 'static, bound: usize) -> FrameSource {
    let reader = LineReader::new(Box::new(read), bound);
    // Nobody knows where the next line begins after one that is too long.
    let lines = stream::unfold(Some(reader), |reader| async move {
        let mut reader = reader?;
        match reader.next().await {
            Line::Whole(line) => Some((Ok(line), Some(reader))),
            Line::TooLong(bound) => Some((Err(ReadEnd::TooLarge(bound)), None)),
            Line::End => None,
        }
    });
    lines.boxed()
}

/// Writes lines.
pub(super) fn line_writer(write: impl AsyncWrite + Send + 'static) -> FrameWriter {
    let lines = FramedWrite::new(write, BytesCodec::new());
    FrameWriter::new(lines.with(|mut line: Vec<u8>| {
        line.push(b'\n');
        ready(Ok::<_, SendError>(Bytes::from(line)))
    }))
}

/// The length before each frame: 4 bytes, little-endian.
fn length_codec(bound: usize) -> length_delimited::Builder {
    let mut codec = LengthDelimitedCodec::builder();
    codec
        .little_endian()
        .length_field_length(4)
        .max_frame_length(bound);
    codec
}

/// Reads frames that begin with their length, of at most `bound` bytes.
pub(super) fn lengths(read: impl AsyncRead + Send + Unpin + 'static, bound: usize) -> FrameSource {
    let is_too_large = |error: &io::Error| {
        error
            .get_ref()
            .is_some_and(<dyn std::error::Error + Send + Sync>::is::<LengthDelimitedCodecError>)
    };
    let frames = length_codec(bound).new_read(read);
    let frames = stream::unfold(frames, move |mut frames| async move {
        let frame = match frames.next().await {
            Some(Ok(frame)) => Ok(frame.into()),
            Some(Err(error)) if is_too_large(&error) => Err(ReadEnd::TooLarge(bound)),
            // An error of a socket means the same as its end.
            Some(Err(_)) if !frames.read_buffer().is_empty() => Err(ReadEnd::Broken(
                "the connection ended in the middle of a message".to_owned(),
            )),
            _ => return None,
        };
        Some((frame, frames))
    });
    frames.boxed()
}

/// Writes frames behind their length.
pub(super) fn length_writer(write: impl AsyncWrite + Send + 'static) -> FrameWriter {
    let frames = length_codec(u32::MAX as usize).new_write(write);
    FrameWriter::new(frames.with(|frame: Vec<u8>| ready(Ok::<_, SendError>(Bytes::from(frame)))))
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::Poll;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::super::frames::FrameSink as _;
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
        let read = lines(input, bound).map(|line| match line {
            Ok(line) => String::from_utf8_lossy(&line).into_owned(),
            Err(end) => format!("{end:?}"),
        });
        read.collect().await
    }

    #[tokio::test]
    async fn lines_are_read_up_to_the_bound_and_not_beyond() {
        assert_eq!(read_all(b"", 3).await, [""; 0]);
        assert_eq!(read_all(b"a\n\nbc", 3).await, ["a\n", "\n", "bc"]);
        assert_eq!(read_all(b"abc\nabc", 3).await, ["abc\n", "abc"]);
        assert_eq!(read_all(b"a\nabcd\n", 3).await, ["a\n", "TooLarge(3)"]);
        assert_eq!(read_all(b"abcd", 3).await, ["TooLarge(3)"]);
    }

    #[tokio::test]
    async fn frames_with_a_length_are_read_up_to_the_bound_and_not_beyond() {
        let frames = |input| lengths(input, 3).collect::<Vec<_>>();
        let frame = |bytes: &[u8]| Ok(bytes.to_vec());
        assert_eq!(
            frames(&b"\x01\0\0\0a\0\0\0\0\x03\0\0\0bcd"[..]).await,
            [frame(b"a"), frame(b""), frame(b"bcd")]
        );
        for large in [&b"\x04\0\0\0abcd"[..], b"\xff\xff\xff\xff"] {
            let mut frames = lengths(large, 3);
            assert_eq!(frames.next().await, Some(Err(ReadEnd::TooLarge(3))));
        }
        for cut in [&b"\x02\0"[..], b"\x02\0\0\0a"] {
            let Some(Err(ReadEnd::Broken(text))) = lengths(cut, 3).next().await else {
                panic!("it is whole");
            };
            assert!(text.contains("in the middle"), "{text}");
        }
    }

    #[tokio::test]
    async fn a_cancelled_read_of_a_length_loses_nothing() {
        let (ours, theirs) = tokio::io::duplex(64);
        let (mut frames, writer) = (lengths(theirs, 64), length_writer(ours));
        assert!(begin(frames.next()).await.is_none());
        writer.send(b"whole".to_vec()).await.expect("room");
        assert_eq!(frames.next().await, Some(Ok(b"whole".to_vec())));
    }

    #[tokio::test]
    async fn a_cancelled_read_loses_nothing() {
        let (mut ours, theirs) = tokio::io::duplex(64);
        let mut lines = lines(theirs, 64);
        ours.write_all(b"half a").await.expect("room");
        assert!(begin(lines.next()).await.is_none());
        ours.write_all(b" line\n").await.expect("room");
        assert_eq!(lines.next().await, Some(Ok(b"half a line\n".to_vec())));
    }

    #[tokio::test]
    async fn a_write_that_nobody_reads_is_told_to_the_reader_only() {
        let (ours, theirs) = tokio::io::duplex(64);
        let writer = line_writer(ours);
        assert!(begin(writer.broken(Duration::ZERO)).await.is_none());
        drop(theirs);
        writer.send(b"lost".to_vec()).await.expect("no error");
        writer.broken(Duration::ZERO).await;
    }

    #[tokio::test]
    async fn closing_frees_a_sender_that_is_stuck() {
        let (ours, mut theirs) = tokio::io::duplex(1);
        let writer = line_writer(ours);
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
