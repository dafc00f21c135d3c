//! Plays a segment to the client: each part when it is due, with all calls that it needs of the client.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::{
    AgentEdits, AgentPlan, Block, BlockKind, EventKind, ExpectedResult, FileRead,
    PermissionDecision, PermissionRequest, ResponseElement, ResponseError, TimelineEvent,
    ToolExecutionKind, ToolStatus, ToolUse,
};
use cuecard_timeline::script::{EventPart, ScheduledPart, block_text, parts, result_difference};
use cuecard_trace::{EventData, Message, Permission, Plan, Thought, ToolCall, ToolResult};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::agent::Agent;
use super::found::{differs, shown};
use super::peer::Answer;
use super::rpc::{INTERNAL_ERROR, RpcError};
use super::script::AcpScript;
use super::script::content;
use super::script::updates::{self, Speaker};
use super::session::{IndexedScript, Session};
use cuecard_runtime::fault::FrameHit;
use cuecard_timeline::model::FaultKind;

/// The output of a terminal that the client keeps, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;

/// A segment that is being played.
pub(super) struct Turn {
    pub(super) agent: Arc<Agent>,
    pub(super) session: Arc<Session>,
    pub(super) scenario_idx: usize,
    pub(super) script: Arc<AcpScript>,
    /// When its prompt came.
    began: Duration,
    /// The time of the timeline at which its prompt comes.
    origin_ms: u64,
    /// How much later all is, since the client had to be waited for.
    delay: Duration,
    pub(super) cancel: CancellationToken,
    /// Calls that have begun and not ended, by their events.
    open: BTreeMap<usize, OpenCall>,
    /// The call that began last.
    latest_call: Option<String>,
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
    /// Where it really runs.
    terminal_id: Option<String>,
    /// Why it could not be started.
    refused: Option<String>,
    /// Whether it goes on while the agent does something else.
    is_in_background: bool,
}

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
        origin_ms: u64,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            began: agent.clock.now(),
            agent,
            session,
            scenario_idx,
            script,
            origin_ms,
            delay: Duration::ZERO,
            cancel,
            open: BTreeMap::new(),
            latest_call: None,
            said: String::new(),
        }
    }

    /// Plays events to their end.
    pub(super) async fn play(&mut self, events: std::ops::Range<usize>) -> Result<(), Stopped> {
        let script = self.script.clone();
        for part in parts(&script.timeline, &script.schedule, events) {
            self.wait_for(part.at_ms).await?;
            self.part(part, script.event(part.event_idx)).await?;
        }
        self.release_all().await;
        Ok(())
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

    /// Tells a call of the history as it was: nothing runs, and nobody is asked.
    pub(super) async fn tell_call(&mut self, event_idx: usize) {
        let script = self.script.clone();
        let event = script.event(event_idx);
        let (mut update, id, status, text) = match &event.kind {
            EventKind::ToolUse(call) => {
                let status = match call.status {
                    ToolStatus::Ok => "completed",
                    ToolStatus::Error => "failed",
                    ToolStatus::Open => "in_progress",
                };
                let begin = updates::call(call, &self.session.folder, &event.meta);
                (begin, &call.call_id, status, scripted_output(call))
            }
            EventKind::AgentEdits(edit) => {
                let path = updates::absolute(&edit.path, &self.session.folder);
                (
                    updates::edit(edit, &path, &event.meta),
                    &edit.call_id,
                    "completed",
                    String::new(),
                )
            }
            _ => return,
        };
        if status == "in_progress" {
            update["status"] = json!(status);
            return self.update(event_idx, update).await;
        }
        self.update(event_idx, update).await;
        let content = (!text.is_empty()).then(|| updates::text_content(&text));
        let end = updates::call_update(id, Some(status), content, &event.meta);
        self.update(event_idx, end).await;
    }

    /// Waits until something is due.
    async fn wait_for(&mut self, at_ms: u64) -> Result<(), Stopped> {
        let after_ms = self.agent.options.speed.after(self.origin_ms, at_ms);
        let due = self.began + self.delay + Duration::from_millis(after_ms);
        if self.cancel.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        if due <= self.agent.clock.now() {
            return Ok(());
        }
        tokio::select! {
            () = self.agent.clock.sleep_until(due) => Ok(()),
            () = self.cancel.cancelled() => Err(Stopped::Cancelled),
        }
    }

    /// Waits for the client; all that follows is so much later.
    async fn waiting<T>(&mut self, for_it: impl Future<Output = T>) -> T {
        let since = self.agent.clock.now();
        let result = for_it.await;
        self.delay += self.agent.clock.now().saturating_sub(since);
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
        let params = json!({"sessionId": &*self.session.id, "update": update});
        self.agent.peer.notify("session/update", &params, hit).await;
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
        let start_ms = self.script.schedule.events[event_idx].start_ms;
        let elapsed = self
            .agent
            .clock
            .now()
            .saturating_sub(self.began + self.delay);
        let (fault_idx, fault) = of_event.next()?;
        let is_due = fault.fault.at_ms.is_none_or(|at_ms| {
            let due_ms = self
                .agent
                .options
                .speed
                .after(self.origin_ms, start_ms + at_ms);
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
        self.agent.tell(&self.session.id, vec![event]).await;
    }

    async fn find(&self, found: Diagnostic) {
        self.agent.find(&self.session.id, found).await;
    }

    async fn differs(&self, code: Code, event_idx: usize, message: String) {
        self.find(differs(code, &self.script.timeline, event_idx, message))
            .await;
    }

    async fn think(&mut self, event_idx: usize, text: &str) {
        let meta = &self.script.clone().timeline.events[event_idx].meta;
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

    fn message_id(&self, event_idx: usize, kind: &str) -> String {
        format!("{}-{kind}{event_idx}", self.session.id)
    }

    async fn say(&mut self, event_idx: usize, block: &Block) {
        let meta = &self.script.clone().timeline.events[event_idx].meta;
        let update = match (&block.kind, content::block(block)) {
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
        let meta = &self.script.clone().timeline.events[event_idx].meta;
        self.update(event_idx, updates::plan(entries.clone(), meta))
            .await;
        self.tell(EventData::Plan(Plan { entries })).await;
    }

    async fn start_call(&mut self, event_idx: usize, call: &ToolUse) {
        let meta = &self.script.clone().timeline.events[event_idx].meta;
        let update = updates::call(call, &self.session.folder, meta);
        self.update(event_idx, update).await;
        self.tell(EventData::ToolCall(ToolCall {
            tool: call.tool.clone().into(),
            call_id: call.call_id.as_str().into(),
            args: call.args.clone(),
            native_tool: None,
            attempt: None,
        }))
        .await;
        let mut open = OpenCall {
            id: call.call_id.clone(),
            is_in_background: call.args["run_in_background"] == true,
            ..OpenCall::default()
        };
        self.latest_call = Some(open.id.clone());
        let mut content = None;
        if let Some(line) = call.args["cmd"].as_str().filter(|_| call.tool == "runCmd")
            && self.agent.client_can("/terminal")
        {
            match self.create_terminal(line, &call.args).await {
                Ok(terminal_id) => {
                    content = Some(updates::terminal_content(&terminal_id));
                    open.terminal_id = Some(terminal_id);
                }
                Err(reason) => open.refused = Some(reason),
            }
        }
        let update = updates::call_update(&open.id, Some("in_progress"), content, meta);
        self.open.insert(event_idx, open);
        self.update(event_idx, update).await;
    }

    async fn create_terminal(&mut self, line: &str, args: &Json) -> Result<String, String> {
        let shell = self.agent.options.exec_wrapper.as_deref().unwrap_or("sh");
        let folder = args["cwd"].as_str().unwrap_or(".");
        let params = json!({
            "sessionId": &*self.session.id,
            "command": shell,
            "args": ["-c", line],
            "cwd": match folder {
                "." => self.session.folder.clone(),
                folder => updates::absolute(folder, &self.session.folder),
            },
            "outputByteLimit": MAX_OUTPUT,
        });
        let answer = self
            .call_client("terminal/create", &params, None)
            .await
            .map_err(|error| error.message)?;
        let id = answer["terminalId"].as_str().map(str::to_owned);
        id.ok_or_else(|| "the client gave no `terminalId`".to_owned())
    }

    async fn of_terminal(&mut self, method: &str, terminal_id: &str) -> Answer {
        let params = json!({"sessionId": &*self.session.id, "terminalId": terminal_id});
        self.call_client(method, &params, None).await
    }

    /// Makes a call of the client's, and waits for its answer as long as clients have patience for.
    async fn call_client(&mut self, method: &str, params: &Json, hit: Option<FrameHit>) -> Answer {
        let agent = self.agent.clone();
        let session = self.session.id.clone();
        self.waiting(agent.call_client(&session, method, params, hit))
            .await
    }

    /// Something that a simulated tool prints.
    async fn output(&mut self, event_idx: usize, text: &str) {
        let Some(open) = self
            .open
            .get_mut(&event_idx)
            .filter(|open| open.terminal_id.is_none())
        else {
            return;
        };
        open.output.push_str(text);
        if !text.ends_with('\n') {
            open.output.push('\n');
        }
        let content = updates::text_content(open.output.trim_end_matches('\n'));
        let update = updates::call_update(&open.id.clone(), None, Some(content), &Json::Null);
        self.update(event_idx, update).await;
    }

    async fn execution(&mut self, event_idx: usize, call: &ToolUse, idx: usize) {
        let event = call
            .execution
            .as_ref()
            .and_then(|execution| execution.events.get(idx));
        match event.map(|event| &event.kind) {
            Some(
                ToolExecutionKind::Stdout(text)
                | ToolExecutionKind::Stderr(text)
                | ToolExecutionKind::Progress(text),
            ) => self.output(event_idx, text).await,
            Some(ToolExecutionKind::Completion { exit_code, content }) => {
                if let Some(content) = content {
                    self.output(event_idx, content).await;
                }
                if let Some(open) = self.open.get_mut(&event_idx) {
                    open.exit_code = Some(*exit_code);
                }
            }
            None => {}
        }
    }

    async fn end_call(&mut self, event_idx: usize, call: &ToolUse) -> Result<(), Stopped> {
        if call.status == ToolStatus::Open {
            return Ok(());
        }
        let Some(mut open) = self.open.remove(&event_idx) else {
            return Ok(());
        };
        let is_real = open.terminal_id.is_some() || open.refused.is_some();
        if let Some(terminal_id) = open.terminal_id.clone()
            && !open.is_in_background
        {
            let id = open.id.clone();
            self.open.insert(event_idx, open);
            let cancel = self.cancel.clone();
            let ended = tokio::select! {
                ended = self.of_terminal("terminal/wait_for_exit", &terminal_id) => ended,
                () = cancel.cancelled() => return Err(Stopped::Cancelled),
            };
            let output = self.of_terminal("terminal/output", &terminal_id).await;
            let _ = self.of_terminal("terminal/release", &terminal_id).await;
            open = self.open.remove(&event_idx).unwrap_or_default();
            open.id = id;
            open.output = output
                .as_ref()
                .ok()
                .and_then(|output| output["output"].as_str())
                .unwrap_or_default()
                .to_owned();
            match ended.and_then(|ended| output.map(|_| ended)) {
                Ok(ended) => open.exit_code = Some(ended["exitCode"].as_i64().unwrap_or(128)),
                Err(error) => open.refused = Some(error.message),
            }
        }
        let has_failed = match (is_real, open.exit_code) {
            _ if open.refused.is_some() => true,
            (true, Some(exit_code)) => exit_code != 0,
            (true, None) => false,
            (false, _) => call.status == ToolStatus::Error,
        };
        if is_real && !open.is_in_background {
            self.compare(event_idx, call, &open, has_failed).await;
        }
        let scripted = scripted_result(call);
        let text = match (&open.refused, &scripted) {
            (Some(reason), _) => reason.clone(),
            _ if !open.output.is_empty() => open.output.trim_end_matches('\n').to_owned(),
            (None, Some(Json::String(text))) => text.clone(),
            (None, Some(json)) => json.to_string(),
            (None, None) => String::new(),
        };
        let content = match &open.terminal_id {
            Some(terminal_id) => Some(updates::terminal_content(terminal_id)),
            None => (!text.is_empty()).then(|| updates::text_content(&text)),
        };
        let status = if has_failed { "failed" } else { "completed" };
        let meta = &self.script.clone().timeline.events[event_idx].meta;
        let mut update = updates::call_update(&open.id, Some(status), content, meta);
        if is_real {
            update["rawOutput"] = json!({"output": text, "exitCode": open.exit_code});
        } else if let Some(result) = scripted {
            update["rawOutput"] = result;
        }
        self.update(event_idx, update).await;
        self.tell(EventData::ToolResult(ToolResult {
            tool: call.tool.clone().into(),
            call_id: open.id.as_str().into(),
            success: !has_failed,
            result: Arc::new(Json::String(text)),
            text: None,
            structured: None,
            fixture_id: None,
            duration_ms: None,
        }))
        .await;
        if open.is_in_background && open.terminal_id.is_some() {
            // It is released when the turn ends.
            self.open.insert(event_idx, open);
        }
        Ok(())
    }

    /// Compares what really came of a command with the script.
    async fn compare(&self, event_idx: usize, call: &ToolUse, open: &OpenCall, has_failed: bool) {
        let wants_failure = call.status == ToolStatus::Error;
        let code = codes::TOOL_RESULT_DIFFERS;
        if has_failed != wants_failure {
            let how = match (&open.refused, open.exit_code) {
                (Some(reason), _) => format!("it could not run: {reason}"),
                (None, exit_code) => {
                    format!("it ended with exit code {}", exit_code.unwrap_or_default())
                }
            };
            let wanted = if wants_failure { "error" } else { "ok" };
            let message = format!("expected the command to end with status `{wanted}`: {how}");
            let found = differs(code, &self.script.timeline, event_idx, message);
            let output = cut(open.output.trim(), 300).into_owned();
            let found = match output.is_empty() {
                true => found,
                false => found.with_note(format!("output: {output}")),
            };
            self.find(found).await;
        }
        if open.refused.is_none()
            && let Some(expected) = &call.result
            && let Some((expected, arrived)) = result_difference(expected, &open.output)
        {
            let message = "the command printed something else".to_owned();
            let found = differs(code, &self.script.timeline, event_idx, message)
                .with_note(format!("expected: {expected}"))
                .with_note(format!("printed:  {arrived}"));
            self.find(found).await;
        }
    }

    /// Releases the terminals of commands that go on in the background.
    async fn release_all(&mut self) {
        for (_, call) in std::mem::take(&mut self.open) {
            if let Some(terminal_id) = &call.terminal_id {
                let _ = self.of_terminal("terminal/release", terminal_id).await;
            }
        }
    }

    async fn edit(&mut self, event_idx: usize, edit: &AgentEdits) -> Result<(), Stopped> {
        let meta = &self.script.clone().timeline.events[event_idx].meta;
        let path = updates::absolute(&edit.path, &self.session.folder);
        self.latest_call = Some(edit.call_id.clone());
        self.update(event_idx, updates::edit(edit, &path, meta))
            .await;
        self.open.insert(
            event_idx,
            OpenCall {
                id: edit.call_id.clone(),
                ..OpenCall::default()
            },
        );
        let update = updates::call_update(&edit.call_id, Some("in_progress"), None, meta);
        self.update(event_idx, update).await;
        let written = match (&edit.new_text, self.agent.client_can("/fs/writeTextFile")) {
            (Some(new_text), true) => self.write_edit(edit, &path, new_text).await,
            _ => Ok(()),
        };
        if self.cancel.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        self.open.remove(&event_idx);
        let (status, content) = match &written {
            Ok(()) => ("completed", None),
            Err(reason) => ("failed", Some(updates::text_content(reason))),
        };
        if let Err(reason) = written {
            let message = format!("`{}` was not edited: {reason}", edit.path);
            self.differs(codes::ACP_CONTENT, event_idx, message).await;
        }
        self.update(
            event_idx,
            updates::call_update(&edit.call_id, Some(status), content, meta),
        )
        .await;
        Ok(())
    }

    /// Writes an edit through the client.
    async fn write_edit(
        &mut self,
        edit: &AgentEdits,
        path: &str,
        new_text: &str,
    ) -> Result<(), String> {
        let content = match &edit.old_text {
            None => new_text.to_owned(),
            Some(old_text) => {
                let params = json!({"sessionId": &*self.session.id, "path": path});
                let answer = self.call_client("fs/read_text_file", &params, None).await;
                let answer = answer.map_err(|error| error.message)?;
                let whole = answer["content"].as_str().unwrap_or_default();
                match whole.matches(old_text.as_str()).count() {
                    1 => whole.replacen(old_text.as_str(), new_text, 1),
                    count => {
                        return Err(format!(
                            "`oldText` occurs {count} times in the file, not once"
                        ));
                    }
                }
            }
        };
        let params = json!({"sessionId": &*self.session.id, "path": path, "content": content});
        let answer = self.call_client("fs/write_text_file", &params, None).await;
        answer.map(drop).map_err(|error| error.message)
    }

    async fn read_files(&mut self, event_idx: usize, reads: &[FileRead]) -> Result<(), Stopped> {
        if !self.agent.client_can("/fs/readTextFile") {
            let message = "the client can't read files: `agentFileReads` was not played";
            let event = self.script.event(event_idx);
            let found = Diagnostic::note(codes::ACP_CONTENT, message)
                .at(&self.script.timeline.source, event.span)
                .with_help("a client says that it can with `clientCapabilities: {fs: {readTextFile: true}}`");
            self.find(self.agent.findings.strictly_noted(found)).await;
            return Ok(());
        }
        for read in reads {
            let params = json!({"sessionId": &*self.session.id, "path": read.path});
            let hit = self.hit(event_idx, false);
            let answer = self.call_client("fs/read_text_file", &params, hit).await;
            if self.cancel.is_cancelled() {
                return Err(Stopped::Cancelled);
            }
            let path = &read.path;
            let problem = match (answer, &read.expected_content) {
                (Err(error), _) => Some(format!("`{path}` could not be read: {}", error.message)),
                (Ok(answer), expected) => match (answer["content"].as_str(), expected) {
                    (None, _) => Some(format!("the client answered no `content` of `{path}`")),
                    (Some(found), Some(expected)) if !is_same_text(expected, found) => {
                        Some(format!(
                            "`{path}` differs: expected {}, got {}",
                            shown(&json!(expected)),
                            shown(&json!(found))
                        ))
                    }
                    _ => None,
                },
            };
            if let Some(message) = problem {
                self.differs(codes::ACP_CONTENT, event_idx, message).await;
            }
        }
        Ok(())
    }

    async fn ask(&mut self, event_idx: usize, request: &PermissionRequest) -> Result<(), Stopped> {
        let own_id = || format!("{}-permission{event_idx}", self.session.id);
        let mut call = match request.tool_call.is_object() {
            true => request.tool_call.clone(),
            false => json!({}),
        };
        if call.get("toolCallId").is_none_or(Json::is_null) {
            call["toolCallId"] = json!(self.latest_call.clone().unwrap_or_else(own_id));
        }
        let options: Vec<Json> = request
            .options
            .iter()
            .map(|option| json!({"optionId": option.id, "name": option.label, "kind": option.kind}))
            .collect();
        let mut params =
            json!({"sessionId": &*self.session.id, "toolCall": call, "options": options});
        let meta = &self.script.clone().timeline.events[event_idx].meta;
        if !meta.is_null() {
            params["_meta"] = meta.clone();
        }
        let hit = self.hit(event_idx, false);
        let answer = self
            .call_client("session/request_permission", &params, hit)
            .await;
        let outcome = match &answer {
            Ok(answer) => answer["outcome"].clone(),
            Err(error) => json!({"outcome": "error", "message": error.message}),
        };
        self.tell(EventData::Permission(Permission {
            options: Json::Array(options),
            outcome: outcome.clone(),
        }))
        .await;
        if self.cancel.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        let wanted = match &request.decision {
            PermissionDecision::Selected(id) => json!({"outcome": "selected", "optionId": id}),
            PermissionDecision::Cancelled => json!({"outcome": "cancelled"}),
        };
        if super::script::lacks(&wanted, &outcome).is_some() {
            let message = format!("expected the decision {wanted}, got {}", shown(&outcome));
            self.differs(codes::ACP_PERMISSION, event_idx, message)
                .await;
        }
        Ok(())
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

/// One line end at the end doesn't count.
fn is_same_text(expected: &str, found: &str) -> bool {
    let without_end = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
    without_end(expected) == without_end(found)
}

/// What a simulated tool prints and gives, in all.
fn scripted_output(call: &ToolUse) -> String {
    let mut lines: Vec<&str> = call
        .progress
        .iter()
        .map(|entry| entry.value.as_str())
        .collect();
    if let Some(execution) = &call.execution {
        lines.extend(
            execution
                .events
                .iter()
                .filter_map(|event| match &event.kind {
                    ToolExecutionKind::Stdout(text)
                    | ToolExecutionKind::Stderr(text)
                    | ToolExecutionKind::Progress(text) => Some(text.as_str()),
                    ToolExecutionKind::Completion { content, .. } => content.as_deref(),
                }),
        );
    }
    let lines: Vec<&str> = lines
        .into_iter()
        .map(|line| line.trim_end_matches('\n'))
        .collect();
    match (lines.is_empty(), scripted_result(call)) {
        (true, Some(Json::String(text))) => text,
        (true, Some(json)) => json.to_string(),
        _ => lines.join("\n"),
    }
}

/// The result that a call is scripted to have, if it is one value.
fn scripted_result(call: &ToolUse) -> Option<Json> {
    match call.result.as_ref()? {
        ExpectedResult::Value(json) | ExpectedResult::Json(json) => Some(json.clone()),
        ExpectedResult::Contains(_) | ExpectedResult::Regex(_) => None,
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
