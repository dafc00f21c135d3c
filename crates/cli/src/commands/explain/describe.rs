//! Events in a few words.

use cuecard_source::value::{as_text, cut, printable};
use cuecard_timeline::model::vocabulary::AbstractTool;
use cuecard_timeline::model::{
    AgentEdits, Block, BlockKind, EventKind, ResponseElement, ResponseError, ServingCount,
    TimelineEvent, TimelineExpectations, ToolExecutionKind, ToolStatus, ToolUse, UserInput,
    UserTarget,
};
use cuecard_timeline::script::{EventPart, EventTimes};

/// A longer text is cut, in characters.
const LONGEST: usize = 48;

/// What an event says beside its key, in one line; often nothing.
pub(super) fn describe(event: &TimelineEvent) -> String {
    match &event.kind {
        EventKind::Response(response) if response.elements.is_empty() => "empty".to_owned(),
        EventKind::ToolUse(call) => tool_use(call),
        EventKind::AgentEdits(edit) => edits(edit),
        EventKind::Log(log) => quoted(&log.message),
        kind => line(&kind.summary()),
    }
}

/// The points in an event, with what happens at them.
pub(super) fn points(event: &TimelineEvent, times: &EventTimes) -> Vec<(u64, String)> {
    let parts = times.parts.iter().copied();
    parts
        .filter(|(_, part)| *part != EventPart::CallEnd || times.end_ms > times.start_ms)
        .filter_map(|(at_ms, part)| Some((at_ms, of_part(event, part)?)))
        .collect()
}

/// What happens at a part; nothing of a start, which the event's own line says.
fn of_part(event: &TimelineEvent, part: EventPart) -> Option<String> {
    let element = |element_idx: usize| match &event.kind {
        EventKind::Response(response) => response.elements.get(element_idx),
        _ => None,
    };
    match (&event.kind, part) {
        (
            _,
            EventPart::Think {
                element_idx,
                entry_idx,
            }
            | EventPart::Assistant {
                element_idx,
                entry_idx,
            },
        ) => match element(element_idx)? {
            ResponseElement::Think(entries) => {
                Some(format!("think {}", quoted(&entries.get(entry_idx)?.value)))
            }
            ResponseElement::Assistant(entries) => Some(format!(
                "assistant {}",
                block(&entries.get(entry_idx)?.value)
            )),
            ResponseElement::Error(_) => None,
        },
        (_, EventPart::Error(element_idx)) => match element(element_idx)? {
            ResponseElement::Error(error) => Some(of_error(error)),
            _ => None,
        },
        (EventKind::UserInputs(inputs), EventPart::Input(idx)) => inputs.get(idx).map(user_input),
        (EventKind::ToolUse(call), EventPart::CallProgress(idx)) => {
            let entry = call.progress.get(idx)?;
            Some(format!("progress {}", quoted(&entry.value)))
        }
        (EventKind::ToolUse(call), EventPart::CallExecution(idx)) => {
            let event = call.execution.as_ref()?.events.get(idx)?;
            Some(of_execution(&event.kind))
        }
        (_, EventPart::CallEnd) => Some("ends".to_owned()),
        _ => None,
    }
}

/// What is expected in the end, if anything is.
pub(super) fn expectations(expectations: &TimelineExpectations) -> Option<String> {
    let mut facts = Vec::new();
    if let Some(code) = expectations.exit_code {
        facts.push(format!("exit code {code}"));
    }
    for artifact in &expectations.artifacts {
        facts.push(artifact.pattern.clone());
    }
    (!facts.is_empty()).then(|| line(&facts.join(", ")))
}

/// A text in quotes, in one line.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", line(text))
}

fn counted_entries(n: usize) -> String {
    format!("{n} {}", if n == 1 { "entry" } else { "entries" })
}

/// A text in one line, cut.
pub(super) fn line(text: &str) -> String {
    // What is behind the cut is not worth looking at.
    let start: String = text.chars().take(LONGEST * 4).collect();
    let words: Vec<&str> = start.split_whitespace().collect();
    let text = words.join(" ");
    cut(&printable(&text), LONGEST).into_owned()
}

fn of_error(error: &ResponseError) -> String {
    let name = error
        .error_type
        .as_deref()
        .map_or_else(String::new, |name| format!(" {}", line(name)));
    let often = match error.repeat {
        ServingCount::Times(1) => String::new(),
        ServingCount::Times(times) => format!(", {times} times"),
        ServingCount::Always => ", each time".to_owned(),
    };
    format!("error {}{name}{often}", error.status)
}

fn of_execution(kind: &ToolExecutionKind) -> String {
    match kind {
        ToolExecutionKind::Stdout(text) => format!("stdout {}", quoted(text)),
        ToolExecutionKind::Stderr(text) => format!("stderr {}", quoted(text)),
        ToolExecutionKind::Progress(text) => format!("progress {}", quoted(text)),
        ToolExecutionKind::Completion { exit_code, .. } => {
            format!("completion, exit code {exit_code}")
        }
    }
}

fn user_input(input: &UserInput) -> String {
    let blocks: Vec<String> = input.blocks.iter().map(block).collect();
    let target = match input.target {
        None => "",
        Some(UserTarget::Tui) => " (tui)",
        Some(UserTarget::WebUi) => " (webui)",
        Some(UserTarget::Cli) => " (cli)",
    };
    format!("{}{target}", blocks.join(", "))
}

fn block(block: &Block) -> String {
    match &block.kind {
        BlockKind::Text(text) => quoted(text),
        BlockKind::Image(media) | BlockKind::Audio(media) => {
            format!("{} {}", block.kind.as_str(), line(&media.mime_type))
        }
        BlockKind::Resource { uri, .. } | BlockKind::ResourceLink { uri, .. } => {
            format!("{} {}", block.kind.as_str(), line(uri))
        }
        BlockKind::Diff { path, .. } => format!("diff {}", line(path)),
        BlockKind::Plan(entries) => format!("plan of {}", counted_entries(entries.len())),
    }
}

/// The tool with the argument that says most, which the vocabulary has first.
fn tool_use(call: &ToolUse) -> String {
    let first = AbstractTool::named(&call.tool)
        .and_then(|tool| tool.arguments().next())
        .and_then(|argument| call.args.get(argument))
        .map(|value| format!(" {}", line(&as_text(value))));
    let status = match call.status {
        ToolStatus::Ok => "",
        ToolStatus::Error => " (fails)",
        ToolStatus::Open => " (does not end)",
    };
    format!("{}{}{status}", call.tool, first.unwrap_or_default())
}

fn edits(edit: &AgentEdits) -> String {
    let lines = |sign: char, lines: Option<u64>| {
        lines.map_or_else(String::new, |lines| format!(" {sign}{lines}"))
    };
    let (added, removed) = (lines('+', edit.lines_added), lines('-', edit.lines_removed));
    format!("{}{added}{removed}", line(&edit.path))
}
