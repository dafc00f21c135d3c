//! The updates that a session sends: `params.update` of `session/update`.

use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::vocabulary::call_kind;
use cuecard_timeline::model::{AgentEdits, CallKind, ToolExecutionKind, ToolUse};
use serde_json::json;

use super::content;

/// A title is no longer, in characters.
const LONGEST_TITLE: usize = 200;

/// Who speaks in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Agent,
    Thought,
}

/// A chunk of a message.
pub(crate) fn chunk(speaker: Speaker, content: Json, message_id: &str, meta: &Json) -> Json {
    let kind = match speaker {
        Speaker::User => "user_message_chunk",
        Speaker::Agent => "agent_message_chunk",
        Speaker::Thought => "agent_thought_chunk",
    };
    let update = json!({"sessionUpdate": kind, "content": content, "messageId": message_id});
    with_meta(update, meta)
}

/// A plan: all of its entries, each time.
pub(crate) fn plan(entries: Json, meta: &Json) -> Json {
    with_meta(json!({"sessionUpdate": "plan", "entries": entries}), meta)
}

/// Returns the kind of a tool call: `execute`.
pub(crate) fn kind(call: &ToolUse) -> &str {
    let own = call.kind.map(CallKind::as_str);
    own.unwrap_or_else(|| call_kind(&call.tool, &call.args))
}

/// A tool call begins.
pub(crate) fn call(call: &ToolUse, folder: &str, meta: &Json) -> Json {
    let mut update = json!({
        "sessionUpdate": "tool_call",
        "toolCallId": call.call_id,
        "title": title(call),
        "name": call.tool,
        "kind": kind(call),
        "status": "pending",
        "rawInput": call.raw_input.as_ref().unwrap_or(&call.args),
    });
    let path = ["path", "file_path", "notebook_path"]
        .into_iter()
        .find_map(|key| call.args[key].as_str());
    if let Some(path) = path {
        update["locations"] = json!([{"path": absolute(path, folder)}]);
    }
    with_meta(update, meta)
}

/// An edit begins.
pub(crate) fn edit(edit: &AgentEdits, path: &str, meta: &Json) -> Json {
    let title = match (&edit.description, edit.lines_added, edit.lines_removed) {
        (Some(description), ..) => description.clone(),
        (None, None, None) => format!("Edit {}", edit.path),
        (None, added, removed) => {
            let (added, removed) = (added.unwrap_or(0), removed.unwrap_or(0));
            format!("Edit {} (+{added} -{removed})", edit.path)
        }
    };
    let mut update = json!({
        "sessionUpdate": "tool_call",
        "toolCallId": edit.call_id,
        "title": cut(&title, LONGEST_TITLE),
        "kind": "edit",
        "status": "pending",
        "locations": [{"path": path}],
    });
    if let Some(diff) = diff_of(edit, path) {
        update["content"] = json!([diff]);
    }
    with_meta(update, meta)
}

/// The diff of an edit with text.
fn diff_of(edit: &AgentEdits, path: &str) -> Option<Json> {
    let new_text = edit.new_text.as_deref()?;
    Some(diff(path, edit.old_text.as_deref(), new_text))
}

/// A diff as the content of a tool call.
pub(crate) fn diff(path: &str, old_text: Option<&str>, new_text: &str) -> Json {
    json!({"type": "diff", "path": path, "oldText": old_text, "newText": new_text})
}

/// A file change that the agent tells of in a message: a call that is over at once.
pub(crate) fn told_diff(id: &str, path: &str, old_text: Option<&str>, new_text: &str) -> Json {
    json!({
        "sessionUpdate": "tool_call",
        "toolCallId": id,
        "title": cut(&format!("Edit {path}"), LONGEST_TITLE),
        "kind": "edit",
        "status": "completed",
        "locations": [{"path": path}],
        "content": [diff(path, old_text, new_text)],
    })
}

/// What became of a tool call: its status and content, as far as they changed.
pub(crate) fn call_update(
    id: &str,
    status: Option<&str>,
    content: Option<Json>,
    meta: &Json,
) -> Json {
    let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
    if let Some(status) = status {
        update["status"] = json!(status);
    }
    if let Some(content) = content {
        update["content"] = content;
    }
    with_meta(update, meta)
}

/// An update as it is sent again: the output of a terminal, which is gone by then, is text.
pub(crate) fn without_terminal(mut update: Json) -> Json {
    if update["content"][0]["type"] == "terminal" {
        update["content"] = match update["rawOutput"]["output"].as_str() {
            Some(output) => text_content(output),
            None => json!([]),
        };
    }
    update
}

/// Text as the content of a tool call.
pub(crate) fn text_content(text: &str) -> Json {
    json!([{"type": "content", "content": content::text(text)}])
}

/// A terminal as the content of a tool call.
pub(crate) fn terminal_content(terminal_id: &str) -> Json {
    json!([{"type": "terminal", "terminalId": terminal_id}])
}

fn title(call: &ToolUse) -> String {
    let text = |key: &str| {
        call.args[key]
            .as_str()
            .filter(|text| !text.trim().is_empty())
    };
    let subject = [
        "path",
        "file_path",
        "notebook_path",
        "pattern",
        "url",
        "query",
        "prompt",
    ];
    let title = match (
        text("description"),
        text("cmd"),
        subject.into_iter().find_map(text),
    ) {
        (Some(description), ..) => description.to_owned(),
        (None, Some(command), _) => command.to_owned(),
        (None, None, Some(subject)) => format!("{} {subject}", call.tool),
        (None, None, None) => call.tool.clone(),
    };
    cut(&title, LONGEST_TITLE).into_owned()
}

/// All that a call is scripted to print on its way.
pub(crate) fn outputs(call: &ToolUse) -> Vec<&str> {
    let progress = call.progress.iter().map(|entry| entry.value.as_str());
    let events = call
        .execution
        .iter()
        .flat_map(|execution| &execution.events);
    let execution = events.filter_map(|event| match &event.kind {
        ToolExecutionKind::Stdout(text)
        | ToolExecutionKind::Stderr(text)
        | ToolExecutionKind::Progress(text) => Some(text.as_str()),
        ToolExecutionKind::Completion { content, .. } => content.as_deref(),
    });
    progress.chain(execution).collect()
}

/// A path as the wire wants it.
pub(crate) fn absolute(path: &str, folder: &str) -> String {
    match path.starts_with('/') {
        true => path.to_owned(),
        false => format!(
            "{}/{}",
            folder.trim_end_matches('/'),
            path.trim_start_matches("./")
        ),
    }
}

/// A message with the `_meta` that is scripted for it, if any is.
pub(crate) fn with_meta(mut update: Json, meta: &Json) -> Json {
    if !meta.is_null() {
        update["_meta"] = meta.clone();
    }
    update
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_below_the_folder_of_the_session() {
        assert_eq!(absolute("./src/a.rs", "/work/"), "/work/src/a.rs");
        assert_eq!(absolute("/etc/hosts", "/work"), "/etc/hosts");
    }
}
