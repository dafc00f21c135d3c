//! Our trace as the transcript that an agent would have written of the same session.

use std::collections::HashSet;

use serde_json::json;

use super::import::TranscriptFormat;
use crate::{Event, EventData, ToolCall};
use cuecard_source::value::{Json, as_text};

/// What a transcript says about its session.
#[derive(Debug, Clone)]
pub struct SessionHeader<'a> {
    /// The session's id.
    pub id: &'a str,
    /// The folder that the agent works in.
    pub folder: &'a str,
    /// The version of the agent.
    pub version: &'a str,
}

/// The formats that can be written.
pub const SESSION_FORMATS: [TranscriptFormat; 2] =
    [TranscriptFormat::ClaudeCode, TranscriptFormat::Codex];

/// The session that `events` tell as a transcript in JSON Lines: what the user and the agent said, thoughts, and calls
/// with their results. `native` gives the name and the arguments that the agent has for a call. Nothing for a format
/// that is not among [`SESSION_FORMATS`].
///
/// Reading it again with [`super::import::transcript`] gives the same messages and calls.
pub fn session(
    format: TranscriptFormat,
    events: &[Event],
    header: &SessionHeader<'_>,
    native: impl Fn(&ToolCall) -> (String, Json),
) -> Option<String> {
    let mut lines = match format {
        TranscriptFormat::ClaudeCode => Vec::new(),
        TranscriptFormat::Codex => {
            let ts = events.first().map(|event| event.ts.to_string());
            let meta = json!({
                "id": header.id, "timestamp": ts, "cwd": header.folder, "originator": "codex_cli_rs",
                "cli_version": header.version, "source": "cli",
            });
            vec![json!({"timestamp": ts, "type": "session_meta", "payload": meta})]
        }
        TranscriptFormat::Atif | TranscriptFormat::Otlp => return None,
    };
    let mut parent = Json::Null;
    // Calls whose arguments are a text, which have answers of their own kind.
    let mut custom: HashSet<&str> = HashSet::new();
    for event in events {
        let ts = event.ts.to_string();
        if format == TranscriptFormat::Codex {
            let mut payload = codex(&event.data, &native);
            match (&event.data, &mut payload) {
                (EventData::ToolCall(call), Some(payload))
                    if payload["type"] == "custom_tool_call" =>
                {
                    custom.insert(&call.call_id);
                }
                (EventData::ToolResult(result), Some(payload))
                    if custom.contains(&*result.call_id) =>
                {
                    payload["type"] = json!("custom_tool_call_output");
                }
                _ => {}
            }
            lines.extend(payload.map(
                |payload| json!({"timestamp": ts, "type": "response_item", "payload": payload}),
            ));
            continue;
        }
        let Some((kind, mut message)) = claude_code(&event.data, &native) else {
            continue;
        };
        let uuid = format!("{}-{}", header.id, event.seq);
        if kind == "assistant" {
            message["id"] = json!(format!("msg_{}", event.seq));
            message["type"] = json!("message");
            message["model"] = json!("cuecard");
        }
        lines.push(json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": header.id,
            "version": header.version, "cwd": header.folder, "timestamp": ts, "isSidechain": false,
            "userType": "external", "message": message,
        }));
        parent = json!(uuid);
    }
    Some(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// The type of a line of Claude Code and its message.
fn claude_code(
    data: &EventData,
    native: &impl Fn(&ToolCall) -> (String, Json),
) -> Option<(&'static str, Json)> {
    let assistant = |block: Json| {
        (
            "assistant",
            json!({"role": "assistant", "content": [block]}),
        )
    };
    Some(match data {
        EventData::MessageReceived(message) => {
            ("user", json!({"role": "user", "content": message.content}))
        }
        EventData::Message(message) => assistant(json!({"type": "text", "text": message.content})),
        EventData::Thought(thought) => {
            assistant(json!({"type": "thinking", "thinking": thought.text, "signature": ""}))
        }
        EventData::ToolCall(call) => {
            let (name, input) = native(call);
            assistant(
                json!({"type": "tool_use", "id": &*call.call_id, "name": name, "input": input}),
            )
        }
        EventData::ToolResult(result) => {
            let block = json!({
                "type": "tool_result", "tool_use_id": &*result.call_id,
                "content": as_text(&result.result), "is_error": !result.success,
            });
            ("user", json!({"role": "user", "content": [block]}))
        }
        _ => return None,
    })
}

/// An item of Codex.
fn codex(data: &EventData, native: &impl Fn(&ToolCall) -> (String, Json)) -> Option<Json> {
    let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    Some(match data {
        EventData::MessageReceived(said) => message("user", "input_text", &said.content),
        EventData::Message(said) => message("assistant", "output_text", &said.content),
        EventData::Thought(thought) => {
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": thought.text}]})
        }
        EventData::ToolCall(call) => match native(call) {
            (name, Json::String(input)) => json!({
                "type": "custom_tool_call", "name": name, "input": input, "call_id": &*call.call_id,
            }),
            (name, args) => json!({
                "type": "function_call", "name": name, "arguments": args.to_string(),
                "call_id": &*call.call_id,
            }),
        },
        EventData::ToolResult(result) => json!({
            "type": "function_call_output", "call_id": &*result.call_id,
            "output": {"content": as_text(&result.result), "success": result.success},
        }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::import::transcript;
    use crate::{Message, MessageReceived, Thought, ToolResult};
    use cuecard_source::SourceFile;

    /// What a session is made of.
    fn parts() -> impl Strategy<Value = Vec<EventData>> {
        // What a transcript holds as text is read as JSON where it is JSON, and empty texts are none.
        let text = "[a-z<>\"\\\\{}\n é✓]{0,12}x";
        let part = prop_oneof![
            text.prop_map(|content| {
                vec![EventData::MessageReceived(MessageReceived {
                    role: "user".to_owned(),
                    content: format!("u{content}"),
                })]
            }),
            text.prop_map(|content| {
                vec![EventData::Message(Message {
                    role: "assistant".to_owned(),
                    content,
                })]
            }),
            text.prop_map(|text| vec![EventData::Thought(Thought { text })]),
            ("[a-z]{1,8}", text, text, any::<bool>()).prop_map(|(tool, arg, result, success)| {
                let call = ToolCall {
                    tool: tool.clone().into(),
                    call_id: "".into(),
                    args: Arc::new(json!({ "a": arg, "n": 1 })),
                    native_tool: None,
                    attempt: None,
                };
                let result = ToolResult {
                    tool: tool.into(),
                    call_id: "".into(),
                    success,
                    result: Arc::new(Json::String(result)),
                    text: None,
                    structured: None,
                    fixture_id: None,
                    duration_ms: None,
                };
                vec![EventData::ToolCall(call), EventData::ToolResult(result)]
            }),
        ];
        let session = prop::collection::vec(part, 1..12);
        session.prop_map(|parts| {
            let mut all = Vec::new();
            for (nth, part) in parts.into_iter().enumerate() {
                let id: Arc<str> = format!("call_{nth}").into();
                all.extend(part.into_iter().map(|mut data| {
                    match &mut data {
                        EventData::ToolCall(call) => call.call_id = id.clone(),
                        EventData::ToolResult(result) => result.call_id = id.clone(),
                        _ => {}
                    }
                    data
                }));
            }
            all
        })
    }

    /// What was said and called, without what a reader adds.
    fn outline(data: &EventData) -> Option<String> {
        Some(match data {
            EventData::MessageReceived(said) => format!("user: {}", said.content),
            EventData::Message(said) => format!("agent: {}", said.content),
            // What was said last.
            EventData::FinalOutput(said) => format!("agent: {}", said.content),
            EventData::Thought(thought) => format!("thought: {}", thought.text),
            EventData::ToolCall(call) => format!("{} {} {}", call.call_id, call.tool, call.args),
            EventData::ToolResult(result) => {
                format!("{} {} {}", result.call_id, result.success, result.result)
            }
            _ => return None,
        })
    }

    proptest! {
        #[test]
        fn a_session_that_is_read_again_is_the_same(parts in parts(), is_codex in any::<bool>()) {
            let format = SESSION_FORMATS[usize::from(is_codex)];
            let events: Vec<Event> = parts
                .iter()
                .zip(1..)
                .map(|(data, seq)| Event::live(seq, Timestamp::UNIX_EPOCH, data.clone()))
                .collect();
            let header = SessionHeader { id: "s", folder: "/w", version: "1.0.0" };
            let native = |call: &ToolCall| (call.tool.to_string(), (*call.args).clone());
            let text = session(format, &events, &header, native).expect("a format that can be written");
            let read = transcript(&SourceFile::new("session", text.as_str()), format);
            prop_assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
            let read = read.trace.expect("a trace");
            let told: Vec<String> = read.events.iter().filter_map(|event| outline(&event.data)).collect();
            let wanted: Vec<String> = parts.iter().filter_map(outline).collect();
            prop_assert_eq!(told, wanted);
        }
    }
}
