//! The HTTP client of the Streamable HTTP transport, with a token where the server wants one. How large an event may be
//! is for [`Requests`] to know, not for the SDK.

use std::io;
use std::sync::Arc;

use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpPostResponse};

use super::super::events::Events;
use super::super::http::{Headers, HttpError, Requests};
use super::{Challenge, NoToken, TokenSource};

/// Sends requests, with a token of `tokens` if there are any.
#[derive(Clone)]
pub(in super::super) struct HttpClient {
    requests: Requests,
    tokens: Option<Arc<TokenSource>>,
}

impl HttpClient {
    pub(in super::super) fn new(requests: Requests, tokens: Option<TokenSource>) -> Self {
        Self {
            requests,
            tokens: tokens.map(Arc::new),
        }
    }

    /// Sends with the token at hand, and once more if the server wants another. A request that was answered
    /// with 401 has had no effect.
    async fn authorized<T, F>(
        &self,
        send: impl Fn(Requests, Option<String>) -> F,
    ) -> Result<T, HttpError>
    where
        F: Future<Output = Result<T, HttpError>> + Send,
    {
        let Some(tokens) = &self.tokens else {
            return send(self.requests.clone(), None).await;
        };
        // The SDK has no error of ours to carry; `http::explain` takes it out again.
        let no_token = |reason: NoToken| HttpError::Io(io::Error::other(reason));
        let token = tokens.current().await.map_err(no_token)?;
        let refusal = match send(self.requests.clone(), token.clone()).await {
            Err(HttpError::AuthRequired(refusal)) => refusal,
            result => return result,
        };
        let challenge = Challenge::read(&refusal.www_authenticate_header);
        let another = tokens.another(&challenge, token.as_deref()).await;
        send(self.requests.clone(), Some(another.map_err(no_token)?)).await
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
        let session_id = session_id.as_deref();
        let (uri, message) = (&*uri, &message);
        let response = self.authorized(|requests, token| {
            let headers = headers.clone();
            async move {
                requests
                    .post(uri, message, session_id, token, headers)
                    .await
            }
        });
        self.requests.watcher().check(response.await?, message)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        let (uri, session_id) = (&*uri, &*session_id);
        self.authorized(|requests, token| {
            let headers = headers.clone();
            async move { requests.delete(uri, session_id, token, headers).await }
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
    ) -> Result<Events, HttpError> {
        let (uri, session_id, last_id) = (&*uri, session_id.as_deref(), last_event_id.as_deref());
        let events = self.authorized(|requests, token| {
            let headers = headers.clone();
            async move {
                requests
                    .get_events(uri, session_id, last_id, token, headers)
                    .await
            }
        });
        // A stream of answers is one that is taken up again; the handshake takes up none.
        let carries = last_id.is_some();
        Ok(self.requests.watcher().watch(events.await?, None, carries))
    }
}
