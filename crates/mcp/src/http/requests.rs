//! The requests of Streamable HTTP, and what is read of their answers.
//!
//! The SDK has a client of its own. It refuses event streams that WHATWG allows, and JSON with half of a surrogate
//! pair, each with the whole answer.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use cuecard_source::json::without_lone_surrogates;
use cuecard_source::value::cut;
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpClient,
    StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::{Map, Value, json};

use super::super::auth::TokenSource;
use super::super::events::{Events, events};
use super::super::frames::LARGEST_FRAME;
use super::super::link::Link;
use super::watch::Watcher;

pub(in super::super) type HttpError = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

const EVENT_STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";
/// The kinds of answers that are read.
const ACCEPTED: &str = "text/event-stream, application/json";
const SESSION_ID: &str = "Mcp-Session-Id";
const LAST_EVENT_ID: &str = "Last-Event-Id";

/// The key under which the result of a call passes through the SDK: its own types don't hold every number and member.
pub(in super::super) const CARRIED: &str = "cuecard/result";

/// How much of the body of a refusal is read, in bytes.
const LONGEST_REFUSAL: usize = 64 * 1024;

/// Sends requests, with a token of `tokens` if there are any.
#[derive(Clone)]
pub(in super::super) struct Requests {
    pub(super) http: reqwest::Client,
    pub(super) link: Arc<Link>,
    pub(super) tokens: Option<Arc<TokenSource>>,
}

impl Requests {
    /// Sends a request with the token at hand, and once more if the server wants another. A request that was answered
    /// with 401 has had no effect.
    async fn send(
        &self,
        request: RequestBuilder,
        session_id: Option<&str>,
        headers: Headers,
    ) -> Result<Response, HttpError> {
        let mut request = request.headers(headers.into_iter().collect());
        if let Some(id) = session_id {
            request = request.header(SESSION_ID, id);
        }
        let failed = HttpError::Client;
        let Some((tokens, again)) = self.tokens.as_ref().zip(request.try_clone()) else {
            return request.send().await.map_err(failed);
        };
        let token = tokens.current().await;
        if let Some(token) = &token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.map_err(failed)?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let challenge = text(response.headers(), WWW_AUTHENTICATE.as_str()).unwrap_or_default();
        let token = tokens.replace(&challenge, token.as_deref()).await;
        // The SDK has no error of ours to carry; `http::explain` takes it out again.
        let token = token.map_err(|reason| HttpError::Io(io::Error::other(reason)))?;
        again.bearer_auth(token).send().await.map_err(failed)
    }

    /// Reads the response to `message`, which opens a session if it `is_new`.
    async fn read_answer(
        &self,
        message: &ClientJsonRpcMessage,
        is_new: bool,
        response: Response,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let status = response.status();
        refuse_challenge(status, response.headers())?;
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && !is_new {
            return Err(HttpError::SessionExpired);
        }
        let new_session = text(response.headers(), SESSION_ID);
        let kind = text(response.headers(), CONTENT_TYPE.as_str());
        if !status.is_success() {
            let refusal = refusal(message, is_new, kind.as_deref(), response).await?;
            return Ok(StreamableHttpPostResponse::Json(refusal, new_session));
        }
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        // Instead of the 202 that it should be.
        if !is_request && response.content_length() == Some(0) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        match kind.as_deref() {
            Some(kind) if kind.starts_with(EVENT_STREAM) => {
                let events = events(response.bytes_stream(), LARGEST_FRAME);
                Ok(StreamableHttpPostResponse::Sse(events, new_session))
            }
            Some(kind) if kind.starts_with(JSON) => {
                let body = body(response, LARGEST_FRAME).await?;
                let whole = self.link.mended(&body);
                let carried = is_call(message).then(|| carried(&whole)).flatten();
                match serde_json::from_slice(carried.as_deref().unwrap_or(&whole)) {
                    Ok(message) => Ok(StreamableHttpPostResponse::Json(message, new_session)),
                    // Nobody waits for an answer to it.
                    Err(_) if !is_request => Ok(StreamableHttpPostResponse::Accepted),
                    Err(error) => {
                        let shown = cut(&String::from_utf8_lossy(&body), 256).into_owned();
                        let reason = format!("its answer is not a valid message: {error}: {shown}");
                        Err(HttpError::UnexpectedServerResponse(reason.into()))
                    }
                }
            }
            _ => Err(HttpError::UnexpectedContentType(kind)),
        }
    }

    fn watcher(&self) -> Watcher<'_> {
        Watcher { link: &self.link }
    }
}

impl StreamableHttpClient for Requests {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let request = self
            .http
            .post(&*uri)
            .header(ACCEPT, ACCEPTED)
            .json(&message);
        let is_new = session_id.is_none();
        let response = self.send(request, session_id.as_deref(), headers).await?;
        let response = self.read_answer(&message, is_new, response).await?;
        self.watcher().check(response, &message)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        headers: Headers,
    ) -> Result<Events, HttpError> {
        let mut request = self.http.get(&*uri).header(ACCEPT, ACCEPTED);
        if let Some(id) = &last_event_id {
            request = request.header(LAST_EVENT_ID, id);
        }
        let response = self.send(request, session_id.as_deref(), headers).await?;
        let status = response.status();
        if status == StatusCode::METHOD_NOT_ALLOWED {
            return Err(HttpError::ServerDoesNotSupportSse);
        }
        refuse_challenge(status, response.headers())?;
        if let Some(error) = failure(status, response.headers()) {
            return Err(error.into());
        }
        let response = response.error_for_status().map_err(HttpError::Client)?;
        match text(response.headers(), CONTENT_TYPE.as_str()) {
            Some(kind) if kind.starts_with(EVENT_STREAM) || kind.starts_with(JSON) => {
                let events = events(response.bytes_stream(), LARGEST_FRAME);
                // A stream of answers is one that is taken up again; the handshake takes up none.
                Ok(self.watcher().watch(events, None, last_event_id.is_some()))
            }
            kind => Err(HttpError::UnexpectedContentType(kind)),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        let request = self.http.delete(&*uri);
        let response = self.send(request, Some(&session_id), headers).await?;
        // A server that can't end a session is left alone.
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Ok(());
        }
        response.error_for_status().map_err(HttpError::Client)?;
        Ok(())
    }
}

/// Whether a message is a call of a tool.
pub(super) fn is_call(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::CallToolRequest(_)))
}

/// The answer to a call with its result under [`CARRIED`]; `None` for any other message.
pub(super) fn carried(message: &[u8]) -> Option<Vec<u8>> {
    let mut message: Map<String, Value> = serde_json::from_slice(message).ok()?;
    if message.contains_key("method") || message.contains_key("error") {
        return None;
    }
    let result = message.get_mut("result")?;
    *result = json!({ CARRIED: result.take() });
    serde_json::to_vec(&message).ok()
}

/// The message that a refusal with a status is for the SDK.
///
/// # Errors
/// What the status says, if the body is no message.
async fn refusal(
    message: &ClientJsonRpcMessage,
    is_new: bool,
    kind: Option<&str>,
    response: Response,
) -> Result<ServerJsonRpcMessage, HttpError> {
    let status = response.status();
    let is_json = kind.is_some_and(|kind| kind.starts_with(JSON));
    let failure = failure(status, response.headers());
    if let Some(failure) = failure
        && (!is_json || status == StatusCode::TOO_MANY_REQUESTS)
    {
        return Err(failure.into());
    }
    let is_about_auth = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let body = body(response, LONGEST_REFUSAL).await.unwrap_or_default();
    let error = match serde_json::from_slice(&without_lone_surrogates(&body)) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
        _ => None,
    };
    let shown = String::from_utf8_lossy(&body);
    if let ClientJsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && is_new
        && status.is_client_error()
        && !is_about_auth
    {
        // The id is ours: what refuses an unknown method may not know it.
        let error = error.map_or_else(
            || {
                let reason = format!("server/discover rejected with HTTP {status}: {shown}");
                ErrorData::invalid_request(reason, None)
            },
            |error| error.error,
        );
        return Ok(ServerJsonRpcMessage::error(error, Some(request.id.clone())));
    }
    match error {
        Some(error) if is_json && !is_about_auth => Ok(ServerJsonRpcMessage::Error(error)),
        _ if status.is_server_error() => Err(HttpStatusError::new(status.as_u16(), None).into()),
        _ => {
            let reason = format!("HTTP {status}: {shown}");
            Err(HttpError::UnexpectedServerResponse(reason.into()))
        }
    }
}

/// A status that says that the server is busy or broken.
fn failure(status: StatusCode, headers: &HeaderMap) -> Option<HttpStatusError> {
    let is_failure = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    is_failure.then(|| HttpStatusError::new(status.as_u16(), text(headers, RETRY_AFTER.as_str())))
}

/// The server wants a token, or a better one.
fn refuse_challenge(status: StatusCode, headers: &HeaderMap) -> Result<(), HttpError> {
    let Some(challenge) = text(headers, WWW_AUTHENTICATE.as_str()) else {
        return Ok(());
    };
    match status {
        StatusCode::UNAUTHORIZED => Err(HttpError::AuthRequired(AuthRequiredError::new(challenge))),
        StatusCode::FORBIDDEN => Err(HttpError::InsufficientScope(InsufficientScopeError::new(
            challenge, None,
        ))),
        _ => Ok(()),
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

pub(in super::super) async fn body(
    mut response: Response,
    max_size: usize,
) -> Result<Vec<u8>, HttpError> {
    if response
        .content_length()
        .is_some_and(|length| length > max_size as u64)
    {
        return Err(HttpError::ResponseBodyTooLarge { max_size });
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(HttpError::Client)? {
        if chunk.len() > max_size - body.len() {
            return Err(HttpError::ResponseBodyTooLarge { max_size });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
