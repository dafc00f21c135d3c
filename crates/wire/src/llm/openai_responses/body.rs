//! The object that is a Responses answer, and that repeats much of its request.

use cuecard_source::value::Json;
use serde_json::json;

use super::super::answer::Answer;

/// How far the answer is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State<'a> {
    InProgress,
    /// Done, or incomplete for this reason.
    Done(Option<&'static str>),
    /// Failed with this code and message.
    Failed(&'static str, &'a str),
}

/// The answer with these items.
pub(super) fn body(answer: &Answer<'_>, id: &str, state: State<'_>, output: &[Json]) -> Json {
    // What the request says, or else what the provider takes.
    let asked = |name: &str, default: Json| match answer.request.get(name) {
        None | Some(Json::Null) => default,
        Some(asked) => asked.clone(),
    };
    let (status, error, incomplete) = match state {
        State::InProgress => ("in_progress", Json::Null, Json::Null),
        State::Done(None) => ("completed", Json::Null, Json::Null),
        State::Done(Some(reason)) => ("incomplete", Json::Null, json!({ "reason": reason })),
        State::Failed(code, message) => (
            "failed",
            json!({"code": code, "message": message}),
            Json::Null,
        ),
    };
    let usage = &answer.usage;
    let usage = matches!(state, State::Done(_)).then(|| {
        json!({
            "input_tokens": usage.input,
            "input_tokens_details": {
                "cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written,
            },
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.total(),
        })
    });
    json!({
        "id": id,
        "object": "response",
        "created_at": answer.created_at,
        "status": status,
        "background": false,
        "completed_at": (status == "completed").then_some(answer.created_at),
        "error": error,
        "incomplete_details": incomplete,
        "instructions": asked("instructions", Json::Null),
        "max_output_tokens": asked("max_output_tokens", Json::Null),
        "max_tool_calls": asked("max_tool_calls", Json::Null),
        "model": answer.model,
        "output": output,
        "parallel_tool_calls": asked("parallel_tool_calls", true.into()),
        "previous_response_id": asked("previous_response_id", Json::Null),
        "prompt_cache_key": asked("prompt_cache_key", Json::Null),
        "reasoning": asked("reasoning", json!({"effort": null, "summary": null})),
        "safety_identifier": asked("safety_identifier", Json::Null),
        "service_tier": "default",
        "store": asked("store", true.into()),
        "temperature": asked("temperature", 1.0.into()),
        "text": asked("text", json!({"format": {"type": "text"}})),
        "tool_choice": asked("tool_choice", "auto".into()),
        "tools": asked("tools", json!([])),
        "top_logprobs": asked("top_logprobs", 0.into()),
        "top_p": asked("top_p", 1.0.into()),
        "truncation": asked("truncation", "disabled".into()),
        "usage": usage,
        "user": asked("user", Json::Null),
        "metadata": asked("metadata", json!({})),
    })
}
