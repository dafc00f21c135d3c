//! The HTTP client of the Streamable HTTP transport, with a token where the server wants one.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use futures::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse};

use super::{Challenge, NoToken, TokenSource};

type HttpError = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// Sends requests, with a token of `tokens` if there are any.
#[derive(Clone)]
pub(in super::super) struct HttpClient {
    http: reqwest::Client,
    tokens: Option<Arc<TokenSource>>,
}

impl HttpClient {
    pub(in super::super) fn new(http: reqwest::Client, tokens: Option<TokenSource>) -> Self {
        Self {
            http,
            tokens: tokens.map(Arc::new),
        }
    }

    /// Sends with the token at hand, and once more if the server wants another. A request that was answered
    /// with 401 has had no effect.
    async fn authorized<T, F>(
        &self,
        send: impl Fn(reqwest::Client, Option<String>) -> F,
    ) -> Result<T, HttpError>
    where
        F: Future<Output = Result<T, HttpError>> + Send,
    {
        let Some(tokens) = &self.tokens else {
            return send(self.http.clone(), None).await;
        };
        // The SDK has no error of ours to carry; `http::explain` takes it out again.
        let no_token = |reason: NoToken| HttpError::Io(io::Error::other(reason));
        let token = tokens.current().await.map_err(no_token)?;
        let refusal = match send(self.http.clone(), token.clone()).await {
            Err(HttpError::AuthRequired(refusal)) => refusal,
            result => return result,
        };
        let challenge = Challenge::read(&refusal.www_authenticate_header);
        let another = tokens.another(&challenge, token.as_deref()).await;
        send(self.http.clone(), Some(another.map_err(no_token)?)).await
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.authorized(|http, token| {
            let (uri, session_id) = (uri.clone(), session_id.clone());
            let (message, headers) = (message.clone(), headers.clone());
            async move {
                http.post_message(uri, message, session_id, token, headers)
                    .await
            }
        })
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        headers: Headers,
        bound: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        if self.tokens.is_none() {
            // Without the copies that a second attempt takes.
            return self
                .http
                .post_message_with_max_sse_event_size(
                    uri, message, session_id, None, headers, bound,
                )
                .await;
        }
        self.authorized(|http, token| {
            let (uri, session_id) = (uri.clone(), session_id.clone());
            let (message, headers) = (message.clone(), headers.clone());
            async move {
                http.post_message_with_max_sse_event_size(
                    uri, message, session_id, token, headers, bound,
                )
                .await
            }
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.authorized(|http, token| {
            let (uri, session_id, headers) = (uri.clone(), session_id.clone(), headers.clone());
            async move { http.delete_session(uri, session_id, token, headers).await }
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        self.authorized(|http, token| {
            let (uri, session_id) = (uri.clone(), session_id.clone());
            let (last_event_id, headers) = (last_event_id.clone(), headers.clone());
            async move {
                http.get_stream(uri, session_id, last_event_id, token, headers)
                    .await
            }
        })
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        headers: Headers,
        bound: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        self.authorized(|http, token| {
            let (uri, session_id) = (uri.clone(), session_id.clone());
            let (last_event_id, headers) = (last_event_id.clone(), headers.clone());
            async move {
                http.get_stream_with_max_sse_event_size(
                    uri,
                    session_id,
                    last_event_id,
                    token,
                    headers,
                    bound,
                )
                .await
            }
        })
        .await
    }
}
