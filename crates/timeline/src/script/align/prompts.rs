//! What the user says with a prompt: what belongs to it, what is missing, and what is said beside it.

use super::super::blocks;
use super::super::miss::place_of_span;
use super::super::rounds::{fit, list, quote};
use super::super::text::normalise;
use super::super::turns::ExpectedInput;
use super::{Aligner, FieldDifference, Step};

impl Aligner<'_, '_> {
    /// The inputs that a step holds.
    fn inputs(&self, step: Step) -> impl Iterator<Item = &ExpectedInput> {
        let turns = step.turn_idx.map_or(&[][..], |turn_idx| {
            &self.turns[step.place.next.min(turn_idx)..=turn_idx]
        });
        turns.iter().filter_map(|turn| turn.input.as_ref())
    }

    /// What is different about the blocks of a prompt, and what came that is none of them.
    pub(super) fn blocks(&self, step: Step) -> (Option<FieldDifference>, Option<String>) {
        let side = self.side(step.last_round);
        if self.inputs(step).next().is_none() {
            return (None, None);
        }
        let expected = self.inputs(step).flat_map(|input| &input.blocks);
        let found = blocks::compare(expected, side, &side.normal_texts());
        let missing = found.missing.map(|(name, is_other)| FieldDifference {
            field: "blocks",
            expected: format!("a block of type `{name}`"),
            arrived: match is_other {
                true => "another one of its kind".into(),
                false if side.blocks.is_empty() => "none".into(),
                false => list(
                    &side
                        .blocks
                        .iter()
                        .map(|block| &block.name)
                        .collect::<Vec<_>>(),
                ),
            },
        });
        let more = found.more.map(|name| format!("a block of type `{name}`"));
        (missing, more)
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

    /// A text beside the prompts that a turn answers, if it is none of them and no note of an agent's, or one of them once
    /// more.
    pub(super) fn said_more(&self, step: Step) -> Option<String> {
        let inputs = self.inputs(step).filter(|input| input.text.is_some());
        let prompts: Vec<&str> = inputs.map(|input| input.normal.as_str()).collect();
        let texts = &self.side(step.last_round).texts;
        let said: Vec<String> = texts.iter().map(|text| normalise(text)).collect();
        // One prompt may have come in parts.
        let is_whole = |prompt: &&str| said.iter().any(|text| fit(text, prompt).is_some());
        if prompts.is_empty() || !prompts.iter().all(is_whole) {
            return None;
        }
        let is_more = |idx: usize| {
            let text = &said[idx];
            let n_before = said[..idx].iter().filter(|before| *before == text).count();
            let prompts = prompts.iter();
            n_before >= prompts.filter(|prompt| fit(text, prompt).is_some()).count()
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
