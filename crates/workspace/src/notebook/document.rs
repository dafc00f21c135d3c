//! Where a notebook's cells stand in its text.

use std::ops::Range;

use cuecard_source::json::Node;
use serde_json::{Map, Value};

use crate::WorkspaceError;
use crate::json_text::read;

/// A notebook of format 4. The text stays as it is in the file.
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
    node: Node,
    pub(super) id: Option<String>,
}

impl Document {
    /// Looks through the bytes of a file.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self, WorkspaceError> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to() + 1;
            not_a_notebook(&format!("byte {at} is not UTF-8"))
        })?;
        if text.starts_with('\u{feff}') {
            return Err(not_a_notebook(
                "it starts with a byte order mark, which JSON does not allow",
            ));
        }
        let root =
            read(&text).map_err(|reason| not_a_notebook(&format!("it is not JSON: {reason}")))?;
        if root.as_object().is_none() {
            return Err(not_a_notebook("it is JSON, but not an object"));
        }
        let number = |key: &str| root.get(key)?.as_u64();
        match number("nbformat") {
            Some(4) => {}
            Some(version) => {
                let problem =
                    format!("unsupported notebook format {version}: only format 4 is supported");
                let help = "`jupyter nbconvert --to notebook --nbformat 4` upgrades it";
                return Err(WorkspaceError::new(problem).with_help(help));
            }
            None => return Err(not_a_notebook("it has no `nbformat` number")),
        }
        let Some(minor) = number("nbformat_minor") else {
            return Err(not_a_notebook("it has no `nbformat_minor` number"));
        };
        let array = root.get("cells").filter(|cells| cells.as_array().is_some());
        let Some(array) = array else {
            return Err(not_a_notebook("it has no `cells` array"));
        };
        let mut cells = Vec::new();
        for node in array.as_array().unwrap_or_default() {
            let text_of = |key: &str| node.get(key)?.as_str();
            if text_of("cell_type").is_none() {
                let problem = format!("cell {} has no `cell_type`", cells.len());
                return Err(not_a_notebook(&problem));
            }
            cells.push(Cell {
                id: text_of("id").map(str::to_owned),
                node: node.clone(),
            });
        }
        let metadata = root.get("metadata");
        let language = [["language_info", "name"], ["kernelspec", "language"]]
            .iter()
            .find_map(|[group, key]| metadata?.get(group)?.get(key)?.as_str());
        let inside = &text[root.span.range()][1..];
        let space = &inside[..inside.len() - inside.trim_start().len()];
        Ok(Self {
            language: language.map(str::to_owned),
            wants_ids: minor >= 5,
            cells_span: array.span.range(),
            cells,
            indent: space.rsplit_once('\n').map(|(_, indent)| indent.to_owned()),
            text,
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
        let members = self.cells[index].node.members().iter();
        members
            .map(|member| {
                let text = &self.text[member.value.span.range()];
                (member.key.clone(), text.to_owned())
            })
            .collect()
    }
}

impl Cell {
    /// Where it stands in the text.
    pub(super) fn span(&self) -> Range<usize> {
        self.node.span.range()
    }

    /// The fields as values.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        match self.node.to_value() {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

fn not_a_notebook(reason: &str) -> WorkspaceError {
    WorkspaceError::new(format!("this is not a notebook: {reason}"))
}
