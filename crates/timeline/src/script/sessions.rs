//! All conversations with a model's stand-in: which one a request belongs to, and which scenario that plays.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use lru::LruCache;

use super::auxiliary_requests::{AuxiliaryRequests, SideReply};
use super::hashing::{Hasher, short_hash};
use super::llm_script::LlmScript;
use super::request::{Message, Part, Request, RequestedBlock, Role};
use super::request_key::RequestKey;
use super::selection::{Selection, SelectionReason, Selector, Wanted};
use super::session::{Decision, Session};
use super::turns::Turn;
use crate::model::OnRepeat;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::cut;

/// How many sessions are kept, if nothing else is said.
pub const DEFAULT_MAX_SESSIONS: usize = 10_000;

/// A first request that comes again within this time is a retry, if nothing else has come.
const RETRY_WINDOW_MS: u64 = 60_000;

/// What a session is known by, the same in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub u64);

impl fmt::Display for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// What the headers of a request say about its session and its scenario.
#[derive(Debug, Clone, Copy, Default)]
pub struct Address<'a> {
    /// `x-cuecard-session` or `x-scenario-session`.
    pub session: Option<&'a str>,
    /// The API key.
    pub api_key: Option<&'a str>,
    /// `x-scenario-name`.
    pub scenario_name: Option<&'a str>,
    /// `x-scenario-session-id`, or another way to name a scenario's session id.
    pub scenario_session_id: Option<&'a str>,
    /// `x-scenario-prompt`.
    pub prompt: Option<&'a str>,
}

/// The sessions of a set of scenarios; the least recently used go when there are too many.
#[derive(Debug)]
pub struct Sessions {
    repertoire: ScriptSet,
    selector: Selector,
    /// What is beside every conversation, before a scenario is chosen.
    side: AuxiliaryRequests,
    entries: LruCache<SessionKey, Entry>,
    /// What sessions that were closed have left unplayed.
    closed: VecDeque<SessionProgress>,
    /// Sessions that were closed with nothing left, as many.
    completed: VecDeque<SessionProgress>,
    n_begun: u64,
    max_sessions: usize,
}

/// What sessions play. All lists have the same scenarios in the same order.
#[derive(Debug)]
struct ScriptSet {
    scripts: Vec<Arc<LlmScript>>,
    /// What is beside a conversation.
    sides: Vec<AuxiliaryRequests>,
    /// For each turn, whether any session got it.
    played: Vec<Vec<bool>>,
}

/// What was played in a session.
#[derive(Debug, Clone)]
pub struct SessionProgress {
    /// The session.
    pub session: SessionKey,
    /// The scenario.
    pub scenario_idx: usize,
    /// Of which of its turns anything was served, by their index.
    played: Vec<bool>,
    /// Those of which only errors were served that something else comes after.
    unanswered: BTreeSet<usize>,
    /// Sessions by when they began.
    number: u64,
    /// Whether another session went on with its conversation: agents change their system text on the way.
    is_continued: bool,
    /// Whether its requests name it.
    is_named: bool,
}

#[derive(Debug)]
struct Entry {
    session: Session,
    progress: SessionProgress,
    scenario_idx: usize,
    selection: Arc<Selection>,
    first: RequestKey,
    began_ms: u64,
    /// Whether every request so far was the first one again.
    has_only_first: bool,
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The session.
    pub session: SessionKey,
    /// The scenario.
    pub scenario_idx: usize,
    /// Why it was chosen: once for each session, of which [`Sessions::selection`] has the whole story.
    pub reason: SelectionReason,
    /// What is answered.
    pub decision: Decision,
}

/// A request that got no turn and no session.
#[derive(Debug, Clone)]
pub enum UnmatchedRequest {
    /// It is beside any conversation, and answered so.
    Side(SideReply),
    /// No scenario is meant (T-SEL-01, 02).
    Unselected(Box<Diagnostic>),
    /// It goes on from an answer that was none of ours.
    ForeignAnswer {
        /// The id it names.
        id: String,
    },
}

impl Sessions {
    /// Sessions that play `scripts`, chosen by `selector`, which has the same scenarios in the same order.
    pub fn new(scripts: Vec<Arc<LlmScript>>, selector: Selector, max_sessions: usize) -> Self {
        let side = AuxiliaryRequests::new(
            scripts.iter().map(|script| &*script.timeline),
            selector.max_distance(),
        );
        let sides = scripts
            .iter()
            .map(|script| side.with_calls_of(&script.timeline))
            .collect();
        let played = scripts
            .iter()
            .map(|script| vec![false; script.turns.turns.len()])
            .collect();
        Self {
            repertoire: ScriptSet {
                scripts,
                sides,
                played,
            },
            selector,
            side,
            entries: LruCache::unbounded(),
            closed: VecDeque::new(),
            completed: VecDeque::new(),
            n_begun: 0,
            max_sessions: max_sessions.max(1),
        }
    }

    /// The scripts, in their order.
    pub fn scripts(&self) -> &[Arc<LlmScript>] {
        &self.repertoire.scripts
    }

    /// How the scenario of a session was chosen.
    pub fn selection(&self, key: SessionKey) -> Option<Arc<Selection>> {
        self.entries.peek(&key).map(|entry| entry.selection.clone())
    }

    /// How many sessions there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The turns that no session got, as scenario and turn. What stands before `sessionStart` is history, and needs
    /// not be asked for.
    pub fn unplayed(&self) -> impl Iterator<Item = (usize, usize)> {
        let played = self.repertoire.played.iter().enumerate();
        played.flat_map(|(scenario_idx, turns)| {
            let scripted = &self.repertoire.scripts[scenario_idx].turns.turns;
            let unplayed = turns.iter().zip(scripted).enumerate();
            let unplayed = unplayed.filter(|(_, (played, turn))| !**played && !turn.is_history);
            unplayed.map(move |(turn_idx, _)| (scenario_idx, turn_idx))
        })
    }

    /// The sessions in which a turn was played, in the order in which they began, but for those whose conversation another
    /// one went on with.
    pub fn progress(&self) -> Vec<SessionProgress> {
        let open = self.entries.iter().map(|(_, entry)| &entry.progress);
        let mut all: Vec<SessionProgress> = open
            .chain(&self.closed)
            .chain(&self.completed)
            .filter(|it| !it.is_continued && it.played.contains(&true))
            .cloned()
            .collect();
        all.sort_unstable_by_key(|it| it.number);
        all
    }

    /// What `request` is answered with at `now_ms`, on any clock that doesn't go back. `key` is its session
    /// ([`SessionKey::of`]): who shares the sessions with others finds that out beforehand.
    ///
    /// # Errors
    ///
    /// The request belongs to no session and opens none.
    pub fn answer(
        &mut self,
        key: SessionKey,
        address: Address<'_>,
        request: &Request,
        now_ms: u64,
    ) -> Result<Answered, UnmatchedRequest> {
        let key = self.beside(key, address, request).unwrap_or(key);
        if let Some(answered) = self.continued(key, request, now_ms) {
            return Ok(answered);
        }
        let mut entry = self.open(key, address, request, now_ms)?;
        let answered = entry.answer(key, &mut self.repertoire, request);
        // What stands before it in the script may have left no trace in the history.
        if let Decision::Turn(served) | Decision::Error(served) = &answered.decision
            && let Some(after) = served.after.or(served.turn_idx.checked_sub(1))
        {
            self.take_over(&mut entry.progress, after, served.turn_idx);
        }
        self.entries.put(key, entry);
        Ok(answered)
    }

    /// What a session that goes on with `request` answers.
    fn continued(&mut self, key: SessionKey, request: &Request, now_ms: u64) -> Option<Answered> {
        let entry = self.entries.get_mut(&key)?;
        if !entry.goes_on(&self.repertoire, request, now_ms) {
            return None;
        }
        Some(entry.answer(key, &mut self.repertoire, request))
    }

    /// The session beside the one with `key`, if `request` is what another scenario goes on or begins with, and nothing
    /// that this one plays, or only its history: both begin with the same words, such as examples, or the client names
    /// both the same.
    fn beside(
        &self,
        key: SessionKey,
        address: Address<'_>,
        request: &Request,
    ) -> Option<SessionKey> {
        let entry = self.entries.peek(&key)?;
        let scripts = &self.repertoire.scripts;
        if scripts.len() == 1 || request.previous.is_some() {
            return None;
        }
        let own = entry.session.turn_of(&scripts[entry.scenario_idx], request);
        if own.is_some_and(|turn| !turn.is_history) {
            return None;
        }
        let selection = self.select(address, request).ok()?;
        let scenario_idx = selection.scenario_idx;
        let turn = || Session::default().turn_of(&scripts[scenario_idx], request);
        let is_meant = match selection.reason {
            SelectionReason::History => own.is_none() || turn().is_some_and(|it| !it.is_history),
            SelectionReason::Prompt(distance) => {
                distance <= 0.0 && turn().is_some_and(|it| own.is_none() || !it.is_history)
            }
            _ => false,
        };
        let parts: [&[u8]; 2] = [&key.0.to_be_bytes(), &scenario_idx.to_be_bytes()];
        (is_meant && scenario_idx != entry.scenario_idx).then(|| SessionKey(short_hash(&parts)))
    }

    /// A session that begins with `turn_idx` behind the turn `after` goes on with the last one that came so far, unless
    /// the requests of either say which one they belong to.
    fn take_over(&mut self, progress: &mut SessionProgress, after: usize, turn_idx: usize) {
        let open = self
            .entries
            .iter_mut()
            .map(|(_, entry)| &mut entry.progress);
        let before = open
            .chain(&mut self.closed)
            .filter(|it| it.scenario_idx == progress.scenario_idx && !it.is_continued)
            .filter(|it| it.session == progress.session || !(it.is_named || progress.is_named))
            .filter(|it| it.played[after] && !it.played[turn_idx + 1..].contains(&true))
            .max_by_key(|it| it.number);
        if let Some(before) = before {
            before.is_continued = true;
            for turn_idx in &before.unanswered {
                if !progress.played[*turn_idx] {
                    progress.unanswered.insert(*turn_idx);
                }
            }
            for (played, was_played) in progress.played.iter_mut().zip(&before.played) {
                *played |= was_played;
            }
        }
    }

    /// A new session, in place of one that has the same key.
    fn open(
        &mut self,
        key: SessionKey,
        address: Address<'_>,
        request: &Request,
        now_ms: u64,
    ) -> Result<Entry, UnmatchedRequest> {
        if let Some(reply) = self.side.reply(request, None) {
            return Err(UnmatchedRequest::Side(reply));
        }
        let selection = self.select(address, request)?;
        if let Some(same) = self.entries.pop(&key) {
            self.close(same);
        }
        while self.entries.len() >= self.max_sessions
            && let Some((_, oldest)) = self.entries.pop_lru()
        {
            self.close(oldest);
        }
        self.n_begun += 1;
        let scenario_idx = selection.scenario_idx;
        let n_turns = self.repertoire.scripts[scenario_idx].turns.turns.len();
        Ok(Entry {
            session: Session::default(),
            progress: SessionProgress {
                session: key,
                scenario_idx,
                played: vec![false; n_turns],
                unanswered: BTreeSet::new(),
                number: self.n_begun,
                is_continued: false,
                is_named: address.session.is_some(),
            },
            scenario_idx,
            selection: Arc::new(selection),
            first: request.key,
            began_ms: now_ms,
            has_only_first: true,
        })
    }

    fn select(
        &self,
        address: Address<'_>,
        request: &Request,
    ) -> Result<Selection, UnmatchedRequest> {
        if let Some(previous) = &request.previous {
            let script = self
                .repertoire
                .scripts
                .iter()
                .position(|script| script.fingerprint == previous.scenario);
            return match script {
                Some(scenario_idx) => Ok(Selection {
                    scenario_idx,
                    reason: SelectionReason::SessionId,
                    others: Vec::new(),
                }),
                None => Err(UnmatchedRequest::ForeignAnswer {
                    id: cut(&previous.id, 200).into_owned(),
                }),
            };
        }
        let blocks: Vec<_> = match address.prompt {
            Some(_) => Vec::new(),
            None => user_blocks(&request.history).collect(),
        };
        let texts: Vec<&str>;
        let prompts = match &address.prompt {
            Some(prompt) => std::slice::from_ref(prompt),
            None => {
                texts = user_texts(&request.history).collect();
                &texts[..]
            }
        };
        let wanted = Wanted {
            name: address.scenario_name,
            session_id: address.scenario_session_id,
            prompts,
            blocks: &blocks,
            request: Some(request),
        };
        let is_named = wanted
            .name
            .or(wanted.session_id)
            .or(address.prompt)
            .is_some();
        let has_answers = || {
            let mut messages = request.history.iter();
            messages.any(|message| message.role == Role::Assistant)
        };
        if !is_named && has_answers() {
            let scripts = &self.repertoire.scripts;
            let session = Session::default();
            let turn = |idx: usize| session.turn_of(&scripts[idx], request);
            let is_live = |idx: usize| turn(idx).is_some_and(|turn| !turn.is_history);
            let by_history = |follows: &dyn Fn(usize) -> bool| {
                self.selector.by_history(prompts, request, follows)
            };
            let found = by_history(&is_live).or_else(|| by_history(&|idx| turn(idx).is_some()));
            if let Some(selection) = found {
                return Ok(selection);
            }
        }
        self.selector
            .select(wanted)
            .map_err(UnmatchedRequest::Unselected)
    }

    /// Keeps what a session has left unplayed that is there no longer.
    fn close(&mut self, entry: Entry) {
        let turns = &self.repertoire.scripts[entry.scenario_idx].turns.turns;
        let closed = match entry.progress.unplayed(turns).next() {
            Some(_) => &mut self.closed,
            None => &mut self.completed,
        };
        if closed.len() >= self.max_sessions {
            closed.pop_front();
        }
        closed.push_back(entry.progress);
    }
}

impl Entry {
    /// Whether `request` doesn't begin the session anew.
    fn goes_on(&self, repertoire: &ScriptSet, request: &Request, now_ms: u64) -> bool {
        let timeline = &repertoire.scripts[self.scenario_idx].timeline;
        let is_retry =
            self.has_only_first && now_ms.saturating_sub(self.began_ms) < RETRY_WINDOW_MS;
        request.key != self.first || is_retry || timeline.server.on_repeat == OnRepeat::Next
    }

    fn answer(
        &mut self,
        key: SessionKey,
        repertoire: &mut ScriptSet,
        request: &Request,
    ) -> Answered {
        // Written only when it changes, like all that follows: what is only read is at hand for every thread.
        if self.has_only_first && request.key != self.first {
            self.has_only_first = false;
        }
        let scenario_idx = self.scenario_idx;
        let decision = self.session.answer(
            &repertoire.scripts[scenario_idx],
            &repertoire.sides[scenario_idx],
            request,
        );
        if let Decision::Turn(served) | Decision::Error(served) = &decision {
            repertoire.played[scenario_idx][served.turn_idx] = true;
            self.progress.played[served.turn_idx] = true;
            let turn = &repertoire.scripts[scenario_idx].turns.turns[served.turn_idx];
            match served.attempt_idx + 1 < turn.attempts.len() && !turn.is_cancelled {
                true => self.progress.unanswered.insert(served.turn_idx),
                false => self.progress.unanswered.remove(&served.turn_idx),
            };
            self.progress.is_continued = false;
        }
        Answered {
            session: key,
            scenario_idx,
            reason: self.selection.reason,
            decision,
        }
    }
}

impl SessionProgress {
    /// Whether the turn was served, past its errors if something else comes after them.
    pub fn is_played(&self, turn_idx: usize) -> bool {
        self.played[turn_idx] && !self.unanswered.contains(&turn_idx)
    }

    /// The indices of the turns that were not played. What stands before `sessionStart` need not be.
    pub fn unplayed<'a>(&'a self, turns: &'a [Turn]) -> impl Iterator<Item = usize> + 'a {
        let turns = turns.iter().enumerate();
        turns
            .filter(|(turn_idx, turn)| !turn.is_history && !self.is_played(*turn_idx))
            .map(|(turn_idx, _)| turn_idx)
    }
}

impl SessionKey {
    /// The session that a request names, else the one of its API key and conversation.
    pub fn of(address: Address<'_>, request: &Request) -> Self {
        if let Some(session) = address.session {
            return Self(short_hash(&[b"session", session.as_bytes()]));
        }
        if let Some(previous) = &request.previous {
            return Self(previous.session);
        }
        let asked = [
            address.api_key,
            address.scenario_name,
            address.scenario_session_id,
            address.prompt,
        ];
        let mut hasher = Hasher::new();
        hasher.text(b"conversation");
        for text in asked {
            hasher.text(text.unwrap_or_default().as_bytes());
        }
        hasher.text(request.system.as_bytes());
        let before_answer = request
            .history
            .iter()
            .take_while(|message| message.role == Role::User);
        let mut has_text = false;
        for text in before_answer.clone().flat_map(texts_of) {
            hasher.text(text.as_bytes());
            has_text = true;
        }
        // Clients may keep no images: only without a text they tell conversations apart.
        for block in before_answer.flat_map(blocks_of).filter(|_| !has_text) {
            hasher.text(block.data.as_bytes());
        }
        Self(hasher.finish_short())
    }
}

impl SessionKey {
    /// The session of a request among those to `scripts`: requests for which other conditions (`match`) hold are of
    /// other sessions, though they may say the same.
    pub fn told_apart(self, scripts: &[Arc<LlmScript>], request: &Request) -> Self {
        let mut conditions = scripts
            .iter()
            .filter_map(|script| script.timeline.request_match.as_ref())
            .peekable();
        // What goes on from an answer names its session.
        if conditions.peek().is_none() || request.previous.is_some() {
            return self;
        }
        let mut hasher = Hasher::new();
        hasher.text(&self.0.to_be_bytes());
        for condition in conditions {
            hasher.bytes(if condition.unmet(request).is_none() {
                b"y"
            } else {
                b"n"
            });
        }
        Self(hasher.finish_short())
    }
}

fn user_texts(history: &[Message]) -> impl Iterator<Item = &str> {
    history
        .iter()
        .filter(|message| message.role == Role::User)
        .flat_map(texts_of)
}

fn user_blocks(history: &[Message]) -> impl Iterator<Item = &RequestedBlock> {
    let of_user = history.iter().filter(|message| message.role == Role::User);
    of_user.flat_map(blocks_of)
}

fn blocks_of(message: &Message) -> impl Iterator<Item = &RequestedBlock> {
    message.parts.iter().filter_map(|part| match part {
        Part::Block(block) => Some(block),
        _ => None,
    })
}

fn texts_of(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    })
}
