//! `claude__read`, `claude__write`, `claude__edit`, `claude__notebook_edit` and `sandy__append_file`.

use cuecard_tool_call::script::{Failure, FailureKind};
use serde::Serialize;
use serde_json::Value as Json;

use super::super::toolbox::Toolbox;
use super::arguments::Arguments;
use super::refused;
use cuecard_runtime::tap::Recorder;
use cuecard_source::value::Text;
use cuecard_workspace::WorkspaceError;
use cuecard_workspace::append::{Format, OnNewColumn, append as append_to};
use cuecard_workspace::edit::edit as edit_file;
use cuecard_workspace::files::{ReadBounds, read as read_file, write as write_file};
use cuecard_workspace::notebook::{CellType, EditMode, NotebookEdit, edit as edit_notebook};

pub(super) fn read(
    toolbox: &Toolbox,
    arguments: &Arguments<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<Json, Failure> {
    let path = toolbox
        .policy
        .read_path(&arguments.required_text("file_path")?)
        .map_err(refused)?;
    let read = read_file(
        &path,
        arguments.count("offset")?,
        arguments.count("limit")?,
        ReadBounds::default(),
    )
    .map_err(|error| failed(&error))?;
    toolbox.unless_lossy(to_json(&read)?, read.warnings(), recorder)
}

pub(super) fn write(toolbox: &Toolbox, arguments: &Arguments<'_>) -> Result<Json, Failure> {
    let path = toolbox
        .policy
        .write_path(&arguments.required_text("file_path")?)
        .map_err(refused)?;
    let content = arguments.content("content")?;
    to_json(&write_file(&path, &content).map_err(|error| failed(&error))?)
}

fn ends_with_line_of_data(text: Option<&Text>) -> bool {
    let last = text.and_then(|text| text.pieces().last());
    last.is_some_and(|last| !last.origin.is_trusted() && last.text.ends_with('\n'))
}

pub(super) fn edit(toolbox: &Toolbox, arguments: &Arguments<'_>) -> Result<Json, Failure> {
    let path = toolbox
        .policy
        .write_path(&arguments.required_text("file_path")?)
        .map_err(refused)?;
    let old = arguments.required_text("old_string")?;
    let new = arguments.content("new_string")?;
    // What a command printed ends with a line end, which would join two lines, or break one.
    let new_text = arguments.text("new_string").ok().flatten();
    let ends = [Some(&old), new_text.as_ref()].map(ends_with_line_of_data);
    let old = old.to_string();
    if !new.is_empty() && old.ends_with('\n') != new.ends_with('\n') && ends.contains(&true) {
        let message =
            "only one of `old_string` and `new_string` ends with a line end, and data has it";
        let help = "outputs of commands end with one: take the text without it, `\"output\": { \"text\": { \"regex\": \"([^\\r\\n]+)\", \"from\": \"$.stdout\" } }`";
        return Err(Failure::new(FailureKind::BadParameters, message).with_help(help));
    }
    to_json(
        &edit_file(&path, &old, &new, arguments.flag("replace_all")?)
            .map_err(|error| failed(&error))?,
    )
}

pub(super) fn notebook_edit(toolbox: &Toolbox, arguments: &Arguments<'_>) -> Result<Json, Failure> {
    let path = toolbox
        .policy
        .write_path(&arguments.required_text("notebook_path")?)
        .map_err(refused)?;
    let mode = arguments
        .one_of("edit_mode")?
        .and_then(EditMode::from_name)
        .unwrap_or_default();
    let new_source = match mode {
        EditMode::Delete => String::new(),
        _ => arguments.content("new_source")?,
    };
    let change = NotebookEdit {
        cell_id: arguments.text("cell_id")?.map(|text| text.to_string()),
        new_source,
        cell_type: arguments.one_of("cell_type")?.and_then(CellType::from_name),
        mode,
    };
    to_json(&edit_notebook(&path, &change).map_err(|error| failed(&error))?)
}

pub(super) fn append(
    toolbox: &Toolbox,
    arguments: &Arguments<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<Json, Failure> {
    let path = toolbox
        .policy
        .write_path(&arguments.required_text("path")?)
        .map_err(refused)?;
    let format = arguments
        .one_of("format")?
        .and_then(Format::from_name)
        .unwrap_or_default();
    let on_new_column = arguments
        .one_of("on_new_column")?
        .and_then(OnNewColumn::from_name)
        .unwrap_or_default();
    let data = arguments.required_any("data")?;
    let appended = append_to(&path, format, data, on_new_column).map_err(|error| failed(&error))?;
    toolbox.unless_lossy(to_json(&appended)?, &appended.warnings, recorder)
}

/// A failed tool, in words.
fn failed(error: &WorkspaceError) -> Failure {
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
