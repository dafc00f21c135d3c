//! Plays the script of a session.

use std::sync::Arc;
use std::time::Duration;

use cuecard_source::value::Json;
use cuecard_timeline::model::SessionStatus;
use cuecard_trace::{
    ErrorHappened, EventData, FileEdit, Log, Message, Thought, ToolCall, ToolResult,
};

use super::script::{ServiceScript, Step, StepAct, is_final, message};
use super::service::Service;
use super::session::{Control, Session, Told};

/// Plays a session to its end, or until it is stopped.
pub(crate) async fn play(
    service: Arc<Service>,
    session: Arc<Session>,
    (scenario_idx, script): (usize, Arc<ServiceScript>),
) {
    service
        .tell(&session, session.become_status(SessionStatus::Queued))
        .await;
    service
        .tell(&session, session.become_status(SessionStatus::Running))
        .await;
    let mut player = Player {
        service: &service,
        session: &session,
        base: service.clock.now(),
        n_prompts: 0,
    };
    for (step_idx, step) in script.steps.iter().enumerate() {
        let is_history = step_idx < script.n_history;
        let at_ms = match is_history {
            true => 0,
            false => step.at_ms.saturating_sub(script.origin_ms),
        };
        let due = match is_history {
            true => Duration::ZERO,
            false => Duration::from_millis(
                service
                    .options
                    .play
                    .speed
                    .after(script.origin_ms, step.at_ms),
            ),
        };
        if player.held(step).await.is_none() || player.wait_until(due).await.is_none() {
            return;
        }
        session.reached(Duration::from_millis(at_ms));
        if player.act(step, is_history).await.is_none() {
            return;
        }
        if session.number == 1 {
            service.n_played.send_replace(step_idx + 1);
        }
    }
    service.played(scenario_idx);
}

struct Player<'a> {
    service: &'a Service,
    session: &'a Session,
    /// When the script began, moved on by what it was held up.
    base: Duration,
    n_prompts: usize,
}

impl Player<'_> {
    /// Waits until so much of the script's time has passed; `None` if the session is stopped.
    async fn wait_until(&mut self, due: Duration) -> Option<()> {
        let mut control = self.session.control.subscribe();
        loop {
            let now = self.service.clock.now();
            let state = *control.borrow_and_update();
            match state {
                Control::Stop => return None,
                Control::Pause => {
                    control.changed().await.ok()?;
                    self.base += self.service.clock.now().saturating_sub(now);
                }
                Control::Run if now >= self.base + due => return Some(()),
                Control::Run => tokio::select! {
                    () = self.service.clock.sleep_until(self.base + due) => {}
                    changed = control.changed() => changed.ok()?,
                },
            }
        }
    }

    /// Waits until a step may be told; `None` if the session is stopped.
    async fn held(&mut self, step: &Step) -> Option<()> {
        let Some(mut hold) = self.service.options.hold.clone() else {
            return Some(());
        };
        let since = self.service.clock.now();
        let mut control = self.session.control.subscribe();
        let is_told = |hold: &usize| step.place.event_idx < *hold;
        tokio::select! {
            // Who is gone holds nothing back.
            _ = hold.wait_for(is_told) => {}
            _ = control.wait_for(|control| *control == Control::Stop) => return None,
        }
        self.base += self.service.clock.now().saturating_sub(since);
        Some(())
    }

    /// Does what a step says; `None` if the session is stopped.
    async fn act(&mut self, step: &Step, is_history: bool) -> Option<()> {
        match &step.act {
            StepAct::Merge => self.session.merge(),
            StepAct::Tell(event) => {
                self.tell(|| self.session.tell_scripted(event.clone(), step.place))
                    .await?;
            }
            StepAct::Status(status) => {
                self.tell(|| self.session.become_scripted(*status, step.place))
                    .await?;
                if is_final(*status) {
                    self.service.ended(self.session).await;
                }
            }
            StepAct::Prompt(text) => {
                self.n_prompts += usize::from(!is_history);
                // The task itself is the first one.
                let is_awaited =
                    self.service.options.waits_for_prompts && self.n_prompts > 1 && !is_history;
                let said = match is_awaited {
                    true => {
                        let since = self.service.clock.now();
                        let said = self.prompt().await?;
                        self.base += self.service.clock.now().saturating_sub(since);
                        said
                    }
                    false => text.clone(),
                };
                self.tell(|| {
                    self.session
                        .tell_scripted(message("user", &said), step.place)
                })
                .await?;
            }
        }
        Some(())
    }

    /// Waits for a prompt of a client.
    async fn prompt(&mut self) -> Option<String> {
        let (mut prompts, mut control) = (self.session.prompts(), self.session.control.subscribe());
        loop {
            prompts.borrow_and_update();
            if *control.borrow_and_update() == Control::Stop {
                return None;
            }
            if let Some(text) = self.session.take_prompt() {
                return Some(text);
            }
            tokio::select! {
                changed = prompts.changed() => changed.ok()?,
                changed = control.changed() => changed.ok()?,
            }
        }
    }

    /// Tells what a step says, once the session is not paused.
    async fn tell(&mut self, tell: impl Fn() -> Result<Option<Arc<Told>>, Control>) -> Option<()> {
        loop {
            match tell() {
                Ok(told) => {
                    self.service.tell(self.session, told).await;
                    return Some(());
                }
                Err(_) => self.wait_until(Duration::ZERO).await?,
            }
        }
    }
}

/// An event of a session as a trace has it.
pub fn traced(event: &Json) -> Option<EventData> {
    let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
    let id = || Arc::<str>::from(text("tool_execution_id"));
    Some(match event["type"].as_str()? {
        "message" => EventData::Message(Message {
            role: text("role"),
            content: text("content"),
        }),
        "thought" => EventData::Thought(Thought {
            text: text("thought"),
        }),
        "tool_use" => EventData::ToolCall(ToolCall {
            call_id: id(),
            tool: text("tool_name").into(),
            args: Arc::new(event["tool_args"].clone()),
            native_tool: None,
            attempt: None,
        }),
        "tool_result" => EventData::ToolResult(ToolResult {
            call_id: id(),
            tool: text("tool_name").into(),
            success: event["status"] == "completed",
            result: Arc::new(event["tool_output"].clone()),
            text: None,
            structured: None,
            fixture_id: None,
            duration_ms: None,
        }),
        "file_edit" => EventData::FileEdit(FileEdit {
            path: text("file_path"),
            lines_added: event["lines_added"].as_u64().unwrap_or_default(),
            lines_removed: event["lines_removed"].as_u64().unwrap_or_default(),
            hash_before: None,
            hash_after: None,
        }),
        "error" => EventData::ErrorHappened(ErrorHappened {
            scope: "llm".to_owned(),
            tool: None,
            call_id: None,
            error_type: "scripted".to_owned(),
            message: text("message"),
            retryable: false,
        }),
        "log" => EventData::Log(Log {
            level: text("level"),
            message: text("message"),
            stream: event["stream"].as_str().map(str::to_owned),
        }),
        "status" => EventData::Log(Log {
            level: "info".to_owned(),
            message: format!("status: {}", text("status")),
            stream: None,
        }),
        // The diff of an edit that was told before it.
        _ => return None,
    })
}
