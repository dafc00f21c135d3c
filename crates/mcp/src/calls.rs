//! Requests of ours over frames. The SDK shakes hands, and hears what the server says unasked; what a run does most,
//! calling tools, goes past it: written here, and matched with its answer where frames are read.

use std::io::Write as _;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use futures::future::FutureExt as _;
use rmcp::model::ErrorData;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::frames::{FrameSink, SendError};
use super::link::lock;
use super::requests::{Asker, OpenRequests};

/// Room for most requests, in bytes.
const FRAME_ROOM: usize = 1024;
/// The id of our first request. The SDK counts its own from 0, and has none after the handshake.
const FIRST_ID: i64 = 1_000;

/// What became of a request.
pub(super) type Outcome = Result<Value, NoResult>;

/// Why there is no result.
#[derive(Debug)]
pub(super) enum NoResult {
    /// The server says so.
    Error(ErrorData),
    /// The answer is malformed, for this reason.
    Malformed(String),
    /// It was not sent.
    Unsent(SendError),
}

/// The requests over one connection, and where frames go.
pub(super) struct Calls {
    sink: Arc<dyn FrameSink>,
    open: Mutex<OpenRequests>,
    next_id: AtomicI64,
    /// What could not be sent at once. It ends with the connection.
    sending: Mutex<JoinSet<()>>,
}

/// A request that was sent.
pub(super) struct Asked {
    pub(super) id: i64,
    /// Its outcome; an error when the connection has ended without one.
    pub(super) outcome: oneshot::Receiver<Outcome>,
}

/// What requests carry besides their parameters, as far as it is the same for all: the beginning of `params` up to the
/// token for progress, as JSON text.
#[derive(Debug)]
pub(super) struct Metadata(String);

impl Metadata {
    pub(super) fn new(meta: &Map<String, Value>) -> Self {
        let mut text = r#"{"_meta":{"#.to_owned();
        for (key, value) in meta {
            let key = Value::from(key.as_str());
            text.push_str(&format!("{key}:{value},"));
        }
        text.push_str(r#""progressToken":"#);
        Self(text)
    }
}

impl Calls {
    pub(super) fn new(sink: impl FrameSink) -> Self {
        Self {
            sink: Arc::new(sink),
            open: Mutex::default(),
            next_id: AtomicI64::new(FIRST_ID),
            sending: Mutex::default(),
        }
    }

    /// Where frames go.
    pub(super) fn sink(&self) -> &Arc<dyn FrameSink> {
        &self.sink
    }

    /// The requests that wait for answers.
    pub(super) fn open(&self) -> MutexGuard<'_, OpenRequests> {
        lock(&self.open)
    }

    /// Sends a request with `params` and `meta`, and with a token for its progress.
    pub(super) fn ask(
        self: &Arc<Self>,
        method: &'static str,
        params: &impl Serialize,
        meta: &Metadata,
    ) -> Asked {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (asker, outcome) = oneshot::channel();
        if !self.open().open(id, asker) {
            return Asked { id, outcome };
        }
        match frame(id, method, params, meta) {
            Ok(frame) => self.send(id, frame),
            Err(error) => self.fail(id, SendError::Unwritable(error.to_string())),
        }
        Asked { id, outcome }
    }

    /// Most frames are taken at once. The others are sent beside whatever else happens: an answer may come before
    /// its request is known to be sent.
    fn send(self: &Arc<Self>, id: i64, frame: Vec<u8>) {
        let sink = Arc::clone(&self.sink);
        let mut sending = async move { sink.send(frame).await }.boxed();
        match sending
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => self.fail(id, error),
            Poll::Pending => {
                let calls = Arc::downgrade(self);
                let mut others = lock(&self.sending);
                while others.try_join_next().is_some() {}
                others.spawn(async move {
                    if let Err(error) = sending.await
                        && let Some(calls) = calls.upgrade()
                    {
                        calls.fail(id, error);
                    }
                });
            }
        }
    }

    fn fail(&self, id: i64, error: SendError) {
        if let Some(Asker::Us(asker)) = self.open().close(id) {
            // Nobody may wait for it any more.
            let _ = asker.send(Err(NoResult::Unsent(error)));
        }
    }

    /// Nothing more is read: who waits for an answer gets none.
    pub(super) fn end(&self) {
        self.open().end();
    }
}

/// A request with `params`, an object, as JSON text.
fn frame(
    id: i64,
    method: &str,
    params: &impl Serialize,
    meta: &Metadata,
) -> serde_json::Result<Vec<u8>> {
    let mut frame = Vec::with_capacity(FRAME_ROOM);
    // Writing into memory can't fail.
    let _ = write!(
        frame,
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{}{id}}}"#,
        meta.0,
    );
    let members = frame.len();
    serde_json::to_writer(&mut frame, params)?;
    // Its members follow `_meta`, if there are any.
    match &frame[members..] {
        b"{}" => {
            frame.remove(members);
        }
        _ => frame[members] = b',',
    }
    frame.push(b'}');
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::future::BoxFuture;
    use rmcp::model::{
        CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, GetMeta as _,
        ListToolsRequest, NumberOrString, PaginatedRequestParams, ProgressToken, RequestId,
        RequestMetaObject,
    };
    use serde_json::json;
    use tokio::sync::mpsc;

    use super::*;

    /// Takes a frame when it is let, or refuses it.
    struct Slow {
        frames: mpsc::UnboundedSender<Vec<u8>>,
        lets: tokio::sync::Semaphore,
        refuses: bool,
    }

    impl Slow {
        fn with_room(lets: usize) -> (Self, mpsc::UnboundedReceiver<Vec<u8>>) {
            let (frames, taken) = mpsc::unbounded_channel();
            let lets = tokio::sync::Semaphore::new(lets);
            let refuses = false;
            (
                Self {
                    frames,
                    lets,
                    refuses,
                },
                taken,
            )
        }
    }

    impl FrameSink for Slow {
        fn send(&self, frame: Vec<u8>) -> BoxFuture<'_, Result<(), SendError>> {
            async move {
                self.lets
                    .acquire()
                    .await
                    .map_err(|_| SendError::Closed)?
                    .forget();
                self.frames.send(frame).map_err(|_| SendError::Closed)?;
                match self.refuses {
                    true => Err(SendError::Unwritable("it is refused".to_owned())),
                    false => Ok(()),
                }
            }
            .boxed()
        }

        fn broken(&self, _patience: Duration) -> BoxFuture<'_, ()> {
            futures::future::pending().boxed()
        }

        fn close(&self) {
            self.lets.close();
        }

        fn closed(&self) -> BoxFuture<'_, ()> {
            self.close();
            futures::future::ready(()).boxed()
        }
    }

    fn ask(calls: &Arc<Calls>) -> Asked {
        calls.ask(
            "tools/call",
            &CallToolRequestParams::new("echo"),
            &Metadata::new(&Map::new()),
        )
    }

    #[tokio::test]
    async fn a_request_is_what_the_sdk_would_send() {
        let (sink, mut frames) = Slow::with_room(usize::MAX >> 3);
        let calls = Arc::new(Calls::new(sink));
        let Value::Object(arguments) = json!({ "b": [1.5, "line\nend"], "a": { "é": {} } }) else {
            panic!("an object")
        };
        let Value::Object(of_session) = json!({ "x/version": "1", "x/\"info\"": { "name": "us" } })
        else {
            panic!("an object")
        };
        let plain = CallToolRequestParams::new("echo \"x\"");
        let mut again = plain.clone().with_arguments(arguments);
        again.input_responses = Some([("q".to_owned(), json!({ "action": "accept" }))].into());
        again.request_state = Some("state".to_owned());
        for (params, meta) in [
            (&plain, &Map::new()),
            (&plain, &of_session),
            (&again, &of_session),
        ] {
            let id = calls.ask("tools/call", params, &Metadata::new(meta)).id;
            let request = CallToolRequest::new(params.clone());
            let by_sdk = by_sdk(ClientRequest::CallToolRequest(request), meta, id);
            assert_eq!(sent(&mut frames), by_sdk);
        }
        let pages = PaginatedRequestParams::default();
        for params in [pages.clone(), pages.with_cursor(Some("n".to_owned()))] {
            let asked = calls.ask("tools/list", &params, &Metadata::new(&of_session));
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            assert_eq!(sent(&mut frames), by_sdk(request, &of_session, asked.id));
        }
    }

    fn sent(frames: &mut mpsc::UnboundedReceiver<Vec<u8>>) -> Value {
        let frame = frames.try_recv().expect("a frame");
        serde_json::from_slice(&frame).expect("JSON")
    }

    fn by_sdk(mut request: ClientRequest, meta: &Map<String, Value>, id: i64) -> Value {
        *request.get_meta_mut() = RequestMetaObject::from(meta.clone());
        request
            .get_meta_mut()
            .set_progress_token(ProgressToken(NumberOrString::Number(id)));
        let message = ClientJsonRpcMessage::request(request, RequestId::Number(id));
        serde_json::to_value(message).expect("JSON")
    }

    #[tokio::test]
    async fn a_request_that_is_not_sent_says_so_at_once_and_later() {
        for lets in [1, 0] {
            let (mut sink, mut frames) = Slow::with_room(lets);
            sink.refuses = true;
            let calls = Arc::new(Calls::new(sink));
            let asked = ask(&calls);
            if lets == 0 {
                assert!(frames.try_recv().is_err());
                // Nobody has let it, so it is closed in its stead.
                calls.sink().close();
            }
            let unsent = asked.outcome.await.expect("an outcome");
            assert!(matches!(unsent, Err(NoResult::Unsent(_))), "{unsent:?}");
            assert!(!calls.open().is_ours_open());
        }
    }

    #[tokio::test]
    async fn without_a_connection_there_is_no_outcome() {
        let (sink, mut frames) = Slow::with_room(2);
        let calls = Arc::new(Calls::new(sink));
        let before = ask(&calls);
        frames.try_recv().expect("it is sent");
        calls.end();
        before.outcome.await.expect_err("it has ended");
        ask(&calls).outcome.await.expect_err("it has ended");
        frames.try_recv().expect_err("nothing is sent any more");
    }

    #[tokio::test]
    async fn what_waits_to_be_sent_does_not_outlive_the_connection() {
        let (sink, mut frames) = Slow::with_room(0);
        let calls = Arc::new(Calls::new(sink));
        let asked = ask(&calls);
        drop(calls);
        asked.outcome.await.expect_err("it is gone");
        // Its sink is gone with it, so nothing is sent.
        assert!(frames.recv().await.is_none());
    }
}
