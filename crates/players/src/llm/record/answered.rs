//! From what the wire understood of an answer to what is recorded of it.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use cuecard_core::script::timeline::recording::{
    RecordedAnswer, RecordedCall, RecordedElement, RecordedError,
};
use cuecard_core::script::timeline::{Endpoint, Piece as ScriptPiece, Request};
use cuecard_core::value::{Json, cut};

use crate::wire::llm::answer::{CallInput, Element, Piece};
use crate::wire::llm::decode::Decoded;
use crate::wire::llm::errors::ApiError;
use crate::wire::llm::shows_thinking;

/// Headers of an error that clients act on, beside `retry-after` in seconds and what says how much is left of a limit.
const ACTED_ON: &[&str] = &["retry-after-ms", "x-should-retry"];
/// More headers of an error are not recorded.
const MAX_HEADERS: usize = 20;
/// How much of a word of an error is told, in characters.
const SHOWN: usize = 60;

/// What is recorded of an answer.
pub(super) fn recorded(endpoint: Endpoint, decoded: &Decoded) -> RecordedAnswer {
    RecordedAnswer {
        id: decoded.id.clone(),
        elements: decoded.elements.iter().map(element).collect(),
        stop_reason: decoded
            .stop_beside_elements()
            .map(|stop| stop.anthropic().to_owned()),
        usage: decoded.usage.map_or(Json::Null, |usage| {
            let mut scripted = usage.to_scripted();
            // Else a player counts what is thought.
            if has_thinking(decoded) && usage.reasoning == 0 && endpoint != Endpoint::Messages {
                scripted["output_tokens_details"] = serde_json::json!({"reasoning_tokens": 0});
            }
            scripted
        }),
        error: decoded
            .failure
            .as_ref()
            .map(|(error, _)| self::error(endpoint, error, &HeaderMap::new())),
        is_abandoned: false,
    }
}

fn element(element: &Element) -> RecordedElement {
    let pieces = |pieces: &[Piece]| -> Vec<ScriptPiece> {
        let pieces = pieces.iter().map(|piece| ScriptPiece {
            at_ms: piece.at_ms,
            text: piece.text.clone(),
        });
        pieces.collect()
    };
    match element {
        Element::Thinking(thought) => RecordedElement::Thinking(pieces(thought)),
        Element::Text(said) | Element::Refusal(said) => RecordedElement::Text(pieces(said)),
        Element::Call(call) => RecordedElement::Call(RecordedCall {
            id: call.id.clone(),
            name: call.name.clone(),
            args: match &call.input {
                CallInput::Arguments(args) => args.clone(),
                CallInput::Text(text) | CallInput::Raw(text) => {
                    Arc::new(Json::String(text.clone()))
                }
            },
            at_ms: call.at_ms,
        }),
    }
}

/// What is recorded of an error that came with these headers.
pub(super) fn error(endpoint: Endpoint, error: &ApiError, headers: &HeaderMap) -> RecordedError {
    let retry_after = headers
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    let retry_after_seconds = retry_after.and_then(|value| value.trim().parse().ok());
    let is_acted_on = |name: &str| ACTED_ON.contains(&name) || name.contains("limit");
    let kept = headers
        .iter()
        .filter(|(name, _)| is_acted_on(name.as_str()))
        .filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        })
        .take(MAX_HEADERS);
    RecordedError {
        status: error.status,
        error_type: error.scripted_type(endpoint).map(str::to_owned),
        message: error.message.clone(),
        details: error.details.clone(),
        retry_after_seconds,
        headers: kept.collect(),
    }
}

/// What of an answer is not recorded as it was, or not played as it is recorded, one sentence each.
pub(super) fn notes(endpoint: Endpoint, decoded: &Decoded, request: &Request) -> Vec<String> {
    let left_out = decoded.left_out.iter();
    let mut notes: Vec<String> = left_out
        .map(|name| format!("`{name}` is left out of the model's answer"))
        .collect();
    let changed = decoded.changed.iter();
    notes.extend(changed.map(|what| format!("of the model's answer, {what}")));
    if has_thinking(decoded) && !shows_thinking(request) {
        let names = match endpoint {
            Endpoint::Chat => "`reasoning_content`, `reasoning`",
            Endpoint::Messages | Endpoint::Gemini => "`thinking`",
            Endpoint::Responses => "`reasoning`",
        };
        notes.push(format!(
            "what the model thinks ({names}) is recorded, and no player says it to such a request"
        ));
    }
    let plays_usage =
        endpoint != Endpoint::Chat || !request.wants_stream || request.wants_stream_usage;
    match decoded.usage {
        _ if decoded.failure.is_some() => {}
        None if plays_usage => {
            notes.push("the answer has no `usage`: a player counts".to_owned());
        }
        Some(_) if !plays_usage => {
            notes.push(
                "the answer has a `usage` that was not asked for: no player says it".to_owned(),
            );
        }
        _ => {}
    }
    if let Some((failure, _)) = &decoded.failure {
        let scripted =
            ApiError::scripted(&error(endpoint, failure, &HeaderMap::new()).to_scripted());
        let lost = failure.lost_in_stream(&scripted, endpoint);
        notes.extend(lost.into_iter().map(|name| not_played(name, &Json::Null)));
    }
    notes
}

fn has_thinking(decoded: &Decoded) -> bool {
    let mut elements = decoded.elements.iter();
    elements.any(|element| matches!(element, Element::Thinking(_)))
}

/// What of an error is not played as it was, one sentence each.
pub(super) fn notes_on_error(
    endpoint: Endpoint,
    body: &[u8],
    error: &RecordedError,
) -> Vec<String> {
    let is = serde_json::from_slice::<Json>(body).unwrap_or_default();
    let Some(members) = is["error"].as_object() else {
        return vec![
            "the error is not in the words of its API: a player says its text in these".to_owned(),
        ];
    };
    let played = ApiError::scripted(&error.to_scripted()).body(endpoint);
    let played = serde_json::from_slice::<Json>(&played).unwrap_or_default();
    let lost = members
        .iter()
        .filter(|(name, value)| !value.is_null() && played["error"][*name] != **value);
    lost.map(|(name, value)| not_played(name, value)).collect()
}

fn not_played(name: &str, value: &Json) -> String {
    let shown = match value {
        Json::Null => String::new(),
        value => format!(", which is {},", cut(&value.to_string(), SHOWN)),
    };
    format!(
        "`{}` of the error{shown} is not played as it is",
        cut(name, SHOWN)
    )
}
