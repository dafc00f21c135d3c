//! What the stand-in is while it runs, and what it decides: a request that was understood becomes a reply.

mod asserts;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::SendThinking;
use cuecard_timeline::script::{
    Address, Answered, Decision, Endpoint, LlmScript, Request, Selection, SelectionReason, Served,
    SessionKey, Sessions, Speed, UnmatchedRequest,
};
use cuecard_trace::EventData;
use futures::future::BoxFuture;
use globset::GlobSet;
use tokio_util::sync::CancellationToken;

use super::answers::{self, ToolMapping};
use super::events;
use super::exchange_recorder::{Exchange, ExchangeRecorder, Notice, StartedExchange, Verdict};
use super::faults::{Faults, Hit};
use super::kept_thinking;
use super::options::{LlmOptions, OnMiss, TurnLead};
use super::remembered::Remembered;
use super::responses::StoredResponses;
use super::style;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::findings::{Findings, explain, logged};
use cuecard_runtime::listener::Guard;
use cuecard_runtime::trace_writer::TraceWriter;
use cuecard_wire::llm::answer::Element;
use cuecard_wire::llm::errors::ApiError;
use cuecard_wire::llm::ids::{IdSeed, ResponseId};
use cuecard_wire::llm::stop::{self, StopReason};
use cuecard_wire::llm::{Received, shows_thinking};

/// The stand-in while it runs; shared by all connections.
pub(super) struct MockServer {
    pub(super) options: LlmOptions,
    pub(super) guard: Guard,
    /// Every request takes this.
    remembered: Mutex<Remembered>,
    pub(super) scripts: Vec<Arc<LlmScript>>,
    /// Whether a scenario has conditions on headers.
    pub(super) needs_headers: bool,
    /// Whether a scenario has conditions on bodies.
    pub(super) needs_body: bool,
    pub(super) calling: ToolMapping,
    pub(super) faults: Arc<Faults>,
    pub(super) ledger: Arc<ExchangeRecorder>,
    pub(super) findings: Findings,
    pub(super) teller: TraceWriter<Notice>,
    pub(super) clock: Clock,
    /// The time that answers carry, in seconds since 1970.
    pub(super) created_at: u64,
    /// Responses answers that were sent, by id.
    pub(super) stored: StoredResponses,
    /// Headers that all scenarios add, for responses that belong to none.
    pub(super) common_headers: Vec<(String, String)>,
    /// Paths whose 404 does not fail the run.
    pub(super) ignored: GlobSet,
    pub(super) stop: CancellationToken,
}

/// What a request gets.
#[derive(Debug)]
pub(super) struct Reply {
    /// What it says.
    pub(super) content: Content,
    /// For the log.
    pub(super) told: ExchangeReport,
}

/// What a reply says.
#[derive(Debug)]
pub(super) enum Content {
    /// An answer of the model.
    Answer(Box<ModelAnswer>),
    /// Only an error.
    Error {
        error: ApiError,
        headers: Vec<(String, String)>,
        /// How long after the request.
        at_ms: u64,
        /// Whether clients should leave it at that.
        is_final: bool,
    },
}

impl Content {
    /// When it is complete, in milliseconds after the request.
    pub(super) fn due_ms(&self) -> u64 {
        match self {
            Self::Error { at_ms, .. } => *at_ms,
            Self::Answer(answer) => {
                let fails = answer.failure.as_ref().map_or(0, |(_, at_ms)| *at_ms);
                answers::ends_at(&answer.elements).max(fails)
            }
        }
    }
}

/// An answer of the model.
#[derive(Debug)]
pub(super) struct ModelAnswer {
    pub(super) elements: Vec<Element>,
    pub(super) seed: IdSeed,
    /// The id of a Responses answer that belongs to a turn.
    pub(super) id: Option<String>,
    pub(super) shows_thinking: bool,
    pub(super) reasoning_content: bool,
    /// What the scenario adds to the headers.
    pub(super) headers: Vec<(String, String)>,
    pub(super) stop: Option<StopReason>,
    pub(super) usage: Json,
    /// An error after the elements, and when.
    pub(super) failure: Option<(ApiError, u64)>,
}

impl ModelAnswer {
    /// An answer that is no turn.
    fn beside(text: &str, seed: IdSeed) -> Self {
        Self {
            elements: answers::text(text),
            seed,
            id: None,
            shows_thinking: false,
            reasoning_content: false,
            headers: Vec::new(),
            stop: None,
            usage: Json::Null,
            failure: None,
        }
    }
}

/// What the log says of a reply.
#[derive(Debug, Default)]
pub(super) struct ExchangeReport {
    /// Whether the log is written; if not, nothing needs to be put together for it.
    pub(super) is_recorded: bool,
    /// What is known of the exchange so far.
    pub(super) exchange: Exchange,
    pub(super) scenario_idx: Option<usize>,
    pub(super) events: Vec<EventData>,
    /// What was found, to be told before the rest.
    pub(super) found: Vec<Diagnostic>,
    /// What goes wrong with the answer on purpose. The times of such an answer are as written.
    pub(super) hits: Vec<Hit>,
}

impl ExchangeReport {
    /// The report of an error in place of an answer.
    pub(super) fn refused(error: &ApiError, outcome: &'static str) -> Self {
        let mut told = Self::default();
        told.refuse(error, outcome);
        told
    }

    fn refuse(&mut self, error: &ApiError, outcome: &'static str) {
        self.exchange.lane = "main";
        self.exchange.outcome = outcome;
        self.exchange.status = error.status;
        self.exchange.error = Some(error.message.clone());
    }
}

/// A request that gets a turn.
#[derive(Clone, Copy)]
struct TurnRequest<'a> {
    scenario_idx: usize,
    script: &'a LlmScript,
    received: &'a Received,
    session: SessionKey,
    /// Whether it is not the same again.
    is_new: bool,
}

impl MockServer {
    pub(super) fn new(
        options: LlmOptions,
        guard: Guard,
        sessions: Sessions,
        calling: ToolMapping,
        teller: TraceWriter<Notice>,
        clock: Clock,
        ignored: GlobSet,
    ) -> Self {
        let scripts = sessions.scripts().to_vec();
        let models = scripts
            .iter()
            .flat_map(|script| script.timeline.server.models.iter().cloned())
            .chain(options.models.iter().cloned())
            .collect();
        let conditions = || {
            let timelines = scripts.iter().map(|script| &script.timeline);
            timelines.filter_map(|timeline| timeline.request_match.as_ref())
        };
        let started = clock.timestamp(Duration::ZERO).as_second();
        let created_at = options
            .fixed_time
            .unwrap_or_else(|| u64::try_from(started).unwrap_or_default());
        Self {
            ledger: Arc::new(ExchangeRecorder::new(
                options.max_exchanges,
                options.keeps_exchanges,
            )),
            findings: Findings::new(options.play.is_strict),
            guard,
            remembered: Mutex::new(Remembered::new(sessions, models)),
            needs_headers: conditions().any(|condition| !condition.headers.is_empty()),
            needs_body: conditions().any(|condition| !condition.json.is_empty()),
            common_headers: common_headers(&scripts),
            faults: Arc::new(Faults::of(&scripts)),
            scripts,
            calling,
            teller,
            clock,
            created_at,
            stored: StoredResponses::default(),
            ignored,
            stop: CancellationToken::new(),
            options,
        }
    }

    /// Puts into the history what the script has in place of what an answer had: the texts that describe its images, and
    /// the ids of its calls.
    pub(super) fn restore(&self, request: &mut Request) {
        self.faults.restore_ids(request);
        for script in self.scripts.iter() {
            script.describe_images(request);
        }
    }

    /// What is known of earlier requests.
    pub(super) fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that exchanges are no longer recorded, once.
    pub(super) async fn tell_left_out(&self, begun: StartedExchange) {
        if begun.is_first_left_out {
            let message = format!(
                "more than {} exchanges: further ones are counted, not recorded",
                self.options.max_exchanges
            );
            let found = Diagnostic::note(codes::SERVER_BOUND, message);
            self.find(found.with_help("raise the limit with `--exchanges-max`"))
                .await;
        }
    }

    /// Decides what a request that came `at` this time gets. What the log needs is put together if the exchange
    /// `is_recorded`.
    pub(super) async fn decide(
        &self,
        address: Address<'_>,
        received: &Received,
        at: Duration,
        is_recorded: bool,
    ) -> Reply {
        let request = &received.request;
        let address = Address {
            scenario_name: address
                .scenario_name
                .or(self.options.play.scenario_name.as_deref()),
            ..address
        };
        let now_ms = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        let session = SessionKey::of(address, request).told_apart(&self.scripts, request);
        let previous = request.previous.as_ref();
        if let Some(previous) = previous.filter(|previous| self.stored.is_deleted(&previous.id)) {
            let outside = UnmatchedRequest::ForeignAnswer {
                id: cut(&previous.id, 200).into_owned(),
            };
            return reply_outside(outside, request);
        }
        let (answered, selection) = {
            let mut remembered = self.remembered();
            let answered = remembered.answer(session, address, request, now_ms);
            let selection = answered.as_ref().ok().and_then(|(answered, _)| {
                (is_recorded || answered.reason == SelectionReason::Any)
                    .then(|| remembered.sessions.selection(answered.session))
                    .flatten()
            });
            (answered, selection)
        };
        match answered {
            Err(outside) => {
                let mut reply = reply_outside(outside, request);
                if reply.told.exchange.outcome == "miss" && self.options.on_miss == OnMiss::Minimal
                {
                    reply.content = empty_answer(session);
                }
                reply
            }
            Ok((answered, refused)) => {
                let reply = self.reply(answered, selection, refused, received, is_recorded);
                self.with_headers(reply.await)
            }
        }
    }

    /// The reply with the headers of its scenario.
    fn with_headers(&self, mut reply: Reply) -> Reply {
        let Some(scenario_idx) = reply.told.scenario_idx else {
            return reply;
        };
        let of_scenario = &self.scripts[scenario_idx].timeline.server.headers;
        match &mut reply.content {
            Content::Error { headers, .. } => {
                // Those of the error win.
                let own = std::mem::replace(headers, of_scenario.clone());
                headers.extend(own);
            }
            Content::Answer(answer) => answer.headers.clone_from(of_scenario),
        }
        reply
    }

    async fn reply(
        &self,
        answered: Answered,
        selection: Option<Arc<Selection>>,
        refused: Option<Box<ApiError>>,
        received: &Received,
        is_recorded: bool,
    ) -> Reply {
        let request = &received.request;
        let Answered {
            session,
            scenario_idx,
            reason,
            decision,
        } = answered;
        let script = &*self.scripts[scenario_idx];
        let mut told = ExchangeReport {
            is_recorded,
            scenario_idx: Some(scenario_idx),
            exchange: Exchange {
                lane: "main",
                session: Some(session.to_string()),
                scenario: Some(script.timeline.name.clone()),
                selection: selection.as_deref().filter(|_| is_recorded).map(describe),
                ..Exchange::default()
            },
            ..ExchangeReport::default()
        };
        if let (SelectionReason::Any, Some(selection)) = (reason, selection) {
            let doubt = selection.doubt(&script.timeline);
            told.found
                .extend(doubt.map(|doubt| self.findings.strictly(doubt)));
        }
        if let Some(found) = style::check_requests(&script.timeline, request.endpoint) {
            told.found.push(self.findings.strictly(found));
        }
        let asked = |is_new| TurnRequest {
            scenario_idx,
            script,
            received,
            session,
            is_new,
        };
        match decision {
            Decision::Side(side) => side_reply(&side.text, side.why, request, told),
            Decision::Miss(miss) => {
                self.ledger.count_miss();
                told.found.push(miss.diagnostic(script));
                if let Some(turn_idx) = miss.expected_turn {
                    told.exchange.set_turn(script, turn_idx);
                }
                let message = miss.message(script);
                let mut reply = refusal(404, message, "miss", told);
                if self.options.on_miss == OnMiss::Minimal {
                    reply.content = empty_answer(session);
                }
                reply
            }
            Decision::Turn(served) => {
                told.exchange.outcome = "turn";
                self.serve(asked(true), &served, told).await
            }
            Decision::Error(served) => {
                told.exchange.outcome = "error";
                self.serve(asked(true), &served, told).await
            }
            Decision::Repeat(served) => {
                told.exchange.outcome = "repeat";
                match refused {
                    Some(error) => {
                        told.exchange.set_turn(script, served.turn_idx);
                        refuse(*error, "refused", told)
                    }
                    None => self.serve(asked(false), &served, told).await,
                }
            }
        }
    }

    /// Serves a turn, unless its calls or the asserts before it keep it from that.
    async fn serve(
        &self,
        mut asked: TurnRequest<'_>,
        served: &Served,
        mut told: ExchangeReport,
    ) -> Reply {
        let TurnRequest {
            script, received, ..
        } = asked;
        told.exchange.set_turn(script, served.turn_idx);
        if asked.is_new {
            let doubts = self.doubts(script, served, &received.request);
            told.found.extend(doubts);
            if let Some((error, found)) = kept_thinking::refuse(script, &received.request) {
                told.found.push(found);
                return self.keep_refused(asked.session, served, error, told);
            }
            let has_checks = served
                .turn(script)
                .is_some_and(|turn| !turn.checks.is_empty());
            if has_checks {
                self.find_all(&mut told.found).await;
                let judged = self.run_asserts(script, served, received, &mut told).await;
                if let Err(error) = judged
                    && !self.options.keep_going
                {
                    return self.keep_refused(asked.session, served, error, told);
                }
            }
        }
        // Who asks again, as it waited too long, waits too.
        if let Some(lead) = &self.options.lead {
            self.find_all(&mut told.found).await;
            asked.is_new = self.await_lead(lead, asked, served, &told).await;
            if asked.is_new && told.exchange.outcome == "repeat" {
                // Who asked first has gone without an answer.
                told.exchange.outcome = "turn";
            }
        }
        self.say(asked, served, told)
    }

    /// Tells who leads that a turn was asked for, and waits until it may be answered; whether that is the first answer.
    async fn await_lead(
        &self,
        lead: &TurnLead,
        asked: TurnRequest<'_>,
        served: &Served,
        told: &ExchangeReport,
    ) -> bool {
        if asked.is_new {
            self.remembered().waits(asked.session, served.turn_idx);
        }
        let is_told = told.is_recorded && self.teller.has_trace();
        let request = &asked.received.request;
        if is_told && self.remembered().is_first(asked.session, request) {
            let arrived = events::arrived(asked.script, request);
            self.teller.events(self.clock.now(), arrived).await;
            self.teller.settled().await;
        }
        let n_asked = served.turn_idx + 1;
        lead.n_asked.send_modify(|most| *most = n_asked.max(*most));
        let turn = served.turn(asked.script);
        let mut until = lead.until.clone();
        // Who is gone holds nothing back.
        let _ = until
            .wait_for(|until| turn.is_none_or(|turn| turn.event_idx < *until))
            .await;
        self.remembered().waited(asked.session, served.turn_idx)
    }

    /// Says what a turn does, unless its calls keep it from that.
    fn say(&self, asked: TurnRequest<'_>, served: &Served, mut told: ExchangeReport) -> Reply {
        let TurnRequest {
            scenario_idx,
            script,
            received,
            session,
            is_new,
        } = asked;
        let request = &received.request;
        let (Some(turn), Some(attempt)) = (served.turn(script), served.attempt(script)) else {
            let message = "the script has no such turn".to_owned();
            return refusal(500, message, "refused", told);
        };
        let hits = match is_new && served.is_first {
            true => self.faults.of_turn(scenario_idx, script, turn, served),
            false => Vec::new(),
        };
        let speed = match hits.is_empty() {
            true => self.options.play.speed,
            false => Speed::AS_WRITTEN,
        };
        let prepared = answers::prepare(script, turn, attempt, speed, &self.calling.of(request));
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(failures) => {
                let message = failures.iter().map(explain).collect::<Vec<_>>().join("\n");
                told.found.extend(failures);
                let error = ApiError::new(400, message);
                return self.keep_refused(session, served, error, told);
            }
        };
        let warnings = prepared.warnings.into_iter();
        told.found
            .extend(warnings.map(|warning| self.findings.strictly(warning)));
        told.hits = hits;
        let elements = prepared.elements;
        if is_new && told.is_recorded && self.teller.has_trace() {
            if self.remembered().is_first(session, request) {
                told.events.extend(events::arrived(script, request));
            }
            told.events
                .extend(events::answered(script, served, &elements));
        }
        let failure = attempt.error.as_ref().map(|failed| {
            let at_ms = turn.delay_of(failed.at_ms, speed);
            (failed, ApiError::scripted(&failed.error), at_ms)
        });
        // Before a stream has begun, and where there is none, an error is the whole answer.
        if let Some((failed, error, at_ms)) = &failure
            && (!request.wants_stream || (elements.is_empty() && !failed.error.is_in_stream))
        {
            told.exchange.error = Some(error.message.clone());
            let mut headers = failed.error.headers.clone();
            if let Some(seconds) = failed.error.retry_after_seconds {
                headers.push(("retry-after".to_owned(), seconds.to_string()));
            }
            return Reply {
                content: Content::Error {
                    error: error.clone(),
                    headers,
                    at_ms: *at_ms,
                    is_final: false,
                },
                told,
            };
        }
        let place = ResponseId {
            scenario: script.fingerprint,
            turn: u32::try_from(served.turn_idx).unwrap_or(u32::MAX),
            session: session.0,
        };
        let settings = &script.timeline.server;
        Reply {
            content: Content::Answer(Box::new(ModelAnswer {
                elements,
                seed: seed(script, session, served),
                id: (request.endpoint == Endpoint::Responses).then(|| place.encode()),
                shows_thinking: shows_thinking(request)
                    || (settings.thinking == SendThinking::Always
                        && request.endpoint != Endpoint::Chat),
                reasoning_content: settings.sends_reasoning,
                headers: Vec::new(),
                stop: stop::scripted(turn.stop_reason, request.endpoint),
                usage: turn.usage.clone(),
                failure: failure.map(|(_, error, at_ms)| (error, at_ms)),
            })),
            told,
        }
    }

    fn keep_refused(
        &self,
        session: SessionKey,
        served: &Served,
        error: ApiError,
        told: ExchangeReport,
    ) -> Reply {
        self.remembered()
            .refuse(session, served.turn_idx, error.clone());
        refuse(error, "refused", told)
    }

    /// Keeps findings and tells them, as [`Self::find`].
    pub(super) async fn find_all(&self, found: &mut Vec<Diagnostic>) {
        for found in found.drain(..) {
            self.find(found).await;
        }
    }

    /// Keeps a finding and tells it, once. In a box: findings are rare and large, and what waits for them is the
    /// way of every request.
    pub(super) fn find(&self, diagnostic: Diagnostic) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if !self.findings.keep(&diagnostic) {
                return;
            }
            if self.teller.has_trace() {
                let log = logged(&diagnostic);
                self.teller.events(self.clock.now(), vec![log]).await;
            }
            self.teller
                .notice(Notice::Finding(Box::new(diagnostic)))
                .await;
        })
    }

    /// The turns that no session asked for, as scenario and turn.
    pub(super) fn unasked(&self) -> HashSet<(usize, usize)> {
        self.remembered().sessions.unplayed().collect()
    }

    /// How it went so far.
    pub(super) fn verdict(&self) -> Verdict {
        self.ledger.verdict(&self.findings, self.played_turns())
    }
}

/// The headers that all of the scenarios add.
fn common_headers(scripts: &[Arc<LlmScript>]) -> Vec<(String, String)> {
    let mut of_scripts = scripts.iter().map(|it| &it.timeline.server.headers);
    let mut common = of_scripts.next().cloned().unwrap_or_default();
    for headers in of_scripts {
        common.retain(|header| headers.contains(header));
    }
    common
}

/// The reply to a request that has no session.
fn reply_outside(outside: UnmatchedRequest, request: &Request) -> Reply {
    match outside {
        UnmatchedRequest::Side(side) => {
            side_reply(&side.text, side.why, request, ExchangeReport::default())
        }
        UnmatchedRequest::Unselected(diagnostic) => {
            let message = explain(&diagnostic);
            let told = ExchangeReport {
                found: vec![*diagnostic],
                ..ExchangeReport::default()
            };
            refusal(404, message, "miss", told)
        }
        UnmatchedRequest::ForeignAnswer { id } => {
            let message = format!("Previous response with id '{id}' not found.");
            let mut error = ApiError::new(404, message);
            error.param = Some("previous_response_id".to_owned());
            error.code = Some("previous_response_not_found".to_owned());
            let message = "a request refers to a response that is not from this run's scenarios, was deleted, or was not stored";
            let found = Diagnostic::error(codes::MODEL_UNSERVED, message)
                .with_note(error.message.as_str())
                .with_help("response ids are valid only while their scenario is unchanged");
            let told = ExchangeReport {
                found: vec![found],
                ..ExchangeReport::default()
            };
            refuse(error, "refused", told)
        }
    }
}

/// What is said in place of an answer that the script doesn't have.
fn empty_answer(session: SessionKey) -> Content {
    let seed = IdSeed::of(&["miss", &session.to_string()]);
    Content::Answer(Box::new(ModelAnswer::beside("", seed)))
}

/// What the ids of an answer are made from.
fn seed(script: &LlmScript, session: SessionKey, served: &Served) -> IdSeed {
    IdSeed::of_numbers(&[
        script.fingerprint,
        session.0,
        served.turn_idx as u64,
        served.attempt_idx as u64,
    ])
}

/// Why a scenario was chosen, and what else there was.
fn describe(selection: &Selection) -> String {
    let others: Vec<String> = selection.others.iter().map(ToString::to_string).collect();
    match others.is_empty() {
        true => selection.reason.to_string(),
        false => format!("{}; next: {}", selection.reason, others.join(", ")),
    }
}

/// `file:line` of a turn.
pub(super) fn place_of(script: &LlmScript, turn_idx: usize) -> Option<String> {
    let source = &script.timeline.source;
    let position = source.position(script.turn(turn_idx)?.span.start);
    Some(format!("{}:{}", source.name(), position.line))
}

fn side_reply(text: &str, why: String, request: &Request, mut told: ExchangeReport) -> Reply {
    told.exchange.lane = "side";
    told.exchange.outcome = "side";
    told.exchange.selection = Some(why);
    Reply {
        content: Content::Answer(Box::new(ModelAnswer::beside(
            text,
            IdSeed::of(&["side", &format!("{:?}", request.key)]),
        ))),
        told,
    }
}

fn refusal(status: u16, message: String, outcome: &'static str, told: ExchangeReport) -> Reply {
    refuse(ApiError::new(status, message), outcome, told)
}

fn refuse(error: ApiError, outcome: &'static str, mut told: ExchangeReport) -> Reply {
    told.refuse(&error, outcome);
    Reply {
        told,
        content: Content::Error {
            error,
            headers: Vec::new(),
            at_ms: 0,
            is_final: true,
        },
    }
}
