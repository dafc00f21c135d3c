//! Carries out faults on a stream of lines: what [`crate::fault::FrameFaults`] asks for, written.

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use crate::fault::Act;

/// How many bytes a piece of a split frame has.
const PIECE: usize = 7;

/// How many bytes of a flood are written at once.
const FLOOD_PIECE: usize = 64 << 10;

/// How writing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriterEnd {
    /// There is nothing more to write.
    Finished,
    /// A fault ended the stream, or the client is gone.
    Cut,
    /// A fault ended the whole agent.
    Crashed,
}

/// Does what is due; `text` is written with the next flush. Says if that was the end.
///
/// # Errors
/// If the stream can't be written.
pub async fn carry_out(
    act: Act,
    text: &mut Vec<u8>,
    out: &mut (impl AsyncWrite + Unpin),
) -> io::Result<Option<WriterEnd>> {
    let push = |text: &mut Vec<u8>, bytes: &[u8]| {
        text.extend_from_slice(bytes);
        text.push(b'\n');
    };
    match act {
        Act::Send(bytes) => push(text, &bytes),
        Act::SendTogether(all) => {
            flush(text, out).await?;
            for bytes in &all {
                push(text, bytes);
            }
            flush(text, out).await?;
        }
        Act::SendSplit(bytes) => {
            flush(text, out).await?;
            let mut whole = Vec::new();
            push(&mut whole, &bytes);
            for piece in whole.chunks(PIECE) {
                out.write_all(piece).await?;
                out.flush().await?;
                // Each piece is seen by itself.
                tokio::task::yield_now().await;
            }
        }
        Act::SendHalf(bytes) => {
            text.extend_from_slice(&bytes[..bytes.len() / 2]);
            flush(text, out).await?;
            return Ok(Some(WriterEnd::Cut));
        }
        Act::Stall | Act::FloodErrors(_) => {}
        Act::Crash => {
            flush(text, out).await?;
            return Ok(Some(WriterEnd::Crashed));
        }
    }
    Ok(None)
}

/// Writes `text` and what `out` holds back.
///
/// # Errors
/// If the stream can't be written.
pub async fn flush(text: &mut Vec<u8>, out: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    if !text.is_empty() {
        out.write_all(text).await?;
        text.clear();
    }
    out.flush().await
}

/// Writes so many bytes of noise to standard error.
///
/// # Errors
/// If nobody reads it any more.
pub async fn flood_errors(n_bytes: usize) -> io::Result<()> {
    const LINE: &[u8] = b"warning: this is noise that a fault of the scenario asked for\n";
    // Many lines at a time: each write goes to another thread.
    let piece = LINE.repeat(FLOOD_PIECE / LINE.len());
    let mut errors = tokio::io::stderr();
    for _ in 0..n_bytes.div_ceil(piece.len()) {
        errors.write_all(&piece).await?;
    }
    errors.flush().await
}

/// A line that is no JSON: two thirds of a message.
pub fn garbage(message: &[u8]) -> Vec<u8> {
    message[..message.len() * 2 / 3].to_vec()
}
