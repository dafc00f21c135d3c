//! Marks in a recording on answers that do what their request does not allow.

use super::super::answer::Element;
use super::super::disobedience::{Disobedience, GivenAnswer, disobediences};
use super::super::request::Request;
use super::conversation::{Attempt, Conversation};
use super::exchange::RecordedAnswer;
use super::side::spoken;
use crate::profiles::Profiles;

impl Conversation {
    /// Marks what an answer does though its request does not allow it, so that a player does it too: calls by
    /// `validate: false`; for what it says in place of a call or of JSON, gives a `stopReason`, which is that of any text.
    pub(super) fn mark_disobedience(
        &mut self,
        request: &Request,
        answer: &RecordedAnswer,
        attempt: &Attempt,
        profiles: &Profiles,
    ) -> Option<String> {
        let made = answer.elements.iter().filter_map(Element::call);
        let names: Vec<&str> = made.map(|call| call.name.as_str()).collect();
        let text = spoken(&answer.elements);
        let given = GivenAnswer {
            calls: &names,
            text: &text,
            is_refusal: attempt.refusal.is_some(),
        };
        let calls: Vec<usize> = attempt.calls().collect();
        let mut own_end = None;
        for found in disobediences(request, given) {
            let marked = match found {
                Disobedience::NoCall | Disobedience::NotJson(_) => {
                    own_end = Some("stop".to_owned());
                    continue;
                }
                Disobedience::Call { call_idx, .. } => calls.get(call_idx),
                Disobedience::Parallel(_) => {
                    let choice = profiles.choose(&request.tools, None, request.endpoint.as_str());
                    let is_known = choice.is_told && choice.profile.is_some();
                    calls.last().filter(|_| !is_known)
                }
            };
            if let Some(&call_idx) = marked {
                self.calls[call_idx].written.is_valid = false;
            }
        }
        own_end
    }
}
