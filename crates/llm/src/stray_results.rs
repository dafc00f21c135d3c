//! Results of tools without the calls that they belong to, or said by the model, which each API refuses.

use std::collections::HashSet;

use cuecard_source::value::cut;
use cuecard_timeline::script::{Endpoint, Part, Role};

use cuecard_wire::llm::Received;
use cuecard_wire::llm::errors::ApiError;

/// The refusal of the provider, if a result stands in the request without its call before it, or is the model's.
pub(super) fn refuse(received: &Received) -> Option<ApiError> {
    let Received { request, body } = received;
    // The calls may be in what the provider has kept.
    let is_whole = request.previous.is_none()
        && ["conversation", "prompt", "thread"]
            .iter()
            .all(|key| body[*key].is_null());
    if !is_whole {
        return None;
    }
    // Responses has items in any order; elsewhere results come right behind the answer that calls.
    let is_free = request.endpoint == Endpoint::Responses;
    let is_result = |part: &Part| matches!(part, Part::Result(_));
    let mut calls: HashSet<&str> = HashSet::new();
    let mut role = Role::User;
    for message in &request.history {
        let begins = message.role != std::mem::replace(&mut role, message.role);
        let ends = match message.role {
            Role::Assistant => begins,
            Role::User => !message.parts.iter().any(is_result),
        };
        if ends && !is_free {
            calls.clear();
        }
        for part in &message.parts {
            match part {
                Part::Call(call) => {
                    calls.insert(&call.id);
                }
                Part::Text(_) if request.endpoint == Endpoint::Messages && role == Role::User => {
                    calls.clear();
                }
                Part::Result(result) => {
                    let is_known = match request.endpoint {
                        // Ids are no matter of course there.
                        Endpoint::Gemini => !calls.is_empty(),
                        _ => result.call_id.is_empty() || calls.contains(result.call_id.as_str()),
                    };
                    // The model gives none.
                    if !is_known || role == Role::Assistant {
                        return Some(refusal(request.endpoint, &result.call_id));
                    }
                }
                _ => {}
            }
        }
    }
    None
}

fn refusal(endpoint: Endpoint, id: &str) -> ApiError {
    let id = cut(id, 100);
    let message = match endpoint {
        Endpoint::Messages => format!(
            "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a \
             corresponding `tool_use` block in the previous message."
        ),
        Endpoint::Chat => format!(
            "messages with role 'tool' must be a response to a preceding message with 'tool_calls': there is none \
             with the id {id}"
        ),
        Endpoint::Responses => {
            format!("No tool call found for function call output with call_id {id}.")
        }
        Endpoint::Gemini => "Please ensure that function response turn comes immediately after a function call turn."
            .to_owned(),
    };
    ApiError::new(400, message)
}
