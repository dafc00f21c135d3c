//! What a prompt is to be answered. Does no I/O.

use cuecard_source::diagnostic::{Code, codes};
use cuecard_source::matching::lack;

use super::expected::TurnEnd;
use crate::found::shown;
use crate::peer::Answer;
use crate::script::{AcpScript, scripted_answer};

/// What differs in the answer to a prompt, and the event that scripts it.
pub(super) fn difference(
    script: &AcpScript,
    segment_idx: usize,
    end: &TurnEnd<'_>,
    answer: &Answer,
) -> Option<(Code, usize, String)> {
    let event_idx = script.bounds(segment_idx).0;
    Some(match (end, answer) {
        (TurnEnd::Answer, Ok(answer)) => {
            let lack = lack(&scripted_answer(script, segment_idx), answer);
            let lack = lack?;
            (
                codes::ACP_CONTENT,
                event_idx,
                format!("the answer to the prompt differs at {lack}"),
            )
        }
        (TurnEnd::Answer, Err(error)) => {
            let message = format!("the prompt failed: {} ({})", error.message, error.code);
            (codes::ACP_UNEXPECTED, event_idx, message)
        }
        (TurnEnd::Error { event_idx, error }, Err(came)) => {
            let data = came.data.to_string();
            if came.message.contains(&error.message) || data.contains(&error.message) {
                return None;
            }
            let message = format!(
                "expected the prompt to fail with `{}`, got `{}`",
                error.message, came.message
            );
            (codes::ACP_CONTENT, *event_idx, message)
        }
        (TurnEnd::Error { event_idx, error }, Ok(answer)) => {
            let message = format!(
                "expected the prompt to fail with `{}`, but it was answered with {}",
                error.message,
                shown(answer)
            );
            (codes::ACP_MISSING, *event_idx, message)
        }
        (TurnEnd::Cancel { event_idx, .. }, answer) => {
            let reason = answer.as_ref().map(|answer| &answer["stopReason"]);
            if reason.is_ok_and(|reason| reason == "cancelled") {
                return None;
            }
            let got = match answer {
                Ok(answer) => shown(answer),
                Err(error) => format!("the error `{}`", error.message),
            };
            let message = format!(
                "a prompt that was cancelled is answered with the stop reason `cancelled`, got {got}"
            );
            (codes::ACP_CONTENT, *event_idx, message)
        }
    })
}
