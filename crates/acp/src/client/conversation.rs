//! The conversation with an agent: what it sends is kept, and what it asks is answered.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuecard_runtime::lines::{Line, LineReader};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::json::mended;
use cuecard_source::matching::lack;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::{PermissionDecision, PermissionRequest};
use cuecard_workspace::checks;
use serde_json::json;
use tokio::io::AsyncRead;
use tokio::sync::Notify;

use super::files::{self, Terminals, text_of};
use super::folder::{Awaited, AwaitedCheck};
use super::seen::{Came, Seen};
use crate::found::shown;
use crate::peer::{Answer, Peer};
use crate::rpc::{self, METHOD_NOT_FOUND, Message, RpcError};
use crate::script::AcpScript;
use crate::script::content::is_same_text;
use crate::script::matching::mismatch;
use crate::telling::Telling;

/// What our client answers to its own request, from which it knows a program that only repeats what it reads.
pub(super) const ECHOED: &str = "this is a request of the client: an agent answers it";

/// A longer line of the agent is refused, in bytes.
const MAX_LINE: usize = 64 << 20;

/// So many lines that are no messages are one too many.
const MAX_MALFORMED: usize = 100;

/// An agent may not send more in one turn, in bytes.
const MAX_TURN: usize = 256 << 20;

/// A conversation with one agent.
pub(super) struct Conversation {
    pub(super) peer: Peer,
    pub(super) telling: Arc<Telling>,
    pub(super) terminals: Terminals,
    root: PathBuf,
    pub(super) environment: Vec<(OsString, OsString)>,
    /// What the client said that it can do.
    capabilities: Mutex<Json>,
    state: Mutex<State>,
    /// Something came.
    pub(super) changed: Notify,
}

/// What the user decides.
pub(super) struct Decision {
    /// The event of the request.
    pub(super) event_idx: usize,
    /// The call that the request is for, by its event, if the script has it.
    pub(super) call: Option<(Arc<AcpScript>, usize)>,
    pub(super) request: PermissionRequest,
    /// A file, and what it is only to have once the permission was given.
    pub(super) permitted: Option<(String, String)>,
}

/// What changes.
#[derive(Default)]
pub(super) struct State {
    pub(super) session: Option<Arc<str>>,
    pub(super) seen: Seen,
    /// What the user has not decided yet, in order.
    pub(super) decisions: VecDeque<Decision>,
    /// The files whose content the script has.
    pub(super) contents: Vec<(String, String)>,
    /// What is to be seen in the midst of the turn, and was not yet.
    pub(super) awaited: Awaited,
    /// The checks that held there, by event and key.
    pub(super) held: HashSet<(usize, String)>,
    /// Whether a turn is being played: what the agent does by itself is not in the script.
    pub(super) is_in_turn: bool,
    /// Whether the turn goes on after an answer.
    goes_on: bool,
    /// Whether the turn was cancelled: permissions are no longer given.
    pub(super) is_cancelled: bool,
    /// The agent says nothing more.
    pub(super) is_over: bool,
    /// What came in this turn, in bytes.
    n_bytes: usize,
    /// Lines that were no messages.
    n_malformed: usize,
}

impl Conversation {
    pub(super) fn new(
        peer: Peer,
        telling: Arc<Telling>,
        root: PathBuf,
        environment: &[(OsString, OsString)],
    ) -> Self {
        Self {
            peer,
            telling,
            terminals: Terminals::new(root.clone(), environment.to_vec()),
            root,
            environment: environment.to_vec(),
            capabilities: Mutex::default(),
            state: Mutex::default(),
            changed: Notify::new(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the client says that it can do.
    pub(super) fn set_capabilities(&self, capabilities: &Json) {
        *self
            .capabilities
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = capabilities.clone();
    }

    fn can(&self, pointer: &str) -> bool {
        let capabilities = self
            .capabilities
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        capabilities.pointer(pointer) == Some(&Json::Bool(true))
    }

    /// A turn begins; what came since the last one is not part of it.
    pub(super) fn begin_turn(
        &self,
        decisions: VecDeque<Decision>,
        contents: Vec<(String, String)>,
        awaited: Awaited,
        goes_on: bool,
    ) {
        let mut state = self.state();
        state.seen.begin();
        state.decisions = decisions;
        state.contents = contents;
        state.awaited = awaited;
        state.is_in_turn = true;
        state.goes_on = goes_on;
        state.is_cancelled = false;
        state.n_bytes = 0;
    }

    /// Looks at what may have changed again by the end of the turn.
    pub(super) async fn look(&self) {
        let root = &self.root;
        let due: Vec<AwaitedCheck> = {
            let mut state = self.state();
            state.awaited.files.retain(|file| !file.is_met(root));
            let n_ended = state.seen.n_ended_calls();
            let checks = &mut state.awaited.checks;
            checks
                .extract_if(.., |check| check.n_calls <= n_ended)
                .collect()
        };
        for due in due {
            let probed = checks::check(&due.check.check, root, &self.environment).await;
            let mut state = self.state();
            match probed.is_some_and(|probed| probed.holds) {
                true => drop(state.held.insert((due.event_idx, due.check.key))),
                false => state.awaited.checks.push(due),
            }
        }
    }

    /// An answer ends a turn, unless that goes on.
    fn answer_came(&self) {
        let mut state = self.state();
        state.is_in_turn &= state.goes_on;
    }

    /// Something is wrong with what the agent does.
    pub(super) async fn found(&self, found: Diagnostic) {
        let session = self.state().session.clone();
        self.telling.found(session, found).await;
    }

    async fn unexpected(&self, message: String) {
        self.found(Diagnostic::error(codes::ACP_UNEXPECTED, message))
            .await;
    }

    /// Reads what the agent writes until there is no more.
    pub(super) async fn listen(self: Arc<Self>, input: Box<dyn AsyncRead + Send + Unpin>) {
        let mut lines = LineReader::new(input, MAX_LINE);
        loop {
            match lines.next().await {
                Line::Whole(line) => {
                    let n_bytes = {
                        let mut state = self.state();
                        state.n_bytes += line.len();
                        state.n_bytes
                    };
                    if self.line(&line).await {
                        self.changed.notify_one();
                    }
                    if self.state().n_malformed > MAX_MALFORMED {
                        let message =
                            format!("more than {MAX_MALFORMED} lines of the agent are no messages");
                        self.unexpected(message).await;
                        break;
                    }
                    if n_bytes > MAX_TURN {
                        let message = format!(
                            "the agent sent more than {} MiB in one turn",
                            MAX_TURN >> 20
                        );
                        self.unexpected(message).await;
                        break;
                    }
                }
                Line::TooLong(bound) => {
                    let message = format!("a line of the agent is longer than {} MiB", bound >> 20);
                    self.unexpected(message).await;
                    break;
                }
                Line::End => break,
            }
        }
        self.state().is_over = true;
        self.peer.hang_up();
        self.changed.notify_one();
    }

    /// Whether a line was a message.
    async fn line(self: &Arc<Self>, line: &[u8]) -> bool {
        if line.trim_ascii().is_empty() {
            return false;
        }
        let (whole, found) = mended("a line of the agent", line);
        for found in found {
            self.telling.found(None, found).await;
        }
        match rpc::read(&whole) {
            Ok(Message::Response { id, result }) => {
                // What follows is no part of the turn.
                self.answer_came();
                if !self.peer.answered(&id, result) {
                    self.unexpected(format!("an answer to request {id}, which was never sent"))
                        .await;
                }
            }
            Ok(Message::Notification { method, params }) => self.notified(&method, &params).await,
            Ok(Message::Request { id, method, params }) => self.request(id, method, params).await,
            Err(malformed) => {
                let message = format!("a line of the agent is no message: {}", malformed.why);
                let line = String::from_utf8_lossy(line);
                let found = Diagnostic::error(codes::ACP_UNEXPECTED, message)
                    .with_note(format!("it was: {}", cut(line.trim(), 200)))
                    .with_help(
                        "standard output belongs to the protocol; logs go to standard error",
                    );
                self.found(found).await;
                self.state().n_malformed += 1;
                return false;
            }
        }
        true
    }

    /// Why a message is about another session than the one there is.
    fn other_session(&self, params: &Json) -> Option<String> {
        let session = self.state().session.clone();
        let told = params["sessionId"].as_str();
        // While it is being opened, only the agent knows it.
        let is_it = session.is_none() || told == session.as_deref();
        (!is_it).then(|| {
            format!(
                "the session {}, which does not exist",
                shown(&params["sessionId"])
            )
        })
    }

    async fn notified(&self, method: &str, params: &Json) {
        let at = self.telling.clock.now();
        if method != "session/update" {
            if method.starts_with('_') {
                let (method, params) = (method.to_owned(), params.clone());
                let kept = self
                    .state()
                    .seen
                    .came(at, Came::Notified { method, params });
                if let Err(why) = kept {
                    self.unexpected(why).await;
                }
            } else if !method.starts_with("$/") {
                self.unexpected(format!("unknown notification `{}`", cut(method, 100)))
                    .await;
            }
            return;
        }
        if let Some(other) = self.other_session(params) {
            return self.unexpected(format!("an update of {other}")).await;
        }
        let update = &params["update"];
        let (kept, is_late) = {
            let mut state = self.state();
            match !state.is_in_turn && Seen::is_of_turn(update) {
                true => (Ok(()), true),
                false => (state.seen.update(at, update), false),
            }
        };
        if matches!(update["status"].as_str(), Some("completed" | "failed")) {
            self.look().await;
        }
        if update["status"] == "completed" {
            let id = update["toolCallId"].as_str().unwrap_or_default();
            let terminals = self.state().seen.terminals_of(id).to_vec();
            self.terminals.are_said_to_end(&terminals);
        }
        match kept {
            Err(why) => {
                let found =
                    Diagnostic::error(codes::ACP_UNEXPECTED, format!("the agent sent {why}"))
                        .with_note(format!("it was: {}", shown(update)));
                self.found(found).await;
            }
            Ok(()) if is_late => {
                let found = Diagnostic::error(
                    codes::ACP_UNEXPECTED,
                    "the agent sent an update although no prompt is being answered",
                );
                let found = found
                    .with_note(format!("it was: {}", shown(update)))
                    .with_help("all updates of a turn are sent before the answer to its prompt");
                self.found(found).await;
            }
            Ok(()) => {}
        }
    }

    async fn request(self: &Arc<Self>, id: Json, method: String, params: Json) {
        if let Some(other) = self
            .other_session(&params)
            .filter(|_| !method.starts_with('_'))
        {
            let message = format!("`{method}` for {other}");
            self.unexpected(message.clone()).await;
            let error = RpcError::new(rpc::NOT_FOUND, message);
            return self.peer.answer(&id, &Err(error)).await;
        }
        let needs = match method.as_str() {
            "session/request_permission" => {
                let answer = self.decide(&params).await;
                return self.peer.answer(&id, &answer).await;
            }
            "fs/read_text_file" => "/fs/readTextFile",
            "fs/write_text_file" => "/fs/writeTextFile",
            "terminal/create"
            | "terminal/output"
            | "terminal/wait_for_exit"
            | "terminal/kill"
            | "terminal/release" => "/terminal",
            _ => {
                // A program that sends our own request back is no agent, which its answer says.
                let is_echo = method == "initialize" && params.get("clientCapabilities").is_some();
                if !method.starts_with('_') && !is_echo {
                    self.unexpected(format!("unknown request `{}`", cut(&method, 100)))
                        .await;
                }
                let message = match is_echo {
                    true => ECHOED.to_owned(),
                    false => format!("method not found: {method}"),
                };
                let error = RpcError::new(METHOD_NOT_FOUND, message);
                return self.peer.answer(&id, &Err(error)).await;
            }
        };
        let is_late = !self.state().is_in_turn
            && matches!(method.as_str(), "fs/write_text_file" | "terminal/create");
        if is_late {
            let message = format!("`{method}` although no prompt is being answered");
            self.unexpected(message.clone()).await;
            let error = RpcError::new(rpc::INVALID_REQUEST, message);
            return self.peer.answer(&id, &Err(error)).await;
        }
        if !self.can(needs) {
            let message = format!("`{method}`, which the client does not advertise");
            self.found(Diagnostic::error(codes::ACP_CAPABILITIES, &message))
                .await;
            let error = RpcError::new(METHOD_NOT_FOUND, message);
            return self.peer.answer(&id, &Err(error)).await;
        }
        match method.as_str() {
            "fs/read_text_file" | "fs/write_text_file" => {
                let answer = self.file(&method, &params).await;
                self.peer.answer(&id, &answer).await;
            }
            "terminal/create" => {
                self.look().await;
                let answer = self.terminals.answer(&method, &params).await;
                if let Err(error) = &answer {
                    self.refused(&method, error).await;
                }
                // What can't be started was asked for all the same; what is not allowed was told.
                let is_asked = |error: &RpcError| error.code == rpc::INTERNAL_ERROR;
                if answer.as_ref().err().is_none_or(is_asked) {
                    let id = answer
                        .as_ref()
                        .ok()
                        .and_then(|it| it["terminalId"].as_str());
                    let id = id.unwrap_or_default().to_owned();
                    let line = files::line_of(&params);
                    let at = self.telling.clock.now();
                    // More of them than a turn may have are not to be had.
                    let cwd = params["cwd"].as_str().map(str::to_owned);
                    let _ = self.state().seen.came(at, Came::Terminal { id, line, cwd });
                }
                self.peer.answer(&id, &answer).await;
            }
            _ => {
                let conversation = self.clone();
                tokio::spawn(async move {
                    let answer = conversation.terminals.answer(&method, &params).await;
                    conversation.changed.notify_one();
                    if let Err(error) = &answer {
                        conversation.refused(&method, error).await;
                    }
                    conversation.peer.answer(&id, &answer).await;
                });
            }
        }
    }

    /// What an agent may not do is a failure; what it can't is an answer.
    async fn refused(&self, method: &str, error: &RpcError) {
        let is_unknown = error.code == rpc::NOT_FOUND && method.starts_with("terminal/");
        if error.code == rpc::INVALID_PARAMS || is_unknown {
            self.unexpected(format!("`{method}`: {}", error.message))
                .await;
        }
    }

    async fn file(&self, method: &str, params: &Json) -> Answer {
        let path = params["path"].as_str().unwrap_or_default().to_owned();
        let scripted = {
            let state = self.state();
            let contents = state.contents.iter().find(|(of, _)| *of == path);
            contents.map(|(_, content)| content.clone())
        };
        let (is_read, root) = (method == "fs/read_text_file", self.root.clone());
        let mut before = None;
        let answer = match scripted.filter(|_| is_read) {
            Some(content) => Ok(json!({"content": files::lines_of(&content, params)})),
            None => {
                let asked = params.clone();
                let answer = tokio::task::spawn_blocking(move || match is_read {
                    true => (None, files::read(&root, &asked)),
                    false => {
                        let path = asked["path"].as_str().unwrap_or_default();
                        (files::text_of(&root, path), files::write(&root, &asked))
                    }
                });
                let lost = |_| {
                    let error = RpcError::new(rpc::INTERNAL_ERROR, "the file was lost");
                    (None, Err(error))
                };
                let (text, answer) = answer.await.unwrap_or_else(lost);
                before = text;
                answer
            }
        };
        if let Err(error) = &answer {
            self.refused(method, error).await;
        }
        let content = params["content"].as_str().unwrap_or_default().to_owned();
        let is_part =
            params["limit"].is_u64() || params["line"].as_u64().is_some_and(|line| line > 1);
        let came = match is_read {
            // Some lines of a file are not the file.
            true if is_part => return answer,
            true => Came::Read { path },
            false if answer.is_err() => return answer,
            false => Came::Write {
                path,
                before,
                content,
            },
        };
        let at = self.telling.clock.now();
        let kept = self.state().seen.came(at, came);
        if let Err(why) = kept {
            self.unexpected(why).await;
        }
        answer
    }

    /// What the user of the script decides.
    async fn decide(&self, params: &Json) -> Answer {
        let offered = params["options"].as_array().map_or(&[][..], Vec::as_slice);
        let (next, is_over) = self.state().next_decision(params, &self.root);
        let scripted = match &next {
            Ok(next) => Ok(next.event_idx),
            Err(why) => Err(why.clone()),
        };
        let next = next.ok();
        let permitted = next.as_ref().and_then(|next| next.permitted.as_ref());
        let is_done = is_over
            || permitted.is_some_and(|(path, after)| {
                text_of(&self.root, path).is_some_and(|text| is_same_text(after, &text))
            });
        let cancelled = json!({"outcome": "cancelled"});
        // One that nobody scripted is told when the turn is compared.
        let outcome = match next {
            None => cancelled,
            Some(Decision { request, .. }) => match &request.decision {
                PermissionDecision::Cancelled => cancelled,
                PermissionDecision::Selected(id) => match choose(&request, id, offered) {
                    Some(id) => json!({"outcome": "selected", "optionId": id}),
                    None => {
                        let message = format!(
                            "the agent offers no option like `{id}`, so its request was cancelled"
                        );
                        let found = Diagnostic::error(codes::ACP_PERMISSION, message)
                            .with_note(format!("it offers {}", shown(&params["options"])));
                        self.found(found).await;
                        cancelled
                    }
                },
            },
        };
        let at = self.telling.clock.now();
        let came = Came::Permission {
            params: params.clone(),
            outcome: outcome.clone(),
            is_done,
            scripted,
        };
        let kept = {
            let mut state = self.state();
            let kept = state.seen.came(at, came);
            kept.and_then(|()| state.seen.permission_of(at, &params["toolCall"]))
        };
        if let Err(why) = kept {
            self.unexpected(format!("a request for permission: {why}"))
                .await;
        }
        Ok(json!({"outcome": outcome}))
    }
}

impl State {
    /// Takes the first open decision on a call that a request may be for, and tells whether that call has ended; why it
    /// is not the first of them, if there are some.
    fn next_decision(
        &mut self,
        params: &Json,
        root: &Path,
    ) -> (Result<Decision, Option<String>>, bool) {
        let asked = &params["toolCall"];
        let id = asked["toolCallId"].as_str().unwrap_or_default();
        let told = self.seen.call_with_id(id);
        let is_over = told.is_some_and(|call| call.ended.is_some());
        let told = told.map(|call| &call.now);
        let folder = root.to_string_lossy();
        let whys = self
            .decisions
            .iter()
            .map(|open| open.mismatch(told, asked, &folder));
        let whys: Vec<Option<String>> = whys.collect();
        let next = match whys.iter().position(Option::is_none) {
            _ if self.is_cancelled => None,
            Some(idx) => self.decisions.remove(idx),
            None => None,
        };
        let why = || whys.into_iter().flatten().next();
        (next.ok_or_else(why), is_over)
    }
}

impl Decision {
    /// Why a request can't be for the call of this one. `told` is what the agent told of the call, if it did.
    fn mismatch(&self, told: Option<&Json>, asked: &Json, folder: &str) -> Option<String> {
        let mut asked = asked.clone();
        for (key, value) in told.and_then(Json::as_object).into_iter().flatten() {
            // A request may have another title than its call.
            if asked[key].is_null() || key == "title" {
                asked[key] = value.clone();
            }
        }
        let Some((script, event_idx)) = &self.call else {
            let mut wanted = self.request.tool_call.clone();
            if let Some(members) = wanted.as_object_mut() {
                members.retain(|key, _| !matches!(&**key, "toolCallId" | "title"));
            }
            let is_said = |value: &Json| {
                !matches!(value, Json::Null) && *value != json!({}) && *value != json!([])
            };
            // What is left out may be anything: the agent may tell of the call later.
            let differs = |described: &Json| {
                let members = wanted.as_object()?.iter();
                let mut said = members.filter(|(key, _)| is_said(&described[key.as_str()]));
                said.find_map(|(key, wanted)| lack(wanted, &described[key.as_str()]))
            };
            return told.and_then(differs).or_else(|| differs(&asked));
        };
        let event = &script.event(*event_idx).kind;
        told.and_then(|told| mismatch(event, told, folder))
            .or_else(|| mismatch(event, &asked, folder))
    }
}

/// The option that is meant: the one with this id, else the first of its kind.
fn choose(request: &PermissionRequest, id: &str, offered: &[Json]) -> Option<Json> {
    let by_id = offered.iter().find(|option| option["optionId"] == id);
    let kind = request.options.iter().find(|option| option.id == id);
    let by_kind = || {
        let kind = &kind?.kind;
        offered.iter().find(|option| option["kind"] == *kind)
    };
    by_id
        .or_else(by_kind)
        .map(|option| option["optionId"].clone())
}
