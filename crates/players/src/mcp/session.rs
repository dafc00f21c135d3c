//! A session with one server, from its start to its end.

use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use cuecard_core::script::ReadyAnswers;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientRequest, ErrorCode, ErrorData, RequestId, RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::error::{CallError, CallErrorKind, StartError};
use super::frames::{FrameSink, LARGEST_FRAME};
use super::handler::Handler;
use super::http::{self, HttpFailure};
use super::link::{LONGEST_TEXT, Link, SETTLE, Trouble};
use super::notice::Notice;
use super::questions::{Asked, Offers, Questions};
use super::reply::{NoReply, ToolReply};
use super::spec::ServerSpec;
use super::start::{Started, facts};
use super::stdio::Keeper;
use super::text::seconds;
use super::tools::ToolInfo;
use crate::runtime::clock::Stopwatch;

/// The JSON-RPC code for a method that a server doesn't know.
const METHOD_NOT_FOUND: i64 = ErrorCode::METHOD_NOT_FOUND.0 as i64;
/// The JSON-RPC code for a call whose headers don't repeat what they should.
const HEADER_MISMATCH: i64 = ErrorCode::HEADER_MISMATCH.0 as i64;
/// How often one call may come back with questions of the server's.
const MOST_ROUNDS: usize = 10;
/// The pause before a call is repeated that came back without a question; it doubles each time, up to a second.
const IDLE_ROUND: Duration = Duration::from_millis(100);
const LONGEST_IDLE_ROUND: Duration = Duration::from_secs(1);
/// How long sending the cancellation of a call may take.
const CANCEL: Duration = Duration::from_millis(100);
/// How long leaving may take before the server's process is ended: an HTTP session is deleted then.
const LEAVE: Duration = Duration::from_millis(1_500);

/// A running server.
pub struct Session {
    pub(super) spec: ServerSpec,
    info: SessionInfo,
    link: Arc<Link>,
    questions: Arc<Questions>,
    service: RunningService<RoleClient, Handler>,
    keeper: Option<Keeper>,
    sink: Option<Arc<dyn FrameSink>>,
    tools: Mutex<Option<Arc<[ToolInfo]>>>,
}

/// What is known about a server once it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionInfo {
    /// The server's name for itself; empty if it gives none.
    pub server_name: String,
    /// Its version; empty if it gives none.
    pub server_version: String,
    /// The protocol version agreed on, such as `2025-11-25`; empty if the server's protocol has none.
    pub protocol_version: String,
    /// The protocol era of that version.
    pub era: Era,
    /// As [`super::TransportSpec::word`]: `stdio`, `http`, ….
    pub transport: &'static str,
    /// How long the start took.
    pub started_in: Duration,
}

/// A protocol era.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With sessions and `initialize`.
    Legacy,
    /// Stateless.
    Modern,
}

/// How long a request may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// What the caller was given, for messages: several requests may share it.
    whole: Duration,
    /// What is left of it.
    left: Duration,
}

impl From<Duration> for Limit {
    fn from(whole: Duration) -> Self {
        Self { whole, left: whole }
    }
}

impl Session {
    /// Starts or reaches the server of `spec` and shakes hands. `inherited_env` is the environment that a
    /// child may inherit from, a snapshot.
    ///
    /// With [`super::Protocol::Auto`] a server whose process ends over the probe, or breaks over it, is started a
    /// second time for the older protocol alone.
    ///
    /// # Errors
    /// Whatever keeps the server from answering within the start's timeout. Nothing is left running.
    pub async fn start(
        spec: &ServerSpec,
        inherited_env: &[(OsString, OsString)],
    ) -> Result<Self, StartError> {
        Self::start_offering(spec, inherited_env, Offers::default()).await
    }

    /// As [`Session::start`], and tells the server what it may ask.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub async fn start_offering(
        spec: &ServerSpec,
        inherited_env: &[(OsString, OsString)],
        offers: Offers,
    ) -> Result<Self, StartError> {
        let Started {
            info,
            link,
            questions,
            service,
            keeper,
            sink,
        } = super::start::start(spec, inherited_env, offers).await?;
        Ok(Self {
            spec: spec.clone(),
            info,
            link,
            questions,
            service,
            keeper,
            sink,
            tools: Mutex::new(None),
        })
    }

    /// What is known about the server.
    pub fn info(&self) -> &SessionInfo {
        &self.info
    }

    /// The tools that may be called, in the server's order; nothing if the server has no list of them. Asked
    /// for once, and again after the server said that they changed.
    ///
    /// # Errors
    /// As for a call. Over 10,000 tools are a protocol error.
    pub async fn tools(&self) -> Result<Option<Arc<[ToolInfo]>>, CallError> {
        if !self.spec.transport.lists_tools() {
            return Ok(None);
        }
        let began = Stopwatch::start();
        let mut cached = self.tools.lock().await;
        let changed = self.link.take_tools_changed();
        if let Some(tools) = cached.as_ref().filter(|_| !changed) {
            return Ok(Some(Arc::clone(tools)));
        }
        *cached = None;
        let tools: Arc<[ToolInfo]> = match self.list_tools().await {
            Ok(tools) => tools.into(),
            // A server may have tools without being able to list them.
            Err(CallErrorKind::RpcError {
                code: METHOD_NOT_FOUND,
                ..
            }) => return Ok(None),
            Err(kind) => return Err(self.error(kind, None, began)),
        };
        *cached = Some(Arc::clone(&tools));
        Ok(Some(tools))
    }

    /// Calls `tool` with `arguments` and waits for its answer, at most `timeout`: a hard cap, which progress
    /// does not extend. A call that runs out of time, or whose future is dropped, is cancelled at the
    /// server; the session goes on.
    ///
    /// # Errors
    /// When there is no valid answer. A failure that the tool itself reports is a [`ToolReply`].
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        timeout: Duration,
    ) -> Result<ToolReply, CallError> {
        let began = Stopwatch::start();
        let error = |kind| self.error(kind, Some(tool), began);
        if !self.spec.allows(tool) {
            let allowed = self.spec.allowed_tools.clone().unwrap_or_default();
            return Err(error(CallErrorKind::Refused { allowed }));
        }
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let mut idle_rounds = 0;
        for _ in 0..MOST_ROUNDS {
            let limit = || Limit {
                whole: timeout,
                left: timeout.saturating_sub(began.elapsed()),
            };
            let result = self.call_once(&params, limit).await.map_err(error)?;
            let wanted = match ToolReply::from_wire(result) {
                Ok(reply) => return Ok(reply),
                Err(NoReply::NeedsInput(wanted)) => wanted,
                Err(NoReply::Malformed(text)) => {
                    return Err(error(CallErrorKind::Protocol {
                        text: self.shown(&text),
                    }));
                }
            };
            if wanted.requests.is_empty() {
                // It only wants to be asked again, with what it remembers by.
                let pause = IDLE_ROUND.saturating_mul(2_u32.saturating_pow(idle_rounds));
                idle_rounds += 1;
                let pause = pause.min(LONGEST_IDLE_ROUND).min(limit().left);
                tokio::time::sleep(pause).await;
            }
            let responses = self.questions.answer_all(wanted.requests, &self.link);
            let responses =
                responses.map_err(|methods| error(CallErrorKind::NeedsInput { methods }))?;
            params.input_responses = (!responses.is_empty()).then_some(responses);
            params.request_state = wanted.state;
        }
        Err(error(CallErrorKind::TooManyRounds { bound: MOST_ROUNDS }))
    }

    /// What to answer if the server asks something from now on.
    pub fn answer_with(&self, answers: Arc<ReadyAnswers>) {
        self.questions.answer_with(answers);
    }

    /// What the server has asked since this was called last.
    pub fn take_asked(&self) -> Asked {
        self.questions.take_asked()
    }

    /// What the server said unasked since this was called last; the oldest of over 1,000 are dropped, and
    /// counted by the first notice.
    pub fn drain_notices(&self) -> Vec<Notice> {
        self.link.drain_notices()
    }

    /// Secrets that came up since this was called last, such as a token that was fetched.
    pub fn take_secrets(&self) -> Vec<String> {
        self.link.take_learned()
    }

    /// Waits until the server says something unasked. May return once more for what was drained already.
    pub async fn noticed(&self) {
        self.link.noticed().await;
    }

    /// The last lines of the server's standard error, oldest first, at most 20.
    pub fn last_words(&self) -> Vec<String> {
        self.link.last_words()
    }

    /// Whether we started the server, and end it.
    pub fn has_process(&self) -> bool {
        !self.spec.transport.is_address()
    }

    /// Whether the server has ended or will say nothing more, so that no call can succeed any more.
    pub fn is_over(&self) -> bool {
        self.link.has_reading_ended() || self.link.is_gone().is_some()
    }

    /// Leaves the server and ends its process: politely, then by force. Takes at most about four seconds.
    pub async fn stop(mut self) {
        let _ = self.service.close_with_timeout(LEAVE).await;
        if let Some(sink) = &self.sink {
            sink.closed().await;
        }
        if let Some(keeper) = self.keeper.take() {
            keeper.stop().await;
        }
    }

    /// A stateless server may log only during requests that ask for it; an older one logs as it likes.
    #[expect(
        deprecated,
        reason = "logging may go in a later version of the protocol, but this one has it"
    )]
    fn options(&self, is_call: bool) -> PeerRequestOptions {
        let options = PeerRequestOptions::no_options();
        if !is_call || self.info.era == Era::Legacy {
            return options;
        }
        let mut meta = RequestMetaObject::new();
        meta.set_log_level(rmcp::model::LoggingLevel::Debug);
        options.with_meta(meta)
    }

    /// One round of a call: the result as it came.
    async fn call_once(
        &self,
        params: &CallToolRequestParams,
        limit: impl Fn() -> Limit,
    ) -> Result<Value, CallErrorKind> {
        let request = || ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
        match self.request(request(), limit()).await {
            // The server wants arguments repeated in headers, which the SDK does once it has seen the
            // schema. Such a call was refused before it had any effect.
            Err(CallErrorKind::RpcError {
                code: HEADER_MISMATCH,
                ..
            }) if self.sink.is_none() => {
                self.list_tools().await?;
                self.request(request(), limit()).await
            }
            result => result,
        }
    }

    /// Sends `request` and waits for its result, at most as long as `limit` leaves.
    pub(super) async fn request(
        &self,
        request: ClientRequest,
        limit: Limit,
    ) -> Result<Value, CallErrorKind> {
        let began = Stopwatch::start();
        if self.link.is_gone().is_some() {
            return Err(self.gone(began).await);
        }
        let is_call = matches!(request, ClientRequest::CallToolRequest(_));
        let mut expired = pin!(tokio::time::sleep(limit.left));
        let peer = self.service.peer();
        let sent = tokio::select! {
            biased;
            sent = peer.send_request_with_option(request, self.options(is_call)) => sent,
            () = &mut expired => return Err(CallErrorKind::Timeout { after: limit.whole }),
        };
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.explain(error, None, began).await),
        };
        let mut abandoned = Abandoned::watch(peer, &handle.id);
        let answer = tokio::select! {
            biased;
            answer = &mut handle.rx => Some(answer),
            // An answer that was sent before the end may still be on its way through the SDK.
            _ = self.link.gone() => tokio::time::timeout(SETTLE, &mut handle.rx).await.ok(),
            () = &mut expired => {
                abandoned.forget();
                let reason = format!("no answer within {}", seconds(limit.whole));
                // A server that no longer reads must not hold up the error.
                let _ = tokio::time::timeout(CANCEL, handle.cancel(Some(reason))).await;
                return Err(CallErrorKind::Timeout { after: limit.whole });
            }
        };
        abandoned.forget();
        let id = match handle.id {
            RequestId::Number(id) => Some(id),
            RequestId::String(_) => None,
        };
        match answer {
            Some(Ok(Ok(result))) => raw(result, is_call),
            Some(Ok(Err(error))) => Err(self.explain(error, id, began).await),
            Some(Err(_)) | None => Err(self.gone(began).await),
        }
    }

    async fn explain(
        &self,
        error: ServiceError,
        id: Option<i64>,
        began: Stopwatch,
    ) -> CallErrorKind {
        match error {
            ServiceError::McpError(error) => match id.and_then(|id| self.link.take_fault(id)) {
                Some(text) => CallErrorKind::Protocol {
                    text: self.shown(&text),
                },
                None => self.rpc_error(error),
            },
            ServiceError::TransportSend(error) => match http::explain(error.error.as_ref()) {
                Some(HttpFailure::Unreachable(text)) => CallErrorKind::Unreachable {
                    text: self.shown(&text),
                },
                Some(HttpFailure::Status(status, text)) => CallErrorKind::Http {
                    status,
                    text: self.shown(&text),
                },
                Some(HttpFailure::NoToken(text)) => CallErrorKind::NoToken {
                    text: self.shown(&text),
                },
                Some(HttpFailure::TooLarge(bound)) => CallErrorKind::TooLarge { bound },
                Some(HttpFailure::Protocol(text)) => CallErrorKind::Protocol {
                    text: self.shown(&text),
                },
                Some(HttpFailure::Broken) | None => self.gone(began).await,
            },
            ServiceError::TransportClosed => self.gone(began).await,
            other => CallErrorKind::Protocol {
                text: self.shown(&other.to_string()),
            },
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
            data: error.data,
        }
    }

    /// How the server ended, which is waited for a moment: its connection breaks before its end is known.
    async fn gone(&self, began: Stopwatch) -> CallErrorKind {
        // Over Streamable HTTP nothing tells.
        let gone = match &self.sink {
            Some(_) => tokio::time::timeout(SETTLE, self.link.gone()).await.ok(),
            None => None,
        };
        match gone {
            Some(gone) => match gone.too_large {
                Some(bound) => CallErrorKind::TooLarge { bound },
                None => CallErrorKind::ServerGone { exit: gone.exit },
            },
            None if self.link.trouble_since(began) == Some(Trouble::TooLarge) => {
                CallErrorKind::TooLarge {
                    bound: LARGEST_FRAME,
                }
            }
            None => CallErrorKind::ServerGone { exit: None },
        }
    }

    fn error(&self, kind: CallErrorKind, tool: Option<&str>, began: Stopwatch) -> CallError {
        CallError {
            kind,
            tool: tool.map(str::to_owned),
            facts: facts(&self.spec, &self.link, began),
        }
    }

    fn shown(&self, text: &str) -> String {
        self.link.shown(text, LONGEST_TEXT)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("spec", &self.spec)
            .field("info", &self.info)
            .finish()
    }
}

/// The result as it came, or as close to it as the SDK's types get.
fn raw(result: ServerResult, is_call: bool) -> Result<Value, CallErrorKind> {
    // Over HTTP the SDK guesses the kind of a result from its fields, and keeps those of that kind only.
    let fits = match &result {
        ServerResult::CustomResult(_) => true,
        ServerResult::ListToolsResult(_) => !is_call,
        ServerResult::CallToolResult(_)
        | ServerResult::InputRequiredResult(_)
        | ServerResult::CreateTaskResult(_)
        | ServerResult::TaskAckResult(_)
        | ServerResult::EmptyResult(_) => is_call,
        _ => false,
    };
    if !fits {
        return Err(CallErrorKind::Protocol {
            text: "the fields of the result are those of another kind of answer".to_owned(),
        });
    }
    match result {
        ServerResult::CustomResult(result) => Ok(result.0),
        result => serde_json::to_value(result).map_err(|error| CallErrorKind::Protocol {
            text: error.to_string(),
        }),
    }
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
    fn watch(peer: &'a Peer<RoleClient>, id: &RequestId) -> Self {
        Self {
            peer,
            id: Some(id.clone()),
        }
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

// A session is shared by the steps of a group.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Session>();
    fn sent<F: Future + Send>(_: fn(&'static ServerSpec) -> F) {}
    sent(|spec| Session::start(spec, &[]));
};

#[cfg(test)]
mod tests;
