//! One conversation while it is recorded: its turns so far, and what of a request's history they are.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Map;

use super::super::answer::{self, CallInput, Element, Piece, joined, runs};
use super::super::request::{
    Endpoint, Part, PreviousAnswer, Request, RequestedBlock, RequestedResult, Role,
};
use super::super::request_key::RequestKey;
use super::super::rounds::Rounds;
use super::super::selection::{history_to_choose_by, is_excluded, texts_of};
use super::super::sessions::SessionKey;
use super::super::text::{is_reminder, normalise};
use super::calls::{self, WrittenCall};
use super::differences::{Frame, are_different};
use super::document;
use super::exchange::RecordedAnswer;
use super::place::IMAGE;
use super::side::{Opening, SideCall};
use super::volatile::Volatile;
use crate::format::{Symbols, is_image, read};
use crate::model::{EventKind, ResponseError, Timeline, TimelineEvent};
use crate::profiles::{AdvertisedTool, Profiles};
use cuecard_source::diagnostic::Severity;
use cuecard_source::value::{Json, Redactor, cut};
use cuecard_source::{SourceFile, yaml};

/// More kinds of requests of one conversation are not looked at.
const MAX_FRAMES: usize = 16;

/// A conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The scenario's name.
    pub name: String,
    /// The session it is in; none as long as nothing was said in it.
    pub key: Option<SessionKey>,
    /// What was said before the recording began.
    pub history: Vec<Turn>,
    pub turns: Vec<Turn>,
    /// All calls, in the order of the file.
    pub calls: Vec<Call>,
    /// The APIs it came by.
    pub endpoints: Vec<Endpoint>,
    pub models: Vec<String>,
    /// Whether an answer has shown what the model thinks to a request that did not ask for it.
    pub always_thinks: bool,
    /// The same of Chat, which has no way to ask for it.
    pub sends_reasoning: bool,
    pub side_calls: Vec<SideCall>,
    /// Set if its first request looks like one beside another conversation.
    pub opening: Option<Opening>,
    /// What its requests are like beside what is said in them.
    pub frames: Vec<Frame>,
    /// `match`: what tells it apart from those that begin with the same words.
    pub condition: Map<String, Json>,
    /// What of its results is different in each run.
    pub volatile: Volatile,
    /// Requests that got an answer.
    answered: HashSet<RequestKey>,
    /// The scenario as it is read back, turn by turn: without the results of its calls.
    pub timeline: Option<Timeline>,
    /// The first event of each turn there.
    starts: Vec<usize>,
    /// The last request whose answer is a turn, as a client of a player would send it.
    pub last_request: Option<Request>,
    /// The text of the scenario.
    pub text: String,
}

/// One answer of the model, with what came before it.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    /// What the user said, reminders aside.
    pub said: Vec<String>,
    /// Images, sound and files that came with it.
    pub blocks: Vec<RequestedBlock>,
    /// What was answered: errors first, if there were some.
    pub attempts: Vec<Attempt>,
    pub usage: Json,
    pub stop_reason: Option<String>,
    /// Whether the client went away before the end.
    pub is_abandoned: bool,
}

/// One try at an answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Attempt {
    /// What is said and called, in order.
    pub parts: Vec<AttemptPart>,
    pub refusal: Option<String>,
    pub error: Option<ResponseError>,
}

/// A part of an answer, with a call by its place in the conversation's list.
pub(super) type AttemptPart = Element<usize>;

/// A call of a tool.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub written: WrittenCall,
    /// Its id, as the provider gave it.
    pub provider_id: String,
    /// Its id in the scenario.
    pub id: String,
    /// Whether the scenario must say the id, since it isn't the one that is counted.
    pub has_own_id: bool,
    pub at_ms: u64,
    /// Its result.
    pub result: Option<RequestedResult>,
}

impl Conversation {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    /// The text that a player chooses it by, for comparing.
    pub(super) fn prompt(&self) -> String {
        let timeline = self.timeline.as_ref();
        normalise(
            &timeline
                .and_then(Timeline::effective_prompt)
                .unwrap_or_default(),
        )
    }

    /// What a player tells it apart by from those with the same prompt.
    pub(super) fn history(&self) -> Vec<String> {
        self.timeline
            .as_ref()
            .map_or_else(Vec::new, history_to_choose_by)
    }

    /// Whether a request may be of both, by their [`Self::texts`]: the other one says what the later one begins with.
    pub(super) fn are_alike(one: &[Vec<String>; 2], other: &[Vec<String>; 2]) -> bool {
        let (early, late) = match one[0].len() <= other[0].len() {
            true => (one, other),
            false => (other, one),
        };
        !early[0].is_empty() && early[1].starts_with(&late[0])
    }

    /// What the request says that begins it, and all that is said in it.
    pub(super) fn texts(&self) -> [Vec<String>; 2] {
        let Some(timeline) = &self.timeline else {
            return Default::default();
        };
        let events = &timeline.events;
        let texts = |events: &[TimelineEvent]| events.iter().flat_map(texts_of).collect();
        let boundary = timeline.boundary().unwrap_or(0);
        let is_text = |event: &TimelineEvent| !texts_of(event).is_empty();
        let first = events[boundary..].iter().position(is_text);
        let first = first.map(|first| boundary + first);
        let is_prompt = |idx: &usize| matches!(events[*idx].kind, EventKind::UserInputs(_));
        let end = first.filter(is_prompt).map_or(boundary, |first| first + 1);
        [texts(&events[..end]), texts(events)]
    }

    /// Whether a player that has all conversations may take a request for one of this.
    pub(super) fn fits(&self, request: &Request) -> bool {
        let timeline = self.timeline.as_ref();
        let condition = timeline.and_then(|timeline| timeline.request_match.as_ref());
        condition.is_none_or(|condition| condition.unmet(request).is_none())
    }

    /// Whether a request is none of this conversation, whatever it says.
    pub(super) fn differs_from(&self, request: &Request) -> bool {
        let frame = Frame::of(request);
        frame.is_some_and(|frame| are_different(&self.frames, &[frame]))
    }

    /// Whether a request that says what was said before is another one.
    pub(super) fn asks_for_more(&self, request: &Request) -> bool {
        !self.answered.contains(&request.key) && self.differs_from(request)
    }

    /// Whether no request fits both scenarios.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        let timelines = self.timeline.as_ref().zip(other.timeline.as_ref());
        timelines.is_some_and(|(one, other)| is_excluded(one, other))
    }

    /// Keeps what a request is like beside what is said in it; whether that is new.
    pub(super) fn add_frame(&mut self, request: &Request) -> bool {
        let is_full = self.frames.len() >= MAX_FRAMES;
        let frame = Frame::of(request).filter(|frame| !is_full && !self.frames.contains(frame));
        let is_new = frame.is_some();
        self.frames.extend(frame);
        is_new
    }

    /// The request with the ids of this scenario in place of the provider's, and without the secrets that the model
    /// said, as a client of a player would send it.
    pub(super) fn translated(
        &self,
        request: &Request,
        previous: Option<PreviousAnswer>,
        redactor: &Redactor,
    ) -> Request {
        let mut request = request.clone();
        request.previous = previous;
        let mut next = 0;
        // The calls that wait for their results: tool, id of the provider's, own id.
        let mut open: Vec<(String, String, String)> = Vec::new();
        for message in &mut request.history {
            let is_model = message.role == Role::Assistant;
            for part in &mut message.parts {
                match part {
                    Part::Text(text) if is_model && redactor.finds(text) => {
                        *text = redactor.text(text).into_owned();
                    }
                    Part::Call(call) => {
                        let id = call.id.clone();
                        // Clients of Gemini may leave out the ids that they got.
                        let is_it = |known: &Call| id.is_empty() || known.provider_id == id;
                        if let Some(found) = self.calls[next..].iter().position(is_it) {
                            next += found + 1;
                            call.id.clone_from(&self.calls[next - 1].id);
                        }
                        open.push((call.name.clone(), id, call.id.clone()));
                    }
                    Part::Result(result) => {
                        let is_its =
                            |(name, id, _): &(String, String, String)| match result.name.is_empty()
                                || !result.call_id.is_empty()
                            {
                                true => *id == result.call_id,
                                false => *name == result.name,
                            };
                        let mut known = self.calls.iter().rev();
                        if let Some(at) = open.iter().position(is_its) {
                            result.call_id = open.remove(at).2;
                        } else if let Some(call) =
                            known.find(|call| call.provider_id == result.call_id)
                        {
                            result.call_id.clone_from(&call.id);
                        }
                    }
                    Part::Block(block) if block.text.starts_with(IMAGE) => block.text.clear(),
                    Part::Text(_) | Part::Thinking(_) | Part::Block(_) => {}
                }
            }
        }
        request
    }

    /// Whether the scenario got exactly this request before.
    pub(super) fn has_answered(&self, key: RequestKey) -> bool {
        self.answered.contains(&key)
    }

    /// Whether the last turn, which is the one at `turn_idx` of the scenario, was broken off by its client.
    pub(super) fn is_abandoned_at(&self, turn_idx: usize) -> bool {
        let last = self.turns.last();
        turn_idx + 1 == self.n_turns() && last.is_some_and(|turn| turn.is_abandoned)
    }

    /// Takes over what a conversation said before the recording began.
    pub(super) fn begin_with_history(&mut self, request: &Request, profiles: &Profiles) {
        let rounds = Rounds::of(request);
        for (side, answer) in &rounds.answered {
            let mut attempt = Attempt::default();
            let mut calls = Vec::new();
            for call in &answer.calls {
                let input = match &call.args {
                    Json::String(text) => CallInput::Text(text.clone()),
                    args => CallInput::Arguments(Arc::new(args.clone())),
                };
                let call = answer::Call {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    namespace: None,
                    input,
                    at_ms: 0,
                };
                let call_idx = self.add_call(&call, request, profiles, true);
                calls.push(AttemptPart::Call(call_idx));
            }
            let mut calls = calls.into_iter();
            for text in &answer.texts {
                let piece = Piece {
                    text: text.as_str().into(),
                    ..Piece::default()
                };
                let spoken =
                    Some(AttemptPart::Text(vec![piece])).filter(|_| !text.trim().is_empty());
                attempt.parts.extend(spoken.into_iter().chain(calls.next()));
            }
            attempt.parts.extend(calls);
            self.history.push(Turn {
                said: own_words(&side.texts),
                blocks: held(&side.blocks),
                attempts: vec![attempt],
                ..Turn::default()
            });
        }
    }

    /// Adds an answer, as another attempt at the last turn or as a turn of its own. `said` is what no turn has yet.
    /// Gives notes on what the scenario can't hold.
    pub(super) fn add(
        &mut self,
        request: &Request,
        said: Vec<String>,
        answer: &RecordedAnswer,
        profiles: &Profiles,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        let blocks = self.new_blocks(request);
        let goes_on = said.is_empty()
            && blocks.is_empty()
            && self.turns.last().is_some_and(Turn::is_only_errors);
        let attempt = self.attempt(request, answer, profiles, &mut notes);
        let own_end = self.mark_disobedience(request, answer, &attempt, profiles);
        // An empty answer can't stand behind an error: it is a response of its own.
        let is_empty =
            attempt.parts.is_empty() && attempt.refusal.is_none() && attempt.error.is_none();
        if !goes_on || is_empty {
            self.turns.push(Turn {
                said,
                blocks,
                ..Turn::default()
            });
        }
        if let Some(turn) = self.turns.last_mut() {
            turn.attempts.push(attempt);
            turn.usage = answer.usage.clone();
            turn.stop_reason = answer.stop_reason.clone().or(own_end);
            turn.is_abandoned = answer.is_abandoned;
        }
        if answer.error.is_none() && !answer.is_abandoned {
            self.answered.insert(request.key);
        }
        match request.endpoint {
            Endpoint::Chat => self.sends_reasoning |= answer.has_unrequested_thinking,
            _ => self.always_thinks |= answer.has_unrequested_thinking,
        }
        if !self.endpoints.contains(&request.endpoint) {
            self.endpoints.push(request.endpoint);
        }
        self.volatile.learn(texts_around(request));
        if !request.model.is_empty() && !self.models.contains(&request.model) {
            self.models.push(request.model.clone());
        }
        notes
    }

    /// The blocks that came with what the user said last, but for those that came before turns that left no trace.
    fn new_blocks(&self, request: &Request) -> Vec<RequestedBlock> {
        let mut blocks = held(&Rounds::of(request).last.blocks);
        let from = self.turns.iter().rposition(|turn| !turn.leaves_no_trace());
        let before = &self.turns[from.map_or(0, |idx| idx + 1)..];
        for block in before.iter().flat_map(|turn| &turn.blocks) {
            if blocks.first() == Some(block) {
                blocks.remove(0);
            }
        }
        blocks
    }

    fn attempt(
        &mut self,
        request: &Request,
        answer: &RecordedAnswer,
        profiles: &Profiles,
        notes: &mut Vec<String>,
    ) -> Attempt {
        let mut attempt = Attempt {
            error: answer.error.clone(),
            ..Attempt::default()
        };
        let mut refusal_at = 0;
        for element in &answer.elements {
            match element {
                // An error takes the whole answer with it: calls before it were never made.
                Element::Call(call) if answer.error.is_some() => notes.push(format!(
                    "the call of `{}` before the error is left out",
                    call.name
                )),
                Element::Call(call) => {
                    let call_idx = self.add_call(call, request, profiles, false);
                    if !self.calls[call_idx].written.is_exact {
                        notes.push(format!(
                            "the call of `{}` can't be made again by the tools that the request advertises",
                            call.name
                        ));
                    }
                    attempt.parts.push(AttemptPart::Call(call_idx));
                }
                Element::Refusal(pieces) => {
                    let said = joined(pieces);
                    match &mut attempt.refusal {
                        _ if said.is_empty() => {}
                        _ if answer.error.is_some() => {
                            notes.push("the `refusal` before the error is left out".to_owned());
                        }
                        None if said.trim().is_empty() => notes.push(BLANK.to_owned()),
                        None => {
                            refusal_at = attempt.parts.len();
                            attempt.refusal = Some(said);
                        }
                        Some(refusal) => {
                            refusal.push_str(&said);
                            notes.push("its refusals (`refusal`) are played as one".to_owned());
                        }
                    }
                }
                Element::Thinking(pieces) => {
                    let entries = entries(pieces, notes);
                    if entries.is_empty() {
                        continue;
                    }
                    if attempt.refusal.is_some() {
                        notes.push(
                            "what the model thinks behind a `refusal` is played before it"
                                .to_owned(),
                        );
                    }
                    attempt.parts.push(AttemptPart::Thinking(entries));
                }
                Element::Text(pieces) => {
                    for run in runs(pieces) {
                        let entries = match &run[0].image {
                            Some(image) if is_image(&image.mime_type, &image.data) => run.to_vec(),
                            Some(image) => {
                                notes.push(format!(
                                    "`inlineData` that is no image is left out: {}",
                                    cut(&image.mime_type, 60)
                                ));
                                continue;
                            }
                            None => entries(run, notes),
                        };
                        let Some(first) = entries.first() else {
                            continue;
                        };
                        // A refusal is played behind all texts.
                        if first.image.is_none()
                            && let Some(refusal) = attempt.refusal.take()
                        {
                            notes.push(
                                "its `refusal` before a text is played as a text (`output_text`)"
                                    .to_owned(),
                            );
                            let piece = Piece {
                                at_ms: first.at_ms,
                                text: refusal.into(),
                                image: None,
                            };
                            let spoken = AttemptPart::Text(vec![piece]);
                            attempt.parts.insert(refusal_at, spoken);
                        }
                        attempt.parts.push(AttemptPart::Text(entries));
                    }
                }
            }
        }
        let mut before = attempt.parts[..refusal_at].iter();
        if attempt.refusal.is_some() && before.any(|part| part.call().is_some()) {
            notes.push(
                "its `refusal` behind a call is played before the calls at its end".to_owned(),
            );
        }
        attempt
    }

    fn add_call(
        &mut self,
        call: &answer::Call,
        request: &Request,
        profiles: &Profiles,
        is_history: bool,
    ) -> usize {
        let tools: &[AdvertisedTool] = &request.tools;
        let profile = profiles
            .choose(tools, None, request.endpoint.as_str())
            .profile;
        let call_idx = self.calls.len();
        let counted = format!("call_{}", call_idx + 1);
        let is_taken = |id: &str| self.calls.iter().any(|call| call.id == id);
        let (id, has_own_id) = match is_history && !call.id.is_empty() && !is_taken(&call.id) {
            true => (call.id.clone(), true),
            false if is_taken(&counted) => (format!("recorded_{}", call_idx + 1), true),
            false => (counted, false),
        };
        self.calls.push(Call {
            written: calls::written(call, profile, tools),
            provider_id: call.id.clone(),
            id,
            has_own_id,
            at_ms: call.at_ms,
            result: None,
        });
        call_idx
    }

    /// How the call with an id of the provider's is written, the latest with that id.
    pub(super) fn written_call(&self, id: &str) -> Option<&WrittenCall> {
        let mut calls = self.calls.iter().rev();
        Some(&calls.find(|call| call.provider_id == id)?.written)
    }

    /// Keeps the results that a [translated](Self::translated) request brings.
    pub(super) fn keep_results(&mut self, request: &Request) {
        let parts = request.history.iter().flat_map(|message| &message.parts);
        for part in parts {
            if let Part::Result(result) = part
                && let Some(call) = self
                    .calls
                    .iter_mut()
                    .rev()
                    .find(|call| call.id == result.call_id)
                && call.result.is_none()
            {
                call.result = Some(result.clone());
            }
        }
    }

    /// Leaves all images, sounds and files out of the history and of what the user said last. Whether there were some.
    pub(super) fn drop_blocks(&mut self) -> bool {
        let turns = self.history.iter_mut().chain(self.turns.last_mut());
        let dropped = turns.map(|turn| std::mem::take(&mut turn.blocks));
        dropped.filter(|blocks| !blocks.is_empty()).count() > 0
    }

    /// Forgets the last attempt: what its turn's user said is new again, if the turn had no other one.
    pub(super) fn drop_last_attempt(&mut self) -> Vec<String> {
        let Some(turn) = self.turns.last_mut() else {
            return Vec::new();
        };
        turn.is_abandoned = false;
        let dropped = turn.attempts.pop();
        let n_calls = dropped.map_or(0, |attempt| attempt.calls().count());
        self.calls.truncate(self.calls.len() - n_calls);
        match turn.attempts.is_empty() {
            true => self.turns.pop().map_or_else(Vec::new, |turn| turn.said),
            false => Vec::new(),
        }
    }

    /// Writes the scenario anew, and reads back what is new in it: its last turn.
    ///
    /// # Errors
    /// Why it can't be read back: it is too long, say.
    pub(super) fn write(&mut self, redactor: &Redactor) -> Result<(), String> {
        self.read_turn(self.turns.len().saturating_sub(1), redactor)?;
        self.write_text(redactor)
    }

    /// Writes the scenario anew after its conditions or the secrets have changed.
    ///
    /// # Errors
    /// Why it can't be read back.
    pub(super) fn rewrite(&mut self, redactor: &Redactor) -> Result<(), String> {
        for turn_idx in 0..self.turns.len() {
            self.read_turn(turn_idx, redactor)?;
        }
        self.write_text(redactor)
    }

    fn write_text(&mut self, redactor: &Redactor) -> Result<(), String> {
        let text = document::text(self, 0..self.turns.len(), redactor);
        if text.len() > yaml::MAX_BYTES {
            return Err(format!("it has more than {} bytes", yaml::MAX_BYTES));
        }
        self.text = text;
        Ok(())
    }

    fn read_turn(&mut self, turn_idx: usize, redactor: &Redactor) -> Result<(), String> {
        let read = self.read_back(turn_idx..turn_idx + 1, redactor)?;
        match &mut self.timeline {
            Some(timeline) if turn_idx > 0 => {
                let n_events = timeline.events.len();
                if self.starts.len() == turn_idx {
                    self.starts.push(n_events);
                }
                timeline.events.truncate(self.starts[turn_idx]);
                timeline.events.extend(read.events);
            }
            _ => {
                self.starts = vec![0];
                self.timeline = Some(read);
            }
        }
        Ok(())
    }

    /// The scenario with these turns only, as it is read.
    pub(super) fn read_back(
        &self,
        turns: Range<usize>,
        redactor: &Redactor,
    ) -> Result<Timeline, String> {
        let text = document::text(self, turns, redactor);
        let source = SourceFile::new(format!("{}.yaml", self.name), text);
        let read = read(&source, &Symbols::new());
        read.timeline.ok_or_else(|| {
            let mut found = read.diagnostics.iter();
            let error = found.find(|found| found.severity == Severity::Error);
            error.map_or_else(String::new, |found| found.message.clone())
        })
    }
}

/// The texts in which agents describe themselves: the system's, and the user's before the first answer.
fn texts_around(request: &Request) -> impl Iterator<Item = &str> {
    let first = request
        .history
        .iter()
        .take_while(|message| message.role == Role::User);
    let texts = first.flat_map(|message| &message.parts);
    let texts = texts.filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.chain([request.system.as_str()])
}

/// What the user said last in a request.
pub(super) fn said(request: &Request) -> Vec<String> {
    own_words(&Rounds::of(request).last.texts)
}

impl Attempt {
    /// Its calls, by their places in the conversation's list.
    pub(super) fn calls(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().filter_map(AttemptPart::call).copied()
    }
}

const BLANK: &str = "whitespace-only text is left out";

/// The entries of a text, with a note if it has some, and none that says anything.
fn entries(pieces: &[Piece], notes: &mut Vec<String>) -> Vec<Piece> {
    let entries = super::pieces::coalesce(pieces);
    if entries.is_empty() && pieces.iter().any(|piece| !piece.text.is_empty()) {
        notes.push(BLANK.to_owned());
    }
    entries
}

/// The blocks that have a form in timelines.
fn held(blocks: &[&RequestedBlock]) -> Vec<RequestedBlock> {
    let held = blocks.iter().filter(|block| document::can_hold(block));
    held.map(|&block| block.clone()).collect()
}

/// Texts of the user's, without the notes that agents add.
pub(super) fn own_words(texts: &[&str]) -> Vec<String> {
    texts
        .iter()
        .filter(|text| !is_reminder(text) && !text.trim().is_empty())
        .map(|&text| text.to_owned())
        .collect()
}
