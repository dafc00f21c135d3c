//! A timeline as a script for a model: its schedule and its turns.

use std::collections::HashMap;
use std::sync::Arc;

use super::hashing::short_hash;
use super::request::{Part, Request, Role};
use super::schedule::Schedule;
use super::turns::{Turn, Turns};
use crate::model::Timeline;
use cuecard_source::diagnostic::Diagnostic;

/// A timeline as a script for a model. Shared by all sessions that play it.
#[derive(Debug)]
pub struct LlmScript {
    /// The timeline.
    pub timeline: Arc<Timeline>,
    /// When each of its events is due.
    pub schedule: Schedule,
    /// What the model answers.
    pub turns: Turns,
    /// What the scenario is recognised by after a restart: a hash of its text.
    pub fingerprint: u64,
    /// The turn of each call's id.
    turn_of_call: HashMap<String, usize>,
}

impl LlmScript {
    /// The script of a timeline, and what was found on the way: T-TIME-01, 02, 03, 05 and T-LLM-04, 08, 10.
    pub fn compile(timeline: Arc<Timeline>, is_strict: bool) -> (Self, Vec<Diagnostic>) {
        let scheduled = Schedule::compile(&timeline, is_strict);
        let answered = Turns::compile(&timeline, &scheduled.schedule);
        let mut diagnostics = scheduled.diagnostics;
        let found = answered.diagnostics.into_iter();
        diagnostics.extend(found.map(|found| found.strictly(is_strict)));
        let mut turn_of_call = HashMap::new();
        for (turn_idx, turn) in answered.turns.turns.iter().enumerate() {
            for call in turn.calls() {
                turn_of_call.entry(call.id.clone()).or_insert(turn_idx);
            }
        }
        let script = Self {
            fingerprint: short_hash(&[timeline.name.as_bytes(), timeline.source.text().as_bytes()]),
            timeline,
            schedule: scheduled.schedule,
            turns: answered.turns,
            turn_of_call,
        };
        (script, diagnostics)
    }

    /// Gives each image of this script that comes back in an answer of the history the text that describes it.
    pub fn describe_images(&self, request: &mut Request) {
        let answers = request.history.iter_mut();
        let answers = answers.filter(|message| message.role == Role::Assistant);
        for part in answers.flat_map(|message| &mut message.parts) {
            let Part::Block(block) = part else { continue };
            let mut images = self.turns.turns.iter().flat_map(Turn::images);
            if let Some((_, text)) = images.find(|(image, _)| image.is_in(block)) {
                block.text = text.to_string();
            }
        }
    }

    /// The turn with this index.
    pub fn turn(&self, turn_idx: usize) -> Option<&Turn> {
        self.turns.turns.get(turn_idx)
    }

    /// The turn that makes the call with this id.
    pub fn turn_of_call(&self, id: &str) -> Option<usize> {
        self.turn_of_call.get(id).copied()
    }
}
