//! A Jupyter notebook as text, with the places of its cells.

use std::ops::Range;

use cuecard_source::json::without_lone_surrogates;
use serde_json::{Map, Value};

use super::NotebookProblem;
use crate::json_spans;

/// A notebook of format 4 that was looked through once. The text stays as it is in the file.
pub(crate) struct Document {
    pub(crate) text: String,
    /// The notebook's language, as far as it says so.
    pub(crate) language: Option<String>,
    /// Whether the format's minor version wants an id in every cell.
    pub(super) wants_ids: bool,
    /// The array of cells, with its brackets.
    pub(super) cells_span: Range<usize>,
    pub(crate) cells: Vec<Cell>,
    /// One step of indentation, or `None` if the notebook stands on one line.
    pub(super) indent: Option<String>,
}

/// One cell's place and name.
pub(crate) struct Cell {
    pub(crate) span: Range<usize>,
    pub(super) id: Option<String>,
}

impl Document {
    /// Looks through the bytes of a file.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self, NotebookProblem> {
        let text = String::from_utf8(bytes).map_err(|error| NotebookProblem::NotANotebook {
            reason: format!("byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1),
        })?;
        if text.starts_with('\u{feff}') {
            return Err(not_a_notebook(
                "it starts with a byte order mark, which JSON does not allow",
            ));
        }
        json_spans::validate(&text).map_err(|reason| NotebookProblem::NotANotebook {
            reason: format!("it is not JSON: {reason}"),
        })?;
        let root = json_spans::root(&text);
        if !text[root.clone()].starts_with('{') {
            return Err(not_a_notebook("it is JSON, but not an object"));
        }
        let mut format = None;
        let mut minor = None;
        let mut language = None;
        let mut cells_span = None;
        for (key, span) in json_spans::members(&text, root.clone()) {
            match key.as_str() {
                "nbformat" => format = Some(text[span].to_owned()),
                "nbformat_minor" => minor = text[span].parse::<u64>().ok(),
                "metadata" => language = language_of(&text[span]),
                "cells" if text[span.clone()].starts_with('[') => cells_span = Some(span),
                _ => {}
            }
        }
        match format.as_deref() {
            Some("4") => {}
            Some(version) if version.parse::<u64>().is_ok() => {
                return Err(NotebookProblem::Version {
                    version: version.to_owned(),
                });
            }
            _ => return Err(not_a_notebook("it has no `nbformat` number")),
        }
        let Some(minor) = minor else {
            return Err(not_a_notebook("it has no `nbformat_minor` number"));
        };
        let Some(cells_span) = cells_span else {
            return Err(not_a_notebook("it has no `cells` array"));
        };
        let mut cells = Vec::new();
        for span in json_spans::elements(&text, cells_span.clone()) {
            let Some(cell) = look_at_cell(&text, span) else {
                return Err(NotebookProblem::NotANotebook {
                    reason: format!("cell {} has no `cell_type`", cells.len()),
                });
            };
            cells.push(cell);
        }
        let indent = indent_of(&text, root);
        Ok(Self {
            text,
            language,
            wants_ids: minor >= 5,
            cells_span,
            cells,
            indent,
        })
    }

    /// What cell `index` is called: its id, or `cell-N` counted from 0.
    pub(crate) fn label(&self, index: usize) -> String {
        match self.cells.get(index).and_then(|cell| cell.id.as_deref()) {
            Some(id) => id.to_owned(),
            None => format!("cell-{index}"),
        }
    }

    /// The fields of cell `index`, in the file's order, each value as its text.
    pub(super) fn raw_fields(&self, index: usize) -> Vec<(String, String)> {
        json_spans::members(&self.text, self.cells[index].span.clone())
            .map(|(key, span)| (key, self.text[span].to_owned()))
            .collect()
    }

    /// The fields of cell `index` as values.
    pub(crate) fn fields(&self, index: usize) -> Result<Map<String, Value>, NotebookProblem> {
        let reason = |what: String| NotebookProblem::NotANotebook {
            reason: format!("cell {index} {what}"),
        };
        let Some(cell) = self.cells.get(index) else {
            return Err(reason("does not exist".to_owned()));
        };
        let text = self.text[cell.span.clone()].as_bytes();
        match serde_json::from_slice(&without_lone_surrogates(text)) {
            Ok(Value::Object(fields)) => Ok(fields),
            Ok(_) => Err(reason("is not an object".to_owned())),
            Err(error) => Err(reason(format!("cannot be read: {error}"))),
        }
    }
}

fn not_a_notebook(reason: &str) -> NotebookProblem {
    NotebookProblem::NotANotebook {
        reason: reason.to_owned(),
    }
}

/// `None` if it is no cell.
fn look_at_cell(text: &str, span: Range<usize>) -> Option<Cell> {
    if !text[span.clone()].starts_with('{') {
        return None;
    }
    let mut id = None;
    let mut is_cell = false;
    for (key, value) in json_spans::members(text, span.clone()) {
        match key.as_str() {
            "id" => id = serde_json::from_str(&text[value]).ok(),
            "cell_type" => is_cell = text[value].starts_with('"'),
            _ => {}
        }
    }
    is_cell.then_some(Cell { span, id })
}

fn language_of(metadata: &str) -> Option<String> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    ["/language_info/name", "/kernelspec/language"]
        .iter()
        .find_map(|pointer| metadata.pointer(pointer)?.as_str())
        .map(str::to_owned)
}

/// The white space by which the first key is indented.
fn indent_of(text: &str, root: Range<usize>) -> Option<String> {
    let inside = &text[root.start + 1..root.end];
    let space = &inside[..inside.len() - inside.trim_start().len()];
    let (_, indent) = space.rsplit_once('\n')?;
    Some(indent.to_owned())
}
