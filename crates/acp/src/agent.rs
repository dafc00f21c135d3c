//! The agent: what each call of the client means to the script, and what it gets.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cuecard_source::diagnostic::{Diagnostic, Severity, codes};
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::{BlockKind, EventKind, TimelineCheck, UserInput};
use cuecard_timeline::script::{Selector, Wanted, normalise};
use cuecard_trace::{Assertion, EventData, FinalOutput, MessageReceived};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::found::{Refused, differs, shown};
use super::options::AcpOptions;
use super::peer::{Answer, Peer};
use super::rpc::{
    AUTH_REQUIRED, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message,
    NOT_FOUND, RpcError, read,
};
use super::script::updates::{self, Speaker};
use super::script::{self, AcpScript, AwaitedCall, content};
use super::session::{IndexedScript, Session, Sessions};
use super::turn::{Stopped, Turn};
use super::{Notice, TurnReport};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::fault::FrameHit;
use cuecard_runtime::findings::{Findings, logged};
use cuecard_runtime::scripted_faults::ScriptedFaults;
use cuecard_runtime::trace_writer::TraceWriter;

/// The agent while it runs.
pub(super) struct Agent {
    pub(super) options: AcpOptions,
    pub(super) scripts: Vec<Arc<AcpScript>>,
    selector: Selector,
    pub(super) peer: Peer,
    pub(super) findings: Findings,
    teller: TraceWriter<Notice>,
    pub(super) clock: Clock,
    pub(super) faults: ScriptedFaults<()>,
    /// What the client says that it can do.
    client: OnceLock<Json>,
    /// What the agent said that it can do.
    capabilities: OnceLock<Json>,
    is_authenticated: AtomicBool,
    sessions: Mutex<Sessions>,
    /// The segments that were played to their end, by scenario and number.
    played: Mutex<HashSet<(usize, usize)>>,
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
        peer: Peer,
        faults: ScriptedFaults<()>,
        teller: TraceWriter<Notice>,
        clock: Clock,
    ) -> Self {
        let timelines = scripts.iter().map(|script| &*script.timeline);
        Self {
            selector: Selector::new(timelines, options.max_distance),
            findings: Findings::new(options.is_strict),
            scripts,
            peer,
            teller,
            clock,
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

    fn played(&self) -> MutexGuard<'_, HashSet<(usize, usize)>> {
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

    /// Events of a session, for the trace.
    pub(super) async fn tell(&self, session: &Arc<str>, events: Vec<EventData>) {
        let at = self.clock.now();
        self.teller
            .events_in(Some(session.clone()), at, events)
            .await;
    }

    /// Something was found in a session.
    pub(super) async fn find(&self, session: &Arc<str>, found: Diagnostic) {
        self.found(Some(session.clone()), found).await;
    }

    pub(super) async fn found(&self, session: Option<Arc<str>>, found: Diagnostic) {
        let found = self.findings.strictly(found);
        let is_new = self.findings.keep(&found);
        if is_new || found.severity == Severity::Error {
            let events = vec![logged(&found)];
            self.teller
                .events_in(session, self.clock.now(), events)
                .await;
        }
        if is_new {
            self.teller.notice(Notice::Finding(Box::new(found))).await;
        }
    }

    /// A line of the client.
    pub(super) async fn handle(self: &Arc<Self>, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match read(line) {
            Ok(Message::Request { id, method, params }) => self.request(id, &method, params).await,
            Ok(Message::Notification { method, params }) => self.notified(&method, &params).await,
            Ok(Message::Response { id, result }) => {
                if !self.peer.answered(&id, result) {
                    let refused = Refused::unexpected(
                        INVALID_REQUEST,
                        format!("an answer to request {id}, which was never sent"),
                    );
                    self.found(None, *refused.found).await;
                }
            }
            Err(malformed) => {
                let message = format!("a line of the client is no message: {}", malformed.why);
                let line = String::from_utf8_lossy(line);
                let refused = Refused::unexpected(INVALID_REQUEST, message)
                    .noting(format!("it was: {}", cut(line.trim(), 200)));
                self.found(None, *refused.found).await;
                if let Some(id) = malformed.id {
                    self.peer.answer(&id, &Err(refused.error)).await;
                }
            }
        }
    }

    async fn request(self: &Arc<Self>, id: Json, method: &str, params: Json) {
        let is_first = self.client.get().is_none();
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
            "session/load" if self.can("/loadSession") => return self.load(id, params).await,
            "session/resume" if self.can("/sessionCapabilities/resume") => self
                .of_session(&params)
                .map(|session| self.opened(&session, false)),
            "session/list" if self.can("/sessionCapabilities/list") => Ok(self.list()),
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
                self.found(session, *refused.found).await;
                self.peer.answer(id, &Err(refused.error)).await;
            }
        }
    }

    async fn notified(&self, method: &str, params: &Json) {
        match method {
            "session/cancel" => match self.of_session(params) {
                Ok(session) => {
                    // Without a turn it does nothing, and doesn't stick.
                    if let Some(turn) = &session.state().turn {
                        turn.cancel();
                    }
                }
                Err(refused) => self.found(None, *refused.found).await,
            },
            // Extensions, and requests that are no longer wanted, may be ignored.
            _ if method.starts_with('_') || method.starts_with("$/") => {}
            _ => {
                let refused = Refused::unexpected(
                    METHOD_NOT_FOUND,
                    format!("unknown notification `{}`", cut(method, 100)),
                );
                self.found(None, *refused.found).await;
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
            if let Some(lack) = script::lacks(expected, params) {
                let found = differs(
                    codes::ACP_CAPABILITIES,
                    &script.timeline,
                    event_idx,
                    format!("`initialize` differs at {lack}"),
                );
                self.found(None, found).await;
            }
        }
        let _ = self.capabilities.set(answer["agentCapabilities"].clone());
        let _ = self.client.set(client);
        answer
    }

    async fn authenticate(&self, params: &Json) -> Result<Json, Refused> {
        let method_id = text_of(params, "methodId")?;
        for script in &self.scripts {
            for event in &script.timeline.events {
                if let EventKind::Authenticate(scripted) = &event.kind
                    && scripted.method_id == method_id
                {
                    self.is_authenticated.store(true, Ordering::Relaxed);
                    return match scripted.error.is_null() {
                        true if scripted.expected_response.is_object() => {
                            Ok(scripted.expected_response.clone())
                        }
                        true => Ok(json!({})),
                        false => {
                            self.is_authenticated.store(false, Ordering::Relaxed);
                            let message = scripted.error["message"]
                                .as_str()
                                .unwrap_or("authentication failed");
                            // It fails as it should.
                            Err(Refused {
                                found: Box::new(Diagnostic::note(
                                    codes::ACP_UNEXPECTED,
                                    format!(
                                        "`authenticate` with `{method_id}` failed, as scripted"
                                    ),
                                )),
                                error: RpcError::new(AUTH_REQUIRED, message),
                            })
                        }
                    };
                }
            }
        }
        let is_offered = |script: &Arc<AcpScript>| {
            let methods = script
                .timeline
                .acp
                .auth_methods
                .as_deref()
                .unwrap_or_default();
            methods.iter().any(|method| method["id"] == method_id)
        };
        match self.scripts.iter().any(is_offered) {
            true => Ok(json!({})),
            false => Err(Refused::unexpected(
                INVALID_PARAMS,
                format!("the agent advertises no method `{}`", cut(method_id, 60)),
            )),
        }
    }

    /// Refuses sessions before a required authentication.
    fn is_open_to_sessions(&self) -> Result<(), Refused> {
        let required = self.scripts.iter().find_map(|script| {
            let mut calls = script.awaited_calls(usize::MAX);
            calls.find_map(|(event_idx, call)| match call {
                AwaitedCall::Authenticate { .. } => Some((script, event_idx, call)),
                _ => None,
            })
        });
        match required {
            Some((script, event_idx, call)) if !self.is_authenticated.load(Ordering::Relaxed) => {
                Err(
                    Refused::of(codes::ACP_MISSING, AUTH_REQUIRED, "authentication required")
                        .expecting(&script.timeline, event_idx, &call.words()),
                )
            }
            _ => Ok(()),
        }
    }

    /// The script that is known without a prompt, if one is.
    fn only_script(&self) -> Option<IndexedScript> {
        let name = self.options.scenario_name.as_deref();
        let idx = match name {
            Some(name) => self
                .scripts
                .iter()
                .position(|script| script.timeline.name == name)?,
            None if self.scripts.len() == 1 => 0,
            None => return None,
        };
        Some((idx, self.scripts[idx].clone()))
    }

    async fn new_session(self: &Arc<Self>, params: &Json) -> Result<Json, Refused> {
        self.is_open_to_sessions()?;
        let folder = folder_of(params)?;
        self.check_servers(params)?;
        let script = self.only_script();
        let session = {
            let mut sessions = self.sessions();
            if sessions.len() >= self.options.max_sessions {
                let message = format!("there are {} sessions already", self.options.max_sessions);
                return Err(Refused::of(codes::SERVER_BOUND, INTERNAL_ERROR, message)
                    .with_help("raise the limit with `--sessions-max`"));
            }
            let (scripted, name) = match &script {
                Some((_, script)) => (script.timeline.session_id(), script.timeline.name.as_str()),
                None => (None, "session"),
            };
            let id = sessions.new_id(scripted, name);
            let session = Arc::new(Session::new(id, folder.to_owned(), script));
            sessions.insert(session.clone());
            session
        };
        self.n_sessions.fetch_add(1, Ordering::Relaxed);
        Ok(self.opened(&session, true))
    }

    fn opened(&self, session: &Session, is_new: bool) -> Json {
        let state = session.state();
        let mut answer = match &state.script {
            Some((_, script)) => script::opened(script),
            None => serde_json::Map::new(),
        };
        if is_new {
            answer.insert("sessionId".to_owned(), json!(&*session.id));
        }
        Json::Object(answer)
    }

    fn check_servers(&self, params: &Json) -> Result<(), Refused> {
        let servers = params["mcpServers"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        for server in servers {
            let kind = server["type"].as_str().unwrap_or("stdio");
            if matches!(kind, "http" | "sse") && !self.can(&format!("/mcpCapabilities/{kind}")) {
                let message = format!("the agent does not advertise MCP servers over {kind}");
                return Err(
                    Refused::of(codes::ACP_CAPABILITIES, INVALID_PARAMS, message)
                        .noting(format!("server: {}", shown(&server["name"]))),
                );
            }
        }
        Ok(())
    }

    fn of_session(&self, params: &Json) -> Result<Arc<Session>, Refused> {
        let id = text_of(params, "sessionId")?;
        self.sessions().get(id).ok_or_else(|| {
            Refused::unexpected(NOT_FOUND, format!("there is no session `{}`", cut(id, 100)))
        })
    }

    fn list(&self) -> Json {
        let sessions = self.sessions();
        let mut listed: Vec<Json> = sessions
            .all()
            .map(|session| json!({"sessionId": &*session.id, "cwd": session.folder}))
            .collect();
        listed.sort_by_key(|entry| entry["sessionId"].to_string());
        json!({"sessions": listed})
    }

    fn close(&self, params: &Json) -> Result<Json, Refused> {
        let session = self.of_session(params)?;
        if let Some(turn) = &session.state().turn {
            turn.cancel();
        }
        self.sessions().remove(&session.id);
        Ok(json!({}))
    }

    async fn set(&self, params: &Json, key: &str) -> Result<Json, Refused> {
        let session = self.of_session(params)?;
        let wanted = text_of(params, key)?;
        let mut state = session.state();
        let Some((_, script)) = state.script.clone() else {
            return Err(
                Refused::unexpected(INVALID_PARAMS, "the session has no scenario yet")
                    .with_help("choose one with `--scenario-name`, or send a prompt first"),
            );
        };
        let end = next_input(&script, state.next_segment);
        let is_it = |call: AwaitedCall<'_>| match call {
            AwaitedCall::SetMode { mode_id } => key == "modeId" && mode_id == wanted,
            AwaitedCall::SetModel { model_id } => key == "modelId" && model_id == wanted,
            _ => false,
        };
        let open: Vec<_> = script
            .awaited_calls(end)
            .filter(|(event_idx, call)| {
                let is_set = matches!(
                    call,
                    AwaitedCall::SetMode { .. } | AwaitedCall::SetModel { .. }
                );
                is_set && !state.settled_calls.contains(event_idx)
            })
            .collect();
        match open.iter().find(|(_, call)| is_it(*call)) {
            Some((event_idx, _)) => {
                state.settled_calls.insert(*event_idx);
                Ok(json!({}))
            }
            None => {
                let message = format!("{} is not scripted here", shown(params));
                let refused = Refused::unexpected(INVALID_PARAMS, message);
                Err(match open.first() {
                    Some((event_idx, call)) => {
                        refused.expecting(&script.timeline, *event_idx, &call.words())
                    }
                    None => refused,
                })
            }
        }
    }

    /// Loads a session: its history is told, then the answer, then what no prompt opens.
    async fn load(self: &Arc<Self>, id: Json, params: Json) {
        let loaded = self.loadable(&params);
        let (session, script) = match loaded {
            Ok(loaded) => loaded,
            Err(refused) => return self.answer(&id, Err(refused), &params).await,
        };
        let agent = self.clone();
        self.turns.spawn(async move {
            agent.tell_history(&session, script.clone()).await;
            let answer = agent.opened(&session, false);
            agent.peer.answer(&id, &Ok(answer)).await;
            let unopened = script
                .1
                .segments
                .live
                .first()
                .filter(|segment| segment.input.is_none());
            if let Some(segment) = unopened.cloned() {
                session.state().next_segment = 1;
                let cancel = agent.stop.child_token();
                let mut turn = Turn::new(
                    agent.clone(),
                    session.clone(),
                    script.clone(),
                    segment.origin_ms,
                    cancel,
                );
                if turn.play(segment.events).await.is_ok() {
                    agent.played().insert((script.0, 0));
                }
            }
        });
    }

    fn loadable(&self, params: &Json) -> Result<(Arc<Session>, IndexedScript), Refused> {
        self.is_open_to_sessions()?;
        let id = text_of(params, "sessionId")?;
        let folder = folder_of(params)?;
        self.check_servers(params)?;
        let is_it = |script: &Arc<AcpScript>| {
            let timeline = &script.timeline;
            timeline.session_id() == Some(id) || timeline.name == id
        };
        let idx = self.scripts.iter().position(is_it).ok_or_else(|| {
            let known: Vec<&str> = self
                .scripts
                .iter()
                .map(|script| {
                    script
                        .timeline
                        .session_id()
                        .unwrap_or(&script.timeline.name)
                })
                .collect();
            Refused::unexpected(
                NOT_FOUND,
                format!("there is no session `{}` to load", cut(id, 100)),
            )
            .noting(format!("there are: {}", known.join(", ")))
        })?;
        let script = (idx, self.scripts[idx].clone());
        let session = Arc::new(Session::new(
            id.into(),
            folder.to_owned(),
            Some(script.clone()),
        ));
        self.sessions().insert(session.clone());
        self.n_sessions.fetch_add(1, Ordering::Relaxed);
        Ok((session, script))
    }

    /// Tells what happened before the session, without waiting and without asking the client for anything.
    async fn tell_history(self: &Arc<Self>, session: &Arc<Session>, script: IndexedScript) {
        if std::mem::replace(&mut session.state().has_history, true) {
            return;
        }
        let history = script.1.segments.history.clone();
        if history.is_empty() {
            return;
        }
        let mut turn = Turn::new(
            self.clone(),
            session.clone(),
            script.clone(),
            u64::MAX,
            CancellationToken::new(),
        );
        for event_idx in history {
            let event = script.1.event(event_idx);
            match &event.kind {
                EventKind::UserInputs(inputs) => {
                    for input in inputs {
                        for block in input.blocks.iter().filter_map(content::block) {
                            let id = format!("{}-u{event_idx}", session.id);
                            let chunk = updates::chunk(Speaker::User, block, &id, &input.meta);
                            turn.update(event_idx, chunk).await;
                        }
                    }
                }
                EventKind::Response(_) | EventKind::AgentPlan(_) => {
                    let _ = turn.play(event_idx..event_idx + 1).await;
                }
                EventKind::ToolUse(_) | EventKind::AgentEdits(_) => {
                    turn.tell_call(event_idx).await;
                }
                _ => {}
            }
        }
    }

    async fn prompt(self: &Arc<Self>, id: Json, params: Json) {
        match self.begin(&params).await {
            Err(refused) => self.answer(&id, Err(refused), &params).await,
            Ok(begun) => {
                self.n_prompts.fetch_add(1, Ordering::Relaxed);
                let agent = self.clone();
                self.turns.spawn(async move { agent.turn(id, begun).await });
            }
        }
    }

    /// Finds the segment that a prompt opens.
    async fn begin(self: &Arc<Self>, params: &Json) -> Result<Begun, Refused> {
        let session = self.of_session(params)?;
        let blocks = params["prompt"]
            .as_array()
            .ok_or_else(|| invalid("`prompt` must be a list of blocks"))?;
        self.check_blocks(blocks)?;
        if session.state().turn.is_some() {
            return Err(Refused::unexpected(
                INVALID_REQUEST,
                "a prompt came while another one is being answered",
            )
            .with_help("wait for its answer, or send `session/cancel`"));
        }
        let bound = session.state().script.clone();
        let script = match bound {
            Some(script) => script,
            None => self.chosen(&session, blocks)?,
        };
        let segment_idx = session.state().next_segment;
        let Some(segment) = script.1.segments.live.get(segment_idx) else {
            let message = format!(
                "the script of `{}` is over: it expects no prompt",
                script.1.timeline.name
            );
            return Err(Refused::unexpected(INVALID_REQUEST, message)
                .noting(format!("the prompt: {}", shown(&params["prompt"]))));
        };
        if let (Some(input), Some(entry)) = (
            segment.input,
            script.1.segments.input(&script.1.timeline, segment_idx),
        ) {
            let difference = prompt_difference(entry, blocks).or_else(|| {
                script::lacks(&entry.meta, &params["_meta"]).filter(|_| !entry.meta.is_null())
            });
            if let Some(difference) = difference {
                let expected = entry.prompt_text().unwrap_or_default();
                let is_first = segment_idx == 0
                    || (segment_idx == 1 && script.1.segments.live[0].input.is_none());
                let refused = Refused::unexpected(
                    INVALID_PARAMS,
                    "the prompt is not the one that the script expects",
                )
                .expecting(&script.1.timeline, input.event_idx, &expected)
                .noting(difference);
                if !(is_first && script.1.timeline.server.any_prompt) {
                    return Err(refused.with_help(
                        "correct the client or the scenario; `--any-prompt` takes any first prompt",
                    ));
                }
                let mut doubt = *refused.found;
                doubt.severity = Severity::Warning;
                doubt.code = codes::SELECT_DOUBT;
                self.find(&session.id, doubt).await;
            }
        }
        let cancel = self.stop.child_token();
        {
            let mut state = session.state();
            state.turn = Some(cancel.clone());
            state.next_segment += 1;
        }
        self.missing_calls(&session, &script.1, script.1.bounds(segment_idx).0)
            .await;
        let told = MessageReceived {
            role: "user".to_owned(),
            content: texts(blocks).join("\n"),
        };
        self.tell(&session.id, vec![EventData::MessageReceived(told)])
            .await;
        Ok(Begun {
            session,
            script,
            segment_idx,
            cancel,
        })
    }

    fn check_blocks(&self, blocks: &[Json]) -> Result<(), Refused> {
        for block in blocks {
            let (kind, needs) = match block["type"].as_str() {
                Some("text" | "resource_link") => continue,
                Some(kind @ ("image" | "audio")) => (kind, kind),
                Some("resource") => ("resource", "embeddedContext"),
                other => {
                    let other = other.unwrap_or("none");
                    return Err(invalid(&format!(
                        "unknown type of a block: `{}`",
                        cut(other, 40)
                    )));
                }
            };
            if !self.can(&format!("/promptCapabilities/{needs}")) {
                let message = format!(
                    "a prompt with a block of type `{kind}`, which the agent does not advertise"
                );
                return Err(
                    Refused::of(codes::ACP_CAPABILITIES, INVALID_PARAMS, message).with_help(
                        &format!(
                            "set acp: {{capabilities: {{promptCapabilities: {{{needs}: true}}}}}}"
                        ),
                    ),
                );
            }
        }
        Ok(())
    }

    /// The scenario that a first prompt means.
    fn chosen(&self, session: &Session, blocks: &[Json]) -> Result<IndexedScript, Refused> {
        let texts = texts(blocks);
        let joined = texts.join("\n");
        let mut prompts: Vec<&str> = texts.clone();
        prompts.push(&joined);
        let wanted = Wanted {
            name: None,
            session_id: None,
            prompts: &prompts,
        };
        let selection = self.selector.select(wanted).map_err(|error| {
            let found = error.diagnostic();
            Refused {
                error: RpcError::new(INVALID_PARAMS, &found.message),
                found: Box::new(found),
            }
        })?;
        let script = (
            selection.scenario_idx,
            self.scripts[selection.scenario_idx].clone(),
        );
        session.state().script = Some(script.clone());
        Ok(script)
    }

    /// Tells of calls that should have come before the events from `end` on.
    async fn missing_calls(&self, session: &Session, script: &AcpScript, end: usize) {
        let missing: Vec<(usize, AwaitedCall<'_>)> = {
            let mut state = session.state();
            let calls = script.awaited_calls(end).filter(|(event_idx, call)| {
                let is_of_connection = matches!(call, AwaitedCall::Authenticate { .. });
                !is_of_connection && !state.settled_calls.contains(event_idx)
            });
            let missing: Vec<_> = calls.collect();
            state
                .settled_calls
                .extend(missing.iter().map(|(event_idx, _)| *event_idx));
            missing
        };
        for (event_idx, call) in missing {
            let message = format!("the client did not send {}", call.words());
            self.find(
                &session.id,
                differs(codes::ACP_MISSING, &script.timeline, event_idx, message),
            )
            .await;
        }
    }

    /// Plays a segment, and answers its prompt.
    async fn turn(self: Arc<Self>, id: Json, begun: Begun) {
        let Begun {
            session,
            script,
            segment_idx,
            cancel,
        } = begun;
        if !script.1.loads_sessions() {
            self.tell_history(&session, script.clone()).await;
        }
        let segment = script.1.segments.live[segment_idx].clone();
        let mut turn = Turn::new(
            self.clone(),
            session.clone(),
            script.clone(),
            segment.origin_ms,
            cancel.clone(),
        );
        let stopped = turn.play(segment.events.clone()).await.err();
        if let Some(Stopped::Cancelled) = stopped {
            turn.abandon().await;
            session
                .state()
                .settled_calls
                .extend(segment.events.clone().filter(|&event_idx| {
                    matches!(
                        script.1.event(event_idx).kind,
                        EventKind::UserCancelSession { .. }
                    )
                }));
        }
        let answer: Answer = match stopped {
            Some(Stopped::Failed(error)) => Err(error),
            Some(Stopped::Cancelled) => Ok(json!({"stopReason": "cancelled"})),
            None => Ok(scripted_answer(&script.1, segment_idx)),
        };
        let reason = match &answer {
            Ok(answer) => answer["stopReason"].as_str().unwrap_or_default().to_owned(),
            Err(error) => format!("error: {}", error.message),
        };
        if !turn.said.is_empty() {
            let said = FinalOutput {
                role: "assistant".to_owned(),
                content: std::mem::take(&mut turn.said),
                format_hint: None,
            };
            self.tell(&session.id, vec![EventData::FinalOutput(said)])
                .await;
        }
        {
            let mut state = session.state();
            state.turn = None;
            let mut told = answer
                .clone()
                .unwrap_or_else(|error| json!({"error": error.message}));
            told["sessionId"] = json!(&*session.id);
            state.answers.push(told);
        }
        // A cancelled segment is over too.
        if !self.stop.is_cancelled() {
            self.played().insert((script.0, segment_idx));
        }
        self.asserts(&session, &script.1, segment.events).await;
        self.peer.answer(&id, &answer).await;
        let report = TurnReport {
            session: session.id.to_string(),
            scenario: script.1.timeline.name.clone(),
            turn: segment_idx + 1,
            reason,
        };
        self.teller.notice(Notice::Turn(report)).await;
    }

    /// Judges the asserts of a segment that only this player can judge.
    async fn asserts(&self, session: &Session, script: &AcpScript, events: std::ops::Range<usize>) {
        for event_idx in events {
            let event = script.event(event_idx);
            let EventKind::Assert(assert) = &event.kind else {
                continue;
            };
            let answers = {
                let is_judged = assert
                    .checks
                    .iter()
                    .any(|check| matches!(check.check, TimelineCheck::AcpSession { .. }));
                let mut state = session.state();
                match is_judged {
                    true => std::mem::take(&mut state.answers),
                    false => Vec::new(),
                }
            };
            for check in &assert.checks {
                let TimelineCheck::AcpSession { prompt_idx, fields } = &check.check else {
                    let message = format!("`{}` can't be evaluated by `cuecard acp`", check.key);
                    let found = Diagnostic::note(codes::MODEL_ASSERT_UNJUDGED, message)
                        .at(&script.timeline.source, check.span);
                    self.find(&session.id, self.findings.strictly_noted(found))
                        .await;
                    continue;
                };
                let answer = answers.get(*prompt_idx).unwrap_or(&Json::Null);
                let lack = match answer.is_null() {
                    true => Some(format!("prompt {} was not answered", prompt_idx + 1)),
                    false => script::lacks(fields, answer),
                };
                let event_told = EventData::Assertion(Assertion {
                    id: format!("{}.{}", event.path, check.key),
                    kind: "acp.session".to_owned(),
                    status: if lack.is_none() { "pass" } else { "fail" }.to_owned(),
                    observed: answer.clone(),
                    evidence: lack.clone(),
                });
                self.tell(&session.id, vec![event_told]).await;
                if let Some(lack) = lack {
                    let found = Diagnostic::error(
                        codes::MODEL_ASSERT_FAILED,
                        format!("`{}` does not hold: {lack}", check.key),
                    )
                    .at(&script.timeline.source, check.span);
                    self.find(&session.id, found).await;
                }
            }
        }
    }

    /// Makes a call of the client's for a session, and waits as long as clients have patience for.
    pub(super) async fn call_client(
        &self,
        session: &Arc<str>,
        method: &str,
        params: &Json,
        hit: Option<FrameHit>,
    ) -> Answer {
        let waiting = self.peer.request(method, params, hit).await;
        let patience = self.options.patience;
        match tokio::time::timeout(patience, waiting).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(RpcError::new(INTERNAL_ERROR, "the client is gone")),
            Err(_) => {
                let message = format!(
                    "the client did not answer `{method}` within {} s",
                    patience.as_secs()
                );
                let found = Diagnostic::error(codes::ACP_MISSING, &message);
                self.find(
                    session,
                    found.with_help("give it more time with `--timeout SECONDS`"),
                )
                .await;
                Err(RpcError::new(INTERNAL_ERROR, message))
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

    /// The segments that no session played to their end: scenario and number from 1.
    pub(super) fn unplayed(&self) -> Vec<(usize, usize)> {
        let played = self.played();
        let scripts = self.scripts.iter().enumerate();
        let all = scripts.flat_map(|(idx, script)| {
            (0..script.segments.live.len()).map(move |segment| (idx, segment))
        });
        all.filter(|segment| !played.contains(segment)).collect()
    }
}

/// A segment that a prompt has opened.
struct Begun {
    session: Arc<Session>,
    script: IndexedScript,
    segment_idx: usize,
    cancel: CancellationToken,
}

/// Where the input of a segment stands; the end of the timeline behind the last.
fn next_input(script: &AcpScript, segment_idx: usize) -> usize {
    match segment_idx < script.segments.live.len() {
        true => script.bounds(segment_idx).0,
        false => script.timeline.events.len(),
    }
}

/// What a prompt is answered when its segment was played to its end.
fn scripted_answer(script: &AcpScript, segment_idx: usize) -> Json {
    let mut answer = match script
        .segments
        .expected_response(&script.timeline, segment_idx)
    {
        answer if answer.is_object() => answer.clone(),
        _ => json!({}),
    };
    if let Some(members) = answer.as_object_mut() {
        members.remove("sessionId");
        members
            .entry("stopReason")
            .or_insert_with(|| json!("end_turn"));
    }
    answer
}

fn invalid(message: &str) -> Refused {
    Refused::unexpected(INVALID_PARAMS, message)
}

fn text_of<'p>(params: &'p Json, key: &str) -> Result<&'p str, Refused> {
    let text = params[key].as_str().filter(|text| !text.is_empty());
    text.ok_or_else(|| invalid(&format!("`{key}` must be a string that isn't empty")))
}

fn folder_of(params: &Json) -> Result<&str, Refused> {
    let folder = text_of(params, "cwd")?;
    match folder.starts_with('/') {
        true => Ok(folder),
        false => Err(invalid(&format!(
            "`cwd` must be absolute, not `{}`",
            cut(folder, 100)
        ))),
    }
}

/// The texts of a prompt, block by block.
fn texts(blocks: &[Json]) -> Vec<&str> {
    blocks
        .iter()
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .collect()
}

/// What differs between a prompt and the input that the script has: its text as texts are compared, all other blocks by
/// what they are.
fn prompt_difference(input: &UserInput, came: &[Json]) -> Option<String> {
    let wanted: Vec<&str> = input
        .blocks
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let (wanted, found) = (wanted.join("\n"), texts(came).join("\n"));
    if normalise(&wanted) != normalise(&found) {
        return Some(format!("the text that came: {}", shown(&json!(found))));
    }
    let mut wanted = input
        .blocks
        .iter()
        .filter(|block| !matches!(block.kind, BlockKind::Text(_)));
    let mut found = came.iter().filter(|block| block["type"] != "text");
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return None,
            (Some(wanted), Some(found)) => {
                if let Some(difference) = content::difference(wanted, found) {
                    return Some(difference);
                }
            }
            (Some(wanted), None) => {
                return Some(format!(
                    "a block of type `{}` is missing",
                    wanted.kind.as_str()
                ));
            }
            (None, Some(found)) => return Some(format!("a block too many: {}", shown(found))),
        }
    }
}
