//! The older HTTP with SSE: an event stream for what the server says, and requests for what it is told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cuecard_wire::sse::SseTooLong;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Response, Url};
use sse_stream::{Error as SseError, Sse};

use super::error::{ErrorKind, HttpRequest};
use super::events::{Events, events};
use super::frames::{FrameSink, FrameSource, LARGEST_FRAME, SendError};
use super::http;
use super::link::ReadEnd;
use super::text::{cut, url as shown_url};

/// The most events that may come before the one that names the address for messages.
const MOST_EVENTS_BEFORE: usize = 100;
/// How much of an answer is read, in bytes: it says no more than its status.
const LONGEST_ANSWER: usize = 64 * 1024;
/// How much of the body of a refusal is told, in characters.
const LONGEST_REFUSAL: usize = 2_000;

/// Opens the event stream at `url` and waits for the address of messages.
pub(super) async fn connect(
    url: &str,
    headers: &[(String, String)],
) -> Result<(FrameSource, PostSink), ErrorKind> {
    let url = http::parse(url)?;
    let headers = headers
        .iter()
        .map(|(name, value)| http::header(name, value))
        .collect::<Result<HeaderMap, _>>()?;
    let client = http::client(&url)?;
    let response = client
        .get(url)
        .headers(headers.clone())
        .header(ACCEPT, "text/event-stream")
        .send()
        .await
        .map_err(|error| match http::request_failure(&error) {
            kind @ ErrorKind::Unreachable { .. } => kind,
            _ => ErrorKind::Closed,
        })?;
    let base = response.url().clone();
    if !response.status().is_success() {
        let status = response.status().as_u16();
        return Err(ErrorKind::Http {
            status,
            text: cut(&text_of(response).await, LONGEST_REFUSAL),
            to: HttpRequest::EventStream,
        });
    }
    is_event_stream(&response)?;
    let mut events = events(response.bytes_stream(), LARGEST_FRAME);
    let endpoint = endpoint(&mut events, &base).await?;
    let sink = PostSink {
        client,
        endpoint,
        headers,
        is_closed: AtomicBool::new(false),
    };
    Ok((messages(events), sink))
}

fn is_event_stream(response: &Response) -> Result<(), ErrorKind> {
    let kind = response
        .headers()
        .get(CONTENT_TYPE)
        .map(|kind| String::from_utf8_lossy(kind.as_bytes()));
    let text = match kind {
        Some(kind) if kind.trim_start().starts_with("text/event-stream") => return Ok(()),
        Some(kind) => format!(
            "its content type is `{}`, not an event stream",
            cut(&kind, 100)
        ),
        None => "its response has no content type; expected an event stream".to_owned(),
    };
    Err(ErrorKind::Protocol { text })
}

async fn next(events: &mut Events) -> Result<Sse, ReadEnd> {
    match events.next().await {
        Some(Ok(event)) => Ok(event),
        Some(Err(SseError::Body(error))) if error.is::<SseTooLong>() => {
            Err(ReadEnd::TooLarge(LARGEST_FRAME))
        }
        Some(Err(_)) => Err(ReadEnd::Broken(
            "its event stream ended unexpectedly".to_owned(),
        )),
        None => Err(ReadEnd::Broken("its event stream ended".to_owned())),
    }
}

/// The address for messages, which the first event names.
async fn endpoint(events: &mut Events, base: &Url) -> Result<Url, ErrorKind> {
    let protocol = |text: String| ErrorKind::Protocol { text };
    for _ in 0..MOST_EVENTS_BEFORE {
        let event = next(events).await.map_err(|end| match end {
            ReadEnd::TooLarge(bound) => ErrorKind::TooLarge { bound },
            ReadEnd::Broken(reason) => {
                protocol(format!("{reason} before it sent a message endpoint"))
            }
            ReadEnd::Closed | ReadEnd::Dropped => ErrorKind::Closed,
        })?;
        if event.event.as_deref() != Some("endpoint") {
            continue;
        }
        let written = event.data.unwrap_or_default();
        let endpoint = base.join(written.trim()).map_err(|error| {
            protocol(format!("the message endpoint is not a valid URL ({error})"))
        })?;
        // It gets the headers, and with them the credentials.
        if endpoint.origin() != base.origin() {
            return Err(protocol(format!(
                "the message endpoint is on another host, `{}`",
                shown_url(endpoint.as_str())
            )));
        }
        return Ok(endpoint);
    }
    Err(protocol(format!(
        "the first {MOST_EVENTS_BEFORE} events contain no message endpoint"
    )))
}

/// What the server says.
fn messages(events: Events) -> FrameSource {
    let messages = stream::unfold(events, |mut events| async move {
        loop {
            let event = match next(&mut events).await {
                Ok(event) => event,
                Err(end) => return Some((Err(end), events)),
            };
            let is_message = matches!(event.event.as_deref(), None | Some("message"));
            if let Some(data) = event.data.filter(|_| is_message) {
                return Some((Ok(data.into_bytes()), events));
            }
        }
    });
    messages.boxed()
}

/// What the server is told: one request for each message.
pub(super) struct PostSink {
    client: reqwest::Client,
    endpoint: Url,
    headers: HeaderMap,
    is_closed: AtomicBool,
}

impl PostSink {
    async fn post(&self, frame: Vec<u8>) -> Result<(), ErrorKind> {
        let response = self
            .client
            .post(self.endpoint.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(frame)
            .send()
            .await
            .map_err(|error| http::request_failure(&error))?;
        let status = response.status();
        // Read in any case, so that the connection can be used again.
        let text = text_of(response).await;
        if status.is_success() {
            return Ok(());
        }
        let text = cut(&text, LONGEST_REFUSAL);
        Err(http::http_status(status.as_u16(), &text))
    }
}

impl FrameSink for PostSink {
    fn send(&self, frame: Vec<u8>) -> BoxFuture<'_, Result<(), SendError>> {
        async move {
            if self.is_closed.load(Ordering::Relaxed) {
                return Err(SendError::Closed);
            }
            self.post(frame).await.map_err(SendError::Request)
        }
        .boxed()
    }

    // Each message tells by itself that it was not taken.
    fn broken(&self, _patience: Duration) -> BoxFuture<'_, ()> {
        futures::future::pending().boxed()
    }

    fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        self.close();
        futures::future::ready(()).boxed()
    }
}

/// The body of an answer as a text; empty if it is too long.
async fn text_of(response: Response) -> String {
    let body = http::body(response, LONGEST_ANSWER).await;
    String::from_utf8_lossy(&body.unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests;
