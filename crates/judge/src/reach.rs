//! What a selector or the name of a tool can mean in a trace, and what to say if that is nothing.

use super::values::args_equal;
use super::view::View;
use super::words::quoted;
use crate::assertions::parts::{Selector, ToolPattern};
use cuecard_page::ActionKind;
use cuecard_page::browser_tool;
use cuecard_source::diagnostic::did_you_mean;
use cuecard_trace::{Event, EventData};

/// So many different names are looked at for a suggestion.
const MOST_NAMES: usize = 200;

/// Help for a tool that was not called: the name that was meant, else those that were called.
pub(super) fn uncalled_help(tool: &ToolPattern, view: &View<'_>) -> String {
    let called = called_names(view);
    if called.is_empty() {
        return "the trace has no tool call".to_owned();
    }
    match did_you_mean(tool.text(), called.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the trace calls {}", quoted(called)),
    }
}

/// The tools that were called, each once, in order.
pub(super) fn called_names<'a>(view: &View<'a>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for event in view.events() {
        if let EventData::ToolCall(call) = &event.data
            && names.len() < MOST_NAMES
            && !names.contains(&&*call.tool)
        {
            names.push(&call.tool);
        }
    }
    names
}

/// Why no call can ever be one of `tool`, if the test case lists what is available and this is not among it.
pub(super) fn unreachable_tool(tool: &ToolPattern, view: &View<'_>) -> Option<String> {
    let available = view.case.tools.available.as_deref().unwrap_or_default();
    unknown_tool(tool, view).filter(|_| !available.is_empty())
}

/// Why nobody knows whether there is a `tool`, if neither `tools.available`, nor the trace, nor a server that was
/// connected knows it. What forbids or limits such a tool holds of every agent, so it must be said.
pub(super) fn unknown_tool(tool: &ToolPattern, view: &View<'_>) -> Option<String> {
    let tools = &view.case.tools;
    let available = tools.available.as_deref().unwrap_or_default();
    let known = || {
        let of_fixtures = tools.fixtures.iter().map(|fixture| fixture.tool.as_str());
        let listed = available.iter().chain(&tools.offered).map(String::as_str);
        listed.chain(of_fixtures)
    };
    let is_known = known().any(|name| tool.matches(name) || is_glob_for(name, tool.text()));
    let called = called_names(view);
    // Who has a browser can do with it whatever steps say.
    let of_browser: Vec<_> = ActionKind::all()
        .iter()
        .copied()
        .map(browser_tool)
        .collect();
    let has_browser = called
        .iter()
        .any(|name| of_browser.iter().any(|known| known == name));
    if is_known
        || view.calls().iter().any(|call| call.is_of(tool))
        || (has_browser && of_browser.iter().any(|name| tool.matches(name)))
    {
        return None;
    }
    let name = tool.text();
    let names = known().chain(called.iter().copied());
    let suggestion = match did_you_mean(name, names.take(MOST_NAMES)) {
        Some(name) => format!(": did you mean `{name}`?"),
        None => String::new(),
    };
    Some(match available.is_empty() {
        false => format!("unknown tool `{name}`: not in `tools.available`{suggestion}"),
        true if suggestion.is_empty() => {
            format!(
                "unknown tool `{name}`: no server provides it; list it in `tools.available` if the agent has it"
            )
        }
        true => format!("unknown tool `{name}`{suggestion}"),
    })
}

/// Whether an available name is itself a pattern that means `name`.
fn is_glob_for(pattern: &str, name: &str) -> bool {
    pattern.contains(['*', '?']) && ToolPattern::from(pattern).matches(name)
}

/// Whether `selector` means the event at `position`.
pub(super) fn selects(
    selector: &Selector,
    view: &View<'_>,
    position: usize,
    event: &Event,
) -> bool {
    is_chosen(selector, event)
        && (selector.args.is_empty()
            || view
                .call_at(position)
                .is_some_and(|call| args_equal(&selector.args, &call.data.args)))
        && selector.caused_by.as_ref().is_none_or(|cause| {
            let mut causes = view.causes_of(position);
            causes.any(|position| selects(cause, view, position, &view.trace.events[position]))
        })
}

/// Whether an event has what `selector` asks of it, apart from arguments.
fn is_chosen(selector: &Selector, event: &Event) -> bool {
    selector
        .event_type
        .as_deref()
        .is_none_or(|kind| kind == event.data.type_name())
        && selector
            .tool
            .as_ref()
            .is_none_or(|tool| is_about(tool, event))
        && selector
            .call_id
            .as_deref()
            .is_none_or(|id| call_id(event) == Some(id))
        && selector
            .success
            .is_none_or(|wanted| success(event) == Some(wanted))
        && (selector.data.is_empty() || args_equal(&selector.data, &event.data.to_json()))
}

pub(super) fn is_about(tool: &ToolPattern, event: &Event) -> bool {
    match &event.data {
        EventData::ToolCall(call) => super::view::names_tool(tool, call),
        EventData::ToolResult(result) => tool.matches(&result.tool),
        EventData::ErrorHappened(error) => {
            error.tool.as_deref().is_some_and(|name| tool.matches(name))
        }
        EventData::StepStarted(step) | EventData::ElementStarted(step) => tool.matches(&step.tool),
        EventData::StepFinished(step) | EventData::ElementFinished(step) => {
            tool.matches(&step.tool)
        }
        EventData::Other(other) => other
            .data
            .get("tool")
            .and_then(|name| name.as_str())
            .is_some_and(|name| tool.matches(name)),
        _ => false,
    }
}

fn call_id(event: &Event) -> Option<&str> {
    match &event.data {
        EventData::ToolCall(call) => Some(&call.call_id),
        EventData::ToolResult(result) => Some(&result.call_id),
        EventData::ErrorHappened(error) => error.call_id.as_deref(),
        EventData::Other(other) => other.data.get("call_id")?.as_str(),
        _ => None,
    }
}

fn success(event: &Event) -> Option<bool> {
    match &event.data {
        EventData::ToolResult(result) => Some(result.success),
        EventData::Other(other) => other.data.get("success")?.as_bool(),
        _ => None,
    }
}

/// A selector in words: `` `tool_call` of `web_search` ``.
pub(super) fn described(selector: &Selector) -> String {
    let mut text = match &selector.event_type {
        Some(kind) => format!("`{kind}`"),
        None => "any event".to_owned(),
    };
    if let Some(tool) = &selector.tool {
        text.push_str(&format!(" of `{}`", tool.text()));
    }
    if let Some(id) = &selector.call_id {
        text.push_str(&format!(" with call id `{id}`"));
    }
    match selector.success {
        Some(true) => text.push_str(" that succeeded"),
        Some(false) => text.push_str(" that failed"),
        None => {}
    }
    for (key, value) in selector.args.iter().chain(selector.data.iter()) {
        text.push_str(&format!(" with `{key}` {}", super::words::brief(value)));
    }
    if let Some(cause) = &selector.caused_by {
        text.push_str(&format!(", caused by {}", described(cause)));
    }
    text
}

/// Why `selector` means no result or error: it has the agent's own name of a tool, which only calls have.
pub(super) fn only_agents_name(selector: &Selector, view: &View<'_>) -> Option<String> {
    let tool = selector.tool.as_ref()?;
    let is_of_answers = matches!(
        selector.event_type.as_deref(),
        Some("tool_result" | "error")
    );
    let mut calls = view.calls().iter().map(|call| &call.data.tool);
    let call = view.calls().iter().find(|call| call.is_of(tool))?;
    let is_only_native = is_of_answers && !calls.any(|name| tool.matches(name));
    is_only_native.then(|| {
        let (own, name) = (tool.text(), &call.data.tool);
        format!(
            "`{own}` is the agent's own name for `{name}`: use the latter for results and errors"
        )
    })
}

/// Why `selector` can mean no event of any trace, if it can't.
pub(super) fn unreachable_selector(selector: &Selector, view: &View<'_>) -> Option<String> {
    // A trace may have events of types that nobody else knows.
    let is_foreign = |kind: &str| {
        let occurs = || view.events().any(|event| event.data.type_name() == kind);
        !EventData::TYPES.contains(&kind) && occurs()
    };
    if !selector.event_type.as_deref().is_some_and(is_foreign)
        && let Some((_, message, proposal)) = selector.never_matches()
    {
        return Some(match proposal {
            Some(name) => format!("{message}: did you mean `{name}`?"),
            None => message,
        });
    }
    unreachable_tool(selector.tool.as_ref()?, view)
}

/// Help for a selector that met no event.
pub(super) fn unmet_help(selector: &Selector, view: &View<'_>) -> String {
    let unreachable = || unreachable_selector(selector, view);
    if let Some(reason) = only_agents_name(selector, view).or_else(unreachable) {
        return reason;
    }
    match &selector.tool {
        Some(tool) if !view.calls().iter().any(|call| call.is_of(tool)) => {
            uncalled_help(tool, view)
        }
        _ => {
            let mut kinds: Vec<&str> = Vec::new();
            for event in view.events() {
                let kind = event.data.type_name();
                if kinds.len() < MOST_NAMES && !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            if kinds.is_empty() {
                "the trace has no event".to_owned()
            } else {
                format!("the trace has events of the types {}", quoted(kinds))
            }
        }
    }
}
