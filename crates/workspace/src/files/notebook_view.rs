//! A notebook as a reader sees it: its cells with their outputs, pictures by name only.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::WorkspaceError;
use crate::notebook::document::Document;

/// Characters of one output beyond which it is cut.
const OUTPUT_CHARS: usize = 10_000;
/// The image types that Jupyter stores in Base64.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A notebook's cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotebookRead {
    /// Always `notebook`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The cells as text, each between `<cell id="…">` and `</cell id="…">`, its outputs behind it. Not
    /// numbered.
    pub content: String,
    /// All cells, whatever lines were asked for.
    pub cells: Vec<CellView>,
    /// How many lines the rendering has.
    pub total_lines: u64,
    /// The first of them in `content`, from 1.
    pub start_line: u64,
    /// How many of them are in `content`.
    pub lines_read: u64,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellView {
    /// The cell's id, or `cell-N` counted from 0.
    pub cell_id: String,
    /// `code`, `markdown` or `raw`.
    pub cell_type: String,
    /// The whole source.
    pub source: String,
    /// The language of a code cell, where the notebook says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// How often a code cell had been run; absent before the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_count: Option<u64>,
    /// What running it gave; absent for cells that are not code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<CellOutput>>,
}

/// One output of a code cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CellOutput {
    /// `stream`, `execute_result`, `display_data` or `error`.
    pub output_type: String,
    /// Its text, cut after 10,000 characters; an error's name, value and traceback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageReference>,
}

/// A picture in an output, which is named and not carried along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImageReference {
    /// Such as `image/png`.
    pub media_type: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The rendering of a notebook file and its cells.
pub(super) fn render(bytes: Vec<u8>) -> Result<(String, Vec<CellView>), WorkspaceError> {
    let document = Document::parse(bytes)?;
    let mut rendered = String::new();
    let mut cells = Vec::with_capacity(document.cells.len());
    for index in 0..document.cells.len() {
        let cell = view(&document, index);
        if index > 0 {
            rendered.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = write!(rendered, "<cell id=\"{}\">", cell.cell_id);
        match cell.language.as_deref() {
            _ if cell.cell_type != "code" => {
                let _ = write!(rendered, "<cell_type>{}</cell_type>", cell.cell_type);
            }
            None | Some("python") => {}
            Some(language) => {
                let _ = write!(rendered, "<language>{language}</language>");
            }
        }
        let _ = write!(rendered, "{}</cell id=\"{}\">", cell.source, cell.cell_id);
        for output in cell.outputs.iter().flatten() {
            if let Some(text) = &output.text {
                let _ = write!(rendered, "\n{}", text.trim_end_matches('\n'));
            }
            if let Some(image) = &output.image {
                let _ = write!(rendered, "\n[{}, {} bytes]", image.media_type, image.bytes);
            }
        }
        cells.push(cell);
    }
    Ok((rendered, cells))
}

fn view(document: &Document, index: usize) -> CellView {
    let fields = document.cells[index].fields();
    let cell_type = fields
        .get("cell_type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let is_code = cell_type == "code";
    let outputs = fields.get("outputs").and_then(Value::as_array);
    CellView {
        cell_id: document.label(index),
        source: joined(fields.get("source")).unwrap_or_default(),
        language: document.language.clone().filter(|_| is_code),
        execution_count: fields.get("execution_count").and_then(Value::as_u64),
        outputs: is_code.then(|| {
            outputs
                .into_iter()
                .flatten()
                .filter_map(Value::as_object)
                .map(output)
                .collect()
        }),
        cell_type,
    }
}

fn output(fields: &Map<String, Value>) -> CellOutput {
    let text_of = |key: &str| joined(fields.get(key));
    let data = fields.get("data").and_then(Value::as_object);
    let output_type = text_of("output_type").unwrap_or_default();
    let text = match output_type.as_str() {
        "stream" => text_of("text"),
        "error" => Some(error_text(fields)),
        _ => data.and_then(|data| joined(data.get("text/plain"))),
    };
    let image = data.and_then(|data| {
        IMAGE_TYPES.iter().find_map(|media_type| {
            let encoded = joined(data.get(*media_type))?;
            let digits = encoded
                .bytes()
                .filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=')
                .count() as u64;
            Some(ImageReference {
                media_type: (*media_type).to_owned(),
                bytes: digits * 3 / 4,
            })
        })
    });
    CellOutput {
        output_type,
        text: text.map(shorten_output),
        image,
    }
}

fn error_text(fields: &Map<String, Value>) -> String {
    let text_of = |key: &str| joined(fields.get(key)).unwrap_or_default();
    let traceback: Vec<&str> = fields
        .get("traceback")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    format!(
        "{}: {}\n{}",
        text_of("ename"),
        text_of("evalue"),
        traceback.join("\n")
    )
}

fn shorten_output(text: String) -> String {
    match text.char_indices().nth(OUTPUT_CHARS) {
        Some((end, _)) => format!("{}... [truncated]", &text[..end]),
        None => text,
    }
}

/// Text that the format stores as a string or as a list of lines with their line ends.
fn joined(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn code_comes_with_its_outputs_and_pictures_by_name() {
        let notebook = json!({
            "nbformat": 4, "nbformat_minor": 5,
            "metadata": {"language_info": {"name": "R"}},
            "cells": [{
                "id": "a", "cell_type": "code", "metadata": {}, "execution_count": 2,
                "source": ["plot(\n", "1)"],
                "outputs": [
                    {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
                    {"output_type": "display_data", "metadata": {},
                     "data": {"text/plain": "<Figure>", "image/png": "iVBO\nRw0=\n"}},
                    {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t1", "t2"]},
                ],
            }, {
                "id": "b", "cell_type": "raw", "metadata": {}, "source": "as is",
            }],
        });
        let (text, cells) = render(notebook.to_string().into_bytes()).unwrap();
        assert_eq!(
            text,
            "<cell id=\"a\"><language>R</language>plot(\n1)</cell id=\"a\">\none\ntwo\n<Figure>\n\
             [image/png, 5 bytes]\nE: v\nt1\nt2\n\
             <cell id=\"b\"><cell_type>raw</cell_type>as is</cell id=\"b\">"
        );
        assert_eq!(
            serde_json::to_value(cells).unwrap(),
            json!([
                {"cell_id": "a", "cell_type": "code", "source": "plot(\n1)", "language": "R",
                 "execution_count": 2, "outputs": [
                    {"output_type": "stream", "text": "one\ntwo\n"},
                    {"output_type": "display_data", "text": "<Figure>",
                     "image": {"media_type": "image/png", "bytes": 5}},
                    {"output_type": "error", "text": "E: v\nt1\nt2"},
                ]},
                {"cell_id": "b", "cell_type": "raw", "source": "as is"},
            ])
        );
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        let notebook = r#"{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
            {"id": "a", "cell_type": "code", "metadata": {}, "source": ["x\ud83d"], "outputs": []}]}"#;
        let (text, _) = render(notebook.as_bytes().to_vec()).unwrap();
        assert_eq!(text, "<cell id=\"a\">x\u{fffd}</cell id=\"a\">");
    }

    #[test]
    fn a_flood_of_output_is_cut() {
        assert_eq!(
            shorten_output("é".repeat(10_001)),
            format!("{}... [truncated]", "é".repeat(10_000))
        );
    }
}
