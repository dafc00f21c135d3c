//! Passes requests on, and hands what came of them to the writer.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use cuecard_source::json::without_lone_surrogates;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::script::{Endpoint, SessionKey};
use futures::TryStreamExt as _;
use reqwest::Client;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::super::compressed::{ByteStream, decoded, decoded_stream};
use super::super::exchange_recorder::Exchange;
use super::super::headers::{self, Query};
use super::super::service::{Arrived, error_response, milliseconds, shaped};
use super::answered;
use super::options::RecordOptions;
use super::tee::{Tee, next_chunk};
use super::writer::{Answered, Message, Passed};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::http_server::Request;
use cuecard_runtime::listener::Guard;
use cuecard_runtime::provider::{passed_on, reason};
use cuecard_wire::llm::decode::{MAX_ANSWER, StreamDecoder, read_body, read_error};
use cuecard_wire::llm::errors::ApiError;
use cuecard_wire::llm::events::Framing;
use cuecard_wire::llm::has_lone_surrogate;
use cuecard_wire::llm::read_request;
use cuecard_wire::llm::route::{Route, Target};

/// How much of an error that is no JSON is recorded, in characters.
const MAX_ERROR: usize = 400;

pub(super) type Shared = Arc<Proxy>;

/// What stands between the clients and their provider; shared by all connections.
pub(super) struct Proxy {
    pub(super) options: RecordOptions,
    pub(super) guard: Guard,
    pub(super) client: Client,
    pub(super) clock: Clock,
    pub(super) stop: CancellationToken,
    pub(super) queue: mpsc::Sender<Message>,
    pub(super) n_requests: AtomicU64,
}

impl Proxy {
    /// Hands over what came of a request.
    pub(super) async fn tell(&self, mut passed: Box<Passed>) {
        passed.exchange.due_ms = self.since(&passed);
        // The writer is gone only after a panic in a watcher.
        let _ = self.queue.send(Message::Passed(passed)).await;
    }

    /// The same where nothing can wait. A writer that is behind by so much loses it.
    pub(super) fn tell_at_once(&self, mut passed: Box<Passed>) {
        passed.exchange.due_ms = self.since(&passed);
        let _ = self.queue.try_send(Message::Passed(passed));
    }

    /// Milliseconds since a request came.
    pub(super) fn since(&self, passed: &Passed) -> u64 {
        milliseconds(self.clock.now().saturating_sub(passed.at))
    }

    /// The provider's words for that it did not answer.
    fn no_answer(&self, endpoint: Endpoint, what: &str) -> Response {
        let message = format!(
            "the upstream `{}` {what}; nothing was recorded. Check `--upstream`, and whether that server is running",
            self.options.upstream
        );
        error_response(endpoint, &ApiError::new(502, message), &[], false)
    }
}

/// Passes on every request.
pub(super) async fn handle(proxy: Shared, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let path = headers::percent_decoded(head.uri.path());
    let query = Query::new(head.uri.query());
    let arrived = Arrived {
        method: head.method.as_str(),
        path: &path,
        query,
        headers: &head.headers,
        at: proxy.clock.now(),
    };
    let body = match proxy.guard.admit(&head, body).await {
        Ok(body) => body,
        Err(refusal) => return shaped(&arrived, refusal),
    };
    let arrived = Arrived {
        at: proxy.clock.now(),
        ..arrived
    };
    let stop = proxy.stop.clone();
    let (upstream, endpoint) = (&proxy.options.upstream, arrived.endpoint_like());
    let url = upstream.address(head.uri.path(), query.text(), endpoint);
    let forwarded = proxy.client.request(head.method.clone(), url);
    tokio::select! {
        response = pass_on(&proxy, &arrived, forwarded, body) => response,
        () = stop.cancelled() => {
            let error = ApiError::new(503, "the recording has ended");
            error_response(arrived.endpoint_like(), &error, &[], false)
        }
    }
}

async fn pass_on(
    proxy: &Shared,
    arrived: &Arrived<'_>,
    forwarded: reqwest::RequestBuilder,
    body: Bytes,
) -> Response {
    let route = Route::of(
        arrived.method,
        arrived.path,
        arrived.query.text(),
        arrived.named(),
    );
    let (target, misplaced) = match route {
        Ok(Route::Generate(target)) => (Some(target), None),
        Ok(_) => (None, None),
        Err(_) => (None, Route::misplaced(arrived.method, arrived.path)),
    };
    let endpoint = target.map_or_else(|| arrived.endpoint_like(), |target| target.endpoint);
    let mut exchange = Exchange {
        status: 502,
        ..Exchange::default()
    };
    let number = proxy.n_requests.fetch_add(1, Ordering::Relaxed) + 1;
    exchange.set_head(number, arrived, endpoint);
    let mut passed = Box::new(Passed {
        exchange,
        at: arrived.at,
        keys: arrived
            .address()
            .api_key
            .map(str::to_owned)
            .into_iter()
            .collect(),
        received: None,
        previous_id: None,
        has_lone_surrogate: has_lone_surrogate(&body),
        answered: misplaced.map_or(Answered::Other, |path| {
            Answered::LeftOut(format!(
                "a player answers at `{path}`: set the client's base URL to the one that is shown at the start"
            ))
        }),
    });
    let understood = match target {
        None => None,
        Some(target) => {
            let limit = proxy.options.body_limit;
            let plain = Box::pin(decoded(arrived.headers, &body, limit)).await;
            let plain = plain.as_ref().map(|plain| without_lone_surrogates(plain));
            Some(match plain {
                Ok(plain) => understand(&target, arrived, &plain, &mut passed),
                Err(error) => Err(invalid(error)),
            })
        }
    };
    let headers = proxy.options.upstream.headers(arrived.headers, endpoint);
    let response = match forwarded.headers(headers).body(body).send().await {
        Ok(response) => response,
        Err(error) => {
            let what = format!("can't be reached: {}", reason(&error));
            passed.answered = Answered::LeftOut(format!("the upstream {what}"));
            proxy.tell(passed).await;
            return proxy.no_answer(endpoint, &what);
        }
    };
    passed.exchange.status = response.status().as_u16();
    let (answer, body) = opened(response);
    match (target, understood) {
        (Some(target), Some(Ok(()))) => {
            let is_list = target.wants_stream && target.framing == Framing::JsonArray;
            let is_stream = is_list || is_event_stream(answer.headers());
            if !answer.status().is_success() || !is_stream {
                return whole(proxy, answer, body, target.endpoint, passed).await;
            }
            passed.exchange.is_stream = true;
            let decoder = StreamDecoder::new(target.endpoint, target.framing);
            let tee = Tee::new(proxy, body, passed, decoder);
            with_body(answer, tee.body())
        }
        (_, understood) => {
            if let Some(Err(why)) = understood {
                passed.answered = Answered::LeftOut(why);
            }
            proxy.tell(passed).await;
            with_body(answer, Tee::only(proxy, body).body())
        }
    }
}

/// Reads a request as a player would. Nothing that is wrong with it keeps it from being passed on.
fn understand(
    target: &Target<'_>,
    arrived: &Arrived<'_>,
    body: &[u8],
    passed: &mut Passed,
) -> Result<(), String> {
    let mut body = std::borrow::Cow::Borrowed(body);
    // The ids of a provider mean nothing to a player: the recorder knows which answers they are.
    if target.endpoint == Endpoint::Responses
        && let Ok(Json::Object(mut members)) = serde_json::from_slice::<Json>(&body)
        && let Some(Json::String(id)) = members.remove("previous_response_id")
    {
        passed.previous_id = Some(id);
        body = Json::Object(members).to_string().into_bytes().into();
    }
    match read_request(target, arrived.path, &body) {
        Ok(mut received) => {
            received.request.body = Some(Arc::new(received.body.clone()));
            let session = SessionKey::of(arrived.address(), &received.request);
            passed.received = Some((received, session));
            Ok(())
        }
        Err(error) => Err(invalid(&error)),
    }
}

fn invalid(error: &ApiError) -> String {
    format!("it is not a valid request: {}", error.message)
}

/// An answer that is no stream: it is read to its end, and then passed on.
async fn whole(
    proxy: &Shared,
    answer: Response,
    mut body: ByteStream,
    endpoint: Endpoint,
    mut passed: Box<Passed>,
) -> Response {
    let mut bytes = Vec::new();
    loop {
        match next_chunk(&mut body, proxy.options.stall).await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(what) => {
                passed.answered = Answered::LeftOut(format!("the upstream {what}"));
                passed.exchange.status = 502;
                proxy.tell(passed).await;
                return proxy.no_answer(endpoint, &what);
            }
        }
        if bytes.len() > MAX_ANSWER {
            let why = format!("the answer is longer than {MAX_ANSWER} bytes");
            passed.answered = Answered::LeftOut(why);
            proxy.tell(passed).await;
            let tee = Tee::only(proxy, body).after(Bytes::from(bytes));
            return with_body(answer, tee.body());
        }
    }
    let status = answer.status().as_u16();
    let at_ms = proxy.since(&passed);
    passed.has_lone_surrogate |= has_lone_surrogate(&bytes);
    passed.answered = match status {
        200..=299 => match read_body(endpoint, &bytes, at_ms) {
            Ok(decoded) => Answered::Model {
                decoded,
                is_abandoned: false,
            },
            Err(error) => Answered::LeftOut(error),
        },
        400..=599 => {
            let error = read_error(status, &bytes).unwrap_or_else(|| {
                let text = String::from_utf8_lossy(&bytes);
                ApiError::new(status, cut(text.trim(), MAX_ERROR))
            });
            let error = answered::error(endpoint, &error, answer.headers());
            let notes = answered::notes_on_error(endpoint, &bytes, &error);
            Answered::Error { error, notes }
        }
        _ => Answered::LeftOut(format!(
            "the upstream answered {status}, which is not a model response"
        )),
    };
    proxy.tell(passed).await;
    with_body(answer, Body::from(bytes))
}

/// The status and headers of a response, and its body as it comes. A body that is compressed, though nobody asked for
/// that, is decoded.
fn opened(response: reqwest::Response) -> (Response, ByteStream) {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() =
        StatusCode::from_u16(response.status().as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    *answer.headers_mut() = passed_on(response.headers());
    let encoding = answer.headers().get(header::CONTENT_ENCODING).cloned();
    let encoding = encoding.as_ref().and_then(|it| it.to_str().ok());
    let bytes = response.bytes_stream();
    let bytes = bytes.map_err(|error| io::Error::other(reason(&error)));
    let (body, is_decoded) = decoded_stream(encoding.unwrap_or_default(), bytes);
    if is_decoded {
        answer.headers_mut().remove(header::CONTENT_ENCODING);
    }
    (answer, body)
}

fn with_body(mut answer: Response, body: Body) -> Response {
    *answer.body_mut() = body;
    answer
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| {
            kind.trim_start()
                .to_ascii_lowercase()
                .starts_with("text/event-stream")
        })
}

/// That a body broke off, as an error that ends the client's connection too.
pub(super) fn broken(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, what)
}
