//! HTTP in, HTTP out: a request is read as its dialect means it, and the reply is written as its dialect says it.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::json::{self, without_lone_surrogates};
use cuecard_source::value::{Json, cut, without_credentials};
use cuecard_timeline::script::{Address, Endpoint};
use tower::{Layer as _, ServiceExt as _};
use tower_http::cors::{AllowHeaders, AllowMethods, AllowOrigin, CorsLayer, ExposeHeaders};

use super::compressed;
use super::exchange_recorder::{Exchange, MAX_KEPT_BODY, Notice};
use super::headers::{self, Query};
use super::mock_server::{ExchangeReport, MockServer};
use super::replying::Replying;
use super::responses::UNKNOWN_ITEM;
use super::stray_results;
use cuecard_runtime::http_server::{ConnectionReset, Request};
use cuecard_runtime::listener::RefusedByListener;
use cuecard_wire::llm::errors::ApiError;
use cuecard_wire::llm::route::{NoRoute, Route};
use cuecard_wire::llm::{
    Received, catalogue, has_lone_surrogate_in_arguments, read_request, usage, values,
};

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(super) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");

/// Answers every request that the guard admits.
pub(super) async fn handle(mock_server: Arc<MockServer>, request: Request) -> Response {
    let shared = mock_server.clone();
    let mut response = match request.headers().contains_key(header::ORIGIN) {
        false => handle_plain(mock_server, request).await,
        true => Box::pin(handle_page(mock_server, request)).await,
    };
    // What belongs to a scenario has its headers.
    for (name, value) in header_pairs(&shared.common_headers) {
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

/// Answers the request of a web page.
async fn handle_page(mock_server: Arc<MockServer>, request: Request) -> Response {
    // Pages whose origin the guard admits may read the answers. Before they ask, browsers ask whether they may.
    let guard = mock_server.guard.clone();
    let is_admitted = move |_: &HeaderValue, head: &Parts| guard.admits_origin(head);
    let cors = CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(is_admitted))
        .allow_methods(AllowMethods::mirror_request())
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(ExposeHeaders::any());
    let inner = tower::service_fn(|request: Request| {
        let mock_server = mock_server.clone();
        async { Ok::<_, Infallible>(handle_plain(mock_server, request).await) }
    });
    let Ok(response) = cors.layer(inner).oneshot(request).await;
    response
}

async fn handle_plain(mock_server: Arc<MockServer>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let path = headers::percent_decoded(head.uri.path());
    let body = mock_server.guard.admit(&head, body).await;
    let arrived = Arrived {
        method: head.method.as_str(),
        path: &path,
        query: Query::new(head.uri.query()),
        headers: &head.headers,
        at: mock_server.clock.now(),
    };
    let body = match body {
        Ok(body) => body,
        Err(refusal) => {
            mock_server.find(refused_unread(refusal.status())).await;
            return shaped(&arrived, refusal);
        }
    };
    let limit = mock_server.options.body_limit;
    let body = match Box::pin(compressed::decoded(&head.headers, &body, limit)).await {
        Ok(body) => body,
        Err(error) => {
            let refusal = Refusal::of(arrived.endpoint_like(), error);
            return refused(&mock_server, &arrived, refusal).await;
        }
    };
    let whole = without_lone_surrogates(&body);
    let what = format!("the body of `{} {path}`", arrived.method);
    // The arguments of a call are JSON in a text of the body.
    let is_whole = matches!(whole, Cow::Borrowed(_));
    let in_arguments = is_whole && has_lone_surrogate_in_arguments(&body);
    let in_arguments = in_arguments.then(|| json::lone_surrogate(&what));
    for found in json::changes(&what, &body).into_iter().chain(in_arguments) {
        mock_server.find(found).await;
    }
    let reset = head.extensions.get().cloned().unwrap_or_default();
    tokio::select! {
        biased;
        response = Box::pin(answer(&mock_server, &arrived, &whole, reset)) => response,
        // Who waits for a delayed answer when all ends gets none.
        () = mock_server.stop.cancelled() => {
            let error = ApiError::new(503, "the mock server has stopped");
            error_response(arrived.endpoint_like(), &error, &[], false)
        }
    }
}

/// What those who watch are told of a refusal of the guard. The client has the details; here each reason has one
/// wording, so that it is told once.
fn refused_unread(status: StatusCode) -> Diagnostic {
    let why = match status {
        StatusCode::UNAUTHORIZED => "missing or wrong token",
        StatusCode::FORBIDDEN => "wrong `Host` header, or sent by a web page",
        StatusCode::PAYLOAD_TOO_LARGE => "its body is too large",
        _ => "its body is incomplete",
    };
    let message = format!("a request was refused with {}: {why}", status.as_u16());
    match status {
        // Whoever sends it wants an answer, and gets none.
        StatusCode::PAYLOAD_TOO_LARGE => Diagnostic::error(codes::REQUEST_REFUSED, message),
        _ => Diagnostic::note(codes::REQUEST_REFUSED, message),
    }
}

/// A connection on which something came that is no HTTP.
pub(super) fn not_http() -> Diagnostic {
    Diagnostic::error(
        codes::MODEL_UNSERVED,
        "a connection was refused: the data received is not HTTP",
    )
    .with_help("if the client uses TLS, give it an `http://` URL, not `https://`")
}

/// A refusal of the guard in the form of the provider.
pub(super) fn shaped(arrived: &Arrived<'_>, refusal: Response) -> Response {
    let Some(RefusedByListener(message)) = refusal.extensions().get() else {
        return refusal;
    };
    let error = ApiError::new(refusal.status().as_u16(), message.clone());
    let mut shaped = error_response(arrived.endpoint_like(), &error, &[], true);
    if let Some(challenge) = refusal.headers().get(header::WWW_AUTHENTICATE) {
        shaped
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge.clone());
    }
    shaped
}

/// The head of a request.
#[derive(Clone, Copy)]
pub(super) struct Arrived<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) query: Query<'a>,
    pub(super) headers: &'a HeaderMap,
    pub(super) at: Duration,
}

impl Arrived<'_> {
    /// The API that the headers name, if it isn't OpenAI's.
    pub(super) fn named(&self) -> Option<Endpoint> {
        if self.headers.contains_key("anthropic-version") {
            Some(Endpoint::Messages)
        } else if self.headers.contains_key("x-goog-api-key") || self.query.key().is_some() {
            Some(Endpoint::Gemini)
        } else {
            None
        }
    }

    pub(super) fn endpoint_like(&self) -> Endpoint {
        Route::endpoint_like(self.path, self.named())
    }

    /// What the headers say about the session and the scenario.
    pub(super) fn address(&self) -> Address<'_> {
        let text = |name| self.headers.get(name)?.to_str().ok();
        let keys = ["x-api-key", "api-key", "x-goog-api-key"];
        let key = keys.into_iter().find_map(text).or(self.query.key());
        Address {
            session: text("x-cuecard-session").or_else(|| text("x-scenario-session")),
            api_key: text("authorization").and_then(bearer).or(key),
            scenario_name: text("x-scenario-name"),
            scenario_session_id: text("x-scenario-session-id"),
            prompt: text("x-scenario-prompt"),
        }
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

async fn answer(
    mock_server: &MockServer,
    arrived: &Arrived<'_>,
    body: &[u8],
    reset: ConnectionReset,
) -> Response {
    let route = Route::of(
        arrived.method,
        arrived.path,
        arrived.query.text(),
        arrived.named(),
    );
    let plain = |body: Json| respond(StatusCode::OK, JSON, Body::from(body.to_string()));
    let refused = |endpoint, error| refused(mock_server, arrived, Refusal::of(endpoint, error));
    match route {
        Err(NoRoute { error, allow }) => {
            let refusal = Refusal {
                allow,
                ..Refusal::of(arrived.endpoint_like(), error)
            };
            self::refused(mock_server, arrived, refusal).await
        }
        Ok(Route::Health) => {
            let n_sessions = mock_server.remembered().sessions.len();
            plain(catalogue::health(mock_server.scripts.len(), n_sessions))
        }
        Ok(Route::Models(endpoint)) => {
            let remembered = mock_server.remembered();
            let names: Vec<&str> = remembered.models.iter().map(String::as_str).collect();
            plain(catalogue::models(endpoint, &names))
        }
        Ok(Route::Model(endpoint, name)) => {
            let is_known = mock_server.remembered().models.contains(name);
            match is_known {
                true => plain(catalogue::model(endpoint, name)),
                false => refused(endpoint, catalogue::unknown_model(endpoint, name)).await,
            }
        }
        Ok(route @ (Route::Response(_) | Route::DeleteResponse(_))) => {
            match mock_server.stored.answer(route) {
                Ok(response) => response,
                Err(error) => refused(Endpoint::Responses, error).await,
            }
        }
        Ok(Route::CountTokens(target)) => match read_request(&target, arrived.path, body) {
            Err(error) => refused(target.endpoint, error).await,
            Ok(received) => {
                let tokens = usage::count_request(&received.request);
                plain(catalogue::token_count(target.endpoint, tokens))
            }
        },
        Ok(Route::Generate(target)) => match read_request(&target, arrived.path, body) {
            Err(error) => refused(target.endpoint, error).await,
            Ok(received) => {
                let whole = match target.endpoint {
                    Endpoint::Responses => mock_server.stored.dereferenced(&received.body),
                    _ => Ok(None),
                };
                let read = whole.and_then(|whole| match whole {
                    Some(body) => read_request(&target, arrived.path, body.to_string().as_bytes()),
                    None => Ok(received),
                });
                let mut received = match read {
                    Err(error) => return refused(target.endpoint, error).await,
                    Ok(read) => read,
                };
                let betas = headers::joined(arrived.headers, "anthropic-beta");
                let refusal = values::refusal(target.endpoint, &received.body, &betas);
                if let Some(error) = refusal.or_else(|| stray_results::refuse(&received)) {
                    return refused(target.endpoint, error).await;
                }
                if received.body["thread"]["type"] == "continue" {
                    // The client sends its whole history then: this is no mistake.
                    let refusal = Refusal {
                        is_in_order: true,
                        ..Refusal::of(target.endpoint, unknown_thread())
                    };
                    return self::refused(mock_server, arrived, refusal).await;
                }
                mock_server.restore(&mut received.request);
                if mock_server.needs_headers {
                    received.request.headers = headers::texts(arrived.headers);
                }
                if mock_server.needs_body {
                    received.request.body = Some(Arc::new(received.body.clone()));
                }
                let replying = Replying {
                    mock_server,
                    arrived,
                    target,
                    received,
                    n_bytes: body.len(),
                    begun: mock_server.ledger.begin(),
                    reset,
                };
                replying.reply().await
            }
        },
    }
}

/// Anthropic's 404 for a thread that nobody knows.
fn unknown_thread() -> ApiError {
    let mut error = ApiError::new(404, "no thread was found for `previous_message_id`");
    error.details = serde_json::json!({"error_code": "thread_not_found"});
    error
}

/// An error that the script has no part in.
struct Refusal {
    endpoint: Endpoint,
    error: ApiError,
    /// The methods that the path takes.
    allow: Option<&'static str>,
    /// Whether a client may well ask for it.
    is_in_order: bool,
}

impl Refusal {
    fn of(endpoint: Endpoint, error: ApiError) -> Self {
        Self {
            endpoint,
            error,
            allow: None,
            is_in_order: false,
        }
    }
}

/// Says an error that the script has no part in. What is not served fails the run, unless the scenario says that clients
/// may ask for it.
async fn refused(mock_server: &MockServer, arrived: &Arrived<'_>, refusal: Refusal) -> Response {
    let Refusal {
        endpoint,
        error,
        allow,
        is_in_order,
    } = refusal;
    // Who asks for a head alone only looks whether somebody is there.
    let is_ignored =
        is_in_order || arrived.method == "HEAD" || mock_server.ignored.is_match(arrived.path);
    let outcome = if is_ignored { "other" } else { "refused" };
    let told = ExchangeReport::refused(&error, outcome);
    let begun = mock_server.ledger.begin();
    mock_server.tell_left_out(begun).await;
    if !is_ignored {
        mock_server.find(unserved(arrived, &error)).await;
    }
    if begun.is_recorded {
        let head = (begun.number, arrived, endpoint);
        Box::pin(record(mock_server, head, None, told)).await;
    }
    let allow = allow.map(|allow| ("allow".to_owned(), allow.to_owned()));
    error_response(endpoint, &error, allow.as_slice(), true)
}

/// T-LLM-11.
pub(super) fn unserved(arrived: &Arrived<'_>, error: &ApiError) -> Diagnostic {
    let (method, path) = (cut(arrived.method, 20), cut(arrived.path, 200));
    let (why, help) = match error.status {
        // What it names is a response, or a part of one, and not a path.
        404 if error.code.as_deref() == Some("previous_response_not_found")
            || error.message.starts_with(UNKNOWN_ITEM) =>
        {
            (
                "the response that it goes on from is not from this run's scenarios",
                "response ids are valid only while their scenario is unchanged",
            )
        }
        404 if arrived.method == "GET" && arrived.path.contains("/models/") => (
            "no scenario and no request named this model",
            "name it in the scenario: `server: {models: [NAME]}`",
        ),
        404 | 405 => (
            "the mock server does not support it",
            "correct the client or its base URL; list expected failures in `server: {ignore: [PATH]}`",
        ),
        _ => (
            match error.message.contains(": this mock ") {
                true => "the mock does not support what it asks for",
                false => "the request is invalid, and the real API would reject it too",
            },
            "correct the client: the note says what is wrong",
        ),
    };
    let message = format!("`{method} {path}` got {}: {why}", error.status);
    Diagnostic::error(codes::MODEL_UNSERVED, message)
        .with_note(cut(&error.message, 600))
        .with_help(help)
}

/// Keeps the exchange, and tells those who watch and the trace. `read` is the request and the size of its body, if it was
/// understood.
pub(super) async fn record(
    mock_server: &MockServer,
    head: (u64, &Arrived<'_>, Endpoint),
    read: Option<(&Received, usize)>,
    told: ExchangeReport,
) -> Arc<Exchange> {
    let teller = &mock_server.teller;
    let (number, arrived, endpoint) = head;
    let mut exchange = told.exchange;
    exchange.set_head(number, arrived, endpoint);
    if let Some((received, n_bytes)) = read {
        exchange.set_request(received, n_bytes);
    }
    if teller.has_trace() {
        let mut events = told.events;
        events.push(exchange.to_event());
        teller.events(arrived.at, events).await;
    }
    exchange.error = exchange
        .error
        .map(|error| without_credentials(&error).into_owned());
    let n_bytes = read.map_or(0, |(_, n_bytes)| n_bytes.min(MAX_KEPT_BODY));
    let exchange = Arc::new(exchange);
    mock_server.ledger.keep(&exchange, n_bytes);
    teller
        .sized_notice(Notice::Exchange(exchange.clone()), n_bytes)
        .await;
    exchange
}

pub(super) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn respond(status: StatusCode, kind: HeaderValue, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// An error in the provider's form. A final one tells clients not to try again.
pub(super) fn error_response(
    endpoint: Endpoint,
    error: &ApiError,
    more: &[(String, String)],
    is_final: bool,
) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = respond(status, JSON, Body::from(error.body(endpoint)));
    let headers = response.headers_mut();
    if is_final {
        let name = HeaderName::from_static("x-should-retry");
        headers.insert(name, HeaderValue::from_static("false"));
    }
    add_headers(&mut response, more);
    response
}

/// Adds headers of a scenario.
pub(super) fn add_headers(response: &mut Response, more: &[(String, String)]) {
    for (name, value) in header_pairs(more) {
        response.headers_mut().insert(name, value);
    }
}

/// Headers as HTTP has them. What can't be one was found when the file was read.
fn header_pairs(pairs: &[(String, String)]) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    pairs.iter().filter_map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_str(value).ok()?))
    })
}
