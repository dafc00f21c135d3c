//! One request of a session, from what is asked to what it means that there is no result.

use std::pin::pin;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientRequest, ErrorCode, ErrorData, ListToolsRequest, PaginatedRequestParams, RequestId,
    RequestMetaObject, ServerResult,
};
use rmcp::service::{
    Peer, PeerRequestOptions, RoleClient, RunningService, Service as _, ServiceError,
};
use serde_json::Value;

use super::calls::{Asked, Metadata, NoResult};
use super::error::CallErrorKind;
use super::frames::{LARGEST_FRAME, SendError};
use super::handler::Handler;
use super::http::{self, HttpFailure};
use super::link::{SETTLE, UnexpectedMessage};
use super::session::{Era, Session};
use super::text::seconds;
use cuecard_runtime::clock::Stopwatch;

/// The JSON-RPC code for a call whose headers don't repeat what they should.
const HEADER_MISMATCH: i64 = ErrorCode::HEADER_MISMATCH.0 as i64;
/// How long sending the cancellation of a call may take.
const CANCEL: Duration = Duration::from_millis(100);

/// What a session asks its server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ask<'a> {
    /// A page of its tools.
    Tools(&'a PaginatedRequestParams),
    /// To call one.
    Call(&'a CallToolRequestParams),
}

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

/// What our requests over frames carry besides their parameters. The SDK adds the same to its own.
#[derive(Debug)]
pub(super) struct SessionMetadata {
    of_lists: Metadata,
    of_calls: Metadata,
}

impl SessionMetadata {
    /// For a session of `era`.
    pub(super) fn of(service: &RunningService<RoleClient, Handler>, era: Era) -> Self {
        let mut meta = RequestMetaObject::new();
        if let (Era::Modern, Some(server)) = (era, service.peer().peer_info()) {
            let us = service.service().get_info();
            meta.set_protocol_version(server.protocol_version.clone());
            meta.set_client_info(us.client_info);
            meta.set_client_capabilities(us.capabilities);
        }
        let of_lists = Metadata::new(&meta.0.0);
        meta.extend(of_calls(era));
        Self {
            of_lists,
            of_calls: Metadata::new(&meta.0.0),
        }
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
    ) -> Result<Value, CallErrorKind> {
        match self.request(Ask::Call(params), limit()).await {
            // The server wants arguments repeated in headers, which the SDK does once it has seen the
            // schema. Such a call was refused before it had any effect.
            Err(CallErrorKind::RpcError {
                code: HEADER_MISMATCH,
                ..
            }) if self.calls.is_none() => {
                Box::pin(self.list_tools()).await?;
                self.request(Ask::Call(params), limit()).await
            }
            result => result,
        }
    }

    /// Sends a request and waits for its result, at most as long as `limit` leaves.
    pub(super) async fn request(&self, ask: Ask<'_>, limit: Limit) -> Result<Value, CallErrorKind> {
        let began = Stopwatch::start();
        if self.link.server_end().is_some() {
            return Err(self.gone(began).await);
        }
        match &self.calls {
            Some(calls) => {
                let asked = match ask {
                    Ask::Tools(params) => calls.ask("tools/list", params, &self.metadata.of_lists),
                    Ask::Call(params) => calls.ask("tools/call", params, &self.metadata.of_calls),
                };
                self.outcome(asked, limit, began).await
            }
            None => Box::pin(self.request_by_sdk(ask, limit, began)).await,
        }
    }

    /// Waits for what becomes of a request of ours.
    async fn outcome(
        &self,
        asked: Asked,
        limit: Limit,
        began: Stopwatch,
    ) -> Result<Value, CallErrorKind> {
        let Asked { id, outcome } = asked;
        let id = RequestId::Number(id);
        let mut abandoned = Abandoned::watch(self.service.peer(), id.clone());
        // When the connection ends, what was read of it has been taken before.
        let outcome = tokio::select! {
            biased;
            outcome = outcome => outcome,
            () = tokio::time::sleep(limit.left) => {
                abandoned.forget();
                // In a box, as it is rare, and every call has room for this.
                Box::pin(self.cancel(id, limit)).await;
                return Err(CallErrorKind::Timeout { after: limit.whole });
            }
        };
        abandoned.forget();
        match outcome {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(NoResult::Error(error))) => Err(self.rpc_error(error)),
            Ok(Err(NoResult::Malformed(text))) => Err(CallErrorKind::Protocol {
                text: self.shown(&text),
            }),
            Ok(Err(NoResult::Unsent(SendError::Request(failure)))) => {
                Err(self.http_failure(failure, began).await)
            }
            Ok(Err(NoResult::Unsent(_))) | Err(_) => Err(self.gone(began).await),
        }
    }

    /// As [`Self::request`], over Streamable HTTP.
    async fn request_by_sdk(
        &self,
        ask: Ask<'_>,
        limit: Limit,
        began: Stopwatch,
    ) -> Result<Value, CallErrorKind> {
        let mut options = PeerRequestOptions::no_options();
        let request = match ask {
            Ask::Tools(params) => {
                ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params.clone()))
            }
            Ask::Call(params) => {
                options = options.with_meta(of_calls(self.info().era));
                ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()))
            }
        };
        let mut expired = pin!(tokio::time::sleep(limit.left));
        let peer = self.service.peer();
        let sent = tokio::select! {
            biased;
            sent = peer.send_request_with_option(request, options) => sent,
            () = &mut expired => return Err(CallErrorKind::Timeout { after: limit.whole }),
        };
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.explain(error, began).await),
        };
        let mut abandoned = Abandoned::watch(peer, handle.id.clone());
        let answer = tokio::select! {
            biased;
            answer = &mut handle.rx => answer,
            () = &mut expired => {
                abandoned.forget();
                self.cancel(handle.id, limit).await;
                return Err(CallErrorKind::Timeout { after: limit.whole });
            }
        };
        abandoned.forget();
        match answer {
            Ok(Ok(result)) => raw(result),
            Ok(Err(error)) => Err(self.explain(error, began).await),
            Err(_) => Err(self.gone(began).await),
        }
    }

    /// Tells the server that nobody waits for request `id` any more.
    async fn cancel(&self, id: RequestId, limit: Limit) {
        let reason = format!("no answer within {}", seconds(limit.whole));
        let params = CancelledNotificationParam::new(Some(id), Some(reason));
        let cancelled = CancelledNotification::new(params).into();
        let sending = self.service.peer().send_notification(cancelled);
        // A server that no longer reads must not hold up the error.
        let _ = tokio::time::timeout(CANCEL, sending).await;
    }

    /// What an error of the SDK means.
    async fn explain(&self, error: ServiceError, began: Stopwatch) -> CallErrorKind {
        match error {
            ServiceError::McpError(error) => self.rpc_error(error),
            ServiceError::TransportSend(error) => {
                let failure = http::explain(error.error.as_ref()).unwrap_or(HttpFailure::Broken);
                self.http_failure(failure, began).await
            }
            ServiceError::TransportClosed => self.gone(began).await,
            other => CallErrorKind::Protocol {
                text: self.shown(&other.to_string()),
            },
        }
    }

    async fn http_failure(&self, failure: HttpFailure, began: Stopwatch) -> CallErrorKind {
        match failure {
            HttpFailure::Unreachable(text) => CallErrorKind::Unreachable {
                text: self.shown(&text),
            },
            HttpFailure::Status(status, text) => CallErrorKind::Http {
                status,
                text: self.shown(&text),
            },
            HttpFailure::NoToken(text) => CallErrorKind::NoToken {
                text: self.shown(&text),
            },
            HttpFailure::TooLarge(bound) => CallErrorKind::TooLarge { bound },
            HttpFailure::Protocol(text) => CallErrorKind::Protocol {
                text: self.shown(&text),
            },
            HttpFailure::Broken => self.gone(began).await,
        }
    }

    fn rpc_error(&self, error: ErrorData) -> CallErrorKind {
        let message = self.shown(&error.message);
        if is_unknown_tool(&error) {
            return CallErrorKind::NoSuchTool { message };
        }
        CallErrorKind::RpcError {
            code: i64::from(error.code.0),
            message,
            // As JSON, what is masked may stand anywhere in it.
            data: error.data.map(|data| {
                let text = self.shown(&data.to_string());
                serde_json::from_str(&text).unwrap_or(Value::String(text))
            }),
        }
    }

    /// How the server ended, which is waited for a moment: its connection breaks before its end is known.
    async fn gone(&self, began: Stopwatch) -> CallErrorKind {
        // Over Streamable HTTP nothing tells.
        let end = match &self.calls {
            Some(_) => tokio::time::timeout(SETTLE, self.link.ended()).await.ok(),
            None => None,
        };
        match end {
            Some(end) => match end.too_large {
                Some(bound) => CallErrorKind::TooLarge { bound },
                // A server that was cut off may end of that.
                None => CallErrorKind::ServerGone {
                    exit: end.exit.filter(|_| end.reason.is_none()),
                },
            },
            None if self.link.trouble_since(began) == Some(UnexpectedMessage::TooLarge) => {
                CallErrorKind::TooLarge {
                    bound: LARGEST_FRAME,
                }
            }
            None => CallErrorKind::ServerGone { exit: None },
        }
    }
}

/// The result as it came; one that the SDK has read, as close to it as its types get.
fn raw(result: ServerResult) -> Result<Value, CallErrorKind> {
    let mut value = serde_json::to_value(result).map_err(|error| CallErrorKind::Protocol {
        text: error.to_string(),
    })?;
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
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some("the caller gave up".to_owned());
            let params = CancelledNotificationParam::new(Some(id), reason);
            let _ = peer
                .send_notification(CancelledNotification::new(params).into())
                .await;
        });
    }
}
