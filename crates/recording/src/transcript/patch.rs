//! The patches of Codex: whole new files, and pieces of files with the lines around them.

use cuecard_tool_call::model::BuiltinTool;
use serde_json::{Map, Value};

type Change = (BuiltinTool, Map<String, Value>);

/// The writes and edits that do what a patch does.
///
/// # Errors
/// What in it no built-in tool does.
pub(super) fn changes(patch: &str) -> Result<Vec<Change>, String> {
    let mut changes = Vec::new();
    let mut lines = patch.lines().peekable();
    while let Some(line) = lines.next() {
        let mut body = Vec::new();
        while let Some(line) =
            lines.next_if(|line| !line.starts_with("*** ") || *line == "*** End of File")
        {
            body.push(line);
        }
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            let lines: Option<Vec<&str>> = body.iter().map(|line| line.strip_prefix('+')).collect();
            let lines = lines.ok_or("a new file of the patch has lines that are not added")?;
            let content = lines
                .iter()
                .map(|line| format!("{line}\n"))
                .collect::<String>();
            changes.push(change(BuiltinTool::Write, path, &[("content", &content)]));
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            for piece in body
                .split(|line| line.starts_with("@@"))
                .filter(|piece| !piece.is_empty())
            {
                let (old, new) = piece_of(piece)?;
                changes.push(change(
                    BuiltinTool::Edit,
                    path,
                    &[("old_string", &old), ("new_string", &new)],
                ));
            }
        } else if line.starts_with("*** Delete File: ") || line.starts_with("*** Move to: ") {
            return Err(
                "the patch deletes or moves a file, which `claude__bash` can do".to_owned(),
            );
        }
    }
    match changes.is_empty() {
        true => Err("the patch can't be read".to_owned()),
        false => Ok(changes),
    }
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

fn change(tool: BuiltinTool, path: &str, texts: &[(&str, &str)]) -> Change {
    let all = [("file_path", path)]
        .into_iter()
        .chain(texts.iter().copied());
    let arguments = all.map(|(key, text)| (key.to_owned(), text.into()));
    (tool, arguments.collect())
}
