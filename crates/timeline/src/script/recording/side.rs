//! Requests beside a conversation: how they look, and what a player knows them by.

use serde_json::{Map, json};

use super::super::answer::Element;
use super::super::auxiliary_requests::SideText;
use super::super::request::Request;
use super::super::rounds::{Rounds, fit};
use super::super::text::normalise;
use super::conversation::Conversation;
use super::document;
use cuecard_source::value::{Json, Redactor};

/// How much of a line a request beside a conversation is known by, in characters.
const MAX_START: usize = 120;

/// A request beside the conversation, and its answer.
#[derive(Debug, Clone)]
pub(super) struct SideCall {
    pub pattern: String,
    pub model: String,
    pub reply: String,
}

/// How a conversation begins that looks like a request beside another one: for a title, say.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    by: SideText,
    /// The first line of the text that looks so, or the beginning of that.
    start: String,
}

impl Opening {
    /// How a request looks that looks so `by` one of its texts; `None` if nothing of that may be written.
    pub(super) fn of(by: SideText, request: &Request, redactor: &Redactor) -> Option<Self> {
        let looked_at = match by {
            SideText::Agent | SideText::System => request.system.as_str(),
            SideText::Probe | SideText::User => Rounds::of(request).last_text(),
        };
        let open = document::longest_open_part(redactor, looked_at);
        let line = open.lines().find(|line| !line.trim().is_empty())?;
        Some(Self {
            by,
            start: line.trim().chars().take(MAX_START).collect(),
        })
    }

    /// Whether no application has such a system text.
    pub(super) fn is_of_agent(&self) -> bool {
        self.by == SideText::Agent
    }

    /// Whether one pattern fits both.
    pub(super) fn starts_as(&self, other: &Self) -> bool {
        self.start == other.start
    }

    /// Whether a player takes such a request for this one.
    pub(super) fn is_like(&self, call: &SideCall) -> bool {
        call.pattern == regex::escape(&self.start)
    }

    /// The `match` by which a player knows that such a request begins a conversation.
    pub(super) fn condition(&self) -> Map<String, Json> {
        let place = match self.by {
            SideText::Agent | SideText::System => "system",
            SideText::Probe | SideText::User => "text",
        };
        let test = json!({"contains": self.start});
        Map::from_iter([(place.to_owned(), test)])
    }

    /// How a player answers such a request beside a conversation.
    pub(super) fn side_call(&self, model: String, reply: String) -> SideCall {
        SideCall {
            pattern: regex::escape(&self.start),
            model,
            reply,
        }
    }
}

/// The text of an answer: what the model says in it, images aside.
pub(super) fn spoken<C>(elements: &[Element<C>]) -> String {
    let texts = elements.iter().filter_map(|element| match element {
        Element::Text(pieces) => Some(pieces),
        Element::Thinking(_) | Element::Refusal(_) | Element::Call(_) => None,
    });
    let pieces = texts.flatten().filter(|piece| piece.image.is_none());
    pieces.map(|piece| &*piece.text).collect()
}

/// The text of an answer; `None` if it is none, or has calls.
pub(super) fn only_text<C>(elements: &[Element<C>]) -> Option<String> {
    let has_calls = elements.iter().any(|element| element.call().is_some());
    let text = spoken(elements);
    (!has_calls && !text.trim().is_empty()).then_some(text)
}

impl Conversation {
    /// Whether it may be a request beside another conversation, which has not come yet.
    pub(super) fn may_be_beside(&self) -> bool {
        self.opening.is_some() && self.turns.len() == 1
    }

    /// Whether its user says a normal text first, or more than that.
    pub(super) fn says(&self, text: &str) -> bool {
        let first = self.turns.first();
        first.is_some_and(|turn| fit(&normalise(&turn.said.join("\n")), text).is_some())
    }

    /// The same as a request beside another conversation, if its answer is a text.
    pub(super) fn as_side_call(&self) -> Option<SideCall> {
        let [turn] = &self.turns[..] else { return None };
        let [attempt] = &turn.attempts[..] else {
            return None;
        };
        let is_answer = attempt.error.is_none() && !turn.is_abandoned;
        let reply = only_text(&attempt.parts)?;
        let model = self.models.first().cloned().unwrap_or_default();
        let opening = self.opening.as_ref().filter(|_| is_answer)?;
        Some(opening.side_call(model, reply))
    }
}
