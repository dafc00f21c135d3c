//! Requests with an `Idempotency-Key`: what was done once is answered again.

use std::collections::HashMap;
use std::sync::Arc;

use axum::RequestExt as _;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use cuecard_source::value::Json;

use super::problem::Problem;
use super::service::{Service, lock};

/// More keys are refused; a service with more sessions takes as many as it has sessions.
const MOST_KEYS: usize = 10_000;

/// What a request has made or changed: a key lasts as long as it is there. Handlers add it to their answers.
#[derive(Debug, Clone)]
pub(crate) enum Made {
    /// Sessions, of which one is enough.
    Sessions(Vec<String>),
    /// A draft.
    Draft(String),
}

/// What was asked with each key, and the answer.
pub(crate) type Keys = HashMap<String, Answered>;

#[derive(Debug)]
pub(crate) struct Answered {
    asked: Asked,
    made: Made,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// A request: its path, the scenario that it names and its body, as JSON if it is some.
#[derive(Debug, PartialEq)]
struct Asked(String, Option<Bytes>, Result<Json, Bytes>);

impl Answered {
    fn is_there(&self, service: &Service) -> bool {
        match &self.made {
            Made::Sessions(ids) => ids.iter().any(|id| service.session(id).is_ok()),
            Made::Draft(id) => lock(&service.drafts).contains_key(id),
        }
    }
}

/// Answers a POST with a key that was answered before as it was then. A request has its key until it is answered, so of
/// several at once only one does something.
pub(crate) async fn once(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let key = request.headers().get("idempotency-key");
    let Some(key) = key.filter(|_| request.method() == Method::POST) else {
        return next.run(request).await;
    };
    let Ok(key) = key.to_str().map(str::to_owned) else {
        return Problem::invalid("the header `idempotency-key` is not text").into_response();
    };
    let (parts, body) = request.with_limited_body().into_parts();
    let bytes = match Request::new(body).extract::<Bytes, _>().await {
        Ok(bytes) => bytes,
        Err(rejection) => return rejection.into_response(),
    };
    let asked = Asked(
        parts.uri.path().to_owned(),
        parts
            .headers
            .get("x-scenario-name")
            .map(|name| Bytes::copy_from_slice(name.as_bytes())),
        serde_json::from_slice(&bytes).map_err(|_| bytes.clone()),
    );
    let mut keys = service.keys.lock().await;
    let most = service.options.play.max_sessions.max(MOST_KEYS);
    if keys.len() >= most {
        keys.retain(|_, answered| answered.is_there(&service));
    }
    match keys
        .get(&key)
        .filter(|answered| answered.is_there(&service))
    {
        Some(answered) if answered.asked == asked => {
            let body = Body::from(answered.body.clone());
            return (answered.status, answered.headers.clone(), body).into_response();
        }
        Some(_) => {
            let detail = "this `Idempotency-Key` was used for another request";
            return Problem::new(StatusCode::CONFLICT, detail).into_response();
        }
        None if keys.len() >= most => {
            let detail = format!(
                "there are {most} `Idempotency-Key`s already: delete their sessions and drafts"
            );
            return Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).into_response();
        }
        None => {}
    }
    let request = Request::from_parts(parts, Body::from(bytes));
    let (parts, body) = next.run(request).await.into_parts();
    // The answers of this service are whole when they begin.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    if let Some(made) = parts.extensions.get::<Made>() {
        let answered = Answered {
            asked,
            made: made.clone(),
            status: parts.status,
            headers: parts.headers.clone(),
            body: body.clone(),
        };
        keys.insert(key, answered);
    }
    Response::from_parts(parts, Body::from(body))
}
