//! Where a request is in what is recorded: found from the answers that its history holds.

use super::super::align::is_like;
use super::super::request::{Part, Request, Role};
use super::super::rounds::{self, Rounds};
use super::super::text::{normalise, squeeze};
use super::conversation::{Attempt, Conversation, Turn, own_words, said};
use super::side::spoken;

/// What stands in a request for an image of an answer: what a client keeps of it doesn't count.
pub(super) const IMAGE: char = '\u{fffc}';

/// Where a request is in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// After all that was recorded. With the texts that no turn has yet.
    Next(Vec<String>),
    /// At a turn that is recorded.
    At(usize),
}

impl Conversation {
    /// All turns, from the history before the recording on.
    fn all_turns(&self) -> impl Iterator<Item = &Turn> {
        self.history.iter().chain(&self.turns)
    }

    /// How many turns the scenario has, those before the recording too.
    pub(super) fn n_turns(&self) -> usize {
        self.history.len() + self.turns.len()
    }

    /// Where a request is that goes on from the answer of the turn before `begin`, or holds its whole history. `None` if it
    /// is of no such conversation.
    pub(super) fn place(&self, request: &Request, begin: usize) -> Option<Place> {
        if self.turns.is_empty() {
            return None;
        }
        let turns: Vec<&Turn> = self.all_turns().collect();
        let rounds = Rounds::of(request);
        let mut next = begin;
        // The calls of the last answer that were not in the history yet.
        let mut open: Vec<&str> = Vec::new();
        for (side, said) in &rounds.answered {
            let ids = said.calls.iter().map(|call| call.id.as_str());
            let is_open = |id: &str| !id.is_empty() && open.contains(&id);
            // Parallel calls, each with its result behind it.
            if !said.calls.is_empty() && ids.clone().all(is_open) {
                open.retain(|id| ids.clone().all(|seen| seen != *id));
                continue;
            }
            let mut turn = *turns.get(next)?;
            while !self.is_answer(turn, said) {
                if !turn.may_be_missing() {
                    return None;
                }
                next += 1;
                turn = *turns.get(next)?;
            }
            let asked = normalise(&turn.said.join("\n"));
            if !asked.is_empty() {
                side.normal_texts().find(&asked, 0)?;
            }
            open = self.provider_ids(turn);
            open.retain(|id| ids.clone().all(|seen| seen != *id));
            next += 1;
            // What goes on without a word of the user's may be one message later: a prefill and the answer behind it.
            let mut whole = turn.squeezed();
            while let Some(more) = turns.get(next).filter(|more| more.has_no_input()) {
                whole.push_str(&more.squeezed());
                if !squeezed(said).starts_with(&whole) || more.squeezed().is_empty() {
                    break;
                }
                next += 1;
            }
        }
        // What the user said before turns that left no trace was said for these.
        let mut new = own_words(&rounds.last.texts);
        for (idx, turn) in turns.iter().enumerate().skip(next) {
            let mut texts = new.clone();
            for text in &turn.said {
                let is_first = |first: &String| normalise(first) == normalise(text);
                if texts.first().is_some_and(is_first) {
                    texts.remove(0);
                }
            }
            let is_kept = turn.is_abandoned && texts.is_empty();
            if turn.may_be_missing() && !is_kept {
                new = texts;
                continue;
            }
            let asked = normalise(&turn.said.join("\n"));
            let is_asked = asked.is_empty() || rounds.last.normal_texts().find(&asked, 0).is_some();
            let mut blocks = turn.blocks.iter();
            let is_shown = blocks.all(|block| rounds.last.blocks.contains(&block));
            return (is_asked && is_shown).then_some(Place::At(idx));
        }
        match new.is_empty() && self.has_answered(request.key) {
            true => Some(Place::At(turns.len() - 1)),
            false => Some(Place::Next(new)),
        }
    }

    /// The calls of a turn, by the ids that the provider gave them.
    fn provider_ids(&self, turn: &Turn) -> Vec<&str> {
        let calls = turn.attempts.iter().flat_map(Attempt::calls);
        calls
            .map(|idx| self.calls[idx].provider_id.as_str())
            .collect()
    }

    /// Whether `said` is what a client keeps of the answer of `turn`.
    fn is_answer(&self, turn: &Turn, said: &rounds::Said<'_>) -> bool {
        let ids = self.provider_ids(turn);
        if !said.calls.is_empty() {
            let mut calls = said.calls.iter().map(|call| call.id.as_str());
            return said.calls.len() <= ids.len()
                && calls.all(|id| id.is_empty() || ids.contains(&id));
        }
        let (own, said) = (turn.squeezed(), squeezed(said));
        match turn.is_abandoned {
            true => own.starts_with(&said),
            false => !turn.is_only_errors() && ids.is_empty() && is_like(&own, &said),
        }
    }

    /// Whether a request without answers may go on from this conversation: what it says first was answered with what
    /// leaves no trace.
    pub(super) fn is_silent_before(&self, request: &Request) -> bool {
        let texts = said(request);
        let before: Vec<&String> = self.turns.iter().flat_map(|turn| &turn.said).collect();
        let mut same = texts.iter().zip(&before);
        self.all_turns().all(Turn::leaves_no_trace)
            && texts.len() > before.len()
            && same.all(|(text, before)| normalise(text) == normalise(before))
    }
}

/// What a client keeps of an answer's text, for comparing.
fn squeezed(said: &rounds::Said<'_>) -> String {
    said.squeezed.replace(IMAGE, "")
}

/// Puts a sign in place of the images in the answers of a history, which are answers too.
pub(super) fn mark_images(request: &mut Request) {
    let answers = request.history.iter_mut();
    let answers = answers.filter(|message| message.role == Role::Assistant);
    for part in answers.flat_map(|message| &mut message.parts) {
        if let Part::Block(block) = part
            && block.text.is_empty()
        {
            block.text = IMAGE.to_string();
        }
    }
}

impl Turn {
    pub(super) fn is_only_errors(&self) -> bool {
        self.attempts.iter().all(|attempt| attempt.error.is_some())
    }

    /// Whether a history has no answer of it: it is an error, or empty.
    pub(super) fn leaves_no_trace(&self) -> bool {
        let has_calls = |attempt: &Attempt| attempt.calls().next().is_some();
        let is_silent = self.squeezed().is_empty() && !self.attempts.iter().any(has_calls);
        self.is_only_errors() || is_silent
    }

    /// Whether a history may hold no answer of it.
    fn may_be_missing(&self) -> bool {
        self.leaves_no_trace() || self.is_abandoned
    }

    fn has_no_input(&self) -> bool {
        self.said.is_empty() && self.blocks.is_empty() && !self.may_be_missing()
    }

    /// The text of its answer without white space.
    fn squeezed(&self) -> String {
        let Some(last) = self.attempts.last() else {
            return String::new();
        };
        let text = spoken(&last.parts) + last.refusal.as_deref().unwrap_or_default();
        squeeze(&text)
    }
}
