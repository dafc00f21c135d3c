//! Streams of events: the whole history first, then what comes, from one log.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuecard_runtime::timeouts::Answering;
use futures::stream::{self, Stream};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::session::{Session, Told};

/// A comment is sent after such a time without an event, so that nobody on the way takes the stream for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": keep-alive\n\n");
/// So many bytes of history go in one piece.
const PIECE: usize = 64 << 10;

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
) -> Response {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let seen = last.and_then(|id| id.trim().parse::<usize>().ok());
    let from = seen.unwrap_or(0);
    let (behind, is_over) = session.events_from(from);
    if is_over && behind.is_empty() && seen.is_some() {
        // This tells an `EventSource` not to come again.
        return StatusCode::NO_CONTENT.into_response();
    }
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let first = first.filter(|_| seen.is_none());
    let frames = frames(session, from, framing, first, with);
    (headers, Body::from_stream(frames)).into_response()
}

/// What a stream lasts with.
pub(crate) struct Streaming {
    /// Ends all streams.
    pub(crate) stop: CancellationToken,
    /// Says that the client is not waited for meanwhile.
    pub(crate) _answering: Option<Answering>,
}

struct Reader {
    session: Arc<Session>,
    changed: tokio::sync::watch::Receiver<usize>,
    /// How many events it has seen.
    seen: usize,
    framing: Framing,
    first: Option<Bytes>,
    with: Streaming,
}

fn frames(
    session: Arc<Session>,
    from: usize,
    framing: Framing,
    first: Option<Bytes>,
    with: Streaming,
) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let changed = session.watch();
    let reader = Reader {
        session,
        changed,
        seen: from,
        framing,
        first,
        with,
    };
    stream::unfold(reader, |mut reader| async move {
        if let Some(first) = reader.first.take() {
            return Some((Ok(first), reader));
        }
        loop {
            reader.changed.borrow_and_update();
            let (events, is_over) = reader.session.events_from(reader.seen);
            let mut piece = Vec::new();
            let mut one = None;
            for told in &events {
                if piece.len() > PIECE {
                    break;
                }
                reader.seen += 1;
                if let Some(frame) = (reader.framing)(told) {
                    // Most often it is a single one, which needs no copy.
                    match (&one, piece.is_empty()) {
                        (None, true) => one = Some(frame),
                        _ => {
                            if let Some(one) = one.take() {
                                piece.extend_from_slice(&one);
                            }
                            piece.extend_from_slice(&frame);
                        }
                    }
                }
            }
            if let Some(one) = one {
                return Some((Ok(one), reader));
            }
            if !piece.is_empty() {
                return Some((Ok(piece.into()), reader));
            }
            if !events.is_empty() {
                continue;
            }
            if is_over {
                return None;
            }
            tokio::select! {
                changed = reader.changed.changed() => changed.ok()?,
                () = tokio::time::sleep(KEEP_ALIVE) => return Some((Ok(COMMENT), reader)),
                () = reader.with.stop.cancelled() => return None,
            }
        }
    })
}
