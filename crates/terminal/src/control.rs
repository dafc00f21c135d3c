//! The channel between the executor and the agent in the terminal, who play one timeline: the executor says when
//! each step is due, the agent what it has done.
//!
//! JSON lines over a Unix socket, whose path the agent finds in `CUECARD_CONTROL`. The agent says hello first.

use std::io;
use std::path::Path;

use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::Json;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// The variable with the path of the socket.
pub const CONTROL_VARIABLE: &str = "CUECARD_CONTROL";

/// What the agent says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromAgent {
    /// It is there, and plays the timeline with this fingerprint.
    Hello(String),
    /// The same for an agent that speaks ACP with the program.
    HelloAcp(String),
    /// A line of its trace.
    Trace(Json),
    /// Something that it found.
    Found(ControlFinding),
    /// It has done the step of this number.
    Done(usize),
}

/// What the executor says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromExecutor {
    /// The step of this number is due.
    Play(usize),
    /// The timeline is over.
    End,
}

/// A finding, as it goes through the channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlFinding {
    /// Its code.
    pub code: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// What it says.
    pub message: String,
    /// The event that it is about.
    pub event_idx: Option<usize>,
    /// Facts beside.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl ControlFinding {
    /// A finding about an event.
    pub fn of(found: &Diagnostic, event_idx: Option<usize>) -> Self {
        Self {
            code: found.code.name().to_owned(),
            severity: found.severity.as_str().to_owned(),
            message: found.message.clone(),
            event_idx,
            notes: found.notes.clone(),
            help: found.help.clone(),
        }
    }
}

/// One end of the channel.
#[derive(Debug)]
pub struct Channel {
    lines: Lines<BufReader<OwnedReadHalf>>,
    out: OwnedWriteHalf,
}

impl Channel {
    /// The end of a connection.
    pub fn new(stream: UnixStream) -> Self {
        let (read, out) = stream.into_split();
        Self {
            lines: BufReader::new(read).lines(),
            out,
        }
    }

    /// Connects to an executor.
    ///
    /// # Errors
    /// The operating system's.
    pub async fn connect(path: &Path) -> io::Result<Self> {
        Ok(Self::new(UnixStream::connect(path).await?))
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The operating system's: the other side is gone.
    pub async fn send<M: Serialize>(&mut self, message: &M) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.out.write_all(&line).await
    }

    /// The next message; nothing when the other side is gone or says what is no message.
    pub async fn next<M: for<'de> Deserialize<'de>>(&mut self) -> Option<M> {
        let line = self.lines.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }
}
