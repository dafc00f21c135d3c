//! The patches of Codex: whole new files, and pieces of files with the lines around them.

use std::collections::HashMap;
use std::sync::LazyLock;

use cuecard_timeline::profiles::shell::quote;
use cuecard_tool_call::model::BuiltinTool;
use regex::Regex;
use serde_json::{Map, Value, json};

/// A call of a built-in tool, and what is doubtful about it.
type Change = (BuiltinTool, Map<String, Value>, Option<String>);

/// The lines of files, as far as a session shows them, by their paths from the agent's folder.
#[derive(Debug, Default)]
pub(super) struct Files(HashMap<String, Vec<String>>);

impl Files {
    /// Learns the file that a command printed as a whole.
    pub(super) fn see(&mut self, command: &str, stdout: &str) {
        static PRINTS: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^(?:cat|sed -n '?1,(\d+)p'?) (?:\./)?([\w./-]+)$").expect("it is fixed")
        });
        let lines: Vec<String> = stdout.lines().map(str::to_owned).collect();
        let found = PRINTS.captures(command.trim());
        if let Some(found) = found
            && found.get(1).is_none_or(|most| {
                most.as_str()
                    .parse()
                    .is_ok_and(|most: usize| lines.len() < most)
            })
        {
            self.0.insert(found[2].to_owned(), lines);
        }
    }
}

/// The writes, edits and commands that do what a patch does, with its paths as `seen` from the scenario. What it makes of
/// `files` is known from then on.
///
/// # Errors
/// What in it can't be read.
pub(super) fn changes<'p>(
    patch: &'p str,
    seen: impl Fn(&'p str) -> &'p str,
    files: &mut Files,
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
            let lines = lines.into_iter().map(str::to_owned).collect();
            files.0.insert(path.to_owned(), lines);
            changes.push(change(BuiltinTool::Write, path, &[("content", &content)]));
        } else if let Some(path) = path("*** Update File: ") {
            updated = path;
            edits(path, &body, files, &mut changes)?;
        } else if let Some(path) = path("*** Move to: ") {
            edits(updated, &body, files, &mut changes)?;
            if let Some(lines) = files.0.remove(updated) {
                files.0.insert(path.to_owned(), lines);
            }
            let (from, to) = (quote(updated), quote(path));
            let folder = path.rsplit_once('/').map(|(folder, _)| quote(folder));
            let made = folder.map_or_else(String::new, |folder| format!("mkdir -p {folder} && "));
            changes.push(command(&format!("{made}mv -- {from} {to}")));
        } else if let Some(path) = path("*** Delete File: ") {
            files.0.remove(path);
            changes.push(command(&format!("rm -- {}", quote(path))));
        }
    }
    match changes.is_empty() {
        true => Err("the patch can't be read".to_owned()),
        false => Ok(changes),
    }
}

/// The edits of a file. Where its lines are known, each replaces enough of them to stand there once.
fn edits(
    path: &str,
    body: &[&str],
    files: &mut Files,
    changes: &mut Vec<Change>,
) -> Result<(), String> {
    let mut known = files.0.remove(path);
    let (mut behind, mut from) = (Vec::new(), 0);
    let is_header = |line: &&str| line.starts_with("@@");
    for piece in body.chunk_by(|one, other| is_header(one) == is_header(other)) {
        if is_header(&piece[0]) {
            let lines = piece.iter().map(|line| line.trim_matches('@').trim());
            behind = lines.filter(|line| !line.is_empty()).collect();
            continue;
        }
        let (old, new) = piece_of(piece)?;
        let is_end = piece.contains(&"*** End of File");
        let place = known
            .as_ref()
            .and_then(|lines| place(lines, (&behind, &old), (from, is_end)));
        let (before, after) = match (&known, place) {
            (Some(lines), Some(at)) => {
                let (before, after) = around(lines, at, old.len());
                (&lines[at - before..at], &lines[at + old.len()..][..after])
            }
            _ => Default::default(),
        };
        let [old_lines, new_lines] = [&old, &new].map(|lines| {
            let lines = lines.iter().map(|line| (*line).to_owned());
            let lines = before.iter().cloned().chain(lines);
            lines.chain(after.iter().cloned()).collect::<Vec<String>>()
        });
        // A text of whole lines, so that nothing is left of a line that goes.
        let end = if new_lines.is_empty() { "\n" } else { "" };
        let texts = [old_lines.join("\n") + end, new_lines.join("\n")];
        let texts = [("old_string", &*texts[0]), ("new_string", &*texts[1])];
        let (tool, arguments, _) = change(BuiltinTool::Edit, path, &texts);
        let doubt = behind.last().filter(|_| place.is_none()).map(|line| {
            format!("the patch sought `old_string` behind the line `{line}`, which an edit can't: does it stand in the file once?")
        });
        changes.push((tool, arguments, doubt));
        match (&mut known, place) {
            (Some(lines), Some(at)) => {
                let new_lines = new.iter().map(|line| (*line).to_owned());
                lines.splice(at..at + old.len(), new_lines);
                from = at + new.len();
            }
            _ => known = None,
        }
        behind.clear();
    }
    files.0.extend(known.map(|lines| (path.to_owned(), lines)));
    Ok(())
}

/// The line at which a piece begins: behind others, which stand in this order, and not before line `from`; the last such
/// line if the piece is the end of the file.
fn place(
    lines: &[String],
    (behind, old): (&[&str], &[&str]),
    (mut from, is_end): (usize, bool),
) -> Option<usize> {
    for sought in behind {
        from += 1 + lines[from..]
            .iter()
            .position(|line| line.trim() == *sought)?;
    }
    let mut windows = lines[from..].windows(old.len());
    let found = match is_end {
        true => windows.rposition(|window| window == old),
        false => windows.position(|window| window == old),
    };
    Some(from + found?)
}

/// How many lines before and behind `count` lines at `at` it takes until their text stands in the file once.
fn around(lines: &[String], at: usize, count: usize) -> (usize, usize) {
    let text = lines.join("\n");
    let (mut before, mut after) = (0, 0);
    loop {
        let part = lines[at - before..at + count + after].join("\n");
        let start = text.find(&part).map(|start| start + 1);
        let is_once = start.is_some_and(|next| {
            let next = text.ceil_char_boundary(next);
            !text[next..].contains(&part)
        });
        match is_once {
            false if before < at => before += 1,
            false if at + count + after < lines.len() => after += 1,
            _ => return (before, after),
        }
    }
}

/// The lines before and after a piece of a patch.
fn piece_of<'p>(piece: &[&'p str]) -> Result<(Vec<&'p str>, Vec<&'p str>), String> {
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
    Ok((old, new))
}

fn command(command: &str) -> Change {
    let arguments = [("command", json!(command)), ("expect_exit", json!(0))];
    let arguments = arguments.map(|(key, value)| (key.to_owned(), value));
    (BuiltinTool::Bash, arguments.into_iter().collect(), None)
}

fn change(tool: BuiltinTool, path: &str, texts: &[(&str, &str)]) -> Change {
    let all = [("file_path", path)]
        .into_iter()
        .chain(texts.iter().copied());
    let arguments = all.map(|(key, text)| (key.to_owned(), text.into()));
    (tool, arguments.collect(), None)
}
