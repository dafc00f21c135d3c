//! Whether a player follows what was recorded.

use std::sync::Arc;

use super::super::align::{AlignmentError, ConsumedTurns, Located, locate};
use super::super::auxiliary_requests::AuxiliaryRequests;
use super::super::llm_script::LlmScript;
use super::super::miss::Miss;
use super::super::selection::DEFAULT_MAX_DISTANCE;
use super::conversation::Conversation;
use cuecard_source::value::Redactor;

/// Which turns leave no trace in a history: all but the last were played.
struct Played<'a>(&'a LlmScript);

impl ConsumedTurns for Played<'_> {
    fn is_spent(&self, turn_idx: usize) -> bool {
        let turn = self.0.turn(turn_idx);
        let is_last = turn_idx + 1 == self.0.turns.turns.len();
        turn.is_none_or(|turn| !is_last && (turn.is_only_errors() || turn.is_silent()))
    }

    fn is_played(&self, _: usize) -> bool {
        true
    }
}

impl Conversation {
    /// Plays the scenario up to its end: why a player does not follow the last request, with all that it holds of the
    /// conversation, to the last turn.
    pub(super) fn problem(&self, redactor: &Redactor) -> Option<String> {
        let mut request = self.last_request.clone()?;
        let timeline = match self.read_back(0..self.turns.len(), redactor) {
            Ok(timeline) => Arc::new(timeline),
            Err(why) => return Some(format!("it can't be read: {why}")),
        };
        let side = AuxiliaryRequests::new([&*timeline], DEFAULT_MAX_DISTANCE);
        let (script, _) = LlmScript::compile(timeline, false);
        script.describe_images(&mut request);
        let last = script.turns.turns.last()?;
        let expected = last.input.as_ref().map(|input| input.normal.as_str());
        if let Some(reply) = side.reply(&request, expected) {
            return Some(format!("it is taken for a side call: {}", reply.why));
        }
        let lost = match locate(&script, &request, &Played(&script)) {
            Located::At(position) if position.turn_idx + 1 == script.turns.turns.len() => {
                return None;
            }
            Located::At(position) => {
                return Some(format!("it gets turn {}", position.turn_idx + 1));
            }
            Located::Nowhere(lost) => lost,
            Located::Unaligned(rejected) => {
                AlignmentError::with_history_of_its_own(&script, &request, rejected)
            }
        };
        Some(Miss::new(&script, &request, lost).message(&script))
    }
}
