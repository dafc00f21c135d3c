//! Lines of bounded length from a stream of bytes.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line with its end, if it had one.
    Whole(Vec<u8>),
    /// It is longer than this bound.
    TooLong(usize),
    /// There are no more. An error of a pipe means the same.
    End,
}

/// Reads lines of bounded length.
pub struct LineReader {
    io: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    /// The line begun. It outlives a cancelled read.
    line: Vec<u8>,
    bound: usize,
}

impl LineReader {
    /// Lines of at most `bound` bytes.
    pub fn new(io: Box<dyn AsyncRead + Send + Unpin>, bound: usize) -> Self {
        Self {
            io: BufReader::with_capacity(64 * 1024, io),
            line: Vec::new(),
            bound,
        }
    }

    /// The next line; the last one may lack its line end. Cancel safe.
    pub async fn next(&mut self) -> Line {
        loop {
            let room = (self.bound + 1).saturating_sub(self.line.len());
            let mut limited = (&mut self.io).take(room as u64);
            let read = limited.read_until(b'\n', &mut self.line).await;
            if self.line.ends_with(b"\n") {
                return Line::Whole(std::mem::take(&mut self.line));
            }
            if self.line.len() > self.bound {
                self.line = Vec::new();
                return Line::TooLong(self.bound);
            }
            if matches!(read, Ok(0) | Err(_)) {
                return match self.line.is_empty() {
                    true => Line::End,
                    false => Line::Whole(std::mem::take(&mut self.line)),
                };
            }
        }
    }
}

impl std::fmt::Debug for LineReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("LineReader")
            .field("bound", &self.bound)
            .finish_non_exhaustive()
    }
}
