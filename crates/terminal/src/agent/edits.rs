//! Edits that the agent makes by itself, and the command that runs after each call and edit.

use std::sync::Arc;
use std::time::Duration;

use cuecard_source::diagnostic::codes;
use cuecard_source::matching::changed_lines;
use cuecard_source::value::{Json, Text, cut};
use cuecard_timeline::model::AgentEdits;
use cuecard_trace::{EventData, ToolCall, ToolResult};
use cuecard_workspace::commands::{CommandRequest, DEFAULT_MAX_OUTPUT, run};
use cuecard_workspace::{edit, files};
use serde_json::json;

use super::player::Player;
use super::text_file;

/// How long the command after each call may take.
const CHECKPOINT_TIMEOUT: Duration = Duration::from_secs(30);

impl Player {
    pub(super) async fn edit(&mut self, event_idx: usize, scripted: &AgentEdits) {
        let tool = match scripted.old_text {
            Some(_) => "editFile",
            None => "writeFile",
        };
        if scripted.has_text() {
            let args = match (&scripted.old_text, &scripted.new_text) {
                (Some(old), new) => {
                    json!({"path": scripted.path, "old_string": old, "new_string": new})
                }
                (None, new) => json!({"path": scripted.path, "content": new}),
            };
            self.recorder.record(EventData::ToolCall(ToolCall {
                tool: tool.into(),
                call_id: scripted.call_id.as_str().into(),
                args: Arc::new(args),
                native_tool: None,
                attempt: None,
            }));
        }
        self.recorder.settle();
        let changed = self.changed(scripted);
        if scripted.has_text() {
            let result = changed
                .as_ref()
                .map_or_else(Clone::clone, |_| format!("Edited {}", scripted.path));
            self.recorder.record(EventData::ToolResult(ToolResult {
                tool: tool.into(),
                call_id: scripted.call_id.as_str().into(),
                success: changed.is_ok(),
                result: Arc::new(Json::String(result)),
                text: None,
                structured: None,
                fixture_id: None,
                duration_ms: None,
            }));
        }
        match changed {
            Err(reason) => {
                let reason = reason.trim_start_matches(&format!("`{}`: ", scripted.path));
                let message = format!("`{}` can't be edited: {reason}", scripted.path);
                self.printer.error(&message);
                self.differs(codes::TERMINAL_EDIT_DIFFERS, event_idx, message)
                    .await;
            }
            Ok((before, after)) => {
                let (mut added, mut removed) = changed_lines(&before, &after);
                if self.options.simulates && !scripted.has_text() {
                    added = scripted.lines_added.unwrap_or_default();
                    removed = scripted.lines_removed.unwrap_or_default();
                }
                let about = scripted.description.as_deref();
                self.printer.edit(&scripted.path, (added, removed), about);
                self.record_edit(scripted.path.clone(), &before, &after);
                let wanted = [
                    ("linesAdded", scripted.lines_added, added),
                    ("linesRemoved", scripted.lines_removed, removed),
                ];
                for (key, wanted, count) in wanted {
                    let wanted = wanted.filter(|_| !self.options.simulates);
                    if wanted.is_some_and(|wanted| wanted != count) {
                        let wanted = wanted.unwrap_or_default();
                        let message = format!("`{key}` is {wanted}, but the edit has {count}");
                        self.differs(codes::TERMINAL_EDIT_DIFFERS, event_idx, message)
                            .await;
                    }
                }
            }
        }
        self.checkpoint(event_idx, "agentEdits", "").await;
    }

    /// Makes an edit; what was in the file before and is after it.
    fn changed(&self, scripted: &AgentEdits) -> Result<(String, String), String> {
        if self.options.simulates {
            let old = scripted.old_text.clone().unwrap_or_default();
            return Ok((old, scripted.new_text.clone().unwrap_or_default()));
        }
        let path = self.tools.writable(&scripted.path)?;
        let before = match path.exists() {
            true => text_file(&path, &scripted.path)?,
            false => String::new(),
        };
        let write =
            |after: &str| files::write(&path, after).map_err(|error| self.tools.reason(&error));
        match (&scripted.old_text, &scripted.new_text) {
            (Some(old), Some(new)) => {
                let edited = edit::edit(&path, old, new, false);
                edited.map_err(|error| {
                    self.tools
                        .reason(&error)
                        .replace("`old_string`", "`oldText`")
                })?;
                let after = text_file(&path, &scripted.path)?;
                Ok((before, after))
            }
            (None, Some(new)) => {
                write(new)?;
                Ok((before, new.clone()))
            }
            (_, None) => {
                let lines: Vec<&str> = before.split_inclusive('\n').collect();
                let removed = scripted.lines_removed.unwrap_or_default();
                let kept = usize::try_from(removed)
                    .ok()
                    .and_then(|removed| lines.len().checked_sub(removed))
                    .ok_or_else(|| {
                        format!(
                            "{removed} lines are to be removed, and it has {}",
                            lines.len()
                        )
                    })?;
                let mut after = lines[..kept].concat();
                let added = scripted.lines_added.unwrap_or_default();
                if added > 0 && !after.is_empty() && !after.ends_with('\n') {
                    return Err(
                        "it does not end in a newline, so that no lines can be added".to_owned(),
                    );
                }
                for nth in 1..=added {
                    after.push_str(&format!("line {nth} of {}\n", scripted.call_id));
                }
                write(&after)?;
                Ok((before, after))
            }
        }
    }

    /// Runs the user's command after a call or an edit.
    pub(super) async fn checkpoint(&mut self, event_idx: usize, event: &str, tool: &str) {
        let command = self.options.checkpoint.clone();
        let Some(command) = command.filter(|_| !self.options.simulates) else {
            return;
        };
        let bound = self.options.policy.command(&Text::from(command.as_str()));
        let problem = match bound {
            Err(refusal) => Some((refusal.message, String::new())),
            Ok(bound) => {
                let mut env = bound.env;
                let index = event_idx.to_string();
                for (name, value) in [
                    ("CUECARD_EVENT", event),
                    ("CUECARD_TOOL", tool),
                    ("CUECARD_INDEX", &index),
                ] {
                    env.push((name.into(), value.into()));
                }
                let request = CommandRequest {
                    command: bound.script,
                    cwd: self.options.workspace.clone(),
                    env,
                    timeout: CHECKPOINT_TIMEOUT,
                    max_output: DEFAULT_MAX_OUTPUT,
                };
                match run(request, &self.options.environment).await {
                    Err(error) => Some((error.to_string(), String::new())),
                    Ok(outcome) if outcome.exit_code == Some(0) => None,
                    Ok(outcome) => {
                        let how = match outcome.exit_code {
                            Some(code) => format!("it ended with exit code {code}"),
                            None => {
                                format!("it timed out after {} s", CHECKPOINT_TIMEOUT.as_secs())
                            }
                        };
                        Some((how, format!("{}{}", outcome.stdout, outcome.stderr)))
                    }
                }
            }
        };
        if let Some((reason, output)) = problem {
            let message = format!("the checkpoint command failed: {reason}");
            let mut found = self.finding(codes::TERMINAL_PATCH, event_idx, message);
            if !output.trim().is_empty() {
                found = found.with_note(format!("output: {}", cut(output.trim(), 400)));
            }
            self.find(found, Some(event_idx)).await;
        }
    }
}
