//! Tool calls of the agent: begun, watched, ended and compared with the script.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::matching::changed_lines;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::vocabulary::AbstractTool;
use cuecard_timeline::model::{ExpectedResult, ToolStatus, ToolUse};
use cuecard_timeline::script::{EventPart, result_difference};
use cuecard_trace::{EventData, FileEdit, ToolCall, ToolResult};

use super::player::Player;
use super::text_file;
use super::tools::{Call, ToolOutcome, command_outcome};

/// How often it is looked at what a command has printed.
const LOOKS_EVERY: Duration = Duration::from_millis(20);
/// A larger file is not compared with what it was, in bytes.
const MAX_COMPARED: u64 = 4 << 20;

/// A call that has begun.
pub(super) struct OpenCall {
    call: Call,
    /// The file that it changes, and what was in it.
    changes: Option<(String, PathBuf, String)>,
    began: Duration,
}

impl Player {
    pub(super) async fn call(&mut self, event_idx: usize, call: &ToolUse, part: EventPart) {
        match part {
            EventPart::CallStart => self.begin(event_idx, call).await,
            EventPart::CallProgress(idx) => {
                if let Some(entry) = call.progress.get(idx) {
                    self.printer.progress(&entry.value);
                }
                let mut expected = call.expected_output.iter();
                if let Some((_, expected)) = expected.find(|(of, _)| *of == idx) {
                    self.await_output(event_idx, expected).await;
                }
            }
            EventPart::CallEnd if call.status != ToolStatus::Open => {
                self.end_call(event_idx, call).await;
            }
            _ => {}
        }
    }

    async fn begin(&mut self, event_idx: usize, call: &ToolUse) {
        self.recorder.record(EventData::ToolCall(ToolCall {
            tool: call.tool.clone().into(),
            call_id: call.call_id.as_str().into(),
            args: call.args.clone(),
            native_tool: None,
            attempt: None,
        }));
        // A call that the trace doesn't show must not have an effect.
        self.recorder.settle();
        self.printer.hide(self.recorder.redactor());
        self.printer.call(&call.tool, &call.args);
        let began = self.recorder.clock().now();
        let (begun, changes) = match self.options.simulates {
            true => (Call::Simulated, None),
            false => {
                let changes = self.changes(call);
                (self.tools.begin(call).await, changes)
            }
        };
        if matches!(begun, Call::Simulated) && !self.options.simulates {
            let message = format!(
                "`{}` is not run: it answers what the script says",
                call.tool
            );
            let is_known = AbstractTool::named(&call.tool).is_some();
            let found = Diagnostic::note(codes::TOOL_SIMULATED, message);
            let mut found = match &self.script {
                Some(script) => found.at(&script.timeline.source, call.tool_span),
                None => found,
            };
            if !is_known {
                found = self.findings.strictly_noted(found);
            }
            self.find(found, Some(event_idx)).await;
        }
        let open = OpenCall {
            call: begun,
            changes,
            began,
        };
        self.open.insert(event_idx, open);
    }

    /// The file that a call is about to change, with what is in it.
    fn changes(&self, call: &ToolUse) -> Option<(String, PathBuf, String)> {
        let name = match call.tool.as_str() {
            "writeFile" | "editFile" | "replaceInFile" | "appendFile" => &call.args["path"],
            "sed" if call.args["inplace"] == true => &call.args["path"],
            "notebookEdit" => &call.args["notebook_path"],
            _ => return None,
        };
        let name = name.as_str()?.to_owned();
        let path = self.tools.writable(&name).ok()?;
        let text = compared(&path)?;
        Some((name, path, text))
    }

    /// Waits until a command has printed something, or has ended.
    async fn await_output(&mut self, event_idx: usize, expected: &str) {
        let Some(OpenCall {
            call: Call::Command { command, timeout },
            began,
            ..
        }) = self.open.get(&event_idx)
        else {
            return;
        };
        let (command, until) = (command.clone(), *began + *timeout);
        let clock = self.recorder.clock();
        loop {
            let is_over = command.end().is_some() || clock.now() >= until;
            let printed = command.text();
            if printed.contains(expected) {
                return;
            }
            if is_over {
                let message = format!("the command did not print {:?}", cut(expected, 300));
                let found = self
                    .finding(codes::TOOL_RESULT_DIFFERS, event_idx, message)
                    .with_note(format!("printed: {}", cut(printed.trim(), 300)));
                return self.find(found, Some(event_idx)).await;
            }
            clock.sleep_until(clock.now() + LOOKS_EVERY).await;
        }
    }

    /// Ends a call that the user cancels, unless it is over anyway.
    pub(super) async fn cancel_call(&mut self, event_idx: usize, call: &ToolUse) {
        let Some(open) = self.open.get(&event_idx) else {
            return;
        };
        let is_over = match &open.call {
            Call::Command { command, .. } => command.end().is_some(),
            Call::Answered(_) | Call::Simulated => true,
        };
        if call.has_own_end() && is_over {
            return self.end_call(event_idx, call).await;
        }
        self.abort_call(event_idx, call).await;
    }

    /// Ends a call in the midst of it, even one that was only about to begin.
    pub(super) async fn abort_call(&mut self, event_idx: usize, call: &ToolUse) {
        let now = self.recorder.clock().now();
        let open = self.open.remove(&event_idx);
        let took = now.saturating_sub(open.as_ref().map_or(now, |open| open.began));
        if let Some(Call::Command { command, .. }) = open.map(|open| open.call) {
            command.kill();
            command.ended().await;
        }
        self.recorder.record(EventData::ToolResult(ToolResult {
            tool: call.tool.clone().into(),
            call_id: call.call_id.as_str().into(),
            success: false,
            result: Arc::new(Json::String("Interrupted".to_owned())),
            text: None,
            structured: None,
            fixture_id: None,
            duration_ms: Some(took.as_secs_f64() * 1000.0),
        }));
    }

    async fn end_call(&mut self, event_idx: usize, call: &ToolUse) {
        // An interrupt while a command runs finds it open.
        let ended = match self.open.get(&event_idx) {
            Some(OpenCall {
                call: Call::Command { command, timeout },
                began,
                ..
            }) => {
                let (command, until) = (command.clone(), *began + *timeout);
                let clock = self.recorder.clock();
                let ended = tokio::select! {
                    ended = command.ended() => Some(ended),
                    () = clock.sleep_until(until) => None,
                };
                if ended.is_none() {
                    command.kill();
                    command.ended().await;
                }
                ended
            }
            _ => None,
        };
        let Some(open) = self.open.remove(&event_idx) else {
            return;
        };
        let is_simulated = matches!(open.call, Call::Simulated);
        let answer = match open.call {
            Call::Answered(answer) => answer,
            Call::Simulated => scripted_outcome(call),
            Call::Command { command, timeout } => {
                command_outcome(&command.marked_text(), ended, timeout)
            }
        };
        let took = self.recorder.clock().now().saturating_sub(open.began);
        self.recorder.record(EventData::ToolResult(ToolResult {
            tool: call.tool.clone().into(),
            call_id: call.call_id.as_str().into(),
            success: !answer.is_error,
            result: Arc::new(Json::String(answer.text.clone())),
            text: None,
            structured: None,
            fixture_id: None,
            duration_ms: Some(took.as_secs_f64() * 1000.0),
        }));
        self.printer.hide(self.recorder.redactor());
        self.printer.answer(&answer);
        if let Some((name, path, before)) = open.changes {
            self.record_edit(name, &before, &compared(&path).unwrap_or_default());
        }
        if !is_simulated {
            self.compare(event_idx, call, &answer).await;
        }
        self.checkpoint(event_idx, "agentToolUse", &call.tool).await;
    }

    /// A file was changed.
    pub(super) fn record_edit(&mut self, path: String, before: &str, after: &str) {
        if before != after {
            let (lines_added, lines_removed) = changed_lines(before, after);
            self.recorder.record(EventData::FileEdit(FileEdit {
                path,
                lines_added,
                lines_removed,
                hash_before: None,
                hash_after: None,
            }));
        }
    }

    /// Compares what a tool answered with the script.
    async fn compare(&mut self, event_idx: usize, call: &ToolUse, answer: &ToolOutcome) {
        let code = codes::TOOL_RESULT_DIFFERS;
        let wants_error = call.status == ToolStatus::Error;
        let expected = call.result.as_ref();
        let difference = expected.and_then(|expected| result_difference(expected, &answer.text));
        if answer.is_error != wants_error {
            let word = |is_error| if is_error { "error" } else { "ok" };
            let message = format!(
                "`{}` ended with status `{}`, expected `{}`",
                call.tool,
                word(answer.is_error),
                word(wants_error)
            );
            let mut found = self.finding(code, event_idx, message);
            if let Some((expected, _)) = difference {
                found = found.with_note(format!("expected: {expected}"));
            }
            if !answer.text.is_empty() {
                found = found.with_note(format!("answered: {}", cut(answer.text.trim(), 400)));
            }
            return self.find(found, Some(event_idx)).await;
        }
        if let Some((expected, arrived)) = difference {
            let message = format!("the result of `{}` is not the scripted one", call.tool);
            let found = self
                .finding(code, event_idx, message)
                .with_note(format!("expected: {expected}"))
                .with_note(format!("answered: {arrived}"));
            self.find(found, Some(event_idx)).await;
        }
    }
}

/// The text of a file that can be compared; that of a missing one is empty.
fn compared(path: &std::path::Path) -> Option<String> {
    match std::fs::metadata(path) {
        Err(_) => Some(String::new()),
        Ok(metadata) if metadata.len() > MAX_COMPARED => None,
        Ok(_) => text_file(path, "").ok(),
    }
}

/// What the script says that a call answers.
pub(super) fn scripted_outcome(call: &ToolUse) -> ToolOutcome {
    let text = match &call.result {
        Some(ExpectedResult::Value(Json::String(text)) | ExpectedResult::Contains(text)) => {
            text.clone()
        }
        Some(ExpectedResult::Value(json) | ExpectedResult::Json(json)) => json.to_string(),
        Some(ExpectedResult::Regex(_)) | None => String::new(),
    };
    ToolOutcome {
        text,
        is_error: call.status == ToolStatus::Error,
    }
}
