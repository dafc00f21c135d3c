//! HTTP in, HTTP out: a request is read as its dialect means it, and the reply is written as its dialect says it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use cuecard_core::profiles::Profile;
use cuecard_core::script::timeline::{Address, AdvertisedTool, Endpoint, LlmScript, Request, Turn};
use cuecard_core::trace::{EventData, HttpExchange};
use cuecard_core::value::Json;

use super::answers;
use super::disturb::{Frame, Frames, Part, disturb};
use super::disturbed;
use super::faults::Hit;
use super::headers::{self, Query};
use super::ledger::Exchange;
use super::stand_in::{Content, StandIn, Told, place_of};
use super::stored::Stored;
use super::streaming::{self, Spoken};
use crate::runtime::connections;
use crate::runtime::fault::Act;
use crate::runtime::listener::RefusedByListener;
use crate::runtime::patience::{Answering, Busy};
use crate::wire::llm::answer::{Answer, Element};
use crate::wire::llm::errors::ApiError;
use crate::wire::llm::events::{Events, Framing, Streaming};
use crate::wire::llm::route::{Route, Target};
use crate::wire::llm::usage::{self, Usage};
use crate::wire::llm::{
    Received, catalogue, ids, read_request, shows_thinking, stream, write_body,
};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");
/// More of a request is not kept, in bytes of JSON.
const MAX_KEPT_BODY: usize = 256 * 1024;

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
        Err(refusal) => return shaped(&arrived, refusal),
    };
    let answering = busy.answering();
    tokio::select! {
        // Most answers are there at once, and then nothing else needs to be waited for.
        biased;
        response = answer(&stand_in, &arrived, &body, answering) => response,
        // Who waits for a delayed answer when all ends gets none.
        () = stand_in.stop.cancelled() => {
            let error = ApiError::new(503, "the stand-in has ended");
            error_response(arrived.endpoint_like(), &error, &[], false)
        }
    }
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

async fn answer(
    stand_in: &Shared,
    arrived: &Arrived<'_>,
    body: &Bytes,
    answering: Answering,
) -> Response {
    let route = Route::of(
        arrived.method,
        arrived.path,
        arrived.query.text(),
        arrived.is_anthropic(),
    );
    let plain = |body: Vec<u8>| respond(StatusCode::OK, JSON, Body::from(body));
    match route {
        Err(error) => refused(stand_in, arrived, arrived.endpoint_like(), error).await,
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
                false => {
                    let error = catalogue::unknown_model(endpoint, name);
                    refused(stand_in, arrived, endpoint, error).await
                }
            }
        }
        Ok(Route::Response(id)) => match stored_response(stand_in, id) {
            Some(body) => plain(body),
            None => {
                let message = format!("Response with id '{id}' not found.");
                let error = ApiError::new(404, message);
                refused(stand_in, arrived, Endpoint::Responses, error).await
            }
        },
        Ok(Route::CountTokens(target)) => match read_request(&target, arrived.path, body) {
            Err(error) => refused(stand_in, arrived, target.endpoint, error).await,
            Ok(received) => {
                let tokens = usage::count_request(&received.request);
                plain(catalogue::token_count(target.endpoint, tokens))
            }
        },
        Ok(Route::Generate(target)) => match read_request(&target, arrived.path, body) {
            Err(error) => refused(stand_in, arrived, target.endpoint, error).await,
            Ok(received) => {
                let read = Read {
                    received: &received,
                    n_bytes: body.len(),
                };
                generate(stand_in, arrived, &target, read, answering).await
            }
        },
    }
}

/// A request that was understood.
#[derive(Clone, Copy)]
struct Read<'a> {
    received: &'a Received,
    /// The size of its body.
    n_bytes: usize,
}

/// An answer of the model, or what stands in its place.
async fn generate(
    stand_in: &Shared,
    arrived: &Arrived<'_>,
    target: &Target<'_>,
    read: Read<'_>,
    answering: Answering,
) -> Response {
    let begun = stand_in.begin().await;
    let request = &read.received.request;
    let mut reply = stand_in
        .decide(arrived.address(), request, arrived.at, begun.is_recorded)
        .await;
    stand_in.find_all(&mut reply.told.found).await;
    let endpoint = target.endpoint;
    let (due_ms, status) = match &reply.content {
        Content::Error { error, at_ms, .. } => (*at_ms, error.status),
        Content::Answer(answer) => {
            let ends = answers::ends_at(&answer.elements);
            let fails = answer.failure.as_ref().map_or(0, |(_, at_ms)| *at_ms);
            (ends.max(fails), 200)
        }
    };
    let is_stream = request.wants_stream && matches!(&reply.content, Content::Answer(_));
    let mut told = std::mem::take(&mut reply.told);
    let hits = std::mem::take(&mut told.hits);
    let due_ms = match hits.is_empty() {
        true => due_ms,
        false => stand_in.options.speed.at(due_ms),
    };
    if begun.is_recorded {
        let noted = Noted {
            number: begun.number,
            due_ms,
            status,
            said: match &reply.content {
                Content::Error { .. } => None,
                Content::Answer(answer) => Some(answers::describe(&answer.elements)),
            },
            is_stream,
            faults: hits.iter().map(|hit| hit.kind.word()).collect(),
        };
        Box::pin(note(stand_in, arrived, endpoint, Some(read), told, noted)).await;
    }
    // The events of a stream come at times of their own.
    if due_ms > 0 && !is_stream {
        let due = arrived.at.saturating_add(Duration::from_millis(due_ms));
        stand_in.clock.sleep_until(due).await;
    }
    let saying = Saying {
        content: reply.content,
        hits,
        answering,
    };
    let mut response = say(stand_in, arrived, target, read.received, saying);
    // By this, clients name an exchange in their own logs.
    if let Ok(id) = HeaderValue::try_from(exchange_id(begun.number)) {
        let name = match endpoint {
            Endpoint::Messages => HeaderName::from_static("request-id"),
            _ => HeaderName::from_static("x-request-id"),
        };
        response.headers_mut().entry(name).or_insert(id);
    }
    response
}

/// `req_000042`. Every answer has one, and formatting costs more.
fn exchange_id(number: u64) -> String {
    const DIGITS: usize = 6;
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(number);
    let mut id = String::with_capacity("req_".len() + DIGITS.max(digits.len()));
    id.push_str("req_");
    id.extend(std::iter::repeat_n(
        '0',
        DIGITS.saturating_sub(digits.len()),
    ));
    id.push_str(digits);
    id
}

/// What is said, and what goes wrong with it.
struct Saying {
    content: Content,
    hits: Vec<Hit>,
    answering: Answering,
}

/// Writes a reply.
fn say(
    stand_in: &Shared,
    arrived: &Arrived<'_>,
    target: &Target<'_>,
    received: &Received,
    saying: Saying,
) -> Response {
    let endpoint = target.endpoint;
    let Saying {
        content,
        hits,
        answering,
    } = saying;
    match content {
        Content::Error {
            error,
            headers,
            at_ms,
            is_final,
        } => {
            let response = error_response(endpoint, &error, &headers, is_final);
            match hits.is_empty() {
                true => response,
                false => {
                    let body = error.body(endpoint);
                    let frames = whole_body(at_ms, body, None);
                    disturbed(stand_in, arrived, response, frames, &hits, answering)
                }
            }
        }
        Content::Answer(answer) => {
            let Received { request, body } = received;
            let n_tokens = usage::count_request(request);
            // What is in the script is told from that; calls are in the words of the agent that asked.
            if let Some(id) = &answer.id
                && body["store"] != false
                && answer
                    .elements
                    .iter()
                    .any(|element| matches!(element, Element::Call(_)))
            {
                let stored = Stored {
                    model: request.model.clone(),
                    elements: answer.elements.clone(),
                };
                stand_in.stored.keep(id, stored);
            }
            let spoken = Spoken {
                endpoint,
                created_at: stand_in.created_at,
                usage: Usage::of(&answer.usage, n_tokens, &answer.elements),
                shows_thinking: shows_thinking(request),
                streams_usage: request.wants_stream_usage,
                model: request.model.clone(),
                request: repeated(endpoint, body),
                answer: *answer,
            };
            if !request.wants_stream {
                let mut buffer = Vec::with_capacity(1024);
                write_body(endpoint, &spoken.answer(), &mut buffer);
                if hits.is_empty() {
                    return respond(StatusCode::OK, JSON, Body::from(buffer));
                }
                let elements = &spoken.answer.elements;
                let at_ms = answers::ends_at(elements);
                let frames = whole_body(at_ms, buffer, Some(elements));
                let response = respond(StatusCode::OK, JSON, Body::empty());
                return disturbed(stand_in, arrived, response, frames, &hits, answering);
            }
            let streaming = Streaming {
                chunk: stand_in.options.chunk,
                framing: target.framing,
            };
            let is_array = endpoint == Endpoint::Gemini && target.framing == Framing::JsonArray;
            let kind = if is_array { JSON } else { EVENTS };
            let mut response = respond(StatusCode::OK, kind, Body::empty());
            let headers = response.headers_mut();
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            if !hits.is_empty() {
                let events = stream(endpoint, &spoken.answer(), streaming);
                let frames = frames_of(&events, &spoken.answer.elements);
                return disturbed(stand_in, arrived, response, frames, &hits, answering);
            }
            let timing = timing(stand_in, arrived.at, endpoint == Endpoint::Messages);
            *response.body_mut() = streaming::body(spoken, streaming, timing, answering);
            response
        }
    }
}

/// What of a request its answer may repeat, as long as that takes: settings, never the conversation.
fn repeated(endpoint: Endpoint, body: &Json) -> Json {
    let members = body.as_object().filter(|_| endpoint == Endpoint::Responses);
    members.map_or(Json::Null, |members| {
        let settings = members.iter().filter(|(name, _)| *name != "input");
        let settings = settings.map(|(name, value)| (name.clone(), value.clone()));
        Json::Object(settings.collect())
    })
}

fn timing(stand_in: &StandIn, began: Duration, has_pings: bool) -> streaming::Timing {
    streaming::Timing {
        clock: stand_in.clock,
        began,
        has_pings,
        stop: stand_in.stop.clone(),
    }
}

/// A body that is no stream, as one frame.
fn whole_body(at_ms: u64, bytes: Vec<u8>, elements: Option<&[Element]>) -> Frames {
    let calls = elements.into_iter().flat_map(answers::call_ids);
    Frames {
        frames: vec![Frame { at_ms, bytes }],
        calls: calls.map(|id| (id, 0)).collect(),
        is_stream: false,
    }
}

/// The events of a stream, each a frame.
fn frames_of(events: &Events, elements: &[Element]) -> Frames {
    let frames = events.iter().map(|event| Frame {
        at_ms: event.at_ms,
        bytes: event.bytes.to_vec(),
    });
    Frames {
        frames: frames.collect(),
        calls: answers::call_ids(elements)
            .zip(events.calls().iter().copied())
            .collect(),
        is_stream: true,
    }
}

/// An answer with faults in place of its body. The times of its frames are as written.
fn disturbed(
    stand_in: &Shared,
    arrived: &Arrived<'_>,
    mut response: Response,
    frames: Frames,
    hits: &[Hit],
    answering: Answering,
) -> Response {
    let is_stream = frames.is_stream;
    let mut parts = disturb(frames, hits);
    for part in &mut parts {
        part.at_ms = stand_in.options.speed.at(part.at_ms);
    }
    // A body that ends early is not the whole one for those who were told its length.
    if let (
        [
            Part {
                act: Act::SendHalf(whole),
                ..
            },
        ],
        false,
    ) = (&parts[..], is_stream)
    {
        let length = HeaderValue::from(whole.len());
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, length);
    }
    let has_pings = is_stream && arrived.endpoint_like() == Endpoint::Messages;
    let timing = timing(stand_in, arrived.at, has_pings);
    *response.body_mut() = disturbed::body(parts, timing, stand_in.faults.clone(), answering);
    response
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
    stand_in: &Shared,
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
    let begun = stand_in.begin().await;
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

struct Noted {
    number: u64,
    due_ms: u64,
    status: u16,
    said: Option<String>,
    is_stream: bool,
    faults: Vec<&'static str>,
}

/// Keeps the exchange, and tells those who watch and the trace.
async fn note(
    stand_in: &Shared,
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
