//! One conversation with a model's stand-in: what has been served, and what comes next.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use lru::LruCache;

use super::align::{
    AlignmentError, Position, Rejection, UserDifference, kept_prompt, locate, locate_at,
    locate_next, may_be_missing, rounds_along,
};
use super::auxiliary_requests::{AuxiliaryRequests, SideReply};
use super::llm_script::LlmScript;
use super::miss::Miss;
use super::request::{Request, RequestedBlock, RequestedCall};
use super::request_key::RequestKey;
use super::result_check::{ResultDifference, compare_results};
use super::turns::{Attempt, Turn};
use crate::model::OnRepeat;

/// Answers of a session that are remembered for requests that come again.
const MAX_REMEMBERED: NonZeroUsize = NonZeroUsize::new(256).expect("it is not 0");

/// What has been served in one conversation. Where a request is, the request itself says; the session knows only
/// what no history shows: errors, repeated requests, and where to go on when a history can't be followed.
#[derive(Debug, Clone)]
pub struct Session {
    /// The turn after the last one that was served.
    cursor: usize,
    /// The first turn that the history of a request began with.
    first_held: Option<usize>,
    /// How often each attempt was served.
    servings: Servings,
    /// What each request got, if that was no error.
    remembered: LruCache<RequestKey, Served>,
}

/// What a request is answered with.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// A turn, for the first time in this session.
    Turn(Served),
    /// The same answer again, since it is the same request.
    Repeat(Served),
    /// A turn's attempt that ends in an error.
    Error(Served),
    /// An answer beside the conversation.
    Side(SideReply),
    /// Nothing: the script doesn't expect this request.
    Miss(Box<Miss>),
}

/// What was served.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Served {
    /// The turn.
    pub turn_idx: usize,
    /// Which of its attempts.
    pub attempt_idx: usize,
    /// The turn before it in this conversation, if there is one: asserts between the two are due now.
    pub after: Option<usize>,
    /// Why its history could not be followed, if it couldn't (T-LLM-09).
    pub unaligned: Option<Vec<Rejection>>,
    /// The turn of each answer in the history; empty if that can't be followed.
    pub answered: Vec<usize>,
    /// What the user's side says otherwise than the script (T-LLM-09).
    pub user_differences: Vec<UserDifference>,
    /// Whether it is the first thing that is served of this turn in this session.
    pub is_first: bool,
    /// Results that are not what the script has (T-LLM-05).
    pub differing_results: Vec<ResultDifference>,
}

/// An answer of the model as the history of a request holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryAnswer<'r> {
    /// The turn that gave it.
    pub turn_idx: usize,
    /// Its text.
    pub text: String,
    /// Its calls, in order.
    pub calls: Vec<&'r RequestedCall>,
    /// The texts between the calls: before the first one, behind it, and so on.
    pub texts: Vec<String>,
    /// Its images.
    pub images: Vec<&'r RequestedBlock>,
}

impl Served {
    /// The turn that was served.
    pub fn turn<'s>(&self, script: &'s LlmScript) -> Option<&'s Turn> {
        script.turn(self.turn_idx)
    }

    /// The answers in the history of `request`, which got this, by the turns that gave them; empty if the history can't
    /// be followed.
    pub fn history<'r>(&self, script: &LlmScript, request: &'r Request) -> Vec<HistoryAnswer<'r>> {
        let mut answers: Vec<HistoryAnswer<'r>> = Vec::new();
        if self.answered.is_empty() {
            return answers;
        }
        let rounds = rounds_along(script, request).answered.into_iter();
        for ((_, said), &turn_idx) in rounds.zip(&self.answered) {
            match answers.last_mut() {
                // Parallel calls, each with its result behind it.
                Some(last) if last.turn_idx == turn_idx => {
                    last.text.push_str(&said.text);
                    last.calls.extend(said.calls);
                    last.images.extend(said.images);
                    let mut texts = said.texts.into_iter();
                    if let (Some(open), Some(more)) = (last.texts.last_mut(), texts.next()) {
                        open.push_str(&more);
                    }
                    last.texts.extend(texts);
                }
                _ => answers.push(HistoryAnswer {
                    turn_idx,
                    text: said.text,
                    calls: said.calls,
                    texts: said.texts,
                    images: said.images,
                }),
            }
        }
        answers
    }

    /// The attempt that was served.
    pub fn attempt<'s>(&self, script: &'s LlmScript) -> Option<&'s Attempt> {
        self.turn(script)?.attempts.get(self.attempt_idx)
    }
}

impl Default for Session {
    fn default() -> Self {
        Self {
            cursor: 0,
            first_held: None,
            servings: Servings::default(),
            remembered: LruCache::sparse(MAX_REMEMBERED),
        }
    }
}

impl Session {
    /// What `request` is answered with, which counts as served.
    pub fn answer(
        &mut self,
        script: &LlmScript,
        side: &AuxiliaryRequests,
        request: &Request,
    ) -> Decision {
        let before = self.remembered.get(&request.key);
        if let Some(served) = before
            && script.timeline.server.on_repeat == OnRepeat::Same
        {
            return Decision::Repeat(served.clone());
        }
        if let Some(turn_idx) = before.map(|served| served.turn_idx) {
            return self.go_on(script, request, turn_idx);
        }
        let located = locate(script, request, &self.servings);
        let expected = match &located {
            Ok(position) => Some(position.turn_idx),
            Err(lost) if lost.is_unaligned => Some(self.cursor),
            Err(lost) => lost.expected,
        };
        let expected_text = expected
            .and_then(|turn_idx| script.turn(turn_idx)?.input.as_ref())
            .map(|input| input.normal.as_str());
        if let Some(reply) = side.reply(request, expected_text) {
            return Decision::Side(reply);
        }
        let (position, rejected) = match located {
            Ok(position) => {
                // What goes on from an answer needs no history.
                let is_whole = request.previous.is_some();
                let forgotten = (!is_whole).then(|| self.forgotten(script, &position));
                let forgotten = forgotten.flatten();
                (position, forgotten)
            }
            Err(lost) if !lost.is_unaligned => return miss(script, request, lost),
            // What a client made of a history is known only of one that was played here.
            Err(lost) if self.servings.0.is_empty() => {
                return miss(script, request, lost.of_own_history(script, request));
            }
            Err(lost) => match locate_at(script, request, &self.servings, self.cursor) {
                Some(position) => (position, Some(lost.rejected)),
                None => {
                    let lost = AlignmentError {
                        expected: Some(self.cursor).filter(|&idx| script.turn(idx).is_some()),
                        ..lost
                    };
                    return miss(script, request, lost);
                }
            },
        };
        self.serve(script, request, position, rejected)
    }

    /// The last answer before the history of a request begins, or the prompt of an empty one, if this session gave it, or if
    /// it stands above `sessionStart` and an earlier history held it: its client has forgotten it.
    fn forgotten(&self, script: &LlmScript, position: &Position<'_>) -> Option<Vec<Rejection>> {
        let first_live = script.turns.first_live()?;
        let from = first_live.min(self.first_held.unwrap_or(first_live));
        let forgotten = (from..position.begin).rev().find_map(|turn_idx| {
            let turn = script.turn(turn_idx)?;
            let last = (turn_idx, turn.attempts.len().saturating_sub(1));
            let what = match kept_prompt(script, turn) {
                Some(_) => "prompt",
                None if may_be_missing(turn) => return None,
                None => "answer",
            };
            let is_held = turn.is_history || self.servings.0.contains_key(&last);
            is_held.then(|| Rejection::gap(turn_idx, format!("the history is missing its {what}")))
        });
        forgotten.map(|rejection| vec![rejection])
    }

    /// The turn that `request` asks for; `None` if its history is not the script's up to one.
    pub(super) fn turn_of<'s>(&self, script: &'s LlmScript, request: &Request) -> Option<&'s Turn> {
        let turn_idx = match self.remembered.peek(&request.key) {
            Some(served) => served.turn_idx,
            None => locate(script, request, &self.servings).ok()?.turn_idx,
        };
        script.turn(turn_idx)
    }

    /// An equal request takes the turn after the one that it got before (`onRepeat: next`).
    fn go_on(&mut self, script: &LlmScript, request: &Request, turn_idx: usize) -> Decision {
        match locate_next(script, request, &self.servings, turn_idx + 1) {
            Ok(position) => self.serve(script, request, position, None),
            Err(lost) => miss(script, request, lost),
        }
    }

    /// Serves the turn at `position`. `rejected` says why the history could not be followed, if it couldn't.
    fn serve(
        &mut self,
        script: &LlmScript,
        request: &Request,
        position: Position<'_>,
        rejected: Option<Vec<Rejection>>,
    ) -> Decision {
        let Position {
            turn_idx,
            begin,
            after,
            results,
            answered,
            user_differences,
        } = position;
        let first_held = answered.first().map(|_| begin);
        self.first_held = self.first_held.into_iter().chain(first_held).min();
        let attempt_idx = script
            .turn(turn_idx)
            .and_then(|turn| self.servings.next_attempt(turn, turn_idx));
        let Some(attempt_idx) = attempt_idx else {
            let lost = AlignmentError {
                expected: Some(turn_idx),
                after,
                ..AlignmentError::default()
            };
            return miss(script, request, lost);
        };
        let served = Served {
            turn_idx,
            attempt_idx,
            after,
            unaligned: rejected,
            answered,
            user_differences,
            is_first: !self.servings.is_played(script, turn_idx),
            differing_results: results
                .iter()
                .filter_map(|(turn_idx, results)| Some((script.turn(*turn_idx)?, results)))
                .flat_map(|(turn, results)| compare_results(turn, results, request.endpoint))
                .collect(),
        };
        let n_served = self.servings.0.entry((turn_idx, attempt_idx)).or_default();
        *n_served = n_served.saturating_add(1);
        self.cursor = turn_idx + 1;
        let is_error = served
            .attempt(script)
            .is_some_and(|attempt| attempt.error.is_some());
        if is_error {
            // The turn is not over: its next attempt is what comes, or the turn after it.
            self.cursor = turn_idx;
            return Decision::Error(served);
        }
        self.remember(request.key, &served);
        Decision::Turn(served)
    }

    fn remember(&mut self, key: RequestKey, served: &Served) {
        // The history was compared when it came first.
        let served = Served {
            answered: Vec::new(),
            ..served.clone()
        };
        self.remembered.put(key, served);
    }
}

fn miss(script: &LlmScript, request: &Request, lost: AlignmentError) -> Decision {
    Decision::Miss(Box::new(Miss::new(script, request, lost)))
}

/// How often each attempt of each turn was served.
#[derive(Debug, Clone, Default)]
pub(super) struct Servings(HashMap<(usize, usize), u32>);

impl Servings {
    /// All of a script but its last turn.
    pub(super) fn before_last(script: &LlmScript) -> Self {
        let turns = script.turns.turns.iter().enumerate();
        let before = turns.take(script.turns.turns.len().saturating_sub(1));
        let attempts = before.flat_map(|(turn_idx, turn)| {
            (0..turn.attempts.len()).map(move |attempt_idx| (turn_idx, attempt_idx))
        });
        Self(attempts.map(|attempt| (attempt, u32::MAX)).collect())
    }

    fn n_served(&self, turn_idx: usize, attempt_idx: usize) -> u32 {
        let found = self.0.get(&(turn_idx, attempt_idx));
        found.copied().unwrap_or_default()
    }

    /// Whether anything of the turn was served.
    pub(super) fn is_played(&self, script: &LlmScript, turn_idx: usize) -> bool {
        let n_attempts = script.turn(turn_idx).map_or(0, |turn| turn.attempts.len());
        (0..n_attempts).any(|attempt_idx| self.n_served(turn_idx, attempt_idx) > 0)
    }

    /// Whether a session has done with the turn, though its history doesn't show it: every error of it was served as often
    /// as it is to be, or its empty answer was given.
    pub(super) fn is_spent(&self, script: &LlmScript, turn_idx: usize) -> bool {
        let Some(turn) = script.turn(turn_idx) else {
            return true;
        };
        if turn.is_only_errors() {
            return self.next_attempt(turn, turn_idx).is_none();
        }
        // A client may have left an empty answer out of its history. The same request again is no other one, and
        // never comes to here.
        let last_idx = turn.attempts.len().saturating_sub(1);
        turn.is_silent() && self.n_served(turn_idx, last_idx) > 0
    }

    /// The first attempt that isn't an error which was served often enough.
    fn next_attempt(&self, turn: &Turn, turn_idx: usize) -> Option<usize> {
        let mut attempts = turn.attempts.iter().enumerate();
        attempts
            .find(|(attempt_idx, attempt)| {
                let n_served = self.n_served(turn_idx, *attempt_idx);
                let error = attempt.error.as_ref();
                error.is_none_or(|error| !error.is_spent(n_served))
            })
            .map(|(attempt_idx, _)| attempt_idx)
    }
}
