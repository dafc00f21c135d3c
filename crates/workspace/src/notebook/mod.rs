//! One cell of a Jupyter notebook (format 4) replaced, inserted or deleted.
//!
//! Only the bytes of that cell change: every other cell, unknown fields, the order of keys and the
//! indentation stay as they are in the file.

use std::path::Path;

use serde::Serialize;
use serde_json::json;
use strum::{AsRefStr, EnumString};

use super::disk::{RealDisk, read_whole, replace};
use super::json_text::space_before;
use super::{WorkspaceError, listed};
use cell::{Layout, fit_to_type, line_end, source, with_id};
use cuecard_source::diagnostic::did_you_mean;
use document::Document;

mod cell;
pub(super) mod document;

/// The largest notebook that is edited, in bytes.
const LARGEST_NOTEBOOK: u64 = 64 << 20;
/// How many cells an error names.
const CELLS_NAMED: usize = 20;

/// What to do to which cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotebookEdit {
    /// The cell's id, or `cell-N` counted from 0. Required to replace and to delete; an inserted cell goes
    /// behind it, or to the start without it.
    pub cell_id: Option<String>,
    /// The cell's new text; unused when deleting.
    pub new_source: String,
    /// What the cell becomes. Required to insert; when replacing, the cell stays what it is without it.
    pub cell_type: Option<CellType>,
    /// What is done.
    pub mode: EditMode,
}

/// The kinds of cells that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsRefStr, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum CellType {
    /// A cell that can be run.
    Code,
    /// A cell of text.
    Markdown,
}

/// What is done to a notebook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, AsRefStr, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum EditMode {
    /// The cell gets a new text.
    #[default]
    Replace,
    /// A new cell is put behind the one that is named.
    Insert,
    /// The cell goes.
    Delete,
}

/// What [`edit`] did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotebookEdited {
    /// The cell that was replaced, inserted or deleted: its id, or `cell-N` where the format has no ids.
    pub cell_id: String,
    /// How many cells the notebook has now.
    pub cells: u64,
}

/// Edits one cell of the notebook at `path`.
///
/// A code cell that is replaced loses its outputs and its execution count, because they belong to the old
/// text. From `nbformat_minor` 5 on a new cell gets an id of eight hexadecimal digits that depends on its
/// text and place only; before, cells have no ids.
///
/// # Errors
/// The file is missing, no notebook of format 4, or has no such cell. It is then as it was.
pub fn edit(path: &Path, change: &NotebookEdit) -> Result<NotebookEdited, WorkspaceError> {
    let bytes = read_whole(path, LARGEST_NOTEBOOK, "clear the notebook's outputs first")?;
    let (text, edited) = changed(bytes, change).map_err(|problem| problem.at(path))?;
    replace(&RealDisk, path, text.as_bytes())?;
    Ok(edited)
}

fn changed(
    bytes: Vec<u8>,
    change: &NotebookEdit,
) -> Result<(String, NotebookEdited), WorkspaceError> {
    let document = Document::parse(bytes)?;
    let named = match &change.cell_id {
        Some(wanted) => Some(place_of(&document, wanted)?),
        None => None,
    };
    match (change.mode, named) {
        (EditMode::Insert, named) => insert(&document, change, named.map_or(0, |place| place + 1)),
        (mode, None) => {
            let mode = mode.as_ref();
            let problem = format!("`cell_id` is missing, and `{mode}` needs it");
            let help = "name the cell by its id, or by its place: `cell-0` is the first";
            Err(WorkspaceError::new(problem).with_help(help))
        }
        (EditMode::Replace, Some(place)) => Ok(replace_cell(&document, change, place)),
        (EditMode::Delete, Some(place)) => Ok(delete(&document, place)),
    }
}

/// The place of the cell that is called so: by its id, else as `cell-N`.
fn place_of(document: &Document, wanted: &str) -> Result<usize, WorkspaceError> {
    let places: Vec<usize> = (0..document.cells.len())
        .filter(|place| document.cells[*place].id.as_deref() == Some(wanted))
        .collect();
    match places[..] {
        [place] => return Ok(place),
        [first, _, ..] => {
            let shown = listed(places.iter().map(usize::to_string), CELLS_NAMED);
            let problem =
                format!("several cells have the id `{wanted}`: cells {shown}, counted from 0");
            let help = format!("name one by its place, such as `cell-{first}`");
            return Err(WorkspaceError::new(problem).with_help(help));
        }
        [] => {}
    }
    let place = wanted
        .strip_prefix("cell-")
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|digits| digits.parse::<usize>().ok())
        .filter(|place| *place < document.cells.len());
    place.ok_or_else(|| {
        let existing = (0..document.cells.len()).map(|place| document.label(place));
        let existing: Vec<String> = existing.collect();
        let shown = match existing.is_empty() {
            true => ": the notebook is empty".to_owned(),
            false => {
                let ids = existing.iter().map(|id| format!("`{id}`"));
                format!("; the cells are: {}", listed(ids, CELLS_NAMED))
            }
        };
        let near = did_you_mean(wanted, existing.iter().map(String::as_str));
        WorkspaceError {
            help: near.map(|near| format!("did you mean `{near}`?")),
            ..WorkspaceError::new(format!("cell `{wanted}` not found{shown}"))
        }
    })
}

fn replace_cell(
    document: &Document,
    change: &NotebookEdit,
    place: usize,
) -> (String, NotebookEdited) {
    let span = document.cells[place].span();
    let layout = Layout::of(document, space_before(&document.text, span.start));
    let mut fields = document.raw_fields(place);
    let mut cell_type = String::new();
    for (key, text) in &mut fields {
        match key.as_str() {
            "cell_type" => {
                if let Some(becomes) = change.cell_type {
                    *text = json!(becomes.as_ref()).to_string();
                }
                cell_type = serde_json::from_str(text).unwrap_or_default();
            }
            "source" => *text = layout.print(&source(&change.new_source, !text.starts_with('"'))),
            _ => {}
        }
    }
    if !fields.iter().any(|(key, _)| key == "source") {
        let source = source(&change.new_source, true);
        fields.push(("source".to_owned(), layout.print(&source)));
    }
    let fields = fit_to_type(fields, &cell_type);
    let (fields, cell_id) = with_id(document, fields, place, &change.new_source);
    let text = format!(
        "{}{}{}",
        &document.text[..span.start],
        layout.cell(&fields),
        &document.text[span.end..]
    );
    (text, edited(cell_id, document.cells.len()))
}

fn insert(
    document: &Document,
    change: &NotebookEdit,
    place: usize,
) -> Result<(String, NotebookEdited), WorkspaceError> {
    let cell_type = change.cell_type.ok_or_else(|| {
        WorkspaceError::new("`cell_type` is missing, and `insert` needs it")
            .with_help("set `cell_type` to `code` or `markdown`")
    })?;
    let text = &document.text;
    // White space that stands before a cell: that of the neighbour, or two steps in.
    let neighbour = document.cells.get(place).or(document.cells.last());
    let (space, closing) = match (neighbour, &document.indent) {
        (Some(cell), _) => (
            space_before(text, cell.span().start).to_owned(),
            String::new(),
        ),
        (None, Some(indent)) => {
            let line_end = line_end(text);
            (
                format!("{line_end}{indent}{indent}"),
                format!("{line_end}{indent}"),
            )
        }
        (None, None) => (String::new(), String::new()),
    };
    let layout = Layout::of(document, &space);
    let fields = vec![
        (
            "cell_type".to_owned(),
            json!(cell_type.as_ref()).to_string(),
        ),
        ("metadata".to_owned(), "{}".to_owned()),
        (
            "source".to_owned(),
            layout.print(&source(&change.new_source, true)),
        ),
    ];
    let fields = fit_to_type(fields, cell_type.as_ref());
    let (fields, cell_id) = with_id(document, fields, place, &change.new_source);
    let cell = layout.cell(&fields);
    let text = if let Some(next) = document.cells.get(place) {
        let at = next.span().start;
        format!("{}{cell},{space}{}", &text[..at], &text[at..])
    } else if let Some(last) = document.cells.last() {
        let at = last.span().end;
        format!("{},{space}{cell}{}", &text[..at], &text[at..])
    } else {
        let array = document.cells_span.clone();
        format!(
            "{}[{space}{cell}{closing}]{}",
            &text[..array.start],
            &text[array.end..]
        )
    };
    Ok((text, edited(cell_id, document.cells.len() + 1)))
}

fn delete(document: &Document, place: usize) -> (String, NotebookEdited) {
    let cells = &document.cells;
    let gone = match (place.checked_sub(1), cells.get(place + 1)) {
        (_, Some(next)) => cells[place].span().start..next.span().start,
        (Some(previous), None) => cells[previous].span().end..cells[place].span().end,
        (None, None) => document.cells_span.start + 1..document.cells_span.end - 1,
    };
    let text = format!(
        "{}{}",
        &document.text[..gone.start],
        &document.text[gone.end..]
    );
    (text, edited(document.label(place), cells.len() - 1))
}

fn edited(cell_id: String, cells: usize) -> NotebookEdited {
    NotebookEdited {
        cell_id,
        cells: cells as u64,
    }
}

#[cfg(test)]
mod tests;
