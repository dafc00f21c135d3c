//! Between a client that speaks over standard streams and a server behind Streamable HTTP: each line becomes a request,
//! each message of an answer a line. The messages stay as they are.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use cuecard_runtime::lines::{Line, LineReader};
use cuecard_runtime::provider::{client, reason};
use cuecard_source::json::read_value;
use cuecard_source::value::cut;
use cuecard_wire::sse::SseReader;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::forward::{SESSION, rpc_error};
use super::queue::Queue;
use super::session::Endpoint;
use super::tap::{MAX_FRAME, Tap, lock, messages};

/// How many requests of a client are under way at once; it is not read further before one is answered.
const MOST_REQUESTS: usize = 64;
/// How long answers may still take when the client has closed its side, and how long the end of the session may take.
const GRACE: Duration = Duration::from_secs(2);
/// How often in a row a stream that broke off is taken up again.
const MOST_RESUMED: usize = 5;
/// How long to wait before that, unless the server says otherwise.
const RETRY: Duration = Duration::from_secs(1);
/// The longest wait that a server may ask for.
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// The longest error of a server that is passed on, in characters.
const LONGEST_ERROR: usize = 400;
/// The header that names the version of the protocol.
const VERSION: &str = "mcp-protocol-version";

struct Bridge<W> {
    client: Client,
    server: Endpoint,
    /// What the server wants to hear again with each request: its session and the version that was agreed on.
    session: Mutex<HeaderMap>,
    tap: Arc<Mutex<Tap>>,
    queue: Queue,
    out: tokio::sync::Mutex<W>,
    n_failed: AtomicU64,
}

/// Passes on what client and server say until the client ends, or `stop`; how many requests got no answer.
///
/// # Errors
/// In words: the machine can't reach anything, or the client said something that has no end.
pub async fn run<W: AsyncWrite + Send + Unpin + 'static>(
    server: Endpoint,
    (input, output): (Box<dyn AsyncRead + Send + Unpin>, W),
    tap: Arc<Mutex<Tap>>,
    stop: &CancellationToken,
) -> Result<u64, String> {
    let bridge = Arc::new(Bridge {
        client: client(&server.url).map_err(|error| reason(&error))?,
        server,
        session: Mutex::default(),
        queue: Queue::new(&tap),
        tap,
        out: tokio::sync::Mutex::new(output),
        n_failed: AtomicU64::new(0),
    });
    let mut lines = LineReader::new(input, MAX_FRAME);
    let (mut requests, mut listening) = (JoinSet::new(), JoinSet::new());
    let ended = loop {
        while requests.len() >= MOST_REQUESTS {
            requests.join_next().await;
        }
        let frame = tokio::select! {
            line = lines.next() => match line {
                Line::Whole(frame) => frame,
                Line::TooLong(bound) => break Err(format!("the client sent a line of more than {bound} bytes")),
                Line::End => break Ok(()),
            },
            Some(_) = requests.join_next() => continue,
            () = stop.cancelled() => break Ok(()),
        };
        let request = frame.clone();
        bridge
            .queue
            .pass(frame.len(), move |tap| tap.client("", Some(&request)));
        let message: Value = read_value(&frame).unwrap_or_default();
        if message["method"] == "initialize" {
            // A client that begins anew has no session yet.
            bridge.session().clear();
        }
        let ids = super::forward::ids(&frame);
        let posted = bridge
            .clone()
            .post(frame, ids.clone(), bridge.headers_of(&message));
        match ids.is_empty() {
            // What comes next may rely on it.
            true => {
                stop.run_until_cancelled(posted).await;
            }
            false => {
                requests.spawn(posted);
            }
        }
        if message["method"] == "notifications/initialized" {
            listening.spawn(bridge.clone().listen());
        }
    };
    let rest = async { while requests.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, stop.run_until_cancelled(rest)).await;
    listening.abort_all();
    requests.abort_all();
    if bridge.session().contains_key(SESSION) {
        let _ = tokio::time::timeout(GRACE, bridge.request(reqwest::Method::DELETE).send()).await;
    }
    let _ = bridge.queue.read_so_far().await;
    ended.map(|()| bridge.n_failed.load(Ordering::Relaxed))
}

impl<W: AsyncWrite + Send + Unpin + 'static> Bridge<W> {
    fn session(&self) -> MutexGuard<'_, HeaderMap> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self, method: reqwest::Method) -> RequestBuilder {
        let request = self.client.request(method, self.server.url.clone());
        request
            .headers(self.server.headers.clone())
            .headers(self.session().clone())
    }

    /// The headers that a message of the stateless protocol has over HTTP.
    fn headers_of(&self, message: &Value) -> HeaderMap {
        let params = &message["params"];
        let version = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let mut headers = HeaderMap::new();
        if version.is_null() {
            return headers;
        }
        let name = [&params["name"], &params["uri"]];
        let name = name.into_iter().find(|name| name.is_string());
        for (header, value) in [
            (VERSION, version),
            ("mcp-method", &message["method"]),
            ("mcp-name", name.unwrap_or(&Value::Null)),
        ] {
            if let Some(Ok(value)) = value.as_str().map(HeaderValue::from_str) {
                headers.insert(HeaderName::from_static(header), value);
            }
        }
        headers
    }

    /// Sends a frame, and passes on what is answered. Each of the requests in it gets an answer.
    async fn post(self: Arc<Self>, frame: Vec<u8>, mut ids: Vec<Value>, headers: HeaderMap) {
        let Err(why) = self.exchange(frame, &mut ids, headers).await else {
            return;
        };
        let why = lock(&self.tap).redacted(&why);
        self.n_failed.fetch_add(ids.len() as u64, Ordering::Relaxed);
        for id in &ids {
            let error = rpc_error(Some(id), &format!("cuecard record mcp: the server {why}"));
            self.write(error.as_bytes()).await;
        }
        self.queue.pass(0, move |tap| tap.abandon("", &ids));
    }

    async fn exchange(
        &self,
        frame: Vec<u8>,
        ids: &mut Vec<Value>,
        headers: HeaderMap,
    ) -> Result<(), String> {
        let request = self
            .request(reqwest::Method::POST)
            .headers(headers)
            .body(frame);
        let request = request
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream");
        let response = request
            .send()
            .await
            .map_err(|error| format!("can't be reached: {}", reason(&error)))?;
        if let Some(session) = response.headers().get(SESSION) {
            self.session().insert(SESSION, session.clone());
        }
        if let Some(why) = redirected(&response) {
            return Err(why);
        }
        let status = response.status();
        if is_events(&response) && status.is_success() {
            return self.events(response, Some(ids)).await;
        }
        let body = whole(response).await?;
        let is_message = serde_json::from_slice::<Value>(&body)
            .is_ok_and(|body| body["jsonrpc"].is_string() || body.is_array());
        if is_message {
            self.deliver(&body, ids).await;
        }
        match ids.is_empty() {
            true => Ok(()),
            false => {
                let text = String::from_utf8_lossy(&body);
                let is_forgotten =
                    status == StatusCode::NOT_FOUND && self.session().contains_key(SESSION);
                let what = if is_forgotten {
                    " (it forgot the session: the client must initialize again)"
                } else {
                    ""
                };
                let text = cut(text.trim(), LONGEST_ERROR);
                Err(format!("answered {status}{what}: {text}"))
            }
        }
    }

    /// What the server says unasked.
    async fn listen(self: Arc<Self>) {
        if let Some(response) = self.stream(None).await.filter(is_events) {
            // Nobody waits for it; calls tell that the server is gone.
            let _ = self.events(response, None).await;
        }
    }

    /// Opens a stream of events, or takes it up again behind the last one.
    async fn stream(&self, last_id: Option<&str>) -> Option<Response> {
        let request = self
            .request(reqwest::Method::GET)
            .header(header::ACCEPT, "text/event-stream");
        let request = match last_id {
            Some(id) => request.header("last-event-id", id),
            None => request,
        };
        let response = request.send().await.ok()?;
        response.status().is_success().then_some(response)
    }

    /// Passes on events, until the requests `ids` are answered; for ever without any. A stream that breaks off is taken
    /// up again where it can be.
    async fn events(
        &self,
        mut response: Response,
        mut ids: Option<&mut Vec<Value>>,
    ) -> Result<(), String> {
        let (mut last_id, mut retry, mut n_resumed) = (None, RETRY, 0);
        loop {
            let mut reader = SseReader::new(MAX_FRAME);
            let why = loop {
                let bytes = match response.chunk().await {
                    Ok(Some(bytes)) => bytes,
                    Ok(None) => break "ended its stream before the answer".to_owned(),
                    Err(error) => break format!("broke off its stream: {}", reason(&error)),
                };
                let mut messages = Vec::new();
                let read = reader.read(&bytes, |event| messages.push(event.data));
                for message in messages.into_iter().filter(|message| !message.is_empty()) {
                    n_resumed = 0;
                    self.deliver(
                        message.as_bytes(),
                        ids.as_deref_mut().unwrap_or(&mut Vec::new()),
                    )
                    .await;
                }
                read.map_err(|error| error.to_string())?;
                last_id = reader.last_id().map(str::to_owned).or(last_id);
                if let Some(wanted) = reader.take_retry() {
                    retry = Duration::from_millis(wanted).min(LONGEST_RETRY);
                }
                if ids.as_ref().is_some_and(|ids| ids.is_empty()) {
                    return Ok(());
                }
            };
            response = loop {
                // A stream of what comes unasked has no answer that could be lost.
                let can_resume = last_id.is_some() || ids.is_none();
                if !can_resume || n_resumed == MOST_RESUMED {
                    return Err(why);
                }
                n_resumed += 1;
                tokio::time::sleep(retry).await;
                if let Some(response) = self.stream(last_id.as_deref()).await {
                    break response;
                }
            };
        }
    }

    /// Passes on a message of the server, or several, as a line.
    async fn deliver(&self, message: &[u8], ids: &mut Vec<Value>) {
        // Line ends stand between the tokens of JSON only.
        let mut line = message.to_vec();
        for byte in line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
        for message in messages(&line).unwrap_or_default() {
            let version = message["result"]["protocolVersion"].as_str();
            if let Some(Ok(version)) = version.map(HeaderValue::from_str) {
                self.session().insert(VERSION, version);
            }
            ids.retain(|id| !message["method"].is_null() || message["id"] != *id);
        }
        self.write(&line).await;
        self.queue
            .pass(line.len(), move |tap| tap.server("", Some(&line)));
    }

    async fn write(&self, line: &[u8]) {
        let mut out = self.out.lock().await;
        // A client that is gone has closed its other side too.
        let _ = out.write_all(&[line, b"\n"].concat()).await;
        let _ = out.flush().await;
    }
}

/// Why a redirect of a server is not followed, if its answer is one.
pub(super) fn redirected(response: &Response) -> Option<String> {
    let to = response.headers().get(header::LOCATION)?;
    let to = String::from_utf8_lossy(to.as_bytes());
    let to = cut(&to, LONGEST_ERROR);
    response.status().is_redirection().then(|| {
        format!("redirects to `{to}`, which the recorder doesn't follow: record this address if it is right")
    })
}

fn is_events(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

async fn whole(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(bytes) = response
        .chunk()
        .await
        .map_err(|error| format!("broke off its answer: {}", reason(&error)))?
    {
        body.extend_from_slice(&bytes);
        if body.len() > MAX_FRAME {
            return Err(format!("answered with more than {MAX_FRAME} bytes"));
        }
    }
    Ok(body)
}
