//! The socket of the browser extension "Claude in Chrome", as a server of MCP.
//!
//! It speaks a protocol of its own: frames that begin with their length, one method, and neither a handshake
//! nor a list of tools. Here it gets both: calls go out in its words, its answers come back as those of MCP,
//! and what it does not know is answered on its behalf.

mod answers;
mod sockets;
mod tabs;

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::channel::mpsc;
use futures::future::{BoxFuture, ready};
use futures::stream::{self, StreamExt as _};
use serde_json::{Map, Value, json};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::error::ErrorKind;
use super::frames::{FrameSink, FrameSource, FrameWriter, LARGEST_FRAME, SendError};
use super::link::ReadEnd;
use super::streams::{length_writer, lengths};
use answers::OpenCalls;

/// What the server calls itself.
const SERVER_NAME: &str = "claude-in-chrome";

/// Connects to the first socket of the extension that accepts, and finds a tab to work in. `environment`
/// says where the temp folder is, and who the user is.
pub(super) async fn connect(
    environment: &[(OsString, OsString)],
) -> Result<(FrameSource, ChromeSink), ErrorKind> {
    let (read, write) = sockets::connect(environment).await?.into_split();
    over(read, write).await
}

async fn over(
    read: OwnedReadHalf,
    write: OwnedWriteHalf,
) -> Result<(FrameSource, ChromeSink), ErrorKind> {
    let (mut frames, writer) = (lengths(read, LARGEST_FRAME), length_writer(write));
    let tab = tabs::find(&mut frames, &writer).await?;
    let calls = Arc::new(Mutex::new(OpenCalls::default()));
    let (own_answers, to_come) = mpsc::unbounded();
    // What the extension answers, in the words of MCP, and what is answered on its behalf.
    let open = Arc::clone(&calls);
    let answers = frames.filter_map(move |frame| {
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        ready(match frame {
            Ok(frame) => open.translate(frame).map(Ok),
            Err(end) => Some(Err(end)),
        })
    });
    let ended = stream::once(ready(Err(ReadEnd::Closed)));
    let source = stream::select(to_come.map(Ok), answers.chain(ended)).boxed();
    let sink = ChromeSink {
        writer,
        calls,
        own_answers,
        tab,
    };
    Ok((source, sink))
}

/// A call as the extension takes it.
fn execute_tool(id: &Value, tool: &str, args: &Map<String, Value>) -> Vec<u8> {
    let frame = json!({
        "jsonrpc": "2.0",
        "id": id,
        "method": "execute_tool",
        "params": { "tool": tool, "args": args },
    });
    frame.to_string().into_bytes()
}

/// Calls in the words of the extension.
pub(super) struct ChromeSink {
    writer: FrameWriter,
    calls: Arc<Mutex<OpenCalls>>,
    own_answers: mpsc::UnboundedSender<Vec<u8>>,
    /// The tab of every call that names none.
    tab: Value,
}

impl ChromeSink {
    /// What to send for `message`; nothing if it is answered here, or says nothing that the extension knows.
    fn translate(&self, message: &Value) -> Option<Vec<u8>> {
        let id = &message["id"];
        let params = &message["params"];
        match message["method"].as_str()? {
            "tools/call" => {
                let tool = params["name"].as_str().unwrap_or_default();
                let mut args = params["arguments"].as_object().cloned().unwrap_or_default();
                args.entry("tabId").or_insert_with(|| self.tab.clone());
                self.calls().opened(id);
                Some(execute_tool(id, tool, &args))
            }
            "notifications/cancelled" => {
                self.calls().given_up(&params["requestId"]);
                None
            }
            "initialize" => {
                self.answer(&json!({
                    "jsonrpc": "2.0",
                    "id": id,
                    "result": {
                        "protocolVersion": params["protocolVersion"],
                        "capabilities": { "tools": {} },
                        "serverInfo": { "name": SERVER_NAME, "version": "" },
                    },
                }));
                None
            }
            method => {
                if !id.is_null() {
                    let message = format!("the extension has no method `{method}`");
                    self.answer(&json!({
                        "jsonrpc": "2.0",
                        "id": id,
                        "error": { "code": -32601, "message": message },
                    }));
                }
                None
            }
        }
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, OpenCalls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, answer: &Value) {
        // An error means that nobody listens any more.
        let _ = self
            .own_answers
            .unbounded_send(answer.to_string().into_bytes());
    }
}

impl FrameSink for ChromeSink {
    fn added_arguments(&self) -> Map<String, Value> {
        Map::from_iter([("tabId".to_owned(), self.tab.clone())])
    }

    fn send(&self, frame: Vec<u8>) -> BoxFuture<'_, Result<(), SendError>> {
        Box::pin(async move {
            let message = serde_json::from_slice(&frame)
                .map_err(|error| SendError::Unwritable(error.to_string()))?;
            match self.translate(&message) {
                Some(frame) => self.writer.send(frame).await,
                None => Ok(()),
            }
        })
    }

    fn broken(&self, grace: Duration) -> BoxFuture<'_, ()> {
        self.writer.broken(grace)
    }

    fn close(&self) {
        self.writer.close();
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        self.writer.closed()
    }
}

#[cfg(test)]
mod tests;
