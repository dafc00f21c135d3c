//! What is doubtful about a request although it gets a turn.

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::cut;
use cuecard_timeline::script::{
    Endpoint, HistoryAnswer, LlmScript, Request, Served, UserDifferenceKind,
};

use super::answers::{self, AgentMapping};
use super::mock_server::MockServer;

impl MockServer {
    /// T-LLM-05 and T-LLM-09 of a request that gets a turn.
    pub(super) fn doubts(
        &self,
        script: &LlmScript,
        served: &Served,
        request: &Request,
    ) -> Vec<Diagnostic> {
        let source = &script.timeline.source;
        let mut found = Vec::new();
        if let Some(rejected) = &served.unaligned
            && let Some(turn) = served.turn(script)
        {
            let message = "the history of a request does not match the script; the session continues where it was";
            let mut note = Diagnostic::note(codes::MODEL_UNALIGNED, message).at(source, turn.span);
            for rejected in rejected {
                note = note.with_note(rejected.explain(script));
            }
            found.push(self.findings.strictly_noted(note));
        }
        for differing in &served.user_differences {
            let Some(turn) = script.turn(differing.turn_idx) else {
                continue;
            };
            // Chat programs send an empty text with a picture.
            if differing.kind == UserDifferenceKind::Additional && differing.text.trim().is_empty()
            {
                continue;
            }
            let (message, what) = match differing.kind {
                UserDifferenceKind::Additional => (
                    "the user message contains more than the prompt of this turn",
                    "additional text",
                ),
                UserDifferenceKind::MissingBlock => (
                    "the history of a request lacks a part of the prompt of this turn",
                    "missing",
                ),
            };
            let note = Diagnostic::note(codes::MODEL_UNALIGNED, message).at(source, turn.span);
            let note = note.with_note(format!("{what}: {:?}", cut(&differing.text, 200)));
            found.push(self.findings.strictly_noted(note));
        }
        for differing in &served.differing_results {
            let message = format!(
                "the result of `{}` is not the scripted one",
                differing.call_id
            );
            let span = script
                .turn_of_call(&differing.call_id)
                .and_then(|turn_idx| script.turn(turn_idx))
                .and_then(|turn| turn.calls().find(|call| call.id == differing.call_id))
                .map_or_else(Default::default, |call| call.call.span);
            let differs = Diagnostic::warning(codes::MODEL_RESULT_DIFFERS, message)
                .at(source, span)
                .with_note(format!("expected: {}", differing.expected))
                .with_note(format!("received: {}", differing.arrived));
            found.push(self.findings.strictly(differs));
        }
        let agent = self.calling.of(request);
        // In a message of Chat the text and the calls stand apart.
        let has_order = request.endpoint != Endpoint::Chat;
        for answer in served.history(script, request) {
            found.extend(self.changed_answer(script, &answer, &agent, has_order));
        }
        found
    }

    /// T-LLM-09 for an answer that the history holds otherwise than it was given.
    fn changed_answer(
        &self,
        script: &LlmScript,
        held: &HistoryAnswer<'_>,
        agent: &AgentMapping<'_>,
        has_order: bool,
    ) -> Option<Diagnostic> {
        let turn = script.turn(held.turn_idx)?;
        let mut changed = Vec::new();
        if !turn.is_said_in(&held.text) {
            let (sent, text) = (turn.text(), cut(&held.text, 200));
            changed.push(format!(
                "the text was {:?}, and is {text:?}",
                cut(&sent, 200)
            ));
        } else if has_order && !turn.is_in_order(&held.texts) {
            changed.push(format!(
                "the text stands elsewhere between the calls: it was {}, and is {}",
                cut(&around_calls(&turn.texts()), 200),
                cut(&around_calls(&held.texts), 200)
            ));
        }
        if !turn.has_images(&held.images) {
            changed.push("an image is that of another answer".to_owned());
        }
        let speed = self.options.play.speed;
        if !held.calls.is_empty()
            && let Some(attempt) = turn.attempts.last()
            && let Ok(sent) = answers::prepare(script, turn, attempt, speed, agent)
        {
            let changes = answers::changed(&sent.elements, &held.calls, agent.profile());
            changed.extend(changes);
        }
        if changed.is_empty() {
            return None;
        }
        let message =
            "the history of a request contains a different answer than the one that was sent";
        let mut note = Diagnostic::note(codes::MODEL_UNALIGNED, message)
            .at(&script.timeline.source, turn.span);
        for change in changed {
            note = note.with_note(change);
        }
        Some(self.findings.strictly_noted(note))
    }
}

/// Texts and the calls between them, in words.
fn around_calls(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    texts.join(", a call, ")
}
