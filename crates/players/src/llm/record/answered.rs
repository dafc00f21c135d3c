//! From what the wire understood of an answer to what is recorded of it.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use cuecard_core::script::timeline::recording::{
    RecordedAnswer, RecordedCall, RecordedElement, RecordedError,
};
use cuecard_core::script::timeline::{Endpoint, Piece as ScriptPiece};
use cuecard_core::value::Json;

use crate::wire::llm::answer::{CallInput, Element, Piece};
use crate::wire::llm::decode::Decoded;
use crate::wire::llm::errors::ApiError;

/// Headers of an error that clients act on, beside `retry-after` in seconds and what says how much is left of a limit.
const ACTED_ON: &[&str] = &["retry-after-ms", "x-should-retry"];
/// More headers of an error are not recorded.
const MAX_HEADERS: usize = 20;

/// What is recorded of an answer.
pub(super) fn recorded(endpoint: Endpoint, decoded: &Decoded) -> RecordedAnswer {
    RecordedAnswer {
        id: decoded.id.clone(),
        elements: decoded.elements.iter().map(element).collect(),
        stop_reason: decoded
            .stop_beside_elements()
            .map(|stop| stop.anthropic().to_owned()),
        usage: decoded
            .usage
            .as_ref()
            .map_or(Json::Null, crate::wire::llm::usage::Usage::to_scripted),
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
