//! Errors as clients get them: `application/problem+json`.

use axum::Json;
use axum::body::Bytes;
use axum::extract::FromRequestParts;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cuecard_runtime::listener::RefusedByListener;
use cuecard_source::json::{changes, read_value};
use serde::de::DeserializeOwned;

use super::service::Service;
use super::shapes::ProblemDocument;

/// Why a request was refused.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    detail: String,
    errors: Vec<String>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            errors: Vec::new(),
        }
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn unscripted() -> Self {
        Self::new(StatusCode::CONFLICT, "this prompt is not the scripted one")
    }

    pub(crate) fn with_errors(mut self, errors: Vec<String>) -> Self {
        self.errors = errors;
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = ProblemDocument {
            kind: "about:blank".to_owned(),
            title: self.status.canonical_reason().unwrap_or("Error").to_owned(),
            status: self.status.as_u16(),
            detail: self.detail,
            errors: self.errors,
        };
        let mut response = (self.status, Json(document)).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}

/// What the guard of the listener refused, as a problem.
pub(crate) async fn of_guard(response: Response) -> Response {
    match response.extensions().get::<RefusedByListener>() {
        Some(RefusedByListener(reason)) => Problem::new(response.status(), reason).into_response(),
        None => response,
    }
}

/// The query of a request.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        read.map(|Query(asked)| Self(asked))
            .map_err(|rejection| Problem::invalid(rejection.body_text()))
    }
}

/// The id in the path of a request.
pub(crate) struct Id(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = Path::<String>::from_request_parts(parts, state).await;
        read.map(|Path(id)| Self(id))
            .map_err(|rejection| Problem::invalid(rejection.body_text()))
    }
}

/// Reads the body of a request.
pub(crate) async fn body<T: DeserializeOwned>(
    service: &Service,
    bytes: &Bytes,
) -> Result<T, Problem> {
    for found in changes("the body of a request", bytes) {
        service.found(found).await;
    }
    let object: serde_json::Map<String, serde_json::Value> = read_value(bytes)
        .and_then(serde_json::from_value)
        .map_err(|error| Problem::invalid(format!("the body is not a JSON object: {error}")))?;
    serde_json::from_value(object.into())
        .map_err(|error| Problem::invalid(format!("the body can't be read: {error}")))
}
