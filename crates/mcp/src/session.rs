//! A session with one server, from its start to its end.

use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cuecard_source::diagnostic::Diagnostic;
use cuecard_tool_call::model::QuestionKind;
use cuecard_tool_call::script::ReadyAnswers;
use rmcp::model::{CallToolRequestParams, ErrorCode, ListToolsRequest, PaginatedRequestParams};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::asking::Limit;
use super::error::{ErrorKind, Request, ServerError};
use super::frames::FrameSink;
use super::handler::Handler;
use super::link::{CallStart, LONGEST_TEXT, Link};
use super::notice::Notice;
use super::questions::{Asked, Questions};
use super::reply::{NoReply, ToolReply};
use super::result::text_of;
use super::spec::{Protocol, ServerSpec};
use super::start::{Started, facts};
use super::stdio::ProcessSupervisor;
use super::tools::ToolInfo;

/// The JSON-RPC code for a method that a server doesn't know.
const METHOD_NOT_FOUND: i64 = ErrorCode::METHOD_NOT_FOUND.0 as i64;
/// How often one call may come back with questions of the server's.
const MOST_ROUNDS: usize = 10;
/// The pause before a call is repeated that came back without a question; it doubles each time, up to a second.
const IDLE_ROUND: Duration = Duration::from_millis(100);
const LONGEST_IDLE_ROUND: Duration = Duration::from_secs(1);
/// How long a server that did not answer a call may take to show that it answers others.
const SIGN_OF_LIFE: Duration = Duration::from_secs(2);
/// How long leaving may take before the server's process is ended: an HTTP session is deleted then.
const LEAVE: Duration = Duration::from_millis(1_500);

/// A running server.
pub struct Session {
    pub(super) spec: ServerSpec,
    info: SessionInfo,
    pub(super) link: Arc<Link>,
    questions: Arc<Questions>,
    pub(super) service: RunningService<RoleClient, Handler>,
    keeper: Option<ProcessSupervisor>,
    /// Where frames go; none over Streamable HTTP, which is the SDK's.
    pub(super) sink: Option<Arc<dyn FrameSink>>,
    tools: Mutex<Option<Arc<[ToolInfo]>>>,
    /// Whether a call got no answer in time since this was looked at.
    timed_out: AtomicBool,
    /// Whether a call said that it has ended.
    end_is_told: AtomicBool,
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
    /// As [`super::TransportSpec::as_str`]: `stdio`, `http`, ….
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
    ) -> Result<Self, ServerError> {
        Self::start_answering(spec, inherited_env, Arc::default()).await
    }

    /// As [`Session::start`], with the answers to what the server asks; it is told what it may ask.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub async fn start_answering(
        spec: &ServerSpec,
        inherited_env: &[(OsString, OsString)],
        answers: Arc<ReadyAnswers>,
    ) -> Result<Self, ServerError> {
        let Started {
            info,
            link,
            questions,
            service,
            keeper,
            sink,
        } = super::start::start(spec, inherited_env, &answers).await?;
        if info.era == Era::Legacy && questions.offers(QuestionKind::Roots) {
            questions.wait_for_roots().await;
        }
        Ok(Self {
            spec: spec.clone(),
            info,
            link,
            questions,
            service,
            keeper,
            sink,
            tools: Mutex::new(None),
            timed_out: AtomicBool::new(false),
            end_is_told: AtomicBool::new(false),
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
    pub async fn tools(&self) -> Result<Option<Arc<[ToolInfo]>>, ServerError> {
        if !self.spec.transport.lists_tools() {
            return Ok(None);
        }
        let began = self.link.begin_call();
        let mut cached = self.tools.lock().await;
        let changed = self.link.take_tools_changed();
        if let Some(tools) = cached.as_ref().filter(|_| !changed) {
            return Ok(Some(Arc::clone(tools)));
        }
        *cached = None;
        // In a box, as it is rare, and every call has room for this.
        let tools: Arc<[ToolInfo]> = match Box::pin(self.list_tools()).await {
            Ok(tools) => tools.into(),
            // A server may have tools without being able to list them.
            Err(ErrorKind::RpcError {
                code: METHOD_NOT_FOUND,
                ..
            }) => return Ok(None),
            Err(kind) => return Err(self.error(kind, Request::ListTools, began)),
        };
        *cached = Some(Arc::clone(&tools));
        Ok(Some(tools))
    }

    /// The tools as the server lists them, asked for now.
    ///
    /// # Errors
    /// As for [`Session::tools`].
    pub async fn tool_entries(&self) -> Result<Vec<Value>, ServerError> {
        if !self.spec.transport.lists_tools() {
            return Ok(Vec::new());
        }
        let began = self.link.begin_call();
        match Box::pin(self.list_entries()).await {
            Err(ErrorKind::RpcError {
                code: METHOD_NOT_FOUND,
                ..
            }) => Ok(Vec::new()),
            listed => listed.map_err(|kind| self.error(kind, Request::ListTools, began)),
        }
    }

    /// The tools, if they were asked for before.
    pub async fn listed_tools(&self) -> Option<Arc<[ToolInfo]>> {
        self.tools.lock().await.clone()
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
    ) -> Result<ToolReply, ServerError> {
        self.call_as(tool, arguments, timeout, ToolReply::from_wire)
            .await
    }

    /// As [`Session::call`], and gives the result as it came too.
    ///
    /// # Errors
    /// As [`Session::call`].
    pub async fn call_raw(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        timeout: Duration,
    ) -> Result<(ToolReply, Value), ServerError> {
        let read = |result: Value| Ok((ToolReply::from_wire(result.clone())?, result));
        self.call_as(tool, arguments, timeout, read).await
    }

    async fn call_as<T>(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        timeout: Duration,
        read: fn(Value) -> Result<T, NoReply>,
    ) -> Result<T, ServerError> {
        let began = self.link.begin_call();
        let error = |kind| {
            self.end_is_told.fetch_or(self.is_over(), Ordering::Relaxed);
            self.error(kind, Request::Call(tool.to_owned()), began)
        };
        if !self.spec.allows(tool) {
            let allowed = self.spec.allowed_tools.clone().unwrap_or_default();
            return Err(error(ErrorKind::Refused { allowed }));
        }
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let mut idle_rounds = 0;
        for _ in 0..MOST_ROUNDS {
            let limit = || Limit {
                whole: timeout,
                left: timeout.saturating_sub(began.clock.elapsed()),
            };
            let result = self.call_once(&params, limit).await.map_err(|kind| {
                if matches!(kind, ErrorKind::NoAnswer { .. }) {
                    self.timed_out.store(true, Ordering::Relaxed);
                }
                error(kind)
            })?;
            let wanted = match read(result) {
                Ok(reply) => return Ok(reply),
                Err(NoReply::NeedsInput(wanted)) => wanted,
                Err(NoReply::Malformed(text)) => {
                    return Err(error(ErrorKind::Protocol {
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
                responses.map_err(|methods| error(ErrorKind::NeedsInput { methods }))?;
            params.input_responses = (!responses.is_empty()).then_some(responses);
            params.request_state = wanted.state;
        }
        Err(error(ErrorKind::TooManyRounds { bound: MOST_ROUNDS }))
    }

    /// What is added to the arguments of a call that lacks it: of Claude in Chrome, the tab.
    pub fn added_arguments(&self) -> Map<String, Value> {
        let sink = self.sink.as_ref();
        sink.map_or_else(Map::new, |sink| sink.added_arguments())
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

    /// The mistakes in what the server sent, which was read all the same, as warnings about it: for those who have no use
    /// for its other notices, which are dropped.
    pub fn take_warnings(&self) -> Vec<Diagnostic> {
        let warning = |notice| match notice {
            Notice::Tolerated { code, text } => Some(Diagnostic::warning(code, text)),
            _ => None,
        };
        self.drain_notices()
            .into_iter()
            .filter_map(warning)
            .collect()
    }

    /// Whether a server of the newer protocol, which nobody asked for by name, says with `reply` that it can't ask us
    /// anything over it: its tool was written for the older one, where it can.
    pub fn lacks_back_channel(&self, reply: &Result<ToolReply, ServerError>) -> bool {
        if self.info.era != Era::Modern || self.spec.protocol != Protocol::Auto {
            return false;
        }
        let says_so = |text: &str| text.contains("no back-channel");
        match reply {
            Ok(reply) => reply.is_error && says_so(&text_of(reply)),
            Err(error) => {
                matches!(&error.kind, ErrorKind::RpcError { message, .. } if says_so(message))
            }
        }
    }

    /// Says that a server which [lacks a back-channel](Self::lacks_back_channel) is started for the older protocol.
    pub fn fall_back_message(&self) -> String {
        let state = match self.has_process() {
            true => "it is restarted, its state is lost",
            false => "it is connected to again",
        };
        format!(
            "server `{}` can't ask anything over protocol {}: {state}, and the call is repeated over the older one; \
             `\"protocol\": \"legacy\"` in its config does so from the start",
            self.spec.name, self.info.protocol_version
        )
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
        self.link.has_reading_ended() || self.link.server_end().is_some()
    }

    /// Whether the server has to be started again, or connected to. If its process ended by itself, a call says so first:
    /// whether that was noticed before the call or during it is chance.
    pub fn is_lost(&self) -> bool {
        self.is_over() && (self.end_is_told.load(Ordering::Relaxed) || !self.has_process())
    }

    /// Whether a call has run out of time, and the server answers nothing else either. After a call that was only
    /// slow it lists its tools as before.
    pub async fn hangs(&self) -> bool {
        if !self.timed_out.swap(false, Ordering::Relaxed) {
            return false;
        }
        if !self.spec.transport.lists_tools() {
            return true;
        }
        let request = ListToolsRequest::with_param(PaginatedRequestParams::default());
        let answer = self.request(request.into(), SIGN_OF_LIFE.into()).await;
        matches!(answer, Err(ErrorKind::NoAnswer { .. }))
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

    fn error(&self, kind: ErrorKind, request: Request, began: CallStart) -> ServerError {
        let last_words = self.link.last_words_since(began);
        ServerError {
            kind,
            request,
            facts: facts(&self.spec, &self.link, began.clock, last_words),
        }
    }

    pub(super) fn shown(&self, text: &str) -> String {
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

// A session is shared by the steps of a group.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Session>();
    fn sent<F: Future + Send>(_: fn(&'static ServerSpec) -> F) {}
    sent(|spec| Session::start(spec, &[]));
};

#[cfg(test)]
mod tests;
