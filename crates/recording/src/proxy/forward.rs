//! Between clients and a server that both speak HTTP: requests and answers go on with their headers, and their bodies
//! as they come.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cuecard_runtime::http_server::{Request, ServerOptions, Timeouts, serve};
use cuecard_runtime::listener::Guard;
use cuecard_runtime::provider::{client, passed_on, reason};
use cuecard_runtime::start_error::StartError;
use cuecard_runtime::workers::Worker;
use cuecard_source::json::write_exact;
use cuecard_wire::sse::SseReader;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use reqwest::Client;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::bridge::redirected;
use super::queue::Queue;
use super::session::Endpoint;
use super::tap::{MAX_FRAME, Tap, lock, messages};

/// More clients than this are never recorded at once.
const MOST_CONNECTIONS: usize = 1_000;
/// The header that names a session.
pub(super) const SESSION: &str = "mcp-session-id";

/// Where the proxy listens, and what it stands in front of.
#[derive(Debug, Clone)]
pub struct ForwardOptions {
    /// The server. Its headers take the place of the client's.
    pub upstream: Endpoint,
    /// The address to listen on.
    pub bind: SocketAddr,
    /// The token that clients must send, if any. It is not passed on.
    pub token: Option<String>,
}

/// A proxy that listens.
#[derive(Debug)]
pub struct Forward {
    /// The endpoint for clients.
    pub url: String,
    worker: Worker,
    queue: Queue,
}

struct Proxy {
    options: ForwardOptions,
    guard: Guard,
    client: Client,
    tap: Arc<Mutex<Tap>>,
    queue: Queue,
    stop: CancellationToken,
    n_requests: AtomicU64,
}

impl Forward {
    /// Listens, until `stop`.
    ///
    /// # Errors
    /// The address can't be listened on.
    pub async fn start(
        options: ForwardOptions,
        tap: Arc<Mutex<Tap>>,
        stop: &CancellationToken,
    ) -> Result<Self, StartError> {
        let guard = Guard::new(options.bind, options.token.clone())
            .map_err(StartError::Listener)?
            .body_limit(MAX_FRAME);
        let client = client(&options.upstream.url)
            .map_err(|error| StartError::Io(io::Error::other(error)))?;
        let listener = guard.listen().await.map_err(StartError::Listener)?;
        let address = listener.local_addr().map_err(StartError::Io)?;
        let url = format!("http://{address}{}", options.upstream.url.path());
        let serving = ServerOptions {
            n_threads: 0,
            timeouts: Timeouts::default(),
            max_connections: MOST_CONNECTIONS,
        };
        let queue = Queue::new(&tap);
        let proxy = Arc::new(Proxy {
            options,
            guard,
            client,
            tap,
            queue: queue.clone(),
            stop: stop.clone(),
            n_requests: AtomicU64::new(0),
        });
        let answer = move |request| proxy.clone().answer(request);
        let worker = serve(listener, serving, stop, answer, |_| async {});
        Ok(Self {
            url,
            worker: worker.map_err(StartError::Io)?,
            queue,
        })
    }

    /// Waits for answers that are on their way, and until the tap has read them.
    pub async fn ended(self) {
        self.worker.ended().await;
        let _ = self.queue.read_so_far().await;
    }
}

impl Proxy {
    fn answer(self: Arc<Self>, request: Request) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            let stop = self.stop.clone();
            let answered = stop.run_until_cancelled(self.pass_on(request)).await;
            answered.unwrap_or_else(|| refusal("the recording has ended", None))
        })
    }

    async fn pass_on(self: Arc<Self>, request: Request) -> Response {
        let (head, body) = request.into_parts();
        let body = match self.guard.admit(&head, body).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        };
        let session = head
            .headers
            .get(SESSION)
            .and_then(|session| session.to_str().ok());
        let number = self.n_requests.fetch_add(1, Ordering::Relaxed);
        let mut exchange = Exchange {
            lane: session
                .map_or_else(|| format!("#{number}"), str::to_owned)
                .into(),
            request: body.clone(),
            has_session: session.is_some(),
            queue: self.queue.clone(),
        };
        let request = body.clone();
        exchange.pass(body.len(), move |tap, lane| {
            tap.client(lane, Some(&request));
        });
        let mut headers = passed_on(&head.headers);
        headers.insert(
            header::ACCEPT_ENCODING,
            HeaderValue::from_static("identity"),
        );
        if self.options.token.is_some() {
            headers.remove(header::AUTHORIZATION);
        }
        for (name, value) in &self.options.upstream.headers {
            headers.insert(name, value.clone());
        }
        let mut url = self.options.upstream.url.clone();
        url.set_path(head.uri.path());
        if let Some(query) = head.uri.query() {
            url.set_query(Some(query));
        }
        let sent = self
            .client
            .request(head.method, url)
            .headers(headers)
            .body(body)
            .send()
            .await;
        // A client that follows a redirect goes around the recorder.
        let received = match sent {
            Ok(received) => redirected(&received).map_or(Ok(received), Err),
            Err(error) => Err(format!("can't be reached: {}", reason(&error))),
        };
        let received = match received {
            Ok(received) => received,
            Err(why) => {
                exchange.has_session = false;
                let ids = ids(&exchange.request);
                let n_unanswered = ids.len();
                exchange.pass(0, move |tap, _| tap.n_unanswered += n_unanswered);
                let why = lock(&self.tap).redacted(&format!("the server {why}"));
                return refusal(&why, ids.first());
            }
        };
        // Who gets an error does not get another answer.
        exchange.has_session &= received.status().is_success();
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = received.status();
        *answer.headers_mut() = passed_on(received.headers());
        let (reading, left) = (Reading::of(received.headers()), received.content_length());
        let bytes = received
            .bytes_stream()
            .map_err(|error| io::Error::other(reason(&error)));
        let tee = Tee {
            bytes: bytes.boxed(),
            reading,
            is_whole: left == Some(0),
            left,
            exchange,
            stop: self.stop.clone(),
        };
        *answer.body_mut() = Body::from_stream(stream::unfold(Some(tee), Tee::next));
        answer
    }
}

/// The ids of the requests in a body.
pub(super) fn ids(body: &[u8]) -> Vec<Value> {
    let messages = messages(body).unwrap_or_default().into_iter();
    let requests = messages.filter(|message| message["method"].is_string());
    let ids = requests.map(|mut request| request["id"].take());
    ids.filter(|id| !id.is_null()).collect()
}

/// An error for the request with this id, as JSON text.
pub(super) fn rpc_error(id: Option<&Value>, what: &str) -> String {
    write_exact(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": what}}))
}

fn refusal(what: &str, id: Option<&Value>) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_GATEWAY, json, rpc_error(id, what)).into_response()
}

/// A request with what comes of it. Without a session its answers can't come any other way.
struct Exchange {
    /// What the ids of its requests are unique in.
    lane: Arc<str>,
    request: Bytes,
    has_session: bool,
    queue: Queue,
}

impl Exchange {
    fn pass(&self, n_bytes: usize, read: impl FnOnce(&mut Tap, &str) + Send + 'static) {
        let lane = Arc::clone(&self.lane);
        self.queue.pass(n_bytes, move |tap| read(tap, &lane));
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.has_session {
            let request = self.request.clone();
            self.pass(0, move |tap, lane| tap.abandon(lane, &ids(&request)));
        }
    }
}

/// How frames are read out of a body.
enum Reading {
    Events(Box<SseReader>),
    Whole(Vec<u8>),
    Nothing,
}

impl Reading {
    fn of(headers: &HeaderMap) -> Self {
        let kind = headers
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().trim_start().to_ascii_lowercase();
        match () {
            () if headers.contains_key(header::CONTENT_ENCODING) => Self::Nothing,
            () if kind.starts_with("text/event-stream") => {
                Self::Events(Box::new(SseReader::new(MAX_FRAME)))
            }
            () if kind.starts_with("application/json") => Self::Whole(Vec::new()),
            () => Self::Nothing,
        }
    }
}

/// A body on its way from the server to the client, and to the tap.
struct Tee {
    bytes: BoxStream<'static, io::Result<Bytes>>,
    reading: Reading,
    /// How many bytes are still to come, if that is known.
    left: Option<u64>,
    /// Whether all of it has come.
    is_whole: bool,
    exchange: Exchange,
    stop: CancellationToken,
}

impl Tee {
    async fn next(tee: Option<Self>) -> Option<(io::Result<Bytes>, Option<Self>)> {
        let mut tee = tee?;
        let queue = &tee.exchange.queue;
        if queue.is_full() {
            let _ = queue.read_so_far().await;
        }
        let stop = tee.stop.clone();
        match stop.run_until_cancelled(tee.bytes.next()).await {
            Some(Some(Ok(bytes))) => {
                tee.read(&bytes);
                tee.left = tee.left.map(|left| left.saturating_sub(bytes.len() as u64));
                tee.is_whole = tee.left == Some(0);
                Some((Ok(bytes), Some(tee)))
            }
            Some(None) => {
                tee.is_whole = true;
                None
            }
            Some(Some(Err(error))) => {
                let error = (Err(error), None);
                tee.reading = Reading::Nothing;
                tee.is_whole = true;
                Some(error)
            }
            None => Some((Err(io::Error::other("the recording has ended")), None)),
        }
    }

    fn read(&mut self, bytes: &[u8]) {
        let exchange = &self.exchange;
        let is_too_long = match &mut self.reading {
            Reading::Events(reader) => {
                let event = |data: String| {
                    let read = move |tap: &mut Tap, lane: &str| {
                        tap.server(lane, Some(data.as_bytes()));
                    };
                    exchange.pass(bytes.len(), read);
                };
                reader.read(bytes, |read| event(read.data)).is_err()
            }
            Reading::Whole(whole) => {
                whole.extend_from_slice(bytes);
                whole.len() > MAX_FRAME
            }
            Reading::Nothing => false,
        };
        if is_too_long {
            exchange.pass(0, |tap, lane| tap.server(lane, None));
            self.reading = Reading::Nothing;
        }
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        if !self.is_whole {
            return;
        }
        let whole = match std::mem::replace(&mut self.reading, Reading::Nothing) {
            Reading::Whole(whole) => Some(whole),
            _ => None,
        };
        let request = self.exchange.request.clone();
        let n_bytes = whole.as_ref().map_or(0, Vec::len);
        self.exchange.pass(n_bytes, move |tap, lane| {
            if let Some(whole) = whole {
                tap.server(lane, Some(&whole));
            }
            tap.answer_is_over(lane, &ids(&request));
        });
    }
}
