//! Plays a segment to the client: each part when it is due, with all calls that it needs of the client.

mod files;
mod tool_calls;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::matching::lack;
use cuecard_source::value::Json;
use cuecard_timeline::model::{
    AgentPlan, Block, BlockKind, EventKind, PermissionDecision, PermissionRequest, ResponseElement,
    ResponseError, TimelineEvent,
};
use cuecard_timeline::script::{
    EventPart, Lane, PromptSegment, ScheduledPart, block_text, content_block, parts,
};
use cuecard_trace::{EventData, Message, Permission, Plan, Thought};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::agent::Agent;
use super::found::{differs, shown};
use super::peer::Answer;
use super::rpc::{INTERNAL_ERROR, RpcError};
use super::script::AcpScript;
use super::script::content;
use super::script::matching::{call_id, requested_calls};
use super::script::updates::{self, Speaker};
use super::session::{IndexedScript, Session};
use cuecard_runtime::fault::FrameHit;
use cuecard_timeline::model::FaultKind;

/// A segment that is being played.
pub(super) struct Turn {
    pub(super) agent: Arc<Agent>,
    pub(super) session: Arc<Session>,
    pub(super) scenario_idx: usize,
    pub(super) script: Arc<AcpScript>,
    /// When its prompt came.
    began: Duration,
    /// What is played.
    segment: PromptSegment,
    /// How much later all is, since the client had to be waited for.
    delay: Duration,
    pub(super) cancel: CancellationToken,
    /// How many parts have begun.
    n_begun: usize,
    /// Calls that have begun and not ended, by their events.
    open: BTreeMap<usize, OpenCall>,
    /// The call or edit that each request for permission is for, by the events of both.
    requested: BTreeMap<usize, usize>,
    /// The calls and edits that the user refused, against the script, by their events.
    refused: BTreeSet<usize>,
    /// What the agent said.
    pub(super) said: String,
}

/// A tool call that has begun.
#[derive(Debug, Default)]
struct OpenCall {
    id: String,
    /// What it printed so far.
    output: String,
    exit_code: Option<i64>,
    /// The signal that ended it.
    signal: Option<String>,
    /// Where it really runs.
    terminal_id: Option<String>,
    /// Why it could not be started.
    refused: Option<String>,
    /// Whether it goes on while the agent does something else.
    is_in_background: bool,
}

/// Why a call is not done that the user refused.
const REFUSED: &str = "the user refused it";

/// Why a segment was not played to its end.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The client cancelled it.
    Cancelled,
    /// The script says that it fails.
    Failed(RpcError),
}

impl Turn {
    pub(super) fn new(
        agent: Arc<Agent>,
        session: Arc<Session>,
        (scenario_idx, script): IndexedScript,
        segment: PromptSegment,
        cancel: CancellationToken,
    ) -> Self {
        let requested = requested_calls(&script, segment.events.clone(), &session.folder);
        Self {
            began: agent.telling.clock.now(),
            agent,
            session,
            scenario_idx,
            script,
            segment,
            delay: Duration::ZERO,
            cancel,
            n_begun: 0,
            open: BTreeMap::new(),
            requested,
            refused: BTreeSet::new(),
            said: String::new(),
        }
    }

    /// Plays events to their end.
    pub(super) async fn play(&mut self, events: std::ops::Range<usize>) -> Result<(), Stopped> {
        let script = self.script.clone();
        let mut played = Ok(());
        for part in parts(&script.schedule, events) {
            // What is never played is not waited for either.
            if played.is_ok() {
                played = self.play_part(part, &script).await;
            }
            self.agent.has_played(&script, part).await;
        }
        played?;
        self.release_all().await;
        Ok(())
    }

    async fn play_part(&mut self, part: ScheduledPart, script: &AcpScript) -> Result<(), Stopped> {
        self.wait_for(part).await?;
        self.n_begun += 1;
        self.part(part, script.event(part.event_idx)).await
    }

    /// Whether the script cancels here: all above has been played, but for the rest of calls that have begun.
    pub(super) fn may_be_cancelled(&self) -> bool {
        let script = &self.script;
        let all = parts(&script.schedule, self.segment.events.clone());
        let is_cancel = |part: &ScheduledPart| {
            let kind = &script.event(part.event_idx).kind;
            matches!(kind, EventKind::UserCancelSession { .. })
        };
        let (begun, rest) = all.split_at(self.n_begun);
        let is_open = |part: &ScheduledPart| {
            let is_of_agent = script.schedule.events[part.event_idx].lane == Lane::Agent;
            !is_of_agent || self.open.contains_key(&part.event_idx)
        };
        let next = rest.iter().find(|part| is_cancel(part) || !is_open(part));
        begun.last().is_some_and(is_cancel) || next.is_some_and(is_cancel)
    }

    /// Ends what is open after a cancellation: nothing else is sent.
    pub(super) async fn abandon(&mut self) {
        for (event_idx, call) in std::mem::take(&mut self.open) {
            if let Some(terminal_id) = &call.terminal_id {
                for method in ["terminal/kill", "terminal/release"] {
                    let _ = self.of_terminal(method, terminal_id).await;
                }
            }
            let update = updates::call_update(&call.id, Some("failed"), None, &Json::Null);
            self.update(event_idx, update).await;
        }
    }

    /// Waits until something is due.
    async fn wait_for(&mut self, part: ScheduledPart) -> Result<(), Stopped> {
        if let Some(lead) = &self.agent.options.lead {
            let mut until = lead.until.clone();
            let is_led = async {
                let is_led = self.agent.is_led(&self.script).await;
                if is_led {
                    // Who is gone holds nothing back.
                    let _ = until.wait_for(|until| part.event_idx < *until).await;
                }
                is_led
            };
            let is_led = tokio::select! {
                is_led = is_led => is_led,
                () = self.cancel.cancelled() => return Err(Stopped::Cancelled),
            };
            if is_led {
                return Ok(());
            }
        }
        let speed = self.agent.options.play.speed;
        let lane = self.script.schedule.events[part.event_idx].lane;
        let origin_ms = self.segment.origin_of(lane);
        let after_ms = origin_ms.map_or(0, |origin_ms| speed.after(origin_ms, part.at_ms));
        let due = self.began + self.delay + Duration::from_millis(after_ms);
        if self.cancel.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        if due <= self.agent.telling.clock.now() {
            return Ok(());
        }
        tokio::select! {
            () = self.agent.telling.clock.sleep_until(due) => Ok(()),
            () = self.cancel.cancelled() => Err(Stopped::Cancelled),
        }
    }

    /// Waits for the client; all that follows is so much later.
    async fn waiting<T>(&mut self, for_it: impl Future<Output = T>) -> T {
        let since = self.agent.telling.clock.now();
        let result = for_it.await;
        self.delay += self.agent.telling.clock.now().saturating_sub(since);
        result
    }

    async fn part(&mut self, part: ScheduledPart, event: &TimelineEvent) -> Result<(), Stopped> {
        let event_idx = part.event_idx;
        match (&event.kind, part.part) {
            (EventKind::Response(response), part) => {
                let element = |idx: usize| response.elements.get(idx);
                match part {
                    EventPart::Think {
                        element_idx,
                        entry_idx,
                    } => {
                        if let Some(ResponseElement::Think(entries)) = element(element_idx) {
                            self.think(event_idx, &entries[entry_idx].value).await;
                        }
                    }
                    EventPart::Assistant {
                        element_idx,
                        entry_idx,
                    } => {
                        if let Some(ResponseElement::Assistant(entries)) = element(element_idx) {
                            self.say(event_idx, &entries[entry_idx].value).await;
                        }
                    }
                    EventPart::Error(element_idx) => {
                        if let Some(ResponseElement::Error(error)) = element(element_idx) {
                            self.release_all().await;
                            return Err(Stopped::Failed(prompt_error(error)));
                        }
                    }
                    _ => {}
                }
            }
            (EventKind::ToolUse(call), EventPart::CallStart) => {
                self.start_call(event_idx, call).await;
            }
            (EventKind::ToolUse(call), EventPart::CallProgress(idx)) => {
                let text = call.progress.get(idx).map(|entry| entry.value.as_str());
                self.output(event_idx, text.unwrap_or_default()).await;
                let mut expected = call.expected_output.iter();
                if let Some((_, expected)) = expected.find(|(of, _)| *of == idx) {
                    return self.await_output(event_idx, expected).await;
                }
            }
            (EventKind::ToolUse(call), EventPart::CallExecution(idx)) => {
                self.execution(event_idx, call, idx).await;
            }
            (EventKind::ToolUse(call), EventPart::CallEnd) => {
                return self.end_call(event_idx, call).await;
            }
            (EventKind::AgentEdits(edit), _) => return self.edit(event_idx, edit).await,
            (EventKind::AgentPlan(plan), _) => self.plan(event_idx, plan).await,
            (EventKind::AgentFileReads(reads), _) => {
                return self.read_files(event_idx, reads).await;
            }
            (EventKind::PermissionRequest(request), _) => {
                return self.ask(event_idx, request).await;
            }
            (EventKind::Notify(notify), _) => {
                let hit = self.hit(event_idx, false);
                self.agent
                    .peer
                    .notify(&notify.method, &notify.params, hit)
                    .await;
            }
            (EventKind::UserCancelSession { .. }, _) => return self.await_cancel(event_idx).await,
            _ => {}
        }
        Ok(())
    }

    /// Sends an update of an event.
    pub(super) async fn update(&mut self, event_idx: usize, update: Json) {
        let is_begin = update["sessionUpdate"] == "tool_call";
        let hit = self.hit(event_idx, is_begin);
        self.agent.update(&self.session, update, hit).await;
    }

    /// The fault of an event that hits the frame which is sent now, if one does. A wrong id is none in the frame that
    /// gives it.
    fn hit(&mut self, event_idx: usize, gives_id: bool) -> Option<FrameHit> {
        let faults = self.agent.faults.all().iter().enumerate();
        let mut of_event = faults.filter(|(_, fault)| {
            fault.scenario_idx == self.scenario_idx
                && fault.event_idx == event_idx
                && fault.aim.is_ok()
        });
        let (fault_idx, fault) = of_event.next()?;
        let start_ms = self.script.schedule.events[event_idx].start_ms;
        let elapsed = self
            .agent
            .telling
            .clock
            .now()
            .saturating_sub(self.began + self.delay);
        let is_due = fault.fault.at_ms.is_none_or(|at_ms| {
            let due_ms = self
                .agent
                .options
                .play
                .speed
                .after(self.segment.origin_ms, start_ms + at_ms);
            elapsed >= Duration::from_millis(due_ms)
        });
        let is_too_early = gives_id && fault.fault.kind == FaultKind::WrongId;
        if !is_due || is_too_early || !self.session.state().hit.insert(fault_idx) {
            return None;
        }
        Some(FrameHit {
            fault_idx,
            kind: fault.fault.kind,
            id: None,
        })
    }

    async fn tell(&self, event: EventData) {
        self.agent.telling.tell(&self.session.id, vec![event]).await;
    }

    async fn find(&self, found: Diagnostic) {
        self.agent.telling.find(&self.session.id, found).await;
    }

    async fn differs(&self, code: Code, event_idx: usize, message: String) {
        self.find(differs(code, &self.script.timeline, event_idx, message))
            .await;
    }

    async fn think(&mut self, event_idx: usize, text: &str) {
        let meta = &self.meta(event_idx);
        let chunk = updates::chunk(
            Speaker::Thought,
            content::text(text),
            &self.message_id(event_idx, "t"),
            meta,
        );
        self.update(event_idx, chunk).await;
        self.tell(EventData::Thought(Thought {
            text: text.to_owned(),
        }))
        .await;
    }

    /// `_meta` of an event.
    fn meta(&self, event_idx: usize) -> Json {
        self.script.event(event_idx).meta.clone()
    }

    fn message_id(&self, event_idx: usize, kind: &str) -> String {
        format!("{}-{kind}{event_idx}", self.session.id)
    }

    async fn say(&mut self, event_idx: usize, block: &Block) {
        let meta = &self.meta(event_idx);
        let update = match (&block.kind, content_block(block)) {
            (_, Some(content)) => updates::chunk(
                Speaker::Agent,
                content,
                &self.message_id(event_idx, "m"),
                meta,
            ),
            (BlockKind::Plan(entries), None) => {
                self.session.state().plan.clone_from(entries);
                updates::plan(content::plan(entries), meta)
            }
            (
                BlockKind::Diff {
                    path,
                    old_text,
                    new_text,
                },
                None,
            ) => {
                let id = self.message_id(event_idx, &format!("diff{}-", block.span.start));
                let path = updates::absolute(path, &self.session.folder);
                updates::told_diff(&id, &path, old_text.as_deref(), new_text)
            }
            (_, None) => return,
        };
        self.update(event_idx, update).await;
        let text = block_text(block);
        if matches!(block.kind, BlockKind::Text(_)) {
            self.said.push_str(&text);
        }
        let role = "assistant".to_owned();
        self.tell(EventData::Message(Message {
            role,
            content: text,
        }))
        .await;
    }

    async fn plan(&mut self, event_idx: usize, plan: &AgentPlan) {
        let entries = {
            let mut state = self.session.state();
            if plan.replaces {
                state.plan.clear();
            }
            state.plan.extend(plan.entries.iter().cloned());
            content::plan(&state.plan)
        };
        let meta = &self.meta(event_idx);
        self.update(event_idx, updates::plan(entries.clone(), meta))
            .await;
        self.tell(EventData::Plan(Plan { entries })).await;
    }

    /// Makes a call of the client's, and waits for its answer as long as clients have patience for.
    async fn call_client(&mut self, method: &str, params: &Json, hit: Option<FrameHit>) -> Answer {
        let agent = self.agent.clone();
        let session = self.session.id.clone();
        let cancel = self.cancel.clone();
        let calling = agent.call_client(&session, method, params, hit, &cancel);
        self.waiting(calling).await.answer
    }

    async fn ask(&mut self, event_idx: usize, request: &PermissionRequest) -> Result<(), Stopped> {
        let own_id = || format!("{}-permission{event_idx}", self.session.id);
        let mut call = match request.tool_call.is_object() {
            true => request.tool_call.clone(),
            false => json!({}),
        };
        let requested = self.requested.get(&event_idx).copied();
        if call.get("toolCallId").is_none_or(Json::is_null) {
            let id = requested.and_then(|idx| call_id(&self.script.event(idx).kind));
            // Nobody is asked about a call that is over.
            let open = || self.open.values().next_back().map(|call| call.id.clone());
            let id = id.map(str::to_owned).or_else(open);
            call["toolCallId"] = json!(id.unwrap_or_else(own_id));
        }
        let options: Vec<Json> = request
            .options
            .iter()
            .map(|option| json!({"optionId": option.id, "name": option.label, "kind": option.kind.as_str()}))
            .collect();
        let mut params =
            json!({"sessionId": &*self.session.id, "toolCall": call, "options": options});
        let meta = &self.meta(event_idx);
        if !meta.is_null() {
            params["_meta"] = meta.clone();
        }
        let hit = self.hit(event_idx, false);
        let (agent, session, cancel) = (
            self.agent.clone(),
            self.session.id.clone(),
            self.cancel.clone(),
        );
        let method = "session/request_permission";
        let calling = agent.call_client(&session, method, &params, hit, &cancel);
        let received = self.waiting(calling).await;
        let outcome = match &received.answer {
            Ok(answer) => answer["outcome"].clone(),
            Err(error) => json!({"outcome": "error", "message": error.message}),
        };
        self.tell(EventData::Permission(Permission {
            options: Json::Array(options),
            outcome: outcome.clone(),
        }))
        .await;
        if received.is_late && outcome["outcome"] != "cancelled" {
            let message = format!(
                "after `session/cancel` a request for permission is answered with `cancelled`, got {}",
                shown(&outcome)
            );
            self.differs(codes::ACP_PERMISSION, event_idx, message)
                .await;
        }
        if received.is_late {
            return Err(Stopped::Cancelled);
        }
        let wanted = match &request.decision {
            PermissionDecision::Selected(id) => json!({"outcome": "selected", "optionId": id}),
            PermissionDecision::Cancelled => json!({"outcome": "cancelled"}),
        };
        if lack(&wanted, &outcome).is_some() {
            let message = format!("expected the decision {wanted}, got {}", shown(&outcome));
            self.differs(codes::ACP_PERMISSION, event_idx, message)
                .await;
            let mut options = request.options.iter();
            let is_refused = !options.any(|option| {
                outcome["optionId"] == option.id && option.kind.as_str().starts_with("allow")
            });
            self.refused.extend(requested.filter(|_| is_refused));
        }
        match self.cancel.is_cancelled() {
            true => Err(Stopped::Cancelled),
            false => Ok(()),
        }
    }

    /// Waits for the cancellation that is scripted here.
    async fn await_cancel(&mut self, event_idx: usize) -> Result<(), Stopped> {
        let (cancel, patience) = (self.cancel.clone(), self.agent.options.patience);
        if tokio::time::timeout(patience, cancel.cancelled())
            .await
            .is_ok()
        {
            return Err(Stopped::Cancelled);
        }
        self.session.state().settled_calls.insert(event_idx);
        let message = format!(
            "`session/cancel` did not come within {} s",
            patience.as_secs()
        );
        self.differs(codes::ACP_MISSING, event_idx, message).await;
        Ok(())
    }
}

fn prompt_error(error: &ResponseError) -> RpcError {
    let mut data = json!({"status": error.status});
    if let Some(error_type) = &error.error_type {
        data["errorType"] = json!(error_type);
    }
    if !error.details.is_null() {
        data["details"] = error.details.clone();
    }
    RpcError::new(INTERNAL_ERROR, &error.message).with_data(data)
}
