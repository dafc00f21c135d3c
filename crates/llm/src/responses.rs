//! Responses answers once more, by their ids, as they were sent.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use cuecard_source::value::{Json, cut};
use lru::LruCache;
use serde_json::json;

use super::service::{JSON, respond};
use cuecard_wire::llm::errors::ApiError;
use cuecard_wire::llm::route::Route;

/// Older answers are forgotten.
const MAX_STORED: NonZeroUsize = NonZeroUsize::new(1_000).expect("it is not 0");

/// How the error for an item begins that is of no answer of ours.
pub(super) const UNKNOWN_ITEM: &str = "Item with id";

/// The answers that were sent last.
#[derive(Debug)]
pub(super) struct StoredResponses {
    /// The bodies by id; none of an answer that was deleted, or not to be stored.
    bodies: Mutex<LruCache<String, Option<Arc<[u8]>>>>,
}

impl Default for StoredResponses {
    fn default() -> Self {
        Self {
            bodies: Mutex::new(LruCache::new(MAX_STORED)),
        }
    }
}

impl StoredResponses {
    fn lock(&self) -> MutexGuard<'_, LruCache<String, Option<Arc<[u8]>>>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the body of an answer, or that it has none any more; the oldest one goes.
    pub(super) fn keep(&self, id: &str, body: Option<Vec<u8>>) {
        self.lock().put(id.to_owned(), body.map(Arc::from));
    }

    /// Whether the answer with this id was deleted, or not to be stored.
    pub(super) fn is_deleted(&self, id: &str) -> bool {
        matches!(self.lock().peek(id), Some(None))
    }

    /// What a request about an answer gets.
    ///
    /// # Errors
    /// OpenAI's 404 for an answer that is none of ours, or was deleted.
    pub(super) fn answer(&self, route: Route<'_>) -> Result<Response, ApiError> {
        let (Route::Response(id) | Route::DeleteResponse(id)) = route else {
            return Err(ApiError::new(404, "not a route of responses"));
        };
        let known = self.lock().peek(id).cloned().flatten();
        let body = known.ok_or_else(|| {
            ApiError::new(
                404,
                format!("Response with id '{}' not found.", cut(id, 200)),
            )
        })?;
        let body = match route {
            Route::DeleteResponse(_) => {
                self.keep(id, None);
                let deleted = json!({"id": id, "object": "response", "deleted": true});
                Body::from(deleted.to_string())
            }
            _ => Body::from(body.to_vec()),
        };
        Ok(respond(StatusCode::OK, JSON, body))
    }

    /// The body of a request with what earlier answers said in place of references to it; none if it has no references.
    ///
    /// # Errors
    /// OpenAI's 404 for an item that is of no answer of ours.
    pub(super) fn dereferenced(&self, body: &Json) -> Result<Option<Json>, ApiError> {
        let is_reference = |item: &Json| item["type"] == "item_reference";
        let items = body["input"].as_array().map_or(&[][..], Vec::as_slice);
        let references = items.iter().filter(|item| is_reference(item));
        let wanted: HashSet<&str> = references.filter_map(|item| item["id"].as_str()).collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        let bodies: Vec<Arc<[u8]>> = self
            .lock()
            .iter()
            .filter_map(|(_, body)| body.clone())
            .collect();
        // Most hold none of them, and need not be read.
        let holds_one = |body: &&Arc<[u8]>| {
            let text = std::str::from_utf8(body).unwrap_or_default();
            wanted.iter().any(|id| text.contains(id))
        };
        let outputs = bodies.iter().filter(holds_one).map(|body| {
            let mut answer: Json = serde_json::from_slice(body).unwrap_or_default();
            answer["output"].take()
        });
        let items = outputs.filter_map(|output| match output {
            Json::Array(items) => Some(items),
            _ => None,
        });
        let items = items.flatten();
        let known = items.filter_map(|item| Some((item["id"].as_str()?.to_owned(), item)));
        let known: HashMap<String, Json> = known.filter(|(id, _)| wanted.contains(&**id)).collect();
        let mut whole = body.clone();
        let items = whole["input"].as_array_mut().into_iter().flatten();
        for item in items.filter(|item| is_reference(item)) {
            let id = item["id"].as_str().unwrap_or_default();
            *item = known.get(id).cloned().ok_or_else(|| {
                ApiError::new(404, format!("{UNKNOWN_ITEM} '{}' not found.", cut(id, 200)))
            })?;
        }
        Ok(Some(whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes() {
        let stored = StoredResponses::default();
        for number in 0..=MAX_STORED.get() {
            stored.keep(&format!("resp_{number}"), Some(Vec::new()));
        }
        assert!(stored.answer(Route::Response("resp_0")).is_err());
        assert!(stored.answer(Route::Response("resp_1")).is_ok());
        assert!(stored.answer(Route::DeleteResponse("resp_1")).is_ok());
        assert!(stored.is_deleted("resp_1"));
        assert!(stored.answer(Route::Response("resp_1")).is_err());
    }
}
