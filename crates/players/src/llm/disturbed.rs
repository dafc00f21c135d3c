//! The body of an answer with faults: each act is carried out when it is due.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::stream;

use super::disturb::Part;
use super::faults::Faults;
use super::streaming::{Timing, Waited, wait};
use crate::runtime::fault::Act;
use crate::runtime::patience::Answering;
use crate::wire::llm::PING;

/// How many bytes a piece of a split frame has.
const PIECE: usize = 5;

struct Sending {
    parts: VecDeque<Part>,
    timing: Timing,
    faults: Arc<Faults>,
    /// When something was sent last.
    last: Duration,
    /// Why the connection ends now.
    end: Option<&'static str>,
    answering: Answering,
}

/// The body. What is sent before a connection ends has left before it does.
pub(super) fn body(
    parts: Vec<Part>,
    timing: Timing,
    faults: Arc<Faults>,
    answering: Answering,
) -> Body {
    let sending = Sending {
        parts: parts.into(),
        last: timing.began,
        timing,
        faults,
        end: None,
        answering,
    };
    Body::from_stream(stream::unfold(sending, next))
}

async fn next(mut sending: Sending) -> Option<(io::Result<Bytes>, Sending)> {
    if let Some(why) = sending.end.take() {
        // Lets go out what was sent before.
        tokio::task::yield_now().await;
        sending.parts.clear();
        return Some((Err(io::Error::other(why)), sending));
    }
    let part = sending.parts.pop_front()?;
    let due = sending
        .timing
        .began
        .saturating_add(Duration::from_millis(part.at_ms));
    match wait(&sending.timing, sending.last, due).await {
        Waited::Due => {}
        Waited::Ping => {
            sending.last = sending.timing.clock.now();
            sending.parts.push_front(part);
            return Some((Ok(Bytes::from_static(PING)), sending));
        }
        Waited::Stopped => return None,
    }
    let is_first = sending.last == sending.timing.began;
    if !is_first {
        // Each part is seen by itself.
        tokio::task::yield_now().await;
    }
    sending.last = sending.timing.clock.now();
    for fault_idx in part.faults {
        sending.faults.happened(fault_idx);
    }
    let bytes = match part.act {
        Act::Send(bytes) => bytes,
        Act::SendTogether(all) => all.concat(),
        Act::SendSplit(bytes) => {
            let mut pieces = bytes.chunks(PIECE);
            let first = pieces.next().unwrap_or_default().to_vec();
            for piece in pieces.rev() {
                sending.parts.push_front(Part {
                    at_ms: part.at_ms,
                    act: Act::Send(piece.to_vec()),
                    faults: Vec::new(),
                });
            }
            first
        }
        Act::SendHalf(bytes) => {
            sending.end = Some("cut on purpose");
            bytes[..bytes.len() / 2].to_vec()
        }
        Act::Stall => {
            sending.timing.stop.cancelled().await;
            return None;
        }
        Act::Crash => {
            sending.answering.reset();
            sending.parts.clear();
            return Some((Err(io::Error::other("crashed on purpose")), sending));
        }
        // An API has no standard error.
        Act::FloodErrors(_) => Vec::new(),
    };
    Some((Ok(Bytes::from(bytes)), sending))
}
