//! What a stand-in keeps of its run: exchanges, findings, and the verdict in the end.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuecard_runtime::findings::Findings;
use cuecard_runtime::trace_writer;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::{Json, cut, mask_credentials};
use cuecard_timeline::script::{Endpoint, LlmScript};
use cuecard_trace::{EventData, HttpExchange};
use cuecard_wire::llm::Received;
use serde::Serialize;
use serde_json::json;

use super::events;
use super::headers;
use super::mock_server::place_of;
use super::played::{PlayedTurns, SessionVerdict, UnplayedTurn};
use super::service::{Arrived, milliseconds};

/// More of a request is not kept, in bytes of JSON.
pub(super) const MAX_KEPT_BODY: usize = 256 * 1024;

/// So many bytes of requests are kept. Of further ones, what happened is kept without the request.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// A request and what it got.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Exchange {
    /// Its number, from 1.
    pub number: u64,
    /// When it arrived, in milliseconds since the start.
    pub at_ms: u64,
    /// When its answer is complete by the schedule, counted from its arrival.
    pub due_ms: u64,
    /// The API: `messages`, `chat`, `responses`, `gemini`.
    pub dialect: &'static str,
    /// The method.
    pub method: String,
    /// The path, with keys in the query left out.
    pub path: String,
    /// `main` for the conversation, `side` for what is beside it.
    pub lane: &'static str,
    /// What became of it: `turn`, `repeat`, `error`, `side`, `miss`, `refused`, `other`; and
    /// `cut` of an answer that was not sent whole, since its client or the run ended before, which the log tells once more.
    pub outcome: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// Whether the answer is a stream.
    pub is_stream: bool,
    /// The session.
    pub session: Option<String>,
    /// The scenario's name.
    pub scenario: Option<String>,
    /// Why that was chosen, and what else there was.
    pub selection: Option<String>,
    /// The turn, from 1.
    pub turn: Option<usize>,
    /// Where the turn stands: `file:line`.
    pub place: Option<String>,
    /// What was answered, in words: `text + 2 calls`.
    pub answer: Option<String>,
    /// What goes wrong with the answer on purpose; absent if nothing does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<&'static str>,
    /// What the request goes on from: the last text of the user, and the results of tools by call.
    pub anchors: Json,
    /// The headers, without secrets.
    pub headers: Json,
    /// The body of the request, bounded.
    pub request: Json,
    /// The error or the explanation, if it got no answer of the script.
    pub error: Option<String>,
}

impl Exchange {
    /// Adds what is known of a request before it is understood.
    pub(super) fn set_head(&mut self, number: u64, arrived: &Arrived<'_>, endpoint: Endpoint) {
        self.number = number;
        self.at_ms = milliseconds(arrived.at);
        self.dialect = endpoint.as_str();
        arrived.method.clone_into(&mut self.method);
        self.path = format!("{}{}", arrived.path, arrived.query.without_keys());
        self.headers = headers::masked(arrived.headers);
    }

    /// Adds what a request says, whose body has so many bytes.
    pub(super) fn set_request(&mut self, received: &Received, n_bytes: usize) {
        self.request = bounded(&received.body, n_bytes);
        self.anchors = events::anchors(&received.request);
        mask_credentials(&mut self.anchors);
    }

    /// The turn that the request gets.
    pub(super) fn set_turn(&mut self, script: &LlmScript, turn_idx: usize) {
        self.turn = Some(turn_idx + 1);
        self.place = place_of(script, turn_idx);
    }

    /// The exchange as an event of a trace.
    pub(super) fn to_event(&self) -> EventData {
        let mut response = json!({
            "outcome": self.outcome, "answer": self.answer, "error": self.error, "stream": self.is_stream,
        });
        if !self.faults.is_empty() {
            response["faults"] = json!(self.faults);
        }
        EventData::HttpExchange(HttpExchange {
            dialect: self.dialect.to_owned(),
            path: self.path.clone(),
            status: self.status,
            lane: Some(self.lane.to_owned()),
            turn: self.turn.and_then(|turn| u32::try_from(turn).ok()),
            request: self.request.clone(),
            response,
        })
    }
}

/// A body of so many bytes without its credentials, or what is said in its place if it is too long.
fn bounded(body: &Json, n_bytes: usize) -> Json {
    let mut body = body.clone();
    mask_credentials(&mut body);
    if n_bytes <= MAX_KEPT_BODY {
        return body;
    }
    let text = body.to_string();
    json!({
        // The tools are what a profile is made of.
        "tools": (body["tools"].to_string().len() <= MAX_KEPT_BODY).then(|| &body["tools"]),
        "cut": format!("{} bytes, truncated to {MAX_KEPT_BODY}", text.len()),
        "begins": cut(&text, MAX_KEPT_BODY),
    })
}

/// What those who watch a stand-in are told, as it happens.
#[derive(Debug, Clone)]
pub enum Notice {
    /// A request was answered.
    Exchange(Arc<Exchange>),
    /// Something failed, or is doubtful.
    Finding(Box<Diagnostic>),
}

/// Who watches a stand-in.
pub type Watcher = trace_writer::Watcher<Notice>;

/// How a run of a stand-in went.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Whether nothing failed.
    pub passed: bool,
    /// What failed and what is doubtful, in order; bounded.
    pub findings: Vec<Diagnostic>,
    /// How many failures there were.
    pub n_failures: u64,
    /// How many misses there were, which are failures too.
    pub n_misses: u64,
    /// How many exchanges there were.
    pub n_exchanges: u64,
    /// How many exchanges were not recorded.
    pub n_exchanges_left_out: u64,
    /// How many turns there are, of each session, and of scenarios that had none.
    pub n_turns: usize,
    /// Turns that a session did not get, or not whole, and those of scenarios that had no session; bounded.
    pub unplayed: Vec<UnplayedTurn>,
    /// The sessions in which a turn was played, in order; bounded.
    pub sessions: Vec<SessionVerdict>,
    /// Why the trace is not whole, if it isn't.
    pub trace_error: Option<String>,
}

impl Verdict {
    /// The verdict for machines.
    pub fn to_json(&self) -> Json {
        let findings: Vec<Json> = self
            .findings
            .iter()
            .map(cuecard_report::diagnostics::to_json)
            .collect();
        json!({
            "passed": self.passed,
            "failures": self.n_failures,
            "misses": self.n_misses,
            "exchanges": self.n_exchanges,
            "exchanges_left_out": self.n_exchanges_left_out,
            "turns": self.n_turns,
            "unplayed": self.unplayed,
            "sessions": self.sessions,
            "findings": findings,
            "trace_error": self.trace_error,
        })
    }
}

/// Collects what happens.
#[derive(Debug)]
pub(super) struct ExchangeRecorder {
    n_exchanges: AtomicU64,
    inner: Mutex<Inner>,
    max_exchanges: u64,
    keeps_exchanges: bool,
}

#[derive(Debug, Default)]
struct Inner {
    exchanges: Vec<Arc<Exchange>>,
    kept_bytes: usize,
    /// Turns of which no answer was sent whole yet, by session and number from 1.
    cut: HashSet<(String, usize)>,
    n_misses: u64,
}

/// An exchange that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StartedExchange {
    /// Its number, from 1.
    pub(super) number: u64,
    pub(super) is_recorded: bool,
    /// Whether it is the first that isn't recorded.
    pub(super) is_first_left_out: bool,
}

impl ExchangeRecorder {
    pub(super) fn new(max_exchanges: usize, keeps_exchanges: bool) -> Self {
        Self {
            n_exchanges: AtomicU64::new(0),
            inner: Mutex::default(),
            max_exchanges: max_exchanges as u64,
            keeps_exchanges,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self) -> StartedExchange {
        let number = self.n_exchanges.fetch_add(1, Ordering::Relaxed) + 1;
        StartedExchange {
            number,
            is_recorded: number <= self.max_exchanges,
            is_first_left_out: number == self.max_exchanges.saturating_add(1),
        }
    }

    /// Keeps an exchange, of whose request `n_bytes` were recorded.
    pub(super) fn keep(&self, exchange: &Arc<Exchange>, n_bytes: usize) {
        if !self.keeps_exchanges {
            return;
        }
        let mut inner = self.lock();
        let kept_bytes = inner.kept_bytes.saturating_add(n_bytes);
        if kept_bytes <= MAX_KEPT_BYTES {
            inner.kept_bytes = kept_bytes;
            inner.exchanges.push(exchange.clone());
            return;
        }
        let cut = format!("{n_bytes} bytes, since {MAX_KEPT_BYTES} of other requests are kept");
        let without = Exchange {
            request: json!({ "cut": cut }),
            ..Exchange::clone(exchange)
        };
        inner.exchanges.push(Arc::new(without));
    }

    /// Notes that an answer was not sent whole.
    pub(super) fn mark_cut(&self, exchange: &Exchange) {
        let mut inner = self.lock();
        let mut kept = inner.exchanges.iter_mut();
        if let Some(kept) = kept.find(|kept| kept.number == exchange.number) {
            Arc::make_mut(kept).outcome = "cut";
        }
        if exchange.outcome == "turn" {
            inner.cut.extend(turn_of(exchange));
        }
    }

    /// Notes that an answer was sent whole.
    pub(super) fn mark_sent(&self, exchange: &Exchange) {
        let mut inner = self.lock();
        if !inner.cut.is_empty()
            && let Some(turn) = turn_of(exchange)
        {
            inner.cut.remove(&turn);
        }
    }

    /// The turns of which no answer was sent whole, by session and number from 1.
    pub(super) fn cut_turns(&self) -> HashSet<(String, usize)> {
        self.lock().cut.clone()
    }

    pub(super) fn count_miss(&self) {
        self.lock().n_misses += 1;
    }

    pub(super) fn exchanges(&self) -> Vec<Arc<Exchange>> {
        self.lock().exchanges.clone()
    }

    pub(super) fn verdict(&self, findings: &Findings, played: PlayedTurns) -> Verdict {
        let n_failures = findings.n_failures();
        let n_exchanges = self.n_exchanges.load(Ordering::Relaxed);
        let inner = self.lock();
        Verdict {
            passed: n_failures == 0,
            findings: findings.list(),
            n_failures,
            n_misses: inner.n_misses,
            n_exchanges,
            n_exchanges_left_out: n_exchanges.saturating_sub(self.max_exchanges),
            n_turns: played.n_turns,
            unplayed: played.unplayed,
            sessions: played.sessions,
            trace_error: None,
        }
    }
}

fn turn_of(exchange: &Exchange) -> Option<(String, usize)> {
    exchange.session.clone().zip(exchange.turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(number: u64) -> Arc<Exchange> {
        Arc::new(Exchange {
            number,
            outcome: "turn",
            request: Json::from("asked"),
            ..Exchange::default()
        })
    }

    #[test]
    fn exchanges_are_recorded_up_to_the_bound_and_counted_behind_it() {
        let ledger = ExchangeRecorder::new(2, true);
        let begun: Vec<StartedExchange> = (0..4).map(|_| ledger.begin()).collect();
        let recorded: Vec<bool> = begun.iter().map(|begun| begun.is_recorded).collect();
        assert_eq!(recorded, [true, true, false, false]);
        let told: Vec<bool> = begun.iter().map(|begun| begun.is_first_left_out).collect();
        assert_eq!(told, [false, false, true, false]);
        let verdict = ledger.verdict(&Findings::default(), PlayedTurns::default());
        assert_eq!((verdict.n_exchanges, verdict.n_exchanges_left_out), (4, 2));
    }

    #[test]
    fn requests_are_kept_up_to_so_many_bytes() {
        let ledger = ExchangeRecorder::new(10, true);
        ledger.keep(&exchange(1), MAX_KEPT_BYTES);
        ledger.keep(&exchange(2), 1);
        let kept = ledger.exchanges();
        assert_eq!(kept[0].request, "asked");
        assert!(kept[1].request["cut"].is_string());
        ledger.mark_cut(&exchange(2));
        let cut = &ledger.exchanges()[1];
        assert_eq!(cut.outcome, "cut");
        assert!(cut.request["cut"].is_string(), "its request stays away");
        let without = ExchangeRecorder::new(10, false);
        without.keep(&exchange(1), 1);
        assert_eq!(without.exchanges(), []);
    }
}
