//! Recording: exchanges with a real model become timelines that play the same to the same client.
//!
//! A request goes on from the conversation whose answers its history holds, one by one: what is at the end of that becomes
//! its next turn. What is written of a turn is read back when it comes; that a player follows the whole conversation is
//! found out once, at the end.

mod calls;
mod conversation;
mod differences;
mod document;
mod exchange;
mod marks;
mod pieces;
mod place;
mod proof;
mod side;
#[cfg(test)]
mod tests;
mod volatile;

pub use exchange::{Recorded, RecordedAnswer, RecordedExchange, RecordedOutcome};

use std::collections::HashMap;
use std::sync::Arc;

use super::answer::{CallInput, Element};
use super::auxiliary_requests::{AuxiliaryRequests, SideText};
use super::request::{Part, PreviousAnswer, Request};
use super::rounds::Rounds;
use super::selection::DEFAULT_MAX_DISTANCE;
use super::sessions::SessionKey;
use crate::profiles::Profiles;
use conversation::Conversation;
use cuecard_source::value::{Json, REDACTED, Redactor, find_credentials, find_credentials_in_text};
use place::{Place, mark_images};
use side::{Opening, SideCall};

/// More conversations are not recorded.
const MAX_CONVERSATIONS: usize = 1_000;
/// Only so many conversations of other sessions are looked at.
const MAX_OTHERS: usize = 50;
/// More answers are not remembered by their ids.
const MAX_IDS: usize = 100_000;
/// A shorter text that is a credential by its key or its place may stand anywhere, in characters; a word of letters only
/// is one if it is longer.
const SHORTEST_CREDENTIAL: usize = 6;
const SHORTEST_WORD: usize = 8;

/// Records exchanges.
#[derive(Debug, Default)]
pub struct Recorder {
    profiles: Profiles,
    redactor: Redactor,
    conversations: Vec<Conversation>,
    /// Answers that a request may go on from: their conversation and turn.
    answers: HashMap<String, (usize, usize)>,
}

impl Recorder {
    /// A recorder that knows these profiles, and writes none of these secrets.
    pub fn new(profiles: Profiles, secrets: impl IntoIterator<Item = String>) -> Self {
        Self {
            profiles,
            redactor: Redactor::new(secrets),
            ..Self::default()
        }
    }

    /// Learns more secrets. What is written from then on has none of them.
    pub fn add_secrets(&mut self, secrets: impl IntoIterator<Item = String>) {
        self.redactor.learn(secrets);
    }

    /// What takes the secrets out.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// How many conversations there are.
    pub fn n_conversations(&self) -> usize {
        self.conversations.len()
    }

    /// The name of a conversation's scenario.
    pub fn name(&self, conversation: usize) -> &str {
        self.conversations
            .get(conversation)
            .map_or("", |conversation| &conversation.name)
    }

    /// The text of a conversation's scenario, as it stands.
    pub fn text(&self, conversation: usize) -> &str {
        self.conversations
            .get(conversation)
            .map_or("", |conversation| &conversation.text)
    }

    /// How many turns and how many requests beside it a conversation has.
    pub fn counts(&self, conversation: usize) -> (usize, usize) {
        let conversation = self.conversations.get(conversation);
        conversation.map_or((0, 0), |conversation| {
            (conversation.turns.len(), conversation.side_calls.len())
        })
    }

    /// The abstract form of a call by the id that the provider gave it: tool and arguments, without secrets.
    pub fn abstract_call(&self, conversation: usize, id: &str) -> Option<(String, Arc<Json>)> {
        let written = self.conversations.get(conversation)?.written_call(id)?;
        Some((written.tool.clone(), written.args.clone()))
    }

    /// Records an exchange. `next_name` names the scenario of a conversation that begins.
    pub fn record(
        &mut self,
        exchange: RecordedExchange<'_>,
        next_name: &mut dyn FnMut() -> String,
    ) -> Recorded {
        let n_known = self.redactor.secrets().len();
        self.learn(&exchange);
        let rewritten = match self.redactor.secrets().len() > n_known {
            true => self.rewrite(),
            false => Vec::new(),
        };
        let mut request = exchange.request.clone();
        mark_images(&mut request);
        let exchange = RecordedExchange {
            request: &request,
            ..exchange
        };
        let mut recorded = self.take_in(&exchange, next_name);
        for idx in rewritten {
            if !recorded.changed.contains(&idx) {
                recorded.changed.push(idx);
            }
        }
        recorded
    }

    /// Writes the scenarios anew in which a secret stands that was not known before.
    fn rewrite(&mut self) -> Vec<usize> {
        let mut rewritten = Vec::new();
        for (idx, conversation) in self.conversations.iter_mut().enumerate() {
            if self.redactor.finds(&conversation.text)
                && conversation.rewrite(&self.redactor).is_ok()
            {
                rewritten.push(idx);
            }
        }
        rewritten
    }

    /// What a player does otherwise with the conversations as they stand, one sentence each.
    pub fn problems(&self) -> Vec<String> {
        let conversations = self.conversations.iter();
        let problems = conversations.filter_map(|it| Some((it, it.problem(&self.redactor)?)));
        let in_words = |(it, why): (&Conversation, String)| {
            format!("a player may not play `{}` as recorded: {why}", it.name)
        };
        problems.map(in_words).collect()
    }

    fn take_in(
        &mut self,
        exchange: &RecordedExchange<'_>,
        next_name: &mut dyn FnMut() -> String,
    ) -> Recorded {
        let request = exchange.request;
        let key = exchange.session;
        let previous = exchange.previous_id.map(|id| self.previous(id));
        if let Some(recorded) = self.going_on(exchange, key, previous.clone().flatten()) {
            return recorded;
        }
        let mut opening = None;
        if let Some(by) = self.side_text(request) {
            if by == SideText::Probe {
                return side_left_out("players answer probes by themselves");
            }
            let looks = Opening::of(by, request, &self.redactor);
            if let Some((idx, looks)) = looks
                .as_ref()
                .and_then(|looks| Some((self.stands_beside(request, looks)?, looks)))
            {
                return self.side(idx, exchange, looks);
            }
            opening = looks;
        }
        let mut notes = Vec::new();
        match previous {
            Some(None) => notes.push(
                "it goes on from an answer that is not recorded; a player can't know it".to_owned(),
            ),
            Some(Some(_)) => notes.push(
                "it goes back to an earlier answer (`previous_response_id`): a player only goes on from the last one"
                    .to_owned(),
            ),
            None => {}
        }
        self.begin(exchange, key, opening, notes, next_name)
    }

    fn previous(&self, id: &str) -> Option<(usize, PreviousAnswer)> {
        let &(conversation_idx, turn_idx) = self.answers.get(id)?;
        let key = self.conversations[conversation_idx].key?;
        let previous = PreviousAnswer {
            id: id.to_owned(),
            scenario: 0,
            turn_idx,
            session: key.0,
        };
        Some((conversation_idx, previous))
    }

    /// Records a request that goes on from what is recorded, or that is recorded already.
    fn going_on(
        &mut self,
        exchange: &RecordedExchange<'_>,
        key: SessionKey,
        previous: Option<(usize, PreviousAnswer)>,
    ) -> Option<Recorded> {
        let request = exchange.request;
        if exchange.previous_id.is_some() && previous.is_none() {
            return None;
        }
        let has_history = !Rounds::of(request).answered.is_empty();
        let candidates: Vec<usize> = match &previous {
            Some((idx, _)) => vec![*idx],
            None => {
                let is_of = |idx: &usize| self.conversations[*idx].key == Some(key);
                let newest = || (0..self.conversations.len()).rev();
                // With a history it may go on from any of them: what an agent tells the model beside the
                // conversation may change, and the session's key with it. Empty answers leave no history.
                let others = newest()
                    .filter(|idx| has_history || self.conversations[*idx].is_silent_before(request))
                    .filter(|idx| !is_of(idx))
                    .take(MAX_OTHERS);
                let candidates = newest().filter(is_of).chain(others);
                candidates
                    .filter(|&idx| self.conversations[idx].fits(request))
                    .collect()
            }
        };
        let mut recorded_at = None;
        for idx in candidates {
            let previous = previous.as_ref().map(|(_, previous)| previous.clone());
            let begin = previous.as_ref().map_or(0, |it| it.turn_idx + 1);
            let conversation = &mut self.conversations[idx];
            match conversation.place(request, begin) {
                Some(Place::Next(said)) => {
                    return Some(self.append(idx, exchange, previous, said, Vec::new()));
                }
                Some(Place::At(turn_idx)) if conversation.is_abandoned_at(turn_idx) => {
                    let said = conversation.drop_last_attempt();
                    return Some(self.append(idx, exchange, previous, said, Vec::new()));
                }
                Some(Place::At(turn_idx))
                    if conversation.key == Some(key) || exchange.previous_id.is_some() =>
                {
                    recorded_at = recorded_at.or(Some((idx, turn_idx)));
                }
                Some(Place::At(_)) | None => {}
            }
        }
        let (idx, turn_idx) = recorded_at?;
        if previous.is_none() && self.conversations[idx].asks_for_more(request) {
            return None;
        }
        // A probe or a request for a title may look like the conversation's beginning.
        if self.side_text(request).is_some() && !self.conversations[idx].has_answered(request.key) {
            return None;
        }
        let conversation = &self.conversations[idx];
        let why = match conversation.has_answered(request.key) {
            true => "the same was asked before",
            false => {
                "it goes back to what is recorded, with something else in it, such as another result"
            }
        };
        let note = format!(
            "{why}: a player gives the answer of turn {} in `{}` again",
            turn_idx + 1,
            conversation.name
        );
        Some(Recorded {
            outcome: RecordedOutcome::Again,
            conversation: Some(idx),
            changed: Vec::new(),
            notes: vec![note],
        })
    }

    /// Begins a conversation with a request, and with the history that it brings.
    fn begin(
        &mut self,
        exchange: &RecordedExchange<'_>,
        key: SessionKey,
        opening: Option<Opening>,
        mut notes: Vec<String>,
        next_name: &mut dyn FnMut() -> String,
    ) -> Recorded {
        if self.conversations.len() >= MAX_CONVERSATIONS {
            notes.push(format!(
                "there are {MAX_CONVERSATIONS} conversations already"
            ));
            return left_out(notes);
        }
        // What agents ask beside a conversation may come first: its file becomes the conversation's.
        let is_beside = opening.is_none();
        let asked_beside = is_beside.then(|| self.asked_beside(exchange.request));
        let (idx, before) = match asked_beside.flatten() {
            Some((idx, side_call)) => {
                let name = self.conversations[idx].name.clone();
                let mut with_side = Conversation::new(name);
                with_side.side_calls.push(side_call);
                let before = std::mem::replace(&mut self.conversations[idx], with_side);
                (idx, Some(before))
            }
            None => {
                self.conversations.push(Conversation::new(next_name()));
                (self.conversations.len() - 1, None)
            }
        };
        let conversation = &mut self.conversations[idx];
        conversation.key = Some(key);
        conversation.condition = opening.as_ref().map(Opening::condition).unwrap_or_default();
        conversation.opening = opening;
        conversation.begin_with_history(exchange.request, &self.profiles);
        let said = conversation::said(exchange.request);
        let mut recorded = self.append(idx, exchange, None, said, notes);
        match (recorded.changed.is_empty(), before) {
            (false, before) => {
                if before.is_some() {
                    let id = exchange.answer.id.as_deref();
                    self.answers
                        .retain(|known, (of, _)| *of != idx || Some(known.as_str()) == id);
                }
                recorded
                    .notes
                    .extend(self.note_on_left(idx, exchange.request));
                recorded.notes.extend(self.note_on_prompt(idx));
            }
            (true, Some(before)) => self.conversations[idx] = before,
            (true, None) => self.conversations.truncate(idx),
        }
        recorded
    }

    /// A note if a player may take a conversation for another one of the same session, which it leaves.
    fn note_on_left(&self, idx: usize, request: &Request) -> Option<String> {
        let own = &self.conversations[idx];
        let is_left = |known: &Conversation| {
            known.key == own.key && !known.differs_from(request) && known.history() == own.history()
        };
        let mut others = self.conversations.iter().enumerate();
        let note =
            "it leaves a conversation that is recorded; a player may answer as that one went on";
        others
            .any(|(other, known)| other != idx && is_left(known))
            .then(|| note.to_owned())
    }

    /// Why a player that has all conversations can't tell this one from the others by what its user says.
    fn note_on_prompt(&self, idx: usize) -> Option<String> {
        let prompt = self.conversations[idx].prompt();
        let others = self.conversations.iter().enumerate();
        let mut others =
            others.filter(|(other, conversation)| *other != idx && conversation.key.is_some());
        let name_only = "when both are played, only its name (`x-scenario-name`) chooses it";
        match prompt.is_empty() {
            true => others
                .next()
                .map(|_| format!("it begins without a text of the user's: {name_only}")),
            false => others
                .filter(|(_, other)| other.prompt() == prompt)
                .find(|(_, other)| !self.conversations[idx].excludes(other))
                .map(|(_, other)| {
                    format!(
                        "its user says the same first as in `{}`: {name_only}",
                        other.name
                    )
                }),
        }
    }

    /// Adds an answer at the end of a conversation.
    fn append(
        &mut self,
        idx: usize,
        exchange: &RecordedExchange<'_>,
        previous: Option<PreviousAnswer>,
        said: Vec<String>,
        mut notes: Vec<String>,
    ) -> Recorded {
        if exchange.answer.is_abandoned {
            notes.push(
                "the client broke off this answer: what had come is played as all of it".to_owned(),
            );
        }
        if exchange
            .answer
            .elements
            .iter()
            .any(|element| holds_secret(element, &self.redactor))
        {
            notes.push(format!(
                "a secret in the model's answer is played as `{REDACTED}`"
            ));
        }
        let open = document::longest_open_part(&self.redactor, &said.join("\n"));
        if !said.is_empty() && open.is_empty() {
            notes.push(
                "the user's text is only a secret: a player takes any text in its place".to_owned(),
            );
        }
        let next = &mut self.conversations[idx];
        let is_new_frame = exchange.previous_id.is_none() && next.add_frame(exchange.request);
        let translated = next.translated(exchange.request, previous, &self.redactor);
        next.keep_results(&translated);
        let added = next.add(exchange.request, said, exchange.answer, &self.profiles);
        notes.extend(added);
        let mut written = next.write(&self.redactor);
        let is_dropped = written.is_err() && next.drop_blocks();
        if is_dropped {
            written = next.write(&self.redactor);
        }
        if let Err(why) = written {
            next.drop_last_attempt();
            notes.push(format!("the timeline would not be readable: {why}"));
            return left_out(notes);
        }
        next.last_request = Some(translated);
        let arrived = Rounds::of(exchange.request).last;
        let blocks = arrived.blocks.iter();
        let blocks = blocks.filter(|block| is_dropped || !document::can_hold(block));
        let of_results = arrived.results.iter().flat_map(|result| &result.blocks);
        let mut names: Vec<&str> = blocks.map(|block| &*block.name).collect();
        names.extend(of_results.map(String::as_str));
        if !names.is_empty() {
            names.dedup();
            notes.push(format!(
                "what is no text in the user's message or in a result ({}) is left out",
                names.join(", ")
            ));
        }
        let n_turns = next.turns.len();
        if let Some(id) = &exchange.answer.id
            && self.answers.len() < MAX_IDS
        {
            self.answers.insert(id.clone(), (idx, next.n_turns() - 1));
        }
        let mut changed = vec![idx];
        changed.extend(self.tell_apart(idx, is_new_frame));
        Recorded {
            outcome: match exchange.answer.error {
                None => RecordedOutcome::Turn { turn: n_turns },
                Some(_) => RecordedOutcome::Error { turn: n_turns },
            },
            conversation: Some(idx),
            changed,
            notes,
        }
    }

    /// Writes into the conversations that a request may begin or go on with which says what is said in this one, too, what
    /// tells them apart. Gives those that have changed. Without a new frame, only what goes on from a history is another.
    fn tell_apart(&mut self, idx: usize, is_new_frame: bool) -> Vec<usize> {
        let is_other = |(other, it): &(usize, &Conversation)| {
            let is_concerned = is_new_frame || *other == idx || !it.history.is_empty();
            is_concerned && it.key.is_some() && !it.frames.is_empty()
        };
        let others = self.conversations.iter().enumerate().filter(is_other);
        let texts: Vec<_> = others.map(|(other, it)| (other, it.texts())).collect();
        let Some((_, own)) = texts.iter().find(|(other, _)| *other == idx) else {
            return Vec::new();
        };
        let alike = texts
            .iter()
            .filter(|(_, it)| Conversation::are_alike(own, it));
        let group: Vec<usize> = alike.map(|(other, _)| *other).collect();
        if group.len() < 2 {
            return Vec::new();
        }
        let frames = group.iter().map(|&idx| &*self.conversations[idx].frames);
        let conditions = differences::conditions(&frames.collect::<Vec<_>>(), &self.redactor);
        let mut changed = Vec::new();
        for (idx, condition) in group.into_iter().zip(conditions) {
            let next = &mut self.conversations[idx];
            let mut condition = condition;
            for (name, value) in next.opening.iter().flat_map(Opening::condition) {
                condition.entry(name).or_insert(value);
            }
            if next.condition == condition {
                continue;
            }
            let before = std::mem::replace(&mut next.condition, condition);
            match next.rewrite(&self.redactor) {
                Ok(()) => changed.push(idx),
                Err(_) => next.condition = before,
            }
        }
        changed
    }

    /// By what a request looks like one beside a conversation, by the rules of a player that knows what is recorded.
    fn side_text(&self, request: &Request) -> Option<SideText> {
        let timelines = self
            .conversations
            .iter()
            .filter(|conversation| !conversation.may_be_beside())
            .filter_map(|conversation| conversation.timeline.as_ref());
        AuxiliaryRequests::new(timelines, DEFAULT_MAX_DISTANCE)
            .recording()
            .reply(request, None)
            .map(|reply| reply.by)
    }

    /// The conversation beside which a request stands that looks so: the latest that it holds a text of; of an agent's,
    /// the latest. What looks the same is either beside conversations or, where an application writes titles, one itself.
    fn stands_beside(&self, request: &Request, looks: &Opening) -> Option<usize> {
        let has_it_beside = |it: &Conversation| it.side_calls.iter().any(|it| looks.is_like(it));
        if let Some(idx) = self.conversations.iter().position(has_it_beside) {
            return Some(idx);
        }
        let is_same = |known: &Opening| known.starts_as(looks);
        let mut openings = self.conversations.iter();
        if openings.any(|it| it.opening.as_ref().is_some_and(is_same)) {
            return None;
        }
        let is_beside = |conversation: &Conversation| {
            let concerns = || {
                let timeline = conversation.timeline.as_ref();
                AuxiliaryRequests::new(timeline, DEFAULT_MAX_DISTANCE).concerns(request)
            };
            !conversation.may_be_beside() && (looks.is_of_agent() || concerns())
        };
        self.conversations.iter().rposition(is_beside)
    }

    /// The conversation that was asked for beside the one that `request` begins, as the only one that looks so, and what
    /// becomes of it.
    fn asked_beside(&self, request: &Request) -> Option<(usize, SideCall)> {
        let said = Rounds::of(request).first().normal_texts();
        let mut found = self.conversations.iter().enumerate();
        let (idx, looks) = found.find_map(|(idx, conversation)| {
            let looks = conversation.opening.as_ref()?;
            let concerns = || said.any(|text| conversation.says(text));
            (conversation.may_be_beside() && (looks.is_of_agent() || concerns()))
                .then_some((idx, looks))
        })?;
        let openings = self
            .conversations
            .iter()
            .filter_map(|it| it.opening.as_ref());
        let is_only = openings.filter(|known| known.starts_as(looks)).count() == 1;
        let side_call = self.conversations[idx].as_side_call()?;
        is_only.then_some((idx, side_call))
    }

    /// Records a request beside the conversation `idx`.
    fn side(&mut self, idx: usize, exchange: &RecordedExchange<'_>, looks: &Opening) -> Recorded {
        let answer = exchange.answer;
        if answer.error.is_some() || answer.is_abandoned {
            return side_left_out("it got no answer");
        }
        let Some(reply) = side::only_text(&answer.elements) else {
            return side_left_out("its answer is no text");
        };
        let call = looks.side_call(exchange.request.model.clone(), reply);
        let known = self.conversations.iter().flat_map(|it| &it.side_calls);
        let mut known =
            known.filter(|known| known.pattern == call.pattern && known.model == call.model);
        if let Some(known) = known.next() {
            return match known.reply == call.reply {
                true => side_left_out("a player gives the same answer already"),
                false => side_left_out(&format!(
                    "one like it (`{}`) was answered otherwise before, which a player answers again",
                    known.pattern
                )),
            };
        }
        let is_more = answer.stop_reason.is_some() || answer.elements.len() > 1;
        let next = &mut self.conversations[idx];
        next.side_calls.push(call);
        if let Err(why) = next.rewrite(&self.redactor) {
            next.side_calls.pop();
            return side_left_out(&why);
        }
        let only_text = "of an answer beside the conversation, only the text is kept".to_owned();
        Recorded {
            outcome: RecordedOutcome::Side,
            conversation: Some(idx),
            changed: vec![idx],
            notes: is_more.then_some(only_text).into_iter().collect(),
        }
    }

    /// Learns the secrets that stand in an exchange, known by their key, their place or their looks.
    fn learn(&mut self, exchange: &RecordedExchange<'_>) {
        let mut found = Vec::new();
        let rounds = Rounds::of(exchange.request);
        let has_turns = !self.conversations.is_empty();
        for text in &rounds.last.texts {
            find_credentials_in_text(text, &mut found);
        }
        for result in &rounds.last.results {
            find_credentials_in_text(&result.text, &mut found);
        }
        // What came before was looked at when it was new.
        let parts = exchange
            .request
            .history
            .iter()
            .flat_map(|message| &message.parts);
        for part in parts.filter(|_| !has_turns) {
            match part {
                Part::Text(text) => find_credentials_in_text(text, &mut found),
                Part::Result(result) => find_credentials_in_text(&result.text, &mut found),
                Part::Call(call) => find_credentials(&call.args, &mut found),
                Part::Thinking(_) | Part::Block(_) => {}
            }
        }
        for element in &exchange.answer.elements {
            match element {
                Element::Call(call) => match &call.input {
                    CallInput::Arguments(args) => find_credentials(args, &mut found),
                    CallInput::Text(text) | CallInput::Raw(text) => {
                        find_credentials_in_text(text, &mut found);
                    }
                },
                element => find_credentials_in_text(&element.text(), &mut found),
            }
        }
        found.retain(|secret| {
            let has = |kind: fn(char) -> bool| secret.chars().any(kind);
            let is_mixed = has(char::is_alphabetic) && has(|letter| !letter.is_alphabetic());
            let shortest = if is_mixed {
                SHORTEST_CREDENTIAL
            } else {
                SHORTEST_WORD
            };
            secret.chars().count() >= shortest
        });
        self.add_secrets(found);
    }
}

/// Whether a secret stands in a part of an answer.
fn holds_secret(element: &Element, redactor: &Redactor) -> bool {
    let mut images = element
        .pieces()
        .iter()
        .filter_map(|piece| piece.image.as_ref());
    match element {
        Element::Call(call) => redactor.finds(&call.input_text()),
        element => {
            redactor.finds(&element.text()) || images.any(|image| redactor.finds(&image.data))
        }
    }
}

/// A request beside the conversation that is not recorded: why.
fn side_left_out(why: &str) -> Recorded {
    let note = format!("a request beside the conversation is left out: {why}");
    Recorded {
        outcome: RecordedOutcome::Side,
        ..left_out(vec![note])
    }
}

fn left_out(notes: Vec<String>) -> Recorded {
    Recorded {
        outcome: RecordedOutcome::LeftOut,
        conversation: None,
        changed: Vec::new(),
        notes,
    }
}
