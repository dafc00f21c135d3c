//! The one writer of a recording: the scenarios, the trace, and those who watch. It has a thread of its own, so that
//! nothing that is passed on waits for it.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::json::lone_surrogate;
use cuecard_source::value::{Redactor, find_credentials};
use cuecard_timeline::model::ResponseError;
use cuecard_timeline::profiles::Profiles;
use cuecard_timeline::script::SessionKey;
use cuecard_timeline::script::recording::{
    Recorded, RecordedAnswer, RecordedExchange, RecordedOutcome, Recorder,
};
use cuecard_trace::{End, EventData, Header, Log, RunStatus};
use serde_json::json;
use tokio::sync::mpsc;

use super::super::exchange_recorder::{Exchange, Notice, Watcher};
use super::super::{answers, events};
use super::answered;
use super::files::{Names, RecordedFile};
use super::options::RecordOptions;
use super::server::Recording;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::tap;
use cuecard_runtime::text_file::{self, io_reason};
use cuecard_runtime::trace_writer::TraceOutput;
use cuecard_wire::llm::Received;
use cuecard_wire::llm::decode::Decoded;

/// So many exchanges may wait to be written; who brings more waits too.
const QUEUE: usize = 64;
/// A shorter key is a word that may stand anywhere: clients of local servers send `none` or `ollama`.
const SHORTEST_KEY: usize = 8;

/// More is not told of what is not recorded as it was.
const MAX_TOLD: usize = 1_000;

/// Stands for its warning among what was told.
const LONE_SURROGATE: &str = "half of a surrogate pair";

/// What the writer is told.
pub(super) enum Message {
    /// A request was passed on, and this came of it.
    Passed(Box<Passed>),
    /// Nothing more comes.
    Close,
}

/// A request that was passed on.
pub(super) struct Passed {
    /// What is known of the exchange without its body.
    pub(super) exchange: Exchange,
    /// When it came.
    pub(super) at: Duration,
    /// The keys that it came with.
    pub(super) keys: Vec<String>,
    /// What it says, if it asks for an answer and was understood, and the session that it is of.
    pub(super) received: Option<(Received, SessionKey)>,
    /// The answer that it goes on from.
    pub(super) previous_id: Option<String>,
    /// Whether half of a surrogate pair in a body that was read as a whole became U+FFFD.
    pub(super) has_lone_surrogate: bool,
    pub(super) answered: Answered,
}

/// What came back.
pub(super) enum Answered {
    /// An answer of the model.
    Model {
        decoded: Decoded,
        /// Whether the client went away before its end.
        is_abandoned: bool,
    },
    /// An error of the provider.
    Error {
        error: ResponseError,
        /// What of it a player says otherwise, one sentence each.
        notes: Vec<String>,
    },
    /// Nothing that could be recorded: why.
    LeftOut(String),
    /// It asked for something else.
    Other,
}

/// Starts the writer.
///
/// # Errors
/// The header of the trace can't be written, or there can be no thread.
pub(super) fn start(
    clock: Clock,
    options: &RecordOptions,
    trace: Option<TraceOutput>,
    watcher: Option<Watcher>,
) -> io::Result<(mpsc::Sender<Message>, JoinHandle<Recording>)> {
    let own_key = options.upstream.key().map(str::to_owned);
    let token = options.token.clone();
    let known = options.secrets.iter().cloned();
    let secrets: Vec<String> = known.chain(own_key).chain(token).collect();
    let header = trace.as_ref().map(|trace| {
        let scenario = json!({"upstream": options.upstream.to_string()});
        Header::live(
            &trace.run_id,
            scenario,
            json!({"supports_tool_trace": true}),
        )
    });
    let options = options.clone();
    let (sender, receiver) = mpsc::channel(QUEUE);
    let (ready, is_ready) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new()
        .name("cuecard-record".to_owned())
        .spawn(move || {
            let mut tap = tap::Recorder::new(clock, Redactor::new(secrets.clone()));
            let written = match (trace, header) {
                (Some(trace), Some(header)) => tap.write_to(trace.out, &header),
                _ => Ok(()),
            };
            let has_failed = written.is_err();
            // Nobody waits only if the start was given up.
            let _ = ready.send(written);
            if has_failed {
                return Recording::default();
            }
            let writer = Writer {
                clock,
                recorder: Recorder::new(Profiles::with(options.profiles), secrets),
                tap,
                n_known_secrets: 0,
                watcher,
                names: Names::new(options.out, options.replaces),
                max_exchanges: options.max_exchanges as u64,
                told: HashSet::new(),
                files: Vec::new(),
                recording: Recording::default(),
            };
            writer.run(receiver)
        })?;
    is_ready
        .recv()
        .map_err(|_| io::Error::other("the writer of the recording has ended"))??;
    Ok((sender, thread))
}

struct Writer {
    clock: Clock,
    recorder: Recorder,
    tap: tap::Recorder<'static>,
    /// How many secrets the tap was told.
    n_known_secrets: usize,
    watcher: Option<Watcher>,
    names: Names,
    max_exchanges: u64,
    /// What of answers is not recorded as it was, each of which is told once.
    told: HashSet<String>,
    /// The file of each conversation.
    files: Vec<Option<PathBuf>>,
    recording: Recording,
}

impl Writer {
    fn run(mut self, mut queue: mpsc::Receiver<Message>) -> Recording {
        while let Some(message) = queue.blocking_recv() {
            match message {
                Message::Passed(passed) => self.passed(*passed),
                Message::Close => break,
            }
            if queue.is_empty() {
                self.tap.settle();
            }
        }
        for problem in self.recorder.problems() {
            self.find(Diagnostic::note(codes::RECORD_DIFFERS, problem));
        }
        let elapsed = self.clock.now();
        self.tap.end(&End::after(elapsed, RunStatus::Success));
        self.recording.trace_error = self.tap.take_error().map(|error| io_reason(&error));
        self.recording.files = self.recorded_files();
        self.recording
    }

    fn recorded_files(&self) -> Vec<RecordedFile> {
        let files = self.files.iter().enumerate();
        files
            .filter_map(|(conversation, path)| {
                let (n_turns, n_side_calls) = self.recorder.counts(conversation);
                Some(RecordedFile {
                    path: path.clone()?,
                    name: self.recorder.name(conversation).to_owned(),
                    n_turns,
                    n_side_calls,
                })
            })
            .collect()
    }

    fn passed(&mut self, passed: Passed) {
        self.recording.n_exchanges += 1;
        let keys = passed
            .keys
            .iter()
            .filter(|key| key.len() >= SHORTEST_KEY)
            .cloned();
        // A request may hold keys for servers that the provider asks by itself.
        let mut in_body = Vec::new();
        if let Some((received, _)) = &passed.received {
            find_credentials(&received.body, &mut in_body);
            in_body.retain(|found| found.len() >= SHORTEST_KEY);
        }
        self.recorder.add_secrets(keys.chain(in_body));
        let recorded = self.record(&passed);
        self.learn();
        let mut outcome = match (&recorded, &passed.answered) {
            (Some(recorded), _) => recorded.outcome.as_str(),
            (None, Answered::Other) => "other",
            (None, _) => RecordedOutcome::LeftOut.as_str(),
        };
        let mut problem = match &passed.answered {
            Answered::LeftOut(why) => Some(why.clone()),
            Answered::Error { error, .. } => Some(error.message.clone()),
            Answered::Model { decoded, .. } => decoded
                .failure
                .as_ref()
                .map(|(error, _)| error.message.clone()),
            Answered::Other => None,
        };
        // What is told as recorded is in its file.
        let changed = recorded.iter().flat_map(|recorded| &recorded.changed);
        for conversation in changed.copied().collect::<Vec<_>>() {
            if let Err(error) = self.write(conversation) {
                outcome = RecordedOutcome::LeftOut.as_str();
                problem = Some(error);
            }
        }
        match outcome {
            "turn" | "error" | "side" => self.recording.n_recorded += 1,
            "left_out" => self.recording.n_left_out += 1,
            _ => {}
        }
        let exchange = self.exchange(&passed, recorded.as_ref(), outcome, problem);
        self.trace(&passed, recorded.as_ref(), &exchange);
        let what = format!(
            "exchange {} ({} {})",
            exchange.number, exchange.method, exchange.path
        );
        let is_cut = match &passed.answered {
            Answered::Model { decoded, .. } => decoded.has_lone_surrogate,
            _ => false,
        };
        // Each request has what came before.
        if (is_cut || passed.has_lone_surrogate) && self.told.insert(LONE_SURROGATE.to_owned()) {
            self.find(lone_surrogate(&what));
        }
        if let Answered::LeftOut(why) = &passed.answered {
            let message = format!("{what} is not recorded: {why}");
            self.find(Diagnostic::warning(codes::RECORD_LEFT_OUT, message));
        }
        for note in recorded.iter().flat_map(|recorded| &recorded.notes) {
            let found = match recorded.as_ref().map(|recorded| recorded.outcome) {
                Some(RecordedOutcome::LeftOut) => {
                    let message = format!("{what} is not recorded: {note}");
                    Diagnostic::warning(codes::RECORD_LEFT_OUT, message)
                }
                _ => Diagnostic::note(codes::RECORD_DIFFERS, format!("{what}: {note}")),
            };
            self.find(found);
        }
        self.tell(exchange);
    }

    fn record(&mut self, passed: &Passed) -> Option<Recorded> {
        let (received, session) = passed.received.as_ref()?;
        let answer = match &passed.answered {
            Answered::Model {
                decoded,
                is_abandoned,
            } => {
                let mut answer = answered::recorded(&received.request, decoded);
                answer.is_abandoned = *is_abandoned;
                answer
            }
            Answered::Error { error, .. } => RecordedAnswer {
                error: Some(error.clone()),
                ..Default::default()
            },
            Answered::LeftOut(_) | Answered::Other => return None,
        };
        let names = &mut self.names;
        let mut recorded = self.recorder.record(
            RecordedExchange {
                session: *session,
                request: &received.request,
                previous_id: passed.previous_id.as_deref(),
                answer: &answer,
            },
            &mut || names.next(),
        );
        let is_kept = matches!(
            recorded.outcome,
            RecordedOutcome::Turn { .. } | RecordedOutcome::Error { .. } | RecordedOutcome::Side
        );
        if is_kept {
            let mut notes = match &passed.answered {
                Answered::Model { decoded, .. } => answered::notes(decoded, &received.request),
                Answered::Error { notes, .. } => notes.clone(),
                Answered::LeftOut(_) | Answered::Other => Vec::new(),
            };
            // A provider does the same again and again.
            notes.retain(|note| self.told.len() < MAX_TOLD && self.told.insert(note.clone()));
            recorded.notes.extend(notes);
        }
        Some(recorded)
    }

    /// Tells the tap the secrets that the recorder has found.
    fn learn(&mut self) {
        let known = self.recorder.redactor().secrets();
        if known.len() != self.n_known_secrets {
            self.n_known_secrets = known.len();
            self.tap.add_secrets(known.to_vec());
        }
    }

    /// Writes the scenario of a conversation; why not, in words.
    fn write(&mut self, conversation: usize) -> Result<(), String> {
        let path = self.names.path(self.recorder.name(conversation));
        let written = text_file::write(&path, self.recorder.text(conversation));
        if self.files.len() <= conversation {
            self.files.resize(conversation + 1, None);
        }
        match written {
            Ok(()) => {
                self.files[conversation] = Some(path);
                Ok(())
            }
            Err(error) => {
                let message = format!(
                    "`{}` can't be written: {}",
                    path.display(),
                    io_reason(&error)
                );
                self.recording.write_error.get_or_insert(message.clone());
                self.find(Diagnostic::error(codes::FILE_WRITE, message.clone()));
                Err(message)
            }
        }
    }

    fn exchange(
        &self,
        passed: &Passed,
        recorded: Option<&Recorded>,
        outcome: &'static str,
        problem: Option<String>,
    ) -> Exchange {
        let mut exchange = passed.exchange.clone();
        if let Some((received, _)) = &passed.received {
            exchange.set_request(received, received.body.to_string().len());
        }
        let conversation = recorded.and_then(|recorded| recorded.conversation);
        let scenario = conversation.map(|idx| self.recorder.name(idx).to_owned());
        let path = scenario.as_deref().map(|name| self.names.path(name));
        Exchange {
            lane: lane(outcome),
            outcome,
            scenario,
            turn: recorded.and_then(turn),
            place: path.map(|path| path.display().to_string()),
            answer: said(passed),
            error: problem,
            ..exchange
        }
    }

    fn trace(&mut self, passed: &Passed, recorded: Option<&Recorded>, exchange: &Exchange) {
        let recorder = &self.recorder;
        let conversation = recorded.and_then(|recorded| recorded.conversation);
        let abstract_of = |id: &str| recorder.abstract_call(conversation?, id);
        let mut told = Vec::new();
        let is_main = matches!(exchange.outcome, "turn" | "error");
        if is_main && let Some((received, _)) = &passed.received {
            told.extend(events::arrived_in(&received.request, |result| {
                abstract_of(&result.call_id).map(|(tool, _)| tool)
            }));
        }
        if is_main && let Answered::Model { decoded, .. } = &passed.answered {
            told.extend(events::said_by(&decoded.elements, false, |call| {
                abstract_of(&call.id)
            }));
            if let Some((error, _)) = &decoded.failure {
                let kind = error.error_type.as_deref();
                told.push(events::failed_with(error.status, kind, &error.message));
            }
        }
        if let Answered::Error { error, .. } = &passed.answered {
            let kind = error.error_type.as_deref();
            told.push(events::failed_with(error.status, kind, &error.message));
        }
        told.push(exchange.to_event());
        for event in told {
            self.tap.record_at(passed.at, event);
        }
    }

    fn find(&mut self, mut found: Diagnostic) {
        found.message = self.recorder.redactor().text(&found.message).into_owned();
        self.tap.record(EventData::Log(Log {
            level: found.severity.as_str().to_owned(),
            message: format!("{}: {}", found.code.name(), found.message),
            stream: None,
        }));
        if let Some(watcher) = &mut self.watcher {
            watcher(&Notice::Finding(Box::new(found)));
        }
    }

    fn tell(&mut self, mut exchange: Exchange) {
        if exchange.number > self.max_exchanges {
            return;
        }
        if let Some(watcher) = &mut self.watcher {
            let redactor = self.recorder.redactor();
            redactor.json(&mut exchange.request);
            redactor.json(&mut exchange.anchors);
            redactor.json(&mut exchange.headers);
            exchange.error = exchange
                .error
                .map(|error| redactor.text(&error).into_owned());
            watcher(&Notice::Exchange(Arc::new(exchange)));
        }
    }
}

fn lane(outcome: &str) -> &'static str {
    match outcome {
        "side" => "side",
        "other" => "other",
        _ => "main",
    }
}

fn turn(recorded: &Recorded) -> Option<usize> {
    match recorded.outcome {
        RecordedOutcome::Turn { turn } | RecordedOutcome::Error { turn } => Some(turn),
        RecordedOutcome::Side | RecordedOutcome::Again | RecordedOutcome::LeftOut => None,
    }
}

/// What was answered, in words.
fn said(passed: &Passed) -> Option<String> {
    match &passed.answered {
        Answered::Model {
            decoded,
            is_abandoned,
        } => {
            let said = answers::describe(&decoded.elements);
            Some(match is_abandoned {
                true => format!("{said} (broken off)"),
                false => said,
            })
        }
        _ => None,
    }
}
