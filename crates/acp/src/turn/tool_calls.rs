//! Tool calls: simulated, or commands that run in a terminal of the client's.

use std::sync::Arc;
use std::time::Duration;

use cuecard_source::diagnostic::codes;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::{EventKind, ExpectedResult, ToolExecutionKind, ToolStatus, ToolUse};
use cuecard_timeline::script::result_difference;
use cuecard_trace::{EventData, ToolCall, ToolResult};
use serde_json::json;

use super::files::Unchanged;
use super::{OpenCall, REFUSED, Stopped, Turn};
use crate::found::differs;
use crate::peer::Answer;
use crate::script::file_effect::FileEffect;
use crate::script::updates;

/// How often it is looked at what a command has printed.
const LOOKS_EVERY: Duration = Duration::from_millis(20);

/// The output of a terminal that the client keeps, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;

impl Turn {
    /// Tells a call of the history as it was: nothing runs, and nobody is asked.
    pub(crate) async fn tell_call(&mut self, event_idx: usize) {
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

    pub(super) async fn start_call(&mut self, event_idx: usize, call: &ToolUse) {
        let meta = &self.meta(event_idx);
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
            refused: self
                .refused
                .contains(&event_idx)
                .then(|| REFUSED.to_owned()),
            ..OpenCall::default()
        };
        let mut content = None;
        if call.tool == "runCmd" && !self.agent.client_can("/terminal") {
            self.only_shown(
                event_idx,
                "the client offers no terminal: the command is only shown",
            )
            .await;
        }
        if let Some(line) = call.args["cmd"].as_str().filter(|_| call.tool == "runCmd")
            && self.agent.client_can("/terminal")
            && open.refused.is_none()
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

    pub(super) async fn create_terminal(
        &mut self,
        line: &str,
        args: &Json,
    ) -> Result<String, String> {
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

    pub(super) async fn of_terminal(&mut self, method: &str, terminal_id: &str) -> Answer {
        let params = json!({"sessionId": &*self.session.id, "terminalId": terminal_id});
        self.call_client(method, &params, None).await
    }

    /// Something that a simulated tool prints.
    pub(super) async fn output(&mut self, event_idx: usize, text: &str) {
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

    /// Waits until a command has printed something, if one really runs: until it has ended, or as long as clients have
    /// patience for.
    pub(super) async fn await_output(
        &mut self,
        event_idx: usize,
        expected: &str,
    ) -> Result<(), Stopped> {
        let open = self.open.get(&event_idx);
        let Some(terminal_id) = open.and_then(|open| open.terminal_id.clone()) else {
            return Ok(());
        };
        let clock = self.agent.telling.clock;
        let until = clock.now() + self.agent.options.patience;
        loop {
            let output = self.of_terminal("terminal/output", &terminal_id).await;
            if self.cancel.is_cancelled() {
                return Err(Stopped::Cancelled);
            }
            let output = output.unwrap_or_default();
            let printed = output["output"].as_str().unwrap_or_default();
            if printed.contains(expected) {
                return Ok(());
            }
            let is_over = !output["exitStatus"].is_null() || output.is_null();
            if is_over || clock.now() >= until {
                let message = format!("the command did not print {:?}", cut(expected, 300));
                let found = differs(
                    codes::TOOL_RESULT_DIFFERS,
                    &self.script.timeline,
                    event_idx,
                    message,
                );
                let printed = cut(printed.trim(), 300);
                self.find(found.with_note(format!("printed: {printed}")))
                    .await;
                return Ok(());
            }
            let next = clock.now() + LOOKS_EVERY;
            self.waiting(async move { clock.sleep_until(next).await })
                .await;
        }
    }

    pub(super) async fn execution(&mut self, event_idx: usize, call: &ToolUse, idx: usize) {
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

    pub(super) async fn end_call(
        &mut self,
        event_idx: usize,
        call: &ToolUse,
    ) -> Result<(), Stopped> {
        if call.status == ToolStatus::Open {
            return Ok(());
        }
        if let Some((path, effect)) = FileEffect::of_call(call)
            && effect.is_scripted()
            && call.status == ToolStatus::Ok
            && self
                .open
                .get(&event_idx)
                .is_some_and(|open| open.refused.is_none())
            && self.agent.client_can("/fs/writeTextFile")
            && self.agent.client_can("/fs/readTextFile")
        {
            let path = updates::absolute(path, &self.session.folder);
            let written = match self.content_after(&path, effect).await {
                Ok(content) => self.write(&path, &content).await,
                Err(Unchanged::Unreadable(reason)) => Err(reason),
                // Where the file is another one, the call is only shown.
                Err(Unchanged::Another(reason)) => {
                    self.only_shown_of(event_idx, &path, &reason).await;
                    Ok(())
                }
            };
            if self.cancel.is_cancelled() {
                return Err(Stopped::Cancelled);
            }
            if let Err(reason) = written {
                let message = format!("`{path}` was not written: {reason}");
                self.differs(codes::ACP_CONTENT, event_idx, message).await;
            }
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
                Ok(ended) => {
                    open.exit_code = ended["exitCode"].as_i64();
                    open.signal = ended["signal"].as_str().map(str::to_owned);
                }
                Err(error) => open.refused = Some(error.message),
            }
        }
        let is_over = is_real && !open.is_in_background;
        let has_failed = match is_real {
            _ if open.refused.is_some() => true,
            true => is_over && open.exit_code != Some(0),
            false => call.status == ToolStatus::Error,
        };
        if is_over && open.refused.as_deref() != Some(REFUSED) {
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
        let meta = &self.meta(event_idx);
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
    pub(super) async fn compare(
        &self,
        event_idx: usize,
        call: &ToolUse,
        open: &OpenCall,
        has_failed: bool,
    ) {
        let wants_failure = call.status == ToolStatus::Error;
        let code = codes::TOOL_RESULT_DIFFERS;
        if has_failed != wants_failure {
            let how = match (&open.refused, open.exit_code, &open.signal) {
                (Some(reason), ..) => format!("it could not run: {reason}"),
                (None, Some(exit_code), _) => format!("it ended with exit code {exit_code}"),
                (None, None, Some(signal)) => format!("it was ended by {signal}"),
                (None, None, None) => {
                    "the client gave neither an exit code nor a signal".to_owned()
                }
            };
            let wanted = if wants_failure { "error" } else { "ok" };
            let message = format!("expected the command to end with status `{wanted}`: {how}");
            let found = differs(code, &self.script.timeline, event_idx, message);
            let output = cut(open.output.trim(), 300).into_owned();
            let mut found = match output.is_empty() {
                true => found,
                false => found.with_note(format!("output: {output}")),
            };
            let expected = call.result.as_ref().filter(|_| open.refused.is_none());
            let difference = expected.and_then(|it| result_difference(it, &open.output));
            if let Some((expected, _)) = difference {
                found = found.with_note(format!("expected output: {expected}"));
            }
            // One call has one finding.
            return self.find(found).await;
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
    pub(super) async fn release_all(&mut self) {
        for (_, call) in std::mem::take(&mut self.open) {
            if let Some(terminal_id) = &call.terminal_id {
                let _ = self.of_terminal("terminal/release", terminal_id).await;
            }
        }
    }
}

/// What a simulated tool prints and gives, in all.
fn scripted_output(call: &ToolUse) -> String {
    let lines = updates::outputs(call).into_iter();
    let lines: Vec<&str> = lines.map(|line| line.trim_end_matches('\n')).collect();
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
        ExpectedResult::Contains(part) => Some(Json::String(part.clone())),
        ExpectedResult::Regex(_) => None,
    }
}
