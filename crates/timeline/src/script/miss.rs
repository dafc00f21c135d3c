//! A request that the script does not expect, explained.

use std::fmt::Write as _;

use super::align::{AlignmentError, FieldDifference, Rejection};
use super::distance::{Measured, distance};
use super::llm_script::LlmScript;
use super::request::Request;
use super::rounds::{Rounds, list, quote};
use super::turns::Turn;
use cuecard_source::Span;
use cuecard_source::diagnostic::{Diagnostic, codes};

/// A request that the script does not expect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// The turn that would be next; `None` if the script has ended.
    pub expected_turn: Option<usize>,
    /// What would have to arrive for it.
    pub expected: String,
    /// What arrived.
    pub arrived: String,
    /// The fields that differ.
    pub differences: Vec<FieldDifference>,
    /// The turn of the script that what arrived fits best, if it fits any.
    pub nearest_turn: Option<usize>,
    /// Turns that were considered on the way, and why each was not the one.
    pub rejected: Vec<Rejection>,
}

impl Miss {
    pub(super) fn new(script: &LlmScript, request: &Request, lost: AlignmentError) -> Self {
        let rounds = Rounds::of(request);
        let expected = match lost.expected.and_then(|turn_idx| script.turn(turn_idx)) {
            None => "nothing: the script has ended".to_owned(),
            Some(turn) => {
                // Without a place in the history, it is what the turn before calls for.
                let before = lost.expected.and_then(|idx| idx.checked_sub(1));
                let before = lost.after.or(before).and_then(|idx| script.turn(idx));
                expectation(turn, before.filter(|it| it.is_history == turn.is_history))
            }
        };
        Self {
            expected_turn: lost.expected,
            expected,
            arrived: rounds.last.describe(),
            differences: lost.differences,
            nearest_turn: nearest(script, &rounds).filter(|&idx| Some(idx) != lost.expected),
            rejected: lost.rejected,
        }
    }

    /// The miss as a diagnostic, at the turn that was expected.
    pub fn diagnostic(&self, script: &LlmScript) -> Diagnostic {
        let message = match self.expected_turn {
            Some(turn_idx) => format!(
                "the request is not the one that turn {} waits for: {}",
                turn_idx + 1,
                self.arrived
            ),
            None => format!(
                "the script has ended, but the request continues: {}",
                self.arrived
            ),
        };
        let mut diagnostic = Diagnostic::error(codes::MODEL_MISS, message);
        let turns = &script.turns.turns;
        let place = self
            .expected_turn
            .map_or_else(|| turns.last(), |idx| turns.get(idx));
        if let Some(turn) = place {
            diagnostic = diagnostic
                .at(&script.timeline.source, turn.span)
                .with_pointer(&turn.path)
                .with_label(match self.expected_turn {
                    Some(_) => format!("waits for {}", self.expected),
                    None => "the last turn".to_owned(),
                });
        }
        for line in self.facts(script) {
            diagnostic = diagnostic.with_note(line);
        }
        diagnostic.with_help(
            "correct the timeline or the agent; `--on-miss minimal` answers with an empty message",
        )
    }

    /// The miss in a few lines, for the answer that the client gets.
    pub fn message(&self, script: &LlmScript) -> String {
        let mut text = match self.expected_turn {
            Some(turn_idx) => format!(
                "expected turn {} ({}): {}",
                turn_idx + 1,
                place_of(script, turn_idx),
                self.expected
            ),
            None => format!("script ended: `{}` has no turn left", script.timeline.name),
        };
        let _ = write!(text, "\nreceived: {}", self.arrived);
        for line in self.facts(script) {
            let _ = write!(text, "\n{line}");
        }
        text
    }

    fn facts(&self, script: &LlmScript) -> Vec<String> {
        let differences = self.differences.iter().map(|found| {
            format!(
                "{}: expected {}, received {}",
                found.field, found.expected, found.arrived
            )
        });
        let nearest = self.nearest_turn.map(|turn_idx| {
            format!(
                "nearest: turn {} ({})",
                turn_idx + 1,
                place_of(script, turn_idx)
            )
        });
        let rejected = self.rejected.iter().map(|found| found.explain(script));
        differences.chain(nearest).chain(rejected).collect()
    }
}

/// `file:line` of a turn.
fn place_of(script: &LlmScript, turn_idx: usize) -> String {
    match script.turn(turn_idx) {
        None => script.timeline.source.name().to_owned(),
        Some(turn) => place_of_span(script, turn.span),
    }
}

/// `file:line` of what stands there.
pub(super) fn place_of_span(script: &LlmScript, span: Span) -> String {
    let source = &script.timeline.source;
    format!("{}:{}", source.name(), source.position(span.start).line)
}

impl Rejection {
    /// That the turn is not the one, and why.
    pub fn explain(&self, script: &LlmScript) -> String {
        let (number, place) = (self.turn_idx + 1, place_of(script, self.turn_idx));
        format!("not turn {number} ({place}): {}", self.why)
    }
}

/// What must arrive for `turn`, after the turn `before`.
fn expectation(turn: &Turn, before: Option<&Turn>) -> String {
    let ids: Vec<&str> = before
        .iter()
        .flat_map(|before| before.calls())
        .map(|call| call.id.as_str())
        .collect();
    let mut parts = Vec::new();
    if !ids.is_empty() {
        parts.push(format!("results for {}", list(&ids)));
    }
    match turn.input.as_ref().map(|input| &input.text) {
        Some(Some(text)) => parts.push(format!("the user's text {}", quote(text))),
        Some(None) => parts.push("a user input".to_owned()),
        None if ids.is_empty() => parts.push("any text of the user's".to_owned()),
        None => {}
    }
    parts.join(", and ")
}

/// The turn that what arrived fits best: by a call's id, else by what the user said.
fn nearest(script: &LlmScript, rounds: &Rounds<'_>) -> Option<usize> {
    let by_result = rounds
        .last
        .results
        .iter()
        .find_map(|result| script.turn_of_call(&result.call_id))
        .map(|turn_idx| turn_idx + 1)
        .filter(|&turn_idx| turn_idx < script.turns.turns.len());
    by_result.or_else(|| {
        let texts = rounds.last.normal_texts();
        let said = Measured::new(texts.last()?.to_owned());
        let inputs = script.turns.turns.iter().enumerate();
        inputs
            .filter_map(|(turn_idx, turn)| {
                let scripted = turn.input.as_ref()?;
                let distance = distance(&said, &Measured::new(scripted.normal.clone()), NEAR)?;
                Some((turn_idx, distance))
            })
            .min_by(|(_, one), (_, other)| one.total_cmp(other))
            .map(|(turn_idx, _)| turn_idx)
    })
}

/// What is farther than this is not near.
const NEAR: f64 = 0.5;
