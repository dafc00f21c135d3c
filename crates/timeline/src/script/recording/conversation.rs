//! One conversation while it is recorded: its turns so far, and the script that they are.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Map;

use super::super::align::{ConsumedTurns, Located, locate};
use super::super::auxiliary_requests::AuxiliaryRequests;
use super::super::llm_script::LlmScript;
use super::super::request::{
    Endpoint, Part, PreviousAnswer, Request, RequestedBlock, RequestedResult, Role,
};
use super::super::request_key::RequestKey;
use super::super::rounds::Rounds;
use super::super::selection::{DEFAULT_MAX_DISTANCE, history_to_choose_by, is_excluded, texts_of};
use super::super::session::{Decision, Session};
use super::super::sessions::SessionKey;
use super::super::text::{is_reminder, normalise};
use super::super::turns::{AnswerImage, Piece};
use super::calls::{self, WrittenCall};
use super::differences::{Frame, are_different};
use super::document;
use super::exchange::{RecordedAnswer, RecordedCall, RecordedElement, RecordedError};
use super::side::{Opening, SideCall};
use super::volatile;
use crate::format::{ReadOptions, Symbols, is_image, read};
use crate::model::{EventKind, TimelineEvent};
use crate::profiles::{AdvertisedTool, Profiles};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::Severity;
use cuecard_source::value::{Json, Redactor, cut};

/// More kinds of requests of one conversation are not looked at.
const MAX_FRAMES: usize = 16;

/// A conversation.
#[derive(Debug, Clone)]
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
    /// The folders that the agent works in.
    pub workspaces: Vec<String>,
    /// The calls with an id of the provider's, in their order.
    ids: HashMap<String, Vec<usize>>,
    /// Requests that got an answer.
    answered: HashSet<RequestKey>,
    /// The scenario as it stands, at play beside the recording.
    pub script: Option<Arc<LlmScript>>,
    session: Session,
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
    pub parts: Vec<Said>,
    pub refusal: Option<String>,
    pub error: Option<RecordedError>,
}

/// A part of an answer.
#[derive(Debug, Clone)]
pub(super) enum Said {
    Spoken(Spoken),
    /// An image, and when it came.
    Image(Arc<AnswerImage>, u64),
    /// A call, by its place in the conversation's list.
    Call(usize),
}

/// Thinking or text, in entries.
#[derive(Debug, Clone)]
pub(super) struct Spoken {
    pub is_thinking: bool,
    pub entries: Vec<Piece>,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub written: WrittenCall,
    /// Its id in the scenario.
    pub id: String,
    /// Whether the scenario must say the id, since it isn't the one that is counted.
    pub has_own_id: bool,
    pub at_ms: u64,
    /// Its result.
    pub result: Option<RequestedResult>,
}

/// Where a request is in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// After all that was recorded. With the texts that no turn has yet.
    Next(Vec<String>),
    /// At a turn that is recorded.
    At(usize),
    /// Nowhere: why.
    Elsewhere(String),
}

/// Which turns leave no trace in a history.
struct Traceless<'a>(&'a LlmScript);

impl ConsumedTurns for Traceless<'_> {
    fn is_spent(&self, turn_idx: usize) -> bool {
        self.0
            .turn(turn_idx)
            .is_none_or(|turn| turn.is_only_errors() || turn.is_silent())
    }

    /// All that is recorded was played.
    fn is_played(&self, _: usize) -> bool {
        true
    }
}

impl Conversation {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            key: None,
            history: Vec::new(),
            turns: Vec::new(),
            calls: Vec::new(),
            endpoints: Vec::new(),
            models: Vec::new(),
            always_thinks: false,
            sends_reasoning: false,
            side_calls: Vec::new(),
            opening: None,
            frames: Vec::new(),
            condition: Map::new(),
            workspaces: Vec::new(),
            ids: HashMap::new(),
            answered: HashSet::new(),
            script: None,
            session: Session::new(),
            text: String::new(),
        }
    }

    /// The text that a player chooses it by, for comparing.
    pub(super) fn prompt(&self) -> String {
        let script = self.script.as_ref();
        let prompt = script.and_then(|script| script.timeline.effective_prompt());
        normalise(&prompt.unwrap_or_default())
    }

    /// What a player tells it apart by from those with the same prompt.
    pub(super) fn history(&self) -> Vec<String> {
        let script = self.script.as_ref();
        script.map_or_else(Vec::new, |script| history_to_choose_by(&script.timeline))
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
        let Some(script) = &self.script else {
            return Default::default();
        };
        let events = &script.timeline.events;
        let texts = |events: &[TimelineEvent]| events.iter().flat_map(texts_of).collect();
        let boundary = script.timeline.boundary().unwrap_or(0);
        let is_text = |event: &TimelineEvent| !texts_of(event).is_empty();
        let first = events[boundary..].iter().position(is_text);
        let first = first.map(|first| boundary + first);
        let is_prompt = |idx: &usize| matches!(events[*idx].kind, EventKind::UserInputs(_));
        let end = first.filter(is_prompt).map_or(boundary, |first| first + 1);
        [texts(&events[..end]), texts(events)]
    }

    /// Whether a player that has all conversations may take a request for one of this.
    pub(super) fn fits(&self, request: &Request) -> bool {
        let timeline = self.script.as_ref().map(|script| &script.timeline);
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
        let scripts = self.script.as_ref().zip(other.script.as_ref());
        scripts.is_some_and(|(one, other)| is_excluded(&one.timeline, &other.timeline))
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
        if let Some(script) = &self.script {
            script.describe_images(&mut request);
        }
        let mut seen = HashMap::new();
        let mut n_calls = 0;
        // The calls that wait for their results, by tool and id.
        let mut open: Vec<(String, String)> = Vec::new();
        for message in &mut request.history {
            let is_model = message.role == Role::Assistant;
            for part in &mut message.parts {
                match part {
                    Part::Text(text) if is_model && redactor.finds(text) => {
                        *text = redactor.text(text).into_owned();
                    }
                    Part::Call(call) => {
                        self.translate(&mut call.id, true, &mut seen);
                        // Clients of Gemini may leave out the ids that they got.
                        if call.id.is_empty()
                            && let Some(recorded) = self.calls.get(n_calls)
                        {
                            call.id.clone_from(&recorded.id);
                        }
                        n_calls += 1;
                        open.push((call.name.clone(), call.id.clone()));
                    }
                    Part::Result(result) => {
                        self.translate(&mut result.call_id, false, &mut seen);
                        let is_its = |(name, id): &(String, String)| match &*result.call_id {
                            "" => *name == result.name,
                            call_id => id == call_id,
                        };
                        if let Some(at) = open.iter().position(is_its) {
                            result.call_id = open.remove(at).1;
                        }
                    }
                    Part::Text(_) | Part::Thinking(_) | Part::Block(_) => {}
                }
            }
        }
        request
    }

    /// Puts the scenario's id in place of the provider's. `seen` counts the calls and the results with each id.
    fn translate(&self, id: &mut String, is_call: bool, seen: &mut HashMap<(String, bool), usize>) {
        let Some(calls) = self.ids.get(id.as_str()) else {
            return;
        };
        let n_seen = |is_call| seen.get(&(id.clone(), is_call)).copied().unwrap_or(0);
        let at = match is_call || id.is_empty() {
            // An id that is used again means the next call each time it is called. Where the wire has no ids, results
            // come in the order of their calls.
            true => n_seen(is_call),
            false if n_seen(true) == 0 => calls.len() - 1,
            false => n_seen(true) - 1,
        };
        *seen.entry((id.clone(), is_call)).or_default() += 1;
        let call_idx = calls[at.min(calls.len() - 1)];
        id.clone_from(&self.calls[call_idx].id);
    }

    /// Where a request is that was [translated](Self::translated): as a player finds it.
    pub(super) fn place(&self, request: &Request) -> Place {
        let (Some(script), false) = (&self.script, self.turns.is_empty()) else {
            return Place::Elsewhere("nothing of it is recorded".to_owned());
        };
        let after = match locate(script, request, &Traceless(script)) {
            Located::At(position) => return Place::At(position.turn_idx),
            Located::Unaligned(rejected) => {
                let why = rejected.last().map_or_else(
                    || "its history can't be followed".to_owned(),
                    |rejection| format!("at turn {}: {}", rejection.turn_idx + 1, rejection.why),
                );
                return Place::Elsewhere(why);
            }
            Located::Nowhere(lost) if lost.expected.is_some() => {
                return Place::Elsewhere("it goes on from an earlier turn".to_owned());
            }
            Located::Nowhere(lost) => lost.after,
        };
        // What the user said before turns that left no trace was said for these.
        let n_before = after.map_or(0, |turn_idx| {
            (turn_idx + 1).saturating_sub(self.n_history_turns(script))
        });
        let mut said = said(request);
        for text in self.turns[n_before.min(self.turns.len())..]
            .iter()
            .flat_map(|turn| &turn.said)
        {
            if said
                .first()
                .is_some_and(|first| normalise(first) == normalise(text))
            {
                said.remove(0);
            }
        }
        if said.is_empty() && self.answered.contains(&request.key) {
            return Place::At(script.turns.turns.len().saturating_sub(1));
        }
        Place::Next(said)
    }

    /// Whether the scenario got exactly this request before.
    pub(super) fn has_answered(&self, key: RequestKey) -> bool {
        self.answered.contains(&key)
    }

    /// Whether the last turn, which is the one at `turn_idx` of the script, was broken off by its client.
    pub(super) fn is_abandoned_at(&self, turn_idx: usize) -> bool {
        let is_last = self
            .script
            .as_ref()
            .is_some_and(|script| script.turns.turns.len() == turn_idx + 1);
        is_last && self.turns.last().is_some_and(|turn| turn.is_abandoned)
    }

    /// Whether a request without answers may go on from this conversation: what it says first was answered with what
    /// leaves no trace.
    pub(super) fn is_silent_before(&self, request: &Request) -> bool {
        let Some(script) = &self.script else {
            return false;
        };
        let texts = said(request);
        let before: Vec<&String> = self.turns.iter().flat_map(|turn| &turn.said).collect();
        let mut same = texts.iter().zip(&before);
        (0..script.turns.turns.len()).all(|turn_idx| Traceless(script).is_spent(turn_idx))
            && texts.len() > before.len()
            && same.all(|(text, before)| normalise(text) == normalise(before))
    }

    fn n_history_turns(&self, script: &LlmScript) -> usize {
        script
            .turns
            .turns
            .iter()
            .filter(|turn| turn.is_history)
            .count()
    }

    /// Takes over what a conversation said before the recording began.
    pub(super) fn begin_with_history(&mut self, request: &Request, profiles: &Profiles) {
        let rounds = Rounds::of(request);
        for (side, answer) in &rounds.answered {
            let mut attempt = Attempt::default();
            let mut calls = Vec::new();
            for call in &answer.calls {
                let call = RecordedCall {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    args: Arc::new(call.args.clone()),
                    raw: None,
                    at_ms: 0,
                };
                let call_idx = self.add_call(&call, request, profiles, true);
                calls.push(Said::Call(call_idx));
            }
            let mut calls = calls.into_iter();
            for text in &answer.texts {
                let piece = Piece {
                    at_ms: 0,
                    text: text.as_str().into(),
                };
                let spoken = Said::Spoken(Spoken {
                    is_thinking: false,
                    entries: vec![piece],
                });
                let spoken = Some(spoken).filter(|_| !text.trim().is_empty());
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
        for folder in texts_around(request).flat_map(volatile::workspaces) {
            if !self.workspaces.contains(&folder) {
                self.workspaces.push(folder);
            }
        }
        // One inside of another is found first.
        self.workspaces
            .sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        if !request.model.is_empty() && !self.models.contains(&request.model) {
            self.models.push(request.model.clone());
        }
        notes
    }

    /// The blocks that came with what the user said last, but for those that came before turns that left no trace.
    fn new_blocks(&self, request: &Request) -> Vec<RequestedBlock> {
        let mut blocks = held(&Rounds::of(request).last.blocks);
        let leaves_trace = |turn: &Turn| !turn.is_only_errors() && !turn.is_silent();
        let from = self.turns.iter().rposition(leaves_trace);
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
        // An error takes the whole answer with it: calls before it were never made.
        let has_calls = answer.error.is_none();
        let mut refusal_at = 0;
        for element in &answer.elements {
            let (is_thinking, pieces) = match element {
                RecordedElement::Thinking(pieces) => (true, pieces),
                RecordedElement::Text(pieces) => (false, pieces),
                RecordedElement::Refusal(pieces) => {
                    let said: String = pieces.iter().map(|piece| &*piece.text).collect();
                    match &mut attempt.refusal {
                        _ if said.is_empty() => {}
                        _ if answer.error.is_some() => {
                            notes.push("the `refusal` before the error is left out".to_owned());
                        }
                        None if said.trim().is_empty() => {
                            notes.push("whitespace-only text is left out".to_owned());
                        }
                        None => {
                            refusal_at = attempt.parts.len();
                            attempt.refusal = Some(said);
                        }
                        Some(refusal) => {
                            refusal.push_str(&said);
                            notes.push("its refusals (`refusal`) are played as one".to_owned());
                        }
                    }
                    continue;
                }
                RecordedElement::Image(image, at_ms) => {
                    match is_image(&image.mime_type, &image.data) {
                        true => attempt.parts.push(Said::Image(image.clone(), *at_ms)),
                        false => notes.push(format!(
                            "`inlineData` that is no image is left out: {}",
                            cut(&image.mime_type, 60)
                        )),
                    }
                    continue;
                }
                RecordedElement::Call(call) if has_calls => {
                    let call_idx = self.add_call(call, request, profiles, false);
                    if !self.calls[call_idx].written.is_exact {
                        notes.push(format!(
                            "the call of `{}` can't be made again by the tools that the request advertises",
                            call.name
                        ));
                    }
                    attempt.parts.push(Said::Call(call_idx));
                    continue;
                }
                RecordedElement::Call(call) => {
                    notes.push(format!(
                        "the call of `{}` before the error is left out",
                        call.name
                    ));
                    continue;
                }
            };
            let entries = super::pieces::coalesce(pieces);
            if entries.is_empty() {
                if pieces.iter().any(|piece| !piece.text.is_empty()) {
                    notes.push("whitespace-only text is left out".to_owned());
                }
                continue;
            }
            // A refusal is played behind all texts.
            if !is_thinking && let Some(refusal) = attempt.refusal.take() {
                notes.push(
                    "its `refusal` before a text is played as a text (`output_text`)".to_owned(),
                );
                let at_ms = entries.first().map_or(0, |first| first.at_ms);
                let spoken = Said::Spoken(Spoken {
                    is_thinking: false,
                    entries: vec![Piece {
                        at_ms,
                        text: refusal.into(),
                    }],
                });
                attempt.parts.insert(refusal_at, spoken);
            }
            if attempt.refusal.is_some() {
                notes.push(
                    "what the model thinks behind a `refusal` is played before it".to_owned(),
                );
            }
            attempt.parts.push(Said::Spoken(Spoken {
                is_thinking,
                entries,
            }));
        }
        let is_call = |part: &Said| matches!(part, Said::Call(_));
        if attempt.refusal.is_some() && attempt.parts[..refusal_at].iter().any(is_call) {
            notes.push(
                "its `refusal` behind a call is played before the calls at its end".to_owned(),
            );
        }
        attempt
    }

    fn add_call(
        &mut self,
        call: &RecordedCall,
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
            id,
            has_own_id,
            at_ms: call.at_ms,
            result: None,
        });
        self.ids.entry(call.id.clone()).or_default().push(call_idx);
        call_idx
    }

    /// How the call with an id of the provider's is written, the latest with that id.
    pub(super) fn written_call(&self, id: &str) -> Option<&WrittenCall> {
        let call_idx = *self.ids.get(id)?.last()?;
        Some(&self.calls.get(call_idx)?.written)
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
        let is_call = |part: &&Said| matches!(part, Said::Call(_));
        let n_calls = dropped.map_or(0, |attempt| attempt.parts.iter().filter(is_call).count());
        self.calls.truncate(self.calls.len() - n_calls);
        let n_left = self.calls.len();
        for calls in self.ids.values_mut() {
            calls.retain(|&call_idx| call_idx < n_left);
        }
        self.ids.retain(|_, calls| !calls.is_empty());
        match turn.attempts.is_empty() {
            true => self.turns.pop().map_or_else(Vec::new, |turn| turn.said),
            false => Vec::new(),
        }
    }

    /// Writes the scenario anew and reads it back.
    ///
    /// # Errors
    /// Why it can't be read back: it is too long, say.
    pub(super) fn compile(&mut self, redactor: &Redactor) -> Result<(), String> {
        let text = document::text(self, redactor);
        let source = SourceFile::new(format!("{}.yaml", self.name), text.as_str());
        let read = read(&source, &Symbols::new(), &ReadOptions::default());
        let Some(timeline) = read.timeline else {
            let error = read
                .diagnostics
                .iter()
                .find(|found| found.severity == Severity::Error);
            return Err(error.map_or_else(String::new, |found| found.message.clone()));
        };
        let (script, _) = LlmScript::compile(Arc::new(timeline), false);
        self.script = Some(Arc::new(script));
        self.text = text;
        Ok(())
    }

    /// Asks the scenario for its answer to the request that was recorded last: what a player says in place of the
    /// recorded turn, if it does.
    pub(super) fn check(&mut self, request: &Request) -> Option<String> {
        let script = self.script.clone()?;
        let side = AuxiliaryRequests::new([&*script.timeline], DEFAULT_MAX_DISTANCE);
        let wanted = script.turns.turns.len().saturating_sub(1);
        match self.session.answer(&script, &side, request) {
            Decision::Turn(served) | Decision::Repeat(served) | Decision::Error(served)
                if served.turn_idx == wanted =>
            {
                None
            }
            Decision::Turn(served) | Decision::Repeat(served) | Decision::Error(served) => {
                Some(format!("it gets turn {}", served.turn_idx + 1))
            }
            Decision::Side(side) => Some(format!("it is taken for a side call: {}", side.why)),
            Decision::Miss(miss) => Some(miss.message(&script)),
        }
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

impl Turn {
    fn is_only_errors(&self) -> bool {
        self.attempts.iter().all(|attempt| attempt.error.is_some())
    }

    /// Whether its answer is an empty message.
    fn is_silent(&self) -> bool {
        let last = self.attempts.last();
        last.is_some_and(|last| last.parts.is_empty() && last.refusal.is_none())
    }
}

/// The blocks that have a form in timelines.
fn held(blocks: &[&RequestedBlock]) -> Vec<RequestedBlock> {
    let held = blocks.iter().filter(|block| document::can_hold(block));
    held.map(|&block| block.clone()).collect()
}

/// Texts of the user's, without the notes that agents add.
fn own_words(texts: &[&str]) -> Vec<String> {
    texts
        .iter()
        .filter(|text| !is_reminder(text) && !text.trim().is_empty())
        .map(|&text| text.to_owned())
        .collect()
}
