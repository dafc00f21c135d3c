//! `claude__read`, `claude__write`, `claude__edit`, `claude__notebook_edit` and `sandy__append_file`.

use std::path::PathBuf;

use cuecard_tool_call::script::{Failure, FailureKind};
use serde::Serialize;
use serde_json::Value as Json;

use super::super::toolbox::Toolbox;
use super::arguments::Arguments;
use super::refused;
use cuecard_runtime::policy::{WITHOUT_LINE_END, ends_with_line};
use cuecard_runtime::tap::Recorder;
use cuecard_source::value::{Text, as_text};
use cuecard_workspace::WorkspaceError;
use cuecard_workspace::append::append as append_to;
use cuecard_workspace::edit::{SAME_TEXT, edit as edit_file};
use cuecard_workspace::files::{ReadBounds, read as read_file, write as write_file};
use cuecard_workspace::notebook::{EditMode, NotebookEdit, edit as edit_notebook};

pub(super) fn read(
    toolbox: &Toolbox,
    arguments: &Arguments<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<Json, Failure> {
    let path = arguments.required_text("file_path");
    let path = toolbox.policy.read_path(&path).map_err(refused)?;
    let read = read_file(
        &path,
        arguments.count("offset"),
        arguments.count("limit"),
        ReadBounds::default(),
    )
    .map_err(failed)?;
    toolbox.unless_lossy(to_json(&read)?, read.warnings(), recorder)
}

pub(super) fn write(toolbox: &Toolbox, arguments: &Arguments<'_>) -> Result<Json, Failure> {
    let path = write_path(toolbox, arguments, "file_path")?;
    let content = arguments.content("content");
    to_json(&write_file(&path, &content).map_err(failed)?)
}

pub(super) fn edit(toolbox: &Toolbox, arguments: &Arguments<'_>) -> Result<Json, Failure> {
    let path = write_path(toolbox, arguments, "file_path")?;
    let old = arguments.required_text("old_string");
    let new = arguments.content("new_string");
    let new_text = arguments.text("new_string");
    let joins_lines =
        old.pieces().last().is_some_and(ends_with_line) && !new.is_empty() && !new.ends_with('\n');
    let old = old.to_string();
    let breaks_line = |new: Text| {
        let has_line = !old.is_empty() && new.pieces().iter().any(ends_with_line);
        let file = has_line
            .then(|| std::fs::read_to_string(&path).ok())
            .flatten();
        file.is_some_and(|file| breaks_line(&file.replace("\r\n", "\n"), &old, &new))
    };
    let message = match joins_lines {
        true => Some("`old_string` ends with the line end of its data, and `new_string` with none"),
        false => new_text.is_some_and(breaks_line).then_some(
            "the data in `new_string` ends with a line end, which would be in the middle of a line",
        ),
    };
    if let Some(message) = message {
        return Err(Failure::new(FailureKind::BadParameters, message).with_help(WITHOUT_LINE_END));
    }
    to_json(&edit_file(&path, &old, &new, arguments.flag("replace_all")).map_err(failed)?)
}

/// The error of an edit that changes nothing.
pub(super) fn check_edit(arguments: &Arguments<'_>) -> Result<(), Failure> {
    let texts = ["old_string", "new_string"].map(|name| arguments.any(name).map(as_text));
    match texts {
        [Some(old), Some(new)] if old == new => {
            Err(Failure::new(FailureKind::ToolError, SAME_TEXT))
        }
        _ => Ok(()),
    }
}

/// Whether the line end of data in `new` would stand in a line of the file: behind other text of it, or before the rest
/// of the line that `old` is in. Data that begins a line and has text of `new` behind it is lines that are inserted.
fn breaks_line(file: &str, old: &str, new: &Text) -> bool {
    let is_blank = |line: Option<&str>| line.is_none_or(|line| line.trim().is_empty());
    file.match_indices(old).any(|(at, _)| {
        let start = file[..at].rfind('\n').map_or(0, |end| end + 1);
        let mut before = file[start..at].to_owned();
        let end = file[at + old.len()..]
            .split('\n')
            .next()
            .unwrap_or_default();
        new.pieces().iter().enumerate().any(|(idx, piece)| {
            let is_in_line = !is_blank(before.rsplit('\n').next());
            before.push_str(&piece.text);
            let behind = new.pieces()[idx + 1..].iter().map(|piece| &*piece.text);
            let behind: String = behind.collect();
            let is_broken = match behind.is_empty() {
                true => !old.ends_with('\n'),
                false => is_in_line,
            };
            let rest = behind + end;
            ends_with_line(piece) && is_broken && !is_blank(rest.split('\n').next())
        })
    })
}

pub(super) fn notebook_edit(toolbox: &Toolbox, arguments: &Arguments<'_>) -> Result<Json, Failure> {
    let path = write_path(toolbox, arguments, "notebook_path")?;
    let mode: EditMode = arguments.word("edit_mode").unwrap_or_default();
    let new_source = match mode {
        EditMode::Delete => String::new(),
        _ => arguments.content("new_source"),
    };
    let change = NotebookEdit {
        cell_id: arguments.text("cell_id").map(|text| text.to_string()),
        new_source,
        cell_type: arguments.word("cell_type"),
        mode,
    };
    to_json(&edit_notebook(&path, &change).map_err(failed)?)
}

pub(super) fn append(
    toolbox: &Toolbox,
    arguments: &Arguments<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<Json, Failure> {
    let path = write_path(toolbox, arguments, "path")?;
    let format = arguments.word("format").unwrap_or_default();
    let on_new_column = arguments.word("on_new_column").unwrap_or_default();
    let data = arguments.any("data").unwrap_or(&Json::Null);
    let appended = append_to(&path, format, data, on_new_column).map_err(failed)?;
    toolbox.unless_lossy(to_json(&appended)?, &appended.warnings, recorder)
}

fn write_path(
    toolbox: &Toolbox,
    arguments: &Arguments<'_>,
    name: &str,
) -> Result<PathBuf, Failure> {
    let path = arguments.required_text(name);
    toolbox.policy.write_path(&path).map_err(refused)
}

/// A failed tool, in words.
pub(super) fn failed(error: WorkspaceError) -> Failure {
    let mut failure = Failure::new(FailureKind::ToolError, error.to_string());
    failure.notes = error.notes();
    failure.help = error.help();
    failure
}

pub(super) fn to_json(result: &impl Serialize) -> Result<Json, Failure> {
    serde_json::to_value(result).map_err(|error| {
        Failure::new(
            FailureKind::ToolError,
            format!("the result can't be shown: {error}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use cuecard_source::value::{Origin, Piece};

    use super::*;

    #[test]
    fn the_line_end_of_data_may_end_a_line_and_not_break_one() {
        // `D` is data, as a command prints it.
        let file = "# Log\nMARK\n  \"version\": \"1.0\", x\nkey = MAX\nlast";
        for (old, new, is_broken) in [
            ("MARK", "D", false),
            ("MARK", "DMARK", false),
            ("MARK\n", "D", false),
            ("# Log", "# Log\nD", false),
            ("  \"version\"", "  D  \"version\"", false),
            ("MAX", "D", false),
            ("last", "D", false),
            ("\"1.0\"", "\"D\"", true),
            ("1.0", "D", true),
            ("\"version\": \"1.0\"", "D", true),
            ("MAX", "vD,", true),
            ("MAX", "\"D\"", true),
            ("M", "D", true),
        ] {
            let piece = |(nth, text): (usize, &str)| {
                let mut data = Piece::author("1.2.3\n");
                data.origin = Origin::Peer;
                (nth > 0)
                    .then_some(data)
                    .into_iter()
                    .chain([Piece::author(text)])
            };
            let pieces = new.split('D').enumerate().flat_map(piece);
            let pieces = pieces.filter(|piece| !piece.text.is_empty()).collect();
            assert_eq!(
                breaks_line(file, old, &Text::new(pieces)),
                is_broken,
                "{old} {new}"
            );
        }
    }
}
