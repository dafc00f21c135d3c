//! A run as it is collected from a transcript: messages, calls and what came of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;

use super::builder::{self, Draft, Frame, capabilities};
use super::lines::{content_text, json_in_text};
use crate::{
    Adapter, ErrorHappened, EventData, FinalOutput, Message, MessageReceived, RunStatus, Thought,
    ToolCall, ToolResult, Trace,
};
use cuecard_source::value::{Json, cut};

/// A message of an error is cut to so many characters.
const LONGEST_MESSAGE: usize = 2000;

/// Collects the events of a run in the order in which they happened.
#[derive(Debug, Default)]
pub(super) struct Run {
    drafts: Vec<Draft>,
    /// The tool of each call.
    calls: HashMap<Arc<str>, Cow<'static, str>>,
    session_id: Option<String>,
    /// The folder that the agent worked in at first.
    cwd: Option<String>,
    /// The folder that it works in now.
    cwd_now: Option<String>,
    /// The folder of each call that was made in another than the first.
    cwd_of: serde_json::Map<String, Json>,
    /// To which message of the model the last text belongs, where the source says so.
    last_text: Option<String>,
    pub token_usage: Option<u64>,
    pub timing_ms_total: Option<f64>,
    /// Whether somebody stopped it.
    pub is_interrupted: bool,
    /// Whether it is known to have failed.
    pub is_failed: bool,
    /// Why its last message is no whole answer, if it is none.
    pub cut_off: Option<RunStatus>,
    /// Capabilities that differ from the defaults.
    pub flags: serde_json::Map<String, Json>,
}

/// Who did something, and when.
#[derive(Debug, Clone, Default)]
pub(super) struct By {
    pub ts: Option<Timestamp>,
    /// An agent below the main one.
    pub agent_id: Option<String>,
    /// The id that the source has for it.
    pub event_id: Option<String>,
}

/// How a call ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub success: bool,
    pub result: Json,
    /// The whole text, if the result was read from it.
    pub text: Option<String>,
    /// What the program around the agent kept of it as JSON.
    pub structured: Option<Json>,
    pub duration_ms: Option<f64>,
    /// A word for the failure; `tool_error` without one.
    pub error_type: Option<String>,
    /// What went wrong; the answer's own text without one.
    pub message: Option<String>,
}

impl Answer {
    /// An answer in text: JSON in it is read, so that assertions can reach into it.
    pub(super) fn of_text(text: String, success: bool) -> Self {
        match json_in_text(&text) {
            Some(result) => Self {
                success,
                result,
                text: Some(text),
                ..Self::default()
            },
            None => Self {
                success,
                result: Json::String(text),
                ..Self::default()
            },
        }
    }

    /// An answer of an MCP server: with several blocks, the result is the list of what each of them is.
    pub(super) fn of_blocks(content: &Json, success: bool) -> Self {
        let mut answer = Self::of_text(content_text(content), success);
        if let Some(blocks) = content.as_array().filter(|blocks| blocks.len() > 1) {
            let value = |block: &Json| match block.get("text") {
                Some(Json::String(text)) => json_in_text(text).unwrap_or_else(|| json!(text)),
                _ => json!({ "type": block["type"] }),
            };
            answer.text = answer.text.or_else(|| Some(content_text(content)));
            answer.result = blocks.iter().map(value).collect();
        }
        answer
    }
}

impl Run {
    pub(super) fn session(&mut self, id: Option<&str>) {
        if self.session_id.is_none() {
            self.session_id = id.map(str::to_owned);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// A message reached the agent.
    pub(super) fn received(&mut self, by: By, content: String) {
        let role = "user".to_owned();
        let data = match by.agent_id {
            None => EventData::MessageReceived(MessageReceived { role, content }),
            // One agent told another what to do.
            Some(_) => EventData::Message(Message { role, content }),
        };
        self.push(by, data);
    }

    /// The agent said something. Texts of one message of the model, one right after the other, are one message.
    pub(super) fn said(&mut self, by: By, content: String, message_id: Option<&str>) {
        let is_same = message_id.is_some() && self.last_text.as_deref() == message_id;
        if let (true, Some(last)) = (is_same, self.drafts.last_mut())
            && let EventData::Message(message) = &mut last.data
            && last.agent_id == by.agent_id
        {
            message.content.push('\n');
            message.content.push_str(&content);
            return;
        }
        let role = "assistant".to_owned();
        self.push(by, EventData::Message(Message { role, content }));
        self.last_text = message_id.map(str::to_owned);
    }

    pub(super) fn thought(&mut self, by: By, text: String) {
        self.push(by, EventData::Thought(Thought { text }));
    }

    pub(super) fn called(&mut self, by: By, tool: &str, call_id: &str, args: Json) {
        let tool: Cow<'static, str> = Cow::Owned(tool.to_owned());
        if let Some(folder) = self.cwd_now.clone().filter(|_| self.cwd_now != self.cwd) {
            self.cwd_of.insert(call_id.to_owned(), folder.into());
        }
        let call_id: Arc<str> = call_id.into();
        self.calls.insert(call_id.clone(), tool.clone());
        let data = ToolCall {
            tool,
            call_id,
            args: args.into(),
            native_tool: None,
            attempt: None,
        };
        self.push(by, EventData::ToolCall(data));
    }

    /// The folder that the agent works in from now on.
    pub(super) fn works_in(&mut self, folder: Option<&str>) {
        if let Some(folder) = folder {
            self.cwd.get_or_insert_with(|| folder.to_owned());
            self.cwd_now = Some(folder.to_owned());
        }
    }

    /// The tool of a call.
    pub(super) fn tool_of(&self, call_id: &str) -> Option<&str> {
        self.calls.get(call_id).map(AsRef::as_ref)
    }

    /// Whether there was such a call.
    pub(super) fn has_call(&self, call_id: &str) -> bool {
        self.calls.contains_key(call_id)
    }

    /// A call was answered. False if there is no such call.
    pub(super) fn answered(&mut self, by: By, call_id: &str, answer: Answer) -> bool {
        let Some((call_id, tool)) = self.calls.get_key_value(call_id) else {
            return false;
        };
        let (call_id, tool) = (call_id.clone(), tool.clone());
        let error = (!answer.success).then(|| {
            let message = answer.message.as_deref().map_or_else(
                || match &answer.text {
                    Some(text) => Cow::Borrowed(text.as_str()),
                    None => cuecard_source::value::as_text(&answer.result),
                },
                Cow::Borrowed,
            );
            ErrorHappened {
                scope: "tool".to_owned(),
                tool: Some(tool.clone()),
                call_id: Some(call_id.clone()),
                error_type: answer
                    .error_type
                    .clone()
                    .unwrap_or_else(|| "tool_error".to_owned()),
                message: cut(&message, LONGEST_MESSAGE).into_owned(),
                retryable: false,
            }
        });
        let result = ToolResult {
            tool,
            call_id,
            success: answer.success,
            result: answer.result.into(),
            text: answer.text,
            structured: answer.structured,
            fixture_id: None,
            duration_ms: answer.duration_ms,
        };
        let after = By {
            event_id: None,
            ..by.clone()
        };
        self.push(by, EventData::ToolResult(result));
        if let Some(error) = error {
            self.push(after, EventData::ErrorHappened(error));
        }
        true
    }

    /// The model, or the program around it, failed.
    pub(super) fn failed(&mut self, by: By, scope: &str, error_type: &str, message: &str) {
        let data = ErrorHappened {
            scope: scope.to_owned(),
            tool: None,
            call_id: None,
            error_type: error_type.to_owned(),
            message: cut(message, LONGEST_MESSAGE).into_owned(),
            retryable: false,
        };
        self.push(by, EventData::ErrorHappened(data));
    }

    /// Something that has an event type of its own.
    pub(super) fn push(&mut self, by: By, data: EventData) {
        self.last_text = None;
        self.drafts.push(Draft {
            event_id: by.event_id,
            agent_id: by.agent_id,
            ..Draft::new(by.ts, data)
        });
    }

    /// The trace. The main agent's last message, if nothing but its thoughts follows, is its final output.
    pub(super) fn finish(mut self, name: &str, version: Option<&str>) -> Trace {
        let final_output = self.take_final_output();
        let status = if self.is_interrupted {
            RunStatus::Blocked
        } else if self.is_failed || self.ends_with_an_error() {
            RunStatus::Failed
        } else if final_output.is_none() {
            RunStatus::Partial
        } else {
            self.cut_off.unwrap_or(RunStatus::Success)
        };
        for draft in &mut self.drafts {
            draft.session_id.clone_from(&self.session_id);
        }
        let has_calls = !self.calls.is_empty();
        let mut scenario = json!({ "session_id": self.session_id, "trigger": "user_message" });
        if let Some(cwd) = self.cwd.take() {
            scenario["cwd"] = cwd.into();
        }
        if !self.cwd_of.is_empty() {
            scenario["cwd_of"] = Json::Object(std::mem::take(&mut self.cwd_of));
        }
        let frame = Frame {
            adapter: Adapter {
                name: name.to_owned(),
                version: version.unwrap_or("unknown").to_owned(),
            },
            capabilities: capabilities(&self.flags),
            scenario,
            input_messages: self.first_messages(),
            final_output,
            status,
            timing_ms_total: self.timing_ms_total,
            retry_count: (!has_calls).then_some(0),
            token_usage: self.token_usage,
            artifacts: serde_json::Map::new(),
        };
        builder::trace(frame, self.drafts)
    }

    fn take_final_output(&mut self) -> Option<FinalOutput> {
        let last = self
            .drafts
            .iter_mut()
            .rev()
            .filter(|draft| draft.agent_id.is_none())
            .find(|draft| !matches!(draft.data, EventData::Thought(_)))?;
        let EventData::Message(message) = &last.data else {
            return None;
        };
        let output = FinalOutput {
            role: message.role.clone(),
            content: message.content.clone(),
            format_hint: None,
        };
        last.data = EventData::FinalOutput(output.clone());
        Some(output)
    }

    fn ends_with_an_error(&self) -> bool {
        self.drafts
            .iter()
            .rev()
            .find(|draft| draft.agent_id.is_none())
            .is_some_and(|draft| {
                matches!(&draft.data, EventData::ErrorHappened(error) if error.scope != "tool")
            })
    }

    /// What the agent was told before it did anything.
    fn first_messages(&self) -> Vec<Json> {
        self.drafts
            .iter()
            .take_while(|draft| {
                matches!(
                    draft.data,
                    EventData::MessageReceived(_) | EventData::Log(_)
                )
            })
            .filter_map(|draft| match &draft.data {
                EventData::MessageReceived(message) => {
                    Some(json!({ "role": message.role, "content": message.content }))
                }
                _ => None,
            })
            .collect()
    }
}
