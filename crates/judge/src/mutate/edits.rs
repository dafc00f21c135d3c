//! The parts of changes: what belongs to which call, and events with other values.

use cuecard_source::value::Json;
use cuecard_trace::{Event, EventData, FinalOutput, Trace};

/// A tool that no agent has.
const OTHER_TOOL: &str = "some_other_tool";

/// Whether it is a result of `tool` that succeeded.
pub(super) fn is_success_of(data: &EventData, tool: &str) -> bool {
    matches!(data, EventData::ToolResult(result) if result.tool == tool && result.success)
}

/// The tool that an event belongs to.
pub(super) fn tool_of(event: &Event) -> Option<&str> {
    match &event.data {
        EventData::ToolCall(call) => Some(&call.tool),
        EventData::ToolResult(result) => Some(&result.tool),
        EventData::ErrorHappened(error) => error.tool.as_deref(),
        _ => None,
    }
}

/// The call that an event belongs to.
pub(super) fn call_id_of(event: &Event) -> Option<&str> {
    match &event.data {
        EventData::ToolCall(call) => Some(&call.call_id),
        EventData::ToolResult(result) => Some(&result.call_id),
        EventData::ErrorHappened(error) => error.call_id.as_deref(),
        _ => None,
    }
}

/// Makes the event one of another call.
pub(super) fn rename_call(event: &mut Event, call_id: &str) {
    match &mut event.data {
        EventData::ToolCall(call) => call.call_id = call_id.into(),
        EventData::ToolResult(result) => result.call_id = call_id.into(),
        EventData::ErrorHappened(error) => error.call_id = Some(call_id.into()),
        _ => {}
    }
}

/// Makes the event one of a tool that no agent has.
pub(super) fn rename_tool(event: &mut Event) {
    match &mut event.data {
        EventData::ToolCall(call) => {
            call.tool = OTHER_TOOL.into();
            call.native_tool = None;
        }
        EventData::ToolResult(result) => result.tool = OTHER_TOOL.into(),
        EventData::ErrorHappened(error) => error.tool = Some(OTHER_TOOL.into()),
        _ => {}
    }
}

/// Gives every value inside another one. Says whether there was any.
pub(super) fn alter_leaves(json: &mut Json, depth: usize) -> bool {
    /// What lies deeper stays as it is.
    const DEEPEST: usize = 64;
    match json {
        Json::Object(members) if depth < DEEPEST => members
            .values_mut()
            .fold(false, |any, value| alter_leaves(value, depth + 1) | any),
        Json::Array(items) if depth < DEEPEST => items
            .iter_mut()
            .fold(false, |any, item| alter_leaves(item, depth + 1) | any),
        Json::Object(_) | Json::Array(_) => false,
        Json::Null => {
            *json = Json::from(0);
            true
        }
        Json::Bool(flag) => {
            *flag = !*flag;
            true
        }
        Json::Number(number) => {
            *json = Json::from(number.as_f64().unwrap_or_default() + 48_271.0);
            true
        }
        Json::String(text) => {
            *text = "something else".to_owned();
            true
        }
    }
}

/// `trace` with another last answer.
pub(super) fn with_output(trace: &Trace, text: &str) -> Trace {
    let mut trace = trace.clone();
    let set = |output: &mut FinalOutput| text.clone_into(&mut output.content);
    if let Some(output) = trace.end.as_mut().and_then(|end| end.final_output.as_mut()) {
        set(output);
    }
    let last = trace
        .events
        .iter_mut()
        .rev()
        .find_map(|event| match &mut event.data {
            EventData::FinalOutput(output) => Some(output),
            _ => None,
        });
    if let Some(output) = last {
        set(output);
    }
    trace
}
