//! A cassette, read: hostile input is bounded, and everything wrong with it is told at once.

use std::collections::HashMap;
use std::sync::Arc;

use cuecard_page::dom::DomState;
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::value::{Json, cut};
use cuecard_source::{SourceFile, Span};

use super::line::{Line, ModelIdentity, PersonLine, ReplyLine, StageResult, VERSION};
use crate::stage::{Failure, Outcome, PageState};

/// More findings are not told.
const MOST_FINDINGS: usize = 50;
/// More calls in one run are not read.
const MOST_CALLS: usize = 100_000;
/// How much of what is wrong is shown, in characters.
const SHOWN: usize = 200;

/// What a cassette holds.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) replies: HashMap<String, ReplyLine>,
    /// The keys of the replies in the order of the file, the later one first when two are as near.
    pub(super) order: Vec<String>,
    pub(super) decisions: HashMap<String, PersonLine>,
    /// The last run that came to its end, else the last one.
    pub(super) run: Run,
    /// Where the last whole line ends, in bytes.
    pub(super) whole: usize,
}

/// One run.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) model: Option<ModelIdentity>,
    pub(super) calls: Vec<Call>,
    /// Whether there is one.
    pub(super) is_there: bool,
    has_ended: bool,
}

/// What the page's side was asked, and what it answered.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) asked: RecordedCall,
    pub(super) came: Result<Observed, Box<Failure>>,
}

/// What the page's side is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RecordedCall {
    Open(String),
    Look,
    LookAgain,
    Perform(Json),
}

impl RecordedCall {
    /// In words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Open(url) => format!("open {url}"),
            Self::Look => "look at the page".to_owned(),
            Self::LookAgain => "look at the page a moment later".to_owned(),
            Self::Perform(deed) => format!("perform {deed}"),
        }
    }
}

/// What was seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Observed {
    pub(super) outcome: Option<Outcome>,
    pub(super) scene: Option<Arc<PageState>>,
}

impl Tape {
    /// Reads a cassette. A last line that was cut off, as by a crash, is left out with a warning.
    pub(super) fn read(source: &SourceFile) -> (Option<Self>, Vec<Diagnostic>) {
        let mut reader = Reader {
            source,
            tape: Self::default(),
            run: Run::default(),
            last: None,
            findings: Vec::new(),
            has_header: false,
        };
        reader.read();
        let Reader {
            mut tape,
            run,
            mut findings,
            has_header,
            ..
        } = reader;
        keep(&mut tape.run, run);
        if !has_header && !any_error(&findings) {
            findings.push(
                Diagnostic::error(
                    codes::BROWSER_CASSETTE_INVALID,
                    format!("not a cassette: the first line must be `{{\"kind\":\"cassette\",\"version\":\"{VERSION}\"}}`"),
                )
                .at(source, Span::new(0, 0)),
            );
        }
        match any_error(&findings) {
            true => (None, findings),
            false => (Some(tape), findings),
        }
    }
}

/// Keeps the later of two runs, but none that was broken off in place of one that has ended.
fn keep(kept: &mut Run, later: Run) {
    if later.is_there && (later.has_ended || !kept.has_ended) {
        *kept = later;
    }
}

struct Reader<'a> {
    source: &'a SourceFile,
    tape: Tape,
    run: Run,
    /// The page that was seen last in this run.
    last: Option<Arc<PageState>>,
    findings: Vec<Diagnostic>,
    has_header: bool,
}

impl Reader<'_> {
    fn read(&mut self) {
        let text = self.source.text();
        let mut start = 0;
        for piece in text.split_inclusive('\n') {
            let first = piece.chars().next().map_or(0, char::len_utf8);
            let place = Span::new(start, start + first);
            start += piece.len();
            let is_torn = start == text.len() && !piece.ends_with('\n');
            if piece.trim().is_empty() {
                self.tape.whole = start;
                continue;
            }
            match serde_json::from_str::<Line>(piece) {
                Ok(line) => {
                    self.line(line, place);
                    self.tape.whole = start;
                }
                Err(_) if is_torn && self.has_header => {
                    self.findings.push(
                        Diagnostic::warning(
                            codes::BROWSER_CASSETTE_INVALID,
                            "the last line is truncated and was skipped: the recording was interrupted",
                        )
                        .at(self.source, place),
                    );
                }
                Err(error) => self.wrong(place, &format!("not a valid cassette line: {error}")),
            }
            // What follows a wrong version may be anything.
            if self.findings.len() >= MOST_FINDINGS
                || (!self.has_header && any_error(&self.findings))
            {
                return;
            }
        }
    }

    fn wrong(&mut self, place: Span, what: &str) {
        let what = cut(what, SHOWN).into_owned();
        self.findings.push(
            Diagnostic::error(codes::BROWSER_CASSETTE_INVALID, what)
                .at(self.source, place)
                .with_help("delete it, and record it again with `--record`"),
        );
    }

    fn line(&mut self, line: Line, place: Span) {
        if let Line::Cassette { version } = &line {
            match (self.has_header, version == VERSION) {
                (true, _) => self.wrong(place, "duplicate header"),
                (false, true) => self.has_header = true,
                (false, false) => self.wrong(
                    place,
                    &format!("unsupported version `{version}`, expected `{VERSION}`"),
                ),
            }
            return;
        }
        if !self.has_header {
            return self.wrong(place, "a cassette must start with its header");
        }
        match line {
            Line::Cassette { .. } => {}
            Line::Run { model } => {
                let run = Run {
                    model,
                    is_there: true,
                    ..Run::default()
                };
                keep(&mut self.tape.run, std::mem::replace(&mut self.run, run));
                self.last = None;
            }
            Line::End { .. } => self.run.has_ended = true,
            Line::Reply(reply) => {
                self.tape.order.push(reply.key.clone());
                self.tape.replies.insert(reply.key.clone(), *reply);
            }
            Line::Person(person) => {
                self.tape.decisions.insert(person.key.clone(), *person);
            }
            Line::Open { url, came } => self.call(RecordedCall::Open(url), came, place),
            Line::Look { came } => self.call(RecordedCall::Look, came, place),
            Line::LookAgain { came } => self.call(RecordedCall::LookAgain, came, place),
            Line::Perform { deed, came } => self.call(RecordedCall::Perform(deed), came, place),
        }
    }

    fn call(&mut self, asked: RecordedCall, came: StageResult, place: Span) {
        if !self.run.is_there || self.run.has_ended {
            return self.wrong(place, "it is outside a run");
        }
        if self.run.calls.len() >= MOST_CALLS {
            return self.wrong(place, &format!("a run has more than {MOST_CALLS} lines"));
        }
        let has_state = came.state.is_some() || came.is_same;
        let is_whole = match (&asked, came.failure.is_some()) {
            (_, true) => !has_state && came.outcome.is_none(),
            (RecordedCall::Open(_), false) => came.outcome.is_some() && !has_state,
            (RecordedCall::Look, false) => came.outcome.is_none() && has_state,
            (RecordedCall::LookAgain, false) => came.outcome.is_none(),
            (RecordedCall::Perform(_), false) => came.outcome.is_some(),
        };
        if !is_whole || (came.state.is_some() && came.is_same) {
            return self.wrong(place, "its answer is not one that this line can have");
        }
        if came.is_same && self.last.is_none() {
            return self.wrong(place, "no page was seen before it in this run");
        }
        if let Some(state) = &came.state {
            match DomState::from_recorded(state) {
                Ok(state) => {
                    self.last = Some(Arc::new(PageState { state }));
                }
                Err(error) => return self.wrong(place, &error.to_string()),
            }
        }
        let came = match came.failure {
            Some(failure) => Err(Box::new(failure)),
            None => Ok(Observed {
                outcome: came.outcome,
                scene: self.last.clone().filter(|_| has_state),
            }),
        };
        self.run.calls.push(Call { asked, came });
    }
}
