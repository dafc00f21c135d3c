//! Streams of events: the whole history first, then what comes, from one log.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuecard_runtime::clock::Alarm;
use cuecard_runtime::fault::{Act, Frame, FrameFaults, FrameShape};
use cuecard_runtime::http_server::ConnectionReset;
use futures::stream::{self, Stream};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::problem::Problem;
use super::service::Service;
use super::session::{Session, Told};

/// A comment is sent after such a time without an event, so that nobody on the way takes the stream for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": keep-alive\n\n");
/// So many bytes of history go in one piece.
const PIECE: usize = 64 << 10;
/// A reader that is behind gets so many events at a time.
const EVENTS_AT_ONCE: usize = 256;
/// A fault sends an event in pieces of so many bytes.
const SPLIT: usize = 7;

/// What of each event goes into a stream.
pub(crate) type Framing = fn(&Told) -> Option<Bytes>;

/// The event itself.
pub(crate) fn session_frame(told: &Told) -> Option<Bytes> {
    Some(told.frame.clone())
}

/// What a terminal would show of it.
pub(crate) fn terminal_frame(told: &Told) -> Option<Bytes> {
    let text = match told.data["stream"].is_string() {
        true => told.data["message"].as_str()?,
        false => return None,
    };
    let data = json!({"type": "terminal", "data": STANDARD.encode(text)});
    Some(format!("id: {}\nevent: pty\ndata: {data}\n\n", told.seq).into())
}

/// The events of a session behind the one that the client has seen last, as a stream.
pub(crate) fn stream(
    session: Arc<Session>,
    headers: &HeaderMap,
    framing: Framing,
    first: Option<Bytes>,
    with: Streaming,
) -> Result<Response, Problem> {
    let last = headers.get("last-event-id").filter(|id| !id.is_empty());
    let number = |id: &HeaderValue| id.to_str().ok()?.trim().parse::<usize>().ok();
    let seen = last.and_then(number);
    let n_events = session.n_events();
    if last.is_some() && seen.is_none_or(|seen| seen > n_events) {
        let detail = format!(
            "the session has {n_events} events so far: `Last-Event-ID` is of another session, or of an earlier run"
        );
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    }
    let from = seen.unwrap_or(0);
    let (behind, is_over) = session.events_from(from, 1);
    if is_over && behind.is_empty() && seen.is_some() {
        // This tells an `EventSource` not to come again.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let first = first.filter(|_| seen.is_none());
    let frames = frames(session, from, framing, first, with);
    Ok((headers, Body::from_stream(frames)).into_response())
}

/// What a stream lasts with.
pub(crate) struct Streaming {
    pub(crate) service: Arc<Service>,
    /// Of the connection.
    pub(crate) reset: ConnectionReset,
    /// Whether the faults of the timeline hit it.
    pub(crate) is_spoiled: bool,
}

struct Reader {
    session: Arc<Session>,
    changed: tokio::sync::watch::Receiver<usize>,
    /// How many events it has seen.
    seen: usize,
    framing: Framing,
    /// What goes first.
    ready: VecDeque<Bytes>,
    /// What goes wrong on purpose; absent where nothing does.
    spoiled: Option<FrameFaults>,
    /// How the stream ends once all that is ready has been sent.
    end: Option<StreamEnd>,
    /// When something was sent last, and when that is to be looked at: an event sets no timer.
    sent: Duration,
    silence: Alarm,
    /// Its own: it is looked at with each event, by readers on other threads too.
    stop: CancellationToken,
    with: Streaming,
}

/// How a fault ends a stream.
enum StreamEnd {
    Cut,
    Silence,
    Reset,
}

fn frames(
    session: Arc<Session>,
    from: usize,
    framing: Framing,
    first: Option<Bytes>,
    with: Streaming,
) -> impl Stream<Item = io::Result<Bytes>> {
    let has_faults = with.is_spoiled && with.service.has_faults(&session);
    let reader = Reader {
        changed: session.watch(),
        session,
        seen: from,
        framing,
        ready: first.into_iter().collect(),
        spoiled: has_faults.then(|| {
            FrameFaults::new(FrameShape {
                id_in: call_id_in,
                garbage,
            })
        }),
        end: None,
        sent: with.service.clock.now(),
        silence: with
            .service
            .clock
            .alarm(with.service.clock.now() + KEEP_ALIVE),
        stop: with.service.stop.child_token(),
        with,
    };
    stream::unfold(reader, |mut reader| async move {
        reader.next().await.map(|piece| (piece, reader))
    })
}

impl Reader {
    /// The next piece of the stream.
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(Ok(ready));
            }
            match self.end.take() {
                None => {}
                Some(StreamEnd::Cut) => return None,
                Some(StreamEnd::Silence) => {
                    self.stop.cancelled().await;
                    return None;
                }
                Some(StreamEnd::Reset) => {
                    self.with.reset.on_end();
                    return Some(Err(io::Error::other("crashed intentionally")));
                }
            }
            self.changed.borrow_and_update();
            let (events, is_over) = self.session.events_from(self.seen, EVENTS_AT_ONCE);
            if !events.is_empty() {
                self.sent = self.with.service.clock.now();
                self.take(&events);
                continue;
            }
            if is_over {
                let held = self.spoiled.as_mut().and_then(FrameFaults::finish)?;
                self.carry_out(held.act);
                continue;
            }
            tokio::select! {
                changed = self.changed.changed() => changed.ok()?,
                () = std::future::poll_fn(|context| self.silence.poll(context)) => {
                    let now = self.with.service.clock.now();
                    let is_silent = now >= self.sent + KEEP_ALIVE;
                    if is_silent {
                        self.sent = now;
                    }
                    self.silence.set(self.sent + KEEP_ALIVE);
                    if is_silent {
                        return Some(Ok(COMMENT));
                    }
                }
                () = self.stop.cancelled() => return None,
            }
        }
    }

    /// Makes events ready, as many as go in one piece.
    fn take(&mut self, events: &[Arc<Told>]) {
        let mut piece = Vec::new();
        for told in events {
            if piece.len() > PIECE || self.end.is_some() {
                break;
            }
            self.seen += 1;
            let Some(frame) = (self.framing)(told) else {
                continue;
            };
            if let Some(spoiled) = &mut self.spoiled {
                let hit = self.with.service.hit(&self.session, told);
                let frame = Frame {
                    at_ms: 0,
                    bytes: frame.to_vec(),
                };
                for part in spoiled.frame(frame, hit) {
                    for fault_idx in part.faults {
                        self.with.service.faults.happened(fault_idx);
                    }
                    self.carry_out(part.act);
                }
            } else if events.len() == 1 {
                // Most often it is a single one, which needs no copy.
                self.ready.push_back(frame);
            } else {
                piece.extend_from_slice(&frame);
            }
        }
        if !piece.is_empty() {
            self.ready.push_back(piece.into());
        }
    }

    fn carry_out(&mut self, act: Act) {
        match act {
            Act::Send(bytes) => self.ready.push_back(bytes.into()),
            Act::SendTogether(all) => self.ready.push_back(all.concat().into()),
            Act::SendSplit(bytes) => {
                let pieces = bytes.chunks(SPLIT).map(Bytes::copy_from_slice);
                self.ready.extend(pieces);
            }
            Act::SendHalf(mut bytes) => {
                bytes.truncate(bytes.len() / 2);
                self.ready.push_back(bytes.into());
                self.end = Some(StreamEnd::Cut);
            }
            Act::Stall => self.end = Some(StreamEnd::Silence),
            Act::Crash => self.end = Some(StreamEnd::Reset),
            // A service has no standard error.
            Act::FloodErrors(_) => {}
        }
    }
}

/// The id of the call that an event is about.
fn call_id_in(frame: &str) -> Option<String> {
    let (_, behind) = frame.split_once("\"tool_execution_id\":\"")?;
    behind.split('"').next().map(str::to_owned)
}

/// An event whose data is no JSON: two thirds of it.
fn garbage(frame: &[u8]) -> Vec<u8> {
    let mut spoiled = frame[..frame.len() * 2 / 3].to_vec();
    spoiled.extend_from_slice(b"\n\n");
    spoiled
}
