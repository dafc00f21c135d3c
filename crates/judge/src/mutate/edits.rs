//! The parts of changes: what belongs to which call, events with other values, more or fewer events.

use std::sync::Arc;

use crate::assertions::Take;
use crate::assertions::parts::ToolPattern;
use cuecard_source::value::Json;
use cuecard_trace::{Event, EventData, FinalOutput, ToolCall, ToolResult, Trace};

/// A tool that no agent has.
pub(crate) const OTHER_TOOL: &str = "some_other_tool";
/// No more calls or errors are added to a trace.
pub(crate) const MOST_CALLS: usize = 50;

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
pub(super) fn rename_tool(data: &mut EventData) -> bool {
    match data {
        EventData::ToolCall(call) => {
            call.tool = OTHER_TOOL.into();
            call.native_tool = None;
        }
        EventData::ToolResult(result) => result.tool = OTHER_TOOL.into(),
        EventData::ErrorHappened(error) => error.tool = Some(OTHER_TOOL.into()),
        _ => return false,
    }
    true
}

/// Gives the arguments of a call other values. Says whether there were any.
pub(super) fn alter_arguments(data: &mut EventData) -> bool {
    let EventData::ToolCall(call) = data else {
        return false;
    };
    alter_leaves(Arc::make_mut(&mut call.args), 0)
}

/// The same with a successful result.
pub(super) fn alter_result(data: &mut EventData) -> bool {
    match data {
        EventData::ToolResult(result) if result.success => {
            let is_altered = alter_leaves(Arc::make_mut(&mut result.result), 0);
            result.text = result.text.take().filter(|_| !is_altered);
            is_altered
        }
        _ => false,
    }
}

/// Makes a successful result one that failed. Says whether it was one.
pub(super) fn flip_status(data: &mut EventData) -> bool {
    match data {
        EventData::ToolResult(result) => std::mem::take(&mut result.success),
        _ => false,
    }
}

/// Gives every value inside another one. Says whether there was any.
pub(crate) fn alter_leaves(json: &mut Json, depth: usize) -> bool {
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
pub(crate) fn with_output(trace: &Trace, text: &str) -> Trace {
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

/// The id of the last answer.
pub(crate) fn output_id(trace: &Trace) -> Option<String> {
    let mut events = trace.events.iter().rev();
    let answer = events.find(|event| matches!(event.data, EventData::FinalOutput(_)))?;
    Some(answer.event_id.clone())
}

/// Adds events right before the last answer, at the time of the last event. `prefix` and a number are their ids.
pub(crate) fn with_before_answer(
    trace: &Trace,
    prefix: &str,
    added: impl Iterator<Item = EventData>,
) -> Trace {
    let mut changed = trace.clone();
    let is_answer = |event: &Event| matches!(event.data, EventData::FinalOutput(_));
    let place = trace.events.iter().rposition(is_answer);
    let at = place.unwrap_or(trace.events.len());
    let ts = trace.events.last().map(|event| event.ts);
    let ts = ts.unwrap_or_default();
    let events = added.zip(0..).map(|(data, number)| {
        let mut event = Event::live(0, ts, data);
        event.event_id = format!("{prefix}{number}");
        event
    });
    changed.events.splice(at..at, events);
    changed
}

/// Returns a name that a pattern means.
pub(crate) fn name_for(tool: &ToolPattern) -> Option<String> {
    let name = tool.text().replace(['*', '?'], "x");
    tool.matches(&name).then_some(name)
}

/// Makes so many successful calls right before the last answer, unless they are very many.
pub(crate) fn call_more(trace: &Trace, tool: &str, args: Json, times: usize, take: &mut Take<'_>) {
    if times > MOST_CALLS {
        return;
    }
    let args = Arc::new(args);
    let calls = (0..times).flat_map(|number| {
        let call_id: Arc<str> = format!("forbidden-{number}").into();
        let call = ToolCall {
            tool: tool.to_owned().into(),
            call_id: call_id.clone(),
            args: args.clone(),
            native_tool: None,
            attempt: None,
        };
        let result = ToolResult {
            tool: tool.to_owned().into(),
            call_id,
            success: true,
            result: Arc::new(Json::Null),
            text: None,
            structured: None,
            fixture_id: None,
            duration_ms: None,
        };
        [EventData::ToolCall(call), EventData::ToolResult(result)]
    });
    let changed = with_before_answer(trace, "forbidden-e", calls);
    let change = match times {
        1 => format!("`{tool}` is called, which is forbidden"),
        times => format!("`{tool}` is called {times} times more, which is too often"),
    };
    take(change, Some("forbidden-e0".to_owned()), changed);
}

/// Adds a forbidden text to the last answer, on a line of its own.
pub(crate) fn say_more(trace: &Trace, text: &str, take: &mut Take<'_>) {
    let more = match trace.output() {
        "" => text.to_owned(),
        said => format!("{said}\n{text}"),
    };
    let change = format!("the output says `{text}`, which is forbidden");
    take(change, output_id(trace), with_output(trace, &more));
}

/// Removes the events of a kind, if there are any.
pub(crate) fn without(
    trace: &Trace,
    change: &str,
    is: fn(&EventData) -> bool,
    take: &mut Take<'_>,
) {
    if let Some(first) = trace.events.iter().find(|event| is(&event.data)) {
        let mut changed = trace.clone();
        changed.events.retain(|event| !is(&event.data));
        take(change.to_owned(), Some(first.event_id.clone()), changed);
    }
}
