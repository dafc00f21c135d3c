//! What the user says with a prompt: what belongs to it, what is missing, and what is said beside it.

use super::super::blocks::{self, ExpectedBlock};
use super::super::llm_script::LlmScript;
use super::super::miss::place_of_span;
use super::super::rounds::{UserSide, fit, list, quote};
use super::super::text::{is_reminder, normalise};
use super::super::turns::{ExpectedInput, Turn};
use super::{Aligner, FieldDifference, Place, Rejection, Step};
use crate::model::{EventKind, OnRepeat};

impl Aligner<'_, '_> {
    /// What the user said before the answer of a turn must have asked for it, and before that for those whose empty answers
    /// were left out.
    pub(super) fn check_said(
        &self,
        place: Place,
        turn_idx: usize,
        side: &UserSide<'_>,
    ) -> Result<(), Rejection> {
        let texts = side.normal_texts();
        let mut from = 0;
        for asked_idx in place.next + usize::from(place.takes_any_text)..=turn_idx {
            let Some(turn) = self.turns.get(asked_idx) else {
                break;
            };
            let (input, arrived) = match asked_idx < turn_idx {
                true => (kept_prompt(self.script, turn), side.texts.get(from)),
                false => (turn.input.as_ref(), side.texts.last()),
            };
            let input = input.filter(|input| input.text.is_some() && !input.is_keys);
            let Some(input) = input else { continue };
            match texts.find(&input.normal, from) {
                // A client that polls says it once.
                Some(_) if self.script.timeline.server.on_repeat == OnRepeat::Next => {}
                Some(used) => from = used,
                None => {
                    let scripted = input.text.as_deref().unwrap_or_default();
                    let arrived = arrived.map_or("none".into(), |text| quote(text));
                    return Err(Rejection::new(
                        asked_idx,
                        format!(
                            "before its answer, the history holds another text of the user's: {arrived} in place of {}",
                            quote(scripted)
                        ),
                    ));
                }
            }
        }
        Ok(())
    }

    /// The inputs that a step holds.
    fn inputs(&self, step: Step) -> impl Iterator<Item = &ExpectedInput> {
        let turns = step.turn_idx.map_or(&[][..], |turn_idx| {
            &self.turns[step.place.next.min(turn_idx)..=turn_idx]
        });
        turns.iter().filter_map(|turn| turn.input.as_ref())
    }

    /// The block that a prompt lacks, and a text or a block that came and is no part of it.
    pub(super) fn blocks(&self, step: Step) -> (Option<FieldDifference>, Option<String>) {
        let side = self.side(step.last_round);
        if self.inputs(step).next().is_none() {
            return (None, None);
        }
        let expected = self.inputs(step).flat_map(|input| &input.blocks);
        let found = blocks::compare(expected, &side.blocks, &side.normal_texts());
        let missing = found.missing.map(|(block, difference)| {
            let names: Vec<&String> = side.blocks.iter().map(|block| &block.name).collect();
            let arrived = match names.is_empty() {
                true => "none".into(),
                false => list(&names),
            };
            FieldDifference {
                field: "blocks",
                expected: block.describe(),
                arrived: difference.unwrap_or(arrived),
            }
        });
        (missing, self.said_more(step, &found.written).or(found.more))
    }

    /// What is said beside a prompt that allows nothing beside it.
    pub(super) fn inexact(&self, step: Step) -> Option<FieldDifference> {
        let exact = self.inputs(step).find(|input| input.is_exact)?;
        let inputs = self.inputs(step);
        let prompts: Vec<&str> = inputs.map(|input| input.normal.as_str()).collect();
        let texts = self.side(step.last_round).normal_texts();
        Some(FieldDifference {
            field: "user text",
            expected: format!("only {}", quote(exact.text.as_deref().unwrap_or_default())),
            arrived: quote(texts.beside(&prompts)?),
        })
    }

    /// A text beside the prompts that a turn answers, if it is none of them, no block `written` into it and no note of an
    /// agent's, or one of them once more.
    fn said_more(&self, step: Step, written: &[&ExpectedBlock]) -> Option<String> {
        let inputs = self.inputs(step).filter(|input| input.text.is_some());
        let prompts: Vec<&str> = inputs.map(|input| input.normal.as_str()).collect();
        let texts = &self.side(step.last_round).texts;
        let said: Vec<String> = texts.iter().map(|text| normalise(text)).collect();
        // One prompt may have come in parts.
        let is_whole = |prompt: &&str| said.iter().any(|text| fit(text, prompt).is_some());
        let is_any = prompts.is_empty() && step.place.takes_any_text;
        if is_any || !prompts.iter().all(is_whole) {
            return None;
        }
        let is_more = |idx: usize| {
            let text = &said[idx];
            let n_before = said[..idx].iter().filter(|before| *before == text).count();
            let prompts = prompts.iter();
            n_before >= prompts.filter(|prompt| fit(text, prompt).is_some()).count()
                && !is_reminder(texts[idx])
                && !written.iter().any(|block| block.is_in(text))
        };
        let more = (0..said.len()).find(|&idx| is_more(idx))?;
        Some(texts[more].to_owned())
    }

    /// An input of a later turn that arrives together with what `turn_idx` waits for.
    pub(super) fn said_too_early(&self, turn_idx: usize) -> Option<FieldDifference> {
        let input = self.turns[turn_idx].input.as_ref();
        let own = input.map(|input| input.normal.as_str());
        let later = self.turns[turn_idx + 1..].iter();
        let later = later.filter_map(|turn| turn.input.as_ref());
        let mut later = later.filter(|input| !input.is_keys && !input.normal.is_empty());
        let early = later.find(|input| {
            Some(input.normal.as_str()) != own && self.last_texts.is_said_with(&input.normal, own)
        })?;
        let own = input.and_then(|input| input.text.as_deref());
        Some(FieldDifference {
            field: "user text",
            expected: own.map_or_else(|| "none".into(), quote),
            arrived: format!(
                "with it {}, which a later turn waits for ({})",
                quote(early.text.as_deref().unwrap_or_default()),
                place_of_span(self.script, early.span)
            ),
        })
    }
}

/// The prompt of a turn that stays in a history though its empty answer may be left out. An input without a response in
/// the script may be one that the model never gets.
pub(in super::super) fn kept_prompt<'t>(
    script: &LlmScript,
    turn: &'t Turn,
) -> Option<&'t ExpectedInput> {
    let event = script.timeline.events.get(turn.event_idx)?;
    let is_kept =
        matches!(event.kind, EventKind::Response(_)) && turn.is_silent() && !turn.is_cancelled;
    let input = turn.input.as_ref().filter(|_| is_kept)?;
    (input.text.is_some() && !input.is_keys).then_some(input)
}

/// The text of a prompt and where it stands.
pub(super) fn scripted_text(script: &LlmScript, input: &ExpectedInput) -> String {
    let text = input.text.as_deref().unwrap_or_default();
    format!("{} ({})", quote(text), place_of_span(script, input.span))
}
