//! Whether a player follows what was recorded.

use std::sync::Arc;

use super::super::align::locate;
use super::super::auxiliary_requests::AuxiliaryRequests;
use super::super::llm_script::LlmScript;
use super::super::miss::Miss;
use super::super::selection::DEFAULT_MAX_DISTANCE;
use super::super::session::Servings;
use super::conversation::Conversation;
use cuecard_source::value::Redactor;

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
        let lost = match locate(&script, &request, &Servings::before_last(&script)) {
            Ok(position) if position.turn_idx + 1 == script.turns.turns.len() => return None,
            Ok(position) => return Some(format!("it gets turn {}", position.turn_idx + 1)),
            Err(lost) if lost.is_unaligned => lost.of_own_history(&script, &request),
            Err(lost) => lost,
        };
        Some(Miss::new(&script, &request, lost).message(&script))
    }
}
