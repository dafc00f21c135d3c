//! What a timeline does when its agent is played: for people who want to know before it runs.

use crate::model::{EventKind, RepositoryMode, Timeline, ToolUse, UserCommand};
use cuecard_source::Effects;
use cuecard_source::value::as_text;

/// What the events of `timeline` do when an agent in a terminal and everything around it are played. A stand-in for a
/// model or a service does none of it. Each thing is named once, in the order of the file.
pub fn timeline_effects(timeline: &Timeline) -> Effects {
    let mut effects = Effects::default();
    for server in &timeline.acp.mcp_servers {
        push(&mut effects.servers, server.name.clone());
    }
    if let Some(repository) = &timeline.repository {
        if repository.mode == Some(RepositoryMode::Git) {
            push(
                &mut effects.urls,
                repository.url.clone().unwrap_or_default(),
            );
        }
        if let Some(folder) = &repository.folder {
            push(&mut effects.reads, folder.display().to_string());
        }
        for file in &repository.files {
            push(&mut effects.writes, file.path.display().to_string());
        }
    }
    for event in &timeline.events {
        match &event.kind {
            EventKind::ToolUse(call) => of_call(&mut effects, call),
            EventKind::AgentEdits(edit) => push(&mut effects.writes, edit.path.clone()),
            EventKind::AgentFileReads(files) => {
                for file in files {
                    push(&mut effects.reads, file.path.clone());
                }
            }
            EventKind::UserCommand(command) => push(&mut effects.commands, command_line(command)),
            EventKind::UserEdits { patch, .. } => {
                push(&mut effects.reads, patch.display().to_string());
            }
            EventKind::ApplyPatch(patch) => {
                push(&mut effects.reads, patch.path.display().to_string());
            }
            _ => {}
        }
    }
    effects
}

/// A user's command as one line.
pub fn command_line(command: &UserCommand) -> String {
    if let Some(line) = &command.shell_line {
        return line.clone();
    }
    let program = command.program.as_deref().unwrap_or("(program under test)");
    let words = std::iter::once(program).chain(command.args.iter().map(String::as_str));
    words.collect::<Vec<_>>().join(" ")
}

fn of_call(effects: &mut Effects, call: &ToolUse) {
    let argument = |name: &str| call.args.get(name).map(|value| as_text(value).into_owned());
    let (list, item) = match call.tool.as_str() {
        "runCmd" => (&mut effects.commands, argument("cmd")),
        "readFile" => (&mut effects.reads, argument("path")),
        "grep" | "listDir" | "find" => {
            let path = argument("path").unwrap_or_else(|| ".".to_owned());
            (&mut effects.reads, Some(path))
        }
        "sed"
            if call
                .args
                .get("inplace")
                .and_then(serde_json::Value::as_bool)
                != Some(true) =>
        {
            (&mut effects.reads, argument("path"))
        }
        "writeFile" | "editFile" | "appendFile" | "replaceInFile" | "sed" => {
            (&mut effects.writes, argument("path"))
        }
        "notebookEdit" => (&mut effects.writes, argument("notebook_path")),
        "webFetch" => (&mut effects.urls, argument("url")),
        tool => {
            let server = tool
                .strip_prefix("mcp__")
                .and_then(|rest| rest.split_once("__"))
                .map(|(server, _)| server.to_owned());
            (&mut effects.servers, server)
        }
    };
    if let Some(item) = item {
        push(list, item);
    }
}

fn push(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{answer, call, edit, timeline};
    use super::*;

    #[test]
    fn each_thing_is_named_once() {
        let found = timeline_effects(&timeline(vec![
            answer("I look"),
            call("a", "runCmd", json!({"cmd": "make"})),
            call("b", "runCmd", json!({"cmd": "make"})),
            call("c", "readFile", json!({"path": "a.txt"})),
            call("d", "grep", json!({"pattern": "x"})),
            call(
                "e",
                "sed",
                json!({"expression": "s/a/b/", "path": "b.txt", "inplace": true}),
            ),
            call("f", "sed", json!({"expression": "s/a/b/", "path": "c.txt"})),
            call(
                "g",
                "webFetch",
                json!({"url": "https://example.com", "prompt": "p"}),
            ),
            call("h", "mcp__notes__add", json!({})),
            edit("i", "d.txt", None, Some("text")),
        ]));
        assert_eq!(found.commands, ["make"]);
        assert_eq!(found.reads, ["a.txt", ".", "c.txt"]);
        assert_eq!(found.writes, ["b.txt", "d.txt"]);
        assert_eq!(found.urls, ["https://example.com"]);
        assert_eq!(found.servers, ["notes"]);
    }
}
