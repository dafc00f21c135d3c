//! The agent: what each call of the client means to the script, and what it gets.

mod opening;
mod prompting;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::json::mended;
use cuecard_source::matching::lack;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::EventKind;
use cuecard_timeline::script::{ScheduledPart, Selector};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::found::{Refused, differs};
use super::options::AcpOptions;
use super::peer::{Peer, Received};
use super::rpc::{
    AUTH_REQUIRED, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message,
    NOT_FOUND, RpcError, read,
};
use super::script::protocol::{answer_problem, request_problem};
use super::script::{self, AcpScript};
use super::session::{Session, Sessions};
use super::telling::Telling;
use super::verdict::PlayedSegments;
use cuecard_runtime::fault::FrameHit;
use cuecard_runtime::scripted_faults::ScriptedFaults;

/// The agent while it runs.
pub(super) struct Agent {
    pub(super) options: AcpOptions,
    pub(super) scripts: Vec<Arc<AcpScript>>,
    selector: Selector,
    pub(super) peer: Peer,
    pub(super) telling: Telling,
    pub(super) faults: ScriptedFaults<()>,
    /// What the client says that it can do.
    client: OnceLock<Json>,
    /// What the agent said that it can do.
    capabilities: OnceLock<Json>,
    is_authenticated: AtomicBool,
    sessions: Mutex<Sessions>,
    played: Mutex<PlayedSegments>,
    pub(super) n_sessions: AtomicU64,
    pub(super) n_prompts: AtomicU64,
    /// Turns that are being played.
    pub(super) turns: TaskTracker,
    pub(super) stop: CancellationToken,
}

impl Agent {
    pub(super) fn new(
        options: AcpOptions,
        scripts: Vec<Arc<AcpScript>>,
        selector: Selector,
        peer: Peer,
        faults: ScriptedFaults<()>,
        telling: Telling,
    ) -> Self {
        Self {
            selector,
            scripts,
            peer,
            telling,
            faults,
            client: OnceLock::new(),
            capabilities: OnceLock::new(),
            is_authenticated: AtomicBool::new(false),
            sessions: Mutex::default(),
            played: Mutex::default(),
            n_sessions: AtomicU64::new(0),
            n_prompts: AtomicU64::new(0),
            turns: TaskTracker::new(),
            stop: CancellationToken::new(),
            options,
        }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn played(&self) -> MutexGuard<'_, PlayedSegments> {
        self.played.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the client has a capability, by its pointer.
    pub(super) fn client_can(&self, pointer: &str) -> bool {
        let client = self.client.get();
        client.and_then(|client| client.pointer(pointer)) == Some(&Json::Bool(true))
    }

    fn can(&self, pointer: &str) -> bool {
        let value = self.capabilities.get().and_then(|own| own.pointer(pointer));
        value.is_some_and(|value| !matches!(value, Json::Null | Json::Bool(false)))
    }

    /// Whether somebody leads a timeline: waits until that is known.
    pub(super) async fn is_led(&self, script: &AcpScript) -> bool {
        let Some(lead) = &self.options.lead else {
            return false;
        };
        let file = tokio::select! {
            biased;
            file = lead.file() => file,
            () = self.stop.cancelled() => None,
        };
        file.as_deref() == Some(script.timeline.source.name())
    }

    /// Tells who leads that a part was played, once the trace has what came of it.
    pub(super) async fn has_played(&self, script: &AcpScript, part: ScheduledPart) {
        if let Some(lead) = &self.options.lead
            && self.is_led(script).await
        {
            self.telling.settled().await;
            let _ = lead.played.send((part.event_idx, part.part));
        }
    }

    /// Sends an update of a session.
    pub(super) async fn update(&self, session: &Session, update: Json, hit: Option<FrameHit>) {
        let params = json!({"sessionId": &*session.id, "update": update});
        self.peer.notify("session/update", &params, hit).await;
        self.keep(session, update);
    }

    /// Keeps what was sent in a session for when it is loaded again.
    pub(super) fn keep(&self, session: &Session, update: Json) {
        if self.can("/loadSession") {
            session.state().sent.push(update);
        }
    }

    /// A line of the client.
    pub(super) async fn handle(self: &Arc<Self>, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let (whole, found) = mended("a line of the client", line);
        for found in found {
            self.telling.found(None, found).await;
        }
        match read(&whole) {
            Ok(Message::Request { id, method, params }) => self.request(id, &method, params).await,
            Ok(Message::Notification { method, params }) => self.notified(&method, &params).await,
            Ok(Message::Response { id, result }) => {
                if !self.peer.answered(&id, result) {
                    let refused = Refused::unexpected(
                        INVALID_REQUEST,
                        format!("an answer to request {id}, which was never sent"),
                    );
                    self.telling.found(None, *refused.found).await;
                }
            }
            Err(malformed) => {
                let message = format!("a line of the client is no message: {}", malformed.why);
                let line = String::from_utf8_lossy(line);
                let refused = Refused::unexpected(malformed.code, message)
                    .noting(format!("it was: {}", cut(line.trim(), 200)));
                self.telling.found(None, *refused.found).await;
                if let Some(id) = malformed.id {
                    self.peer.answer(&id, &Err(refused.error)).await;
                }
            }
        }
    }

    async fn request(self: &Arc<Self>, id: Json, method: &str, params: Json) {
        let is_first = self.client.get().is_none();
        if let Some(problem) = request_problem(method, &params) {
            let message = format!("`{method}` is not as the protocol has it: {problem}");
            return self.answer(&id, Err(invalid(&message)), &params).await;
        }
        let answer = match method {
            "initialize" if is_first => Ok(self.initialize(&params).await),
            "initialize" => Err(Refused::unexpected(
                INVALID_REQUEST,
                "`initialize` came twice",
            )),
            _ if is_first && !method.starts_with('_') => Err(Refused::unexpected(
                INVALID_REQUEST,
                format!("`{method}` came before `initialize`"),
            )),
            "authenticate" => self.authenticate(&params).await,
            "session/new" => self.new_session(&params).await,
            "session/load" if self.can("/loadSession") => return self.load(id, params, true).await,
            "session/resume" if self.can("/sessionCapabilities/resume") => {
                match self.of_session(&params) {
                    Ok(session) => Ok(self.opened(&session, false)),
                    // One that was closed, or is in the script, as with `session/load`.
                    Err(_) => return self.load(id, params, false).await,
                }
            }
            "session/list" if self.can("/sessionCapabilities/list") => Ok(self.list(&params)),
            "session/close" if self.can("/sessionCapabilities/close") => self.close(&params),
            "session/prompt" => return self.prompt(id, params).await,
            "session/set_mode" => self.set(&params, "modeId").await,
            "session/set_model"
                if self
                    .scripts
                    .iter()
                    .any(|script| script.timeline.acp.is_unstable) =>
            {
                self.set(&params, "modelId").await
            }
            // What clients of other agents ask for is for those agents to know.
            _ if method.starts_with('_') => {
                let error = RpcError::new(METHOD_NOT_FOUND, format!("method not found: {method}"));
                return self.peer.answer(&id, &Err(error)).await;
            }
            _ => Err(Refused::unexpected(
                METHOD_NOT_FOUND,
                format!("method not found: `{}`", cut(method, 100)),
            )
            .with_help("the agent serves what its `acp.capabilities` advertise")),
        };
        self.answer(&id, answer, &params).await;
    }

    async fn answer(&self, id: &Json, answer: Result<Json, Refused>, params: &Json) {
        let session = params["sessionId"].as_str().map(Arc::from);
        match answer {
            Ok(result) => self.peer.answer(id, &Ok(result)).await,
            Err(refused) => {
                self.telling.found(session, *refused.found).await;
                self.peer.answer(id, &Err(refused.error)).await;
            }
        }
    }

    async fn notified(&self, method: &str, params: &Json) {
        match method {
            "session/cancel" => match self.of_session(params) {
                Ok(session) => session.cancel(),
                Err(refused) => self.telling.found(None, *refused.found).await,
            },
            // Extensions, and requests that are no longer wanted, may be ignored.
            _ if method.starts_with('_') || method.starts_with("$/") => {}
            _ => {
                let refused = Refused::unexpected(
                    METHOD_NOT_FOUND,
                    format!("unknown notification `{}`", cut(method, 100)),
                );
                self.telling.found(None, *refused.found).await;
            }
        }
    }

    async fn initialize(&self, params: &Json) -> Json {
        let requested = params["protocolVersion"].as_u64().unwrap_or(1);
        let client = params["clientCapabilities"].clone();
        let answer = script::initialized(&self.scripts, requested);
        for script in &self.scripts {
            let Some((event_idx, expected, _)) = script.initialize() else {
                continue;
            };
            if let Some(lack) = lack(expected, params) {
                let found = differs(
                    codes::ACP_CAPABILITIES,
                    &script.timeline,
                    event_idx,
                    format!("`initialize` differs at {lack}"),
                );
                self.telling.found(None, found).await;
            }
        }
        let _ = self.capabilities.set(answer["agentCapabilities"].clone());
        let _ = self.client.set(client);
        answer
    }

    async fn authenticate(&self, params: &Json) -> Result<Json, Refused> {
        let method_id = text_of(params, "methodId")?;
        let mut events = self.scripts.iter().flat_map(|it| &it.timeline.events);
        let scripted = events.find_map(|event| match &event.kind {
            EventKind::Authenticate(scripted) if scripted.method_id == method_id => Some(scripted),
            _ => None,
        });
        if let Some(scripted) = scripted {
            let works = scripted.error.is_null();
            self.is_authenticated.store(works, Ordering::Relaxed);
            if works {
                let answer = &scripted.expected_response;
                return Ok(match answer.is_object() {
                    true => answer.clone(),
                    false => json!({}),
                });
            }
            let message = scripted.error["message"].as_str();
            let message = message.unwrap_or("authentication failed");
            // It fails as it should.
            let note = format!("`authenticate` with `{method_id}` failed, as scripted");
            return Err(Refused {
                found: Box::new(Diagnostic::note(codes::ACP_UNEXPECTED, note)),
                error: RpcError::new(AUTH_REQUIRED, message),
            });
        }
        let all = self.scripts.iter();
        let mut offered = all.flat_map(|it| it.timeline.acp.auth_methods.iter().flatten());
        match offered.any(|method| method["id"] == method_id) {
            true => Ok(json!({})),
            false => Err(Refused::unexpected(
                INVALID_PARAMS,
                format!("the agent advertises no method `{}`", cut(method_id, 60)),
            )),
        }
    }

    fn of_session(&self, params: &Json) -> Result<Arc<Session>, Refused> {
        let id = text_of(params, "sessionId")?;
        let session = self.sessions().get(id);
        let open = session.filter(|session| !session.state().is_closed);
        open.ok_or_else(|| {
            Refused::unexpected(NOT_FOUND, format!("there is no session `{}`", cut(id, 100)))
        })
    }

    /// Makes a call of the client's for a session, and waits as long as clients have patience for.
    pub(super) async fn call_client(
        &self,
        session: &Arc<str>,
        method: &str,
        params: &Json,
        hit: Option<FrameHit>,
        cancel: &CancellationToken,
    ) -> Received {
        let cancel = Some(cancel.clone());
        let waiting = self.peer.request(method, params, hit, cancel).await;
        let patience = self.options.patience;
        let failed = |message: &str| Received {
            answer: Err(RpcError::new(INTERNAL_ERROR, message)),
            is_late: false,
        };
        let gone = || failed("the client is gone");
        let answered = tokio::select! {
            biased;
            answered = tokio::time::timeout(patience, waiting) => answered,
            () = self.stop.cancelled() => return gone(),
        };
        match answered {
            Ok(Ok(received)) => {
                let problem = match &received.answer {
                    Ok(answer) => answer_problem(method, answer).map(|problem| {
                        format!("the answer to `{method}` is not as the protocol has it: {problem}")
                    }),
                    // All other calls may fail, and their outcome is held against the script.
                    Err(error) if method == "terminal/release" && !received.is_late => {
                        Some(format!("the client refused `{method}`: {}", error.message))
                    }
                    Err(_) => None,
                };
                if let Some(message) = problem {
                    let found = Diagnostic::error(codes::ACP_UNEXPECTED, message);
                    self.telling.find(session, found).await;
                }
                received
            }
            Ok(Err(_)) => gone(),
            Err(_) => {
                let message = format!(
                    "the client did not answer `{method}` within {} s",
                    patience.as_secs()
                );
                let found = Diagnostic::error(codes::ACP_MISSING, &message);
                self.telling
                    .find(
                        session,
                        found.with_help("give it more time with `--timeout SECONDS`"),
                    )
                    .await;
                failed(&message)
            }
        }
    }

    /// Tells which turns the client did not wait for.
    pub(super) async fn tell_abandoned(&self) {
        let sessions: Vec<Arc<Session>> = self.sessions().all().cloned().collect();
        for session in sessions {
            let is_abandoned = {
                let turn = &session.state().turn;
                turn.as_ref().is_some_and(|turn| !turn.is_cancelled())
            };
            if is_abandoned {
                let message = "the client left while a prompt was being answered";
                let found = Diagnostic::error(codes::ACP_MISSING, message);
                let found = found.with_help("a client that stops early sends `session/cancel`");
                self.telling.find(&session.id, found).await;
            }
        }
    }

    /// The input has ended: turns end, and what is still missing is told.
    pub(super) async fn end(&self) {
        self.stop.cancel();
        self.turns.close();
        self.turns.wait().await;
        let sessions: Vec<Arc<Session>> = self.sessions().all().cloned().collect();
        for session in sessions {
            let (script, next) = {
                let state = session.state();
                (state.script.clone(), state.next_segment)
            };
            if let Some((_, script)) = script {
                let end = next.checked_sub(1).map_or(0, |last| script.bounds(last).1);
                self.missing_calls(&session, &script, end).await;
            }
        }
    }
}

fn invalid(message: &str) -> Refused {
    Refused::unexpected(INVALID_PARAMS, message)
}

fn text_of<'p>(params: &'p Json, key: &str) -> Result<&'p str, Refused> {
    let text = params[key].as_str().filter(|text| !text.is_empty());
    text.ok_or_else(|| invalid(&format!("`{key}` must be a string that isn't empty")))
}
