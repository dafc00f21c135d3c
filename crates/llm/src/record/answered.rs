//! From what the wire understood of an answer to what is recorded of it.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use cuecard_source::Span;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::{ResponseError, ServingCount};
use cuecard_timeline::script::recording::{RecordedAnswer, RecordedCall, RecordedElement};
use cuecard_timeline::script::{Endpoint, Piece as ScriptPiece, Request};

use cuecard_wire::llm::answer::{CallInput, Element, Piece};
use cuecard_wire::llm::decode::{Decoded, own_error};
use cuecard_wire::llm::errors::ApiError;
use cuecard_wire::llm::shows_thinking;

/// Headers of an error that clients act on, beside `retry-after` in seconds and what says how much is left of a limit.
const ACTED_ON: &[&str] = &["retry-after-ms", "x-should-retry"];
/// More headers of an error are not recorded.
const MAX_HEADERS: usize = 20;
/// How much of a word of an error is told, in characters.
const SHOWN: usize = 60;

/// What is recorded of an answer to this request.
pub(super) fn recorded(request: &Request, decoded: &Decoded) -> RecordedAnswer {
    let endpoint = request.endpoint;
    RecordedAnswer {
        id: decoded.id.clone(),
        elements: decoded.elements.iter().flat_map(elements).collect(),
        stop_reason: decoded
            .stop_beside_elements()
            .map(|stop| stop.word().to_owned()),
        usage: decoded.usage.map_or(Json::Null, |usage| {
            let mut scripted = usage.to_scripted();
            // Else a player counts what is thought.
            if has_thinking(decoded) && usage.reasoning == 0 && endpoint != Endpoint::Messages {
                scripted["output_tokens_details"] = serde_json::json!({"reasoning_tokens": 0});
            }
            scripted
        }),
        error: decoded.failure.as_ref().map(|(error, _)| ResponseError {
            is_in_stream: request.wants_stream && decoded.elements.is_empty(),
            ..self::error(endpoint, error, &HeaderMap::new())
        }),
        has_unrequested_thinking: has_thinking(decoded) && !shows_thinking(request),
        is_abandoned: false,
    }
}

/// An element, with each image in it apart.
fn elements(element: &Element) -> Vec<RecordedElement> {
    let Element::Text(pieces) = element else {
        return vec![self::element(element)];
    };
    let runs = pieces.chunk_by(|one, next| one.image.is_none() && next.image.is_none());
    let recorded = runs.map(|run| match &run[0].image {
        Some(image) => RecordedElement::Image(image.clone(), run[0].at_ms),
        None => self::element(&Element::Text(run.to_vec())),
    });
    recorded.collect()
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
        Element::Text(said) => RecordedElement::Text(pieces(said)),
        Element::Refusal(said) => RecordedElement::Refusal(pieces(said)),
        Element::Call(call) => {
            let (args, raw) = match &call.input {
                CallInput::Arguments(args) => (args.clone(), None),
                CallInput::Text(text) => (Arc::new(Json::String(text.clone())), None),
                CallInput::Raw(text) => (Arc::new(serde_json::json!({})), Some(text.clone())),
            };
            RecordedElement::Call(RecordedCall {
                id: call.id.clone(),
                name: call.name.clone(),
                args,
                raw,
                at_ms: call.at_ms,
            })
        }
    }
}

/// What is recorded of an error that came with these headers.
pub(super) fn error(endpoint: Endpoint, error: &ApiError, headers: &HeaderMap) -> ResponseError {
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
    ResponseError {
        status: error.status,
        error_type: error.scripted_type(endpoint).map(str::to_owned),
        message: error.message.clone(),
        details: error.details.clone(),
        retry_after_seconds,
        headers: kept.collect(),
        repeat: ServingCount::Times(1),
        is_in_stream: false,
        span: Span::default(),
    }
}

/// What of an answer is not recorded as it was, or not played as it is recorded, one sentence each.
pub(super) fn notes(decoded: &Decoded, request: &Request) -> Vec<String> {
    let endpoint = request.endpoint;
    let left_out = decoded.left_out.iter();
    let mut notes: Vec<String> = left_out
        .map(|name| format!("`{name}` is left out of the model's answer"))
        .collect();
    let changed = decoded.changed.iter();
    notes.extend(changed.map(|what| format!("of the model's answer, {what}")));
    let plays_usage =
        endpoint != Endpoint::Chat || !request.wants_stream || request.wants_stream_usage;
    let name = match endpoint {
        Endpoint::Gemini => "usageMetadata",
        _ => "usage",
    };
    match decoded.usage {
        _ if decoded.failure.is_some() => {}
        None if plays_usage => {
            notes.push(format!(
                "the answer has no `{name}`: it is estimated on replay"
            ));
        }
        Some(_) if !plays_usage => {
            notes.push(
                "the answer has a `usage` that was not asked for: it is not replayed".to_owned(),
            );
        }
        _ => {}
    }
    for element in &decoded.elements {
        if let Element::Call(call) = element
            && let Some(namespace) = &call.namespace
            && !request
                .tools
                .iter()
                .any(|tool| tool.name == call.name && tool.namespace.as_ref() == Some(namespace))
        {
            let name = cut(&call.name, SHOWN);
            notes.push(format!(
                "the `namespace` of the call of `{name}` is left out"
            ));
        }
    }
    if let Some((failure, _)) = &decoded.failure
        && !request.wants_stream
    {
        notes.push(format!(
            "the error came in an answer with status 200: it is replayed with status {}",
            failure.status
        ));
    }
    if let Some((failure, _)) = &decoded.failure {
        let scripted = ApiError::scripted(&error(endpoint, failure, &HeaderMap::new()));
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
    error: &ResponseError,
) -> Vec<String> {
    let is = serde_json::from_slice::<Json>(body).unwrap_or_default();
    let Some(members) = own_error(&is).and_then(Json::as_object) else {
        return vec![
            "the error body is not in this API's format: only its message is replayed".to_owned(),
        ];
    };
    let played = ApiError::scripted(error).body(endpoint);
    let played = serde_json::from_slice::<Json>(&played).unwrap_or_default();
    let lost = members
        .iter()
        .filter(|(name, value)| !value.is_null() && played["error"][*name] != **value);
    let mut notes: Vec<String> = lost.map(|(name, value)| not_played(name, value)).collect();
    if !members.get("message").is_some_and(Json::is_string) {
        notes.push("the error has no `message`: it is replayed with an empty one".to_owned());
    }
    if is.is_array() {
        notes.push("the error is in a list: it is replayed without".to_owned());
    }
    notes
}

fn not_played(name: &str, value: &Json) -> String {
    let shown = match value {
        Json::Null => String::new(),
        value => format!(", which is {},", cut(&value.to_string(), SHOWN)),
    };
    format!(
        "`{}` of the error{shown} is not replayed as recorded",
        cut(name, SHOWN)
    )
}
