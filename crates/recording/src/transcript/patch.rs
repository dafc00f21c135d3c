//! The patches of Codex: whole new files, and pieces of files with the lines around them.

use cuecard_timeline::profiles::shell::quote;
use cuecard_tool_call::model::BuiltinTool;
use serde_json::{Map, Value, json};

type Change = (BuiltinTool, Map<String, Value>);

/// The writes, edits and commands that do what a patch does, with its paths as `seen` from the scenario.
///
/// # Errors
/// What in it can't be read.
pub(super) fn changes<'p>(
    patch: &'p str,
    seen: impl Fn(&'p str) -> &'p str,
) -> Result<Vec<Change>, String> {
    let mut changes = Vec::new();
    let mut lines = patch.lines().peekable();
    let mut updated = "";
    while let Some(line) = lines.next() {
        let mut body = Vec::new();
        while let Some(line) =
            lines.next_if(|line| !line.starts_with("*** ") || *line == "*** End of File")
        {
            body.push(line);
        }
        let path = |start: &str| line.strip_prefix(start).map(&seen);
        if let Some(path) = path("*** Add File: ") {
            let lines: Option<Vec<&str>> = body.iter().map(|line| line.strip_prefix('+')).collect();
            let lines = lines.ok_or("a new file of the patch has lines that are not added")?;
            let content = lines
                .iter()
                .map(|line| format!("{line}\n"))
                .collect::<String>();
            changes.push(change(BuiltinTool::Write, path, &[("content", &content)]));
        } else if let Some(path) = path("*** Update File: ") {
            updated = path;
            edits(path, &body, &mut changes)?;
        } else if let Some(path) = path("*** Move to: ") {
            edits(updated, &body, &mut changes)?;
            let (from, to) = (quote(updated), quote(path));
            let folder = path.rsplit_once('/').map(|(folder, _)| quote(folder));
            let made = folder.map_or_else(String::new, |folder| format!("mkdir -p {folder} && "));
            changes.push(command(&format!("{made}mv -- {from} {to}")));
        } else if let Some(path) = path("*** Delete File: ") {
            changes.push(command(&format!("rm -- {}", quote(path))));
        }
    }
    match changes.is_empty() {
        true => Err("the patch can't be read".to_owned()),
        false => Ok(changes),
    }
}

/// The edits of a file.
fn edits(path: &str, body: &[&str], changes: &mut Vec<Change>) -> Result<(), String> {
    let pieces = body.split(|line| line.starts_with("@@"));
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        let (old, new) = piece_of(piece)?;
        changes.push(change(
            BuiltinTool::Edit,
            path,
            &[("old_string", &old), ("new_string", &new)],
        ));
    }
    Ok(())
}

/// The lines before and after a piece of a patch.
fn piece_of(piece: &[&str]) -> Result<(String, String), String> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for line in piece.iter().filter(|line| **line != "*** End of File") {
        let (sign, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
        match sign {
            "-" => old.push(rest),
            "+" => new.push(rest),
            " " => {
                old.push(rest);
                new.push(rest);
            }
            _ => return Err("the patch can't be read".to_owned()),
        }
    }
    if old.iter().all(|line| line.is_empty()) {
        return Err("the patch adds lines without saying where".to_owned());
    }
    // A text of whole lines, so that nothing is left of a line that goes.
    let end = |lines: &[&str]| if lines.is_empty() { "" } else { "\n" };
    let text = |lines: &[&str]| format!("{}{}", lines.join("\n"), end(lines));
    Ok(match new.is_empty() {
        true => (text(&old), String::new()),
        false => (old.join("\n"), new.join("\n")),
    })
}

fn command(command: &str) -> Change {
    let arguments = [("command", json!(command)), ("expect_exit", json!(0))];
    let arguments = arguments.map(|(key, value)| (key.to_owned(), value));
    (BuiltinTool::Bash, arguments.into_iter().collect())
}

fn change(tool: BuiltinTool, path: &str, texts: &[(&str, &str)]) -> Change {
    let all = [("file_path", path)]
        .into_iter()
        .chain(texts.iter().copied());
    let arguments = all.map(|(key, text)| (key.to_owned(), text.into()));
    (tool, arguments.collect())
}
