//! The body of a stream: each event is made and sent when it is due.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use cuecard_source::value::Json;
use cuecard_timeline::script::Endpoint;
use futures::Stream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::exchange_recorder::{Exchange, ExchangeRecorder, Notice};
use super::mock_server::{MockServer, ModelAnswer};
use cuecard_runtime::clock::{Alarm, Clock};
use cuecard_runtime::trace_writer::TraceWriter;
use cuecard_wire::llm::answer::{Answer, Failure};
use cuecard_wire::llm::events::{Events, Streaming, Window};
use cuecard_wire::llm::usage::Usage;
use cuecard_wire::llm::{PING, stream_window};

/// Where pings are known, this long a silence has one.
pub(super) const PING_AFTER: Duration = Duration::from_secs(10);
/// So many bytes of a stream are made at once, and whatever is due soon after them: thousands of streams may be open,
/// and each may be long. With one event more they still fit into the buffer that a stream begins with.
const WINDOW_BYTES: usize = 7 << 9;
/// What is soon. Each window passes over all events before it, so there must not be too many of them.
const WINDOW_MS: u64 = 1_000;

/// An answer with all that its dialect makes of it.
#[derive(Debug)]
pub(super) struct Spoken {
    pub(super) endpoint: Endpoint,
    pub(super) model: String,
    pub(super) created_at: u64,
    pub(super) usage: Usage,
    pub(super) streams_usage: bool,
    /// The body of the request, of which a Responses answer repeats parts; null for the others.
    pub(super) request: Json,
    pub(super) answer: ModelAnswer,
}

impl Spoken {
    /// As the wire wants it.
    pub(super) fn answer(&self) -> Answer<'_> {
        let ModelAnswer {
            elements,
            seed,
            id,
            stop,
            failure,
            shows_thinking,
            reasoning_content,
            ..
        } = &self.answer;
        Answer {
            seed: *seed,
            id: id.as_deref(),
            model: &self.model,
            created_at: self.created_at,
            elements,
            stop: *stop,
            usage: self.usage,
            shows_thinking: *shows_thinking,
            reasoning_content: *reasoning_content,
            streams_usage: self.streams_usage,
            request: &self.request,
            failure: failure.as_ref().map(|(error, at_ms)| Failure {
                error,
                at_ms: *at_ms,
            }),
        }
    }
}

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

/// The body. It ends with its client: when that goes away, the stream is dropped. When all ends before it, it is cut:
/// the connection ends without the end of the body.
pub(super) fn body(
    spoken: Spoken,
    streaming: Streaming,
    timing: Timing,
    delivery: Option<Box<Delivery>>,
) -> Body {
    let Timing {
        clock,
        began,
        has_pings,
        stop,
    } = timing;
    Body::from_stream(Sending {
        spoken,
        streaming,
        n_made: 0,
        goes_on: true,
        bytes: Bytes::new(),
        parts: Vec::new(),
        clock,
        began,
        has_pings,
        last: None,
        alarm: clock.alarm(began),
        is_set: false,
        stopped: Box::pin(stop.cancelled_owned()),
        delivery,
        is_over: false,
    })
}

struct Sending {
    spoken: Spoken,
    streaming: Streaming,
    /// How many events were made.
    n_made: usize,
    /// Whether there are more.
    goes_on: bool,
    bytes: Bytes,
    /// What is sent at once, and when, the last first.
    parts: Vec<(u64, Range<usize>)>,
    clock: Clock,
    began: Duration,
    has_pings: bool,
    /// When something was sent last.
    last: Option<Duration>,
    alarm: Alarm,
    /// Whether the alarm is set for what comes next.
    is_set: bool,
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
    delivery: Option<Box<Delivery>>,
    is_over: bool,
}

impl Sending {
    fn make_more(&mut self) {
        let elapsed = self.clock.now().saturating_sub(self.began);
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let window = Window {
            from: self.n_made,
            bytes: WINDOW_BYTES,
            until_ms: elapsed_ms.saturating_add(WINDOW_MS),
        };
        let events = stream_window(
            self.spoken.endpoint,
            &self.spoken.answer(),
            self.streaming,
            window,
        );
        self.n_made += events.len();
        self.goes_on = events.goes_on();
        self.parts = parts(&events);
        // Thousands of them may wait: none keeps more than it needs.
        self.bytes = Bytes::from(events.into_bytes().into_boxed_slice());
    }

    /// When the next ping is due, if there is one before `due`.
    fn ping_before(&self, due: Duration) -> Option<Duration> {
        let ping = self.last?.saturating_add(PING_AFTER);
        (self.has_pings && ping < due).then_some(ping)
    }
}

/// What is due at the same time goes at once.
fn parts(events: &Events) -> Vec<(u64, Range<usize>)> {
    let mut parts: Vec<(u64, Range<usize>)> = Vec::with_capacity(events.len());
    for (at_ms, range) in events.ranges() {
        match parts.last_mut() {
            Some((last_ms, last)) if *last_ms == at_ms => last.end = range.end,
            _ => parts.push((at_ms, range)),
        }
    }
    parts.reverse();
    parts
}

impl Stream for Sending {
    type Item = io::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let sending = self.get_mut();
        if sending.is_over {
            return Poll::Ready(None);
        }
        if sending.parts.is_empty() {
            if !sending.goes_on {
                return Poll::Ready(None);
            }
            sending.make_more();
        }
        let Some(&(at_ms, _)) = sending.parts.last() else {
            return Poll::Ready(None);
        };
        let due = sending.began.saturating_add(Duration::from_millis(at_ms));
        let ping = sending.ping_before(due);
        let until = ping.unwrap_or(due);
        let mut now = sending.clock.now();
        if now < until {
            if !sending.is_set {
                sending.alarm.set(until);
                sending.is_set = true;
            }
            if sending.stopped.as_mut().poll(context).is_ready() {
                sending.is_over = true;
                sending.delivery = None;
                let why = "the mock server stops before its answer";
                return Poll::Ready(Some(Err(io::Error::other(why))));
            }
            ready!(sending.alarm.poll(context));
            now = sending.clock.now();
        }
        sending.is_set = false;
        sending.last = Some(now);
        if ping.is_some() {
            return Poll::Ready(Some(Ok(Bytes::from_static(PING))));
        }
        let part = sending.parts.pop();
        if sending.parts.is_empty()
            && !sending.goes_on
            && let Some(delivery) = sending.delivery.take()
        {
            delivery.sent();
        }
        Poll::Ready(part.map(|(_, range)| Ok(sending.bytes.slice(range))))
    }
}
