//! What one cell consists of, and how it is laid out in its file.

use serde::Serialize as _;
use serde_json::{Value, json};

use super::document::Document;

/// A cell's fields in order, each value as JSON text: what is not changed stays as it is written.
pub(super) type Fields = Vec<(String, String)>;

/// A source in the shape the cell has: its lines with their line ends, or one string.
pub(super) fn source(text: &str, as_lines: bool) -> Value {
    if as_lines {
        text.split_inclusive('\n').collect()
    } else {
        Value::from(text)
    }
}

/// The fields that the format wants and allows for a cell type, new ones where Jupyter writes them.
pub(super) fn fit_to_type(fields: Fields, cell_type: &str) -> Fields {
    let is_code = cell_type == "code";
    let mut fitted = Fields::new();
    for (key, text) in fields {
        match key.as_str() {
            "execution_count" | "outputs" => continue,
            // Pictures pasted into text, which a code cell may not have.
            "attachments" if is_code => continue,
            "source" if is_code => fitted.push(("outputs".to_owned(), "[]".to_owned())),
            _ => {}
        }
        let is_type = key == "cell_type";
        fitted.push((key, text));
        if is_type && is_code {
            fitted.push(("execution_count".to_owned(), "null".to_owned()));
        }
    }
    fitted
}

/// The cell with an id where the format wants one, and what the cell is called from now on.
pub(super) fn with_id(
    document: &Document,
    mut fields: Fields,
    place: usize,
    source: &str,
) -> (Fields, String) {
    let id = fields
        .iter()
        .find(|(key, _)| key == "id")
        .and_then(|(_, text)| serde_json::from_str::<String>(text).ok());
    if let Some(id) = id {
        return (fields, id);
    }
    if !document.wants_ids {
        return (fields, format!("cell-{place}"));
    }
    let id = new_id(document, place, source);
    fields.retain(|(key, _)| key != "id");
    let before = fields.iter().position(|(key, _)| key == "metadata");
    let field = ("id".to_owned(), json!(id).to_string());
    fields.insert(before.unwrap_or(fields.len()), field);
    (fields, id)
}

/// Eight hexadecimal digits (FNV-1a of place and text) that no cell has yet.
fn new_id(document: &Document, place: usize, source: &str) -> String {
    let mut attempt = 0_usize;
    loop {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in format!("{place} {attempt} {source}").bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let id = format!("{:08x}", (hash >> 32) as u32);
        if document
            .cells
            .iter()
            .all(|cell| cell.id.as_ref() != Some(&id))
        {
            return id;
        }
        attempt += 1;
    }
}

/// How a cell is laid out: on one line, or as the file's other cells.
pub(super) struct Layout<'a> {
    /// One step of indentation and the line end with the cell's own indentation.
    lines: Option<(&'a str, String)>,
}

impl<'a> Layout<'a> {
    /// The layout of a cell behind the white space `space`.
    pub(super) fn of(document: &'a Document, space: &str) -> Self {
        let lines = document.indent.as_deref().and_then(|indent| {
            let (_, outer) = space.rsplit_once('\n')?;
            Some((indent, format!("{}{outer}", line_end(&document.text))))
        });
        Self { lines }
    }

    /// A new value of one of the cell's fields.
    pub(super) fn print(&self, value: &Value) -> String {
        let Some((indent, line)) = &self.lines else {
            return value.to_string();
        };
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        // Writing a JSON value to memory cannot fail.
        let _ = value.serialize(&mut serializer);
        String::from_utf8_lossy(&bytes).replace('\n', &format!("{line}{indent}"))
    }

    /// The whole cell.
    pub(super) fn cell(&self, fields: &[(String, String)]) -> String {
        let (indent, line, colon) = match &self.lines {
            Some((indent, line)) => (*indent, line.as_str(), ": "),
            None => ("", "", ":"),
        };
        let fields: Vec<String> = fields
            .iter()
            .map(|(key, text)| format!("{line}{indent}{}{colon}{text}", json!(key)))
            .collect();
        format!("{{{}{line}}}", fields.join(","))
    }
}

pub(super) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
