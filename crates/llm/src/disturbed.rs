//! The body of an answer with faults: each act is carried out when it is due.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::stream;

use super::faults::Faults;
use super::streaming::{PING_AFTER, Timing};
use cuecard_runtime::fault::{Act, Part};
use cuecard_runtime::http_server::ConnectionReset;
use cuecard_wire::llm::PING;

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
    reset: ConnectionReset,
}

/// The body. What is sent before a connection ends has left before it does.
pub(super) fn body(
    parts: Vec<Part>,
    timing: Timing,
    faults: Arc<Faults>,
    reset: ConnectionReset,
) -> Body {
    let sending = Sending {
        parts: parts.into(),
        last: timing.began,
        timing,
        faults,
        end: None,
        reset,
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
        Waited::Stopped => {
            sending.parts.clear();
            return Some((Err(ended()), sending));
        }
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
            sending.end = Some("cut intentionally");
            bytes[..bytes.len() / 2].to_vec()
        }
        Act::Stall => {
            sending.timing.stop.cancelled().await;
            return Some((Err(ended()), sending));
        }
        Act::Crash => {
            sending.reset.on_end();
            sending.parts.clear();
            return Some((Err(io::Error::other("crashed intentionally")), sending));
        }
        // An API has no standard error.
        Act::FloodErrors(_) => Vec::new(),
    };
    Some((Ok(Bytes::from(bytes)), sending))
}

fn ended() -> io::Error {
    io::Error::other("the mock server stops before its answer")
}

/// What was waited for.
enum Waited {
    /// The next event is due.
    Due,
    /// It was silent for so long that a ping is due.
    Ping,
    /// The stream ends early.
    Stopped,
}

/// Waits for what is due at `due`, or for a ping, where something was sent at `last`.
async fn wait(timing: &Timing, last: Duration, due: Duration) -> Waited {
    let is_silent = last != timing.began;
    let (until, pings) = match timing.has_pings && is_silent {
        true => or_ping(last, due),
        false => (due, false),
    };
    if timing.clock.now() < until {
        tokio::select! {
            () = timing.clock.sleep_until(until) => {}
            () = timing.stop.cancelled() => return Waited::Stopped,
        }
    }
    match pings {
        true => Waited::Ping,
        false => Waited::Due,
    }
}

/// What comes first: what is due, or the ping after a silence. And whether it is the ping.
fn or_ping(last: Duration, due: Duration) -> (Duration, bool) {
    let ping = last.saturating_add(PING_AFTER);
    match ping < due {
        true => (ping, true),
        false => (due, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_silence_has_pings_until_the_next_event_is_due() {
        let seconds = Duration::from_secs;
        let due = seconds(25);
        let mut last = seconds(1);
        let mut points = Vec::new();
        loop {
            let (until, is_ping) = or_ping(last, due);
            points.push(until);
            if !is_ping {
                break;
            }
            last = until;
        }
        assert_eq!(points, [seconds(11), seconds(21), due]);
        assert_eq!(or_ping(seconds(1), seconds(11)), (seconds(11), false));
    }
}
