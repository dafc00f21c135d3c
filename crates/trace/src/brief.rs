//! An event in one line, as reports show it.

use super::{Event, EventData};
use cuecard_source::value::{Json, as_text, cut};

/// More of a value is not looked at for its line.
const MAX_LOOKED_AT: usize = 4096;

impl Event {
    /// The tool that the event is about.
    pub fn tool(&self) -> Option<&str> {
        match &self.data {
            EventData::ToolCall(call) => Some(&call.tool),
            EventData::ToolResult(result) => Some(&result.tool),
            EventData::ErrorHappened(error) => error.tool.as_deref(),
            EventData::StepStarted(step) | EventData::ElementStarted(step) => Some(&step.tool),
            EventData::StepFinished(step) | EventData::ElementFinished(step) => Some(&step.tool),
            EventData::Other(other) => other.data.get("tool").and_then(Json::as_str),
            _ => None,
        }
    }

    /// How long it took, in milliseconds, if it says so itself.
    pub fn duration_ms(&self) -> Option<f64> {
        match &self.data {
            EventData::ToolResult(result) => result.duration_ms,
            EventData::StepFinished(step) | EventData::ElementFinished(step) => {
                Some(step.duration_ms)
            }
            _ => None,
        }
    }

    /// What it is about beside its type and tool, on one line of at most `limit` characters and a mark.
    pub fn brief(&self, limit: usize) -> String {
        let text = match &self.data {
            EventData::MessageReceived(message) => message.content.as_str().into(),
            EventData::FinalOutput(output) => output.content.as_str().into(),
            EventData::ToolCall(call) => arguments(&call.args).into(),
            EventData::ToolResult(result) => match (&result.text, result.success) {
                (Some(text), true) => text.as_str().into(),
                (Some(text), false) => format!("failed: {}", cut(text, MAX_LOOKED_AT)).into(),
                (None, true) => as_text(&result.result),
                (None, false) => format!("failed: {}", as_text(&result.result)).into(),
            },
            EventData::RequestReceived(request) => {
                format!("{}: {}", request.server, request.method).into()
            }
            EventData::RequestAnswered(answer) => {
                let by = answer.answer.as_ref();
                let by = by.map_or(String::new(), |place| format!(" answered by {place}"));
                let error = answer.error.as_ref();
                let error = error.map_or(String::new(), |error| format!(": {error}"));
                let result = answer.result.as_ref();
                let result =
                    result.map_or(String::new(), |result| format!(": {}", as_text(result)));
                format!("{}: {}{by}{result}{error}", answer.server, answer.method).into()
            }
            EventData::RequestSent(request) => {
                format!("{}: {}", request.server, as_text(&request.params)).into()
            }
            EventData::ResponseReceived(response) => {
                let said = response.error.as_ref().or(response.text.as_ref());
                let said = said.map_or("", String::as_str);
                format!("{}: {}", response.server, cut(said, MAX_LOOKED_AT)).into()
            }
            EventData::MemoryRead(read) => match &read.content {
                Some(content) => format!("{}: {content}", read.path).into(),
                None => read.path.as_str().into(),
            },
            EventData::MemoryWrite(write) => {
                match write.change_summary.as_ref().or(write.content.as_ref()) {
                    Some(change) => format!("{}: {change}", write.path).into(),
                    None => write.path.as_str().into(),
                }
            }
            EventData::ErrorHappened(error) => {
                format!("{}: {}", error.error_type, error.message).into()
            }
            EventData::Message(message) => message.content.as_str().into(),
            EventData::Thought(thought) => thought.text.as_str().into(),
            EventData::Plan(plan) => as_text(&plan.entries),
            EventData::HttpExchange(exchange) => {
                format!("{} {}", exchange.path, exchange.status).into()
            }
            EventData::FileEdit(edit) => format!(
                "{} (+{} −{})",
                edit.path, edit.lines_added, edit.lines_removed
            )
            .into(),
            EventData::Terminal(terminal) => match terminal.exit_code {
                Some(code) => format!("{} (exit {code})", terminal.command).into(),
                None => terminal.command.as_str().into(),
            },
            EventData::Screenshot(screenshot) => screenshot.label.as_str().into(),
            EventData::Permission(permission) => as_text(&permission.outcome),
            EventData::Log(log) => format!("{}: {}", log.level, log.message).into(),
            EventData::Assertion(assertion) => {
                let (id, status) = (&assertion.id, &assertion.status);
                format!("{id} {status}: {}", as_text(&assertion.observed)).into()
            }
            EventData::StepStarted(step) | EventData::ElementStarted(step) => {
                step.description.as_deref().unwrap_or_default().into()
            }
            EventData::StepFinished(step) | EventData::ElementFinished(step) => {
                match (&step.error, step.restored) {
                    (_, Some(restored)) => {
                        format!("{}, {}", step.status.as_str(), restored.as_str()).into()
                    }
                    (Some(error), None) => {
                        format!("{}: {}", step.status.as_str(), error.message).into()
                    }
                    (None, None) => step.status.as_str().into(),
                }
            }
            EventData::Other(other) => as_text(&other.data),
        };
        one_line(&text, limit)
    }
}

/// Arguments as people write them: `query: "news", limit: 3`.
fn arguments(args: &Json) -> String {
    let Json::Object(members) = args else {
        return as_text(args).into_owned();
    };
    let mut text = String::new();
    for (name, value) in members {
        if text.len() > MAX_LOOKED_AT {
            break;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(name);
        text.push_str(": ");
        text.push_str(&value.to_string());
    }
    text
}

/// `text` on one line: runs of white space and control characters become a space.
fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    let mut gap = false;
    for character in text.chars() {
        if character.is_whitespace() || character.is_control() {
            gap = count > 0;
            continue;
        }
        let wanted = 1 + usize::from(gap);
        if count + wanted > limit {
            line.push('…');
            return line;
        }
        if gap {
            line.push(' ');
        }
        line.push(character);
        count += wanted;
        gap = false;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(kind: &str, data: Json) -> Event {
        serde_json::from_value(json!({
            "event_id": "e1", "seq": 1, "ts": "2026-01-01T00:00:00Z", "type": kind, "actor": "agent", "data": data,
        }))
        .expect("an event")
    }

    #[test]
    fn events_are_told_in_a_line() {
        let call = event(
            "tool_call",
            json!({"tool": "web_search", "call_id": "1", "args": {"query": "a\nb", "limit": 3}}),
        );
        assert_eq!(call.tool(), Some("web_search"));
        assert_eq!(call.brief(80), r#"query: "a\nb", limit: 3"#);
        assert_eq!(call.brief(9), r#"query: "a…"#);
        let result = event(
            "tool_result",
            json!({"tool": "t", "call_id": "1", "success": false, "result": "no  such\u{1b}[31m\n\nthing"}),
        );
        assert_eq!(result.brief(80), "failed: no such [31m thing");
        let unknown = event("seen", json!({"tool": "x", "n": 1}));
        assert_eq!(
            (unknown.tool(), unknown.brief(80)),
            (Some("x"), r#"{"tool":"x","n":1}"#.to_owned())
        );
    }
}
