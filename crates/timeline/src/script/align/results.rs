//! Results that have come since the turn before, and what came beside them.

use std::collections::HashSet;

use super::super::request::{RequestedCall, RequestedResult};
use super::super::rounds::{list, quote};
use super::super::text::is_reminder;
use super::{Aligner, FieldDifference, Step};

impl<'r> Aligner<'_, 'r> {
    /// Results must have come for exactly the calls of the turn before, each once.
    pub(super) fn compare_results(
        &self,
        step: Step,
        arrived: &[(&str, &RequestedResult)],
    ) -> Option<FieldDifference> {
        let turn = step.place.after;
        let turn = turn.and_then(|turn_idx| self.turns.get(turn_idx));
        let calls = || turn.iter().flat_map(|turn| turn.calls());
        let is_cancelled = turn.is_some_and(|turn| turn.is_cancelled);
        let has_come = |id: &str| arrived.iter().any(|&(arrived, _)| arrived == id);
        let is_asked = |id: &str| calls().any(|call| call.id == id);
        let is_complete =
            is_cancelled || calls().all(|call| !call.needs_result || has_come(&call.id));
        let mut seen = HashSet::new();
        let is_once = arrived.iter().all(|(id, _)| seen.insert(*id));
        if is_complete && is_once && arrived.iter().all(|&(id, _)| is_asked(id)) {
            return None;
        }
        let shown = |names: &[&str]| match names.is_empty() {
            true => "none".to_owned(),
            false => list(names),
        };
        let expected: Vec<&str> = calls().map(|call| call.id.as_str()).collect();
        let arrived: Vec<&str> = arrived
            .iter()
            .map(|&(id, result)| match id.is_empty() {
                true => result.name.as_str(),
                false => id,
            })
            .collect();
        Some(FieldDifference {
            field: "results",
            expected: shown(&expected),
            arrived: shown(&arrived),
        })
    }

    /// The results of the rounds of a step, each with the id of its call in the script. Where the wire
    /// has no ids, a result belongs to the next call of its name in the history; without a fitting one, or under the name
    /// of another call, its id is empty.
    pub(super) fn results_of(&self, step: Step) -> Vec<(&str, &'r RequestedResult)> {
        let Step {
            place, last_round, ..
        } = step;
        let rounds = place.results_from..=last_round;
        let results = rounds.flat_map(|round_idx| self.side(round_idx).results.iter().copied());
        let calls: Vec<&RequestedCall> = match place.results_from.checked_sub(1) {
            None => Vec::new(),
            Some(first) => self.rounds.answered[first..last_round]
                .iter()
                .flat_map(|(_, said)| said.calls.iter().copied())
                .collect(),
        };
        let mut called: Vec<Option<&str>> =
            calls.iter().map(|call| Some(call.name.as_str())).collect();
        let is_misnamed = |result: &RequestedResult| {
            let mut calls = calls.iter().filter(|call| call.id == result.call_id);
            !result.call_id.is_empty()
                && !result.name.is_empty()
                && calls.any(|call| call.name != result.name)
        };
        let turn = place.after.and_then(|turn_idx| self.turns.get(turn_idx));
        let scripted: Vec<&str> = turn
            .iter()
            .flat_map(|turn| turn.calls())
            .map(|call| call.id.as_str())
            .collect();
        results
            .map(|result| {
                if is_misnamed(result) {
                    return ("", result);
                }
                if !result.call_id.is_empty() {
                    return (result.call_id.as_str(), result);
                }
                let name = Some(result.name.as_str());
                let call_idx = called.iter().position(|called| *called == name);
                if let Some(call_idx) = call_idx {
                    called[call_idx] = None;
                }
                let id = call_idx.and_then(|call_idx| scripted.get(call_idx));
                (id.copied().unwrap_or_default(), result)
            })
            .collect()
    }

    /// What the user says together with the results that a turn waits for, without a word of that in the script.
    pub(super) fn said_beside(&self, step: Step) -> Option<FieldDifference> {
        let place = step.place;
        let mut asked = self.turns[place.next..=step.turn_idx?].iter();
        let is_scripted = place.takes_any_text || asked.any(|turn| turn.input.is_some());
        let before = self.turns.get(place.after?)?;
        if is_scripted || before.is_cancelled || before.calls().next().is_none() {
            return None;
        }
        let texts = &self.side(step.last_round).texts;
        let mut texts = texts.iter().filter(|text| !is_reminder(text));
        Some(FieldDifference {
            field: "user text",
            expected: "none".into(),
            arrived: quote(texts.next()?),
        })
    }
}
