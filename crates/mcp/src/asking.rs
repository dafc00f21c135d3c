//! One request of a session, from what is asked to what it means that there is no result.

use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientRequest, ErrorCode, ErrorData, RequestId, RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::Value;

use super::error::ErrorKind;
use super::frames::LARGEST_FRAME;
use super::http;
use super::link::UnexpectedMessage;
use super::messages::MALFORMED;
use super::session::{Era, Session};
use super::text::seconds;
use cuecard_runtime::clock::Stopwatch;

/// The JSON-RPC code for a call whose headers don't repeat what they should.
const HEADER_MISMATCH: i64 = ErrorCode::HEADER_MISMATCH.0 as i64;

/// How long sending the cancellation of a call may take.
const CANCEL: Duration = Duration::from_millis(100);

/// How long a request may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// What the caller was given, for messages: several requests may share it.
    pub(super) whole: Duration,
    /// What is left of it.
    pub(super) left: Duration,
}

impl From<Duration> for Limit {
    fn from(whole: Duration) -> Self {
        Self { whole, left: whole }
    }
}

/// A stateless server may log only during requests that ask for it; an older one logs as it likes.
#[expect(
    deprecated,
    reason = "logging may go in a later version of the protocol, but this one has it"
)]
fn of_calls(era: Era) -> RequestMetaObject {
    let mut meta = RequestMetaObject::new();
    if era == Era::Modern {
        meta.set_log_level(rmcp::model::LoggingLevel::Debug);
    }
    meta
}

impl Session {
    /// One round of a call: the result as it came.
    pub(super) async fn call_once(
        &self,
        params: &CallToolRequestParams,
        limit: impl Fn() -> Limit,
    ) -> Result<Value, ErrorKind> {
        let request = || CallToolRequest::new(params.clone()).into();
        match self.request(request(), limit()).await {
            // The server wants arguments repeated in headers, which the SDK does once it has seen the
            // schema. Such a call was refused before it had any effect.
            Err(ErrorKind::RpcError {
                code: HEADER_MISMATCH,
                ..
            }) if self.sink.is_none() => {
                Box::pin(self.list_tools()).await?;
                self.request(request(), limit()).await
            }
            result => result,
        }
    }

    /// Sends a request and waits for its result, at most as long as `limit` leaves. The server is told when nobody waits
    /// for it any more.
    pub(super) async fn request(
        &self,
        request: ClientRequest,
        limit: Limit,
    ) -> Result<Value, ErrorKind> {
        let began = Stopwatch::start();
        if self.link.server_end().is_some() {
            return Err(self.gone(began).await);
        }
        let mut options = PeerRequestOptions::no_options();
        if matches!(request, ClientRequest::CallToolRequest(_)) {
            options = options.with_meta(of_calls(self.info().era));
        }
        let peer = self.service.peer();
        let answer = async {
            let mut handle = peer.send_request_with_option(request, options).await?;
            let mut abandoned = Abandoned::watch(peer, handle.id.clone());
            let answer = tokio::time::timeout(limit.left, &mut handle.rx).await;
            abandoned.forget();
            if answer.is_err() {
                let reason = format!("no answer within {}", seconds(limit.whole));
                let cancelling = cancel(peer.clone(), handle.id, reason);
                // A server that no longer reads must not hold up the error.
                let _ = tokio::time::timeout(CANCEL, cancelling).await;
            }
            let answer = answer.ok();
            answer
                .map(|answer| answer.unwrap_or(Err(ServiceError::TransportClosed)))
                .transpose()
        };
        // In a box, as the SDK's futures are large.
        match Box::pin(answer).await {
            Ok(Some(result)) => raw(result),
            Ok(None) => Err(ErrorKind::NoAnswer {
                within: limit.whole,
            }),
            Err(error) => Err(self.explain(error, began).await),
        }
    }

    /// What an error of the SDK means.
    async fn explain(&self, error: ServiceError, began: Stopwatch) -> ErrorKind {
        match error {
            ServiceError::McpError(error) => self.rpc_error(error),
            ServiceError::TransportSend(error) => match http::explain(error.error.as_ref()) {
                None | Some(ErrorKind::Closed) => self.gone(began).await,
                Some(kind) => kind.masked(&self.link),
            },
            ServiceError::TransportClosed => self.gone(began).await,
            other => ErrorKind::Protocol {
                text: self.shown(&other.to_string()),
            },
        }
    }

    fn rpc_error(&self, error: ErrorData) -> ErrorKind {
        let message = self.shown(&error.message);
        if error.code == MALFORMED {
            return ErrorKind::Protocol { text: message };
        }
        if is_unknown_tool(&error) {
            return ErrorKind::NoSuchTool { message };
        }
        ErrorKind::RpcError {
            code: i64::from(error.code.0),
            message,
            // As JSON, what is masked may stand anywhere in it.
            data: error.data.map(|data| {
                let text = self.shown(&data.to_string());
                serde_json::from_str(&text).unwrap_or(Value::String(text))
            }),
        }
    }

    /// How the server ended.
    async fn gone(&self, began: Stopwatch) -> ErrorKind {
        // Over Streamable HTTP nothing tells.
        let end = match &self.sink {
            Some(_) => self.link.ended_soon().await,
            None => None,
        };
        match end {
            Some(kind) => kind,
            None if self.link.trouble_since(began) == Some(UnexpectedMessage::TooLarge) => {
                ErrorKind::TooLarge {
                    bound: LARGEST_FRAME,
                }
            }
            None => ErrorKind::Closed,
        }
    }
}

/// The result as it came; one that the SDK has read, as close to it as its types get.
fn raw(result: ServerResult) -> Result<Value, ErrorKind> {
    let protocol = |error: serde_json::Error| ErrorKind::Protocol {
        text: error.to_string(),
    };
    let mut value = match result {
        ServerResult::CustomResult(result) => result.0,
        result => serde_json::to_value(result).map_err(protocol)?,
    };
    let carried = value.get_mut(http::CARRIED).map(Value::take);
    Ok(carried.unwrap_or(value))
}

/// Whether a server says with `error` that it has no such tool.
fn is_unknown_tool(error: &ErrorData) -> bool {
    let message = error.message.to_lowercase();
    matches!(error.code.0, -32602 | -32601)
        && (message.contains("unknown tool")
            || message.contains("no such tool")
            || (message.contains("tool") && message.contains("not found")))
}

/// Tells the server that nobody waits for request `id` any more.
async fn cancel(peer: Peer<RoleClient>, id: RequestId, reason: String) {
    let params = CancelledNotificationParam::new(Some(id), Some(reason));
    let cancelled = CancelledNotification::new(params).into();
    // Who can't be told has ended.
    let _ = peer.send_notification(cancelled).await;
}

/// Cancels a request at the server if the future that waits for it is dropped.
struct Abandoned<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl<'a> Abandoned<'a> {
    fn watch(peer: &'a Peer<RoleClient>, id: RequestId) -> Self {
        Self { peer, id: Some(id) }
    }

    fn forget(&mut self) {
        self.id = None;
    }
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(cancel(
                self.peer.clone(),
                id,
                "the caller gave up".to_owned(),
            ));
        }
    }
}
