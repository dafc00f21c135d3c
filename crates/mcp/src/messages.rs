//! From frames to the messages of the protocol, over every transport but Streamable HTTP, which the SDK has.
//!
//! A frame that is no JSON becomes a notice, and a malformed answer fails its call at once instead of
//! leaving it to its timeout. Results of calls are handed on as they came: the SDK's own types know no content they
//! don't know.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use cuecard_tool_call::model::QuestionKind;
use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, CustomRequest, CustomResult, ErrorCode, ErrorData, RequestId,
    ServerJsonRpcMessage, ServerRequest, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};

use super::frames::{FrameSink, FrameSource, LARGEST_FRAME, SendError};
use super::link::{Link, ReadEnd, lock};
use super::requests::{Asked, OpenRequests, Unmatched};
use super::streams::{line_writer, lines};

/// The most messages in one JSON-RPC batch.
const LARGEST_BATCH: usize = 1_000;

/// The most lines in a row that are no messages: a server that prints more only prints.
const MOST_STRAY_LINES: usize = 100_000;

/// How long a server that no longer reads may still write.
const PATIENCE: Duration = Duration::from_millis(200);

/// The code of the error that stands for a malformed answer: no server's, since the protocol has none of this kind.
pub(super) const MALFORMED: ErrorCode = ErrorCode(i32::MIN);

/// Messages out of frames, and frames out of messages.
pub(super) struct MessageTransport {
    source: FrameSource,
    sink: Arc<dyn FrameSink>,
    open: Arc<Mutex<OpenRequests>>,
    link: Arc<Link>,
    /// Whether what is no message may be a banner, as on standard output.
    has_banners: bool,
    /// Lines since the last message.
    stray_lines: usize,
    /// Messages of a frame, in their order.
    queue: VecDeque<Incoming>,
    /// Returns when nothing more is to be read, whatever the source says.
    over: BoxFuture<'static, ()>,
}

enum Incoming {
    /// Yet to be read.
    Value(Value),
    Ready(Box<ServerJsonRpcMessage>),
}

impl MessageTransport {
    /// Messages as frames, of which each is one message.
    pub(super) fn new(source: FrameSource, sink: impl FrameSink, link: Arc<Link>) -> Self {
        let sink: Arc<dyn FrameSink> = Arc::new(sink);
        Self {
            source,
            over: over(Arc::clone(&link), Arc::clone(&sink)).boxed(),
            sink,
            open: Arc::default(),
            link,
            has_banners: false,
            stray_lines: 0,
            queue: VecDeque::new(),
        }
    }

    /// Messages as lines over a pair of streams.
    pub(super) fn lines(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + 'static,
        link: Arc<Link>,
    ) -> Self {
        let (source, sink) = (lines(read, LARGEST_FRAME), line_writer(write));
        let mut transport = Self::new(source, sink, link);
        transport.has_banners = true;
        transport
    }

    /// Where frames go.
    pub(super) fn sink(&self) -> Arc<dyn FrameSink> {
        Arc::clone(&self.sink)
    }

    fn open(&self) -> MutexGuard<'_, OpenRequests> {
        lock(&self.open)
    }

    /// Takes one frame apart: a message, a batch of them, or neither.
    fn take_frame(&mut self, frame: &[u8]) {
        // A line without its end is the last.
        let is_last = self.has_banners && !frame.ends_with(b"\n");
        let frame = frame
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(frame)
            .trim_ascii();
        if frame.is_empty() {
            return;
        }
        match serde_json::from_slice(&self.link.mended(frame)) {
            Ok(Value::Array(batch)) if batch.len() > LARGEST_BATCH => {
                self.bad_frame(
                    frame,
                    &format!("a batch of more than {LARGEST_BATCH} messages"),
                );
            }
            Ok(Value::Array(batch)) => self.queue.extend(batch.into_iter().map(Incoming::Value)),
            Ok(value @ Value::Object(_)) => self.queue.push_back(Incoming::Value(value)),
            Err(error) if looks_like_a_message(frame) => {
                let reason = match is_last && error.is_eof() {
                    true => "the connection ended in the middle of it".to_owned(),
                    false => format!("it is not valid JSON: {error}"),
                };
                self.bad_frame(frame, &reason);
                // It answers something, and that can only be the one request that is open.
                let mut open = self.open();
                let asked = open.only_open().and_then(|id| Some((id, open.close(id)?)));
                drop(open);
                if let Some((id, asked)) = asked {
                    let failed = self.failed(id, asked, reason);
                    self.queue.push_back(Incoming::Ready(Box::new(failed)));
                }
            }
            // Other JSON, such as a number, is as much of a banner as any text.
            Ok(_) | Err(_) if self.has_banners => {
                self.stray_lines += 1;
                self.link.stray_output(&beginning(frame));
            }
            Ok(_) => self.bad_frame(frame, "it is not an object"),
            Err(error) => self.bad_frame(frame, &format!("it is not valid JSON: {error}")),
        }
    }

    /// What one JSON value means to the protocol; nothing if it is no valid message.
    fn take_message(&mut self, value: Value) -> Option<ServerJsonRpcMessage> {
        let Value::Object(mut message) = value else {
            self.bad_frame(
                value.to_string().as_bytes(),
                "a batch contains something that is not an object",
            );
            return None;
        };
        let is_answer = !message.contains_key("method")
            && (message.contains_key("result") || message.contains_key("error"));
        if is_answer {
            return self.take_answer(&mut message);
        }
        if let Some(request) = self.request_during_a_call(&mut message) {
            return Some(request);
        }
        let value = Value::Object(message);
        match ServerJsonRpcMessage::deserialize_value(&value) {
            Ok(message) => Some(message),
            Err(reason) => {
                self.bad_frame(value.to_string().as_bytes(), &reason);
                None
            }
        }
    }

    /// A question of the server's while it owes an answer, as it came: the SDK's own types lack what they don't know. The
    /// stateless protocol allows it only then, and the SDK refuses others.
    fn request_during_a_call(
        &self,
        message: &mut Map<String, Value>,
    ) -> Option<ServerJsonRpcMessage> {
        let method = message.get("method")?.as_str()?;
        if QuestionKind::of_method(method).is_none() || !self.open().is_call_open() {
            return None;
        }
        let id = match message.get("id")? {
            Value::Number(number) => RequestId::Number(number.as_i64()?),
            Value::String(text) => RequestId::String(text.as_str().into()),
            _ => return None,
        };
        let method = method.to_owned();
        let question = CustomRequest::new(method, message.remove("params"));
        let question = ServerRequest::CustomRequest(question);
        Some(ServerJsonRpcMessage::request(question, id))
    }

    fn take_answer(&mut self, message: &mut Map<String, Value>) -> Option<ServerJsonRpcMessage> {
        let mut open = self.open();
        let (id, asked) = match open.id_of(message) {
            Ok(id) => (id, open.close(id)?),
            Err(unmatched) => {
                drop(open);
                match unmatched {
                    Unmatched::Late { discovered: true } => self.link.note_late_discovery(),
                    Unmatched::Late { discovered: false } => {}
                    Unmatched::Unknown(reason) => self.bad_answer(message, &reason),
                }
                return None;
            }
        };
        drop(open);
        // With the id we matched, in the one form the SDK compares.
        let result = match outcome(message) {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => {
                let id = Some(RequestId::Number(id));
                return Some(ServerJsonRpcMessage::error(error, id));
            }
            Err(reason) => {
                self.bad_answer(message, &reason);
                return Some(self.failed(id, asked, reason));
            }
        };
        if asked == Asked::Call {
            let result = ServerResult::CustomResult(CustomResult::new(result));
            return Some(ServerJsonRpcMessage::response(
                result,
                RequestId::Number(id),
            ));
        }
        let answer = serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": result });
        match ServerJsonRpcMessage::deserialize_value(&answer) {
            Ok(answer) => Some(answer),
            Err(reason) => {
                self.bad_frame(answer.to_string().as_bytes(), &reason);
                Some(self.failed(id, asked, reason))
            }
        }
    }

    /// The end of request `id`, whose answer is malformed.
    fn failed(&self, id: i64, asked: Asked, reason: String) -> ServerJsonRpcMessage {
        if asked != Asked::Call {
            self.link.fault(reason.clone());
        }
        let error = ErrorData::new(MALFORMED, reason, None);
        ServerJsonRpcMessage::error(error, Some(RequestId::Number(id)))
    }

    fn bad_answer(&self, message: &mut Map<String, Value>, reason: &str) {
        let text = Value::Object(std::mem::take(message)).to_string();
        self.bad_frame(text.as_bytes(), reason);
    }

    fn bad_frame(&self, frame: &[u8], reason: &str) {
        self.link.broken_message(&beginning(frame), reason);
    }
}

impl Transport<RoleClient> for MessageTransport {
    type Error = SendError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.open().note_sent(&message);
        let frame = serde_json::to_vec(&message);
        let request = match message {
            ClientJsonRpcMessage::Request(request) => Some(request.id),
            _ => None,
        };
        let (sink, open) = (Arc::clone(&self.sink), Arc::clone(&self.open));
        async move {
            let frame = frame.map_err(|error| SendError::Unwritable(error.to_string()))?;
            let sent = sink.send(frame).await;
            if let (Err(_), Some(RequestId::Number(id))) = (&sent, request) {
                lock(&open).close(id);
            }
            sent
        }
    }

    // Cancel safe: a frame begun stays in the source, and nothing is awaited after a frame was taken.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            while let Some(incoming) = self.queue.pop_front() {
                let message = match incoming {
                    Incoming::Value(value) => self.take_message(value),
                    Incoming::Ready(message) => Some(*message),
                };
                if message.is_some() {
                    self.stray_lines = 0;
                    return message;
                }
            }
            // A server that prints all the time must not keep the others from being read.
            tokio::task::coop::consume_budget().await;
            let read = tokio::select! {
                biased;
                read = self.source.next() => read,
                () = &mut self.over => None,
            };
            let end = match read {
                Some(Ok(frame)) => {
                    self.take_frame(&frame);
                    if self.stray_lines <= MOST_STRAY_LINES {
                        continue;
                    }
                    ReadEnd::Broken(format!(
                        "it printed more than {MOST_STRAY_LINES} lines in a row that are not messages"
                    ))
                }
                Some(Err(end)) => end,
                None => ReadEnd::Closed,
            };
            self.link.end_reading(end);
            return None;
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.sink.close();
        Ok(())
    }
}

impl Drop for MessageTransport {
    fn drop(&mut self) {
        self.link.end_reading(ReadEnd::Dropped);
    }
}

/// Returns when the process is gone, though a child of it may keep the pipe open, and when nobody takes what is sent.
async fn over(link: Arc<Link>, sink: Arc<dyn FrameSink>) {
    tokio::select! {
        _ = link.ended() => {}
        () = sink.broken(PATIENCE) => {}
    }
}

/// What an answer says; the reason if it is malformed.
fn outcome(message: &mut Map<String, Value>) -> Result<Result<Value, ErrorData>, String> {
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err("the response has no `\"jsonrpc\": \"2.0\"`".to_owned());
    }
    match (message.contains_key("result"), message.get("error")) {
        (true, Some(error)) if !error.is_null() => {
            Err("the response has both `result` and `error`".to_owned())
        }
        (false, Some(error)) => Ok(Err(read_error(error)?)),
        // Some servers send `"error": null` beside their result.
        _ => Ok(Ok(message.remove("result").unwrap_or_default())),
    }
}

/// A JSON-RPC error, leniently: a code that is no small integer becomes 0, a message is looked for.
fn read_error(error: &Value) -> Result<ErrorData, String> {
    let Value::Object(fields) = error else {
        return match error {
            Value::String(text) => Ok(ErrorData::new(ErrorCode(0), text.clone(), None)),
            _ => Err("its `error` is not an object".to_owned()),
        };
    };
    let code = fields
        .get("code")
        .and_then(Value::as_i64)
        .and_then(|code| i32::try_from(code).ok());
    let message = match fields.get("message") {
        Some(Value::String(message)) => message.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let data = fields.get("data").filter(|data| !data.is_null()).cloned();
    Ok(ErrorData::new(ErrorCode(code.unwrap_or(0)), message, data))
}

/// `ServerJsonRpcMessage` from a value, with the reason as a text.
trait DeserializeValue: Sized {
    fn deserialize_value(value: &Value) -> Result<Self, String>;
}

impl DeserializeValue for ServerJsonRpcMessage {
    fn deserialize_value(value: &Value) -> Result<Self, String> {
        <Self as serde::Deserialize>::deserialize(value).map_err(|error| error.to_string())
    }
}

/// Whether a frame that is no JSON was meant to be a message, and no banner.
fn looks_like_a_message(frame: &[u8]) -> bool {
    frame.starts_with(b"{")
        && frame[..frame.len().min(200)]
            .windows(9)
            .any(|part| part == b"\"jsonrpc\"")
}

/// The first bytes of a frame as a text.
fn beginning(frame: &[u8]) -> String {
    // More than is shown, since escape sequences and secrets are yet to be taken out.
    String::from_utf8_lossy(&frame[..frame.len().min(4_096)]).into_owned()
}
