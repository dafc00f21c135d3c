//! From a request that was understood to its response: what the script has for it, told to the log, said when it is
//! due, in the bytes of its dialect.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use cuecard_source::value::Json;
use cuecard_timeline::script::Endpoint;

use super::answers;
use super::disturb::{Frames, disturb};
use super::exchange_recorder::StartedExchange;
use super::faults::Hit;
use super::mock_server::{Content, MockServer, ModelAnswer, Reply};
use super::service::{Arrived, EVENTS, JSON, add_headers, error_response, record, respond};
use super::streaming::{Delivery, Sending, Timing, parts};
use cuecard_runtime::fault::Act;
use cuecard_runtime::fault::{Frame, Part};
use cuecard_runtime::http_server::ConnectionReset;
use cuecard_wire::llm::answer::{Answer, Element, Failure};
use cuecard_wire::llm::events::{Events, Framing, Streaming};
use cuecard_wire::llm::route::Target;
use cuecard_wire::llm::usage::{self, Usage};
use cuecard_wire::llm::{Received, stream, write_body};

/// A request that was understood, on the way to its response.
pub(super) struct Replying<'a> {
    pub(super) mock_server: &'a MockServer,
    pub(super) arrived: &'a Arrived<'a>,
    pub(super) target: Target<'a>,
    pub(super) received: Received,
    /// The size of its body.
    pub(super) n_bytes: usize,
    pub(super) begun: StartedExchange,
    pub(super) reset: ConnectionReset,
}

impl Replying<'_> {
    /// An answer of the model, or what stands in its place.
    pub(super) async fn reply(self) -> Response {
        let Self {
            mock_server,
            arrived,
            begun,
            ..
        } = self;
        mock_server.tell_left_out(begun).await;
        let address = arrived.address();
        let decided = mock_server.decide(address, &self.received, arrived.at, begun.is_recorded);
        let Reply { content, mut told } = Box::pin(decided).await;
        // A request that had to wait for the run comes when it may be answered.
        let mut arrived = *arrived;
        if mock_server.options.lead.is_some() {
            arrived.at = mock_server.clock.now();
        }
        let arrived = &arrived;
        let this = Replying { arrived, ..self };
        mock_server.find_all(&mut told.found).await;
        let hits = std::mem::take(&mut told.hits);
        let due_ms = match hits.is_empty() {
            true => content.due_ms(),
            false => mock_server.options.play.speed.at(content.due_ms()),
        };
        // The events of a stream come at times of their own.
        let is_stream = this.received.request.wants_stream && matches!(content, Content::Answer(_));
        let mut delivery = None;
        if begun.is_recorded {
            let exchange = &mut told.exchange;
            exchange.due_ms = due_ms;
            exchange.is_stream = is_stream;
            exchange.faults = hits.iter().map(|hit| hit.kind.as_str()).collect();
            match &content {
                Content::Error { error, .. } => exchange.status = error.status,
                Content::Answer(answer) => {
                    exchange.status = 200;
                    exchange.answer = Some(answers::describe(&answer.elements));
                }
            }
            let head = (begun.number, arrived, this.target.endpoint);
            let read = Some((&this.received, this.n_bytes));
            let exchange = Box::pin(record(mock_server, head, read, told)).await;
            // What goes wrong on purpose is as it should be.
            delivery = hits.is_empty().then(|| Delivery::of(mock_server, exchange));
        }
        if !is_stream {
            if due_ms > 0 {
                let due = arrived.at.saturating_add(Duration::from_millis(due_ms));
                mock_server.clock.sleep_until(due).await;
            }
            if let Some(delivery) = delivery.take() {
                delivery.sent();
            }
        }
        this.say(content, hits, delivery)
    }

    /// Says a reply, with what goes wrong with it. `delivery` is what was noted of a stream.
    fn say(self, content: Content, hits: Vec<Hit>, delivery: Option<Box<Delivery>>) -> Response {
        let (number, endpoint) = (self.begun.number, self.target.endpoint);
        let mut response = match content {
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
                        let frames = whole_body(at_ms, error.body(endpoint), None);
                        self.disturbed(response, frames, &hits)
                    }
                }
            }
            Content::Answer(mut answer) => {
                let headers = std::mem::take(&mut answer.headers);
                let mut response = self.say_answer(*answer, &hits, delivery);
                add_headers(&mut response, &headers);
                response
            }
        };
        // By this, clients name an exchange in their own logs.
        if let Ok(id) = HeaderValue::try_from(format!("req_{number:06}")) {
            let name = match endpoint {
                Endpoint::Messages => HeaderName::from_static("request-id"),
                _ => HeaderName::from_static("x-request-id"),
            };
            response.headers_mut().entry(name).or_insert(id);
        }
        response
    }

    fn say_answer(
        mut self,
        answer: ModelAnswer,
        hits: &[Hit],
        delivery: Option<Box<Delivery>>,
    ) -> Response {
        let endpoint = self.target.endpoint;
        let is_stored = self.received.body["store"] != false;
        let request = &mut self.received.request;
        let n_tokens = usage::count_request(request);
        let wants_stream = request.wants_stream;
        let streams_usage = request.wants_stream_usage;
        let model = std::mem::take(&mut request.model);
        let repeated = repeated(endpoint, self.received.body.take());
        let elements = &answer.elements;
        let id = answer.id.as_deref();
        let spoken = Answer {
            seed: answer.seed,
            id,
            model: &model,
            created_at: self.mock_server.created_at,
            elements,
            stop: answer.stop,
            usage: Usage::of(&answer.usage, n_tokens, elements),
            shows_thinking: answer.shows_thinking,
            reasoning_content: answer.reasoning_content,
            streams_usage,
            request: &repeated,
            failure: answer.failure.as_ref().map(|(error, at_ms)| Failure {
                error,
                at_ms: *at_ms,
            }),
        };
        let mut buffer = Vec::new();
        if !wants_stream || (id.is_some() && is_stored) {
            write_body(endpoint, &spoken, &mut buffer);
        }
        if let Some(id) = id {
            let body = is_stored.then(|| buffer.clone());
            self.mock_server.stored.keep(id, body);
        }
        if !wants_stream {
            let due_ms = answers::ends_at(elements);
            if hits.is_empty() {
                return respond(StatusCode::OK, JSON, Body::from(buffer));
            }
            let frames = whole_body(due_ms, buffer, Some(elements));
            let response = respond(StatusCode::OK, JSON, Body::empty());
            return self.disturbed(response, frames, hits);
        }
        let framing = self.target.framing;
        let streaming = Streaming {
            chunk: self.mock_server.options.chunk,
            framing,
        };
        let is_array = endpoint == Endpoint::Gemini && framing == Framing::JsonArray;
        let kind = if is_array { JSON } else { EVENTS };
        let mut response = respond(StatusCode::OK, kind, Body::empty());
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        let events = stream(endpoint, &spoken, streaming);
        if !hits.is_empty() {
            let frames = frames_of(events, elements);
            return self.disturbed(response, frames, hits);
        }
        let parts = parts(events);
        *response.body_mut() = self.sending(parts, delivery);
        response
    }

    /// A body that comes in these parts.
    fn sending(self, parts: Vec<Part>, delivery: Option<Box<Delivery>>) -> Body {
        let is_stream = self.received.request.wants_stream;
        let sending = Sending {
            parts: parts.into(),
            timing: Timing {
                clock: self.mock_server.clock,
                began: self.arrived.at,
                has_pings: is_stream && self.target.endpoint == Endpoint::Messages,
                stop: self.mock_server.stop.clone(),
            },
            faults: self.mock_server.faults.clone(),
            reset: self.reset,
            delivery,
            last: None,
            end: None,
        };
        sending.body()
    }

    /// An answer with faults in place of its body. The times of its frames are as written.
    fn disturbed(self, mut response: Response, frames: Frames, hits: &[Hit]) -> Response {
        let is_stream = frames.is_stream;
        let mut parts = disturb(frames, hits);
        for part in &mut parts {
            part.at_ms = self.mock_server.options.play.speed.at(part.at_ms);
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
        *response.body_mut() = self.sending(parts, None);
        response
    }
}

/// What of the body of a request its answer may repeat, as long as that takes: settings, never the conversation.
fn repeated(endpoint: Endpoint, body: Json) -> Json {
    match body {
        Json::Object(mut members) if endpoint == Endpoint::Responses => {
            members.shift_remove("input");
            Json::Object(members)
        }
        _ => Json::Null,
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
fn frames_of(events: Events, elements: &[Element]) -> Frames {
    let calls = answers::call_ids(elements).zip(events.calls);
    let frames = events.events.into_iter().map(|event| Frame {
        at_ms: event.at_ms,
        bytes: event.bytes,
    });
    Frames {
        calls: calls.collect(),
        frames: frames.collect(),
        is_stream: true,
    }
}
