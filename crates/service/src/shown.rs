//! Sessions that show a run that goes on elsewhere: nothing plays them, and nobody steers them.

use std::sync::Arc;
use std::time::Duration;

use cuecard_runtime::tap::Listener;
use cuecard_source::value::{Json, as_text};
use cuecard_timeline::model::SessionStatus;
use cuecard_trace::{Event, EventData};
use serde_json::{Value, json};

use super::RunningService;
use super::script::message;
use super::session::{MOST_EVENTS, Session, TaskInfo};

/// A session that is told what happens in a run.
#[derive(Debug, Clone)]
pub struct ShownSession(Arc<Session>);

impl RunningService {
    /// Opens a session for a run of the scenario `name`, in which `agent` works; none if there are too many.
    pub fn show(&self, name: &str, agent: &str) -> Option<ShownSession> {
        let task = TaskInfo {
            prompt: name.to_owned(),
            repo: Value::Null,
            runtime: json!({"type": "local"}),
            agent: json!({"type": agent, "version": null}),
            delivery: Value::Null,
            labels: Value::Null,
            project_id: None,
        };
        let session = self.service.add(None, vec![task]).ok()?.pop()?;
        let _ = session.become_status(SessionStatus::Queued);
        let _ = session.become_status(SessionStatus::Running);
        Some(ShownSession(session))
    }
}

impl ShownSession {
    /// The run is over.
    pub fn end(&self, status: SessionStatus) {
        let _ = self.0.become_status(status);
    }
}

impl Listener for ShownSession {
    fn event(&mut self, event: &Event) {
        let session = &self.0;
        if session.n_events() >= MOST_EVENTS {
            return;
        }
        let elapsed = event.ts.duration_since(session.started);
        session.reached(Duration::try_from(elapsed).unwrap_or_default());
        if let Some(shown) = shown(&event.data) {
            session.tell(shown);
        }
    }
}

/// An event of a trace as one of a session; none if a session has nothing like it.
fn shown(data: &EventData) -> Option<Json> {
    Some(match data {
        EventData::MessageReceived(said) => message("user", &said.content),
        EventData::Message(said) => message(&said.role, &said.content),
        EventData::Thought(thought) => json!({"type": "thought", "thought": thought.text}),
        EventData::ToolCall(call) => json!({
            "type": "tool_use", "tool_name": call.tool, "tool_args": call.args,
            "tool_execution_id": call.call_id, "status": "started",
        }),
        EventData::ToolResult(result) => {
            let output = result.text.as_deref().map(Into::into);
            json!({
                "type": "tool_result", "tool_name": result.tool,
                "tool_output": output.unwrap_or_else(|| as_text(&result.result)),
                "tool_execution_id": result.call_id,
                "status": if result.success { "completed" } else { "failed" },
            })
        }
        EventData::FileEdit(edit) => json!({
            "type": "file_edit", "file_path": edit.path,
            "lines_added": edit.lines_added, "lines_removed": edit.lines_removed,
        }),
        EventData::ErrorHappened(error) => json!({"type": "error", "message": error.message}),
        EventData::Assertion(assertion) => {
            let level = if assertion.status == "pass" {
                "info"
            } else {
                "error"
            };
            let (status, id) = (&assertion.status, &assertion.id);
            log(
                level,
                &format!("{status}: {id}\n{}", as_text(&assertion.observed)),
            )
        }
        EventData::Terminal(command) => log(
            "info",
            &format!("user command: {}\n{}", command.command, command.text),
        ),
        EventData::Screenshot(screenshot) => {
            log("info", &format!("screenshot {}", screenshot.label))
        }
        EventData::Log(line) => log(&line.level, &line.message),
        _ => return None,
    })
}

fn log(level: &str, message: &str) -> Json {
    json!({"type": "log", "level": level, "message": message.trim_end()})
}
