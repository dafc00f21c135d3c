//! Sessions: opened, loaded with their history, listed, closed, and set.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cuecard_source::diagnostic::codes;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::EventKind;
use cuecard_timeline::script::{PromptSegment, content_block};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Agent, invalid, text_of};
use crate::found::{Refused, shown};
use crate::rpc::{AUTH_REQUIRED, INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND};
use crate::script::updates::{self, Speaker};
use crate::script::{self, AcpScript, AwaitedCall};
use crate::session::{IndexedScript, Session};
use crate::turn::Turn;

impl Agent {
    /// Refuses sessions before a required authentication.
    pub(super) fn is_open_to_sessions(&self) -> Result<(), Refused> {
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
    pub(super) fn only_script(&self) -> Option<IndexedScript> {
        let name = self.options.play.scenario_name.as_deref();
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

    pub(super) async fn new_session(self: &Arc<Self>, params: &Json) -> Result<Json, Refused> {
        self.is_open_to_sessions()?;
        let folder = folder_of(params)?;
        self.check_servers(params)?;
        let script = self.only_script();
        let session = {
            let mut sessions = self.sessions();
            if sessions.len() >= self.options.play.max_sessions {
                let message = format!(
                    "there are {} sessions already",
                    self.options.play.max_sessions
                );
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

    pub(super) fn opened(&self, session: &Session, is_new: bool) -> Json {
        let state = session.state();
        let mut answer = match &state.script {
            Some((_, script)) => script::opened(script),
            None => serde_json::Map::new(),
        };
        if is_new {
            answer.insert("sessionId".to_owned(), json!(&*session.id));
        }
        let mut answer = Json::Object(answer);
        for (place, id) in &state.chosen {
            if let Some(current) = answer.pointer_mut(place) {
                *current = json!(id);
            }
        }
        answer
    }

    pub(super) fn check_servers(&self, params: &Json) -> Result<(), Refused> {
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

    /// The sessions that there are, and those of the scripts that can be loaded.
    pub(super) fn list(&self, params: &Json) -> Json {
        let sessions = self.sessions();
        let folder = params["cwd"].as_str();
        let scripted = self
            .scripts
            .iter()
            .filter_map(|script| script.timeline.session_id());
        let scripted = scripted.filter(|id| sessions.get(id).is_none());
        let mut listed: Vec<Json> = sessions
            .all()
            .filter(|session| folder.is_none_or(|folder| folder == session.folder))
            .map(|session| json!({"sessionId": &*session.id, "cwd": session.folder}))
            // The protocol wants a folder, and the script has none.
            .chain(scripted.map(|id| json!({"sessionId": id, "cwd": folder.unwrap_or("/")})))
            .collect();
        listed.sort_by_key(|entry| entry["sessionId"].to_string());
        json!({"sessions": listed})
    }

    pub(super) fn close(&self, params: &Json) -> Result<Json, Refused> {
        let session = self.of_session(params)?;
        session.cancel();
        session.state().is_closed = true;
        Ok(json!({}))
    }

    pub(super) async fn set(&self, params: &Json, key: &str) -> Result<Json, Refused> {
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
        let (came, place) = match key {
            "modeId" => (
                AwaitedCall::SetMode { mode_id: wanted },
                "/modes/currentModeId",
            ),
            _ => (
                AwaitedCall::SetModel { model_id: wanted },
                "/models/currentModelId",
            ),
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
        match open.iter().find(|(_, call)| *call == came) {
            Some((event_idx, _)) => {
                state.settled_calls.insert(*event_idx);
                state.chosen.insert(place, wanted.to_owned());
                Ok(json!({}))
            }
            None => {
                let message = format!("{} is not scripted here", came.words());
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

    /// Loads a session: its history and what was played of it are told if the client wants that, then the answer, then what
    /// no prompt opens.
    pub(super) async fn load(self: &Arc<Self>, id: Json, params: Json, tells: bool) {
        let (session, earlier) = match self.loadable(&params) {
            Ok(loaded) => loaded,
            Err(refused) => return self.answer(&id, Err(refused), &params).await,
        };
        let agent = self.clone();
        let (script, unopened) = {
            let mut state = session.state();
            let script = state.script.clone();
            let mut live = script.iter().flat_map(|(_, script)| &script.segments.live);
            let next = live.nth(state.next_segment);
            let unopened = next.filter(|segment| segment.input.is_none()).cloned();
            let unopened = unopened.map(|segment| (segment, agent.stop.child_token()));
            // A prompt that comes meanwhile is for the next one, and waits.
            state.next_segment += usize::from(unopened.is_some());
            let mut scripts = script.iter();
            state.has_history |= !tells && scripts.any(|(_, script)| !script.loads_sessions());
            state.unopened = unopened.as_ref().map(|(_, cancel)| cancel.clone());
            (script, unopened)
        };
        let playing = session.playing.clone().lock_owned().await;
        self.turns.spawn(async move {
            let _playing = playing;
            if let Some(earlier) = earlier {
                // What is still played ends first.
                drop(earlier.playing.lock().await);
            }
            if tells {
                // The history stands above what was played.
                let sent = std::mem::take(&mut session.state().sent);
                if let Some(script) = &script {
                    agent.tell_history(&session, script.clone()).await;
                }
                for update in sent {
                    let update = updates::without_terminal(update);
                    agent.update(&session, update, None).await;
                }
            }
            let answer = agent.opened(&session, false);
            agent.peer.answer(&id, &Ok(answer)).await;
            if let (Some((segment, cancel)), Some(script)) = (unopened, script) {
                let mut turn = Turn::new(
                    agent.clone(),
                    session.clone(),
                    script.clone(),
                    segment.clone(),
                    cancel,
                );
                match turn.play(segment.events).await {
                    Ok(()) => {
                        let key = (script.0, session.id.clone());
                        agent.played().entry(key).or_default().insert(0);
                    }
                    Err(_) => turn.abandon().await,
                }
                session.state().unopened = None;
            }
        });
    }

    /// The session that is meant, and what it was until now if this process has it already.
    fn loadable(&self, params: &Json) -> Result<(Arc<Session>, Option<Arc<Session>>), Refused> {
        self.is_open_to_sessions()?;
        let id = text_of(params, "sessionId")?;
        let folder = folder_of(params)?.to_owned();
        self.check_servers(params)?;
        let earlier = self.sessions().get(id);
        let session = match &earlier {
            Some(earlier) => {
                earlier.cancel();
                earlier.reopened(folder)
            }
            None => {
                let session = Session::new(id.into(), folder, Some(self.scripted_session(id)?));
                self.n_sessions.fetch_add(1, Ordering::Relaxed);
                session
            }
        };
        let session = Arc::new(session);
        self.sessions().insert(session.clone());
        Ok((session, earlier))
    }

    /// The script with a session of an earlier process.
    fn scripted_session(&self, id: &str) -> Result<IndexedScript, Refused> {
        let is_it = |script: &Arc<AcpScript>| {
            let timeline = &script.timeline;
            timeline.session_id() == Some(id) || timeline.name == id
        };
        let idx = self.scripts.iter().position(is_it).ok_or_else(|| {
            let timelines = self.scripts.iter().map(|script| &script.timeline);
            let known = timelines.map(|it| it.session_id().unwrap_or(&it.name));
            let known: Vec<&str> = known.collect();
            Refused::unexpected(NOT_FOUND, format!("there is no session `{}`", cut(id, 100)))
                .noting(format!("there are: {}", known.join(", ")))
        })?;
        Ok((idx, self.scripts[idx].clone()))
    }

    /// Tells what happened before the session, without waiting and without asking the client for anything.
    pub(super) async fn tell_history(
        self: &Arc<Self>,
        session: &Arc<Session>,
        script: IndexedScript,
    ) {
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
            // Nothing of it is waited for.
            PromptSegment {
                input: None,
                events: history.clone(),
                prompt_ms: u64::MAX,
                origin_ms: u64::MAX,
            },
            CancellationToken::new(),
        );
        for event_idx in history {
            let event = script.1.event(event_idx);
            match &event.kind {
                EventKind::UserInputs(inputs) => {
                    for input in inputs {
                        for block in input.blocks.iter().filter_map(content_block) {
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
}

/// Where the input of a segment stands; the end of the timeline behind the last.
fn next_input(script: &AcpScript, segment_idx: usize) -> usize {
    match segment_idx < script.segments.live.len() {
        true => script.bounds(segment_idx).0,
        false => script.timeline.events.len(),
    }
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
