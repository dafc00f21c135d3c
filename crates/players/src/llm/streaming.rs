//! The body of a stream: each event is sent when it is due.

use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::stream;
use tokio_util::sync::CancellationToken;

use crate::runtime::clock::Clock;
use crate::runtime::patience::Answering;
use crate::wire::llm::PING;
use crate::wire::llm::events::Events;

/// Where pings are known, this long a silence has one.
const PING_AFTER: Duration = Duration::from_secs(10);

/// When a stream is sent.
pub(super) struct Timing {
    pub(super) clock: Clock,
    /// When the request arrived.
    pub(super) began: Duration,
    /// Whether the dialect knows pings.
    pub(super) has_pings: bool,
    /// Ends the stream early.
    pub(super) stop: CancellationToken,
}

struct Sending {
    bytes: Bytes,
    /// What is sent at once, and when, the last first.
    parts: Vec<(u64, std::ops::Range<usize>)>,
    timing: Timing,
    /// When something was sent last.
    last: Duration,
    _answering: Answering,
}

/// The body. It ends with its client: when that goes away, the stream is dropped.
pub(super) fn body(events: Events, timing: Timing, answering: Answering) -> Body {
    let mut parts: Vec<(u64, std::ops::Range<usize>)> = Vec::with_capacity(events.len());
    for (at_ms, range) in events.ranges() {
        match parts.last_mut() {
            // What is due at the same time goes at once.
            Some((last_ms, last)) if *last_ms == at_ms => last.end = range.end,
            _ => parts.push((at_ms, range)),
        }
    }
    parts.reverse();
    let sending = Sending {
        bytes: Bytes::from(events.into_bytes()),
        parts,
        last: timing.began,
        timing,
        _answering: answering,
    };
    Body::from_stream(stream::unfold(sending, next))
}

async fn next(mut sending: Sending) -> Option<(Result<Bytes, std::convert::Infallible>, Sending)> {
    let (at_ms, range) = sending.parts.pop()?;
    let timing = &sending.timing;
    let due = timing.began.saturating_add(Duration::from_millis(at_ms));
    let bytes = match wait(timing, sending.last, due).await {
        Waited::Due => sending.bytes.slice(range),
        Waited::Ping => {
            sending.parts.push((at_ms, range));
            Bytes::from_static(PING)
        }
        Waited::Stopped => return None,
    };
    sending.last = sending.timing.clock.now();
    Some((Ok(bytes), sending))
}

/// What was waited for.
pub(super) enum Waited {
    /// The next event is due.
    Due,
    /// It was silent for so long that a ping is due.
    Ping,
    /// The stream ends early.
    Stopped,
}

/// Waits for what is due at `due`, or for a ping, where something was sent at `last`.
pub(super) async fn wait(timing: &Timing, last: Duration, due: Duration) -> Waited {
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
