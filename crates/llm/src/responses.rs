//! Responses answers once more, by their ids: as they were sent, else as the script has them.

use std::collections::{HashMap, HashSet};

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::profiles::Profile;
use cuecard_timeline::script::{AdvertisedTool, Endpoint, LlmScript, Request, Turn};
use serde_json::json;

use super::answers;
use super::headers::Query;
use super::mock_server::MockServer;
use super::service::{EVENTS, JSON, respond};
use super::stored::Stored;
use cuecard_wire::llm::answer::{Answer, Element};
use cuecard_wire::llm::errors::ApiError;
use cuecard_wire::llm::events::{Framing, Streaming};
use cuecard_wire::llm::ids::{IdSeed, ResponseId};
use cuecard_wire::llm::route::Route;
use cuecard_wire::llm::usage::Usage;
use cuecard_wire::llm::{stream, write_body};

/// So many items are in a list, if nothing else is asked for.
const PAGE: usize = 20;
/// No list has more.
const MAX_PAGE: usize = 100;

/// What a request about an answer gets.
///
/// # Errors
/// OpenAI's 404 for an answer that is none of ours, or was deleted.
pub(super) fn answer(
    mock_server: &MockServer,
    route: Route<'_>,
    query: Query<'_>,
) -> Result<Response, ApiError> {
    let body = match route {
        Route::Response(id) if query.value("stream") == Some("true") => {
            return again(mock_server, id, |answer| {
                streamed(mock_server, answer, query)
            });
        }
        // Whatever is cancelled is complete: it stays as it is.
        Route::Response(id) | Route::CancelResponse(id) => {
            return again(mock_server, id, |answer| {
                let mut buffer = Vec::new();
                write_body(Endpoint::Responses, answer, &mut buffer);
                respond(StatusCode::OK, JSON, Body::from(buffer))
            });
        }
        Route::DeleteResponse(id) => {
            again(mock_server, id, |_| ())?;
            mock_server.stored.delete(id);
            json!({"id": id, "object": "response", "deleted": true})
        }
        Route::InputItems(id) => {
            let sent = mock_server.stored.of(id).ok_or_else(|| unknown(id))?;
            input_items(id, &sent, query)?
        }
        _ => return Err(ApiError::new(404, "not a route of responses")),
    };
    Ok(respond(StatusCode::OK, JSON, Body::from(body.to_string())))
}

fn unknown(id: &str) -> ApiError {
    ApiError::new(404, format!("Response with id '{id}' not found."))
}

/// Says an answer again.
fn again<T>(
    mock_server: &MockServer,
    id: &str,
    say: impl FnOnce(&Answer<'_>) -> T,
) -> Result<T, ApiError> {
    let known = ResponseId::decode(id).filter(|_| !mock_server.stored.is_deleted(id));
    let known = known.ok_or_else(|| unknown(id))?;
    let mut scripts = mock_server.scripts.iter();
    let script = scripts.find(|script| script.fingerprint == known.scenario);
    let script = script.ok_or_else(|| unknown(id))?;
    let turn = script
        .turn(known.turn as usize)
        .ok_or_else(|| unknown(id))?;
    let sent = mock_server.stored.of(id);
    let made;
    let (model, elements) = match sent.as_deref() {
        Some(Stored {
            model,
            elements: Some(elements),
            ..
        }) => (model.clone(), elements),
        sent => {
            made = elements_again(mock_server, script, turn).ok_or_else(|| unknown(id))?;
            let of_first = || mock_server.remembered().models.first().cloned();
            let model = sent.map(|sent| sent.model.clone()).or_else(of_first);
            (model.unwrap_or_default(), &made)
        }
    };
    let seed = sent.as_ref().map(|sent| sent.seed);
    Ok(say(&Answer {
        seed: seed.unwrap_or_else(|| IdSeed::of(&["stored", id])),
        id: Some(id),
        model: &model,
        created_at: mock_server.created_at,
        elements,
        stop: turn.stop_reason.openai,
        usage: Usage::of(&turn.usage, 0, elements),
        shows_thinking: sent.as_ref().is_some_and(|sent| sent.shows_thinking),
        reasoning_content: false,
        streams_usage: false,
        request: &Json::Null,
        failure: None,
    }))
}

/// How the error for an item begins that is of no answer of ours.
pub(super) const UNKNOWN_ITEM: &str = "Item with id";

/// The body of a request with what earlier answers said in place of references to it; none if it has no references.
///
/// # Errors
/// OpenAI's 404 for an item that is of no answer of ours.
pub(super) fn dereferenced(
    mock_server: &MockServer,
    body: &Json,
) -> Result<Option<Json>, ApiError> {
    let is_reference = |item: &Json| item["type"] == "item_reference";
    let items = body["input"].as_array().map_or(&[][..], Vec::as_slice);
    let mut missing: HashSet<&str> = items
        .iter()
        .filter(|item| is_reference(item))
        .filter_map(|item| item["id"].as_str())
        .collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let mut known: HashMap<String, Json> = HashMap::new();
    for id in mock_server.stored.ids() {
        if missing.is_empty() {
            break;
        }
        let mut buffer = Vec::new();
        if again(mock_server, &id, |answer| {
            write_body(Endpoint::Responses, answer, &mut buffer);
        })
        .is_err()
        {
            continue;
        }
        let mut answer: Json = serde_json::from_slice(&buffer).unwrap_or_default();
        let Json::Array(said) = answer["output"].take() else {
            continue;
        };
        for item in said {
            if let Some(id) = item["id"].as_str()
                && missing.remove(id)
            {
                known.insert(id.to_owned(), item);
            }
        }
    }
    let mut whole = body.clone();
    for item in whole["input"].as_array_mut().into_iter().flatten() {
        if !is_reference(item) {
            continue;
        }
        let id = item["id"].as_str().unwrap_or_default();
        let Some(said) = known.get(id) else {
            let message = format!("{UNKNOWN_ITEM} '{}' not found.", cut(id, 200));
            return Err(ApiError::new(404, message));
        };
        *item = said.clone();
    }
    Ok(Some(whole))
}

/// All events of the stream at once, from the one after `starting_after`.
fn streamed(mock_server: &MockServer, answer: &Answer<'_>, query: Query<'_>) -> Response {
    let streaming = Streaming {
        chunk: mock_server.options.chunk,
        framing: Framing::Sse,
    };
    let events = stream(Endpoint::Responses, answer, streaming);
    let after = query
        .value("starting_after")
        .and_then(|text| text.parse().ok());
    let n_left_out = after.map_or(0, |after: usize| after.saturating_add(1));
    let bytes: Vec<u8> = events
        .iter()
        .skip(n_left_out)
        .flat_map(|event| event.bytes)
        .copied()
        .collect();
    let mut response = respond(StatusCode::OK, EVENTS, Body::from(bytes));
    let no_cache = HeaderValue::from_static("no-cache");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_cache);
    response
}

/// A page of what an answer was asked with, newest first unless asked otherwise.
fn input_items(id: &str, sent: &Stored, query: Query<'_>) -> Result<Json, ApiError> {
    let Some(input) = &sent.input else {
        let message = format!("The input of response '{id}' was too long to be kept.");
        return Err(ApiError::new(404, message));
    };
    let seed = IdSeed::of(&["input", id]);
    let mut items: Vec<Json> = match input {
        Json::Array(items) => items.clone(),
        // It went on from another answer, and said nothing.
        Json::Null => Vec::new(),
        text => vec![json!({
            "type": "message", "role": "user", "status": "completed",
            "content": [{"type": "input_text", "text": text}],
        })],
    };
    for (number, item) in items.iter_mut().enumerate() {
        if item["id"].is_null() {
            item["id"] = seed.id("msg_", number, 40).into();
        }
        if item["type"].is_null() {
            item["type"] = "message".into();
        }
        // What is short for a list of one text.
        if item["type"] == "message" && item["content"].is_string() {
            let kind = match item["role"] == "assistant" {
                true => "output_text",
                false => "input_text",
            };
            item["content"] = json!([{"type": kind, "text": item["content"]}]);
        }
    }
    if query.value("order") != Some("asc") {
        items.reverse();
    }
    if let Some(after) = query.value("after") {
        let from = items.iter().position(|item| item["id"] == after);
        items.drain(..from.map_or(items.len(), |at| at + 1));
    }
    let limit = query.value("limit").and_then(|text| text.parse().ok());
    let limit = limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let has_more = items.len() > limit;
    items.truncate(limit);
    let id_of = |item: Option<&Json>| item.map_or(Json::Null, |item| item["id"].clone());
    Ok(json!({
        "object": "list",
        "first_id": id_of(items.first()),
        "last_id": id_of(items.last()),
        "has_more": has_more,
        "data": items,
    }))
}

/// What a turn says in the words of the agent that usually asks by this API, and calls of other tools as they are
/// written.
fn elements_again(
    mock_server: &MockServer,
    script: &LlmScript,
    turn: &Turn,
) -> Option<Vec<Element>> {
    let attempt = turn.attempts.last()?;
    let mut request = Request::new(Endpoint::Responses);
    let usual = mock_server.calling.profiles.choose(
        &[],
        mock_server.calling.agent.as_ref(),
        request.endpoint.as_str(),
    );
    request.tools = usual.profile.map(Profile::advertised).unwrap_or_default();
    request.tools.extend(
        turn.calls()
            .map(|call| AdvertisedTool::function(call.call.tool.as_str(), Json::Null)),
    );
    let speed = mock_server.options.play.speed;
    let agent = mock_server.calling.of(&request);
    let prepared = answers::prepare(script, turn, attempt, speed, &agent);
    prepared.ok().map(|prepared| prepared.elements)
}
