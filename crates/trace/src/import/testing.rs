//! What the tests of imports share.

use super::Imported;
use crate::{EventData, Trace};
use cuecard_source::SourceFile;

pub(super) fn source(text: &str) -> SourceFile {
    SourceFile::new("recorded", text)
}

pub(super) fn warnings(imported: &Imported) -> Vec<&str> {
    let message =
        |found: &'_ cuecard_source::diagnostic::Diagnostic| found.severity.as_str() == "warning";
    assert!(imported.diagnostics.iter().all(message), "{imported:?}");
    imported
        .diagnostics
        .iter()
        .map(|found| found.message.as_str())
        .collect()
}

/// Each event in a line: id, agent, type, what it is about, and what it answers.
pub(super) fn outline(trace: &Trace) -> Vec<String> {
    trace
        .events
        .iter()
        .map(|event| {
            let agent = event.agent_id.as_ref().map(|agent| format!("{agent}: "));
            let parent = event.parent_event_id.as_ref().map(|id| format!(" ({id})"));
            let about = match &event.data {
                EventData::MessageReceived(message) => message.content.clone(),
                EventData::Message(message) => message.content.clone(),
                EventData::FinalOutput(output) => output.content.clone(),
                EventData::Thought(thought) => thought.text.clone(),
                EventData::ToolCall(call) => {
                    format!("{} {} {}", call.call_id, call.tool, call.args)
                }
                EventData::ToolResult(result) => format!(
                    "{} {} {} {}",
                    result.call_id, result.tool, result.success, result.result
                ),
                EventData::ErrorHappened(error) => format!(
                    "{} {} {}",
                    error.call_id.as_deref().unwrap_or(&error.scope),
                    error.error_type,
                    error.message
                ),
                EventData::Log(log) => log.message.clone(),
                other => panic!("{other:?}"),
            };
            format!(
                "{} {}{} {about}{}",
                event.event_id,
                agent.unwrap_or_default(),
                event.data.type_name(),
                parent.unwrap_or_default()
            )
        })
        .collect()
}
