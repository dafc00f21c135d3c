//! What a trace is told of a conversation: what the user said, what tools gave, what the model answered.

use std::sync::Arc;

use cuecard_source::value::Json;
use cuecard_timeline::script::{
    LlmScript, Part, Request, RequestedResult, Role, Served, TurnElement, is_reminder,
};
use cuecard_trace::{
    ErrorHappened, EventData, FinalOutput, Message, MessageReceived, Thought, ToolCall, ToolResult,
};

use cuecard_wire::llm::answer::{Call, CallInput, Element};

/// What is new in a request: everything after the model's last answer.
pub(super) fn arrived(script: &LlmScript, request: &Request) -> Vec<EventData> {
    arrived_in(request, |result| {
        let turn = script
            .turn_of_call(&result.call_id)
            .and_then(|turn_idx| script.turn(turn_idx))?;
        let call = turn.calls().find(|call| call.id == result.call_id)?;
        Some(call.call.tool.clone())
    })
}

/// What came after the last answer.
fn new_parts(request: &Request) -> impl DoubleEndedIterator<Item = &Part> {
    let history = &request.history;
    let last = history
        .iter()
        .rposition(|message| message.role == Role::Assistant);
    let new_from = last.map_or(0, |at| at + 1);
    history[new_from..]
        .iter()
        .flat_map(|message| &message.parts)
}

/// What is new in a request, whose results are those of the tools that `tool_of` names.
pub(super) fn arrived_in(
    request: &Request,
    tool_of: impl Fn(&RequestedResult) -> Option<String>,
) -> Vec<EventData> {
    let mut events = Vec::new();
    for part in new_parts(request) {
        match part {
            Part::Text(text) if !is_reminder(text) => {
                events.push(EventData::MessageReceived(MessageReceived {
                    role: "user".to_owned(),
                    content: text.clone(),
                }));
            }
            Part::Result(result) => {
                let tool = tool_of(result).unwrap_or_else(|| result.name.clone());
                events.push(EventData::ToolResult(ToolResult {
                    tool: tool.into(),
                    call_id: result.call_id.as_str().into(),
                    success: !result.is_error,
                    result: Arc::new(Json::String(result.text.clone())),
                    text: None,
                    structured: None,
                    fixture_id: None,
                    duration_ms: None,
                }));
            }
            _ => {}
        }
    }
    events
}

/// What an attempt answered: elements, or an error in their place or after them.
pub(super) fn answered(
    script: &LlmScript,
    served: &Served,
    elements: &[Element],
) -> Vec<EventData> {
    let mut events = Vec::new();
    let error = served
        .attempt(script)
        .and_then(|attempt| attempt.error.as_ref());
    if error.is_none() || !elements.is_empty() {
        said(script, served, elements, &mut events);
    }
    if let Some(failed) = error {
        let error = &failed.error;
        events.push(failed_with(
            error.status,
            error.error_type.as_deref(),
            &error.message,
        ));
    }
    events
}

/// An error of the model's API.
pub(super) fn failed_with(status: u16, error_type: Option<&str>, message: &str) -> EventData {
    EventData::ErrorHappened(ErrorHappened {
        scope: "model".to_owned(),
        tool: None,
        call_id: None,
        error_type: match error_type {
            Some(kind) => kind.to_owned(),
            None => format!("http_{status}"),
        },
        message: message.to_owned(),
        retryable: matches!(status, 408 | 409 | 429 | 500..),
    })
}

fn said(script: &LlmScript, served: &Served, elements: &[Element], events: &mut Vec<EventData>) {
    let is_last = served.turn_idx + 1 == script.turns.turns.len();
    let scripted: Vec<_> = served
        .attempt(script)
        .into_iter()
        .flat_map(|attempt| &attempt.elements)
        .filter_map(TurnElement::call)
        .collect();
    events.extend(said_by(elements, is_last, |call| {
        let written = scripted.iter().find(|written| written.id == call.id)?;
        Some((written.call.tool.clone(), written.call.args.clone()))
    }));
}

/// What a model says, whose calls are in the abstract vocabulary what `abstract_of` says. An answer without calls is
/// the last word if `is_last`.
pub(super) fn said_by(
    elements: &[Element],
    is_last: bool,
    abstract_of: impl Fn(&Call) -> Option<(String, Arc<Json>)>,
) -> Vec<EventData> {
    let mut events = Vec::new();
    let has_calls = elements.iter().any(|element| element.call().is_some());
    let role = || "assistant".to_owned();
    if is_last && !has_calls {
        events.extend(thoughts(elements));
        events.push(EventData::FinalOutput(FinalOutput {
            role: role(),
            content: text_of(elements),
            format_hint: None,
        }));
        return events;
    }
    for said in elements.split_inclusive(|element| matches!(element, Element::Call(_))) {
        events.extend(thoughts(said));
        let content = text_of(said);
        if !content.is_empty() {
            let role = role();
            events.push(EventData::Message(Message { role, content }));
        }
        if let Some(Element::Call(call)) = said.last() {
            events.push(called(call, &abstract_of));
        }
    }
    events
}

fn is_thinking(element: &&Element) -> bool {
    matches!(element, Element::Thinking(_))
}

fn thoughts(elements: &[Element]) -> impl Iterator<Item = EventData> {
    let thoughts = elements.iter().filter(is_thinking);
    thoughts.map(|thought| {
        EventData::Thought(Thought {
            text: thought.text(),
        })
    })
}

fn text_of(elements: &[Element]) -> String {
    let said = elements.iter().filter(|element| !is_thinking(element));
    said.map(Element::text).collect()
}

fn called(call: &Call, abstract_of: impl Fn(&Call) -> Option<(String, Arc<Json>)>) -> EventData {
    let native_args = match &call.input {
        CallInput::Arguments(args) => args.clone(),
        CallInput::Text(text) | CallInput::Raw(text) => Arc::new(Json::String(text.clone())),
    };
    let (tool, args) = abstract_of(call).unwrap_or_else(|| (call.name.clone(), native_args));
    EventData::ToolCall(ToolCall {
        native_tool: (tool != call.name).then(|| call.name.clone()),
        tool: tool.into(),
        call_id: call.id.as_str().into(),
        args,
        attempt: None,
    })
}

/// What a request goes on from, for the log: the last text of the user's, and the results by call.
pub(super) fn anchors(request: &Request) -> Json {
    let parts = || new_parts(request);
    let text = parts().rev().find_map(|part| match part {
        Part::Text(text) if !is_reminder(text) => Some(cuecard_source::value::cut(text, 400)),
        _ => None,
    });
    let results: Vec<&str> = parts()
        .filter_map(|part| match part {
            Part::Result(result) => Some(result.call_id.as_str()),
            _ => None,
        })
        .collect();
    serde_json::json!({"text": text, "results": results})
}
