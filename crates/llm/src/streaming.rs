//! The body of an answer that comes in parts, with or without faults: each is sent when it is due.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::stream;
use tokio_util::sync::CancellationToken;

use super::exchange_recorder::{Exchange, ExchangeRecorder, Notice};
use super::faults::Faults;
use super::mock_server::MockServer;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::fault::{Act, Part};
use cuecard_runtime::http_server::ConnectionReset;
use cuecard_runtime::trace_writer::TraceWriter;
use cuecard_wire::llm::PING;
use cuecard_wire::llm::events::{Event, Events};

/// Where pings are known, this long a silence has one.
const PING_AFTER: Duration = Duration::from_secs(10);
/// How many bytes a piece of a split frame has.
const PIECE: usize = 5;

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

/// An answer on its way. Dropped before it was sent whole, since its client went away or the run ended, it is cut, and the
/// log says so.
pub(super) struct Delivery {
    teller: TraceWriter<Notice>,
    ledger: Arc<ExchangeRecorder>,
    exchange: Arc<Exchange>,
    is_sent: bool,
}

impl Delivery {
    /// For an exchange that was noted.
    pub(super) fn of(mock_server: &MockServer, exchange: Arc<Exchange>) -> Box<Self> {
        Box::new(Self {
            teller: mock_server.teller.clone(),
            ledger: mock_server.ledger.clone(),
            exchange,
            is_sent: false,
        })
    }

    /// It was sent whole.
    pub(super) fn sent(mut self) {
        self.is_sent = true;
        self.ledger.mark_sent(&self.exchange);
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if !self.is_sent {
            self.ledger.mark_cut(&self.exchange);
            let cut = Exchange {
                outcome: "cut",
                ..Exchange::clone(&self.exchange)
            };
            self.teller.try_notice(Notice::Exchange(Arc::new(cut)));
        }
    }
}

/// The events of a stream without faults. What is due at the same time goes at once.
pub(super) fn parts(events: Events) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for Event { at_ms, mut bytes } in events.events {
        match parts.last_mut() {
            Some(Part {
                at_ms: last_ms,
                act: Act::Send(sent),
                ..
            }) if *last_ms == at_ms => sent.append(&mut bytes),
            _ => parts.push(Part {
                at_ms,
                act: Act::Send(bytes),
                faults: Vec::new(),
            }),
        }
    }
    parts
}

/// A body on its way.
pub(super) struct Sending {
    pub(super) parts: VecDeque<Part>,
    pub(super) timing: Timing,
    pub(super) faults: Arc<Faults>,
    pub(super) reset: ConnectionReset,
    pub(super) delivery: Option<Box<Delivery>>,
    /// When something was sent last.
    pub(super) last: Option<Duration>,
    /// Why the connection ends now.
    pub(super) end: Option<&'static str>,
}

impl Sending {
    /// The body. It ends with its client: when that goes away, it is dropped. When all ends before it, it is cut: the
    /// connection ends without the end of the body. What is sent before that has left before it does.
    pub(super) fn body(self) -> Body {
        Body::from_stream(stream::unfold(self, next))
    }

    /// Ends the connection here.
    fn cut(mut self, why: &'static str) -> Option<(io::Result<Bytes>, Self)> {
        self.parts.clear();
        self.delivery = None;
        Some((Err(io::Error::other(why)), self))
    }
}

/// Why a connection ends with the server.
const STOPPED: &str = "the mock server stops before its answer";

async fn next(mut sending: Sending) -> Option<(io::Result<Bytes>, Sending)> {
    if let Some(why) = sending.end.take() {
        // Lets go out what was sent before.
        tokio::task::yield_now().await;
        return sending.cut(why);
    }
    let part = sending.parts.pop_front()?;
    let Timing {
        clock,
        began,
        has_pings,
        stop,
    } = &sending.timing;
    let due = began.saturating_add(Duration::from_millis(part.at_ms));
    let ping = sending.last.filter(|_| *has_pings);
    let ping = ping.and_then(|last| ping_before(last, due));
    let until = ping.unwrap_or(due);
    if clock.now() < until {
        tokio::select! {
            () = clock.sleep_until(until) => {}
            () = stop.cancelled() => return sending.cut(STOPPED),
        }
    }
    if sending.last.is_some() {
        // Each part is seen by itself.
        tokio::task::yield_now().await;
    }
    sending.last = Some(sending.timing.clock.now());
    if ping.is_some() {
        sending.parts.push_front(part);
        return Some((Ok(Bytes::from_static(PING)), sending));
    }
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
            return sending.cut(STOPPED);
        }
        Act::Crash => {
            sending.reset.on_end();
            return sending.cut("crashed intentionally");
        }
        // An API has no standard error.
        Act::FloodErrors(_) => Vec::new(),
    };
    if sending.parts.is_empty()
        && let Some(delivery) = sending.delivery.take()
    {
        delivery.sent();
    }
    Some((Ok(Bytes::from(bytes)), sending))
}

/// The ping after a silence that began at `last`, if one is due before what is due.
fn ping_before(last: Duration, due: Duration) -> Option<Duration> {
    let ping = last.saturating_add(PING_AFTER);
    (ping < due).then_some(ping)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_silence_has_pings_until_the_next_event_is_due() {
        let seconds = Duration::from_secs;
        let due = seconds(25);
        let mut points = vec![seconds(1)];
        while let Some(ping) = ping_before(points[points.len() - 1], due) {
            points.push(ping);
        }
        assert_eq!(points, [seconds(1), seconds(11), seconds(21)]);
        assert_eq!(ping_before(seconds(1), seconds(11)), None);
    }
}
