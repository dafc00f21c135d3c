//! What an agent did, as events of a trace. Does no I/O.

use std::sync::Arc;
use std::time::Duration;

use cuecard_source::matching::changed_lines;
use cuecard_source::value::Json;
use cuecard_trace::{
    EventData, FileEdit, Message, Permission, Plan, Thought, ToolCall, ToolResult,
};

use super::expected::{Expected, Wanted};
use super::seen::{Came, Piece, SeenItem};
use crate::script::updates::Speaker;

/// What came, for the trace, and all that the agent said: calls by the names of the script, if they are in it.
pub(super) fn events(
    expected: &Expected<'_>,
    seen: &[SeenItem],
    pairs: &[(usize, usize)],
    printed: impl Fn(&str) -> Option<String>,
) -> (Vec<(Duration, EventData)>, String) {
    let mut events: Vec<(Duration, EventData)> = Vec::new();
    let mut said = String::new();
    for (idx, item) in seen.iter().enumerate() {
        match &item.came {
            Came::Text(speaker, pieces) => {
                let texts = pieces.iter().filter_map(|piece| match piece {
                    Piece::Text(text) => Some(text.as_str()),
                    Piece::Other(_) => None,
                });
                let text: String = texts.collect();
                match speaker {
                    Speaker::Thought => {
                        events.push((item.at, EventData::Thought(Thought { text })));
                    }
                    Speaker::Agent => {
                        said.push_str(&text);
                        let role = "assistant".to_owned();
                        events.push((
                            item.at,
                            EventData::Message(Message {
                                role,
                                content: text,
                            }),
                        ));
                    }
                    Speaker::User => {}
                }
            }
            Came::Plan(entries) => {
                let entries = entries.clone();
                events.push((item.at, EventData::Plan(Plan { entries })));
            }
            Came::Permission {
                params, outcome, ..
            } => {
                let told = Permission {
                    options: params["options"].clone(),
                    outcome: outcome.clone(),
                };
                events.push((item.at, EventData::Permission(told)));
            }
            Came::Call(call) if call.is_only_asked => {}
            Came::Call(call) => {
                let pair = pairs.iter().find(|(_, came)| *came == idx);
                let scripted = pair.and_then(|(wanted, _)| match &expected.items[*wanted].wanted {
                    Wanted::Call(call, _) => Some(*call),
                    _ => None,
                });
                let name = call.now["name"].as_str().or(call.now["title"].as_str());
                let name = name.unwrap_or_default().to_owned();
                let tool = scripted.map_or(name.clone(), |call| call.tool.clone());
                let args = scripted.map_or_else(
                    || Arc::new(call.now["rawInput"].clone()),
                    |call| call.args.clone(),
                );
                let native_tool = (name != tool).then_some(name);
                events.push((
                    item.at,
                    EventData::ToolCall(ToolCall {
                        tool: tool.clone().into(),
                        call_id: call.id.as_str().into(),
                        args,
                        native_tool,
                        attempt: None,
                    }),
                ));
                if let Some(ended) = call.ended {
                    let output = call.terminals.last().and_then(|id| printed(id));
                    let text = output
                        .or_else(|| call.texts.last().cloned())
                        .unwrap_or_default();
                    events.push((
                        ended,
                        EventData::ToolResult(ToolResult {
                            tool: tool.into(),
                            call_id: call.id.as_str().into(),
                            success: call.status() == "completed",
                            result: Arc::new(Json::String(text)),
                            text: None,
                            structured: None,
                            fixture_id: None,
                            duration_ms: None,
                        }),
                    ));
                }
            }
            Came::Write {
                path,
                before,
                content,
            } => {
                let before = before.as_deref().unwrap_or_default();
                let (lines_added, lines_removed) = changed_lines(before, content);
                let edit = FileEdit {
                    path: path.clone(),
                    lines_added,
                    lines_removed,
                    hash_before: None,
                    hash_after: None,
                };
                events.push((item.at, EventData::FileEdit(edit)));
            }
            // What a command printed is the result of its call.
            Came::Read { .. } | Came::Terminal { .. } | Came::Notified { .. } => {}
        }
    }
    events.sort_by_key(|(at, _)| *at);
    (events, said)
}
