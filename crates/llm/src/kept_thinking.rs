//! Answers with calls that come back without the thinking they began with, which Anthropic's API refuses.

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::script::{LlmScript, Part, Request, Role, Turn, TurnElement};

use cuecard_wire::llm::errors::ApiError;

/// The refusal of the provider, and T-LLM-11, if the last answer of the history has results behind it, and not the
/// thinking before its calls that the script has.
pub(super) fn refuse(script: &LlmScript, request: &Request) -> Option<(ApiError, Diagnostic)> {
    let [.., answer, results] = &request.history[..] else {
        return None;
    };
    let has_results = results
        .parts
        .iter()
        .any(|part| matches!(part, Part::Result(_)));
    if !request.needs_thinking || !has_results || answer.role != Role::Assistant {
        return None;
    }
    let found = match answer.parts.first()? {
        Part::Thinking(_) => return None,
        Part::Call(_) => "tool_use",
        _ => "text",
    };
    let call = answer.parts.iter().find_map(|part| match part {
        Part::Call(call) => Some(call),
        _ => None,
    });
    let turn = script.turn(script.turn_of_call(&call?.id)?)?;
    if !has_thinking(turn) {
        return None;
    }
    let at = request.history.len() - 2;
    let error = ApiError::new(
        400,
        format!(
            "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When \
             `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the \
             lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from \
             previous turns. To avoid this requirement, disable `thinking`."
        ),
    );
    let message = "a request leaves out the thinking before the calls that it has results for, and the real API would \
                   reject it";
    let diagnostic = Diagnostic::error(codes::MODEL_UNSERVED, message)
        .at(&script.timeline.source, turn.span)
        .with_help("send the thinking blocks back as they came, with their signatures");
    Some((error, diagnostic))
}

/// Whether the answer of the turn begins with thinking.
fn has_thinking(turn: &Turn) -> bool {
    let first = turn
        .attempts
        .last()
        .and_then(|attempt| attempt.elements.first());
    let Some(TurnElement::Thinking(pieces)) = first else {
        return false;
    };
    pieces.iter().any(|piece| !piece.text.is_empty())
}
