//! What is doubtful about a request although it gets a turn.

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::cut;
use cuecard_timeline::script::{LlmScript, Request, Served};

use super::answers;
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
        if let Some(more) = &served.said_more
            && let Some(turn) = served.turn(script)
        {
            let message = "the user message contains more than the prompt of this turn";
            let note = Diagnostic::note(codes::MODEL_UNALIGNED, message).at(source, turn.span);
            let note = note.with_note(format!("additional text: {:?}", cut(more, 200)));
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
        found.extend(self.changed_calls(script, served, request));
        found
    }

    /// T-LLM-09 for calls of the turn before that the history holds otherwise than they were made.
    fn changed_calls(
        &self,
        script: &LlmScript,
        served: &Served,
        request: &Request,
    ) -> Option<Diagnostic> {
        let turn = script.turn(served.after?)?;
        let first = turn.calls().next()?;
        let attempt = turn.attempts.last()?;
        let speed = self.options.play.speed;
        let prepared = answers::prepare(script, turn, attempt, request, speed, &self.calling);
        let mut changed = match prepared {
            Ok(prepared) => {
                let profile = self.calling.choose(request).profile;
                answers::changed(&prepared.elements, request, profile)
            }
            Err(_) => Vec::new(),
        };
        if let Some(text) = &served.changed_text {
            let (said, text) = (turn.text(), cut(text, 200));
            changed.push(format!(
                "the text was {:?}, and is {text:?}",
                cut(&said, 200)
            ));
        }
        if changed.is_empty() {
            return None;
        }
        let message = "the history of a request contains a different answer with calls than the one that was sent";
        let mut note = Diagnostic::note(codes::MODEL_UNALIGNED, message)
            .at(&script.timeline.source, first.call.span);
        for change in changed {
            note = note.with_note(change);
        }
        Some(self.findings.strictly_noted(note))
    }
}
