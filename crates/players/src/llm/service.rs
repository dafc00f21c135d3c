//! HTTP in, HTTP out: a request is read as its dialect means it, and the reply is written as its dialect says it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use cuecard_core::diagnostic::{Diagnostic, codes};
use cuecard_core::profiles::Profile;
use cuecard_core::script::timeline::{Address, AdvertisedTool, Endpoint, LlmScript, Request, Turn};
use cuecard_core::trace::{EventData, HttpExchange};
use cuecard_core::value::Json;
use futures::future::{BoxFuture, Either, FutureExt as _};

use super::answers;
use super::headers::{self, Query};
use super::ledger::Exchange;
use super::replying::Replying;
use super::stand_in::{StandIn, Told, place_of};
use crate::runtime::connections;
use crate::runtime::listener::RefusedByListener;
use crate::runtime::patience::{Answering, Busy};
use crate::wire::llm::answer::{Answer, Element};
use crate::wire::llm::errors::ApiError;
use crate::wire::llm::route::Route;
use crate::wire::llm::usage::{self, Usage};
use crate::wire::llm::{Received, catalogue, ids, read_request, write_body};

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(super) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");
/// More of a request is not kept, in bytes of JSON.
const MAX_KEPT_BODY: usize = 256 * 1024;

/// What all threads share. Each counts its own handles to it.
type Shared = Arc<StandIn>;

/// Answers every request that the guard admits.
pub(super) async fn handle(
    stand_in: Arc<Shared>,
    request: connections::Request,
    busy: Busy,
) -> Response {
    let (head, body) = request.into_parts();
    let path = headers::percent_decoded(head.uri.path());
    let body = stand_in.guard.admit(&head, body).await;
    let arrived = Arrived {
        method: head.method.as_str(),
        path: &path,
        query: Query::new(head.uri.query()),
        headers: &head.headers,
        at: stand_in.clock.now(),
    };
    let body = match body {
        Ok(body) => body,
        Err(refusal) => {
            stand_in.find(refused_unread(refusal.status())).await;
            return shaped(&arrived, refusal);
        }
    };
    let answering = busy.answering();
    let later = match answer(&stand_in, &arrived, &body, answering) {
        Either::Left(response) => return response,
        Either::Right(later) => later,
    };
    tokio::select! {
        biased;
        response = later => response,
        // Who waits for a delayed answer when all ends gets none.
        () = stand_in.stop.cancelled() => {
            let error = ApiError::new(503, "the stand-in has ended");
            error_response(arrived.endpoint_like(), &error, &[], false)
        }
    }
}

/// What those who watch are told of a refusal of the guard. The client has the details; here each reason has one
/// wording, so that it is told once.
fn refused_unread(status: StatusCode) -> Diagnostic {
    let why = match status {
        StatusCode::UNAUTHORIZED => "it does not have the token of this server",
        StatusCode::FORBIDDEN => "it was not sent to this machine by name, or a web page sent it",
        StatusCode::PAYLOAD_TOO_LARGE => "its body is too large",
        _ => "its body ended early",
    };
    let message = format!("a request was refused with {}: {why}", status.as_u16());
    Diagnostic::note(codes::REQUEST_REFUSED, message)
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
pub(super) struct Arrived<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) query: Query<'a>,
    pub(super) headers: &'a HeaderMap,
    pub(super) at: Duration,
}

impl Arrived<'_> {
    pub(super) fn is_anthropic(&self) -> bool {
        self.headers.contains_key("anthropic-version")
    }

    pub(super) fn endpoint_like(&self) -> Endpoint {
        Route::endpoint_like(self.path, self.is_anthropic())
    }

    /// All in one pass: most requests have few headers, and none of these.
    pub(super) fn address(&self) -> Address<'_> {
        let mut found = Address::default();
        let (mut other_session, mut keys) = (None, [None; 4]);
        for (name, value) in self.headers {
            let field = match name.as_str() {
                "x-cuecard-session" => &mut found.session,
                "x-scenario-session" => &mut other_session,
                "x-scenario-name" => &mut found.scenario_name,
                "x-scenario-session-id" => &mut found.scenario_session_id,
                "x-scenario-prompt" => &mut found.prompt,
                "authorization" => &mut keys[0],
                "x-api-key" => &mut keys[1],
                "api-key" => &mut keys[2],
                "x-goog-api-key" => &mut keys[3],
                _ => continue,
            };
            // Of several the first counts.
            if field.is_none() {
                *field = value.to_str().ok();
            }
        }
        keys[0] = keys[0].and_then(bearer);
        found.session = found.session.or(other_session);
        found.api_key = keys.into_iter().flatten().next().or(self.query.key());
        found
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// The answer to a request: at once, or later. What comes later is in a box, so that the others carry no room for it.
pub(super) type Answered<'a> = Either<Response, BoxFuture<'a, Response>>;

fn answer<'a>(
    stand_in: &'a StandIn,
    arrived: &'a Arrived<'a>,
    body: &[u8],
    answering: Answering,
) -> Answered<'a> {
    let route = Route::of(
        arrived.method,
        arrived.path,
        arrived.query.text(),
        arrived.is_anthropic(),
    );
    let plain = |body: Vec<u8>| Either::Left(respond(StatusCode::OK, JSON, Body::from(body)));
    let refused =
        |endpoint, error| Either::Right(refused(stand_in, arrived, endpoint, error).boxed());
    match route {
        Err(error) => refused(arrived.endpoint_like(), error),
        Ok(Route::Health) => {
            let n_sessions = stand_in.remembered().sessions.len();
            plain(catalogue::health(stand_in.scripts.len(), n_sessions))
        }
        Ok(Route::Models(endpoint)) => {
            let remembered = stand_in.remembered();
            let names: Vec<&str> = remembered.models.iter().map(String::as_str).collect();
            plain(catalogue::models(endpoint, &names))
        }
        Ok(Route::Model(endpoint, name)) => {
            let is_known = stand_in.remembered().models.contains(name);
            match is_known {
                true => plain(catalogue::model(endpoint, name)),
                false => refused(endpoint, catalogue::unknown_model(endpoint, name)),
            }
        }
        Ok(Route::Response(id)) => match stored_response(stand_in, id) {
            Some(body) => plain(body),
            None => {
                let message = format!("Response with id '{id}' not found.");
                refused(Endpoint::Responses, ApiError::new(404, message))
            }
        },
        Ok(Route::CountTokens(target)) => match read_request(&target, arrived.path, body) {
            Err(error) => refused(target.endpoint, error),
            Ok(received) => {
                let tokens = usage::count_request(&received.request);
                plain(catalogue::token_count(target.endpoint, tokens))
            }
        },
        Ok(Route::Generate(target)) => match read_request(&target, arrived.path, body) {
            Err(error) => refused(target.endpoint, error),
            Ok(received) => {
                let replying = Replying {
                    stand_in,
                    arrived,
                    target,
                    received,
                    n_bytes: body.len(),
                    begun: stand_in.ledger.begin(),
                    answering,
                };
                replying.reply()
            }
        },
    }
}

/// A Responses answer again, by its id: as it was sent, else as the script has it.
fn stored_response(stand_in: &StandIn, id: &str) -> Option<Vec<u8>> {
    let known = ids::ResponseId::decode(id)?;
    let script = stand_in
        .scripts
        .iter()
        .find(|script| script.fingerprint == known.scenario)?;
    let turn = script.turn(usize::try_from(known.turn).ok()?)?;
    let sent = stand_in.stored.of(id);
    let again;
    let (model, elements) = match &sent {
        Some(sent) => (sent.model.clone(), &sent.elements),
        None => {
            again = elements_again(stand_in, script, turn)?;
            let model = stand_in.remembered().models.first().cloned();
            (model.unwrap_or_default(), &again)
        }
    };
    let answer = Answer {
        seed: ids::IdSeed::of(&["stored", id]),
        id: Some(id),
        model: &model,
        created_at: stand_in.created_at,
        elements,
        stop: None,
        usage: Usage::of(&turn.usage, 0, elements),
        shows_thinking: false,
        streams_usage: false,
        request: &Json::Null,
        failure: None,
    };
    let mut buffer = Vec::new();
    write_body(Endpoint::Responses, &answer, &mut buffer);
    Some(buffer)
}

/// What a turn says in the words of the agent that usually asks by this API, and calls of other tools as they are
/// written.
fn elements_again(stand_in: &StandIn, script: &LlmScript, turn: &Turn) -> Option<Vec<Element>> {
    let attempt = turn.attempts.last()?;
    let mut request = Request::new(Endpoint::Responses);
    let usual = stand_in.calling.profiles.choose(
        &[],
        stand_in.calling.agent.as_ref(),
        request.endpoint.word(),
    );
    request.tools = usual.profile.map(Profile::advertised).unwrap_or_default();
    request.tools.extend(
        turn.calls()
            .map(|call| AdvertisedTool::function(call.call.tool.as_str(), Json::Null)),
    );
    let prepared = answers::prepare(
        script,
        turn,
        attempt,
        &request,
        stand_in.options.speed,
        &stand_in.calling,
    );
    prepared.ok().map(|prepared| prepared.elements)
}

/// Says an error that the script has no part in.
async fn refused(
    stand_in: &StandIn,
    arrived: &Arrived<'_>,
    endpoint: Endpoint,
    error: ApiError,
) -> Response {
    let told = Told {
        lane: "main",
        outcome: "refused",
        error: Some(error.message.clone()),
        ..Told::default()
    };
    let begun = stand_in.ledger.begin();
    stand_in.tell_left_out(begun).await;
    if begun.is_recorded {
        let noted = Noted {
            number: begun.number,
            due_ms: 0,
            status: error.status,
            said: None,
            is_stream: false,
            faults: Vec::new(),
        };
        Box::pin(note(stand_in, arrived, endpoint, None, told, noted)).await;
    }
    error_response(endpoint, &error, &[], true)
}

/// A request that was understood.
#[derive(Clone, Copy)]
pub(super) struct Read<'a> {
    pub(super) received: &'a Received,
    /// The size of its body.
    pub(super) n_bytes: usize,
}

/// What is noted of an answer.
pub(super) struct Noted {
    pub(super) number: u64,
    pub(super) due_ms: u64,
    pub(super) status: u16,
    pub(super) said: Option<String>,
    pub(super) is_stream: bool,
    pub(super) faults: Vec<&'static str>,
}

/// Keeps the exchange, and tells those who watch and the trace.
pub(super) async fn note(
    stand_in: &StandIn,
    arrived: &Arrived<'_>,
    endpoint: Endpoint,
    read: Option<Read<'_>>,
    told: Told,
    noted: Noted,
) {
    let teller = &stand_in.teller;
    let script = told.scenario_idx.and_then(|idx| stand_in.scripts.get(idx));
    let request = read.map_or(Json::Null, |read| {
        bounded(&read.received.body, read.n_bytes)
    });
    if teller.has_trace() {
        let mut events = told.events;
        let mut response = serde_json::json!({
            "outcome": told.outcome, "answer": noted.said, "error": told.error, "stream": noted.is_stream,
        });
        if !noted.faults.is_empty() {
            response["faults"] = serde_json::json!(noted.faults);
        }
        events.push(EventData::HttpExchange(HttpExchange {
            dialect: endpoint.word().to_owned(),
            path: arrived.path.to_owned(),
            status: noted.status,
            lane: Some(told.lane.to_owned()),
            turn: told
                .turn_idx
                .and_then(|turn_idx| u32::try_from(turn_idx + 1).ok()),
            request: request.clone(),
            response,
        }));
        teller.events(arrived.at, events).await;
    }
    let n_bytes = read.map_or(0, |read| read.n_bytes.min(MAX_KEPT_BODY));
    let exchange = Arc::new(Exchange {
        number: noted.number,
        at_ms: milliseconds(arrived.at),
        due_ms: noted.due_ms,
        dialect: endpoint.word(),
        method: arrived.method.to_owned(),
        path: format!("{}{}", arrived.path, arrived.query.without_keys()),
        lane: told.lane,
        outcome: told.outcome,
        status: noted.status,
        is_stream: noted.is_stream,
        session: told.session.map(|session| session.to_string()),
        scenario: script.map(|script| script.timeline.name.clone()),
        selection: told.selection,
        turn: told.turn_idx.map(|turn_idx| turn_idx + 1),
        place: script
            .zip(told.turn_idx)
            .and_then(|(script, turn_idx)| place_of(script, turn_idx)),
        answer: noted.said,
        faults: noted.faults,
        anchors: read.map_or(Json::Null, |read| {
            super::events::anchors(&read.received.request)
        }),
        headers: headers::masked(arrived.headers),
        request,
        error: told.error,
    });
    stand_in.ledger.keep(&exchange, n_bytes);
    teller.exchange(exchange, n_bytes).await;
}

/// A body of so many bytes as it is, or what is said in its place if it is too long.
pub(super) fn bounded(body: &Json, n_bytes: usize) -> Json {
    if n_bytes <= MAX_KEPT_BODY {
        return body.clone();
    }
    let text = body.to_string();
    serde_json::json!({
        // The tools are what a profile is made of.
        "tools": (body["tools"].to_string().len() <= MAX_KEPT_BODY).then(|| &body["tools"]),
        "cut": format!("{} bytes, of which the first {MAX_KEPT_BODY} are kept", text.len()),
        "begins": cuecard_core::value::cut(&text, MAX_KEPT_BODY),
    })
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
    for (name, value) in more {
        // What can't be a header was found when the file was read.
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        ) {
            headers.insert(name, value);
        }
    }
    response
}
